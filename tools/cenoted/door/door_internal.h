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
 * What the door's files share. door.c: its life, and the sockets it accepts on; guest.c: a client it
 * holds, and what that is told; opening.c: what a client begins with; waiting.c: those who wait for a
 * session; asking.c: those who wait for a helper; pauses.c: those who wait for a time; door_workers.c: what
 * workers say, and are told.
 *
 * A turn of the door's takes no longer the more guests there are who wait for a session.
 */

/* Beside one descriptor for each worker. */
#define CND_DOOR_KEPT_FDS    16
/* The whole of opening and first frame. */
#define CND_DOOR_OPENING_MS  10000
/* A stream of newcomers must not keep the door from those it has. */
#define CND_DOOR_ACCEPTS     16
/* So many by TCP, and so many by unix sockets, who have not said yet what they want. */
#define CND_DOOR_STRANGERS   1024u
/* So many who wait for a helper. */
#define CND_DOOR_ASKING      1024u
/* So many whose login failed and who wait to be told. */
#define CND_DOOR_PAUSING     256u
/* All who may wait for a time; one more is there before the first goes. */
#define CND_DOOR_PAUSES      (CND_TICKETS + CND_DOOR_ASKING + CND_DOOR_PAUSING + 1)
#define CND_DOOR_SCRATCH_MAX 16384u
#define CND_NO_POOL          UINT32_MAX

enum cnd_source_kind {
	CND_SOURCE_CONTROL,
	CND_SOURCE_HELPERS,
	CND_SOURCE_POOL,
	CND_SOURCE_WAKE, /* a pool's */
	CND_SOURCE_WORKER,
	CND_SOURCE_LISTENER,
	CND_SOURCE_GUEST
};

/* What an epoll event points at; the first member of what it is. */
struct cnd_source {
	alignas(max_align_t) enum cnd_source_kind kind;
};

enum cnd_guest_phase {
	CND_GUEST_OPENING, /* its opening is awaited; on `talking` or `strangers` */
	CND_GUEST_BLAMED, /* it waits because logins or cancels from its address failed; in the list `blamed` */
	CND_GUEST_ASKING, /* no session, but a helper; on `asking` */
	CND_GUEST_HELD, /* it may not ask for a session yet; on its pool's list */
	CND_GUEST_WAITING, /* it has a ticket; on its pool's list */
	CND_GUEST_PAUSING, /* its answer has to wait; on `pausing` */
	CND_GUEST_LEAVING /* the rest of an answer is to be sent; on `leaving` */
};

/* A client that the door holds. */
struct cnd_guest {
	struct cnd_source source;
	struct cnd_guest *prev;
	struct cnd_guest *next;
	int fd;
	enum cnd_guest_phase phase;
	enum cnd_guest_phase next_phase; /* BLAMED: ASKING or HELD */
	uint32_t pool; /* CND_NO_POOL: it did not say */
	uint32_t ticket;
	uint64_t serial;
	int64_t since_ms;
	int64_t not_before_ms; /* BLAMED, PAUSING: what follows waits until then */
	uint32_t pause_at; /* the same: where in `pauses` */
	struct cnd_shares *shares; /* it has a place of these, */
	struct cnd_share *share; /* and that is whose; NULL: none */
	struct cnd_peer peer;
	uint8_t awaits_proxy; /* first comes a proxy's header */
	uint8_t *kept; /* what a worker had read of it; or the rest of an answer */
	size_t kept_len;
	size_t kept_at;
};

/* In the order of their coming. */
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
	struct cnd_source source; /* its socket */
	struct cnd_source wake; /* its wake_fd */
	int is_here;
	int is_armed; /* its socket is watched */
	int is_dirty; /* those who wait may have to be told something */
	int needs_help; /* nobody was asked for a session for the last of them */
	int listen_fd;
	int queue_fd;
	int wake_fd;
	struct cnd_guests held;
	struct cnd_guests waiting;
	struct cnd_guest *to_push; /* first that is not yet in the queue */
	uint32_t n_strangers; /* of `waiting`, those who came by TCP */
	struct cnd_networks networks;
};

struct cnd_door_listener {
	struct cnd_source source;
	int fd; /* -1: none */
	uint8_t has_proxy;
};

/* By slot. */
struct cnd_door_worker {
	struct cnd_source source;
	int inbox; /* -1: there is none */
	uint32_t pool;
	uint8_t owes_nudge; /* the master has yet to be told, */
	uint8_t is_bad; /* also of this */
};

/* A helper at work, and for whom. */
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
	struct cnd_ipc_spares spares; /* taken again at the end of a turn */
	struct cnd_source control;
	struct cnd_source helpers_inbox;
	struct cnd_door_worker *workers;
	uint32_t n_owed; /* of `workers` */
	struct cnd_door_pool pools[CND_POOL_RECORD];
	uint32_t n_pools;
	struct cnd_door_listener listeners[CND_LISTENERS_MAX];
	struct cnd_guests talking; /* by a unix socket */
	struct cnd_guests strangers; /* by TCP */
	struct cnd_guests asking;
	struct cnd_guests blamed;
	struct cnd_guests pausing;
	struct cnd_guests leaving;
	struct cnd_pauses pauses;
	struct cnd_shares waiting_shares; /* of those who want a session */
	struct cnd_shares asking_shares; /* of those who want a helper */
	int is_asking_dirty; /* one of `asking` may have its turn */
	struct cnd_door_helper helpers[CND_HELPERS_MAX];
	uint32_t next_ticket;
	int64_t look_at_ms; /* CND_NEVER: nobody asked */
	struct cnd_blame blame; /* of failed logins */
	struct cnd_blame vain; /* of helpers in vain */
	struct cnp_server server; /* for the answer being made */
	uint8_t scratch[CND_DOOR_SCRATCH_MAX];
};

