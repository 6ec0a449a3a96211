/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_mysql.h"

#include <stdio.h>

struct cnt_server with_mysql_server;

int
with_mysql_group_setup(void **state)
{
	if (cnt_server_create(&with_mysql_server, CNT_MARIADB, CNT_SERVER_TCP) < 0 ||
		cnt_server_configure(&with_mysql_server, "max_allowed_packet = 160M\n") <
			0)
		return -1;
	return cnt_server_run(&with_mysql_server);
}

int
with_mysql_group_teardown(void **state)
{
	cnt_server_stop(&with_mysql_server);
	return 0;
}

void
with_mysql_start(const char *line, const char *lines)
{
	char config[4096];

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = mysql\nserver = %s\n%s", line,
		lines);
	wp_start(config);
}

int
with_mysql_setup_shared(void **state)
{
	with_mysql_start(
		with_mysql_server.server_line, "sessions = 1\nmode = transaction\n");
	*state = wp_attach(NULL);
	return 0;
}

int
with_mysql_teardown(void **state)
{
	cenote_conn_destroy(*state);
	return wp_teardown(state);
}
