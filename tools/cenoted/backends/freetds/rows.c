/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each column is bound to a cell, which tells NULL from empty. Long values, and dates that lose
 * something when they are bound, are read from the library's own memory, straight into the
 * batch.
 */
#include <string.h>

#include "core/batch.h"

#include "tds.h"

/* Columns of at most this length are bound whole. */
#define BOUND_MAX 32768

struct cnd_tds_cell {
	const struct cnd_tds_kind *kind;
	void *at;
	CS_INT copied;
	CS_SMALLINT is_null;
	uint8_t is_kept; /* the value is taken from the library */
};

/* ---- columns ---- */

static struct cnp_str
text_of(struct cnd_session *s, const char *text)
{
	size_t n = strlen(text);
	char *copy = cnc_arena_strndup(&s->arena, text, n);

	return copy ? (struct cnp_str){ copy, n } : (struct cnp_str){ NULL, 0 };
}

/* The scale of types that have one without telling it. */
static int32_t
scale_of(const CS_DATAFMT *f)
{
	switch (f->datatype) {
	case CS_MONEY_TYPE:
	case CS_MONEY4_TYPE:
		return 4;
	case CS_DATETIME_TYPE:
	case CS_TIME_TYPE:
		return 3;
	case CS_DATETIME4_TYPE:
		return 0;
	default:
		return f->scale;
	}
}

static void
set_size(struct cnp_column *c, const CS_DATAFMT *f)
{
	switch (c->type) {
	case CENOTE_TYPE_DECIMAL:
		c->scale = scale_of(f);
		c->precision = f->datatype == CS_MONEY_TYPE    ? 19
			       : f->datatype == CS_MONEY4_TYPE ? 10
							       : f->precision;
		break;
	case CENOTE_TYPE_TIME:
	case CENOTE_TYPE_TIMESTAMP:
		c->scale = scale_of(f);
		break;
	default:
		break;
	}
	/* a column without a length reports the longest length that there can be */
	c->length = f->maxlength > 0 && f->maxlength < INT32_MAX / 4 ? f->maxlength : -1;
}

static int
describe(struct cnd_session *s, uint32_t i, uint8_t format, CS_DATAFMT *ret_fmt,
	struct cnp_column *ret_column)
{
	struct cnp_column c = CNP_COLUMN_INIT;
	const struct cnd_tds_kind *kind;
	CS_DATAFMT f;

	memset(&f, 0, sizeof(f));
	if (ct_describe(s->cmd, (CS_INT)i + 1, &f) != CS_SUCCEED)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"FreeTDS does not know the type of column %u", i + 1u);
	kind = cnd_tds_kind(f.datatype);
	if (!kind)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"column %u is of type %d of FreeTDS, which is not known", i + 1u,
			(int)f.datatype);
	if (format == CENOTE_FORMAT_BINARY)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"values in binary form are not to be had from this server");
	c.name = text_of(s, f.name);
	if (!c.name.p)
		return CENOTE_ERR_NOMEM;
	c.type = kind->type;
	c.type_name = cnp_str(kind->name);
	c.format = format;
	c.nullable = f.status & CS_CANBENULL ? 1 : 0;
	c.native_type = (uint32_t)f.datatype;
	c.native_flags = (uint32_t)f.status;
	set_size(&c, &f);
	*ret_fmt = f;
	*ret_column = c;
	return CENOTE_OK;
}

/* ---- cells ---- */

static int
bind(struct cnd_session *s, uint32_t i, const CS_DATAFMT *f, struct cnd_tds_cell *cell)
{
	const struct cnd_tds_kind *kind = cell->kind;
	CS_DATAFMT to;

	memset(&to, 0, sizeof(to));
	to.datatype = kind->bind;
	to.format = CS_FMT_UNUSED;
	to.count = 1;
	to.maxlength = kind->size > 0 ? kind->size : f->maxlength;
	cell->is_kept = kind->size < 0 || to.maxlength > BOUND_MAX || to.maxlength <= 0;
	if (cell->is_kept) {
		/* The value is converted to a number that nobody reads. If bytes were bound without
		 * room, the library would write beyond them. */
		to.datatype = kind->type == CENOTE_TYPE_TEXT    ? CS_CHAR_TYPE
			      : kind->type == CENOTE_TYPE_BYTES ? CS_INT_TYPE
								: kind->bind;
		to.maxlength = kind->type == CENOTE_TYPE_TEXT ? 1 : 8;
	}
	cell->at = cnc_arena_alloc(&s->arena, (size_t)to.maxlength + 8);
	if (!cell->at)
		return CENOTE_ERR_NOMEM;
	return ct_bind(s->cmd, (CS_INT)i + 1, &to, cell->at, &cell->copied,
		       &cell->is_null) == CS_SUCCEED
		       ? CENOTE_OK
		       : cnd_tds_failed(s);
}

static int
count_columns(struct cnd_session *s, uint32_t *ret_n)
{
	CS_INT n = 0;

	if (ct_res_info(s->cmd, CS_NUMDATA, &n, CS_UNUSED, NULL) != CS_SUCCEED || n < 0)
		return cnd_tds_failed(s);
	*ret_n = (uint32_t)n;
	return CENOTE_OK;
}

