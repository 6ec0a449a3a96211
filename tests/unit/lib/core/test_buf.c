/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte buffer: append, consume, grow up to its limit, and what a failed allocation
 * leaves. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/buf.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc a;
	struct cnc_buf b;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_alloc_init(&f.a, 0);
	cnc_buf_init(&f.b, &f.a.mem, 1000);
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

static void
an_empty_buffer_holds_no_memory(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->a.n_calls, 0);
	assert_int_equal(cnc_buf_len(&f->b), 0);
	assert_null(cnc_buf_head(&f->b));
	cnc_buf_consume(&f->b, 0);
	cnc_buf_truncate(&f->b, 0);
	cnc_buf_clear(&f->b, 0);
}

static void
append_refuses_past_the_bound(void **state)
{
	struct fixture *f = *state;
	char bytes[1001] = { 0 };
	uint8_t *room;

	assert_int_equal(cnc_buf_append(&f->b, bytes, 1001), CENOTE_ERR_LIMIT);
	assert_ok(cnc_buf_append(&f->b, bytes, 999));
	assert_int_equal(cnc_buf_append(&f->b, bytes, 2), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_reserve(&f->b, SIZE_MAX, &room), CENOTE_ERR_LIMIT);
	assert_ok(cnc_buf_append(&f->b, bytes, 1));
	assert_int_equal(cnc_buf_append(&f->b, bytes, 1), CENOTE_ERR_LIMIT);
	assert_ok(cnc_buf_append(&f->b, bytes, 0));
	assert_int_equal(cnc_buf_len(&f->b), 1000);
	assert_true(f->a.peak_bytes <= 2 * 1000);
	assert_true(f->b.cap <= 1000);
}

static void
what_was_consumed_makes_room(void **state)
{
	struct fixture *f = *state;
	uint8_t next_in = 0, next_out = 0;

	for (int round = 0; round < 5000; round++) {
		size_t n = 1 + (size_t)round % 97;

		while (cnc_buf_len(&f->b) + n <= 1000 && cnc_buf_len(&f->b) < 900) {
			for (size_t i = 0; i < n; i++)
				assert_ok(cnc_buf_u8(&f->b, next_in++));
		}
		for (size_t i = 0; i < n; i++)
			assert_int_equal(cnc_buf_head(&f->b)[i], next_out++);
		cnc_buf_consume(&f->b, n);
	}
	assert_true(f->b.cap <= 1000);
}

static void
moving_keeps_content_at_every_offset(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[1000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t gone = 0; gone <= 1000; gone += 50) {
		cnc_buf_clear(&f->b, 0);
		assert_ok(cnc_buf_append(&f->b, bytes, 1000));
		cnc_buf_consume(&f->b, gone);
		assert_ok(cnc_buf_append(&f->b, bytes, gone));
		assert_int_equal(cnc_buf_len(&f->b), 1000);
		assert_memory_equal(cnc_buf_head(&f->b), bytes + gone, 1000 - gone);
		if (gone)
			assert_memory_equal(
				cnc_buf_head(&f->b) + 1000 - gone, bytes, gone);
	}
}

static void
reserve_counts_nothing_until_commit(void **state)
{
	struct fixture *f = *state;
	uint8_t *room = NULL;

	assert_ok(cnc_buf_reserve(&f->b, 10, &room));
	assert_non_null(room);
	memset(room, 'r', 10);
	assert_int_equal(cnc_buf_len(&f->b), 0);
	cnc_buf_commit(&f->b, 4);
	assert_int_equal(cnc_buf_len(&f->b), 4);
	assert_memory_equal(cnc_buf_head(&f->b), "rrrr", 4);
	room = NULL;
	assert_ok(cnc_buf_reserve(&f->b, 0, &room));
	assert_non_null(room);
}

static void
reserving_nothing_gives_room_at_once(void **state)
{
	struct fixture *f = *state;
	uint8_t *room = NULL;
	struct cnc_buf none;

	assert_ok(cnc_buf_reserve(&f->b, 0, &room));
	assert_non_null(room);
	cnc_buf_init(&none, &f->a.mem, 0);
	room = NULL;
	assert_ok(cnc_buf_reserve(&none, 0, &room));
	assert_non_null(room);
	assert_int_equal(cnc_buf_u8(&none, 1), CENOTE_ERR_LIMIT);
	cnc_buf_finish(&none);
}

