/* SPDX-License-Identifier: BSD-2-Clause */
/* The regular expressions of rules (query/pattern.c): groups, errors, and the limits of a match. */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "query/pattern.h"

static struct cnd_pattern *
compiled(const char *text)
{
	char error[CND_PATTERN_ERROR_MAX];
	struct cnd_pattern *p = NULL;

	if (cnd_pattern_compile(text, &p, error) < 0)
		fail_msg("%s: %s", text, error);
	return p;
}

static void
a_match_has_groups(void **state)
{
	struct cnd_pattern *p = compiled("^select (a)?(?<rest>.*) from old\\b");
	const char *sql = "select b, c from old where 1 = 1";
	struct cnd_captures c;

	assert_int_equal(cnd_pattern_match(p, sql, strlen(sql), &c), 1);
	assert_int_equal(c.groups[0].n, strlen("select b, c from old"));
	assert_null(c.groups[1].p);
	assert_int_equal(cnd_pattern_group(p, "rest", 4), 2);
	assert_memory_equal(c.groups[2].p, "b, c", 4);
	assert_int_equal(c.groups[2].n, 4);
	assert_null(c.groups[3].p);
	assert_int_equal(cnd_pattern_count(p), 2);
	assert_int_equal(cnd_pattern_group(p, "res", 3), 0);
	/* only these bytes belong to the subject */
	assert_int_equal(cnd_pattern_match(p, sql, strlen("select b, c from ol"), &c), 0);
	cnd_pattern_destroy(p);
}

static void
a_pattern_reads_bytes(void **state)
{
	struct cnd_pattern *p = compiled("^a.b$");

	assert_int_equal(cnd_pattern_match(p, "a\0b", 3, NULL), 1);
	assert_int_equal(cnd_pattern_match(p,
				 "a\xff"
				 "b",
				 3, NULL),
		1);
	assert_int_equal(cnd_pattern_match(p, "", 0, NULL), 0);
	cnd_pattern_destroy(p);
}

static void
a_match_ends_at_its_limit(void **state)
{
	struct cnd_pattern *p = compiled("^(a+)+$");
	char text[65];

	memset(text, 'a', sizeof(text));
	text[64] = 'b';
	assert_int_equal(cnd_pattern_match(p, text, sizeof(text), NULL), -1);
	assert_int_equal(cnd_pattern_match(p, text, 64, NULL), 1);
	cnd_pattern_destroy(p);
}

static void
a_wrong_pattern_says_where(void **state)
{
	struct cnd_pattern *p = NULL;
	char error[CND_PATTERN_ERROR_MAX];

	assert_int_equal(cnd_pattern_compile("a(b", &p, error), -1);
	assert_non_null(strstr(error, "parenthesis"));
	assert_non_null(strstr(error, "at byte 4"));
	assert_null(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_match_has_groups),
		cmocka_unit_test(a_pattern_reads_bytes),
		cmocka_unit_test(a_match_ends_at_its_limit),
		cmocka_unit_test(a_wrong_pattern_says_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
