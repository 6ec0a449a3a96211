/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types and values of the SQLite backend, in both formats.
 */
#include "tests/support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "core/mem.h"
#include "tests/support/cnt_alloc.h"

#include "harness.h"

static void
params_of_every_type_arrive_as_what_they_are(void **state)
{
	const struct cnc_value values[] = {
		{ .type = CENOTE_TYPE_NULL },
		{ .type = CENOTE_TYPE_INT64, .is_null = 1 },
		{ .type = CENOTE_TYPE_BOOL, .as.i64 = 1 },
		{ .type = CENOTE_TYPE_INT64, .as.i64 = INT64_MIN },
		{ .type = CENOTE_TYPE_UINT64, .as.u64 = INT64_MAX },
		{ .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.1 },
		{ .type = CENOTE_TYPE_DECIMAL, .bytes = "12.30", .len = 5 },
		{ .type = CENOTE_TYPE_TEXT, .bytes = "", .len = 0 },
		{ .type = CENOTE_TYPE_BYTES, .bytes = "\1\2", .len = 2 },
		{ .type = CENOTE_TYPE_BYTES, .bytes = NULL, .len = 0 },
		{ .type = CENOTE_TYPE_DATE, .as.date = { 2024, 2, 29, 0 } },
		{ .type = CENOTE_TYPE_TIMESTAMP,
			.as.timestamp = { { 2024, 2, 29, 0 },
				{ 23, 59, 58, 0, 500000000, CENOTE_NO_OFFSET } } },
		{ .type = CENOTE_TYPE_UUID, .bytes = "u", .len = 1 },
		{ .is_native = 1, .bytes = "n", .len = 1 },
		{ .is_native = 1,
			.format = CENOTE_FORMAT_BINARY,
			.bytes = "n",
			.len = 1 },
	};
	struct sq *t = *state;

	(void)sq_query_with(t,
		"select typeof(?),typeof(?),typeof(?),typeof(?),"
		"typeof(?),typeof(?),typeof(?),typeof(?),typeof(?),typeof(?),typeof(?),"
		"typeof(?),"
		"typeof(?),typeof(?),typeof(?)",
		values, 15);
	assert_non_null(strstr(t->base.seen.log,
		"row "
		"null|null|integer|integer|integer|real|text|text|"
		"blob|blob|text|text|text|"
		"text|blob\n"));
	(void)sq_query_with(t, "select ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?", values, 15);
	assert_non_null(strstr(t->base.seen.log,
		"row "
		"NULL|NULL|1|-9223372036854775808|9223372036854775807|0.1|12.30||\1\2||"
		"2024-02-29|2024-02-29 23:59:58.5|u|n|n\n"));
}

static void
what_sqlite_cannot_hold_is_refused(void **state)
{
	const struct cnc_value big = { .type = CENOTE_TYPE_UINT64,
		.as.u64 = (uint64_t)INT64_MAX + 1 };
	const struct cnc_value nan = { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.0 / 0.0 };
	struct sq *t = *state;

	assert_string_equal(sq_query_with(t, "select ?", &big, 1),
		"error 22003 parameter 1: 9223372036854775808 does not fit in SQLite's "
		"signed "
		"64-bit integer hint=Bind it as decimal or text.\n");
	assert_string_equal(sq_query_with(t, "select ?", &nan, 1),
		"error 22003 parameter 1: SQLite has no NaN\n");
	t->base.format = CENOTE_FORMAT_BINARY;
	assert_answer(t, "select 1", "error - unsupported\n");
}

static void
a_wrong_number_of_params_is_named(void **state)
{
	struct sq *t = *state;
	struct cnc_value v = cnt_int(1);

	assert_string_equal(sq_query_with(t, "select ?, ?", &v, 1),
		"error 07001 the statement has 2 parameters, but 1 values were given\n");
	assert_string_equal(sq_query_with(t, "select 1", &v, 1),
		"error 07001 the statement has 0 parameters, but 1 values were given\n");
	assert_string_equal(sq_query_with(t, "select ?; select 2", &v, 1),
		"error 42601 several statements in one request cannot take parameters\n");
}

