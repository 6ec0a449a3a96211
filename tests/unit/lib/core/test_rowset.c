/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Row sets: rows from several batches, read forwards and by number, with the memory that
 * they hold. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/rowset.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc a;
	struct cnc_rowset rs;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_alloc_init(&f.a, 0);
	cnc_rowset_init(&f.rs, &f.a.mem, 2);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_rowset_finish(&f->rs);
	return cnt_alloc_leaks(&f->a) ? -1 : 0;
}

/* A block that holds a batch of n rows (i + base, NULL or text), each padded to `pad`. */
static struct cnc_block *
make_block(const struct cenote_allocator *mem, int n, int base, size_t pad)
{
	struct cnc_block *block;
	struct cnc_batch w;
	struct cnc_buf b;
	char text[2000];

	memset(text, 'p', sizeof(text));
	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	assert_ok(cnc_batch_begin(&w, &b, 2));
	for (int i = 0; i < n; i++) {
		int id = base + i;

		assert_ok(cnc_batch_row(&w));
		assert_ok(cnc_batch_put(&w, &id, sizeof(id)));
		if (i % 3 == 0)
			assert_ok(cnc_batch_null(&w));
		else
			assert_ok(cnc_batch_put(&w, text, pad));
		cnc_batch_row_done(&w);
	}
	cnc_batch_end(&w);
	block = cnc_block_create(mem, cnc_buf_len(&b));
	if (block) {
		block->len = block->cap;
		memcpy(block->data, cnc_buf_head(&b), block->len);
	}
	cnc_buf_finish(&b);
	return block;
}

static void
check_rows(const struct cnc_rowset *rs, size_t first, int n, int base, size_t pad)
{
	for (int i = 0; i < n; i++) {
		size_t len = 0;
		const char *v = cnc_rowset_value(rs, first + (size_t)i, 0, &len);
		int id = base + i;

		assert_non_null(v);
		assert_int_equal(len, sizeof(id));
		assert_memory_equal(v, &id, sizeof(id));
		v = cnc_rowset_value(rs, first + (size_t)i, 1, &len);
		if (i % 3 == 0) {
			assert_null(v);
			continue;
		}
		assert_non_null(v);
		assert_int_equal(len, pad);
		assert_int_equal(v[len], '\0');
	}
}

static void
a_small_batch_is_copied_and_its_block_let_go(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *block = make_block(&f->a.mem, 10, 0, 5);

	assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, block));
	assert_int_equal(block->refs, 1);
	cnc_block_unref(block);
	assert_int_equal(f->rs.n_rows, 10);
	check_rows(&f->rs, 0, 10, 0, 5);
}

static void
a_great_batch_keeps_its_block(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *block = make_block(&f->a.mem, 100, 7, 100);

	assert_true(block->len > CNC_ROWSET_COPY_MAX);
	assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, block));
	assert_int_equal(block->refs, 2);
	assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, block));
	assert_int_equal(block->refs, 2);
	cnc_block_unref(block);
	assert_int_equal(f->rs.n_rows, 200);
	check_rows(&f->rs, 0, 100, 7, 100);
	check_rows(&f->rs, 100, 100, 7, 100);
}

static void
a_great_batch_without_a_block_is_copied(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *block = make_block(&f->a.mem, 100, 7, 100);

	assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, NULL));
	assert_int_equal(block->refs, 1);
	cnc_block_unref(block);
	check_rows(&f->rs, 0, 100, 7, 100);
}

static void
what_is_not_there_is_null(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *block = make_block(&f->a.mem, 2, 0, 5);
	size_t len = 42;

	assert_null(cnc_rowset_value(&f->rs, 0, 0, &len));
	assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, NULL));
	cnc_block_unref(block);
	assert_null(cnc_rowset_value(&f->rs, 2, 0, &len));
	assert_null(cnc_rowset_value(&f->rs, UINT64_MAX, 0, &len));
	assert_null(cnc_rowset_value(&f->rs, UINT64_C(1) << 32, 0, &len));
	assert_null(cnc_rowset_value(&f->rs, 0, 2, &len));
	assert_null(cnc_rowset_value(&f->rs, 0, UINT32_MAX, &len));
	assert_int_equal(len, 42);
}

static void
a_bad_batch_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *good = make_block(&f->a.mem, 50, 0, 150);
	struct cnc_block *bad = make_block(&f->a.mem, 50, 0, 150);
	size_t bytes;

	assert_ok(cnc_rowset_add(&f->rs, good->data, good->len, good));
	bytes = f->rs.bytes;
	for (size_t len = 0; len < bad->len; len++)
		assert_int_equal(
			cnc_rowset_add(&f->rs, bad->data, len, bad), CENOTE_ERR_PROTOCOL);
	bad->data[bad->len - 1] = 1;
	assert_int_equal(
		cnc_rowset_add(&f->rs, bad->data, bad->len, bad), CENOTE_ERR_PROTOCOL);
	assert_int_equal(bad->refs, 1);
	assert_int_equal(f->rs.n_rows, 50);
	/* Only the array of rows may have grown. */
	assert_true(f->rs.bytes - bytes <= 64 * sizeof(void *));
	check_rows(&f->rs, 0, 50, 0, 150);
	cnc_block_unref(good);
	cnc_block_unref(bad);
}

