/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_H
#define CND_MY_H

#include "compat.h"

#include "core/arena.h"
#include "core/mem.h"
#include "core/sqlstate.h"

#include "../backend.h"
#include "../common/answer.h"
#include "../common/clock.h"
#include "../common/error.h"
#include "../common/watch.h"

/*
 * The MySQL and MariaDB backend: one session is one connection of the client library. What the
 * files are:
 *
 *     module.c      the table of functions
 *     compat.c      what differs between MariaDB's and Oracle's library
 *     options.c     the keys of a server line, and the password file
 *     connect.c     connections of the library
 *     session.c     login, attach, reset, state: the life of a session
 *     reset.c       a session as of a new login
 *     wait.c        waiting that can be interrupted; cancelling
 *     watch.c       the same where the library waits unasked
 *     carry.c       what goes along with a client to another session
 *     query.c       queries in the text protocol, and results of any number
 *     stmt.c        prepared statements, portals
 *     infile.c      LOAD DATA LOCAL INFILE
 *     progress.c    how far the server is with a long statement
 *     tx.c          transactions, savepoints, autocommit
 *     types.c       column descriptions and logical types
 *     params.c      binding parameters
 *     rows.c        writing rows
 *     packet.c      what the packets of rows say
 *     values.c      values of both protocols
 *     catalog.c     catalog queries
 *     names.c       which names before a parenthesis leave nothing
 *     scan.c        what the text of a statement may leave in its session
 *     errors.c      the server's errors
 */

/* ---- what a statement leaves, as far as its text tells (scan.c) ---- */

enum cnd_my_note {
	CND_MY_NOTE_DATABASE = 1, /* USE: the current database */
	CND_MY_NOTE_CHARSET = 2, /* SET NAMES and what else sets a character set */
	CND_MY_NOTE_OPAQUE =
		4, /* may have done anything: CALL, EXECUTE, stored functions */
	CND_MY_NOTE_LOGIN = 8, /* changes what a new login begins with */
	CND_MY_NOTE_SEVERAL = 16, /* more than one statement */
	CND_MY_NOTE_EMPTY = 32, /* no statement, but blanks and comments */
	CND_MY_NOTE_ASKS =
		64, /* its first statement asks what the one before it has left */
	CND_MY_NOTE_ID = 128, /* may make an id, which is told unless it fails */
	CND_MY_NOTE_SILENT_ID =
		256, /* which is not told: LOAD DATA, CREATE … SELECT, RETURNING */
	CND_MY_NOTE_HIDES =
		512, /* uses tables, whose triggers, views and defaults may do what no text shows */
	CND_MY_NOTE_RECALLS = 1024, /* reads user variables, which those may have set */
	CND_MY_NOTE_RECALLS_NUMBER =
		2048 /* reads the last value of a sequence, likewise */
};

struct cnd_my_scan {
	uint32_t pins; /* bits of enum cenote_pin */
	uint32_t notes; /* bits of enum cnd_my_note */
};

enum cnd_my_lexis {
	CND_MY_LEXIS_ANSI_QUOTES = 1, /* "a" is a name */
	CND_MY_LEXIS_NO_BACKSLASH = 2, /* \ in a text is nothing special */
	CND_MY_LEXIS_NOT_UTF8 = 4 /* the client's character set is another one */
};

#define CND_MY_NATIVES_MAX 200u

/* How the session reads SQL, as its server has told. */
struct cnd_my_reading {
	uint32_t lexis; /* bits of enum cnd_my_lexis */
	uint8_t natives[CND_MY_NATIVES_MAX /
			8]; /* names.c: the server has the function */
};

/* Conservative: what it cannot read, it takes for the worst. */
void cnd_my_scan(const char *sql, size_t len, const struct cnd_my_reading *reading,
	struct cnd_my_scan *ret_scan);
/* Whether the text is SET NAMES of that character set, perhaps with a collation, and nothing more. */
int cnd_my_sets_names(const char *sql, size_t len, uint32_t lexis, const char *charset);
/* The server says that it has a function of this name. */
void cnd_my_confirm_native(struct cnd_my_reading *reading, const char *name, size_t n);
/* Whether a name (without quotes) before a parenthesis is no stored function's, and what it names leaves nothing in the
 * session. `has_space`: something stands between the name and the parenthesis. */
