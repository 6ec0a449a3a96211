/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random batches are read back as the model has them, and damaged batches are refused.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "model.h"
#include "support/cnt_guard.h"
#include "support/cnt_random.h"

#define BATCHES 60

struct fixture {
	struct cnt_random rnd;
	struct cnt_guard guard;
	struct model m;
	struct cnc_buf b;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_random_init_printed(&f.rnd);
	cnt_guard_init(&f.guard, 1 << 16);
	cnc_buf_init(&f.b, &cnc_mem_default, 1 << 16);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_buf_finish(&f->b);
	cnt_guard_finish(&f->guard);
	return 0;
}

/* Make a random batch in f->b. Its rows are in f->m. */
static void
make_batch(struct fixture *f)
{
	size_t n_rows = (size_t)cnt_random_below(&f->rnd, 6);

	model_init(&f->m, (uint32_t)cnt_random_below(&f->rnd, 6));
	for (size_t i = 0; i < n_rows; i++)
		model_add_random_row(&f->m, &f->rnd, 12);
	cnc_buf_clear(&f->b, 1 << 16);
	model_write_batch(&f->m, 0, n_rows, &f->b);
}

struct walk {
	const struct model *expected;
	size_t row;
};

/* Check that a row can be read, and holds what the model says. */
static int
compare_row(void *user, const uint8_t *row)
{
	struct walk *walk = user;
	const struct model *m = walk->expected;

	assert_true(walk->row < m->n_rows);
	for (uint32_t i = 0; i < m->n_columns; i++) {
		const struct model_value *v = &m->values[walk->row * m->n_columns + i];
		size_t len = 0;
		const char *bytes = cnc_row_value(row, m->n_columns, i, &len);

		assert_int_equal(bytes == NULL, v->bytes == NULL);
		if (!bytes)
			continue;
		assert_int_equal(len, v->len);
		assert_memory_equal(bytes, v->bytes, len + 1);
	}
	walk->row++;
	return CENOTE_OK;
}

/* Check bytes with nothing readable after them. cnc_batch_check() and the model must agree on
 * them. */
static int
check_bytes(struct fixture *f, const uint8_t *bytes, size_t len)
{
	const uint8_t *guarded = cnt_guard_put(&f->guard, bytes, len);
	uint32_t n_rows = UINT32_MAX;
	struct model expected;
	struct walk walk = { &expected, 0 };
	int is_good, r;

	model_init(&expected, f->m.n_columns);
	is_good = model_add_batch(&expected, guarded, len);
	r = cnc_batch_check(guarded, len, f->m.n_columns, NULL, NULL, &n_rows);
	assert_int_equal(r, is_good ? CENOTE_OK : CENOTE_ERR_PROTOCOL);
	if (is_good) {
		r = cnc_batch_check(
			guarded, len, f->m.n_columns, compare_row, &walk, &n_rows);
		assert_ok(r);
		assert_int_equal(n_rows, expected.n_rows);
		assert_int_equal(walk.row, expected.n_rows);
	}
	model_clear(&expected);
	return is_good;
}

static void
what_was_written_is_read(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i++) {
		make_batch(f);
		assert_true(check_bytes(f, cnc_buf_head(&f->b), cnc_buf_len(&f->b)));
		model_clear(&f->m);
	}
}

static void
a_batch_cut_at_any_byte_is_refused_and_not_read_beyond(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < BATCHES; i++) {
		make_batch(f);
		for (size_t len = 0; len < cnc_buf_len(&f->b); len++)
			assert_false(check_bytes(f, cnc_buf_head(&f->b), len));
		model_clear(&f->m);
	}
}

static void
a_batch_with_bytes_behind_is_refused(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < BATCHES; i++) {
		make_batch(f);
		assert_ok(cnc_buf_u8(&f->b, 0));
		assert_false(check_bytes(f, cnc_buf_head(&f->b), cnc_buf_len(&f->b)));
		model_clear(&f->m);
	}
}

static void
a_batch_with_any_byte_changed_is_judged_as_the_model_does(void **state)
{
	struct fixture *f = *state;
	size_t n_good = 0, n_bad = 0;

	for (int i = 0; i < BATCHES; i++) {
		make_batch(f);
		for (size_t at = 0; at < cnc_buf_len(&f->b); at++) {
			uint8_t *byte = cnc_buf_head(&f->b) + at;
			uint8_t was = *byte;

			for (int k = 0; k < 10; k++) {
				*byte = k < 8 ? (uint8_t)(was ^ 1u << k)
					      : (uint8_t)cnt_random_u64(&f->rnd);
				if (check_bytes(
					    f, cnc_buf_head(&f->b), cnc_buf_len(&f->b)))
					n_good++;
				else
					n_bad++;
			}
			*byte = was;
		}
		model_clear(&f->m);
	}
	/* Values may hold any byte; offsets and counts may not. */
	assert_true(n_good > 0 && n_bad > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_batch_cut_at_any_byte_is_refused_and_not_read_beyond),
		cmocka_unit_test(a_batch_with_bytes_behind_is_refused),
		cmocka_unit_test(
			a_batch_with_any_byte_changed_is_judged_as_the_model_does),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
