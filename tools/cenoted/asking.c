/* SPDX-License-Identifier: BSD-2-Clause */
#include "door_parts.h"

#include <string.h>
#include <sys/epoll.h>

#include "core/sqlstate.h"

/*
 * Those who need no session, but TLS or a login, for which the door has no keys: the master forks a helper for each
 * (helper.c). No more than half of the helpers work for one address, so that nobody keeps all of them busy.
 */

/* A free place, of those that its address may have; -1: none now. */
static int
find_place(const struct cnd_guest *g)
{
	unsigned n_same = 0;
	int at = -1;

	for (unsigned i = 0; i < CND_HELPERS_MAX; i++) {
		const struct cnd_door_helper *h = &cnd_the_door.helpers[i];

		if (!h->is_busy)
			at = (int)i;
		else if (memcmp(&h->addr, &g->peer.addr, sizeof(h->addr)) == 0)
			n_same++;
	}
	return n_same < CND_HELPERS_MAX / 2 ? at : -1;
}

static void
hand_over(struct cnd_guest *g, int place)
{
	struct cnd_ipc m = { .kind = CND_IPC_HELP,
		.index = g->pool,
		.serial = (uint64_t)place,
		.n_fds = 1,
		.peer = g->peer,
		.fds = { g->fd } };

	if (cnd_ipc_send(cnd_the_door.control_fd, &m) < 0) {
		cnd_guest_refuse(g, CNC_SQLSTATE(RESOURCES),
			"cenoted is too busy to answer; try again");
		return;
	}
	cnd_the_door.helpers[place].is_busy = 1;
	cnd_the_door.helpers[place].addr = g->peer.addr;
	cnd_guest_dismiss(g);
}

static void
settle_one(struct cnd_guest *g, int64_t now_ms)
{
	int place;

	if (!cnd_the_door.pools[g->pool].is_here) {
		cnd_guest_refuse(g, CNC_SQLSTATE(SHUTDOWN), "the pool is being removed");
		return;
	}
	place = now_ms >= g->not_before_ms ? find_place(g) : -1;
	if (place >= 0)
		hand_over(g, place);
}

void
cnd_asking_begin(struct cnd_guest *g)
{
	int64_t now = cnd_now_ms();

	/* who guesses passwords does it no faster here */
	if (g->peer.door == CND_DOOR_TCP)
		g->not_before_ms = cnd_blame_until(&cnd_the_door.blame, &g->peer, now);
	cnd_guest_move(g, CND_GUEST_ASKING);
	(void)cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP);
}

void
cnd_asking_settle(int64_t now_ms)
{
	struct cnd_guest *g = cnd_the_door.talking.first;

	for (struct cnd_guest *next; g != NULL && cnd_the_door.n_asking > 0; g = next) {
		next = g->next;
		if (g->phase == CND_GUEST_ASKING)
			settle_one(g, now_ms);
	}
}

int64_t
cnd_asking_next(int64_t now_ms)
{
	const struct cnd_guest *g = cnd_the_door.talking.first;
	int64_t until = CND_NEVER;

	for (; g != NULL && cnd_the_door.n_asking > 0; g = g->next) {
		if (g->phase == CND_GUEST_ASKING && g->not_before_ms > now_ms &&
			g->not_before_ms < until)
			until = g->not_before_ms;
	}
	return until;
}
