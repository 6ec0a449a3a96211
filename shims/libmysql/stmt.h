/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_STMT_H
#define CMY_STMT_H

#include "libmysql.h"

/*
 * A prepared statement: what its files share. stmt.c: its life and what it tells; stmt_mariadb.c and
 * stmt_oracle.c: where the flavours differ; stmt_handle.c: what its handle holds. prepare.c; execute.c;
 * rows.c: reading a result. param.c: values on their way in; long.c: those that come in pieces; bulk.c:
 * arrays of them (MariaDB); named.c: those with names (Oracle); request.c: before the execution (MariaDB).
 * bind.c, and what it builds on: values on their way out.
 *
 * Connector/C decides by MYSQL_STMT.state and MYSQL.status what may be called when, Oracle's library by
 * fewer states and by which function reads the next row (`reading` here). Programs look into MYSQL_STMT, so
 * its members are as the original has them after each call.
 */

/* Where the next row comes from. */
enum cmy_reading {
	CMY_READ_NOTHING, /* there is no result */
	CMY_READ_NO_MORE, /* there was one */
	CMY_READ_FAILED, /* Oracle: it could not be stored */
	CMY_READ_LOST, /* Oracle: it was being read when the connection went */
	CMY_READ_CANCELLED, /* Oracle: another statement has thrown it away */
	CMY_READ_STREAM, /* `res` is the session's head */
	CMY_READ_BATCHES, /* `res` is behind a cursor, or as good as: the session is free */
	CMY_READ_STORED /* all of `res` is here */
};

#define CMY_NO_ROW UINT64_MAX

/* The value of a parameter that came in pieces. */
struct cmy_long {
	int is_given;
	char *bytes;
	size_t length;
	size_t room;
};

struct cmy_stmt {
	MYSQL_STMT pub; /* what the program sees; must be first */
	cenote_stmt *prepared; /* NULL: not yet */
	unsigned long id; /* pub.stmt_id, unless the program has changed that */
	char *sql; /* as it was given */
	size_t sql_length;
	int is_binary; /* its values are in a MySQL server's form, also when the session is gone */
	int may_give_several; /* results: it is a CALL, or a block */
	int is_select; /* one that has no columns has INTO */
	int has_no_cursor; /* Oracle: no server opens one for it, so that all rows are fetched at once */
	cenote_result *res;
	int is_whole; /* nothing of `res` is still to come */
	uint64_t n_stored; /* rows, while it is stored */
	uint64_t first_stored; /* before it only the row that was fetched last (Oracle) */
	struct cmy_kept *kept; /* rows stored that `res` has no more; NULL: none */
	int has_old_lengths; /* Oracle: what is bound was bound before this execution */
	enum cmy_reading reading;
	uint64_t next; /* row of `res`, unless it is stored: then the program moves it */
	uint64_t at; /* the row that was fetched last, of `res`; CMY_NO_ROW: none yet */
	cenote_params *params;
	struct cmy_long *longs; /* one for each parameter; NULL: none came in pieces */
	int had_cursor; /* it was executed with one */
	uint32_t
		portion; /* how many rows of a cursor come at once, as of the execution */
	int has_sent_longs; /* libcenote has pieces for the next execution */
	struct cmy_named *named; /* Oracle: which parameters have names */
#if !CMY_ORACLE
	struct cmy_request *
		request; /* values that were taken already; NULL: the execution takes them */
	unsigned char request_head[4]; /* the bytes of it that the program sees */
	unsigned char *raw; /* room for a value that goes to a function of the program */
	size_t raw_room;
#endif
};

static inline struct cmy_stmt *
cmy_stmt(MYSQL_STMT *stmt)
{
	return (struct cmy_stmt *)stmt;
}

/* The server's. */
#define ER_NOT_SUPPORTED_YET       1235u
#define ER_UNKNOWN_STMT_HANDLER    1243u
#define ER_STMT_HAS_NO_OPEN_CURSOR 1421u

/* What both flavours have under different names. */
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

/* An error of the library's own: of the statement, and not of the connection. */
void cmy_stmt_error(MYSQL_STMT *stmt, unsigned code);
void cmy_stmt_error_text(
	MYSQL_STMT *stmt, unsigned code, const char *sqlstate, const char *text);
