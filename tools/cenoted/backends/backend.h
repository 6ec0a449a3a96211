/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BACKEND_H
#define CND_BACKEND_H

#include <stdbool.h>

#include "core/batch.h"
#include "core/buf.h"
#include "core/diag.h"
#include "core/value.h"
#include "protocol/columns.h"
#include "protocol/msg.h"

/*
 * The interface between cenoted and its backends. A backend is a module, cenoted-BACKEND.so, which cenoted loads
 * with dlopen() when a pool names it. It exports one function, cnd_backend_get(). A worker calls it from one thread, and has
 * one session of it, or several if the backend says `can_share`. A backend keeps no state outside its session, but for
 * hints that only make it ask its server once more.
 *
 * Errors. CENOTE_ERR_SERVER, with the diagnostics filled: the statement failed, and the session lives on.
 * CENOTE_ERR_CONN, with the diagnostics filled: the session is lost, and the worker logs in again. If the backend
 * itself sets SQLSTATE 08003, nothing of the request has reached the server. CENOTE_ERR_UNSUPPORTED: the worker
 * makes a message that names the feature. CENOTE_ERR_NOMEM. A backend returns negative results of the sink and the
 * host unchanged.
 */
#define CND_BACKEND_ABI 14u

struct cnd_session; /* each backend defines it */

/* One key=value of a `server` line. Each backend has its own keys. */
struct cnd_option {
	const char *key;
	const char *value;
};

enum cnd_clients_login {
	CND_CLIENTS_NONE, /* all sessions log in as the pool's user */
	CND_CLIENTS_PASSWORD,
	CND_CLIENTS_KEYS /* the keys that SCRAM derives from the password, in its place */
};

struct cnd_server_spec {
	const struct cnd_option *options;
	size_t n_options;
	/* What the login shall set for the client: the value of the ATTACH option cnd_backend.settings_option. NULL or
	 * "": nothing. A reset restores these settings. */
	const char *settings;
	const char *run_dir; /* the directory of cenoted's own sockets; NULL in check() */
	/* enum cnd_clients_login: whether the pool logs in as its clients. In check() the line has no user and
	 * password yet. In login() it has them, and the login proves who the client is. So login() must fail if the
	 * server accepts the user without asking for the password. */
	uint8_t is_clients;
	bool is_read_only; /* the session must not write, if the backend has read_only() */
};

/* A limit of a rule on the answer to a statement, and the rule's line. */
struct cnd_limit {
	uint64_t max; /* 0: there is none */
	unsigned line;
};

struct cnd_limits {
	struct cnd_limit rows, bytes, time_ms;
};

/* How much of an answer with limits was sent. */
struct cnd_limited {
	uint64_t rows, bytes;
};

/*
 * Statements that the client numbers, and results that it fetches in batches. cenoted owns both
 * tables and finds the entry for a request. A backend keeps its own data for an entry in `own`. While
 * `own` is NULL, the entry does not exist for the client. Entries are not moved until their `own` is
 * NULL.
 */
struct cnd_statement {
	uint32_t number;
	uint8_t effect; /* enum cnc_effect of its text; only cenoted uses it */
	/* pieces of a long value wait for the next execution; only cenoted uses it */
	bool has_pieces;
	char *sql; /* ends with a zero byte; during prepare() still the previous text */
	size_t len;
	uint64_t
		sent; /* which columns the client has, as the backend counts them; 0: none */
	struct cnd_limits limits; /* of its executions; only cenoted uses them */
	bool is_plain; /* it only reads; only cenoted uses it */
	struct cnd_plan *
		plan; /* for the pool's cache; NULL: nothing is known; only cenoted uses it */
	void *own;
};

struct cnd_portal {
	uint32_t number;
	/* the client's bounds; only cenoted uses them */
	uint64_t max_rows; /* of each further result */
	uint64_t rows_left; /* of this result */
	struct cnd_limits limits;
	struct cnd_limited limited;
	void *own;
};

