/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What programs ask before they ask for data: which tables, types and functions exist, and which parameters a statement has.
 *
 * usage: test_odbc_catalog sqlite | postgresql | mariadb
 */

static bool
is_on(const char *name)
{
	return strcmp(the.kind->name, name) == 0;
}

static int
begin(void **state)
{
	static const char owned[] =
		"create table owned (id int not null primary key, owner int, "
		"foreign key (owner) references owners (id))";
	static const char *const sql[] = {
		"drop table if exists owned",
		"drop table if exists owners",
		"create table owners (id int not null primary key, name varchar(20))",
		owned,
		"create index owned_owner on owned (owner)",
		"insert into owners values (1, 'a'), (2, 'b'), (3, 'c')",
	};

	(void)cnt_odbc_connect(*state);
	for (size_t i = 0; i < CNT_COUNT(sql); i++)
		cnt_odbc_run(the.stmt, sql[i]);
	return 0;
}

/* The values of a column in all remaining rows, with a comma after each, in static memory. */
static const char *
listed(SQLUSMALLINT column)
{
	static char text[4096];
	size_t n = 0;
	SQLRETURN ret;

	text[0] = '\0';
	while ((ret = SQLFetch(the.stmt)) != SQL_NO_DATA) {
		char value[128] = "";
		SQLLEN length;

		ok(the.stmt, ret);
		ok(the.stmt, SQLGetData(the.stmt, column, SQL_C_CHAR, value,
				     sizeof(value), &length));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s,",
			length == SQL_NULL_DATA ? "null" : value);
		assert_true(n < sizeof(text));
	}
	ok(the.stmt, SQLCloseCursor(the.stmt));
	return text;
}

#define NONE      NULL, 0
#define NAMED(of) TEXT(of), SQL_NTS

static void
tables_and_their_columns_are_listed(void **state)
{
	SQLHSTMT stmt = the.stmt;

	ok(stmt, SQLTables(stmt, NONE, NONE, NAMED("own%"), NAMED("TABLE")));
	assert_string_equal(listed(3), "owned,owners,");
	ok(stmt, SQLTables(stmt, NAMED(""), NAMED(""), NAMED(""), NAMED("%")));
	assert_non_null(strstr(listed(4), "TABLE,VIEW,"));
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("owners"), NAMED("%")));
	assert_string_equal(listed(4), "id,name,");
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("owners"), NAMED("n%")));
	assert_string_equal(listed(7), "20,");
}

/* Only a null pointer or "%" matches any name. */
static void
empty_names_find_nothing(void **state)
{
	SQLHSTMT stmt = the.stmt;

	ok(stmt, SQLTables(stmt, NAMED(""), NAMED(""), NAMED(""), NAMED("")));
	assert_string_equal(listed(3), "");
	ok(stmt, SQLTables(stmt, NONE, NONE, NAMED(""), NONE));
	assert_string_equal(listed(3), "");
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED(""), NONE));
	assert_string_equal(listed(4), "");
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("owners"), NAMED("")));
	assert_string_equal(listed(4), "");
	ok(stmt, SQLPrimaryKeys(stmt, NONE, NONE, NAMED("")));
	assert_string_equal(listed(4), "");
	ok(stmt, SQLStatistics(stmt, NONE, NONE, NAMED(""), SQL_INDEX_ALL, SQL_QUICK));
	assert_string_equal(listed(3), "");
	ok(stmt, SQLSpecialColumns(stmt, SQL_BEST_ROWID, NONE, NONE, NAMED(""),
			 SQL_SCOPE_SESSION, SQL_NO_NULLS));
	assert_string_equal(listed(2), "");
	ok(stmt, SQLProcedures(stmt, NONE, NONE, NAMED("")));
	assert_string_equal(listed(3), "");
	ok(stmt, SQLTablePrivileges(stmt, NONE, NONE, NAMED("")));
	assert_string_equal(listed(3), "");
	/* an empty schema matches any schema, and an empty name matches the other table of a
	 * foreign key */
	ok(stmt, SQLTables(stmt, NAMED(""), NAMED(""), NAMED("owners"), NAMED("")));
	assert_string_equal(listed(3), "owners,");
	ok(stmt, SQLForeignKeys(stmt, NONE, NONE, NAMED(""), NONE, NONE, NAMED("owned")));
	assert_string_equal(listed(3), "owners,");
}

