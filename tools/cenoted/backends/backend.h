/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BACKEND_H
#define CND_BACKEND_H

#include <stdbool.h>

#include "core/batch.h"
#include "core/diag.h"
#include "core/value.h"
#include "protocol/columns.h"
#include "protocol/msg.h"

/*
 * What a backend is: a module, libexec-style, named cenoted-BACKEND.so, that cenoted loads with
 * dlopen() when a pool asks for it, and that exports one function, cnd_backend_get(). A worker
 * has one session of it and calls it from one thread; a backend keeps no state outside its session.
 *
 * Errors: CENOTE_ERR_SERVER with the diagnostics filled: the statement failed, the session
 * lives. CENOTE_ERR_CONN with the diagnostics filled: the session to the server is lost; the
 * worker logs out and in again. With SQLSTATE 08003, in words of the backend's own, nothing of the request has
 * reached the server. CENOTE_ERR_UNSUPPORTED: the worker names the feature.
 * CENOTE_ERR_NOMEM. What a sink or the host returned as negative is passed on as it is.
 */
#define CND_BACKEND_ABI 8u

struct cnd_session; /* each backend's own */

/* One key=value of a `server` line, in the backend's own terms. */
struct cnd_option {
	const char *key;
	const char *value;
};

enum cnd_clients_login {
	CND_CLIENTS_NONE, /* the pool has a user of its own */
	CND_CLIENTS_PASSWORD,
	CND_CLIENTS_KEYS /* what SCRAM derives from the password, in its place */
};

struct cnd_server_spec {
	const struct cnd_option *options;
	size_t n_options;
	/* What the client wants the login to set, in the backend's own terms (the ATTACH option
	 * cnd_backend.settings_option); NULL or "": nothing. RESET goes back to it. */
	const char *settings;
	/* enum cnd_clients_login: the pool logs in as its clients. check(): user and password will come.
	 * login(): they are there, and prove who the client is: a server that would let it in without the
	 * password, since it trusts cenoted, must not. */
	uint8_t is_clients;
};

/*
 * Statements that the client numbers, and results that it fetches in batches. cenoted owns both tables and finds the
 * entry for a request. A backend hangs what it needs on `own`. While `own` is NULL, the entry does not exist for the
 * client. Entries stay where they are until their `own` is NULL.
 */
struct cnd_statement {
	uint32_t number;
	uint8_t effect; /* enum cnc_effect of its text; cenoted's */
	char *sql; /* ends with a zero byte; prepare() still sees the text of before */
	size_t len;
	uint64_t
		sent; /* the columns that the client has, in the backend's measure; 0: none */
	void *own;
};

struct cnd_portal {
	uint32_t number;
	uint64_t max_rows; /* of each further result; cenoted's, as the next one is */
	uint64_t rows_left; /* of this result */
	void *own;
};

struct cnd_statements {
	const struct cenote_allocator *mem;
	const struct cnd_statement_ops *ops; /* the backend's */
	struct cnd_statement **statements; /* in order of their numbers */
	size_t n_statements, cap_statements;
	struct cnd_portal **portals; /* in no order */
	size_t n_portals, cap_portals;
};

static inline bool
cnd_has_portals(const struct cnd_statements *t)
{
	for (size_t i = 0; i < t->n_portals; i++) {
		if (t->portals[i]->own != NULL)
			return true;
	}
	return false;
}

