/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

/* The statements in `input`, joined by "|"; an unfinished rest follows after "~". */
static char *
cut(const char *input, const char *backend, int by_line)
{
	struct split s;
	struct split_statement st;
	struct text out = { 0 };
	char *ret;

	split_init(&s, lex_flags_for(backend));
	while (*input) {
		size_t n = strlen(input);

		if (by_line && strchr(input, '\n'))
			n = (size_t)(strchr(input, '\n') - input) + 1;
		split_add(&s, input, n);
		input += n;
		while (split_next(&s, &st)) {
			text_add_str(&out, out.len > 0 ? "|" : "");
			text_add(&out, st.sql, st.len);
		}
	}
	if (split_rest(&s, &st)) {
		text_add_char(&out, '~');
		text_add(&out, st.sql, st.len);
	}
	split_finish(&s);
	ret = mem_dup(text_str(&out), out.len);
	text_finish(&out);
	return ret;
}

static const struct {
	const char *backend;
	const char *input;
	const char *expected;
} cases[] = {
	{ "sqlite", "select 1;", "select 1" },
	{ "sqlite", "select 1; select 2;\n", "select 1|select 2" },
	{ "sqlite", ";;\n ; select 1 ;;", "select 1" },
	{ "sqlite", "select 1", "~select 1" },
	{ "sqlite", "  \n -- only this\n /* and ; this */\n", "" },
	{ "sqlite", "select ';';select \"a;b\";select `;`;select [;]",
		"select ';'|select \"a;b\"|select `;`~select [;]" },
	{ "sqlite", "select 'it''s;';\nselect 2;", "select 'it''s;'|select 2" },
	{ "sqlite", "select 'a\nb;\nc';", "select 'a\nb;\nc'" },
	{ "sqlite", "select 1 -- ; no\n;", "select 1 -- ; no" },
	/* MySQL runs some comments, and has its own kinds of comments */
	{ "mysql", "/*!40101 set names utf8 */;\nselect 1 # it's;\n; select 2--1;",
		"/*!40101 set names utf8 */|select 1 # it's;|select 2--1" },
	{ "sqlite", "select 1 /* ; \n ; */ + 1;", "select 1 /* ; \n ; */ + 1" },
	{ "sqlite", "select 1 /* a /* b */ ; select 2;",
		"select 1 /* a /* b */|select 2" },
	{ "postgresql", "select 1 /* a /* b */ ; */ ; select 2;",
		"select 1 /* a /* b */ ; */|select 2" },
	{ "postgresql", "select $$;$$; select $a$ ; $$ ; $b$ $a$;",
		"select $$;$$|select $a$ ; $$ ; $b$ $a$" },
	{ "postgresql", "select $1; select $2;", "select $1|select $2" },
	{ "postgresql", "select E'\\';'; select 2;", "select E'\\';'|select 2" },
	{ "postgresql", "select '\\'; select 2;", "select '\\'|select 2" },
	{ "postgresql", "select a[1]; select 2;", "select a[1]|select 2" },
	{ "postgresql", "create function f() returns int as $$ begin; end $$ language x;",
		"create function f() returns int as $$ begin; end $$ language x" },
	{ "mysql", "select 'a\\';'; select 2;", "select 'a\\';'|select 2" },
	{ "mysql",
		"create definer=root@localhost procedure p() begin if 1 then select 1; "
		"end "
		"if; case when 1 then select 2; end case; end; select 3;",
		"create definer=root@localhost procedure p() begin if 1 then select 1; "
		"end "
		"if; case when 1 then select 2; end case; end|select 3" },
	{ "sqlite",
		"CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n update b set c = case when "
		"1 "
		"then 2 end;\n delete from d;\nEND;\nselect 1;",
		"CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n update b set c = case when "
		"1 "
		"then 2 end;\n delete from d;\nEND|select 1" },
	{ "sqlite",
		"create temp trigger t after insert on a begin select new.end; end; x;",
		"create temp trigger t after insert on a begin select new.end; end|x" },
	{ "sqlite", "create table trigger_log(a); begin; end; select 1;",
		"create table trigger_log(a)|begin|end|select 1" },
	{ "sqlite", "create table event(a); begin; commit;",
		"create table event(a)|begin|commit" },
	{ "sqlite", "select 'open; ", "~select 'open;" },
};

