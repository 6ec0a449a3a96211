/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY in both directions, and copies that are given up or refused. It needs PostgreSQL.
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
	(void)pg_query(t, "create temp table c (a int, b text)");
	return t->base.last;
}

static void
data_goes_in_and_out(void **state)
{
	static const char *const pieces[] = { "1\ton", "e\n2\t", "two\n", NULL };
	struct pg *t = *state;

	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		t->pieces = pieces;
		assert_answer(t, "copy c from stdin",
			"copy-in text 2\ndone COPY 2 affected=2\n");
		assert_answer(t, "copy c to stdout",
			"copy-out text 2\ndata 1\tone\ndata 2\ttwo\ncopied\n"
			"done COPY 2 affected=2\n");
		assert_answer(t, "copy (select 1 where false) to stdout",
			"copy-out text 1\ncopied\ndone COPY 0 affected=0\n");
		assert_answer(t, "truncate c", "done TRUNCATE TABLE\n");
		t->pieces = NULL;
		assert_answer(t, "copy c from stdin",
			"copy-in text 2\ndone COPY 0 affected=0\n");
		assert_non_null(strstr(pg_query(t, "copy c to stdout (format binary)"),
			"copy-out binary 2\n"));
	}
	t->pieces = pieces;
	assert_string_equal(
		pg_prepare(t, 1, "", "copy c from stdin"), "params\ndone PREPARE\n");
	assert_string_equal(pg_execute(t, 1, "", 0, NULL, 0),
		"copy-in text 2\ndone COPY 2 affected=2\n");
	assert_answer(t, "select a from c order by a",
		"columns a:INT64\nrow 1\nrow 2\ndone SELECT 2\n");
}

static void
a_copy_may_stand_between_statements(void **state)
{
	static const char *const pieces[] = { "1\tone\n", NULL };
	struct pg *t = *state;

	t->pieces = pieces;
	assert_answer(t,
		"select 1 as x; copy c from stdin; copy c to "
		"stdout; select 2 as y",
		"columns x:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"copy-in text 2\ndone COPY 1 affected=1 more-results\n"
		"copy-out text 2\ndata 1\tone\ncopied\ndone COPY 1 affected=1 "
		"more-results\n"
		"columns y:INT64\nrow 2\ndone SELECT 1\n");
}

static void
give_up(struct pg *t, uint8_t no_sync)
{
	static const char *const pieces[] = { "1\tone\n", NULL };

	t->gives_up = 1;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		t->base.no_sync = no_sync;
		t->pieces = pieces;
		assert_answer(t, "copy c from stdin",
			"copy-in text 2\nerror 57014 COPY from stdin failed: "
			"the client changed its mind\n");
		t->base.no_sync = 0;
		assert_string_equal(pg_sync(t), "");
		assert_answer(t, "select a from c", "columns a:INT64\ndone SELECT 0\n");
	}
}

static void
the_client_gives_up(void **state)
{
	give_up(*state, 0);
}

static void
the_client_gives_up_within_a_unit(void **state)
{
	give_up(*state, 1);
}

static void
be_refused(struct pg *t, uint8_t no_sync)
{
	static const char *const pieces[] = { "1\tone\n", "x\ttwo\n", NULL };

	for (int i = 0; i < 4; i++) {
		t->base.is_extended = (uint8_t)(i & 1);
		t->base.no_sync = no_sync;
		/* the backend notices the error while the client has nothing to send, or at the
		 * end */
		t->waits_for_server = 2 * (i >> 1);
		t->pieces = pieces;
		assert_answer(t, "copy c from stdin",
			"copy-in text 2\n"
			"error 22P02 invalid input syntax for type integer: \"x\"\n");
		t->base.no_sync = 0;
		assert_string_equal(pg_sync(t), "");
		assert_answer(t, "select a from c", "columns a:INT64\ndone SELECT 0\n");
	}
}

static void
the_server_gives_up_within_a_unit(void **state)
{
	be_refused(*state, 1);
}

