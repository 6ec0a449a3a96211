/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ODBC_H
#define CND_ODBC_H

#include <pthread.h>
#include <sys/types.h>

#include <sql.h>
#include <sqlext.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/sqlstate.h"
#include "core/value.h"

#include "../backend.h"
#include "../common/answer.h"
#include "../common/clock.h"
#include "../common/error.h"
#include "../common/watch.h"

/*
 * The ODBC backend: one session is one connection of a driver, under unixODBC's manager. The files:
 *
 *     module.c   the table of functions
 *     options.c  the keys of a server line; the connection string
 *     quirks.c   known properties of drivers and servers
 *     session.c  login, attach, reset, state: the life of a session
 *     watch.c    cancelling: the thread that watches a driver's functions
 *     sockets.c  finding a driver's sockets
 *     text.c     UTF-8 and UTF-16: the two families of ODBC's functions
 *     scan.c     first words of SQL, and what statements leave in a session
 *     stmt.c     prepared statements
 *     exec.c     running statements; results and portals
 *     columns.c  column descriptions and logical types
 *     values.c   values of rows
 *     params.c   binding parameters; long values in pieces
 *     call.c     calls of procedures: output parameters
 *     tx.c       transactions, savepoints, autocommit
 *     catalog.c  catalog requests
 *     errors.c   the driver's diagnostics
 */

enum cnd_od_text_mode {
	CND_OD_TEXT_AUTO,
	CND_OD_TEXT_WIDE,
	CND_OD_TEXT_NARROW
};

enum cnd_od_reset_mode {
	CND_OD_RESET_AUTO, /* what the table of quirks says */
	CND_OD_RESET_ATTRIBUTE, /* SQL_ATTR_RESET_CONNECTION */
	CND_OD_RESET_RECONNECT
};

/* Whether a query may leave something in the session that its text does not show. */
enum cnd_od_queries {
	CND_OD_QUERIES_ANY,
	CND_OD_QUERIES_PURE /* the administrator says that no query does */
};

/* The options of a server line. Strings are borrowed from the line. */
struct cnd_od_options {
	const char *dsn;
	const char *connect;
	const char *user;
	const char *password;
	const char *passfile;
	const char *init; /* SQL to run at each login */
	const char *ping; /* SQL that the server accepts; NULL: use the table's */
	unsigned connect_timeout; /* seconds */
	enum cnd_od_text_mode text;
	enum cnd_od_reset_mode reset;
	enum cnd_od_queries queries;
};

/* How to recognise statements to keep from a driver, which cannot run them and does not refuse them. */
enum cnd_od_look {
	CND_OD_LOOK_FIRST, /* the first word matches */
	CND_OD_LOOK_WORDS, /* all words occur outside of quotes and comments */
	CND_OD_LOOK_ALL /* all words are in the text, also if in a string or a comment */
};

struct cnd_od_refusal {
	enum cnd_od_look look;
	const char *words[4]; /* NULL after the last */
	const char *sqlstate;
	const char *why;
};

/* Known properties of a driver, or of a server through any driver. */
struct cnd_od_quirks {
	const char *driver; /* part of SQL_DRIVER_NAME; NULL: any */
	const char *dbms; /* beginning of SQL_DBMS_NAME; NULL: any */
	uint8_t is_narrow; /* has no wide functions, and reads bytes as UTF-8 */
	/* its long types do not stand for long values: use the VAR types for all lengths */
	uint8_t is_var_only;
	uint8_t has_narrow_output; /* returns bytes when wide output values are requested */
	uint8_t cuts_at_zero; /* takes a zero byte for the end of a text */
	uint8_t lies_on_reset; /* reports success for SQL_ATTR_RESET_CONNECTION without a reset */
	/* The native error that a driver returns from then on, once it has left an answer unread; 0: none. */
	SQLINTEGER out_of_step;
	const struct cnd_od_refusal
		*refusals; /* ends with an entry without words; may be NULL */
	uint8_t has_infinity; /* a double may be infinite or NaN */
	const char *ping; /* SQL that the server answers without a table */
	/* SQL that resets the session to its first state; NULL: log in again. */
	const char *reset;
	/* SQL to run before a new login. Without it, other sessions see the old session's locks for a moment
	 * longer. */
	const char *release;
	/* SQL that makes a transaction read-only after it has begun; NULL: there is no such SQL. */
	const char *read_only;
	const char *savepoint[3]; /* set, release (NULL: not needed), roll back to */
	const char *tested; /* NULL: nothing here was tested */
};

