/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_read_only postgresql|mariadb|sqlite
 *
 * `read_only = yes`, with a real server: no text, function or sequence of requests writes. Each of the tries writes through a pool
 * without the key.
 */
#include "with_server.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

struct kind {
	/* statements that make the table t and what the tries use */
	const char *const *setup;
	size_t n_setup;
	const char *look; /* gives another value after each change */
	const char *const *tries; /* requests with | between them */
	size_t n_tries;
};

static const struct kind *kind;

/* Start cenoted with the pool "main", which has these lines, and the pool "free", which may write. */
static void
start(const char *lines)
{
	ws_start_with_free(lines, "sessions = 1\n");
}

static void
make(cenote_conn *admin)
{
	for (size_t i = 0; i < kind->n_setup; i++) {
		if (wp_run_text(admin, cnt_server_text(kind->setup[i])) < 0)
			fail_msg("%s: %s", kind->setup[i], wp_message(admin));
	}
}

/* The pool "main" cannot open SQLite's file before it exists, so the pool "free" makes it first. */
static void
start_read_only(void)
{
	cenote_conn *admin;

	start("sessions = 1\nread_only = yes\n");
	admin = wp_attach("free");
	make(admin);
	cenote_conn_destroy(admin);
	wp_await("main", "idle", 1);
}

/* Write the state of the database to `state`; or "" if the table does not exist. */
static void
look(cenote_conn *admin, char state[256])
{
	cenote_result *res = NULL;
	const char *value;

	state[0] = '\0';
	if (cenote_query(admin, kind->look, CENOTE_NTS, NULL, NULL, &res) != CENOTE_OK)
		return;
	value = cenote_result_text(res, 0, 0, NULL);
	snprintf(state, 256, "%s", value != NULL ? value : "");
	cenote_result_destroy(res);
}

/* Make the requests of a try, each after the answer to the one before it. A request that fails does not end the try. */
static void
make_requests(const char *pool, const char *requests)
{
	cenote_conn *conn = wp_attach(pool);
	char *copy = strdup(requests), *left = copy, *sql;

	assert_non_null(copy);
	while ((sql = strsep(&left, "|")) != NULL)
		(void)wp_run_text(conn, cnt_server_text(sql));
	free(copy);
	cenote_conn_destroy(conn);
}

/* Returns whether the try changes the database. `io_state` is the state before the last try: without a change since, the tables need
 * not be made again. */
static bool
writes(const char *pool, const char *requests, char io_state[256])
{
	cenote_conn *admin = wp_attach("free");
	char before[256], after[256];

	look(admin, before);
	if (before[0] == '\0' || strcmp(before, io_state) != 0) {
		make(admin);
		look(admin, before);
	}
	assert_true(before[0] != '\0');
	/* the pool has one session */
	cenote_conn_destroy(admin);
	make_requests(pool, requests);
	admin = wp_attach("free");
	look(admin, after);
	cenote_conn_destroy(admin);
	snprintf(io_state, 256, "%s", before);
	return strcmp(before, after) != 0;
}

static void
no_try_writes(void **state)
{
	char state_before[256] = "";
	int n_written = 0;

	assert_true(kind->n_tries >= 30);
	start_read_only();
	for (size_t i = 0; i < kind->n_tries; i++) {
		if (writes("main", kind->tries[i], state_before)) {
			fprintf(stderr, "# written: %s\n", kind->tries[i]);
			n_written++;
		}
	}
	assert_int_equal(n_written, 0);
}

static void
without_the_key_each_try_writes(void **state)
{
	char state_before[256] = "";
	int n_refused = 0;

	start("sessions = 1\n");
	for (size_t i = 0; i < kind->n_tries; i++) {
		if (!writes("free", kind->tries[i], state_before)) {
			fprintf(stderr, "# not written: %s\n", kind->tries[i]);
			n_refused++;
		}
	}
	assert_int_equal(n_refused, 0);
}

