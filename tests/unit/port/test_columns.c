/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "dialect.h"

static void
types_are_written_and_read(void **state)
{
	static const char *const words[] = { "bool", "int64 key1", "uint64", "double",
		"decimal", "decimal(10,2)", "text", "text(40) key12", "bytes",
		"bytes(16)", "date", "time", "timetz", "timestamp", "timestamptz",
		"interval", "uuid", "json", "other" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct column c = { .type = CENOTE_TYPE_TEXT };
		struct text t = { 0 };

		assert_int_equal(columns_parse_type(&c, words[i], strlen(words[i])), 0);
		columns_add_type(&t, &c);
		assert_string_equal(text_str(&t), words[i]);
		text_finish(&t);
	}
}

static void
other_words_are_no_types(void **state)
{
	static const char *const words[] = { "", "int", "tz", "text(", "text()",
		"text(x)", "text(1", "text(1,2)", "text(99999999999999999999)",
		"decimal(1,)", "int64 key", "int64 key0", "int64 key99999999999",
		"int64key1", "text)", "int64 key1 " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct column c = { .type = CENOTE_TYPE_TEXT };

		assert_int_equal(columns_parse_type(&c, words[i], strlen(words[i])), -1);
		assert_int_equal(c.type, CENOTE_TYPE_TEXT);
	}
	assert_int_equal(columns_parse_type(
				 &(struct column){ 0 }, "int64\0x", strlen("int64") + 2),
		-1);
}

static void
add(struct columns *c, const char *typed)
{
	const struct cell cell = { typed, strlen(typed) };

	assert_int_equal(columns_add_typed(c, &cell), 0);
}

/* Each server gets a type that holds every value; the key has the order of its numbers. */
static void
tables_have_the_types_of_the_server(void **state)
{
	static const char *const expected[][2] = {
		{ "postgresql",
			"CREATE TABLE t (\"a:b\" text NOT NULL, \"id\" bigint NOT NULL, "
			"\"n\" "
			"numeric(20,5), \"m\" numeric, \"at\" timestamp with time zone, "
			"\"s\" varchar(7), PRIMARY KEY (\"id\", \"a:b\"))" },
		{ "mysql", "CREATE TABLE t (`a:b` varchar(255) CHARACTER SET utf8mb4 "
			   "COLLATE "
			   "utf8mb4_bin NOT NULL, `id` bigint NOT NULL, `n` "
			   "decimal(20,5), `m` "
			   "decimal(65,30), `at` datetime(6), `s` varchar(7), PRIMARY "
			   "KEY (`id`, "
			   "`a:b`))" },
		{ "sqlite", "CREATE TABLE t (\"a:b\" TEXT NOT NULL, \"id\" INTEGER NOT "
			    "NULL, \"n\" "
			    "TEXT, \"m\" TEXT, \"at\" TIMESTAMP, \"s\" VARCHAR(7), "
			    "PRIMARY KEY "
			    "(\"id\", \"a:b\"))" },
		{ "freetds", "CREATE TABLE t ([a:b] nvarchar(255) NOT NULL, [id] bigint "
			     "NOT NULL, "
			     "[n] decimal(20,5), [m] decimal(38,15), [at] "
			     "datetimeoffset(7), [s] "
			     "nvarchar(7), PRIMARY KEY ([id], [a:b]))" },
	};
	struct columns c = { 0 };
	struct text sql = { 0 };

	add(&c, "a:b:text key2");
	add(&c, "id:int64 key1");
	add(&c, "n:decimal(20,5)");
	add(&c, "m:decimal");
	add(&c, "at:timestamptz");
	add(&c, "s:text(7)");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		text_clear(&sql);
		assert_int_equal(
			dialect_create(dialect_find(expected[i][0]), "t", &c, &sql), 0);
		assert_string_equal(text_str(&sql), expected[i][1]);
	}
	assert_int_equal(dialect_create(dialect_find("standard"), "t", &c, &sql), -1);
	columns_finish(&c);
	text_finish(&sql);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_written_and_read),
		cmocka_unit_test(other_words_are_no_types),
		cmocka_unit_test(tables_have_the_types_of_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
