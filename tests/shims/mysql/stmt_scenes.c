/* SPDX-License-Identifier: BSD-2-Clause */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: stmt_scenes LIBRARY SOCKET DIRECTORY SCENE
 *
 * As scenes.c, with prepared statements: in which order what may be called, and what MYSQL_STMT has after
 * each call. MYSQL.server_status is left out where rows are still to come.
 */

static struct cmy_original f;
static MYSQL *my;
#if !CMY_ORACLE
static const char *directory;
#endif

/* ---- what a program sees ---- */

static void
show(MYSQL_STMT *stmt, const char *what, int r)
{
	int is_over = my->status == MYSQL_STATUS_READY;

	printf("%s: %d errno %u %s [%s] connection %u status %d more %d\n", what, r,
		f.mysql_stmt_errno(stmt), f.mysql_stmt_sqlstate(stmt),
		f.mysql_stmt_error(stmt), f.mysql_errno(my), (int)my->status,
		is_over && (my->server_status & SERVER_MORE_RESULTS_EXISTS) != 0);
	printf("  state %d fields %u params %lu affected %lld id %llu rows %llu bound "
	       "%d/%d types %d place %d flags %lu connected %d\n",
		(int)stmt->state, f.mysql_stmt_field_count(stmt),
		f.mysql_stmt_param_count(stmt),
		(long long)f.mysql_stmt_affected_rows(stmt),
		(unsigned long long)f.mysql_stmt_insert_id(stmt),
		(unsigned long long)f.mysql_stmt_num_rows(stmt), stmt->bind_param_done,
		stmt->bind_result_done, stmt->send_types_to_server,
		f.mysql_stmt_row_tell(stmt) != NULL, stmt->flags, stmt->mysql != NULL);
#if !CMY_ORACLE
	printf("  warnings %d more %d cursor %d executed %u\n",
		f.mysql_stmt_warning_count(stmt), f.mysql_stmt_more_results(stmt),
		stmt->cursor_exists, stmt->execute_count);
#endif
}

static void
must(int ok, const char *what)
{
	if (ok)
		return;
	printf("cannot go on: %s: %s\n", what, f.mysql_error(my));
	exit(1);
}

static void
run(const char *sql)
{
	must(f.mysql_query(my, sql) == 0, sql);
}

static void
prepare(MYSQL_STMT *stmt, const char *sql)
{
	printf("> %s\n", sql);
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, sql, strlen(sql)));
}

static void
execute(MYSQL_STMT *stmt)
{
	show(stmt, "executed", f.mysql_stmt_execute(stmt));
}

static char text[64];
static unsigned long text_length;
static my_bool text_null, text_cut;

static void
bind_text(MYSQL_STMT *stmt)
{
	static MYSQL_BIND b[8];
	unsigned i;

	memset(b, 0, sizeof(b));
	for (i = 0; i < 8; i++)
		b[i].buffer_type = MYSQL_TYPE_STRING;
	b[0].buffer = text;
	b[0].buffer_length = sizeof(text);
	b[0].length = &text_length;
	b[0].is_null = &text_null;
	b[0].error = &text_cut;
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, b));
}

static void
fetch(MYSQL_STMT *stmt)
{
	int r;

	memset(text, 0, sizeof(text));
	r = f.mysql_stmt_fetch(stmt);
	printf("got [%s] %lu null %d cut %d\n", text, text_length, text_null, text_cut);
	show(stmt, "fetched", r);
}

static void
fetch_rest(MYSQL_STMT *stmt)
{
	int i;

	for (i = 0; i < 20 && stmt->state < MYSQL_STMT_FETCH_DONE; i++)
		fetch(stmt);
}

static void
show_fields(MYSQL_STMT *stmt)
{
	MYSQL_RES *meta = f.mysql_stmt_result_metadata(stmt);
	MYSQL_FIELD *field;

	while (meta && (field = f.mysql_fetch_field(meta)))
		printf("  field %s %s %s type %d length %lu longest %lu flags %x "
		       "decimals "
		       "%u charset %u\n",
			field->name, field->org_name, field->table, (int)field->type,
			field->length, field->max_length, field->flags, field->decimals,
			field->charsetnr);
	printf("  metadata %d\n", meta != NULL);
	f.mysql_free_result(meta);
	printf("  of parameters %d\n", f.mysql_stmt_param_metadata(stmt) != NULL);
}

