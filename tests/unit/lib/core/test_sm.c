/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state machine's table: every transition that is not in the table is an error. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <cenote/types.h>

#include "core/sm.h"

enum {
	NEW,
	OPEN,
	SHUT,
	N_STATES
};

static const struct cnc_sm_state states[N_STATES] = {
	[NEW] = { "new", 1u << OPEN | 1u << SHUT },
	[OPEN] = { "open", 1u << OPEN | 1u << SHUT },
	[SHUT] = { "shut", 0 },
};

static void
only_what_the_table_allows_moves(void **state)
{
	static const int allowed[N_STATES][N_STATES] = {
		{ 0, 1, 1 },
		{ 0, 1, 1 },
		{ 0, 0, 0 },
	};

	for (uint32_t from = 0; from < N_STATES; from++) {
		for (uint32_t to = 0; to < N_STATES; to++) {
			struct cnc_sm sm;
			int r;

			cnc_sm_init(&sm, states, N_STATES, from);
			r = cnc_sm_move(&sm, to);
			assert_int_equal(
				r, allowed[from][to] ? CENOTE_OK : CENOTE_ERR_STATE);
			assert_int_equal(sm.state, allowed[from][to] ? to : from);
		}
	}
}

static void
states_outside_the_table_are_refused(void **state)
{
	static const uint32_t outside[] = { N_STATES, 31, 32, 33, UINT32_MAX };
	static const struct cnc_sm_state open_ended[] = { { "all", UINT32_MAX } };
	struct cnc_sm sm;

	cnc_sm_init(&sm, open_ended, 1, 0);
	for (size_t i = 0; i < CNT_COUNT(outside); i++)
		assert_int_equal(cnc_sm_move(&sm, outside[i]), CENOTE_ERR_STATE);
	assert_ok(cnc_sm_move(&sm, 0));
}

static void
the_last_of_32_states_can_be_reached(void **state)
{
	static struct cnc_sm_state many[32];
	struct cnc_sm sm;

	many[0].next = 1u << 31;
	many[31].name = "last";
	cnc_sm_init(&sm, many, 32, 0);
	assert_int_equal(cnc_sm_move(&sm, 30), CENOTE_ERR_STATE);
	assert_ok(cnc_sm_move(&sm, 31));
	assert_string_equal(cnc_sm_name(&sm, sm.state), "last");
}

static void
names_come_from_the_table(void **state)
{
	struct cnc_sm sm;

	cnc_sm_init(&sm, states, N_STATES, NEW);
	assert_string_equal(cnc_sm_name(&sm, SHUT), "shut");
	assert_string_equal(cnc_sm_name(&sm, N_STATES), "unknown state");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_table_allows_moves),
		cmocka_unit_test(states_outside_the_table_are_refused),
		cmocka_unit_test(the_last_of_32_states_can_be_reached),
		cmocka_unit_test(names_come_from_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
