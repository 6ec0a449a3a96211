/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CANCEL_H
#define CN_CANCEL_H

#include <stdatomic.h>

#include "conn.h"

struct cenote_cancel {
	struct cenote_allocator mem;
	/* A connection of its own, with the options and the address of the followed
	 * one. */
	cenote_conn *conn;
	cenote_conn *followed; /* the connection whose requests it names; NULL: none */
	/* cenote_cancel_send_safe() uses these members instead. It must not allocate
	 * memory, and must share nothing that is written. */
	struct cn_target target;
	char where[CN_TARGET_TEXT_MAX]; /* `target` as text */
	uint8_t needs_tls; /* the session's key must not travel in the clear */
	struct cnc_buf opening; /* and after it a CANCEL without session and request */
	/* The connection's thread writes these while another thread may send a cancel.
	 * A mixture of old and new values names no session, so it cancels nothing. */
	_Atomic uint64_t session;
	_Atomic uint64_t key;
	_Atomic uint32_t request;
};

/* What it cancels now. */
static inline struct cnp_cancel
cn_cancel_named(const cenote_cancel *c)
{
	return (struct cnp_cancel){
		.session = atomic_load_explicit(&c->session, memory_order_relaxed),
		.key = atomic_load_explicit(&c->key, memory_order_relaxed),
		.request = atomic_load_explicit(&c->request, memory_order_relaxed),
	};
}

/* Name the session and the request that the connection has now. */
void cn_cancel_name(cenote_cancel *c, const cenote_conn *conn);
/* The connection has a new session: update its follower, if it has one. */
void cn_cancel_refresh(cenote_conn *conn);
/* The connection has no follower any more. */
void cn_cancel_let_go(cenote_conn *conn);

#endif
