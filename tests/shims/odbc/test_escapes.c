/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <string.h>

/*
 * Escapes in braces: the servers must understand what the driver makes of them. Functions, {fn},
 * are in tests/unit/shims/odbc/test_on_pool.c; calls are in test_results.c.
 *
 * usage: test_odbc_escapes sqlite | postgresql | mariadb
 */

/* -------------------------------------------------------------------------- one value ----- */

static void
literals_are_values(void **state)
{
	static const struct {
		const char *sql, *value;
	} cases[] = {
		{ "select {d '2024-02-29'}", "2024-02-29" },
		{ "select {t '01:02:03'}", "01:02:03" },
		{ "select {ts '2024-02-29 01:02:03'}", "2024-02-29 01:02:03" },
		{ "select { fn concat({fn ucase('a')}, 'b') }", "Ab" },
		{ "select '{d ''2024-02-29''}'", "{d '2024-02-29'}" },
		{ "select 1 -- {nothing}", "1" },
	};
	char text[64];

	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		assert_string_equal(
			cnt_odbc_ask(the.stmt, cases[i].sql, text, sizeof(text)),
			cases[i].value);
}

static void
a_guid_is_one(void **state)
{
	SQLGUID guid = { 0 };

	ok(the.stmt, SQLExecDirect(the.stmt,
			     TEXT("select {guid '12345678-9abc-def0-1122-334455667788'}"),
			     SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLGetData(the.stmt, 1, SQL_C_GUID, &guid, sizeof(guid), NULL));
	assert_int_equal(guid.Data1, 0x12345678);
	assert_int_equal(guid.Data3, 0xdef0);
	assert_int_equal(guid.Data4[7], 0x88);
}

/* ---------------------------------------------------------------------- within a query ----- */

static void
a_pattern_has_an_escape_character(void **state)
{
	static const struct {
		const char *like;
		const char *count;
	} cases[] = {
		{ "'50%'", "3" },
		{ "'50\\%' {escape '\\'}", "1" },
		{ "'50!%' { escape '!' }", "1" },
		{ "'50}_' {escape '}'}", "0" },
	};
	char sql[128], text[16];

	cnt_odbc_run(the.stmt, "drop table if exists esc");
	cnt_odbc_run(the.stmt, "create table esc (name varchar(10))");
	cnt_odbc_run(the.stmt, "insert into esc values ('50%'), ('505'), ('50x'), ('5')");
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		(void)snprintf(sql, sizeof(sql),
			"select count(*) from esc where name like %s", cases[i].like);
		assert_string_equal(
			cnt_odbc_ask(the.stmt, sql, text, sizeof(text)), cases[i].count);
	}
}

/* A session setting decides where a string literal ends, and so what is an escape or a parameter. */
static void
a_backslash_is_read_as_the_session_reads_it(void **state)
{
	static const struct {
		const char *server, *set;
		const char *sql, *value;
	} cases[] = {
		{ "mariadb", "set sql_mode = ''", "select 'a\\' {?}', {fn ucase('x')}",
			"a' {?}" },
		{ "mariadb", "set sql_mode = 'NO_BACKSLASH_ESCAPES'", "select 'a\\', '?'",
			"a\\" },
		{ "mariadb", "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
			"select 'x' from dual where 'a_' like 'a\\_' {escape '\\'}",
			"x" },
		{ "postgresql", "set standard_conforming_strings = off",
			"select 'a\\' {?}', {fn ucase('x')}", "a' {?}" },
		{ "postgresql", "set standard_conforming_strings = off",
			"select 'x' where 'a_' like 'a\\\\_' {escape '\\'}", "x" },
		{ "postgresql", "set standard_conforming_strings = on",
			"select 'a\\', '?'", "a\\" },
	};
	SQLRETURN ret;
	char text[64];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		if (strcmp(the.kind->name, cases[i].server) != 0)
			continue;
		print_message("# %s; %s\n", cases[i].set, cases[i].sql);
		cnt_odbc_run(the.stmt, cases[i].set);
		gives(the.stmt, SQL_SUCCESS,
			SQLPrepare(the.stmt, TEXT(cases[i].sql), SQL_NTS));
		/* PostgreSQL may warn about a backslash escape */
		ret = SQLExecute(the.stmt);
		if (ret != SQL_SUCCESS_WITH_INFO)
			gives(the.stmt, SQL_SUCCESS, ret);
		ok(the.stmt, SQLFetch(the.stmt));
		ok(the.stmt,
			SQLGetData(the.stmt, 1, SQL_C_CHAR, text, sizeof(text), NULL));
		assert_string_equal(text, cases[i].value);
		ok(the.stmt, SQLCloseCursor(the.stmt));
	}
}

static void
outer_joins_are_nested(void **state)
{
	char text[16];

	cnt_odbc_run(the.stmt, "drop table if exists oja");
	cnt_odbc_run(the.stmt, "drop table if exists ojb");
	cnt_odbc_run(the.stmt, "create table oja (x int)");
	cnt_odbc_run(the.stmt, "create table ojb (y int)");
	cnt_odbc_run(the.stmt, "insert into oja values (1), (2), (3)");
	cnt_odbc_run(the.stmt, "insert into ojb values (2)");
	assert_string_equal(cnt_odbc_ask(the.stmt,
				    "select count(*) from {oj oja left outer join ojb on "
				    "oja.x = ojb.y} where ojb.y is null",
				    text, sizeof(text)),
		"2");
	/* SQLite has no nested joins */
	if (!the.kind->has_server)
		return;
	assert_string_equal(cnt_odbc_ask(the.stmt,
				    "select count(c.x) from {oj oja a left outer join "
				    "{oj ojb b left outer join oja c on b.y = c.x} on "
				    "a.x = b.y}",
				    text, sizeof(text)),
		"1");
}

