/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <odbcinst.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Connecting, and information about connections and diagnostics.
 *
 * usage: test_odbc_connection sqlite | postgresql | mariadb
 */

/* Connect by a connection string. The completed string is written to `out`. */
static SQLRETURN
connect_by(SQLHDBC dbc, const char *string, char *out, SQLSMALLINT room)
{
	return SQLDriverConnect(dbc, NULL, TEXT(string), SQL_NTS, (SQLCHAR *)out, room,
		NULL, SQL_DRIVER_NOPROMPT);
}

static void
a_string_connects_without_a_data_source(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state), again = cnt_odbc_new_dbc(*state);
	char out[512];

	ok_dbc(dbc, connect_by(dbc, cnt_odbc_string(*state), out, sizeof(out)));
	assert_non_null(strstr(out, "Pool=main"));
	/* the completed string connects, too */
	ok_dbc(again, connect_by(again, out, NULL, 0));
	ok_dbc(again, SQLDisconnect(again));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(again, SQLFreeHandle(SQL_HANDLE_DBC, again));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

/* The value of a query, by a new connection that keeps its results in the directory. */
static long
ask_with_cache(struct cnt_odbc *rig, const char *dir, const char *sql)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(rig);
	SQLHSTMT stmt;
	char string[512];
	SQLINTEGER value = 0;

	(void)snprintf(string, sizeof(string), "%sCache=%s;CacheTtl=1min;",
		cnt_odbc_string(rig), dir);
	ok_dbc(dbc, connect_by(dbc, string, NULL, 0));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	ok(stmt, SQLExecDirect(stmt, TEXT(sql), SQL_NTS));
	ok(stmt, SQLFetch(stmt));
	ok(stmt, SQLGetData(stmt, 1, SQL_C_SLONG, &value, 0, NULL));
	gives(stmt, SQL_NO_DATA, SQLFetch(stmt));
	ok(stmt, SQLFreeHandle(SQL_HANDLE_STMT, stmt));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
	return value;
}

static void
a_key_keeps_results_in_files(void **state)
{
	char dir[CNT_PATH_MAX + 16];

	(void)snprintf(dir, sizeof(dir), "%s/cache", the.daemon.dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("create table page (v int)"), SQL_NTS));
	ok(the.stmt,
		SQLExecDirect(the.stmt, TEXT("insert into page values (1)"), SQL_NTS));
	assert_int_equal(ask_with_cache(*state, dir, "select v from page"), 1);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("update page set v = 2"), SQL_NTS));
	assert_int_equal(ask_with_cache(*state, dir, "select v from page"), 1);
	assert_int_equal(ask_with_cache(*state, dir, "select v + 0 from page"), 2);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("drop table page"), SQL_NTS));
}