static void
a_prepared_statement_is_described_and_run(void **state)
{
	struct sq *t = *state;
	struct cnc_value v[2] = { cnt_int(5), cnt_text("x") };

	(void)sq_query(t, "create table t (a integer, b varchar(10))");
	assert_string_equal(
		sq_prepare(t, 1, "insert into t values (:a, ?)"), "params :a ?\ndone \n");
	assert_string_equal(
		sq_execute(t, 1, 0, v, 2), "done INSERT 0 1 affected=1 id=1\n");
	assert_string_equal(
		sq_prepare(t, 2, "select a, b, a + 1 as c from t where a = @k"),
		"params @k\ncolumns a:INT64 b:TEXT c:TEXT\ndone \n");
	/* The row shows the type of c, which the description could not know. */
	assert_string_equal(sq_execute(t, 2, 1, v, 1),
		"columns a:INT64 b:TEXT c:INT64\nrow 5|x|6\ndone SELECT 1\n");
	assert_string_equal(sq_execute(t, 2, 1, v, 1),
		"columns = a:INT64 b:TEXT c:INT64\nrow 5|x|6\ndone SELECT 1\n");
	assert_string_equal(
		sq_describe(t, 2), "params @k\ncolumns a:INT64 b:TEXT c:TEXT\ndone \n");
	assert_string_equal(sq_execute(t, 9, 0, NULL, 0),
		"error 26000 there is no prepared statement 9\n");
	assert_string_equal(sq_prepare(t, 3, "select 1; select 2"),
		"error 42601 a prepared statement cannot hold several statements\n");
	assert_string_equal(sq_prepare(t, 3, " -- nothing"), "params\ndone \n");
	assert_string_equal(sq_execute(t, 3, 0, NULL, 0), "done \n");
	assert_string_equal(sq_close(t, 2), "done CLOSE\n");
	assert_string_equal(sq_close(t, 2), "done CLOSE\n");
	assert_string_equal(
		sq_describe(t, 2), "error 26000 there is no prepared statement 2\n");
}

static void
columns_that_changed_are_sent_again(void **state)
{
	struct sq *t = *state, other;

	(void)sq_query(t, "create table t (a integer); insert into t values (1)");
	(void)sq_prepare(t, 1, "select * from t");
	assert_string_equal(sq_execute(t, 1, 1, NULL, 0),
		"columns = a:INT64\nrow 1\ndone SELECT 1\n");
	sq_sibling(t, &other);
	(void)sq_query(&other, "alter table t add column b real default 0.5");
	sq_teardown(&other);
	assert_string_equal(sq_execute(t, 1, 1, NULL, 0),
		"columns a:INT64 b:DOUBLE\nrow 1|0.5\ndone SELECT 1\n");
	assert_string_equal(sq_execute(t, 1, 1, NULL, 0),
		"columns = a:INT64 b:DOUBLE\nrow 1|0.5\ndone SELECT 1\n");
}

static void
a_pragma_that_was_prepared_acts_each_time(void **state)
{
	struct sq *t = *state;

	(void)sq_prepare(t, 1, "pragma foreign_keys=on");
	(void)sq_prepare(t, 2, "pragma foreign_keys");
	(void)sq_query(t, "pragma foreign_keys=off");
	assert_string_equal(sq_execute(t, 2, 0, NULL, 0),
		"columns foreign_keys:INT64\nrow 0\ndone PRAGMA\n");
	(void)sq_execute(t, 1, 0, NULL, 0);
	assert_string_equal(sq_execute(t, 2, 0, NULL, 0),
		"columns foreign_keys:INT64\nrow 1\ndone PRAGMA\n");
	/* SQLite acts on this PRAGMA when it is prepared, and does nothing when it is run. */
	(void)sq_prepare(t, 1, "pragma synchronous=1");
	(void)sq_query(t, "pragma synchronous=2");
	(void)sq_execute(t, 1, 0, NULL, 0);
	assert_non_null(strstr(sq_query(t, "pragma synchronous"), "row 1\n"));
	(void)sq_query(t, "pragma synchronous=2");
	assert_non_null(strstr(sq_query(t, "pragma synchronous"), "row 2\n"));
}