static void
query(const char *sql)
{
	MYSQL_RES *res;
	MYSQL_ROW row;

	printf("query %d\n", f.mysql_query(my, sql));
	res = f.mysql_store_result(my);
	while (res && (row = f.mysql_fetch_row(res)))
		printf("  row %s %s\n", row[0] ? row[0] : "NULL",
			f.mysql_num_fields(res) > 1 && row[1] ? row[1] : "-");
	printf("  %u [%s]\n", f.mysql_errno(my), f.mysql_error(my));
	f.mysql_free_result(res);
}

/* ---- scenes ---- */

static void
not_prepared(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_STRING };

	show(stmt, "made", 0);
	execute(stmt);
	fetch(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, &b));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 0, "a", 1));
	show(stmt, "column", f.mysql_stmt_fetch_column(stmt, &b, 0, 0));
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	show_fields(stmt);
	prepare(stmt, "select");
	prepare(stmt, "select 1 as a");
	prepare(stmt, "nonsense");
	execute(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
orders(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select seq from seq_1_to_3");
	show_fields(stmt);
	fetch(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	execute(stmt);
	show_fields(stmt);
	query("select 1");
	fetch(stmt);
	bind_text(stmt);
	fetch(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	fetch_rest(stmt);
	fetch(stmt);
	query("select 2");
	execute(stmt);
	execute(stmt);
	bind_text(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	query("select 3");
	fetch(stmt);
	execute(stmt);
	fetch(stmt);
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	fetch(stmt);
	execute(stmt);
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	fetch(stmt);
	execute(stmt);
	fetch(stmt);
	prepare(stmt, "select 'other'");
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	prepare(stmt, "do 1");
	execute(stmt);
	fetch(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* At a place that no row was fetched from there is no value. */
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

static void
places(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_ROW_OFFSET at;

	prepare(stmt, "select seq from seq_1_to_4");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	column_of_none(stmt);
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	execute(stmt);
	bind_text(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	fetch(stmt);
	at = f.mysql_stmt_row_tell(stmt);
	fetch(stmt);
	fetch(stmt);
	printf("was %d\n", f.mysql_stmt_row_seek(stmt, at) != NULL);
	fetch(stmt);
	f.mysql_stmt_data_seek(stmt, 0);
	fetch_rest(stmt);
	f.mysql_stmt_data_seek(stmt, 3);
	fetch(stmt);
	fetch(stmt);
	f.mysql_stmt_data_seek(stmt, 9);
	fetch(stmt);
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
parameters(void)
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
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	number = -8;
	length = 5;
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "lo", 2));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "ng", 2));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "", 0));
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 2, "x", 1));
	execute(stmt);
	fetch_rest(stmt);
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "lost", 4));
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "", 0));
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "ahead", 5));
	b[1].buffer = NULL;
	show(stmt, "given behind it", f.mysql_stmt_bind_param(stmt, b));
	execute(stmt);
	fetch_rest(stmt);
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "long", f.mysql_stmt_send_long_data(stmt, 1, "kept", 4));
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	execute(stmt);
	fetch_rest(stmt);
	b[0].buffer_type = MYSQL_TYPE_GEOMETRY;
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
changes(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *again;

	run("create or replace table stmt_changes (id int auto_increment primary key, v "
	    "varchar(20))");
	prepare(stmt, "insert into stmt_changes (v) values ('a'), ('b')");
	execute(stmt);
	execute(stmt);
	prepare(stmt, "update stmt_changes set v = 'c' where id > 2");
	execute(stmt);
	execute(stmt);
	prepare(stmt, "insert into stmt_changes values (1, 'twice')");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	execute(stmt);
	prepare(stmt, "select * from stmt_changes");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	again = f.mysql_stmt_init(my);
	prepare(again, "alter table stmt_changes modify v varchar(50)");
	execute(again);
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show_fields(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	printf("closed %d\n", f.mysql_stmt_close(again));
	run("drop table stmt_changes");
}

static void
two_statements(void)
{
	MYSQL_STMT *a = f.mysql_stmt_init(my), *b = f.mysql_stmt_init(my);

	prepare(a, "select seq from seq_1_to_3");
	prepare(b, "select 'b'");
	execute(a);
	execute(b);
	query("select 'too early'");
	bind_text(a);
	show(a, "stored", f.mysql_stmt_store_result(a));
	fetch(a);
	execute(b);
	show(b, "stored", f.mysql_stmt_store_result(b));
	fetch_rest(a);
	execute(b);
	bind_text(b);
	fetch_rest(b);
	printf("closed %d\n", f.mysql_stmt_close(b));
	printf("closed %d\n", f.mysql_stmt_close(a));
	query("select 'well'");
}

static void
cursors(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY, rows = 2,
		      bad = CURSOR_TYPE_FOR_UPDATE;

	show(stmt, "type", f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &bad));
	show(stmt, "type", f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type));
	show(stmt, "rows", f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows));
	rows = 0;
	printf("rows %d\n", f.mysql_stmt_attr_get(stmt, STMT_ATTR_PREFETCH_ROWS, &rows));
	printf("are %lu\n", rows);
	run("create or replace table stmt_cursor as select seq as v from seq_1_to_5");
	prepare(stmt, "select v from stmt_cursor order by v");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	bind_text(stmt);
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	query("select 'in between'");
	run("drop table if exists stmt_nowhere");
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("warnings %u\n", f.mysql_warning_count(my));
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("warnings %u\n", f.mysql_warning_count(my));
	query("select 'in between'");
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("stored %d\n", f.mysql_stmt_store_result(stmt));
	printf("rows %llu\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	query("select 'stored'");
	while (f.mysql_stmt_fetch(stmt) == 0)
		printf("fetched %s\n", text);
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
	printf("reset %d\n", f.mysql_stmt_reset(stmt));
	printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	query("select 'closed'");
	run("drop table stmt_cursor");
}

