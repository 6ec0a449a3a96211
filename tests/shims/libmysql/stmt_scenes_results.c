/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt_scenes.h"

#include <stdio.h>
#include <string.h>

/* Several results, repeated executions, and results that nobody reads. */

/* Read all results of a CALL. */
static void
take_all(MYSQL_STMT *stmt)
{
	int r = 0;

	while (r == 0) {
		printf(" result of %u, output %d\n", f.mysql_stmt_field_count(stmt),
			(my->server_status & SERVER_PS_OUT_PARAMS) != 0);
		if (f.mysql_stmt_field_count(stmt) > 0) {
			bind_text(stmt);
			while ((r = f.mysql_stmt_fetch(stmt)) == 0)
				printf("  row %s %d\n", text, text_null);
			printf("  end %d\n", r);
		}
		r = f.mysql_stmt_next_result(stmt);
		printf(" next %d errno %u\n", r, f.mysql_stmt_errno(stmt));
	}
}

void
stmt_procedures(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	int in = 4, inout = 5;
	MYSQL_BIND b[3];

	run("create or replace procedure stmt_several(a int, out b varchar(20), inout c "
	    "int) begin select a as first; select seq from seq_1_to_3; set b = 'out'; "
	    "set c = c + a; end");
	memset(b, 0, sizeof(b));
	b[0].buffer_type = b[2].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = &in;
	b[2].buffer = &inout;
	b[1].buffer_type = MYSQL_TYPE_NULL;
	prepare(stmt, "call stmt_several(?, ?, ?)");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	take_all(stmt);
	show(stmt, "all", 0);
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	take_all(stmt);
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	query("select 'too early'");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	query("select 'closed'");
	run("drop procedure stmt_several");
}

/* Results that look alike; those of the first execution are not read. */
void
stmt_procedures_unread(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	run("create or replace procedure stmt_alike() begin select 1 as v; "
	    "select 2 as v; end");
	prepare(stmt, "call stmt_alike()");
	steps(stmt, "executed executed");
	take_all(stmt);
	show(stmt, "all", 0);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop procedure stmt_alike");
}

/* The columns of a result tell whether another result follows. */
static void
results_ahead(void)
{
	MYSQL_RES *res;

	run("create or replace procedure stmt_ahead() begin select 1; do 1; select 2; "
	    "end");
	run("call stmt_ahead()");
	do {
		printf("ahead: more %d\n", f.mysql_more_results(my));
		res = f.mysql_use_result(my);
		while (res && f.mysql_fetch_row(res))
			printf("  row, more %d\n", f.mysql_more_results(my));
		f.mysql_free_result(res);
		printf("read: more %d\n", f.mysql_more_results(my));
	} while (f.mysql_next_result(my) == 0);
	run("drop procedure stmt_ahead");
}

