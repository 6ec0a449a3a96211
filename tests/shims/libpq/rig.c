/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/cnt_process.h"

static int
start_on_server(struct cnt_rig *rig, enum cnt_server_kind kind)
{
	char config[1024];

	if (cnt_server_start(&rig->server, kind, 0) < 0)
		return -1;
	return cnt_daemon_start(&rig->daemon,
		cnt_server_config(&rig->server,
			rig->lines != NULL ? rig->lines : "sessions = 1..6\n", config,
			sizeof(config)));
}

int
cnt_rig_start_on(struct cnt_rig *rig, enum cnt_rig_server which)
{
	char server[160];
	int r;

	rig->which = which;
	/* cenoted's backend must not load the build's own libpq.so.5, which is the shim */
	cnt_clean_environment();
	if (which == CNT_RIG_SQLITE)
		r = cnt_daemon_start(&rig->daemon, NULL);
	else
		r = start_on_server(
			rig, which == CNT_RIG_MARIADB ? CNT_MARIADB : CNT_POSTGRESQL);
	if (r < 0)
		return -1;
	snprintf(server, sizeof(server), "unix:%s", rig->daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	return 0;
}

int
cnt_rig_start(struct cnt_rig *rig)
{
	return cnt_rig_start_on(rig, CNT_RIG_POSTGRESQL);
}

int
cnt_rig_stop(struct cnt_rig *rig)
{
	int r = cnt_daemon_stop(&rig->daemon);

	if (rig->which != CNT_RIG_SQLITE)
		cnt_server_stop(&rig->server);
	return r;
}
