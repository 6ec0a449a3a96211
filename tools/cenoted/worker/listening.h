/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTENING_H
#define CND_LISTENING_H

#include "worker.h"

/*
 * LISTEN without a pin, for the clients of a shared worker. One session of the process, the listening session, listens for
 * all clients that have no session now. No notification is lost or comes twice.
 */

struct cnd_shared;
struct cnd_staying;

/* clang-format off */
#define CND_NOTIFICATIONS_LOST \
	"the session that listened for this connection was lost, so notifications may be missing; connect again"
/* clang-format on */

/* A client that listens on channels. It exists from the client's first YIELD with such channels until the client ends or listens
 * no more. */
struct cnd_hearer;

/* In struct cnd_shared. */
struct cnd_listening {
	struct cnd_worker *worker; /* has the listening session; NULL: none */
	struct cnd_hearer *first; /* list of all clients that listen */
	struct cnc_buf
		channels; /* on which that session listens: names, each with a zero byte */
	bool is_stale; /* `channels` lacks a channel, or has one that nobody needs */
	char mark_channel[40]; /* for the marks; random, "": not chosen yet */
	uint64_t n_marks;
	bool has_lost; /* cnd_listening_next_lost() may have a client */
	int64_t retry_ms; /* when to send again to clients that did not read; CND_NEVER: to nobody */
};

void cnd_listening_init(struct cnd_listening *l);

/* ---- called on the seat of the client's session ---- */

/* The client of this worker holds nothing but its channels: let the listening session take over. 1: it has, and YIELD with
 * CNP_YIELD_LISTEN must follow; 0: it cannot; negative: the session is lost. */
int cnd_listening_move(struct cnd_worker *w);
/* The client of this worker listens no more, or is about to end. */
void cnd_listening_leave(struct cnd_worker *w);
/* The client is back: listen on its new session, in place of the listening one. CENOTE_OK; negative: notifications may be missing,
 * and the diagnostics say so. */
int cnd_listening_rejoin(struct cnd_worker *w);
/* The client is back: queue what it has not been sent yet. */
int cnd_listening_flush(struct cnd_worker *w);
/* This worker's session has become the listening one, and its client has gone: listen until nobody needs that any more, or the session
 * must end. */
void cnd_listening_run(struct cnd_worker *w);

/* ---- for staying.c and shared.c ---- */

/* The client stays without a session, and this is its record. Sends what has come for it. */
void cnd_listening_settle_down(
	struct cnd_shared *s, struct cnd_hearer *c, struct cnd_staying *staying);
/* The client has left that record, for the seat of this worker. */
void cnd_listening_sit(struct cnd_hearer *c, struct cnd_worker *w);
/* Whether a part of a frame was sent to the client, so that no other frame may follow. */
bool cnd_listening_is_halfway(const struct cnd_hearer *c);
/* The client has gone, or listens no more. NULL is allowed. */
void cnd_listening_forget(struct cnd_shared *s, struct cnd_hearer *c);
/* A client without a session that has lost notifications, and must be told and dropped; NULL: none. */
struct cnd_staying *cnd_listening_next_lost(struct cnd_listening *l);
/* Send again to clients that did not read. Returns when to call this again. */
int64_t cnd_listening_look(struct cnd_shared *s);

#endif
