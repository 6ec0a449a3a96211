/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ODBC_H
#define COD_ODBC_H

/*
 * The driver's handles, and which file has what. face.c and face_w.c export the functions of ODBC;
 * each checks and locks its handle (call.c) and calls one cod_NAME() of what follows, all texts UTF-8.
 * What knows nothing of handles has headers of its own: values (convert.h), SQL (escape.h), types
 * (types.h), the catalog (catalog.h), information (info.h), text (unicode.h), rows (rows.h),
 * diagnostics (diag.h), connection strings (settings.h).
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

/* Of a handle that is in use. */
#define COD_TAG 0xc0de0dbcu

#define COD_COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum cod_kind {
	COD_ENV = SQL_HANDLE_ENV,
	COD_DBC = SQL_HANDLE_DBC,
	COD_STMT = SQL_HANDLE_STMT,
	COD_DESC = SQL_HANDLE_DESC
};

/* What every handle begins with. */
struct cod_head {
	uint32_t tag; /* tells a handle from what is none, or not any more */
	enum cod_kind kind;
	/* The environment's, or the connection's: its statements and descriptors share it, as
	 * they share its session. */
	pthread_mutex_t *lock;
	const char *component; /* who speaks in errors of the data source: "PostgreSQL" */
	struct cod_diag diag;
	/* A cancel from another thread could not be sent: a record that is yet to be made, since that
	 * thread has no lock. */
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
	COD_EXPLICIT = COD_N_ROLES /* allocated by the application: an APD or ARD */
};

/* A record of an application's descriptor, or of an IPD. */
struct cod_record {
	SQLSMALLINT type, concise, sub; /* verbose, concise, datetime or interval code */
	SQLINTEGER leading; /* of intervals */
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
	struct cod_desc *next; /* of the connection's explicit ones */
	enum cod_role role;
	struct cod_stmt *stmt; /* whose implicit one it is; NULL */
	SQLULEN array_size;
	SQLUSMALLINT *array_status;
	SQLLEN *bind_offset;
	SQLINTEGER bind_type;
	SQLULEN *rows_processed;
	/* records[0] is the bookmark's. An IRD has the statement's columns instead. */
	SQLSMALLINT count;
	struct cod_record *records;
	SQLSMALLINT room;
};

/* -------------------------------------------------------------- statements ----- */

/* Attributes of a statement that are a number, and of which a connection has the defaults. */
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
 * The rows of a statement's present result, numbered from 0. Those in hand are the ones from `first`:
 * of a result that is streamed a batch, which the next one replaces. What has to outlive its batch is
 * copied into `kept`.
 */
struct cod_cursor {
	bool is_open;
	bool is_streamed; /* more may come: `result` has to be asked */
	cenote_result *result; /* NULL: the driver's own rows */
	const uint8_t *const *rows;
	uint64_t first, n;
	uint32_t n_columns;
	struct cod_rows kept;
	uint64_t kept_first; /* number of kept.rows[0] */
	/* Where the application is. */
	int64_t at; /* first row of the rowset; -1 before the first */
	uint64_t size; /* rows in the rowset; 0: none */
	uint64_t
		asked; /* rows that the last rowset was asked for: its size, but for the end */
	uint64_t current; /* row of the rowset that SQLGetData() reads, from 0 */
	bool is_after_end;
	/* SQLGetData() */
	SQLUSMALLINT column;
	SQLSMALLINT c_type;
	struct cod_piece piece;
};

/* A value as it would have been bound. */
struct cod_given {
	char *bytes;
	size_t n;
	bool is_null;
};

/* Data at execution: which parameter is being given, and what of it. */
struct cod_pending {
	SQLUSMALLINT function; /* the one that returned SQL_NEED_DATA; 0: none */
	bool is_asked; /* SQLParamData() named it: SQLPutData() is due */
	bool is_given; /* something was put */
	bool is_null;
	SQLULEN row; /* set of parameters, or row */
	SQLUSMALLINT item; /* parameter or column, from 1; 0 before the first */
	char *bytes;
	size_t n, room;
	/* What was given already, of this row. */
	struct cod_given *given;
	size_t n_given;
};

/* SQLSetPos() or SQLBulkOperations() under way. */
struct cod_change {
	SQLUSMALLINT function;
	SQLUSMALLINT kind; /* SQL_UPDATE, SQL_DELETE, SQL_ADD, SQL_REFRESH */
	bool by_bookmark;
	bool is_array; /* rows may be left out, by the array of operations */
	SQLULEN row, end; /* of the buffers */
	SQLULEN n_done, n_failed;
	bool has_warning;
};

