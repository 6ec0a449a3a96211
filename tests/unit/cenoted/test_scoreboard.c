/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <signal.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/scoreboard.h"

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

/* Begin a slot of that pool like the master does, with this process as its worker. */
static void
begin(struct cnd_scoreboard *b, uint32_t slot, uint32_t pool)
{
	cnd_slot_begin(b, slot, pool);
	cnd_slot_head(b, slot)->pid = getpid();
}

static void
a_slot_begins_as_new(void **state)
{
	struct cnd_scoreboard *b = *state;

	begin(b, 77, 1);
	cnd_slot_at(b, 77)->requests = 3;
	cnd_slot_head(b, 77)->order = CND_ORDER_NOW;
	assert_int_equal(cnd_slot_at(b, 77)->state, CND_SLOT_STARTING);
	cnd_slot_release(b, 77);
	assert_int_equal(cnd_slot_at(b, 77)->state, CND_SLOT_FREE);
	begin(b, 77, 2);
	assert_int_equal(cnd_slot_at(b, 77)->requests, 0);
	assert_int_equal(cnd_slot_head(b, 77)->order, CND_ORDER_NONE);
	assert_int_equal(cnd_slot_head(b, 77)->pool, 2);
}

static void
the_last_idle_worker_knows_that_it_was(void **state)
{
	struct cnd_scoreboard *b = *state;

	for (uint32_t i = 0; i < N_SLOTS; i++)
		begin(b, i, 3);
	assert_false(cnd_pool_has_idle(cnd_pool_record(b, 3)));
	/* slots 2 and 129 have their idle bits in different words */
	cnd_slot_publish(b, 2, CND_SLOT_IDLE);
	cnd_slot_publish(b, 129, CND_SLOT_IDLE);
	assert_true(cnd_pool_has_idle(cnd_pool_record(b, 3)));
	assert_int_equal(cnd_slot_publish(b, 2, CND_SLOT_OPENING), 0);
	assert_true(cnd_pool_has_idle(cnd_pool_record(b, 3)));
	assert_int_equal(cnd_slot_publish(b, 129, CND_SLOT_OPENING), 1);
	assert_false(cnd_pool_has_idle(cnd_pool_record(b, 3)));
	/* 1 is returned only when a worker leaves IDLE */
	assert_int_equal(cnd_slot_publish(b, 129, CND_SLOT_ATTACHED), 0);
}

static void
an_idle_worker_is_claimed_once(void **state)
{
	struct cnd_scoreboard *b = *state;

	begin(b, 0, 3);
	assert_false(cnd_slot_claim(b, 0));
	cnd_slot_publish(b, 0, CND_SLOT_IDLE);
	assert_true(cnd_slot_claim(b, 0));
	assert_false(cnd_slot_claim(b, 0));
	assert_false(cnd_pool_has_idle(cnd_pool_record(b, 3)));
	cnd_slot_unclaim(b, 0);
	assert_true(cnd_slot_claim(b, 0));
	/* a claimed worker also counts as the last idle one */
	assert_int_equal(cnd_slot_publish(b, 0, CND_SLOT_OPENING), 1);
	cnd_slot_publish(b, 0, CND_SLOT_IDLE);
	assert_true(cnd_slot_claim(b, 0));
}

static void
a_worker_that_dies_idle_is_not_idle_any_more(void **state)
{
	struct cnd_scoreboard *b = *state;

	begin(b, 4, 0);
	cnd_slot_publish(b, 4, CND_SLOT_IDLE);
	cnd_slot_release(b, 4);
	assert_false(cnd_pool_has_idle(cnd_pool_record(b, 0)));
	assert_int_equal(cnd_slot_at(b, 4)->state, CND_SLOT_FREE);
}

static struct cnd_slot *
lend(struct cnd_scoreboard *b, uint32_t slot, uint64_t *ret_session)
{
	struct cnd_slot *s = cnd_slot_at(b, slot);

	begin(b, slot, 0);
	s->generation = 5;
	cnd_slot_set_key(b, slot, 99);
	*ret_session = cnd_session_number(slot, 5);
	return s;
}

