/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simple model of rows: an array of values, each in memory of its own. The property
 * tests compare batches and row sets with it.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
must(void *ptr)
{
	if (!ptr) {
		perror("model");
		abort();
	}
	return ptr;
}

void
model_init(struct model *m, uint32_t n_columns)
{
	*m = (struct model){ .n_columns = n_columns };
}

static void
drop_rows(struct model *m, size_t keep)
{
	for (size_t i = keep * m->n_columns; i < m->n_rows * m->n_columns; i++)
		free(m->values[i].bytes);
	m->n_rows = keep;
}

void
model_clear(struct model *m)
{
	drop_rows(m, 0);
	free(m->values);
	m->values = NULL;
}

static struct model_value *
add_row(struct model *m)
{
	size_t n = (m->n_rows + 1) * m->n_columns;

	m->values = must(realloc(m->values, (n + 1) * sizeof(*m->values)));
	m->n_rows++;
	memset(m->values + n - m->n_columns, 0, m->n_columns * sizeof(*m->values));
	return m->values + n - m->n_columns;
}

static void
set_value(struct model_value *v, const void *bytes, size_t len)
{
	v->bytes = must(malloc(len + 1));
	if (len)
		memcpy(v->bytes, bytes, len);
	v->bytes[len] = '\0';
	v->len = len;
}

void
model_add_random_row(struct model *m, struct cnt_random *rnd, size_t max_len)
{
	struct model_value *row = add_row(m);

	for (uint32_t i = 0; i < m->n_columns; i++) {
		char bytes[8192];
		size_t len = cnt_random_size(rnd, max_len < 8192 ? max_len : 8192);

		if (cnt_random_below(rnd, 5) == 0)
			continue;
		cnt_random_bytes(rnd, bytes, len);
		set_value(&row[i], bytes, len);
	}
}

static uint64_t
number(const uint8_t *p)
{
	return p[0] + 256u * (p[1] + 256u * (p[2] + (uint64_t)256 * p[3]));
}

/* Add the row at *at. Returns 0 if it is not well formed. */
static int
add_batch_row(struct model *m, const uint8_t *batch, size_t len, size_t *at)
{
	struct model_value *row = add_row(m);
	uint64_t start = *at;
	uint64_t begin = start + 4 * (uint64_t)m->n_columns;

	for (uint32_t i = 0; i < m->n_columns; i++) {
		uint64_t where = start + 4 * (uint64_t)i;
		uint64_t end;
		int is_null;

		if (where + 4 > len)
			return 0;
		end = number(batch + where);
		is_null = end >= 0x80000000u;
		end = start + (is_null ? end - 0x80000000u : end);
		if (end < begin || end >= len || batch[end] != 0 ||
			(is_null && end != begin))
			return 0;
		if (!is_null)
			set_value(&row[i], batch + begin, (size_t)(end - begin));
		begin = end + 1;
	}
	*at = (size_t)begin;
	return 1;
}

int
model_add_batch(struct model *m, const uint8_t *batch, size_t len)
{
	size_t before = m->n_rows;
	size_t at = 8;
	uint64_t n;

	if (len < 8 || number(batch + 4) != m->n_columns)
		return 0;
	n = number(batch);
	if (m->n_columns == 0 && n > CNC_BATCH_EMPTY_ROWS_MAX)
		return 0;
	for (; n > 0; n--) {
		if (!add_batch_row(m, batch, len, &at)) {
			drop_rows(m, before);
			return 0;
		}
	}
	if (at != len) {
		drop_rows(m, before);
		return 0;
	}
	return 1;
}

static void
must_ok(int r)
{
	if (r != CENOTE_OK) {
		fprintf(stderr, "model: %d\n", r);
		abort();
	}
}

void
model_write_batch(const struct model *m, size_t first, size_t n, struct cnc_buf *out)
{
	struct cnc_batch w;

	must_ok(cnc_batch_begin(&w, out, m->n_columns));
	for (size_t row = first; row < first + n; row++) {
		must_ok(cnc_batch_row(&w));
		for (uint32_t i = 0; i < m->n_columns; i++) {
			const struct model_value *v = &m->values[row * m->n_columns + i];

			if (v->bytes)
				must_ok(cnc_batch_put(&w, v->bytes, v->len));
			else
				must_ok(cnc_batch_null(&w));
		}
		cnc_batch_row_done(&w);
	}
	cnc_batch_end(&w);
}
