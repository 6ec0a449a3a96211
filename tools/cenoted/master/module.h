/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MODULE_H
#define CND_MODULE_H

#include "backends/backend.h"

/*
 * Load a backend: the module cenoted-NAME.so. It is searched for in `dir`, if that is not ""; else
 * in $CENOTE_BACKEND_DIR, if that is set; else beside the program (a build that is not installed);
 * else where `meson install` puts it. A module stays loaded. CENOTE_OK; or CENOTE_ERR_ARG, and the
 * diagnostics say why.
 */
int cnd_module_load(const char *dir, const char *name,
	const struct cnd_backend **ret_backend, struct cnc_diag *ret_diag);

#endif