static void
a_session_is_found_by_number_and_key_only(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint64_t session;
	struct cnd_slot *s = lend(b, 6, &session);

	assert_int_equal(cnd_slot_find(b, 0, session, 99), 6);
	assert_int_equal(cnd_slot_find(b, 0, session, 98), CND_BOARD_NONE);
	assert_int_equal(cnd_slot_find(b, 1, session, 99), CND_BOARD_NONE);
	assert_int_equal(
		cnd_slot_find(b, 0, cnd_session_number(6, 4), 99), CND_BOARD_NONE);
	assert_int_equal(
		cnd_slot_find(b, 0, cnd_session_number(N_SLOTS, 5), 99), CND_BOARD_NONE);
	assert_int_equal(cnd_slot_find(b, 0, session, 0), CND_BOARD_NONE);
	/* the key belongs to the session of generation 5, not to that of generation 7 */
	s->generation = 7;
	assert_int_equal(
		cnd_slot_find(b, 0, cnd_session_number(6, 7), 99), CND_BOARD_NONE);
	s->generation = 5;
	cnd_slot_set_key(b, 6, 0);
	assert_int_equal(cnd_slot_find(b, 0, session, 99), CND_BOARD_NONE);
	assert_int_equal(cnd_slot_find(b, 0, session, 0), CND_BOARD_NONE);
}

static void
a_cancel_hits_what_runs_up_to_its_request(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint64_t session;
	struct cnd_slot *s = lend(b, 6, &session);

	assert_int_equal(cnd_slot_cancel(s, session, 0), 0);
	s->request = 7;
	assert_int_equal(cnd_slot_cancel(s, session, 7), 1);
	assert_true(cnd_slot_take_cancel(s, s->request));
	/* a cancel hits once */
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 7), 1);
	s->finished = 7;
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* the next request is not cancelled */
	s->request = 8;
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 7), 0);
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* a cancel up to request 9 hits the request that runs */
	assert_int_equal(cnd_slot_cancel(s, session, 9), 1);
	assert_true(cnd_slot_take_cancel(s, s->request));
	s->finished = 8;
	s->request = 9;
	assert_false(cnd_slot_take_cancel(s, s->request));
	/* the server may be running any of the requests that it has, so the cancel must cover
	 * all of them */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	assert_false(cnd_slot_take_cancel(s, 11));
	assert_true(cnd_slot_take_cancel(s, 10));
	/* a request that was not yet read is cancelled when it begins */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	s->finished = 9;
	assert_false(cnd_slot_take_cancel(s, s->request));
	s->request = 10;
	assert_true(cnd_slot_take_cancel(s, s->request));
	/* a cancel does not hit the next client's request with the same number */
	assert_int_equal(cnd_slot_cancel(s, session, 10), 1);
	s->generation = 6;
	assert_false(cnd_slot_take_cancel(s, s->request));
	assert_int_equal(cnd_slot_cancel(s, session, 10), 0);
}

static void
a_request_number_may_go_round(void **state)
{
	struct cnd_scoreboard *b = *state;
	uint64_t session;
	struct cnd_slot *s = lend(b, 6, &session);

	s->finished = UINT32_MAX;
	assert_int_equal(cnd_slot_cancel(s, session, 1), 1);
	assert_int_equal(cnd_slot_cancel(s, session, UINT32_MAX), 0);
}

static void
idle_workers_leave_down_to_the_least(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_pool_head *head = cnd_pool_head(b, 0);

	head->live = 4;
	head->min_sessions = 2;
	for (uint32_t i = 0; i < 4; i++)
		begin(b, i, 0);
	assert_int_equal(cnd_pool_leave(b, 0), 1);
	assert_int_equal(cnd_pool_leave(b, 1), 1);
	assert_int_equal(cnd_pool_leave(b, 2), 0);
	/* one of the leaving workers is gone; another worker died without leaving */
	cnd_slot_release(b, 0);
	head->live = 3;
	assert_int_equal(cnd_pool_leave(b, 2), 0);
	cnd_slot_release(b, 3);
	assert_int_equal(cnd_pool_record(b, 0)->leaving, 1);
}