/* Programs that only read notice nothing: texts, prepared statements, transactions, settings. */
static void
what_only_reads_works(void **state)
{
	cenote_conn *admin, *conn;
	cenote_stmt *stmt;
	cenote_result *res;

	start_read_only();
	admin = wp_attach("free");
	make(admin);
	conn = wp_attach(NULL);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(wp_value(conn, "select a from t"), "1");
		wp_exec(conn, "begin");
		assert_string_equal(wp_value(conn, "select max(a) from t"), "1");
		wp_exec(conn, "commit");
		assert_ok(cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0));
		assert_string_equal(wp_value(conn, "select a from t"), "1");
		(void)wp_run_text(conn, "insert into t values (2)");
		(void)wp_run_text(conn, "select w()");
		assert_ok(cenote_rollback(conn));
		assert_ok(cenote_stmt_create(conn, "select a from t", CENOTE_NTS, &stmt));
		assert_ok(cenote_stmt_prepare(stmt));
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		cenote_result_destroy(res);
		assert_int_equal(cenote_get_result(conn, &res), CENOTE_DONE);
		cenote_stmt_destroy(stmt);
		assert_ok(cenote_reset(conn));
	}
	assert_int_equal(
		wp_status_of(conn, "insert into t values (2)"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "25006");
	assert_non_null(strstr(wp_message(conn), "read_only = yes"));
	/* cenoted cannot see what a function does, but the server refuses it */
	if (ws_kind != WS_SQLITE) {
		assert_int_equal(wp_status_of(conn, "select w()"), CENOTE_ERR_SERVER);
		assert_string_equal(wp_sqlstate(conn), "25006");
		assert_null(strstr(wp_message(conn), "read_only = yes"));
	}
	cenote_conn_destroy(conn);
	cenote_conn_destroy(admin);
}