/* The driver manager reads and writes the file of data sources. */
static void
a_file_holds_a_data_source(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	char path[CNT_PATH_MAX + 32], string[CNT_PATH_MAX + 64], out[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/file.dsn", the.daemon.dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fprintf(f, "[ODBC]\nDRIVER=Cenote\nPool=main\nServer=unix:%s\n",
			    the.daemon.run_dir) > 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(string, sizeof(string), "FILEDSN=%s", path);
	ok_dbc(dbc, connect_by(dbc, string, out, sizeof(out)));
	assert_non_null(strstr(out, "Pool=main"));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
a_wide_string_connects(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLWCHAR wide[32], out[128];
	const char *narrow = "DSN=rig";
	size_t n = strlen(narrow);

	for (size_t i = 0; i <= n; i++)
		wide[i] = (SQLWCHAR)narrow[i];
	ok_dbc(dbc, SQLDriverConnectW(dbc, NULL, wide, (SQLSMALLINT)n, out,
			    CNT_COUNT(out), NULL, SQL_DRIVER_NOPROMPT));
	assert_int_equal(out[0], 'D');
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
wide_names_connect_and_browse(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLWCHAR rig[] = u"rig", driver[] = u"Driver=Cenote", out[512];
	SQLSMALLINT n = 0;

	ok_dbc(dbc, SQLConnectW(dbc, rig, SQL_NTS, NULL, 0, NULL, 0));
	ok_dbc(dbc, SQLDisconnect(dbc));
	CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_NEED_DATA,
		SQLBrowseConnectW(dbc, driver, SQL_NTS, out, CNT_COUNT(out), &n));
	assert_memory_equal(out, u"Pool:", 5 * sizeof(SQLWCHAR));
	assert_int_equal(out[n], 0);
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

/* A program that connects with the ANSI functions gets ANSI text types. */
static void
texts_are_as_wide_as_the_functions_that_connect(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLWCHAR rig[] = u"rig", name[16];
	SQLSMALLINT type, digits, nullable, length;
	SQLULEN size;
	SQLHSTMT stmt;

	for (int is_wide = 0; is_wide < 2; is_wide++) {
		if (is_wide)
			ok_dbc(dbc, SQLConnectW(dbc, rig, SQL_NTS, NULL, 0, NULL, 0));
		else
			ok_dbc(dbc,
				SQLConnect(dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
		ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
		ok(stmt, SQLExecDirect(stmt, TEXT("select 'a' as x"), SQL_NTS));
		ok(stmt, SQLDescribeColW(stmt, 1, name, CNT_COUNT(name), &length, &type,
				 &size, &digits, &nullable));
		if (strcmp(the.kind->name, "mariadb") == 0)
			assert_int_equal(type, is_wide ? SQL_WVARCHAR : SQL_VARCHAR);
		else
			assert_int_equal(
				type, is_wide ? SQL_WLONGVARCHAR : SQL_LONGVARCHAR);
		ok(stmt, SQLCloseCursor(stmt));
		ok(stmt, SQLTables(stmt, NULL, 0, NULL, 0, NULL, 0, NULL, 0));
		ok(stmt, SQLDescribeColW(stmt, 3, name, CNT_COUNT(name), &length, &type,
				 NULL, NULL, NULL));
		assert_int_equal(type, is_wide ? SQL_WVARCHAR : SQL_VARCHAR);
		ok_dbc(dbc, SQLDisconnect(dbc));
	}
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

/* The type of a result's column, and of a table's column according to SQLColumns(). */
struct described {
	SQLSMALLINT type;
	SQLULEN size;
};

static struct described
describe(SQLHSTMT stmt, const char *sql)
{
	struct described told;

	ok(stmt, SQLExecDirect(stmt, TEXT(sql), SQL_NTS));
	ok(stmt, SQLDescribeCol(
			 stmt, 1, NULL, 0, NULL, &told.type, &told.size, NULL, NULL));
	ok(stmt, SQLCloseCursor(stmt));
	return told;
}

static struct described
describe_in_catalog(SQLHSTMT stmt, const char *table)
{
	struct described told = { 0, 0 };

	ok(stmt, SQLColumns(stmt, NULL, 0, NULL, 0, TEXT(table), SQL_NTS, TEXT("x"), 1));
	ok(stmt, SQLFetch(stmt));
	ok(stmt, SQLGetData(stmt, 5, SQL_C_SSHORT, &told.type, 0, NULL));
	ok(stmt, SQLGetData(stmt, 7, SQL_C_ULONG, &told.size, 0, NULL));
	ok(stmt, SQLCloseCursor(stmt));
	return told;
}

static void
assert_described(struct described told, SQLSMALLINT type, SQLULEN size)
{
	assert_int_equal(told.type, type);
	assert_int_equal(told.size, size);
}

/* These settings are for programs that allocate a column's full size, or that do not know 64-bit
 * integers. */
static void
a_data_source_says_how_types_are_described(void **state)
{
	static const struct {
		const char *attributes;
		SQLULEN long_size;
		SQLSMALLINT integer;
		SQLULEN digits;
	} cases[] = {
		{ "", 8190, SQL_BIGINT, 19 },
		{ "MaxLongVarcharSize=100;IntegerAs=INT32;", 100, SQL_INTEGER, 10 },
		{ "MaxLongVarcharSize=536870911;IntegerAs=int64;", 536870911, SQL_BIGINT,
			19 },
	};
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	char string[512], sql[64];
	SQLHSTMT stmt;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		(void)snprintf(string, sizeof(string), "%s%s", cnt_odbc_string(*state),
			cases[i].attributes);
		ok_dbc(dbc, connect_by(dbc, string, NULL, 0));
		ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
		cnt_odbc_run(stmt, "drop table if exists texts");
		cnt_odbc_run(stmt, "drop table if exists numbers");
		(void)snprintf(sql, sizeof(sql), "create table texts (x %s)",
			the.kind->unlimited);
		cnt_odbc_run(stmt, sql);
		cnt_odbc_run(stmt, "create table numbers (x bigint)");
		assert_described(describe(stmt, "select x from texts"), SQL_LONGVARCHAR,
			cases[i].long_size);
		assert_described(describe(stmt, "select x from numbers"),
			cases[i].integer, cases[i].digits);
		assert_described(describe_in_catalog(stmt, "texts"), SQL_LONGVARCHAR,
			cases[i].long_size);
		assert_described(describe_in_catalog(stmt, "numbers"), cases[i].integer,
			cases[i].digits);
		cnt_odbc_run(stmt, "drop table texts");
		cnt_odbc_run(stmt, "drop table numbers");
		ok_dbc(dbc, SQLDisconnect(dbc));
	}
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
what_cannot_connect_says_why(void **state)
{
	static const struct {
		const char *attributes;
		const char *sqlstate;
	} cases[] = {
		{ "", "IM007" },
		{ "Pool=nosuch;Server=unix:/nonexistent;", "08001" },
		{ "Pool=main;Server=ftp://x;", "08001" },
		{ "Pool=main;Timeout=soon;", "08001" },
		{ "Pool={main", "HY000" },
		{ "Pool=main;IntegerAs=int16;", "08001" },
		{ "Pool=main;MaxLongVarcharSize=0;", "08001" },
		{ "Pool=main;MaxLongVarcharSize=536870912;", "08001" },
		{ "Pool=main;MaxLongVarcharSize=-1;", "08001" },
	};
	char string[512];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		SQLHDBC dbc = cnt_odbc_new_dbc(*state);

		(void)snprintf(string, sizeof(string), "Driver={%s};%s", CNT_ODBC_DRIVER,
			cases[i].attributes);
		print_message("# %s\n", cases[i].attributes);
		says_dbc(dbc, cases[i].sqlstate, connect_by(dbc, string, NULL, 0));
		ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
	}
}

/* ---------------------------------------------------------------------------- prompts ----- */

#define ANY_WINDOW NUMBER(1)

struct prompt {
	SQLUSMALLINT completion;
	SQLHWND window;
	const char *incomplete; /* the SQLSTATE if the string names no pool */
};

static const struct prompt prompts[] = {
	{ SQL_DRIVER_NOPROMPT, NULL, "IM007" },
	{ SQL_DRIVER_NOPROMPT, ANY_WINDOW, "IM007" },
	{ SQL_DRIVER_COMPLETE, NULL, "IM008" },
	{ SQL_DRIVER_COMPLETE, ANY_WINDOW, "IM008" },
	{ SQL_DRIVER_COMPLETE_REQUIRED, NULL, "IM008" },
	{ SQL_DRIVER_COMPLETE_REQUIRED, ANY_WINDOW, "IM008" },
	{ SQL_DRIVER_PROMPT, ANY_WINDOW, "IM008" },
};

static SQLRETURN
connect_narrow(SQLHDBC dbc, const struct prompt *prompt, const char *string)
{
	char out[512] = "";
	SQLSMALLINT n = 0;
	SQLRETURN ret = SQLDriverConnect(dbc, prompt->window, TEXT(string), SQL_NTS,
		(SQLCHAR *)out, sizeof(out), &n, prompt->completion);

	if (ret == SQL_SUCCESS) {
		assert_non_null(strstr(out, "Pool=main"));
		assert_int_equal(n, strlen(out));
	}
	return ret;
}

static SQLRETURN
connect_wide(SQLHDBC dbc, const struct prompt *prompt, const char *string)
{
	SQLWCHAR wide[512], out[512];
	SQLSMALLINT n = 0;
	size_t i = 0;
	SQLRETURN ret;

	do
		wide[i] = (SQLWCHAR)string[i];
	while (string[i++] != '\0');
	ret = SQLDriverConnectW(dbc, prompt->window, wide, SQL_NTS, out, CNT_COUNT(out),
		&n, prompt->completion);
	if (ret == SQL_SUCCESS) {
		assert_true(n > 0);
		assert_int_equal(out[n], 0);
	}
	return ret;
}

/*
 * The driver has no user interface. A complete string connects with every kind of prompt. For an
 * incomplete string the error says what is missing.
 */
static void
every_prompt_connects_or_says_what_is_missing(void **state)
{
	SQLRETURN(*const faces[])
	(SQLHDBC, const struct prompt *, const char *) = { connect_narrow, connect_wide };
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	char incomplete[512];

	(void)snprintf(incomplete, sizeof(incomplete), "Driver={%s};Server=unix:%s;",
		CNT_ODBC_DRIVER, the.daemon.run_dir);
	for (size_t i = 0; i < CNT_COUNT(faces) * CNT_COUNT(prompts); i++) {
		const struct prompt *prompt = &prompts[i % CNT_COUNT(prompts)];
		SQLRETURN(*connect)
		(SQLHDBC, const struct prompt *, const char *) =
			faces[i / CNT_COUNT(prompts)];

		print_message("# completion %d, %s window\n", prompt->completion,
			prompt->window != NULL ? "a" : "no");
		says_dbc(dbc, prompt->incomplete, connect(dbc, prompt, incomplete));
		/* the handle is still usable */
		ok_dbc(dbc, connect(dbc, prompt, cnt_odbc_string(*state)));
		ok_dbc(dbc, SQLDisconnect(dbc));
	}
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
prompts_that_are_none_are_refused(void **state)
{
	static const struct prompt windowless = { SQL_DRIVER_PROMPT, NULL, NULL };
	static const struct prompt unknown = { 17, ANY_WINDOW, NULL };
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);

	says_dbc(dbc, "HY092", connect_narrow(dbc, &windowless, "DSN=rig"));
	says_dbc(dbc, "HY092", connect_wide(dbc, &windowless, "DSN=rig"));
	says_dbc(dbc, "HY110", connect_narrow(dbc, &unknown, "DSN=rig"));
	says_dbc(dbc, "HY110", connect_wide(dbc, &unknown, "DSN=rig"));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
browsing_asks_for_what_is_missing(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLCHAR out[512];
	char string[512];

	CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_NEED_DATA,
		SQLBrowseConnect(
			dbc, TEXT("Driver=Cenote"), SQL_NTS, out, sizeof(out), NULL));
	assert_non_null(strstr((char *)out, "Pool"));
	(void)snprintf(
		string, sizeof(string), "Pool=main;Server=unix:%s", the.daemon.run_dir);
	ok_dbc(dbc, SQLBrowseConnect(dbc, TEXT(string), SQL_NTS, out, sizeof(out), NULL));
	ok_dbc(dbc, SQLDisconnect(dbc));
	/* connect step by step, and give up */
	CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_NEED_DATA,
		SQLBrowseConnect(
			dbc, TEXT("Driver=Cenote"), SQL_NTS, out, sizeof(out), NULL));
	(void)snprintf(string, sizeof(string), "Server=unix:%s", the.daemon.run_dir);
	CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_NEED_DATA,
		SQLBrowseConnect(dbc, TEXT(string), SQL_NTS, out, sizeof(out), NULL));
	ok_dbc(dbc, SQLBrowseConnect(
			    dbc, TEXT("Pool=main"), SQL_NTS, out, sizeof(out), NULL));
	ok_dbc(dbc, SQLDisconnect(dbc));
	CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_NEED_DATA,
		SQLBrowseConnect(
			dbc, TEXT("Driver=Cenote"), SQL_NTS, out, sizeof(out), NULL));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
a_read_only_connection_refuses_to_write(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLHSTMT stmt;

	cnt_odbc_run(the.stmt, "drop table if exists ro");
	cnt_odbc_run(the.stmt, "create table ro (a int)");
	ok_dbc(dbc, connect_by(dbc, "DSN=rig;ReadOnly=yes", NULL, 0));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	assert_int_equal(SQLExecDirect(stmt, TEXT("insert into ro values (1)"), SQL_NTS),
		SQL_ERROR);
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
attributes_are_as_they_were_set(void **state)
{
	SQLUINTEGER value;
	char text[64];

	ok_dbc(the.dbc,
		SQLGetConnectAttr(the.dbc, SQL_ATTR_CONNECTION_DEAD, &value, 0, NULL));
	assert_int_equal(value, SQL_CD_FALSE);
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	ok_dbc(the.dbc, SQLGetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT, &value, 0, NULL));
	assert_int_equal(value, SQL_AUTOCOMMIT_OFF);
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_TXN_ISOLATION,
				NUMBER(SQL_TXN_SERIALIZABLE), 0));
	ok_dbc(the.dbc,
		SQLGetConnectAttr(the.dbc, SQL_ATTR_TXN_ISOLATION, &value, 0, NULL));
	assert_int_equal(value, SQL_TXN_SERIALIZABLE);
	ok_dbc(the.dbc, SQLGetConnectAttr(the.dbc, SQL_ATTR_CURRENT_CATALOG, text,
				sizeof(text), NULL));
	if (the.kind->has_server)
		assert_string_equal(text, "app");
	ok_dbc(the.dbc, SQLGetInfo(the.dbc, SQL_DBMS_NAME, text, sizeof(text), NULL));
	assert_string_equal(text, the.kind->title);
}

