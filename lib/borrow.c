/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <stdlib.h>

#include "loan_load.h"

/*
 * Borrowing the server's socket from a worker (docs/lending.md): whether the client offers it, and how a loan begins and
 * ends. attach.c, event.c and suspend.c call this file. The loan itself is a transport (transport_loan.c).
 *
 * The client offers it without looking for the module: that would cost each attach more than it saves. If the module
 * cannot be opened when a loan comes, the handle gives the session back, and offers it no more.
 */

static int
is_unix(const cenote_conn *conn)
{
	const struct cn_attach *a = &conn->attach;

	return a->at < a->targets.n && a->targets.list[a->at].addr.ss_family == AF_UNIX;
}

/* Nothing is lent to a program that wants no other session. */
static int
is_wanted(const cenote_conn *conn)
{
	const uint64_t *o = conn->options.number;

	return is_unix(conn) && o[CN_OPTION_BORROW] != CN_BORROW_NO &&
	       o[CN_OPTION_REATTACH] != CN_REATTACH_NO;
}

/* A program behind a shim cannot set the option, but its user can say this. */
static int
is_forbidden(void)
{
	const char *value = secure_getenv("CENOTE_BORROW");

	return value && strcmp(value, "no") == 0;
}

void
cn_borrow_look(cenote_conn *conn)
{
	if (conn->borrowing.offer == CN_OFFER_UNKNOWN && is_wanted(conn))
		conn->borrowing.offer = is_forbidden() ? CN_OFFER_NO : CN_OFFER_YES;
}

int
cn_borrow_may(const cenote_conn *conn)
{
	return conn->borrowing.offer == CN_OFFER_YES && !conn->borrowing.is_paused &&
	       is_wanted(conn);
}

void
cn_borrow_expect(cenote_conn *conn)
{
	if (conn->session.may_borrow && is_unix(conn))
		cn_loan_expect(&conn->transport);
}

int
cn_borrow_begin(cenote_conn *conn)
{
	struct cn_transport *t = &conn->transport;
	const struct cn_loan_ops *ops;

	if (t->lent[0] < 0 || t->lent[1] < 0)
		return CENOTE_ERR_PROTOCOL;
	if (conn->borrowing.is_paused)
		return CENOTE_OK;
	ops = cn_loan_load();
	if (!ops || cn_loan_begin(t, ops, &conn->mem) < 0)
		conn->borrowing.offer = CN_OFFER_NO;
	return CENOTE_OK;
}

void
cn_borrow_refused(cenote_conn *conn)
{
	conn->borrowing.offer = CN_OFFER_NO;
}

int
cn_borrow_pause(cenote_conn *conn)
{
	struct cn_transport *t = &conn->transport;
	int is_held = conn->tx != CENOTE_TX_IDLE || conn->pins != 0 ||
		      cn_stmts_need_session(conn) || conn->session.is_unsynced;

	if (is_held && t->loan)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the pool has lent its session to this program, and a session "
			"that holds something cannot be given back: connect with "
			"borrow=no to suspend it");
	if (is_held)
		return CENOTE_OK;
	conn->borrowing.is_paused = 1;
	if (t->loan && cn_state(conn) != CN_DETACHED)
		cn_session_over(conn);
	else if (t->loan)
		cn_transport_close(t);
	return CENOTE_OK;
}
