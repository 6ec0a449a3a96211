/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PLAIN mechanism of SASL: messages that are good, and those that are refused. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/mem.h"
#include "protocol/plain.h"

static int
parse(const char *bytes, size_t n, struct cnp_plain *ret_plain)
{
	const struct cnp_str message = { bytes, n };

	return cnp_plain_parse(&message, ret_plain);
}

static void
what_is_put_is_read(void **state)
{
	struct cnp_plain p;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 64);
	assert_ok(cnp_plain_put(&b, "j\xc3\xb6", "a b"));
	assert_ok(parse((const char *)cnc_buf_head(&b), cnc_buf_len(&b), &p));
	assert_int_equal(p.user.n, 3);
	assert_string_equal(p.user.p, "j\xc3\xb6");
	assert_int_equal(p.password.n, 3);
	assert_memory_equal(p.password.p, "a b", 3);
	cnc_buf_finish(&b);
}

static void
what_does_not_fit_is_no_message(void **state)
{
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 8);
	assert_int_equal(cnp_plain_put(&b, "user", "password"), CENOTE_ERR_LIMIT);
	cnc_buf_finish(&b);
}

static void
only_whole_messages_of_who_acts_as_himself_are_taken(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		int is_good;
	} cases[] = {
		{ "\0joe\0pw", 7, 1 },
		{ "joe\0joe\0pw", 10, 1 },
		{ "ann\0joe\0pw", 10, 0 },
		{ "jo\0joe\0pw", 9, 0 },
		{ "joe\0jo\0pw", 9, 0 },
		{ "\0\0pw", 4, 0 },
		{ "\0joe\0", 5, 0 },
		{ "\0joe\0pw\0", 8, 0 },
		{ "\0joe\0pw\0x", 9, 0 },
		{ "joe", 3, 0 },
		{ "", 0, 0 },
		{ "\0\0\0", 3, 0 },
	};
	struct cnp_plain p;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		int r = parse(cases[i].bytes, cases[i].n, &p);

		if (r != (cases[i].is_good ? CENOTE_OK : CENOTE_ERR_PROTOCOL))
			fail_msg("case %zu: %d", i, r);
	}
	/* a message that is cut before the password is refused */
	for (size_t n = 0; n <= 5; n++)
		assert_int_equal(parse("\0joe\0pw", n, &p), CENOTE_ERR_PROTOCOL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_read),
		cmocka_unit_test(what_does_not_fit_is_no_message),
		cmocka_unit_test(only_whole_messages_of_who_acts_as_himself_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
