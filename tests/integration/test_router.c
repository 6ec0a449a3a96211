/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_router postgresql|mariadb|sqlite
 *
 * A router with two targets, "one" and "two", on two databases of a real server: which target gets a statement, and what
 * follows the client there. The table `who` tells a target's name. tests/conformance runs its cases through a router, too.
 */
#include "with_replica.h"
#include "with_server.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPLIT "rule = class=read in_tx=no -> pool second\n"

/* What differs between the servers. */
struct kind {
	/* a setting; a statement of class read that shows it; and what that gives */
	const char *set, *show, *shown;
	size_t n_tests; /* main() runs so many of its tests, from the first on */
};

static const struct kind kinds[] = {
	[WS_POSTGRESQL] = { "set work_mem = '7MB'", "select current_setting('work_mem')",
		"7MB", 20 },
	[WS_MARIADB] = { "set lock_wait_timeout = 77", "select @@lock_wait_timeout", "77",
		11 },
	[WS_SQLITE] = { "pragma cache_size = 77",
		"select cache_size from pragma_cache_size", "77", 8 },
};

static const struct kind *kind;

/* The server line of the second database. */
static void
put_second_line(char *to, size_t size)
{
	static const char database[] = "dbname=app";
	const char *line = ws_server.server_line, *at = strstr(line, database);

	assert_non_null(at);
	at += strlen(database);
	snprintf(to, size, "%.*s2%s", (int)(at - line), line, at);
}

/* Start cenoted with the pools one and two, and with the router main on them, which has these lines. */
static void
start_daemon(const char *lines)
{
	const char *backend = "sqlite", *first = "path=@DIR@/one.db";
	char config[4096], second[512] = "path=@DIR@/two.db";

	if (ws_kind != WS_SQLITE) {
		backend = ws_server.backend;
		first = ws_server.server_line;
		put_second_line(second, sizeof(second));
	}
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool main]\nbackend = router\nserver = first=one second=two\n"
		"sessions = 1..4\n%s"
		"\n[pool one]\nbackend = %s\nserver = %s\n"
		"\n[pool two]\nbackend = %s\nserver = %s\n",
		lines, backend, first, backend, second);
	wp_start(config);
}

static void
make_table(const char *pool)
{
	cenote_conn *conn = wp_attach(pool);
	char sql[64];

	(void)wp_status_of(conn, "drop table who");
	wp_exec(conn, "create table who (name varchar(20))");
	snprintf(sql, sizeof(sql), "insert into who values ('%s')", pool);
	wp_exec(conn, sql);
	cenote_conn_destroy(conn);
}

static void
start(const char *lines)
{
	start_daemon(lines);
	make_table("one");
	make_table("two");
}

static void
expect_at(cenote_conn *conn, const char *target)
{
	assert_string_equal(
		wp_value(conn, "select name from who where name in ('one', 'two')"),
		target);
}

/* Check how many rows the writes of a test have left in that target. */
static void
expect_rows(const char *pool, const char *n)
{
	cenote_conn *conn = wp_attach(pool);

	assert_string_equal(
		wp_value(conn, "select count(*) from who where name = 'new'"), n);
	cenote_conn_destroy(conn);
}

static void
rules_choose_the_target(void **state)
{
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	assert_string_equal(cenote_info(conn, "backend"),
		ws_kind == WS_SQLITE ? "sqlite" : ws_server.backend);
	expect_at(conn, "two");
	wp_exec(conn, "insert into who values ('new')");
	expect_at(conn, "two");
	expect_rows("one", "1");
	expect_rows("two", "0");
	cenote_conn_destroy(conn);
}

static void
without_a_rule_the_first_target_gets_everything(void **state)
{
	cenote_conn *conn;

	start("");
	conn = wp_attach(NULL);
	expect_at(conn, "one");
	cenote_conn_destroy(conn);
}

static void
a_transaction_stays_with_its_target(void **state)
{
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	expect_at(conn, "one");
	wp_exec(conn, "insert into who values ('new')");
	wp_exec(conn, "rollback");
	expect_at(conn, "two");
	assert_int_equal(cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0), CENOTE_OK);
	expect_at(conn, "one");
	assert_int_equal(cenote_commit(conn), CENOTE_OK);
	assert_int_equal(cenote_set_autocommit(conn, 0), CENOTE_OK);
	wp_exec(conn, "insert into who values ('new')");
	expect_at(conn, "one");
	assert_int_equal(cenote_rollback(conn), CENOTE_OK);
	expect_at(conn, "two");
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_OPEN);
	assert_int_equal(cenote_rollback(conn), CENOTE_OK);
	expect_rows("one", "0");
	cenote_conn_destroy(conn);
}

