/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CANCEL_H
#define CN_CANCEL_H

#include <stdatomic.h>

#include "conn.h"

struct cenote_cancel {
	struct cenote_allocator mem;
	/* Another connection, for sending the cancel, with the options and the address of the
	 * followed connection. */
	cenote_conn *conn;
	/* the connection whose requests are cancelled; NULL: none */
	cenote_conn *followed;
	/* The members for cenote_cancel_send_safe(), which must not allocate memory, and must not
	 * share anything that is written. */
	struct cn_target target;
	char where[CN_TARGET_TEXT_MAX]; /* `target` as text */
	uint8_t needs_tls; /* the session's key must not travel in the clear */
	/* the opening, and after it a CANCEL without session and request */
	struct cnc_buf opening;
	/* The connection's thread writes these while another thread may send a cancel.
	 * A mixture of old and new values names no session, so it cancels nothing. */
	_Atomic uint64_t session;
	_Atomic uint64_t key;
	_Atomic uint32_t request;
};

/* The session and the request to cancel now. */
static inline struct cnp_cancel
cn_cancel_named(const cenote_cancel *c)
{
	return (struct cnp_cancel){
		.session = atomic_load_explicit(&c->session, memory_order_relaxed),
		.key = atomic_load_explicit(&c->key, memory_order_relaxed),
		.request = atomic_load_explicit(&c->request, memory_order_relaxed),
	};
}

/* Store the connection's session and current request. */
void cn_cancel_name(cenote_cancel *c, const cenote_conn *conn);
/* The connection has a new session: update its follower, if there is one. */
void cn_cancel_refresh(cenote_conn *conn);
/* The connection is destroyed: its follower must forget it. */
void cn_cancel_let_go(cenote_conn *conn);

#endif
