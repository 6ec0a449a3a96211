/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One client, from its attach until it and the worker part: read its requests, have request.c run
 * them, and decide between requests whether the client keeps the session (yield, time limits,
 * orders of the master). It also waits for the client that resumes a suspended session. worker.c
 * calls it.
 */
#include "worker.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "shared.h"
#include "shared/answer.h"
#include "core/sqlstate.h"
#include "shared/ipc.h"
#include "shared/log.h"

/* How long the pool counts as contended after a client had to wait. */
#define CONTENDED_MS    100
/* How long a client that attached again keeps its session for the request that made it attach. Without this it might never
 * get to send the request. The time begins anew when bytes of the request come, and after each statement that is prepared
 * again: a long request takes longer than this, and the client would begin with it again and again. */
#define GRACE_MS        20
/* The same for a client that attached for the first time. It may send no request for long. If it
 * sends one at once, this pause saves it from attaching again. */
#define FIRST_GRACE_MS  1
/* How long a client keeps its session while others wait, if its next request is always there already: in a pipeline, it may
 * begin a transaction right behind the end of the last one. */
#define PIPELINE_MS     20
/* How often a worker asks the server what a statement has left in the session. */
#define SETTLE_MS       50
/* How long a client is idle before the worker asks without need. If the server then ends the session,
 * the client loses nothing. */
#define SETTLE_IDLE_MS  1000
/* The same in a pool with `target`: its servers are expected to change, and a client whose session is settled loses nothing. */
#define SETTLE_ROLE_MS  50
/* How often such a pool asks, although nothing is known to hold the session. A proof of the backend lasts for longer. */
#define SETTLE_AGAIN_MS 500
/* The same if the client would notice the question, since it may ask for warnings later. */
#define SETTLE_FELT_MS  60000
/* Replies of a pipeline are sent once they have this many bytes. */
#define FLUSH_BYTES     32768u

/* ---- the last message ---- */

/* A client that leaves has auth_timeout to read its last message. */
static void
limit_parting(struct cnd_worker *w)
{
	if (w->client.login_until_ms == CND_NEVER)
		w->client.login_until_ms = cnd_now_ms() + w->config->auth_timeout_ms;
}

/* Send the last message, if the socket takes it at once or soon. */
static void
say_goodbye(struct cnd_worker *w)
{
	const uint8_t *bytes;

	if (w->client.is_staying) {
		w->client.is_staying = cnd_client_flush(w) == CENOTE_OK;
		return;
	}
	if (w->client.fd < 0 || w->serving.is_gone ||
		cnp_server_output(&w->client.server, &bytes) == 0)
		return;
	limit_parting(w);
	if (cnd_client_flush(w) == CENOTE_OK)
		cnd_client_drop_input(w->client.fd);
}

/* ---- the conversation ---- */

static int
is_contended(const struct cnd_worker *w, int64_t now)
{
	if (atomic_load_explicit(&w->pool->waiting, memory_order_relaxed) > 0 ||
		(w->shared != NULL && w->shared->stayings.n_waiting > 0))
		return 1;
	return now - atomic_load_explicit(&w->pool->contended_ms, memory_order_relaxed) <
	       CONTENDED_MS;
}

/* Until when a client that has sent no request keeps its session while others wait. */
static int64_t
grace_until(const struct cnd_worker *w)
{
	if (w->serving.n_served > 0)
		return 0;
	return w->client.grace_from_ms + (w->client.is_again ? GRACE_MS : FIRST_GRACE_MS);
}

/* The client gets on with its first request. */
static void
note_progress(struct cnd_worker *w)
{
	if (w->serving.n_served == 0 && w->config->mode == CND_MODE_TRANSACTION)
		w->client.grace_from_ms = cnd_now_ms();
}

/* Whether max_lifetime has passed. */
static bool
is_too_old(const struct cnd_worker *w)
{
	return w->login.expires_ms != CND_NEVER && cnd_now_ms() >= w->login.expires_ms;
}

