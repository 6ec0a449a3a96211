/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the programs of a test suite: when a process ends, the libraries called libpq that it
 * has mapped go to the file CENOTE_WITNESS.PID. At the end, because drivers are loaded late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
copy_paths(FILE *maps, FILE *out)
{
	char line[8192];
	char last[sizeof(line)] = "";

	while (fgets(line, sizeof(line), maps) != NULL) {
		char *path = strchr(line, '/');

		if (path == NULL || (strstr(path, "/libpq.so") == NULL &&
					    strstr(path, "/libpq-") == NULL))
			continue;
		if (strcmp(path, last) != 0)
			fputs(path, out);
		snprintf(last, sizeof(last), "%s", path);
	}
}

__attribute__((destructor)) static void
testify(void)
{
	const char *prefix = getenv("CENOTE_WITNESS");
	char name[4096];
	FILE *maps;
	FILE *out;

	if (prefix == NULL)
		return;
	snprintf(name, sizeof(name), "%s.%ld", prefix, (long)getpid());
	maps = fopen("/proc/self/maps", "r");
	out = fopen(name, "a");
	if (maps != NULL && out != NULL)
		copy_paths(maps, out);
	if (maps != NULL)
		fclose(maps);
	if (out != NULL)
		fclose(out);
}
