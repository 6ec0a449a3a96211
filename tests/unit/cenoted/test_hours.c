/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of `allow_hours`, and what it answers: the limits of spans, nights, the end of the week, and changes of the clock. */
#include "auth/hours.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/cnt_cmocka.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* Mon 2026-11-30 00:00 UTC */
#define MONDAY 1795996800
#define HOUR   3600

static void
read_line(struct cnd_hours *h, const char *text)
{
	char error[CND_HOURS_ERROR_MAX] = "";

	if (cnd_hours_parse(h, text, MONDAY, error) < 0)
		fail_msg("%s: %s", text, error);
}

/* The answer for the user at this time. */
static void
expect(const struct cnd_hours *h, const char *user, int64_t when, bool is_in,
	int64_t change)
{
	int64_t seen;

	assert_int_equal(cnd_hours_allow(h, user, when, &seen), is_in);
	assert_int_equal(seen, change);
}

static void
spans_begin_and_end_at_their_second(void **state)
{
	const int64_t opens = MONDAY + 8 * HOUR, closes = MONDAY + 18 * HOUR;
	struct cnd_hours h = { NULL, 0 };

	read_line(&h, "mon-fri 08:00-18:00 UTC");
	expect(&h, "joe", MONDAY, false, opens);
	expect(&h, "joe", opens - 1, false, opens);
	expect(&h, "joe", opens, true, closes);
	expect(&h, "joe", closes - 1, true, closes);
	expect(&h, "joe", closes, false, opens + 24 * HOUR);
	/* over the weekend */
	expect(&h, "joe", closes + 4 * 24 * HOUR, false, opens + 7 * 24 * HOUR);
	cnd_hours_destroy(&h);
}

static void
a_night_and_the_end_of_the_week_are_spans_too(void **state)
{
	const int64_t sunday = MONDAY + 6 * 24 * HOUR;
	struct cnd_hours h = { NULL, 0 };

	read_line(&h, "sun 22:00-06:00 UTC");
	expect(&h, "joe", sunday + 23 * HOUR, true, sunday + 30 * HOUR);
	expect(&h, "joe", MONDAY + 5 * HOUR, true, MONDAY + 6 * HOUR);
	expect(&h, "joe", MONDAY + 6 * HOUR, false, sunday + 22 * HOUR);
	cnd_hours_destroy(&h);
}

static void
days_without_times_are_whole_days(void **state)
{
	struct cnd_hours h = { NULL, 0 };

	read_line(&h, "Sat,SUN UTC");
	expect(&h, "joe", MONDAY, false, MONDAY + 5 * 24 * HOUR);
	expect(&h, "joe", MONDAY + 5 * 24 * HOUR, true, MONDAY + 7 * 24 * HOUR);
	cnd_hours_destroy(&h);
	read_line(&h, "fri-mon, tue-thu UTC");
	expect(&h, "joe", MONDAY, true, CND_HOURS_NEVER);
	cnd_hours_destroy(&h);
	/* times without days */
	read_line(&h, "12:00-13:00:30, 20:00-24:00 UTC");
	expect(&h, "joe", MONDAY, false, MONDAY + 12 * HOUR);
	expect(&h, "joe", MONDAY + 12 * HOUR, true, MONDAY + 13 * HOUR + 30);
	expect(&h, "joe", MONDAY + 21 * HOUR, true, MONDAY + 24 * HOUR);
	cnd_hours_destroy(&h);
}

static void
lines_of_a_user_replace_those_for_all(void **state)
{
	struct cnd_hours h = { NULL, 0 };

	read_line(&h, "mon 08:00-09:00 UTC");
	read_line(&h, "user=ann,joe mon 10:00-11:00 UTC");
	read_line(&h, "user=joe mon 11:00-12:00 UTC");
	expect(&h, "eve", MONDAY, false, MONDAY + 8 * HOUR);
	expect(&h, "ann", MONDAY, false, MONDAY + 10 * HOUR);
	expect(&h, "joe", MONDAY + 10 * HOUR, true, MONDAY + 12 * HOUR);
	cnd_hours_destroy(&h);
	/* without a line for all, other users are always in */
	read_line(&h, "user=ann tue UTC");
	expect(&h, "eve", MONDAY, true, CND_HOURS_NEVER);
	expect(&h, "ann", MONDAY, false, MONDAY + 24 * HOUR);
	cnd_hours_destroy(&h);
}

