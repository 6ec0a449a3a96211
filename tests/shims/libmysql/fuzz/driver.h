/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdio.h>

#include "fuzz.h"
#include "library.h"

/* The state of a driver while it carries out a sequence. */

#define FZ_CONNS   2u
#define FZ_RESULTS 2u /* of each connection */
#define FZ_STMTS   2u /* of each connection */
#define FZ_PARAMS  6u
#define FZ_COLUMNS 12u
#define FZ_ROOM    48u /* bytes of a buffer */
#define FZ_STATE   2048u

/* A bound value: its buffer, length, NULL indicator and error indicator. */
struct fz_value {
	union {
		char bytes[FZ_ROOM];
		MYSQL_TIME time;
		long long number;
		double real;
	} at;
	unsigned long length;
	my_bool is_null, error;
};

struct fz_stmt {
	MYSQL_STMT *stmt;
	MYSQL_BIND params[FZ_PARAMS], columns[FZ_COLUMNS];
	struct fz_value given[FZ_PARAMS], taken[FZ_COLUMNS];
	const char *sql; /* the text that was prepared last */
	int is_ahead[FZ_PARAMS]; /* a piece of this value was sent */
	int is_lost[FZ_PARAMS]; /* a piece of this value was refused */
	int is_half_bound; /* mysql_stmt_bind_param() failed */
	int is_bound; /* mysql_stmt_bind_param() succeeded */
	int has_cursor; /* the statement was executed with a cursor */
	int had_cursor; /* MariaDB's flavour: the statement had a cursor once, perhaps with another text */
	int has_failed_cursor; /* the statement was executed with a cursor and failed */
	int was_run; /* the statement was executed since it was prepared */
	int is_direct; /* the statement was prepared by executing it */
	int has_old_charset; /* character_set_results was set since the statement was prepared */
	int is_robbed; /* Oracle's flavour: another statement was executed while its rows were unread */
	int is_refused; /* the execution was refused out of turn, with types that the server did not get */
	unsigned
		n_fetched; /* rows fetched since the execution, or since its result was freed */
	int has_old_rows; /* rows were stored when another text was prepared */
	int is_past_rows; /* rows of an earlier result were stored */
	int is_streamed; /* the number of warnings is the connection's */
	int has_new_columns; /* mysql_stmt_bind_result() was called since a row was fetched */
	int has_old_columns; /* mysql_stmt_bind_result() was called for earlier columns */
	int has_columns; /* mysql_stmt_bind_result() accepted the columns */
	int is_row_over; /* the rows after the fetched one were stored */
	MYSQL_ROW_OFFSET offset; /* what mysql_stmt_row_tell() returned */
	char state[FZ_STATE];
};

struct fz_result {
	MYSQL_RES *res;
	int is_used; /* the result comes from mysql_use_result() */
	MYSQL_ROW_OFFSET offset; /* what mysql_row_tell() returned */
};

struct fz_conn {
	MYSQL *my;
	int is_async; /* MYSQL_OPT_NONBLOCK was set: _start and _cont can be called */
	int was_connected; /* mysql_real_connect() was called */
	const char *sql; /* the text of the last query */
	int is_sent; /* mysql_send_query(): the answer is unread */
	int has_listed; /* mysql_list_fields(): the pool uses statements, which transaction tracking shows */
	int has_selected; /* mysql_select_db(), and no query since: the pool reports the database only */
	int is_calls; /* a statement called a procedure: the unread results belong to the procedure */
	struct fz_stmt
		*reader; /* Oracle's flavour: the statement whose rows are unread */
	int is_streamed; /* the number of warnings came before a statement's rows */
	struct fz_result results[FZ_RESULTS];
	unsigned next_result;
	struct fz_stmt stmts[FZ_STMTS];
	char state[FZ_STATE]; /* the state that was printed last */
};

struct fz {
	struct cmy_original f;
	const char *socket;
	struct fz_conn conns[FZ_CONNS];
	struct fz_conn *at; /* the connection that the call uses */
	struct fz_stmt *stmt; /* the statement that the call uses */
	struct fz_result *result; /* the result that the call uses */
	int is_async; /* make the call with _start and _cont */
	int is_elsewhere; /* the server is not MySQL's */
	FILE *out;
};

typedef void fz_carry_out(struct fz *z, const uint32_t n[4]);
#define FZ_DECLARE(name, weight) fz_carry_out fz_##name;
FZ_CALLS(FZ_DECLARE)

/*
 * Call a function: ret = name(args), or its _start and as many calls of its _cont as needed.
 * Oracle's flavour has no such pairs.
 */
#if CMY_ORACLE
#define FZ_DO(z, handle, ret, name, ...) ((ret) = (z)->f.name(__VA_ARGS__))
#else
#define FZ_DO(z, handle, ret, name, ...)                                                 \
	do {                                                                             \
		if ((z)->is_async) {                                                     \
			int wants = (z)->f.name##_start(&(ret), __VA_ARGS__);            \
			while (wants != 0)                                               \
				wants = (z)->f.name##_cont(                              \
					&(ret), handle, fz_wait(z, wants));              \
		} else {                                                                 \
			(ret) = (z)->f.name(__VA_ARGS__);                                \
		}                                                                        \
	} while (0)
