/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fresh equivalence on PostgreSQL: the probe's questions, the random statements, and
 * what the server's own reset leaves.
 */
#include "fresh.h"

#include <string.h>

/* Functions that do what a client could also do with its own statements. */
static const char setup[] =
	"create extension if not exists pg_trgm;\n"
	"create role fr_member login;\n"
	"grant fr_member to app;\n"
	"create table fr_t (id serial primary key, a text, b int);\n"
	"insert into fr_t (a, b) select 'row ' || i, i from generate_series(1, 20) i;\n"
	"create sequence fr_s;\n"
	"create table fr_foreseen (v double precision);\n"
	"do $$ begin perform setseed(0.5);\n"
	"insert into fr_foreseen select random() from generate_series(1, 500); end $$;\n"
	"create index on fr_foreseen (v); analyze fr_foreseen;\n"
	"create function fr_settings() returns void language plpgsql as $$ begin\n"
	"set work_mem = '3MB'; perform set_config('fresh.inside', 'secret', false);\n"
	"perform set_config('search_path', 'nowhere', false); end $$;\n"
	/* The same setting, in places that the text of no function shows. */
	"create function fr_tree() returns text language sql as\n"
	"$$ select set_config('fresh.inside', 'secret', false) $$;\n"
	/* Before PostgreSQL 14, every body was a text. */
	"do $do$ begin if current_setting('server_version_num')::int >= 140000 then\n"
	"execute $$ create or replace function fr_tree() returns text return\n"
	"set_config('fresh.inside', 'secret', false) $$; end if; end $do$;\n"
	"create view fr_hides as select set_config('fresh.inside', 'secret', false) as "
	"v;\n"
	"create table fr_by_default (a int,\n"
	"b text default set_config('fresh.inside', 'secret', false));\n"
	"create domain fr_checked text\n"
	"check (set_config('fresh.inside', value, false) is not null);\n"
	"create aggregate fr_sets(text, boolean) (sfunc = set_config, stype = text,\n"
	"initcond = 'fresh.inside');\n"
	"create function fr_becomes() returns void language plpgsql as $$ begin\n"
	"set session authorization app; end $$;\n"
	"create function fr_objects() returns void language plpgsql as $$ begin\n"
	"create temporary table if not exists fr_inside (a text);\n"
	"insert into fr_inside values ('secret'); perform pg_advisory_lock(77);\n"
	"execute 'listen fr_inside'; perform nextval('fr_s'); perform setseed(0.5); end "
	"$$;\n"
	"create function fr_cursor() returns refcursor language plpgsql as $$\n"
	"declare c cursor for select * from fr_t; begin open c; return c; end $$;\n"
	"create procedure fr_commits() language plpgsql as $$ begin\n"
	"insert into fr_t (a) values ('x'); commit; set work_mem = '4MB';\n"
	"perform pg_advisory_lock(78); rollback; end $$;\n"
	"create function fr_defaults() returns int language sql set work_mem = '5MB'\n"
	"set search_path = pg_catalog as 'select 1';\n"
	/* Keys in a temporary table, as in applications with encrypted columns. */
	"create table fr_secret (t text); insert into fr_secret values ('clear text');\n"
	"create function enable_key(name text, password text) returns text language "
	"plpgsql\n"
	"as $$ begin create temporary table enabled_keys as select name as k, password "
	"as p;\n"
	"perform set_config('fresh.key', password, false);\n"
	"prepare fr_decrypt as select t from fr_secret;\n"
	"execute 'declare fr_clear cursor with hold for select t from fr_secret';\n"
	"return 'enabled'; end $$;\n"
	"create function decrypt_secret() returns text language plpgsql as $$ begin\n"
	"if (select p from enabled_keys) is distinct from 'pw' then\n"
	"raise 'no key'; end if; return (select t from fr_secret); end $$;\n"
	/* The server compiles these functions once, with a type whose name may mean another type on
	 * another search_path. */
	"create schema fr_tenant; grant all on schema fr_tenant to public;\n"
	"create domain fr_label text;\n"
	"create function fr_shared(a text) returns text language plpgsql as $$\n"
	"declare x fr_label := a; begin return x; end $$;\n"
	"create table fr_log (a text);\n"
	"create function fr_note() returns trigger language plpgsql as $$\n"
	"declare x fr_label := new.a; begin return null; end $$;\n"
	"create trigger fr_note before insert on fr_log for each row\n"
	"execute function fr_note();\n"
	"create function fr_elsewhere() returns text language sql\n"
	"set search_path = fr_tenant, public as 'select fr_shared(''a'')';\n"
	/* On this path, a schema with its own function comes before the server's schema: a call of
	 * that function leaves a setting. */
	"create schema fr_evil; grant usage on schema fr_evil to public;\n"
	"create function fr_evil.pg_postmaster_start_time() returns text language sql as "
	"$$\n"
	"select set_config('work_mem', '6MB', false) $$;\n"
	"alter role app set search_path = fr_evil, PG_CATALOG, public;\n"
	"grant all on all tables in schema public to public;\n"
	"grant all on all sequences in schema public to public;\n"
	"grant all on schema public to public;\n";

