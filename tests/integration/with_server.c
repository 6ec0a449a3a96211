/* SPDX-License-Identifier: BSD-2-Clause */
/* The server that a test's argument names, and pools on it: PostgreSQL and MariaDB run from a group's setup to its teardown, and
 * SQLite needs only a file. */
#include "with_server.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[WS_POSTGRESQL] = "postgresql",
	[WS_MARIADB] = "mariadb",
	[WS_SQLITE] = "sqlite",
};

enum ws_kind ws_kind;
struct cnt_server ws_server;

static enum cnt_server_kind
server_kind(void)
{
	return ws_kind == WS_MARIADB ? CNT_MARIADB : CNT_POSTGRESQL;
}

bool
ws_choose(int argc, char **argv, const char *servers)
{
	for (size_t i = 0; argc == 2 && i < CNT_COUNT(names); i++) {
		if (strcmp(names[i], argv[1]) != 0 || strstr(servers, names[i]) == NULL)
			continue;
		ws_kind = (enum ws_kind)i;
		if (ws_kind != WS_SQLITE)
			cnt_server_need(server_kind());
		return true;
	}
	fprintf(stderr, "usage: %s %s\n", argv[0], servers);
	return false;
}

int
ws_setup(void **state)
{
	return ws_kind == WS_SQLITE ? 0 : cnt_server_start(&ws_server, server_kind(), 0);
}

int
ws_teardown(void **state)
{
	if (ws_kind != WS_SQLITE)
		cnt_server_stop(&ws_server);
	return 0;
}

const char *
ws_config(const char *lines, char *ret, size_t size)
{
	if (ws_kind != WS_SQLITE)
		return cnt_server_config(&ws_server, lines, ret, size);
	snprintf(ret, size, WP_POOL("%s"), lines);
	return ret;
}

void
ws_start(const char *lines)
{
	static char config[8192];

	wp_start(ws_config(lines, config, sizeof(config)));
}

void
ws_start_with_free(const char *lines, const char *free_lines)
{
	static char config[8192], other[4096];
	const char *pool;
	size_t n;

	n = strlen(ws_config(lines, config, sizeof(config)));
	pool = strstr(ws_config(free_lines, other, sizeof(other)), "[pool main]");
	assert_non_null(pool);
	snprintf(config + n, sizeof(config) - n, "\n[pool free]%s",
		pool + strlen("[pool main]"));
	wp_start(config);
}
