/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ODBC_H
#define COD_ODBC_H

/*
 * The driver's handles, and the functions that the files share. face.c and face_w.c export the
 * functions of ODBC. Each checks and locks its handle (call.c) and calls one of the cod_...()
 * functions below, with all texts in UTF-8. Code that needs no handles has its own headers: values
 * (convert.h), SQL (escape.h), types (types.h), the catalog (catalog.h), information (info.h), text
 * (unicode.h), rows (rows.h), diagnostics (diag.h) and connection strings (settings.h).
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include <cenote/cenote.h>

#include "catalog.h"
#include "convert.h"
#include "diag.h"
#include "escape.h"
#include "rows.h"
#include "settings.h"
#include "types.h"
#include "unicode.h"

/* Marks a handle that is in use. */
#define COD_TAG 0xc0de0dbcu

#define COD_COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum cod_kind {
	COD_ENV = SQL_HANDLE_ENV,
	COD_DBC = SQL_HANDLE_DBC,
	COD_STMT = SQL_HANDLE_STMT,
	COD_DESC = SQL_HANDLE_DESC
};

/* The beginning of every handle. */
struct cod_head {
	uint32_t tag; /* COD_TAG; anything else is not a handle, or a freed one */
	enum cod_kind kind;
	/* The lock of the environment or of the connection. The statements and descriptors of a
	 * connection share its lock, as they share its session. */
	pthread_mutex_t *lock;
	/* the reporter in errors of the data source: "PostgreSQL" */
	const char *component;
	struct cod_diag diag;
	/* A cancel from another thread could not be sent. That thread has no lock, so the next one
	 * that reads diagnostics makes the record. */
	atomic_bool is_cancel_lost;
};

struct cod_env {
	struct cod_head head;
	pthread_mutex_t mutex;
	SQLINTEGER odbc_version; /* 0: not set yet */
	SQLINTEGER pooling, pool_match;
	struct cod_dbc *dbcs;
};

/* ------------------------------------------------------------- descriptors ----- */

enum cod_role {
	COD_APD,
	COD_IPD,
	COD_ARD,
	COD_IRD,
	COD_N_ROLES,
	COD_EXPLICIT = COD_N_ROLES /* an APD or ARD that the application allocated */
};

/* A record of an application's descriptor or of an IPD. */
struct cod_record {
	SQLSMALLINT type, concise, sub; /* verbose, concise, datetime or interval code */
	SQLINTEGER leading; /* for intervals */
	SQLULEN length;
	SQLSMALLINT precision, scale;
	SQLINTEGER radix;
	SQLPOINTER data;
	SQLLEN octet_length;
	SQLLEN *octets, *indicator;
	/* IPD */
	SQLSMALLINT param_type;
	SQLSMALLINT nullable;
	char *name; /* NULL: none */
};

struct cod_desc {
	struct cod_head head;
	struct cod_dbc *dbc;
	struct cod_desc *next; /* in the connection's list of explicit descriptors */
	enum cod_role role;
	struct cod_stmt *stmt; /* the statement whose implicit descriptor it is; NULL */
	SQLULEN array_size;
	SQLUSMALLINT *array_status;
	SQLLEN *bind_offset;
	SQLINTEGER bind_type;
	SQLULEN *rows_processed;
	/* records[0] is for the bookmark. An IRD uses the statement's columns instead. */
	SQLSMALLINT count;
	struct cod_record *records;
	SQLSMALLINT room;
};

/* -------------------------------------------------------------- statements ----- */

/* Attributes of a statement that are a number. A connection has defaults for them. */
enum cod_stmt_attr {
	COD_ASYNC_ENABLE,
	COD_CONCURRENCY,
	COD_CURSOR_SCROLLABLE,
	COD_CURSOR_SENSITIVITY,
	COD_CURSOR_TYPE,
	COD_ENABLE_AUTO_IPD,
	COD_KEYSET_SIZE,
	COD_MAX_LENGTH,
	COD_MAX_ROWS,
	COD_METADATA_ID,
	COD_NOSCAN,
	COD_QUERY_TIMEOUT,
	COD_RETRIEVE_DATA,
	COD_SIMULATE_CURSOR,
	COD_USE_BOOKMARKS,
	COD_N_STMT_ATTRS
};

