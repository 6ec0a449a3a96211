/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of the server's wire formats become canonical values and back. It needs no
 * server.
 */
#include "support/cnt_cmocka.h"

#include <math.h>

#include "core/dt.h"

#include "support/cnt_alloc.h"
#include "support/cnt_guard.h"

#include "pg.h"
#include "types.h"
#include "wire.h"

/* Convert one value of the server: canonical text in `out`, or the error of the conversion. */
static int
canonical(uint32_t oid, uint16_t format, const void *value, size_t len, char *out,
	size_t *ret_len)
{
	cnd_pg_put *put = cnd_pg_put_of(oid, format);
	struct cnt_guard guard;
	struct cnc_batch w;
	struct cnc_buf b;
	int r;

	cnt_guard_init(&guard, len + 1);
	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	assert_ok(cnc_batch_begin(&w, &b, 1));
	assert_ok(cnc_batch_row(&w));
	if (put)
		r = put(&w, cnt_guard_put(&guard, value, len), len);
	else
		r = cnc_batch_put(&w, value, len);
	if (r == CENOTE_OK) {
		const uint8_t *row = cnc_buf_head(&b) + w.row;
		const char *text = cnc_row_value(row, 1, 0, ret_len);

		assert_int_equal(w.column, 1);
		assert_non_null(text);
		memcpy(out, text, *ret_len);
		out[*ret_len] = '\0';
	}
	cnc_buf_finish(&b);
	cnt_guard_finish(&guard);
	return r;
}

static void
text_becomes_canonical(void **state)
{
	static const struct {
		uint32_t oid;
		const char *text, *canonical;
	} cases[] = {
		{ CND_PG_OID_BOOL, "t", "1" },
		{ CND_PG_OID_BOOL, "f", "0" },
		{ CND_PG_OID_INT4, "-2147483648", "-2147483648" },
		{ CND_PG_OID_FLOAT8, "-Infinity", "-Infinity" },
		{ CND_PG_OID_FLOAT8, "1e+20", "1e+20" },
		{ CND_PG_OID_NUMERIC, "NaN", "NaN" },
		{ CND_PG_OID_TEXT, "", "" },
		{ CND_PG_OID_BYTEA, "\\x", "" },
		{ CND_PG_OID_BYTEA, "\\x41ffFE", "A\xff\xfe" },
		{ CND_PG_OID_BYTEA, "", "" },
		{ CND_PG_OID_BYTEA, "plain", "plain" },
		{ CND_PG_OID_BYTEA, "a\\\\b\\001\\377", "a\\b\001\377" },
		{ CND_PG_OID_DATE, "2024-02-29", "2024-02-29" },
		{ CND_PG_OID_DATE, "0001-01-01", "0001-01-01" },
		{ CND_PG_OID_DATE, "0001-12-31 BC", "0000-12-31" },
		{ CND_PG_OID_DATE, "0005-02-29 BC", "-0004-02-29" },
		{ CND_PG_OID_DATE, "4714-11-24 BC", "-4713-11-24" },
		{ CND_PG_OID_DATE, "infinity", "infinity" },
		{ CND_PG_OID_DATE, "-infinity", "-infinity" },
		{ CND_PG_OID_DATE, "5874897-12-31", "5874897-12-31" },
		{ CND_PG_OID_DATE, "29.02.2024 BC", "29.02.2024 BC" },
		{ CND_PG_OID_DATE, " BC", " BC" },
		{ CND_PG_OID_TIME, "24:00:00", "24:00:00" },
		{ CND_PG_OID_TIME, "23:59:59.999999", "23:59:59.999999" },
		{ CND_PG_OID_TIMETZ, "10:00:00+01", "10:00:00+01:00" },
		{ CND_PG_OID_TIMETZ, "10:00:00-05:30", "10:00:00-05:30" },
		{ CND_PG_OID_TIMETZ, "10:00:00.5+15:59:59", "10:00:00.5+15:59:59" },
		{ CND_PG_OID_TIMESTAMP, "2024-01-02 03:04:05.6",
			"2024-01-02 03:04:05.6" },
		{ CND_PG_OID_TIMESTAMP, "0044-03-15 12:00:00 BC",
			"-0043-03-15 12:00:00" },
		{ CND_PG_OID_TIMESTAMP, "infinity", "infinity" },
		{ CND_PG_OID_TIMESTAMPTZ, "-infinity", "-infinity" },
		{ CND_PG_OID_TIMESTAMPTZ, "2024-01-02 03:04:05+00",
			"2024-01-02 03:04:05+00:00" },
		{ CND_PG_OID_TIMESTAMPTZ, "2024-01-02 03:04:05.123456-08",
			"2024-01-02 03:04:05.123456-08:00" },
		{ CND_PG_OID_TIMESTAMPTZ, "1800-01-01 00:00:00-00:01:15",
			"1800-01-01 00:00:00-00:01:15" },
		{ CND_PG_OID_TIMESTAMPTZ, "0044-03-15 12:00:00+01 BC",
			"-0043-03-15 12:00:00+01:00" },
		{ CND_PG_OID_TIMESTAMPTZ, "294276-12-31 23:59:59.999999+00",
			"294276-12-31 23:59:59.999999+00:00" },
		{ CND_PG_OID_TIMESTAMPTZ, "Tue Jan 02 03:04:05 2024 CET",
			"Tue Jan 02 03:04:05 2024 CET" },
		{ CND_PG_OID_INTERVAL, "1 year 2 mons", "1 year 2 mons" },
		{ CND_PG_OID_UUID, "123e4567-e89b-12d3-a456-426614174000",
			"123e4567-e89b-12d3-a456-426614174000" },
		{ CND_PG_OID_JSONB, "{\"a\": 1}", "{\"a\": 1}" },
		{ 16384, "mood", "mood" },
	};
	char out[128];
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(canonical(cases[i].oid, CND_PG_TEXT, cases[i].text,
			strlen(cases[i].text), out, &n));
		assert_string_equal(out, cases[i].canonical);
		assert_int_equal(n, strlen(cases[i].canonical));
	}
}

