/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements and cursors of the MySQL backend, and the native types of
 * parameters (docs/types.md). It needs MariaDB.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Native types of parameters: docs/types.md. */
#define NATIVE_DATE     10u
#define NATIVE_DATETIME 12u
#define NATIVE_ROWS     0x10001u
#define NATIVE_DEFAULT  0x10002u

/* Prepared statements, cursors, parameters, long data. */

static void
a_query_takes_parameters(void **state)
{
	struct my *t = *state;
	struct cnc_value v[3] = { cnt_int(7), cnt_text("it's"), { .is_null = 1 } };

	assert_string_equal(
		my_query_with(t, "select ? + 1 as a, ? as b, ? is null as c", v, 3),
		"columns a:INT64 b:TEXT c:INT64\nrow 8|it's|1\ndone \n");
	assert_string_equal(my_query_with(t, "select ?", v, 2),
		"error 07001 0 the statement takes 1 parameters, 2 were given\n");
	assert_string_equal(my_query_with(t, "select 1", v, 1),
		"error 07001 0 the statement takes 0 parameters, 1 were given\n");
	/* the extended form of a query without parameters */
	t->base.is_extended = 1;
	assert_answer(t, "select 1 as a", "columns a:INT64\nrow 1\ndone \n");
	assert_prefix(my_query(t, "select 1; select 2"), "error 42000 1064 ");
	/* statements that the server cannot prepare */
	assert_prefix(my_query(t, "help 'nothing'"), "columns ");
	assert_contains(my_query(t, "create or replace table e1 (a int)"), "done");
	assert_prefix(
		my_query(t, "create trigger e1t before insert on e1 for each row set "
			    "@x = 1"),
		"done ");
	assert_contains(my_query(t, "drop table e1"), "done");
}

static struct cnc_value
native(uint32_t type, const void *bytes, size_t n)
{
	return (struct cnc_value){ .is_native = 1,
		.format = CENOTE_FORMAT_BINARY,
		.native_type = type,
		.bytes = bytes,
		.len = n };
}

static void
a_null_is_of_the_type_that_was_given(void **state)
{
	struct my *t = *state;
	struct cnc_value v = native(NATIVE_DATETIME, NULL, 0);

	v.is_null = 1;
	(void)my_query_with(t, "create or replace table n1 as select ? as v", &v, 1);
	assert_contains(my_query(t, "show create table n1"), "`v` datetime DEFAULT NULL");
	/* an impossible date goes to the server, which may refuse it */
	v = native(NATIVE_DATE, "\xe8\x07\x0d\x20", 4);
	assert_contains(my_query_with(t, "select date(?) as a", &v, 1), "row ");
	(void)my_query(t, "drop table n1");
}

#if MY_LIBRARY_IS_ORACLES

static void
rows_need_the_other_library(void **state)
{
	struct my *t = *state;
	struct cnc_value v[] = { cnt_int(1), cnt_int(2),
		native(NATIVE_ROWS, "\2\0\0\0", 4) };
	struct cnc_value word = native(NATIVE_DEFAULT, "", 0);

	(void)my_query(t, "create or replace table r1 (a int default 7)");
	assert_prefix(my_query_with(t, "insert into r1 values (?)", v, 3),
		"error 0A000 0 rows of parameters, and DEFAULT as one, need");
	assert_prefix(my_query_with(t, "insert into r1 values (?)", &word, 1),
		"error 0A000 0 rows of parameters, and DEFAULT as one, need");
	assert_prefix(my_query_with(t, "insert into r1 values (?)", v, 1), "done ");
	assert_answer(t, "select a from r1", "columns a:INT64\nrow 1\ndone \n");
	(void)my_query(t, "drop table r1");
}

#else