static void
a_transaction_on_two_targets_is_refused(void **state)
{
	cenote_conn *conn;

	start("rule = class=read -> pool second\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	wp_exec(conn, "insert into who values ('new')");
	assert_int_equal(
		wp_status_of(conn, "select name from who"), CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(conn), "0A000");
	assert_non_null(strstr(wp_message(conn), "open transaction at target first"));
	/* neither server has seen it, so the transaction goes on */
	wp_exec(conn, "commit");
	expect_rows("one", "1");
	cenote_conn_destroy(conn);
}

static const char *
executed(cenote_conn *conn, cenote_stmt *stmt)
{
	static char text[64];
	cenote_result *res = NULL;

	if (cenote_stmt_execute(stmt, NULL, NULL, &res) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	snprintf(text, sizeof(text), "%s", cenote_result_text(res, 0, 0, NULL));
	cenote_result_destroy(res);
	return text;
}

/* A statement that asks for the target's name. `name` NULL: the statement has no name at the server. */
static cenote_stmt *
prepare(cenote_conn *conn, const char *name)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, "select name from who", CENOTE_NTS, &stmt));
	if (name != NULL)
		assert_ok(cenote_stmt_set_name(stmt, name));
	assert_ok(cenote_stmt_prepare(stmt));
	return stmt;
}

static void
a_prepared_statement_follows(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;

	start(SPLIT);
	conn = wp_attach(NULL);
	stmt = prepare(conn, NULL);
	assert_string_equal(executed(conn, stmt), "two");
	wp_exec(conn, "begin");
	assert_string_equal(executed(conn, stmt), "one");
	wp_exec(conn, "commit");
	assert_string_equal(executed(conn, stmt), "two");
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

static void
a_named_statement_follows(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;

	start(SPLIT);
	conn = wp_attach(NULL);
	cenote_stmt_destroy(prepare(conn, "s"));
	assert_int_equal(cenote_stmt_by_name(conn, "s", &stmt), CENOTE_OK);
	assert_string_equal(executed(conn, stmt), "two");
	wp_exec(conn, "begin");
	assert_string_equal(executed(conn, stmt), "one");
	wp_exec(conn, "commit");
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

static void
a_setting_follows(void **state)
{
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	expect_at(conn, "two");
	wp_exec(conn, kind->set);
	assert_string_equal(wp_value(conn, kind->show), kind->shown);
	expect_at(conn, "two");
	wp_exec(conn, "begin");
	assert_string_equal(wp_value(conn, kind->show), kind->shown);
	expect_at(conn, "one");
	wp_exec(conn, "commit");
	cenote_conn_destroy(conn);
	/* the next client has a fresh session */
	conn = wp_attach(NULL);
	assert_string_not_equal(wp_value(conn, kind->show), kind->shown);
	cenote_conn_destroy(conn);
}

static void
a_setting_that_is_rolled_back_does_not_follow(void **state)
{
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	wp_exec(conn, kind->set);
	wp_exec(conn, "rollback");
	assert_string_not_equal(wp_value(conn, kind->show), kind->shown);
	wp_exec(conn, "begin");
	wp_exec(conn, "set local work_mem = '7MB'");
	wp_exec(conn, "commit");
	assert_string_not_equal(wp_value(conn, kind->show), kind->shown);
	cenote_conn_destroy(conn);
}

static void
a_question_about_the_last_statement_goes_there(void **state)
{
	static const char *const make[] = {
		[WS_POSTGRESQL] = "create table ids (n serial, a int)",
		[WS_MARIADB] =
			"create table ids (n int auto_increment primary key, a int)",
		[WS_SQLITE] = "create table ids (n integer primary key, a int)",
	};
	static const char *const ask[] = {
		[WS_POSTGRESQL] = "select lastval()",
		[WS_MARIADB] = "select last_insert_id()",
		[WS_SQLITE] = "select last_insert_rowid()",
	};
	size_t i = ws_kind;
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	(void)wp_status_of(conn, "drop table ids");
	wp_exec(conn, make[i]);
	wp_exec(conn, "insert into ids (a) values (5)");
	assert_string_equal(wp_value(conn, ask[i]), "1");
	expect_at(conn, "two");
	cenote_conn_destroy(conn);
}

static void
what_cannot_follow_keeps_the_client(void **state)
{
	cenote_conn *conn;

	start(SPLIT);
	conn = wp_attach(NULL);
	wp_exec(conn, "create temporary table scratch (n int)");
	assert_string_equal(wp_value(conn, "select count(*) from scratch"), "0");
	expect_at(conn, "one");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	expect_at(conn, "two");
	cenote_conn_destroy(conn);
}

static void
a_target_may_be_absent_at_the_start(void **state)
{
	int64_t until;
	cenote_conn *conn;
	int r;

	assert_int_equal(cnt_server_shutdown(&ws_server), 0);
	start_daemon(SPLIT);
	assert_true(wp_try(NULL, &conn) < 0);
	assert_non_null(strstr(wp_message(conn), "its server cannot be reached"));
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_server_run(&ws_server), 0);
	until = wp_now_ms() + 20000;
	while ((r = wp_try(NULL, &conn)) < 0 && wp_now_ms() < until) {
		cenote_conn_destroy(conn);
		wp_pause_ms(100);
	}
	assert_int_equal(r, CENOTE_OK);
	cenote_conn_destroy(conn);
}

static void
a_cancel_reaches_the_target(void **state)
{
	const char *sql =
		ws_kind == WS_MARIADB ? "select sleep(60)" : "select pg_sleep(60)";
	cenote_conn *conn;
	cenote_cancel *cancel;
	cenote_result *res;

	start(SPLIT);
	conn = wp_attach(NULL);
	assert_int_equal(
		cenote_send_query(conn, cnt_server_text(sql), CENOTE_NTS, NULL, NULL),
		CENOTE_OK);
	assert_int_equal(cenote_cancel_create(conn, &cancel), CENOTE_OK);
	wp_pause_ms(500);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_OK);
	cenote_cancel_destroy(cancel);
	res = wp_next_result(conn, CENOTE_RESULT_ERROR);
	cenote_result_destroy(res);
	wp_next_result(conn, 0);
	expect_at(conn, "two");
	cenote_conn_destroy(conn);
}

