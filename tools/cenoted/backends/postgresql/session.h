/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_SESSION_H
#define CND_PG_SESSION_H

#include "../common/answer.h"
#include "../common/clock.h"
#include "../common/position.h"
#include "../common/spill.h"
#include "borrowed.h"
#include "pg.h"
#include "wire.h"

/*
 * The PostgreSQL backend. libpq logs in. After the login, this backend reads and writes the stream itself, so
 * that rows go from the receive buffer into the outgoing batch in one step. The files, besides
 * those of pg.h:
 *
 *     module.c      the table of functions
 *     options.c     the keys of a server line
 *     login.c       login through libpq
 *     session.c     attach, state, messages while no request runs, logout
 *     parameters.c  the values that the server reports
 *     settings.c    the settings that move with a client
 *     prepared.c    the statements prepared by SQL that move with a client
 *     restore.c     give a session what its client brings
 *     known.c       what executions by a name run
 *     strict.c      what a pool with strict = yes refuses
 *     ask_values.c  the question for their present values
 *     begun.c       the options that a client attaches with
 *     reset.c       make the session like a new login
 *     lasting.c     what no command can undo
 *     settle.c      ask the server what a session holds
 *     proof.c       prove that the database's code leaves nothing
 *     wire.c        messages of the protocol as bytes
 *     stream.c      bytes from and to the server; waiting
 *     stream_tls.c  the same through TLS
 *     cancel.c      cancelling through libpq
 *     desc.c        columns of a result
 *     ahead.c       requests that are sent together
 *     run.c         the messages that answer a request
 *     said.c        the contents of single messages
 *     exec.c        queries, execution, fast path
 *     portal.c      results that are fetched in batches
 *     stmt.c        prepared statements
 *     copy.c        COPY
 *     tx.c          transactions
 *     loan.c        lend the socket to a client, and take it back
 *     borrowed.c    the same session in that client's process
 */

#define CND_PG_PARAMETERS_MAX 64u
#define CND_PG_NAME_MAX       64u
#define CND_PG_TLS_FACTS      3u

/* A setting whose value the server reports with ParameterStatus. */
struct cnd_pg_parameter {
	char *name;
	char *value;
	char *at_login; /* the value at login; NULL: the server did not report it then */
	char *begun; /* the value that the client set when it attached (begun.c); NULL: it set none */
};

/* Columns of a result. `columns` borrow their names from `body`, a copy of the RowDescription. */
struct cnd_pg_desc {
	struct cnp_column *columns;
	cnd_pg_put **puts; /* how to convert each column; NULL: copy its values */
	uint16_t *wire; /* each column's format on the wire */
	uint32_t n;
	uint32_t cap;
	uint8_t *body;
	size_t body_len;
	size_t body_cap;
	uint8_t is_plain; /* no column has a `put` */
};

/* A prepared statement to which the client gave a number. */
struct cnd_pg_stmt {
	char name[CND_PG_NAME_MAX];
	uint32_t *types; /* of its parameters */
	uint32_t n_params;
	uint8_t has_rows;
	uint8_t is_stable; /* its columns cannot change, so an execution does not ask for them again */
	struct cnd_pg_scan scan;
	struct cnd_pg_desc desc;
};

/* A result that is fetched in batches. */
struct cnd_pg_portal {
	struct cnd_portal *entry; /* the portal's entry in cenoted's table */
	uint8_t is_stream; /* of a simple query: the rest of the rows is still on the stream */
	uint8_t is_loose; /* outside a transaction: a Sync would end the portal, so send none */
	uint8_t is_stored; /* the rest of the rows is in `store` */
	uint8_t format;
	uint64_t n_rows; /* rows that the client has got so far */
	size_t handed_out; /* bytes at the head of `store` that the last message borrows */
	struct cnd_pg_desc desc;
	struct cnd_spill store; /* messages that the client has not fetched yet */
};

/* The answer to a question of the backend: one row of booleans, or the values of calls. */
struct cnd_pg_flags {
	uint32_t n;
	uint32_t
		n_calls; /* how many calls give the first flags: whether the value is neither NULL nor 0 */
	uint32_t n_values; /* how many of them have come */
	uint8_t has_come; /* the row, or the values, were received */
	uint8_t flags[4];
};

