/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of a pool, with a real PostgreSQL: what they deny, what the client gets, and that texts made to get round them do
 * not. tests/unit/cenoted/test_query_rules.c has what rules see in a text.
 */
#include "turns.h"

#include <stdio.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

#define ONE_SESSION "sessions = 1\n" TURNS_POOL

/* A second pool without rules, with the same server and one session. */
static cenote_conn *
attach_freely(void)
{
	return wp_attach("free");
}

static void
start(const char *rules)
{
	static char config[8192];
	char lines[4096];
	char *pool;
	size_t n;

	snprintf(lines, sizeof(lines), ONE_SESSION "%s", rules);
	snprintf(config, sizeof(config), "%s", turns_config(lines));
	n = strlen(config);
	/* the same section again, under another name and without the rules */
	pool = strstr(config, "[pool main]");
	assert_non_null(pool);
	snprintf(config + n, sizeof(config) - n, "\n[pool free]\n%.*s",
		(int)(strstr(pool, lines) - pool - (long)strlen("[pool main]\n")),
		pool + strlen("[pool main]\n"));
	wp_start(config);
}

static void
expect_denied(cenote_conn *conn, const char *sql, const char *message)
{
	if (wp_status_of(conn, sql) != CENOTE_ERR_SERVER)
		fail_msg("not denied: %s", sql);
	assert_string_equal(wp_sqlstate(conn), "42501");
	if (strstr(wp_message(conn), message) == NULL)
		fail_msg("%s: %s", sql, wp_message(conn));
}

static void
the_first_rule_that_matches_decides(void **state)
{
	cenote_conn *conn;

	start("rule = class=ddl user!=nobody -> deny \"ask first\"\n"
	      "rule = class=read,session,transaction -> allow\n"
	      "rule = class=write tables=free_for_all -> allow\n"
	      "rule = -> deny\n");
	conn = wp_attach(NULL);
	expect_denied(conn, "create table x (a int)", "ask first");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	expect_denied(conn, "delete from pg_class", "the pool's rule of line ");
	/* the transaction stays open, since the server has not seen the statement */
	wp_exec(conn, "begin");
	expect_denied(conn, "delete from pg_class", "denies this statement");
	assert_string_equal(wp_value(conn, "select 2"), "2");
	wp_exec(conn, "commit");
	assert_true(wp_log_has("denied a statement of user"));
	cenote_conn_destroy(conn);
}

static void
a_dry_run_only_logs(void **state)
{
	cenote_conn *conn;

	start("rule = functions=abs -> deny dry-run\n");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select abs(-3)"), "3");
	wp_await_log("would deny a statement of user");
	cenote_conn_destroy(conn);
}

static void
a_statement_is_judged_when_it_is_prepared(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;

	start("rule = tables=pg_authid -> deny \"not that table\"\n");
	conn = wp_attach(NULL);
	assert_ok(cenote_stmt_create(conn, "select * from pg_authid", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, "s"));
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_SERVER);
	assert_non_null(strstr(wp_message(conn), "not that table"));
	cenote_stmt_destroy(stmt);
	expect_denied(conn, "prepare s as select * from pg_authid", "not that table");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
a_function_called_by_number_is_a_call(void **state)
{
	enum {
		PG_BACKEND_PID = 2026
	};
	cenote_conn *conn;
	cenote_result *res;

	start("rule = class=call -> deny \"no calls\"\n");
	conn = attach_freely();
	assert_ok(cenote_function(conn, PG_BACKEND_PID, NULL, CENOTE_FORMAT_TEXT, &res));
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_int_equal(
		cenote_function(conn, PG_BACKEND_PID, NULL, CENOTE_FORMAT_TEXT, &res),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_message(conn), "no calls");
	cenote_conn_destroy(conn);
}

