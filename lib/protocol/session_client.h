/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_SESSION_CLIENT_H
#define CNP_SESSION_CLIENT_H

#include "core/block.h"
#include "core/diag.h"
#include "core/sm.h"
#include "protocol/columns.h"
#include "protocol/frame.h"

/*
 * The client's end of one session. It takes requests and received bytes, and gives events and bytes to
 * send. It does no I/O. The handle lives as long as the program's connection;
 * cnp_client_restart() begins a new session on it after a yield or a loss.
 *
 * The bytes of unanswered requests are kept. After a YIELD, the requests that were not carried out are sent on
 * the next session, byte for byte. Request numbers continue across sessions.
 */
enum cnp_client_state {
	CNP_CLIENT_IDLE, /* nothing sent; cnp_client_open() is next */
	CNP_CLIENT_OPENING, /* opening and ATTACH (CANCEL, …) queued; HELLO awaited */
	CNP_CLIENT_AUTH, /* AUTH frames go to and fro */
	CNP_CLIENT_ATTACHING, /* HELLO came; ATTACHED or ERROR awaited */
	CNP_CLIENT_READY, /* attached; any number of requests outstanding */
	CNP_CLIENT_YIELDED, /* YIELD came: see cnp_client_is_staying() */
	CNP_CLIENT_SUSPENDED, /* SUSPENDED came, or CANCEL or STATUS was answered */
	CNP_CLIENT_DEAD /* lost or broken */
};

/* A request that waits for its last reply. */
struct cnp_outstanding {
	uint32_t request;
	uint8_t code;
	uint8_t flags; /* CNP_FRAME_SYNC: READY ends it; without it, DONE, ERROR or SKIPPED does */
	uint8_t answered; /* its own last reply came; only READY is missing */
	uint8_t known; /* its rows may come without COLUMNS */
	/* bytes of its frame, and of the set-up requests before it, in `out` */
	size_t bytes;
};

struct cnp_client {
	struct cenote_allocator mem;
	struct cnc_sm sm;
	size_t max_frame; /* longest payload that we accept */
	size_t peer_max_frame; /* from HELLO */
	uint8_t version;
	/* Everything that is not answered, in the order of sending: opening and first frame, set-up requests
	 * for the new session, kept requests, new requests. All offsets below are from its head. */
	struct cnc_buf out;
	size_t sent; /* bytes of `out` that were sent */
	size_t opening; /* end of the opening; 0 if nothing waits for TLS */
	size_t prefix; /* end of the first frame and AUTH; 0 once they are answered */
	size_t front; /* end of the set-up requests that go before READY; they are not kept */
	size_t loose; /* bytes of set-up requests after the last request */
	/* The client's part of a copy. It is sent before the frames of `out` whose sending has not begun. */
	struct cnc_buf copy;
	size_t copy_after; /* offset in `out` after which `copy` is sent */
	uint32_t copying; /* request whose copy the client has not ended; 0: none */
	struct cnc_block *in; /* block being filled */
	size_t in_at; /* first byte in it not yet parsed */
	uint32_t next_request; /* number of the next request; never 0 */
	struct cnp_outstanding *queue; /* ring */
	size_t queue_head, queue_n, queue_cap;
	uint8_t first; /* code of the first frame */
	uint8_t version_min, version_max, tls; /* from the opening */
	uint8_t stage; /* stage of the oldest request's answer (reply.h); before ATTACHED, of the first frame's */
	uint8_t is_unsynced; /* a request was carried out after the last synchronisation point */
	uint8_t is_skipping; /* a request failed: SKIPPED until the next READY */
	uint8_t is_greeted; /* READY of request 0 came, right after ATTACHED */
	uint8_t may_stay; /* ATTACH had CNP_ATTACH_STAYS */
	uint8_t may_borrow; /* ATTACH had CNP_ATTACH_BORROWS */
	uint8_t may_listen; /* ATTACH had CNP_ATTACH_LISTENS */
	uint8_t is_staying; /* YIELDED, and the connection stays open */
	uint8_t is_kept; /* the connection stayed open: requests do not wait for READY */
	uint8_t is_listening; /* without a session, and the pool goes on sending notifications */
	uint8_t waits_tls; /* HELLO announced the handshake */
	uint8_t may_log_in; /* set by the owner; if 1, set-up requests wait for ATTACHED */
	struct cnc_diag diag; /* of the last CENOTE_ERR_PROTOCOL */
};

