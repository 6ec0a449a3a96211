/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "library.h"
#include "rig.h"

/*
 * Prepared statements and connections in Oracle's library (9.7), where MariaDB's library differs.
 * So no scene can compare the two.
 */

static struct cmy_original f;
static struct cnt_rig rig;
static MYSQL *my;

static MYSQL_STMT *
prepare(const char *sql)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	if (f.mysql_stmt_prepare(stmt, sql, strlen(sql)) != 0)
		fail_msg("%s: %s", sql, f.mysql_stmt_error(stmt));
	return stmt;
}

static void
run(const char *sql)
{
	const char *first, *then = cnt_server_statement(sql, &first);

	if ((first && f.mysql_query(my, first) != 0) || f.mysql_query(my, then) != 0)
		fail_msg("%s: %s", sql, f.mysql_error(my));
}

static long long
call(MYSQL_STMT *stmt, const char *name)
{
	if (strcmp(name, "execute") == 0)
		return f.mysql_stmt_execute(stmt);
	if (strcmp(name, "store") == 0)
		return f.mysql_stmt_store_result(stmt);
	if (strcmp(name, "fetch") == 0)
		return f.mysql_stmt_fetch(stmt);
	if (strcmp(name, "next") == 0)
		return f.mysql_stmt_next_result(stmt);
	if (strcmp(name, "reset") == 0)
		return f.mysql_stmt_reset(stmt);
	if (strcmp(name, "errno") == 0)
		return f.mysql_stmt_errno(stmt);
	if (strcmp(name, "fields") == 0)
		return f.mysql_stmt_field_count(stmt);
	if (strcmp(name, "affected") == 0)
		return (long long)f.mysql_stmt_affected_rows(stmt);
	if (strcmp(name, "rows") == 0)
		return (long long)f.mysql_stmt_num_rows(stmt);
	fail_msg("there is no call \"%s\"", name);
	return 0;
}

/* Make the calls in turn, and check what each returns, as in "fetch 0, errno 0". 100 is
 * MYSQL_NO_DATA. */
static void
expect(MYSQL_STMT *stmt, const char *calls)
{
	const char *at = calls;
	long long wanted, r;
	char name[16];

	for (int n; sscanf(at, "%15s %lld%n", name, &wanted, &n) == 2; at += n) {
		r = call(stmt, name);
		if (r != wanted)
			fail_msg(
				"%s: %s gave %lld before \"%s\"", calls, name, r, at + n);
		n += at[n] == ',';
	}
}

static MYSQL_STMT *
prepare_with_cursor(const char *sql)
{
	MYSQL_STMT *stmt = prepare(sql);
	unsigned long type = CURSOR_TYPE_READ_ONLY;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	return stmt;
}

static void
results_that_were_told_of_are_skipped(void **state)
{
	MYSQL_STMT *stmt = prepare("call three()");

	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	/* the second result was not announced yet */
	expect(stmt, "next 1, errno 2014");
	f.mysql_stmt_close(stmt);
	stmt = prepare("call three()");
	expect(stmt, "execute 0, store 0, next 0, next 0, fetch 0, next 0, fields 0");
	/* the affected rows of the execution itself */
	expect(stmt, "affected 1, next -1");
	f.mysql_stmt_close(stmt);
	run("do 1");
}

static void
results_stay_when_another_statement_is_closed(void **state)
{
	MYSQL_STMT *other = prepare("select 1"), *stmt = prepare("call three()");

	expect(stmt, "execute 0, store 0");
	assert_true(f.mysql_stmt_close(other));
	expect(stmt, "next 0, fetch 0");
	f.mysql_stmt_close(stmt);
	run("do 1");
}

static void
what_has_no_cursor_is_stored_at_once(void **state)
{
	static const char *const texts[] = { "call three()", "explain select 1",
		"insert into t values (1) returning a" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		MYSQL_STMT *stmt = prepare_with_cursor(texts[i]);

		expect(stmt, "execute 0, rows 1, fetch 0, fetch 100");
		while (f.mysql_stmt_next_result(stmt) == 0)
			;
		f.mysql_stmt_close(stmt);
		run("do 1");
	}
}

/* Open a cursor on five rows, and fetch `n_fetched` of them, in portions of `portion` rows. */
static MYSQL_STMT *
begin_to_fetch(unsigned long portion, int n_fetched, MYSQL_BIND *b)
{
	MYSQL_STMT *stmt = prepare_with_cursor("select seq from seq_1_to_5");

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &portion);
	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(f.mysql_stmt_bind_result(stmt, b), 0);
	for (int i = 0; i < n_fetched; i++)
		assert_int_equal(f.mysql_stmt_fetch(stmt), 0);
	return stmt;
}

