/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For LD_PRELOAD: the time of day is moved by as many seconds as the file CNT_CLOCK says, at any time. The monotonic clock is not.
 * So a test can set the clock of cenoted, and of no other process.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_s;

/* Before the program gives up its right to open files. */
__attribute__((constructor)) static void
open_clock(void)
{
	const char *path = getenv("CNT_CLOCK");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p;

	if (fd < 0)
		return;
	p = mmap(NULL, sizeof(*offset_s), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		offset_s = p;
}

int
clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	if (r == 0 && offset_s != NULL &&
		(id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		t->tv_sec += *offset_s;
	return r;
}

int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;
	int r = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return r;
}

time_t
time(time_t *t)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	if (t != NULL)
		*t = now.tv_sec;
	return now.tv_sec;
}
