/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_SESSION_SERVER_H
#define CNP_SESSION_SERVER_H

#include "core/batch.h"
#include "core/diag.h"
#include "core/sm.h"
#include "protocol/columns.h"
#include "protocol/frame.h"

/*
 * The pool's end of one session. It takes received bytes and replies, and gives requests and bytes to
 * send. It does no I/O. A worker uses one handle for its whole life: cnp_server_restart() between clients
 * keeps the buffers.
 *
 * It enforces the order. Request numbers grow. After an ERROR it answers the requests up to the next
 * synchronisation point with SKIPPED, and the caller never sees them. READY follows each
 * synchronisation point.
 */
enum cnp_server_state {
	CNP_SERVER_OPENING, /* the opening is awaited */
	CNP_SERVER_FIRST, /* opening seen; ATTACH, CANCEL, RESUME or STATUS awaited */
	CNP_SERVER_AUTH, /* AUTH frames go to and fro */
	CNP_SERVER_ATTACHED, /* serving; no request is running */
	CNP_SERVER_RUNNING, /* a request was handed out, its last reply is awaited */
	CNP_SERVER_STAYING, /* the client has no session: frames are dropped up to its next ATTACH */
	CNP_SERVER_CLOSING, /* nothing more is read; queued bytes may be sent */
	CNP_SERVER_BROKEN /* the client broke the protocol */
};

struct cnp_server {
	struct cenote_allocator mem;
	struct cnc_sm sm;
	size_t max_frame; /* longest payload accepted once attached */
	size_t peer_max_frame; /* from ATTACH */
	uint8_t version;
	struct cnc_buf in;
	struct cnc_buf out;
	struct cnc_buf held; /* input up to COPY_IN, with the running request's text */
	struct cnc_buf later; /* requests that came before the end of a copy */
	size_t max_out; /* while this many bytes are queued, no ROWS frame is begun */
	size_t taken; /* bytes at the head of `in` that were handed out; dropped by the next call */
	size_t frame; /* offset in `out` of the ROWS frame being written */
	struct cnp_opening opening;
	uint8_t first; /* code of the first frame; 0: not seen */
	uint8_t said_hello;
	uint8_t may_stay; /* ATTACH had CNP_ATTACH_STAYS */
	uint8_t may_borrow; /* ATTACH had CNP_ATTACH_BORROWS */
	uint8_t may_listen; /* ATTACH had CNP_ATTACH_LISTENS */
	uint8_t is_kept; /* cnp_server_restart_kept() was called */
	size_t drop_left; /* STAYING: bytes of the current frame that are still to be dropped */
	uint8_t is_leaving; /* DETACH came or SUSPENDED was sent: CLOSING follows the request */
	uint32_t last_request;
	uint32_t
		request_before; /* the value of last_request before the running request */
	size_t out_before; /* bytes of `out` that were queued before the running request */
	/* the answer cannot be dropped any more: a part of it was sent, or DONE was queued, or a message that belongs to no request */
	uint8_t is_told;
	uint32_t running; /* request number; 0 for a set-up request */
	uint8_t running_code;
	uint8_t running_flags;
	uint8_t is_answered; /* SKIPPED was sent for the running request, READY is missing */
	uint8_t is_copying; /* COPY_IN was sent; the copy has no end and no answer yet */
	/* copies of the running request that were answered before the client ended them */
	uint32_t copies_owed;
	uint8_t is_ready; /* READY of request 0 was sent */
	uint8_t is_unsynced; /* a request was carried out after the last synchronisation point */
	uint8_t is_skipping;
	struct cnc_buf
		told; /* the last `carry`, which is not sent again; empty: none was sent */
	struct cnc_diag diag; /* of the last CENOTE_ERR_PROTOCOL */
};

struct cnp_request {
	/* text borrowed until the next cnp_server_next(), _room() or _restart() */
	struct cnp_msg msg;
	uint32_t number; /* 0: set-up, no reply on success */
	uint8_t flags;
};

