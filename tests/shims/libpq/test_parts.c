/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "../common/charset.h"
#include "dialect/dialect.h"
#include "support/cnt_guard.h"
#include "support/cnt_random.h"

/* Unit tests of the functions that the shim uses on pools of servers other than PostgreSQL. They
 * need no pool. */

#define MYSQL  CPQ_SQL_MYSQL
#define SQLITE CPQ_SQL_SQLITE
#define OTHER  CPQ_SQL_OTHER

/* ---- SQL ---- */

static void
tags_of_statements(void **state)
{
	static const struct {
		const char *sql;
		const char *
			tags; /* each followed by "|"; "#" means that the tag counts rows */
	} cases[] = {
		{ "", "" },
		{ " ; ;; -- x\n", "" },
		{ "select 1", "SELECT#|" },
		{ "(select 1) union (select 2)", "SELECT#|" },
		{ "values (1); table t", "SELECT#|SELECT#|" },
		{ "insert into t values (';'); replace into t select 1",
			"INSERT 0#|INSERT 0#|" },
		{ "update t set a = 'x\\';'; delete from t", "UPDATE#|DELETE#|" },
		{ "with a as (select 1), b as (delete from t) update t set x = 1",
			"UPDATE#|" },
		{ "with recursive a as (select 1) select * from a", "SELECT#|" },
		{ "create or replace temporary table t (a int)", "CREATE TABLE|" },
		{ "create unique index i on t (a)", "CREATE INDEX|" },
		{ "alter table t add index i (a); drop view if exists v",
			"ALTER TABLE|DROP VIEW|" },
		{ "create procedure p() begin select 1; end; select 2",
			"CREATE PROCEDURE|" },
		{ "drop procedure p; select 2", "DROP PROCEDURE|SELECT#|" },
		{ "begin not atomic select 1; end", "BEGIN|" },
		{ "begin; select 1", "BEGIN|SELECT#|" },
		{ "truncate t; lock tables t read", "TRUNCATE TABLE|LOCK TABLE|" },
		{ "set a = 1; show tables; flush # x;\n tables", "SET|SHOW|FLUSH|" },
		{ "/*!40000 alter table t disable keys */; select 1",
			"ALTER TABLE|SELECT#|" },
		{ "/* ; */ commit -- ;\n; rollback --;", "COMMIT|ROLLBACK|" },
		{ "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
			"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLM|" },
		{ "select 'open", "SELECT#|" },
		{ "select /* open", "SELECT#|" },
	};
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		struct cnc_sql s =
			cnc_sql_begin(cases[i].sql, strlen(cases[i].sql), MYSQL);
		struct cpq_head head;
		char tags[128] = "";

		while (cpq_sql_head(&s, &head)) {
			strcat(tags, head.tag);
			strcat(tags, head.is_counted ? "#|" : "|");
		}
		assert_string_equal(tags, cases[i].tags);
	}
}

struct translated {
	unsigned rules;
	const char *sql;
	const char *numbered;
	const char *plain;
	const char *order;
};

