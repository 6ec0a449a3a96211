/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Diagnostic records: their fields, truncated messages, and records when memory runs out. It needs
 * no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/diag.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc a;
	struct cnc_diag d;
	struct cnc_buf b;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_alloc_init(&f.a, 0);
	memset(&f.d, 0xff, sizeof(f.d));
	cnc_diag_init(&f.d, &f.a.mem);
	cnc_buf_init(&f.b, &cnc_mem_default, SIZE_MAX);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_diag_finish(&f->d);
	cnc_buf_finish(&f->b);
	return cnt_alloc_leaks(&f->a) ? -1 : 0;
}

static void
put(struct cnc_buf *b, char letter, const char *text)
{
	assert_ok(cnc_diag_put_field(b, letter, text, strlen(text)));
}

static int
set_from(struct cnc_diag *d, const struct cnc_buf *b)
{
	return cnc_diag_set_fields(d, cnc_buf_head(b), cnc_buf_len(b));
}

static void
a_fresh_record_says_that_all_is_well(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(f->d.sqlstate, "00000");
	assert_string_equal(f->d.message, "");
	assert_int_equal(f->d.native, 0);
	assert_string_equal(cnc_diag_field(&f->d, 'C'), "00000");
	assert_string_equal(cnc_diag_field(&f->d, 'M'), "");
	assert_null(cnc_diag_field(&f->d, 'D'));
	assert_int_equal(f->a.n_calls, 0);
}

static void
set_replaces_what_was_there(void **state)
{
	struct fixture *f = *state;

	put(&f->b, 'D', "detail");
	put(&f->b, 'N', "7");
	assert_ok(set_from(&f->d, &f->b));
	cnc_diag_set(&f->d, "57P03", "pool %s: %d waiting", "inventory", 14);
	assert_string_equal(f->d.sqlstate, "57P03");
	assert_string_equal(f->d.message, "pool inventory: 14 waiting");
	assert_int_equal(f->d.native, 0);
	assert_null(cnc_diag_field(&f->d, 'D'));
	cnc_diag_clear(&f->d);
	assert_string_equal(f->d.sqlstate, "00000");
	assert_string_equal(f->d.message, "");
}

static void
a_wrong_sqlstate_becomes_the_general_one(void **state)
{
	struct fixture *f = *state;

	cnc_diag_set(&f->d, "oops", "x");
	assert_string_equal(f->d.sqlstate, "HY000");
}

static void
a_record_may_be_set_from_its_own_parts(void **state)
{
	struct fixture *f = *state;

	cnc_diag_set(&f->d, "08001", "inner");
	cnc_diag_set(&f->d, f->d.sqlstate, "outer: %s", f->d.message);
	assert_string_equal(f->d.sqlstate, "08001");
	assert_string_equal(f->d.message, "outer: inner");
	put(&f->b, 'M', "m");
	put(&f->b, 'D', "deep");
	assert_ok(set_from(&f->d, &f->b));
	assert_ok(cnc_diag_set_fields(&f->d, f->d.fields, f->d.fields_len));
	assert_string_equal(cnc_diag_field(&f->d, 'D'), "deep");
	cnc_diag_set(&f->d, "08001", "%s", cnc_diag_field(&f->d, 'D'));
	assert_string_equal(f->d.message, "deep");
	cnc_diag_copy(&f->d, &f->d);
	assert_string_equal(f->d.message, "deep");
}

static void
a_long_message_is_cut_inline_and_whole_in_its_field(void **state)
{
	struct fixture *f = *state;
	char text[CNC_DIAG_MESSAGE_MAX + 600];

	for (size_t len = CNC_DIAG_MESSAGE_MAX - 5; len < sizeof(text); len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		cnc_diag_set(&f->d, "22000", "%s", text);
		assert_string_equal(cnc_diag_field(&f->d, 'M'), text);
		if (len > CNC_DIAG_MESSAGE_MAX - 1)
			text[CNC_DIAG_MESSAGE_MAX - 1] = '\0';
		assert_string_equal(f->d.message, text);
	}
}

static void
a_cut_never_splits_a_character(void **state)
{
	static const char *const characters[] = { "a", "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80" };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(characters); i++) {
		for (size_t lead = 0; lead < 5; lead++) {
			char text[1000];
			size_t n = strlen(characters[i]);
			size_t len = lead;

			memset(text, '.', lead);
			for (; len + n < sizeof(text); len += n)
				memcpy(text + len, characters[i], n);
			text[len] = '\0';
			cnc_diag_set(&f->d, "22000", "%s", text);
			len = strlen(f->d.message);
			assert_true(len < CNC_DIAG_MESSAGE_MAX);
			assert_true(len + n >= CNC_DIAG_MESSAGE_MAX);
			assert_int_equal((len - lead) % n, 0);
			assert_memory_equal(f->d.message, text, len);
		}
	}
}

