/* SPDX-License-Identifier: BSD-2-Clause */
#include "door.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "core/sqlstate.h"
#include "ipc.h"
#include "log.h"
#include "priv.h"
#include "units.h"

/* After the last idle worker of a pool got busy, the door looks so much later: a pool that
 * breathes is left alone. */
#define LOOK_MS     5
/* Beside one for each worker. */
#define KEPT_FDS    16
#define OPENING_MS  10000
#define N_EVENTS    64
/* A stream of newcomers must not keep the door from those it has. */
#define ACCEPTS     16
#define SCRATCH_MAX 16384u

enum source_kind {
	SOURCE_WAKE,
	SOURCE_CONTROL,
	SOURCE_INBOX,
	SOURCE_POOL,
	SOURCE_GUEST
};

/* What an epoll event points at; the first member of what it is. */
struct source {
	_Alignas(max_align_t) enum source_kind kind;
};

enum phase {
	PHASE_OPENING, /* its opening is awaited; on the list `talking` */
	PHASE_WAITING, /* it has a ticket; on its pool's list */
	PHASE_LEAVING /* the rest of an answer is to be sent; on the list `talking` */
};

/* A client that the door holds. */
struct guest {
	struct source source;
	struct guest *prev;
	struct guest *next;
	int fd;
	enum phase phase;
	uint32_t pool;
	uint32_t ticket;
	uint64_t serial;
	int64_t since_ms;
	int is_told_tls; /* HELLO went out before the first frame */
	uint8_t *rest; /* of an answer */
	size_t rest_len;
	size_t rest_at;
};

/* In the order of their coming. */
struct guests {
	struct guest *first;
	struct guest *last;
	uint32_t n;
};

struct door_pool {
	struct source source;
	int is_here;
	int is_dirty; /* those who wait may have to be told something */
	int listen_fd;
	int queue_fd;
	struct guests waiting;
	struct guest *to_push; /* first that is not yet in the queue */
};

static struct door {
	const struct cnd_child *child;
	struct cnd_scoreboard *board;
	int epoll_fd;
	int control_fd;
	int *inboxes;
	struct source wake;
	struct source control;
	struct source inbox;
	struct door_pool pools[CND_POOL_RECORD];
	struct guests talking;
	uint32_t next_ticket;
	int64_t look_at_ms; /* CND_NEVER: nobody asked */
	struct cnp_server server; /* for the answer being made */
	uint8_t scratch[SCRATCH_MAX];
} door;

static volatile sig_atomic_t is_ending;

static void
on_term(int number)
{
	(void)number;
	is_ending = 1;
}

/* ---- lists, descriptors ---- */

static void
append(struct guests *list, struct guest *g)
{
	g->next = NULL;
	g->prev = list->last;
	if (list->last != NULL)
		list->last->next = g;
	else
		list->first = g;
	list->last = g;
	list->n++;
}

static void
take_out(struct guests *list, struct guest *g)
{
	if (g->prev != NULL)
		g->prev->next = g->next;
	else
		list->first = g->next;
	if (g->next != NULL)
		g->next->prev = g->prev;
	else
		list->last = g->prev;
	list->n--;
}

static int
watch(int op, int fd, uint32_t events, struct source *source)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	return epoll_ctl(door.epoll_fd, op, fd, &event);
}

static struct guests *
list_of(const struct guest *g)
{
	return g->phase == PHASE_WAITING ? &door.pools[g->pool].waiting : &door.talking;
}

/* Leave its list. The record says how many wait. */
static void
leave_list(struct guest *g)
{
	struct door_pool *p = &door.pools[g->pool];

	if (g->phase == PHASE_WAITING && p->to_push == g)
		p->to_push = g->next;
	take_out(list_of(g), g);
	if (g->phase == PHASE_WAITING)
		atomic_store(&door.board->pools[g->pool].waiting, p->waiting.n);
}

static void
dismiss(struct guest *g)
{
	leave_list(g);
	/* a worker may hold the same socket: closing alone would leave it watched */
	(void)epoll_ctl(door.epoll_fd, EPOLL_CTL_DEL, g->fd, NULL);
	close(g->fd);
	free(g->rest);
	free(g);
}

/* ---- answering ---- */

/* Unread bytes would make the kernel throw an error behind the answer. */
static void
drop_input(int fd)
{
	while (recv(fd, door.scratch, sizeof(door.scratch), MSG_DONTWAIT) > 0)
		;
}

