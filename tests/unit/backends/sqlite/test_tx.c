/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints, limits and cancels of the SQLite backend.
 */
#include "tests/support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "core/mem.h"
#include "tests/support/cnt_alloc.h"

#include "harness.h"

static void
transactions_begin_commit_and_roll_back(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a)");
	assert_string_equal(sq_begin(t, CENOTE_ISOLATION_DEFAULT, 0), "done BEGIN\n");
	assert_string_equal(sq_state(t), "open pins=0");
	assert_string_equal(sq_begin(t, CENOTE_ISOLATION_DEFAULT, 0),
		"error 25001 cannot start a transaction within a transaction\n");
	assert_answer(t, "begin",
		"error 25001 cannot start a transaction within a transaction\n");
	(void)sq_query(t, "insert into t values (1)");
	assert_string_equal(sq_rollback(t), "done ROLLBACK\n");
	assert_string_equal(sq_rollback(t), "done ROLLBACK\n");
	assert_string_equal(sq_state(t), "idle pins=0");
	(void)sq_begin(t, CENOTE_ISOLATION_READ_UNCOMMITTED, CENOTE_BEGIN_IMMEDIATE);
	(void)sq_query(t, "insert into t values (2)");
	assert_string_equal(sq_commit(t), "done COMMIT\n");
	assert_answer(t, "begin; insert into t values (3); commit",
		"done BEGIN more-results\ndone INSERT 0 1 affected=1 id=2 "
		"more-results\ndone COMMIT\n");
	assert_answer(
		t, "select a from t", "columns a:INT64\nrow 2\nrow 3\ndone SELECT 2\n");
	assert_answer(
		t, "commit", "error 25P01 cannot commit - no transaction is active\n");
}

static void
a_read_only_transaction_refuses_to_write_until_its_end(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a)");
	(void)sq_begin(t, CENOTE_ISOLATION_SERIALIZABLE, CENOTE_BEGIN_READ_ONLY);
	assert_answer(t, "select * from t", "columns a:TEXT\ndone SELECT 0\n");
	assert_answer(t, "insert into t values (1)",
		"error 25006 cannot execute INSERT in a read-only transaction\n");
	assert_answer(t, "with w as (select 1) insert into t select * from w",
		"error 25006 cannot execute INSERT in a read-only transaction\n");
	assert_answer(t, "create table u (a)",
		"error 25006 cannot execute CREATE in a read-only transaction\n");
	assert_answer(t, "pragma user_version=4",
		"error 25006 cannot execute PRAGMA in a read-only transaction\n");
	assert_answer(t, "commit; insert into t values (2)",
		"done COMMIT more-results\ndone INSERT 0 1 affected=1 id=1\n");
}

static void
savepoints_have_any_name(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a)");
	(void)sq_begin(t, 0, 0);
	assert_string_equal(sq_savepoint(t, 0, "a \"b\"; drop"), "done SAVEPOINT\n");
	(void)sq_query(t, "insert into t values (1)");
	assert_string_equal(sq_savepoint(t, 2, "a \"b\"; drop"), "done ROLLBACK\n");
	assert_string_equal(sq_savepoint(t, 1, "a \"b\"; drop"), "done RELEASE\n");
	assert_string_equal(
		sq_savepoint(t, 1, "gone"), "error 3B001 no such savepoint: gone\n");
	assert_string_equal(sq_savepoint(t, 0, ""),
		"error 3B001 a savepoint's name cannot be empty or hold a zero byte\n");
	(void)sq_commit(t);
	assert_answer(t, "select * from t", "columns a:TEXT\ndone SELECT 0\n");
}

static void
with_autocommit_off_a_transaction_begins_by_itself(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a)");
	(void)sq_autocommit(t, 0);
	assert_string_equal(sq_state(t), "idle pins=0");
	assert_answer(t, "pragma user_version",
		"columns user_version:INT64\nrow 0\ndone PRAGMA\n");
	assert_string_equal(sq_state(t), "idle pins=0");
	assert_answer(t, "commit", "done COMMIT\n"); /* there is no transaction */
	(void)sq_query(t, "insert into t values (1)");
	assert_string_equal(sq_state(t), "open pins=0");
	assert_answer(t, "rollback; select * from t",
		"done ROLLBACK more-results\ncolumns a:TEXT\ndone SELECT 0\n");
	assert_string_equal(sq_state(t), "open pins=0");
	(void)sq_autocommit(t, 1); /* does not commit */
	assert_string_equal(sq_state(t), "open pins=0");
	(void)sq_commit(t);
	(void)sq_query(t, "insert into t values (1)");
	assert_string_equal(sq_state(t), "idle pins=0");
}

