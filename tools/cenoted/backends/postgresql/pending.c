/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <strings.h>

#include "pg.h"

/* What is not read more exactly is taken for the worst. */

static int
begins_with(const char *sql, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && strncasecmp(sql, word, n) == 0 &&
	       (len == n || !isalnum((unsigned char)sql[n]));
}

void
cnd_pg_scan(const char *sql, size_t len, const struct cnd_pg_facts *facts,
	struct cnd_pg_scan *ret_scan)
{
	static const char *const words[] = { "begin", "start", "commit", "rollback",
		"end", "abort", "prepare" };
	const char *semicolon;

	(void)facts;
	*ret_scan = (struct cnd_pg_scan){ CENOTE_PIN_FUNCTION, 0 };
	while (len > 0 && isspace((unsigned char)*sql)) {
		sql++;
		len--;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (begins_with(sql, len, words[i]))
			ret_scan->flags |= CND_PG_SCAN_TX;
	}
	semicolon = memchr(sql, ';', len);
	if (semicolon != NULL && semicolon + 1 < sql + len)
		ret_scan->flags |= CND_PG_SCAN_SEVERAL;
	if (len == 0)
		ret_scan->flags |= CND_PG_SCAN_EMPTY;
}

int
cnd_pg_catalog_query(const struct cnp_catalog *filter, int version,
	struct cnd_pg_catalog *ret_query, struct cnc_diag *ret_diag)
{
	(void)filter;
	(void)version;
	(void)ret_query;
	(void)ret_diag;
	return CENOTE_ERR_UNSUPPORTED;
}