/* What the first word of a statement says about its tag and its transaction. */
enum cnd_od_verb_flag {
	CND_OD_VERB_ROWS = 1, /* the tag counts the rows returned */
	CND_OD_VERB_DML = 2, /* the tag counts the rows changed */
	CND_OD_VERB_BEGIN = 4,
	CND_OD_VERB_COMMIT = 8,
	CND_OD_VERB_ROLLBACK = 16, /* the whole transaction */
	CND_OD_VERB_CALL = 32
};

#define CND_OD_TAG_MAX 48u

struct cnd_od_scan {
	uint32_t flags;
	uint32_t pins; /* bits of enum cenote_pin */
	int is_empty; /* only blanks and comments */
	/* several statements; the transaction bits of `flags` are from the last statement that has
	 * any */
	int has_more;
	/* a query that is not only numbers: its views and operators may call functions that it does not
	 * name */
	int reads;
	char tag[CND_OD_TAG_MAX];
};

/* A column of a result, and how to read its values. */
struct cnd_od_column {
	SQLSMALLINT sql_type;
	SQLSMALLINT c_type; /* the type requested from SQLGetData() */
	uint8_t type; /* enum cenote_type */
	/* The driver puts a short value here with its row; NULL: call SQLGetData(). */
	void *at;
	size_t room;
	SQLLEN left; /* its length in bytes, as SQLGetData() reports it */
};

struct cnd_od_columns {
	struct cnc_arena text;
	struct cnp_column *columns;
	struct cnd_od_column *plan;
	uint32_t n;
};

/* A bound parameter. The driver reads it while the statement runs. */
struct cnd_od_bound {
	union {
		SQLCHAR bit;
		SQLBIGINT i64;
		SQLDOUBLE f64;
		char text[CNC_VALUE_TEXT_MAX];
	} as;
	void *bytes; /* a text or bytes, or the space for an output parameter */
	size_t n_bytes;
	SQLLEN len; /* bytes, or SQL_NULL_DATA, or SQL_LEN_DATA_AT_EXEC() */
	SQLSMALLINT c_type;
	uint8_t is_owned;
	uint8_t is_output;
};

/* A value sent in pieces (LONG_DATA), for the next execution. */
struct cnd_od_long {
	struct cnd_od_long *next;
	uint16_t param;
	struct cnc_buf bytes;
};

/* The direction and type of a procedure's parameter, as the driver reports them. */
struct cnd_od_direction {
	SQLSMALLINT io; /* SQL_PARAM_INPUT … */
	SQLSMALLINT sql_type;
	SQLULEN size;
	SQLSMALLINT digits;
	struct cnp_str name;
};

/* A statement handle and its state. */
struct cnd_od_stmt {
	SQLHSTMT handle;
	uint8_t is_open; /* has a result that was not read to its end */
	struct cnd_od_scan scan;
	struct cnd_od_columns columns;
	struct cnd_od_bound *bound;
	uint32_t n_bound;
	/* for a procedure call; NULL: all parameters are input parameters */
	struct cnd_od_direction *directions;
	struct cnc_arena names; /* memory for the names in `directions` */
	uint32_t n_params;
	uint64_t id; /* cnd_od_named.id of the statement that owns this handle; 0: none */
	uint64_t max_rows; /* SQL_ATTR_MAX_ROWS */
};

/* A statement that the client prepared under a number. */
struct cnd_od_named {
	uint64_t id; /* identifies the text last prepared under this number */
	struct cnd_od_stmt *stmt; /* NULL: in use, or must be prepared again */
	struct cnd_od_long *longs;
};

/* A statement whose rows are not all sent yet. */
struct cnd_od_portal {
	struct cnd_od_stmt *stmt; /* owned; its columns hold the format of the values */
	uint64_t n_rows; /* rows sent so far */
};

#define CND_OD_SOCKETS_MAX 16u

struct cnd_od_socket {
	int fd;
	ino_t inode; /* tells a reused descriptor number apart */
};

struct cnd_od_sockets {
	struct cnd_od_socket list[CND_OD_SOCKETS_MAX];
	unsigned n;
};

