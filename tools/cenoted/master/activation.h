/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ACTIVATION_H
#define CND_ACTIVATION_H

#include <stddef.h>
#include <sys/socket.h>

/* Sockets that the service manager opened for cenoted (systemd.socket(5), sd_listen_fds(3)). Each is
 * found by the address that it listens on. Clients that connect while no cenoted runs wait in
 * them. */

/* Look at the sockets that the service manager passed. 0; or -1, logged: one of them is not a
 * listening socket. */
int cnd_activation_begin(void);
/* Copy the socket that listens on this address. Returns the copy; -1: there is none. */
int cnd_activation_take(const struct sockaddr *addr, socklen_t len);
/* Log the sockets that no pool and no `listen` line has taken. Returns how many. */
size_t cnd_activation_complain(void);

#endif
