/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PLACE_H
#define CND_PLACE_H

#include <sys/stat.h>
#include <sys/types.h>

/*
 * Places in the file system where cenoted makes or changes something by name, often as root. Whoever may write in the
 * directory can put a link there, to a file of somebody else. So no link is followed, and what is to be changed is
 * first opened, then looked at.
 */

/*
 * Whether only root, and the user and group given, may change what is at a place. NULL, or why not, to go behind its
 * name; in static memory.
 */
const char *cnd_place_fault(const struct stat *st, uid_t uid, gid_t gid);
/* Open a directory that has no such fault. A descriptor to work relative to, the caller's to close; -1: logged, with
 * `what` and its path. */
int cnd_place_open_dir(const char *what, const char *path, uid_t uid, gid_t gid);
/* Open a file to write to, which is made if it is not there. -errno: -ELOOP for a symbolic link, -EMLINK for a file that
 * has another name as well. */
int cnd_place_open_file(const char *path, int flags, mode_t mode);
/* What such an error means. */
const char *cnd_place_error(int error);
/* Whether the path still names what this descriptor was opened for. */
int cnd_place_is(const char *path, int fd);

#endif
