/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

/* The columns as name:type, the records as [a|b], and after a record behind which the file may be cut, its offset. An error adds
 * "!line error". */
static char *
read_all(const char *input, size_t len, const struct records_options *options)
{
	FILE *file = fmemopen((void *)(uintptr_t)input, len, "r");
	struct records r;
	struct text out = { 0 };
	int result;

	assert_non_null(file);
	records_init(&r, file, options);
	result = records_begin(&r);
	for (size_t i = 0; i < r.columns.n; i++) {
		text_addf(&out, "%s:", r.columns.list[i].name);
		columns_add_type(&out, &r.columns.list[i]);
		text_add_char(&out, ' ');
	}
	while (result >= 0 && (result = records_next(&r)) > 0) {
		for (size_t i = 0; i < r.n_cells; i++)
			text_addf(&out, "%s%s", i > 0 ? "|" : "[",
				r.cells[i].text ? r.cells[i].text : "-");
		text_add_char(&out, ']');
		if (records_is_complete(&r))
			text_addf(&out, "%llu", (unsigned long long)records_offset(&r));
	}
	if (result < 0)
		text_addf(&out, "!%lu %s", r.line, text_str(&r.error));
	records_finish(&r);
	(void)fclose(file);
	return out.data ? out.data : mem_dup("", 0);
}

#define CSV(typed)                                                                       \
	{                                                                                \
		.format = PORT_CSV, .has_header = true, .has_types = typed               \
	}
#define JSON(typed)                                                                      \
	{                                                                                \
		.format = PORT_JSON, .has_types = typed                                  \
	}
#define SQL(typed)                                                                       \
	{                                                                                \
		.format = PORT_SQL, .has_types = typed                                   \
	}

static const struct {
	struct records_options options;
	const char *input, *expected;
} cases[] = {
	{ CSV(false), "a,b\n1,\n2,x", "a:text b:text [1|-]7[2|x]" },
	{ CSV(true), "a:int64 key1,\"b:decimal(3,1)\"\n1,2\n",
		"a:int64 key1 b:decimal(3,1) [1|2]34" },
	{ CSV(true), "a,b\n1,2\n",
		"!1 the header has no types: it was not written with --types" },
	{ CSV(false), "a,b\n1\n", "a:text b:text !2 1 value, where 2 are expected" },
	{ JSON(false), "{\"a\":1,\"b\":2}\n{\"b\":3}\n{\"b\":4,\"a\":5}",
		"a:text b:text [1|2]14[-|3]22[5|4]" },
	{ JSON(true), "{\"a\":\"int64 key1\"}\n{\"a\":1}\n", "a:int64 key1 [1]27" },
	{ JSON(true), "{\"a\":1}\n",
		"a:text !1 the first line has no types: it was not written with "
		"--types" },
	{ JSON(false), "{\"a\":1}\n{\"c\":1}\n",
		"a:text [1]8!2 the first object has no member \"c\"" },
	{ JSON(false), "{\"a\":1}\n{\"a\":1,\"a\":2}\n",
		"a:text [1]8!2 the member \"a\" is there twice" },
	{ SQL(false), "INSERT INTO t (a, b) VALUES (1, 2),\n(3, 4);\n",
		"a:text b:text [1|2][3|4]44" },
	{ SQL(true),
		"-- cenote: a:int64 key1,b:text\nINSERT INTO t (a, b) VALUES (1, 2);\n",
		"a:int64 key1 b:text [1|2]67" },
	{ SQL(true), "INSERT INTO t (a) VALUES (1);\n",
		"!1 there is no comment with types: the file was not written with "
		"--types" },
	{ SQL(true), "-- cenote: a:int64,b:text\nINSERT INTO t (a) VALUES (1);\n",
		"!2 the comment in the first line has no valid types" },
};

static void
records_are_read_in_every_format(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].input);
		char *got = read_all(cases[i].input, len, &cases[i].options);

		assert_string_equal(got, cases[i].expected);
		free(got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_read_in_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