/* With what the words have marks for. */
void cmy_stmt_error_with(MYSQL_STMT *stmt, unsigned code, ...);
/* Of both. */
void cmy_stmt_error_both(MYSQL_STMT *stmt, unsigned code);
/* The connection's becomes the statement's. */
void cmy_stmt_take_error(MYSQL_STMT *stmt);
void cmy_stmt_clear(MYSQL_STMT *stmt);
/* Of both. */
void cmy_stmt_clear_both(MYSQL_STMT *stmt);
/* The statement's connection; NULL: it is gone, and the error is set. */
MYSQL *cmy_stmt_connection(MYSQL_STMT *stmt);
/* New columns: fields, and room to bind them. 0, or -1 and the error is set. */
int cmy_stmt_set_fields(struct cmy_stmt *st, MYSQL_FIELD *fields, unsigned n);
void cmy_stmt_free_fields(struct cmy_stmt *st);
/* How many warnings a command for the statement gave. */
void cmy_stmt_warnings(struct cmy_stmt *st, MYSQL *my, unsigned n);
/* What the connection's last answer said is what the statement tells. */
void cmy_stmt_take_status(struct cmy_stmt *st);
/* In MYSQL_BIND there is no sign any more of values that came in pieces: they count all the same. */
void cmy_long_unmark(struct cmy_stmt *st);
/* It was executed, or is to forget what it got. */
void cmy_long_clear(struct cmy_stmt *st);
/* The connection's list. */
void cmy_stmt_enlist(MYSQL *my, LIST *item);
void cmy_stmt_delist(MYSQL *my, LIST *item);

/* ---- prepare.c ---- */

/* Enter, prepare that text, and take the statement's shape. 0, or -1 and the connection's error is set. */
int cmy_stmt_prepare_text(struct cmy_stmt *st, const char *query, size_t length);
/* Prepare again: the pool forgets what it got of values in pieces. 0, or -1 and the connection's error is set. */
int cmy_stmt_prepare_again(struct cmy_stmt *st, struct cmy_session *s);

/* ---- stmt.c ---- */

/* As one that was just made, but for its attributes. */
void cmy_stmt_unprepare(struct cmy_stmt *st);
/* COM_STMT_CLOSE: read what is left, and set the error. 0 or 1 */
int cmy_stmt_close_at_server(struct cmy_stmt *st);

/* ---- stmt_mariadb.c, stmt_oracle.c ---- */

/* Give up what is still to be read, before the statement is prepared again or closed. Connector/C reads all
 * results as if the program had asked for each; sic: whoever's the rows are. */
void cmy_stmt_give_up(struct cmy_stmt *st);
/* mysql_stmt_close(): what the connection knows of it. 0 or 1 */
int cmy_stmt_leave(struct cmy_stmt *st);
/* Attributes that only one flavour has. 0 done, 1 there is no such attribute. */
int cmy_stmt_set_more(
	struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value);
int cmy_stmt_get_more(
	const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value);

/* From which form a pool's values are to be converted. */
static inline int
cmy_is_binary(const struct cmy_session *s)
{
	return s->backend == CMY_BACKEND_MYSQL;
}

/* ---- param.c ---- */

/* What is bound becomes st->params. 0, or -1 and the connection's error is set. */
int cmy_params_fill(struct cmy_stmt *st, struct cmy_session *s);
int cmy_params_add(struct cmy_stmt *st, const struct cmy_session *s, const MYSQL_BIND *b);

/* ---- long.c ---- */

/* Whether the value of a parameter came in pieces; then it is added. 1, 0, or a status below 0. */
int cmy_long_add(struct cmy_stmt *st, const struct cmy_session *s, unsigned param);
/* The server is to forget them, too, and a cursor. 0, or 1 and the error is set. */
int cmy_long_forget(struct cmy_stmt *st);
/* Whether one came for a parameter that the server takes none for. 0, or -1 and the error is set. */
int cmy_long_refuse(struct cmy_stmt *st, const struct cmy_session *s);

/* ---- bulk.c ---- */

