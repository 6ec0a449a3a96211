/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * Bytes to and from the peer. wait.c calls cn_advance() again and again; each state of the connection has its
 * own step there.
 *
 * A worker that takes its session back sends YIELD and closes, perhaps while a request is on its
 * way. Then sending fails, but the YIELD waits to be read. So a failed send only notes that nothing
 * more can be written. end.c decides about the end after all received messages were handled.
 */

int
cn_flush(cenote_conn *conn)
{
	const uint8_t *bytes;
	size_t n, put;
	int r;

	if (cn_state(conn) != CN_ATTACHING && cn_state(conn) != CN_READY &&
		!cn_is_staying(conn))
		return CENOTE_OK;
	while (!conn->is_write_broken &&
		(n = cnp_client_output(&conn->session, &bytes)) > 0) {
		r = conn->transport.ops->write(&conn->transport, bytes, n, &put);
		if (r == CENOTE_AGAIN)
			return r;
		if (r < 0) {
			/* The peer is gone; messages that it sent before may explain why. */
			conn->is_write_broken = 1;
			return CENOTE_OK;
		}
		cnp_client_sent(&conn->session, put);
	}
	return conn->transport.ops->flush(&conn->transport) == CENOTE_AGAIN ? CENOTE_AGAIN
									    : CENOTE_OK;
}

static int
is_reading(const cenote_conn *conn)
{
	return cn_state(conn) == CN_ATTACHING || cn_state(conn) == CN_READY;
}

/* The next event, or the one for which there was no memory last time. */
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
	/* Close the connection, so that the other end notices. */
	cn_transport_close(&conn->transport);
	return cn_session_failed(conn, CENOTE_ERR_PROTOCOL);
}

/* What the pool says to a client that stays. It may send notifications, and say that it ends the connection. */
static int
on_staying(cenote_conn *conn)
{
	const struct cnp_str *fields = &conn->event.msg.as.error.fields;

	switch (conn->event.msg.code) {
	case CNP_MSG_NOTICE:
	case CNP_MSG_NOTIFICATION:
		return cn_event(conn, &conn->event);
	case CNP_MSG_ERROR:
		/* why notifications may be missing */
		conn->loss.has_setup_error =
			cnp_client_is_listening(&conn->session) &&
			cnc_diag_set_fields(&conn->loss.setup.d,
				(const uint8_t *)fields->p, fields->n) == CENOTE_OK;
		return CENOTE_OK;
	default:
		return CENOTE_OK;
	}
}

static int
handle_event(cenote_conn *conn)
{
	switch (cn_state(conn)) {
	case CN_ATTACHING:
		return cn_attach_event(conn, &conn->event);
	case CN_DETACHED:
		return on_staying(conn);
	default:
		return cn_event(conn, &conn->event);
	}
}

/* Handle received messages, also those that come behind YIELD on a connection that stays: poll() would not report them. With
 * `all`, also handle those that should wait until the program has taken its rows. */
static int
pump(cenote_conn *conn, int all)
{
	int handled = 0;
	int stays, r;

	while ((is_reading(conn) || cn_is_staying(conn)) &&
		(all || !cn_waits_for_program(conn))) {
		stays = cn_is_staying(conn);
		r = next_event(conn);
		if (r == CENOTE_AGAIN)
			break;
		if (r == CENOTE_OK)
			r = handle_event(conn);
		if (r == CENOTE_ERR_NOMEM)
			return cn_nomem(conn);
		/* the session waits for the TLS handshake that HELLO announced */
		if (r == CENOTE_AGAIN)
			return CENOTE_OK;
		conn->has_event = 0;
		/* the pool has ended it, or has broken the protocol */
		if (stays && !cn_is_staying(conn))
			return cn_stay_over(conn, 0);
		if (r == CENOTE_ERR_PROTOCOL && is_reading(conn))
			return protocol_error(conn);
		if (r < 0)
			return r;
		handled = 1;
	}
	return handled ? CENOTE_OK : CENOTE_AGAIN;
}

static int
pump_wanted(cenote_conn *conn)
{
	return pump(conn, 0);
}

static int
transport_ended(cenote_conn *conn, int r)
{
	int error = r < 0 ? conn->transport.error : 0;

	if (cn_state(conn) == CN_DETACHED)
		return cn_stay_over(conn, error);
	if (cn_attaches_kept(conn))
		return cn_session_lost(conn, error);
	/* A TLS failure is final: another target would not mend it. */
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

/* Read until the TLS buffers are empty: poll() would not report bytes there. The end of a loan waits until what was said
 * before it is handled. */
static int
receive(cenote_conn *conn)
{
	int r = receive_once(conn);

	while (r == CENOTE_OK && conn->transport.tls &&
		conn->transport.ops->pending(&conn->transport)) {
		r = receive_once(conn);
		if (r == CENOTE_AGAIN)
			return CENOTE_OK;
	}
	return r;
}

int
cn_stay_check(cenote_conn *conn)
{
	int r = CENOTE_OK;

	while (r == CENOTE_OK && cn_is_staying(conn)) {
		r = pump(conn, 1);
		if (r == CENOTE_AGAIN)
			r = receive_once(conn);
	}
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

/* Check a connection that stays before asking for the next session. Over TCP, a write succeeds even after the peer has gone,
 * and then nobody knows whether the request was carried out. */
static int
has_stayed(cenote_conn *conn)
{
	const struct cn_attach *a = &conn->attach;

	if (!cn_is_staying(conn))
		return CENOTE_OK;
	if (!cnp_client_is_listening(&conn->session) &&
		(a->at >= a->targets.n ||
			a->targets.list[a->at].addr.ss_family == AF_UNIX))
		return CENOTE_OK;
	return cn_stay_check(conn);
}

/* Detached: ask for the next session. */
static int
attach_again(cenote_conn *conn)
{
	int r = has_stayed(conn);

	if (r == CENOTE_OK)
		r = cn_flush(conn);
	return r != CENOTE_OK ? r : cn_attach_begin(conn, CNP_OPEN_ATTACH, 1);
}

/* Attached or attaching: handle, write, read. */
static int
exchange(cenote_conn *conn, int how)
{
	const uint8_t *bytes;
	int is_stuck, has_output, r;

	if (conn->transport.is_shaking)
		return cn_attach_handshake(conn);
	r = pump_wanted(conn);
	if (r != CENOTE_AGAIN)
		return r;
	has_output = cnp_client_output(&conn->session, &bytes) > 0 ||
		     conn->transport.ops->unsent(&conn->transport);
	is_stuck = cn_flush(conn) == CENOTE_AGAIN;
	/* Return after a write: the caller may have waited only for that, since not every message
	 * has an answer. */
	if (has_output && !is_stuck && !conn->is_write_broken && how != CN_READ_NOW)
		return CENOTE_OK;
	/* If the peer does not read until we read, both would wait for ever. So then read in any case. */
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
		return attach_again(conn);
	case CN_LOST:
		cnc_diag_copy(&conn->diag.d, &conn->loss.diag.d);
		return conn->loss.status;
	default:
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(NOT_CONNECTED),
			"not connected: call cenote_connect() first");
	}
}