/* Without this code, the pool keeps a session in which PL/pgSQL has run. */
static const char tame[] =
	"drop function fr_settings, fr_tree, fr_becomes, fr_objects, enable_key;\n"
	"drop view fr_hides; drop table fr_by_default; drop domain fr_checked;\n"
	"drop aggregate fr_sets(text, boolean);\n";

static const struct fr_pool pools[] = {
	{ "app", "app", 0 },
	{ "super", "postgres", 1 },
};

static const struct fr_probe probes[] = {
	/* First, since an open or failed transaction shows here. */
	{ "transaction", "select now() = statement_timestamp(),"
			 " pg_current_xact_id_if_assigned() is null" },
	/* Ask the functions behind the views, to save the views' own work. The rows come in the
	 * order of names. */
	{ "setting",
		"select name, setting, reset_val, source from pg_show_all_settings()" },
	/* For fresh.*, ask for the value, not whether the name is known. */
	{ "session",
		"select current_user, session_user, current_database(),"
		" current_schema, user, current_role, current_setting('role'),"
		" current_setting('session_authorization'),"
		" current_setting('is_superuser'), current_setting('server_encoding'),"
		" coalesce(current_setting('fresh.a', true), ''),"
		" coalesce(current_setting('fresh.b', true), ''),"
		" coalesce(current_setting('fresh.inside', true), ''),"
		" current_schemas(true),"
		" to_regclass('fr_t') = to_regclass('public.fr_t'),"
		" to_regclass('fr_inside'), pg_replication_origin_session_is_setup(),"
		" show_limit(), fr_shared('probe')" },
	{ "trigger", "insert into fr_log values ('probe')" },
	{ "custom name", "select n, current_setting('fresh.' || n, true) is null"
			 " from unnest(array['a', 'b', 'inside']) n" },
	{ "temp schema", "select pg_my_temp_schema() <> 0" },
	/* Each temporary object depends on its schema, and an index finds the objects of a schema. */
	{ "held", "select 'object', pg_describe_object(classid, objid, objsubid), null"
		  " from pg_depend where refclassid = 'pg_namespace'::regclass"
		  " and refobjid = pg_my_temp_schema()"
		  " union all select 'statement', name || ' ' || from_sql, statement"
		  " from pg_prepared_statement()"
		  " union all select 'cursor', name || ' ' || is_holdable, statement"
		  " from pg_cursor()"
		  " union all select 'lock', concat_ws(' ', locktype, mode, granted, "
		  "classid,"
		  " objid), relation::regclass::text from pg_lock_status()"
		  " where pid = pg_backend_pid() and locktype <> 'virtualxid'"
		  " and relation is distinct from 'pg_depend'::regclass"
		  " and relation is distinct from 'pg_depend_reference_index'::regclass"
		  " union all select 'listening', c, null from pg_listening_channels() c"
		  " order by 1, 2, 3" },
	{ "lastval", "select lastval()" },
	{ "currval", "select currval('fr_s')" },
	{ "currval serial", "select currval('fr_t_id_seq')" },
	{ "activity", "select datid, usesysid, application_name, client_addr, state,"
		      " wait_event, backend_xid, backend_type"
		      " from pg_stat_get_activity(pg_backend_pid())" },
	{ "foreseen", "with r as materialized (select random() v)"
		      " select exists (select from fr_foreseen f, r where f.v = r.v)" },
	{ "writes",
		"with w as (insert into fr_t (a) values ('probe') returning a)"
		" select count(*), pg_catalog.current_setting('transaction_isolation'),"
		" pg_catalog.current_setting('transaction_read_only') from w" },
	{ "execute", "execute fr_p1" },
	{ "fetch", "fetch fr_c1" },
	{ "discarded", "delete from fr_t where id > 20" },
	{ NULL, NULL },
};