/* Unread results of the previous execution do not change the insert id. */
static void
executed_again(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	run("create or replace procedure stmt_again() begin select 1; select 2; end");
	run("create or replace table stmt_ids (id int auto_increment primary key)");
	run("insert into stmt_ids values (null), (null)");
	prepare(stmt, "call stmt_again()");
	for (int i = 0; i < 3; i++) {
		execute(stmt);
		printf("again: id %llu\n", (unsigned long long)f.mysql_insert_id(my));
	}
	take_all(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_ids");
	run("drop procedure stmt_again");
}

/* A refused execution counts the types as sent, also without a connection. */
static void
executed_badly(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *other = f.mysql_stmt_init(my);
	MYSQL_BIND b;
	int number = 7;

	memset(&b, 0, sizeof(b));
	b.buffer_type = MYSQL_TYPE_LONG;
	b.buffer = &number;
	prepare(stmt, "select ?");
	prepare(other, "select 1");
	show(stmt, "bound", f.mysql_stmt_bind_param(stmt, &b));
	printf("others rows %d\n", f.mysql_stmt_execute(other));
	printf("refused %d, types to send %d\n", f.mysql_stmt_execute(stmt),
		stmt->send_types_to_server);
	f.mysql_stmt_close(other);
	printf("reset %d\n", f.mysql_reset_connection(my));
	printf("direct %d\n", f.mariadb_stmt_execute_direct(stmt, "do 1", 4));
	printf("number %d\n", stmt->stmt_id == (unsigned long)-1);
	f.mysql_stmt_close(stmt);
	stmt = f.mysql_stmt_init(my);
	printf("direct %d\n", f.mariadb_stmt_execute_direct(stmt, "select 1", 8));
	printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	for (int again = 0; again < 2; again++) {
		printf("refused %d\n",
			again ? f.mariadb_stmt_execute_direct(stmt, "selct", 5) != 0
			      : f.mysql_stmt_prepare(stmt, "selct", 5) != 0);
		printf("rows %d\n", (int)f.mysql_stmt_num_rows(stmt));
	}
	f.mysql_stmt_close(stmt);
}

/* A statement that is closed with unread rows reports the status that the server sends
 * after them. */
static void
unread_help(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	run("set autocommit = 0");
	prepare(stmt, "help 'nothing of this name'");
	steps(stmt, "execute closed");
	say_bits("closed");
	run("set autocommit = 1");
}

/* Of an error between sending and reading, keep the SQLSTATE only; keep all of it once
 * rows have arrived. */
static void
failure_meanwhile(const char *sql)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select 1");
	steps(stmt, "execute stored");
	printf("sent %d\n", f.mysql_send_query(my, sql, strlen(sql)));
	printf("used %d\n", f.mysql_use_result(my) != NULL);
	printf("read %d", f.mysql_read_query_result(my));
	printf(" errno %u %s\n", f.mysql_errno(my), f.mysql_sqlstate(my));
	f.mysql_free_result(f.mysql_store_result(my));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* Read the first result of a CALL to its end. More results wait. */
static MYSQL_STMT *
begin_call(const char *sql)
{
	MYSQL_STMT *call = f.mysql_stmt_init(my);

	must(f.mysql_stmt_prepare(call, sql, strlen(sql)) == 0, sql);
	must(f.mysql_stmt_execute(call) == 0, sql);
	while (f.mysql_stmt_fetch(call) == 0)
		;
	show(call, "begun", 0);
	return call;
}

/* Another statement may read the results that a CALL has left, if that statement was executed and
 * has columns. */
static void
others_results(const char *sql, int is_executed, int is_reset)
{
	MYSQL_STMT *call, *other = f.mysql_stmt_init(my);

	prepare(other, sql);
	if (is_executed)
		execute(other);
	while (is_executed && f.mysql_stmt_fetch(other) == 0)
		;
	call = begin_call("call stmt_three()");
	if (is_reset)
		show(other, "reset", f.mysql_stmt_reset(other) != 0);
	printf("closed %d\n", f.mysql_stmt_close(other));
	say_bits("closed");
	query("do 3");
	steps(call, "next closed");
	query("select 4");
}

/* A statement's next command reads the results that its own CALL has left. */
static void
own_results(void)
{
	MYSQL_STMT *stmt = begin_call("call stmt_three()");

	steps(stmt, "reset closed");
	stmt = begin_call("call stmt_three()");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "selct", 5));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = begin_call("call stmt_fails()");
	steps(stmt, "reset closed");
	stmt = begin_call("call stmt_fails()");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "select 1", 8));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* An execution is refused while further results wait after a stored one. */
static void
refused_execution(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "call stmt_three()");
	steps(stmt, "execute bind stored execute fetch fetch execute closed");
}

/* Changes that come with unread results are lost, and earlier ones stay. */
static void
track_of_unread_results(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	const char *db = NULL;
	size_t length = 0;
	int r;

	run("set session_track_schema = 1");
	must(f.mysql_select_db(my, "app2") == 0, "app2");
	run("use app");
	prepare(stmt, "call stmt_three()");
	steps(stmt, "execute execute");
	r = f.mysql_session_track_get_first(my, SESSION_TRACK_SCHEMA, &db, &length);
	printf("database %d %.*s\n", r, (int)length, db ? db : "");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* The previous result stays after a failure. */
static void
failing_result(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *other = f.mysql_stmt_init(my);

	prepare(stmt, "call stmt_fails()");
	steps(stmt, "execute bind stored next");
	f.mysql_stmt_data_seek(stmt, 0);
	fetch(stmt);
	prepare(other, "do 1");
	execute(other);
	steps(stmt, "execute stored");
	show(other, "next", f.mysql_stmt_next_result(other));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(other));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
results_in_odd_orders(void)
{
	run("create database if not exists app2");
	run("create or replace procedure stmt_three() begin "
	    "select 1; select cast('x' as signed); select 3; end");
	run("create or replace procedure stmt_fails() begin select 'first' as a; "
	    "signal sqlstate '45000' set message_text = 'failed'; end");
	for (int is_reset = 0; is_reset < 2; is_reset++) {
		others_results("do 1", 1, is_reset);
		others_results("select 1", 0, is_reset);
		others_results("select 1", 1, is_reset);
	}
	own_results();
	refused_execution();
	track_of_unread_results();
	failing_result();
	run("drop procedure stmt_three");
	run("drop procedure stmt_fails");
}

void
stmt_executions(void)
{
	results_ahead();
	executed_again();
	executed_badly();
}

/* The columns report the end of a transaction, which the failure before them did not
 * report. */
static void
failure_behind_columns(void)
{
	run("begin");
	query("truncate nowhere");
	say_bits("failed");
	printf("answered %d\n",
		f.mysql_query(my, "select exp(seq * 300) from seq_1_to_3"));
	printf("stored %d\n", f.mysql_store_result(my) != NULL);
	say_bits("failed again");
}

void
stmt_odd_results(void)
{
	failure_behind_columns();
	unread_help();
	failure_meanwhile("do 1");
	failure_meanwhile("select 2");
	results_in_odd_orders();
}
