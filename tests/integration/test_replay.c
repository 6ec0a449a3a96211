/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_replay postgresql|mariadb
 *
 * Transactions that run again after a deadlock or a serialization failure (replay), on a real server. The client does not notice
 * that. If it could notice, it gets the error instead.
 */
#include "with_server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Start cenoted with these lines in the pool, and make the table t with the rows 1 to 3. */
static void
start(const char *lines)
{
	char all[512];
	cenote_conn *conn;

	snprintf(all, sizeof(all), "sessions = 4\n%s", lines);
	ws_start(all);
	conn = wp_attach(NULL);
	wp_exec(conn, "drop table if exists t");
	wp_exec(conn, "create table t (id int primary key, v int)");
	wp_exec(conn, "insert into t values (1, 0), (2, 0), (3, 0)");
	cenote_conn_destroy(conn);
}

static void
expect_row(int id, const char *value)
{
	cenote_conn *conn = wp_attach(NULL);
	char sql[64];

	snprintf(sql, sizeof(sql), "select v from t where id = %d", id);
	assert_string_equal(wp_value(conn, sql), value);
	cenote_conn_destroy(conn);
}

/* ---- deadlocks ---- */

/* One of two clients. Each has locked a row, and now wants to change the row of the other. */
struct half {
	cenote_conn *conn;
	const char *sql;
	int status;
	char sqlstate[6];
};

static void *
run_half(void *arg)
{
	struct half *h = arg;

	h->status = wp_status_of(h->conn, h->sql);
	snprintf(h->sqlstate, sizeof(h->sqlstate), "%s", wp_sqlstate(h->conn));
	if (h->status == CENOTE_OK)
		h->status = wp_status_of(h->conn, "commit");
	else
		(void)wp_status_of(h->conn, "rollback");
	return NULL;
}

/* Each client has locked its own row; now each wants the other's. Returns how many clients get an error, which must be that
 * of a deadlock. */
static int
deadlock(cenote_conn *one, cenote_conn *two)
{
	struct half halves[2] = { { .conn = one,
					  .sql = "update t set v = v + 1 where id = 2" },
		{ .conn = two, .sql = "update t set v = v + 1 where id = 1" } };
	int n_errors = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_half, &halves[0]), 0);
	(void)run_half(&halves[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 2; i++) {
		if (halves[i].status == CENOTE_OK)
			continue;
		n_errors++;
		assert_string_equal(
			halves[i].sqlstate, ws_kind == WS_MARIADB ? "40001" : "40P01");
	}
	return n_errors;
}

static void
exec_both(cenote_conn *one, cenote_conn *two, const char *sql)
{
	wp_exec(one, sql);
	wp_exec(two, sql);
}

/* Run `before` as two clients, then begin their transactions, and run `extra` there; either may be NULL. Lock the row of each, and
 * bring them into a deadlock. Returns the number of errors. */
static int
meet(const char *before, const char *extra)
{
	cenote_conn *one = wp_attach(NULL), *two = wp_attach(NULL);
	int n;

	if (before != NULL)
		exec_both(one, two, before);
	exec_both(one, two, "begin");
	if (extra != NULL)
		exec_both(one, two, extra);
	wp_exec(one, "update t set v = v + 1 where id = 1");
	wp_exec(two, "update t set v = v + 1 where id = 2");
	n = deadlock(one, two);
	/* both connections still work */
	assert_string_equal(wp_value(one, "select 1"), "1");
	assert_string_equal(wp_value(two, "select 1"), "1");
	cenote_conn_destroy(one);
	cenote_conn_destroy(two);
	return n;
}

static void
without_the_key_one_client_gets_the_error(void **state)
{
	start("");
	assert_int_equal(meet(NULL, NULL), 1);
	expect_row(1, "1");
	expect_row(2, "1");
}

static void
both_clients_of_a_deadlock_succeed(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet(NULL, NULL), 0);
	expect_row(1, "2");
	expect_row(2, "2");
	wp_await_log("ran a transaction again");
}

