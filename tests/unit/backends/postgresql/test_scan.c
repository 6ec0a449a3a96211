/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a PostgreSQL statement may leave in its session, found without running it. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_guard.h"

#include "pg.h"

#define TEMP     CENOTE_PIN_TEMP
#define SETTINGS CENOTE_PIN_SETTINGS
#define LOCK     CENOTE_PIN_LOCK
#define LISTEN   CENOTE_PIN_LISTEN
#define CURSOR   CENOTE_PIN_CURSOR
#define FUNCTION CENOTE_PIN_FUNCTION
#define PREPARED CENOTE_PIN_PREPARED

#define SETS     CND_PG_SCAN_SETS
#define HIDES    CND_PG_SCAN_HIDES
#define TX       CND_PG_SCAN_TX
#define NO_BLOCK CND_PG_SCAN_NO_BLOCK
#define SEVERAL  CND_PG_SCAN_SEVERAL
#define EMPTY    CND_PG_SCAN_EMPTY
#define COPY     CND_PG_SCAN_COPY
#define REMOVES  CND_PG_SCAN_REMOVES
#define DEFINES  CND_PG_SCAN_DEFINES
#define STAYS    CND_PG_SCAN_STAYS

struct expected {
	const char *sql;
	uint32_t pins;
	uint32_t flags;
};

static void
check_all(const struct expected *cases, size_t n, int has_standard_strings)
{
	struct cnd_pg_facts facts = { .is_date_iso = 1,
		.has_standard_strings = (uint8_t)has_standard_strings };
	struct cnt_guard guard;
	size_t i;

	cnt_guard_init(&guard, 4096);
	for (i = 0; i < n; i++) {
		size_t len = strlen(cases[i].sql);
		struct cnd_pg_scan found;

		cnd_pg_scan((const char *)cnt_guard_put(&guard, cases[i].sql, len), len,
			&facts, &found);
		/* other tests are about these */
		found.flags &= ~(uint32_t)(DEFINES | STAYS | CND_PG_SCAN_ACTS |
					   CND_PG_SCAN_LOCAL | SETS | HIDES |
					   CND_PG_SCAN_RESETS | CND_PG_SCAN_DEALLOCATES |
					   CND_PG_SCAN_ENDS);
		if (found.pins != cases[i].pins || found.flags != cases[i].flags)
			print_error("%s: pins %u, flags %u\n", cases[i].sql,
				(unsigned)found.pins, (unsigned)found.flags);
		assert_int_equal(found.pins, cases[i].pins);
		assert_int_equal(found.flags, cases[i].flags);
	}
	cnt_guard_finish(&guard);
}

static void
what_only_reads_and_writes_rows(void **state)
{
	static const struct {
		const char *sql;
		int acts;
	} cases[] = {
		{ "select f(a) from t; insert into t values (1)", 0 },
		{ "with a as (delete from t returning 1) select * from a", 0 },
		{ "(select 1) union table t", 0 },
		{ "explain analyze merge into t using u on true when matched then delete",
			0 },
		{ "select 1; call p()", 1 },
		{ "do 'begin end'", 1 },
		{ "execute p(1)", 1 },
		{ "create view v as select 1", 1 },
		{ "alter table t add b int", 1 },
		{ "drop table t", 1 },
		{ "refresh materialized view v", 1 },
		{ "select 'never ended", 1 },
	};
	const struct cnd_pg_facts facts = { .is_date_iso = 1, .has_standard_strings = 1 };

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_pg_scan found;

		cnd_pg_scan(cases[i].sql, strlen(cases[i].sql), &facts, &found);
		if (((found.flags & CND_PG_SCAN_ACTS) != 0) != cases[i].acts)
			fail_msg("%s: flags %u", cases[i].sql, (unsigned)found.flags);
	}
}

