/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_STMT_H
#define CMY_STMT_H

#include "libmysql.h"

/*
 * The declarations that the files of prepared statements share. stmt.c makes and closes a
 * statement; stmt_mariadb.c and stmt_oracle.c have the differences of the flavours; stmt_handle.c
 * has the data of the handle. prepare.c prepares, execute.c executes, and rows.c reads results.
 * Parameters: param.c, long.c (values in pieces), bulk.c (arrays, MariaDB), named.c (values with
 * names, Oracle), request.c (values that are read before the execution, MariaDB). bind.c writes
 * values of results to the program's buffers.
 *
 * Connector/C decides by MYSQL_STMT.state and MYSQL.status which functions may be called. Oracle's
 * library decides by fewer states and by the function that reads the next row (here `reading`).
 * Programs read members of MYSQL_STMT, so after each call these have the original's values.
 */

/* Where the next row comes from. */
enum cmy_reading {
	CMY_READ_NOTHING, /* the statement has no result */
	CMY_READ_NO_MORE, /* the program has read all rows */
	CMY_READ_FAILED, /* Oracle: storing the result failed */
	CMY_READ_LOST, /* Oracle: the connection was lost while rows were being read */
	CMY_READ_CANCELLED, /* Oracle: another statement has dropped the rows */
	CMY_READ_STREAM, /* from `res`, which is the session's head */
	/* from `res`, in batches by a cursor: between batches the session is free */
	CMY_READ_BATCHES,
	CMY_READ_STORED /* from memory: all rows of `res` have been read */
};

#define CMY_NO_ROW UINT64_MAX

/* The value of a parameter that the program sent in pieces. */
struct cmy_long {
	int is_given;
	char *bytes;
	size_t length;
	size_t room;
};

struct cmy_stmt {
	MYSQL_STMT pub; /* what the program sees; must be first */
	cenote_stmt *prepared; /* NULL: it is not prepared */
	unsigned long id; /* pub.stmt_id, which the program may change */
	char *sql; /* the text for the server */
	size_t sql_length;
	/* the values have a MySQL server's binary form, also after the session has ended */
	int is_binary;
	int may_give_several; /* it is a CALL or a block, so it may give several results */
	int is_select; /* it is a SELECT; without columns it has INTO */
	/* Oracle: servers open no cursor for this statement, so all rows are fetched at once */
	int has_no_cursor;
	cenote_result *res;
	int is_whole; /* all rows of `res` have arrived */
	uint64_t n_stored; /* the number of stored rows */
	/* number of the first stored row; the row before it was the last to be fetched (Oracle) */
	uint64_t first_stored;
	struct cmy_kept *kept; /* stored rows that are no longer in `res`; NULL: none */
	/* Oracle: the program bound the columns before this execution, and their lengths are still
	 * to be set */
	int has_old_lengths;
	enum cmy_reading reading;
	/* number of the next row of `res`; a stored result counts in the program's cursor instead */
	uint64_t next;
	uint64_t at; /* the row of `res` that was fetched last; CMY_NO_ROW: none yet */
	cenote_params *params;
	/* one for each parameter; NULL: no value came in pieces */
	struct cmy_long *longs;
	int had_cursor; /* the last execution had a cursor */
	uint32_t portion; /* rows in one portion of the cursor, for this execution */
	int has_sent_longs; /* libcenote holds pieces for the next execution */
#if !CMY_ORACLE
	/* values that were read before the execution; NULL: none */
	struct cmy_request *request;
	/* the bytes of the request that the program sees */
	unsigned char request_head[4];
	/* room for a value that is passed to the program's function */
	unsigned char *raw;
	size_t raw_room;
#endif
};

static inline struct cmy_stmt *
cmy_stmt(MYSQL_STMT *stmt)
{
	return (struct cmy_stmt *)stmt;
}

/* Errors of the server. */
#define ER_NOT_SUPPORTED_YET       1235u
#define ER_UNKNOWN_STMT_HANDLER    1243u
#define ER_STMT_HAS_NO_OPEN_CURSOR 1421u

/* Members and states that both flavours have, under different names. */
#if CMY_ORACLE
#define CMY_STMT_CURSOR      data_cursor
#define CMY_STMT_AFFECTED    affected_rows
#define CMY_STMT_INSERT_ID   insert_id
#define CMY_STMT_STATUS      server_status
#define CMY_STMT_NEW         MYSQL_STMT_INIT_DONE
#define CMY_STMT_PREPARED    MYSQL_STMT_PREPARE_DONE
#define CMY_STMT_EXECUTED    MYSQL_STMT_EXECUTE_DONE
#define CMY_STATUS_STMT_ROWS MYSQL_STATUS_STATEMENT_GET_RESULT
#else
#define CMY_STMT_CURSOR      result_cursor
#define CMY_STMT_AFFECTED    upsert_status.affected_rows
#define CMY_STMT_INSERT_ID   upsert_status.last_insert_id
#define CMY_STMT_STATUS      upsert_status.server_status
#define CMY_STMT_NEW         MYSQL_STMT_INITTED
#define CMY_STMT_PREPARED    MYSQL_STMT_PREPARED
#define CMY_STMT_EXECUTED    MYSQL_STMT_EXECUTED
#define CMY_STATUS_STMT_ROWS MYSQL_STATUS_STMT_RESULT
#endif

