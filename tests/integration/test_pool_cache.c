/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_pool_cache postgresql|mariadb|sqlite
 *
 * The pool's cache (`rule = … -> cache`) on a real server. The pool "free" has no such rule and changes rows behind its back. So
 * an old value proves that the cache of the pool "main" answered.
 */
#include "with_server.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE  "rule = class=read -> cache ttl=1min\n"
#define SELECT "select v from t where id = 1"

/* A client of the pool main, and one of the pool free. */
static cenote_conn *conn, *free_conn;

/* Start cenoted, with these lines in the pool main, and make the table t with the row (1, 0). */
static void
start_with(const char *lines, const char *free_lines)
{
	char all[512];

	snprintf(all, sizeof(all), "sessions = 8\n%s", lines);
	ws_start_with_free(all, free_lines);
	free_conn = wp_attach("free");
	wp_exec(free_conn, "drop table if exists t");
	wp_exec(free_conn, "create table t (id int primary key, v int)");
	wp_exec(free_conn, "insert into t values (1, 0)");
	conn = wp_attach(NULL);
}

static void
start(const char *lines)
{
	start_with(lines, "sessions = 2\n");
}

static int
teardown(void **state)
{
	cenote_conn_destroy(conn);
	cenote_conn_destroy(free_conn);
	conn = free_conn = NULL;
	return wp_teardown(state);
}

static void
set_value(cenote_conn *by, int v)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "update t set v = %d where id = 1", v);
	wp_exec(by, sql);
}

static void
expect(cenote_conn *by, const char *value)
{
	assert_string_equal(wp_value(by, SELECT), value);
}

/* Let the cache keep `value`, and change the row behind its back to `hidden`. */
static void
keep_and_hide(int value, int hidden)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	set_value(conn, value);
	expect(conn, text);
	set_value(free_conn, hidden);
	expect(conn, text);
}

/* A number of the cache of the pool main. */
static int64_t
number(const char *column)
{
	cenote_conn *asker = wp_handle(NULL);
	cenote_result *res;
	int64_t col, n = -1;

	assert_ok(cenote_status(asker, "cache", &res));
	col = cenote_result_find_column(res, column);
	assert_true(col >= 0);
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strcmp(cenote_result_text(res, i, 0, NULL), "main") == 0)
			assert_ok(cenote_result_int64(res, i, (uint32_t)col, &n));
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(asker);
	return n;
}

/* ---- hits ---- */

static void
every_client_gets_what_the_pool_has_kept(void **state)
{
	cenote_conn *other;

	start(CACHE);
	keep_and_hide(1, 2);
	other = wp_attach(NULL);
	expect(other, "1");
	expect(free_conn, "2");
	assert_string_equal(
		wp_value(other, "select v from t where id = 1 and 1 = 1"), "2");
	cenote_conn_destroy(other);
	assert_int_equal(number("hits"), 2);
	assert_true(number("kept") >= 2);
	assert_true(number("bytes") > 0);
}

static void
a_result_that_is_too_old_is_not_used(void **state)
{
	start("rule = class=read -> cache ttl=300ms\n");
	keep_and_hide(1, 2);
	wp_pause_ms(300 + WP_CLOCK_MS);
	expect(conn, "2");
}

static void
only_the_statements_of_a_rule_are_kept(void **state)
{
	start("rule = tables=other -> cache ttl=1min\nrule = class=read -> cache "
	      "ttl=1min "
	      "dry-run\n");
	expect(conn, "0");
	set_value(free_conn, 1);
	expect(conn, "1");
}

static cenote_stmt *
prepare(const char *sql, const char *name)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	if (name != NULL)
		assert_ok(cenote_stmt_set_name(stmt, name));
	assert_ok(cenote_stmt_prepare(stmt));
	return stmt;
}

static const char *
execute(cenote_stmt *stmt, int64_t id)
{
	static char text[32];
	cenote_params *params = wp_params();
	cenote_result *res;

	assert_ok(cenote_params_add_int64(params, id));
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	snprintf(text, sizeof(text), "%s",
		cenote_result_n_rows(res) > 0 ? cenote_result_text(res, 0, 0, NULL)
					      : "none");
	cenote_result_destroy(res);
	cenote_params_destroy(params);
	return text;
}

