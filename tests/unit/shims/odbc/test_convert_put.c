/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "shims/odbc/convert.h"

/* The type of a converted parameter, and its value as text. */
static void
show(const struct cod_param *p, char *out, size_t size)
{
	const cenote_date *d =
		p->type == CENOTE_TYPE_DATE ? &p->as.date : &p->as.timestamp.date;
	const cenote_time *t =
		p->type == CENOTE_TYPE_TIME ? &p->as.time : &p->as.timestamp.time;

	switch (p->type) {
	case CENOTE_TYPE_BOOL:
		snprintf(out, size, "bool %d", (int)p->as.i);
		return;
	case CENOTE_TYPE_INT64:
		snprintf(out, size, "int %lld", (long long)p->as.i);
		return;
	case CENOTE_TYPE_UINT64:
		snprintf(out, size, "uint %llu", (unsigned long long)p->as.u);
		return;
	case CENOTE_TYPE_DOUBLE:
		snprintf(out, size, "real %g", p->as.d);
		return;
	case CENOTE_TYPE_DATE:
		snprintf(out, size, "date %d-%d-%d", d->year, d->month, d->day);
		return;
	case CENOTE_TYPE_TIME:
		snprintf(out, size, "time %d:%d:%d.%u", t->hour, t->minute, t->second,
			(unsigned)t->nanosecond);
		return;
	case CENOTE_TYPE_TIMESTAMP:
		snprintf(out, size, "at %d-%d-%d %d:%d:%d.%u", d->year, d->month, d->day,
			t->hour, t->minute, t->second, (unsigned)t->nanosecond);
		return;
	default:
		snprintf(out, size, "%s %.*s",
			p->type == CENOTE_TYPE_DECIMAL ? "decimal"
			: p->type == CENOTE_TYPE_BYTES ? "bytes"
						       : "text",
			(int)p->n, p->text);
		return;
	}
}

struct put_case {
	SQLSMALLINT c_type;
	const void *from;
	SQLLEN n;
	SQLSMALLINT sql_type;
	const char *expected; /* NULL: an error, see `state` */
	const char *state;
};

#define UUID                     "12345678-9abc-def0-1122-334455667788"
#define I8(v)                    (&(const int8_t){ v })
#define U8(v)                    (&(const uint8_t){ v })
#define I16(v)                   (&(const int16_t){ v })
#define I32(v)                   (&(const int32_t){ v })
#define U32(v)                   (&(const uint32_t){ v })
#define I64(v)                   (&(const int64_t){ v })
#define U64(v)                   (&(const uint64_t){ v })
#define F(v)                     (&(const float){ v })
#define D(v)                     (&(const double){ v })
#define DATE(y, m, d)            (&(const SQL_DATE_STRUCT){ y, m, d })
#define TIME(h, m, s)            (&(const SQL_TIME_STRUCT){ h, m, s })
#define AT(y, mo, d, h, m, s, f) (&(const SQL_TIMESTAMP_STRUCT){ y, mo, d, h, m, s, f })
#define WIDE(...)                ((const SQLWCHAR[]){ __VA_ARGS__, 0 })

#define TEXT(text, sql, expected)                                                        \
	{                                                                                \
		SQL_C_CHAR, text, SQL_NTS, sql, expected, NULL                           \
	}
#define BAD_TEXT(text, sql, state)                                                       \
	{                                                                                \
		SQL_C_CHAR, text, SQL_NTS, sql, NULL, state                              \
	}
#define FINE(c, from, sql, expected)                                                     \
	{                                                                                \
		c, from, 0, sql, expected, NULL                                          \
	}
#define BAD(c, from, sql, state)                                                         \
	{                                                                                \
		c, from, 0, sql, NULL, state                                             \
	}

static const SQL_NUMERIC_STRUCT numeric = { 10, 2, 1, { 0x39, 0x30 } };
static const SQL_NUMERIC_STRUCT negative = { 10, 0, 0, { 5 } };
static const SQL_NUMERIC_STRUCT thousands = { 10, -3, 1, { 5 } };
static const SQLGUID guid = { 0x12345678, 0x9abc, 0xdef0,
	{ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 } };
static const SQL_INTERVAL_STRUCT hours = { SQL_IS_HOUR, SQL_TRUE,
	.intval.day_second = { .hour = 26 } };
static const SQL_INTERVAL_STRUCT day_time = { SQL_IS_DAY_TO_SECOND, SQL_FALSE,
	.intval.day_second = { 1, 2, 3, 4, 500000000 } };

