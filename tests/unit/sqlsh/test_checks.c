/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>

#include "checks.h"
#include "lex.h"

static const struct {
	const char *sql;
	const char *found;
} cases[] = {
	{ "create table t(a)", "" },
	{ "create table t(a check (a > 0), b CHECK(b))", ":CHECK (a > 0);:CHECK (b);" },
	{ "create table t(a constraint c check (a in (1, (2))))",
		"c:CHECK (a in (1, (2)));" },
	{ "create table t(a, constraint \"c d\" check (a <> ')'))",
		"c d:CHECK (a <> ')');" },
	{ "create table t(a, constraint u unique (a), check (a))", ":CHECK (a);" },
	{ "create table t(a default 'check (x)' /* check (y) */, [check] int)", "" },
	{ "create table t(a check /* why */ (a))", ":CHECK (a);" },
	{ "create table t(a check", "" },
	{ "create table t(a constraint", "" },
};

static void
put_found(void *user, const char *name, const char *definition)
{
	text_addf(user, "%s:%s;", name, definition);
}

static void
checks_are_found_with_their_names(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text t = { 0 };

		checks_find(cases[i].sql, lex_flags_for("sqlite"), put_found, &t);
		assert_string_equal(text_str(&t), cases[i].found);
		text_finish(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_are_found_with_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
