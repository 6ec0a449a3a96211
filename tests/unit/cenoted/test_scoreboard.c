/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scoreboard.h"

#define N_SLOTS 130u

static int
setup(void **state)
{
	*state = cnd_scoreboard_create(N_SLOTS);
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	cnd_scoreboard_destroy(*state);
	return 0;
}

static void
slots_are_given_out_until_there_are_no_more(void **state)
{
	struct cnd_scoreboard *b = *state;

	for (uint32_t i = 0; i < N_SLOTS; i++)
		assert_int_equal(cnd_slot_take(b, 1), i);
	assert_int_equal(cnd_slot_take(b, 1), -1);
	cnd_slot_release(b, 77);
	assert_int_equal(cnd_slot_take(b, 1), 77);
}

static void
the_last_idle_worker_knows_that_it_was(void **state)
{
	struct cnd_scoreboard *b = *state;

	for (uint32_t i = 0; i < N_SLOTS; i++)
		cnd_slot_take(b, 3);
	assert_false(cnd_pool_has_idle(&b->pools[3]));
	/* bits in different words */
	cnd_slot_publish(b, 2, CND_SLOT_IDLE);
	cnd_slot_publish(b, 129, CND_SLOT_IDLE);
	assert_true(cnd_pool_has_idle(&b->pools[3]));
	assert_int_equal(cnd_slot_publish(b, 2, CND_SLOT_OPENING), 0);
	assert_true(cnd_pool_has_idle(&b->pools[3]));
	assert_int_equal(cnd_slot_publish(b, 129, CND_SLOT_OPENING), 1);
	assert_false(cnd_pool_has_idle(&b->pools[3]));
	/* only leaving IDLE counts */
	assert_int_equal(cnd_slot_publish(b, 129, CND_SLOT_ATTACHED), 0);
}

static void
an_idle_worker_is_claimed_once(void **state)
{
	struct cnd_scoreboard *b = *state;

	cnd_slot_take(b, 3);
	assert_false(cnd_slot_claim(b, 0));
	cnd_slot_publish(b, 0, CND_SLOT_IDLE);
	assert_true(cnd_slot_claim(b, 0));
	assert_false(cnd_slot_claim(b, 0));
	assert_false(cnd_pool_has_idle(&b->pools[3]));
	cnd_slot_unclaim(b, 0);
	assert_true(cnd_slot_claim(b, 0));
	/* the last that was idle, also if it was claimed */
	assert_int_equal(cnd_slot_publish(b, 0, CND_SLOT_OPENING), 1);
	cnd_slot_publish(b, 0, CND_SLOT_IDLE);
	assert_true(cnd_slot_claim(b, 0));
}

static void
a_worker_that_dies_idle_is_not_idle_any_more(void **state)
{
	struct cnd_scoreboard *b = *state;
	int slot = cnd_slot_take(b, 0);

	cnd_slot_publish(b, (uint32_t)slot, CND_SLOT_IDLE);
	cnd_slot_release(b, (uint32_t)slot);
	assert_false(cnd_pool_has_idle(&b->pools[0]));
	assert_int_equal(b->slots[slot].state, CND_SLOT_FREE);
}

static struct cnd_slot *
lend(struct cnd_scoreboard *b, uint32_t *ret_slot, uint64_t *ret_session)
{
	int slot = cnd_slot_take(b, 0);
	struct cnd_slot *s = &b->slots[slot];

	s->generation = 5;
	s->key = 99;
	*ret_slot = (uint32_t)slot;
	*ret_session = cnd_session_number((uint32_t)slot, 5);
	return s;
}

static void
a_session_is_found_by_number_and_key_only(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint32_t slot;
	uint64_t session;
	struct cnd_slot *s = lend(b, &slot, &session);

	assert_ptr_equal(cnd_slot_find(b, session, 99), s);
	assert_null(cnd_slot_find(b, session, 98));
	assert_null(cnd_slot_find(b, cnd_session_number(slot, 4), 99));
	assert_null(cnd_slot_find(b, cnd_session_number(N_SLOTS, 5), 99));
	s->key = 0;
	assert_null(cnd_slot_find(b, session, 0));
}

