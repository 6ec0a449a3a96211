/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Queries in the text protocol, files, transactions. */

static void
a_query_gives_columns_rows_and_the_servers_facts(void **state)
{
	struct my *t = *state;

	assert_answer(t, "select 1 as a, 'x' as b, null as c",
		"columns a:INT64 b:TEXT c:TEXT\nrow 1|x|NULL\ndone \n");
	assert_answer(t,
		"create table q1 (a int auto_increment primary key, "
		"b varchar(10))",
		"done  affected=0\n");
	assert_answer(t, "insert into q1 (b) values ('x'), ('ü'), ('z')",
		"done Records: 3  Duplicates: 0  Warnings: 0 affected=3 id=1\n");
	assert_answer(t, "update q1 set b = 'y' where a < 3",
		"done Rows matched: 2  Changed: 2  Warnings: 0 affected=2\n");
	/* rows that were found and not changed do not count, unless found_rows=yes */
	assert_contains(my_query(t, "update q1 set b = 'y'"), "Changed: 1");
	assert_answer(t, "select * from q1",
		"columns a:INT64 b:TEXT\nrow 1|y\nrow 2|y\nrow 3|y\ndone \n");
	assert_answer(t, "select cast('12x' as signed)",
		"columns cast('12x' as signed):INT64\nrow 12\ndone  warnings=1\n");
	assert_answer(t, "delete from q1", "done  affected=3\n");
	(void)my_query(t, "drop table q1");
}

static void
an_error_has_the_servers_words_number_and_sqlstate(void **state)
{
	struct my *t = *state;

	assert_answer(t, "select * from nothing_here",
		"error 42S02 1146 Table 'app.nothing_here' doesn't exist\n");
	assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
	assert_string_equal(cnc_diag_field(&t->base.diag, 'B'), my_server.socket);
	assert_prefix(my_query(t, "selec 1"), "error 42000 1064 You have an error");
	assert_answer(t,
		"signal sqlstate '45000' set message_text='why', "
		"mysql_errno=31001",
		"error 45000 31001 why\n");
	assert_answer(t, "select 1", "columns 1:INT64\nrow 1\ndone \n");
}

static void
an_empty_text_is_no_error(void **state)
{
	struct my *t = *state;

	assert_answer(t, "", "done  empty\n");
	assert_answer(t, " -- nothing\n", "done  empty\n");
	assert_answer(t, "select 1", "columns 1:INT64\nrow 1\ndone \n");
}

static void
several_statements_give_several_results(void **state)
{
	struct my *t = *state;

	assert_answer(t, "select 1; do 0; select 2 as b",
		"columns 1:INT64\nrow 1\ndone  more-results\n"
		"done  affected=0 more-results\ncolumns b:INT64\nrow 2\ndone \n");
	assert_prefix(my_query(t, "select 1; select * from nothing; select 3"),
		"columns 1:INT64\nrow 1\ndone  more-results\nerror 42S02 1146 ");
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
several_statements_can_be_forbidden(void **state)
{
	struct my *t = *state;

	assert_string_equal(my_set_option(t, "multi_statements", "off"), "ok\n");
	assert_prefix(my_query(t, "select 1; select 2"), "error 42000 1064 ");
	assert_string_equal(my_value(t, "select 1;"), "1");
	assert_string_equal(my_set_option(t, "multi_statements", "on"), "ok\n");
	assert_contains(my_query(t, "select 1; select 2"), "row 2");
	assert_string_equal(my_set_option(t, "multi_statements", "off"), "ok\n");
	assert_prefix(my_query(t, "select 1; select 2"), "error 42000 1064 ");
	/* after a reset, the next client can send several statements again */
	assert_ok(my_reset(t));
	assert_contains(my_query(t, "select 1; select 2"), "row 2");
	assert_prefix(my_set_option(t, "multi_statement", "on"), "error 22023 ");
	assert_prefix(my_set_option(t, "multi_statements", "perhaps"), "error 22023 ");
	assert_prefix(my_set_option(t, "found_rows", "on"), "error 22023 ");
	assert_string_equal(my_set_option(t, "found_rows", "off"), "ok\n");
}

static void
procedures_give_all_their_results(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "drop procedure if exists p1");
	assert_answer(t,
		"create procedure p1() begin select 1 as a; select 'x' as b "
		"from dual where 0; update dual_t set a = 2; end",
		"done  affected=0\n");
	(void)my_query(t, "create table dual_t (a int)");
	(void)my_query(t, "insert into dual_t values (1)");
	assert_answer(t, "call p1()",
		"columns a:INT64\nrow 1\ndone  more-results\n"
		"columns b:TEXT\ndone  more-results\ndone  affected=1\n");
	(void)my_query(t, "drop table dual_t");
	(void)my_query(t, "drop procedure p1");
}

