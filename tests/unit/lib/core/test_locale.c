/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/value.h"

/*
 * The linker puts these in place of snprintf() and strtod(): they write and read another
 * decimal point, as the C library does in most of the world's locales.
 */
static const char *point = ".";
static int n_formatted, n_read;

/* NOLINTBEGIN(readability-identifier-naming): the linker wants these names. */
int __wrap_snprintf(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
double __real_strtod(const char *text, char **ret_end);
double __wrap_strtod(const char *text, char **ret_end);
/* NOLINTEND(readability-identifier-naming) */

int
__wrap_snprintf(char *out, size_t size, const char *format, ...)
{
	char plain[256];
	char *dot;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(plain, sizeof(plain), format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(plain) - 8 && (size_t)n < size - 8);
	dot = strchr(plain, '.');
	if (dot) {
		memmove(dot + strlen(point), dot + 1, strlen(dot));
		memcpy(dot, point, strlen(point));
	}
	memcpy(out, plain, strlen(plain) + 1);
	n_formatted++;
	return (int)strlen(plain);
}

double
__wrap_strtod(const char *text, char **ret_end)
{
	char plain[2048];
	size_t len = strcspn(text, ".");
	char *at;

	/* If '.' is not the decimal point, the number ends there. */
	if (strcmp(point, ".") == 0)
		len = strlen(text);
	assert_true(len < sizeof(plain));
	memcpy(plain, text, len);
	plain[len] = '\0';
	at = strstr(plain, point);
	if (at) {
		memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
		*at = '.';
	}
	assert_null(ret_end);
	n_read++;
	return __real_strtod(plain, NULL);
}

static void
check_numbers(const char *locale_point)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0.5, "0.5" },
		{ -1234.25, "-1234.25" },
		{ 0x1.3333333333334p-2, "0.30000000000000004" },
		{ 1.5e300, "1.5e+300" },
		{ 1e22, "1e+22" },
		{ 2.5e-310, "2.5e-310" },
	};

	point = locale_point;
	n_formatted = n_read = 0;
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		char out[CNC_VALUE_TEXT_MAX];
		double v = 0;
		size_t len = cnc_double_text(cases[i].v, out);

		assert_string_equal(out, cases[i].text);
		assert_int_equal(len, strlen(out));
		assert_ok(cnc_text_double(out, len, &v));
		assert_true(v == cases[i].v);
	}
	/* Otherwise the linker did not replace the functions, and nothing was tested. */
	assert_true(n_formatted >= (int)CNT_COUNT(cases));
	assert_true(n_read >= (int)CNT_COUNT(cases));
	point = ".";
}

static void
numbers_have_a_point_where_the_locale_has_one(void **state)
{
	check_numbers(".");
}

static void
numbers_have_a_point_where_the_locale_has_a_comma(void **state)
{
	double v = 42;

	check_numbers(",");
	point = ",";
	assert_int_equal(cnc_text_double("1,5", 3, &v), CENOTE_ERR_CONVERT);
	point = ".";
}

static void
numbers_have_a_point_where_the_locale_has_more_bytes(void **state)
{
	check_numbers("\xd9\xab");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_a_point_where_the_locale_has_one),
		cmocka_unit_test(numbers_have_a_point_where_the_locale_has_a_comma),
		cmocka_unit_test(numbers_have_a_point_where_the_locale_has_more_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
