/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocator functions: empty sizes, zeroed memory, overflow, and a failed
 * allocation. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/mem.h"
#include "support/cnt_alloc.h"

static void
a_size_of_zero_gives_a_pointer(void **state)
{
	struct cnt_alloc a;
	void *p, *q;

	cnt_alloc_init(&a, 0);
	p = cnc_alloc(&a.mem, 0);
	assert_non_null(p);
	p = cnc_realloc(&a.mem, p, 0);
	assert_non_null(p);
	q = cnc_calloc(&a.mem, 0, 8);
	assert_non_null(q);
	cnc_free(&a.mem, p);
	cnc_free(&a.mem, q);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
calloc_zeroes_and_refuses_an_overflow(void **state)
{
	static const char zeroes[21];
	struct cnt_alloc a;
	char *p;

	cnt_alloc_init(&a, 0);
	p = cnc_calloc(&a.mem, 3, 7);
	assert_non_null(p);
	assert_memory_equal(p, zeroes, 21);
	cnc_free(&a.mem, p);
	assert_null(cnc_calloc(&a.mem, SIZE_MAX / 2 + 1, 2));
	assert_null(cnc_calloc(&a.mem, 2, SIZE_MAX / 2 + 1));
	assert_int_equal(a.n_calls, 1);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
realloc_keeps_the_content_and_takes_null(void **state)
{
	struct cnt_alloc a;
	char *p;

	cnt_alloc_init(&a, 0);
	p = cnc_realloc(&a.mem, NULL, 4);
	assert_non_null(p);
	memcpy(p, "abc", 4);
	p = cnc_realloc(&a.mem, p, 1000);
	assert_non_null(p);
	assert_string_equal(p, "abc");
	cnc_free(&a.mem, p);
	cnc_free(&a.mem, NULL);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
strndup_adds_a_zero_and_takes_zeroes(void **state)
{
	struct cnt_alloc a;
	char *p;

	cnt_alloc_init(&a, 0);
	p = cnc_strndup(&a.mem, "a\0bcd", 4);
	assert_non_null(p);
	assert_memory_equal(p, "a\0bc", 5);
	cnc_free(&a.mem, p);
	p = cnc_strndup(&a.mem, NULL, 0);
	assert_non_null(p);
	assert_string_equal(p, "");
	cnc_free(&a.mem, p);
	assert_null(cnc_strndup(&a.mem, "", SIZE_MAX));
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
failures_are_null_and_leave_the_old_piece(void **state)
{
	struct cnt_alloc a;
	char *p;

	cnt_alloc_init(&a, 2);
	a.fail_on = 1;
	p = cnc_strndup(&a.mem, "x", 1);
	assert_non_null(p);
	assert_null(cnc_realloc(&a.mem, p, 100));
	assert_null(cnc_alloc(&a.mem, 1));
	assert_null(cnc_calloc(&a.mem, 1, 1));
	assert_null(cnc_strndup(&a.mem, "y", 1));
	assert_string_equal(p, "x");
	cnc_free(&a.mem, p);
	assert_int_equal(a.n_failed, 4);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

static void
the_default_allocator_is_the_c_librarys(void **state)
{
	char *p = cnc_strndup(&cnc_mem_default, "abc", 3);

	assert_non_null(p);
	p = cnc_realloc(&cnc_mem_default, p, 5000);
	assert_non_null(p);
	assert_string_equal(p, "abc");
	cnc_free(&cnc_mem_default, p);
}

static void
wipe_overwrites(void **state)
{
	char secret[] = "secret";

	cnc_wipe(secret, 3);
	assert_memory_equal(secret, "\0\0\0ret", 7);
	cnc_wipe(NULL, 0);
}

static void
leaks_are_seen(void **state)
{
	struct cnt_alloc a;
	void *p;

	cnt_alloc_init(&a, 0);
	p = cnc_alloc(&a.mem, 3);
	assert_int_equal(a.n_live, 1);
	assert_int_equal(a.live_bytes, 3);
	cnc_free(&a.mem, p);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_of_zero_gives_a_pointer),
		cmocka_unit_test(calloc_zeroes_and_refuses_an_overflow),
		cmocka_unit_test(realloc_keeps_the_content_and_takes_null),
		cmocka_unit_test(strndup_adds_a_zero_and_takes_zeroes),
		cmocka_unit_test(failures_are_null_and_leave_the_old_piece),
		cmocka_unit_test(the_default_allocator_is_the_c_librarys),
		cmocka_unit_test(wipe_overwrites),
		cmocka_unit_test(leaks_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
