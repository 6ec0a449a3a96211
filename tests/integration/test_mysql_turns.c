/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of MySQL and MariaDB that share one session (mode = transaction): what each client keeps while they take turns, and
 * what a pool with strict = yes refuses.
 */
#include "with_mysql.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- what a client keeps ---- */

static void
each_client_keeps_its_insert_id(void **state)
{
	cenote_conn *a = *state, *b;
	char id[16];

	wp_exec(a, "create or replace table t (a int auto_increment primary key)");
	b = wp_attach(NULL);
	for (int i = 1; i < 10; i += 3) {
		wp_exec(a, "insert into t values ()");
		wp_exec(b, "insert into t values ()");
		wp_exec(b, "insert into t values ()");
		snprintf(id, sizeof(id), "%d", i);
		assert_string_equal(wp_value(a, "select last_insert_id()"), id);
		snprintf(id, sizeof(id), "%d", i + 2);
		assert_string_equal(wp_value(b, "select last_insert_id()"), id);
		assert_string_equal(wp_value(b, "select last_insert_id()"), id);
	}
	/* the id stays after a statement that fails, and after one whose answer has no id */
	assert_int_equal(
		wp_status_of(a, "insert into t values (null), (1)"), CENOTE_ERR_SERVER);
	wp_exec(b, "do 1");
	assert_string_equal(wp_value(a, "select last_insert_id()"), "10");
	wp_exec(a, cnt_server_is_mysql() ? "insert into t values (null)"
					 : "insert into t values (null) returning a");
	wp_exec(b, "do 1");
	assert_string_equal(wp_value(a, "select last_insert_id()"), "12");
	wp_exec(a, "create or replace table u (b int auto_increment primary key, a int) "
		   "select a from t");
	wp_exec(b, "do 1");
	assert_string_equal(wp_value(a, "select last_insert_id()"), "1");
	/* a session that was reset has no insert id */
	wp_exec(a, "insert into t values ()");
	assert_ok(cenote_reset(a));
	wp_exec(b, "do 1");
	assert_string_equal(wp_value(a, "select last_insert_id()"), "0");
	assert_true(wp_pool_number("main", "yields") >= 10);
	cenote_conn_destroy(b);
}

/* Two clients take turns on one session, and each has its own settings there. */
static void
each_client_keeps_its_settings(void **state)
{
	static const char asked[] =
		"select concat_ws(' ', @@sql_mode, @@time_zone, @@tx_isolation, "
		"@@character_set_client, @@autocommit + 0, database())";
	cenote_conn *a = *state, *b = wp_handle(NULL);
	char fresh[256];

	snprintf(fresh, sizeof(fresh), "%s", wp_value(a, asked));
	wp_exec(a, "set sql_mode = 'ansi_quotes', time_zone = '+05:00'");
	wp_exec(a, "set session transaction isolation level serializable");
	wp_exec(a, "set names latin1");
	wp_exec(a, "set autocommit = 0");
	wp_exec(a, "use app2");
	assert_true(cenote_pins(a) & CENOTE_PIN_SETTINGS);
	assert_ok(cenote_connect(b));
	for (int i = 0; i < 3; i++) {
		assert_string_equal(wp_value(b, asked), fresh);
		assert_string_equal(cenote_parameter(b, "autocommit"), "ON");
		wp_exec(b, "set time_zone = '-03:00'");
		assert_string_equal(wp_value(a, asked),
			"ANSI_QUOTES +05:00 SERIALIZABLE latin1 0 app2");
		assert_int_equal(cenote_pins(a), 0);
		assert_string_equal(cenote_parameter(a, "time_zone"), "+05:00");
		assert_string_equal(cenote_parameter(a, "autocommit"), "OFF");
		assert_string_equal(cenote_parameter(a, "database"), "app2");
		assert_string_equal(
			cenote_parameter(a, "character_set_client"), "latin1");
		wp_exec(a, "rollback");
		assert_string_equal(wp_value(b, "select @@time_zone"), "-03:00");
		assert_string_equal(cenote_parameter(b, "time_zone"), "-03:00");
		assert_ok(cenote_reset(b));
	}
	/* a setting with the login's value no longer moves */
	wp_exec(a, "set sql_mode = default, session tx_isolation = default");
	wp_exec(a, "set time_zone = default, autocommit = 1");
	wp_exec(a, "set names utf8mb4");
	wp_exec(a, "use app");
	assert_string_equal(wp_value(b, asked), fresh);
	assert_string_equal(wp_value(a, asked), fresh);
	assert_true(wp_pool_number("main", "yields") >= 10);
	cenote_conn_destroy(b);
}