static void
a_batch_without_rows_adds_none(void **state)
{
	static const uint8_t none[] = { 0, 0, 0, 0, 2, 0, 0, 0, 0 };
	struct fixture *f = *state;

	assert_ok(cnc_rowset_add(&f->rs, none, 8, NULL));
	assert_int_equal(cnc_rowset_add(&f->rs, none, 9, NULL), CENOTE_ERR_PROTOCOL);
	assert_int_equal(f->rs.n_rows, 0);
	assert_int_equal(f->a.n_calls, 0);
}

static void
rows_without_columns_are_rows(void **state)
{
	static const uint8_t three[] = { 3, 0, 0, 0, 0, 0, 0, 0 };
	struct fixture *f = *state;
	size_t len;

	f->rs.n_columns = 0;
	assert_ok(cnc_rowset_add(&f->rs, three, sizeof(three), NULL));
	assert_ok(cnc_rowset_add(&f->rs, three, sizeof(three), NULL));
	assert_int_equal(f->rs.n_rows, 6);
	assert_null(cnc_rowset_value(&f->rs, 0, 0, &len));
}

static void
clear_drops_rows_and_blocks_but_keeps_memory_for_the_next(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *small = make_block(&f->a.mem, 10, 1, 20);
	struct cnc_block *great = make_block(&f->a.mem, 100, 2, 100);
	size_t n_calls;

	assert_ok(cnc_rowset_add(&f->rs, small->data, small->len, small));
	assert_ok(cnc_rowset_add(&f->rs, great->data, great->len, great));
	cnc_rowset_clear(&f->rs);
	assert_int_equal(f->rs.n_rows, 0);
	assert_int_equal(great->refs, 1);
	n_calls = f->a.n_calls;
	assert_ok(cnc_rowset_add(&f->rs, small->data, small->len, small));
	assert_ok(cnc_rowset_add(&f->rs, great->data, great->len, great));
	assert_int_equal(f->a.n_calls, n_calls);
	cnc_block_unref(small);
	cnc_block_unref(great);
	check_rows(&f->rs, 0, 10, 1, 20);
	check_rows(&f->rs, 10, 100, 2, 100);
}

static void
bytes_are_what_the_allocator_gave(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20; i++) {
		struct cnc_block *block = make_block(&f->a.mem, 1 + i * 10, i, 50);

		assert_ok(cnc_rowset_add(&f->rs, block->data, block->len, block));
		cnc_block_unref(block);
		assert_int_equal(f->rs.bytes, f->a.live_bytes);
	}
	cnc_rowset_clear(&f->rs);
	assert_int_equal(f->rs.bytes, f->a.live_bytes);
	cnc_rowset_finish(&f->rs);
	assert_int_equal(f->rs.bytes, 0);
	assert_int_equal(f->rs.n_columns, 2);
}

static void
every_failing_allocation_leaves_the_set_as_it_was(void **state)
{
	size_t n_failures = 0;

	for (size_t fail_at = 1;; fail_at++) {
		struct cnc_rowset rs;
		struct cnt_alloc a;
		size_t n_rows = 0;

		cnt_alloc_init(&a, fail_at);
		cnc_rowset_init(&rs, &a.mem, 2);
		for (int i = 0; i < 12; i++) {
			int n = i % 2 ? 5 : 60;
			struct cnc_block *block =
				make_block(&cnc_mem_default, n, i * 100, 100);
			int r = cnc_rowset_add(&rs, block->data, block->len, block);

			if (r == CENOTE_ERR_NOMEM) {
				assert_int_equal(rs.n_rows, n_rows);
				assert_int_equal(block->refs, 1);
				r = cnc_rowset_add(&rs, block->data, block->len, block);
			}
			assert_ok(r);
			check_rows(&rs, n_rows, n, i * 100, 100);
			n_rows += (size_t)n;
			cnc_block_unref(block);
		}
		cnc_rowset_finish(&rs);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a))
			break;
		n_failures++;
	}
	assert_true(n_failures > 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_batch_is_copied_and_its_block_let_go),
		TEST(a_great_batch_keeps_its_block),
		TEST(a_great_batch_without_a_block_is_copied),
		TEST(what_is_not_there_is_null),
		TEST(a_bad_batch_changes_nothing),
		TEST(a_batch_without_rows_adds_none),
		TEST(rows_without_columns_are_rows),
		TEST(clear_drops_rows_and_blocks_but_keeps_memory_for_the_next),
		TEST(bytes_are_what_the_allocator_gave),
		TEST(every_failing_allocation_leaves_the_set_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
