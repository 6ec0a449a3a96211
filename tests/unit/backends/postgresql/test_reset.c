/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* What a client does, and what the next client must see, as after a new login. */
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
		assert_ok(t->base.last);
		assert_string_equal(pg_state(t), "idle pins=0");
		if (strstr(pg_query(t, cases[i].probe), cases[i].expected) == NULL)
			fail_msg("after \"%s\": %s", cases[i].act, t->base.seen.log);
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
			snprintf(first, sizeof(first), "%s", t->base.seen.log);
		else
			assert_string_not_equal(t->base.seen.log, first);
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
	/* a query in the extended form also leaves a statement */
	t->base.is_extended = 1;
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
	t->base.is_extended = 1;
	t->base.no_sync = 1;
	(void)pg_query(t, "insert into unit values (1)");
	(void)pg_query(t, "select nope");
	assert_string_equal(pg_reset(t), "");
	(void)pg_query(t, "select 1 as a");
	(void)pg_query(t, "insert into unit values (2)");
	assert_string_equal(pg_reset(t), "");
	t->base.no_sync = 0;
	assert_non_null(strstr(pg_query(t, "select count(*) from unit"), "row 0\n"));
	(void)pg_query(t, "drop table unit");
}

static void
by_superuser(const char *sql)
{
	assert_int_equal(cnt_server_sql(&pg_server, sql), 0);
}

/* now() is evil.now(), which leaves a setting. */
static void
assert_now_leaves_nothing(struct pg *t)
{
	const char *said;

	assert_non_null(strstr(pg_query(t, "select now()"), "row 1MB\n"));
	said = pg_reset(t);
	/* From version 18 on, PostgreSQL reports the search_path after a reload. Then cenoted replaces the session. */
	if (strstr(said, "search_path is not what it was at login") != NULL) {
		pg_logout(t);
		assert_ok(pg_login(t));
		said = "";
	}
	assert_string_equal(said, "");
	assert_non_null(strstr(pg_query(t, "show work_mem"), "row 4MB\n"));
}

#define EVIL                                                                             \
	"drop schema if exists evil cascade; create schema evil;"                        \
	" grant usage on schema evil to app;"                                            \
	" create function evil.now() returns text language sql as"                       \
	" $$ select set_config('work_mem', '1MB', false) $$"

/* A schema before pg_catalog in search_path may have functions with the same names, however the
 * path is written. */
static void
a_path_of_the_login_hides_nothing(void **state)
{
	static const char *const paths[] = { "-csearch_path=evil,PG_CATALOG,public",
		"-csearch_path=evil,\\ \"pg_catalog\"" };
	struct pg *t = *state;

	by_superuser(EVIL);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		pg_logout(t);
		pg_option(t, "options", paths[i]);
		assert_ok(pg_login(t));
		assert_now_leaves_nothing(t);
		t->base.n_options--;
	}
	by_superuser("drop schema evil cascade");
}

/* The server does not report that a reload has changed search_path. */
static void
a_path_that_is_reloaded_hides_nothing(void **state)
{
	struct pg *t = *state;

	by_superuser(EVIL);
	by_superuser("alter system set search_path = evil, pg_catalog, public");
	by_superuser("select pg_reload_conf()");
	/* a session heeds a reload between two statements */
	for (int i = 0; i < 1000; i++) {
		if (strstr(pg_query(t, "show search_path"), "row evil") != NULL)
			break;
		(void)poll(NULL, 0, 10);
	}
	assert_now_leaves_nothing(t);
	by_superuser("alter system reset search_path");
	by_superuser("select pg_reload_conf()");
	by_superuser("drop schema evil cascade");
}

