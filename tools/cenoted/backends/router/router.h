/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ROUTER_H
#define CND_ROUTER_H

#include <cenote/cenote.h>
#include <stdbool.h>

#include "backends/backend.h"
#include "core/mem.h"
#include "core/sqlstate.h"

/*
 * The backend `router`: its sessions are connections of libcenote to other pools, the targets. The rules of the pool say
 * which statement goes to which target. docs/router.md describes it.
 *
 * A session attaches to a target when its client needs it, and gives all of them back when the client leaves. So the pools
 * of the targets make sessions fresh, and this backend keeps nothing from one client to the next.
 */

/* One key=value of the server line: the name of a target, and its pool or URI. */
struct cnd_rt_target {
	char *name;
	char *where;
	cenote_conn *conn; /* NULL: no client has needed it yet */
	bool is_attached;
	bool is_in_unit; /* in pipeline mode: a unit of requests has no synchronisation point yet */
	bool is_manual; /* autocommit is off there */
	size_t n_followed; /* how many texts of the session this target has run (struct cnd_session.texts) */
	uint64_t position; /* the number of the last position that it got, or told */
	/* bits of enum cenote_pin whose reason follows to the other targets */
	uint32_t followed_pins;
};

/* A statement prepared by request under a name, for the targets that do not have it. */
struct cnd_rt_named {
	struct cnd_rt_named *next;
	char *name;
	char *sql;
	size_t len;
	uint32_t *types;
	uint32_t n_types;
	uint64_t has; /* a bit for each target that has it */
};

#define CND_RT_TARGETS_MAX 16u
/* Most texts that follow a client to its targets. With more of them, the session stays with its target. */
#define CND_RT_TEXTS_MAX   256u

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	char *run_dir;
	struct cnd_rt_target *targets; /* the first is the default */
	size_t n_targets;
	struct cnd_option *
		options; /* of the client's session, for targets that are attached later */
	size_t n_options;
	struct cnd_rt_named *named;

	/* texts that set the session's state, in order */
	char **texts;
	size_t n_texts;
	/* how many of them a ROLLBACK leaves: those from before the open transaction */
	size_t n_settled;

	/* where the client's last write is, as its target reports it; "": unknown */
	char position[CND_POSITION_MAX + 1];
	uint64_t n_positions;

	struct cnd_rt_target
		*bound; /* it holds something that cannot follow; NULL: none */
	bool is_manual; /* the client has switched autocommit off */
	uint32_t sticky; /* pins that a target has reported and may have settled since */

	/* the running request */
	struct cnd_rt_target *at;
	struct cnd_route route;
	bool is_routed; /* `route` is for the next request */
	struct cnd_sink *sink; /* NULL: between requests */
	int told; /* the first failure of the sink in a handler of libcenote */
	int stopped; /* what host->wait() returned: the target got a cancel */
	bool is_quiet; /* notices and parameters are not for the client: a text is repeated */
	struct cnc_diag why; /* why it was stopped */
	char tag[64]; /* of the last result */
	uint64_t n_rows; /* of the running result, as far as they are sent */

	/* facts of the default target */
	struct cnd_option *facts;
	size_t n_facts;
	char *server, *version, *database, *backend;
	uint64_t features;
	uint64_t changes;
};

/* A client's statement with a number: a handle for each target that has it. */
struct cnd_rt_stmt {
	cenote_stmt *handles[CND_RT_TARGETS_MAX];
	struct cnd_rt_target
		*pieces; /* this target has pieces of a long value; NULL: none */
	char *sql;
	size_t len;
	char *name; /* NULL: none */
	uint32_t *types;
	uint32_t n_types;
};

/* A result that the client reads in batches. */
struct cnd_rt_portal {
	struct cnd_rt_target *at;
	cenote_result *res;
};

/* options.c */
int cnd_rt_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);
bool cnd_rt_has_target(const struct cnd_server_spec *spec, const char *target);

