/* SPDX-License-Identifier: BSD-2-Clause */
#include "older.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: stmt_values LIBRARY SOCKET DIRECTORY
 *
 * Fetches values of every type of column into buffers of every type, and sends values of every type, and
 * prints all that a program sees: what the original and ours print must be the same.
 */

#define ROOM  96u /* bytes of the program's buffer */
#define GUARD 32u /* bytes after it, which must stay unchanged */
#define FILL  0xa5

static struct cmy_original f;
static MYSQL *my;

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
show_error(MYSQL_STMT *stmt, const char *what)
{
	printf("%s: %u %s [%s]\n", what, f.mysql_stmt_errno(stmt),
		f.mysql_stmt_sqlstate(stmt), f.mysql_stmt_error(stmt));
}

/* ---- fetching values ---- */

struct column {
	const char *type;
	const char *values; /* the rows of an INSERT */
};

/* clang-format off */
static const struct column columns[] = {
	{ "tinyint", "(0),(1),(-1),(127),(-128),(100)" },
	{ "tinyint unsigned", "(0),(1),(128),(255)" },
	{ "tinyint(3) zerofill", "(0),(7),(255)" },
	{ "smallint", "(0),(255),(256),(-1),(32767),(-32768),(2024)" },
	{ "smallint unsigned", "(0),(32768),(65535)" },
	{ "mediumint", "(0),(8388607),(-8388608),(70000),(-5)" },
	{ "mediumint unsigned", "(0),(16777215)" },
	{ "int", "(0),(1),(-1),(2147483647),(-2147483648),(20240102),(16777217),(101),(991231),(123456)" },
	{ "int unsigned", "(0),(2147483648),(4294967295)" },
	{ "int(10) unsigned zerofill", "(0),(42),(4294967295)" },
	{ "int(40) unsigned zerofill", "(7)" },
	{ "bigint", "(0),(1),(-1),(9223372036854775807),(-9223372036854775808),(9007199254740993),(20240102030405)" },
	{ "bigint unsigned", "(0),(9223372036854775808),(18446744073709551615),(9007199254740993)" },
	{ "bigint(20) unsigned zerofill", "(0),(18446744073709551615)" },
	{ "float", "(0),(1.5),(-1.5),(3.1415927),(1e20),(-1e-20),(16777216),(255),(256.7),(-0.5),(3.4e38),(2147483648),(-2147483904),(4294967296),(1e15),(123456789)" },
	{ "float unsigned zerofill", "(0),(1.5),(16777216)" },
	{ "float(7,3)", "(0),(1.5),(-1234.567),(9999.999)" },
	{ "double", "(0),(1.5),(-1.5),(3.141592653589793),(1e20),(-1e-20),(1e300),(0.1),(127.9),(128),(-129),(65535.5),(9.2233720368547758e18),(1.8446744073709552e19),(1e19),(-1e19),(2147483647.5),(4294967295.9),(1e-5),(123456.789e-12)" },
	{ "double(12,4)", "(0),(1.5),(-12345678.1234)" },
	{ "double(12,4) zerofill", "(0),(1.5),(12345678.1234)" },
	{ "decimal(10,0)", "(0),(1),(-1),(9999999999)" },
	{ "decimal(30,10)", "(0),(1.5),(-12345678901234567890.0123456789),(255.0000000001),(3.1415926536)" },
	{ "decimal(6,2) zerofill", "(0),(12.34)" },
	{ "year", "(0),(1901),(2155),(2024)" },
	{ "bit(1)", "(0),(1)" },
	{ "bit(16)", "(0),(1),(65535),(12849)" },
	{ "bit(64)", "(0),(18446744073709551615)" },
	{ "date", "('0000-00-00'),('2024-01-02'),('9999-12-31'),('1000-01-01')" },
	{ "time", "('00:00:00'),('01:02:03'),('-01:02:03'),('838:59:59'),('-838:59:59'),('25:00:00')" },
	{ "time(3)", "('00:00:00'),('01:02:03.456'),('-00:00:00.5'),('838:59:59.999')" },
	{ "time(6)", "('00:00:00'),('01:02:03.456789'),('-100:02:03.000001')" },
	{ "datetime", "('0000-00-00 00:00:00'),('2024-01-02 03:04:05'),('2024-01-02 00:00:00'),('9999-12-31 23:59:59')" },
	{ "datetime(2)", "('2024-01-02 03:04:05.67'),('2024-01-02 00:00:00'),('2024-01-02 03:04:05')" },
	{ "datetime(6)", "('2024-01-02 03:04:05.678901'),('2024-01-02 00:00:00'),('0000-00-00 00:00:00')" },
	{ "timestamp null", "('2024-01-02 03:04:05'),('2024-01-02 00:00:00')" },
	{ "timestamp(4) null", "('2024-01-02 03:04:05.6789')" },
	{ "char(10)", "(''),('a'),('abcdefghij'),('12'),('-12 '),('999')" },
	{ "varchar(120)", "(''),('0'),('127'),('128'),('-129'),('256'),('  42  '),('42x'),('+5'),('-'),('65536'),('4294967296'),('99999999999999999999'),('-99999999999999999999'),('18446744073709551615'),('9223372036854775808'),('-9223372036854775808'),('-9223372036854775809'),('1.5'),('1e5'),('1e400'),('-1e400'),('1e-400'),('.5'),('5.'),('abc'),('inf'),('nan'),('0x10'),('3.4e39')" },
	{ "varchar(60)", "('2024-01-02'),('24-1-2'),('70-1-2'),('2024-13-01'),('2024-01-32'),('2024-01-02 03:04:05'),('2024-01-02 03:04:05.678901234'),('2024-01-02 3:4:5.6'),('2024-01-02 25:00:00'),('2024-01-02T03:04:05'),('01:02:03'),('-01:02:03'),('1:2:3.5'),('838:59:59'),('839:00:00'),('01:60:00'),('01:02:60'),('01:02:03.12x'),('01:02:03.'),('01:02'),('12'),('  01:02:03  '),('20240102'),('20240102030405'),('2024/01/02'),('2024-01'),('00:00:00'),('0000-00-00')" },
	{ "varchar(20) character set latin1", "('ä'),('abc')" },
	{ "tinytext", "(''),('tiny')" },
	{ "text", "(''),('text'),(repeat('x',95)),(repeat('x',96)),(repeat('x',97)),(repeat('y',5000))" },
	{ "mediumtext", "('medium')" },
	{ "longtext", "('long')" },
	{ "tinyblob", "(''),('123'),('a\\0b')" },
	{ "blob", "(''),(x'00ff'),('42'),(repeat('x',95)),(repeat('x',96)),(repeat('x',97)),(repeat('y',70000))" },
	{ "mediumblob", "('medium')" },
	{ "longblob", "('long')" },
	{ "binary(8)", "('abc'),('')" },
	{ "varbinary(20)", "('abc'),(''),('12')" },
	{ "enum('a','b','12')", "('a'),('12')" },
	{ "set('a','b','c')", "(''),('a,c')" },
	{ "json", "('{\"a\": 1}'),('12')" },
	{ "point", "(point(1,2))" },
};

