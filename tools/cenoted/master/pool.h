/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_POOL_H
#define CND_POOL_H

#include <sys/un.h>

#include "config/config.h"
#include "listeners.h"
#include "shared/result_cache.h"
#include "shared/tls.h"

/* A pool at run time: what the master opens and its children inherit. */
struct cnd_pool {
	uint32_t index; /* the index of its record in the scoreboard */
	char name[CND_POOL_NAME_MAX + 1];
	struct cnd_pool_config *config; /* borrowed; NULL once the pool is removed */
	const struct cnd_backend *backend;
	int listen_fd; /* -1: closed */
	int is_inherited; /* the service manager opened it */
	int dir_fd; /* the run directory; -1: closed */
	int path_fd; /* the socket's file, to change its owner (O_PATH); -1: inherited */
	int queue[2]; /* the door writes into [0], the workers read from [1] */
	int wake_fd; /* eventfd with which its workers wake the door */
	int is_used; /* also 1 while a removed pool still has workers, shared or not */
	uint32_t live; /* how many sessions have a worker */
	uint32_t n_groups; /* shared workers, also those without a session */
	struct sockaddr_un address;
	struct cnd_tls_tickets tickets; /* unused without TLS */
	struct cnd_cache
		cache; /* the memory of the pool's cache; .head NULL: it has none */
	int64_t fork_again_ms; /* a worker died young: fork none before this time */
	unsigned n_young_deaths;
};

/* Load the backends that the configuration names, and let them check its server lines. Problems
 * become errors of the configuration. backends: one for each pool. */
void cnd_pool_check_backends(
	struct cnd_config *c, const struct cnd_backend **ret_backends);

/* Open the socket and the queue, and make the run directory if it does not exist. 0; or -1, logged:
 * nothing is left open then. `await` as in cnd_listeners_prepare(). */
int cnd_pool_open(struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc, cnd_await_address *await);
/* Open only the socket of cenotectl, in the same directory. The newest cenoted there has it. 0; or -1, logged. */
int cnd_pool_open_admin(struct cnd_pool *p, const struct cnd_config *c);
/* Give the socket the owner and mode that the configuration has now. */
int cnd_pool_set_owner(const struct cnd_pool *p, const struct cnd_config *c,
	const struct cnd_pool_config *pc);
/* Whether the socket still has its name. Anybody who may write in the directory can remove the
 * name. */
int cnd_pool_has_socket(const struct cnd_pool *p);
/* Take no more clients: remove the socket's name. Clients that have connected are still served. */
void cnd_pool_unlink(struct cnd_pool *p);
void cnd_pool_close(struct cnd_pool *p);

#endif
