/* SPDX-License-Identifier: BSD-2-Clause */
#include "cancel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"

/*
 * Get a session: find cenoted, send the opening and the first message, and wait for the answer.
 *
 *     CONNECTING   a target is tried; or a pause between two tries (is_blocked)
 *     ATTACHING    connected: the opening is sent; HELLO, ATTACHED and READY are awaited
 *     READY
 *
 * On a connection that stays without a session, an attach begins with ATTACHING, and the requests are sent together
 * with ATTACH. If that connection ends, the attach begins anew with CONNECTING, unless a request was sent (end.c).
 *
 * The first attach (cenote_connect()) tries each target once. A re-attach tries them
 * until its time limit, because the usual reason is a restart of the daemon. That is
 * safe, since no request leaves before READY. A refusal by the pool itself is final in
 * both cases.
 */

#define RETRY_FIRST_MS 5u
#define RETRY_MAX_MS   1000u
/* How long to wait when the socket's queue of connections is full. */
#define QUEUE_FULL_MS  5u

static void
fill_attach(const cenote_conn *conn, struct cnp_attach *m)
{
	const struct cn_options *o = &conn->options;
	const char *program = cn_options_get(o, CN_OPTION_PROGRAM);

	memset(m, 0, sizeof(*m));
	m->user = cnp_str(cn_options_get(o, CN_OPTION_USER));
	m->database = cnp_str(cn_options_get(o, CN_OPTION_DATABASE));
	m->program = cnp_str(*program ? program : program_invocation_short_name);
	m->application = cnp_str(cn_options_get(o, CN_OPTION_APPLICATION_NAME));
	m->trace = cnp_str(cn_options_get(o, CN_OPTION_TRACEPARENT));
	m->pid = (uint32_t)conn->pid;
	m->flags = conn->attach.is_again ? CNP_ATTACH_AGAIN : 0;
	if (o->number[CN_OPTION_REATTACH] != CN_REATTACH_NO)
		m->flags |= CNP_ATTACH_STAYS | CNP_ATTACH_RESTORES | CNP_ATTACH_LISTENS;
	if (cn_attach_wanted_tls(conn) == CNP_TLS_NONE && cn_borrow_may(conn))
		m->flags |= CNP_ATTACH_BORROWS;
	/* The module at the other end of a loan can do neither. */
	if (conn->transport.loan)
		m->flags &= ~(uint32_t)(CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS |
					CNP_ATTACH_BORROWS);
	m->generation = conn->reattach.attaches;
	m->max_frame = o->number[CN_OPTION_MAX_FRAME];
	m->options = CNP_STR_NONE;
	m->carry = CNP_STR_NONE;
	if (conn->attach.is_again && conn->reattach.carry) {
		m->carry.p = conn->reattach.carry;
		m->carry.n = conn->reattach.carry_len;
	}
}

static void
fill_first(const cenote_conn *conn, struct cnp_msg *m)
{
	const struct cn_attach *a = &conn->attach;
	struct cnp_attach as;

	fill_attach(conn, &as);
	switch (a->kind) {
	case CNP_OPEN_RESUME:
		m->code = CNP_MSG_RESUME;
		m->as.resume.session = a->token.session;
		m->as.resume.key = a->token.key;
		m->as.resume.portal = a->token.portal;
		m->as.resume.pid = as.pid;
		m->as.resume.user = as.user;
		m->as.resume.program = as.program;
		m->as.resume.application = as.application;
		m->as.resume.max_frame = as.max_frame;
		break;
	case CNP_OPEN_CANCEL:
		m->code = CNP_MSG_CANCEL;
		m->as.cancel.session = a->token.session;
		m->as.cancel.key = a->token.key;
		m->as.cancel.request = a->cancel_request;
		break;
	case CNP_OPEN_STATUS:
		m->code = CNP_MSG_STATUS;
		m->as.status.what = cnp_str(a->what);
		m->as.status.user = as.user;
		break;
	default:
		m->code = CNP_MSG_ATTACH;
		m->as.attach = as;
		break;
	}
}

/* Statements are prepared and settings are made for one epoch: a session does not have those of
 * another epoch. */
static void
begin_epoch(cenote_conn *conn)
{
	conn->attach.is_restored = 0;
	/* 0 stands for "never". */
	if (++conn->reattach.epoch == 0)
		conn->reattach.epoch = 1;
}

/* A try has ended. What it queued before the requests is dropped, and the next try queues that again. */
static void
begin_anew(cenote_conn *conn)
{
	cnp_client_restart(&conn->session);
	cn_login_end(conn);
	conn->info.login = NULL;
	begin_epoch(conn);
}

