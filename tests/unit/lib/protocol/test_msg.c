/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the protocol against bytes that were written by hand from
 * docs/protocol.md. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"
#include "support/cnt_msg.h"

/* The bytes of one message, written down by hand from docs/protocol.md. */
static void
a_query_has_the_bytes_that_the_specification_says(void **state)
{
	static const uint8_t wanted[] = "\x08\0\0\0select 1\0"
					"\x01"
					"\x02\0\0\0"
					"\x03\0\0\0\0\0\0\0"
					"\0\0\0\0\0"
					"\x01\0\0\0\x02";
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cnc_buf b;

	m.as.query.sql = cnp_str("select 1");
	m.as.query.format = 1;
	m.as.query.batch_rows = 2;
	m.as.query.max_rows = 3;
	m.as.query.params = CNP_STR_NONE;
	m.as.query.formats = (struct cnp_str){ "\x02", 1 };
	cnc_buf_init(&b, &cnc_mem_default, 1024);
	assert_ok(cnp_msg_encode(&b, &m));
	assert_int_equal(cnc_buf_len(&b), sizeof wanted);
	assert_memory_equal(cnc_buf_head(&b), wanted, sizeof wanted);
	cnc_buf_finish(&b);
}

static void
negative_numbers_keep_their_sign(void **state)
{
	struct cnp_msg m = { .code = CNP_MSG_DONE }, got;
	struct cnc_buf b;

	m.as.done.tag = CNP_STR_NONE;
	m.as.done.affected = -1;
	cnc_buf_init(&b, &cnc_mem_default, 1024);
	assert_ok(cnp_msg_encode(&b, &m));
	assert_ok(cnp_msg_decode(CNP_MSG_DONE, cnc_buf_head(&b), cnc_buf_len(&b), &got));
	assert_true(got.as.done.affected == -1);
	cnc_buf_finish(&b);
}

static void
encoding_fails_without_a_trace(void **state)
{
	struct cnp_msg m = { .code = CNP_MSG_PREPARE };
	struct cnc_buf b;
	size_t size;

	cnc_buf_init(&b, &cnc_mem_default, 16);
	assert_ok(cnc_buf_u8(&b, 7));
	m.as.prepare.sql = cnp_str("longer than 16 bytes");
	assert_int_equal(cnp_msg_encode(&b, &m), CENOTE_ERR_LIMIT);
	assert_int_equal(cnp_frame_put(&b, 0, 1, &m), CENOTE_ERR_LIMIT);
	m.as.prepare.sql.n = (size_t)CNP_FRAME_MAX - 18;
	assert_int_equal(cnp_msg_size(&m, &size), CENOTE_ERR_LIMIT);
	m.as.prepare.sql.n--;
	assert_ok(cnp_msg_size(&m, &size));
	assert_int_equal(size, CNP_FRAME_MAX);
	assert_int_equal(cnp_msg_encode(&b, &m), CENOTE_ERR_LIMIT);
	m.code = 0x7f;
	assert_int_equal(cnp_msg_encode(&b, &m), CENOTE_ERR_ARG);
	assert_int_equal(cnc_buf_len(&b), 1);
	cnc_buf_finish(&b);
}

static void
lengths_that_cannot_be_are_seen_before_the_payload(void **state)
{
	assert_true(cnp_msg_is_plausible(CNP_MSG_PING, 0));
	assert_false(cnp_msg_is_plausible(CNP_MSG_PING, 1));
	assert_true(cnp_msg_is_plausible(CNP_MSG_BEGIN, 5));
	assert_false(cnp_msg_is_plausible(CNP_MSG_BEGIN, 4));
	assert_false(cnp_msg_is_plausible(CNP_MSG_BEGIN, 6));
	assert_false(cnp_msg_is_plausible(CNP_MSG_PREPARE, 18));
	assert_true(cnp_msg_is_plausible(CNP_MSG_PREPARE, 19));
	assert_true(cnp_msg_is_plausible(CNP_MSG_PREPARE, 1000));
	assert_false(cnp_msg_is_plausible(CNP_MSG_ROWS, 7));
	assert_true(cnp_msg_is_plausible(CNP_MSG_ROWS, 8));
	assert_false(cnp_msg_is_plausible(CNP_MSG_COLUMNS, 3));
	assert_false(cnp_msg_is_plausible(0, 0));
	assert_false(cnp_msg_is_plausible(0xff, 0));
}