int cnd_my_is_harmless(
	const struct cnd_my_reading *reading, const char *name, size_t n, int has_space);
/* Whether the first word is one of those that give rows of tables, and nothing else. */
int cnd_my_is_select(const char *sql, size_t len, uint32_t lexis);

/* In which form the server sends rows. */
enum cnd_my_protocol {
	CND_MY_TEXT,
	CND_MY_PLAIN, /* text, of which all values go out as they come */
	CND_MY_BINARY
};

/* ---- options ---- */

/* A server line, read. Text is borrowed from the line, except in a session. */
struct cnd_my_options {
	const char *host;
	const char *socket;
	const char *dbname;
	const char *user;
	const char *password;
	const char *passfile;
	const char *charset;
	const char *init_command;
	const char *default_file;
	const char *default_group;
	const char *plugin_dir;
	const char *bind_address;
	const char *tls_ca;
	const char *tls_capath;
	const char *tls_cert;
	const char *tls_key;
	const char *tls_passphrase;
	const char *tls_cipher;
	const char *tls_crl;
	const char *tls_crlpath;
	const char *tls_version;
	const char *tls_fp;
	const char *tls_fplist;
	unsigned port;
	unsigned connect_timeout; /* seconds; 0: the library's */
	unsigned read_timeout;
	unsigned write_timeout;
	int tls_mode; /* enum cnd_my_tls */
	uint8_t tls_verify;
	uint8_t is_compressed;
	uint8_t is_infile_allowed;
	uint8_t has_found_rows;
	uint8_t has_pure_queries; /* the administrator says that no trigger or view leaves anything */
	uint8_t has_cleartext;
	uint8_t is_clients; /* user and password are a client's, and prove who it is */
	/* the pool's, where a client's settings make them others */
	const char *own_dbname;
	uint8_t own_found_rows;
};

enum cnd_my_tls {
	CND_MY_TLS_DISABLED,
	CND_MY_TLS_PREFERRED,
	CND_MY_TLS_REQUIRED,
	CND_MY_TLS_UNSET
};

/* ---- the session ---- */

#define CND_MY_CARRY_LEN 9u

#define CND_MY_PARAMETERS 10u
/* Places in it. */
#define CND_MY_CHARSET    3u
#define CND_MY_COLLATION  4u

/* Of LOAD DATA LOCAL INFILE. */
struct cnd_my_infile {
	struct cnp_str piece; /* what the client sent and the server has not */
	int status; /* of the sink; CENOTE_DONE: the client's last piece came */
	int has_ended;
};

/*
 * The parts of a session. Each belongs to one file, which says what its values mean. Other files may read them.
 */

/* wait.c and watch.c: how the session waits, and stops what runs. */
struct cnd_my_wait {
	int64_t obey_until_ms; /* how long the server has to obey */
	int64_t tls_until_ms;
	uint8_t is_hooked; /* the library asks before it blocks */
	uint8_t is_killed; /* a KILL QUERY was sent, which may yet arrive */
	struct cnd_watch watch; /* started when it is needed */
	int done_fd; /* readable when the call that is watched is over */
};

/* reset.c: what the server's own reset leaves. */
struct cnd_my_reset {
	unsigned modes; /* the status flags about texts, as of a new login */
	uint8_t has_init; /* the server runs something of its own for each login */
	uint8_t loses_charset; /* in the server's own reset */
	uint8_t loses_database; /* likewise the database's collation: it has to be selected again */
	uint8_t is_put_off; /* until the next client asks for something */
	uint8_t was_profiled; /* the server keeps texts of statements */
	const char *database_collation;
	int64_t checked_ms; /* when the database was last seen to be the one of the login */
	/* SQL that clears what the server's reset leaves, and asks for the rest */
	const char *forget;
};

/* carry.c: what the server can be asked about code that no text shows. */
struct cnd_my_hidden {
	uint8_t is_told; /* the server can be asked what triggers and views did */
	uint8_t has_lock_texts; /* there are triggers, views or functions that lock */
	uint8_t knows_lock_texts; /* has_lock_texts is known */
};

