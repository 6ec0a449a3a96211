/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool's cache in a worker: begin to use the memory that the master made, find out what a statement touches, and say what
 * a result belongs to. owner.c and query.c call this file; serving/cached.c does the rest.
 */
#include "worker.h"

#include <string.h>

#include "query/touch.h"
#include "serving/cached.h"
#include "shared/log.h"

_Static_assert(CND_CACHE_SLOTS >= CND_SLOTS_MAX, "each slot has a mark");

void
cnd_worker_cache_init(struct cnd_worker *w)
{
	const struct cnd_cache *cache = &w->child->cache;

	if (cache->head == NULL || w->serving.backend->router != NULL)
		return;
	if (cnd_cached_create(&w->serving, cache, &w->pool->cache, w->slot_index) < 0)
		cnd_log(LOG_WARNING, "no memory for the pool's cache");
}

/*
 * After a reload, workers of the former configuration may still serve clients. If that had no rule to keep results, they do not
 * count their writes. So the cache is used once no such worker is left. The master writes the orders.
 */
static bool
is_alone(struct cnd_worker *w)
{
	uint32_t version = cnd_pool_head(w->board, w->pool_index)->version;

	if (w->cache_checked == version)
		return true;
	if (w->child->pool_version != version)
		return false;
	for (uint32_t i = 0; i < w->board->n_slots; i++) {
		const struct cnd_slot_head *head = cnd_slot_head(w->board, i);

		if (head->pid != 0 && head->pool == w->pool_index &&
			head->order != CND_ORDER_NONE)
			return false;
	}
	w->cache_checked = version;
	return true;
}

void
cnd_worker_cache_judge(struct cnd_worker *w, const struct cnd_query *q,
	const struct cnd_query_rule *rule)
{
	struct cnd_touch touch;
	uint64_t ttl_ms = 0;

	cnd_touch_find(q->summary, q->sql, q->sql_len, &touch);
	if (rule != NULL && rule->action == CND_QUERY_CACHE && is_alone(w))
		ttl_ms = rule->ttl_ms;
	cnd_cached_judged(&w->serving, &touch, ttl_ms);
}

static int
put_text(struct cnc_buf *key, const char *text)
{
	return cnc_buf_str(key, text, strlen(text));
}

/* Everything that the server reports of the session, except its number. */
static int
put_parameters(struct cnc_buf *key, const struct cnc_buf *parameters)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r = CENOTE_OK;

	cnc_reader_init(&reader, cnc_buf_head(parameters), cnc_buf_len(parameters));
	while (r == CENOTE_OK && cnp_pairs_next(&reader, &name, &value) > 0) {
		if (strcmp(name.p, CND_BACKEND_PID) != 0 &&
			strcmp(name.p, CND_CONNECTION_ID) != 0)
			r = cnp_pairs_put(key, name.p, value.p);
	}
	return r;
}

int
cnd_worker_cache_identify(struct cnd_serving *s, struct cnc_buf *key)
{
	struct cnd_worker *w = s->owner;
	const struct cnd_info *info = &w->login.info;
	/* all other clients have the user of the server line */
	const char *user =
		w->config->clients_login != CND_CLIENTS_NONE ? w->client.user : "";
	int r;

	/* another pool may have written what the client must see */
	if (*w->position.wanted != '\0')
		return CENOTE_ERR_STATE;
	r = cnc_buf_u32(key, w->child->pool_version);
	if (r == CENOTE_OK)
		r = cnc_buf_u32(key, w->slot->server_line);
	if (r == CENOTE_OK)
		r = put_text(key, info->database);
	if (r == CENOTE_OK)
		r = put_text(key, user);
	if (r == CENOTE_OK)
		r = put_text(key, w->login.settings);
	return r == CENOTE_OK ? put_parameters(key, &s->parameters) : r;
}
