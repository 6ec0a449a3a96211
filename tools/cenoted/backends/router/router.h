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
 * A session attaches to a target when its client first needs that target, and detaches from all of them when the client leaves. So
 * the pools of the targets reset the sessions, and this backend keeps nothing from one client to the next.
 */

/* One key=value of the server line: the name of a target, and its pool or URI. */
struct cnd_rt_target {
	char *name;
	char *where;
	cenote_conn *conn; /* NULL: no client has needed it yet */
	bool is_attached;
	bool is_in_unit; /* it has got requests, but no synchronisation point after them: pipeline mode is on */
	bool has_sync; /* the unit's synchronization point is on its way there */
	bool had_tx; /* a transaction was open when the unit began */
	/* a request of the unit was refused, and the target does not know that: it must not commit the others */
	bool is_refused;
	bool is_manual; /* autocommit is off there */
	size_t n_followed; /* how many of cnd_session.texts it has run */
	uint64_t
		position; /* the number of the last position that it has received or reported */
	/* bits of enum cenote_pin: these pins come from texts that the router repeats on the other targets */
	uint32_t followed_pins;
};

/* How the client prepared a statement. The targets that do not have it yet get it so, too. */
struct cnd_rt_text {
	char *name; /* NULL: none */
	char *sql;
	size_t len;
	uint32_t *types;
	uint32_t n_types;
};

/* A prepared statement that has a name, and no number. */
struct cnd_rt_named {
	struct cnd_rt_named *next;
	struct cnd_rt_text text;
	uint64_t has; /* a bit for each target that has it */
};

#define CND_RT_TARGETS_MAX 16u
/* The most texts that the router keeps for one client, to repeat them. After them, a text that sets something binds the session to its
 * target. */
#define CND_RT_TEXTS_MAX   256u

/* A request that its target has before its turn. */
struct cnd_rt_ahead {
	uint8_t code;
	bool is_known; /* the client has the columns of `statement` */
	struct cnd_statement *statement; /* NULL: none with a number */
	cenote_stmt *handle; /* only this request needs it; NULL: none */
};

/* A notice or a parameter that has come before the turn of its request. */
struct cnd_rt_early {
	struct cnd_rt_early *next;
	size_t request; /* its index in the series; behind the last one: the synchronization point */
	char *name, *value; /* of a parameter; NULL: it is the notice */
	struct cnc_diag notice;
};

/* The most requests that are sent together. */
#define CND_RT_AHEAD_MAX 64u

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	char *run_dir;
	struct cnd_rt_target *targets; /* the first is the default */
	size_t n_targets;
	struct cnd_option *
		options; /* those that the client has set, for targets that are attached later */
	size_t n_options;
	struct cnd_rt_named *named;

	/* the client's texts that set the state of its session, in the order in which they ran */
	char **texts;
	size_t n_texts;
	/* how many of them ran before the open transaction: a ROLLBACK undoes the others */
	size_t n_settled;

	/* the position of the client's last write, as its target reported it; "": unknown */
	char position[CND_POSITION_MAX + 1];
	uint64_t n_positions; /* how many positions the targets have reported */

	struct cnd_rt_target
		*bound; /* it holds something that cannot follow; NULL: none */
	bool is_manual; /* the client has switched autocommit off */
	uint32_t sticky; /* pins that the session keeps even if its target ends them */

	/* the running request */
	struct cnd_rt_target *at;
	struct cnd_route route;
	bool is_routed; /* `route` is for the next request */
	struct cnd_sink *sink; /* NULL: between requests */
	int told; /* the first failure of the sink in a handler of libcenote */
	int stopped; /* negative: host->wait() has stopped the request, and this is its result */
	bool is_quiet; /* a text is repeated: the client does not get its notices and parameters */
	struct cnc_diag why; /* why the request was stopped */
	char tag[64]; /* of the last result */
	bool has_rows; /* a row of the running result was sent */

	/* requests that `target` has before their turn. The next answer is that of list[at] */
	struct {
		struct cnd_rt_target *target;
		struct cnd_rt_ahead list[CND_RT_AHEAD_MAX];
		size_t n, at;
		size_t size; /* about how many bytes they have */
		struct cnd_rt_early *early; /* in the order in which they came */
	} ahead;

	/* facts of the default target */
	struct cnd_option *facts;
	size_t n_facts;
	char *server, *version, *database, *backend;
	uint64_t features;
	uint64_t changes;
};

