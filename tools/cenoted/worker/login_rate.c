/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool's `login_rate`: how often its workers log in to one server line. All workers of the pool share a token bucket
 * for each line, on the scoreboard. login.c asks here before each login.
 *
 * The bucket is one number: the time at which it is full again. A login adds the time that its token takes to come back. So
 * one compare-and-swap takes a token, and a worker that dies leaves nothing to clean up.
 */
#include "worker.h"

#include <poll.h>

#include "core/sqlstate.h"
#include "shared/units.h"

#define US_PER_S INT64_C(1000000)
/* How long before a token comes back a worker may take it, and then wait. If the worker ends meanwhile, the token is lost, so
 * this is short. */
#define AHEAD_US US_PER_S
/* How soon a worker looks again if it cannot take a token yet. */
#define LOOK_MS  500

int64_t
cnd_login_rate_take(_Atomic int64_t *bucket, const struct cnd_rate *rate, int64_t now_us)
{
	int64_t token = rate->per_s * US_PER_S / rate->n;
	/* the bucket holds the tokens of one second, and at least one */
	int64_t spare = token < US_PER_S ? US_PER_S - token : 0;
	int64_t ahead = token > AHEAD_US ? token : AHEAD_US;
	/* a later time can only come from a lower rate, before a reload */
	int64_t latest = now_us + spare + ahead + token;
	int64_t full = atomic_load(bucket), wait, then;

	do {
		wait = full - spare - now_us;
		if (full > latest)
			then = latest;
		else if (wait > ahead)
			return -1;
		else
			then = (full > now_us ? full : now_us) + token;
	} while (!atomic_compare_exchange_weak(bucket, &full, then));
	if (full > latest)
		return -1;
	return wait > 0 ? wait : 0;
}

/* Wait until that time. Negative: the worker must stop, or its client waits no longer; diag says why. */
static int
wait_until(struct cnd_worker *w, int64_t until_ms, struct cnc_diag *diag)
{
	int r;

	while ((r = cnd_host_look(w, diag)) == CENOTE_OK && cnd_now_ms() < until_ms) {
		int64_t until = until_ms < w->stop.until_ms ? until_ms : w->stop.until_ms;

		if (cnd_worker_wait(w, w->client.fd, POLLRDHUP, until) != 0)
			return cnd_host_client_gone(w, diag);
	}
	return r;
}

static int
await_token(struct cnd_worker *w, _Atomic int64_t *bucket, struct cnc_diag *diag)
{
	int64_t now, wait;
	int r = CENOTE_OK;

	for (;;) {
		now = cnd_now_ms();
		wait = cnd_login_rate_take(bucket, &w->config->login_rate, now * 1000);
		if (wait == 0)
			return CENOTE_OK;
		if (wait > 0)
			return wait_until(w, now + (wait + 999) / 1000, diag);
		wait = LOOK_MS + (int64_t)(cnd_worker_random(&w->random) % LOOK_MS);
		r = wait_until(w, now + wait, diag);
		if (r < 0)
			return r;
	}
}

int
cnd_login_rate_await(struct cnd_worker *w, size_t line, struct cnc_diag *diag)
{
	bool has_client = w->client.fd >= 0;
	char rate[CND_UNITS_TEXT_MAX];
	int r;

	if (w->config->login_rate.n == 0)
		return CENOTE_OK;
	/* A client waits at most login_timeout, as it does for the server's answer. A worker without a client waits without limit. */
	cnd_host_begin(w, has_client ? w->config->login_timeout_ms : 0, "login_timeout");
	r = await_token(w, &w->pool->line_logins_us[line], diag);
	if (r == CENOTE_ERR_SERVER && has_client && !w->stop.is_cancelled &&
		cnd_now_ms() >= w->stop.until_ms)
		cnc_diag_set(diag, CNC_SQLSTATE(TOO_MANY),
			"pool %s: login_rate allows %s logins to a server, and others "
			"come first; try again later",
			w->config->name, cnd_rate_text(&w->config->login_rate, rate));
	return r;
}
