/* SPDX-License-Identifier: BSD-2-Clause */
#include "older.h"
#include "library.h"
#include "scene_list.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: scenes LIBRARY SOCKET DIRECTORY [SCENE]. Plays scenes with a client library, and prints
 * everything that a program sees of them. test_scenes.c compares the output of the original, on
 * the server, with that of ours, on the pool. The program may write to DIRECTORY. The output
 * leaves out what may differ: connection numbers; return values of failures, except that they are
 * not 0; the server's status while rows are still to come, because the pool reports it at their
 * end; and the number of fields after a failure, which the flavours forget at different times.
 */

/* Status bits of one statement: the pool reports none for a statement that failed. */
#define VOLATILE 0x4830u

static struct cmy_original f;
static MYSQL *my;
static const char *server_socket, *dir;

/* ---- what a program sees ---- */

static void
show_status(const char *what, int r)
{
	const char *info = f.mysql_info(my);
	unsigned bits =
		my->status == MYSQL_STATUS_READY ? my->server_status & ~VOLATILE : 0;

	printf("%s: %s errno %u %s [%s] fields %u affected %lld id %llu status %d bits "
	       "%x warnings %u info [%s] more %d\n",
		what, r == 0 ? "well" : "not", f.mysql_errno(my), f.mysql_sqlstate(my),
		f.mysql_error(my), r == 0 ? f.mysql_field_count(my) : 0,
		(long long)f.mysql_affected_rows(my),
		(unsigned long long)f.mysql_insert_id(my), (int)my->status, bits,
		f.mysql_warning_count(my), info ? info : "none",
		my->status == MYSQL_STATUS_READY && f.mysql_more_results(my));
}

static void
show_field(const MYSQL_FIELD *field)
{
	printf("  field %s/%u %s/%u %s/%u %s/%u %s/%u %s/%u length %lu longest %lu flags "
	       "%x decimals %u charset %u type %d\n",
		field->catalog, field->catalog_length, field->db, field->db_length,
		field->table, field->table_length, field->org_table,
		field->org_table_length, field->name, field->name_length, field->org_name,
		field->org_name_length, field->length, field->max_length, field->flags,
		field->decimals, field->charsetnr, (int)field->type);
#if !CMY_ORACLE
	for (int i = 0; i < 2; i++) {
		MARIADB_CONST_STRING attr;

		if (f.mariadb_field_attr(&attr, field, i) == 0)
			printf("    attribute %d %.*s\n", i, (int)attr.length, attr.str);
	}
#endif
}

static void
show_row(MYSQL_RES *res, MYSQL_ROW row)
{
	unsigned long *lengths = f.mysql_fetch_lengths(res);

	printf("  row");
	for (unsigned i = 0; i < f.mysql_num_fields(res); i++) {
		printf(" %lu:", lengths[i]);
		if (row[i])
			fwrite(row[i], 1, lengths[i], stdout);
		else
			printf("NULL");
	}
	printf(" current %d of %llu\n", res->current_row == row,
		(unsigned long long)f.mysql_num_rows(res));
}

static void
show_result(MYSQL_RES *res)
{
	MYSQL_FIELD *field;
	MYSQL_ROW row;

	while ((field = f.mysql_fetch_field(res)))
		show_field(field);
	printf("  %u fields, %llu rows, eof %d data %d handle %d cursor %d\n",
		f.mysql_num_fields(res), (unsigned long long)f.mysql_num_rows(res),
		f.mysql_eof(res), res->data != NULL, res->handle != NULL,
		f.mysql_row_tell(res) != NULL);
	while ((row = f.mysql_fetch_row(res)))
		show_row(res, row);
	printf("  end: %llu rows, eof %d handle %d\n",
		(unsigned long long)f.mysql_num_rows(res), f.mysql_eof(res),
		res->handle != NULL);
}

