/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values: the wire form and the text form of each type, in both directions. It needs no
 * server.
 */
#include "support/cnt_cmocka.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/value.h"
#include "support/cnt_alloc.h"

#define TEXT(type_, text)                                                                \
	{                                                                                \
		.type = (type_), .bytes = (text), .len = sizeof(text) - 1                \
	}

static const struct cnc_value values[] = {
	{ .type = CENOTE_TYPE_NULL, .is_null = 1 },
	{ .type = CENOTE_TYPE_INT64, .is_null = 1 },
	{ .type = CENOTE_TYPE_TEXT, .is_null = 1 },
	{ .type = CENOTE_TYPE_BOOL, .as.i64 = 0 },
	{ .type = CENOTE_TYPE_BOOL, .as.i64 = 1 },
	{ .type = CENOTE_TYPE_INT64, .as.i64 = INT64_MIN },
	{ .type = CENOTE_TYPE_INT64, .as.i64 = -1 },
	{ .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX },
	{ .type = CENOTE_TYPE_DOUBLE, .as.f64 = 0.1 },
	{ .type = CENOTE_TYPE_DOUBLE, .as.f64 = -0.0 },
	{ .type = CENOTE_TYPE_DOUBLE, .as.f64 = HUGE_VAL },
	TEXT(CENOTE_TYPE_DECIMAL, "-1.50e3"),
	TEXT(CENOTE_TYPE_TEXT, ""),
	TEXT(CENOTE_TYPE_TEXT, "text"),
	TEXT(CENOTE_TYPE_BYTES, "\0\1\2"),
	TEXT(CENOTE_TYPE_INTERVAL, "P1D"),
	TEXT(CENOTE_TYPE_UUID, "not checked"),
	TEXT(CENOTE_TYPE_JSON, "{}"),
	TEXT(CENOTE_TYPE_OTHER, "x"),
	{ .type = CENOTE_TYPE_DATE, .as.date = { -44, 3, 15, 0 } },
	{ .type = CENOTE_TYPE_TIME, .as.time = { 23, 59, 60, 0, 999999999, -3600 } },
	{ .type = CENOTE_TYPE_TIME, .as.time = { 1, 2, 3, 0, 0, CENOTE_NO_OFFSET } },
	{ .type = CENOTE_TYPE_TIMESTAMP,
		.as.timestamp = { { 2024, 2, 29, 0 },
			{ 1, 2, 3, 0, 4, CENOTE_NO_OFFSET } } },
	{ .is_native = 1,
		.native_type = 23,
		.format = CENOTE_FORMAT_BINARY,
		.bytes = "\0\0\0\1",
		.len = 4 },
	{ .type = CENOTE_TYPE_TEXT, .is_native = 1, .native_type = 25, .is_null = 1 },
	{ .type = CENOTE_TYPE_BYTES, .is_long = 1 },
	{ .type = CENOTE_TYPE_OTHER, .is_native = 1, .native_type = 17, .is_long = 1 },
};

static void
check_same(const struct cnc_value *a, const struct cnc_value *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->is_null, b->is_null);
	assert_int_equal(a->is_native, b->is_native);
	assert_int_equal(a->is_long, b->is_long);
	assert_int_equal(a->format, b->format);
	assert_int_equal(a->native_type, b->native_type);
	assert_memory_equal(&a->as, &b->as, sizeof(a->as));
	assert_int_equal(a->len, b->len);
	if (a->len)
		assert_memory_equal(a->bytes, b->bytes, a->len);
	if (b->bytes)
		assert_int_equal(b->bytes[b->len], '\0');
}

static void
every_kind_of_value_survives_the_wire(void **state)
{
	struct cnc_reader r;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	for (size_t i = 0; i < CNT_COUNT(values); i++)
		assert_ok(cnc_value_encode(&b, &values[i]));
	cnc_reader_init(&r, cnc_buf_head(&b), cnc_buf_len(&b));
	for (size_t i = 0; i < CNT_COUNT(values); i++) {
		struct cnc_value v;

		cnc_value_decode(&r, &v);
		assert_false(r.bad);
		check_same(&values[i], &v);
	}
	assert_ok(cnc_reader_end(&r));
	cnc_buf_finish(&b);
}