/* No command is needed behind what the server has said to be the last rows. The original then loses its place. */
static void
cursors_and_queries(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY, rows = 2;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	prepare(stmt, "select seq from seq_1_to_3");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	for (int i = 0; i < 3; i++)
		printf("fetched %d\n", f.mysql_stmt_fetch(stmt));
	run("select 1");
	printf("fetched %d", f.mysql_stmt_fetch(stmt));
	printf(" errno %u\n", f.mysql_stmt_errno(stmt));
	f.mysql_stmt_close(stmt);
}

/* A statement that fails ends a transaction, which the next answer tells. */
static void
cursors_and_transactions(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	run("begin");
	prepare(stmt, "select 1");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("failed %d\n", f.mysql_query(my, "truncate nowhere"));
	for (int i = 0; i < 2; i++)
		printf("fetched %d, in a transaction %d\n", f.mysql_stmt_fetch(stmt),
			(my->server_status & SERVER_STATUS_IN_TRANS) != 0);
	printf("closed %d\n", f.mysql_stmt_close(stmt));

	/* what asks for the rows is the connection's next command */
	stmt = f.mysql_stmt_init(my);
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	prepare(stmt, "select seq from seq_1_to_3");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("failed %d\n", f.mysql_query(my, "not sql"));
	printf("stored %d", f.mysql_stmt_store_result(stmt));
	printf(" errno %u\n", f.mysql_errno(my));
	f.mysql_stmt_close(stmt);
}

/* All results of a CALL. */
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

static void
procedures(void)
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

/* Results that look alike, of which the first execution's are not read. */
static void
procedures_unread(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	run("create or replace procedure stmt_alike() begin select 1 as v; "
	    "select 2 as v; end");
	prepare(stmt, "call stmt_alike()");
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	printf("executed %d\n", f.mysql_stmt_execute(stmt));
	take_all(stmt);
	show(stmt, "all", 0);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop procedure stmt_alike");
}