static void
declared_types_become_logical_types(void **state)
{
	static const struct {
		const char *declared, *type;
	} cases[] = {
		{ "INTEGER", "INT64" },
		{ "bigint unsigned", "INT64" },
		{ "REAL", "DOUBLE" },
		{ "double precision", "DOUBLE" },
		{ "float", "DOUBLE" },
		{ "DECIMAL(10,2)", "DECIMAL" },
		{ "numeric", "DECIMAL" },
		{ "boolean", "BOOL" },
		{ "date", "DATE" },
		{ "time", "TIME" },
		{ "datetime", "TIMESTAMP" },
		{ "timestamp with time zone", "TIMESTAMP" },
		{ "DATETIME2(3)", "TIMESTAMP" },
		{ "datetimeoffset(7)", "TIMESTAMP" },
		{ "timestamptz", "TIMESTAMP" },
		{ "timestamp_ntz(9)", "TIMESTAMP" },
		{ "smalldatetime", "TIMESTAMP" },
		{ "blob", "BYTES" },
		{ "varbinary(16)", "BYTES" },
		{ "json", "JSON" },
		{ "uuid", "UUID" },
		{ "varchar(20)", "TEXT" },
		{ "nvarchar(20)", "TEXT" },
		{ "clob", "TEXT" },
		{ "interval", "INTERVAL" },
		{ "", "TEXT" },
		{ "thing", "TEXT" },
	};
	struct sq *t = *state;
	char sql[128], expected[128];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(sql, sizeof(sql),
			"drop table if exists t; create table t (a %s)",
			cases[i].declared);
		(void)sq_query(t, sql);
		snprintf(expected, sizeof(expected), "columns a:%s\ndone SELECT 0\n",
			cases[i].type);
		assert_answer(t, "select a from t", expected);
	}
	/* A column without a declared type has the type of its value in the first row. */
	(void)sq_query(t, "insert into t values (null), (1)");
	assert_answer(t, "select a from t order by a",
		"columns a:TEXT\nrow NULL\nrow 1\ndone SELECT 2\n");
	assert_answer(t, "select a, x'41', 1.5 from t order by a desc",
		"columns a:INT64 x'41':BYTES 1.5:DOUBLE\nrow 1|A|1.5\nrow "
		"NULL|A|1.5\ndone "
		"SELECT 2\n");
}

static void
canonical_values_are_the_same_from_every_server(void **state)
{
	struct sq *t = *state;
	const char *insert = "insert into t values (1, '2024-01-02', '1:2', "
			     "'2024-01-02T03:04:05.50Z', 0.1),"
			     " ('true', 'soon', '03:04', '2024-01-02', 1e25),"
			     " ('no', 20240102, 5, 1700000000, 9e999),"
			     " (7, null, null, null, 0.1 + 0.2)";

	(void)sq_query(
		t, "create table t (b boolean, d date, t time, ts datetime, r real)");
	(void)sq_query(t, insert);
	assert_answer(t, "select * from t",
		"columns b:BOOL d:DATE t:TIME ts:TIMESTAMP r:DOUBLE\n"
		"row 1|2024-01-02|1:2|2024-01-02T03:04:05.50Z|0.1\n"
		"row true|soon|03:04|2024-01-02|1.0e+25\n"
		"row no|20240102|5|1700000000|Inf\n"
		"row 7|NULL|NULL|NULL|0.3\ndone SELECT 4\n");
	t->base.format = CENOTE_FORMAT_CANONICAL;
	assert_answer(t, "select * from t",
		"columns b:BOOL d:DATE t:TIME ts:TIMESTAMP r:DOUBLE\n"
		"row 1|2024-01-02|1:2|2024-01-02 03:04:05.5+00:00|0.1\n"
		"row 1|soon|03:04:00|2024-01-02 00:00:00|1e+25\n"
		"row 0|20240102|5|1700000000|Infinity\n"
		"row 1|NULL|NULL|NULL|0.30000000000000004\ndone SELECT 4\n");
	(void)sq_query(t, "create table u (u uuid, x blob)");
	(void)sq_query(
		t, "insert into u values (x'00112233445566778899aabbccddeeff', x'41')");
	assert_answer(t, "select * from u",
		"columns u:UUID x:BYTES\nrow 00112233-4455-6677-8899-aabbccddeeff|A\n"
		"done SELECT 1\n");
}