/* A statement that ends a transaction, and leaves none open. */
static void
what_only_ends_a_transaction(void **state)
{
	static const char *const yes[] = { "commit", "COMMIT WORK;", "end",
		"End Transaction", "rollback", "rollback transaction", "abort",
		"/* x */ abort work", "select 1; commit" };
	static const char *const no[] = { "commit and chain", "commit work and chain",
		"rollback and chain", "rollback to a", "rollback work to savepoint a",
		"commit prepared 'x'", "rollback prepared 'x'", "abort and no chain",
		"prepare transaction 'x'", "begin", "start transaction", "select 1",
		"end x", "" };
	const struct cnd_pg_facts facts = { .is_date_iso = 1, .has_standard_strings = 1 };
	struct cnd_pg_scan found;

	for (size_t i = 0; i < CNT_COUNT(yes); i++) {
		cnd_pg_scan(yes[i], strlen(yes[i]), &facts, &found);
		if ((found.flags & CND_PG_SCAN_ENDS) == 0)
			fail_msg("%s", yes[i]);
	}
	for (size_t i = 0; i < CNT_COUNT(no); i++) {
		cnd_pg_scan(no[i], strlen(no[i]), &facts, &found);
		if ((found.flags & CND_PG_SCAN_ENDS) != 0)
			fail_msg("%s", no[i]);
	}
}

static void
what_changes_a_setting_for_its_transaction(void **state)
{
	static const struct {
		const char *sql;
		int is_local;
	} cases[] = {
		{ "select 1; set local timezone = 'UTC'", 1 },
		{ "SET LOCAL TIME ZONE 'UTC'", 1 },
		{ "set local role r", 1 },
		{ "set local \"work_mem\" = 1", 1 },
		{ "set client_encoding = 'LATIN1'", 1 },
		{ "set names 'LATIN1'", 1 },
		{ "select pg_catalog.set_config('timezone', 'UTC', true)", 1 },
		{ "select set_config($1, 'UTC', true)", 1 },
		{ "select set_config('app.x' || 'y', 'UTC', true)", 1 },
		{ "set local work_mem = '1MB'", 0 },
		{ "set local app.tenant = 'a'", 0 },
		{ "set application_name = 'a'", 0 },
		{ "set transaction read only", 0 },
		{ "select set_config('App.tenant', $1, true)", 0 },
		{ "select set_config('Lock_Timeout', '1s', true)", 0 },
		{ "update t set local = 1", 0 },
	};
	const struct cnd_pg_facts facts = { .is_date_iso = 1, .has_standard_strings = 1 };

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnd_pg_scan found;

		cnd_pg_scan(cases[i].sql, strlen(cases[i].sql), &facts, &found);
		if (((found.flags & CND_PG_SCAN_LOCAL) != 0) != cases[i].is_local)
			fail_msg("%s: flags %u", cases[i].sql, (unsigned)found.flags);
	}
}

static void
what_a_reset_does_not_undo(void **state)
{
	static const struct {
		const char *sql;
		uint32_t flags;
	} cases[] = {
		{ "select * from t join u on true where a = f('x')", 0 },
		{ "insert into t values (1); update t set a = 1; delete from t", 0 },
		{ "with new as (insert into t values (1) returning a) select * from new",
			0 },
		{ "explain analyze merge into t using u on true when matched then delete",
			0 },
		{ "(select f())", 0 },
		{ "copy t from stdin; call p(); execute s; fetch all from c; values "
		  "(f())",
			0 },
		{ "begin; set local search_path = a, b; set role r; commit", 0 },
		{ "select set_config('search_path', 'a', true)", 0 },
		{ "select pg_catalog.set_config('application_name', $1, false)", 0 },
		{ "select pg_catalog.set_config( E'a.b','c', false)", 0 },
		{ "listen a; truncate t; analyze t; vacuum t; lock t; table t; move c",
			0 },
		{ "select f($$create table t (a int)$$)", 0 },
		{ "create table t (a int)", DEFINES },
		{ "select 1; alter domain d rename to e", DEFINES },
		{ "drop type t", DEFINES },
		{ "explain analyze create table t as select 1", DEFINES },
		{ "do 'begin end'", DEFINES },
		{ "import foreign schema a from server s into b", DEFINES },
		{ "what_comes_in_some_later_version t", DEFINES },
		{ "select a into t from u", DEFINES },
		{ "with x as (select 1) select * into t from x", DEFINES },
		{ "set standard_conforming_strings = off", DEFINES },
		{ "set local Backslash_Quote = on", DEFINES },
		{ "set plpgsql.variable_conflict = use_column", DEFINES },
		{ "set \"plpgsql.variable_conflict\" = use_column", DEFINES },
		{ "select set_config('plpgsql.variable_conflict', 'error', true)",
			DEFINES },
		{ "select set_config('PLPGSQL.variable_conflict', 'error', true)",
			DEFINES },
		{ "select set_config('plp'\n'gsql.variable_conflict', 'error', true)",
			DEFINES },
		{ "select set_config(e'\\x70lpgsql.variable_conflict', 'error', true)",
			DEFINES },
		{ "select set_config('backslash' || '_quote', 'on', true)", DEFINES },
		{ "select set_config($1, 'on', true)", DEFINES },
		{ "select set_config(value => 'on', setting_name => 'a', is_local => "
		  "true)",
			DEFINES },
		{ "update pg_settings set setting = 'on' where name = $1", DEFINES },
		{ "select u&\"set_config\"('a', 'b', true)", DEFINES | STAYS },
		{ "load 'auto_explain'", STAYS },
		{ "select pg_backup_start('a')", STAYS },
		{ "select isn_weak(true)", STAYS },
		{ "select dblink_connect('a', 'b')", STAYS },
		{ "select pg_create_physical_replication_slot('a', true, true)", STAYS },
		{ "select pg_replication_origin_session_setup('a')", STAYS },
	};
	const struct cnd_pg_facts facts = { .is_date_iso = 1, .has_standard_strings = 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cnd_pg_scan found;

		cnd_pg_scan(cases[i].sql, strlen(cases[i].sql), &facts, &found);
		if ((found.flags & (DEFINES | STAYS)) != cases[i].flags)
			fail_msg("%s: flags %u", cases[i].sql, (unsigned)found.flags);
	}
}