static uint32_t
pins_of(struct pg *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
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
		/* what the server lists moves with the client */
		{ "perform set_config('work_mem', '1MB', false)", 0 },
		{ "perform set_config('application_name', 'x', false)", 0 },
		{ "perform set_config('client_encoding', 'LATIN1', false)",
			CENOTE_PIN_SETTINGS },
		{ "perform set_config('client_encoding', 'UTF8', false)", 0 },
		{ "perform pg_advisory_lock(1)", CENOTE_PIN_LOCK },
		/* The server lists none of these settings. */
		{ "perform set_config('app.tenant', '5', false)", CENOTE_PIN_SETTINGS },
		{ "set app.tenant = 5", CENOTE_PIN_SETTINGS },
		{ "execute 'set ' || 'app.tenant = 5'", CENOTE_PIN_SETTINGS },
		{ "set /* */ app.tenant = 5", CENOTE_PIN_SETTINGS },
		{ "set session \"app.tenant\" = 5", CENOTE_PIN_SETTINGS },
		{ "perform U&\"set\\005fconfig\"('app.tenant', '5', false)",
			CENOTE_PIN_SETTINGS },
		{ "execute 'se' || 't app.tenant = 5'", CENOTE_PIN_SETTINGS },
		{ "execute e'\\x73et app.tenant = 5'", CENOTE_PIN_SETTINGS },
		{ "do e'begin \\x73et app.tenant = 5; end'", CENOTE_PIN_SETTINGS },
		{ "perform query_to_xml('select ' || 1, true, true, '')",
			CENOTE_PIN_SETTINGS },
		{ "perform setseed(0.5)", CENOTE_PIN_SETTINGS },
		{ "perform set_config('app.tenant', ', true) ', false)",
			CENOTE_PIN_SETTINGS },
		{ "perform set_config('app.tenant', '5', true)", 0 },
		{ "perform set_config('TimeZone', current_setting('TimeZone'), true)",
			0 },
		{ "set local app.tenant = 5", 0 },
		{ "update pg_class set relname = relname where oid = 1", 0 },
		{ "listen hidden", CENOTE_PIN_LISTEN },
		{ "execute 'prepare hidden as select 1'", CENOTE_PIN_PREPARED },
		{ "execute 'declare c cursor with hold for select 1'",
			CENOTE_PIN_CURSOR },
		{ "set role app", 0 },
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
		if (t->base.last == CENOTE_OK)
			assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
		assert_ok(pg_settle(t));
		if (t->base.last == CENOTE_OK)
			assert_int_equal(pins_of(t), left[i].pin);
		assert_string_equal(pg_reset(t), "");
		assert_int_equal(pins_of(t), 0);
	}
	(void)pg_query(t, "drop function leave()");
}

/* Run only `sql`, settle, and return the pins. */
static uint32_t
settled(struct pg *t, const char *sql)
{
	(void)pg_query(t, sql);
	assert_ok(t->base.last);
	assert_ok(pg_settle(t));
	return pins_of(t);
}

static void
what_a_client_begins_with_holds_no_session(void **state)
{
	static const struct cnp_str nothing = CNP_STR_NONE;
	static const char name[] = "it's a\\b'; set work_mem = '1MB'; --";
	struct pg *t = *state;
	char expected[80];

	snprintf(expected, sizeof(expected), "row %s\n", name);
	for (int i = 0; i < 2; i++) {
		assert_ok(t->base.b->attach(t->base.s, &nothing, &t->base.diag));
		assert_ok(t->base.b->set_option(
			t->base.s, "application_name", name, &t->base.diag));
		assert_ok(t->base.b->set_option(
			t->base.s, "client_encoding", "latin1", &t->base.diag));
		assert_int_equal(pins_of(t), 0);
		assert_non_null(strstr(pg_query(t, "show application_name"), expected));
		assert_non_null(
			strstr(pg_query(t, "show client_encoding"), "row LATIN1\n"));
		assert_non_null(strstr(pg_query(t, "show work_mem"), "row 4MB\n"));
		/* a value that is already in force pins nothing, nor does a value that is set
		 * back */
		assert_int_equal(settled(t, "set names 'LATIN1'"), 0);
		assert_int_equal(settled(t, "begin; set names 'UTF8'; rollback"), 0);
		assert_int_equal(settled(t, "select count(*) from pg_class"), 0);
		if (i == 0)
			assert_int_equal(
				settled(t, "set names 'UTF8'"), CENOTE_PIN_SETTINGS);
		else
			assert_int_equal(settled(t, "set application_name = 'x'"), 0);
		assert_string_equal(pg_reset(t), "");
		assert_ok(t->base.last);
		/* the next client does not have these settings */
		assert_ok(t->base.b->attach(t->base.s, &nothing, &t->base.diag));
		assert_true(t->base.b->options_are_set(t->base.s, &t->base.diag) >= 0);
		assert_non_null(
			strstr(pg_query(t, "show client_encoding"), "row UTF8\n"));
		assert_int_equal(settled(t, "select count(*) from pg_class"), 0);
		assert_string_equal(pg_reset(t), "");
	}
}

