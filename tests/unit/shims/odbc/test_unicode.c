/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "shims/odbc/unicode.h"

/* A character of each length: a, e acute, euro, clef. */
#define MIXED "a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"

static void
texts_become_wide_and_narrow_again(void **state)
{
	static const SQLWCHAR wide[] = { 'a', 0xe9, 0x20ac, 0xd834, 0xdd1e };
	SQLWCHAR w[16];
	char back[16];

	assert_int_equal(cod_wide_length(MIXED, 10), 5);
	assert_int_equal(cod_wide(MIXED, 10, w), 5);
	assert_memory_equal(w, wide, sizeof(wide));
	assert_int_equal(cod_narrow_length(w, 5), 10);
	assert_int_equal(cod_narrow(w, 5, back), 10);
	assert_memory_equal(back, MIXED, 10);
}

static void
what_is_not_well_formed_is_replaced(void **state)
{
	static const struct {
		const char *text;
		size_t units;
	} cases[] = {
		{ "\x80", 1 },
		{ "\xff", 1 },
		{ "\xc3", 1 },
		{ "\xc3(", 2 },
		{ "\xc0\x80", 2 },
		{ "\xe0\x80\x80", 3 },
		{ "\xed\xa0\x80", 3 },
		{ "\xf4\x90\x80\x80", 4 },
		{ "\xf0\x9d\x84", 3 },
		{ "\xe2\x82z", 3 },
	};
	SQLWCHAR w[8];
	size_t n;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		n = cod_wide(cases[i].text, strlen(cases[i].text), w);
		if (n != cases[i].units)
			print_error("case %zu\n", i);
		assert_int_equal(n, cases[i].units);
		assert_int_equal(w[0], 0xfffd);
	}
}

static void
halves_of_pairs_are_replaced(void **state)
{
	static const SQLWCHAR cases[][2] = { { 0xd834, 'x' }, { 0xdd1e, 'x' },
		{ 0xd834, 0xd834 }, { 0xdd1e, 0xd834 } };
	char text[8];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		size_t n = cod_narrow(cases[i], 2, text);

		assert_int_equal(n, cod_narrow_length(cases[i], 2));
		assert_memory_equal(text, "\xef\xbf\xbd", 3);
	}
	assert_int_equal(cod_narrow(cases[0], 1, text), 3);
}

/* In any room, the text is cut between two characters, and the next character would not fit. */
static void
a_text_is_cut_between_characters(void **state)
{
	static const char text[] = MIXED MIXED;
	static const size_t ends[] = { 0, 1, 3, 6, 10, 11, 13, 16, 20 };
	static const size_t units[] = { 0, 1, 2, 3, 5, 6, 7, 8, 10 };
	size_t n;

	for (size_t room = 0; room < 24; room++) {
		size_t i = 0;

		while (i + 1 < CNT_COUNT(ends) && ends[i + 1] <= room)
			i++;
		assert_int_equal(cod_fit(text, 20, room), ends[i]);
		for (i = 0; i + 1 < CNT_COUNT(units) && units[i + 1] <= room;)
			i++;
		assert_int_equal(cod_wide_fit(text, 20, room, &n), ends[i]);
		assert_int_equal(n, units[i]);
	}
}

/* Buffers of every size; the byte after each must not change. */
static void
texts_are_handed_out_with_a_zero(void **state)
{
	static const char text[] = MIXED;

	for (int is_wide = 0; is_wide < 2; is_wide++) {
		for (size_t room = 0; room < 16; room++) {
			_Alignas(SQLWCHAR) char to[17];
			struct cod_out out = { to, (SQLLEN)room, is_wide };
			size_t unit = is_wide ? 2 : 1;
			SQLLEN whole = 10, n;
			int is_cut;

			memset(to, 0x55, sizeof(to));
			is_cut = cod_out_text(&out, text, 10, &n);
			assert_int_equal(n, whole);
			assert_int_equal(is_cut, (size_t)whole + unit > room);
			for (size_t i = room; i < sizeof(to); i++)
				assert_int_equal(to[i], 0x55);
			if (!is_cut)
				assert_int_equal(to[whole], 0);
		}
	}
}

static void
a_length_is_told_without_a_buffer(void **state)
{
	const struct cod_out out = { NULL, 0, 1 };
	SQLLEN n = -1;

	assert_int_equal(cod_out_text(&out, MIXED, 10, &n), 0);
	assert_int_equal(n, 10);
}

static void
arguments_are_copied(void **state)
{
	static const SQLWCHAR w[] = { 'a', 0xe9, 0 };
	char *copy = cod_wide_dup(w, SQL_NTS);

	assert_string_equal(copy, "a\xc3\xa9");
	free(copy);
	copy = cod_wide_dup(w, 1);
	assert_string_equal(copy, "a");
	free(copy);
	copy = cod_text_dup((const SQLCHAR *)"abc", 2);
	assert_string_equal(copy, "ab");
	free(copy);
	copy = cod_text_dup((const SQLCHAR *)"abc", SQL_NTS);
	assert_string_equal(copy, "abc");
	free(copy);
	assert_true(cod_is_length(0) && cod_is_length(SQL_NTS) && !cod_is_length(-1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_wide_and_narrow_again),
		cmocka_unit_test(what_is_not_well_formed_is_replaced),
		cmocka_unit_test(halves_of_pairs_are_replaced),
		cmocka_unit_test(a_text_is_cut_between_characters),
		cmocka_unit_test(texts_are_handed_out_with_a_zero),
		cmocka_unit_test(a_length_is_told_without_a_buffer),
		cmocka_unit_test(arguments_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