/* carry.c and query.c: what the client did, and what that may have left. */
struct cnd_my_trace {
	uint32_t pins;
	uint32_t notes; /* bits of enum cnd_my_note, of all it did */
	uint64_t last_insert_id; /* as far as it is known */
	unsigned n_sets; /* SET statements of our own since the reset */
	uint8_t changes_login; /* the running request changes what others begin with */
	uint8_t may_fail_with_id; /* of the running statement */
	uint8_t is_database_changed;
	uint8_t is_user_changed;
	uint8_t has_failed_user; /* the server counts such failures, and refuses a change of user after some */
	uint8_t has_run; /* since attach() */
	uint8_t has_touched; /* tables, which may have functions behind them */
	uint8_t has_done_more; /* than queries in text */
	uint8_t has_new_id; /* last_insert_id may be another now */
	/* SET NAMES of the login's character set came, and may have changed the collation */
	uint8_t has_names;
	uint8_t is_moved; /* what the statement before left is on another session */
	uint8_t may_hide; /* a statement used tables since the server was asked */
	uint8_t has_hidden; /* a statement had CND_MY_NOTE_HIDES, here or on a former session */
	uint8_t had_hidden; /* one on a former session had */
};

/* session.c: what the client wants. */
struct cnd_my_wants {
	uint8_t single; /* multi_statements is off */
	uint8_t is_single; /* and the server knows */
	uint8_t progress;
	uint8_t more; /* to hear before a result that another one follows it */
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	MYSQL *my;
	char *server; /* how messages call it: "db1:3306" */

	/* the running request */
	struct cnc_diag *diag;
	struct cnc_arena arena; /* dropped at its end */
	int stop; /* what the host said; 0: go on */
	struct cnd_sink *sink; /* NULL: none */
	struct cnd_my_infile infile;

	/* of the login */
	struct cnc_arena keep; /* until the logout */
	struct cnd_my_options opt; /* text in `keep` */
	unsigned long thread_id;
	struct cnd_my_reading reading;
	uint8_t is_logging_in;
	uint8_t is_tls;
	uint8_t is_lost;
	uint8_t *carry_out; /* CND_MY_CARRY_LEN bytes, in `keep` */
	struct cnd_option parameters[CND_MY_PARAMETERS];
	size_t n_parameters;

	struct cnd_my_wait wait;
	struct cnd_my_reset reset;
	struct cnd_my_hidden hidden;
	struct cnd_my_trace trace;
	struct cnd_my_wants wants;
};

/* types.c */
/* Logical type: enum cenote_type. */
uint8_t cnd_my_type(const MYSQL_FIELD *field);
/* Text is borrowed from the field. `format`: of the values. */
void cnd_my_column(
	const MYSQL_FIELD *field, uint8_t format, struct cnp_column *ret_column);

/* rows.c; columns[i].format says in which form a value goes out. All CENOTE_OK, CENOTE_ERR_LIMIT,
 * CENOTE_ERR_NOMEM, or CENOTE_ERR_SERVER with s->diag filled; a row that failed is taken back. */
/* The next row, if the library has read all of it already, straight from there. CENOTE_ROW; CENOTE_DONE: it has not, or
 * what comes is no row, so ask the library. */
int cnd_my_put_ahead(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	enum cnd_my_protocol protocol, struct cnc_batch *w);
/* A row of the text protocol; not in binary format. */
int cnd_my_put_text(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	MYSQL_ROW row, const unsigned long *lengths, struct cnc_batch *w);
/* Room for the rows of a prepared statement; values.c's own. */
struct cnd_my_rows;
/* Bind it to a statement that was executed (mysql_stmt_bind_result). `columns` is borrowed until it
 * is freed. */
int cnd_my_rows_bind(struct cnd_session *s, MYSQL_STMT *stmt, const MYSQL_FIELD *fields,
	const struct cnp_column *columns, uint32_t n, struct cnd_my_rows **ret_rows);
/* The row that mysql_stmt_fetch() gave (0 or MYSQL_DATA_TRUNCATED). */
int cnd_my_put_row(struct cnd_session *s, struct cnd_my_rows *rows, MYSQL_STMT *stmt,
	struct cnc_batch *w);
/* As cnd_my_put_ahead(). */
int cnd_my_put_row_ahead(
	struct cnd_session *s, const struct cnd_my_rows *rows, struct cnc_batch *w);
