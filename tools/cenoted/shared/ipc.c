/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Send and receive messages between cenoted's processes; ipc.h lists them. It has no state. All
 * processes call it.
 */
#include "ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER offsetof(struct cnd_ipc, bytes)

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(CND_IPC_FDS_MAX * sizeof(int))];
};

int
cnd_ipc_pair(int ret_fds[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) <
		0)
		return -errno;
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 0;
}

int
cnd_ipc_send(int fd, const struct cnd_ipc *m)
{
	union control control;
	struct iovec iov = { (void *)(uintptr_t)m, HEADER + m->n_bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (m->n_fds > 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(m->n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(m->n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), m->fds, m->n_fds * sizeof(int));
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 0;
	/* too many descriptors are in flight; workers will take some */
	if (errno == ETOOMANYREFS || errno == ENOBUFS)
		return -EAGAIN;
	return -errno;
}

static uint32_t
take_fds(struct msghdr *msg, int fds[CND_IPC_FDS_MAX])
{
	uint32_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		size_t len;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		/* the kernel fills the space up to its alignment */
		len = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < len; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (n < CND_IPC_FDS_MAX)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

int
cnd_ipc_receive(int fd, struct cnd_ipc *ret_m)
{
	union control control;
	struct iovec iov = { ret_m, HEADER + CND_IPC_BYTES_MAX };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control) };
	uint32_t n_fds, n_meant;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
	if (n == 0)
		return -EPIPE;
	n_fds = take_fds(&msg, ret_m->fds);
	if ((size_t)n < HEADER || (size_t)n != HEADER + ret_m->n_bytes ||
		n_fds != ret_m->n_fds || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		n_meant = (size_t)n < HEADER ? 0 : ret_m->n_fds;
		ret_m->n_fds = n_fds;
		cnd_ipc_drop(ret_m);
		return msg.msg_flags & MSG_CTRUNC && n_fds < n_meant &&
				       n_meant <= CND_IPC_FDS_MAX
			       ? -EMFILE
			       : -EBADMSG;
	}
	return 1;
}

void
cnd_ipc_drop(struct cnd_ipc *m)
{
	while (m->n_fds > 0)
		close(m->fds[--m->n_fds]);
}

int
cnd_ipc_spares_take(struct cnd_ipc_spares *s, int fd)
{
	for (size_t i = 0; i < CND_IPC_FDS_MAX; i++) {
		int copy = s->fds[i] > 0 ? s->fds[i] : fcntl(fd, F_DUPFD_CLOEXEC, 3);

		if (copy < 0)
			return -errno;
		s->fds[i] = copy;
	}
	return 0;
}

void
cnd_ipc_spares_give_up(struct cnd_ipc_spares *s)
{
	for (size_t i = 0; i < CND_IPC_FDS_MAX; i++) {
		if (s->fds[i] > 0)
			close(s->fds[i]);
		s->fds[i] = 0;
	}
}
