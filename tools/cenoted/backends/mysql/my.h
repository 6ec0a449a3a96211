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
#include "../common/position.h"
#include "../common/text.h"
#include "../common/watch.h"

/*
 * The MySQL and MariaDB backend: one session is one connection of the client library. The
 * files:
 *
 *     module.c      the table of functions
 *     compat.c      what differs between MariaDB's and Oracle's library
 *     options.c     the keys of a server line, and the password file
 *     connect.c     connections of the library
 *     login.c       login, and the facts that it learns
 *     session.c     the life of a session: facts, requests, another user
 *     functions.c   which functions are built into a server of MySQL
 *     reset.c       resetting a session to the state of a new login
 *     wait.c        waiting that can be interrupted; cancelling
 *     watch.c       the same where the library waits without calling a hook
 *     carry.c       state that moves with a client to another session
 *     locks.c       locks by GET_LOCK()
 *     settle.c      what the server is asked before a client gives up its session
 *     variables.c   session variables that can move
 *     query.c       queries in the text protocol, and any number of results
 *     stmt.c        prepared statements, portals
 *     infile.c      LOAD DATA LOCAL INFILE
 *     progress.c    progress of long statements
 *     tx.c          transactions, savepoints, autocommit
 *     types.c       column descriptions and logical types
 *     params.c      binding parameters
 *     rows.c        writing rows
 *     packet.c      reading the packets of rows
 *     values.c      values of both protocols
 *     catalog.c     catalog queries
 *     names.c       names that may stand before a parenthesis and leave nothing; variables that can move
 *     scan.c        what the text of a statement may leave in its session
 *     strict.c      what a pool with strict = yes refuses
 *     errors.c      the server's errors
 */

/* ---- what a statement leaves in its session, judged by its text (scan.c) ---- */

enum cnd_my_note {
	CND_MY_NOTE_DATABASE = 1, /* USE: the current database */
	CND_MY_NOTE_CHARSET = 2, /* SET NAMES and other ways to set a character set */
	CND_MY_NOTE_OPAQUE = 4, /* may do anything: CALL, EXECUTE, stored functions */
	CND_MY_NOTE_LOGIN = 8, /* changes what a new login begins with */
	CND_MY_NOTE_SEVERAL = 16, /* more than one statement */
	CND_MY_NOTE_EMPTY = 32, /* blanks and comments only */
	CND_MY_NOTE_ASKS =
		64, /* its first statement asks for what the previous statement left */
	CND_MY_NOTE_ID =
		/* may generate an id; the server reports the id unless the statement fails */
		128,
	CND_MY_NOTE_SILENT_ID =
		256, /* may generate an id that the server does not report: LOAD DATA, CREATE … SELECT, RETURNING */
	CND_MY_NOTE_HIDES =
		512, /* uses tables: triggers, views and defaults may do more than the text shows */
	CND_MY_NOTE_RECALLS =
		1024, /* reads user variables, which triggers and views may have set */
	CND_MY_NOTE_RECALLS_NUMBER =
		/* reads the last value of a sequence, which triggers and views may have set */
		2048,
	CND_MY_NOTE_SETS = 4096, /* sets variables that the server can be asked for */
	CND_MY_NOTE_MODES = 8192, /* sets sql_mode */
	CND_MY_NOTE_MEANING = 16384, /* may change what a statement means, as USE does */
	CND_MY_NOTE_VARIABLES = 32768, /* sets user variables */
	/* Only a text of one statement has these notes, so its success confirms them. */
	CND_MY_NOTE_PREPARES = 1 << 16, /* PREPARE, one statement */
	CND_MY_NOTE_DEALLOCATES = 1 << 17,
	CND_MY_NOTE_CREATES = 1 << 18, /* at most one temporary table */
	CND_MY_NOTE_DROPS = 1 << 19, /* drops temporary tables; n_drops says how many */
	CND_MY_NOTE_LOCKS_TABLES = 1 << 20,
	CND_MY_NOTE_UNLOCKS_TABLES = 1 << 21,
	CND_MY_NOTE_RELEASES = 1 << 22, /* all locks of GET_LOCK() */
	CND_MY_NOTE_TAKES_LOCK = 1 << 23, /* GET_LOCK(), also if the statement fails */
	/* its first word makes it opaque, as in CALL */
	CND_MY_NOTE_OPAQUE_VERB = 1 << 24,
	/* the text cannot be read with certainty, or it defines code that runs later */
	CND_MY_NOTE_UNSURE = 1 << 25,
	/* of a DROP: the server warns of each table that was not there */
	CND_MY_NOTE_IF_EXISTS = 1 << 26,
	/* may switch sql_notes off, and then the server does not give that warning */
	CND_MY_NOTE_QUIET = 1 << 27,
	/* may choose a @@character_set_connection in which ASCII characters take several bytes */
	CND_MY_NOTE_WIDE = 1 << 28,
	CND_MY_NOTE_RELEASES_LOCK = 1 << 29 /* RELEASE_LOCK() */
};