static const struct put_case cases[] = {
	/* texts as other types */
	TEXT("hello", SQL_VARCHAR, "text hello"),
	{ SQL_C_CHAR, "hello", 2, SQL_WVARCHAR, "text he", NULL },
	{ SQL_C_CHAR, "hello", -5, SQL_VARCHAR, NULL, "HY090" },
	{ SQL_C_WCHAR, WIDE('h', 0xe9), SQL_NTS, SQL_WVARCHAR, "text h\xc3\xa9", NULL },
	{ SQL_C_WCHAR, WIDE('h', 0xe9), 2, SQL_VARCHAR, "text h", NULL },
	{ SQL_C_WCHAR, WIDE('4', '2'), SQL_NTS, SQL_INTEGER, "int 42", NULL },
	TEXT("42", SQL_INTEGER, "int 42"),
	TEXT(" -42 ", SQL_BIGINT, "int -42"),
	BAD_TEXT("42.5", SQL_INTEGER, "22001"),
	TEXT("42.0", SQL_INTEGER, "int 42"),
	BAD_TEXT("x", SQL_INTEGER, "22018"),
	TEXT("255", SQL_TINYINT, "int 255"),
	BAD_TEXT("256", SQL_TINYINT, "22001"),
	BAD_TEXT("-129", SQL_TINYINT, "22001"),
	TEXT("18446744073709551615", SQL_BIGINT, "uint 18446744073709551615"),
	BAD_TEXT("18446744073709551616", SQL_BIGINT, "22001"),
	TEXT("1.50", SQL_DECIMAL, "decimal 1.50"),
	TEXT(" -.5 ", SQL_NUMERIC, "decimal -0.5"),
	TEXT("5.", SQL_NUMERIC, "decimal 5.0"),
	BAD_TEXT("1.5x", SQL_DECIMAL, "22018"),
	BAD_TEXT("NaN", SQL_DECIMAL, "22018"),
	TEXT("1e3", SQL_DOUBLE, "real 1000"),
	BAD_TEXT("1e999", SQL_DOUBLE, "22003"),
	TEXT("1", SQL_BIT, "bool 1"),
	BAD_TEXT("2", SQL_BIT, "22003"),
	TEXT("616263", SQL_VARBINARY, "bytes abc"),
	BAD_TEXT("616", SQL_VARBINARY, "22018"),
	BAD_TEXT("6x", SQL_VARBINARY, "22018"),
	TEXT("2024-02-29", SQL_TYPE_DATE, "date 2024-2-29"),
	TEXT("{d '2024-02-29'}", SQL_TYPE_DATE, "date 2024-2-29"),
	TEXT("2024-02-29 00:00:00", SQL_TYPE_DATE, "date 2024-2-29"),
	BAD_TEXT("2024-02-29 00:00:01", SQL_TYPE_DATE, "22008"),
	BAD_TEXT("2023-02-29", SQL_TYPE_DATE, "22018"),
	BAD_TEXT("12:00:00", SQL_TYPE_DATE, "22018"),
	TEXT("12:30:00.25", SQL_TYPE_TIME, "time 12:30:0.250000000"),
	BAD_TEXT("2024-02-29", SQL_TYPE_TIME, "22018"),
	TEXT("2024-02-29 12:30:00", SQL_TYPE_TIME, "time 12:30:0.0"),
	TEXT("{ts '2024-02-29 12:30:00.5'}", SQL_TYPE_TIMESTAMP,
		"at 2024-2-29 12:30:0.500000000"),
	TEXT("2024-02-29", SQL_TYPE_TIMESTAMP, "at 2024-2-29 0:0:0.0"),
	BAD_TEXT("{ts '2024-02-29", SQL_TYPE_TIMESTAMP, "22018"),
	TEXT(UUID, SQL_GUID, "text " UUID),
	BAD_TEXT("1234", SQL_GUID, "22018"),
	TEXT("1-2", SQL_INTERVAL_YEAR_TO_MONTH, "text 1-2"),
	BAD_TEXT("1 2", SQL_INTERVAL_YEAR_TO_MONTH, "22018"),
	/* numbers */
	FINE(SQL_C_STINYINT, I8(-5), SQL_INTEGER, "int -5"),
	FINE(SQL_C_UTINYINT, U8(255), SQL_INTEGER, "int 255"),
	FINE(SQL_C_SSHORT, I16(-32768), SQL_VARCHAR, "text -32768"),
	FINE(SQL_C_SLONG, I32(-1), SQL_BIGINT, "int -1"),
	FINE(SQL_C_ULONG, U32(4294967295u), SQL_BIGINT, "int 4294967295"),
	FINE(SQL_C_LONG, I32(7), SQL_NUMERIC, "decimal 7"),
	FINE(SQL_C_DEFAULT, I32(7), SQL_INTEGER, "int 7"),
	FINE(SQL_C_SBIGINT, I64(INT64_MIN), SQL_BIGINT, "int -9223372036854775808"),
	FINE(SQL_C_UBIGINT, U64(UINT64_MAX), SQL_BIGINT, "uint 18446744073709551615"),
	BAD(SQL_C_SLONG, I32(70000), SQL_SMALLINT, "22003"),
	BAD(SQL_C_SLONG, I32(2), SQL_BIT, "22003"),
	BAD(SQL_C_SLONG, I32(2), SQL_TYPE_DATE, "07006"),
	BAD(SQL_C_SLONG, I32(2), SQL_VARBINARY, "07006"),
	FINE(SQL_C_BIT, U8(1), SQL_INTEGER, "int 1"),
	BAD(SQL_C_BIT, U8(2), SQL_INTEGER, "22003"),
	FINE(SQL_C_DOUBLE, D(1.5), SQL_VARCHAR, "text 1.5"),
	FINE(SQL_C_DOUBLE, D(0.1), SQL_NUMERIC, "decimal 0.1"),
	FINE(SQL_C_DOUBLE, D(1.5), SQL_INTEGER, "int 1"),
	FINE(SQL_C_FLOAT, F(0.1f), SQL_VARCHAR, "text 0.1"),
	FINE(SQL_C_NUMERIC, &numeric, SQL_NUMERIC, "decimal 123.45"),
	FINE(SQL_C_NUMERIC, &numeric, SQL_VARCHAR, "text 123.45"),
	FINE(SQL_C_NUMERIC, &numeric, SQL_INTEGER, "int 123"),
	FINE(SQL_C_NUMERIC, &negative, SQL_INTEGER, "int -5"),
	FINE(SQL_C_NUMERIC, &thousands, SQL_INTEGER, "int 5000"),
	/* dates */
	FINE(SQL_C_TYPE_DATE, DATE(2024, 2, 29), SQL_TYPE_DATE, "date 2024-2-29"),
	FINE(SQL_C_DATE, DATE(2024, 2, 29), SQL_VARCHAR, "text 2024-02-29"),
	FINE(SQL_C_TYPE_DATE, DATE(2024, 2, 29), SQL_TYPE_TIMESTAMP,
		"at 2024-2-29 0:0:0.0"),
	BAD(SQL_C_TYPE_DATE, DATE(2023, 2, 29), SQL_TYPE_DATE, "22007"),
	BAD(SQL_C_TYPE_DATE, DATE(2023, 257, 1), SQL_TYPE_DATE, "22007"),
	BAD(SQL_C_TYPE_DATE, DATE(2024, 2, 29), SQL_TYPE_TIME, "07006"),
	FINE(SQL_C_TYPE_TIME, TIME(1, 2, 3), SQL_TYPE_TIME, "time 1:2:3.0"),
	BAD(SQL_C_TYPE_TIME, TIME(25, 2, 3), SQL_TYPE_TIME, "22007"),
	FINE(SQL_C_TYPE_TIMESTAMP, AT(2024, 2, 29, 1, 2, 3, 500000000),
		SQL_TYPE_TIMESTAMP, "at 2024-2-29 1:2:3.500000000"),
	FINE(SQL_C_TYPE_TIMESTAMP, AT(2024, 2, 29, 1, 2, 3, 500000000), SQL_VARCHAR,
		"text 2024-02-29 01:02:03.5"),
	BAD(SQL_C_TYPE_TIMESTAMP, AT(2024, 2, 29, 1, 2, 3, 0), SQL_TYPE_DATE, "22008"),
	FINE(SQL_C_TYPE_TIMESTAMP, AT(2024, 2, 29, 0, 0, 0, 0), SQL_TYPE_DATE,
		"date 2024-2-29"),
	BAD(SQL_C_TYPE_TIMESTAMP, AT(2024, 2, 29, 1, 2, 3, 1000000000),
		SQL_TYPE_TIMESTAMP, "22007"),
	/* GUIDs, intervals, bytes */
	FINE(SQL_C_GUID, &guid, SQL_GUID, "text " UUID),
	FINE(SQL_C_GUID, &guid, SQL_CHAR, "text " UUID),
	FINE(SQL_C_INTERVAL_HOUR, &hours, SQL_INTEGER, "int -26"),
	FINE(SQL_C_INTERVAL_HOUR, &hours, SQL_INTERVAL_HOUR, "text -26"),
	FINE(SQL_C_INTERVAL_DAY_TO_SECOND, &day_time, SQL_INTERVAL_DAY_TO_SECOND,
		"text 1 02:03:04.5"),
	FINE(SQL_C_SLONG, I32(3), SQL_INTERVAL_DAY, "text 3"),
	BAD(SQL_C_SLONG, I32(3), SQL_INTERVAL_DAY_TO_HOUR, "07006"),
	{ SQL_C_BINARY, "abc", 3, SQL_VARBINARY, "bytes abc", NULL },
	{ SQL_C_BINARY, "abc", 3, SQL_VARCHAR, "text abc", NULL },
	{ SQL_C_BINARY, I32(9), 4, SQL_INTEGER, "int 9", NULL },
	{ SQL_C_BINARY, I32(9), 3, SQL_INTEGER, NULL, "22003" },
	{ SQL_C_BINARY, "12.5", 4, SQL_NUMERIC, "decimal 12.5", NULL },
	{ SQL_C_BINARY, "abc", SQL_NTS, SQL_VARBINARY, NULL, "HY090" },
	{ SQL_C_BINARY, "12.5", SQL_NTS, SQL_NUMERIC, NULL, "HY090" },
	BAD(4711, "", SQL_VARCHAR, "HY003"),
	BAD(SQL_C_SLONG, I32(1), 4711, "HY004"),
};