/*
 * The rows of a statement's current result, numbered from 0. `rows` holds those from `first`. In a
 * streamed result that is a batch, and the next batch replaces it. Rows that must outlive their
 * batch are copied into `kept`.
 */
struct cod_cursor {
	bool is_open;
	bool is_streamed; /* more rows may come from `result` */
	cenote_result *result; /* NULL: the driver made the rows */
	const uint8_t *const *rows;
	uint64_t first, n;
	uint32_t n_columns;
	struct cod_rows kept;
	uint64_t kept_first; /* number of kept.rows[0] */
	/* The application's position. */
	int64_t at; /* first row of the rowset; -1 before the first */
	uint64_t size; /* rows in the rowset; 0: none */
	/* size of the last rowset as the application asked for it; at the end, fewer rows come */
	uint64_t asked;
	uint64_t current; /* row of the rowset for SQLGetData(), from 0 */
	bool is_after_end;
	/* The state of SQLGetData(). */
	SQLUSMALLINT column;
	SQLSMALLINT c_type;
	struct cod_piece piece;
};

/* A value that the application gave at execution instead of binding it. */
struct cod_given {
	char *bytes;
	size_t n;
	bool is_null;
};

/* Data at execution: the parameter or column that the application gives now, and its value
 * so far. */
struct cod_pending {
	SQLUSMALLINT function; /* the function that returned SQL_NEED_DATA; 0: none */
	bool is_asked; /* SQLParamData() named it: SQLPutData() comes next */
	bool is_given; /* SQLPutData() was called */
	bool is_null;
	SQLULEN row; /* index of the set of parameters, or of the row */
	SQLUSMALLINT item; /* parameter or column, from 1; 0 before the first */
	char *bytes;
	size_t n, room;
	/* Values of this row that are complete. */
	struct cod_given *given;
	size_t n_given;
};

/* A call of SQLSetPos() or SQLBulkOperations() that is not finished. */
struct cod_change {
	SQLUSMALLINT function;
	SQLUSMALLINT kind; /* SQL_UPDATE, SQL_DELETE, SQL_ADD, SQL_REFRESH */
	bool by_bookmark;
	bool is_array; /* the application's array of operations may leave out rows */
	SQLULEN row, end; /* indexes into the buffers */
	SQLULEN n_done, n_failed;
	bool has_warning;
};

/* An execution that is not finished: one request for each set of parameters. */
struct cod_execution {
	bool is_running; /* a request was sent, and its answer has not been taken */
	SQLUSMALLINT function; /* SQLExecute(), SQLExecDirect() */
	bool is_array;
	SQLULEN set; /* the current set of parameters */
	SQLULEN n_done, n_failed;
	bool has_warning;
	SQLLEN affected; /* rows that all sets changed */
	/* SQL_ATTR_QUERY_TIMEOUT for all sets together; 0: not set yet */
	uint64_t deadline_ms;
	cenote_params *params;
};

struct cod_later; /* results that another statement pushed into memory (later.c) */

struct cod_stmt {
	struct cod_head head;
	struct cod_dbc *dbc;
	struct cod_stmt *next;
	SQLULEN attrs[COD_N_STMT_ATTRS];
	SQLPOINTER fetch_bookmark;
	struct cod_desc implicit[COD_N_ROLES];
	struct cod_desc *desc[COD_N_ROLES];
	char *cursor_name; /* NULL: neither set nor asked for */

	char *source; /* the application's text; NULL: there is none */
	struct cod_statement sql; /* the text for the server */
	bool is_prepared; /* SQLPrepare() was called */
	/* the prepared statement; the server may not have it yet; NULL */
	cenote_stmt *handle;
	bool is_described; /* the server has described `handle` */