static void
a_cursor_is_stored_with_the_row_that_came_alone(void **state)
{
	static const struct {
		unsigned long portion;
		int n_fetched, n_rows, first;
	} cases[] = { { 1, 0, 5, 1 }, { 1, 1, 5, 1 }, { 1, 3, 3, 3 }, { 1, 5, 1, 5 },
		{ 2, 2, 5, 3 }, { 2, 4, 3, 5 }, { 3, 3, 5, 4 } };

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int number;
		/* the library uses this buffer until the statement is closed */
		MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };
		int first = cases[i].first, n_fetched = cases[i].n_fetched;
		MYSQL_STMT *stmt = begin_to_fetch(cases[i].portion, n_fetched, &b);

		assert_int_equal(f.mysql_stmt_store_result(stmt), 0);
		assert_int_equal(f.mysql_stmt_num_rows(stmt), cases[i].n_rows);
		assert_int_equal(f.mysql_stmt_affected_rows(stmt), cases[i].n_rows);
		if (n_fetched > 0) {
			assert_int_equal(f.mysql_stmt_fetch_column(stmt, &b, 0, 0), 0);
			assert_int_equal(number, n_fetched);
		}
		f.mysql_stmt_data_seek(stmt, 0);
		for (int n = first; n <= 5; n++) {
			assert_int_equal(f.mysql_stmt_fetch(stmt), 0);
			assert_int_equal(number, n);
		}
		assert_int_equal(f.mysql_stmt_fetch(stmt), MYSQL_NO_DATA);
		assert_int_equal(f.mysql_stmt_num_rows(stmt), cases[i].n_rows);
		f.mysql_stmt_close(stmt);
	}
}

static void
the_last_rows_of_a_cursor_are_not_stored(void **state)
{
	int number;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };
	MYSQL_STMT *stmt = begin_to_fetch(3, 4, &b);

	expect(stmt, "store 1, errno 2014, fetch 0");
	assert_int_equal(number, 5);
	assert_int_equal(f.mysql_stmt_fetch(stmt), MYSQL_NO_DATA);
	f.mysql_stmt_close(stmt);
}

static int
execute_another(MYSQL_STMT *stmt)
{
	return f.mysql_stmt_execute(stmt) || f.mysql_stmt_store_result(stmt);
}

static int
reset_another(MYSQL_STMT *stmt)
{
	return f.mysql_stmt_reset(stmt);
}

static int
free_another(MYSQL_STMT *stmt)
{
	return f.mysql_stmt_free_result(stmt);
}

static int
prepare_another(MYSQL_STMT *stmt)
{
	return f.mysql_stmt_prepare(stmt, "do 1", 4);
}

static int
close_another(MYSQL_STMT *stmt)
{
	return f.mysql_stmt_close(stmt);
}

static void
rows_are_thrown_away_for_another_statement(void **state)
{
	static int (*const calls[])(MYSQL_STMT *) = { execute_another, reset_another,
		free_another, prepare_another, close_another };

	for (size_t i = 0; i < CNT_COUNT(calls); i++) {
		MYSQL_STMT *other = prepare("select 1"),
			   *stmt = prepare("select seq from seq_1_to_3");

		assert_int_equal(execute_another(other), 0);
		expect(stmt, "execute 0, fetch 0");
		assert_int_equal(calls[i](other), 0);
		expect(stmt, "fetch 1, errno 2050, fetch 1, errno 2053");
		if (calls[i] != close_another)
			f.mysql_stmt_close(other);
		f.mysql_stmt_close(stmt);
		run("do 1");
	}
}

/* Only a statement that was executed, and can have rows, drops other rows. */
static void
rows_stay_behind_a_reset_of_what_was_not_executed(void **state)
{
	MYSQL_STMT *other = prepare("select 1"),
		   *stmt = prepare("select seq from seq_1_to_3");
	int number;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };

	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	expect(other, "reset 1, errno 2014");
	assert_int_equal(f.mysql_stmt_bind_result(other, &b), 0);
	assert_int_equal(f.mysql_stmt_fetch(stmt), 0);
	f.mysql_stmt_close(other);
	f.mysql_stmt_close(stmt);
	run("do 1");
}

