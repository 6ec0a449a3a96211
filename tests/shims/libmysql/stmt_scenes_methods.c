/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt_scenes.h"

#include <stdio.h>
#include <string.h>

/* Programs that use more than the public functions: MYSQL.methods and callbacks. */

static unsigned char *
take(MYSQL_STMT *stmt)
{
	size_t length = 0;
	unsigned char *request =
		my->methods->db_execute_generate_request(stmt, &length, 1);

	printf("request %d %d\n", request != NULL, length >= 4);
	show(stmt, "taken", 0);
	return request;
}

/* Connector/Python does this: the library reads the values before the execution, because they may
 * be gone by then. */
static void
values_are_taken_before(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	char word[] = "first";
	unsigned n = 2;
	int number = 1;
	MYSQL_BIND b[2];

	memset(b, 0, sizeof(b));
	b[0].buffer_type = MYSQL_TYPE_LONG;
	b[0].buffer = &number;
	b[1].buffer_type = MYSQL_TYPE_VAR_STRING;
	b[1].buffer = word;
	b[1].buffer_length = 5;
	run("create or replace table stmt_taken (a int, b varchar(20)) engine=innodb");
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &n);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	(void)take(stmt);
	number = 2;
	memcpy(word, "wrong", sizeof(word));
	show(stmt, "direct",
		f.mariadb_stmt_execute_direct(
			stmt, "insert into stmt_taken values (?, ?)", (size_t)-1));
	/* the next execution takes the values itself */
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, b));
	execute(stmt);
	(void)take(stmt);
	number = 3;
	execute(stmt);
	query("select * from stmt_taken");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	stmt = f.mysql_stmt_init(my);
	(void)take(stmt);
	show(stmt, "direct",
		f.mariadb_stmt_execute_direct(stmt, "delete from stmt_taken", 22));
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* STMT_ATTR_CB_PARAM: the library calls a function of the program for each row of values. */
struct giver {
	unsigned calls, fails_at;
	int number;
	char indicator;
};

static my_bool
give(void *data, MYSQL_BIND *b, unsigned row)
{
	struct giver *giver = data;

	giver->calls++;
	giver->number = (int)row;
	giver->indicator = row % 5 == 3 ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
	b->buffer = &giver->number;
	b->u.indicator = &giver->indicator;
	return row == giver->fails_at;
}

static void
arrays_are_taken_before(unsigned n_rows, unsigned fails_at)
{
	struct giver giver = { .fails_at = fails_at };
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	void (*callback)(void) = (void (*)(void))give;
	MYSQL_BIND b = { .buffer_type = MYSQL_TYPE_LONG };
	const void *given;
	unsigned one = 1;

	memcpy(&given, &callback, sizeof(given));
	run("create or replace table stmt_taken (a int) engine=innodb");
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_PREBIND_PARAMS, &one);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, &giver);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_PARAM, given);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &n_rows);
	show(stmt, "given", f.mysql_stmt_bind_param(stmt, &b));
	if (take(stmt)) {
		printf("calls %u\n", giver.calls);
		show(stmt, "direct",
			f.mariadb_stmt_execute_direct(
				stmt, "insert into stmt_taken values (?)", (size_t)-1));
	}
	printf("calls %u\n", giver.calls);
	query("select count(*), sum(a) from stmt_taken");
	printf("closed %d\n", f.mysql_stmt_close(stmt));
}