static void
options_that_cannot_be_set_are_refused(void **state)
{
	static const struct {
		const char *name;
		const char *value;
		int status;
		const char *sqlstate;
	} refused[] = {
		{ "client_encoding", "nonsense", CENOTE_ERR_SERVER, "22023" },
		{ "work_mem", "1MB", CENOTE_ERR_ARG, "22023" },
		{ "application_name", "y", CENOTE_ERR_SERVER, "25001" },
	};
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (i == 2)
			(void)pg_query(t, "begin");
		assert_int_equal(t->base.b->set_option(t->base.s, refused[i].name,
					 refused[i].value, &t->base.diag),
			refused[i].status);
		assert_string_equal(t->base.diag.sqlstate, refused[i].sqlstate);
	}
}

/*
 * Code that sets app.tenant, but does not show this in the text of a function: SQL that makes the
 * code, SQL of the client, and SQL that removes the code.
 */
static const struct {
	const char *make;
	const char *act;
	const char *remove;
} settings_of_a_program[] = {
	{ "create function leave(v text) returns text return"
	  " set_config('app.tenant', v, false)",
		"select leave('5')", "drop function leave" },
	{ "create function leave(v text default set_config('app.tenant', '5', false))"
	  " returns text return v",
		"select leave()", "drop function leave" },
	{ "create view leave as select set_config('app.tenant', '5', false) as a",
		"select * from leave", "drop view leave" },
	{ "create table leave (a int, b text default"
	  " set_config('app.tenant', '5', false))",
		"insert into leave values (1)", "drop table leave" },
	{ "create table leave (a text check (set_config('app.tenant', a, false) <> ''))",
		"insert into leave values ('5')", "drop table leave" },
	{ "create domain leave text check (set_config('app.tenant', value, false) <> '')",
		"select leave '5'", "drop domain leave" },
	{ "create domain leave text default set_config('app.tenant', '5', false);"
	  " create table leaves (a int, b leave)",
		"insert into leaves values (1)", "drop table leaves; drop domain leave" },
	{ "create table leave as select 1 as a; alter table leave force row level"
	  " security; alter table leave enable row level security;"
	  " create policy p on leave using (set_config('app.tenant', '5', false) = '5')",
		"select * from leave", "drop table leave" },
	{ "create table leave (a int);"
	  " create rule r as on insert to leave do also"
	  " select set_config('app.tenant', '5', false)",
		"insert into leave values (1)", "drop table leave" },
	{ "create aggregate leave(text, boolean) (sfunc = set_config, stype = text,"
	  " initcond = 'app.tenant')",
		"select leave('5', false)", "drop aggregate leave(text, boolean)" },
	{ "create function leave() returns text language plpgsql as $$ begin return"
	  " 'select set_' || 'config(''app.tenant'', ''5'', false)'; end $$",
		"select query_to_xml(leave(), true, true, '')", "drop function leave" },
	{ "", "select u&\"set\\005fconfig\"('app.tenant', '5', false)", "" },
	{ "",
		"do $$ begin execute 'select set_' || 'config(''app.tenant'', ''5'', "
		"false)';"
		" end $$",
		"" },
	/* The function is gone when the backend asks the server. */
	{ "create function leave() returns text language plpgsql as $$ begin return"
	  " set_config('app.tenant', '5', false); end $$",
		"select leave(); drop function leave", "" },
	{ "create function leave() returns text language plpgsql as $$ begin return"
	  " set_config('app.tenant', '5', false); end $$",
		"begin; select leave(); create or replace function leave() returns text"
		" language sql return 'a'; commit",
		"drop function leave" },
};