static void
rows_are_executed_as_one(void **state)
{
	struct my *t = *state;
	struct cnc_value v[] = { cnt_int(1), cnt_text("a"), cnt_int(2),
		native(NATIVE_DEFAULT, "", 0), cnt_int(3), { .is_null = 1 },
		native(NATIVE_ROWS, "\3\0\0\0", 4) };
	struct cnc_value wrong[] = { cnt_int(7), cnt_int(8), cnt_text("x"),
		native(NATIVE_ROWS, "\3\0\0\0", 4) };

	(void)my_query(t, "create or replace table r1 (a int primary key, b varchar(9) "
			  "default 'd') "
			  "engine=innodb");
	assert_contains(
		my_query_with(t, "insert into r1 values (?, ?)", v, 7), "affected=3");
	assert_answer(t, "select * from r1 order by a",
		"columns a:INT64 b:TEXT\nrow 1|a\nrow 2|d\nrow 3|NULL\ndone \n");
	/* all rows are undone together */
	v[0] = cnt_int(5);
	assert_prefix(my_query_with(t, "insert into r1 values (?, ?)", v, 7),
		"error 23000 1062 Duplicate entry '2'");
	assert_answer(
		t, "select count(*) as n from r1", "columns n:INT64\nrow 3\ndone \n");
	assert_string_equal(my_query_with(t, "insert into r1 (a) values (?)", wrong, 4),
		"error 22023 0 row 3 has a parameter of another type than row 1\n");
	assert_string_equal(my_query_with(t, "insert into r1 values (?, ?)", wrong, 4),
		"error 07001 0 the statement takes 2 parameters, 3 were given for 3 "
		"rows\n");
	/* then one row alone */
	assert_prefix(my_query_with(t, "insert into r1 values (?, ?)", v, 2), "done ");
	(void)my_query(t, "drop table r1");
}

#endif

static void
a_statement_is_prepared_executed_and_closed(void **state)
{
	struct my *t = *state;
	struct cnc_value v = cnt_int(2);

	(void)my_query(
		t, "create or replace table s1 (a int primary key, b varchar(10))");
	assert_string_equal(
		my_prepare(t, 1, "insert into s1 values (?, 'x')"), "params ?\ndone \n");
	assert_string_equal(my_execute(t, 1, 0, &v, 1), "done  affected=1\n");
	assert_prefix(my_execute(t, 1, 0, &v, 1), "error 23000 1062 Duplicate entry '2'");
	v = cnt_int(3);
	assert_string_equal(my_execute(t, 1, 0, &v, 1), "done  affected=1\n");
	assert_string_equal(my_prepare(t, 2, "select * from s1 where a >= ? order by a"),
		"params ?\ncolumns a:INT64 b:TEXT\ndone \n");
	v = cnt_int(0);
	assert_string_equal(my_execute(t, 2, 1, &v, 1),
		"columns = a:INT64 b:TEXT\nrow 2|x\nrow 3|x\ndone \n");
	assert_string_equal(
		my_describe(t, 2), "params ?\ncolumns a:INT64 b:TEXT\ndone \n");
	/* changed columns are sent even if the client knows the old ones */
	(void)my_query(t, "alter table s1 add d date");
	assert_prefix(
		my_execute(t, 2, 1, &v, 1), "columns a:INT64 b:TEXT d:DATE\nrow 2|x|");
	assert_prefix(
		my_execute(t, 2, 1, &v, 1), "columns = a:INT64 b:TEXT d:DATE\nrow 2|x|");
	(void)my_query(t, "alter table s1 change b e varchar(30)");
	assert_prefix(my_prepare(t, 3, "select s1.* from s1 where a = ?"), "params");
	(void)my_query(t, "alter table s1 change e f varchar(30)");
	v = cnt_int(2);
	assert_prefix(
		my_execute(t, 3, 1, &v, 1), "columns a:INT64 f:TEXT d:DATE\nrow 2|x|");
	assert_prefix(
		my_execute(t, 3, 1, &v, 1), "columns = a:INT64 f:TEXT d:DATE\nrow 2|x|");
	assert_prefix(my_describe(t, 3), "params ?\ncolumns a:INT64 f:TEXT d:DATE\n");
	assert_string_equal(my_close(t, 1), "done CLOSE\n");
	assert_prefix(my_execute(t, 1, 0, &v, 1), "error 26000 0 there is no prepared");
	assert_string_equal(my_close(t, 77), "done CLOSE\n");
	assert_prefix(my_prepare(t, 2, "select * from nothing"), "error 42S02 ");
	assert_prefix(my_describe(t, 5), "error 26000 ");
	assert_ok(my_reset(t));
	assert_prefix(my_execute(t, 2, 0, &v, 1), "error 26000 ");
	(void)my_query(t, "drop table s1");
}

