/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An epoll_pwait() that stalls after it has learnt what is ready, like a process that gets no CPU.
 * The file that CNT_SLOW_DOOR names begins with two process ids: the process that must stall, and
 * the process that stalls. Afterwards, the first is 0 again.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *stall;

/* Map the file before any sandbox forbids it. */
__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("CNT_SLOW_DOOR");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd >= 0 ? mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE,
				    MAP_SHARED, fd, 0)
			  : MAP_FAILED;

	if (p != MAP_FAILED)
		stall = p;
	if (fd >= 0)
		close(fd);
}

int
epoll_pwait(int fd, struct epoll_event *events, int size, int timeout_ms,
	const sigset_t *mask)
{
	int (*next)(int, struct epoll_event *, int, int, const sigset_t *) =
		(int (*)(int, struct epoll_event *, int, int, const sigset_t *))dlsym(
			RTLD_NEXT, "epoll_pwait");
	int n = next ? next(fd, events, size, timeout_ms, mask) : -1;

	if (n <= 0 || !stall || stall[0] != getpid())
		return n;
	stall[1] = stall[0];
	poll(NULL, 0, 1000);
	stall[0] = 0;
	return n;
}
