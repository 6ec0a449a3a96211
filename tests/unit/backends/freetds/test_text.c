/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/batch.h"

#include "tools/cenoted/backends/freetds/tds.h"

/* What the scan of a statement finds, and the SQL that is made of a statement and its values. */

static struct cnd_tds_scan
scan(const char *sql)
{
	struct cnd_tds_scan s;

	cnd_tds_scan(sql, strlen(sql), &s);
	return s;
}

static void
pins_are_told_by_words(void **state)
{
	static const struct {
		const char *sql;
		uint32_t pins;
	} cases[] = {
		{ "select 1", 0 },
		{ "SELECT 'insert into x (1)' -- update", 0 },
		{ "select 1 as [update], 2 \"delete\" /* drop /* nested */ table */", 0 },
		{ "select top (1) (2), case when (1) in (1, 2) then (3) else (4) end",
			0 },
		{ "if (1 = 1) print ('x')", 0 },
		/* the text does not show what a view calls */
		{ "select a from t", CENOTE_PIN_FUNCTION },
		{ "select rand(5)", CENOTE_PIN_FUNCTION },
		{ "select rand/* and */(5)", CENOTE_PIN_FUNCTION },
		{ "select dbo.[f] (5)", CENOTE_PIN_FUNCTION },
		{ "select \"f\"(5)", CENOTE_PIN_FUNCTION },
		{ "select {fn rand(5)}", CENOTE_PIN_FUNCTION },
		{ "select @a.value('x', 'int')", CENOTE_PIN_FUNCTION },
		{ "select next value for s", CENOTE_PIN_FUNCTION },
		{ "begin transaction select 1 commit", 0 },
		{ "declare @a int select @a", 0 },
		{ "create table #t (a int)", CENOTE_PIN_TEMP | CENOTE_PIN_FUNCTION },
		{ "select * into #t from u", CENOTE_PIN_TEMP | CENOTE_PIN_FUNCTION },
		{ "select 1 set datefirst 3", CENOTE_PIN_SETTINGS },
		{ "use master", CENOTE_PIN_SETTINGS },
		{ "insert into t values (1)", CENOTE_PIN_FUNCTION },
		{ "select 1 update t set a = 1",
			CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS },
		{ "select set_config('a', 'b', 'f')",
			CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS },
		{ "select PG_Advisory_Lock(5)", CENOTE_PIN_FUNCTION },
		{ "sp_who", CENOTE_PIN_FUNCTION },
		{ "dbo.p 1", CENOTE_PIN_FUNCTION },
		{ "[p] 1", CENOTE_PIN_FUNCTION },
		{ "exec p", CENOTE_PIN_FUNCTION },
		{ "{call p(?)}", CENOTE_PIN_FUNCTION },
		{ "declare c cursor for select 1 open c", CENOTE_PIN_CURSOR },
		{ "select 'open", CENOTE_PIN_FUNCTION },
		{ "select 1 /* open", CENOTE_PIN_FUNCTION },
		/* texts that the server may split into words differently */
		{ "select 1set language french", CENOTE_PIN_FUNCTION },
		{ "select 1e5set language french",
			CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS },
		{ "select 1.5set language french",
			CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS },
		{ "select 1.5eset language french", CENOTE_PIN_FUNCTION },
		{ "select 0x0set language french", CENOTE_PIN_FUNCTION },
		{ "select $1set language french", CENOTE_PIN_FUNCTION },
		{ "select 1\xc2\xa0set\xe3\x80\x80language french", CENOTE_PIN_FUNCTION },
		{ "select @a\xc2\xa0set\xc2\xa0language french", CENOTE_PIN_FUNCTION },
		{ "select 1 --\rset language french", CENOTE_PIN_SETTINGS },
		{ "\x01sp_who", CENOTE_PIN_FUNCTION },
		{ "select 12, 1e5, 1.5e-3, 0xDEADBEEF, $12, a1, 'gr\xc3\xbcn', "
		  "[\xc3\xa4] "
		  "-- gr\xc3\xbcn",
			0 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		if (scan(cases[i].sql).pins != cases[i].pins)
			fail_msg("%s: pins %u", cases[i].sql,
				(unsigned)scan(cases[i].sql).pins);
	}
}

static void
what_may_change_the_transaction_is_noted(void **state)
{
	assert_true(scan("commit").notes & CND_TDS_NOTE_TX);
	assert_true(scan("select 1 rollback").notes & CND_TDS_NOTE_TX);
	assert_true(scan("exec p").notes & CND_TDS_NOTE_TX);
	assert_true(scan("set implicit_transactions on").notes & CND_TDS_NOTE_TX);
	assert_true(scan("p").notes & CND_TDS_NOTE_TX);
	assert_false(scan("insert into t values (1)").notes & CND_TDS_NOTE_TX);
	assert_false(scan("select 'commit', [rollback]").notes & CND_TDS_NOTE_TX);
}

static void
only_what_reads_is_described(void **state)
{
	assert_true(scan("select 1").notes & CND_TDS_NOTE_ROWS);
	assert_true(scan(" ; select ?").notes & CND_TDS_NOTE_ROWS);
	assert_false(scan("select * into t from u").notes & CND_TDS_NOTE_ROWS);
	assert_false(scan("select 1 delete from t").notes & CND_TDS_NOTE_ROWS);
	assert_false(scan("with x as (select 1 as a) delete from x").notes &
		     CND_TDS_NOTE_ROWS);
	assert_false(scan("exec p").notes & CND_TDS_NOTE_ROWS);
	assert_true(scan(" -- nothing\n /* at all */ ;").notes & CND_TDS_NOTE_EMPTY);
	assert_false(scan("print 'x'").notes & CND_TDS_NOTE_EMPTY);
}

static void
placeholders_are_counted(void **state)
{
	assert_int_equal(scan("select ?, '?', [?], \"?\" -- ?\n, ? /* ? */").n_params, 2);
	assert_true(scan("exec p ?, ? output").notes & CND_TDS_NOTE_OUTPUT);
	assert_true(scan("exec ? = p").notes & CND_TDS_NOTE_OUTPUT);
	assert_false(scan("exec p ?, ?").notes & CND_TDS_NOTE_OUTPUT);
	assert_false(scan("select ? output").notes & CND_TDS_NOTE_OUTPUT);
}

/* ---- statements with values ---- */

struct bench {
	struct cnd_session s;
	struct cnc_diag diag;
	struct cnc_buf sql;
};

static int
bound(struct bench *b, const char *sql, const struct cnc_value *values, uint32_t n)
{
	struct cnd_tds_scan seen = scan(sql);
	int r;

	memset(b, 0, sizeof(*b));
	b->s.mem = &cnc_mem_default;
	b->s.diag = &b->diag;
	cnc_arena_init(&b->s.arena, b->s.mem);
	cnc_diag_init(&b->diag, b->s.mem);
	cnc_buf_init(&b->sql, b->s.mem, 1u << 20);
	r = cnd_tds_bound(&b->s, &b->sql, sql, strlen(sql), &seen, values, n);
	if (r == CENOTE_OK)
		assert_ok(cnc_buf_append(&b->sql, "", 1));
	return r;
}

static void
finish(struct bench *b)
{
	cnc_arena_finish(&b->s.arena);
	cnc_diag_finish(&b->diag);
	cnc_buf_finish(&b->sql);
}

static void
expect(const char *sql, const struct cnc_value *values, uint32_t n, const char *made)
{
	struct bench b;

	assert_ok(bound(&b, sql, values, n));
	assert_string_equal((const char *)cnc_buf_head(&b.sql), made);
	finish(&b);
}

static void
refuse(const char *sql, const struct cnc_value *values, uint32_t n, const char *state)
{
	struct bench b;

	assert_int_equal(bound(&b, sql, values, n), CENOTE_ERR_SERVER);
	assert_string_equal(b.diag.sqlstate, state);
	finish(&b);
}

#define TEXT(text)                                                                       \
	{                                                                                \
		.type = CENOTE_TYPE_TEXT, .bytes = (text), .len = sizeof(text) - 1       \
	}

static void
values_become_typed_literals(void **state)
{
	const struct cnc_value values[] = {
		{ .type = CENOTE_TYPE_INT64, .as.i64 = -5 },
		{ .type = CENOTE_TYPE_INT64, .as.i64 = 3000000000 },
		{ .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX },
		{ .type = CENOTE_TYPE_BOOL, .as.i64 = 1 },
		{ .type = CENOTE_TYPE_DECIMAL, .bytes = "-12.50", .len = 6 },
		TEXT("it's; drop"),
		{ .type = CENOTE_TYPE_BYTES, .bytes = "\0\xff", .len = 2 },
	};

	expect("select ?, ?, ?, ?, ?, ?, ?", values, 7,
		"exec sp_executesql N'select @P1, @P2, @P3, @P4, @P5, @P6, @P7', N'@P1 "
		"int, @P2 bigint, @P3 decimal(20, 0), @P4 bit, @P5 decimal(4, 2), @P6 "
		"nvarchar(4000), @P7 varbinary(8000)', -5, 3000000000, "
		"18446744073709551615, 1, -12.50, N'it''s; drop', 0x00ff");
}

static void
a_null_stands_in_the_statement(void **state)
{
	const struct cnc_value values[] = { { .is_null = 1 }, TEXT("x") };

	expect("select ?, ?", values, 2,
		"exec sp_executesql N'select NULL, @P2', N'@P2 nvarchar(4000)', N'x'");
	expect("select ? -- it's ?", values, 1, "select NULL -- it's ?");
}

static void
a_quote_in_the_statement_is_doubled(void **state)
{
	const struct cnc_value values[] = { TEXT("x") };

	expect("select '?''' + ?", values, 1,
		"exec sp_executesql N'select ''?'''''' + @P1', N'@P1 nvarchar(4000)', "
		"N'x'");
}

static void
a_call_gives_back_what_it_is_asked_for(void **state)
{
	const struct cnc_value values[] = { { .is_null = 1 },
		{ .type = CENOTE_TYPE_INT64, .as.i64 = 4 }, { .is_null = 1 } };

	expect("exec ? = p ?, ? output", values, 3,
		"declare @P1 nvarchar(4000) = NULL, @P2 int = 4, @P3 nvarchar(4000) = "
		"NULL exec @P1 = p @P2, @P3 output select @P1 as [1], @P3 as [3]");
}

static void
what_the_server_has_not_is_refused(void **state)
{
	const struct cnc_value zero[] = { TEXT("a\0b") };
	const struct cnc_value nan[] = { { .type = CENOTE_TYPE_DOUBLE,
		.as.f64 = __builtin_nan("") } };
	const struct cnc_value date[] = { { .type = CENOTE_TYPE_DATE,
		.as.date = { .year = 0, .month = 1, .day = 1 } } };
	const struct cnc_value time[] = { { .type = CENOTE_TYPE_TIME,
		.as.time = { .hour = 1, .utc_offset_s = 3600 } } };

	refuse("select ?", zero, 1, "22021");
	refuse("select ?", nan, 1, "22003");
	refuse("select ?", date, 1, "22007");
	refuse("select ?", time, 1, "22007");
	refuse("select ?, ?", zero, 1, "07001");
	refuse("select 1", zero, 1, "07001");
}

/* ---- values of the server ---- */

static int
put_value(CS_INT datatype, const void *value, size_t len, char *text, size_t size)
{
	const struct cnd_tds_kind *kind = cnd_tds_kind(datatype);
	const struct cnp_column column = { .type = kind->type };
	struct cnc_batch w;
	struct cnc_buf b;
	const uint8_t *row;
	const char *put;
	size_t n = 0;
	int r;

	cnc_buf_init(&b, &cnc_mem_default, 65536);
	assert_ok(cnc_batch_begin(&w, &b, 1));
	assert_ok(cnc_batch_row(&w));
	r = kind->put(&w, &column, value, len);
	if (r == CENOTE_OK) {
		cnc_batch_row_done(&w);
		row = cnc_buf_head(&b);
		if (!row)
			abort();
		put = cnc_row_value(row + CNC_BATCH_HEADER, 1, 0, &n);
		snprintf(text, size, "%.*s", (int)n, put);
	}
	cnc_buf_finish(&b);
	return r;
}

/* FreeTDS's form of dates, times, and dates with times (values.c). */
struct all {
	uint64_t time;
	int32_t date;
	int16_t offset;
	uint16_t flags;
};

static void
what_is_no_date_is_not_taken_for_one(void **state)
{
	static const struct all bad[] = { { 0, INT32_MIN, 0, 0x8000 },
		{ 0, INT32_MAX, 720, 0x8000 }, { 0, 4000000, 0, 0 },
		{ UINT64_MAX, 0, 0, 0 }, { 0, 0, INT16_MAX, 0x8000 } };
	const struct all good = { 0, 0, 60, 0x8000 };
	const CS_DATETIME epoch = { 0, 300 }, far = { INT32_MAX, 0 }, late = { 0, -1 };
	char text[64];

	assert_int_equal(put_value(CS_DATETIME_TYPE, &epoch, sizeof(epoch), text, 64), 0);
	assert_string_equal(text, "1900-01-01 00:00:01");
	assert_int_equal(
		put_value(CS_BIGDATETIME_TYPE, &good, sizeof(good), text, 64), 0);
	assert_string_equal(text, "1900-01-01 01:00:00+01:00");
	assert_int_equal(put_value(CS_DATETIME_TYPE, &far, sizeof(far), text, 64),
		CENOTE_ERR_PROTOCOL);
	assert_int_equal(put_value(CS_DATETIME_TYPE, &late, sizeof(late), text, 64),
		CENOTE_ERR_PROTOCOL);
	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_int_equal(
			put_value(CS_BIGDATETIME_TYPE, &bad[i], sizeof(bad[i]), text, 64),
			CENOTE_ERR_PROTOCOL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pins_are_told_by_words),
		cmocka_unit_test(what_may_change_the_transaction_is_noted),
		cmocka_unit_test(only_what_reads_is_described),
		cmocka_unit_test(placeholders_are_counted),
		cmocka_unit_test(values_become_typed_literals),
		cmocka_unit_test(a_null_stands_in_the_statement),
		cmocka_unit_test(a_quote_in_the_statement_is_doubled),
		cmocka_unit_test(a_call_gives_back_what_it_is_asked_for),
		cmocka_unit_test(what_the_server_has_not_is_refused),
		cmocka_unit_test(what_is_no_date_is_not_taken_for_one),
	};

	return cmocka_run_group_tests_name("freetds_text", tests, NULL, NULL);
}