/* ---- stmt_handle.c ---- */

/* Set an error of the library's own on the statement, but not on the connection. */
void cmy_stmt_error(MYSQL_STMT *stmt, unsigned code);
void cmy_stmt_error_text(
	MYSQL_STMT *stmt, unsigned code, const char *sqlstate, const char *text);
/* The same, with the arguments for the message. */
void cmy_stmt_error_with(MYSQL_STMT *stmt, unsigned code, ...);
/* Set the error on the statement and on the connection. */
void cmy_stmt_error_both(MYSQL_STMT *stmt, unsigned code);
/* Copy the connection's error to the statement. */
void cmy_stmt_take_error(MYSQL_STMT *stmt);
void cmy_stmt_clear(MYSQL_STMT *stmt);
/* Clear the error of the statement and of the connection. */
void cmy_stmt_clear_both(MYSQL_STMT *stmt);
/* The statement's connection; NULL: it was closed or lost, and the error is set. */
MYSQL *cmy_stmt_connection(MYSQL_STMT *stmt);
/* Give the statement new fields, which it owns afterwards, and room to bind them. 0, or -1 and the
 * error is set. */
int cmy_stmt_set_fields(struct cmy_stmt *st, MYSQL_FIELD *fields, unsigned n);
void cmy_stmt_free_fields(struct cmy_stmt *st);
/* Set the number of warnings of a command for the statement. */
void cmy_stmt_warnings(struct cmy_stmt *st, MYSQL *my, unsigned n);
/* Copy the counts and the status of the connection's last answer to the statement. */
void cmy_stmt_take_status(struct cmy_stmt *st);
/* Clear the marks of values in pieces in MYSQL_BIND. The values still count. */
void cmy_long_unmark(struct cmy_stmt *st);
/* Drop the values in pieces, after the statement was executed or reset. */
void cmy_long_clear(struct cmy_stmt *st);
/* Add the statement to the connection's list, or remove it. */
void cmy_stmt_enlist(MYSQL *my, LIST *item);
void cmy_stmt_delist(MYSQL *my, LIST *item);

/* ---- prepare.c ---- */

/* Prepare that text, and take the numbers of parameters and columns. 0, or -1 and the connection's
 * error is set. */
int cmy_stmt_prepare_text(struct cmy_stmt *st, const char *query, size_t length);
/* Prepare again, so that the pool forgets values in pieces. 0, or -1 and the
 * connection's error is set. */
int cmy_stmt_prepare_again(struct cmy_stmt *st, struct cmy_session *s);

/* ---- stmt.c ---- */

/* Reset everything except for the attributes, as in a new statement. */
void cmy_stmt_unprepare(struct cmy_stmt *st);
/* COM_STMT_CLOSE: read the rest of the rows, and set the error. 0 or 1 */
int cmy_stmt_close_at_server(struct cmy_stmt *st);

/* ---- stmt_mariadb.c, stmt_oracle.c ---- */

/*
 * Give up unread rows before the statement is prepared again or closed. Connector/C
 * reads all results as if the program had asked for each; sic: also another statement's
 * rows.
 */
void cmy_stmt_give_up(struct cmy_stmt *st);
/* mysql_stmt_close(): leave the connection. 0 or 1 */
int cmy_stmt_leave(struct cmy_stmt *st);
/* Attributes that only one flavour has. 0; 1: there is no such attribute. */
int cmy_stmt_set_more(
	struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value);
int cmy_stmt_get_more(
	const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value);

/* Do the pool's values have MySQL's binary form? If not, they are canonical text. */
static inline int
cmy_is_binary(const struct cmy_session *s)
{
	return s->backend == CMY_BACKEND_MYSQL;
}

/* ---- param.c ---- */

/* Put the bound values into st->params. 0, or -1 and the connection's error is set. */
int cmy_params_fill(struct cmy_stmt *st, struct cmy_session *s);
int cmy_params_add(struct cmy_stmt *st, const struct cmy_session *s, const MYSQL_BIND *b);

/* ---- long.c ---- */

/* Add the parameter's value if it came in pieces. 1; 0: the value did not come in pieces; below 0:
 * a status of libcenote's. */
int cmy_long_add(struct cmy_stmt *st, const struct cmy_session *s, unsigned param);
/* Make the server drop the values in pieces, and its cursor. 0, or 1 and the error is set. */
int cmy_long_forget(struct cmy_stmt *st);
/* Set an error if a parameter came in pieces, but its type does not allow that. 0, or -1 and the
 * error is set. */