/*
 * max_frame: longest payload accepted once attached. max_out bounds the rows queued for sending:
 * cnp_server_rows_begin() gives CENOTE_ERR_LIMIT while this many bytes are queued; a frame that was begun may
 * become as long as the peer accepts. Other replies are always queued, because a request has few of them.
 */
void cnp_server_init(struct cnp_server *s, const struct cenote_allocator *mem,
	size_t max_frame, size_t max_out);
void cnp_server_finish(struct cnp_server *s);
/* Prepare for the next client. Memory above 64 kB is freed. */
void cnp_server_restart(struct cnp_server *s);

/* What must be remembered of a client that stays (CNP_YIELD_STAY, CNP_YIELD_LISTEN), while the handle serves other clients. */
struct cnp_kept {
	uint32_t peer_max_frame;
	uint32_t last_request;
	uint8_t version;
	size_t drop_left; /* bytes still to come of a frame that is dropped */
};

/* Fill it. Legal once cnp_server_yield() has queued such a YIELD, and while cnp_server_still_stays(). */
void cnp_server_keep(const struct cnp_server *s, struct cnp_kept *ret_kept);
/*
 * Prepare for a client that stays: the state is STAYING. cnp_server_next() drops all frames up to an ATTACH with
 * CNP_ATTACH_AGAIN and CNP_ATTACH_STAYS, and needs no memory for them. It hands out that ATTACH, and the state
 * becomes FIRST. There is no opening and no HELLO, so cnp_server_attached() is legal at once. Requests after that
 * ATTACH wait. The ATTACH and these requests take CNP_FRAME_MAX_AUTH bytes at most; the rest stays in the socket.
 *
 * In STAYING and in FIRST, cnp_server_yield() is also legal, with any reason but those by which a client stays or borrows. It
 * tells the client to attach with a new connection. A client that listens would lose notifications then: send it an ERROR.
 * Its NOTIFICATIONs are also legal in these states.
 */
void cnp_server_restart_kept(struct cnp_server *s, const struct cnp_kept *kept);
static inline uint32_t
cnp_server_state(const struct cnp_server *s)
{
	return s->sm.state;
}

/*
 * Room to receive into, at least 1 byte; memory grows with the received bytes, not with a frame's announced
 * length. Take the requests first. CENOTE_OK; CENOTE_ERR_LIMIT: receive nothing now (before ATTACHED:
 * CNP_FRAME_MAX_AUTH bytes came, and the rest stays in the socket; later: a request is running, and as many
 * bytes as allowed are waiting; always in CLOSING and BROKEN); CENOTE_ERR_NOMEM.
 */
int cnp_server_room(struct cnp_server *s, uint8_t **ret_room, size_t *ret_n);
void cnp_server_received(struct cnp_server *s, size_t n);

/* All bytes received since the restart, to hand over to another process with the connection. Legal until
 * ATTACHED, but not after cnp_server_restart_kept(). */
size_t cnp_server_raw(const struct cnp_server *s, const uint8_t **ret_bytes);

/*
 * In OPENING: CENOTE_OK once s->opening is filled. The state is then FIRST, and *ret_request is
 * unchanged. Later: gives the next request to carry out (state RUNNING, or FIRST/AUTH while attaching).
 * CENOTE_AGAIN: more bytes are needed, or a request is running. CENOTE_ERR_PROTOCOL: s->diag has the
 * reason; an ERROR frame was queued if the peer can read it; the state is BROKEN. CENOTE_ERR_NOMEM.
 * Skipped requests are answered here. READY needs the session's state, so the caller gets SYNC as a request,
 * too. For a skipped request with CNP_FRAME_SYNC it gets a SYNC with the same number; for that, call
 * cnp_server_finish_request() only. CENOTE_AGAIN may also mean that the answers to skipped requests are to be
 * sent first (cnp_server_output()).
 *
 * A set-up request (number 0) is handed out whether or not requests are being skipped; its replies are
 * dropped, but an ERROR is sent. End it with cnp_server_finish_request(), as any request.
 * *ret_request is undefined unless CENOTE_OK.
 */