#define CND_MY_LOCK_MAX 64u /* the server's limit for the name of a lock */

struct cnd_my_scan {
	uint32_t pins; /* bits of enum cenote_pin */
	uint32_t notes; /* bits of enum cnd_my_note */
	unsigned n_drops; /* with CND_MY_NOTE_DROPS: tables in its list */
	unsigned n_locks; /* calls of GET_LOCK() */
	/* if there is one call: the name of its lock, which needs no escapes; "": not known */
	char lock[CND_MY_LOCK_MAX + 1];
};

enum cnd_my_lexis {
	CND_MY_LEXIS_ANSI_QUOTES = 1, /* "a" is a name */
	CND_MY_LEXIS_NO_BACKSLASH =
		2, /* a backslash is an ordinary character in a string literal */
	CND_MY_LEXIS_NOT_UTF8 =
		4, /* the client's character set is not UTF-8, or not known */
	CND_MY_LEXIS_UNSURE = 8 /* the first two are not known */
};

#define CND_MY_NATIVES_MAX 256u

/* How the session reads SQL, as the server reported it. */
struct cnd_my_reading {
	uint32_t lexis; /* bits of enum cnd_my_lexis */
	uint8_t natives[CND_MY_NATIVES_MAX /
			8]; /* bits by index in names.c: functions that the server has */
};

/* Find out what a text may leave in the session. Assumes the worst about text that it cannot read. */
void cnd_my_scan(const char *sql, size_t len, const struct cnd_my_reading *reading,
	struct cnd_my_scan *ret_scan);
/* Record that the server has a function of this name. */
void cnd_my_confirm_native(struct cnd_my_reading *reading, const char *name, size_t n);
/* Whether a call of this name (without quotes) is safe: the name cannot be a stored function, and the
 * call leaves nothing in the session. `has_space`: something stands between the name and the
 * parenthesis. */
int cnd_my_is_harmless(
	const struct cnd_my_reading *reading, const char *name, size_t n, int has_space);
/* How a session of this sql_mode and character set reads texts. NULL: it is not known. */
uint32_t cnd_my_lexis(const char *sql_mode, const char *charset);

/* ---- session variables that can move to another session ---- */

enum cnd_my_variable_flag {
	CND_MY_VARIABLE_TEXT = 1, /* its value is a text, else a number */
	CND_MY_VARIABLE_MYSQL = 2, /* only MySQL has it */
	CND_MY_VARIABLE_MARIADB = 4, /* only MariaDB has this name */
	/* without SESSION before the name, a SET may be for the next transaction only */
	CND_MY_VARIABLE_NEXT = 8,
	CND_MY_VARIABLE_LIMIT = 16 /* seconds that a statement may take */
};

struct cnd_my_variable {
	const char *name;
	uint32_t notes; /* bits of enum cnd_my_note: of a text that sets it */
	uint32_t flags; /* bits of enum cnd_my_variable_flag */
};

/* The name that stands for the current database among the variables. No variable has this name. */
#define CND_MY_DATABASE      "database()"
#define CND_MY_VARIABLES_MAX 40u

/* The last one has no name. */
extern const struct cnd_my_variable cnd_my_variables[];
/* NULL: none of them has this name. */
const struct cnd_my_variable *cnd_my_variable(const char *name, size_t n);

/* The rules for core/digest.h; 0: the text cannot be read with certainty. */
uint32_t cnd_my_rules(const char *sql, size_t len, uint32_t lexis);
/* Whether the first word begins a statement that only returns rows of tables. */
int cnd_my_is_select(const char *sql, size_t len, uint32_t lexis);

/* The form in which the server sends rows. */
enum cnd_my_protocol {
	CND_MY_TEXT,
	CND_MY_PLAIN, /* text, and all values are sent on unchanged */
	CND_MY_BINARY
};