/* The pool leaves out what the server's reset does not clear only if the server has confirmed that there is nothing of it. */
static void
what_hidden_code_sets_is_gone_with_its_client(void **state)
{
	static const char *const sets[] = { "role hidden_role", "profiling = 1",
		"net_read_timeout = 77", "@left = 1" };
	static const char left[] =
		"select concat_ws(' ', current_role is null, @@profiling + 0, "
		"@@net_read_timeout = @@global.net_read_timeout, @left is null)";
	cenote_conn *a, *b;
	char sql[320];

	/* nothing is left out on MySQL */
	if (cnt_server_is_mysql())
		return;
	b = wp_attach(NULL);
	wp_exec(b, "create or replace table plain (a int)");
	for (size_t i = 0; i < CNT_COUNT(sets); i++) {
		snprintf(sql, sizeof(sql),
			"use app;\ndrop role if exists hidden_role;\n"
			"create role hidden_role;\ngrant hidden_role to app;\n"
			"drop function if exists hide;\ndelimiter //\n"
			"create definer = app function hide() returns int begin "
			"set %s; return 1; end//\n"
			"create or replace definer = app view hides as select hide()//\n",
			sets[i]);
		assert_int_equal(cnt_server_sql(&with_mysql_server, sql), 0);
		a = wp_attach(NULL);
		/* these statements leave nothing, so the reset sends no SQL */
		for (int k = 0; k < 3; k++) {
			wp_exec(a, "insert into plain values (1)");
			assert_string_equal(wp_value(b, left), "1 0 1 1");
		}
		wp_exec(a, "select * from hides");
		cenote_conn_destroy(a);
		assert_string_equal(wp_value(b, left), "1 0 1 1");
		assert_string_equal(
			wp_value(b, "select count(*) from information_schema.profiling"),
			"0");
	}
	cenote_conn_destroy(b);
}

/* After a table was used, the pool asks for the settings and for what triggers have left, in one question. */
static void
flags_keep_their_values_when_a_table_was_used(void **state)
{
	static const char flags[] =
		"select concat_ws(' ', @@autocommit + 0, @@foreign_key_checks + 0, "
		"@@unique_checks + 0, @@sql_big_selects + 0, @@sql_notes + 0, "
		"@@sql_safe_updates + 0, @@time_zone)";
	cenote_conn *a = *state, *b = wp_handle(NULL);

	wp_exec(a, "create table used (n int)");
	/* the pool asks nothing before the end of the transaction */
	wp_exec(a, "start transaction");
	wp_exec(a, "set time_zone = '+05:00', unique_checks = 0");
	wp_exec(a, "insert into used values (1)");
	wp_exec(a, "commit");
	assert_ok(cenote_connect(b));
	assert_string_equal(wp_value(b, "select 1"), "1");
	assert_string_equal(wp_value(a, flags), "1 1 0 1 1 0 +05:00");
	wp_exec(a, "set time_zone = default, unique_checks = default");
	wp_exec(a, "drop table used");
	cenote_conn_destroy(b);
}

/* A session is free again when the client has ended what it made there, and not before. */
static void
what_ends_gives_the_session_back(void **state)
{
	static const struct {
		const char *begin, *mine, *end, *look, *fresh;
	} cases[] = {
		{ "create temporary table own (a int)", "select count(*) from own",
			"drop temporary table own",
			"select count(*) from information_schema.tables where "
			"table_name = 'own'",
			"0" },
		{ "select get_lock('own', 0)",
			"select is_used_lock('own') <> connection_id()",
			"select release_all_locks()", "select is_free_lock('own')", "1" },
		{ "lock tables t write", "select count(*) from t", "unlock tables",
			"select count(*) from u", "0" },
		{ "prepare own from 'select 0'", "select 0", "deallocate prepare own",
			"select 1", "1" },
		{ "set @own = 0", "select @own", "set @own = null", "select @own is null",
			"1" },
		{ "set timestamp = 5", "select 0", NULL, "select @@timestamp > 1e9",
			"1" },
	};
	cenote_conn *a = *state, *b;

	wp_exec(a, "create or replace table t (a int)");
	wp_exec(a, "create or replace table u (a int)");
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		wp_exec(a, cases[i].begin);
		wp_expect_none_free(NULL);
		assert_string_equal(wp_value(a, cases[i].mine), "0");
		if (cases[i].end)
			wp_exec(a, cases[i].end);
		/* MySQL does not tell which user variables are NULL */
		if (!cases[i].end || (cnt_server_is_mysql() &&
					     strncmp(cases[i].begin, "set @", 5) == 0))
			assert_ok(cenote_reset(a));
		b = wp_attach(NULL);
		assert_string_equal(wp_value(b, cases[i].look), cases[i].fresh);
		cenote_conn_destroy(b);
	}
}

