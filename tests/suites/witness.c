/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the programs of a test suite: when a process ends, the client libraries that it
 * has mapped go to the file CENOTE_WITNESS.PID. At the end, because drivers are loaded late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wheels have copies under names such as libpq-1a2b3c.so. */
static int
is_client_library(const char *path)
{
	static const char *const names[] = { "/libpq.so", "/libpq-", "/libmariadb.so",
		"/libmariadb-", "/libmysqlclient.so", "/libmysqlclient-",
		"/libcenoteodbc.so", "/psqlodbcw.so", "/libmaodbc.so" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strstr(path, names[i]) != NULL)
			return 1;
	}
	return 0;
}

static void
copy_paths(FILE *maps, FILE *out)
{
	char line[8192];
	char last[sizeof(line)] = "";

	while (fgets(line, sizeof(line), maps) != NULL) {
		char *path = strchr(line, '/');

		if (path == NULL || !is_client_library(path))
			continue;
		if (strcmp(path, last) != 0)
			fputs(path, out);
		snprintf(last, sizeof(last), "%s", path);
	}
}

static char prefix[2048];

/* The program, for whoever looks into the file. */
static void
copy_command(FILE *out)
{
	FILE *command = fopen("/proc/self/cmdline", "r");
	int c;

	if (command == NULL)
		return;
	fputs("# ", out);
	while ((c = getc(command)) != EOF)
		putc(c == '\0' || c == '\n' ? ' ' : c, out);
	putc('\n', out);
	fclose(command);
}

/* Some programs have no environment any more when they end. */
__attribute__((constructor)) static void
remember(void)
{
	const char *value = getenv("CENOTE_WITNESS");

	if (value != NULL)
		snprintf(prefix, sizeof(prefix), "%s", value);
}

__attribute__((destructor)) static void
testify(void)
{
	char name[4096];
	FILE *maps;
	FILE *out;

	if (prefix[0] == '\0')
		return;
	snprintf(name, sizeof(name), "%s.%ld", prefix, (long)getpid());
	maps = fopen("/proc/self/maps", "r");
	out = fopen(name, "a");
	if (maps != NULL && out != NULL) {
		copy_command(out);
		copy_paths(maps, out);
	}
	if (maps != NULL)
		fclose(maps);
	if (out != NULL)
		fclose(out);
}
