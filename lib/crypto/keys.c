/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <string.h>

#include "core/mem.h"
#include "crypto/crypto.h"

/*
 * The keys that this process derived last. An entry is found by a keyed hash of everything that the
 * keys depend on, so no password is kept.
 */
#define N_KEPT 64u

static struct {
	pthread_mutex_t lock;
	uint8_t secret[CNP_HASH_LEN]; /* the secret for that hash */
	int has_secret;
	size_t next; /* the entry to replace next */
	struct {
		int is_used;
		uint8_t name[CNP_HASH_LEN];
		struct cnp_scram_keys keys;
	} kept[N_KEPT];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Lock the cache. 0: another thread holds the lock, or held it when this process was forked and
 * will never release it. Then derive the keys, and keep nothing. */
static int
enter(void)
{
	if (pthread_mutex_trylock(&cache.lock) != 0)
		return 0;
	if (!cache.has_secret)
		cache.has_secret = cn_hash_ops.random(cache.secret,
					   sizeof(cache.secret)) == CENOTE_OK;
	if (cache.has_secret)
		return 1;
	pthread_mutex_unlock(&cache.lock);
	return 0;
}

static void
leave(void)
{
	pthread_mutex_unlock(&cache.lock);
}

static int
make_name(const char *password, const uint8_t *salt, size_t salt_len, uint32_t iterations,
	uint8_t ret_name[CNP_HASH_LEN])
{
	const size_t password_len = strlen(password);
	const struct cnp_bytes parts[] = { { &iterations, sizeof(iterations) },
		{ &password_len, sizeof(password_len) }, { password, password_len },
		{ salt, salt_len } };

	return cn_hash_ops.hmac(cache.secret, sizeof(cache.secret), parts,
		sizeof(parts) / sizeof(*parts), ret_name);
}

static int
find(const uint8_t name[CNP_HASH_LEN], struct cnp_scram_keys *ret_keys)
{
	for (size_t i = 0; i < N_KEPT; i++) {
		if (!cache.kept[i].is_used ||
			!cn_hash_ops.is_same(cache.kept[i].name, name, CNP_HASH_LEN))
			continue;
		*ret_keys = cache.kept[i].keys;
		return 1;
	}
	return 0;
}

static void
keep(const uint8_t name[CNP_HASH_LEN], const struct cnp_scram_keys *keys)
{
	if (!enter())
		return;
	cache.kept[cache.next].is_used = 1;
	memcpy(cache.kept[cache.next].name, name, CNP_HASH_LEN);
	cache.kept[cache.next].keys = *keys;
	cache.next = (cache.next + 1) % N_KEPT;
	leave();
}

static int
derive(const char *password, const uint8_t *salt, size_t salt_len, uint32_t iterations,
	struct cnp_scram_keys *ret_keys)
{
	uint8_t name[CNP_HASH_LEN];
	int has_name = 0, is_known = 0;
	int r;

	if (enter()) {
		has_name = make_name(password, salt, salt_len, iterations, name) ==
			   CENOTE_OK;
		is_known = has_name && find(name, ret_keys);
		leave();
	}
	if (is_known)
		return CENOTE_OK;
	r = cnp_scram_keys_derive(
		&cn_hash_ops, password, salt, salt_len, iterations, ret_keys);
	if (r == CENOTE_OK && has_name)
		keep(name, ret_keys);
	return r;
}

static void
forget(const struct cnp_scram_keys *keys)
{
	if (!enter())
		return;
	for (size_t i = 0; i < N_KEPT; i++) {
		if (cache.kept[i].is_used &&
			cn_hash_ops.is_same(&cache.kept[i].keys, keys, sizeof(*keys)))
			cnc_wipe(&cache.kept[i], sizeof(cache.kept[i]));
	}
	leave();
}

/* When the process ends or unloads the module, wipe everything before the memory is
 * given back. */
__attribute__((destructor)) static void
wipe(void)
{
	cnc_wipe(cache.kept, sizeof(cache.kept));
	cnc_wipe(cache.secret, sizeof(cache.secret));
}

const struct cn_keys_ops cn_keys_ops = {
	.derive = derive,
	.forget = forget,
};
