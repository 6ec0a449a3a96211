/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt_scenes.h"

#include <stdio.h>
#include <string.h>

/* Functions that only MariaDB has, and functions that programs seldom use. */

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

/* Many rows in arrays: the library must not read beyond them. */
void
stmt_many_rows(void)
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

/* A statement with as many parameters as the server accepts, so each row is sent alone. */
void
stmt_wide_rows(void)
{
	enum {
		WIDTH = 65535
	};
	static MYSQL_BIND b[WIDTH];
	static char sql[2 * WIDTH + 64];
	static int numbers[] = { 1, 2, 3 };
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned n = 3, i;
	size_t used = (size_t)snprintf(
		sql, sizeof(sql), "insert into stmt_wide values (coalesce(?");

	for (i = 0; i < WIDTH; i++) {
		b[i].buffer_type = MYSQL_TYPE_LONG;
		b[i].buffer = numbers;
		if (i > 0) {
			memcpy(sql + used, ",?", 2);
			used += 2;
		}
	}
	memcpy(sql + used, "))", 3);
	run("create or replace table stmt_wide (a int) engine=innodb");
	show(stmt, "prepared", f.mysql_stmt_prepare(stmt, sql, strlen(sql)));
	show(stmt, "array", f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &n));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	execute(stmt);
	query("select a from stmt_wide order by a");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_wide");
}

/* Print whether the server accepts arrays: as the public function reports it, and as
 * MARIADB_STMT_BULK_SUPPORTED() reads it from a structure that no installed header has. */
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

void
stmt_arrays(void)
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
	steps(stmt, "execute bind rest");
	prepare(stmt, "do 1");
	execute(stmt);
	show(stmt, "array", f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &none));
	steps(stmt, "execute closed");
	run("drop table stmt_array");
}

void
stmt_direct(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	unsigned n = 1;
	int number = 42;
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = b[1].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = b[1].buffer = &number;
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "select 'a'", 10));
	steps(stmt, "bind rest");
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "do 1", (size_t)-1));
	show(stmt, "direct",
		f.mariadb_stmt_execute_direct(stmt, "nonsense", (size_t)-1) != 0);
	printf("number %ld\n", (long)stmt->stmt_id);
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = f.mysql_stmt_init(my);
	show(stmt, "params", f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &n));
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	show(stmt, "direct", f.mariadb_stmt_execute_direct(stmt, "select ?", (size_t)-1));
	steps(stmt, "bind rest closed");
	/* more parameters, after a text that could not be prepared */
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

/* Programs that fetch values one by one look for NULLs in MYSQL_STMT.bind. */
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
	steps(stmt, "execute freed");
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

void
stmt_details(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	nulls_unbound(stmt);
	take_second_column(stmt);
	change_number(stmt);
	load_file(stmt);
	prepare(stmt, "select 1 as ' '");
	prepare(stmt, "select from_unixtime('1922.1'), from_unixtime('1922.0')");
	steps(stmt, "execute bind fetch closed");
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

/* Read a column, and count the rows that have the given value. */
static void
read_column(const char *read, const char *count, const char *value)
{
	unsigned long length = strlen(value);
	MYSQL_BIND given = { .buffer_type = MYSQL_TYPE_STRING,
		.buffer = (void *)(uintptr_t)value,
		.length = &length };
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	prepare(stmt, read);
	steps(stmt, "fields execute");
	show_attributes(stmt);
	steps(stmt, "bind rest");
	prepare(stmt, count);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &given));
	steps(stmt, "execute bind rest closed");
}

/* Types that only MariaDB has, and columns whose attributes say more than their type. */
void
stmt_beyond_mysql(void)
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

/* A failed change of user resets settings and transaction, which the next answer
 * reports. */
void
stmt_failed_user(void)
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
