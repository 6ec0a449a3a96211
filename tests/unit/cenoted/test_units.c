/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

static void
times_need_a_unit_and_read_back_as_they_are_written(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* milliseconds; -1: refused */
		const char *normal;
	} cases[] = {
		{ "0", 0, "0" },
		{ "500ms", 500, "500ms" },
		{ "30s", 30000, "30s" },
		{ "30 s", 30000, "30s" },
		{ "60s", 60000, "1min" },
		{ "90s", 90000, "90s" },
		{ "2h", 7200000, "2h" },
		{ "1d", 86400000, "1d" },
		{ "30", -1, NULL },
		{ "", -1, NULL },
		{ "s", -1, NULL },
		{ "-1s", -1, NULL },
		{ "1.5s", -1, NULL },
		{ "30sec", -1, NULL },
		{ "30S", -1, NULL },
		{ "99999999999999999999s", -1, NULL },
	};

	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		char text[CND_UNITS_TEXT_MAX];
		int64_t ms = -7;
		int r = cnd_ms_parse(cases[i].text, &ms);

		if (r != (cases[i].ms < 0 ? -1 : 0))
			fail_msg("%s", cases[i].text);
		if (r < 0) {
			assert_int_equal(ms, -7);
			continue;
		}
		assert_int_equal(ms, cases[i].ms);
		assert_string_equal(cnd_ms_text(ms, text), cases[i].normal);
	}
}

static void
sizes_go_in_steps_of_1024(void **state)
{
	char text[CND_UNITS_TEXT_MAX];
	uint64_t size = 0;

	assert_int_equal(cnd_size_parse("64MB", &size), 0);
	assert_int_equal(size, 64u << 20);
	assert_string_equal(cnd_size_text(size, text), "64MB");
	assert_int_equal(cnd_size_parse("16385B", &size), 0);
	assert_string_equal(cnd_size_text(size, text), "16385B");
	assert_int_equal(cnd_size_parse("1mb", &size), -1);
	assert_int_equal(cnd_size_parse("1", &size), -1);
}

static void
numbers_are_whole_and_bounded(void **state)
{
	uint64_t n = 0;

	assert_int_equal(cnd_number_parse("4096", 4096, &n), 0);
	assert_int_equal(n, 4096);
	assert_int_equal(cnd_number_parse("4097", 4096, &n), -1);
	assert_int_equal(cnd_number_parse("1x", 4096, &n), -1);
	assert_int_equal(cnd_number_parse("", 4096, &n), -1);
	assert_int_equal(cnd_number_parse("18446744073709551616", UINT64_MAX, &n), -1);
}

static void
the_nearest_name_is_offered_if_it_is_near(void **state)
{
	static const char *const names[] = { "sessions", "server", "queue_timeout" };
	static const char *const keys[] = { "host", "dbname", "user" };
	static const char *const others[] = { "tls_client_cert" };

	assert_string_equal(
		cnd_nearest("sesions", names, 3, sizeof(names[0])), "sessions");
	assert_string_equal(
		cnd_nearest("queue_timeot", names, 3, sizeof(names[0])), "queue_timeout");
	assert_null(cnd_nearest("xyz", names, 3, sizeof(names[0])));
	assert_string_equal(
		cnd_nearest("Sesions", names, 3, sizeof(names[0])), "sessions");
	assert_string_equal(cnd_nearest("database", keys, 3, sizeof(keys[0])), "dbname");
	assert_string_equal(cnd_nearest("UID", keys, 3, sizeof(keys[0])), "user");
	/* eight wrong letters of fifteen are not a typing error */
	assert_null(cnd_nearest("max_client_conn", others, 1, sizeof(others[0])));
}

static void
rates_are_read_as_they_are_written(void **state)
{
	static const char *const good[] = { "20/s", "1/min", "0" };
	static const char *const bad[] = { "", "20", "/s", "0/s", "20/", "20/h", "-1/s",
		"1 /s", "100001/s", "99999999999999999999/s" };
	struct cnd_rate rate = { 7, 1 };
	char text[CND_UNITS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(cnd_rate_parse(good[i], &rate), 0);
		assert_string_equal(cnd_rate_text(&rate, text), good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (cnd_rate_parse(bad[i], &rate) == 0)
			fail_msg("\"%s\" is not refused", bad[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_need_a_unit_and_read_back_as_they_are_written),
		cmocka_unit_test(sizes_go_in_steps_of_1024),
		cmocka_unit_test(numbers_are_whole_and_bounded),
		cmocka_unit_test(the_nearest_name_is_offered_if_it_is_near),
		cmocka_unit_test(rates_are_read_as_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