/* The session options go with ATTACH. They are in `b`, which must last as long as the message. */
static int
put_options(cenote_conn *conn, struct cnp_attach *m, struct cnc_buf *b)
{
	const struct cn_pairs *list = &conn->reattach.options;
	int r = CENOTE_OK;

	for (uint32_t i = 0; i < list->n && r == CENOTE_OK; i++)
		r = cnp_pairs_put(b, list->list[i].name, list->list[i].value);
	if (r == CENOTE_OK && list->n > 0) {
		m->options.p = (const char *)cnc_buf_head(b);
		m->options.n = cnc_buf_len(b);
	}
	return r;
}

static int
too_long(cenote_conn *conn)
{
	return cn_fail(conn, CENOTE_ERR_LIMIT, CNC_SQLSTATE(LIMIT),
		"the options are too long to be sent: 16 kB in all");
}

/* Queue the opening, and what the waiting requests need before them. */
static int
open_session(cenote_conn *conn)
{
	struct cnp_opening o = {
		.version_min = CNP_VERSION_MIN,
		.version_max = CNP_VERSION_MAX,
		.kind = conn->attach.kind,
		.tls = cn_attach_wanted_tls(conn),
		.has_session = conn->attach.kind == CNP_OPEN_RESUME,
		.session = conn->attach.token.session,
	};
	const char *pool = cn_options_get(&conn->options, CN_OPTION_POOL);
	struct cnc_buf options;
	struct cnp_msg first;
	int r = CENOTE_OK;

	memcpy(o.pool, pool, strnlen(pool, sizeof(o.pool) - 1));
	cnc_buf_init(&options, &conn->mem, CNP_FRAME_MAX_AUTH);
	fill_first(conn, &first);
	if (first.code == CNP_MSG_ATTACH)
		r = put_options(conn, &first.as.attach, &options);
	if (r < 0) {
		cnc_buf_finish(&options);
		return cn_nomem(conn);
	}
	conn->session.max_frame = (size_t)conn->options.number[CN_OPTION_MAX_FRAME];
	if (*cn_options_get(&conn->options, CN_OPTION_PASSWORD))
		conn->session.may_log_in = 1;
	/* Pieces of long values also wait, for their request. */
	r = cnp_client_open(&conn->session, &o, &first,
		conn->pipeline.n > conn->pipeline.n_finished ||
			(conn->attach.is_again && conn->session.loose > 0));
	cnc_buf_finish(&options);
	if (r == CENOTE_ERR_LIMIT)
		return too_long(conn);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
	if (!conn->attach.is_again || conn->attach.is_restored)
		return CENOTE_OK;
	r = cn_session_restore(conn);
	if (r == CENOTE_OK)
		conn->attach.is_restored = 1;
	else
		begin_anew(conn);
	return r;
}

static int
find_targets(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;

	a->at = 0;
	a->tried[0] = '\0';
	if (a->is_fixed)
		return CENOTE_OK;
	return cn_targets_build(&a->targets, &conn->options, &conn->mem, &conn->diag.d);
}

static int64_t
limit(const cenote_conn *conn, int option)
{
	uint64_t ms = conn->options.number[option];

	return ms == 0 ? 0 : cn_now_ms() + (int64_t)ms;
}

/* Wait before the next try. The pause grows, and is partly random, so that clients that lost their
 * daemon together do not come back together. */
static void
retry_later(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;
	int64_t now = cn_now_ms();
	uint64_t delay = RETRY_FIRST_MS << (a->n_tries < 8 ? a->n_tries : 8);
	uint64_t noise = ((uint64_t)now ^ (uint64_t)conn->pid * 40503u ^
				 (uint64_t)(uintptr_t)conn >> 6) *
			 UINT64_C(0x9e3779b97f4a7c15);

	if (delay > RETRY_MAX_MS)
		delay = RETRY_MAX_MS;
	delay = delay / 2 + (noise >> 32) % (delay + 1);
	a->n_tries++;
	a->retry_at = now + (int64_t)delay;
	a->is_blocked = 1;
}

/* Queue ATTACH for a connection that stays. Members that the pool knows already are left empty. */
static int
open_kept(cenote_conn *conn)
{
	struct cnp_msg m = { .code = CNP_MSG_ATTACH };
	struct cnp_attach *as = &m.as.attach;
	struct cnc_buf options;
	int r;

	cnc_buf_init(&options, &conn->mem, CNP_FRAME_MAX_AUTH);
	fill_attach(conn, as);
	as->user = CNP_STR_NONE;
	as->database = CNP_STR_NONE;
	as->program = CNP_STR_NONE;
	as->application = CNP_STR_NONE;
	r = put_options(conn, as, &options);
	if (r == CENOTE_OK)
		r = cnp_client_open_kept(&conn->session, &m);
	cnc_buf_finish(&options);
	if (r == CENOTE_ERR_LIMIT)
		return cn_attach_fail(conn, too_long(conn));
	return r < 0 ? cn_nomem(conn) : CENOTE_OK;
}

