/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door's state and its spare descriptors. A door without descriptors could neither refuse
 * clients nor hear the master, so it keeps some in reserve. The other files of the door read and
 * change the state; only this one uses the spares.
 */
#include "door_internal.h"

#include <errno.h>
#include <unistd.h>

struct cnd_door_state cnd_the_door;

/* The spares are copies of standard input, which gives no right to anything. */
int
cnd_door_reserve(void)
{
	return cnd_ipc_spares_take(&cnd_the_door.spares, STDIN_FILENO);
}

int
cnd_door_receive(int fd, struct cnd_ipc *ret_m)
{
	cnd_ipc_spares_give_up(&cnd_the_door.spares);
	return cnd_ipc_receive(fd, ret_m);
}

int
cnd_door_accept(int listen_fd, struct sockaddr *addr, socklen_t *len)
{
	int fd = accept4(listen_fd, addr, len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 || errno != EMFILE)
		return fd;
	cnd_ipc_spares_give_up(&cnd_the_door.spares);
	return accept4(listen_fd, addr, len, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
