/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches of rows: the bytes that docs/protocol.md shows, rows that are taken back, and
 * batches that the check must refuse. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/batch.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc a;
	struct cnc_buf b;
	struct cnc_batch w;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_alloc_init(&f.a, 0);
	cnc_buf_init(&f.b, &f.a.mem, 1 << 20);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_buf_finish(&f->b);
	return cnt_alloc_leaks(&f->a) ? -1 : 0;
}

/* The rows ("ab", NULL) and ("", "c") with exactly the bytes in docs/protocol.md. */
static const uint8_t golden[] = {
	2, 0, 0, 0, 2, 0, 0, 0, /* rows, columns */
	10, 0, 0, 0, 11, 0, 0, 0x80, 'a', 'b', 0, 0, /* row 0 */
	8, 0, 0, 0, 10, 0, 0, 0, 0, 'c', 0, /* row 1 */
};

static void
write_golden(struct fixture *f)
{
	assert_ok(cnc_batch_begin(&f->w, &f->b, 2));
	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_put(&f->w, "ab", 2));
	assert_ok(cnc_batch_null(&f->w));
	cnc_batch_row_done(&f->w);
	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_put(&f->w, NULL, 0));
	assert_ok(cnc_batch_put(&f->w, "c", 1));
	cnc_batch_row_done(&f->w);
	assert_int_equal(cnc_batch_end(&f->w), sizeof(golden));
}

static void
the_bytes_are_those_of_the_protocol(void **state)
{
	struct fixture *f = *state;

	write_golden(f);
	assert_int_equal(cnc_buf_len(&f->b), sizeof(golden));
	assert_memory_equal(cnc_buf_head(&f->b), golden, sizeof(golden));
}

static void
a_batch_stands_behind_other_bytes(void **state)
{
	struct fixture *f = *state;

	assert_ok(cnc_buf_append(&f->b, "xxxframe", 8));
	cnc_buf_consume(&f->b, 3);
	write_golden(f);
	assert_memory_equal(cnc_buf_head(&f->b), "frame", 5);
	assert_memory_equal(cnc_buf_head(&f->b) + 5, golden, sizeof(golden));
}

static int
collect(void *user, const uint8_t *row)
{
	const uint8_t ***next = user;

	*(*next)++ = row;
	return CENOTE_OK;
}

static void
a_checked_batch_gives_its_values(void **state)
{
	const uint8_t *rows[2];
	const uint8_t **next = rows;
	uint32_t n_rows = 0;
	size_t len = 99;

	assert_ok(cnc_batch_check(golden, sizeof(golden), 2, collect, &next, &n_rows));
	assert_int_equal(n_rows, 2);
	assert_ptr_equal(next, rows + 2);
	assert_string_equal(cnc_row_value(rows[0], 2, 0, &len), "ab");
	assert_int_equal(len, 2);
	assert_null(cnc_row_value(rows[0], 2, 1, &len));
	assert_string_equal(cnc_row_value(rows[1], 2, 0, &len), "");
	assert_int_equal(len, 0);
	assert_string_equal(cnc_row_value(rows[1], 2, 1, &len), "c");
	assert_int_equal(len, 1);
}

static int
refuse(void *user, const uint8_t *row)
{
	(void)row;
	return ++*(int *)user == 2 ? CENOTE_ERR_NOMEM : CENOTE_OK;
}

static void
what_the_callback_refuses_is_handed_on(void **state)
{
	uint32_t n_rows = 77;
	int calls = 0;

	assert_int_equal(
		cnc_batch_check(golden, sizeof(golden), 2, refuse, &calls, &n_rows),
		CENOTE_ERR_NOMEM);
	assert_int_equal(calls, 2);
	assert_int_equal(n_rows, 77);
}

/* Check a copy of the golden batch, in memory of exactly `len` bytes, with one 32-bit word
 * changed. */
