/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_ROUTINES_H
#define SQLSH_ROUTINES_H

#include "shell.h"

/* Show functions and procedures with their parameters, from both lists of the catalog. */
int routines_show(struct shell *sh, const cenote_result *routines,
	const cenote_result *params, int has_system);

#endif
