/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Changing rows of a result: SQLSetPos() and SQLBulkOperations().
 *
 * usage: test_odbc_changes sqlite | postgresql | mariadb
 */

/* ------------------------------------------------------------------- changing rows ----- */

static void
open_to_change(SQLINTEGER *id, char *name, SQLLEN room, SQLLEN *length)
{
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_set_attr(SQL_ATTR_CONCURRENCY, SQL_CONCUR_VALUES);
	cnt_odbc_set_attr(SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE);
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, id, 0, NULL));
	ok(the.stmt, SQLBindCol(the.stmt, 2, SQL_C_CHAR, name, room, length));
	cnt_odbc_run_all();
}

static void
assert_table(const char *wanted)
{
	SQLHSTMT stmt = cnt_odbc_new_stmt(&the);
	char got[256] = "", name[32];
	SQLINTEGER id;
	SQLLEN n;

	ok(stmt, SQLBindCol(stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	ok(stmt, SQLBindCol(stmt, 2, SQL_C_CHAR, name, sizeof(name), &n));
	ok(stmt, SQLExecDirect(stmt, TEXT(cnt_odbc_all), SQL_NTS));
	while (SQLFetch(stmt) == SQL_SUCCESS)
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d=%s ",
			(int)id, n == SQL_NULL_DATA ? "-" : name);
	assert_string_equal(got, wanted);
	cnt_odbc_free_stmt(stmt);
}

static void
a_row_is_changed_where_it_stands(void **state)
{
	SQLUSMALLINT status[1];
	SQLINTEGER id;
	SQLLEN n;
	char name[16];

	(void)state;
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROW_STATUS_PTR, status, 0));
	open_to_change(&id, name, sizeof(name), &n);
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_ABSOLUTE, 3));
	(void)snprintf(name, sizeof(name), "three");
	n = SQL_NTS;
	ok(the.stmt, SQLSetPos(the.stmt, 1, SQL_UPDATE, SQL_LOCK_NO_CHANGE));
	assert_int_equal(status[0], SQL_ROW_UPDATED);
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_FIRST, 0));
	ok(the.stmt, SQLSetPos(the.stmt, 1, SQL_DELETE, SQL_LOCK_NO_CHANGE));
	/* the row is already deleted */
	says(the.stmt, "01001", SQLSetPos(the.stmt, 1, SQL_DELETE, SQL_LOCK_NO_CHANGE));
	assert_table("2=two 3=three 4=four 5=five ");
}

static void
rows_are_changed_by_bookmark_and_added(void **state)
{
	struct {
		SQLULEN mark;
		SQLLEN mark_length;
	} marks[1];
	SQLINTEGER id;
	SQLLEN n;
	char name[16];

	(void)state;
	open_to_change(&id, name, sizeof(name), &n);
	ok(the.stmt, SQLBindCol(the.stmt, 0, SQL_C_VARBOOKMARK, &marks[0].mark,
			     sizeof(marks[0].mark), &marks[0].mark_length));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_ABSOLUTE, 2));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_ABSOLUTE, 2));
	(void)snprintf(name, sizeof(name), "zwei");
	n = SQL_NTS;
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_UPDATE_BY_BOOKMARK));
	id = 6;
	(void)snprintf(name, sizeof(name), "six");
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_ADD));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_LAST, 0));
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_DELETE_BY_BOOKMARK));
	assert_table("1=one 2=zwei 3=- 4=four 6=six ");
}

static void
a_result_without_a_key_is_not_changed(void **state)
{
	SQLINTEGER id;

	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_set_attr(SQL_ATTR_CONCURRENCY, SQL_CONCUR_VALUES);
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT("select count(*) from t"), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	says(the.stmt, "HYC00", SQLSetPos(the.stmt, 1, SQL_DELETE, SQL_LOCK_NO_CHANGE));
}

/* --------------------------------------------------------------------- many at once ----- */

#define N_ROWS 5

struct buffers {
	SQLINTEGER ids[N_ROWS];
	char names[N_ROWS][16];
	SQLLEN lengths[N_ROWS];
	SQLULEN marks[N_ROWS];
	SQLLEN mark_lengths[N_ROWS];
	SQLUSMALLINT status[N_ROWS], operation[N_ROWS];
	SQLULEN n_fetched;
};

/* Fetch all rows as one block. */
static void
open_block(struct buffers *b)
{
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_set_attr(SQL_ATTR_CONCURRENCY, SQL_CONCUR_VALUES);
	cnt_odbc_set_attr(SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE);
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, N_ROWS);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROW_STATUS_PTR, b->status, 0));
	ok(the.stmt,
		SQLSetStmtAttr(the.stmt, SQL_ATTR_ROW_OPERATION_PTR, b->operation, 0));
	ok(the.stmt,
		SQLSetStmtAttr(the.stmt, SQL_ATTR_ROWS_FETCHED_PTR, &b->n_fetched, 0));
	ok(the.stmt, SQLBindCol(the.stmt, 0, SQL_C_VARBOOKMARK, b->marks,
			     sizeof(b->marks[0]), b->mark_lengths));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, b->ids, 0, NULL));
	ok(the.stmt, SQLBindCol(the.stmt, 2, SQL_C_CHAR, b->names, sizeof(b->names[0]),
			     b->lengths));
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_FIRST, 0));
	assert_int_equal(b->n_fetched, N_ROWS);
}

