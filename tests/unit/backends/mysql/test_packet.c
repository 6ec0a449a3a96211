/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of the MySQL protocol that a server sends, good and bad. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

#include "tools/cenoted/backends/mysql/my.h"
#include "tools/cenoted/backends/mysql/values.h"

#define COLUMNS_MAX 12u

typedef int row_fn(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);

/* Columns, and the batch that rows go to. */
struct fixture {
	struct cnp_column columns[COLUMNS_MAX];
	uint32_t n;
	struct cnc_buf out;
	struct cnc_batch batch;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	cnc_buf_init(&f->out, &cnc_mem_default, 1 << 20);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cnc_buf_finish(&f->out);
	free(f);
	return 0;
}

static void
add_column(struct fixture *f, enum enum_field_types type, uint8_t format)
{
	MYSQL_FIELD field;

	memset(&field, 0, sizeof(field));
	field.type = type;
	field.charsetnr = 33;
	field.length = 255;
	if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE)
		field.decimals = 31;
	cnd_my_column(&field, format, &f->columns[f->n++]);
}

/* Decode `packet` as the row of a new batch. If that fails, undo the row. */
static int
put(struct fixture *f, row_fn *row, const void *packet, size_t len)
{
	/* a copy of exactly the packet's size, so that a sanitizer sees a read beyond its end */
	uint8_t *copy = malloc(len + 1);
	int r;

	memcpy(copy, packet, len);
	cnc_buf_clear(&f->out, 0);
	assert_ok(cnc_batch_begin(&f->batch, &f->out, f->n));
	assert_ok(cnc_batch_row(&f->batch));
	copy = realloc(copy, len ? len : 1);
	r = row(&f->batch, f->columns, f->n, copy, len);
	free(copy);
	if (r < 0)
		cnc_batch_row_undo(&f->batch);
	else
		assert_int_equal(f->batch.column, f->n);
	return r;
}

static void
assert_value(struct fixture *f, uint32_t i, const void *wanted, size_t wanted_len)
{
	size_t len = 0;
	const char *value =
		cnc_row_value(cnc_buf_head(&f->out) + f->batch.row, f->n, i, &len);

	if (!wanted) {
		assert_null(value);
		return;
	}
	assert_non_null(value);
	assert_int_equal(len, wanted_len);
	assert_memory_equal(value, wanted, len);
}

static void
assert_text(struct fixture *f, uint32_t i, const char *wanted)
{
	assert_value(f, i, wanted, wanted ? strlen(wanted) : 0);
}

/* Only the whole packet is a row: shorter ones and one with a further byte are refused. */
static void
assert_only_whole(struct fixture *f, row_fn *row, const void *packet, size_t len)
{
	uint8_t longer[512];
	size_t cut;

	for (cut = 0; cut < len; cut++)
		assert_int_equal(put(f, row, packet, cut), CENOTE_ERR_PROTOCOL);
	assert_true(len < sizeof(longer));
	memcpy(longer, packet, len);
	longer[len] = 0;
	assert_int_equal(put(f, row, longer, len + 1), CENOTE_ERR_PROTOCOL);
	assert_ok(put(f, row, packet, len));
}

static int
plain_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len)
{
	(void)columns;
	return cnd_my_plain_row(w, n, packet, len);
}

static void
assert_text_values(struct fixture *f, row_fn *row)
{
	static const char packet[] = "\x05hello\xfb\x00\xfc\x03\x00"
				     "abc\xfd\x01\x00\x00z"
				     "\xfe\x02\x00\x00\x00\x00\x00\x00\x00yz";

	assert_only_whole(f, row, packet, sizeof(packet) - 1);
	assert_text(f, 0, "hello");
	assert_text(f, 1, NULL);
	assert_text(f, 2, "");
	assert_text(f, 3, "abc");
	assert_text(f, 4, "z");
	assert_text(f, 5, "yz");
}

static void
text_row_gives_its_values(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 6; i++)
		add_column(f, MYSQL_TYPE_VAR_STRING, CENOTE_FORMAT_TEXT);
	assert_text_values(f, cnd_my_text_row);
	assert_text_values(f, plain_row);
}

