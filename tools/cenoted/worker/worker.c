/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's life: log in, wait for a client, serve it, reset the session, and so on until the
 * master's order or idle_ttl ends it. The master forks it with cnd_worker_run(). It owns the
 * worker and its state; each part of it belongs to another file (worker.h).
 */
#include "worker.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "shared.h"
#include "shared/ipc.h"
#include "shared/log.h"
#include "shared/priv.h"
#include "shared/sandbox.h"
#include "shared/tls.h"

#define BACK_OFF_MIN_MS  100
#define BACK_OFF_MAX_MS  15000
/* while clients wait for a server to come back (failover_hold) */
#define BACK_OFF_HOLD_MS 400
#define OUTPUT_MAX       (256u * 1024u)
/* How long an old session is kept if it could not be replaced. */
#define RENEW_MS         10000
/* How long a worker that is promised to a client waits for that client only. */
#define PROMISE_MS       1000

/* ---- waiting after a failure ---- */

/* Wait before the next login: longer after each failure, and differently in each worker. */
static void
back_off(struct cnd_worker *w)
{
	unsigned shift = w->login.n_failures < 9 ? w->login.n_failures - 1 : 8;
	int64_t ms = (int64_t)BACK_OFF_MIN_MS << shift;
	int64_t most = cnd_now_ms() < cnd_pool_holds_until(w->board, w->pool_index)
			       ? BACK_OFF_HOLD_MS
			       : BACK_OFF_MAX_MS;

	if (ms > most)
		ms = most;
	ms = ms / 2 + (int64_t)(cnd_worker_random(&w->random) % (uint64_t)(ms / 2 + 1));
	if (w->sm.state != CND_SLOT_FAILING) {
		cnd_worker_move(w, CND_SLOT_FAILING);
		/* clients that wait may have to get an error */
		cnd_worker_wake_door(w);
	}
	(void)cnd_login_pause(w, cnd_now_ms() + ms);
}

/* ---- taking a client ---- */

/* Close the connection of a client for which there was no descriptor. No other process has it. */
static void
lose_client(struct cnd_worker *w, const struct cnd_ipc *m)
{
	cnd_log(LOG_WARNING, "out of descriptors: closed the connection of a client");
	if (m->kind == CND_IPC_CLIENT && m->index < CND_TICKETS)
		(void)cnd_ticket_move(w->pool, m->index, m->serial, CND_TICKET_TAKEN);
	cnd_worker_wake_door(w);
}

/* Take a waiting client from the queue. 0: no client waits. */
static int
take_from_queue(struct cnd_worker *w)
{
	struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(w->queue_fd, &m)) > 0 || r == -EMFILE) {
		if (r < 0) {
			lose_client(w, &m);
			continue;
		}
		if (m.kind != CND_IPC_CLIENT || m.n_fds != 1)
			cnd_fatal("the door sent nonsense");
		/* before the door counts it no longer as waiting */
		(void)cnd_limits_come(w, m.fds[0], &m.peer, false);
		if (cnd_ticket_move(w->pool, m.index, m.serial, CND_TICKET_TAKEN)) {
			cnd_client_take_handed(w, &m);
			if (w->client.peer.door == CND_DOOR_TCP)
				(void)cnd_slot_set_unproven(w->board, w->slot_index, 1);
			cnd_worker_wake_door(w);
			return 1;
		}
		cnd_limits_part(w);
		close(m.fds[0]);
	}
	if (r < 0)
		cnd_fatal("the queue: %s", strerror(-r));
	return 0;
}

/* Take a client that another worker sent, or one that comes too late to resume. */
static int
take_from_inbox(struct cnd_worker *w)
{
	struct cnd_ipc m;

	if (cnd_ipc_receive(w->inbox_fd, &m) <= 0)
		return 0;
	if ((m.kind != CND_IPC_ROUTED && m.kind != CND_IPC_RESUME) || m.n_fds != 1)
		cnd_fatal("the door sent nonsense");
	if (m.kind == CND_IPC_ROUTED)
		(void)cnd_limits_come(w, m.fds[0], &m.peer, false);
	cnd_client_take_handed(w, &m);
	return 1;
}

static int
accept_one(struct cnd_worker *w)
{
	w->client.fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	w->client.is_handed_over = false;
	w->client.is_routed = false;
	w->client.n_handed = 0;
	w->client.peer = (struct cnd_peer){ .door = CND_DOOR_UNIX };
	if (w->client.fd < 0)
		return 0;
	cnd_client_watch(w);
	return 1;
}

