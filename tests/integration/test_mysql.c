/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_mysql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The features of MySQL's and MariaDB's own clients, through the pool: with a real server, cenoted
 * and libcenote. */

/* *state is an attached client. The pool has one session, so the next client gets the same
 * session. */
static int
setup(void **state)
{
	char line[512];

	snprintf(
		line, sizeof(line), "%s local_infile=yes", with_mysql_server.server_line);
	with_mysql_start(line, "sessions = 1\nmax_frame = 256MB\n");
	*state = wp_attach(NULL);
	return 0;
}

static int
bare_teardown(void **state)
{
	return wp_teardown(state);
}

/* Attach another client to the same session. */
static cenote_conn *
next_client(void **state)
{
	cenote_conn_destroy(*state);
	*state = wp_attach(NULL);
	return *state;
}

static void
expect_kind(cenote_conn *conn, int kind)
{
	cenote_result_destroy(wp_next_result(conn, kind));
}

static void
expect_error(cenote_conn *conn, const char *sqlstate)
{
	cenote_result *res = wp_next_result(conn, CENOTE_RESULT_ERROR);

	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), sqlstate);
	cenote_result_destroy(res);
}

static void
send(cenote_conn *conn, const char *sql)
{
	assert_ok(cenote_send_query(conn, cnt_server_text(sql), CENOTE_NTS, NULL, NULL));
}

/* ---- results ---- */

static void
several_results_and_an_error_in_the_middle(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res;

	wp_exec(conn, "create or replace table t (a int auto_increment primary key, b "
		      "varchar(10))");
	send(conn, "insert into t (b) values ('x'), ('y'); select a, b from t; do 1;"
		   " select 'é' as e");
	res = wp_next_result(conn, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_affected_rows(res), 2);
	assert_int_equal(cenote_result_last_insert_id(res), 1);
	assert_string_equal(
		cenote_result_tag(res), "Records: 2  Duplicates: 0  Warnings: 0");
	cenote_result_destroy(res);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_int_equal(cenote_result_n_rows(res), 2);
	assert_string_equal(cenote_result_text(res, 1, 1, NULL), "y");
	assert_string_equal(
		cenote_column_text(cenote_result_column(res, 1), CENOTE_COLUMN_CATALOG),
		"app");
	cenote_result_destroy(res);
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "é");
	cenote_result_destroy(res);
	expect_kind(conn, 0);

	send(conn, "select 1; select * from not_there; insert into t (b) values ('z')");
	expect_kind(conn, CENOTE_RESULT_ROWS);
	res = wp_next_result(conn, CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "42S02");
	assert_int_equal(cenote_diag_native(cenote_result_diag(res)), 1146);
	assert_non_null(cenote_diag_field(cenote_result_diag(res), 'B'));
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select count(*) from t"), "2");
}

static void
the_servers_facts_come_with_results(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res;

	wp_exec(conn, "create or replace table t (a tinyint)");
	wp_exec(conn, "set sql_mode = ''");
	send(conn, "insert into t values (1000), (2)");
	res = wp_next_result(conn, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_warnings(res), 1);
	assert_int_equal(cenote_result_server_status(res) & 2, 2); /* autocommit */
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "show warnings"), "Warning");
	wp_exec(conn, "begin");
	send(conn, "update t set a = 3");
	res = wp_next_result(conn, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_server_status(res) & 1, 1); /* in transaction */
	assert_int_equal(cenote_result_affected_rows(res), 2);
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_OPEN);
	wp_exec(conn, "create table ddl (a int)"); /* commits */
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_IDLE);
	wp_exec(conn, "drop table ddl");
}