/* An execution under way: one request for each set of parameters. */
struct cod_execution {
	bool is_running; /* a request was sent, and is to be answered (asynchronously) */
	SQLUSMALLINT function; /* SQLExecute(), SQLExecDirect() */
	bool is_array;
	SQLULEN set; /* the set of parameters it is at */
	SQLULEN n_done, n_failed;
	bool has_warning;
	SQLLEN affected; /* by all sets */
	uint64_t deadline_ms; /* SQL_ATTR_QUERY_TIMEOUT, of all sets; 0: none yet */
	cenote_params *params;
};

struct cod_later; /* results that had to be taken from the connection before their time */

struct cod_stmt {
	struct cod_head head;
	struct cod_dbc *dbc;
	struct cod_stmt *next;
	SQLULEN attrs[COD_N_STMT_ATTRS];
	SQLPOINTER fetch_bookmark;
	struct cod_desc implicit[COD_N_ROLES];
	struct cod_desc *desc[COD_N_ROLES];
	char *cursor_name; /* NULL: not asked for yet */

	char *source; /* the application's text; NULL: none */
	struct cod_statement sql; /* the server's */
	bool is_prepared; /* SQLPrepare() was called */
	cenote_stmt *handle; /* prepared at the server, or to be; NULL */
	bool is_described; /* `handle` knows its columns */

	/* Columns of the result, or of what was prepared: what the IRD shows. Their texts are the result's or
	 * the statement handle's. */
	bool has_columns; /* else they have to be asked for */
	struct cod_column *columns;
	SQLUSMALLINT n_columns;
	bool has_origins; /* where columns come from was asked for */
	bool has_nullability; /* it was looked up which columns can be NULL */
	cenote_result *origins; /* the answer, whose texts the columns have; NULL */
	SQLLEN row_count;
	struct cod_cursor cursor;
	struct cod_later *later;
	struct cod_execution exec;
	struct cod_pending pending;
	struct cod_change change;
	SQLUSMALLINT async; /* the function that returned SQL_STILL_EXECUTING; 0 */
	atomic_bool is_cancelled; /* by SQLCancel(), while it runs */
	uint64_t deadline_ms; /* SQL_ATTR_QUERY_TIMEOUT; 0: none */
	bool is_timed_out;
	struct cod_keys *keys; /* how its rows are found again, for SQLSetPos(); NULL */
};

/* ------------------------------------------------------------- connections ----- */

struct cod_dbc {
	struct cod_head head;
	pthread_mutex_t mutex;
	struct cod_env *env;
	struct cod_dbc *next; /* of the environment's */
	struct cod_settings settings;
	cenote_conn *conn; /* NULL: not connected */
	bool is_browsing; /* SQLBrowseConnect() asked for more */
	struct cod_type_options types;
	struct cod_fact *facts; /* which columns are NOT NULL (nullable.c) */
	size_t n_facts;
	enum cod_dialect dialect;
	bool has_no_backslash; /* MySQL's session has NO_BACKSLASH_ESCAPES */
	struct cod_stmt *stmts;
	struct cod_desc *descs;
	struct cod_stmt *owner; /* whose results are still on their way */
	unsigned n_cursors; /* names that were made */

	/* For SQLCancel(), which takes no lock but this. */
	pthread_mutex_t cancel_mutex;
	cenote_cancel *cancel;
	struct cod_stmt *running;

	SQLUINTEGER autocommit, access_mode, isolation;
	SQLUINTEGER login_timeout, connection_timeout, packet_size;
	SQLUINTEGER odbc_cursors;
	SQLULEN quiet_mode; /* a window, as a number */
	SQLULEN stmt_attrs[COD_N_STMT_ATTRS];
	char *catalog; /* SQL_ATTR_CURRENT_CATALOG, set before connecting */
};

/* ------------------------------------------------------------------- call.c ----- */

/* A text argument, as UTF-8. */
struct cod_text {
	const char *text; /* NULL: a null pointer */
	size_t n;
	bool is_cut; /* it was longer, and had a zero in it */
};

#define COD_TEXTS_MAX 6

/* One call of a function of ODBC. */
struct cod_call {
	struct cod_head *head;
	SQLRETURN ret;
	bool keeps_diag;
	char *texts[COD_TEXTS_MAX];
	size_t n_texts;
};

/* Whether it is a handle of that kind, then locked and without diagnostics. */
bool cod_enter(
	struct cod_call *call, SQLHANDLE handle, enum cod_kind kind, SQLUSMALLINT id);
