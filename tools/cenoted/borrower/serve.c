/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs on the fibre of a loan: it answers the client as a worker does, from the opening to YIELD. Between two
 * requests, the page says whether the session is still the client's: before anything is sent to the server, the page
 * must be claimed. loan.c enters the fibre.
 */
#include "borrower.h"

#include <string.h>

#include "core/sqlstate.h"

/* Replies of a pipeline go to the client once they have this many bytes. */
#define FLUSH_BYTES 32768u

/* ---- the end ---- */

void
cnd_loan_explain_end(const struct cn_loan *l, struct cnc_diag *diag)
{
	char words[sizeof(l->page->words)];
	char sqlstate[sizeof(l->page->sqlstate)];

	memcpy(words, l->page->words, sizeof(words));
	words[sizeof(words) - 1] = '\0';
	memcpy(sqlstate, l->page->sqlstate, sizeof(sqlstate));
	sqlstate[sizeof(sqlstate) - 1] = '\0';
	cnc_diag_set(diag,
		strlen(sqlstate) == sizeof(sqlstate) - 1 ? sqlstate
							 : CNC_SQLSTATE(IDLE_TIMEOUT),
		"%s", words[0] != '\0' ? words : "the pool has taken its session back");
}

/* The worker has ended the loan: send the client back to the pool. At a time limit, the client gets an error. */
static int
part(struct cn_loan *l, const struct cnp_str *carry)
{
	uint32_t reason = atomic_load(&l->page->reason);
	struct cnc_diag *diag = &l->serving.diag;

	if (reason > CNP_YIELD_IDLE)
		reason = CNP_YIELD_CONTENDED;
	if (reason != 0 &&
		cnp_server_yield(&l->server, (uint8_t)reason, carry) == CENOTE_OK)
		return CENOTE_OK;
	cnd_loan_explain_end(l, diag);
	return cnp_server_error(&l->server, diag);
}

static int
part_from_session(struct cn_loan *l)
{
	struct cnd_state state;

	cnd_request_state(&l->serving, &state);
	/* what a function may have left: the worker has asked the server before it ended the loan */
	state.pins &= ~(uint32_t)CENOTE_PIN_FUNCTION;
	if (state.tx == CENOTE_TX_IDLE && state.pins == 0)
		return part(l, &state.carry);
	cnd_loan_explain_end(l, &l->serving.diag);
	return cnp_server_error(&l->server, &l->serving.diag);
}

/* ---- the beginning ---- */

/* Wait for the opening and the ATTACH behind it. */
static int
await_attach(struct cn_loan *l, struct cnp_request *ret_request)
{
	bool has_opening = false;
	int r;

	for (;;) {
		r = cnp_server_next(&l->server, ret_request);
		if (r < 0 || (r == CENOTE_OK && has_opening))
			break;
		has_opening |= r == CENOTE_OK;
		if (r == CENOTE_AGAIN)
			cnd_loan_await(l, CND_LOAN_FOR_CLIENT, 0);
	}
	if (r < 0 || ret_request->msg.code == CNP_MSG_ATTACH)
		return r;
	cnc_diag_set(&l->serving.diag, CNC_SQLSTATE(PROTOCOL),
		"a session that was lent can only be attached to");
	(void)cnp_server_error(&l->server, &l->serving.diag);
	return CENOTE_ERR_PROTOCOL;
}

static int
say_failed(struct cn_loan *l, int r)
{
	struct cnd_serving *s = &l->serving;

	s->is_lost = r == CENOTE_ERR_CONN;
	if (s->is_lost && cnd_page_is_ended(l->page))
		cnd_loan_explain_end(l, &s->diag);
	(void)cnp_server_error(&l->server, &s->diag);
	return r;
}

/* Queue HELLO, ATTACHED and READY. */
static int
greet(struct cn_loan *l)
{
	struct cnp_attached m = l->facts.attached;
	struct cnd_state state = { .tx = CENOTE_TX_IDLE, .carry = CNP_STR_NONE };
	struct cnd_serving *s = &l->serving;
	int r = cnp_server_hello(&l->server, 0, CNP_AUTH_NONE, NULL);

	m.features &= ~(uint64_t)CNP_FEATURE_SUSPEND;
	m.parameters = (struct cnp_str){ (const char *)cnc_buf_head(&s->parameters),
		cnc_buf_len(&s->parameters) };
	if (r == CENOTE_OK)
		r = cnp_server_attached(&l->server, &m);
	if (r == CENOTE_OK && l->is_claimed)
		cnd_request_take_state(s, &state);
	s->held.is_ready = true;
	return r < 0 ? r
		     : cnp_server_ready(&l->server, state.tx, state.pins, &state.carry);
}

