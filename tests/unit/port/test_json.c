/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_reader.h"

/* All objects as lines of name=value; NULL is name. A line without its newline has "~". An error adds "!line error" at the end. */
static char *
read_all(const char *input, size_t len)
{
	FILE *file = fmemopen((void *)(uintptr_t)input, len, "r");
	struct json_reader r;
	struct text out = { 0 };
	int result;

	assert_non_null(file);
	json_reader_init(&r, file);
	while ((result = json_read(&r)) > 0) {
		for (size_t i = 0; i < r.names.n; i++) {
			assert_int_equal(r.names.list[i].text[r.names.list[i].len], '\0');
			text_add(&out, r.names.list[i].text, r.names.list[i].len);
			if (r.values.list[i].text) {
				assert_int_equal(
					r.values.list[i].text[r.values.list[i].len],
					'\0');
				text_add_char(&out, '=');
				text_add(&out, r.values.list[i].text,
					r.values.list[i].len);
			}
			text_add_char(&out, ' ');
		}
		text_addf(&out, "@%lu%s\n", r.line, r.is_complete ? "" : "~");
		assert_true(r.n_bytes <= len);
	}
	if (result < 0)
		text_addf(&out, "!%lu %s", r.line, r.error);
	json_reader_finish(&r);
	(void)fclose(file);
	return out.data ? out.data : mem_dup("", 0);
}

static const struct {
	const char *input, *expected;
} cases[] = {
	{ "{\"a\":1,\"b\":\"x\"}\n{}\n", "a=1 b=x @1\n@2\n" },
	{ " { \"a\" : -1.50e+3 , \"b\" : null } \r\n", "a=-1.50e+3 b @1\n" },
	{ "\n\n{\"a\":true,\"b\":false,\"c\":\"\"}", "a=1 b=0 c= @3~\n" },
	{ "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}\n", "a=\"\\/\b\f\n\r\t @1\n" },
	{ "{\"\\u00e4\":\"\\u20ac\\ud83d\\ude00\"}\n", "ä=€😀 @1\n" },
	{ "{\"a\":[1, {\"b\": \"]}\"}],\"c\":{\"d\":[]}}\n",
		"a=[1, {\"b\": \"]}\"}] c={\"d\":[]} @1\n" },
	{ "{\"a\":123456789012345678901234567890.123456789}\n",
		"a=123456789012345678901234567890.123456789 @1\n" },
	/* errors */
	{ "[1]\n", "!1 each line must be a JSON object, {...}" },
	{ "{\"a\":1}\n{\"a\":1", "a=1 @1\n!2 the object is not closed" },
	{ "{\"a\":1} x\n", "!1 text after the object" },
	{ "{\"a\":01}\n", "!1 not a JSON value" },
	{ "{\"a\":1.}\n", "!1 not a JSON number" },
	{ "{\"a\":nul}\n", "!1 not a JSON value" },
	{ "{\"a\":}\n", "!1 not a JSON value" },
	{ "{\"a\"1}\n", "!1 a colon expected after a name" },
	{ "{a:1}\n", "!1 a name in quotes expected" },
	{ "{\"a\":\"\\x\"}\n", "!1 an escape that JSON does not have" },
	{ "{\"a\":\"\\ud83d\"}\n", "!1 \\u is half of a surrogate pair" },
	{ "{\"a\":\"\\ude00\"}\n", "!1 \\u is half of a surrogate pair" },
	{ "{\"a\":\"\\u12g4\"}\n", "!1 \\u needs four hexadecimal digits" },
	{ "{\"a\":\"\t\"}\n", "!1 a control character in a text" },
	{ "{\"a\":\"x\n", "!1 a quote is not closed" },
	{ "{\"a\":[1}\n", "!1 an object or array is not closed" },
};

static void
objects_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = read_all(cases[i].input, strlen(cases[i].input));

		assert_string_equal(got, cases[i].expected);
		free(got);
	}
}

/* A file that is cut gives the objects before the cut, and then either an error or a line that is not complete. */
static void
a_cut_file_is_noticed(void **state)
{
	static const char input[] =
		"{\"a\":\"\\u20ac\",\"b\":[1,{\"c\":2}]}\n{\"a\":1.5e3}\n";
	size_t first = (size_t)(strchr(input, '\n') - input);

	for (size_t len = 1; len < strlen(input); len++) {
		char *got = read_all(input, len);

		assert_true(len == first + 1 || strchr(got, '~') || strchr(got, '!'));
		if (len > first + 1)
			assert_ptr_equal(strstr(got, "a=€ b=[1,{\"c\":2}] @1\n"), got);
		free(got);
	}
}

static void
deep_nesting_is_an_error(void **state)
{
	struct text t = { 0 };
	char *got;

	text_add_str(&t, "{\"a\":");
	text_add_repeat(&t, '[', 100000);
	got = read_all(text_str(&t), t.len);
	assert_string_equal(got, "!1 objects and arrays are nested too deeply");
	free(got);
	text_finish(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_read),
		cmocka_unit_test(a_cut_file_is_noticed),
		cmocka_unit_test(deep_nesting_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