static int
make_room(struct cnd_session *s, uint32_t n, struct cnd_tds_rows *rows)
{
	rows->n = n;
	rows->columns = cnc_arena_alloc(&s->arena, (n + 1u) * sizeof(*rows->columns));
	rows->cells = cnc_arena_alloc(&s->arena, (n + 1u) * sizeof(*rows->cells));
	if (!rows->columns || !rows->cells)
		return CENOTE_ERR_NOMEM;
	memset(rows->cells, 0, (n + 1u) * sizeof(*rows->cells));
	return CENOTE_OK;
}

int
cnd_tds_rows_bind(
	struct cnd_session *s, const struct cnd_exec *exec, struct cnd_tds_rows *ret_rows)
{
	struct cnd_tds_rows rows;
	CS_DATAFMT f = { .datatype = CS_ILLEGAL_TYPE };
	uint32_t n = 0;
	int r = count_columns(s, &n);

	if (r < 0)
		return r;
	if (exec->formats.n > 0 && exec->formats.n != n)
		return cnd_refuse(s->diag, CNC_SQLSTATE(PROTOCOL), NULL,
			"%zu formats were given for %u columns", exec->formats.n,
			(unsigned)n);
	r = make_room(s, n, &rows);
	for (uint32_t i = 0; r == CENOTE_OK && i < n; i++) {
		uint8_t format =
			exec->formats.n > 0 ? (uint8_t)exec->formats.p[i] : exec->format;

		r = describe(s, i, format, &f, &rows.columns[i]);
		if (r < 0)
			break;
		rows.cells[i].kind = cnd_tds_kind(f.datatype);
		r = bind(s, i, &f, &rows.cells[i]);
	}
	*ret_rows = rows;
	return r;
}

int
cnd_tds_rows_bind_as(struct cnd_session *s, struct cnp_column *columns, uint32_t n,
	struct cnd_tds_rows *ret_rows)
{
	const struct cnd_exec exec = { .format = CENOTE_FORMAT_CANONICAL };
	int r = cnd_tds_rows_bind(s, &exec, ret_rows);

	if (r < 0)
		return r;
	if (ret_rows->n != n)
		return cnd_refuse(s->diag, CNC_SQLSTATE(INTERNAL), NULL,
			"the server gave %u columns, not %u", (unsigned)ret_rows->n,
			(unsigned)n);
	ret_rows->columns = columns;
	return CENOTE_OK;
}

/* ---- rows ---- */

/* How many bytes the library keeps of a value. It tells that once it has begun to give the
 * value. */
static int
kept_length(struct cnd_session *s, uint32_t i, size_t *ret_len)
{
	CS_IODESC told;
	CS_INT got = 0;
	char none;

	memset(&told, 0, sizeof(told));
	if (ct_get_data(s->cmd, (CS_INT)i + 1, &none, 0, &got) == CS_FAIL ||
		ct_data_info(s->cmd, CS_GET, (CS_INT)i + 1, &told) != CS_SUCCEED)
		return cnd_tds_failed(s);
	*ret_len = told.total_txtlen > 0 ? (size_t)told.total_txtlen : 0;
	return CENOTE_OK;
}

static int
put_long(struct cnd_session *s, uint32_t i, size_t len, struct cnc_batch *w)
{
	char *room;
	CS_INT got = 0;
	int r = cnc_batch_room(w, len, &room);

	if (r < 0)
		return r;
	if (len > 0 &&
		ct_get_data(s->cmd, (CS_INT)i + 1, room, (CS_INT)len, &got) == CS_FAIL)
		return cnd_tds_failed(s);
	cnc_batch_room_done(w, (size_t)got);
	return CENOTE_OK;
}

static int
put_kept(struct cnd_session *s, uint32_t i, const struct cnp_column *c,
	const struct cnd_tds_cell *cell, struct cnc_batch *w)
{
	char value[64];
	CS_INT got = 0;
	size_t len = 0;
	int r = kept_length(s, i, &len);

	if (r < 0)
		return r;
	if (c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_BYTES)
		return put_long(s, i, len, w);
	if (len > sizeof(value) ||
		ct_get_data(s->cmd, (CS_INT)i + 1, value, (CS_INT)len, &got) == CS_FAIL)
		return cnd_tds_failed(s);
	return cell->kind->put(w, c, value, len);
}

static int
put_value(struct cnd_session *s, uint32_t i, const struct cnp_column *c,
	const struct cnd_tds_cell *cell, struct cnc_batch *w)
{
	if (cell->is_null == CS_NULLDATA)
		return cnc_batch_null(w);
	if (cell->is_kept)
		return put_kept(s, i, c, cell, w);
	return cell->kind->put(
		w, c, cell->at, cell->copied > 0 ? (size_t)cell->copied : 0);
}

int
cnd_tds_put_row(struct cnd_session *s, struct cnd_tds_rows *rows, struct cnc_batch *w)
{
	int r = cnc_batch_row(w);

	for (uint32_t i = 0; r == CENOTE_OK && i < rows->n; i++)
		r = put_value(s, i, &rows->columns[i], &rows->cells[i], w);
	if (r == CENOTE_OK) {
		cnc_batch_row_done(w);
		return CENOTE_OK;
	}
	cnc_batch_row_undo(w);
	return r == CENOTE_ERR_PROTOCOL
		       ? cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
				 "FreeTDS gave a date in a form that is "
				 "not known")
		       : r;
}