static void
rows_come_in_batches_and_other_requests_in_between(void **state)
{
	struct my *t = *state;
	uint32_t portal;
	int i;

	t->base.batch_rows = 3;
	assert_answer(t, "select seq from seq_1_to_8",
		"columns seq:UINT64\nrow 1\nrow 2\nrow 3\ndone  more-rows\n");
	portal = t->base.portal;
	assert_int_equal(my_pins(t) & CENOTE_PIN_CURSOR, CENOTE_PIN_CURSOR);
	t->base.batch_rows = 0;
	assert_string_equal(my_value(t, "select 5"), "5");
	assert_string_equal(my_fetch(t, portal, 2, 0),
		"columns = seq:UINT64\nrow 4\nrow 5\ndone  more-rows\n");
	assert_prefix(my_query(t, "select * from nothing"), "error ");
	assert_string_equal(my_fetch(t, portal, 100, 1),
		"columns seq:UINT64\nrow 6\nrow 7\nrow 8\ndone \n");
	assert_prefix(my_fetch(t, portal, 1, 0), "error 34000 ");
	assert_int_equal(my_pins(t) & CENOTE_PIN_CURSOR, 0);
	/* many rows, more than one fetch from the server holds */
	t->base.count_only = 1;
	t->base.batch_rows = 1000;
	(void)my_query(t, "select seq from seq_1_to_5000");
	portal = t->base.portal;
	assert_int_equal(t->base.seen.n_rows, 1000);
	for (i = 0; i < 3; i++) {
		(void)my_fetch(t, portal, 1000, 0);
		assert_int_equal(t->base.seen.n_rows, 1000);
	}
	(void)my_fetch(t, portal, 0, 0);
	assert_int_equal(t->base.seen.n_rows, 1000);
	t->base.count_only = 0;
	/* the last row of the result is the last of its batch */
	t->base.batch_rows = 2;
	(void)my_query(t, "select seq from seq_1_to_2");
	assert_string_equal(
		my_fetch(t, t->base.portal, 2, 0), "columns = seq:UINT64\ndone \n");
}

static void
several_cursors_are_open_at_once(void **state)
{
	struct my *t = *state;
	uint32_t first, second;

	(void)my_prepare(t, 1, "select seq from seq_1_to_10");
	t->base.batch_rows = 2;
	(void)my_execute(t, 1, 0, NULL, 0);
	first = t->base.portal;
	(void)my_execute(t, 1, 0, NULL, 0);
	second = t->base.portal;
	assert_string_equal(my_fetch(t, first, 1, 0),
		"columns = seq:UINT64\nrow 3\ndone  more-rows\n");
	assert_string_equal(my_fetch(t, second, 2, 0),
		"columns = seq:UINT64\nrow 3\nrow 4\ndone  more-rows\n");
	t->base.batch_rows = 0;
	assert_contains(my_execute(t, 1, 0, NULL, 0), "row 10\n");
	cnd_portal_close(&t->base.seen.statements, t->base.s, first);
	cnd_portal_close(&t->base.seen.statements, t->base.s, 4711);
	(void)my_close(t, 1);
	assert_string_equal(my_fetch(t, second, 1, 0),
		"columns = seq:UINT64\nrow 5\ndone  more-rows\n");
	assert_ok(my_reset(t));
	assert_prefix(my_fetch(t, second, 1, 0), "error 34000 ");
	assert_int_equal(my_pins(t), 0);
}

static void
what_has_no_cursor_comes_as_one(void **state)
{
	struct my *t = *state;

	t->base.batch_rows = 1;
	assert_answer(t, "select 1 union select 2; select 3",
		"columns 1:INT64\nrow 1\nrow 2\ndone  more-results\n"
		"columns 3:INT64\nrow 3\ndone \n");
	(void)my_query(t, "create or replace procedure w1() select 1 union select 2");
	assert_answer(t, "call w1()",
		"columns 1:INT64\nrow 1\nrow 2\ndone  more-results\ndone  affected=0\n");
	(void)my_query(t, "drop procedure w1");
	assert_int_equal(my_pins(t) & CENOTE_PIN_CURSOR, 0);
	assert_contains(my_query(t, "do 1"), "done");
}