static void
rows_are_plain_where_canonical_text_is_the_servers(void **state)
{
	static const struct {
		enum enum_field_types type;
		unsigned flags;
		int is_plain;
	} columns[] = {
		{ MYSQL_TYPE_VAR_STRING, 0, 1 },
		{ MYSQL_TYPE_LONG, 0, 1 },
		{ MYSQL_TYPE_LONGLONG, UNSIGNED_FLAG, 1 },
		{ MYSQL_TYPE_LONG, UNSIGNED_FLAG | ZEROFILL_FLAG, 0 },
		{ MYSQL_TYPE_NEWDECIMAL, 0, 1 },
		{ MYSQL_TYPE_NEWDECIMAL, ZEROFILL_FLAG, 0 },
		{ MYSQL_TYPE_YEAR, 0, 0 },
		{ MYSQL_TYPE_DOUBLE, 0, 0 },
		{ MYSQL_TYPE_DATETIME, 0, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		f->n = 0;
		add_column(f, MYSQL_TYPE_VAR_STRING, CENOTE_FORMAT_CANONICAL);
		add_column(f, columns[i].type, CENOTE_FORMAT_CANONICAL);
		f->columns[1].native_flags = columns[i].flags;
		assert_int_equal(cnd_my_are_plain(f->columns, 2), columns[i].is_plain);
		f->columns[1].format = CENOTE_FORMAT_TEXT;
		assert_true(cnd_my_are_plain(f->columns, 2));
	}
}

static void
text_row_goes_out_in_the_form_of_its_columns(void **state)
{
	static const char packet[] = "\x04"
				     "007f\x0a"
				     "2024-02-29";
	struct fixture *f = *state;

	add_column(f, MYSQL_TYPE_VAR_STRING, CENOTE_FORMAT_CANONICAL);
	add_column(f, MYSQL_TYPE_DATE, CENOTE_FORMAT_CANONICAL);
	assert_ok(put(f, cnd_my_text_row, packet, sizeof(packet) - 1));
	assert_text(f, 0, "007f");
	assert_text(f, 1, "2024-02-29");
}

static void
lengths_that_promise_too_much_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} packets[] = {
		{ "\x02y", 2 },
		{ "\xfc\xff\xff", 3 },
		{ "\xfd\xff\xff\xffy", 5 },
		{ "\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9 },
		{ "\xfe\x01\x00\x00\x00\x00\x00\x00\x80y", 10 },
		{ "\xff", 1 },
		{ "\xffyyyyyyyyy", 10 },
	};
	struct fixture *f = *state;

	add_column(f, MYSQL_TYPE_VAR_STRING, CENOTE_FORMAT_TEXT);
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		assert_int_equal(
			put(f, cnd_my_text_row, packets[i].bytes, packets[i].len),
			CENOTE_ERR_PROTOCOL);
		assert_int_equal(put(f, plain_row, packets[i].bytes, packets[i].len),
			CENOTE_ERR_PROTOCOL);
	}
}

/* A value of each type, and a NULL at the end. */
static const enum enum_field_types types[] = { MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT,
	MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_FLOAT,
	MYSQL_TYPE_DOUBLE, MYSQL_TYPE_DATE, MYSQL_TYPE_TIME, MYSQL_TYPE_DATETIME,
	MYSQL_TYPE_BLOB, MYSQL_TYPE_VAR_STRING };
static const char values[] = "\x00\x00\x20" /* the last is NULL */
			     "\xfb" /* -5 */
			     "\x39\x30" /* 12345 */
			     "\x05\x00\x00\x00"
			     "\x70\x11\x01\x00" /* 70000 */
			     "\xff\xff\xff\xff\xff\xff\xff\xff"
			     "\x00\x00\xc0\x3f" /* 1.5 */
			     "\x00\x00\x00\x00\x00\x00\x02\x40" /* 2.25 */
			     "\x04\xe8\x07\x02\x1d"
			     "\x08\x01\x01\x00\x00\x00\x02\x03\x04"
			     "\x07\xe8\x07\x0c\x1f\x17\x3b\x3a"
			     "\x03"
			     "a\0c";

static void
add_columns(struct fixture *f, uint8_t format)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		add_column(f, types[i], format);
}

static void
binary_row_gives_texts_where_they_are_wanted(void **state)
{
	static const char *const texts[] = { "-5", "12345", "5", "70000", "-1", "1.5",
		"2.25", "2024-02-29", "-26:03:04", "2024-12-31 23:59:58" };
	struct fixture *f = *state;

	add_columns(f, CENOTE_FORMAT_TEXT);
	assert_only_whole(f, cnd_my_binary_row, values, sizeof(values) - 1);
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_text(f, i, texts[i]);
	assert_value(f, 10, "a\0c", 3);
	assert_text(f, 11, NULL);
}

static void
binary_row_gives_bytes_as_they_came(void **state)
{
	struct fixture *f = *state;

	add_columns(f, CENOTE_FORMAT_BINARY);
	assert_only_whole(f, cnd_my_binary_row, values, sizeof(values) - 1);
	assert_value(f, 0, "\xfb", 1);
	assert_value(f, 3, "\x70\x11\x01\x00", 4);
	assert_value(f, 8, "\x01\x01\x00\x00\x00\x02\x03\x04", 8);
	assert_value(f, 9, "\xe8\x07\x0c\x1f\x17\x3b\x3a", 7);
	assert_value(f, 10, "a\0c", 3);
	assert_text(f, 11, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			text_row_gives_its_values, setup, teardown),
		cmocka_unit_test_setup_teardown(
			rows_are_plain_where_canonical_text_is_the_servers, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			text_row_goes_out_in_the_form_of_its_columns, setup, teardown),
		cmocka_unit_test_setup_teardown(
			lengths_that_promise_too_much_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			binary_row_gives_texts_where_they_are_wanted, setup, teardown),
		cmocka_unit_test_setup_teardown(
			binary_row_gives_bytes_as_they_came, setup, teardown),
	};

	return cmocka_run_group_tests_name("mysql_packet", tests, NULL, NULL);
}