/* Clear what the last attach has left. */
static void
begin_attempt(cenote_conn *conn)
{
	conn->is_write_broken = 0;
	conn->has_event = 0;
	conn->loss.has_setup_error = 0;
	conn->loss.is_refused = 0;
	begin_epoch(conn);
}

/* The connection stays: ask for the next session there. */
static int
begin_kept(cenote_conn *conn)
{
	int r;

	conn->attach.kind = CNP_OPEN_ATTACH;
	conn->attach.is_again = 1;
	r = open_kept(conn);
	if (r < 0)
		return r;
	begin_attempt(conn);
	r = cn_session_restore(conn);
	if (r < 0) {
		/* The next call begins anew. */
		(void)cn_stay_over(conn, 0);
		return r;
	}
	conn->attach.is_restored = 1;
	conn->attach.is_blocked = 0;
	conn->attach.deadline = limit(conn, CN_OPTION_REATTACH_TIMEOUT);
	cn_move(conn, CN_ATTACHING);
	return CENOTE_OK;
}

/* The pool has lent its server's socket: attach there. What is known of the pool and the login stays true. */
static int
begin_lent(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;
	int r;

	a->kind = CNP_OPEN_ATTACH;
	a->is_again = 1;
	a->is_blocked = 0;
	begin_attempt(conn);
	r = open_session(conn);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? r : cn_attach_fail(conn, r);
	a->deadline = limit(conn, CN_OPTION_REATTACH_TIMEOUT);
	conn->transport.is_lent_anew = 0;
	cn_move(conn, CN_ATTACHING);
	return CENOTE_OK;
}

int
cn_attach_begin(cenote_conn *conn, uint8_t kind, int is_again)
{
	struct cn_attach *a = &conn->attach;
	int r;

	if (cn_is_staying(conn))
		return begin_kept(conn);
	if (cn_is_lent_anew(conn))
		return begin_lent(conn);
	if (!is_again)
		cn_named_clear(conn);
	a->kind = kind;
	a->is_again = is_again != 0;
	a->is_blocked = 0;
	a->retry_at = 0;
	conn->reattach.is_fruitless = conn->reattach.is_fruitless && is_again;
	if (!conn->reattach.is_fruitless)
		a->n_tries = 0;
	r = find_targets(conn);
	/* A later try may find an address that cannot be found now. */
	if (r < 0 && (!is_again || r != CENOTE_ERR_CONN))
		return r;
	r = cn_attach_check_tls(conn);
	if (r < 0)
		return r;
	a->deadline = limit(
		conn, is_again ? CN_OPTION_REATTACH_TIMEOUT : CN_OPTION_CONNECT_TIMEOUT);
	if (kind == CNP_OPEN_ATTACH && cn_attach_wanted_tls(conn) == CNP_TLS_NONE)
		cn_borrow_look(conn);
	conn->info.login = NULL;
	begin_attempt(conn);
	cn_move(conn, CN_CONNECTING);
	/* A pool that shuts down may take a session back at once, again and again. Then wait before
	 * the next try. */
	if (conn->reattach.is_fruitless)
		retry_later(conn);
	return CENOTE_OK;
}

int
cn_attach_fail(cenote_conn *conn, int status)
{
	cn_transport_close(&conn->transport);
	cn_login_end(conn);
	if (conn->attach.is_again) {
		/* The program has lost its session only now, because the re-attach failed. */
		if (!cenote_status_is_fatal(status))
			status = CENOTE_ERR_CONN;
		return cn_session_failed(conn, status);
	}
	cnp_client_restart(&conn->session);
	cn_move(conn, CN_CLOSED);
	return status;
}