static void
the_bytes_are_those_of_the_protocol(void **state)
{
	static const uint8_t golden[] = {
		CENOTE_TYPE_NULL, 1, /* NULL */
		CENOTE_TYPE_INT64, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		CENOTE_TYPE_TEXT, 0, 2, 0, 0, 0, 'h', 'i', 0, CENOTE_TYPE_DATE, 0, 0xff,
		0xff, 0xff, 0xff, 12, 31, CENOTE_TYPE_TIME, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0,
		0, 0x80, CENOTE_TYPE_NULL, 2, 2, 23, 0, 0, 0, 1, 0, 0, 0, 'x',
		0, /* native */
	};
	static const struct cnc_value in[] = {
		{ .type = CENOTE_TYPE_NULL },
		{ .type = CENOTE_TYPE_INT64, .as.i64 = -2 },
		TEXT(CENOTE_TYPE_TEXT, "hi"),
		{ .type = CENOTE_TYPE_DATE, .as.date = { -1, 12, 31, 0 } },
		{ .type = CENOTE_TYPE_TIME,
			.as.time = { 1, 2, 3, 0, 4, CENOTE_NO_OFFSET } },
		{ .is_native = 1,
			.native_type = 23,
			.format = CENOTE_FORMAT_BINARY,
			.bytes = "x",
			.len = 1 },
	};
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	for (size_t i = 0; i < CNT_COUNT(in); i++)
		assert_ok(cnc_value_encode(&b, &in[i]));
	assert_int_equal(cnc_buf_len(&b), sizeof(golden));
	assert_memory_equal(cnc_buf_head(&b), golden, sizeof(golden));
	cnc_buf_finish(&b);
}

static void
what_is_not_a_value_is_not_sent(void **state)
{
	static const struct cnc_value bad[] = {
		{ .type = CENOTE_TYPE_OTHER + 1 },
		{ .type = 255 },
		TEXT(CENOTE_TYPE_DECIMAL, "1,5"),
		TEXT(CENOTE_TYPE_DECIMAL, ""),
		{ .type = CENOTE_TYPE_TEXT, .bytes = NULL, .len = 1 },
		{ .type = CENOTE_TYPE_INT64, .is_long = 1 },
		{ .type = CENOTE_TYPE_TEXT, .is_long = 1, .is_null = 1 },
		{ .type = CENOTE_TYPE_DATE, .as.date = { 2023, 2, 29, 0 } },
		{ .type = CENOTE_TYPE_TIME, .as.time = { 25, 0, 0, 0, 0, 0 } },
		{ .type = CENOTE_TYPE_TIMESTAMP,
			.as.timestamp = { { 2023, 2, 28, 0 }, { 24, 0, 1, 0, 0, 0 } } },
		{ .is_native = 1,
			.native_type = 1,
			.format = CENOTE_FORMAT_CANONICAL,
			.bytes = "",
			.len = 0 },
	};
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
	assert_ok(cnc_buf_u8(&b, 1));
	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		int r = cnc_value_encode(&b, &bad[i]);

		if (r != CENOTE_ERR_ARG)
			print_error("case %zu\n", i);
		assert_int_equal(r, CENOTE_ERR_ARG);
		assert_int_equal(cnc_buf_len(&b), 1);
	}
	cnc_buf_finish(&b);
}

static void
what_is_not_a_value_is_not_read(void **state)
{
	static const struct {
		uint8_t bytes[16];
		size_t len;
	} bad[] = {
		{ { CENOTE_TYPE_OTHER + 1, 1 }, 2 },
		{ { CENOTE_TYPE_NULL, 0 }, 2 },
		{ { CENOTE_TYPE_INT64, 5 }, 2 },
		{ { CENOTE_TYPE_BOOL, 0, 2 }, 3 },
		{ { CENOTE_TYPE_DECIMAL, 0, 1, 0, 0, 0, 'x', 0 }, 8 },
		{ { CENOTE_TYPE_TEXT, 0, 1, 0, 0, 0, 'x', 'y' }, 8 },
		{ { CENOTE_TYPE_TEXT, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 12 },
		{ { CENOTE_TYPE_DATE, 0, 0, 0, 0, 0, 13, 1 }, 8 },
		{ { CENOTE_TYPE_TIME, 0, 24, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 }, 13 },
	};

	for (size_t i = 0; i < CNT_COUNT(bad); i++) {
		struct cnc_reader r;
		struct cnc_value v;

		cnc_reader_init(&r, bad[i].bytes, bad[i].len);
		cnc_value_decode(&r, &v);
		if (!r.bad)
			print_error("case %zu\n", i);
		assert_true(r.bad);
		assert_true(v.is_null);
		assert_null(v.bytes);
	}
}

static void
values_cut_anywhere_are_refused(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(values); i++) {
		struct cnc_buf b;

		cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX);
		assert_ok(cnc_value_encode(&b, &values[i]));
		for (size_t len = 0; len < cnc_buf_len(&b); len++) {
			struct cnc_reader r;
			struct cnc_value v;

			cnc_reader_init(&r, cnc_buf_head(&b), len);
			cnc_value_decode(&r, &v);
			assert_true(r.bad);
		}
		cnc_buf_finish(&b);
	}
}