static void
a_cancel_hits_what_runs_up_to_its_request(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint32_t slot;
	uint64_t session;
	struct cnd_slot *s = lend(b, &slot, &session);

	assert_int_equal(cnd_slot_cancel(s, session, 0), 0);
	s->request = 7;
	assert_int_equal(cnd_slot_cancel(s, session, 7), 1);
	assert_true(cnd_slot_take_cancel(s, s->request));
	/* once */
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 7), 1);
	s->finished = 7;
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* the next one is another */
	s->request = 8;
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 7), 0);
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* of several that were asked together it hits the one that runs */
	assert_int_equal(cnd_slot_cancel(s, session, 9), 1);
	assert_true(cnd_slot_take_cancel(s, s->request));
	s->finished = 8;
	s->request = 9;
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* the server may be at any of those that it has: all of them are meant, or none is hit */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	assert_false(cnd_slot_take_cancel(s, 11));
	assert_true(cnd_slot_take_cancel(s, 10));
	/* one that was not yet read is cancelled when it begins */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	s->finished = 9;
	assert_false(cnd_slot_take_cancel(s, s->request));
	s->request = 10;
	assert_true(cnd_slot_take_cancel(s, s->request));
	/* and the next client's request of that number is not touched */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	s->generation = 6;
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 10), 0);
}

static void
a_request_number_may_go_round(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint32_t slot;
	uint64_t session;
	struct cnd_slot *s = lend(b, &slot, &session);

	s->finished = UINT32_MAX;
	assert_int_equal(cnd_slot_cancel(s, session, 1), 1);
	assert_int_equal(cnd_slot_cancel(s, session, UINT32_MAX), 0);
}

static void
idle_workers_leave_down_to_the_least(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_pool_record *p = &b->pools[0];

	p->live = 4;
	p->min_sessions = 2;
	for (int i = 0; i < 4; i++)
		cnd_slot_take(b, 0);
	assert_int_equal(cnd_pool_leave(b, 0), 1);
	assert_int_equal(cnd_pool_leave(b, 1), 1);
	assert_int_equal(cnd_pool_leave(b, 2), 0);
	/* one of them is gone; another one died without having left */
	cnd_slot_release(b, 0);
	p->live = 3;
	assert_int_equal(cnd_pool_leave(b, 2), 0);
	cnd_slot_release(b, 3);
	assert_int_equal(p->leaving, 1);
}

static void
a_census_counts_the_pools_own(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_census c;

	for (int i = 0; i < 6; i++)
		cnd_slot_take(b, i < 5 ? 2 : 3);
	cnd_slot_publish(b, 0, CND_SLOT_IDLE);
	cnd_slot_publish(b, 1, CND_SLOT_ATTACHED);
	cnd_slot_publish(b, 2, CND_SLOT_SUSPENDED);
	cnd_slot_publish(b, 3, CND_SLOT_FAILING);
	cnd_pool_census(b, 2, &c);
	assert_int_equal(c.live, 5);
	assert_int_equal(c.in_use, 2);
	assert_int_equal(c.n[CND_SLOT_IDLE], 1);
	assert_int_equal(c.n[CND_SLOT_STARTING], 1);
	assert_int_equal(c.failing_slot, 3);
	cnd_pool_census(b, 3, &c);
	assert_int_equal(c.live, 1);
	assert_int_equal(c.failing_slot, -1);
}

static void
a_ticket_is_taken_or_given_up_but_not_both(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint64_t serial;
	int ticket = cnd_ticket_take(b, 10, &serial);

	assert_int_equal(ticket, 10);
	assert_int_equal(cnd_ticket_move(b, 10, serial, CND_TICKET_TAKEN), 1);
	assert_int_equal(cnd_ticket_move(b, 10, serial, CND_TICKET_GIVEN_UP), 0);
	assert_int_equal(cnd_ticket_state(b, 10), CND_TICKET_TAKEN);
	cnd_ticket_release(b, 10);
	/* a message of the old one still lies in the queue */
	assert_int_equal(cnd_ticket_take(b, 10, &(uint64_t){ 0 }), 10);
	assert_int_equal(cnd_ticket_move(b, 10, serial, CND_TICKET_TAKEN), 0);
	assert_int_equal(cnd_ticket_move(b, CND_TICKETS, serial, CND_TICKET_TAKEN), 0);
}