void cnd_my_rows_free(
	struct cnd_session *s, struct cnd_my_rows *rows); /* NULL is allowed */
/* Give the values to the statement (mysql_stmt_bind_param): row after row, to be executed for each. Memory
 * that must live until it is executed comes from s->arena. */
int cnd_my_bind(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnc_value *params,
	uint32_t n_params, uint32_t n_rows);

/* catalog.c */
int cnd_my_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

/* errors.c */
/* The library said no, of a statement or (NULL) the connection: fill s->diag and say how bad it is. */
int cnd_my_failed(struct cnd_session *s, MYSQL_STMT *stmt);
/* Fill the diagnostics from an error of the server or the library: CENOTE_ERR_SERVER, CENOTE_ERR_CONN when the
 * session is lost, CENOTE_ERR_NOMEM. `server`: which one (field B). */
int cnd_my_diag(struct cnc_diag *diag, unsigned code, const char *sqlstate,
	const char *message, const char *server);

/* options.c */
int cnd_my_options_read(const struct cnd_server_spec *spec,
	struct cnd_my_options *ret_opt, struct cnc_diag *ret_diag);
/* What a client wants of its login becomes that of the options. 0, or CENOTE_ERR_ARG. */
int cnd_my_settings_read(
	struct cnd_my_options *o, const char *settings, struct cnc_diag *ret_diag);
int cnd_my_has_settings(const struct cnd_session *s, const char *settings);
int cnd_my_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

/* wait.c */
/* The session that the library's next calls are made for. */
void cnd_my_wait_for(struct cnd_session *s);
cnd_my_wait_fn cnd_my_on_wait;
cnd_my_progress_fn cnd_my_on_progress;
/* Tell the server to stop what it runs for this session. Its error comes in the normal way. */
void cnd_my_cancel(struct cnd_session *s);
/* What the host says, asked while rows come faster than one could wait for them. When it says
 * stop, the server was told. */
int cnd_my_interrupted(struct cnd_session *s);
/* Just behind a command, when nothing of the answer can be here: wait for it, where the library would do so without
 * asking, or would try to read first. CENOTE_OK, or CENOTE_ERR_CONN. */
int cnd_my_await_answer(struct cnd_session *s);
/* Wait for it in the place of the library, until done_fd is readable. */
void cnd_my_look(struct cnd_session *s, int done_fd);
/* Read the next result of a text, which has one. CENOTE_OK or a failure. */
int cnd_my_next_result(struct cnd_session *s);

/* watch.c */
/* Around a call of the library that may wait long: in between nothing of the session or of its host is to be touched.
 * CENOTE_OK, or CENOTE_ERR_NOMEM and nothing is to be ended. */
int cnd_my_watch_begin(struct cnd_session *s);
void cnd_my_watch_end(struct cnd_session *s);
void cnd_my_watch_free(struct cnd_session *s);

/* connect.c */
void cnd_my_set_options(
	MYSQL *my, const struct cnd_my_options *o, unsigned connect_timeout);
/* CENOTE_ERR_CONN: the library tells why. */
int cnd_my_connect_to(struct cnd_session *s, MYSQL *my);
/* One more connection as the pool's user, not of this session's state. `*ret_my` is to be closed also on
 * failure, when it tells why; NULL: no memory. */
int cnd_my_connect(struct cnd_session *s, unsigned seconds, MYSQL **ret_my);
int cnd_my_fd(const struct cnd_session *s);

/* session.c */
int cnd_my_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_my_logout(struct cnd_session *s);
void cnd_my_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_my_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
void cnd_my_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_my_idle(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink);
int cnd_my_select_database(
	struct cnd_session *s, const char *database, size_t len, struct cnd_sink *sink);
