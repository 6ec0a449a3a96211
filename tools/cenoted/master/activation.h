/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ACTIVATION_H
#define CND_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "upgrade.h"

/* Sockets that the service manager opened for cenoted (systemd.socket(5), sd_listen_fds(3)). Each is
 * found by the address that it listens on. Clients that connect while no cenoted runs wait in
 * them. */

/* Look at the sockets that were passed: by the old cenoted if there is a `handover`, or else by the service manager. 0; or -1: one of
 * them is not a listening socket, and that was logged. */
int cnd_activation_begin(const struct cnd_upgrade_handover *handover);
/* Copy the socket that listens on this address. Returns the copy; -1: there is none. *ret_is_own: a cenoted opened it, and not the
 * service manager. */
int cnd_activation_take(const struct sockaddr *addr, socklen_t len, bool *ret_is_own);
/* Log the sockets that no pool and no `listen` line has taken. Returns how many. */
size_t cnd_activation_complain(void);

#endif