/* Why to take the session back if the client holds nothing; 0: no reason. */
static uint8_t
reason_to_yield(const struct cnd_worker *w)
{
	uint32_t order = cnd_worker_order(w);
	int64_t now;

	if (order == CND_ORDER_NOW && cnd_worker_is_killed(w))
		return 0;
	if (order == CND_ORDER_RELOAD)
		return CNP_YIELD_RELOAD;
	if (order != CND_ORDER_NONE)
		return CNP_YIELD_DRAIN;
	if (w->login.does_not_suit || w->position.is_missing)
		return CNP_YIELD_RELOAD;
	if (cnd_pause_holds(w))
		return CNP_YIELD_CONTENDED;
	if (w->config->mode == CND_MODE_TRANSACTION && is_too_old(w))
		return CNP_YIELD_RELOAD;
	if (w->config->mode != CND_MODE_TRANSACTION && cnd_client_limit(w) == CND_NEVER)
		return 0;
	now = cnd_now_ms();
	if (now >= cnd_client_limit(w))
		return CNP_YIELD_IDLE;
	if (w->config->mode == CND_MODE_TRANSACTION && now >= grace_until(w) &&
		is_contended(w, now))
		return CNP_YIELD_CONTENDED;
	return 0;
}

static int
settle(struct cnd_worker *w)
{
	w->settle.last_ms = w->settle.asked_ms = cnd_now_ms();
	return cnd_request_settle(&w->serving);
}

/* Call settle(), but not more often than every SETTLE_MS. */
static int
settle_soon(struct cnd_worker *w)
{
	if (cnd_now_ms() >= w->settle.last_ms + SETTLE_MS)
		return settle(w);
	w->settle.due_ms = w->settle.last_ms + SETTLE_MS;
	return CENOTE_OK;
}

/* How a client that holds nothing, or only channels to listen on, gives its session back: enum cnp_yield_reason. 0: it keeps the
 * session; negative: the session is lost. */
static int
how_to_yield(struct cnd_worker *w, uint8_t reason, struct cnd_state *ret_state)
{
	int r;

	cnd_request_state(&w->serving, ret_state);
	if (ret_state->tx != CENOTE_TX_IDLE)
		return 0;
	if (ret_state->pins == 0)
		return reason == CNP_YIELD_CONTENDED && w->shared != NULL &&
				       cnd_staying_may(w)
			       ? CNP_YIELD_STAY
			       : reason;
	if (reason != CNP_YIELD_CONTENDED || !cnd_pins_may_move(w))
		return 0;
	r = cnd_listening_move(w);
	cnd_request_state(&w->serving, ret_state);
	return r > 0 ? CNP_YIELD_LISTEN : r;
}

/* Whether the pool has something to do on the session between the client's last request and the reset. */
static bool
has_work_before_reset(const struct cnd_worker *w)
{
	return w->config->session_end.n > 0 || w->config->reset == CND_RESET_RECONNECT ||
	       w->client.subscriber != NULL || cnd_roles_are_asked(w) ||
	       w->serving.tells_writes || w->serving.replay.max > 0;
}

static int
ends_turn(const struct cnd_host *host)
{
	const struct cnd_worker *w = host->user;
	const struct cnd_serving *s = &w->serving;
	struct cnp_request next;
	uint32_t number = 0;
	size_t at = 0;

	return w->config->mode == CND_MODE_TRANSACTION && s->request.is_sync &&
	       s->ahead.n == 0 && !s->result.is_quiet && !has_work_before_reset(w) &&
	       reason_to_yield(w) == CNP_YIELD_CONTENDED &&
	       cnp_server_peek(s->server, &at, &number, &next) == CENOTE_AGAIN;
}

void
cnd_client_init(struct cnd_worker *w)
{
	w->serving.host.ends_turn = ends_turn;
}

