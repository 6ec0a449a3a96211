/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door's life: it waits for clients, workers, helpers and the master, and has the other files
 * of the door handle what comes. Here are also the pools' sockets, on which it accepts while a
 * pool has no idle worker, and the master's messages. The master forks it with cnd_door_run().
 */
#include "door_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shared/log.h"
#include "shared/priv.h"
#include "shared/sandbox.h"

/* The door looks at a pool this long after its last idle worker became busy. So a pool that is only
 * briefly busy keeps serving its clients directly. */
#define LOOK_MS  5
#define N_EVENTS 64

static volatile sig_atomic_t is_ending;

static void
on_term(int number)
{
	(void)number;
	is_ending = 1;
}

static int
watch(int fd, struct cnd_source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void
on_guest(struct cnd_guest *g, uint32_t events)
{
	int has_gone = (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;

	if (g->phase == CND_GUEST_LEAVING)
		cnd_guest_send_rest(g);
	else if (g->phase == CND_GUEST_OPENING)
		has_gone ? cnd_guest_dismiss(g) : cnd_opening_look(g);
	else if (has_gone &&
		 (g->phase == CND_GUEST_PAUSING || g->phase == CND_GUEST_ASKING ||
			 g->phase == CND_GUEST_BLAMED))
		cnd_guest_dismiss(g);
	else if (has_gone)
		cnd_waiting_leave(g);
}

/* ---- the pools' sockets ---- */

static struct cnd_pool_record *
record_of(uint32_t pool)
{
	return cnd_pool_record(cnd_the_door.board, pool);
}

/* The record tells the workers. The door itself uses its own flag, since others can write the
 * record. */
static void
set_armed(uint32_t pool, int is_armed)
{
	cnd_the_door.pools[pool].is_armed = is_armed;
	atomic_store(&record_of(pool)->is_armed, (uint32_t)is_armed);
}

static void
disarm(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];

	if (p->is_armed)
		(void)epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_DEL, p->listen_fd, NULL);
	set_armed(pool, 0);
}

static void
arm(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];

	if (!p->is_armed && watch(p->listen_fd, &p->source) < 0)
		cnd_log(LOG_ERR, "epoll: %s", strerror(errno));
	set_armed(pool, 1);
}

/* Whether another cenoted accepts the clients of the pool's socket. */
static int
is_left(uint32_t pool)
{
	return cnd_pool_head(cnd_the_door.board, pool)->is_left != 0;
}

static void
on_listen(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];
	int n = 0;
	int fd;

	if (!p->is_here)
		return;
	/* The kernel also woke an idle worker, which can accept directly. The next look takes the
	 * clients that are still in the backlog then. */
	while (n < CND_DOOR_ACCEPTS && !cnd_pool_has_idle(record_of(pool)) &&
		!is_left(pool)) {
		fd = cnd_door_accept(p->listen_fd, NULL, NULL);
		if (fd < 0)
			break;
		cnd_opening_receive(fd, pool);
		n++;
	}
	if (n > 0)
		return;
	disarm(pool);
	if (cnd_the_door.look_at_ms == CND_NEVER)
		cnd_the_door.look_at_ms = cnd_now_ms() + LOOK_MS;
}

/* Accept for the pools that have no idle worker, and for no other. */
static void
look_at_pools(void)
{
	cnd_the_door.look_at_ms = CND_NEVER;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!cnd_the_door.pools[i].is_here)
			continue;
		/* before the look: a worker that becomes busy from here on asks again */
		atomic_store(&record_of(i)->door_is_awake, 0);
		if (cnd_pool_has_idle(record_of(i)) || is_left(i))
			disarm(i);
		else
			arm(i);
	}
}

static void
on_wake(struct cnd_door_pool *p)
{
	eventfd_t n;

	(void)eventfd_read(p->wake_fd, &n);
	p->is_dirty |= p->waiting.n + p->held.n > 0;
	if (record_of((uint32_t)(p - cnd_the_door.pools))->door_is_awake &&
		cnd_the_door.look_at_ms == CND_NEVER)
		cnd_the_door.look_at_ms = cnd_now_ms() + LOOK_MS;
}

/* ---- messages ---- */

static void
set_networks(struct cnd_door_pool *p, const struct cnd_ipc *m)
{
	if (m->n_bytes != sizeof(p->networks))
		cnd_fatal("the master sent nonsense");
	memcpy(&p->networks, m->bytes, sizeof(p->networks));
}

