/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dt.h"

#include "harness.h"

/* Every type on a real server: its logical type, and the forms of its values. */
static const struct type_case {
	const char *type; /* the server's type name */
	const char *logical;
	const char *literal;
	const char *text; /* the value in the server's own text form */
	const char *canonical; /* NULL: the same as `text` */
} cases[] = {
	{ "bool", "BOOL", "'yes'", "t", "1" },
	{ "bool", "BOOL", "'off'", "f", "0" },
	{ "int2", "INT64", "'-32768'", "-32768", NULL },
	{ "int2", "INT64", "'32767'", "32767", NULL },
	{ "int4", "INT64", "'-2147483648'", "-2147483648", NULL },
	{ "int4", "INT64", "'2147483647'", "2147483647", NULL },
	{ "int8", "INT64", "'-9223372036854775808'", "-9223372036854775808", NULL },
	{ "int8", "INT64", "'9223372036854775807'", "9223372036854775807", NULL },
	{ "oid", "INT64", "'4294967295'", "4294967295", NULL },
	{ "xid", "INT64", "'3'", "3", NULL },
	{ "xid8", "UINT64", "'18446744073709551615'", "18446744073709551615", NULL },
	{ "float4", "DOUBLE", "'0.1'", "0.1", NULL },
	{ "float4", "DOUBLE", "'-3.4028235e38'", "-3.4028235e+38", NULL },
	{ "float4", "DOUBLE", "'1e-45'", "1e-45", NULL },
	{ "float8", "DOUBLE", "'0.1'", "0.1", NULL },
	{ "float8", "DOUBLE", "'-0'", "-0", NULL },
	{ "float8", "DOUBLE", "'1.7976931348623157e308'", "1.7976931348623157e+308",
		NULL },
	{ "float8", "DOUBLE", "'5e-324'", "5e-324", NULL },
	{ "float8", "DOUBLE", "'infinity'", "Infinity", NULL },
	{ "float8", "DOUBLE", "'-inf'", "-Infinity", NULL },
	{ "float8", "DOUBLE", "'nan'", "NaN", NULL },
	{ "numeric", "DECIMAL", "'-0.00'", "0.00", NULL },
	{ "numeric", "DECIMAL", "'12345678901234567890.12345678901234567890'",
		"12345678901234567890.12345678901234567890", NULL },
	{ "numeric", "DECIMAL", "'1e-20'", "0.00000000000000000001", NULL },
	{ "numeric(5,2)", "DECIMAL", "'1.005'", "1.01", NULL },
	{ "numeric", "DECIMAL", "'nan'", "NaN", NULL },
	{ "numeric", "DECIMAL", "'-infinity'", "-Infinity", NULL },
	{ "money", "OTHER", "'-12.5'", "-$12.50", NULL },
	{ "text", "TEXT", "''", "", NULL },
	{ "text", "TEXT", "e'gr\\u00fcn \\u65e5 \\U0001F41F'",
		"gr\xc3\xbcn \xe6\x97\xa5 "
		"\xf0\x9f\x90\x9f",
		NULL },
	{ "varchar(3)", "TEXT", "'abc'", "abc", NULL },
	{ "char(3)", "TEXT", "'a'", "a  ", NULL },
	{ "name", "TEXT", "'n'", "n", NULL },
	{ "\"char\"", "TEXT", "'c'", "c", NULL },
	{ "\"char\"", "TEXT", "''", "", NULL },
	{ "bytea", "BYTES", "''", "\\x", "" },
	{ "bytea", "BYTES", "'\\x414200ff'", "\\x414200ff", NULL },
	{ "bit(3)", "OTHER", "'101'", "101", NULL },
	{ "varbit", "OTHER", "''", "", NULL },
	{ "date", "DATE", "'2024-02-29'", "2024-02-29", NULL },
	{ "date", "DATE", "'4714-11-24 BC'", "4714-11-24 BC", "-4713-11-24" },
	{ "date", "DATE", "'0001-12-31 BC'", "0001-12-31 BC", "0000-12-31" },
	{ "date", "DATE", "'5874897-12-31'", "5874897-12-31", NULL },
	{ "date", "DATE", "'-infinity'", "-infinity", NULL },
	{ "time", "TIME", "'24:00:00'", "24:00:00", NULL },
	{ "time", "TIME", "'23:59:59.999999'", "23:59:59.999999", NULL },
	{ "time(1)", "TIME", "'1:2:3.04'", "01:02:03", NULL },
	{ "timetz", "TIME", "'1:2:3.5-08'", "01:02:03.5-08", "01:02:03.5-08:00" },
	{ "timetz", "TIME", "'0:00:00+15:59:59'", "00:00:00+15:59:59", NULL },
	{ "timestamp", "TIMESTAMP", "'2024-02-29 1:2:3.45'", "2024-02-29 01:02:03.45",
		NULL },
	{ "timestamp", "TIMESTAMP", "'4714-11-24 00:00:00 BC'", "4714-11-24 00:00:00 BC",
		"-4713-11-24 00:00:00" },
	{ "timestamp", "TIMESTAMP", "'294276-12-31 23:59:59.999999'",
		"294276-12-31 23:59:59.999999", NULL },
	{ "timestamp", "TIMESTAMP", "'infinity'", "infinity", NULL },
	{ "timestamptz", "TIMESTAMP", "'2024-02-29 1:2:3+05:30'",
		"2024-02-28 19:32:03+00", "2024-02-28 19:32:03+00:00" },
	{ "timestamptz", "TIMESTAMP", "'0044-03-15 12:00+00 BC'",
		"0044-03-15 12:00:00+00 BC", "-0043-03-15 12:00:00+00:00" },
	{ "timestamptz", "TIMESTAMP", "'-infinity'", "-infinity", NULL },
	{ "interval", "INTERVAL", "'1 year 2 days 3:4:5.6'", "1 year 2 days 03:04:05.6",
		NULL },
	{ "interval", "INTERVAL", "'0'", "00:00:00", NULL },
	{ "uuid", "UUID", "'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'",
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", NULL },
	{ "json", "JSON", "'{\"a\" :1}'", "{\"a\" :1}", NULL },
	{ "jsonb", "JSON", "'{\"a\" :1}'", "{\"a\": 1}", NULL },
	{ "jsonpath", "OTHER", "'$.a'", "$.\"a\"", NULL },
	{ "xml", "TEXT", "'<a/>'", "<a/>", NULL },
	{ "inet", "OTHER", "'::1/64'", "::1/64", NULL },
	{ "cidr", "OTHER", "'10.0.0.0/8'", "10.0.0.0/8", NULL },
	{ "macaddr", "OTHER", "'08-00-2b-01-02-03'", "08:00:2b:01:02:03", NULL },
	{ "point", "OTHER", "'(1,2.5)'", "(1,2.5)", NULL },
	{ "box", "OTHER", "'((1,2),(3,4))'", "(3,4),(1,2)", NULL },
	{ "polygon", "OTHER", "'((1,2),(3,4))'", "((1,2),(3,4))", NULL },
	{ "tsvector", "OTHER", "'b a'", "'a' 'b'", NULL },
	{ "tsquery", "OTHER", "'a & b'", "'a' & 'b'", NULL },
	{ "pg_lsn", "OTHER", "'1/a'", "1/A", NULL },
	{ "regclass", "OTHER", "'pg_class'", "pg_class", NULL },
	{ "regtype", "OTHER", "'int4'", "integer", NULL },
	{ "int4[]", "OTHER", "'{1,null,-3}'", "{1,NULL,-3}", NULL },
	{ "text[]", "OTHER", "'{}'", "{}", NULL },
	{ "bool[]", "OTHER", "'{t,f}'", "{t,f}", NULL },
	{ "int4range", "OTHER", "'[1,5]'", "[1,6)", NULL },
	{ "int4range", "OTHER", "'empty'", "empty", NULL },
	{ "int4multirange", "OTHER", "'{[1,2],[5,6]}'", "{[1,3),[5,7)}", NULL },
	{ "mood", "OTHER", "'sad'", "sad", NULL },
	{ "pair", "OTHER", "'(1,x)'", "(1,x)", NULL },
	/* To the client, a domain is its base type. */
	{ "positive", "INT64", "'7'", "7", NULL },
	{ "yes", "BOOL", "'t'", "t", "1" },
};

static const char setup_sql[] =
	"create type mood as enum ('sad', 'happy'); create type pair as (a int, b text);"
	" create domain positive as int check (value > 0);"
	" create domain yes as bool check (value)";

static void
check(struct pg *t, const struct type_case *c, const char *value)
{
	char sql[512], expected[512];

	snprintf(sql, sizeof(sql), "select %s::%s as v, null::%s as n", c->literal,
		c->type, c->type);
	snprintf(expected, sizeof(expected),
		"columns v:%s n:%s\nrow %s|NULL\ndone SELECT 1\n", c->logical, c->logical,
		value);
	assert_answer(t, sql, expected);
}

static void
every_type_has_its_text_form(void **state)
{
	struct pg *t = *state;

	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		for (size_t i = 0; i < CNT_COUNT(cases); i++) {
			check(t, &cases[i], cases[i].text);
		}
	}
}

