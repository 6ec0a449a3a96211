/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of rows: reads them from the driver, as a whole or in pieces, and writes them in the format that the
 * client wants. Owns s->value. exec.c, call.c and catalog.c call it.
 */
#include <string.h>

#include "core/dt.h"

#include "odbc.h"

/* Bytes of the first piece of a value. A longer value comes in several pieces. */
#define FIRST_BYTES 512u
#define PIECE_BYTES ((size_t)64 << 10)

/* ---- reading ---- */

/* The size of the zero that the driver writes after a piece. */
static size_t
end_of(SQLSMALLINT c_type)
{
	if (c_type == SQL_C_WCHAR)
		return sizeof(SQLWCHAR);
	return c_type == SQL_C_CHAR ? 1 : 0;
}

/*
 * Append the next piece to s->value. CENOTE_OK: there is more; CENOTE_DONE: that was all. `n`: how many bytes
 * to ask for; then how many are left, or a guess if the driver does not tell.
 */
static int
read_piece(struct cnd_session *s, SQLHSTMT handle, SQLUSMALLINT column,
	SQLSMALLINT c_type, size_t *n, int *ret_is_null)
{
	size_t end = end_of(c_type), room = *n + end, got;
	SQLLEN left = 0;
	uint8_t *at;
	SQLRETURN rc;
	int r = cnc_buf_reserve(&s->value, room, &at);

	if (r < 0)
		return r;
	rc = SQLGetData(handle, column, c_type, at, (SQLLEN)room, &left);
	if (rc == SQL_NO_DATA)
		return CENOTE_DONE;
	if (!CND_OD_OK(rc))
		return cnd_od_fail(s, SQL_HANDLE_STMT, handle);
	if (left == SQL_NULL_DATA) {
		*ret_is_null = 1;
		return CENOTE_DONE;
	}
	if (left != SQL_NO_TOTAL && left >= 0 && (size_t)left <= *n) {
		cnc_buf_commit(&s->value, (size_t)left);
		return CENOTE_DONE;
	}
	got = *n;
	cnc_buf_commit(&s->value, got);
	*n = left == SQL_NO_TOTAL ? PIECE_BYTES : (size_t)left - got;
	return CENOTE_OK;
}

/* Convert the UTF-16 at the front of s->value to UTF-8, written after it. */
static int
to_utf8(struct cnd_session *s, struct cnp_str *ret_value)
{
	size_t n = cnc_buf_len(&s->value) / sizeof(SQLWCHAR), len;
	uint8_t *room;
	int r = cnc_buf_reserve(&s->value, 3 * n + 1, &room);

	if (r < 0)
		return r;
	len = cnd_od_utf8(
		(const SQLWCHAR *)(const void *)cnc_buf_head(&s->value), n, (char *)room);
	*ret_value = (struct cnp_str){ (const char *)room, len };
	return CENOTE_OK;
}

int
cnd_od_read_value(struct cnd_session *s, SQLHSTMT handle, SQLUSMALLINT column,
	SQLSMALLINT c_type, struct cnp_str *ret_value)
{
	size_t n = FIRST_BYTES;
	int is_null = 0, r;

	cnc_buf_truncate(&s->value, 0);
	do {
		r = read_piece(s, handle, column, c_type, &n, &is_null);
	} while (r == CENOTE_OK && s->stop == 0);
	if (r < 0 || s->stop < 0)
		return r < 0 ? r : s->stop;
	if (is_null)
		return CENOTE_DONE;
	if (c_type == SQL_C_WCHAR)
		return to_utf8(s, ret_value);
	*ret_value = (struct cnp_str){ "", cnc_buf_len(&s->value) };
	if (ret_value->n > 0)
		ret_value->p = (const char *)cnc_buf_head(&s->value);
	return CENOTE_OK;
}

/* ---- canonical forms ---- */

/* CENOTE_DONE: the text is not a boolean, and nothing was written. */
static int
put_bool(struct cnc_batch *w, const char *p, size_t n)
{
	if (n != 1 || !strchr("01tfTF", *p))
		return CENOTE_DONE;
	return cnc_batch_put(w, strchr("1tT", *p) ? "1" : "0", 1);
}

int
cnd_od_put_text(
	struct cnc_batch *w, uint8_t type, uint8_t format, const char *p, size_t n)
{
	int r = CENOTE_DONE;

	if (format == CENOTE_FORMAT_CANONICAL)
		r = type == CENOTE_TYPE_BOOL ? put_bool(w, p, n)
					     : cnd_put_canonical(w, type, p, n);
	return r == CENOTE_DONE ? cnc_batch_put(w, p, n) : r;
}

/* ---- rows ---- */

/* A driver's text of a double may lack digits, so read the 8 bytes. */
static int
put_whole_double(
	struct cnd_session *s, SQLHSTMT handle, SQLUSMALLINT column, struct cnc_batch *w)
{
	char text[CNC_VALUE_TEXT_MAX];
	SQLDOUBLE v = 0;
	SQLLEN n = 0;

	if (!CND_OD_OK(SQLGetData(handle, column, SQL_C_DOUBLE, &v, sizeof(v), &n)))
		return cnd_od_fail(s, SQL_HANDLE_STMT, handle);
	if (n == SQL_NULL_DATA)
		return cnc_batch_null(w);
	return cnc_batch_put(w, text, cnc_double_text(v, text));
}

/* CENOTE_OK; CENOTE_DONE: it is NULL; CENOTE_AGAIN: it is not bound or was cut, so call SQLGetData(). */
static int
read_bound(
	struct cnd_session *s, const struct cnd_od_column *c, struct cnp_str *ret_value)
{
	int r;

	if (!c->at)
		return CENOTE_AGAIN;
	if (c->left == SQL_NULL_DATA)
		return CENOTE_DONE;
	if (c->left < 0 || (size_t)c->left + end_of(c->c_type) > c->room)
		return CENOTE_AGAIN;
	if (c->c_type != SQL_C_WCHAR) {
		*ret_value = (struct cnp_str){ c->at, (size_t)c->left };
		return CENOTE_OK;
	}
	cnc_buf_truncate(&s->value, 0);
	r = cnc_buf_append(&s->value, c->at, (size_t)c->left);
	return r < 0 ? r : to_utf8(s, ret_value);
}

static int
put_value(struct cnd_session *s, const struct cnd_od_stmt *st, uint32_t i,
	struct cnc_batch *w)
{
	const struct cnd_od_column *c = &st->columns.plan[i];
	uint8_t format = st->columns.columns[i].format;
	SQLUSMALLINT number = (SQLUSMALLINT)(i + 1);
	struct cnp_str value;
	int r;

	if (format == CENOTE_FORMAT_CANONICAL && c->type == CENOTE_TYPE_DOUBLE &&
		c->sql_type != SQL_REAL)
		return put_whole_double(s, st->handle, number, w);
	r = read_bound(s, c, &value);
	if (r == CENOTE_AGAIN)
		r = cnd_od_read_value(s, st->handle, number, c->c_type, &value);
	if (r == CENOTE_DONE)
		return cnc_batch_null(w);
	return r < 0 ? r : cnd_od_put_text(w, c->type, format, value.p, value.n);
}

int
cnd_od_put_row(
	struct cnd_session *s, const struct cnd_od_stmt *st, struct cnc_batch *batch)
{
	int r = cnc_batch_row(batch);

	for (uint32_t i = 0; r == CENOTE_OK && i < st->columns.n; i++)
		r = put_value(s, st, i, batch);
	return cnd_row_end(batch, r);
}
