/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SANDBOX_H
#define CND_SANDBOX_H

#include "config/config.h"

/*
 * What a process gives up once it has everything that it needs: kernel interfaces (seccomp), files,
 * in later kernels TCP and signals (Landlock, Linux 5.13), and copies of its memory (core dumps,
 * ptrace). An attacker who takes over such a process has its sockets and its memory, and little else.
 */
enum cnd_sandbox_role {
	/* The door. It uses the sockets that it has; it opens no files and starts no processes. */
	CND_SANDBOX_DOOR,
	/* A worker. It reads what its database's library reads, connects to its server, and starts
	 * threads. It writes only temporary files, and starts no process. */
	CND_SANDBOX_WORKER,
	/* A worker whose backend can write files by SQL (SQLite). */
	CND_SANDBOX_FILE_WORKER
};

/* Why this build or this kernel lacks the feature; NULL: it has the feature. */
const char *cnd_sandbox_lacks_seccomp(void);
const char *cnd_sandbox_lacks_landlock(void);

/* Give up what the configuration demands, for good. 0; or -1, logged: something that must be given
 * up could not be, and the caller must end. */
int cnd_sandbox_enter(enum cnd_sandbox_role role, const struct cnd_config *c);

#endif
