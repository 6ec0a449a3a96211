/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLFetch(), SQLFetchScroll() and SQLExtendedFetch(): find the next rowset, and put its rows into
 * the bound columns. position.c and param.c use the parts for one row. The state is cod_stmt.cursor.
 */
#include "odbc.h"

/* ------------------------------------------------------------------------- one row ----- */

void
cod_column_value(const struct cod_stmt *stmt, const uint8_t *row, SQLUSMALLINT col,
	struct cod_value *ret_value)
{
	const struct cod_column *column = &stmt->columns[col - 1];

	ret_value->n = 0;
	ret_value->bytes =
		cenote_row_text(row, stmt->cursor.n_columns, col - 1u, &ret_value->n);
	ret_value->type = column->value_type;
	ret_value->sql_type = column->type.sql->concise;
	ret_value->is_unsigned = column->type.is_unsigned == SQL_TRUE;
}

void
cod_target_of(const struct cod_desc *ard, const struct cod_record *record, SQLULEN i,
	struct cod_target *ret_target)
{
	SQLLEN size = (SQLLEN)sizeof(SQLLEN);

	*ret_target = (struct cod_target){
		.c_type = record->concise,
		.to = cod_desc_at(ard, record->data, i, record->octet_length),
		.room = record->octet_length,
		.octets = cod_desc_at(ard, record->octets, i, size),
		.indicator = cod_desc_at(ard, record->indicator, i, size),
		.precision = record->precision,
		.scale = record->scale,
		.leading = record->leading,
	};
}

static SQLRETURN
fetch_bookmark(struct cod_stmt *stmt, uint64_t number, SQLULEN i)
{
	const struct cod_desc *ard = stmt->desc[COD_ARD];
	const struct cod_record *record = cod_desc_record(ard, 0);
	struct cod_target target;

	if (record == NULL || record->data == NULL ||
		stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_OFF)
		return SQL_SUCCESS;
	cod_target_of(ard, record, i, &target);
	return cod_tell(&stmt->head, &(struct cod_diag_where){ (SQLLEN)i + 1, 0 },
		cod_get_bookmark(number + 1, &target));
}

SQLRETURN
cod_fetch_row(struct cod_stmt *stmt, uint64_t number, SQLULEN i)
{
	const struct cod_desc *ard = stmt->desc[COD_ARD];
	const uint8_t *row = cod_cursor_row(&stmt->cursor, number);
	SQLRETURN ret = fetch_bookmark(stmt, number, i);
	struct cod_target target;
	struct cod_value value;

	for (SQLSMALLINT col = 1; col <= ard->count && col <= stmt->n_columns; col++) {
		const struct cod_record *record = &ard->records[col];
		const char *sqlstate;

		if (record->data == NULL && record->octets == NULL &&
			record->indicator == NULL)
			continue;
		cod_target_of(ard, record, i, &target);
		cod_column_value(stmt, row, (SQLUSMALLINT)col, &value);
		if (target.c_type == SQL_C_DEFAULT)
			target.c_type =
				cod_default_c_type(value.sql_type, value.is_unsigned);
		sqlstate = cod_get(&value, &target, NULL);
		if (sqlstate != NULL)
			ret = cod_worse(ret,
				cod_tell(&stmt->head,
					&(struct cod_diag_where){ (SQLLEN)i + 1, col },
					sqlstate));
	}
	return ret;
}

/* ------------------------------------------------------------------------- a rowset ----- */

struct rowset {
	SQLULEN size; /* rows that the application asked for */
	SQLULEN *n_fetched; /* may be NULL */
	SQLUSMALLINT *status; /* may be NULL */
};

static void
set_status(const struct rowset *rowset, SQLULEN i, SQLUSMALLINT status)
{
	if (rowset->status != NULL)
		rowset->status[i] = status;
}

static SQLRETURN
fill(struct cod_stmt *stmt, const struct rowset *rowset)
{
	struct cod_cursor *cursor = &stmt->cursor;
	bool has_rows = false, has_warning = false;

	for (SQLULEN i = 0; i < cursor->size; i++) {
		static const SQLUSMALLINT statuses[] = { SQL_ROW_SUCCESS,
			SQL_ROW_SUCCESS_WITH_INFO };
		SQLRETURN ret = SQL_SUCCESS;

		if (stmt->attrs[COD_RETRIEVE_DATA] == SQL_RD_ON)
			ret = cod_fetch_row(stmt, (uint64_t)cursor->at + i, i);
		if (ret == SQL_ERROR)
			set_status(rowset, i, SQL_ROW_ERROR);
		else
			set_status(rowset, i, statuses[ret != SQL_SUCCESS]);
		has_rows = has_rows || ret != SQL_ERROR;
		has_warning = has_warning || ret != SQL_SUCCESS;
	}
	for (SQLULEN i = cursor->size; i < rowset->size; i++)
		set_status(rowset, i, SQL_ROW_NOROW);
	if (!has_rows)
		return SQL_ERROR;
	if (has_warning)
		return SQL_SUCCESS_WITH_INFO;
	return SQL_SUCCESS;
}

