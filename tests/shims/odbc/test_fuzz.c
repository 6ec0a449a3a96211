/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random calls through the driver manager, legal and illegal. No call may crash (a sanitizer
 * watches), each failure must say why, and every handle can be freed at the end. The memory that a
 * call gets is always as large as the call says. CNT_SEED repeats a run, ODBC_FUZZ_ROUNDS makes it
 * longer, and ODBC_FUZZ_TRACE prints the calls.
 */

/* ---- arguments of calls ---- */

static const SQLSMALLINT lengths[] = { SQL_NTS, SQL_NULL_DATA, 0, 1, 4, 8,
	SQL_DATA_AT_EXEC, SQL_DEFAULT_PARAM, SQL_LEN_DATA_AT_EXEC(5), -77 };

/* ---- calls with a statement ---- */

static SQLRETURN
exec_direct(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_NTS, SQL_NTS, SQL_NTS, SQL_NTS, 0, -9 };

	return SQLExecDirect(stmt_of(w), statement(w), ONE_OF(w, list));
}

static SQLRETURN
exec_direct_wide(struct world *w)
{
	SQLWCHAR text[64];
	const SQLCHAR *p = statement(w);
	size_t n = 0;

	for (; p[n] && n < 63; n++)
		text[n] = p[n];
	text[n] = 0;
	return SQLExecDirectW(stmt_of(w), text, below(w, 2) ? SQL_NTS : (SQLINTEGER)n);
}

static SQLRETURN
prepare(struct world *w)
{
	return SQLPrepare(stmt_of(w), statement(w), SQL_NTS);
}

static SQLRETURN
execute(struct world *w)
{
	return SQLExecute(stmt_of(w));
}

static SQLRETURN
fetch(struct world *w)
{
	return SQLFetch(stmt_of(w));
}

static SQLRETURN
fetch_scroll(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_FETCH_NEXT, SQL_FETCH_FIRST,
		SQL_FETCH_LAST, SQL_FETCH_PRIOR, SQL_FETCH_ABSOLUTE, SQL_FETCH_RELATIVE,
		SQL_FETCH_BOOKMARK, 99 };

	return SQLFetchScroll(stmt_of(w), ONE_OF(w, list), (SQLLEN)below(w, 9) - 4);
}

static SQLRETURN
get_data(struct world *w)
{
	SQLSMALLINT type = a_c_type(w);
	size_t room = below(w, ROOM_MAX);
	/* Types of fixed length ignore the buffer length. */
	int is_sized = type == SQL_C_CHAR || type == SQL_C_WCHAR || type == SQL_C_BINARY;
	void *to = buffer(is_sized ? room : ROOM_MAX);
	SQLLEN n = 0;
	SQLRETURN r = SQLGetData(stmt_of(w), (SQLUSMALLINT)below(w, N_COLUMNS + 2), type,
		to, is_sized ? (SQLLEN)room : ROOM_MAX, below(w, 8) ? &n : NULL);

	free(to);
	return r;
}

static SQLRETURN
bind_column(struct world *w)
{
	uint32_t col = below(w, N_COLUMNS);

	return SQLBindCol(stmt_of(w), (SQLUSMALLINT)col, a_c_type(w),
		below(w, 8) ? w->columns[w->at][col] : NULL,
		(SQLLEN)below(w, ROOM_MAX + 2) - 1, w->column_lens[w->at][col]);
}

static SQLRETURN
bind_parameter(struct world *w)
{
	static const SQLSMALLINT directions[] = { SQL_PARAM_INPUT, SQL_PARAM_INPUT,
		SQL_PARAM_INPUT, SQL_PARAM_OUTPUT, SQL_PARAM_INPUT_OUTPUT, 77 };
	static const char *const values[] = { "42", "-1.5", "hello", "2024-02-29", "",
		"01:02:03", "\xff\xfe" };
	uint32_t param = below(w, N_COLUMNS);
	const char *value = values[below(w, CNT_COUNT(values))];
	char *to = w->params[w->at][param];

	memset(to, 0, BUFFER_BYTES);
	memcpy(to, value, strlen(value));
	for (size_t i = 0; i < ELEMENT_MAX; i++)
		w->param_lens[w->at][param][i] = ONE_OF(w, lengths);
	return SQLBindParameter(stmt_of(w), (SQLUSMALLINT)param, ONE_OF(w, directions),
		a_c_type(w), a_sql_type(w), below(w, 40), (SQLSMALLINT)below(w, 5), to,
		(SQLLEN)below(w, ROOM_MAX),
		below(w, 6) ? w->param_lens[w->at][param] : NULL);
}