static void
tickets_run_out(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint64_t serial;

	for (uint32_t i = 0; i < CND_TICKETS; i++)
		assert_true(cnd_ticket_take(b, i, &serial) >= 0);
	assert_int_equal(cnd_ticket_take(b, 0, &serial), -1);
	cnd_tickets_reset(b);
	assert_int_equal(cnd_ticket_take(b, CND_TICKETS + 3, &serial), 3);
}

/* Of many processes that grab at many tickets, exactly one gets each. */
static void
each_ticket_goes_to_one_process(void **state)
{
	enum {
		N_PROCESSES = 4,
		N_TICKETS = 2000
	};
	struct cnd_scoreboard *b = *state;
	uint64_t serials[N_TICKETS];
	pid_t pids[N_PROCESSES];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < N_TICKETS; i++)
		assert_int_equal(cnd_ticket_take(b, i, &serials[i]), i);
	for (int p = 0; p < N_PROCESSES; p++) {
		pids[p] = fork();
		if (pids[p] != 0)
			continue;
		for (uint32_t i = 0; i < N_TICKETS; i++) {
			if (cnd_ticket_move(b, i, serials[i], CND_TICKET_TAKEN))
				b->slots[p].requests++;
		}
		_exit(0);
	}
	for (int p = 0; p < N_PROCESSES; p++) {
		assert_int_equal(waitpid(pids[p], NULL, 0), pids[p]);
		sum += b->slots[p].requests;
	}
	assert_int_equal(sum, N_TICKETS);
}

static void
a_reader_never_sees_half_an_identity(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_slot *s = &b->slots[0];
	struct cnd_identity id = { .uid = 0 };
	pid_t writer;

	cnd_slot_set_identity(s, &id);
	writer = fork();
	if (writer == 0) {
		for (int i = 0; i < 200000; i++) {
			struct cnd_identity mine;

			memset(&mine, i & 1 ? 'a' : 'b', sizeof(mine));
			mine.user[63] = mine.program[31] = mine.application[63] = '\0';
			cnd_slot_set_identity(s, &mine);
		}
		_exit(0);
	}
	while (waitpid(writer, NULL, WNOHANG) == 0) {
		cnd_slot_identity(s, &id);
		assert_int_equal(id.user[0], id.application[62]);
		assert_int_equal(id.user[0], id.program[0]);
	}
}

static void
every_state_has_a_name_and_no_way_back_from_the_end(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CND_SLOT_STATES; i++)
		assert_non_null(cnd_slot_states[i].name);
	assert_int_equal(cnd_slot_states[CND_SLOT_ENDING].next, 1u << CND_SLOT_FREE);
	/* a lent session is never lent on without having been made fresh */
	assert_false(cnd_slot_states[CND_SLOT_ATTACHED].next & 1u << CND_SLOT_IDLE);
	assert_false(cnd_slot_states[CND_SLOT_SUSPENDED].next & 1u << CND_SLOT_IDLE);
	assert_false(cnd_slot_states[CND_SLOT_ATTACHED].next & 1u << CND_SLOT_OPENING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slots_are_given_out_until_there_are_no_more),
		TEST(the_last_idle_worker_knows_that_it_was),
		TEST(an_idle_worker_is_claimed_once),
		TEST(a_worker_that_dies_idle_is_not_idle_any_more),
		TEST(a_session_is_found_by_number_and_key_only),
		TEST(a_cancel_hits_what_runs_up_to_its_request),
		TEST(a_request_number_may_go_round),
		TEST(idle_workers_leave_down_to_the_least),
		TEST(a_census_counts_the_pools_own),
		TEST(a_ticket_is_taken_or_given_up_but_not_both),
		TEST(tickets_run_out),
		TEST(each_ticket_goes_to_one_process),
		TEST(a_reader_never_sees_half_an_identity),
		TEST(every_state_has_a_name_and_no_way_back_from_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