static void
count_pools(int step)
{
	cnd_the_door.n_pools += (uint32_t)step;
	cnd_shares_set_pools(&cnd_the_door.waiting_shares, cnd_the_door.n_pools);
	cnd_shares_set_pools(&cnd_the_door.asking_shares, cnd_the_door.n_pools);
}

/* `fds`: in the order of CND_IPC_POOL. */
static void
add_pool(uint32_t index, const int *fds)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[index];

	p->source.kind = CND_SOURCE_POOL;
	p->wake.kind = CND_SOURCE_WAKE;
	p->is_here = 1;
	p->listen_fd = fds[0];
	p->queue_fd = fds[1];
	p->wake_fd = fds[2];
	if (watch(p->wake_fd, &p->wake) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
	count_pools(1);
	cnd_the_door.look_at_ms = cnd_now_ms();
}

static void
remove_pool(uint32_t index)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[index];

	if (!p->is_here)
		return;
	disarm(index);
	cnd_waiting_refuse_all(index, "the pool is being removed");
	/* workers that still run have a copy of this descriptor, so epoll would go on watching it
	 * after close() */
	(void)epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_DEL, p->wake_fd, NULL);
	close(p->listen_fd);
	close(p->queue_fd);
	close(p->wake_fd);
	p->is_here = 0;
	count_pools(-1);
}

static void
set_listener(const struct cnd_ipc *m)
{
	struct cnd_door_listener *l = &cnd_the_door.listeners[m->index];

	l->source.kind = CND_SOURCE_LISTENER;
	l->fd = m->fds[0];
	l->has_proxy = m->serial != 0;
	if (watch(l->fd, &l->source) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

static void
close_listener(uint32_t index)
{
	struct cnd_door_listener *l = &cnd_the_door.listeners[index];

	if (l->fd < 0)
		return;
	/* the master has a copy of this descriptor, so epoll would go on watching it after close() */
	(void)epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_DEL, l->fd, NULL);
	close(l->fd);
	l->fd = -1;
}

static void
set_inbox(uint32_t slot, int inbox, uint32_t pool)
{
	if (cnd_workers_add(slot, inbox, pool) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

/* Whether the master's message has the right number of descriptors and a valid index. */
static int
is_sense(const struct cnd_ipc *m)
{
	switch (m->kind) {
	case CND_IPC_POOL:
		return m->n_fds == 3 && m->index < CND_POOL_RECORD;
	case CND_IPC_POOL_GONE:
	case CND_IPC_NETWORKS:
		return m->n_fds == 0 && m->index < CND_POOL_RECORD;
	case CND_IPC_INBOX:
		return m->n_fds == 1 && m->index < cnd_the_door.board->n_slots &&
		       m->serial < CND_POOL_RECORD;
	case CND_IPC_LISTENER:
		return m->n_fds == 1 && m->index < CND_LISTENERS_MAX;
	case CND_IPC_LISTENER_GONE:
		return m->n_fds == 0 && m->index < CND_LISTENERS_MAX;
	case CND_IPC_HELPED:
		return m->n_fds == 0 && m->index < CND_HELPERS_MAX;
	default:
		return 0;
	}
}

static void
obey(const struct cnd_ipc *m)
{
	switch (m->kind) {
	case CND_IPC_POOL:
		add_pool(m->index, m->fds);
		set_networks(&cnd_the_door.pools[m->index], m);
		break;
	case CND_IPC_POOL_GONE:
		remove_pool(m->index);
		break;
	case CND_IPC_NETWORKS:
		set_networks(&cnd_the_door.pools[m->index], m);
		cnd_the_door.look_at_ms = cnd_now_ms();
		break;
	case CND_IPC_INBOX:
		set_inbox(m->index, m->fds[0], (uint32_t)m->serial);
		break;
	case CND_IPC_LISTENER:
		set_listener(m);
		break;
	case CND_IPC_HELPED:
		cnd_asking_end(m);
		break;
	default:
		close_listener(m->index);
	}
}

static void
on_control(void)
{
	static struct cnd_ipc m;
	int r;

	while ((r = cnd_door_receive(cnd_the_door.control_fd, &m)) > 0 || r == -EMFILE) {
		if (r > 0 && !is_sense(&m))
			cnd_fatal("the master sent nonsense");
		if (r > 0)
			obey(&m);
		else
			cnd_log(LOG_ERR,
				"out of descriptors: lost a message of the master");
		/* the next message also needs descriptors */
		while (cnd_door_reserve() < 0 && cnd_waiting_shed())
			;
	}
	if (r < 0)
		cnd_fatal("the master: %s", strerror(-r));
}

/* ---- time ---- */

/* Lists whose clients have CND_DOOR_OPENING_MS, in the order of arrival. */
static struct cnd_guests *const limited[] = { &cnd_the_door.talking,
	&cnd_the_door.strangers, &cnd_the_door.asking, &cnd_the_door.leaving };

#define N_LIMITED (sizeof(limited) / sizeof(limited[0]))

static int64_t
limit_of(const struct cnd_guests *list)
{
	return list->first != NULL ? list->first->since_ms + CND_DOOR_OPENING_MS
				   : CND_NEVER;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int
time_left(void)
{
	int64_t until = earlier(cnd_the_door.look_at_ms, cnd_guest_next_pause());
	int64_t now = cnd_now_ms();

	until = earlier(until, cnd_workers_next(now));
	for (size_t i = 0; i < N_LIMITED; i++)
		until = earlier(until, limit_of(limited[i]));
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_door.pools[i].is_here)
			until = earlier(until, cnd_waiting_next(i, now));
	}
	if (until == CND_NEVER)
		return -1;
	if (until - now > 3600000)
		return 3600000;
	return until > now ? (int)(until - now) : 0;
}

/* ---- life ---- */

static void
dismiss_late(struct cnd_guests *list, int64_t now)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): dismissing takes it off the list */
	while (now >= limit_of(list))
		cnd_guest_dismiss(list->first);
}