static SQLRETURN
count_columns(struct world *w)
{
	SQLSMALLINT n;

	return SQLNumResultCols(stmt_of(w), &n);
}

static SQLRETURN
describe_column(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n, type, digits, nullable;
	SQLCHAR *text = buffer((size_t)room);
	SQLULEN size;
	SQLRETURN r = SQLDescribeCol(stmt_of(w), (SQLUSMALLINT)below(w, 6), text, room,
		&n, &type, &size, &digits, &nullable);

	free(text);
	return r;
}

static SQLRETURN
column_attribute(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n;
	SQLUSMALLINT field =
		(SQLUSMALLINT)(below(w, 2) ? below(w, 34) : 1000 + below(w, 40));
	SQLCHAR *text = buffer((size_t)room);
	SQLLEN number;
	SQLRETURN r = SQLColAttribute(
		stmt_of(w), (SQLUSMALLINT)below(w, 6), field, text, room, &n, &number);

	free(text);
	return r;
}

static SQLRETURN
count_parameters(struct world *w)
{
	SQLSMALLINT n;

	return SQLNumParams(stmt_of(w), &n);
}

static SQLRETURN
describe_parameter(struct world *w)
{
	SQLSMALLINT type, digits, nullable;
	SQLULEN size;

	return SQLDescribeParam(
		stmt_of(w), (SQLUSMALLINT)below(w, 4), &type, &size, &digits, &nullable);
}

static SQLRETURN
count_rows(struct world *w)
{
	SQLLEN n;

	return SQLRowCount(stmt_of(w), &n);
}

static SQLRETURN
more_results(struct world *w)
{
	return SQLMoreResults(stmt_of(w));
}

static SQLRETURN
close_cursor(struct world *w)
{
	return SQLCloseCursor(stmt_of(w));
}

static SQLRETURN
free_part(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_CLOSE, SQL_UNBIND, SQL_RESET_PARAMS, 99 };

	return SQLFreeStmt(stmt_of(w), (SQLUSMALLINT)ONE_OF(w, list));
}

static SQLRETURN
cancel(struct world *w)
{
	return SQLCancel(stmt_of(w));
}

static SQLRETURN
set_attribute(struct world *w)
{
	const struct {
		SQLINTEGER attribute;
		SQLULEN value;
	} list[] = {
		{ SQL_ATTR_CURSOR_TYPE, below(w, 5) },
		{ SQL_ATTR_CURSOR_SCROLLABLE, below(w, 3) },
		{ SQL_ATTR_CONCURRENCY, below(w, 6) },
		{ SQL_ATTR_ROW_ARRAY_SIZE, below(w, ROWS_MAX + 1) },
		{ SQL_ATTR_ROW_BIND_TYPE, below(w, 3) * 128 },
		{ SQL_ATTR_PARAMSET_SIZE, below(w, ROWS_MAX + 1) },
		{ SQL_ATTR_PARAM_BIND_TYPE, below(w, 3) * 128 },
		{ SQL_ATTR_MAX_ROWS, below(w, 4) },
		{ SQL_ATTR_MAX_LENGTH, below(w, 4) },
		{ SQL_ATTR_USE_BOOKMARKS, below(w, 4) },
		{ SQL_ATTR_QUERY_TIMEOUT, below(w, 3) },
		{ SQL_ATTR_NOSCAN, below(w, 3) },
		{ SQL_ATTR_METADATA_ID, below(w, 3) },
		{ SQL_ATTR_RETRIEVE_DATA, below(w, 3) },
		{ SQL_ATTR_ROW_STATUS_PTR, (SQLULEN)(uintptr_t)w->row_status[w->at] },
		{ SQL_ATTR_ROWS_FETCHED_PTR, (SQLULEN)(uintptr_t)&w->fetched[w->at] },
		{ SQL_ATTR_PARAM_STATUS_PTR, (SQLULEN)(uintptr_t)w->param_status[w->at] },
		{ SQL_ATTR_PARAMS_PROCESSED_PTR,
			(SQLULEN)(uintptr_t)&w->processed[w->at] },
		{ 4711, 1 },
	};
	uint32_t i = below(w, CNT_COUNT(list));

	return SQLSetStmtAttr(
		stmt_of(w), list[i].attribute, NUMBER(list[i].value), SQL_IS_UINTEGER);
}