	/* The columns of the result or of the prepared statement, which the IRD shows. The texts
	 * belong to the result or the statement handle. */
	bool has_columns; /* else the server must describe them */
	struct cod_column *columns;
	SQLUSMALLINT n_columns;
	bool has_origins; /* the origins of columns are known, or cannot be known */
	bool has_nullability; /* the driver has asked which columns can be NULL */
	/* the answer about origins, which owns the columns' texts; NULL */
	cenote_result *origins;
	SQLLEN row_count;
	struct cod_cursor cursor;
	struct cod_later *later;
	struct cod_execution exec;
	struct cod_pending pending;
	struct cod_change change;
	SQLUSMALLINT async; /* the function that returned SQL_STILL_EXECUTING; 0: none */
	atomic_bool is_cancelled; /* SQLCancel() was called while it ran */
	uint64_t deadline_ms; /* SQL_ATTR_QUERY_TIMEOUT; 0: none */
	bool is_timed_out;
	/* how to find the result's rows again, for SQLSetPos(); NULL: not known yet */
	struct cod_keys *keys;
};

/* ------------------------------------------------------------- connections ----- */

struct cod_dbc {
	struct cod_head head;
	pthread_mutex_t mutex;
	struct cod_env *env;
	struct cod_dbc *next; /* in the environment's list */
	struct cod_settings settings;
	cenote_conn *conn; /* NULL: there is no connection */
	bool is_browsing; /* SQLBrowseConnect() has asked for more attributes */
	struct cod_type_options types;
	struct cod_fact *facts; /* which columns are NOT NULL (nullable.c) */
	size_t n_facts;
	enum cod_dialect dialect;
	bool has_no_backslash; /* MySQL's session has NO_BACKSLASH_ESCAPES */
	struct cod_stmt *stmts;
	struct cod_desc *descs;
	struct cod_stmt *owner; /* the statement whose results are still on their way */
	unsigned n_cursors; /* how many names the driver has made up */

	/* The only lock that SQLCancel() takes, and the members that it protects. */
	pthread_mutex_t cancel_mutex;
	cenote_cancel *cancel;
	struct cod_stmt *running;

	SQLUINTEGER autocommit, access_mode, isolation;
	SQLUINTEGER login_timeout, connection_timeout, packet_size;
	SQLUINTEGER odbc_cursors;
	SQLULEN quiet_mode; /* a window, as a number */
	SQLULEN stmt_attrs[COD_N_STMT_ATTRS];
	char *catalog; /* SQL_ATTR_CURRENT_CATALOG, if set before connecting */
};

/* ------------------------------------------------------------------- call.c ----- */

/* A text argument, as UTF-8. */
struct cod_text {
	const char *text; /* NULL: the argument was a null pointer */
	size_t n;
	bool is_cut; /* the argument was longer and contained a zero */
};

#define COD_TEXTS_MAX 6

/* One call of an ODBC function. */
struct cod_call {
	struct cod_head *head;
	SQLRETURN ret;
	bool keeps_diag;
	char *texts[COD_TEXTS_MAX];
	size_t n_texts;
};

/* Check that `handle` is of that kind, lock it and clear its diagnostics. False: the call has
 * failed. */
bool cod_enter(
	struct cod_call *call, SQLHANDLE handle, enum cod_kind kind, SQLUSMALLINT id);
/* Like cod_enter(), for functions that read diagnostics: the diagnostics stay. */
bool cod_enter_diag(struct cod_call *call, SQLHANDLE handle, SQLSMALLINT kind);
SQLRETURN cod_leave(struct cod_call *call);
/* Convert a text argument. It lives until cod_leave(). With a bad length, or without memory, the
 * call fails. */
struct cod_text cod_call_text(
	struct cod_call *call, const void *text, SQLLEN n, bool is_wide);