static void
rows_can_be_bounded(void **state)
{
	struct my *t = *state;

	t->base.max_rows = 2;
	assert_answer(t, "select seq from seq_1_to_100000",
		"columns seq:UINT64\nrow 1\nrow 2\ndone  limited\n");
	t->base.max_rows = 0;
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
a_long_result_streams(void **state)
{
	struct my *t = *state;

	t->base.count_only = 1;
	(void)my_query(t, "select seq, repeat('x', 1000) from seq_1_to_20000");
	assert_ok(t->base.last);
	assert_int_equal(t->base.seen.n_rows, 20000);
	assert_true(t->base.seen.longest < 65536);
	t->base.count_only = 0;
}

/* The rows of the next test have all lengths. So they end anywhere in the bytes of one read, and
 * some are longer than one read. */
#define UNEVEN_ROWS 300
#define UNEVEN_SQL                                                                       \
	"select seq, repeat('y', seq * 371 mod 18000), if(seq mod 3, null, -seq) "       \
	"from seq_1_to_300"

static char *
uneven_rows(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (int i = 1; i <= UNEVEN_ROWS; i++) {
		fprintf(f, "row %d|", i);
		for (int k = 0; k < i * 371 % 18000; k++)
			fputc('y', f);
		if (i % 3)
			fprintf(f, "|NULL\n");
		else
			fprintf(f, "|%d\n", -i);
	}
	assert_int_equal(fclose(f), 0);
	return text;
}

static void
rows_are_whole_wherever_a_read_ends(void **state)
{
	struct my *t = *state;
	char *wanted = uneven_rows();
	size_t len = strlen(wanted);

	for (uint8_t is_extended = 0; is_extended < 2; is_extended++) {
		const char *rows;

		t->base.is_extended = is_extended;
		rows = strchr(my_query(t, UNEVEN_SQL), '\n');
		assert_non_null(rows);
		assert_true(strncmp(rows + 1, wanted, len) == 0);
		assert_string_equal(rows + 1 + len, "done \n");
		assert_string_equal(my_value(t, "select 5"), "5");
	}
	t->base.is_extended = 0;
	free(wanted);
}

static void
a_row_that_is_too_long_leaves_the_session_whole(void **state)
{
	struct my *t = *state;

	t->base.fail_rows_at = 3;
	assert_contains(my_query(t, "select seq from seq_1_to_100000; select 2"),
		"error 00000 0 limit");
	t->base.fail_rows_at = 0;
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
large_values_pass_in_both_directions(void **state)
{
	struct my *t = *state;
	size_t n = (size_t)20 << 20;
	char *text = malloc(n + 64);
	struct cnc_value v;
	size_t n_text;

	assert_non_null(text);
	assert_string_equal(
		my_value(t, "select length(repeat('x', 16777215))"), "16777215");
	n_text = (size_t)snprintf(text, 64, "select length('");
	memset(text + n_text, 'a', n);
	snprintf(text + n_text + n, 8, "')");
	assert_int_equal(
		cnt_server_sql(&my_server, "set global max_allowed_packet = 1073741824"),
		0);
	my_logout(t);
	assert_ok(my_login(t));
	assert_string_equal(my_value(t, text), "20971520");
	t->base.count_only = 1;
	assert_prefix(my_query(t, "select repeat('x', 20971520)"), "columns");
	assert_ok(t->base.last);
	assert_true(t->base.seen.longest > n);
	t->base.count_only = 0;
	v = (struct cnc_value){ .type = CENOTE_TYPE_BYTES, .bytes = text, .len = n };
	assert_contains(my_query_with(t, "select length(?)", &v, 1), "row 20971520");
	free(text);
	/* the reset asks for a new login, so that the worker does not keep the library's large
	 * buffer */
	assert_int_equal(my_reset(t), CENOTE_ERR_UNSUPPORTED);
	my_logout(t);
	assert_ok(my_login(t));
	assert_string_equal(my_value(t, "select length(repeat('x', 500000))"), "500000");
	assert_ok(my_reset(t));
}

/* ---- transactions ---- */

static void
transactions_begin_commit_and_roll_back(void **state)
{
	struct my *t = *state;
	char sql[160], level[32];

	/* MySQL also reports the state of the transaction */
	(void)my_query(
		t, "create or replace table tx1 (a int primary key) engine=innodb");
	assert_string_equal(my_tx(t), "idle");
	assert_contains(
		my_begin(t, CENOTE_ISOLATION_DEFAULT, 0), "done BEGIN affected=0\n");
	assert_string_equal(my_tx(t), "open");
	assert_prefix(my_begin(t, CENOTE_ISOLATION_DEFAULT, 0), "error 25001 ");
	(void)my_query(t, "insert into tx1 values (1)");
	assert_contains(my_rollback(t), "done ROLLBACK affected=0\n");
	assert_contains(my_rollback(t), "done ROLLBACK affected=0\n");
	assert_string_equal(my_tx(t), "idle");
	(void)my_begin(t, CENOTE_ISOLATION_SERIALIZABLE, 0);
	(void)my_query(t, "insert into tx1 values (2)");
	snprintf(sql, sizeof(sql),
		"select trx_isolation_level from information_schema.innodb_trx where "
		"trx_mysql_thread_id = %s",
		my_value(t, "select connection_id()"));
	assert_int_equal(cnt_server_ask(&my_server, sql, level, sizeof(level)), 0);
	assert_prefix(level, "SERIALIZABLE");
	assert_contains(my_commit(t), "done COMMIT affected=0\n");
	/* only that one transaction was serializable */
	assert_string_equal(my_value(t, "select @@tx_isolation"), "REPEATABLE-READ");
	assert_string_equal(my_value(t, "select group_concat(a) from tx1"), "2");
	(void)my_begin(t, CENOTE_ISOLATION_DEFAULT, CENOTE_BEGIN_READ_ONLY);
	assert_prefix(my_query(t, "insert into tx1 values (3)"), "error 25006 1792 ");
	(void)my_rollback(t);
	assert_contains(my_begin(t, 9, 0), "unsupported");
	assert_contains(my_begin(t, 0, CENOTE_BEGIN_IMMEDIATE), "done BEGIN");
	(void)my_rollback(t);
	(void)my_query(t, "drop table tx1");
}

static void
savepoints_take_any_name(void **state)
{
	struct my *t = *state;

	(void)my_query(
		t, "create or replace table tx2 (a int primary key) engine=innodb");
	(void)my_begin(t, 0, 0);
	(void)my_query(t, "insert into tx2 values (1)");
	assert_string_equal(
		my_savepoint(t, 0, "a `b` \\ 'c'"), "done SAVEPOINT affected=0\n");
	(void)my_query(t, "insert into tx2 values (2)");
	assert_string_equal(
		my_savepoint(t, 2, "a `b` \\ 'c'"), "done ROLLBACK affected=0\n");
	assert_string_equal(
		my_savepoint(t, 1, "a `b` \\ 'c'"), "done RELEASE affected=0\n");
	assert_prefix(my_savepoint(t, 1, "a"), "error 42000 1305 ");
	assert_prefix(my_savepoint(t, 0, ""), "error 3B001 ");
	assert_string_equal(my_tx(t), "open");
	(void)my_commit(t);
	assert_string_equal(my_value(t, "select group_concat(a) from tx2"), "1");
	(void)my_query(t, "drop table tx2");
}

static void
without_autocommit_a_transaction_begins_by_itself(void **state)
{
	struct my *t = *state;

	(void)my_query(
		t, "create or replace table tx3 (a int primary key) engine=innodb");
	assert_contains(my_autocommit(t, 0), "done SET");
	assert_int_equal(my_pins(t) & CENOTE_PIN_SETTINGS, 0);
	(void)my_query(t, "insert into tx3 values (1)");
	assert_string_equal(my_tx(t), "open");
	(void)my_rollback(t);
	assert_string_equal(my_tx(t), "idle");
	assert_contains(my_autocommit(t, 1), "done SET");
	assert_string_equal(my_value(t, "select count(*) from tx3"), "0");
	(void)my_query(t, "set autocommit = 0");
	assert_int_equal(my_pins(t) & CENOTE_PIN_SETTINGS, CENOTE_PIN_SETTINGS);
	(void)my_query(t, "insert into tx3 values (1)");
	assert_ok(my_reset(t));
	assert_string_equal(my_tx(t), "idle");
	assert_string_equal(my_value(t, "select @@autocommit"), "1");
	assert_string_equal(my_value(t, "select count(*) from tx3"), "0");
	(void)my_query(t, "drop table tx3");
}

/* An ERR packet does not say whether the transaction is still open, but the session's state must
 * be right. */
static void
the_state_is_true_after_a_deadlock(void **state)
{
	struct my *t = *state, other;

	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	(void)my_query(t, "create or replace table tx4 (a int primary key, b int) "
			  "engine=innodb");
	(void)my_query(t, "insert into tx4 values (1, 1), (2, 2)");
	(void)my_query(&other, "set innodb_lock_wait_timeout = 1");
	(void)my_begin(t, 0, 0);
	(void)my_begin(&other, 0, 0);
	(void)my_query(t, "update tx4 set b = 3 where a = 1");
	(void)my_query(&other, "update tx4 set b = 3 where a = 2");
	/* a plain failure leaves the transaction open */
	assert_prefix(my_query(&other, "select * from nothing"), "error 42S02");
	assert_string_equal(my_tx(&other), "open");
	assert_prefix(my_query(&other, "update tx4 set b = 4 where a = 1"),
		"error 55P03 1205 ");
	assert_string_equal(my_tx(&other), "open");
	(void)my_rollback(&other);
	(void)my_rollback(t);
	/* a transaction that a procedure began stays open when the procedure fails */
	(void)my_query(t, "create or replace procedure p4() begin start transaction; "
			  "insert into tx4 values (9, 9); signal sqlstate '45000'; end");
	assert_prefix(my_query(t, "call p4()"), "error 45000 ");
	assert_string_equal(my_tx(t), "open");
	(void)my_rollback(t);
	(void)my_query(t, "drop procedure p4");
	(void)my_query(t, "drop table tx4");
	my_finish(&other);
}

/* ---- files ---- */

static void
a_file_comes_from_the_client(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "create or replace table f1 (a int, b varchar(20))");
	t->file = "1\tone\n2\ttwo\n3\tthree\n";
	t->file_len = strlen(t->file);
	for (t->file_piece = 1; t->file_piece < 30; t->file_piece += 7) {
		assert_answer(t, "load data local infile '/no/such file' into table f1",
			"file /no/such file\ndone Records: 3  Deleted: 0  Skipped: 0  "
			"Warnings: 0 affected=3\n");
	}
	assert_string_equal(
		my_value(t, "select concat(count(*), max(b)) from f1"), "15two");
	t->file_len = 0;
	assert_contains(
		my_query(t, "load data local infile 'x' into table f1"), "Records: 0");
	t->file = NULL;
	assert_answer(t, "load data local infile 'x' into table f1",
		"file x\nerror 57014 0 the client does not send that\n");
	assert_string_equal(my_value(t, "select count(*) from f1"), "15");
	(void)my_query(t, "drop table f1");
}

static void
a_large_file_passes(void **state)
{
	struct my *t = *state;
	size_t n = (size_t)8 << 20, i;
	char *text = malloc(n);

	assert_non_null(text);
	for (i = 0; i < n; i++)
		text[i] = i % 64 == 63 ? '\n' : 'a';
	(void)my_query(t, "create or replace table f2 (a varchar(100))");
	t->file = text;
	t->file_len = n;
	t->file_piece = 100000;
	assert_contains(my_query(t, "load data local infile 'x' into table f2"),
		"affected=131072");
	assert_string_equal(my_value(t, "select sum(length(a)) from f2"), "8257536");
	(void)my_query(t, "drop table f2");
	t->file = NULL;
	free(text);
}

static void
no_file_is_read_where_the_pool_does_not_allow_it(void **state)
{
	struct my t;

	my_init(&t);
	my_app(&t);
	assert_ok(my_login(&t));
	(void)my_query(&t, "create or replace table f3 (a int)");
	t.file = "1\n";
	t.file_len = 2;
	assert_prefix(my_query(&t, "load data local infile 'x' into table f3"), "error ");
	assert_int_equal(t.base.last, CENOTE_ERR_SERVER);
	assert_string_equal(my_value(&t, "select count(*) from f3"), "0");
	(void)my_query(&t, "drop table f3");
	my_finish(&t);
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_query_gives_columns_rows_and_the_servers_facts),
		T(an_error_has_the_servers_words_number_and_sqlstate),
		T(an_empty_text_is_no_error),
		T(several_statements_give_several_results),
		T(several_statements_can_be_forbidden),
		T(procedures_give_all_their_results),
		T(rows_can_be_bounded),
		T(a_long_result_streams),
		T(rows_are_whole_wherever_a_read_ends),
		T(a_row_that_is_too_long_leaves_the_session_whole),
		T(large_values_pass_in_both_directions),
		T(transactions_begin_commit_and_roll_back),
		T(savepoints_take_any_name),
		T(without_autocommit_a_transaction_begins_by_itself),
		T(the_state_is_true_after_a_deadlock),
		T(a_file_comes_from_the_client),
		T(a_large_file_passes),
		cmocka_unit_test(no_file_is_read_where_the_pool_does_not_allow_it),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_query", 0);
}
