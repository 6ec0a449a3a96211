/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

/* What a client does, and what the next one must find as a new login does. */
static const struct {
	const char *act;
	const char *probe;
	const char *expected;
} cases[] = {
	{ "set work_mem = '1MB'; set timezone = 'Asia/Tokyo'; set datestyle = 'german'",
		"select current_setting('work_mem'), current_setting('datestyle')",
		"row 4MB|ISO, MDY\n" },
	{ "set session characteristics as transaction read only",
		"show default_transaction_read_only", "row off\n" },
	{ "set role pg_monitor", "select current_user", "row app\n" },
	{ "set my.own = 'x'", "select current_setting('my.own', true)", "row " },
	{ "create temp table mine (a int)", "select * from mine", "error 42P01" },
	{ "prepare p as select 1", "execute p", "error 26000" },
	{ "declare h cursor with hold for select 1", "fetch h", "error 34000" },
	{ "listen ch", "select count(*) from pg_listening_channels()", "row 0\n" },
	{ "select pg_advisory_lock(7)",
		"select count(*) from pg_locks where locktype = 'advisory'", "row 0\n" },
	{ "create temp sequence q; select nextval('q')", "select lastval()",
		"error 55000" },
	{ "begin; create table left_behind (a int)", "select * from left_behind",
		"error 42P01" },
	{ "begin; select 1/0", "select 1 as a", "row 1\n" },
	{ "select setseed(0.5)",
		"select random() between 0.249 and 0.2499 and false as drawn",
		"row f\n" },
	{ "load 'auto_explain'", "select 1 as a", "row 1\n" },
};

static void
what_a_client_leaves_is_gone(void **state)
{
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)pg_query(t, cases[i].act);
		assert_string_equal(pg_reset(t), "");
		assert_int_equal(t->last, CENOTE_OK);
		assert_string_equal(pg_state(t), "idle pins=0");
		if (strstr(pg_query(t, cases[i].probe), cases[i].expected) == NULL)
			fail_msg("after \"%s\": %s", cases[i].act, t->seen.log);
	}
}

static void
the_seed_is_not_the_last_clients(void **state)
{
	struct pg *t = *state;
	char first[128];

	for (int i = 0; i < 2; i++) {
		(void)pg_query(t, "select setseed(0.25)");
		(void)pg_reset(t);
		(void)pg_query(t, "select random()");
		if (i == 0)
			snprintf(first, sizeof(first), "%s", t->seen.log);
		else
			assert_string_not_equal(t->seen.log, first);
		(void)pg_reset(t);
	}
}

static void
statements_without_a_name_are_gone(void **state)
{
	struct pg *t = *state;

	(void)pg_prepare(t, 0, "", "select 'secret' as s");
	(void)pg_reset(t);
	assert_non_null(strstr(pg_execute(t, 0, "", 0, NULL, 0), "error 26000"));
	/* a query in the extended form leaves one, too */
	t->is_extended = 1;
	(void)pg_query(t, "select 1 as a");
	(void)pg_reset(t);
	assert_non_null(strstr(pg_execute(t, 0, "", 0, NULL, 0), "error 26000"));
	(void)pg_prepare(t, 5, "", "select 1");
	(void)pg_prepare(t, 6, "mine", "select 1");
	(void)pg_reset(t);
	assert_non_null(strstr(pg_execute(t, 5, "", 0, NULL, 0), "error 26000"));
	assert_non_null(strstr(pg_query(t, "execute mine"), "error 26000"));
	assert_non_null(strstr(pg_query(t, "execute cenote_5"), "error 26000"));
}

static void
autocommit_is_on_again(void **state)
{
	struct pg *t = *state;

	(void)pg_autocommit(t, 0);
	(void)pg_query(t, "select 1");
	assert_string_equal(pg_state(t), "open pins=0");
	(void)pg_reset(t);
	(void)pg_query(t, "select 1");
	assert_string_equal(pg_state(t), "idle pins=0");
}

static void
a_unit_without_its_end_is_undone(void **state)
{
	struct pg *t = *state;

	(void)pg_query(t, "create table unit (a int)");
	t->is_extended = 1;
	t->no_sync = 1;
	(void)pg_query(t, "insert into unit values (1)");
	(void)pg_query(t, "select nope");
	assert_string_equal(pg_reset(t), "");
	(void)pg_query(t, "select 1 as a");
	(void)pg_query(t, "insert into unit values (2)");
	assert_string_equal(pg_reset(t), "");
	t->no_sync = 0;
	assert_non_null(strstr(pg_query(t, "select count(*) from unit"), "row 0\n"));
	(void)pg_query(t, "drop table unit");
}

static uint32_t
pins_of(struct pg *t)
{
	struct cnd_state state;

	t->b->state(t->s, &state);
	return state.pins;
}

static void
the_server_is_asked_what_functions_have_left(void **state)
{
	static const struct {
		const char *body;
		uint32_t pin;
	} left[] = {
		{ "null", 0 },
		{ "create temp table hidden (a int)", CENOTE_PIN_TEMP },
		{ "perform set_config('work_mem', '1MB', false)", CENOTE_PIN_SETTINGS },
		{ "perform pg_advisory_lock(1)", CENOTE_PIN_LOCK },
		/* No list of the server's has these. */
		{ "perform set_config('app.tenant', '5', false)", CENOTE_PIN_SETTINGS },
		{ "set app.tenant = 5", CENOTE_PIN_SETTINGS },
		{ "execute 'set ' || 'app.tenant = 5'", CENOTE_PIN_SETTINGS },
		{ "perform set_config('app.tenant', '5', true)", 0 },
		{ "set local app.tenant = 5", 0 },
		{ "listen hidden", CENOTE_PIN_LISTEN },
		{ "execute 'prepare hidden as select 1'", CENOTE_PIN_PREPARED },
		{ "execute 'declare c cursor with hold for select 1'",
			CENOTE_PIN_CURSOR },
	};
	struct pg *t = *state;
	char sql[256];

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		snprintf(sql, sizeof(sql),
			"create or replace function leave() returns void language plpgsql"
			" as $$ begin %s; end $$",
			left[i].body);
		(void)pg_query(t, sql);
		(void)pg_reset(t);
		(void)pg_query(t, "select leave()");
		if (t->last == CENOTE_OK)
			assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
		assert_int_equal(t->b->settle(t->s, &t->diag), CENOTE_OK);
		if (t->last == CENOTE_OK)
			assert_int_equal(pins_of(t), left[i].pin);
		assert_string_equal(pg_reset(t), "");
		assert_int_equal(pins_of(t), 0);
	}
	(void)pg_query(t, "drop function leave()");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, pg_test_setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_a_client_leaves_is_gone),
		TEST(the_seed_is_not_the_last_clients),
		TEST(statements_without_a_name_are_gone),
		TEST(autocommit_is_on_again),
		TEST(the_server_is_asked_what_functions_have_left),
		TEST(a_unit_without_its_end_is_undone),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
