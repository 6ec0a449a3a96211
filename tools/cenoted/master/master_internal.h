/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MASTER_PARTS_H
#define CND_MASTER_PARTS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "listeners.h"
#include "master.h"
#include "pool.h"
#include "shared/child.h"
#include "shared/ipc.h"

/* What the files of the master share. master.c: its life; master_children.c: the processes that it
 * forks; master_groups.c: workers that several sessions share; master_pools.c: the pools that it has open, and reloads;
 * admin.c: the socket of cenotectl; admin_commands.c: its commands. */
enum cnd_phase {
	CND_PHASE_SERVING,
	CND_PHASE_LEAVING, /* another cenoted takes new clients */
	CND_PHASE_DRAINING, /* a worker ends when its client holds nothing */
	CND_PHASE_ENDING /* workers end even if their clients hold something */
};

/* A group: a worker that several sessions share. Slots are reserved for it until it has ended, since it can write them. */
struct cnd_group {
	pid_t pid; /* 0: this place is free */
	uint32_t pool;
	uint32_t n_slots; /* reserved */
	uint32_t n_seats; /* its sessions */
	int control_fd; /* -1: it has closed its end */
	bool is_retired; /* it gets no more sessions */
	int64_t born_ms;
};

/* A process that only reads the scoreboard, and that the master starts again if it ends. */
struct cnd_service {
	pid_t pid; /* 0: it does not run */
	int64_t born_ms;
	int64_t again_ms; /* not before this time */
};

