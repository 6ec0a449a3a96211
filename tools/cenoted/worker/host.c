/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the worker does for its backend (struct cnd_host): wait for the server, and say when to stop.
 * The checks that need no system call are cheap enough to make often. It owns w->stop. The backends
 * call it; it calls the sink and client files.
 */
#include "worker.h"

#include "core/sqlstate.h"
#include "loop.h"
#include "shared/log.h"

/* How often to make the checks that cost a system call. */
#define LOOK_MS   20
/* How long replies that are ready wait for more from the server. */
#define LINGER_MS 5
/* How long the server may take when the worker is about to end. */
#define ENDING_MS 2000

void
cnd_host_begin(struct cnd_worker *w, int64_t limit_ms, const char *limit)
{
	struct cnd_worker_stop *s = &w->stop;

	w->serving.stopped = 0;
	s->is_cancelled = false;
	s->is_impatient = false;
	s->until_ms = limit_ms > 0 ? cnd_now_ms() + limit_ms : CND_NEVER;
	s->option = limit;
}

void
cnd_host_begin_service(struct cnd_worker *w)
{
	cnd_host_begin(w, w->config->login_timeout_ms, "login_timeout");
}

static int
stop(struct cnd_worker *w, struct cnc_diag *diag, int status, const char *sqlstate,
	const char *why)
{
	cnc_diag_set(diag, sqlstate, "%s", why);
	w->serving.stopped = status;
	return status;
}

int
cnd_host_client_gone(struct cnd_worker *w, struct cnc_diag *diag)
{
	w->serving.is_gone = true;
	return stop(w, diag, CENOTE_ERR_CONN, CNC_SQLSTATE(CONNECTION_LOST),
		"the client has gone");
}

/* Shorten the limit: a worker that shall end and has no client does not wait long for its server. */
static void
lose_patience(struct cnd_worker *w)
{
	int64_t soon = cnd_now_ms() + ENDING_MS;

	if (w->stop.until_ms > soon && !w->stop.is_impatient)
		w->stop.until_ms = soon;
	w->stop.is_impatient = true;
}

/* The checks that need no system call. */
static int
look(struct cnd_worker *w, struct cnc_diag *diag)
{
	/* between clients: a reset ends soon, but a login may take long */
	uint32_t order = w->serving.session == NULL && w->client.fd < 0 ? CND_ORDER_RELOAD
									: CND_ORDER_NOW;

	if (w->serving.stopped != 0)
		return w->serving.stopped;
	if (w->client.fd < 0 && cnd_worker_order(w) != CND_ORDER_NONE)
		lose_patience(w);
	if (cnd_worker_order(w) >= order)
		return stop(w, diag, CENOTE_ERR_SERVER, CNC_SQLSTATE(SHUTDOWN),
			cnd_worker_why_now(w));
	w->stop.is_cancelled =
		w->client.fd >= 0 && cnd_slot_take_cancel(w->slot, w->serving.ahead.last);
	if (w->stop.is_cancelled)
		return stop(w, diag, CENOTE_ERR_SERVER, CNC_SQLSTATE(CANCELED),
			"canceled on the client's request");
	return CENOTE_OK;
}

static int
look_at_clock(struct cnd_worker *w, int64_t now, struct cnc_diag *diag)
{
	if (now < w->stop.until_ms)
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(CANCELED), CND_TEXT_LIMIT_PASSED, w->stop.option);
	w->serving.stopped = CENOTE_ERR_SERVER;
	return w->serving.stopped;
}

int
cnd_host_look(struct cnd_worker *w, struct cnc_diag *diag)
{
	int r = look(w, diag);

	if (r == CENOTE_OK && w->stop.until_ms != CND_NEVER)
		r = look_at_clock(w, cnd_now_ms(), diag);
	return r;
}

static int
host_is_cancelled(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;

	return w->stop.is_cancelled;
}

static int
host_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct cnd_worker *w = host->user;
	int64_t now;
	int r;

	if (w->seat != NULL)
		cnd_seat_breathe(w->seat);
	r = look(w, ret_diag);
	if (r < 0)
		return r;
	now = cnd_now_ms();
	if (now - w->stop.looked_ms < LOOK_MS)
		return CENOTE_OK;
	w->stop.looked_ms = now;
	r = look_at_clock(w, now, ret_diag);
	if (r == CENOTE_OK && w->client.fd >= 0 && cnd_client_has_gone(&w->client))
		r = cnd_host_client_gone(w, ret_diag);
	return r;
}