/* The library takes the refused piece as sent, so the server finds that it is missing. */
static void
a_piece_out_of_turn_is_missed(void **state)
{
	MYSQL_STMT *stmt = prepare("select ?");
	char word[] = "word";
	unsigned long length = 4;
	MYSQL_BIND b = {
		.buffer_type = MYSQL_TYPE_STRING, .buffer = word, .length = &length
	};

	assert_int_equal(f.mysql_stmt_bind_param(stmt, &b), 0);
	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(f.mysql_stmt_send_long_data(stmt, 0, "one", 3), 1);
	expect(stmt, "errno 2014, fetch 0, fetch 100, execute 1, errno 1210");
	f.mysql_stmt_close(stmt);
	run("do 1");
}

/* Rows are cancelled, and then their connection is lost. */
static void
cancelled_rows_of_no_connection_are_lost(void **state)
{
	MYSQL_STMT *other = prepare("select 1"),
		   *stmt = prepare("select seq from seq_1_to_3");

	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(f.mysql_stmt_close(other), 0);
	assert_int_equal(f.mysql_reset_connection(my), 0);
	expect(stmt, "fetch 1, errno 2013");
	f.mysql_stmt_close(stmt);
}

static void
executing_tells_lengths_anew(void **state)
{
	MYSQL_STMT *stmt =
		prepare("select if(seq = 1, null, '12345678') from seq_1_to_2");
	int number;
	unsigned long length = 0;
	my_bool is_null;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG,
		.buffer = &number,
		.length = &length,
		.is_null = &is_null };

	assert_int_equal(f.mysql_stmt_bind_result(stmt, &b), 0);
	for (int i = 0; i < 2; i++) {
		expect(stmt, "execute 0, fetch 0");
		assert_true(is_null);
		assert_int_equal(length, 4);
		length = 9;
		assert_int_equal(f.mysql_stmt_free_result(stmt), 0);
	}
	f.mysql_stmt_close(stmt);
}

/* A statement that asks for a cursor takes over results of another statement. These results have
 * no cursor. */
static void
further_results_have_no_cursor(void **state)
{
	MYSQL_STMT *stmt = prepare("call three()"), *other;
	unsigned long type = CURSOR_TYPE_READ_ONLY;

	expect(stmt, "execute 0, store 0");
	other = f.mysql_stmt_init(my);
	f.mysql_stmt_attr_set(other, STMT_ATTR_CURSOR_TYPE, &type);
	expect(other, "next 0, rows 1, next 0, next 0");
	f.mysql_stmt_close(other);
	f.mysql_stmt_close(stmt);
	run("do 1");
}

/* Another statement takes over further results; closing it acts as if it had been
 * prepared. */
static void
further_results_are_taken_from_another(void **state)
{
	MYSQL_STMT *stmt = prepare("call three()"), *other;

	expect(stmt, "execute 0, store 0");
	other = f.mysql_stmt_init(my);
	assert_int_equal(f.mysql_stmt_next_result(other), 0);
	assert_int_equal(f.mysql_stmt_next_result(stmt), 0);
	expect(other, "fetch 1, errno 2050");
	assert_int_equal(f.mysql_stmt_next_result(stmt), 0);
	assert_int_equal(f.mysql_affected_rows(my), 0);
	assert_false(f.mysql_stmt_close(other));
	assert_true(f.mysql_affected_rows(my) == (uint64_t)-1);
	f.mysql_stmt_close(stmt);
	run("do 1");
}

static void
rows_are_lost_with_their_connection(void **state)
{
	MYSQL_STMT *stmt = prepare("select seq from seq_1_to_3");

	expect(stmt, "execute 0, fetch 0");
	f.mysql_close(my);
	my = f.mysql_init(NULL);
	expect(stmt, "fetch 1, errno 2013");
	f.mysql_stmt_close(stmt);
}

static void
values_are_refused_before_they_are_sent(void **state)
{
	MYSQL_STMT *stmt = prepare("select ?"), *other = prepare("select 1");
	int number = 1;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };

	assert_int_equal(f.mysql_stmt_bind_param(stmt, &b), 0);
	assert_int_equal(f.mysql_stmt_execute(other), 0);
	expect(stmt, "execute 1, errno 2014");
	assert_int_equal(f.mysql_errno(my), 0);
	f.mysql_stmt_close(other);
	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	f.mysql_stmt_close(stmt);
}

static void
stored_rows_are_found_behind_a_reset(void **state)
{
	MYSQL_STMT *stmt = prepare("select seq from seq_1_to_3");

	expect(stmt, "execute 0, store 0, reset 0, fetch 1");
	f.mysql_stmt_data_seek(stmt, 2);
	expect(stmt, "fetch 0, fetch 100");
	f.mysql_stmt_close(stmt);
}