/* target.c: one target. */
/* Repeat a call of libcenote while it would wait. `r` gets its last result. */
#define CND_RT_AWAIT(r, s, t, call)                                                      \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && ((r) = cnd_rt_wait((s), (t))) == CENOTE_OK)
/* Wait until the connection may go on. CENOTE_OK, or negative: the client has gone, or the target does not obey. */
int cnd_rt_wait(struct cnd_session *s, struct cnd_rt_target *t);
/* A call of libcenote failed: set the diagnostics, and return the status for cenoted. */
int cnd_rt_fail(struct cnd_session *s, struct cnd_rt_target *t, int status,
	struct cnc_diag *diag);
/* Copy the library's diagnostics. */
void cnd_rt_copy_diag(struct cnc_diag *to, const cenote_diag *from);
/* Attach if it is not attached. */
int cnd_rt_attach(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag);
/* Give the sessions of all targets back. */
void cnd_rt_detach(struct cnd_session *s);
/* Take all results of the running request, and drop them. CENOTE_ERR_SERVER: one of them is an error. `diag` may be NULL. */
int cnd_rt_drop(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag);

/* route.c: which target gets a request, and what it needs to have before. */
bool cnd_rt_is_bound(const struct cnd_session *s);
void cnd_rt_route(struct cnd_session *s, const struct cnd_route *route);
/* Choose the target of a request by the rules, and prepare it. Sets s->at. `is_sync`: a synchronisation point follows. */
int cnd_rt_choose(struct cnd_session *s, struct cnd_sink *sink, bool is_sync);
/* The same for a request that only this target can serve; NULL: the one with the transaction, or the default. */
int cnd_rt_enter(struct cnd_session *s, struct cnd_rt_target *t, struct cnd_sink *sink,
	bool is_sync);
/* After a request: note what the target holds now. `text`: the statement, NULL if it is none. Returns `r`. */
int cnd_rt_leave(struct cnd_session *s, int r, const char *text, size_t len);
void cnd_rt_forget_texts(struct cnd_session *s);

/* result.c */
/* Pass the results of the request on. `portal`: keeps the rest of a result; NULL: all rows come at once. `ret_sent`: see
 * cnd_statement.sent; NULL: the columns are always sent. */
int cnd_rt_deliver(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_portal *portal, uint64_t *ret_sent);
int cnd_rt_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_rt_close_portal(struct cnd_session *s, struct cnd_portal *portal);

/* copy.c: the result is a copy; pass it on up to its end. */
int cnd_rt_copy_in(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink);
int cnd_rt_copy_out(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink);

/* request.c */
int cnd_rt_params(struct cnd_session *s, const struct cnd_exec *exec, bool is_simple,
	cenote_params **ret_params);
int cnd_rt_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_rt_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_rt_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_rt_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_rt_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_rt_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);
int cnd_rt_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);
int cnd_rt_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink);
int cnd_rt_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink);
int cnd_rt_select_database(
	struct cnd_session *s, const char *database, size_t len, struct cnd_sink *sink);
int cnd_rt_sync(struct cnd_session *s, struct cnd_sink *sink);
/* The options for libcenote; stream is on. */
cenote_exec_options cnd_rt_options(const struct cnd_exec *exec);

/* stmt.c */
extern const struct cnd_statement_ops cnd_rt_statement_ops;
struct cnp_str cnd_rt_text(const struct cnd_session *s, struct cnp_str name);
void cnd_rt_forget_named(struct cnd_session *s);

/* session.c */
int cnd_rt_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_rt_logout(struct cnd_session *s);
void cnd_rt_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_rt_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_rt_attach_client(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
int cnd_rt_reset(struct cnd_session *s, struct cnc_diag *ret_diag);
void cnd_rt_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_rt_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag);
int cnd_rt_options_are_set(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_rt_fd(const struct cnd_session *s);
int cnd_rt_idle(struct cnd_session *s, struct cnd_sink *sink);

#endif