static void
settings_of_a_program_s_own_are_not_lost(void **state)
{
	struct pg *t = *state;

	for (size_t i = 0;
		i < sizeof(settings_of_a_program) / sizeof(settings_of_a_program[0]);
		i++) {
		const char *act = settings_of_a_program[i].act;

		(void)pg_query(t, settings_of_a_program[i].make);
		assert_string_equal(pg_reset(t), "");
		(void)pg_query(t, act);
		(void)pg_settle(t);
		if (!(pins_of(t) & CENOTE_PIN_SETTINGS))
			fail_msg("lost by: %s", act);
		if (strstr(pg_query(t, "select current_setting('app.tenant') as t"),
			    "row 5\n") == NULL)
			fail_msg("not set by: %s: %s", act, t->base.seen.log);
		assert_string_equal(pg_reset(t), "");
		(void)pg_query(t, settings_of_a_program[i].remove);
		assert_string_equal(pg_reset(t), "");
	}
}

/* If no code sets such a setting, it pins no session. */
static void
what_the_server_lists_is_all_there_is(void **state)
{
	static const char *const harmless[] = {
		"create table plain (a serial primary key, b text default 'x' check (b "
		"<> ''))",
		"create view plain_view as select a, current_setting('app.tenant', true)"
		" from plain",
		"create function plain_f(a int) returns int return a + 1",
		"create function plain_t() returns trigger language plpgsql as $$ begin"
		" update plain set b = new.b where a = 0; perform set_config("
		"'app.tenant', new.b, true); return new; end $$",
		"create trigger t before insert on plain for each row execute function"
		" plain_t()",
	};
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		(void)pg_query(t, harmless[i]);
		assert_ok(t->base.last);
	}
	(void)pg_reset(t);
	(void)pg_query(t, "insert into plain (b) values ('y')");
	(void)pg_query(t, "select plain_f(a) from plain_view");
	assert_ok(t->base.last);
	assert_ok(pg_settle(t));
	assert_int_equal(pins_of(t), 0);
	(void)pg_query(t, "drop table plain cascade; drop function plain_t, plain_f");
}

/* The backend sees code that was made, or committed, after it last looked. */
static void
code_that_has_come_since_is_seen(void **state)
{
	static const char make[] = "create function leave() returns text return"
				   " set_config('app.tenant', '5', false)";
	struct pg *t = *state;
	struct pg other;

	pg_setup(&other);
	assert_ok(pg_login(&other));
	for (int is_committed_later = 0; is_committed_later < 2; is_committed_later++) {
		(void)pg_query(&other, "begin");
		(void)pg_query(&other, make);
		if (!is_committed_later)
			(void)pg_query(&other, "rollback");
		(void)pg_query(t, "create temp table new_number (a int)");
		(void)pg_reset(t);
		(void)pg_query(t, "select 1 limit 1");
		assert_ok(pg_settle(t));
		assert_int_equal(pins_of(t), 0);
		if (is_committed_later)
			(void)pg_query(&other, "commit");
		else
			(void)pg_query(&other, make);
		(void)pg_query(t, "select leave()");
		assert_ok(t->base.last);
		assert_ok(pg_settle(t));
		assert_int_equal(pins_of(t), CENOTE_PIN_SETTINGS);
		assert_string_equal(pg_reset(t), "");
		(void)pg_query(&other, "drop function leave");
	}
	pg_teardown(&other);
}

/* Call set_config() by its function number. */
static void
a_call_by_number_is_one_by_name(void **state)
{
	static const char *const texts[] = { "app.tenant", "5", "f" };
	struct cnc_value params[3] = { { 0 } };
	struct pg *t = *state;

	for (size_t i = 0; i < 3; i++) {
		params[i].is_native = 1;
		params[i].format = CENOTE_FORMAT_TEXT;
		params[i].bytes = texts[i];
		params[i].len = strlen(texts[i]);
	}

	(void)pg_function(t, 2078, params, 3);
	assert_ok(t->base.last);
	(void)pg_settle(t);
	assert_true((pins_of(t) & CENOTE_PIN_SETTINGS) != 0);
}

