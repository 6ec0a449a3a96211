/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTENERS_H
#define CND_LISTENERS_H

#include "config/listen.h"

/* The sockets of `listen`, by the numbers under which the door knows them; or those of
 * `stats_listen`. */
struct cnd_listeners {
	struct cnd_listener {
		int fd; /* -1: unused */
		struct cnd_listen at;
	} list[CND_LISTENERS_MAX];
};

/* Called while another process still has the address `what`. 1: try again; 0: give up. */
typedef int cnd_await_address(const char *what);

void cnd_listeners_init(struct cnd_listeners *l);
void cnd_listeners_close(struct cnd_listeners *l);
/*
 * Open the addresses in `wanted` that are not open yet, or take them from the service manager. 0;
 * or -1, logged: nothing is left open then. `await` NULL: do not wait for an address that is in
 * use. `key`: of the configuration, for the log.
 */
int cnd_listeners_prepare(const char *key, const struct cnd_listeners *now,
	const struct cnd_listens *wanted, cnd_await_address *await,
	struct cnd_listeners *ret_new);
/* Close the sockets that are not in `wanted`, add the new ones, and tell the door of both
 * (control_fd -1: there is no door yet, or the sockets are not for the door). */
void cnd_listeners_adopt(struct cnd_listeners *now, const struct cnd_listens *wanted,
	const struct cnd_listeners *new, int control_fd);

#endif