/* The request whose answer is being read. */
struct cnd_pg_run {
	struct cnd_sink *sink; /* receives the answer; NULL: drop it */
	struct cnd_pg_desc *desc;
	struct cnd_pg_portal *portal; /* the portal of a fetch; else NULL */
	struct cnd_pg_flags *flags; /* where a question's row goes; else NULL */
	uint8_t format;
	struct cnp_str formats;
	uint32_t batch_rows;
	struct cnd_portal *entry; /* to keep the rest of the rows; else NULL */
	uint8_t is_simple; /* a simple query, not Parse, Bind and Execute */
	uint8_t until_ready; /* the answer ends with ReadyForQuery */
	uint8_t is_known; /* the client has the columns already */
	uint8_t is_describing; /* a prepare or describe: the answer is PARAMS and COLUMNS */
	uint8_t is_closing; /* a close: the answer is CloseComplete */
	uint8_t is_cached; /* `desc` is valid already, and the server sends no RowDescription */
	uint8_t has_columns;
	const char *own_tag; /* the tag to report if the server gives none; NULL: "" */
	struct cnd_pg_desc *target; /* for a RowDescription; NULL: s->desc */
	uint8_t is_limited; /* max_rows is reached: drop the rest of the result */
	uint8_t in_rows; /* columns() was called */
	uint8_t has_done; /* `done` waits for the next message, which says whether more results follow */
	uint8_t is_quiet; /* report failures only, and no results */
	uint8_t n_first; /* answers to a BEGIN of the backend that come before the request's own */
	uint8_t syncs_at_end; /* send Sync once the statement is complete */
	uint8_t n_steps; /* 1: parsed; 2: also bound; 3: also described, without columns */
	uint8_t has_copied; /* the client was asked for the data of a copy */
	uint8_t is_copying; /* the server sends the data of a copy */
	uint8_t is_value_last; /* the last answer was the value of a function call */
	int status; /* the first failure; else CENOTE_OK */
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
	struct ssl_st *ssl; /* belongs to libpq; NULL: no TLS */
	uint8_t *in; /* receive buffer: head to tail is not consumed yet */
	size_t cap, head, tail;
	size_t row_left; /* bytes of a long row's body that are not read yet */
	uint8_t is_dry; /* most likely no more bytes have arrived: wait before reading */
};

/* stream.c: messages that are not sent yet. */
struct cnd_pg_out {
	struct cnc_buf buf;
	uint32_t n_ready; /* number of ReadyForQuery that will answer them */
	/* how many of these come before the answer to a message without Sync */
	uint32_t n_before;
	uint32_t
		n_early; /* number of ReadyForQuery that will answer an early reset behind these */
	uint8_t is_unsynced; /* no Sync follows the last message */
};

/* run.c: how far the server has come with the messages that were sent. */
struct cnd_pg_sync {
	uint32_t n_ready; /* ReadyForQuery that are still to come */
	uint32_t n_before; /* as cnd_pg_out.n_before */
	uint8_t is_missing; /* no Sync followed the last message */
	uint8_t is_owed; /* send a Sync as soon as no portal forbids it */
	uint8_t is_skipping; /* the server skips everything up to a Sync */
	uint8_t is_broken; /* a set-up request made it skip, so the client has to hear that its unit is undone */
	uint8_t is_doubtful; /* a copy failed, so the server may have skipped a Sync */
};

/* portal.c: a portal that was read to its end within a transaction. Its tables are busy until it is closed. Its Close
 * goes along with the next request. */
struct cnd_pg_spent {
	uint32_t portal; /* its number, and 1; 0: none */
	uint8_t is_closing; /* the next CloseComplete is for it */
	uint8_t has_unnamed; /* an earlier client left the statement that has no name: close it, too */
	uint8_t is_closing_unnamed; /* the next CloseComplete is for that */
};

/* run.c: the last ParameterDescription. */
struct cnd_pg_params {
	uint32_t *types;
	uint32_t n, cap;
};

/* stmt.c: a statement that is prepared again together with the next request. */
struct cnd_pg_due {
	struct cnc_buf buf; /* its Close and Parse; empty: there is none */
	char name[CND_PG_NAME_MAX];
	struct cnd_pg_scan scan; /* of its text */
	uint8_t is_parsing; /* the next ParseComplete is for it */
};

#define CND_PG_KNOWN_MAX 8u

/* known.c: what the last statements with a name are. */
struct cnd_pg_known {
	struct {
		char name[CND_PG_NAME_MAX];
		struct cnd_pg_scan scan;
	} list[CND_PG_KNOWN_MAX];
	size_t n;
	size_t next; /* the entry that is replaced next */
};

/* reset.c: the settings that a new login begins with. */
struct cnd_pg_login {
	char settings[24]; /* a hash of them at login; "": unknown */
	uint8_t changes; /* a command changed such settings; after the commit they apply to new logins */
	uint8_t may_change; /* a command may have changed such settings, but its tag does not tell */
	uint8_t was_told; /* the host was told of such a change */
};

/* discard.c: a reset that was sent in one write with the client's last request, behind it. */
struct cnd_pg_early {
	uint32_t
		n_ready; /* ReadyForQuery that are still to come for it; 0: there is none */
	struct cnd_pg_flags lasting; /* for the answer to lasting.c's question */
};

