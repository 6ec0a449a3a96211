/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SCOREBOARD_H
#define CND_SCOREBOARD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"
#include "core/sm.h"
#include "digests.h"
#include "histogram.h"
#include "pins.h"
#include "result_cache.h"
#include "tally.h"

/*
 * Memory that all processes share, made before the first fork. Each process publishes its state in
 * it. Every word has one writer or changes by compare-and-swap; texts are read under a sequence lock.
 * No process can block another here.
 *
 * cnd_scoreboard_confine() enforces who may write what: only the master writes the heads; its
 * workers and the door write a pool's record; the worker and the door write a slot. A worker that
 * several sessions share writes all slots that are reserved for it. Every process
 * may read everything. So no process decides by something that another pool's worker could have
 * written, and the master decides only by its own memory (cnd_the_master.places).
 */

/* A worker's states; scoreboard.c has the table of allowed moves. */
enum cnd_state_of_slot {
	CND_SLOT_FREE, /* no process */
	CND_SLOT_STARTING, /* forked; logs in for the first time */
	CND_SLOT_FAILING, /* could not log in; waits, then tries again */
	CND_SLOT_IDLE, /* logged in, waits for a client */
	CND_SLOT_OPENING, /* has a client that is not attached yet */
	CND_SLOT_ATTACHED, /* lent to a client */
	CND_SLOT_SUSPENDED, /* held for a client that will resume */
	CND_SLOT_RESETTING, /* the client has gone; resets the session or logs in again */
	CND_SLOT_ENDING, /* takes no more clients */
	CND_SLOT_STATES
};

/* The master's orders to a worker; a later value overrides an earlier one. */
enum cnd_order {
	CND_ORDER_NONE,
	CND_ORDER_RELOAD, /* end as soon as the client holds nothing: the pool has changed */
	CND_ORDER_DRAIN, /* like RELOAD, but because cenoted ends */
	CND_ORDER_KILL, /* as NOW for the client of kill_generation, as RELOAD for others */
	CND_ORDER_NOW /* end even if the client holds something */
};

/* A sequence lock for one writer and any number of readers: odd while the data is being written. */
struct cnd_seq {
	_Atomic uint32_t n;
};

/* The client that has the session. Texts are truncated and always terminated. */
struct cnd_identity {
	char user[64];
	char program[32];
	char application[64];
	char tls[96]; /* from cnd_channel_text(); "" in the clear */
	int32_t pid; /* of the client */
	int32_t uid; /* -1: unknown */
};

/* The server where the worker is logged in, or why it is not. */
struct cnd_login {
	char server[128];
	/* TLS of the connection to the server; "" in the clear, or unknown */
	char tls[96];
	char sqlstate[6];
	char error[512]; /* "": it is logged in */
};

/* The right to cancel or resume a session, in a form that everybody may read: a hash of the
 * session's number and key. */
#define CND_PROOF_WORDS 4u

/* The part of a worker's entry that only the master writes. */
struct cnd_slot_head {
	_Atomic int32_t pid; /* 0: there is no worker */
	_Atomic uint32_t pool;
	_Atomic uint32_t order; /* enum cnd_order */
	_Atomic uint32_t kill_generation; /* the client that the order KILL means */
};

