/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CANCEL_H
#define CN_CANCEL_H

#include <stdatomic.h>

#include "conn.h"

struct cenote_cancel {
	struct cenote_allocator mem;
	/* A connection of its own, with the options and the address of the one that it came
	 * from. */
	cenote_conn *conn;
	cenote_conn *
		followed; /* whose requests it names, of which it is the follower; NULL */
	/* What cenote_cancel_send_safe() has instead: it may allocate nothing, and share nothing that
	 * is written. */
	struct cn_target target;
	char where[CN_TARGET_TEXT_MAX]; /* `target`, as text */
	uint8_t needs_tls; /* the session's key must not be seen on the way */
	struct cnc_buf opening; /* and behind it a CANCEL of nobody */
	/* Written by the connection's thread, while another may be sending: what does not belong
	 * together names nobody, and cancels nothing. */
	_Atomic uint64_t session;
	_Atomic uint64_t key;
	_Atomic uint32_t request;
};

/* Whom it names now. */
static inline struct cnp_cancel
cn_cancel_named(const cenote_cancel *c)
{
	return (struct cnp_cancel){
		.session = atomic_load_explicit(&c->session, memory_order_relaxed),
		.key = atomic_load_explicit(&c->key, memory_order_relaxed),
		.request = atomic_load_explicit(&c->request, memory_order_relaxed),
	};
}

/* The cancel names what this connection has now. */
void cn_cancel_name(cenote_cancel *c, const cenote_conn *conn);
/* The connection has another session: its follower, if there is one, names the request there. */
void cn_cancel_refresh(cenote_conn *conn);
/* The connection has no follower any more. */
void cn_cancel_let_go(cenote_conn *conn);

#endif
