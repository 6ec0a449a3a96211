/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding and decoding of column lists and parameter lists, and what a failed
 * allocation leaves. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/columns.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc alloc;
	struct cnc_arena arena;
	struct cnc_buf b;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	if (!f)
		return -1;
	cnt_alloc_init(&f->alloc, 0);
	cnc_arena_init(&f->arena, &f->alloc.mem);
	cnc_buf_init(&f->b, &f->alloc.mem, 1 << 20);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	size_t leaks;

	cnc_arena_finish(&f->arena);
	cnc_buf_finish(&f->b);
	leaks = cnt_alloc_leaks(&f->alloc);
	free(f);
	return leaks > 0 ? -1 : 0;
}

static void
fill(struct cnp_column *c)
{
	static const struct cnp_column unknown = CNP_COLUMN_INIT;

	c[0] = unknown;
	c[1] = unknown;
	c[1].name = cnp_str("label");
	c[1].org_name = cnp_str("name");
	c[1].table = cnp_str("t");
	c[1].org_table = cnp_str("tables");
	c[1].schema = cnp_str("s");
	c[1].catalog = cnp_str("c");
	c[1].type_name = cnp_str("VARCHAR(9)");
	c[1].type = CENOTE_TYPE_TEXT;
	c[1].format = CENOTE_FORMAT_BINARY;
	c[1].nullable = 0;
	c[1].native_type = 0xfffffffe;
	c[1].modifier = 13;
	c[1].native_flags = 3;
	c[1].charset = 45;
	c[1].length = INT64_MAX;
	c[1].precision = -2;
	c[1].scale = 7;
	c[1].table_id = 8;
	c[1].attnum = 9;
}

static void
columns_come_back_as_they_were(void **state)
{
	struct fixture *f = *state;
	struct cnp_column c[2], *got;
	uint32_t n;

	fill(c);
	assert_ok(cnp_columns_encode(&f->b, c, 2));
	assert_ok(cnp_columns_decode(
		cnc_buf_head(&f->b), cnc_buf_len(&f->b), &f->arena, &got, &n));
	/* nothing is borrowed from the payload */
	memset(cnc_buf_head(&f->b), 0xee, cnc_buf_len(&f->b));
	assert_int_equal(n, 2);
	assert_string_equal(got[0].name.p, "");
	assert_int_equal(got[0].nullable, 2);
	assert_int_equal(got[0].modifier, -1);
	assert_true(got[0].length == -1);
	assert_string_equal(got[1].name.p, "label");
	assert_string_equal(got[1].org_name.p, "name");
	assert_string_equal(got[1].table.p, "t");
	assert_string_equal(got[1].org_table.p, "tables");
	assert_string_equal(got[1].schema.p, "s");
	assert_string_equal(got[1].catalog.p, "c");
	assert_string_equal(got[1].type_name.p, "VARCHAR(9)");
	assert_int_equal(got[1].type, CENOTE_TYPE_TEXT);
	assert_int_equal(got[1].format, CENOTE_FORMAT_BINARY);
	assert_int_equal(got[1].nullable, 0);
	assert_int_equal(got[1].native_type, 0xfffffffe);
	assert_int_equal(got[1].modifier, 13);
	assert_int_equal(got[1].native_flags, 3);
	assert_int_equal(got[1].charset, 45);
	assert_true(got[1].length == INT64_MAX);
	assert_int_equal(got[1].precision, -2);
	assert_int_equal(got[1].scale, 7);
	assert_int_equal(got[1].table_id, 8);
	assert_int_equal(got[1].attnum, 9);
}

static void
columns_cut_anywhere_or_too_long_are_refused(void **state)
{
	struct fixture *f = *state;
	struct cnp_column c[2], *got;
	uint8_t *copy;
	uint32_t count;
	size_t n, whole;

	fill(c);
	assert_ok(cnp_columns_encode(&f->b, c, 2));
	whole = cnc_buf_len(&f->b);
	assert_ok(cnc_buf_u8(&f->b, 0));
	for (n = 0; n <= whole + 1; n++) {
		copy = malloc(n + 1);
		assert_non_null(copy);
		memcpy(copy + 1, cnc_buf_head(&f->b), n);
		assert_int_equal(cnp_columns_decode(copy + 1, n, &f->arena, &got, &count),
			n == whole ? CENOTE_OK : CENOTE_ERR_PROTOCOL);
		free(copy);
	}
}

static void
a_count_is_not_believed_beyond_the_bytes_behind_it(void **state)
{
	static const uint8_t many[8] = { 0xff, 0xff, 0, 0 };
	static const uint8_t huge[8] = { 0xff, 0xff, 0xff, 0xff };
	struct fixture *f = *state;
	struct cnp_column *columns;
	struct cnp_str blob = { NULL, 8 };
	struct cnc_value *values;
	struct cnp_param *params;
	uint32_t n;

	assert_int_equal(cnp_columns_decode(many, 8, &f->arena, &columns, &n),
		CENOTE_ERR_PROTOCOL);
	assert_int_equal(cnp_columns_decode(huge, 8, &f->arena, &columns, &n),
		CENOTE_ERR_PROTOCOL);
	assert_int_equal(
		cnp_params_decode(many, 8, &f->arena, &params, &n), CENOTE_ERR_PROTOCOL);
	assert_int_equal(
		cnp_params_decode(huge, 8, &f->arena, &params, &n), CENOTE_ERR_PROTOCOL);
	blob.p = (const char *)many;
	assert_int_equal(
		cnp_values_decode(blob, &f->arena, &values, &n), CENOTE_ERR_PROTOCOL);
	assert_int_equal(f->alloc.n_calls, 0);
}