/* Run a text, and print all its results. */
static void
run(const char *sql, int is_used)
{
	int r = f.mysql_query(my, sql);
	MYSQL_RES *res;

	printf("> %s\n", sql);
	while (r == 0) {
		show_status("answered", 0);
		res = is_used ? f.mysql_use_result(my) : f.mysql_store_result(my);
		show_status("taken", res == NULL);
		if (res) {
			show_result(res);
			f.mysql_free_result(res);
			show_status("freed", 0);
		}
		r = f.mysql_next_result(my);
		printf("next %d\n", r);
	}
	show_status("over", r);
}

/* Connect `my`, which may have options already. */
static void
connect_made(unsigned long flags)
{
	if (!my || !f.mysql_real_connect(
			   my, NULL, "app", NULL, "app", 0, server_socket, flags)) {
		printf("no connection: %s\n", my ? f.mysql_error(my) : "no memory");
		exit(1);
	}
}

static void
connect_with(unsigned long flags)
{
	my = f.mysql_init(NULL);
	connect_made(flags);
}

/* ---- scenes ---- */

static void
run_all(const char *const *list, int is_used)
{
	for (; *list; list++)
		run(*list, is_used);
}

static const char *const statements[] = { "create temporary table t (a int not null "
					  "auto_increment primary key, b varchar(10),"
					  " c date, d decimal(8,2), e text)",
	"insert into t (b, c, d, e) values ('one', '2024-01-02', 1.5, 'eee'),"
	" ('two', null, 2.25, null), (null, '2023-12-31', -7, '')",
	"select * from t", "select a, b from t where a > 100",
	"update t set b = 'x' where a < 3",
	"select straight_join x.b as alias, count(*) from t as x group by x.b",
	"insert into t (a, b) values (1, 'again')", "select cast('abc' as signed)",
	"do 1", "begin", "insert into t (b) values ('in')", "rollback",
	"set autocommit=0", "select count(*) from t", "commit", "set autocommit=1",
	"select (select a from t)",
	"select a, (select x.a from (select 1 a union all select 2) x where t.a > 1) "
	"from t",
	"select nix", "selec", "", "   ", ";", "-- nothing\n", "/* nothing */",
	"set @a = repeat('x', 300)", "select @a, length(@a), null, '', 'a\\0b'",
	"drop temporary table t", NULL };

static void
statements_stored(void)
{
	connect_with(0);
	run_all(statements, 0);
	f.mysql_close(my);
}

static void
statements_used(void)
{
	connect_with(0);
	run_all(statements, 1);
	f.mysql_close(my);
}

static const char *const several[] = { "select 1 as one; select 2; do 1; select 3",
	"select 1; select nix; select 3", "select 1; bad", "bad; select 1",
	"do 1; do 2; insert into nowhere values (1); do 3", "select 1;", "select 1;;",
	"drop procedure if exists p",
	"create procedure p() begin select 1, 'x'; select 2; end", "call p()",
	"call p(); select 3; call p()", "drop procedure p",
	"create procedure p() begin select 1; select * from nowhere; select 3; end",
	"call p()", "drop procedure p", NULL };

static void
several_results(void)
{
	connect_with(CLIENT_MULTI_STATEMENTS);
	run_all(several, 0);
	run_all(several, 1);
	f.mysql_close(my);
	connect_with(0);
	run("select 1; select 2", 0);
	(void)f.mysql_set_server_option(my, MYSQL_OPTION_MULTI_STATEMENTS_ON);
	run("select 1; select 2", 0);
	(void)f.mysql_set_server_option(my, MYSQL_OPTION_MULTI_STATEMENTS_OFF);
	run("select 1; select 2", 0);
	f.mysql_close(my);
}

