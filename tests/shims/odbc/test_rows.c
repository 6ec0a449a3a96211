/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reading rows: bound columns, values in pieces, blocks of rows, scrolling; and descriptors.
 *
 * usage: test_odbc_rows sqlite | postgresql | mariadb
 */

static void
a_value_is_read_in_pieces(void **state)
{
	SQLHSTMT stmt = the.stmt;
	char text[5];
	SQLLEN n;

	(void)state;
	ok(stmt, SQLExecDirect(stmt, TEXT("select 'abcdefghij', 7"), SQL_NTS));
	ok(stmt, SQLFetch(stmt));
	/* columns may be read in any order */
	ok(stmt, SQLGetData(stmt, 2, SQL_C_CHAR, text, sizeof(text), &n));
	assert_string_equal(text, "7");
	says(stmt, "01004", SQLGetData(stmt, 1, SQL_C_CHAR, text, sizeof(text), &n));
	assert_string_equal(text, "abcd");
	assert_int_equal(n, 10);
	says(stmt, "01004", SQLGetData(stmt, 1, SQL_C_CHAR, text, sizeof(text), &n));
	assert_string_equal(text, "efgh");
	assert_int_equal(n, 6);
	ok(stmt, SQLGetData(stmt, 1, SQL_C_CHAR, text, sizeof(text), &n));
	assert_string_equal(text, "ij");
	gives(stmt, SQL_NO_DATA, SQLGetData(stmt, 1, SQL_C_CHAR, text, sizeof(text), &n));
	says(stmt, "07009", SQLGetData(stmt, 3, SQL_C_CHAR, text, sizeof(text), &n));
}

static void
wide_text_has_surrogates(void **state)
{
	static const SQLWCHAR wanted[] = { 'x', 0xd834, 0xdd1e, 0 };
	SQLWCHAR text[8];
	SQLLEN n;

	(void)state;
	ok(the.stmt,
		SQLExecDirect(the.stmt, TEXT("select 'x\xf0\x9d\x84\x9e'"), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLGetData(the.stmt, 1, SQL_C_WCHAR, text, sizeof(text), &n));
	assert_int_equal(n, 6);
	assert_memory_equal(text, wanted, sizeof(wanted));
}

struct row {
	SQLINTEGER id;
	SQLLEN id_length;
	char name[4];
	SQLLEN name_length;
};

static void
rows_come_in_blocks(void **state)
{
	struct row rows[3];
	SQLUSMALLINT status[3];
	SQLULEN n = 0;

	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_ROW_BIND_TYPE, sizeof(rows[0]));
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, 3);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROWS_FETCHED_PTR, &n, 0));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROW_STATUS_PTR, status, 0));
	ok(the.stmt,
		SQLBindCol(the.stmt, 1, SQL_C_SLONG, &rows[0].id, 0, &rows[0].id_length));
	ok(the.stmt, SQLBindCol(the.stmt, 2, SQL_C_CHAR, rows[0].name,
			     sizeof(rows[0].name), &rows[0].name_length));
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(n, 3);
	assert_string_equal(rows[1].name, "two");
	assert_int_equal(rows[2].name_length, SQL_NULL_DATA);
	/* "four" and "five" are too long, so each row has a warning */
	says(the.stmt, "01004", SQLFetch(the.stmt));
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].id, 4);
	assert_int_equal(status[0], SQL_ROW_SUCCESS_WITH_INFO);
	assert_int_equal(status[2], SQL_ROW_NOROW);
	gives(the.stmt, SQL_NO_DATA, SQLFetch(the.stmt));
}

static void
long_results_are_whole_in_blocks(void **state)
{
	enum {
		BLOCK = 700
	};
	static SQLINTEGER ids[BLOCK];
	SQLULEN n = 0;
	SQLINTEGER wanted = 0;

	(void)state;
	const char *sql = cnt_odbc_sql(the.kind->words, 50000);
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, BLOCK);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROWS_FETCHED_PTR, &n, 0));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, ids, 0, NULL));
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	while (SQLFetch(the.stmt) == SQL_SUCCESS) {
		for (SQLULEN i = 0; i < n; i++)
			assert_int_equal(ids[i], ++wanted);
	}
	assert_int_equal(wanted, 50000);
}