static const struct translated translations[] = {
	{ OTHER, "", "", "", "" },
	{ OTHER, "select 1", "select 1", "select 1", "" },
	{ OTHER, "$1", "?1", "?", "1" },
	{ OTHER, "$2,$1,$2", "?2,?1,?2", "?,?,?", "212" },
	{ OTHER, "'$1' \"$1\" `$1` a$1 $1", "'$1' \"$1\" `$1` a$1 ?1",
		"'$1' \"$1\" `$1` a$1 ?", "1" },
	{ OTHER, "'it''s $1' $1", "'it''s $1' ?1", "'it''s $1' ?", "1" },
	{ OTHER, "'\\' $1 '", "'\\' ?1 '", "'\\' ? '", "1" },
	{ MYSQL, "'\\' $1 ' $2", "'\\' $1 ' ?2", "'\\' $1 ' ?", "2" },
	{ MYSQL, "\"\\\" $1 \" $2", "\"\\\" $1 \" ?2", "\"\\\" $1 \" ?", "2" },
	{ OTHER, "[$1] $1", "[?1] ?1", "[?] ?", "11" },
	{ SQLITE, "[$1] $1", "[$1] ?1", "[$1] ?", "1" },
	{ OTHER, "-- $1\n$2 /* $3 */ $4", "-- $1\n?2 /* $3 */ ?4", "-- $1\n? /* $3 */ ?",
		"24" },
	{ OTHER, "1--$1\n$2", "1--$1\n?2", "1--$1\n?", "2" },
	{ MYSQL, "1--$1\n$2", "1--?1\n?2", "1--?\n?", "12" },
	{ MYSQL, "# $1\n$2", "# $1\n?2", "# $1\n?", "2" },
	{ OTHER, "# $1\n$2", "# ?1\n?2", "# ?\n?", "12" },
	{ MYSQL, "/*!50000 $1 */ $2", "/*!50000 ?1 */ ?2", "/*!50000 ? */ ?", "12" },
	{ MYSQL, "/*M!50000 $1 */", "/*M!50000 ?1 */", "/*M!50000 ? */", "1" },
	{ OTHER, "/*!50000 $1 */ $2", "/*!50000 $1 */ ?2", "/*!50000 $1 */ ?", "2" },
	{ OTHER, "$a $$1 $1a $", "$a $$1 ?1a $", "$a $$1 ?a $", "1" },
	{ OTHER, "@x$1 :y$2 ($3)", "@x$1 :y$2 (?3)", "@x$1 :y$2 (?)", "3" },
	{ OTHER, "'open $1", "'open $1", "'open $1", "" },
	{ OTHER, "/* open $1", "/* open $1", "/* open $1", "" },
	{ MYSQL, "'\\", "'\\", "'\\", "" },
	/* a byte that ends a character of GBK is no backslash and no quote */
	{ MYSQL, "'\xbf\\' $1", "'\xbf\\' ?1", "'\xbf\\' ?", "1" },
	{ MYSQL, "'\xbf\xbf\\' $1", "'\xbf\xbf\\' $1", "'\xbf\xbf\\' $1", "" },
	{ MYSQL, "\x81` $1 `", "\x81` ?1 `", "\x81` ? `", "1" },
	{ MYSQL, "`\x81`$1` $2", "`\x81`$1` ?2", "`\x81`$1` ?", "2" },
	{ MYSQL, "'\xbf' $1", "'\xbf' ?1", "'\xbf' ?", "1" },
};

static void
check_translation(
	const struct translated *t, enum cpq_placeholder style, const char *expected)
{
	struct cnc_sql sql = cnc_sql_begin(t->sql, strlen(t->sql), t->rules);
	struct cpq_places places;
	PQExpBufferData out;

	sql.character = csh_gbk_valid;
	initPQExpBuffer(&out);
	assert_int_equal(cpq_sql_translate(sql, style, &out, &places), 0);
	assert_string_equal(out.data, expected);
	if (style == CPQ_PLACEHOLDER_PLAIN) {
		assert_int_equal(places.n, strlen(t->order));
		for (size_t i = 0; i < places.n; i++)
			assert_int_equal(places.order[i], t->order[i] - '0');
	}
	cpq_places_finish(&places);
	termPQExpBuffer(&out);
}

static void
placeholders_are_translated(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(translations); i++) {
		const struct translated *t = &translations[i];

		check_translation(t, CPQ_PLACEHOLDER_NUMBERED, t->numbered);
		check_translation(t, CPQ_PLACEHOLDER_PLAIN, t->plain);
	}
}

static void
numbers_that_no_parameter_has(void **state)
{
	static const char *const bad[] = { "$0", "$65536", "x $4294967297",
		"$1 $99999999999999999999999" };
	struct cpq_places places;
	PQExpBufferData out;

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		struct cnc_sql sql = cnc_sql_begin(bad[i], strlen(bad[i]), OTHER);

		initPQExpBuffer(&out);
		assert_int_equal(
			cpq_sql_translate(sql, CPQ_PLACEHOLDER_PLAIN, &out, &places), 1);
		cpq_places_finish(&places);
		termPQExpBuffer(&out);
	}
}

/* ---- escaping ---- */

static void
nothing_is_escaped_where_characters_are_not_known(void **state)
{
	PGconn conn = { .inherited.encoding = -1, .standard_strings = 1 };
	char to[16] = "xyz";
	int error = 0;

	initPQExpBuffer(&conn.error);
	assert_int_equal(cpq_PQescapeStringConn(&conn, to, "a", 1, &error), 0);
	assert_string_equal(to, "");
	assert_int_equal(error, 1);
	assert_non_null(strstr(conn.error.data, "not known"));
	assert_null(cpq_PQescapeLiteral(&conn, "a", 1));
	assert_null(cpq_PQescapeIdentifier(&conn, "a", 1));
	cpq_escape_remember(&conn);
	assert_int_equal(cpq_PQescapeString(to, "a", 1), 0);
	assert_string_equal(to, "");
	termPQExpBuffer(&conn.error);
}

/* ---- lengths of characters ---- */

typedef unsigned valid_function(const char *start, const char *end);

static valid_function *const charsets[] = { csh_big5_valid, csh_cp932_valid,
	csh_euckr_valid, csh_gb18030_valid, csh_gb2312_valid, csh_gbk_valid,
	csh_uhc_valid, csh_ujis_valid, csh_utf8mb3_valid, csh_utf8mb4_valid,
	csh_two_valid, csh_four_valid, csh_utf16_valid };

