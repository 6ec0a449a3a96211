/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main function of a shared worker process. The master sends the inbox of a slot when it wants a
 * session there. It shuts the control socket down when it wants no more sessions. The process tells the master when
 * a session has ended, and when its clients need more sessions. Once the master has shut the
 * control socket down, or SIGTERM has come, the process ends with its last session.
 */
#include "shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shared/ipc.h"
#include "shared/log.h"

/* The stack of each session. Resolving a server's name needs more of it than our own code. */
#define STACK_SIZE ((size_t)1024 * 1024)
#define GOODBYE_MS 2000

/* ---- sessions ---- */

static void
tell_master(const struct cnd_shared *s, uint32_t kind, uint32_t index, uint64_t serial)
{
	struct cnd_ipc m = { .kind = kind, .index = index, .serial = serial };

	if (cnd_ipc_send(s->control_fd, &m) < 0)
		cnd_log(LOG_WARNING, "the master does not read its messages");
}

void
cnd_shared_ask_for_more(struct cnd_shared *s)
{
	if (s->is_retired || s->n_workers == s->n_slots)
		return;
	tell_master(s, CND_IPC_GROW, 0, s->stayings.n_waiting);
}

static uint32_t
place_of(const struct cnd_shared *s, uint32_t slot)
{
	uint32_t i = 0;

	while (i < s->n_slots && s->slots[i] != slot)
		i++;
	return i;
}

static void
run_session(void *user)
{
	struct cnd_worker *w = user;
	struct cnd_shared *s = w->shared;
	uint32_t slot = w->slot_index;

	cnd_worker_live(w);
	free(w);
	s->workers[place_of(s, slot)] = NULL;
	s->n_workers--;
	tell_master(s, CND_IPC_SEAT_ENDED, slot, 0);
}

static void
begin_session(struct cnd_shared *s, uint32_t slot, int inbox_fd)
{
	uint32_t place = place_of(s, slot);
	struct cnd_worker *w;

	if (place == s->n_slots || s->workers[place] != NULL)
		cnd_fatal("the master sent nonsense");
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		cnd_fatal("out of memory");
	cnd_worker_set_up(w, s->child, s->pool, slot, inbox_fd);
	w->tls = s->tls;
	w->shared = s;
	w->seat = cnd_loop_start(&s->loop, run_session, w, STACK_SIZE);
	if (w->seat == NULL)
		cnd_fatal("out of memory");
	s->workers[place] = w;
	s->n_workers++;
}

/* ---- the master ---- */

static void
hear_master(struct cnd_shared *s)
{
	struct cnd_ipc m;
	int r;

	while ((r = cnd_ipc_receive(s->control_fd, &m)) > 0) {
		if (m.kind != CND_IPC_SEAT || m.n_fds != 1)
			cnd_fatal("the master sent nonsense");
		begin_session(s, m.index, m.fds[0]);
	}
	if (r == 0)
		return;
	cnd_loop_unwatch(&s->loop, s->control_fd);
	s->is_retired = true;
	cnd_staying_send_away(s);
}

/* ---- the loop ---- */

static void
on_event(void *user, enum cnd_watch watch, uint32_t index, uint32_t events)
{
	struct cnd_shared *s = user;

	if (watch == CND_WATCH_STAYING)
		cnd_staying_on_event(s, index, events);
	else if (watch == CND_WATCH_CONTROL)
		hear_master(s);
}

static int64_t
on_turn(void *user)
{
	struct cnd_shared *s = user;
	struct cnd_staying *lost;
	int64_t staying, listening;

	while ((lost = cnd_listening_next_lost(&s->listening)) != NULL)
		cnd_staying_lose(s, lost);
	staying = cnd_staying_look(s);
	listening = cnd_listening_look(s);
	return staying < listening ? staying : listening;
}

static void
watch(struct cnd_shared *s, int fd, enum cnd_watch watch)
{
	int r = cnd_loop_watch(&s->loop, fd, watch, 0);

	if (r < 0)
		cnd_fatal("epoll: %s", strerror(-r));
}

static void
init(struct cnd_shared *s)
{
	cnd_loop_init(&s->loop, s->n_slots);
	s->loop.on_event = on_event;
	s->loop.on_turn = on_turn;
	s->loop.user = s;
	cnd_staying_init(&s->stayings);
	cnd_listening_init(&s->listening);
	s->workers = calloc(s->n_slots, sizeof(struct cnd_worker *));
	if (s->workers == NULL)
		cnd_fatal("out of memory");
	watch(s, s->pool->listen_fd, CND_WATCH_SOCKET);
	watch(s, s->pool->queue[1], CND_WATCH_QUEUE);
	watch(s, s->control_fd, CND_WATCH_CONTROL);
}

_Noreturn void
cnd_worker_run_shared(const struct cnd_child *child, const struct cnd_pool *pool,
	const uint32_t *slots, uint32_t n_slots, int control_fd)
{
	static struct cnd_shared shared;
	struct cnd_shared *s = &shared;
	sigset_t mask;

	cnd_worker_set_signals(&mask);
	s->child = child;
	s->pool = pool;
	s->pid = getpid();
	s->slots = slots;
	s->n_slots = n_slots;
	s->control_fd = control_fd;
	s->tls = cnd_worker_enter(child, pool);
	init(s);
	while ((!s->is_retired && !cnd_worker_is_terminated()) || s->n_workers > 0)
		cnd_loop_turn(&s->loop);
	cnd_staying_send_away(s);
	exit(0);
}