static const char *const types[] = { "create temporary table ty (i1 tinyint, i2 smallint "
				     "unsigned zerofill, i3 mediumint,"
				     " i4 int unsigned, i8 bigint, f4 float, f8 double, "
				     "fd float(7,3), n decimal(20,5),"
				     " b1 bit(1), b9 bit(9), y year, d date, t time, t3 "
				     "time(3), dt datetime, dt6 datetime(6),"
				     " ts timestamp null, c char(5), vc varchar(20), bn "
				     "binary(3), vb varbinary(9), tt tinytext,"
				     " tx text, mt mediumtext, lt longtext, tb tinyblob, "
				     "bl blob, mb mediumblob, lb longblob,"
				     " en enum('a','b'), st set('x','y'), bo bool)",
	"insert into ty values (-1, 2, -3, 4, -5, 1.5, 2.25, 1.23456, 12345.6789, 1, "
	"b'100000001',"
	" 2024, '2024-01-02', '-10:11:12', '10:11:12.123', '2024-01-02 03:04:05',"
	" '2024-01-02 03:04:05.123456', '2024-01-02 03:04:05', 'c', 'vc', 'bn', 'vb', "
	"'tt', 'tx',"
	" 'mt', 'lt', 'tb', 'bl', 'mb', 'lb', 'b', 'x,y', true)",
	"insert into ty () values ()", "select * from ty",
	"create temporary table tk (a int unsigned not null auto_increment, b int not "
	"null, c int,"
	" d varchar(5) not null, primary key (a), unique (b), key (c))",
	"select * from tk", "select a + 1, b as x, concat(c, d) from tk as k", NULL };

static void
types_of_columns(void)
{
	connect_with(0);
	run_all(types, 0);
	run("set names latin1", 0);
	run("select 'x', d from tk", 0);
	f.mysql_close(my);
}

#if !CMY_ORACLE
static void
types_of_mariadb(void)
{
	connect_with(0);
	run("create temporary table tm (j json, u uuid, i inet6, i4 inet4, p point, g "
	    "geometry,"
	    " l linestring)",
		0);
	run("insert into tm values ('{\"a\": 1}', "
	    "'123e4567-e89b-12d3-a456-426655440000', '::1',"
	    " '10.0.0.1', point(1, 2), point(3, 4), null)",
		0);
	run("select j, u, i, i4, p, g, l from tm", 0);
	run("select * from tm", 1);
	f.mysql_close(my);
}
#endif

static void
out_of_sync(void)
{
	MYSQL_RES *res;
	MYSQL_ROW row;

	connect_with(CLIENT_MULTI_STATEMENTS);
	show_status("query", f.mysql_query(my, "select 1 union all select 2"));
	show_status("query again", f.mysql_query(my, "select 2"));
	show_status("store", f.mysql_store_result(my) == NULL);
	show_status("next", f.mysql_next_result(my));
	f.mysql_close(my);
	connect_with(CLIENT_MULTI_STATEMENTS);
	show_status("query", f.mysql_query(my, "select 1 union all select 2"));
	res = f.mysql_use_result(my);
	row = f.mysql_fetch_row(res);
	printf("row %s\n", row[0]);
	show_status("query while reading", f.mysql_query(my, "select 3"));
	show_status("ping while reading", f.mysql_ping(my));
	show_status("next while reading", f.mysql_next_result(my));
	row = f.mysql_fetch_row(res);
	printf("row %s\n", row ? row[0] : "none");
	f.mysql_free_result(res);
	show_status("freed", 0);
	show_status("query", f.mysql_query(my, "select 3; select 4; select 5; select 6"));
	f.mysql_free_result(f.mysql_store_result(my));
	show_status("query between results", f.mysql_query(my, "select 9"));
	show_status("next", f.mysql_next_result(my));
	f.mysql_free_result(f.mysql_use_result(my));
	show_status("freed unread", 0);
	show_status("next", f.mysql_next_result(my));
	show_result(res = f.mysql_store_result(my));
	f.mysql_free_result(res);
	f.mysql_close(my);
}

/* Send several queries, and then read their answers. Oracle's own library loses the
 * connection in the second one. */
static void
sent_ahead(void)
{
	static const char *const queries[] = { "select 1", "bad", "do 1",
		"select 2 union select 3" };

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		show_status("send ahead",
			f.mysql_send_query(my, queries[i], strlen(queries[i])));
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		my_bool has_failed = f.mysql_read_query_result(my);
		MYSQL_RES *res = NULL;

		show_status("read", has_failed);
		/* Oracle's library still has the previous query's number of columns */
		if (!has_failed)
			res = f.mysql_store_result(my);
		if (res)
			show_result(res);
		f.mysql_free_result(res);
	}
}

