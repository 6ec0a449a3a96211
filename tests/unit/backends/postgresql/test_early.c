/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reset that goes to the server in one write with the client's last request (reset.c). The host says that the client's turn
 * ends. The next client must see nothing of the one before it, also if code that the proof does not know yet has left
 * something: proof.c says that this is possible for a second.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static int ends_turn;

static int
on_ends_turn(const struct cnd_host *host)
{
	(void)host;
	return ends_turn;
}

static int
setup(void **state)
{
	int r = pg_test_setup(state);
	struct pg *t = *state;

	ends_turn = 0;
	t->base.host.ends_turn = on_ends_turn;
	return r;
}

static struct cnd_state
state_of(struct pg *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return state;
}

static void
do_sql(struct pg *t, const char *sql)
{
	(void)pg_query(t, sql);
	if (t->base.last != CENOTE_OK)
		fail_msg("%s: %s", sql, t->base.seen.log);
}

static void
from_outside(const char *sql)
{
	if (cnt_server_sql(&pg_server, sql) != 0)
		fail_msg("%s", sql);
}

/* The session proves that the database's code is harmless. The turn of the next client begins. */
static void
prove(struct pg *t)
{
	ends_turn = 0;
	(void)pg_reset(t);
	assert_ok(t->base.last);
	do_sql(t, "select count(*) from pg_class");
	assert_ok(pg_settle(t));
	(void)pg_reset(t);
	assert_ok(t->base.last);
}

/* Run a text as the last one of a client. 0: the second of the proof was over, so the reset did not go along. */
static int
is_early_after(struct pg *t, const char *sql)
{
	ends_turn = 1;
	do_sql(t, sql);
	ends_turn = 0;
	return state_of(t).is_over;
}

static void
must_be_early(struct pg *t, const char *sql)
{
	for (int i = 0; i < 10; i++) {
		prove(t);
		if (is_early_after(t, sql))
			return;
	}
	fail_msg("the reset did not go along with: %s", sql);
}

/* ---- when the reset goes along ---- */

static void
the_last_request_takes_the_reset_along(void **state)
{
	static const char *const acts[] = { "select count(*) from pg_class",
		"insert into item values (1)", "update item set a = 2",
		"select 1 + 1; insert into item values (3)" };
	struct pg *t = *state;

	do_sql(t, "create table item (a int)");
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		for (t->base.is_extended = 0; t->base.is_extended < 2;
			t->base.is_extended++) {
			if (t->base.is_extended && strchr(acts[i], ';') != NULL)
				continue;
			must_be_early(t, acts[i]);
			/* its answers are not the client's */
			assert_int_equal(t->base.b->fd(t->base.s), -1);
			assert_ok(t->base.b->idle(t->base.s, &t->base.seen.sink));
			assert_string_equal(pg_reset(t), "");
			assert_ok(t->base.last);
			assert_false(state_of(t).is_over);
		}
	}
	t->base.is_extended = 0;
	assert_non_null(strstr(pg_query(t, "select max(a) from item"), "row 3\n"));
	do_sql(t, "drop table item");
}

static void
the_end_of_a_transaction_takes_the_reset_along(void **state)
{
	static const char *const ends[] = { "commit", "END work;", "rollback",
		"/* x */ abort transaction", "" };
	struct pg *t = *state;

	do_sql(t, "create table item (a int)");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		for (int n = 0; n == 0 || !state_of(t).is_over; n++) {
			assert_in_range(n, 0, 10);
			(void)pg_reset(t);
			prove(t);
			ends_turn = 1;
			(void)pg_begin(t, 0, 0);
			do_sql(t, "insert into item values (1)");
			assert_false(state_of(t).is_over);
			if (*ends[i] != '\0')
				do_sql(t, ends[i]);
			else
				(void)pg_commit(t);
			assert_ok(t->base.last);
		}
		assert_string_equal(pg_state(t), "idle pins=0");
		assert_string_equal(pg_reset(t), "");
		assert_ok(t->base.last);
		ends_turn = 0;
	}
	assert_non_null(strstr(pg_query(t, "select count(*) > 2 from item"), "row t\n"));
	do_sql(t, "drop table item");
}

