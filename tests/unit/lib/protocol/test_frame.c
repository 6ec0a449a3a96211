/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame headers and openings: round trips, limits, and every byte that must be refused.
 * It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "protocol/frame.h"

static const uint8_t ping[CNP_FRAME_HEADER] = { 0, 0, 0, 0, CNP_MSG_PING, 1, 0, 0, 5, 0,
	0, 0x80 };

static void
a_header_decodes_and_encodes_to_itself(void **state)
{
	uint8_t again[CNP_FRAME_HEADER];
	struct cnp_frame f;

	assert_ok(cnp_frame_decode(ping, 0, &f));
	assert_int_equal(f.len, 0);
	assert_int_equal(f.code, CNP_MSG_PING);
	assert_int_equal(f.flags, CNP_FRAME_SYNC);
	assert_int_equal(f.request, 0x80000005u);
	cnp_frame_encode(again, &f);
	assert_memory_equal(again, ping, sizeof ping);
}

static void
a_header_with_one_wrong_byte_is_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} cases[] = { { 0, 1 }, { 3, 0x80 }, { 4, 0 }, { 4, 0x17 }, { 4, 0xff }, { 5, 2 },
		{ 5, 0x80 }, { 6, 1 }, { 7, 1 } };
	struct cnp_frame f = { .len = 77 };
	uint8_t bytes[CNP_FRAME_HEADER];
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		memcpy(bytes, ping, sizeof ping);
		bytes[cases[i].at] = cases[i].value;
		assert_int_equal(
			cnp_frame_decode(bytes, CNP_FRAME_MAX, &f), CENOTE_ERR_PROTOCOL);
		assert_int_equal(f.len, 77);
	}
}

static void
a_frame_above_the_limit_is_refused_by_its_header(void **state)
{
	uint8_t bytes[CNP_FRAME_HEADER] = { 100, 0, 0, 0, CNP_MSG_PREPARE, 0, 0, 0, 1 };
	struct cnp_frame f;

	assert_ok(cnp_frame_decode(bytes, 100, &f));
	assert_int_equal(cnp_frame_decode(bytes, 99, &f), CENOTE_ERR_PROTOCOL);
	cnc_put_u32(bytes, CNP_FRAME_MAX + 1);
	assert_int_equal(cnp_frame_decode(bytes, SIZE_MAX, &f), CENOTE_ERR_PROTOCOL);
}

static void
a_frame_written_in_place_gets_its_length(void **state)
{
	struct cnp_frame f;
	struct cnc_buf b;
	size_t mark;

	cnc_buf_init(&b, &cnc_mem_default, 1024);
	assert_ok(cnc_buf_append(&b, "abc", 3));
	assert_ok(cnp_frame_begin(&b, CNP_MSG_COLUMNS, 0, 9, &mark));
	assert_int_equal(mark, 3);
	assert_ok(cnc_buf_append(&b, "payload", 7));
	assert_ok(cnp_frame_end(&b, mark));
	assert_ok(cnp_frame_decode(cnc_buf_head(&b) + 3, 100, &f));
	assert_int_equal(f.len, 7);
	assert_int_equal(f.request, 9);
	cnc_buf_finish(&b);
}

/* A good opening of the pool "main", followed by two bytes, which are too few for an extension. */
static const uint8_t opening[] = { 'C', 'N', 'T', 'E', 22, 0, 1, 3, CNP_OPEN_RESUME,
	CNP_TLS_ALLOW, 4, 0, 0, 0, 0, 0, 'm', 'a', 'i', 'n', 9, 9 };

static void
an_opening_is_awaited_byte_by_byte(void **state)
{
	struct cnp_opening o;
	size_t n;

	for (n = 0; n < sizeof opening; n++)
		assert_int_equal(cnp_opening_decode(opening, n, &o), CENOTE_AGAIN);
	assert_ok(cnp_opening_decode(opening, n, &o));
	assert_int_equal(o.version_min, 1);
	assert_int_equal(o.version_max, 3);
	assert_int_equal(o.kind, CNP_OPEN_RESUME);
	assert_int_equal(o.tls, CNP_TLS_ALLOW);
	assert_string_equal(o.pool, "main");
	assert_int_equal(o.len, sizeof opening);
}

