/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Statements with several results, and the values of output parameters.
 *
 * usage: test_odbc_results sqlite | postgresql | mariadb
 */

static int
begin(void **state)
{
	(void)cnt_odbc_connect(*state);
	cnt_odbc_run(the.stmt, "drop table if exists t");
	cnt_odbc_run(the.stmt, "create table t (id int not null primary key)");
	return 0;
}

/* --------------------------------------------------------------------- several results ----- */

static void
assert_count(SQLLEN wanted)
{
	SQLSMALLINT n_columns;
	SQLLEN n;

	ok(the.stmt, SQLNumResultCols(the.stmt, &n_columns));
	assert_int_equal(n_columns, 0);
	ok(the.stmt, SQLRowCount(the.stmt, &n));
	assert_int_equal(n, wanted);
}

static void
assert_rows(int wanted)
{
	SQLSMALLINT n_columns;
	int n = 0;

	ok(the.stmt, SQLNumResultCols(the.stmt, &n_columns));
	assert_int_equal(n_columns, 1);
	while (SQLFetch(the.stmt) == SQL_SUCCESS)
		n++;
	assert_int_equal(n, wanted);
}

static void
counts_and_rows_come_in_their_order(void **state)
{
	ok(the.stmt, SQLExecDirect(the.stmt,
			     TEXT("insert into t values (1), (2), (3); select id from t; "
				  "delete from t where id > 1; select id from t"),
			     SQL_NTS));
	assert_count(3);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_rows(3);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_count(2);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_rows(1);
	gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
	/* the statement can be used again */
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("select id from t"), SQL_NTS));
	assert_rows(1);
}

static void
a_result_that_is_not_read_is_passed_over(void **state)
{
	char sql[600];

	(void)snprintf(sql, sizeof(sql), "%s; insert into t values (7)",
		cnt_odbc_sql(the.kind->words, 20000));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_count(1);
	gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
}

static void
an_error_behind_a_result_is_told_in_its_turn(void **state)
{
	char text[16];

	ok(the.stmt, SQLExecDirect(
			     the.stmt, TEXT("select 1; select id from nosuch"), SQL_NTS));
	assert_rows(1);
	says(the.stmt, "42S02", SQLMoreResults(the.stmt));
	gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 5", text, sizeof(text)), "5");
}

static void
others_may_ask_between_two_results(void **state)
{
	SQLHSTMT other = cnt_odbc_new_stmt(&the);
	char sql[600], text[16];

	(void)snprintf(sql, sizeof(sql), "%s; insert into t values (7); select id from t",
		cnt_odbc_sql(the.kind->words, 20000));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	assert_string_equal(
		cnt_odbc_ask(other, "select count(*) from t", text, sizeof(text)), "1");
	assert_rows(19999);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_count(1);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_rows(1);
	gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
	cnt_odbc_free_stmt(other);
}

/* ---------------------------------------------------------------------------- output ----- */

struct routines {
	const char *function, *procedure, *several;
};

static const struct routines *
routines(void)
{
	static const struct routines postgresql = {
		"create or replace function add2(a int, b int) returns int language sql "
		"as 'select a + b'",
		"create or replace procedure swap(a int, inout b int, inout c text) "
		"language plpgsql as $$ begin b := b + a; c := c || ' and more'; end $$",
		NULL
	};
	static const struct routines mysql = {
		"create or replace function add2(a int, b int) returns int "
		"deterministic return a + b",
		"create or replace procedure swap(in a int, inout b int, inout c "
		"varchar(30)) begin set b = b + a; set c = concat(c, ' and more'); end",
		"create or replace procedure several(out n int) begin select 1; insert "
		"into t values (1), (2); select id from t; set n = 42; end"
	};

	return the.kind->server == CNT_MARIADB ? &mysql : &postgresql;
}

static void
bind_number(SQLUSMALLINT i, SQLSMALLINT direction, SQLINTEGER *value, SQLLEN *length)
{
	ok(the.stmt, SQLBindParameter(the.stmt, i, direction, SQL_C_SLONG, SQL_INTEGER, 0,
			     0, value, 0, length));
}