static void
a_census_counts_the_pools_own(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_census c;

	for (uint32_t i = 0; i < 6; i++)
		begin(b, i, i < 5 ? 2 : 3);
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
	struct cnd_pool_record *p = cnd_pool_record(*state, 3);
	uint64_t serial;
	int ticket = cnd_ticket_take(p, 10, &serial);

	assert_int_equal(ticket, 10);
	assert_int_equal(cnd_ticket_move(p, 10, serial, CND_TICKET_TAKEN), 1);
	assert_int_equal(cnd_ticket_move(p, 10, serial, CND_TICKET_GIVEN_UP), 0);
	assert_int_equal(cnd_ticket_state(p, 10), CND_TICKET_TAKEN);
	cnd_ticket_release(p, 10);
	/* a message of the old ticket is still in the queue */
	assert_int_equal(cnd_ticket_take(p, 10, &(uint64_t){ 0 }), 10);
	assert_int_equal(cnd_ticket_move(p, 10, serial, CND_TICKET_TAKEN), 0);
	assert_int_equal(cnd_ticket_move(p, CND_TICKETS, serial, CND_TICKET_TAKEN), 0);
}

static void
tickets_run_out(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_pool_record *p = cnd_pool_record(b, 3);
	uint64_t serial;

	cnd_pool_head(b, 3)->is_used = 1;
	for (uint32_t i = 0; i < CND_TICKETS; i++)
		assert_true(cnd_ticket_take(p, i, &serial) >= 0);
	assert_int_equal(cnd_ticket_take(p, 0, &serial), -1);
	cnd_tickets_reset(b);
	assert_int_equal(cnd_ticket_take(p, CND_TICKETS + 3, &serial), 3);
}

/* When many processes try to take many tickets, exactly one process gets each ticket. */
static void
each_ticket_goes_to_one_process(void **state)
{
	enum {
		N_PROCESSES = 4
	};
	struct cnd_scoreboard *b = *state;
	struct cnd_pool_record *p = cnd_pool_record(b, 3);
	uint64_t serials[CND_TICKETS];
	pid_t pids[N_PROCESSES];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < CND_TICKETS; i++)
		assert_int_equal(cnd_ticket_take(p, i, &serials[i]), i);
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		for (uint32_t j = 0; j < CND_TICKETS; j++) {
			if (cnd_ticket_move(p, j, serials[j], CND_TICKET_TAKEN))
				cnd_slot_at(b, i)->requests++;
		}
		_exit(0);
	}
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		sum += cnd_slot_at(b, i)->requests;
	}
	assert_int_equal(sum, CND_TICKETS);
}

static void
a_reader_never_sees_half_an_identity(void **state)
{
	struct cnd_scoreboard *b = *state;
	struct cnd_slot *s = cnd_slot_at(b, 0);
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

/* Write to `word` in a child; returns the signal that ended the child, or 0. */
static int
signal_of_write(void *word)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* cmocka has its own handler for SIGSEGV */
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint32_t *)word = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Confinement must hold even if a process asks the kernel for write access. */
static int
can_be_made_writable(void *word)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return mprotect((char *)word - (uintptr_t)word % page, page,
		       PROT_READ | PROT_WRITE) == 0;
}

static void
a_process_writes_no_more_than_its_own(void **state)
{
	struct cnd_scoreboard *b = *state;
	void *own[] = { cnd_pool_record(b, 3), &cnd_pool_record(b, 3)->tickets[7],
		cnd_slot_at(b, 5), &cnd_slot_at(b, 5)->login };
	void *others[] = { cnd_pool_head(b, 3), cnd_slot_head(b, 5),
		cnd_pool_record(b, 2), &cnd_pool_record(b, 2)->tickets[CND_TICKETS - 1],
		cnd_pool_record(b, 4), cnd_slot_at(b, 4), &cnd_slot_at(b, 4)->login,
		cnd_slot_at(b, 6), cnd_slot_at(b, N_SLOTS - 1) };

	cnd_slot_at(b, 6)->requests = 9;
	assert_int_equal(cnd_scoreboard_confine(b, 3, (uint32_t[]){ 5 }, 1), 0);
	for (size_t i = 0; i < CNT_COUNT(own); i++)
		assert_int_equal(signal_of_write(own[i]), 0);
	for (size_t i = 0; i < CNT_COUNT(others); i++) {
		assert_true(signal_of_write(others[i]) != 0);
		assert_false(can_be_made_writable(others[i]));
	}
	/* the process can read other slots */
	assert_int_equal(cnd_slot_at(b, 6)->requests, 9);
}