/* In Berlin, the clock goes from 2:00 to 3:00 on 2027-03-28, and back on 2027-10-31. */
static void
the_clock_of_the_zone_counts(void **state)
{
	const int64_t spring = 1806195600, autumn = 1824944400; /* 01:00 UTC */
	char text[CND_HOURS_TEXT_MAX];
	struct cnd_hours h = { NULL, 0 };

	assert_int_equal(setenv("TZ", "America/New_York", 1), 0);
	tzset();
	read_line(&h, "sun 01:30-02:30 Europe/Berlin");
	/* the reader leaves the process its own zone */
	assert_string_equal(getenv("TZ"), "America/New_York");
	assert_int_equal(timezone, 5 * HOUR);
	/* in winter, Sunday 01:30 is 00:30 UTC */
	expect(&h, "joe", MONDAY, false, MONDAY + 6 * 24 * HOUR + HOUR / 2);
	assert_string_equal(
		cnd_hours_text(&h, "joe", MONDAY + 6 * 24 * HOUR + HOUR / 2, text),
		"Sun 2026-12-06 01:30 Europe/Berlin");
	/* 02:30 does not exist: the span ends with the change */
	expect(&h, "joe", spring - HOUR / 2, true, spring);
	expect(&h, "joe", spring, false, spring + 7 * 24 * HOUR - 3 * HOUR / 2);
	/* the time from 02:00 to 02:30 comes twice */
	expect(&h, "joe", autumn - HOUR, true, autumn - HOUR / 2);
	expect(&h, "joe", autumn, true, autumn + HOUR / 2);
	cnd_hours_destroy(&h);
	/* without a zone, the process's own counts */
	read_line(&h, "mon 08:00-09:00");
	expect(&h, "joe", MONDAY, false, MONDAY + 13 * HOUR);
	cnd_hours_destroy(&h);
	assert_int_equal(unsetenv("TZ"), 0);
	tzset();
}

static void
other_lines_are_refused(void **state)
{
	static const char *const bad[] = { "", "user=joe", "08:00", "mon 8:00-18:00",
		"mon 08:00-25:00", "mon 08:60-09:00", "mon 08:00-08:00", "24:00-24:00",
		"mon 08:00-18:00x", "montag", "mon-fry 08:00-18:00", "mon Nowhere/City",
		"mon ../../etc/passwd", "mon /etc/passwd", "mon UTC tue", "user= mon",
		"mon 24:01-24:30", "mon 08:00--09:00" };
	struct cnd_hours h = { NULL, 0 };
	char error[CND_HOURS_ERROR_MAX];

	for (size_t i = 0; i < N_ITEMS(bad); i++) {
		error[0] = '\0';
		if (cnd_hours_parse(&h, bad[i], MONDAY, error) == 0)
			fail_msg("\"%s\" is not refused", bad[i]);
		assert_true(error[0] != '\0');
	}
	assert_int_equal(h.n, 0);
	for (unsigned i = 0; i < CND_HOURS_LINES_MAX; i++)
		read_line(&h, "mon UTC");
	assert_int_equal(cnd_hours_parse(&h, "mon UTC", MONDAY, error), -1);
	cnd_hours_destroy(&h);
}

/* A line that is cut anywhere is read, or is an error. */
static void
a_line_may_end_anywhere(void **state)
{
	static const char line[] =
		"user=ann,joe mon-fri 08:00-18:00:30, sat Europe/Berlin";
	struct cnd_hours h = { NULL, 0 };
	char error[CND_HOURS_ERROR_MAX], *cut;

	for (size_t n = 0; n < sizeof(line); n++) {
		cut = strndup(line, n);
		assert_non_null(cut);
		(void)cnd_hours_parse(&h, cut, MONDAY, error);
		free(cut);
		cnd_hours_destroy(&h);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_begin_and_end_at_their_second),
		cmocka_unit_test(a_night_and_the_end_of_the_week_are_spans_too),
		cmocka_unit_test(days_without_times_are_whole_days),
		cmocka_unit_test(lines_of_a_user_replace_those_for_all),
		cmocka_unit_test(the_clock_of_the_zone_counts),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(a_line_may_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
