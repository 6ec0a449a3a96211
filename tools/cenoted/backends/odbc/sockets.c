/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a driver's sockets, which ODBC does not tell. A descriptor that was not a socket before the driver
 * logged in, and is one now, is the driver's: nothing else in a worker opens sockets in between.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include "odbc.h"

#define LOOK_AT 256 /* descriptors to look at; a worker has few */

void
cnd_od_sockets_list(struct cnd_od_sockets *ret_sockets)
{
	struct stat st;
	int fd;

	ret_sockets->n = 0;
	for (fd = 0; fd < LOOK_AT && ret_sockets->n < CND_OD_SOCKETS_MAX; fd++) {
		if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
			ret_sockets->list[ret_sockets->n++] =
				(struct cnd_od_socket){ fd, st.st_ino };
	}
}

static int
has(const struct cnd_od_sockets *sockets, const struct cnd_od_socket *socket)
{
	for (unsigned i = 0; i < sockets->n; i++) {
		if (sockets->list[i].fd == socket->fd &&
			sockets->list[i].inode == socket->inode)
			return 1;
	}
	return 0;
}

void
cnd_od_sockets_new(const struct cnd_od_sockets *before, const struct cnd_od_sockets *now,
	struct cnd_od_sockets *ret_sockets)
{
	struct cnd_od_sockets new = { .n = 0 };

	for (unsigned i = 0; i < now->n; i++) {
		if (!has(before, &now->list[i]))
			new.list[new.n++] = now->list[i];
	}
	*ret_sockets = new;
}

void
cnd_od_sockets_cut(const struct cnd_od_sockets *sockets)
{
	struct cnd_od_sockets now;

	cnd_od_sockets_list(&now);
	for (unsigned i = 0; i < sockets->n; i++) {
		if (has(&now, &sockets->list[i]))
			(void)shutdown(sockets->list[i].fd, SHUT_RDWR);
	}
}
