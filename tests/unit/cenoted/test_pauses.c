/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>

#include "door/door_internal.h"
#include "support/cnt_random.h"

#define N_GUESTS 500u

static struct cnd_pauses pauses;
static struct cnd_guest guests[N_GUESTS];

static uint32_t
add_all(struct cnt_random *random)
{
	for (uint32_t i = 0; i < N_GUESTS; i++) {
		guests[i].not_before_ms = (int64_t)cnt_random_below(random, 200);
		cnd_pauses_add(&pauses, &guests[i]);
	}
	return N_GUESTS;
}

static void
the_soonest_is_first_whoever_goes(void **state)
{
	struct cnt_random random;
	int64_t last = -1;
	uint32_t n;

	cnt_random_init_printed(&random);
	assert_null(cnd_pauses_first(&pauses));
	n = add_all(&random);
	/* every third guest leaves before its pause is over */
	for (uint32_t i = 0; i < N_GUESTS; i += 3, n--)
		cnd_pauses_remove(&pauses, &guests[i]);
	for (; n > 0; n--) {
		struct cnd_guest *g = cnd_pauses_first(&pauses);

		assert_true(g->not_before_ms >= last);
		last = g->not_before_ms;
		cnd_pauses_remove(&pauses, g);
	}
	assert_null(cnd_pauses_first(&pauses));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_soonest_is_first_whoever_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
