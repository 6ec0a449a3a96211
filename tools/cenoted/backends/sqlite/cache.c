/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements, kept by their text. The least recently used one is dropped first. This file
 * owns s->cache. stmt.c calls it.
 */
#include <string.h>

#include "sqlite.h"

/* Longer texts are not kept: they seldom repeat, and would take much memory. */
#define KEY_MAX 16384u

uint64_t
cnd_sq_hash(const char *sql, size_t len)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ len, word;
	size_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&word, sql + i, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (word = 0; i < len; i++)
		word = word << 8 | (unsigned char)sql[i];
	h = (h ^ word) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

int
cnd_sq_cache_init(struct cnd_session *s)
{
	struct cnd_sq_cache *c = &s->cache;

	c->max = (size_t)s->opt.statement_cache;
	if (c->max == 0)
		return CENOTE_OK;
	c->n_buckets = 16;
	while (c->n_buckets < 2 * c->max)
		c->n_buckets *= 2;
	c->buckets = cnc_calloc(s->mem, c->n_buckets, sizeof(*c->buckets));
	return c->buckets ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static struct cnd_sq_stmt **
bucket(struct cnd_sq_cache *c, uint64_t hash)
{
	return &c->buckets[hash & (c->n_buckets - 1)];
}

static void
list_take(struct cnd_sq_cache *c, struct cnd_sq_stmt *st)
{
	if (st->newer)
		st->newer->older = st->older;
	else
		c->newest = st->older;
	if (st->older)
		st->older->newer = st->newer;
	else
		c->oldest = st->newer;
}

static void
list_put(struct cnd_sq_cache *c, struct cnd_sq_stmt *st)
{
	st->newer = NULL;
	st->older = c->newest;
	if (c->newest)
		c->newest->newer = st;
	else
		c->oldest = st;
	c->newest = st;
}

struct cnd_sq_stmt *
cnd_sq_cache_find(struct cnd_session *s, const char *sql, size_t len, uint64_t hash)
{
	struct cnd_sq_cache *c = &s->cache;
	struct cnd_sq_stmt *st;

	if (!c->buckets)
		return NULL;
	for (st = *bucket(c, hash); st; st = st->next) {
		if (st->hash == hash && st->len == len && memcmp(st->sql, sql, len) == 0)
			break;
	}
	if (!st || st->is_running) {
		c->misses++;
		return NULL;
	}
	c->hits++;
	if (st != c->newest) {
		list_take(c, st);
		list_put(c, st);
	}
	st->refs++;
	return st;
}

static void
evict(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	struct cnd_sq_cache *c = &s->cache;
	struct cnd_sq_stmt **p = bucket(c, st->hash);

	while (*p != st)
		p = &(*p)->next;
	*p = st->next;
	list_take(c, st);
	c->n--;
	st->is_cached = 0;
	cnd_sq_stmt_unref(s, st);
}

void
cnd_sq_cache_add(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	struct cnd_sq_cache *c = &s->cache;
	struct cnd_sq_stmt **b, *same;

	if (!c->buckets || st->len > KEY_MAX)
		return;
	/* There may be a statement with the same text, which was running. The new one replaces it. */
	b = bucket(c, st->hash);
	for (same = *b; same; same = same->next) {
		if (same->hash == st->hash && same->len == st->len &&
			memcmp(same->sql, st->sql, st->len) == 0) {
			evict(s, same);
			break;
		}
	}
	if (c->n >= c->max)
		evict(s, c->oldest);
	st->next = *b;
	*b = st;
	list_put(c, st);
	st->is_cached = 1;
	st->refs++;
	c->n++;
}

void
cnd_sq_cache_clear(struct cnd_session *s, int is_final)
{
	struct cnd_sq_cache *c = &s->cache;

	while (c->oldest)
		evict(s, c->oldest);
	if (is_final) {
		cnc_free(s->mem, c->buckets);
		c->buckets = NULL;
	}
}
