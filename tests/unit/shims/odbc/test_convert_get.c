/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shims/odbc/convert.h"
#include "shims/odbc/types.h"

#define WHOLE 64

/* The content of a buffer as text. */
static void
show_struct(SQLSMALLINT c_type, const void *at, char *out, size_t size)
{
	const SQL_DATE_STRUCT *d = at;
	const SQL_TIME_STRUCT *t = at;
	const SQL_TIMESTAMP_STRUCT *ts = at;
	const SQL_NUMERIC_STRUCT *n = at;
	const SQL_INTERVAL_STRUCT *i = at;
	const SQLGUID *g = at;

	if (c_type == SQL_C_TYPE_DATE)
		snprintf(out, size, "%d-%d-%d", d->year, d->month, d->day);
	else if (c_type == SQL_C_TYPE_TIME)
		snprintf(out, size, "%d:%d:%d", t->hour, t->minute, t->second);
	else if (c_type == SQL_C_TYPE_TIMESTAMP)
		snprintf(out, size, "%d-%d-%d %d:%d:%d.%u", ts->year, ts->month, ts->day,
			ts->hour, ts->minute, ts->second, (unsigned)ts->fraction);
	else if (c_type == SQL_C_NUMERIC)
		snprintf(out, size, "%s%u %d.%d", n->sign ? "" : "-",
			n->val[0] | n->val[1] << 8 | n->val[2] << 16, n->precision,
			n->scale);
	else if (c_type == SQL_C_GUID)
		snprintf(out, size, "%08x %04x %04x %02x %02x", (unsigned)g->Data1,
			g->Data2, g->Data3, g->Data4[0], g->Data4[7]);
	else if (c_type == SQL_C_INTERVAL_YEAR_TO_MONTH)
		snprintf(out, size, "%s%u-%u", i->interval_sign ? "-" : "",
			(unsigned)i->intval.year_month.year,
			(unsigned)i->intval.year_month.month);
	else
		snprintf(out, size, "%s%u %u:%u:%u.%u", i->interval_sign ? "-" : "",
			(unsigned)i->intval.day_second.day,
			(unsigned)i->intval.day_second.hour,
			(unsigned)i->intval.day_second.minute,
			(unsigned)i->intval.day_second.second,
			(unsigned)i->intval.day_second.fraction);
}

static void
show_number(SQLSMALLINT c_type, const void *at, char *out, size_t size)
{
	union {
		int8_t i8;
		uint8_t u8;
		int16_t i16;
		uint16_t u16;
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64;
		float f;
		double d;
	} v;

	memcpy(&v, at, sizeof(v));
	switch (c_type) {
	case SQL_C_STINYINT:
		snprintf(out, size, "%d", v.i8);
		return;
	case SQL_C_UTINYINT:
	case SQL_C_BIT:
		snprintf(out, size, "%u", v.u8);
		return;
	case SQL_C_SSHORT:
		snprintf(out, size, "%d", v.i16);
		return;
	case SQL_C_USHORT:
		snprintf(out, size, "%u", v.u16);
		return;
	case SQL_C_SLONG:
		snprintf(out, size, "%ld", (long)v.i32);
		return;
	case SQL_C_ULONG:
		snprintf(out, size, "%lu", (unsigned long)v.u32);
		return;
	case SQL_C_SBIGINT:
		snprintf(out, size, "%lld", (long long)v.i64);
		return;
	case SQL_C_UBIGINT:
		snprintf(out, size, "%llu", (unsigned long long)v.u64);
		return;
	case SQL_C_FLOAT:
		snprintf(out, size, "%g", (double)v.f);
		return;
	default:
		snprintf(out, size, "%.17g", v.d);
		return;
	}
}