static void
text_of_no_such_value_is_refused(void **state)
{
	static const struct {
		uint32_t oid;
		const char *text;
	} cases[] = {
		{ CND_PG_OID_BOOL, "" },
		{ CND_PG_OID_BOOL, "true" },
		{ CND_PG_OID_BOOL, "1" },
		{ CND_PG_OID_BYTEA, "\\x4" },
		{ CND_PG_OID_BYTEA, "\\x4g" },
		{ CND_PG_OID_BYTEA, "\\xg4" },
		{ CND_PG_OID_BYTEA, "\\" },
		{ CND_PG_OID_BYTEA, "\\37" },
		{ CND_PG_OID_BYTEA, "\\477" },
		{ CND_PG_OID_BYTEA, "\\187" },
		{ CND_PG_OID_BYTEA, "\\178" },
		{ CND_PG_OID_BYTEA, "a\\b" },
	};
	char out[128];
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++)
		assert_int_equal(canonical(cases[i].oid, CND_PG_TEXT, cases[i].text,
					 strlen(cases[i].text), out, &n),
			CENOTE_ERR_PROTOCOL);
}

/* The server's binary dates count from the year 2000. */
static void
binary_dates_become_canonical(void **state)
{
	static const struct {
		uint32_t oid;
		int64_t value;
		const char *canonical;
	} cases[] = {
		{ CND_PG_OID_DATE, 0, "2000-01-01" },
		{ CND_PG_OID_DATE, -1, "1999-12-31" },
		{ CND_PG_OID_DATE, 59, "2000-02-29" },
		{ CND_PG_OID_DATE, 60, "2000-03-01" },
		{ CND_PG_OID_DATE, -36464, "1900-03-02" },
		{ CND_PG_OID_DATE, -730119, "0001-01-01" },
		{ CND_PG_OID_DATE, -730120, "0000-12-31" },
		{ CND_PG_OID_DATE, -2451545, "-4713-11-24" },
		{ CND_PG_OID_DATE, 2921939, "9999-12-31" },
		{ CND_PG_OID_DATE, 2921940, "10000-01-01" },
		{ CND_PG_OID_DATE, 2145031948, "5874897-12-31" },
		{ CND_PG_OID_DATE, INT32_MAX, "infinity" },
		{ CND_PG_OID_DATE, INT32_MIN, "-infinity" },
		{ CND_PG_OID_TIMESTAMP, 0, "2000-01-01 00:00:00" },
		{ CND_PG_OID_TIMESTAMP, -1, "1999-12-31 23:59:59.999999" },
		{ CND_PG_OID_TIMESTAMP, 500000, "2000-01-01 00:00:00.5" },
		{ CND_PG_OID_TIMESTAMP, INT64_C(9223371331199999999),
			"294276-12-31 23:59:59.999999" },
		{ CND_PG_OID_TIMESTAMP, INT64_C(-211813488000000000),
			"-4713-11-24 00:00:00" },
		/* No server sends these. */
		{ CND_PG_OID_TIMESTAMP, INT64_MAX - 1, "294277-01-09 04:00:54.775806" },
		{ CND_PG_OID_TIMESTAMP, INT64_MIN + 1, "-290278-12-22 19:59:05.224193" },
		{ CND_PG_OID_TIMESTAMP, INT64_MAX, "infinity" },
		{ CND_PG_OID_TIMESTAMPTZ, INT64_MIN, "-infinity" },
		{ CND_PG_OID_TIMESTAMPTZ, INT64_C(86400000000),
			"2000-01-02 00:00:00+00:00" },
	};
	char out[128];
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		size_t size = cases[i].oid == CND_PG_OID_DATE ? 4 : 8, wrong;
		uint8_t bytes[9];

		cnd_pg_put_u32(bytes, (uint32_t)((uint64_t)cases[i].value >> 32));
		cnd_pg_put_u32(bytes + 4, (uint32_t)cases[i].value);
		assert_ok(canonical(
			cases[i].oid, CND_PG_BINARY, bytes + 8 - size, size, out, &n));
		assert_string_equal(out, cases[i].canonical);
		for (wrong = 0; wrong <= 9; wrong++) {
			if (wrong != size)
				assert_int_equal(canonical(cases[i].oid, CND_PG_BINARY,
							 bytes, wrong, out, &n),
					CENOTE_ERR_PROTOCOL);
		}
	}
}

