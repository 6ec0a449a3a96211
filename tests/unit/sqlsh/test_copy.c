/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "lex.h"
#include "progress.h"

static const struct {
	const char *args;
	const char *expected; /* "table;columns;file;flags", or "!" and the error */
} cases[] = {
	{ "t from a.csv", "t;;a.csv;in" },
	{ "t FROM 'a file.csv' csv header\n", "t;;a file.csv;in header" },
	{ "main.\"odd from\" (a, \"b)\") from x tsv",
		"main.\"odd from\";a, \"b)\";x;in tsv" },
	{ "t to stdout", "t;;;out" },
	{ "t to STDOUT csv", "t;;;out" },
	{ "t to 'stdout.csv'", "t;;stdout.csv;out" },
	{ "t to stdout.csv", "t;;stdout.csv;out" },
	{ "t from - header", "t;;;in header" },
	{ "(select ')', \"(\" from t where a in (1)) to x.csv header",
		"select ')', \"(\" from t where a in (1);;x.csv;out query header" },
	{ "from from x", "from;;x;in" },
	{ "t", "!TABLE or (QUERY), then from or to expected" },
	{ "", "!TABLE or (QUERY), then from or to expected" },
	{ "(select 1 to x", "!a parenthesis or quote is not closed" },
	{ "(select 1) from x", "!a query can only be copied to a file" },
	{ "t from", "!FILE, stdin or stdout expected" },
	{ "t from ''", "!FILE, stdin or stdout expected" },
	{ "t from 'open", "!FILE, stdin or stdout expected" },
	{ "t from x csv nonsense",
		"!behind the file csv, tsv, header or with ... expected" },
};

static void
arguments_are_understood(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct copy c;
		struct text got = { 0 };
		const char *wrong =
			copy_parse(&c, lex_flags_for("sqlite"), cases[i].args);

		if (wrong)
			text_addf(&got, "!%s", wrong);
		else
			text_addf(&got, "%s;%s;%s;%s%s%s%s", text_str(&c.table),
				text_str(&c.columns), text_str(&c.file),
				c.is_import ? "in" : "out", c.is_query ? " query" : "",
				c.kind == CSV_TAB ? " tsv" : "",
				c.has_header ? " header" : "");
		if (strcmp(text_str(&got), cases[i].expected) != 0)
			fail_msg("case %zu: got %s", i, text_str(&got));
		text_finish(&got);
		copy_finish(&c);
	}
}

/* After WITH, the options belong to the server. A text that only begins like WITH does not. */
static void
options_of_the_server_go_to_it_as_they_are(void **state)
{
	static const struct {
		const char *args, *expected;
	} statements[] = {
		{ "t from x with (format csv)", "copy t from stdin with (format csv)" },
		{ "s.\"T\" (a, b) to stdout WITH csv",
			"copy s.\"T\" (a, b) to stdout WITH csv" },
		{ "(select 1) to 'a b' with(header)",
			"copy (select 1) to stdout with(header)" },
	};
	struct copy c;
	struct text sql = { 0 };

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		assert_null(copy_parse(&c, CNC_SQL_ANSI, statements[i].args));
		copy_statement(&c, &sql);
		assert_string_equal(text_str(&sql), statements[i].expected);
		text_clear(&sql);
		copy_finish(&c);
	}
	assert_non_null(copy_parse(&c, 0, "t from x without"));
	copy_finish(&c);
	assert_non_null(copy_parse(&c, 0, "t from x with"));
	copy_finish(&c);
	text_finish(&sql);
}

static void
inserts_name_columns_of_the_header_quoted(void **state)
{
	static const struct cell names[] = { { "a", 1 }, { "b\"); drop", 9 } };
	struct copy c;
	struct text sql = { 0 };

	assert_null(copy_parse(&c, 0, "t from x"));
	copy_insert(&c, names, 2, '"', 0, &sql);
	assert_string_equal(
		text_str(&sql), "insert into t (\"a\", \"b\"\"); drop\") values (?, ?)");
	text_clear(&sql);
	copy_insert(&c, (const struct cell[]){ { "a`b", 3 } }, 1, '`', 0, &sql);
	assert_string_equal(text_str(&sql), "insert into t (`a``b`) values (?)");
	text_clear(&sql);
	copy_insert(&c, NULL, 3, '"', 1, &sql);
	assert_string_equal(text_str(&sql), "insert into t values ($1, $2, $3)");
	copy_finish(&c);
	text_clear(&sql);
	assert_null(copy_parse(&c, 0, "t (x, y) from x"));
	copy_insert(&c, names, 2, '"', 0, &sql);
	assert_string_equal(text_str(&sql), "insert into t (x, y) values (?, ?)");
	copy_finish(&c);
	text_finish(&sql);
}

static const struct {
	uint64_t rows, bytes, total;
	double seconds;
	const char *expected;
} lines[] = {
	{ 1, 10, 0, 0, "1 row, 10 B" },
	{ 1234567, 2500000, 0, 2, "1,234,567 rows, 2.5 MB, 1.2 MB/s" },
	{ 999, 1000, 4000, 1,
		"999 rows, 1.0 kB, 1.0 kB/s   25 % [#####               ] ETA 0:03" },
	{ 5, 4000, 4000, 65,
		"5 rows, 4.0 kB, 62 B/s  100 % [####################] ETA 0:00" },
	{ 5, 4001, 4000, 65,
		"5 rows, 4.0 kB, 62 B/s  100 % [####################] ETA 0:00" },
	{ 0, 0, 4000, 1, "0 rows, 0 B, 0 B/s    0 % [                    ] ETA 0:00" },
};

static void
progress_tells_rate_part_and_time_left(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct text t = { 0 };

		progress_format(&t, lines[i].rows, lines[i].bytes, lines[i].total,
			lines[i].seconds);
		assert_string_equal(text_str(&t), lines[i].expected);
		text_finish(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_understood),
		cmocka_unit_test(options_of_the_server_go_to_it_as_they_are),
		cmocka_unit_test(inserts_name_columns_of_the_header_quoted),
		cmocka_unit_test(progress_tells_rate_part_and_time_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