/* Make the rowset at `at` the current one. SQL_NO_DATA: it has no rows. */
static SQLRETURN
show(struct cod_stmt *stmt, int64_t at, const struct rowset *rowset)
{
	struct cod_cursor *cursor = &stmt->cursor;
	SQLRETURN ret;
	uint64_t n = 0;

	cursor->current = 0;
	cursor->column = 0;
	cursor->size = 0;
	if (rowset->n_fetched != NULL)
		*rowset->n_fetched = 0;
	if (at < 0) {
		cursor->at = -1;
		cursor->is_after_end = false;
		return SQL_NO_DATA;
	}
	ret = cod_cursor_need(stmt, (uint64_t)at, rowset->size, &n);
	if (ret != SQL_SUCCESS)
		return ret;
	cursor->at = at;
	cursor->asked = rowset->size;
	cursor->size = n;
	cursor->is_after_end = n == 0;
	if (n == 0)
		return SQL_NO_DATA;
	if (rowset->n_fetched != NULL)
		*rowset->n_fetched = n;
	return fill(stmt, rowset);
}

/* ------------------------------------------------------------------------- where to ----- */

/* The variables of the standard's tables of positions. Rows count from 0; -1 is before the first
 * row. */
struct place {
	int64_t at; /* start of the previous rowset */
	int64_t last; /* rows in the result */
	int64_t size; /* size of the new rowset */
	int64_t before; /* size of the previous rowset */
	bool is_after_end;
	const char *warning;
};

static int64_t
go_next(struct place *place, SQLLEN offset)
{
	(void)offset;
	if (place->is_after_end)
		return place->last;
	return place->at < 0 ? 0 : place->at + place->before;
}

static int64_t
go_prior(struct place *place, SQLLEN offset)
{
	(void)offset;
	if (place->is_after_end)
		return place->last > place->size ? place->last - place->size
						 : (place->last > 0 ? 0 : -1);
	if (place->at <= 0)
		return -1;
	if (place->at >= place->size)
		return place->at - place->size;
	place->warning = "01S06";
	return 0;
}

static int64_t
go_first(struct place *place, SQLLEN offset)
{
	(void)place;
	(void)offset;
	return 0;
}

static int64_t
go_last(struct place *place, SQLLEN offset)
{
	(void)offset;
	return place->last > place->size ? place->last - place->size : 0;
}

static int64_t
go_absolute(struct place *place, SQLLEN offset)
{
	if (offset > 0)
		return offset - 1 < place->last ? offset - 1 : place->last;
	if (offset == 0)
		return -1;
	if (offset >= -place->last)
		return place->last + offset;
	if (offset < -place->size)
		return -1;
	place->warning = "01S06";
	return 0;
}

static int64_t
go_relative(struct place *place, SQLLEN offset)
{
	bool is_before = place->at < 0 && !place->is_after_end;

	if ((is_before && offset > 0) || (place->is_after_end && offset < 0))
		return go_absolute(place, offset);
	if (is_before)
		return -1;
	if (place->is_after_end)
		return place->last;
	if (offset > place->last)
		return place->last;
	if (place->at + offset >= 0)
		return place->at + offset;
	if (place->at == 0 || offset < -place->size)
		return -1;
	place->warning = "01S06";
	return 0;
}

static const struct {
	SQLSMALLINT orientation;
	int64_t (*go)(struct place *place, SQLLEN offset);
} orientations[] = {
	{ SQL_FETCH_NEXT, go_next },
	{ SQL_FETCH_PRIOR, go_prior },
	{ SQL_FETCH_FIRST, go_first },
	{ SQL_FETCH_LAST, go_last },
	{ SQL_FETCH_ABSOLUTE, go_absolute },
	{ SQL_FETCH_RELATIVE, go_relative },
};

