/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/sql.h"

/* Check that each token lies in the text, after the token before it, and that the text has an end.
 * Returns the number of tokens. */
static size_t
read_all(const char *sql, size_t n, uint32_t rules)
{
	struct cnc_sql x = cnc_sql_begin(sql, n, rules);
	const char *before = sql;
	struct cnc_sql_token t;
	size_t n_tokens = 0, n_inside;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		const char *inside = cnc_sql_inside(&t, &n_inside);

		FUZZ_CHECK(t.n > 0 && t.p >= before && t.p + t.n == x.p && x.p <= x.end);
		FUZZ_CHECK(inside >= t.p && inside + n_inside <= t.p + t.n);
		before = x.p;
		n_tokens++;
	}
	FUZZ_CHECK(x.p == x.end && cnc_sql_next(&x).kind == CNC_SQL_END);
	return n_tokens;
}

/* Read the text in memory that ends with it. */
static void
read_cut(const char *sql, size_t n, uint32_t rules)
{
	char *cut = malloc(n > 0 ? n : 1);

	FUZZ_CHECK(cut != NULL);
	memcpy(cut, sql, n);
	(void)read_all(cut, n, rules);
	free(cut);
}

/* Read the text line by line, at another address each time. The number of tokens must stay the
 * same. */
static void
read_lines(const char *sql, size_t n, uint32_t rules)
{
	struct cnc_sql x = cnc_sql_begin(sql, 0, rules);
	char *copies[64] = { NULL };
	size_t n_copies = 0, n_tokens = 0, len = 0;

	while (len < n && n_copies < 64) {
		const char *newline = memchr(sql + len, '\n', n - len);
		char *copy = malloc(n);
		size_t done = (size_t)(x.p - (n_copies > 0 ? copies[n_copies - 1] : sql));
		size_t begin = x.open.what != '\0'
				       ? (size_t)(x.open.begin - copies[n_copies - 1])
				       : done;

		FUZZ_CHECK(copy != NULL);
		len = newline != NULL && n_copies < 63 ? (size_t)(newline - sql) + 1 : n;
		memcpy(copy, sql, len);
		copies[n_copies++] = copy;
		if (x.open.what == '\0')
			x.p = copy + done;
		cnc_sql_resume(&x, copy + begin, copy + len);
		for (;;) {
			struct cnc_sql_token t = cnc_sql_next(&x);

			if (t.kind == CNC_SQL_END)
				break;
			/* this token comes again, as a whole */
			if (t.kind != CNC_SQL_BAD || x.open.what == '\0' || len == n)
				n_tokens++;
		}
	}
	FUZZ_CHECK(n_tokens == read_all(sql, n, rules));
	while (n_copies > 0)
		free(copies[--n_copies]);
}

/* The first byte chooses the rules. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t rules[] = { CNC_SQL_RAW, CNC_SQL_ANSI,
		CNC_SQL_POSTGRESQL | CNC_SQL_STRICT,
		CNC_SQL_POSTGRESQL_BACKSLASH | CNC_SQL_STRICT, CNC_SQL_MYSQL,
		CNC_SQL_MYSQL | CNC_SQL_DOLLAR, CNC_SQL_SQLITE, CNC_SQL_TDS,
		CNC_SQL_UNKNOWN, CNC_SQL_POSTGRESQL | CNC_SQL_COLON };
	const char *sql = (const char *)data + 1;
	uint32_t chosen;
	struct cnc_sql x;

	if (size < 1 || size > 4096)
		return 0;
	chosen = rules[data[0] % (sizeof(rules) / sizeof(rules[0]))];
	size--;
	read_cut(sql, size, chosen);
	for (size_t n = 0; size <= 128 && n < size; n++)
		read_cut(sql, n, chosen);
	/* Leave out two rules: a continued text may be unfinished at the end of a line, and a
	 * strict text never continues in the next line. */
	read_lines(sql, size, chosen & ~(uint32_t)(CNC_SQL_CONTINUED | CNC_SQL_STRICT));
	x = cnc_sql_begin(sql, size, chosen);
	(void)cnc_sql_verb(&x, cnc_sql_next(&x),
		CNC_SQL_THROUGH_PARENS | CNC_SQL_THROUGH_WITH | CNC_SQL_THROUGH_EXPLAIN);
	cnc_sql_skip_parens(&x);
	return 0;
}
