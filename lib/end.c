/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

/*
 * How a session ends: closed by the program, taken back by the pool, or lost. event.c handles a
 * YIELD; this file decides what a loss without a YIELD means.
 *
 * If the session held nothing and nothing of a request was sent, another session is as good, and the
 * program notices nothing. Otherwise the program gets an error, and the error says what the requests may
 * have done. A connection that stays without a session may end, and the program is not told, unless it listens for
 * notifications. io.c, event.c and attach.c call this file.
 */

static void
forget_stream(cenote_conn *conn)
{
	cnp_client_restart(&conn->session);
	conn->is_write_broken = 0;
	conn->has_event = 0;
}

/* The descriptor stays open: an event loop that waits on it finds the end of the connection. */
int
cn_session_failed(cenote_conn *conn, int status)
{
	/* Store the reason: each call reports it until the program connects again. */
	cnc_diag_copy(&conn->loss.diag.d, &conn->diag.d);
	conn->loss.status = status;
	forget_stream(conn);
	cn_requests_drop_unfinished(conn);
	cn_streams_fail(conn, status, &conn->loss.diag.d);
	cn_stmts_forget_pieces(conn);
	/* Not IDLE: it is unknown how an open transaction ended. */
	conn->tx = CENOTE_TX_UNKNOWN;
	conn->pins = 0;
	cn_move(conn, CN_LOST);
	return status;
}

void
cn_session_over(cenote_conn *conn)
{
	if (!cnp_client_is_staying(&conn->session))
		forget_stream(conn);
	conn->tx = CENOTE_TX_IDLE;
	cn_move(conn, CN_DETACHED);
}

int
cn_stay_over(cenote_conn *conn, int error)
{
	if (cnp_client_is_listening(&conn->session))
		return cn_session_lost(conn, error);
	forget_stream(conn);
	cn_transport_close(&conn->transport);
	return CENOTE_OK;
}

static void
fail_streams(cenote_conn *conn)
{
	struct cnc_diag closed;

	if (!conn->streams)
		return;
	cnc_diag_init(&closed, NULL);
	cnc_diag_set(&closed, CNC_SQLSTATE(NOT_CONNECTED), "the connection was closed");
	cn_streams_fail(conn, CENOTE_ERR_STATE, &closed);
}

void
cn_close(cenote_conn *conn)
{
	if (cn_state(conn) == CN_CLOSED)
		return;
	cn_requests_clear(conn);
	cn_result_free(conn->suspend.resumed);
	conn->suspend.resumed = NULL;
	fail_streams(conn);
	cn_stmts_forget_pieces(conn);
	forget_stream(conn);
	conn->reattach.is_autocommit_off = 0;
	conn->tx = CENOTE_TX_UNKNOWN;
	conn->pins = 0;
	conn->reattach.carry_len = 0;
	conn->info.has_facts = 0;
	conn->borrowing.is_paused = 0;
	cn_move(conn, CN_CLOSED);
}

/* Could the unanswered request have committed something? *in_tx: is a transaction open before the
 * request, and then after it? */
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
may_have_worked(const cenote_conn *conn)
{
	int in_tx = conn->tx != CENOTE_TX_IDLE || conn->reattach.is_autocommit_off;

	/* Some servers commit at the synchronisation point, others at once. */
	if (conn->session.is_unsynced && conn->pipeline.unsynced != CNC_EFFECT_NONE &&
		!in_tx)
		return 1;
	for (size_t i = conn->pipeline.n_finished; i < conn->pipeline.n; i++) {
		if (may_have_committed(cn_request_at(&conn->pipeline, i), &in_tx))
			return 1;
	}
	return 0;
}

/* Has a part of an unanswered request reached the peer? YIELD said that none was carried out. */
static int
may_have_run(const cenote_conn *conn)
{
	return cn_state(conn) != CN_DETACHED &&
	       conn->pipeline.n > conn->pipeline.n_finished &&
	       cnp_client_has_sent_request(&conn->session);
}

int
cn_outcome_is_unknown(const cenote_conn *conn)
{
	return (may_have_run(conn) || conn->session.is_unsynced) && may_have_worked(conn);
}

/* Whether another session is as good: this one held nothing, and no request was running. */
static int
can_start_anew(const cenote_conn *conn)
{
	if (cnp_client_is_listening(&conn->session))
		return 0;
	if (cn_attaches_kept(conn))
		return !may_have_run(conn);
	return conn->tx == CENOTE_TX_IDLE && conn->pins == 0 &&
	       !conn->session.is_unsynced && !cn_stmts_need_session(conn) &&
	       conn->options.number[CN_OPTION_REATTACH] == CN_REATTACH_YES &&
	       !may_have_run(conn);
}

static const char *
what_was_held(const cenote_conn *conn)
{
	if (cn_stmts_need_session(conn))
		return "pieces of a long value";
	if (cnp_client_is_listening(&conn->session))
		return cenote_pin_name(CENOTE_PIN_LISTEN);
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
	if (cn_outcome_is_unknown(conn))
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"the connection was lost (%s) while a request was running, or "
			"before its synchronisation point: whether it was committed is "
			"not known",
			why);
	/* the server gave a reason before it ended the session */
	else if (conn->loss.has_setup_error)
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