/* The watch over a running driver function: watch.c. */
struct cnd_od_watch {
	struct cnd_watch thread;
	pthread_t canceller;
	uint8_t is_cancelling; /* the canceller runs, or ran */
	/* a login runs: there is no statement to cancel, so cut the sockets at once */
	uint8_t is_login;
	uint8_t is_cut; /* the sockets were shut down */
	SQLHSTMT running; /* for SQLCancel(); NULL: no statement runs */
	int64_t obey_until_ms;
	int64_t die_at_ms;
	struct cnd_od_sockets before; /* open before the cancelling */
	struct cnd_od_sockets own; /* the driver's sockets, found at login */
};

enum cnd_od_tx {
	CND_OD_TX_NONE,
	CND_OD_TX_CALLS, /* begun by switching autocommit off */
	CND_OD_TX_SQL /* begun by a statement of the client */
};

struct cnd_session {
	const struct cnd_host *host;
	const struct cenote_allocator *mem;
	struct cnd_od_options opt; /* its strings are in `line` */
	struct cnc_arena line;
	char *connect; /* the whole connection string, with the password */
	SQLHENV env;
	SQLHDBC dbc;
	const struct cnd_od_quirks *quirks;
	struct cnd_od_watch watch;
	/* SQLGetData() also reads bound columns, so columns may be bound */
	uint8_t can_bind;
	uint8_t is_wide;
	uint8_t is_lost;

	/* Facts about the driver. */
	char server_version[128];
	char server[256];
	char database[256];
	char driver[160];
	char dbms[128];
	char quote[8];
	char escape; /* escapes wildcards in patterns; 0: none */
	struct cnd_option parameters[4];
	uint16_t cursor_behaviour[2]; /* on COMMIT, on ROLLBACK */
	uint8_t max_active; /* statements that may be open at once; 0: no limit */
	uint8_t describes_params;
	SQLUINTEGER isolation; /* isolation level at login */

	/* The running request. */
	struct cnc_diag *diag;
	struct cnd_sink *sink; /* for notices */
	int stop; /* the last result of the host's interrupted() */

	/* The client's state. */
	enum cnd_od_tx tx;
	uint8_t is_tx_failed;
	uint8_t is_manual; /* autocommit is off */
	uint8_t has_isolation; /* the transaction has an isolation level of its own */
	uint8_t is_used; /* something has run since the login */
	/* the socket has unread bytes, which only the driver may read */
	uint8_t is_noisy;
	uint32_t pins;
	struct cnd_od_stmt *spare; /* for the next direct statement */
	uint64_t n_prepared; /* number of statements prepared so far; gives their ids */
	struct cnc_buf value; /* one value, while it is read */
};

/* ODBC has two variants of each function that takes strings. They differ only in the string type. */
#define CND_OD_CALL(s, function, ...)                                                    \
	((s)->is_wide ? function##W(__VA_ARGS__) : function(__VA_ARGS__))

#define CND_OD_OK(rc) SQL_SUCCEEDED(rc)

/* options.c */
int cnd_od_options_read(const struct cnd_server_spec *spec,
	struct cnd_od_options *ret_opt, struct cnc_diag *ret_diag);
int cnd_od_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag);
/* Build the string for SQLDriverConnect(); the caller wipes and frees it. */
int cnd_od_connect_string(const struct cnd_od_options *o,
	const struct cenote_allocator *mem, char **ret_text, struct cnc_diag *ret_diag);

/* quirks.c */
/* Never NULL. */
const struct cnd_od_quirks *cnd_od_quirks_find(const char *driver, const char *dbms);

/* session.c */
int cnd_od_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag);
void cnd_od_logout(struct cnd_session *s);
void cnd_od_info(const struct cnd_session *s, struct cnd_info *ret_info);
int cnd_od_ping(struct cnd_session *s, struct cnc_diag *ret_diag);
int cnd_od_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag);
int cnd_od_reset(struct cnd_session *s, struct cnc_diag *ret_diag);
void cnd_od_state(const struct cnd_session *s, struct cnd_state *ret_state);
int cnd_od_fd(const struct cnd_session *s);
int cnd_od_idle(struct cnd_session *s, struct cnd_sink *sink);
/* Run our own SQL, without a result. */
int cnd_od_internal(struct cnd_session *s, const char *sql);

