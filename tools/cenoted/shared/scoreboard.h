/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SCOREBOARD_H
#define CND_SCOREBOARD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"
#include "core/sm.h"

/*
 * Memory that all processes share, made before the first fork, to tell others what one does. Every word has
 * one writer, or is moved by compare-and-swap; texts are read under a sequence lock. No process can block
 * another here.
 *
 * Who may write what is enforced (cnd_scoreboard_confine()): the heads only the master writes, a pool's record
 * its workers and the door, a slot its worker and the door. Everybody may read all of it. So nobody decides
 * by what another pool's worker could have written, and the master by nothing but its own memory: it has
 * the processes in cnd_the_master.places.
 */

/* One worker's life; the table of moves is in scoreboard.c. */
enum cnd_state_of_slot {
	CND_SLOT_FREE, /* no process */
	CND_SLOT_STARTING, /* forked; logs in for the first time */
	CND_SLOT_FAILING, /* could not log in; waits, then tries again */
	CND_SLOT_IDLE, /* logged in, waits for a client */
	CND_SLOT_OPENING, /* took a client that is not attached yet */
	CND_SLOT_ATTACHED, /* lent */
	CND_SLOT_SUSPENDED, /* held for a client that will resume */
	CND_SLOT_RESETTING, /* the client went; made as new, or logs in again */
	CND_SLOT_ENDING, /* takes no more clients */
	CND_SLOT_STATES
};

/* What the master wants of a worker, in rising order. */
enum cnd_order {
	CND_ORDER_NONE,
	CND_ORDER_RELOAD, /* end as soon as the client holds nothing: the pool has changed */
	CND_ORDER_DRAIN, /* the same: cenoted ends */
	CND_ORDER_NOW /* end, whatever the client holds */
};

/* A word of one writer at a time that others may read: odd while it is being written. */
struct cnd_seq {
	_Atomic uint32_t n;
};

/* Who has the session; texts are cut, always terminated. */
struct cnd_identity {
	char user[64];
	char program[32];
	char application[64];
	char tls[96]; /* cnd_channel_text(); "" in the clear */
	int32_t pid; /* of the client */
	int32_t uid; /* -1 unknown */
};

/* Where the worker is logged in, or why it is not. */
struct cnd_login {
	char server[128];
	char tls[96]; /* with it; "" in the clear, or not known */
	char sqlstate[6];
	char error[512]; /* "" when logged in */
};

/* The right to cancel or resume a session, as everybody may read it: a hash of the session's number and key. */
#define CND_PROOF_WORDS 4u

/* Of a worker, by the master. */
struct cnd_slot_head {
	_Atomic int32_t pid; /* 0: there is none */
	_Atomic uint32_t pool;
	_Atomic uint32_t order; /* enum cnd_order */
};

/* Of a worker, by itself. */
struct cnd_slot {
	_Atomic uint32_t state; /* enum cnd_state_of_slot */
	_Atomic uint32_t is_known; /* the door has the worker's inbox; the door sets it */
	_Atomic uint32_t is_leaving; /* counted in its pool's `leaving` */
	_Atomic uint32_t is_unproven; /* and in its `unproven` */
	_Atomic uint32_t generation; /* counts attaches in this slot, across workers */
	_Atomic uint32_t request; /* of this generation: last that began, */
	_Atomic uint32_t finished; /* and last that ended */
	_Atomic uint32_t is_held; /* the client holds something: it could not yield */
	_Atomic uint32_t tx; /* enum cenote_tx, and */
	_Atomic uint32_t pins; /* bits of enum cenote_pin: what it holds */
	_Atomic uint32_t
		server_line; /* of the pool's, from 1, in use or being tried; 0 none */
	_Atomic uint64_t
		owner; /* whose session it is, in a pool that passes logins through; 0
				   nobody's */
	_Atomic uint64_t proof[CND_PROOF_WORDS]; /* all 0: nobody has the right */
	_Atomic uint64_t cancel; /* generation << 32 | last request that it may hit; 0:
				  * none. By the door. */
	_Atomic int64_t since_ms; /* of the state, monotonic */
	_Atomic uint64_t attaches;
	_Atomic uint64_t requests;
	_Atomic uint64_t errors;
	_Atomic uint64_t yields;
	struct cnd_seq identity_seq;
	struct cnd_identity identity;
	struct cnd_seq login_seq;
	struct cnd_login login;
};

