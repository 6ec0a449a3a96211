/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries in the simple and the extended form: rows, tags, errors, limits and cancels.
 * It needs PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct cnc_value
text_value(const char *text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text, .len = strlen(text)
	};
}

static struct cnc_value
int_value(int64_t v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_INT64, .as.i64 = v };
}

static void
a_query_gives_columns_rows_and_a_tag(void **state)
{
	struct pg *t = *state;

	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		assert_answer(t, "select 1 as a, 'x' as b, null as c",
			"columns a:INT64 b:TEXT c:TEXT\nrow 1|x|NULL\ndone SELECT 1\n");
		assert_answer(t, "create table t (a int, b text)", "done CREATE TABLE\n");
		assert_answer(t, "insert into t values (1,'x'), (2,'y')",
			"done INSERT 0 2 affected=2\n");
		assert_answer(t, "update t set b = 'z' where a = 2",
			"done UPDATE 1 affected=1\n");
		assert_answer(t, "select * from t where a > 7",
			"columns a:INT64 b:TEXT\ndone SELECT 0\n");
		assert_answer(t, "delete from t returning a",
			"columns a:INT64\nrow 1\nrow 2\ndone DELETE 2 affected=2\n");
		assert_answer(t, "drop table t", "done DROP TABLE\n");
	}
}

static void
a_query_may_have_no_statement_or_no_columns(void **state)
{
	struct pg *t = *state;

	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		assert_answer(t, "", "done  empty\n");
		assert_answer(t, " -- nothing", "done  empty\n");
		assert_answer(t, "select from generate_series(1, 3)",
			"columns\n\n\n\ndone SELECT 3\n");
	}
}

static void
several_statements_give_a_result_each(void **state)
{
	struct pg *t = *state;

	assert_answer(t,
		"select 1 as a; create temp table t (a int);;"
		"insert into t values (1); select 2 as b",
		"columns a:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"done CREATE TABLE more-results\n"
		"done INSERT 0 1 affected=1 more-results\n"
		"columns b:INT64\nrow 2\ndone SELECT 1\n");
	assert_answer(t, "select 1 as a; select nope; select 2",
		"columns a:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"error 42703 column \"nope\" does not exist position=23\n");
	t->base.is_extended = 1;
	assert_answer(t, "select 1; select 2",
		"error 42601 cannot insert multiple commands into a prepared "
		"statement\n");
	assert_string_equal(pg_state(t), "idle pins=1");
}

static void
rows_are_limited(void **state)
{
	struct pg *t = *state;

	t->base.max_rows = 2;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++)
		assert_answer(t, "select i from generate_series(1, 1000000) i",
			"columns i:INT64\nrow 1\nrow 2\ndone  limited\n");
	t->base.is_extended = 0;
	assert_answer(t, "values (1), (2), (3); values (4); values (5), (6)",
		"columns column1:INT64\nrow 1\nrow 2\ndone SELECT 3 more-results "
		"limited\n"
		"columns column1:INT64\nrow 4\ndone SELECT 1 more-results\n"
		"columns column1:INT64\nrow 5\nrow 6\ndone SELECT 2 limited\n");
	/* a limited result does not stay open in the transaction */
	(void)pg_query(t, "create table lim as select i from generate_series(1, 9) i");
	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "select i from lim");
	assert_answer(t, "drop table lim", "done DROP TABLE\n");
	(void)pg_rollback(t);
	(void)pg_query(t, "drop table lim");
}

static void
values_come_in_each_format(void **state)
{
	static const char sql[] =
		"select true as a, '\\x00ff'::bytea as b, 258::int2 as c,"
		" '2024-02-29 1:02:03.5'::timestamp as d";
	struct pg *t = *state;

	t->base.is_extended = 1;
	t->base.formats = cnp_str("\1\1\1\1");
	assert_answer(t, "select true as a",
		"error 08P01 bind message has 4 result "
		"formats but query has 1 columns\n");
	t->base.formats = CNP_STR_NONE;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		t->base.format = CENOTE_FORMAT_TEXT;
		assert_answer(t, sql,
			"columns a:BOOL b:BYTES c:INT64 d:TIMESTAMP\n"
			"row t|\\x00ff|258|2024-02-29 01:02:03.5\ndone SELECT 1\n");
		t->base.format = CENOTE_FORMAT_CANONICAL;
		(void)pg_query(t, "set datestyle = 'sql, dmy'");
		assert_non_null(
			strstr(pg_query(t, "select date '2024-02-29' as d,"
					   " timestamptz '2024-02-29 1:2:3+0' as z"),
				"row 2024-02-29|2024-02-29 01:02:03+00:00\n"));
		(void)pg_query(t, "reset datestyle");
		assert_non_null(
			strstr(pg_query(t, "select true as a, date '2024-02-29' b"),
				"row 1|2024-02-29\n"));
		t->base.format = CENOTE_FORMAT_BINARY;
		assert_memory_equal(strstr(pg_query(t, "select 258::int2 as c"), "row "),
			"row \1\2\n", 7);
	}
	t->base.format = CENOTE_FORMAT_TEXT;
	t->base.formats = (struct cnp_str){ "\0\1\2", 3 };
	t->base.is_extended = 1;
	assert_non_null(
		strstr(pg_query(t, "select true a, true b, 'x' c"), "row t|1|x\n"));
}

