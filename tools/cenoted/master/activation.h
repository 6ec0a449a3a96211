/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ACTIVATION_H
#define CND_ACTIVATION_H

#include <stddef.h>
#include <sys/socket.h>

/*
 * Sockets that the service manager opened for us (systemd.socket(5), sd_listen_fds(3)). They are found by
 * the address that they listen on. Clients that come while no cenoted runs wait in them.
 */

/* Look at what came with the start. 0, or -1, logged: one of them is not a listening socket. */
int cnd_activation_begin(void);
/* A copy of the one on this address: its number; -1 if there is none. */
int cnd_activation_take(const struct sockaddr *addr, socklen_t len);
/* Log those that nobody took: what they are for is not configured. How many. */
size_t cnd_activation_complain(void);

#endif