static void
no_memory_leaves_the_buffer(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(values); i++) {
		for (size_t max = 0; max < 12; max++) {
			struct cnt_alloc a;
			struct cnc_buf b;
			int r;

			cnt_alloc_init(&a, 0);
			cnc_buf_init(&b, &a.mem, max);
			r = cnc_value_encode(&b, &values[i]);
			assert_true(r == CENOTE_OK || r == CENOTE_ERR_LIMIT);
			if (r < 0)
				assert_int_equal(cnc_buf_len(&b), 0);
			cnc_buf_finish(&b);
			assert_int_equal(cnt_alloc_leaks(&a), 0);
		}
	}
}

static void
integers_become_text(void **state)
{
	static const struct {
		int64_t v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -1, "-1" },
		{ 10, "10" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	char out[CNC_VALUE_TEXT_MAX];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(cnc_int64_text(cases[i].v, out), strlen(cases[i].text));
		assert_string_equal(out, cases[i].text);
	}
	assert_int_equal(cnc_uint64_text(UINT64_MAX, out), 20);
	assert_string_equal(out, "18446744073709551615");
	assert_int_equal(cnc_uint64_text(0, out), 1);
}

static void
doubles_become_short_text(void **state)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0.0, "0" },
		{ -0.0, "-0" },
		{ 1.0, "1" },
		{ -2.5, "-2.5" },
		{ 0.1, "0.1" },
		{ 0x1.3333333333334p-2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 100000.0, "100000" },
		{ 123456789012345.0, "123456789012345" },
		{ 1e15, "1e+15" },
		{ 1e22, "1e+22" },
		{ 1e-7, "1e-07" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 5e-324, "5e-324" },
		{ 9007199254740993.0, "9007199254740992" },
		{ HUGE_VAL, "Infinity" },
		{ -HUGE_VAL, "-Infinity" },
	};
	char out[CNC_VALUE_TEXT_MAX];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		size_t len = cnc_double_text(cases[i].v, out);

		assert_string_equal(out, cases[i].text);
		assert_int_equal(len, strlen(out));
	}
	assert_int_equal(cnc_double_text(NAN, out), 3);
	assert_string_equal(out, "NaN");
	assert_int_equal(cnc_double_text(-NAN, out), 3);
	assert_string_equal(out, "NaN");
}

static void
values_become_text(void **state)
{
	static const struct {
		struct cnc_value v;
		const char *text;
	} cases[] = {
		{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 1 }, "1" },
		{ { .type = CENOTE_TYPE_BOOL, .as.i64 = 0 }, "0" },
		{ { .type = CENOTE_TYPE_INT64, .as.i64 = -5 }, "-5" },
		{ { .type = CENOTE_TYPE_UINT64, .as.u64 = UINT64_MAX },
			"18446744073709551615" },
		{ { .type = CENOTE_TYPE_DOUBLE, .as.f64 = 1.5 }, "1.5" },
		{ { .type = CENOTE_TYPE_DATE, .as.date = { 2024, 1, 2, 0 } },
			"2024-01-02" },
		{ { .type = CENOTE_TYPE_TIME, .as.time = { 1, 2, 3, 0, 0, 0 } },
			"01:02:03+00:00" },
		{ { .type = CENOTE_TYPE_TIMESTAMP,
			  .as.timestamp = { { 2024, 1, 2, 0 },
				  { 1, 2, 3, 0, 0, CENOTE_NO_OFFSET } } },
			"2024-01-02 01:02:03" },
		{ { .type = CENOTE_TYPE_INT64, .is_null = 1 }, "" },
		{ { .type = CENOTE_TYPE_NULL }, "" },
		{ TEXT(CENOTE_TYPE_TEXT, "own text"), "" },
		{ { .type = 200 }, "" },
	};
	char out[CNC_VALUE_TEXT_MAX];

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_int_equal(cnc_value_text(&cases[i].v, out), strlen(cases[i].text));
		assert_string_equal(out, cases[i].text);
	}
}