struct cnd_statements {
	const struct cenote_allocator *mem;
	const struct cnd_statement_ops *ops; /* the functions of the backend */
	struct cnd_statement **statements; /* in order of their numbers */
	size_t n_statements, cap_statements;
	struct cnd_portal **portals; /* in no order */
	size_t n_portals, cap_portals;
	size_t n_pieced; /* how many statements have pieces */
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

/* What the worker offers its backend. Valid as long as the session. */
struct cnd_host {
	const struct cenote_allocator *mem;
	void *user;
	struct cnd_statements *statements; /* the client's */
	/* Remove all statements and portals: calls forget_portal() and forget() for each. The backend's reset() and
	 * logout() call this when the session is ready for it. */
	void (*forget)(const struct cnd_host *host, struct cnd_session *s);
	/* Whether to stop. Call it every few hundred microseconds of work, and while waiting. CENOTE_OK: go on.
	 * CENOTE_ERR_SERVER, with the diagnostics filled: the request was cancelled, or its time is up.
	 * CENOTE_ERR_CONN: the client has gone. Once it says stop, it says so for the rest of the request. */
	int (*interrupted)(const struct cnd_host *host, struct cnc_diag *ret_diag);
	/* Wait for poll(2) `events` of the server's descriptor, at most timeout_ms (-1: no bound). Returns the events
	 * that came (>0); 0: the time is up; negative: as interrupted(). Signals and the client's end also wake it.
	 * After it has said stop, wait with pause() until the server obeys. */
	int (*wait)(const struct cnd_host *host, int fd, short events, int timeout_ms,
		struct cnc_diag *ret_diag);
	/* The same, but nothing interrupts it. Returns the events, or 0: the time is up. */
	int (*pause)(const struct cnd_host *host, int fd, short events, int timeout_ms);
	/* A read of the descriptor got fewer bytes than it asked for, or none: it was read until it was empty. This saves
	 * wait() a system call in a shared process. NULL: it saves nothing. */
	void (*drained)(const struct cnd_host *host, int fd);
	/* Whether interrupted() says stop because the client cancelled. Then the client shall get the server's own
	 * message. NULL: never. */
	int (*is_cancelled)(const struct cnd_host *host);
	/* Log a line, at a level of syslog(3). Never log a secret, a statement or a value. */
	void (*log)(const struct cnd_host *host, int level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
	/* Call this when the client has changed the state that new logins begin with (a global
	 * variable, a role's settings) and the change is in force. Then the pool lends no session
	 * again that was logged in before. NULL: there are no other sessions. */
	void (*login_changed)(const struct cnd_host *host);
	/* Whether the worker can log in again now, in place of a reset. A pool that passes logins through forgets the
	 * client's password after the login, so it cannot while a client has the session. NULL: it always can. */
	int (*can_log_in)(const struct cnd_host *host);
	/* Whether the client prepares its statements with a name again on another session. Then they need not keep it
	 * on this one. NULL: it does not. */
	int (*restores_names)(const struct cnd_host *host);
	/* Whether to refuse a statement whose text says that it will pin the session (`strict = yes`). NULL: no. */
	int (*refuses_pins)(const struct cnd_host *host);
	/* Whether a client that holds nothing but channels (LISTEN) can probably give up its session. NULL: no. */
	int (*moves_listen)(const struct cnd_host *host);
	/* Whether the client gives up the session as soon as the running request is done, if it holds nothing then. So a backend
	 * that is sure of that may send its reset with the request, and say so in state(). NULL: no. */
	int (*ends_turn)(const struct cnd_host *host);
};

/*
 * Takes the answer to one request. For each result, the backend calls columns() and writes the rows, if it has rows,
 * and then calls done(). A description begins with params(). The backend writes rows straight into the outgoing
 * batch: cnc_batch_row(), cnc_batch_put() for each column, cnc_batch_row_done(), then row_done().
 */
struct cnd_sink;

struct cnd_sink_ops {
	int (*params)(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n);
	/* Begin a result with rows. `known`: the client has these columns, so they are not sent. If the result fails
	 * before its first row, they may be sent nevertheless. */
	int (*columns)(struct cnd_sink *sink, const struct cnp_column *columns,
		uint32_t n, int known);
	/* A row was written. CENOTE_OK: go on. CENOTE_AGAIN: batch_rows is reached; keep the portal and call done()
	 * with CNP_DONE_MORE_ROWS. CENOTE_DONE: max_rows is reached; stop and call done() with CNP_DONE_LIMITED.
	 * Negative: stop and return it. */
	int (*row_done)(struct cnd_sink *sink);
	/* The end of one result. */
	int (*done)(struct cnd_sink *sink, const struct cnp_done *done);
	int (*notice)(struct cnd_sink *sink, const struct cnc_diag *notice);