static void
next_day(cenote_date *d)
{
	d->day++;
	if (cnc_date_is_valid(d))
		return;
	d->day = 1;
	d->month++;
	if (cnc_date_is_valid(d))
		return;
	d->month = 1;
	d->year++;
}

/* Four centuries from the server's first day, and four around the year 2000. */
static void
days_follow_each_other(void **state)
{
	static const struct {
		int32_t days;
		cenote_date date;
	} from[] = { { -2451545, { -4713, 11, 24, 0 } }, { -73048, { 1800, 1, 1, 0 } } };
	cnd_pg_put *put = cnd_pg_put_of(CND_PG_OID_DATE, CND_PG_BINARY);
	struct cnc_buf b;
	size_t k;
	int i;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	for (k = 0; k < CNT_COUNT(from); k++) {
		cenote_date d = from[k].date;

		for (i = 0; i < 150000; i++, next_day(&d)) {
			char expected[CNC_DT_TEXT_MAX];
			struct cnc_batch w;
			uint8_t bytes[4];
			size_t n;

			cnd_pg_put_u32(bytes, (uint32_t)(from[k].days + i));
			assert_ok(cnc_batch_begin(&w, &b, 1));
			assert_ok(cnc_batch_row(&w));
			assert_ok(put(&w, bytes, 4));
			(void)cnc_date_text(&d, expected);
			assert_string_equal(
				cnc_row_value(cnc_buf_head(&b) + w.row, 1, 0, &n),
				expected);
			cnc_buf_clear(&b, 1000);
		}
	}
	cnc_buf_finish(&b);
}

static void
sessions_without_iso_dates_use_binary_ones(void **state)
{
	struct cnd_pg_facts iso = { .is_date_iso = 1, .has_standard_strings = 1 };
	struct cnd_pg_facts german = { .is_date_iso = 0, .has_standard_strings = 1 };

	assert_true(cnd_pg_is_text_enough(&iso));
	assert_false(cnd_pg_is_text_enough(&german));
	assert_int_equal(cnd_pg_canonical_format(CND_PG_OID_DATE, &iso), CND_PG_TEXT);
	assert_int_equal(
		cnd_pg_canonical_format(CND_PG_OID_DATE, &german), CND_PG_BINARY);
	assert_int_equal(
		cnd_pg_canonical_format(CND_PG_OID_TIMESTAMPTZ, &german), CND_PG_BINARY);
	assert_int_equal(cnd_pg_canonical_format(CND_PG_OID_TIME, &german), CND_PG_TEXT);
	assert_int_equal(cnd_pg_canonical_format(CND_PG_OID_BYTEA, &iso), CND_PG_BINARY);
	assert_null(cnd_pg_put_of(CND_PG_OID_BYTEA, CND_PG_BINARY));
	assert_int_equal(cnd_pg_canonical_format(16384, &german), CND_PG_TEXT);
}