bool cod_is_handle(SQLHANDLE handle, enum cod_kind kind);
/* A statement that uses the descriptor waits for data or still runs: nothing may change the descriptor. */
bool cod_desc_is_busy(const struct cod_desc *desc);

/* Where a text result goes. Lengths are in bytes, or in characters of the buffer's width. */
struct cod_sink {
	struct cod_out out;
	bool in_units;
	SQLSMALLINT *length16;
	SQLINTEGER *length32;
};
struct cod_sink cod_sink16(
	SQLPOINTER to, SQLLEN room, SQLSMALLINT *length, bool is_wide, bool in_units);
struct cod_sink cod_sink32(
	SQLPOINTER to, SQLLEN room, SQLINTEGER *length, bool is_wide, bool in_units);
/* SQL_SUCCESS; SQL_SUCCESS_WITH_INFO and 01004; SQL_ERROR and HY090. `text` NULL means "". */
SQLRETURN cod_give(struct cod_head *head, const struct cod_sink *sink, const char *text);
SQLRETURN cod_give_n(
	struct cod_head *head, const struct cod_sink *sink, const char *text, size_t n);
/* Like cod_give(), but add no record; for functions that read diagnostics. */
SQLRETURN cod_give_quietly(const struct cod_sink *sink, const char *text);

/* Add a record. Errors return SQL_ERROR, warnings SQL_SUCCESS_WITH_INFO. */
SQLRETURN cod_fail(struct cod_head *head, const char *sqlstate);
SQLRETURN cod_fail_text(struct cod_head *head, const char *sqlstate, const char *text);
SQLRETURN cod_warn(struct cod_head *head, const char *sqlstate);
/* Add an error or a warning, depending on the SQLSTATE. NULL: SQL_SUCCESS. */
SQLRETURN cod_tell(
	struct cod_head *head, const struct cod_diag_where *where, const char *sqlstate);
/* The message with the server's detail and hint on lines of their own; the caller frees it. NULL:
 * no memory. */
char *cod_diag_text(const cenote_diag *diag, const char *before, const char *message);
/* Add the error of libcenote for a status < 0. */
SQLRETURN cod_fail_cenote(struct cod_head *head, const struct cod_diag_where *where,
	const cenote_diag *diag, int status);
/* The worse of two return codes. */
SQLRETURN cod_worse(SQLRETURN a, SQLRETURN b);
/* The return code for several rows or sets of parameters together. */
SQLRETURN cod_outcome(SQLULEN n_done, SQLULEN n_failed, bool has_warning);
char *cod_strdup(const char *text, size_t n);

/* ------------------------------------------------------- handle.c, env.c ----- */