/* After this call, the session's user and its role are both changed, but equal. */
static void
another_user_is_not_lost(void **state)
{
	struct pg t = { 0 };

	pg_setup(&t);
	pg_option(&t, "user", "postgres");
	assert_ok(pg_login(&t));
	(void)pg_query(&t, "create function become() returns void language plpgsql as $$"
			   " begin set session authorization app; end $$");
	(void)pg_reset(&t);
	(void)pg_query(&t, "select become()");
	assert_ok(pg_settle(&t));
	assert_int_equal(pins_of(&t), CENOTE_PIN_SETTINGS);
	(void)pg_reset(&t);
	(void)pg_query(&t, "select 1 from pg_class limit 1");
	assert_ok(pg_settle(&t));
	assert_int_equal(pins_of(&t), 0);
	(void)pg_query(&t, "drop function become()");
	pg_teardown(&t);
}

/*
 * PL/pgSQL keeps a function as it was compiled when the session first ran it. In each case, the
 * next client could see that. A case has SQL that prepares it, SQL of the client, and SQL that
 * cleans up.
 */
#define SHARED                                                                           \
	"create function shared(a text) returns text language plpgsql as"                \
	" $f$ declare x label := a; begin return x; end $f$;"
#define TENANT                                                                           \
	"create schema tenant; create domain label text; create domain tenant.label"     \
	" text check (value <> 'secret');" SHARED
#define NO_TENANT "drop schema tenant cascade; drop function shared; drop domain label"

static const struct lasting {
	const char *make;
	const char *act;
	const char *remove;
} lasting[] = {
	{ TENANT, "set search_path = tenant, public; select shared('a')", NO_TENANT },
	{ TENANT,
		"begin; set local search_path = tenant, public; select shared('a'); end",
		NO_TENANT },
	{ TENANT "create function elsewhere() returns text language plpgsql as $f$ begin"
		 " perform set_config('search_' || 'path', 'tenant, public', true);"
		 " return shared('a'); end $f$;",
		"select elsewhere()", NO_TENANT "; drop function elsewhere" },
	{ TENANT "create function elsewhere() returns text language sql"
		 " set search_path = tenant, public as $f$ select shared('a') $f$;",
		"select elsewhere()", NO_TENANT "; drop function elsewhere" },
	{ TENANT "create table t (a text);"
		 "create function shared() returns trigger language plpgsql as"
		 " $f$ declare x label := new.a; begin return new; end $f$;"
		 "create trigger t before insert on t for each row execute function "
		 "shared();",
		"set search_path = tenant, public; insert into public.t values ('a')",
		"drop table t; drop function shared();" NO_TENANT },
	/* a %ROWTYPE, with the name of a table */
	{ "create schema tenant; create table label (a text);"
	  "create table tenant.label (b int); create function shared() returns text"
	  " language plpgsql as $f$ declare x label%rowtype; begin return x::text; end "
	  "$f$;",
		"set search_path = tenant, public; select shared()",
		"drop schema tenant cascade; drop function shared; drop table label" },
	/* a type that is removed later */
	{ "create domain label text;" SHARED,
		"create domain pg_temp.label as text; select shared('a')",
		"drop function shared; drop domain label" },
	{ "create schema tenant; create domain label text;" SHARED,
		"begin; create domain tenant.label text; set search_path = tenant, "
		"public;"
		" select shared('a'); rollback",
		NO_TENANT },
	{ "create schema tenant; create domain label text;" SHARED
	  "create function made() returns text language plpgsql as $f$ begin begin"
	  " create domain tenant.label text; perform shared('a');"
	  " raise exception 'undo'; exception when others then return 'a'; end; end $f$;",
		"set search_path = tenant, public; select made()",
		NO_TENANT "; drop function made" },
	{ "create domain label text;" SHARED
	  "create function made() returns text language"
	  " plpgsql as $f$ begin execute 'create domain ' || 'a text'; return 'a'; end "
	  "$f$;",
		"select shared('a')", "drop function shared, made; drop domain label" },
	/* settings that change how the function's text is read */
	{ "create function shared() returns text language plpgsql as"
	  " $f$ declare a int := 1; begin return (select a from (select 2 as a) b); end "
	  "$f$;",
		"set plpgsql.variable_conflict = use_column; select shared()",
		"drop function shared" },
	{ "create function shared() returns text language plpgsql as"
	  " $f$ begin return 'a\\\\b'; end $f$;",
		"begin; set local standard_conforming_strings = off; select shared(); "
		"end",
		"drop function shared" },
	{ "create function shared() returns text language plpgsql as"
	  " $f$ begin return 'a\\\\b'; end $f$; create function elsewhere() returns text"
	  " language sql set standard_conforming_strings = off"
	  " as $f$ select shared() $f$;",
		"select elsewhere()", "drop function shared, elsewhere" },
	{ "create function shared() returns text language plpgsql as"
	  " $f$ begin return 'a\\\\b'; end $f$; create view elsewhere as select"
	  " set_config('standard_conforming_strings', 'off', true) as a;",
		"begin; select * from elsewhere; select shared(); end",
		"drop function shared; drop view elsewhere" },
	/* other languages and extensions keep values of their own */
	{ "create extension plperl; create function keep(text) returns void language"
	  " plperl as $f$ $_SHARED{k} = $_[0]; $f$;",
		"select keep('secret')", "drop extension plperl cascade" },
	{ "create extension isn; create function keep() returns void language plpgsql as"
	  " $f$ begin perform isn_weak(true); end $f$;",
		"select keep()", "drop extension isn; drop function keep" },
	{ "", "create temp table t (a int)", "" },
	{ "create function t() returns void language sql as 'create temp table t (a "
	  "int)'",
		"select t()", "drop function t" },
	{ "", "load 'auto_explain'", "" },
};