static void
parameters_are_typed(void **state)
{
	struct cnc_value v[] = { int_value(7), text_value("x"), { 0 } };
	struct pg *t = *state;

	v[2].is_null = 1;
	assert_string_equal(
		pg_query_with(
			t, "select $1::int + 1 as a, $2 || 'y' as b, $3 as c", v, 3),
		"columns a:INT64 b:TEXT c:TEXT\nrow 8|xy|NULL\ndone SELECT 1\n");
}

static void
prepared_statements_are_described_once(void **state)
{
	struct cnc_value v = int_value(4);
	struct pg *t = *state;

	assert_string_equal(pg_prepare(t, 1, "", "select $1::int4 as a, 'x'::text as b"),
		"params INT64\ncolumns a:INT64 b:TEXT\ndone PREPARE\n");
	assert_string_equal(pg_execute(t, 1, "", 1, &v, 1),
		"columns = a:INT64 b:TEXT\nrow 4|x\ndone SELECT 1\n");
	assert_string_equal(pg_execute(t, 1, "", 0, &v, 1),
		"columns a:INT64 b:TEXT\nrow 4|x\ndone SELECT 1\n");
	assert_string_equal(pg_describe(t, 1, "", 0),
		"params INT64\ncolumns a:INT64 b:TEXT\ndone DESCRIBE\n");
	assert_string_equal(pg_execute(t, 1, "", 1, NULL, 0),
		"error 07001 the statement has 1 parameters, 0 values were given\n");
	/* the same number again replaces the statement */
	assert_string_equal(pg_prepare(t, 1, "", "create temp table nothing ()"),
		"params\ndone PREPARE\n");
	assert_string_equal(pg_execute(t, 1, "", 0, NULL, 0), "done CREATE TABLE\n");
	assert_string_equal(pg_close(t, 1, "", 0), "done CLOSE\n");
	assert_string_equal(pg_execute(t, 1, "", 0, NULL, 0),
		"error 26000 there is no prepared statement 1\n");
	assert_string_equal(pg_close(t, 1, "", 0), "done CLOSE\n");
	assert_string_equal(pg_prepare(t, 2, "", "select nix"),
		"error 42703 column \"nix\" does not exist position=8\n");
	assert_string_equal(pg_execute(t, 2, "", 0, NULL, 0),
		"error 26000 there is no prepared statement 2\n");
}

static void
statements_have_names_that_sql_can_use(void **state)
{
	struct pg *t = *state;

	assert_string_equal(pg_prepare(t, 1, "mine", "select 1 as a"),
		"params\ncolumns a:INT64\ndone PREPARE\n");
	assert_answer(t, "execute mine", "columns a:INT64\nrow 1\ndone SELECT 1\n");
	(void)pg_query(t, "prepare theirs as select 2 as b");
	assert_string_equal(pg_describe(t, 0, "theirs", 0),
		"params\ncolumns b:INT64\ndone DESCRIBE\n");
	assert_string_equal(pg_execute(t, 0, "theirs", 0, NULL, 0),
		"columns b:INT64\nrow 2\ndone SELECT 1\n");
	assert_string_equal(pg_close(t, 0, "theirs", 0), "done CLOSE\n");
	assert_string_equal(pg_execute(t, 0, "theirs", 0, NULL, 0),
		"error 26000 prepared statement \"theirs\" does not exist\n");
	assert_string_equal(pg_prepare(t, 0, "", "select 3 as c"),
		"params\ncolumns c:INT64\ndone PREPARE\n");
	assert_string_equal(pg_execute(t, 0, "", 0, NULL, 0),
		"columns c:INT64\nrow 3\ndone SELECT 1\n");
	(void)pg_begin(t, 0, 0);
	(void)pg_query(t, "declare cur cursor for select 4 as d");
	assert_string_equal(
		pg_describe(t, 0, "cur", 1), "params\ncolumns d:INT64\ndone DESCRIBE\n");
	assert_string_equal(pg_close(t, 0, "cur", 1), "done CLOSE\n");
	assert_answer(t, "fetch cur", "error 34000 cursor \"cur\" does not exist\n");
}

