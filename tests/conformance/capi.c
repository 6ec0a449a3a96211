/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conformance cases through the C API: each case in every way that the API has to run it.
 *
 *     capi [-b BACKEND] [-u URI] [-q QUIRKS] [-n PATTERN] FILE.case …
 *
 * BACKEND is sqlite, postgresql or mysql. Without -u it starts a cenoted of its own, on a server of
 * its own or an empty SQLite database.
 */
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "WAY|* CASE: reason" lines: what this face on this backend is known not to give. */
struct quirk {
	char way[32];
	char name[200];
	char reason[200];
};

struct suite {
	struct cnt_cases cases;
	struct quirk *quirks;
	size_t n_quirks;
	const char *backend;
	const char *uri;
	const char *pattern;
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

static int
is_excluded(const struct cnt_case *test, const struct cnt_way *way)
{
	size_t len = strlen(way->name);
	const char *p = test->not_ways;

	while ((p = strstr(p, way->name)) != NULL) {
		if ((p == test->not_ways || p[-1] == ' ') &&
			(p[len] == ' ' || p[len] == '\0'))
			return 1;
		p += len;
	}
	return 0;
}

/* A quirk is marked as TODO: it is run, and when it passes the list is out of date. */
static void
run_one(struct suite *s, const struct cnt_way *way, const struct cnt_case *test)
{
	char why[CNT_WHY_MAX] = "";
	const struct quirk *q = find_quirk(s, way, test);
	int r;

	if (test->n_steps == 0 || is_excluded(test, way))
		return;
	r = cnt_way_run(way, test, s->uri, why);
	s->n_run++;
	printf("%s %zu - %s: %s%s%s\n", r == 0 ? "ok" : "not ok", s->n_run, way->name,
		test->name, q ? " # TODO " : "", q ? q->reason : "");
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

	/* In their order, since some look for what the one before may have left. */
	for (w = 0; w < cnt_n_ways; w++) {
		for (i = 0; i < s->cases.n_cases; i++) {
			const struct cnt_case *test = &s->cases.cases[i];

			if (!s->pattern || strstr(test->name, s->pattern))
				run_one(s, &cnt_ways[w], test);
		}
	}
	printf("1..%zu\n", s->n_run);
}

static int
parse_arguments(struct suite *s, int argc, char **argv)
{
	int c, i;

	while ((c = getopt(argc, argv, "b:u:q:n:")) != -1) {
		switch (c) {
		case 'b':
			s->backend = optarg;
			break;
		case 'u':
			s->uri = optarg;
			break;
		case 'n':
			s->pattern = optarg;
			break;
		case 'q':
			if (read_quirks(s, optarg) < 0)
				return -1;
			break;
		default:
			return -1;
		}
	}
	for (i = optind; i < argc; i++) {
		if (cnt_cases_read(&s->cases, argv[i], s->backend) < 0)
			return -1;
	}
	return s->cases.n_cases > 0 ? 0 : -1;
}

/* Ends the program as a skipped test where the server is not installed. */
static int
start_server(const struct suite *s, struct cnt_server *server, const char **ret_pool)
{
	static char pool[512];
	enum cnt_server_kind kind =
		strcmp(s->backend, "mysql") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;

	if (strcmp(s->backend, "sqlite") == 0) {
		*ret_pool = CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 1..1\n";
		return 0;
	}
	cnt_server_need(kind);
	if (cnt_server_start(server, kind, 0) < 0)
		return -1;
	if (kind == CNT_MARIADB)
		strncat(server->server_line, " local_infile=yes",
			sizeof(server->server_line) - strlen(server->server_line) - 1);
	*ret_pool = cnt_server_config(server, "sessions = 1..1\n", pool, sizeof(pool));
	return 0;
}

static int
run_on_own(struct suite *s)
{
	struct cnt_server server = { 0 };
	struct cnt_daemon daemon = { 0 };
	const char *pool;
	int r = -1;

	if (start_server(s, &server, &pool) == 0 &&
		cnt_daemon_start(&daemon, pool) == 0) {
		s->uri = daemon.uri;
		run_all(s);
		r = cnt_daemon_stop(&daemon);
	}
	cnt_server_stop(&server);
	return r;
}

int
main(int argc, char **argv)
{
	struct suite s = { .backend = "sqlite" };
	int r = 0;

	if (parse_arguments(&s, argc, argv) < 0) {
		fprintf(stderr, "usage: capi [-b sqlite|postgresql|mysql] [-u URI] "
				"[-q QUIRKS] [-n PATTERN] FILE.case ...\n");
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
