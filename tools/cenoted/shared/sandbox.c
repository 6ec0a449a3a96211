/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Give up files, system calls and core dumps that a process does not need (seccomp, Landlock).
 * Door, workers and helpers call cnd_sandbox_enter() once, before they serve. It has no state but
 * the kernel's.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif
#ifdef HAVE_LANDLOCK
#include <linux/landlock.h>
#endif

#include "log.h"

/* ---- seccomp ---- */

#ifdef HAVE_SECCOMP

/*
 * System calls that neither a session nor the door needs: other programs, other processes' memory,
 * the machine's settings, and the parts of the kernel in which most holes were found. All others
 * stay allowed, since nobody knows what a database's library calls.
 */
static const int refused[] = {
	/* programs and users */
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
	SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid),
	SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
	/* other processes */
	SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd), SCMP_SYS(process_madvise),
	SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(pidfd_send_signal),
#ifdef __GLIBC__
	/* other libraries signal their own threads with it */
	SCMP_SYS(tkill),
#endif
	/* name spaces, mounts, devices */
	SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2),
	SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(mknod), SCMP_SYS(mknodat),
	SCMP_SYS(open_by_handle_at), SCMP_SYS(name_to_handle_at), SCMP_SYS(quotactl),
	SCMP_SYS(fsopen), SCMP_SYS(fsmount), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
	/* the machine */
	SCMP_SYS(reboot), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load),
	SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
	SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct), SCMP_SYS(syslog),
	SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
	SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname),
	SCMP_SYS(ioperm), SCMP_SYS(iopl), SCMP_SYS(personality), SCMP_SYS(vhangup),
	/* parts of the kernel that often had holes */
	SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
	SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
	SCMP_SYS(lookup_dcookie), SCMP_SYS(vmsplice)
};

/* Allow the kinds of sockets that a database's library opens, but no raw sockets and no rare
 * protocols. */
static int
limit_sockets(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket),
		1, SCMP_A0(SCMP_CMP_GT, AF_NETLINK));

	for (int family = 0; family < AF_NETLINK && r == 0; family++) {
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
			r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT),
				SCMP_SYS(socket), 1,
				SCMP_A0(SCMP_CMP_EQ, (unsigned)family));
	}
	return r;
}

/* Allow threads, but no processes. clone3() hides its flags from the filter; libc uses clone() if
 * there is no clone3(). */
static int
limit_clone(scmp_filter_ctx filter)
{
	int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
		SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));

	return r < 0 ? r
		     : seccomp_rule_add(
			       filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/*
 * Let a process signal only itself. Other processes of the same user may have another pool's session,
 * and only the master signals those. The kernel also signals the owner of a socket, so the filter
 * limits setting an owner.
 */
static int
limit_signals(scmp_filter_ctx filter)
{
	static const struct {
		int call;
		unsigned command;
	} owners[] = { { SCMP_SYS(fcntl), F_SETOWN }, { SCMP_SYS(fcntl), F_SETOWN_EX },
		{ SCMP_SYS(ioctl), FIOSETOWN }, { SCMP_SYS(ioctl), SIOCSPGRP } };
	static const int calls[] = { SCMP_SYS(kill), SCMP_SYS(tgkill) };
	int r = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 1,
			SCMP_A0(SCMP_CMP_NE, (unsigned)getpid()));
	/* the kernel looks only at the lower half of these arguments */
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), owners[i].call, 1,
			SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, owners[i].command));
	/* a limit on another process's CPU time could also end it */
	return r < 0 ? r
		     : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
			       SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_NE, 0));
}

static int
fill(scmp_filter_ctx filter)
{
	int r = limit_clone(filter);

	if (r == 0)
		r = limit_sockets(filter);
	if (r == 0)
		r = limit_signals(filter);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	return r;
}