static void
failures(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt,
		"select if(seq = 3, (select 1 union select 2), seq) from seq_1_to_5");
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	query("select 'goes on'");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt) != 0);
	query("select 'goes on'");
	/* executed before, and then it fails before its first row */
	run("create or replace table stmt_failures (a int primary key)");
	prepare(stmt, "insert into stmt_failures values (1) returning a");
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	for (int i = 0; i < 2; i++) {
		execute(stmt);
		fetch(stmt);
		query("select 'goes on'");
	}
	prepare(stmt, "select * from nowhere");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
lost(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *other = f.mysql_stmt_init(my);

	prepare(stmt, "select seq from seq_1_to_3");
	execute(stmt);
	bind_text(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	fetch(stmt);
	f.mysql_close(my);
	my = f.mysql_init(NULL);
	show(stmt, "closed", 0);
	show(other, "closed", 0);
	execute(stmt);
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "do 1", 4));
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	printf("closed %d\n", f.mysql_stmt_close(other));
}

#if !CMY_ORACLE
static void
give_rows(MYSQL_STMT *stmt, unsigned n)
{
	static int numbers[] = { 1, 2, 3, 4, 5 };
	static const char *const texts[] = { "one", "two", "three!", "four", "five" };
	static unsigned long lengths[] = { 3, (unsigned long)-1, 5, 4, 4 };
	static char kinds[] = { STMT_INDICATOR_NONE, STMT_INDICATOR_NTS,
		STMT_INDICATOR_NONE, STMT_INDICATOR_NULL, STMT_INDICATOR_DEFAULT };
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = numbers;
	b[1].buffer_type = MYSQL_TYPE_STRING;
	b[1].buffer = (void *)(uintptr_t)texts;
	b[1].length = lengths;
	b[1].u.indicator = kinds;
	show(stmt, "array", f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &n));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
}

/* More than fit into a few pages: nothing is read that the program has not given. */
static void
many_rows(void)
{
	static int numbers[20000];
	static const char *texts[20000];
	static unsigned long lengths[20000];
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned n = 20000, i;
	MYSQL_BIND b[2];

	for (i = 0; i < n; i++) {
		numbers[i] = (int)i;
		texts[i] = "text";
		lengths[i] = i % 5;
	}
	memset(b, 0, sizeof(b));
	b[0].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = numbers;
	b[1].buffer_type = MYSQL_TYPE_STRING;
	b[1].buffer = texts;
	b[1].length = lengths;
	run("create or replace table stmt_many (a int, b varchar(9)) engine=innodb");
	prepare(stmt, "insert into stmt_many values (?, ?)");
	show(stmt, "array", f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &n));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	execute(stmt);
	query("select sum(a), sum(length(b)) from stmt_many");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_many");
}

/* Whether the server takes arrays, for programs that ask, and for MARIADB_STMT_BULK_SUPPORTED(), which
 * looks into a structure that no installed header has. */
static void
show_capabilities(void)
{
	unsigned long told = 0, seen;

	printf("told %d\n",
		f.mariadb_get_infov(
			my, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &told));
	memcpy(&seen, (const char *)my->extension + 112, sizeof(seen));
	printf("capabilities %lx %lx\n", told, seen);
}

static void
arrays(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned none = 0;

	show_capabilities();
	run("create or replace table stmt_array (a int primary key, b varchar(20) "
	    "default "
	    "'default') engine=innodb");
	prepare(stmt, "insert into stmt_array values (?, ?)");
	give_rows(stmt, 5);
	execute(stmt);
	query("select * from stmt_array order by a");
	execute(stmt);
	run("delete from stmt_array where a <> 3");
	execute(stmt);
	query("select * from stmt_array order by a");
	run("delete from stmt_array");
	give_rows(stmt, 1);
	execute(stmt);
	query("select * from stmt_array order by a");
	prepare(stmt, "insert into stmt_array values (? + 10, ?) returning a, b");
	give_rows(stmt, 3);
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	prepare(stmt, "do 1");
	execute(stmt);
	show(stmt, "array", f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &none));
	execute(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_array");
}

