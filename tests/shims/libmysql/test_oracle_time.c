/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "shims/libmysql/oracle_time.h"

/* How Oracle's library (9.7) converts texts. The members are 7 before the conversion, so 7 means
 * that the library leaves a member unchanged. */

struct text_case {
	const char *text;
	int is_wrong;
	const char *made;
};

static void
write_down(const MYSQL_TIME *t, char *to, size_t size)
{
	snprintf(to, size, "%u-%u-%u %s%u:%u:%u.%lu type %d zone %d", t->year, t->month,
		t->day, t->neg ? "-" : "", t->hour, t->minute, t->second, t->second_part,
		(int)t->time_type, t->time_zone_displacement);
}

static void
check(const struct text_case *cases, size_t n,
	int (*parse)(const char *p, size_t n, MYSQL_TIME *ret_time))
{
	for (size_t i = 0; i < n; i++) {
		MYSQL_TIME t = { 7, 7, 7, 7, 7, 7, 7, 0, MYSQL_TIMESTAMP_TIME, 7 };
		int r = parse(cases[i].text, strlen(cases[i].text), &t);
		char made[160];

		write_down(&t, made, sizeof(made));
		if (strcmp(made, cases[i].made) != 0 || (r != 0) != cases[i].is_wrong)
			fail_msg("%s: %s %d", cases[i].text, made, r);
	}
}

#define UNTOUCHED "7-7-7 7:7:7.7 type -2 zone 7"
#define ZERO      "0-0-0 0:0:0.0 type -1 zone 0"

static void
dates_are_taken_from_texts(void **state)
{
	static const struct text_case cases[] = {
		{ "2024-02-29", 0, "2024-2-29 0:0:0.0 type 0 zone 0" },
		{ "2024-02-29 01:02:03.5", 0, "2024-2-29 1:2:3.500000 type 1 zone 0" },
		{ "20240229010203", 0, "2024-2-29 1:2:3.0 type 1 zone 0" },
		{ "24/2/29T1.2", 0, "2024-2-29 1:2:0.0 type 1 zone 0" },
		{ "240229", 0, "2024-2-29 0:0:0.0 type 0 zone 0" },
		{ "2024-02-29 01:02:03+05:30", 0, "2024-2-29 1:2:3.0 type 3 zone 19800" },
		{ "2024-02-29 01:02:03.25-01:00 ", 0,
			"2024-2-29 1:2:3.250000 type 3 zone -3600" },
		{ "2024-02-29 01:02:03.1234567+14:00", 0,
			"2024-2-29 1:2:3.123456 type 3 zone 50400" },
		{ "2024-02-29 01:02:03-00:00", 1, UNTOUCHED },
		{ "2024-02-29 01:02:03+14:01", 1, UNTOUCHED },
		{ "2024-02-29 01:02:03-2024-02-29", 1, UNTOUCHED },
		{ "2024-02-29 01:02:03.1234567+1", 1,
			"2024-2-29 1:2:3.123456 type -2 zone 0" },
		{ "2024 02-29", 1, UNTOUCHED },
		{ "2024-02-1000000", 1, UNTOUCHED },
		{ "text", 1, UNTOUCHED },
		{ "2024-02-29T", 1, "2024-2-29 0:0:0.0 type 0 zone 0" },
		{ "2024-02-29 01:02:03.5 x", 1, "2024-2-29 1:2:3.500000 type 1 zone 0" },
		{ "2023-02-29", 1, ZERO },
		{ "2024-02-29 24:00:00", 1, ZERO },
		{ "12", 1, ZERO },
	};

	check(cases, CNT_COUNT(cases), cmy_oracle_datetime);
}

static void
times_are_taken_from_texts(void **state)
{
	static const struct text_case cases[] = {
		{ "01:02:03.5", 0, "0-0-0 1:2:3.500000 type 2 zone 0" },
		{ "-1 01:02", 0, "0-0-0 -25:2:0.0 type 2 zone 0" },
		{ "10203", 0, "0-0-0 1:2:3.0 type 2 zone 0" },
		{ "-00:00", 0, "0-0-0 0:0:0.0 type 2 zone 0" },
		{ "838:59:59.5", 1, "0-0-0 838:59:59.0 type 2 zone 0" },
		{ "1 5", 1, "0-0-0 0:0:1.0 type 2 zone 0" },
		{ "00:61", 1, ZERO },
		{ "4294967296", 0, UNTOUCHED },
		{ "5e3", 0, UNTOUCHED },
		{ "x", 1, "0-0-0 0:0:0.0 type -2 zone 0" },
		{ "2024-02-29 01:02:03", 0, "2024-2-29 1:2:3.0 type 1 zone 0" },
		{ "-2024-02-29 01:02:03", 1, "2024-2-29 1:2:3.0 type -1 zone 0" },
		{ "2024-02-29 01:02:03+01:00", 0, "2024-2-29 1:2:3.0 type 3 zone 3600" },
		{ "-2024-02-29 01:02:03+01:00", 1,
			"2024-2-29 1:2:3.0 type -1 zone 3600" },
		{ "-2024-02-29 01:02:03-2024", 1, "0-0-0 -0:20:24.0 type 2 zone 0" },
		{ "2024-02-29-01:02", 1, "0-0-0 0:20:24.0 type 2 zone 0" },
	};

	check(cases, CNT_COUNT(cases), cmy_oracle_time);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates_are_taken_from_texts),
		cmocka_unit_test(times_are_taken_from_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