static void
a_cursor_outlives_its_transaction(void **state)
{
	struct my *t = *state;
	uint32_t portal;

	(void)my_query(t, "create or replace table c1 (a int) engine=innodb");
	(void)my_query(t, "insert into c1 values (1), (2), (3)");
	(void)my_begin(t, 0, 0);
	t->base.batch_rows = 1;
	assert_contains(my_query(t, "select a from c1"), "more-rows");
	portal = t->base.portal;
	t->base.batch_rows = 0;
	(void)my_query(t, "delete from c1");
	(void)my_commit(t);
	assert_contains(my_fetch(t, portal, 0, 0), "row 2\nrow 3\ndone");
	(void)my_query(t, "drop table c1");
}

static void
output_parameters_come_as_a_result_of_their_own(void **state)
{
	struct my *t = *state;
	struct cnc_value v[3] = { cnt_int(5), cnt_int(0), cnt_text("") };

	(void)my_query(t, "create or replace procedure o1(in a int, out b int, inout c "
			  "varchar(20)) begin select a as first; set b = a * 2, c = "
			  "concat(c, 'end'); end");
	v[2] = cnt_text("the ");
	assert_string_equal(my_query_with(t, "call o1(?, ?, ?)", v, 3),
		"columns first:INT64\nrow 5\ndone  more-results\n"
		"columns b:INT64 c:TEXT\nrow 10|the end\ndone  more-results output\n"
		"done  affected=0\n");
	assert_string_equal(
		my_prepare(t, 1, "call o1(?, ?, ?)"), "params ? ? ?\ndone \n");
	assert_contains(
		my_execute(t, 1, 0, v, 3), "row 10|the end\ndone  more-results output");
	assert_contains(
		my_execute(t, 1, 0, v, 3), "row 10|the end\ndone  more-results output");
	(void)my_query(t, "drop procedure o1");
}

/* MySQL 9.0 and MariaDB 11.7 brought them. They are the bytes of their numbers. */
static void
vectors_come_and_go_as_bytes(void **state)
{
	/* 1.1, 2.2, 3.3 */
	static const char three[] = "\xcd\xcc\x8c?\xcd\xcc\x0c@33S@";
	static const char both[] = "columns v:BYTES\nrow \xcd\xcc\x8c?\xcd\xcc\x0c@33S@\n"
				   "row \xcd\xcc\x8c?\xcd\xcc\x0c@33S@\ndone \n";
	struct my *t = *state;
	struct cnc_value v[2] = { cnt_int(2), { .type = CENOTE_TYPE_BYTES } };
	const char *seen = my_query(t, "create table vec (id int, v vector(3))");

	if (strncmp(seen, "error", 5) == 0) {
		assert_string_equal(my_value(t, "select version() < '11.7'"), "1");
		return;
	}
	v[1].bytes = three;
	v[1].len = sizeof(three) - 1;
	assert_contains(
		my_query(t, "insert into vec values (1, x'cdcc8c3fcdcc0c4033335340')"),
		"done");
	assert_contains(
		my_query_with(t, "insert into vec values (?, ?)", v, 2), "affected=1");
	for (int extended = 0; extended < 2; extended++) {
		t->base.is_extended = (uint8_t)extended;
		assert_answer(t, "select v from vec order by id", both);
	}
	t->base.is_extended = 0;
	assert_string_equal(my_value(t, "select count(*) from vec where hex(v) = "
					"'CDCC8C3FCDCC0C4033335340'"),
		"2");
	(void)my_query(t, "drop table vec");
}

