/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

#include "shims/odbc/catalog.h"
#include "shims/odbc/escape.h"
#include "shims/odbc/types.h"
#include "support/cnt_pool.h"

/* Parts of the ODBC driver against a real server. Usage: test_on_pool BACKEND */

static struct cnt_pool pool;
static enum cod_dialect dialect;
static cenote_conn *conn;

/* Index into the values of a case, which has one for each server. */
enum {
	PG,
	MY,
	LITE,
	N_SERVERS
};

static int
server(void)
{
	return dialect == COD_DIALECT_POSTGRESQL ? PG
	       : dialect == COD_DIALECT_MYSQL    ? MY
						 : LITE;
}

static cenote_result *
query(const char *sql)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res = NULL;

	options.format = CENOTE_FORMAT_CANONICAL;
	if (cenote_query(conn, sql, CENOTE_NTS, NULL, &options, &res) != CENOTE_OK) {
		print_error("%s: %s\n", sql, cenote_diag_message(cenote_conn_diag(conn)));
		return NULL;
	}
	return res;
}

static void
run(const char *sql)
{
	cenote_result *res = query(sql);

	assert_non_null(res);
	cenote_result_destroy(res);
	while (cenote_get_result(conn, &res) == CENOTE_OK)
		cenote_result_destroy(res);
}

/* ---- functions ---- */

struct function_case {
	const char *expression;
	/* NULL: the driver does not claim it; "": any value */
	const char *expected[N_SERVERS];
	SQLUSMALLINT info;
	SQLUINTEGER bit;
};

#define ALL(v)                                                                           \
	{                                                                                \
		v, v, v                                                                  \
	}
#define STR(bit) SQL_STRING_FUNCTIONS, SQL_FN_STR_##bit
#define NUM(bit) SQL_NUMERIC_FUNCTIONS, SQL_FN_NUM_##bit
#define TD(bit)  SQL_TIMEDATE_FUNCTIONS, SQL_FN_TD_##bit
#define SYS(bit) SQL_SYSTEM_FUNCTIONS, SQL_FN_SYS_##bit
#define DAY      "{d '2024-02-29'}"
#define AT       "{ts '2024-02-29 13:14:15'}"

