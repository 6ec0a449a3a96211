/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decimal numbers: from text and to text, to the limits of their digits. It needs no
 * server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/decimal.h"

static void
well_formed_numbers_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		int is_negative;
		const char *digits;
		size_t n_digits;
		int64_t exponent;
		size_t scale;
	} cases[] = {
		{ "0", 0, "0", 0, 0, 0 },
		{ "-0.00", 1, "0.00", 0, 0, 2 },
		{ "1", 0, "1", 1, 1, 0 },
		{ "+120", 0, "120", 3, 3, 0 },
		{ "-123.45", 1, "123.45", 5, 3, 2 },
		{ "0.05", 0, "5", 1, -1, 2 },
		{ "00012.50", 0, "12.50", 4, 2, 2 },
		{ ".5", 0, "5", 1, 0, 1 },
		{ "5.", 0, "5.", 1, 1, 0 },
		{ "1.5e3", 0, "1.5e3", 2, 4, 1 },
		{ "1.5E-3", 0, "1.5E-3", 2, -2, 1 },
		{ "1e+99999", 0, "1e+99999", 1, 100000, 0 },
		{ "1e-99999", 0, "1e-99999", 1, -99998, 0 },
		{ "1e000000000000000000000002", 0, "1e0", 1, 3, 0 },
		{ "0e5", 0, "0e5", 0, 0, 0 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnc_decimal d;
		int r = cnc_decimal_parse(cases[i].text, strlen(cases[i].text), &d);

		if (r != CENOTE_OK)
			print_error("%s\n", cases[i].text);
		assert_ok(r);
		assert_int_equal(d.is_negative, cases[i].is_negative);
		assert_int_equal(d.n_digits, cases[i].n_digits);
		assert_int_equal(d.exponent, cases[i].exponent);
		assert_int_equal(d.scale, cases[i].scale);
		if (d.n_digits)
			assert_memory_equal(
				d.digits, cases[i].digits, strlen(cases[i].digits));
	}
}

static void
anything_else_is_refused(void **state)
{
	static const char *const bad[] = { "", "+", "-", ".", "-.", "e5", ".e5", "1e",
		"1e+", "1e-", "1e5.", "1e5x", "1x", "x1", " 1", "1 ", "1.2.3", "1..2",
		"--1", "+-1", "0x10", "1,5", "1e100000", "1e-100000",
		"1e99999999999999999999999", "inf", "nan", "1_000" };
	struct cnc_decimal d = { .scale = 42 };

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		int r = cnc_decimal_parse(bad[i], strlen(bad[i]), &d);

		if (r != CENOTE_ERR_CONVERT)
			print_error("%s\n", bad[i]);
		assert_int_equal(r, CENOTE_ERR_CONVERT);
	}
	assert_int_equal(d.scale, 42);
	assert_int_equal(cnc_decimal_parse("1\0002", 3, &d), CENOTE_ERR_CONVERT);
}

static void
the_length_ends_the_text(void **state)
{
	struct cnc_decimal d;

	assert_ok(cnc_decimal_parse("12x", 2, &d));
	assert_int_equal(d.n_digits, 2);
	assert_int_equal(cnc_decimal_parse("1e5", 2, &d), CENOTE_ERR_CONVERT);
}

static void
whole_numbers_become_integers(void **state)
{
	static const struct {
		const char *text;
		int64_t i64;
		uint64_t u64;
		int is_int64;
		int is_uint64;
	} cases[] = {
		{ "0", 0, 0, 1, 1 },
		{ "-0", 0, 0, 1, 1 },
		{ "3.000", 3, 3, 1, 1 },
		{ "1e3", 1000, 1000, 1, 1 },
		{ "1.25e2", 125, 125, 1, 1 },
		{ "12500e-2", 125, 125, 1, 1 },
		{ "-7", -7, 0, 1, 0 },
		{ "9223372036854775807", INT64_MAX, INT64_MAX, 1, 1 },
		{ "9223372036854775808", 0, (uint64_t)INT64_MAX + 1, 0, 1 },
		{ "-9223372036854775808", INT64_MIN, 0, 1, 0 },
		{ "-9223372036854775809", 0, 0, 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, 1 },
		{ "18446744073709551616", 0, 0, 0, 0 },
		{ "99999999999999999999", 0, 0, 0, 0 },
		{ "1e19", 0, UINT64_C(10000000000000000000), 0, 1 },
		{ "1e20", 0, 0, 0, 0 },
		{ "1e99999", 0, 0, 0, 0 },
		{ "1e-99999", 0, 0, 0, 0 },
		{ "0e-99999", 0, 0, 1, 1 },
		{ "0.5", 0, 0, 0, 0 },
		{ "3.0001", 0, 0, 0, 0 },
		{ "125e-1", 0, 0, 0, 0 },
		{ "0.00000000000000000000000000000000000005e38", 5, 5, 1, 1 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnc_decimal d;
		int64_t i64 = 42;
		uint64_t u64 = 42;
		int r;

		assert_ok(cnc_decimal_parse(cases[i].text, strlen(cases[i].text), &d));
		r = cnc_decimal_int64(&d, &i64);
		if (r != (cases[i].is_int64 ? CENOTE_OK : CENOTE_ERR_CONVERT))
			print_error("%s\n", cases[i].text);
		assert_int_equal(r, cases[i].is_int64 ? CENOTE_OK : CENOTE_ERR_CONVERT);
		assert_true(i64 == (cases[i].is_int64 ? cases[i].i64 : 42));
		r = cnc_decimal_uint64(&d, &u64);
		assert_int_equal(r, cases[i].is_uint64 ? CENOTE_OK : CENOTE_ERR_CONVERT);
		assert_true(u64 == (cases[i].is_uint64 ? cases[i].u64 : 42));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed_numbers_are_taken_apart),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(the_length_ends_the_text),
		cmocka_unit_test(whole_numbers_become_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