static int
keep_rest(struct guest *g, const uint8_t *bytes, size_t n)
{
	g->rest = malloc(n);
	if (g->rest == NULL)
		return -1;
	memcpy(g->rest, bytes, n);
	g->rest_len = n;
	leave_list(g);
	g->phase = PHASE_LEAVING;
	append(&door.talking, g);
	return watch(EPOLL_CTL_MOD, g->fd, EPOLLOUT, &g->source);
}

/* Send what is in door.server, then close; if the socket is full, later. */
static void
answer_and_dismiss(struct guest *g)
{
	const uint8_t *bytes;
	size_t n = cnp_server_output(&door.server, &bytes);
	ssize_t sent;

	drop_input(g->fd);
	sent = send(g->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		sent = errno == EAGAIN ? 0 : (ssize_t)n;
	if ((size_t)sent < n && keep_rest(g, bytes + sent, n - (size_t)sent) == 0)
		return;
	/* a message in the queue may hold it open: the client should see the end now */
	shutdown(g->fd, SHUT_RDWR);
	dismiss(g);
}

static void
send_rest(struct guest *g)
{
	ssize_t sent = send(g->fd, g->rest + g->rest_at, g->rest_len - g->rest_at,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && errno == EAGAIN)
		return;
	if (sent > 0)
		g->rest_at += (size_t)sent;
	if (sent < 0 || g->rest_at == g->rest_len) {
		shutdown(g->fd, SHUT_RDWR);
		dismiss(g);
	}
}

__attribute__((format(printf, 3, 4))) static void
refuse(struct guest *g, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnp_server_restart(&door.server);
	cnd_answer_refuse(&door.server, sqlstate, "%s", text);
	answer_and_dismiss(g);
}

/* ---- waiting ---- */

/* Idle holders that could yield are asked to: they are not looking. */
static void
ask_holders(uint32_t pool, uint32_t n_wanted)
{
	for (uint32_t i = 0; i < door.board->n_slots && n_wanted > 0; i++) {
		struct cnd_slot *s = &door.board->slots[i];

		/* one that is held or at work will think of it at the end */
		if (s->state != CND_SLOT_ATTACHED || s->pool != pool || s->pid <= 0 ||
			s->is_held || (s->request != 0 && s->request != s->finished))
			continue;
		kill(s->pid, SIGUSR1);
		n_wanted--;
	}
}

static void
tell_master(uint32_t pool)
{
	struct cnd_pool_record *record = &door.board->pools[pool];
	struct cnd_ipc m = { .kind = CND_IPC_WAITING, .index = pool };

	/* if it does not listen now, the next one who comes tells it again */
	if (record->live < record->max_sessions)
		(void)cnd_ipc_send(door.control_fd, &m);
}

/* Into the kernel's queue, in order, as far as it has room. */
static void
push(struct door_pool *p)
{
	while (p->to_push != NULL) {
		struct guest *g = p->to_push;
		struct cnd_ipc m = { .kind = CND_IPC_CLIENT,
			.index = g->ticket,
			.serial = g->serial,
			.n_fds = 1,
			.fds = { g->fd } };

		if (cnd_ipc_send(p->queue_fd, &m) < 0)
			return;
		p->to_push = g->next;
	}
}

static void
dismiss_waiting(struct guest *g)
{
	cnd_ticket_release(door.board, g->ticket);
	dismiss(g);
}

/* The workers take in order, so those who are gone are in front. */
static void
dismiss_taken(struct door_pool *p)
{
	while (p->waiting.first != NULL &&
		cnd_ticket_state(door.board, p->waiting.first->ticket) ==
			CND_TICKET_TAKEN)
		dismiss_waiting(p->waiting.first);
}

static void
enqueue(struct guest *g)
{
	struct door_pool *p = &door.pools[g->pool];
	struct cnd_pool_record *record = &door.board->pools[g->pool];
	int ticket = cnd_ticket_take(door.board, door.next_ticket, &g->serial);

	if (ticket < 0) {
		refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: no free session, and too many clients wait",
			record->name);
		return;
	}
	door.next_ticket = (uint32_t)ticket + 1;
	leave_list(g);
	g->phase = PHASE_WAITING;
	g->ticket = (uint32_t)ticket;
	append(&p->waiting, g);
	if (p->to_push == NULL)
		p->to_push = g;
	p->is_dirty = 1;
	atomic_store(&record->waiting, p->waiting.n);
	atomic_store(&record->contended_ms, cnd_now_ms());
	atomic_fetch_add_explicit(&record->queued, 1, memory_order_relaxed);
	/* from now on only its going is of interest */
	if (watch(EPOLL_CTL_MOD, g->fd, EPOLLRDHUP, &g->source) < 0)
		cnd_log(LOG_WARNING, "epoll: %s", strerror(errno));
	/* at once: a worker that finds nothing here takes whoever comes next */
	push(p);
	tell_master(g->pool);
	if (record->mode == CND_MODE_TRANSACTION)
		ask_holders(g->pool, p->waiting.n);
}

