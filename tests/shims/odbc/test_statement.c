/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Statements: parameters, data at execution, several statements at a time.
 *
 * usage: test_odbc_statement sqlite | postgresql | mariadb
 */

static void
insert(SQLINTEGER id)
{
	SQLHSTMT stmt = cnt_odbc_new_stmt(&the);

	cnt_odbc_bind_int(stmt, 1, &id, NULL);
	ok(stmt, SQLExecDirect(stmt, TEXT("insert into t (id) values (?)"), SQL_NTS));
	cnt_odbc_free_stmt(stmt);
}

static void
a_statement_is_executed_again_with_other_values(void **state)
{
	SQLINTEGER id;
	SQLLEN n, length = 0;
	SQLSMALLINT count;
	char text[32];

	(void)state;
	ok(the.stmt,
		SQLPrepare(the.stmt, TEXT("insert into t (id) values (?)"), SQL_NTS));
	ok(the.stmt, SQLNumParams(the.stmt, &count));
	assert_int_equal(count, 1);
	cnt_odbc_bind_int(the.stmt, 1, &id, &length);
	for (id = 1; id <= 3; id++) {
		ok(the.stmt, SQLExecute(the.stmt));
		ok(the.stmt, SQLRowCount(the.stmt, &n));
		assert_int_equal(n, 1);
	}
	length = SQL_NULL_DATA;
	assert_int_equal(SQLExecute(the.stmt), SQL_ERROR);
	assert_memory_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 1), "23", 2);
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from t", text, sizeof(text)),
		"3");
}

static void
too_few_parameters_are_an_error(void **state)
{
	SQLINTEGER id = 1;

	(void)state;
	cnt_odbc_bind_int(the.stmt, 1, &id, NULL);
	says(the.stmt, "07002",
		SQLExecDirect(the.stmt, TEXT("insert into t (id, name) values (?, ?)"),
			SQL_NTS));
}

/* ---------------------------------------------------------------- data at execution ----- */

static void
data_is_given_in_pieces_while_executing(void **state)
{
	SQLINTEGER id = 7;
	SQLLEN length = SQL_LEN_DATA_AT_EXEC(9);
	SQLPOINTER which = NULL;
	char text[32];
	SQLHSTMT stmt = the.stmt;

	(void)state;
	cnt_odbc_bind_int(stmt, 1, &id, NULL);
	ok(stmt, SQLBindParameter(stmt, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_LONGVARCHAR,
			 100, 0, NUMBER(42), 0, &length));
	gives(stmt, SQL_NEED_DATA,
		SQLExecDirect(
			stmt, TEXT("insert into t (id, body) values (?, ?)"), SQL_NTS));
	gives(stmt, SQL_NEED_DATA, SQLParamData(stmt, &which));
	assert_ptr_equal(which, NUMBER(42));
	ok(stmt, SQLPutData(stmt, TEXT("water "), 6));
	ok(stmt, SQLPutData(stmt, TEXT("under"), SQL_NTS));
	ok(stmt, SQLParamData(stmt, &which));
	ok(stmt, SQLFreeStmt(stmt, SQL_RESET_PARAMS));
	assert_string_equal(
		cnt_odbc_ask(stmt, "select body from t where id = 7", text, sizeof(text)),
		"water under");
}

static const char insert_sql[] = "insert into t (id, name) values (?, ?)";

static void
what_wants_data_can_be_cancelled(void **state)
{
	SQLINTEGER id = 7;
	SQLLEN length = SQL_DATA_AT_EXEC;
	SQLPOINTER which;
	char text[32];
	SQLHSTMT stmt = the.stmt;

	(void)state;
	cnt_odbc_bind_int(stmt, 1, &id, NULL);
	cnt_odbc_bind_text(stmt, 2, text, sizeof(text), &length);
	gives(stmt, SQL_NEED_DATA, SQLExecDirect(stmt, TEXT(insert_sql), SQL_NTS));
	gives(stmt, SQL_NEED_DATA, SQLParamData(stmt, &which));
	ok(stmt, SQLCancel(stmt));
	ok(stmt, SQLFreeStmt(stmt, SQL_RESET_PARAMS));
	assert_string_equal(
		cnt_odbc_ask(stmt, "select count(*) from t", text, sizeof(text)), "0");
}

static void
a_statement_does_not_end_at_a_zero(void **state)
{
	static const char sql[] = "insert into t (id) values (1) \0 , (2)";
	static const SQLWCHAR wide[] = u"insert into t (id) values (1) \0 , (2)";
	char text[32];

	(void)state;
	says(the.stmt, "42000", SQLExecDirect(the.stmt, TEXT(sql), sizeof(sql) - 1));
	says(the.stmt, "42000",
		SQLPrepareW(the.stmt, (SQLWCHAR *)(uintptr_t)wide,
			sizeof(wide) / sizeof(wide[0])));
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from t", text, sizeof(text)),
		"0");
	/* a zero at the very end is allowed */
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("insert into t (id) values (1)"),
			     sizeof("insert into t (id) values (1)")));
}

/* ------------------------------------------------------------------- several at a time ----- */

static void
rows_are_read_while_others_are_written(void **state)
{
	SQLHSTMT other = cnt_odbc_new_stmt(&the);
	char text[32];
	SQLINTEGER value;
	SQLLEN length;
	int n = 0;

	(void)state;
	const char *sql = cnt_odbc_sql(the.kind->words, 20000);
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &value, 0, &length));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	while (SQLFetch(the.stmt) == SQL_SUCCESS) {
		assert_int_equal(value, ++n);
		if (n % 5000 != 0)
			continue;
		cnt_odbc_run(other, cnt_odbc_sql("insert into t (id) values (#)", n));
	}
	assert_int_equal(n, 20000);
	assert_string_equal(
		cnt_odbc_ask(other, "select count(*) from t", text, sizeof(text)), "4");
	cnt_odbc_free_stmt(other);
}

static void
a_commit_leaves_open_cursors(void **state)
{
	SQLINTEGER value;
	int n = 0;

	(void)state;
	const char *sql = cnt_odbc_sql(the.kind->words, 20000);
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &value, 0, NULL));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_COMMIT));
	for (n = 1; SQLFetch(the.stmt) == SQL_SUCCESS; n++)
		assert_int_equal(value, n + 1);
	assert_int_equal(n, 20000);
}

static void
a_rollback_undoes(void **state)
{
	char text[32];

	(void)state;
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	insert(1);
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_ROLLBACK));
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from t", text, sizeof(text)),
		"0");
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin_bodies, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_statement_is_executed_again_with_other_values),
		TEST(too_few_parameters_are_an_error),
		TEST(data_is_given_in_pieces_while_executing),
		TEST(what_wants_data_can_be_cancelled),
		TEST(a_statement_does_not_end_at_a_zero),
		TEST(rows_are_read_while_others_are_written),
		TEST(a_commit_leaves_open_cursors),
		TEST(a_rollback_undoes),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