/* ---- options ---- */

/* The options of a server line. Strings are borrowed from the line, except in a session. */
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
	const char *server_public_key; /* a file */
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
	unsigned connect_timeout; /* seconds; 0: the library's default */
	unsigned read_timeout;
	unsigned write_timeout;
	int tls_mode; /* enum cnd_my_tls */
	uint8_t tls_verify;
	uint8_t is_compressed;
	uint8_t is_infile_allowed;
	uint8_t has_found_rows;
	uint8_t has_pure_queries; /* the administrator says that no trigger or view leaves anything in a session */
	uint8_t has_cleartext;
	uint8_t takes_server_key; /* encrypt the password with whatever RSA key the server sends */
	uint8_t is_clients; /* user and password come from the client, and authenticate it */
	/* the pool's values, if a client's settings replaced them */
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

/* What a client carries: LAST_INSERT_ID() (8 bytes), trace.has_hidden (1 byte), and the variables as pairs. */
#define CND_MY_CARRY_LEN 9u
#define CND_MY_CARRY_MAX 4096u

#define CND_MY_PARAMETERS 12u
/* Indexes into the parameters. */
#define CND_MY_CHARSET    3u
#define CND_MY_COLLATION  4u

/* The state of LOAD DATA LOCAL INFILE. */
struct cnd_my_infile {
	struct cnp_str piece; /* sent by the client, not yet passed to the server */
	int status; /* returned by the sink; CENOTE_DONE: the client's last piece came */
	int has_ended;
};

/*
 * The parts of a session. Each belongs to one file, which says what its values mean. Other files may read them.
 */

/* wait.c and watch.c: how the session waits, and how it stops a running statement. */
struct cnd_my_wait {
	int64_t obey_until_ms; /* when the server must have obeyed the order to stop */
	int64_t tls_until_ms;
	uint8_t is_hooked; /* the library calls our hook before it blocks */
	uint8_t is_killed; /* a KILL QUERY was sent, and may still arrive */
	struct cnd_watch watch; /* started when it is needed */
	int done_fd; /* readable when the watched call has returned */
};

/* reset.c: what the server's own reset leaves in the session. */
struct cnd_my_reset {
	unsigned modes; /* the status flags about string literals, as after a new login */
	uint8_t has_init; /* the server runs SQL of its own (init_connect) at each login */
	const char *
		charset; /* SQL that restores the character set; NULL: the server's own reset does not change it */
	/* the reset also changes @@collation_database, so select the database again */
	uint8_t loses_database;
	uint8_t is_put_off; /* the reset waits until the next client sends a request */
	uint8_t has_profiles; /* the server has SHOW PROFILES */
	uint8_t n_sets; /* SET statements that the server has counted since its own reset */
	uint8_t keeps_group; /* the resource group survives the server's reset and COM_CHANGE_USER */
	uint8_t was_profiled; /* the server recorded the texts of statements */
	const char *database_collation;
	int64_t checked_ms; /* when the current database was last seen to be that of the login */
	/* SQL that clears what the server's reset leaves, and queries the remaining state */
	const char *forget;
};

/* settle.c: what the server can report about code that no text shows. */
struct cnd_my_hidden {
	uint8_t is_told; /* the server can report what triggers and views did */
	uint8_t is_counted; /* the server only counts the SET statements in them */
	uint8_t has_lock_texts; /* some triggers, views or functions take locks */
	uint8_t knows_lock_texts; /* has_lock_texts is valid */
};

/* variables.c: the variables that can move. */
struct cnd_my_variables {
	const char *
		list; /* the SELECT list that asks for them; NULL: the server cannot be asked */
	unsigned n; /* columns of the list */
	/* their values after a login, and how the session then reads texts */
	const char *login[CND_MY_VARIABLES_MAX];
	uint32_t login_lexis;
	uint32_t login_doubts; /* trace.doubts of such a session */
};

/* session.c: the parameters for ATTACHED. They are those of the login, and what the client brought. */
#define CND_MY_TOLD_VALUE 80u
struct cnd_my_told {
	struct cnd_option list[CND_MY_PARAMETERS + 6];
	size_t n;
	char values[6][CND_MY_TOLD_VALUE]; /* of the client */
	size_t n_values;
};

#define CND_MY_LOCKS_MAX 8u

