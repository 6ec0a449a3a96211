/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

/* Descriptors, explicit and implicit, and the reading of diagnostics. */

/* One of a statement's four descriptors, or a descriptor that the program allocated. */
static SQLHDESC
a_desc(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_ATTR_APP_ROW_DESC,
		SQL_ATTR_APP_PARAM_DESC, SQL_ATTR_IMP_ROW_DESC, SQL_ATTR_IMP_PARAM_DESC };
	SQLHDESC desc = w->descs[below(w, N_DESCS)];

	if (below(w, 3) > 0 && !SQL_SUCCEEDED(SQLGetStmtAttr(stmt_of(w), ONE_OF(w, list),
				       &desc, SQL_IS_POINTER, NULL)))
		return w->descs[0];
	return desc;
}

static SQLSMALLINT
a_record(struct world *w)
{
	return (SQLSMALLINT)((int)below(w, N_COLUMNS + 2) - 1);
}

static SQLSMALLINT
a_field(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_DESC_COUNT, SQL_DESC_TYPE,
		SQL_DESC_CONCISE_TYPE, SQL_DESC_DATETIME_INTERVAL_CODE, SQL_DESC_LENGTH,
		SQL_DESC_PRECISION, SQL_DESC_SCALE, SQL_DESC_NULLABLE, SQL_DESC_NAME,
		SQL_DESC_UNNAMED, SQL_DESC_OCTET_LENGTH, SQL_DESC_ALLOC_TYPE,
		SQL_DESC_ARRAY_SIZE, SQL_DESC_BIND_TYPE, SQL_DESC_PARAMETER_TYPE,
		SQL_DESC_LABEL, SQL_DESC_TABLE_NAME, SQL_DESC_TYPE_NAME,
		SQL_DESC_DISPLAY_SIZE, SQL_DESC_DATA_PTR, SQL_DESC_INDICATOR_PTR, 4711,
		-1 };

	return ONE_OF(w, list);
}

static SQLRETURN
get_field(struct world *w)
{
	SQLINTEGER room = (SQLINTEGER)below(w, 40), n;
	/* a numeric field is written whole, whatever the length argument says */
	char *to = buffer((size_t)room + sizeof(SQLPOINTER));
	SQLRETURN r;

	w->desc = a_desc(w);
	r = SQLGetDescField(w->desc, a_record(w), a_field(w), to, room, &n);
	free(to);
	return r;
}

static SQLRETURN
get_field_wide(struct world *w)
{
	SQLINTEGER room = (SQLINTEGER)below(w, 20) * 2, n;
	char *to = buffer((size_t)room + sizeof(SQLPOINTER));
	SQLRETURN r;

	w->desc = a_desc(w);
	r = SQLGetDescFieldW(w->desc, a_record(w), a_field(w), to, room, &n);
	free(to);
	return r;
}

/* Values are numbers, or pointers to memory that is large enough for any row. */
static SQLRETURN
set_field(struct world *w)
{
	uint32_t col = below(w, N_COLUMNS);
	const struct {
		SQLSMALLINT id;
		SQLULEN value;
	} list[] = {
		{ SQL_DESC_COUNT, below(w, N_COLUMNS + 1) },
		{ SQL_DESC_CONCISE_TYPE, (SQLULEN)(SQLLEN)a_c_type(w) },
		{ SQL_DESC_TYPE, (SQLULEN)(SQLLEN)a_sql_type(w) },
		{ SQL_DESC_DATETIME_INTERVAL_CODE, below(w, 15) },
		{ SQL_DESC_LENGTH, below(w, ROOM_MAX) },
		{ SQL_DESC_OCTET_LENGTH, below(w, ROOM_MAX) },
		{ SQL_DESC_PRECISION, below(w, 50) },
		{ SQL_DESC_SCALE, below(w, 20) },
		{ SQL_DESC_PARAMETER_TYPE, below(w, 6) },
		{ SQL_DESC_ARRAY_SIZE, below(w, ROWS_MAX + 1) },
		{ SQL_DESC_BIND_TYPE, below(w, 3) * 128 },
		{ SQL_DESC_ARRAY_STATUS_PTR, (SQLULEN)(uintptr_t)w->row_status[w->at] },
		{ SQL_DESC_ROWS_PROCESSED_PTR, (SQLULEN)(uintptr_t)&w->fetched[w->at] },
		{ SQL_DESC_BIND_OFFSET_PTR, (SQLULEN)(uintptr_t)&w->bind_offset },
		{ SQL_DESC_BIND_OFFSET_PTR, 0 },
		{ SQL_DESC_DATA_PTR, (SQLULEN)(uintptr_t)w->columns[w->at][col] },
		{ SQL_DESC_DATA_PTR, 0 },
		{ SQL_DESC_OCTET_LENGTH_PTR,
			(SQLULEN)(uintptr_t)w->column_lens[w->at][col] },
		{ SQL_DESC_INDICATOR_PTR,
			(SQLULEN)(uintptr_t)w->column_lens[w->at][col] },
		{ SQL_DESC_NUM_PREC_RADIX, 10 },
		{ 4711, 1 },
	};
	uint32_t i = below(w, CNT_COUNT(list));

	w->desc = a_desc(w);
	return SQLSetDescField(
		w->desc, a_record(w), list[i].id, NUMBER(list[i].value), SQL_IS_POINTER);
}