/* After these, the client may hold something, or a transaction is open, or there is nothing to reset. */
static void
other_requests_do_not(void **state)
{
	static const char *const acts[] = { "select 1", "begin", "set work_mem = '1MB'",
		"create table made (a int)", "drop table made",
		"select pg_advisory_lock(1)", "create temp table made (a int)",
		"prepare q as select 1", "listen news", "do $$ begin end $$",
		"copy (select 1) to stdout", "begin; select count(*) from pg_class",
		"select set_config('app.x', '1', false)",
		"begin; declare c cursor with hold for select 1; commit" };
	static const char *const in_transaction[] = { "select count(*) from pg_class",
		"commit and chain", "savepoint a", "commit; begin",
		"prepare transaction 'x'" };
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		prove(t);
		if (is_early_after(t, acts[i]))
			fail_msg("the reset went along with: %s", acts[i]);
	}
	for (size_t i = 0; i < sizeof(in_transaction) / sizeof(in_transaction[0]); i++) {
		prove(t);
		do_sql(t, "begin; select count(*) from pg_class");
		ends_turn = 1;
		(void)pg_query(t, in_transaction[i]);
		if (state_of(t).is_over)
			fail_msg("the reset went along with: %s", in_transaction[i]);
	}
}

/* ---- what the next client sees ---- */

/* Each answer is the one of a new login. */
static const char probe[] =
	"select coalesce(current_setting('app.x', true), '') as x,"
	" current_setting('work_mem') as w, current_setting('search_path') as p,"
	" current_user as u, pg_my_temp_schema() = 0 as t,"
	" (select count(*) from pg_locks where locktype = 'advisory' and pid ="
	" pg_backend_pid()) as a, (select count(*) from pg_listening_channels()) as l,"
	" (select count(*) from pg_prepared_statements) as s,"
	" (select count(*) from pg_cursors) as c, to_regclass('hidden') is null as h,"
	" (select count(*) from pg_settings where source = 'session') as g";
static const char fresh[] = "|4MB|\"$user\", public|app|t|0|0|0|0|t|0\n";

/* Code that somebody else makes after the proof, and how a plain statement runs it. */
static const struct {
	const char *make;
	const char *act;
	const char *remove;
} hidden[] = {
	{ "create view h as select set_config('app.x', 'secret', false) as a,"
	  " set_config('work_mem', '1MB', false) as b, pg_try_advisory_lock(7);"
	  " grant select on h to public",
		"select * from h", "drop view h" },
	{ "create function f() returns trigger language plpgsql as $$ begin"
	  " perform set_config('app.x', 'secret', false); set work_mem = '1MB';"
	  " set search_path = nowhere; return new; end $$;"
	  " create trigger h before insert on item for each row execute function f()",
		"insert into item values (1)",
		"drop trigger h on item; drop function f" },
	{ "create function f() returns trigger language plpgsql as $$ begin"
	  " create temp table hidden (a int); perform pg_advisory_lock(8);"
	  " execute 'listen hidden'; return null; end $$;"
	  " create constraint trigger h after insert on item deferrable initially"
	  " deferred for each row execute function f()",
		"insert into item values (1)",
		"drop trigger h on item; drop function f" },
	{ "create function f() returns int language plpgsql as $$ begin"
	  " execute 'prepare hidden as select 1';"
	  " execute 'declare hidden cursor with hold for select 1'; return 1; end $$;"
	  " alter table item alter b set default f()",
		"insert into item (a) values (1)",
		"alter table item alter b drop default; drop function f" },
	{ "create function f(int, int) returns bool language sql as"
	  " 'select set_config(''app.x'', ''secret'', false) is not null';"
	  " create operator ### (leftarg = int, rightarg = int, procedure = f)",
		"select a ### 1 from item",
		"drop operator ### (int, int); drop function f" },
	{ "create rule h as on insert to item do also"
	  " select set_config('work_mem', '1MB', false)",
		"insert into item values (1)", "drop rule h on item" },
	{ "create policy h on item using (set_config('app.x', 'secret', false) <> '');"
	  " alter table item enable row level security",
		"select * from item",
		"alter table item disable row level security; drop policy h on item" },
	{ "create function f(text) returns text language sql as"
	  " 'select set_config(''app.x'', $1, false)'; create type h as (a text);"
	  " create function f(h) returns text language sql as"
	  " 'select set_config(''app.x'', ($1).a, false)';"
	  " create cast (h as text) with function f(h)",
		"select row('secret')::h::text", "drop type h cascade; drop function f" },
	{ "create domain h text check (set_config('app.x', value, false) <> '')",
		"select 'secret'::h", "drop domain h" },
	{ "create aggregate h(text, boolean) (sfunc = set_config, stype = text,"
	  " initcond = 'app.x')",
		"select h('secret', false)", "drop aggregate h(text, boolean)" },
};

