/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/columns.h"

#include <string.h>

#include "core/batch.h"

/*
 * Column descriptions, parameter descriptions and bound values, in the form of the
 * protocol.
 */

/* The size of a column without its texts: 7 lengths and zero bytes, then the numbers. */
#define COLUMN_FIXED (7u * 5u + 4u + 4u * 4u + 8u + 4u * 4u)
#define PARAM_FIXED  (1u + 4u + 5u)
#define N_TEXTS      7u

static const size_t text_offset[N_TEXTS] = {
	offsetof(struct cnp_column, name),
	offsetof(struct cnp_column, org_name),
	offsetof(struct cnp_column, table),
	offsetof(struct cnp_column, org_table),
	offsetof(struct cnp_column, schema),
	offsetof(struct cnp_column, catalog),
	offsetof(struct cnp_column, type_name),
};

static const struct cnp_str *
column_text(const struct cnp_column *c, size_t i)
{
	return (const struct cnp_str *)(const void *)((const char *)c + text_offset[i]);
}

static uint8_t *
write_text(uint8_t *p, const struct cnp_str *s)
{
	cnc_put_u32(p, (uint32_t)s->n);
	if (s->n > 0)
		memcpy(p + 4, s->p, s->n);
	p[4 + s->n] = 0;
	return p + 5 + s->n;
}

static void
write_column(uint8_t *p, const struct cnp_column *c)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++)
		p = write_text(p, column_text(c, i));
	p[0] = c->type;
	p[1] = c->format;
	p[2] = c->nullable;
	p[3] = 0;
	cnc_put_u32(p + 4, c->native_type);
	cnc_put_u32(p + 8, (uint32_t)c->modifier);
	cnc_put_u32(p + 12, c->native_flags);
	cnc_put_u32(p + 16, c->charset);
	cnc_put_u64(p + 20, (uint64_t)c->length);
	cnc_put_u32(p + 28, (uint32_t)c->precision);
	cnc_put_u32(p + 32, (uint32_t)c->scale);
	cnc_put_u32(p + 36, c->table_id);
	cnc_put_u32(p + 40, c->attnum);
}

static int
put_column(struct cnc_buf *b, const struct cnp_column *c)
{
	uint64_t size = COLUMN_FIXED;
	uint8_t *room;
	size_t i;
	int r;

	for (i = 0; i < N_TEXTS; i++) {
		size += column_text(c, i)->n;
		if (size > CNC_BATCH_ROW_MAX)
			return CENOTE_ERR_LIMIT;
	}
	r = cnc_buf_reserve(b, (size_t)size, &room);
	if (r < 0)
		return r;
	write_column(room, c);
	cnc_buf_commit(b, (size_t)size);
	return CENOTE_OK;
}

int
cnp_columns_encode(struct cnc_buf *b, const struct cnp_column *columns, uint32_t n)
{
	size_t before = cnc_buf_len(b);
	uint32_t i;
	int r;

	if (n > CNC_BATCH_COLS_MAX)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_u32(b, n);
	for (i = 0; i < n && r == CENOTE_OK; i++)
		r = put_column(b, &columns[i]);
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}

