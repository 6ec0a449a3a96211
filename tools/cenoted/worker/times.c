/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long requests, sessions and logins take: this file adds to the histograms of the pool's record. It owns w->lent_us. Where
 * neither `stats_listen` nor `digests` is set, only logins are measured, which are rare.
 */
#include "worker.h"

#include <time.h>

int64_t
cnd_times_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void
cnd_times_note_request(struct cnd_worker *w, int64_t us)
{
	uint32_t line = atomic_load_explicit(&w->slot->server_line, memory_order_relaxed);

	cnd_histogram_add(&w->pool->request_time, us);
	if (w->config->n_servers > 1 && line > 0 && line <= CND_SERVERS_MAX)
		cnd_buckets_add(&w->pool->line_requests[line - 1], us);
	if (w->client.limits_line > 0)
		cnd_buckets_add(&w->pool->user_requests[w->client.limits_line - 1], us);
}

void
cnd_times_begin_session(struct cnd_worker *w)
{
	bool is_timed = w->digests != NULL || cnd_scoreboard_is_timed(w->board);

	w->lent_us = is_timed ? cnd_times_now_us() : 0;
}

void
cnd_times_end_session(struct cnd_worker *w)
{
	if (w->lent_us != 0)
		cnd_histogram_add(
			&w->pool->session_time, cnd_times_now_us() - w->lent_us);
	w->lent_us = 0;
}

void
cnd_times_note_login(struct cnd_worker *w, size_t line, int64_t begun_us)
{
	int64_t us = cnd_times_now_us() - begun_us;

	cnd_histogram_add(&w->pool->login_time, us);
	if (w->config->n_servers > 1)
		cnd_buckets_add(&w->pool->line_logins[line], us);
}