static void
dismiss_all(struct cnd_guests *list)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): dismissing takes it off the list */
	while (list->first != NULL)
		cnd_guest_dismiss(list->first);
}

static void
settle(void)
{
	int64_t now = cnd_now_ms();

	cnd_guest_end_pauses(now);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!cnd_the_door.pools[i].is_here)
			continue;
		cnd_waiting_settle(i);
		cnd_waiting_expire(i, now);
	}
	cnd_asking_settle(now);
	cnd_workers_settle();
	(void)cnd_door_reserve();
	for (size_t i = 0; i < N_LIMITED; i++)
		dismiss_late(limited[i], now);
	if (cnd_the_door.look_at_ms <= now)
		look_at_pools();
}

static void
accept_strangers(void)
{
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (cnd_the_door.listeners[i].fd >= 0)
			cnd_opening_accept(&cnd_the_door.listeners[i]);
	}
}

/* The sources that are ready, except guests. */
struct ready {
	unsigned kinds; /* bits of enum cnd_source_kind */
	struct cnd_door_pool *pools[N_EVENTS];
	int n_pools;
	struct cnd_door_worker *workers[N_EVENTS];
	int n_workers;
};

static void
on_event(const struct epoll_event *event, struct ready *r)
{
	struct cnd_source *source = event->data.ptr;

	switch (source->kind) {
	case CND_SOURCE_GUEST:
		on_guest((struct cnd_guest *)source, event->events);
		break;
	case CND_SOURCE_POOL:
		r->pools[r->n_pools++] = (struct cnd_door_pool *)source;
		break;
	case CND_SOURCE_WAKE:
		on_wake((struct cnd_door_pool *)((char *)source -
						 offsetof(struct cnd_door_pool, wake)));
		break;
	case CND_SOURCE_WORKER:
		r->workers[r->n_workers++] = (struct cnd_door_worker *)source;
		break;
	default:
		r->kinds |= 1u << source->kind;
	}
}

