/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dates, times, timestamps and intervals: text to value and back, and the texts that are
 * refused. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/dt.h"

#define NONE CENOTE_NO_OFFSET

static void
dates_read_and_write(void **state)
{
	static const struct {
		const char *text;
		int32_t year;
		int month, day;
	} cases[] = {
		{ "2024-02-29", 2024, 2, 29 },
		{ "2000-02-29", 2000, 2, 29 },
		{ "0000-01-01", 0, 1, 1 },
		{ "0000-02-29", 0, 2, 29 },
		{ "-0004-02-29", -4, 2, 29 },
		{ "-9999-12-31", -9999, 12, 31 },
		{ "9999-12-31", 9999, 12, 31 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		char out[CNC_DT_TEXT_MAX];
		cenote_date d;

		assert_ok(cnc_date_parse(cases[i].text, strlen(cases[i].text), &d));
		assert_int_equal(d.year, cases[i].year);
		assert_int_equal(d.month, cases[i].month);
		assert_int_equal(d.day, cases[i].day);
		assert_int_equal(d.reserved, 0);
		assert_int_equal(cnc_date_text(&d, out), strlen(cases[i].text));
		assert_string_equal(out, cases[i].text);
	}
}

static void
days_that_do_not_exist_are_refused(void **state)
{
	static const char *const bad[] = { "2023-02-29", "1900-02-29", "2024-02-30",
		"2024-00-01", "2024-13-01", "2024-01-00", "2024-01-32", "2024-04-31", "",
		"-", "2024", "2024-01", "2024-01-", "2024-1-1", "24-01-01", "02024-01-01",
		"+2024-01-01", "--2024-01-01", "2024/01/01", "2024-01-01 ", " 2024-01-01",
		"2024-01-01T", "20240101", "2024-01-0x", "infinity", "10000-01-01" };
	cenote_date d = { .year = 42 };

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		int r = cnc_date_parse(bad[i], strlen(bad[i]), &d);

		if (r != CENOTE_ERR_CONVERT)
			print_error("%s\n", bad[i]);
		assert_int_equal(r, CENOTE_ERR_CONVERT);
	}
	assert_int_equal(d.year, 42);
}

static void
every_day_of_a_long_time_is_valid_once(void **state)
{
	long n = 0;

	/* 400 years have 146097 days, whatever year they begin with. */
	for (int year = -200; year < 200; year++) {
		for (int month = 0; month <= 13; month++) {
			for (int day = 0; day <= 40; day++) {
				cenote_date d = { year, (uint8_t)month, (uint8_t)day, 0 };

				n += cnc_date_is_valid(&d) != 0;
			}
		}
	}
	assert_int_equal(n, 146097);
}

static void
times_read_and_write(void **state)
{
	static const struct {
		const char *text;
		cenote_time t;
		const char *canonical; /* NULL: the same */
	} cases[] = {
		{ "00:00:00", { 0, 0, 0, 0, 0, NONE }, NULL },
		{ "23:59:60", { 23, 59, 60, 0, 0, NONE }, NULL },
		{ "24:00:00", { 24, 0, 0, 0, 0, NONE }, NULL },
		{ "07:05", { 7, 5, 0, 0, 0, NONE }, "07:05:00" },
		{ "07:05Z", { 7, 5, 0, 0, 0, 0 }, "07:05:00+00:00" },
		{ "01:02:03.5", { 1, 2, 3, 0, 500000000, NONE }, NULL },
		{ "01:02:03.000000001", { 1, 2, 3, 0, 1, NONE }, NULL },
		{ "01:02:03.120000", { 1, 2, 3, 0, 120000000, NONE }, "01:02:03.12" },
		{ "01:02:03.999999999", { 1, 2, 3, 0, 999999999, NONE }, NULL },
		{ "01:02:03.0", { 1, 2, 3, 0, 0, NONE }, "01:02:03" },
		{ "01:02:03+05:30", { 1, 2, 3, 0, 0, 19800 }, NULL },
		{ "01:02:03-0530", { 1, 2, 3, 0, 0, -19800 }, "01:02:03-05:30" },
		{ "01:02:03.25+01", { 1, 2, 3, 0, 250000000, 3600 },
			"01:02:03.25+01:00" },
		{ "01:02:03-00:00", { 1, 2, 3, 0, 0, 0 }, "01:02:03+00:00" },
		{ "01:02:03-00:00:01", { 1, 2, 3, 0, 0, -1 }, NULL },
		{ "01:02:03+23:59:59", { 1, 2, 3, 0, 0, 86399 }, NULL },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const char *expected =
			cases[i].canonical ? cases[i].canonical : cases[i].text;
		char out[CNC_DT_TEXT_MAX];
		cenote_time t;
		int r = cnc_time_parse(cases[i].text, strlen(cases[i].text), &t);

		if (r < 0)
			print_error("%s\n", cases[i].text);
		assert_ok(r);
		assert_memory_equal(&t, &cases[i].t, sizeof(t));
		assert_int_equal(cnc_time_text(&t, out), strlen(expected));
		assert_string_equal(out, expected);
	}
}