/* What the backend knows about something that the client may have left. */
enum cnd_my_knowledge {
	CND_MY_KNOWN, /* it left nothing, or it can move */
	CND_MY_UNASKED, /* the server must be asked */
	CND_MY_HELD /* the server was asked: the session is held until the client's next such statement */
};

/* carry.c, settle.c and query.c: what the client did, and what may be left in the session. */
struct cnd_my_trace {
	uint32_t pins; /* those that last until the reset */
	uint32_t notes; /* bits of enum cnd_my_note, of all that the client did */
	/* LAST_INSERT_ID() as of attach() or settle(); 0: none */
	uint64_t last_insert_id;
	unsigned
		n_sets; /* SET statements since the reset, our own and those in the client's texts */
	unsigned n_meanings; /* changes of what a statement means since attach() */
	uint8_t variables; /* enum cnd_my_knowledge: session variables and the database */
	uint8_t user_variables; /* enum cnd_my_knowledge */
	uint32_t running; /* bits of enum cnd_my_note: of the running text */
	unsigned n_running_drops; /* tables that it drops, with CND_MY_NOTE_DROPS */
	/* what texts may have set since the server was asked: CND_MY_NOTE_QUIET, _WIDE */
	uint32_t doubts;
	/* What is left at most. The server has confirmed each statement that began or ended something. */
	unsigned n_prepared; /* statements of PREPARE */
	unsigned n_temporary; /* temporary tables */
	uint8_t has_table_locks;
	uint8_t has_locks; /* of GET_LOCK(), with names that are not known */
	uint8_t has_modes; /* sql_mode may have changed since attach() */
	uint8_t is_autocommit_off; /* by a request, which libcenote repeats on the next session */
	uint8_t changes_login; /* the running request changes the state that new logins begin with */
	uint8_t may_fail_with_id; /* the running statement may generate an id even if it fails */
	uint8_t is_database_changed;
	uint8_t is_user_changed;
	uint8_t has_failed_user; /* the server counts failed changes of user, and refuses further ones after some */
	uint8_t has_run; /* the client ran something since attach() */
	uint8_t has_touched; /* the client used tables, which may call functions */
	/* it used tables, and the server has not confirmed since then that their code set nothing */
	uint8_t may_have_set;
	uint8_t has_done_more; /* the client did more than queries in text */
	uint8_t has_new_id; /* last_insert_id may be out of date */
	uint8_t is_moved; /* what the previous statement left is on another session, or a question of ours has replaced it */
	uint8_t may_hide; /* a statement used tables since the server was last asked */
	/* a statement of the client had CND_MY_NOTE_HIDES, on this session or a former one */
	uint8_t has_hidden;
	uint8_t had_hidden; /* a statement on a former session had CND_MY_NOTE_HIDES */
};

/* locks.c: locks by GET_LOCK() whose names are known. */
struct cnd_my_locks {
	char names[CND_MY_LOCKS_MAX][CND_MY_LOCK_MAX + 1];
	/* of the locks whose names are known, the session holds no others */
	unsigned n;
	uint8_t knowledge; /* enum cnd_my_knowledge */
};

/* session.c: the client's wishes. */
struct cnd_my_wants {
	uint8_t single; /* multi_statements is off */
	uint8_t is_single; /* the server knows that multi_statements is off */
	uint8_t progress;
	uint8_t more; /* announce before a result that another result follows */
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	MYSQL *my;
	char *server; /* the server's name in messages: "db1:3306" */

	/* the running request */
	struct cnc_diag *diag;
	struct cnc_arena arena; /* freed when the request ends */
	bool is_read_only; /* the server's variable has confirmed once that transactions are read-only */
	int stop; /* the host's reason to stop, a negative CENOTE_ERR_…; 0: go on */
	struct cnd_sink *sink; /* may be NULL */
	struct cnd_my_infile infile;

	/* set at login */
	struct cnc_arena keep; /* freed at logout */
	struct cnd_my_options opt; /* its strings are in `keep` */
	unsigned long thread_id;
	struct cnd_my_reading reading;
	uint8_t is_logging_in;
	uint8_t is_tls;
	uint8_t is_lost;
	struct cnc_buf
		carry; /* at least CND_MY_CARRY_LEN bytes, and at most CND_MY_CARRY_MAX */
	struct cnd_option parameters[CND_MY_PARAMETERS];
	size_t n_parameters;
	struct cnd_my_told told;