static const struct function_case functions[] = {
	{ "ascii('A')", ALL("65"), STR(ASCII) },
	{ "bit_length('abc')", ALL("24"), STR(BIT_LENGTH) },
	{ "char(65)", ALL("A"), STR(CHAR) },
	{ "char_length('ab ')", ALL("3"), STR(CHAR_LENGTH) },
	{ "character_length('ab ')", ALL("3"), STR(CHARACTER_LENGTH) },
	{ "concat('a', 'b')", ALL("ab"), STR(CONCAT) },
	{ "insert('abcdef', 2, 3, 'X')", ALL("aXef"), STR(INSERT) },
	{ "lcase('ABC')", ALL("abc"), STR(LCASE) },
	{ "left('abc', 2)", ALL("ab"), STR(LEFT) },
	{ "length('ab  ')", ALL("2"), STR(LENGTH) },
	{ "locate('c', 'abcabc')", ALL("3"), STR(LOCATE_2) },
	{ "locate('c', 'abcabc', 4)", ALL("6"), STR(LOCATE) },
	{ "locate('x', 'abcabc', 4)", ALL("0"), STR(LOCATE) },
	{ "ltrim('  a')", ALL("a"), STR(LTRIM) },
	{ "octet_length('abc')", ALL("3"), STR(OCTET_LENGTH) },
	{ "position('b' in 'abc')", { "2", "2", NULL }, STR(POSITION) },
	{ "repeat('ab', 2)", ALL("abab"), STR(REPEAT) },
	{ "replace('abab', 'a', 'x')", ALL("xbxb"), STR(REPLACE) },
	{ "right('abc', 2)", ALL("bc"), STR(RIGHT) },
	{ "rtrim('a  ')", ALL("a"), STR(RTRIM) },
	{ "soundex('Robert')", { NULL, "R163", NULL }, STR(SOUNDEX) },
	{ "space(2)", ALL("  "), STR(SPACE) },
	{ "substring('abcdef', 2, 3)", ALL("bcd"), STR(SUBSTRING) },
	{ "substring('abcdef', 2)", ALL("bcdef"), STR(SUBSTRING) },
	{ "ucase('abc')", ALL("ABC"), STR(UCASE) },
	{ "abs(-3)", ALL("3"), NUM(ABS) },
	{ "acos(1)", ALL("0"), NUM(ACOS) },
	{ "asin(0)", ALL("0"), NUM(ASIN) },
	{ "atan(0)", ALL("0"), NUM(ATAN) },
	{ "atan2(0, 1)", ALL("0"), NUM(ATAN2) },
	{ "ceiling(1.2)", ALL("2"), NUM(CEILING) },
	{ "cos(0)", ALL("1"), NUM(COS) },
	{ "round({fn cot(0.7853981633974483)}, 6)", ALL("1"), NUM(COT) },
	{ "round({fn degrees(3.14159265358979)}, 6)", ALL("180"), NUM(DEGREES) },
	{ "exp(0)", ALL("1"), NUM(EXP) },
	{ "floor(1.8)", ALL("1"), NUM(FLOOR) },
	{ "log(1)", ALL("0"), NUM(LOG) },
	{ "log10(100)", ALL("2"), NUM(LOG10) },
	{ "mod(7, 4)", ALL("3"), NUM(MOD) },
	{ "round({fn pi()}, 2)", ALL("3.14"), NUM(PI) },
	{ "power(2, 3)", ALL("8"), NUM(POWER) },
	{ "round({fn radians(180)}, 2)", ALL("3.14"), NUM(RADIANS) },
	{ "floor({fn rand()})", ALL("0"), NUM(RAND) },
	{ "round(1.256, 2)", ALL("1.26"), NUM(ROUND) },
	{ "sign(-2.5)", ALL("-1"), NUM(SIGN) },
	{ "sin(0)", ALL("0"), NUM(SIN) },
	{ "sqrt(9)", ALL("3"), NUM(SQRT) },
	{ "tan(0)", ALL("0"), NUM(TAN) },
	{ "truncate(1.259, 2)", ALL("1.25"), NUM(TRUNCATE) },
	{ "curdate()", ALL(""), TD(CURDATE) },
	{ "current_date()", ALL(""), TD(CURRENT_DATE) },
	{ "curtime()", ALL(""), TD(CURTIME) },
	{ "current_time()", ALL(""), TD(CURRENT_TIME) },
	{ "current_timestamp()", ALL(""), TD(CURRENT_TIMESTAMP) },
	{ "now()", ALL(""), TD(NOW) },
	{ "dayname(" DAY ")", ALL("Thursday"), TD(DAYNAME) },
	{ "dayofmonth(" DAY ")", ALL("29"), TD(DAYOFMONTH) },
	{ "dayofweek(" DAY ")", ALL("5"), TD(DAYOFWEEK) },
	{ "dayofyear(" DAY ")", ALL("60"), TD(DAYOFYEAR) },
	{ "extract(year from " DAY ")", { "2024", "2024", NULL }, TD(EXTRACT) },
	{ "hour(" AT ")", ALL("13"), TD(HOUR) },
	{ "hour({t '13:14:15'})", ALL("13"), TD(HOUR) },
	{ "minute(" AT ")", ALL("14"), TD(MINUTE) },
	{ "month(" DAY ")", ALL("2"), TD(MONTH) },
	{ "monthname(" DAY ")", ALL("February"), TD(MONTHNAME) },
	{ "quarter(" DAY ")", ALL("1"), TD(QUARTER) },
	{ "second(" AT ")", ALL("15"), TD(SECOND) },
	{ "week(" DAY ")", { "9", "8", "10" }, TD(WEEK) },
	{ "year(" DAY ")", ALL("2024"), TD(YEAR) },
	{ "timestampadd(SQL_TSI_DAY, 1, " AT ")", ALL("2024-03-01 13:14:15"),
		TD(TIMESTAMPADD) },
	{ "timestampdiff(SQL_TSI_DAY, " DAY ", {d '2024-03-10'})", ALL("10"),
		TD(TIMESTAMPDIFF) },
	{ "database()", { "app", "app", "main" }, SYS(DBNAME) },
	{ "ifnull(null, 'x')", ALL("x"), SYS(IFNULL) },
	{ "user()", ALL(""), SYS(USERNAME) },
};

/* The server's statement for an ODBC statement; NULL: it cannot be translated. */
static char *
translated(const char *sql)
{
	const struct cod_escape_options options = { .dialect = dialect };
	struct cod_statement s;
	const char *state = cod_escape(&options, sql, strlen(sql), &s);

	if (state)
		return NULL;
	return s.text;
}