/* The process of two clients cancels at a target that does not take the cancel. */
static void
a_cancel_that_nobody_takes_holds_no_other_client(void **state)
{
	cenote_conn *conn, *other;
	pid_t door;
	int64_t begin;

	start("workers = 1\nquery_timeout = 1s\n");
	conn = wp_attach(NULL);
	other = wp_attach(NULL);
	expect_at(conn, "one");
	expect_at(other, "one");
	door = wp_await_child("cenoted-door");
	assert_int_equal(
		cenote_send_query(conn, "select pg_sleep(60)", CENOTE_NTS, NULL, NULL),
		CENOTE_OK);
	assert_int_equal(cenote_flush(conn), CENOTE_OK);
	assert_int_equal(kill(door, SIGSTOP), 0);
	wp_pause_ms(2000);
	begin = wp_now_ms();
	expect_at(other, "one");
	assert_true(wp_now_ms() - begin < 5000);
	assert_int_equal(kill(door, SIGCONT), 0);
	cenote_conn_destroy(other);
	cenote_conn_destroy(conn);
}

static void
a_lost_session_reports_the_words_of_its_server(void **state)
{
	cenote_conn *conn;
	const cenote_diag *diag;

	start(SPLIT);
	conn = wp_attach(NULL);
	assert_int_equal(
		wp_status_of(conn, "select pg_terminate_backend(pg_backend_pid())"),
		CENOTE_ERR_CONN);
	diag = cenote_conn_diag(conn);
	assert_string_equal(cenote_diag_sqlstate(diag), "08007");
	assert_string_equal(cenote_diag_field(diag, 'X'), "57P01");
	assert_string_equal(cenote_diag_field(diag, 'Y'),
		"terminating connection due to administrator command");
	cenote_conn_destroy(conn);
}

