/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the clients of several users are served. */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "shared/turns.h"

#define N_USERS   4
#define N_CLIENTS 40

struct client {
	struct cnd_turn turn;
	int user;
};

static struct cnd_turns turns;
static struct cnd_turn_user users[N_USERS];
static struct client clients[N_CLIENTS];
static int n_clients;

static int
setup(void **state)
{
	memset(&turns, 0, sizeof(turns));
	memset(users, 0, sizeof(users));
	memset(clients, 0, sizeof(clients));
	n_clients = 0;
	return 0;
}

static struct client *
join(int user, unsigned list)
{
	struct client *c = &clients[n_clients++];

	assert_true(n_clients <= N_CLIENTS);
	c->user = user;
	cnd_turns_join(&turns, &users[user], list, &c->turn);
	return c;
}

static void
join_many(int user, unsigned list, int n)
{
	while (n-- > 0)
		(void)join(user, list);
}

/* Serve until nobody waits, and check which users had their turns. */
static void
expect(unsigned lists, const char *wanted)
{
	char got[N_CLIENTS + 1] = "";
	struct cnd_turn *t;
	size_t n = 0;

	while ((t = cnd_turns_next(&turns, lists)) != NULL) {
		got[n++] = (char)('a' + ((struct client *)t)->user);
		cnd_turns_serve(&turns, t);
	}
	got[n] = '\0';
	assert_string_equal(got, wanted);
}

static void
users_take_turns_and_the_clients_of_one_go_in_order(void **state)
{
	struct client *first = join(0, CND_TURNS_0);

	join_many(0, CND_TURNS_0, 3);
	join_many(1, CND_TURNS_0, 1);
	join_many(2, CND_TURNS_0, 2);
	assert_ptr_equal(cnd_turns_next(&turns, CND_TURNS_ALL), &first->turn);
	expect(CND_TURNS_ALL, "abcacaa");
}

static void
who_comes_later_is_behind_the_users_that_wait(void **state)
{
	join_many(0, CND_TURNS_0, 3);
	join_many(1, CND_TURNS_0, 3);
	cnd_turns_serve(&turns, cnd_turns_next(&turns, CND_TURNS_ALL));
	join_many(2, CND_TURNS_0, 2);
	expect(CND_TURNS_ALL, "bacbacb");
}

static void
who_leaves_has_no_turn(void **state)
{
	struct client *middle, *only;

	join_many(0, CND_TURNS_0, 1);
	middle = join(0, CND_TURNS_0);
	join_many(0, CND_TURNS_0, 1);
	only = join(1, CND_TURNS_0);
	cnd_turns_leave(&turns, &middle->turn);
	cnd_turns_leave(&turns, &only->turn);
	cnd_turns_leave(&turns, &only->turn);
	expect(CND_TURNS_ALL, "aa");
}

static void
a_user_that_is_skipped_goes_behind_the_others_with_its_clients(void **state)
{
	struct client *first = join(0, CND_TURNS_0);

	join_many(0, CND_TURNS_0, 1);
	join_many(1, CND_TURNS_0, 2);
	cnd_turns_skip(&turns, &first->turn);
	expect(CND_TURNS_ALL, "baba");
}

static void
the_order_goes_over_all_lists_that_count(void **state)
{
	join_many(0, CND_TURNS_0, 2);
	join_many(1, CND_TURNS_1, 2);
	join_many(2, CND_TURNS_0, 2);
	join_many(3, CND_TURNS_1, 2);
	expect(1u << CND_TURNS_1, "bdbd");
	join_many(1, CND_TURNS_1, 2);
	expect(CND_TURNS_ALL, "acbacb");
}

static void
high_goes_first_and_normal_does_not_starve(void **state)
{
	join_many(0, CND_TURNS_0, 2);
	join_many(1, CND_TURNS_HIGH | CND_TURNS_0, 8);
	join_many(2, CND_TURNS_HIGH | CND_TURNS_1, 8);
	expect(CND_TURNS_ALL, "bcbcbcb"
			      "a"
			      "cbcbcbc"
			      "a"
			      "bc");
}

#define T(name) cmocka_unit_test_setup(name, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(users_take_turns_and_the_clients_of_one_go_in_order),
		T(who_comes_later_is_behind_the_users_that_wait),
		T(who_leaves_has_no_turn),
		T(a_user_that_is_skipped_goes_behind_the_others_with_its_clients),
		T(the_order_goes_over_all_lists_that_count),
		T(high_goes_first_and_normal_does_not_starve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
