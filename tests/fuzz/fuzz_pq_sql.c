/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "dialect/sql.h"

#define RULES 31u

/* What the placeholders become: nothing but they is changed, and none is left. */
static void
fuzz_translate(const char *sql, unsigned rules, enum cpq_placeholder style)
{
	struct cpq_places places, again;
	PQExpBufferData out, twice;
	int r;

	initPQExpBuffer(&out);
	initPQExpBuffer(&twice);
	r = cpq_sql_translate(sql, rules, style, &out, &places);
	FUZZ_CHECK(r == 0 || r == 1);
	if (r == 0) {
		FUZZ_CHECK(style == CPQ_PLACEHOLDER_PLAIN || places.order == NULL);
		for (size_t i = 0; i < places.n; i++)
			FUZZ_CHECK(places.order[i] >= 1 &&
				   places.order[i] <= places.highest);
		if (style == CPQ_PLACEHOLDER_NUMBERED)
			FUZZ_CHECK(out.len == strlen(sql));
		if (places.highest == 0)
			FUZZ_CHECK(strcmp(out.data, sql) == 0);
		FUZZ_CHECK(
			cpq_sql_translate(out.data, rules, style, &twice, &again) == 0);
		FUZZ_CHECK(again.highest == 0 && strcmp(twice.data, out.data) == 0);
		cpq_places_finish(&again);
	}
	cpq_places_finish(&places);
	termPQExpBuffer(&out);
	termPQExpBuffer(&twice);
}

static void
fuzz_heads(const char *sql, unsigned rules)
{
	struct cpq_sql s = { sql, rules };
	const char *end = sql + strlen(sql);
	const char *before = sql;
	struct cpq_head head;

	while (cpq_sql_head(&s, &head)) {
		FUZZ_CHECK(s.at > before && s.at <= end);
		FUZZ_CHECK(strlen(head.tag) < CPQ_TAG_MAX);
		before = s.at;
	}
	FUZZ_CHECK(s.at == end);
}

/* The first byte chooses how the server reads SQL. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *sql;

	if (size < 1)
		return 0;
	sql = malloc(size);
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, data + 1, size - 1);
	sql[size - 1] = '\0';
	fuzz_translate(sql, data[0] & RULES, CPQ_PLACEHOLDER_NUMBERED);
	fuzz_translate(sql, data[0] & RULES, CPQ_PLACEHOLDER_PLAIN);
	fuzz_heads(sql, data[0] & RULES);
	free(sql);
	return 0;
}