static void
asking_a_cursor_forgets_what_was_wrong(void **state)
{
	MYSQL_STMT *stmt = prepare_with_cursor("select seq from seq_1_to_3");

	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_null(f.mysql_store_result(my));
	assert_int_equal(f.mysql_errno(my), 2014);
	assert_int_equal(f.mysql_stmt_fetch(stmt), 0);
	assert_int_equal(f.mysql_errno(my), 0);
	f.mysql_stmt_close(stmt);
}

static int
is_told_of_database(void)
{
	const char *data;
	size_t len;

	return f.mysql_session_track_get_first(my, SESSION_TRACK_SCHEMA, &data, &len) ==
	       0;
}

static void
rows_of_a_call_tell_nothing_before_their_end(void **state)
{
	MYSQL_STMT *stmt;

	run("set session_track_schema = 1");
	run("use app");
	stmt = prepare("call three()");
	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_int_equal(is_told_of_database(), 1);
	f.mysql_stmt_close(stmt);
	while (f.mysql_next_result(my) == 0)
		f.mysql_free_result(f.mysql_store_result(my));
}

static void
answers_without_a_word_end_what_was_told(void **state)
{
	run("set session_track_schema = 1");
	run("use app");
	assert_int_equal(
		f.mysql_set_server_option(my, MYSQL_OPTION_MULTI_STATEMENTS_OFF), 0);
	assert_int_equal(is_told_of_database(), 0);
	run("use app");
	f.mysql_free_result(f.mysql_list_fields(my, "t", NULL));
	assert_int_equal(is_told_of_database(), 0);
}

/* A failed statement may have ended a transaction, which its answer does not report. */
static void
answers_without_a_word_tell_of_the_transaction(void **state)
{
	for (int i = 0; i < 2; i++) {
		run("begin");
		assert_int_not_equal(f.mysql_query(my, "truncate nowhere"), 0);
		assert_int_not_equal(my->server_status & SERVER_STATUS_IN_TRANS, 0);
		if (i == 0)
			assert_int_equal(f.mysql_select_db(my, "app"), 0);
		else
			assert_int_equal(f.mysql_set_server_option(
						 my, MYSQL_OPTION_MULTI_STATEMENTS_OFF),
				0);
		assert_int_equal(my->server_status & SERVER_STATUS_IN_TRANS, 0);
	}
}

static void
rows_of_a_cursor_tell_of_the_transaction(void **state)
{
	MYSQL_STMT *stmt = prepare_with_cursor("select seq from seq_1_to_3");

	run("begin");
	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	assert_int_not_equal(f.mysql_query(my, "truncate nowhere"), 0);
	assert_int_not_equal(my->server_status & SERVER_STATUS_IN_TRANS, 0);
	assert_int_equal(f.mysql_stmt_fetch(stmt), 0);
	assert_int_equal(my->server_status & SERVER_STATUS_IN_TRANS, 0);
	f.mysql_stmt_close(stmt);
}

static void
rows_of_a_cursor_wait_for_their_turn(void **state)
{
	MYSQL_STMT *stmt = prepare_with_cursor("select seq from seq_1_to_3");

	assert_int_equal(f.mysql_stmt_execute(stmt), 0);
	run("select 1");
	expect(stmt, "fetch 1, errno 2014");
	f.mysql_free_result(f.mysql_store_result(my));
	f.mysql_stmt_close(stmt);
}

static void
a_change_of_user_that_fails_leaves_settings(void **state)
{
	run("set names latin1, autocommit = 0");
	f.mysql_set_character_set(my, "latin1");
	assert_int_equal(my->server_status & SERVER_STATUS_AUTOCOMMIT, 0);
	assert_int_equal(f.mysql_change_user(my, "app", NULL, "nowhere"), 1);
	assert_int_equal(f.mysql_errno(my), 1044);
	assert_string_equal(f.mysql_character_set_name(my), "latin1");
	assert_int_equal(f.mysql_select_db(my, "app"), 0);
	assert_int_not_equal(my->server_status & SERVER_STATUS_AUTOCOMMIT, 0);
}

/* This handler refuses the file, and say_number() reports ENOENT (2), as for a missing file. */
static int
refuse_file(void **handle, const char *name, void *user)
{
	(void)name;
	(void)user;
	*handle = NULL;
	return 1;
}

static int
read_nothing(void *handle, char *buffer, unsigned size)
{
	(void)handle;
	(void)buffer;
	(void)size;
	return 0;
}

static void
end_nothing(void *handle)
{
	(void)handle;
}

static int
say_number(void *handle, char *text, unsigned size)
{
	(void)handle;
	snprintf(text, size, "none");
	return 2;
}

