/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Create sealed memory; sealed.h says what that is. The scoreboard and tls.c call it in the
 * master.
 */
#include "sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

static void *
map_and_seal(int fd, size_t size)
{
	void *room = MAP_FAILED;

	if (ftruncate(fd, (off_t)size) == 0)
		room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (room == MAP_FAILED)
		return NULL;
	if (fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return room;
	munmap(room, size);
	return NULL;
}

void *
cnd_sealed_create(const char *name, size_t size, int *ret_fd)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *room = fd >= 0 ? map_and_seal(fd, size) : NULL;
	int error = errno;

	if (room == NULL && fd >= 0)
		close(fd);
	*ret_fd = room != NULL ? fd : -1;
	errno = error;
	return room;
}
