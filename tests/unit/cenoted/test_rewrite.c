/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules make of statements (query/rewrite.c), and what `on_error` lines make of errors (query/error_map.c).
 * tests/integration/test_rewriting.c tests the same on servers.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/error_map.h"
#include "query/rewrite.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- rewrite ---- */

struct rewriting {
	struct cnc_arena arena;
	struct cnc_diag diag;
	struct cnd_query_rules rules;
	struct cnd_summary summary;
	struct cnd_query_text text;
};

static void
begin(struct rewriting *r, const char *rule, const char *sql, size_t n)
{
	char error[CND_QUERY_ERROR_MAX];

	*r = (struct rewriting){
		.text = { .style = { .dialect = CNC_SQL_POSTGRESQL, .normalizes = true },
			.arena = &r->arena,
			.summary = &r->summary,
			.diag = &r->diag }
	};
	cnc_arena_init(&r->arena, &cnc_mem_default);
	cnc_diag_init(&r->diag, NULL);
	if (cnd_query_rules_parse(&r->rules, rule, 7, error) < 0)
		fail_msg("%s: %s", rule, error);
	assert_int_equal(cnd_query_text_begin(&r->text, sql, n), CENOTE_OK);
}

static void
finish(struct rewriting *r)
{
	cnd_query_rules_destroy(&r->rules);
	cnc_arena_finish(&r->arena);
}

static void
a_text_takes_the_groups_of_the_pattern(void **state)
{
	static const struct {
		const char *rule;
		const char *sql;
		const char *expected; /* NULL: the rule leaves it alone */
	} list[] = {
		{ "-> rewrite \"select 1\"", "select 2", "select 1" },
		{ "\"text~^select (.*) from (?<t>\\w+)$\" -> rewrite "
		  "\"select \\1 from new_\\{t}, \\2\"",
			"SELECT a,  b FROM t", "select a, b from new_t, t" },
		{ "text~b -> rewrite \"select E'\\\\\\\\n', \\0\"", "select b",
			"select E'\\n', b" },
		{ "\"text~^(x)?select\" -> rewrite \"select \\1\"", "select 2",
			"select " },
		{ "\"text!~zz\" \"text~(2)\" -> rewrite \"select \\1\"", "select 2",
			"select 2" },
		{ "text~z -> rewrite \"select 1\"", "select 2", NULL },
		{ "-> rewrite \"select 1\"", "set a = 1", NULL },
		{ "-> rewrite \"select 1\"", "commit", NULL },
		{ "-> rewrite \"select 1\"", "select 'open", NULL },
		{ "-> rewrite \"select set_config('a.b', 'd', true)\"",
			"select set_config('a.b', 'c', true)",
			"select set_config('a.b', 'd', true)" },
		{ "-> rewrite \"insert into u values (1)\"", "insert into t values (1)",
			"insert into u values (1)" },
	};

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		struct rewriting r;
		int status;

		begin(&r, list[i].rule, list[i].sql, strlen(list[i].sql));
		status = cnd_query_text_rewrite(&r.text, &r.rules.list[0]);
		if (status != (list[i].expected != NULL ? CENOTE_OK : CENOTE_DONE))
			fail_msg("%s: %d, %s", list[i].rule, status, r.diag.message);
		if (list[i].expected != NULL)
			assert_string_equal(r.text.query.sql, list[i].expected);
		finish(&r);
	}
}

static void
a_text_that_does_more_is_refused(void **state)
{
	static const char *const list[][2] = {
		{ "-> rewrite \"delete from t\"", "select 1" },
		{ "-> rewrite \"truncate t\"", "delete from t" },
		{ "-> rewrite \"select set_config('a.b', 'c', false)\"", "select 1" },
		{ "-> rewrite \"prepare p as select 1\"", "select 1" },
		{ "-> rewrite \"set a = 1\"", "insert into t values (1)" },
		{ "-> rewrite \"select 1; select 2\"", "select 1; select 3" },
		{ "-> rewrite \"-- nothing\"", "select 1" },
		{ "-> rewrite \"select 'open\"", "select 1" },
	};

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		struct rewriting r;

		begin(&r, list[i][0], list[i][1], strlen(list[i][1]));
		if (cnd_query_text_rewrite(&r.text, &r.rules.list[0]) !=
			CENOTE_ERR_SERVER)
			fail_msg("%s", list[i][0]);
		assert_string_equal(r.diag.sqlstate, "0A000");
		assert_non_null(strstr(r.diag.message, "line 7"));
		finish(&r);
	}
}