static const enum enum_field_types buffers[] = {
	MYSQL_TYPE_DECIMAL, MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_LONG, MYSQL_TYPE_FLOAT,
	MYSQL_TYPE_DOUBLE, MYSQL_TYPE_NULL, MYSQL_TYPE_TIMESTAMP, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_INT24,
	MYSQL_TYPE_DATE, MYSQL_TYPE_TIME, MYSQL_TYPE_DATETIME, MYSQL_TYPE_YEAR, MYSQL_TYPE_NEWDATE,
	MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BIT, MYSQL_TYPE_JSON, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_ENUM,
	MYSQL_TYPE_SET, MYSQL_TYPE_TINY_BLOB, MYSQL_TYPE_MEDIUM_BLOB, MYSQL_TYPE_LONG_BLOB,
	MYSQL_TYPE_BLOB, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_GEOMETRY,
};
/* clang-format on */

static int
is_time(enum enum_field_types type)
{
	return type == MYSQL_TYPE_DATE || type == MYSQL_TYPE_TIME ||
	       type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

static int
is_number(enum enum_field_types type)
{
	return (type >= MYSQL_TYPE_TINY && type <= MYSQL_TYPE_DOUBLE) ||
	       type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_INT24 ||
	       type == MYSQL_TYPE_YEAR;
}

struct out {
	MYSQL_BIND bind;
	union {
		unsigned char bytes[ROOM + GUARD];
		MYSQL_TIME time;
	} buffer;
	unsigned long length;
	my_bool is_null, error;
};

static void
show_buffer(const struct out *o)
{
	const MYSQL_TIME *t = &o->buffer.time;
	size_t i, n = ROOM;

	for (i = is_time(o->bind.buffer_type) ? sizeof(*t) : o->bind.buffer_length;
		i < ROOM + GUARD; i++) {
		if (i >= 8 && o->buffer.bytes[i] != FILL)
			printf(" BEHIND %zu", i);
	}
	if (is_time(o->bind.buffer_type) && o->buffer.bytes[0] != FILL) {
		printf(" %s%u-%u-%u %u:%u:%u.%lu type %d\n", t->neg ? "-" : "", t->year,
			t->month, t->day, t->hour, t->minute, t->second, t->second_part,
			(int)t->time_type);
		return;
	}
	while (n > 0 && o->buffer.bytes[n - 1] == FILL)
		n--;
	for (i = 0; i < n; i++)
		printf("%s%02x", i % 8 == 0 ? " " : "", o->buffer.bytes[i]);
	printf("\n");
}

static void
ready(struct out *o)
{
	memset(&o->buffer, FILL, sizeof(o->buffer));
	o->length = 77;
	o->is_null = 7;
	o->error = 0;
}

static void
bind(struct out *o, enum enum_field_types type, int is_unsigned, unsigned long room)
{
	memset(&o->bind, 0, sizeof(o->bind));
	o->bind.buffer_type = type;
	o->bind.buffer = &o->buffer;
	o->bind.buffer_length = room;
	o->bind.is_unsigned = is_unsigned != 0;
	o->bind.length = &o->length;
	o->bind.is_null = &o->is_null;
	o->bind.error = &o->error;
	ready(o);
}

static void
show_pieces(MYSQL_STMT *stmt, enum enum_field_types type, int is_unsigned)
{
	static const unsigned long offsets[] = { 0, 1, 2, 50, 96, 100, 4999, 5000, 6000 };
	size_t i;

	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		struct out o;
		int r;

		if (i > 0 && (is_number(type) || is_time(type)))
			return;
		bind(&o, type, is_unsigned, 10);
		r = f.mysql_stmt_fetch_column(stmt, &o.bind, 0, offsets[i]);
		printf("    piece %lu: %d null %d error %d length %lu room %lu",
			offsets[i], r, o.is_null, o.error,
			cnt_older_length(o.length, o.is_null), o.bind.buffer_length);
		show_buffer(&o);
	}
}