#endif

/* Names that differ between the flavours. FZ_VIO is the member of NET that is not NULL while
 * connected. FZ_EXECUTED is the last state of a statement that has no rows. */
#if CMY_ORACLE
#define FZ_VIO           vio
#define FZ_RECONNECT(my) ((my)->reconnect)
#define FZ_PREPARED      MYSQL_STMT_PREPARE_DONE
#define FZ_EXECUTED      MYSQL_STMT_EXECUTE_DONE
#define FZ_STMT_ROWS     MYSQL_STATUS_STATEMENT_GET_RESULT
#else
#define FZ_VIO           pvio
#define FZ_RECONNECT(my) ((my)->options.reconnect)
#define FZ_PREPARED      MYSQL_STMT_PREPARED
#define FZ_EXECUTED      MYSQL_STMT_EXECUTED
#define FZ_STMT_ROWS     MYSQL_STATUS_STMT_RESULT
#endif

/* Wait for what a _start or _cont asked for. Returns what is ready. */
int fz_wait(struct fz *z, int wants);

/* ---- show.c ---- */

void fz_say(struct fz *z, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print bytes in quotes, unprintable ones as \xNN; NULL is "null". */
void fz_say_bytes(struct fz *z, const char *bytes, size_t len);
void fz_say_text(struct fz *z, const char *text);
/* Print an error, without the parts that may differ. */
void fz_put_error(FILE *to, unsigned code, const char *sqlstate, const char *text);
/* Print " -> text". */
void fz_gave_text(struct fz *z, const char *text);
void fz_gave_int(struct fz *z, long long value);
/* Print " -> well" if r is 0, else " -> not". Failures may return different numbers. */
void fz_gave_status(struct fz *z, int r);
/* The same for a call that answers a query. Also prints the number of fields. */
void fz_gave_answer(struct fz *z, int r);
void fz_show_field(struct fz *z, const MYSQL_FIELD *field);
void fz_show_row(struct fz *z, MYSQL_RES *res, MYSQL_ROW row);
/* Print what has changed in a connection and its statements. */
void fz_show_conn(struct fz *z, struct fz_conn *c);
/* Whether both libraries report the same database. */
int fz_has_database(struct fz *z, const struct fz_conn *c);
/* Print the buffers that are bound to the columns. */
void fz_show_columns(struct fz *z, const struct fz_stmt *s, unsigned n);
void fz_show_value(struct fz *z, const MYSQL_BIND *bind);

/* ---- known.c ---- */

/* Returns why to leave out the call: it is known to differ (docs/mysql-shim.md), or it crashes the
 * original. NULL: make the call. */
const char *fz_is_known(struct fz *z, const struct fz_step *step);
/* Whether the statement asks for a cursor, but the server opens none for this text. */
int fz_lacks_cursor(const struct fz_stmt *s, const char *sql);

/* ---- calls_connect.c ---- */

void fz_close_conn(struct fz *z, struct fz_conn *c);

/* ---- calls_result.c ---- */

/* Keep a result, in place of an older one. */
void fz_keep_result(struct fz *z, MYSQL_RES *res, int is_used);
/* mysql_free_result(), and forget the result. */
void fz_drop_result(struct fz *z, struct fz_result *r);

/* ---- calls_stmt.c ---- */

void fz_close_stmt(struct fz *z, struct fz_stmt *s);
/* Whether rows are stored. The original also stores some rows of a cursor. */
int fz_has_stored(const struct fz_stmt *s);

/* ---- values.c ---- */

/* Bind a parameter; the number gives its type and value. */
void fz_give(struct fz *z, MYSQL_BIND *bind, struct fz_value *value, uint32_t number);
/* Bind a column; the number gives its type. Its buffer is filled with a pattern. */
void fz_take(MYSQL_BIND *bind, struct fz_value *value, uint32_t number);

/* ---- words.c ---- */

#define FZ_WORDS(name)                                                                   \
	extern const char *const fz_##name[];                                            \
	extern const unsigned fz_n_##name
FZ_WORDS(queries);
FZ_WORDS(bound_queries); /* statements to prepare, many with parameters */
FZ_WORDS(other_queries);
FZ_WORDS(other_bound);
FZ_WORDS(databases);
FZ_WORDS(tables);
FZ_WORDS(charsets);
FZ_WORDS(values);
FZ_WORDS(texts);

#define FZ_PICK(name, number) fz_##name[(number) % fz_n_##name]

/* A text to query, and a text to prepare, in the SQL of the server. */
const char *fz_query_word(const struct fz *z, uint32_t number);
const char *fz_bound_word(const struct fz *z, uint32_t number);

#endif
