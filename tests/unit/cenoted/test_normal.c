/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements for the log: none shows a literal, whatever its server and settings. */
#include "support/cnt_cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/normal.h"

static const char *const backends[] = { "postgresql", "mysql", "sqlite", "freetds",
	"odbc" };

static void
normalise(const char *backend, const char *sql, struct cnd_normal *ret)
{
	cnd_normalise(backend, cnp_str(sql), ret);
}

static void
a_plain_statement_is_shown_for_every_backend(void **state)
{
	struct cnd_normal n;

	for (size_t i = 0; i < CNT_COUNT(backends); i++) {
		normalise(backends[i], "SELECT a FROM t WHERE b = 'x' AND c = 5", &n);
		assert_string_equal(n.text, "select a from t where b = ? and c = ?");
		assert_true(n.hash != 0);
	}
}

/* Each statement has the word "secret" in something that some server reads as a literal. */
static const char *const literals[] = {
	"select 'secret'",
	"select 'it''s secret'",
	"select 'secret",
	"select \"secret",
	"select $$secret$$",
	"select $a$secret",
	"select E'\\'secret'",
	"select 'a\\', 'secret'",
	"select 'a\\' , secret , 'b'",
	"select \"a\\\" , 'secret' , \"b\"",
	"select \"a\\\" , secret , \"b\"",
	"select x'736563726574', N'secret', _utf8'secret', U&'secret'",
	"create user joe identified by 'secret'",
	"create user joe identified by \"secret\"",
	"alter role joe password 'secret'",
	"set password = password('secret')",
	"select 1 /* secret */",
	"select 1 -- secret",
	"select 1 # secret",
	"select 1 /* secret",
	"select array['secret']",
	"exec sp_addlogin joe, secret",
	"sp_addlogin joe, secret",
	"insert into t exec p secret",
	"select '\x81\\' , secret , '",
	"select '\xe3\x81\x82\\' , secret , '",
};

/* These are readings of one statement by servers of which it is not valid SQL, or a name. */
static bool
is_a_name_there(const char *backend, const char *sql)
{
	static const struct {
		const char *backend, *part;
	} names[] = {
		/* a name in quotes */
		{ "postgresql", "\"secret" },
		{ "postgresql", "\\\" , secret" },
		/* a call, which only T-SQL writes so; # is an operator; $$ and # belong to words */
		{ "postgresql", "sp_addlogin" },
		{ "postgresql", "exec p" },
		{ "postgresql", "# secret" },
		{ "mysql", "sp_addlogin" },
		{ "mysql", "exec p" },
		{ "mysql", "$" },
		{ "sqlite", "sp_addlogin" },
		{ "sqlite", "exec p" },
		{ "sqlite", "$" },
		{ "sqlite", "# secret" },
		{ "sqlite", "\\' , secret" },
		{ "sqlite", "E'\\'secret" },
		{ "sqlite", "\\\" , secret" },
		{ "sqlite", "array[" },
		{ "freetds", "$" },
		{ "freetds", "# secret" },
		{ "freetds", "\\' , secret" },
		{ "freetds", "E'\\'secret" },
		{ "freetds", "\\\" , secret" },
		{ "freetds", "array[" },
	};

	for (size_t i = 0; i < CNT_COUNT(names); i++) {
		if (strcmp(names[i].backend, backend) == 0 &&
			strstr(sql, names[i].part) != NULL)
			return true;
	}
	return false;
}

static void
no_literal_is_shown(void **state)
{
	struct cnd_normal n;

	for (size_t i = 0; i < CNT_COUNT(backends); i++) {
		for (size_t j = 0; j < CNT_COUNT(literals); j++) {
			normalise(backends[i], literals[j], &n);
			if (strstr(n.text, "secret") != NULL &&
				!is_a_name_there(backends[i], literals[j]))
				fail_msg("%s: %s: %s", backends[i], literals[j], n.text);
		}
	}
}

/* A backslash alone does not hide a statement. */
static void
a_statement_that_all_settings_read_alike_is_shown(void **state)
{
	struct cnd_normal n;

	normalise("postgresql", "select a ~ '\\d+' from t", &n);
	assert_string_equal(n.text, "select a ~ ? from t");
	normalise("mysql", "select a like 'b\\_c' from t", &n);
	assert_string_equal(n.text, "select a like ? from t");
	normalise("sqlite", "select 'a\\' from t", &n);
	assert_string_equal(n.text, "select ? from t");
	normalise("mysql", "select 'a\\' , b , 'c'", &n);
	assert_string_equal(n.text, "");
	assert_true(n.hash != 0);
}

static void
a_long_statement_is_cut_at_a_character(void **state)
{
	char sql[4096];
	struct cnd_normal n;

	for (size_t first = 0; first < 3; first++) {
		size_t len = (size_t)snprintf(
			sql, sizeof(sql), "select %.*s", (int)first, "xx");

		for (; len + 3 < sizeof(sql); len += 3)
			memcpy(sql + len, "\xe2\x82\xac", 4);
		normalise("postgresql", sql, &n);
		len = strlen(n.text);
		assert_in_range(len, CND_NORMAL_MAX - 4, CND_NORMAL_MAX - 1);
		assert_int_equal((unsigned char)n.text[len - 1], 0xac);
	}
}

static void
a_statement_that_is_much_too_long_is_not_read(void **state)
{
	char *sql = malloc(CND_NORMAL_SQL_MAX + 1);
	struct cnd_normal n;

	memset(sql, ' ', CND_NORMAL_SQL_MAX + 1);
	sql[0] = 'a';
	cnd_normalise("sqlite", (struct cnp_str){ sql, CND_NORMAL_SQL_MAX }, &n);
	assert_string_equal(n.text, "a");
	cnd_normalise("sqlite", (struct cnp_str){ sql, CND_NORMAL_SQL_MAX + 1 }, &n);
	assert_string_equal(n.text, "");
	assert_true(n.hash == 0);
	free(sql);
	cnd_normalise("sqlite", CNP_STR_NONE, &n);
	assert_true(n.hash == 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_statement_is_shown_for_every_backend),
		cmocka_unit_test(no_literal_is_shown),
		cmocka_unit_test(a_statement_that_all_settings_read_alike_is_shown),
		cmocka_unit_test(a_long_statement_is_cut_at_a_character),
		cmocka_unit_test(a_statement_that_is_much_too_long_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