static void
a_shared_process_writes_the_slots_of_its_list(void **state)
{
	struct cnd_scoreboard *b = *state;
	const uint32_t slots[] = { 0, 3, 4, N_SLOTS - 1 };
	const uint32_t others[] = { 1, 2, 5, N_SLOTS - 2 };

	assert_int_equal(cnd_scoreboard_confine(b, 3, slots, CNT_COUNT(slots)), 0);
	assert_int_equal(signal_of_write(cnd_pool_record(b, 3)), 0);
	for (size_t i = 0; i < CNT_COUNT(slots); i++) {
		assert_int_equal(signal_of_write(cnd_slot_at(b, slots[i])), 0);
		assert_int_equal(signal_of_write(&cnd_slot_at(b, slots[i])->login), 0);
		assert_true(signal_of_write(cnd_slot_head(b, slots[i])) != 0);
	}
	for (size_t i = 0; i < CNT_COUNT(others); i++) {
		assert_true(signal_of_write(cnd_slot_at(b, others[i])) != 0);
		assert_false(can_be_made_writable(cnd_slot_at(b, others[i])));
	}
}

static void
a_list_of_slots_is_in_order_and_in_the_memory(void **state)
{
	struct cnd_scoreboard *b = *state;
	const uint32_t lists[][2] = { { 4, 3 }, { 3, 3 }, { 3, N_SLOTS } };

	for (size_t i = 0; i < CNT_COUNT(lists); i++) {
		int fd = dup(b->fd);

		assert_int_equal(cnd_scoreboard_confine(b, 3, lists[i], 2), -EINVAL);
		b->fd = fd;
	}
}

static void
the_door_writes_all_but_what_is_the_masters(void **state)
{
	struct cnd_scoreboard *b = *state;

	assert_int_equal(cnd_scoreboard_confine(b, CND_BOARD_ALL, NULL, 0), 0);
	assert_int_equal(signal_of_write(cnd_slot_at(b, N_SLOTS - 1)), 0);
	assert_int_equal(signal_of_write(cnd_pool_record(b, CND_POOL_RECORD - 1)), 0);
	assert_true(signal_of_write(cnd_slot_head(b, 0)) != 0);
	assert_false(can_be_made_writable(cnd_pool_head(b, 0)));
}

static void
a_helper_writes_nothing(void **state)
{
	struct cnd_scoreboard *b = *state;

	assert_int_equal(cnd_scoreboard_confine(b, CND_BOARD_NONE, NULL, 0), 0);
	assert_true(signal_of_write(cnd_pool_head(b, 0)) != 0);
	assert_true(signal_of_write(cnd_pool_record(b, 0)) != 0);
	assert_true(signal_of_write(cnd_slot_at(b, N_SLOTS - 1)) != 0);
}

static void
a_text_without_an_end_gets_one(void **state)
{
	struct cnd_slot *s = cnd_slot_at(*state, 0);
	struct cnd_identity id;
	struct cnd_login login;

	memset(&s->identity, 'x', sizeof(s->identity));
	memset(&s->login, 'x', sizeof(s->login));
	cnd_slot_identity(s, &id);
	cnd_slot_login(s, &login);
	assert_int_equal(strlen(id.user), sizeof(id.user) - 1);
	assert_int_equal(strlen(id.tls), sizeof(id.tls) - 1);
	assert_int_equal(strlen(login.sqlstate), sizeof(login.sqlstate) - 1);
	assert_int_equal(strlen(login.error), sizeof(login.error) - 1);
}

static void
every_state_has_a_name_and_no_way_back_from_the_end(void **state)
{
	for (uint32_t i = 0; i < CND_SLOT_STATES; i++)
		assert_non_null(cnd_slot_states[i].name);
	assert_int_equal(cnd_slot_states[CND_SLOT_ENDING].next, 1u << CND_SLOT_FREE);
	/* a session is always reset between two clients */
	assert_false(cnd_slot_states[CND_SLOT_ATTACHED].next & 1u << CND_SLOT_IDLE);
	assert_false(cnd_slot_states[CND_SLOT_SUSPENDED].next & 1u << CND_SLOT_IDLE);
	assert_false(cnd_slot_states[CND_SLOT_ATTACHED].next & 1u << CND_SLOT_OPENING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slot_begins_as_new),
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
		TEST(a_process_writes_no_more_than_its_own),
		TEST(a_shared_process_writes_the_slots_of_its_list),
		TEST(a_list_of_slots_is_in_order_and_in_the_memory),
		TEST(the_door_writes_all_but_what_is_the_masters),
		TEST(a_helper_writes_nothing),
		TEST(a_text_without_an_end_gets_one),
		TEST(every_state_has_a_name_and_no_way_back_from_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