static int
has_replies(const struct cnd_worker *w)
{
	const uint8_t *bytes;

	return w->client.fd >= 0 && cnp_server_output(&w->client.server, &bytes) > 0;
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* More rows are awaited after those that came. The batch may be empty: PostgreSQL from version 17 on sends a row of more than 8 kB
 * in one piece, which fills a batch. Behind a single such row there may be only the end of the result. */
static bool
is_long_result(const struct cnd_serving_result *r)
{
	return r->is_in_rows && (r->batch.n_rows > 0 || r->n_rows > 1);
}

/* In the common case this is one system call: the clock is read only if there is a time limit or a
 * reply is ready. */
static int
host_wait(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct cnd_worker *w = host->user;
	struct pollfd fds[2] = { { .fd = fd, .events = events },
		{ .fd = w->client.fd, .events = POLLRDHUP } };
	int64_t until = timeout_ms < 0 ? CND_NEVER : cnd_now_ms() + timeout_ms;
	int64_t linger = has_replies(w) ? cnd_now_ms() + LINGER_MS : CND_NEVER;
	int r;

	if (is_long_result(&w->serving.result))
		cnd_pace_long_result(&w->pace);
	for (;;) {
		/* this check sees a signal that came since the last wait; a later one ends the
		 * wait */
		r = cnd_host_look(w, ret_diag);
		if (r < 0)
			return r;
		cnd_worker_poll(
			w, fds, 2, earliest(linger, earliest(until, w->stop.until_ms)));
		if (fds[0].revents != 0)
			return (int)(unsigned short)fds[0].revents;
		if (fds[1].revents != 0)
			return cnd_host_client_gone(w, ret_diag);
		if (until != CND_NEVER && cnd_now_ms() >= until)
			return 0;
		if (linger != CND_NEVER && cnd_now_ms() >= linger) {
			linger = CND_NEVER;
			if (cnd_sink_flush(&w->serving) < 0)
				return cnd_host_client_gone(w, ret_diag);
		}
	}
}

static int
host_pause(const struct cnd_host *host, int fd, short events, int timeout_ms)
{
	struct cnd_worker *w = host->user;
	int64_t until = cnd_now_ms() + timeout_ms;
	int r = 0;

	do {
		r = cnd_worker_wait(w, fd, events, until);
	} while (r == 0 && cnd_now_ms() < until);
	return r;
}

static void
host_drained(const struct cnd_host *host, int fd)
{
	struct cnd_worker *w = host->user;

	if (w->seat != NULL)
		cnd_seat_drained(w->seat, fd);
}

__attribute__((format(printf, 3, 4))) static void
host_log(const struct cnd_host *host, int level, const char *format, ...)
{
	va_list args;

	(void)host;
	va_start(args, format);
	cnd_vlog(level, format, args);
	va_end(args);
}

static void
host_login_changed(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;

	atomic_fetch_add(&w->pool->login_changes, 1);
}

/* The worker forgets the client's password after the login. */
static int
host_can_log_in(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;

	return w->client.fd < 0 || w->config->clients_login == CND_CLIENTS_NONE;
}

static int
host_restores_names(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;

	return w->client.restores;
}

static int
host_refuses_pins(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;

	return w->config->is_strict;
}

static int
host_moves_listen(const struct cnd_host *host)
{
	return cnd_pins_may_move_listen(host->user);
}

void
cnd_host_init(struct cnd_worker *w)
{
	w->stop.until_ms = CND_NEVER;
	w->serving.host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = w,
		.interrupted = host_interrupted,
		.is_cancelled = host_is_cancelled,
		.wait = host_wait,
		.pause = host_pause,
		.drained = host_drained,
		.log = host_log,
		.login_changed = host_login_changed,
		.can_log_in = host_can_log_in,
		.restores_names = host_restores_names,
		.refuses_pins = host_refuses_pins,
		.moves_listen = host_moves_listen };
}

struct cnd_sink *
cnd_host_sink(struct cnd_worker *w)
{
	return w->client.fd >= 0 && w->client.server.is_ready ? &w->serving.sink : NULL;
}
