/* SPDX-License-Identifier: BSD-2-Clause */
/* The worker's slot on the scoreboard: its state, and the key with which a client may cancel or
 * resume. Only these functions change the slot. They wake the door if it has to act on the change. */
#include "worker.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "shared/log.h"

void
cnd_worker_wake_door(const struct cnd_worker *w)
{
	if (eventfd_write(w->wake_fd, 1) < 0)
		cnd_log(LOG_WARNING, "cannot wake the door: %s", strerror(errno));
}

void
cnd_worker_move(struct cnd_worker *w, uint32_t state)
{
	uint32_t from = w->sm.state;

	if (cnc_sm_move(&w->sm, state) < 0)
		cnd_fatal("a worker cannot go from %s to %s", cnc_sm_name(&w->sm, from),
			cnc_sm_name(&w->sm, state));
	if (!cnd_slot_publish(w->board, w->slot_index, state))
		return;
	/* No worker of the pool is idle now. Wake the door at most once until it has looked, so
	 * that a pool of one worker does not wake it for every client. */
	if (!atomic_load(&w->pool->is_armed) &&
		!atomic_exchange(&w->pool->door_is_awake, 1))
		cnd_worker_wake_door(w);
}

uint64_t
cnd_worker_random(struct cnd_worker_random *r)
{
	uint64_t key;

	do {
		if (r->left < sizeof(key)) {
			if (getrandom(r->bytes, sizeof(r->bytes), 0) !=
				(ssize_t)sizeof(r->bytes))
				cnd_fatal("getrandom: %s", strerror(errno));
			r->left = sizeof(r->bytes);
		}
		r->left -= sizeof(key);
		memcpy(&key, r->bytes + r->left, sizeof(key));
	} while (key == 0);
	return key;
}

void
cnd_worker_make_key(struct cnd_worker *w)
{
	w->key = cnd_worker_random(&w->random);
	cnd_slot_set_key(w->board, w->slot_index, w->key);
}

void
cnd_worker_drop_key(struct cnd_worker *w)
{
	w->key = 0;
	cnd_slot_set_key(w->board, w->slot_index, 0);
}

void
cnd_worker_settle_stranger(struct cnd_worker *w)
{
	if (w->client.peer.door == CND_DOOR_TCP &&
		cnd_slot_set_unproven(w->board, w->slot_index, 0))
		cnd_worker_wake_door(w);
}

struct cnp_attached
cnd_slot_names(const struct cnd_worker *w)
{
	return (struct cnp_attached){ .session = cnd_session_number(
					      w->slot_index, w->slot->generation),
		.key = w->key,
		.worker_pid = (uint32_t)cnd_slot_head(w->board, w->slot_index)->pid,
		.features = (w->login.info.features != 0 ? w->login.info.features
							 : w->serving.backend->features) |
			    CNP_FEATURE_SUSPEND };
}

struct cnp_attached
cnd_slot_facts(const struct cnd_worker *w)
{
	struct cnp_attached m = cnd_slot_names(w);

	m.pool = cnp_str(w->config->name);
	m.backend = cnp_str(cnd_login_kind(w));
	m.server = cnp_str(w->login.info.server);
	m.server_version = cnp_str(w->login.info.server_version);
	m.database = cnp_str(w->login.info.database);
	m.user = cnp_str(w->client.user);
	m.parameters =
		(struct cnp_str){ (const char *)cnc_buf_head(&w->serving.parameters),
			cnc_buf_len(&w->serving.parameters) };
	return m;
}
