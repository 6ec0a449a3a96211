/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TDS_H
#define CND_TDS_H

#include <ctpublic.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/sqlstate.h"

#include "../backend.h"
#include "../common/answer.h"
#include "../common/clock.h"
#include "../common/error.h"

/*
 * SQL Server, Sybase and other servers that speak TDS, through FreeTDS's ct-library: one session is
 * one connection. What the files are:
 *
 *     module.c      the table of functions
 *     options.c     the keys of a server line
 *     conf.c        the freetds.conf that is made of these keys
 *     session.c     login, attach, state: the life of a session
 *     explain.c     why a login failed, in plain words
 *     messages.c    what the server and the library say: errors and notices
 *     wait.c        waiting that can be interrupted; cancelling
 *     run.c         a batch of SQL, and its results
 *     rows.c        columns and rows
 *     values.c      values, as text
 *     scan.c        what the text of a statement may leave in its session
 *     portal.c      results that are fetched in batches
 *     params.c      statements with parameters, as SQL
 *     stmt.c        queries and prepared statements
 *     copy.c        rows that a client sends, into a table
 *     tx.c          transactions, savepoints, autocommit
 *     reset.c       makes a session like one of a new login
 *     catalog.c     catalog queries
 */

/* ---- what a statement leaves (scan.c) ---- */

enum cnd_tds_note {
	CND_TDS_NOTE_TX = 1, /* may begin or end a transaction */
	CND_TDS_NOTE_EMPTY = 2, /* blanks and comments */
	CND_TDS_NOTE_ROWS = 4, /* SELECT and the like: returns rows and changes nothing */
	CND_TDS_NOTE_OUTPUT = 8 /* a call with a return status or output parameters */
};

struct cnd_tds_scan {
	uint32_t pins; /* bits of enum cenote_pin */
	uint32_t notes; /* bits of enum cnd_tds_note */
	uint32_t n_params; /* placeholders */
};

/* Conservative: assumes the worst about text that it does not know. */
void cnd_tds_scan(const char *sql, size_t len, struct cnd_tds_scan *ret_scan);

/* ---- options ---- */

/* The options of a server line. Strings are borrowed from the line, except in a session. */
struct cnd_tds_options {
	const char *host;
	const char *port;
	const char *instance;
	const char *conf;
	const char *section;
	const char *user;
	const char *password;
	const char *passfile;
	const char *database;
	const char *app_name;
	const char *client_host;
	const char *tds_version;
	const char *encryption;
	const char *ca_file;
	const char *crl_file;
	const char *check_name;
	const char *tls_v1;
	const char *tls_ciphers;
	const char *client_charset;
	const char *server_charset;
	const char *language;
	const char *text_size;
	const char *packet_size;
	const char *ntlmv2;
	const char *utf16;
	const char *delegation;
	const char *mutual;
	const char *realm;
	const char *spn;
	const char *readonly_intent;
	unsigned connect_timeout; /* seconds */
	unsigned timeout; /* seconds to wait for an answer; 0: no limit */
};

int cnd_tds_options_read(const struct cnd_server_spec *spec,
	struct cnd_tds_options *ret_opt, struct cnc_diag *ret_diag);
int cnd_tds_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);
/* The host that the line names; "" if it names none. */
const char *cnd_tds_host(const struct cnd_tds_options *o);
/* The port; 0 if only the library knows it (an instance, a section). */
unsigned cnd_tds_port(const struct cnd_tds_options *o);
/* Whether a connection without TLS is refused, and whether the certificate must have the host's
 * name. */
int cnd_tds_requires_tls(const struct cnd_tds_options *o);
int cnd_tds_checks_name(const struct cnd_tds_options *o);

/* conf.c */
#define CND_TDS_SECTION "cenote"
/*
 * Make a freetds.conf of the options, with the section CND_TDS_SECTION, in memory that only this
 * process has. Returns its descriptor, or -1.
 */
int cnd_tds_conf_make(const struct cnd_tds_options *o);

/* ---- the session ---- */

struct cnd_tds_portal; /* portal.c */
/* Begin a request. CENOTE_OK, or CENOTE_ERR_CONN. */
int cnd_tds_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* The same, but first read and keep the result that is open on the connection, unless it belongs to
 * `portal`. */
int cnd_tds_enter_beside(struct cnd_session *s, struct cnc_diag *diag,
	struct cnd_sink *sink, const struct cnd_tds_portal *portal);

#define CND_TDS_PARAMETERS 8u
/* How many savepoints a client may have. They get names of our own: the client's may be too long
 * for the server, and the server cannot release them. */
