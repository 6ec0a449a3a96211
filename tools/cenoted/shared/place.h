/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PLACE_H
#define CND_PLACE_H

#include <sys/stat.h>
#include <sys/types.h>

/*
 * Places in the file system where cenoted creates or changes something by name, often as root.
 * Anybody who may write in the directory can put a link to somebody else's file there. So cenoted
 * follows no link, and opens a file before it looks at it and changes it.
 */

/* Whether only root, and the user and group given, can change what is at a place. NULL: yes;
 * otherwise why not, in words that follow its name; in static memory. */
const char *cnd_place_fault(const struct stat *st, uid_t uid, gid_t gid);
/* Open a directory for which cnd_place_fault() is NULL. Returns a descriptor, which the caller
 * closes; -1: logged, with `what` and the path. */
int cnd_place_open_dir(const char *what, const char *path, uid_t uid, gid_t gid);
/* Open a file to write to, and create it if it does not exist. -errno: -ELOOP: it is a symbolic link;
 * -EMLINK: the file also has another name. */
int cnd_place_open_file(const char *path, int flags, mode_t mode);
/* The text for such an error. */
const char *cnd_place_error(int error);
/* Whether the path still names the file that is open here. */
int cnd_place_is(const char *path, int fd);

#endif
