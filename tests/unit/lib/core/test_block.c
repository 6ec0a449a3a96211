/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of bytes that several owners share: the last owner frees the memory. It needs
 * no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/block.h"
#include "support/cnt_alloc.h"

static void
the_last_reference_frees(void **state)
{
	struct cnt_alloc a;
	struct cnc_block *b;

	cnt_alloc_init(&a, 0);
	b = cnc_block_create(&a.mem, 100);
	assert_non_null(b);
	assert_int_equal(b->cap, 100);
	assert_int_equal(b->len, 0);
	memset(b->data, 1, 100);
	assert_ptr_equal(cnc_block_ref(b), b);
	cnc_block_unref(b);
	assert_int_equal(a.n_live, 1);
	assert_int_equal(b->data[99], 1);
	cnc_block_unref(b);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
	cnc_block_unref(NULL);
}

static void
a_block_outlives_the_allocator_struct_it_was_made_with(void **state)
{
	struct cnt_alloc a;
	struct cenote_allocator copy;
	struct cnc_block *b;

	cnt_alloc_init(&a, 0);
	copy = a.mem;
	b = cnc_block_create(&copy, 0);
	assert_non_null(b);
	memset(&copy, 0xff, sizeof(copy));
	assert_ptr_equal(b->mem_ptr, &b->mem);
	cnc_block_unref(b);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
no_memory_and_absurd_sizes_give_null(void **state)
{
	struct cnt_alloc a;

	cnt_alloc_init(&a, 1);
	assert_null(cnc_block_create(&a.mem, 10));
	assert_null(cnc_block_create(&a.mem, SIZE_MAX));
	assert_int_equal(a.n_calls, 1);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
a_block_grows_with_what_is_in_it(void **state)
{
	struct cnt_alloc a;
	struct cnc_block *b, *grown;

	cnt_alloc_init(&a, 0);
	b = cnc_block_create(&a.mem, 100);
	assert_non_null(b);
	memset(b->data, 7, 100);
	b->len = 100;
	assert_null(cnc_block_grow(b, SIZE_MAX));
	assert_int_equal(b->cap, 100);
	grown = cnc_block_grow(b, 1u << 20);
	assert_non_null(grown);
	assert_ptr_equal(grown->mem_ptr, &grown->mem);
	assert_int_equal(grown->cap, 1u << 20);
	assert_int_equal(grown->len, 100);
	assert_int_equal(grown->data[0], 7);
	assert_int_equal(grown->data[99], 7);
	memset(grown->data + 100, 1, (1u << 20) - 100);
	cnc_block_unref(grown);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_reference_frees),
		cmocka_unit_test(a_block_outlives_the_allocator_struct_it_was_made_with),
		cmocka_unit_test(no_memory_and_absurd_sizes_give_null),
		cmocka_unit_test(a_block_grows_with_what_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
