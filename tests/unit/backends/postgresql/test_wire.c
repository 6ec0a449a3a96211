/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the server's protocol: what the reader accepts and what it refuses. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wire.h"

static const uint8_t row_description[] =
	"T\0\0\0\x30\0\2"
	"one\0\0\0\x12\x34\0\2\0\0\0\x17\0\4\xff\xff\xff\xff\0\0"
	"b\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\0\0\0\7\0\1";

static void
a_message_is_taken_when_it_is_whole(void **state)
{
	const size_t whole = sizeof(row_description) - 1;
	struct cnd_pg_msg m;
	size_t size;

	for (size_t n = 0; n < whole; n++) {
		/* a separate copy, so that a sanitizer sees a read beyond its end */
		uint8_t *bytes = malloc(n + 1);

		assert_non_null(bytes);
		memcpy(bytes, row_description, n);
		assert_int_equal(cnd_pg_msg_next(bytes, n, &m, &size), 0);
		assert_int_equal(size, n < CND_PG_HEADER ? CND_PG_HEADER : whole);
		free(bytes);
	}
	assert_int_equal(cnd_pg_msg_next(row_description, whole, &m, &size), whole);
	assert_int_equal(m.type, 'T');
	assert_int_equal(m.len, whole - CND_PG_HEADER);
}

static void
impossible_lengths_are_refused(void **state)
{
	static const uint8_t bad[][5] = { { 'D', 0, 0, 0, 3 }, { 'D', 0, 0, 0, 0 },
		{ 'D', 0xff, 0xff, 0xff, 0xff }, { 'D', 0x40, 0, 0, 0 } };
	struct cnd_pg_msg m;
	size_t size;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			cnd_pg_msg_next(bad[i], 5, &m, &size), CENOTE_ERR_PROTOCOL);
}

static void
columns_are_read_and_every_cut_is_noticed(void **state)
{
	const struct cnd_pg_msg whole = { 'T', row_description + CND_PG_HEADER,
		sizeof(row_description) - 1 - CND_PG_HEADER };
	struct cnd_pg_reader r;
	struct cnd_pg_field f;

	cnd_pg_reader_init(&r, &whole);
	assert_int_equal(cnd_pg_read_count(&r), 2);
	cnd_pg_read_field(&r, &f);
	assert_string_equal(f.name, "one");
	assert_int_equal(f.table, 0x1234);
	assert_int_equal(f.attnum, 2);
	assert_int_equal(f.type, 23);
	assert_int_equal(f.length, 4);
	assert_int_equal(f.modifier, -1);
	assert_int_equal(f.format, 0);
	cnd_pg_read_field(&r, &f);
	assert_string_equal(f.name, "b");
	assert_int_equal(f.length, -1);
	assert_int_equal(f.modifier, 7);
	assert_int_equal(f.format, 1);
	assert_ok(cnd_pg_reader_end(&r));
	for (size_t n = 0; n < whole.len; n++) {
		uint8_t *bytes = malloc(n + 1);
		const struct cnd_pg_msg cut = { 'T', bytes, n };

		assert_non_null(bytes);
		memcpy(bytes, whole.body, n);
		cnd_pg_reader_init(&r, &cut);
		(void)cnd_pg_read_count(&r);
		cnd_pg_read_field(&r, &f);
		cnd_pg_read_field(&r, &f);
		assert_int_equal(cnd_pg_reader_end(&r), CENOTE_ERR_PROTOCOL);
		free(bytes);
	}
}

static void
tags_tell_what_was_changed(void **state)
{
	static const struct {
		const char *tag;
		int64_t affected;
	} cases[] = { { "INSERT 0 5", 5 }, { "UPDATE 0", 0 }, { "DELETE 12", 12 },
		{ "MERGE 3", 3 }, { "COPY 7", 7 }, { "SELECT 4", -1 },
		{ "CREATE TABLE", -1 }, { "INSERT ", -1 },
		{ "UPDATE 9999999999999999999", -1 }, { "", -1 } };
	const char *tag;
	int64_t affected;
	size_t len;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cnd_pg_msg m = { 'C', (const uint8_t *)cases[i].tag,
			strlen(cases[i].tag) + 1 };

		assert_ok(cnd_pg_read_tag(&m, &tag, &len, &affected));
		assert_int_equal(affected, cases[i].affected);
		m.len--;
		assert_int_equal(
			cnd_pg_read_tag(&m, &tag, &len, &affected), CENOTE_ERR_PROTOCOL);
	}
}

static void
small_messages_are_checked(void **state)
{
	static const uint8_t body[] = "SERROR\0C42601\0Mno\0";
	struct cnd_pg_msg error = { 'E', body, sizeof(body) };
	struct cnd_pg_msg ready = { 'Z', (const uint8_t *)"I", 1 };

	assert_int_equal(cnd_pg_read_ready(&ready), 'I');
	ready.body = (const uint8_t *)"X";
	assert_int_equal(cnd_pg_read_ready(&ready), CENOTE_ERR_PROTOCOL);
	ready.len = 0;
	assert_int_equal(cnd_pg_read_ready(&ready), CENOTE_ERR_PROTOCOL);
	assert_string_equal(cnd_pg_error_field(&error, 'C'), "42601");
	assert_null(cnd_pg_error_field(&error, 'D'));
	/* without the end, only whole fields are found */
	error.len = sizeof("SERROR\0C42601\0M") - 1;
	assert_string_equal(cnd_pg_error_field(&error, 'C'), "42601");
	assert_null(cnd_pg_error_field(&error, 'M'));
}

static void
messages_are_written_as_the_server_reads_them(void **state)
{
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 1024);
	assert_ok(cnd_pg_add_query(&b, 'Q', "select 1", 8));
	assert_ok(cnd_pg_add_plain(&b, 'S'));
	assert_ok(cnd_pg_add_named(&b, 'D', 'P', "p", 1));
	assert_ok(cnd_pg_add_execute(&b, "p", 258));
	assert_int_equal(cnc_buf_len(&b), 14 + 5 + 8 + 11);
	assert_memory_equal(cnc_buf_head(&b),
		"Q\0\0\0\rselect 1\0S\0\0\0\4D\0\0\0\7Pp\0E\0\0\0\np\0\0\0\1\2", 38);
	cnc_buf_finish(&b);
}

static void
a_full_buffer_is_told(void **state)
{
	struct cnc_buf b;

	for (size_t max = 0; max < 38; max++) {
		int r;

		cnc_buf_init(&b, &cnc_mem_default, max);
		r = cnd_pg_add_query(&b, 'Q', "select 1", 8);
		if (r == CENOTE_OK)
			r = cnd_pg_add_plain(&b, 'S');
		if (r == CENOTE_OK)
			r = cnd_pg_add_named(&b, 'D', 'P', "p", 1);
		if (r == CENOTE_OK)
			r = cnd_pg_add_execute(&b, "p", 258);
		assert_int_equal(r, CENOTE_ERR_LIMIT);
		cnc_buf_finish(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_taken_when_it_is_whole),
		cmocka_unit_test(impossible_lengths_are_refused),
		cmocka_unit_test(columns_are_read_and_every_cut_is_noticed),
		cmocka_unit_test(tags_tell_what_was_changed),
		cmocka_unit_test(small_messages_are_checked),
		cmocka_unit_test(messages_are_written_as_the_server_reads_them),
		cmocka_unit_test(a_full_buffer_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