/* Clients take turns on one session, and use it while a result is open. */
static void
clients_take_turns(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_conn *admin, *a, *b;
	cenote_result *res;

	options.stream = 1;
	options.batch_rows = 1;
	start("sessions = 1\nmode = transaction\nread_only = yes\n");
	admin = wp_attach("free");
	make(admin);
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(wp_value(a, "select a from t"), "1");
		wp_exec(b, "begin");
		assert_string_equal(wp_value(b, "select max(a) from t"), "1");
		wp_exec(b, "commit");
	}
	wp_exec(a, "begin");
	assert_ok(cenote_query(a, "select a from t union all select 2 union all select 3",
		CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_string_equal(wp_value(a, "select a from t"), "1");
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	cenote_result_destroy(res);
	wp_exec(a, "rollback");
	assert_string_equal(wp_value(b, "select a from t"), "1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
	cenote_conn_destroy(admin);
}

/* ---- PostgreSQL ---- */

static const char *const postgresql_setup[] = {
	"drop schema public cascade",
	"create schema public",
	"create table t (a int)",
	"insert into t values (1)",
	"create sequence s",
	"create function w() returns int language sql as 'insert into t values (2) "
	"returning a'",
	"create function rw() returns int language plpgsql as $$ begin perform "
	"set_config('default_transaction_read_only', 'off', false); return 1; end $$",
	"create view v_rw as select rw()",
	"create view v_name as select 'default_transaction_read_only'::text as name",
	"create procedure p() language plpgsql as $$ begin commit; set transaction read "
	"write; insert into t values (2); end $$",
};

static const char postgresql_look[] =
	"select (select format('%s %s', count(*), sum(a)) from t) || (select format(' %s "
	"%s', count(*), sum(relnatts)) from pg_class where relnamespace = "
	"'public'::regnamespace) || (select format(' %s', count(*)) from pg_proc where "
	"pronamespace = 'public'::regnamespace) || (select format(' %s', is_called) from "
	"s)";

static const char *const postgresql_tries[] = {
	"insert into t values (2)",
	"update t set a = 2",
	"delete from t",
	"truncate t",
	"with x as (insert into t values (2) returning a) select * from x",
	"merge into t using t x on false when not matched then insert values (2)",
	"select a into t2 from t",
	"create table t2 (a int)",
	"drop table t",
	"alter table t add b int",
	"create function f() returns int language sql as 'select 1'",
	"select nextval('s')",
	"select w()",
	"select * from w()",
	"table t; select w()",
	"do $$ begin insert into t values (2); end $$",
	"do $$ begin commit; set transaction read write; perform w(); end $$",
	"do $$ begin perform rw(); commit; perform w(); end $$",
	"call p()",
	"explain analyze insert into t values (2)",
	"explain (analyze) select w()",
	"prepare x as insert into t values (2)|execute x",
	"prepare x as select w()|execute x",
	"prepare x as select w()|explain analyze execute x",
	"begin|declare c cursor for select w()|fetch c|commit",
	"begin read write|select w()|commit",
	"begin read/**/write|select w()|commit",
	"begin transaction isolation level serializable, read write|select w()|commit",
	"start transaction read write|select w()|commit",
	"start transaction read write; select w(); commit",
	"begin|set transaction read write|select w()|commit",
	"begin|set local transaction_read_only = off|select w()|commit",
	"begin|set \"transaction_read_only\" to off|select w()|commit",
	"begin|set TRANSACTION_READ_ONLY to off|select w()|commit",
	"begin|set U&\"transaction\\005fread\\005fonly\" to off|select w()|commit",
	"begin|set U&\"transaction_read!005fonly\" uescape '!' = 0|select w()|commit",
	"begin|reset transaction_read_only|select w()|commit",
	"begin|savepoint a|set transaction_read_only = off|select w()|commit",
	"begin|select set_config('transaction_read_only', 'off', true)|select w()|commit",
	"set default_transaction_read_only = off|select w()",
	"set session default_transaction_read_only = off|begin|select w()|commit",
	"set session characteristics as transaction read write|select w()",
	"select set_config('default_transaction_read_only', 'off', false)|select w()",
	"select set_config(name, 'off', false) from v_name|begin|select w()|commit",
	"select set_config(name, 'off', false) from v_name; commit; select w()",
	"update pg_settings set setting = 'off' where name ~ '^default.*only'|select w()",
	"alter system set work_mem = '5MB'|insert into t values (2)",
	"discard all|select w()",
	"reset all|select w()",
	"reset default_transaction_read_only|select w()",
	"select rw()|select w()",
	"select * from v_rw|select w()",
	"select rw()|begin|select w()|commit",
	"select rw(); commit; select w()",
	"begin|select rw()|commit|select w()",
	"begin|select rw()|commit; begin|select w()|commit",
	"begin|select rw()|commit and chain|select w()|commit",
	"begin|select rw()|rollback and chain|select w()|commit",
	"select rw()|copy (select w()) to stdout",
};

/* cenoted does not look at the session between the requests of a pipeline. */
static void
no_pipeline_writes(void **state)
{
	static const char *const requests[] = { "select rw()", "commit", "select w()",
		"insert into t values (2)" };
	cenote_conn *admin, *conn;
	cenote_params *none = wp_params();
	char before[256], after[256];
	cenote_result *res;

	start_read_only();
	admin = wp_attach("free");
	make(admin);
	look(admin, before);
	for (int i = 0; i < 2; i++) {
		conn = wp_attach(NULL);
		assert_ok(cenote_pipeline_begin(conn));
		if (i == 1)
			assert_ok(
				cenote_send_query(conn, "begin", CENOTE_NTS, none, NULL));
		for (size_t j = 0; j < N_ITEMS(requests); j++)
			assert_ok(cenote_send_query(
				conn, requests[j], CENOTE_NTS, none, NULL));
		assert_ok(cenote_send_sync(conn));
		while (cenote_get_result(conn, &res) == CENOTE_OK)
			cenote_result_destroy(res);
		cenote_conn_destroy(conn);
		look(admin, after);
		assert_string_equal(before, after);
	}
	cenote_params_destroy(none);
	cenote_conn_destroy(admin);
}

/* ---- MariaDB ---- */

static const char *const mariadb_setup[] = {
	"drop table if exists t, t2, t9",
	"drop view if exists v_rw, t3",
	"drop function if exists w",
	"drop function if exists rw",
	"drop function if exists f",
	"drop procedure if exists p",
	"create table t (a int)",
	"insert into t values (1)",
	"create function w() returns int begin insert into t values (2); return 1; end",
	"create function rw() returns int begin set session tx_read_only = 0; return 1; "
	"end",
	"create function f() returns int begin set session tx_read_only = 0; insert into "
	"t "
	"values (2); return 1; end",
	"create view v_rw as select rw()",
	"create procedure p() begin set session tx_read_only = 0; insert into t values "
	"(2); end",
};

static const char mariadb_look[] =
	"select concat((select concat(count(*), ' ', sum(a)) from t), ' ', (select "
	"concat(count(*), ' ', group_concat(table_name, column_name order by 1)) from "
	"information_schema.columns where table_schema = database()), ' ', (select "
	"count(*) from information_schema.statistics where table_schema = database()))";

static const char *const mariadb_tries[] = {
	"insert into t values (2)",
	"insert into t select 2",
	"insert into t values (2) returning a",
	"replace into t values (2)",
	"update t set a = 2",
	"delete from t",
	"truncate t",
	"create table t2 (a int)",
	"create table t2 as select 1 as a",
	"create view t3 as select 1 as a",
	"drop table t",
	"alter table t add b int",
	"create index i on t (a)",
	"rename table t to t9",
	"/*!50000 insert into t values (2) */",
	"analyze insert into t values (2)",
	"lock tables t write|insert into t values (2)|unlock tables",
	"select w()",
	"select f()",
	"do w()",
	"set @x = w()",
	"call p()",
	"execute immediate 'insert into t values (2)'",
	"prepare x from 'insert into t values (2)'|execute x",
	"prepare x from 'select w()'|execute x",
	"begin not atomic set session tx_read_only = 0; insert into t values (2); end",
	"if 1 then insert into t values (2); end if",
	"set session transaction read write|select w()",
	"set session transaction read/**/write|select w()",
	"set transaction read write|select w()",
	"set session tx_read_only = 0|select w()",
	"set tx_read_only = 0|select w()",
	"set TX_READ_ONLY = default|select w()",
	"set `tx_read_only` = 0|select w()",
	"set @@session.tx_read_only = 0|select w()",
	"set @@tx_read_only = off|begin|select w()|commit",
	"set @@local.`tx_read_only` = off|select w()",
	"set @a = 1, tx_read_only = 0|select w()",
	"set statement tx_read_only = 0 for insert into t values (2)",
	"set statement tx_read_only = 0 for select w()",
	"start transaction read write|select w()|commit",
	"select rw()|select w()",
	"select * from v_rw|select w()",
	"select rw()|begin|select w()|commit",
	"select rw(); select w()",
	"select 1; select w()",
	"begin|select rw()|begin|select w()|commit",
	"begin|select rw()|start transaction|select w()|commit",
	"begin|select rw()|commit|select w()",
	"begin|select rw()|commit and chain|select w()|commit",
	"set autocommit = 0|select rw()|commit|select w()|commit",
	"set @x = rw()|set @x = w()",
};

/* ---- SQLite ---- */

static const char *const sqlite_setup[] = {
	"drop table if exists t",
	"drop table if exists t2",
	"drop table if exists t9",
	"drop view if exists v",
	"drop table if exists sqlite_stat1",
	"create table t (a integer primary key)",
	"insert into t values (1)",
	"pragma user_version = 0",
	"pragma application_id = 0",
};

static const char sqlite_look[] =
	"select (select count(*) || ' ' || total(a) from t) || (select ' ' || count(*) "
	"|| "
	"' ' || total(length(sql)) from sqlite_master) || ' ' || (select user_version "
	"from "
	"pragma_user_version) || ' ' || (select application_id from "
	"pragma_application_id)";

static const char *const sqlite_tries[] = {
	"insert into t values (2)",
	"insert or ignore into t values (2)",
	"insert into t default values",
	"insert into t values (1) on conflict (a) do update set a = 2",
	"insert into t values (2) returning a",
	"replace into t values (2)",
	"with x as (select 2) insert into t select * from x",
	"update t set a = 2",
	"update or replace t set a = 2",
	"update t set a = b from (select 3 as b)",
	"delete from t",
	"delete from t returning a",
	"create table t2 (a)",
	"create table t2 as select * from t",
	"create index i on t (a)",
	"create view v as select 1",
	"create trigger g after insert on t begin select 1; end",
	"drop table t",
	"alter table t rename to t9",
	"alter table t add b",
	"alter table t rename a to c",
	"select 1; insert into t values (2)",
	"begin; insert into t values (2); commit",
	"begin immediate|insert into t values (2)|commit",
	"begin exclusive|insert into t values (2)|commit",
	"begin|delete from t|commit",
	"savepoint a|insert into t values (2)|release a",
	"pragma user_version = 7",
	"pragma application_id = 7",
	"pragma query_only = off|insert into t values (2)",
	"pragma query_only = 0|create table t2 (a)",
	"pragma locking_mode = exclusive|insert into t values (2)",
	"pragma journal_mode = memory|insert into t values (2)",
	"analyze",
};

#define LIST(x) (x), N_ITEMS(x)

static const struct kind kinds[] = {
	[WS_POSTGRESQL] = { LIST(postgresql_setup), postgresql_look,
		LIST(postgresql_tries) },
	[WS_MARIADB] = { LIST(mariadb_setup), mariadb_look, LIST(mariadb_tries) },
	[WS_SQLITE] = { LIST(sqlite_setup), sqlite_look, LIST(sqlite_tries) },
};

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
#define OF_ALL                                                                           \
	TEST(no_try_writes), TEST(without_the_key_each_try_writes),                      \
		TEST(what_only_reads_works)

int
main(int argc, char **argv)
{
	static const struct CMUnitTest of_sqlite[] = { OF_ALL };
	static const struct CMUnitTest of_mariadb[] = { OF_ALL,
		TEST(clients_take_turns) };
	static const struct CMUnitTest of_postgresql[] = { OF_ALL,
		TEST(clients_take_turns), TEST(no_pipeline_writes) };

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	kind = &kinds[ws_kind];
	if (ws_kind == WS_POSTGRESQL)
		return cmocka_run_group_tests(of_postgresql, ws_setup, ws_teardown);
	return ws_kind == WS_MARIADB
		       ? cmocka_run_group_tests(of_mariadb, ws_setup, ws_teardown)
		       : cmocka_run_group_tests(of_sqlite, ws_setup, ws_teardown);
}
