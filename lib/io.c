/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * Bytes to and from the peer, and what it means when they end.
 *
 * A worker that takes its session back says YIELD and closes, perhaps while a request is
 * on its way. Then sending fails, but the YIELD waits to be read: so a failed send only
 * notes that nothing more can be written, and the end is judged when everything that came
 * was read.
 *
 * Without a YIELD it is a loss. If the session held nothing and nothing of a request was
 * sent, another one is as good, and the program notices nothing. Otherwise it is told,
 * and what it is told depends on what the requests may have done.
 */

int
cn_flush(cenote_conn *conn)
{
	const uint8_t *bytes;
	size_t n, put;
	int r;

	if (cn_state(conn) != CN_ATTACHING && cn_state(conn) != CN_READY)
		return CENOTE_OK;
	while (!conn->is_write_broken &&
		(n = cnp_client_output(&conn->session, &bytes)) > 0) {
		r = conn->transport.ops->write(&conn->transport, bytes, n, &put);
		if (r == CENOTE_AGAIN)
			return r;
		if (r < 0) {
			/* The peer is gone; what it said before may explain why. */
			conn->is_write_broken = 1;
			return CENOTE_OK;
		}
		cnp_client_sent(&conn->session, put);
	}
	return cn_transport_flush(&conn->transport) == CENOTE_AGAIN ? CENOTE_AGAIN
								    : CENOTE_OK;
}

static int
is_reading(const cenote_conn *conn)
{
	return cn_state(conn) == CN_ATTACHING || cn_state(conn) == CN_READY;
}

/* The next event, or the one that could not be handled for lack of memory. */
static int
next_event(cenote_conn *conn)
{
	int r;

	if (conn->has_event)
		return CENOTE_OK;
	r = cnp_client_next(&conn->session, &conn->event);
	if (r == CENOTE_OK)
		conn->has_event = 1;
	return r;
}

static int
protocol_error(cenote_conn *conn)
{
	const struct cnc_diag *why = &conn->session.diag;

	cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(PROTOCOL), "%s",
		why->message[0] ? why->message
				: "the pool sent something that is not the protocol");
	if (cn_state(conn) == CN_ATTACHING)
		return cn_attach_fail(conn, CENOTE_ERR_PROTOCOL);
	/* the other end is to know */
	cn_transport_close(&conn->transport);
	return cn_session_failed(conn, CENOTE_ERR_PROTOCOL);
}

/* Handle what was received. `all`: also rows that the program has no room for. */
static int
pump(cenote_conn *conn, int all)
{
	int handled = 0;
	int r;

	while (is_reading(conn) && (all || !cn_waits_for_program(conn))) {
		r = next_event(conn);
		if (r == CENOTE_AGAIN)
			break;
		if (r == CENOTE_OK)
			r = cn_state(conn) == CN_ATTACHING
				    ? cn_attach_event(conn, &conn->event)
				    : cn_event(conn, &conn->event);
		if (r == CENOTE_ERR_NOMEM)
			return cn_nomem(conn);
		if (r == CENOTE_AGAIN) /* it waits for the handshake that it asked for */
			return CENOTE_OK;
		conn->has_event = 0;
		if (r == CENOTE_ERR_PROTOCOL && is_reading(conn))
			return protocol_error(conn);
		if (r < 0)
			return r;
		handled = 1;
	}
	return handled ? CENOTE_OK : CENOTE_AGAIN;
}

int
cn_pump(cenote_conn *conn)
{
	return pump(conn, 0);
}

static int
transport_ended(cenote_conn *conn, int r)
{
	int error = r < 0 ? conn->transport.error : 0;

	/* what TLS says of it is no matter of trying elsewhere */
	if (cn_state(conn) == CN_ATTACHING && r < 0 && r != CENOTE_ERR_CONN)
		return cn_attach_insecure(conn, r);
	if (cn_state(conn) == CN_ATTACHING)
		return cn_attach_lost(conn, error);
	return cn_session_lost(conn, error);
}