/* --------------------------------------------------------------------------- intervals ----- */

#define BEGINNING "{ts '2024-01-31 10:20:30'}"

/* Every kind of interval, and the moment that results when it is added. */
static const struct {
	SQLSMALLINT type;
	const char *literal, *moment;
} intervals[] = {
	{ SQL_INTERVAL_YEAR, "'3' year", "2027-01-31 10:20:30" },
	{ SQL_INTERVAL_MONTH, "'1' month", "2024-02-29 10:20:30" },
	{ SQL_INTERVAL_DAY, "'5' day", "2024-02-05 10:20:30" },
	{ SQL_INTERVAL_HOUR, "'30' hour", "2024-02-01 16:20:30" },
	{ SQL_INTERVAL_MINUTE, "'90' minute", "2024-01-31 11:50:30" },
	{ SQL_INTERVAL_SECOND, "'45' second", "2024-01-31 10:21:15" },
	{ SQL_INTERVAL_YEAR_TO_MONTH, "'1-2' year to month", "2025-03-31 10:20:30" },
	{ SQL_INTERVAL_DAY_TO_HOUR, "'1 2' day to hour", "2024-02-01 12:20:30" },
	{ SQL_INTERVAL_DAY_TO_MINUTE, "'1 2:30' day to minute", "2024-02-01 12:50:30" },
	{ SQL_INTERVAL_DAY_TO_SECOND, "'1 2:30:15' day to second",
		"2024-02-01 12:50:45" },
	{ SQL_INTERVAL_HOUR_TO_MINUTE, "'2:30' hour to minute", "2024-01-31 12:50:30" },
	{ SQL_INTERVAL_HOUR_TO_SECOND, "'2:30:15' hour to second",
		"2024-01-31 12:50:45" },
	{ SQL_INTERVAL_MINUTE_TO_SECOND, "'30:15' minute to second",
		"2024-01-31 10:50:45" },
	{ SQL_INTERVAL_DAY, "-'5' day", "2024-01-26 10:20:30" },
	{ SQL_INTERVAL_DAY_TO_SECOND, "-'1 2:30:15' day to second",
		"2024-01-30 07:50:15" },
	{ SQL_INTERVAL_DAY, "'120' day(3)", "2024-05-30 10:20:30" },
};

/* Check the only value of the last result. */
static void
assert_moment(const char *wanted)
{
	SQL_TIMESTAMP_STRUCT at;
	char text[64];

	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLGetData(the.stmt, 1, SQL_C_TYPE_TIMESTAMP, &at, 0, NULL));
	ok(the.stmt, SQLCloseCursor(the.stmt));
	(void)snprintf(text, sizeof(text), "%04d-%02u-%02u %02u:%02u:%02u", at.year,
		at.month, at.day, at.hour, at.minute, at.second);
	assert_string_equal(text, wanted);
}

static void
every_interval_is_added(void **state)
{
	char sql[160];

	for (size_t i = 0; i < CNT_COUNT(intervals); i++) {
		(void)snprintf(sql, sizeof(sql), "select " BEGINNING " + {interval %s}",
			intervals[i].literal);
		if (!the.kind->has_server) {
			says(the.stmt, "42000",
				SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
			continue;
		}
		ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
		assert_moment(intervals[i].moment);
	}
}

/* Read each interval as a structure, and send it back as a parameter. */
static void
every_interval_goes_out_and_in(void **state)
{
	SQL_INTERVAL_STRUCT value;
	char sql[160];

	/* only PostgreSQL has an interval type */
	if (strcmp(the.kind->name, "postgresql") != 0)
		return;
	for (size_t i = 0; i < CNT_COUNT(intervals) - 1; i++) {
		SQLSMALLINT type = intervals[i].type;

		(void)snprintf(
			sql, sizeof(sql), "select {interval %s}", intervals[i].literal);
		ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
		ok(the.stmt, SQLFetch(the.stmt));
		ok(the.stmt, SQLGetData(the.stmt, 1, type, &value, 0, NULL));
		ok(the.stmt, SQLCloseCursor(the.stmt));
		assert_int_equal(
			value.interval_type, type - (SQL_INTERVAL_YEAR - SQL_IS_YEAR));
		ok(the.stmt, SQLBindParameter(the.stmt, 1, SQL_PARAM_INPUT, type, type, 0,
				     0, &value, 0, NULL));
		ok(the.stmt, SQLExecDirect(the.stmt,
				     TEXT("select " BEGINNING " + cast(? as interval)"),
				     SQL_NTS));
		assert_moment(intervals[i].moment);
	}
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(literals_are_values),
		TEST(a_guid_is_one),
		TEST(a_pattern_has_an_escape_character),
		TEST(a_backslash_is_read_as_the_session_reads_it),
		TEST(outer_joins_are_nested),
		TEST(every_interval_is_added),
		TEST(every_interval_goes_out_and_in),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
