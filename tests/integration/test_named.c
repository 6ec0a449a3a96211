/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements that clients prepare under a name, in a pool that gives its sessions to others between transactions. Each client
 * must have exactly its own statements, as on a session of its own. tests/shims/libpq/test_named.c has the same through
 * libpq.
 */
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	N_CLIENTS = 12,
	N_ROUNDS = 4
};

/* ---- statements with a name ---- */

static int
try_prepare(cenote_conn *conn, const char *name, const char *sql)
{
	cenote_stmt *stmt;
	int r;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, name));
	r = cenote_stmt_prepare(stmt);
	cenote_stmt_destroy(stmt);
	return r;
}

static void
prepare(cenote_conn *conn, const char *name, const char *sql)
{
	if (try_prepare(conn, name, sql) != CENOTE_OK)
		fail_msg("%s: %s", name, wp_message(conn));
}

static int
try_run(cenote_conn *conn, const char *name, char *text, size_t size)
{
	cenote_stmt *stmt;
	cenote_result *res;
	int r;

	assert_ok(cenote_stmt_by_name(conn, name, &stmt));
	r = cenote_stmt_execute(stmt, NULL, NULL, &res);
	cenote_stmt_destroy(stmt);
	if (r != CENOTE_OK)
		return r;
	if (cenote_result_kind(res) == CENOTE_RESULT_ROWS)
		snprintf(text, size, "%s", cenote_result_text(res, 0, 0, NULL));
	cenote_result_destroy(res);
	return CENOTE_OK;
}

/* The value of the statement, which must succeed. */
static const char *
run(cenote_conn *conn, const char *name)
{
	static char text[256];
	int r = try_run(conn, name, text, sizeof(text));

	if (r != CENOTE_OK)
		fail_msg("%s: %s: %s", name, cenote_status_name(r), wp_message(conn));
	return text;
}

static void
expect_failure(cenote_conn *conn, const char *name, const char *sqlstate)
{
	char text[256];

	assert_int_equal(try_run(conn, name, text, sizeof(text)), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), sqlstate);
}

/* Run a text that may have several statements. Returns whether all of them succeeded. */
static int
run_text(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int is_ok = 1;
	int r;

	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		is_ok = is_ok && cenote_result_kind(res) != CENOTE_RESULT_ERROR;
		cenote_result_destroy(res);
	}
	assert_int_equal(r, CENOTE_DONE);
	return is_ok;
}

static const char list[] = "select coalesce(string_agg(name, ' ' order by name), '')"
			   " from pg_prepared_statements";

/* ---- clients that move ---- */

static long
attaches_of(cenote_conn *conn)
{
	return strtol(cenote_info(conn, "attaches"), NULL, 10);
}

/* The other client takes the only session. So the first client's next request gets it anew. */
static void
move(cenote_conn *other)
{
	assert_string_equal(wp_value(other, "select 'taken'"), "taken");
}

/* A pool of one session, and two clients of it. */
static void
start_two(cenote_conn *conns[2])
{
	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 2);
}

static void
prepare_own(cenote_conn *conn, size_t i)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "select 'same %zu'", i);
	prepare(conn, "same", sql);
	snprintf(sql, sizeof(sql), "select %zu::int8", i);
	prepare(conn, i % 2 != 0 ? "odd" : "even", sql);
}

static void
run_own(cenote_conn *conn, size_t i)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "same %zu", i);
	assert_string_equal(run(conn, "same"), wanted);
	assert_string_equal(wp_value(conn, "execute same"), wanted);
	snprintf(wanted, sizeof(wanted), "%zu", i);
	assert_string_equal(run(conn, i % 2 != 0 ? "odd" : "even"), wanted);
}