#if !CMY_ORACLE
/* All rows of STMT_ATTR_ARRAY_SIZE. As cmy_execute_answer(). */
int cmy_bulk_execute(struct cmy_stmt *st, struct cmy_session *s);
/* The values that are bound now are those of the next execution. 0, or -1 and the statement's error is set. */
int cmy_request_take(struct cmy_stmt *st);

/* ---- request.c ---- */

/* A request without parts. 0, or -1 and the error of both is set. */
int cmy_request_begin(struct cmy_stmt *st);
/* st->params becomes the request's next part. 0, or -1 and the error of both is set. */
int cmy_request_add(struct cmy_stmt *st);
/* The next part of it is in st->params. 1, or 0: there is no more. */
int cmy_request_next(struct cmy_stmt *st);
void cmy_request_drop(struct cmy_stmt *st);

/* ---- callback.c ---- */

/* Give the program's function a column's value; NULL is NULL. 0, or -1 and the error of both is set. */
int cmy_call_back(struct cmy_stmt *st, unsigned column, const char *p, size_t n);

/* ---- methods.c ---- */

/* The functions that a statement has in itself. */
void cmy_stmt_methods(MYSQL_STMT *stmt);
#endif

/* ---- execute.c ---- */

/* Wait for the result that is sent, and be in the state that follows. 0, or 1 and the error is set. */
int cmy_execute_answer(struct cmy_stmt *st, struct cmy_session *s);
/* The rows of a further result are the statement's. They have no cursor. 0, or 1 and the error is set. */
int cmy_execute_next_rows(struct cmy_stmt *st, struct cmy_session *s);

/* ---- kept.c ---- */

/* Rows that were copied out of batches. */
int cmy_kept_add(struct cmy_kept **kept, const cenote_result *res, uint64_t row);
uint64_t cmy_kept_rows(const struct cmy_kept *kept);
const char *cmy_kept_value(
	const struct cmy_kept *kept, uint64_t row, uint32_t column, size_t *ret_length);
void cmy_kept_free(struct cmy_kept *kept);

/* ---- rows.c ---- */

/* A row that was read. */
struct cmy_row {
	const uint8_t
		*bytes; /* in libcenote's batch; NULL: it was kept, or there is none */
	uint32_t n_columns;
	const struct cmy_kept *kept;
	uint64_t number;
};

struct cmy_row cmy_rows_at(const struct cmy_stmt *st, uint64_t number);

/* A value of it as it came; NULL for NULL. */
static inline const char *
cmy_row_value(const struct cmy_row *row, uint32_t column, size_t *ret_length)
{
	if (column >= row->n_columns)
		return NULL;
	if (row->bytes)
		return cenote_row_text(row->bytes, row->n_columns, column, ret_length);
	return cmy_kept_value(row->kept, row->number, column, ret_length);
}

/* Something of the connection is still to be read. */
static inline int
cmy_is_busy(const MYSQL *my)
{
	return my->status != MYSQL_STATUS_READY ||
	       (my->server_status & SERVER_MORE_RESULTS_EXISTS);
}

/* A result with rows is at hand: decide how it will be read. 0, or -1 and the error is set. */
int cmy_rows_begin(struct cmy_stmt *st, struct cmy_session *s);
/* Nobody wants the rest of the result that is being read. */
void cmy_rows_drop(struct cmy_stmt *st);
/* sic: with a statement goes what any other one, or a query, has not read. */
void cmy_rows_flush(struct cmy_session *s);
/* sic: Oracle's library does the same where it gives up what a statement has given, if that had columns. */
void cmy_rows_cancel(struct cmy_stmt *st);
/* Nor any other one of this execution. */
void cmy_rows_drop_all(struct cmy_stmt *st);

/* ---- bind.c ---- */

/* The row st->at into the program's buffers: 0, MYSQL_DATA_TRUNCATED, or 1 and the error is set. */
int cmy_bind_row(struct cmy_stmt *st);
#if CMY_ORACLE
/* sic: executing binds again what is bound, which shows in the fields, and (when it is fetched) in the lengths. */
void cmy_bind_again(struct cmy_stmt *st);
#endif

#endif
