/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Portals: rows in pieces, several at a time, and their end. It needs PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char three[] = "select i from generate_series(1, 3) i";

static void
rows_come_in_batches(void **state)
{
	struct pg *t = *state;

	for (int i = 0; i < 4; i++) {
		t->base.is_extended = (uint8_t)(i & 1);
		if (i >= 2)
			(void)pg_begin(t, 0, 0);
		t->base.batch_rows = 2;
		assert_answer(
			t, three, "columns i:INT64\nrow 1\nrow 2\ndone  more-rows\n");
		assert_string_equal(
			pg_state(t), i >= 2 ? "open pins=16" : "idle pins=16");
		assert_string_equal(pg_fetch(t, t->base.portal, 2),
			"columns = i:INT64\nrow 3\ndone SELECT 3\n");
		assert_non_null(
			strstr(pg_fetch(t, t->base.portal - 1, 2), "error 34000"));
		if (i >= 2)
			(void)pg_rollback(t);
		t->base.portal = 0;
	}
}

static void
other_requests_run_in_between(void **state)
{
	struct pg *t = *state;

	(void)pg_query(t, "create temp table b (a int unique)");
	for (int i = 0; i < 4; i++) {
		uint32_t first, second;

		if (i >= 2)
			(void)pg_begin(t, 0, 0);
		t->base.is_extended = (uint8_t)(i & 1);
		t->base.batch_rows = 1;
		(void)pg_query(t, three);
		first = t->base.portal;
		(void)pg_query(t, "select i * 10 as ten from generate_series(1, 3) i");
		second = t->base.portal;
		t->base.batch_rows = 0;
		(void)pg_query(t, "insert into b values (1)");
		assert_string_equal(pg_fetch(t, first, 1),
			"columns = i:INT64\nrow 2\ndone  more-rows\n");
		if (i < 2) {
			/* the insert between two fetches was committed */
			(void)pg_query(t, "insert into b values (1)");
			assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
			assert_answer(t, "select a from b",
				"columns a:INT64\nrow 1\ndone SELECT 1\n");
		}
		assert_string_equal(pg_fetch(t, second, 0),
			"columns = ten:INT64\nrow 20\nrow 30\ndone SELECT 3\n");
		assert_string_equal(pg_fetch(t, first, 1),
			"columns = i:INT64\nrow 3\ndone  more-rows\n");
		assert_string_equal(
			pg_fetch(t, first, 1), "columns = i:INT64\ndone SELECT 3\n");
		(void)pg_query(t, "delete from b");
		if (i >= 2)
			(void)pg_commit(t);
	}
}

static void
several_statements_are_fetched_one_after_the_other(void **state)
{
	struct pg *t = *state;
	uint32_t portal;

	for (int interrupts = 0; interrupts < 2; interrupts++) {
		t->base.batch_rows = 2;
		assert_answer(t, "select i from generate_series(1, 3) i; values (7)",
			"columns i:INT64\nrow 1\nrow 2\ndone  more-rows\n");
		portal = t->base.portal;
		/* the unread rows must not wake the worker */
		assert_int_equal(t->base.b->fd(t->base.s), -1);
		if (interrupts) {
			t->base.batch_rows = 0;
			assert_answer(t, "select 5 as five",
				"columns five:INT64\nrow 5\ndone SELECT 1\n");
		}
		assert_string_equal(pg_fetch(t, portal, 2),
			"columns = i:INT64\nrow 3\ndone SELECT 3 more-results\n"
			"columns column1:INT64\nrow 7\ndone SELECT 1\n");
		assert_true(t->base.b->fd(t->base.s) >= 0);
	}
}

static void
an_error_comes_when_its_row_is_fetched(void **state)
{
	static const char sql[] = "select 1 / (3 - i) as d from generate_series(1, 5) i";
	struct pg *t = *state;
	uint32_t portal;

	for (int i = 0; i < 2; i++) {
		t->base.batch_rows = 1;
		assert_answer(t, sql, "columns d:INT64\nrow 0\ndone  more-rows\n");
		portal = t->base.portal;
		if (i == 1) {
			t->base.batch_rows = 0;
			assert_answer(t, "select 5 as five",
				"columns five:INT64\nrow 5\ndone SELECT 1\n");
		}
		assert_string_equal(pg_fetch(t, portal, 1),
			"columns = d:INT64\nrow 1\ndone  more-rows\n");
		assert_string_equal(pg_fetch(t, portal, 1),
			"columns = d:INT64\nerror 22012 division by zero\n");
		assert_non_null(strstr(pg_fetch(t, portal, 1), "error 34000"));
	}
}

static void
what_a_portal_wrote_is_committed_when_it_ends(void **state)
{
	struct pg *t = *state;
	char expected[64];
	uint32_t portal;

	(void)pg_query(t, "create temp table w (a int)");
	for (int i = 0; i < 3; i++) {
		t->base.batch_rows = 1;
		assert_answer(t, "insert into w values (1), (2) returning a",
			"columns a:INT64\nrow 1\ndone  more-rows\n");
		portal = t->base.portal;
		t->base.batch_rows = 0;
		if (i == 0)
			assert_string_equal(pg_fetch(t, portal, 0),
				"columns = a:INT64\nrow 2\ndone INSERT 0 2 affected=2\n");
		else if (i == 1)
			pg_close_portal(t, portal);
		/* a rollback undoes nothing: the writes are committed */
		(void)pg_query(t, "rollback");
		snprintf(expected, sizeof(expected),
			"columns n:INT64\nrow %d\ndone SELECT 1\n", 2 * (i + 1));
		assert_answer(t, "select count(*) as n from w", expected);
	}
}

