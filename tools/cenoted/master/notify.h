/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_NOTIFY_H
#define CND_NOTIFY_H

/* Tell the service manager, if there is one: sd_notify(3) states such as "READY=1". */
void cnd_notify(const char *state);
/* The same for RELOADING=1, which wants the time. */
void cnd_notify_reloading(void);

/* How many listening sockets it gave, and the number of the first; they are not told to children. */
int cnd_notify_sockets(int *ret_first);

#endif
