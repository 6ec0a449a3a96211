/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_PASSFILE_H
#define CSH_PASSFILE_H

/*
 * A passfile as libpq has it: lines of four names and a password, with colons between them. The first line that fits
 * has the password. "*" fits everything; a backslash takes the meaning from what follows it.
 */

#define CSH_PASSFILE_NAMES 4

/*
 * The password for these names; "" if no line fits, or if the file is not there. A file that others may read is not
 * used, and standard error says so. NULL: no memory. The caller wipes and frees it.
 */
char *csh_passfile_find(const char *path, const char *const names[CSH_PASSFILE_NAMES]);

#endif
