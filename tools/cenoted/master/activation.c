/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets from the service manager, or from the cenoted that this one replaces. The master asks for them at its start; pool.c and
 * listeners.c take the ones that have their addresses.
 */
#include "activation.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/peer.h"
#include "notify.h"
#include "shared/log.h"

#define SOCKETS_MAX 320u

static struct inherited {
	struct sockaddr_storage addr;
	int fd;
	int is_taken;
	bool is_own; /* a cenoted opened it, and not the service manager */
} sockets[SOCKETS_MAX];
static size_t n_sockets;

static int
is_same(const struct sockaddr_storage *a, const struct sockaddr *b, socklen_t len)
{
	struct cnd_peer pa, pb;
	struct sockaddr_un ua, ub;

	if (a->ss_family != b->sa_family || len > sizeof(*a))
		return 0;
	if (a->ss_family == AF_UNIX) {
		memset(&ub, 0, sizeof(ub));
		memcpy(&ua, a, sizeof(ua));
		memcpy(&ub, b, len < sizeof(ub) ? len : sizeof(ub));
		return strncmp(ua.sun_path, ub.sun_path, sizeof(ua.sun_path)) == 0;
	}
	return cnd_peer_set(&pa, (const struct sockaddr *)a) == 0 &&
	       cnd_peer_set(&pb, b) == 0 && pa.port == pb.port &&
	       memcmp(&pa.addr, &pb.addr, sizeof(pa.addr)) == 0;
}

static const char *
text_of(const struct inherited *s, char out[sizeof(struct sockaddr_un)])
{
	struct cnd_peer peer;
	struct sockaddr_un un;

	memcpy(&un, &s->addr, sizeof(un));
	if (un.sun_family == AF_UNIX)
		snprintf(out, sizeof(un), "%.*s", (int)sizeof(un.sun_path), un.sun_path);
	else if (cnd_peer_set(&peer, (const struct sockaddr *)&s->addr) == 0)
		(void)cnd_peer_text(&peer, out);
	else
		snprintf(out, sizeof(un), "of family %d", (int)un.sun_family);
	return out;
}

static int
is_listening(int fd)
{
	int is = 0;
	socklen_t len = sizeof(is);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is, &len) == 0 && is;
}

/* Keep a socket that was passed. 0; or -1: it is not a listening socket, and that was logged. */
static int
look_at(int fd, bool is_own)
{
	struct inherited *s = &sockets[n_sockets];
	socklen_t len = sizeof(s->addr);

	s->fd = fd;
	s->is_own = is_own;
	if (!is_listening(fd) || getsockname(fd, (struct sockaddr *)&s->addr, &len) < 0 ||
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
		cnd_log(LOG_ERR, "descriptor %d of %s is not a listening socket", fd,
			is_own ? "the old cenoted" : "the service manager");
		return -1;
	}
	n_sockets++;
	return 0;
}

int
cnd_activation_begin(const struct cnd_upgrade_handover *handover)
{
	int first;
	int n = handover != NULL ? handover->n : cnd_notify_sockets(&first);

	if (handover != NULL)
		first = handover->first;
	if (n > (int)SOCKETS_MAX) {
		cnd_log(LOG_ERR,
			"the service manager passed %d sockets; at most %u are possible",
			n, SOCKETS_MAX);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		if (look_at(first + i, handover != NULL && handover->owners[i] == 'o') <
			0)
			return -1;
	}
	return 0;
}

int
cnd_activation_take(const struct sockaddr *addr, socklen_t len, bool *ret_is_own)
{
	for (size_t i = 0; i < n_sockets; i++) {
		if (!is_same(&sockets[i].addr, addr, len))
			continue;
		sockets[i].is_taken = 1;
		*ret_is_own = sockets[i].is_own;
		return fcntl(sockets[i].fd, F_DUPFD_CLOEXEC, 3);
	}
	return -1;
}

/* The old cenoted passed a socket of a pool or an address that is not in the configuration any more. */
static void
give_up(const struct inherited *s, const char *address)
{
	cnd_log(LOG_NOTICE, "nobody listens on %s any more", address);
	if (s->addr.ss_family == AF_UNIX)
		(void)unlink(address);
	close(s->fd);
}

size_t
cnd_activation_complain(void)
{
	char text[sizeof(struct sockaddr_un)];
	size_t n = 0;

	for (size_t i = 0; i < n_sockets; i++) {
		if (sockets[i].is_taken)
			continue;
		if (sockets[i].is_own) {
			give_up(&sockets[i], text_of(&sockets[i], text));
			continue;
		}
		cnd_log(LOG_ERR,
			"the service manager passed a socket on %s, but no pool and no "
			"listen line has this address",
			text_of(&sockets[i], text));
		n++;
	}
	return n;
}
