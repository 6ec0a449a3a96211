/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Give up root's rights: the master keeps a few capabilities, and each child becomes another user.
 * It has no state. Master, door, workers and helpers call it once, at their start.
 */
#include "priv.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"

int
cnd_priv_drop(uid_t uid, gid_t gid, const char *user)
{
	const struct passwd *pw;

	if (geteuid() != 0 || uid == 0)
		return 0;
	/* libraries look in HOME for certificates and settings; libpq goes on without TLS if it
	 * cannot read root's */
	pw = getpwuid(uid);
	if (setenv("HOME", pw != NULL ? pw->pw_dir : "/", 1) < 0)
		return -errno;
	if (initgroups(user, gid) < 0 || setresgid(gid, gid, gid) < 0 ||
		setresuid(uid, uid, uid) < 0)
		return -errno;
	/* there must be no way back */
	return setuid(0) == 0 ? -EPERM : 0;
}

/* The capabilities that the master keeps, and their purpose (capabilities(7)). */
static const uint8_t kept[] = {
	CAP_SETUID, /* children become the configured user */
	CAP_SETGID, /* children get that user's groups */
	CAP_KILL, /* the master signals children */
	CAP_CHOWN, /* sockets get that user and socket_group */
	CAP_FOWNER, /* sockets get socket_mode */
	/* the master reads configuration, users and keys and makes sockets, whoever owns the files */
	CAP_DAC_OVERRIDE, CAP_NET_BIND_SERVICE /* ports below 1024 */
};

int
cnd_priv_keep_minimum(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (geteuid() != 0)
		return 0;
	/* in a container, some may be missing from the start; go on without them */
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (size_t word = 0; word < _LINUX_CAPABILITY_U32S_3; word++) {
		uint32_t wanted = 0;

		for (size_t i = 0; i < sizeof(kept); i++) {
			if (CAP_TO_INDEX(kept[i]) == word)
				wanted |= CAP_TO_MASK(kept[i]);
		}
		data[word].permitted &= wanted;
		data[word].effective = data[word].permitted;
		data[word].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int
cnd_priv_confine(pid_t master)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	/* the master may have died before the line above took effect */
	return getppid() == master ? 0 : -ESRCH;
}

void
cnd_priv_give_up(uid_t uid, gid_t gid, const char *user, pid_t master, const char *name)
{
	int r = cnd_priv_drop(uid, gid, user);

	if (r == 0)
		r = cnd_priv_confine(master);
	if (r < 0)
		cnd_fatal("cannot give up privileges: %s", strerror(-r));
	if (name != NULL)
		prctl(PR_SET_NAME, name);
}