static int
attach(struct cn_loan *l)
{
	struct cnd_serving *s = &l->serving;
	struct cnp_request req;
	int r = await_attach(l, &req);

	if (r < 0)
		return r;
	l->restores = (req.msg.as.attach.flags & CNP_ATTACH_RESTORES) != 0;
	cnd_request_forget_client(s);
	cnc_diag_clear(&s->diag);
	s->ops->begin(s, NULL);
	l->is_claimed = cnd_page_claim(l->page);
	if (l->is_claimed)
		r = cnd_serving_attach(s, &req.msg.as.attach);
	if (r < 0)
		return say_failed(l, r);
	r = greet(l);
	/* The loan is over already. The client keeps what it wants to carry to its next session. */
	if (r == CENOTE_OK && !l->is_claimed)
		r = part(l, &req.msg.as.attach.carry);
	return r;
}

/* ---- the conversation ---- */

/* Ask the server what the session holds, if the worker waits for it and the server can tell. */
static int
settle(struct cn_loan *l)
{
	int r;

	if (!cnd_request_may_settle(&l->serving) || atomic_load(&l->page->reason) == 0)
		return CENOTE_OK;
	/* a client that has READY would not come back until its next request */
	l->is_withheld = true;
	r = cnd_request_settle(&l->serving);
	l->is_withheld = false;
	return r;
}

static bool
is_held(const struct cn_loan *l)
{
	const struct cnd_serving *s = &l->serving;

	return s->held.tx != CENOTE_TX_IDLE || s->held.pins != 0 ||
	       !cnp_server_can_yield(&l->server);
}

/* No request runs: the worker may take the session back. Wait for the client, or for the server. */
static int
rest(struct cn_loan *l)
{
	int r = settle(l);

	if (r < 0)
		return r;
	l->is_claimed = false;
	if (cnd_page_release(l->page, is_held(l)))
		cnd_loan_await(l, CND_LOAN_FOR_CLIENT, 0);
	return CENOTE_OK;
}

/* Take the session for work with the server, and hear the server before the client: then no request is read for a
 * session that the server has ended. While requests follow each other without a pause, this costs no system call. */
static int
resume(struct cn_loan *l)
{
	uint64_t rested =
		atomic_load_explicit(&l->page->changed_ms, memory_order_relaxed);
	bool is_asked = l->is_asked;

	l->is_asked = false;
	l->is_claimed = cnd_page_claim(l->page);
	if (!l->is_claimed)
		return part_from_session(l);
	if (!is_asked && atomic_load_explicit(
				 &l->page->changed_ms, memory_order_relaxed) == rested)
		return CENOTE_OK;
	return l->serving.backend->fd(l->serving.session) >= 0
		       ? cnd_request_idle(&l->serving)
		       : CENOTE_OK;
}

static int
run_one(struct cn_loan *l, const struct cnp_request *req)
{
	const uint8_t *bytes;
	int r = cnd_request_run(&l->serving, req);

	return r >= 0 && cnp_server_output(&l->server, &bytes) >= FLUSH_BYTES
		       ? l->serving.ops->flush(&l->serving)
		       : r;
}

static void
converse(struct cn_loan *l)
{
	struct cnp_request req;
	int r = attach(l);

	while (r >= 0 && cnp_server_state(&l->server) < CNP_SERVER_CLOSING) {
		if (!l->is_claimed) {
			r = resume(l);
			continue;
		}
		r = cnp_server_next(&l->server, &req);
		if (r == CENOTE_OK)
			r = run_one(l, &req);
		else if (r == CENOTE_AGAIN)
			r = rest(l);
	}
	if (r >= 0 && l->is_claimed && !l->serving.is_lost)
		(void)cnd_page_release(l->page, is_held(l));
	cnd_sink_abort(&l->serving);
	(void)l->serving.ops->flush(&l->serving);
}

void
cnd_loan_serve(void *loan)
{
	struct cn_loan *l = loan;
	struct cnd_serving *s = &l->serving;

	l->status = s->backend->borrow(&s->host, l->own_fd,
		(const uint8_t *)l->facts.backend.p, l->facts.backend.n, &s->session,
		&s->diag);
	if (l->status == CENOTE_OK)
		converse(l);
	l->is_over = true;
}