/* A statement means what it meant when it was prepared. */
static void
statements_are_of_the_settings_that_they_were_prepared_with(void **state)
{
	cenote_conn *a = *state, *b = wp_attach(NULL);
	cenote_result *res;
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(a, "select \"x\"", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	/* a gets a session on which the statement is not prepared yet */
	wp_exec(b, "do 1");
	wp_exec(a, "set sql_mode = 'ansi_quotes'");
	assert_true(cenote_pins(a) & CENOTE_PIN_PREPARED);
	wp_expect_none_free(NULL);
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "x");
	cenote_result_destroy(res);
	cenote_stmt_destroy(stmt);
	wp_exec(a, "do 1");
	assert_string_equal(wp_value(b, "select \"x\""), "x");
	assert_int_equal(wp_status_of(a, "select \"x\""), CENOTE_ERR_SERVER);
	cenote_conn_destroy(b);
}

/* While no other client wants the session, the pool asks the server nothing that would hide the
 * last statement's warnings. */
static void
warnings_can_be_asked_for_after_a_while(void **state)
{
	cenote_conn *a = *state;

	wp_exec(a, "create or replace table t (a int auto_increment primary key, b int)");
	/* otherwise, another client may have waited for the session a moment ago */
	wp_pause_ms(200);
	wp_exec(a, "insert ignore into t (b) values ('x')");
	wp_pause_ms(1500);
	assert_string_equal(wp_value(a, "show warnings"), "Warning");
	wp_exec(a, "update ignore t set b = 'y'");
	wp_pause_ms(1500);
	assert_string_equal(wp_value(a, "show warnings"), "Warning");
}