static void
a_wrong_opening_is_refused_as_soon_as_it_shows(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		size_t seen; /* bytes that are enough to refuse it */
	} cases[] = {
		{ 0, 'G', 1 }, /* another protocol */
		{ 3, 'F', 4 }, /* another last letter */
		{ 4, 15, 16 }, /* shorter than the least opening */
		{ 5, 0x80, 16 }, /* longer than allowed */
		{ 6, 0, 16 }, /* no such version */
		{ 6, 4, 16 }, /* lowest above highest */
		{ 8, 0, 16 }, /* no such kind */
		{ 8, 5, 16 }, { 9, 3, 16 }, /* no such wish for TLS */
		{ 10, 7, 16 }, /* a name that is longer than the opening */
		{ 11, 1, 16 }, /* a name that is too long */
		{ 12, 1, 16 }, /* reserved */
		{ 17, 0, 22 }, /* a zero byte in the name */
	};
	uint8_t bytes[sizeof opening];
	struct cnp_opening o;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		memcpy(bytes, opening, sizeof opening);
		bytes[cases[i].at] = cases[i].value;
		if (cnp_opening_decode(bytes, cases[i].seen, &o) != CENOTE_ERR_PROTOCOL)
			fail_msg("case %zu was accepted", i);
	}
}

static void
an_opening_encodes_to_what_decodes(void **state)
{
	struct cnp_opening o = { .version_min = 1, .version_max = 2 }, got;
	struct cnc_buf b;

	o.kind = CNP_OPEN_ATTACH;
	o.tls = CNP_TLS_REQUIRE;
	memset(o.pool, 'p', CNP_POOL_MAX);
	cnc_buf_init(&b, &cnc_mem_default, CNP_OPENING_MAX);
	assert_ok(cnp_opening_encode(&b, &o));
	assert_ok(cnp_opening_decode(cnc_buf_head(&b), cnc_buf_len(&b), &got));
	assert_string_equal(got.pool, o.pool);
	assert_int_equal(got.len, CNP_OPENING_MIN + CNP_POOL_MAX);
	assert_int_equal(got.version_max, 2);
	assert_int_equal(got.tls, CNP_TLS_REQUIRE);
	assert_int_equal(got.has_session, 0);
	cnc_buf_finish(&b);
}

static void
an_opening_may_name_a_session(void **state)
{
	struct cnp_opening o = { .version_min = 1,
		.version_max = 1,
		.kind = CNP_OPEN_RESUME,
		.has_session = 1,
		.session = UINT64_C(0x0123456789abcdef),
		.pool = "main" };
	const size_t at = CNP_OPENING_MIN + 4, len = at + 10;
	struct cnp_opening got;
	uint8_t *bytes;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, CNP_OPENING_MAX);
	assert_ok(cnp_opening_encode(&b, &o));
	bytes = cnc_buf_head(&b);
	assert_int_equal(cnc_buf_len(&b), len);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(cnp_opening_decode(bytes, n, &got), CENOTE_AGAIN);
	assert_ok(cnp_opening_decode(bytes, len, &got));
	assert_int_equal(got.len, len);
	assert_int_equal(got.has_session, 1);
	assert_true(got.session == o.session);
	/* an extension of another kind, of another length, or longer than the opening is
	 * ignored, not refused */
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t kept[2] = { bytes[at], bytes[at + 1] };

		if (i == 0)
			bytes[at] = 0x7f;
		else
			bytes[at + 1] = i == 1 ? 7 : 9;
		assert_ok(cnp_opening_decode(bytes, len, &got));
		assert_int_equal(got.has_session, 0);
		memcpy(bytes + at, kept, sizeof kept);
	}
	cnc_buf_finish(&b);
}

static void
the_highest_version_in_common_is_chosen(void **state)
{
	assert_int_equal(cnp_version_choose(1, 1), 1);
	assert_int_equal(cnp_version_choose(1, 9), CNP_VERSION_MAX);
	assert_int_equal(cnp_version_choose(CNP_VERSION_MAX + 1, 9), 0);
	assert_int_equal(cnp_version_choose(0, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_decodes_and_encodes_to_itself),
		cmocka_unit_test(a_header_with_one_wrong_byte_is_refused),
		cmocka_unit_test(a_frame_above_the_limit_is_refused_by_its_header),
		cmocka_unit_test(a_frame_written_in_place_gets_its_length),
		cmocka_unit_test(an_opening_is_awaited_byte_by_byte),
		cmocka_unit_test(a_wrong_opening_is_refused_as_soon_as_it_shows),
		cmocka_unit_test(an_opening_encodes_to_what_decodes),
		cmocka_unit_test(an_opening_may_name_a_session),
		cmocka_unit_test(the_highest_version_in_common_is_chosen),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
