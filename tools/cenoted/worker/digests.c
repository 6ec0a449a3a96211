/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of the statements that this worker runs (`digests = yes`). It owns w->digests: what is remembered of texts,
 * prepared statements and portals, so that a text that came before is not read again. owner.c calls it around each request.
 *
 * The rules by which a text is read are those that the server has confirmed (sql_rules() of the backend). If they are not
 * known, the statement counts for the others, and nothing of its text is kept.
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "shared/log.h"

/* A longer text is read up to here. */
#define SQL_MAX    16384u
/* Places for texts, and for prepared statements and portals. */
#define TEXTS      256u
#define OBJECTS    512u
#define OBJECT_TRY 8u

/* What a key stands for; it begins the seed of the key. */
enum kind {
	KIND_TEXT,
	KIND_STATEMENT, /* with a number */
	KIND_NAME, /* a statement with a name at the server */
	KIND_PORTAL
};

struct place {
	uint64_t key; /* 0: empty */
	struct cnd_digest_ref ref;
};

/* A digest that has no entry yet. What failed gets none: it may be no statement at all. */
struct fresh_text {
	uint64_t key;
	uint64_t hash;
	size_t len;
	char text[CND_DIGEST_TEXT + 4];
};

struct cnd_worker_digests {
	struct cnd_digest_ref running; /* of the request that runs */
	bool is_counted; /* that request is an execution */
	bool has_failed; /* it ended with an error */
	bool is_fresh; /* its digest is in `fresh` */
	struct fresh_text fresh;
	struct place texts[TEXTS];
	struct place objects[OBJECTS];
};

static const struct cnd_digest_ref others = { 0, CND_DIGEST_OTHERS };

void
cnd_digests_init(struct cnd_worker *w)
{
	if (!w->config->has_digests)
		return;
	w->digests = calloc(1, sizeof(*w->digests));
	if (w->digests == NULL)
		cnd_log(LOG_WARNING, "no memory for the statistics of statements");
}

void
cnd_digests_finish(struct cnd_worker *w)
{
	free(w->digests);
	w->digests = NULL;
}

/* ---- what is remembered ---- */

/* Objects of one client are not those of the next one. */
static uint64_t
object_key(const struct cnd_worker *w, enum kind kind, const void *bytes, size_t n)
{
	uint64_t seed = (uint64_t)kind << 32 |
			atomic_load_explicit(&w->slot->generation, memory_order_relaxed);
	uint64_t key = cnc_digest_key(bytes, n, seed);

	return key != 0 ? key : 1;
}

static uint64_t
number_key(const struct cnd_worker *w, enum kind kind, uint32_t number)
{
	return object_key(w, kind, &number, sizeof(number));
}

static struct place *
place_of(struct cnd_worker_digests *d, uint64_t key, uint32_t i)
{
	return &d->objects[(key + i) % OBJECTS];
}

static struct cnd_digest_ref
recall(struct cnd_worker_digests *d, uint64_t key)
{
	for (uint32_t i = 0; i < OBJECT_TRY; i++) {
		const struct place *p = place_of(d, key, i);

		if (p->key == key)
			return p->ref;
	}
	return others;
}

/* An object that finds no place pushes out another one, whose executions then count for the others. */
static void
remember(struct cnd_worker_digests *d, uint64_t key, struct cnd_digest_ref ref)
{
	struct place *p = place_of(d, key, (uint32_t)(key >> 32) % OBJECT_TRY);

	for (uint32_t i = 0; i < OBJECT_TRY; i++) {
		struct place *at = place_of(d, key, i);

		if (at->key == key) {
			p = at;
			break;
		}
		if (at->key == 0 && p->key != 0)
			p = at;
	}
	*p = (struct place){ key, ref };
}

/* ---- texts ---- */

static void
read_text(struct fresh_text *t, struct cnp_str sql, uint32_t rules)
{
	t->len = cnc_digest(sql.p, sql.n, rules, t->text, sizeof(t->text), &t->hash);
	if (t->len > sizeof(t->text))
		t->len = sizeof(t->text);
	if (t->hash == 0)
		t->hash = 1;
}

static bool
is_valid(const struct cnd_worker *w, const struct cnd_digest_ref *ref)
{
	return ref->at < CND_DIGESTS && w->pool->digests.hashes[ref->at] == ref->hash;
}

/*
 * In a unit of requests, a server reports new settings only at its end. So an earlier request may have changed what a backslash
 * means without the backend knowing it yet.
 */
static bool
is_doubtful(const struct cnd_serving *s, struct cnp_str sql)
{
	return s->backend->sync != NULL && !s->held.is_ready && sql.n > 0 &&
	       memchr(sql.p, '\\', sql.n) != NULL;
}