#define CND_TDS_SAVEPOINTS 64u

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	CS_CONTEXT *ctx;
	CS_CONNECTION *con;
	CS_COMMAND *cmd; /* the command of the running request */
	int fd; /* the connection's socket; -1 if it was not found */
	char *server; /* the server's name in messages: "db1:1433" */

	/* The running request. */
	struct cnc_diag *diag;
	struct cnd_sink *sink; /* may be NULL */
	struct cnc_arena arena; /* freed when the request ends */
	int stop; /* the host's reason to stop; 0: go on */
	int said; /* the sink's answer to a notice; 0: go on */
	uint8_t has_error; /* the server sent an error, which is in `diag` */
	uint8_t is_stopping; /* the server was told to stop */
	uint8_t is_silent; /* the server gave no answer within `timeout` */
	uint8_t is_sending; /* a statement is on its way to the server */
	int64_t obey_until_ms;
	/* Until then (monotonic clock) the host is not asked whether to stop; 0: it is asked. */
	int64_t deaf_until_ms;
	int64_t silent_since_ms;

	/* Set at login. */
	struct cnc_arena keep; /* freed at logout */
	struct cnd_tds_options opt; /* its strings are in `keep` */
	struct cnc_arena facts; /* filled by cnd_tds_learn_facts() */
	char *version; /* in `facts` */
	uint8_t is_logging_in;
	uint8_t is_lost;
	uint8_t is_sybase;
	uint8_t is_babelfish;
	struct cnd_option parameters[CND_TDS_PARAMETERS];
	size_t n_parameters;
	char *database; /* the login's database; in `keep` */

	/* The client's state. */
	uint8_t tx; /* enum cenote_tx */
	uint8_t is_chained; /* autocommit is off */
	uint8_t has_isolation; /* a level was set that must end with the transaction */
	uint32_t pins;
	uint8_t has_run; /* something was run since the reset */
	uint8_t has_set; /* a call changed a setting: the server can tell a setting that was set back from an untouched one */
	struct cnd_tds_portal *live; /* the portal on the connection, or NULL */
	char *savepoints[CND_TDS_SAVEPOINTS];
	size_t n_savepoints;
};

/* session.c */
int cnd_tds_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_tds_logout(struct cnd_session *s);
/* Ask the server for its version and other facts: the last step of a login. */
int cnd_tds_learn_facts(struct cnd_session *s);
void cnd_tds_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_tds_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_tds_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
void cnd_tds_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_tds_fd(const struct cnd_session *s);
int cnd_tds_idle(struct cnd_session *s, struct cnd_sink *sink);

/* explain.c */
/* The library could not log in and the server did not say why: find the reason, and write it to s->diag. */
void cnd_tds_explain(struct cnd_session *s);

/* messages.c */
void cnd_tds_listen(struct cnd_session *s);
/* Return the status of a request that failed. */
int cnd_tds_failed(struct cnd_session *s);

/* wait.c */
/* Find out which descriptor the library opened: call these before and after it connects. */
#define CND_TDS_FDS_MAX 1024u
struct cnd_tds_fds {
	uint8_t is_open[CND_TDS_FDS_MAX];
};
void cnd_tds_note_fds(struct cnd_tds_fds *fds);
int cnd_tds_find_fd(const struct cnd_tds_fds *before);
/* Wait for the first bytes of an answer. CENOTE_OK; CENOTE_ERR_SERVER and CENOTE_ERR_CONN: stop. */
int cnd_tds_await(struct cnd_session *s);
/* Ask the host whether to stop, while rows and results come. If the host says stop, tell the server
 * to stop. */
int cnd_tds_interrupted(struct cnd_session *s);
/* The library has waited for a second: CS_SUCCEED to go on, CS_FAIL to give the connection up. */
CS_RETCODE cnd_tds_on_silence(struct cnd_session *s);
/* The server has sent a message. Any number of them may come before the library returns. */
void cnd_tds_on_message(struct cnd_session *s);

/* values.c */
/* The type to which a column is bound, and how its values become text. */
struct cnd_tds_kind {
	CS_INT datatype; /* the library's type number */
	uint8_t type; /* enum cenote_type */
	const char *name;
	CS_INT bind; /* the type to which it is bound */
	CS_INT size; /* bytes of that type; 0: the column's own size */
	int (*put)(struct cnc_batch *w, const struct cnp_column *c, const void *value,
		size_t n);
};

const struct cnd_tds_kind *cnd_tds_kind(CS_INT datatype);

/* rows.c */
struct cnd_tds_cell;
struct cnd_tds_rows {
	struct cnp_column *columns;
	struct cnd_tds_cell *cells;
	uint32_t n;
};

/* Bind the columns of the current result of s->cmd. They are allocated in the arena. */
int cnd_tds_rows_bind(struct cnd_session *s, const struct cnd_exec *exec,
	struct cnd_tds_rows *ret_rows);