/* watch.c */
int cnd_od_watch_start(struct cnd_session *s);
/* Call these around each driver function that may take long. `running`: the handle for SQLCancel(). */
void cnd_od_call_begin(struct cnd_session *s, SQLHSTMT running);
void cnd_od_call_end(struct cnd_session *s);

/* sockets.c */
void cnd_od_sockets_list(struct cnd_od_sockets *ret_sockets);
/* List the sockets in `now` that are not in `before`. */
void cnd_od_sockets_new(const struct cnd_od_sockets *before,
	const struct cnd_od_sockets *now, struct cnd_od_sockets *ret_sockets);
/* Shut the sockets down. This wakes a driver function that waits for them. */
void cnd_od_sockets_cut(const struct cnd_od_sockets *sockets);

/* text.c */
/* A string in the encoding of the session's functions. */
struct cnd_od_text {
	void *p; /* SQLWCHAR or SQLCHAR, with a terminating zero */
	size_t n; /* characters as ODBC counts them */
	uint8_t is_owned;
};

/* CENOTE_OK, CENOTE_ERR_NOMEM; CENOTE_ERR_CONVERT if it is not UTF-8. */
int cnd_od_text_make(struct cnd_session *s, const char *utf8, size_t len,
	struct cnd_od_text *ret_text);
void cnd_od_text_finish(struct cnd_session *s, struct cnd_od_text *t);
/* The number of units, or SIZE_MAX if it is not UTF-8; `out` may be NULL. */
size_t cnd_od_utf16(const char *utf8, size_t len, SQLWCHAR *out);
/* The number of bytes; `out` has room for 3 per unit. Unpaired surrogates become U+FFFD. */
size_t cnd_od_utf8(const SQLWCHAR *units, size_t n, char *out);
/* Convert the string that a driver function left in `raw` to UTF-8, cut to fit and terminated by a zero.
 * `size`: the bytes of `out`. */
void cnd_od_text_take(const struct cnd_session *s, const void *raw, size_t n_units,
	char *out, size_t size);

/* scan.c */
void cnd_od_scan(const char *sql, size_t len, struct cnd_od_scan *ret_scan);
/* Why the driver must not get this statement; NULL: it may get the statement. */
const struct cnd_od_refusal *cnd_od_refused(
	const struct cnd_od_quirks *quirks, const char *sql, size_t len);
/* The name in "{? = call NAME(…)}" or "CALL NAME(…)"; n 0: the text is not a call. `ret_has_result`: it has
 * "? =". */
struct cnp_str cnd_od_called(const char *sql, size_t len, int *ret_has_result);

/* stmt.c */
int cnd_od_stmt_create(struct cnd_session *s, struct cnd_od_stmt **ret_stmt);
void cnd_od_stmt_destroy(struct cnd_session *s, struct cnd_od_stmt *st);
/* Get a statement handle for a direct statement. */
int cnd_od_stmt_take(struct cnd_session *s, struct cnd_od_stmt **ret_stmt);
/* Give back a direct or a named statement for the next use. */
void cnd_od_stmt_give(struct cnd_session *s, struct cnd_od_stmt *st);
/* Close the cursor and unbind the parameters; a prepared statement stays prepared. */
void cnd_od_stmt_reset(struct cnd_session *s, struct cnd_od_stmt *st);
/* CENOTE_ERR_SERVER: the statement must not reach the driver. */
int cnd_od_check_refusals(struct cnd_session *s, const char *sql, size_t len);
/* Call SQLPrepare(), and count the parameters. */
int cnd_od_stmt_prepare(
	struct cnd_session *s, struct cnd_od_stmt *st, const char *sql, size_t len);
int cnd_od_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink);
int cnd_od_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink);
void cnd_od_forget(struct cnd_session *s, struct cnd_statement *statement);
int cnd_od_long_data(struct cnd_session *s, struct cnd_statement *statement,
	uint16_t param, struct cnp_str data, struct cnc_diag *ret_diag);
/* Take the named statement's handle. If it has none, prepare its text again. */
int cnd_od_named_take(struct cnd_session *s, const struct cnd_statement *statement,
	struct cnd_od_stmt **ret_stmt);