/* ---- Parameters ---- */

#define STAMP(year, offset)                                                              \
	{                                                                                \
		.date = { year, 2, 29, 0 }, .time = { 23, 59, 58, 0, 120000000, offset } \
	}

static const struct {
	struct cnc_value v;
	uint32_t oid; /* type of the placeholder */
	uint32_t type; /* type to declare */
	uint16_t format;
	const char *content; /* NULL: the SQL NULL */
} params[] = {
	{ { .type = CENOTE_TYPE_NULL, .is_null = 1 }, 0, 0, 0, NULL },
	{ { .type = CENOTE_TYPE_INT64, .is_null = 1 }, 23, 0, 0, NULL },
	{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 }, 0, 16, 0, "1" },
	{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 0 }, 23, 16, 0, "0" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = INT32_MIN }, 0, 23, 0, "-2147483648" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = INT32_MAX + INT64_C(1) }, 0, 20, 0,
		"2147483648" },
	{ { .type = CENOTE_TYPE_INT64, .as.i64 = INT64_MIN }, 25, 20, 0,
		"-9223372036854775808" },
	{ { .type = CENOTE_TYPE_UINT64, .as.u64 = INT32_MAX }, 0, 23, 0, "2147483647" },
	{ { .type = CENOTE_TYPE_UINT64, .as.u64 = INT64_MAX }, 0, 20, 0,
		"9223372036854775807" },
	{ { .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX }, 0, 1700, 0,
		"18446744073709551615" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 2.5 }, 0, 701, 0, "2.5" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.1 }, 23, 701, 0, "0.1" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 5 }, 23, 701, 0, "5" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 1e18 }, 20, 701, 0,
		"1000000000000000000" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = -INFINITY }, 0, 701, 0, "-Infinity" },
	{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = NAN }, 20, 701, 0, "NaN" },
	{ { .type = CENOTE_TYPE_DECIMAL, .bytes = "-5.00", .len = 5 }, 0, 1700, 0,
		"-5.00" },
	{ { .type = CENOTE_TYPE_DECIMAL, .bytes = "-5.00", .len = 5 }, 23, 1700, 0,
		"-5" },
	{ { .type = CENOTE_TYPE_DECIMAL, .bytes = "5.01", .len = 4 }, 20, 1700, 0,
		"5.01" },
	{ { .type = CENOTE_TYPE_TEXT, .bytes = "", .len = 0 }, 0, 0, 0, "" },
	{ { .type = CENOTE_TYPE_TEXT, .bytes = NULL, .len = 0 }, 0, 0, 0, "" },
	{ { .type = CENOTE_TYPE_TEXT, .bytes = "\\x41", .len = 4 }, 17, 0, 0, "\\x41" },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = "\\x41", .len = 4 }, 0, 17, 1, "\\x41" },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = "\\x41", .len = 4 }, 17, 17, 1, "\\x41" },
	{ { .type = CENOTE_TYPE_BYTES, .bytes = "42", .len = 2 }, 23, 17, 0, "42" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 2024, 2, 29, 0 } }, 0, 1082, 0,
		"2024-02-29" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 1, 1, 1, 0 } }, 0, 1082, 0,
		"0001-01-01" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { 0, 2, 29, 0 } }, 0, 1082, 0,
		"0001-02-29 BC" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { -4712, 1, 1, 0 } }, 0, 1082, 0,
		"4713-01-01 BC" },
	{ { .type = CENOTE_TYPE_DATE, .as.date = { -9999, 12, 31, 0 } }, 0, 1082, 0,
		"10000-12-31 BC" },
	{ { .type = CENOTE_TYPE_TIME, .as.time = { 24, 0, 0, 0, 0, CENOTE_NO_OFFSET } },
		0, 1083, 0, "24:00:00" },
	{ { .type = CENOTE_TYPE_TIME, .as.time = { 1, 2, 3, 0, 123456789, -4500 } }, 0,
		1266, 0, "01:02:03.123456789-01:15" },
	{ { .type = CENOTE_TYPE_TIMESTAMP,
		  .as.timestamp = STAMP(2024, CENOTE_NO_OFFSET) },
		0, 1114, 0, "2024-02-29 23:59:58.12" },
	{ { .type = CENOTE_TYPE_TIMESTAMP, .as.timestamp = STAMP(-4, CENOTE_NO_OFFSET) },
		0, 1114, 0, "0005-02-29 23:59:58.12 BC" },
	{ { .type = CENOTE_TYPE_TIMESTAMP, .as.timestamp = STAMP(0, 3600) }, 0, 1184, 0,
		"0001-02-29 23:59:58.12+01:00 BC" },
	{ { .type = CENOTE_TYPE_UUID, .bytes = "u", .len = 1 }, 0, 0, 0, "u" },
	{ { .type = CENOTE_TYPE_JSON, .bytes = "{}", .len = 2 }, 114, 0, 0, "{}" },
	{ { .type = CENOTE_TYPE_INTERVAL, .bytes = "P1D", .len = 3 }, 0, 0, 0, "P1D" },
	{ { .type = CENOTE_TYPE_OTHER, .bytes = "(1,2)", .len = 5 }, 600, 0, 0, "(1,2)" },
	{ { .type = CENOTE_TYPE_NULL,
		  .is_native = 1,
		  .format = CENOTE_FORMAT_BINARY,
		  .native_type = 21,
		  .bytes = "ab",
		  .len = 2 },
		21, 21, 1, "ab" },
	{ { .type = CENOTE_TYPE_NULL,
		  .is_native = 1,
		  .format = CENOTE_FORMAT_TEXT,
		  .native_type = 1007,
		  .bytes = "{}",
		  .len = 2 },
		0, 1007, 0, "{}" },
	{ { .type = CENOTE_TYPE_NULL, .is_native = 1, .is_null = 1, .native_type = 20 },
		0, 20, 0, NULL },
};