/* The same, with the given columns. */
int cnd_tds_rows_bind_as(struct cnd_session *s, struct cnp_column *columns, uint32_t n,
	struct cnd_tds_rows *ret_rows);
/* Write the fetched row. CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM, CENOTE_ERR_SERVER. */
int cnd_tds_put_row(
	struct cnd_session *s, struct cnd_tds_rows *rows, struct cnc_batch *w);

/* run.c */
/* A running batch, and how to answer it. */
struct cnd_tds_run {
	struct cnd_session *s;
	const struct cnd_exec *exec;
	struct cnd_sink *sink;
	/* For catalog lists: the columns of the only result. */
	struct cnp_column *columns;
	uint32_t n_columns;
	uint8_t columns_known; /* the client knows the columns of the first result */
	uint8_t has_output; /* the last result is output values */
	uint8_t is_describing; /* send columns, but no rows */
	uint8_t may_pause; /* the batch may stay open when batch_rows is reached */
	uint8_t only_reads;
	const char *tag;
	/* Progress, private to run.c. */
	/* Set if the batch was paused: the portal that now owns it. */
	struct cnd_tds_portal *portal;
	struct cnd_tds_rows rows;
	/* Of the previous result, held back until it is known whether another follows. */
	struct cnp_done done;
	uint8_t has_done;
	uint8_t is_rows; /* the current result has rows */
	uint8_t has_sent; /* columns or done() went to the client */
	uint8_t is_behind_call; /* the next result may be the row count of a whole procedure */
};
/* Run a batch, and answer with all its results and done(). CENOTE_AGAIN: it was paused. */
int cnd_tds_run(struct cnd_tds_run *q, const char *sql, size_t len);
/* Go on with a paused batch. */
int cnd_tds_go_on(struct cnd_tds_run *q);
/* End a paused command: cancel it, or read it to its end. */
void cnd_tds_abandon(struct cnd_session *s, int stop);
/* Run our own SQL, and discard the rows. */
int cnd_tds_do(struct cnd_session *s, const char *sql);
/*
 * Run our own SQL beside a request; the client does not get the server's messages about it. `is_deaf`: a stop of
 * the request does not stop this SQL.
 */
struct cnd_tds_aside {
	struct cnc_diag own; /* the messages about this SQL */
	struct cnc_diag *diag;
	struct cnd_sink *sink;
};
void cnd_tds_aside_begin(struct cnd_session *s, struct cnd_tds_aside *a, int is_deaf);
void cnd_tds_aside_end(struct cnd_session *s, struct cnd_tds_aside *a);
/* Run our own SQL, which returns one row of n values. They are strings in the arena, cut to CND_TDS_ASK_MAX bytes
 * with the zero byte. NULL stands for NULL. */
#define CND_TDS_ASK_MAX 8000
int cnd_tds_ask(struct cnd_session *s, const char *sql, char **ret_values, uint32_t n);

/* params.c */
/* Append the SQL that runs a statement with these values. */
int cnd_tds_bound(struct cnd_session *s, struct cnc_buf *b, const char *sql, size_t len,
	const struct cnd_tds_scan *scan, const struct cnc_value *params, uint32_t n);
/* Append the SQL with NULL for each parameter. */
int cnd_tds_unbound(struct cnc_buf *b, const char *sql, size_t len);
/* Append a text as a quoted literal. */
int cnd_tds_quote(struct cnc_buf *b, const char *text, size_t len);

/* stmt.c */
#define CND_TDS_SQL_MAX ((size_t)1 << 30)
int cnd_tds_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_tds_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_tds_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
int cnd_tds_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink);
void cnd_tds_forget(struct cnd_session *s, struct cnd_statement *statement);

/* portal.c */
/* A batch is full: send done(), and keep the rest open. CENOTE_AGAIN, or a failure. */
int cnd_tds_pause(struct cnd_tds_run *q);
int cnd_tds_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_tds_close_portal(struct cnd_session *s, struct cnd_portal *portal);

/* copy.c */
/* Whether the text is COPY … FROM STDIN, which cnd_tds_copy() runs. */
int cnd_tds_is_copy(const char *sql, size_t len);
int cnd_tds_copy(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);

/* tx.c */
/* Ask for the state of the transaction after a statement that ended with `r`. Returns `r`, or the
 * failure to find out the state. */
int cnd_tds_look_at_tx(struct cnd_session *s, int r);
int cnd_tds_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_tds_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_tds_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_tds_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_tds_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);
void cnd_tds_forget_savepoints(struct cnd_session *s);

/* reset.c */
int cnd_tds_reset(struct cnd_session *s, struct cnc_diag *ret_diag);

/* catalog.c */
int cnd_tds_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

#endif
