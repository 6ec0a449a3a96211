/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/cnt_process.h"

int
cnt_rig_start(struct cnt_rig *rig)
{
	char config[1024], server[160];

	/* the build's own libpq.so.5 must not be that of cenoted's backend */
	cnt_clean_environment();
	if (cnt_server_start(&rig->server, CNT_POSTGRESQL, 0) < 0 ||
		cnt_daemon_start(
			&rig->daemon, cnt_server_config(&rig->server, "sessions = 1..6\n",
					      config, sizeof(config))) < 0)
		return -1;
	snprintf(server, sizeof(server), "unix:%s", rig->daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	return 0;
}

int
cnt_rig_stop(struct cnt_rig *rig)
{
	int r = cnt_daemon_stop(&rig->daemon);

	cnt_server_stop(&rig->server);
	return r;
}