static void
a_call_gives_results_and_output_values(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *params = wp_params();
	cenote_result *res;

	wp_exec(conn, "create or replace procedure p(in a int, out b int, inout c "
		      "varchar(20)) begin select a as one; set b = a + 1; set c = "
		      "concat(c, '!'); select 'two' as two, a; end");
	assert_ok(cenote_params_add_int64(params, 7));
	assert_ok(cenote_params_add_null(params));
	assert_ok(cenote_params_add_text(params, "hé", CENOTE_NTS));
	assert_ok(cenote_send_query(conn, "call p(?, ?, ?)", CENOTE_NTS, params, NULL));
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "7");
	cenote_result_destroy(res);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "two");
	cenote_result_destroy(res);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_int_equal(cenote_result_n_columns(res), 2);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "8");
	assert_string_equal(cenote_result_text(res, 0, 1, NULL), "hé!");
	assert_true(cenote_result_flags(res) & CENOTE_RESULT_FLAG_OUTPUT);
	cenote_result_destroy(res);
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	expect_kind(conn, 0);
	/* The same in the text protocol, with user variables. */
	send(conn, "set @c = 'x'; call p(1, @b, @c); select @b, @c");
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	expect_kind(conn, CENOTE_RESULT_ROWS);
	expect_kind(conn, CENOTE_RESULT_ROWS);
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_string_equal(cenote_result_text(res, 0, 1, NULL), "x!");
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	cenote_params_destroy(params);
}