/* ------------------------------------------------------------------------------ reset ----- */

static void
reset(SQLHDBC dbc)
{
	ok_dbc(dbc, SQLSetConnectAttr(dbc, SQL_ATTR_RESET_CONNECTION,
			    NUMBER(SQL_RESET_CONNECTION_YES), SQL_IS_UINTEGER));
}

static SQLUINTEGER
attribute(SQLINTEGER attr)
{
	SQLUINTEGER value = 0;

	ok_dbc(the.dbc, SQLGetConnectAttr(the.dbc, attr, &value, 0, NULL));
	return value;
}

static void
a_reset_undoes_what_the_session_did(void **state)
{
	SQLUINTEGER isolation = attribute(SQL_ATTR_TXN_ISOLATION);
	char text[32];

	cnt_odbc_run(the.stmt, "drop table if exists kept");
	cnt_odbc_run(the.stmt, "create table kept (a int)");
	cnt_odbc_run(the.stmt, "create temporary table passing (a int)");
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_TXN_ISOLATION,
				NUMBER(SQL_TXN_SERIALIZABLE), 0));
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	cnt_odbc_run(the.stmt, "insert into kept values (1)");
	reset(the.dbc);
	assert_int_equal(attribute(SQL_ATTR_AUTOCOMMIT), SQL_AUTOCOMMIT_ON);
	assert_int_equal(attribute(SQL_ATTR_TXN_ISOLATION), isolation);
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from kept", text, sizeof(text)),
		"0");
	says(the.stmt, "42S02",
		SQLExecDirect(the.stmt, TEXT("select a from passing"), SQL_NTS));
	/* the server's session is in autocommit mode, too */
	cnt_odbc_run(the.stmt, "insert into kept values (2)");
	reset(the.dbc);
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from kept", text, sizeof(text)),
		"1");
}