static void
what_calls_nothing_leaves_nothing(void **state)
{
	static const struct expected cases[] = {
		{ "", 0, EMPTY },
		{ " ; ;; -- nothing\n /* at /* all */ */ ;", 0, EMPTY },
		{ "select 1", 0, 0 },
		{ "SELECT 1, 'a''b', -2.5e-3 AS \"from\", null, true;", 0, 0 },
		{ "select pg_catalog.version() as v, current_user", 0, 0 },
		{ "select pg_catalog.current_setting('server_version')", 0, 0 },
		{ "select '1'::int, time '12:00', '5'::numeric(10, 2)", 0, 0 },
		{ "select pg_catalog.date '2020-01-01', PG_CATALOG . text 'a'", 0, 0 },
		{ "select (select 1), (+3)", 0, 0 },
		{ "select e'\\'' as x", 0, 0 },
		{ "select $$ from f() $$, $a$ $$ ; set x = 1 $a$", 0, 0 },
		{ "explain select 1", 0, 0 },
		{ "explain (analyze, verbose) select pg_catalog.now()", 0, 0 },
		{ "show search_path", 0, 0 },
		{ "reset all", 0, 0 },
		{ "lock table t in share mode", 0, 0 },
		{ "notify a, 'b'", 0, 0 },
		{ "unlisten *", 0, 0 },
		{ "deallocate all", 0, 0 },
		{ "close c", 0, 0 },
		{ "checkpoint", 0, 0 },
		{ "savepoint a", 0, 0 },
		{ "release a", 0, 0 },
		{ "set transaction isolation level serializable", 0, 0 },
		{ "set constraints all deferred", 0, 0 },
		{ "discard temp", 0, 0 },
	};

	check_all(cases, CNT_COUNT(cases), 1);
}