static void
bound_columns_move_with_their_offset(void **state)
{
	SQLINTEGER ids[5] = { 0 };
	SQLULEN offset = 0;

	(void)state;
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ROW_BIND_OFFSET_PTR, &offset, 0));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, ids, 0, NULL));
	cnt_odbc_run_all();
	for (int i = 4; i >= 0; i--) {
		offset = (SQLULEN)i * sizeof(ids[0]);
		ok(the.stmt, SQLFetch(the.stmt));
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(ids[i], 5 - i);
}

static int
count_fetches(void)
{
	int n = 0;

	while (SQLFetch(the.stmt) == SQL_SUCCESS)
		n++;
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_CLOSE));
	return n;
}

static void
no_more_rows_come_than_are_wanted(void **state)
{
	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_MAX_ROWS, 3);
	cnt_odbc_run_all();
	assert_int_equal(count_fetches(), 3);
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_run_all();
	assert_int_equal(count_fetches(), 3);
	cnt_odbc_set_attr(SQL_ATTR_MAX_ROWS, 0);
	cnt_odbc_run_all();
	assert_int_equal(count_fetches(), 5);
}

static void
rows_are_passed_without_their_data(void **state)
{
	SQLINTEGER id = 77;
	SQLLEN n;

	(void)state;
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	cnt_odbc_set_attr(SQL_ATTR_RETRIEVE_DATA, SQL_RD_OFF);
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 77);
	ok(the.stmt, SQLGetData(the.stmt, 1, SQL_C_SLONG, &id, 0, &n));
	assert_int_equal(id, 2);
	cnt_odbc_set_attr(SQL_ATTR_RETRIEVE_DATA, SQL_RD_ON);
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 3);
}

static void
a_static_cursor_goes_anywhere(void **state)
{
	static const struct {
		SQLSMALLINT orientation;
		SQLLEN offset;
		SQLINTEGER id; /* 0: no data */
	} steps[] = {
		{ SQL_FETCH_LAST, 0, 5 },
		{ SQL_FETCH_PRIOR, 0, 4 },
		{ SQL_FETCH_ABSOLUTE, 2, 2 },
		{ SQL_FETCH_RELATIVE, -1, 1 },
		{ SQL_FETCH_PRIOR, 0, 0 },
		{ SQL_FETCH_NEXT, 0, 1 },
		{ SQL_FETCH_ABSOLUTE, -2, 4 },
		{ SQL_FETCH_RELATIVE, 9, 0 },
		{ SQL_FETCH_PRIOR, 0, 5 },
		{ SQL_FETCH_FIRST, 0, 1 },
		{ SQL_FETCH_ABSOLUTE, 0, 0 },
		{ SQL_FETCH_RELATIVE, 3, 3 },
	};
	SQLINTEGER id;

	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	cnt_odbc_run_all();
	for (size_t i = 0; i < CNT_COUNT(steps); i++) {
		print_message("# step %zu\n", i);
		id = 0;
		gives(the.stmt, steps[i].id == 0 ? SQL_NO_DATA : SQL_SUCCESS,
			SQLFetchScroll(the.stmt, steps[i].orientation, steps[i].offset));
		assert_int_equal(id, steps[i].id);
	}
}

static void
a_forward_only_cursor_does_not_scroll(void **state)
{
	(void)state;
	cnt_odbc_run_all();
	says(the.stmt, "HY106", SQLFetchScroll(the.stmt, SQL_FETCH_LAST, 0));
}

static void
a_bookmark_leads_back(void **state)
{
	unsigned char bookmark[16];
	SQLINTEGER id;
	SQLLEN n;

	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_set_attr(SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE);
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_ABSOLUTE, 3));
	ok(the.stmt, SQLGetData(the.stmt, 0, SQL_C_VARBOOKMARK, bookmark,
			     sizeof(bookmark), &n));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_LAST, 0));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_FETCH_BOOKMARK_PTR, bookmark, 0));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_BOOKMARK, 1));
	assert_int_equal(id, 4);
}

