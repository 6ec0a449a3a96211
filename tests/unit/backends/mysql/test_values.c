/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of the MySQL protocols, text and binary, on their way to the client. It needs
 * no server.
 */
#include "support/cnt_cmocka.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "support/cnt_random.h"

#include "tools/cenoted/backends/mysql/my.h"
#include "tools/cenoted/backends/mysql/values.h"

static struct cnc_buf out;
static char seen[2048];

static int
setup(void **state)
{
	cnc_buf_init(&out, &cnc_mem_default, 1 << 20);
	return 0;
}

static int
teardown(void **state)
{
	cnc_buf_finish(&out);
	return 0;
}

/* Write one value to a batch of one row, and copy the text of it to `seen`. */
static int
put(const struct cnp_column *c, int is_binary, const void *p, size_t n)
{
	struct cnc_batch w;
	const char *value;
	size_t len = 0;
	int r;

	cnc_buf_clear(&out, 0);
	assert_ok(cnc_batch_begin(&w, &out, 1));
	assert_ok(cnc_batch_row(&w));
	r = is_binary ? cnd_my_binary_put(&w, c, p, n) : cnd_my_text_put(&w, c, p, n);
	if (r < 0) {
		cnc_batch_row_undo(&w);
		return r;
	}
	value = cnc_row_value(cnc_buf_head(&out) + w.row, 1, 0, &len);
	assert_non_null(value);
	assert_true(len < sizeof(seen));
	memcpy(seen, value, len + 1);
	return r;
}

static struct cnp_column
column(enum enum_field_types type, unsigned flags, unsigned decimals, long length)
{
	MYSQL_FIELD f;
	struct cnp_column c;

	memset(&f, 0, sizeof(f));
	f.type = type;
	f.flags = flags;
	f.decimals = decimals;
	f.length = (unsigned long)length;
	f.charsetnr = 63;
	cnd_my_column(&f, CENOTE_FORMAT_TEXT, &c);
	return c;
}

struct double_case {
	double v;
	unsigned decimals;
	const char *text;
};

static void
doubles_are_written_as_the_server_writes_them(void **state)
{
	static const struct double_case cases[] = {
		{ 0, 31, "0" },
		{ -0.0, 31, "-0" },
		{ 1.5, 31, "1.5" },
		{ -0.1, 31, "-0.1" },
		{ 0.1 + 0.2, 31, "0.30000000000000004" },
		{ 1e15, 31, "1e15" },
		{ 123456789012345, 31, "123456789012345" },
		{ 1234567890123456, 31, "1.234567890123456e15" },
		{ 1e20, 31, "1e20" },
		{ 1e-14, 31, "0.00000000000001" },
		{ 1e-15, 31, "0.000000000000001" },
		{ 1e-16, 31, "1e-16" },
		{ DBL_MAX, 31, "1.7976931348623157e308" },
		{ 5e-324, 31, "5e-324" },
		{ DBL_MIN, 31, "2.2250738585072014e-308" },
		{ 5.684341886080802e-14, 31, "0.00000000000005684341886080802" },
		{ 1.5, 2, "1.50" },
		{ -1.005, 2, "-1.00" },
		{ 0.125, 2, "0.12" },
		{ 1e22, 2, "10000000000000000000000.00" },
		{ 12345678901234567890.0, 0, "12345678901234567000" },
		{ 0.001, 3, "0.001" },
		{ 0.001, 5, "0.00100" },
		{ 0, 2, "0.00" },
		{ INFINITY, 31, "0" },
		{ NAN, 2, "0" },
	};
	char text[CND_MY_DOUBLE_TEXT_MAX];
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		n = cnd_my_double_text(cases[i].v, cases[i].decimals, text);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(text));
	}
	n = cnd_my_double_text(-DBL_MAX, 30, text);
	assert_int_equal(n, strlen(text));
	assert_int_equal(n, 341);
}