static void
sent_and_read(void)
{
	MYSQL_RES *res;

	connect_with(0);
	show_status("send", f.mysql_send_query(my, "select 7, 8", 11));
	show_status("read", f.mysql_read_query_result(my));
	f.mysql_free_result(f.mysql_store_result(my));
	show_status("send", f.mysql_send_query(my, "bad", 3));
	show_status("read", f.mysql_read_query_result(my));
	sent_ahead();
	show_status("length", f.mysql_real_query(my, "select 1 + 1 garbage (", 12));
	f.mysql_free_result(f.mysql_store_result(my));
	show_status("bytes", f.mysql_real_query(my, "select 'a\0b'", 12));
	res = f.mysql_store_result(my);
	show_result(res);
	f.mysql_free_result(res);
	f.mysql_close(my);
}

#if !CMY_ORACLE
static void
answers_read_by_the_program(void)
{
	my_bool skips = 1;
	MYSQL_RES *res;

	connect_with(0);
	(void)f.mysql_options(my, MARIADB_OPT_SKIP_READ_RESPONSE, &skips);
	show_status("query", f.mysql_query(my, "select 7, 8"));
	show_status("no result yet", f.mysql_store_result(my) == NULL);
	show_status("read", f.mysql_read_query_result(my));
	res = f.mysql_store_result(my);
	show_result(res);
	f.mysql_free_result(res);
	show_status("query", f.mysql_query(my, "bad"));
	show_status("read", f.mysql_read_query_result(my));
	skips = 0;
	(void)f.mysql_options(my, MARIADB_OPT_SKIP_READ_RESPONSE, &skips);
	run("select 9", 0);
	f.mysql_close(my);
}
#endif

static void
positions(void)
{
	MYSQL_ROW_OFFSET second, was;
	MYSQL_RES *res;
	MYSQL_ROW row, kept;

	connect_with(0);
	(void)f.mysql_query(
		my, "select 1, 'a' union all select 2, null union all select 3, ''");
	res = f.mysql_store_result(my);
	kept = f.mysql_fetch_row(res);
	second = f.mysql_row_tell(res);
	(void)f.mysql_fetch_row(res);
	row = f.mysql_fetch_row(res);
	show_row(res, row);
	was = f.mysql_row_seek(res, second);
	printf("at the end %d, lengths %d\n", was == NULL,
		f.mysql_fetch_lengths(res) != NULL);
	show_row(res, f.mysql_fetch_row(res));
	f.mysql_data_seek(res, 2);
	show_row(res, f.mysql_fetch_row(res));
	f.mysql_data_seek(res, 3);
	printf("behind the last %d\n", f.mysql_fetch_row(res) == NULL);
	f.mysql_data_seek(res, 0);
	printf("kept %d %s %s\n", f.mysql_fetch_row(res) == kept, kept[0], kept[1]);
	printf("field %u", f.mysql_field_tell(res));
	(void)f.mysql_fetch_field(res);
	printf(" %u", f.mysql_field_seek(res, 1));
	printf(" %s", f.mysql_fetch_field(res)->name);
	printf(" %d", f.mysql_fetch_field(res) == NULL);
	printf(" %s %s\n", f.mysql_fetch_field_direct(res, 0)->name,
		f.mysql_fetch_fields(res)[1].name);
	/* the result outlives its connection */
	f.mysql_close(my);
	f.mysql_data_seek(res, 0);
	show_result(res);
	f.mysql_free_result(res);
	f.mysql_free_result(NULL);
}

static void
show_list(const char *what, MYSQL_RES *res)
{
	MYSQL_FIELD *field;

	printf("list %s: %u %s\n", what, f.mysql_errno(my), f.mysql_error(my));
	if (!res)
		return;
	while ((field = f.mysql_fetch_field(res))) {
		show_field(field);
		printf("    default %s\n",
			cnt_older_text(field->def) ? cnt_older_text(field->def) : "none");
	}
	printf("  eof %d data %d rows %llu\n", f.mysql_eof(res), res->data != NULL,
		(unsigned long long)f.mysql_num_rows(res));
	while (res->data) {
		MYSQL_ROW row = f.mysql_fetch_row(res);

		if (!row)
			break;
		show_row(res, row);
	}
	f.mysql_free_result(res);
}