/* A client whose user has all its sessions goes to the door, and the next one may be here. */
static int
take_from_socket(struct cnd_worker *w)
{
	while (accept_one(w)) {
		if (cnd_limits_come(w, w->client.fd, &w->client.peer, true) ||
			cnd_client_hand_over(w, CND_IPC_SILENT, w->pool_index, NULL, 0) <
				0)
			return 1;
	}
	return 0;
}

/* The rest of a span of time, for poll(2); -1: no bound. */
static int
left_of(int64_t since_ms, int64_t span_ms)
{
	int64_t left;

	if (span_ms == 0)
		return -1;
	left = since_ms + span_ms - cnd_now_ms();
	return left > 3600000 ? 3600000 : left > 0 ? (int)left : 0;
}

/* The time until idle_ttl has passed. Status queries do not count as use. */
static int
idle_left(const struct cnd_worker *w)
{
	return left_of(w->idle_ms, w->config->idle_ttl_ms);
}

/* The shorter of two times for poll(2). */
static int
sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int
balance_left(const struct cnd_worker *w)
{
	int left;

	if (w->config->n_servers < 2)
		return -1;
	left = left_of(w->login.balanced_ms, w->config->rebalance_ms);
	/* a look was due, and the lines are balanced: look again after a while */
	return left != 0 ? left : (int)(cnd_login_look_again_ms(w) % 3600000) + 1;
}

/* When to look around although no client came. */
static int
look_left(const struct cnd_worker *w, int idle)
{
	int left = sooner(idle, balance_left(w));

	if (w->serving.session != NULL && w->login.expires_ms != CND_NEVER)
		left = sooner(left, left_of(w->login.expires_ms - 1, 1));
	return sooner(left, cnd_roles_left(w));
}

static int
has_left(struct cnd_worker *w)
{
	w->idle_ms = cnd_now_ms();
	if (!cnd_pool_leave(w->board, w->slot_index))
		return 0;
	cnd_log(LOG_DEBUG, "idle for idle_ttl");
	cnd_worker_move(w, CND_SLOT_ENDING);
	return 1;
}

/* The server sent something between clients. 0: it has ended the session. */
static int
listen_to_server(struct cnd_worker *w)
{
	int r;

	cnd_host_begin_service(w);
	cnc_diag_clear(&w->serving.diag);
	r = w->serving.backend->idle(w->serving.session, NULL);
	w->login.is_info_stale = true;
	if (r >= 0)
		return 1;
	cnd_log(LOG_NOTICE, "the server ended an idle session");
	/* no client must wait for this worker while it logs in again */
	cnd_worker_move(w, CND_SLOT_RESETTING);
	cnd_logout(w);
	return 0;
}

/* Take a client that is already there, without waiting. */
static int
take_waiting(struct cnd_worker *w)
{
	if (atomic_load_explicit(&w->pool->waiting, memory_order_relaxed) > 0 &&
		take_from_queue(w))
		return 1;
	/*
	 * A client that came while the last one was served is waiting already. The server was checked
	 * when the last client went, or by the reset since. Epoll may have woken only the door, which
	 * left the client to this worker. poll(2) is cheaper: an accept4() that finds nobody costs
	 * six times as much.
	 */
	if (!w->has_served)
		return 0;
	w->has_served = false;
	return poll(&(struct pollfd){ .fd = w->listen_fd, .events = POLLIN }, 1, 0) > 0 &&
	       take_from_socket(w);
}

static int
take_who_came(struct cnd_worker *w, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		if ((events[i].data.fd == w->inbox_fd && take_from_inbox(w)) ||
			(events[i].data.fd == w->queue_fd && take_from_queue(w)))
			return 1;
	}
	return n > 0 && take_from_socket(w);
}

/* Wait for the client that was promised this session, but not forever: the process that promised it
 * may die. */
static int
take_promised(struct cnd_worker *w)
{
	int64_t until = cnd_now_ms() + PROMISE_MS;

	while (cnd_worker_order(w) != CND_ORDER_NOW && cnd_now_ms() < until) {
		if (take_from_inbox(w))
			return 1;
		cnd_worker_wait(w, w->inbox_fd, POLLIN, until);
	}
	cnd_pass_through_release(w);
	return 0;
}

/* ---- taking a client on a seat ---- */