/* Services of the worker. Valid as long as the session. */
struct cnd_host {
	const struct cenote_allocator *mem;
	void *user;
	struct cnd_statements *statements; /* the client's */
	/* Call the session's forget_portal() and forget() for all that there are. reset() and logout() call this when
	 * the session is ready for it. */
	void (*forget)(const struct cnd_host *host, struct cnd_session *s);
	/* To be asked often (every few hundred microseconds of work, and while waiting): CENOTE_OK, or
	 * why to stop: CENOTE_ERR_SERVER with the diagnostics filled (cancelled, time limit), or
	 * CENOTE_ERR_CONN (the client went away). The answer stays the same for the rest of the
	 * request. */
	int (*interrupted)(const struct cnd_host *host, struct cnc_diag *ret_diag);
	/* Wait for poll(2) `events` of the server's descriptor, at most timeout_ms (-1: no bound):
	 * the events that came (>0); 0 when the time is up; or what interrupted() says. Signals and
	 * the client's end wake it. Once it said why to stop, it says so for the rest of the
	 * request: wait with plain poll(2) for the server to obey. */
	int (*wait)(const struct cnd_host *host, int fd, short events, int timeout_ms,
		struct cnc_diag *ret_diag);
	/* Whether it is the client's own cancel that interrupted() tells: then what the server says of it
	 * is what the client shall read. NULL: never. */
	int (*is_cancelled)(const struct cnd_host *host);
	/* Log a line; never a secret, a statement or a value. level: syslog's. */
	void (*log)(const struct cnd_host *host, int level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
	/* The client has changed what a new login begins with (a global variable, a role's settings): no
	 * session of the pool that was logged in before is lent again. To be called when it is in
	 * force. NULL: there are no others. */
	void (*login_changed)(const struct cnd_host *host);
	/* Whether the worker could log in again now, in place of a reset. A pool that passes logins through forgets the
	 * client's password after the login, so while a client is there it could not. NULL: it always could. */
	int (*can_log_in)(const struct cnd_host *host);
};

/*
 * Where one request's answer goes. The order: for each result columns() and rows, or nothing; then
 * done(). params() first for a description. Rows are written straight into the outgoing
 * batch: cnc_batch_row(), cnc_batch_put() for each column …, cnc_batch_row_done(), then row_done().
 */
struct cnd_sink;

struct cnd_sink_ops {
	int (*params)(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n);
	/* Begin a result with rows. `known`: the client has these columns; they are not sent. When it then fails
	 * before its first row, they may be sent all the same. */
	int (*columns)(struct cnd_sink *sink, const struct cnp_column *columns,
		uint32_t n, int known);
	/* A row was written. CENOTE_OK: go on. CENOTE_AGAIN: batch_rows is reached: keep the portal
	 * and call done() with CNP_DONE_MORE_ROWS. CENOTE_DONE: max_rows is reached: stop, call
	 * done() with CNP_DONE_LIMITED. Negative: stop and return it. */
	int (*row_done)(struct cnd_sink *sink);
	/* The end of one result. */
	int (*done)(struct cnd_sink *sink, const struct cnp_done *done);
	int (*notice)(struct cnd_sink *sink, const struct cnc_diag *notice);

	/* What the server says of its own accord: in the middle of a request, and while none runs. */
	int (*notification)(struct cnd_sink *sink, const struct cnp_notification *n);
	int (*parameter)(struct cnd_sink *sink, const char *name, const char *value);

