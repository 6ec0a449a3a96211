/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLGetData(): one value of the current row, perhaps in pieces. face.c calls it. The state is in
 * cod_stmt.cursor.
 */
#include "odbc.h"

/* The C type that the application means. SQL_ARD_TYPE means the descriptor's type. 0: the descriptor
 * has no record for the column. */
static SQLSMALLINT
resolve(const struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type,
	struct cod_target *target)
{
	const struct cod_record *record;

	if (c_type != SQL_ARD_TYPE)
		return c_type;
	record = cod_desc_record(stmt->desc[COD_ARD], (SQLSMALLINT)col);
	if (record == NULL)
		return 0;
	target->precision = record->precision;
	target->scale = record->scale;
	target->leading = record->leading;
	return record->concise;
}

static const char *
check(const struct cod_stmt *stmt, SQLUSMALLINT col, const struct cod_target *target)
{
	const struct cod_cursor *cursor = &stmt->cursor;

	if (!cursor->is_open || cursor->size == 0)
		return "24000";
	if (col > stmt->n_columns ||
		(col == 0 && stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_OFF))
		return "07009";
	if (target->to == NULL && target->octets == NULL)
		return "HY009";
	return target->room < 0 ? "HY090" : NULL;
}

SQLRETURN
cod_get_data(struct cod_stmt *stmt, SQLUSMALLINT col, SQLSMALLINT c_type, SQLPOINTER data,
	SQLLEN room, SQLLEN *length)
{
	struct cod_cursor *cursor = &stmt->cursor;
	uint64_t i = (uint64_t)cursor->at + cursor->current;
	const struct cod_diag_where where = { (SQLLEN)cursor->current + 1, col };
	struct cod_target target = {
		.to = data,
		.room = room,
		.octets = length,
		.indicator = length,
	};
	struct cod_value value;
	const char *sqlstate = check(stmt, col, &target);

	if (sqlstate != NULL)
		return cod_fail(&stmt->head, sqlstate);
	target.c_type = resolve(stmt, col, c_type, &target);
	if (cod_c_type(target.c_type) == NULL)
		return cod_fail(&stmt->head, "HY003");
	if (col == 0)
		return cod_tell(&stmt->head, &where, cod_get_bookmark(i + 1, &target));
	if (cursor->column != col || cursor->c_type != target.c_type) {
		cursor->column = col;
		cursor->c_type = target.c_type;
		cursor->piece = (struct cod_piece){ 0 };
	}
	if (cursor->piece.is_done)
		return SQL_NO_DATA;
	cod_column_value(stmt, cod_cursor_row(cursor, i), col, &value);
	if (target.c_type == SQL_C_DEFAULT)
		target.c_type = cod_default_c_type(value.sql_type, value.is_unsigned);
	return cod_tell(&stmt->head, &where, cod_get(&value, &target, &cursor->piece));
}
