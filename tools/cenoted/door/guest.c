/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that the door holds (a guest): its list, its place, its pauses, and the answers to it.
 * opening.c, waiting.c and asking.c handle its phases and call this file.
 */
#include "door_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shared/answer.h"
#include "core/sqlstate.h"

/* ---- lists ---- */

static void
append(struct cnd_guests *list, struct cnd_guest *g)
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
take_out(struct cnd_guests *list, struct cnd_guest *g)
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

static struct cnd_guests *
list_of(const struct cnd_guest *g)
{
	switch (g->phase) {
	case CND_GUEST_BLAMED:
		return &cnd_the_door.blamed;
	case CND_GUEST_ASKING:
		return &cnd_the_door.asking;
	case CND_GUEST_HELD:
		return &cnd_the_door.pools[g->pool].held;
	case CND_GUEST_WAITING:
		return &cnd_the_door.pools[g->pool].waiting;
	case CND_GUEST_PAUSING:
		return &cnd_the_door.pausing;
	case CND_GUEST_LEAVING:
		return &cnd_the_door.leaving;
	default:
		return g->peer.door == CND_DOOR_TCP ? &cnd_the_door.strangers
						    : &cnd_the_door.talking;
	}
}

static int
is_timed(const struct cnd_guest *g)
{
	return g->phase == CND_GUEST_BLAMED || g->phase == CND_GUEST_PAUSING;
}

/* Update the counts of the list that a guest joined or left. */
static void
count(const struct cnd_guest *g, int step)
{
	uint32_t n = g->peer.door == CND_DOOR_TCP ? (uint32_t)step : 0;
	struct cnd_pool_record *record;
	struct cnd_door_pool *p;

	if (g->phase != CND_GUEST_HELD && g->phase != CND_GUEST_WAITING)
		return;
	p = &cnd_the_door.pools[g->pool];
	record = cnd_pool_record(cnd_the_door.board, g->pool);
	if (g->phase == CND_GUEST_HELD) {
		p->n_held_strangers += n;
	} else {
		p->n_strangers += n;
		g->share->n_pushed += (uint32_t)step;
	}
	atomic_store(&record->held, p->n_held_strangers);
	atomic_store(&record->waiting, cnd_waiting_count(p));
}

static void
leave_list(struct cnd_guest *g)
{
	if (g->phase == CND_GUEST_HELD)
		cnd_turns_leave(&cnd_the_door.pools[g->pool].turns, &g->turn);
	if (is_timed(g))
		cnd_pauses_remove(&cnd_the_door.pauses, g);
	take_out(list_of(g), g);
	count(g, -1);
}

void
cnd_guest_move(struct cnd_guest *g, enum cnd_guest_phase phase)
{
	/* a new phase has its time from now on */
	if (g->phase == CND_GUEST_BLAMED || phase == CND_GUEST_LEAVING)
		g->since_ms = cnd_now_ms();
	leave_list(g);
	g->phase = phase;
	append(list_of(g), g);
	if (is_timed(g))
		cnd_pauses_add(&cnd_the_door.pauses, g);
	count(g, 1);
}

void
cnd_guest_pause(
	struct cnd_guest *g, enum cnd_guest_phase next_phase, int64_t not_before_ms)
{
	g->next_phase = next_phase;
	g->not_before_ms = not_before_ms;
	cnd_guest_move(g, CND_GUEST_BLAMED);
	/* until then, only the end of its connection matters */
	(void)cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP);
}

struct cnd_guest *
cnd_guest_add(int fd, uint32_t pool, const struct cnd_peer *peer)
{
	struct cnd_guest *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		close(fd);
		return NULL;
	}
	g->source.kind = CND_SOURCE_GUEST;
	g->fd = fd;
	g->pool = pool;
	g->peer = *peer;
	g->phase = CND_GUEST_OPENING;
	g->since_ms = cnd_now_ms();
	append(list_of(g), g);
	return g;
}

int
cnd_guest_watch(struct cnd_guest *g, int op, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = &g->source };

	return epoll_ctl(cnd_the_door.epoll_fd, op, g->fd, &event);
}

void
cnd_guest_dismiss(struct cnd_guest *g)
{
	leave_list(g);
	if (g->share != NULL)
		cnd_shares_give_back(g->shares, g->share);
	/* a worker may hold the same socket, so epoll would go on watching it after close() */
	(void)cnd_guest_watch(g, EPOLL_CTL_DEL, 0);
	close(g->fd);
	free(g->kept);
	free(g);
}

/* ---- answering ---- */

/* Unread bytes would make the kernel send a reset after the answer. */
static void
drop_input(int fd)
{
	while (recv(fd, cnd_the_door.scratch, sizeof(cnd_the_door.scratch),
		       MSG_DONTWAIT) > 0)
		;
}

/* Close the connection now, even if a message in a queue keeps the socket open. */
static void
hang_up(struct cnd_guest *g)
{
	shutdown(g->fd, SHUT_RDWR);
	cnd_guest_dismiss(g);
}

/* Keep the rest of an answer. -1: that is not possible. */
static int
keep_rest(struct cnd_guest *g, enum cnd_guest_phase phase, const uint8_t *bytes, size_t n)
{
	uint8_t *rest = malloc(n);

	if (rest == NULL)
		return -1;
	memcpy(rest, bytes, n);
	free(g->kept);
	g->kept = rest;
	g->kept_len = n;
	g->kept_at = 0;
	cnd_guest_move(g, phase);
	return 0;
}

