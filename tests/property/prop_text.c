/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers, dates and times survive the way to text and back.
 */
#include "support/cnt_cmocka.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/dt.h"
#include "core/value.h"
#include "support/cnt_random.h"

#define ROUNDS 20000

static int
group_setup(void **state)
{
	static struct cnt_random rnd;

	cnt_random_init_printed(&rnd);
	*state = &rnd;
	return 0;
}

/* Any bits, or a number that people write. */
static double
random_double(struct cnt_random *rnd)
{
	uint64_t bits = cnt_random_u64(rnd);
	double v;

	switch (cnt_random_below(rnd, 4)) {
	case 0: /* 2^k and its neighbours, where the distance between doubles changes */
		v = ldexp(1.0, (int)cnt_random_below(rnd, 2098) - 1074);
		return nextafter(v, cnt_random_below(rnd, 2) ? 0.0 : HUGE_VAL);
	case 1: /* few digits */
		return (double)(int64_t)cnt_random_below(rnd, 1000000) /
		       pow(10, (double)cnt_random_below(rnd, 7));
	case 2: /* subnormal numbers */
		bits &= UINT64_C(0x800fffffffffffff);
		break;
	default:
		break;
	}
	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? v : 1.0;
}

static void
doubles_read_back_the_same(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS; i++) {
		char out[CNC_VALUE_TEXT_MAX];
		double v = random_double(rnd), again;
		size_t len = cnc_double_text(v, out);

		assert_int_equal(len, strlen(out));
		assert_true(len < CNC_VALUE_TEXT_MAX);
		again = strtod(out, NULL);
		assert_memory_equal(&v, &again, sizeof(v));
		assert_ok(cnc_text_double(out, len, &again));
		assert_memory_equal(&v, &again, sizeof(v));
	}
}

static size_t
count_digits(const char *text)
{
	size_t n = 0, zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
			continue;
		n++;
		zeros = *text == '0' ? zeros + 1 : 0;
	}
	return n - zeros;
}

static void
no_rounding_to_fewer_digits_reads_back_the_same(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS / 4; i++) {
		char out[CNC_VALUE_TEXT_MAX], shorter[64];
		double v = random_double(rnd);
		size_t n;

		cnc_double_text(v, out);
		n = count_digits(out);
		if (n < 2)
			continue;
		snprintf(shorter, sizeof(shorter), "%.*e", (int)n - 2, v);
		assert_true(strtod(shorter, NULL) != v);
	}
}

static void
numbers_with_many_digits_are_read_as_strtod_does(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = 1 + cnt_random_size(rnd, 900), len = 0;
		size_t point = (size_t)cnt_random_below(rnd, n + 1);
		char text[1000];
		double v = 0, expected;

		for (size_t k = 0; k < n; k++) {
			if (k == point)
				text[len++] = '.';
			text[len++] = (char)('0' + cnt_random_below(rnd, 10));
		}
		snprintf(text + len, sizeof(text) - len, "e%d",
			(int)cnt_random_below(rnd, 660) - 330 - (int)point / 2);
		expected = strtod(text, NULL);
		if (isinf(expected)) {
			assert_int_equal(cnc_text_double(text, strlen(text), &v),
				CENOTE_ERR_CONVERT);
			continue;
		}
		assert_ok(cnc_text_double(text, strlen(text), &v));
		assert_memory_equal(&v, &expected, sizeof(v));
	}
}

static void
integers_read_back_the_same(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t u = cnt_random_u64(rnd) >> cnt_random_below(rnd, 64);
		char out[CNC_VALUE_TEXT_MAX], expected[32];
		int64_t v, again = 0;

		if (cnt_random_below(rnd, 2))
			u = 0 - u;
		memcpy(&v, &u, sizeof(v));
		snprintf(expected, sizeof(expected), "%" PRId64, v);
		assert_int_equal(cnc_int64_text(v, out), strlen(expected));
		assert_string_equal(out, expected);
		assert_ok(cnc_text_int64(out, strlen(out), &again));
		assert_true(again == v);
		snprintf(expected, sizeof(expected), "%" PRIu64, u);
		assert_int_equal(cnc_uint64_text(u, out), strlen(expected));
		assert_string_equal(out, expected);
		assert_ok(cnc_text_uint64(out, strlen(out), &u));
		assert_string_equal(out, expected);
	}
}