/* Numbers are equal even if one has more zeros. */
static int
is_same(const char *expected, const char *got)
{
	char *end_a, *end_b;
	double a = strtod(expected, &end_a), b = strtod(got, &end_b);

	if (strcmp(expected, got) == 0)
		return 1;
	return *expected && *got && !*end_a && !*end_b && a == b;
}

static void
check_expression(const char *expression, const char *expected)
{
	char sql[512], *text;
	cenote_result *res;
	const char *got;

	snprintf(sql, sizeof(sql), "select {fn %s}", expression);
	text = translated(sql);
	if (!expected) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	res = query(text);
	assert_non_null(res);
	got = cenote_result_text(res, 0, 0, NULL);
	assert_non_null(got);
	if (*expected && !is_same(expected, got))
		print_error("%s: %s\n", text, got);
	assert_true(!*expected || is_same(expected, got));
	cenote_result_destroy(res);
	free(text);
}

static void
functions_that_are_claimed_work(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(functions); i++) {
		const struct function_case *f = &functions[i];

		assert_int_equal((cod_function_mask(dialect, f->info) & f->bit) != 0,
			f->expected[server()] != NULL);
		check_expression(f->expression, f->expected[server()]);
	}
}

/* The driver claims no function that has no case. */
static void
every_claim_has_a_case(void **state)
{
	static const SQLUSMALLINT ids[] = { SQL_NUMERIC_FUNCTIONS, SQL_STRING_FUNCTIONS,
		SQL_SYSTEM_FUNCTIONS, SQL_TIMEDATE_FUNCTIONS };

	for (size_t i = 0; i < CNT_COUNT(ids); i++) {
		SQLUINTEGER tried = 0;

		for (size_t k = 0; k < CNT_COUNT(functions); k++) {
			if (functions[k].info == ids[i])
				tried |= functions[k].bit;
		}
		assert_int_equal(cod_function_mask(dialect, ids[i]) & ~tried, 0);
	}
}

static const struct {
	const char *unit;
	SQLUINTEGER bit;
	const char *sum; /* 2024-01-31 12:00:00 plus 3 units */
	const char *difference; /* between 2024-01-31 12:00:00 and 2027-03-31 12:00:01 */
} units[] = {
	{ "SQL_TSI_SECOND", SQL_FN_TSI_SECOND, "2024-01-31 12:00:03", "99792001" },
	{ "SQL_TSI_MINUTE", SQL_FN_TSI_MINUTE, "2024-01-31 12:03:00", "1663200" },
	{ "SQL_TSI_HOUR", SQL_FN_TSI_HOUR, "2024-01-31 15:00:00", "27720" },
	{ "SQL_TSI_DAY", SQL_FN_TSI_DAY, "2024-02-03 12:00:00", "1155" },
	{ "SQL_TSI_WEEK", SQL_FN_TSI_WEEK, "2024-02-21 12:00:00", "165" },
	{ "SQL_TSI_MONTH", SQL_FN_TSI_MONTH, "2024-04-30 12:00:00", "38" },
	{ "SQL_TSI_QUARTER", SQL_FN_TSI_QUARTER, "2024-10-31 12:00:00", "12" },
	{ "SQL_TSI_YEAR", SQL_FN_TSI_YEAR, "2027-01-31 12:00:00", "3" },
};

static void
intervals_that_are_claimed_work(void **state)
{
	SQLUINTEGER add = cod_interval_mask(dialect, SQL_TIMEDATE_ADD_INTERVALS);
	SQLUINTEGER diff = cod_interval_mask(dialect, SQL_TIMEDATE_DIFF_INTERVALS);
	char expression[256];

	for (size_t i = 0; i < CNT_COUNT(units); i++) {
		const char *sum = units[i].sum;

		/* SQLite gives April 31 days, so the sum is the first of May. */
		if (server() == LITE && units[i].bit == SQL_FN_TSI_MONTH)
			sum = "2024-05-01 12:00:00";
		snprintf(expression, sizeof(expression),
			"timestampadd(%s, 3, {ts '2024-01-31 12:00:00'})", units[i].unit);
		check_expression(expression, add & units[i].bit ? sum : NULL);
		snprintf(expression, sizeof(expression),
			"timestampdiff(%s, {ts '2024-01-31 12:00:00'}, "
			"{ts '2027-03-31 12:00:01'})",
			units[i].unit);
		check_expression(
			expression, diff & units[i].bit ? units[i].difference : NULL);
	}
	if (add & SQL_FN_TSI_FRAC_SECOND)
		check_expression("timestampadd(SQL_TSI_FRAC_SECOND, 500000000, "
				 "{ts '2024-01-31 12:00:00'})",
			server() == PG ? "2024-01-31 12:00:00.5" : "");
	if (diff & SQL_FN_TSI_FRAC_SECOND)
		check_expression(
			"timestampdiff(SQL_TSI_FRAC_SECOND, "
			"{ts '2024-01-31 12:00:00'}, {ts '2024-01-31 12:00:01'})",
			"1000000000");
}

