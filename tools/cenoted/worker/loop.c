/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event loop of a shared worker. It waits in one epoll for all seats of the process, and runs the
 * seats that have events. It owns the fibres. shared.c runs the loop; wait.c and worker.c call this file from the seats.
 */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "shared/log.h"
#include "shared/scoreboard.h"

#define EVENTS_MAX 128
/* After this many waits that ended at once, a seat lets the other seats run. */
#define DIRECT_MAX 16u

#define ALWAYS (EPOLLIN | EPOLLRDHUP | EPOLLET)

/* ---- watching ---- */

static struct cnd_watched *
watched_of(const struct cnd_loop *l, int fd)
{
	return &l->watched[fd];
}

/* Make room for the descriptor in the table. */
static void
grow_watched(struct cnd_loop *l, int fd)
{
	uint32_t n = l->n_watched > 0 ? l->n_watched : 256;
	struct cnd_watched *grown;

	if ((uint32_t)fd < l->n_watched)
		return;
	while (n <= (uint32_t)fd)
		n *= 2;
	grown = realloc(l->watched, n * sizeof(*grown));
	if (grown == NULL)
		cnd_fatal("out of memory");
	memset(grown + l->n_watched, 0, (n - l->n_watched) * sizeof(*grown));
	l->watched = grown;
	l->n_watched = n;
}

static int
control(struct cnd_loop *l, int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(l->epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

static int
watch_for(
	struct cnd_loop *l, int fd, enum cnd_watch watch, uint32_t index, uint32_t events)
{
	int r = control(l, EPOLL_CTL_ADD, fd, events);

	if (r < 0)
		return r;
	grow_watched(l, fd);
	*watched_of(l, fd) =
		(struct cnd_watched){ .watch = (uint8_t)watch, .index = index };
	return 0;
}

int
cnd_loop_watch(struct cnd_loop *l, int fd, enum cnd_watch watch, uint32_t index)
{
	return watch_for(l, fd, watch, index, ALWAYS);
}

void
cnd_loop_unwatch(struct cnd_loop *l, int fd)
{
	(void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	if ((uint32_t)fd < l->n_watched)
		*watched_of(l, fd) = (struct cnd_watched){ .watch = CND_WATCH_NOBODY };
}

/* ---- the list of seats to run ---- */

static void
make_ready(struct cnd_seat *s)
{
	struct cnd_loop *l = s->loop;

	if (s->is_ready)
		return;
	s->is_ready = true;
	s->next_ready = NULL;
	*l->ready_end = s;
	l->ready_end = &s->next_ready;
}

static void
leave_idle(struct cnd_seat *s)
{
	struct cnd_seat **at = &s->loop->idle;

	while (*at != s)
		at = &(*at)->next_idle;
	*at = s->next_idle;
	s->is_idle = false;
}

/* Make the seat that went idle last ready to run. 1; 0: no seat is idle. */
static int
wake_idle(struct cnd_loop *l)
{
	struct cnd_seat *s = l->idle;

	if (s == NULL)
		return 0;
	leave_idle(s);
	make_ready(s);
	return 1;
}

/* 1: there was one. */
static int
wake_between(struct cnd_loop *l)
{
	for (uint32_t i = 0; i < l->n_seats; i++) {
		struct cnd_seat *s = &l->seats[i];

		if (s->is_waiting && s->is_between && !s->is_ready) {
			make_ready(s);
			return 1;
		}
	}
	return 0;
}

void
cnd_seat_wake(struct cnd_seat *s)
{
	if (s->is_waiting)
		make_ready(s);
}

void
cnd_loop_wake_for_client(struct cnd_loop *l)
{
	if (!wake_idle(l))
		(void)wake_between(l);
}

void
cnd_loop_wake_for_clients(struct cnd_loop *l)
{
	while (wake_idle(l) || wake_between(l))
		;
}

/* ---- on a seat ---- */

static int *
watched_at(struct cnd_seat *s, int fd)
{
	for (size_t i = 0; i < sizeof(s->watched) / sizeof(s->watched[0]); i++) {
		if (s->watched[i] == fd)
			return &s->watched[i];
	}
	return NULL;
}

/* If `watched` is full, watch_all() adds the descriptor for each wait. */
static void
note_watched(struct cnd_seat *s, int fd)
{
	int *at = watched_at(s, -1);

	if (at != NULL)
		*at = fd;
	else
		cnd_loop_unwatch(s->loop, fd);
}

void
cnd_seat_watch(struct cnd_seat *s, int fd)
{
	int r = cnd_loop_watch(s->loop, fd, CND_WATCH_SEAT, cnd_seat_index(s));

	if (r < 0)
		cnd_fatal("epoll: %s", strerror(-r));
	note_watched(s, fd);
}

void
cnd_seat_take_over(struct cnd_seat *s, int fd)
{
	struct cnd_watched *w = watched_of(s->loop, fd);

	w->watch = CND_WATCH_SEAT;
	w->index = cnd_seat_index(s);
	note_watched(s, fd);
}

void
cnd_seat_unwatch(struct cnd_seat *s, int fd)
{
	int *at = watched_at(s, fd);

	if (fd < 0 || at == NULL)
		return;
	*at = -1;
	cnd_loop_unwatch(s->loop, fd);
}

void
cnd_seat_drained(struct cnd_seat *s, int fd)
{
	if ((uint32_t)fd < s->loop->n_watched)
		watched_of(s->loop, fd)->is_raised = false;
}

/* Report what has come on a descriptor while it had another owner. */
static void
report(struct cnd_loop *l, int fd)
{
	struct cnd_watched *w = watched_of(l, fd);
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };

	if (!w->is_raised && !w->is_hung)
		return;
	if (poll(&p, 1, 0) > 0)
		l->on_event(l->user, (enum cnd_watch)w->watch, w->index,
			(uint32_t)(unsigned short)p.revents);
	else
		w->is_raised = false;
}

void
cnd_seat_hand_on(struct cnd_seat *s, int fd, enum cnd_watch watch, uint32_t index)
{
	int *at = watched_at(s, fd);

	/* There was no room on the seat, so epoll does not watch it. */
	if (at == NULL) {
		int r = cnd_loop_watch(s->loop, fd, watch, index);

		if (r < 0)
			cnd_fatal("epoll: %s", strerror(-r));
		return;
	}
	*at = -1;
	watched_of(s->loop, fd)->watch = (uint8_t)watch;
	watched_of(s->loop, fd)->index = index;
	report(s->loop, fd);
}

/* Add the descriptors that epoll does not watch yet, and watch for POLLOUT where the seat waits for it. */
static void
watch_all(struct cnd_seat *s, const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++) {
		const struct pollfd *p = &fds[i];
		uint32_t out = (p->events & POLLOUT) != 0 ? (uint32_t)EPOLLOUT : 0;

		if (p->fd < 0)
			continue;
		if (watched_at(s, p->fd) == NULL)
			(void)watch_for(s->loop, p->fd, CND_WATCH_SEAT, cnd_seat_index(s),
				ALWAYS | out);
		else if (out != 0)
			(void)control(s->loop, EPOLL_CTL_MOD, p->fd, ALWAYS | out);
	}
}

static void
unwatch_all(struct cnd_seat *s, const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++) {
		const struct pollfd *p = &fds[i];

		if (p->fd < 0)
			continue;
		if (watched_at(s, p->fd) == NULL)
			cnd_loop_unwatch(s->loop, p->fd);
		else if ((p->events & POLLOUT) != 0)
			(void)control(s->loop, EPOLL_CTL_MOD, p->fd, ALWAYS);
	}
}