static void
clients_with_the_same_names_have_their_own_statements(void **state)
{
	cenote_conn *conns[N_CLIENTS];

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, N_CLIENTS);
	for (size_t i = 0; i < N_CLIENTS; i++)
		prepare_own(conns[i], i);
	for (int round = 0; round < N_ROUNDS; round++) {
		for (size_t i = 0; i < N_CLIENTS; i++) {
			if ((i + (size_t)round) % 3 == 0)
				assert_string_equal(wp_value(conns[i], list),
					i % 2 != 0 ? "odd same" : "even same");
			run_own(conns[i], i);
		}
	}
	for (size_t i = 0; i < N_CLIENTS; i++)
		assert_true(attaches_of(conns[i]) > N_ROUNDS);
	turns_destroy(conns, N_CLIENTS);
}

static void
many_clients_of_one_thread_do_not_block_each_other(void **state)
{
	enum {
		N_MANY = 64
	};
	cenote_conn *conns[N_MANY];

	turns_start("sessions = 8\n" TURNS_POOL);
	turns_attach(conns, N_MANY);
	for (size_t i = 0; i < N_MANY; i++)
		prepare_own(conns[i], i);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < N_MANY; i++)
			run_own(conns[i], i);
	}
	turns_destroy(conns, N_MANY);
}

static void
each_way_to_end_a_statement_ends_it_for_one_client(void **state)
{
	static const struct {
		const char *sql;
		const char *left;
		int fails;
	} ends[] = {
		{ "deallocate a", "B b", 0 },
		{ "select 'deallocate'; /* b */ deallocate prepare \"B\"; select 1",
			"a b", 0 },
		/* the second one fails, and the first one is not undone */
		{ "deallocate b; deallocate B; select 2", "B a", 1 },
		{ "deallocate b; deallocate \"B\"; deallocate A", "", 0 },
		{ "deallocate all", "", 0 },
		{ "deallocate a; deallocate all", "", 0 },
		{ "discard all", "", 0 },
	};
	cenote_conn *conns[2];

	start_two(conns);
	prepare(conns[1], "a", "select 'other'");
	for (size_t i = 0; i < CNT_COUNT(ends); i++) {
		prepare(conns[0], "a", "select 'a'");
		prepare(conns[0], "b", "select 'b'");
		prepare(conns[0], "B", "select 'B'");
		assert_string_equal(run(conns[1], "a"), "other");
		assert_int_equal(run_text(conns[0], ends[i].sql), !ends[i].fails);
		move(conns[1]);
		assert_string_equal(wp_value(conns[0], list), ends[i].left);
		move(conns[1]);
		if (*ends[i].left == '\0')
			expect_failure(conns[0], "b", "26000");
		wp_exec(conns[0], "deallocate all");
		assert_string_equal(run(conns[1], "a"), "other");
	}
	turns_destroy(conns, 2);
}

static void
a_closed_statement_is_gone_and_its_name_is_free(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	prepare(conns[0], "a", "select 1");
	move(conns[1]);
	assert_int_equal(try_prepare(conns[0], "a", "select 2"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conns[0]), "42P05");
	move(conns[1]);
	assert_string_equal(run(conns[0], "a"), "1");
	move(conns[1]);
	assert_ok(cenote_close_named(conns[0], CENOTE_NAMED_STATEMENT, "a"));
	move(conns[1]);
	expect_failure(conns[0], "a", "26000");
	prepare(conns[0], "a", "select 2");
	move(conns[1]);
	assert_string_equal(run(conns[0], "a"), "2");
	assert_ok(cenote_reset(conns[0]));
	move(conns[1]);
	expect_failure(conns[0], "a", "26000");
	turns_destroy(conns, 2);
}

static void
a_statement_is_described_on_another_session(void **state)
{
	cenote_conn *conns[2];
	cenote_result *res;

	start_two(conns);
	prepare(conns[0], "a", "select $1::int8 as one, $2::text as two");
	move(conns[1]);
	assert_ok(cenote_describe_named(conns[0], CENOTE_NAMED_STATEMENT, "a", &res));
	assert_int_equal(cenote_result_n_params(res), 2);
	assert_int_equal(cenote_result_n_columns(res), 2);
	cenote_result_destroy(res);
	move(conns[1]);
	assert_int_equal(
		cenote_describe_named(conns[0], CENOTE_NAMED_STATEMENT, "none", &res),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conns[0]), "26000");
	turns_destroy(conns, 2);
}