static void
casts_that_are_claimed_work(void **state)
{
	static const struct {
		const char *type, *from, *expected;
		SQLUINTEGER bit;
	} cases[] = {
		{ "SQL_BIGINT", "'42'", "42", SQL_CVT_BIGINT },
		{ "SQL_BIT", "1", "1", SQL_CVT_BIT },
		{ "SQL_CHAR", "42", "42", SQL_CVT_CHAR },
		{ "SQL_BINARY", "'a'", "a", SQL_CVT_BINARY },
		{ "SQL_DATE", "'2024-02-29'", "2024-02-29", SQL_CVT_DATE },
		{ "SQL_DECIMAL", "'1.5'", "1.5", SQL_CVT_DECIMAL },
		{ "SQL_DOUBLE", "'1.5'", "1.5", SQL_CVT_DOUBLE },
		{ "SQL_FLOAT", "'1.5'", "1.5", SQL_CVT_FLOAT },
		{ "SQL_GUID", "'12345678-9abc-def0-1122-334455667788'",
			"12345678-9abc-def0-1122-334455667788", SQL_CVT_GUID },
		{ "SQL_INTEGER", "'42'", "42", SQL_CVT_INTEGER },
		{ "SQL_LONGVARBINARY", "'a'", "a", SQL_CVT_LONGVARBINARY },
		{ "SQL_LONGVARCHAR", "42", "42", SQL_CVT_LONGVARCHAR },
		{ "SQL_NUMERIC", "'1.5'", "1.5", SQL_CVT_NUMERIC },
		{ "SQL_REAL", "'1.5'", "1.5", SQL_CVT_REAL },
		{ "SQL_SMALLINT", "'42'", "42", SQL_CVT_SMALLINT },
		{ "SQL_TIME", "'01:02:03'", "01:02:03", SQL_CVT_TIME },
		{ "SQL_TIMESTAMP", "'2024-02-29 01:02:03'", "2024-02-29 01:02:03",
			SQL_CVT_TIMESTAMP },
		{ "SQL_TINYINT", "'42'", "42", SQL_CVT_TINYINT },
		{ "SQL_VARBINARY", "'a'", "a", SQL_CVT_VARBINARY },
		{ "SQL_VARCHAR", "42", "42", SQL_CVT_VARCHAR },
		{ "SQL_WCHAR", "42", "42", SQL_CVT_WCHAR },
		{ "SQL_WLONGVARCHAR", "42", "42", SQL_CVT_WLONGVARCHAR },
		{ "SQL_WVARCHAR", "42", "42", SQL_CVT_WVARCHAR },
	};
	SQLUINTEGER mask = cod_cast_mask(dialect), tried = 0;
	char expression[256];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		snprintf(expression, sizeof(expression), "convert(%s, %s)", cases[i].from,
			cases[i].type);
		check_expression(
			expression, mask & cases[i].bit ? cases[i].expected : NULL);
		tried |= cases[i].bit;
	}
	assert_int_equal(mask & ~tried, 0);
}

/* ---- types ---- */

