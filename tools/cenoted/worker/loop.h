/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LOOP_H
#define CND_LOOP_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/fibre.h"

/*
 * The event loop of a worker process that holds several sessions. Each session has a seat: a fibre on
 * which the code of a worker runs as if it were alone in its process. Where that code waits, it leaves the
 * fibre, and the loop runs the other seats. This file knows nothing of sessions and clients: shared.c decides
 * what runs on a seat, and staying.c keeps the clients that have no session.
 *
 * Epoll is edge-triggered: it reports an event only once. The loop remembers for each watched descriptor that an event has
 * come. A seat that waits for such a descriptor calls poll(2) before it leaves its fibre. If the descriptor was read until it
 * was empty (cnd_seat_drained()), later bytes make a new event, and no poll(2) is needed.
 */

struct cnd_loop;

struct cnd_seat {
	struct cnd_loop *loop;
	struct cnc_fibre fibre;
	void *user; /* argument of the function that runs here; NULL: the seat is free */
	int watched[3]; /* stay in epoll between waits; -1: free place */
	/* the descriptors that the seat waits for; the loop writes their events here */
	struct pollfd *fds;
	nfds_t n_fds;
	int64_t until_ms; /* when the wait ends (monotonic clock); CND_NEVER: no limit */
	bool is_waiting;
	bool is_ready; /* in the loop's list of seats to run */
	bool is_idle; /* waits for a client, and is in the loop's list of idle seats */
	bool is_between; /* waits for the next request of a client that may have to yield */
	struct cnd_seat *next_ready;
	struct cnd_seat *next_idle; /* went idle before this seat */
	unsigned n_direct; /* waits in a row that ended at once */
};

/* The owner of a watched descriptor. */
enum cnd_watch {
	CND_WATCH_NOBODY, /* it is not watched */
	CND_WATCH_SEAT, /* `index` is the seat's */
	CND_WATCH_STAYING, /* `index` is the client's, in staying.c */
	CND_WATCH_SOCKET, /* the pool's listening socket */
	CND_WATCH_QUEUE, /* the socket on which the door sends clients */
	CND_WATCH_CONTROL /* the control socket to the master */
};

/* A descriptor that epoll watches. */
struct cnd_watched {
	uint8_t watch; /* enum cnd_watch */
	bool is_raised; /* it may have bytes: an event came, and nobody has read it empty since */
	bool is_hung; /* an event said that the other end is closed */
	uint32_t index;
};

struct cnd_loop {
	int epoll_fd;
	struct cnd_watched *watched; /* by descriptor */
	uint32_t n_watched;
	sigset_t waiting_mask; /* signals are blocked except while the loop waits */
	struct cnd_seat *seats;
	uint32_t n_seats;
	struct cnd_seat *ready, **ready_end; /* the seats to run, in order */
	struct cnd_seat *idle; /* list; the seat that went idle last is first */
	bool has_sockets; /* the listening socket may have clients */
	bool has_queue; /* the door's queue may have clients */
	/* Called for events of CND_WATCH_STAYING and CND_WATCH_CONTROL. */
	void (*on_event)(
		void *user, enum cnd_watch watch, uint32_t index, uint32_t events);
	/* Called once in each turn, before the loop waits. Returns when it must be called next; CND_NEVER: no limit. */
	int64_t (*on_turn)(void *user);
	void *user;
};

void cnd_loop_init(struct cnd_loop *l, uint32_t n_seats);
/* Take a free seat for run(), which begins in the loop's next turn. NULL: no seat is free, or there is no memory. */
struct cnd_seat *cnd_loop_start(
	struct cnd_loop *l, void (*run)(void *user), void *user, size_t stack_size);
/* One turn: wait until there are events or a time limit is reached, then run the seats that are ready. */
void cnd_loop_turn(struct cnd_loop *l);

/* Watch a descriptor until it is closed. Returns 0 or -errno. */
int cnd_loop_watch(struct cnd_loop *l, int fd, enum cnd_watch watch, uint32_t index);
void cnd_loop_unwatch(struct cnd_loop *l, int fd);

/* ---- called on a seat ---- */

static inline uint32_t
cnd_seat_index(const struct cnd_seat *s)
{
	return (uint32_t)(s - s->loop->seats);
}

/* Watch a descriptor of this seat until cnd_seat_unwatch(). Call that before closing the descriptor. All other
 * descriptors are watched only while the seat waits for them. */
void cnd_seat_watch(struct cnd_seat *s, int fd);
void cnd_seat_unwatch(struct cnd_seat *s, int fd);
/* As cnd_seat_watch(), for a descriptor that epoll watches for another owner. */
void cnd_seat_take_over(struct cnd_seat *s, int fd);
/* A read of this watched descriptor got less than it asked for, or nothing: no bytes are left there. */
void cnd_seat_drained(struct cnd_seat *s, int fd);
/* As cnd_seat_unwatch(), but epoll goes on watching the descriptor, for another owner. */
void cnd_seat_hand_on(struct cnd_seat *s, int fd, enum cnd_watch watch, uint32_t index);

/*
 * As ppoll(2) with the loop's mask. It returns 0, with no events set, if `until_ms` has passed, a signal came, or
 * the loop woke the seat because a client waits.
 */
int cnd_seat_poll(struct cnd_seat *s, struct pollfd *fds, nfds_t n, int64_t until_ms);
/* As cnd_seat_poll(), for a seat without a client: it also returns 0 when a client may have come. */
int cnd_seat_idle(struct cnd_seat *s, struct pollfd *fds, nfds_t n, int64_t until_ms);
/* Let the other seats run if this seat has not waited for long. */
void cnd_seat_breathe(struct cnd_seat *s);

/* ---- called anywhere ---- */

/* Let a seat that waits look around. */
void cnd_seat_wake(struct cnd_seat *s);
/* A client waits: wake the idle seat that went idle last; or else one whose client may have to yield. */
void cnd_loop_wake_for_client(struct cnd_loop *l);
/* Clients still wait: wake all such seats. A seat that was woken before may have got something else to do. */
void cnd_loop_wake_for_clients(struct cnd_loop *l);

#endif
