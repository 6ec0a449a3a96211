/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request has failed because the server has gone, or because the server no longer takes writes. If the request surely had no
 * effect and the client holds nothing, the client gets YIELD in place of the error, attaches again, and repeats the request. If
 * a transaction is open where no writes are taken, the client gets the error that its session is lost. loss.c decides what
 * surely had no effect. request.c calls this file.
 */
#include "serving.h"

#include <string.h>

#include "core/sqlstate.h"

static bool
is_refused_write(const struct cnd_serving *s, int status)
{
	return status == CENOTE_ERR_SERVER &&
	       strcmp(s->diag.sqlstate, CNC_SQLSTATE(READ_ONLY)) == 0;
}

/* Whether the session holds nothing now. */
static bool
is_empty(const struct cnd_serving *s, struct cnd_state *ret_state)
{
	cnd_request_state(s, ret_state);
	return ret_state->tx == CENOTE_TX_IDLE && ret_state->pins == 0;
}

/* As is_empty(), but ask the server too if it can tell. A lost session cannot be asked: what it held after its last request
 * counts. */
static bool
holds_nothing(struct cnd_serving *s, bool is_lost, struct cnd_state *ret_state)
{
	*ret_state = (struct cnd_state){
		.tx = CENOTE_TX_IDLE, .pins = s->held.pins, .carry = CNP_STR_NONE
	};
	if (is_lost)
		return s->held.pins == 0;
	if (is_empty(s, ret_state))
		return true;
	return s->backend->settle != NULL &&
	       (ret_state->pins & ~s->backend->settled_pins) == 0 &&
	       s->backend->settle(s->session, &s->sink) >= 0 && is_empty(s, ret_state);
}

/* A server that takes no writes cannot commit the open transaction. */
static int
lose_transaction(struct cnd_serving *s)
{
	char why[CNC_DIAG_MESSAGE_MAX];

	memcpy(why, s->diag.message, sizeof(why));
	cnc_diag_set(&s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the server is no longer a primary, and a transaction was open: %s", why);
	return CENOTE_ERR_CONN;
}

static int
try_to_yield(struct cnd_serving *s, const struct cnp_request *req, int status)
{
	bool is_lost = status == CENOTE_ERR_CONN;
	struct cnc_diag error;
	struct cnd_state state;
	bool is_moved;

	/* may_move() comes first: it also asks the server for its role, so that the pool gives the server up at once */
	if (!s->ops->may_move(s, status) || !cnp_server_can_yield_running(s->server) ||
		!cnd_loss_had_no_effect(s, req, status))
		return status;
	/* the questions to the server overwrite s->diag */
	cnc_diag_init(&error, s->host.mem);
	cnc_diag_copy(&error, &s->diag);
	is_moved = holds_nothing(s, is_lost, &state) &&
		   cnp_server_yield_running(s->server, CNP_YIELD_RELOAD, &state.carry) ==
			   CENOTE_OK;
	if (!is_moved)
		cnc_diag_copy(&s->diag, &error);
	else if (is_lost)
		s->ops->lost(s, cnp_msg_name(req->msg.code));
	s->is_lost |= is_moved;
	cnc_diag_finish(&error);
	return is_moved ? CENOTE_DONE : status;
}

int
cnd_move_request(struct cnd_serving *s, const struct cnp_request *req, int status)
{
	if (s->ops->may_move == NULL || req->number == 0 || s->is_gone ||
		s->ahead.last != req->number ||
		(status != CENOTE_ERR_CONN && !is_refused_write(s, status)))
		return status;
	if (s->held.tx == CENOTE_TX_IDLE)
		return try_to_yield(s, req, status);
	return is_refused_write(s, status) && s->ops->may_move(s, status)
		       ? lose_transaction(s)
		       : status;
}