static void
turn(const sigset_t *waiting_mask)
{
	struct epoll_event events[N_EVENTS];
	struct ready ready = { .n_workers = 0 };
	int n = epoll_pwait(
		cnd_the_door.epoll_fd, events, N_EVENTS, time_left(), waiting_mask);

	for (int i = 0; i < n; i++)
		on_event(&events[i], &ready);
	/* After the guests, since a message of the master may dismiss one of them. Before the rest,
	 * since a new client may name a worker that the master's message announces. */
	if (ready.kinds & 1u << CND_SOURCE_CONTROL)
		on_control();
	for (int i = 0; i < ready.n_pools; i++)
		on_listen((uint32_t)(ready.pools[i] - cnd_the_door.pools));
	for (int i = 0; i < ready.n_workers; i++)
		cnd_workers_hear((uint32_t)(ready.workers[i] - cnd_the_door.workers));
	if (ready.kinds & 1u << CND_SOURCE_HELPERS)
		cnd_workers_hear_helpers();
	if (ready.kinds & 1u << CND_SOURCE_LISTENER)
		accept_strangers();
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
begin_watching(int fd, struct cnd_source *source, enum cnd_source_kind kind)
{
	source->kind = kind;
	if (watch(fd, source) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

static void
close_up(void)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (cnd_the_door.pools[i].is_here)
			cnd_waiting_refuse_all(i, "cenoted is ending");
	}
	for (size_t i = 0; i < N_LIMITED; i++)
		dismiss_all(limited[i]);
	dismiss_all(&cnd_the_door.pausing);
	cnp_server_finish(&cnd_the_door.server);
	free(cnd_the_door.workers);
}

static void
give_up_rights(const struct cnd_child *child)
{
	const struct cnd_config *c = child->config;

	/* The door keeps the right to accept on the pools' sockets. */
	cnd_priv_give_up(c->uid, c->gid, c->user, child->master, "cenoted-door");
	if (cnd_sandbox_enter(CND_SANDBOX_DOOR, c) < 0)
		exit(1);
	cnd_pool_configs_forget(c, NULL);
}

static void
init(const struct cnd_child *child, int control_fd)
{
	uint32_t n = child->board->n_slots;

	cnd_the_door.child = child;
	cnd_the_door.board = child->board;
	cnd_the_door.control_fd = control_fd;
	cnd_the_door.look_at_ms = CND_NEVER;
	cnd_the_door.workers = calloc(n, sizeof(*cnd_the_door.workers));
	cnd_the_door.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (cnd_the_door.workers == NULL || cnd_the_door.epoll_fd < 0 ||
		cnd_door_reserve() < 0)
		cnd_fatal("cannot start: %s", strerror(errno));
	for (uint32_t i = 0; i < n; i++)
		cnd_the_door.workers[i].inbox = -1;
	for (uint32_t i = 0; i < CND_LISTENERS_MAX; i++)
		cnd_the_door.listeners[i].fd = -1;
	cnp_server_init(
		&cnd_the_door.server, &cnc_mem_default, CNP_FRAME_MAX, SIZE_MAX / 4);
	cnd_shares_init(&cnd_the_door.waiting_shares, CND_DOOR_WAITING);
	cnd_shares_init(&cnd_the_door.asking_shares, CND_DOOR_ASKING);
	begin_watching(control_fd, &cnd_the_door.control, CND_SOURCE_CONTROL);
	begin_watching(
		child->helper_inbox[1], &cnd_the_door.helpers_inbox, CND_SOURCE_HELPERS);
}

static void
take_pools(const struct cnd_pool *pools, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const int fds[] = { pools[i].listen_fd, pools[i].queue[0],
			pools[i].wake_fd };

		add_pool(pools[i].index, fds);
		cnd_the_door.pools[pools[i].index].networks = pools[i].config->networks;
	}
}

static void
take_listeners(const struct cnd_listeners *listeners)
{
	for (uint32_t i = 0; i < CND_LISTENERS_MAX; i++) {
		struct cnd_ipc m = { .index = i,
			.serial = listeners->list[i].at.has_proxy,
			.fds = { listeners->list[i].fd } };

		if (m.fds[0] >= 0)
			set_listener(&m);
	}
}

void
cnd_door_run(const struct cnd_child *child, int control_fd, const struct cnd_pool *pools,
	size_t n_pools, const struct cnd_listeners *listeners,
	const struct cnd_place *places)
{
	sigset_t waiting_mask;

	cnd_log_set_role("door", NULL);
	set_signals(&waiting_mask);
	give_up_rights(child);
	init(child, control_fd);
	take_pools(pools, n_pools);
	take_listeners(listeners);
	for (uint32_t i = 0; i < child->board->n_slots; i++) {
		if (places[i].inbox >= 0)
			set_inbox(i, places[i].inbox, places[i].pool);
	}
	while (!is_ending)
		turn(&waiting_mask);
	close_up();
	exit(0);
}