static int
receive_once(cenote_conn *conn)
{
	uint8_t *room;
	size_t n, got = 0;
	int r;

	r = cnp_client_room(&conn->session, &room, &n);
	if (r < 0)
		return cn_nomem(conn);
	r = conn->transport.ops->read(&conn->transport, room, n, &got);
	if (r == CENOTE_AGAIN)
		return r;
	if (r < 0 || got == 0)
		return transport_ended(conn, r);
	cnp_client_received(&conn->session, got);
	return CENOTE_OK;
}

/* Nothing stays behind in TLS: who waits looks at the descriptor only. */
static int
receive(cenote_conn *conn)
{
	int r = receive_once(conn);

	while (r == CENOTE_OK && cn_transport_pending(&conn->transport)) {
		r = receive_once(conn);
		if (r == CENOTE_AGAIN)
			return CENOTE_OK;
	}
	return r;
}

/* Attached or attaching: handle, write, read. */
static int
exchange(cenote_conn *conn, int how)
{
	const uint8_t *bytes;
	int is_stuck, has_output, r;

	if (conn->transport.is_shaking)
		return cn_attach_handshake(conn);
	r = cn_pump(conn);
	if (r != CENOTE_AGAIN)
		return r;
	has_output = cnp_client_output(&conn->session, &bytes) > 0 ||
		     cn_transport_unsent(&conn->transport);
	is_stuck = cn_flush(conn) == CENOTE_AGAIN;
	/* That may be all that is waited for: not everything that is written has an answer. */
	if (has_output && !is_stuck && !conn->is_write_broken && how != CN_READ_NOW)
		return CENOTE_OK;
	/* A peer that does not read until we do would wait for ever: then read,
	 * whatever comes. */
	if (!is_stuck && cn_waits_for_program(conn))
		return CENOTE_AGAIN;
	if (is_stuck && cn_waits_for_program(conn)) {
		r = pump(conn, 1);
		if (r != CENOTE_AGAIN)
			return r;
	}
	if (how == CN_READ_NOT || (how == CN_READ_STUCK && !is_stuck))
		return CENOTE_AGAIN;
	r = receive(conn);
	if (r != CENOTE_OK || !is_reading(conn))
		return r;
	r = pump(conn, is_stuck);
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

int
cn_advance(cenote_conn *conn, int how)
{
	switch (cn_state(conn)) {
	case CN_CONNECTING:
		return cn_attach_step(conn);
	case CN_ATTACHING:
	case CN_READY:
		return exchange(conn, how);
	case CN_DETACHED:
		return cn_attach_begin(conn, CNP_OPEN_ATTACH, 1);
	case CN_LOST:
		cnc_diag_copy(&conn->diag.d, &conn->loss.diag.d);
		return conn->loss.status;
	default:
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(NOT_CONNECTED),
			"not connected: call cenote_connect() first");
	}
}

static int
is_flushed(const cenote_conn *conn)
{
	const uint8_t *bytes;

	switch (cn_state(conn)) {
	case CN_READY:
		return conn->is_write_broken ||
		       (cnp_client_output(&conn->session, &bytes) == 0 &&
			       !cn_transport_unsent(&conn->transport));
	case CN_DETACHED:
		/* for nothing no session is taken */
		return conn->pipeline.n == conn->pipeline.n_finished;
	case CN_LOST:
	case CN_CLOSED:
		return 1;
	default:
		return conn->is_write_broken;
	}
}

