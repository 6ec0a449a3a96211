/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_DOOR_PARTS_H
#define CND_DOOR_PARTS_H

#include <stdalign.h>

#include "blame.h"
#include "door.h"
#include "protocol/session_server.h"
#include "shared/ipc.h"
#include "shares.h"

/*
 * What the files of the door share: its state and its clients (guests).
 *
 * door.c: the door's life, and the pools' sockets; door_state.c: the state and the spare descriptors;
 * guest.c: one client that the door holds, and the answers to it; opening.c: the first bytes of a
 * client; waiting.c: clients that wait for a session; asking.c: clients that wait for a helper;
 * pauses.c: clients that wait for a point in time; door_workers.c: messages of the workers and
 * helpers; door_reports.c: messages to the master about workers.
 *
 * No turn of the door takes longer because more guests wait for a session.
 */

/* Descriptors besides one for each worker. */
#define CND_DOOR_KEPT_FDS    16
/* How long a client may take to send its opening and first frame. */
#define CND_DOOR_OPENING_MS  10000
/* How many clients the door accepts in one turn: newcomers must not keep it from its other clients. */
#define CND_DOOR_ACCEPTS     16
/* How many clients that have not said what they want may come by TCP, and how many by unix sockets. */
#define CND_DOOR_STRANGERS   1024u
/* How many clients of all pools may wait for a session. */
#define CND_DOOR_WAITING     12288u
/* How many clients may wait for a helper. */
#define CND_DOOR_ASKING      1024u
/* How many clients may wait for the answer to a failed login. */
#define CND_DOOR_PAUSING     256u
/* How many clients may wait for a point in time. One more, since the last is added before the first
 * is removed. */
#define CND_DOOR_PAUSES      (CND_DOOR_WAITING + CND_DOOR_ASKING + CND_DOOR_PAUSING + 1)
#define CND_DOOR_SCRATCH_MAX 16384u
#define CND_NO_POOL          UINT32_MAX

enum cnd_source_kind {
	CND_SOURCE_CONTROL,
	CND_SOURCE_HELPERS,
	CND_SOURCE_POOL,
	CND_SOURCE_WAKE, /* a pool's wake_fd */
	CND_SOURCE_WORKER,
	CND_SOURCE_LISTENER,
	CND_SOURCE_GUEST
};

/* What an epoll event points at. It is the first member of every object that epoll watches. */
struct cnd_source {
	alignas(max_align_t) enum cnd_source_kind kind;
};

enum cnd_guest_phase {
	/* the door waits for the client's opening; on `talking` or `strangers` */
	CND_GUEST_OPENING,
	/* the client waits because logins or cancels from its address failed; on `blamed` */
	CND_GUEST_BLAMED,
	CND_GUEST_ASKING, /* the client needs a helper, but no session; on `asking` */
	/* the client wants a session, and waits in the door for its turn; on its pool's `held` */
	CND_GUEST_HELD,
	/* the client has a ticket and is in the kernel's queue; on its pool's `waiting`, in that order */
	CND_GUEST_WAITING,
	CND_GUEST_PAUSING, /* the answer to the client has to wait; on `pausing` */
	CND_GUEST_LEAVING /* the rest of the answer must still be sent; on `leaving` */
};

/* A client that the door holds. */
struct cnd_guest {
	struct cnd_source source;
	struct cnd_guest *prev;
	struct cnd_guest *next;
	int fd;
	enum cnd_guest_phase phase;
	enum cnd_guest_phase next_phase; /* BLAMED: ASKING or HELD */
	uint32_t pool; /* CND_NO_POOL: not known yet */
	uint32_t ticket;
	uint64_t serial;
	int64_t since_ms;
	int64_t not_before_ms; /* BLAMED, PAUSING: the end of the pause */
	uint32_t pause_at; /* BLAMED, PAUSING: its index in `pauses` */
	struct cnd_shares *shares; /* the table in which the guest has a place */
	/* the user's share that the place counts for; NULL: the guest has no place */
	struct cnd_share *share;
	struct cnd_turn turn; /* HELD: in its pool's `turns` */
	struct cnd_peer peer;
	uint8_t awaits_proxy; /* a header of the PROXY protocol comes first */
	/* bytes that a worker has read from the client, or the rest of an answer; owned */
	uint8_t *kept;
	size_t kept_len;
	size_t kept_at;
};

/* A list of guests, in the order of arrival. */
struct cnd_guests {
	struct cnd_guest *first;
	struct cnd_guest *last;
	uint32_t n;
};

