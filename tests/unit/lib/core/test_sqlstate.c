/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLSTATE codes: the table, and what a valid code is. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/sqlstate.h"

static void
every_code_of_the_table_is_valid_and_there_once(void **state)
{
	for (size_t i = 0; i < CNC_SQLSTATE_COUNT; i++) {
		assert_true(cnc_sqlstate_is_valid(cnc_sqlstate_code[i]));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				cnc_sqlstate_code[i], cnc_sqlstate_code[k]);
	}
	assert_string_equal(CNC_SQLSTATE(POOL_BUSY), "57P03");
}

static void
validity_is_five_digits_or_capitals(void **state)
{
	static const char *const bad[] = { "", "0", "0800", "080000", "08 01", "08p01",
		"0800\n", "\xc3\x84\xc3\x84o" };
	static const char *const good[] = { "00000", "HY000", "ZZZZZ", "99999", "57P03" };

	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_false(cnc_sqlstate_is_valid(bad[i]));
	for (size_t i = 0; i < CNT_COUNT(good); i++)
		assert_true(cnc_sqlstate_is_valid(good[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_of_the_table_is_valid_and_there_once),
		cmocka_unit_test(validity_is_five_digits_or_capitals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