static int
is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void
parameters_become_what_the_standard_says(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const struct put_case *c = &cases[i];
		const struct cod_source source = { .c_type = c->c_type,
			.from = c->from,
			.n = c->n,
			.sql_type = c->sql_type };
		struct cod_param param;
		char shown[128] = "";
		const char *got = cod_param_read(COD_DIALECT_OTHER, &source, &param);

		if (!got)
			show(&param, shown, sizeof(shown));
		if (!is_same(got, c->state) ||
			(c->expected && strcmp(shown, c->expected) != 0))
			print_error("case %zu: %s %s\n", i, got ? got : "fine", shown);
		assert_true(is_same(got, c->state));
		if (c->expected)
			assert_string_equal(shown, c->expected);
		cod_param_finish(&param);
	}
}

static void
intervals_are_as_the_server_reads_them(void **state)
{
	static const SQL_INTERVAL_STRUCT minutes = { SQL_IS_MINUTE_TO_SECOND, SQL_TRUE,
		.intval.day_second = { .minute = 30, .second = 45 } };
	const struct cod_source source = { .c_type = SQL_C_INTERVAL_MINUTE_TO_SECOND,
		.from = &minutes,
		.sql_type = SQL_INTERVAL_MINUTE_TO_SECOND };
	struct cod_param param;

	assert_null(cod_param_read(COD_DIALECT_POSTGRESQL, &source, &param));
	assert_int_equal(param.n, strlen("-30 minutes -45 seconds"));
	assert_memory_equal(param.text, "-30 minutes -45 seconds", param.n);
	cod_param_finish(&param);
}