static void
statements_are_cut_where_they_end(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int by_line;

		for (by_line = 0; by_line < 2; by_line++) {
			char *got = cut(cases[i].input, cases[i].backend, by_line);

			if (strcmp(got, cases[i].expected) != 0)
				fail_msg("case %zu: got %s", i, got);
			free(got);
		}
	}
}

static void
lines_are_those_of_the_first_word(void **state)
{
	static const unsigned long expected[] = { 1, 2, 6, 9 };
	const char *input = "select 1; -- one\nselect\n 2;\n\n/* x\n */ select 3;\n\n\n"
			    "select 4;\n";
	struct split s;
	struct split_statement st;
	size_t n = 0;

	split_init(&s, lex_flags_for("sqlite"));
	while (*input) {
		size_t len = strcspn(input, "\n") + 1;

		split_add(&s, input, len);
		input += len;
		while (split_next(&s, &st)) {
			assert_true(n < 4);
			assert_int_equal(st.line, expected[n]);
			n++;
		}
	}
	assert_int_equal(n, 4);
	split_finish(&s);
}

static void
the_prompt_shows_what_is_open(void **state)
{
	static const struct {
		const char *line;
		char prompt;
	} steps[] = { { "\n", '=' }, { "select\n", '-' }, { "(1,\n", '(' },
		{ "'a\n", '\'' }, { "' /* \n", '*' }, { "*/ )\n", '-' }, { "\"\n", '"' },
		{ "\" [\n", '[' }, { "] `\n", '`' }, { "`;\n", '=' } };
	struct split s;
	struct split_statement st;
	size_t i;

	split_init(&s, lex_flags_for("sqlite"));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		split_add(&s, steps[i].line, strlen(steps[i].line));
		while (split_next(&s, &st))
			continue;
		assert_int_equal(split_prompt(&s), steps[i].prompt);
		assert_int_equal(split_is_pending(&s), steps[i].prompt != '=');
	}
	split_finish(&s);
}

static void
reset_forgets_what_is_open(void **state)
{
	struct split s;
	struct split_statement st;

	split_init(&s, lex_flags_for("sqlite"));
	split_add(&s, "select ('\n", 10);
	assert_int_equal(split_next(&s, &st), 0);
	split_reset(&s, 7);
	assert_int_equal(split_prompt(&s), '=');
	split_add(&s, "\nselect 2;\n", 11);
	assert_int_equal(split_next(&s, &st), 1);
	assert_int_equal(st.line, 8);
	assert_int_equal(st.len, 8);
	split_finish(&s);
}

/* The time must grow with the input, not with its square: that would take minutes. */
static void
long_inputs_are_read_once(void **state)
{
	struct split s;
	struct split_statement st;
	size_t i, n = 0;
	struct text one = { 0 };

	split_init(&s, lex_flags_for("sqlite"));
	split_add(&s, "select '", 8);
	for (i = 0; i < 200000; i++) {
		split_add(&s, "a line of a long text\n", 22);
		assert_int_equal(split_next(&s, &st), 0);
	}
	split_add(&s, "';\n", 3);
	assert_int_equal(split_next(&s, &st), 1);
	assert_int_equal(st.len, 8 + 200000 * 22 + 1);
	for (i = 0; i < 200000; i++)
		text_add_str(&one, "select 1;\n");
	split_add(&s, one.data, one.len);
	while (split_next(&s, &st))
		n++;
	assert_int_equal(n, 200000);
	assert_int_equal(st.line, 400001);
	text_finish(&one);
	split_finish(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_are_cut_where_they_end),
		cmocka_unit_test(lines_are_those_of_the_first_word),
		cmocka_unit_test(the_prompt_shows_what_is_open),
		cmocka_unit_test(reset_forgets_what_is_open),
		cmocka_unit_test(long_inputs_are_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
