/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_TARGET_H
#define CN_TARGET_H

#include <sys/socket.h>

#include "options.h"

/* The addresses of cenoted to try, in order. */
#define CN_HOST_MAX 256u

struct cn_target {
	struct sockaddr_storage addr;
	socklen_t len;
	char host[CN_HOST_MAX]; /* as the program named it; "" for a unix socket */
};

struct cn_targets {
	struct cn_target *list;
	size_t n;
	size_t cap;
};

#define CN_TARGETS_MAX     64u
#define CN_TARGET_TEXT_MAX 160u

/*
 * Make the list from the options or, if they name no place, from the environment. This looks up
 * host names. CENOTE_OK; CENOTE_ERR_ARG: the options name no place, or an impossible one;
 * CENOTE_ERR_CONN: a host has no address; CENOTE_ERR_NOMEM. `diag` has the reason.
 */
int cn_targets_build(struct cn_targets *t, const struct cn_options *o,
	const struct cenote_allocator *mem, struct cnc_diag *diag);
void cn_targets_finish(struct cn_targets *t, const struct cenote_allocator *mem);
/* The target as text: "/run/cenote/inventory.sock", "192.0.2.1:9432". */
void cn_target_text(const struct cn_target *t, char out[CN_TARGET_TEXT_MAX]);
/* The meaning of an errno, in English whatever the locale. */
const char *cn_errno_text(int error);

#endif