static void
what_a_transaction_prepared_outlives_it(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	wp_exec(conns[0], "begin");
	prepare(conns[0], "a", "select 1");
	wp_exec(conns[0], "rollback");
	move(conns[1]);
	wp_exec(conns[0], "begin");
	assert_string_equal(run(conns[0], "a"), "1");
	prepare(conns[0], "b", "select 2");
	assert_string_equal(wp_value(conns[0], "execute b"), "2");
	wp_exec(conns[0], "commit");
	move(conns[1]);
	wp_exec(conns[0], "begin");
	assert_string_equal(wp_value(conns[0], list), "a b");
	assert_int_equal(wp_status_of(conns[0], "select 1/(random() * 0)::int"),
		CENOTE_ERR_SERVER);
	/* a failed transaction stays one, whatever is to be prepared */
	expect_failure(conns[0], "a", "25P02");
	wp_exec(conns[0], "rollback");
	assert_string_equal(run(conns[0], "a"), "1");
	turns_destroy(conns, 2);
}

static void
the_error_of_a_statement_that_cannot_be_prepared_again_is_the_servers(void **state)
{
	cenote_conn *conns[2];

	assert_int_equal(
		cnt_server_sql(&turns_server,
			"create table t as select 7 as n; grant all on t to app"),
		0);
	start_two(conns);
	prepare(conns[0], "a", "select n from t");
	prepare(conns[0], "b", "select 'b'");
	move(conns[1]);
	assert_string_equal(run(conns[0], "a"), "7");
	move(conns[1]);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table t"), 0);
	expect_failure(conns[0], "a", "42P01");
	expect_failure(conns[0], "a", "42P01");
	wp_exec(conns[0], "begin");
	expect_failure(conns[0], "a", "42P01");
	assert_int_equal(cenote_tx_state(conns[0]), CENOTE_TX_FAILED);
	wp_exec(conns[0], "rollback");
	/* the others are not concerned */
	move(conns[1]);
	assert_string_equal(wp_value(conns[0], list), "b");
	assert_string_equal(run(conns[0], "b"), "b");
	assert_int_equal(
		cnt_server_sql(&turns_server,
			"create table t as select 8 as n; grant all on t to app"),
		0);
	assert_string_equal(run(conns[0], "a"), "8");
	assert_string_equal(wp_value(conns[0], "execute a"), "8");
	assert_int_equal(cnt_server_sql(&turns_server, "drop table t"), 0);
	turns_destroy(conns, 2);
}

/* ---- pipelines ---- */

static void
send_run(cenote_conn *conn, const char *name)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_by_name(conn, name, &stmt));
	assert_ok(cenote_send_execute(stmt, NULL, NULL));
	cenote_stmt_destroy(stmt);
}

static void
take(cenote_conn *conn, int kind, const char *wanted)
{
	cenote_result *res = wp_next_result(conn, kind);

	if (wanted != NULL && kind == CENOTE_RESULT_ROWS)
		assert_string_equal(cenote_result_text(res, 0, 0, NULL), wanted);
	else if (wanted != NULL)
		assert_string_equal(
			cenote_diag_sqlstate(cenote_result_diag(res)), wanted);
	cenote_result_destroy(res);
	(void)wp_next_result(conn, 0);
}

static void
a_pipeline_brings_back_what_it_uses(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	prepare(conns[0], "a", "select 'a'");
	prepare(conns[0], "b", "select 'b'");
	for (int i = 0; i < 2; i++) {
		move(conns[1]);
		assert_ok(cenote_pipeline_begin(conns[0]));
		send_run(conns[0], "a");
		send_run(conns[0], "b");
		send_run(conns[0], "a");
		send_run(conns[0], "none");
		send_run(conns[0], "b");
		assert_ok(cenote_send_sync(conns[0]));
		send_run(conns[0], "b");
		assert_ok(cenote_send_sync(conns[0]));
		take(conns[0], CENOTE_RESULT_ROWS, "a");
		take(conns[0], CENOTE_RESULT_ROWS, "b");
		take(conns[0], CENOTE_RESULT_ROWS, "a");
		take(conns[0], CENOTE_RESULT_ERROR, "26000");
		take(conns[0], CENOTE_RESULT_SKIPPED, NULL);
		take(conns[0], CENOTE_RESULT_SYNC, NULL);
		take(conns[0], CENOTE_RESULT_ROWS, "b");
		take(conns[0], CENOTE_RESULT_SYNC, NULL);
		assert_ok(cenote_pipeline_end(conns[0]));
	}
	turns_destroy(conns, 2);
}