SQLRETURN cod_alloc_env(SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_dbc(struct cod_env *env, SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_stmt(struct cod_dbc *dbc, SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_desc(struct cod_dbc *dbc, SQLHANDLE *ret_handle);
SQLRETURN cod_free_handle(SQLSMALLINT kind, SQLHANDLE handle);
/* Free all statements and descriptors of a connection that ends. */
void cod_free_children(struct cod_dbc *dbc);

SQLRETURN cod_set_env_attr(struct cod_env *env, SQLINTEGER attr, SQLPOINTER value);
SQLRETURN cod_get_env_attr(
	struct cod_env *env, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER *length);
SQLRETURN cod_get_functions(
	struct cod_dbc *dbc, SQLUSMALLINT id, SQLUSMALLINT *supported);

/* diag_get.c */
SQLRETURN cod_get_diag_rec(const struct cod_head *head, SQLSMALLINT i,
	const struct cod_sink *state, SQLINTEGER *native, const struct cod_sink *message);
SQLRETURN cod_get_diag_field(const struct cod_head *head, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER value, const struct cod_sink *sink);

/* ------------------------------------------------ connect.c, dbc_attr.c, transaction.c ----- */

/* is_wide: the program called the wide function. A driver manager calls all functions in that
 * width. */
SQLRETURN cod_connect(struct cod_dbc *dbc, struct cod_text dsn, struct cod_text user,
	struct cod_text password, bool is_wide);
SQLRETURN cod_driver_connect(struct cod_dbc *dbc, struct cod_text in,
	const struct cod_sink *out, SQLUSMALLINT completion, bool is_wide);
SQLRETURN cod_browse_connect(struct cod_dbc *dbc, struct cod_text in,
	const struct cod_sink *out, bool is_wide);
SQLRETURN cod_disconnect(struct cod_dbc *dbc);

SQLRETURN cod_set_connect_attr(struct cod_dbc *dbc, SQLINTEGER attr, SQLPOINTER value,
	SQLINTEGER n, bool is_wide);
SQLRETURN cod_get_connect_attr(struct cod_dbc *dbc, SQLINTEGER attr, SQLPOINTER value,
	const struct cod_sink *sink);
/* Apply to a new session the attributes that were set before it existed. */
SQLRETURN cod_apply_attrs(struct cod_dbc *dbc);
SQLRETURN cod_get_info(struct cod_dbc *dbc, SQLUSMALLINT id, SQLPOINTER value,
	const struct cod_sink *sink);
SQLRETURN cod_native_sql(
	struct cod_dbc *dbc, struct cod_text sql, const struct cod_sink *out);

SQLRETURN cod_end_tran(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT completion);

/* ------------------------------------------------------- desc.c, desc_field.c ----- */

void cod_desc_init(struct cod_desc *desc, struct cod_dbc *dbc, enum cod_role role);
void cod_desc_finish(struct cod_desc *desc);
void cod_desc_unlink(struct cod_desc *desc);
/* Get a record, and make it if it is missing. NULL: no memory. */
struct cod_record *cod_desc_need(struct cod_desc *desc, SQLSMALLINT i);
/* NULL: there is no such record. */
struct cod_record *cod_desc_record(const struct cod_desc *desc, SQLSMALLINT i);
void cod_desc_set_count(struct cod_desc *desc, SQLSMALLINT count);
/* Set the type and the fields that depend on it. False: there is no such type. */
bool cod_record_set_type(struct cod_record *record, SQLSMALLINT concise, bool is_c);
/* The address of a value of row or set `i`. */
void *cod_desc_at(const struct cod_desc *desc, void *base, SQLULEN i, SQLLEN octets);

SQLRETURN cod_get_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER value, const struct cod_sink *sink);
SQLRETURN cod_set_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER value, SQLINTEGER n, bool is_wide);
/* Where SQLGetDescRec() puts numbers. NULL: the application does not want that number. */
struct cod_desc_numbers {
	SQLSMALLINT *type, *sub, *precision, *scale, *nullable;
	SQLLEN *length;
};
SQLRETURN cod_get_desc_rec(struct cod_desc *desc, SQLSMALLINT i,
	const struct cod_sink *name, const struct cod_desc_numbers *to);
SQLRETURN cod_set_desc_rec(
	struct cod_desc *desc, SQLSMALLINT i, const struct cod_record *record);
SQLRETURN cod_copy_desc(SQLHDESC source, SQLHDESC target);
/* A field of a column, for SQLColAttribute() and IRDs: true, and either a text or a number. */
bool cod_column_field(const struct cod_stmt *stmt, const struct cod_column *column,
	SQLSMALLINT id, const char **ret_text, SQLLEN *ret_number);

/* ----------------------------------------------------------------- stmt_attr.c ----- */

SQLRETURN cod_set_stmt_attr(
	struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n);
SQLRETURN cod_get_stmt_attr(
	struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER *length);
/* The connection's default for its statements. False: there is no such attribute. */
bool cod_set_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN value);
bool cod_get_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN *ret_value);
void cod_stmt_attr_defaults(SQLULEN attrs[COD_N_STMT_ATTRS]);
SQLRETURN cod_get_cursor_name(struct cod_stmt *stmt, const struct cod_sink *name);
SQLRETURN cod_set_cursor_name(struct cod_stmt *stmt, struct cod_text name);