static void
a_buffer_at_its_bound_moves_without_memory(void **state)
{
	struct fixture *f = *state;
	char bytes[1000] = { 0 };
	size_t n_calls;

	assert_ok(cnc_buf_append(&f->b, bytes, 1000));
	n_calls = f->a.n_calls;
	for (size_t n = 1; n < 1000; n += 100) {
		cnc_buf_consume(&f->b, n);
		assert_ok(cnc_buf_append(&f->b, bytes, n));
	}
	assert_int_equal(f->a.n_calls, n_calls);
}

static void
truncate_drops_at_the_tail(void **state)
{
	struct fixture *f = *state;

	assert_ok(cnc_buf_append(&f->b, "abcdef", 6));
	cnc_buf_consume(&f->b, 2);
	cnc_buf_truncate(&f->b, 3);
	assert_int_equal(cnc_buf_len(&f->b), 3);
	assert_memory_equal(cnc_buf_head(&f->b), "cde", 3);
	cnc_buf_truncate(&f->b, 0);
	assert_int_equal(cnc_buf_len(&f->b), 0);
	assert_int_equal(f->b.head, 0);
}

static void
clear_gives_back_what_is_above_keep(void **state)
{
	struct fixture *f = *state;
	char bytes[900] = { 0 };

	assert_ok(cnc_buf_append(&f->b, bytes, 900));
	cnc_buf_clear(&f->b, 300);
	assert_int_equal(cnc_buf_len(&f->b), 0);
	assert_true(f->a.live_bytes <= 300 && f->a.live_bytes > 0);
	cnc_buf_clear(&f->b, 300);
	assert_ok(cnc_buf_append(&f->b, bytes, 900));
	f->a.fail_at = f->a.n_calls + 1;
	cnc_buf_clear(&f->b, 300);
	assert_int_equal(f->a.live_bytes, 0);
	assert_ok(cnc_buf_append(&f->b, bytes, 900));
	cnc_buf_clear(&f->b, 0);
	assert_int_equal(f->a.live_bytes, 0);
}

static void
every_failing_allocation_changes_nothing(void **state)
{
	struct fixture *f = *state;
	size_t n_failures = 0;

	(void)f;
	for (size_t fail_at = 1;; fail_at++) {
		uint8_t in = 0, out = 0;
		struct cnt_alloc a;
		struct cnc_buf b;

		cnt_alloc_init(&a, fail_at);
		cnc_buf_init(&b, &a.mem, 1 << 16);
		for (int i = 0; i < 20000; i++) {
			int r = cnc_buf_u8(&b, in);

			assert_true(r == CENOTE_OK || r == CENOTE_ERR_NOMEM);
			if (r == CENOTE_ERR_NOMEM)
				assert_ok(cnc_buf_u8(&b, in));
			in++;
			if (i % 3 == 0) {
				assert_int_equal(b.data[b.head], out++);
				cnc_buf_consume(&b, 1);
			}
		}
		while (cnc_buf_len(&b)) {
			assert_int_equal(b.data[b.head], out++);
			cnc_buf_consume(&b, 1);
		}
		assert_int_equal(in, out);
		cnc_buf_finish(&b);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a))
			break;
		n_failures++;
	}
	assert_true(n_failures > 3);
}

static void
a_failing_growth_uses_the_room_that_there_is(void **state)
{
	struct fixture *f = *state;
	char bytes[256] = { 0 };

	assert_ok(cnc_buf_append(&f->b, bytes, 256));
	assert_int_equal(f->b.cap, 256);
	cnc_buf_consume(&f->b, 10);
	f->a.fail_at = f->a.n_calls + 1;
	assert_ok(cnc_buf_append(&f->b, bytes, 10));
	assert_int_equal(f->a.n_failed, 1);
	assert_int_equal(cnc_buf_len(&f->b), 256);
	f->a.fail_at = f->a.n_calls + 1;
	assert_int_equal(cnc_buf_append(&f->b, bytes, 1), CENOTE_ERR_NOMEM);
	assert_int_equal(cnc_buf_len(&f->b), 256);
}