/* New clients, by way of the door's queue and the pool's socket. */
static int
take_new(struct cnd_worker *w)
{
	struct cnd_loop *l = w->seat->loop;

	if (l->has_queue ||
		atomic_load_explicit(&w->pool->waiting, memory_order_relaxed) > 0) {
		if (take_from_queue(w))
			return 1;
		l->has_queue = false;
	}
	if (l->has_sockets) {
		if (take_from_socket(w))
			return 1;
		l->has_sockets = false;
	}
	return 0;
}

/* New clients, and those that have stayed, take turns. Each kind gets as many turns as it has clients that wait: else one
 * client that comes again and again could have every second turn. */
static bool
is_turn_of_new(struct cnd_worker *w)
{
	struct cnd_shared *s = w->shared;
	/* the other processes of the pool take their share of the new clients */
	uint32_t n_new = w->pool->waiting / w->config->workers;
	uint32_t n;

	if (n_new == 0)
		n_new = 1;
	n = n_new + s->stayings.n_waiting;
	s->turn += n_new;
	if (s->turn < n)
		return false;
	s->turn = s->turn < 2 * n ? s->turn - n : 0;
	return true;
}

static int
take_on_seat(struct cnd_worker *w)
{
	if (is_turn_of_new(w))
		return take_new(w) || cnd_staying_take(w);
	return cnd_staying_take(w) || take_new(w);
}

static int64_t
until_of(int left)
{
	return left < 0 ? CND_NEVER : cnd_now_ms() + left;
}

/* As take_client(). */
static int
take_client_on_seat(struct cnd_worker *w)
{
	struct pollfd fds[2] = { { .fd = w->login.server_fd, .events = POLLIN },
		{ .fd = w->inbox_fd, .events = POLLIN } };
	int left;

	if (take_on_seat(w))
		return 1;
	left = idle_left(w);
	if (left == 0 && has_left(w))
		return 0;
	cnd_seat_idle(w->seat, fds, 2, until_of(look_left(w, left)));
	/* Hear the server before a client is taken, so that no client gets a dead session. */
	if (fds[0].revents != 0 && !listen_to_server(w))
		return 0;
	if (fds[1].revents != 0 && take_from_inbox(w))
		return 1;
	return cnd_worker_order(w) == CND_ORDER_NONE && take_on_seat(w);
}

/* ---- the same in a process of its own ---- */

/* Take the next client. 1: there is a client; 0: look around and call this again. */
static int
take_client(struct cnd_worker *w)
{
	struct epoll_event events[4];
	int left;
	int n;

	if (w->seat != NULL)
		return take_client_on_seat(w);
	if (!cnd_pass_through_reserve(w))
		return take_promised(w);
	if (take_waiting(w))
		return 1;
	left = idle_left(w);
	if (left == 0 && (has_left(w) || cnd_pass_through_expire(w)))
		return 0;
	cnd_pass_through_release(w);
	n = epoll_pwait(w->epoll_fd, events, 4, look_left(w, left), &w->waiting_mask);
	/* Hear the server before a client is taken, so that no client gets a dead session. */
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == w->login.server_fd && !listen_to_server(w))
			return 0;
	}
	if (n <= 0)
		return 0;
	if (!cnd_pass_through_reserve(w))
		return take_promised(w);
	if (take_who_came(w, events, n))
		return 1;
	cnd_pass_through_release(w);
	return 0;
}

/* Before the worker ends, take the promised client, which can go nowhere else. */
static int
take_last_promised(struct cnd_worker *w)
{
	return w->sm.state == CND_SLOT_IDLE && !cnd_pass_through_reserve(w) &&
	       take_promised(w);
}

/* When cenoted ends, it still serves the waiting clients; their sessions are yielded soon. */
static int
take_last_client(struct cnd_worker *w)
{
	bool is_left = cnd_pool_head(w->board, w->pool_index)->is_left;

	if (cnd_worker_order(w) == CND_ORDER_DRAIN &&
		(take_from_queue(w) || (!is_left && take_from_socket(w))))
		return 1;
	return take_last_promised(w);
}

static void
watch(struct cnd_worker *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = fd };

	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

/* ---- life ---- */

static void
serve(struct cnd_worker *w)
{
	enum cnd_parting parting;

	cnd_worker_move(w, CND_SLOT_OPENING);
	parting = cnd_client_serve(w);
	while (parting == CND_PARTING_SUSPENDED)
		parting = cnd_client_resume(w);
	if (w->client.is_staying)
		cnd_staying_keep(w);
	cnd_listening_leave(w);
	cnd_client_close(w);
	cnd_limits_part(w);
	cnd_worker_settle_stranger(w);
	cnd_worker_drop_key(w);
	if (w->sm.state == CND_SLOT_OPENING)
		return;
	if (w->is_listening)
		cnd_listening_run(w);
	w->idle_ms = cnd_now_ms();
	w->has_served = true;
	cnd_worker_move(w, CND_SLOT_RESETTING);
	if (parting == CND_PARTING_LOST)
		w->serving.is_lost = true;
}

