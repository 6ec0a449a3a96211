/* SPDX-License-Identifier: BSD-2-Clause */
/* A fork() after which the child is far ahead of its parent. */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

pid_t
fork(void)
{
	pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	pid_t pid = next ? next() : -1;

	if (pid > 0)
		poll(NULL, 0, 500);
	return pid;
}
