/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements for the log: none shows a literal, whatever its server and settings. */
#include "support/cnt_cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/sql.h"
#include "shared/normal.h"

/* As the backends give them. */
#define POSTGRESQL (CNC_SQL_POSTGRESQL | CNC_SQL_STRICT)
#define MYSQL      ((CNC_SQL_MYSQL & ~(uint32_t)CNC_SQL_EXECUTED) | CNC_DIGEST_UNSURE_REST)

static const struct {
	const char *name;
	uint32_t rules;
} servers[] = {
	{ "postgresql", POSTGRESQL },
	{ "postgresql", POSTGRESQL | CNC_SQL_BACKSLASH },
	{ "mysql", MYSQL },
	{ "mysql", MYSQL & ~(uint32_t)CNC_SQL_DOUBLE_QUOTED_TEXT },
	{ "mysql", MYSQL & ~(uint32_t)CNC_SQL_BACKSLASH },
	{ "sqlite", CNC_SQL_SQLITE | CNC_DIGEST_UNSURE_NAMES },
	{ "freetds", CNC_SQL_TDS | CNC_DIGEST_UNSURE_NAMES },
	{ "not known", 0 },
};

static void
normalise(uint32_t rules, const char *sql, struct cnd_normal *ret)
{
	cnd_normalise(rules, cnp_str(sql), ret);
}

static void
a_plain_statement_is_shown_for_every_server(void **state)
{
	struct cnd_normal n;

	for (size_t i = 0; i < CNT_COUNT(servers) - 1; i++) {
		normalise(
			servers[i].rules, "SELECT a FROM t WHERE b = 'x' AND c = 5", &n);
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
		{ "sqlite", "by \"secret" },
		{ "sqlite", "sp_addlogin" },
		{ "sqlite", "exec p" },
		{ "sqlite", "$" },
		{ "sqlite", "# secret" },
		{ "sqlite", "\\' , secret" },
		{ "sqlite", "E'\\'secret" },
		{ "sqlite", "\\\" , secret" },
		{ "sqlite", "array[" },
		{ "freetds", "by \"secret" },
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

	for (size_t i = 0; i < CNT_COUNT(servers); i++) {
		for (size_t j = 0; j < CNT_COUNT(literals); j++) {
			normalise(servers[i].rules, literals[j], &n);
			if (strstr(n.text, "secret") != NULL &&
				!is_a_name_there(servers[i].name, literals[j]))
				fail_msg("%s: %s: %s", servers[i].name, literals[j],
					n.text);
		}
	}
}

/* A backslash alone does not hide a statement. */
static void
a_statement_that_all_settings_read_alike_is_shown(void **state)
{
	struct cnd_normal n;

	normalise(POSTGRESQL, "select a ~ '\\d+' from t", &n);
	assert_string_equal(n.text, "select a ~ ? from t");
	normalise(MYSQL, "select a like 'b\\_c' from t", &n);
	assert_string_equal(n.text, "select a like ? from t");
	normalise(CNC_SQL_SQLITE, "select 'a\\' from t", &n);
	assert_string_equal(n.text, "select ? from t");
	normalise(MYSQL, "select 'a\\' , b , 'c'", &n);
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
		normalise(POSTGRESQL, sql, &n);
		len = strlen(n.text);
		assert_in_range(len, CND_NORMAL_MAX - 4, CND_NORMAL_MAX - 1);
		assert_int_equal((unsigned char)n.text[len - 1], 0xac);
	}
}

static void
a_long_statement_has_the_hash_of_its_beginning(void **state)
{
	char sql[CND_NORMAL_SQL_MAX + 8];
	struct cnd_normal n;
	uint64_t hash;

	memset(sql, ' ', sizeof(sql));
	sql[0] = 'a';
	sql[CND_NORMAL_SQL_MAX] = 'b';
	cnd_normalise(CNC_SQL_SQLITE, (struct cnp_str){ sql, sizeof(sql) }, &n);
	assert_string_equal(n.text, "a");
	(void)cnc_digest("a", 1, CNC_SQL_SQLITE, NULL, 0, &hash);
	assert_true(n.hash == hash);
}

static void
without_rules_there_is_no_hash(void **state)
{
	struct cnd_normal n;

	normalise(0, "select 1", &n);
	assert_true(n.hash == 0);
	assert_string_equal(n.text, "");
	cnd_normalise(CNC_SQL_SQLITE, CNP_STR_NONE, &n);
	assert_true(n.hash == 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_statement_is_shown_for_every_server),
		cmocka_unit_test(no_literal_is_shown),
		cmocka_unit_test(a_statement_that_all_settings_read_alike_is_shown),
		cmocka_unit_test(a_long_statement_is_cut_at_a_character),
		cmocka_unit_test(a_long_statement_has_the_hash_of_its_beginning),
		cmocka_unit_test(without_rules_there_is_no_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