/* Yield the session if there is a reason and the client holds nothing. 1: it is yielded, or lost. */
static int
try_to_yield(struct cnd_worker *w)
{
	uint8_t reason = w->serving.held.is_over ? (uint8_t)CNP_YIELD_CONTENDED
						 : reason_to_yield(w);
	struct cnd_state state;
	int how;

	w->settle.due_ms = CND_NEVER;
	if (reason == 0 || !cnp_server_can_yield(&w->client.server))
		return 0;
	if (cnd_request_may_settle(&w->serving) && settle_soon(w) < 0)
		return 1;
	how = how_to_yield(w, reason, &state);
	if (how <= 0)
		return how < 0;
	if (cnp_server_yield(&w->client.server, (uint8_t)how, &state.carry) < 0) {
		/* the listening session has taken over, so the client must not stay here */
		w->serving.is_gone = how == CNP_YIELD_LISTEN;
		return w->serving.is_gone;
	}
	if (how != CNP_YIELD_LISTEN)
		cnd_listening_leave(w);
	w->client.is_staying = how == CNP_YIELD_STAY || how == CNP_YIELD_LISTEN;
	atomic_store_explicit(
		&w->slot->yields, w->slot->yields + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->yields, 1, memory_order_relaxed);
	return 1;
}

/* Lend the session if that is due and the client holds nothing. 1: it is lent, or lost. */
static int
try_to_lend(struct cnd_worker *w)
{
	struct cnd_state state;

	if (!cnd_lend_is_due(w))
		return 0;
	if (cnd_request_may_settle(&w->serving) && settle(w) < 0)
		return 1;
	cnd_request_state(&w->serving, &state);
	return state.tx == CENOTE_TX_IDLE && state.pins == 0 && cnd_lend_now(w, &state);
}

/* Part with a client that has reached a limit, even if it holds something. 1: it has got its
 * message. */
static int
must_part(struct cnd_worker *w)
{
	int64_t now = cnd_client_limit(w) == CND_NEVER ? 0 : cnd_now_ms();
	int is_ending = cnd_worker_order(w) == CND_ORDER_NOW;
	char limit[CND_LIMIT_TEXT_MAX];
	const char *sqlstate, *why = limit;

	if (!is_ending && now < cnd_client_limit(w))
		return 0;
	/* the limit may have been reached since the last look */
	if (try_to_yield(w))
		return 1;
	sqlstate = cnd_client_limit_text(w, now, limit);
	if (is_ending) {
		sqlstate = CNC_SQLSTATE(SHUTDOWN);
		why = cnd_worker_why_now(w);
	}
	cnd_client_log_parting(w, sqlstate, why);
	cnd_answer_refuse(&w->client.server, sqlstate, "%s", why);
	return 1;
}

/* When to look around although nothing happened. */
static int64_t
next_look(const struct cnd_worker *w)
{
	int64_t until = cnd_client_limit(w);

	if (w->settle.due_ms < until)
		until = w->settle.due_ms;
	if (cnd_pins_warning(w) < until)
		until = cnd_pins_warning(w);
	/* others wait, but the client may still keep the session for a moment */
	if (w->config->mode == CND_MODE_TRANSACTION && w->serving.n_served == 0 &&
		!w->slot->is_held && grace_until(w) < until &&
		is_contended(w, cnd_now_ms()))
		until = grace_until(w);
	return until;
}

/* The server's descriptor; -1 while the data there belongs to a request that is still to come. */
static int
watched_fd(const struct cnd_worker *w)
{
	/* a router has no descriptor after its login, but it has one while a client is attached */
	return w->login.server_fd >= 0 || w->serving.backend->router != NULL
		       ? w->serving.backend->fd(w->serving.session)
		       : -1;
}

/* On a seat: it waits for the next request of a client that holds nothing, as far as is known. So the client may have to
 * yield when others come. */
static void
set_between(struct cnd_worker *w, bool is_between)
{
	if (w->seat != NULL)
		w->seat->is_between = is_between && !w->slot->is_held;
}

/* Log a client that has pinned its session for long. Negative: the session is lost. */
static int
warn_of_pins(struct cnd_worker *w)
{
	char warning[CND_PINS_WARNING_MAX];
	int64_t due = cnd_pins_warning(w);

	if (due == CND_NEVER || cnd_now_ms() < due)
		return CENOTE_OK;
	/* what pinned the session may have ended */
	if (cnd_request_may_settle(&w->serving) &&
		cnp_server_can_yield(&w->client.server) &&
		(settle(w) < 0 || cnd_client_flush(w) < 0))
		return CENOTE_ERR_CONN;
	if (cnd_pins_warn(w, warning))
		cnd_client_log_named(w, LOG_WARNING, NULL, warning);
	return CENOTE_OK;
}