static void
lists(void)
{
	connect_with(0);
	run("create table li_a (id int not null auto_increment primary key, a "
	    "varchar(20) not null,"
	    " b int default 5, c varchar(9) default 'x''y', d datetime default "
	    "current_timestamp,"
	    " e date not null, f text, h decimal(10,3) default 1.5, j double not null,"
	    " k timestamp not null default '2024-01-02 03:04:05', n time, o year not "
	    "null)",
		0);
	run("create table li_b (x int)", 0);
	show_list("databases", f.mysql_list_dbs(my, "app%"));
	show_list("tables", f.mysql_list_tables(my, "li_%"));
	show_list("a table", f.mysql_list_tables(my, "li_b"));
	show_list("no tables", f.mysql_list_tables(my, "nothing%"));
	show_list("fields", f.mysql_list_fields(my, "li_a", NULL));
	show_list("all fields", f.mysql_list_fields(my, "li_a", ""));
	show_list("fields like this", f.mysql_list_fields(my, "li_a", "A%"));
	show_list("no such table", f.mysql_list_fields(my, "li_c", ""));
	run("select 1", 0);
	run("drop table li_a, li_b", 0);
	f.mysql_close(my);
}

/* ---- files ---- */

static char *
make_file(const char *name, const char *content)
{
	static char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	fputs(content, file);
	fclose(file);
	return path;
}

static void
load_file(const char *begin, const char *path)
{
	char sql[1024];
	int r;

	snprintf(sql, sizeof(sql), "%s local infile '%s' into table lo", begin, path);
	r = f.mysql_query(my, sql);
	printf("load: %d errno %u %s [%s] affected %lld\n", r != 0, f.mysql_errno(my),
		f.mysql_sqlstate(my), f.mysql_error(my),
		(long long)f.mysql_affected_rows(my));
	if (r == 0)
		printf("  info %s\n", f.mysql_info(my));
	run("select count(*), min(a), max(b) from lo", 0);
}

static int
say_init(void **handle, const char *name, void *user)
{
	printf("  init of %s for %s\n", strrchr(name, '/') + 1, (const char *)user);
	*handle = user;
	return strcmp(user, "refuses") == 0;
}

static int
say_read(void *handle, char *buffer, unsigned int size)
{
	static int n;

	printf("  read of %s, room %d\n", (const char *)handle, size >= 4096);
	if (strcmp(handle, "breaks") == 0)
		return -1;
	return n++ % 2 == 0 ? snprintf(buffer, size, "7\tseven\n8\teight\n") : 0;
}

static void
say_end(void *handle)
{
	printf("  end of %s\n", handle ? (const char *)handle : "nothing");
}

static int
say_error(void *handle, char *message, unsigned int size)
{
	snprintf(message, size, "it %s", (const char *)handle);
	return 4321;
}

static void
files(void)
{
	static char user[3][8] = { "works", "refuses", "breaks" };
	unsigned on = 1, off = 0;
	char *path;

	my = f.mysql_init(NULL);
	(void)f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
	connect_made(0);
	run("create temporary table lo (a int, b varchar(20))", 0);
	path = make_file("lines", "1\tone\n2\ttwo\n3\tthree\n");
	load_file("load data", path);
	load_file("  load data", path);
	load_file("/* hm */ load data", path);
	load_file("load data", "/nonexistent/file");
	(void)f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &off);
	load_file("load data", path);
	(void)f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
	run("delete from lo", 0);
	for (int i = 0; i < 2; i++) {
		f.mysql_set_local_infile_handler(
			my, say_init, say_read, say_end, say_error, user[i]);
		load_file("load data", path);
	}
	f.mysql_set_local_infile_default(my);
	load_file("load data", path);
	f.mysql_close(my);
	my = f.mysql_init(NULL);
	(void)f.mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &off);
	connect_made(0);
	run("create temporary table lo (a int, b varchar(20))", 0);
	load_file("load data", path);
	f.mysql_close(my);
}

/* ---- tracking ---- */