int cnp_server_next(struct cnp_server *s, struct cnp_request *ret_request);
/*
 * Look at a request that came after the running one. cnp_server_next() will still hand it out. *at is the
 * offset of that request (0 in the first call), and becomes the offset of the next request. *number is the number
 * of the previous request, and becomes the number of this request. CENOTE_OK; CENOTE_AGAIN: there is no request that
 * can be looked at yet (none came, or it is set-up, part of a copy, or a frame that is incomplete or wrong). The
 * request's text is borrowed until the next cnp_server_room().
 */
int cnp_server_peek(const struct cnp_server *s, size_t *at, uint32_t *number,
	struct cnp_request *ret_request);

/*
 * Queue any reply with schema fields, for the running request. With `of_none` the reply belongs to
 * no request: NOTICE in any state but CLOSING and BROKEN, PARAMETER and NOTIFICATION at any time
 * after cnp_server_ready(), and NOTIFICATION to a client that stays. CENOTE_OK, CENOTE_ERR_LIMIT (longer than the peer accepts),
 * CENOTE_ERR_NOMEM, CENOTE_ERR_STATE (no request is running; not yet ready; a message that needs a
 * request). CANCELLED, and the answer to STATUS, are replies to the first frame: state FIRST, then
 * cnp_server_finish_request().
 *
 * Use it for COPY_OUT, COPY_DATA and COPY_DONE, too. The caller limits the queued bytes: if there are many,
 * send them first (cnp_server_output()). After COPY_IN, cnp_server_next_copy() gives the client's data. DONE
 * or cnp_server_error() ends the copy, even if the client has not ended it.
 */
int cnp_server_reply(struct cnp_server *s, const struct cnp_msg *m, int of_none);
/* Queue frames of NOTIFICATION that were encoded for a client that stays. The first may lack a part that was sent before.
 * Legal in STAYING and FIRST. CENOTE_OK, CENOTE_ERR_STATE, CENOTE_ERR_NOMEM. */
int cnp_server_put_notifications(struct cnp_server *s, const uint8_t *frames, size_t n);
/*
 * The client's next piece of the copy that COPY_IN began. CENOTE_OK: *ret_data is borrowed until the next
 * call of this, _room(), _finish_request() or _restart(); CENOTE_DONE: COPY_DONE came; CENOTE_AGAIN: more bytes
 * are needed (cnp_server_room(), cnp_server_received()); CENOTE_ERR_SERVER: COPY_FAIL came, and s->diag has
 * the client's reason (57014); CENOTE_ERR_PROTOCOL: as from cnp_server_next(); CENOTE_ERR_STATE: no copy is
 * open; CENOTE_ERR_NOMEM.
 *
 * During the copy, the running request's text stays valid. Requests that came before the end of the
 * copy wait for that end. They may have as many bytes as one frame; more is a protocol violation.
 * If a copy was answered early, its remaining data is discarded here or by cnp_server_next().
 */
int cnp_server_next_copy(struct cnp_server *s, struct cnp_str *ret_data);

/* Queue HELLO, with a version that the opening offers. Legal in FIRST, once. CENOTE_ERR_PROTOCOL, with an
 * ERROR queued: no version in common; TLS is required and `tls` is 0; bytes came in the clear after
 * an opening that is answered with `tls`. `mechanisms`: NULL for none. */
int cnp_server_hello(
	struct cnp_server *s, uint8_t tls, uint8_t auth, const char *mechanisms);
/* Queue ATTACHED. The state becomes ATTACHED. READY must be next: call cnp_server_ready(). Legal in FIRST and AUTH,
 * once HELLO was sent and ATTACH or RESUME was taken. */
int cnp_server_attached(struct cnp_server *s, const struct cnp_attached *m);
/* Queue READY of request 0, after ATTACHED. `carry` NULL: "". */
int cnp_server_ready(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry);
int cnp_server_columns(
	struct cnp_server *s, const struct cnp_column *columns, uint32_t n);