#define CND_SLOTS_MAX   4096u
#define CND_IDLE_WORDS  (CND_SLOTS_MAX / 64u)
#define CND_TICKETS     8192u
#define CND_POOL_RECORD CND_CONFIG_POOLS

/* Of a pool, by the master. */
struct cnd_pool_head {
	_Atomic uint32_t is_used;
	_Atomic uint32_t min_sessions;
	_Atomic uint32_t max_sessions;
	_Atomic uint32_t live; /* workers, in whatever state */
	_Atomic uint32_t mode; /* enum cnd_mode */
	_Atomic int64_t queue_timeout_ms;
	char name[CND_POOL_NAME_MAX + 1];
	char backend[32];
};

/* Of a pool, by its workers and the door. */
struct cnd_pool_record {
	_Atomic uint32_t is_armed; /* the door accepts here, since no worker is idle */
	_Atomic uint32_t door_is_awake; /* it will look at this pool soon */
	_Atomic uint32_t waiting; /* written by the door */
	_Atomic uint32_t leaving; /* idle workers that decided to end */
	_Atomic uint32_t
		unproven; /* workers whose client came by TCP and is not attached */
	_Atomic uint32_t
		held; /* clients that wait for one of these to end: by the door */
	_Atomic int64_t contended_ms; /* when a client last waited: by the door */
	_Atomic uint32_t login_changes; /* clients changed what logins begin with; by the
					 * workers, as the next five */
	_Atomic uint64_t attaches;
	_Atomic uint64_t requests;
	_Atomic uint64_t errors;
	_Atomic uint64_t yields;
	_Atomic uint64_t relogins; /* sessions that no reset makes as new */
	_Atomic uint64_t queued; /* by the door */
	_Atomic uint64_t timeouts;
	_Atomic uint64_t idle[CND_IDLE_WORDS]; /* a bit per slot */
	_Atomic uint32_t line_sessions[CND_SERVERS_MAX]; /* of each server line */
	_Atomic int64_t
		line_failed_ms[CND_SERVERS_MAX]; /* by the workers; 0: it did not */
	_Atomic uint32_t
		line_reads[CND_SERVERS_MAX]; /* digest of how its last session reads
						       * texts, for a warning; 0: none yet */
	_Atomic uint64_t tickets[CND_TICKETS]; /* of those who wait for the pool */
};

/* Of a client in the waiting room: serial << 2 | state. */
enum cnd_ticket_state {
	CND_TICKET_FREE,
	CND_TICKET_WAITING,
	CND_TICKET_TAKEN, /* by a worker */
	CND_TICKET_GIVEN_UP /* by the door: too late, or the client went */
};

/* A process's view of it: each has its own, which nobody else can change. */
struct cnd_scoreboard {
	uint32_t n_slots;
	int fd; /* of the memory; -1 in a process that is confined */
	unsigned char *base;
	size_t size;
	size_t records_at;
	size_t record_stride;
	size_t slots_at;
	size_t slot_stride;
	struct evp_md_ctx_st *hasher; /* of the keys; NULL without OpenSSL */
};

/* NULL with errno. */
struct cnd_scoreboard *cnd_scoreboard_create(uint32_t n_slots);
void cnd_scoreboard_destroy(struct cnd_scoreboard *b);

#define CND_BOARD_NONE UINT32_MAX
#define CND_BOARD_ALL  (UINT32_MAX - 1)

/* In a child: what is not this pool's record and this slot can only be read from here on, whatever the process
 * does. _NONE: none of them may be written; _ALL: all may. 0 or -errno. */
int cnd_scoreboard_confine(struct cnd_scoreboard *b, uint32_t pool, uint32_t slot);

/* pool < CND_POOL_RECORD, slot < n_slots. */
struct cnd_pool_head *cnd_pool_head(const struct cnd_scoreboard *b, uint32_t pool);
struct cnd_pool_record *cnd_pool_record(const struct cnd_scoreboard *b, uint32_t pool);
struct cnd_slot_head *cnd_slot_head(const struct cnd_scoreboard *b, uint32_t slot);
struct cnd_slot *cnd_slot_at(const struct cnd_scoreboard *b, uint32_t slot);

extern const struct cnc_sm_state cnd_slot_states[CND_SLOT_STATES];

/* Milliseconds of the monotonic clock, as coarse as the kernel keeps it (1…10 ms). */
int64_t cnd_now_ms(void);
/* No such time: a wait without a bound. */
#define CND_NEVER INT64_MAX