/* The part of a worker's entry that the worker and the door write. */
struct cnd_slot {
	_Atomic uint32_t state; /* enum cnd_state_of_slot */
	_Atomic uint32_t is_known; /* the door has the worker's inbox; the door sets it */
	_Atomic uint32_t is_leaving; /* counted in its pool's `leaving` */
	_Atomic uint32_t is_unproven; /* counted in its pool's `unproven` */
	_Atomic uint32_t
		generation; /* how many attaches this slot has had, over all its workers */
	_Atomic uint32_t request; /* the last request of this generation that began */
	_Atomic uint32_t finished; /* the last request that ended */
	_Atomic uint32_t is_held; /* the client holds something, so it cannot yield */
	_Atomic uint32_t is_lent; /* the client has the server's socket */
	_Atomic uint32_t tx; /* enum cenote_tx: what the client holds */
	_Atomic uint32_t pins; /* bits of enum cenote_pin: what the client holds */
	_Atomic uint32_t
		pinned; /* those pins that surely hold the session, also when no transaction is open */
	_Atomic int64_t pinned_ms; /* since when there are such pins */
	_Atomic uint32_t
		server_line; /* the server line in use or being tried, from 1; 0: none */
	_Atomic uint64_t
		owner; /* the user of the session, in a pool whose clients log in as themselves; 0: none */
	_Atomic uint64_t proof[CND_PROOF_WORDS]; /* all 0: nobody has the right */
	_Atomic uint64_t
		cancel; /* generation << 32 | last request that it may hit; 0: none. The door writes it. */
	_Atomic uint32_t counted
		[CND_COUNTS]; /* its places in the pool's tally, from 1; 0: not counted */
	_Atomic int64_t since_ms; /* when the state began */
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
#define CND_TICKETS     64u
#define CND_POOL_RECORD CND_CONFIG_POOLS

/* The limits of one user of `user_limits`, for the door, which knows only the unix user. A limit of 0 means that there is none. */
struct cnd_user_head {
	_Atomic uint32_t uid;
	_Atomic uint32_t sessions;
	_Atomic uint32_t waiting;
	_Atomic uint32_t is_high; /* its clients go first */
};

/* A rule of a pool, as `cenotectl rules` and the statistics show it. */
struct cnd_rule_head {
	_Atomic uint64_t key; /* a hash of its text; 0: no rule has had this index */
	_Atomic uint32_t line; /* in the configuration */
	_Atomic uint32_t action; /* enum cnd_query_action */
	_Atomic uint32_t is_dry_run;
	char text[128]; /* its first 127 bytes */
};

/* The part of a pool's entry that only the master writes. */
struct cnd_pool_head {
	_Atomic uint32_t is_used;
	_Atomic uint32_t min_sessions;
	_Atomic uint32_t max_sessions;
	_Atomic uint32_t live; /* workers of the pool, in any state */
	_Atomic uint32_t mode; /* enum cnd_mode */
	_Atomic uint32_t n_servers; /* `server` lines */
	_Atomic uint32_t is_paused; /* no new transaction begins */
	_Atomic uint32_t
		is_left; /* accept no more clients: another cenoted has the pool's socket */
	_Atomic int64_t queue_timeout_ms;
	_Atomic uint32_t version; /* grows with each change of the configuration */
	/* three limits; 0: there is none */
	_Atomic uint32_t max_waiting;
	_Atomic uint32_t address_sessions;
	_Atomic uint32_t address_waiting;
	_Atomic uint32_t n_users;
	/* the users with limits of their own; the entry behind the last one is for any other user */
	struct cnd_user_head users[CND_USER_LIMITS_MAX + 1];
	/* the users in the lines of `user_limits`; "": there is no such line */
	char user_names[CND_USER_LIMITS_MAX][64];
	_Atomic int64_t failover_hold_ms; /* 0: clients do not wait for a server */
	_Atomic uint32_t target; /* enum cnd_target */
	_Atomic int64_t
		certificate_end_s; /* on which day `tls_cert` ends, since 1970; 0: the pool has no TLS */
	char name[CND_POOL_NAME_MAX + 1];
	char backend[32];
	_Atomic uint64_t
		cache_size; /* of the memory for results; 0: the pool keeps none */
	_Atomic uint32_t n_rules;
	/* only a pool with rules touches this memory */
	struct cnd_rule_head rules[CND_QUERY_RULES_MAX];
};

/* The part of a pool's entry that its workers and the door write. */
struct cnd_pool_record {
	_Atomic uint32_t
		is_armed; /* the door accepts on its socket, since no worker is idle */
	_Atomic uint32_t door_is_awake; /* the door will look at this pool soon */
	_Atomic uint32_t waiting; /* clients that wait; the door writes it */
	_Atomic uint32_t leaving; /* idle workers that decided to end */
	_Atomic uint32_t
		unproven; /* workers whose client came by TCP and is not attached yet */
	/* TCP clients that wait in the door for their turn; the door writes it */
	_Atomic uint32_t held;
	_Atomic int64_t
		contended_ms; /* when a client last waited; the door and shared workers write it */
	/* how often clients changed what a login sets; the pool's workers write this and the next
	 * seven */
	_Atomic uint32_t login_changes;
	_Atomic uint64_t attaches;
	_Atomic uint64_t requests;
	_Atomic uint64_t errors;
	_Atomic uint64_t yields;
	_Atomic uint64_t relogins; /* sessions that no reset could make fresh */
	_Atomic uint64_t failed_logins; /* to a server */
	_Atomic uint64_t
		refused_logins; /* of clients, by a rule or for a wrong password */
	_Atomic uint64_t queued; /* clients that had to wait; the door writes it */
	_Atomic uint64_t timeouts;
	_Atomic uint64_t pins
		[CND_PINS]; /* how often each pin began to hold a session; the workers write it */
	struct cnd_histogram
		request_time; /* from a request's beginning to its end; only if the master wants times */
	struct cnd_histogram
		waiting_time; /* of clients that waited in the door or in a shared worker */
	struct cnd_histogram
		session_time; /* how long clients had a session; as request_time */
	struct cnd_histogram login_time; /* of logins to a server that succeeded */
	_Atomic uint64_t idle[CND_IDLE_WORDS]; /* one bit for each slot */
	/* sessions of each server line */
	_Atomic uint32_t line_sessions[CND_SERVERS_MAX];
	/* when the line last failed; the pool's workers write it; 0: it did not fail */
	_Atomic int64_t line_failed_ms[CND_SERVERS_MAX];
	/* when the line's server came back, after it had failed or had not suited; 0: it was never away. A hint for the slow start */
	_Atomic int64_t line_back_ms[CND_SERVERS_MAX];
	/* when the line's token bucket for logins is full again (monotonic clock); the pool's workers write it */
	_Atomic int64_t line_logins_us[CND_SERVERS_MAX];
	_Atomic uint32_t line_reads
		[CND_SERVERS_MAX]; /* digest of how the line's last session reads texts, for a warning; 0: none yet */
	_Atomic uint32_t line_untested
		[CND_SERVERS_MAX]; /* digest of the last version of the line's server that the log has called untested */
	struct cnd_tally tally; /* used only if the pool limits sessions */
	/*
	 * What a server last told a session of its line, and when. These are hints: they order the lines that workers try, and
	 * people can read them. Each worker also asks its own session. A worker changes line_asked_ms by compare-and-swap
	 * before it asks, so one worker asks for all.
	 */
	_Atomic uint32_t line_role[CND_SERVERS_MAX]; /* enum cnd_role */
	_Atomic uint32_t line_suits
		[CND_SERVERS_MAX]; /* the pool's target wants this role and lag */
	_Atomic int64_t line_lag_ms[CND_SERVERS_MAX];
	_Atomic int64_t line_asked_ms[CND_SERVERS_MAX]; /* 0: never */
	_Atomic uint32_t line_turns
		[CND_SERVERS_MAX]; /* how often line_role or line_suits has changed */
	_Atomic int64_t
		served_ms; /* when a session last began or ended; 0: there was none yet */
	_Atomic uint32_t recoveries; /* logins after the pool had no session */
	/* tickets of the clients in the queue that the workers read */
	_Atomic uint64_t tickets[CND_TICKETS];
	/* the same for each server line, if there are several */
	struct cnd_buckets line_requests[CND_SERVERS_MAX];
	struct cnd_buckets line_logins[CND_SERVERS_MAX];
	/* requests of the users of `user_limits`, by the line there */
	struct cnd_buckets user_requests[CND_USER_LIMITS_MAX];
	/* how often each rule has matched, dry runs included; only a pool with rules touches this memory */
	_Atomic uint64_t rule_decisions[CND_QUERY_RULES_MAX];
	struct cnd_cache_counts cache; /* only a pool that keeps results uses it */
	/* statistics of statements; only a pool with `digests` touches this memory */
	struct cnd_digest_table digests;
};

/* The state of a client that waits: serial << 2 | state. */
enum cnd_ticket_state {
	CND_TICKET_FREE,
	CND_TICKET_WAITING,
	CND_TICKET_TAKEN, /* by a worker */
	CND_TICKET_GIVEN_UP /* by the door: its time is over, or the client has gone */
};

/* A process's view of the memory. Each process has its own, which no other can change. */
struct cnd_scoreboard {
	uint32_t n_slots;
	int fd; /* of the memory; -1 in a confined process */
	unsigned char *base;
	size_t size;
	size_t records_at;
	size_t record_stride;
	size_t slots_at;
	size_t slot_stride;
	struct evp_md_ctx_st *hasher; /* for the keys; NULL without OpenSSL */
};

/* Create the memory. NULL with errno. */
struct cnd_scoreboard *cnd_scoreboard_create(uint32_t n_slots);
void cnd_scoreboard_destroy(struct cnd_scoreboard *b);

#define CND_BOARD_NONE UINT32_MAX
#define CND_BOARD_ALL  (UINT32_MAX - 1)

/*
 * In a child: make everything read-only, except this pool's record and these slots, whatever the
 * process does later. Pool _NONE: nothing may be written, and there are no slots; _ALL: all records
 * and slots may. The slots are in ascending order. 0 or -errno.
 */
int cnd_scoreboard_confine(
	struct cnd_scoreboard *b, uint32_t pool, const uint32_t *slots, uint32_t n_slots);

/* The level of the log, which only the master writes. */
_Atomic int32_t *cnd_board_log_level(const struct cnd_scoreboard *b);
/* pool < CND_POOL_RECORD, slot < n_slots. */
struct cnd_pool_head *cnd_pool_head(const struct cnd_scoreboard *b, uint32_t pool);
struct cnd_pool_record *cnd_pool_record(const struct cnd_scoreboard *b, uint32_t pool);
struct cnd_slot_head *cnd_slot_head(const struct cnd_scoreboard *b, uint32_t slot);
struct cnd_slot *cnd_slot_at(const struct cnd_scoreboard *b, uint32_t slot);

/* Whether workers measure how long requests take; the master decides. */
void cnd_scoreboard_set_timed(struct cnd_scoreboard *b, int is_timed);
int cnd_scoreboard_is_timed(const struct cnd_scoreboard *b);

/* The master notes that it works, at a time of cnd_now_ms(). Only the master calls cnd_scoreboard_beat(). */
void cnd_scoreboard_beat(struct cnd_scoreboard *b, int64_t now);
int64_t cnd_scoreboard_last_beat_ms(const struct cnd_scoreboard *b);

extern const struct cnc_sm_state cnd_slot_states[CND_SLOT_STATES];

/* Milliseconds of the monotonic clock, as coarse as the kernel keeps it (1…10 ms). */
int64_t cnd_now_ms(void);
/* A time that never comes: for waits without a bound. */
#define CND_NEVER INT64_MAX

/* Give the free slot to a worker of this pool, with the order NONE and the state STARTING. Only the
 * master calls this function and cnd_slot_release(). */
void cnd_slot_begin(struct cnd_scoreboard *b, uint32_t slot, uint32_t pool);
/* Free the slot: its process has ended in any way. */
void cnd_slot_release(struct cnd_scoreboard *b, uint32_t slot);
/* Publish the state, and the pool's bit for idle. 1: the pool has no idle worker now. */
int cnd_slot_publish(struct cnd_scoreboard *b, uint32_t slot, uint32_t state);
/* Claim an idle worker, which then takes only the client that is sent to it. 1; 0: it is not idle, or
 * was claimed. A worker that claims itself may take any client. */
int cnd_slot_claim(struct cnd_scoreboard *b, uint32_t slot);
/* Give up the claim: the worker is idle as before. */
void cnd_slot_unclaim(struct cnd_scoreboard *b, uint32_t slot);
/* Count the worker in its pool's `unproven`, or stop counting it. 1: the door holds a client that
 * waits for this. */
int cnd_slot_set_unproven(struct cnd_scoreboard *b, uint32_t slot, uint32_t is_unproven);
/* Count the worker for no server line. */
void cnd_slot_leave_line(struct cnd_scoreboard *b, uint32_t slot);
/* Count the worker's client in the pool's tally, unless `limit` are counted already. 1: it is counted; 0: it is not. */
int cnd_slot_count(struct cnd_scoreboard *b, uint32_t slot, enum cnd_count kind,
	uint64_t key, uint32_t limit);
/* The client has gone. 1: it was counted. */
int cnd_slot_uncount(struct cnd_scoreboard *b, uint32_t slot);
void cnd_slot_set_identity(struct cnd_slot *s, const struct cnd_identity *identity);
void cnd_slot_identity(const struct cnd_slot *s, struct cnd_identity *ret_identity);
void cnd_slot_set_login(struct cnd_slot *s, const struct cnd_login *login);
void cnd_slot_login(const struct cnd_slot *s, struct cnd_login *ret_login);

/* The number of a lent session, made from slot and generation. */
static inline uint64_t
cnd_session_number(uint32_t slot, uint32_t generation)
{
	return (uint64_t)generation << 32 | slot;
}
/* The slot of that pool that a session number names; CND_BOARD_NONE if there is no such session
 * now. The number proves nothing. */
uint32_t cnd_slot_named(const struct cnd_scoreboard *b, uint32_t pool, uint64_t session);
/* The slot with this session number and key; CND_BOARD_NONE if there is none. */
uint32_t cnd_slot_find(
	const struct cnd_scoreboard *b, uint32_t pool, uint64_t session, uint64_t key);
/* Let cnd_slot_find() find the slot by this key; 0: by no key. */
void cnd_slot_set_key(struct cnd_scoreboard *b, uint32_t slot, uint64_t key);
/* Whether that request of the session runs or is still to come. */
int cnd_slot_runs(const struct cnd_slot *s, uint64_t session, uint32_t request);
/* Cancel the running requests up to this one. 1; 0: it does not run any more. Only the door calls
 * this. */
int cnd_slot_cancel(struct cnd_slot *s, uint64_t session, uint32_t request);
/* Whether the running request is cancelled; returns it once. `last`: the server has all requests up
 * to that one, and may be at any of them. A cancel that does not mean all of them hits none. */
int cnd_slot_take_cancel(struct cnd_slot *s, uint32_t last);

/* How many workers of a pool are in each state. */
struct cnd_census {
	uint32_t n[CND_SLOT_STATES];
	uint32_t live;
	uint32_t in_use; /* lent, about to be lent or given back, suspended */
	uint32_t pinned; /* those that pins hold */
	uint32_t pins[CND_PINS]; /* those that this pin holds, perhaps with others */
	int failing_slot; /* the slot of a failing worker; -1: none */
};
/* The pins that surely hold the session of a slot in this state. */
uint32_t cnd_slot_pinned(const struct cnd_slot *s, uint32_t state);
void cnd_pool_census(
	const struct cnd_scoreboard *b, uint32_t pool, struct cnd_census *ret_census);
/* Whether the server refuses every session of the pool. */
static inline int
cnd_census_is_down(const struct cnd_census *c)
{
	return c->n[CND_SLOT_FAILING] > 0 && c->n[CND_SLOT_IDLE] == 0 &&
	       c->n[CND_SLOT_STARTING] == 0 && c->in_use == 0;
}
/* Until when clients wait although no server accepts a login; 0: they do not wait. */
int64_t cnd_pool_holds_until(const struct cnd_scoreboard *b, uint32_t pool);
int cnd_pool_has_idle(const struct cnd_pool_record *p);
/* 1: the worker in this slot may end, since the pool keeps its minimum without it. */
int cnd_pool_leave(struct cnd_scoreboard *b, uint32_t slot);

/* Take a free ticket of the pool, for the door. Returns its number, and the serial; -1: none is
 * free. */
int cnd_ticket_take(struct cnd_pool_record *p, uint32_t hint, uint64_t *ret_serial);
/* Move the ticket from WAITING to another state. 1; 0: another process was first, or the ticket is an
 * old one. */
int cnd_ticket_move(
	struct cnd_pool_record *p, uint32_t ticket, uint64_t serial, uint64_t to);
uint64_t cnd_ticket_state(const struct cnd_pool_record *p, uint32_t ticket);
void cnd_ticket_release(struct cnd_pool_record *p, uint32_t ticket);
/* Free all tickets: the door has ended, so no client waits any more. */
void cnd_tickets_reset(struct cnd_scoreboard *b);

#endif
