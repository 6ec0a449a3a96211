/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CHILD_H
#define CND_CHILD_H

#include "config/config.h"
#include "result_cache.h"
#include "scoreboard.h"

/* What every process inherits from the master. */
struct cnd_child {
	struct cnd_scoreboard *board;
	const struct cnd_config *config;
	pid_t master;
	int64_t started_s; /* when cenoted started, in seconds since 1970 */
	/* the ticket keys of the child's pool, read-only; NULL: none */
	const struct cn_tls_tickets *tickets;
	/* the memory in which the child's pool keeps results; .head NULL: none */
	struct cnd_cache cache;
	uint32_t
		pool_version; /* the version of that pool's configuration when the child was forked */
	int helper_inbox[2]; /* helpers write into [0], the door reads from [1] */
};

/* For a child that needs no signal handler: SIGTERM ends it at once, and the other signals of a terminal and of the master are ignored. */
void cnd_child_set_signals(void);

/* Which worker has a slot. The master and the door each keep a list. */
struct cnd_place {
	pid_t pid; /* 0: none */
	uint32_t pool;
	uint32_t order; /* enum cnd_order; the master's */
	uint32_t
		group; /* the shared worker that the slot is reserved for, from 1; 0: none; the master's */
	int inbox; /* the door's end: messages go both ways; -1: none */
	int64_t born_ms;
};

/* The number of helpers that may run at once. */
#define CND_HELPERS_MAX 16u

#endif