static SQLRETURN
set_name(struct world *w)
{
	static const SQLWCHAR wide[] = { 'p', 0x00e4, 'r', 0 };

	w->desc = a_desc(w);
	if (below(w, 2))
		return SQLSetDescField(
			w->desc, a_record(w), SQL_DESC_NAME, TEXT("parameter"), SQL_NTS);
	return SQLSetDescFieldW(w->desc, a_record(w), SQL_DESC_NAME,
		(SQLPOINTER)(uintptr_t)wide, SQL_NTS);
}

static SQLRETURN
get_record(struct world *w)
{
	SQLSMALLINT room = (SQLSMALLINT)below(w, 20), n, type, sub, precision, scale,
		    null;
	SQLCHAR *text = buffer((size_t)room);
	SQLWCHAR *wide = buffer((size_t)room * sizeof(SQLWCHAR));
	SQLLEN length;
	SQLRETURN r;

	w->desc = a_desc(w);
	if (below(w, 2))
		r = SQLGetDescRec(w->desc, a_record(w), text, room, &n, &type, &sub,
			&length, &precision, &scale, &null);
	else
		r = SQLGetDescRecW(w->desc, a_record(w), wide, room, &n, &type, &sub,
			&length, &precision, &scale, &null);
	free(text);
	free(wide);
	return r;
}

static SQLRETURN
set_record(struct world *w)
{
	uint32_t col = below(w, N_COLUMNS);

	w->desc = a_desc(w);
	return SQLSetDescRec(w->desc, a_record(w), a_c_type(w), (SQLSMALLINT)below(w, 8),
		below(w, ROOM_MAX), (SQLSMALLINT)below(w, 20), (SQLSMALLINT)below(w, 9),
		below(w, 4) ? w->columns[w->at][col] : NULL, w->column_lens[w->at][col],
		w->column_lens[w->at][col]);
}

/* unixODBC loses the driver's diagnostics of a failure, so do not check them. */
static SQLRETURN
copy(struct world *w)
{
	SQLHDESC to = a_desc(w);

	w->desc = a_desc(w);
	(void)SQLCopyDesc(w->desc, to);
	return SQL_SUCCESS;
}

static SQLRETURN
use(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_ATTR_APP_ROW_DESC,
		SQL_ATTR_APP_PARAM_DESC, SQL_ATTR_IMP_ROW_DESC };
	SQLHDESC desc = below(w, 2) ? w->descs[below(w, N_DESCS)] : SQL_NULL_HDESC;

	return SQLSetStmtAttr(stmt_of(w), ONE_OF(w, list), desc, SQL_IS_POINTER);
}

static SQLRETURN
make_anew(struct world *w)
{
	uint32_t i = below(w, N_DESCS);
	SQLRETURN r;

	/* this fails while a statement that uses the descriptor is executing */
	w->desc = w->descs[i];
	r = SQLFreeHandle(SQL_HANDLE_DESC, w->desc);
	if (r == SQL_SUCCESS)
		ok_dbc(w->dbc, SQLAllocHandle(SQL_HANDLE_DESC, w->dbc, &w->descs[i]));
	return r;
}

/* Read diagnostics: existing and missing records, known and unknown fields. This call has no
 * diagnostics of its own. */
static SQLRETURN
read_diagnostics(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_DIAG_NUMBER, SQL_DIAG_ROW_COUNT,
		SQL_DIAG_CURSOR_ROW_COUNT, SQL_DIAG_DYNAMIC_FUNCTION,
		SQL_DIAG_DYNAMIC_FUNCTION_CODE, SQL_DIAG_RETURNCODE, SQL_DIAG_SQLSTATE,
		SQL_DIAG_MESSAGE_TEXT, SQL_DIAG_CLASS_ORIGIN, SQL_DIAG_SERVER_NAME,
		SQL_DIAG_CONNECTION_NAME, SQL_DIAG_NATIVE, SQL_DIAG_ROW_NUMBER,
		SQL_DIAG_COLUMN_NUMBER, 4711 };
	SQLSMALLINT room = (SQLSMALLINT)(below(w, 20) * 2 + 2), n;
	/* unixODBC treats the number of bytes as a number of characters */
	char *to = buffer((size_t)room * sizeof(SQLWCHAR) + sizeof(SQLLEN));
	SQLSMALLINT i = (SQLSMALLINT)((int)below(w, 5) - 1), id = ONE_OF(w, list);

	if (below(w, 2))
		(void)SQLGetDiagField(SQL_HANDLE_STMT, stmt_of(w), i, id, to, room, &n);
	else
		(void)SQLGetDiagFieldW(SQL_HANDLE_STMT, stmt_of(w), i, id, to, room, &n);
	free(to);
	return SQL_SUCCESS;
}

const struct call cnt_fuzz_desc_calls[] = {
	{ "SQLGetDescField", get_field, SQL_HANDLE_DESC, 2 },
	{ "SQLGetDescFieldW", get_field_wide, SQL_HANDLE_DESC, 2 },
	{ "SQLSetDescField", set_field, SQL_HANDLE_DESC, 8 },
	{ "SQLSetDescField(NAME)", set_name, SQL_HANDLE_DESC, 1 },
	{ "SQLGetDescRec", get_record, SQL_HANDLE_DESC, 2 },
	{ "SQLSetDescRec", set_record, SQL_HANDLE_DESC, 2 },
	{ "SQLCopyDesc", copy, SQL_HANDLE_DESC, 2 },
	{ "SQLSetStmtAttr(DESC)", use, SQL_HANDLE_STMT, 2 },
	{ "SQLFreeHandle(DESC)", make_anew, SQL_HANDLE_DESC, 1 },
	{ "SQLGetDiagField", read_diagnostics, SQL_HANDLE_STMT, 3 },
	{ NULL, NULL, 0, 0 },
};
