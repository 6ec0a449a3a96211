/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_SESSION_H
#define CND_PG_SESSION_H

#include <libpq-fe.h>

#include "../common/answer.h"
#include "../common/clock.h"
#include "../common/spill.h"
#include "pg.h"
#include "wire.h"

/*
 * The PostgreSQL backend: libpq logs in, and from then on the stream is read and written here, so
 * that rows go from the receive buffer into the outgoing batch in one step. The files, besides
 * those of pg.h:
 *
 *     module.c      the table of functions
 *     options.c     the keys of a server line
 *     session.c     login, attach, state, what the server says of its own accord
 *     reset.c       as a new login
 *     lasting.c     what no command undoes
 *     settle.c      what a session holds, asked of the server
 *     wire.c        messages of the protocol as bytes
 *     stream.c      bytes from and to the server; waiting, cancelling
 *     desc.c        columns of a result
 *     run.c         the messages that answer a request
 *     said.c        what single messages say
 *     exec.c        queries, execution, fast path
 *     portal.c      results that are fetched in batches
 *     stmt.c        prepared statements
 *     copy.c        COPY
 *     tx.c          transactions
 */

#define CND_PG_PARAMETERS_MAX 64u
#define CND_PG_NAME_MAX       64u

/* A fact that the server reports. */
struct cnd_pg_parameter {
	char *name;
	char *value;
	char *at_login; /* NULL: it was not told then */
	char *begun; /* as the client had it set when it attached (begun.c); NULL: it had not */
};

/* Columns of a result. Names are in `body`, a copy of the RowDescription. */
struct cnd_pg_desc {
	struct cnp_column *columns;
	cnd_pg_put **puts; /* NULL: the value as it came */
	uint16_t *wire; /* formats on the wire */
	uint32_t n;
	uint32_t cap;
	uint8_t *body;
	size_t body_len;
	size_t body_cap;
	uint8_t is_plain; /* no column has a `put` */
};

/* A prepared statement under a number of the client's. */
struct cnd_pg_stmt {
	char name[CND_PG_NAME_MAX];
	uint32_t *types; /* of its parameters */
	uint32_t n_params;
	uint8_t has_rows;
	uint8_t is_stable; /* its columns cannot change: no need to ask again */
	struct cnd_pg_scan scan;
	struct cnd_pg_desc desc;
};

/* A result that is fetched in batches. */
struct cnd_pg_portal {
	struct cnd_portal *entry; /* its own, in cenoted's table */
	uint8_t is_stream; /* the rest is on the stream: it is a simple query's */
	uint8_t is_loose; /* outside a transaction: no Sync while it is open */
	uint8_t is_stored; /* the rest is in `store` */
	uint8_t format;
	uint64_t n_rows; /* given so far; of a portal of the server's */
	size_t handed_out; /* bytes of the store that are in use */
	struct cnd_pg_desc desc;
	struct cnd_spill
		store; /* messages that were taken off the stream before the client wanted them */
};

/* The answer to a question of our own: one row of booleans. */
struct cnd_pg_flags {
	uint32_t n;
	uint8_t has_come;
	uint8_t flags[4];
};

/* The request whose answer is being read. */
struct cnd_pg_run {
	struct cnd_sink *sink; /* NULL: nobody wants it */
	struct cnd_pg_desc *desc;
	struct cnd_pg_portal *portal; /* the one it fetches from */
	struct cnd_pg_flags *flags; /* of a question of our own; else NULL */
	uint8_t format;
	struct cnp_str formats;
	uint32_t batch_rows;
	struct cnd_portal *entry; /* to keep the rest in */
	uint8_t is_simple;
	uint8_t until_ready; /* go on to ReadyForQuery */
	uint8_t is_known; /* the client has the columns */
	uint8_t is_describing; /* PARAMS and COLUMNS are the answer */
	uint8_t is_closing; /* CloseComplete is the answer */
	uint8_t is_cached; /* desc is valid already: the server sends none */
	uint8_t has_columns;
	const char *own_tag; /* of an answer for which the server has none */
	struct cnd_pg_desc *target; /* where a RowDescription goes */
	uint8_t is_limited; /* max_rows is reached: the rest of the result is not wanted */
	uint8_t in_rows; /* columns() was called */
	uint8_t has_done; /* `done` waits for what comes next */
	uint8_t is_quiet; /* only its failure is of interest */
	uint8_t n_first; /* answers to a BEGIN of our own that come first */
	uint8_t syncs_at_end; /* Sync is sent when the statement is complete */
	uint8_t n_steps; /* 1 it was parsed, 2 and bound, 3 and described */
	uint8_t is_paused; /* it stopped in the middle of the stream */
	uint8_t has_copied; /* the client was asked for data */
	uint8_t is_copying; /* out */
	uint8_t is_value_last; /* the last answer was the value of a function call */
	int status; /* its first failure */
	uint32_t warnings;
	uint64_t n_rows;
	struct cnp_done done;
	char tag[CND_PG_NAME_MAX];
};