static void
a_client_that_has_seen_rows_gets_the_error(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet(NULL, "select v from t where id = 3"), 1);
	expect_row(1, "1");
}

/* A statement that changes the row `id`, prepared by number. */
static cenote_stmt *
prepare_change(cenote_conn *conn, int id)
{
	cenote_stmt *stmt;
	char sql[64];

	snprintf(sql, sizeof(sql), "update t set v = v + 1 where id = %d", id);
	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	return stmt;
}

static void
execute(cenote_stmt *stmt)
{
	cenote_result *res;

	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	cenote_result_destroy(res);
}

/* The clients use the requests BEGIN and EXECUTE in place of texts. They may prepare before the transaction, or close in it.
 * Returns the number of errors. */
static int
meet_prepared(bool is_before, bool is_closed)
{
	cenote_conn *conns[2];
	cenote_stmt *stmts[2];
	int n;

	for (int i = 0; i < 2; i++) {
		conns[i] = wp_attach(NULL);
		if (is_before)
			stmts[i] = prepare_change(conns[i], i + 1);
		assert_ok(cenote_begin(conns[i], 0, 0));
		if (!is_before)
			stmts[i] = prepare_change(conns[i], i + 1);
		execute(stmts[i]);
		if (is_closed)
			cenote_stmt_destroy(stmts[i]);
	}
	n = deadlock(conns[0], conns[1]);
	for (int i = 0; i < 2; i++) {
		if (!is_closed)
			cenote_stmt_destroy(stmts[i]);
		cenote_conn_destroy(conns[i]);
	}
	return n;
}

static void
prepared_statements_run_again(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet_prepared(true, false), 0);
	assert_int_equal(meet_prepared(false, false), 0);
	expect_row(1, "4");
	expect_row(2, "4");
}

static void
a_statement_that_is_prepared_and_closed_in_the_transaction_runs_again(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet_prepared(false, true), 0);
	expect_row(1, "2");
	expect_row(2, "2");
}

static void
an_older_statement_that_is_closed_does_not_run_again(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet_prepared(true, true), 1);
	expect_row(1, "1");
	expect_row(2, "1");
}