/* The server ends without a word, so the target's pool explains the loss. The router's worker does not explain it again. */
static void
a_lost_session_is_explained_once(void **state)
{
	const cenote_diag *words;
	const char *unknown;
	cenote_conn *conn;
	pid_t pid;
	cenote_result *res = NULL;

	start("");
	conn = wp_attach(NULL);
	words = cenote_conn_diag(conn);
	pid = (pid_t)strtol(wp_value(conn, "select pg_backend_pid()"), NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(
		cenote_send_query(conn, "select pg_sleep(60)", CENOTE_NTS, NULL, NULL),
		CENOTE_OK);
	assert_int_equal(cenote_flush(conn), CENOTE_OK);
	wp_pause_ms(500);
	assert_int_equal(kill(pid, SIGKILL), 0);
	/* the error may come before the end of the session */
	if (cenote_get_result(conn, &res) == CENOTE_OK)
		words = cenote_result_diag(res);
	unknown = strstr(cenote_diag_message(words), "is unknown");
	assert_non_null(unknown);
	assert_null(strstr(unknown + 1, "is unknown"));
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

static char heard[64];

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	(void)pid;
	(void)user;
	snprintf(heard, sizeof(heard), "%s %s", channel, payload);
}

static void
notifications_come_through(void **state)
{
	cenote_conn *conn, *other;

	start(SPLIT);
	conn = wp_attach(NULL);
	other = wp_attach("one");
	cenote_set_notification_handler(conn, on_notification, NULL);
	wp_exec(conn, "listen news");
	wp_exec(other, "notify news, 'hot'");
	assert_int_equal(cenote_wait(conn, 20000), CENOTE_OK);
	assert_string_equal(heard, "news hot");
	cenote_conn_destroy(other);
	cenote_conn_destroy(conn);
}

/* ---- pipelines ---- */

/* How often the process has waited. */
static long
waits_of(pid_t pid)
{
	static const char name[] = "voluntary_ctxt_switches:";
	char path[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, name, sizeof(name) - 1) == 0)
			n = strtol(line + sizeof(name) - 1, NULL, 10);
	}
	fclose(f);
	assert_true(n >= 0);
	return n;
}

static void
queue(cenote_conn *conn, const char *sql)
{
	cenote_params *none = wp_params();

	assert_int_equal(cenote_send_query(conn, sql, CENOTE_NTS, none, NULL), CENOTE_OK);
	cenote_params_destroy(none);
}

/* Take the results of the request, which must have this last one. */
static void
expect_answer(cenote_conn *conn, int wanted)
{
	cenote_result *res = wp_next_result(conn, wanted);

	cenote_result_destroy(res);
	wp_next_result(conn, 0);
}

static void
a_pipeline_goes_to_its_target_together(void **state)
{
	cenote_conn *conn;
	pid_t router;
	long before;

	start(SPLIT);
	conn = wp_attach(NULL);
	router = wp_worker_pid(conn);
	expect_at(conn, "two");
	assert_int_equal(cenote_pipeline_begin(conn), CENOTE_OK);
	before = waits_of(router);
	for (int i = 0; i < 150; i++)
		queue(conn, i % 3 == 2 ? "select name from who where name = 'new'"
				       : "insert into who values ('new')");
	assert_int_equal(cenote_send_sync(conn), CENOTE_OK);
	for (int i = 0; i < 150; i++)
		expect_answer(
			conn, i % 3 == 2 ? CENOTE_RESULT_ROWS : CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_SYNC);
	assert_true(waits_of(router) - before < 75);
	assert_int_equal(cenote_pipeline_end(conn), CENOTE_OK);
	expect_rows("one", "100");
	expect_rows("two", "0");
	/* the next unit may go to another target */
	expect_at(conn, "two");
	cenote_conn_destroy(conn);
}

static void
a_failure_ends_a_pipeline_up_to_its_synchronization_point(void **state)
{
	cenote_conn *conn;

	start("");
	conn = wp_attach(NULL);
	assert_int_equal(cenote_pipeline_begin(conn), CENOTE_OK);
	queue(conn, "insert into who values ('new')");
	queue(conn, "select 1 / (select 0)");
	queue(conn, "insert into who values ('new')");
	assert_int_equal(cenote_send_sync(conn), CENOTE_OK);
	queue(conn, "select name from who");
	queue(conn, "insert into who values ('new')");
	assert_int_equal(cenote_send_sync(conn), CENOTE_OK);
	expect_answer(conn, CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_ERROR);
	expect_answer(conn, CENOTE_RESULT_SKIPPED);
	expect_answer(conn, CENOTE_RESULT_SYNC);
	expect_answer(conn, CENOTE_RESULT_ROWS);
	expect_answer(conn, CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_SYNC);
	assert_int_equal(cenote_pipeline_end(conn), CENOTE_OK);
	expect_rows("one", "1");
	cenote_conn_destroy(conn);
}

