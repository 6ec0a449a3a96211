/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

/*
 * Rows that were copied out of libcenote's batches: all values one after the other, each with a
 * zero byte, and a list of their offsets. rows.c copies the rest of a result, stmt_handle.c copies
 * the last row of a cursor.
 */

struct value {
	size_t at; /* offset in the bytes */
	size_t length; /* IS_NULL: the value is NULL */
};
#define IS_NULL SIZE_MAX

struct cmy_kept {
	uint32_t n_columns;
	struct value *values;
	size_t n_values, values_room;
	char *bytes;
	size_t used, room;
};

/* Make room for `more` elements of `size` bytes after the first n. */
static int
grow(void **array, size_t *room, size_t n, size_t more, size_t size)
{
	size_t wanted = n + more, next = *room * 2 < wanted ? wanted : *room * 2;
	void *bigger;

	if (wanted <= *room)
		return 0;
	bigger = next > SIZE_MAX / size ? NULL : realloc(*array, next * size);
	if (!bigger)
		return -1;
	*array = bigger;
	*room = next;
	return 0;
}

static int
add_value(struct cmy_kept *k, const char *p, size_t n)
{
	struct value v = { .at = k->used, .length = p ? n : IS_NULL };
	void *values = k->values, *bytes = k->bytes;
	int r = grow(&values, &k->values_room, k->n_values, 1, sizeof(v));

	k->values = values;
	if (r == 0 && p)
		r = grow(&bytes, &k->room, k->used, n + 1, 1);
	k->bytes = bytes;
	if (r < 0)
		return r;
	k->values[k->n_values++] = v;
	if (!p || !k->bytes)
		return 0;
	if (n > 0)
		memcpy(k->bytes + k->used, p, n);
	k->bytes[k->used + n] = '\0';
	k->used += n + 1;
	return 0;
}

int
cmy_kept_add(struct cmy_kept **kept, const cenote_result *res, uint64_t row)
{
	struct cmy_kept *k = *kept ? *kept : calloc(1, sizeof(*k));
	uint32_t i;

	if (!k)
		return -1;
	*kept = k;
	k->n_columns = cenote_result_n_columns(res);
	for (i = 0; i < k->n_columns; i++) {
		size_t n = 0;
		const char *p = cenote_result_text(res, row, i, &n);

		if (add_value(k, p, n) < 0)
			return -1;
	}
	return 0;
}

uint64_t
cmy_kept_rows(const struct cmy_kept *kept)
{
	return kept ? kept->n_values / kept->n_columns : 0;
}

static uint32_t
n_columns_of(const struct cmy_kept *kept)
{
	return kept->n_columns;
}

const char *
cmy_kept_value(
	const struct cmy_kept *kept, uint64_t row, uint32_t column, size_t *ret_length)
{
	const struct value *v = &kept->values[row * kept->n_columns + column];

	*ret_length = v->length == IS_NULL ? 0 : v->length;
	return v->length == IS_NULL ? NULL : kept->bytes + v->at;
}

void
cmy_kept_free(struct cmy_kept *kept)
{
	if (!kept)
		return;
	free(kept->values);
	free(kept->bytes);
	free(kept);
}

struct cmy_row
cmy_rows_at(const struct cmy_stmt *st, uint64_t number)
{
	struct cmy_row row = { .kept = st->kept, .number = number };

	if (st->kept && number < cmy_kept_rows(st->kept)) {
		row.n_columns = n_columns_of(st->kept);
	} else if (!st->kept && number < cenote_result_n_rows(st->res)) {
		row.n_columns = cenote_result_n_columns(st->res);
		row.bytes = cenote_result_rows(st->res)[number];
	}
	return row;
}
