/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages from workers and helpers to the door. A worker that an attacker has taken over may send
 * anything. Each worker has a connection of its own, so the door knows the sender and its pool, and
 * reports nonsense to the master. door.c calls this file.
 */
#include "door_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shared/log.h"

#define LOST_CLIENT "out of descriptors: closed the connection of a client"

/* ---- from workers ---- */

static void
on_resume(struct cnd_ipc *m)
{
	struct cnd_guest *g = cnd_guest_add(m->fds[0], CND_NO_POOL, &m->peer);

	if (g == NULL)
		return;
	if (cnd_guest_watch(g, EPOLL_CTL_ADD, 0) < 0)
		cnd_guest_dismiss(g);
	else if (cnd_guest_is_too_many(g))
		cnd_guest_refuse_full(g);
	else
		cnd_opening_forward_resume(g, m->index, m);
}

/* A login failed. A client that guesses passwords has to wait for the answer, but not in a worker. */
static void
on_parting(const struct cnd_ipc *m)
{
	struct cnd_guest *g = cnd_guest_add(m->fds[0], m->index, &m->peer);
	int64_t now = cnd_now_ms();

	if (g != NULL && cnd_guest_is_too_many(g))
		cnd_guest_dismiss(g);
	else if (g != NULL)
		cnd_guest_part(g, m->bytes, m->n_bytes,
			now + cnd_blame_add(&cnd_the_door.blame, &m->peer, now));
}

static void
on_cancel(uint32_t pool, const struct cnd_ipc *m)
{
	struct cnd_ipc_cancel c;

	memcpy(&c, m->bytes, sizeof(c));
	(void)cnd_workers_cancel(
		pool, &(struct cnp_cancel){
			      .session = m->serial, .key = c.key, .request = c.request });
}

static int
is_of_pool(uint32_t slot, uint32_t pool)
{
	return slot < cnd_the_door.board->n_slots &&
	       cnd_the_door.workers[slot].inbox >= 0 &&
	       cnd_the_door.workers[slot].pool == pool;
}

/* The client must belong to the sender's pool and go to a worker of that pool. That worker may have
 * died meanwhile, which is not the sender's fault; take() checks it. */
static int
is_sense(const struct cnd_ipc *m, uint32_t pool)
{
	switch (m->kind) {
	case CND_IPC_SILENT:
	case CND_IPC_PARTING:
		return m->n_fds == 1 && m->index == pool;
	case CND_IPC_RESUME:
	case CND_IPC_ROUTED:
		return m->n_fds == 1 && m->index < cnd_the_door.board->n_slots;
	case CND_IPC_CANCEL:
		return m->n_fds == 0 && m->n_bytes == sizeof(struct cnd_ipc_cancel);
	default:
		return 0;
	}
}

/* Handle a message. If the client's pool or worker has gone, the client loses its connection. */
static void
take(struct cnd_ipc *m, uint32_t pool)
{
	int is_routed = m->kind == CND_IPC_RESUME || m->kind == CND_IPC_ROUTED;
	int is_silent = m->kind == CND_IPC_SILENT;

	if ((is_routed && !is_of_pool(m->index, pool)) ||
		(is_silent && !cnd_the_door.pools[pool].is_here))
		cnd_ipc_drop(m);
	else if (is_silent)
		cnd_opening_return(m);
	else if (m->kind == CND_IPC_PARTING)
		on_parting(m);
	else if (m->kind == CND_IPC_RESUME)
		on_resume(m);
	else if (m->kind == CND_IPC_ROUTED)
		cnd_opening_route(m, pool);
	else
		on_cancel(pool, m);
}

static void
forget(struct cnd_door_worker *w)
{
	if (w->inbox < 0)
		return;
	/* the master has a copy of this descriptor, so epoll would go on watching it after close() */
	(void)epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_DEL, w->inbox, NULL);
	close(w->inbox);
	w->inbox = -1;
}

void
cnd_workers_hear(uint32_t slot)
{
	struct cnd_door_worker *w = &cnd_the_door.workers[slot];
	static struct cnd_ipc m;
	int r = 0;

	while (w->inbox >= 0 && ((r = cnd_door_receive(w->inbox, &m)) == -EMFILE ||
					(r > 0 && is_sense(&m, w->pool)))) {
		if (r > 0)
			take(&m, w->pool);
		else
			cnd_log(LOG_WARNING, LOST_CLIENT);
	}
	if (w->inbox < 0 || r == 0)
		return;
	forget(w);
	/* -EPIPE: the worker has ended; -EBADMSG: it sent something that is no message */
	if (r > 0)
		cnd_ipc_drop(&m);
	if (r > 0 || r == -EBADMSG)
		cnd_workers_report(slot);
}

int
cnd_workers_add(uint32_t slot, int inbox, uint32_t pool)
{
	struct cnd_door_worker *w = &cnd_the_door.workers[slot];
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &w->source };

	/* first read the messages that the slot's previous worker left */
	cnd_workers_hear(slot);
	forget(w);
	cnd_the_door.n_owed -= w->owes_nudge || w->is_bad;
	w->owes_nudge = w->is_bad = 0;
	w->source.kind = CND_SOURCE_WORKER;
	w->inbox = inbox;
	w->pool = pool;
	atomic_store(&cnd_slot_at(cnd_the_door.board, slot)->is_known, 1);
	return epoll_ctl(cnd_the_door.epoll_fd, EPOLL_CTL_ADD, inbox, &event);
}

/* ---- from helpers ---- */

void
cnd_workers_hear_helpers(void)
{
	static struct cnd_ipc m;
	int r;

	/* the door cannot tell which helper sent a bad message, but a helper ends soon anyway */
	while ((r = cnd_door_receive(cnd_the_door.child->helper_inbox[1], &m)) != 0) {
		if (r == -EMFILE) {
			cnd_log(LOG_WARNING, LOST_CLIENT);
			continue;
		}
		if (r > 0 && m.index < CND_POOL_RECORD &&
			(m.kind == CND_IPC_PARTING || m.kind == CND_IPC_CANCEL) &&
			is_sense(&m, m.index)) {
			take(&m, m.index);
			continue;
		}
		if (r > 0)
			cnd_ipc_drop(&m);
		else if (r != -EBADMSG)
			return;
		cnd_log(LOG_ERR, "a helper sent nonsense");
	}
}