static void
show(SQLSMALLINT c_type, const void *at, size_t n, char *out, size_t size)
{
	const SQLWCHAR *w = at;

	if (c_type == SQL_C_CHAR || c_type == SQL_C_BINARY) {
		snprintf(out, size, "%.*s", (int)n, (const char *)at);
	} else if (c_type == SQL_C_WCHAR) {
		for (size_t i = 0; i + 1 < size && (out[i] = (char)w[i]) != 0; i++)
			;
	} else if (c_type < SQL_C_TYPE_DATE && c_type != SQL_C_GUID &&
		   c_type != SQL_C_NUMERIC) {
		show_number(c_type, at, out, size);
	} else {
		show_struct(c_type, at, out, size);
	}
}

struct get_case {
	SQLSMALLINT sql_type;
	const char *value;
	SQLSMALLINT c_type;
	SQLLEN room;
	const char *expected; /* NULL: nothing was written */
	SQLLEN octets; /* -2: not checked */
	const char *state; /* NULL: success */
};

#define FINE(sql, value, c, expected)                                                    \
	{                                                                                \
		sql, value, c, WHOLE, expected, -2, NULL                                 \
	}
#define CUT(sql, value, c, expected)                                                     \
	{                                                                                \
		sql, value, c, WHOLE, expected, -2, "01S07"                              \
	}
#define BAD(sql, value, c, state)                                                        \
	{                                                                                \
		sql, value, c, WHOLE, NULL, -2, state                                    \
	}
#define ROOM(sql, value, c, room, expected, octets, state)                               \
	{                                                                                \
		sql, value, c, room, expected, octets, state                             \
	}

#define UUID "12345678-9abc-def0-1122-334455667788"