/* STMT_ATTR_CB_RESULT: a function of the program gets each value in the form of a protocol row. */
static void
got(void *data, unsigned column, unsigned char **row)
{
	static const unsigned sizes[] = { [MYSQL_TYPE_TINY] = 1,
		[MYSQL_TYPE_SHORT] = 2,
		[MYSQL_TYPE_YEAR] = 2,
		[MYSQL_TYPE_INT24] = 4,
		[MYSQL_TYPE_LONG] = 4,
		[MYSQL_TYPE_FLOAT] = 4,
		[MYSQL_TYPE_LONGLONG] = 8,
		[MYSQL_TYPE_DOUBLE] = 8 };
	MYSQL_STMT *stmt = data;
	enum enum_field_types type = stmt->fields[column].type;
	unsigned long n = 0;

	if (type < sizeof(sizes) / sizeof(sizes[0]))
		n = sizes[type];
	printf("  column %u type %d:", column, (int)type);
	if (row && n == 0)
		n = f.mysql_net_field_length(row);
	printf(row ? " %lu bytes" : " NULL", n);
	for (unsigned long i = 0; row && i < n && i < 20; i++)
		printf(" %02x", (*row)[i]);
	/* the next value follows */
	if (row)
		*row += n;
	printf("\n");
}

static void
values_are_called_back(void)
{
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	void (*callback)(void) = (void (*)(void))got;
	const void *given;
	int r;

	memcpy(&given, &callback, sizeof(given));
	run("create or replace table stmt_called (a tinyint, b smallint unsigned, c "
	    "mediumint, "
	    "d int, e bigint, f float, g double, h decimal(9,3), i date, j datetime(6), "
	    "k time, l time(3), m year, n varchar(20), o blob, p bit(9), q longtext, r "
	    "enum('x', 'y'), "
	    "s timestamp)");
	run("insert into stmt_called values (-1, 65535, -3, 4, -5, 1.5, -2.5, 12.345, "
	    "'2026-01-02', '2026-01-02 03:04:05.000006', '30:01:02', '-00:00:01.5', "
	    "2026, "
	    "'text', x'00ff', 257, repeat('a', 300), 'y', '2026-01-02 03:04:05'), "
	    "(null, null, null, null, null, null, null, null, null, null, null, null, "
	    "null, "
	    "null, null, null, null, null, '2026-01-02'), "
	    "(1, 0, 0, 0, 0, 0, 0, 0, '0000-00-00', '2026-01-02', 0, 0, 0, '', '', 0, "
	    "repeat('b', 70000), 'x', '2026-01-02')");
	prepare(stmt, "select * from stmt_called");
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_USER_DATA, stmt);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_CB_RESULT, given);
	for (int is_stored = 0; is_stored < 2; is_stored++) {
		execute(stmt);
		if (is_stored)
			show(stmt, "stored", f.mysql_stmt_store_result(stmt));
		while ((r = f.mysql_stmt_fetch(stmt)) == 0)
			printf("row\n");
		printf("fetched %d\n", r);
	}
	printf("closed %d\n", f.mysql_stmt_close(stmt));
	run("drop table stmt_called");
}

/* Further members of MYSQL.methods, which Connector/C's plugins use. */
static void
other_methods(void)
{
	const struct cmy_methods *methods = my->methods;
	unsigned (*error_of)(MYSQL *) = (unsigned (*)(MYSQL *))methods->api->mysql_errno;
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);

	for (unsigned type = 0; type < 256; type++) {
		if (methods->db_supported_buffer_type((enum enum_field_types)type))
			printf("type %u\n", type);
	}
	printf("%d %u\n", f.mysql_query(my, "selct"), error_of(my));
	prepare(stmt, "select seq from seq_1_to_3");
	execute(stmt);
	printf("handler %d\n", stmt->default_rset_handler(stmt) != NULL);
	show(stmt, "used", 0);
	steps(stmt, "bind fetch");
	methods->db_stmt_flush_unbuffered(stmt);
	my->status = MYSQL_STATUS_READY; /* the original does the same */
	show(stmt, "flushed", 0);
	steps(stmt, "execute rest closed");
	/* the connection is closed, and the handle is still valid */
	methods->db_close(my);
	printf("query %d %u\n", f.mysql_query(my, "select 1"), f.mysql_errno(my));
}

void
stmt_methods(void)
{
	values_are_taken_before();
	arrays_are_taken_before(7, 1000000);
	arrays_are_taken_before(70000, 1000000);
	arrays_are_taken_before(70000, 69000);
	run("drop table stmt_taken");
	values_are_called_back();
	other_methods();
}