static void
a_function_returns_its_value(void **state)
{
	SQLINTEGER sum = 0, a = 40, b = -2;
	SQLLEN length = 0;
	SQLSMALLINT n;

	if (!the.kind->has_server) {
		bind_number(1, SQL_PARAM_OUTPUT, &sum, &length);
		bind_number(2, SQL_PARAM_INPUT, &b, NULL);
		ok(the.stmt, SQLExecDirect(the.stmt, TEXT("{?=call abs(?)}"), SQL_NTS));
		assert_int_equal(sum, 2);
		return;
	}
	cnt_odbc_run(the.stmt, routines()->function);
	ok(the.stmt, SQLPrepare(the.stmt, TEXT("{? = call add2(?, ?)}"), SQL_NTS));
	ok(the.stmt, SQLNumParams(the.stmt, &n));
	assert_int_equal(n, 3);
	bind_number(1, SQL_PARAM_OUTPUT, &sum, &length);
	bind_number(2, SQL_PARAM_INPUT, &a, NULL);
	bind_number(3, SQL_PARAM_INPUT, &b, NULL);
	ok(the.stmt, SQLExecute(the.stmt));
	assert_int_equal(sum, 38);
	assert_int_equal(length, sizeof(sum));
	/* the output values are not a result set */
	says(the.stmt, "24000", SQLFetch(the.stmt));
	/* execute the statement again */
	a = 1;
	ok(the.stmt, SQLExecute(the.stmt));
	assert_int_equal(sum, -1);
}

static void
parameters_go_in_and_come_out(void **state)
{
	SQLINTEGER a = 5, b = 6;
	SQLLEN length = SQL_NTS;
	char text[32] = "less";

	if (!the.kind->has_server) {
		bind_number(1, SQL_PARAM_INPUT, &a, NULL);
		says(the.stmt, "42000",
			SQLExecDirect(the.stmt, TEXT("{call swap(?)}"), SQL_NTS));
		return;
	}
	cnt_odbc_run(the.stmt, routines()->procedure);
	bind_number(1, SQL_PARAM_INPUT, &a, NULL);
	bind_number(2, SQL_PARAM_INPUT_OUTPUT, &b, NULL);
	ok(the.stmt, SQLBindParameter(the.stmt, 3, SQL_PARAM_INPUT_OUTPUT, SQL_C_CHAR,
			     SQL_VARCHAR, 30, 0, text, sizeof(text), &length));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("{call swap(?, ?, ?)}"), SQL_NTS));
	assert_int_equal(b, 11);
	assert_string_equal(text, "less and more");
	assert_int_equal(length, 13);
	/* the buffer is too small for the value */
	length = SQL_NTS;
	(void)snprintf(text, sizeof(text), "less");
	ok(the.stmt, SQLBindParameter(the.stmt, 3, SQL_PARAM_INPUT_OUTPUT, SQL_C_CHAR,
			     SQL_VARCHAR, 30, 0, text, 7, &length));
	says(the.stmt, "01004",
		SQLExecDirect(the.stmt, TEXT("{call swap(?, ?, ?)}"), SQL_NTS));
	assert_string_equal(text, "less a");
	assert_int_equal(length, 13);
}

static void
results_of_a_procedure_come_before_its_output(void **state)
{
	SQLINTEGER n = 0;

	/* only MariaDB's procedures return results */
	if (strcmp(the.kind->name, "mariadb") != 0)
		return;
	cnt_odbc_run(the.stmt, routines()->several);
	bind_number(1, SQL_PARAM_OUTPUT, &n, NULL);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("{call several(?)}"), SQL_NTS));
	assert_rows(1);
	ok(the.stmt, SQLMoreResults(the.stmt));
	assert_rows(2);
	/* the count of the INSERT is not reported */
	gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
	assert_int_equal(n, 42);
}

