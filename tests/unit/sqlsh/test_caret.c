/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "caret.h"

static const struct {
	const char *sql;
	unsigned long position;
	const char *expected;
} cases[] = {
	{ "select x", 8, "LINE 1: select x\n               ^\n" },
	{ "select\n\tnope from t", 9, "LINE 2:  nope from t\n         ^\n" },
	{ "select '\xe6\xb0\xb4', x", 13,
		"LINE 1: select '\xe6\xb0\xb4', x\n                     ^\n" },
	{ "select", 7, "LINE 1: select\n              ^\n" },
	{ "select", 8, "" },
	{ "select", 0, "" },
	{ "", 1, "LINE 1: \n        ^\n" },
};

static void
the_caret_is_below_the_position(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text t = { 0 };

		caret_add(&t, cases[i].sql, strlen(cases[i].sql), cases[i].position);
		if (strcmp(text_str(&t), cases[i].expected) != 0)
			fail_msg("case %zu: got\n%s", i, text_str(&t));
		text_finish(&t);
	}
}

static void
long_lines_are_cut_to_what_is_near(void **state)
{
	struct text sql = { 0 }, t = { 0 };
	const char *caret;

	text_add_repeat(&sql, 'a', 500);
	text_add_char(&sql, 'X');
	text_add_repeat(&sql, 'b', 500);
	caret_add(&t, sql.data, sql.len, 501);
	assert_non_null(strstr(text_str(&t), "LINE 1: ...aaa"));
	assert_non_null(strstr(text_str(&t), "bbb...\n"));
	caret = strchr(text_str(&t), '^');
	assert_non_null(caret);
	assert_int_equal(caret - strchr(text_str(&t), '\n') - 1,
		strchr(text_str(&t), 'X') - text_str(&t));
	assert_true(t.len < 300);
	text_finish(&sql);
	text_finish(&t);
}

static void
words_keep_what_is_quoted(void **state)
{
	static const char *const expected[] = { "a", "b c", "d'e", "f g\"h", "", "i" };
	struct args a = { "  a 'b c' 'd''e' f\" g\"\"h\" ''\ti\n" };
	struct text word = { 0 };
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(args_next(&a, &word), 1);
		assert_string_equal(text_str(&word), expected[i]);
	}
	assert_int_equal(args_next(&a, &word), 0);
	a.rest = "x 'open";
	assert_int_equal(args_next(&a, &word), 1);
	assert_int_equal(args_next(&a, &word), -1);
	text_finish(&word);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caret_is_below_the_position),
		cmocka_unit_test(long_lines_are_cut_to_what_is_near),
		cmocka_unit_test(words_keep_what_is_quoted),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