/* How the driver describes the column of an expression to a program. */
static const struct type_case {
	int server;
	const char *expression;
	SQLSMALLINT concise;
	SQLULEN size;
	SQLSMALLINT digits;
	SQLLEN display;
} types[] = {
	{ PG, "true", SQL_BIT, 1, 0, 1 },
	{ PG, "1::int2", SQL_SMALLINT, 5, 0, 6 },
	{ PG, "1::int4", SQL_INTEGER, 10, 0, 11 },
	{ PG, "1::int8", SQL_BIGINT, 19, 0, 20 },
	{ PG, "1::oid", SQL_BIGINT, 10, 0, 20 },
	{ PG, "1::float4", SQL_REAL, 7, 0, 14 },
	{ PG, "1::float8", SQL_DOUBLE, 15, 0, 24 },
	{ PG, "1::numeric(10,2)", SQL_NUMERIC, 10, 2, 12 },
	{ PG, "1::numeric", SQL_NUMERIC, 1000, 6, 1002 },
	{ PG, "'a'::char(5)", SQL_WCHAR, 5, 0, 5 },
	{ PG, "'a'::varchar(20)", SQL_WVARCHAR, 20, 0, 20 },
	{ PG, "'a'::text", SQL_WLONGVARCHAR, COD_LONG_SIZE, 0, COD_LONG_SIZE },
	{ PG, "'a'::bytea", SQL_LONGVARBINARY, COD_LONG_SIZE, 0, 2 * COD_LONG_SIZE },
	{ PG, "date '2024-02-29'", SQL_TYPE_DATE, 10, 0, 10 },
	{ PG, "time '01:02:03'", SQL_TYPE_TIME, 15, 6, 15 },
	{ PG, "timestamp(3) '2024-02-29 01:02:03'", SQL_TYPE_TIMESTAMP, 23, 3, 23 },
	{ PG, "timestamptz '2024-02-29 01:02:03'", SQL_TYPE_TIMESTAMP, 26, 6, 32 },
	{ PG, "'12345678-9abc-def0-1122-334455667788'::uuid", SQL_GUID, 36, 0, 36 },
	{ PG, "'{}'::json", SQL_WLONGVARCHAR, COD_LONG_SIZE, 0, COD_LONG_SIZE },
	{ PG, "interval '1 day'", SQL_WVARCHAR, 64, 0, 64 },
	{ MY, "cast(9999999999 as signed)", SQL_BIGINT, 19, 0, 20 },
	{ MY, "cast(1 as decimal(10, 2))", SQL_DECIMAL, 10, 2, 12 },
	{ MY, "cast('a' as char(20))", SQL_WVARCHAR, 20, 0, 20 },
	{ MY, "cast('a' as binary(20))", SQL_VARBINARY, 20, 0, 40 },
	{ MY, "date '2024-02-29'", SQL_TYPE_DATE, 10, 0, 10 },
	{ MY, "cast('01:02:03' as time(3))", SQL_TYPE_TIME, 12, 3, 12 },
	{ MY, "cast('2024-02-29' as datetime)", SQL_TYPE_TIMESTAMP, 19, 0, 19 },
	{ MY, "1e0", SQL_DOUBLE, 15, 0, 24 },
	{ LITE, "1", SQL_BIGINT, 19, 0, 20 },
	{ LITE, "1.5", SQL_DOUBLE, 15, 0, 24 },
	{ LITE, "'a'", SQL_WLONGVARCHAR, COD_LONG_SIZE, 0, COD_LONG_SIZE },
	{ LITE, "x'00'", SQL_LONGVARBINARY, COD_LONG_SIZE, 0, 2 * COD_LONG_SIZE },
};

static void
columns_are_what_the_server_says(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(types); i++) {
		const struct cod_type_options options = { .is_wide = 1,
			.long_size = COD_LONG_SIZE };
		const struct type_case *c = &types[i];
		struct cod_column column;
		cenote_result *res;
		char sql[256];

		if (c->server != server())
			continue;
		snprintf(sql, sizeof(sql), "select %s as x", c->expression);
		res = query(sql);
		assert_non_null(res);
		cod_column_of(cenote_result_column(res, 0), dialect, &options, &column);
		if (column.type.sql->concise != c->concise || column.type.size != c->size)
			print_error("%s: %d(%lu)\n", c->expression,
				column.type.sql->concise,
				(unsigned long)column.type.size);
		assert_string_equal(column.name, "x");
		assert_int_equal(column.type.sql->concise, c->concise);
		assert_int_equal(column.type.size, c->size);
		assert_int_equal(column.type.digits, c->digits);
		assert_int_equal(column.type.display, c->display);
		cenote_result_destroy(res);
	}
}

/* ---- catalog ---- */

static const char *
cell(const struct cod_catalog *c, size_t row, uint32_t col)
{
	const char *text =
		cenote_row_text(c->rows.rows[row], c->rows.n_columns, col, NULL);

	return text ? text : "NULL";
}