static void
a_function_may_be_called_as_a_procedure(void **state)
{
	SQLINTEGER a = 4, b = 5;

	/* other servers report an error, as with their own drivers */
	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	cnt_odbc_run(the.stmt, routines()->function);
	bind_number(1, SQL_PARAM_INPUT, &a, NULL);
	bind_number(2, SQL_PARAM_INPUT, &b, NULL);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("{call add2(?, ?)}"), SQL_NTS));
	assert_rows(1);
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_CLOSE));
	ok(the.stmt,
		SQLExecDirect(the.stmt, TEXT("{call public.\"add2\"(?, ?)}"), SQL_NTS));
	assert_rows(1);
}

static void
bind_text_out(SQLUSMALLINT i, char *text, SQLLEN room, SQLLEN *length)
{
	ok(the.stmt, SQLBindParameter(the.stmt, i, SQL_PARAM_OUTPUT, SQL_C_CHAR,
			     SQL_VARCHAR, 30, 0, text, room, length));
}

/* Output parameters are not arguments of the function, whether they were bound before or after SQLPrepare(). */
static void
a_function_fills_its_output_parameters(void **state)
{
	SQLINTEGER a = 5, b = 6, sum = 0;
	SQLLEN length = 0;
	SQLSMALLINT type, n;
	char text[32] = "";

	/* only PostgreSQL's functions have output parameters */
	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	cnt_odbc_run(the.stmt,
		"create or replace function outs(a int, out sum int, inout b int, out "
		"c text) language sql as $$ select a + b, 10 * b, 'a' || a $$");
	ok(the.stmt, SQLPrepare(the.stmt, TEXT("{call outs(?, ?, ?, ?)}"), SQL_NTS));
	bind_number(1, SQL_PARAM_INPUT, &a, NULL);
	bind_number(2, SQL_PARAM_OUTPUT, &sum, NULL);
	bind_number(3, SQL_PARAM_INPUT_OUTPUT, &b, NULL);
	bind_text_out(4, text, sizeof(text), &length);
	ok(the.stmt, SQLNumParams(the.stmt, &n));
	assert_int_equal(n, 4);
	ok(the.stmt, SQLDescribeParam(the.stmt, 3, &type, NULL, NULL, NULL));
	assert_int_equal(type, SQL_INTEGER);
	ok(the.stmt, SQLExecute(the.stmt));
	assert_int_equal(sum, 11);
	assert_int_equal(b, 60);
	assert_string_equal(text, "a5");
	assert_int_equal(length, 2);
	/* the output values are not a result set; execute the statement again */
	says(the.stmt, "24000", SQLFetch(the.stmt));
	ok(the.stmt, SQLExecute(the.stmt));
	assert_int_equal(sum, 65);
	assert_int_equal(b, 600);
	/* bound before SQLPrepare(), with the first parameter as the return value */
	a = 7;
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_RESET_PARAMS));
	bind_number(1, SQL_PARAM_OUTPUT, &sum, NULL);
	bind_number(2, SQL_PARAM_INPUT, &a, NULL);
	bind_number(3, SQL_PARAM_INPUT_OUTPUT, &b, NULL);
	bind_text_out(4, text, sizeof(text), &length);
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("{?=call outs(?, ?, ?)}"), SQL_NTS));
	assert_int_equal(sum, 607);
	assert_int_equal(b, 6000);
	assert_string_equal(text, "a7");
}

static void
a_notice_ends_with_a_whole_character(void **state)
{
	SQLHSTMT stmt = cnt_odbc_new_stmt(&the);
	SQLWCHAR state_text[6], text[1024];
	SQLINTEGER n = 0;
	SQLSMALLINT length = 0;

	if (strcmp(the.kind->name, "postgresql") == 0) {
		gives(stmt, SQL_SUCCESS_WITH_INFO,
			SQLExecDirect(stmt,
				TEXT("do $$ begin raise notice '%', "
				     "repeat(chr(233), 300); end $$"),
				SQL_NTS));
		ok(stmt, SQLGetDiagRecW(SQL_HANDLE_STMT, stmt, 1, state_text, &n, text,
				 CNT_COUNT(text), &length));
		assert_true(length > 300);
		/* the driver manager converts each byte to one character */
		assert_int_equal(text[length - 2], 0xc3);
		assert_int_equal(text[length - 1], 0xa9);
	}
	cnt_odbc_free_stmt(stmt);
}