static const struct get_case cases[] = {
	/* texts */
	ROOM(SQL_VARCHAR, "hello", SQL_C_CHAR, 6, "hello", 5, NULL),
	ROOM(SQL_VARCHAR, "hello", SQL_C_CHAR, 5, "hell", 5, "01004"),
	ROOM(SQL_VARCHAR, "hello", SQL_C_CHAR, 1, "", 5, "01004"),
	ROOM(SQL_VARCHAR, "hello", SQL_C_CHAR, 0, NULL, 5, "01004"),
	ROOM(SQL_VARCHAR, "hello", SQL_C_CHAR, -1, NULL, -2, "HY090"),
	ROOM(SQL_VARCHAR, "", SQL_C_CHAR, 1, "", 0, NULL),
	ROOM(SQL_VARCHAR, "a\xe2\x82\xac", SQL_C_CHAR, 4, "a", 4, "01004"),
	ROOM(SQL_WVARCHAR, "hello", SQL_C_WCHAR, 12, "hello", 10, NULL),
	ROOM(SQL_WVARCHAR, "hello", SQL_C_WCHAR, 11, "hell", 10, "01004"),
	ROOM(SQL_WVARCHAR, "hello", SQL_C_DEFAULT, 12, "h", -2, NULL),
	ROOM(SQL_VARCHAR, "hello", SQL_C_BINARY, 5, "hello", 5, NULL),
	ROOM(SQL_VARCHAR, "hello", SQL_C_BINARY, 4, "hell", 5, "01004"),
	/* bytes */
	ROOM(SQL_VARBINARY, "\x01\xfe", SQL_C_CHAR, 5, "01FE", 4, NULL),
	ROOM(SQL_VARBINARY, "\x01\xfe", SQL_C_CHAR, 4, "01", 4, "01004"),
	ROOM(SQL_VARBINARY, "\x01\xfe", SQL_C_WCHAR, 10, "01FE", 8, NULL),
	ROOM(SQL_VARBINARY, "ab", SQL_C_BINARY, 2, "ab", 2, NULL),
	ROOM(SQL_VARBINARY, "ab", SQL_C_BINARY, 1, "a", 2, "01004"),
	BAD(SQL_VARBINARY, "12", SQL_C_SLONG, "07006"),
	BAD(SQL_VARBINARY, "12", SQL_C_TYPE_DATE, "07006"),
	/* numbers as texts: only digits after the point may be cut */
	ROOM(SQL_NUMERIC, "123.456", SQL_C_CHAR, 8, "123.456", 7, NULL),
	ROOM(SQL_NUMERIC, "123.456", SQL_C_CHAR, 6, "123.4", 7, "01004"),
	ROOM(SQL_NUMERIC, "123.456", SQL_C_CHAR, 4, "123", 7, "01004"),
	ROOM(SQL_NUMERIC, "123.456", SQL_C_CHAR, 3, NULL, -2, "22003"),
	ROOM(SQL_INTEGER, "-123", SQL_C_CHAR, 4, NULL, -2, "22003"),
	ROOM(SQL_INTEGER, "-123", SQL_C_WCHAR, 8, NULL, -2, "22003"),
	ROOM(SQL_DOUBLE, "1.5e+300", SQL_C_CHAR, 6, NULL, -2, "22003"),
	ROOM(SQL_TYPE_DATE, "2024-02-29", SQL_C_CHAR, 10, NULL, -2, "22003"),
	ROOM(SQL_TYPE_DATE, "2024-02-29", SQL_C_CHAR, 11, "2024-02-29", 10, NULL),
	ROOM(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03.5", SQL_C_CHAR, 20,
		"2024-02-29 01:02:03", 21, "01004"),
	ROOM(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03.5", SQL_C_CHAR, 19, NULL, -2,
		"22003"),
	ROOM(SQL_GUID, UUID, SQL_C_CHAR, 36, NULL, -2, "22003"),
	ROOM(SQL_GUID, UUID, SQL_C_CHAR, 37, "12345678-9ABC-DEF0-1122-334455667788", 36,
		NULL),
	ROOM(SQL_GUID, UUID, SQL_C_WCHAR, 64, NULL, -2, "22003"),
	ROOM(SQL_BIT, "1", SQL_C_CHAR, 1, NULL, -2, "22003"),
	/* whole numbers, at their limits */
	FINE(SQL_INTEGER, "-128", SQL_C_STINYINT, "-128"),
	BAD(SQL_INTEGER, "-129", SQL_C_STINYINT, "22003"),
	FINE(SQL_INTEGER, "255", SQL_C_UTINYINT, "255"),
	BAD(SQL_INTEGER, "256", SQL_C_UTINYINT, "22003"),
	BAD(SQL_INTEGER, "-1", SQL_C_UTINYINT, "22003"),
	FINE(SQL_INTEGER, "32767", SQL_C_SSHORT, "32767"),
	BAD(SQL_INTEGER, "32768", SQL_C_SSHORT, "22003"),
	FINE(SQL_INTEGER, "-32768", SQL_C_SSHORT, "-32768"),
	FINE(SQL_INTEGER, "65535", SQL_C_USHORT, "65535"),
	BAD(SQL_INTEGER, "65536", SQL_C_USHORT, "22003"),
	FINE(SQL_BIGINT, "-2147483648", SQL_C_SLONG, "-2147483648"),
	BAD(SQL_BIGINT, "2147483648", SQL_C_SLONG, "22003"),
	FINE(SQL_BIGINT, "4294967295", SQL_C_ULONG, "4294967295"),
	FINE(SQL_BIGINT, "-9223372036854775808", SQL_C_SBIGINT, "-9223372036854775808"),
	BAD(SQL_BIGINT, "9223372036854775808", SQL_C_SBIGINT, "22003"),
	FINE(SQL_BIGINT, "18446744073709551615", SQL_C_UBIGINT, "18446744073709551615"),
	BAD(SQL_NUMERIC, "18446744073709551616", SQL_C_UBIGINT, "22003"),
	CUT(SQL_NUMERIC, "1.5", SQL_C_SLONG, "1"),
	CUT(SQL_NUMERIC, "-1.5", SQL_C_SLONG, "-1"),
	FINE(SQL_NUMERIC, "1.000", SQL_C_SLONG, "1"),
	FINE(SQL_DOUBLE, "1e3", SQL_C_SLONG, "1000"),
	CUT(SQL_DOUBLE, "1.5e-3", SQL_C_SLONG, "0"),
	BAD(SQL_DOUBLE, "NaN", SQL_C_SLONG, "22003"),
	BAD(SQL_DOUBLE, "1e99999999999", SQL_C_SLONG, "22003"),
	FINE(SQL_VARCHAR, " 42 ", SQL_C_SLONG, "42"),
	FINE(SQL_VARCHAR, "+.5e1", SQL_C_SLONG, "5"),
	BAD(SQL_VARCHAR, "x", SQL_C_SLONG, "22018"),
	BAD(SQL_VARCHAR, "", SQL_C_SLONG, "22018"),
	BAD(SQL_VARCHAR, "1 2", SQL_C_SLONG, "22018"),
	BAD(SQL_VARCHAR, "1e", SQL_C_SLONG, "22018"),
	BAD(SQL_VARCHAR, ".", SQL_C_SLONG, "22018"),
	FINE(SQL_BIT, "1", SQL_C_SLONG, "1"),
	BAD(SQL_GUID, UUID, SQL_C_SLONG, "07006"),
	BAD(SQL_TYPE_DATE, "2024-02-29", SQL_C_SLONG, "07006"),
	/* bits */
	FINE(SQL_INTEGER, "1", SQL_C_BIT, "1"),
	FINE(SQL_BIT, "0", SQL_C_BIT, "0"),
	CUT(SQL_NUMERIC, "1.5", SQL_C_BIT, "1"),
	BAD(SQL_INTEGER, "2", SQL_C_BIT, "22003"),
	BAD(SQL_INTEGER, "-1", SQL_C_BIT, "22003"),
	BAD(SQL_VARCHAR, "true", SQL_C_BIT, "22018"),
	/* reals */
	FINE(SQL_NUMERIC, "0.1", SQL_C_DOUBLE, "0.10000000000000001"),
	FINE(SQL_DOUBLE, "1.7976931348623157e308", SQL_C_DOUBLE,
		"1.7976931348623157e+308"),
	BAD(SQL_NUMERIC, "1e309", SQL_C_DOUBLE, "22003"),
	FINE(SQL_DOUBLE, "Infinity", SQL_C_DOUBLE, "inf"),
	FINE(SQL_DOUBLE, "0.5", SQL_C_FLOAT, "0.5"),
	BAD(SQL_DOUBLE, "1e39", SQL_C_FLOAT, "22003"),
	BAD(SQL_VARCHAR, "1,5", SQL_C_DOUBLE, "22018"),
	/* SQL_NUMERIC_STRUCT, with a scale of 2 */
	FINE(SQL_NUMERIC, "123.45", SQL_C_NUMERIC, "12345 38.2"),
	FINE(SQL_NUMERIC, "-7", SQL_C_NUMERIC, "-700 38.2"),
	CUT(SQL_NUMERIC, "1.239", SQL_C_NUMERIC, "123 38.2"),
	FINE(SQL_INTEGER, "0", SQL_C_NUMERIC, "0 38.2"),
	BAD(SQL_NUMERIC, "1e40", SQL_C_NUMERIC, "22003"),
	BAD(SQL_VARCHAR, "one", SQL_C_NUMERIC, "22018"),
	/* dates and times */
	FINE(SQL_TYPE_DATE, "2024-02-29", SQL_C_TYPE_DATE, "2024-2-29"),
	FINE(SQL_TYPE_DATE, "-0043-03-15", SQL_C_TYPE_DATE, "-43-3-15"),
	BAD(SQL_TYPE_DATE, "infinity", SQL_C_TYPE_DATE, "22007"),
	BAD(SQL_TYPE_DATE, "0000-00-00", SQL_C_TYPE_DATE, "22007"),
	BAD(SQL_TYPE_DATE, "99999-01-01", SQL_C_TYPE_DATE, "22003"),
	BAD(SQL_TYPE_DATE, "2024-02-29", SQL_C_TYPE_TIME, "07006"),
	FINE(SQL_TYPE_DATE, "2024-02-29", SQL_C_TYPE_TIMESTAMP, "2024-2-29 0:0:0.0"),
	FINE(SQL_TYPE_TIMESTAMP, "2024-02-29 00:00:00", SQL_C_TYPE_DATE, "2024-2-29"),
	CUT(SQL_TYPE_TIMESTAMP, "2024-02-29 00:00:01", SQL_C_TYPE_DATE, "2024-2-29"),
	FINE(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03", SQL_C_TYPE_TIME, "1:2:3"),
	CUT(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03.1", SQL_C_TYPE_TIME, "1:2:3"),
	FINE(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03.123456789", SQL_C_TYPE_TIMESTAMP,
		"2024-2-29 1:2:3.123456789"),
	FINE(SQL_TYPE_TIMESTAMP, "2024-02-29 01:02:03.5+05:30", SQL_C_TYPE_TIMESTAMP,
		"2024-2-29 1:2:3.500000000"),
	FINE(SQL_TYPE_TIME, "23:59:59", SQL_C_TYPE_TIME, "23:59:59"),
	CUT(SQL_TYPE_TIME, "23:59:59.25", SQL_C_TYPE_TIME, "23:59:59"),
	BAD(SQL_TYPE_TIME, "-838:59:59", SQL_C_TYPE_TIME, "22007"),
	FINE(SQL_VARCHAR, "2024-02-29T01:02:03Z", SQL_C_TYPE_TIMESTAMP,
		"2024-2-29 1:2:3.0"),
	FINE(SQL_VARCHAR, "2024-02-29", SQL_C_TYPE_DATE, "2024-2-29"),
	BAD(SQL_VARCHAR, "2023-02-29", SQL_C_TYPE_DATE, "22018"),
	BAD(SQL_VARCHAR, "01:02:03", SQL_C_TYPE_DATE, "22018"),
	BAD(SQL_VARCHAR, "2024-02-29", SQL_C_TYPE_TIME, "22018"),
	/* GUIDs */
	FINE(SQL_GUID, UUID, SQL_C_GUID, "12345678 9abc def0 11 88"),
	FINE(SQL_VARCHAR, "{" UUID "}", SQL_C_GUID, "12345678 9abc def0 11 88"),
	BAD(SQL_VARCHAR, "12345678", SQL_C_GUID, "22018"),
	/* intervals */
	FINE(SQL_VARCHAR, "3-2", SQL_C_INTERVAL_YEAR_TO_MONTH, "3-2"),
	FINE(SQL_VARCHAR, "1 year 2 mons", SQL_C_INTERVAL_YEAR_TO_MONTH, "1-2"),
	FINE(SQL_VARCHAR, "-1-2", SQL_C_INTERVAL_YEAR_TO_MONTH, "-1-2"),
	BAD(SQL_VARCHAR, "1-12", SQL_C_INTERVAL_YEAR_TO_MONTH, "22018"),
	FINE(SQL_VARCHAR, "INTERVAL -'1-2' YEAR TO MONTH", SQL_C_INTERVAL_YEAR_TO_MONTH,
		"-1-2"),
	FINE(SQL_VARCHAR, "10 12:30:45.5", SQL_C_INTERVAL_DAY_TO_SECOND,
		"10 12:30:45.500000000"),
	FINE(SQL_VARCHAR, "1 day 02:03:04", SQL_C_INTERVAL_DAY_TO_SECOND, "1 2:3:4.0"),
	FINE(SQL_VARCHAR, "-1 days +02:03:00", SQL_C_INTERVAL_DAY_TO_SECOND,
		"-0 21:57:0.0"),
	FINE(SQL_INTEGER, "12", SQL_C_INTERVAL_HOUR, "0 12:0:0.0"),
	BAD(SQL_INTEGER, "123", SQL_C_INTERVAL_HOUR, "22015"),
	BAD(SQL_INTEGER, "1", SQL_C_INTERVAL_DAY_TO_HOUR, "07006"),
	BAD(SQL_DOUBLE, "1", SQL_C_INTERVAL_HOUR, "07006"),
	CUT(SQL_VARCHAR, "26:30:00", SQL_C_INTERVAL_HOUR, "0 26:0:0.0"),
	BAD(SQL_VARCHAR, "26:30:00 hours", SQL_C_INTERVAL_HOUR, "22018"),
	/* unknown C types and SQL types */
	BAD(SQL_INTEGER, "1", 12345, "HY003"),
	BAD(12345, "1", SQL_C_SLONG, "07006"),
};

static int
is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* One conversion into a buffer, with a check of the bytes after it. */
static void
check_case(const struct get_case *c, size_t i)
{
	_Alignas(8) unsigned char buffer[WHOLE + 8];
	SQLLEN octets = -3, indicator = -3;
	const struct cod_value value = { c->value, strlen(c->value), CENOTE_TYPE_TEXT,
		c->sql_type, 0 };
	const struct cod_target target = { .c_type = c->c_type,
		.to = buffer,
		.room = c->room,
		.octets = &octets,
		.indicator = &indicator,
		.scale = 2 };
	char shown[128] = "";
	const char *state;
	SQLSMALLINT as = c->c_type == SQL_C_DEFAULT ? SQL_C_CHAR : c->c_type;

	memset(buffer, 0x55, sizeof(buffer));
	state = cod_get(&value, &target, NULL);
	if (c->expected) {
		size_t n = c->c_type == SQL_C_BINARY && octets < c->room
				   ? (size_t)octets
				   : (size_t)(c->room > 0 ? c->room : 0);
		show(as, buffer, n, shown, sizeof(shown));
	}
	if (!is_same(state, c->state) || (c->expected && strcmp(shown, c->expected) != 0))
		print_error("case %zu: %s as %d: %s %s\n", i, c->value, c->c_type,
			state ? state : "fine", shown);
	assert_true(is_same(state, c->state));
	if (c->expected)
		assert_string_equal(shown, c->expected);
	else if (!state || state[1] != '1')
		assert_int_equal(buffer[0], 0x55);
	if (c->octets != -2)
		assert_int_equal(octets, c->octets);
	for (size_t at = c->room > 0 ? (size_t)c->room : 0; at < sizeof(buffer); at++) {
		if (cod_c_type(c->c_type) && cod_c_type(c->c_type)->octets == 0)
			assert_int_equal(buffer[at], 0x55);
	}
}

static void
values_become_what_the_standard_says(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		check_case(&cases[i], i);
}

static void
null_needs_an_indicator(void **state)
{
	const struct cod_value null = { NULL, 0, CENOTE_TYPE_TEXT, SQL_VARCHAR, 0 };
	SQLLEN indicator = 7;
	char buffer[4] = "abc";
	struct cod_target target = { .c_type = SQL_C_CHAR, .to = buffer, .room = 4 };

	assert_string_equal(cod_get(&null, &target, NULL), "22002");
	target.indicator = &indicator;
	assert_null(cod_get(&null, &target, NULL));
	assert_int_equal(indicator, SQL_NULL_DATA);
	assert_string_equal(buffer, "abc");
}

/* Pieces of any size together are the value, and each call reports how much is left. */
static void
check_pieces(const struct cod_value *value, SQLSMALLINT c_type, const char *whole,
	size_t whole_size, size_t unit, size_t room)
{
	size_t zero = c_type == SQL_C_BINARY ? 0 : unit, at = 0;
	struct cod_piece piece = { 0 };
	char *got = calloc(1, whole_size + 8), *buffer = malloc(room);

	for (int calls = 0; !piece.is_done; calls++) {
		SQLLEN left = -3;
		const struct cod_target target = { .c_type = c_type,
			.to = buffer,
			.room = (SQLLEN)room,
			.octets = &left,
			.indicator = &left };
		const char *state = cod_get(value, &target, &piece);
		size_t given;

		if (is_same(state, "HY090") && room < zero + 4)
			goto out;
		assert_true(calls < 200);
		assert_int_equal(left, whole_size - at);
		assert_true(is_same(state, piece.is_done ? NULL : "01004"));
		for (given = 0; c_type != SQL_C_BINARY && given + unit <= room;
			given += unit) {
			if (memcmp(buffer + given, "\0\0\0\0", unit) == 0)
				break;
		}
		if (c_type == SQL_C_BINARY)
			given = whole_size - at < room ? whole_size - at : room;
		memcpy(got + at, buffer, given);
		at += given;
	}
	assert_int_equal(at, whole_size);
	assert_memory_equal(got, whole, whole_size);
out:
	free(got);
	free(buffer);
}

static void
values_come_in_pieces_of_every_size(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9ez";
	static const SQLWCHAR wide[] = { 'a', 0xe9, 0x20ac, 0xd834, 0xdd1e, 'z' };
	const struct cod_value chars = { text, 11, CENOTE_TYPE_TEXT, SQL_VARCHAR, 0 };
	const struct cod_value bytes = { "abcdefg", 7, CENOTE_TYPE_TEXT, SQL_VARBINARY,
		0 };

	for (size_t room = 2; room < 40; room++) {
		check_pieces(&chars, SQL_C_CHAR, text, 11, 1, room);
		check_pieces(&chars, SQL_C_WCHAR, (const char *)wide, sizeof(wide), 2,
			room + 2);
		check_pieces(&bytes, SQL_C_BINARY, "abcdefg", 7, 1, room);
		check_pieces(&bytes, SQL_C_CHAR, "61626364656667", 14, 1, room);
	}
}

static void
a_length_can_be_asked_for_first(void **state)
{
	const struct cod_value value = { "hello", 5, CENOTE_TYPE_TEXT, SQL_VARCHAR, 0 };
	char buffer[8];
	SQLLEN n = -3;
	struct cod_piece piece = { 0 };
	struct cod_target target = { .c_type = SQL_C_CHAR,
		.to = buffer,
		.room = 0,
		.octets = &n,
		.indicator = &n };

	assert_string_equal(cod_get(&value, &target, &piece), "01004");
	assert_int_equal(n, 5);
	target.room = 8;
	assert_null(cod_get(&value, &target, &piece));
	assert_string_equal(buffer, "hello");
	assert_true(piece.is_done);
}

static void
indicator_and_length_may_be_apart(void **state)
{
	const struct cod_value value = { "42", 2, CENOTE_TYPE_INT64, SQL_INTEGER, 0 };
	int32_t number = 0;
	SQLLEN octets = -3, indicator = -3;
	const struct cod_target target = { .c_type = SQL_C_SLONG,
		.to = &number,
		.octets = &octets,
		.indicator = &indicator };

	assert_null(cod_get(&value, &target, NULL));
	assert_int_equal(number, 42);
	assert_int_equal(octets, 4);
	assert_int_equal(indicator, 0);
}

static void
bookmarks_come_back(void **state)
{
	char bytes[8];
	SQLULEN number = 0;
	SQLLEN n = 0;
	uint64_t back = 0;
	struct cod_target target = { .c_type = SQL_C_VARBOOKMARK,
		.to = bytes,
		.room = 8,
		.octets = &n,
		.indicator = &n };

	assert_null(cod_get_bookmark(77, &target));
	assert_int_equal(n, 8);
	assert_int_equal(cod_read_bookmark(bytes, n, SQL_C_VARBOOKMARK, &back), 0);
	assert_int_equal(back, 77);
	assert_int_equal(cod_read_bookmark(bytes, 4, SQL_C_VARBOOKMARK, &back), -1);
	target.c_type = SQL_C_BOOKMARK;
	target.to = &number;
	assert_null(cod_get_bookmark(78, &target));
	assert_int_equal(number, 78);
	assert_int_equal(cod_read_bookmark(&number, 0, SQL_C_BOOKMARK, &back), 0);
	assert_int_equal(back, 78);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_what_the_standard_says),
		cmocka_unit_test(null_needs_an_indicator),
		cmocka_unit_test(values_come_in_pieces_of_every_size),
		cmocka_unit_test(a_length_can_be_asked_for_first),
		cmocka_unit_test(indicator_and_length_may_be_apart),
		cmocka_unit_test(bookmarks_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