int
cn_push(cenote_conn *conn)
{
	uint8_t was = conn->nonblocking;
	int r;

	/* A loss is told to who takes the results. */
	if (cn_flush(conn) == CENOTE_OK && is_flushed(conn))
		return CENOTE_OK;
	/* An answer stays in the socket: a program that polls it behind a sending is to see it there. */
	if (was == CENOTE_NONBLOCKING)
		conn->nonblocking = CENOTE_PASSIVE;
	r = cn_wait_for(conn, is_flushed);
	conn->nonblocking = was;
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

/* ------------------------------------------------------------------ the end ----- */

static void
forget_stream(cenote_conn *conn)
{
	cnp_client_restart(&conn->session);
	conn->is_write_broken = 0;
	conn->has_event = 0;
}

/* The descriptor stays: an event loop that waits on it finds the end there. */
int
cn_session_failed(cenote_conn *conn, int status)
{
	/* Kept: each call says the same until the program connects again. */
	cnc_diag_copy(&conn->loss.diag.d, &conn->diag.d);
	conn->loss.status = status;
	forget_stream(conn);
	cn_requests_drop_unfinished(conn);
	cn_streams_fail(conn, status, &conn->loss.diag.d);
	/* Not IDLE: what was open may have ended either way. */
	conn->tx = CENOTE_TX_UNKNOWN;
	conn->pins = 0;
	cn_move(conn, CN_LOST);
	return status;
}

void
cn_session_over(cenote_conn *conn)
{
	forget_stream(conn);
	conn->tx = CENOTE_TX_IDLE;
	cn_move(conn, CN_DETACHED);
}

/* What one unanswered request means for the program's data. *in_tx: whether a
 * transaction is open behind it. */
static int
may_have_committed(const struct cn_request *req, int *in_tx)
{
	int was_in_tx = *in_tx;

	switch (req->code) {
	case CNP_MSG_BEGIN:
		*in_tx = 1;
		return 0;
	case CNP_MSG_ROLLBACK:
		*in_tx = 0;
		return 0;
	default:
		if (req->effect == CNC_EFFECT_NONE)
			return 0;
		if (req->effect == CNC_EFFECT_ROLLBACK) {
			*in_tx = 0;
			return 0;
		}
		if (req->effect == CNC_EFFECT_BEGIN) {
			*in_tx = 1;
			return was_in_tx;
		}
		return !*in_tx || req->effect == CNC_EFFECT_COMMIT;
	}
}

static int
outcome_is_unknown(const cenote_conn *conn)
{
	int in_tx = conn->tx != CENOTE_TX_IDLE || conn->reattach.is_autocommit_off;

	/* some servers commit at the synchronisation point only, some did so at once */
	if (conn->session.is_unsynced && conn->pipeline.unsynced != CNC_EFFECT_NONE && !in_tx)
		return 1;
	for (size_t i = conn->pipeline.n_finished; i < conn->pipeline.n; i++) {
		if (may_have_committed(cn_request_at(&conn->pipeline, i), &in_tx))
			return 1;
	}
	return 0;
}

/* Something of a request that was not answered reached the peer. */
static int
may_have_run(const cenote_conn *conn)
{
	return conn->pipeline.n > conn->pipeline.n_finished && conn->session.sent > conn->pipeline.sent_before;
}

/* The session held nothing, and nothing is running: another one is as good. */
static int
can_start_anew(const cenote_conn *conn)
{
	return conn->tx == CENOTE_TX_IDLE && conn->pins == 0 &&
	       !conn->session.is_unsynced &&
	       conn->options.number[CN_OPTION_REATTACH] == CN_REATTACH_YES &&
	       !may_have_run(conn);
}

static const char *
what_was_held(const cenote_conn *conn)
{
	for (uint32_t bit = 1; bit <= CENOTE_PIN_PREPARED; bit <<= 1) {
		if (conn->pins & bit)
			return cenote_pin_name(bit);
	}
	if (conn->session.is_unsynced)
		return "requests behind the last synchronisation point";
	return conn->tx != CENOTE_TX_IDLE ? "an open transaction" : "nothing";
}

int
cn_session_lost(cenote_conn *conn, int error)
{
	const char *why = cn_errno_text(error);

	if (can_start_anew(conn)) {
		cn_session_over(conn);
		return CENOTE_OK;
	}
	if ((may_have_run(conn) || conn->session.is_unsynced) && outcome_is_unknown(conn))
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"the connection was lost (%s) while a request was running, or "
			"before its synchronisation point: whether it was committed is "
			"not known",
			why);
	else if (conn->loss.has_setup_error) /* the server said why before it went */
		cnc_diag_copy(&conn->diag.d, &conn->loss.setup.d);
	else if (may_have_run(conn))
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CONNECTION_LOST),
			"the connection was lost (%s) while a request was running; "
			"nothing was committed",
			why);
	else
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CONNECTION_LOST),
			"the session was lost (%s), and it held %s", why,
			what_was_held(conn));
	return cn_session_failed(conn, CENOTE_ERR_CONN);
}
