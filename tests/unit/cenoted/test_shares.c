/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>

#include "door/shares.h"

#define N_PLACES 1000u

static struct cnd_shares shares;
static struct cnd_share *taken[N_PLACES];
static size_t n_taken;

static int
setup(void **state)
{
	cnd_shares_init(&shares, N_PLACES);
	n_taken = 0;
	return 0;
}

static int
teardown(void **state)
{
	while (n_taken > 0)
		cnd_shares_give_back(&shares, taken[--n_taken]);
	for (size_t i = 0; i < CND_SHARES_BUCKETS; i++)
		assert_null(shares.buckets[i]);
	return 0;
}

static int
take(uint32_t pool, uint32_t uid)
{
	const struct cnd_share_of of = { .pool = pool, .uid = uid };
	int r = cnd_shares_take(&shares, &of, &taken[n_taken]);

	n_taken += r == CND_SHARES_TAKEN;
	return r;
}

/* Take places for `n_users` users, from `uid` on, until all are refused. Returns the number of
 * places, and the last verdict. */
static unsigned
fill(uint32_t pool, uint32_t uid, unsigned n_users, int *ret_verdict)
{
	unsigned n = 0;
	unsigned n_refused = 0;

	while (n_refused < n_users) {
		n_refused = 0;
		for (unsigned i = 0; i < n_users; i++) {
			*ret_verdict = take(pool, uid + i);
			n += *ret_verdict == CND_SHARES_TAKEN;
			n_refused += *ret_verdict != CND_SHARES_TAKEN;
		}
	}
	return n;
}

static void
a_user_leaves_as_many_to_others(void **state)
{
	int verdict;

	cnd_shares_set_pools(&shares, 1);
	assert_int_equal(fill(0, 1, 1, &verdict), N_PLACES / 2);
	assert_int_equal(verdict, CND_SHARES_USER_HAS_ALL);
	assert_int_equal(fill(0, 2, 1, &verdict), N_PLACES / 4);
	/* there is always a place for one more user */
	for (uint32_t uid = 3; shares.n[0] < N_PLACES; uid++)
		assert_int_equal(take(0, uid), CND_SHARES_TAKEN);
	assert_int_equal(take(0, 1000), CND_SHARES_POOL_HAS_ALL);
}

static void
a_pool_leaves_the_others_theirs(void **state)
{
	int verdict;

	cnd_shares_set_pools(&shares, 5);
	/* a pool gets its own tenth and the common half */
	assert_int_equal(fill(0, 1, N_PLACES, &verdict), 100 + 500);
	assert_int_equal(verdict, CND_SHARES_POOL_HAS_ALL);
	for (uint32_t pool = 1; pool < 5; pool++)
		assert_int_equal(fill(pool, 1, N_PLACES, &verdict), 100);
	assert_int_equal(n_taken, N_PLACES);
	/* pool 4 gets back the place of its own that it gave back; pool 0 does not get it */
	cnd_shares_give_back(&shares, taken[--n_taken]);
	assert_int_equal(take(0, 1), CND_SHARES_POOL_HAS_ALL);
	assert_int_equal(take(4, 500), CND_SHARES_TAKEN);
}

static void
pools_come_and_go(void **state)
{
	int verdict;

	cnd_shares_set_pools(&shares, 1);
	assert_int_equal(fill(0, 1, N_PLACES, &verdict), N_PLACES);
	/* taken places stay taken; places that become free go to the new pool until it has its
	 * own share */
	cnd_shares_set_pools(&shares, 2);
	assert_int_equal(take(0, 1), CND_SHARES_POOL_HAS_ALL);
	assert_int_equal(take(1, 1), CND_SHARES_POOL_HAS_ALL);
	for (int i = 0; i < 250; i++)
		cnd_shares_give_back(&shares, taken[--n_taken]);
	assert_int_equal(take(0, 1), CND_SHARES_POOL_HAS_ALL);
	assert_int_equal(fill(1, 1, N_PLACES, &verdict), 250);
	while (n_taken > 0)
		cnd_shares_give_back(&shares, taken[--n_taken]);
	cnd_shares_set_pools(&shares, 1);
	assert_int_equal(fill(1, 1, N_PLACES, &verdict), N_PLACES);
}

static void
users_of_two_pools_are_two(void **state)
{
	const struct cnd_share_of by_tcp = {
		.pool = 0, .uid = CND_SHARES_NO_UID, .addr = IN6ADDR_LOOPBACK_INIT
	};
	const struct cnd_share_of by_unix = { .pool = 0, .uid = 7 };
	int verdict;

	cnd_shares_set_pools(&shares, 2);
	assert_int_equal(fill(0, 7, 1, &verdict), 375);
	assert_int_equal(cnd_shares_of(&shares, &by_unix), 375);
	assert_int_equal(cnd_shares_of(&shares, &by_tcp), 0);
	assert_int_equal(
		cnd_shares_take(&shares, &by_tcp, &taken[n_taken++]), CND_SHARES_TAKEN);
	assert_int_equal(take(1, 7), CND_SHARES_TAKEN);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_user_leaves_as_many_to_others),
		TEST(a_pool_leaves_the_others_theirs),
		TEST(pools_come_and_go),
		TEST(users_of_two_pools_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