/* Reset the session. 1: it is as fresh as a new login. */
static int
reset_session(struct cnd_worker *w)
{
	int r;

	cnd_host_begin_service(w);
	cnc_diag_clear(&w->serving.diag);
	if (w->config->reset == CND_RESET_RECONNECT)
		r = CENOTE_ERR_UNSUPPORTED;
	else
		r = w->serving.backend->reset(w->serving.session, &w->serving.diag);
	if (r == CENOTE_ERR_UNSUPPORTED)
		atomic_fetch_add_explicit(&w->pool->relogins, 1, memory_order_relaxed);
	else if (r < 0)
		cnd_log(LOG_NOTICE, "reset failed, logging in again: %s",
			w->serving.diag.message);
	return r == CENOTE_OK;
}

/* Run `session_start`. Returns whether that succeeded. */
static bool
start_session(struct cnd_worker *w)
{
	int r;

	cnd_host_begin_service(w);
	r = cnd_hooks_start(w, w->serving.session, &w->serving.diag);
	if (r < 0)
		cnd_log(LOG_NOTICE, "logging in again: %s", w->serving.diag.message);
	return r == CENOTE_OK;
}

/* Reset the session, or else log out; only the next client waits for the new login. */
static void
freshen(struct cnd_worker *w)
{
	if (w->sm.state != CND_SLOT_RESETTING || w->serving.session == NULL)
		return;
	if (w->serving.is_lost || w->login.does_not_suit || cnd_hooks_end(w) < 0 ||
		!reset_session(w) || !start_session(w))
		cnd_logout(w);
}

/* No client must wait for this worker while it talks to its server. */
static void
be_busy(struct cnd_worker *w)
{
	if (w->sm.state == CND_SLOT_IDLE)
		cnd_worker_move(w, CND_SLOT_RESETTING);
}

/* The session is as old as max_lifetime allows: replace it. If no login succeeds, it is kept for a while. */
static void
renew(struct cnd_worker *w)
{
	be_busy(w);
	if (w->config->clients_login != CND_CLIENTS_NONE)
		cnd_logout(w);
	else if (cnd_login_renew(w) < 0)
		w->login.expires_ms = cnd_now_ms() + RENEW_MS;
}

/* Whether the session has become useless, as its server says. */
static bool
has_turned(struct cnd_worker *w)
{
	if (!cnd_roles_is_due(w))
		return false;
	be_busy(w);
	return cnd_roles_check(w) != 0;
}

/* Get ready to wait for a client with the present session. 0: it has none any more. */
static int
be_ready(struct cnd_worker *w)
{
	if (w->serving.session != NULL && has_turned(w)) {
		cnd_logout(w);
		return 0;
	}
	if (w->serving.session != NULL && w->login.expires_ms != CND_NEVER &&
		cnd_now_ms() >= w->login.expires_ms)
		renew(w);
	if (w->config->n_servers > 1 && cnd_login_is_due(w)) {
		be_busy(w);
		cnd_login_rebalance(w);
	}
	if (w->login.is_info_stale)
		cnd_login_take_info(w);
	if (w->sm.state != CND_SLOT_IDLE)
		cnd_worker_move(w, CND_SLOT_IDLE);
	return 1;
}

/* Log in as the last client wanted it, since the next one may want the same. If no server accepts
 * that, log in without settings. */
static int
log_in_unasked(struct cnd_worker *w)
{
	int is_plain = w->login.settings[0] == '\0';
	int r = cnd_login(w);

	return r < 0 && !is_plain ? cnd_login(w) : r;
}

/* Whether there is a session, or the client's own login will make one. */
static int
can_lend(const struct cnd_worker *w)
{
	return w->serving.session != NULL || w->config->clients_login != CND_CLIENTS_NONE;
}

/* Find the next client. 1: there is one; 0: look around and call this again; -1: it is time to
 * leave. */