/*
 * The parts of a session. Each belongs to one file, which says what its values mean. Other files may read them.
 */

/* stream.c: bytes from and to the server. */
struct cnd_pg_stream {
	const struct cnd_pg_transport *transport;
	struct ssl_st *ssl; /* libpq's; NULL: no TLS */
	uint8_t *in; /* what was received and not yet consumed: from head to tail */
	size_t cap, head, tail;
	size_t row_left; /* bytes of a long row's body that are still to be read, piece by piece */
	uint8_t is_dry; /* most likely nothing more has arrived: wait before reading */
};

/* stream.c: messages that are made and not yet sent. */
struct cnd_pg_out {
	struct cnc_buf buf;
	uint32_t n_ready; /* how often the server will answer them with ReadyForQuery */
	uint32_t
		n_before; /* how many of those come before the answer that no Sync ends */
	uint8_t is_unsynced; /* no Sync follows the last message */
};

/* run.c: how far the server is with the messages that were sent. */
struct cnd_pg_sync {
	uint32_t n_ready; /* ReadyForQuery that are still to come */
	uint32_t n_before; /* as that of cnd_pg_out */
	uint8_t is_missing; /* no Sync has ended the last message */
	uint8_t is_owed; /* send a Sync as soon as no portal forbids it */
	uint8_t is_skipping; /* the server skips everything up to a Sync */
	uint8_t is_doubtful; /* a copy failed, and the server may have skipped a Sync */
};

/* portal.c: a portal that was read to its end within a transaction. Its tables are busy until it is closed, and that
 * goes along with the next request. */
struct cnd_pg_spent {
	uint32_t portal; /* its number, and 1; 0: none */
	uint8_t is_closing; /* the next CloseComplete is for it */
};

/* run.c: the last ParameterDescription. */
struct cnd_pg_params {
	uint32_t *types;
	uint32_t n, cap;
};

/* reset.c: what a new login begins with. */
struct cnd_pg_login {
	char settings
		[24]; /* a hash of the role's and the database's settings at login; "": not known */
	uint8_t changes; /* a command changed such settings, for logins after the commit */
	uint8_t may_change; /* a command may have, and its tag does not tell */
};

/* A request that was sent, or is about to be, before the earlier ones were answered. */
struct cnd_pg_ahead {
	struct cnd_pg_stmt *stmt; /* of an execute by number; NULL */
	uint8_t code; /* CNP_MSG_… */
	uint8_t kind; /* of a describe */
	uint8_t format;
	uint8_t is_known;
	uint8_t is_sync;
};

#define CND_PG_AHEAD_MAX 128u

/* ahead.c: the requests to be answered next. */
struct cnd_pg_ahead_list {
	struct cnd_pg_ahead list[CND_PG_AHEAD_MAX];
	uint32_t at; /* the first one without an answer */
	uint32_t n;
	uint8_t has_sync; /* the Sync of the unit was sent with them */
	uint8_t has_standard_strings; /* the setting by which their text was read */
};

/* stream.c: the host wants the running request to stop. */
struct cnd_pg_stop {
	int status; /* what the host said; 0: go on */
	int again_ms; /* the next pause before the cancel is sent again */
	int64_t until_ms; /* how long the server has to obey */
	struct cnc_diag diag;
};

/* exec.c: what the client did, and wants. */
struct cnd_pg_client {
	uint32_t pins;
	uint32_t lasting; /* CND_PG_SCAN_DEFINES and _STAYS of its statements */
	uint8_t is_used; /* something was done that may have left a trace */
	uint8_t is_unproved; /* any function may have been called */
	uint8_t is_manual; /* autocommit is off */
	uint8_t may_copy; /* a named statement may be a copy */
	uint8_t has_carried; /* state() gave it something to carry */
};

