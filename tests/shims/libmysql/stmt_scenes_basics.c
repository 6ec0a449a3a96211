/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt_scenes.h"

#include <stdio.h>
#include <string.h>

/* Orders of calls: which are allowed, and which calls fail. */

void
stmt_not_prepared(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_STRING };

	show(stmt, "made", 0);
	steps(stmt, "execute fetch stored");
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, &b));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 0, "a", 1));
	show(stmt, "column", f.mysql_stmt_fetch_column(stmt, &b, 0, 0));
	steps(stmt, "freed reset next fields");
	prepare(stmt, "select");
	prepare(stmt, "select 1 as a");
	prepare(stmt, "nonsense");
	steps(stmt, "execute closed");
}

void
stmt_orders(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select seq from seq_1_to_3");
	steps(stmt, "fields fetch stored execute fields");
	query("select 1");
	steps(stmt, "fetch bind fetch stored rest fetch");
	query("select 2");
	steps(stmt, "execute execute bind stored");
	query("select 3");
	steps(stmt, "fetch execute fetch freed fetch execute reset fetch execute fetch");
	prepare(stmt, "select 'other'");
	steps(stmt, "execute bind rest");
	prepare(stmt, "do 1");
	steps(stmt, "execute fetch stored freed next closed");
}

/* At a position from which no row was fetched, there is no value. */
static void
column_of_none(MYSQL_STMT *stmt)
{
	char value[8] = "kept";
	my_bool is_null = 0;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_STRING,
		.buffer = value,
		.buffer_length = sizeof(value),
		.is_null = &is_null };

	f.mysql_stmt_data_seek(stmt, 2);
	show(stmt, "column", f.mysql_stmt_fetch_column(stmt, &b, 0, 0));
	printf("  null %d [%s]\n", is_null, value);
	f.mysql_stmt_data_seek(stmt, 0);
}

void
stmt_places(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_ROW_OFFSET at;

	prepare(stmt, "select seq from seq_1_to_4");
	steps(stmt, "execute stored");
	column_of_none(stmt);
	steps(stmt, "freed execute bind stored fetch");
	at = f.mysql_stmt_row_tell(stmt);
	steps(stmt, "fetch fetch");
	printf("was %d\n", f.mysql_stmt_row_seek(stmt, at) != NULL);
	fetch(stmt);
	f.mysql_stmt_data_seek(stmt, 0);
	fetch_rest(stmt);
	f.mysql_stmt_data_seek(stmt, 3);
	steps(stmt, "fetch fetch");
	f.mysql_stmt_data_seek(stmt, 9);
	steps(stmt, "fetch freed freed closed");
}

void
stmt_parameters(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	int number = 7;
	unsigned long length = 3;
	char value[8] = "abcdef";
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = &number;
	b[1].buffer_type = MYSQL_TYPE_STRING;
	b[1].buffer = value;
	b[1].length = &length;
	prepare(stmt, "select concat(?, '-', ?)");
	execute(stmt);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	steps(stmt, "execute bind rest");
	number = -8;
	length = 5;
	steps(stmt, "execute rest");
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "lo", 2));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "ng", 2));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "", 0));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 2, "x", 1));
	steps(stmt, "execute rest execute rest");
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "lost", 4));
	steps(stmt, "reset execute rest");
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "", 0));
	steps(stmt, "execute rest");
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "ahead", 5));
	b[1].buffer = NULL;
	show(stmt, "given behind it", f.mysql_stmt_bind_param(stmt, b));
	steps(stmt, "execute rest execute rest");
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "kept", 4));
	steps(stmt, "freed execute rest");
	b[0].buffer_type = MYSQL_TYPE_GEOMETRY;
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