/* What the rules would not leave at the unit's target runs in its turn, and so does what has to follow. */
static void
rules_hold_in_a_pipeline(void **state)
{
	cenote_conn *conn;

	start("rule = tables=elsewhere -> pool second\n" SPLIT);
	conn = wp_attach(NULL);
	assert_int_equal(cenote_pipeline_begin(conn), CENOTE_OK);
	queue(conn, "insert into who values ('new')");
	queue(conn, "select name from who");
	queue(conn, kind->set);
	queue(conn, "select name from who");
	assert_int_equal(cenote_send_sync(conn), CENOTE_OK);
	queue(conn, "insert into who values ('new')");
	queue(conn, "select name from who");
	queue(conn, "select name from elsewhere");
	assert_int_equal(cenote_send_sync(conn), CENOTE_OK);
	expect_answer(conn, CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_ROWS);
	expect_answer(conn, CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_ROWS);
	expect_answer(conn, CENOTE_RESULT_SYNC);
	expect_answer(conn, CENOTE_RESULT_COMMAND);
	expect_answer(conn, CENOTE_RESULT_ROWS);
	expect_answer(conn, CENOTE_RESULT_ERROR);
	expect_answer(conn, CENOTE_RESULT_SYNC);
	assert_int_equal(cenote_pipeline_end(conn), CENOTE_OK);
	expect_rows("one", "1");
	assert_string_equal(wp_value(conn, kind->show), kind->shown);
	expect_at(conn, "two");
	cenote_conn_destroy(conn);
}

/* ---- a primary and its replica ---- */

static void
a_split_reads_its_own_writes_and_survives_a_failover(void **state)
{
	cenote_conn *conn;
	int64_t until;
	pid_t child;

	wr_kind = ws_kind == WS_MARIADB ? CNT_MARIADB : CNT_POSTGRESQL;
	wr_start_split(CNT_EXAMPLE);
	conn = wp_attach("shop");
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->stop_replay), 0);
	wp_exec(conn, "insert into work values (1)");
	child = wp_fork(wr_resume_soon, NULL, -1);
	assert_string_equal(wp_value(conn, "select count(*) from work"), "1");
	assert_int_equal(wp_join(child), 0);
	wr_switch_over();
	until = wp_now_ms() + 20000;
	while (wp_status_of(conn, "insert into work values (2)") != CENOTE_OK) {
		if (wp_now_ms() > until)
			fail_msg("no write after the failover: %s", wp_message(conn));
		if (!cenote_is_connected(conn))
			(void)!cenote_connect(conn);
		wp_pause_ms(200);
	}
	assert_string_equal(wp_value(conn, "select count(*) from work"), "2");
	cenote_conn_destroy(conn);
}

#define TEST(f) cmocka_unit_test_teardown(f, wr_teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(rules_choose_the_target),
		TEST(without_a_rule_the_first_target_gets_everything),
		TEST(a_transaction_stays_with_its_target),
		TEST(a_transaction_on_two_targets_is_refused),
		TEST(a_prepared_statement_follows),
		TEST(a_setting_follows),
		TEST(a_question_about_the_last_statement_goes_there),
		TEST(what_cannot_follow_keeps_the_client),
		/* not with SQLite, which has no server process */
		TEST(a_target_may_be_absent_at_the_start),
		TEST(a_cancel_reaches_the_target),
		TEST(a_split_reads_its_own_writes_and_survives_a_failover),
		/* only with PostgreSQL */
		TEST(a_named_statement_follows),
		TEST(a_setting_that_is_rolled_back_does_not_follow),
		TEST(notifications_come_through),
		TEST(a_pipeline_goes_to_its_target_together),
		TEST(a_failure_ends_a_pipeline_up_to_its_synchronization_point),
		TEST(rules_hold_in_a_pipeline),
		TEST(a_cancel_that_nobody_takes_holds_no_other_client),
		TEST(a_lost_session_reports_the_words_of_its_server),
		/* the last one: the server restarts after it */
		TEST(a_lost_session_is_explained_once),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	kind = &kinds[ws_kind];
	return _cmocka_run_group_tests(
		"router", tests, kind->n_tests, ws_setup, ws_teardown);
}