struct cnd_pg_transport {
	/* As many of n bytes as can be had at once: >0; 0: wait for *ret_events; CENOTE_ERR_CONN. */
	ptrdiff_t (*receive)(
		struct cnd_session *s, uint8_t *room, size_t n, short *ret_events);
	ptrdiff_t (*send)(
		struct cnd_session *s, const uint8_t *bytes, size_t n, short *ret_events);
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	PGconn *conn;
	int fd;
	int ready_fd; /* 0: not opened */
	uint8_t is_clients; /* logged in as a client, with its password */
	uint8_t keeps_compiled; /* the server line has keep_compiled=yes */
	uint8_t is_lost;
	struct cnc_diag lost; /* why */

	struct cnd_pg_stream stream;
	struct cnd_pg_out out;
	struct cnd_pg_sync sync;
	struct cnd_pg_spent spent;
	struct cnd_pg_ahead_list ahead;
	struct cnd_pg_login login;
	struct cnd_pg_client client;

	/* the running request */
	struct cnd_pg_run run;
	struct cnd_pg_stop stop;
	struct cnd_pg_params params;
	struct cnd_pg_desc desc; /* of queries */
	struct cnc_diag *diag;

	/* what the server said */
	uint8_t tx; /* of the last ReadyForQuery: 'I', 'T', 'E' */
	struct cnd_pg_facts facts;
	struct cnd_pg_memo memo;
	struct cnd_pg_parameter parameters[CND_PG_PARAMETERS_MAX];
	size_t n_parameters;
	int version;
	/* the oldest transaction when settle.c last looked at the database's code; 0: never */
	uint32_t last_look;
	struct cnd_pg_look {
		uint32_t oldest; /* the oldest transaction then; 0: never looked */
		uint8_t is_compiled; /* the look was also at types and code */
		int64_t asked_ms; /* when the server was last asked for new functions */
	} look; /* the last look of lasting.c */

	/* facts for info() */
	struct cnd_option reported[CND_PG_PARAMETERS_MAX + 5];
	char server[256];
	char server_version[64];
	char database[256];
	char backend_pid[16];
};

/* options.c */
int cnd_pg_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);
/* Keys and values for PQconnectStartParams(), with NULL after the last; borrowed from the spec. */
#define CND_PG_KEYS_MAX 96u
struct cnd_pg_options {
	const char *keys[CND_PG_KEYS_MAX + 1];
	const char *values[CND_PG_KEYS_MAX + 1];
	char settings[2048]; /* `options` with the client's, where it has any */
	uint8_t keeps_compiled;
};
int cnd_pg_options_read(const struct cnd_server_spec *spec,
	struct cnd_pg_options *ret_options, struct cnc_diag *ret_diag);

/* session.c */
int cnd_pg_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_pg_logout(struct cnd_session *s);
void cnd_pg_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_pg_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_pg_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
void cnd_pg_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_pg_fd(const struct cnd_session *s);
int cnd_pg_idle(struct cnd_session *s, struct cnd_sink *sink);
/* Notice, notification or parameter: CENOTE_OK, also when nobody wants to know; CENOTE_AGAIN: it
 * is another message; what the sink said; or the session is lost. */
int cnd_pg_async(
	struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink);
int cnd_pg_set_parameter(struct cnd_session *s, const char *name, const char *value);
/* NULL: the server has not reported it. */
struct cnd_pg_parameter *cnd_pg_parameter(struct cnd_session *s, const char *name);
/* A question of our own outside any transaction, which gives one row of booleans: n of them. */
int cnd_pg_ask(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n);
/* The same, with a text after the booleans, in `room` bytes with the zero byte. 0: there is no text. */
int cnd_pg_ask_more(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n,
	char *ret_text, size_t room);
/* The booleans of such a row, and its text. CENOTE_OK, or the session is lost. */
int cnd_pg_take_row(struct cnd_session *s, const struct cnd_pg_msg *m, uint8_t *ret_flags,
	size_t n, char *ret_text, size_t room);
/* The booleans alone. */
int cnd_pg_take_flags(struct cnd_session *s, const struct cnd_pg_msg *m,
	struct cnd_pg_flags *ret_flags);
/* An error of our own: CENOTE_ERR_SERVER. */
int cnd_pg_refuse(struct cnd_session *s, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* begun.c */
int cnd_pg_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag);
/* Forget the values of the client that has gone. */
void cnd_pg_begun_forget(struct cnd_session *s);
/* Whether they are as the client had them set, or as at login. */
int cnd_pg_is_as_begun(struct cnd_session *s);