static void
see_a_fresh_session(struct pg *t, const char *after)
{
	(void)pg_reset(t);
	assert_ok(t->base.last);
	if (strstr(pg_query(t, probe), fresh) == NULL)
		fail_msg("after \"%s\", the next client sees: %s", after,
			t->base.seen.log);
	(void)pg_query(t, "select lastval()");
	if (strstr(t->base.seen.log, "error 55000") == NULL)
		fail_msg("after \"%s\": %s", after, t->base.seen.log);
	(void)pg_reset(t);
	assert_ok(t->base.last);
}

/* Whether the act was early: on a busy machine, the proof may be too old. */
static int
try_hidden(struct pg *t, size_t i, int in_transaction)
{
	int is_early;

	prove(t);
	from_outside(hidden[i].make);
	if (in_transaction)
		do_sql(t, "begin");
	if (in_transaction)
		do_sql(t, hidden[i].act);
	is_early = is_early_after(t, in_transaction ? "commit" : hidden[i].act);
	see_a_fresh_session(t, hidden[i].make);
	from_outside(hidden[i].remove);
	return is_early;
}

static void
hidden_code_is_undone(void **state)
{
	struct pg *t = *state;

	from_outside("create table item (a int, b int); insert into item values (1);"
		     " grant all on item to public");
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		for (int in_transaction = 0; in_transaction < 2; in_transaction++) {
			int n = 0;

			while (!try_hidden(t, i, in_transaction))
				assert_in_range(++n, 0, 10);
		}
	}
	from_outside("drop table item");
}

/* These are no code that the proof knows, and a usual database has them. */
static void
sequences_are_forgotten(void **state)
{
	struct pg *t = *state;

	from_outside("create table item (a serial); grant all on item, item_a_seq to "
		     "public");
	must_be_early(t, "insert into item default values");
	see_a_fresh_session(t, "insert into item default values");
	assert_non_null(
		strstr(pg_query(t, "select currval('item_a_seq')"), "error 55000"));
	from_outside("drop table item");
}

static void
the_seed_is_another_one(void **state)
{
	struct pg *t = *state;
	char first[128];

	for (int i = 0; i < 2; i++) {
		do {
			prove(t);
			from_outside("create view h as select setseed(0.25)::text;"
				     " grant select on h to public");
			(void)is_early_after(t, "select * from h");
			from_outside("drop view h");
		} while (!state_of(t).is_over);
		(void)pg_reset(t);
		(void)pg_query(t, "select random()");
		if (i == 0)
			snprintf(first, sizeof(first), "%s", t->base.seen.log);
		else
			assert_string_not_equal(t->base.seen.log, first);
	}
}

/* ---- failures ---- */

/* An error of the last request does not keep the reset from running. */
static void
a_request_that_fails_is_followed_by_the_reset(void **state)
{
	struct pg *t = *state;

	for (int i = 0; i < 2; i++) {
		prove(t);
		t->base.is_extended = (uint8_t)i;
		ends_turn = 1;
		assert_non_null(
			strstr(pg_query(t, "select 1 / (a - a) from (values (1)) v (a)"),
				"error 22012"));
		ends_turn = 0;
		assert_true(state_of(t).is_over);
		assert_string_equal(pg_reset(t), "");
		assert_ok(t->base.last);
		assert_non_null(strstr(pg_query(t, "select 1 as a"), "row 1\n"));
	}
}

/* Nobody may use the session between the request and the reset. */
static void
a_request_behind_the_reset_loses_the_session(void **state)
{
	struct pg *t = *state;

	must_be_early(t, "select count(*) from pg_class");
	(void)pg_query(t, "select 2");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
}

/* The client has gone while its last request ran. */
static void
a_client_that_leaves_gets_a_reset_too(void **state)
{
	struct pg *t = *state;

	prove(t);
	ends_turn = 1;
	t->interrupt_with = CENOTE_ERR_CONN;
	t->interrupt_at = 1;
	(void)pg_query(t, "select pg_sleep(60), count(*) from pg_class");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	t->interrupt_at = 0;
	t->interrupt_with = 0;
	ends_turn = 0;
	see_a_fresh_session(t, "a client that left");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_last_request_takes_the_reset_along),
		TEST(the_end_of_a_transaction_takes_the_reset_along),
		TEST(other_requests_do_not),
		TEST(hidden_code_is_undone),
		TEST(sequences_are_forgotten),
		TEST(the_seed_is_another_one),
		TEST(a_request_that_fails_is_followed_by_the_reset),
		TEST(a_request_behind_the_reset_loses_the_session),
		TEST(a_client_that_leaves_gets_a_reset_too),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