/* Whether a pause keeps the client's next request waiting. */
static bool
is_held_up(const struct cnd_worker *w)
{
	return cnd_pause_holds(w) && w->serving.held.tx == CENOTE_TX_IDLE &&
	       w->serving.ahead.n == 0;
}

/* How long an idle client's session waits until the server is asked what it holds. */
static int64_t
settle_after_ms(const struct cnd_worker *w)
{
	if (w->serving.backend->is_settling_felt)
		return SETTLE_FELT_MS;
	return cnd_roles_are_asked(w) ? SETTLE_ROLE_MS : SETTLE_IDLE_MS;
}

/* Wait until the client or the server sends something or a limit is reached. Negative: part. */
static int
await_more(struct cnd_worker *w)
{
	/* other clients may come to resume the session that this one has resumed */
	struct pollfd fds[3] = { { .fd = w->client.fd, .events = POLLIN },
		{ .fd = watched_fd(w), .events = POLLIN },
		{ .fd = w->inbox_fd, .events = POLLIN } };
	bool is_paused = is_held_up(w);
	int64_t settle_ms = CND_NEVER;
	int64_t until;
	int r = cnd_client_flush(w);

	if (r < 0)
		return r;
	if (must_part(w))
		return CENOTE_ERR_CONN;
	r = warn_of_pins(w);
	if (r < 0)
		return r;
	until = next_look(w);
	if (is_paused)
		fds[0].events = POLLRDHUP;
	if (cnd_request_may_settle(&w->serving) &&
		cnp_server_can_yield(&w->client.server))
		settle_ms = cnd_now_ms() + settle_after_ms(w);
	set_between(w, true);
	r = cnd_client_poll(w, fds,
		w->client.is_resumed ? 3
		: fds[1].fd >= 0     ? 2
				     : 1,
		until < settle_ms ? until : settle_ms);
	set_between(w, false);
	if (r == 0)
		return settle_ms != CND_NEVER && cnd_now_ms() >= settle_ms ? settle(w)
									   : CENOTE_OK;
	if (fds[2].revents != 0)
		cnd_client_refuse_inbox(w);
	/* Hear the server before the client, so that no request is read for a dead session. */
	if (fds[1].revents != 0 && (r = cnd_request_idle(&w->serving)) < 0)
		return r;
	if (fds[0].revents == 0)
		return CENOTE_OK;
	if (is_paused) {
		w->serving.is_gone = true;
		return CENOTE_ERR_CONN;
	}
	r = cnd_client_receive(w);
	if (r > 0) {
		note_progress(w);
		cnd_client_note_activity(w);
	}
	return r < 0 ? r : CENOTE_OK;
}

/* Whether to ask what the session holds as soon as a transaction has ended, in a pool with `target`. Nobody can ask a server
 * that has gone, and then the client could not move to the next one. A question in good time keeps the answer valid for the
 * statements that follow: a backend may have a proof for all of them, for a while. */
static bool
settles_early(const struct cnd_worker *w)
{
	int64_t now;

	if (!cnd_roles_are_asked(w) || w->serving.backend->is_settling_felt ||
		w->serving.held.tx != CENOTE_TX_IDLE ||
		!cnp_server_can_yield(&w->client.server))
		return false;
	now = cnd_now_ms();
	if (w->serving.held.pins == 0)
		return now >= w->settle.asked_ms + SETTLE_AGAIN_MS;
	return cnd_request_may_settle(&w->serving) &&
	       now >= w->settle.last_ms + SETTLE_ROLE_MS;
}