/* Each case has a new session, since earlier cases may have compiled functions. */
static void
what_stays_is_nobody_elses(void **state)
{
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
		/* a package of the server may lack what its own PL/Perl needs */
		if (strstr(pg_query(t, lasting[i].make), "could not load library") !=
			NULL)
			continue;
		assert_ok(t->base.last);
		pg_logout(t);
		assert_ok(pg_login(t));
		(void)pg_query(t, lasting[i].act);
		assert_string_equal(pg_reset(t), "");
		if (!t->has_relogged)
			fail_msg("kept after: %s", lasting[i].act);
		(void)pg_query(t, lasting[i].remove);
		assert_ok(t->base.last);
	}
}

/* The session is kept if the next client would compile the functions in the same way. */
static void
a_session_with_shared_functions_is_kept(void **state)
{
	static const char *const acts[] = { "select shared('a')",
		"set search_path = tenant, public; select shared('a')",
		"begin; set local role app; insert into log values ('a'); commit",
		"with x as (delete from log returning a) select shared(a) from x",
		"select definer('a')", "select 1 from pg_class limit 1" };
	struct pg *t = *state;

	(void)pg_query(t,
		"create schema tenant; create table tenant.log (a text);"
		"create table log (a text); create domain label text;" SHARED
		"create function note() returns trigger language plpgsql as"
		" $f$ declare x label := new.a; begin return new; end $f$;"
		"create trigger note before insert on log for each row execute function"
		" note(); create function definer(a text) returns text language plpgsql"
		" security definer set search_path = public, pg_temp as"
		" $f$ begin return shared(a); end $f$;");
	assert_ok(t->base.last);
	pg_logout(t);
	assert_ok(pg_login(t));
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		(void)pg_query(t, acts[i]);
		assert_ok(t->base.last);
		assert_string_equal(pg_reset(t), "");
		if (t->has_relogged)
			fail_msg("not kept after: %s", acts[i]);
	}
	/* after somebody has made a type, the session is not kept */
	by_superuser("create domain tenant.label text");
	(void)pg_query(t, "select shared('a')");
	assert_string_equal(pg_reset(t), "");
	assert_true(t->has_relogged);
	(void)pg_query(t, "drop schema tenant cascade; drop table log; drop function"
			  " shared, note, definer; drop domain label");
	assert_ok(t->base.last);
	(void)pg_reset(t);
}