/* With SQL_ATTR_METADATA_ID arguments are identifiers: nothing in them is a pattern. */
static void
identifiers_are_no_patterns(void **state)
{
	SQLCHAR catalog[64] = "", schema[64] = "";
	SQLHSTMT stmt = the.stmt;
	SQLLEN length;

	ok(stmt, SQLTables(stmt, NONE, NONE, NAMED("owners"), NONE));
	ok(stmt, SQLFetch(stmt));
	ok(stmt, SQLGetData(stmt, 1, SQL_C_CHAR, catalog, sizeof(catalog), &length));
	ok(stmt, SQLGetData(stmt, 2, SQL_C_CHAR, schema, sizeof(schema), &length));
	ok(stmt, SQLCloseCursor(stmt));
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("owner_"), NAMED("%")));
	assert_string_equal(listed(4), "id,name,");
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_METADATA_ID, NUMBER(SQL_TRUE), 0));
	ok(stmt, SQLColumns(stmt, catalog, SQL_NTS, schema, SQL_NTS, NAMED("owners"),
			 NAMED("id")));
	assert_string_equal(listed(4), "id,");
	ok(stmt, SQLColumns(stmt, catalog, SQL_NTS, schema, SQL_NTS, NAMED("owner_"),
			 NAMED("id")));
	assert_string_equal(listed(4), "");
	ok(stmt, SQLColumns(stmt, catalog, SQL_NTS, schema, SQL_NTS, NAMED("owners"),
			 NAMED("%")));
	assert_string_equal(listed(4), "");
	says(stmt, "HY009",
		SQLColumns(
			stmt, catalog, SQL_NTS, schema, SQL_NTS, NAMED("owners"), NONE));
}

static void
keys_and_indexes_are_listed(void **state)
{
	SQLHSTMT stmt = the.stmt;

	ok(stmt, SQLPrimaryKeys(stmt, NONE, NONE, NAMED("owners")));
	assert_string_equal(listed(4), "id,");
	ok(stmt, SQLForeignKeys(stmt, NONE, NONE, NAMED("owners"), NONE, NONE, NONE));
	assert_string_equal(listed(8), "owner,");
	ok(stmt, SQLForeignKeys(stmt, NONE, NONE, NONE, NONE, NONE, NAMED("owned")));
	assert_string_equal(listed(3), "owners,");
	ok(stmt, SQLStatistics(
			 stmt, NONE, NONE, NAMED("owned"), SQL_INDEX_ALL, SQL_QUICK));
	assert_non_null(strstr(listed(6), "owned_owner,"));
	ok(stmt, SQLSpecialColumns(stmt, SQL_BEST_ROWID, NONE, NONE, NAMED("owners"),
			 SQL_SCOPE_SESSION, SQL_NO_NULLS));
	assert_string_equal(listed(2), "id,");
}

static void
types_are_listed(void **state)
{
	char wanted[16];

	ok(the.stmt, SQLGetTypeInfo(the.stmt, SQL_ALL_TYPES));
	assert_non_null(strstr(listed(2), ",12,"));
	ok(the.stmt, SQLGetTypeInfo(the.stmt, the.kind->int_type));
	(void)snprintf(wanted, sizeof(wanted), "%d,", the.kind->int_type);
	assert_memory_equal(listed(2), wanted, strlen(wanted));
	says(the.stmt, "HY004", SQLGetTypeInfo(the.stmt, 4711));
}

static void
procedures_and_what_they_take_are_listed(void **state)
{
	SQLHSTMT stmt = the.stmt;

	if (!is_on("sqlite")) {
		cnt_odbc_run(stmt, "drop procedure if exists doubled");
		cnt_odbc_run(stmt,
			is_on("postgresql")
				? "create procedure doubled(inout x int) language sql as "
				  "'select 2 * x'"
				: "create procedure doubled(inout x int) set x = 2 * x");
	}
	ok(stmt, SQLProcedures(stmt, NONE, NONE, NAMED("doubled")));
	assert_string_equal(listed(3), is_on("sqlite") ? "" : "doubled,");
	ok(stmt, SQLProcedureColumns(stmt, NONE, NONE, NAMED("doubled"), NAMED("x")));
	assert_string_equal(listed(4), is_on("sqlite") ? "" : "x,");
}

