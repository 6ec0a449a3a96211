/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "lex.h"

static void
values_and_types_are_taken(void **state)
{
	struct binds b = { 0 };
	const struct bind *bind;

	assert_null(binds_set(&b, "name=a=b;'"));
	assert_null(binds_set(&b, "n:int=-5"));
	assert_null(binds_set(&b, "gone"));
	assert_null(binds_set(&b, "gone_too:null="));
	assert_null(binds_set(&b, "empty="));
	bind = binds_find(&b, "name", 4);
	assert_string_equal(bind->value, "a=b;'");
	assert_int_equal(bind->type, CENOTE_TYPE_TEXT);
	assert_int_equal(binds_find(&b, "n", 1)->type, CENOTE_TYPE_INT64);
	assert_int_equal(binds_find(&b, "gone", 4)->type, CENOTE_TYPE_NULL);
	assert_int_equal(binds_find(&b, "gone_too", 8)->type, CENOTE_TYPE_NULL);
	assert_int_equal(binds_find(&b, "empty", 5)->len, 0);
	assert_null(binds_set(&b, "n=later"));
	assert_string_equal(binds_find(&b, "n", 1)->value, "later");
	assert_int_equal(b.n, 5);
	assert_int_equal(binds_unset(&b, "name"), 1);
	assert_int_equal(binds_unset(&b, "name"), 0);
	assert_null(binds_find(&b, "name", 4));
	assert_int_equal(b.n, 4);
	binds_finish(&b);
}

static void
what_is_not_of_its_type_is_refused(void **state)
{
	static const char *const wrong[] = { "", "=1", "1a=2", "a b=1", "n:int=x",
		"n:int=", "n:int=9223372036854775808", "n:int=1.5", "n:double=1x",
		"n:decimal=1e", "n:decimal=.", "n:decimal=NaN", "n:bool=2", "n:bytes=abc",
		"n:bytes=0g", "n:float=1", "n:int" };
	static const char *const right[] = { "n:int=9223372036854775807", "n:double=1e3",
		"n:decimal=-.5e+10", "n:decimal=12.", "n:bool=true", "n:bytes=\\x00fF",
		"n:bytes=", "n:text=" };
	struct binds b = { 0 };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!binds_set(&b, wrong[i]))
			fail_msg("%s was taken", wrong[i]);
	}
	assert_int_equal(b.n, 0);
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		if (binds_set(&b, right[i]))
			fail_msg("%s was refused", right[i]);
	}
	assert_int_equal(b.n, 1);
	binds_finish(&b);
}

static const struct {
	const char *backend;
	const char *sql;
	const char *sent;
	const char *values; /* names of the bound values, in order */
} cases[] = {
	{ "sqlite", "select :a, :b, :a", "select :a, :b, :a", "a b" },
	{ "sqlite", "select ':a', \":b\", [:a], `:b` -- :a\n, /* :b */ :a",
		"select ':a', \":b\", [:a], `:b` -- :a\n, /* :b */ :a", "a" },
	{ "postgresql", "select :a, :b, :a::text, 'x'::text, :c",
		"select $1, $2, $1::text, 'x'::text, :c", "a b" },
	{ "postgresql", "select $$ :a $$, :b", "select $$ :a $$, $1", "b" },
	{ "mysql", "select :a, :b, :a, ':a", "select ?, ?, ?, ':a", "a b a" },
	{ "sqlite", "select 1", "select 1", "" },
};

static void
placeholders_become_parameters_and_nothing_is_pasted(void **state)
{
	struct binds b = { 0 };
	size_t i;

	assert_null(binds_set(&b, "a='; drop table x; --"));
	assert_null(binds_set(&b, "b=2"));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bound bound;
		const char *missing = NULL;
		char names[64] = "";
		size_t k;

		assert_int_equal(bound_init(&bound, &b, bind_style_for(cases[i].backend),
					 lex_flags_for(cases[i].backend), cases[i].sql,
					 strlen(cases[i].sql), &missing),
			0);
		for (k = 0; k < bound.n; k++)
			(void)snprintf(names + strlen(names),
				sizeof(names) - strlen(names), "%s%s", k > 0 ? " " : "",
				bound.values[k]->name);
		assert_string_equal(text_str(&bound.sql), cases[i].sent);
		assert_string_equal(names, cases[i].values);
		bound_finish(&bound);
	}
	binds_finish(&b);
}

static void
a_name_without_a_value_is_told(void **state)
{
	struct binds b = { 0 };
	struct bound bound;
	const char *sql = "select :a, :bee", *missing = NULL;

	assert_null(binds_set(&b, "a=1"));
	assert_int_equal(bound_init(&bound, &b, BIND_NAMED, lex_flags_for("sqlite"), sql,
				 15, &missing),
		4);
	assert_ptr_equal(missing, sql + 11);
	binds_finish(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_types_are_taken),
		cmocka_unit_test(what_is_not_of_its_type_is_refused),
		cmocka_unit_test(placeholders_become_parameters_and_nothing_is_pasted),
		cmocka_unit_test(a_name_without_a_value_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
