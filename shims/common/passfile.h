/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_PASSFILE_H
#define CSH_PASSFILE_H

/*
 * A password file as libpq has it: each line has four names and a password, separated by colons.
 * The first line that matches has the password. "*" matches everything. A backslash makes the next
 * character an ordinary one.
 */

#define CSH_PASSFILE_NAMES 4

/*
 * The password for these names; "" if no line matches or there is no file. A file that others may
 * read is ignored, with a warning on standard error. NULL: no memory. The caller wipes and frees
 * the result.
 */
char *csh_passfile_find(const char *path, const char *const names[CSH_PASSFILE_NAMES]);

#endif