static void
parameters_are_part_of_the_question(void **state)
{
	static const char *const texts[] = { "select v from t where id = $1",
		"select v from t where id = ?", "select v from t where id = ?" };
	const char *names[] = { NULL, "q" };

	start(CACHE);
	for (size_t i = 0; i < (ws_kind == WS_POSTGRESQL ? 2 : 1); i++) {
		cenote_stmt *stmt = prepare(texts[ws_kind], names[i]);

		set_value(conn, 1);
		assert_string_equal(execute(stmt, 1), "1");
		assert_string_equal(execute(stmt, 2), "none");
		set_value(free_conn, 2);
		assert_string_equal(execute(stmt, 1), "1");
		assert_string_equal(execute(stmt, 2), "none");
		set_value(conn, 3);
		assert_string_equal(execute(stmt, 1), "3");
		cenote_stmt_destroy(stmt);
	}
}

/* ---- writes ---- */

static void
a_write_is_seen_at_once_by_all_clients(void **state)
{
	cenote_conn *other;

	start(CACHE);
	other = wp_attach(NULL);
	for (int i = 1; i < 20; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		set_value(i % 2 ? conn : other, i);
		expect(conn, text);
		expect(other, text);
	}
	cenote_conn_destroy(other);
	assert_true(number("hits") > 10);
}

/* The cache keeps what is committed while a transaction is open, and not after it has ended. */
static void
a_result_from_before_a_commit_is_not_used_after_it(void **state)
{
	cenote_conn *other;

	start(CACHE);
	other = wp_attach(NULL);
	wp_exec(conn, "begin");
	set_value(conn, 1);
	expect(other, "0");
	expect(other, "0");
	wp_exec(conn, "commit");
	expect(other, "1");
	expect(conn, "1");
	assert_ok(cenote_begin(conn, 0, 0));
	set_value(conn, 2);
	expect(other, "1");
	assert_ok(cenote_commit(conn));
	expect(other, "2");
	cenote_conn_destroy(other);
}

static void
a_transaction_reads_from_the_server(void **state)
{
	start(CACHE);
	keep_and_hide(1, 2);
	wp_exec(conn, "begin");
	expect(conn, "2");
	set_value(conn, 3);
	expect(conn, "3");
	wp_exec(conn, "rollback");
	expect(conn, "2");
	assert_ok(cenote_set_autocommit(conn, 0));
	set_value(free_conn, 4);
	expect(conn, "4");
	assert_ok(cenote_rollback(conn));
}

/* A text of the pool main that may change the table t; and another one that makes room for it. */
static const struct {
	unsigned kinds; /* bits of enum ws_kind */
	const char *sql;
	const char *then;
} writes[] = {
	{ 7, "insert into t values (7, 7)", "delete from t where id = 7" },
	{ 7, "delete from t where id = 7", NULL },
	{ 7, "delete from \"t\" where id = 7", NULL },
	{ 7, "/* a comment */ update t set v = v", NULL },
	{ 5, "update /* a comment */ T set v = v", NULL },
	{ 7, "insert into t select id + 7, v from t where id = 0", NULL },
	{ 7, "create table other_t (a int)", "drop table other_t" },
	{ 5, "with x as (select 1) update t set v = v", NULL },
	{ 5, "insert into t values (1, 1) on conflict (id) do update set v = t.v", NULL },
	{ 6, "replace into t values (7, 7)", NULL },
	{ 1, "with x as (update t set v = v returning v) select v from x", NULL },
	{ 1, "update t set v = v; select 1", NULL },
	{ 1, "do $$ begin update t set v = v; end $$", NULL },
	{ 1, "select pg_advisory_unlock(1)", NULL },
	{ 1, "update public.t set v = v returning v", NULL },
	{ 1, "prepare w as update t set v = v", NULL },
	{ 1, "execute w", NULL },
	{ 1, "truncate other_t2", NULL },
	{ 1,
		"merge into t using (select 1 as id) s on t.id = s.id when matched then "
		"update set v = t.v",
		NULL },
	{ 2, "update `t` set v = v", NULL },
	{ 2, "update t, other_t2 set t.v = t.v", NULL },
	{ 2, "truncate other_t2", NULL },
	{ 2, "set @a = (select get_lock('x', 0))", NULL },
	{ 2, "execute immediate 'update t set v = v'", NULL },
	{ 4, "update [t] set v = v", NULL },
	{ 4, "update main.t set v = v", NULL },
};