static SQLRETURN
get_attribute(struct world *w)
{
	SQLULEN value[4];
	SQLINTEGER n;

	return SQLGetStmtAttr(
		stmt_of(w), (SQLINTEGER)below(w, 40), value, sizeof(value), &n);
}

static SQLRETURN
set_position(struct world *w)
{
	return SQLSetPos(stmt_of(w), below(w, 4), (SQLUSMALLINT)below(w, 7),
		(SQLUSMALLINT)below(w, 4));
}

static SQLRETURN
bulk(struct world *w)
{
	return SQLBulkOperations(stmt_of(w), (SQLSMALLINT)below(w, 10));
}

static SQLRETURN
param_data(struct world *w)
{
	SQLPOINTER token;

	return SQLParamData(stmt_of(w), &token);
}

static SQLRETURN
put_data(struct world *w)
{
	static const SQLSMALLINT list[] = { 0, 1, 4, 8, SQL_NTS, SQL_NULL_DATA, -99 };
	/* For a type of fixed length the driver reads all of the value, whatever the length says. */
	char *piece = buffer(ROOM_MAX);
	SQLRETURN r;

	memcpy(piece, "12345678", 8);
	r = SQLPutData(stmt_of(w), piece, ONE_OF(w, list));
	free(piece);
	return r;
}

static SQLRETURN
cursor_name(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n;
	SQLCHAR *text;
	SQLRETURN r;

	if (below(w, 2))
		return SQLSetCursorName(stmt_of(w), TEXT("cursor_a"), name_length(w));
	text = buffer((size_t)room);
	r = SQLGetCursorName(stmt_of(w), text, room, &n);
	free(text);
	return r;
}

static SQLRETURN
list_types(struct world *w)
{
	return SQLGetTypeInfo(stmt_of(w), below(w, 2) ? SQL_ALL_TYPES : a_sql_type(w));
}

static SQLRETURN
list_tables(struct world *w)
{
	return SQLTables(stmt_of(w), name(w), name_length(w), name(w), name_length(w),
		name(w), name_length(w), name(w), name_length(w));
}

static SQLRETURN
list_columns(struct world *w)
{
	return SQLColumns(stmt_of(w), name(w), name_length(w), name(w), name_length(w),
		name(w), name_length(w), name(w), name_length(w));
}

static SQLRETURN
list_keys(struct world *w)
{
	if (below(w, 2))
		return SQLPrimaryKeys(stmt_of(w), name(w), name_length(w), name(w),
			name_length(w), name(w), name_length(w));
	return SQLForeignKeys(stmt_of(w), name(w), name_length(w), name(w),
		name_length(w), name(w), name_length(w), name(w), name_length(w), name(w),
		name_length(w), name(w), name_length(w));
}

static SQLRETURN
list_statistics(struct world *w)
{
	if (below(w, 2))
		return SQLStatistics(stmt_of(w), name(w), name_length(w), name(w),
			name_length(w), name(w), name_length(w),
			(SQLUSMALLINT)below(w, 3), (SQLUSMALLINT)below(w, 3));
	return SQLSpecialColumns(stmt_of(w), (SQLUSMALLINT)below(w, 4), name(w),
		name_length(w), name(w), name_length(w), name(w), name_length(w),
		(SQLUSMALLINT)below(w, 4), (SQLUSMALLINT)below(w, 3));
}

static SQLRETURN
list_procedures(struct world *w)
{
	if (below(w, 2))
		return SQLProcedures(stmt_of(w), name(w), name_length(w), name(w),
			name_length(w), name(w), name_length(w));
	return SQLProcedureColumns(stmt_of(w), name(w), name_length(w), name(w),
		name_length(w), name(w), name_length(w), name(w), name_length(w));
}