/* ----------------------------------------- statement.c, describe.c, origin.c, nullable.c ----- */

SQLRETURN cod_prepare(struct cod_stmt *stmt, struct cod_text sql);
SQLRETURN cod_free_stmt(struct cod_stmt *stmt, SQLUSMALLINT option);
SQLRETURN cod_close_cursor(struct cod_stmt *stmt);
/* Forget the result, the prepared statement and the columns. */
void cod_stmt_forget(struct cod_stmt *stmt);
void cod_stmt_close(struct cod_stmt *stmt);
void cod_execution_finish(struct cod_stmt *stmt);
/* Set the statement's text, for SQLPrepare() and SQLExecDirect(). */
SQLRETURN cod_stmt_set_sql(struct cod_stmt *stmt, struct cod_text sql);
/* Whether the session reads a backslash in the way that is unusual for its server. The other two
 * learn that from a new session, and from a command's result. */
bool cod_is_backslash_odd(const struct cod_dbc *dbc);
void cod_backslash_begin(struct cod_dbc *dbc);
void cod_backslash_follow(struct cod_dbc *dbc, const cenote_result *result);
/* Call before preparing. It translates a function call again if parameters have become output
 * parameters, which are not arguments. */
SQLRETURN cod_stmt_fit_call(struct cod_stmt *stmt);

/* Prepare the statement at the server. */
SQLRETURN cod_need_handle(struct cod_stmt *stmt);
/* Learn the columns. It asks the server if it must. */
SQLRETURN cod_describe(struct cod_stmt *stmt);
SQLRETURN cod_columns_of_handle(struct cod_stmt *stmt);
SQLRETURN cod_columns_of_result(struct cod_stmt *stmt, const cenote_result *result);
void cod_columns_drop(struct cod_stmt *stmt);
/* Complete the facts about the columns as far as possible, before the application asks for this
 * field. */
void cod_origins_learn(struct cod_stmt *stmt, SQLSMALLINT field);
/* Learn whether the columns can be NULL. Some may stay unknown. */
void cod_nullable_learn(struct cod_stmt *stmt);
/* After a command with this tag, which may have changed tables: forget what is known about them. */
void cod_nullable_changed(struct cod_dbc *dbc, const char *tag);
void cod_nullable_forget(struct cod_dbc *dbc);
SQLRETURN cod_num_result_cols(struct cod_stmt *stmt, SQLSMALLINT *ret_n);
SQLRETURN cod_describe_col(struct cod_stmt *stmt, SQLUSMALLINT col,
	const struct cod_sink *name, SQLSMALLINT *type, SQLULEN *size,
	SQLSMALLINT *digits, SQLSMALLINT *nullable);
SQLRETURN cod_col_attribute(struct cod_stmt *stmt, SQLUSMALLINT col, SQLUSMALLINT id,
	const struct cod_sink *text, SQLLEN *number);
SQLRETURN cod_row_count(struct cod_stmt *stmt, SQLLEN *ret_n);
SQLRETURN cod_num_params(struct cod_stmt *stmt, SQLSMALLINT *ret_n);
SQLRETURN cod_describe_param(struct cod_stmt *stmt, SQLUSMALLINT i, SQLSMALLINT *type,
	SQLULEN *size, SQLSMALLINT *digits, SQLSMALLINT *nullable);

/* ------------------------------------------------------------ run.c, later.c ----- */

/*
 * Requests. The results of a request may still arrive while the application reads them. Until it
 * has taken all, the statement owns the connection. Before another request, call cod_settle(): it
 * reads the rest into the owner's memory.
 */
int cod_settle(struct cod_dbc *dbc);
/* Like cod_settle(), and also for all cursors whose rows the server would forget at the end of a
 * transaction. */