/* The server undoes the whole unit if a statement cannot be prepared within it. Then a request of the unit must fail. */
static void
a_pipeline_hears_that_a_statement_did_not_come_back(void **state)
{
	static const char tables[] = "create table t as select 7 as n;"
				     "create table w (n int8); grant all on t, w to app";
	cenote_conn *conns[2];

	assert_int_equal(cnt_server_sql(&turns_server, tables), 0);
	start_two(conns);
	prepare(conns[0], "b", "select 'b'");
	prepare(conns[0], "a", "select n from t");
	prepare(conns[0], "c", "select 'c'");
	move(conns[1]);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table t"), 0);
	assert_ok(cenote_pipeline_begin(conns[0]));
	assert_ok(cenote_send_query(
		conns[0], "insert into w values (1)", CENOTE_NTS, NULL, NULL));
	/* now it has a session, and the unit is open */
	assert_ok(cenote_flush(conns[0]));
	take(conns[0], CENOTE_RESULT_COMMAND, NULL);
	assert_ok(cenote_send_query(conns[0], list, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_send_query(conns[0], "select 1", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_send_sync(conns[0]));
	take(conns[0], CENOTE_RESULT_ERROR, "42P01");
	take(conns[0], CENOTE_RESULT_SKIPPED, NULL);
	take(conns[0], CENOTE_RESULT_SYNC, NULL);
	assert_ok(cenote_pipeline_end(conns[0]));
	assert_string_equal(wp_value(conns[0], "select count(*) from w"), "0");
	assert_string_equal(run(conns[0], "b"), "b");
	assert_string_equal(run(conns[0], "c"), "c");
	assert_int_equal(cnt_server_sql(&turns_server, "drop table w"), 0);
	turns_destroy(conns, 2);
}

/* ---- what does not move ---- */

static int
is_pinned(cenote_conn *conn)
{
	return (cenote_pins(conn) & CENOTE_PIN_PREPARED) != 0;
}

static void
a_statement_keeps_its_session_if_it_means_something_else_on_another(void **state)
{
	static const struct {
		const char *before;
		const char *sql;
		int is_pinned;
	} cases[] = {
		{ "select 1", "select 1", 0 },
		{ "set local work_mem = '1MB'", "select 1", 0 },
		{ "set local app.tenant = 'x'", "select 1", 0 },
		{ "select set_config('app.tenant', 'x', true)", "select 1", 0 },
		{ "set local timezone = 'Asia/Tokyo'", "select '2020-01-01'::timestamptz",
			1 },
		{ "select set_config('array_nulls', 'off', true)", "select 1", 1 },
		{ "select set_config('work_mem', '1MB', true)", "select 1", 0 },
		{ "set transform_null_equals = on", "select 1", 1 },
		/* the table holds the session */
		{ "create temp table own (n int8)", "select n from own", 0 },
		{ "select 1", "set timezone = 'Asia/Tokyo'", 1 },
		{ "select 1", "select set_config('timezone', 'Asia/Tokyo', true)", 1 },
		{ "select 1", "select pg_advisory_lock(1)", 1 },
	};

	turns_start("sessions = 1\n" TURNS_POOL);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		cenote_conn *conn = wp_attach(NULL);

		wp_exec(conn, "begin");
		wp_exec(conn, cases[i].before);
		prepare(conn, "a", cases[i].sql);
		wp_exec(conn, "commit");
		if (is_pinned(conn) != cases[i].is_pinned)
			fail_msg("%s; %s: pinned %d", cases[i].before, cases[i].sql,
				is_pinned(conn));
		/* the transaction is over */
		if (i < 7) {
			prepare(conn, "b", "select 1");
			assert_int_equal(is_pinned(conn), cases[i].is_pinned);
		}
		cenote_conn_destroy(conn);
	}
}

/* The zone is set before the statement was brought back. */
static void
a_statement_comes_back_with_the_settings_it_was_prepared_with(void **state)
{
	static const char sql[] = "select extract(epoch from '2020-01-01'::timestamptz)";
	char wanted[64];
	cenote_conn *conns[2];

	start_two(conns);
	prepare(conns[0], "a", sql);
	snprintf(wanted, sizeof(wanted), "%s", run(conns[0], "a"));
	move(conns[1]);
	wp_exec(conns[0], "begin");
	wp_exec(conns[0], "set local timezone = 'Asia/Tokyo'");
	assert_string_equal(run(conns[0], "a"), wanted);
	wp_exec(conns[0], "commit");
	turns_destroy(conns, 2);
}

/* The same settings come first on the other session. */
static void
a_statement_moves_after_settings_have_changed(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	wp_exec(conns[0], "set timezone = 'Asia/Tokyo'");
	prepare(conns[0], "zone",
		"select '2020-01-01 00:00'::timestamptz at time zone 'UTC'");
	move(conns[1]);
	assert_string_equal(run(conns[0], "zone"), "2019-12-31 15:00:00");
	move(conns[1]);
	assert_string_equal(run(conns[0], "zone"), "2019-12-31 15:00:00");
	turns_destroy(conns, 2);
}

/* Prepared again, it would mean something else. */
static void
a_statement_holds_if_settings_change_after_it(void **state)
{
	cenote_conn *conn, *other;
	char wanted[64];

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	prepare(conn, "zone",
		"select '2020-01-01 00:00'::timestamptz at time zone 'UTC'");
	snprintf(wanted, sizeof(wanted), "%s", run(conn, "zone"));
	wp_exec(conn, "set statement_timeout = '1min'");
	wp_exec(conn, "set timezone = 'Asia/Tokyo'");
	wp_expect_none_free(NULL);
	assert_string_equal(run(conn, "zone"), wanted);
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "zone"));
	assert_ok(wp_try(NULL, &other));
	cenote_conn_destroy(other);
	assert_string_equal(wp_value(conn, "show timezone"), "Asia/Tokyo");
	cenote_conn_destroy(conn);
}