/* A request that is sent before the earlier requests are answered. */
struct cnd_pg_ahead {
	struct cnd_pg_stmt *stmt; /* the statement of an execute by number; else NULL */
	uint8_t code; /* CNP_MSG_… */
	uint8_t kind; /* what a describe names: CNP_NAMED_… */
	uint8_t format;
	uint8_t is_known; /* the client has the columns already */
	uint8_t is_sync;
};

#define CND_PG_AHEAD_MAX 128u

/* ahead.c: the requests that are sent together. */
struct cnd_pg_ahead_list {
	struct cnd_pg_ahead list[CND_PG_AHEAD_MAX];
	uint32_t at; /* index of the first request without an answer */
	uint32_t n;
	uint8_t has_sync; /* the Sync of the unit was sent with these requests */
	uint8_t has_standard_strings; /* the setting when scan.c read the SQL of these requests */
};

/* stream.c: the host wants the running request to stop. */
struct cnd_pg_stop {
	int status; /* the host's reason to stop; 0: go on */
	int again_ms; /* pause before the cancel is sent again */
	int64_t until_ms; /* when the server must have stopped (monotonic clock) */
	struct cnc_diag diag;
};

/* exec.c: what the client did, and its autocommit. */
struct cnd_pg_client {
	uint32_t pins;
	uint32_t lasting; /* CND_PG_SCAN_DEFINES and _STAYS of its statements */
	uint8_t is_used; /* something was done that may have left a trace */
	uint8_t has_told; /* the last text, which the server shows, may be known to this client only */
	uint8_t has_unnamed; /* it may have left the statement that has no name */
	uint8_t is_unproved; /* any function may have been called */
	uint8_t has_acted; /* … by a statement that does not only read and write rows */
	uint8_t is_manual; /* autocommit is off */
	uint8_t may_copy; /* a named statement may be a copy */
	uint8_t has_named; /* it has prepared statements with a name, and prepares them again on another session */
	uint8_t keeps_named; /* some of these statements would not mean the same on another session */
	uint8_t holds_unnamed; /* it has prepared the statement that has no name, and no query has replaced that */
	uint8_t is_local; /* in this transaction, a setting on which the meaning of SQL depends may have changed */
	uint8_t has_carried; /* the client has a `carry`: it brought one, or was told one here */
};

/* settings.c: the settings that the client changed. */
struct cnd_pg_settings {
	struct cnc_buf
		carry; /* what the client gets for its next session; empty or one byte: nothing is set */
	char names
		[512]; /* the names that the server does not list, each with a zero byte */
	size_t names_len;
	uint8_t is_due; /* the client has brought the carry, and the session does not have the settings yet */
	uint8_t is_stale; /* since the server was asked, more may have been set */
	uint8_t hides; /* something may be set that no question shows */
	uint8_t may_hide; /* a function may have set such a thing, if the database has code that does */
};

#define CND_PG_PREPARED_MAX 64u

/* prepared.c: hashes of texts or names of statements that the client prepared under the present settings. */
struct cnd_pg_prepared {
	uint64_t list[CND_PG_PREPARED_MAX];
	size_t n; /* how many were noted; the list has the last CND_PG_PREPARED_MAX of them */
};

struct cnd_pg_transport {
	/* Receive or send up to n bytes without waiting. >0: how many; 0: wait for *ret_events; CENOTE_ERR_CONN. */
	ptrdiff_t (*receive)(
		struct cnd_session *s, uint8_t *room, size_t n, short *ret_events);
	ptrdiff_t (*send)(
		struct cnd_session *s, const uint8_t *bytes, size_t n, short *ret_events);
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	struct pg_conn *conn; /* libpq's; NULL: the socket is borrowed */
	int fd;
	/* Cancel the running request, and wait for the end of that. CENOTE_OK; CENOTE_ERR_CONN: it could not be sent;
	 * CENOTE_ERR_TIMEOUT */
	int (*cancel)(struct cnd_session *s, int timeout_ms);
	void (*close)(struct cnd_session *s); /* end the connection */
	int ready_fd; /* a descriptor that is always readable (copy.c); 0: not opened */
	uint8_t is_clients; /* logged in as the client, with the client's credentials */
	uint8_t keeps_compiled; /* the server line has keep_compiled=yes */
	uint8_t has_pure_queries; /* … and queries=pure */
	uint8_t was_lent; /* a client may still have the socket */
	uint8_t is_on_loan; /* between lend and take_back: what the client did is not known here */
	uint8_t has_unheard; /* a notification came that no client got */
	uint8_t is_lost;
	struct cnc_diag lost; /* why the session is lost */

	struct cnd_pg_stream stream;
	struct cnd_pg_out out;
	struct cnd_pg_sync sync;
	struct cnd_pg_spent spent;
	struct cnd_pg_due due;
	struct cnd_pg_known known;
	struct cnd_pg_ahead_list ahead;
	struct cnd_pg_login login;
	struct cnd_pg_early early;
	struct cnd_pg_client client;
	struct cnd_pg_settings settings;
	struct cnd_pg_prepared prepared; /* by SQL: the texts */
	struct cnd_pg_prepared named; /* by request: the names */