static void
every_kind_of_write_ends_what_was_kept(void **state)
{
	cenote_conn *other;

	start(CACHE);
	other = wp_attach(NULL);
	wp_exec(free_conn, "drop table if exists other_t2");
	wp_exec(free_conn, "create table other_t2 (a int)");
	if (ws_kind == WS_MARIADB)
		wp_exec(other, "set sql_mode = ansi_quotes");
	for (size_t i = 0; i < CNT_COUNT(writes); i++) {
		if (!(writes[i].kinds & 1u << ws_kind))
			continue;
		/* MySQL has no such statement */
		if (cnt_server_is_mysql() &&
			strncmp(writes[i].sql, "execute im", 10) == 0)
			continue;
		keep_and_hide(1, 2);
		if (wp_run_text(other, writes[i].sql) != CENOTE_OK &&
			strncmp(writes[i].sql, "merge", 5) != 0)
			fail_msg("%s: %s", writes[i].sql, wp_message(other));
		if (strcmp(wp_value(conn, SELECT), "1") == 0)
			fail_msg("not seen: %s", writes[i].sql);
		if (writes[i].then != NULL)
			assert_ok(wp_run_text(other, writes[i].then));
	}
	cenote_conn_destroy(other);
}

static void
a_prepared_statement_writes_at_each_execution(void **state)
{
	static const char *const texts[] = { "update t set v = 5 where id = $1",
		"update t set v = 5 where id = ?", "update t set v = 5 where id = ?" };
	const char *names[] = { NULL, "w" };

	start(CACHE);
	for (size_t i = 0; i < (ws_kind == WS_POSTGRESQL ? 2 : 1); i++) {
		cenote_stmt *stmt = prepare(texts[ws_kind], names[i]);

		for (int k = 0; k < 3; k++) {
			keep_and_hide(1, 2);
			(void)execute(stmt, 1);
			expect(conn, "5");
		}
		cenote_stmt_destroy(stmt);
	}
}

static void
a_copy_ends_what_was_kept(void **state)
{
	cenote_result *copy, *res;

	start(CACHE);
	if (ws_kind != WS_POSTGRESQL)
		return;
	keep_and_hide(1, 2);
	assert_ok(cenote_send_query(conn, "copy t from stdin", CENOTE_NTS, NULL, NULL));
	copy = wp_next_result(conn, CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "9\t9\n", 4));
	assert_ok(cenote_copy_end(conn, NULL));
	while (cenote_get_result(conn, &res) == CENOTE_OK)
		cenote_result_destroy(res);
	cenote_result_destroy(copy);
	expect(conn, "2");
}

/* ---- sessions ---- */

static const char *const settings[] = { "set datestyle = 'German'",
	"set time_zone = '+03:00'", "pragma case_sensitive_like = 1" };

static void
settings_are_part_of_the_question(void **state)
{
	cenote_conn *other, *third;

	start(CACHE);
	keep_and_hide(1, 2);
	other = wp_attach(NULL);
	wp_exec(other, settings[ws_kind]);
	expect(other, "2");
	set_value(free_conn, 3);
	expect(conn, "1");
	/* nobody knows what a PRAGMA of SQLite sets */
	expect(other, ws_kind == WS_SQLITE ? "3" : "2");
	third = wp_attach(NULL);
	wp_exec(third, settings[ws_kind]);
	expect(third, ws_kind == WS_SQLITE ? "3" : "2");
	cenote_conn_destroy(third);
	third = wp_attach(NULL);
	expect(third, "1");
	cenote_conn_destroy(third);
	cenote_conn_destroy(other);
}

static void
a_session_that_changed_its_role_asks_the_server(void **state)
{
	start(CACHE);
	if (ws_kind != WS_POSTGRESQL)
		return;
	assert_int_equal(cnt_server_sql(&ws_server,
				 "create role other_role; grant other_role to app"),
		0);
	wp_exec(free_conn, "grant select on t to other_role");
	keep_and_hide(1, 2);
	wp_exec(conn, "set role other_role");
	expect(conn, "2");
	set_value(free_conn, 3);
	expect(conn, "3");
	wp_exec(conn, "reset role");
}

