/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include "shims/libmysql/libmysql.h"

/* SQLSTATEs of other servers become the error numbers that MySQL programs know. */
static void
states_have_the_numbers_of_mysql(void **state)
{
	static const struct {
		const char *sqlstate;
		unsigned number;
	} cases[] = { { "23505", 1062 }, { "42P01", 1146 }, { "42601", 1064 },
		{ "23503", 1452 }, { "23502", 1048 }, { "40P01", 1213 },
		{ "40001", 1213 }, { "55P03", 1205 }, { "28000", 1045 },
		{ "42703", 1054 }, { "42P07", 1050 }, { "22003", 1264 },
		{ "22001", 1406 }, { "57014", 1317 }, { "0A000", 1235 },
		{ "57P01", 1053 }, { "22P02", 1366 }, { "3D000", 1049 },
		{ "XX000", 1105 }, { "00000", 1105 }, { "", 1105 } };

	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		assert_int_equal(cmy_error_number(cases[i].sqlstate), cases[i].number);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_have_the_numbers_of_mysql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