static int
find_client(struct cnd_worker *w)
{
	int is_ending = cnd_worker_order(w) != CND_ORDER_NONE;

	if (is_ending && (!can_lend(w) || cnd_worker_order(w) != CND_ORDER_DRAIN))
		return take_last_promised(w) ? 1 : -1;
	if (!can_lend(w) && log_in_unasked(w) < 0) {
		/* a login that the master's order cut short has not failed */
		if (cnd_worker_order(w) == CND_ORDER_NONE)
			back_off(w);
		return 0;
	}
	if (!be_ready(w))
		return 0;
	if (cnd_worker_order(w) != CND_ORDER_NONE)
		return take_last_client(w) ? 1 : -1;
	if (take_client(w))
		return 1;
	return w->sm.state == CND_SLOT_ENDING ? -1 : 0;
}

static void
live(struct cnd_worker *w)
{
	int r;

	while ((r = find_client(w)) >= 0) {
		if (r == 0)
			continue;
		serve(w);
		freshen(w);
	}
}

/* Make malloc() return the memory of a long row to the system: glibc would keep up to 64 MB of it. */
static void
bound_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

static void
init(struct cnd_worker *w)
{
	cnd_owner_init(w);
	cnd_client_init(w);
	w->client.fd = -1;
	w->login.server_fd = -1;
	w->login.info = (struct cnd_info){ "", "", "", NULL, 0 };
	w->idle_ms = cnd_now_ms();
	cnc_sm_init(&w->sm, cnd_slot_states, CND_SLOT_STATES, CND_SLOT_STARTING);
	cnp_server_init(&w->client.server, &cnc_mem_default, (size_t)w->config->max_frame,
		OUTPUT_MAX);
	w->client.seat = w->seat;
	if (w->seat != NULL) {
		cnd_seat_watch(w->seat, w->inbox_fd);
		return;
	}
	cnd_pace_init(&w->pace);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		cnd_fatal("epoll: %s", strerror(errno));
	watch(w, w->listen_fd);
	watch(w, w->queue_fd);
	watch(w, w->inbox_fd);
}

static void
finish(struct cnd_worker *w)
{
	if (w->sm.state != CND_SLOT_ENDING)
		cnd_worker_move(w, CND_SLOT_ENDING);
	cnd_client_refuse_inbox(w);
	if (w->serving.session != NULL)
		cnd_logout(w);
	cnp_server_finish(&w->client.server);
	cnd_serving_finish(&w->serving);
	cnd_digests_finish(w);
	if (w->seat != NULL)
		cnd_seat_unwatch(w->seat, w->inbox_fd);
	close(w->inbox_fd);
}

void
cnd_worker_live(struct cnd_worker *w)
{
	init(w);
	live(w);
	finish(w);
}

struct cn_tls_server *
cnd_worker_enter(const struct cnd_child *child, const struct cnd_pool *pool)
{
	const struct cnd_config *c = child->config;
	const struct cnd_account who = cnd_pool_config_account(c, pool->config);
	struct cn_tls_server *tls;

	cnd_log_set_role("worker", pool->name);
	bound_memory();
	/* The worker keeps two rights: to talk to its server as this user, and to use its own
	 * sockets. */
	cnd_priv_give_up(who.uid, who.gid, who.user, child->master, "cenoted-worker");
	cnd_pool_configs_forget(c, pool->config);
	tls = cnd_tls_server(pool->config, child->tickets);
	cnd_tls_forget(&pool->config->tls);
	if (cnd_sandbox_enter(pool->backend->writes_files ? CND_SANDBOX_FILE_WORKER
							  : CND_SANDBOX_WORKER,
		    c) < 0)
		exit(1);
	return tls;
}

void
cnd_worker_set_up(struct cnd_worker *w, const struct cnd_child *child,
	const struct cnd_pool *pool, uint32_t slot, int inbox_fd)
{
	w->child = child;
	w->config = pool->config;
	w->serving.backend = pool->backend;
	w->board = child->board;
	w->pool = cnd_pool_record(child->board, pool->index);
	w->pool_index = pool->index;
	w->version = cnd_pool_head(child->board, pool->index)->version;
	w->slot_index = slot;
	w->slot = cnd_slot_at(child->board, slot);
	w->listen_fd = pool->listen_fd;
	w->queue_fd = pool->queue[1];
	w->inbox_fd = inbox_fd;
	w->wake_fd = pool->wake_fd;
}

void
cnd_worker_run(const struct cnd_child *child, const struct cnd_pool *pool, uint32_t slot,
	int inbox_fd)
{
	static struct cnd_worker worker;
	struct cnd_worker *w = &worker;

	cnd_worker_set_signals(&w->waiting_mask);
	cnd_worker_set_up(w, child, pool, slot, inbox_fd);
	w->tls = cnd_worker_enter(child, pool);
	cnd_worker_live(w);
	exit(0);
}