static void
show_tracked(const char *sql)
{
	size_t length;
	const char *data;

	printf("> %s: %d\n", sql, f.mysql_query(my, sql));
	f.mysql_free_result(f.mysql_store_result(my));
	for (int kind = 0; kind < CMY_SESSION_TRACK_KINDS; kind++) {
		int r = f.mysql_session_track_get_first(my, kind, &data, &length);

		for (; r == 0;
			r = f.mysql_session_track_get_next(my, kind, &data, &length))
			printf("  kind %d: %.*s\n", kind, (int)length, data);
	}
	printf("  database %s, character set %s\n", my->db ? my->db : "none",
		f.mysql_character_set_name(my));
}

static void
tracking(void)
{
	static const char *const list[] = { "set session_track_schema=1",
		"set "
		"session_track_system_variables='autocommit,time_zone,character_set_"
		"client,"
		"character_set_results,character_set_connection'",
		"set session_track_state_change=1", "use app2", "use app2", "use app",
		"set autocommit=0", "set autocommit=1, time_zone='+01:00'", "select 1",
		"do 1", "set names latin1", "set names utf8mb4", "set @x = 1",
		"set session_track_transaction_info='CHARACTERISTICS'", "begin",
		"select 1", "do 1", "commit",
		"set transaction isolation level serializable", "rollback", NULL };

	connect_with(0);
	for (const char *const *sql = list; *sql; sql++)
		show_tracked(*sql);
	f.mysql_close(my);
}

#if !CMY_ORACLE
static void
on_status(void *data, enum enum_mariadb_status_info what, ...)
{
	const MARIADB_CONST_STRING *text;
	unsigned *last = data;
	unsigned number;
	va_list args;

	va_start(args, what);
	number = va_arg(args, unsigned);
	if (what == STATUS_TYPE) {
		number &= ~VOLATILE;
		if (number != *last)
			printf("  told: status %x\n", number);
		*last = number;
	} else {
		text = va_arg(args, const MARIADB_CONST_STRING *);
		printf("  told: kind %u: %.*s", number, (int)text->length, text->str);
		if (number == SESSION_TRACK_SYSTEM_VARIABLES) {
			text = va_arg(args, const MARIADB_CONST_STRING *);
			printf(" = %.*s", (int)text->length, text->str);
		}
		putchar('\n');
	}
	va_end(args);
}

static void
run_prepared(const char *sql)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	printf("> prepared %s: %d", sql, f.mysql_stmt_prepare(stmt, sql, strlen(sql)));
	printf(" %d\n", f.mysql_stmt_execute(stmt));
	f.mysql_stmt_close(stmt);
}

/* The program's function gets the changes, and the library keeps none. */
static void
tracking_by_function(void)
{
	static const char *const list[] = { "use app2", "set autocommit=0", "begin",
		"select 1", "insert into t values (1)", "commit", "set names latin1",
		"use app", "not sql", "set autocommit=1", NULL };
	unsigned last = 0;

	my = f.mysql_init(NULL);
	(void)f.mysql_optionsv(my, MARIADB_OPT_STATUS_CALLBACK, on_status, &last);
	connect_made(0);
	run("create temporary table t (a int)", 0);
	for (const char *const *sql = list; *sql; sql++)
		show_tracked(*sql);
	run_prepared("set autocommit=0");
	run_prepared("select 1 union select 2");
	run_prepared("set autocommit=1");
	printf("user: %d\n", f.mysql_change_user(my, "app", NULL, "app2"));
	(void)f.mysql_optionsv(my, MARIADB_OPT_STATUS_CALLBACK, NULL, NULL);
	show_tracked("use app2");
	f.mysql_close(my);
}
#endif

/* ---- progress reports of the server ---- */

#if !CMY_ORACLE

static struct {
	unsigned n;
	unsigned n_forward; /* reports that are further than the previous one */
	unsigned last_stage;
	double last;
	char doing[64];
} progress;

