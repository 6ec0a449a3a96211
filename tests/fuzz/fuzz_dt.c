/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dates, times and timestamps: an accepted text is written and read again as the same value.
 */
#include "fuzz.h"

#include <string.h>

#include "core/dt.h"

static int
is_same_date(const cenote_date *a, const cenote_date *b)
{
	return a->year == b->year && a->month == b->month && a->day == b->day &&
	       a->reserved == 0 && b->reserved == 0;
}

static int
is_same_time(const cenote_time *a, const cenote_time *b)
{
	return a->hour == b->hour && a->minute == b->minute && a->second == b->second &&
	       a->nanosecond == b->nanosecond && a->utc_offset_s == b->utc_offset_s;
}

static void
check_date(const char *text, size_t len)
{
	char out[CNC_DT_TEXT_MAX];
	cenote_date a, b;

	if (cnc_date_parse(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_date_is_valid(&a));
	FUZZ_CHECK(cnc_date_parse(out, cnc_date_text(&a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(is_same_date(&a, &b));
}

static void
check_time(const char *text, size_t len)
{
	char out[CNC_DT_TEXT_MAX];
	cenote_time a, b;

	if (cnc_time_parse(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_time_is_valid(&a));
	FUZZ_CHECK(cnc_time_parse(out, cnc_time_text(&a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(is_same_time(&a, &b));
}

static void
check_timestamp(const char *text, size_t len)
{
	char out[CNC_DT_TEXT_MAX];
	cenote_timestamp a, b;

	if (cnc_timestamp_parse(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_date_is_valid(&a.date) && cnc_time_is_valid(&a.time));
	FUZZ_CHECK(
		cnc_timestamp_parse(out, cnc_timestamp_text(&a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(is_same_date(&a.date, &b.date) && is_same_time(&a.time, &b.time));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_date((const char *)data, size);
	check_time((const char *)data, size);
	check_timestamp((const char *)data, size);
	return 0;
}