/* This statement alone holds the session: once it is closed, the others move. */
static void
expect_holder(cenote_conn *conn, const char *name)
{
	cenote_conn *other;

	wp_expect_none_free(NULL);
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, name));
	assert_ok(wp_try(NULL, &other));
	move(other);
	cenote_conn_destroy(other);
}

static void
each_statement_holds_for_itself(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	prepare(conn, "a", "select 'a'");
	wp_exec(conn, "begin");
	wp_exec(conn, "set local timezone = 'Asia/Tokyo'");
	prepare(conn, "local", "select 1");
	wp_exec(conn, "commit");
	prepare(conn, "b", "select 'b'");
	expect_holder(conn, "local");
	assert_string_equal(run(conn, "a"), "a");
	assert_string_equal(wp_value(conn, list), "a b");
	/* all but the last were prepared in another time zone */
	wp_exec(conn, "set timezone = 'Asia/Tokyo'");
	prepare(conn, "c", "select 'c'");
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "a"));
	expect_holder(conn, "b");
	assert_string_equal(run(conn, "c"), "c");
	assert_string_equal(wp_value(conn, list), "c");
	/* this name was one of a statement that could move; the new one holds the session */
	wp_exec(conn, "begin");
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "c"));
	prepare(conn, "c", "select pg_advisory_xact_lock(1), pg_try_advisory_lock(2)");
	wp_exec(conn, "commit");
	expect_holder(conn, "c");
	cenote_conn_destroy(conn);
}