/* The values of some columns. A semicolon ends each row. */
static const char *
seen(const struct cod_catalog *c, const char *columns)
{
	static char text[4096];
	size_t n = 0;

	text[0] = 0;
	for (size_t i = 0; i < c->rows.n_rows; i++) {
		char *end;

		for (const char *p = columns; *p; p = *end ? end + 1 : end) {
			uint32_t col = (uint32_t)strtoul(p, &end, 10);

			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				p == columns ? "" : " ", cell(c, i, col));
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, ";");
	}
	return text;
}

static void
ask(const struct cod_catalog_args *args, const char *columns, const char *expected)
{
	struct cod_catalog_args a = *args;
	struct cod_catalog catalog;
	const char *bad = "", *got;
	int r;

	a.dialect = dialect;
	a.odbc_version = SQL_OV_ODBC3;
	r = cod_catalog_ask(conn, &a, &catalog, &bad);
	if (r == COD_CATALOG_BAD) {
		assert_string_equal(bad, expected);
		return;
	}
	if (r < 0)
		print_error("%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	assert_ok(r);
	got = seen(&catalog, columns);
	if (strcmp(got, expected) != 0)
		print_error("kind %d: %s\n", a.kind, got);
	assert_string_equal(got, expected);
	cod_catalog_finish(&catalog);
}

#define ASK(kind, columns, expected, ...)                                                \
	ask(&(const struct cod_catalog_args){ kind, __VA_ARGS__ }, columns, expected)

/* Choose the value for the server of this run. */
static const char *
by_server(const char *pg, const char *my, const char *lite)
{
	const char *all[N_SERVERS] = { pg, my, lite };

	return all[server()];
}

static void
create_tables(void)
{
	static const char *const sql[] = {
		"create table odbc_a (id integer not null primary key, b varchar(20), "
		"c decimal(8, 2) not null)",
		"create table odbc_b (x integer not null, y integer not null, a_id "
		"integer, "
		"constraint odbc_fk foreign key (a_id) references odbc_a (id))",
		"create unique index odbc_b_x on odbc_b (x, y)",
		"create index odbc_b_a on odbc_b (a_id)",
		"create table odbc1a (z integer)",
		"create view odbc_v as select id from odbc_a",
	};

	for (size_t i = 0; i < CNT_COUNT(sql); i++)
		run(sql[i]);
}

static void
tables_are_listed_by_pattern(void **state)
{
	ASK(COD_CATALOG_TABLES, "2,3", "odbc1a TABLE;odbc_a TABLE;", .object = "odbc_a");
	ASK(COD_CATALOG_TABLES, "2,3", "odbc_a TABLE;", .object = "odbc\\_a");
	ASK(COD_CATALOG_TABLES, "2,3", "odbc_a TABLE;", .object = "odbc_a",
		.schema = server() == MY ? NULL : by_server("public", "", "main"),
		.is_identifier = 1);
	ASK(COD_CATALOG_TABLES, "2,3", "odbc_v VIEW;", .object = "odbc\\__",
		.types = "'VIEW'");
	ASK(COD_CATALOG_TABLES, "2,3", "odbc_a TABLE;odbc_b TABLE;odbc_v VIEW;",
		.object = "odbc\\__", .types = "TABLE,VIEW");
	ASK(COD_CATALOG_TABLES, "2", "", .object = "nothing_like_it");
	ASK(COD_CATALOG_TABLES, "2", "odbc_a;", .object = "ODBC\\_A");
	if (server() == PG)
		ASK(COD_CATALOG_TABLES, "2", "", .object = "Odbc\\_a");
	ASK(COD_CATALOG_TABLES, "2", "HY009", .is_identifier = 1, .schema = "x");
}

static void
kinds_of_tables_are_listed(void **state)
{
	const char *kinds = by_server(
		"NULL NULL NULL FOREIGN TABLE NULL;NULL NULL NULL LOCAL TEMPORARY NULL;"
		"NULL NULL NULL MATERIALIZED VIEW NULL;NULL NULL NULL SYSTEM TABLE NULL;"
		"NULL NULL NULL TABLE NULL;NULL NULL NULL VIEW NULL;",
		"NULL NULL NULL LOCAL TEMPORARY NULL;NULL NULL NULL SYSTEM TABLE NULL;"
		"NULL NULL NULL TABLE NULL;NULL NULL NULL VIEW NULL;",
		"NULL NULL NULL LOCAL TEMPORARY NULL;NULL NULL NULL SYSTEM TABLE NULL;"
		"NULL NULL NULL TABLE NULL;NULL NULL NULL VIEW NULL;");

	ASK(COD_CATALOG_TABLES, "0,1,2,3,4", kinds, .catalog = "", .schema = "",
		.object = "", .types = "%");
	/* the same list if the program does not give a catalog */
	ASK(COD_CATALOG_TABLES, "0,1,2,3,4", kinds, .schema = "", .object = "",
		.types = "%");
	if (server() != PG)
		ASK(COD_CATALOG_TABLES, "0,1,2",
			by_server("", "", "NULL main NULL;NULL temp NULL;"),
			.catalog = "", .schema = "%", .object = "");
	if (server() == LITE)
		ASK(COD_CATALOG_TABLES, "0", "", .catalog = "%", .schema = "",
			.object = "");
}

static void
columns_have_types_and_sizes(void **state)
{
	ASK(COD_CATALOG_COLUMNS, "3,4,6,8,10,13,16,17",
		by_server("id 4 10 0 0 4 1 NO;b -9 20 NULL 1 -9 2 YES;c 2 8 2 0 2 3 NO;",
			"id 4 10 0 0 4 1 NO;b -9 20 NULL 1 -9 2 YES;c 3 8 2 0 3 3 NO;",
			"id -5 19 0 0 -5 1 NO;b -9 20 NULL 1 -9 2 YES;c 3 8 2 0 3 3 NO;"),
		.object = "odbc\\_a",
		.options = { .is_wide = 1, .long_size = COD_LONG_SIZE });
	ASK(COD_CATALOG_COLUMNS, "3,4", "b 12;", .object = "odbc\\_a", .column = "b%");
}

static void
keys_are_listed_from_both_sides(void **state)
{
	ASK(COD_CATALOG_PRIMARY_KEYS, "2,3,4", "odbc_a id 1;", .object = "odbc_a");
	ASK(COD_CATALOG_PRIMARY_KEYS, "2", "HY009", .object = NULL);
	ASK(COD_CATALOG_FOREIGN_KEYS, "2,3,6,7,8", "odbc_a id odbc_b a_id 1;",
		.object = "odbc_a");
	ASK(COD_CATALOG_FOREIGN_KEYS, "2,3,6,7,8", "odbc_a id odbc_b a_id 1;",
		.fk_object = "odbc_b");
	ASK(COD_CATALOG_FOREIGN_KEYS, "2,3,6,7,8", "odbc_a id odbc_b a_id 1;",
		.object = "odbc_a", .fk_object = "odbc_b");
	ASK(COD_CATALOG_FOREIGN_KEYS, "2", "", .object = "odbc_b");
	ASK(COD_CATALOG_FOREIGN_KEYS, "2", "", .object = "odbc1a");
	ASK(COD_CATALOG_FOREIGN_KEYS, "2", "HY009", .object = NULL);
}

static void
statistics_begin_with_the_table(void **state)
{
	ASK(COD_CATALOG_STATISTICS, "2,3,5,6,7,8",
		"odbc_b NULL NULL 0 NULL NULL;odbc_b 0 odbc_b_x 3 1 x;"
		"odbc_b 0 odbc_b_x 3 2 y;",
		.object = "odbc_b", .is_unique = SQL_INDEX_UNIQUE, .accuracy = SQL_QUICK);
	ASK(COD_CATALOG_STATISTICS, "5,8",
		"NULL NULL;odbc_b_x x;odbc_b_x y;odbc_b_a a_id;", .object = "odbc_b",
		.is_unique = SQL_INDEX_ALL, .accuracy = SQL_ENSURE);
	ASK(COD_CATALOG_STATISTICS, "2", "HY100", .object = "odbc_b", .is_unique = 7);
	ASK(COD_CATALOG_STATISTICS, "2", "HY101", .object = "odbc_b",
		.is_unique = SQL_INDEX_ALL, .accuracy = 7);
}

static void
rows_are_told_apart_by_key_or_index(void **state)
{
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "0,1,2,7",
		by_server("2 id 4 1;", "2 id 4 1;", "2 id -5 1;"), .object = "odbc_a",
		.special = SQL_BEST_ROWID, .scope = SQL_SCOPE_SESSION,
		.nullable = SQL_NULLABLE);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "x;y;", .object = "odbc_b",
		.special = SQL_BEST_ROWID, .nullable = SQL_NULLABLE);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "", .object = "odbc1a",
		.special = SQL_BEST_ROWID, .nullable = SQL_NULLABLE);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "", .object = "odbc_a",
		.special = SQL_ROWVER, .nullable = SQL_NULLABLE);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "HY097", .object = "odbc_a", .special = 9);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "HY098", .object = "odbc_a",
		.special = SQL_BEST_ROWID, .scope = 9);
	ASK(COD_CATALOG_SPECIAL_COLUMNS, "1", "HY099", .object = "odbc_a",
		.special = SQL_BEST_ROWID, .nullable = 9);
}

