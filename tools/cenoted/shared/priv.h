/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PRIV_H
#define CND_PRIV_H

#include <sys/types.h>

/* Become this user for good, with none of root's groups and with its own HOME, unless the process is that user already.
 * 0 or -errno: the caller must then end. */
int cnd_priv_drop(uid_t uid, gid_t gid, const char *user);
/*
 * The master stays root to fork children that become another user, and for the sockets that a reload opens. Of what
 * root may do it keeps just that. Nothing happens if it is not root. 0 or -errno.
 */
int cnd_priv_keep_minimum(void);
/* What every child promises: no new privileges, and dead when its
 * master is. 0 or -errno; -ESRCH: the master is gone already. */
int cnd_priv_confine(pid_t master);

#endif