static void
privileges_are_listed(void **state)
{
	SQLHSTMT stmt = the.stmt;
	bool are_there = !is_on("sqlite"); /* SQLite has no users */

	ok(stmt, SQLTablePrivileges(stmt, NONE, NONE, NAMED("owners")));
	assert_int_equal(strstr(listed(6), "SELECT,") != NULL, are_there);
	ok(stmt, SQLColumnPrivileges(stmt, NONE, NONE, NAMED("owners"), NAMED("name")));
	assert_int_equal(strstr(listed(7), "SELECT,") != NULL, are_there);
}

static void
wide_names_are_found(void **state)
{
	SQLWCHAR create[] = u"create table gr\u00f6\u00dfe (x int)";
	SQLWCHAR drop[] = u"drop table gr\u00f6\u00dfe";
	SQLWCHAR name[] = u"gr\u00f6\u00dfe";
	SQLHSTMT stmt = the.stmt;

	ok(stmt, SQLExecDirectW(stmt, create, SQL_NTS));
	ok(stmt, SQLTablesW(stmt, NONE, NONE, name, SQL_NTS, NONE));
	assert_string_equal(listed(3), "gr\u00f6\u00dfe,");
	ok(stmt, SQLColumnsW(stmt, NONE, NONE, name, SQL_NTS, NONE));
	assert_string_equal(listed(4), "x,");
	ok(stmt, SQLExecDirectW(stmt, drop, SQL_NTS));
}

/* ODBC 2 used other column names and SQLSTATEs. */
static void
programs_of_odbc_2_find_its_names(void **state)
{
	SQLHENV env;
	SQLHDBC dbc;
	SQLHSTMT stmt;
	char name[32];

	assert_int_equal(
		SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env), SQL_SUCCESS);
	assert_int_equal(
		SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, NUMBER(SQL_OV_ODBC2), 0),
		SQL_SUCCESS);
	assert_int_equal(SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), SQL_SUCCESS);
	ok_dbc(dbc, SQLConnect(dbc, NAMED("rig"), NONE, NONE));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("owners"), NONE));
	ok(stmt, SQLDescribeCol(stmt, 7, TEXT(name), sizeof(name), NULL, NULL, NULL, NULL,
			 NULL));
	assert_string_equal(name, "PRECISION");
	ok(stmt, SQLFreeStmt(stmt, SQL_CLOSE));
	says(stmt, "S0002", SQLExecDirect(stmt, TEXT("select x from nowhere"), SQL_NTS));
	ok(stmt, SQLFreeHandle(SQL_HANDLE_STMT, stmt));
	ok_dbc(dbc, SQLDisconnect(dbc));
	SQLFreeHandle(SQL_HANDLE_DBC, dbc);
	SQLFreeHandle(SQL_HANDLE_ENV, env);
}

/* A type without a maximum length has a size small enough to allocate for every set of an array. */
static void
parameters_are_described(void **state)
{
	SQLSMALLINT type, digits, nullable;
	SQLHSTMT stmt = the.stmt;
	SQLULEN size;

	ok(stmt, SQLPrepare(stmt, TEXT("insert into owners values (?, ?)"), SQL_NTS));
	ok(stmt, SQLDescribeParam(stmt, 1, &type, &size, &digits, &nullable));
	assert_int_equal(type, is_on("postgresql") ? SQL_INTEGER : SQL_LONGVARCHAR);
	assert_int_equal(size, is_on("postgresql") ? 10 : 8190);
	assert_int_equal(nullable, SQL_NULLABLE_UNKNOWN);
	ok(stmt, SQLDescribeParam(stmt, 2, &type, &size, &digits, &nullable));
	assert_int_equal(size, 8190);
	says(stmt, "07009", SQLDescribeParam(stmt, 3, &type, &size, &digits, &nullable));
}

/* This works on every server, even if a server sends only numbers of tables and columns with a
 * result. */
