/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace contexts, alone and in the comments of a statement (core/traceparent.h). */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/sql.h"
#include "core/traceparent.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
#define GOOD  "00-" TRACE "-" SPAN "-01"

/* Parse a text in memory that ends with it. */
static bool
parse(const char *text, size_t n, struct cnc_traceparent *ret)
{
	char *copy = malloc(n > 0 ? n : 1);
	bool r;

	assert_non_null(copy);
	memcpy(copy, text, n);
	r = cnc_traceparent_parse(copy, n, ret);
	free(copy);
	return r;
}

static void
gives_both_ids(void **state)
{
	struct cnc_traceparent t;

	assert_true(parse(GOOD, strlen(GOOD), &t));
	assert_string_equal(t.trace_id, TRACE);
	assert_string_equal(t.span_id, SPAN);
}

static void
refuses_what_is_no_trace_context(void **state)
{
	static const struct {
		const char *text;
		bool is_good;
	} cases[] = {
		{ GOOD, true },
		{ "00-" TRACE "-" SPAN "-00", true },
		/* a later version, and what it may add */
		{ "01-" TRACE "-" SPAN "-01", true },
		{ "fe-" TRACE "-" SPAN "-01-what-comes", true },
		{ "01-" TRACE "-" SPAN "-01what", false },
		{ "00-" TRACE "-" SPAN "-01-more", false },
		{ "ff-" TRACE "-" SPAN "-01", false },
		/* ids of zeros only */
		{ "00-00000000000000000000000000000000-" SPAN "-01", false },
		{ "00-" TRACE "-0000000000000000-01", false },
		/* upper case, other letters, other signs */
		{ "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", false },
		{ "0x-" TRACE "-" SPAN "-01", false },
		{ "00-" TRACE "-00f067aa0ba902bg-01", false },
		{ "00-" TRACE "-" SPAN "-0g", false },
		{ "00_" TRACE "-" SPAN "-01", false },
		{ "00-" TRACE "_" SPAN "-01", false },
		{ "00-" TRACE "-" SPAN "_01", false },
		{ " " GOOD, false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cnc_traceparent t = { "before", "before" };
		bool r = parse(cases[i].text, strlen(cases[i].text), &t);

		if (r != cases[i].is_good)
			fail_msg("\"%s\"", cases[i].text);
		if (!r)
			assert_string_equal(t.trace_id, "before");
	}
}

static void
refuses_every_part_of_one(void **state)
{
	struct cnc_traceparent t;

	for (size_t n = 0; n < strlen(GOOD); n++)
		assert_false(parse(GOOD, n, &t));
}

/* ---- in statements ---- */

#define COMMENT "traceparent='" GOOD "'"

static bool
find(const char *sql, size_t n, uint32_t rules, struct cnc_traceparent *ret)
{
	char *copy = malloc(n > 0 ? n : 1);
	bool r;

	assert_non_null(copy);
	memcpy(copy, sql, n);
	r = cnc_traceparent_find(copy, n, rules, ret);
	free(copy);
	return r;
}

static void
finds_the_one_in_a_comment_and_no_other(void **state)
{
	static const struct {
		uint32_t rules;
		const char *sql;
		bool is_found;
	} cases[] = {
		{ CNC_SQL_POSTGRESQL, "select 1 /*" COMMENT "*/", true },
		{ CNC_SQL_POSTGRESQL, "select 1 /*" COMMENT "*/;", true },
		{ CNC_SQL_POSTGRESQL, "/*action='%2Fa'," COMMENT ",zone='x'*/ select 1",
			true },
		{ CNC_SQL_POSTGRESQL, "select /* " COMMENT " */ 1", true },
		{ CNC_SQL_POSTGRESQL, "select 1 --" COMMENT, true },
		{ CNC_SQL_MYSQL, "select 1 #" COMMENT "\n, 2", true },
		{ CNC_SQL_TDS, "select [a] /*" COMMENT "*/", true },
		{ CNC_SQL_SQLITE, "/*" COMMENT "*/", true },
		/* the first that is valid */
		{ CNC_SQL_POSTGRESQL, "/*traceparent='00-x'," COMMENT "*/ select 1",
			true },
		/* not a comment */
		{ CNC_SQL_POSTGRESQL, "select '/*traceparent=''" GOOD "''*/'", false },
		{ CNC_SQL_POSTGRESQL, "select $$/*" COMMENT "*/$$", false },
		{ CNC_SQL_MYSQL, "select \"/*" COMMENT "*/\"", false },
		{ CNC_SQL_POSTGRESQL, "select 1 where traceparent='" GOOD "'", false },
		/* MySQL executes it */
		{ CNC_SQL_MYSQL, "select 1 /*!, " COMMENT "*/", false },
		/* another key, another value, no end */
		{ CNC_SQL_POSTGRESQL, "/*x" COMMENT "*/ select 1", false },
		{ CNC_SQL_POSTGRESQL, "/*traceparent=" GOOD "*/ select 1", false },
		{ CNC_SQL_POSTGRESQL, "/*traceparent='" GOOD "*/ select 1", false },
		{ CNC_SQL_POSTGRESQL, "/*traceparent='" GOOD "x'*/ select 1", false },
		{ CNC_SQL_POSTGRESQL, "select 1", false },
		{ CNC_SQL_POSTGRESQL, "", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cnc_traceparent t = { "", "" };

		if (find(cases[i].sql, strlen(cases[i].sql), cases[i].rules, &t) !=
			cases[i].is_found)
			fail_msg("%s", cases[i].sql);
		assert_string_equal(t.trace_id, cases[i].is_found ? TRACE : "");
	}
}

/* A statement that is cut anywhere has either all of it or nothing. */
static void
reads_no_further_than_the_statement(void **state)
{
	static const char sql[] = "select 'a' /*" COMMENT "*/ from b";
	const char *closed = strstr(sql, "*/");

	for (size_t n = 0; n < sizeof(sql); n++) {
		struct cnc_traceparent t;

		assert_int_equal(find(sql, n, CNC_SQL_POSTGRESQL, &t),
			n >= (size_t)(closed - sql) + 2);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_both_ids),
		cmocka_unit_test(refuses_what_is_no_trace_context),
		cmocka_unit_test(refuses_every_part_of_one),
		cmocka_unit_test(finds_the_one_in_a_comment_and_no_other),
		cmocka_unit_test(reads_no_further_than_the_statement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
