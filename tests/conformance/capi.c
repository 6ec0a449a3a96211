/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conformance cases through the C API: each case in every way that the API has to run it.
 *
 *     capi [-b BACKEND] [-o DRIVER] [-u URI] [-q QUIRKS] [-n PATTERN] [-w WAYS] FILE.case …
 *
 * BACKEND is sqlite, postgresql, mysql or freetds; with -o it is odbc, through that driver (support/cnt_odbc.h). WAYS are
 * names separated by blanks; the default is all ways. Without -u the program starts a cenoted on a new server or an
 * empty SQLite database. For freetds it uses the server that CENOTE_TEST_TDS names.
 */
#include "support/cnt_odbc.h"
#include "support/cnt_pool.h"
#include "ways.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "WAY|* CASE: reason" lines: the cases that are known to fail with this interface and backend. */
struct quirk {
	char way[32];
	char name[200];
	char reason[200];
};

struct suite {
	struct cnt_cases cases;
	struct quirk *quirks;
	size_t n_quirks;
	struct cnt_backend_names names;
	const struct cnt_odbc *odbc;
	const char *uri;
	const char *pattern;
	const char *ways; /* NULL: all */
	size_t n_run;
	size_t n_failed;
};

static int
read_quirks(struct suite *s, const char *path)
{
	char line[500];
	int n = 0;
	FILE *f = fopen(path, "re");

	if (!f) {
		perror(path);
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		struct quirk q;

		n++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%31s %199[^:]: %199[^\n]", q.way, q.name, q.reason) !=
			3) {
			fprintf(stderr, "%s:%d: not WAY CASE: REASON\n", path, n);
			fclose(f);
			return -1;
		}
		s->quirks = realloc(s->quirks, (s->n_quirks + 1) * sizeof(q));
		if (!s->quirks)
			abort();
		s->quirks[s->n_quirks++] = q;
	}
	fclose(f);
	return 0;
}

static const struct quirk *
find_quirk(const struct suite *s, const struct cnt_way *way, const struct cnt_case *test)
{
	size_t i;

	for (i = 0; i < s->n_quirks; i++) {
		const struct quirk *q = &s->quirks[i];

		if ((strcmp(q->way, "*") == 0 || strcmp(q->way, way->name) == 0) &&
			strcmp(q->name, test->name) == 0)
			return q;
	}
	return NULL;
}

/* Whether a list of names, separated by blanks, contains the way. */
static int
has_way(const char *list, const struct cnt_way *way)
{
	size_t len = strlen(way->name);
	const char *p = list;

	while ((p = strstr(p, way->name)) != NULL) {
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
			return 1;
		p += len;
	}
	return 0;
}

/* Run one case in one way. A case with a quirk runs as TODO. If such a case passes, the list of
 * quirks is out of date, which is a failure. */
static void
run_one(struct suite *s, const struct cnt_way *way, const struct cnt_case *test)
{
	char why[CNT_WHY_MAX] = "", *p;
	const struct quirk *q = find_quirk(s, way, test);
	int r;

	if (test->n_steps == 0 || has_way(test->not_ways, way))
		return;
	r = cnt_way_run(way, test, s->uri, why);
	s->n_run++;
	printf("%s %zu - %s: %s%s%s\n", r == 0 ? "ok" : "not ok", s->n_run, way->name,
		test->name, q ? " # TODO " : "", q ? q->reason : "");
	for (p = why; (p = strchr(p, '\n')) != NULL;)
		*p = ' ';
	if (r < 0)
		printf("# %s:%d: %s\n", test->file, test->line, why);
	if ((r < 0) != (q != NULL))
		s->n_failed++;
	fflush(stdout);
}

static void
run_all(struct suite *s)
{
	size_t i, w;

	/* Keep the order of the cases: some check what the previous case may have left. */
	for (w = 0; w < cnt_n_ways; w++) {
		if (s->ways && !has_way(s->ways, &cnt_ways[w]))
			continue;
		for (i = 0; i < s->cases.n_cases; i++) {
			const struct cnt_case *test = &s->cases.cases[i];

			if (!s->pattern || strstr(test->name, s->pattern))
				run_one(s, &cnt_ways[w], test);
		}
	}
	printf("1..%zu\n", s->n_run);
}

/* MySQL has a list of its own, in place of MariaDB's. */
static int
read_quirks_of_server(struct suite *s, const char *path)
{
	char text[PATH_MAX];

	if (strcmp(s->names.backend, "mysql") == 0 && s->odbc == NULL &&
		cnt_server_is_mysql()) {
		snprintf(text, sizeof(text), "%s-server", path);
		path = text;
	}
	return read_quirks(s, path);
}

static int
parse_arguments(struct suite *s, int argc, char **argv)
{
	const char *quirks = NULL;
	int c, i;

	while ((c = getopt(argc, argv, "b:o:u:q:n:w:")) != -1) {
		switch (c) {
		case 'b':
			s->names.backend = optarg;
			break;
		case 'o':
			s->odbc = cnt_odbc_find(optarg);
			if (!s->odbc)
				return -1;
			s->names.backend = s->odbc->backend;
			s->names.way = "odbc";
			s->names.placeholder = "?";
			break;
		case 'u':
			s->uri = optarg;
			break;
		case 'n':
			s->pattern = optarg;
			break;
		case 'w':
			s->ways = optarg;
			break;
		case 'q':
			quirks = optarg;
			break;
		default:
			return -1;
		}
	}
	if (quirks != NULL && read_quirks_of_server(s, quirks) < 0)
		return -1;
	for (i = optind; i < argc; i++) {
		if (cnt_cases_read(&s->cases, argv[i], &s->names) < 0)
			return -1;
	}
	return s->cases.n_cases > 0 ? 0 : -1;
}

static int
run_on_own(struct suite *s)
{
	struct cnt_pool pool;

	/* Use one session: some cases check what the previous case may have left in it. */
	if (cnt_pool_start(&pool, s->odbc ? s->odbc->name : s->names.backend, 1) < 0)
		return -1;
	s->uri = pool.daemon.uri;
	run_all(s);
	return cnt_pool_stop(&pool);
}

int
main(int argc, char **argv)
{
	struct suite s = { .names = { .backend = "sqlite" } };
	int r = 0;

	if (parse_arguments(&s, argc, argv) < 0) {
		fprintf(stderr, "usage: capi [-b sqlite|postgresql|mysql|freetds] [-o "
				"DRIVER] [-u URI] "
				"[-q QUIRKS] [-n PATTERN] [-w WAYS] FILE.case ...\n");
		cnt_cases_finish(&s.cases);
		free(s.quirks);
		return 2;
	}
	if (s.uri)
		run_all(&s);
	else
		r = run_on_own(&s);
	cnt_cases_finish(&s.cases);
	free(s.quirks);
	return r < 0 || s.n_failed > 0;
}
