/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_rewriting postgresql|mariadb|sqlite
 *
 * Pools that change statements and errors, with a real server: the action `rewrite`, and the keys program_sql, normalize and
 * on_error. tests/unit/cenoted/test_respell.c and test_rewrite.c have the texts.
 */
#include "with_server.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A statement that adds two parameters to a column, as a program for another server writes it. */
static const struct {
	const char *program_sql; /* that server */
	const char *sql;
} foreign[] = {
	[WS_POSTGRESQL] = { "mysql", "select `a` + ? + ? from `t t` # the sum" },
	[WS_MARIADB] = { "postgresql", "select \"a\" + $1 + $2 from \"t t\"" },
	[WS_SQLITE] = { "tsql", "select [a] + @P1 + @P2 from [t t]" },
};

static cenote_conn *
attach_with_table(void)
{
	cenote_conn *conn = wp_attach(NULL);

	wp_exec(conn, "drop table if exists audit");
	wp_exec(conn, "create table audit (id int primary key, who varchar(20))");
	wp_exec(conn, "insert into audit values (1, 'ann')");
	return conn;
}

static void
expect_42(cenote_result *res)
{
	int64_t value;

	assert_ok(cenote_result_int64(res, 0, 0, &value));
	assert_int_equal(value, 42);
	cenote_result_destroy(res);
}

/* ---- rewrite ---- */

