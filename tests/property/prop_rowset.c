/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random row sets hold what the model holds, also while blocks are shared.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/rowset.h"
#include "model.h"
#include "support/cnt_alloc.h"
#include "support/cnt_random.h"

#define RUNS       40
#define OPERATIONS 150
/* Blocks that the reader still holds while the set keeps rows of them. */
#define BLOCKS     3

struct fixture {
	struct cnt_random rnd;
	struct cnt_alloc a;
	struct cnc_rowset rs;
	struct model m;
	struct cnc_block *blocks[BLOCKS];
};

static int
group_setup(void **state)
{
	static struct fixture f;

	cnt_random_init_printed(&f.rnd);
	*state = &f;
	return 0;
}

static void
check_value(struct fixture *f, uint64_t row, uint32_t col)
{
	const struct model_value *v;
	size_t len = 0;
	const char *bytes = cnc_rowset_value(&f->rs, row, col, &len);

	if (row >= f->m.n_rows || col >= f->m.n_columns) {
		assert_null(bytes);
		return;
	}
	v = &f->m.values[row * f->m.n_columns + col];
	assert_int_equal(bytes == NULL, v->bytes == NULL);
	if (bytes) {
		assert_int_equal(len, v->len);
		assert_memory_equal(bytes, v->bytes, len + 1);
	}
}

static void
check_all(struct fixture *f)
{
	assert_int_equal(f->rs.n_rows, f->m.n_rows);
	for (size_t row = 0; row < f->m.n_rows; row++) {
		for (uint32_t col = 0; col < f->m.n_columns; col++)
			check_value(f, row, col);
	}
}

/* Fill a block with one to three batches after some other bytes, and add the batches. */
static void
add_block(struct fixture *f)
{
	size_t k = (size_t)cnt_random_below(&f->rnd, BLOCKS);
	size_t max = cnt_random_below(&f->rnd, 4) ? 40 : 3000;
	size_t at[4], n = (size_t)cnt_random_below(&f->rnd, 3) + 1;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	assert_ok(cnc_buf_append(&b, "frame", 5));
	for (size_t i = 0; i < n; i++) {
		size_t n_rows = cnt_random_size(&f->rnd, 40);
		struct model m;

		at[i] = cnc_buf_len(&b);
		model_init(&m, f->m.n_columns);
		for (size_t row = 0; row < n_rows; row++)
			model_add_random_row(&m, &f->rnd, max);
		model_write_batch(&m, 0, n_rows, &b);
		model_clear(&m);
		at[i + 1] = cnc_buf_len(&b);
		/* Now and then, damage a byte. */
		if (cnt_random_below(&f->rnd, 6) == 0)
			cnc_buf_head(&b)[at[i] +
					 cnt_random_below(&f->rnd, at[i + 1] - at[i])] ^=
				(uint8_t)(1u << cnt_random_below(&f->rnd, 8));
	}
	cnc_block_unref(f->blocks[k]);
	f->blocks[k] = cnc_block_create(&cnc_mem_default, cnc_buf_len(&b));
	assert_non_null(f->blocks[k]);
	memcpy(f->blocks[k]->data, cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *batch = f->blocks[k]->data + at[i];
		size_t len = at[i + 1] - at[i];
		int can_keep = cnt_random_below(&f->rnd, 4) != 0;
		size_t before = f->m.n_rows;
		int is_good, r;

		if (cnt_random_below(&f->rnd, 8) == 0)
			len -= (size_t)cnt_random_below(&f->rnd, len) + 1;
		is_good = model_add_batch(&f->m, batch, len);
		if (cnt_random_below(&f->rnd, 4) == 0)
			f->a.fail_at = f->a.n_calls + 1;
		r = cnc_rowset_add(&f->rs, batch, len, can_keep ? f->blocks[k] : NULL);
		f->a.fail_at = 0;
		if (r == CENOTE_ERR_NOMEM) {
			assert_int_equal(f->rs.n_rows, before);
			r = cnc_rowset_add(
				&f->rs, batch, len, can_keep ? f->blocks[k] : NULL);
		}
		assert_int_equal(r, is_good ? CENOTE_OK : CENOTE_ERR_PROTOCOL);
		assert_int_equal(f->rs.n_rows, f->m.n_rows);
	}
}

static void
operate(struct fixture *f)
{
	switch (cnt_random_below(&f->rnd, 20)) {
	case 0:
		cnc_rowset_clear(&f->rs);
		model_clear(&f->m);
		break;
	case 1:
		cnc_rowset_finish(&f->rs);
		model_clear(&f->m);
		assert_int_equal(f->a.n_live, 0);
		break;
	case 2:
		check_all(f);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
	case 7:
		add_block(f);
		break;
	default:
		check_value(f, cnt_random_below(&f->rnd, f->m.n_rows + 2),
			(uint32_t)cnt_random_below(&f->rnd, f->m.n_columns + 2));
		break;
	}
}

static void
a_row_set_is_what_an_array_of_rows_is(void **state)
{
	struct fixture *f = *state;

	for (int run = 0; run < RUNS; run++) {
		uint32_t n_columns = (uint32_t)cnt_random_size(&f->rnd, 30);

		cnt_alloc_init(&f->a, 0);
		cnc_rowset_init(&f->rs, &f->a.mem, n_columns);
		model_init(&f->m, n_columns);
		for (int i = 0; i < OPERATIONS; i++)
			operate(f);
		check_all(f);
		/* Release the reader's blocks first: the set has its own references. */
		for (size_t i = 0; i < BLOCKS; i++) {
			cnc_block_unref(f->blocks[i]);
			f->blocks[i] = NULL;
		}
		check_all(f);
		cnc_rowset_finish(&f->rs);
		model_clear(&f->m);
		assert_int_equal(cnt_alloc_leaks(&f->a), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_set_is_what_an_array_of_rows_is),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