static void
a_function_that_may_set_something_switches_the_cache_off(void **state)
{
	start(CACHE);
	if (ws_kind != WS_POSTGRESQL)
		return;
	expect(conn, "0");
	(void)wp_value(conn, "select set_config('work_mem', '8MB', false)");
	expect(conn, "0");
	set_value(free_conn, 1);
	expect(conn, "1");
	assert_ok(cenote_reset(conn));
	expect(conn, "1");
	set_value(free_conn, 2);
	expect(conn, "1");
}

/* What a view sets when it is read does not show in the text. */
static void
what_hidden_code_sets_is_not_kept_for_others(void **state)
{
	static const char *const setup_postgresql[] = {
		"drop schema if exists other cascade", "create schema other",
		"create table other.t (id int, v int)",
		"insert into other.t values (1, 666)",
		"create view other.sets as select set_config('search_path', 'other', "
		"false)",
		NULL
	};
	static const char *const setup_mariadb[] = { "drop view if exists sets",
		"drop function if exists set_it",
		"create function set_it() returns int begin set session "
		"div_precision_increment = 8; return 1; end",
		"create view sets as select set_it()", NULL };
	bool is_mariadb = ws_kind == WS_MARIADB;
	const char *const *sql = is_mariadb ? setup_mariadb : setup_postgresql;
	const char *select = is_mariadb ? "select (v + 1) / 3 from t" : SELECT;
	cenote_conn *other;

	/* code in SQLite sets nothing */
	if (ws_kind == WS_SQLITE)
		return;
	start(CACHE);
	for (; *sql != NULL; sql++)
		wp_exec(free_conn, *sql);
	wp_exec(conn, is_mariadb ? "select * from sets" : "select * from other.sets");
	assert_string_equal(wp_value(conn, select), is_mariadb ? "0.33333333" : "666");
	other = wp_attach(NULL);
	assert_string_equal(wp_value(other, select), is_mariadb ? "0.3333" : "0");
	assert_string_equal(wp_value(conn, select), is_mariadb ? "0.33333333" : "666");
	cenote_conn_destroy(other);
	/* in a database with such a function, nobody knows what a statement leaves */
	wp_exec(free_conn, is_mariadb ? "drop view sets" : "drop schema other cascade");
}

static void
pools_share_nothing(void **state)
{
	start_with(CACHE, "sessions = 2\n" CACHE);
	expect(conn, "0");
	set_value(free_conn, 1);
	expect(free_conn, "1");
	expect(conn, "0");
}

static void
a_small_cache_gives_up_its_oldest_results(void **state)
{
	char sql[128];

	start(CACHE "cache_size = 256kB\n");
	for (int i = 0; i < 1000; i++) {
		snprintf(sql, sizeof(sql), "select %d, '%0100d' from t", i, i);
		snprintf(sql, sizeof(sql), "select %d + v from t", i);
		(void)wp_value(conn, sql);
	}
	assert_int_equal(number("kept"), 1000);
	assert_true(number("evicted") > 0);
	assert_true(number("bytes") <= 256 * 1024);
	/* the newest result is still kept */
	set_value(free_conn, 1);
	assert_string_equal(wp_value(conn, sql), "999");
}

/* What cenoted --explain-sql prints about a statement that passes. */
static const char *
explained(const char *sql, const char *in_tx)
{
	static char output[8192];
	const char *const argv[] = { cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH),
		"--explain-sql", "-c", wp_daemon.conf, "pool=main", in_tx, sql, NULL };
	const struct cnt_command command = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	assert_int_equal(cnt_run(&command), 0);
	return output;
}

static void
explain_sql_says_whether_a_result_is_kept(void **state)
{
	start(CACHE);
	assert_non_null(strstr(explained(SELECT, "in_tx=no"), "the result is kept"));
	assert_non_null(strstr(explained(SELECT, "in_tx=yes"), "a transaction is open"));
	assert_non_null(strstr(explained("select f(1)", "in_tx=no"), "is not kept"));
}

/* Workers of the former configuration did not count their writes. */
static void
a_reload_begins_with_an_empty_cache(void **state)
{
	char config[4096];

	start(CACHE);
	keep_and_hide(1, 2);
	assert_ok(cnt_daemon_configure(
		&wp_daemon, ws_config("sessions = 8\nidle_ttl = 9s\n" CACHE, config,
				    sizeof(config))));
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	expect(conn, "2");
	expect(conn, "2");
	while (number("hits") < 2)
		expect(conn, "2");
}

