/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NOTIFY_H
#define CND_NOTIFY_H

/* Tell the service manager about a state such as "READY=1" (sd_notify(3)). */
void cnd_notify(const char *state);
/* Tell it RELOADING=1, which needs a time stamp. */
void cnd_notify_reloading(void);

/* Get the number of listening sockets that the service manager passed, and the first one. Removes the
 * variables about them, so that children do not see them. */
int cnd_notify_sockets(int *ret_first);

#endif
