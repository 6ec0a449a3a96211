/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ALERTS_H
#define CND_ALERTS_H

#include "shared/child.h"

/*
 * The process for the key `notify`: it reads the scoreboard, and runs a command or sends a request by HTTP when an event
 * occurs. No client and no other process waits for it.
 */

/* Why this build or this machine cannot notify in this way; NULL: it can. For a URL it loads libcurl, which the child inherits. */
const char *cnd_alerts_lack(const char *notify);
_Noreturn void cnd_alerts_run(const struct cnd_child *child);

/* Send this JSON to the URL; it takes 10 seconds at most. Returns NULL, or why it failed; that text is valid until the next call. */
const char *cnd_webhook_send(const char *url, const char *json);
/* Why this build or this machine cannot send to a URL; NULL: it can. Must be called before the first cnd_webhook_send(). */
const char *cnd_webhook_lacks(void);

#endif
