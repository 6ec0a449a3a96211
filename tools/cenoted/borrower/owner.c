/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loan does for the code that serves requests (struct cnd_serving_ops), and for the backend (struct
 * cnd_host). Every wait leaves the fibre. Counters and states go to the page.
 */
#include "borrower.h"

#include <poll.h>
#include <string.h>

#include "../backends/common/clock.h"
#include "core/sqlstate.h"

/* ---- waiting ---- */

static int
flush(struct cnd_serving *s)
{
	const uint8_t *bytes;

	while (cnp_server_output(s->server, &bytes) > 0)
		cnd_loan_await(s->owner, CND_LOAN_FOR_ROOM, 0);
	return CENOTE_OK;
}

static int
is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return fd >= 0 && poll(&p, 1, 0) > 0 ? (int)(unsigned short)p.revents : 0;
}

static int
await_piece(struct cnd_serving *s, int server_fd)
{
	if (is_ready(server_fd, POLLIN))
		return CENOTE_AGAIN;
	cnd_loan_await(s->owner, CND_LOAN_FOR_CLIENT, 0);
	return CENOTE_OK;
}

static int
host_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	const struct cn_loan *l = host->user;

	(void)ret_diag;
	return l->serving.stopped;
}

/* A time limit counts when the fibre is entered after it: there are no timers here. */
static int
wait_until(struct cn_loan *l, int fd, short events, int timeout_ms)
{
	int64_t until = cnd_clock_ms() + timeout_ms;
	int r;

	/* outside of the fibre, the loan is being closed */
	while ((r = is_ready(fd, events)) == 0 && l->fibre.is_inside &&
		cnd_clock_ms() < until)
		cnd_loan_await(l, CND_LOAN_FOR_SERVER, events);
	return r;
}

/* There is no memory for the frame in which the result goes on. So no answer is possible. */
static int
give_up(struct cn_loan *l, struct cnc_diag *ret_diag)
{
	cnc_diag_set(ret_diag, CNC_SQLSTATE(NO_MEMORY), "out of memory");
	l->serving.is_gone = true;
	l->serving.stopped = CENOTE_ERR_CONN;
	return l->serving.stopped;
}

static int
host_wait(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct cn_loan *l = host->user;

	if (l->serving.stopped != 0)
		return l->serving.stopped;
	/* The client may have what is complete: the server may take long for the rest. */
	if (l->serving.result.is_in_rows && cnd_sink_flush(&l->serving) < 0)
		return give_up(l, ret_diag);
	if (timeout_ms >= 0 || fd != l->own_fd)
		return wait_until(l, fd, events, timeout_ms);
	atomic_store_explicit(
		&l->page->last, l->serving.ahead.last, memory_order_relaxed);
	/* The client enters the fibre when the socket has news. If it has none, the backend finds that out by itself. */
	cnd_loan_await(l, CND_LOAN_FOR_SERVER, events);
	return events;
}

static int
host_pause(const struct cnd_host *host, int fd, short events, int timeout_ms)
{
	return wait_until(host->user, fd, events, timeout_ms);
}

__attribute__((format(printf, 3, 4))) static void
host_log(const struct cnd_host *host, int level, const char *format, ...)
{
	(void)host;
	(void)level;
	(void)format;
}

static int
host_can_log_in(const struct cnd_host *host)
{
	(void)host;
	return 0;
}

static int
host_restores_names(const struct cnd_host *host)
{
	const struct cn_loan *l = host->user;

	return l->restores;
}

/* ---- requests ---- */

static void
long_result(struct cnd_serving *s)
{
	(void)s;
}

static void
begin(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cn_loan *l = s->owner;

	s->stopped = 0;
	if (req == NULL)
		return;
	atomic_store_explicit(&l->page->last, req->number, memory_order_relaxed);
	atomic_store_explicit(&l->page->request, req->number, memory_order_relaxed);
	cnd_page_stamp(l->page);
}

static void
end(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cn_loan *l = s->owner;

	(void)req;
	/* a cancel of this request must not hit the next one */
	cnd_page_await_worker(l->page);
	atomic_fetch_add_explicit(&l->page->requests, 1, memory_order_relaxed);
}

