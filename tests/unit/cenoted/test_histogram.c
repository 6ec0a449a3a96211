/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting times: in which bucket a time is, and what a report says of them. */
#include "support/cnt_cmocka.h"

#include "shared/histogram.h"

static struct cnd_histogram h;
static struct cnd_times times;

static int
setup(void **state)
{
	cnd_histogram_reset(&h);
	return 0;
}

static void
a_time_belongs_to_the_first_bucket_whose_limit_is_not_less(void **state)
{
	struct cnd_buckets b;

	assert_int_equal(cnd_bucket_limit_us(0), 16);
	assert_int_equal(cnd_bucket_limit_us(1), 24);
	assert_int_equal(cnd_bucket_limit_us(2), 32);
	for (uint32_t i = 0; i + 1 < CND_BUCKETS; i++) {
		int64_t limit = (int64_t)cnd_bucket_limit_us(i);
		struct cnd_times coarse;

		cnd_histogram_reset(&h);
		cnd_buckets_reset(&b);
		cnd_histogram_add(&h, limit);
		cnd_histogram_add(&h, limit + 1);
		cnd_buckets_add(&b, limit);
		cnd_buckets_add(&b, limit + 1);
		cnd_histogram_read(&h, &times);
		cnd_buckets_read(&b, &coarse);
		assert_int_equal(times.n[i], 1);
		assert_int_equal(times.n[i + 1], 1);
		assert_int_equal(times.count, 2);
		assert_int_equal(times.sum_us, 2 * limit + 1);
		/* both kinds agree */
		assert_memory_equal(times.n, coarse.n, sizeof(times.n));
		assert_int_equal(coarse.sum_us, 2 * limit + 1);
	}
}

static void
no_time_is_too_short_or_too_long(void **state)
{
	cnd_histogram_add(&h, -1);
	cnd_histogram_add(&h, 0);
	cnd_histogram_add(&h, INT64_MAX / 2);
	cnd_histogram_read(&h, &times);
	assert_int_equal(times.n[0], 2);
	assert_int_equal(times.n[CND_BUCKETS - 1], 1);
	assert_int_equal(times.sum_us, INT64_MAX / 2);
}

/* With one time alone, all quantiles are that time, at most 1.6 % too long. */
static void
a_time_is_known_to_a_64th(void **state)
{
	for (int64_t us = 1; us < INT64_C(60000000000); us += 1 + us / 97) {
		cnd_histogram_reset(&h);
		cnd_histogram_add(&h, us);
		cnd_histogram_read(&h, &times);
		assert_true((int64_t)times.p50_us >= us);
		assert_true((int64_t)times.p50_us <= us + us / 64 + 1);
		assert_int_equal(times.p999_us, times.p50_us);
	}
}

static void
quantiles_are_those_of_all_times(void **state)
{
	cnd_histogram_read(&h, &times);
	assert_int_equal(times.p50_us, 0);
	for (int64_t us = 1; us <= 1000; us++)
		cnd_histogram_add(&h, us);
	cnd_histogram_read(&h, &times);
	assert_int_equal(times.count, 1000);
	assert_in_range(times.p50_us, 500, 508);
	assert_in_range(times.p99_us, 990, 1006);
	assert_in_range(times.p999_us, 999, 1015);
	for (int i = 0; i < 9; i++)
		cnd_histogram_add(&h, 50000);
	cnd_histogram_read(&h, &times);
	assert_in_range(times.p99_us, 990, 1024);
	assert_in_range(times.p999_us, 50000, 50800);
}

#define T(name) cmocka_unit_test_setup(name, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_time_belongs_to_the_first_bucket_whose_limit_is_not_less),
		T(no_time_is_too_short_or_too_long),
		T(a_time_is_known_to_a_64th),
		T(quantiles_are_those_of_all_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
