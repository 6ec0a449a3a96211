/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SANDBOX_H
#define CND_SANDBOX_H

#include "config/config.h"

/*
 * What a process gives up once it has all that it needs: kernel interfaces (seccomp), files, in
 * later kernels TCP and signals (Landlock, Linux 5.13), and copies of its memory (core dumps,
 * ptrace). An attacker who takes over such a process has its sockets and its memory, and little
 * else.
 */
enum cnd_sandbox_role {
	/* The door: it uses the sockets that it has. No files, no new processes. */
	CND_SANDBOX_DOOR,
	/* A worker: it reads what its database's library reads, connects to its server, and starts
	 * threads. It writes only temporary files, and starts no process. */
	CND_SANDBOX_WORKER,
	/* The same for a backend whose SQL may write files (SQLite). */
	CND_SANDBOX_FILE_WORKER
};

/* Whether this build and this kernel have it: NULL, or why not. */
const char *cnd_sandbox_lacks_seccomp(void);
const char *cnd_sandbox_lacks_landlock(void);

/* Give up what the configuration demands, for good. 0; or -1, logged: something that must be given
 * up could not be, and the caller must end. */
int cnd_sandbox_enter(enum cnd_sandbox_role role, const struct cnd_config *c);

#endif