static void
bookmarks_are_bound_in_blocks(void **state)
{
	SQLULEN marks[2];
	SQLINTEGER ids[2];

	(void)state;
	cnt_odbc_set_attr(SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
	cnt_odbc_set_attr(SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE);
	cnt_odbc_set_attr(SQL_ATTR_ROW_ARRAY_SIZE, 2);
	ok(the.stmt, SQLBindCol(the.stmt, 0, SQL_C_VARBOOKMARK, marks, sizeof(marks[0]),
			     NULL));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, ids, 0, NULL));
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_ABSOLUTE, 3));
	assert_int_equal(ids[1], 4);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_FETCH_BOOKMARK_PTR, &marks[1], 0));
	ok(the.stmt, SQLFetchScroll(the.stmt, SQL_FETCH_BOOKMARK, -2));
	assert_int_equal(ids[0], 2);
	assert_int_equal(ids[1], 3);
	marks[1] = 6;
	says(the.stmt, "HY111", SQLFetchScroll(the.stmt, SQL_FETCH_BOOKMARK, 0));
}

/* --------------------------------------------------------------------- descriptors ----- */

static void
columns_are_described(void **state)
{
	SQLHDESC ird;
	SQLCHAR name[16];
	SQLSMALLINT length, type, digits, nullable;
	SQLULEN size;
	SQLLEN number;

	(void)state;
	ok(the.stmt, SQLPrepare(the.stmt, TEXT(cnt_odbc_all), SQL_NTS));
	ok(the.stmt, SQLNumResultCols(the.stmt, &length));
	assert_int_equal(length, 2);
	ok(the.stmt, SQLDescribeCol(the.stmt, 2, name, sizeof(name), &length, &type,
			     &size, &digits, &nullable));
	assert_string_equal(name, "name");
	assert_int_equal(length, 4);
	assert_int_equal(type, SQL_VARCHAR);
	assert_int_equal(size, 30);
	says(the.stmt, "01004",
		SQLDescribeCol(
			the.stmt, 2, name, 3, &length, &type, &size, &digits, &nullable));
	says(the.stmt, "07009",
		SQLDescribeCol(the.stmt, 3, name, sizeof(name), &length, &type, &size,
			&digits, &nullable));
	ok(the.stmt,
		SQLColAttribute(the.stmt, 1, SQL_DESC_UNSIGNED, NULL, 0, NULL, &number));
	assert_int_equal(number, SQL_FALSE);
	ok(the.stmt, SQLGetStmtAttr(the.stmt, SQL_ATTR_IMP_ROW_DESC, &ird, 0, NULL));
	ok_desc(ird, SQLGetDescField(ird, 0, SQL_DESC_COUNT, &length, 0, NULL));
	assert_int_equal(length, 2);
	ok_desc(ird, SQLGetDescRec(ird, 1, name, sizeof(name), &length, &type, NULL, NULL,
			     NULL, NULL, NULL));
	assert_string_equal(name, "id");
	assert_int_equal(type, the.kind->int_type);
	says_desc(ird, "HY016",
		SQLSetDescField(ird, 1, SQL_DESC_TYPE, NUMBER(SQL_CHAR), 0));
}

static void
a_descriptor_is_shared_and_copied(void **state)
{
	SQLHDESC ard, copy;
	SQLINTEGER id = 0;
	SQLSMALLINT type;

	(void)state;
	ok_dbc(the.dbc, SQLAllocHandle(SQL_HANDLE_DESC, the.dbc, &ard));
	ok_dbc(the.dbc, SQLAllocHandle(SQL_HANDLE_DESC, the.dbc, &copy));
	ok_desc(ard,
		SQLSetDescField(ard, 1, SQL_DESC_CONCISE_TYPE, NUMBER(SQL_C_SLONG), 0));
	ok_desc(ard, SQLSetDescField(ard, 1, SQL_DESC_DATA_PTR, &id, 0));
	ok_desc(ard, SQLCopyDesc(ard, copy));
	ok_desc(copy, SQLGetDescField(copy, 1, SQL_DESC_TYPE, &type, 0, NULL));
	assert_int_equal(type, SQL_C_SLONG);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_APP_ROW_DESC, copy, 0));
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 1);
	/* freeing the descriptor restores the statement's own one */
	ok_desc(copy, SQLFreeHandle(SQL_HANDLE_DESC, copy));
	id = 0;
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 0);
	ok_desc(ard, SQLFreeHandle(SQL_HANDLE_DESC, ard));
}

