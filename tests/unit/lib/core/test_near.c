/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distance between words, which finds "did you mean" for an unknown key. It needs no
 * server.
 */
#include "support/cnt_cmocka.h"

#include <stdint.h>
#include <string.h>

#include "core/near.h"

static size_t
distance(const char *a, const char *b)
{
	return cnc_near_distance(a, strlen(a), b, strlen(b));
}

static void
each_changed_added_or_removed_letter_counts(void **state)
{
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("abc", ""), 3);
	assert_int_equal(distance("password", "PassWord"), 0);
	assert_int_equal(distance("sesions", "sessions"), 1);
	assert_int_equal(distance("sessions", "sesions"), 1);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_int_equal(distance("@", "`"), 1);
}

static void
a_long_word_is_near_to_nothing(void **state)
{
	char word[65];

	memset(word, 'x', sizeof(word));
	assert_int_equal(cnc_near_distance(word, 63, word, 63), 0);
	assert_true(cnc_near_distance(word, 64, word, 63) == SIZE_MAX);
	assert_true(cnc_near_distance(word, 63, word, 64) == SIZE_MAX);
}

static void
half_of_a_short_word_may_differ_and_three_letters_of_a_long_one(void **state)
{
	assert_int_equal(cnc_near_limit(0), 0);
	assert_int_equal(cnc_near_limit(5), 2);
	assert_int_equal(cnc_near_limit(6), 3);
	assert_int_equal(cnc_near_limit(60), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_changed_added_or_removed_letter_counts),
		cmocka_unit_test(a_long_word_is_near_to_nothing),
		cmocka_unit_test(
			half_of_a_short_word_may_differ_and_three_letters_of_a_long_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
