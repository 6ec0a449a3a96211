/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_sql.h"
#include "sql_reader.h"

/* All rows as lines of {field}{field}; NULL is {}, the empty text is {''}. The end of a statement is ";". An error adds
 * "!line error" at the end. */
static char *
read_all(const char *input, size_t len, bool has_backslash)
{
	FILE *file = fmemopen((void *)(uintptr_t)input, len, "r");
	struct sql_reader r;
	struct text out = { 0 };
	int result;

	assert_non_null(file);
	sql_reader_init(&r, file, has_backslash);
	while ((result = sql_read(&r)) > 0) {
		for (size_t i = 0; i < r.fields.n; i++) {
			const struct cell *f = &r.fields.list[i];

			text_add_char(&out, '{');
			text_add(&out, f->text ? f->text : "", f->len);
			text_add_str(&out, f->text && f->len == 0 ? "''}" : "}");
			if (f->text)
				assert_int_equal(f->text[f->len], '\0');
		}
		text_addf(&out, "@%lu%s\n", r.line, r.is_complete ? ";" : "");
		assert_true(r.n_bytes <= len);
	}
	if (result < 0)
		text_addf(&out, "!%lu %s", r.line, r.error);
	sql_reader_finish(&r);
	(void)fclose(file);
	return out.data ? out.data : mem_dup("", 0);
}

#define INTO "INSERT INTO t (a, b) VALUES\n"

static const struct {
	bool has_backslash;
	const char *input, *expected;
} cases[] = {
	{ false, INTO "(1, 'x'),\n(-2.5e10, NULL);\n", "{1}{x}@2\n{-2.5e10}{}@3;\n" },
	{ false,
		"-- a comment\n" INTO "(TRUE, false);\n\n-- more\n" INTO
		"('', 'a''b\nc');",
		"{1}{0}@3;\n{''}{a'b\nc}@7\n" },
	{ false,
		"insert into \"s \"\"x\".[t]]] (`a`, \"b\") values (x'0aFF', "
		"0x0a),('\\x0a','\\');\n",
		"{\\x0aFF}{\\x0a}@1\n{\\x0a}{\\}@1;\n" },
	{ true, INTO "('a\\\\b', 'c\\'d\\n');\n", "{a\\b}{c'd\n}@2;\n" },
	{ false, INTO "(N'ä', 12345678901234567890123456789012345678901234567890.5);\n",
		"{ä}{12345678901234567890123456789012345678901234567890.5}@2;\n" },
	/* errors */
	{ false, "SELECT 1;\n", "!1 INSERT INTO table (columns) VALUES expected" },
	{ false, "INSERT INTO t VALUES (1);\n",
		"!1 the names of the columns expected after the table" },
	{ false, INTO "(1, 2);\nINSERT INTO t (a, c) VALUES (1, 2);\n",
		"{1}{2}@2;\n!3 other columns than in the first statement" },
	{ false, INTO "(1, now());\n",
		"!2 a number, a text in quotes, NULL, TRUE or FALSE expected" },
	{ false, INTO "(1, 0x0g);\n",
		"!2 a number, a text in quotes, NULL, TRUE or FALSE expected" },
	{ false, INTO "(1, 12345678901234567890123456789012345a);\n",
		"!2 a number, a text in quotes, NULL, TRUE or FALSE expected" },
	{ false, INTO "(1, 2);\n-no comment\n", "{1}{2}@2;\n!3 INSERT expected" },
	{ false, INTO "(1, 'x);\n", "!2 a quote is not closed" },
	{ false, INTO "(1, 2) x\n", "!2 a comma or semicolon expected after a row" },
	{ false, INTO "(1 2);\n", "!2 a comma or parenthesis expected after a value" },
	{ false, INTO "(1, 2),\n", "{1}{2}@2\n!3 a row in parentheses expected" },
};

static void
rows_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = read_all(
			cases[i].input, strlen(cases[i].input), cases[i].has_backslash);

		assert_string_equal(got, cases[i].expected);
		free(got);
	}
}

/* A file that is cut never gives a value that is not in the whole file, except at the end of a number. */
static void
a_cut_file_has_no_complete_end(void **state)
{
	static const char input[] =
		INTO "('a''b', x'00'),\n('c', NULL);\n" INTO "('d', 1);\n";
	size_t first = (size_t)(strstr(input, ";\n") - input) + 2;
	char *whole = read_all(input, strlen(input), false);

	for (size_t len = 1; len < strlen(input); len++) {
		char *got = read_all(input, len, false), *end = strrchr(got, '\n');
		size_t n = end ? (size_t)(end - got) + 1 : 0;
		size_t n_complete = 0;

		for (size_t i = 0; got[i]; i++)
			n_complete += got[i] == ';';
		/* "@4~" of the cut file is "@4;" of the whole one. */
		if (n > 1)
			assert_int_equal(strncmp(got, whole, n - 2), 0);
		assert_true(n_complete == (len >= first));
		free(got);
	}
	free(whole);
}

/* What output_sql.c writes for a server is what the reader reads. */
static void
written_rows_are_read(void **state)
{
	static const char *const dialects[] = { "postgresql", "mysql", "sqlite",
		"freetds", "odbc" };
	const struct output_column columns[] = { { "a \"`]x", CENOTE_TYPE_TEXT },
		{ "b", CENOTE_TYPE_BYTES }, { "c", CENOTE_TYPE_DOUBLE },
		{ "d", CENOTE_TYPE_BOOL } };
	const struct cell cells[] = { { "it's \\ \n;", 9 }, { "\0\xff", 2 },
		{ "-1e+30", 6 }, { "1", 1 } };

	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		const struct output_sql_settings settings = { .base = { .null_text = "" },
			.dialect = dialect_find(dialects[i]),
			.table = "t" };
		char *data, *got;
		size_t len;
		FILE *file = open_memstream(&data, &len);
		struct output *out =
			output_begin(&output_sql, &settings.base, file, columns, 4);

		output_row(out, cells);
		assert_int_equal(output_end(out, 1), 0);
		(void)fclose(file);
		got = read_all(data, len, settings.dialect->has_backslash);
		assert_string_equal(got, "{it's \\ \n;}{\\x00ff}{-1e+30}{1}@2;\n");
		free(got);
		free(data);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(a_cut_file_has_no_complete_end),
		cmocka_unit_test(written_rows_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