/* Whether epoll will report everything that the seat waits for, because nothing of it can be there yet. */
static bool
is_quiet(struct cnd_seat *s, const struct pollfd *p)
{
	const struct cnd_watched *w;

	if (p->fd < 0)
		return true;
	if ((p->events & POLLOUT) != 0 || watched_at(s, p->fd) == NULL)
		return false;
	w = watched_of(s->loop, p->fd);
	return !w->is_hung && (!w->is_raised || (p->events & POLLIN) == 0);
}

static void
note_empty(struct cnd_seat *s, const struct pollfd *p)
{
	if (p->fd >= 0 && (p->events & POLLIN) != 0)
		cnd_seat_drained(s, p->fd);
}

/* Call poll(2), if anything can have come. */
static int
look(struct cnd_seat *s, struct pollfd *fds, nfds_t n)
{
	nfds_t quiet = 0;
	int r;

	while (quiet < n && is_quiet(s, &fds[quiet]))
		quiet++;
	r = quiet < n ? poll(fds, n, 0) : 0;
	if (r > 0)
		return r;
	for (nfds_t i = 0; i < n; i++) {
		fds[i].revents = 0;
		if (quiet < n && r == 0)
			note_empty(s, &fds[i]);
	}
	return 0;
}

/* Leave the fibre until the loop finds an event, or `until_ms` has passed. */
static int
leave(struct cnd_seat *s, struct pollfd *fds, nfds_t n, int64_t until_ms)
{
	int r = 0;

	s->fds = fds;
	s->n_fds = n;
	s->until_ms = until_ms;
	s->is_waiting = true;
	cnc_fibre_leave(&s->fibre);
	s->is_waiting = false;
	for (nfds_t i = 0; i < n; i++)
		r += fds[i].revents != 0;
	return r;
}

void
cnd_seat_breathe(struct cnd_seat *s)
{
	if (++s->n_direct < DIRECT_MAX)
		return;
	s->n_direct = 0;
	make_ready(s);
	(void)leave(s, NULL, 0, CND_NEVER);
}

int
cnd_seat_poll(struct cnd_seat *s, struct pollfd *fds, nfds_t n, int64_t until_ms)
{
	int r = look(s, fds, n);

	if (r > 0 || until_ms <= cnd_now_ms()) {
		cnd_seat_breathe(s);
		return r;
	}
	s->n_direct = 0;
	watch_all(s, fds, n);
	r = leave(s, fds, n, until_ms);
	unwatch_all(s, fds, n);
	return r;
}