/* Application descriptors and a statement's column descriptors can be copied to another connection. */
static void
a_descriptor_is_copied_to_another_connection(void **state)
{
	SQLHDBC other = cnt_odbc_new_dbc(*state);
	SQLHDESC ird, ard, theirs, back;
	SQLINTEGER id = 0;
	SQLSMALLINT count, type;
	SQLLEN octets;

	ok_dbc(other, SQLConnect(other, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
	ok_dbc(other, SQLAllocHandle(SQL_HANDLE_DESC, other, &theirs));
	ok_dbc(the.dbc, SQLAllocHandle(SQL_HANDLE_DESC, the.dbc, &back));
	ok(the.stmt, SQLGetStmtAttr(the.stmt, SQL_ATTR_APP_ROW_DESC, &ard, 0, NULL));
	ok(the.stmt, SQLGetStmtAttr(the.stmt, SQL_ATTR_IMP_ROW_DESC, &ird, 0, NULL));
	ok(the.stmt, SQLPrepare(the.stmt, TEXT(cnt_odbc_all), SQL_NTS));
	ok_desc(theirs, SQLCopyDesc(ird, theirs));
	ok_desc(theirs, SQLGetDescField(theirs, 0, SQL_DESC_COUNT, &count, 0, NULL));
	assert_int_equal(count, 2);
	ok_desc(theirs,
		SQLGetDescField(theirs, 1, SQL_DESC_CONCISE_TYPE, &type, 0, NULL));
	assert_int_equal(type, the.kind->int_type);
	/* copy there, and copy back to the fetching statement */
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, &octets));
	ok_desc(theirs, SQLCopyDesc(ard, theirs));
	ok_desc(theirs, SQLGetDescField(theirs, 0, SQL_DESC_COUNT, &count, 0, NULL));
	assert_int_equal(count, 1);
	ok_desc(back, SQLCopyDesc(theirs, back));
	ok_dbc(other, SQLDisconnect(other));
	ok_dbc(other, SQLFreeHandle(SQL_HANDLE_DBC, other));
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_UNBIND));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_APP_ROW_DESC, back, 0));
	ok(the.stmt, SQLExecute(the.stmt));
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 1);
	assert_int_equal(octets, sizeof(id));
}

static SQLHDESC
desc_of(SQLHSTMT stmt, SQLINTEGER attr)
{
	SQLHDESC desc;

	ok(stmt, SQLGetStmtAttr(stmt, attr, &desc, 0, NULL));
	return desc;
}

/* Insert fetched rows into another table, with copied descriptors. */
static void
rows_are_handed_on_by_copied_descriptors(void **state)
{
	SQLHSTMT to = cnt_odbc_new_stmt(*state);
	SQLINTEGER id;
	SQLLEN length;
	char name[16], text[16];

	cnt_odbc_run(to, "drop table if exists u");
	cnt_odbc_run(to, "create table u (id int, name varchar(30))");
	ok(the.stmt, SQLPrepare(the.stmt, TEXT(cnt_odbc_all), SQL_NTS));
	ok(the.stmt, SQLBindCol(the.stmt, 1, SQL_C_SLONG, &id, 0, NULL));
	ok(the.stmt, SQLBindCol(the.stmt, 2, SQL_C_CHAR, name, sizeof(name), &length));
	/* the statement has not been executed yet */
	ok_desc(NULL, SQLCopyDesc(desc_of(the.stmt, SQL_ATTR_IMP_ROW_DESC),
			      desc_of(to, SQL_ATTR_IMP_PARAM_DESC)));
	ok_desc(NULL, SQLCopyDesc(desc_of(the.stmt, SQL_ATTR_APP_ROW_DESC),
			      desc_of(to, SQL_ATTR_APP_PARAM_DESC)));
	ok(to, SQLPrepare(to, TEXT("insert into u values (?, ?)"), SQL_NTS));
	ok(the.stmt, SQLExecute(the.stmt));
	while (SQLFetch(the.stmt) == SQL_SUCCESS)
		ok(to, SQLExecute(to));
	ok(to, SQLFreeStmt(to, SQL_RESET_PARAMS));
	assert_string_equal(cnt_odbc_ask(to,
				    "select count(*) from u, t where u.id = t.id and "
				    "u.name = t.name",
				    text, sizeof(text)),
		"4");
	assert_string_equal(cnt_odbc_ask(to, "select count(*) from u where name is null",
				    text, sizeof(text)),
		"1");
	cnt_odbc_free_stmt(to);
}