#define SETTING                                                                          \
	"{work_mem = '1MB'|search_path = ''|search_path = nowhere, public|search_path "  \
	"= "                                                                             \
	"fr_tenant, public|timezone = "                                                  \
	"'Asia/Tokyo'|datestyle = 'German'|intervalstyle = iso_8601|bytea_output = "     \
	"escape"                                                                         \
	"|extra_float_digits = 0|client_encoding = "                                     \
	"{latin1|utf8|sql_ascii}|application_name"                                       \
	" = 'other'|statement_timeout = '{9s|1ms}'|lock_timeout = '8s'"                  \
	"|idle_in_transaction_session_timeout = '7s'|idle_session_timeout = '9s'"        \
	"|default_transaction_isolation = "                                              \
	"serializable|default_transaction_read_only = "                                  \
	"on|default_transaction_deferrable = on"                                         \
	"|enable_seqscan = off|fresh.a = 'secret'|fresh.b = '{1|2}'"                     \
	"|standard_conforming_strings = off|backslash_quote = on"                        \
	"|client_min_messages = {debug1|error}|lc_messages = 'C'|xmloption = document"   \
	"|temp_buffers = '2MB'|plan_cache_mode = force_generic_plan|row_security = off"  \
	"|default_tablespace = ''|check_function_bodies = off|geqo_seed = 0.7"           \
	"|session_replication_role = replica|plpgsql.extra_warnings = 'all'"             \
	"|plpgsql.variable_conflict = use_variable"                                      \
	"|synchronous_commit = off|password_encryption = md5|commit_delay = 3"           \
	"|log_statement = 'all'|transaction_isolation = serializable|role = fr_member"   \
	"|vacuum_cost_delay = 5|jit = off|cursor_tuple_fraction = 0.5}"