static void
on_progress(const MYSQL *of, unsigned stage, unsigned n_stages, double percent,
	const char *doing, unsigned n_doing)
{
	if (of != my || stage == 0 || stage > n_stages || percent < 0 || percent > 100)
		exit(1);
	progress.n++;
	progress.n_forward += stage > progress.last_stage || percent > progress.last;
	progress.last_stage = stage;
	progress.last = percent;
	snprintf(progress.doing, sizeof(progress.doing), "%.*s", (int)n_doing, doing);
}

/* Each row takes some hundredths of a second, and the server reports its progress every
 * second. */
static void
show_progress(const char *when)
{
	memset(&progress, 0, sizeof(progress));
	run("create temporary table slow (a int) engine = aria", 0);
	run("insert into slow select seq from seq_1_to_100", 0);
	run("alter table slow algorithm = copy,"
	    " add b varchar(32) default (md5(repeat('x', 16000000)))",
		0);
	run("drop table slow", 0);
	printf("%s: told %d, forward %d: %s\n", when, progress.n > 0,
		progress.n_forward == progress.n, progress.doing);
}

static void
progress_is_told(void)
{
	my = f.mysql_init(NULL);
	(void)f.mysql_options(my, MYSQL_PROGRESS_CALLBACK, (void *)on_progress);
	connect_made(0);
	show_progress("set before");
	f.mysql_close(my);

	connect_with(0);
	(void)f.mysql_options(my, MYSQL_PROGRESS_CALLBACK, (void *)on_progress);
	(void)f.mysql_change_user(my, "app", NULL, "app");
	show_progress("set when connected");
	f.mysql_close(my);

	connect_with(CLIENT_PROGRESS);
	(void)f.mysql_options(my, MYSQL_PROGRESS_CALLBACK, (void *)on_progress);
	show_progress("with the flag");
	f.mysql_close(my);
}

/* ---- programs that wait themselves ---- */

static struct {
	unsigned n;
	int is_refused; /* the next wait ends as if the time were up */
	int fd, timeout_ms;
	my_bool is_read;
} waits;

static int
on_wait(int fd, my_bool is_read, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = (short)(is_read ? POLLIN : POLLOUT) };

	waits.n++;
	waits.fd = fd;
	waits.is_read = is_read;
	waits.timeout_ms = timeout_ms;
	return waits.is_refused ? 0 : poll(&p, 1, timeout_ms);
}

static void
show_waits(const char *when)
{
	memset(&waits, 0, sizeof(waits));
	run("select sleep(0.1)", 0);
	printf("%s: waited %d, for the connection %d to read %d, limit %d\n", when,
		waits.n > 0, waits.fd == f.mysql_get_socket(my), waits.is_read,
		waits.timeout_ms);
}

static void
the_program_waits(void)
{
	unsigned seconds = 7;

	connect_with(0);
	show_waits("not asked for");
	(void)f.mysql_optionsv(my, MARIADB_OPT_IO_WAIT, (void *)on_wait);
	show_waits("set when connected");
	(void)f.mysql_optionsv(my, MARIADB_OPT_IO_WAIT, NULL);
	show_waits("taken back");
	f.mysql_close(my);

	my = f.mysql_init(NULL);
	(void)f.mysql_optionsv(my, MARIADB_OPT_IO_WAIT, (void *)on_wait);
	(void)f.mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &seconds);
	connect_made(0);
	show_waits("set before");
	waits.is_refused = 1;
	show_status("in vain", f.mysql_query(my, "select sleep(0.1)"));
	f.mysql_close(my);
}
#endif

/* ---- another session on the same connection ---- */

