/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "../common/charset.h"
#include "dialect/sql.h"

#define RULES 31u
#define GBK   32u

/* What the placeholders become: nothing but they is changed, and none is left. */
static void
fuzz_translate(struct cpq_sql sql, enum cpq_placeholder style)
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
			FUZZ_CHECK(out.len == strlen(sql.at));
		if (places.highest == 0)
			FUZZ_CHECK(strcmp(out.data, sql.at) == 0);
		sql.at = out.data;
		FUZZ_CHECK(cpq_sql_translate(sql, style, &twice, &again) == 0);
		FUZZ_CHECK(again.highest == 0 && strcmp(twice.data, out.data) == 0);
		cpq_places_finish(&again);
	}
	cpq_places_finish(&places);
	termPQExpBuffer(&out);
	termPQExpBuffer(&twice);
}

static void
fuzz_heads(struct cpq_sql s)
{
	const char *end = s.at + strlen(s.at);
	const char *before = s.at;
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
	struct cpq_sql read = { .at = NULL };
	char *sql;

	if (size < 1)
		return 0;
	read.rules = data[0] & RULES;
	read.character = data[0] & GBK ? csh_gbk_valid : NULL;
	sql = malloc(size);
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, data + 1, size - 1);
	sql[size - 1] = '\0';
	read.at = sql;
	fuzz_translate(read, CPQ_PLACEHOLDER_NUMBERED);
	fuzz_translate(read, CPQ_PLACEHOLDER_PLAIN);
	fuzz_heads(read);
	free(sql);
	return 0;
}