	/* A copy, in place of columns(). Out: copy_out(), copy_data() …, copy_done(), then done().
	 * In: copy_in(), then copy_read() until it does not give CENOTE_OK. */
	int (*copy_out)(struct cnd_sink *sink, const struct cnp_copy_out *m);
	int (*copy_data)(struct cnd_sink *sink, const void *data, size_t len);
	int (*copy_done)(struct cnd_sink *sink);
	int (*copy_in)(struct cnd_sink *sink, const struct cnp_copy_in *m);
	/* The client's next piece, borrowed until the next call. CENOTE_OK; CENOTE_DONE: that was the
	 * last one, and there is no data; CENOTE_AGAIN: the server's descriptor `fd` (-1: none) is readable first;
	 * CENOTE_ERR_SERVER: the client gave up (COPY_FAIL; its reason is in the diagnostics), or the
	 * request was interrupted; CENOTE_ERR_CONN. What the client still sends of a copy that ended
	 * otherwise is discarded by the worker. */
	int (*copy_read)(struct cnd_sink *sink, int fd, struct cnp_str *ret_data);
};

struct cnd_sink {
	const struct cnd_sink_ops *ops;
	struct cnc_batch *batch; /* the current one; may change in each ops call */
	struct cnc_diag *diag; /* where the backend says why it failed */
};

/* How to run a statement. */
struct cnd_exec {
	struct cnd_portal *
		portal; /* keeps the rest when batch_rows is reached; NULL without batch_rows */
	uint8_t format; /* enum cenote_format */
	uint8_t columns_known; /* execute only */
	uint8_t is_simple; /* query only: the simple form, without parameters */
	uint8_t is_sync; /* a synchronisation point follows: it may travel with the statement */
	uint32_t batch_rows; /* 0: all */
	uint64_t
		max_rows; /* 0: all; row_done() counts, this is to ask the server for no more */
	const struct cnc_value *params;
	uint32_t n_params;
	struct cnp_str
		formats; /* one enum cenote_format a column; empty: `format` for all */
};

/* A statement that the client numbers, or a statement or portal that has a name at the server. */
struct cnd_named {
	struct cnd_statement *statement; /* NULL: by name */
	struct cnp_str name;
	uint8_t kind; /* enum cnp_named */
	uint8_t is_sync; /* as that of cnd_exec */
};

/* How a statement is prepared. */
struct cnd_prepare {
	struct cnd_statement *statement; /* NULL: by name alone */
	uint8_t is_sync;
	struct cnp_str sql;
	struct cnp_str
		name; /* what the server shall call it; empty: the backend's choice */
	const uint32_t *types; /* the server's type ids; 0: it shall find out */
	uint32_t n_types;
};

/* A request that waits behind others, for ahead(). Of the codes: CNP_MSG_QUERY, _EXECUTE, _PREPARE, _DESCRIBE,
 * _CLOSE, _SYNC. */
struct cnd_ahead {
	uint8_t code;
	struct cnp_str sql; /* query */
	const struct cnd_named *which; /* execute, describe, close */
	const struct cnd_prepare *prepare;
	const struct cnd_exec *exec; /* query, execute: without bounds and portal */
};

/* What READY tells, and what decides whether a session may be yielded. */
struct cnd_state {
	uint8_t tx; /* enum cenote_tx */
	uint32_t pins; /* bits of enum cenote_pin */
	struct cnp_str
		carry; /* to be given to attach() on another session; borrowed until the
				 next call */
};

/* Facts for ATTACHED; borrowed until logout. */
struct cnd_info {
	const char *server; /* which server this is, as the pool names it; no secrets */
	const char *server_version;
	const char *database;
	/* reported under their own names; server_tls_version, server_tls_cipher and server_tls_bits: what the
	 * client library tells of TLS with the server */
	const struct cnd_option *parameters;
	size_t n_parameters;
};

/* Statements and portals. */
struct cnd_statement_ops {
	/* Answers with params(), columns() (when it gives rows) and done(). Replaces what the statement has in `own`. On
	 * failure that is as before, or NULL. */
	int (*prepare)(struct cnd_session *s, const struct cnd_prepare *prepare,
		struct cnd_sink *sink);
	/* A portal has no params, but params() is called. */
	int (*describe)(struct cnd_session *s, const struct cnd_named *which,
		struct cnd_sink *sink);
	int (*execute)(struct cnd_session *s, const struct cnd_named *which,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* Answers with done(), also for an unknown name. NULL: nothing but forget() is needed. */
	int (*close)(struct cnd_session *s, const struct cnd_named *which,
		struct cnd_sink *sink);
	/* Free `own`, and leave NULL. */
	void (*forget)(struct cnd_session *s, struct cnd_statement *statement);
	/* NULL: the server takes no values in pieces. */
	int (*long_data)(struct cnd_session *s, struct cnd_statement *statement,
		uint16_t param, struct cnp_str data, struct cnc_diag *ret_diag);
	/* Go on with a portal. `send_columns`: call columns() with known 0 first, else 1. */
	int (*fetch)(struct cnd_session *s, struct cnd_portal *portal,
		uint32_t batch_rows, int send_columns, struct cnd_sink *sink);
	/* The client wants no more of it. */
	void (*close_portal)(struct cnd_session *s, struct cnd_portal *portal);
	/* The session is reset, or ends. */
	void (*forget_portal)(struct cnd_session *s, struct cnd_portal *portal);
};

struct cnd_backend {
	uint32_t abi; /* CND_BACKEND_ABI */
	const char *name; /* as in the configuration */
	uint64_t features; /* bits of enum cnp_feature */
	uint8_t writes_files; /* SQL may name files for it to write, anywhere */
	const char *reset_verb; /* what reset() does, for documentation and status */