static void
numbers_are_little_endian_and_read_back(void **state)
{
	static const uint8_t expected[] = { 0x12, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12,
		0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 3, 0, 0, 0, 'a', 0, 'b',
		0 };
	struct fixture *f = *state;
	struct cnc_reader r;
	const char *text;
	uint8_t bytes[8];
	size_t len;

	assert_ok(cnc_buf_u8(&f->b, 0x12));
	assert_ok(cnc_buf_u16(&f->b, 0x1234));
	assert_ok(cnc_buf_u32(&f->b, 0x12345678));
	cnc_put_u64(bytes, UINT64_C(0x0123456789abcdef));
	assert_ok(cnc_buf_append(&f->b, bytes, sizeof(bytes)));
	assert_ok(cnc_buf_str(&f->b, "a\0b", 3));
	assert_int_equal(cnc_buf_len(&f->b), sizeof(expected));
	assert_memory_equal(cnc_buf_head(&f->b), expected, sizeof(expected));

	cnc_reader_init(&r, expected, sizeof(expected));
	assert_int_equal(cnc_read_u8(&r), 0x12);
	assert_int_equal(cnc_read_u16(&r), 0x1234);
	assert_int_equal(cnc_read_u32(&r), 0x12345678);
	assert_true(cnc_read_u64(&r) == UINT64_C(0x0123456789abcdef));
	assert_int_equal(cnc_reader_end(&r), CENOTE_ERR_PROTOCOL);
	text = cnc_read_str(&r, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
	assert_ok(cnc_reader_end(&r));
}

static void
a_failed_getter_stays_bad_and_gives_zeroes(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct cnc_reader r;
	size_t len = 99;

	cnc_reader_init(&r, bytes, sizeof(bytes));
	assert_true(cnc_read_u64(&r) == 0);
	assert_true(r.bad);
	assert_int_equal(cnc_read_u8(&r), 0);
	assert_int_equal(cnc_read_u16(&r), 0);
	assert_int_equal(cnc_read_u32(&r), 0);
	assert_null(cnc_read_bytes(&r, 1));
	assert_string_equal(cnc_read_str(&r, &len), "");
	assert_int_equal(len, 0);
	assert_int_equal(cnc_reader_end(&r), CENOTE_ERR_PROTOCOL);
}

static void
a_text_is_refused_when_cut_or_not_ended(void **state)
{
	static const uint8_t good[] = { 2, 0, 0, 0, 'a', 'b', 0 };
	static const uint8_t no_zero[] = { 2, 0, 0, 0, 'a', 'b', 'c' };
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff, 'a', 'b', 0 };
	struct cnc_reader r;
	size_t len;

	for (size_t n = 0; n < sizeof(good); n++) {
		cnc_reader_init(&r, good, n);
		assert_string_equal(cnc_read_str(&r, &len), "");
		assert_true(r.bad && len == 0);
	}
	cnc_reader_init(&r, no_zero, sizeof(no_zero));
	cnc_read_str(&r, &len);
	assert_true(r.bad && len == 0);
	cnc_reader_init(&r, huge, sizeof(huge));
	cnc_read_str(&r, &len);
	assert_true(r.bad && len == 0);
}

static void
a_reader_over_nothing_is_at_its_end(void **state)
{
	struct cnc_reader r;

	cnc_reader_init(&r, NULL, 0);
	assert_ok(cnc_reader_end(&r));
	assert_non_null(cnc_read_bytes(&r, 0));
	assert_null(cnc_read_bytes(&r, 1));
	assert_int_equal(cnc_reader_end(&r), CENOTE_ERR_PROTOCOL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_buffer_holds_no_memory),
		TEST(append_refuses_past_the_bound),
		TEST(what_was_consumed_makes_room),
		TEST(moving_keeps_content_at_every_offset),
		TEST(reserve_counts_nothing_until_commit),
		TEST(reserving_nothing_gives_room_at_once),
		TEST(a_buffer_at_its_bound_moves_without_memory),
		TEST(truncate_drops_at_the_tail),
		TEST(clear_gives_back_what_is_above_keep),
		TEST(every_failing_allocation_changes_nothing),
		TEST(a_failing_growth_uses_the_room_that_there_is),
		TEST(numbers_are_little_endian_and_read_back),
		TEST(a_failed_getter_stays_bad_and_gives_zeroes),
		TEST(a_text_is_refused_when_cut_or_not_ended),
		TEST(a_reader_over_nothing_is_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