/* The same for the functions that read diagnostics. */
bool cod_enter_diag(struct cod_call *call, SQLHANDLE handle, SQLSMALLINT kind);
SQLRETURN cod_leave(struct cod_call *call);
/* A text argument, kept until cod_leave(). Without memory, or with a length that is none, the call
 * has failed. */
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
/* SQL_SUCCESS; SQL_SUCCESS_WITH_INFO, 01004; SQL_ERROR, HY090. text NULL is "". */
SQLRETURN cod_give(struct cod_head *head, const struct cod_sink *sink, const char *text);
SQLRETURN cod_give_n(
	struct cod_head *head, const struct cod_sink *sink, const char *text, size_t n);
/* The same without a record of it: for the functions that read diagnostics. */
SQLRETURN cod_give_quietly(const struct cod_sink *sink, const char *text);

/* Errors, all SQL_ERROR, and warnings, SQL_SUCCESS_WITH_INFO. */
SQLRETURN cod_fail(struct cod_head *head, const char *sqlstate);
SQLRETURN cod_fail_text(struct cod_head *head, const char *sqlstate, const char *text);
SQLRETURN cod_warn(struct cod_head *head, const char *sqlstate);
/* Either, by the state; NULL: SQL_SUCCESS. */
SQLRETURN cod_tell(
	struct cod_head *head, const struct cod_diag_where *where, const char *sqlstate);
/* The message with the server's detail and hint on lines of their own; for free(). NULL: no memory. */
char *cod_diag_text(const cenote_diag *diag, const char *before, const char *message);
/* What libcenote says: status < 0. */
SQLRETURN cod_fail_cenote(struct cod_head *head, const struct cod_diag_where *where,
	const cenote_diag *diag, int status);
/* The worse of two returns. */
SQLRETURN cod_worse(SQLRETURN a, SQLRETURN b);
/* The return for several rows or sets of parameters together. */
SQLRETURN cod_outcome(SQLULEN n_done, SQLULEN n_failed, bool has_warning);
char *cod_strdup(const char *text, size_t n);

/* ------------------------------------------------------- handle.c, env.c ----- */

SQLRETURN cod_alloc_env(SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_dbc(struct cod_env *env, SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_stmt(struct cod_dbc *dbc, SQLHANDLE *ret_handle);
SQLRETURN cod_alloc_desc(struct cod_dbc *dbc, SQLHANDLE *ret_handle);
SQLRETURN cod_free_handle(SQLSMALLINT kind, SQLHANDLE handle);
/* Of a connection that ends, with all that hangs on it. */
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

/* is_wide: the program called the wide function. A driver manager calls all functions in that width. */
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
/* What was set before there was a session. */
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
/* A record, made if there is none; NULL: no memory. */
struct cod_record *cod_desc_need(struct cod_desc *desc, SQLSMALLINT i);
/* NULL: there is none such. */
struct cod_record *cod_desc_record(const struct cod_desc *desc, SQLSMALLINT i);
void cod_desc_set_count(struct cod_desc *desc, SQLSMALLINT count);
/* Set type, and what it implies. False: no such type. */
bool cod_record_set_type(struct cod_record *record, SQLSMALLINT concise, bool is_c);
/* Where a value of row or set `i` lies. */
void *cod_desc_at(const struct cod_desc *desc, void *base, SQLULEN i, SQLLEN octets);

SQLRETURN cod_get_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER value, const struct cod_sink *sink);
SQLRETURN cod_set_desc_field(struct cod_desc *desc, SQLSMALLINT i, SQLSMALLINT id,
	SQLPOINTER value, SQLINTEGER n, bool is_wide);
/* Where SQLGetDescRec() puts numbers: NULL where they are not wanted. */
struct cod_desc_numbers {
	SQLSMALLINT *type, *sub, *precision, *scale, *nullable;
	SQLLEN *length;
};
SQLRETURN cod_get_desc_rec(struct cod_desc *desc, SQLSMALLINT i,
	const struct cod_sink *name, const struct cod_desc_numbers *to);
SQLRETURN cod_set_desc_rec(
	struct cod_desc *desc, SQLSMALLINT i, const struct cod_record *record);
SQLRETURN cod_copy_desc(SQLHDESC source, SQLHDESC target);
/* A field of a column, for SQLColAttribute() and IRDs: true and either text or number. */
bool cod_column_field(const struct cod_stmt *stmt, const struct cod_column *column,
	SQLSMALLINT id, const char **ret_text, SQLLEN *ret_number);

/* ----------------------------------------------------------------- stmt_attr.c ----- */

SQLRETURN cod_set_stmt_attr(
	struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER n);
SQLRETURN cod_get_stmt_attr(
	struct cod_stmt *stmt, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER *length);
/* Of a connection: the default of its statements. False: no such attribute. */
bool cod_set_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN value);
bool cod_get_stmt_default(struct cod_dbc *dbc, SQLINTEGER attr, SQLULEN *ret_value);
void cod_stmt_attr_defaults(SQLULEN attrs[COD_N_STMT_ATTRS]);
SQLRETURN cod_get_cursor_name(struct cod_stmt *stmt, const struct cod_sink *name);
SQLRETURN cod_set_cursor_name(struct cod_stmt *stmt, struct cod_text name);