/* Otherwise the statements after the lost transaction would be committed one by one. */
static void
a_transaction_that_sqlite_rolled_back_takes_no_more_statements(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a unique)");
	(void)sq_query(t, "insert into t values (1)");
	(void)sq_begin(t, 0, 0);
	assert_answer(t, "insert into t values (1)",
		"error 23505 UNIQUE constraint failed: t.a\n");
	assert_string_equal(
		sq_state(t), "open pins=0"); /* only the statement was undone */
	assert_answer(t, "insert or rollback into t values (1)",
		"error 23505 UNIQUE constraint failed: t.a\n");
	assert_string_equal(sq_state(t), "failed pins=0");
	assert_answer(t, "insert into t values (2)",
		"error 25P02 an error made SQLite roll the transaction back hint=Roll "
		"back, or "
		"begin anew.\n");
	assert_string_equal(sq_savepoint(t, 0, "x"),
		"error 25P02 an error made SQLite roll the transaction back hint=Roll "
		"back, or "
		"begin anew.\n");
	assert_string_equal(sq_commit(t),
		"error 40000 nothing was committed: an error had made SQLite roll the "
		"transaction back\n");
	assert_string_equal(sq_state(t), "idle pins=0");
	(void)sq_query(t, "begin");
	(void)sq_query(t, "insert or rollback into t values (1)");
	assert_string_equal(sq_state(t), "failed pins=0");
	assert_answer(t, "rollback", "done ROLLBACK\n");
	assert_answer(t, "insert into t values (3)", "done INSERT 0 1 affected=1 id=2\n");
}

static void
a_commit_that_is_refused_leaves_the_transaction_open(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "pragma foreign_keys=on");
	(void)sq_query(t,
		"create table p (a integer primary key);"
		"create table c (b references p deferrable initially deferred)");
	(void)sq_begin(t, 0, 0);
	(void)sq_query(t, "insert into c values (1)");
	assert_string_equal(sq_commit(t), "error 23503 FOREIGN KEY constraint failed\n");
	assert_string_equal(sq_state(t), "open pins=2");
	(void)sq_query(t, "insert into p values (1)");
	assert_string_equal(sq_commit(t), "done COMMIT\n");
}

static void
a_portal_gives_its_rows_in_batches(void **state)
{
	struct sq *t = *state;
	uint32_t first, second;

	(void)sq_query(
		t, "create table t (a integer); insert into t values (1), (2), (3)");
	t->base.batch_rows = 2;
	assert_answer(
		t, "select a from t", "columns a:INT64\nrow 1\nrow 2\ndone  more-rows\n");
	first = t->base.portal;
	/* The same statement again, while the first one is running. */
	(void)sq_query(t, "select a from t");
	second = t->base.portal;
	assert_string_equal(sq_state(t), "idle pins=16");
	t->base.batch_rows = 0;
	(void)sq_query(t, "insert into t values (4)");
	assert_string_equal(
		sq_fetch(t, first, 1), "columns = a:INT64\nrow 3\ndone  more-rows\n");
	assert_string_equal(sq_fetch(t, second, 0),
		"columns = a:INT64\nrow 3\nrow 4\ndone SELECT 4\n");
	assert_string_equal(
		sq_fetch(t, second, 0), "error 34000 there is no open result 3\n");
	cnd_portal_close(&t->base.seen.statements, t->base.s, first);
	cnd_portal_close(&t->base.seen.statements, t->base.s, first);
	assert_string_equal(sq_state(t), "idle pins=0");
	assert_ok(sq_reset(t));
}