static int
check_changed(size_t at, uint32_t word, size_t len, uint32_t n_columns)
{
	uint8_t *copy = malloc(len);
	uint32_t n_rows = 77;
	int r;

	assert_non_null(copy);
	memcpy(copy, golden, len < sizeof(golden) ? len : sizeof(golden));
	if (len > sizeof(golden))
		memset(copy + sizeof(golden), 0, len - sizeof(golden));
	cnc_put_u32(copy + at, word);
	r = cnc_batch_check(copy, len, n_columns, NULL, NULL, &n_rows);
	assert_int_equal(n_rows, r < 0 ? 77 : 2);
	free(copy);
	return r;
}

static void
each_lie_is_a_protocol_error(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		uint32_t word;
		int extra;
		uint32_t n_columns;
	} cases[] = {
		{ "another number of columns is expected", 0, 2, 0, 3 },
		{ "fewer rows", 0, 1, 0, 2 },
		{ "no rows", 0, 0, 0, 2 },
		{ "more rows", 0, 3, 0, 2 },
		{ "very many rows", 0, UINT32_MAX, 0, 2 },
		{ "another number of columns", 4, 1, 0, 2 },
		{ "a byte behind", 0, 2, 1, 2 },
		{ "an end before the values", 8, 7, 0, 2 },
		{ "an end in the array", 8, 0, 0, 2 },
		{ "an end that is no zero byte", 8, 9, 0, 2 },
		{ "an end far out", 8, 0x7fffffff, 0, 2 },
		{ "an end just out", 24, 11, 0, 2 },
		{ "a NULL that is not empty", 8, 10 | CNC_BATCH_NULL, 0, 2 },
		{ "ends not in order", 12, 10 | CNC_BATCH_NULL, 0, 2 },
	};

	assert_ok(check_changed(0, 2, sizeof(golden), 2));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int r = check_changed(cases[i].at, cases[i].word,
			sizeof(golden) + (size_t)cases[i].extra, cases[i].n_columns);

		if (r != CENOTE_ERR_PROTOCOL)
			print_error("%s\n", cases[i].what);
		assert_int_equal(r, CENOTE_ERR_PROTOCOL);
	}
}

static void
rows_without_columns_are_counted_and_bounded(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[CNC_BATCH_HEADER] = { 0 };
	uint32_t n_rows = 0;

	assert_ok(cnc_batch_begin(&f->w, &f->b, 0));
	for (uint32_t i = 0; i < CNC_BATCH_EMPTY_ROWS_MAX; i++) {
		assert_ok(cnc_batch_row(&f->w));
		cnc_batch_row_done(&f->w);
	}
	assert_int_equal(cnc_batch_row(&f->w), CENOTE_ERR_LIMIT);
	cnc_batch_row_undo(&f->w);
	assert_int_equal(cnc_batch_end(&f->w), CNC_BATCH_HEADER);
	assert_ok(cnc_batch_check(
		cnc_buf_head(&f->b), CNC_BATCH_HEADER, 0, NULL, NULL, &n_rows));
	assert_int_equal(n_rows, CNC_BATCH_EMPTY_ROWS_MAX);
	cnc_put_u32(bytes, CNC_BATCH_EMPTY_ROWS_MAX + 1);
	assert_int_equal(cnc_batch_check(bytes, sizeof(bytes), 0, NULL, NULL, &n_rows),
		CENOTE_ERR_PROTOCOL);
}

static void
too_many_columns_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		cnc_batch_begin(&f->w, &f->b, CNC_BATCH_COLS_MAX + 1), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_len(&f->b), 0);
	assert_ok(cnc_batch_begin(&f->w, &f->b, CNC_BATCH_COLS_MAX));
	assert_ok(cnc_batch_row(&f->w));
	for (uint32_t i = 0; i < CNC_BATCH_COLS_MAX; i++)
		assert_ok(cnc_batch_put(&f->w, "x", 1));
	cnc_batch_row_done(&f->w);
	cnc_batch_end(&f->w);
	assert_ok(cnc_batch_check(cnc_buf_head(&f->b), cnc_buf_len(&f->b),
		CNC_BATCH_COLS_MAX, NULL, NULL, &(uint32_t){ 0 }));
}