static void
an_administrator_can_keep_what_is_compiled(void **state)
{
	struct pg *t = *state;

	(void)pg_query(t, TENANT);
	pg_logout(t);
	pg_option(t, "keep_compiled", "yes");
	assert_ok(pg_login(t));
	(void)pg_query(t, "select shared('a')");
	(void)pg_reset(t);
	assert_false(t->has_relogged);
	(void)pg_query(t, NO_TENANT);
	(void)pg_reset(t);
	assert_true(t->has_relogged);
	pg_logout(t);
	pg_option(t, "keep_compiled", "perhaps");
	assert_int_equal(pg_login(t), CENOTE_ERR_ARG);
	t->base.n_options -= 2;
	assert_ok(pg_login(t));
}

/* The administrator vouches that what queries call leaves nothing for their client. */
static void
pure_queries_hold_nothing(void **state)
{
	static const char *const queries[] = { "select count(*) from pg_class",
		"with a as (select 1) select * from a", "(table pg_class)",
		"update pg_class set relname = relname where false" };
	static const char *const others[] = { "do $$begin end$$",
		"create function pg_temp.f() returns int language sql as 'select 1'",
		"select set_config('my.var', '1', false)", "select pg_advisory_lock(7)",
		"set client_encoding to latin1", "set work_mem to '1MB'",
		"create temp table t (a int)", "prepare p as select 1" };
	struct pg *t = *state;

	(void)pg_query(t, queries[0]);
	assert_int_equal(pins_of(t), CENOTE_PIN_FUNCTION);
	pg_logout(t);
	pg_option(t, "queries", "pure");
	assert_ok(pg_login(t));
	for (size_t i = 0; i < CNT_COUNT(queries); i++) {
		(void)pg_query(t, queries[i]);
		if (pins_of(t) != 0)
			fail_msg("%s: pins %u", queries[i], (unsigned)pins_of(t));
	}
	for (size_t i = 0; i < CNT_COUNT(others); i++) {
		assert_string_equal(pg_reset(t), "");
		assert_int_equal(pins_of(t), 0);
		(void)pg_query(t, others[i]);
		if (pins_of(t) == 0)
			fail_msg("%s: no pin", others[i]);
	}
	(void)pg_reset(t);
	pg_logout(t);
	pg_option(t, "queries", "clean");
	assert_int_equal(pg_login(t), CENOTE_ERR_ARG);
	t->base.n_options -= 2;
	assert_ok(pg_login(t));
}

/* If the worker cannot log in again, the client keeps its session, which ends after that client. */
static int
cannot_log_in(const struct cnd_host *host)
{
	(void)host;
	return 0;
}

static void
a_client_without_its_password_keeps_its_session(void **state)
{
	struct pg *t = *state;

	t->base.host.can_log_in = cannot_log_in;
	(void)pg_query(t, "create temp table mine (a int); set work_mem = '1MB'");
	assert_string_equal(pg_reset(t), "");
	assert_false(t->has_relogged);
	assert_non_null(strstr(pg_query(t, "show work_mem"), "row 4MB\n"));
	t->base.host.can_log_in = NULL;
	(void)pg_query(t, "select 1");
	assert_string_equal(pg_reset(t), "");
	assert_true(t->has_relogged);
}

static unsigned n_login_changes;

static void
on_login_changed(const struct cnd_host *host)
{
	(void)host;
	n_login_changes++;
}

