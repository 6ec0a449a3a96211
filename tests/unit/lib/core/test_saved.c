/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame of a file that holds a result (core/saved.h). It needs no server and no file. */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/saved.h"

#define WRITTEN UINT64_C(1700000000123456)

struct file {
	struct cnc_buf b;
};

static int
setup(void **state)
{
	static struct file f;

	cnc_buf_init(&f.b, &cnc_mem_default, 4096);
	if (cnc_saved_begin(&f.b, "the key", 7) < 0 ||
		cnc_buf_append(&f.b, "body", 4) < 0)
		return -1;
	cnc_saved_end(&f.b, WRITTEN, 5000);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct file *f = *state;

	cnc_buf_finish(&f->b);
	return 0;
}

/* Read `len` bytes in memory that ends with them. */
static int
read_copy(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	struct cnc_saved s;
	int r;

	assert_non_null(copy);
	if (len > 0)
		memcpy(copy, bytes, len);
	r = cnc_saved_read(copy, len, &s);
	free(copy);
	return r;
}

static void
what_was_written_is_read(void **state)
{
	struct file *f = *state;
	struct cnc_saved s;

	assert_ok(cnc_saved_read(cnc_buf_head(&f->b), cnc_buf_len(&f->b), &s));
	assert_int_equal(s.written_us, WRITTEN);
	assert_int_equal(s.keep_ms, 5000);
	assert_int_equal(s.key_len, 7);
	assert_string_equal(s.key, "the key");
	assert_int_equal(s.body_len, 4);
	assert_memory_equal(s.body, "body", 4);
}

static void
a_file_that_is_cut_is_refused(void **state)
{
	struct file *f = *state;

	for (size_t n = 0; n < cnc_buf_len(&f->b); n++)
		assert_int_equal(read_copy(cnc_buf_head(&f->b), n), CENOTE_ERR_PROTOCOL);
	assert_ok(cnc_buf_u8(&f->b, 0));
	assert_int_equal(
		read_copy(cnc_buf_head(&f->b), cnc_buf_len(&f->b)), CENOTE_ERR_PROTOCOL);
}

static void
a_file_with_any_wrong_byte_is_refused(void **state)
{
	struct file *f = *state;
	uint8_t *bytes = cnc_buf_head(&f->b);

	for (size_t i = 0; i < cnc_buf_len(&f->b); i++) {
		for (int bit = 0; bit < 8; bit++) {
			bytes[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(read_copy(bytes, cnc_buf_len(&f->b)),
				CENOTE_ERR_PROTOCOL);
			bytes[i] ^= (uint8_t)(1 << bit);
		}
	}
	assert_ok(read_copy(bytes, cnc_buf_len(&f->b)));
}

/* A list of files shows the key of a long file without reading all of it. */
static void
the_head_can_be_read_alone(void **state)
{
	struct file *f = *state;
	size_t len = cnc_buf_len(&f->b);
	struct cnc_saved s;

	assert_ok(cnc_saved_peek(cnc_buf_head(&f->b), len - 4, len, &s));
	assert_string_equal(s.key, "the key");
	assert_int_equal(s.body_len, 0);
	assert_int_equal(cnc_saved_peek(cnc_buf_head(&f->b), len - 5, len, &s),
		CENOTE_ERR_PROTOCOL);
	assert_int_equal(cnc_saved_peek(cnc_buf_head(&f->b), len, len + 1, &s),
		CENOTE_ERR_PROTOCOL);
}

static void
a_result_is_fresh_for_its_time_only(void **state)
{
	struct cnc_saved s = { .written_us = WRITTEN, .keep_ms = 5000 };

	assert_true(cnc_saved_is_fresh(&s, WRITTEN, 0));
	assert_true(cnc_saved_is_fresh(&s, WRITTEN + 4999999, 0));
	assert_false(cnc_saved_is_fresh(&s, WRITTEN + 5000000, 0));
	/* the reader's own limit */
	assert_true(cnc_saved_is_fresh(&s, WRITTEN + 999999, 1000));
	assert_false(cnc_saved_is_fresh(&s, WRITTEN + 1000000, 1000));
	assert_false(cnc_saved_is_fresh(&s, WRITTEN + 5000000, 60000));
	s.keep_ms = 0;
	assert_true(cnc_saved_is_fresh(&s, UINT64_MAX, 0));
}

static void
a_clock_that_went_back_makes_no_result_fresh(void **state)
{
	struct cnc_saved s = { .written_us = WRITTEN, .keep_ms = 0 };

	assert_false(cnc_saved_is_fresh(&s, WRITTEN - 1, 0));
	assert_false(cnc_saved_is_fresh(&s, 0, 60000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_was_written_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_cut_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_file_with_any_wrong_byte_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_head_can_be_read_alone, setup, teardown),
		cmocka_unit_test(a_result_is_fresh_for_its_time_only),
		cmocka_unit_test(a_clock_that_went_back_makes_no_result_fresh),
	};

	return cmocka_run_group_tests_name("core_saved", tests, NULL, NULL);
}
