/* SPDX-License-Identifier: BSD-2-Clause */
#include "cancel.h"

/*
 * A cenote_cancel that follows a connection: it holds the request that the connection runs now.
 * Only the thread of the connection writes here; another thread or a signal handler may read at the
 * same time (cancel_safe.c).
 */

/* The request that is running or was queued last; 0: none. */
static uint32_t
last_request(const cenote_conn *conn)
{
	if (conn->pipeline.n == conn->pipeline.n_finished)
		return 0;
	return cn_request_at(&conn->pipeline, conn->pipeline.n - 1)->number;
}

void
cn_cancel_name(cenote_cancel *c, const cenote_conn *conn)
{
	/* Between two sessions nothing is running. Number 0 is no request's. */
	int is_ready = cn_state(conn) == CN_READY;

	atomic_store_explicit(
		&c->request, is_ready ? last_request(conn) : 0, memory_order_relaxed);
	atomic_store_explicit(&c->session, is_ready ? conn->info.facts.session : 0,
		memory_order_relaxed);
	atomic_store_explicit(
		&c->key, is_ready ? conn->info.facts.key : 0, memory_order_relaxed);
}

void
cn_cancel_refresh(cenote_conn *conn)
{
	if (conn->follower)
		cn_cancel_name(conn->follower, conn);
}

void
cn_cancel_let_go(cenote_conn *conn)
{
	if (conn->follower)
		conn->follower->followed = NULL;
	conn->follower = NULL;
}

void
cenote_cancel_follow(cenote_cancel *cancel, cenote_conn *conn)
{
	if (!cancel)
		return;
	if (cancel->followed != conn) {
		if (cancel->followed)
			cn_cancel_let_go(cancel->followed);
		if (conn) {
			cn_cancel_let_go(conn);
			conn->follower = cancel;
		}
		cancel->followed = conn;
	}
	if (conn)
		cn_cancel_name(cancel, conn);
	else
		atomic_store_explicit(&cancel->request, 0, memory_order_relaxed);
}