static void
a_number_may_be_none_in_postgresql(void **state)
{
	const struct cod_source source = { .c_type = SQL_C_CHAR,
		.from = "-Infinity",
		.n = SQL_NTS,
		.sql_type = SQL_NUMERIC };
	struct cod_param param;

	assert_null(cod_param_read(COD_DIALECT_POSTGRESQL, &source, &param));
	assert_int_equal(param.type, CENOTE_TYPE_TEXT);
	assert_memory_equal(param.text, "-Infinity", param.n);
	cod_param_finish(&param);
	assert_string_equal(cod_param_read(COD_DIALECT_MYSQL, &source, &param), "22018");
}

static void
a_time_becomes_one_of_today(void **state)
{
	const struct cod_source source = { .c_type = SQL_C_TYPE_TIME,
		.from = TIME(1, 2, 3),
		.sql_type = SQL_TYPE_TIMESTAMP };
	struct cod_param param;

	assert_null(cod_param_read(COD_DIALECT_OTHER, &source, &param));
	assert_int_equal(param.type, CENOTE_TYPE_TIMESTAMP);
	assert_true(param.as.timestamp.date.year > 2000);
	assert_int_equal(param.as.timestamp.time.hour, 1);
}

static void
values_are_appended(void **state)
{
	cenote_params *params = NULL;

	assert_ok(cenote_params_create(NULL, &params));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		const struct cod_source source = { .c_type = cases[i].c_type,
			.from = cases[i].from,
			.n = cases[i].n,
			.sql_type = cases[i].sql_type };
		uint32_t n = cenote_params_count(params);
		const char *got = cod_put(COD_DIALECT_OTHER, &source, params);

		assert_true(is_same(got, cases[i].state));
		assert_int_equal(cenote_params_count(params), got ? n : n + 1);
	}
	cenote_params_destroy(params);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_become_what_the_standard_says),
		cmocka_unit_test(intervals_are_as_the_server_reads_them),
		cmocka_unit_test(a_number_may_be_none_in_postgresql),
		cmocka_unit_test(a_time_becomes_one_of_today),
		cmocka_unit_test(values_are_appended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