	/* the running request */
	struct cnd_pg_run run;
	struct cnd_pg_stop stop;
	struct cnd_pg_params params;
	struct cnd_pg_desc desc; /* columns of queries */
	struct cnc_diag *diag;

	/* what the server reported */
	uint8_t tx; /* transaction state from the last ReadyForQuery: 'I', 'T', 'E' */
	struct cnd_pg_facts facts;
	struct cnd_pg_memo memo;
	struct cnd_pg_parameter parameters[CND_PG_PARAMETERS_MAX];
	size_t n_parameters;
	uint64_t n_changes; /* how often a parameter was reported so far */
	int version;
	/* the oldest running transaction when settle.c last looked at the database's code; 0: never */
	uint32_t last_look;
	struct cnd_pg_look {
		uint32_t oldest; /* the oldest transaction then; 0: never looked */
		uint8_t is_compiled; /* lasting.c also looked at types and code */
		int64_t asked_ms; /* when the server was last asked for new functions (monotonic clock) */
	} look; /* lasting.c: the last look at the catalog */
	struct cnd_pg_proof {
		uint32_t
			last_look; /* the oldest running transaction then; 0: look at everything */
		uint32_t n_changes; /* the process's changes of code until then */
		int64_t asked_ms; /* when the server was asked (monotonic clock); 0: never */
		uint8_t is_harmless; /* the answer: no code leaves anything */
	} proof; /* proof.c */

	/* facts for info() */
	struct cnd_option reported[CND_PG_PARAMETERS_MAX + 1 + CND_PG_TLS_FACTS];
	const char *tls
		[CND_PG_TLS_FACTS]; /* protocol, cipher, bits of its key; NULL: no TLS */
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
	/* value of the key `options` if the client gave settings: the server line's settings, then the client's */
	char settings[2048];
	uint8_t keeps_compiled;
	uint8_t has_pure_queries;
};
int cnd_pg_options_read(const struct cnd_server_spec *spec,
	struct cnd_pg_options *ret_options, struct cnc_diag *ret_diag);

/* login.c */
int cnd_pg_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);

/* session.c */
void cnd_pg_logout(struct cnd_session *s);
void cnd_pg_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_pg_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_pg_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
void cnd_pg_state(const struct cnd_session *s, struct cnd_state *ret_state);
uint32_t cnd_pg_sql_rules(struct cnd_session *s, const char *sql, size_t len);
int cnd_pg_fd(const struct cnd_session *s);
int cnd_pg_idle(struct cnd_session *s, struct cnd_sink *sink);
/* Handle a notice, notification or parameter. CENOTE_OK, also without a sink; CENOTE_AGAIN: the message is of
 * another type; the sink's failure; or the session is lost. */
int cnd_pg_async(
	struct cnd_session *s, const struct cnd_pg_msg *m, struct cnd_sink *sink);
/* Run a query of the backend outside a transaction. It gives one row of n booleans. */
int cnd_pg_ask(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n);
/* As cnd_pg_ask(), with a text after the booleans. `room`: the size of ret_text, with the zero byte; 0: no text. */
int cnd_pg_ask_more(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n,
	char *ret_text, size_t room);
/* Read the booleans and the text from a DataRow. CENOTE_OK, or the session is lost. */
int cnd_pg_take_row(struct cnd_session *s, const struct cnd_pg_msg *m, uint8_t *ret_flags,
	size_t n, char *ret_text, size_t room);
/* Read a DataRow that has booleans only. */
int cnd_pg_take_flags(struct cnd_session *s, const struct cnd_pg_msg *m,
	struct cnd_pg_flags *ret_flags);
