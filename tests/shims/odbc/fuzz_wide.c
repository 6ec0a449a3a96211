/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

/* Wide functions; attributes of the connection; polling. */

/* A text in UTF-16, of its exact size. NULL stays NULL. */
static SQLWCHAR *
widen(const SQLCHAR *text)
{
	size_t n = text != NULL ? strlen((const char *)text) : 0;
	SQLWCHAR *wide = text != NULL ? buffer((n + 1) * sizeof(*wide)) : NULL;

	for (size_t i = 0; i < n; i++)
		wide[i] = text[i];
	return wide;
}

static SQLRETURN
prepare_wide(struct world *w)
{
	SQLWCHAR *sql = widen(statement(w));
	SQLRETURN r = SQLPrepareW(stmt_of(w), sql, SQL_NTS);

	free(sql);
	return r;
}

static SQLRETURN
describe_column_wide(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n, type, digits, nullable;
	SQLWCHAR *text = buffer((size_t)room * sizeof(*text));
	SQLULEN size;
	SQLRETURN r = SQLDescribeColW(stmt_of(w), (SQLUSMALLINT)below(w, 6), text, room,
		&n, &type, &size, &digits, &nullable);

	free(text);
	return r;
}

static SQLRETURN
column_attribute_wide(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)(below(w, 20) * 2), n;
	SQLUSMALLINT field =
		(SQLUSMALLINT)(below(w, 2) ? below(w, 34) : 1000 + below(w, 40));
	SQLWCHAR *text = buffer((size_t)room);
	SQLLEN number;
	SQLRETURN r = SQLColAttributeW(
		stmt_of(w), (SQLUSMALLINT)below(w, 6), field, text, room, &n, &number);

	free(text);
	return r;
}

static SQLRETURN
cursor_name_wide(struct world *w)
{
	static SQLWCHAR wanted[] = { 'w', 'i', 'd', 0x00e8, 0 };
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n;
	SQLWCHAR *text;
	SQLRETURN r;

	if (below(w, 2))
		return SQLSetCursorNameW(stmt_of(w), wanted, name_length(w));
	text = buffer((size_t)room * sizeof(*text));
	r = SQLGetCursorNameW(stmt_of(w), text, room, &n);
	free(text);
	return r;
}

#define N_NAMES 6

/* Lists with up to six names each. */
static SQLRETURN
list_wide(struct world *w)
{
	SQLWCHAR *n[N_NAMES];
	SQLHSTMT stmt = stmt_of(w);
	SQLRETURN r;

	for (size_t i = 0; i < N_NAMES; i++)
		n[i] = widen(name(w));
	switch (below(w, 6)) {
	case 0:
		r = SQLTablesW(
			stmt, n[0], SQL_NTS, n[1], SQL_NTS, n[2], SQL_NTS, n[3], SQL_NTS);
		break;
	case 1:
		r = SQLColumnsW(
			stmt, n[0], SQL_NTS, n[1], SQL_NTS, n[2], SQL_NTS, n[3], SQL_NTS);
		break;
	case 2:
		r = SQLForeignKeysW(stmt, n[0], SQL_NTS, n[1], SQL_NTS, n[2], SQL_NTS,
			n[3], SQL_NTS, n[4], SQL_NTS, n[5], SQL_NTS);
		break;
	case 3:
		r = SQLStatisticsW(stmt, n[0], SQL_NTS, n[1], SQL_NTS, n[2], SQL_NTS,
			(SQLUSMALLINT)below(w, 3), (SQLUSMALLINT)below(w, 3));
		break;
	case 4:
		r = SQLProcedureColumnsW(
			stmt, n[0], SQL_NTS, n[1], SQL_NTS, n[2], SQL_NTS, n[3], SQL_NTS);
		break;
	default:
		r = SQLGetTypeInfoW(stmt, a_sql_type(w));
		break;
	}
	for (size_t i = 0; i < N_NAMES; i++)
		free(n[i]);
	return r;
}

static SQLRETURN
diagnostics_wide(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n;
	SQLWCHAR state[6], *text = buffer((size_t)room * sizeof(*text));
	SQLINTEGER native;

	(void)SQLGetDiagRecW(SQL_HANDLE_STMT, stmt_of(w), (SQLSMALLINT)below(w, 4), state,
		&native, text, room, &n);
	free(text);
	return SQL_SUCCESS;
}

static SQLRETURN
extended_fetch(struct world *w)
{
	return SQLExtendedFetch(stmt_of(w), (SQLUSMALLINT)(below(w, 9) + 1),
		(SQLLEN)below(w, 9) - 4, &w->fetched[w->at], w->row_status[w->at]);
}