static void
a_row_past_the_bound_is_undone(void **state)
{
	struct fixture *f = *state;
	char value[100] = { 0 };

	f->b.max = sizeof(golden) + 50;
	write_golden(f);
	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_put(&f->w, "abc", 3));
	assert_int_equal(cnc_batch_put(&f->w, value, sizeof(value)), CENOTE_ERR_LIMIT);
	cnc_batch_row_undo(&f->w);
	cnc_batch_row_undo(&f->w);
	assert_int_equal(cnc_batch_len(&f->w), sizeof(golden));
	assert_int_equal(cnc_batch_end(&f->w), sizeof(golden));
	assert_memory_equal(cnc_buf_head(&f->b), golden, sizeof(golden));
}

static void
undo_without_a_row_keeps_the_header(void **state)
{
	struct fixture *f = *state;

	assert_ok(cnc_batch_begin(&f->w, &f->b, 2));
	cnc_batch_row_undo(&f->w);
	assert_int_equal(cnc_batch_end(&f->w), CNC_BATCH_HEADER);
}

static void
a_value_of_absurd_size_is_refused(void **state)
{
	struct fixture *f = *state;
	char *room;

	f->b.max = SIZE_MAX;
	assert_ok(cnc_batch_begin(&f->w, &f->b, 1));
	assert_ok(cnc_batch_row(&f->w));
	assert_int_equal(cnc_batch_room(&f->w, SIZE_MAX, &room), CENOTE_ERR_LIMIT);
	assert_int_equal(
		cnc_batch_room(&f->w, CNC_BATCH_ROW_MAX - 3, &room), CENOTE_ERR_LIMIT);
}

static void
room_is_filled_in_place(void **state)
{
	struct fixture *f = *state;
	char unused[500], *room = unused;

	assert_ok(cnc_batch_begin(&f->w, &f->b, 2));
	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_room(&f->w, 500, &room));
	memset(room, 'z', 500);
	room[0] = 'a';
	room[1] = 'b';
	cnc_batch_room_done(&f->w, 2);
	assert_ok(cnc_batch_null(&f->w));
	cnc_batch_row_done(&f->w);
	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_room(&f->w, 0, &room));
	cnc_batch_room_done(&f->w, 0);
	assert_ok(cnc_batch_room(&f->w, 1, &room));
	*room = 'c';
	cnc_batch_room_done(&f->w, 1);
	cnc_batch_row_done(&f->w);
	assert_int_equal(cnc_batch_end(&f->w), sizeof(golden));
	assert_memory_equal(cnc_buf_head(&f->b), golden, sizeof(golden));
}

/* A row of three values of `len` bytes and a NULL is the same, put value by value or filled in
 * one go. */
static void
assert_filled_as_put(struct fixture *f, const uint8_t *bytes, size_t len)
{
	struct cnc_batch_fill fill = { 0 };
	uint8_t *copy = malloc(3 * len + 1), *by_value;
	size_t row_len;

	assert_non_null(copy);
	memcpy(copy, bytes, 3 * len);
	cnc_buf_clear(&f->b, 0);
	assert_ok(cnc_batch_begin(&f->w, &f->b, 4));
	assert_ok(cnc_batch_row(&f->w));
	for (size_t i = 0; i < 3; i++)
		assert_ok(cnc_batch_put(&f->w, bytes + i * len, len));
	assert_ok(cnc_batch_null(&f->w));
	cnc_batch_row_done(&f->w);
	row_len = cnc_batch_len(&f->w) - CNC_BATCH_HEADER;
	by_value = malloc(row_len);
	assert_non_null(by_value);
	memcpy(by_value, cnc_buf_head(&f->b) + CNC_BATCH_HEADER, row_len);

	assert_ok(cnc_batch_row(&f->w));
	assert_ok(cnc_batch_fill_begin(&f->w, 3 * len + 3, &fill));
	for (size_t i = 0; i < 3; i++)
		cnc_batch_fill_value(&fill, copy + i * len, len, (3 - i) * len, 0);
	cnc_batch_fill_value(&fill, copy, 0, 3 * len, CNC_BATCH_NULL);
	cnc_batch_fill_end(&f->w, &fill);
	cnc_batch_row_done(&f->w);
	assert_int_equal(cnc_batch_len(&f->w), CNC_BATCH_HEADER + 2 * row_len);
	assert_memory_equal(
		cnc_buf_head(&f->b) + CNC_BATCH_HEADER + row_len, by_value, row_len);
	free(by_value);
	free(copy);
}

