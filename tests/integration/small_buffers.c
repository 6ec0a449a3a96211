/* SPDX-License-Identifier: BSD-2-Clause */
/* An accept4() whose sockets have the smallest buffers that the kernel allows. */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/socket.h>

int
accept4(int listen_fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	int (*next)(int, struct sockaddr *, socklen_t *, int) = (int (*)(
		int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
	int least = 1;
	int fd = next ? next(listen_fd, addr, len, flags) : -1;

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
	return fd;
}