/* A polled call is repeated at random, or when all handles are freed. */
static SQLRETURN
set_async(struct world *w)
{
	return SQLSetStmtAttr(
		stmt_of(w), SQL_ATTR_ASYNC_ENABLE, NUMBER(below(w, 3)), SQL_IS_UINTEGER);
}

static SQLRETURN
native_sql_wide(struct world *w)
{
	SQLINTEGER room = (SQLINTEGER)below(w, 40), n;
	SQLWCHAR *sql = widen(statement(w)), *to = buffer((size_t)room * sizeof(*to));
	SQLRETURN r = SQLNativeSqlW(w->dbc, sql, SQL_NTS, to, room, &n);

	free(sql);
	free(to);
	return r;
}

static SQLRETURN
set_connection(struct world *w)
{
	const struct {
		SQLINTEGER attribute;
		SQLULEN value;
	} list[] = {
		{ SQL_ATTR_ACCESS_MODE, below(w, 3) },
		{ SQL_ATTR_TXN_ISOLATION, 1u << below(w, 5) },
		{ SQL_ATTR_LOGIN_TIMEOUT, below(w, 3) },
		{ SQL_ATTR_CONNECTION_TIMEOUT, below(w, 3) },
		{ SQL_ATTR_METADATA_ID, below(w, 3) },
		{ SQL_ATTR_PACKET_SIZE, 512 },
		{ SQL_ATTR_QUIET_MODE, 0 },
		{ 4711, 1 },
	};
	uint32_t i = below(w, CNT_COUNT(list));

	return SQLSetConnectAttr(
		w->dbc, list[i].attribute, NUMBER(list[i].value), SQL_IS_UINTEGER);
}

static SQLRETURN
get_connection(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_ATTR_ACCESS_MODE, SQL_ATTR_AUTOCOMMIT,
		SQL_ATTR_CONNECTION_TIMEOUT, SQL_ATTR_CURRENT_CATALOG,
		SQL_ATTR_METADATA_ID, SQL_ATTR_TXN_ISOLATION, 1209, 4711 };
	SQLINTEGER room = (SQLINTEGER)below(w, 20) * 2, n;
	char *to = buffer((size_t)room + sizeof(SQLPOINTER));
	SQLRETURN r;

	if (below(w, 2))
		r = SQLGetConnectAttr(w->dbc, ONE_OF(w, list), to, room, &n);
	else
		r = SQLGetConnectAttrW(w->dbc, ONE_OF(w, list), to, room, &n);
	free(to);
	return r;
}

static SQLRETURN
connect_twice(struct world *w)
{
	return SQLConnect(w->dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0);
}

static SQLRETURN
get_functions(struct world *w)
{
	SQLUSMALLINT all[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE];

	return SQLGetFunctions(w->dbc,
		(SQLUSMALLINT)(below(w, 2) ? SQL_API_ODBC3_ALL_FUNCTIONS : below(w, 99)),
		all);
}

const struct call cnt_fuzz_wide_calls[] = {
	{ "SQLPrepareW", prepare_wide, SQL_HANDLE_STMT, 3 },
	{ "SQLDescribeColW", describe_column_wide, SQL_HANDLE_STMT, 1 },
	{ "SQLColAttributeW", column_attribute_wide, SQL_HANDLE_STMT, 2 },
	{ "SQLSetCursorNameW", cursor_name_wide, SQL_HANDLE_STMT, 1 },
	{ "SQLTablesW and others", list_wide, SQL_HANDLE_STMT, 2 },
	{ "SQLGetDiagRecW", diagnostics_wide, SQL_HANDLE_STMT, 2 },
	{ "SQLExtendedFetch", extended_fetch, SQL_HANDLE_STMT, 2 },
	{ "SQLSetStmtAttr(ASYNC)", set_async, SQL_HANDLE_STMT, 2 },
	{ "SQLNativeSqlW", native_sql_wide, SQL_HANDLE_DBC, 1 },
	{ "SQLSetConnectAttr", set_connection, SQL_HANDLE_DBC, 2 },
	{ "SQLGetConnectAttr", get_connection, SQL_HANDLE_DBC, 2 },
	{ "SQLConnect", connect_twice, SQL_HANDLE_DBC, 1 },
	{ "SQLGetFunctions", get_functions, SQL_HANDLE_DBC, 1 },
	{ NULL, NULL, 0, 0 },
};
