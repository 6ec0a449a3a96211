/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_tds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
cnt_tds_line(void)
{
	const char *line = getenv("CENOTE_TEST_TDS");

	return line && *line ? line : NULL;
}

void
cnt_tds_need(void)
{
	if (cnt_tds_line())
		return;
	printf("1..0 # SKIP no TDS server: set CENOTE_TEST_TDS "
	       "(tests/support/cnt_tds.h)\n");
	exit(0);
}

const char *
cnt_tds_option(const char *key)
{
	static char value[256];
	const char *p = cnt_tds_line();
	size_t n = strlen(key);

	for (; p && *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (strncmp(p, key, n) != 0 || p[n] != '=')
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(p + n + 1, " "),
			p + n + 1);
		return value;
	}
	return NULL;
}
