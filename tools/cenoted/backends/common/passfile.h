/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PASSFILE_H
#define CND_PASSFILE_H

#include "core/diag.h"

/* A file of lines `user:password`, which nobody but its owner may read. */

/* Read the password of the first line with this user; the caller wipes and frees it. CENOTE_OK,
 * CENOTE_ERR_ARG with the diagnostics filled, CENOTE_ERR_NOMEM. */
int cnd_passfile(const char *path, const char *user, const struct cenote_allocator *mem,
	char **ret_password, struct cnc_diag *ret_diag);
/* Check that cnd_passfile() finds a password. */
int cnd_passfile_check(const char *path, const char *user, struct cnc_diag *ret_diag);

#endif