/* reset.c */
/* What the role and the database set for a login, as they are now: the hash goes to s->login_settings. */
int cnd_pg_learn_login(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_pg_reset(struct cnd_session *s, struct cnc_diag *ret_diag);

/* lasting.c */
/* Add the question what the client left to s->out. The answer goes to `ret_answer`, which must live until the run has
 * ended. */
int cnd_pg_lasting_ask(struct cnd_session *s, struct cnd_pg_flags *ret_answer);
/* Decide by that answer. CENOTE_OK: the next client may have the session; CENOTE_ERR_UNSUPPORTED: it may not; an error, or
 * the session is lost. */
int cnd_pg_lasting_check(struct cnd_session *s, const struct cnd_pg_flags *answer);

/* settle.c */
int cnd_pg_settle(struct cnd_session *s, struct cnc_diag *ret_diag);

/* stream.c */
void cnd_pg_stream_init(struct cnd_session *s);
void cnd_pg_stream_finish(struct cnd_session *s);
/* Begin a request: where its errors go. CENOTE_OK, or the session is lost. */
int cnd_pg_enter(struct cnd_session *s, struct cnc_diag *diag);
/* Send what is in s->out. */
int cnd_pg_send(struct cnd_session *s);
/* The next message, waiting for it; CENOTE_OK or negative. Valid until the next call. */
int cnd_pg_next(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* The same; of a row that is long and has not come yet the body is NULL, to be read with what follows. */
int cnd_pg_next_or_row(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* The next bytes of its body, good until the next call. CENOTE_ERR_PROTOCOL: it has not so many. */
int cnd_pg_row_take(struct cnd_session *s, size_t n, const uint8_t **ret_bytes);
/* The same, to `to`; NULL: nobody wants them. */
int cnd_pg_row_read(struct cnd_session *s, uint8_t *to, size_t n);
/* The same without waiting: CENOTE_AGAIN if none has come. */
int cnd_pg_poll(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* The answer is not wanted any more: have the server stop, and give it some time for that. */
void cnd_pg_stop(struct cnd_session *s, int why);
/* Whether a whole message lies in the buffer. */
int cnd_pg_has_message(const struct cnd_pg_stream *st);
/* The server broke the protocol, or the connection: CENOTE_ERR_CONN. */
int cnd_pg_broken(struct cnd_session *s, const char *what);
int cnd_pg_lost(struct cnd_session *s, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* run.c */
/* Begin to answer a request. */
struct cnd_pg_run *cnd_pg_run_begin(struct cnd_session *s, struct cnd_sink *sink);
/* Read up to the end of the answer: what the request comes to. */
int cnd_pg_run(struct cnd_session *s);
/* Send what was made, then read. */
int cnd_pg_send_run(struct cnd_session *s);
/* Sync, if a request was sent without, and ReadyForQuery. */
int cnd_pg_sync_now(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_sync(struct cnd_session *s, struct cnd_sink *sink);
/* What must be so before a request is sent. */
int cnd_pg_ready(struct cnd_session *s, struct cnd_sink *sink);
/* Add the Sync or Flush that follows a request. */
int cnd_pg_add_end(struct cnd_session *s, int is_sync);
/* One message of an answer. */
int cnd_pg_handle(struct cnd_session *s, const struct cnd_pg_msg *m);
/* ReadyForQuery: CENOTE_OK, or the session is lost. */
int cnd_pg_note_ready(struct cnd_session *s, const struct cnd_pg_msg *m);
/* An error that ends the session: CENOTE_ERR_CONN. */
int cnd_pg_fatal(struct cnd_session *s, const struct cnd_pg_msg *m);
/* Begin the rows of a result. */
int cnd_pg_give_columns(struct cnd_session *s, int known);
/* A row into the batch. */
int cnd_pg_put_row(struct cnd_session *s, const struct cnd_pg_desc *d,
	const struct cnd_pg_msg *m, struct cnc_batch *batch);

/* desc.c */
void cnd_pg_desc_finish(struct cnd_session *s, struct cnd_pg_desc *d);
/* From a RowDescription. CENOTE_OK, CENOTE_ERR_PROTOCOL, CENOTE_ERR_NOMEM. */
int cnd_pg_desc_read(
	struct cnd_session *s, struct cnd_pg_desc *d, const struct cnd_pg_msg *m);
/* Values are wanted as `format` (or `formats`, one a column) and come as the wire formats say. */
int cnd_pg_desc_form(struct cnd_session *s, struct cnd_pg_desc *d, uint8_t format,
	struct cnp_str formats);
int cnd_pg_desc_copy(
	struct cnd_session *s, struct cnd_pg_desc *to, const struct cnd_pg_desc *from);

/* exec.c */
int cnd_pg_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_pg_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_pg_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink);
int cnd_pg_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);
/* FunctionCallResponse, as a row of one column. */
int cnd_pg_function_result(struct cnd_session *s, const struct cnd_pg_msg *m);
/* Text for the server cannot hold a zero byte. */
int cnd_pg_check_text(struct cnd_session *s, const char *text, size_t len);
/* A statement like that is going to run: what it may leave. */
void cnd_pg_note(struct cnd_session *s, const struct cnd_pg_scan *scan, int is_simple);
/* A statement was prepared under a name of the client, and may run by that name later. */
void cnd_pg_note_prepared(struct cnd_session *s, const struct cnd_pg_scan *scan);
/* Parse of the statement without a name. */
int cnd_pg_add_parse(
	struct cnd_session *s, const char *sql, size_t len, const struct cnd_exec *exec);
/* Bind to the portal without a name, of the statement `name` (`st`: by number). */
int cnd_pg_add_bind(struct cnd_session *s, const char *name, size_t name_len,
	const struct cnd_pg_stmt *st, const struct cnd_exec *exec);
/* Its columns are known: they come as `exec` wants them. */
void cnd_pg_form_known(struct cnd_session *s, struct cnd_pg_desc *d, uint8_t format);
/* Whether the statement has to be described before it can be bound. */
int cnd_pg_needs_columns_first(const struct cnd_session *s, const struct cnd_exec *exec);
/* Whether the client speaks of the server's own types. */
int cnd_pg_is_native(const struct cnd_exec *exec);

/* ahead.c */
int cnd_pg_ahead(struct cnd_session *s, const struct cnd_ahead *what);
int cnd_pg_answer(struct cnd_session *s, struct cnd_sink *sink);
/* What was not sent is not asked for. */
void cnd_pg_ahead_forget(struct cnd_session *s);
/* Read what was sent and is not wanted any more. */
void cnd_pg_ahead_drain(struct cnd_session *s);

/* portal.c */
int cnd_pg_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_pg_close_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_pg_forget_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_pg_portal_name(uint32_t number, char name[CND_PG_NAME_MAX]);
/* The running request stops here: keep what is needed to go on. */
int cnd_pg_portal_keep(struct cnd_session *s, int is_stream);
/* Portals whose rest stands in the way of another request: take it into memory, or a file. */
int cnd_pg_portals_store(struct cnd_session *s, struct cnd_sink *sink);
/* Begin a request with the end of a portal that was read to its end. */
void cnd_pg_close_spent(struct cnd_session *s);
/* What was begun of a request is not sent. */
void cnd_pg_out_clear(struct cnd_session *s);
/* The transaction has ended: those that were kept by the server are gone. */
void cnd_pg_portals_end(struct cnd_session *s);
/* The next kept message; CENOTE_OK or negative. */
int cnd_pg_store_next(
	struct cnd_session *s, struct cnd_pg_portal *p, struct cnd_pg_msg *ret_msg);
/* Whether a portal forbids a Sync. */
int cnd_pg_portal_is_loose(const struct cnd_session *s);

/* stmt.c */
/* The last ParameterDescription, to the sink. */
int cnd_pg_give_params(struct cnd_session *s);
/* Parse and Describe, after a Close of `old` (NULL: none). */
int cnd_pg_add_prepare(struct cnd_session *s, const struct cnd_prepare *p,
	const char *name, size_t name_len, const char *old);
int cnd_pg_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_pg_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
int cnd_pg_close(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
void cnd_pg_forget(struct cnd_session *s, struct cnd_statement *statement);

/* copy.c */
int cnd_pg_copy_in(struct cnd_session *s, const struct cnd_pg_msg *m);
int cnd_pg_copy_out(struct cnd_session *s, const struct cnd_pg_msg *m);

/* tx.c */
int cnd_pg_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_pg_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_pg_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);

#endif