static void
functions_are_called_by_number(void **state)
{
	struct cnc_value v = int_value(0);
	struct pg *t = *state;

	/* pg_backend_pid() is 2026, int4abs() 1397 */
	assert_non_null(strstr(pg_function(t, 2026, NULL, 0), "done FUNCTION\n"));
	v.is_native = 1;
	v.format = CENOTE_FORMAT_TEXT;
	v.bytes = "-42";
	v.len = 3;
	assert_string_equal(
		pg_function(t, 1397, &v, 1), "columns :OTHER\nrow 42\ndone FUNCTION\n");
	assert_non_null(strstr(pg_function(t, 1, NULL, 0), "error 42883"));
	assert_answer(t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
}

static void
notices_come_where_they_are_raised(void **state)
{
	struct pg *t = *state;

	assert_answer(t,
		"do $$ begin raise notice 'one'; raise warning 'two';"
		" end $$",
		"notice 00000 one\nnotice 01000 two\ndone DO warnings=1\n");
	assert_answer(t, "set application_name = 'x'",
		"parameter application_name x\ndone SET\n");
}

static void
a_setting_that_an_error_takes_back_is_told(void **state)
{
	struct pg *t = *state;

	(void)pg_begin(t, 0, 0);
	assert_answer(t, "set standard_conforming_strings = off",
		"parameter standard_conforming_strings off\ndone SET\n");
	assert_answer(t, "select 1 / 0",
		"parameter standard_conforming_strings on\n"
		"error 22012 division by zero\n");
}

static void
notifications_come_in_requests_and_between(void **state)
{
	struct pg *t = *state;

	assert_answer(t, "listen ch; notify ch, 'own'",
		"done LISTEN more-results\nnotification ch own\ndone NOTIFY\n");
	assert_int_equal(cnt_server_sql(&pg_server, "notify ch, 'theirs'"), 0);
	assert_string_equal(pg_idle(t), "notification ch theirs\n");
	assert_int_equal(cnt_server_sql(&pg_server, "notify ch, 'while we ask'"), 0);
	assert_ok(pg_settle(t));
	assert_string_equal(t->base.seen.log, "notification ch while we ask\n");
}

static void
a_bad_text_is_refused(void **state)
{
	struct cnd_exec e = { .is_simple = 1, .is_sync = 1 };
	struct pg *t = *state;

	assert_int_equal(
		t->base.b->query(t->base.s, "select 1\0", 9, &e, &t->base.seen.sink),
		CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "22021");
}

static void
a_large_value_and_a_large_row_pass(void **state)
{
	size_t n = 20u << 20;
	char *text = malloc(n + 1);
	struct cnc_value v;
	struct pg *t = *state;

	assert_non_null(text);
	memset(text, 'y', n);
	text[n] = 0;
	v = text_value(text);
	assert_string_equal(pg_query_with(t, "select length($1::text) as n", &v, 1),
		"columns n:INT64\nrow 20971520\ndone SELECT 1\n");
	t->base.count_only = 1;
	assert_string_equal(pg_query_with(t, "select $1::text as v", &v, 1),
		"columns v:TEXT\ndone SELECT 1\n");
	assert_int_equal(t->base.seen.n_rows, 1);
	assert_answer(t, "select repeat('x', 1000) from generate_series(1, 20000)",
		"columns repeat:TEXT\ndone SELECT 20000\n");
	assert_int_equal(t->base.seen.n_rows, 20000);
	free(text);
}

static void
a_sink_that_fails_stops_the_server(void **state)
{
	struct pg *t = *state;

	t->base.fail_rows_at = 3;
	t->base.count_only = 1;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		assert_answer(t, "select generate_series(1, 1000000000) as i",
			"columns i:INT64\nerror - out of memory\n");
		assert_string_equal(pg_state(t), "idle pins=0");
	}
}

static void
a_statement_is_cancelled(void **state)
{
	const char *expected =
		"columns pg_sleep:OTHER\nerror 57014 stopped by the test\n";
	struct pg *t = *state;

	t->interrupt_at = 2;
	t->interrupt_with = CENOTE_ERR_SERVER;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		assert_answer(t, "select pg_sleep(60)", expected);
		t->interrupt_at = 0;
		assert_answer(
			t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
		t->interrupt_at = 2;
	}
	t->interrupt_with = CENOTE_ERR_CONN;
	assert_non_null(strstr(pg_query(t, "select pg_sleep(60)"), "error CONN"));
	t->interrupt_at = 0;
	assert_string_equal(pg_reset(t), "");
	assert_answer(t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, pg_test_setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_query_gives_columns_rows_and_a_tag),
		TEST(a_query_may_have_no_statement_or_no_columns),
		TEST(several_statements_give_a_result_each),
		/* libpq reads a limited result to its end, so the tag counts all rows */
		TEST(rows_are_limited),
		/* libpq has one format for all columns */
		TEST(values_come_in_each_format),
		TEST(parameters_are_typed),
		TEST(prepared_statements_are_described_once),
		TEST(statements_have_names_that_sql_can_use),
		/* with libpq, the wait for the fast path has no time limit */
		TEST(functions_are_called_by_number),
		TEST(notices_come_where_they_are_raised),
		TEST(a_setting_that_an_error_takes_back_is_told),
		TEST(notifications_come_in_requests_and_between),
		TEST(a_bad_text_is_refused),
		TEST(a_large_value_and_a_large_row_pass),
		TEST(a_sink_that_fails_stops_the_server),
		TEST(a_statement_is_cancelled),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