static void
fetch_all(MYSQL_STMT *stmt, enum enum_field_types type, int is_unsigned,
	unsigned long room, int is_stored)
{
	struct out o;
	int r;

	bind(&o, type, is_unsigned, room);
	must(f.mysql_stmt_execute(stmt) == 0, f.mysql_stmt_error(stmt));
	printf(" into %d%s of %lu\n", (int)type, is_unsigned ? " unsigned" : "", room);
	if (f.mysql_stmt_bind_result(stmt, &o.bind)) {
		show_error(stmt, "  not bound");
		(void)f.mysql_stmt_free_result(stmt);
		return;
	}
	printf("  bound: length %lu\n", cnt_older_length(o.length, true));
	if (is_stored)
		must(f.mysql_stmt_store_result(stmt) == 0, "store");
	while (ready(&o),
		(r = f.mysql_stmt_fetch(stmt)) == 0 || r == MYSQL_DATA_TRUNCATED) {
		printf("  %d null %d error %d length %lu", r, o.is_null, o.error,
			cnt_older_length(o.length, o.is_null));
		show_buffer(&o);
		if (room == 0 || is_number(type) || is_time(type))
			show_pieces(stmt, type, is_unsigned);
	}
	if (r != MYSQL_NO_DATA)
		show_error(stmt, "  not fetched");
	(void)f.mysql_stmt_free_result(stmt);
}

static void
fetch_into(MYSQL_STMT *stmt, enum enum_field_types type)
{
	static const unsigned long rooms[] = { 0, 1, 3, 5, 8, 12, ROOM };
	size_t i;

	if (is_number(type) || is_time(type)) {
		fetch_all(stmt, type, 0, ROOM, 0);
		fetch_all(stmt, type, 1, ROOM, 1);
		return;
	}
	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		fetch_all(stmt, type, 0, rooms[i], i & 1);
}