/* Get the row of a bookmark, from 0, plus an offset. */
static SQLRETURN
go_bookmark(struct cod_stmt *stmt, const void *bookmark, SQLLEN offset, int64_t *ret_at)
{
	uint64_t number;
	SQLSMALLINT c_type = stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_VARIABLE
				     ? SQL_C_VARBOOKMARK
				     : SQL_C_BOOKMARK;

	if (stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_OFF)
		return cod_fail(&stmt->head, "HY106");
	if (bookmark == NULL ||
		cod_read_bookmark(bookmark, COD_BOOKMARK_SIZE, c_type, &number) < 0 ||
		number < 1 || number > cod_cursor_total(&stmt->cursor))
		return cod_fail(&stmt->head, "HY111");
	*ret_at = (int64_t)number - 1 + offset;
	return SQL_SUCCESS;
}

static SQLRETURN
find_place(struct cod_stmt *stmt, SQLSMALLINT orientation, SQLLEN offset, SQLULEN size,
	int64_t *ret_at)
{
	const struct cod_cursor *cursor = &stmt->cursor;
	struct place place = {
		.at = cursor->at,
		.last = (int64_t)cod_cursor_total(cursor),
		.size = (int64_t)size,
		.before = (int64_t)cursor->asked,
		.is_after_end = cursor->is_after_end,
	};

	for (size_t i = 0; i < COD_COUNT(orientations); i++) {
		if (orientations[i].orientation != orientation)
			continue;
		*ret_at = orientations[i].go(&place, offset);
		return cod_tell(&stmt->head, &COD_NOWHERE, place.warning);
	}
	return cod_fail(&stmt->head, "HY106");
}

static SQLRETURN
scroll(struct cod_stmt *stmt, SQLSMALLINT orientation, SQLLEN offset,
	const void *bookmark, const struct rowset *rowset)
{
	bool is_forward_only = stmt->attrs[COD_CURSOR_TYPE] == SQL_CURSOR_FORWARD_ONLY;
	SQLRETURN ret, shown;
	int64_t at = -1;

	if (!stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	if (is_forward_only && orientation != SQL_FETCH_NEXT)
		return cod_fail(&stmt->head, "HY106");
	if (orientation == SQL_FETCH_BOOKMARK)
		ret = go_bookmark(stmt, bookmark, offset, &at);
	else
		ret = find_place(stmt, orientation, offset, rowset->size, &at);
	if (ret == SQL_ERROR)
		return ret;
	shown = show(stmt, at, rowset);
	if (shown == SQL_NO_DATA)
		return shown;
	return cod_worse(ret, shown);
}

SQLRETURN
cod_fetch_scroll(struct cod_stmt *stmt, SQLSMALLINT orientation, SQLLEN offset)
{
	const struct cod_desc *ird = stmt->desc[COD_IRD];
	const struct rowset rowset = {
		.size = stmt->desc[COD_ARD]->array_size,
		.n_fetched = ird->rows_processed,
		.status = ird->array_status,
	};

	return scroll(stmt, orientation, offset, stmt->fetch_bookmark, &rowset);
}

SQLRETURN
cod_extended_fetch(struct cod_stmt *stmt, SQLUSMALLINT orientation, SQLLEN offset,
	SQLULEN *ret_n, SQLUSMALLINT *status)
{
	const struct rowset rowset = {
		.size = stmt->desc[COD_ARD]->array_size,
		.n_fetched = ret_n,
		.status = status,
	};

	if (orientation == SQL_FETCH_BOOKMARK)
		return scroll(stmt, (SQLSMALLINT)orientation, 0, &offset, &rowset);
	return scroll(stmt, (SQLSMALLINT)orientation, offset, NULL, &rowset);
}

SQLRETURN
cod_bind_col(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type, SQLPOINTER data,
	SQLLEN room, SQLLEN *length)
{
	struct cod_desc *ard = stmt->desc[COD_ARD];
	struct cod_record *record;

	if (col == 0 && stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_OFF)
		return cod_fail(&stmt->head, "07009");
	if (col > INT16_MAX)
		return cod_fail(&stmt->head, "07009");
	if (room < 0)
		return cod_fail(&stmt->head, "HY090");
	if (cod_c_type(c_type) == NULL)
		return cod_fail(&stmt->head, "HY003");
	if (data == NULL && length == NULL && col > ard->count)
		return SQL_SUCCESS;
	record = cod_desc_need(ard, (SQLSMALLINT)col);
	if (record == NULL)
		return cod_fail(&stmt->head, "HY001");
	(void)cod_record_set_type(record, c_type, true);
	if (record->octet_length == 0)
		record->octet_length = room;
	record->data = data;
	record->octets = length;
	record->indicator = length;
	while (ard->count > 0 && ard->records[ard->count].data == NULL &&
		ard->records[ard->count].octets == NULL)
		ard->count--;
	return SQL_SUCCESS;
}