static void
a_reset_goes_back_to_the_first_catalog(void **state)
{
	char text[32];

	/* other servers have only one catalog */
	if (strcmp(the.kind->name, "mariadb") != 0)
		return;
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_CURRENT_CATALOG,
				TEXT("information_schema"), SQL_NTS));
	reset(the.dbc);
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select database()", text, sizeof(text)), "app");
	ok_dbc(the.dbc, SQLGetConnectAttr(the.dbc, SQL_ATTR_CURRENT_CATALOG, text,
				sizeof(text), NULL));
	assert_string_equal(text, "app");
}

/* A reset with one streamed, one buffered and one prepared statement. */
static void
a_reset_closes_cursors_and_keeps_statements(void **state)
{
	SQLHSTMT whole = cnt_odbc_new_stmt(*state), prepared = cnt_odbc_new_stmt(*state);
	SQLINTEGER value = 6, got = 0;
	char text[32];

	ok(prepared, SQLBindParameter(prepared, 1, SQL_PARAM_INPUT, SQL_C_SLONG,
			     SQL_INTEGER, 0, 0, &value, 0, NULL));
	ok(prepared, SQLBindCol(prepared, 1, SQL_C_SLONG, &got, 0, NULL));
	ok(prepared, SQLPrepare(prepared, TEXT("select abs(?)"), SQL_NTS));
	ok(prepared, SQLExecute(prepared));
	ok(prepared, SQLFetch(prepared));
	ok(prepared, SQLFreeStmt(prepared, SQL_CLOSE));
	ok(whole, SQLExecDirect(whole, TEXT(cnt_odbc_sql(the.kind->words, 3)), SQL_NTS));
	ok(whole, SQLFetch(whole));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(cnt_odbc_sql(the.kind->words, 20000)),
			     SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	reset(the.dbc);
	says(the.stmt, "24000", SQLFetch(the.stmt));
	says(whole, "24000", SQLFetch(whole));
	value = -7;
	ok(prepared, SQLExecute(prepared));
	ok(prepared, SQLFetch(prepared));
	assert_int_equal(got, 7);
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_CLOSE));
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 3", text, sizeof(text)), "3");
	cnt_odbc_free_stmt(prepared);
	cnt_odbc_free_stmt(whole);
}

