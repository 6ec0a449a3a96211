/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
cnt_rig_start(struct cnt_rig *rig)
{
	return cnt_rig_start_with(rig,
		"grant process, connection admin on *.* to app@localhost; "
		"set global progress_report_time = 1",
		"sessions = 1..6\n");
}

int
cnt_rig_start_with(struct cnt_rig *rig, const char *sql, const char *pool)
{
	char config[1024], server[160];
	struct cnt_server *s = &rig->server;

	/* cenoted's backend must not load the build's own libmariadb.so.3 */
	cnt_clean_environment();
	if (cnt_server_start(s, CNT_MARIADB, 0) < 0 || cnt_server_sql(s, sql) < 0)
		return -1;
	snprintf(s->server_line + strlen(s->server_line),
		sizeof(s->server_line) - strlen(s->server_line), " local_infile=yes");
	if (cnt_daemon_start(
		    &rig->daemon, cnt_server_config(s, pool, config, sizeof(config))) < 0)
		return -1;
	snprintf(server, sizeof(server), "unix:%s", rig->daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	unsetenv("CENOTE_CLIENT_CONF");
	unsetenv("CENOTE_MYSQL_MAP_DATE_TO_DATETIME");
	return 0;
}

int
cnt_rig_stop(struct cnt_rig *rig)
{
	int r = cnt_daemon_stop(&rig->daemon);

	cnt_server_stop(&rig->server);
	return r;
}