struct cnd_pauses {
	uint32_t n;
	struct cnd_guest *list[CND_DOOR_PAUSES];
};

struct cnd_door_pool {
	struct cnd_source source; /* for the pool's socket */
	struct cnd_source wake; /* for the pool's wake_fd */
	int is_here;
	int is_armed; /* the door accepts on its socket */
	int is_dirty; /* waiting clients may have to get an error */
	/* nobody has been asked for a session for the newest waiting client */
	int needs_help;
	int listen_fd;
	int queue_fd;
	int wake_fd;
	int is_jammed; /* the kernel's queue has no room */
	struct cnd_guests held;
	struct cnd_guests waiting;
	struct cnd_turns turns; /* of the clients in `held` */
	uint32_t n_strangers; /* clients in `waiting` that came by TCP */
	uint32_t n_held_strangers; /* the same for `held` */
	struct cnd_networks networks;
};

struct cnd_door_listener {
	struct cnd_source source;
	int fd; /* -1: none */
	uint8_t has_proxy;
};

/* One for each slot. */
struct cnd_door_worker {
	struct cnd_source source;
	int inbox; /* -1: no worker has this slot */
	uint32_t pool;
	uint8_t owes_nudge; /* the master must still wake the worker */
	uint8_t is_bad; /* the master must still end the worker */
};

/* A running helper and its client. */
struct cnd_door_helper {
	uint8_t is_busy;
	struct cnd_peer peer;
	struct cnd_share_of of;
};

struct cnd_door_state {
	const struct cnd_child *child;
	struct cnd_scoreboard *board;
	int epoll_fd;
	int control_fd;
	struct cnd_ipc_spares spares; /* reserved again at the end of a turn */
	struct cnd_source control;
	struct cnd_source helpers_inbox;
	struct cnd_door_worker *workers;
	uint32_t n_owed; /* how many workers the master must still hear about */
	struct cnd_door_pool pools[CND_POOL_RECORD];
	uint32_t n_pools;
	struct cnd_door_listener listeners[CND_LISTENERS_MAX];
	struct cnd_guests talking; /* guests in OPENING that came by a unix socket */
	struct cnd_guests strangers; /* guests in OPENING that came by TCP */
	struct cnd_guests asking;
	struct cnd_guests blamed;
	struct cnd_guests pausing;
	struct cnd_guests leaving;
	struct cnd_pauses pauses;
	struct cnd_shares waiting_shares; /* for clients that want a session */
	struct cnd_shares asking_shares; /* for clients that want a helper */
	int is_asking_dirty; /* a client on `asking` may have its turn */
	struct cnd_door_helper helpers[CND_HELPERS_MAX];
	uint32_t next_ticket;
	int64_t look_at_ms; /* CND_NEVER: no look is due */
	struct cnd_blame blame; /* failed logins */
	struct cnd_blame vain; /* helpers that worked in vain */
	struct cnp_server server; /* for the answer that is being written */
	uint8_t scratch[CND_DOOR_SCRATCH_MAX];
};

extern struct cnd_door_state cnd_the_door;

/* door_state.c */
/* Hold the spare descriptors (again). 0 or -errno. */
int cnd_door_reserve(void);
/* Like cnd_ipc_receive() and accept4(), but use the spare descriptors if no others are left. */
int cnd_door_receive(int fd, struct cnd_ipc *ret_m);
int cnd_door_accept(int listen_fd, struct sockaddr *addr, socklen_t *len);

/* guest.c */
/* Add a client that has just come. NULL: out of memory, and the descriptor is closed. */
struct cnd_guest *cnd_guest_add(int fd, uint32_t pool, const struct cnd_peer *peer);
/* Move the guest to another phase, at the end of that phase's list. */
void cnd_guest_move(struct cnd_guest *g, enum cnd_guest_phase phase);
/* Let the guest wait until that time, and then move it to `next_phase`, ASKING or HELD. */
void cnd_guest_pause(
	struct cnd_guest *g, enum cnd_guest_phase next_phase, int64_t not_before_ms);
/* Give the guest a place until it goes. `what` completes the message "as many clients … wait". 0; or
 * -1: there is no place, and the guest got an error and has gone. */
int cnd_guest_take_share(
	struct cnd_guest *g, struct cnd_shares *shares, const char *what);
