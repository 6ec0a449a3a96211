/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets odbc and odbc-native: Cenote's ODBC driver, and another driver. targets.c lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sql.h>
#include <sqlext.h>

#include "pool_place.h"

/* The widest value of the workloads. */
#define MAX_VALUE 64

/* Buffers for bound columns. */
struct buffers {
	char values[CNB_COLUMNS][MAX_VALUE];
	SQLLEN lengths[CNB_COLUMNS];
	SQLSMALLINT n;
};

struct session {
	SQLHDBC dbc;
	SQLHSTMT stmt;
	struct buffers *buffers;
};

static struct session *
session_of(struct cnb_session *s)
{
	return (struct session *)s;
}

static int
failed(SQLSMALLINT kind, SQLHANDLE handle, struct cnb_error *ret_error)
{
	SQLCHAR state[6] = "", message[400] = "no diagnostics";

	(void)SQLGetDiagRec(kind, handle, 1, state, NULL, message, sizeof(message), NULL);
	snprintf(ret_error->text, sizeof(ret_error->text), "ODBC: %s %s", state, message);
	return -1;
}

static int
say(const char *message, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "ODBC: %s", message);
	return -1;
}

/* ----------------------------------------------------------------- connecting ----- */

/* A program has one environment for its whole life. */
static SQLHENV
environment(void)
{
	static SQLHENV env;

	if (env != SQL_NULL_HENV)
		return env;
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env)))
		return SQL_NULL_HENV;
	/* ODBC passes a number as a pointer. */
	(void)SQLSetEnvAttr(
		env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0);
	return env;
}

static void
odbc_close(struct cnb_session *cs)
{
	struct session *s = session_of(cs);

	if (s == NULL)
		return;
	(void)SQLDisconnect(s->dbc);
	(void)SQLFreeHandle(SQL_HANDLE_DBC, s->dbc);
	free(s->buffers);
	free(s);
}

static int
open_at(const char *string, struct cnb_session **ret_session, struct cnb_error *ret_error)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL ||
		!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, environment(), &s->dbc))) {
		free(s);
		return say("out of memory", ret_error);
	}
	if (!SQL_SUCCEEDED(SQLDriverConnect(s->dbc, NULL, (SQLCHAR *)(uintptr_t)string,
		    SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT))) {
		failed(SQL_HANDLE_DBC, s->dbc, ret_error);
		(void)SQLFreeHandle(SQL_HANDLE_DBC, s->dbc);
		free(s);
		return -1;
	}
	*ret_session = (struct cnb_session *)s;
	return 0;
}

static int
native_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return open_at(env->places[CNB_PLACE_ODBC], ret_session, ret_error);
}

/* The pool's URI as a connection string. */
static int
make_string(const char *uri, char *ret_string, size_t size, struct cnb_error *ret_error)
{
	const char *driver = getenv("CENOTE_ODBC_DRIVER");
	struct cnb_pool_place place;
	const struct {
		const char *attribute, *value;
	} words[] = {
		{ "Server", place.server },
		{ "UID", place.user },
		{ "PWD", place.password },
	};
	size_t n;

	if (cnb_pool_place(uri, &place, ret_error) < 0)
		return -1;
	n = (size_t)snprintf(ret_string, size, "Driver={%s};Pool={%s}",
		driver != NULL && *driver != '\0' ? driver : CNB_ODBC_DRIVER, place.pool);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && n < size; i++) {
		if (*words[i].value != '\0')
			n += (size_t)snprintf(ret_string + n, size - n, ";%s={%s}",
				words[i].attribute, words[i].value);
	}
	return n < size ? 0 : say("the connection string is too long", ret_error);
}

static int
pool_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	static char string[2048];

	if (*string == '\0' && make_string(env->places[CNB_PLACE_POOL], string,
				       sizeof(string), ret_error) < 0)
		return -1;
	return open_at(string, ret_session, ret_error);
}

/* -------------------------------------------------------------------- queries ----- */

static int
need_stmt(struct session *s, struct cnb_error *ret_error)
{
	if (s->stmt != SQL_NULL_HSTMT ||
		SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, s->dbc, &s->stmt)))
		return 0;
	return failed(SQL_HANDLE_DBC, s->dbc, ret_error);
}