static void
values_come_in_pieces(void **state)
{
	struct my *t = *state;
	struct cnc_value v[2] = { cnt_int(1),
		{ .type = CENOTE_TYPE_BYTES, .is_long = 1 } };
	char *piece = malloc(1 << 20);
	int i;

	assert_non_null(piece);
	memset(piece, 'p', 1 << 20);
	(void)my_query(t, "create or replace table l1 (a int, b longblob)");
	(void)my_prepare(t, 1, "insert into l1 values (?, ?)");
	for (i = 0; i < 20; i++)
		assert_string_equal(my_long_data(t, 1, 1, piece, 1 << 20), "ok\n");
	assert_string_equal(my_execute(t, 1, 0, v, 2), "done  affected=1\n");
	assert_string_equal(my_value(t, "select length(b) from l1"), "20971520");
	/* the next execution begins with new long data */
	assert_string_equal(my_long_data(t, 1, 1, "ab", 2), "ok\n");
	assert_string_equal(my_long_data(t, 1, 1, "", 0), "ok\n");
	assert_string_equal(my_long_data(t, 1, 1, "cd", 2), "ok\n");
	v[0] = cnt_int(2);
	assert_string_equal(my_execute(t, 1, 0, v, 2), "done  affected=1\n");
	assert_string_equal(my_value(t, "select b from l1 where a = 2"), "abcd");
	assert_string_equal(my_long_data(t, 1, 1, "", 0), "ok\n");
	v[0] = cnt_int(3);
	assert_string_equal(my_execute(t, 1, 0, v, 2), "done  affected=1\n");
	assert_string_equal(
		my_value(t, "select concat('<', b, '>') from l1 where a = 3"), "<>");
	/* and a plain value after a long one */
	v[0] = cnt_int(4);
	v[1] = cnt_text("plain");
	assert_string_equal(my_execute(t, 1, 0, v, 2), "done  affected=1\n");
	assert_string_equal(my_value(t, "select b from l1 where a = 4"), "plain");
	/* long data that never came is an error, and the session still works */
	v[1] = (struct cnc_value){ .type = CENOTE_TYPE_BYTES, .is_long = 1 };
	assert_prefix(my_execute(t, 1, 0, v, 2), "error 07");
	assert_string_equal(my_value(t, "select count(*) from l1"), "4");
	assert_prefix(my_long_data(t, 1, 2, "x", 1), "error 07001 ");
	assert_prefix(my_long_data(t, 9, 0, "x", 1), "error 26000 ");
	(void)my_query(t, "drop table l1");
	free(piece);
}

static void
each_column_has_its_format(void **state)
{
	struct my *t = *state;

	t->formats = "021";
	t->base.format = CENOTE_FORMAT_TEXT;
	assert_prefix(my_query(t, "select 258 as a, 16706 as b, 1.50 as c"),
		"columns a:INT64 b:INT64 c:DECIMAL\nrow 258|BA");
	t->formats = "00";
	assert_prefix(my_query(t, "select 1, 2, 3"), "error 08P01 ");
	t->formats = NULL;
	t->base.format = CENOTE_FORMAT_BINARY;
	assert_prefix(my_query(t, "select 'x' as a, 1094861636 as b"),
		"columns a:TEXT b:INT64\nrow x|DCBA");
	t->base.format = CENOTE_FORMAT_CANONICAL;
	assert_prefix(my_query(t, "select 1.0e0 / 3 as a"),
		"columns a:DOUBLE\nrow 0.3333333333333333\n");
	t->base.format = CENOTE_FORMAT_TEXT;
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
the_transaction_state_follows_prepared_statements(void **state)
{
	struct my *t = *state;

	(void)my_prepare(t, 1, "commit");
	(void)my_begin(t, 0, 0);
	assert_string_equal(my_tx(t), "open");
	assert_contains(my_execute(t, 1, 0, NULL, 0), "done");
	assert_string_equal(my_tx(t), "idle");
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_query_takes_parameters),
		T(a_null_is_of_the_type_that_was_given),
#if MY_LIBRARY_IS_ORACLES
		T(rows_need_the_other_library),
#else
		T(rows_are_executed_as_one),
#endif
		T(a_statement_is_prepared_executed_and_closed),
		T(rows_come_in_batches_and_other_requests_in_between),
		T(several_cursors_are_open_at_once),
		T(what_has_no_cursor_comes_as_one),
		T(a_cursor_outlives_its_transaction),
		T(output_parameters_come_as_a_result_of_their_own),
		T(vectors_come_and_go_as_bytes),
		T(values_come_in_pieces),
		T(each_column_has_its_format),
		T(the_transaction_state_follows_prepared_statements),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_stmt", 0);
}