/* A client's statement with a number. */
struct cnd_rt_stmt {
	cenote_stmt *handles[CND_RT_TARGETS_MAX]; /* NULL: this target does not have it */
	struct cnd_rt_target
		*pieces; /* this target has pieces of a long value; NULL: none */
	struct cnd_rt_text text;
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
/* Wait until the connection may go on. If the request is stopped meanwhile, cancel it at the target and wait on. CENOTE_OK.
 * Negative: the client has gone, the target does not obey, or the sink failed. */
int cnd_rt_wait(struct cnd_session *s, struct cnd_rt_target *t);
/* A call of libcenote failed with `status`: set the diagnostics, and return the status that a backend returns. */
int cnd_rt_fail(struct cnd_session *s, struct cnd_rt_target *t, int status,
	struct cnc_diag *diag);
/* Pass a notice or a parameter on to the client. The first failure is kept in s->told. */
void cnd_rt_tell_notice(struct cnd_session *s, const struct cnc_diag *notice);
void cnd_rt_tell_parameter(struct cnd_session *s, const char *name, const char *value);
/* Copy the library's diagnostics. */
void cnd_rt_copy_diag(struct cnc_diag *to, const cenote_diag *from);
/* Attach to the target, unless that is done. */
int cnd_rt_attach(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag);
/* Give the sessions of all targets back. */
void cnd_rt_detach(struct cnd_session *s);
/* Take all results of the running request, and drop them. CENOTE_ERR_SERVER: one of them is an error, which `diag` gets unless it
 * is NULL. */
int cnd_rt_drop(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag);

/* route.c: which target gets a request, and what it needs to have before. */
/* The target that the session must stay with; NULL: none. */
struct cnd_rt_target *cnd_rt_holder(const struct cnd_session *s);
const char *cnd_rt_bound_to(const struct cnd_session *s);
void cnd_rt_route(struct cnd_session *s, const struct cnd_route *route);
/* Begin a unit of requests at the target, unless there is one. */
int cnd_rt_begin_unit(struct cnd_rt_target *t);
/* The worker has refused the client's next request, because of a rule. */
void cnd_rt_refused(struct cnd_session *s);
/* Choose the target of a request by the rules, and prepare it. Sets s->at. `is_sync`: a synchronisation point follows. */
int cnd_rt_choose(struct cnd_session *s, struct cnd_sink *sink, bool is_sync);
/* Prepare target `t` for a request to which no rule applies. Sets s->at. `t` NULL: the target that the session must stay with, or
 * else the default. */
int cnd_rt_enter(struct cnd_session *s, struct cnd_rt_target *t, struct cnd_sink *sink,
	bool is_sync);
/* Forget what the previous request has left in the session. */
void cnd_rt_begin_request(struct cnd_session *s, struct cnd_sink *sink);
/* A request has ended with `r`: note what its target holds now. `text`: the SQL of a query; NULL for other requests. Returns `r`, or
 * the failure of the sink in a handler. */
int cnd_rt_leave(struct cnd_session *s, int r, const char *text, size_t len);
void cnd_rt_forget_texts(struct cnd_session *s);

/* result.c */
/* Pass the results of the request on. `portal` keeps the rest of a result that the client reads in batches; NULL: all rows are sent.
 * `*ret_sent` is a cnd_statement.sent; NULL: the columns are always sent. */
int cnd_rt_deliver(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_portal *portal, uint64_t *ret_sent);
int cnd_rt_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_rt_close_portal(struct cnd_session *s, struct cnd_portal *portal);

/* copy.c: pass a copy on, until it ends. `res` is the result that begins it. */
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
/* The options for libcenote, which shall stream the results. */
cenote_exec_options cnd_rt_options(const struct cnd_exec *exec);
/* Write a request that a call of libcenote has queued with the result `r`. Returns `r`, or why it could not be written. */
int cnd_rt_send_off(struct cnd_session *s, int r);

/* ahead.c */
int cnd_rt_ahead(struct cnd_session *s, const struct cnd_ahead *what);
int cnd_rt_answer(struct cnd_session *s, struct cnd_sink *sink);
void cnd_rt_ahead_forget(struct cnd_session *s);

/* early.c */
/* Whether the message that libcenote handles now is for a later request of the series. Then it is kept, and the client gets it with that
 * request. `name` NULL: it is the notice. */
bool cnd_rt_keep_early(struct cnd_session *s, const cenote_diag *notice, const char *name,
	const char *value);
/* Give the client what came early for the requests of the series up to this one. */
void cnd_rt_tell_early(struct cnd_session *s, size_t request);
void cnd_rt_forget_early(struct cnd_session *s);

/* stmt.c */
/* The handle of the statement at s->at; NULL: that target does not have it. If *ret_own becomes a handle, the caller destroys it. */
cenote_stmt *cnd_rt_handle_here(
	struct cnd_session *s, const struct cnd_named *which, cenote_stmt **ret_own);
extern const struct cnd_statement_ops cnd_rt_statement_ops;
struct cnp_str cnd_rt_text_of(const struct cnd_session *s, struct cnp_str name);
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