/* The first piece is in the session only, so the pool must not lend it to another client before the execution. */
static void
a_value_in_pieces_keeps_its_session(void **state)
{
	cenote_conn *a = *state, *b;
	cenote_params *params = wp_params();
	cenote_result *res;
	cenote_stmt *stmt;

	wp_exec(a, "create or replace table t (b longtext)");
	assert_ok(cenote_stmt_create(a, "insert into t values (?)", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_send_long_data(stmt, 0, "one, ", 5));
	wp_exec(a, "do 1");
	assert_true(cenote_pins(a) & CENOTE_PIN_PREPARED);
	wp_expect_none_free(NULL);
	assert_ok(cenote_send_long_data(stmt, 0, "two", 3));
	assert_ok(cenote_params_add_long(params, CENOTE_TYPE_TEXT));
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	cenote_result_destroy(res);
	assert_false(cenote_pins(a) & CENOTE_PIN_PREPARED);
	b = wp_attach(NULL);
	assert_string_equal(wp_value(b, "select b from t"), "one, two");
	/* a piece that is dropped holds nothing either */
	assert_ok(cenote_send_long_data(stmt, 0, "three", 5));
	wp_exec(a, "do 1");
	assert_true(cenote_pins(a) & CENOTE_PIN_PREPARED);
	cenote_stmt_destroy(stmt);
	wp_exec(a, "do 1");
	assert_false(cenote_pins(a) & CENOTE_PIN_PREPARED);
	assert_string_equal(wp_value(b, "select count(*) from t"), "1");
	cenote_conn_destroy(b);
	cenote_params_destroy(params);
}

/* USE applies to the client's next names, but not to the statements that it has prepared. */
static void
statements_are_of_the_database_that_they_were_prepared_in(void **state)
{
	cenote_conn *a = *state, *b = wp_attach(NULL);

	wp_exec(a, "create or replace table t (a int)");
	wp_exec(a, "create or replace database app3");
	wp_exec(a, "create table app3.t (a int)");
	for (int i = 0; i < 2; i++) {
		cenote_stmt *stmt;
		cenote_result *res;

		assert_ok(cenote_stmt_create(
			a, "insert into t values (1)", CENOTE_NTS, &stmt));
		assert_ok(cenote_stmt_prepare(stmt));
		wp_exec(b, "do 1");
		if (i == 0)
			wp_exec(a, " /* to another one */ use app3");
		else
			assert_ok(cenote_select_database(a, "app3"));
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		cenote_result_destroy(res);
		cenote_stmt_destroy(stmt);
		assert_string_equal(wp_value(a, "select count(*) from t"), "0");
		/* the client holds the session: reset it, so that the other client can have it */
		assert_ok(cenote_reset(a));
	}
	assert_string_equal(wp_value(b, "select count(*) from t"), "2");
	wp_exec(b, "drop database app3");
	cenote_conn_destroy(b);
}

/* ---- a crowd ---- */

#define SLOW   "lock tables app.slow write; do sleep(0.1); unlock tables; "
#define SLOW_5 SLOW SLOW SLOW SLOW SLOW

/* Preparing a statement on this table takes up to 100 ms, for 3 s. */
static int
make_slowly(void *arg)
{
	(void)arg;
	return cnt_server_sql(
		&with_mysql_server, SLOW_5 SLOW_5 SLOW_5 SLOW_5 SLOW_5 SLOW_5);
}

/* A client that wants the session again and again. */
static int
crowd_in(void *arg)
{
	cenote_conn *conn;

	(void)arg;
	if (wp_try(NULL, &conn) != CENOTE_OK)
		return 1;
	while (wp_status_of(conn, "do sleep(0.001)") == CENOTE_OK)
		continue;
	cenote_conn_destroy(conn);
	return 2;
}

/* After a slow set-up, the client keeps the session until all of its request has come. */
static void
a_long_request_gets_through_a_crowd(void **state)
{
	static const size_t size = (size_t)4 << 20;
	cenote_conn *conn = *state;
	cenote_params *params = wp_params();
	char *text = malloc(size);
	pid_t slow, crowd[4];
	int64_t until;
	char seen[16];
	cenote_result *res;
	cenote_stmt *stmt;

	assert_non_null(text);
	memset(text, 'x', size);
	assert_int_equal(
		cnt_server_sql(&with_mysql_server, "create table app.slow (a int)"), 0);
	assert_ok(cenote_stmt_create(conn,
		"select length(?) from (select count(*) from slow) as s", CENOTE_NTS,
		&stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_params_add_text(params, text, size));
	for (size_t i = 0; i < CNT_COUNT(crowd); i++)
		crowd[i] = wp_fork(crowd_in, NULL, -1);
	wp_await("main", "waiting", 3);
	slow = wp_fork(make_slowly, NULL, -1);
	until = wp_now_ms() + 20000;
	do {
		assert_true(wp_now_ms() < until);
		assert_int_equal(cnt_server_ask(&with_mysql_server,
					 "select count(*) from "
					 "information_schema.processlist where "
					 "info like 'do sleep(0.1)%'",
					 seen, sizeof(seen)),
			0);
	} while (strcmp(seen, "1") != 0);
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "4194304");
	cenote_result_destroy(res);
	assert_int_equal(waitpid(slow, NULL, WNOHANG), 0);
	assert_int_equal(wp_join(slow), 0);
	for (size_t i = 0; i < CNT_COUNT(crowd); i++) {
		kill(crowd[i], SIGKILL);
		(void)wp_join(crowd[i]);
	}
	cenote_stmt_destroy(stmt);
	cenote_params_destroy(params);
	free(text);
	assert_int_equal(cnt_server_sql(&with_mysql_server, "drop table app.slow"), 0);
}

/* ---- strict = yes ---- */

static int
setup_strict(void **state)
{
	with_mysql_start(with_mysql_server.server_line,
		"sessions = 1\nmode = transaction\nstrict = yes\n");
	*state = wp_attach(NULL);
	return 0;
}

static void
refuses_strictly(cenote_conn *conn, const char *sql)
{
	int r = wp_status_of(conn, sql);

	if (r != CENOTE_ERR_UNSUPPORTED || strcmp(wp_sqlstate(conn), "0A000") != 0 ||
		!strstr(wp_message(conn), "strict = yes"))
		fail_msg("%s: %d, %s %s", sql, r, wp_sqlstate(conn), wp_message(conn));
}

/* After each refusal, the other client gets the session. */
static void
a_strict_pool_refuses_what_would_keep_a_session(void **state)
{
	static const char *const refused[] = { "create temporary table own (a int)",
		"set @own = 5", "select 1 into @own", "select @own := 1",
		"select get_lock('own', 0)", "lock tables t read",
		"flush tables with read lock", "backup lock t", "handler t open",
		"prepare own from 'select 1'", "execute immediate 'select 1'", "call p()",
		"begin not atomic select 1; end", "set timestamp = 5",
		"set transaction isolation level serializable",
		"set time_zone = '+01:00'; select 1", "select sql_calc_found_rows 1",
		"select last_insert_id(5)", "xa start 'own'" };
	cenote_conn *a = *state, *b = wp_handle(NULL);
	cenote_stmt *stmt;

	wp_exec(a, "create or replace table t (a int)");
	assert_ok(cenote_connect(b));
	for (size_t i = 0; i < CNT_COUNT(refused); i++) {
		refuses_strictly(a, refused[i]);
		assert_string_equal(wp_value(b, "select 1"), "1");
	}
	assert_ok(cenote_stmt_create(a, "set @own = 5", CENOTE_NTS, &stmt));
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(a), "0A000");
	cenote_stmt_destroy(stmt);
	assert_string_equal(wp_value(a, "select @own is null"), "1");
	cenote_conn_destroy(b);
}

