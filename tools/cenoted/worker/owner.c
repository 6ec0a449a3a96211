/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the worker does for the code that serves requests (struct cnd_serving_ops): send to its client and wait for
 * it, count, publish, log in again and suspend. It makes w->serving; host.c has what the backend needs.
 */
#include "worker.h"

#include <string.h>

#include "core/sqlstate.h"
#include "shared/log.h"

/* How long a suspended session waits for the door to know its worker. */
#define DOOR_MS 5000

/* ---- the client ---- */

static int
flush(struct cnd_serving *s)
{
	return cnd_client_flush(s->owner);
}

static int
await_piece(struct cnd_serving *s, int server_fd)
{
	struct cnd_worker *w = s->owner;
	struct pollfd fds[2] = { { .fd = w->client.fd, .events = POLLIN },
		{ .fd = server_fd, .events = POLLIN } };
	int64_t idle = cnd_client_idle_limit(w);
	int r = cnd_host_look(w, &s->diag);

	if (r < 0)
		return r;
	(void)cnd_client_poll(
		w, fds, 2, idle < w->stop.until_ms ? idle : w->stop.until_ms);
	if (fds[1].revents != 0)
		return CENOTE_AGAIN;
	if (fds[0].revents == 0)
		return idle != CND_NEVER && cnd_now_ms() >= idle
			       ? cnd_host_client_gone(w, &s->diag)
			       : CENOTE_OK;
	if (cnd_client_receive(w) < 0)
		return cnd_host_client_gone(w, &s->diag);
	cnd_client_note_activity(w);
	return CENOTE_OK;
}

static void
long_result(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	cnd_pace_long_result(&w->pace);
}

/* ---- the request ---- */

static void
begin(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_worker *w = s->owner;

	if (req == NULL) {
		cnd_host_begin_service(w);
		return;
	}
	cnd_host_begin(w, w->client.query_timeout_ms, "query_timeout");
	cnd_pins_begin(w, &req->msg);
	atomic_store_explicit(&w->slot->request, req->number, memory_order_relaxed);
}

static void
end(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_worker *w = s->owner;

	atomic_store_explicit(&w->slot->finished, req->number, memory_order_release);
	atomic_store_explicit(
		&w->slot->requests, w->slot->requests + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->requests, 1, memory_order_relaxed);
}

static void
begin_timed(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_worker *w = s->owner;

	if (req != NULL) {
		w->begun_us = cnd_times_now_us();
		w->failed_state[0] = '\0';
	}
	begin(s, req);
}

/* The request is done. Returns how long it took, in microseconds. */
static int64_t
measure(struct cnd_worker *w, const struct cnp_request *req)
{
	int64_t us = cnd_times_now_us() - w->begun_us;

	cnd_times_note_request(w, us);
	if (cnd_slow_is_on(w))
		cnd_slow_log(w, &req->msg, us);
	return us;
}

static void
end_timed(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_worker *w = s->owner;

	(void)measure(w, req);
	end(s, req);
}

static void
begin_digest(struct cnd_serving *s, const struct cnp_request *req)
{
	if (req != NULL)
		cnd_digests_begin(s->owner, &req->msg);
	begin_timed(s, req);
}

static void
end_digest(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_worker *w = s->owner;

	cnd_digests_end(w, req, measure(w, req));
	end(s, req);
}

static void
failed(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	cnd_digests_failed(w);
	atomic_store_explicit(
		&w->slot->errors, w->slot->errors + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->errors, 1, memory_order_relaxed);
}

static void
failed_timed(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	memcpy(w->failed_state, s->diag.sqlstate, sizeof(w->failed_state));
	failed(s);
}

static void
lost(struct cnd_serving *s, const char *in)
{
	/* other errors of a server may contain a client's data */
	const char *why = strncmp(s->diag.sqlstate, "08", 2) == 0 ? s->diag.message : "";

	cnd_client_log(s->owner, LOG_NOTICE, s->diag.sqlstate,
		"the session was lost in %s (SQLSTATE %s)%s%s", in, s->diag.sqlstate,
		*why ? ": " : "", why);
}

static bool
may_move(struct cnd_serving *s, int status)
{
	struct cnd_worker *w = s->owner;

	if (!cnd_roles_are_asked(w))
		return false;
	/* ask the server whether it is still a primary: the client may have asked for read-only transactions */
	return status == CENOTE_ERR_CONN ||
	       (w->config->target == CND_TARGET_PRIMARY && cnd_roles_check(w) != 0);
}

static void
publish(struct cnd_serving *s, bool is_held)
{
	struct cnd_worker *w = s->owner;

	cnd_pins_note(w, s->held.tx, s->held.pins);
	is_held = is_held && !cnd_pins_may_move(w);
	atomic_store_explicit(&w->slot->is_held, is_held, memory_order_relaxed);
}

/* ---- facts of the session ---- */

static const struct cnd_info *
info(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	s->backend->info(s->session, &w->login.info);
	return &w->login.info;
}

static void
parameter_changed(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	w->login.is_info_stale = true;
	w->login.info.changes = 0;
	w->client.is_told = true;
}

