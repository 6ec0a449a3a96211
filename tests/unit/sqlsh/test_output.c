/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "pager.h"

static const struct output_column columns[] = {
	{ "id", CENOTE_TYPE_INT64 },
	{ "na,me", CENOTE_TYPE_TEXT },
	{ "b", CENOTE_TYPE_BYTES },
};

static const struct cell rows[][3] = {
	{ { "1", 1 }, { "caf\xc3\xa9", 5 }, { "\x00\xff", 2 } },
	{ { "-20", 3 }, { "", 0 }, { NULL, 0 } },
	{ { NULL, 0 }, { NULL, 0 }, { "", 0 } },
	{ { "x", 1 }, { "a\"b\n\xe6\xb0\xb4", 7 }, { "z", 1 } },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static char *
show(const char *format, int has_header, int is_dimmed)
{
	struct output_settings settings = { .null_text = "NULL",
		.separator = "|",
		.has_header = has_header,
		.is_dimmed = is_dimmed };
	char *data = NULL;
	size_t size = 0, i;
	FILE *file = open_memstream(&data, &size);
	struct output *out;

	assert_non_null(output_find(format));
	out = output_begin(output_find(format), &settings, file, columns, 3);
	for (i = 0; i < N_ROWS; i++)
		output_row(out, rows[i]);
	assert_int_equal(output_end(out, 1), 0);
	(void)fclose(file);
	return data;
}

static const struct {
	const char *format;
	int has_header;
	const char *expected;
} cases[] = {
	{ "table", 1,
		"   id | na,me   | b\n"
		"------+---------+--------\n"
		"    1 | caf\xc3\xa9    | \\x00ff\n"
		"  -20 |         | NULL\n"
		" NULL | NULL    | \\x\n"
		"    x | a\"b\\n\xe6\xb0\xb4 | \\x7a\n"
		"(4 rows)\n\n" },
	{ "table", 0,
		"    1 | caf\xc3\xa9    | \\x00ff\n"
		"  -20 |         | NULL\n"
		" NULL | NULL    | \\x\n"
		"    x | a\"b\\n\xe6\xb0\xb4 | \\x7a\n" },
	{ "expanded", 1,
		"-[ RECORD 1 ]----\n"
		"id    | 1\nna,me | caf\xc3\xa9\nb     | \\x00ff\n"
		"-[ RECORD 2 ]----\n"
		"id    | -20\nna,me | \nb     | NULL\n"
		"-[ RECORD 3 ]----\n"
		"id    | NULL\nna,me | NULL\nb     | \\x\n"
		"-[ RECORD 4 ]----\n"
		"id    | x\nna,me | a\"b\\n\xe6\xb0\xb4\nb     | \\x7a\n\n" },
	{ "csv", 1,
		"id,\"na,me\",b\n"
		"1,caf\xc3\xa9,\\x00ff\n"
		"-20,\"\",\n"
		",,\\x\n"
		"x,\"a\"\"b\n\xe6\xb0\xb4\",\\x7a\n" },
	{ "csv", 0,
		"1,caf\xc3\xa9,\\x00ff\n"
		"-20,\"\",\n"
		",,\\x\n"
		"x,\"a\"\"b\n\xe6\xb0\xb4\",\\x7a\n" },
	{ "tsv", 1,
		"id\tna,me\tb\n"
		"1\tcaf\xc3\xa9\t\\\\x00ff\n"
		"-20\t\t\\N\n"
		"\\N\t\\N\t\\\\x\n"
		"x\ta\"b\\n\xe6\xb0\xb4\t\\\\x7a\n" },
	{ "json", 1,
		"{\"id\":1,\"na,me\":\"caf\xc3\xa9\",\"b\":\"\\\\x00ff\"}\n"
		"{\"id\":-20,\"na,me\":\"\",\"b\":null}\n"
		"{\"id\":null,\"na,me\":null,\"b\":\"\\\\x\"}\n"
		"{\"id\":\"x\",\"na,me\":\"a\\\"b\\n\xe6\xb0\xb4\",\"b\":\"\\\\x7a\"}"
		"\n" },
	{ "unaligned", 1,
		"id|na,me|b\n"
		"1|caf\xc3\xa9|\\x00ff\n"
		"-20||NULL\n"
		"NULL|NULL|\\x\n"
		"x|a\"b\n\xe6\xb0\xb4|\\x7a\n" },
};

static void
each_format_writes_what_it_should(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = show(cases[i].format, cases[i].has_header, 0);

		if (strcmp(got, cases[i].expected) != 0)
			fail_msg("case %zu, %s: got\n%s", i, cases[i].format, got);
		free(got);
	}
}

static void
null_is_dimmed_where_colours_are_and_does_not_move_columns(void **state)
{
	char *got = show("table", 1, 1);

	assert_non_null(
		strstr(got, " \033[2mNULL\033[0m | \033[2mNULL\033[0m    | \\x\n"));
	free(got);
}

