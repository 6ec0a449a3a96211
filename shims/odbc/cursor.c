/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a statement's result. A streamed result comes in batches, and the next batch replaces
 * the batch in memory; rows that must outlive their batch are copied. fetch.c, position.c and
 * execute.c read rows through it. The state is cod_stmt.cursor.
 */
#include "odbc.h"

/* The number of the row after the batch in memory. */
static uint64_t
window_end(const struct cod_cursor *cursor)
{
	return cursor->first + cursor->n;
}

static uint64_t
kept_end(const struct cod_cursor *cursor)
{
	return cursor->kept_first + cursor->kept.n_rows;
}

const uint8_t *
cod_cursor_row(const struct cod_cursor *cursor, uint64_t i)
{
	if (i >= cursor->kept_first && i < kept_end(cursor))
		return cursor->kept.rows[i - cursor->kept_first];
	if (i >= cursor->first && i < window_end(cursor))
		return cursor->rows[i - cursor->first];
	return NULL;
}

uint64_t
cod_cursor_total(const struct cod_cursor *cursor)
{
	uint64_t window = window_end(cursor), kept = kept_end(cursor);

	return window > kept ? window : kept;
}

void
cod_cursor_close(struct cod_stmt *stmt)
{
	struct cod_cursor *cursor = &stmt->cursor;

	cenote_result_destroy(cursor->result);
	cod_rows_finish(&cursor->kept);
	*cursor = (struct cod_cursor){ .at = -1 };
}

/* ------------------------------------------------------------------------- batches ----- */

static void
look_at_batch(struct cod_cursor *cursor)
{
	cursor->rows = cenote_result_rows(cursor->result);
	cursor->n = cenote_result_n_rows(cursor->result);
}

/* Replace the batch by the next one. CENOTE_ROW, CENOTE_DONE or an error. */
static int
next_batch(struct cod_stmt *stmt)
{
	struct cod_cursor *cursor = &stmt->cursor;
	int r = cod_wait_batch(stmt, cursor->result);

	cursor->first += cursor->n;
	cursor->rows = NULL;
	cursor->n = 0;
	if (r == CENOTE_ROW) {
		look_at_batch(cursor);
		return r;
	}
	cursor->is_streamed = false;
	if (r == CENOTE_DONE)
		cod_result_over(stmt, cenote_result_flags(cursor->result));
	return r;
}

static bool
keep_rows(struct cod_cursor *cursor, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (cod_rows_copy(&cursor->kept, cod_cursor_row(cursor, i)) < 0)
			return false;
	}
	return true;
}

/* Drop the copied rows. The next copy is of row `first`. */
static void
keep_from(struct cod_cursor *cursor, uint64_t first)
{
	cod_rows_finish(&cursor->kept);
	cod_rows_init(&cursor->kept, cursor->n_columns);
	cursor->kept_first = first;
}

int
cod_cursor_keep(struct cod_stmt *stmt)
{
	struct cod_cursor *cursor = &stmt->cursor;
	struct cod_rows rows = { .n_columns = cursor->n_columns };
	uint64_t from, end;
	int r = CENOTE_ROW;

	if (!cursor->is_streamed)
		return CENOTE_OK;
	from = cursor->at < 0 ? 0 : (uint64_t)cursor->at;
	end = window_end(cursor);
	for (uint64_t i = from; i < end; i++) {
		const uint8_t *row = cod_cursor_row(cursor, i);

		if (row != NULL && cod_rows_copy(&rows, row) < 0)
			goto no_memory;
		if (row == NULL)
			from = i + 1;
	}
	keep_from(cursor, from);
	cursor->kept = rows;
	while (r == CENOTE_ROW && cursor->is_streamed) {
		r = next_batch(stmt);
		if (r == CENOTE_ROW &&
			!keep_rows(cursor, cursor->first, window_end(cursor)))
			return CENOTE_ERR_NOMEM;
	}
	/* An error of the statement is reported when its rows have been read, not here. */
	return r < 0 && r != CENOTE_ERR_SERVER ? r : CENOTE_OK;

no_memory:
	cod_rows_finish(&rows);
	return CENOTE_ERR_NOMEM;
}

static SQLRETURN
failed(struct cod_stmt *stmt, int status)
{
	return cod_request_failed(
		stmt, &COD_NOWHERE, cenote_result_diag(stmt->cursor.result), status);
}