static void
set_name(struct buffers *b, int i, const char *name)
{
	(void)snprintf(b->names[i], sizeof(b->names[i]), "%s", name);
	b->lengths[i] = SQL_NTS;
}

static void
rows_of_a_block_are_changed_but_those_left_out(void **state)
{
	struct buffers b = { 0 };

	(void)state;
	open_block(&b);
	for (int i = 0; i < N_ROWS; i++) {
		set_name(&b, i, "x");
		b.operation[i] = i == 1 || i == 3 ? SQL_ROW_IGNORE : SQL_ROW_PROCEED;
	}
	/* an ignored column keeps its value */
	b.lengths[4] = SQL_COLUMN_IGNORE;
	ok(the.stmt, SQLSetPos(the.stmt, 0, SQL_UPDATE, SQL_LOCK_NO_CHANGE));
	assert_int_equal(b.status[0], SQL_ROW_UPDATED);
	assert_int_equal(b.status[1], SQL_ROW_SUCCESS);
	assert_int_equal(b.status[4], SQL_ROW_UPDATED);
	assert_table("1=x 2=two 3=x 4=four 5=five ");
}

static void
an_error_of_one_row_is_its_own(void **state)
{
	struct buffers b = { 0 };

	(void)state;
	open_block(&b);
	/* the second row would get the key of the first */
	b.ids[1] = 1;
	b.ids[2] = 30;
	assert_int_equal(SQLSetPos(the.stmt, 0, SQL_UPDATE, SQL_LOCK_NO_CHANGE),
		SQL_SUCCESS_WITH_INFO);
	assert_int_equal(b.status[0], SQL_ROW_UPDATED);
	assert_int_equal(b.status[1], SQL_ROW_ERROR);
	assert_int_equal(b.status[2], SQL_ROW_UPDATED);
	assert_table("1=one 2=two 4=four 5=five 30=- ");
}

static void
rows_are_found_by_their_bookmarks(void **state)
{
	struct buffers b = { 0 };
	SQLULEN swapped;

	(void)state;
	open_block(&b);
	/* the fourth row, then the second */
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, 2);
	swapped = b.marks[1];
	b.marks[0] = b.marks[3];
	b.marks[1] = swapped;
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_FETCH_BY_BOOKMARK));
	assert_int_equal(b.ids[0], 4);
	assert_string_equal(b.names[1], "two");
	set_name(&b, 0, "vier");
	set_name(&b, 1, "zwei");
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_UPDATE_BY_BOOKMARK));
	assert_int_equal(b.status[1], SQL_ROW_UPDATED);
	assert_table("1=one 2=zwei 3=- 4=vier 5=five ");
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_DELETE_BY_BOOKMARK));
	assert_int_equal(b.status[0], SQL_ROW_DELETED);
	assert_table("1=one 3=- 5=five ");
	/* an invalid bookmark */
	b.marks[0] = 99;
	b.marks[1] = 0;
	says(the.stmt, "HY111", SQLBulkOperations(the.stmt, SQL_FETCH_BY_BOOKMARK));
	assert_int_equal(b.status[0], SQL_ROW_ERROR);
	says(the.stmt, "HY111", SQLBulkOperations(the.stmt, SQL_DELETE_BY_BOOKMARK));
	b.marks[1] = b.marks[2];
	assert_int_equal(SQLBulkOperations(the.stmt, SQL_FETCH_BY_BOOKMARK),
		SQL_SUCCESS_WITH_INFO);
	assert_int_equal(b.status[0], SQL_ROW_ERROR);
	assert_int_equal(b.status[1], SQL_ROW_SUCCESS);
	assert_int_equal(b.ids[1], 3);
}

static void
several_rows_are_added(void **state)
{
	struct buffers b = { 0 };
	SQLLEN n;

	(void)state;
	open_block(&b);
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, 3);
	for (int i = 0; i < 3; i++) {
		b.ids[i] = 10 + i;
		set_name(&b, i, "new");
	}
	b.lengths[1] = SQL_NULL_DATA;
	ok(the.stmt, SQLBulkOperations(the.stmt, SQL_ADD));
	assert_int_equal(b.status[2], SQL_ROW_ADDED);
	ok(the.stmt, SQLRowCount(the.stmt, &n));
	assert_int_equal(n, 3);
	assert_table("1=one 2=two 3=- 4=four 5=five 10=new 11=- 12=new ");
}