/* Set an error of the backend. Returns CENOTE_ERR_SERVER. */
int cnd_pg_refuse(struct cnd_session *s, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* parameters.c */
int cnd_pg_set_parameter(struct cnd_session *s, const char *name, const char *value);
/* NULL: the server has not reported that parameter. */
struct cnd_pg_parameter *cnd_pg_parameter(struct cnd_session *s, const char *name);

/* ask_values.c: ask the server for the present values of all parameters. */
int cnd_pg_ask_values(struct cnd_session *s);

/* known.c */
void cnd_pg_known_forget(struct cnd_session *s);
/* Call this for each statement that is sent: it may change what names mean. */
void cnd_pg_known_note(
	struct cnd_session *s, const struct cnd_pg_scan *scan, int is_harmless);
void cnd_pg_known_add(
	struct cnd_session *s, struct cnp_str name, const struct cnd_pg_scan *scan);
/* cnd_pg_unknown if the text is not known. Valid until the next note or add. */
const struct cnd_pg_scan *cnd_pg_known_find(
	const struct cnd_session *s, struct cnp_str name);

/* strict.c */
/* Why the pool refuses a statement; NULL: it does not. */
const char *cnd_pg_strict_advice(
	const struct cnd_session *s, const struct cnd_pg_scan *scan);
/* CENOTE_ERR_SERVER, with the diagnostics filled: the pool refuses the text. */
int cnd_pg_check_strict(struct cnd_session *s, const char *sql, size_t len);

/* settings.c */
/* In the carry: a byte for autocommit (1: off), then entries with SEPARATOR between two. The entry of a setting is name,
 * EQUALS, value. After the settings come the statements: EQUALS and the text. */
#define CND_PG_CARRY_EQUALS    '\1'
#define CND_PG_CARRY_SEPARATOR '\2'
/* The entries of the client's carry. */
struct cnp_str cnd_pg_settings_entries(const struct cnd_session *s);
/* Take the next entry from `left`. Returns 0 after the last one. */
int cnd_pg_settings_next(struct cnp_str *left, struct cnp_str *ret_entry);
int cnd_pg_settings_is_statement(const struct cnp_str *entry);
void cnd_pg_settings_forget(struct cnd_session *s);
int cnd_pg_settings_are_any(const struct cnd_session *s);
/* A text sets something. `names` as in struct cnd_pg_scan. */
void cnd_pg_settings_learn(struct cnd_session *s, const char *names);
/* Something may have ended a statement that the client would bring to its next session. */
void cnd_pg_settings_doubt(struct cnd_session *s);
/* Ask the server which settings the client has changed and which statements it has prepared by SQL, and keep them in the
 * carry. *pins has CENOTE_PIN_SETTINGS if the server lists settings, and CENOTE_PIN_PREPARED if it lists statements. The
 * function takes out the pin of a kind that can move. */
int cnd_pg_settings_ask(struct cnd_session *s, uint32_t *pins);
/* Keep what the client brings, for restore.c. CENOTE_ERR_PROTOCOL: cenoted never gives such a carry. */
int cnd_pg_settings_bring(struct cnd_session *s, const struct cnp_str *carry);
/* What the client shall bring to its next session. */
struct cnp_str cnd_pg_settings_carry(struct cnd_session *s);

/* prepared.c */
/* A statement may move from now on. `hash` is never 0. */
void cnd_pg_prepared_note(struct cnd_pg_prepared *prepared, uint64_t hash);
/* Whether the client has prepared it, and no setting on which its meaning depends has changed since. */
int cnd_pg_prepared_is_known(
	const struct cnd_pg_prepared *prepared, const char *text, size_t len);
/* A statement must not move. */
void cnd_pg_prepared_drop(struct cnd_pg_prepared *prepared, const char *text, size_t len);
/* A setting on which the meaning depends may have changed: no statement may move any more. */
void cnd_pg_prepared_forget(struct cnd_session *s);

/* restore.c */
/* The client has set its options: undo those of earlier clients, and give the session what the client brings. */
int cnd_pg_options_are_set(struct cnd_session *s, struct cnc_diag *ret_diag);

/* begun.c */
int cnd_pg_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag);
/* Whether the parameter is an option that a client attaches with. */
int cnd_pg_is_option(const struct cnd_pg_parameter *p);
/* Add to s->out commands that give the options the values that the client began with, as they are after DISCARD ALL. */
int cnd_pg_add_options(struct cnd_session *s);
/* Give the options that this client has not set their values at login. CENOTE_DONE: there was nothing to do. */
int cnd_pg_drop_options(struct cnd_session *s);
/* Forget the option values that the previous client began with. */
void cnd_pg_begun_forget(struct cnd_session *s);
/* Whether the encoding is another one than the client began with. */
int cnd_pg_has_changed_encoding(struct cnd_session *s);
/* The application_name, if the client has changed it since it began; else NULL. */
const char *cnd_pg_changed_name(struct cnd_session *s);

