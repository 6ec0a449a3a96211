/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLSetPos() and SQLBulkOperations(). Each changed row is a statement of its own, which finds the
 * row by its primary key (keys.c). Values come from the bound columns, in the same way as
 * parameters. face.c and param_data.c call this file. The state is cod_stmt.change.
 */
#include "keys.h"

#include <stdlib.h>

struct edit {
	struct cod_stmt *stmt;
	SQLUSMALLINT kind; /* SQL_UPDATE, SQL_DELETE, SQL_ADD */
	SQLULEN row; /* index into the buffers */
	const uint8_t *old; /* the row as fetched; NULL: a new row */
	struct cod_sql sql;
	cenote_params *params;
	SQLRETURN ret;
};

static void
put_param(struct edit *edit)
{
	cod_sql_put_param(
		&edit->sql, edit->stmt->dbc->dialect, cenote_params_count(edit->params));
}

/* ------------------------------------------------------------------------------ values ----- */

static bool
is_given(const struct edit *edit, SQLSMALLINT i)
{
	const struct cod_desc *ard = edit->stmt->desc[COD_ARD];
	const struct cod_record *record = cod_desc_record(ard, i);
	const SQLLEN *length;

	if (record == NULL || (record->data == NULL && record->indicator == NULL) ||
		edit->stmt->keys->names[i - 1] == NULL)
		return false;
	length = cod_desc_at(ard, record->octets, edit->row, (SQLLEN)sizeof(*length));
	return length == NULL || *length != SQL_COLUMN_IGNORE;
}

static const struct cod_given *
given_of(const struct edit *edit, SQLSMALLINT i)
{
	const struct cod_stmt *stmt = edit->stmt;

	if (!cod_is_at_execution(stmt->desc[COD_ARD], i, edit->row) ||
		(size_t)i > stmt->pending.n_given)
		return NULL;
	return &stmt->pending.given[i - 1];
}

static void
add_value(struct edit *edit, SQLSMALLINT i)
{
	struct cod_stmt *stmt = edit->stmt;
	const struct cod_desc *ard = stmt->desc[COD_ARD];
	const struct cod_type *type = &stmt->columns[i - 1].type;
	struct cod_record as = { 0 };
	const char *sqlstate;

	(void)cod_record_set_type(&as, type->sql->concise, false);
	as.length = type->size;
	as.precision = type->precision;
	as.scale = type->digits;
	sqlstate = cod_param_put(stmt, ard, &ard->records[i], &as, edit->row,
		given_of(edit, i), edit->params);
	edit->ret = cod_worse(edit->ret,
		cod_tell(&stmt->head,
			&(struct cod_diag_where){ (SQLLEN)edit->row + 1, i }, sqlstate));
}

/* Append a value of the key, as fetched. */
static void
add_key(struct edit *edit, SQLUSMALLINT col)
{
	struct cod_value value;
	int r;

	cod_column_value(edit->stmt, edit->old, col, &value);
	if (value.bytes == NULL)
		r = cenote_params_add_null(edit->params);
	else if (value.type == CENOTE_TYPE_BYTES)
		r = cenote_params_add_bytes(edit->params, value.bytes, value.n);
	else
		r = cenote_params_add_native(
			edit->params, 0, CENOTE_FORMAT_TEXT, value.bytes, value.n);
	if (r < 0)
		edit->ret = cod_fail(&edit->stmt->head, "HY001");
}

/* -------------------------------------------------------------------------- statements ----- */

static void
put_column(struct edit *edit, SQLSMALLINT i)
{
	cod_sql_put_name(
		&edit->sql, edit->stmt->dbc->dialect, edit->stmt->keys->names[i - 1]);
}

static void
put_where(struct edit *edit)
{
	const struct cod_keys *keys = edit->stmt->keys;
	const char *before = " where ";

	for (SQLUSMALLINT i = 0; i < keys->n_columns; i++) {
		if (!keys->is_key[i])
			continue;
		cod_sql_put(&edit->sql, before);
		put_column(edit, (SQLSMALLINT)(i + 1));
		cod_sql_put(&edit->sql, " = ");
		add_key(edit, i + 1);
		put_param(edit);
		before = " and ";
	}
}