static void
every_type_has_its_canonical_form(void **state)
{
	struct pg *t = *state;

	t->base.format = CENOTE_FORMAT_CANONICAL;
	for (t->base.is_extended = 0; t->base.is_extended < 2; t->base.is_extended++) {
		for (size_t i = 0; i < CNT_COUNT(cases); i++) {
			const struct type_case *c = &cases[i];

			/* A zero byte would end the value in the transcript. */
			if (strcmp(c->literal, "'\\x414200ff'") != 0)
				check(t, c, c->canonical ? c->canonical : c->text);
		}
	}
}

/* A client's settings do not change canonical values. */
static void
settings_do_not_change_canonical_values(void **state)
{
	static const char *const settings[] = { "set datestyle = german",
		"set datestyle = 'sql, dmy'", "set datestyle = 'postgres, mdy'",
		"set bytea_output = escape" };
	struct pg *t = *state;

	t->base.format = CENOTE_FORMAT_CANONICAL;
	for (size_t k = 0; k < CNT_COUNT(settings); k++) {
		(void)pg_query(t, settings[k]);
		t->base.is_extended = 1;
		for (size_t i = 0; i < CNT_COUNT(cases); i++) {
			const struct type_case *c = &cases[i];

			if (strcmp(c->literal, "'\\x414200ff'") != 0)
				check(t, c, c->canonical ? c->canonical : c->text);
		}
	}
}