int
cn_attach_timeout(cenote_conn *conn)
{
	const struct cn_attach *a = &conn->attach;
	int option = a->is_again ? CN_OPTION_REATTACH_TIMEOUT : CN_OPTION_CONNECT_TIMEOUT;
	char target[CN_TARGET_TEXT_MAX] = "cenoted";

	if (a->at < a->targets.n)
		cn_target_text(&a->targets.list[a->at], target);
	if (cn_attaches_kept(conn) && cn_outcome_is_unknown(conn)) {
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"%s: no answer within %s (%s) to requests that were sent: "
			"whether "
			"they were committed is not known",
			target, cn_option_name(option),
			cn_options_get(&conn->options, option));
		return cn_attach_fail(conn, CENOTE_ERR_CONN);
	}
	cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CONNECT_TIMEOUT),
		"%s: no session of pool \"%s\" within %s (%s)%s%s", target,
		cn_options_get(&conn->options, CN_OPTION_POOL), cn_option_name(option),
		cn_options_get(&conn->options, option), a->tried[0] ? "; " : "",
		a->tried);
	return cn_attach_fail(conn, CENOTE_ERR_TIMEOUT);
}

static void
note_tried(cenote_conn *conn, int error)
{
	struct cn_attach *a = &conn->attach;
	char target[CN_TARGET_TEXT_MAX];
	size_t n = strlen(a->tried);

	cn_target_text(&a->targets.list[a->at], target);
	(void)snprintf(a->tried + n, sizeof(a->tried) - n, "%s%s: %s", n > 0 ? ", " : "",
		target, cn_errno_text(error));
}

static int
unreachable(cenote_conn *conn, int error)
{
	const struct cn_attach *a = &conn->attach;
	char why[CN_ABSENT_MAX];

	if (cn_absent_explain(&a->targets, why)) {
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CANNOT_CONNECT),
			"there is no pool \"%s\": %s (tried %s)",
			cn_options_get(&conn->options, CN_OPTION_POOL), why, a->tried);
		return cn_attach_fail(conn, CENOTE_ERR_CONN);
	}
	if (*why == '\0' && error == ECONNREFUSED)
		(void)snprintf(why, sizeof(why),
			"is cenoted running there, with a listen line for that address?");
	cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(CANNOT_CONNECT),
		"cenoted is not reachable at %s%s%s", a->tried, *why != '\0' ? "; " : "",
		why);
	return cn_attach_fail(conn, CENOTE_ERR_CONN);
}

/* This target failed: try the next one, or try all targets again later, or give up. */
static int
next_target(cenote_conn *conn, int error)
{
	struct cn_attach *a = &conn->attach;

	cn_transport_close(&conn->transport);
	if (a->at < a->targets.n) {
		note_tried(conn, error);
		a->at++;
	}
	if (a->at < a->targets.n)
		return CENOTE_OK;
	if (!a->is_again)
		return unreachable(conn, error);
	retry_later(conn);
	return CENOTE_OK;
}

int
cn_attach_lost(cenote_conn *conn, int error)
{
	/* The loan ended at once. No request was sent to it: attach at the pool again. */
	if (conn->transport.loan) {
		cn_session_over(conn);
		return CENOTE_OK;
	}
	conn->is_write_broken = 0;
	conn->has_event = 0;
	begin_anew(conn);
	cn_move(conn, CN_CONNECTING);
	return next_target(conn, error);
}

static int
time_left(const cenote_conn *conn)
{
	int64_t left;

	if (conn->attach.deadline == 0)
		return 0;
	/* Never return 0, which would mean no limit. The caller finds out that the time has passed. */
	left = conn->attach.deadline - cn_now_ms();
	return left < 1 ? 1 : (int)left;
}

static void
wait_until(struct cn_attach *a, int64_t at)
{
	a->retry_at = at;
	a->is_blocked = 1;
}

static int
connect_target(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;
	const struct cn_target *t = &a->targets.list[a->at];
	const struct sockaddr *addr = (const struct sockaddr *)(const void *)&t->addr;
	int may_wait = !conn->nonblocking;
	int r;

	if (t->addr.ss_family != AF_UNIX)
		return cn_tcp_open(&conn->transport, addr, t->len);
	r = cn_unix_open(
		&conn->transport, addr, t->len, may_wait, may_wait ? time_left(conn) : 0);
	if (r == CENOTE_AGAIN)
		wait_until(a, cn_now_ms() + QUEUE_FULL_MS);
	return r;
}

/* The pause has ended. Look up the targets again: addresses may have changed. */
static int
begin_round(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;
	int r;

	r = a->at < a->targets.n ? CENOTE_OK /* only the queue was full */
				 : find_targets(conn);
	if (r == CENOTE_ERR_CONN) {
		a->targets.n = 0;
		retry_later(conn);
		return CENOTE_AGAIN;
	}
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? r : cn_attach_fail(conn, r);
	a->is_blocked = 0;
	return CENOTE_OK;
}

