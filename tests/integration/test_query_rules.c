/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_query_rules postgresql|mariadb|sqlite
 *
 * The rules of a pool, with a real server: what they deny, what the client gets, and that texts made to get round them do
 * not. tests/unit/cenoted/test_query_rules.c has what rules see in a text.
 */
#include "with_server.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* What differs between the servers. */
struct kind {
	const char *lines; /* of the pool's section */
	/* texts that give the secret of the table to a client without rules, or change that table */
	const char *const *tries;
	size_t n_tries;
	/* texts in which rules see no table; such a text has the class call, or names a function */
	const char *const *blind;
	size_t n_blind;
	bool rolls_back; /* CREATE and DROP end with their transaction */
};

static const struct kind *kind;

/* Start cenoted with the pool "main", which has these rules, and the pool "free", which has none. */
static void
start(const char *rules)
{
	char lines[2048];

	snprintf(lines, sizeof(lines), "%s%s", kind->lines, rules);
	ws_start_with_free(lines, kind->lines);
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
	wp_exec(conn, "-- ping");
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

/* The first rule would let the statement pass; in a dry run, the second one decides. */
static void
a_dry_run_of_allow_logs_too(void **state)
{
	cenote_conn *conn;

	start("rule = functions=abs -> allow dry-run\nrule = functions=abs -> deny\n");
	conn = wp_attach(NULL);
	assert_int_equal(wp_status_of(conn, "select abs(-3)"), CENOTE_ERR_SERVER);
	wp_await_log("would allow a statement of user");
	cenote_conn_destroy(conn);
}

/* Check the table of the rules: a rule's line, action, whether it is a dry run, and how often it decided. */
static void
expect_rule(uint64_t row, const char *action, const char *dry_run, int64_t decisions)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int64_t line, n;

	assert_ok(cenote_status(conn, "rules", &res));
	assert_ok(cenote_result_int64(
		res, row, (uint32_t)cenote_result_find_column(res, "line"), &line));
	assert_true(line > 0);
	assert_ok(cenote_result_int64(
		res, row, (uint32_t)cenote_result_find_column(res, "decisions"), &n));
	assert_int_equal(n, decisions);
	assert_string_equal(
		cenote_result_text(res, row,
			(uint32_t)cenote_result_find_column(res, "action"), NULL),
		action);
	assert_string_equal(
		cenote_result_text(res, row,
			(uint32_t)cenote_result_find_column(res, "dry_run"), NULL),
		dry_run);
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

static void
each_rule_counts_what_it_decides(void **state)
{
	static const char rules[] = "rule = class=ddl -> deny dry-run\n"
				    "rule = tables=t1,t2 -> allow\n"
				    "rule = class=ddl -> deny\n";
	cenote_conn *conn;

	start(rules);
	conn = wp_attach(NULL);
	wp_exec(conn, "create table t1 (a int)");
	wp_exec(conn, "select a from t1");
	wp_exec(conn, "drop table t1");
	assert_int_equal(
		wp_status_of(conn, "create table t3 (a int)"), CENOTE_ERR_SERVER);
	wp_exec(conn, "select 1");
	expect_rule(0, "deny", "yes", 3);
	expect_rule(1, "allow", "no", 3);
	expect_rule(2, "deny", "no", 1);
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
	conn = wp_attach("free");
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

/* ---- limits ---- */

/* Read all results of what was sent. Returns the status of the first failure, and the rows that came. */
static int
read_all(cenote_conn *conn, int r, cenote_result *res, uint64_t *ret_rows)
{
	*ret_rows = 0;
	while (r == CENOTE_OK) {
		*ret_rows += cenote_result_n_rows(res);
		cenote_result_destroy(res);
		r = cenote_get_result(conn, &res);
	}
	return r;
}

static void
expect_limited(cenote_conn *conn, int r, const char *message)
{
	if (r != CENOTE_ERR_SERVER)
		fail_msg("not limited: %d, %s", r, message);
	assert_string_equal(wp_sqlstate(conn), "54000");
	if (strstr(wp_message(conn), message) == NULL)
		fail_msg("%s", wp_message(conn));
}

static int
run_text(cenote_conn *conn, const char *sql, uint64_t *ret_rows)
{
	cenote_result *res = NULL;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	return read_all(conn, r, res, ret_rows);
}

static void
make_numbers(void)
{
	cenote_conn *conn = wp_attach("free");
	char sql[64];

	wp_exec(conn, "drop table if exists numbers");
	wp_exec(conn, "create table numbers (a int)");
	for (int i = 1; i <= 8; i++) {
		snprintf(sql, sizeof(sql), "insert into numbers values (%d)", i);
		wp_exec(conn, sql);
	}
	cenote_conn_destroy(conn);
}

/* The limit holds for texts, prepared statements and batches. The session and its transaction live on. */
static void
an_answer_has_no_more_rows_than_its_limit(void **state)
{
	static const char sql[] = "select a from numbers where a <= 4";
	cenote_conn *conn;
	cenote_stmt *stmt;
	cenote_result *res = NULL;
	uint64_t n;

	start("rule = tables=numbers -> limit rows=3\n"
	      "rule = -> limit rows=100 dry-run\n"
	      "rule = class=read,write,ddl,transaction,session -> allow\n"
	      "rule = -> deny\n");
	make_numbers();
	conn = wp_attach(NULL);
	assert_int_equal(
		run_text(conn, "select a from numbers where a <= 3", &n), CENOTE_DONE);
	assert_int_equal(n, 3);
	wp_exec(conn, "begin");
	expect_limited(conn, run_text(conn, sql, &n), "allows an answer of 3 rows");
	/* other statements have no limit */
	wp_exec(conn, "rollback");
	assert_int_equal(run_text(conn,
				 "select 1 union all select 2 union all select 3 "
				 "union all select 4",
				 &n),
		CENOTE_DONE);
	assert_int_equal(n, 4);
	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	for (int i = 0; i < 2; i++)
		expect_limited(conn,
			read_all(conn, cenote_stmt_execute(stmt, NULL, NULL, &res), res,
				&n),
			"the pool's rule of line ");
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

/* A client that fetches in batches gets no more rows than one that does not. */
static void
batches_count_together(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_conn *conn;
	cenote_result *res = NULL;
	uint64_t n = 0;
	int r;

	options.stream = 1;
	options.batch_rows = 2;
	start("rule = -> limit rows=3\n");
	make_numbers();
	conn = wp_attach(NULL);
	r = cenote_query(conn, "select a from numbers", CENOTE_NTS, NULL, &options, &res);
	assert_int_equal(r, CENOTE_OK);
	while ((r = cenote_result_next(res)) == CENOTE_ROW)
		n += cenote_result_n_rows(res);
	assert_true(n <= 3);
	expect_limited(conn, r, "of 3 rows");
	cenote_result_destroy(res);
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
an_answer_has_no_more_bytes_than_its_limit(void **state)
{
	cenote_conn *conn;
	uint64_t n;

	start("rule = -> limit bytes=100\n");
	make_numbers();
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select 'short'"), "short");
	expect_limited(conn,
		run_text(conn,
			"select 'a long text that has more than a hundred bytes, and so "
			"more than the limit of bytes that is in the rule allows'",
			&n),
		"100 bytes");
	assert_string_equal(wp_value(conn, "select 'short'"), "short");
	cenote_conn_destroy(conn);
}

/* Limits also hold for named statements, for COPY, and for PREPARE and EXECUTE as texts. */
static void
nothing_gets_round_a_limit(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;
	cenote_result *res = NULL;
	const char *data;
	size_t len;
	uint64_t n = 0;
	int r;

	start("rule = tables=numbers -> limit rows=3\n"
	      "rule = functions=pg_sleep -> limit time=100ms\n");
	make_numbers();
	conn = wp_attach(NULL);
	/* a statement with a name at the server */
	assert_ok(cenote_stmt_create(conn, "select a from numbers", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, "s"));
	assert_ok(cenote_stmt_prepare(stmt));
	expect_limited(conn,
		read_all(conn, cenote_stmt_execute(stmt, NULL, NULL, &res), res, &n),
		"of 3 rows");
	cenote_stmt_destroy(stmt);
	r = cenote_query(conn, "copy numbers to stdout", CENOTE_NTS, NULL, NULL, &res);
	assert_int_equal(r, CENOTE_OK);
	for (n = 0; (r = cenote_copy_get(conn, &data, &len)) == CENOTE_OK;)
		n++;
	assert_int_equal(n, 3);
	assert_int_equal(r, CENOTE_DONE);
	cenote_result_destroy(res);
	/* the copy has begun, so its error is a result */
	res = wp_next_result(conn, CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "54000");
	cenote_result_destroy(res);
	wp_next_result(conn, 0);
	assert_int_equal(wp_status_of(conn, "select pg_sleep(20)"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "57014");
	assert_non_null(strstr(wp_message(conn), "rule of line "));
	/* cenoted does not know what a later EXECUTE runs, so from now on the limit holds for every statement */
	wp_exec(conn, "prepare p as select a from numbers");
	expect_limited(conn, run_text(conn, "execute p", &n), "of 3 rows");
	expect_limited(
		conn, run_text(conn, "select generate_series(1, 4)", &n), "of 3 rows");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_int_equal(run_text(conn, "select generate_series(1, 4)", &n), CENOTE_DONE);
	assert_int_equal(n, 4);
	cenote_conn_destroy(conn);
}

/* ---- PostgreSQL ---- */

static const char *const postgresql_tries[] = {
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
	"select a from (with secret as (select) table secret) y, (table public.secret) x",
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
	"merge into copy_of_it c using secret on true when matched then delete",
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
	"create rule \"_RETURN\" as on select to copy_of_it do instead table secret",
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
	"explain (\"analyze\") delete from secret",
	"select secret.a from pg_class replace, secret limit 1",
	"select secret.a from pg_class merge, secret limit 1",
	"select secret.a from pg_class insert, secret limit 1",
	"select secret.a from pg_class view, secret limit 1",
	"update copy_of_it set a = secret.a from pg_class set, secret",
	"create rule r as on insert to secret do instead nothing",
	("create trigger t before insert on secret for each row "
	 "execute function suppress_redundant_updates_trigger()"),
	"analyze (verbose) secret",
	"analyze copy_of_it (a), secret (a)",
	"declare c cursor with hold for select a from secret",
	"prepare p1 as select a from secret",
	"prepare p2 as table secret",
	"copy secret to stdout",
	"copy (select a from secret) to stdout",
	"copy (table secret) to stdout",
};

static const char *const postgresql_blind[] = {
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

/* ---- MariaDB ---- */

static const char *const mariadb_tries[] = {
	"select a from secret",
	"select a from `secret`",
	"select a from .secret",
	"select a from app . secret",
	"select s.a from { oj secret s left join copy_of_it c on c.a = s.a }",
	"select a from (secret)",
	"select a from ((secret))",
	"select a from(select * from secret)x",
	"select/**/a/**/from/**/secret",
	"select a from # x\nsecret",
	"select a from -- x\nsecret",
	"select a from /*! secret */",
	"select a from /*!50000 secret */",
	"select a from /*M! secret */",
	"select /*!50000 a from secret */",
	"select '\\'', a from secret",
	"select \"'\", a from secret",
	"select s.a from copy_of_it c straight_join secret s",
	"select s.a from copy_of_it c use index for order by (), secret s",
	"select s.a from copy_of_it c use index for join (), secret s",
	"select s.a from copy_of_it c natural join secret s",
	"select convert(a using utf8mb4) from secret",
	"select (select a from secret)",
	"select exists(select a from secret)",
	"with x as (select a from secret) select a from x",
	"with x as (with secret as (select 1) select 1) select a from secret",
	"select 'x' where false union select a from secret",
	"select a from secret for update",
	"select a from secret lock in share mode",
	"select a into @a from secret limit 1",
	"set @a = (select a from secret limit 1)",
	"set statement max_statement_time = 60 for select a from secret",
	"prepare p from 'select a from secret'",
	"prepare p from \"select a from secret\"",
	"execute immediate 'select a from secret'",
	"begin not atomic select a from secret; end",
	"begin not atomic execute immediate 'select a from secret'; end",
	"begin not atomic prepare p from 'select a from secret'; execute p; end",
	"if 1 then select a from secret; end if",
	"for i in 1 .. 1 do select a from secret; end for",
	"set statement max_statement_time = 60 for update secret set a = a",
	"set statement max_statement_time = 60 for insert secret values ('x')",
	"if 1 then update secret set a = a; end if",
	"for i in 1 .. 1 do update secret set a = a; end for",
	"begin not atomic if 1 then delete from secret; end if; end",
	"do (select a from secret)",
	"insert into copy_of_it select a from secret",
	"insert copy_of_it set a = (select s.a from secret s limit 1)",
	"insert secret values ('x')",
	"insert into .secret values ('x')",
	"replace into secret values ('x')",
	"replace secret set a = 'x'",
	"update secret set a = a",
	"update copy_of_it c, secret s set c.a = s.a",
	"update copy_of_it c join secret s set c.a = s.a",
	"delete from secret",
	"delete from secret returning a",
	"delete c from copy_of_it c, secret s",
	"delete from c using copy_of_it c join secret s",
	"handler secret open",
	"show columns from secret",
	"show columns in secret",
	"show create table secret",
	"describe secret",
	"explain select a from secret",
	"analyze select a from secret",
	"create table t1 like secret",
	"create table t2 select a from secret",
	"create view v1 as select a from secret",
	"create index i on secret (a)",
	"create trigger t before insert on secret for each row set @a = 1",
	"alter table secret add b int",
	"rename table secret to open_secret",
	"rename table copy_of_it to x, secret to copy_of_it",
	"truncate secret",
	"drop table copy_of_it, secret",
	"lock tables copy_of_it read, secret read",
	"analyze table copy_of_it, secret",
	"check table secret",
	"checksum table secret",
	"optimize table copy_of_it, secret",
};

static const char *const mariadb_blind[] = {
	"prepare p from @a",
	"prepare p from concat('select a from sec', 'ret')",
	"execute immediate @a",
	"execute immediate concat('select a from sec', 'ret')",
	"begin not atomic execute immediate concat('select a from sec', 'ret'); end",
	"call p_secret()",
	"execute nothing",
};

/* ---- SQLite ---- */

static const char *const sqlite_tries[] = {
	"select a from secret",
	"select a from \"secret\"",
	"select a from [secret]",
	"select a from `secret`",
	"select a from 'secret'",
	"select a from main.secret",
	"select a from main.'secret'",
	"select a from 'main' . [secret]",
	"select a from (secret)",
	"select a from ('secret')",
	"select/**/a/**/from/**/secret",
	"select a from secret not indexed",
	"select s.a from copy_of_it c, secret s",
	"select s.a from copy_of_it c not indexed, secret s",
	"select s.a from copy_of_it for, secret s",
	"select s.a from copy_of_it offset, secret s",
	"select s.a from copy_of_it with, secret s",
	"select s.a from copy_of_it replace, secret s",
	"select s.a from copy_of_it view, secret s",
	"select s.a from copy_of_it key, secret s",
	"select s.a from copy_of_it c join secret s",
	"select (select a from secret)",
	"select exists(select a from secret)",
	"values ((select a from secret))",
	"select 'x' where false union select a from secret",
	"with x as (select a from secret) select a from x",
	"with x as (with secret as (select 1) select 1) select a from secret",
	"insert into copy_of_it select a from secret",
	"insert or replace into secret values ('x')",
	"replace into 'secret' values ('x')",
	"update or ignore secret set a = a",
	"update 'secret' set a = a returning a",
	"update copy_of_it set a = s.a from secret s",
	"delete from secret returning a",
	"create view v1 as select a from secret",
	"create table t1 as select a from secret",
	"create index i on secret (a)",
	"create trigger t after insert on secret begin select 1; end",
	"alter table secret rename to open_secret",
	"drop table secret",
	"analyze secret",
	"explain select a from secret",
};

static const struct kind kinds[] = {
	[WS_POSTGRESQL] = { "sessions = 1\nmode = transaction\n", postgresql_tries,
		N_ITEMS(postgresql_tries), postgresql_blind, N_ITEMS(postgresql_blind),
		true },
	[WS_MARIADB] = { "sessions = 1\nmode = transaction\n", mariadb_tries,
		N_ITEMS(mariadb_tries), mariadb_blind, N_ITEMS(mariadb_blind), false },
	[WS_SQLITE] = { "sessions = 1\n", sqlite_tries, N_ITEMS(sqlite_tries), NULL, 0,
		true },
};

/* ---- every server ---- */

static void
make_tables(cenote_conn *conn)
{
	wp_exec(conn, "drop table if exists secret");
	wp_exec(conn, "drop table if exists copy_of_it");
	wp_exec(conn, "create table secret (a varchar(20))");
	wp_exec(conn, "insert into secret values ('geheim')");
	wp_exec(conn, "create table copy_of_it (a varchar(20))");
}

static bool
is_denied(cenote_conn *conn, const char *sql)
{
	if (wp_status_of(conn, sql) == CENOTE_ERR_SERVER &&
		strcmp(wp_message(conn), "secret") == 0)
		return true;
	fprintf(stderr, "# passed: %s\n", sql);
	return false;
}

static void
nothing_gets_round_a_rule(void **state)
{
	cenote_conn *admin, *conn;
	size_t n_denied = 0;

	start("rule = tables=secret -> deny \"secret\"\n"
	      "rule = class=call -> deny \"secret\"\n"
	      "rule = functions=query_to_xml,table_to_xml,schema_to_xml -> deny "
	      "\"secret\"\n");
	admin = wp_attach("free");
	make_tables(admin);
	conn = wp_attach(NULL);
	for (size_t i = 0; i < kind->n_tries; i++)
		n_denied += is_denied(conn, kind->tries[i]);
	for (size_t i = 0; i < kind->n_blind; i++)
		n_denied += is_denied(conn, kind->blind[i]);
	assert_int_equal(n_denied, kind->n_tries + kind->n_blind);
	assert_string_equal(wp_value(admin, "select a from secret"), "geheim");
	cenote_conn_destroy(conn);
	cenote_conn_destroy(admin);
}

/* The tries are worth something: without rules the server takes each of them. */
static void
without_rules_each_try_works(void **state)
{
	cenote_conn *conn;
	int n_refused = 0;

	start("");
	for (size_t i = 0; i < kind->n_tries; i++) {
		conn = wp_attach("free");
		if (kind->rolls_back)
			wp_exec(conn, "begin");
		make_tables(conn);
		if (wp_run_text(conn, kind->tries[i]) < 0) {
			fprintf(stderr, "# the server refuses: %s: %s\n", kind->tries[i],
				wp_message(conn));
			n_refused++;
		}
		cenote_conn_destroy(conn);
	}
	assert_int_equal(n_refused, 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
#define OF_ALL                                                                           \
	TEST(nothing_gets_round_a_rule), TEST(without_rules_each_try_works),             \
		TEST(an_answer_has_no_more_rows_than_its_limit),                         \
		TEST(batches_count_together),                                            \
		TEST(an_answer_has_no_more_bytes_than_its_limit)

int
main(int argc, char **argv)
{
	static const struct CMUnitTest of_all[] = { OF_ALL };
	static const struct CMUnitTest of_postgresql[] = {
		TEST(the_first_rule_that_matches_decides),
		TEST(a_dry_run_only_logs),
		TEST(a_dry_run_of_allow_logs_too),
		TEST(each_rule_counts_what_it_decides),
		TEST(a_statement_is_judged_when_it_is_prepared),
		TEST(a_function_called_by_number_is_a_call),
		TEST(nothing_gets_round_a_limit),
		OF_ALL,
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	kind = &kinds[ws_kind];
	return ws_kind == WS_POSTGRESQL
		       ? cmocka_run_group_tests(of_postgresql, ws_setup, ws_teardown)
		       : cmocka_run_group_tests(of_all, ws_setup, ws_teardown);
}
