/* SPDX-License-Identifier: BSD-2-Clause */
/* The token bucket for logins to a server line. */
#include "support/cnt_cmocka.h"

#include "worker/worker.h"

#define S INT64_C(1000000)

/* Any time will do: a monotonic clock has no fixed beginning. */
#define NOW (1000 * S)

static void
the_first_tokens_come_at_once_and_the_next_at_the_rate(void **state)
{
	const struct cnd_rate rate = { 4, 1 };
	_Atomic int64_t bucket = 0;

	for (int i = 0; i < 4; i++)
		assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), 0);
	for (int i = 1; i <= 4; i++)
		assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), i * S / 4);
	/* no token is taken more than a second ahead */
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), -1);
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW + S / 4), S);
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW + S / 4), -1);
}

static void
the_bucket_does_not_hold_more_than_a_second(void **state)
{
	const struct cnd_rate rate = { 2, 1 };
	_Atomic int64_t bucket = 0;

	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW + 100 * S), 0);
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW + 100 * S), S / 2);
}

static void
a_slow_rate_has_one_token(void **state)
{
	const struct cnd_rate rate = { 6, 60 };
	_Atomic int64_t bucket = 0;

	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), 0);
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), 10 * S);
	assert_int_equal(cnd_login_rate_take(&bucket, &rate, NOW), -1);
}

static void
a_higher_rate_counts_at_once(void **state)
{
	const struct cnd_rate slow = { 1, 60 }, fast = { 10, 1 };
	_Atomic int64_t bucket = 0;

	assert_int_equal(cnd_login_rate_take(&bucket, &slow, NOW), 0);
	assert_int_equal(cnd_login_rate_take(&bucket, &slow, NOW), 60 * S);
	assert_int_equal(cnd_login_rate_take(&bucket, &fast, NOW), -1);
	assert_in_range(cnd_login_rate_take(&bucket, &fast, NOW + S), 0, S);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_tokens_come_at_once_and_the_next_at_the_rate),
		cmocka_unit_test(the_bucket_does_not_hold_more_than_a_second),
		cmocka_unit_test(a_slow_rate_has_one_token),
		cmocka_unit_test(a_higher_rate_counts_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