static void
columns_say_where_they_come_from(void **state)
{
	SQLHSTMT stmt = the.stmt;
	char text[64];
	SQLLEN number;

	cnt_odbc_run(stmt, "drop table if exists numbered");
	cnt_odbc_run(stmt,
		is_on("postgresql") ? "create table numbered (n serial primary key)"
		: is_on("mariadb")
			? "create table numbered (n int auto_increment primary key)"
			: "create table numbered (n integer primary key autoincrement)");
	ok(stmt, SQLExecDirect(stmt,
			 TEXT("select o.name as called, 1, numbered.n from owners o, "
			      "numbered"),
			 SQL_NTS));
	ok(stmt, SQLColAttribute(stmt, 1, SQL_DESC_BASE_COLUMN_NAME, text, sizeof(text),
			 NULL, NULL));
	assert_string_equal(text, "name");
	ok(stmt, SQLColAttribute(stmt, 1, SQL_DESC_NAME, text, sizeof(text), NULL, NULL));
	assert_string_equal(text, "called");
	ok(stmt, SQLColAttribute(stmt, 1, SQL_DESC_BASE_TABLE_NAME, text, sizeof(text),
			 NULL, NULL));
	assert_string_equal(text, "owners");
	ok(stmt, SQLColAttribute(
			 stmt, 1, SQL_DESC_SCHEMA_NAME, text, sizeof(text), NULL, NULL));
	assert_string_equal(text, is_on("postgresql") ? "public"
				  : is_on("sqlite")   ? "main"
						      : "");
	ok(stmt, SQLColAttribute(
			 stmt, 1, SQL_DESC_AUTO_UNIQUE_VALUE, NULL, 0, NULL, &number));
	assert_int_equal(number, SQL_FALSE);
	ok(stmt, SQLColAttribute(stmt, 2, SQL_DESC_BASE_TABLE_NAME, text, sizeof(text),
			 NULL, NULL));
	assert_string_equal(text, "");
	ok(stmt, SQLColAttribute(
			 stmt, 3, SQL_DESC_AUTO_UNIQUE_VALUE, NULL, 0, NULL, &number));
	assert_int_equal(number, SQL_TRUE);
	ok(stmt, SQLCloseCursor(stmt));
}

/* Programs allocate buffers by the column's size. SQLite stores any value, whatever the declared type. */
static void
times_of_sqlite_have_sizes_of_times(void **state)
{
	static const struct {
		const char *type;
		SQLSMALLINT sql;
		SQLULEN size;
		SQLSMALLINT digits;
	} cases[] = {
		{ "DATETIME2(3)", SQL_TYPE_TIMESTAMP, 23, 3 },
		{ "TIMESTAMP(6)", SQL_TYPE_TIMESTAMP, 26, 6 },
		{ "TIMESTAMP_NTZ(0)", SQL_TYPE_TIMESTAMP, 19, 0 },
		{ "TIMESTAMP(14)", SQL_TYPE_TIMESTAMP, 29, 9 },
		{ "TIMESTAMP", SQL_TYPE_TIMESTAMP, 29, 9 },
		{ "TIME(3)", SQL_TYPE_TIME, 12, 3 },
		{ "TIME", SQL_TYPE_TIME, 15, 6 },
		{ "DATE", SQL_TYPE_DATE, 10, 0 },
	};
	SQLHSTMT stmt = the.stmt;
	char sql[64];

	for (size_t i = 0; is_on("sqlite") && i < CNT_COUNT(cases); i++) {
		SQLSMALLINT type, digits = 0;
		SQLULEN size = 0;
		SQLLEN length;

		cnt_odbc_run(stmt, "drop table if exists timed");
		(void)snprintf(
			sql, sizeof(sql), "create table timed (x %s)", cases[i].type);
		cnt_odbc_run(stmt, sql);
		ok(stmt, SQLExecDirect(stmt, TEXT("select x from timed"), SQL_NTS));
		ok(stmt, SQLDescribeCol(
				 stmt, 1, NULL, 0, NULL, &type, &size, &digits, NULL));
		ok(stmt, SQLCloseCursor(stmt));
		assert_int_equal(type, cases[i].sql);
		assert_int_equal(size, cases[i].size);
		assert_int_equal(digits, cases[i].digits);
		ok(stmt, SQLColumns(stmt, NONE, NONE, NAMED("timed"), NONE));
		ok(stmt, SQLFetch(stmt));
		ok(stmt, SQLGetData(stmt, 5, SQL_C_SSHORT, &type, 0, NULL));
		ok(stmt, SQLGetData(stmt, 7, SQL_C_UBIGINT, &size, 0, NULL));
		ok(stmt, SQLGetData(stmt, 9, SQL_C_SSHORT, &digits, 0, &length));
		ok(stmt, SQLCloseCursor(stmt));
		assert_int_equal(type, cases[i].sql);
		assert_int_equal(size, cases[i].size);
		assert_int_equal(digits, cases[i].digits);
	}
}