	struct cnd_my_wait wait;
	struct cnd_my_reset reset;
	struct cnd_my_hidden hidden;
	struct cnd_my_variables variables;
	struct cnd_my_trace trace;
	struct cnd_my_locks locks;
	struct cnd_my_wants wants;
};

/* What takes the rows of cnd_my_each(). */
typedef int cnd_my_each_fn(
	void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n);

/* types.c */
/* Strings are borrowed from the field. `format` is the format of the values. */
void cnd_my_column(
	const MYSQL_FIELD *field, uint8_t format, struct cnp_column *ret_column);

/* rows.c; columns[i].format is the form in which a value is sent. These return CENOTE_OK, CENOTE_ERR_LIMIT,
 * CENOTE_ERR_NOMEM, or CENOTE_ERR_SERVER with s->diag filled. A row that failed is removed from the batch. */
/* Write the next row straight from the library's buffer, if the buffer holds all of it. CENOTE_ROW; CENOTE_DONE:
 * the row is incomplete or the packet is not a row, so ask the library. */
int cnd_my_put_ahead(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	enum cnd_my_protocol protocol, struct cnc_batch *w);
/* Write a row of the text protocol. No column may be in binary format. */
int cnd_my_put_text(struct cnd_session *s, const struct cnp_column *columns, uint32_t n,
	MYSQL_ROW row, const unsigned long *lengths, struct cnc_batch *w);
/* Room for the rows of a prepared statement; private to rows.c. */
struct cnd_my_rows;
/* Allocate that room and bind it to an executed statement (mysql_stmt_bind_result). `columns` is
 * borrowed until cnd_my_rows_free(). */
int cnd_my_rows_bind(struct cnd_session *s, MYSQL_STMT *stmt, const MYSQL_FIELD *fields,
	const struct cnp_column *columns, uint32_t n, struct cnd_my_rows **ret_rows);
/* Write the row that mysql_stmt_fetch() returned (0 or MYSQL_DATA_TRUNCATED). */
int cnd_my_put_row(struct cnd_session *s, struct cnd_my_rows *rows, MYSQL_STMT *stmt,
	struct cnc_batch *w);
/* The same as cnd_my_put_ahead(), for a row of a prepared statement. */
int cnd_my_put_row_ahead(
	struct cnd_session *s, const struct cnd_my_rows *rows, struct cnc_batch *w);
void cnd_my_rows_free(struct cnd_session *s, struct cnd_my_rows *rows); /* may be NULL */
/* Bind the values to the statement (mysql_stmt_bind_param). It is executed once for each row of values. Memory
 * that must live until then comes from s->arena. */
int cnd_my_bind(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnc_value *params,
	uint32_t n_params, uint32_t n_rows);

/* catalog.c */
int cnd_my_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

/* errors.c */
/* A call of the library failed, on a statement or (NULL) on the connection. Fill s->diag and return the matching
 * error. */
int cnd_my_failed(struct cnd_session *s, MYSQL_STMT *stmt);
/* Fill the diagnostics from an error of the server or the library: CENOTE_ERR_SERVER, CENOTE_ERR_CONN when the
 * session is lost, CENOTE_ERR_NOMEM. `server`: which one (field B). */
int cnd_my_diag(struct cnc_diag *diag, unsigned code, const char *sqlstate,
	const char *message, const char *server);

/* options.c */
int cnd_my_options_read(const struct cnd_server_spec *spec,
	struct cnd_my_options *ret_opt, struct cnc_diag *ret_diag);
/* Replace options by the client's settings for its login. 0, or CENOTE_ERR_ARG. */
int cnd_my_settings_read(
	struct cnd_my_options *o, const char *settings, struct cnc_diag *ret_diag);
int cnd_my_has_settings(const struct cnd_session *s, const char *settings);
int cnd_my_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);

/* wait.c */
/* Set the session for which the library's next calls are made. */
void cnd_my_wait_for(struct cnd_session *s);
cnd_my_wait_fn cnd_my_on_wait;
cnd_my_progress_fn cnd_my_on_progress;
/* Tell the server to stop the session's running statement. The statement then fails as usual. */
void cnd_my_cancel(struct cnd_session *s);
/* Ask the host whether to stop, while rows come too fast for any wait. If the host says stop, order
 * the server to stop. */
int cnd_my_interrupted(struct cnd_session *s);
/* Wait for the answer directly after sending a command. Needed where the library would wait without calling our
 * hook, or would try to read first. CENOTE_OK, or CENOTE_ERR_CONN. */