/* Write v with the point moved left by `shift` digits, and the exponent that makes up for it. */
static void
write_shifted(char *text, size_t size, int64_t v, int shift, int zeros)
{
	char digits[64], *p = digits;
	size_t n;

	snprintf(digits, sizeof(digits), "%030" PRIu64,
		v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
	n = strlen(digits) - (size_t)shift;
	snprintf(text, size, "%s%.*s.%s%.*se%d", v < 0 ? "-" : "", (int)n, p, p + n,
		zeros, "00000", shift);
}

static void
decimals_are_the_same_number_however_written(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t u = cnt_random_u64(rnd) >> cnt_random_below(rnd, 64);
		int shift = (int)cnt_random_below(rnd, 31);
		int zeros = (int)cnt_random_below(rnd, 6);
		int64_t v, again = 0;
		char text[128];

		memcpy(&v, &u, sizeof(v));
		write_shifted(text, sizeof(text), v, shift, zeros);
		assert_ok(cnc_text_int64(text, strlen(text), &again));
		assert_true(again == v);
		/* One less in the exponent: whole only if the last digit is 0. */
		snprintf(strchr(text, 'e'), 16, "e%d", shift - 1);
		if (v % 10 != 0) {
			assert_int_equal(cnc_text_int64(text, strlen(text), &again),
				CENOTE_ERR_CONVERT);
		} else {
			assert_ok(cnc_text_int64(text, strlen(text), &again));
			assert_true(again == v / 10);
		}
	}
}

static cenote_date
random_date(struct cnt_random *rnd)
{
	cenote_date d = { 0 };

	do {
		d.year = (int32_t)cnt_random_below(rnd, 20100) - 10050;
		d.month = (uint8_t)cnt_random_below(rnd, 14);
		d.day = (uint8_t)cnt_random_below(rnd, 33);
	} while (!cnc_date_is_valid(&d));
	return d;
}

static cenote_time
random_time(struct cnt_random *rnd)
{
	cenote_time t = { 0 };
	uint32_t unit = 1;

	for (uint64_t n = cnt_random_below(rnd, 10); n > 0; n--)
		unit *= 10;
	do {
		t.hour = (uint8_t)cnt_random_below(rnd, 26);
		t.minute = (uint8_t)cnt_random_below(rnd, 61);
		t.second = (uint8_t)cnt_random_below(rnd, 62);
		t.nanosecond = (uint32_t)cnt_random_below(rnd, 1000000000 / unit) * unit;
		t.utc_offset_s = (int32_t)cnt_random_below(rnd, 172800) - 86400;
		if (cnt_random_below(rnd, 2))
			t.utc_offset_s -= t.utc_offset_s % 900;
		if (cnt_random_below(rnd, 3) == 0)
			t.utc_offset_s = CENOTE_NO_OFFSET;
	} while (!cnc_time_is_valid(&t));
	return t;
}

static void
dates_and_times_read_back_the_same(void **state)
{
	struct cnt_random *rnd = *state;

	for (int i = 0; i < ROUNDS; i++) {
		cenote_timestamp ts = { random_date(rnd), random_time(rnd) }, again;
		char out[CNC_DT_TEXT_MAX];
		size_t len;

		memset(&again, 0xff, sizeof(again));
		len = cnc_date_text(&ts.date, out);
		assert_ok(cnc_date_parse(out, len, &again.date));
		len = cnc_time_text(&ts.time, out);
		assert_ok(cnc_time_parse(out, len, &again.time));
		assert_memory_equal(&ts, &again, sizeof(ts));
		memset(&again, 0xff, sizeof(again));
		len = cnc_timestamp_text(&ts, out);
		assert_ok(cnc_timestamp_parse(out, len, &again));
		assert_memory_equal(&ts, &again, sizeof(ts));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles_read_back_the_same),
		cmocka_unit_test(no_rounding_to_fewer_digits_reads_back_the_same),
		cmocka_unit_test(numbers_with_many_digits_are_read_as_strtod_does),
		cmocka_unit_test(integers_read_back_the_same),
		cmocka_unit_test(decimals_are_the_same_number_however_written),
		cmocka_unit_test(dates_and_times_read_back_the_same),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
