/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "placeholder.h"

static const struct {
	const char *sql;
	const char *wanted;
} cases[] = {
	{ "", "" },
	{ "select 1", "select 1" },
	{ "?", "$1" },
	{ "??", "$1 $2" },
	{ "select ?, ? from t where a=?", "select $1, $2 from t where a=$3" },
	{ "?,?,?,?,?,?,?,?,?,?,?", "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11" },
	{ "a=?and b=?$$x$$ limit?", "a=$1 and b=$2 $$x$$ limit $3" },
	{ "'?' ?", "'?' $1" },
	{ "'a''?' ?", "'a''?' $1" },
	{ "'\\' ? '?'", "'\\' $1 '?'" },
	{ "E'\\'?' ?", "E'\\'?' $1" },
	{ "e'\\\\' ?", "e'\\\\' $1" },
	{ "name'\\' ?", "name'\\' $1" },
	{ "\"?\" ?", "\"?\" $1" },
	{ "\"a\"\"?\" ?", "\"a\"\"?\" $1" },
	{ "-- ?\n?", "-- ?\n$1" },
	{ "- ? - ?", "- $1 - $2" },
	{ "/* ? */ ?", "/* ? */ $1" },
	{ "/* /* ? */ ? */ ?", "/* /* ? */ ? */ $1" },
	{ "/ * ?", "/ * $1" },
	{ "$$?$$ ?", "$$?$$ $1" },
	{ "$a$ ? $b$ ? $$ ? $a$ ?", "$a$ ? $b$ ? $$ ? $a$ $1" },
	{ "a$b$ ? $b$", "a$b$ $1 $b$" },
	{ "$1$ ?", "$1$ $1" },
	{ "$?$", "$ $1 $" },
	{ "'? never ends", "'? never ends" },
	{ "/* ? never ends", "/* ? never ends" },
	{ "$a$ ? never ends", "$a$ ? never ends" },
};

static void
marks_become_numbers_where_they_are_marks(void **state)
{
	char to[512];
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		n = cmy_placeholders(cases[i].sql, strlen(cases[i].sql), to);
		to[n] = '\0';
		assert_string_equal(to, cases[i].wanted);
	}
}

/* Bytes after the end must not be read. The byte there is a question mark, which would be
 * replaced. */
static void
a_text_may_end_at_every_byte(void **state)
{
	size_t i, n, k, written;
	char *cut, *to;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		n = strlen(cases[i].sql);
		for (k = 0; k <= n; k++) {
			cut = malloc(k + 1);
			to = malloc(CMY_PLACEHOLDER_SIZE(k));
			assert_non_null(cut);
			assert_non_null(to);
			memcpy(cut, cases[i].sql, k);
			cut[k] = '?';
			written = cmy_placeholders(cut, k, to);
			assert_true(written >= k && written < CMY_PLACEHOLDER_SIZE(k));
			free(cut);
			free(to);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_become_numbers_where_they_are_marks),
		cmocka_unit_test(a_text_may_end_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
