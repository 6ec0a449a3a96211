/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that read and write rows of PostgreSQL, more of them than there are sessions. If the code of the database leaves
 * nothing in a session, the server is not asked before each turn. Otherwise a client keeps what its statements have left,
 * and in either case nobody else sees it.
 */
#include "turns.h"

#include <stdio.h>
#include <string.h>

enum {
	N_CLIENTS = 3,
	N_ROUNDS = 60
};

static void
by_superuser(const char *sql)
{
	assert_int_equal(cnt_server_sql(&turns_server, sql), 0);
}

/* How many lines of the server's log have the text. */
static int
count_logged(const char *text)
{
	static char line[65536];
	FILE *log = fopen(turns_server.log, "r");
	int n = 0;

	assert_non_null(log);
	while (fgets(line, sizeof(line), log) != NULL)
		n += strstr(line, text) != NULL;
	fclose(log);
	return n;
}

/* Run several statements, and drop their results. */
static void
do_all(cenote_conn *conn, const char *sql)
{
	cenote_result *res = NULL;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	while (r == CENOTE_OK) {
		cenote_result_destroy(res);
		res = NULL;
		r = cenote_get_result(conn, &res);
	}
	if (r < 0)
		fail_msg("%s: %s", sql, wp_message(conn));
}

/* Whether the client's probe gives this value. */
static int
has_value(cenote_conn *conn, const char *probe, const char *value)
{
	return strcmp(wp_value(conn, probe), value) == 0;
}

/* The same for a new client, which leaves at once: with code that may leave something, each client that may have called it
 * keeps its session. */
static int
is_seen_by_others(const char *probe, const char *value)
{
	cenote_conn *conn = wp_attach(NULL);
	int is_seen = has_value(conn, probe, value);

	cenote_conn_destroy(conn);
	return is_seen;
}

/* ---- nothing is left ---- */

static const char make_common[] =
	"create table item (id serial primary key, name text default 'x' check (name <> "
	"''),"
	" at timestamptz default now());"
	"create table note (id int primary key, n int not null);"
	"create view names as select id, upper(name) as name from item;"
	"create function count_up() returns trigger language plpgsql as $$ begin"
	" insert into note as o values (1, 1) on conflict (id) do update set n = o.n + 1;"
	" update item set name = 'first' where id = 1; return new; end $$;"
	"create trigger count_up before insert on item for each row execute function"
	" count_up()";

/* Prepare a statement under a name, which the pool prepares again wherever the client goes. */
static void
prepare_named(cenote_conn *conn, const char *sql)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, "named"));
	assert_ok(cenote_stmt_prepare(stmt));
	cenote_stmt_destroy(stmt);
}

static void
run_named(cenote_conn *conn, const char *wanted)
{
	cenote_result *res;
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_by_name(conn, "named", &stmt));
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), wanted);
	cenote_result_destroy(res);
	cenote_stmt_destroy(stmt);
}

static void
rows_are_read_and_written_without_questions(void **state)
{
	cenote_conn *conns[N_CLIENTS];
	int64_t since = 0, yields;
	int n_proofs, n_settled, n_first;

	turns_start("sessions = 1..1\n" TURNS_POOL);
	turns_attach(conns, N_CLIENTS);
	do_all(conns[0], make_common);
	by_superuser("alter system set log_statement = 'all'");
	by_superuser("select pg_reload_conf()");
	wp_exec(conns[0], "insert into item default values");
	turns_take(conns, N_CLIENTS, 2);
	for (int i = 0; i < N_CLIENTS; i++)
		prepare_named(conns[i], "select name from names where id = 1");
	n_proofs = count_logged("set_limit (ids)");
	n_settled = count_logged("pg_listening_channels");
	n_first = count_logged("insert into item (name)");
	yields = wp_pool_number("main", "yields");
	since = wp_now_ms();
	for (int i = 0; i < N_ROUNDS * N_CLIENTS; i++) {
		cenote_conn *conn = conns[i % N_CLIENTS];

		wp_exec(conn, "insert into item (name) values ('a')");
		assert_string_equal(
			wp_value(conn, "select name from names where id = 1"), "FIRST");
		run_named(conn, "FIRST");
	}
	since = (wp_now_ms() - since) / 1000;
	assert_string_equal(wp_value(conns[0], "select n from note"), "181");
	assert_true(wp_pool_number("main", "yields") - yields >=
		    (int64_t)N_ROUNDS * N_CLIENTS - 1);
	/* the log is complete, and the server was asked once a second */
	assert_int_equal(
		count_logged("insert into item (name)") - n_first, N_ROUNDS * N_CLIENTS);
	assert_int_equal(count_logged("pg_listening_channels") - n_settled, 0);
	assert_true(count_logged("set_limit (ids)") - n_proofs <= since + 2);
	by_superuser("alter system reset log_statement");
	by_superuser("select pg_reload_conf()");
	wp_exec(conns[0], "drop table item, note cascade; drop function count_up()");
	turns_destroy(conns, N_CLIENTS);
}

/* ---- something is left ---- */

#define TRIGGER(body)                                                                    \
	"create table t (a int); create function f() returns trigger language plpgsql "  \
	"as"                                                                             \
	" $$ begin " body                                                                \
	"; return new; end $$; create trigger g before insert on t for"                  \
	" each row execute function f()"
#define NO_TRIGGER "drop table t; drop function f()"
#define INSERT     "insert into t values (1)"
#define APP_X      "select current_setting('app.x', true)"