void cnp_client_init(
	struct cnp_client *c, const struct cenote_allocator *mem, size_t max_frame);
void cnp_client_finish(struct cnp_client *c);
static inline uint32_t
cnp_client_state(const struct cnp_client *c)
{
	return c->sm.state;
}

/*
 * Begin a session: queues the opening and `first` (ATTACH, CANCEL, RESUME or STATUS; it gets request
 * number 0, as do its replies) before the unanswered requests that were kept. If `resend` is 1, these are sent
 * again once the session is READY; else they are dropped. Until READY,
 * cnp_client_output() gives the opening, `first`, AUTH frames and set-up requests only: a numbered request
 * never reaches a session whose attach may still fail, because then nobody could tell whether the request ran.
 * With opening.tls the first frame is held back until HELLO says that there is no TLS, or
 * cnp_client_tls_done().
 *
 * An EXECUTE that is sent again gets `known` 0, because the new session may describe its statement differently.
 *
 * Legal in IDLE. CENOTE_OK, CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT (`first` is too long),
 * CENOTE_ERR_STATE (not IDLE, or `resend` when the oldest request was partly answered: it must
 * not be carried out twice), CENOTE_ERR_ARG (`first` does not fit the opening); on failure nothing
 * changed.
 */
int cnp_client_open(struct cnp_client *c, const struct cnp_opening *o,
	const struct cnp_msg *first, int resend);
/*
 * In YIELDED: 1 if the connection stays. Then cnp_client_open_kept() may be next. If it is 0, or if the owner does not
 * want that, close the socket and call cnp_client_restart(). It becomes 0 when the pool sends YIELD
 * or ERROR to a client that stays, so take the events. It is also 0 if a frame was sent only in part, because
 * the pool would wait for the rest. A client that listens sends that rest first: cnp_client_output() gives it.
 */
static inline int
cnp_client_is_staying(const struct cnp_client *c)
{
	return c->is_staying;
}
/* Whether the pool sends notifications although the client has no session: from YIELD to ATTACHED. If the connection ends in that
 * time, notifications may be missing, and the owner must tell the program. */
static inline int
cnp_client_is_listening(const struct cnp_client *c)
{
	return c->is_listening;
}
/*
 * Ask for a session again on the connection that stays: queues `attach` (ATTACH, with CNP_ATTACH_AGAIN and
 * CNP_ATTACH_STAYS) before the unanswered requests. Set-up requests that the owner queues before it sends go
 * in between. cnp_client_output() gives all of them at once. The pool answers with ATTACHED and READY, and then with
 * the replies. Or it sends YIELD: the state is YIELDED again, nothing was carried out, and the connection ends. Or it
 * sends ERROR, and the session is DEAD, as after cnp_client_open().
 *
 * Legal if cnp_client_is_staying() and no part of a frame is left. CENOTE_OK, CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT, CENOTE_ERR_STATE,
 * CENOTE_ERR_ARG (not an ATTACH with these flags); on failure nothing changed.
 */
int cnp_client_open_kept(struct cnp_client *c, const struct cnp_msg *attach);
/* The TLS handshake that HELLO announced is done: send the frames that were held back. CENOTE_OK;
 * CENOTE_ERR_STATE: none was announced; CENOTE_ERR_PROTOCOL: bytes were received in the clear after HELLO
 * (the session is DEAD). All later bytes are received through TLS. */
int cnp_client_tls_done(struct cnp_client *c);
/* Forget the session, but keep the numbering and the bytes of unanswered requests. The state becomes IDLE. Legal in
 * any state. Received bytes that were not parsed are dropped. */
void cnp_client_restart(struct cnp_client *c);
/* Whether a byte of an unanswered request was sent, so that the pool may have carried out the request. */
int cnp_client_has_sent_request(const struct cnp_client *c);
/* Set-up requests that were queued just before the request with this number are still kept, so that
 * another session can get them. */
int cnp_client_keeps(const struct cnp_client *c, uint32_t request);
/* Mark the session as lost (the transport failed). Take the events first: bytes received before the failure
 * are valid. */