static void
assert_message(const char *wanted)
{
	SQLCHAR text[512];

	ok(the.stmt, SQLGetDiagRec(SQL_HANDLE_STMT, the.stmt, 1, NULL, NULL, text,
			     sizeof(text), NULL));
	assert_string_equal(text, wanted);
}

/* A program sees only one text, so it must contain the detail and the hint. */
static void
messages_have_detail_and_hint(void **state)
{
	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	says(the.stmt, "P0001",
		SQLExecDirect(the.stmt,
			TEXT("do $$ begin raise exception 'no' using detail = 'why', "
			     "hint = 'how'; end $$"),
			SQL_NTS));
	assert_message("[Cenote][PostgreSQL] no\nDETAIL: why\nHINT: how");
	gives(the.stmt, SQL_SUCCESS_WITH_INFO,
		SQLExecDirect(the.stmt,
			TEXT("do $$ begin raise notice 'yes' using hint = 'how'; end $$"),
			SQL_NTS));
	assert_message("[Cenote][PostgreSQL] NOTICE: yes\nHINT: how");
	cnt_odbc_run(the.stmt, "insert into t values (1)");
	says(the.stmt, "23505",
		SQLExecDirect(the.stmt, TEXT("insert into t values (1)"), SQL_NTS));
	assert_message("[Cenote][PostgreSQL] duplicate key value violates unique "
		       "constraint \"t_pkey\"\nDETAIL: Key (id)=(1) already exists.");
}

/* PostgreSQL allows rows without columns. They cannot be fetched, and are reported as a count. */
static void
rows_without_columns_are_a_count(void **state)
{
	char text[16];

	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	for (SQLULEN type = SQL_CURSOR_FORWARD_ONLY; type <= SQL_CURSOR_STATIC;
		type += SQL_CURSOR_STATIC) {
		cnt_odbc_free_stmt(the.stmt);
		the.stmt = cnt_odbc_new_stmt(&the);
		ok(the.stmt,
			SQLSetStmtAttr(the.stmt, SQL_ATTR_CURSOR_TYPE, NUMBER(type), 0));
		ok(the.stmt,
			SQLExecDirect(the.stmt,
				TEXT("select from generate_series(1, 5000); select 1"),
				SQL_NTS));
		assert_count(5000);
		says(the.stmt, "24000", SQLFetch(the.stmt));
		ok(the.stmt, SQLMoreResults(the.stmt));
		assert_rows(1);
		gives(the.stmt, SQL_NO_DATA, SQLMoreResults(the.stmt));
		ok(the.stmt, SQLPrepare(the.stmt, TEXT("select from pg_class limit 3"),
				     SQL_NTS));
		ok(the.stmt, SQLExecute(the.stmt));
		assert_count(3);
		assert_string_equal(
			cnt_odbc_ask(the.stmt, "select 5", text, sizeof(text)), "5");
	}
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(counts_and_rows_come_in_their_order),
		TEST(a_result_that_is_not_read_is_passed_over),
		TEST(an_error_behind_a_result_is_told_in_its_turn),
		TEST(others_may_ask_between_two_results),
		TEST(a_function_returns_its_value),
		TEST(parameters_go_in_and_come_out),
		TEST(results_of_a_procedure_come_before_its_output),
		TEST(a_function_may_be_called_as_a_procedure),
		TEST(a_function_fills_its_output_parameters),
		TEST(rows_without_columns_are_a_count),
		TEST(a_notice_ends_with_a_whole_character),
		TEST(messages_have_detail_and_hint),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
