/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proof that the code of a database leaves nothing in a session (proof.c): with it, reading and writing rows holds
 * no session, and the server is not asked. test_reset.c tests what is asked without it.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static uint32_t
pins_of(struct pg *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return state.pins;
}

static void
do_sql(struct pg *t, const char *sql)
{
	(void)pg_query(t, sql);
	if (t->base.last != CENOTE_OK)
		fail_msg("%s: %s", sql, t->base.seen.log);
}

/* The pins after `sql`, before the server is asked. */
static uint32_t
pins_after(struct pg *t, const char *sql)
{
	do_sql(t, sql);
	return pins_of(t);
}

static void
settle(struct pg *t)
{
	assert_ok(pg_settle(t));
}

/* Whether the session proves that the database's code is harmless. */
static int
is_proved(struct pg *t)
{
	assert_string_equal(pg_reset(t), "");
	do_sql(t, "select count(*) from pg_class");
	settle(t);
	assert_string_equal(pg_reset(t), "");
	return pins_after(t, "select count(*) from pg_class") == 0;
}

/* A common database: none of this leaves anything in a session. */
static const char make_common[] =
	"create table item (id serial primary key, name text not null default 'x' check"
	" (length(name) < 90), n int default 0, at timestamptz default now());"
	"create table note (id int primary key, item int references item);"
	"create view names as select id, upper(name) as name from item;"
	"create function twice(a int) returns int language sql as 'select 2 * a';"
	"create function stamp() returns trigger language plpgsql as $$"
	" declare k int; begin new.at := now(); /* count */ update only note as o set "
	"item ="
	" new.id where o.id = 0;\n"
	" insert into note as n values (new.id, null) on conflict (id) do update set "
	"item ="
	" excluded.item; -- keep it\n"
	" select count(*) into k from note; set local work_mem = '1MB';"
	" perform set_config('app.now', 'x', true); return new; end $$;"
	"create trigger stamp before insert or update on item for each row execute "
	"function"
	" stamp()";
static const char drop_common[] =
	"drop table item, note cascade; drop function twice(int); drop function stamp()";

static void
a_common_database_is_not_asked_about(void **state)
{
	static const char *const acts[] = {
		"insert into item (name) values ('a') returning id",
		"insert into item (name) values ('b') on conflict do nothing",
		"update item set name = lower(name), n = twice(n) where id = 1",
		"select i.name, o.id + 1 from item i join note o using (id)",
		"select count(*), max(id), now() from names where name like 'A%'",
		"begin; set local search_path = pg_catalog; select 1 + 1; commit",
		"with w as (delete from note returning id) select count(*) from w",
		"values (1 + 1)",
		"table names",
	};
	struct pg *t = *state;

	do_sql(t, make_common);
	assert_true(is_proved(t));
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		/* also after a reset, for the next client */
		assert_string_equal(pg_reset(t), "");
		/* on a busy machine, a second may have passed */
		if (pins_after(t, acts[i]) != 0 && !is_proved(t))
			fail_msg("no proof any more before: %s", acts[i]);
		if (pins_after(t, acts[i]) != 0)
			fail_msg("pins after: %s", acts[i]);
	}
	do_sql(t, drop_common);
}

/* What a text itself shows is not proved by the database. */
static void
a_text_that_acts_is_asked_about(void **state)
{
	static const char *const acts[] = { "do $$ begin perform 1; end $$",
		"create table made (a int)", "drop table made", "set names 'UTF8'",
		"set application_name = 'x'",
		"select set_config('work_mem', '1MB', false)",
		"select pg_advisory_lock(1)", "select set_limit(0.1) where false",
		"explain analyze execute unknown" };
	struct pg *t = *state;

	(void)pg_query(t, "create function set_limit(float8) returns int language sql as "
			  "'select 1'");
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		assert_true(is_proved(t));
		(void)pg_query(t, acts[i]);
		if (pins_of(t) == 0)
			fail_msg("no pins after: %s", acts[i]);
	}
	assert_string_equal(pg_reset(t), "");
	do_sql(t, "drop function set_limit");
}

/* A call by number is not known by its text. */
static void
a_call_by_number_is_asked_about(void **state)
{
	struct cnc_value key = {
		.is_native = 1, .format = CENOTE_FORMAT_TEXT, .bytes = "7", .len = 1
	};
	struct pg *t = *state;

	assert_true(is_proved(t));
	/* pg_advisory_lock(bigint) */
	(void)pg_function(t, 2880, &key, 1);
	assert_ok(t->base.last);
	assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
	settle(t);
	assert_int_equal(pins_of(t), CENOTE_PIN_LOCK);
}

