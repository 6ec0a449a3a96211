/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MASTER_PARTS_H
#define CND_MASTER_PARTS_H

#include <signal.h>

#include "listeners.h"
#include "master.h"
#include "pool.h"
#include "shared/child.h"
#include "shared/ipc.h"

/* What the files of the master share. master.c: the master's life; master_children.c: the processes
 * that it forks; master_pools.c: the pools that it has open, and reloads. */
enum cnd_phase {
	CND_PHASE_SERVING,
	CND_PHASE_DRAINING, /* a worker ends when its client holds nothing */
	CND_PHASE_ENDING /* workers end even if their clients hold something */
};

/* The master decides by this state alone. Its children can write parts of the scoreboard. */
struct cnd_master {
	struct cnd_child child; /* what children inherit */
	struct cnd_config *config;
	/* indexed like the records of the scoreboard */
	struct cnd_pool pools[CND_POOL_RECORD];
	struct cnd_listeners listeners;
	struct cnd_place *places; /* by slot */
	int control[2]; /* [0] is the master's end, [1] the door's */
	pid_t helpers[CND_HELPERS_MAX]; /* 0: this place is free */
	int pid_file; /* -1: none */
	pid_t door;
	int64_t door_again_ms;
	enum cnd_phase phase;
	int64_t phase_until_ms;
	sigset_t waiting_mask;
};

extern struct cnd_master cnd_the_master;

static inline struct cnd_pool_head *
cnd_master_head(const struct cnd_pool *p)
{
	return cnd_pool_head(cnd_the_master.child.board, p->index);
}

static inline struct cnd_pool_record *
cnd_master_record(const struct cnd_pool *p)
{
	return cnd_pool_record(cnd_the_master.child.board, p->index);
}

/* Free the record of a removed pool whose last process has ended. */
static inline void
cnd_master_forget_pool(struct cnd_pool *p)
{
	cnd_pool_close(p);
	p->is_used = 0;
	atomic_store(&cnd_master_head(p)->is_used, 0);
}

/* ---- master.c ---- */

/* Make the pid file again if somebody removed it. */
void cnd_master_keep_pid_file(void);

/* ---- master_children.c ---- */

void cnd_children_fork_door(void);
/* The door asks for a helper for this client. */
void cnd_children_fork_helper(const struct cnd_ipc *m);
/* The door asks for a helper, but the client's descriptor was lost. */
void cnd_children_lose_helped(const struct cnd_ipc *m);
/* Wake the worker in that slot, or kill it because it sent nonsense. No worker: nothing happens. */
void cnd_children_nudge(uint32_t slot);
void cnd_children_end_bad(uint32_t slot);
void cnd_children_end_bad_door(void);
/* Fork workers up to the pool's minimum. Returns when to call this again; CND_NEVER: not needed. */
int64_t cnd_children_fill_up(struct cnd_pool *p, int64_t now);
/* Clients wait: fork more workers, if the present ones and those that start are not enough. */
void cnd_children_grow(struct cnd_pool *p);
/* Reap the children that have ended. */
void cnd_children_reap(void);
/* Give an order (enum cnd_order) to the workers of one pool, or to all. */
void cnd_children_order_pool(uint32_t pool, uint32_t order);
void cnd_children_order_all(uint32_t order);
/* The number of workers that run. */
uint32_t cnd_children_n_workers(void);
void cnd_children_kill(void);
void cnd_children_kill_helpers(void);
/* End the door, and wait until it has ended. */
void cnd_children_end_door(void);

/* ---- master_pools.c ---- */

/* Find a free record for the pool, and open its socket and its queue. NULL: failed, logged. `await`
 * as in cnd_listeners_prepare(). */
struct cnd_pool *cnd_pools_open(const struct cnd_config *c,
	const struct cnd_pool_config *pc, cnd_await_address *await);
/* Start the pool: from now on it has workers. */
void cnd_pools_begin(struct cnd_pool *p, struct cnd_pool_config *pc,
	const struct cnd_backend *backend);
/* Read the configuration again and apply it. A configuration with an error changes nothing. */
void cnd_pools_reload(void);
/* Remove the names of all sockets, and the pid file. */
void cnd_pools_unlink(void);

#endif
