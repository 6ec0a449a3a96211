/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SANDBOX_H
#define CND_SANDBOX_H

#include "config/config.h"

/*
 * What a process gives up once it has all that it needs: kernel interfaces (seccomp), files, and in later kernels TCP and
 * signals (Landlock, Linux 5.13), and leaving a copy of its memory behind (core dumps, ptrace). Who takes such a
 * process over has its sockets and its memory, and little beyond.
 */
enum cnd_sandbox_role {
	/* TCP, the waiting room: sockets it has. No file, no new process. */
	CND_SANDBOX_DOOR,
	/* A session: reads what its database's library reads, connects to its server, starts threads.
	 * Writes no file but temporary ones, no new process. */
	CND_SANDBOX_WORKER,
	/* The same, of a backend whose SQL may write files (SQLite). */
	CND_SANDBOX_FILE_WORKER
};

/* Whether this build and this kernel have it: NULL, or why not. */
const char *cnd_sandbox_lacks_seccomp(void);
const char *cnd_sandbox_lacks_landlock(void);

/* As the configuration wants it, for good. 0, or -1, logged: what has to be could not be, and the caller
 * must end. */
int cnd_sandbox_enter(enum cnd_sandbox_role role, const struct cnd_config *c);

#endif
