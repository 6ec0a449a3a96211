/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions, savepoints and autocommit. It needs PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int
setup(void **state)
{
	struct pg *t;

	if (pg_test_setup(state) < 0)
		return -1;
	t = *state;
	(void)pg_query(
		t, "create temp table x (a int unique deferrable initially deferred)");
	return t->base.last;
}

static const char *
count(struct pg *t)
{
	static char text[16];
	const char *row;

	row = strstr(pg_query(t, "select count(*) from x"), "row ");
	assert_non_null(row);
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(row + 4, "\n"), row + 4);
	return text;
}

static void
a_transaction_is_begun_and_ended(void **state)
{
	struct pg *t = *state;

	assert_string_equal(pg_begin(t, 0, 0), "done BEGIN\n");
	assert_string_equal(pg_state(t), "open pins=1");
	assert_string_equal(
		pg_begin(t, 0, 0), "error 25001 a transaction is open already\n");
	(void)pg_query(t, "insert into x values (1)");
	assert_string_equal(pg_rollback(t), "done ROLLBACK\n");
	assert_string_equal(count(t), "0");
	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "insert into x values (1)");
	assert_string_equal(pg_commit(t), "done COMMIT\n");
	assert_string_equal(count(t), "1");
	assert_string_equal(pg_commit(t), "done COMMIT\n");
	assert_string_equal(pg_rollback(t), "done ROLLBACK\n");
	assert_string_equal(pg_state(t), "idle pins=1");
}

static void
isolation_and_read_only_are_the_servers(void **state)
{
	static const char *const names[] = { "read committed", "read uncommitted",
		"read committed", "repeatable read", "serializable" };
	struct pg *t = *state;

	for (uint8_t i = 0; i < 5; i++) {
		assert_string_equal(pg_begin(t, i, i & 1 ? CENOTE_BEGIN_READ_ONLY : 0),
			"done BEGIN\n");
		assert_non_null(
			strstr(pg_query(t, "show transaction_isolation"), names[i]));
		assert_non_null(strstr(pg_query(t, "show transaction_read_only"),
			i & 1 ? "row on\n" : "row off\n"));
		(void)pg_rollback(t);
	}
	assert_string_equal(
		pg_begin(t, 9, 0), "error 0A000 there is no isolation level 9\n");
}

static void
a_failed_transaction_is_not_committed_in_silence(void **state)
{
	struct pg *t = *state;

	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "select 1/0");
	assert_string_equal(pg_state(t), "failed pins=1");
	assert_non_null(strstr(pg_begin(t, 0, 0), "error 25001"));
	assert_non_null(strstr(pg_query(t, "select 1"), "error 25P02"));
	assert_non_null(strstr(pg_commit(t), "error 40000"));
	assert_string_equal(pg_state(t), "idle pins=1");
	/* the commit itself fails */
	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "insert into x values (1), (1)");
	assert_non_null(strstr(pg_commit(t), "error 23505"));
	assert_string_equal(pg_state(t), "idle pins=1");
}

static void
a_statement_is_done_when_it_is_committed(void **state)
{
	struct pg *t = *state;

	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		for (t->base.batch_rows = 0; t->base.batch_rows < 2; t->base.batch_rows++)
			assert_non_null(
				strstr(pg_query(t, "insert into x values (1), (1)"),
					"error 23505"));
	}
	t->base.batch_rows = 0;
	assert_string_equal(count(t), "0");
}

static void
savepoints_have_any_name(void **state)
{
	static const char odd[] = "it's \"so\"; drop";
	char longest[66];
	struct pg *t = *state;

	assert_non_null(strstr(pg_savepoint(t, 0, "s"), "error 25P01"));
	(void)pg_begin(t, 0, 0);
	assert_string_equal(pg_savepoint(t, 0, odd), "done SAVEPOINT\n");
	(void)pg_query(t, "insert into x values (1)");
	(void)pg_query(t, "select 1/0");
	assert_string_equal(pg_savepoint(t, 2, odd), "done ROLLBACK\n");
	assert_string_equal(count(t), "0");
	assert_string_equal(pg_savepoint(t, 1, odd), "done RELEASE\n");
	assert_non_null(strstr(pg_savepoint(t, 1, odd), "error 3B001"));
	(void)pg_rollback(t);
	memset(longest, 'n', 64);
	longest[64] = 0;
	(void)pg_begin(t, 0, 0);
	assert_non_null(strstr(pg_savepoint(t, 0, longest), "error 42622"));
	assert_string_equal(pg_state(t), "open pins=1");
	longest[63] = 0;
	assert_string_equal(pg_savepoint(t, 0, longest), "done SAVEPOINT\n");
	(void)pg_rollback(t);
}