static const struct {
	uint32_t type;
	const char *value;
	const char *expected;
} json_values[] = {
	{ CENOTE_TYPE_INT64, "0", "0" },
	{ CENOTE_TYPE_INT64, "007", "\"007\"" },
	{ CENOTE_TYPE_INT64, "", "\"\"" },
	{ CENOTE_TYPE_INT64, "-", "\"-\"" },
	{ CENOTE_TYPE_DOUBLE, "1.5e-7", "1.5e-7" },
	{ CENOTE_TYPE_DOUBLE, "1.", "\"1.\"" },
	{ CENOTE_TYPE_DOUBLE, ".5", "\".5\"" },
	{ CENOTE_TYPE_DOUBLE, "1e", "\"1e\"" },
	{ CENOTE_TYPE_DOUBLE, "Inf", "\"Inf\"" },
	{ CENOTE_TYPE_DECIMAL, "123456789012345678901234567890.12",
		"123456789012345678901234567890.12" },
	{ CENOTE_TYPE_TEXT, "5", "\"5\"" },
	{ CENOTE_TYPE_BOOL, "1", "true" },
	{ CENOTE_TYPE_BOOL, "0", "false" },
	{ CENOTE_TYPE_TEXT, "\x01\x1f\\\xff\xc3",
		"\"\\u0001\\u001f\\\\\xef\xbf\xbd\xef\xbf\xbd\"" },
};

static void
json_is_always_json(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(json_values) / sizeof(json_values[0]); i++) {
		struct output_settings settings = { "NULL", "|", 1, 0 };
		struct output_column column = { "v", json_values[i].type };
		struct cell cell = { json_values[i].value, strlen(json_values[i].value) };
		char *data = NULL, expected[128];
		size_t size = 0;
		FILE *file = open_memstream(&data, &size);
		struct output *out =
			output_begin(&output_json, &settings, file, &column, 1);

		output_row(out, &cell);
		assert_int_equal(output_end(out, 1), 0);
		(void)fclose(file);
		(void)snprintf(expected, sizeof(expected), "{\"v\":%s}\n",
			json_values[i].expected);
		assert_string_equal(data, expected);
		free(data);
	}
}

/* Of 200,000 rows, the first thousand are kept, and the others are written as they come. */
static void
long_tables_are_written_as_they_come(void **state)
{
	struct output_settings settings = { "NULL", "|", 1, 0 };
	struct cell cells[3] = { { "1", 1 }, { "abc", 3 }, { NULL, 0 } };
	char *data = NULL;
	size_t size = 0, i;
	FILE *file = open_memstream(&data, &size);
	struct output *out = output_begin(&output_table, &settings, file, columns, 3);

	for (i = 0; i < 200000; i++) {
		if (i == 1500)
			cells[1] = (struct cell){ "wider than before", 17 };
		output_row(out, cells);
		assert_true(out->text.cap <= 131072);
	}
	(void)fflush(file);
	assert_true(size > 199000u * 10);
	assert_int_equal(output_end(out, 1), 0);
	(void)fclose(file);
	assert_non_null(strstr(data, "\n  1 | wider than before | NULL\n"));
	assert_non_null(strstr(data, "(200000 rows)"));
	free(data);
}

static void
a_file_that_is_full_is_told(void **state)
{
	struct output_settings settings = { "NULL", "|", 1, 0 };
	FILE *file = fopen("/dev/full", "w");
	struct output *out;

	assert_non_null(file);
	out = output_begin(&output_csv, &settings, file, columns, 3);
	output_row(out, rows[0]);
	assert_int_equal(output_end(out, 1), -1);
	(void)fclose(file);
}

static void
widths_are_those_of_the_terminal(void **state)
{
	assert_int_equal(display_width("abc", 3), 3);
	assert_int_equal(display_width("caf\xc3\xa9", 5), 4);
	assert_int_equal(display_width("\xe6\xb0\xb4", 3), 2);
	assert_int_equal(display_width("e\xcc\x81", 3), 1);
	assert_int_equal(display_width("\x1b[2J", 4), 7);
	assert_int_equal(display_width("\xff", 1), 4);
	/* An overlong form, a surrogate, a code beyond Unicode, a character that is cut. */
	assert_int_equal(display_width("\xc0\xaf", 2), 8);
	assert_int_equal(display_width("\xed\xa0\x80", 3), 12);
	assert_int_equal(display_width("\xf4\x90\x80\x80", 4), 16);
	assert_int_equal(display_width("\xe6\xb0", 2), 8);
}

static void
a_text_fits_a_screen_with_a_prompt_below(void **state)
{
	static const char three[] = "1234\n12\n\033[2m1234\033[0m\n";

	assert_true(pager_fits(three, strlen(three), 4, 4));
	assert_false(pager_fits(three, strlen(three), 3, 4));
	assert_false(pager_fits(three, strlen(three), 4, 3));
	/* Characters count, not bytes. */
	assert_true(pager_fits("caf\xc3\xa9", 5, 2, 4));
	assert_false(pager_fits("\xe6\xb0\xb4\xe6\xb0\xb4", 6, 2, 3));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_writes_what_it_should),
		cmocka_unit_test(
			null_is_dimmed_where_colours_are_and_does_not_move_columns),
		cmocka_unit_test(json_is_always_json),
		cmocka_unit_test(long_tables_are_written_as_they_come),
		cmocka_unit_test(a_file_that_is_full_is_told),
		cmocka_unit_test(widths_are_those_of_the_terminal),
		cmocka_unit_test(a_text_fits_a_screen_with_a_prompt_below),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