static void
transactions_are_told(void **state)
{
	static const struct expected cases[] = {
		{ "begin", 0, TX },
		{ "/* a */ Begin isolation level serializable, read only", 0, TX },
		{ "start transaction", 0, TX },
		{ "commit", 0, TX },
		{ "commit and chain", 0, TX },
		{ "end work", 0, TX },
		{ "abort", 0, TX },
		{ "rollback", 0, TX },
		{ "rollback transaction", 0, TX },
		{ "rollback to a", 0, 0 },
		{ "rollback work to savepoint a", 0, 0 },
		{ "prepare transaction 'x'", 0, TX },
		{ "prepare transaction e'x'", 0, TX },
		{ "prepare transaction as select 1", PREPARED, 0 },
		{ "prepare transaction (int) as select 1", PREPARED, 0 },
		{ "commit prepared 'x'", 0, NO_BLOCK },
		{ "rollback prepared 'x'", 0, NO_BLOCK },
		{ "begin; select 1; commit", 0, TX | SEVERAL },
		{ "select 1; vacuum", FUNCTION, NO_BLOCK | SEVERAL },
		{ "vacuum analyze t", FUNCTION, NO_BLOCK },
		{ "create database d", FUNCTION, NO_BLOCK },
		{ "drop database if exists d", FUNCTION, NO_BLOCK },
		{ "create tablespace t location '/'", FUNCTION, NO_BLOCK },
		{ "create unique index concurrently i on t (a)", FUNCTION, NO_BLOCK },
		{ "create index concurrently on t (a)", FUNCTION, NO_BLOCK },
		{ "create index i on t (a)", FUNCTION, 0 },
		{ "drop index concurrently i", FUNCTION, NO_BLOCK },
		{ "drop index i", FUNCTION, 0 },
		{ "alter system set a = b", FUNCTION, NO_BLOCK },
		{ "alter table t add a int", FUNCTION, 0 },
		{ "cluster", FUNCTION, NO_BLOCK },
		{ "cluster verbose;", FUNCTION, NO_BLOCK },
		{ "cluster t", FUNCTION, 0 },
		{ "reindex database d", FUNCTION, NO_BLOCK },
		{ "reindex (verbose) schema s", FUNCTION, NO_BLOCK },
		{ "reindex table concurrently t", FUNCTION, NO_BLOCK },
		{ "reindex table t", FUNCTION, 0 },
		{ "discard all", 0, NO_BLOCK },
	};

	check_all(cases, CNT_COUNT(cases), 1);
}

/* The names that the server does not list, each followed by a blank. */
static void
join_names(const struct cnd_pg_scan *scan, char to[256])
{
	const char *name = scan->names;

	for (*to = '\0'; *name != '\0'; name += strlen(name) + 1) {
		strcat(to, name);
		strcat(to, " ");
	}
}

#define LONG_NAME                                                                        \
	"a.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A setting that can be asked for moves with its client; anything else keeps the session. */
static void
the_settings_of_a_text_have_names(void **state)
{
	static const struct {
		const char *sql;
		uint32_t flags;
		const char *names;
	} cases[] = {
		{ "set work_mem = '1MB'", SETS, "" },
		{ "set session time zone 'UTC'", SETS, "" },
		{ "set role r", SETS, "" },
		{ "set session characteristics as transaction read only", SETS, "" },
		{ "set app.tenant = 5", SETS, "app.tenant " },
		{ "set SESSION App.\"Tenant\" to 5", SETS, "App.Tenant " },
		{ "set \"app.tenant\" = 5", SETS, "app.tenant " },
		{ "set session.names = 1", SETS, "session.names " },
		{ "set a.b.c = 1; set d.e = 2", SETS, "a.b.c d.e " },
		{ "select set_config('app.a', $1, false), set_config('app.b', '1', "
		  "false)",
			SETS, "app.a app.b " },
		{ "select set_config(E'app.a', '1', false)", SETS, "app.a " },
		{ "set local app.tenant = 5", 0, "" },
		{ "select set_config('app.a', '1', true)", 0, "" },
		{ "set seed = 0.5", HIDES, "" },
		{ "set session authorization a", HIDES, "" },
		{ "select set_config('seed', '0.5', false)", HIDES, "" },
		{ "select set_config($1, '1', false)", HIDES, "" },
		{ "select set_config('app.' || 'a', '1', false)", HIDES, "" },
		{ "select set_config(E'app\\x2ea', '1', false)", HIDES, "" },
		{ "set \"app.te\"\"nant\" = 5", HIDES, "" },
		{ "set app.\xc3\xa4 = 5", HIDES, "" },
		{ "set " LONG_NAME " = 5; set " LONG_NAME " = 6", SETS | HIDES,
			LONG_NAME " " },
		{ "do $$ begin end $$", HIDES, "" },
		{ "select setseed(0.5)", HIDES, "" },
		{ "load 'x'", HIDES, "" },
		{ "select u&\"\\006eow\"()", HIDES, "" },
		{ "select 1", 0, "" },
	};
	const struct cnd_pg_facts facts = { .has_standard_strings = 1 };
	struct cnd_pg_scan found;
	char names[256];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		cnd_pg_scan(cases[i].sql, strlen(cases[i].sql), &facts, &found);
		join_names(&found, names);
		if ((found.flags & (SETS | HIDES)) != cases[i].flags ||
			strcmp(names, cases[i].names) != 0)
			fail_msg("%s: flags %u, names %s", cases[i].sql,
				(unsigned)found.flags, names);
		/* either way, the session is reset for the next client */
		assert_true(cases[i].flags == 0 || (found.pins & SETTINGS) != 0);
	}
}

