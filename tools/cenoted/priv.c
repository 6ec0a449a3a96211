/* SPDX-License-Identifier: BSD-2-Clause */
#include "priv.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int
cnd_priv_drop(uid_t uid, gid_t gid, const char *user)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	if (initgroups(user, gid) < 0 || setresgid(gid, gid, gid) < 0 ||
		setresuid(uid, uid, uid) < 0)
		return -errno;
	/* the way back must be shut */
	return setuid(0) == 0 ? -EPERM : 0;
}

int
cnd_priv_confine(pid_t master)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	/* it may have died before the line above took effect */
	return getppid() == master ? 0 : -ESRCH;
}