static void
floats_have_six_digits_unless_canonical(void **state)
{
	char text[CND_MY_DOUBLE_TEXT_MAX];

	(void)cnd_my_float_text(3.14159274f, 31, text);
	assert_string_equal(text, "3.14159");
	(void)cnd_my_float_text(16777216.f, 31, text);
	assert_string_equal(text, "16777200");
	(void)cnd_my_float_text(FLT_MAX, 31, text);
	assert_string_equal(text, "3.40282e38");
	(void)cnd_my_float_text(1.1f, 3, text);
	assert_string_equal(text, "1.100");
	(void)cnd_my_float_canonical(0.1f, text);
	assert_string_equal(text, "0.1");
	(void)cnd_my_float_canonical(16777216.f, text);
	assert_string_equal(text, "16777216");
	(void)cnd_my_float_canonical(FLT_MAX, text);
	assert_string_equal(text, "3.4028235e+38");
}

/* A number of any bit pattern is written so that it reads back as the same number. */
static void
numbers_read_back_the_same(void **state)
{
	char text[CND_MY_DOUBLE_TEXT_MAX];
	struct cnt_random r;
	uint64_t bits;
	uint32_t bits32;
	double v;
	float f;
	int i;

	cnt_random_init(&r, 4711);
	for (i = 0; i < 20000; i++) {
		bits = cnt_random_u64(&r);
		memcpy(&v, &bits, sizeof(v));
		if (i % 3 == 0)
			v = ldexp(1, (int)(bits % 2098) - 1074);
		(void)cnd_my_double_text(v, 31, text);
		if (!isnan(v) && !isinf(v))
			assert_true(strtod(text, NULL) == v);
		bits32 = (uint32_t)bits;
		memcpy(&f, &bits32, sizeof(f));
		(void)cnd_my_float_canonical(f, text);
		if (!isnan(f) && !isinf(f))
			assert_true(strtof(text, NULL) == f);
	}
}