/* No worker may take it from here on: 1; 0 if one did. */
static int
give_up(struct guest *g)
{
	if (!cnd_ticket_move(door.board, g->ticket, g->serial, CND_TICKET_GIVEN_UP)) {
		dismiss_waiting(g);
		return 0;
	}
	cnd_ticket_release(door.board, g->ticket);
	return 1;
}

static void
refuse_late(struct guest *g)
{
	struct cnd_pool_record *record = &door.board->pools[g->pool];
	uint32_t n_waiting = door.pools[g->pool].waiting.n;
	char limit[CND_UNITS_TEXT_MAX];
	struct cnd_census census;

	if (!give_up(g))
		return;
	cnd_pool_census(door.board, g->pool, &census);
	atomic_fetch_add_explicit(&record->timeouts, 1, memory_order_relaxed);
	cnd_ms_text(record->queue_timeout_ms, limit);
	cnd_log(LOG_NOTICE,
		"pool %s: a client gave up after %s (%u of %u in use, %u waiting)",
		record->name, limit, census.in_use, record->max_sessions, n_waiting);
	refuse(g, CNC_SQLSTATE(POOL_BUSY),
		"pool %s: no free session in %s (%u of %u in use, %u waiting)",
		record->name, limit, census.in_use, record->max_sessions, n_waiting);
}

/* When no worker of the pool can log in, waiting has no end: say why, at once. */
static void
refuse_if_down(uint32_t pool)
{
	struct door_pool *p = &door.pools[pool];
	struct cnd_census census;
	struct cnd_login login;

	cnd_pool_census(door.board, pool, &census);
	if (census.n[CND_SLOT_FAILING] == 0 || census.n[CND_SLOT_IDLE] > 0 ||
		census.n[CND_SLOT_STARTING] > 0 || census.in_use > 0)
		return;
	cnd_slot_login(&door.board->slots[census.failing_slot], &login);
	for (struct guest *g = p->waiting.first, *next; g != NULL; g = next) {
		next = g->next;
		if (give_up(g))
			refuse(g, CNC_SQLSTATE(CANNOT_CONNECT),
				"pool %s: its server cannot be reached: %s",
				door.board->pools[pool].name, login.error);
	}
}

/* ---- openings ---- */

static void
forward(struct guest *g, uint32_t slot, struct cnd_ipc *m)
{
	m->kind = CND_IPC_RESUME;
	m->n_fds = 1;
	m->fds[0] = g->fd;
	if (slot < door.board->n_slots && door.inboxes[slot] >= 0 &&
		cnd_ipc_send(door.inboxes[slot], m) == 0)
		dismiss(g);
	else
		refuse(g, CNC_SQLSTATE(RESOURCES),
			"the session cannot be reached now; try again");
}

static void
serve_first(struct guest *g, const struct cnp_request *req)
{
	static struct cnd_ipc m;
	const struct cnd_slot *slot;

	switch (req->msg.code) {
	case CNP_MSG_CANCEL:
		cnd_answer_cancel(&door.server, door.board, &req->msg.as.cancel);
		break;
	case CNP_MSG_STATUS:
		cnd_answer_status(
			&door.server, g->fd, door.board, &req->msg.as.status, -1);
		break;
	default:
		slot = cnd_answer_resume(&door.server, door.board, &req->msg.as.resume);
		if (slot == NULL)
			break;
		/* its bytes were only peeked at: they are still in the socket */
		m.n_bytes = 0;
		forward(g, (uint32_t)(slot - door.board->slots), &m);
		return;
	}
	answer_and_dismiss(g);
}