static void
statements_are_closed_behind_an_error_of_a_file(void **state)
{
	unsigned on = 1;
	MYSQL_STMT *stmt;

	f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
	f.mysql_set_local_infile_handler(
		my, refuse_file, read_nothing, end_nothing, say_number, NULL);
	for (int i = 0; i < 2; i++) {
		stmt = prepare("select 1");
		if (i == 0)
			assert_int_not_equal(f.mysql_query(my, "load data local infile "
							       "'none' into table t"),
				0);
		f.mysql_close(my);
		assert_int_equal(f.mysql_stmt_errno(stmt), i == 0 ? 2056 : 2013);
		f.mysql_stmt_close(stmt);
		my = f.mysql_init(NULL);
		assert_non_null(f.mysql_real_connect(
			my, NULL, "app", NULL, "app", 0, rig.server.socket, 0));
	}
}

/* The flags stay with the options: the second attempt fails because of the flags of the first. */
static void
flags_of_an_attempt_that_failed_are_kept(void **state)
{
	MYSQL *other = f.mysql_init(NULL);

	f.mysql_options(other, MYSQL_INIT_COMMAND, "select 1; selct");
	for (int i = 0; i < 2; i++) {
		unsigned long flags =
			i == 0 ? CLIENT_REMEMBER_OPTIONS | CLIENT_MULTI_STATEMENTS : 0;

		assert_null(f.mysql_real_connect(
			other, NULL, "app", NULL, "app", 0, rig.server.socket, flags));
		assert_int_equal(f.mysql_errno(other), 1064);
	}
	assert_null(f.mysql_real_connect(
		other, NULL, "app", NULL, "app", 0, rig.server.socket, 0));
	assert_int_equal(f.mysql_errno(other), 1064);
	f.mysql_close(other);
}

static void
a_character_set_that_is_none_is_missed_again(void **state)
{
	MYSQL *other = f.mysql_init(NULL);

	assert_int_not_equal(f.mysql_set_character_set(other, "nonsense"), 0);
	assert_int_equal(f.mysql_errno(other), 2019);
	assert_int_equal(f.mysql_change_user(other, "app", NULL, "app"), 1);
	assert_int_equal(f.mysql_errno(other), 2019);
	assert_null(f.mysql_real_connect(
		other, NULL, "app", NULL, "app", 0, rig.server.socket, 0));
	assert_int_equal(f.mysql_errno(other), 2019);
	f.mysql_close(other);
}

static int
setup(void **state)
{
	cnt_library_open(&f, CNT_OURS);
	return cnt_rig_start(&rig);
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

static int
connect_anew(void **state)
{
	my = f.mysql_init(NULL);
	if (!f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, rig.server.socket, 0))
		return -1;
	run("create table if not exists t (a int)");
	run("create or replace procedure three() begin select 1; select 2; select 3; "
	    "end");
	return 0;
}

static int
disconnect(void **state)
{
	f.mysql_close(my);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_anew, disconnect)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(results_that_were_told_of_are_skipped),
		TEST(results_stay_when_another_statement_is_closed),
		TEST(what_has_no_cursor_is_stored_at_once),
		TEST(a_cursor_is_stored_with_the_row_that_came_alone),
		TEST(the_last_rows_of_a_cursor_are_not_stored),
		TEST(rows_are_thrown_away_for_another_statement),
		TEST(rows_stay_behind_a_reset_of_what_was_not_executed),
		TEST(a_piece_out_of_turn_is_missed),
		TEST(cancelled_rows_of_no_connection_are_lost),
		TEST(executing_tells_lengths_anew),
		TEST(further_results_have_no_cursor),
		TEST(further_results_are_taken_from_another),
		TEST(rows_are_lost_with_their_connection),
		TEST(values_are_refused_before_they_are_sent),
		TEST(stored_rows_are_found_behind_a_reset),
		TEST(asking_a_cursor_forgets_what_was_wrong),
		TEST(rows_of_a_call_tell_nothing_before_their_end),
		TEST(answers_without_a_word_end_what_was_told),
		TEST(answers_without_a_word_tell_of_the_transaction),
		TEST(rows_of_a_cursor_tell_of_the_transaction),
		TEST(rows_of_a_cursor_wait_for_their_turn),
		TEST(a_change_of_user_that_fails_leaves_settings),
		TEST(statements_are_closed_behind_an_error_of_a_file),
		TEST(flags_of_an_attempt_that_failed_are_kept),
		TEST(a_character_set_that_is_none_is_missed_again),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