static void
every_word_for_a_boolean_becomes_1_or_0(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (b boolean)");
	(void)sq_query(t, "insert into t values ('true'), ('T'), ('yes'), ('On'),"
			  " ('FALSE'), ('f'), ('No'), ('off'), ('y'), ('truer'), ('')");
	t->base.format = CENOTE_FORMAT_CANONICAL;
	assert_answer(t, "select * from t",
		"columns b:BOOL\nrow 1\nrow 1\nrow 1\nrow 1\nrow 0\nrow 0\nrow 0\nrow 0\n"
		"row y\nrow truer\nrow \ndone SELECT 11\n");
}

/* A sink that keeps what the transcript does not show of a column. */
struct seen {
	struct cnd_sink sink;
	struct cnd_sink_ops ops;
	struct cnp_column columns[8];
	char texts[8][3][16];
	uint32_t n;
};

static int
see_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct seen *seen = (struct seen *)(void *)sink;
	uint32_t i;

	(void)known;
	seen->n = n;
	for (i = 0; i < n && i < 8; i++) {
		seen->columns[i] = columns[i];
		snprintf(seen->texts[i][0], 16, "%s", columns[i].org_name.p);
		snprintf(seen->texts[i][1], 16, "%s", columns[i].org_table.p);
		snprintf(seen->texts[i][2], 16, "%s", columns[i].schema.p);
	}
	return CENOTE_OK;
}

static int
ignore_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	(void)sink;
	(void)params;
	(void)n;
	return CENOTE_OK;
}

static int
ignore_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	(void)sink;
	(void)done;
	return CENOTE_OK;
}

static void
columns_tell_where_they_come_from(void **state)
{
	static const char sql[] = "select a as x, b, c, d, 1 from t as q";
	struct sq *t = *state;
	struct seen seen = { .ops = { .params = ignore_params,
				     .columns = see_columns,
				     .done = ignore_done } };

	seen.sink = (struct cnd_sink){ &seen.ops, &t->base.seen.batch, &t->base.diag };
	(void)sq_query(t, "create table t (a integer primary key autoincrement,"
			  " b varchar(20) not null, c decimal(8,3), d integer)");
	assert_ok(cnd_statement_prepare(&t->base.seen.statements, t->base.s, 1,
		&(struct cnd_prepare){
			.sql = { sql, strlen(sql) }, .name = CNP_STR_NONE },
		&seen.sink));
	assert_int_equal(seen.n, 5);
	assert_string_equal(seen.texts[0][0], "a");
	assert_string_equal(seen.texts[0][1], "t");
	assert_string_equal(seen.texts[0][2], "main");
	assert_int_equal(seen.columns[0].nullable, 0);
	assert_int_equal(seen.columns[0].native_flags, 6);
	assert_int_equal(seen.columns[1].nullable, 0);
	assert_int_equal(seen.columns[1].length, 20);
	assert_int_equal(seen.columns[2].nullable, 1);
	assert_int_equal(seen.columns[2].precision, 8);
	assert_int_equal(seen.columns[2].scale, 3);
	assert_int_equal(seen.columns[3].nullable, 1);
	assert_string_equal(seen.texts[4][0], "");
	assert_int_equal(seen.columns[4].nullable, 2);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sq_test_setup, sq_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(params_of_every_type_arrive_as_what_they_are),
		TEST(what_sqlite_cannot_hold_is_refused),
		TEST(a_wrong_number_of_params_is_named),
		TEST(a_prepared_statement_is_described_and_run),
		TEST(columns_that_changed_are_sent_again),
		TEST(a_pragma_that_was_prepared_acts_each_time),
		TEST(declared_types_become_logical_types),
		TEST(canonical_values_are_the_same_from_every_server),
		TEST(every_word_for_a_boolean_becomes_1_or_0),
		TEST(columns_tell_where_they_come_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
