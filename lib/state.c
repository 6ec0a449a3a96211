/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <time.h>
#include <unistd.h>

/*
 * The bottom of libcenote: the state of a connection, its diagnostics, the clock, and the
 * checks at the beginning of each public call. Every other file calls this one; it calls
 * only the transport, to close it.
 */

const cenote_diag cn_diag_none = { .d = { .sqlstate = "00000" } };

#define TO(state) (1u << CN_##state)

static const struct cnc_sm_state states[] = {
	[CN_CLOSED] = { "closed", TO(CLOSED) | TO(CONNECTING) },
	[CN_CONNECTING] = { "connecting", TO(ATTACHING) | TO(CLOSED) | TO(LOST) },
	[CN_ATTACHING] = { "attaching",
		TO(READY) | TO(CONNECTING) | TO(DETACHED) | TO(CLOSED) | TO(LOST) },
	[CN_READY] = { "ready", TO(DETACHED) | TO(CLOSED) | TO(LOST) },
	[CN_DETACHED] = { "detached",
		TO(CONNECTING) | TO(ATTACHING) | TO(CLOSED) | TO(LOST) },
	[CN_LOST] = { "lost", TO(CONNECTING) | TO(CLOSED) | TO(LOST) },
};

void
cn_state_begin(cenote_conn *conn)
{
	cnc_sm_init(&conn->sm, states, sizeof(states) / sizeof(states[0]), CN_CLOSED);
}

/* Every change of state calls this, so that the transport is closed if the new state does not use it. */
void
cn_move(cenote_conn *conn, uint32_t state)
{
	(void)cnc_sm_move(&conn->sm, state);
	if (state == CN_CLOSED)
		cn_transport_finish(&conn->transport);
	if (state == CN_DETACHED && !cnp_client_is_staying(&conn->session) &&
		!conn->transport.is_lent_anew)
		cn_transport_close(&conn->transport);
	/* Nobody else can end a loan, and the worker needs its session. */
	if (state == CN_LOST)
		cn_loan_forfeit(&conn->transport);
}

int
cn_fail(cenote_conn *conn, int status, const char *sqlstate, const char *message)
{
	cnc_diag_set(&conn->diag.d, sqlstate, "%s", message);
	return status;
}

int
cn_nomem(cenote_conn *conn)
{
	return cn_fail(conn, CENOTE_ERR_NOMEM, CNC_SQLSTATE(MEMORY), "out of memory");
}

pid_t
cn_pid(const cenote_conn *conn)
{
	return conn->getpid ? (pid_t)conn->getpid() : getpid();
}

int64_t
cn_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
cn_enter(cenote_conn *conn)
{
	uint64_t limit = conn->options.number[CN_OPTION_QUERY_TIMEOUT];

	cnc_diag_clear(&conn->diag.d);
	if (conn->pid != 0 && conn->pid != cn_pid(conn))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(NOT_CONNECTED),
			"the connection belongs to the parent process: after fork() a "
			"child may only destroy it");
	conn->deadline =
		limit == 0 || conn->nonblocking ? 0 : cn_now_ms() + (int64_t)limit;
	return CENOTE_OK;
}

int
cn_is_first_attach(const cenote_conn *conn)
{
	return (cn_state(conn) == CN_CONNECTING || cn_state(conn) == CN_ATTACHING) &&
	       !conn->attach.is_again;
}

int
cn_enter_attached(cenote_conn *conn)
{
	int r = cn_enter(conn);

	if (r < 0)
		return r;
	if (cn_state(conn) == CN_LOST) {
		cnc_diag_copy(&conn->diag.d, &conn->loss.diag.d);
		return conn->loss.status;
	}
	if (cn_state(conn) == CN_CLOSED || cn_is_first_attach(conn))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(NOT_CONNECTED),
			"not connected: call cenote_connect() first");
	return CENOTE_OK;
}