void
cnd_guest_answer(struct cnd_guest *g)
{
	const uint8_t *bytes;
	size_t n = cnp_server_output(&cnd_the_door.server, &bytes);
	ssize_t sent;

	drop_input(g->fd);
	sent = send(g->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		sent = errno == EAGAIN ? 0 : (ssize_t)n;
	if ((size_t)sent < n &&
		keep_rest(g, CND_GUEST_LEAVING, bytes + sent, n - (size_t)sent) == 0 &&
		cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLOUT) == 0)
		return;
	hang_up(g);
}

void
cnd_guest_part(struct cnd_guest *g, const uint8_t *bytes, size_t n, int64_t not_before_ms)
{
	g->not_before_ms = not_before_ms;
	/* until the pause is over, only the end of its connection matters */
	if (n == 0 || keep_rest(g, CND_GUEST_PAUSING, bytes, n) < 0 ||
		cnd_guest_watch(g, EPOLL_CTL_ADD, EPOLLRDHUP) < 0)
		hang_up(g);
	else if (cnd_the_door.pausing.n > CND_DOOR_PAUSING)
		hang_up(cnd_the_door.pausing.first);
}

void
cnd_guest_send_rest(struct cnd_guest *g)
{
	ssize_t sent;

	drop_input(g->fd);
	sent = send(g->fd, g->kept + g->kept_at, g->kept_len - g->kept_at,
		MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		g->kept_at += (size_t)sent;
	if ((sent < 0 && errno != EAGAIN) || g->kept_at == g->kept_len)
		hang_up(g);
}

static void
end_pause(struct cnd_guest *g)
{
	if (g->phase == CND_GUEST_PAUSING) {
		cnd_guest_move(g, CND_GUEST_LEAVING);
		(void)cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLOUT);
	} else if (g->next_phase == CND_GUEST_HELD) {
		cnd_waiting_go_on(g);
	} else {
		cnd_asking_go_on(g);
	}
}

void
cnd_guest_end_pauses(int64_t now_ms)
{
	struct cnd_guest *g;

	while ((g = cnd_pauses_first(&cnd_the_door.pauses)) != NULL &&
		now_ms >= g->not_before_ms)
		end_pause(g);
}

int64_t
cnd_guest_next_pause(void)
{
	const struct cnd_guest *g = cnd_pauses_first(&cnd_the_door.pauses);

	return g != NULL ? g->not_before_ms : CND_NEVER;
}

/* ---- its place ---- */

/* The user for whom the guest's place counts. */
static struct cnd_share_of
share_of(const struct cnd_guest *g)
{
	struct cnd_share_of of = { .pool = g->pool, .uid = CND_SHARES_NO_UID };
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (g->peer.door == CND_DOOR_TCP)
		of.addr = cnd_peer_network(&g->peer).addr;
	else if (getsockopt(g->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		of.uid = peer.uid;
	return of;
}

static void
refuse_user(struct cnd_guest *g, const struct cnd_share_of *of, const char *what)
{
	char who[CND_NETWORK_TEXT_MAX + 16];
	struct cnd_network network;
	char text[CND_NETWORK_TEXT_MAX];

	if (g->peer.door == CND_DOOR_TCP) {
		network = cnd_peer_network(&g->peer);
		snprintf(who, sizeof(who), "from %s", cnd_network_text(&network, text));
	} else {
		snprintf(who, sizeof(who), "of user id %u", (unsigned)of->uid);
	}
	cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
		"pool %s: %u clients %s wait %s, as many as one user may have now; try "
		"again later",
		cnd_pool_head(cnd_the_door.board, g->pool)->name,
		cnd_shares_of(g->shares, of), who, what);
}

int
cnd_guest_take_share(struct cnd_guest *g, struct cnd_shares *shares, const char *what)
{
	struct cnd_share_of of = share_of(g);
	int r = cnd_shares_take(shares, &of, &g->share);

	g->shares = shares;
	if (r == CND_SHARES_TAKEN)
		return 0;
	if (r == CND_SHARES_USER_HAS_ALL)
		refuse_user(g, &of, what);
	else if (r == CND_SHARES_POOL_HAS_ALL)
		cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: %u clients wait %s, as many as the pool may have now; "
			"try again later",
			cnd_pool_head(cnd_the_door.board, g->pool)->name,
			shares->n[g->pool], what);
	else
		cnd_guest_dismiss(g);
	return -1;
}

/* ---- refusing ---- */

/* The door keeps some descriptors for the master's messages, without which it cannot work. */
int
cnd_guest_is_too_many(const struct cnd_guest *g)
{
	struct rlimit limit;
	rlim_t kept = cnd_the_door.board->n_slots + CND_DOOR_KEPT_FDS;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	if (kept > limit.rlim_cur / 2)
		kept = limit.rlim_cur / 2;
	return (rlim_t)g->fd >= limit.rlim_cur - kept;
}

void
cnd_guest_refuse(struct cnd_guest *g, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnp_server_restart(&cnd_the_door.server);
	cnd_answer_refuse(&cnd_the_door.server, sqlstate, "%s", text);
	cnd_guest_answer(g);
}

void
cnd_guest_refuse_full(struct cnd_guest *g)
{
	cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
		"no free session, and cenoted has no descriptors for more waiting "
		"clients");
}
