/* SPDX-License-Identifier: BSD-2-Clause */
/* A fork() whose parent pauses, so that the child is far ahead of it. */
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