static void
a_row_is_filled_in_one_go(void **state)
{
	uint8_t bytes[3 * 100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	for (size_t len = 0; len <= 100; len++)
		assert_filled_as_put(*state, bytes, len);
}

/* Put a row whose values depend on `i`. If memory runs out, undo the row. */
static int
put_row(struct cnc_batch *w, int i)
{
	char value[64];
	int r;

	memset(value, 'a' + i % 26, sizeof(value));
	r = cnc_batch_row(w);
	if (r == CENOTE_OK)
		r = cnc_batch_put(w, value, (size_t)i % sizeof(value));
	if (r == CENOTE_OK)
		r = cnc_batch_null(w);
	if (r == CENOTE_OK)
		r = cnc_batch_put(w, &i, sizeof(i));
	if (r < 0)
		cnc_batch_row_undo(w);
	else
		cnc_batch_row_done(w);
	return r;
}

static void
every_failing_allocation_leaves_the_rows_before(void **state)
{
	uint8_t *expected = NULL;
	size_t expected_len = 0;
	size_t n_failures = 0;

	for (size_t fail_at = 0;; fail_at++) {
		struct cnc_batch w;
		struct cnt_alloc a;
		struct cnc_buf b;
		int r;

		cnt_alloc_init(&a, fail_at);
		cnc_buf_init(&b, &a.mem, 1 << 20);
		r = cnc_batch_begin(&w, &b, 3);
		if (r == CENOTE_ERR_NOMEM)
			r = cnc_batch_begin(&w, &b, 3);
		assert_ok(r);
		for (int i = 0; i < 300; i++) {
			r = put_row(&w, i);
			if (r == CENOTE_ERR_NOMEM)
				r = put_row(&w, i);
			assert_ok(r);
		}
		cnc_batch_end(&w);
		if (fail_at == 0) {
			expected_len = cnc_buf_len(&b);
			expected = malloc(expected_len);
			assert_non_null(expected);
			memcpy(expected, cnc_buf_head(&b), expected_len);
		}
		assert_int_equal(cnc_buf_len(&b), expected_len);
		assert_memory_equal(cnc_buf_head(&b), expected, expected_len);
		cnc_buf_finish(&b);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (fail_at && !cnt_alloc_has_failed(&a))
			break;
		n_failures += fail_at > 0;
	}
	assert_true(n_failures > 3);
	free(expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_bytes_are_those_of_the_protocol),
		TEST(a_batch_stands_behind_other_bytes),
		TEST(a_checked_batch_gives_its_values),
		TEST(what_the_callback_refuses_is_handed_on),
		TEST(each_lie_is_a_protocol_error),
		TEST(rows_without_columns_are_counted_and_bounded),
		TEST(too_many_columns_are_refused),
		TEST(a_row_past_the_bound_is_undone),
		TEST(undo_without_a_row_keeps_the_header),
		TEST(a_value_of_absurd_size_is_refused),
		TEST(room_is_filled_in_place),
		TEST(a_row_is_filled_in_one_go),
		TEST(every_failing_allocation_leaves_the_rows_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
