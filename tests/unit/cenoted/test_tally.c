/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting sessions up to a limit, by many threads at the same time. */
#include "support/cnt_cmocka.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shared/tally.h"

static struct cnd_tally tally;

static int
setup(void **state)
{
	memset(&tally, 0, sizeof(tally));
	return 0;
}

static uint64_t
key_of(unsigned i)
{
	return cnd_tally_key(CND_COUNT_USER, &i, sizeof(i));
}

static void
a_limit_is_a_limit_until_one_is_given_back(void **state)
{
	int first = cnd_tally_take(&tally, key_of(1), 2);

	assert_true(first >= 0);
	assert_true(cnd_tally_take(&tally, key_of(1), 2) >= 0);
	assert_int_equal(cnd_tally_take(&tally, key_of(1), 2), -1);
	assert_true(cnd_tally_take(&tally, key_of(2), 2) >= 0);
	cnd_tally_give_back(&tally, (uint32_t)first);
	assert_int_equal(cnd_tally_of(&tally, key_of(1)), 1);
	assert_true(cnd_tally_take(&tally, key_of(1), 2) >= 0);
}

static void
only_what_was_taken_can_be_given_back(void **state)
{
	int place = cnd_tally_take(&tally, key_of(1), 2);

	assert_true(place >= 0);
	/* there is no such place, and nobody has taken the other one */
	cnd_tally_give_back(&tally, CND_TALLY_WORDS);
	cnd_tally_give_back(&tally, (uint32_t)(place + 1) % CND_TALLY_WORDS);
	assert_int_equal(cnd_tally_of(&tally, key_of(1)), 1);
	for (uint32_t i = 0; i < CND_TALLY_WORDS; i++)
		assert_true(i == (uint32_t)place || tally.words[i] == 0);
}

static void
each_kind_has_its_own_keys(void **state)
{
	assert_true(cnd_tally_key(CND_COUNT_USER, "ann", 3) !=
		    cnd_tally_key(CND_COUNT_UID, "ann", 3));
}

static void
many_users_fit(void **state)
{
	static int places[CND_TALLY_WORDS / 4];

	for (unsigned i = 0; i < CND_TALLY_WORDS / 4; i++)
		assert_true((places[i] = cnd_tally_take(&tally, key_of(i), 1)) >= 0);
	for (unsigned i = 0; i < CND_TALLY_WORDS / 4; i++) {
		assert_int_equal(cnd_tally_of(&tally, key_of(i)), 1);
		cnd_tally_give_back(&tally, (uint32_t)places[i]);
	}
}

#define LIMIT 1

static _Atomic int n_now, n_over, n_taken;

/* All threads count the same key, and several often begin with it at the same time. */
static void *
take_and_give_back(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100000; i++) {
		int place = cnd_tally_take(&tally, key_of(7), LIMIT);
		int n;

		if (place < 0)
			continue;
		n = atomic_fetch_add(&n_now, 1) + 1;
		if (n > LIMIT)
			atomic_fetch_add(&n_over, 1);
		atomic_fetch_add(&n_taken, 1);
		atomic_fetch_sub(&n_now, 1);
		cnd_tally_give_back(&tally, (uint32_t)place);
	}
	return NULL;
}

static void
many_at_a_time_do_not_exceed_the_limit(void **state)
{
	pthread_t threads[6];

	for (size_t i = 0; i < 6; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_and_give_back, NULL), 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(n_over, 0);
	assert_true(n_taken > 1000);
	assert_int_equal(cnd_tally_of(&tally, key_of(7)), 0);
}

#define T(name) cmocka_unit_test_setup(name, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_limit_is_a_limit_until_one_is_given_back),
		T(only_what_was_taken_can_be_given_back),
		T(each_kind_has_its_own_keys),
		T(many_users_fit),
		T(many_at_a_time_do_not_exceed_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