int cnd_my_await_answer(struct cnd_session *s);
/* Wait in place of the library until done_fd is readable. */
void cnd_my_look(struct cnd_session *s, int done_fd);
/* Read the next result of a text; there must be one. CENOTE_OK or a failure. */
int cnd_my_next_result(struct cnd_session *s);

/* watch.c */
/* Enclose a call of the library that may wait long. Do not touch the session or its host inside, except by that
 * call. CENOTE_OK, or CENOTE_ERR_NOMEM; then do not call the end function. */
int cnd_my_watch_begin(struct cnd_session *s);
void cnd_my_watch_end(struct cnd_session *s);
void cnd_my_watch_free(struct cnd_session *s);

/* connect.c */
void cnd_my_set_options(
	MYSQL *my, const struct cnd_my_options *o, unsigned connect_timeout);
/* CENOTE_ERR_CONN: the library has the error. */
int cnd_my_connect_to(struct cnd_session *s, MYSQL *my);
/* Open another connection as the pool's user, without this session's state. Close `*ret_my` also after a failure;
 * it then holds the error. NULL: no memory. */
int cnd_my_connect(struct cnd_session *s, unsigned seconds, MYSQL **ret_my);
int cnd_my_fd(const struct cnd_session *s);

/* session.c */
int cnd_my_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_my_logout(struct cnd_session *s);
void cnd_my_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_my_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_my_idle(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink);
int cnd_my_select_database(
	struct cnd_session *s, const char *database, size_t len, struct cnd_sink *sink);