static bool
put_update(struct edit *edit)
{
	const struct cod_keys *keys = edit->stmt->keys;
	const char *before = " set ";

	cod_sql_put(&edit->sql, "update ");
	cod_sql_put(&edit->sql, keys->table);
	for (SQLSMALLINT i = 1; i <= keys->n_columns; i++) {
		if (!is_given(edit, i))
			continue;
		cod_sql_put(&edit->sql, before);
		put_column(edit, i);
		cod_sql_put(&edit->sql, " = ");
		add_value(edit, i);
		put_param(edit);
		before = ", ";
	}
	put_where(edit);
	return *before == ',';
}

static bool
put_delete(struct edit *edit)
{
	cod_sql_put(&edit->sql, "delete from ");
	cod_sql_put(&edit->sql, edit->stmt->keys->table);
	put_where(edit);
	return true;
}

static bool
put_insert(struct edit *edit)
{
	const struct cod_keys *keys = edit->stmt->keys;
	const char *before = " (";

	cod_sql_put(&edit->sql, "insert into ");
	cod_sql_put(&edit->sql, keys->table);
	for (SQLSMALLINT i = 1; i <= keys->n_columns; i++) {
		if (!is_given(edit, i))
			continue;
		cod_sql_put(&edit->sql, before);
		put_column(edit, i);
		before = ", ";
	}
	before = ") values (";
	for (SQLSMALLINT i = 1; i <= keys->n_columns; i++) {
		if (!is_given(edit, i))
			continue;
		cod_sql_put(&edit->sql, before);
		add_value(edit, i);
		put_param(edit);
		before = ", ";
	}
	cod_sql_put(&edit->sql, ")");
	return *before == ',';
}

/* MySQL counts only rows that were changed. After an update that changed no row, find out whether
 * the row exists. */
static bool
is_there(const struct edit *edit)
{
	struct edit look = { .stmt = edit->stmt, .old = edit->old };
	cenote_result *found = NULL;
	bool is_found = false;

	if (cenote_params_create(NULL, &look.params) < 0)
		return false;
	cod_sql_put(&look.sql, "select 1 from ");
	cod_sql_put(&look.sql, edit->stmt->keys->table);
	put_where(&look);
	if (look.ret == SQL_SUCCESS && !look.sql.is_lost &&
		cod_ask(look.stmt, look.sql.text, look.params, &found) == SQL_SUCCESS)
		is_found = cenote_result_n_rows(found) > 0;
	cenote_result_destroy(found);
	cenote_params_destroy(look.params);
	free(look.sql.text);
	return is_found;
}

static SQLRETURN
run(struct edit *edit)
{
	struct cod_stmt *stmt = edit->stmt;
	cenote_result *result;
	int64_t n;
	SQLRETURN ret = cod_ask(stmt, edit->sql.text, edit->params, &result);

	if (ret != SQL_SUCCESS)
		return ret;
	n = cenote_result_affected_rows(result);
	cenote_result_destroy(result);
	if (n == 0 && edit->kind == SQL_UPDATE &&
		stmt->dbc->dialect == COD_DIALECT_MYSQL && is_there(edit))
		n = 1;
	stmt->row_count = stmt->row_count < 0 ? n : stmt->row_count + n;
	/* Another session has deleted the row, or changed its key. */
	if (n == 1)
		return edit->ret;
	return cod_warn(&stmt->head, "01001");
}

static SQLRETURN
change_row(struct cod_stmt *stmt, SQLUSMALLINT kind, SQLULEN row, const uint8_t *old)
{
	static bool (*const writers[])(struct edit * edit) = {
		[SQL_UPDATE] = put_update,
		[SQL_DELETE] = put_delete,
		[SQL_ADD] = put_insert,
	};
	struct edit edit = { .stmt = stmt, .kind = kind, .row = row, .old = old };
	SQLRETURN ret;
	bool has_columns;

	if (cenote_params_create(NULL, &edit.params) < 0)
		return cod_fail(&stmt->head, "HY001");
	has_columns = writers[kind](&edit);
	if (edit.ret == SQL_ERROR)
		ret = SQL_ERROR;
	else if (edit.sql.is_lost)
		ret = cod_fail(&stmt->head, "HY001");
	else if (!has_columns)
		ret = cod_fail(&stmt->head, "21S02");
	else
		ret = run(&edit);
	cenote_params_destroy(edit.params);
	free(edit.sql.text);
	return ret;
}