/* No command tag shows these changes, but the pool's other sessions must log in again. */
static void
settings_of_logins_are_seen_to_change(void **state)
{
	static const struct {
		const char *sql;
		unsigned n;
	} acts[] = {
		{ "do $$ begin alter role app set work_mem = '3MB'; end $$", 1 },
		{ "call set_login()", 1 },
		{ "do $$ begin execute 'alter role app in database app reset all'; end "
		  "$$",
			0 },
		{ "begin; do $$ begin alter role app set work_mem = '9MB'; end $$; "
		  "rollback",
			0 },
		{ "do $$ begin create temp table mine (a int); alter role app reset"
		  " work_mem; end $$",
			1 },
		{ "do $$ begin perform 1; end $$", 0 },
	};
	struct pg *t = *state;

	t->base.host.login_changed = on_login_changed;
	(void)pg_query(t,
		"create procedure set_login() language plpgsql as"
		" $$ begin execute 'alter role app set work_mem = ''5MB'''; end $$");
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		pg_logout(t);
		assert_ok(pg_login(t));
		n_login_changes = 0;
		(void)pg_query(t, acts[i].sql);
		assert_ok(t->base.last);
		assert_string_equal(pg_reset(t), "");
		if (n_login_changes != acts[i].n)
			fail_msg("%s: %u changes", acts[i].sql, n_login_changes);
	}
	(void)pg_query(t, "drop procedure set_login()");
}

/* A reset leaves the options, even if the client wrote rows: the next client often has the same. */
static void
the_next_client_s_options_need_no_command(void **state)
{
	static const struct cnp_str nothing = CNP_STR_NONE;
	struct pg *t = *state;

	for (int i = 0; i < 2; i++) {
		assert_ok(t->base.b->attach(t->base.s, &nothing, &t->base.diag));
		assert_int_equal(t->base.b->set_option(t->base.s, "application_name",
					 "o'name", &t->base.diag),
			i == 0 ? CENOTE_OK : CENOTE_DONE);
		assert_non_null(strstr(pg_query(t, "show application_name"), "o'name"));
		(void)pg_query(t, "set application_name = 'other'");
		(void)pg_query(t, "select count(*) from pg_class");
		assert_string_equal(pg_reset(t), "");
	}
}

/* pg_stat_activity shows the last text to every client with the same user. */
static void
the_last_text_is_not_shown(void **state)
{
	static const char *const texts[] = { "select 'my secret'",
		"select 1 as \"my secret\"", "/* my secret */ select 1",
		"select 1 -- my secret", "select 4111111111111111 as secret",
		"show work_mem; -- my secret", "select 1 as secret", "savepoint secret" };
	struct pg *t = *state;
	struct pg other;

	pg_setup(&other);
	assert_ok(pg_login(&other));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)pg_query(t, texts[i]);
		assert_string_equal(pg_state(t), "idle pins=0");
		assert_string_equal(pg_reset(t), "");
		(void)pg_query(&other,
			"select count(*) from pg_stat_activity"
			" where pid <> pg_backend_pid() and query ~ 'secret'");
		if (strstr(other.base.seen.log, "row 0\n") == NULL)
			fail_msg("shown: %s", texts[i]);
	}
	/* nor is the statement there that has no name */
	t->base.is_extended = 1;
	(void)pg_query(t, "select 'my secret'");
	assert_string_equal(pg_reset(t), "");
	assert_non_null(strstr(pg_execute(t, 0, "", 0, NULL, 0), "error 26000"));
	pg_teardown(&other);
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
		TEST(settings_of_a_program_s_own_are_not_lost),
		TEST(what_the_server_lists_is_all_there_is),
		TEST(code_that_has_come_since_is_seen),
		TEST(a_call_by_number_is_one_by_name),
		TEST(what_a_client_begins_with_holds_no_session),
		TEST(options_that_cannot_be_set_are_refused),
		cmocka_unit_test(another_user_is_not_lost),
		TEST(a_unit_without_its_end_is_undone),
		TEST(what_stays_is_nobody_elses),
		TEST(a_session_with_shared_functions_is_kept),
		TEST(an_administrator_can_keep_what_is_compiled),
		TEST(pure_queries_hold_nothing),
		TEST(a_client_without_its_password_keeps_its_session),
		TEST(settings_of_logins_are_seen_to_change),
		TEST(the_next_client_s_options_need_no_command),
		TEST(the_last_text_is_not_shown),
		TEST(a_path_of_the_login_hides_nothing),
		TEST(a_path_that_is_reloaded_hides_nothing),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