/* Bodies of a PL/pgSQL function that leave something, or might. */
static const char *const harmful_bodies[] = {
	"perform set_config('work_mem', '1MB', false)",
	"perform set_config('app.x', '1', false)",
	"perform set_config('app.x', (select 'y'), true)",
	"perform 'set_config(' || set_config(substr(',x,true)app.x', 9), 'v', false)",
	"perform \"set_config\"('app.x', 'y', false)",
	"set work_mem = '1MB'",
	"set app.x = 1",
	"SET/**/local.x = 1",
	"set local.x = 1",
	"set session characteristics as transaction read only",
	"set time zone 'UTC'",
	"reset all",
	"-- update item\nset app.x = 1",
	"-- update item\rset app.x = 1",
	"/* update item */ set app.x = 1",
	"if update then set app.x = 1; end if",
	"if update is distinct from 1.then set app.x = 1; end if",
	"if update is distinct from 1then set app.x = 1; end if",
	"perform '--'; -- update x\nset app.x = 1",
	"perform 'update -- y'; set app.x = 1",
	"perform 'x\n-- update y', 1; set app.x = 1",
	"update pg_class a set relname = relname where oid = 1; set app.x = 1",
	"perform 'update x'; set app.x = 1",
	"update pg_settings set setting = '1MB' where name = 'work_mem'",
	"perform pg_advisory_lock(1)",
	"perform pg_try_advisory_lock_shared(1)",
	"create temp table hidden (a int)",
	"create table pg_temp.hidden (a int)",
	"listen hidden",
	"execute 'prepare hidden as select 1'",
	"execute 'declare c cursor with hold for select 1'",
	"execute 'select set_' || 'config(''app.x'', ''1'', false)'",
	"execute 'select ' || 1",
	"load 'auto_explain'",
	"perform setseed(0.5)",
	"perform query_to_xml('select ' || 1, true, true, '')",
	"perform u&\"set\\005fconfig\"('app.x', '5', false)",
};

static void
a_body_that_may_leave_something_is_no_proof(void **state)
{
	struct pg *t = *state;
	char sql[512];

	for (size_t i = 0; i < sizeof(harmful_bodies) / sizeof(harmful_bodies[0]); i++) {
		snprintf(sql, sizeof(sql),
			"create or replace function leave() returns void language plpgsql"
			" as $f$ declare update numeric; begin %s; end $f$",
			harmful_bodies[i]);
		(void)pg_query(t, "set check_function_bodies = off");
		do_sql(t, sql);
		if (is_proved(t))
			fail_msg("proved: %s", harmful_bodies[i]);
	}
	assert_string_equal(pg_reset(t), "");
	do_sql(t, "drop function leave()");
	assert_true(is_proved(t));
}

/* Code that is no function, or none whose text is searched: how it is made, and how it is removed. */
static const struct {
	const char *make;
	const char *remove;
} harmful_code[] = {
	{ "create view leave as select set_config('work_mem', '1MB', false) as a",
		"drop view leave" },
	{ "create view leave as select pg_try_advisory_lock(1)", "drop view leave" },
	{ "create view leave as select * from pg_settings", "drop view leave" },
	{ "create table leave (a int, b text default set_config('app.x', '5', false))",
		"drop table leave" },
	{ "create table leave (a bool check (pg_try_advisory_lock(1, 2)))",
		"drop table leave" },
	{ "create table leave as select 1 as a; create policy p on leave using"
	  " (pg_try_advisory_lock_shared(1))",
		"drop table leave" },
	{ "create table leave (a int); create rule r as on insert to leave do also"
	  " select setseed(0.1)",
		"drop table leave" },
	{ "create domain leave text check (set_config('app.x', value, false) <> '')",
		"drop domain leave" },
	{ "create operator ### (leftarg = int, rightarg = int, procedure ="
	  " pg_try_advisory_lock)",
		"drop operator ### (int, int)" },
	{ "create aggregate leave(text, boolean) (sfunc = set_config, stype = text,"
	  " initcond = 'app.x')",
		"drop aggregate leave(text, boolean)" },
	{ "create aggregate leave(text, boolean) (sfunc = textcat_fake, stype = text,"
	  " msfunc = set_config, minvfunc = set_config, mstype = text)",
		"drop aggregate leave(text, boolean)" },
	{ "create function leave() returns text return set_config('app.x', '5', false)",
		"drop function leave()" },
	{ "create function leave() returns text language sql as"
	  " 'select set_config(''app.x'', ''5'', false)'",
		"drop function leave()" },
	{ "create function leave(v text default set_config('app.x', '5', false))"
	  " returns text return v",
		"drop function leave(text)" },
};

