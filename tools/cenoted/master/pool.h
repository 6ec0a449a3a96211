/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_POOL_H
#define CND_POOL_H

#include <sys/un.h>

#include "config/config.h"
#include "listeners.h"
#include "shared/tls.h"

/* A pool at run time: what the master opens and its children inherit. */
struct cnd_pool {
	uint32_t index; /* of its record in the scoreboard */
	char name[CND_POOL_NAME_MAX + 1];
	struct cnd_pool_config *config; /* borrowed; NULL once it was removed */
	const struct cnd_backend *backend;
	int listen_fd; /* -1 closed */
	int is_inherited; /* the service manager opened it */
	int dir_fd; /* the run directory; -1 closed */
	int path_fd; /* what the socket's path names, to change its owner (O_PATH); -1: inherited */
	int queue[2]; /* the door writes into [0], the workers read from [1] */
	int wake_fd; /* eventfd, by its workers: the door should look at it */
	int is_used; /* 1 also while a removed pool still has workers */
	uint32_t live; /* its workers */
	struct sockaddr_un address;
	struct cnd_tls_tickets tickets; /* while it has TLS */
	int64_t fork_again_ms; /* a worker died young: none is forked before */
	unsigned n_young_deaths;
};

/* Load the backends that the configuration names and let them check its server lines; what is
 * wrong becomes errors of the configuration. backends: one per pool. */
void cnd_pool_check_backends(
	struct cnd_config *c, const struct cnd_backend **ret_backends);

/* Open the run directory, which is made if it is not there, the socket and the queue. 0 or -1, logged; nothing is left open then.
 * `await` as in cnd_listeners_prepare(). */
int cnd_pool_open(struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc, cnd_await_address *await);
/* Owner and mode of the socket, as the configuration has them now. */
int cnd_pool_set_owner(const struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc);
/* Whether the socket still has its name, which anybody with the right may remove. */
int cnd_pool_has_socket(const struct cnd_pool *p);
/* Take no more clients: remove the socket's name. What has connected is still served. */
void cnd_pool_unlink(struct cnd_pool *p);
void cnd_pool_close(struct cnd_pool *p);

#endif