/* Texts that give the secret of the table to a client without rules, or change that table. */
static const char *const tries[] = {
	"select a from secret",
	"SELECT a FROM SECRET",
	"select a from\"secret\"",
	"select a from public.secret",
	"select a from \"public\" . \"secret\"",
	"select/**/a/**/from/**/secret",
	"select a from/* /* */ */secret",
	"select a from -- x\nsecret",
	"select a from\tsecret",
	"select a from only secret",
	"select a from only(secret)",
	"select a from secret*",
	"table secret",
	"table public.secret",
	"(table secret)",
	"select 'x' where false union table secret",
	"values ((select a from secret))",
	"select (select a from secret)",
	"select array(select a from secret)",
	"select case when true then (select a from secret) end",
	"select a from (select * from secret) x",
	"select secret.a from pg_class c, secret limit 1",
	"select secret.a from pg_class set, secret limit 1",
	"select secret.a from pg_class values, secret limit 1",
	"select secret.a from pg_class share, secret limit 1",
	"select s.a from pg_class c join secret s on true limit 1",
	"select s.a from pg_class c cross join secret s limit 1",
	"select s.a from pg_class c natural join secret s limit 1",
	"select s.a from (pg_class c join secret s on true) limit 1",
	"select s.a from pg_class c left join lateral (table secret) s on true limit 1",
	"select s.a from generate_series(1, 1) with ordinality as t(x, y), secret s",
	"select s.a from rows from (generate_series(1, 1)) x, secret s",
	"select s.a from pg_class tablesample system (100), secret s limit 1",
	"select s.a from pg_class c join pg_class d using (oid), secret s limit 1",
	"with x as (select a from secret) select a from x",
	"with secret as (select a from secret) select a from secret",
	"with \"SECRET\" as (select 1) select a from secret",
	"with x as (with secret as (select 1) select 1) select a from secret",
	"with x as (table secret), secret as (select 1) select a from x",
	"select a from (with secret as (select 1) table secret) y, lateral (select a "
	"from "
	"public.secret) x",
	"with recursive x(a) as (select a from secret union select a from x) table x",
	"select 1; select a from secret",
	"select 'a'; table secret",
	"select ';'; table secret",
	"select $$;$$; table secret",
	"select $a$$$;$a$; table secret",
	"select E'\\''; table secret",
	"select 'it''s'; table secret",
	"begin; table secret",
	"select extract(year from now()), a from secret",
	"select substring('abc' from 1 for 2), a from secret",
	"select 1 is distinct from 2, a from secret",
	"select trim(both from ' x '), a from secret",
	"select a as \"from\" from secret",
	"select 1 as from, a from secret",
	"select a from secret where a is not null order by a limit 1 offset 0",
	"select a from secret for update",
	"insert into copy_of_it select a from secret returning a",
	"insert into copy_of_it table secret returning a",
	"update copy_of_it set a = s.a from secret s returning s.a",
	"update secret set a = a returning a",
	"update only secret set a = a returning a",
	"delete from copy_of_it using secret s returning s.a",
	"with x as (update secret set a = a returning a) select a from x",
	"merge into copy_of_it c using secret s on false when not matched then insert "
	"values (s.a)",
	"create temp table t1 as select a from secret",
	"create temp table t2 as table secret",
	"select a into temp t3 from secret",
	"create temp view v1 as select a from secret",
	"create temp table t4 (like secret)",
	"create temp table t5 () inherits (secret)",
	"alter table secret add b int",
	"alter table secret rename to open_secret",
	"alter table only secret add c int",
	"create index on secret (a)",
	"create rule \"_RETURN\" as on select to copy_of_it do instead select a from "
	"secret",
	"comment on table secret is 'x'",
	"grant select on secret to public",
	"grant select on copy_of_it, secret to public",
	"lock secret",
	"lock table copy_of_it, secret in access share mode",
	"truncate copy_of_it, secret",
	"drop table copy_of_it, secret",
	"analyze secret",
	"explain analyze select a from secret",
	"explain (analyze) table secret",
	"declare c cursor with hold for select a from secret",
	"prepare p1 as select a from secret",
	"prepare p2 as table secret",
	"copy secret to stdout",
	"copy (select a from secret) to stdout",
	"copy (table secret) to stdout",
};

/* What rules cannot see into has a class of its own, or the name of its function. */
static const char *const blind[] = {
	"do $$ begin perform a from secret; end $$",
	"do 'begin perform a from secret; end'",
	"do language plpgsql $$ begin execute 'table sec' || 'ret'; end $$",
	"select query_to_xml('table secret', true, true, '')",
	"select pg_catalog.query_to_xml('table sec' || 'ret', true, true, '')",
	"select \"query_to_xml\"('table secret', true, true, '')",
	"select table_to_xml('secret', true, true, '')",
	"select schema_to_xml('public', true, true, '')",
	"call p_secret()",
	"execute nothing",
};

static void
nothing_gets_round_a_rule(void **state)
{
	cenote_conn *admin, *conn;
	int n_passed = 0;

	start("rule = tables=secret -> deny \"secret\"\n"
	      "rule = class=call -> deny \"secret\"\n"
	      "rule = functions=query_to_xml,table_to_xml,schema_to_xml -> deny "
	      "\"secret\"\n");
	admin = attach_freely();
	wp_exec(admin, "drop table if exists secret, copy_of_it cascade");
	wp_exec(admin, "create table secret (a text)");
	wp_exec(admin, "insert into secret values ('geheim')");
	wp_exec(admin, "create table copy_of_it (a text)");
	conn = wp_attach(NULL);
	for (size_t i = 0; i < N_ITEMS(tries) + N_ITEMS(blind); i++) {
		const char *sql =
			i < N_ITEMS(tries) ? tries[i] : blind[i - N_ITEMS(tries)];

		if (wp_status_of(conn, sql) == CENOTE_ERR_SERVER &&
			strcmp(wp_message(conn), "secret") == 0)
			continue;
		fprintf(stderr, "# passed: %s\n", sql);
		n_passed++;
	}
	assert_int_equal(n_passed, 0);
	assert_string_equal(wp_value(admin, "select a from secret"), "geheim");
	cenote_conn_destroy(conn);
	cenote_conn_destroy(admin);
}

/* The status of a text with any number of results. */
static int
status_of_all(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);
	int more = r;

	while (more == CENOTE_OK) {
		cenote_result_destroy(res);
		more = cenote_get_result(conn, &res);
		if (more < 0)
			r = more;
	}
	return r;
}

/* The tries are worth something: without rules the server takes each of them. */
static void
without_rules_each_try_works(void **state)
{
	cenote_conn *conn;
	int n_refused = 0;

	start("");
	conn = attach_freely();
	for (size_t i = 0; i < N_ITEMS(tries); i++) {
		wp_exec(conn, "begin");
		wp_exec(conn, "drop table if exists secret, copy_of_it cascade");
		wp_exec(conn, "create table secret (a text)");
		wp_exec(conn, "insert into secret values ('geheim')");
		wp_exec(conn, "create table copy_of_it (a text)");
		if (status_of_all(conn, tries[i]) < 0) {
			fprintf(stderr, "# the server refuses: %s: %s\n", tries[i],
				wp_message(conn));
			n_refused++;
		}
		wp_exec(conn, "rollback");
	}
	assert_int_equal(n_refused, 0);
	cenote_conn_destroy(conn);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_first_rule_that_matches_decides),
		TEST(a_dry_run_only_logs),
		TEST(a_statement_is_judged_when_it_is_prepared),
		TEST(a_function_called_by_number_is_a_call),
		TEST(nothing_gets_round_a_rule),
		TEST(without_rules_each_try_works),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
