/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fair shares of a limited number of places; shares.h has the rules. The door owns two of these:
 * places to wait for a session, and places to wait for a helper.
 */
#include "shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "shared/log.h"

#define WORDS 3u

_Static_assert(sizeof(struct cnd_share_of) == WORDS * sizeof(uint64_t), "no padding");

/* Hash by multiply-shift with secret factors, so that nobody can choose his bucket. */
static size_t
bucket_of(const struct cnd_shares *s, const struct cnd_share_of *of)
{
	uint64_t words[WORDS];
	uint64_t sum = 0;

	memcpy(words, of, sizeof(words));
	for (size_t i = 0; i < WORDS; i++)
		sum += (words[i] ^ words[i] >> 32) * s->factors[i];
	return (size_t)(sum >> 32) & (CND_SHARES_BUCKETS - 1);
}

/* The link that points to this user's share; if there is none, the link at the end of its list. */
static struct cnd_share *const *
find(const struct cnd_shares *s, const struct cnd_share_of *of)
{
	struct cnd_share *const *at = &s->buckets[bucket_of(s, of)];

	while (*at != NULL && memcmp(&(*at)->of, of, sizeof(*of)) != 0)
		at = &(*at)->next;
	return at;
}

static uint32_t
beyond_own(const struct cnd_shares *s, uint32_t n)
{
	return n > s->n_own ? n - s->n_own : 0;
}

void
cnd_shares_init(struct cnd_shares *s, uint32_t n_places)
{
	memset(s, 0, sizeof(*s));
	s->n_places = n_places;
	if (getrandom(s->factors, sizeof(s->factors), 0) != (ssize_t)sizeof(s->factors))
		cnd_fatal("getrandom: %s", strerror(errno));
	for (size_t i = 0; i < WORDS; i++)
		s->factors[i] |= 1;
	cnd_shares_set_pools(s, 0);
}

void
cnd_shares_set_pools(struct cnd_shares *s, uint32_t n_pools)
{
	s->n_own = n_pools > 0 ? s->n_places / 2 / n_pools : 0;
	s->n_common = s->n_places - s->n_own * n_pools;
	s->n_taken = 0;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++)
		s->n_taken += beyond_own(s, s->n[i]);
}

/* How many more places a pool may take. After pools were added, more than n_common places may be
 * taken; the new pools then find less than their own share. */
static uint32_t
left_for(const struct cnd_shares *s, uint32_t pool)
{
	uint32_t own = s->n[pool] < s->n_own ? s->n_own - s->n[pool] : 0;
	uint32_t common = s->n_taken < s->n_common ? s->n_common - s->n_taken : 0;
	uint32_t all = s->n_places - s->n_all;

	return own + common < all ? own + common : all;
}

static void
count(struct cnd_shares *s, uint32_t pool, int step)
{
	s->n_taken -= beyond_own(s, s->n[pool]);
	s->n[pool] += (uint32_t)step;
	s->n_all += (uint32_t)step;
	s->n_taken += beyond_own(s, s->n[pool]);
}

int
cnd_shares_take(
	struct cnd_shares *s, const struct cnd_share_of *of, struct cnd_share **ret_share)
{
	struct cnd_share *share = *find(s, of);
	uint32_t n_left = left_for(s, of->pool);
	struct cnd_share **head;

	if (n_left == 0)
		return CND_SHARES_POOL_HAS_ALL;
	if (share != NULL && share->n >= n_left)
		return CND_SHARES_USER_HAS_ALL;
	if (share == NULL) {
		share = calloc(1, sizeof(*share));
		if (share == NULL)
			return CENOTE_ERR_NOMEM;
		head = &s->buckets[bucket_of(s, of)];
		share->of = *of;
		share->next = *head;
		*head = share;
	}
	share->n++;
	count(s, of->pool, 1);
	*ret_share = share;
	return CND_SHARES_TAKEN;
}

void
cnd_shares_give_back(struct cnd_shares *s, struct cnd_share *share)
{
	struct cnd_share **at = &s->buckets[bucket_of(s, &share->of)];

	count(s, share->of.pool, -1);
	if (--share->n > 0)
		return;
	while (*at != share)
		at = &(*at)->next;
	*at = share->next;
	free(share);
}

uint32_t
cnd_shares_of(const struct cnd_shares *s, const struct cnd_share_of *of)
{
	const struct cnd_share *share = *find(s, of);

	return share != NULL ? share->n : 0;
}