static void
integers_keep_sign_and_width(void **state)
{
	static const uint8_t ff[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	struct cnp_column c = column(MYSQL_TYPE_TINY, 0, 0, 4);

	assert_ok(put(&c, 1, ff, 1));
	assert_string_equal(seen, "-1");
	c = column(MYSQL_TYPE_SHORT, UNSIGNED_FLAG, 0, 5);
	assert_ok(put(&c, 1, ff, 2));
	assert_string_equal(seen, "65535");
	c = column(MYSQL_TYPE_INT24, 0, 0, 9);
	assert_ok(put(&c, 1, ff, 4));
	assert_string_equal(seen, "-1");
	c = column(MYSQL_TYPE_LONGLONG, UNSIGNED_FLAG, 0, 20);
	assert_ok(put(&c, 1, ff, 8));
	assert_string_equal(seen, "18446744073709551615");
	c = column(MYSQL_TYPE_LONG, UNSIGNED_FLAG | ZEROFILL_FLAG, 0, 10);
	assert_ok(put(&c, 1, "\x05\0\0\0", 4));
	assert_string_equal(seen, "0000000005");
	c.format = CENOTE_FORMAT_CANONICAL;
	assert_ok(put(&c, 1, "\x05\0\0\0", 4));
	assert_string_equal(seen, "5");
	assert_ok(put(&c, 0, "0000000005", 10));
	assert_string_equal(seen, "5");
	assert_ok(put(&c, 0, "0000000000", 10));
	assert_string_equal(seen, "0");
	c = column(MYSQL_TYPE_YEAR, UNSIGNED_FLAG | ZEROFILL_FLAG, 0, 4);
	assert_ok(put(&c, 1, "\0\0", 2));
	assert_string_equal(seen, "0000");
	c.format = CENOTE_FORMAT_BINARY;
	assert_ok(put(&c, 1, "\xe8\x07", 2));
	assert_memory_equal(seen, "\xe8\x07", 2);
}

static void
bits_are_bytes_and_one_bit_is_bool(void **state)
{
	struct cnp_column one = column(MYSQL_TYPE_BIT, UNSIGNED_FLAG, 0, 1);
	struct cnp_column two = column(MYSQL_TYPE_BIT, UNSIGNED_FLAG, 0, 2);

	assert_int_equal(one.type, CENOTE_TYPE_BOOL);
	assert_int_equal(two.type, CENOTE_TYPE_BYTES);
	one.format = two.format = CENOTE_FORMAT_CANONICAL;
	assert_ok(put(&one, 0, "\1", 1));
	assert_string_equal(seen, "1");
	assert_ok(put(&one, 1, "\0", 1));
	assert_string_equal(seen, "0");
	assert_ok(put(&two, 0, "\3", 1));
	assert_string_equal(seen, "\3");
}

struct time_case {
	enum enum_field_types type;
	unsigned decimals;
	const char *bytes;
	size_t n;
	const char *text;
	const char *canonical;
};

static void
dates_and_times_have_every_length(void **state)
{
	static const struct time_case cases[] = {
		{ MYSQL_TYPE_DATE, 0, "", 0, "0000-00-00", "0000-00-00" },
		{ MYSQL_TYPE_DATE, 0, "\xe8\x07\x02\x1d", 4, "2024-02-29", "2024-02-29" },
		{ MYSQL_TYPE_DATE, 0, "\xe8\x07\x02\0", 4, "2024-02-00", "2024-02-00" },
		{ MYSQL_TYPE_DATETIME, 0, "", 0, "0000-00-00 00:00:00",
			"0000-00-00 00:00:00" },
		{ MYSQL_TYPE_DATETIME, 3, "\xe8\x07\x02\x1d", 4,
			"2024-02-29 00:00:00.000", "2024-02-29 00:00:00" },
		{ MYSQL_TYPE_TIMESTAMP, 0, "\xe8\x07\x02\x1d\x17\x3b\x3a", 7,
			"2024-02-29 23:59:58", "2024-02-29 23:59:58" },
		{ MYSQL_TYPE_DATETIME, 6, "\xe8\x07\x02\x1d\x17\x3b\x3a\x20\xa1\x07\0",
			11, "2024-02-29 23:59:58.500000", "2024-02-29 23:59:58.5" },
		{ MYSQL_TYPE_DATETIME, 39, "\xe8\x07\x02\x1d\x17\x3b\x3a\x20\xa1\x07\0",
			11, "2024-02-29 23:59:58.500000", "2024-02-29 23:59:58.5" },
		{ MYSQL_TYPE_TIME, 0, "", 0, "00:00:00", "00:00:00" },
		{ MYSQL_TYPE_TIME, 1, "\0\0\0\0\0\x17\x3b\x3a\x20\xa1\x07\0", 12,
			"23:59:58.5", "23:59:58.5" },
		{ MYSQL_TYPE_TIME, 0, "\1\x22\0\0\0\x16\x3b\x3b", 8, "-838:59:59",
			"-838:59:59" },
		{ MYSQL_TYPE_TIME, 2, "\0\1\0\0\0\1\0\0", 8, "25:00:00.00",
			"25:00:00.00" },
	};
	struct cnp_column c;
	size_t i, n;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		c = column(cases[i].type, BINARY_FLAG, cases[i].decimals, 26);
		assert_ok(put(&c, 1, cases[i].bytes, cases[i].n));
		assert_string_equal(seen, cases[i].text);
		c.format = CENOTE_FORMAT_CANONICAL;
		assert_ok(put(&c, 1, cases[i].bytes, cases[i].n));
		assert_string_equal(seen, cases[i].canonical);
		assert_ok(put(&c, 0, cases[i].text, strlen(cases[i].text)));
		assert_string_equal(seen, cases[i].canonical);
		c.format = CENOTE_FORMAT_BINARY;
		assert_ok(put(&c, 1, cases[i].bytes, cases[i].n));
		assert_memory_equal(seen, cases[i].bytes, cases[i].n);
		/* A value that is cut has another valid length or is refused. */
		for (n = 0; n < cases[i].n; n++) {
			int r = put(&c, 1, cases[i].bytes, n);

			assert_true(r == CENOTE_OK || r == CENOTE_ERR_PROTOCOL);
			if (n != 0 && n != 4 && n != 7 && n != 8)
				assert_int_equal(r, CENOTE_ERR_PROTOCOL);
		}
	}
}