static const char *const statements[] = {
	"set {|session |local }" SETTING,
	"set {|session |local }" SETTING,
	"set {|session |local }" SETTING,
	"select set_config('{work_mem', '2MB|fresh.a', 'secret|role', "
	"'fr_member|timezone', "
	"'UTC|application_name', 'x}', {true|false})",
	"reset {all|work_mem|role|session authorization|search_path}",
	"set time zone {'+05:30'|local|default|interval '-08:00' hour to minute}",
	"set names '{latin1|utf8}'",
	"{set session characteristics as transaction|set transaction} {isolation level "
	"{serializable|repeatable read|read uncommitted}|read only|read write}",
	"set {session |local }role {fr_member|none}",
	"!set {session |local |}session authorization {app|fr_member|default}",
	"begin{| isolation level serializable| read only| isolation level serializable "
	"read "
	"only deferrable}",
	"{commit|rollback|end|abort|commit and chain|rollback and chain}",
	"{savepoint s1|savepoint s2|release s1|rollback to s1|rollback to savepoint s2}",
	"create temporary {table|table if not exists} {fr_inside|fr_tmp|fr_t} (a text){| "
	"on "
	"commit {drop|delete rows|preserve rows}}",
	"create temporary view fr_view as select 1 as secret",
	"create temporary sequence fr_s",
	"create temporary table fr_copy as select * from fr_t",
	"create function pg_temp.fr_f() returns text language sql as $$ select 'secret' "
	"$$",
	"create type pg_temp.fr_type as enum ('a', 'b')",
	"create temporary table fr_dep (id int primary key, t text default "
	"pg_temp.fr_f())",
	"insert into {fr_tmp|fr_inside|fr_t (a)} values ('secret')",
	"select {nextval('fr_s')|setval('fr_s', 5)|lastval()|currval('fr_s')}",
	"prepare fr_p{1|2} as select 'secret'::text, {1|2}",
	"prepare fr_p1 (int) as select * from fr_t where id = $1",
	"{execute fr_p1|deallocate fr_p1|deallocate all|execute fr_p1 (3)}",
	"declare fr_c{1|2} {|scroll |binary }cursor {with hold |}for select * from fr_t",
	"{fetch 3 from fr_c1|fetch all from fr_c2|move fr_c1|close fr_c1|close all}",
	"select pg_advisory_{lock|lock_shared|xact_lock}({1|2|3})",
	"select pg_advisory_lock({1|2}, {1|2})",
	"select pg_advisory_unlock{(1)|_all()}",
	"lock table fr_t in {access exclusive|share|row exclusive} mode",
	"{listen fr_l1|listen \"other\"|unlisten *|notify fr_l1, 'secret'|notify fr_l1}",
	"select pg_notify('fr_l1', 'secret')",
	"select setseed(0.5), random()",
	"select {pg_catalog.|}{pg_postmaster_start_time|now|current_schema}()",
	"select {'x'::text|current_schema|date '2020-01-01'}",
	"select * from fr_t{| order by b desc| for update| limit 3}",
	"update fr_t set b = b where id = {1|2|3}",
	"delete from fr_t where id > 20",
	"select {1 / 0|nothing|'a'::int|repeat('x', 100000)|pg_sleep(0.001)}",
	"syntax error here",
	"select 1; select 2; {select 1 / 0|begin|set work_mem = '6MB'|commit}; select 3",
	"begin; create temporary table fr_tmp (a int); {commit|rollback|select nothing}",
	"select fr_{settings|objects|cursor|defaults}()",
	"select fr_shared('a')",
	"select fr_elsewhere()",
	"{insert into fr_log values ('a')|copy fr_log from stdin}",
	"create domain {fr_tenant|pg_temp}.fr_label text check (value <> 'probe')",
	"drop domain if exists fr_tenant.fr_label",
	"begin; create domain fr_tenant.fr_label text check (value <> 'probe'); set "
	"local search_path = fr_tenant, public; {select fr_shared('a')|insert into "
	"public.fr_log values ('a')}; {rollback|drop domain fr_label; commit}",
	"call fr_commits()",
	"select {fr_tree()|'secret'::fr_checked|fr_sets('secret', false)|* from "
	"fr_hides}",
	"insert into fr_by_default {(a) values (1)|default values}",
	"select u&\"set\\005fconfig\"('fresh.{a|b}', 'secret', false)",
	"select query_to_xml('select set_' || 'config(''fresh.a'', ''secret'', false)', "
	"true, true, '')",
	"do $$ begin execute 'se' || 't fresh.b = ''secret'''; end $$",
	"select u&\"\\0073etseed\"(0.5)",
	"!select fr_becomes()",
	"do $$ begin {perform fr_settings()|create temporary table fr_tmp (a int)|set "
	"work_mem "
	"= '7MB'|perform pg_advisory_lock(5)|raise notice 'hello'|raise exception "
	"'secret'|null"
	"|perform setseed(0.5)}; end $$",
	"explain {analyze |}select * from fr_t",
	"{discard all|discard temp|discard plans|discard sequences}",
	"{vacuum fr_t|analyze fr_t|checkpoint}",
	"{create table fr_made (a int)|drop table if exists fr_made}",
	"select lo_create(0)",
	"select set_limit(0.{8|9})",
	"show {all|work_mem|search_path}",
	"~select pg_terminate_backend(pg_backend_pid())",
	"!load 'auto_explain'; set auto_explain.log_min_duration = 7",
	"!set {zero_damaged_pages = on|log_min_duration_statement = "
	"1|ignore_system_indexes = "
	"on|allow_system_table_mods = on|log_duration = on}",
	"with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) "
	"select "
	"i, repeat('y', 100) from n",
	"",
	";",
	"-- nothing",
};

static const char *const copies[] = { "copy fr_t (a) from stdin", "copy fr_t to stdout",
	"copy (select * from fr_t) to stdout {|with (format csv)|with (format binary)}",
	"begin; copy fr_t (a) from stdin", NULL };

/* Forgive what DISCARD ALL leaves (docs/backends.md). */
static int
forgive(char *line)
{
	char *last;

	/* Ignore the default values of the settings of a library that was loaded meanwhile. */
	if (strncmp(line, "setting|", 8) == 0) {
		const char *name = strchr(line, '|') + 1;
		const char *dot = strpbrk(name, ".|");

		last = strrchr(line, '|');
		if (dot && *dot == '.' && strcmp(last, "|default") == 0)
			return 0;
	}
	/* Ignore the source of the value, but not the value. */
	if (strncmp(line, "setting|transaction_", 20) == 0)
		*strrchr(line, '|') = '\0';
	return strncmp(line, "custom name|", 12) != 0;
}