static SQLRETURN
list_privileges(struct world *w)
{
	if (below(w, 2))
		return SQLTablePrivileges(stmt_of(w), name(w), name_length(w), name(w),
			name_length(w), name(w), name_length(w));
	return SQLColumnPrivileges(stmt_of(w), name(w), name_length(w), name(w),
		name_length(w), name(w), name_length(w), name(w), name_length(w));
}

/* ---- calls with the connection ---- */

/*
 * The driver manager answers these information types itself. It truncates without a warning, and
 * writes to buffers of length zero.
 */
static int
is_managers(SQLUSMALLINT id)
{
	static const SQLUSMALLINT ids[] = { SQL_DATA_SOURCE_NAME, SQL_DRIVER_HDBC,
		SQL_DRIVER_HENV, SQL_DRIVER_HSTMT, SQL_DRIVER_HLIB, SQL_DRIVER_HDESC,
		SQL_ODBC_VER, SQL_DM_VER, SQL_XOPEN_CLI_YEAR };

	for (size_t i = 0; i < CNT_COUNT(ids); i++) {
		if (ids[i] == id)
			return 1;
	}
	return 0;
}

static SQLRETURN
get_info(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 40), n;
	/* A numeric value is written whole, whatever the length argument says. */
	char *to = buffer((size_t)room + sizeof(SQLULEN));
	SQLUSMALLINT id =
		(SQLUSMALLINT)(below(w, 8) ? below(w, 180) : 10000 + below(w, 30));
	SQLRETURN r;

	if (is_managers(id))
		id = SQL_DRIVER_VER;
	r = SQLGetInfo(w->dbc, id, to, room, &n);
	free(to);
	return r;
}

static SQLRETURN
end_transaction(struct world *w)
{
	return SQLEndTran(SQL_HANDLE_DBC, w->dbc, (SQLSMALLINT)below(w, 3));
}

static SQLRETURN
set_autocommit(struct world *w)
{
	return SQLSetConnectAttr(
		w->dbc, SQL_ATTR_AUTOCOMMIT, NUMBER(below(w, 3)), SQL_IS_UINTEGER);
}

static SQLRETURN
native_sql(struct world *w)
{
	SQLINTEGER room = (SQLINTEGER)below(w, 40), n;
	SQLCHAR *to = buffer((size_t)room);
	SQLRETURN r = SQLNativeSql(w->dbc, statement(w), SQL_NTS, to, room, &n);

	free(to);
	return r;
}

#define CALLS 200 /* in each round */

