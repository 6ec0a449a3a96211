/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

/* All records as lines of {field}{field}; NULL is {}, the empty text is {''}. An error adds
 * "!line error" at the end. */
static char *
read_all(const char *input, size_t len, enum csv_kind kind)
{
	FILE *file = fmemopen((void *)(uintptr_t)input, len, "r");
	struct csv_reader r;
	struct text out = { 0 };
	char *ret;
	int result;

	assert_non_null(file);
	csv_reader_init(&r, file, kind);
	while ((result = csv_read(&r)) > 0) {
		size_t i;

		for (i = 0; i < r.fields.n; i++) {
			const struct cell *f = &r.fields.list[i];

			text_add_char(&out, '{');
			text_add(&out, f->text ? f->text : "", f->len);
			text_add_str(&out, f->text && f->len == 0 ? "''}" : "}");
			if (f->text)
				assert_int_equal(f->text[f->len], '\0');
		}
		text_addf(&out, "@%lu\n", r.line);
	}
	if (result < 0)
		text_addf(&out, "!%lu %s", r.line, r.error);
	csv_reader_finish(&r);
	(void)fclose(file);
	ret = mem_dup(text_str(&out), out.len);
	text_finish(&out);
	return ret;
}

static const struct {
	enum csv_kind kind;
	const char *input;
	const char *expected;
} cases[] = {
	{ CSV_COMMA, "a,b\n1,2\n", "{a}{b}@1\n{1}{2}@2\n" },
	{ CSV_COMMA, "a,b\r\n1,2", "{a}{b}@1\n{1}{2}@2\n" },
	{ CSV_COMMA, ",\"\",x,\n", "{}{''}{x}{}@1\n" },
	{ CSV_COMMA, "\"a\nb\",\"c\"\"d\"\nnext,\"\"\n",
		"{a\nb}{c\"d}@1\n{next}{''}@3\n" },
	{ CSV_COMMA,
		"\xef\xbb\xbf"
		"a,b\n",
		"{a}{b}@1\n" },
	{ CSV_COMMA, "\n\n", "{}@1\n{}@2\n" },
	{ CSV_COMMA, "a\rb,c\n", "{a\rb}{c}@1\n" },
	{ CSV_COMMA, "ok\n\"open\nx", "{ok}@1\n!2 a quote is not closed" },
	{ CSV_COMMA, "\"a\"b\n", "!1 text behind a closing quote" },
	{ CSV_COMMA, "a\"b\n", "!1 a quote within a field that does not begin with one" },
	{ CSV_TAB, "a\tb\n\\N\t\n", "{a}{b}@1\n{}{''}@2\n" },
	{ CSV_TAB, "a\\tb\\nc\\\\d\\r\tN\n", "{a\tb\nc\\d\r}{N}@1\n" },
	{ CSV_TAB, "\\Nx\t\\\\N\t\"q\"\n", "{Nx}{\\N}{\"q\"}@1\n" },
	{ CSV_TAB, "a\\", "!1 a backslash at the end of the file" },
};

static void
records_are_read_as_written(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got =
			read_all(cases[i].input, strlen(cases[i].input), cases[i].kind);

		if (strcmp(got, cases[i].expected) != 0)
			fail_msg("case %zu: got %s", i, got);
		free(got);
	}
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Reading what was written returns the same values, whatever they are. */
static void
reading_undoes_writing(void **state)
{
	static const char alphabet[] = "a,\"\n\r\t\\N x";
	uint32_t seed = 20261121;
	int round;

	for (round = 0; round < 3000; round++) {
		enum csv_kind kind = round % 2 ? CSV_TAB : CSV_COMMA;
		struct text written = { 0 };
		struct csv_reader r;
		struct cell cells[3];
		char values[3][6];
		FILE *file;
		size_t i, k;

		for (i = 0; i < 3; i++) {
			cells[i].len = next_random(&seed) % 6;
			cells[i].text = next_random(&seed) % 5 ? values[i] : NULL;
			for (k = 0; k < cells[i].len; k++)
				values[i][k] = alphabet[next_random(&seed) %
							(sizeof(alphabet) - 1)];
			if (i > 0)
				text_add_char(&written, csv_separator(kind));
			csv_add_field(&written, kind, &cells[i]);
		}
		text_add_char(&written, '\n');
		file = fmemopen(written.data, written.len, "r");
		csv_reader_init(&r, file, kind);
		if (csv_read(&r) != 1 || r.fields.n != 3)
			fail_msg("round %d: %s", round, text_str(&written));
		for (i = 0; i < 3; i++) {
			assert_int_equal(!r.fields.list[i].text, !cells[i].text);
			if (!cells[i].text)
				continue;
			assert_int_equal(r.fields.list[i].len, cells[i].len);
			assert_memory_equal(
				r.fields.list[i].text, values[i], cells[i].len);
		}
		assert_int_equal(csv_read(&r), 0);
		csv_reader_finish(&r);
		(void)fclose(file);
		text_finish(&written);
	}
}

static void
records_longer_than_the_buffer_are_whole(void **state)
{
	struct text input = { 0 };
	struct csv_reader r;
	FILE *file;
	size_t len = CSV_BUFFER_SIZE * 3 - 2;

	text_add_char(&input, '"');
	text_add_repeat(&input, 'x', len);
	text_add_str(&input, "\"\"\",2\r\n3,4\r\n");
	file = fmemopen(input.data, input.len, "r");
	csv_reader_init(&r, file, CSV_COMMA);
	assert_int_equal(csv_read(&r), 1);
	assert_int_equal(r.fields.n, 2);
	assert_int_equal(r.fields.list[0].len, len + 1);
	assert_int_equal(r.fields.list[0].text[len], '"');
	assert_int_equal(csv_read(&r), 1);
	assert_string_equal(r.fields.list[1].text, "4");
	assert_int_equal(r.n_bytes, input.len);
	csv_reader_finish(&r);
	(void)fclose(file);
	text_finish(&input);
}

static void
too_many_fields_are_an_error(void **state)
{
	struct text input = { 0 };
	char *got;

	text_add_repeat(&input, ',', CSV_FIELDS_MAX);
	got = read_all(input.data, input.len, CSV_COMMA);
	assert_string_equal(got, "!1 too many fields");
	free(got);
	text_finish(&input);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_read_as_written),
		cmocka_unit_test(reading_undoes_writing),
		cmocka_unit_test(records_longer_than_the_buffer_are_whole),
		cmocka_unit_test(too_many_fields_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