void
stmt_changes(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *again;

	run("create or replace table stmt_changes (id int auto_increment primary key, v "
	    "varchar(20))");
	prepare(stmt, "insert into stmt_changes (v) values ('a'), ('b')");
	steps(stmt, "execute execute");
	prepare(stmt, "update stmt_changes set v = 'c' where id > 2");
	steps(stmt, "execute execute");
	prepare(stmt, "insert into stmt_changes values (1, 'twice')");
	steps(stmt, "execute stored execute");
	prepare(stmt, "select * from stmt_changes");
	steps(stmt, "execute stored");
	again = f.mysql_stmt_init(my);
	prepare(again, "alter table stmt_changes modify v varchar(50)");
	execute(again);
	steps(stmt, "execute stored fields closed");
	printf("closed %d\n", f.mysql_stmt_close(again));
	run("drop table stmt_changes");
}

void
stmt_two(void)
{
	MYSQL_STMT *a = f.mysql_stmt_init(my), *b = f.mysql_stmt_init(my);

	prepare(a, "select seq from seq_1_to_3");
	prepare(b, "select 'b'");
	execute(a);
	execute(b);
	query("select 'too early'");
	steps(a, "bind stored fetch");
	steps(b, "execute stored");
	fetch_rest(a);
	steps(b, "execute bind rest closed");
	printf("closed %d\n", f.mysql_stmt_close(a));
	query("select 'well'");
}

void
stmt_failures(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt,
		"select if(seq = 3, (select 1 union select 2), seq) from seq_1_to_5");
	steps(stmt, "execute bind rest");
	query("select 'goes on'");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt) != 0);
	query("select 'goes on'");
	/* the first execution succeeds, and later ones fail before their first row */
	run("create or replace table stmt_failures (a int primary key)");
	prepare(stmt, "insert into stmt_failures values (1) returning a");
	steps(stmt, "execute bind rest");
	for (int i = 0; i < 2; i++) {
		steps(stmt, "execute fetch");
		query("select 'goes on'");
	}
	prepare(stmt, "select * from nowhere");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

void
stmt_lost(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *other = f.mysql_stmt_init(my);

	prepare(stmt, "select seq from seq_1_to_3");
	steps(stmt, "execute bind stored fetch");
	f.mysql_close(my);
	my = f.mysql_init(NULL);
	show(stmt, "closed", 0);
	show(other, "closed", 0);
	execute(stmt);
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "do 1", 4));
	steps(stmt, "stored next closed");
	printf("closed %d\n", f.mysql_stmt_close(other));
}

static void
null_of_a_sign(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_NULL, .is_unsigned = 1 };

	prepare(stmt, "select ?");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	steps(stmt, "execute fields closed");
}

/* An error in rows that are not read is not reported. */
static void
unread_failure(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select 1 / (seq - 3), cast(seq as unsigned) - 3 from seq_5_to_1");
	steps(stmt, "execute reset");
	prepare(stmt, "select 1 / (seq - 3), cast(seq as unsigned) - 3 from seq_5_to_1");
	steps(stmt, "execute stored freed");
	prepare(stmt, "select seq, 10 / (seq - 3) from seq_1_to_5");
	steps(stmt, "execute rest");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "selct", 5));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* Pieces can be sent even if the statement could not be prepared again, because its table is not
 * in the current database. */
static void
pieces_in_another_database(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	int number = 1;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };

	run("create or replace table stmt_pieces (a text)");
	prepare(stmt, "insert into stmt_pieces values (?)");
	run("use app2");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "one", 3));
	execute(stmt);
	b.buffer_type = MYSQL_TYPE_STRING;
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "two", 3));
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "three", 5));
	execute(stmt);
	run("use app");
	query("select * from stmt_pieces");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_pieces");
}

/* A piece that is refused because it is out of turn still counts as sent. */
static void
a_piece_out_of_turn(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	char word[] = "text";
	unsigned long length = 4;
	MYSQL_BIND b = {
		.buffer_type = MYSQL_TYPE_STRING, .buffer = word, .length = &length
	};

	prepare(stmt, "select ?");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	execute(stmt);
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "one", 3));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "", 0));
	show(stmt, "free", f.mysql_stmt_free_result(stmt));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "", 0));
	execute(stmt);
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "two", 3));
	steps(stmt, "execute stored closed");
}

void
stmt_odd_pieces(void)
{
	run("create database if not exists app2");
	pieces_in_another_database();
	a_piece_out_of_turn();
	unread_failure();
	null_of_a_sign();
}