	/* Messages that no request asked for. The server sends them during a request and between requests. */
	int (*notification)(struct cnd_sink *sink, const struct cnp_notification *n);
	int (*parameter)(struct cnd_sink *sink, const char *name, const char *value);

	/* A copy, in place of columns(). Out: copy_out(), copy_data() for each piece, copy_done(), then done().
	 * In: copy_in(), then copy_read() as long as it returns CENOTE_OK. */
	int (*copy_out)(struct cnd_sink *sink, const struct cnp_copy_out *m);
	int (*copy_data)(struct cnd_sink *sink, const void *data, size_t len);
	int (*copy_done)(struct cnd_sink *sink);
	int (*copy_in)(struct cnd_sink *sink, const struct cnp_copy_in *m);
	/* The client's next piece, borrowed until the next call. CENOTE_OK. CENOTE_DONE: the copy is at its end, and
	 * *ret_data is empty. CENOTE_AGAIN: the server's descriptor `fd` (-1: none) became readable first.
	 * CENOTE_ERR_SERVER: the client gave up (COPY_FAIL, with its reason in the diagnostics), or the request was
	 * interrupted. CENOTE_ERR_CONN. If the copy ends earlier, the worker discards what the client still sends. */
	int (*copy_read)(struct cnd_sink *sink, int fd, struct cnp_str *ret_data);
};

struct cnd_sink {
	const struct cnd_sink_ops *ops;
	struct cnc_batch *batch; /* the current one; may change in each ops call */
	struct cnc_diag *diag; /* the backend fills it when it fails */
};

/* A change of what a session listens on. */
struct cnd_channels {
	bool is_first; /* before the change, undo settings, and close cursors and prepared statements */
	struct cnp_str drop, add; /* names of channels, each with a zero byte */
	/* after the change, notify `channel` with the payload `mark`; NULL: do not */
	const char *channel, *mark;
};

/* How to run a statement. */
struct cnd_exec {
	struct cnd_portal *
		portal; /* keeps the rest once batch_rows is reached; NULL without batch_rows */
	uint8_t format; /* enum cenote_format */
	uint8_t columns_known; /* execute only */
	uint8_t is_simple; /* query only: the simple form, without parameters */
	uint8_t is_sync; /* a synchronisation point follows; it may go in the same write */
	uint32_t batch_rows; /* 0: all */
	uint64_t
		max_rows; /* 0: all. row_done() counts the rows; ask the server for no more than these */
	const struct cnc_value *params;
	uint32_t n_params;
	struct cnp_str
		formats; /* one enum cenote_format a column; empty: `format` for all */
};

/* A statement that the client numbers, or a statement or portal that has a name at the server. */
struct cnd_named {
	struct cnd_statement *statement; /* NULL: `name` names it */
	struct cnp_str name;
	uint8_t kind; /* enum cnp_named */
	uint8_t is_sync; /* as in cnd_exec */
};

/* How a statement is prepared. */
struct cnd_prepare {
	struct cnd_statement *statement; /* NULL: it has a name only */
	uint8_t is_sync;
	/* a set-up request prepares it again: it ends a statement of the same name, and nobody reads its description */
	uint8_t is_setup;
	/* The next request executes or describes it. So the backend may send it with that request, which then gets the
	 * error if it cannot be prepared. */
	uint8_t is_next;
	struct cnp_str sql;
	struct cnp_str name; /* its name at the server; empty: the backend chooses one */
	const uint32_t *types; /* the server's type ids; 0: the server finds out */
	uint32_t n_types;
};

/* A request before its turn, for ahead(). */
struct cnd_ahead {
	uint8_t code; /* CNP_MSG_QUERY, _EXECUTE, _PREPARE, _DESCRIBE, _CLOSE or _SYNC */
	bool is_sync; /* it is a synchronisation point, or asks for one */
	struct cnp_str sql; /* query */
	const struct cnd_named *which; /* execute, describe, close; else NULL */
	const struct cnd_prepare *prepare;
	const struct cnd_exec
		*exec; /* query and execute, without bounds and portal; else NULL */
};

/* What READY reports to the client. The worker also decides by it whether it may yield the session. */
struct cnd_state {
	uint8_t tx; /* enum cenote_tx */
	uint32_t pins; /* bits of enum cenote_pin */
	struct cnp_str
		carry; /* for attach() on the client's next session; borrowed until the next call */
	bool is_over; /* the reset has begun, as ends_turn() allowed it. The client must not use the session again */
};

/* Facts for ATTACHED; borrowed until logout. */
struct cnd_info {
	const char
		*server; /* the server's name in the pool's configuration; no secrets */
	const char *server_version;
	const char *database;
	/* Parameters that the server reports, under its names; also server_tls_version, server_tls_cipher and
	 * server_tls_bits, as the client library reports TLS with the server. */
	const struct cnd_option *parameters;
	size_t n_parameters;
	uint64_t
		changes; /* another number whenever a fact changes; 0: the backend does not count */
	/* The server's own kind and features, if the backend is a router; NULL and 0: those of the backend. */
	const char *backend;
	uint64_t features;
};

/* What the rules say about the next request. */
struct cnd_route {
	const char *target; /* the name of the target; NULL: no rule names one */
	unsigned line; /* the line of the rule that names it, for messages */
	bool sets_state; /* its text sets the session's state, and does nothing else, except that it may read */
	bool asks_last; /* it asks about the client's last statement, so it goes where that went */
};

/* A router: a backend that sends each statement to one of several targets (backends/router). */
struct cnd_router_ops {
	/* Whether the line names this target. */
	bool (*has_target)(const struct cnd_server_spec *spec, const char *target);
	/* The name of the target that the session must stay with: it has an open transaction there, or something else that cannot
	 * follow. NULL: none. */
	const char *(*bound_to)(const struct cnd_session *s);
	/* The route of the next query, prepare, execute or function. The target's name lives as long as the configuration. */
	void (*route)(struct cnd_session *s, const struct cnd_route *route);
	/* The text of a prepared statement that has a name and no number, borrowed until the next request. Empty: unknown. */
	struct cnp_str (*text)(const struct cnd_session *s, struct cnp_str name);
};

/* What a server says of itself. */
enum cnd_role {
	CND_ROLE_UNKNOWN,
	CND_ROLE_PRIMARY, /* it takes writes */
	CND_ROLE_REPLICA /* it refuses them */
};

#define CND_LAG_UNKNOWN (-1)
#define CND_LAG_STOPPED INT64_MAX /* the replica no longer receives changes */

struct cnd_server_role {
	uint8_t role; /* enum cnd_role */
	bool is_ready; /* false: the server reports that it cannot be used now (Galera) */
	int64_t lag_ms; /* how far a replica is behind its primary; or one of the two values above */
};

/* Longest text of a position, without its zero byte. */
#define CND_POSITION_MAX CNP_POSITION_MAX

/* Statements and portals. */
struct cnd_statement_ops {
	/* Answers with params(), columns() (if it gives rows) and done(). Replaces the statement's `own`. After a
	 * failure `own` is unchanged or NULL. */
	int (*prepare)(struct cnd_session *s, const struct cnd_prepare *prepare,
		struct cnd_sink *sink);
	/* Calls params() also for a portal, with no parameters. */
	int (*describe)(struct cnd_session *s, const struct cnd_named *which,
		struct cnd_sink *sink);
	int (*execute)(struct cnd_session *s, const struct cnd_named *which,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* Answers with done(), also for an unknown name. NULL: nothing but forget() is needed. */
	int (*close)(struct cnd_session *s, const struct cnd_named *which,
		struct cnd_sink *sink);
	/* Free `own` and set it to NULL. */
	void (*forget)(struct cnd_session *s, struct cnd_statement *statement);
	/* NULL: the server takes no values in pieces. */
	int (*long_data)(struct cnd_session *s, struct cnd_statement *statement,
		uint16_t param, struct cnp_str data, struct cnc_diag *ret_diag);
	/* Go on with a portal. `send_columns`: the client does not know the columns, so call columns() with `known` 0. */
	int (*fetch)(struct cnd_session *s, struct cnd_portal *portal,
		uint32_t batch_rows, int send_columns, struct cnd_sink *sink);
	/* The client closes the portal. */
	void (*close_portal)(struct cnd_session *s, struct cnd_portal *portal);
	/* The portal goes because the session is reset or ends. */
	void (*forget_portal)(struct cnd_session *s, struct cnd_portal *portal);
	/* SQL with two parameters, a name and a text: it gives a row if a request has prepared this text under this name, and
	 * the server still has that statement. NULL: statements have numbers only. */
	const char *named_question;
};

struct cnd_backend {
	uint32_t abi; /* CND_BACKEND_ABI */
	const char *name; /* as in the configuration */
	uint64_t features; /* bits of enum cnp_feature */
	uint8_t writes_files; /* SQL can make it write files anywhere */
	uint8_t can_share; /* it waits only through host->wait(), so several sessions may share a process */
	const char *reset_verb; /* what reset() does, for status and documents */

