/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pg.h"

#define FRONT "select 1; "

/* SQL, after a byte for the settings. A harmless statement before the SQL changes only one fact:
 * that there are several statements. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnd_pg_facts facts = { 0 };
	struct cnd_pg_scan alone, behind;
	uint32_t several;
	char *sql;

	if (size < 1)
		return 0;
	facts.has_standard_strings = data[0] & 1;
	sql = malloc(size + sizeof(FRONT));
	FUZZ_CHECK(sql != NULL);
	memcpy(sql, FRONT, sizeof(FRONT) - 1);
	memcpy(sql + sizeof(FRONT) - 1, data + 1, size - 1);
	cnd_pg_scan((const char *)data + 1, size - 1, &facts, &alone);
	cnd_pg_scan(sql, size + sizeof(FRONT) - 2, &facts, &behind);
	free(sql);
	FUZZ_CHECK(alone.pins == behind.pins);
	several = alone.flags & CND_PG_SCAN_EMPTY ? 0 : CND_PG_SCAN_SEVERAL;
	FUZZ_CHECK((alone.flags & ~(uint32_t)CND_PG_SCAN_EMPTY) ==
		   ((behind.flags & ~several) | (alone.flags & CND_PG_SCAN_SEVERAL)));
	return 0;
}