/* Who wants TLS sends no more until HELLO came. */
static int
answer_tls(struct guest *g)
{
	const uint8_t *bytes;
	size_t n;
	int r;

	if (door.server.opening.tls == CNP_TLS_NONE)
		return CENOTE_OK;
	r = cnd_answer_hello(&door.server);
	if (r < 0)
		return r;
	n = cnp_server_output(&door.server, &bytes);
	if (!g->is_told_tls &&
		send(g->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n)
		return CENOTE_ERR_CONN;
	g->is_told_tls = 1;
	cnp_server_sent(&door.server, n);
	return CENOTE_OK;
}

/* Look at what a client begins with, without taking it from the socket. */
static void
look_at(struct guest *g)
{
	struct cnp_request req;
	uint8_t *room;
	size_t size;
	ssize_t n =
		recv(g->fd, door.scratch, CNP_FRAME_MAX_AUTH, MSG_PEEK | MSG_DONTWAIT);
	int r;

	if (n < 0 && errno == EAGAIN)
		return;
	cnp_server_restart(&door.server);
	if (n <= 0 || cnp_server_room(&door.server, &room, &size) < 0 ||
		size < (size_t)n) {
		dismiss(g);
		return;
	}
	memcpy(room, door.scratch, (size_t)n);
	cnp_server_received(&door.server, (size_t)n);
	r = cnp_server_next(&door.server, &req);
	if (r == CENOTE_OK && door.server.opening.kind == CNP_OPEN_ATTACH) {
		enqueue(g);
		return;
	}
	if (r == CENOTE_OK)
		r = answer_tls(g);
	if (r == CENOTE_OK)
		r = cnp_server_next(&door.server, &req);
	if (r == CENOTE_OK)
		serve_first(g, &req);
	else if (r < 0)
		answer_and_dismiss(g);
}

/* Some descriptors are kept for what the master sends, without which the door cannot be. */
static int
is_full(int fd)
{
	struct rlimit limit;
	rlim_t kept = door.board->n_slots + KEPT_FDS;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (kept > limit.rlim_cur / 2)
		kept = limit.rlim_cur / 2;
	return (rlim_t)fd >= limit.rlim_cur - kept;
}

static void
receive_guest(int fd, uint32_t pool)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		close(fd);
		return;
	}
	g->source.kind = SOURCE_GUEST;
	g->fd = fd;
	g->pool = pool;
	g->phase = PHASE_OPENING;
	g->since_ms = cnd_now_ms();
	append(&door.talking, g);
	if (is_full(fd))
		refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: no free session, and more clients wait than cenoted "
			"may have descriptors",
			door.board->pools[pool].name);
	else if (watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, &g->source) < 0)
		dismiss(g);
	else
		look_at(g);
}

static void
on_guest(struct guest *g, uint32_t events)
{
	int has_gone = (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;

	if (g->phase == PHASE_LEAVING)
		send_rest(g);
	else if (g->phase == PHASE_OPENING)
		has_gone ? dismiss(g) : look_at(g);
	else if (has_gone && give_up(g))
		dismiss(g);
}

/* ---- the pools' sockets ---- */

static void
disarm(uint32_t pool)
{
	struct door_pool *p = &door.pools[pool];

	if (!atomic_exchange(&door.board->pools[pool].is_armed, 0))
		return;
	(void)epoll_ctl(door.epoll_fd, EPOLL_CTL_DEL, p->listen_fd, NULL);
}

static void
arm(uint32_t pool)
{
	struct door_pool *p = &door.pools[pool];

	if (atomic_exchange(&door.board->pools[pool].is_armed, 1))
		return;
	if (watch(EPOLL_CTL_ADD, p->listen_fd, EPOLLIN, &p->source) < 0)
		cnd_log(LOG_ERR, "epoll: %s", strerror(errno));
}

static void
on_listen(uint32_t pool)
{
	struct door_pool *p = &door.pools[pool];
	int n = 0;
	int fd;

	/* An idle worker was woken as well: the direct way is open again. What is still in the
	 * backlog at the next look is taken then. */
	while (n < ACCEPTS && !cnd_pool_has_idle(&door.board->pools[pool])) {
		fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			break;
		receive_guest(fd, pool);
		n++;
	}
	if (n > 0)
		return;
	disarm(pool);
	if (door.look_at_ms == CND_NEVER)
		door.look_at_ms = cnd_now_ms() + LOOK_MS;
}

/* Accept for the pools that have no idle worker, and for no other. */
static void
look_at_pools(void)
{
	door.look_at_ms = CND_NEVER;
	/* before the look: who gets busy from here on asks again */
	atomic_store(&door.board->door_is_awake, 0);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!door.pools[i].is_here)
			continue;
		if (cnd_pool_has_idle(&door.board->pools[i]))
			disarm(i);
		else
			arm(i);
	}
}

