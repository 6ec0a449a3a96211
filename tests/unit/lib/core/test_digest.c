/* SPDX-License-Identifier: BSD-2-Clause */
/* The digest of a statement (core/digest.h). */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/digest.h"
#include "core/sql.h"

#define LITE (CNC_SQL_SQLITE | CNC_DIGEST_UNSURE_NAMES)
#define PG   (CNC_SQL_POSTGRESQL | CNC_SQL_STRICT)
#define MY   ((CNC_SQL_MYSQL & ~CNC_SQL_EXECUTED) | CNC_DIGEST_UNSURE_REST)

static const struct {
	uint32_t rules;
	const char *sql;
	const char *digest;
} cases[] = {
	{ CNC_SQL_ANSI, "", "" },
	{ CNC_SQL_ANSI, " ; ", "" },
	{ CNC_SQL_ANSI, "SELECT  A.b,c\n-- d\n FROM \"T\" WHERE x=1 and y<= 'z'  ;",
		"select a.b, c from \"T\" where x = ? and y <= ?" },
	{ CNC_SQL_ANSI, "select 1; select 2", "select ?; select ?" },
	{ CNC_SQL_ANSI, "a in (1, 'x' , -2.5e3) and b", "a in (?) and b" },
	{ CNC_SQL_ANSI, "values (1,'a'), (2,'b'),(3,c)", "values (?), (?, c)" },
	{ CNC_SQL_ANSI, "values (1,(2))", "values (?, (?))" },
	{ CNC_SQL_ANSI, "a = -1 and b-1 = 2", "a = ? and b - ? = ?" },
	{ CNC_SQL_ANSI, "select f(a , b) , 'open", "select f (a, b), ?" },
	{ CNC_SQL_POSTGRESQL, "select $1::int, $$a$$, e'\\'', b->>'c'",
		"select ? :: int, ?, b ->> ?" },
	{ CNC_SQL_MYSQL, "SELECT \"a\", `B`, @c, 0x1f /*+ d */ # e\n",
		"select ?, `B`, @c, ?" },
	{ CNC_SQL_TDS, "select [A] from #T where a=?", "select [A] from #t where a = ?" },
	{ CNC_SQL_POSTGRESQL, "set a.b to value, 'c', other", "set a.b to ?" },
	{ CNC_SQL_POSTGRESQL, "alter role bob set a.b = value",
		"alter role bob set a.b = ?" },
	{ CNC_SQL_POSTGRESQL, "set a to on", "set a to on" },
	{ CNC_SQL_POSTGRESQL, "update t set a = b, c = 1, d = e where f = g",
		"update t set a = b, c = ?, d = e where f = g" },
	{ CNC_SQL_MYSQL, "set a = 1, b = word", "set a = ?, b = ?" },
	{ LITE, "select \"a\".\"b\", \"c\" from \"t\" where x = \"d\"",
		"select \"a\".\"b\", ? from \"t\" where x = ?" },
	{ LITE, "insert into \"t\" (\"a\", \"b\") values (\"c\", 1), (\"d\", 2)",
		"insert into \"t\" (\"a\", \"b\") values (?)" },
	{ LITE, "update \"t\" set \"a\" = ?, \"b\" = \"c\" where \"t\".\"d\" = 1",
		"update \"t\" set \"a\" = ?, \"b\" = ? where \"t\".\"d\" = ?" },
	{ LITE, "select x as \"y\" from s.\"t\" order by \"y\"",
		"select x as \"y\" from s.\"t\" order by \"y\"" },
};

static uint64_t
hash_of(const char *sql, uint32_t rules)
{
	uint64_t hash;

	(void)cnc_digest(sql, strlen(sql), rules, NULL, 0, &hash);
	return hash;
}

