/* SPDX-License-Identifier: BSD-2-Clause */
/* Which events of a pool are reported, and how often. The test sets the clock. */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alerts/watch.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define START  (10 * MINUTE)

static struct cnd_watch watch;
static struct cnd_pool_config pool;
static struct cnd_config config;
static char told[2048]; /* "EVENT POOL\n" of each alert */
static char text[256]; /* of the last alert */
static int64_t now;

static int
setup(void **state)
{
	struct cnd_scoreboard *b = cnd_scoreboard_create(4);
	struct cnd_pool_head *head;

	if (b == NULL)
		return -1;
	head = cnd_pool_head(b, 0);
	head->is_used = 1;
	head->max_sessions = 2;
	snprintf(head->name, sizeof(head->name), "app");
	for (uint32_t slot = 0; slot < 2; slot++) {
		cnd_slot_begin(b, slot, 0);
		cnd_slot_head(b, slot)->pid = getpid();
		cnd_slot_publish(b, slot, CND_SLOT_IDLE);
	}
	head->live = 2;
	memset(&watch, 0, sizeof(watch));
	pool = (struct cnd_pool_config){ .name = (char *)(uintptr_t) "app" };
	config = (struct cnd_config){ .pools = &pool, .n_pools = 1 };
	now = START;
	told[0] = '\0';
	*state = b;
	return 0;
}

static int
teardown(void **state)
{
	cnd_scoreboard_destroy(*state);
	return 0;
}

static void
on_alert(void *user, const struct cnd_alert *alert)
{
	size_t n = strlen(told);

	(void)user;
	snprintf(told + n, sizeof(told) - n, "%s %s\n", cnd_event_name(alert->event),
		alert->pool);
	snprintf(text, sizeof(text), "%s", alert->text);
}

/* Look once a second for this time. */
static void
look_for(struct cnd_scoreboard *b, int64_t ms)
{
	for (int64_t until = now + ms; now < until; now += SECOND)
		cnd_watch_look(&watch, b, &config, START, now, on_alert, NULL);
}

static void
set_states(struct cnd_scoreboard *b, uint32_t state)
{
	for (uint32_t slot = 0; slot < 2; slot++)
		cnd_slot_at(b, slot)->state = state;
}

static void
a_healthy_pool_is_no_news(void **state)
{
	look_for(*state, MINUTE);
	set_states(*state, CND_SLOT_ATTACHED);
	look_for(*state, MINUTE);
	assert_string_equal(told, "");
}

static void
a_server_is_told_down_and_up_once(void **state)
{
	set_states(*state, CND_SLOT_FAILING);
	look_for(*state, 2 * SECOND);
	set_states(*state, CND_SLOT_IDLE);
	look_for(*state, SECOND);
	set_states(*state, CND_SLOT_FAILING);
	look_for(*state, 3 * SECOND);
	assert_string_equal(told, "");
	look_for(*state, 20 * MINUTE);
	assert_string_equal(told, "server_down app\n");
	assert_string_equal(
		text, "pool app cannot log in to its server; the log has the reason");
	/* a pool that tries to log in is not up */
	set_states(*state, CND_SLOT_STARTING);
	look_for(*state, MINUTE);
	assert_string_equal(told, "server_down app\n");
	set_states(*state, CND_SLOT_IDLE);
	look_for(*state, MINUTE);
	assert_string_equal(told, "server_down app\nserver_up app\n");
}

static void
a_server_that_flaps_is_told_every_five_minutes(void **state)
{
	int n = 0;

	for (int i = 0; i < 60; i++) {
		set_states(*state, CND_SLOT_FAILING);
		look_for(*state, 5 * SECOND);
		set_states(*state, CND_SLOT_IDLE);
		look_for(*state, 5 * SECOND);
	}
	for (const char *p = told; (p = strstr(p, "server_down")) != NULL; p++)
		n++;
	assert_in_range(n, 2, 3);
}

static void
an_exhausted_pool_is_told_after_ten_seconds(void **state)
{
	set_states(*state, CND_SLOT_ATTACHED);
	cnd_pool_record(*state, 0)->waiting = 7;
	look_for(*state, 10 * SECOND);
	assert_string_equal(told, "");
	look_for(*state, 2 * SECOND);
	assert_string_equal(told, "pool_exhausted app\n");
	assert_string_equal(
		text, "all 2 sessions of pool app are in use, and 7 clients wait");
	look_for(*state, 4 * MINUTE);
	assert_string_equal(told, "pool_exhausted app\n");
	look_for(*state, 2 * MINUTE);
	assert_string_equal(told, "pool_exhausted app\npool_exhausted app\n");
	/* a moment without waiting clients begins the ten seconds anew */
	told[0] = '\0';
	for (int i = 0; i < 100; i++) {
		cnd_pool_record(*state, 0)->waiting = 0;
		look_for(*state, SECOND);
		cnd_pool_record(*state, 0)->waiting = 7;
		look_for(*state, 9 * SECOND);
	}
	assert_string_equal(told, "");
}

static void
many_refused_logins_are_told(void **state)
{
	struct cnd_pool_record *record = cnd_pool_record(*state, 0);

	record->refused_logins = 2000;
	look_for(*state, SECOND);
	/* the counter of another pool */
	record->refused_logins = 1000;
	look_for(*state, SECOND);
	/* 19 in each minute */
	for (int i = 0; i < 5; i++) {
		record->refused_logins += 19;
		look_for(*state, MINUTE);
	}
	assert_string_equal(told, "");
	record->refused_logins += 20;
	look_for(*state, MINUTE);
	assert_string_equal(told, "logins_refused app\n");
	record->refused_logins = 0;
	look_for(*state, 10 * MINUTE);
	assert_string_equal(told, "logins_refused app\n");
}

static void
a_certificate_is_told_once_a_day(void **state)
{
	snprintf(pool.tls.expires, sizeof(pool.tls.expires), "2027-01-01");
	pool.tls.days_left = 15;
	look_for(*state, MINUTE);
	assert_string_equal(told, "");
	now += (int64_t)2 * CND_WATCH_DAY_MS;
	look_for(*state, 10 * MINUTE);
	assert_string_equal(told, "certificate app\n");
	assert_string_equal(text, "the certificate of pool app expires on 2027-01-01");
	now += (int64_t)20 * CND_WATCH_DAY_MS;
	look_for(*state, 10 * MINUTE);
	assert_string_equal(told, "certificate app\ncertificate app\n");
	assert_string_equal(text, "the certificate of pool app expired on 2027-01-01");
}

static void
the_next_pool_of_a_place_begins_anew(void **state)
{
	struct cnd_pool_head *head = cnd_pool_head(*state, 0);

	set_states(*state, CND_SLOT_FAILING);
	look_for(*state, MINUTE);
	head->max_sessions = 0;
	look_for(*state, MINUTE);
	head->max_sessions = 2;
	snprintf(head->name, sizeof(head->name), "other");
	look_for(*state, MINUTE);
	assert_string_equal(told, "server_down app\nserver_down other\n");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_healthy_pool_is_no_news),
		TEST(a_server_is_told_down_and_up_once),
		TEST(a_server_that_flaps_is_told_every_five_minutes),
		TEST(an_exhausted_pool_is_told_after_ten_seconds),
		TEST(many_refused_logins_are_told),
		TEST(a_certificate_is_told_once_a_day),
		TEST(the_next_pool_of_a_place_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