/* A worker of this pool will have that slot, which nobody has: with `order` NONE and state STARTING. By the
 * master only, as is release. */
void cnd_slot_begin(struct cnd_scoreboard *b, uint32_t slot, uint32_t pool);
/* Its process is gone, however it went. */
void cnd_slot_release(struct cnd_scoreboard *b, uint32_t slot);
/* The state in shared memory, and the pool's bit for idle. 1 if this left the pool without an
 * idle worker. */
int cnd_slot_publish(struct cnd_scoreboard *b, uint32_t slot, uint32_t state);
/* Take an idle worker out of the idle ones, so that it takes nobody but who is sent to it: 1; 0: it is not idle,
 * or was claimed. A worker that claims itself may take whoever comes. */
int cnd_slot_claim(struct cnd_scoreboard *b, uint32_t slot);
/* It is idle as before. */
void cnd_slot_unclaim(struct cnd_scoreboard *b, uint32_t slot);
/* Count it among its pool's unproven, or no more. 1: somebody is held for just that. */
int cnd_slot_set_unproven(struct cnd_scoreboard *b, uint32_t slot, uint32_t is_unproven);
/* It is counted for no server line any more. */
void cnd_slot_leave_line(struct cnd_scoreboard *b, uint32_t slot);
void cnd_slot_set_identity(struct cnd_slot *s, const struct cnd_identity *identity);
void cnd_slot_identity(const struct cnd_slot *s, struct cnd_identity *ret_identity);
void cnd_slot_set_login(struct cnd_slot *s, const struct cnd_login *login);
void cnd_slot_login(const struct cnd_slot *s, struct cnd_login *ret_login);

/* The number of a lent session, and back. */
static inline uint64_t
cnd_session_number(uint32_t slot, uint32_t generation)
{
	return (uint64_t)generation << 32 | slot;
}
/* The slot of that pool that a client's session number names, which proves nothing; CND_BOARD_NONE if the number
 * is not (or no more) right. */
uint32_t cnd_slot_named(const struct cnd_scoreboard *b, uint32_t pool, uint64_t session);
/* The same by number and key. */
uint32_t cnd_slot_find(
	const struct cnd_scoreboard *b, uint32_t pool, uint64_t session, uint64_t key);
/* From now on it is found by this key; 0: by none. */
void cnd_slot_set_key(struct cnd_scoreboard *b, uint32_t slot, uint64_t key);
/* Whether that request runs or is still to come. */
int cnd_slot_runs(const struct cnd_slot *s, uint64_t session, uint32_t request);
/* Ask for what runs to be cancelled, up to that request: 1, or 0 if that does not run any more. By the
 * door only. */
int cnd_slot_cancel(struct cnd_slot *s, uint64_t session, uint32_t request);
/* Whether the request that runs now is cancelled; told once. `last`: the server has the requests up to that one, and may
 * be at any of them: what does not mean all of them hits none. */
int cnd_slot_take_cancel(struct cnd_slot *s, uint32_t last);

/* How many workers of a pool are in which state. */
struct cnd_census {
	uint32_t n[CND_SLOT_STATES];
	uint32_t live;
	uint32_t in_use; /* lent, being lent or given back, suspended */
	int failing_slot; /* one of the failing; -1 none */
};
void cnd_pool_census(
	const struct cnd_scoreboard *b, uint32_t pool, struct cnd_census *ret_census);
int cnd_pool_has_idle(const struct cnd_pool_record *p);
/* Leave the pool's least number of workers alone: 1 if the worker in this slot may end. */
int cnd_pool_leave(struct cnd_scoreboard *b, uint32_t slot);

/* A pool's tickets. The door takes one: its number with the serial, or -1 if all are out. */
int cnd_ticket_take(struct cnd_pool_record *p, uint32_t hint, uint64_t *ret_serial);
/* Move it on from WAITING: 1, or 0 if somebody else was first or it is an old one. */
int cnd_ticket_move(
	struct cnd_pool_record *p, uint32_t ticket, uint64_t serial, uint64_t to);
uint64_t cnd_ticket_state(const struct cnd_pool_record *p, uint32_t ticket);
void cnd_ticket_release(struct cnd_pool_record *p, uint32_t ticket);
/* The door is gone: nobody waits any more. */
void cnd_tickets_reset(struct cnd_scoreboard *b);

#endif