/* The master decides by this state alone. Its children can write parts of the scoreboard. */
struct cnd_master {
	struct cnd_child child; /* what children inherit */
	struct cnd_config *config;
	/* indexed like the records of the scoreboard */
	struct cnd_pool pools[CND_POOL_RECORD];
	struct cnd_listeners listeners;
	struct cnd_listeners stats_listeners;
	struct cnd_place *places; /* by slot */
	struct cnd_group *groups; /* as many places as there are slots */
	int control[2]; /* [0] is the master's end, [1] the door's */
	pid_t helpers[CND_HELPERS_MAX]; /* 0: this place is free */
	int pid_file; /* -1: none */
	pid_t door;
	int64_t door_again_ms;
	struct cnd_service stats; /* the process that serves statistics */
	struct cnd_service alerts; /* the process that notifies */
	enum cnd_phase phase;
	int64_t phase_until_ms;
	int64_t started_ms; /* when cenoted started, by cnd_now_ms() */
	sigset_t waiting_mask;
	char program[4096]; /* the path of this program; "": not known */
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

/* Forget the pool if it has been removed and its last process has ended. Processes of the pool can
 * write its record. */
static inline void
cnd_master_forget_pool(struct cnd_pool *p)
{
	if (p->config != NULL || p->live > 0 || p->n_groups > 0)
		return;
	cnd_pool_close(p);
	p->is_used = 0;
	atomic_store(&cnd_master_head(p)->is_used, 0);
}

/* ---- master.c ---- */

/* Make the pid file again if somebody removed it. */
void cnd_master_keep_pid_file(void);
/* Do what the first SIGTERM does; `is_now`: what the second one does. */
void cnd_master_drain(bool is_now);

/* ---- admin.c ---- */

#define CND_ADMIN_CLIENTS 8u
/* Open the socket of cenotectl. A failure is logged. */
void cnd_admin_open(void);
/* Open the socket again if somebody has removed its name. */
void cnd_admin_keep(void);
/* Add its descriptors to those that the master waits for, and act on those that are ready. Returns how many there are: at most
 * 1 + CND_ADMIN_CLIENTS. */
nfds_t cnd_admin_gather(struct pollfd *fds);
void cnd_admin_hear(const struct pollfd *fds);
/* Part with clients whose time is over. Returns when to call this again. */
int64_t cnd_admin_tend(int64_t now);
/* An upgrade has ended. Tell the clients that wait for that. `why`: why it failed; NULL: process `successor` serves now. */
void cnd_admin_end_upgrade(const char *why, pid_t successor);
/* cenoted has ended: tell those who wait for that, and remove the socket's name. */
void cnd_admin_end(void);

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
/* End the session of the client that has this slot's now. */
void cnd_children_kill_client(uint32_t slot);
/* Wake the workers of a pool. */
void cnd_children_nudge_pool(uint32_t pool);
/* The number of workers that run, or of sessions for workers that share them. */
uint32_t cnd_children_n_workers(void);
void cnd_children_kill(void);
void cnd_children_kill_helpers(void);
/* Fork the processes for statistics and for notifications, if the configuration wants them and they do not run. Returns
 * when to call this again; CND_NEVER: not needed. */
int64_t cnd_children_keep_services(int64_t now);
void cnd_children_end_services(void);
/* End the door, and wait until it has ended. */
void cnd_children_end_door(void);
/* The same as cnd_children_grow() if so many clients wait in a worker, besides those at the door. */
void cnd_children_grow_for(struct cnd_pool *p, uint64_t n_waiting);

/* For master_groups.c. */
/* A slot that no worker has and that is reserved for none; -1: there is none. */
int cnd_children_free_slot(void);
/* Make the connection between the door and the worker in this slot, and tell the door of it. Returns the worker's
 * end, or -1, logged. */
int cnd_children_make_inbox(const struct cnd_pool *p, uint32_t slot, int *ret_door_end);
/* The slot's session has a worker now, or the worker no longer has it. */
void cnd_children_take_place(uint32_t slot, const struct cnd_place *place);
void cnd_children_leave_place(uint32_t slot);
/* In a child: give up the shared memory except these slots, all descriptors except the pool's and this one,
 * and the ticket keys of other pools. */
void cnd_children_confine(
	const struct cnd_pool *p, const uint32_t *slots, uint32_t n_slots, int own_fd);
/* A worker has ended: log that, and let the pool pause after early deaths. */
void cnd_children_note_end(struct cnd_pool *p, pid_t pid, int64_t born_ms, int status);
/* Kill a worker that sent nonsense. */
void cnd_children_end_bad_worker(uint32_t pool, pid_t pid);

/* ---- master_groups.c ---- */

/* Begin a session of the pool in a shared worker; fork one if the pool has no place in those that it has. 0;
 * -EAGAIN: try again soon; another negative number: failed, logged. */
int cnd_groups_seat(struct cnd_pool *p);
/* The groups of a pool get no more sessions, and end when they have none. */
void cnd_groups_retire(uint32_t pool);
/* Add the groups' descriptors to those that the master waits for, and hear the groups that sent something. */
nfds_t cnd_groups_gather(struct pollfd *fds);
void cnd_groups_hear(const struct pollfd *fds, nfds_t n);
/* A child has ended: 1 if it was a group. */
int cnd_groups_bury(pid_t pid, int status);
void cnd_groups_kill(void);

/* ---- master_pools.c ---- */

/* Find a free record for the pool, and open its socket and its queue. NULL: failed, logged. `await`
 * as in cnd_listeners_prepare(). */
struct cnd_pool *cnd_pools_open(const struct cnd_config *c,
	const struct cnd_pool_config *pc, cnd_await_address *await);
/* Start the pool: from now on it has workers. */
void cnd_pools_begin(struct cnd_pool *p, struct cnd_pool_config *pc,
	const struct cnd_backend *backend);
/* Read the configuration again and apply it. 0; or -1, logged: it has an error, and nothing has changed. */
int cnd_pools_reload(void);
/* How long after cnd_pools_set_paused() the last worker has surely seen it. */
#define CND_PAUSE_SETTLES_MS 100
/* Let no new transaction begin in the pool, or let them begin again. */
void cnd_pools_set_paused(struct cnd_pool *p, uint32_t is_paused);
/* Another cenoted has the sockets of all pools now. Accept no more clients there, and do not remove their names. */
void cnd_pools_leave(void);
void cnd_pools_resume_all(void);
/* Remove the names of all sockets, and the pid file. */
void cnd_pools_unlink(void);

#endif