static void
on_wake(void)
{
	eventfd_t n;

	(void)eventfd_read(door.child->door_wake, &n);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++)
		door.pools[i].is_dirty |= door.pools[i].waiting.n > 0;
	if (door.board->door_is_awake && door.look_at_ms == CND_NEVER)
		door.look_at_ms = cnd_now_ms() + LOOK_MS;
}

/* ---- messages ---- */

static void
add_pool(uint32_t index, int listen_fd, int queue_fd)
{
	struct door_pool *p = &door.pools[index];

	p->source.kind = SOURCE_POOL;
	p->is_here = 1;
	p->listen_fd = listen_fd;
	p->queue_fd = queue_fd;
	door.look_at_ms = cnd_now_ms();
}

static void
remove_pool(uint32_t index)
{
	struct door_pool *p = &door.pools[index];

	if (!p->is_here)
		return;
	disarm(index);
	for (struct guest *g = p->waiting.first, *next; g != NULL; g = next) {
		next = g->next;
		if (give_up(g))
			refuse(g, CNC_SQLSTATE(SHUTDOWN), "pool %s is being removed",
				door.board->pools[index].name);
	}
	close(p->listen_fd);
	close(p->queue_fd);
	p->is_here = 0;
}

static void
on_control(void)
{
	static struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(door.control_fd, &m)) > 0) {
		if (m.kind == CND_IPC_POOL && m.index < CND_POOL_RECORD && m.n_fds == 2) {
			add_pool(m.index, m.fds[0], m.fds[1]);
		} else if (m.kind == CND_IPC_POOL_GONE && m.index < CND_POOL_RECORD) {
			remove_pool(m.index);
		} else if (m.kind == CND_IPC_INBOX && m.index < door.board->n_slots &&
			   m.n_fds == 1) {
			if (door.inboxes[m.index] >= 0)
				close(door.inboxes[m.index]);
			door.inboxes[m.index] = m.fds[0];
		} else {
			cnd_fatal("the master sent nonsense");
		}
	}
	if (r < 0)
		cnd_fatal("the master: %s", strerror(-r));
}

static void
on_inbox(void)
{
	static struct cnd_ipc m;
	struct guest *g;

	while (cnd_ipc_receive(door.child->door_inbox[1], &m) > 0) {
		if (m.n_fds != 1)
			cnd_fatal("a worker sent nonsense");
		if (m.kind == CND_IPC_SILENT && m.index < CND_POOL_RECORD) {
			receive_guest(m.fds[0], m.index);
			continue;
		}
		if (m.kind != CND_IPC_RESUME || m.index >= door.board->n_slots)
			cnd_fatal("a worker sent nonsense");
		g = calloc(1, sizeof(*g));
		if (g == NULL) {
			close(m.fds[0]);
			continue;
		}
		g->source.kind = SOURCE_GUEST;
		g->fd = m.fds[0];
		g->since_ms = cnd_now_ms();
		append(&door.talking, g);
		if (watch(EPOLL_CTL_ADD, g->fd, 0, &g->source) < 0)
			dismiss(g);
		else
			forward(g, m.index, &m);
	}
}

/* ---- time ---- */

static int64_t
deadline_of(const struct guest *g)
{
	int64_t limit;

	if (g->phase != PHASE_WAITING)
		return g->since_ms + OPENING_MS;
	limit = door.board->pools[g->pool].queue_timeout_ms;
	return limit > 0 ? g->since_ms + limit : CND_NEVER;
}

static void
expire(void)
{
	int64_t now = cnd_now_ms();

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): dismiss() takes it off the list */
	while (door.talking.first != NULL && now >= deadline_of(door.talking.first))
		dismiss(door.talking.first);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		struct guests *waiting = &door.pools[i].waiting;

		while (waiting->first != NULL && now >= deadline_of(waiting->first))
			refuse_late(waiting->first);
	}
}

static int
time_left(void)
{
	int64_t until = door.look_at_ms;
	int64_t now = cnd_now_ms();

	if (door.talking.first != NULL && deadline_of(door.talking.first) < until)
		until = deadline_of(door.talking.first);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		const struct door_pool *p = &door.pools[i];

		if (p->to_push != NULL && now + LOOK_MS < until)
			until = now + LOOK_MS;
		if (p->waiting.first != NULL && deadline_of(p->waiting.first) < until)
			until = deadline_of(p->waiting.first);
	}
	if (until == CND_NEVER)
		return -1;
	if (until - now > 3600000)
		return 3600000;
	return until > now ? (int)(until - now) : 0;
}