static void
utf8_cut_is_the_longest_whole_prefix(void **state)
{
	static const struct {
		const char *text;
		size_t max;
		size_t expected;
	} cases[] = {
		{ "", 0, 0 },
		{ "abc", 3, 3 },
		{ "abc", 2, 2 },
		{ "abc", 0, 0 },
		{ "a\xc3\xa9z", 1, 1 },
		{ "a\xc3\xa9z", 2, 1 },
		{ "a\xc3\xa9z", 3, 3 },
		{ "\xe2\x82\xac", 2, 0 },
		{ "\xf0\x9f\x98\x80x", 3, 0 },
		{ "\xf0\x9f\x98\x80x", 4, 4 },
		/* Not UTF-8: any cut is correct. */
		{ "\x80\x80\x80\x80\x80\x80", 5, 5 },
		{ "\xff\xff\xff", 2, 2 },
	};

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		size_t n =
			cnc_utf8_cut(cases[i].text, strlen(cases[i].text), cases[i].max);

		if (n != cases[i].expected)
			print_error("case %zu\n", i);
		assert_int_equal(n, cases[i].expected);
	}
}

static void
fields_are_found_by_their_letters(void **state)
{
	struct fixture *f = *state;

	put(&f->b, 'S', "ERROR");
	put(&f->b, 'C', "42P01");
	put(&f->b, 'M', "relation \"t\" does not exist");
	put(&f->b, 'N', "-1146");
	put(&f->b, 'P', "15");
	put(&f->b, 'D', "");
	assert_ok(set_from(&f->d, &f->b));
	assert_string_equal(f->d.sqlstate, "42P01");
	assert_string_equal(f->d.message, "relation \"t\" does not exist");
	assert_int_equal(f->d.native, -1146);
	assert_string_equal(cnc_diag_field(&f->d, 'S'), "ERROR");
	assert_string_equal(cnc_diag_field(&f->d, 'P'), "15");
	assert_string_equal(cnc_diag_field(&f->d, 'D'), "");
	assert_null(cnc_diag_field(&f->d, 'H'));
	assert_null(cnc_diag_field(&f->d, '\0'));
}

static void
a_list_without_state_is_a_general_error(void **state)
{
	struct fixture *f = *state;

	assert_ok(cnc_diag_set_fields(&f->d, NULL, 0));
	assert_string_equal(f->d.sqlstate, "HY000");
	assert_string_equal(f->d.message, "");
	put(&f->b, 'C', "nope");
	put(&f->b, 'C', "42000");
	assert_ok(set_from(&f->d, &f->b));
	assert_string_equal(f->d.sqlstate, "HY000");
}