int cnd_my_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag);
/* Begin a request, and set where its answer and errors go. */
int cnd_my_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* Like cnd_my_enter(), but send nothing to the server yet: a delayed reset stays delayed. */
int cnd_my_enter_only(
	struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* Tell the server whether a text may hold several statements, as the client chose. */
int cnd_my_set_several(struct cnd_session *s, const char *sql, size_t len);
/* The session has what this client carried: report it with the session's facts. */
void cnd_my_tell_carried(struct cnd_session *s, const char *variable, const char *value);
/* Report the facts of the login again. */
void cnd_my_untell(struct cnd_session *s);
/* An OK packet came: pass its session changes on to the client. */
int cnd_my_track(struct cnd_session *s);

/* Run the server line's own SQL, as after each login. */
int cnd_my_run_init(struct cnd_session *s);

/* functions.c */
/* After the login: find out which functions the server has, if it does not list them. */
int cnd_my_learn_functions(struct cnd_session *s);

/* reset.c */
/* After the login: find out what the server's reset does, and what it leaves. */
int cnd_my_learn_reset(struct cnd_session *s);
int cnd_my_reset(struct cnd_session *s, struct cnc_diag *ret_diag);
/* Run a delayed reset. Call it before any command that does not go through cnd_my_send(). */
int cnd_my_reset_now(struct cnd_session *s);
/* The status flags about string literals, as the server last reported them. */
unsigned cnd_my_modes(const struct cnd_session *s);
/* Send a text, together with a delayed reset. Wait for the answer to the text, without reading any of it. */
int cnd_my_send(struct cnd_session *s, const char *sql, size_t len);

/* infile.c */
void cnd_my_infile_init(struct cnd_session *s);

/* progress.c */
struct cnd_my_progress {
	unsigned stage; /* counted from 1 */
	unsigned n_stages;
	unsigned thousandths; /* thousandths of a per cent of this stage */
	const char *doing; /* not terminated by a zero byte */
	size_t n_doing;
};
/* Send a notice of progress to the client of the running request, if it asked for that. */
void cnd_my_tell_progress(struct cnd_session *s, const struct cnd_my_progress *p);
/* Announce before a result's columns that another result follows, if the server reported that with the columns. */
void cnd_my_tell_more(struct cnd_session *s);

/* role.c */
int cnd_my_read_only(
	struct cnd_session *s, struct cnd_sink *sink, struct cnc_diag *ret_diag);
int cnd_my_role(struct cnd_session *s, struct cnd_sink *sink,
	struct cnd_server_role *ret_role, struct cnc_diag *ret_diag);
int cnd_my_position(struct cnd_session *s, struct cnd_sink *sink,
	char ret_text[CND_POSITION_MAX + 1], struct cnc_diag *ret_diag);

/* variables.c */
/* The text that asks for the variables; in `keep`. NULL: no memory. */
const char *cnd_my_variables_question(struct cnd_session *s);
/* Take the answer after a login. */
cnd_my_each_fn cnd_my_variables_begin;
/* Take a row of s->variables.list: add to s->carry what differs from the login, and learn how the session reads texts.
 * CENOTE_DONE: a value cannot be carried. */
int cnd_my_variables_take(
	struct cnd_session *s, const MYSQL_ROW row, const unsigned long *lengths);
/* Whether servers of this kind have the variable. */
bool cnd_my_is_asked(const struct cnd_session *s, const struct cnd_my_variable *v);
/* Whether the value can stand in a SET without escapes, in any character set and sql_mode. */
bool cnd_my_needs_no_escape(const struct cnd_my_variable *v, const char *value, size_t n);

/* carry.c */
int cnd_my_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
void cnd_my_state(const struct cnd_session *s, struct cnd_state *ret_state);
uint32_t cnd_my_sql_rules(struct cnd_session *s, const char *sql, size_t len);

/* strict.c */
/* Whether the pool refuses this text. CENOTE_OK, or the failure. */
int cnd_my_check_strict(struct cnd_session *s, const struct cnd_my_scan *scan);

/* locks.c */
/* Call this before the text runs, since it may take or release locks. */
void cnd_my_locks_note(struct cnd_session *s, const struct cnd_my_scan *scan);
/* The session holds none of these locks: forget their names. */
void cnd_my_locks_forget(struct cnd_session *s);
/* Add an expression that is true if the session holds one of these locks. */
void cnd_my_locks_ask(const struct cnd_session *s, struct cnd_text *question);
/* Take the value of that expression. */
void cnd_my_locks_take(struct cnd_session *s, bool is_held);

/* settle.c */
int cnd_my_settle(struct cnd_session *s, struct cnd_sink *sink);

/* stmt.c */
/* Whether a statement was prepared before the last change of what statements mean. */
bool cnd_my_has_older(const struct cnd_session *s);
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
/* Run a query as a statement prepared for this one use. CENOTE_DONE: it cannot be prepared, but may run as text. */
int cnd_my_query_prepared(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);

/* tx.c */
int cnd_my_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_my_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_my_undo(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_my_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_my_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);

/* query.c */
/* Before a client's statement: check whether it asks for something left on another session. */
int cnd_my_check_moved(struct cnd_session *s, const struct cnd_my_scan *scan);
int cnd_my_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_my_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink);
/* Run our own SQL, one or several statements, and discard the rows. */
int cnd_my_run(struct cnd_session *s, const char *sql, size_t len);
/* The pins of what the client's texts began and did not end, which the server cannot be asked for. */
uint32_t cnd_my_pins_of_texts(const struct cnd_session *s);
/* The session's variables or its database may have changed. */
void cnd_my_may_have_set(struct cnd_session *s);
/* Before a text is scanned: learn how the server reads it, if SET may have changed that. */
void cnd_my_learn_modes(struct cnd_session *s);
/* Add what the text may leave to the session's record. */
void cnd_my_note(struct cnd_session *s, const struct cnd_my_scan *scan);
/* Whether the text is a SELECT without any table. */
int cnd_my_is_tableless(const struct cnd_session *s, const char *sql, size_t len);
/* Fill in the values of DONE from the connection's last OK or end of rows. */
void cnd_my_done(struct cnd_session *s, struct cnp_done *ret_done);
/* `r` is the result of a request. An error packet does not report the transaction state, so ask the server. */
int cnd_my_after_error(struct cnd_session *s, int r);
/* Answer with done(), filled from the last OK. */
int cnd_my_answer_done(struct cnd_session *s, const char *tag, struct cnd_sink *sink);
/* The columns of a result, allocated in the arena, in the requested formats. */
int cnd_my_columns(struct cnd_session *s, const MYSQL_FIELD *fields, uint32_t n,
	const struct cnd_exec *exec, struct cnp_column **ret_columns);
/* Run our own SQL. Its rows go to the sink under `columns` (values in their formats), followed by done(). */
int cnd_my_answer(struct cnd_session *s, const char *sql, size_t len,
	const struct cnp_column *columns, uint32_t n, struct cnd_sink *sink);
/* Run our own SQL, one or several statements. Each row goes to a function, which may return a negative reason to
 * stop. */
int cnd_my_each(struct cnd_session *s, const char *sql, size_t len, cnd_my_each_fn *each,
	void *user);

#endif