static const struct fr_leftover leftovers[] = {
	{ "the name of a custom setting", 0, "set fresh.a = 'secret'",
		"select coalesce(current_setting('fresh.a', true), 'none')", "", "none" },
	{ "the source of a transaction's setting", 0,
		"set session transaction_isolation = serializable",
		"select source from pg_settings where name = 'transaction_isolation'",
		"session", "override" },
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

static const struct fr_planted planted[] = {
	{ "set work_mem = '1MB'", 0 },
	{ "set search_path = nowhere, public", 0 },
	{ "set client_encoding = latin1", 0 },
	{ "set application_name = 'other'", 0 },
	{ "set timezone = 'Asia/Tokyo'", 0 },
	{ "set standard_conforming_strings = off", 0 },
	{ "set session characteristics as transaction read only", 0 },
	{ "set fresh.a = 'secret'", 0 },
	{ "set role fr_member", 0 },
	{ "set session authorization app", 1 },
	{ "begin", 0 },
	{ "begin isolation level serializable", 0 },
	{ "create temporary table fr_inside (a text)", 0 },
	{ "create temporary table fr_t (a text)", 0 },
	{ "create temporary view fr_view as select 1 as secret", 0 },
	{ "create temporary sequence fr_s", 0 },
	{ "create function pg_temp.fr_f() returns int language sql as 'select 1'", 0 },
	{ "create type pg_temp.fr_type as enum ('a', 'b')", 0 },
	{ "create domain pg_temp.fr_domain as text", 0 },
	{ "prepare fr_p1 as select 'secret'::text", 0 },
	{ "prepare other as select 1", 0 },
	{ "declare fr_c1 cursor with hold for select * from fr_t", 0 },
	{ "declare other cursor with hold for select * from fr_t", 0 },
	{ "select pg_advisory_lock(1)", 0 },
	{ "select pg_advisory_lock_shared(1, 2)", 0 },
	{ "listen fr_l1", 0 },
	{ "select nextval('fr_s')", 0 },
	{ "insert into fr_t (a) values ('planted')", 0 },
	{ "select setseed(0.5)", 0 },
	{ "select set_limit(0.9)", 0 },
	{ "select fr_settings()", 0 },
	{ "select fr_objects()", 0 },
	{ "select fr_tree()", 0 },
	{ "select * from fr_hides", 0 },
	{ "insert into fr_by_default (a) values (1)", 0 },
	{ "select 'secret'::fr_checked", 0 },
	{ "select fr_sets('secret', false)", 0 },
	{ "select fr_becomes()", 1 },
	{ "create domain fr_tenant.fr_label text check (value <> 'probe'); set "
	  "search_path "
	  "= fr_tenant, public; select fr_shared('a'); drop domain fr_label",
		0 },
	{ "begin; create domain fr_tenant.fr_label text; set local search_path = "
	  "fr_tenant, public; insert into public.fr_log values ('a'); rollback",
		0 },
	{ "set plpgsql.variable_conflict = use_column; select fr_shared('a')", 0 },
	{ NULL, 0 },
};

static const char *const enable_key[] = { "select enable_key('k', 'pw')",
	"select decrypt_secret()", NULL };

static const char *const look_for_key[] = { "select decrypt_secret()",
	"select k from enabled_keys", "select k from pg_temp.enabled_keys",
	"select string_agg(relname, ',') from pg_class where relname = 'enabled_keys'"
	" and relnamespace = pg_my_temp_schema()",
	"select current_setting('fresh.key', true)", "execute fr_decrypt",
	"fetch fr_clear", NULL };

const struct fr_backend fr_postgresql = {
	.name = "PostgreSQL",
	.kind = CNT_POSTGRESQL,
	.setup = setup,
	.tame = tame,
	.pools = pools,
	.n_pools = sizeof(pools) / sizeof(pools[0]),
	.probes = probes,
	.statements = statements,
	.n_statements = sizeof(statements) / sizeof(statements[0]),
	.copies = copies,
	.slow = "select pg_sleep(0.0{2|5|9})",
	.forgive = forgive,
	.leftovers = leftovers,
	.planted = planted,
	.enable_key = enable_key,
	.look_for_key = look_for_key,
};