/* The worker cancels at the server when query_timeout has passed. The client shall learn that, as from a worker. */
static void
name_limit(struct cn_loan *l)
{
	struct cnc_diag *diag = &l->serving.diag;
	uint32_t request = atomic_load_explicit(&l->page->request, memory_order_relaxed);

	if (request != 0 && atomic_load(&l->page->timed_out) == request &&
		strcmp(diag->sqlstate, CNC_SQLSTATE(CANCELED)) == 0)
		cnc_diag_set(diag, CNC_SQLSTATE(CANCELED), CND_TEXT_LIMIT_PASSED,
			"query_timeout");
}

static void
failed(struct cnd_serving *s)
{
	struct cn_loan *l = s->owner;

	atomic_fetch_add_explicit(&l->page->errors, 1, memory_order_relaxed);
	name_limit(l);
}

/* If the worker has shut the socket down, say why. */
static void
lost(struct cnd_serving *s, const char *in)
{
	struct cn_loan *l = s->owner;

	(void)in;
	if (cnd_page_is_ended(l->page))
		cnd_loan_explain_end(l, &s->diag);
}

static void
publish(struct cnd_serving *s, bool is_held)
{
	struct cn_loan *l = s->owner;

	(void)is_held;
	atomic_store_explicit(&l->page->tx, s->held.tx, memory_order_relaxed);
	atomic_store_explicit(&l->page->pins, s->held.pins, memory_order_relaxed);
	atomic_store_explicit(
		&l->page->left, s->backend->left(s->session), memory_order_relaxed);
}

/* ---- facts of the session ---- */

static const struct cnd_info *
info(struct cnd_serving *s)
{
	struct cn_loan *l = s->owner;

	s->backend->info(s->session, &l->info);
	return &l->info;
}

static void
parameter_changed(struct cnd_serving *s)
{
	(void)s;
}

int
cnd_loan_take_info(struct cn_loan *l)
{
	const struct cnd_info *facts = info(&l->serving);
	struct cnc_buf *b = &l->serving.parameters;
	int r = CENOTE_OK;

	cnc_buf_clear(b, CND_PARAMETERS_MAX);
	for (size_t i = 0; i < facts->n_parameters && r == CENOTE_OK; i++)
		r = cnp_pairs_put(
			b, facts->parameters[i].key, facts->parameters[i].value);
	/* the rest is left out, as a worker does */
	return r == CENOTE_ERR_LIMIT ? CENOTE_OK : r;
}

static void
facts_changed(struct cnd_serving *s, bool is_new)
{
	if (is_new)
		(void)cnd_loan_take_info(s->owner);
}

/* ---- what only a worker can do ---- */

static int
log_in_again(struct cnd_serving *s)
{
	cnc_diag_set(&s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"only a new login resets this session, and only the pool can log in");
	return CENOTE_ERR_CONN;
}

static int
suspend(struct cnd_serving *s, const struct cnp_suspend *m)
{
	(void)m;
	cnc_diag_set(&s->diag, CNC_SQLSTATE(UNSUPPORTED),
		"a session that was lent to its client cannot be suspended");
	return CENOTE_ERR_UNSUPPORTED;
}

static const struct cnd_serving_ops loan_ops = {
	.flush = flush,
	.await_piece = await_piece,
	.long_result = long_result,
	.begin = begin,
	.end = end,
	.failed = failed,
	.lost = lost,
	.publish = publish,
	.info = info,
	.parameter_changed = parameter_changed,
	.facts_changed = facts_changed,
	.log_in_again = log_in_again,
	.suspend = suspend,
};

void
cnd_loan_own(struct cn_loan *l, const struct cnd_backend *backend)
{
	l->serving = (struct cnd_serving){ .ops = &loan_ops,
		.owner = l,
		.backend = backend,
		.server = &l->server,
		.pool = l->facts.attached.pool.p,
		.max_row = l->facts.max_row,
		.host = { .mem = &l->ledger.mem,
			.user = l,
			.interrupted = host_interrupted,
			.wait = host_wait,
			.pause = host_pause,
			.log = host_log,
			.can_log_in = host_can_log_in,
			.restores_names = host_restores_names } };
	cnd_serving_init(&l->serving);
}
