/* SPDX-License-Identifier: BSD-2-Clause */
#include "cancel.h"

#include <stdio.h>

/*
 * Cancelling: cenote_cancel has its own connection, which opens with CANCEL in place of ATTACH.
 * follow.c keeps the handle up to date; cancel_safe.c sends a cancel from signal handlers.
 */

#define CANCEL_TIMEOUT "10s"

static int
give_target(cenote_conn *to, const struct cn_target *from)
{
	struct cn_target *target = cnc_alloc(&to->mem, sizeof(*target));

	if (!target)
		return CENOTE_ERR_NOMEM;
	*target = *from;
	to->attach.targets.list = target;
	to->attach.targets.n = 1;
	to->attach.targets.cap = 1;
	to->attach.is_fixed = 1;
	return CENOTE_OK;
}

/* Prepare what cenote_cancel_send_safe() needs: the address and the bytes to send. */
static int
prepare(cenote_cancel *c, const cenote_conn *conn)
{
	const struct cnp_msg nobody = { .code = CNP_MSG_CANCEL };
	struct cnp_opening o = {
		.version_min = CNP_VERSION_MIN,
		.version_max = CNP_VERSION_MAX,
		.kind = CNP_OPEN_CANCEL,
		.tls = CNP_TLS_NONE,
	};
	int r;

	/* Only the daemon that lent the session knows it. The options may name another daemon by now. */
	if (conn->attach.at >= conn->attach.targets.n)
		return CENOTE_ERR_STATE;
	c->target = conn->attach.targets.list[conn->attach.at];
	cn_target_text(&c->target, c->where);
	c->needs_tls = conn->transport.tls != NULL && c->target.addr.ss_family != AF_UNIX;
	(void)snprintf(o.pool, sizeof(o.pool), "%s",
		cn_options_get(&conn->options, CN_OPTION_POOL));
	r = cnp_opening_encode(&c->opening, &o);
	return r < 0 ? r : cnp_frame_put(&c->opening, 0, 0, &nobody);
}

/* The session's key came through TLS, so it must not travel without TLS. */
static int
insist_on_tls(cenote_conn *to)
{
	if (to->options.number[CN_OPTION_TLS] >= CN_TLS_REQUIRE)
		return CENOTE_OK;
	return cn_options_set(&to->options, CN_OPTION_TLS, "require", &to->diag.d);
}

int
cenote_cancel_create(cenote_conn *conn, cenote_cancel **ret_cancel)
{
	cenote_cancel *c;
	int r;

	if (!conn || !ret_cancel)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	c = cnc_calloc(&conn->mem, 1, sizeof(*c));
	if (!c)
		return cn_nomem(conn);
	c->mem = conn->mem;
	cnc_buf_init(&c->opening, &c->mem, CNP_FRAME_MAX_AUTH);
	r = prepare(c, conn);
	if (r == CENOTE_OK)
		r = cenote_conn_create(&conn->mem, &c->conn);
	if (r == CENOTE_OK)
		r = cn_options_copy(&c->conn->options, &conn->options);
	/* A cancel is urgent, even if the program may wait long for a session. */
	if (r == CENOTE_OK)
		r = cn_options_set(&c->conn->options, CN_OPTION_CONNECT_TIMEOUT,
			CANCEL_TIMEOUT, &c->conn->diag.d);
	if (r == CENOTE_OK && c->needs_tls)
		r = insist_on_tls(c->conn);
	if (r == CENOTE_OK)
		r = give_target(c->conn, &c->target);
	if (r < 0) {
		cenote_cancel_destroy(c);
		return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
	}
	cn_cancel_name(c, conn);
	*ret_cancel = c;
	return CENOTE_OK;
}

static int
is_answered(const cenote_conn *conn)
{
	return cn_state(conn) == CN_CLOSED;
}

int
cenote_cancel_send(cenote_cancel *cancel)
{
	struct cnp_cancel named;
	cenote_conn *conn;
	int r;

	if (!cancel)
		return CENOTE_ERR_ARG;
	conn = cancel->conn;
	cnc_diag_clear(&conn->diag.d);
	named = cn_cancel_named(cancel);
	if (named.request == 0)
		return CENOTE_DONE;
	conn->pid = cn_pid(conn);
	conn->was_delivered = 0;
	conn->attach.token.session = named.session;
	conn->attach.token.key = named.key;
	conn->attach.cancel_request = named.request;
	r = cn_attach_begin(conn, CNP_OPEN_CANCEL, 0);
	if (r == CENOTE_OK)
		r = cn_wait_for(conn, is_answered);
	cenote_close(conn);
	if (r < 0)
		return r;
	return conn->was_delivered ? CENOTE_OK : CENOTE_DONE;
}

const cenote_diag *
cenote_cancel_diag(const cenote_cancel *cancel)
{
	return cancel ? cenote_conn_diag(cancel->conn) : &cn_diag_none;
}

void
cenote_cancel_destroy(cenote_cancel *cancel)
{
	struct cenote_allocator mem;

	if (!cancel)
		return;
	mem = cancel->mem;
	if (cancel->followed)
		cn_cancel_let_go(cancel->followed);
	cenote_conn_destroy(cancel->conn);
	cnc_buf_finish(&cancel->opening);
	cnc_free(&mem, cancel);
}