static void
show_longest(MYSQL_STMT *stmt)
{
	my_bool on = 1, off = 0;
	MYSQL_RES *meta;
	MYSQL_FIELD *field;

	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_UPDATE_MAX_LENGTH, &on);
	must(f.mysql_stmt_execute(stmt) == 0, f.mysql_stmt_error(stmt));
	must(f.mysql_stmt_store_result(stmt) == 0, "store");
	meta = f.mysql_stmt_result_metadata(stmt);
	field = f.mysql_fetch_field(meta);
	printf(" type %d length %lu longest %lu flags %u decimals %u charset %u rows "
	       "%llu\n",
		(int)field->type, field->length, field->max_length, field->flags,
		field->decimals, field->charsetnr,
		(unsigned long long)f.mysql_stmt_num_rows(stmt));
	f.mysql_free_result(meta);
	(void)f.mysql_stmt_free_result(stmt);
	(void)f.mysql_stmt_attr_set(stmt, STMT_ATTR_UPDATE_MAX_LENGTH, &off);
}

static void
fetch_column_of(const struct column *c)
{
	static const char sql[] = "select v from stmt_values order by id";
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	char text[4096];
	size_t i;

	printf("column %s\n", c->type);
	run("drop table if exists stmt_values");
	snprintf(text, sizeof(text),
		"create table stmt_values (id int auto_increment primary key, v %s)",
		c->type);
	run(text);
	snprintf(text, sizeof(text), "insert into stmt_values (v) values %s", c->values);
	run(text);
	if (!strstr(c->type, "timestamp"))
		run("insert into stmt_values (v) values (null)");
	must(f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) == 0, "prepare");
	show_longest(stmt);
	for (i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		fetch_into(stmt, buffers[i]);
	(void)f.mysql_stmt_close(stmt);
}

/* ---- sending values ---- */

struct in {
	enum enum_field_types type;
	int is_unsigned;
	const void *buffer;
	unsigned long length;
};

static void
show_first(const char *sql)
{
	MYSQL_RES *res;
	MYSQL_ROW row;
	unsigned i;

	run(sql);
	res = f.mysql_store_result(my);
	row = res ? f.mysql_fetch_row(res) : NULL;
	for (i = 0; row && i < f.mysql_num_fields(res); i++)
		printf(" [%s]", row[i] ? row[i] : "NULL");
	printf("\n");
	f.mysql_free_result(res);
}

/* Create a table from the value, to show which type the value has in the server. */
static void
send_value(MYSQL_STMT *stmt, const struct in *v)
{
	my_bool is_null = v->buffer == NULL;
	unsigned long length = v->length;
	MYSQL_BIND b;

	memset(&b, 0, sizeof(b));
	b.buffer_type = v->type;
	b.is_unsigned = v->is_unsigned != 0;
	b.buffer = (void *)(uintptr_t)v->buffer;
	b.length = &length;
	b.is_null = &is_null;
	printf("parameter %d%s %lu bytes\n", (int)v->type,
		v->is_unsigned ? " unsigned" : "", v->length);
	run("drop table if exists stmt_made");
	if (f.mysql_stmt_bind_param(stmt, &b)) {
		show_error(stmt, "  not bound");
		return;
	}
	printf(" bound: room %lu unsigned %d null %d\n", stmt->params[0].buffer_length,
		stmt->params[0].is_unsigned, *stmt->params[0].is_null);
	if (f.mysql_stmt_execute(stmt)) {
		show_error(stmt, "  not executed");
		return;
	}
	show_first("select v, hex(v), length(v), collation(v) from stmt_made");
	show_first("show create table stmt_made");
}

#define BYTES(type, text)                                                                \
	{                                                                                \
		type, 0, text, sizeof(text) - 1                                          \
	}
#define NUMBER(type, var)                                                                \
	{ type, 0, &(var), 0 }, { type, 1, &(var), 0 },                                  \
	{                                                                                \
		type, 0, NULL, 0                                                         \
	}

