/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Print what a pool's rules see in each statement of PostgreSQL on standard input; a zero byte ends a statement. The line is:
 * classes, a tab, tables, each with a tab behind it. tests/suites/sql_summary compares this with PostgreSQL's own parser.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/summary.h"

static void
print_summary(const char *sql, size_t len)
{
	char text[CND_CLASSES_TEXT_MAX];
	struct cnd_summary s;

	cnd_summarize(sql, len, CNC_SQL_POSTGRESQL, &s);
	printf("%s\t", s.is_unsure ? "unsure" : cnd_classes_text(s.classes, text));
	for (uint32_t i = 0; i < s.tables.n; i++) {
		size_t n;
		const char *p = cnc_sql_inside(&s.tables.list[i].name, &n);

		printf("%.*s\t", (int)n, p);
	}
	putchar('\n');
}

int
main(void)
{
	char *sql = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getdelim(&sql, &size, '\0', stdin)) > 0)
		print_summary(sql, strlen(sql));
	free(sql);
	return 0;
}