/* The client's text shows nothing that forbids a second run, but the server gets another text. */
static void
a_text_that_a_rule_makes_is_judged_too(void **state)
{
	cenote_conn *conn;

	start("replay = 10\nrule = \"text~^insert into log\" -> "
	      "rewrite \"insert into log values (length(version()))\"\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "drop table if exists log");
	wp_exec(conn, "create table log (a int)");
	cenote_conn_destroy(conn);
	assert_int_equal(meet(NULL, "insert into log values (1)"), 1);
	expect_row(1, "1");
}

/* A rule that asks for in_tx must rewrite the first statement of a transaction in the second run, too. */
static void
the_second_run_has_the_texts_of_the_first(void **state)
{
	cenote_conn *conns[2];

	start("replay = 10\nrule = in_tx=no \"text~^update t set v = v \\+ 1 where id = "
	      "([12])$\" -> "
	      "rewrite \"update t set v = v + 100 where id = \\1\"\n");
	for (int i = 0; i < 2; i++) {
		conns[i] = wp_attach(NULL);
		assert_ok(cenote_set_autocommit(conns[i], 0));
	}
	wp_exec(conns[0], "update t set v = v + 1 where id = 1");
	wp_exec(conns[1], "update t set v = v + 1 where id = 2");
	assert_int_equal(deadlock(conns[0], conns[1]), 0);
	for (int i = 0; i < 2; i++)
		cenote_conn_destroy(conns[i]);
	expect_row(1, "101");
	expect_row(2, "101");
}

/* ---- MariaDB ---- */

/* The SQLSTATE of the rule is that of a deadlock, but the server has not ended the transaction. */
static void
a_denial_by_a_rule_leaves_the_transaction_open(void **state)
{
	cenote_conn *conn;

	start("replay = 3\nrule = functions=abs -> deny sqlstate=40001\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	wp_exec(conn, "update t set v = 7 where id = 1");
	assert_int_equal(wp_status_of(conn, "update t set v = abs(8) where id = 1"),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "40001");
	wp_exec(conn, "commit");
	cenote_conn_destroy(conn);
	expect_row(1, "7");
}

/* Make the table x. After `insert` in both transactions, one client gets the error, and so many rows are left. */
static void
expect_one_error_after(const char *create, const char *insert, const char *n_rows)
{
	cenote_conn *conn;

	start("replay = 10\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "drop table if exists x");
	wp_exec(conn, create);
	assert_int_equal(meet(NULL, insert), 1);
	assert_string_equal(wp_value(conn, "select count(*) from x"), n_rows);
	cenote_conn_destroy(conn);
}

static void
a_table_that_is_not_rolled_back_is_not_changed_twice(void **state)
{
	expect_one_error_after("create table x (a int) engine = myisam",
		"insert into x values (1)", "2");
}

static void
a_client_that_knows_its_insert_id_gets_the_error(void **state)
{
	expect_one_error_after("create table x (a int auto_increment primary key)",
		"insert into x values (null)", "1");
}

static void
an_isolation_for_one_transaction_is_not_lost(void **state)
{
	start("replay = 10\n");
	assert_int_equal(meet("set transaction isolation level serializable", NULL), 1);
}

/* What is prepared before the transaction does not use up the setting. */
static void
an_isolation_outlives_a_prepared_statement(void **state)
{
	cenote_conn *conns[2];
	cenote_stmt *stmts[2];

	start("replay = 10\n");
	for (int i = 0; i < 2; i++) {
		conns[i] = wp_attach(NULL);
		wp_exec(conns[i], "set transaction isolation level serializable");
		stmts[i] = prepare_change(conns[i], i + 1);
		wp_exec(conns[i], "begin");
		execute(stmts[i]);
	}
	assert_int_equal(deadlock(conns[0], conns[1]), 1);
	for (int i = 0; i < 2; i++) {
		cenote_stmt_destroy(stmts[i]);
		cenote_conn_destroy(conns[i]);
	}
}

/* ---- PostgreSQL: serialization failures, which need no second thread ---- */

#define REPEATABLE "begin isolation level repeatable read"

static void
a_serialization_failure_is_not_seen(void **state)
{
	cenote_conn *one, *two;

	start("replay = 1\n");
	one = wp_attach(NULL);
	two = wp_attach(NULL);
	wp_exec(one, REPEATABLE);
	wp_exec(one, "update t set v = v + 10 where id = 3");
	wp_exec(two, "update t set v = 5 where id = 1");
	wp_exec(one, "update t set v = v + 10 where id = 1");
	wp_exec(one, "commit");
	expect_row(1, "15");
	expect_row(3, "10");
	cenote_conn_destroy(one);
	cenote_conn_destroy(two);
}

/* Two transactions read what the other one writes: the server refuses the second COMMIT. */
static void
a_commit_that_fails_runs_all_again(void **state)
{
	cenote_conn *one, *two;

	start("replay = 2\n");
	one = wp_attach(NULL);
	two = wp_attach(NULL);
	wp_exec(one, "begin isolation level serializable");
	wp_exec(two, "begin isolation level serializable");
	wp_exec(one,
		"update t set v = 1 + (select sum(v) from t where id = 2) where id = 1");
	wp_exec(two,
		"update t set v = 1 + (select sum(v) from t where id = 1) where id = 2");
	wp_exec(one, "commit");
	wp_exec(two, "commit");
	expect_row(1, "1");
	expect_row(2, "2");
	wp_await_log("ran a transaction again");
	cenote_conn_destroy(one);
	cenote_conn_destroy(two);
}

/* Run `first` in a transaction. Another client changes row 1, which the transaction then tries to change, too: its client must get
 * the error, and its transaction must have failed. */
static void
expect_error_after(const char *first)
{
	cenote_conn *one = wp_attach(NULL), *two = wp_attach(NULL);

	wp_exec(one, REPEATABLE);
	assert_ok(wp_run_text(one, first));
	/* not every statement makes the server take its snapshot */
	wp_exec(one, "update t set v = v where id = 3");
	wp_exec(two, "update t set v = v + 1 where id = 1");
	if (wp_status_of(one, "update t set v = 99 where id = 1") != CENOTE_ERR_SERVER)
		fail_msg("no error after: %s", first);
	assert_string_equal(wp_sqlstate(one), "40001");
	assert_non_null(strstr(wp_message(one), "could not serialize access"));
	assert_true(wp_status_of(one, "update t set v = 77 where id = 2") < 0);
	assert_string_equal(wp_sqlstate(one), "25P02");
	wp_exec(one, "rollback");
	assert_string_equal(wp_value(one, "select 1"), "1");
	cenote_conn_destroy(one);
	cenote_conn_destroy(two);
}

static void
what_the_client_could_notice_is_not_run_again(void **state)
{
	static const char *const firsts[] = {
		"select v from t where id = 2",
		"select v from t where id = -1",
		"update t set v = v where id = 2 returning v",
		"update t set v = v + random()::int where id = 2",
		"set local work_mem = '8MB'",
		"savepoint s",
		"create temp table x (a int) on commit drop",
		"do $$ begin perform 1; end $$",
		"update t set v = v where id = 2; update t set v = v where id = 3",
		/* after the change of row 1, this one inserts fewer rows */
		"insert into t select id + 10, v from t where v = 0",
	};
	cenote_conn *conn;

	start("replay = 3\n");
	conn = wp_attach(NULL);
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		wp_exec(conn, "update t set v = 0");
		expect_error_after(firsts[i]);
	}
	cenote_conn_destroy(conn);
	expect_row(2, "0");
}

/* The second run changes another row than the first run, and a third client has locked that row. */
static void
a_time_limit_ends_the_second_run(void **state)
{
	cenote_conn *one, *two, *three;

	start("replay = 3\nquery_timeout = 1s\n");
	one = wp_attach(NULL);
	two = wp_attach(NULL);
	three = wp_attach(NULL);
	wp_exec(two, "drop table if exists pick");
	wp_exec(two, "create table pick (id int)");
	wp_exec(two, "insert into pick values (3)");
	wp_exec(one, REPEATABLE);
	wp_exec(one, "update t set v = v + 1 where id = (select max(id) from pick)");
	wp_exec(three, "begin");
	wp_exec(three, "update t set v = v + 1 where id = 2");
	wp_exec(two, "update pick set id = 2");
	wp_exec(two, "update t set v = v + 1 where id = 1");
	assert_true(wp_status_of(one, "update t set v = 99 where id = 1") < 0);
	assert_string_equal(wp_sqlstate(one), "57014");
	assert_true(wp_status_of(one, "update t set v = 77 where id = 3") < 0);
	assert_string_equal(wp_sqlstate(one), "25P02");
	wp_exec(one, "rollback");
	assert_string_equal(wp_value(one, "select 1"), "1");
	cenote_conn_destroy(three);
	cenote_conn_destroy(two);
	cenote_conn_destroy(one);
}

/* cenoted forgets what it kept of a transaction that has ended. */
static void
a_transaction_after_a_failed_one_runs_again(void **state)
{
	start("replay = 10\n");
	expect_error_after("select v from t where id = 2");
	assert_int_equal(meet(NULL, NULL), 0);
}

/* ---- PostgreSQL: statements with names ---- */

#define ADD(N) "update t set v = v + " N " where id = 3"
/* a function ends the statement a, and makes another one of this name */
#define REPLACE(N)                                                                       \
	"do $$ begin execute 'deallocate a'; execute 'prepare a as " ADD(N) "'; end $$"
#define ADD_LAST "prepare last: update t set v = v + 10 where id = 1"

static void
prepare_named(cenote_conn *conn, const char *name, const char *sql)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, name));
	assert_ok(cenote_stmt_prepare(stmt));
	cenote_stmt_destroy(stmt);
}