static void
text_becomes_integers(void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t v;
	} cases[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "+7", 0, 7 },
		{ "007", 0, 7 },
		{ " \t42\r\n", 0, 42 },
		{ "999999999999999999", 0, 999999999999999999 },
		{ "-999999999999999999", 0, -999999999999999999 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", CENOTE_ERR_CONVERT, 0 },
		{ "3.0", 0, 3 },
		{ "1e3", 0, 1000 },
		{ "3.5", CENOTE_ERR_CONVERT, 0 },
		{ "t", 0, 1 },
		{ "TRUE", 0, 1 },
		{ "False", 0, 0 },
		{ "f", 0, 0 },
		{ "tr", CENOTE_ERR_CONVERT, 0 },
		{ "yes", CENOTE_ERR_CONVERT, 0 },
		{ "", CENOTE_ERR_CONVERT, 0 },
		{ " ", CENOTE_ERR_CONVERT, 0 },
		{ "-", CENOTE_ERR_CONVERT, 0 },
		{ "- 1", CENOTE_ERR_CONVERT, 0 },
		{ "1 2", CENOTE_ERR_CONVERT, 0 },
		{ "12a", CENOTE_ERR_CONVERT, 0 },
		{ "0x10", CENOTE_ERR_CONVERT, 0 },
		{ "\xc2\xa0"
		  "5",
			CENOTE_ERR_CONVERT, 0 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int64_t v = 42;
		int r = cnc_text_int64(cases[i].text, strlen(cases[i].text), &v);

		if (r != cases[i].r)
			print_error("%s\n", cases[i].text);
		assert_int_equal(r, cases[i].r);
		assert_true(v == (r < 0 ? 42 : cases[i].v));
	}
}

static void
text_becomes_unsigned_integers(void **state)
{
	static const char *const bad[] = { "-1", "18446744073709551616", "0.5", "", "x",
		"1e20" };
	uint64_t v = 42;

	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_int_equal(
			cnc_text_uint64(bad[i], strlen(bad[i]), &v), CENOTE_ERR_CONVERT);
	assert_int_equal(v, 42);
	assert_ok(cnc_text_uint64(" 18446744073709551615 ", 22, &v));
	assert_true(v == UINT64_MAX);
	assert_ok(cnc_text_uint64("-0.0", 4, &v));
	assert_true(v == 0);
	assert_ok(cnc_text_uint64("true", 4, &v));
	assert_true(v == 1);
}

static void
text_becomes_doubles(void **state)
{
	static const struct {
		const char *text;
		double v;
	} cases[] = {
		{ "0", 0.0 },
		{ "-0", -0.0 },
		{ "0.1", 0.1 },
		{ " 1.5e3 ", 1500.0 },
		{ ".5", 0.5 },
		{ "5.", 5.0 },
		{ "1.7976931348623157e308", DBL_MAX },
		{ "4.9406564584124654e-324", 5e-324 },
		{ "1e-99999", 0.0 },
		{ "2.2250738585072011e-308", 2.2250738585072011e-308 },
		{ "9007199254740993", 9007199254740992.0 },
		{ "9007199254740993.00000000000000000000000000000000000000001",
			9007199254740994.0 },
		{ "Infinity", HUGE_VAL },
		{ "-inf", -HUGE_VAL },
		{ "+INFINITY", HUGE_VAL },
	};
	static const char *const bad[] = { "", " ", "1e999", "-1e999", "0x1p3", "1,5",
		"1.5x", "infi", "nan()", "--1", "1e100000" };
	double v = 42;

	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_int_equal(
			cnc_text_double(bad[i], strlen(bad[i]), &v), CENOTE_ERR_CONVERT);
	assert_true(v == 42);
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int r = cnc_text_double(cases[i].text, strlen(cases[i].text), &v);

		if (r < 0 || v != cases[i].v)
			print_error("%s: %.17g\n", cases[i].text, v);
		assert_ok(r);
		assert_memory_equal(&v, &cases[i].v, sizeof(v));
	}
	assert_ok(cnc_text_double("NaN", 3, &v));
	assert_true(isnan(v));
}

static void
a_last_digit_far_out_still_rounds_a_double(void **state)
{
	static const char number[] = "9007199254740993.";
	char text[2000];
	double v;

	/* A number half way between two doubles, and then a slightly larger one. */
	memset(text, '0', sizeof(text));
	memcpy(text, number, sizeof(number) - 1);
	assert_ok(cnc_text_double(text, sizeof(text), &v));
	assert_true(v == 9007199254740992.0);
	text[sizeof(text) - 1] = '1';
	assert_ok(cnc_text_double(text, sizeof(text), &v));
	assert_true(v == 9007199254740994.0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_survives_the_wire),
		cmocka_unit_test(the_bytes_are_those_of_the_protocol),
		cmocka_unit_test(what_is_not_a_value_is_not_sent),
		cmocka_unit_test(what_is_not_a_value_is_not_read),
		cmocka_unit_test(values_cut_anywhere_are_refused),
		cmocka_unit_test(no_memory_leaves_the_buffer),
		cmocka_unit_test(integers_become_text),
		cmocka_unit_test(doubles_become_short_text),
		cmocka_unit_test(values_become_text),
		cmocka_unit_test(text_becomes_integers),
		cmocka_unit_test(text_becomes_unsigned_integers),
		cmocka_unit_test(text_becomes_doubles),
		cmocka_unit_test(a_last_digit_far_out_still_rounds_a_double),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
