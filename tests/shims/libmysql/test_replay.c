/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements of mysql_stmt_prepare() in a pool with `replay`: a program does not notice that its transaction ran twice. Built
 * for each flavour. tests/integration/test_replay.c has the rules, through the C API.
 */
#include "support/cnt_cmocka.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "rig.h"

static struct cmy_original f;
static struct cnt_rig rig;

/* One of two clients, each in a thread of its own. */
struct client {
	MYSQL *my;
	MYSQL_STMT *stmt;
	unsigned error;
	bool is_closing; /* it closes the statement in the transaction, and prepares another one */
	int id; /* the row that it changes first */
};

static void
run(MYSQL *my, const char *sql)
{
	if (f.mysql_query(my, sql) != 0)
		fail_msg("%s: %s", sql, f.mysql_error(my));
}

static MYSQL_STMT *
prepare(MYSQL *my)
{
	static const char sql[] = "update t set v = v + ? where id = ?";
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	assert_non_null(stmt);
	if (f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) != 0)
		fail_msg("%s", f.mysql_stmt_error(stmt));
	return stmt;
}

/* Add 1 to a row. Returns the number of the error; 0: it has worked. */
static unsigned
change(MYSQL_STMT *stmt, int id)
{
	int by = 1;
	MYSQL_BIND binds[2] = {
		{ .buffer_type = MYSQL_TYPE_LONG, .buffer = &by },
		{ .buffer_type = MYSQL_TYPE_LONG, .buffer = &id },
	};

	if (f.mysql_stmt_bind_param(stmt, binds) != 0 || f.mysql_stmt_execute(stmt) != 0)
		return f.mysql_stmt_errno(stmt);
	assert_int_equal(f.mysql_stmt_affected_rows(stmt), 1);
	return 0;
}

static void
begin(struct client *c)
{
	run(c->my, "begin");
	c->stmt = prepare(c->my);
	assert_int_equal(change(c->stmt, c->id), 0);
	if (!c->is_closing)
		return;
	f.mysql_stmt_close(c->stmt);
	c->stmt = prepare(c->my);
}

/* Change the row of the other client. */
static void *
end(void *arg)
{
	struct client *c = arg;

	c->error = change(c->stmt, 3 - c->id);
	if (f.mysql_query(c->my, c->error == 0 ? "commit" : "rollback") != 0)
		c->error = f.mysql_errno(c->my);
	return NULL;
}

static void
expect_row(MYSQL *my, int id, const char *value)
{
	char sql[64];
	MYSQL_RES *res;

	snprintf(sql, sizeof(sql), "select v from t where id = %d", id);
	run(my, sql);
	res = f.mysql_store_result(my);
	assert_non_null(res);
	assert_string_equal(f.mysql_fetch_row(res)[0], value);
	f.mysql_free_result(res);
}

static void
meet(bool is_closing)
{
	struct client clients[2];
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		clients[i] = (struct client){
			.my = f.mysql_init(NULL), .id = i + 1, .is_closing = is_closing
		};
		if (f.mysql_real_connect(
			    clients[i].my, NULL, "app", NULL, "app", 0, NULL, 0) == NULL)
			fail_msg("%s", f.mysql_error(clients[i].my));
	}
	run(clients[0].my, "drop table if exists t");
	run(clients[0].my, "create table t (id int primary key, v int)");
	run(clients[0].my, "insert into t values (1, 0), (2, 0)");
	begin(&clients[0]);
	begin(&clients[1]);
	assert_int_equal(pthread_create(&thread, NULL, end, &clients[0]), 0);
	(void)end(&clients[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(clients[i].error, 0);
		expect_row(clients[i].my, clients[i].id, "2");
		f.mysql_stmt_close(clients[i].stmt);
		f.mysql_close(clients[i].my);
	}
}

static void
prepared_statements_run_again(void **state)
{
	meet(false);
}

static void
statements_that_are_closed_in_the_transaction_run_again(void **state)
{
	meet(true);
}

static int
setup(void **state)
{
	cnt_library_open(&f, CNT_OURS);
	return cnt_rig_start_with(&rig, "do 0", "sessions = 2\nreplay = 10\n");
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prepared_statements_run_again),
		cmocka_unit_test(statements_that_are_closed_in_the_transaction_run_again),
	};

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