static void
direct(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned n = 1;
	int number = 42;
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = b[1].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = b[1].buffer = &number;
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "select 'a'", 10));
	bind_text(stmt);
	fetch_rest(stmt);
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "do 1", (size_t)-1));
	show(stmt, "direct",
		f.mariadb_stmt_execute_direct(stmt, "nonsense", (size_t)-1) != 0);
	printf("number %ld\n", (long)stmt->stmt_id);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = f.mysql_stmt_init(my);
	show(stmt, "params", f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &n));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "select ?", (size_t)-1));
	bind_text(stmt);
	fetch_rest(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	/* more of them behind a text that could not be prepared */
	stmt = f.mysql_stmt_init(my);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &n);
	(void)f.mysql_stmt_bind_param(stmt, b);
	must(f.mariadb_stmt_execute_direct(stmt, "selct ?", (size_t)-1) != 0, "selct");
	n = 2;
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &n);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "do ?, ?", (size_t)-1));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
take_second_column(MYSQL_STMT *stmt)
{
	char second[16] = "";
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = b[1].buffer_type = MYSQL_TYPE_STRING;
	b[0].buffer = text;
	b[0].buffer_length = 4;
	b[0].length = &text_length;
	b[0].flags = 1; /* MADB_BIND_DUMMY */
	b[1].buffer = second;
	b[1].buffer_length = sizeof(second);
	prepare(stmt, "select 'unwanted', 'wanted'");
	execute(stmt);
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, b));
	fetch(stmt);
	printf("second %s\n", second);
}

/* A program that takes values one by one looks there which ones there are. */
static void
show_nulls(MYSQL_STMT *stmt)
{
	while (f.mysql_stmt_fetch(stmt) == 0) {
		for (unsigned i = 0; i < 2; i++)
			printf("  null %d",
				stmt->bind[i].is_null ? *stmt->bind[i].is_null : -1);
		printf("\n");
	}
}

static void
nulls_unbound(MYSQL_STMT *stmt)
{
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].flags = b[1].flags = 1; /* MADB_BIND_DUMMY */
	prepare(stmt, "select 1, null union all select null, 'text'");
	execute(stmt);
	show_nulls(stmt);
	execute(stmt);
	show(stmt, "bound", f.mysql_stmt_bind_result(stmt, b));
	show_nulls(stmt);
}

static void
change_number(MYSQL_STMT *stmt)
{
	unsigned long number;

	prepare(stmt, "select 1");
	number = stmt->stmt_id;
	stmt->stmt_id = 4711;
	execute(stmt);
	stmt->stmt_id = number;
	execute(stmt);
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
}