/* When the call runs again, the client knows the columns of the first result only. */
static void
a_call_that_was_given_up_runs_again(void **state)
{
	cenote_conn *conn = *state;
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_stmt *stmt;

	wp_exec(conn, "create or replace procedure alike() begin select 1 as v; select "
		      "2 as v; end");
	assert_ok(cenote_stmt_create(conn, "call alike()", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	options.stream = 1;
	for (int i = 0; i < 3; i++) {
		assert_ok(cenote_send_execute(stmt, NULL, &options));
		expect_kind(conn, CENOTE_RESULT_ROWS);
	}
	assert_ok(cenote_send_execute(stmt, NULL, NULL));
	for (int i = 1; i <= 2; i++) {
		cenote_result *res = wp_next_result(conn, CENOTE_RESULT_ROWS);

		assert_string_equal(
			cenote_result_text(res, 0, 0, NULL), i == 1 ? "1" : "2");
		cenote_result_destroy(res);
	}
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	expect_kind(conn, 0);
	cenote_stmt_destroy(stmt);
}

/* ---- files ---- */

static void
load(cenote_conn *conn, const char *data)
{
	cenote_result *res;

	wp_exec(conn, "create or replace table t (a int, b varchar(20))");
	send(conn,
		"load data local infile '/no/such/file' into table t fields terminated "
		"by ','");
	res = wp_next_result(conn, CENOTE_RESULT_COPY_IN);
	assert_string_equal(cenote_copy_file(res), "/no/such/file");
	if (data) {
		assert_ok(cenote_copy_put(conn, data, strlen(data)));
		assert_ok(cenote_copy_end(conn, NULL));
	} else {
		assert_ok(cenote_copy_end(conn, "no such file"));
	}
	cenote_result_destroy(res);
}

static void
a_file_comes_from_a_program_that_allows_it(void **state)
{
	cenote_conn *conn;
	cenote_result *res;

	cenote_conn_destroy(*state);
	*state = conn = wp_handle(NULL);
	assert_ok(cenote_conn_set(conn, "allow_files", "yes"));
	assert_ok(cenote_connect(conn));
	load(conn, "1,one\n2,two\n3,x\n");
	res = wp_next_result(conn, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_affected_rows(res), 3);
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select group_concat(b) from t"), "one,two,x");
	/* The program gives up. */
	load(conn, NULL);
	res = wp_next_result(conn, CENOTE_RESULT_ERROR);
	assert_non_null(
		strstr(cenote_diag_message(cenote_result_diag(res)), "no such file"));
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select count(*) from t"), "0");
}

static void
a_program_that_does_not_allow_it_sends_no_file(void **state)
{
	cenote_conn *conn = *state;

	wp_exec(conn, "create or replace table t (a int)");
	send(conn, "load data local infile '/etc/passwd' into table t");
	cenote_result_destroy(wp_next_result(conn, CENOTE_RESULT_ERROR));
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select count(*) from t"), "0");
}

static void
a_pool_that_does_not_allow_it_asks_for_no_file(void **state)
{
	cenote_conn *conn;

	with_mysql_start(with_mysql_server.server_line, "sessions = 1\n");
	*state = conn = wp_handle(NULL);
	assert_ok(cenote_conn_set(conn, "allow_files", "yes"));
	assert_ok(cenote_connect(conn));
	wp_exec(conn, "create or replace table t (a int)");
	send(conn, "load data local infile '/etc/passwd' into table t");
	cenote_result_destroy(wp_next_result(conn, CENOTE_RESULT_ERROR));
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select count(*) from t"), "0");
	cenote_conn_destroy(conn);
}

/* A command that has no statement. The server decides whether the user may run it. */
static void
a_command_is_called_by_its_number(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res = NULL;

	assert_int_equal(cenote_function(conn, 13, NULL, CENOTE_FORMAT_TEXT, &res),
		CENOTE_ERR_SERVER);
	assert_int_equal(cenote_diag_native(cenote_conn_diag(conn)), 1227);
	assert_int_equal(cenote_function(conn, 1, NULL, CENOTE_FORMAT_TEXT, &res),
		CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(conn), "0A000");
	assert_string_equal(wp_value(conn, "select 1"), "1");
}

/* ---- the session, and the next client's ---- */

static void
the_next_client_is_the_pools_user(void **state)
{
	cenote_conn *conn = *state;

	assert_ok(cenote_change_user(conn, "locked", CNT_SERVER_PASSWORD, "app2"));
	assert_string_equal(wp_value(conn, "select concat(current_user(), database())"),
		"locked@localhostapp2");
	conn = next_client(state);
	assert_string_equal(
		wp_value(conn, "select concat(user(), database())"), "app@localhostapp");
	assert_int_equal(
		cenote_change_user(conn, "locked", "wrong", NULL), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "28000");
	conn = next_client(state);
	assert_string_equal(wp_value(conn, "select user()"), "app@localhost");
}

static void
the_next_client_has_the_pools_database_and_charset(void **state)
{
	cenote_conn *conn = *state;

	assert_ok(cenote_select_database(conn, "app2"));
	assert_string_equal(wp_value(conn, "select database()"), "app2");
	assert_int_equal(cenote_select_database(conn, "not`there"), CENOTE_ERR_SERVER);
	wp_exec(conn, "set names latin1");
	assert_string_equal(wp_value(conn, "select _utf8mb4 x'c3a9'"), "\xe9");
	conn = next_client(state);
	assert_string_equal(wp_value(conn, "select database()"), "app");
	assert_string_equal(wp_value(conn, "select _utf8mb4 x'c3a9'"), "é");
	wp_exec(conn, "use app2");
	conn = next_client(state);
	assert_string_equal(wp_value(conn, "select database()"), "app");
}

/* LOAD DATA uses this character set. The server's own reset would set its default instead. */
static void
the_databases_charset_stays(void **state)
{
	static const char charset[] = "select @@character_set_database";
	char line[512];
	cenote_conn *conn;

	assert_int_equal(cnt_server_sql(&with_mysql_server,
				 "create database app_ucs character set ucs2"),
		0);
	snprintf(line, sizeof(line), "socket=%s dbname=app_ucs user=app",
		with_mysql_server.socket);
	with_mysql_start(line, "sessions = 1\n");
	for (int i = 0; i < 3; i++) {
		conn = wp_attach(NULL);
		assert_string_equal(wp_value(conn, charset), "ucs2");
		if (i == 1)
			wp_exec(conn, "set @a = 1");
		cenote_conn_destroy(conn);
	}
	assert_int_equal(cnt_server_sql(&with_mysql_server, "drop database app_ucs"), 0);
}

struct left {
	const char *leave;
	const char *look;
	const char *fresh;
};

/* Promise 1: a client leaves nothing for the next one, even if the text of a statement does not
 * show what it leaves. */
static void
nothing_is_left_for_the_next_client(void **state)
{
	static const struct left cases[] = {
		{ "set @a = 5", "select @a is null", "1" },
		{ "select 5 into @a", "select @a is null", "1" },
		{ "set session sql_mode = 'ansi'",
			"select @@sql_mode = @@global.sql_mode", "1" },
		{ "set time_zone = '+05:00'", "select @@time_zone = @@global.time_zone",
			"1" },
		{ "set session transaction isolation level serializable",
			"select @@tx_isolation", "REPEATABLE-READ" },
		{ "set autocommit = 0", "select @@autocommit", "1" },
		{ "select get_lock('mine', 0)", "select is_free_lock('mine')", "1" },
		{ "lock tables kept write", "select count(*) from other", "1" },
		{ "insert into ids values ()", "select last_insert_id()", "0" },
		{ "set insert_id = 77", "select @@insert_id", "0" },
		{ "set names gbk", "select @@character_set_results", "utf8mb4" },
		{ "use app2", "select database()", "app" },
		{ "begin; insert into kept values (2)", "select count(*) from kept",
			"1" },
		{ "prepare s from 'select 1'",
			"select count(*) from information_schema.processlist where "
			"command "
			"= 'nothing'",
			"0" },
		{ "set role none", "select nullif(current_role(), 'NONE') is null", "1" },
		{ "handler kept open as h", "select count(*) from kept", "1" },
	};
	cenote_conn *conn = *state;
	cenote_result *res;
	size_t i;

	wp_exec(conn, "create or replace table kept (a int)");
	wp_exec(conn, "create or replace table other (a int)");
	wp_exec(conn, "create or replace table ids (a int auto_increment primary key)");
	wp_exec(conn, "insert into kept values (1)");
	wp_exec(conn, "insert into other values (1)");
	for (i = 0; i < CNT_COUNT(cases); i++) {
		send(conn, cases[i].leave);
		while (cenote_get_result(conn, &res) == CENOTE_OK) {
			if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
				fail_msg("%s: %s", cases[i].leave,
					cenote_diag_message(cenote_result_diag(res)));
			cenote_result_destroy(res);
		}
		conn = next_client(state);
		if (strcmp(wp_value(conn, cases[i].look), cases[i].fresh) != 0)
			fail_msg("after %s: %s is %s", cases[i].leave, cases[i].look,
				wp_value(conn, cases[i].look));
	}
}

/* MySQL's own reset leaves the resource group. A function may set it, too. */
static void
the_next_client_has_the_group_of_a_login(void **state)
{
	static const char *const sets[] = { "set resource group slow", "do slow_down()",
		"select * from slow_view" };
	static const char group[] =
		"select resource_group from performance_schema.threads where thread_id = "
		"ps_current_thread_id()";
	cenote_conn *conn = *state;

	if (!cnt_server_is_mysql()) {
		assert_int_equal(wp_status_of(conn, sets[0]), CENOTE_ERR_SERVER);
		return;
	}
	assert_int_equal(
		cnt_server_sql(&with_mysql_server, "create resource group slow type = "
						   "user; grant resource_group_user "
						   "on *.* to app@localhost; grant "
						   "select on performance_schema.* to "
						   "app@localhost"),
		0);
	conn = next_client(state);
	wp_exec(conn, "create function slow_down() returns int begin set resource group "
		      "slow; return 1; end");
	wp_exec(conn, "create view slow_view as select slow_down()");
	for (size_t i = 0; i < CNT_COUNT(sets); i++) {
		conn = next_client(state);
		wp_exec(conn, sets[i]);
		assert_string_equal(wp_value(conn, group), "slow");
		conn = next_client(state);
		assert_string_equal(wp_value(conn, group), "USR_default");
	}
}

/* A session that waits in the pool also gets new global settings and privileges, and clients learn
 * about them. */
static void
what_is_set_for_all_is_every_next_clients(void **state)
{
	static const char begun[] = "select @@net_write_timeout";
	char line[512];
	cenote_conn *boss, *conn;

	assert_int_equal(
		cnt_server_sql(&with_mysql_server, "create user boss@localhost;"
						   "grant all on *.* to boss@localhost "
						   "with grant option"),
		0);
	snprintf(line, sizeof(line), "socket=%s dbname=app user=boss",
		with_mysql_server.socket);
	with_mysql_start(line, "sessions = 2\n");
	boss = wp_attach(NULL);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, begun), "60");
	cenote_conn_destroy(conn);
	wp_exec(boss, "set global net_write_timeout = 61");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, begun), "61");
	cenote_conn_destroy(conn);

	wp_exec(boss, "set @@global.sql_mode = concat(@@sql_mode, ',ANSI_QUOTES')");
	conn = wp_attach(NULL);
	assert_non_null(strstr(cenote_parameter(conn, "sql_mode"), "ANSI_QUOTES"));
	cenote_conn_destroy(conn);
	wp_exec(boss,
		"set global sql_mode = default, global net_write_timeout = default");

	/* a session gets privileges on all databases only at its login */
	wp_exec(boss, "revoke process on *.* from boss@localhost");
	conn = wp_attach(NULL);
	assert_int_equal(
		wp_status_of(conn, "show engine innodb status"), CENOTE_ERR_SERVER);
	cenote_conn_destroy(conn);
	cenote_conn_destroy(boss);
}

