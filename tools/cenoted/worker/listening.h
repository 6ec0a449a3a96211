/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTENING_H
#define CND_LISTENING_H

#include "worker.h"

/*
 * LISTEN without a pin, for the clients of a shared worker. One session of the process, the listening session, listens for
 * all clients that have no session now. No notification is lost, and none comes twice.
 */

struct cnd_shared;
struct cnd_staying;

/* A client that listens on channels. The record exists from the client's first YIELD with such channels until the client ends or
 * has ended all its LISTENs. */
struct cnd_subscriber;

/* In struct cnd_shared. */
struct cnd_listening {
	struct cnd_worker *worker; /* has the listening session; NULL: there is none */
	struct cnd_subscriber *first; /* list of all subscribers of the process */
	/* on which the listening session listens: names, each with a zero byte */
	struct cnc_buf channels;
	bool is_stale; /* `channels` lacks a channel, or has one that nobody needs */
	char mark_channel[40]; /* for the marks: a random name; "": not chosen yet */
	uint64_t n_marks;
	bool has_lost; /* cnd_listening_next_lost() may find a client */
	/* when to send again to clients that did not read; CND_NEVER: there are none */
	int64_t retry_ms;
};

void cnd_listening_init(struct cnd_listening *l);

/* ---- called on the seat of the client's session ---- */

/* The client of this worker holds nothing but its channels. Let the listening session take over. 1: it has, and YIELD with
 * CNP_YIELD_LISTEN must follow; 0: it cannot; negative: the session is lost. */
int cnd_listening_move(struct cnd_worker *w);
/* The client of this worker has ended all its LISTENs, or is about to end. */
void cnd_listening_leave(struct cnd_worker *w);
/* The client has a session again. Let that session listen in place of the listening session. CENOTE_OK; negative:
 * notifications may be missing, and the diagnostics say so. */
int cnd_listening_rejoin(struct cnd_worker *w);
/* The client has a session again. Queue the notifications that it has not been sent yet. */
int cnd_listening_flush(struct cnd_worker *w);
/* This worker's session has become the listening session, and its client has gone. Listen until no client needs that, or until
 * the session must end. */
void cnd_listening_run(struct cnd_worker *w);

/* ---- for staying.c, shared.c and attach.c ---- */

/* The client stays without a session, and this is its record. Send it what has come. */
void cnd_listening_settle_down(
	struct cnd_shared *s, struct cnd_subscriber *c, struct cnd_staying *staying);
/* The client has left that record, for the seat of this worker. */
void cnd_listening_sit(struct cnd_subscriber *c, struct cnd_worker *w);
/* Whether only a part of a frame was sent to the client, so that no other frame may follow. */
bool cnd_listening_is_halfway(const struct cnd_subscriber *c);
/* The client has gone, or has ended all its LISTENs. NULL is allowed. */
void cnd_listening_forget(struct cnd_shared *s, struct cnd_subscriber *c);
/* Find a client without a session that has lost notifications. The caller tells it so, and drops it. NULL: there is none. */
struct cnd_staying *cnd_listening_next_lost(struct cnd_listening *l);
/* Queue the error for a client that may have lost notifications. */
void cnd_listening_put_loss(struct cnd_shared *s, struct cnp_server *server);
/* Send again to clients that did not read. Returns when to call this again. */
int64_t cnd_listening_look(struct cnd_shared *s);

#endif