/* The server's text form and its binary form of a date give the same canonical date. */
static void
text_and_binary_dates_agree(void **state)
{
	static const char sql[] =
		"select d, ts, ts at time zone 'UTC' as tz from (select"
		" date '4714-11-24 BC' + i * 2100 + i % 7 as d,"
		" timestamp '4714-11-24 BC' + i * interval '1 day 1:2:3.000457' as ts"
		" from generate_series(0, 5000) i) x order by d";
	struct pg *t = *state;
	char *by_text;

	t->base.format = CENOTE_FORMAT_CANONICAL;
	t->base.is_extended = 1;
	by_text = strdup(pg_query(t, sql));
	assert_non_null(by_text);
	assert_non_null(strstr(by_text, "\nrow -4713-11-24|-4713-11-24 00:00:00|"));
	assert_non_null(strstr(by_text, "\ndone SELECT 5001\n"));
	(void)pg_query(t, "set datestyle = german");
	assert_answer(t, sql, by_text);
	free(by_text);
}

/* ---- Bound values ---- */

#define TEXT(value)                                                                      \
	{                                                                                \
		.type = CENOTE_TYPE_TEXT, .bytes = value, .len = sizeof(value) - 1       \
	}

static const struct {
	struct cnc_value v;
	const char *type; /* the value's type on the server, if it is alone in a SELECT */
	const char *canonical;
} bound[] = {
	{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 }, "boolean", "1" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = -5 }, "integer", "-5" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = INT64_MIN }, "bigint",
		"-9223372036854775808" },
	{ { .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX }, "numeric",
		"18446744073709551615" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.1 }, "double precision", "0.1" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 5e-324 }, "double precision",
		"5e-324" },
	{ { .type = CENOTE_TYPE_DECIMAL, .bytes = "1.50", .len = 4 }, "numeric", "1.50" },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = "a\\b'c\xff", .len = 6 }, "bytea",
		"a\\b'c\xff" },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = "", .len = 0 }, "bytea", "" },
	{ TEXT("gr\xc3\xbcn"), "text", "gr\xc3\xbcn" },
	{ TEXT(""), "text", "" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 2024, 2, 29, 0 } }, "date",
		"2024-02-29" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { -4713, 11, 24, 0 } }, "date",
		"-4713-11-24" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 0, 2, 29, 0 } }, "date",
		"0000-02-29" },
	{ { .type = CENOTE_TYPE_TIME, .as.time = { 24, 0, 0, 0, 0, CENOTE_NO_OFFSET } },
		"time without time zone", "24:00:00" },
	{ { .type = CENOTE_TYPE_TIME, .as.time = { 1, 2, 3, 0, 5000, -3600 } },
		"time with time zone", "01:02:03.000005-01:00" },
	{ { .type = CENOTE_TYPE_TIMESTAMP,
		  .as.timestamp = { { -43, 3, 15, 0 },
			  { 1, 2, 3, 0, 0, CENOTE_NO_OFFSET } } },
		"timestamp without time zone", "-0043-03-15 01:02:03" },
	{ { .type = CENOTE_TYPE_TIMESTAMP,
		  .as.timestamp = { { 2024, 1, 1, 0 }, { 0, 30, 0, 0, 0, 3600 } } },
		"timestamp with time zone", "2023-12-31 23:30:00+00:00" },
};