static void
facts_changed(struct cnd_serving *s, bool is_new)
{
	struct cnd_worker *w = s->owner;

	if (is_new)
		cnd_login_take_info(w);
	w->login.is_info_stale = true;
}

static int
log_in_again(struct cnd_serving *s)
{
	static const struct cnp_str nothing = { "", 0 };
	struct cnd_worker *w = s->owner;
	int r;

	atomic_fetch_add_explicit(&w->pool->relogins, 1, memory_order_relaxed);
	cnd_logout(w);
	r = cnd_login(w);
	/* the client knows no parameters of the new session yet */
	cnc_buf_clear(&s->parameters, CND_PARAMETERS_MAX);
	w->login.info.changes = 0;
	return r < 0 ? r : s->backend->attach(s->session, &nothing, &s->diag);
}

static int
start(struct cnd_serving *s)
{
	return cnd_hooks_start(s->owner, s->session, &s->diag);
}

/* ---- suspending ---- */

/* Wait until the door knows this worker. The next client may come by the door. On a busy machine, the
 * door may not have read the master's message about this worker yet; then it would refuse that
 * client. */
static void
await_door(struct cnd_worker *w)
{
	const int64_t until = cnd_now_ms() + DOOR_MS;

	while (!atomic_load(&w->slot->is_known) && cnd_worker_order(w) != CND_ORDER_NOW &&
		cnd_now_ms() < until)
		cnd_worker_wait(w, -1, 0, cnd_now_ms() + 1);
}

static int
suspend(struct cnd_serving *s, const struct cnp_suspend *m)
{
	struct cnp_msg reply = { .code = CNP_MSG_SUSPENDED };
	struct cnd_worker *w = s->owner;
	int64_t ms = w->config->suspend_timeout_ms;
	int r;

	if (ms == 0) {
		cnc_diag_set(&s->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the pool does not allow suspended sessions (suspend_timeout is "
			"0)");
		return CENOTE_ERR_UNSUPPORTED;
	}
	if (m->timeout_ms > 0 && m->timeout_ms < ms)
		ms = m->timeout_ms;
	if (ms > UINT32_MAX)
		ms = UINT32_MAX;
	await_door(w);
	/* The lent session's key ends here; the new key is the right to resume. The new number is
	 * also random: it brings a client with TLS to this worker before the worker sees the key. */
	cnd_worker_drop_key(w);
	atomic_store(&w->slot->generation, (uint32_t)cnd_worker_random(&w->random));
	cnd_worker_make_key(w);
	reply.as.suspended.session =
		cnd_session_number(w->slot_index, w->slot->generation);
	reply.as.suspended.key = w->key;
	reply.as.suspended.timeout_ms = (uint32_t)ms;
	r = cnp_server_reply(s->server, &reply, 0);
	w->client.suspended_until_ms = cnd_now_ms() + ms;
	s->is_suspending = r == CENOTE_OK;
	return r;
}

/* ---- positions ---- */

static int
committed(struct cnd_serving *s)
{
	return cnd_position_tell(s->owner);
}

static int
set_position(struct cnd_serving *s, struct cnp_str text)
{
	return cnd_position_set(s->owner, text);
}

/* Without statistics and log_min_duration, no request reads a clock for them. */
#define OPS(BEGIN, END, FAILED)                                                          \
	{                                                                                \
		.flush = flush, .await_piece = await_piece, .long_result = long_result,  \
		.begin = (BEGIN), .end = (END), .judge = cnd_query_judge,                \
		.passes = cnd_query_passes, .passed = cnd_query_passed,                  \
		.limit_time = cnd_query_limit_time, .retell = cnd_query_retell,          \
		.may_replay = cnd_replay_allows, .failed = (FAILED), .lost = lost,       \
		.may_move = may_move, .publish = publish, .info = info,                  \
		.parameter_changed = parameter_changed, .facts_changed = facts_changed,  \
		.log_in_again = log_in_again, .start = start, .suspend = suspend,        \
		.committed = committed, .set_position = set_position,                    \
		.identify = cnd_worker_cache_identify                                    \
	}

static const struct cnd_serving_ops worker_ops = OPS(begin, end, failed);
static const struct cnd_serving_ops timed_ops = OPS(begin_timed, end_timed, failed_timed);
static const struct cnd_serving_ops digest_ops =
	OPS(begin_digest, end_digest, failed_timed);

void
cnd_owner_begin_client(struct cnd_worker *w)
{
	if (w->digests != NULL)
		w->serving.ops = &digest_ops;
	else
		w->serving.ops = cnd_scoreboard_is_timed(w->board) || cnd_slow_is_on(w)
					 ? &timed_ops
					 : &worker_ops;
}

void
cnd_owner_init(struct cnd_worker *w)
{
	struct cnd_serving *s = &w->serving;

	s->ops = &worker_ops;
	s->owner = w;
	s->server = &w->client.server;
	s->pool = w->config->name;
	s->max_row = w->config->max_row;
	s->replay.max = w->config->replay;
	s->is_read_only = w->config->is_read_only != 0;
	s->has_rules = cnd_pool_config_judges(w->config) || s->is_read_only;
	cnd_host_init(w);
	cnd_digests_init(w);
	cnd_serving_init(s);
	cnd_worker_cache_init(w);
}
