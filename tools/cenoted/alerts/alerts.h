/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ALERTS_H
#define CND_ALERTS_H

#include "shared/child.h"

/*
 * The process for the key `notify`: it reads the scoreboard, and runs a command or sends a request by HTTP when something has
 * happened. No client and no other process waits for it.
 */

/* Why this build or this machine cannot notify in this way; NULL: it can. Loads a library, for the child as well. */
const char *cnd_alerts_lack(const char *notify);
_Noreturn void cnd_alerts_run(const struct cnd_child *child);

/* Send the text as JSON. Waits some seconds at most. NULL; or why it failed, until the next call. (webhook.c) */
const char *cnd_webhook_send(const char *url, const char *json);
/* NULL; or why there is no way to do that. */
const char *cnd_webhook_lacks(void);

#endif