static void
a_new_text_has_a_bound(void **state)
{
	size_t n = CND_REWRITE_MAX / 4;
	char *sql = malloc(n);
	struct rewriting r;

	assert_non_null(sql);
	(void)snprintf(sql, n, "select ");
	memset(sql + 7, 'a', n - 7);
	begin(&r,
		"\"text~^select (?s)(.*)\" -> rewrite \"select \\1, \\1, \\1, \\1, \\1\"",
		sql, n);
	assert_int_equal(
		cnd_query_text_rewrite(&r.text, &r.rules.list[0]), CENOTE_ERR_LIMIT);
	assert_string_equal(r.diag.sqlstate, "54000");
	finish(&r);
	free(sql);
}

static void
what_a_server_may_keep_is_not_normalized(void **state)
{
	static const char *const same[] = { "create  view v as select 1 -- why",
		"call  f()", "select  'a\\'", "  -- nothing" };
	struct rewriting r;

	for (size_t i = 0; i < N_ITEMS(same); i++) {
		begin(&r, "-> deny", same[i], strlen(same[i]));
		assert_ptr_equal(r.text.query.sql, same[i]);
		finish(&r);
	}
	begin(&r, "-> deny", "DELETE  FROM t", 14);
	assert_string_equal(r.text.query.sql, "delete from t");
	finish(&r);
}

/* ---- errors ---- */

static void
an_error_becomes_another_one(void **state)
{
	static const char *const lines[] = {
		"23505,native=1062 -> 40001 native=-5 \"come again\"", "42P01 -> 42704",
		"native=0 -> 22000 late"
	};
	char error[CND_ERROR_ERROR_MAX];
	struct cnd_error_maps maps = { .n = 0 };
	struct cnc_buf b;
	struct cnc_diag d;

	for (size_t i = 0; i < N_ITEMS(lines); i++)
		assert_int_equal(cnd_error_maps_parse(&maps, lines[i], error), 0);
	cnc_diag_init(&d, &cnc_mem_default);
	cnc_buf_init(&b, &cnc_mem_default, 1024);
	cnc_diag_set(&d, "23505", "twice");
	assert_int_equal(cnc_diag_put(&b, &d), CENOTE_OK);
	assert_int_equal(cnc_diag_put_field(&b, 'V', "ERROR", 5), CENOTE_OK);
	assert_int_equal(cnc_diag_put_field(&b, 'n', "t_pkey", 6), CENOTE_OK);
	assert_int_equal(
		cnc_diag_set_fields(&d, cnc_buf_head(&b), cnc_buf_len(&b)), CENOTE_OK);
	cnd_error_maps_apply(&maps, &d);
	assert_string_equal(d.sqlstate, "40001");
	assert_int_equal(d.native, -5);
	assert_string_equal(cnc_diag_field(&d, 'M'), "come again");
	assert_string_equal(cnc_diag_field(&d, 'V'), "ERROR");
	assert_string_equal(cnc_diag_field(&d, 'n'), "t_pkey");
	cnc_diag_set(&d, "42P01", "where is it");
	cnd_error_maps_apply(&maps, &d);
	assert_string_equal(d.sqlstate, "42704");
	assert_string_equal(d.message, "where is it");
	/* from this one, libcenote learns that the session is lost, so it stays */
	cnc_diag_set(&d, "08006", "gone");
	cnd_error_maps_apply(&maps, &d);
	assert_string_equal(d.sqlstate, "08006");
	cnc_diag_finish(&d);
	cnc_buf_finish(&b);
	cnd_error_maps_destroy(&maps);
}

static void
a_wrong_line_says_what_is_allowed(void **state)
{
	static const char *const list[][2] = {
		{ "", "ERRORS -> SQLSTATE" },
		{ "23505", "ERRORS -> SQLSTATE" },
		{ "23505 ->", "ERRORS -> SQLSTATE" },
		{ "23505 40001", "ERRORS -> SQLSTATE" },
		{ "2350 -> 40001", "not an SQLSTATE" },
		{ "23505 -> 08006", "class 08" },
		{ "08006 -> 40001", "class 08" },
		{ "23505 -> 00000", "not an SQLSTATE" },
		{ "native=x -> 40001", "not the number" },
		{ "native= -> 40001", "not the number" },
		{ "23505 -> 40001 native=99999999999", "not the number" },
		{ "23505 -> 40001 a b", "one text" },
		{ "23505 -> 40001 \"a", "quote does not end" },
	};
	char error[CND_ERROR_ERROR_MAX];

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		struct cnd_error_maps maps = { .n = 0 };

		if (cnd_error_maps_parse(&maps, list[i][0], error) == 0 ||
			strstr(error, list[i][1]) == NULL)
			fail_msg("%s: %s", list[i][0], error);
		cnd_error_maps_destroy(&maps);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_takes_the_groups_of_the_pattern),
		cmocka_unit_test(a_text_that_does_more_is_refused),
		cmocka_unit_test(a_new_text_has_a_bound),
		cmocka_unit_test(what_a_server_may_keep_is_not_normalized),
		cmocka_unit_test(an_error_becomes_another_one),
		cmocka_unit_test(a_wrong_line_says_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