static void
a_key_in_a_temporary_table_is_gone(void **state)
{
	cenote_conn *conn = *state;
	pid_t worker = wp_worker_pid(conn);

	wp_exec(conn,
		"create or replace procedure enable_key(k varchar(20), pw "
		"varchar(20)) begin create or replace temporary table keyring "
		"(k varchar(20), pw varchar(20)); insert into keyring values (k, pw); "
		"set @key_in_use = pw; end");
	wp_exec(conn,
		"create or replace function clear_text() returns varchar(20) return "
		"@key_in_use");
	send(conn, "call enable_key('k', 'secret')");
	expect_kind(conn, CENOTE_RESULT_COMMAND);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select clear_text()"), "secret");
	assert_string_equal(wp_value(conn, "select pw from keyring"), "secret");
	assert_true(cenote_pins(conn) != 0);
	conn = next_client(state);
	assert_int_equal(wp_worker_pid(conn), worker);
	assert_int_equal(wp_status_of(conn, "select pw from keyring"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "42S02");
	assert_string_equal(wp_value(conn, "select clear_text() is null"), "1");
}

/* ---- cancel ---- */

static void
a_cancel_hits_its_own_request_only(void **state)
{
	cenote_conn *conn = *state;
	cenote_cancel *cancel;
	int64_t begin = wp_now_ms();

	send(conn, "select sleep(60)");
	assert_ok(cenote_process(conn));
	assert_ok(cenote_cancel_create(conn, &cancel));
	wp_pause_ms(200);
	assert_ok(cenote_cancel_send(cancel));
	expect_error(conn, "57014");
	expect_kind(conn, 0);
	assert_true(wp_now_ms() - begin < 20000);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
		assert_string_equal(wp_value(conn, "select sleep(0.002)"), "0");
	}
	cenote_cancel_destroy(cancel);
}