static void
a_portal_ends_with_its_transaction(void **state)
{
	struct pg *t = *state;

	(void)pg_begin(t, 0, 0);
	t->base.batch_rows = 1;
	(void)pg_query(t, three);
	(void)pg_commit(t);
	assert_string_equal(pg_state(t), "idle pins=0");
	assert_non_null(strstr(pg_fetch(t, 2, 1), "error 34000"));
}

static void
a_large_rest_is_kept_in_a_file(void **state)
{
	struct pg *t = *state;
	uint32_t portal;

	for (int several = 0; several < 2; several++) {
		t->base.batch_rows = 1;
		(void)pg_query(t, several ? "select i, repeat('x', 1000) from"
					    " generate_series(1, 20000) i; select 1"
					  : "select i, repeat('x', 1000) from"
					    " generate_series(1, 20000) i");
		portal = t->base.portal;
		t->base.batch_rows = 0;
		assert_answer(t, "select 5 as five",
			"columns five:INT64\nrow 5\ndone SELECT 1\n");
		t->base.count_only = 1;
		(void)pg_fetch(t, portal, 0);
		assert_ok(t->base.last);
		assert_int_equal(t->base.seen.n_rows, several ? 20000 : 19999);
		t->base.count_only = 0;
	}
}

static void
prepared_statements_are_fetched_in_batches_too(void **state)
{
	struct pg *t = *state;

	(void)pg_prepare(t, 1, "", three);
	t->base.batch_rows = 2;
	assert_string_equal(pg_execute(t, 1, "", 1, NULL, 0),
		"columns = i:INT64\nrow 1\nrow 2\ndone  more-rows\n");
	assert_string_equal(pg_fetch(t, t->base.portal, 2),
		"columns = i:INT64\nrow 3\ndone SELECT 3\n");
	/* as many rows as a batch holds: the next fetch shows that there are no more */
	t->base.batch_rows = 3;
	assert_answer(
		t, three, "columns i:INT64\nrow 1\nrow 2\nrow 3\ndone  more-rows\n");
	assert_string_equal(
		pg_fetch(t, t->base.portal, 3), "columns = i:INT64\ndone SELECT 3\n");
}

static void
a_reset_ends_an_open_result(void **state)
{
	struct pg *t = *state;

	t->base.batch_rows = 1;
	for (int i = 0; i < 4; i++) {
		if (i == 3)
			(void)pg_begin(t, 0, 0);
		(void)pg_query(
			t, i == 1 ? "select generate_series(1, 1000000000); select 2"
				  : "select generate_series(1, 1000000000)");
		if (i == 2)
			pg_close_portal(t, t->base.portal);
		assert_string_equal(pg_reset(t), "");
		assert_string_equal(pg_state(t), "idle pins=0");
	}
	t->base.batch_rows = 0;
	assert_answer(t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
}

/* The server keeps a portal's tables in use until the portal is closed, even after its last row. */
static void
a_portal_that_was_read_to_its_end_keeps_no_table_busy(void **state)
{
	struct pg *t = *state;
	uint32_t open;

	(void)pg_query(
		t, "create temp table busy as select i from generate_series(1, 3) i");
	for (int i = 0; i < 2; i++) {
		t->base.is_extended = (uint8_t)i;
		(void)pg_begin(t, 0, 0);
		t->base.batch_rows = 5;
		(void)pg_query(t, "select i from busy");
		t->base.batch_rows = 0;
		assert_answer(t, "truncate busy", "done TRUNCATE TABLE\n");
		(void)pg_rollback(t);

		/* after several batches, while another portal is open, which is closed next */
		(void)pg_begin(t, 0, 0);
		t->base.batch_rows = 2;
		(void)pg_query(t, three);
		open = t->base.portal;
		(void)pg_query(t, "select i from busy");
		assert_string_equal(pg_fetch(t, t->base.portal, 2),
			"columns = i:INT64\nrow 3\ndone SELECT 3\n");
		cnd_portal_close(&t->base.seen.statements, t->base.s, open);
		t->base.batch_rows = 0;
		assert_answer(t, "truncate busy", "done TRUNCATE TABLE\n");
		(void)pg_rollback(t);
		t->base.portal = 0;
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, pg_test_setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_come_in_batches),
		TEST(other_requests_run_in_between),
		TEST(several_statements_are_fetched_one_after_the_other),
		TEST(an_error_comes_when_its_row_is_fetched),
		TEST(what_a_portal_wrote_is_committed_when_it_ends),
		/* libpq has no portals: the rest of a result outlives the transaction */
		TEST(a_portal_ends_with_its_transaction),
		TEST(a_large_rest_is_kept_in_a_file),
		TEST(prepared_statements_are_fetched_in_batches_too),
		TEST(a_portal_that_was_read_to_its_end_keeps_no_table_busy),
		/* closing a result of 10^9 rows reads them all */
		TEST(a_reset_ends_an_open_result),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