/* Whether each column can be NULL, as SQLDescribeCol() reports it; one digit a column. */
static const char *
nullability(const char *sql)
{
	static char text[16];
	SQLSMALLINT n, nullable;

	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLNumResultCols(the.stmt, &n));
	assert_in_range(n, 1, sizeof(text) - 1);
	for (SQLSMALLINT i = 1; i <= n; i++) {
		ok(the.stmt, SQLDescribeCol(the.stmt, (SQLUSMALLINT)i, NULL, 0, NULL,
				     NULL, NULL, NULL, &nullable));
		text[i - 1] = (char)('0' + nullable);
	}
	text[n] = '\0';
	ok(the.stmt, SQLCloseCursor(the.stmt));
	return text;
}

/* The answers are those of psqlodbc. Every column of a join or grouping that adds NULLs can be NULL. */
static void
columns_say_whether_they_can_be_null(void **state)
{
	SQLHSTMT stmt = the.stmt;
	SQLSMALLINT nullable;
	SQLLEN number;
	SQLHDESC ird;

	assert_string_equal(nullability("select id, name from owners"), "01");
	if (!is_on("postgresql"))
		return;
	assert_string_equal(
		nullability("select id, id + 1, name || 'x' from owners"), "011");
	assert_string_equal(
		nullability("select s.id, w.id, owner from (select id from owners) s "
			    "join owned w on w.owner = s.id where 'LEFT' <> ''"),
		"001");
	assert_string_equal(nullability("select o.id, w.id from owners o left join owned "
					"w on w.owner = o.id"),
		"11");
	assert_string_equal(
		nullability("select id from owners group by rollup (id)"), "1");
	ok(stmt, SQLPrepare(stmt, TEXT("select name, id from owners where id > ?"),
			 SQL_NTS));
	ok(stmt, SQLColAttribute(stmt, 2, SQL_DESC_NULLABLE, NULL, 0, NULL, &number));
	assert_int_equal(number, SQL_NO_NULLS);
	ok(stmt, SQLPrepare(stmt, TEXT("select name, id from owners"), SQL_NTS));
	ok(stmt, SQLGetStmtAttr(stmt, SQL_ATTR_IMP_ROW_DESC, &ird, 0, NULL));
	ok_desc(ird, SQLGetDescRec(ird, 2, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL,
			     &nullable));
	assert_int_equal(nullable, SQL_NO_NULLS);
}

/* A connection forgets what it knows of a table when the table may have changed. */
static void
nullability_follows_the_table(void **state)
{
	SQLHSTMT stmt = the.stmt;

	if (!is_on("postgresql"))
		return;
	assert_string_equal(nullability("select name from owners"), "1");
	cnt_odbc_run(stmt, "alter table owners alter name set not null");
	assert_string_equal(nullability("select name from owners"), "0");
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	cnt_odbc_run(stmt, "alter table owners alter name drop not null");
	assert_string_equal(nullability("select name from owners"), "1");
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_ROLLBACK));
	assert_string_equal(nullability("select name from owners"), "0");
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_ROLLBACK));
}

/* Without autocommit, the driver's own queries must not begin a transaction. */
static void
a_description_begins_no_transaction(void **state)
{
	static const struct {
		const char *sql;
		SQLUSMALLINT field;
	} cases[] = {
		{ "select id from owners", SQL_DESC_NULLABLE },
		{ "select id from owners", SQL_DESC_BASE_TABLE_NAME },
		{ "{call nosuch()}", 0 },
	};

	for (size_t i = 0; is_on("postgresql") && i < CNT_COUNT(cases); i++) {
		SQLHDBC dbc = cnt_odbc_new_dbc(&the);
		SQLHSTMT stmt;
		char text[16];
		SQLLEN number;

		ok_dbc(dbc, SQLConnect(dbc, NAMED("rig"), NONE, NONE));
		ok_dbc(dbc, SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT,
				    NUMBER(SQL_AUTOCOMMIT_OFF), 0));
		ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
		ok(stmt, SQLPrepare(stmt, TEXT(cases[i].sql), SQL_NTS));
		if (cases[i].field != 0)
			ok(stmt, SQLColAttribute(stmt, 1, cases[i].field, text,
					 sizeof(text), NULL, &number));
		ok_dbc(dbc, SQLDisconnect(dbc));
		ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
	}
}

