/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last scans of statements, by their text, so that a repeated statement is not scanned again. It owns struct
 * cnd_pg_memo. exec.c, stmt.c and ahead.c call it.
 */
#include <string.h>

#include "pg.h"

static int
is_of(const struct cnd_pg_memo_entry *e, const char *sql, size_t len,
	const struct cnd_pg_facts *facts)
{
	return e->len == len && e->has_standard_strings == facts->has_standard_strings &&
	       memcmp(e->text, sql, len) == 0;
}

static void
keep(struct cnd_pg_memo *memo, const char *sql, size_t len,
	const struct cnd_pg_facts *facts, const struct cnd_pg_scan *scan)
{
	struct cnd_pg_memo_entry *e = &memo->entries[memo->next];

	memo->next = (memo->next + 1) % CND_PG_MEMO_ENTRIES;
	e->len = len;
	e->has_standard_strings = facts->has_standard_strings;
	e->scan = *scan;
	memcpy(e->text, sql, len);
}

void
cnd_pg_memo_scan(struct cnd_pg_memo *memo, const char *sql, size_t len,
	const struct cnd_pg_facts *facts, struct cnd_pg_scan *ret_scan)
{
	/* an unused entry has the length 0 */
	int is_short = len > 0 && len <= CND_PG_MEMO_TEXT_MAX;

	for (size_t i = 0; is_short && i < CND_PG_MEMO_ENTRIES; i++) {
		if (!is_of(&memo->entries[i], sql, len, facts))
			continue;
		*ret_scan = memo->entries[i].scan;
		return;
	}
	cnd_pg_scan(sql, len, facts, ret_scan);
	if (is_short)
		keep(memo, sql, len, facts, ret_scan);
}