static int
run_named(cenote_conn *conn, const char *name)
{
	cenote_stmt *stmt;
	cenote_result *res = NULL;
	int r;

	assert_ok(cenote_stmt_by_name(conn, name, &stmt));
	r = cenote_stmt_execute(stmt, NULL, NULL, &res);
	cenote_stmt_destroy(stmt);
	cenote_result_destroy(res);
	return r;
}

/* A step is SQL, or "prepare NAME: SQL", "run NAME", "close NAME". The name - is the empty one. */
static int
take_step(cenote_conn *conn, const char *step)
{
	char name[16] = "", sql[128] = "";
	bool is_prepare = sscanf(step, "prepare %15[^:]: %127[^\n]", name, sql) == 2;
	bool is_run = sscanf(step, "run %15s", name) == 1;
	bool is_close = sscanf(step, "close %15s", name) == 1;
	int r = CENOTE_OK;

	if (strcmp(name, "-") == 0)
		name[0] = '\0';
	if (is_prepare)
		prepare_named(conn, name, sql);
	else if (is_run)
		r = run_named(conn, name);
	else if (is_close)
		r = cenote_close_named(conn, CENOTE_NAMED_STATEMENT, name);
	else
		r = wp_run_text(conn, step);
	return r;
}

/* Take the steps, and then the last one. The first run of the last one fails, because the other client has changed row 1.
 * Returns the status of the last step. */
