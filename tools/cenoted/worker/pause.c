/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pauses: while the master's flag for the pool is set, no new transaction begins. A client that attaches waits here, in the worker that
 * has it, so that the pool still answers status queries and cancels. attach.c and client.c call this file.
 */
#include "worker.h"

#include <poll.h>

#include "core/sqlstate.h"
#include "shared/answer.h"
#include "shared/units.h"

static bool
is_on(const struct cnd_worker *w)
{
	return atomic_load_explicit(&cnd_pool_head(w->board, w->pool_index)->is_paused,
		       memory_order_relaxed) != 0;
}

bool
cnd_pause_holds(const struct cnd_worker *w)
{
	return w->config->mode == CND_MODE_TRANSACTION && is_on(w);
}

static int
refuse_late(struct cnd_worker *w)
{
	char limit[CND_UNITS_TEXT_MAX];

	atomic_fetch_add_explicit(&w->pool->timeouts, 1, memory_order_relaxed);
	cnd_ms_text(w->config->queue_timeout_ms, limit);
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(POOL_BUSY),
		"pool %s is paused, and was not resumed in %s", w->config->name, limit);
	return CENOTE_ERR_CONN;
}

int
cnd_pause_attach(struct cnd_worker *w)
{
	struct pollfd client = { .fd = w->client.fd, .events = POLLRDHUP };
	int64_t limit = w->config->queue_timeout_ms;
	int64_t until = limit > 0 ? cnd_now_ms() + limit : CND_NEVER;

	if (!is_on(w))
		return CENOTE_OK;
	/* its login is over */
	w->client.login_until_ms = CND_NEVER;
	while (is_on(w)) {
		if (cnd_worker_order(w) == CND_ORDER_NOW) {
			cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(SHUTDOWN),
				"cenoted is ending");
			return CENOTE_ERR_CONN;
		}
		if (cnd_now_ms() >= until)
			return refuse_late(w);
		if (cnd_worker_poll(w, &client, 1, until) > 0) {
			w->serving.is_gone = true;
			return CENOTE_ERR_CONN;
		}
	}
	return CENOTE_OK;
}