static void
parameters_go_as_documented(void **state)
{
	size_t i;

	for (i = 0; i < CNT_COUNT(params); i++) {
		const struct cnc_value *v = &params[i].v;
		size_t n = params[i].content ? strlen(params[i].content) : 0;
		uint8_t expected[64];
		struct cnc_diag d;
		struct cnc_buf b;

		cnc_diag_init(&d, NULL);
		cnc_buf_init(&b, &cnc_mem_default, 1000);
		assert_int_equal(cnd_pg_param_type(v), params[i].type);
		assert_int_equal(cnd_pg_param_format(v, params[i].oid), params[i].format);
		assert_ok(cnd_pg_param_put(&b, v, params[i].oid, &d));
		cnd_pg_put_u32(expected, params[i].content ? (uint32_t)n : UINT32_MAX);
		if (n > 0)
			memcpy(expected + 4, params[i].content, n);
		assert_int_equal(cnc_buf_len(&b), 4 + n);
		assert_memory_equal(cnc_buf_head(&b), expected, 4 + n);
		cnc_buf_finish(&b);
	}
}

static void
parameters_keep_within_limits(void **state)
{
	struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .bytes = "x" };
	struct cnt_alloc a;
	struct cnc_diag d;
	struct cnc_buf b;

	cnc_diag_init(&d, NULL);
	cnc_buf_init(&b, &cnc_mem_default, 100);
	v.len = (size_t)CND_PG_MSG_MAX + 1;
	assert_int_equal(cnd_pg_param_put(&b, &v, 0, &d), CENOTE_ERR_ARG);
	assert_string_equal(d.sqlstate, "54000");
	v.len = 97;
	assert_int_equal(cnd_pg_param_put(&b, &v, 0, &d), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_len(&b), 0);
	cnc_buf_finish(&b);

	cnt_alloc_init(&a, 1);
	cnc_buf_init(&b, &a.mem, 100);
	v.len = 1;
	assert_int_equal(cnd_pg_param_put(&b, &v, 0, &d), CENOTE_ERR_NOMEM);
	cnc_buf_finish(&b);
	assert_int_equal(cnt_alloc_leaks(&a), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_becomes_canonical),
		cmocka_unit_test(text_of_no_such_value_is_refused),
		cmocka_unit_test(binary_dates_become_canonical),
		cmocka_unit_test(days_follow_each_other),
		cmocka_unit_test(sessions_without_iso_dates_use_binary_ones),
		cmocka_unit_test(parameters_go_as_documented),
		cmocka_unit_test(parameters_keep_within_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