/* Each text ends at a guard page: reading one byte more crashes the test. */
static void
no_byte_is_read_behind_a_text(void **state)
{
	struct cnt_random rnd;
	struct cnt_guard guard;

	cnt_random_init_printed(&rnd);
	cnt_guard_init(&guard, 8);
	for (int i = 0; i < 100000; i++) {
		size_t n = 1 + (size_t)cnt_random_below(&rnd, 4);
		char bytes[5] = "";
		const char *text;

		cnt_random_bytes(&rnd, bytes, n);
		bytes[0] |= (char)0x80;
		text = (const char *)cnt_guard_put(&guard, bytes, n);
		for (size_t k = 0; k < CNT_COUNT(charsets); k++)
			assert_true(charsets[k](text, text + n) <= n);
		for (int k = 0; *pg_encoding_to_char(k) != '\0'; k++) {
			int len = cpq_encoding_length(k, text, n);

			if ((size_t)len <= n)
				(void)cpq_encoding_is_legal(k, text, len);
		}
		/* the functions that libpq exports expect a zero byte at the end */
		bytes[n] = '\0';
		text = (const char *)cnt_guard_put(&guard, bytes, n + 1);
		for (int k = 0; *pg_encoding_to_char(k) != '\0'; k++) {
			assert_in_range(PQmblen(text, k), 1, 4);
			assert_in_range(PQmblenBounded(text, k), 1, n);
			(void)PQdsplen(text, k);
		}
	}
	cnt_guard_finish(&guard);
}

/* ---- numeric ---- */

static void
hex_of(const PQExpBufferData *b, char *out)
{
	*out = '\0';
	for (size_t i = 0; i < b->len; i++)
		sprintf(out + 2 * i, "%02x", (unsigned char)b->data[i]);
}

/* The bytes are those of numeric_send() in PostgreSQL 15, and the text is what PostgreSQL prints. */
static void
numeric_is_postgresqls(void **state)
{
	static const struct {
		const char *text;
		const char *hex;
		const char *shown;
	} cases[] = {
		{ "0", "0000000000000000", "0" },
		{ "0.00", "0000000000000002", "0.00" },
		{ "-0", "0000000000000000", "0" },
		{ "1", "00010000000000000001", "1" },
		{ "12.50", "0002000000000002000c1388", "12.50" },
		{ "-10000", "00010001400000000001", "-10000" },
		{ "18446744073709551615", "000500040000000007341a5802e103bb064f",
			"18446744073709551615" },
		{ "0.0001", "0001ffff000000040001", "0.0001" },
		{ "0.00001", "0001fffe0000000503e8", "0.00001" },
		{ "100000000.00000001",
			"00050002000000080001000000000000"
			"0001",
			"100000000.00000001" },
		{ "1e3", "000100000000000003e8", "1000" },
		{ "+1.5E-3", "0001ffff00000004000f", "0.0015" },
		{ "NaN", "00000000c0000000", "NaN" },
		{ "-Infinity", "00000000f0000000", "-Infinity" },
	};
	static const char *const bad[] = { "", "-", ".", "1.2.3", "1e", "1e+", "abc",
		"1 ", "1e5x", "nan" };
	PQExpBufferData wire, text;
	char hex[128];

	initPQExpBuffer(&wire);
	initPQExpBuffer(&text);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		resetPQExpBuffer(&wire);
		resetPQExpBuffer(&text);
		assert_int_equal(
			cpq_numeric_pack(&wire, cases[i].text, strlen(cases[i].text)),
			CPQ_DONE);
		hex_of(&wire, hex);
		assert_string_equal(hex, cases[i].hex);
		assert_int_equal(
			cpq_numeric_unpack(&text, wire.data, wire.len), CPQ_DONE);
		assert_string_equal(text.data, cases[i].shown);
		/* a value that is cut anywhere is not valid */
		for (size_t n = 0; n < wire.len; n++)
			assert_int_equal(
				cpq_numeric_unpack(&text, wire.data, n), CPQ_NOT_OF_TYPE);
	}
	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_int_equal(
			cpq_numeric_pack(&wire, bad[i], strlen(bad[i])), CPQ_NOT_OF_TYPE);
	assert_int_equal(cpq_numeric_pack(&wire, "1e131072", 8), CPQ_OUT_OF_RANGE);
	assert_int_equal(cpq_numeric_pack(&wire, "1e-16384", 8), CPQ_OUT_OF_RANGE);
	termPQExpBuffer(&wire);
	termPQExpBuffer(&text);
}