int cnd_guest_watch(struct cnd_guest *g, int op, uint32_t events);
void cnd_guest_dismiss(struct cnd_guest *g);
/* Send the output of the door's `server`, then close. If the socket is full, do both later. */
void cnd_guest_answer(struct cnd_guest *g);
void cnd_guest_refuse(struct cnd_guest *g, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Whether this client uses a descriptor that the door keeps for itself. */
int cnd_guest_is_too_many(const struct cnd_guest *g);
void cnd_guest_refuse_full(struct cnd_guest *g);
/* Send the client the last message that a worker left for it, after a pause. */
void cnd_guest_part(
	struct cnd_guest *g, const uint8_t *bytes, size_t n, int64_t not_before_ms);
/* End the pauses that are over; the time when the next pause ends (CND_NEVER: there is none). */
void cnd_guest_end_pauses(int64_t now_ms);
int64_t cnd_guest_next_pause(void);
/* The guest's socket has room again. */
void cnd_guest_send_rest(struct cnd_guest *g);

/* pauses.c: sorted by not_before_ms. */
void cnd_pauses_add(struct cnd_pauses *p, struct cnd_guest *g);
void cnd_pauses_remove(struct cnd_pauses *p, struct cnd_guest *g);
/* The guest whose pause ends first; NULL: no guest pauses. */
struct cnd_guest *cnd_pauses_first(const struct cnd_pauses *p);

/* opening.c */
/* A client came on a pool's own socket. */
void cnd_opening_receive(int fd, uint32_t pool);
void cnd_opening_accept(const struct cnd_door_listener *l);
/* Look at the client's first bytes without taking them from the socket. */
void cnd_opening_look(struct cnd_guest *g);
/* A worker accepted the client, which then sent nothing. Wait for its next bytes here. */
void cnd_opening_return(const struct cnd_ipc *m);
/* Send the client to the worker in that slot; if that fails, tell the client to try again. */
void cnd_opening_forward_resume(struct cnd_guest *g, uint32_t slot, struct cnd_ipc *m);
/* A worker of that pool says that the worker in slot m->index has the client's session. */
void cnd_opening_route(struct cnd_ipc *m, uint32_t pool);

/* door_workers.c */
/* Watch the worker in that slot; `inbox` is the door's end of its socket pair. 0, or -1 with errno. */
int cnd_workers_add(uint32_t slot, int inbox, uint32_t pool);
/* Read the messages of the worker in that slot, or of the helpers. */
void cnd_workers_hear(uint32_t slot);
void cnd_workers_hear_helpers(void);

/* door_reports.c */
/* Wake the worker in that slot. */
void cnd_workers_nudge(uint32_t slot);
/* End the worker in that slot: it sent nonsense. */
void cnd_workers_report(uint32_t slot);
/* Cancel the request that a client of that pool runs. Returns 1; 0: no such request runs, or the key
 * is wrong. */
int cnd_workers_cancel(uint32_t pool, const struct cnp_cancel *c);
/* Send the master the reports that are owed; when to try that again (CND_NEVER: none is owed). */
void cnd_workers_settle(void);
int64_t cnd_workers_next(int64_t now_ms);

/* asking.c */
/* The client needs a helper. It gets one now, or when one is free for it. */
void cnd_asking_begin(struct cnd_guest *g);
/* The client's pause is over. */
void cnd_asking_go_on(struct cnd_guest *g);
/* The master says that the helper m->index has ended. */
void cnd_asking_end(const struct cnd_ipc *m);
/* Serve the clients whose turn it is. */
void cnd_asking_settle(int64_t now_ms);

/* waiting.c */
/* The client wants a session of its pool. It gets one at once, or when its turn comes. */
void cnd_waiting_admit(struct cnd_guest *g);
/* The client wants a session, and its pause is over. */
void cnd_waiting_go_on(struct cnd_guest *g);
/* The client has gone. */
void cnd_waiting_leave(struct cnd_guest *g);
/* How many clients of the pool wait for a session. Those that must first prove who they are do not count. */
uint32_t cnd_waiting_count(const struct cnd_door_pool *p);
/* Serve the clients of a pool whose turn it is. */
void cnd_waiting_settle(uint32_t pool);
/* Send all clients of a pool an error. */
void cnd_waiting_refuse_all(uint32_t pool, const char *why);
void cnd_waiting_expire(uint32_t pool, int64_t now_ms);
/* Refuse one waiting client, to use its descriptor for a message of the master. 0: no client waits. */
int cnd_waiting_shed(void);
/* When the next client of a pool needs attention; CND_NEVER: none does. */
int64_t cnd_waiting_next(uint32_t pool, int64_t now_ms);

#endif
