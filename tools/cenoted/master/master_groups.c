/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups: workers that several sessions of a pool share. The master reserves slots for a group, forks it, and
 * asks it through its control socket to begin a session ("seat") in one of them. Nothing that a group sends is
 * believed without a check. master.c and master_children.c call this file. It owns cnd_the_master.groups.
 */
#include "master_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/log.h"
#include "worker/worker.h"

/* How many messages of one group the master reads before it looks at the other groups. */
#define HEAR_MAX 16

static uint32_t
n_places(void)
{
	return cnd_the_master.child.board->n_slots;
}

/* The group's number in the places of its slots, where 0 means no group. */
static uint32_t
number_of(const struct cnd_group *g)
{
	return (uint32_t)(g - cnd_the_master.groups) + 1;
}

/* NULL: no record is free. There are as many records as slots, and each group has at least one slot. */
static struct cnd_group *
free_group(void)
{
	for (uint32_t i = 0; i < n_places(); i++) {
		if (cnd_the_master.groups[i].pid == 0)
			return &cnd_the_master.groups[i];
	}
	return NULL;
}

static bool
takes_seats(const struct cnd_group *g, const struct cnd_pool *p)
{
	return g->pid > 0 && !g->is_retired && g->pool == p->index;
}

/* The number of slots of the pool's groups that take sessions. */
static uint32_t
n_reserved(const struct cnd_pool *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_places(); i++) {
		if (takes_seats(&cnd_the_master.groups[i], p))
			n += cnd_the_master.groups[i].n_slots;
	}
	return n;
}

/* The group with the fewest sessions among those with an empty slot; NULL: all slots have sessions. */
static struct cnd_group *
choose_group(const struct cnd_pool *p)
{
	struct cnd_group *best = NULL;

	for (uint32_t i = 0; i < n_places(); i++) {
		struct cnd_group *g = &cnd_the_master.groups[i];

		if (takes_seats(g, p) && g->n_seats < g->n_slots &&
			(best == NULL || g->n_seats < best->n_seats))
			best = g;
	}
	return best;
}

/* ---- forking ---- */

/* Reserve n slots, or fewer if fewer are free. */
static void
reserve_slots(struct cnd_group *g, uint32_t n)
{
	int slot;

	while (g->n_slots < n && (slot = cnd_children_free_slot()) >= 0) {
		cnd_the_master.places[slot].group = number_of(g);
		g->n_slots++;
	}
}

static void
free_slots(const struct cnd_group *g)
{
	for (uint32_t i = 0; i < n_places(); i++) {
		if (cnd_the_master.places[i].group == number_of(g))
			cnd_the_master.places[i].group = 0;
	}
}

_Noreturn static void
become_group(struct cnd_pool *p, const struct cnd_group *g, int control_fd)
{
	static uint32_t slots[CND_SLOTS_MAX];
	struct cnd_pool mine = *p;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_places(); i++) {
		if (cnd_the_master.places[i].group == number_of(g))
			slots[n++] = i;
	}
	cnd_children_confine(p, slots, n, control_fd);
	cnd_worker_run_shared(&cnd_the_master.child, &mine, slots, n, control_fd);
}

/* 0; -1: it failed, and the reason was logged. */
static int
fork_group(struct cnd_pool *p, struct cnd_group *g)
{
	int control[2];
	int r = cnd_ipc_pair(control);

	if (r < 0) {
		cnd_log(LOG_ERR, "pool %s: %s", p->name, strerror(-r));
		return -1;
	}
	g->pid = fork();
	if (g->pid == 0)
		become_group(p, g, control[1]);
	close(control[1]);
	g->control_fd = control[0];
	if (g->pid > 0)
		return 0;
	cnd_log(LOG_ERR, "cannot fork: %s", strerror(errno));
	close(control[0]);
	return -1;
}

/* The pool's sessions are divided among its groups. If a group got fewer slots than its share, another group gets
 * the rest. NULL: it failed, and the reason was logged. */
static struct cnd_group *
begin_group(struct cnd_pool *p)
{
	const struct cnd_pool_config *c = p->config;
	uint32_t share = (c->max_sessions + c->workers - 1) / c->workers;
	uint32_t reserved = n_reserved(p);
	uint32_t left = reserved < c->max_sessions ? c->max_sessions - reserved : 0;
	struct cnd_group *g = free_group();

	if (g != NULL) {
		*g = (struct cnd_group){ .pool = p->index, .born_ms = cnd_now_ms() };
		reserve_slots(g, share < left ? share : left);
	}
	if (g == NULL || g->n_slots == 0) {
		cnd_log(LOG_WARNING, "pool %s: max_sessions is reached", p->name);
		return NULL;
	}
	if (fork_group(p, g) < 0) {
		free_slots(g);
		*g = (struct cnd_group){ .pid = 0 };
		return NULL;
	}
	p->n_groups++;
	return g;
}

/* ---- sessions ---- */

/* A slot of the group without a session. The group must have one. */
static uint32_t
empty_slot(const struct cnd_group *g)
{
	uint32_t i = 0;

	while (cnd_the_master.places[i].group != number_of(g) ||
		cnd_the_master.places[i].pid != 0)
		i++;
	return i;
}

/* The group has closed its end of the control socket: it is about to end. */
static void
close_control(struct cnd_group *g)
{
	close(g->control_fd);
	g->control_fd = -1;
	g->is_retired = true;
}

static void
leave_seat(struct cnd_group *g, uint32_t slot)
{
	cnd_children_leave_place(slot);
	g->n_seats--;
}