/* Run one request, and send what must not wait for the next one. Negative: part. */
static int
run_one(struct cnd_worker *w, const struct cnp_request *req)
{
	const uint8_t *bytes;
	int r = cnd_request_run(&w->serving, req);

	cnd_pace_end(&w->pace);
	if (r < 0)
		return r;
	note_progress(w);
	/* the state first: a client that knows the key may resume at once */
	if (w->serving.is_suspending) {
		cnd_worker_move(w, CND_SLOT_SUSPENDED);
		limit_parting(w);
	}
	if (cnp_server_output(&w->client.server, &bytes) >= FLUSH_BYTES ||
		cnp_server_state(&w->client.server) == CNP_SERVER_CLOSING)
		return cnd_client_flush(w);
	if (!settles_early(w))
		return CENOTE_OK;
	/* the client has its answer first */
	return cnd_client_flush(w) < 0 ? CENOTE_ERR_CONN : settle(w);
}

/* Whether a client with a pipeline should make room for others before its next request. */
static bool
is_turn_over(const struct cnd_worker *w)
{
	return w->config->mode == CND_MODE_TRANSACTION && w->serving.n_served > 0 &&
	       w->serving.held.tx == CENOTE_TX_IDLE && w->serving.ahead.n == 0 &&
	       cnd_now_ms() >= w->client.attached_ms + PIPELINE_MS;
}

/* Between transactions: ask the server for its role if that is due. Negative: the session is lost. */
static int
look_at_role(struct cnd_worker *w)
{
	if (!cnd_roles_are_asked(w) || w->serving.held.tx != CENOTE_TX_IDLE ||
		w->serving.ahead.n > 0 || !cnp_server_can_yield(&w->client.server) ||
		!cnd_roles_is_due(w) || cnd_roles_check(w) >= 0)
		return CENOTE_OK;
	cnc_diag_clear(&w->serving.diag);
	return cnd_request_lose_idle(&w->serving);
}

/* The client can get what it wants to see only from another server, and cannot go there. So it must not go on here. */
static void
refuse_stale_reads(struct cnd_worker *w)
{
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(POOL_BUSY),
		"the server has not got what this client has written "
		"(read_own_writes)");
}

/* The session is being reset already, so the client must not send another request to it. */
static void
give_up(struct cnd_worker *w)
{
	if (!try_to_yield(w))
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(CONNECTION_LOST),
			"the session went to another client");
}

static enum cnd_parting
converse(struct cnd_worker *w)
{
	struct cnp_request req;
	int r = CENOTE_OK;

	note_progress(w);
	cnd_times_begin_session(w);
	while (r >= 0 && cnp_server_state(&w->client.server) < CNP_SERVER_CLOSING) {
		if (w->serving.held.is_over) {
			give_up(w);
			break;
		}
		r = look_at_role(w);
		if (r < 0 || ((w->login.does_not_suit || w->position.is_missing ||
				      is_held_up(w) || is_turn_over(w)) &&
				     try_to_yield(w)))
			break;
		if (w->position.is_missing) {
			refuse_stale_reads(w);
			break;
		}
		/* it cannot yield, so it waits with its session */
		if (is_held_up(w)) {
			r = await_more(w);
			continue;
		}
		r = cnp_server_next(&w->client.server, &req);
		if (r == CENOTE_OK)
			r = run_one(w, &req);
		else if (r == CENOTE_AGAIN && !try_to_yield(w) && !try_to_lend(w))
			r = await_more(w);
	}
	if (w->loan.page != NULL) {
		cnd_lend_end(w);
		cnd_times_end_session(w);
		return w->serving.is_lost ? CND_PARTING_LOST : CND_PARTING_GONE;
	}
	if (r == CENOTE_ERR_PROTOCOL)
		cnd_client_log_named(w, LOG_WARNING, w->client.server.diag.sqlstate,
			w->client.server.diag.message);
	cnd_times_end_session(w);
	say_goodbye(w);
	if (w->serving.is_suspending && !w->serving.is_gone)
		return CND_PARTING_SUSPENDED;
	return w->serving.is_lost ? CND_PARTING_LOST : CND_PARTING_GONE;
}

