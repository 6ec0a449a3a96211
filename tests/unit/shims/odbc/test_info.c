/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "shims/odbc/escape.h"
#include "shims/odbc/info.h"

static void
ask(SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	assert_int_equal(cod_info(id, facts, value), 0);
}

static void
each_id_is_there_once_and_answers(void **state)
{
	for (size_t i = 0; cod_info_id(i) >= 0; i++) {
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(cod_info_id(i), cod_info_id(k));
		for (size_t d = 0; d < COD_N_DIALECTS; d++) {
			const struct cod_info_facts facts = {
				.dialect = (enum cod_dialect)d
			};
			struct cod_info_value value = { .kind = COD_INFO_TEXT };

			ask((SQLUSMALLINT)cod_info_id(i), &facts, &value);
			assert_true(value.kind != COD_INFO_TEXT || value.text);
			assert_true(value.kind != COD_INFO_U16 || value.number <= 65535);
		}
	}
}

static void
what_is_no_information_is_refused(void **state)
{
	const struct cod_info_facts facts = { .dialect = COD_DIALECT_OTHER };
	struct cod_info_value value;

	assert_int_equal(cod_info(9999, &facts, &value), -1);
	/* the driver manager answers SQL_DRIVER_HDBC */
	assert_int_equal(cod_info(SQL_DRIVER_HDBC, &facts, &value), -1);
}

static void
servers_are_told_by_name(void **state)
{
	static const struct {
		enum cod_dialect dialect;
		const char *version, *name, *shown;
	} cases[] = {
		{ COD_DIALECT_POSTGRESQL, "15.18 (Debian 15.18-0+deb12u1)", "PostgreSQL",
			"15.18.0000 15.18 (Debian 15.18-0+deb12u1)" },
		{ COD_DIALECT_MYSQL, "10.11.19-MariaDB-0+deb12u1", "MariaDB",
			"10.11.0019 10.11.19-MariaDB-0+deb12u1" },
		{ COD_DIALECT_MYSQL, "9.7.0", "MySQL", "09.07.0000 9.7.0" },
		{ COD_DIALECT_SQLITE, "3.40.1", "SQLite", "03.40.0001 3.40.1" },
		{ COD_DIALECT_POSTGRESQL, NULL, "PostgreSQL", "00.00.0000 " },
		{ COD_DIALECT_POSTGRESQL, "17devel", "PostgreSQL", "17.00.0000 17devel" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const struct cod_info_facts facts = { .dialect = cases[i].dialect,
			.server_version = cases[i].version };
		struct cod_info_value value;

		ask(SQL_DBMS_NAME, &facts, &value);
		assert_string_equal(value.text, cases[i].name);
		ask(SQL_DBMS_VER, &facts, &value);
		assert_string_equal(value.text, cases[i].shown);
	}
}

static void
facts_are_handed_on(void **state)
{
	const struct cod_info_facts facts = { .dialect = COD_DIALECT_SQLITE,
		.dsn = "d",
		.database = "b",
		.server = "s",
		.user = "u",
		.driver_name = "n",
		.is_read_only = 1 };
	static const struct {
		SQLUSMALLINT id;
		const char *text;
	} cases[] = {
		{ SQL_DATA_SOURCE_NAME, "d" },
		{ SQL_DATABASE_NAME, "b" },
		{ SQL_SERVER_NAME, "s" },
		{ SQL_USER_NAME, "u" },
		{ SQL_DRIVER_NAME, "n" },
		{ SQL_DATA_SOURCE_READ_ONLY, "Y" },
		{ SQL_IDENTIFIER_QUOTE_CHAR, "\"" },
	};
	struct cod_info_value value;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		ask(cases[i].id, &facts, &value);
		assert_int_equal(value.kind, COD_INFO_TEXT);
		assert_string_equal(value.text, cases[i].text);
	}
}

/* The table that translates functions also decides which functions the driver claims. */
static void
functions_are_those_of_the_escapes(void **state)
{
	static const SQLUSMALLINT ids[] = { SQL_NUMERIC_FUNCTIONS, SQL_STRING_FUNCTIONS,
		SQL_SYSTEM_FUNCTIONS, SQL_TIMEDATE_FUNCTIONS };

	for (size_t d = 0; d < COD_N_DIALECTS; d++) {
		const struct cod_info_facts facts = { .dialect = (enum cod_dialect)d };
		struct cod_info_value value;

		for (size_t i = 0; i < CNT_COUNT(ids); i++) {
			ask(ids[i], &facts, &value);
			assert_int_equal(value.kind, COD_INFO_U32);
			assert_int_equal(
				value.number, cod_function_mask(facts.dialect, ids[i]));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_id_is_there_once_and_answers),
		cmocka_unit_test(what_is_no_information_is_refused),
		cmocka_unit_test(servers_are_told_by_name),
		cmocka_unit_test(facts_are_handed_on),
		cmocka_unit_test(functions_are_those_of_the_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