static void
floats_are_read_in_every_form(void **state)
{
	double v;

	assert_int_equal(cpq_float_read("-12.5e-1", 8, &v), CPQ_DONE);
	assert_true(v == -1.25);
	assert_int_equal(cpq_float_read("infinity", 8, &v), CPQ_DONE);
	assert_true(v > 1e308);
	assert_int_equal(cpq_float_read("NaN", 3, &v), CPQ_DONE);
	assert_true(v != v);
	assert_int_equal(cpq_float_read("1e400", 5, &v), CPQ_OUT_OF_RANGE);
	assert_int_equal(cpq_float_read("1,5", 3, &v), CPQ_NOT_OF_TYPE);
	assert_int_equal(cpq_float_read("0x10", 4, &v), CPQ_NOT_OF_TYPE);
}

/* ---- dates ---- */

static int
is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Every day from 4800 BC to 9999 AD, counted one by one. */
static void
days_are_counted(void **state)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const cenote_date first = { .year = -4800, .month = 1, .day = 1 };
	int64_t day = cpq_days_of(&first);
	const cenote_date epoch = { .year = 2000, .month = 1, .day = 1 };

	assert_int_equal(cpq_days_of(&epoch), 0);
	for (int year = -4800; year <= 9999; year++) {
		for (int month = 1; month <= 12; month++) {
			int n = lengths[month - 1] + (month == 2 && is_leap(year));

			for (int d = 1; d <= n; d++, day++) {
				const cenote_date date = { .year = year,
					.month = (uint8_t)month,
					.day = (uint8_t)d };
				cenote_date back = cpq_date_of(day);

				assert_int_equal(cpq_days_of(&date), day);
				assert_memory_equal(&back, &date, sizeof(date));
			}
		}
	}
}

/* ---- values of parameters ---- */

/* A binary value of a wrong length is refused. */
static void
binary_values_have_their_length(void **state)
{
	static const struct {
		Oid type;
		size_t len;
	} cases[] = { { CPQ_BOOL, 1 }, { CPQ_INT2, 2 }, { CPQ_INT4, 4 }, { CPQ_INT8, 8 },
		{ CPQ_OID, 4 }, { CPQ_FLOAT4, 4 }, { CPQ_FLOAT8, 8 }, { CPQ_DATE, 4 },
		{ CPQ_TIME, 8 }, { CPQ_TIMESTAMP, 8 }, { CPQ_TIMESTAMPTZ, 8 },
		{ CPQ_NUMERIC, 8 }, { CPQ_UUID, 16 } };
	static const char zeros[32];
	cenote_params *params;

	assert_ok(cenote_params_create(NULL, &params));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		for (size_t n = 0; n < sizeof(zeros); n++) {
			enum cpq_outcome r = cpq_bind(params, cases[i].type, zeros, n, 1);

			assert_int_equal(
				r, n == cases[i].len ? CPQ_DONE : CPQ_NOT_OF_TYPE);
		}
	}
	assert_int_equal(cpq_bind(params, CPQ_INTERVAL, zeros, 16, 1), CPQ_NO_FORM);
	assert_int_equal(cpq_bind(params, CPQ_INTERVAL, NULL, 0, 1), CPQ_DONE);
	assert_int_equal(cenote_params_count(params), CNT_COUNT(cases) + 1);
	cenote_params_destroy(params);
}

/* ---- errors ---- */

static void
states_of_mysql(void **state)
{
	static const struct cpq_dialect mysql = { .is_mysql = 1 };
	static const struct cpq_dialect other = { .is_mysql = 0 };
	static const struct {
		int32_t native;
		const char *sqlstate;
	} cases[] = { { 1022, "23505" }, { 1048, "23502" }, { 1052, "42702" },
		{ 1062, "23505" }, { 1064, "42601" }, { 1146, "42P01" },
		{ 1213, "40P01" }, { 1452, "23503" }, { 1586, "23505" },
		{ 4025, "23514" }, { 1, "23000" }, { 0, "23000" }, { 9999, "23000" } };

	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		assert_string_equal(cpq_dialect_state(&mysql, cases[i].native, "23000"),
			cases[i].sqlstate);
	assert_string_equal(cpq_dialect_state(&other, 1062, "23000"), "23000");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_of_statements),
		cmocka_unit_test(placeholders_are_translated),
		cmocka_unit_test(numbers_that_no_parameter_has),
		cmocka_unit_test(nothing_is_escaped_where_characters_are_not_known),
		cmocka_unit_test(no_byte_is_read_behind_a_text),
		cmocka_unit_test(numeric_is_postgresqls),
		cmocka_unit_test(floats_are_read_in_every_form),
		cmocka_unit_test(days_are_counted),
		cmocka_unit_test(binary_values_have_their_length),
		cmocka_unit_test(states_of_mysql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