/* ---- what a client sees ---- */

static const char *const tables[] = {
	"create table u (a int, b bigint, c text, d numeric(10, 2), e date, f bytea)",
	"create table u (a int, b bigint, c text, d numeric(10, 2), e date, f blob)",
	"create table u (a int, b bigint, c text, d numeric(10, 2), e date, f blob)"
};

static void
expect_same_columns(const cenote_result *a, const cenote_result *b)
{
	for (uint32_t i = 0; i < cenote_result_n_columns(a); i++) {
		const cenote_column *x = cenote_result_column(a, i);
		const cenote_column *y = cenote_result_column(b, i);

		for (uint32_t k = CENOTE_COLUMN_NAME; k <= CENOTE_COLUMN_TYPE_NAME; k++)
			assert_string_equal(
				cenote_column_text(x, k), cenote_column_text(y, k));
		for (uint32_t k = CENOTE_COLUMN_TYPE; k <= CENOTE_COLUMN_FORMAT; k++)
			assert_int_equal(
				cenote_column_int(x, k), cenote_column_int(y, k));
	}
}

static void
expect_same(const cenote_result *a, const cenote_result *b)
{
	assert_int_equal(cenote_result_kind(a), cenote_result_kind(b));
	assert_int_equal(cenote_result_n_columns(a), cenote_result_n_columns(b));
	assert_int_equal(cenote_result_n_rows(a), cenote_result_n_rows(b));
	assert_int_equal(cenote_result_flags(a), cenote_result_flags(b));
	assert_int_equal(cenote_result_affected_rows(a), cenote_result_affected_rows(b));
	assert_int_equal(cenote_result_warnings(a), cenote_result_warnings(b));
	assert_int_equal(cenote_result_server_status(a), cenote_result_server_status(b));
	assert_string_equal(cenote_result_tag(a), cenote_result_tag(b));
	expect_same_columns(a, b);
	for (uint64_t i = 0; i < cenote_result_n_rows(a); i++) {
		for (uint32_t k = 0; k < cenote_result_n_columns(a); k++) {
			size_t n = 0, m = 0;
			const char *x = cenote_result_text(a, i, k, &n);
			const char *y = cenote_result_text(b, i, k, &m);

			assert_int_equal(x == NULL, y == NULL);
			assert_int_equal(n, m);
			if (n > 0)
				assert_memory_equal(x, y, n);
		}
	}
}

static void
a_hit_is_like_the_answer_of_the_server(void **state)
{
	static const char *const texts[] = { "select * from u order by a",
		"select a, c from u where a < 0", "select count(*), max(d) from u",
		"select c from u" };
	const uint8_t formats[] = { CENOTE_FORMAT_TEXT, CENOTE_FORMAT_CANONICAL,
		CENOTE_FORMAT_BINARY };

	start(CACHE);
	wp_exec(free_conn, "drop table if exists u");
	wp_exec(free_conn, tables[ws_kind]);
	wp_exec(free_conn, "insert into u values (1, 2, 'text', 1.50, '2026-11-29', '')");
	wp_exec(free_conn, "insert into u values (2, null, '', null, null, null)");
	for (int i = 3; i < 60; i++) {
		char sql[2200];

		snprintf(sql, sizeof(sql),
			"insert into u values (%d, 5, '%0*d', 0, null, 'x')", i, 2000, i);
		wp_exec(free_conn, sql);
	}
	for (size_t i = 0; i < CNT_COUNT(texts) * CNT_COUNT(formats); i++) {
		cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
		const char *sql = texts[i / CNT_COUNT(formats)];
		int64_t hits = number("hits");
		cenote_result *miss, *hit;

		options.format = formats[i % CNT_COUNT(formats)];
		/* SQLite has no binary format */
		if (ws_kind == WS_SQLITE && options.format == CENOTE_FORMAT_BINARY)
			continue;
		assert_ok(cenote_query(conn, sql, CENOTE_NTS, NULL, &options, &miss));
		assert_ok(cenote_query(conn, sql, CENOTE_NTS, NULL, &options, &hit));
		assert_int_equal(number("hits"), hits + 1);
		expect_same(miss, hit);
		cenote_result_destroy(miss);
		cenote_result_destroy(hit);
	}
}