static void
a_record_is_bound_as_a_whole(void **state)
{
	SQLHDESC ard = desc_of(the.stmt, SQL_ATTR_APP_ROW_DESC);
	SQLINTEGER id = 0;
	SQLSMALLINT type, sub, precision, scale;
	SQLLEN octets = 0, indicator = 77, length;

	(void)state;
	/* length and indicator in separate variables */
	ok_desc(ard, SQLSetDescRec(ard, 1, SQL_C_SLONG, 0, sizeof(id), 0, 0, &id, &octets,
			     &indicator));
	ok_desc(ard, SQLGetDescRec(ard, 1, NULL, 0, NULL, &type, &sub, &length,
			     &precision, &scale, NULL));
	assert_int_equal(type, SQL_C_SLONG);
	cnt_odbc_run_all();
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 1);
	assert_int_equal(octets, sizeof(id));
	assert_int_equal(indicator, 0);
	says_desc(ard, "HY021",
		SQLSetDescRec(ard, 1, 4711, 0, sizeof(id), 0, 0, &id, NULL, NULL));
	says_desc(ard, "07009",
		SQLSetDescRec(
			ard, -1, SQL_C_SLONG, 0, sizeof(id), 0, 0, &id, NULL, NULL));
	says_desc(ard, "HY091", SQLSetDescField(ard, 1, 4711, NUMBER(1), 0));
	/* a count of 0 unbinds */
	ok_desc(ard, SQLSetDescField(ard, 0, SQL_DESC_COUNT, NUMBER(0), 0));
	id = 0;
	ok(the.stmt, SQLFetch(the.stmt));
	assert_int_equal(id, 0);
}

static void
cursors_have_names(void **state)
{
	SQLHSTMT other = cnt_odbc_new_stmt(&the);
	char name[32];
	SQLSMALLINT length;

	(void)state;
	ok(the.stmt, SQLGetCursorName(the.stmt, (SQLCHAR *)name, sizeof(name), &length));
	assert_memory_equal(name, "SQL_CUR", 7);
	ok(the.stmt, SQLSetCursorName(the.stmt, TEXT("mine"), SQL_NTS));
	says(other, "3C000", SQLSetCursorName(other, TEXT("MINE"), SQL_NTS));
	says(other, "34000", SQLSetCursorName(other, TEXT("SQL_CUR1"), SQL_NTS));
	cnt_odbc_free_stmt(other);
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin_rows, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_value_is_read_in_pieces),
		TEST(wide_text_has_surrogates),
		TEST(rows_come_in_blocks),
		TEST(long_results_are_whole_in_blocks),
		TEST(bound_columns_move_with_their_offset),
		TEST(no_more_rows_come_than_are_wanted),
		TEST(rows_are_passed_without_their_data),
		TEST(a_static_cursor_goes_anywhere),
		TEST(a_forward_only_cursor_does_not_scroll),
		TEST(a_bookmark_leads_back),
		TEST(bookmarks_are_bound_in_blocks),
		TEST(columns_are_described),
		TEST(a_descriptor_is_shared_and_copied),
		TEST(a_descriptor_is_copied_to_another_connection),
		TEST(rows_are_handed_on_by_copied_descriptors),
		TEST(a_record_is_bound_as_a_whole),
		TEST(cursors_have_names),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