static void
types_are_listed_by_number(void **state)
{
	ASK(COD_CATALOG_TYPE_INFO, "0,1", by_server("date 91;", "date 91;", "DATE 91;"),
		.sql_type = SQL_TYPE_DATE);
	ASK(COD_CATALOG_TYPE_INFO, "0,1", by_server("float8 8;", "double 8;", "REAL 8;"),
		.sql_type = SQL_DOUBLE);
	ASK(COD_CATALOG_TYPE_INFO, "0", "", .sql_type = SQL_INTERVAL_DAY);
	ASK(COD_CATALOG_TYPE_INFO, "0", "HY004", .sql_type = 4711);
}

static void
procedures_have_columns(void **state)
{
	if (server() == PG) {
		run("create function odbc_f(a integer, b text) returns numeric "
		    "language sql as 'select 1.5'");
	} else if (server() == MY) {
		run("create function odbc_f(a integer, b varchar(20)) "
		    "returns decimal(5, 2) return 1.5");
	}
	ASK(COD_CATALOG_PROCEDURES, "2,7", by_server("odbc_f 2;", "odbc_f 2;", ""),
		.object = "odbc\\_f");
	ASK(COD_CATALOG_PROCEDURE_COLUMNS, "3,4,5,17",
		by_server(" 5 2 0;a 1 4 1;b 1 -10 2;", " 5 3 0;a 1 4 1;b 1 -9 2;", ""),
		.object = "odbc\\_f",
		.options = { .is_wide = 1, .long_size = COD_LONG_SIZE });
}

