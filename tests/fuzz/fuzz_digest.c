/* SPDX-License-Identifier: BSD-2-Clause */
/* The digest of any bytes: it is the same whatever its texts say and however much of it is wanted. The first byte chooses the rules. */
#include "fuzz.h"

#include <string.h>

#include "core/digest.h"
#include "core/sql.h"

#define TEXT_MAX 16384u

/* Digest a copy that ends with the text. Returns the hash; `to` gets the digest and a zero byte. */
static uint64_t
digest(const char *sql, size_t n, uint32_t rules, char to[TEXT_MAX])
{
	char *cut = malloc(n > 0 ? n : 1);
	uint64_t hash, again;
	size_t len;

	FUZZ_CHECK(cut != NULL);
	memcpy(cut, sql, n);
	len = cnc_digest(cut, n, rules, to, TEXT_MAX - 1, &hash);
	FUZZ_CHECK(len < TEXT_MAX);
	to[len] = '\0';
	FUZZ_CHECK(cnc_digest(cut, n, rules, NULL, 0, &again) == len && again == hash);
	free(cut);
	return hash;
}

/* Overwrite what stands between the quotes of each text. */
static void
blacken(char *sql, size_t n, uint32_t rules)
{
	struct cnc_sql x = cnc_sql_begin(sql, n, rules);
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		size_t len;
		const char *inside = cnc_sql_inside(&t, &len);

		if (t.kind == CNC_SQL_TEXT)
			memset(sql + (inside - sql), 'x', len);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t rules[] = { CNC_SQL_POSTGRESQL | CNC_SQL_STRICT,
		CNC_SQL_POSTGRESQL_BACKSLASH | CNC_SQL_STRICT,
		(CNC_SQL_MYSQL & ~CNC_SQL_EXECUTED) | CNC_DIGEST_UNSURE_REST,
		CNC_SQL_SQLITE | CNC_DIGEST_UNSURE_NAMES,
		CNC_SQL_TDS | CNC_DIGEST_UNSURE_NAMES, CNC_SQL_ANSI };
	static char before[TEXT_MAX], after[TEXT_MAX];
	char sql[4096];
	uint64_t hash;
	uint32_t chosen;

	if (size < 1 || size > sizeof(sql))
		return 0;
	chosen = rules[data[0] % (sizeof(rules) / sizeof(rules[0]))];
	size--;
	memcpy(sql, data + 1, size);
	hash = digest(sql, size, chosen, before);
	blacken(sql, size, chosen);
	FUZZ_CHECK(digest(sql, size, chosen, after) == hash);
	FUZZ_CHECK(strcmp(before, after) == 0);
	for (size_t n = 0; size <= 128 && n < size; n++)
		(void)digest(sql, n, chosen, after);
	return 0;
}