static void
send_all(void)
{
	static const char sql[] = "create table stmt_made as select ? as v";
	static const int8_t v8 = -100;
	static const int16_t v16 = -30000;
	static const int32_t v32 = -2000000000;
	static const int64_t v64 = -9000000000000000000;
	static const float f32 = 3.1415927f, f32_large = 16777216.f;
	static const double f64 = 3.141592653589793;
	static const MYSQL_TIME date = { .year = 2024, .month = 2, .day = 29 };
	static const MYSQL_TIME zero = { .year = 0 };
	static const MYSQL_TIME datetime = { .year = 2024,
		.month = 2,
		.day = 29,
		.hour = 23,
		.minute = 59,
		.second = 58 };
	static const MYSQL_TIME exact = { .year = 2024,
		.month = 2,
		.day = 29,
		.hour = 23,
		.minute = 59,
		.second = 58,
		.second_part = 123456 };
	static const MYSQL_TIME time = {
		.hour = 100, .minute = 2, .second = 3, .neg = 1
	};
	static const MYSQL_TIME days = { .day = 3, .hour = 4, .second_part = 5 };
	static const MYSQL_TIME many = { .day = 100000, .hour = 4 };
	static const MYSQL_TIME wrong = { .year = 2024, .month = 13, .day = 32 };
	static const struct in values[] = {
		NUMBER(MYSQL_TYPE_TINY, v8),
		NUMBER(MYSQL_TYPE_SHORT, v16),
		NUMBER(MYSQL_TYPE_LONG, v32),
		NUMBER(MYSQL_TYPE_INT24, v32),
		NUMBER(MYSQL_TYPE_LONGLONG, v64),
		NUMBER(MYSQL_TYPE_FLOAT, f32),
		NUMBER(MYSQL_TYPE_FLOAT, f32_large),
		NUMBER(MYSQL_TYPE_DOUBLE, f64),
		NUMBER(MYSQL_TYPE_DATE, date),
		NUMBER(MYSQL_TYPE_DATE, zero),
		NUMBER(MYSQL_TYPE_DATE, exact),
		NUMBER(MYSQL_TYPE_DATETIME, datetime),
		NUMBER(MYSQL_TYPE_DATETIME, exact),
		NUMBER(MYSQL_TYPE_DATETIME, zero),
		NUMBER(MYSQL_TYPE_DATETIME, wrong),
		NUMBER(MYSQL_TYPE_TIMESTAMP, exact),
		NUMBER(MYSQL_TYPE_TIME, time),
		NUMBER(MYSQL_TYPE_TIME, days),
		NUMBER(MYSQL_TYPE_TIME, zero),
		NUMBER(MYSQL_TYPE_TIME, many),
		BYTES(MYSQL_TYPE_STRING, "text"),
		BYTES(MYSQL_TYPE_STRING, ""),
		BYTES(MYSQL_TYPE_STRING, "\xc3\xa4"),
		BYTES(MYSQL_TYPE_VAR_STRING, "text"),
		BYTES(MYSQL_TYPE_VARCHAR, "text"),
		BYTES(MYSQL_TYPE_TINY_BLOB, "a\0b"),
		BYTES(MYSQL_TYPE_BLOB, "\xff\0\xfe"),
		BYTES(MYSQL_TYPE_MEDIUM_BLOB, "abc"),
		BYTES(MYSQL_TYPE_LONG_BLOB, "abc"),
		BYTES(MYSQL_TYPE_DECIMAL, "-12.50"),
		BYTES(MYSQL_TYPE_NEWDECIMAL, "-12.50"),
		BYTES(MYSQL_TYPE_NEWDECIMAL, "no number"),
		BYTES(MYSQL_TYPE_BIT, "\x01"),
		BYTES(MYSQL_TYPE_ENUM, "a"),
		BYTES(MYSQL_TYPE_SET, "a"),
		BYTES(MYSQL_TYPE_GEOMETRY, "abc"),
		BYTES(MYSQL_TYPE_NEWDATE, "2024-01-02"),
		BYTES(MYSQL_TYPE_NULL, ""),
		{ MYSQL_TYPE_STRING, 0, NULL, 0 },
		{ MYSQL_TYPE_BLOB, 0, NULL, 0 },
		{ MYSQL_TYPE_STRING, 0, "to its end", (unsigned long)-1 },
	};
	MYSQL_STMT *stmt = f.mysql_stmt_init(my);
	size_t i;

	must(f.mysql_stmt_prepare(stmt, sql, sizeof(sql) - 1) == 0, "prepare");
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		send_value(stmt, &values[i]);
	(void)f.mysql_stmt_close(stmt);
}

int
main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		return 2;
	cnt_library_open(&f, argv[1]);
	my = f.mysql_init(NULL);
	must(f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, argv[2], 0) != NULL,
		"connect");
	run("set names utf8mb4");
	run("set sql_mode = ''");
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fetch_column_of(&columns[i]);
	send_all();
	run("drop table if exists stmt_values, stmt_made");
	f.mysql_close(my);
	return 0;
}