static void
every_message_has_its_name_and_direction(void **state)
{
	uint8_t seen[256] = { 0 };
	unsigned code;
	size_t i;

	for (i = 0; i < cnt_n_schema; i++) {
		const struct cnt_schema *line = &cnt_schema[i];

		assert_false(seen[line->code]);
		seen[line->code] = 1;
		assert_string_equal(cnp_msg_name(line->code), line->name);
		assert_int_equal(cnp_msg_from(line->code), line->from);
	}
	for (code = 0; code < 256; code++) {
		if (seen[code])
			continue;
		assert_null(cnp_msg_name((uint8_t)code));
		assert_int_equal(cnp_msg_from((uint8_t)code), 0);
	}
}

static void
pairs_come_back_in_order(void **state)
{
	struct cnp_str name, value;
	struct cnc_reader r;
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 32);
	assert_ok(cnp_pairs_put(&b, "a", "1"));
	assert_ok(cnp_pairs_put(&b, "bc", ""));
	/* the name would fit, the value would not */
	assert_int_equal(cnp_pairs_put(&b, "", "0123456789"), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_len(&b), 6 + 6 + 7 + 5);
	cnc_reader_init(&r, cnc_buf_head(&b), cnc_buf_len(&b));
	assert_int_equal(cnp_pairs_next(&r, &name, &value), 1);
	assert_string_equal(name.p, "a");
	assert_string_equal(value.p, "1");
	assert_int_equal(cnp_pairs_next(&r, &name, &value), 1);
	assert_string_equal(name.p, "bc");
	assert_int_equal(value.n, 0);
	assert_int_equal(cnp_pairs_next(&r, &name, &value), 0);
	cnc_reader_init(&r, cnc_buf_head(&b), cnc_buf_len(&b) - 1);
	assert_int_equal(cnp_pairs_next(&r, &name, &value), 1);
	assert_int_equal(cnp_pairs_next(&r, &name, &value), CENOTE_ERR_PROTOCOL);
	assert_string_equal(name.p, "a");
	cnc_buf_finish(&b);
}

/* Split a line of the message table ("| 0x10 | QUERY | C | STR sql |") into its four cells. */
static int
split_row(char *line, char *cells[4])
{
	size_t i, n;

	if (strncmp(line, "| 0x", 4) != 0)
		return 0;
	line += 2;
	for (i = 0; i < 4; i++) {
		cells[i] = line;
		line = strstr(line, " |");
		if (!line)
			return 0;
		n = strspn(line, " |");
		*line = '\0';
		line += n;
	}
	return 1;
}

static int
next_row(FILE *doc, char line[1024], char *cells[4])
{
	while (fgets(line, 1024, doc)) {
		if (split_row(line, cells))
			return 1;
	}
	return 0;
}

static void
the_specification_has_the_same_messages_and_fields(void **state)
{
	FILE *doc = fopen(PROTOCOL_MD, "r");
	char line[1024] = "", *cells[4] = { line, line, line, line };
	const char *wanted;
	size_t i;

	assert_non_null(doc);
	for (i = 0; i < cnt_n_schema; i++) {
		if (!next_row(doc, line, cells))
			fail_msg("%s is not in %s", cnt_schema[i].name, PROTOCOL_MD);
		assert_int_equal(strtoul(cells[0], NULL, 16), cnt_schema[i].code);
		assert_string_equal(cells[1], cnt_schema[i].name);
		assert_int_equal(cells[2][0], cnt_schema[i].from);
		wanted = cnt_schema[i].fields;
		assert_string_equal(cells[3], *wanted ? wanted + 2 : "none");
	}
	assert_false(next_row(doc, line, cells));
	(void)fclose(doc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_has_the_bytes_that_the_specification_says),
		cmocka_unit_test(negative_numbers_keep_their_sign),
		cmocka_unit_test(encoding_fails_without_a_trace),
		cmocka_unit_test(lengths_that_cannot_be_are_seen_before_the_payload),
		cmocka_unit_test(every_message_has_its_name_and_direction),
		cmocka_unit_test(pairs_come_back_in_order),
		cmocka_unit_test(the_specification_has_the_same_messages_and_fields),
	};

	return cmocka_run_group_tests_name("msg", tests, NULL, NULL);
}
