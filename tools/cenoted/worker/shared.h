/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SHARED_H
#define CND_SHARED_H

#include "listening.h"
#include "loop.h"
#include "shared/turns.h"
#include "worker.h"

/*
 * A shared worker process: several sessions on the seats of one loop, and clients that stay connected
 * while they have no session. shared.c begins sessions when the master asks for them. staying.c keeps the
 * clients without a session.
 */

/* A user of clients that stay: the one that they have proved to be. */
struct cnd_staying_user {
	struct cnd_staying_user *next; /* in its bucket */
	struct cnd_turn_user turns;
	char name[64];
	uint64_t key; /* of the name, in the tally of sessions */
	uint32_t n; /* records of its clients */
	uint32_t n_waiting;
};

#define CND_STAYING_BUCKETS 256u

/* A client that stays connected without a session. Either its next ATTACH has not come, or it waits for a session. */
struct cnd_staying {
	struct cnd_staying *prev,
		*next; /* in the list of waiting clients, or of free records */
	struct cnd_turn turn; /* while it waits */
	struct cnd_staying_user *user;
	int fd; /* -1: the record is free */
	bool is_waiting;
	bool is_handed_over; /* as in struct cnd_worker_client */
	int64_t since_ms; /* when it began to wait (monotonic clock) */
	struct cnd_channel channel; /* over `fd` */
	struct cnd_peer peer;
	uid_t uid;
	struct cnd_back back;
	struct cnd_subscriber
		*subscriber; /* the channels that it listens on; NULL: none */
	uint32_t index;
};

struct cnd_stayings {
	struct cnd_staying **records; /* by index */
	uint32_t n, cap, max;
	struct cnd_staying *free;
	struct cnd_staying *first,
		*last; /* the waiting clients, in the order of arrival */
	struct cnd_turns turns; /* of the same */
	struct cnd_staying_user *users[CND_STAYING_BUCKETS];
	uint32_t n_waiting;
	int64_t look_ms; /* when to check again whether there are enough sessions (monotonic clock) */
};

struct cnd_shared {
	struct cnd_loop loop;
	struct cnd_stayings stayings;
	struct cnd_listening listening;
	const struct cnd_child *child;
	const struct cnd_pool *pool;
	pid_t pid; /* of this process */
	struct cn_tls_server *tls; /* NULL: the pool has no TLS */
	const uint32_t *slots; /* the slots that the process may use */
	uint32_t n_slots;
	struct cnd_worker **workers; /* by the index in `slots`; NULL: not in use */
	uint32_t n_workers;
	int control_fd; /* to and from the master */
	bool is_retired; /* the master wants no more sessions here */
	uint32_t
		turn; /* grows with each look for a client; new clients go first when it reaches the number of those that wait */
};

/* Ask the master for more sessions, if there are slots for them. */
void cnd_shared_ask_for_more(struct cnd_shared *s);

/* ---- staying.c ---- */

void cnd_staying_init(struct cnd_stayings *s);
/* Whether the client of this worker can stay when it has yielded. */
static inline int
cnd_staying_may(const struct cnd_worker *w)
{
	return !w->shared->is_retired && !w->serving.is_gone && !w->client.is_told &&
	       !cnd_channel_pending(&w->client.channel) &&
	       cnp_server_can_stay(&w->client.server);
}

/* Keep the worker's client without a session, after YIELD was sent. Then the worker has no client. */
void cnd_staying_keep(struct cnd_worker *w);
/* Give the worker the client whose turn it is (shared/turns.h). 1; 0: no client waits. */
int cnd_staying_take(struct cnd_worker *w);
/* The client has lost notifications. Tell it so, and drop it. */
void cnd_staying_lose(struct cnd_shared *s, struct cnd_staying *c);
/* The socket of the client `index` has something to read, or the client has gone. */
void cnd_staying_on_event(struct cnd_shared *s, uint32_t index, uint32_t events);
/* Refuse clients that have waited too long, and ask the master for sessions for the others. Returns when to call this
 * again. */
int64_t cnd_staying_look(struct cnd_shared *s);
/* This process gets no more sessions: tell all its clients to attach with a new connection. */
void cnd_staying_send_away(struct cnd_shared *s);

#endif