/* ---- killed workers ---- */

/* The value of the row that a completed write has established; it only grows. */
static _Atomic int64_t established;
static _Atomic int n_failures, is_over, n_reads;

static void
raise_established(int64_t value)
{
	int64_t before = atomic_load(&established);

	while (before < value &&
		!atomic_compare_exchange_weak(&established, &before, value)) {
	}
}

/* Read a number. -1: the client lost its session. */
static int64_t
read_number(cenote_conn *by)
{
	cenote_result *res;
	int64_t n;

	if (cenote_query(by, SELECT, CENOTE_NTS, NULL, NULL, &res) != CENOTE_OK)
		return -1;
	n = atoll(cenote_result_text(res, 0, 0, NULL));
	cenote_result_destroy(res);
	return n;
}

static void
reconnect(cenote_conn **by)
{
	cenote_conn_destroy(*by);
	while (wp_try(NULL, by) != CENOTE_OK) {
		cenote_conn_destroy(*by);
		wp_pause_ms(5);
	}
}

/* Read the row again and again: it must never be older than a write that was complete before. */
static void *
read_always(void *arg)
{
	cenote_conn *by = NULL;

	reconnect(&by);
	while (!is_over) {
		int64_t floor = atomic_load(&established), n = read_number(by);

		if (n < 0) {
			reconnect(&by);
			continue;
		}
		n_reads++;
		if (n < floor)
			n_failures++;
	}
	cenote_conn_destroy(by);
	return arg;
}

/* Write growing numbers. Only this thread writes, so a number that failed may be skipped. */
static void *
write_always(void *arg)
{
	cenote_conn *by = NULL;

	reconnect(&by);
	for (int n = 1; !is_over; n++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "update t set v = %d where id = 1", n);
		if (wp_status_of(by, sql) == CENOTE_OK)
			raise_established(n);
		else
			reconnect(&by);
		if (n % 4 == 0)
			wp_pause_ms(1);
	}
	cenote_conn_destroy(by);
	return arg;
}

static void
no_client_sees_an_older_value_while_workers_are_killed(void **state)
{
	pthread_t threads[4];
	int64_t until;

	start(CACHE "cache_size = 256kB\n");
	atomic_store(&established, 0);
	is_over = n_failures = n_reads = 0;
	assert_int_equal(pthread_create(&threads[0], NULL, write_always, NULL), 0);
	for (size_t i = 1; i < CNT_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_always, NULL), 0);
	until = wp_now_ms() + 3000;
	while (wp_now_ms() < until) {
		pid_t pid = wp_worker_of(NULL);

		if (pid > 0)
			(void)kill(pid, SIGKILL);
		wp_pause_ms(60);
	}
	is_over = 1;
	for (size_t i = 0; i < CNT_COUNT(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(n_failures, 0);
	assert_true(n_reads > 100);
	assert_true(atomic_load(&established) > 10);
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_true(number("hits") > 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(every_client_gets_what_the_pool_has_kept),
		TEST(a_result_that_is_too_old_is_not_used),
		TEST(only_the_statements_of_a_rule_are_kept),
		TEST(parameters_are_part_of_the_question),
		TEST(a_write_is_seen_at_once_by_all_clients),
		TEST(a_result_from_before_a_commit_is_not_used_after_it),
		TEST(a_transaction_reads_from_the_server),
		TEST(every_kind_of_write_ends_what_was_kept),
		TEST(a_prepared_statement_writes_at_each_execution),
		TEST(a_copy_ends_what_was_kept),
		TEST(settings_are_part_of_the_question),
		TEST(a_session_that_changed_its_role_asks_the_server),
		TEST(a_function_that_may_set_something_switches_the_cache_off),
		TEST(what_hidden_code_sets_is_not_kept_for_others),
		TEST(pools_share_nothing),
		TEST(a_small_cache_gives_up_its_oldest_results),
		TEST(explain_sql_says_whether_a_result_is_kept),
		TEST(a_reload_begins_with_an_empty_cache),
		TEST(a_hit_is_like_the_answer_of_the_server),
		TEST(no_client_sees_an_older_value_while_workers_are_killed),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	return cmocka_run_group_tests(tests, ws_setup, ws_teardown);
}