static const struct call calls[] = {
	{ "SQLExecDirect", exec_direct, SQL_HANDLE_STMT, 6 },
	{ "SQLExecDirectW", exec_direct_wide, SQL_HANDLE_STMT, 2 },
	{ "SQLPrepare", prepare, SQL_HANDLE_STMT, 4 },
	{ "SQLExecute", execute, SQL_HANDLE_STMT, 6 },
	{ "SQLFetch", fetch, SQL_HANDLE_STMT, 6 },
	{ "SQLFetchScroll", fetch_scroll, SQL_HANDLE_STMT, 5 },
	{ "SQLGetData", get_data, SQL_HANDLE_STMT, 8 },
	{ "SQLBindCol", bind_column, SQL_HANDLE_STMT, 5 },
	{ "SQLBindParameter", bind_parameter, SQL_HANDLE_STMT, 8 },
	{ "SQLNumResultCols", count_columns, SQL_HANDLE_STMT, 1 },
	{ "SQLDescribeCol", describe_column, SQL_HANDLE_STMT, 2 },
	{ "SQLColAttribute", column_attribute, SQL_HANDLE_STMT, 3 },
	{ "SQLNumParams", count_parameters, SQL_HANDLE_STMT, 1 },
	{ "SQLDescribeParam", describe_parameter, SQL_HANDLE_STMT, 2 },
	{ "SQLRowCount", count_rows, SQL_HANDLE_STMT, 1 },
	{ "SQLMoreResults", more_results, SQL_HANDLE_STMT, 2 },
	{ "SQLCloseCursor", close_cursor, SQL_HANDLE_STMT, 4 },
	{ "SQLFreeStmt", free_part, SQL_HANDLE_STMT, 4 },
	{ "SQLCancel", cancel, SQL_HANDLE_STMT, 2 },
	{ "SQLSetStmtAttr", set_attribute, SQL_HANDLE_STMT, 5 },
	{ "SQLGetStmtAttr", get_attribute, SQL_HANDLE_STMT, 1 },
	{ "SQLSetPos", set_position, SQL_HANDLE_STMT, 2 },
	{ "SQLBulkOperations", bulk, SQL_HANDLE_STMT, 1 },
	{ "SQLParamData", param_data, SQL_HANDLE_STMT, 4 },
	{ "SQLPutData", put_data, SQL_HANDLE_STMT, 4 },
	{ "SQLSetCursorName", cursor_name, SQL_HANDLE_STMT, 1 },
	{ "SQLGetTypeInfo", list_types, SQL_HANDLE_STMT, 1 },
	{ "SQLTables", list_tables, SQL_HANDLE_STMT, 1 },
	{ "SQLColumns", list_columns, SQL_HANDLE_STMT, 1 },
	{ "SQLPrimaryKeys", list_keys, SQL_HANDLE_STMT, 1 },
	{ "SQLStatistics", list_statistics, SQL_HANDLE_STMT, 1 },
	{ "SQLProcedures", list_procedures, SQL_HANDLE_STMT, 1 },
	{ "SQLTablePrivileges", list_privileges, SQL_HANDLE_STMT, 1 },
	{ "SQLGetInfo", get_info, SQL_HANDLE_DBC, 1 },
	{ "SQLEndTran", end_transaction, SQL_HANDLE_DBC, 2 },
	{ "SQLSetConnectAttr", set_autocommit, SQL_HANDLE_DBC, 1 },
	{ "SQLNativeSql", native_sql, SQL_HANDLE_DBC, 1 },
	{ NULL, NULL, 0, 0 },
};

static const struct call *const tables[] = { calls, cnt_fuzz_desc_calls,
	cnt_fuzz_wide_calls };

/* ---- the random loop ---- */

/* The call at this position, if each call is repeated by its weight. NULL after the last. */
static const struct call *
call_at(unsigned at, unsigned *ret_all)
{
	*ret_all = 0;
	for (size_t i = 0; i < CNT_COUNT(tables); i++) {
		for (const struct call *call = tables[i]; call->name != NULL; call++) {
			*ret_all += call->weight;
			if (at < *ret_all)
				return call;
		}
	}
	return NULL;
}

static const struct call *
next_call(struct world *w)
{
	unsigned all, ignored;

	(void)call_at(UINT_MAX, &all);
	return call_at(below(w, all), &ignored);
}

static SQLHANDLE
handle_of(const struct world *w, const struct call *call)
{
	if (call->kind == SQL_HANDLE_STMT)
		return w->stmts[w->at];
	return call->kind == SQL_HANDLE_DESC ? w->desc : (SQLHANDLE)w->dbc;
}

/* A failure must give an SQLSTATE of five characters and a message. */
static void
check_diagnostics(const struct world *w, const struct call *call, SQLRETURN r)
{
	SQLHANDLE handle = handle_of(w, call);
	SQLCHAR state[6] = "", message[512] = "";
	SQLINTEGER native;
	SQLSMALLINT n;

	if (r == SQL_SUCCESS || r == SQL_NO_DATA || r == SQL_NEED_DATA ||
		r == SQL_STILL_EXECUTING)
		return;
	if (r != SQL_ERROR && r != SQL_SUCCESS_WITH_INFO)
		print_error("%s returned %d\n", call->name, r);
	assert_true(r == SQL_ERROR || r == SQL_SUCCESS_WITH_INFO);
	r = SQLGetDiagRec(
		call->kind, handle, 1, state, &native, message, sizeof(message), &n);
	if (!SQL_SUCCEEDED(r))
		print_error("%s failed and does not say why\n", call->name);
	assert_true(SQL_SUCCEEDED(r));
	assert_int_equal(strlen((const char *)state), 5);
	assert_true(*message != 0);
}

static void
play(struct world *w)
{
	for (int i = 0; i < CALLS; i++) {
		const struct call *call = next_call(w);
		SQLRETURN r;

		w->at = (int)below(w, N_STMTS);
		if (getenv("ODBC_FUZZ_TRACE"))
			print_message("%d %s\n", w->at, call->name);
		r = call->make(w);
		check_diagnostics(w, call, r);
	}
}