static void
bound_values_come_back(void **state)
{
	static const char *const settings[] = { "set datestyle = iso",
		"set datestyle = german" };
	struct pg *t = *state;

	t->base.format = CENOTE_FORMAT_CANONICAL;
	for (size_t k = 0; k < 2 * CNT_COUNT(bound); k++) {
		size_t i = k / 2;
		char expected[256];
		const char *row;

		(void)pg_query(t, settings[k % 2]);
		row = pg_query_with(t,
			"select v, pg_typeof(v)::text as t from (select $1 as v) x",
			&bound[i].v, 1);
		snprintf(expected, sizeof(expected), "\nrow %s|%s\n", bound[i].canonical,
			bound[i].type);
		if (!row || !strstr(row, expected))
			fail_msg("%s", row ? row : "no answer");
	}
}

static struct cnc_value
int_value(int64_t v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_INT64, .as.i64 = v };
}

static struct cnc_value
double_value(double v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_DOUBLE, .as.f64 = v };
}

static struct cnc_value
text_value(const char *text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text, .len = strlen(text)
	};
}

static struct cnc_value
date_value(int32_t year, uint8_t month, uint8_t day)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_DATE,
		.as.date = { year, month, day, 0 } };
}

/* Common uses of bound values that fail in many drivers. */
static void
usual_statements_take_bound_values(void **state)
{
	struct cnc_value two_ints[] = { int_value(40), int_value(2) };
	struct cnc_value ints[] = { int_value(1) };
	struct cnc_value double_[] = { double_value(1.5) };
	struct cnc_value text[] = { text_value("1") };
	struct cnc_value day[] = { text_value("2024-01-02") };
	struct cnc_value date[] = { date_value(2024, 2, 28) };
	struct cnc_value null[] = { { .type = CENOTE_TYPE_NULL, .is_null = 1 } };
	const struct {
		const char *sql;
		const struct cnc_value *params;
		uint32_t n;
		const char *row;
	} statements[] = {
		{ "select $1 + $2", two_ints, 2, "row 42\n" },
		{ "select substr('abc', $1)", ints, 1, "row abc\n" },
		{ "select date '2024-01-01' + $1", ints, 1, "row 2024-01-02\n" },
		{ "select i from b where i = $1", ints, 1, "row 1\n" },
		{ "select i from b where s = $1", ints, 1, "row 1\n" },
		{ "select i from b where n = $1", ints, 1, "row 1\n" },
		{ "select i from b where i < $1", double_, 1, "row 1\n" },
		{ "select i from b where i = $1", text, 1, "row 1\n" },
		{ "select i from b where t = $1", text, 1, "row 1\n" },
		{ "select i from b where d > $1", date, 1, "row 1\n" },
		{ "select i from b where d > $1 - interval '1 day'", date, 1, "row 1\n" },
		{ "select extract(year from $1)::int", date, 1, "row 2024\n" },
		{ "select i from b limit $1 offset 0", ints, 1, "row 1\n" },
		{ "select i from generate_series(1, $1) i", ints, 1, "row 1\n" },
		{ "select i from b where i in ($1, $2)", two_ints, 2, "done SELECT 0\n" },
		{ "select ('[5,6]'::jsonb -> $1)::text", ints, 1, "row 6\n" },
		{ "select jsonb_build_object('a', $1)::text", ints, 1,
			"row {\"a\": 1}\n" },
		{ "insert into b (t) values ($1) returning t", ints, 1, "row 1\n" },
		{ "insert into b (n) values ($1) returning n", double_, 1, "row 1.5\n" },
		{ "insert into b (d) values ($1) returning d", day, 1,
			"row 2024-01-02\n" },
		{ "update b set d = $1 where i = 1 returning d", null, 1, "row NULL\n" },
		{ "select coalesce($1, 5)", null, 1, "row 5\n" },
	};
	struct pg *t = *state;

	(void)pg_query(
		t, "create temp table b (i int, s int2, n numeric, t text, d date)");
	(void)pg_query(t, "insert into b values (1, 1, 1, '1', '2024-02-29')");
	t->base.format = CENOTE_FORMAT_CANONICAL;
	for (size_t i = 0; i < CNT_COUNT(statements); i++) {
		const char *seen = pg_query_with(
			t, statements[i].sql, statements[i].params, statements[i].n);

		if (!strstr(seen, statements[i].row))
			print_error("%s\n%s", statements[i].sql, seen);
		assert_non_null(strstr(seen, statements[i].row));
	}
}