static void
code_that_may_leave_something_is_no_proof(void **state)
{
	struct pg *t = *state;

	do_sql(t, "create function textcat_fake(text, text, boolean) returns text"
		  " language sql as 'select $1'");
	for (size_t i = 0; i < sizeof(harmful_code) / sizeof(harmful_code[0]); i++) {
		do_sql(t, harmful_code[i].make);
		if (is_proved(t))
			fail_msg("proved: %s", harmful_code[i].make);
		assert_string_equal(pg_reset(t), "");
		do_sql(t, harmful_code[i].remove);
	}
	assert_true(is_proved(t));
	assert_string_equal(pg_reset(t), "");
	do_sql(t, "drop function textcat_fake");
}

/* A function in C that may have effects is harmful, unless its extension is known. */
static void
a_function_in_c_is_no_proof(void **state)
{
	struct pg *t = *state;
	struct pg super = { 0 };

	pg_setup(&super);
	pg_option(&super, "user", "postgres");
	assert_ok(pg_login(&super));
	do_sql(&super,
		"create function leave(internal) returns internal as '$libdir/plpgsql',"
		" 'plpgsql_call_handler' language c");
	assert_false(is_proved(t));
	do_sql(&super, "alter function leave stable");
	assert_true(is_proved(t));
	do_sql(&super,
		"drop function leave; create function leave(int8) returns void language"
		" internal as 'pg_advisory_lock_int8'");
	assert_false(is_proved(t));
	do_sql(&super, "drop function leave; create language leave handler"
		       " plpgsql_call_handler");
	assert_false(is_proved(t));
	do_sql(&super, "drop language leave");
	assert_true(is_proved(t));
	pg_teardown(&super);
}

/* What a session of this process defines ends the proofs of all its sessions. */
static void
a_definition_ends_the_proof(void **state)
{
	struct pg *t = *state;
	struct pg other;

	pg_setup(&other);
	assert_ok(pg_login(&other));
	assert_true(is_proved(t));
	do_sql(&other,
		"begin; create view leave as select set_config('app.x', '5', false)");
	assert_int_equal(
		pins_after(t, "select count(*) from pg_class"), CENOTE_PIN_FUNCTION);
	/* it is not committed yet */
	settle(t);
	assert_int_equal(pins_after(t, "select count(*) from pg_class"), 0);
	do_sql(&other, "commit");
	settle(&other);
	do_sql(t, "select * from leave");
	assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
	settle(t);
	assert_int_equal(pins_of(t), CENOTE_PIN_SETTINGS);
	assert_string_equal(pg_reset(t), "");
	do_sql(&other, "drop view leave");
	pg_teardown(&other);
}

/* Run SQL on a connection that is not of this process. */
static void
from_outside(const char *sql)
{
	assert_int_equal(cnt_server_sql(&pg_server, sql), 0);
}

/*
 * For a second, code that somebody else has just made is not seen. What it leaves is undone by the reset all the same.
 * After the second, it is seen.
 */
static void
a_proof_is_good_for_a_second(void **state)
{
	static const char probe[] =
		"select current_setting('app.x', true), current_setting('work_mem'), "
		"(select"
		" count(*) from pg_locks where locktype = 'advisory'), "
		"pg_my_temp_schema() = 0,"
		" (select count(*) from pg_listening_channels()), (select count(*) from"
		" pg_prepared_statements), (select count(*) from pg_cursors)";
	struct pg *t = *state;

	assert_true(is_proved(t));
	from_outside(
		"create view hiding as select set_config('app.x', 'secret', false) as a,"
		" set_config('work_mem', '1MB', false) as b, pg_try_advisory_lock(7);"
		" grant select on hiding to public");
	/* a busy machine may be later than a second; then the client keeps its session */
	do_sql(t, "select * from hiding");
	assert_int_equal(pins_of(t) & ~(uint32_t)CENOTE_PIN_FUNCTION, 0);
	assert_string_equal(pg_reset(t), "");
	if (strstr(pg_query(t, probe), "|4MB|0|t|0|0|0\n") == NULL ||
		strstr(t->base.seen.log, "secret") != NULL)
		fail_msg("the next client sees: %s", t->base.seen.log);
	usleep(1100000);
	do_sql(t, "select * from hiding");
	assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
	settle(t);
	assert_int_equal(pins_of(t), CENOTE_PIN_SETTINGS | CENOTE_PIN_LOCK);
	assert_string_equal(pg_reset(t), "");
	from_outside("drop view hiding");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, pg_test_setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_common_database_is_not_asked_about),
		TEST(a_text_that_acts_is_asked_about),
		TEST(a_call_by_number_is_asked_about),
		TEST(a_body_that_may_leave_something_is_no_proof),
		TEST(code_that_may_leave_something_is_no_proof),
		TEST(a_function_in_c_is_no_proof),
		TEST(a_definition_ends_the_proof),
		TEST(a_proof_is_good_for_a_second),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