static void
the_rest_of_a_request_follows_its_portal(void **state)
{
	struct sq *t = *state;

	(void)sq_query(
		t, "create table t (a integer); insert into t values (1), (2), (3)");
	t->base.batch_rows = 1;
	assert_answer(t,
		"select a from t where a < 3; update t set a = 9;"
		" select a from t; selec",
		"columns a:INT64\nrow 1\ndone  more-rows\n");
	assert_string_equal(sq_fetch(t, 2, 2),
		"columns = a:INT64\nrow 2\ndone SELECT 2 more-results\n"
		"done UPDATE 3 affected=3 more-results\n"
		"columns a:INT64\nrow 9\nrow 9\ndone  more-rows\n");
	assert_string_equal(sq_fetch(t, 2, 0),
		"columns = a:INT64\nrow 9\ndone SELECT 3 more-results\n"
		"error 42601 near \"selec\": syntax error position=67\n");
	assert_string_equal(sq_state(t), "idle pins=0");
}

static void
portals_end_with_a_rollback_and_writers_with_a_commit(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a integer); insert into t values (1), (2)");
	(void)sq_begin(t, 0, 0);
	t->base.batch_rows = 1;
	(void)sq_query(t, "select a from t");
	(void)sq_query(t, "insert into t values (3) returning a");
	assert_string_equal(sq_commit(t), "done COMMIT\n");
	(void)sq_begin(t, 0, 0);
	(void)sq_query(t, "insert into t values (4) returning a");
	assert_answer(t, "commit", "done COMMIT\n");
	assert_string_equal(sq_fetch(t, t->base.portal - 1, 1),
		"error 34000 there is no open result 7\n");
	assert_string_equal(sq_state(t), "idle pins=16"); /* the read cursor stays open */
	assert_string_equal(sq_fetch(t, 3, 0),
		"columns = a:INT64\nrow 2\nrow 3\nrow 4\ndone SELECT 4\n");
	(void)sq_begin(t, 0, 0);
	(void)sq_query(t, "select a from t");
	(void)sq_rollback(t);
	assert_string_equal(sq_state(t), "idle pins=0");
	assert_ok(sq_reset(t));
	t->base.batch_rows = 0;
	assert_answer(t, "select count(*) from t",
		"columns count(*):INT64\nrow 4\ndone SELECT 1\n");
}

/* The end of a session undoes an unfinished write, as if its process had died. */
static void
a_write_that_the_end_of_the_session_finds_unfinished_is_undone(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a integer); insert into t values (1), (2)");
	t->base.batch_rows = 1;
	(void)sq_query(t, "select a from t");
	(void)sq_query(t, "insert into t values (3), (4) returning a");
	(void)sq_query(t, "select a from t");
	assert_ok(sq_reset(t));
	assert_string_equal(sq_state(t), "idle pins=0");
	t->base.batch_rows = 0;
	assert_answer(t, "select count(*) from t",
		"columns count(*):INT64\nrow 2\ndone SELECT 1\n");
}

/* A request's parameter values are gone when the request ends, so the portal must copy them. */
static void
a_portal_keeps_its_parameters(void **state)
{
	struct sq *t = *state;
	char text[] = "kept";
	struct cnc_value v = cnt_text(text);

	t->base.batch_rows = 1;
	assert_string_equal(sq_query_with(t, "select ?1 as x union all select ?1", &v, 1),
		"columns x:TEXT\nrow kept\ndone  more-rows\n");
	text[0] = 'l';
	assert_string_equal(
		sq_fetch(t, 1, 0), "columns = x:TEXT\nrow kept\ndone SELECT 2\n");
}

/* A statement that fails must have changed nothing. */
static void
a_row_too_large_to_send_undoes_its_statement(void **state)
{
	static const char insert[] =
		"insert into t values (1) returning zeroblob(70000000)";
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a integer)");
	(void)sq_query(t, insert);
	assert_int_equal(t->base.last, CENOTE_ERR_LIMIT);
	assert_answer(t, "select a from t", "columns a:INT64\ndone SELECT 0\n");
	(void)sq_begin(t, 0, 0);
	(void)sq_query(t, insert);
	assert_int_equal(t->base.last, CENOTE_ERR_LIMIT);
	assert_string_equal(sq_state(t), "failed pins=0");
	(void)sq_rollback(t);
	(void)sq_query(t, "select zeroblob(70000000)");
	assert_int_equal(t->base.last, CENOTE_ERR_LIMIT);
	assert_string_equal(sq_state(t), "idle pins=0");
}