int cnp_server_params(struct cnp_server *s, const struct cnp_param *params, uint32_t n);
/*
 * Queue an ERROR or NOTICE from a diagnostics record. An ERROR of a running request makes the rest of the
 * pipeline skipped (cnp_server_finish_request() is still due); an ERROR of a SYNC goes before its READY, and
 * is not sent if SKIPPED was sent. An ERROR while no request is running, or before ATTACHED, ends the session:
 * the state becomes CLOSING.
 */
int cnp_server_error(struct cnp_server *s, const struct cnc_diag *d);
int cnp_server_notice(struct cnp_server *s, const struct cnc_diag *d);

/* Rows: begin a ROWS frame, write rows with core/batch.h, end it. An empty batch queues nothing. Between begin
 * and end, queue and send nothing else. Begin: CENOTE_OK, CENOTE_ERR_LIMIT (send first), CENOTE_ERR_STATE,
 * CENOTE_ERR_NOMEM. The batch gives CENOTE_ERR_LIMIT past what the peer accepts. */
int cnp_server_rows_begin(struct cnp_server *s, struct cnc_batch *w, uint32_t n_columns);
int cnp_server_rows_end(struct cnp_server *s, struct cnc_batch *w);

/*
 * The running request has had its last reply (DONE, ERROR; nothing for SYNC). The state becomes ATTACHED, and READY
 * is queued if the request asked for a synchronisation point. `carry` NULL: "", which means unchanged. After
 * SUSPENDED, DETACH, CANCEL and STATUS: CLOSING, and no READY.
 */
int cnp_server_finish_request(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry);
/*
 * Queue YIELD and go to CLOSING. Legal in ATTACHED, but not while requests are being skipped: on another
 * session they would be carried out. Also not after requests whose synchronisation point has not come: they
 * may be a part of a transaction. For a client that stays, see cnp_server_restart_kept().
 *
 * CNP_YIELD_STAY is legal if cnp_server_can_stay(), and CNP_YIELD_LISTEN if cnp_server_can_listen(). The caller sends what is
 * queued, and keeps the connection: cnp_server_keep().
 *
 * CNP_YIELD_LEND is legal if cnp_server_can_lend(). The caller sends the two descriptors with these bytes, keeps the
 * connection, and reads and writes nothing more there.
 */
int cnp_server_yield(struct cnp_server *s, uint8_t reason, const struct cnp_str *carry);

/* As cnp_server_yield(), for a session that its server ended. `said`: the server's last message;
 * NULL: none. */
int cnp_server_yield_lost(struct cnp_server *s, const struct cnc_diag *said);

/*
 * As cnp_server_yield(), in place of the answer to the running request, which had no effect: the client sends it again on
 * its next session. What is queued of the answer is dropped. Legal if cnp_server_can_yield_running(). No reason for which the
 * connection stays open is allowed.
 */
int cnp_server_yield_running(
	struct cnp_server *s, uint8_t reason, const struct cnp_str *carry);
/* A request with a number runs, nothing of its answer was sent, and the client could yield before it. */
int cnp_server_can_yield_running(const struct cnp_server *s);

/* Is cnp_server_yield() legal now? */
int cnp_server_can_yield(const struct cnp_server *s);
/* Is cnp_server_yield() legal with CNP_YIELD_STAY? The client must understand staying, and no byte of a later frame
 * may have been received. */
int cnp_server_can_stay(const struct cnp_server *s);
/* Is cnp_server_yield() legal with CNP_YIELD_LISTEN? The client must understand that reason, too. */
int cnp_server_can_listen(const struct cnp_server *s);
/* Is cnp_server_yield() legal with CNP_YIELD_LEND? The client must understand loans. */
int cnp_server_can_lend(const struct cnp_server *s);
/* Whether the client still stays, and all bytes that it has sent were dropped: cnp_server_keep() may come. */
int cnp_server_still_stays(const struct cnp_server *s);

size_t cnp_server_output(const struct cnp_server *s, const uint8_t **ret_bytes);
void cnp_server_sent(struct cnp_server *s, size_t n);

#endif
