/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that need no session, but TLS or a login. The door has no keys for these, so it asks the
 * master to fork a helper for each client (worker/helper.c). It owns the list `asking` and the
 * table of helpers.
 *
 * One user gets at most half of the helpers, so nobody can keep all of them busy. A fork costs
 * more than asking for it, so an address whose helpers worked in vain waits longer each time.
 */
#include "door_internal.h"

#include <string.h>
#include <sys/epoll.h>

#include "core/sqlstate.h"
#include "shared/log.h"
#include "shared/units.h"

static int
is_same_user(const struct cnd_share_of *a, const struct cnd_share_of *b)
{
	return a->uid == b->uid && memcmp(&a->addr, &b->addr, sizeof(a->addr)) == 0;
}

static int
has_free_place(void)
{
	for (unsigned i = 0; i < CND_HELPERS_MAX; i++) {
		if (!cnd_the_door.helpers[i].is_busy)
			return 1;
	}
	return 0;
}

/* Find a free helper place for this client; -1: none is free, or its user has as many as one user
 * may have. */
static int
find_place(const struct cnd_guest *g)
{
	unsigned n_same = 0;
	int at = -1;

	for (unsigned i = 0; i < CND_HELPERS_MAX; i++) {
		const struct cnd_door_helper *h = &cnd_the_door.helpers[i];

		if (!h->is_busy)
			at = (int)i;
		else if (is_same_user(&h->of, &g->share->of))
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
	cnd_the_door.helpers[place] = (struct cnd_door_helper){
		.is_busy = 1, .peer = g->peer, .of = g->share->of
	};
	cnd_guest_dismiss(g);
}

/* A client that guesses passwords must wait here as long as at a login. */
static int64_t
blamed_until(const struct cnd_guest *g, int64_t now_ms)
{
	int64_t login, vain;

	if (g->peer.door != CND_DOOR_TCP)
		return now_ms;
	login = cnd_blame_until(&cnd_the_door.blame, &g->peer, now_ms);
	vain = cnd_blame_until(&cnd_the_door.vain, &g->peer, now_ms);
	return login > vain ? login : vain;
}

static void
settle_one(struct cnd_guest *g, int64_t now_ms)
{
	int place = find_place(g);
	int64_t until;

	if (place < 0)
		return;
	until = blamed_until(g, now_ms);
	if (until > now_ms)
		cnd_guest_pause(g, CND_GUEST_ASKING, until);
	else
		hand_over(g, place);
}

void
cnd_asking_begin(struct cnd_guest *g)
{
	if (cnd_guest_take_share(g, &cnd_the_door.asking_shares, "for an answer") == 0)
		cnd_asking_go_on(g);
}

void
cnd_asking_go_on(struct cnd_guest *g)
{
	cnd_guest_move(g, CND_GUEST_ASKING);
	(void)cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP);
	cnd_the_door.is_asking_dirty = 1;
}

static void
blame(const struct cnd_peer *p)
{
	char from[CND_PEER_TEXT_MAX], delay[CND_UNITS_TEXT_MAX];

	cnd_ms_text(cnd_blame_add(&cnd_the_door.vain, p, cnd_now_ms()), delay);
	cnd_log(LOG_NOTICE, "%s: a cancel or status query failed; the next one waits %s",
		cnd_peer_text(p, from), delay);
}

void
cnd_asking_end(const struct cnd_ipc *m)
{
	struct cnd_door_helper *h = &cnd_the_door.helpers[m->index];

	/* a new door does not know the helpers of the previous door */
	if (h->is_busy && m->serial != 0 && h->peer.door == CND_DOOR_TCP)
		blame(&h->peer);
	h->is_busy = 0;
	cnd_the_door.is_asking_dirty = 1;
}

/* The list has at most CND_DOOR_ASKING clients. Walk it only when one of them may have its turn. */
void
cnd_asking_settle(int64_t now_ms)
{
	struct cnd_guest *g = cnd_the_door.asking.first;

	if (!cnd_the_door.is_asking_dirty)
		return;
	cnd_the_door.is_asking_dirty = 0;
	for (struct cnd_guest *next; g != NULL && has_free_place(); g = next) {
		next = g->next;
		settle_one(g, now_ms);
	}
}