static void
what_is_left_for_certain_is_told(void **state)
{
	static const struct expected cases[] = {
		{ "set work_mem = '1MB'", SETTINGS, 0 },
		{ "set session time zone 'UTC'", SETTINGS, 0 },
		/* what the server reports is compared, the custom setting "names.x" is not */
		{ "set names 'utf8'", FUNCTION, 0 },
		{ "SET client_encoding TO utf8", FUNCTION, 0 },
		{ "set session application_name = 'a'", FUNCTION, 0 },
		{ "set names.x = 1", SETTINGS, 0 },
		{ "set application_name /**/ . /**/ x = 1", SETTINGS, 0 },
		{ "set \"client_encoding\" = utf8", SETTINGS, 0 },
		{ "set session.names = 1", SETTINGS, 0 },
		{ "set session authorization names", SETTINGS, 0 },
		{ "set role r", SETTINGS, 0 },
		{ "set session characteristics as transaction read only", SETTINGS, 0 },
		{ "load 'x'", SETTINGS, 0 },
		{ "do $$ begin end $$", FUNCTION | SETTINGS, 0 },
		{ "select u&\"\\006eow\"()", FUNCTION | SETTINGS, 0 },
		{ "lock table U&\"t\"", FUNCTION | SETTINGS, 0 },
		{ "select setseed(0.5)", FUNCTION | SETTINGS, 0 },
		{ "select pg_catalog.\"query_to_xml\"($1, true, true, '')",
			FUNCTION | SETTINGS, 0 },
		{ "select pg_backup_start('a')", FUNCTION | SETTINGS, 0 },
		{ "drop function f", FUNCTION, REMOVES },
		{ "alter view v rename to w", FUNCTION, REMOVES },
		{ "create or replace rule r as on insert to t do nothing", FUNCTION,
			REMOVES },
		{ "create function f() returns int return 1", FUNCTION, 0 },
		{ "drop table t", FUNCTION, 0 },
		{ "listen a", LISTEN, 0 },
		{ "prepare p as select 1", PREPARED, 0 },
		{ "declare c cursor for select 1", FUNCTION, 0 },
		{ "declare c cursor without hold for select 1", FUNCTION, 0 },
		{ "declare c no scroll cursor with hold for select 1", FUNCTION | CURSOR,
			0 },
		{ "declare \"for\" cursor with hold for select 1", FUNCTION | CURSOR, 0 },
		{ "create temp table t (a int)", FUNCTION | TEMP, 0 },
		{ "create local temporary view v as select 1", FUNCTION | TEMP, 0 },
		{ "create or replace temp view v as select 1", FUNCTION | TEMP, REMOVES },
		{ "create temp sequence s", FUNCTION | TEMP, 0 },
		{ "create table pg_temp.t (a int)", FUNCTION | TEMP, 0 },
		{ "create table \"pg_temp_3\".t (a int)", FUNCTION | TEMP, 0 },
		{ "create table temp (a int)", FUNCTION, 0 },
		{ "insert into temp values (1)", FUNCTION, 0 },
		{ "select 1 into temp t", FUNCTION | TEMP, 0 },
		{ "select 1 into local temporary t", FUNCTION | TEMP, 0 },
		{ "select 1 as \"insert\" into temp t", FUNCTION | TEMP, 0 },
		{ "explain analyze create temp table t as select 1", FUNCTION | TEMP, 0 },
		{ "explain (analyze) select 1 into temporary table t", FUNCTION | TEMP,
			0 },
		{ "select pg_advisory_lock(1)", FUNCTION | LOCK, 0 },
		{ "select pg_try_advisory_lock_shared(1)", FUNCTION | LOCK, 0 },
		{ "select pg_advisory_xact_lock(1)", FUNCTION, 0 },
		{ "select set_config('a.b', 'c', false)", FUNCTION | SETTINGS, 0 },
		{ "select set_config('a.b', f(1, true), true)", FUNCTION, 0 },
		{ "select set_config('a.b', f(1, true), $1)", FUNCTION | SETTINGS, 0 },
		{ "select set_config('a.b', 'c', true or false)", FUNCTION | SETTINGS,
			0 },
		{ "select \"set_config\"('a.b', 'c', not true)", FUNCTION | SETTINGS, 0 },
		{ "select 1; set a = 1; listen x", SETTINGS | LISTEN, SEVERAL },
	};

	check_all(cases, CNT_COUNT(cases), 1);
}