static void
privileges_are_listed(void **state)
{
	ASK(COD_CATALOG_COLUMN_PRIVILEGES, "2,3,6",
		by_server("odbc_a b INSERT;odbc_a b REFERENCES;odbc_a b SELECT;"
			  "odbc_a b UPDATE;",
			"odbc_a b INSERT;odbc_a b REFERENCES;odbc_a b SELECT;"
			"odbc_a b UPDATE;",
			""),
		.object = "odbc_a", .column = "b");
	ASK(COD_CATALOG_TABLE_PRIVILEGES, "2", "", .object = "nothing_like_it");
}

static int
group_setup(void **state)
{
	if (cenote_conn_create(NULL, &conn) < 0 ||
		cenote_conn_set_uri(conn, pool.daemon.uri) < 0 ||
		cenote_connect(conn) < 0)
		return -1;
	dialect = cod_dialect_of(cenote_info(conn, "backend"));
	create_tables();
	return 0;
}

static int
group_teardown(void **state)
{
	cenote_conn_destroy(conn);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_are_claimed_work),
		cmocka_unit_test(every_claim_has_a_case),
		cmocka_unit_test(intervals_that_are_claimed_work),
		cmocka_unit_test(casts_that_are_claimed_work),
		cmocka_unit_test(columns_are_what_the_server_says),
		cmocka_unit_test(tables_are_listed_by_pattern),
		cmocka_unit_test(kinds_of_tables_are_listed),
		cmocka_unit_test(columns_have_types_and_sizes),
		cmocka_unit_test(keys_are_listed_from_both_sides),
		cmocka_unit_test(statistics_begin_with_the_table),
		cmocka_unit_test(rows_are_told_apart_by_key_or_index),
		cmocka_unit_test(types_are_listed_by_number),
		cmocka_unit_test(procedures_have_columns),
		cmocka_unit_test(privileges_are_listed),
	};
	int failed;

	if (argc < 2 || cnt_pool_start(&pool, argv[1], 1) < 0)
		return 99;
	failed = cmocka_run_group_tests(tests, group_setup, group_teardown);
	return cnt_pool_stop(&pool) < 0 ? 99 : failed;
}
