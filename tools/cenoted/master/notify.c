/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Talk to the service manager with libsystemd. notify_fallback.c stands in for this file in a
 * build without it.
 */
#include "notify.h"

#include <systemd/sd-daemon.h>
#include <time.h>

void
cnd_notify(const char *state)
{
	(void)sd_notify(0, state);
}

int
cnd_notify_sockets(int *ret_first)
{
	int n = sd_listen_fds(1);

	*ret_first = SD_LISTEN_FDS_START;
	return n > 0 ? n : 0;
}

void
cnd_notify_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	(void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		(unsigned long long)now.tv_sec * 1000000u +
			(unsigned long long)now.tv_nsec / 1000u);
}