/* Poll an asynchronous call to its end. */
static void
finish(SQLHSTMT stmt)
{
	SQLPOINTER value;

	for (int i = 0; i < 2000; i++) {
		if (SQLExecDirect(stmt, TEXT("select 1"), SQL_NTS) !=
				SQL_STILL_EXECUTING &&
			SQLExecute(stmt) != SQL_STILL_EXECUTING &&
			SQLParamData(stmt, &value) != SQL_STILL_EXECUTING)
			return;
		cnt_pause_ms(1);
	}
	fail_msg("a statement is executed for ever");
}

/* All handles can be freed, whatever their state. */
static void
give_back(struct world *w)
{
	for (int i = 0; i < N_STMTS; i++) {
		finish(w->stmts[i]);
		(void)SQLCancel(w->stmts[i]);
		assert_int_equal(
			SQLFreeHandle(SQL_HANDLE_STMT, w->stmts[i]), SQL_SUCCESS);
	}
	for (int i = 0; i < N_DESCS; i++)
		ok_desc(w->descs[i], SQLFreeHandle(SQL_HANDLE_DESC, w->descs[i]));
	ok_dbc(w->dbc, SQLEndTran(SQL_HANDLE_DBC, w->dbc, SQL_ROLLBACK));
	assert_int_equal(SQLDisconnect(w->dbc), SQL_SUCCESS);
	assert_int_equal(SQLFreeHandle(SQL_HANDLE_DBC, w->dbc), SQL_SUCCESS);
}

static void
play_round(struct world *w, uint64_t seed)
{
	cnt_random_init(&w->random, seed);
	w->dbc = cnt_odbc_new_dbc(&w->rig);
	ok_dbc(w->dbc, SQLConnect(w->dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
	w->rig.dbc = w->dbc;
	for (int i = 0; i < N_STMTS; i++)
		w->stmts[i] = cnt_odbc_new_stmt(&w->rig);
	for (int i = 0; i < N_DESCS; i++)
		ok_dbc(w->dbc, SQLAllocHandle(SQL_HANDLE_DESC, w->dbc, &w->descs[i]));
	w->bind_offset = 8;
	play(w);
	give_back(w);
}

static void
create_memory(struct world *w, int is_end)
{
	for (int i = 0; i < N_STMTS; i++) {
		for (int k = 0; k < N_COLUMNS; k++) {
			if (is_end) {
				free(w->columns[i][k]);
				free(w->params[i][k]);
				continue;
			}
			w->columns[i][k] = buffer(BUFFER_BYTES);
			w->params[i][k] = buffer(BUFFER_BYTES);
		}
	}
}

static struct world world;
static const struct cnt_odbc_kind *kind;

static void
no_order_of_calls_does_harm(void **state)
{
	const char *rounds = getenv("ODBC_FUZZ_ROUNDS");
	uint64_t n = rounds ? strtoull(rounds, NULL, 10) : 60, first;

	(void)state;
	cnt_random_init_printed(&world.random);
	first = world.random.seed;
	for (uint64_t i = 0; i < n; i++) {
		if (getenv("ODBC_FUZZ_TRACE"))
			print_message("seed %llu\n", (unsigned long long)(first + i));
		play_round(&world, first + i);
	}
}

static int
group_setup(void **state)
{
	(void)state;
	create_memory(&world, 0);
	if (cnt_odbc_start(&world.rig, kind) < 0 || cnt_odbc_connect(&world.rig) < 0)
		return -1;
	cnt_odbc_run(world.rig.stmt,
		"create table odbc_fuzz (a integer not null primary key, b varchar(20))");
	cnt_odbc_run(world.rig.stmt, "insert into odbc_fuzz values (1, 'one')");
	cnt_odbc_run(world.rig.stmt, "insert into odbc_fuzz values (2, null)");
	return cnt_odbc_disconnect(&world.rig);
}

static int
group_teardown(void **state)
{
	(void)state;
	create_memory(&world, 1);
	return cnt_odbc_stop(&world.rig);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_of_calls_does_harm),
	};

	kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