static void
times_that_do_not_exist_are_refused(void **state)
{
	static const char *const bad[] = { "", "1", "01", "01:", "01:2", "1:02:03",
		"25:00:00", "24:00:01", "24:00:00.1", "24:01:00", "12:60:00", "12:00:61",
		"12:00:0", "12:00:", "12:00:00.", "12:00:00.1234567890", "12:00:00,5",
		"12:00:00 ", " 12:00:00", "12:00:00z", "12:00:00ZZ", "12:00:00+",
		"12:00:00+1", "12:00:00+1:00", "12:00:00+01:0",
		"12:00:00+01:", "12:00:00+01:00:", "12:00:00+01:00:0",
		"12:00:00+01:00:60", "12:00:00+010", "12:00:00+01000", "12:00:00+010000",
		"12:00:00+24:00", "12:00:00+01:60", "12:00.5", "-12:00:00" };
	cenote_time t = { .hour = 42 };

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		int r = cnc_time_parse(bad[i], strlen(bad[i]), &t);

		if (r != CENOTE_ERR_CONVERT)
			print_error("%s\n", bad[i]);
		assert_int_equal(r, CENOTE_ERR_CONVERT);
	}
	assert_int_equal(t.hour, 42);
}

static void
times_out_of_range_are_not_valid(void **state)
{
	static const cenote_time bad[] = {
		{ 25, 0, 0, 0, 0, NONE },
		{ 24, 0, 0, 0, 1, NONE },
		{ 0, 60, 0, 0, 0, NONE },
		{ 0, 0, 61, 0, 0, NONE },
		{ 0, 0, 0, 0, 1000000000, NONE },
		{ 0, 0, 0, 0, UINT32_MAX, NONE },
		{ 0, 0, 0, 0, 0, 86400 },
		{ 0, 0, 0, 0, 0, -86400 },
		{ 0, 0, 0, 0, 0, INT32_MAX },
		{ 0, 0, 0, 0, 0, INT32_MIN + 1 },
	};

	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_false(cnc_time_is_valid(&bad[i]));
}

static void
timestamps_read_and_write(void **state)
{
	static const struct {
		const char *text;
		const char *canonical;
	} cases[] = {
		{ "2024-02-29 13:14:15.5+01:00", "2024-02-29 13:14:15.5+01:00" },
		{ "2024-02-29T13:14:15", "2024-02-29 13:14:15" },
		{ "2024-02-29", "2024-02-29 00:00:00" },
		{ "-0044-03-15 12:00Z", "-0044-03-15 12:00:00+00:00" },
		{ "-9999-12-31 23:59:60.123456789-23:59:59",
			"-9999-12-31 23:59:60.123456789-23:59:59" },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		char out[CNC_DT_TEXT_MAX];
		cenote_timestamp ts;

		assert_ok(cnc_timestamp_parse(cases[i].text, strlen(cases[i].text), &ts));
		assert_int_equal(
			cnc_timestamp_text(&ts, out), strlen(cases[i].canonical));
		assert_string_equal(out, cases[i].canonical);
	}
}

static void
other_timestamps_are_refused(void **state)
{
	static const char *const bad[] = { "", "2024-02-30 00:00:00", "2024-02-29 ",
		"2024-02-29T", "2024-02-29t00:00:00", "2024-02-29  00:00:00",
		"2024-02-29 25:00:00", "2024-02-29 00:00:00 ", "2024-02-29-00:00:00",
		"13:14:15", "2024-02-29 13:14:15 +01:00", "2024-02-29Z" };
	cenote_timestamp ts = { .date = { .year = 42 } };

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		int r = cnc_timestamp_parse(bad[i], strlen(bad[i]), &ts);

		if (r != CENOTE_ERR_CONVERT)
			print_error("%s\n", bad[i]);
		assert_int_equal(r, CENOTE_ERR_CONVERT);
	}
	assert_int_equal(ts.date.year, 42);
}

static void
the_length_ends_the_text(void **state)
{
	cenote_timestamp ts;
	cenote_time t;
	cenote_date d;

	assert_ok(cnc_date_parse("2024-01-0123", 10, &d));
	assert_int_equal(cnc_date_parse("2024-01-01", 9, &d), CENOTE_ERR_CONVERT);
	assert_ok(cnc_time_parse("01:02:0345", 8, &t));
	assert_int_equal(cnc_time_parse("01:02:03.5", 9, &t), CENOTE_ERR_CONVERT);
	assert_ok(cnc_timestamp_parse("2024-01-01 01:02:03", 10, &ts));
	assert_int_equal(ts.time.hour, 0);
	assert_int_equal(ts.time.utc_offset_s, CENOTE_NO_OFFSET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates_read_and_write),
		cmocka_unit_test(days_that_do_not_exist_are_refused),
		cmocka_unit_test(every_day_of_a_long_time_is_valid_once),
		cmocka_unit_test(times_read_and_write),
		cmocka_unit_test(times_that_do_not_exist_are_refused),
		cmocka_unit_test(times_out_of_range_are_not_valid),
		cmocka_unit_test(timestamps_read_and_write),
		cmocka_unit_test(other_timestamps_are_refused),
		cmocka_unit_test(the_length_ends_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
