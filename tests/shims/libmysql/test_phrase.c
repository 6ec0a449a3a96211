/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "phrase.h"

static const struct {
	const char *sql;
	enum cmy_phrase phrase;
	const char *value;
} cases[] = {
	{ "SET NAMES utf8mb4", CMY_PHRASE_CHARSET, "utf8mb4" },
	{ "\n set\tnames 'utf8' collate \"utf8_bin\" ; ", CMY_PHRASE_CHARSET, "utf8" },
	{ "set character set latin1", CMY_PHRASE_CHARSET, "latin1" },
	{ "set charset binary;", CMY_PHRASE_CHARSET, "binary" },
	{ "SET character_set_results=NULL", CMY_PHRASE_CHARSET, "NULL" },
	{ "SET COLLATION_SERVER = 'utf8_bin'", CMY_PHRASE_CHARSET, "utf8_bin" },
	{ "set autocommit=0", CMY_PHRASE_AUTOCOMMIT, "0" },
	{ "set session autocommit = on", CMY_PHRASE_AUTOCOMMIT, "on" },
	{ "set @@autocommit=OFF", CMY_PHRASE_AUTOCOMMIT, "OFF" },
	{ "use a", CMY_PHRASE_USE, "a" },
	{ "USE `my db`", CMY_PHRASE_USE, "my db" },
	{ "begin", CMY_PHRASE_BEGIN, "" },
	{ "BEGIN WORK;", CMY_PHRASE_BEGIN, "" },
	{ "start transaction", CMY_PHRASE_BEGIN, "" },
	{ "start transaction with consistent snapshot", CMY_PHRASE_BEGIN, "" },
	{ "start transaction read only", CMY_PHRASE_BEGIN_READ_ONLY, "" },
	{ "commit", CMY_PHRASE_COMMIT, "" },
	{ "ROLLBACK WORK", CMY_PHRASE_ROLLBACK, "" },
	/* these statements are left to the server */
	{ "", CMY_PHRASE_NONE, "" },
	{ ";", CMY_PHRASE_NONE, "" },
	{ "set names", CMY_PHRASE_NONE, "" },
	{ "set names =", CMY_PHRASE_NONE, "" },
	{ "set names 'a\\'b'", CMY_PHRASE_NONE, "" },
	{ "set names 'never ends", CMY_PHRASE_NONE, "" },
	{ "set names utf8, autocommit = 0", CMY_PHRASE_NONE, "" },
	{ "set names utf8; select 1", CMY_PHRASE_NONE, "" },
	{ "set names utf8;;", CMY_PHRASE_NONE, "" },
	{ "'set' names utf8", CMY_PHRASE_NONE, "" },
	{ "set global autocommit = 0", CMY_PHRASE_NONE, "" },
	{ "begin immediate", CMY_PHRASE_NONE, "" },
	{ "begin; commit", CMY_PHRASE_NONE, "" },
	{ "begin 'work", CMY_PHRASE_NONE, "" },
	{ "/* a */ commit", CMY_PHRASE_NONE, "" },
	{ "commit -- a", CMY_PHRASE_NONE, "" },
	{ "commit and chain", CMY_PHRASE_NONE, "" },
	{ "rollback to s", CMY_PHRASE_NONE, "" },
	{ "start transaction read only read only read only", CMY_PHRASE_NONE, "" },
	{ "use aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		CMY_PHRASE_NONE, "" },
	{ "select 1", CMY_PHRASE_NONE, "" },
};

static const char with_zero[] = "use `a\0b`";

static void
a_drivers_own_statements_are_known(void **state)
{
	char value[CMY_PHRASE_VALUE_MAX];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const char *sql = cases[i].sql;

		if (cmy_phrase_read(sql, strlen(sql), value) != cases[i].phrase ||
			strcmp(value, cases[i].value) != 0)
			fail_msg("%s", sql);
	}
	assert_int_equal(cmy_phrase_read(with_zero, sizeof(with_zero) - 1, value),
		CMY_PHRASE_NONE);
}

/* Bytes after the given length must not be read. Here they are the rest of the text. */
static void
a_text_may_end_at_every_byte(void **state)
{
	char value[CMY_PHRASE_VALUE_MAX], same[CMY_PHRASE_VALUE_MAX];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		for (size_t n = 0; n <= strlen(cases[i].sql); n++) {
			char *cut = strndup(cases[i].sql, n);

			assert_non_null(cut);
			assert_int_equal(cmy_phrase_read(cases[i].sql, n, value),
				cmy_phrase_read(cut, n, same));
			assert_string_equal(value, same);
			free(cut);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drivers_own_statements_are_known),
		cmocka_unit_test(a_text_may_end_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