/* 0 or -errno. */
static int
enter_seccomp(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (filter == NULL)
		return -ENOMEM;
	r = fill(filter);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

const char *
cnd_sandbox_lacks_seccomp(void)
{
	return prctl(PR_GET_SECCOMP) < 0 ? "this kernel has no seccomp" : NULL;
}

#else

static int
enter_seccomp(void)
{
	return -ENOSYS;
}

const char *
cnd_sandbox_lacks_seccomp(void)
{
	return "this build of cenoted has no libseccomp";
}

#endif

/* ---- Landlock ---- */

#ifdef HAVE_LANDLOCK

/* The kernel may be newer than the headers here. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ull << 15)
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP    (1ull << 0)
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ull << 1)
#endif
#ifndef LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ull << 0)
#define LANDLOCK_SCOPE_SIGNAL               (1ull << 1)
#endif
#define RULE_NET_PORT 2

struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scopes;
};

struct net_port {
	uint64_t allowed_access;
	uint64_t port;
};

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITES                                                                           \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_TRUNCATE)
#define FIRST_OTHERS                                                                     \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                    \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |             \
		LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |            \
		LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* What each version of Landlock can forbid in addition (landlock(7)), and the length of its
 * structure. */
static const struct {
	size_t size;
	struct ruleset can;
} versions[] = {
	{ offsetof(struct ruleset, net),
		{ .files = READS | (WRITES & ~LANDLOCK_ACCESS_FS_TRUNCATE) |
			   FIRST_OTHERS } },
	{ offsetof(struct ruleset, net), { .files = LANDLOCK_ACCESS_FS_REFER } },
	{ offsetof(struct ruleset, net), { .files = LANDLOCK_ACCESS_FS_TRUNCATE } },
	{ offsetof(struct ruleset, scopes), { .net = LANDLOCK_ACCESS_NET_BIND_TCP |
						     LANDLOCK_ACCESS_NET_CONNECT_TCP } },
	{ offsetof(struct ruleset, scopes), { .files = LANDLOCK_ACCESS_FS_IOCTL_DEV } },
	{ sizeof(struct ruleset), { .scopes = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET |
					      LANDLOCK_SCOPE_SIGNAL } },
};

#define N_VERSIONS (long)(sizeof(versions) / sizeof(versions[0]))

/*
 * What each role must not do, apart from the grants in the next table. A worker connects to its
 * server on any port, and PostgreSQL's socket may be an abstract one. No process but the master
 * signals others.
 */
static const struct ruleset forbidden[] = {
	[CND_SANDBOX_DOOR] = { UINT64_MAX, UINT64_MAX, UINT64_MAX },
	[CND_SANDBOX_WORKER] = { UINT64_MAX, LANDLOCK_ACCESS_NET_BIND_TCP,
		LANDLOCK_SCOPE_SIGNAL },
	[CND_SANDBOX_FILE_WORKER] = { UINT64_MAX, LANDLOCK_ACCESS_NET_BIND_TCP,
		LANDLOCK_SCOPE_SIGNAL },
};

/* What each role may do with files below a place. Kerberos' library keeps its caches in the
 * temporary directories. */
static const struct {
	enum cnd_sandbox_role role;
	const char *path;
	uint64_t access;
} grants[] = {
	{ CND_SANDBOX_WORKER, "/", READS },
	{ CND_SANDBOX_WORKER, "/tmp", READS | WRITES },
	{ CND_SANDBOX_WORKER, "/var/tmp", READS | WRITES },
	{ CND_SANDBOX_WORKER, "/dev/null",
		LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE },
	{ CND_SANDBOX_FILE_WORKER, "/", READS | WRITES },
};

static long
landlock_version(void)
{
	return syscall(
		SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Allow access to files below a path. 0 or -errno. A place that does not exist needs no grant. */
static int
grant(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access,
		.parent_fd = open(path, O_PATH | O_CLOEXEC) };
	int r = 0;

	if (rule.parent_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule,
		    0) < 0)
		r = -errno;
	close(rule.parent_fd);
	return r;
}

/* A library may bind to any free port before it connects. A kernel without TCP in Landlock has
 * nothing to grant. */
static int
grant_free_port(int ruleset)
{
	const struct net_port rule = { .allowed_access = LANDLOCK_ACCESS_NET_BIND_TCP };

	return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) == 0 ||
			       errno == EAFNOSUPPORT
		       ? 0
		       : -errno;
}