/* Some of the server's libraries wait for the answer to a statement with parameters without asking
 * cenoted. */
static void
a_cancel_hits_a_statement_with_parameters(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *params = wp_params();
	cenote_cancel *cancel;
	int64_t begin = wp_now_ms();

	assert_ok(cenote_params_add_int64(params, 60));
	/* on MySQL, a SLEEP() that is stopped is an error only where its value is a condition */
	assert_ok(cenote_send_query(conn, "select seq from seq_1_to_2 where sleep(?)",
		CENOTE_NTS, params, NULL));
	assert_ok(cenote_process(conn));
	assert_ok(cenote_cancel_create(conn, &cancel));
	wp_pause_ms(200);
	assert_ok(cenote_cancel_send(cancel));
	expect_error(conn, "57014");
	expect_kind(conn, 0);
	assert_true(wp_now_ms() - begin < 20000);
	assert_string_equal(wp_value(conn, "select sleep(0.002)"), "0");
	cenote_cancel_destroy(cancel);
	cenote_params_destroy(params);
}

static void
cancels_at_the_end_of_requests_hit_no_other(void **state)
{
	cenote_conn *conn = *state;
	int n_cancelled = 0;

	for (int i = 0; i < 100; i++) {
		cenote_cancel *cancel;
		cenote_result *res;
		char sql[64];

		snprintf(sql, sizeof(sql), "select sleep(%d / 10000.0)", i % 20);
		send(conn, sql);
		assert_true(cenote_process(conn) >= 0);
		assert_ok(cenote_cancel_create(conn, &cancel));
		assert_true(cenote_cancel_send(cancel) >= 0);
		assert_ok(cenote_get_result(conn, &res));
		n_cancelled += cenote_result_kind(res) == CENOTE_RESULT_ERROR;
		cenote_result_destroy(res);
		expect_kind(conn, 0);
		cenote_cancel_destroy(cancel);
		/* sleep() gives 1 when it was interrupted. */
		assert_string_equal(wp_value(conn, "select sleep(0.001)"), "0");
	}
	print_message("# %d of 100 were cancelled\n", n_cancelled);
}

