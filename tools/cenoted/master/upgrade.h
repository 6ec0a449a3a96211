/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_UPGRADE_H
#define CND_UPGRADE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An upgrade in place. The running cenoted starts the program that is installed now, and passes it the sockets on which clients
 * connect. When the new cenoted is ready, the old one takes no more clients and drains. Clients can connect all the time.
 */

/* ---- in the old cenoted ---- */

/* Start the new cenoted. NULL: it starts; otherwise why it cannot. */
const char *cnd_upgrade_begin(void);
/* A descriptor for poll(2): it becomes readable when the new cenoted is ready or has ended. -1: no upgrade is under way. */
int cnd_upgrade_fd(void);
struct cnd_upgrade_news {
	pid_t successor; /* the process that serves now; 0: none does yet */
	const char *why; /* why the upgrade has failed; NULL: it has not */
};
/* Look whether the new cenoted is ready. Returns when to call this again. */
int64_t cnd_upgrade_look(int64_t now, struct cnd_upgrade_news *ret_news);
/* A child has ended that may be the new cenoted. */
void cnd_upgrade_bury(pid_t pid, int status);

/* ---- in the new cenoted ---- */

/* What the old cenoted has passed. */
struct cnd_upgrade_handover {
	int ready_fd; /* write a byte to it when clients can connect */
	int pid_file; /* the pid file with its lock; -1: there is none */
	int first, n; /* the sockets: n descriptors from `first` on */
	const char *
		owners; /* who opened each socket: 'o' cenoted, 'm' the service manager */
};

/* Whether an old cenoted has started this process. Then it fills *ret_handover. Call it once. */
bool cnd_upgrade_take(struct cnd_upgrade_handover *ret_handover);

#endif