/* Make a ruleset that forbids everything that both this kernel and this file know. Returns a
 * descriptor, or -errno. */
static int
make_ruleset(const struct ruleset *wanted, struct ruleset *ret_has)
{
	long version = landlock_version();
	struct ruleset has = { 0 };
	int fd;

	if (version > N_VERSIONS)
		version = N_VERSIONS;
	if (version < 1)
		return version < 0 ? -errno : -ENOSYS;
	for (long i = 0; i < version; i++) {
		has.files |= versions[i].can.files & wanted->files;
		has.net |= versions[i].can.net & wanted->net;
		has.scopes |= versions[i].can.scopes & wanted->scopes;
	}
	*ret_has = has;
	fd = (int)syscall(
		SYS_landlock_create_ruleset, &has, versions[version - 1].size, 0);
	return fd < 0 ? -errno : fd;
}

static int
enter_landlock(enum cnd_sandbox_role role)
{
	struct ruleset has = { 0 };
	int ruleset = make_ruleset(&forbidden[role], &has);
	int r = 0;

	if (ruleset < 0)
		return ruleset;
	for (size_t i = 0; i < sizeof(grants) / sizeof(grants[0]) && r == 0; i++) {
		if (grants[i].role == role)
			r = grant(ruleset, grants[i].path, grants[i].access & has.files);
	}
	if (r == 0 && role != CND_SANDBOX_DOOR && has.net != 0)
		r = grant_free_port(ruleset);
	if (r == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		r = -errno;
	close(ruleset);
	return r;
}

const char *
cnd_sandbox_lacks_landlock(void)
{
	return landlock_version() < 1 ? "this kernel has no Landlock" : NULL;
}

#else

static int
enter_landlock(enum cnd_sandbox_role role)
{
	(void)role;
	return -ENOSYS;
}

const char *
cnd_sandbox_lacks_landlock(void)
{
	return "this build of cenoted has no Landlock's headers";
}

#endif

/* ---- entering the sandbox ---- */

/* Keep the kernel and other processes of the same user from copying the secrets in this process. */
static int
forbid_core_dumps(void)
{
	const struct rlimit none = { 0, 0 };

	return setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0
		       ? -errno
		       : 0;
}

static int
judge(const char *what, int wanted, int r)
{
	if (r == 0)
		return 0;
	if (wanted == CND_SWITCH_ON) {
		cnd_log(LOG_ERR, "%s = on, but it is not available: %s", what,
			strerror(-r));
		return -1;
	}
	cnd_log(LOG_DEBUG, "without %s: %s", what, strerror(-r));
	return 0;
}

/*
 * Whether to load the filter. It costs 5 % of a short query, since it checks every system call. That
 * is little when strangers come by TCP; the users who may open a unix socket are known. No client
 * waits for the door's system calls.
 */
static int
is_filtered(enum cnd_sandbox_role role, const struct cnd_config *c)
{
	if (c->seccomp == CND_SWITCH_AUTO)
		return role == CND_SANDBOX_DOOR || c->listens.n > 0;
	return c->seccomp == CND_SWITCH_ON;
}

int
cnd_sandbox_enter(enum cnd_sandbox_role role, const struct cnd_config *c)
{
	int r = 0;

	if (!c->core_dumps && (r = forbid_core_dumps()) < 0) {
		cnd_log(LOG_ERR, "cannot forbid core dumps: %s", strerror(-r));
		return -1;
	}
	if (c->landlock != CND_SWITCH_OFF)
		r = judge("landlock", c->landlock, enter_landlock(role));
	/* last: the filter does not hinder the other steps, and nothing follows it */
	if (r == 0 && is_filtered(role, c))
		r = judge("seccomp", c->seccomp, enter_seccomp());
	return r;
}