static void
begun_anew(void)
{
	MYSQL_RES *res;

	connect_with(0);
	show_status("no autocommit", f.mysql_query(my, "set autocommit=0"));
	show_status("user again", f.mysql_change_user(my, "app", NULL, "app"));
	show_tracked("do 1");
	show_status("query", f.mysql_query(my, "select 1 union all select 2"));
	show_status("reset before reading", f.mysql_reset_connection(my));
	(void)f.mysql_query(my, "select 1 union all select 2");
	res = f.mysql_use_result(my);
	(void)f.mysql_fetch_row(res);
	show_status("reset while reading", f.mysql_reset_connection(my));
	printf("row %d\n", f.mysql_fetch_row(res) != NULL);
	f.mysql_free_result(res);
	run("select 3", 0);
	/* to reset an XA transaction, the pool must log in again */
	run("set @kept = 1", 0);
	run("xa start 'x'", 0);
	printf("reset in XA: %d\n", f.mysql_reset_connection(my));
	run("select @kept", 0);
	run("set @kept = repeat('x', 2000000)", 0);
	show_status("a long row", f.mysql_query(my, "select @kept"));
	f.mysql_free_result(f.mysql_store_result(my));
	show_status("reset behind it", f.mysql_reset_connection(my));
	run("select @kept", 0);
	show_status("no database", f.mysql_change_user(my, "app", NULL, NULL));
	show_status("reset", f.mysql_reset_connection(my));
	run("select database()", 0);
	run("set time_zone = '+02:00'", 0);
	show_status("reset", f.mysql_reset_connection(my));
	show_tracked("set names utf8mb4");
	f.mysql_close(my);
}

/* A failed attempt to connect leaves the last counts unchanged. */
static void
not_let_in(void)
{
	MYSQL_STMT *stmt;

	my = f.mysql_init(NULL);
	f.mysql_options(my, MYSQL_SET_CHARSET_NAME, "gbk");
	for (int i = 0; i < 2; i++) {
		printf("connected %d\n",
			f.mysql_real_connect(my, NULL, "app", NULL, "nowhere", 0,
				server_socket, CLIENT_REMEMBER_OPTIONS) != NULL);
		printf("errno %u affected %lld id %llu warnings %u\n", f.mysql_errno(my),
			(long long)f.mysql_affected_rows(my),
			(unsigned long long)f.mysql_insert_id(my),
			f.mysql_warning_count(my));
		stmt = f.mysql_stmt_init(my);
		printf("prepared %d\n", f.mysql_stmt_prepare(stmt, "do 1", 4) == 0);
		printf("affected %lld\n", (long long)f.mysql_affected_rows(my));
		printf("closed %d\n", f.mysql_stmt_close(stmt));
	}
	f.mysql_close(my);
}

/* Init commands are part of connecting, and of its time limit. */
static void
connecting_takes_too_long(void)
{
	unsigned seconds = 1;

	my = f.mysql_init(NULL);
	(void)f.mysql_options(my, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
	(void)f.mysql_options(my, MYSQL_INIT_COMMAND, "do sleep(3)");
	printf("connected %d\n", f.mysql_real_connect(my, NULL, "app", NULL, "app", 0,
					 server_socket, 0) != NULL);
	printf("errno %u\n", f.mysql_errno(my));
	f.mysql_close(my);
}

/* ---- losing the session ---- */

static void
lost(void)
{
	MYSQL *killer;
	char sql[64];
	int code;

	connect_with(0);
	killer = f.mysql_init(NULL);
	if (!f.mysql_real_connect(killer, NULL, "app", NULL, "app", 0, server_socket, 0))
		exit(1);
	snprintf(sql, sizeof(sql), "kill %lu", f.mysql_thread_id(my));
	printf("killed %d\n", f.mysql_query(killer, sql));
	f.mysql_close(killer);
	(void)f.mysql_query(my, "do sleep(0.1)");
	code = (int)f.mysql_errno(my);
	printf("lost %d %s\n", code == 2006 || code == 2013, f.mysql_sqlstate(my));
	printf("gone %d errno %u\n", f.mysql_query(my, "select 1") != 0,
		f.mysql_errno(my));
	printf("no result %d\n", f.mysql_store_result(my) == NULL);
	f.mysql_close(my);
}

#define SCENE(name) { #name, name },

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = { SCENES_OF_BOTH(SCENE) SCENES_OF_ONE(SCENE)
#if !CMY_ORACLE
		SCENES_OF_MARIADB(SCENE)
#endif
};

int
main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	cnt_library_open(&f, argv[1]);
	server_socket = argv[2];
	dir = argv[3];
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (argc > 4 && strcmp(argv[4], scenes[i].name) != 0)
			continue;
		printf("== %s\n", scenes[i].name);
		scenes[i].play();
	}
	return 0;
}