int cnd_my_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag);
/* Begin a request: where its answer and its errors go. */
int cnd_my_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* The same where nothing is asked of the server yet: a reset that was put off stays so. */
int cnd_my_enter_only(
	struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* Whether several statements in one text are allowed as the client wants it; tells the server. */
int cnd_my_set_several(struct cnd_session *s, const char *sql, size_t len);
/* An OK packet came: tell the client what it says of the session. */
int cnd_my_track(struct cnd_session *s);

/* The server line's own SQL, as behind each login. */
int cnd_my_run_init(struct cnd_session *s);

/* reset.c */
/* Behind the login: what the server's reset does, and what it leaves. */
int cnd_my_learn_reset(struct cnd_session *s);
int cnd_my_reset(struct cnd_session *s, struct cnc_diag *ret_diag);
/* If it was put off: before anything is asked that does not go through cnd_my_send(). */
int cnd_my_reset_now(struct cnd_session *s);
/* The status flags about texts, as the server told them last. */
unsigned cnd_my_modes(const struct cnd_session *s);
/* Send a text, and with it the reset that was put off; wait for the answer, of which nothing is read yet. */
int cnd_my_send(struct cnd_session *s, const char *sql, size_t len);

/* infile.c */
void cnd_my_infile_init(struct cnd_session *s);

/* progress.c */
struct cnd_my_progress {
	unsigned stage; /* from 1 */
	unsigned n_stages;
	unsigned thousandths; /* of a per cent of this stage */
	const char *doing; /* not ended by a zero byte */
	size_t n_doing;
};
/* A notice to the client of the running request, if it wants that. */
void cnd_my_tell_progress(struct cnd_session *s, const struct cnd_my_progress *p);
/* The same, before a result's columns: if the server has told with them that another result follows. */
void cnd_my_tell_more(struct cnd_session *s);

/* carry.c */
int cnd_my_settle(struct cnd_session *s, struct cnc_diag *ret_diag);

/* stmt.c */
int cnd_my_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_my_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
int cnd_my_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_my_close(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
void cnd_my_forget(struct cnd_session *s, struct cnd_statement *statement);
int cnd_my_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_my_close_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_my_forget_portal(struct cnd_session *s, struct cnd_portal *portal);
int cnd_my_long_data(struct cnd_session *s, struct cnd_statement *statement,
	uint16_t param, struct cnp_str data, struct cnc_diag *ret_diag);
/* A query that is prepared for this one use. CENOTE_DONE: it cannot be, but it may run as text. */
int cnd_my_query_prepared(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);

/* tx.c */
int cnd_my_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_my_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_my_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);

/* query.c */
/* Before a client's statement: does it ask for what stayed on another session? */
int cnd_my_check_moved(struct cnd_session *s, const struct cnd_my_scan *scan);
int cnd_my_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_my_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink);
/* SQL of our own, one or several statements, of which nobody wants the rows. */
int cnd_my_run(struct cnd_session *s, const char *sql, size_t len);
/* What the text may leave in the session becomes the session's. */
void cnd_my_note(struct cnd_session *s, const struct cnd_my_scan *scan);
/* Whether it is a SELECT without any table. */
int cnd_my_is_tableless(const struct cnd_session *s, const char *sql, size_t len);
/* Fill what DONE tells from the connection's last OK or end of rows. */
void cnd_my_done(struct cnd_session *s, struct cnp_done *ret_done);
/* `r` is what a request came to: an error's packet does not tell in which transaction state it leaves
 * the session, so ask. */
int cnd_my_after_error(struct cnd_session *s, int r);
/* Answer with done() of the last OK. */
int cnd_my_answer_done(struct cnd_session *s, const char *tag, struct cnd_sink *sink);
/* The columns of a result, in the arena, in the formats that were asked for. */
int cnd_my_columns(struct cnd_session *s, const MYSQL_FIELD *fields, uint32_t n,
	const struct cnd_exec *exec, struct cnp_column **ret_columns);
/* Read and forget what is left of all results of a request. */
void cnd_my_drain(struct cnd_session *s, MYSQL_RES *result);
/* SQL of our own. Its rows go to the sink under `columns` (the values in the format that
 * these say), and then comes done(). */
int cnd_my_answer(struct cnd_session *s, const char *sql, size_t len,
	const struct cnp_column *columns, uint32_t n, struct cnd_sink *sink);
typedef int cnd_my_each_fn(
	void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n);
/* SQL of our own, one or several statements; each row to a function, which may say why to stop
 * (negative). */
int cnd_my_each(struct cnd_session *s, const char *sql, size_t len, cnd_my_each_fn *each,
	void *user);

#endif