static void
normalises_statements(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *sql = cases[i].sql;
		char text[256];
		uint64_t hash;
		size_t n = cnc_digest(
			sql, strlen(sql), cases[i].rules, text, sizeof(text) - 1, &hash);

		assert_true(n < sizeof(text));
		text[n] = '\0';
		assert_string_equal(text, cases[i].digest);
		assert_int_equal(hash, hash_of(sql, cases[i].rules));
	}
}

static void
has_one_hash_for_statements_that_differ_in_values(void **state)
{
	uint64_t hash = hash_of("select a from t where b = 1", CNC_SQL_ANSI);

	assert_int_equal(
		hash, hash_of("SELECT a\n\tFROM t -- x\n WHERE b='y';", CNC_SQL_ANSI));
	assert_int_not_equal(hash, hash_of("select a from t where c = 1", CNC_SQL_ANSI));
	assert_int_not_equal(
		hash, hash_of("select a from \"t\" where b = 1", CNC_SQL_ANSI));
	assert_int_not_equal(hash, hash_of("select a from t where b = b", CNC_SQL_ANSI));
}

/* The hash covers the whole digest, however little of its text fits. */
static void
cuts_the_text_alone(void **state)
{
	static const char sql[] = "select a from t where b = 1";
	char text[sizeof(sql)];
	uint64_t whole = hash_of(sql, CNC_SQL_ANSI), hash;

	for (size_t size = 0; size < sizeof(sql); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(
			cnc_digest(sql, sizeof(sql) - 1, CNC_SQL_ANSI, text, size, &hash),
			sizeof(sql) - 1);
		assert_int_equal(hash, whole);
		assert_memory_equal(text, "select a from t where b = ?", size);
		assert_int_equal(text[size], '#');
	}
}

/* The word "hush" stands where a password may stand: no digest has it, however the text is cut. */
static void
never_holds_a_literal(void **state)
{
	static const struct {
		uint32_t rules;
		const char *sql;
	} texts[] = {
		{ PG, "create user a password 'hush'" },
		{ PG, "select e'\\'hush', 'it''s hush', U&'hush', x'a' 'hush'" },
		{ PG, "select $$hush$$, $q$ hush $q$ -- hush" },
		{ PG, "select 1 /* hush /* hush */ hush */ + 2" },
		{ PG, "select '\xe8\x8f\\', 'hush'" },
		{ PG, "set a.password to hush" },
		{ CNC_SQL_POSTGRESQL_BACKSLASH, "select '\\' hush', 'hush'" },
		{ MY, "create user 'hush'@'hush' identified by 'hush'" },
		{ MY, "select \"hush\", '\\'hush', _utf8'hush', 0x68757368 # hush" },
		{ MY, "select 1 /*!99999 it's */ , 'hush' /*! '*/ hush' */" },
		{ MY, "select 1 -- 'hush" },
		{ MY, "set sql_mode = 'NO_BACKSLASH_ESCAPES'; select 'a\\', 'b hush'" },
		{ LITE, "select a from t where b = \"hush\" or b in (\"hush\", "
			"\"hush\")" },
		{ LITE, "insert into t values (\"hush\", 'hush')" },
		{ LITE, "update t set a = \"hush\"" },
		{ CNC_SQL_TDS | CNC_DIGEST_UNSURE_NAMES,
			"exec login @p = \"hush\", @q = N'hush', \"hush\"" },
	};
	char text[512];
	uint64_t hash;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t len = strlen(texts[i].sql);

		for (size_t n = 0; n <= len; n++) {
			size_t to = cnc_digest(texts[i].sql, n, texts[i].rules, text,
				sizeof(text) - 1, &hash);

			assert_true(to < sizeof(text));
			text[to] = '\0';
			if (strstr(text, "hush") != NULL)
				fail_msg("%.*s became %s", (int)n, texts[i].sql, text);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normalises_statements),
		cmocka_unit_test(has_one_hash_for_statements_that_differ_in_values),
		cmocka_unit_test(cuts_the_text_alone),
		cmocka_unit_test(never_holds_a_literal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