/* Each of these can call a function that a user wrote. */
static void
what_is_not_proved_may_leave_something(void **state)
{
	static const struct expected cases[] = {
		{ "select * from t", FUNCTION, 0 },
		{ "table t", FUNCTION, 0 },
		{ "select f()", FUNCTION, 0 },
		{ "select s.now()", FUNCTION, 0 },
		/* search_path decides whose functions these are. */
		{ "select now()", FUNCTION, 0 },
		{ "select current_setting('server_version')", FUNCTION, 0 },
		{ "select current_schema()", FUNCTION, 0 },
		{ "select 'x'::text", FUNCTION, 0 },
		{ "select date '2020-01-01'", FUNCTION, 0 },
		{ "select \"int\" '1'", FUNCTION, 0 },
		{ "select now(1)", FUNCTION, 0 },
		{ "select now.f()", FUNCTION, 0 },
		{ "select \"now\"()", FUNCTION, 0 },
		{ "select pg_catalog.f()", FUNCTION, 0 },
		{ "select current_setting($1)", FUNCTION, 0 },
		{ "select current_schema(1)", FUNCTION, 0 },
		{ "select $1", FUNCTION, 0 },
		{ "set local search_path = a, pg_catalog", FUNCTION, 0 },
		{ "select 5::int8", FUNCTION, 0 },
		{ "select now()::text", FUNCTION, 0 },
		{ "select '5'::int::text", FUNCTION, 0 },
		{ "select 1 union select 2.5", FUNCTION, 0 },
		{ "values (1), (2.5)", FUNCTION, 0 },
		{ "select 1 limit 1", FUNCTION, 0 },
		{ "select 1 + 1", FUNCTION, 0 },
		{ "select 1 -1", FUNCTION, 0 },
		{ "select 1 as a, 1 - 1", FUNCTION, 0 },
		{ "select mytype 'x'", FUNCTION, 0 },
		{ "select 'x'::mytype", FUNCTION, 0 },
		{ "select 'x'::s.int", FUNCTION, 0 },
		{ "select 'x'::\"Int\"", FUNCTION, 0 },
		{ "select 1 limit by(1)", FUNCTION, 0 },
		{ "select 1 where a like 'b'", FUNCTION, 0 },
		{ "select array[1]", FUNCTION, 0 },
		{ "select now(), f()", FUNCTION, 0 },
		{ "with a as (select 1) select * from a", FUNCTION, 0 },
		{ "(select 1)", FUNCTION, 0 },
		{ "insert into t values (1)", FUNCTION, 0 },
		{ "update t set a = 1", FUNCTION, 0 },
		{ "delete from t", FUNCTION, 0 },
		{ "copy t from stdin", FUNCTION, COPY },
		{ "/* it */ copy (select 1) to stdout", FUNCTION, COPY },
		{ "call p()", FUNCTION, 0 },
		{ "execute p", FUNCTION, 0 },
		{ "explain execute p", FUNCTION, 0 },
		{ "fetch 1 from c", FUNCTION, 0 },
		{ "create table t (a int)", FUNCTION, 0 },
		{ "grant select on t to r", FUNCTION, 0 },
		{ "\"select\" 1", FUNCTION, 0 },
		{ "nonsense", FUNCTION, 0 },
	};

	check_all(cases, CNT_COUNT(cases), 1);
}