/* The server has found the parameter types of a prepared statement, and the values follow these
 * types. */
static void
prepared_statements_take_bound_values(void **state)
{
	struct cnc_value bytes = { .type = CENOTE_TYPE_BYTES, .bytes = "42", .len = 2 };
	struct cnc_value decimal = {
		.type = CENOTE_TYPE_DECIMAL, .bytes = "7.00", .len = 4
	};
	struct cnc_value truth = { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 };
	struct cnc_value number = double_value(3);
	struct pg *t = *state;

	assert_string_equal(pg_prepare(t, 1, "",
				    "select $1::int4 as a, $2::text as b, $3::bytea as c,"
				    " $4::bool as d"),
		"params INT64 TEXT BYTES BOOL\ncolumns a:INT64 b:TEXT c:BYTES d:BOOL\n"
		"done PREPARE\n");
	t->base.format = CENOTE_FORMAT_CANONICAL;
	assert_non_null(
		strstr(pg_execute(t, 1, "", 0,
			       (struct cnc_value[]){ bytes, bytes, bytes, truth }, 4),
			"row 42|42|42|1\n"));
	assert_non_null(strstr(pg_execute(t, 1, "", 0,
				       (struct cnc_value[]){ decimal, decimal,
					       text_value("\\x41"), int_value(1) },
				       4),
		"row 7|7.00|A|1\n"));
	assert_non_null(strstr(pg_execute(t, 1, "", 0,
				       (struct cnc_value[]){ number, truth,
					       text_value("a\\\\b"), text_value("no") },
				       4),
		"row 3|1|a\\b|0\n"));
	assert_non_null(strstr(
		pg_execute(t, 1, "", 0,
			(struct cnc_value[]){ double_value(0.5), truth, bytes, truth },
			4),
		"error 22P02 invalid input syntax for type integer: \"0.5\""));
}

static void
text_with_a_zero_byte_is_refused_by_the_server(void **state)
{
	struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .bytes = "a\0b", .len = 3 };
	struct pg *t = *state;

	assert_non_null(
		strstr(pg_query_with(t, "select $1::text", &v, 1), "error 22021 "));
	assert_string_equal(pg_state(t), "idle pins=2");
}

static void
check_long(struct pg *t, const char *sql, const struct cnc_value *v, size_t len)
{
	const char *row = strstr(pg_query_with(t, sql, v, 1), "\nrow ");

	assert_non_null(row);
	assert_true(strlen(row) > len + 5);
	assert_memory_equal(row + 5, v->bytes, len);
	assert_int_equal(row[5 + len], '\n');
}

static void
long_values_go_both_ways(void **state)
{
	static const size_t sizes[] = { 65536, (size_t)64 << 20 };
	struct pg *t = *state;

	t->base.format = CENOTE_FORMAT_CANONICAL;
	for (size_t i = 0; i < CNT_COUNT(sizes); i++) {
		struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .len = sizes[i] };
		char *bytes = malloc(sizes[i]);

		assert_non_null(bytes);
		for (size_t k = 0; k < sizes[i]; k++)
			bytes[k] = (char)('0' + (k ^ k >> 9) % 75);
		v.bytes = bytes;
		check_long(t, "select $1::text as v", &v, sizes[i]);
		v.type = CENOTE_TYPE_BYTES;
		check_long(t, "select $1::bytea as v", &v, sizes[i]);
		free(bytes);
	}
}

static int
setup(void **state)
{
	struct pg *t;

	if (pg_test_setup(state) < 0)
		return -1;
	t = *state;
	(void)pg_query(t, "set timezone = 'UTC'");
	return 0;
}

static int
group_setup(void **state)
{
	return pg_group_setup(state) < 0 ? -1 : cnt_server_sql(&pg_server, setup_sql);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, pg_test_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_type_has_its_text_form),
		TEST(every_type_has_its_canonical_form),
		TEST(settings_do_not_change_canonical_values),
		TEST(text_and_binary_dates_agree),
		/* libpq has one format for all columns */
		TEST(bound_values_come_back),
		TEST(usual_statements_take_bound_values),
		TEST(prepared_statements_take_bound_values),
		TEST(text_with_a_zero_byte_is_refused_by_the_server),
		TEST(long_values_go_both_ways),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, pg_group_teardown);
}
