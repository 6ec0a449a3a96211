/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write and read a result of the pool's cache (kept.h). Another process wrote it, so everything is checked before it is used.
 * cached.c calls this file. It owns no state.
 */
#include "kept.h"

#include "core/batch.h"

int
cnd_kept_put_columns(struct cnc_buf *b, const struct cnp_column *columns, uint32_t n)
{
	size_t at = cnc_buf_len(b);
	int r = cnc_buf_u32(b, 0);

	if (r == CENOTE_OK)
		r = cnp_columns_encode(b, columns, n);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, 0);
	if (r == CENOTE_OK)
		cnc_put_u32(cnc_buf_head(b) + at, (uint32_t)(cnc_buf_len(b) - at - 5));
	return r;
}

int
cnd_kept_put_end(struct cnc_buf *b, const struct cnp_done *done)
{
	uint8_t numbers[24];
	int r = cnc_buf_str(b, "", 0);

	cnc_put_u64(numbers, (uint64_t)done->affected);
	cnc_put_u64(numbers + 8, done->last_insert_id);
	cnc_put_u32(numbers + 16, done->warnings);
	cnc_put_u32(numbers + 20, done->server_status);
	if (r == CENOTE_OK)
		r = cnc_buf_str(b, done->tag.p, done->tag.n);
	return r == CENOTE_OK ? cnc_buf_append(b, numbers, sizeof(numbers)) : r;
}

static struct cnp_str
read_text(struct cnc_reader *r)
{
	struct cnp_str s;

	s.p = cnc_read_str(r, &s.n);
	return s;
}

static void
read_marks(struct cnc_reader *r, struct cnd_kept *k)
{
	k->all = cnc_read_u64(r);
	k->n_tables = cnc_read_u32(r);
	k->tables = k->n_tables <= UINT16_MAX ? cnc_read_bytes(r, (size_t)8 * k->n_tables)
					      : NULL;
	r->bad |= k->tables == NULL;
}

/* Check the batches up to the empty text. */
static int
read_batches(struct cnc_reader *r, struct cnd_kept *k)
{
	k->batches = r->p;
	for (;;) {
		struct cnp_str batch = read_text(r);
		uint32_t n;

		if (r->bad)
			return CENOTE_ERR_PROTOCOL;
		if (batch.n == 0)
			return CENOTE_OK;
		if (cnc_batch_check((const uint8_t *)batch.p, batch.n, k->n_columns, NULL,
			    NULL, &n) < 0)
			return CENOTE_ERR_PROTOCOL;
	}
}

static int
read_end(struct cnc_reader *r, struct cnd_kept *k)
{
	k->done = (struct cnp_done){ .tag = read_text(r) };
	k->done.affected = (int64_t)cnc_read_u64(r);
	k->done.last_insert_id = cnc_read_u64(r);
	k->done.warnings = cnc_read_u32(r);
	k->done.server_status = cnc_read_u32(r);
	return cnc_reader_end(r);
}

int
cnd_kept_read(const uint8_t *bytes, size_t len, struct cnc_arena *arena,
	struct cnd_kept *ret_kept)
{
	struct cnc_reader reader;
	struct cnd_kept k = { .all = 0 };
	int r;

	cnc_reader_init(&reader, bytes, len);
	read_marks(&reader, &k);
	k.columns = read_text(&reader);
	if (reader.bad)
		return CENOTE_ERR_PROTOCOL;
	r = cnp_columns_decode(
		(const uint8_t *)k.columns.p, k.columns.n, arena, &k.list, &k.n_columns);
	if (r == CENOTE_OK)
		r = read_batches(&reader, &k);
	if (r == CENOTE_OK)
		r = read_end(&reader, &k);
	if (r == CENOTE_OK)
		*ret_kept = k;
	return r;
}

bool
cnd_kept_next_batch(struct cnd_kept *k, const uint8_t **ret_batch, size_t *ret_len)
{
	size_t n = cnc_get_u32(k->batches);

	*ret_batch = k->batches + 4;
	*ret_len = n;
	k->batches += 4 + n + 1;
	return n > 0;
}