/* Ask the group for a session in this slot. Returns the same as cnd_ipc_send(). */
static int
send_seat(const struct cnd_group *g, uint32_t slot, int inbox)
{
	struct cnd_ipc m = {
		.kind = CND_IPC_SEAT, .index = slot, .n_fds = 1, .fds = { inbox }
	};

	return cnd_ipc_send(g->control_fd, &m);
}

int
cnd_groups_seat(struct cnd_pool *p)
{
	struct cnd_group *g = choose_group(p);
	struct cnd_place place = { .pool = p->index, .born_ms = cnd_now_ms() };
	uint32_t slot;
	int inbox;
	int r;

	if (g == NULL && (g = begin_group(p)) == NULL)
		return -1;
	slot = empty_slot(g);
	inbox = cnd_children_make_inbox(p, slot, &place.inbox);
	if (inbox < 0)
		return -1;
	place.pid = g->pid;
	place.group = number_of(g);
	/* Do this before the message: the session may have a client before the master runs again. */
	cnd_children_take_place(slot, &place);
	g->n_seats++;
	r = send_seat(g, slot, inbox);
	close(inbox);
	if (r == 0)
		return 0;
	leave_seat(g, slot);
	if (r == -EPIPE)
		close_control(g);
	/* The process has many messages to read, or has ended. The next try may find another process. */
	if (r == -EAGAIN || r == -EPIPE)
		return -EAGAIN;
	cnd_log(LOG_WARNING, "worker of pool %s %d gets no session: %s", p->name,
		(int)g->pid, strerror(-r));
	return r;
}

void
cnd_groups_retire(uint32_t pool)
{
	for (uint32_t i = 0; i < n_places(); i++) {
		struct cnd_group *g = &cnd_the_master.groups[i];

		if (g->pid == 0 || g->pool != pool || g->is_retired)
			continue;
		g->is_retired = true;
		/* The group reads end of file, and can still report the end of its sessions. */
		(void)shutdown(g->control_fd, SHUT_WR);
	}
}

/* ---- messages ---- */

/* Whether the slot is the group's and has a session. */
static bool
has_seat(const struct cnd_group *g, uint32_t slot)
{
	return slot < n_places() && cnd_the_master.places[slot].group == number_of(g) &&
	       cnd_the_master.places[slot].pid != 0;
}

static bool
is_sense(const struct cnd_group *g, const struct cnd_ipc *m)
{
	if (m->n_fds != 0 || m->n_bytes != 0)
		return false;
	return m->kind == CND_IPC_GROW ||
	       (m->kind == CND_IPC_SEAT_ENDED && has_seat(g, m->index));
}

/* Carry out a message that was checked. When a session ends, clients may still wait, so the pool may grow. */
static void
obey(struct cnd_group *g, const struct cnd_ipc *m)
{
	struct cnd_pool *p = &cnd_the_master.pools[g->pool];

	if (m->kind == CND_IPC_SEAT_ENDED)
		leave_seat(g, m->index);
	if (cnd_the_master.phase > CND_PHASE_LEAVING)
		return;
	if (m->kind == CND_IPC_SEAT_ENDED)
		cnd_children_grow(p);
	else if (!g->is_retired)
		cnd_children_grow_for(p, m->serial);
}

static void
hear_group(struct cnd_group *g)
{
	static struct cnd_ipc m;
	int r = 1;

	for (int i = 0; i < HEAR_MAX && r > 0; i++) {
		r = cnd_ipc_receive(g->control_fd, &m);
		if (r == -EPIPE) {
			close_control(g);
			return;
		}
		if (r < 0 || (r > 0 && !is_sense(g, &m))) {
			if (r > 0)
				cnd_ipc_drop(&m);
			close_control(g);
			cnd_children_end_bad_worker(g->pool, g->pid);
			return;
		}
		if (r > 0)
			obey(g, &m);
		/* obey() may have found that the group closed its end. */
		if (g->control_fd < 0)
			return;
	}
}

nfds_t
cnd_groups_gather(struct pollfd *fds)
{
	nfds_t n = 0;

	for (uint32_t i = 0; i < n_places(); i++) {
		const struct cnd_group *g = &cnd_the_master.groups[i];

		fds[i] = (struct pollfd){ .fd = g->pid > 0 ? g->control_fd : -1,
			.events = POLLIN };
		if (fds[i].fd >= 0)
			n = i + 1;
	}
	return n;
}

void
cnd_groups_hear(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++) {
		struct cnd_group *g = &cnd_the_master.groups[i];

		if (fds[i].revents != 0 && g->control_fd == fds[i].fd)
			hear_group(g);
	}
}

/* ---- reaping ---- */

static struct cnd_group *
find_group(pid_t pid)
{
	for (uint32_t i = 0; i < n_places(); i++) {
		if (cnd_the_master.groups[i].pid == pid)
			return &cnd_the_master.groups[i];
	}
	return NULL;
}

int
cnd_groups_bury(pid_t pid, int status)
{
	struct cnd_group *g = find_group(pid);
	struct cnd_pool *p;

	if (g == NULL)
		return 0;
	p = &cnd_the_master.pools[g->pool];
	cnd_children_note_end(p, pid, g->born_ms, status);
	for (uint32_t i = 0; i < n_places(); i++) {
		if (has_seat(g, i))
			leave_seat(g, i);
	}
	free_slots(g);
	if (g->control_fd >= 0)
		close(g->control_fd);
	*g = (struct cnd_group){ .pid = 0 };
	p->n_groups--;
	cnd_master_forget_pool(p);
	return 1;
}

void
cnd_groups_kill(void)
{
	for (uint32_t i = 0; i < n_places(); i++) {
		if (cnd_the_master.groups[i].pid > 0)
			kill(cnd_the_master.groups[i].pid, SIGKILL);
	}
}