int cod_settle_all(struct cod_dbc *dbc);

/* Call them before cenote_send_...() (and after cod_settle()), after it, and at the end of the
 * request. They serve SQLCancel() and the time limit. */
void cod_request_begin(struct cod_stmt *stmt);
void cod_request_sent(struct cod_stmt *stmt);
void cod_request_end(struct cod_stmt *stmt);
/* Whether the statement's rows come in batches. Arrays of parameters do not use batches. */
bool cod_is_streamed(const struct cod_stmt *stmt);
/* Send the statement with the current set of parameters. */
int cod_send_request(struct cod_stmt *stmt);
/* Whether the last request was cancelled or took too long. */
bool cod_is_stopped(const struct cod_stmt *stmt);
/* Also stop the next of several requests. */
void cod_stop_next(struct cod_stmt *stmt);
/* The end of a result was read. Check whether it was the last one. */
void cod_result_over(struct cod_stmt *stmt, uint32_t flags);

/* Wait for the next result of the request. CENOTE_OK, CENOTE_DONE, an error, or CENOTE_AGAIN if
 * may_poll is set and the statement is asynchronous. */
int cod_wait_result(struct cod_stmt *stmt, bool may_poll, cenote_result **ret_result);
/* Wait for the next batch of a streamed result. Never CENOTE_AGAIN. */
int cod_wait_batch(struct cod_stmt *stmt, cenote_result *result);
/* Returns SQL_ERROR. A timeout and a cancel have their own SQLSTATEs. */
SQLRETURN cod_request_failed(struct cod_stmt *stmt, const struct cod_diag_where *where,
	const cenote_diag *diag, int status);

SQLRETURN cod_cancel_handle(SQLSMALLINT kind, SQLHANDLE handle);

void cod_later_clear(struct cod_stmt *stmt);
int cod_later_add(struct cod_stmt *stmt, cenote_result *result);
cenote_result *cod_later_take(struct cod_stmt *stmt);

/* ------------------------------------------- execute.c, array.c, param.c, pending.c ----- */

SQLRETURN cod_execute(struct cod_stmt *stmt);
SQLRETURN cod_exec_direct(struct cod_stmt *stmt, struct cod_text sql);
SQLRETURN cod_execution_go_on(struct cod_stmt *stmt);
SQLRETURN cod_more_results(struct cod_stmt *stmt);
/* array.c. The position of the current set in diagnostics. */
struct cod_diag_where cod_array_here(const struct cod_stmt *stmt);
/* Whether the application leaves the current set out. */
bool cod_array_is_ignored(const struct cod_stmt *stmt);
/* Record the return of the current set (SQL_NO_DATA: left out), and go on to the next. */
void cod_array_count(struct cod_stmt *stmt, SQLRETURN ret);
/* Mark the current set and all after it as not executed. */
void cod_array_give_up(struct cod_stmt *stmt);
/* Whether the driver can send the current set and its followers together; and send them. */
bool cod_array_can_send(const struct cod_stmt *stmt);
void cod_array_send(struct cod_stmt *stmt);

SQLRETURN cod_bind_parameter(struct cod_stmt *stmt, SQLUSMALLINT i,
	SQLSMALLINT param_type, SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size,
	SQLSMALLINT digits, SQLPOINTER data, SQLLEN room, SQLLEN *length);
/* Read the values of one set of parameters. Data at execution comes from the values that the
 * application gave. */
SQLRETURN cod_params_read(struct cod_stmt *stmt, SQLULEN set, cenote_params *params);
/* Append one value, as the two records describe it, of row `set`. NULL or an SQLSTATE. */
const char *cod_param_put(struct cod_stmt *stmt, const struct cod_desc *apd,
	const struct cod_record *application, const struct cod_record *implementation,
	SQLULEN set, const struct cod_given *given, cenote_params *params);
/* Whether the server gets parameter i: not the return value of a function, and not an output
 * parameter. */