static void
what_is_no_time_is_refused(void **state)
{
	static const struct time_case cases[] = {
		{ MYSQL_TYPE_DATE, 0, "\x10\x27\x01\x01", 4, NULL, NULL },
		{ MYSQL_TYPE_DATE, 0, "\xe8\x07\x0d\x01", 4, NULL, NULL },
		{ MYSQL_TYPE_DATE, 0, "\xe8\x07\x01\x20", 4, NULL, NULL },
		{ MYSQL_TYPE_DATETIME, 0, "\xe8\x07\x01\x01\x18\0\0", 7, NULL, NULL },
		{ MYSQL_TYPE_DATETIME, 0, "\xe8\x07\x01\x01\0\x3c\0", 7, NULL, NULL },
		{ MYSQL_TYPE_DATETIME, 0, "\xe8\x07\x01\x01\0\0\0\x40\x42\x0f\0", 11,
			NULL, NULL },
		{ MYSQL_TYPE_TIME, 0, "\2\0\0\0\0\0\0\0", 8, NULL, NULL },
		{ MYSQL_TYPE_TIME, 0, "\0\xff\xff\xff\xff\0\0\0", 8, NULL, NULL },
		{ MYSQL_TYPE_TIME, 0, "\0\0\0\0\0\x18\0\0", 8, NULL, NULL },
	};
	struct cnp_column c;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		c = column(cases[i].type, BINARY_FLAG, 0, 26);
		assert_int_equal(
			put(&c, 1, cases[i].bytes, cases[i].n), CENOTE_ERR_PROTOCOL);
	}
	c = column(MYSQL_TYPE_LONG, 0, 0, 11);
	assert_int_equal(put(&c, 1, "\1\0\0", 3), CENOTE_ERR_PROTOCOL);
	assert_int_equal(put(&c, 1, "\1\0\0\0\0", 5), CENOTE_ERR_PROTOCOL);
}

static void
columns_tell_precision_and_name(void **state)
{
	struct cnp_column c = column(MYSQL_TYPE_NEWDECIMAL, 0, 3, 12);

	assert_int_equal(c.type, CENOTE_TYPE_DECIMAL);
	assert_int_equal(c.precision, 10);
	assert_int_equal(c.scale, 3);
	c = column(MYSQL_TYPE_NEWDECIMAL, UNSIGNED_FLAG, 30, 66);
	assert_int_equal(c.precision, 65);
	c = column(MYSQL_TYPE_NEWDECIMAL, 0, 0, 11);
	assert_int_equal(c.precision, 10);
	assert_int_equal(c.scale, 0);
	c = column(MYSQL_TYPE_LONG, UNSIGNED_FLAG | NOT_NULL_FLAG, 0, 10);
	assert_int_equal(c.type, CENOTE_TYPE_UINT64);
	assert_int_equal(c.nullable, 0);
	assert_string_equal(c.type_name.p, "int unsigned");
	c = column(MYSQL_TYPE_BLOB, 0, 0, 65535);
	assert_int_equal(c.type, CENOTE_TYPE_BYTES);
	assert_string_equal(c.type_name.p, "blob");
	c = column((enum enum_field_types)200, 0, 0, 0);
	assert_int_equal(c.type, CENOTE_TYPE_OTHER);
	assert_string_equal(c.type_name.p, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles_are_written_as_the_server_writes_them),
		cmocka_unit_test(floats_have_six_digits_unless_canonical),
		cmocka_unit_test(numbers_read_back_the_same),
		cmocka_unit_test(integers_keep_sign_and_width),
		cmocka_unit_test(bits_are_bytes_and_one_bit_is_bool),
		cmocka_unit_test(dates_and_times_have_every_length),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(columns_tell_precision_and_name),
	};

	return cmocka_run_group_tests_name("mysql_values", tests, setup, teardown);
}