/* Copy all rows of a rowset that spreads over batches. */
static SQLRETURN
gather(struct cod_stmt *stmt, uint64_t first, uint64_t end)
{
	struct cod_cursor *cursor = &stmt->cursor;
	uint64_t have = kept_end(cursor);
	int r;

	if (have <= first || cursor->kept_first > first) {
		keep_from(cursor, first);
		have = first;
	}
	for (;;) {
		uint64_t to = window_end(cursor) < end ? window_end(cursor) : end;

		if (have < cursor->first)
			have = cursor->first;
		if (!keep_rows(cursor, have, to))
			return cod_fail(&stmt->head, "HY001");
		if (to > have)
			have = to;
		if (have >= end || !cursor->is_streamed)
			return SQL_SUCCESS;
		r = next_batch(stmt);
		if (r < 0)
			return failed(stmt, r);
	}
}

SQLRETURN
cod_cursor_need(struct cod_stmt *stmt, uint64_t first, uint64_t n, uint64_t *ret_n)
{
	struct cod_cursor *cursor = &stmt->cursor;
	uint64_t end = first + n, total;
	SQLRETURN ret = SQL_SUCCESS;
	int r;

	while (cursor->is_streamed && cod_cursor_total(cursor) <= first) {
		r = next_batch(stmt);
		if (r < 0)
			return failed(stmt, r);
	}
	if (cursor->is_streamed && cod_cursor_total(cursor) < end)
		ret = gather(stmt, first, end);
	else if (n > 1 && cod_cursor_row(cursor, first) != NULL &&
		 kept_end(cursor) > first && kept_end(cursor) < end &&
		 window_end(cursor) > kept_end(cursor))
		ret = gather(
			stmt, first, end < window_end(cursor) ? end : window_end(cursor));
	if (ret != SQL_SUCCESS)
		return ret;
	total = cod_cursor_total(cursor);
	*ret_n = first >= total ? 0 : total - first < n ? total - first : n;
	return SQL_SUCCESS;
}

/* ------------------------------------------------------------------------- opening ----- */

static bool
is_scrollable(const struct cod_stmt *stmt)
{
	return stmt->attrs[COD_CURSOR_TYPE] != SQL_CURSOR_FORWARD_ONLY;
}

/*
 * Read the first batch, which also brings the errors of the execution. Keep it and look for a
 * second batch. If there is none, the number of rows is known, and the result no longer needs the
 * connection.
 */
static SQLRETURN
read_ahead(struct cod_stmt *stmt)
{
	struct cod_cursor *cursor = &stmt->cursor;
	int r = next_batch(stmt);

	if (r == CENOTE_ROW) {
		keep_from(cursor, 0);
		if (!keep_rows(cursor, 0, cursor->n))
			return cod_fail(&stmt->head, "HY001");
		r = next_batch(stmt);
	}
	if (r < 0)
		return failed(stmt, r);
	return SQL_SUCCESS;
}

/* Close the cursor after an error while opening it. */
static SQLRETURN
open_failed(struct cod_stmt *stmt)
{
	cod_columns_drop(stmt);
	cod_cursor_close(stmt);
	cod_result_over(stmt, 0);
	return SQL_ERROR;
}

SQLRETURN
cod_cursor_open(struct cod_stmt *stmt, cenote_result *result, bool is_streamed)
{
	struct cod_cursor *cursor = &stmt->cursor;
	SQLRETURN ret;

	cod_cursor_close(stmt);
	cursor->is_open = true;
	cursor->result = result;
	cursor->n_columns = cenote_result_n_columns(result);
	cursor->is_streamed = is_streamed;
	cod_rows_init(&cursor->kept, cursor->n_columns);
	ret = cod_columns_of_result(stmt, result);
	if (ret == SQL_SUCCESS && is_streamed && is_scrollable(stmt)) {
		int r = cenote_result_buffer(result);

		cursor->is_streamed = false;
		if (r < 0)
			ret = failed(stmt, r);
		else
			cod_result_over(stmt, cenote_result_flags(result));
	}
	if (ret == SQL_SUCCESS && !cursor->is_streamed)
		look_at_batch(cursor);
	else if (ret == SQL_SUCCESS)
		ret = read_ahead(stmt);
	if (ret != SQL_SUCCESS)
		return open_failed(stmt);
	if (!cursor->is_streamed)
		stmt->row_count = (SQLLEN)cod_cursor_total(cursor);
	stmt->head.diag.cursor_rows = stmt->row_count;
	return SQL_SUCCESS;
}

SQLRETURN
cod_cursor_open_own(
	struct cod_stmt *stmt, struct cod_rows *rows, struct cod_column *columns)
{
	struct cod_cursor *cursor = &stmt->cursor;

	cod_cursor_close(stmt);
	cursor->is_open = true;
	cursor->n_columns = rows->n_columns;
	cursor->kept = *rows;
	stmt->columns = columns;
	stmt->n_columns = (SQLUSMALLINT)rows->n_columns;
	stmt->has_columns = true;
	stmt->row_count = (SQLLEN)rows->n_rows;
	stmt->head.diag.cursor_rows = stmt->row_count;
	return SQL_SUCCESS;
}