/* The data source's settings also apply to the new session. The application's settings do not. */
static void
a_reset_keeps_what_the_data_source_says(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLHSTMT stmt;

	cnt_odbc_run(the.stmt, "drop table if exists ro");
	cnt_odbc_run(the.stmt, "create table ro (a int)");
	ok_dbc(dbc, connect_by(dbc, "DSN=rig;ReadOnly=yes", NULL, 0));
	reset(dbc);
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	assert_int_equal(SQLExecDirect(stmt, TEXT("insert into ro values (1)"), SQL_NTS),
		SQL_ERROR);
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_ACCESS_MODE,
				NUMBER(SQL_MODE_READ_ONLY), 0));
	assert_int_equal(
		SQLExecDirect(the.stmt, TEXT("insert into ro values (1)"), SQL_NTS),
		SQL_ERROR);
	reset(the.dbc);
	cnt_odbc_run(the.stmt, "insert into ro values (1)");
}

static void
a_reset_is_yes(void **state)
{
	says_dbc(the.dbc, "HY024",
		SQLSetConnectAttr(the.dbc, SQL_ATTR_RESET_CONNECTION,
			NUMBER(SQL_RESET_CONNECTION_YES + 1), SQL_IS_UINTEGER));
}

static void
a_lost_session_is_told(void **state)
{
	SQLUINTEGER dead = SQL_CD_FALSE;
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLHSTMT stmt;

	cnt_odbc_run(the.stmt, "drop table if exists ro");
	cnt_odbc_run(the.stmt, "create table ro (a int)");
	/* a transaction pins the session, so the pool cannot replace it silently */
	ok_dbc(dbc, connect_by(dbc, "DSN=rig", NULL, 0));
	ok_dbc(dbc, SQLSetConnectAttr(
			    dbc, SQL_ATTR_AUTOCOMMIT, NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	cnt_odbc_run(stmt, "insert into ro values (2)");
	assert_int_equal(kill(-the.daemon.pid, SIGKILL), 0);
	(void)cnt_daemon_end(&the.daemon);
	assert_int_equal(SQLExecDirect(stmt, TEXT("select 1"), SQL_NTS), SQL_ERROR);
	assert_memory_equal(cnt_odbc_state(SQL_HANDLE_STMT, stmt, 1), "08", 2);
	ok_dbc(dbc, SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL));
	assert_int_equal(dead, SQL_CD_TRUE);
	(void)SQLDisconnect(dbc);
	(void)SQLFreeHandle(SQL_HANDLE_DBC, dbc);
	assert_int_equal(cnt_daemon_run(&the.daemon), 0);
}

/* After a failure the pool tries the server again only at intervals. */
static void
connect_when_there_is_one(SQLHDBC dbc)
{
	int64_t start = cnt_now_ms();

	while (connect_by(dbc, "DSN=rig", NULL, 0) != SQL_SUCCESS) {
		assert_memory_equal(cnt_odbc_state(SQL_HANDLE_DBC, dbc, 1), "08", 2);
		assert_true(cnt_now_ms() - start < 30000);
		cnt_pause_ms(100);
	}
}

/* The server restarts while a transaction holds a session of the previous server. */
static void
a_session_does_not_outlive_its_server(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLHSTMT stmt;
	char text[16];

	/* SQLite is a library and cannot be restarted */
	if (!the.kind->has_server) {
		ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
		return;
	}
	cnt_odbc_run(the.stmt, "drop table if exists ro");
	cnt_odbc_run(the.stmt, "create table ro (a int)");
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	cnt_odbc_run(the.stmt, "insert into ro values (1)");
	assert_int_equal(attribute(SQL_ATTR_CONNECTION_DEAD), SQL_CD_FALSE);
	assert_int_equal(cnt_server_restart(&the.server), 0);
	assert_int_equal(
		SQLExecDirect(the.stmt, TEXT("insert into ro values (2)"), SQL_NTS),
		SQL_ERROR);
	assert_memory_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 1), "08", 2);
	assert_int_equal(attribute(SQL_ATTR_CONNECTION_DEAD), SQL_CD_TRUE);
	connect_when_there_is_one(dbc);
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	assert_string_equal(
		cnt_odbc_ask(stmt, "select count(*) from ro", text, sizeof(text)), "0");
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
an_error_has_all_its_fields(void **state)
{
	SQLHSTMT stmt = the.stmt;
	SQLINTEGER number;
	SQLSMALLINT length;
	SQLRETURN ret;
	char text[256];

	says(stmt, "42S02", SQLExecDirect(stmt, TEXT("select * from nosuch"), SQL_NTS));
	ok(stmt, SQLGetDiagField(
			 SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_NUMBER, &number, 0, NULL));
	assert_int_equal(number, 1);
	ok(stmt, SQLGetDiagField(
			 SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_RETURNCODE, &ret, 0, NULL));
	assert_int_equal(ret, SQL_ERROR);
	ok(stmt, SQLGetDiagField(SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_DYNAMIC_FUNCTION,
			 text, sizeof(text), &length));
	assert_string_equal(text, "SELECT CURSOR");
	ok(stmt, SQLGetDiagField(SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_SUBCLASS_ORIGIN, text,
			 sizeof(text), NULL));
	assert_string_equal(text, "ODBC 3.0");
	ok(stmt, SQLGetDiagField(SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_MESSAGE_TEXT, text,
			 sizeof(text), NULL));
	assert_non_null(strstr(text, "[Cenote]"));
	assert_non_null(strstr(text, "nosuch"));
	assert_int_equal(SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, NULL, NULL,
				 (SQLCHAR *)text, 5, &length),
		SQL_SUCCESS_WITH_INFO);
	assert_true(length > 5);
	assert_int_equal(
		SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 2, NULL, NULL, NULL, 0, NULL),
		SQL_NO_DATA);
}

