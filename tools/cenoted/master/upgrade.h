/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_UPGRADE_H
#define CND_UPGRADE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An upgrade in place: the running cenoted starts the program that is installed now, and passes it the sockets on which clients connect. Once the new
 * one is ready, the old one takes no more clients and drains. No client finds a closed door meanwhile.
 */

/* ---- in the old cenoted ---- */

/* Start the new one. NULL; or why not. */
const char *cnd_upgrade_begin(void);
/* Where to read whether it is ready: a descriptor for poll(2), -1: no upgrade is under way. */
int cnd_upgrade_fd(void);
/* What has come of it: process `heir` serves now, or why the upgrade failed; 0 and NULL: nothing yet. */
struct cnd_upgrade_news {
	pid_t heir;
	const char *why;
};
/* That descriptor has something to read, or time has passed. Returns when to call this again. */
int64_t cnd_upgrade_look(int64_t now, struct cnd_upgrade_news *ret_news);
/* This child has ended; it may be the new one. */
void cnd_upgrade_bury(pid_t pid, int status);

/* ---- in the new cenoted ---- */

/* What the old one passed. */
struct cnd_upgrade_gift {
	int ready_fd; /* to say that clients can come */
	int pid_file; /* locked; -1: none */
	int first, n; /* the sockets */
	const char *
		owners; /* for each socket: 'o', cenoted opened it, or 'm', the service manager */
};

/* Whether this process is the new one of an upgrade; then it fills *ret_gift. Call it once. */
bool cnd_upgrade_take(struct cnd_upgrade_gift *ret_gift);

#endif