static void
the_server_gives_up(void **state)
{
	struct pg *t = *state;

	be_refused(t, 0);
	(void)pg_query(t, "create function pg_temp.slow() returns int language sql as"
			  " 'select 1 / (1 - count(*)::int) from generate_series(1, 1)'");
	assert_answer(t,
		"copy (select i, 1 / (3 - i) from "
		"generate_series(1, 5) i) to stdout",
		"copy-out text 2\ndata 1\t0\ndata 2\t1\nerror 22012 division by zero\n");
	assert_answer(t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
}

/* A server that refuses early answers a Sync that it would otherwise skip. The backend must
 * count the answers correctly in both cases. */
static void
the_server_refuses_before_it_reads(void **state)
{
	static const char *const pieces[] = { "1\tone\n", NULL };
	static const char expected[] =
		"copy-in text 2\nerror 42809 cannot copy to view \"v\"\n";
	struct pg *t = *state;

	(void)pg_query(t, "create temp view v as select * from c");
	assert_string_equal(
		pg_prepare(t, 1, "", "copy v from stdin"), "params\ndone PREPARE\n");
	assert_string_equal(
		pg_prepare(t, 0, "n", "copy v from stdin"), "params\ndone PREPARE\n");
	for (int i = 0; i < 24; i++) {
		t->base.is_extended = (uint8_t)(i & 1);
		t->waits_for_server = (uint8_t)(i & 2);
		t->base.no_sync = (uint8_t)((i & 4) != 0);
		t->pieces = pieces;
		assert_string_equal(i < 8    ? pg_query(t, "copy v from stdin")
				    : i < 16 ? pg_execute(t, 1, "", 0, NULL, 0)
					     : pg_execute(t, 0, "n", 0, NULL, 0),
			expected);
		t->base.no_sync = 0;
		assert_string_equal(pg_sync(t), "");
		assert_answer(
			t, "select 7 as a", "columns a:INT64\nrow 7\ndone SELECT 1\n");
	}
	assert_string_equal(pg_reset(t), "");
	assert_ok(t->base.last);
}

static void
libpq_may_have_lost_count_of_a_copy_that_failed(void **state)
{
	static const char *const pieces[] = { "x\ttwo\n", NULL };
	struct pg *t = *state;

	/* a temporary table would end the session anyway */
	pg_logout(t);
	assert_ok(pg_login(t));
	(void)pg_query(t, "create table lasting (a int, b text)");
	t->base.is_extended = 1;
	t->pieces = pieces;
	(void)pg_query(t, "copy lasting from stdin");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_answer(t, "drop table lasting", "done DROP TABLE\n");
	(void)pg_reset(t);
	assert_ok(t->base.last);
	assert_false(t->has_relogged);
}

static void
much_goes_in_while_the_server_talks(void **state)
{
	const char **pieces = calloc(20002, sizeof(*pieces));
	struct pg *t = *state;
	char *row = malloc(1002);

	assert_non_null(pieces);
	assert_non_null(row);
	memset(row, 'r', 1000);
	memcpy(row, "7\t", 2);
	strcpy(row + 1000, "\n");
	for (int i = 0; i < 20000; i++)
		pieces[i] = row;
	(void)pg_query(t,
		"create function pg_temp.talk() returns trigger language plpgsql as"
		" $$ begin raise notice '%', repeat('n', 300); return new; end $$");
	(void)pg_query(t, "create trigger talk before insert on c for each row"
			  " execute function pg_temp.talk()");
	t->pieces = pieces;
	assert_non_null(strstr(pg_query(t, "copy c from stdin"), "done COPY 20000"));
	t->base.count_only = 1;
	t->n_bytes = 0;
	assert_non_null(strstr(pg_query(t, "copy c to stdout"), "done COPY 20000"));
	assert_int_equal(t->n_bytes, 20000 * 1001);
	free(pieces);
	free(row);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(data_goes_in_and_out),
		TEST(a_copy_may_stand_between_statements),
		TEST(the_client_gives_up),
		TEST(the_server_gives_up),
		TEST(libpq_may_have_lost_count_of_a_copy_that_failed),
		/* libpq counts answers itself, and takes the extra one for an answer to the next
		 * request */
		TEST(the_server_refuses_before_it_reads),
		/* libpq has no COPY within a pipeline */
		TEST(the_client_gives_up_within_a_unit),
		TEST(the_server_gives_up_within_a_unit),
		TEST(much_goes_in_while_the_server_talks),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
