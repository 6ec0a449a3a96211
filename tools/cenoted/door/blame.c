/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of addresses and their failed logins. It has no state of its own: the door keeps one
 * table for logins and one for helpers that worked in vain.
 */
#include "blame.h"

#include <string.h>

static int
is_over(const struct cnd_blamed *e, int64_t now_ms)
{
	return e->n == 0 || now_ms - e->last_ms >= CND_BLAME_LIFE_MS;
}

static struct cnd_blamed *
find(const struct cnd_blame *b, const struct cnd_peer *p)
{
	struct in6_addr key = cnd_peer_network(p).addr;

	for (size_t i = 0; i < CND_BLAME_MAX; i++) {
		const struct cnd_blamed *e = &b->list[i];

		if (e->n > 0 && memcmp(&e->addr, &key, sizeof(key)) == 0)
			/* cast: as const as the caller's pointer */
			return (struct cnd_blamed *)(uintptr_t)e;
	}
	return NULL;
}

/* Find an entry to reuse: one that is free, or else the oldest. */
static struct cnd_blamed *
make_room(struct cnd_blame *b)
{
	struct cnd_blamed *oldest = &b->list[0];

	for (size_t i = 0; i < CND_BLAME_MAX; i++) {
		if (b->list[i].n == 0)
			return &b->list[i];
		if (b->list[i].last_ms < oldest->last_ms)
			oldest = &b->list[i];
	}
	return oldest;
}

static int64_t
delay_of(uint32_t n)
{
	int64_t ms = CND_BLAME_FIRST_MS;

	while (--n > 0 && ms < CND_BLAME_MOST_MS)
		ms *= 2;
	return ms < CND_BLAME_MOST_MS ? ms : CND_BLAME_MOST_MS;
}

int64_t
cnd_blame_add(struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms)
{
	struct cnd_blamed *e = find(b, p);

	if (e == NULL) {
		e = make_room(b);
		e->addr = cnd_peer_network(p).addr;
		e->n = 0;
	}
	if (is_over(e, now_ms))
		e->n = 0;
	if (e->n < UINT32_MAX)
		e->n++;
	e->last_ms = now_ms;
	return delay_of(e->n);
}

int64_t
cnd_blame_until(const struct cnd_blame *b, const struct cnd_peer *p, int64_t now_ms)
{
	const struct cnd_blamed *e = find(b, p);

	return e == NULL || is_over(e, now_ms) ? now_ms : e->last_ms + delay_of(e->n);
}