static void
a_value_is_given_while_a_row_is_changed(void **state)
{
	struct buffers b = { 0 };
	SQLPOINTER which;

	(void)state;
	open_block(&b);
	b.lengths[2] = SQL_LEN_DATA_AT_EXEC(8);
	gives(the.stmt, SQL_NEED_DATA,
		SQLSetPos(the.stmt, 3, SQL_UPDATE, SQL_LOCK_NO_CHANGE));
	gives(the.stmt, SQL_NEED_DATA, SQLParamData(the.stmt, &which));
	assert_ptr_equal(which, b.names[2]);
	ok(the.stmt, SQLPutData(the.stmt, TEXT("in "), 3));
	ok(the.stmt, SQLPutData(the.stmt, TEXT("pieces"), SQL_NTS));
	ok(the.stmt, SQLParamData(the.stmt, &which));
	assert_int_equal(b.status[2], SQL_ROW_UPDATED);
	assert_table("1=one 2=two 3=in pieces 4=four 5=five ");
}

/* For a type of fixed length the length argument does not matter. */
static void
a_value_of_the_columns_own_type_is_given(void **state)
{
	SQLBIGINT given =
		77; /* 64 bits for SQLite; for others the driver reads the first 32, also 77 */
	SQLINTEGER id;
	SQLLEN n, at_execution = SQL_DATA_AT_EXEC;
	SQLPOINTER which;
	char name[16];

	(void)state;
	open_to_change(&id, name, sizeof(name), &n);
	(void)snprintf(name, sizeof(name), "new");
	n = SQL_NTS;
	ok(the.stmt,
		SQLBindCol(the.stmt, 1, SQL_C_DEFAULT, &id, sizeof(id), &at_execution));
	gives(the.stmt, SQL_NEED_DATA, SQLBulkOperations(the.stmt, SQL_ADD));
	gives(the.stmt, SQL_NEED_DATA, SQLParamData(the.stmt, &which));
	assert_ptr_equal(which, &id);
	ok(the.stmt, SQLPutData(the.stmt, &given, 0));
	ok(the.stmt, SQLParamData(the.stmt, &which));
	assert_table("1=one 2=two 3=- 4=four 5=five 77=new ");
}

/* A PostgreSQL program may set a search path where another user's objects come first. */
static void
the_catalog_is_the_servers_own(void **state)
{
	SQLHSTMT other = cnt_odbc_new_stmt(&the);
	SQLINTEGER id;
	SQLLEN n;
	char name[16];

	(void)state;
	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	cnt_odbc_run(other, "create schema evil");
	cnt_odbc_run(other, "create table evil.victim (id int primary key, name text)");
	cnt_odbc_run(other, "insert into evil.victim values (1, 'victim')");
	cnt_odbc_run(other,
		"create view evil.pg_class as select oid, null::name as relname, "
		"relnamespace from pg_catalog.pg_class");
	cnt_odbc_run(other, "set search_path = evil, public, pg_catalog");
	open_to_change(&id, name, sizeof(name), &n);
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_FIRST, 0));
	(void)snprintf(name, sizeof(name), "first");
	n = SQL_NTS;
	ok(the.stmt, SQLSetPos(the.stmt, 1, SQL_UPDATE, SQL_LOCK_NO_CHANGE));
	cnt_odbc_run(other, "reset search_path");
	assert_table("1=first 2=two 3=- 4=four 5=five ");
	cnt_odbc_run(other, "drop schema evil cascade");
	cnt_odbc_free_stmt(other);
}

static void
a_block_is_walked_and_refreshed(void **state)
{
	struct buffers b = { 0 };
	char name[16];
	SQLLEN n;

	(void)state;
	open_block(&b);
	ok(the.stmt, SQLSetPos(the.stmt, 4, SQL_POSITION, SQL_LOCK_NO_CHANGE));
	ok(the.stmt, SQLGetData(the.stmt, 2, SQL_C_CHAR, name, sizeof(name), &n));
	assert_string_equal(name, "four");
	b.ids[3] = 0;
	ok(the.stmt, SQLSetPos(the.stmt, 4, SQL_REFRESH, SQL_LOCK_NO_CHANGE));
	assert_int_equal(b.ids[3], 4);
	says(the.stmt, "HY107", SQLSetPos(the.stmt, 6, SQL_POSITION, SQL_LOCK_NO_CHANGE));
	says(the.stmt, "HY109", SQLSetPos(the.stmt, 0, SQL_POSITION, SQL_LOCK_NO_CHANGE));
	says(the.stmt, "HYC00", SQLSetPos(the.stmt, 1, SQL_POSITION, SQL_LOCK_EXCLUSIVE));
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin_rows, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_row_is_changed_where_it_stands),
		TEST(rows_are_changed_by_bookmark_and_added),
		TEST(a_result_without_a_key_is_not_changed),
		TEST(rows_of_a_block_are_changed_but_those_left_out),
		TEST(an_error_of_one_row_is_its_own),
		TEST(rows_are_found_by_their_bookmarks),
		TEST(several_rows_are_added),
		TEST(a_value_is_given_while_a_row_is_changed),
		TEST(a_value_of_the_columns_own_type_is_given),
		TEST(the_catalog_is_the_servers_own),
		TEST(a_block_is_walked_and_refreshed),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
