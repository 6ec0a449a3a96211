/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on how many sessions a user or an address may have. The scoreboard counts them: the unix user and the address from the
 * moment when a worker takes the client, and the user from the moment when the client has proved who it is. The worker gives these
 * counts back when it parts with the client. If the worker dies, the master does so.
 *
 * A client of the unix socket whose user has all its sessions waits in the door. If only the login shows who the client is, the
 * worker refuses a client above the limit.
 */
#include "worker.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "core/sqlstate.h"
#include "loop.h"
#include "shared.h"
#include "shared/answer.h"

/* How long a worker waits for room for its client's user, and how often it looks. */
#define ROOM_MS 100
#define LOOK_MS 5

static int
count(struct cnd_worker *w, enum cnd_count kind, const void *bytes, size_t n,
	uint32_t limit)
{
	return cnd_slot_count(
		w->board, w->slot_index, kind, cnd_tally_key(kind, bytes, n), limit);
}

/* Whether a reload has changed the limits since. This worker will end soon, and must not refuse a client by its old limits. */
static bool
is_outdated(const struct cnd_worker *w)
{
	return cnd_pool_head(w->board, w->pool_index)->version != w->version;
}

/* How many sessions the unix user may have; UINT32_MAX: there is no limit, or only the login shows who the client is. */
static uint32_t
limit_of_uid(const struct cnd_worker *w, uid_t uid)
{
	const struct cnd_user_limits *u = cnd_pool_config_uid(w->config, uid);

	return u != NULL && u->sessions > 0 && !is_outdated(w) ? u->sessions : UINT32_MAX;
}

/* 0: the client should wait in the door. */
static int
count_uid(struct cnd_worker *w, int fd, bool may_wait)
{
	struct ucred peer;
	uint32_t uid;

	if (cnd_peer_credentials(fd, &peer) < 0)
		return 1;
	uid = peer.uid;
	return count(w, CND_COUNT_UID, &uid, sizeof(uid),
		       may_wait ? limit_of_uid(w, uid) : UINT32_MAX) ||
	       !may_wait;
}

int
cnd_limits_come(struct cnd_worker *w, int fd, const struct cnd_peer *peer, bool may_wait)
{
	struct cnd_network network;

	if (!w->config->counts_sessions)
		return 1;
	if (peer->door == CND_DOOR_UNIX)
		return count_uid(w, fd, may_wait);
	network = cnd_peer_network(peer);
	(void)count(
		w, CND_COUNT_ADDRESS, &network.addr, sizeof(network.addr), UINT32_MAX);
	return 1;
}

int
cnd_limits_take_user(struct cnd_worker *w, const char *user)
{
	const struct cnd_user_limits *u;

	if (!w->config->counts_sessions)
		return 1;
	u = cnd_pool_config_user(w->config, user);
	if (u == NULL || u->sessions == 0)
		return 1;
	return count(w, CND_COUNT_USER, user, strlen(user),
		is_outdated(w) ? UINT32_MAX : u->sessions);
}

/*
 * In a shared worker, the user's other clients may keep sessions that they do not need, until somebody waits. So say that somebody
 * waits, and look again for a short time. It must be short, since this client occupies a session meanwhile.
 */
static int
take_user_soon(struct cnd_worker *w)
{
	int64_t until = cnd_now_ms() + ROOM_MS;

	while (!cnd_limits_take_user(w, w->client.user)) {
		if (w->shared == NULL || w->config->mode != CND_MODE_TRANSACTION ||
			cnd_now_ms() >= until || cnd_worker_order(w) == CND_ORDER_NOW)
			return 0;
		atomic_store(&w->pool->contended_ms, cnd_now_ms());
		cnd_loop_wake_for_clients(&w->shared->loop);
		if (cnd_worker_wait(w, w->client.fd, POLLRDHUP, cnd_now_ms() + LOOK_MS) !=
			0)
			return 0;
	}
	return 1;
}

int
cnd_limits_attach(struct cnd_worker *w)
{
	if (take_user_soon(w))
		return CENOTE_OK;
	cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(TOO_MANY),
		"pool %s: user %s has %u sessions, as many as user_limits allows; close "
		"one of them, or try again later",
		w->config->name, w->client.user,
		cnd_pool_config_user(w->config, w->client.user)->sessions);
	return CENOTE_ERR_AUTH;
}

void
cnd_limits_part(struct cnd_worker *w)
{
	if (!w->config->counts_sessions || !cnd_slot_uncount(w->board, w->slot_index))
		return;
	/* others may have waited for that */
	if (atomic_load(&w->pool->waiting) > 0 || atomic_load(&w->pool->held) > 0)
		cnd_worker_wake_door(w);
}