extern struct cnd_door_state cnd_the_door;

/* door_state.c */
/* Hold the spare descriptors (again). 0 or -errno. */
int cnd_door_reserve(void);
/* As cnd_ipc_receive() and accept4(). They use the spare descriptors if no others are left. */
int cnd_door_receive(int fd, struct cnd_ipc *ret_m);
int cnd_door_accept(int listen_fd, struct sockaddr *addr, socklen_t *len);

/* guest.c */
/* One that has just come; the descriptor is closed if that cannot be. NULL: it was. */
struct cnd_guest *cnd_guest_add(int fd, uint32_t pool, const struct cnd_peer *peer);
/* To another phase, and so to the end of that one's list. */
void cnd_guest_move(struct cnd_guest *g, enum cnd_guest_phase phase);
/* To that phase, ASKING or HELD, at that time. */
void cnd_guest_pause(
	struct cnd_guest *g, enum cnd_guest_phase next_phase, int64_t not_before_ms);
/* It takes one of these places until it goes. `what` completes "as many clients … wait": 0; or -1: there is none for it, it
 * was told, and is gone. */
int cnd_guest_take_share(
	struct cnd_guest *g, struct cnd_shares *shares, const char *what);
int cnd_guest_watch(struct cnd_guest *g, int op, uint32_t events);
void cnd_guest_dismiss(struct cnd_guest *g);
/* Send what is in the door's `server`, then close; if the socket is full, later. */
void cnd_guest_answer(struct cnd_guest *g);
void cnd_guest_refuse(struct cnd_guest *g, const char *sqlstate, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Whether this client has one of the descriptors that the door keeps for itself. */
int cnd_guest_is_too_many(const struct cnd_guest *g);
void cnd_guest_refuse_full(struct cnd_guest *g);
/* Last words that a worker left, behind a pause. */
void cnd_guest_part(
	struct cnd_guest *g, const uint8_t *bytes, size_t n, int64_t not_before_ms);
/* Those whose time has come; and when the next one's does, CND_NEVER. */
void cnd_guest_end_pauses(int64_t now_ms);
int64_t cnd_guest_next_pause(void);
/* Its socket has room. */
void cnd_guest_send_rest(struct cnd_guest *g);

/* pauses.c; the times are the guests' own. */
void cnd_pauses_add(struct cnd_pauses *p, struct cnd_guest *g);
void cnd_pauses_remove(struct cnd_pauses *p, struct cnd_guest *g);
/* NULL: there is none. */
struct cnd_guest *cnd_pauses_first(const struct cnd_pauses *p);

/* opening.c */
/* A client of a pool's own socket. */
void cnd_opening_receive(int fd, uint32_t pool);
void cnd_opening_accept(const struct cnd_door_listener *l);
/* Look at what a client begins with, without taking it from the socket. */
void cnd_opening_look(struct cnd_guest *g);
/* A worker took it, and then it said nothing: wait here for its next word. */
void cnd_opening_return(const struct cnd_ipc *m);
/* Send the client to the worker in that slot, or tell it to come again. */
void cnd_opening_forward_resume(struct cnd_guest *g, uint32_t slot, struct cnd_ipc *m);
/* A worker of that pool knows that the one in m->index has its session. */
void cnd_opening_route(struct cnd_ipc *m, uint32_t pool);

/* door_workers.c */
/* The worker in that slot, which has the door's end of its inbox as `inbox`. 0, or -1 with errno. */
int cnd_workers_add(uint32_t slot, int inbox, uint32_t pool);
/* It has said something. */
void cnd_workers_hear(uint32_t slot);
void cnd_workers_hear_helpers(void);

/* door_reports.c */
/* Wake the worker in that slot. */
void cnd_workers_nudge(uint32_t slot);
/* End the worker in that slot: it sent nonsense. */
void cnd_workers_report(uint32_t slot);
/* Cancel what a client of that pool runs: 1; 0: it does not run, or the key is wrong. */
int cnd_workers_cancel(uint32_t pool, const struct cnp_cancel *c);
/* Send the master what is owed; and when to try that again, CND_NEVER: nothing is owed. */
void cnd_workers_settle(void);
int64_t cnd_workers_next(int64_t now_ms);

/* asking.c */
/* It needs a helper: now, or when one is free for it. */
void cnd_asking_begin(struct cnd_guest *g);
/* Its pause is over. */
void cnd_asking_go_on(struct cnd_guest *g);
/* The master says that the helper m->index has ended. */
void cnd_asking_end(const struct cnd_ipc *m);
/* Those whose turn it is. */
void cnd_asking_settle(int64_t now_ms);

/* waiting.c */
/* It wants a session of its pool: at once, or when its turn comes. */
void cnd_waiting_admit(struct cnd_guest *g);
/* The same; its pause is over. */
void cnd_waiting_go_on(struct cnd_guest *g);
/* It went. */
void cnd_waiting_leave(struct cnd_guest *g);
/* Go on with those of a pool who can. */
void cnd_waiting_settle(uint32_t pool);
/* Tell all of a pool that nothing will come of it. */
void cnd_waiting_refuse_all(uint32_t pool, const char *why);
void cnd_waiting_expire(uint32_t pool, int64_t now_ms);
/* Refuse one waiting client, to have its descriptor for a message of the master. 0: no client waits. */
int cnd_waiting_shed(void);
/* When something is to be done for those of a pool; CND_NEVER. */
int64_t cnd_waiting_next(uint32_t pool, int64_t now_ms);

#endif