/* reset.c */
/* Hash the settings that the role and the database now have for a login. The hash goes to s->login.settings. */
int cnd_pg_learn_login(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_pg_reset(struct cnd_session *s, struct cnc_diag *ret_diag);

/* discard.c */
/* Add a text to s->out. */
int cnd_pg_add_command(struct cnd_session *s, const char *sql);
/* Whether the SQL of a statement showed that the session must end. */
int cnd_pg_has_lasting(const struct cnd_session *s);
/* Add to s->out what follows the end of the last transaction. The answer to the question goes to `ret_lasting`. */
int cnd_pg_add_discard(struct cnd_session *s, struct cnd_pg_flags *ret_lasting);
/* A request is in s->out, and about to be sent. If it is the last one of its client, add the reset behind it. */
int cnd_pg_add_early_reset(struct cnd_session *s, const struct cnd_pg_scan *scan);

/* lasting.c */
/* Add to s->out a query that asks what the client left. The answer goes to `ret_answer`, which must live until the run
 * has ended. */
int cnd_pg_lasting_ask(struct cnd_session *s, struct cnd_pg_flags *ret_answer);
/* Decide by the answer to that query. CENOTE_OK: the next client may have the session; CENOTE_ERR_UNSUPPORTED: it may
 * not; an error; or the session is lost. */
int cnd_pg_lasting_check(struct cnd_session *s, const struct cnd_pg_flags *answer);

/* proof.c */
/* Whether the code of the database is known to leave nothing in a session. */
int cnd_pg_is_proved(const struct cnd_session *s);
#define CND_PG_PROOF_SQL_MAX 8192u
/* Write the question that renews the proof. It gives a boolean and a text, for cnd_pg_proof_take(). Returns 0 if the last
 * answer tells enough. */
int cnd_pg_proof_ask(struct cnd_session *s, char sql[CND_PG_PROOF_SQL_MAX]);
void cnd_pg_proof_take(struct cnd_session *s, int is_harmful, const char *look);
/* A statement of this process may make or remove code: end the proofs of all its sessions. */
void cnd_pg_proof_end(void);

/* settle.c */
int cnd_pg_settle(struct cnd_session *s, struct cnd_sink *sink);

/* listen.c */
int cnd_pg_channels(
	struct cnd_session *s, struct cnc_buf *ret_names, struct cnd_sink *sink);
int cnd_pg_listen(
	struct cnd_session *s, const struct cnd_channels *what, struct cnd_sink *sink);

/* role.c */
int cnd_pg_read_only(
	struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag);
int cnd_pg_role(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_server_role *ret_role, struct cnc_diag *ret_diag);
int cnd_pg_position(struct cnd_session *s, struct cnd_sink *sink,
	char ret_text[CND_POSITION_MAX + 1], struct cnc_diag *ret_diag);

/* stream.c */
extern const struct cnd_pg_transport cnd_pg_plain;
void cnd_pg_stream_finish(struct cnd_session *s);
/* Begin a request, whose errors go to `diag`. CENOTE_OK, or the session is lost. */
int cnd_pg_enter(struct cnd_session *s, struct cnc_diag *diag);
/* Send what is in s->out. */
int cnd_pg_send(struct cnd_session *s);
/* Wait for the next message, which is valid until the next call. CENOTE_OK, or the session is lost. */
int cnd_pg_next(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* As cnd_pg_next(). If the body of a long row has not come yet, it is NULL: read it with the next two functions. */
int cnd_pg_next_or_row(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* Take the next n bytes of a long row, valid until the next call. CENOTE_ERR_PROTOCOL: the row has fewer bytes. */
int cnd_pg_row_take(struct cnd_session *s, size_t n, const uint8_t **ret_bytes);
/* Copy the next n bytes of a long row to `to`; NULL: drop them. */
int cnd_pg_row_read(struct cnd_session *s, uint8_t *to, size_t n);
/* As cnd_pg_next() without waiting. CENOTE_AGAIN: no message has come. */
int cnd_pg_poll(struct cnd_session *s, struct cnd_pg_msg *ret_msg);
/* Send what is in s->out, and drop all bytes that come, up to the end of `token`. CENOTE_OK; CENOTE_AGAIN: it has not
 * come within timeout_ms; or the session is lost. */
int cnd_pg_skip_to(struct cnd_session *s, const uint8_t *token, size_t n, int timeout_ms);
/* Nobody wants the answer any more: ask the server to stop, and give it a limited time for that. */
void cnd_pg_stop(struct cnd_session *s, int why);
/* Whether the receive buffer holds a whole message. */
int cnd_pg_has_message(const struct cnd_pg_stream *st);
/* The server broke the protocol, or the connection failed: the session is lost. Returns CENOTE_ERR_CONN. */
int cnd_pg_broken(struct cnd_session *s, const char *what);
int cnd_pg_lost(struct cnd_session *s, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* stream_tls.c */
extern const struct cnd_pg_transport cnd_pg_tls;

/* cancel.c */
/* cnd_session.cancel of a session of libpq's. */
int cnd_pg_cancel(struct cnd_session *s, int timeout_ms);

/* run.c */
/* Begin to answer a request. */
struct cnd_pg_run *cnd_pg_run_begin(struct cnd_session *s, struct cnd_sink *sink);
/* Read up to the end of the answer. Returns the request's status. */
int cnd_pg_run(struct cnd_session *s);
/* Send s->out, then call cnd_pg_run(). */
int cnd_pg_send_run(struct cnd_session *s);
/* Send a Sync, unless it was sent already, and read up to ReadyForQuery. */
int cnd_pg_sync_now(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_sync(struct cnd_session *s, struct cnd_sink *sink);
/* Prepare for a new request: store open results, and send the Sync that the last request still needs. */
int cnd_pg_ready(struct cnd_session *s, struct cnd_sink *sink);
/* Add the Sync or Flush that follows a request. */
int cnd_pg_add_end(struct cnd_session *s, int is_sync);
/* Handle one message of an answer. */
int cnd_pg_handle(struct cnd_session *s, const struct cnd_pg_msg *m);
/* Note a ReadyForQuery. CENOTE_OK, or the session is lost. */
int cnd_pg_note_ready(struct cnd_session *s, const struct cnd_pg_msg *m);
/* An ErrorResponse that ends the session. Returns CENOTE_ERR_CONN. */
int cnd_pg_fatal(struct cnd_session *s, const struct cnd_pg_msg *m);
/* Give the columns of a result to the sink. */
int cnd_pg_give_columns(struct cnd_session *s, int known);
/* Write a row into the batch. */
int cnd_pg_put_row(struct cnd_session *s, const struct cnd_pg_desc *d,
	const struct cnd_pg_msg *m, struct cnc_batch *batch);

/* desc.c */
void cnd_pg_desc_finish(struct cnd_session *s, struct cnd_pg_desc *d);
/* Read a RowDescription. CENOTE_OK, CENOTE_ERR_PROTOCOL, CENOTE_ERR_NOMEM. */
int cnd_pg_desc_read(
	struct cnd_session *s, struct cnd_pg_desc *d, const struct cnd_pg_msg *m);
/* Choose for each column how to convert its values from the wire format to `format`, or to the column's format in
 * `formats`. */
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
/* Give a FunctionCallResponse to the sink, as a row of one column. */
int cnd_pg_function_result(struct cnd_session *s, const struct cnd_pg_msg *m);
/* Refuse a text with a zero byte, which the server cannot read. */
int cnd_pg_check_text(struct cnd_session *s, const char *text, size_t len);
/* A statement that only the server knows. It may do anything. */
extern const struct cnd_pg_scan cnd_pg_unknown;
/* A statement is about to run: note what it may leave in the session. */
void cnd_pg_note(struct cnd_session *s, const struct cnd_pg_scan *scan, int is_simple);
/* A statement was prepared under a name of the client, and may run by that name later. The name may be empty. */
void cnd_pg_note_prepared(
	struct cnd_session *s, const struct cnd_pg_scan *scan, struct cnp_str name);
/* Add a Parse of the unnamed statement. */
int cnd_pg_add_parse(
	struct cnd_session *s, const char *sql, size_t len, const struct cnd_exec *exec);
/* Add a Bind of the statement `name` to the unnamed portal. `st`: the statement, if it has a number; else NULL. */
int cnd_pg_add_bind(struct cnd_session *s, const char *name, size_t name_len,
	const struct cnd_pg_stmt *st, const struct cnd_exec *exec);
/* Choose the wire formats of a statement whose columns are known, for values in `format`. */
void cnd_pg_form_known(struct cnd_session *s, struct cnd_pg_desc *d, uint8_t format);
/* Whether the statement has to be described before it can be bound. */
int cnd_pg_needs_columns_first(const struct cnd_session *s, const struct cnd_exec *exec);
/* Whether the client gives parameter types as the server's OIDs. */
int cnd_pg_is_native(const struct cnd_exec *exec);

/* ahead.c */
int cnd_pg_ahead(struct cnd_session *s, const struct cnd_ahead *what);
int cnd_pg_answer(struct cnd_session *s, struct cnd_sink *sink);
/* Forget the list of requests that were sent together. */
void cnd_pg_ahead_forget(struct cnd_session *s);
/* Read and drop the answers to the requests that were sent together. */
void cnd_pg_ahead_drain(struct cnd_session *s);

/* portal.c */
int cnd_pg_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_pg_close_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_pg_forget_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_pg_portal_name(uint32_t number, char name[CND_PG_NAME_MAX]);
/* The running request stops before its end: keep what a later fetch needs. */
int cnd_pg_portal_keep(struct cnd_session *s, int is_stream);
/* Read the rest of each portal that would block another request, and store it in memory or a file. */
int cnd_pg_portals_store(struct cnd_session *s, struct cnd_sink *sink);
/* Add to a new request the Close of a portal that was read to its end. */
void cnd_pg_close_spent(struct cnd_session *s);
/* Drop the messages in s->out. */
void cnd_pg_out_clear(struct cnd_session *s);
/* The transaction has ended, and with it the portals that the server kept: forget them. */
void cnd_pg_portals_end(struct cnd_session *s);
/* The next message of a stored portal. CENOTE_OK or negative. */
int cnd_pg_store_next(
	struct cnd_session *s, struct cnd_pg_portal *p, struct cnd_pg_msg *ret_msg);
/* Whether an open portal forbids a Sync. */
int cnd_pg_portal_is_loose(const struct cnd_session *s);

/* stmt.c */
/* Give the last ParameterDescription to the sink. */
int cnd_pg_give_params(struct cnd_session *s);
/* Add a Close of the statement `old` (NULL: none), then Parse and Describe. */
int cnd_pg_add_prepare(struct cnd_session *s, const struct cnd_prepare *p,
	const char *name, size_t name_len, const char *old);
int cnd_pg_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_pg_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
int cnd_pg_close(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
void cnd_pg_forget(struct cnd_session *s, struct cnd_statement *statement);
int cnd_pg_is_due(const struct cnd_session *s, struct cnp_str name);
/* Add the statement that is due, if it has this name. */
int cnd_pg_add_due(struct cnd_session *s, struct cnp_str name);
void cnd_pg_forget_due(struct cnd_session *s);

/* loan.c */
int cnd_pg_lend(struct cnd_session *s, struct cnc_buf *facts, int *ret_fd,
	struct cnc_diag *ret_diag);
int cnd_pg_take_back(
	struct cnd_session *s, uint32_t left, bool is_busy, struct cnc_diag *ret_diag);
void cnd_pg_cancel_now(struct cnd_session *s);
/* End a session that was lent: shut its socket down, also for the client, which may have kept a copy. */
void cnd_pg_end_for_all(struct cnd_session *s);

#define CND_PG_FACTS_VERSION         1u
/* What a client left, besides the bits of cnd_pg_client.lasting: enum cnd_pg_scan_flag has no such bits. */
#define CND_PG_LEFT_LOGIN_CHANGED    (1u << 16) /* cnd_pg_login.changes */
#define CND_PG_LEFT_LOGIN_MAY_CHANGE (1u << 17)

/* borrowed.c */
int cnd_pg_borrow(const struct cnd_host *host, int fd, const uint8_t *facts, size_t n,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
uint32_t cnd_pg_left(const struct cnd_session *s);

/* copy.c */
int cnd_pg_copy_in(struct cnd_session *s, const struct cnd_pg_msg *m);
int cnd_pg_copy_out(struct cnd_session *s, const struct cnd_pg_msg *m);

/* tx.c */
int cnd_pg_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_pg_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_pg_undo(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_pg_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_pg_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);

/* The functions of the backend that a worker and a borrower have, for their tables. */
extern const struct cnd_statement_ops cnd_pg_statements;

/* clang-format off */
#define CND_PG_REQUESTS \
	.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_SAVEPOINTS | \
	CNP_FEATURE_SETTINGS | CNP_FEATURE_CANCEL | CNP_FEATURE_CATALOG | \
	CNP_FEATURE_SEVERAL_RESULTS | CNP_FEATURE_COPY | CNP_FEATURE_NOTIFY | \
	CNP_FEATURE_BINARY | CNP_FEATURE_PORTALS | CNP_FEATURE_SUSPEND | \
	CNP_FEATURE_FUNCTIONS | CNP_FEATURE_NAMED_STATEMENTS | \
	CNP_FEATURE_OPTIONS, \
	.reset_verb = "ROLLBACK, DISCARD ALL", \
	.logout = cnd_pg_logout, \
	.info = cnd_pg_info, \
	.ping = cnd_pg_ping, \
	.attach = cnd_pg_attach, \
	.reset = cnd_pg_reset, \
	.state = cnd_pg_state, \
	.query = cnd_pg_query, \
	.statements = &cnd_pg_statements, \
	.begin = cnd_pg_begin, \
	.commit = cnd_pg_commit, \
	.rollback = cnd_pg_rollback, \
	.undo = cnd_pg_undo, \
	.savepoint = cnd_pg_savepoint, \
	.autocommit = cnd_pg_autocommit, \
	.catalog = cnd_pg_catalog, \
	.fd = cnd_pg_fd, \
	.idle = cnd_pg_idle, \
	.sync = cnd_pg_sync, \
	.settle = cnd_pg_settle, \
	.role = cnd_pg_role, \
	.read_only = cnd_pg_read_only, \
	.position = cnd_pg_position, \
	.covers = cnd_lsn_covers, \
	.can_refuse_pins = 1, \
	.sql_rules = cnd_pg_sql_rules, \
	.settled_pins = CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS | CENOTE_PIN_TEMP | \
	CENOTE_PIN_LOCK | CENOTE_PIN_LISTEN | CENOTE_PIN_CURSOR | CENOTE_PIN_PREPARED, \
	.function = cnd_pg_function, \
	.ahead = cnd_pg_ahead, \
	.answer = cnd_pg_answer, \
	.set_option = cnd_pg_set_option, \
	.options_are_set = cnd_pg_options_are_set, \
	.channels = cnd_pg_channels, \
	.listen = cnd_pg_listen
/* clang-format on */

#endif