static void
text_that_is_not_sql_does_not_hide_sql(void **state)
{
	static const struct expected cases[] = {
		{ "select 'a;' ; set a = 1", SETTINGS, SEVERAL },
		{ "select 'a'';' ; set a = 1", SETTINGS, SEVERAL },
		{ "select 'a\\' ; set a = 1 --'", SETTINGS, SEVERAL },
		{ "select e'a\\' ; set a = 1 --'", 0, 0 },
		/* A string continues on the next line, under the rules that it began with. */
		{ "select e'a'\n'\\''; set a = 1 --'", SETTINGS, SEVERAL },
		{ "select e'a' -- b\n '\\''; set a = 1 --'", SETTINGS, SEVERAL },
		{ "select b'1'\n'0\\'; set a = 1 --'", SETTINGS, SEVERAL },
		{ "select /* ; /* */ ; */ 1; set a = 1", SETTINGS, SEVERAL },
		{ "select 1 -- ; set a = 1", 0, 0 },
		{ "select 1 --\r; set a = 1", SETTINGS, SEVERAL },
		{ "select 1 as \"a;\"\"b\"; set a = 1", SETTINGS, SEVERAL },
		{ "select $a$ $b$ ; $a$ ; set a = 1", SETTINGS, SEVERAL },
		{ "select a$b$ ; set a = 1 -- $b$", FUNCTION | SETTINGS, SEVERAL },
		{ "select $1$a$ ; set a = 1 -- $a$", FUNCTION, 0 },
		{ "select 1from v", FUNCTION, 0 },
		{ "select 1e5from v", FUNCTION, 0 },
		{ "select 'not closed", FUNCTION, 0 },
		/* In another encoding, this byte is not a backslash, and the string ends before
		 * it. */
		{ "select e'\x95\\'; set a = 1 --'", FUNCTION, 0 },
		{ "select \"not closed", FUNCTION, 0 },
		{ "select $a$ not closed", FUNCTION, 0 },
		{ "select 1 /* not closed", FUNCTION, 0 },
		{ "select 1 \\ g", FUNCTION, 0 },
		{ "create rule r as on insert to t do also (set a = 1; set b = 2)",
			FUNCTION, 0 },
		{ "create function f() returns int begin atomic select case when true "
		  "then "
		  "1 end; select 2; end; set a = 1",
			FUNCTION | SETTINGS, SEVERAL },
		{ "create or replace procedure p() begin atomic commit; end", FUNCTION,
			REMOVES },
		{ "create function begin() returns int language sql return 1; set a = 1",
			FUNCTION | SETTINGS, SEVERAL },
	};
	static const struct expected old[] = {
		{ "select 'a\\' ; set a = 1 --'", 0, 0 },
		{ "select 'a\\\\'; set a = 1 --'", SETTINGS, SEVERAL },
		{ "select n'a\\' ; set a = 1 --'", 0, 0 },
		{ "select x'a\\' ; set a = 1 --'", SETTINGS, SEVERAL },
	};

	check_all(cases, CNT_COUNT(cases), 1);
	check_all(old, CNT_COUNT(old), 0);
}

/* The time must not grow with the square of the text's length. */
static void
long_texts_are_read_once(void **state)
{
	static const char *const pieces[] = { "set_config(", "(", "'", "/*", "$a$",
		"explain ", "declare ", "reindex (", "\"", "create or replace ", "into ",
		"begin ; ", "do ;" };
	struct cnd_pg_facts facts = { .has_standard_strings = 1 };
	size_t max = 2000000, i, len;
	char *sql = malloc(max);

	assert_non_null(sql);
	for (i = 0; i < CNT_COUNT(pieces); i++) {
		size_t n = strlen(pieces[i]);
		struct cnd_pg_scan found;

		for (len = 0; len + n <= max; len += n)
			memcpy(sql + len, pieces[i], n);
		cnd_pg_scan(sql, len, &facts, &found);
		assert_int_equal(found.flags & EMPTY, 0);
	}
	free(sql);
}

