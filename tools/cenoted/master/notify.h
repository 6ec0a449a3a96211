/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NOTIFY_H
#define CND_NOTIFY_H

/* Tell the service manager about a state such as "READY=1" (sd_notify(3)). */
void cnd_notify(const char *state);
/* The same for RELOADING=1, which needs a time stamp. */
void cnd_notify_reloading(void);

/* Get the number of listening sockets that it passed, and the first one. Children do not get to
 * know of them. */
int cnd_notify_sockets(int *ret_first);

#endif