/* ----------------------------------------- statement.c, describe.c, origin.c, nullable.c ----- */

SQLRETURN cod_prepare(struct cod_stmt *stmt, struct cod_text sql);
SQLRETURN cod_free_stmt(struct cod_stmt *stmt, SQLUSMALLINT option);
SQLRETURN cod_close_cursor(struct cod_stmt *stmt);
/* Forget result, prepared statement and columns. */
void cod_stmt_forget(struct cod_stmt *stmt);
void cod_stmt_close(struct cod_stmt *stmt);
void cod_execution_finish(struct cod_stmt *stmt);
/* Set the statement's text: SQLPrepare(), SQLExecDirect(). */
SQLRETURN cod_stmt_set_sql(struct cod_stmt *stmt, struct cod_text sql);
/* Whether the session reads a backslash as its server usually does not (lex.h); what it says at its
 * beginning, and with a command's result. */
bool cod_is_backslash_odd(const struct cod_dbc *dbc);
void cod_backslash_begin(struct cod_dbc *dbc);
void cod_backslash_follow(struct cod_dbc *dbc, const cenote_result *result);
/* Before it is prepared: parameters that only come out are no arguments of functions. */
SQLRETURN cod_stmt_fit_call(struct cod_stmt *stmt);

/* Prepare the statement at the server. */
SQLRETURN cod_need_handle(struct cod_stmt *stmt);
/* Learn the columns. It asks the server if it must. */
SQLRETURN cod_describe(struct cod_stmt *stmt);
SQLRETURN cod_columns_of_handle(struct cod_stmt *stmt);
SQLRETURN cod_columns_of_result(struct cod_stmt *stmt, const cenote_result *result);
void cod_columns_drop(struct cod_stmt *stmt);
/* Complete the columns before this field of them is told, as far as that is possible. */
void cod_origins_learn(struct cod_stmt *stmt, SQLSMALLINT field);
/* Learn whether the columns can be NULL. What cannot be found out stays unknown. */
void cod_nullable_learn(struct cod_stmt *stmt);
/* A command with this tag was carried out. If it may have changed tables, forget what is known of them. */
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
 * Requests. The results of one may come while its statement is read; until all were taken the statement
 * owns the connection. Who wants to ask something else calls cod_settle() before, which takes
 * what is on its way into its owner's memory.
 */
int cod_settle(struct cod_dbc *dbc);
/* The same, and of all cursors whose rows the server would forget at a transaction's end. */
int cod_settle_all(struct cod_dbc *dbc);

/* Call them before cenote_send_…() (and after cod_settle()), after it, and at the request's end. They serve
 * SQLCancel() and the time limit. */
void cod_request_begin(struct cod_stmt *stmt);
void cod_request_sent(struct cod_stmt *stmt);
void cod_request_end(struct cod_stmt *stmt);
/* Whether the statement's rows come in batches: not for arrays of parameters. */
bool cod_is_streamed(const struct cod_stmt *stmt);
/* Send the statement with the present set of parameters. */
int cod_send_request(struct cod_stmt *stmt);
/* Whether what was sent last was cancelled, or took too long. */
bool cod_is_stopped(const struct cod_stmt *stmt);
/* Stop the next of several requests, too. */
void cod_stop_next(struct cod_stmt *stmt);
/* A result was taken to its end: see whether it was the last one. */
void cod_result_over(struct cod_stmt *stmt, uint32_t flags);

/* Wait for the next result of the statement's request: CENOTE_OK, CENOTE_DONE, an error; CENOTE_AGAIN
 * only where that can be polled, and the statement is asynchronous. */