static void
without_autocommit_a_statement_begins_a_transaction(void **state)
{
	struct pg *t = *state;

	(void)pg_autocommit(t, 0);
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		assert_answer(
			t, "insert into x values (1)", "done INSERT 0 1 affected=1\n");
		assert_string_equal(pg_state(t), "open pins=1");
		assert_string_equal(count(t), "1");
		(void)pg_rollback(t);
		assert_string_equal(count(t), "0");
		(void)pg_rollback(t);
		/* statements that the server refuses in a transaction, and statements that begin
		 * or end one */
		assert_answer(t, "vacuum x", "done VACUUM\n");
		assert_answer(t, "begin", "done BEGIN\n");
		assert_answer(t, "commit", "done COMMIT\n");
		assert_answer(t, "", "done  empty\n");
		assert_string_equal(pg_state(t), "idle pins=1");
	}
	(void)pg_prepare(t, 1, "", "insert into x values (2)");
	(void)pg_execute(t, 1, "", 0, NULL, 0);
	assert_string_equal(pg_state(t), "open pins=1");
	/* the statement reports the error, and the transaction fails, too */
	(void)pg_rollback(t);
	assert_non_null(strstr(pg_query(t, "select 1/0"), "error 22012"));
	assert_string_equal(pg_state(t), "failed pins=1");
	(void)pg_rollback(t);
	(void)pg_autocommit(t, 1);
	(void)pg_query(t, "insert into x values (1)");
	assert_string_equal(pg_state(t), "idle pins=1");
}

static void
requests_up_to_a_sync_are_one_unit(void **state)
{
	struct pg *t = *state;

	t->base.no_sync = 1;
	assert_answer(t, "insert into x values (1)", "done INSERT 0 1 affected=1\n");
	assert_answer(t, "insert into x values (2)", "done INSERT 0 1 affected=1\n");
	assert_answer(t, "select 1/0", "error 22012 division by zero\n");
	assert_string_equal(pg_sync(t), "");
	t->base.no_sync = 0;
	assert_string_equal(count(t), "0");
	t->base.no_sync = 1;
	(void)pg_query(t, "insert into x values (1)");
	(void)pg_prepare(t, 1, "", "insert into x values (2)");
	(void)pg_execute(t, 1, "", 0, NULL, 0);
	(void)pg_close(t, 1, "", 0);
	assert_string_equal(pg_sync(t), "");
	t->base.no_sync = 0;
	assert_string_equal(count(t), "2");
	/* an error that appears only at the end of the unit */
	t->base.no_sync = 1;
	(void)pg_query(t, "insert into x values (1)");
	assert_non_null(strstr(pg_sync(t), "error 23505"));
	t->base.no_sync = 0;
	assert_string_equal(count(t), "2");
	/* a transaction in a unit */
	t->base.no_sync = 1;
	assert_string_equal(pg_begin(t, 0, 0), "done BEGIN\n");
	(void)pg_query(t, "insert into x values (5)");
	assert_string_equal(pg_commit(t), "done COMMIT\n");
	assert_string_equal(pg_sync(t), "");
	t->base.no_sync = 0;
	assert_string_equal(pg_state(t), "idle pins=1");
	assert_string_equal(count(t), "3");
}

static void
set_up_goes_on_while_the_server_skips(void **state)
{
	struct pg *t = *state;

	t->base.no_sync = 1;
	(void)pg_query(t, "select 1/0");
	assert_string_equal(pg_prepare(t, 3, "", "select 7 as seven"),
		"params\ncolumns seven:INT64\ndone PREPARE\n");
	t->base.no_sync = 0;
	assert_string_equal(pg_sync(t), "");
	assert_string_equal(pg_execute(t, 3, "", 1, NULL, 0),
		"columns = seven:INT64\nrow 7\ndone SELECT 1\n");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_transaction_is_begun_and_ended),
		TEST(isolation_and_read_only_are_the_servers),
		TEST(a_failed_transaction_is_not_committed_in_silence),
		TEST(a_statement_is_done_when_it_is_committed),
		TEST(savepoints_have_any_name),
		TEST(without_autocommit_a_statement_begins_a_transaction),
		TEST(requests_up_to_a_sync_are_one_unit),
		TEST(set_up_goes_on_while_the_server_skips),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