/* -------------------------------------------------------------------- rows of the rowset ----- */

static const struct {
	SQLUSMALLINT kind, status;
} statuses[] = {
	{ SQL_UPDATE, SQL_ROW_UPDATED },
	{ SQL_DELETE, SQL_ROW_DELETED },
	{ SQL_ADD, SQL_ROW_ADDED },
	{ SQL_REFRESH, SQL_ROW_SUCCESS },
};

static void
set_status(struct cod_stmt *stmt, SQLULEN row, SQLUSMALLINT kind, SQLRETURN ret)
{
	SQLUSMALLINT *status = stmt->desc[COD_IRD]->array_status;

	if (status == NULL)
		return;
	status[row] = SQL_ROW_ERROR;
	for (size_t i = 0; i < COD_COUNT(statuses) && ret != SQL_ERROR; i++) {
		if (statuses[i].kind == kind)
			status[row] = statuses[i].status;
	}
	if (kind == SQL_REFRESH && ret == SQL_SUCCESS_WITH_INFO)
		status[row] = SQL_ROW_SUCCESS_WITH_INFO;
}

static bool
is_ignored(const struct cod_stmt *stmt, SQLULEN row)
{
	const SQLUSMALLINT *operation = stmt->desc[COD_ARD]->array_status;

	return operation != NULL && operation[row] == SQL_ROW_IGNORE;
}

/* The row number, from 1, of a bookmark in the buffers; 0: not a bookmark. */
static uint64_t
number_of_bookmark(const struct cod_stmt *stmt, SQLULEN row)
{
	const struct cod_desc *ard = stmt->desc[COD_ARD];
	const struct cod_record *record = cod_desc_record(ard, 0);
	struct cod_target target;
	uint64_t number;

	if (record == NULL || record->data == NULL)
		return 0;
	cod_target_of(ard, record, row, &target);
	if (cod_read_bookmark(target.to, COD_BOOKMARK_SIZE, target.c_type, &number) < 0)
		return 0;
	return number;
}

/* The cursor's row for a row of the buffers; NULL: there is no such row. */
static const uint8_t *
old_row(struct cod_stmt *stmt, const struct cod_change *change, uint64_t *ret_number)
{
	uint64_t number = (uint64_t)stmt->cursor.at + change->row + 1;

	if (change->by_bookmark)
		number = number_of_bookmark(stmt, change->row);
	if (number == 0)
		return NULL;
	*ret_number = number - 1;
	return cod_cursor_row(&stmt->cursor, number - 1);
}

static SQLRETURN
carry_out(struct cod_stmt *stmt, const struct cod_change *change)
{
	const uint8_t *old = NULL;
	uint64_t number;

	if (change->kind != SQL_ADD) {
		old = old_row(stmt, change, &number);
		if (old == NULL)
			return cod_fail(&stmt->head, "HY111");
	}
	/* A static cursor sees no changes, so the rows in memory are valid. */
	if (change->kind == SQL_REFRESH)
		return cod_fetch_row(stmt, number, change->row);
	return change_row(stmt, change->kind, change->row, old);
}

static bool
takes_values(const struct cod_change *change)
{
	return change->kind == SQL_UPDATE || change->kind == SQL_ADD;
}

static SQLRETURN
change_next(struct cod_stmt *stmt, struct cod_change *change)
{
	SQLRETURN ret;

	if (stmt->pending.n_given == 0 && takes_values(change)) {
		ret = cod_pending_begin(
			stmt, change->function, change->row, stmt->n_columns);
		if (ret != SQL_SUCCESS)
			return ret;
	}
	ret = carry_out(stmt, change);
	cod_pending_clear(stmt);
	set_status(stmt, change->row, change->kind, ret);
	change->n_failed += ret == SQL_ERROR;
	change->n_done += ret != SQL_ERROR;
	change->has_warning = change->has_warning || ret == SQL_SUCCESS_WITH_INFO;
	return SQL_SUCCESS;
}