	/* Check a server line without connecting: CENOTE_OK, or CENOTE_ERR_ARG and the diagnostics
	 * name the key and what is allowed. */
	int (*check)(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

	/* Log in. CENOTE_ERR_CONN: with the server's own words; its SQLSTATE, where `is_clients`. */
	int (*login)(const struct cnd_host *host, const struct cnd_server_spec *spec,
		struct cnd_session **ret_session, struct cnc_diag *ret_diag);
	void (*logout)(struct cnd_session *s); /* NULL is allowed */
	void (*info)(const struct cnd_session *s, struct cnd_info *ret_info);
	int (*ping)(struct cnd_session *s, struct cnc_diag *ret_diag);

	/* A client comes: `carry` is "" or what state() once gave for its former session. */
	int (*attach)(struct cnd_session *s, const struct cnp_str *carry,
		struct cnc_diag *ret_diag);
	/* It went, or wants to begin anew. Roll back and make the session as a new login (promise 1). Any failure:
	 * the worker logs out and in again; while there is a client only if it is CENOTE_ERR_UNSUPPORTED, what there
	 * is cannot be undone in any other way, and the session is lost otherwise. */
	int (*reset)(struct cnd_session *s, struct cnc_diag *ret_diag);
	void (*state)(const struct cnd_session *s, struct cnd_state *ret_state);

	int (*query)(struct cnd_session *s, const char *sql, size_t len,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	const struct cnd_statement_ops *statements;

	/* Each answers with done(). */
	int (*begin)(struct cnd_session *s, uint8_t isolation, uint32_t flags,
		struct cnd_sink *sink);
	int (*commit)(struct cnd_session *s, struct cnd_sink *sink);
	int (*rollback)(struct cnd_session *s, struct cnd_sink *sink);
	/* action: 0 set, 1 release, 2 roll back to. */
	int (*savepoint)(struct cnd_session *s, uint8_t action, const char *name,
		size_t len, struct cnd_sink *sink);
	int (*autocommit)(struct cnd_session *s, int on, struct cnd_sink *sink);

	int (*catalog)(struct cnd_session *s, const struct cnp_catalog *filter,
		struct cnd_sink *sink);

	/* From here on a backend may have NULL: the worker then says that it cannot do it. */

	/* A descriptor to watch for reading while the session is idle, lent or not; -1 none. While it
	 * is lent, asked before each wait: -1 also says that what comes there is for a request. */
	int (*fd)(const struct cnd_session *s);
	/* It is readable while no request runs: take what came, and give notices, notifications and
	 * parameters to the sink (NULL: nobody has the session). CENOTE_ERR_CONN: the session is lost. */
	int (*idle)(struct cnd_session *s, struct cnd_sink *sink);
	/* A synchronisation point: the requests before it are one unit for servers with such a
	 * thing. Called behind a request that asked for one, also when it failed or was skipped, and
	 * before state() is. May fail, and the worker reports it. */
	int (*sync)(struct cnd_session *s, struct cnd_sink *sink);
	/* state() says CENOTE_PIN_FUNCTION, and the worker wants to give the session up: ask the
	 * server what the session really holds, so that state() knows. */
	int (*settle)(struct cnd_session *s, struct cnc_diag *ret_diag);

	int (*function)(struct cnd_session *s, uint32_t function,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* Each answers with done(). */
	int (*change_user)(struct cnd_session *s, const struct cnp_change_user *to,
		struct cnd_sink *sink);
	int (*select_database)(struct cnd_session *s, const char *database, size_t len,
		struct cnd_sink *sink);
	/* An option of ATTACH or SET_OPTION. CENOTE_ERR_ARG with the diagnostics filled: no such
	 * option or value. The reset undoes it. */
	int (*set_option)(struct cnd_session *s, const char *name, const char *value,
		struct cnc_diag *ret_diag);

	/*
	 * Requests of one unit, in their order, before the first of them is answered: what is taken goes to the
	 * server together. CENOTE_OK: taken; else nothing was done, and it is asked for as usual
	 * when its time has come. Behind one that is a synchronisation point no more are asked of it.
	 * Each that was taken is then answered by answer(), in place of query() and its like, and a SYNC by
	 * sync(). Behind a failure those that are left are forgotten: the server does not carry them
	 * out, or it is a loss of the session. NULL: one at a time.
	 */
	int (*ahead)(struct cnd_session *s, const struct cnd_ahead *what);
	int (*answer)(struct cnd_session *s, struct cnd_sink *sink);

	/* The option of ATTACH that has what a login is to set; NULL: none. */
	const char *settings_option;
	/* Whether the session is as if it was logged in with them. NULL: only with the same text. */
	int (*has_settings)(const struct cnd_session *s, const char *settings);

	/* Keys of a server line: who logs in, and its password, or in that's place two keys of SCRAM, in base64. NULL:
	 * a pool cannot log in as its clients in that way. */
	const char *user_option;
	const char *password_option;
	const char *client_key_option;
	const char *server_key_option;

	/* After settle() the client can no longer ask what its last statement did, as SHOW WARNINGS does. */
	int is_settling_felt;
};

/* The one exported symbol of a module. NULL: this host's ABI is not served. */
const struct cnd_backend *cnd_backend_get(uint32_t host_abi);

#endif