/* ---- long values and long results ---- */

static void
long_data_comes_in_pieces(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *params = wp_params();
	cenote_stmt *stmt;
	cenote_result *res;
	char piece[1000];

	wp_exec(conn, "create or replace table t (a int, b longblob)");
	memset(piece, '\xff', sizeof(piece));
	assert_ok(cenote_stmt_create(
		conn, "insert into t values (?, ?)", CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	for (int i = 0; i < 2000; i++)
		assert_ok(cenote_send_long_data(stmt, 1, piece, sizeof(piece)));
	assert_ok(cenote_params_add_int64(params, 1));
	assert_ok(cenote_params_add_long(params, CENOTE_TYPE_BYTES));
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	cenote_result_destroy(res);
	expect_kind(conn, 0);
	assert_string_equal(wp_value(conn, "select length(b) from t"), "2000000");
	assert_string_equal(
		wp_value(conn, "select b = repeat(x'ff', 2000000) from t"), "1");
	cenote_stmt_destroy(stmt);
	cenote_params_destroy(params);
}

static void
values_of_64_mb(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	size_t size = (size_t)64 << 20, len;
	cenote_params *params = wp_params();
	cenote_conn *conn = *state;
	char *bytes = malloc(size);
	cenote_result *res;

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i ^ i >> 11);
	assert_ok(cenote_params_add_bytes(params, bytes, size));
	for (options.format = CENOTE_FORMAT_TEXT; options.format <= CENOTE_FORMAT_BINARY;
		options.format++) {
		int r = cenote_query(
			conn, "select ? as v", CENOTE_NTS, params, &options, &res);

		if (r != CENOTE_OK)
			fail_msg("%s", wp_message(conn));
		assert_int_equal(cenote_result_n_rows(res), 1);
		assert_memory_equal(cenote_result_text(res, 0, 0, &len), bytes, size);
		assert_int_equal(len, size);
		cenote_result_destroy(res);
		expect_kind(conn, 0);
	}
	cenote_params_destroy(params);
	free(bytes);
}

static void
results_of_100_mb_take_little_memory(void **state)
{
	static const char sql[] = "select repeat('x', 1000), seq from seq_1_to_100000";
	cenote_conn *conn = *state;
	cenote_params *none = wp_params();

	for (int i = 0; i < 4; i++) {
		cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
		struct wp_memory memory;
		cenote_result *res;
		uint64_t n = 0;
		char way[16];
		int r;

		wp_memory_watch(&memory, conn);
		options.stream = 1;
		options.batch_rows = i >= 2 ? 1000 : 0;
		r = cenote_query(
			conn, sql, CENOTE_NTS, i % 2 ? none : NULL, &options, &res);
		if (r != CENOTE_OK)
			fail_msg("%s", wp_message(conn));
		while ((r = cenote_result_next(res)) == CENOTE_ROW)
			n += cenote_result_n_rows(res);
		assert_int_equal(r, CENOTE_DONE);
		assert_int_equal(n, 100000);
		cenote_result_destroy(res);
		snprintf(way, sizeof(way), "way %d", i);
		wp_memory_expect_little(&memory, way);
	}
	cenote_params_destroy(none);
}

/* ---- logging in ---- */

static void
expect_login(const char *line, const char *user)
{
	cenote_conn *conn;

	with_mysql_start(line, "sessions = 1\n");
	conn = wp_attach(NULL);
	assert_string_equal(
		wp_value(conn, "select substring_index(user(), '@', 1)"), user);
	if (strstr(line, "ssl_ca"))
		assert_true(strlen(wp_value(conn, "select variable_value from "
						  "information_schema.session_status "
						  "where variable_name = "
						  "'ssl_cipher'")) > 0);
	cenote_conn_destroy(conn);
}

static void
expect_no_login(const char *line, const char *words)
{
	with_mysql_start(line, "sessions = 1\nqueue_timeout = 1s\n");
	wp_await_log(words);
}

static void
passwords_come_from_the_line_or_a_file(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line), "socket=%s dbname=app user=locked password=%s",
		with_mysql_server.socket, CNT_SERVER_PASSWORD);
	expect_login(line, "locked");
	wp_teardown(state);
	snprintf(line, sizeof(line), "socket=%s dbname=app user=locked passfile=%s",
		with_mysql_server.socket, with_mysql_server.passfile);
	expect_login(line, "locked");
	wp_teardown(state);
	snprintf(line, sizeof(line), "socket=%s dbname=app user=locked password=wrong",
		with_mysql_server.socket);
	expect_no_login(line, "Access denied for user");
	assert_false(wp_log_has(CNT_SERVER_PASSWORD));
}