/* The driver must not read a large result into memory to describe its columns. */
static void
a_large_result_is_not_held_up_to_be_described(void **state)
{
	SQLHSTMT stmt = the.stmt, other;
	SQLSMALLINT nullable = -1;
	SQLLEN n;
	char text[16];

	if (!is_on("postgresql"))
		return;
	ok(stmt, SQLExecDirect(stmt,
			 TEXT("select id, i from owners, generate_series(1, 100000) i"),
			 SQL_NTS));
	ok(stmt, SQLRowCount(stmt, &n));
	assert_int_equal(n, -1);
	ok(stmt, SQLDescribeCol(stmt, 1, NULL, 0, NULL, NULL, NULL, NULL, &nullable));
	assert_int_equal(nullable, SQL_NULLABLE_UNKNOWN);
	ok(stmt, SQLDescribeCol(stmt, 2, NULL, 0, NULL, NULL, NULL, NULL, &nullable));
	assert_int_equal(nullable, SQL_NULLABLE);
	/* another statement takes the result into memory */
	other = cnt_odbc_new_stmt(&the);
	cnt_odbc_ask(other, "select 1", text, sizeof(text));
	cnt_odbc_free_stmt(other);
	ok(stmt, SQLDescribeCol(stmt, 1, NULL, 0, NULL, NULL, NULL, NULL, &nullable));
	assert_int_equal(nullable, SQL_NO_NULLS);
	ok(stmt, SQLFetch(stmt));
	ok(stmt, SQLCloseCursor(stmt));
}

static void
functions_are_told(void **state)
{
	SQLUSMALLINT all[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE];
	SQLUSMALLINT is_there = SQL_FALSE;

	ok_dbc(the.dbc, SQLGetFunctions(the.dbc, SQL_API_SQLDESCRIBEPARAM, &is_there));
	assert_int_equal(is_there, SQL_TRUE);
	ok_dbc(the.dbc, SQLGetFunctions(the.dbc, SQL_API_ODBC3_ALL_FUNCTIONS, all));
	assert_int_equal(SQL_FUNC_EXISTS(all, SQL_API_SQLBULKOPERATIONS), SQL_TRUE);
}

/* PHP scrolls with SQLExtendedFetch(). */
static void
rows_are_fetched_as_odbc_2_did(void **state)
{
	SQLUSMALLINT status;
	SQLHSTMT stmt = cnt_odbc_new_stmt(&the);
	SQLULEN n = 0;
	char name[8];

	ok(stmt,
		SQLSetStmtAttr(stmt, SQL_ATTR_CURSOR_TYPE, NUMBER(SQL_CURSOR_STATIC), 0));
	ok(stmt, SQLExecDirect(
			 stmt, TEXT("select name from owners order by id"), SQL_NTS));
	ok(stmt, SQLExtendedFetch(stmt, SQL_FETCH_ABSOLUTE, 3, &n, &status));
	assert_int_equal(n, 1);
	assert_int_equal(status, SQL_ROW_SUCCESS);
	ok(stmt, SQLGetData(stmt, 1, SQL_C_CHAR, name, sizeof(name), NULL));
	assert_string_equal(name, "c");
	gives(stmt, SQL_NO_DATA, SQLExtendedFetch(stmt, SQL_FETCH_NEXT, 1, &n, &status));
	ok(stmt, SQLExtendedFetch(stmt, SQL_FETCH_FIRST, 1, &n, &status));
	ok(stmt, SQLGetData(stmt, 1, SQL_C_CHAR, name, sizeof(name), NULL));
	assert_string_equal(name, "a");
	ok(stmt, SQLCloseCursor(stmt));
	says(stmt, "24000", SQLCloseCursor(stmt));
	cnt_odbc_free_stmt(stmt);
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(tables_and_their_columns_are_listed),
		TEST(empty_names_find_nothing),
		TEST(identifiers_are_no_patterns),
		TEST(keys_and_indexes_are_listed),
		TEST(types_are_listed),
		TEST(procedures_and_what_they_take_are_listed),
		TEST(privileges_are_listed),
		TEST(wide_names_are_found),
		TEST(programs_of_odbc_2_find_its_names),
		TEST(parameters_are_described),
		TEST(columns_say_where_they_come_from),
		TEST(times_of_sqlite_have_sizes_of_times),
		TEST(columns_say_whether_they_can_be_null),
		TEST(nullability_follows_the_table),
		TEST(a_description_begins_no_transaction),
		TEST(a_large_result_is_not_held_up_to_be_described),
		TEST(functions_are_told),
		TEST(rows_are_fetched_as_odbc_2_did),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