int cod_wait_result(struct cod_stmt *stmt, bool may_poll, cenote_result **ret_result);
/* … for the next batch of a streamed result; never CENOTE_AGAIN. */
int cod_wait_batch(struct cod_stmt *stmt, cenote_result *result);
/* SQL_ERROR: time limit and cancel have states of their own. */
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
/* array.c: where the present set is in diagnostics, */
struct cod_diag_where cod_array_here(const struct cod_stmt *stmt);
/* whether the application wants it left out, */
bool cod_array_is_ignored(const struct cod_stmt *stmt);
/* what came of it (SQL_NO_DATA: it was left out), which goes on to the next, */
void cod_array_count(struct cod_stmt *stmt, SQLRETURN ret);
/* and that neither it nor the others are carried out. */
void cod_array_give_up(struct cod_stmt *stmt);
/* Whether it, and perhaps others, can be sent together; and that. */
bool cod_array_can_send(const struct cod_stmt *stmt);
void cod_array_send(struct cod_stmt *stmt);

SQLRETURN cod_bind_parameter(struct cod_stmt *stmt, SQLUSMALLINT i,
	SQLSMALLINT param_type, SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size,
	SQLSMALLINT digits, SQLPOINTER data, SQLLEN room, SQLLEN *length);
/* The values of one set of parameters, those of data at execution from what was given. */
SQLRETURN cod_params_read(struct cod_stmt *stmt, SQLULEN set, cenote_params *params);
/* One value, as the two records describe it, of row `set`; NULL or an SQLSTATE. */
const char *cod_param_put(struct cod_stmt *stmt, const struct cod_desc *apd,
	const struct cod_record *application, const struct cod_record *implementation,
	SQLULEN set, const struct cod_given *given, cenote_params *params);
/* Whether parameter i is one of the server's: not what a function returns, or only gives. */
bool cod_is_sent(const struct cod_stmt *stmt, SQLSMALLINT i);
/* Whether there are output parameters. */
bool cod_has_output(const struct cod_stmt *stmt);
/* Their values, from the first row of the open cursor. */
SQLRETURN cod_params_write(struct cod_stmt *stmt);
/* Whether parameter (or bound column) i of that row is data at execution. */
bool cod_is_at_execution(const struct cod_desc *desc, SQLSMALLINT i, SQLULEN row);

SQLRETURN cod_param_data(struct cod_stmt *stmt, SQLPOINTER *ret_value);
SQLRETURN cod_put_data(struct cod_stmt *stmt, SQLPOINTER data, SQLLEN n);
/* Take the value that was put, and ask for the next: SQL_NEED_DATA; SQL_SUCCESS: the application gave all. */
SQLRETURN cod_pending_next(struct cod_stmt *stmt, SQLPOINTER *ret_value);
SQLRETURN cod_pending_begin(
	struct cod_stmt *stmt, SQLUSMALLINT function, SQLULEN row, size_t n_items);
void cod_pending_clear(struct cod_stmt *stmt);

/* ----------------------------------------------------- cursor.c, fetch.c, getdata.c ----- */

void cod_cursor_close(struct cod_stmt *stmt);
SQLRETURN cod_cursor_open(struct cod_stmt *stmt, cenote_result *result, bool is_streamed);
SQLRETURN cod_cursor_open_own(
	struct cod_stmt *stmt, struct cod_rows *rows, struct cod_column *columns);
/* Have rows [first, first + n) in hand, as far as there are such. *ret_n: how many. */
SQLRETURN cod_cursor_need(
	struct cod_stmt *stmt, uint64_t first, uint64_t n, uint64_t *ret_n);
/* How many rows there are, once all are known: scrollable ones. */
uint64_t cod_cursor_total(const struct cod_cursor *cursor);
const uint8_t *cod_cursor_row(const struct cod_cursor *cursor, uint64_t i);
/* Take all that is left into memory. */
int cod_cursor_keep(struct cod_stmt *stmt);

SQLRETURN cod_bind_col(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type,
	SQLPOINTER data, SQLLEN room, SQLLEN *length);
SQLRETURN cod_fetch_scroll(struct cod_stmt *stmt, SQLSMALLINT orientation, SQLLEN offset);
SQLRETURN cod_extended_fetch(struct cod_stmt *stmt, SQLUSMALLINT orientation,
	SQLLEN offset, SQLULEN *ret_n, SQLUSMALLINT *status);
SQLRETURN cod_get_data(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type,
	SQLPOINTER data, SQLLEN room, SQLLEN *length);
/* Row `number` of the cursor into the bound columns, as row i of the buffers. */
SQLRETURN cod_fetch_row(struct cod_stmt *stmt, uint64_t number, SQLULEN i);
/* Where row i of the rowset goes. */
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

/* What is asked of the catalog: each field as in struct cod_catalog_args. */
SQLRETURN cod_ask_catalog(struct cod_stmt *stmt, struct cod_catalog_args *args);

#endif