	/* Check a server line without connecting. CENOTE_ERR_ARG: the diagnostics name the key and its allowed
	 * values. */
	int (*check)(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

	/* Log in. CENOTE_ERR_CONN: the diagnostics have the server's message, and with `is_clients` its SQLSTATE. */
	int (*login)(const struct cnd_host *host, const struct cnd_server_spec *spec,
		struct cnd_session **ret_session, struct cnc_diag *ret_diag);
	void (*logout)(struct cnd_session *s); /* NULL is allowed */
	void (*info)(const struct cnd_session *s, struct cnd_info *ret_info);
	int (*ping)(struct cnd_session *s, struct cnc_diag *ret_diag);

	/* A client begins. `carry` is "", or what state() returned on the client's previous session. */
	int (*attach)(struct cnd_session *s, const struct cnp_str *carry,
		struct cnc_diag *ret_diag);
	/* The client has gone, or asked for a reset. Roll back, and make the session like a new login (promise 1). After
	 * any failure without a client, the worker logs in again. With a client it does so only after
	 * CENOTE_ERR_UNSUPPORTED, which says that no command can undo what is there. After other failures that
	 * client's session is lost. */
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

	/* The members from here on may be NULL. The worker then reports that the backend cannot do it. */

	/* A descriptor to watch for reading while no request runs; -1: none. While a client has the
	 * session, the worker asks before each wait, and -1 also means that bytes there belong to a
	 * request. */
	int (*fd)(const struct cnd_session *s);
	/* That descriptor is readable while no request runs. Read it, and pass notices, notifications and parameters to
	 * the sink (NULL: no client has the session). CENOTE_ERR_CONN: the session is lost. */
	int (*idle)(struct cnd_session *s, struct cnd_sink *sink);
	/* A synchronisation point: for some servers the requests before it are one unit. The worker calls this before
	 * state(), after a request that asked for it, even if the request failed or was skipped. The worker reports a
	 * failure to the client. */
	int (*sync)(struct cnd_session *s, struct cnd_sink *sink);
	/* The worker has refused a request, because of a rule, and the backend does not get it. */
	void (*refused)(struct cnd_session *s);
	/* The worker wants to yield the session, and state() reports no other pins than those in `settled_pins`. Ask the server
	 * what the session really holds, for the next state(). The sink gets the notifications and parameters that come
	 * meanwhile. Without a sink (NULL), nobody can get a notification, so it ends the session. */
	int (*settle)(struct cnd_session *s, struct cnd_sink *sink);
	uint32_t settled_pins; /* bits of enum cenote_pin: those that settle() may end */
	/*
	 * Ask the server for its role, while no request runs. The sink is as for settle(). NULL: the server has no roles.
	 * CENOTE_ERR_UNSUPPORTED: the session cannot ask now, since a transaction or a result is open. CENOTE_ERR_SERVER, with
	 * the diagnostics filled: the server does not answer the question.
	 */
	int (*role)(struct cnd_session *s, struct cnd_sink *sink,
		struct cnd_server_role *ret_role, struct cnc_diag *ret_diag);

	/*
	 * Ask the server how far it has got: as a primary with what it has committed, as a replica with what its readers see.
	 * It is called while no request runs, and the sink is as for settle(). CENOTE_ERR_UNSUPPORTED: the session cannot ask
	 * now, since a transaction or a result is open. CENOTE_ERR_SERVER, with the diagnostics filled: the server does not
	 * answer the question. NULL: the backend knows nothing about replicas of its servers.
	 */
	int (*position)(struct cnd_session *s, struct cnd_sink *sink,
		char ret_text[CND_POSITION_MAX + 1], struct cnc_diag *ret_diag);
	/* Compare such a text with one that a client brought; see common/position.h. */
	int (*covers)(const char *have, const char *wanted, const char **ret_why);

	int (*function)(struct cnd_session *s, uint32_t function,
		const struct cnd_exec *exec, struct cnd_sink *sink);
	/* Each answers with done(). */
	int (*change_user)(struct cnd_session *s, const struct cnp_change_user *to,
		struct cnd_sink *sink);
	int (*select_database)(struct cnd_session *s, const char *database, size_t len,
		struct cnd_sink *sink);
	/* An option of ATTACH or SET_OPTION. CENOTE_ERR_ARG, with the diagnostics filled: there is no such option or
	 * value. CENOTE_DONE: it is so already. reset() undoes it, or options_are_set() does. */
	int (*set_option)(struct cnd_session *s, const char *name, const char *value,
		struct cnc_diag *ret_diag);
	/* The client has set all its options: undo those of earlier clients that reset() left, and give the session what
	 * attach() got from the client, if it has to come after them. CENOTE_DONE: there was nothing to do. */
	int (*options_are_set)(struct cnd_session *s, struct cnc_diag *ret_diag);

	/*
	 * Offers the requests of one unit in order, before the first of them is answered. The backend sends those that
	 * it takes in one write. CENOTE_OK: it takes the request. Otherwise it did nothing, and the request runs as
	 * usual in its turn. No request is offered after a synchronisation point. The worker then calls answer() for
	 * each taken request, in place of query() and its like, and sync() for a SYNC. After a failure the worker
	 * drops the other taken requests: the server skips them, or the session is lost. NULL: one request at a time.
	 */
	int (*ahead)(struct cnd_session *s, const struct cnd_ahead *what);
	int (*answer)(struct cnd_session *s, struct cnd_sink *sink);

	/* The ATTACH option that says what the login shall set; NULL: none. */
	const char *settings_option;
	/* Whether a login with these settings would give the same session. NULL: only if the texts are equal. */
	int (*has_settings)(const struct cnd_session *s, const char *settings);

	/*
	 * LISTEN for clients that have no session (worker/listening.c). Both functions are NULL if the server has no
	 * notifications. The sink gets the notifications that come during the call.
	 *
	 * channels(): append the names of the channels that the session listens on, each with a zero byte.
	 * CENOTE_ERR_UNSUPPORTED: another session cannot listen on them for this client.
	 * listen(): make the whole change. CENOTE_ERR_SERVER: nothing has changed. The session has received its own
	 * notification when listen() returns.
	 */
	int (*channels)(
		struct cnd_session *s, struct cnc_buf *ret_names, struct cnd_sink *sink);
	int (*listen)(struct cnd_session *s, const struct cnd_channels *what,
		struct cnd_sink *sink);

	/* The keys of a server line for the user, the password, and the two SCRAM keys (base64) in place of the
	 * password. NULL: a pool cannot log in as its clients in that way. */
	const char *user_option;
	const char *password_option;
	const char *client_key_option;
	const char *server_key_option;

	/* After settle() the client can no longer ask what its last statement did, as SHOW WARNINGS does. */
	int is_settling_felt;
	int can_refuse_pins; /* it asks refuses_pins() */
	/*
	 * The rules by which the server reads this text now, as far as it has confirmed them: bits of enum cnc_sql_rule and enum
	 * cnc_digest_rule. 0: that is not known. NULL: it is known for no text.
	 */
	uint32_t (*sql_rules)(struct cnd_session *s, const char *sql, size_t len);

	/*
	 * Make all later transactions read-only, and let the server confirm it. The spec of the login asked for this, too, but the
	 * client may have changed it since. It is called outside of a unit of requests. If the backend has sync(), it is called
	 * outside of a transaction, too. CENOTE_OK: the server has confirmed it. CENOTE_ERR_UNSUPPORTED: the session cannot ask
	 * now. NULL: the servers have no read-only transactions.
	 */
	int (*read_only)(
		struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag);

	/*
	 * Lending (docs/lending.md). All five members are NULL if the backend cannot lend.
	 *
	 * lend(): the client is about to get the server's socket. Only after state() has reported nothing. Append to `facts`
	 * what borrow() must know. *ret_fd is the socket, which the backend still owns. The client's statements end.
	 * CENOTE_ERR_UNSUPPORTED: nothing has changed, and this session cannot be lent, as its diagnostics say (TLS). After any
	 * other failure, the client cannot go on with the session.
	 */
	int (*lend)(struct cnd_session *s, struct cnc_buf *facts, int *ret_fd,
		struct cnc_diag *ret_diag);
	/*
	 * The socket is ours again, in whatever state the client left it: resynchronise with the server, and roll back, within
	 * the host's time limit. `left`: what the client says that it left. `is_busy`: a request may still be running. Then
	 * reset() makes the session fresh. Any failure: log in again.
	 */
	int (*take_back)(struct cnd_session *s, uint32_t left, bool is_busy,
		struct cnc_diag *ret_diag);
	/* During a loan: stop what runs at the server now. */
	void (*cancel)(struct cnd_session *s);
	/* In the client's process, in place of login(): use a lent socket. logout() closes nothing then. */
	int (*borrow)(const struct cnd_host *host, int fd, const uint8_t *facts, size_t n,
		struct cnd_session **ret_session, struct cnc_diag *ret_diag);
	/* In the client's process: what the client may have left so far, for take_back(). */
	uint32_t (*left)(const struct cnd_session *s);

	/*
	 * A statement has just failed with SQLSTATE 40001 or 40P01: roll its transaction back, unless the server has done that.
	 * CENOTE_OK: the server confirms that nothing of the transaction is left, so it can run again. CENOTE_ERR_UNSUPPORTED:
	 * something may be left. NULL: the backend cannot find that out.
	 */
	int (*undo)(struct cnd_session *s, struct cnc_diag *ret_diag);
	const struct cnd_router_ops *router; /* NULL: the backend has one server */
	/* How many of the first bytes of a carry say what the last statement did, such as the last insert id. The others are
	 * settings. */
	uint32_t carry_values;
	/* The versions of the server that the tests run on, as the beginnings of `server_version`; the last one is NULL. The log
	 * tells about others. NULL: nobody keeps such a list. */
	const char *const *tested_versions;
};

/* The only exported symbol of a module. NULL: the module does not support this ABI. */
const struct cnd_backend *cnd_backend_get(uint32_t host_abi);

#endif