/* ---- life ---- */

static void
settle(void)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		struct door_pool *p = &door.pools[i];

		if (!p->is_here || p->waiting.n == 0)
			continue;
		dismiss_taken(p);
		push(p);
		if (p->is_dirty)
			refuse_if_down(i);
		p->is_dirty = 0;
	}
	expire();
	if (door.look_at_ms <= cnd_now_ms())
		look_at_pools();
}

static void
turn(const sigset_t *waiting_mask)
{
	struct epoll_event events[N_EVENTS];
	unsigned ready = 0;
	int n = epoll_pwait(door.epoll_fd, events, N_EVENTS, time_left(), waiting_mask);

	for (int i = 0; i < n; i++) {
		struct source *source = events[i].data.ptr;

		if (source->kind == SOURCE_GUEST)
			on_guest((struct guest *)source, events[i].events);
		else if (source->kind == SOURCE_POOL)
			on_listen((uint32_t)((struct door_pool *)source - door.pools));
		else
			ready |= 1u << source->kind;
	}
	/* last, since they may dismiss a guest that has an event above */
	if (ready & 1u << SOURCE_WAKE)
		on_wake();
	if (ready & 1u << SOURCE_INBOX)
		on_inbox();
	if (ready & 1u << SOURCE_CONTROL)
		on_control();
	settle();
}

static void
set_signals(sigset_t *ret_waiting_mask)
{
	struct sigaction act = { .sa_handler = on_term };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(ret_waiting_mask);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGUSR1, &ignore, NULL);
}

static void
begin_watching(int fd, struct source *source, enum source_kind kind)
{
	source->kind = kind;
	if (watch(EPOLL_CTL_ADD, fd, EPOLLIN, source) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

static void
close_up(void)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!door.pools[i].is_here)
			continue;
		for (struct guest *g = door.pools[i].waiting.first, *next; g != NULL;
			g = next) {
			next = g->next;
			if (give_up(g))
				refuse(g, CNC_SQLSTATE(SHUTDOWN), "cenoted is ending");
		}
	}
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): dismiss() takes it off the list */
	while (door.talking.first != NULL)
		dismiss(door.talking.first);
	cnp_server_finish(&door.server);
	free(door.inboxes);
}

void
cnd_door_run(const struct cnd_child *child, int control_fd, const struct cnd_pool *pools,
	size_t n_pools, const int *inboxes)
{
	const struct cnd_config *c = child->config;
	sigset_t waiting_mask;
	int r;

	cnd_log_set_role("door", NULL);
	set_signals(&waiting_mask);
	/* It keeps the right to accept on the pools' sockets, and to signal the workers. */
	if ((r = cnd_priv_drop(c->uid, c->gid, c->user)) < 0 ||
		(r = cnd_priv_confine(child->master)) < 0)
		cnd_fatal("cannot give up privileges: %s", strerror(-r));
	prctl(PR_SET_NAME, "cenoted-door");
	for (size_t i = 0; i < c->n_pools; i++)
		cnd_pool_config_forget(&c->pools[i]);
	door.child = child;
	door.board = child->board;
	door.control_fd = control_fd;
	door.look_at_ms = CND_NEVER;
	door.inboxes = malloc(child->board->n_slots * sizeof(*inboxes));
	door.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (door.inboxes == NULL || door.epoll_fd < 0)
		cnd_fatal("cannot begin: %s", strerror(errno));
	memcpy(door.inboxes, inboxes, child->board->n_slots * sizeof(*inboxes));
	cnp_server_init(&door.server, &cnc_mem_default, CNP_FRAME_MAX, SIZE_MAX / 4);
	begin_watching(child->door_wake, &door.wake, SOURCE_WAKE);
	begin_watching(control_fd, &door.control, SOURCE_CONTROL);
	begin_watching(child->door_inbox[1], &door.inbox, SOURCE_INBOX);
	for (size_t i = 0; i < n_pools; i++) {
		if (pools[i].config != NULL)
			add_pool(pools[i].index, pools[i].listen_fd, pools[i].queue[0]);
	}
	while (!is_ending)
		turn(&waiting_mask);
	close_up();
	exit(0);
}