int
cnd_seat_idle(struct cnd_seat *s, struct pollfd *fds, nfds_t n, int64_t until_ms)
{
	int r;

	s->next_idle = s->loop->idle;
	s->loop->idle = s;
	s->is_idle = true;
	r = cnd_seat_poll(s, fds, n, until_ms);
	if (s->is_idle)
		leave_idle(s);
	return r;
}

/* ---- the loop ---- */

void
cnd_loop_init(struct cnd_loop *l, uint32_t n_seats)
{
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->seats = calloc(n_seats, sizeof(*l->seats));
	if (l->epoll_fd < 0 || l->seats == NULL)
		cnd_fatal("no event loop: %s", strerror(errno));
	l->n_seats = n_seats;
	l->ready_end = &l->ready;
	sigemptyset(&l->waiting_mask);
	for (uint32_t i = 0; i < n_seats; i++)
		l->seats[i] = (struct cnd_seat){ .loop = l, .watched = { -1, -1, -1 } };
}

struct cnd_seat *
cnd_loop_start(struct cnd_loop *l, void (*run)(void *user), void *user, size_t stack_size)
{
	for (uint32_t i = 0; i < l->n_seats; i++) {
		struct cnd_seat *s = &l->seats[i];

		if (s->user != NULL)
			continue;
		if (cnc_fibre_init(&s->fibre, stack_size, run, user) < 0)
			return NULL;
		s->user = user;
		make_ready(s);
		return s;
	}
	return NULL;
}

static void
run_seat(struct cnd_seat *s)
{
	cnc_fibre_enter(&s->fibre);
	if (!s->fibre.is_over)
		return;
	cnc_fibre_finish(&s->fibre);
	s->user = NULL;
}

/* Run the seats that are ready now. Seats that become ready meanwhile run in the next turn. */
static void
run_ready(struct cnd_loop *l)
{
	struct cnd_seat *s = l->ready, *next;

	l->ready = NULL;
	l->ready_end = &l->ready;
	for (; s != NULL; s = next) {
		next = s->next_ready;
		s->is_ready = false;
		run_seat(s);
	}
}

static void
on_seat_event(struct cnd_seat *s, int fd, uint32_t events)
{
	for (nfds_t i = 0; s->is_waiting && i < s->n_fds; i++) {
		struct pollfd *p = &s->fds[i];
		uint32_t wanted =
			(uint32_t)(unsigned short)p->events | EPOLLHUP | EPOLLERR;

		if (p->fd != fd || (events & wanted) == 0)
			continue;
		p->revents = (short)(events & wanted);
		make_ready(s);
	}
}

static void
on_event(struct cnd_loop *l, int fd, uint32_t events)
{
	struct cnd_watched *w = watched_of(l, fd);

	w->is_raised |= (events & EPOLLIN) != 0;
	w->is_hung |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	if (w->watch == CND_WATCH_SEAT)
		on_seat_event(&l->seats[w->index], fd, events);
	else if (w->watch == CND_WATCH_SOCKET)
		l->has_sockets = true;
	else if (w->watch == CND_WATCH_QUEUE)
		l->has_queue = true;
	else if (w->watch != CND_WATCH_NOBODY)
		l->on_event(l->user, (enum cnd_watch)w->watch, w->index, events);
}

/* Wake one idle seat for the door's queue and one for the listening socket, if clients may wait there. */
static void
wake_for_doors(struct cnd_loop *l)
{
	if (l->has_queue)
		(void)wake_idle(l);
	if (l->has_sockets)
		(void)wake_idle(l);
}

static int64_t
wake_due(struct cnd_loop *l, int64_t now)
{
	int64_t next = CND_NEVER;

	for (uint32_t i = 0; i < l->n_seats; i++) {
		struct cnd_seat *s = &l->seats[i];

		if (s->user == NULL || !s->is_waiting || s->is_ready)
			continue;
		if (s->until_ms <= now)
			make_ready(s);
		else if (s->until_ms < next)
			next = s->until_ms;
	}
	return next;
}

static void
wake_all(struct cnd_loop *l)
{
	for (uint32_t i = 0; i < l->n_seats; i++) {
		if (l->seats[i].user != NULL && l->seats[i].is_waiting)
			make_ready(&l->seats[i]);
	}
}

static int
timeout_until(const struct cnd_loop *l, int64_t until, int64_t now)
{
	if (l->ready != NULL || until <= now)
		return 0;
	if (until == CND_NEVER)
		return -1;
	return until - now > 3600000 ? 3600000 : (int)(until - now);
}

void
cnd_loop_turn(struct cnd_loop *l)
{
	struct epoll_event events[EVENTS_MAX];
	int64_t now = cnd_now_ms();
	int64_t until = wake_due(l, now);
	int64_t turn;
	int n;

	wake_for_doors(l);
	turn = l->on_turn(l->user);
	if (turn < until)
		until = turn;
	n = epoll_pwait(l->epoll_fd, events, EVENTS_MAX, timeout_until(l, until, now),
		&l->waiting_mask);
	if (n < 0)
		wake_all(l);
	for (int i = 0; i < n; i++)
		on_event(l, events[i].data.fd, events[i].events);
	wake_for_doors(l);
	run_ready(l);
}