static const char *
diag_text(SQLSMALLINT field)
{
	static char text[64];

	ok(the.stmt, SQLGetDiagField(SQL_HANDLE_STMT, the.stmt, 1, field, text,
			     sizeof(text), NULL));
	return text;
}

static void
an_error_says_where_it_is(void **state)
{
	SQLLEN row = 0, n = -2;
	SQLINTEGER column = 0, native = -1, code = 0;
	SQLHSTMT stmt = the.stmt;

	cnt_odbc_run(stmt, "drop table if exists ro");
	cnt_odbc_run(stmt, "create table ro (a int)");
	cnt_odbc_run(stmt, "insert into ro values (1), (2)");
	ok(stmt, SQLGetDiagField(
			 SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_ROW_COUNT, &n, 0, NULL));
	assert_int_equal(n, 2);
	says(stmt, "42S02", SQLExecDirect(stmt, TEXT("delete from nosuch"), SQL_NTS));
	assert_string_equal(diag_text(SQL_DIAG_SQLSTATE), "42S02");
	assert_string_equal(diag_text(SQL_DIAG_CLASS_ORIGIN), "ISO 9075");
	assert_string_equal(diag_text(SQL_DIAG_CONNECTION_NAME), "main");
	assert_string_equal(diag_text(SQL_DIAG_SERVER_NAME), "rig");
	ok(stmt, SQLGetDiagField(
			 SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_ROW_NUMBER, &row, 0, NULL));
	assert_true(row == SQL_NO_ROW_NUMBER || row == SQL_ROW_NUMBER_UNKNOWN);
	ok(stmt, SQLGetDiagField(SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_COLUMN_NUMBER,
			 &column, 0, NULL));
	assert_true(
		column == SQL_NO_COLUMN_NUMBER || column == SQL_COLUMN_NUMBER_UNKNOWN);
	ok(stmt, SQLGetDiagField(
			 SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_NATIVE, &native, 0, NULL));
	/* MySQL's ER_NO_SUCH_TABLE */
	if (strcmp(the.kind->name, "mariadb") == 0)
		assert_int_equal(native, 1146);
	ok(stmt, SQLGetDiagField(SQL_HANDLE_STMT, stmt, 0, SQL_DIAG_DYNAMIC_FUNCTION_CODE,
			 &code, 0, NULL));
	assert_int_equal(code, SQL_DIAG_DELETE_WHERE);
}