static int
stmt_failed(const struct session *s, struct cnb_error *ret_error)
{
	int r = failed(SQL_HANDLE_STMT, s->stmt, ret_error);

	(void)SQLFreeStmt(s->stmt, SQL_CLOSE);
	return r;
}

/* Read a row by SQLGetData(). A value that does not fit would be a warning, but the workloads have
 * none. */
static int
get_row(const struct session *s, SQLSMALLINT n_columns, struct cnb_answer *answer)
{
	for (SQLSMALLINT i = 1; i <= n_columns; i++) {
		char value[MAX_VALUE];
		SQLLEN n = 0;

		if (SQLGetData(s->stmt, (SQLUSMALLINT)i, SQL_C_CHAR, value, sizeof(value),
			    &n) != SQL_SUCCESS)
			return -1;
		if (n > 0)
			answer->bytes += (uint64_t)n;
	}
	answer->rows++;
	return 0;
}

static int
odbc_query(struct cnb_session *cs, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	SQLSMALLINT n_columns = 0;
	SQLRETURN ret;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (need_stmt(s, ret_error) < 0)
		return -1;
	/* A notice is not a failure. */
	if (!SQL_SUCCEEDED(SQLExecDirect(s->stmt, (SQLCHAR *)(uintptr_t)sql, SQL_NTS)) ||
		!SQL_SUCCEEDED(SQLNumResultCols(s->stmt, &n_columns)))
		return stmt_failed(s, ret_error);
	while (n_columns > 0 && (ret = SQLFetch(s->stmt)) != SQL_NO_DATA) {
		if (!SQL_SUCCEEDED(ret) || get_row(s, n_columns, ret_answer) < 0)
			return stmt_failed(s, ret_error);
	}
	(void)SQLFreeStmt(s->stmt, SQL_CLOSE);
	return 0;
}

static int
odbc_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	struct buffers *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return say("out of memory", ret_error);
	s->buffers = b;
	if (need_stmt(s, ret_error) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLPrepare(s->stmt, (SQLCHAR *)(uintptr_t)sql, SQL_NTS)) ||
		!SQL_SUCCEEDED(SQLNumResultCols(s->stmt, &b->n)))
		return stmt_failed(s, ret_error);
	if (b->n > CNB_COLUMNS)
		return say("a prepared statement has too many columns", ret_error);
	for (SQLSMALLINT i = 0; i < b->n; i++) {
		if (!SQL_SUCCEEDED(SQLBindCol(s->stmt, (SQLUSMALLINT)(i + 1), SQL_C_CHAR,
			    b->values[i], MAX_VALUE, &b->lengths[i])))
			return stmt_failed(s, ret_error);
	}
	return 0;
}

static int
odbc_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	const struct session *s = session_of(cs);
	const struct buffers *b = s->buffers;
	SQLRETURN ret;

	*ret_answer = (struct cnb_answer){ 0, 0 };
	if (SQLExecute(s->stmt) != SQL_SUCCESS)
		return stmt_failed(s, ret_error);
	while ((ret = SQLFetch(s->stmt)) == SQL_SUCCESS) {
		ret_answer->rows++;
		for (SQLSMALLINT i = 0; i < b->n; i++) {
			if (b->lengths[i] > 0)
				ret_answer->bytes += (uint64_t)b->lengths[i];
		}
	}
	if (ret != SQL_NO_DATA)
		return stmt_failed(s, ret_error);
	(void)SQLFreeStmt(s->stmt, SQL_CLOSE);
	return 0;
}

#define ODBC_CALLS                                                                       \
	.query = odbc_query, .prepare = odbc_prepare, .execute = odbc_execute,           \
	.close = odbc_close

const struct cnb_target *
cnb_target_odbc(void)
{
	static const struct cnb_target target = {
		.name = "odbc",
		.about = "a session of a pool, through the ODBC driver",
		.place = CNB_PLACE_POOL,
		.only_by_name = 1,
		.open = pool_open,
		ODBC_CALLS,
	};

	return &target;
}

const struct cnb_target *
cnb_target_odbc_native(void)
{
	static const struct cnb_target target = {
		.name = "odbc-native",
		.about = "a server itself, through its own ODBC driver",
		.place = CNB_PLACE_ODBC,
		.open = native_open,
		ODBC_CALLS,
	};

	return &target;
}