static int
read_text(struct cnc_reader *r, struct cnc_arena *arena, struct cnp_str *ret_text)
{
	size_t n;
	const char *p = cnc_read_str(r, &n);

	if (r->bad)
		return CENOTE_ERR_PROTOCOL;
	ret_text->n = n;
	ret_text->p = n > 0 ? cnc_arena_strndup(arena, p, n) : "";
	return ret_text->p ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static int
read_column(struct cnc_reader *r, struct cnc_arena *arena, struct cnp_column *c)
{
	size_t i;
	int rc;

	for (i = 0; i < N_TEXTS; i++) {
		rc = read_text(
			r, arena, (struct cnp_str *)(void *)((char *)c + text_offset[i]));
		if (rc < 0)
			return rc;
	}
	c->type = cnc_read_u8(r);
	c->format = cnc_read_u8(r);
	c->nullable = cnc_read_u8(r);
	if (cnc_read_u8(r) != 0)
		r->bad = 1;
	c->native_type = cnc_read_u32(r);
	c->modifier = (int32_t)cnc_read_u32(r);
	c->native_flags = cnc_read_u32(r);
	c->charset = cnc_read_u32(r);
	c->length = (int64_t)cnc_read_u64(r);
	c->precision = (int32_t)cnc_read_u32(r);
	c->scale = (int32_t)cnc_read_u32(r);
	c->table_id = cnc_read_u32(r);
	c->attnum = cnc_read_u32(r);
	return r->bad ? CENOTE_ERR_PROTOCOL : CENOTE_OK;
}

/* Read a number of elements of at least `each` bytes. The bytes that follow must be enough for
 * them; this is checked before memory is allocated. */
static int
read_count(struct cnc_reader *r, size_t each, uint32_t *ret_n)
{
	uint32_t n = cnc_read_u32(r);

	if (r->bad || n > CNC_BATCH_COLS_MAX || n > (size_t)(r->end - r->p) / each)
		return CENOTE_ERR_PROTOCOL;
	*ret_n = n;
	return CENOTE_OK;
}

int
cnp_columns_decode(const uint8_t *payload, size_t len, struct cnc_arena *arena,
	struct cnp_column **ret_columns, uint32_t *ret_n)
{
	struct cnp_column *columns;
	struct cnc_reader r;
	uint32_t i, n;
	int rc;

	cnc_reader_init(&r, payload, len);
	rc = read_count(&r, COLUMN_FIXED, &n);
	if (rc < 0)
		return rc;
	columns = cnc_arena_alloc(arena, (n + 1) * sizeof *columns);
	if (!columns)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < n; i++) {
		rc = read_column(&r, arena, &columns[i]);
		if (rc < 0)
			return rc;
	}
	rc = cnc_reader_end(&r);
	if (rc < 0)
		return rc;
	*ret_columns = columns;
	*ret_n = n;
	return CENOTE_OK;
}

static int
put_param(struct cnc_buf *b, const struct cnp_param *p)
{
	uint8_t *room;
	int r;

	if (p->name.n > CNC_BATCH_ROW_MAX)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_reserve(b, PARAM_FIXED + p->name.n, &room);
	if (r < 0)
		return r;
	room[0] = p->type;
	cnc_put_u32(room + 1, p->native_type);
	write_text(room + 5, &p->name);
	cnc_buf_commit(b, PARAM_FIXED + p->name.n);
	return CENOTE_OK;
}

int
cnp_params_encode(struct cnc_buf *b, const struct cnp_param *params, uint32_t n)
{
	size_t before = cnc_buf_len(b);
	uint32_t i;
	int r;

	if (n > CNC_BATCH_COLS_MAX)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_u32(b, n);
	for (i = 0; i < n && r == CENOTE_OK; i++)
		r = put_param(b, &params[i]);
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}

int
cnp_params_decode(const uint8_t *payload, size_t len, struct cnc_arena *arena,
	struct cnp_param **ret_params, uint32_t *ret_n)
{
	struct cnp_param *params;
	struct cnc_reader r;
	uint32_t i, n;
	int rc;

	cnc_reader_init(&r, payload, len);
	rc = read_count(&r, PARAM_FIXED, &n);
	if (rc < 0)
		return rc;
	params = cnc_arena_alloc(arena, (n + 1) * sizeof *params);
	if (!params)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < n; i++) {
		params[i].type = cnc_read_u8(&r);
		params[i].native_type = cnc_read_u32(&r);
		rc = read_text(&r, arena, &params[i].name);
		if (rc < 0)
			return rc;
	}
	rc = cnc_reader_end(&r);
	if (rc < 0)
		return rc;
	*ret_params = params;
	*ret_n = n;
	return CENOTE_OK;
}

int
cnp_values_decode(struct cnp_str blob, struct cnc_arena *arena,
	struct cnc_value **ret_values, uint32_t *ret_n)
{
	struct cnc_value *values;
	struct cnc_reader r;
	uint32_t i, n;
	int rc;

	if (blob.n == 0) {
		*ret_values = NULL;
		*ret_n = 0;
		return CENOTE_OK;
	}
	cnc_reader_init(&r, blob.p, blob.n);
	n = cnc_read_u16(&r);
	/* A value takes at least one byte. */
	if (r.bad || n > (size_t)(r.end - r.p))
		return CENOTE_ERR_PROTOCOL;
	values = cnc_arena_alloc(arena, (n + 1) * sizeof *values);
	if (!values)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < n && !r.bad; i++)
		cnc_value_decode(&r, &values[i]);
	rc = cnc_reader_end(&r);
	if (rc < 0)
		return rc;
	*ret_values = values;
	*ret_n = n;
	return CENOTE_OK;
}