static void
native_codes_are_numbers_that_fit(void **state)
{
	static const struct {
		const char *text;
		int32_t expected;
	} cases[] = {
		{ "0", 0 },
		{ "2147483647", INT32_MAX },
		{ "-2147483648", INT32_MIN },
		{ "2147483648", 0 },
		{ "-2147483649", 0 },
		{ "99999999999999999999999", 0 },
		{ "12x", 0 },
		{ "-", 0 },
		{ "", 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		cnc_buf_clear(&f->b, 100);
		put(&f->b, 'N', cases[i].text);
		assert_ok(set_from(&f->d, &f->b));
		assert_int_equal(f->d.native, cases[i].expected);
	}
}

static void
a_list_that_is_cut_is_refused_and_clears(void **state)
{
	struct fixture *f = *state;
	size_t whole;

	put(&f->b, 'C', "42P01");
	put(&f->b, 'M', "message");
	whole = cnc_buf_len(&f->b);
	for (size_t len = 1; len < whole; len++) {
		/* With this length, the list has exactly its first field. */
		int expected = len == 11 ? CENOTE_OK : CENOTE_ERR_PROTOCOL;

		cnc_diag_set(&f->d, "08001", "before");
		assert_int_equal(
			cnc_diag_set_fields(&f->d, cnc_buf_head(&f->b), len), expected);
		assert_string_equal(f->d.sqlstate, expected < 0 ? "00000" : "42P01");
		assert_string_equal(f->d.message, "");
	}
	cnc_buf_clear(&f->b, 100);
	put(&f->b, '\0', "no letter");
	assert_int_equal(set_from(&f->d, &f->b), CENOTE_ERR_PROTOCOL);
}

static void
put_writes_what_the_record_says_now(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag again;
	struct cnc_buf expected;

	cnc_buf_init(&expected, &cnc_mem_default, SIZE_MAX);
	put(&f->b, 'C', "23505");
	put(&f->b, 'M', "duplicate");
	put(&f->b, 'n', "t_pkey");
	assert_ok(set_from(&f->d, &f->b));
	f->d.native = 2067;
	cnc_buf_clear(&f->b, 100);
	assert_ok(cnc_diag_put(&f->b, &f->d));
	put(&expected, 'C', "23505");
	put(&expected, 'M', "duplicate");
	put(&expected, 'N', "2067");
	put(&expected, 'n', "t_pkey");
	assert_int_equal(cnc_buf_len(&f->b), cnc_buf_len(&expected));
	assert_memory_equal(
		cnc_buf_head(&f->b), cnc_buf_head(&expected), cnc_buf_len(&expected));
	cnc_buf_finish(&expected);
	cnc_diag_init(&again, &f->a.mem);
	assert_ok(set_from(&again, &f->b));
	assert_string_equal(again.sqlstate, "23505");
	assert_string_equal(again.message, "duplicate");
	assert_int_equal(again.native, 2067);
	assert_string_equal(cnc_diag_field(&again, 'n'), "t_pkey");
	cnc_diag_finish(&again);
}

static void
put_keeps_state_and_native_code_of_a_long_message(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag again;
	char text[2000];

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cnc_diag_set(&f->d, "23505", "%s", text);
	f->d.native = -5;
	assert_ok(cnc_diag_put(&f->b, &f->d));
	cnc_diag_init(&again, &f->a.mem);
	assert_ok(set_from(&again, &f->b));
	assert_string_equal(again.sqlstate, "23505");
	assert_int_equal(again.native, -5);
	assert_string_equal(cnc_diag_field(&again, 'M'), text);
	cnc_diag_finish(&again);
}

static void
put_past_the_bound_leaves_the_buffer(void **state)
{
	struct fixture *f = *state;

	put(&f->b, 'D', "detail");
	assert_ok(set_from(&f->d, &f->b));
	cnc_diag_set(&f->d, "22000", "message");
	cnc_buf_clear(&f->b, 0);
	assert_ok(cnc_diag_put(&f->b, &f->d));
	for (size_t max = 0; max < cnc_buf_len(&f->b); max++) {
		struct cnc_buf small;

		cnc_buf_init(&small, &cnc_mem_default, max);
		assert_int_equal(cnc_diag_put(&small, &f->d), CENOTE_ERR_LIMIT);
		assert_int_equal(cnc_buf_len(&small), 0);
		assert_int_equal(
			cnc_diag_put_field(&small, 'x', "", max), CENOTE_ERR_LIMIT);
		assert_int_equal(cnc_buf_len(&small), 0);
		cnc_buf_finish(&small);
	}
}

static void
without_memory_the_inline_part_remains(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag lean;
	char text[700];

	put(&f->b, 'C', "42P01");
	put(&f->b, 'M', "message");
	put(&f->b, 'D', "detail");
	f->a.fail_at = 1;
	f->a.fail_on = 1;
	assert_ok(set_from(&f->d, &f->b));
	assert_string_equal(f->d.sqlstate, "42P01");
	assert_string_equal(cnc_diag_field(&f->d, 'M'), "message");
	assert_null(cnc_diag_field(&f->d, 'D'));
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cnc_diag_set(&f->d, "22000", "%s", text);
	assert_int_equal(strlen(cnc_diag_field(&f->d, 'M')), CNC_DIAG_MESSAGE_MAX - 1);
	assert_true(cnt_alloc_has_failed(&f->a));

	cnc_diag_init(&lean, NULL);
	assert_ok(set_from(&lean, &f->b));
	assert_string_equal(lean.message, "message");
	assert_null(cnc_diag_field(&lean, 'D'));
	cnc_diag_set(&lean, "22000", "%s", text);
	cnc_diag_finish(&lean);
}

static void
a_copy_is_deep_and_needs_no_memory_for_the_message(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag copy;

	put(&f->b, 'C', "42P01");
	put(&f->b, 'M', "message");
	put(&f->b, 'D', "detail");
	put(&f->b, 'N', "3");
	assert_ok(set_from(&f->d, &f->b));
	cnc_diag_init(&copy, &f->a.mem);
	cnc_diag_copy(&copy, &f->d);
	cnc_diag_set(&f->d, "08001", "other");
	assert_string_equal(copy.sqlstate, "42P01");
	assert_string_equal(copy.message, "message");
	assert_int_equal(copy.native, 3);
	assert_string_equal(cnc_diag_field(&copy, 'D'), "detail");
	cnc_diag_copy(&f->d, &copy);
	assert_string_equal(cnc_diag_field(&f->d, 'D'), "detail");
	f->a.fail_at = f->a.n_calls + 1;
	cnc_diag_copy(&copy, &f->d);
	assert_true(cnt_alloc_has_failed(&f->a));
	assert_string_equal(copy.sqlstate, "42P01");
	assert_string_equal(copy.message, "message");
	assert_null(cnc_diag_field(&copy, 'D'));
	cnc_diag_finish(&copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fresh_record_says_that_all_is_well),
		TEST(set_replaces_what_was_there),
		TEST(a_wrong_sqlstate_becomes_the_general_one),
		TEST(a_record_may_be_set_from_its_own_parts),
		TEST(a_long_message_is_cut_inline_and_whole_in_its_field),
		TEST(a_cut_never_splits_a_character),
		TEST(utf8_cut_is_the_longest_whole_prefix),
		TEST(fields_are_found_by_their_letters),
		TEST(a_list_without_state_is_a_general_error),
		TEST(native_codes_are_numbers_that_fit),
		TEST(a_list_that_is_cut_is_refused_and_clears),
		TEST(put_writes_what_the_record_says_now),
		TEST(put_keeps_state_and_native_code_of_a_long_message),
		TEST(put_past_the_bound_leaves_the_buffer),
		TEST(without_memory_the_inline_part_remains),
		TEST(a_copy_is_deep_and_needs_no_memory_for_the_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