void cnp_client_lost(struct cnp_client *c);

/*
 * Queue a request. *ret_request (may be NULL) is its number.
 *
 * With `setup` the request gets number 0. It has no reply, unless it fails: then an ERROR of request 0 comes.
 * CLOSE, CLOSE_PORTAL, AUTOCOMMIT, SET_OPTION, LONG_DATA and DETACH may be set-up, and so may PREPARE on a
 * re-attach. A set-up request that is queued before READY (on a connection that stays: before a numbered request
 * is sent) goes before all waiting numbered requests, and is
 * forgotten when the session ends. A set-up request that is queued later goes after them, as LONG_DATA always
 * does, and is sent again with the request that follows it. An AUTH frame is legal in state AUTH and goes
 * before both.
 *
 * Legal in every state but SUSPENDED and DEAD: in IDLE and YIELDED the request is kept for
 * cnp_client_open() with `resend`. CENOTE_OK, CENOTE_ERR_STATE, CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT,
 * CENOTE_ERR_ARG (not a request, or not one that can be set-up); on failure nothing changed.
 */
int cnp_client_request(struct cnp_client *c, const struct cnp_msg *m, uint8_t flags,
	int setup, uint32_t *ret_request);

/*
 * A piece of the copy that COPY_IN asked for (COPY_DATA), or its end (COPY_DONE, COPY_FAIL). Legal from the
 * COPY_IN event until the end of the copy. If the request is answered earlier, the end is queued
 * automatically. The caller limits the queued bytes with cnp_client_copy_queued(). CENOTE_OK, CENOTE_ERR_STATE
 * (no copy is open), CENOTE_ERR_LIMIT (longer than the pool accepts), CENOTE_ERR_NOMEM, CENOTE_ERR_ARG; on
 * failure nothing changed.
 */
int cnp_client_copy(struct cnp_client *c, const struct cnp_msg *m);
/* Bytes of copies that are queued and not sent. */
size_t cnp_client_copy_queued(const struct cnp_client *c);

/* Bytes to send next; 0 if none. Borrowed until the next call. */
size_t cnp_client_output(const struct cnp_client *c, const uint8_t **ret_bytes);
void cnp_client_sent(struct cnp_client *c, size_t n);

/* Room to receive into: at least 1 byte, and if the length of the current frame is known, as much as it still
 * needs (but memory grows with the received bytes, not with the announced length). Take the events first.
 * CENOTE_OK or CENOTE_ERR_NOMEM. */
int cnp_client_room(struct cnp_client *c, uint8_t **ret_room, size_t *ret_n);
void cnp_client_received(struct cnp_client *c, size_t n);

struct cnp_event {
	struct cnp_msg msg;
	/* 0: no request (NOTICE between requests, PARAMETER, YIELD, …) */
	uint32_t request;
	uint8_t request_code; /* code of the request that it answers; 0 if none */
	uint8_t is_answered; /* the request's last reply: only READY may follow */
	uint8_t is_last; /* this request is finished (its READY, if it asked for one, has come) */
	const uint8_t *payload; /* borrowed until the next call on the session */
	size_t payload_len;
	/* the block that holds the payload; cnc_rowset_add() may keep it */
	struct cnc_block *block;
};

/*
 * The next event. CENOTE_OK; CENOTE_AGAIN: more bytes are needed (or none are expected in this
 * state); CENOTE_ERR_NOMEM: call again, nothing changed (only at COPY_IN); CENOTE_ERR_PROTOCOL: the reply does
 * not fit (unknown, out of order, of another request, too long, malformed; see c->diag): the session is DEAD.
 * *ret_event is undefined unless CENOTE_OK.
 *
 * An ERROR before ATTACHED (of request 0) makes the session DEAD: nothing follows. READY of request
 * 0 follows ATTACHED. COLUMNS, ROWS and PARAMS: decode `payload`. An ERROR of a SYNC goes before its READY.
 */
int cnp_client_next(struct cnp_client *c, struct cnp_event *ret_event);

/* The oldest request that is not finished; NULL: there is none. */
const struct cnp_outstanding *cnp_client_oldest(const struct cnp_client *c);

#endif