/* The pool compares the names, and remembers some of them. */
static void
what_the_pool_cannot_tell_holds(void **state)
{
	cenote_conn *conn;
	char name[64];

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	prepare(conn, "one\ntwo", "select set_config('timezone', 'UTC', true)");
	prepare(conn, "one", "select 1");
	prepare(conn, "two", "select 2");
	expect_holder(conn, "one\ntwo");
	prepare(conn, "holds", "select set_config('timezone', 'UTC', true)");
	for (int i = 0; i < 140; i++) {
		snprintf(name, sizeof(name), "%060d", i);
		prepare(conn, name, "select 1");
	}
	wp_expect_none_free(NULL);
	assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "holds"));
	wp_expect_none_free(NULL);
	wp_exec(conn, "deallocate all");
	cenote_conn_destroy(conn);
}

/* ---- statements prepared by SQL ---- */

/* In each session of the server, a name can stand for one statement only, of either kind. */
static void
statements_of_both_kinds_move_side_by_side(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	prepare(conns[0], "p", "select 'protocol'");
	wp_exec(conns[0], "prepare s as select 'sql'");
	wp_exec(conns[1], "prepare s as select 'other'");
	for (int i = 0; i < 2; i++) {
		assert_string_equal(wp_value(conns[1], "execute s"), "other");
		assert_string_equal(run(conns[0], "s"), "sql");
		move(conns[1]);
		assert_string_equal(run(conns[0], "p"), "protocol");
		assert_string_equal(wp_value(conns[0], "execute p"), "protocol");
		assert_string_equal(wp_value(conns[0], "execute s"), "sql");
		move(conns[1]);
		assert_string_equal(wp_value(conns[0], list), "p s");
	}
	move(conns[1]);
	assert_int_equal(try_prepare(conns[0], "s", "select 1"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conns[0]), "42P05");
	move(conns[1]);
	assert_int_equal(
		wp_status_of(conns[0], "prepare p as select 1"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conns[0]), "42P05");
	assert_true(attaches_of(conns[0]) > 4);
	turns_destroy(conns, 2);
}

static void
a_statement_of_sql_is_described_and_closed_by_its_name(void **state)
{
	cenote_conn *conns[2];
	cenote_result *res;

	start_two(conns);
	wp_exec(conns[0], "prepare a (int8, text) as select $1 as one, $2 as two");
	move(conns[1]);
	assert_ok(cenote_describe_named(conns[0], CENOTE_NAMED_STATEMENT, "a", &res));
	assert_int_equal(cenote_result_n_params(res), 2);
	assert_int_equal(cenote_result_n_columns(res), 2);
	cenote_result_destroy(res);
	move(conns[1]);
	assert_ok(cenote_close_named(conns[0], CENOTE_NAMED_STATEMENT, "a"));
	move(conns[1]);
	expect_failure(conns[0], "a", "26000");
	wp_exec(conns[0], "prepare a as select 1");
	move(conns[1]);
	assert_ok(cenote_pipeline_begin(conns[0]));
	send_run(conns[0], "a");
	assert_ok(cenote_send_sync(conns[0]));
	take(conns[0], CENOTE_RESULT_ROWS, "1");
	take(conns[0], CENOTE_RESULT_SYNC, NULL);
	move(conns[1]);
	assert_ok(cenote_send_close_named(conns[0], CENOTE_NAMED_STATEMENT, "none"));
	assert_ok(cenote_send_close_named(conns[0], CENOTE_NAMED_STATEMENT, "a"));
	assert_ok(cenote_send_sync(conns[0]));
	take(conns[0], CENOTE_RESULT_COMMAND, NULL);
	take(conns[0], CENOTE_RESULT_COMMAND, NULL);
	take(conns[0], CENOTE_RESULT_SYNC, NULL);
	assert_ok(cenote_pipeline_end(conns[0]));
	move(conns[1]);
	expect_failure(conns[0], "a", "26000");
	prepare(conns[0], "a", "select 2");
	move(conns[1]);
	assert_string_equal(wp_value(conns[0], "execute a"), "2");
	turns_destroy(conns, 2);
}