static void
load_file(MYSQL_STMT *stmt)
{
	char path[256], sql[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stmt_load", directory);
	file = fopen(path, "w");
	must(file && fputs("1\n2\n", file) >= 0 && fclose(file) == 0, "file");
	run("create or replace table stmt_load (a int)");
	snprintf(sql, sizeof(sql), "load data local infile '%s' into table stmt_load",
		path);
	must(f.mysql_stmt_prepare(stmt, sql, strlen(sql)) == 0, sql);
	execute(stmt);
	must(remove(path) == 0, "remove");
	query("select * from stmt_load");
	run("drop table stmt_load");
}

static void
show_attributes(MYSQL_STMT *stmt)
{
	MYSQL_RES *meta = f.mysql_stmt_result_metadata(stmt);
	const MYSQL_FIELD *field = f.mysql_fetch_field(meta);
	MARIADB_CONST_STRING attr;

	for (int i = 0; i < 2; i++) {
		if (f.mariadb_field_attr(&attr, field, i) == 0)
			printf("  attribute %d %.*s\n", i, (int)attr.length, attr.str);
	}
	f.mysql_free_result(meta);
}

/* Of one column: its rows, and how many have the value that one of them has. */
static void
read_column(const char *read, const char *count, const char *value)
{
	unsigned long length = strlen(value);
	MYSQL_BIND given = { .buffer_type = MYSQL_TYPE_STRING,
		.buffer = (void *)(uintptr_t)value,
		.length = &length };
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, read);
	show_fields(stmt);
	execute(stmt);
	show_attributes(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	prepare(stmt, count);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &given));
	execute(stmt);
	bind_text(stmt);
	fetch_rest(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* Types that only MariaDB has, and columns that are more than their type says. */
static void
beyond_mysql(void)
{
	run("create or replace table stmt_beyond (a uuid, b json, c inet6, d inet4)");
	run("insert into stmt_beyond values ('123e4567-e89b-12d3-a456-426655440000', "
	    "'{\"a\": [1, 2]}', '2001:db8::ff00:42:8329', '192.168.0.1'), "
	    "(null, null, null, null)");
	read_column("select a from stmt_beyond",
		"select count(*) from stmt_beyond where a = ?",
		"123e4567-e89b-12d3-a456-426655440000");
	read_column("select b from stmt_beyond",
		"select count(*) from stmt_beyond where b = ?", "{\"a\": [1, 2]}");
	read_column("select c from stmt_beyond",
		"select count(*) from stmt_beyond where c = ?", "2001:db8::ff00:42:8329");
	read_column("select d from stmt_beyond",
		"select count(*) from stmt_beyond where d = ?", "192.168.0.1");
	run("drop table stmt_beyond");
}

/* Whether another result follows is told with a result's columns. */
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

/* What is left of the execution before is not told of. */
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

/* Types that were to be sent out of turn are taken for sent; so are those of a statement without a connection. */
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

static void
details(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	results_ahead();
	nulls_unbound(stmt);
	take_second_column(stmt);
	change_number(stmt);
	load_file(stmt);
	prepare(stmt, "select 1 as ' '");
	prepare(stmt, "select from_unixtime('1922.1'), from_unixtime('1922.0')");
	execute(stmt);
	bind_text(stmt);
	fetch(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	executed_again();
	executed_badly();
}
#endif

#if !CMY_ORACLE

static void
say_bits(const char *what)
{
	unsigned bits = my->server_status & ~0x48f0u; /* of one statement only */

	printf("%s: bits %x errno %u\n", what, bits, f.mysql_errno(my));
}

/* A user that cannot be changed to leaves neither settings nor a transaction, which the next answer tells. */
static void
failed_user(void)
{
	static const char *const answers[] = { "prepare", "a comment", "list",
		"no rows" };
	MYSQL_STMT *stmt;
	MYSQL_RES *fields;

	run("create or replace table stmt_user (a int)");
	for (int i = 0; i < 4; i++) {
		run("set sql_mode = 'ansi_quotes'");
		run("begin");
		say_bits("begun");
		printf("user %d\n", f.mysql_change_user(my, "app", "", "nowhere"));
		stmt = f.mysql_stmt_init(my);
		if (i == 0)
			printf("%d\n", f.mysql_stmt_prepare(stmt, "do ?", 4));
		else if (i == 1)
			run("-- a comment");
		fields = i == 2 ? f.mysql_list_fields(my, "stmt_user", NULL) : NULL;
		if (i == 3) {
			run("select cast(seq as unsigned) - 3 from seq_5_to_1");
			f.mysql_free_result(f.mysql_use_result(my));
		}
		say_bits(answers[i]);
		f.mysql_free_result(fields);
		printf("closed %d\n", f.mysql_stmt_close(stmt));
	}
	run("drop table stmt_user");
}

/* Whether the statement can be prepared once more has nothing to do with it. */
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

/* A piece that is refused because it is not its turn is taken for one that was sent. */
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
	execute(stmt);
	show(stmt, "store", f.mysql_stmt_store_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* What is wrong with rows that nobody wants is not told. */
static void
unread_failure(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select 1 / (seq - 3), cast(seq as unsigned) - 3 from seq_5_to_1");
	execute(stmt);
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	prepare(stmt, "select 1 / (seq - 3), cast(seq as unsigned) - 3 from seq_5_to_1");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	prepare(stmt, "select seq, 10 / (seq - 3) from seq_1_to_5");
	execute(stmt);
	fetch_rest(stmt);
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "selct", 5));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
details_of_cursors(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY, rows = 2;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_3", 26) == 0,
		"prepare");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	printf("stored %d errno %u, %llu rows\n", f.mysql_stmt_store_result(stmt),
		f.mysql_stmt_errno(stmt),
		(unsigned long long)f.mysql_stmt_num_rows(stmt));
	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_3 where seq = 4", 40) ==
			0,
		"prepare");
	execute(stmt);
	query("select nothing");
	fetch(stmt);
	execute(stmt);
	show(stmt, "freed", f.mysql_stmt_free_result(stmt));
	/* those that were fetched are counted where none is left to be stored, too */
	must(f.mysql_stmt_prepare(stmt, "select 1", 8) == 0, "prepare");
	execute(stmt);
	fetch(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	fetch(stmt);
	printf("%llu rows\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	/* fewer than are asked for at once are the last */
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	must(f.mysql_stmt_prepare(stmt, "select seq from seq_1_to_5", 26) == 0,
		"prepare");
	execute(stmt);
	while (f.mysql_stmt_fetch(stmt) == 0)
		;
	printf("%llu rows\n", (unsigned long long)f.mysql_stmt_num_rows(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* What is wrong with the values is found before what a cursor cannot read. */
static void
piece_of_no_cursor(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY;
	int number = 1;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG, .buffer = &number };

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	prepare(stmt, "select ? into @a");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	show(stmt, "piece", f.mysql_stmt_send_long_data(stmt, 0, "one", 3));
	execute(stmt);
	execute(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* What it tells when it is closed with rows unread, or read to their end, is what the server says behind them. */
static void
unread_help(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	run("set autocommit = 0");
	prepare(stmt, "help 'nothing of this name'");
	execute(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	say_bits("closed");
	run("set autocommit = 1");
}

static void
null_of_a_sign(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_NULL, .is_unsigned = 1 };

	prepare(stmt, "select ?");
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	execute(stmt);
	show_fields(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* Of what was wrong between sending and reading the SQLSTATE is left; where rows come, all of it. */
static void
failure_meanwhile(const char *sql)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "select 1");
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	printf("sent %d\n", f.mysql_send_query(my, sql, strlen(sql)));
	printf("used %d\n", f.mysql_use_result(my) != NULL);
	printf("read %d", f.mysql_read_query_result(my));
	printf(" errno %u %s\n", f.mysql_errno(my), f.mysql_sqlstate(my));
	f.mysql_free_result(f.mysql_store_result(my));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* The first of a CALL's results was read to its end, others wait. */
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

/* Another statement, which may read what a CALL has left: if it was executed, and has columns. */
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
	show(call, "next", f.mysql_stmt_next_result(call));
	printf("closed %d\n", f.mysql_stmt_close(call));
	query("select 4");
}

/* What was left of a CALL is read when its statement is given something else to do. */
static void
own_results(void)
{
	MYSQL_STMT *stmt = begin_call("call stmt_three()");

	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = begin_call("call stmt_three()");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "selct", 5));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = begin_call("call stmt_fails()");
	show(stmt, "reset", f.mysql_stmt_reset(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = begin_call("call stmt_fails()");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, "select 1", 8));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* An execution that is refused, since results of the one before are left behind one that was stored. */
static void
refused_execution(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, "call stmt_three()");
	execute(stmt);
	bind_text(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	execute(stmt);
	fetch(stmt);
	fetch(stmt);
	execute(stmt);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* What comes with results that nobody reads is not told, and what was told is still there. */
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
	execute(stmt);
	execute(stmt);
	r = f.mysql_session_track_get_first(my, SESSION_TRACK_SCHEMA, &db, &length);
	printf("database %d %.*s\n", r, (int)length, db ? db : "");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* The result before it is still there. */
static void
failing_result(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my), *other = f.mysql_stmt_init(my);

	prepare(stmt, "call stmt_fails()");
	execute(stmt);
	bind_text(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	f.mysql_stmt_data_seek(stmt, 0);
	fetch(stmt);
	prepare(other, "do 1");
	execute(other);
	execute(stmt);
	show(stmt, "stored", f.mysql_stmt_store_result(stmt));
	show(other, "next", f.mysql_stmt_next_result(other));
	show(stmt, "next", f.mysql_stmt_next_result(stmt));
	printf("closed %d\n", f.mysql_stmt_close(other));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
results_in_odd_orders(void)
{
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

/* Places in what has come of its rows are the original's own. */
static void
show_cursor(MYSQL_STMT *stmt, const char *what, int r)
{
	printf("%s: %d errno %u connection %u state %d rows %llu affected %lld\n", what,
		r, f.mysql_stmt_errno(stmt), f.mysql_errno(my), (int)stmt->state,
		(unsigned long long)f.mysql_stmt_num_rows(stmt),
		(long long)f.mysql_stmt_affected_rows(stmt));
}

/* Of its rows those are gone that had come with the last one that was fetched. */
static void
freed_cursor(unsigned long rows)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned long type = CURSOR_TYPE_READ_ONLY;

	f.mysql_stmt_attr_set(stmt, STMT_ATTR_CURSOR_TYPE, &type);
	f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREFETCH_ROWS, &rows);
	prepare(stmt, "select seq from seq_1_to_9");
	for (int n = 0; n < 4; n++) {
		execute(stmt);
		bind_text(stmt);
		for (int i = 0; i < n; i++)
			printf("fetched %d %s\n", f.mysql_stmt_fetch(stmt), text);
		show_cursor(stmt, "freed", f.mysql_stmt_free_result(stmt));
		show_cursor(stmt, "fetched", f.mysql_stmt_fetch(stmt));
		if ((unsigned)n % rows != 0)
			show_cursor(stmt, "stored", f.mysql_stmt_store_result(stmt));
		while (f.mysql_stmt_fetch(stmt) == 0)
			printf("got %s\n", text);
		show_cursor(stmt, "read", 0);
	}
	execute(stmt);
	for (int i = 0; i < 9; i++)
		(void)f.mysql_stmt_fetch(stmt);
	(void)f.mysql_stmt_fetch_column(stmt, NULL, 7, 0);
	show_cursor(stmt, "behind the last", f.mysql_stmt_fetch(stmt));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

static void
odd_orders(void)
{
	run("create database if not exists app2");
	pieces_in_another_database();
	a_piece_out_of_turn();
	unread_failure();
	details_of_cursors();
	piece_of_no_cursor();
	unread_help();
	null_of_a_sign();
	failure_meanwhile("do 1");
	failure_meanwhile("select 2");
	results_in_odd_orders();
	for (unsigned long rows = 1; rows < 4; rows++)
		freed_cursor(rows);
	failed_user();
}
#endif

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "stmt_not_prepared", not_prepared },
	{ "stmt_orders", orders },
	{ "stmt_places", places },
	{ "stmt_parameters", parameters },
	{ "stmt_changes", changes },
	{ "stmt_two", two_statements },
	{ "stmt_cursors", cursors },
	{ "stmt_cursors_and_queries", cursors_and_queries },
	{ "stmt_cursors_and_transactions", cursors_and_transactions },
	{ "stmt_procedures", procedures },
	{ "stmt_procedures_unread", procedures_unread },
	{ "stmt_failures", failures },
#if !CMY_ORACLE
	{ "stmt_arrays", arrays },
	{ "stmt_many_rows", many_rows },
	{ "stmt_direct", direct },
	{ "stmt_details", details },
	{ "stmt_beyond_mysql", beyond_mysql },
	{ "stmt_odd_orders", odd_orders },
#endif
	{ "stmt_lost", lost },
};

int
main(int argc, char **argv)
{
	size_t i;

	if (argc < 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	cnt_library_open(&f, argv[1]);
#if !CMY_ORACLE
	directory = argv[3];
#endif
	my = f.mysql_init(NULL);
	must(f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, argv[2], 0) != NULL,
		"connect");
	run("set names utf8mb4");
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(scenes[i].name, argv[4]) == 0)
			scenes[i].play();
	}
	f.mysql_close(my);
	return 0;
}