/* What makes the code, calls it, shows what it left, the value then, and what removes the code. */
static const struct {
	const char *make;
	const char *act;
	const char *probe;
	const char *mine;
	const char *remove;
} cases[] = {
	{ TRIGGER("perform set_config('app.x', 'mine', false)"), INSERT, APP_X, "mine",
		NO_TRIGGER },
	{ TRIGGER("set app.x = 'mine'"), INSERT, APP_X, "mine", NO_TRIGGER },
	{ TRIGGER("set work_mem = '1MB'"), INSERT, "show work_mem", "1MB", NO_TRIGGER },
	{ TRIGGER("execute 'select set_' || 'config(''app.x'', ''mine'', false)'"),
		INSERT, APP_X, "mine", NO_TRIGGER },
	{ TRIGGER("perform pg_advisory_lock(7)"), INSERT,
		"select count(*) from pg_locks where locktype = 'advisory' and pid ="
		" pg_backend_pid()",
		"1", NO_TRIGGER },
	{ TRIGGER("create temp table hidden (a int)"), INSERT,
		"select pg_my_temp_schema() <> 0", "t", NO_TRIGGER },
	{ TRIGGER("listen hidden"), INSERT,
		"select count(*) from pg_listening_channels()", "1", NO_TRIGGER },
	{ TRIGGER("execute 'prepare hidden as select 1'"), INSERT,
		"select count(*) from pg_prepared_statements where from_sql", "1",
		NO_TRIGGER },
	{ "create view v as select set_config('app.x', 'mine', false) as a",
		"select * from v", APP_X, "mine", "drop view v" },
	{ "create table t (a int, b text default set_config('app.x', 'mine', false))",
		INSERT, APP_X, "mine", "drop table t" },
	{ "create function f(text, text) returns text language sql as 'select"
	  " set_config($1, $2, false)'; create operator ### (leftarg = text, rightarg ="
	  " text, procedure = f)",
		"select 'app.x'::text ### 'mine'::text", APP_X, "mine",
		"drop function f(text, text) cascade" },
};

static void
who_left_something_keeps_it(void **state)
{
	cenote_conn *conns[N_CLIENTS];

	turns_start("sessions = 2..2\n" TURNS_POOL);
	turns_attach(conns, N_CLIENTS);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		turns_take(conns, N_CLIENTS, 2);
		/* who makes such code counts as one that has called it */
		do_all(conns[2], cases[i].make);
		cenote_conn_destroy(conns[2]);
		conns[2] = wp_attach(NULL);
		wp_exec(conns[0], cases[i].act);
		for (int round = 0; round < 3; round++) {
			turns_take(conns + 1, N_CLIENTS - 1, 1);
			if (!has_value(conns[0], cases[i].probe, cases[i].mine))
				fail_msg("lost: %s", cases[i].make);
			if (is_seen_by_others(cases[i].probe, cases[i].mine))
				fail_msg("seen by others: %s", cases[i].make);
		}
		turns_destroy(conns, N_CLIENTS);
		conns[0] = wp_attach(NULL);
		do_all(conns[0], cases[i].remove);
		cenote_conn_destroy(conns[0]);
		turns_attach(conns, N_CLIENTS);
	}
	turns_destroy(conns, N_CLIENTS);
}

/* The second leaves more, but then the session ends. */
static const char *const new_code[] = {
	"create view v as select set_config('app.x', 'secret', false) as a, set_config("
	"'work_mem', '1MB', false) as b, pg_try_advisory_lock(7); grant select on v to"
	" public",
	"create function f() returns int language plpgsql as $$ begin create temp table"
	" hidden (a int); listen hidden; execute 'prepare hidden as select 1'; execute"
	" 'declare hidden cursor with hold for select 1'; return 1; end $$; create view "
	"v as"
	" select f(); grant select on v to public",
};

/*
 * Code that comes from outside the pool is not seen for a second. Its caller may lose what it left, but the next client
 * never has it, though it takes the session at once.
 */
static void
new_code_gives_nothing_to_the_next_client(void **state)
{
	static const char probe[] =
		"select coalesce(current_setting('app.x', true), '') || current_setting("
		"'work_mem') || (select count(*) from pg_locks where locktype = "
		"'advisory') ||"
		" (select count(*) from pg_listening_channels()) || (select count(*) from"
		" pg_prepared_statements where from_sql) || (select count(*) from "
		"pg_cursors)"
		" || (pg_my_temp_schema() <> 0)";
	cenote_conn *conns[2];

	turns_start("sessions = 1..1\n" TURNS_POOL);
	turns_attach(conns, 2);
	for (int i = 0; i < 5; i++) {
		/* the session has just been found harmless */
		wp_pause_ms(1100);
		for (int k = 0; k < 4; k++) {
			wp_exec(conns[0], "select count(*) from pg_class");
			wp_exec(conns[1], "select count(*) from pg_class");
		}
		by_superuser(new_code[i % 2]);
		wp_exec(conns[0], "select * from v");
		cenote_conn_destroy(conns[0]);
		assert_string_equal(wp_value(conns[1], probe), "4MB0000false");
		cenote_conn_destroy(conns[1]);
		by_superuser("drop view v; drop function if exists f()");
		turns_attach(conns, 2);
	}
	turns_destroy(conns, 2);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_are_read_and_written_without_questions),
		TEST(who_left_something_keeps_it),
		TEST(new_code_gives_nothing_to_the_next_client),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