void cnd_od_drop_longs(struct cnd_session *s, struct cnd_od_named *n);
/* The driver has dropped all prepared statements: SQL_CB_DELETE. */
void cnd_od_forget_prepared(struct cnd_session *s);

/* columns.c */
/* Read the columns of the open result, or of the prepared statement. */
int cnd_od_columns(struct cnd_session *s, struct cnd_od_stmt *st);
/* Bind the columns with short values, so that SQLFetch() brings these values. Does nothing unless
 * can_bind. */
void cnd_od_columns_bind(struct cnd_session *s, struct cnd_od_stmt *st);
/* Set the form in which the values will be sent: `format` for all, or one for each. */
int cnd_od_columns_format(struct cnd_session *s, struct cnd_od_stmt *st, uint8_t format,
	struct cnp_str formats);
/* Hash of everything that a client keeps about the columns; never 0. */
uint64_t cnd_od_columns_hash(const struct cnd_od_stmt *st);
/* The logical type for ODBC's SQL type and the server's name of the type. */
uint8_t cnd_od_type(SQLSMALLINT sql_type, const char *type_name, int is_unsigned);

/* values.c */
/* Write the cursor's current row. */
int cnd_od_put_row(
	struct cnd_session *s, const struct cnd_od_stmt *st, struct cnc_batch *batch);
/* Write a value that the driver returned as text, in the requested form. */
int cnd_od_put_text(
	struct cnc_batch *w, uint8_t type, uint8_t format, const char *p, size_t n);
/* Read one column of the row into s->value, as UTF-8 or bytes. CENOTE_DONE: NULL. */
int cnd_od_read_value(struct cnd_session *s, SQLHSTMT handle, SQLUSMALLINT column,
	SQLSMALLINT c_type, struct cnp_str *ret_value);

/* params.c */
int cnd_od_bind(struct cnd_session *s, struct cnd_od_stmt *st,
	const struct cnd_exec *exec, const struct cnd_od_long *longs);
void cnd_od_unbind(struct cnd_session *s, struct cnd_od_stmt *st);
/* After SQL_NEED_DATA: send the values bound as data at execution. Returns SQLParamData()'s last code. */
SQLRETURN cnd_od_send_data(struct cnd_od_stmt *st);

/* call.c */
/* Find out which parameters of the prepared call return values. */
int cnd_od_call_directions(
	struct cnd_session *s, struct cnd_od_stmt *st, const char *sql, size_t len);
int cnd_od_has_output(const struct cnd_od_stmt *st);
/* Send the output values as a separate result. */
int cnd_od_put_output(struct cnd_session *s, struct cnd_od_stmt *st, uint8_t format,
	struct cnd_sink *sink);

/* exec.c */
int cnd_od_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_od_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink);
int cnd_od_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink);
void cnd_od_close_portal(struct cnd_session *s, struct cnd_portal *portal);
void cnd_od_close_portals(struct cnd_session *s);

/* tx.c */
int cnd_od_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink);
int cnd_od_commit(struct cnd_session *s, struct cnd_sink *sink);
int cnd_od_rollback(struct cnd_session *s, struct cnd_sink *sink);
int cnd_od_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink);
int cnd_od_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink);
/* Carry out a statement that begins or ends a transaction by ODBC calls, if possible. CENOTE_DONE: it is done;
 * CENOTE_OK: run the statement. */
int cnd_od_tx_statement(struct cnd_session *s, const struct cnd_od_scan *scan);
/* Call it after each statement. */
void cnd_od_after_statement(
	struct cnd_session *s, const struct cnd_od_scan *scan, int has_failed);
/* End the transaction, and switch autocommit on. */
int cnd_od_end_tx(struct cnd_session *s, SQLSMALLINT how);

/* catalog.c */
int cnd_od_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink);

/* errors.c */
/* Begin a request, and set where its errors and notices go. CENOTE_ERR_CONN if the session is lost. */
int cnd_od_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink);
/* A driver's function failed: report its diagnostics. CENOTE_ERR_SERVER, CENOTE_ERR_CONN, or the answer of
 * interrupted(). */
int cnd_od_fail(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle);
/* A driver's function returned SQL_SUCCESS_WITH_INFO: send notices. */
int cnd_od_notices(struct cnd_session *s, SQLSMALLINT kind, SQLHANDLE handle);

#endif