/* libcenote does not see that the function ends the first statement. It learns this from the next PREPARE of that name. */
static void
a_name_that_became_free_in_a_function_is_used_again(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	wp_exec(conns[0], "create function ends_a() returns void language plpgsql as"
			  " $$ begin execute 'deallocate a'; end $$");
	wp_exec(conns[0], "begin");
	prepare(conns[0], "a", "select 'old'");
	wp_exec(conns[0], "select ends_a()");
	wp_exec(conns[0], "prepare a as select 'new'");
	wp_exec(conns[0], "commit");
	for (int i = 0; i < 2; i++) {
		move(conns[1]);
		assert_string_equal(wp_value(conns[0], "execute a"), "new");
		assert_string_equal(run(conns[0], "a"), "new");
	}
	wp_exec(conns[0], "drop function ends_a()");
	turns_destroy(conns, 2);
}

static void
a_transaction_brings_them_along(void **state)
{
	cenote_conn *conns[2];

	start_two(conns);
	wp_exec(conns[0], "begin");
	wp_exec(conns[0], "prepare a as select 1");
	wp_exec(conns[0], "rollback");
	move(conns[1]);
	wp_exec(conns[0], "begin");
	assert_string_equal(wp_value(conns[0], "execute a"), "1");
	wp_exec(conns[0], "deallocate a");
	wp_exec(conns[0], "rollback");
	move(conns[1]);
	assert_string_equal(wp_value(conns[0], list), "");
	turns_destroy(conns, 2);
}

/* Make something at the server, and use it in a session. When it is gone, no other session can have what the client brings. So
 * the client's connection is lost, with `what` and `why` in the message. It connects again, and then has nothing of it. */
static void
expect_loss(const char *make, const char *use, const char *drop, const char *what,
	const char *why, const char *look, const char *fresh)
{
	cenote_conn *conns[2];

	assert_int_equal(cnt_server_sql(&turns_server, make), 0);
	start_two(conns);
	wp_exec(conns[0], use);
	move(conns[1]);
	assert_int_equal(cnt_server_sql(&turns_server, drop), 0);
	assert_int_equal(wp_status_of(conns[0], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[0]), "08006");
	assert_non_null(strstr(wp_message(conns[0]), what));
	assert_non_null(strstr(wp_message(conns[0]), why));
	cenote_close(conns[0]);
	assert_ok(cenote_connect(conns[0]));
	assert_string_equal(wp_value(conns[0], look), fresh);
	turns_destroy(conns, 2);
}

static void
a_statement_that_cannot_be_prepared_again_is_a_loss(void **state)
{
	expect_loss("create table t (n int); grant all on t to app",
		"prepare a as select n from t", "drop table t",
		"a statement of this connection", "relation \"t\" does not exist", list,
		"");
}

/* ---- settings ---- */

static void
a_role_that_is_gone_is_a_loss(void **state)
{
	expect_loss("create role fleeting; grant fleeting to app", "set role fleeting",
		"drop role fleeting", "the settings of this connection",
		"role \"fleeting\" does not exist", "show role", "none");
}

/* A prepared SET runs by its name, which does not show the setting's name. */
static void
a_setting_of_a_prepared_statement_moves(void **state)
{
	static const char *const sets[] = { "set app.tenant = '5'",
		"select set_config('app.tenant', '5', false)" };

	turns_start("sessions = 1\n" TURNS_POOL);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		cenote_conn *conn = wp_attach(NULL), *other;

		prepare(conn, "set", sets[i]);
		(void)run(conn, "set");
		assert_ok(cenote_close_named(conn, CENOTE_NAMED_STATEMENT, "set"));
		assert_ok(wp_try(NULL, &other));
		cenote_conn_destroy(other);
		assert_string_equal(wp_value(conn, "show app.tenant"), "5");
		cenote_conn_destroy(conn);
	}
}

/* The temporary table holds the session, and only as long as it exists. */
static void
a_statement_moves_after_a_temporary_table_is_gone(void **state)
{
	cenote_conn *conn, *other;

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "create temp table own (n int8)");
	prepare(conn, "a", "select 5");
	wp_expect_none_free(NULL);
	wp_exec(conn, "drop table own");
	assert_ok(wp_try(NULL, &other));
	cenote_conn_destroy(other);
	assert_string_equal(run(conn, "a"), "5");
	cenote_conn_destroy(conn);
}

