/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: sql_summary BACKEND
 *
 * Print what the rules of a pool with this backend see in each statement on standard input; a zero byte ends a statement.
 * The line is: classes, a tab, tables, each with a tab behind it. The suites sql_summary and sql_summary_mariadb compare
 * this with what the servers themselves say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_rules.h"

static void
print_summary(const char *sql, size_t len, uint32_t dialect)
{
	char text[CND_CLASSES_TEXT_MAX];
	struct cnd_summary s;

	cnd_summarize(sql, len, dialect, &s);
	printf("%s\t", s.is_unsure || s.tables.is_cut
			       ? "unsure"
			       : cnd_classes_text(s.classes, text));
	for (uint32_t i = 0; i < s.tables.n; i++) {
		size_t n;
		const char *p = cnc_sql_inside(&s.tables.list[i].name, &n);

		printf("%.*s\t", (int)n, p);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	char *sql = NULL;
	size_t size = 0;
	ssize_t n;

	if (argc != 2) {
		fputs("usage: sql_summary BACKEND\n", stderr);
		return 2;
	}
	while ((n = getdelim(&sql, &size, '\0', stdin)) > 0)
		print_summary(sql, strlen(sql), cnd_query_dialect(argv[1]));
	free(sql);
	return 0;
}