static void
a_strict_pool_lets_through_what_ends_or_moves(void **state)
{
	static const char *const allowed[] = { "set names latin1",
		"set session transaction isolation level serializable",
		"set time_zone = '+05:00'", "use app", "start transaction",
		"insert into t values (last_insert_id())", "select * from t for update",
		"commit", "select release_lock('own'), is_free_lock('own')",
		"create or replace procedure p() begin set @own = 5; end",
		"drop procedure p" };
	cenote_conn *a = *state, *b = wp_handle(NULL);

	wp_exec(a, "create or replace table t (a int)");
	for (size_t i = 0; i < CNT_COUNT(allowed); i++)
		wp_exec(a, allowed[i]);
	assert_string_equal(wp_value(a, "select @@time_zone"), "+05:00");
	cenote_conn_destroy(b);
}

#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(                                                 \
		name, with_mysql_setup_shared, with_mysql_teardown)
#define STRICT(name)                                                                     \
	cmocka_unit_test_setup_teardown(name, setup_strict, with_mysql_teardown)

/* ---- statistics of statements ---- */

/* How often the statement was called, for the user who runs the pool. -1: it is not there. */
static int64_t
calls_of(const char *query)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int64_t n = -1;

	assert_ok(cenote_status(conn, "digests", &res));
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		const char *text = cenote_result_text(
			res, i, (uint32_t)cenote_result_find_column(res, "query"), NULL);

		assert_null(strstr(text, "hush"));
		if (strcmp(text, query) == 0)
			assert_ok(cenote_result_int64(res, i,
				(uint32_t)cenote_result_find_column(res, "calls"), &n));
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return n;
}

/* The same bytes are one text or two, depending on sql_mode, and what is no UTF-8 is not read at all. */
static void
statistics_read_texts_as_the_session_does(void **state)
{
	cenote_conn *conn;

	with_mysql_start(with_mysql_server.server_line, "sessions = 1\ndigests = yes\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 'a\\', hush', \"hush\", 1");
	wp_exec(conn, "set sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
	wp_exec(conn, "select 'a\\', 'b hush'");
	wp_exec(conn, "select 1 as \"A\"");
	assert_int_equal(calls_of("select ?"), 2);
	assert_int_equal(calls_of("select ? as \"A\""), 1);
	assert_int_equal(calls_of("(others)"), -1);
	wp_exec(conn, "set names latin1");
	wp_exec(conn, "select '\xe4', 'hush'");
	assert_int_equal(calls_of("(others)"), 1);
	assert_int_equal(calls_of("select ?"), 2);
	cenote_conn_destroy(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_client_keeps_its_insert_id),
		TEST(each_client_keeps_its_settings),
		TEST(what_hidden_code_sets_is_gone_with_its_client),
		TEST(flags_keep_their_values_when_a_table_was_used),
		TEST(what_ends_gives_the_session_back),
		TEST(statements_are_of_the_settings_that_they_were_prepared_with),
		TEST(warnings_can_be_asked_for_after_a_while),
		TEST(a_value_in_pieces_keeps_its_session),
		TEST(statements_are_of_the_database_that_they_were_prepared_in),
		TEST(a_long_request_gets_through_a_crowd),
		STRICT(a_strict_pool_refuses_what_would_keep_a_session),
		STRICT(a_strict_pool_lets_through_what_ends_or_moves),
		cmocka_unit_test_teardown(
			statistics_read_texts_as_the_session_does, wp_teardown),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests_name("cenoted_mysql_turns", tests,
		with_mysql_group_setup, with_mysql_group_teardown);
}