static int
fail_after(cenote_conn *conn, const char *const *steps, const char *last)
{
	cenote_conn *other = wp_attach(NULL);

	wp_exec(other, "update t set v = 0");
	for (size_t i = 0; steps[i] != NULL; i++) {
		if (take_step(conn, steps[i]) != CENOTE_OK)
			fail_msg("%s: %s", steps[i], wp_message(conn));
	}
	wp_exec(other, "update t set v = 5 where id = 1");
	cenote_conn_destroy(other);
	return take_step(conn, last);
}

static void
statements_with_names_run_again(void **state)
{
	static const struct {
		const char *steps[8];
		const char *last;
		const char *row; /* what row 3 has in the end */
	} cases[] = {
		{ { "prepare a: " ADD("10"), REPEATABLE, "run a" }, NULL, "10" },
		{ { REPEATABLE, "prepare a: " ADD("10"), "run a", "run a" }, NULL, "20" },
		{ { REPEATABLE, "prepare a: " ADD("10"), "run a", "close a" }, NULL,
			"10" },
		{ { REPEATABLE, "prepare a: " ADD("10"), "run a", "close a",
			  "prepare a: " ADD("100"), "run a" },
			NULL, "110" },
		/* closed and prepared before its first use */
		{ { "prepare a: " ADD("1"), REPEATABLE, "close a",
			  "prepare a: " ADD("10"), "run a" },
			NULL, "10" },
		{ { REPEATABLE, "prepare -: " ADD("10"), "run -", "prepare -: " ADD("5"),
			  "run -" },
			NULL, "15" },
		{ { ADD_LAST, REPEATABLE, ADD("10") }, "run last", "10" },
		{ { ADD_LAST, REPEATABLE, "prepare a: " ADD("10"), "run a" }, "run last",
			"10" },
	};
	cenote_conn *conn;

	start("replay = 3\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *last = cases[i].last;

		conn = wp_attach(NULL);
		if (last == NULL)
			last = "update t set v = v + 10 where id = 1";
		if (fail_after(conn, cases[i].steps, last) != CENOTE_OK)
			fail_msg("case %zu: %s", i, wp_message(conn));
		wp_exec(conn, "commit");
		cenote_conn_destroy(conn);
		expect_row(1, "15");
		expect_row(3, cases[i].row);
	}
}

