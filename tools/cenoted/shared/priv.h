/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PRIV_H
#define CND_PRIV_H

#include <sys/types.h>

/* Become this user for good, without root's groups and with the user's HOME. Does nothing without
 * root's rights, or if the user is root. 0; or -errno: the caller must end. */
int cnd_priv_drop(uid_t uid, gid_t gid, const char *user);
/* Keep only the capabilities that the master needs: to fork children that become another user, and
 * for sockets that a reload opens. Does nothing if the process is not root. 0 or -errno. */
int cnd_priv_keep_minimum(void);
/* For each child: allow no new privileges, and end when the master ends. 0 or -errno; -ESRCH: the
 * master has ended already. */
int cnd_priv_confine(pid_t master);
/* Do both cnd_priv_drop() and cnd_priv_confine() in a child, and name its process (NULL: keep the name). Ends the process if
 * that fails. */
void cnd_priv_give_up(
	uid_t uid, gid_t gid, const char *user, pid_t master, const char *name);

#endif