static void
add_to_rig(const char *name, const char *value)
{
	char path[CNT_PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/odbc.ini", the.daemon.dir);
	assert_int_equal(setenv("ODBCINI", path, 1), 0);
	assert_true(SQLWritePrivateProfileString("rig", name, value, "odbc.ini"));
	assert_int_equal(setenv("ODBCINI", "/nonexistent/odbc.ini", 1), 0);
}

/* A program that names only a data source does not get the password in its section. */
static void
a_password_is_told_to_who_gave_it(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	char out[512];

	add_to_rig("PWD", "from-the-file");
	ok_dbc(dbc, connect_by(dbc, "DSN=rig", out, sizeof(out)));
	assert_non_null(strstr(out, "DSN=rig"));
	assert_null(strstr(out, "from-the-file"));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, connect_by(dbc, "DSN=rig;PWD=my-own", out, sizeof(out)));
	assert_non_null(strstr(out, "PWD=my-own"));
	ok_dbc(dbc, SQLDisconnect(dbc));
	add_to_rig("PWD", NULL);
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
a_name_does_not_end_at_a_zero(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLCHAR user[] = "admin\0x";

	says_dbc(dbc, "HY090", SQLConnect(dbc, TEXT("rig"), SQL_NTS, user, 7, NULL, 0));
	/* a length that includes the terminating zero still names the same data source */
	ok_dbc(dbc, SQLConnect(dbc, TEXT("rig\0"), 5, NULL, 0, NULL, 0));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
the_setup_library_writes_data_sources(void **state)
{
	char text[64], path[CNT_PATH_MAX + 32];
	const char attributes[] = "DSN=made\0Pool=other\0FetchSize=100\0";

	(void)snprintf(path, sizeof(path), "%s/made.ini", the.daemon.dir);
	assert_int_equal(setenv("ODBCINI", path, 1), 0);
	assert_true(SQLConfigDataSource(NULL, ODBC_ADD_DSN, "Cenote", attributes));
	(void)SQLGetPrivateProfileString(
		"made", "Pool", "", text, sizeof(text), "odbc.ini");
	assert_string_equal(text, "other");
	assert_true(SQLConfigDataSource(
		NULL, ODBC_CONFIG_DSN, "Cenote", "DSN=made\0Pool=third\0"));
	(void)SQLGetPrivateProfileString(
		"made", "Pool", "", text, sizeof(text), "odbc.ini");
	assert_string_equal(text, "third");
	(void)SQLGetPrivateProfileString(
		"made", "FetchSize", "", text, sizeof(text), "odbc.ini");
	assert_string_equal(text, "100");
	assert_false(SQLConfigDataSource(NULL, ODBC_ADD_DSN, "Cenote", "DSN=bad\0"));
	/* a value cannot add lines to the file */
	assert_false(SQLConfigDataSource(NULL, ODBC_CONFIG_DSN, "Cenote",
		"DSN=made\0UID=me\n[other]\nDriver=/tmp/evil.so\0"));
	(void)SQLGetPrivateProfileString(
		"other", "Driver", "none", text, sizeof(text), "odbc.ini");
	assert_string_equal(text, "none");
	assert_true(SQLConfigDataSource(NULL, ODBC_REMOVE_DSN, "Cenote", "DSN=made\0"));
	assert_int_equal(setenv("ODBCINI", "/nonexistent/odbc.ini", 1), 0);
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_string_connects_without_a_data_source),
		TEST(a_key_keeps_results_in_files),
		TEST(a_file_holds_a_data_source),
		TEST(a_wide_string_connects),
		TEST(wide_names_connect_and_browse),
		TEST(texts_are_as_wide_as_the_functions_that_connect),
		TEST(a_data_source_says_how_types_are_described),
		TEST(what_cannot_connect_says_why),
		TEST(every_prompt_connects_or_says_what_is_missing),
		TEST(prompts_that_are_none_are_refused),
		TEST(browsing_asks_for_what_is_missing),
		TEST(a_read_only_connection_refuses_to_write),
		TEST(attributes_are_as_they_were_set),
		TEST(a_reset_undoes_what_the_session_did),
		TEST(a_reset_goes_back_to_the_first_catalog),
		TEST(a_reset_closes_cursors_and_keeps_statements),
		TEST(a_reset_keeps_what_the_data_source_says),
		TEST(a_reset_is_yes),
		TEST(an_error_has_all_its_fields),
		TEST(an_error_says_where_it_is),
		TEST(a_password_is_told_to_who_gave_it),
		TEST(a_name_does_not_end_at_a_zero),
		TEST(the_setup_library_writes_data_sources),
		TEST(a_session_does_not_outlive_its_server),
		TEST(a_lost_session_is_told),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
