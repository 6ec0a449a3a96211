/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena: objects are aligned and do not overlap, memory is counted, and a failed allocation
 * leaves the arena usable. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/arena.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc a;
	struct cnc_arena arena;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_alloc_init(&f.a, 0);
	cnc_arena_init(&f.arena, &f.a.mem);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_arena_finish(&f->arena);
	return cnt_alloc_leaks(&f->a) ? -1 : 0;
}

static void
objects_are_aligned_and_apart(void **state)
{
	struct fixture *f = *state;
	unsigned char *objects[400];

	for (size_t i = 0; i < CNT_COUNT(objects); i++) {
		objects[i] = cnc_arena_alloc(&f->arena, i * 5);
		assert_non_null(objects[i]);
		assert_int_equal((uintptr_t)objects[i] % _Alignof(max_align_t), 0);
		memset(objects[i], (int)(i % 251), i * 5);
	}
	for (size_t i = 0; i < CNT_COUNT(objects); i++) {
		for (size_t k = 0; k < i * 5; k++)
			assert_int_equal(objects[i][k], i % 251);
	}
	assert_int_equal(f->arena.total, f->a.live_bytes);
}

static void
objects_of_no_size_are_apart(void **state)
{
	struct fixture *f = *state;
	void *a = cnc_arena_alloc(&f->arena, 0);
	void *b = cnc_arena_alloc(&f->arena, 0);

	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
}

static void
many_small_objects_take_few_blocks(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i++)
		assert_non_null(cnc_arena_alloc(&f->arena, 16));
	assert_true(f->a.n_calls <= 6);
}

static void
a_big_object_does_not_waste_the_newest_block(void **state)
{
	struct fixture *f = *state;
	size_t n_calls;

	assert_non_null(cnc_arena_alloc(&f->arena, 16));
	assert_non_null(cnc_arena_alloc(&f->arena, 100000));
	n_calls = f->a.n_calls;
	assert_non_null(cnc_arena_alloc(&f->arena, 16));
	assert_int_equal(f->a.n_calls, n_calls);
}

static void
strndup_copies(void **state)
{
	struct fixture *f = *state;
	char *text = cnc_arena_strndup(&f->arena, "abcdef", 3);

	assert_non_null(text);
	assert_string_equal(text, "abc");
	text = cnc_arena_strndup(&f->arena, NULL, 0);
	assert_non_null(text);
	assert_string_equal(text, "");
	assert_null(cnc_arena_strndup(&f->arena, "", SIZE_MAX));
}

static void
absurd_sizes_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_null(cnc_arena_alloc(&f->arena, SIZE_MAX));
	assert_null(cnc_arena_alloc(&f->arena, SIZE_MAX - 16));
	assert_null(cnc_arena_alloc(&f->arena, SIZE_MAX - 40));
	assert_non_null(cnc_arena_alloc(&f->arena, 8));
}

static void
clear_keeps_one_block_to_fill_anew(void **state)
{
	struct fixture *f = *state;
	size_t n_calls;

	for (int i = 0; i < 1000; i++)
		assert_non_null(cnc_arena_alloc(&f->arena, 64));
	cnc_arena_clear(&f->arena);
	assert_int_equal(f->a.n_live, 1);
	assert_int_equal(f->arena.total, f->a.live_bytes);
	n_calls = f->a.n_calls;
	for (size_t n = f->arena.cap / 64; n > 0; n--)
		memset(cnc_arena_alloc(&f->arena, 64), 1, 64);
	assert_int_equal(f->a.n_calls, n_calls);
	cnc_arena_finish(&f->arena);
	assert_int_equal(f->a.n_live, 0);
	cnc_arena_clear(&f->arena);
	assert_non_null(cnc_arena_alloc(&f->arena, 50000));
	cnc_arena_clear(&f->arena);
	assert_int_equal(f->a.n_live, 0);
	assert_non_null(cnc_arena_alloc(&f->arena, 1));
}

static void
every_failing_allocation_is_null_and_leaves_the_rest(void **state)
{
	size_t n_failures = 0;

	for (size_t fail_at = 1;; fail_at++) {
		struct cnc_arena arena;
		struct cnt_alloc a;
		size_t *objects[300];

		cnt_alloc_init(&a, fail_at);
		cnc_arena_init(&arena, &a.mem);
		for (size_t i = 0; i < CNT_COUNT(objects); i++) {
			size_t size = i % 50 == 49 ? 9000 : 24;

			objects[i] = cnc_arena_alloc(&arena, size);
			if (!objects[i])
				objects[i] = cnc_arena_alloc(&arena, size);
			assert_non_null(objects[i]);
			*objects[i] = i;
		}
		for (size_t i = 0; i < CNT_COUNT(objects); i++)
			assert_int_equal(*objects[i], i);
		assert_int_equal(arena.total, a.live_bytes);
		cnc_arena_finish(&arena);
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
		TEST(objects_are_aligned_and_apart),
		TEST(objects_of_no_size_are_apart),
		TEST(many_small_objects_take_few_blocks),
		TEST(a_big_object_does_not_waste_the_newest_block),
		TEST(strndup_copies),
		TEST(absurd_sizes_are_refused),
		TEST(clear_keeps_one_block_to_fill_anew),
		TEST(every_failing_allocation_is_null_and_leaves_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
