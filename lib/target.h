/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_TARGET_H
#define CN_TARGET_H

#include <sys/socket.h>

#include "options.h"

/* Where cenoted may be: the addresses to try, in order. */
#define CN_HOST_MAX 256u

struct cn_target {
	struct sockaddr_storage addr;
	socklen_t len;
	char host[CN_HOST_MAX]; /* as it was asked for; "": a unix socket */
};

struct cn_targets {
	struct cn_target *list;
	size_t n;
	size_t cap;
};

#define CN_TARGETS_MAX     64u
#define CN_TARGET_TEXT_MAX 160u

/*
 * From the options and, where they do not say it, the environment. Looks up host names.
 * CENOTE_OK; CENOTE_ERR_ARG: the options name no place, or one that cannot be;
 * CENOTE_ERR_CONN: no address for a host; CENOTE_ERR_NOMEM. `diag` says why.
 */
int cn_targets_build(struct cn_targets *t, const struct cn_options *o,
	const struct cenote_allocator *mem, struct cnc_diag *diag);
void cn_targets_finish(struct cn_targets *t, const struct cenote_allocator *mem);
/* "/run/cenote/inventory.sock", "192.0.2.1:9432". */
void cn_target_text(const struct cn_target *t, char out[CN_TARGET_TEXT_MAX]);
/* What an errno means, in English whatever the locale. */
const char *cn_errno_text(int error);

#endif