static void
forget_client(struct cnd_worker *w)
{
	struct cnd_worker_client *c = &w->client;

	w->serving.is_gone = false;
	w->serving.is_suspending = false;
	w->serving.own_pid = 0;
	c->has_failed = false;
	c->is_refused = false;
	c->is_again = false;
	c->restores = false;
	c->is_resumed = false;
	c->is_told = false;
	c->is_back = false;
	c->is_staying = false;
	c->trace = (struct cnc_traceparent){ "", "" };
	cnp_server_restart(&c->server);
}

void
cnd_client_part(struct cnd_worker *w, int r)
{
	if (r == CENOTE_ERR_PROTOCOL)
		cnd_client_log_named(w, LOG_WARNING, w->client.server.diag.sqlstate,
			w->client.server.diag.message);
	if (!w->client.has_failed || cnd_attach_part(w) < 0)
		say_goodbye(w);
}

enum cnd_parting
cnd_client_serve(struct cnd_worker *w)
{
	bool is_back = w->client.is_back;
	int r;

	forget_client(w);
	if (is_back)
		cnp_server_restart_kept(&w->client.server, &w->client.back.kept);
	cnd_request_forget_client(&w->serving);
	cnd_owner_begin_client(w);
	cnd_lend_begin(w);
	w->settle.last_ms = INT32_MIN;
	w->settle.due_ms = CND_NEVER;
	w->settle.unmoved_at = UINT32_MAX;
	r = is_back ? cnd_attach_back(w) : cnd_attach_open(w);
	if (r == CENOTE_OK)
		return converse(w);
	if (w->client.is_refused)
		atomic_fetch_add_explicit(
			&w->pool->refused_logins, 1, memory_order_relaxed);
	cnd_client_part(w, r);
	return w->serving.is_lost ? CND_PARTING_LOST : CND_PARTING_GONE;
}

/* ---- suspend and resume ---- */

/* Answer a client that came to resume a session after another had resumed it, or after it ended. */
static void
refuse_resume(int fd)
{
	struct cnp_server server;
	const uint8_t *bytes;
	size_t n;

	cnp_server_init(
		&server, &cnc_mem_default, CNP_FRAME_MAX_AUTH, CNP_FRAME_MAX_AUTH);
	cnd_answer_refuse(&server, CNC_SQLSTATE(BAD_LOGIN),
		"there is no such suspended session, or not any more");
	n = cnp_server_output(&server, &bytes);
	cnd_client_drop_input(fd);
	(void)send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	cnp_server_finish(&server);
	shutdown(fd, SHUT_RDWR);
}

void
cnd_client_refuse_inbox(struct cnd_worker *w)
{
	struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(w->inbox_fd, &m)) > 0 || r == -EMFILE) {
		if (m.kind == CND_IPC_RESUME && m.n_fds == 1)
			refuse_resume(m.fds[0]);
		cnd_ipc_drop(&m);
	}
}

static int
is_suspension_over(const struct cnd_worker *w)
{
	return cnd_now_ms() >= w->client.suspended_until_ms ||
	       cnd_worker_order(w) == CND_ORDER_NOW;
}

enum cnd_parting
cnd_client_resume(struct cnd_worker *w)
{
	struct cnd_ipc m;

	cnd_client_close(w);
	while (!is_suspension_over(w)) {
		if (cnd_ipc_receive(w->inbox_fd, &m) <= 0) {
			cnd_worker_wait(
				w, w->inbox_fd, POLLIN, w->client.suspended_until_ms);
			continue;
		}
		if (m.kind != CND_IPC_RESUME || m.n_fds != 1)
			cnd_fatal("the door sent nonsense");
		forget_client(w);
		if (cnd_attach_resume(w, &m) == CENOTE_OK) {
			w->client.is_resumed = true;
			cnd_client_refuse_inbox(w);
			return converse(w);
		}
		say_goodbye(w);
		cnd_client_close(w);
		/* the session was lent, and the client has gone without knowing: nobody can resume
		 * it */
		if (w->sm.state == CND_SLOT_ATTACHED)
			return CND_PARTING_GONE;
	}
	return CND_PARTING_GONE;
}
