/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "split.h"

/* Append all complete statements, each followed by a zero byte. */
static void
take_all(struct split *s, struct text *out)
{
	struct split_statement st;

	while (split_next(s, &st)) {
		text_add(out, st.sql, st.len);
		text_add_char(out, '\0');
	}
}

static void
split_all(uint32_t flags, const char *sql, size_t n, int by_line, struct text *out)
{
	struct split_statement st;
	struct split s;

	split_init(&s, flags);
	while (by_line && n > 0) {
		const char *end = memchr(sql, '\n', n);
		size_t len = end ? (size_t)(end - sql) + 1 : n;

		split_add(&s, sql, len);
		take_all(&s, out);
		sql += len;
		n -= len;
	}
	if (n > 0)
		split_add(&s, sql, n);
	take_all(&s, out);
	if (split_rest(&s, &st))
		text_add(out, st.sql, st.len);
	split_finish(&s);
}

/* Statements are the same whether the text comes at once or line by line, with the rules of any
 * server. They are parts of the input. The first byte chooses the rules. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const backends[] = { "sqlite", "postgresql", "mysql",
		"freetds", "" };
	struct text whole = { 0 }, lines = { 0 };
	uint32_t flags;
	const char *sql = (const char *)data + 1;

	if (size < 1 || size > 4096)
		return 0;
	flags = lex_flags_for(backends[data[0] % 5u]);
	split_all(flags, sql, size - 1, 0, &whole);
	split_all(flags, sql, size - 1, 1, &lines);
	FUZZ_CHECK(whole.len == lines.len &&
		   memcmp(text_str(&whole), text_str(&lines), whole.len) == 0);
	FUZZ_CHECK(whole.len <= 2 * size);
	text_finish(&whole);
	text_finish(&lines);
	return 0;
}