static void
a_limit_of_rows_ends_the_statement(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a integer); insert into t values (1), (2)");
	t->base.max_rows = 1;
	assert_answer(
		t, "select a from t", "columns a:INT64\nrow 1\ndone SELECT 1 limited\n");
	assert_string_equal(sq_state(t), "idle pins=0");
}

static const char endless[] = "with recursive r (n) as (select 1 union all select n + 1 "
			      "from r) select count(*) from r";

static void
a_cancel_stops_a_statement_and_leaves_the_session(void **state)
{
	struct sq *t = *state;

	t->interrupt_at = 5;
	assert_answer(t, endless, "error 57014 canceled by the test\n");
	assert_int_equal(t->n_questions, 5);
	t->interrupt_at = 0;
	assert_answer(t, "select 1", "columns 1:INT64\nrow 1\ndone SELECT 1\n");
	/* A cancel between two rows. */
	t->interrupt_at = 3;
	t->base.count_only = 1;
	(void)sq_query(t,
		"with recursive r (n) as (select 1 union all select n + 1 from r)"
		" select n from r");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_true(t->base.seen.n_rows > 0);
	assert_string_equal(sq_state(t), "idle pins=0");
}

static double
seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
a_lock_is_waited_for_as_long_as_told_and_can_be_cancelled(void **state)
{
	struct sq *t = *state, other;
	double before;

	(void)sq_query(t, "create table t (a)");
	sq_sibling(t, &other);
	(void)sq_begin(&other, 0, CENOTE_BEGIN_IMMEDIATE);
	assert_answer(t, "pragma busy_timeout=150",
		"columns timeout:INT64\nrow 150\ndone PRAGMA\n");
	before = seconds();
	assert_answer(t, "insert into t values (1)", "error 55P03 database is locked\n");
	assert_true(seconds() - before > 0.148);
	/* SQLite still calls the backend's own busy handler */
	assert_true(t->n_questions > 5);
	(void)sq_query(t, "pragma busy_timeout=60000");
	t->interrupt_at = 3;
	before = seconds();
	assert_answer(
		t, "insert into t values (1)", "error 57014 canceled by the test\n");
	assert_true(seconds() - before < 30);
	t->interrupt_at = 0;
	(void)sq_rollback(&other);
	assert_answer(t, "insert into t values (1)", "done INSERT 0 1 affected=1 id=1\n");
	sq_teardown(&other);
}

static void
a_stale_snapshot_is_a_serialization_failure(void **state)
{
	struct sq *t = *state, other;

	(void)sq_query(t, "create table t (a)");
	sq_sibling(t, &other);
	(void)sq_begin(t, 0, 0);
	(void)sq_query(t, "select * from t");
	(void)sq_query(&other, "insert into t values (1)");
	assert_answer(t, "insert into t values (2)", "error 40001 database is locked\n");
	assert_string_equal(sq_state(t), "open pins=0");
	sq_teardown(&other);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sq_test_setup, sq_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(transactions_begin_commit_and_roll_back),
		TEST(a_read_only_transaction_refuses_to_write_until_its_end),
		TEST(savepoints_have_any_name),
		TEST(with_autocommit_off_a_transaction_begins_by_itself),
		TEST(a_transaction_that_sqlite_rolled_back_takes_no_more_statements),
		TEST(a_commit_that_is_refused_leaves_the_transaction_open),
		TEST(a_portal_gives_its_rows_in_batches),
		TEST(the_rest_of_a_request_follows_its_portal),
		TEST(portals_end_with_a_rollback_and_writers_with_a_commit),
		TEST(a_write_that_the_end_of_the_session_finds_unfinished_is_undone),
		TEST(a_portal_keeps_its_parameters),
		TEST(a_row_too_large_to_send_undoes_its_statement),
		TEST(a_limit_of_rows_ends_the_statement),
		TEST(a_cancel_stops_a_statement_and_leaves_the_session),
		TEST(a_lock_is_waited_for_as_long_as_told_and_can_be_cancelled),
		TEST(a_stale_snapshot_is_a_serialization_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