static void
a_reserved_byte_must_be_zero(void **state)
{
	struct fixture *f = *state;
	struct cnp_column c = CNP_COLUMN_INIT, *got;
	uint8_t bytes[4 + 79], *head;
	uint32_t n;

	assert_ok(cnp_columns_encode(&f->b, &c, 1));
	head = cnc_buf_head(&f->b);
	if (!head || cnc_buf_len(&f->b) != sizeof bytes) {
		fail();
		return;
	}
	memcpy(bytes, head, sizeof bytes);
	bytes[4 + 7 * 5 + 3] = 1;
	assert_int_equal(cnp_columns_decode(bytes, sizeof bytes, &f->arena, &got, &n),
		CENOTE_ERR_PROTOCOL);
}

static void
more_columns_than_a_result_may_have_are_refused(void **state)
{
	static const struct cnp_column unknown = CNP_COLUMN_INIT;
	struct fixture *f = *state;

	assert_int_equal(cnp_columns_encode(&f->b, &unknown, 65536), CENOTE_ERR_LIMIT);
	f->b.max = 100;
	assert_ok(cnc_buf_u8(&f->b, 1));
	assert_ok(cnp_columns_encode(&f->b, &unknown, 1));
	assert_int_equal(cnp_columns_encode(&f->b, &unknown, 1), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_len(&f->b), 1 + 4 + 79);
}

static void
parameters_come_back_as_they_were(void **state)
{
	struct fixture *f = *state;
	struct cnp_param p[2] = { { CENOTE_TYPE_INT64, 20, { ":a", 2 } },
		{ CENOTE_TYPE_NULL, 0, { NULL, 0 } } };
	struct cnp_param *got;
	uint32_t n;

	assert_ok(cnp_params_encode(&f->b, p, 2));
	assert_ok(cnp_params_decode(
		cnc_buf_head(&f->b), cnc_buf_len(&f->b), &f->arena, &got, &n));
	assert_int_equal(n, 2);
	assert_int_equal(got[0].type, CENOTE_TYPE_INT64);
	assert_int_equal(got[0].native_type, 20);
	assert_string_equal(got[0].name.p, ":a");
	assert_string_equal(got[1].name.p, "");
	assert_int_equal(cnp_params_decode(cnc_buf_head(&f->b), cnc_buf_len(&f->b) - 1,
				 &f->arena, &got, &n),
		CENOTE_ERR_PROTOCOL);
}

static void
values_come_back_and_an_empty_blob_is_none(void **state)
{
	struct fixture *f = *state;
	struct cnc_value v[2] = { { .type = CENOTE_TYPE_INT64 },
		{ .type = CENOTE_TYPE_TEXT, .bytes = "x", .len = 1 } };
	struct cnc_value *got = v;
	struct cnp_str blob = { NULL, 0 };
	uint32_t n = 99;

	assert_ok(cnp_values_decode(blob, &f->arena, &got, &n));
	assert_int_equal(n, 0);
	v[0].as.i64 = -5;
	assert_ok(cnc_buf_u16(&f->b, 2));
	assert_ok(cnc_value_encode(&f->b, &v[0]));
	assert_ok(cnc_value_encode(&f->b, &v[1]));
	blob.p = (const char *)cnc_buf_head(&f->b);
	blob.n = cnc_buf_len(&f->b);
	assert_ok(cnp_values_decode(blob, &f->arena, &got, &n));
	assert_int_equal(n, 2);
	assert_true(got[0].as.i64 == -5);
	assert_string_equal(got[1].bytes, "x");
	blob.n--;
	assert_int_equal(
		cnp_values_decode(blob, &f->arena, &got, &n), CENOTE_ERR_PROTOCOL);
	blob.n = 1;
	assert_int_equal(
		cnp_values_decode(blob, &f->arena, &got, &n), CENOTE_ERR_PROTOCOL);
}

/* Encode and decode with the n-th allocation failing; returns whether one failed. */
static int
run_with_failure(size_t n)
{
	struct cnp_column c[2], *got;
	struct cnt_alloc alloc;
	struct cnc_arena arena;
	struct cnc_buf b;
	uint32_t count;
	int r, failed;

	fill(c);
	cnt_alloc_init(&alloc, n);
	cnc_arena_init(&arena, &alloc.mem);
	cnc_buf_init(&b, &alloc.mem, 1 << 20);
	r = cnp_columns_encode(&b, c, 2);
	if (r == CENOTE_OK)
		r = cnp_columns_decode(
			cnc_buf_head(&b), cnc_buf_len(&b), &arena, &got, &count);
	else
		assert_int_equal(cnc_buf_len(&b), 0);
	failed = cnt_alloc_has_failed(&alloc);
	assert_int_equal(r, failed ? CENOTE_ERR_NOMEM : CENOTE_OK);
	cnc_arena_finish(&arena);
	cnc_buf_finish(&b);
	assert_int_equal(cnt_alloc_leaks(&alloc), 0);
	return failed;
}

static void
each_failing_allocation_is_told(void **state)
{
	size_t n = 1;

	while (run_with_failure(n))
		n++;
	assert_true(n > 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(columns_come_back_as_they_were),
		TEST(columns_cut_anywhere_or_too_long_are_refused),
		TEST(a_count_is_not_believed_beyond_the_bytes_behind_it),
		TEST(a_reserved_byte_must_be_zero),
		TEST(more_columns_than_a_result_may_have_are_refused),
		TEST(parameters_come_back_as_they_were),
		TEST(values_come_back_and_an_empty_blob_is_none),
		cmocka_unit_test(each_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