static void
a_rule_puts_another_text_in_the_place_of_the_statement(void **state)
{
	cenote_conn *conn;

	ws_start("rule = \"text~(?i)^select who from (\\w+)(?<rest>.*)$\" -> rewrite "
		 "\"select id + 41 from \\1\\{rest}\"\n"
		 "rule = class=write functions=nobody -> rewrite \"select 1\"\n"
		 "rule = text~41 tables=audit in_tx=yes -> deny \"41\"\n");
	conn = attach_with_table();
	assert_string_equal(wp_value(conn, "select who from audit where id = 1"), "42");
	assert_string_equal(wp_value(conn, "SELECT who FROM audit"), "42");
	assert_string_equal(wp_value(conn, "select min(who) from audit"), "ann");
	/* the next rules see the new text */
	wp_exec(conn, "begin");
	assert_int_equal(wp_status_of(conn, "select who from audit"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_message(conn), "41");
	wp_exec(conn, "rollback");
	cenote_conn_destroy(conn);
}

static void
a_prepared_statement_is_rewritten_when_it_is_prepared(void **state)
{
	const char *mark = ws_kind == WS_POSTGRESQL ? "$1" : "?";
	char sql[80];
	cenote_params *params = wp_params();
	cenote_result *res;
	cenote_stmt *stmt;
	cenote_conn *conn, *other;

	ws_start("mode = transaction\nsessions = 1..1\n"
		 "rule = \"text~^select who (.*)$\" -> rewrite \"select id + 41 \\1\"\n");
	conn = attach_with_table();
	snprintf(sql, sizeof(sql), "select who from audit where id = %s", mark);
	assert_ok(cenote_params_add_int64(params, 1));
	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	for (int i = 0; i < 3; i++) {
		assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
		expect_42(res);
		/* the only session goes to another client; then the statement is prepared again */
		other = wp_attach(NULL);
		assert_string_equal(wp_value(other, "select who from audit"), "42");
		cenote_conn_destroy(other);
	}
	cenote_stmt_destroy(stmt);
	cenote_params_destroy(params);
	cenote_conn_destroy(conn);
}

static void
expect_refused(cenote_conn *conn, const char *sql, const char *message)
{
	if (wp_status_of(conn, sql) == CENOTE_OK)
		fail_msg("not refused: %s", sql);
	assert_string_equal(wp_sqlstate(conn), "0A000");
	if (strstr(wp_message(conn), message) == NULL)
		fail_msg("%s: %s", sql, wp_message(conn));
}

/* libcenote knows only the program's text, so the new text may do no more than that one. */
static void
a_new_text_does_no_more_than_the_old_one(void **state)
{
	cenote_conn *conn;

	ws_start("rule = \"text~^select 1$\" -> rewrite \"delete from audit\"\n"
		 "rule = \"text~^select 2$\" -> rewrite \"begin\"\n"
		 "rule = \"text~^select 3$\" -> rewrite \"select 1; select 2\"\n"
		 "rule = \"text~^select 4$\" -> rewrite \"select 'open\"\n"
		 "rule = \"text~^delete\" -> rewrite \"select 5\"\n"
		 "rule = \"text~^(begin|commit)\" -> rewrite \"select 6\"\n");
	conn = attach_with_table();
	expect_refused(conn, "select 1", "does more than the statement");
	expect_refused(conn, "select 2", "must be one statement");
	expect_refused(conn, "select 3", "must be one statement");
	expect_refused(conn, "select 4", "must be one statement");
	assert_string_equal(wp_value(conn, "delete from audit"), "5");
	wp_exec(conn, "begin");
	wp_exec(conn, "insert into audit values (2, 'bob')");
	wp_exec(conn, "commit");
	assert_string_equal(wp_value(conn, "select count(*) from audit"), "2");
	cenote_conn_destroy(conn);
}

static void
a_dry_run_rewrites_nothing(void **state)
{
	cenote_conn *conn;

	ws_start("rule = \"text~^select 1$\" -> rewrite \"select 2\" dry-run\n");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select 1"), "1");
	wp_await_log("would rewrite a statement of user");
	cenote_conn_destroy(conn);
}

/* What cenoted --explain-sql prints about a statement. */
static const char *
explained(const char *sql, int status)
{
	static char output[8192];
	const char *const argv[] = { cnt_env_or("CNT_CENOTED", CNT_CENOTED_PATH),
		"--explain-sql", "-c", wp_daemon.conf, "pool=main", sql, NULL };
	const struct cnt_command command = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	assert_int_equal(cnt_run(&command), status);
	return output;
}

static void
explain_sql_prints_the_new_text(void **state)
{
	const char *output;

	ws_start("normalize = yes\n"
		 "rule = \"text~^select 1$\" -> rewrite \"select 2\"\n"
		 "rule = \"text~^select 2$\" -> rewrite \"select 3\" dry-run\n"
		 "rule = class=session -> rewrite \"select 4\"\n");
	output = explained("SELECT  1", 0);
	assert_non_null(strstr(output, "text: select 1\n"));
	assert_non_null(strstr(output, ": rewrites\ntext: select 2\n"));
	assert_non_null(strstr(output, ": would rewrite (dry-run)\n"));
	output = explained("set  a = 1", 0);
	assert_null(strstr(output, "text: set"));
	assert_non_null(strstr(output, "rules do not rewrite the classes session"));
}

/* ---- the pool's settings ---- */

static void
a_program_for_another_server_runs(void **state)
{
	cenote_params *params = wp_params();
	cenote_result *res;
	cenote_conn *conn;
	char lines[64];

	snprintf(
		lines, sizeof(lines), "program_sql = %s\n", foreign[ws_kind].program_sql);
	ws_start(lines);
	conn = wp_attach(NULL);
	wp_exec(conn, ws_kind == WS_MARIADB ? "create or replace table `t t` (a int)"
					    : "create table \"t t\" (a int)");
	wp_exec(conn, ws_kind == WS_MARIADB ? "insert into `t t` values (40)"
					    : "insert into \"t t\" values (40)");
	for (int i = 0; i < 2; i++)
		assert_ok(cenote_params_add_int64(params, 1));
	assert_ok(
		cenote_query(conn, foreign[ws_kind].sql, CENOTE_NTS, params, NULL, &res));
	expect_42(res);
	cenote_params_destroy(params);
	cenote_conn_destroy(conn);
}

static void
a_server_gets_one_line(void **state)
{
	/* The text of the client, and that of the server. These statements give the text that the server got; SQLite names its column
	 * after it. */
	static const char *const texts[][2] = {
		[WS_POSTGRESQL] = { "SELECT query\n FROM   pg_stat_activity /* me */ "
				    "WHERE pid =\n"
				    "pg_backend_pid() -- that is all",
			"select query from pg_stat_activity where pid = "
			"pg_backend_pid()" },
		[WS_MARIADB] = { "SELECT info\n FROM   information_schema.processlist # "
				 "me\n WHERE  id "
				 "= "
				 "connection_id()",
			"select info from information_schema.processlist where id = "
			"connection_id()" },
		[WS_SQLITE] = { "SELECT 'a  b'  /* me */ ||\n'c'", "'a  b' || 'c'" },
	};
	const char *const *text = texts[ws_kind];
	cenote_result *res;
	cenote_conn *conn;

	ws_start("normalize = yes\n");
	conn = wp_attach(NULL);
	if (ws_kind != WS_SQLITE) {
		assert_string_equal(wp_value(conn, text[0]), text[1]);
	} else {
		assert_ok(cenote_query(conn, text[0], CENOTE_NTS, NULL, NULL, &res));
		assert_string_equal(cenote_column_text(cenote_result_column(res, 0),
					    CENOTE_COLUMN_NAME),
			text[1]);
		cenote_result_destroy(res);
	}
	/* the server keeps the text of a definition, so that one is not changed */
	wp_exec(conn, "create table t1 (a  int /* why */)");
	if (ws_kind == WS_SQLITE)
		assert_string_equal(
			wp_value(conn, "select sql from sqlite_master where name = 't1'"),
			"CREATE TABLE t1 (a  int /* why */)");
	wp_exec(conn, "drop table t1");
	cenote_conn_destroy(conn);
}

static void
an_error_of_the_server_becomes_another_one(void **state)
{
	cenote_conn *conn;

	ws_start("on_error = 23505,23000,native=1062,native=1555 -> 40001 native=1213 "
		 "\"come again\"\n"
		 "on_error = 42P01,42S02,HY000 -> 42704\n");
	conn = attach_with_table();
	assert_int_equal(wp_status_of(conn, "insert into audit values (1, 'eve')"),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "40001");
	assert_string_equal(wp_message(conn), "come again");
	assert_int_equal(cenote_diag_native(cenote_conn_diag(conn)), 1213);
	assert_int_equal(wp_status_of(conn, "select * from nowhere"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "42704");
	/* the message is still the server's */
	assert_non_null(strstr(wp_message(conn), "nowhere"));
	assert_int_equal(wp_status_of(conn, "select 1 +"), CENOTE_ERR_SERVER);
	cenote_conn_destroy(conn);
}

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)

int
main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_rule_puts_another_text_in_the_place_of_the_statement),
		TEST(a_prepared_statement_is_rewritten_when_it_is_prepared),
		TEST(a_new_text_does_no_more_than_the_old_one),
		TEST(a_dry_run_rewrites_nothing),
		TEST(explain_sql_prints_the_new_text),
		TEST(a_program_for_another_server_runs),
		TEST(a_server_gets_one_line),
		TEST(an_error_of_the_server_becomes_another_one),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	return cmocka_run_group_tests(tests, ws_setup, ws_teardown);
}