static void
tls_is_checked_as_the_line_says(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"host=127.0.0.1 port=%d dbname=app user=tls password=%s "
		"ssl_mode=required ssl_ca=%s ssl_verify_server_cert=yes",
		with_mysql_server.port, CNT_SERVER_PASSWORD, with_mysql_server.ca);
	expect_login(line, "tls");
	wp_teardown(state);
	snprintf(line, sizeof(line),
		"host=127.0.0.1 port=%d dbname=app user=tls password=%s "
		"ssl_mode=required ssl_ca=%s/other-ca.crt ssl_verify_server_cert=yes",
		with_mysql_server.port, CNT_SERVER_PASSWORD, with_mysql_server.certs);
	expect_no_login(line, "certificate");
}

/* ---- how the server reads texts ---- */

/* '; create … as a text in which a backslash escapes. */
static const char escaped[] = "select '\\'; create table injected (a int) -- '";

/* Change sql_mode for new logins and for sessions that are reset, without the pool's knowledge. */
static void
set_modes(const char *modes)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "set global sql_mode = %s", modes);
	assert_int_equal(cnt_server_sql(&with_mysql_server, sql), 0);
}

static int
modes_teardown(void **state)
{
	set_modes("default");
	return with_mysql_teardown(state);
}

static void
assert_not_injected(void)
{
	char found[64];

	assert_int_equal(cnt_server_ask(&with_mysql_server, "show tables like 'injected'",
				 found, sizeof(found)),
		0);
	assert_string_equal(found, "");
}

/* Check that the connection is lost for good, and that nothing was carried out. */
static void
assert_refused(cenote_conn *conn)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wp_status_of(conn, escaped), CENOTE_ERR_CONN);
		assert_string_equal(wp_sqlstate(conn), "08006");
		assert_non_null(strstr(wp_message(conn), "sql_mode"));
	}
	assert_not_injected();
	assert_ok(cenote_connect(conn));
}

/* Whether a delayed reset happens with this query, and the query is refused. Oracle's library
 * cannot send a reset together with a query. There, the reset was done before, and the text is read
 * as intended. */
static int
is_refused(cenote_conn *conn)
{
	cenote_result *res;

	if (cenote_query(conn, escaped, CENOTE_NTS, NULL, NULL, &res) == CENOTE_OK) {
		assert_string_equal(cenote_result_text(res, 0, 0, NULL),
			"'; create table injected (a int) -- ");
		cenote_result_destroy(res);
		return 0;
	}
	assert_refused(conn);
	return 1;
}

static int
reads_backslashes(const cenote_conn *conn)
{
	return strstr(cenote_parameter(conn, "sql_mode"), "NO_BACKSLASH") == NULL;
}

/* A reset gives the session the global sql_mode of that moment. The next client must learn that
 * sql_mode. */
static void
a_reset_that_changes_how_texts_are_read_is_told(void **state)
{
	cenote_conn *conn = *state;

	wp_exec(conn, "create or replace table modes (a int)");
	set_modes("'NO_BACKSLASH_ESCAPES'");
	conn = next_client(state);
	assert_false(reads_backslashes(conn));
	assert_true(
		wp_log_has("read texts differently from earlier sessions of this line"));
	wp_exec(conn, "insert into modes values (1)");
	set_modes("'ANSI_QUOTES'");
	conn = next_client(state);
	assert_true(reads_backslashes(conn));
	assert_non_null(strstr(cenote_parameter(conn, "sql_mode"), "ANSI_QUOTES"));
	set_modes("'NO_BACKSLASH_ESCAPES'");
	assert_ok(cenote_reset(conn));
	assert_false(reads_backslashes(conn));
}

/* A reset may be delayed until the next client sends a request, which may already contain escaped
 * text. */