static void
the_statement_without_a_name_keeps_its_session_until_the_next_query(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	prepare(conn, "", "select 5");
	assert_true(is_pinned(conn));
	assert_string_equal(run(conn, ""), "5");
	assert_true(is_pinned(conn));
	wp_exec(conn, "select 1");
	assert_false(is_pinned(conn));
	cenote_conn_destroy(conn);
}

static void
a_client_that_does_not_attach_again_keeps_its_session(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n");
	conn = wp_handle(NULL);
	assert_ok(cenote_conn_set(conn, "reattach", "no"));
	assert_ok(cenote_connect(conn));
	prepare(conn, "a", "select 5");
	assert_true(is_pinned(conn));
	cenote_conn_destroy(conn);
}

/* The client that resumes it cannot prepare the statements of the one that left it. */
static void
a_resumed_session_is_kept_for_its_statements(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *conns[2], *next;
	cenote_result *res;

	start_two(conns);
	prepare(conns[0], "a", "select 5");
	assert_false(is_pinned(conns[0]));
	move(conns[1]);
	assert_ok(cenote_suspend(conns[0], NULL, 10000, token));
	turns_destroy(conns, 2);
	next = wp_handle(NULL);
	assert_ok(cenote_resume(next, token, &res));
	wp_exec(next, "select 1");
	assert_true(is_pinned(next));
	assert_string_equal(run(next, "a"), "5");
	cenote_conn_destroy(next);
}

static void
nothing_is_left_for_the_next_client(void **state)
{
	cenote_conn *conn, *next;

	turns_start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	prepare(conn, "secret", "select 'secret'");
	wp_exec(conn, "begin");
	prepare(conn, "more", "select 'more'");
	send_run(conn, "more");
	cenote_conn_destroy(conn);
	next = wp_attach(NULL);
	assert_string_equal(wp_value(next, list), "");
	expect_failure(next, "secret", "26000");
	assert_string_equal(
		wp_value(next, "select count(*) from pg_stat_activity where query like "
			       "'%secret%' and pid <> pg_backend_pid()"),
		"0");
	cenote_conn_destroy(next);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clients_with_the_same_names_have_their_own_statements),
		TEST(many_clients_of_one_thread_do_not_block_each_other),
		TEST(each_way_to_end_a_statement_ends_it_for_one_client),
		TEST(a_closed_statement_is_gone_and_its_name_is_free),
		TEST(a_statement_is_described_on_another_session),
		TEST(what_a_transaction_prepared_outlives_it),
		TEST(the_error_of_a_statement_that_cannot_be_prepared_again_is_the_servers),
		TEST(a_pipeline_brings_back_what_it_uses),
		TEST(a_pipeline_hears_that_a_statement_did_not_come_back),
		TEST(a_statement_keeps_its_session_if_it_means_something_else_on_another),
		TEST(a_statement_comes_back_with_the_settings_it_was_prepared_with),
		TEST(a_statement_moves_after_settings_have_changed),
		TEST(a_statement_holds_if_settings_change_after_it),
		TEST(each_statement_holds_for_itself),
		TEST(what_the_pool_cannot_tell_holds),
		TEST(statements_of_both_kinds_move_side_by_side),
		TEST(a_statement_of_sql_is_described_and_closed_by_its_name),
		TEST(a_name_that_became_free_in_a_function_is_used_again),
		TEST(a_transaction_brings_them_along),
		TEST(a_statement_that_cannot_be_prepared_again_is_a_loss),
		TEST(a_role_that_is_gone_is_a_loss),
		TEST(a_setting_of_a_prepared_statement_moves),
		TEST(a_statement_moves_after_a_temporary_table_is_gone),
		TEST(the_statement_without_a_name_keeps_its_session_until_the_next_query),
		TEST(a_client_that_does_not_attach_again_keeps_its_session),
		TEST(a_resumed_session_is_kept_for_its_statements),
		TEST(nothing_is_left_for_the_next_client),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