/* If the digest has no entry yet, fill d->fresh. */
static struct cnd_digest_ref
digest_of(struct cnd_worker *w, struct cnp_str sql)
{
	const struct cnd_serving *s = &w->serving;
	struct cnd_worker_digests *d = w->digests;
	struct cnd_digest_ref ref;
	struct place *p;
	uint32_t rules;
	uint64_t key;

	if (sql.n > SQL_MAX)
		sql.n = SQL_MAX;
	rules = s->backend->sql_rules(s->session, sql.p, sql.n);
	if (rules == 0 || is_doubtful(s, sql))
		return others;
	key = cnc_digest_key(sql.p, sql.n, rules);
	p = &d->texts[key % TEXTS];
	if (p->key == key && is_valid(w, &p->ref))
		return p->ref;
	read_text(&d->fresh, sql, rules);
	d->fresh.key = key;
	ref = cnd_digest_find(&w->pool->digests, d->fresh.hash);
	d->is_fresh = ref.at == CND_DIGEST_OTHERS;
	if (!d->is_fresh)
		*p = (struct place){ key, ref };
	return ref;
}

/* Make the entry. */
static struct cnd_digest_ref
keep_fresh(struct cnd_worker *w)
{
	struct cnd_worker_digests *d = w->digests;
	const struct fresh_text *t = &d->fresh;
	struct cnd_digest_ref ref =
		cnd_digest_get(&w->pool->digests, t->hash, t->text, t->len, cnd_now_ms());

	d->texts[t->key % TEXTS] = (struct place){ t->key, ref };
	d->is_fresh = false;
	return ref;
}

static struct cnd_digest_ref
digest_of_word(struct cnd_worker *w, const char *word)
{
	return digest_of(w, cnp_str(word));
}

/* ---- requests ---- */

static void
note_prepared(struct cnd_worker *w, const struct cnp_prepare *p)
{
	struct cnd_digest_ref ref = digest_of(w, p->sql);

	if (w->digests->is_fresh)
		ref = keep_fresh(w);
	remember(w->digests,
		p->statement != 0 ? number_key(w, KIND_STATEMENT, p->statement)
				  : object_key(w, KIND_NAME, p->name.p, p->name.n),
		ref);
}

void
cnd_digests_begin(struct cnd_worker *w, const struct cnp_msg *m)
{
	struct cnd_worker_digests *d = w->digests;

	d->has_failed = false;
	d->is_fresh = false;
	d->is_counted = true;
	switch (m->code) {
	case CNP_MSG_QUERY:
		d->running = digest_of(w, m->as.query.sql);
		break;
	case CNP_MSG_EXECUTE:
		d->running = recall(d,
			m->as.execute.statement != 0
				? number_key(w, KIND_STATEMENT, m->as.execute.statement)
				: object_key(w, KIND_NAME, m->as.execute.name.p,
					  m->as.execute.name.n));
		break;
	case CNP_MSG_FETCH:
		d->running = recall(d, number_key(w, KIND_PORTAL, m->as.fetch.portal));
		break;
	case CNP_MSG_BEGIN:
		d->running = digest_of_word(w, "begin");
		break;
	case CNP_MSG_COMMIT:
		d->running = digest_of_word(w, "commit");
		break;
	case CNP_MSG_ROLLBACK:
		d->running = digest_of_word(w, "rollback");
		break;
	case CNP_MSG_PREPARE:
		note_prepared(w, &m->as.prepare);
		d->is_counted = false;
		break;
	default:
		d->is_counted = false;
	}
}

void
cnd_digests_failed(struct cnd_worker *w)
{
	if (w->digests != NULL)
		w->digests->has_failed = true;
}

/* A portal keeps the digest of the statement that opened it. */
static void
note_portal(struct cnd_worker *w, const struct cnp_request *req)
{
	bool has_more = (w->serving.result.done_flags & CNP_DONE_MORE_ROWS) != 0;

	if (has_more && req->msg.code != CNP_MSG_FETCH)
		remember(w->digests, number_key(w, KIND_PORTAL, req->number),
			w->digests->running);
}

void
cnd_digests_end(struct cnd_worker *w, const struct cnp_request *req, int64_t us)
{
	struct cnd_worker_digests *d = w->digests;
	const struct cnd_digest_call call = { .rows = w->serving.result.n_rows,
		.us = us,
		.now_ms = (w->begun_us + us) / 1000,
		.has_failed = d->has_failed,
		.is_more = req->msg.code == CNP_MSG_FETCH };

	if (!d->is_counted)
		return;
	if (d->is_fresh && !d->has_failed)
		d->running = keep_fresh(w);
	note_portal(w, req);
	cnd_digest_add(&w->pool->digests, &d->running, &call);
}