static void
what_was_escaped_before_a_reset_is_not_read_otherwise_behind_it(void **state)
{
	cenote_conn *conn = *state;

	/* after a login, a reset is not delayed */
	for (int i = 0; i < 2; i++) {
		assert_string_equal(wp_value(conn, "select 1"), "1");
		conn = next_client(state);
	}
	assert_true(reads_backslashes(conn));
	set_modes("'NO_BACKSLASH_ESCAPES'");
	if (!is_refused(conn))
		return;
	assert_false(reads_backslashes(conn));

	/* a text that means the same in all modes is sent, and its answer reports the change */
	for (int i = 0; i < 2; i++) {
		assert_string_equal(wp_value(conn, "select 1"), "1");
		conn = next_client(state);
	}
	set_modes("default");
	assert_string_equal(wp_value(conn, "select '1'''"), "1'");
	assert_int_equal(cenote_pins(conn), CENOTE_PIN_SETTINGS);
	conn = next_client(state);
	assert_true(reads_backslashes(conn));
}

/* The session goes to another client and comes back. It is reset at once, or later if the other
 * client has left nothing. */
static void
what_was_escaped_for_one_session_reaches_no_other(void **state)
{
	cenote_conn *a = *state, *b;
	int was_refused;

	wp_exec(a, "create or replace table modes (a int)");
	b = wp_attach(NULL);
	wp_exec(b, "begin");
	wp_exec(b, "insert into modes values (1)");
	set_modes("'NO_BACKSLASH_ESCAPES'");
	wp_exec(b, "commit");
	assert_refused(a);
	assert_false(reads_backslashes(a));
	cenote_conn_destroy(b);

	set_modes("default");
	wp_exec(a, "insert into modes values (1)");
	a = next_client(state);
	/* with the reset the client loses a session that reads texts in the former way */
	(void)is_refused(a);
	assert_true(reads_backslashes(a));
	b = wp_attach(NULL);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(wp_value(a, "select 1"), "1");
		assert_string_equal(wp_value(b, "select 1"), "1");
	}
	set_modes("'NO_BACKSLASH_ESCAPES'");
	was_refused = is_refused(a);
	assert_int_equal(was_refused, !reads_backslashes(a));
	cenote_conn_destroy(b);
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, setup, with_mysql_teardown)
#define MODES(name) cmocka_unit_test_setup_teardown(name, setup, modes_teardown)
#define BARE(name)  cmocka_unit_test_setup_teardown(name, NULL, bare_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(several_results_and_an_error_in_the_middle),
		TEST(the_servers_facts_come_with_results),
		TEST(a_call_gives_results_and_output_values),
		TEST(a_call_that_was_given_up_runs_again),
		TEST(a_file_comes_from_a_program_that_allows_it),
		TEST(a_program_that_does_not_allow_it_sends_no_file),
		BARE(a_pool_that_does_not_allow_it_asks_for_no_file),
		TEST(a_command_is_called_by_its_number),
		TEST(the_next_client_is_the_pools_user),
		TEST(the_next_client_has_the_pools_database_and_charset),
		BARE(the_databases_charset_stays),
		TEST(nothing_is_left_for_the_next_client),
		TEST(the_next_client_has_the_group_of_a_login),
		BARE(what_is_set_for_all_is_every_next_clients),
		TEST(a_key_in_a_temporary_table_is_gone),
		TEST(a_cancel_hits_its_own_request_only),
		TEST(a_cancel_hits_a_statement_with_parameters),
		TEST(cancels_at_the_end_of_requests_hit_no_other),
		TEST(long_data_comes_in_pieces),
		TEST(values_of_64_mb),
		TEST(results_of_100_mb_take_little_memory),
		BARE(passwords_come_from_the_line_or_a_file),
		BARE(tls_is_checked_as_the_line_says),
		MODES(a_reset_that_changes_how_texts_are_read_is_told),
		MODES(what_was_escaped_before_a_reset_is_not_read_otherwise_behind_it),
		cmocka_unit_test_setup_teardown(
			what_was_escaped_for_one_session_reaches_no_other,
			with_mysql_setup_shared, modes_teardown),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests_name("cenoted_mysql", tests, with_mysql_group_setup,
		with_mysql_group_teardown);
}