SQLRETURN
cod_position_go_on(struct cod_stmt *stmt)
{
	struct cod_change *change = &stmt->change;

	for (; change->row < change->end; change->row++) {
		SQLRETURN ret;

		if (change->is_array && is_ignored(stmt, change->row))
			continue;
		ret = change_next(stmt, change);
		if (ret != SQL_SUCCESS)
			return ret;
	}
	return cod_outcome(change->n_done, change->n_failed, change->has_warning);
}

static SQLRETURN
begin_change(struct cod_stmt *stmt, const struct cod_change *change)
{
	SQLRETURN ret;

	if (change->kind == SQL_REFRESH) {
		stmt->change = *change;
		return cod_position_go_on(stmt);
	}
	if (stmt->attrs[COD_CONCURRENCY] == SQL_CONCUR_READ_ONLY)
		return cod_fail_text(&stmt->head, "HY092",
			"the cursor is read-only (SQL_ATTR_CONCURRENCY)");
	ret = cod_keys_find(stmt);
	if (ret != SQL_SUCCESS)
		return ret;
	stmt->row_count = -1;
	stmt->change = *change;
	return cod_position_go_on(stmt);
}

/* --------------------------------------------------------------------------- SQLSetPos() ----- */

static SQLRETURN
position(struct cod_stmt *stmt, SQLSETPOSIROW row)
{
	if (row == 0)
		return cod_fail(&stmt->head, "HY109");
	stmt->cursor.current = row - 1;
	stmt->cursor.column = 0;
	return SQL_SUCCESS;
}

SQLRETURN
cod_set_pos(struct cod_stmt *stmt, SQLSETPOSIROW row, SQLUSMALLINT operation,
	SQLUSMALLINT lock)
{
	struct cod_cursor *cursor = &stmt->cursor;
	struct cod_change change = {
		.function = SQL_API_SQLSETPOS,
		.kind = operation,
		.row = row == 0 ? 0 : row - 1,
		.end = row == 0 ? cursor->size : row,
		.is_array = row == 0,
	};

	if (!cursor->is_open)
		return cod_fail(&stmt->head, "24000");
	if (operation > SQL_ADD || lock > SQL_LOCK_UNLOCK)
		return cod_fail(&stmt->head, "HY092");
	if (lock != SQL_LOCK_NO_CHANGE)
		return cod_fail(&stmt->head, "HYC00");
	if (operation == SQL_ADD) {
		change.end = row == 0 ? stmt->desc[COD_ARD]->array_size : row;
		return begin_change(stmt, &change);
	}
	if (cursor->size == 0)
		return cod_fail(&stmt->head, "HY109");
	if (row > cursor->size)
		return cod_fail(&stmt->head, "HY107");
	if (operation == SQL_POSITION)
		return position(stmt, row);
	return begin_change(stmt, &change);
}

/* ------------------------------------------------------------------- SQLBulkOperations() ----- */

SQLRETURN
cod_bulk_operations(struct cod_stmt *stmt, SQLSMALLINT operation)
{
	static const struct {
		SQLSMALLINT operation;
		SQLUSMALLINT kind;
		bool by_bookmark;
	} kinds[] = {
		{ SQL_ADD, SQL_ADD, false },
		{ SQL_FETCH_BY_BOOKMARK, SQL_REFRESH, true },
		{ SQL_UPDATE_BY_BOOKMARK, SQL_UPDATE, true },
		{ SQL_DELETE_BY_BOOKMARK, SQL_DELETE, true },
	};
	struct cod_change change = {
		.function = SQL_API_SQLBULKOPERATIONS,
		.end = stmt->desc[COD_ARD]->array_size,
		.is_array = true,
	};

	if (!stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	for (size_t i = 0; i < COD_COUNT(kinds); i++) {
		if (kinds[i].operation != operation)
			continue;
		change.kind = kinds[i].kind;
		change.by_bookmark = kinds[i].by_bookmark;
		return begin_change(stmt, &change);
	}
	return cod_fail(&stmt->head, "HY092");
}