static uint64_t
prepares(const char *sql, size_t len)
{
	struct cnd_pg_facts facts = { .has_standard_strings = 1 };
	struct cnd_pg_scan found;

	cnd_pg_scan(sql, len, &facts, &found);
	return found.prepares;
}

static void
one_prepare_can_be_run_again(void **state)
{
	static const char *const yes[] = { "prepare a as select 1",
		"/* x */ Prepare \"a;b\" (int, text) as insert into t values ($1, $2);",
		"prepare transaction as select 1" };
	static const char *const no[] = { "", "select 1", "prepare transaction 'x'",
		"prepare a as select 1; select 2", "select 1; prepare a as select 1",
		"prepare a as select 1 into b", "prepare a as select pg_advisory_lock(1)",
		"prepare a as select set_config('a.b', 'c', false)",
		"prepare a as select set_config('timezone', 'UTC', true)",
		"prepare a as select setseed(1)", "prepare U&\"a\" as select 1",
		"prepare a as select * from pg_temp.t", "prepare a as select 1a",
		"prepare a as select 'x", "execute a" };
	char text[CND_PG_CARRY_MAX] = "prepare a as select ";

	for (size_t i = 0; i < CNT_COUNT(yes); i++)
		assert_true(prepares(yes[i], strlen(yes[i])) ==
			    cnd_pg_hash(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < CNT_COUNT(no); i++)
		assert_true(prepares(no[i], strlen(no[i])) == 0);
	memset(text + 20, '1', sizeof(text) - 20);
	assert_true(prepares(text, sizeof(text) - 2) != 0);
	assert_true(prepares(text, sizeof(text) - 1) == 0);
}

/* Texts of one length, with and without standard strings, and more of them than the memo keeps. */
static void
what_is_kept_is_what_would_be_found(void **state)
{
	static struct cnd_pg_memo memo;
	char sql[64];

	for (int i = 0; i < 1000; i++) {
		struct cnd_pg_facts facts = { .has_standard_strings =
						      (uint8_t)(i / 3 % 2) };
		struct cnd_pg_scan found, kept;
		int len = snprintf(sql, sizeof(sql),
			i % 4 ? "select '\\', f('%d') --'" : "select '\\', 1 -- %d '",
			i / 7 % 10);

		cnd_pg_scan(sql, (size_t)len, &facts, &found);
		cnd_pg_memo_scan(&memo, sql, (size_t)len, &facts, &kept);
		assert_memory_equal(&found, &kept, sizeof(found));
	}
}

static void
a_text_without_a_statement_and_a_long_one_are_read_each_time(void **state)
{
	static struct cnd_pg_memo memo;
	struct cnd_pg_facts facts = { .has_standard_strings = 1 };
	char sql[CND_PG_MEMO_TEXT_MAX + 2];
	struct cnd_pg_scan found;

	cnd_pg_memo_scan(&memo, "", 0, &facts, &found);
	assert_int_equal(found.flags, EMPTY);
	memset(sql, ' ', sizeof(sql));
	memcpy(sql, "listen a", 8);
	for (size_t len = CND_PG_MEMO_TEXT_MAX - 1; len <= sizeof(sql); len++) {
		for (int again = 0; again < 2; again++) {
			cnd_pg_memo_scan(&memo, sql, len, &facts, &found);
			assert_int_equal(found.pins, LISTEN);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_reads_and_writes_rows),
		cmocka_unit_test(what_only_ends_a_transaction),
		cmocka_unit_test(what_changes_a_setting_for_its_transaction),
		cmocka_unit_test(what_a_reset_does_not_undo),
		cmocka_unit_test(the_settings_of_a_text_have_names),
		cmocka_unit_test(what_calls_nothing_leaves_nothing),
		cmocka_unit_test(transactions_are_told),
		cmocka_unit_test(what_is_left_for_certain_is_told),
		cmocka_unit_test(what_is_not_proved_may_leave_something),
		cmocka_unit_test(text_that_is_not_sql_does_not_hide_sql),
		cmocka_unit_test(long_texts_are_read_once),
		cmocka_unit_test(one_prepare_can_be_run_again),
		cmocka_unit_test(what_is_kept_is_what_would_be_found),
		cmocka_unit_test(
			a_text_without_a_statement_and_a_long_one_are_read_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
