/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools whose clients log in to the server as themselves. The server decides who gets in. For
 * credential_ttl after a login, its worker accepts the same password without asking the server. It
 * keeps no password, only a keyed hash whose key no other process has. The second half of the file
 * sends a client to the idle worker that has its session. auth.c, attach.c and worker.c call it.
 */
#include "worker.h"

#include <string.h>

#include "core/mem.h"
#include "crypto/crypto.h"
#include "shared/log.h"

static const struct cnp_hash *
hashes(void)
{
	return cn_crypto_get(CN_CRYPTO_ABI)->hash;
}

static int
make_proof(struct cnd_worker_pass_through *p, uint8_t ret_proof[CNP_HASH_LEN])
{
	const struct cnd_credentials *c = &p->credentials;
	/* each part with its zero byte, so that two parts cannot be taken for one */
	const struct cnp_bytes parts[] = { { c->user, strlen(c->user) + 1 },
		{ c->secret, strlen(c->secret) + 1 },
		{ c->server_key, strlen(c->server_key) + 1 },
		{ c->subject, strlen(c->subject) + 1 },
		{ c->issuer, strlen(c->issuer) + 1 } };

	if (p->proved_ms == 0 && hashes()->random(p->proof_key, sizeof(p->proof_key)) < 0)
		return CENOTE_ERR_NOMEM;
	return hashes()->hmac(p->proof_key, sizeof(p->proof_key), parts,
		sizeof(parts) / sizeof(parts[0]), ret_proof);
}

static int
is_proved(const struct cnd_worker *w, const uint8_t proof[CNP_HASH_LEN])
{
	return w->serving.session != NULL &&
	       cnd_now_ms() - w->pass_through.proved_ms < w->config->credential_ttl_ms &&
	       cnd_login_is_as_wanted(w) &&
	       hashes()->is_same(proof, w->pass_through.proof, CNP_HASH_LEN);
}

/* Hash a user and settings with FNV-1a. The hash only helps to find a worker and grants nothing.
 * Never 0. */
static uint64_t
hash_owner(const char *user, const char *settings)
{
	const char *const parts[] = { user, settings };
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (const char *p = parts[i];; p++) {
			h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
			if (*p == '\0')
				break;
		}
	}
	return h | 1u;
}

int
cnd_pass_through(struct cnd_worker *w)
{
	uint8_t proof[CNP_HASH_LEN];
	int r = make_proof(&w->pass_through, proof);

	if (r < 0 || is_proved(w, proof))
		return r;
	r = cnd_login_replace(w, w->login.wanted_settings);
	if (r < 0)
		return r;
	memcpy(w->pass_through.proof, proof, sizeof(w->pass_through.proof));
	w->pass_through.proved_ms = cnd_now_ms();
	return CENOTE_OK;
}

/* ---- the worker that has the session ---- */

/* Claim an idle worker with the session of this owner. Returns its slot; -1: there is none. */
static int
claim_owner(struct cnd_worker *w, uint64_t owner)
{
	for (uint32_t i = 0; i < w->board->n_slots; i++) {
		const struct cnd_slot *s = cnd_slot_at(w->board, i);

		if (cnd_slot_head(w->board, i)->pid != 0 &&
			cnd_slot_head(w->board, i)->pool == w->pool_index &&
			s->state == CND_SLOT_IDLE && s->owner == owner &&
			cnd_slot_claim(w->board, i))
			return (int)i;
	}
	return -1;
}

/* Whether the client may go to another worker. TLS cannot move to another process, and no client is
 * sent on twice. */
static int
can_route(const struct cnd_worker *w)
{
	return w->config->clients_login != CND_CLIENTS_NONE &&
	       w->client.channel.tls == NULL && !w->client.is_routed;
}

int
cnd_pass_through_route(struct cnd_worker *w, const char *user)
{
	uint64_t owner = hash_owner(user, w->login.wanted_settings);
	uint64_t mine = w->slot->owner;
	int slot;

	if (!can_route(w) || mine == owner)
		return CENOTE_OK;
	slot = claim_owner(w, owner);
	if (slot < 0 && mine != 0)
		slot = claim_owner(w, 0);
	if (slot < 0)
		return CENOTE_OK;
	if (cnd_client_send_on(w, CND_IPC_ROUTED, (uint32_t)slot) == 0)
		return CENOTE_ERR_CONN;
	cnd_slot_unclaim(w->board, (uint32_t)slot);
	return CENOTE_OK;
}

void
cnd_pass_through_publish(struct cnd_worker *w)
{
	if (w->config->clients_login != CND_CLIENTS_NONE)
		atomic_store(&w->slot->owner,
			hash_owner(w->pass_through.credentials.user, w->login.settings));
}

int
cnd_pass_through_reserve(struct cnd_worker *w)
{
	return w->config->clients_login == CND_CLIENTS_NONE ||
	       cnd_slot_claim(w->board, w->slot_index);
}

void
cnd_pass_through_release(struct cnd_worker *w)
{
	if (w->config->clients_login != CND_CLIENTS_NONE)
		cnd_slot_unclaim(w->board, w->slot_index);
}

/* ---- the end ---- */

void
cnd_pass_through_forget(struct cnd_worker *w)
{
	if (w->config->clients_login == CND_CLIENTS_NONE)
		return;
	cnc_wipe(&w->pass_through.credentials, sizeof(w->pass_through.credentials));
	cnc_arena_clear(&w->serving.request.arena);
}

int
cnd_pass_through_expire(struct cnd_worker *w)
{
	if (w->config->clients_login == CND_CLIENTS_NONE || w->serving.session == NULL)
		return 0;
	cnd_log(LOG_DEBUG, "idle for idle_ttl: logged out");
	/* no client must wait for this worker meanwhile */
	cnd_worker_move(w, CND_SLOT_RESETTING);
	cnd_logout(w);
	return 1;
}
