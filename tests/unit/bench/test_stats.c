/* SPDX-License-Identifier: BSD-2-Clause */

#include <math.h>

#include "bench.h"
#include "support/cnt_cmocka.h"

/* These numbers are exact in binary, so they may be compared. */
static void
assert_summary(struct cnb_summary s, double min, double p25, double median, double p75)
{
	assert_true(s.min == min);
	assert_true(s.p25 == p25);
	assert_true(s.median == median);
	assert_true(s.p75 == p75);
}

static void
one_value_is_all_of_its_quartiles(void **state)
{
	double values[] = { 7 };

	assert_summary(cnb_summarize(values, 1), 7, 7, 7, 7);
}

static void
an_odd_number_has_a_middle_one(void **state)
{
	double values[] = { 5, 1, 4, 2, 3 };

	assert_summary(cnb_summarize(values, 5), 1, 2, 3, 4);
}

static void
between_two_values_it_is_their_weighted_mean(void **state)
{
	double values[] = { 8, 2, 4, 6 };

	assert_summary(cnb_summarize(values, 4), 2, 3.5, 5, 6.5);
}

static void
one_far_value_moves_neither_median_nor_quartiles(void **state)
{
	double values[] = { 1, 2, 3, 4, 1000000 };

	assert_summary(cnb_summarize(values, 5), 1, 2, 3, 4);
}

static void
no_value_gives_zeros(void **state)
{
	double values[] = { 1 };

	assert_summary(cnb_summarize(values, 0), 0, 0, 0, 0);
}

static void
quantiles_of_latencies_are_within_their_range(void **state)
{
	static struct cnb_latency latency, more;
	int64_t ns;

	assert_true(cnb_latency_quantile(&latency, 0.5) == 0);
	for (ns = 1; ns <= 100; ns++)
		cnb_latency_add(ns % 2 ? &latency : &more, ns * 1000);
	cnb_latency_merge(&latency, &more);
	assert_true(fabs(cnb_latency_quantile(&latency, 0.5) / 50e3 - 1) < 1.0 / 32);
	assert_true(fabs(cnb_latency_quantile(&latency, 0.99) / 99e3 - 1) < 1.0 / 32);
	assert_true(fabs(cnb_latency_quantile(&latency, 0) / 1e3 - 1) < 1.0 / 32);
	assert_true(fabs(cnb_latency_quantile(&latency, 1) / 100e3 - 1) < 1.0 / 32);
}

static void
the_shortest_and_the_longest_latencies_have_a_range(void **state)
{
	static struct cnb_latency latency;

	cnb_latency_add(&latency, -1);
	cnb_latency_add(&latency, 63);
	cnb_latency_add(&latency, INT64_MAX);
	assert_true(cnb_latency_quantile(&latency, 0.33) == 0);
	assert_true(cnb_latency_quantile(&latency, 0.66) == 63);
	assert_true(cnb_latency_quantile(&latency, 1) > 1e12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_is_all_of_its_quartiles),
		cmocka_unit_test(an_odd_number_has_a_middle_one),
		cmocka_unit_test(between_two_values_it_is_their_weighted_mean),
		cmocka_unit_test(one_far_value_moves_neither_median_nor_quartiles),
		cmocka_unit_test(no_value_gives_zeros),
		cmocka_unit_test(quantiles_of_latencies_are_within_their_range),
		cmocka_unit_test(the_shortest_and_the_longest_latencies_have_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
