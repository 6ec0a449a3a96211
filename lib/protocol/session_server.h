/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_SESSION_SERVER_H
#define CNP_SESSION_SERVER_H

#include "core/batch.h"
#include "core/diag.h"
#include "core/sm.h"
#include "protocol/columns.h"
#include "protocol/frame.h"

/*
 * The pool's end of one session: received bytes in, requests out, replies in, bytes to send out.
 * Sans I/O. One handle serves a worker for its life: cnp_server_restart() between clients keeps the
 * buffers.
 *
 * It keeps the order of things: request numbers grow; after an ERROR the requests up to the next
 * synchronisation point are answered with SKIPPED and never shown; READY follows each
 * synchronisation point.
 */
enum cnp_server_state {
	CNP_SERVER_OPENING, /* the opening is awaited */
	CNP_SERVER_FIRST, /* opening seen; ATTACH, CANCEL, RESUME or STATUS awaited */
	CNP_SERVER_AUTH, /* AUTH frames go to and fro */
	CNP_SERVER_ATTACHED, /* serving; no request is running */
	CNP_SERVER_RUNNING, /* a request was handed out, its last reply is awaited */
	CNP_SERVER_CLOSING, /* nothing more is read; what is queued may be sent */
	CNP_SERVER_BROKEN /* the client broke the protocol */
};

struct cnp_server {
	struct cenote_allocator mem;
	struct cnc_sm sm;
	size_t max_frame; /* accepted once attached */
	size_t peer_max_frame; /* as ATTACH said */
	uint8_t version;
	struct cnc_buf in;
	struct cnc_buf out;
	size_t received; /* all bytes since the restart, until attached */
	struct cnp_opening opening;
	uint32_t last_request;
	uint32_t running; /* request number; 0 for a set-up request */
	uint8_t running_code;
	uint8_t running_flags;
	uint8_t is_skipping;
	struct cnc_diag diag; /* of the last CENOTE_ERR_PROTOCOL */
};

struct cnp_request {
	struct cnp_msg
		msg; /* text borrowed until the next cnp_server_next() or _received() */
	uint32_t number; /* 0: set-up, no reply on success */
	uint8_t flags;
};

/* max_out bounds the bytes queued for sending; it should hold two frames of the usual size and
 * grows for one that is larger. */
void cnp_server_init(struct cnp_server *s, const struct cenote_allocator *mem,
	size_t max_frame, size_t max_out);
void cnp_server_finish(struct cnp_server *s);
/* For the next client; memory above 64 kB is given back. */
void cnp_server_restart(struct cnp_server *s);
static inline uint32_t
cnp_server_state(const struct cnp_server *s)
{
	return s->sm.state;
}

int cnp_server_room(struct cnp_server *s, uint8_t **ret_room, size_t *ret_n);
void cnp_server_received(struct cnp_server *s, size_t n);

/*
 * In OPENING: CENOTE_OK once s->opening is filled (the state is FIRST then), `ret_request` is not
 * touched. Later: the next request to carry out (state RUNNING, or FIRST/AUTH while attaching).
 * CENOTE_AGAIN: more bytes are needed, or a request is running. CENOTE_ERR_PROTOCOL: s->diag says
 * what; an ERROR frame was queued where the peer can read it; state BROKEN. CENOTE_ERR_NOMEM.
 * SYNC and what is skipped is answered here: for SYNC the caller gets the request too, and answers
 * with cnp_server_finish_request(), since READY needs the session's state.
 */
int cnp_server_next(struct cnp_server *s, struct cnp_request *ret_request);

/* Any reply with schema fields, for the running request (or of none: NOTICE, PARAMETER,
 * NOTIFICATION with `of_none`). CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cnp_server_reply(struct cnp_server *s, const struct cnp_msg *m, int of_none);
/* HELLO, from the opening: chooses the version (CENOTE_ERR_PROTOCOL if none is in common). */
int cnp_server_hello(
	struct cnp_server *s, uint8_t tls, uint8_t auth, const char *mechanisms);
/* ATTACHED; the state becomes ATTACHED. READY is not sent. */
int cnp_server_attached(struct cnp_server *s, const struct cnp_attached *m);
int cnp_server_columns(
	struct cnp_server *s, const struct cnp_column *columns, uint32_t n);
int cnp_server_params(struct cnp_server *s, const struct cnp_param *params, uint32_t n);
/* An ERROR or NOTICE from a diagnostics record. An ERROR makes the rest of the pipeline skipped. */
int cnp_server_error(struct cnp_server *s, const struct cnc_diag *d);
int cnp_server_notice(struct cnp_server *s, const struct cnc_diag *d);

/* Rows: begin a ROWS frame, write rows with core/batch.h, end it. An empty batch leaves nothing. */
int cnp_server_rows_begin(struct cnp_server *s, struct cnc_batch *w, uint32_t n_columns);
int cnp_server_rows_end(struct cnp_server *s, struct cnc_batch *w);

/*
 * The running request has had its last reply (DONE, ERROR, PARAMS/COLUMNS of a description …): back to
 * ATTACHED; READY goes out if it asked for a synchronisation point. `carry` NULL: unchanged.
 */
int cnp_server_finish_request(
	struct cnp_server *s, uint8_t tx, uint32_t pins, const struct cnp_str *carry);
/* Queue YIELD and go to CLOSING. Legal in ATTACHED. */
int cnp_server_yield(struct cnp_server *s, uint8_t reason, const struct cnp_str *carry);

size_t cnp_server_output(const struct cnp_server *s, const uint8_t **ret_bytes);
void cnp_server_sent(struct cnp_server *s, size_t n);

#endif
