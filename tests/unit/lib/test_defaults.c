/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The defaults of the options: their numbers must agree with the names in the table. It
 * needs no server.
 */

#include "options.h"
#include "support/cnt_cmocka.h"

/* The numbers of defaults stand in the table, since every handle begins with them. */
static void
a_default_is_the_number_that_its_text_says(void **state)
{
	struct cn_options untouched, told;
	struct cnc_diag diag;
	int n_told = 0;

	cnc_diag_init(&diag, NULL);
	cn_options_init(&untouched, &cnc_mem_default);
	cn_options_init(&told, &cnc_mem_default);
	for (int i = 0; i < CN_OPTION_COUNT; i++) {
		const char *text = cn_options_get(&untouched, i);

		if (*text == '\0') {
			assert_int_equal(untouched.number[i], 0);
			continue;
		}
		assert_int_equal(cn_options_set(&told, i, text, &diag), 0);
		assert_int_equal(told.number[i], untouched.number[i]);
		n_told++;
	}
	assert_true(n_told > 0);
	cn_options_finish(&told);
	cn_options_finish(&untouched);
	cnc_diag_finish(&diag);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_default_is_the_number_that_its_text_says),
	};

	return cmocka_run_group_tests_name("lib_defaults", tests, NULL, NULL);
}