bool cod_is_sent(const struct cod_stmt *stmt, SQLSMALLINT i);
/* Whether the statement has output parameters. */
bool cod_has_output(const struct cod_stmt *stmt);
/* Write output parameters from the first row of the open cursor. */
SQLRETURN cod_params_write(struct cod_stmt *stmt);
/* Whether parameter (or bound column) i of that row is data at execution. */
bool cod_is_at_execution(const struct cod_desc *desc, SQLSMALLINT i, SQLULEN row);

SQLRETURN cod_param_data(struct cod_stmt *stmt, SQLPOINTER *ret_value);
SQLRETURN cod_put_data(struct cod_stmt *stmt, SQLPOINTER data, SQLLEN n);
/* Take the value that was put, and ask for the next one: SQL_NEED_DATA. SQL_SUCCESS: the
 * application gave all. */
SQLRETURN cod_pending_next(struct cod_stmt *stmt, SQLPOINTER *ret_value);
SQLRETURN cod_pending_begin(
	struct cod_stmt *stmt, SQLUSMALLINT function, SQLULEN row, size_t n_items);
void cod_pending_clear(struct cod_stmt *stmt);

/* ----------------------------------------------------- cursor.c, fetch.c, getdata.c ----- */

void cod_cursor_close(struct cod_stmt *stmt);
SQLRETURN cod_cursor_open(struct cod_stmt *stmt, cenote_result *result, bool is_streamed);
SQLRETURN cod_cursor_open_own(
	struct cod_stmt *stmt, struct cod_rows *rows, struct cod_column *columns);
/* Bring rows [first, first + n) into memory. *ret_n: how many of them exist. */
SQLRETURN cod_cursor_need(
	struct cod_stmt *stmt, uint64_t first, uint64_t n, uint64_t *ret_n);
/* The number of rows, if all are known, as in a scrollable cursor. */
uint64_t cod_cursor_total(const struct cod_cursor *cursor);
const uint8_t *cod_cursor_row(const struct cod_cursor *cursor, uint64_t i);
/* Read the rest of the rows into memory. */
int cod_cursor_keep(struct cod_stmt *stmt);

SQLRETURN cod_bind_col(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type,
	SQLPOINTER data, SQLLEN room, SQLLEN *length);
SQLRETURN cod_fetch_scroll(struct cod_stmt *stmt, SQLSMALLINT orientation, SQLLEN offset);
SQLRETURN cod_extended_fetch(struct cod_stmt *stmt, SQLUSMALLINT orientation,
	SQLLEN offset, SQLULEN *ret_n, SQLUSMALLINT *status);
SQLRETURN cod_get_data(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type,
	SQLPOINTER data, SQLLEN room, SQLLEN *length);
/* Put row `number` of the cursor into the bound columns, as row i of the buffers. */
SQLRETURN cod_fetch_row(struct cod_stmt *stmt, uint64_t number, SQLULEN i);
/* The buffers for row i of the rowset. */
void cod_target_of(const struct cod_desc *ard, const struct cod_record *record, SQLULEN i,
	struct cod_target *ret_target);
void cod_column_value(const struct cod_stmt *stmt, const uint8_t *row, SQLUSMALLINT col,
	struct cod_value *ret_value);

/* ---------------------------------------------------------- position.c, catalog_call.c ----- */

SQLRETURN cod_set_pos(struct cod_stmt *stmt, SQLSETPOSIROW row, SQLUSMALLINT operation,
	SQLUSMALLINT lock);
SQLRETURN cod_bulk_operations(struct cod_stmt *stmt, SQLSMALLINT operation);
SQLRETURN cod_position_go_on(struct cod_stmt *stmt);
void cod_keys_forget(struct cod_stmt *stmt);

/* Carry out a catalog function. */
SQLRETURN cod_ask_catalog(struct cod_stmt *stmt, struct cod_catalog_args *args);

#endif