int cmy_long_refuse(struct cmy_stmt *st, const struct cmy_session *s);

/* ---- bulk.c ---- */

#if !CMY_ORACLE
/* Execute all rows of STMT_ATTR_ARRAY_SIZE. As cmy_execute_answer(). */
int cmy_bulk_execute(struct cmy_stmt *st, struct cmy_session *s);
/* Read the bound values now, for the next execution. 0, or -1 and the statement's error is set. */
int cmy_request_take(struct cmy_stmt *st);

/* ---- request.c ---- */

/* Make a request without parts. 0, or -1 and the error of statement and connection is set. */
int cmy_request_begin(struct cmy_stmt *st);
/* Move st->params to the request, as its next part. 0, or -1 and the error of statement and
 * connection is set. */
int cmy_request_add(struct cmy_stmt *st);
/* Move the request's next part to st->params. 1; 0: there are no more parts. */
int cmy_request_next(struct cmy_stmt *st);
void cmy_request_drop(struct cmy_stmt *st);

/* ---- callback.c ---- */

/* Pass a column's value to the program's function; p is NULL for the value NULL. 0, or -1 and the
 * error of statement and connection is set. */
int cmy_call_back(struct cmy_stmt *st, unsigned column, const char *p, size_t n);

/* ---- methods.c ---- */

/* Set the function pointers in MYSQL_STMT. */
void cmy_stmt_methods(MYSQL_STMT *stmt);
#endif

/* ---- execute.c ---- */

/* Wait for the answer to the execution, and take its first result. 0, or 1 and the error
 * is set. */
int cmy_execute_answer(struct cmy_stmt *st, struct cmy_session *s);
/* Take the rows of a further result, which never has a cursor. 0, or 1 and the error is
 * set. */
int cmy_execute_next_rows(struct cmy_stmt *st, struct cmy_session *s);

/* ---- kept.c ---- */

/* A list of rows that were copied out of libcenote's batches. */
int cmy_kept_add(struct cmy_kept **kept, const cenote_result *res, uint64_t row);
uint64_t cmy_kept_rows(const struct cmy_kept *kept);
const char *cmy_kept_value(
	const struct cmy_kept *kept, uint64_t row, uint32_t column, size_t *ret_length);
void cmy_kept_free(struct cmy_kept *kept);

/* ---- rows.c ---- */

/* A row in a batch, or a copied row. */
struct cmy_row {
	/* in libcenote's batch; NULL: the row was copied, or there is no row */
	const uint8_t *bytes;
	uint32_t n_columns;
	const struct cmy_kept *kept;
	uint64_t number;
};

struct cmy_row cmy_rows_at(const struct cmy_stmt *st, uint64_t number);

/* A value of the row, unconverted; NULL for NULL. */
static inline const char *
cmy_row_value(const struct cmy_row *row, uint32_t column, size_t *ret_length)
{
	if (column >= row->n_columns)
		return NULL;
	if (row->bytes)
		return cenote_row_text(row->bytes, row->n_columns, column, ret_length);
	return cmy_kept_value(row->kept, row->number, column, ret_length);
}

/* Are rows or results of the connection unread? */
static inline int
cmy_is_busy(const MYSQL *my)
{
	return my->status != MYSQL_STATUS_READY ||
	       (my->server_status & SERVER_MORE_RESULTS_EXISTS);
}

/* Begin a result with rows: with a cursor, all at once, or row by row. 0, or -1 and the error is set. */
int cmy_rows_begin(struct cmy_stmt *st, struct cmy_session *s);
/* Drop the rest of the result that is being read. */
void cmy_rows_drop(struct cmy_stmt *st);
/* sic: drop the unread rows of any other statement or query as well. */
void cmy_rows_flush(struct cmy_session *s);
/* sic: Oracle's library also drops these when it gives up a statement's rows, if the statement had
 * columns. */
void cmy_rows_cancel(struct cmy_stmt *st);
/* Drop all results of this execution. */
void cmy_rows_drop_all(struct cmy_stmt *st);

/* Did the last portion have fewer rows than the program asked for? Then the server has reported the
 * cursor's end. */
int cmy_rows_is_end_known(const struct cmy_stmt *st);
/* Fetch the next row into the program's buffers. 0, MYSQL_DATA_TRUNCATED, MYSQL_NO_DATA, or 1 and the error is set. */
int cmy_rows_fetch(struct cmy_stmt *st);

/* ---- bind.c ---- */

/* Write the row st->at into the program's buffers. 0, MYSQL_DATA_TRUNCATED, or 1 and the
 * error is set. */
int cmy_bind_row(struct cmy_stmt *st);
#if CMY_ORACLE
/* sic: in Oracle's library executing binds the columns again, which shows in the fields
 * and, at the next fetch, in the lengths. */
void cmy_bind_again(struct cmy_stmt *st);
#endif

#endif
