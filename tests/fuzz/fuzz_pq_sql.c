/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "../common/charset.h"
#include "dialect/sql.h"

#define GBK 32u

/* Translate the placeholders. Nothing else changes, and no placeholder is left. */
static void
fuzz_translate(struct cnc_sql sql, enum cpq_placeholder style)
{
	struct cpq_places places, again;
	PQExpBufferData out, twice;
	int r;

	initPQExpBuffer(&out);
	initPQExpBuffer(&twice);
	r = cpq_sql_translate(sql, style, &out, &places);
	FUZZ_CHECK(r == 0 || r == 1);
	if (r == 0) {
		FUZZ_CHECK(style == CPQ_PLACEHOLDER_PLAIN || places.order == NULL);
		for (size_t i = 0; i < places.n; i++)
			FUZZ_CHECK(places.order[i] >= 1 &&
				   places.order[i] <= places.highest);
		if (style == CPQ_PLACEHOLDER_NUMBERED)
			FUZZ_CHECK(out.len == (size_t)(sql.end - sql.p));
		if (places.highest == 0)
			FUZZ_CHECK(strcmp(out.data, sql.p) == 0);
		sql.p = out.data;
		sql.end = out.data + out.len;
		FUZZ_CHECK(cpq_sql_translate(sql, style, &twice, &again) == 0);
		FUZZ_CHECK(again.highest == 0 && strcmp(twice.data, out.data) == 0);
		cpq_places_finish(&again);
	}
	cpq_places_finish(&places);
	termPQExpBuffer(&out);
	termPQExpBuffer(&twice);
}

static void
fuzz_heads(struct cnc_sql s)
{
	const char *end = s.end;
	const char *before = s.p;
	struct cpq_head head;

	while (cpq_sql_head(&s, &head)) {
		FUZZ_CHECK(s.p > before && s.p <= end);
		FUZZ_CHECK(strlen(head.tag) < CPQ_TAG_MAX);
		before = s.p;
	}
	FUZZ_CHECK(s.p == end);
}

/* The first byte chooses how the server reads SQL. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t rules[] = { CPQ_SQL_OTHER, CPQ_SQL_MYSQL, CPQ_SQL_SQLITE,
		CPQ_SQL_MYSQL & ~(unsigned)CNC_SQL_BACKSLASH };
	struct cnc_sql read;
	char *sql;

	if (size < 1)
		return 0;
	sql = malloc(size);
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, data + 1, size - 1);
	sql[size - 1] = '\0';
	read = cnc_sql_begin(sql, strlen(sql), rules[data[0] & 3u]);
	read.character = data[0] & GBK ? csh_gbk_valid : NULL;
	/* only SQLite has numbered placeholders */
	fuzz_translate(read, read.rules == CPQ_SQL_SQLITE ? CPQ_PLACEHOLDER_NUMBERED
							  : CPQ_PLACEHOLDER_PLAIN);
	fuzz_heads(read);
	free(sql);
	return 0;
}
