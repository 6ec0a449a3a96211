/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and checks places in the file system that others could have changed. It has no state. The
 * master calls it, also through log.c, pool.c and module.c.
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

const char *
cnd_place_fault(const struct stat *st, uid_t uid, gid_t gid)
{
	static char text[128];

	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != uid) {
		snprintf(text, sizeof(text),
			"belongs to unix user %u, who must not be able to change it; use "
			"chown root",
			(unsigned)st->st_uid);
		return text;
	}
	if (st->st_mode & S_IWOTH)
		return "can be written by everybody; use chmod o-w";
	if (st->st_mode & S_IWGRP && st->st_gid != 0 && st->st_gid != gid) {
		snprintf(text, sizeof(text),
			"can be written by unix group %u; use chmod g-w",
			(unsigned)st->st_gid);
		return text;
	}
	return NULL;
}

int
cnd_place_open_dir(const char *what, const char *path, uid_t uid, gid_t gid)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *fault;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		cnd_log(LOG_ERR, "%s %s: %s", what, path,
			errno == ENOTDIR
				? "it is not a directory, or it is a symbolic link"
				: strerror(errno));
	} else {
		fault = cnd_place_fault(&st, uid, gid);
		if (fault == NULL)
			return fd;
		cnd_log(LOG_ERR, "%s %s %s", what, path, fault);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int
cnd_place_open_file(const char *path, int flags, mode_t mode)
{
	/* O_NONBLOCK: opening a pipe that nobody reads must not wait */
	int fd = open(path,
		flags | O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			O_CLOEXEC,
		mode);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) < 0 ? -errno : 0;
	if (r == 0 && S_ISREG(st.st_mode) && st.st_nlink != 1)
		r = -EMLINK;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

const char *
cnd_place_error(int error)
{
	if (error == ELOOP)
		return "it is a symbolic link; name the file itself";
	if (error == EMLINK)
		return "the file also has another name (a hard link)";
	return strerror(error);
}

int
cnd_place_is(const char *path, int fd)
{
	struct stat named, opened;

	return lstat(path, &named) == 0 && fstat(fd, &opened) == 0 &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}