static void
a_statement_that_may_be_another_one_does_not_run_again(void **state)
{
	static const char *const cases[][8] = {
		{ "prepare a: " ADD("10"), REPEATABLE, "run a", "close a" },
		{ "prepare a: " ADD("10"), REPEATABLE, "run a", "close a",
			"prepare a: " ADD("100") },
		/* SQL has made another statement of this name, which nobody else sees */
		{ "prepare a: " ADD("10"), REPLACE("7"), REPEATABLE, "run a" },
		{ "prepare a: " ADD("10"), REPLACE("10"), REPEATABLE, "run a" },
		{ "prepare a: select v from t where id = 3", REPEATABLE, "run a" },
		{ "prepare a: update t set v = v + random()::int where id = 3",
			REPEATABLE, "run a" },
		{ "prepare a: " ADD("10"), REPEATABLE, "run a", "deallocate a" },
	};
	cenote_conn *conn;

	start("replay = 3\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		conn = wp_attach(NULL);
		if (fail_after(conn, cases[i], "update t set v = v + 10 where id = 1") !=
			CENOTE_ERR_SERVER)
			fail_msg("case %zu: no error", i);
		assert_string_equal(wp_sqlstate(conn), "40001");
		assert_true(wp_status_of(conn, "select 1") < 0);
		assert_string_equal(wp_sqlstate(conn), "25P02");
		cenote_conn_destroy(conn);
		expect_row(3, "0");
	}
}

/* The second run ends at the execution of the first statement a, but the client has prepared a second one since. */
static void
after_an_early_end_the_statements_are_what_the_client_left(void **state)
{
	static const char *const steps[] = { REPEATABLE,
		"prepare a: insert into t select id + 10, v from t where v = 0", "run a",
		"close a", "prepare a: update t set v = v + 100 where id = 3", NULL };
	cenote_conn *conn;

	start("replay = 3\n");
	conn = wp_attach(NULL);
	assert_int_equal(fail_after(conn, steps, "update t set v = 9 where id = 1"),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "40001");
	wp_exec(conn, "rollback");
	assert_ok(take_step(conn, "run a"));
	cenote_conn_destroy(conn);
	expect_row(3, "100");
}

/* By itself, PostgreSQL looks for deadlocks after a second. */
static int
setup(void **state)
{
	if (ws_setup(state) < 0)
		return -1;
	return ws_kind == WS_MARIADB
		       ? 0
		       : cnt_server_sql(&ws_server,
				 "alter system set deadlock_timeout = '100ms'; select "
				 "pg_reload_conf()");
}

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
#define OF_ALL                                                                               \
	TEST(without_the_key_one_client_gets_the_error),                                     \
		TEST(both_clients_of_a_deadlock_succeed),                                    \
		TEST(a_client_that_has_seen_rows_gets_the_error),                            \
		TEST(prepared_statements_run_again),                                         \
		TEST(a_statement_that_is_prepared_and_closed_in_the_transaction_runs_again), \
		TEST(an_older_statement_that_is_closed_does_not_run_again),                  \
		TEST(a_text_that_a_rule_makes_is_judged_too),                                \
		TEST(the_second_run_has_the_texts_of_the_first)

int
main(int argc, char **argv)
{
	static const struct CMUnitTest of_mariadb[] = {
		OF_ALL,
		TEST(a_denial_by_a_rule_leaves_the_transaction_open),
		TEST(a_table_that_is_not_rolled_back_is_not_changed_twice),
		TEST(a_client_that_knows_its_insert_id_gets_the_error),
		TEST(an_isolation_for_one_transaction_is_not_lost),
		TEST(an_isolation_outlives_a_prepared_statement),
	};
	static const struct CMUnitTest of_postgresql[] = {
		OF_ALL,
		TEST(a_serialization_failure_is_not_seen),
		TEST(a_commit_that_fails_runs_all_again),
		TEST(what_the_client_could_notice_is_not_run_again),
		TEST(a_time_limit_ends_the_second_run),
		TEST(a_transaction_after_a_failed_one_runs_again),
		TEST(statements_with_names_run_again),
		TEST(a_statement_that_may_be_another_one_does_not_run_again),
		TEST(after_an_early_end_the_statements_are_what_the_client_left),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb"))
		return 2;
	return ws_kind == WS_MARIADB
		       ? cmocka_run_group_tests(of_mariadb, setup, ws_teardown)
		       : cmocka_run_group_tests(of_postgresql, setup, ws_teardown);
}