int
cn_attach_step(cenote_conn *conn)
{
	struct cn_attach *a = &conn->attach;
	int r;

	if (a->is_blocked) {
		if (cn_now_ms() < a->retry_at)
			return CENOTE_AGAIN;
		r = begin_round(conn);
		if (r != CENOTE_OK)
			return r;
	}
	if (a->at >= a->targets.n) {
		retry_later(conn);
		return CENOTE_AGAIN;
	}
	/* Queue the opening before there is a connection, so that the first write sends all of it. */
	if (cnp_client_state(&conn->session) == CNP_CLIENT_IDLE) {
		r = open_session(conn);
		if (r < 0)
			return r == CENOTE_ERR_NOMEM ? r : cn_attach_fail(conn, r);
	}
	if (conn->transport.fd >= 0)
		r = cn_tcp_finish(&conn->transport);
	else
		r = connect_target(conn);
	if (r == CENOTE_AGAIN)
		return r;
	if (r == CENOTE_ERR_TIMEOUT)
		return cn_attach_timeout(conn);
	if (r < 0)
		return next_target(conn, conn->transport.error);
	cn_move(conn, CN_ATTACHING);
	return CENOTE_OK;
}

/* The pool has refused the attach. */
static int
on_error(cenote_conn *conn, const struct cnp_event *event)
{
	struct cnc_diag *d = &conn->diag.d;
	const struct cnp_str *fields = &event->msg.as.error.fields;

	if (cnc_diag_set_fields(d, (const uint8_t *)fields->p, fields->n) < 0)
		return CENOTE_ERR_PROTOCOL;
	cn_login_refused(conn);
	if (conn->transport.loan) {
		cn_borrow_refused(conn);
		cn_session_over(conn);
		return CENOTE_OK;
	}
	/* The pool shuts down, but its successor may let us in. */
	if (conn->attach.is_again && strcmp(d->sqlstate, CNC_SQLSTATE(SHUTDOWN)) == 0 &&
		!cnp_client_is_listening(&conn->session)) {
		if (!conn->session.is_kept)
			return cn_attach_lost(conn, ECONNREFUSED);
		cn_session_over(conn);
		return CENOTE_OK;
	}
	return cn_attach_fail(conn, cn_attach_status(d->sqlstate));
}

static int
on_hello(cenote_conn *conn, const struct cnp_hello *hello)
{
	int r;

	if (hello->tls && !conn->transport.tls) {
		r = cn_attach_begin_tls(conn);
		return r == CENOTE_OK ? CENOTE_AGAIN : r;
	}
	if (hello->auth == CNP_AUTH_NONE)
		return CENOTE_OK;
	return cn_login_begin(conn, hello->mechanisms.p);
}

/* CANCEL and STATUS are answered without a session. */
static int
on_one_shot(cenote_conn *conn, const struct cnp_event *event)
{
	int r = cn_login_accepted(conn);

	if (r < 0)
		return r;
	if (event->msg.code == CNP_MSG_CANCELLED) {
		conn->was_delivered = event->msg.as.cancelled.delivered;
		cn_close(conn);
		return CENOTE_OK;
	}
	return cn_event(conn, event);
}

static int
on_attached(cenote_conn *conn, const struct cnp_event *event)
{
	int r = cn_login_accepted(conn);

	if (r < 0)
		return r;
	r = cn_info_attached(conn, event);
	return r == CENOTE_ERR_CONN ? cn_attach_fail(conn, r) : r;
}

int
cn_attach_event(cenote_conn *conn, const struct cnp_event *event)
{
	int r;

	switch (event->msg.code) {
	case CNP_MSG_HELLO:
		return on_hello(conn, &event->msg.as.hello);
	case CNP_MSG_ERROR:
		return on_error(conn, event);
	case CNP_MSG_AUTH:
		return cn_login_data(conn, &event->msg.as.auth.data);
	case CNP_MSG_ATTACHED:
		return on_attached(conn, event);
	case CNP_MSG_READY:
		r = cn_event(conn, event);
		if (r < 0)
			return r;
		conn->reattach.attaches++;
		conn->reattach.has_served = 0;
		conn->reattach.is_fruitless = 0;
		cn_move(conn, CN_READY);
		cn_borrow_expect(conn);
		cn_cancel_refresh(conn);
		return CENOTE_OK;
	case CNP_MSG_NOTICE:
	case CNP_MSG_NOTIFICATION:
	case CNP_MSG_YIELD:
		return cn_event(conn, event);
	default:
		if (conn->attach.kind == CNP_OPEN_CANCEL ||
			conn->attach.kind == CNP_OPEN_STATUS)
			return on_one_shot(conn, event);
		return CENOTE_ERR_PROTOCOL;
	}
}
