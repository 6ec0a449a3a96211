/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of the pool's cache: make the key of a statement, find its result and give it to the client, or copy the answer
 * that comes from the server. cached.c knows the client, kept.c the form of a result. sink.c calls the functions that copy.
 */
#include "cached_internal.h"

#include "kept.h"

/* ---- asking ---- */

/* Whether the session holds nothing that changes the result, but what is in the key. */
static bool
holds_nothing(const struct cnd_serving *s)
{
	uint32_t known = CENOTE_PIN_LISTEN | CENOTE_PIN_CURSOR | CENOTE_PIN_PREPARED;

	if (cnc_buf_len(&s->cached->history) > 0)
		known |= CENOTE_PIN_SETTINGS;
	return (s->held.pins & ~known) == 0;
}

/* Whether the request wants the whole result at once. */
static bool
is_whole(const struct cnd_exec *exec)
{
	for (uint32_t i = 0; i < exec->n_params; i++) {
		if (exec->params[i].is_long)
			return false;
	}
	return exec->batch_rows == 0 && exec->max_rows == 0;
}

/* A server reads the literals of a prepared statement by the settings of the time when it was prepared. */
static bool
has_same_settings(const struct cnd_cached *c)
{
	return c->plan == NULL ||
	       (c->plan->is_sure && c->plan->n_settings == c->n_settings);
}

static bool
may_ask(const struct cnd_serving *s, const struct cnd_question *q)
{
	const struct cnd_cached *c = s->cached;

	return c->ttl_ms > 0 && c->touch.may_keep && !c->is_off && c->was_clean &&
	       !s->held.is_manual && !s->result.is_limited && !s->result.is_quiet &&
	       is_whole(q->exec);
}

/* Statements may have run code that their texts do not show, as a view does, and this code may have set something. If the
 * client has set something itself, the server's answer makes a key that all clients with these settings share. */
static bool
must_settle(const struct cnd_serving *s)
{
	const struct cnd_cached *c = s->cached;
	uint32_t pins = s->held.pins;

	return s->backend->settle != NULL && (pins & ~s->backend->settled_pins) == 0 &&
	       ((pins & CENOTE_PIN_FUNCTION) != 0 ||
		       ((pins & CENOTE_PIN_SETTINGS) != 0 &&
			       c->settled_at != c->n_settings));
}

/* Ask the server what the session holds. It is true until the next statement runs. Negative: the session is lost. */
static int
settle(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;
	uint32_t pins = s->held.pins;
	struct cnd_state state;
	int r;

	if (!must_settle(s))
		return CENOTE_OK;
	c->settled_at = c->n_settings;
	r = s->backend->settle(s->session, &s->sink);
	if (r == CENOTE_ERR_CONN || r == CENOTE_ERR_NOMEM)
		return r;
	cnc_diag_clear(&s->diag);
	cnd_request_state(s, &state);
	s->held.pins = state.pins;
	cnd_cached_settled(s, pins, &state);
	if (c->plan != NULL && c->plan->n_run == c->n_run)
		c->plan->is_sure = true;
	return CENOTE_OK;
}

static int
put_str(struct cnc_buf *b, struct cnp_str text)
{
	return cnc_buf_str(b, text.p, text.n);
}

static int
put_buf(struct cnc_buf *b, const struct cnc_buf *from)
{
	return cnc_buf_str(b, cnc_buf_head(from), cnc_buf_len(from));
}

/* Everything that decides what the server answers, except the data. Without a list of parameters, PostgreSQL uses its simple
 * protocol, and may answer differently. */
static int
put_key(struct cnd_serving *s, const struct cnd_question *q)
{
	struct cnd_cached *c = s->cached;
	const uint8_t form[] = { q->is_execute, q->params.n > 0, q->exec->format,
		c->is_reset };
	int r;

	cnc_buf_clear(&c->key, CND_CACHED_KEPT);
	r = put_str(&c->key, q->sql);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&c->key, form, sizeof(form));
	if (r == CENOTE_OK)
		r = put_str(&c->key, q->exec->formats);
	if (r == CENOTE_OK)
		r = put_str(&c->key, q->params);
	if (r == CENOTE_OK)
		r = put_str(&c->key, q->types);
	if (r == CENOTE_OK)
		r = put_buf(&c->key, &c->options);
	if (r == CENOTE_OK)
		r = put_buf(&c->key, &c->brought);
	if (r == CENOTE_OK)
		r = put_buf(&c->key, &c->history);
	return r == CENOTE_OK ? s->ops->identify(s, &c->key) : r;
}

/* ---- giving ---- */

/* Whether nothing has changed since the result was read. */
static bool
is_current(const struct cnd_cached *c, const struct cnd_kept *k,
	const struct cnd_cache_marks *now)
{
	if (k->all != now->all || k->n_tables != c->touch.n_tables)
		return false;
	for (uint32_t i = 0; i < k->n_tables; i++) {
		if (cnc_get_u64(k->tables + (size_t)8 * i) != now->tables[i])
			return false;
	}
	return true;
}

/*
 * A client may have the columns of a statement that has a number, and the server then sends rows without them. So the client
 * must have these very columns, or else it would read the server's rows by the wrong ones later.
 */
static bool
has_same_columns(const struct cnd_cached *c, const struct cnd_question *q,
	const struct cnd_kept *k)
{
	if (!q->is_execute || c->plan->n_name > 0)
		return true;
	return c->plan->has_columns &&
	       c->plan->columns == cnc_saved_sum(k->columns.p, k->columns.n, 0);
}

static int
give_row(struct cnd_serving *s, const uint8_t *row, size_t n)
{
	struct cnc_batch *batch = &s->result.batch;
	int r;

	batch->row = cnc_buf_len(batch->out);
	batch->column = 0;
	r = cnc_buf_append(batch->out, row, n);
	if (r < 0) {
		cnc_batch_row_undo(batch);
		return r;
	}
	batch->column = batch->n_columns;
	cnc_batch_row_done(batch);
	return s->sink.ops->row_done(&s->sink);
}

static int
give_batch(struct cnd_serving *s, const uint8_t *batch, size_t len, uint32_t n_columns)
{
	uint32_t n_rows = cnc_get_u32(batch);
	const uint8_t *row = batch + CNC_BATCH_HEADER, *end = batch + len;
	int r = CENOTE_OK;

	for (uint32_t i = 0; i < n_rows && r == CENOTE_OK; i++) {
		size_t n = cnc_batch_check_row(row, (size_t)(end - row), n_columns);

		r = give_row(s, row, n);
		row += n;
	}
	return r;
}

static int
give(struct cnd_serving *s, struct cnd_kept *k, bool is_known)
{
	const uint8_t *batch;
	size_t len;
	int r = s->sink.ops->columns(&s->sink, k->list, k->n_columns, is_known);

	while (r == CENOTE_OK && cnd_kept_next_batch(k, &batch, &len))
		r = give_batch(s, batch, len, k->n_columns);
	return r == CENOTE_OK ? s->sink.ops->done(&s->sink, &k->done) : r;
}

/* Begin to copy the answer of the server. Without memory, it is not kept. */
static void
begin_keeping(struct cnd_cached *c, const struct cnd_cache_marks *marks)
{
	struct cnc_buf *b = &c->result;
	uint8_t number[8];
	int r;

	cnc_buf_clear(b, CND_CACHED_KEPT);
	r = cnc_saved_begin(b, cnc_buf_head(&c->key), cnc_buf_len(&c->key));
	cnc_put_u64(number, marks->all);
	if (r == CENOTE_OK)
		r = cnc_buf_append(b, number, sizeof(number));
	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, c->touch.n_tables);
	for (uint8_t i = 0; i < c->touch.n_tables && r == CENOTE_OK; i++) {
		cnc_put_u64(number, marks->tables[i]);
		r = cnc_buf_append(b, number, sizeof(number));
	}
	c->is_keeping = r == CENOTE_OK;
}

/* Find a result that may be used now. */
static bool
find(struct cnd_serving *s, const struct cnd_question *q,
	const struct cnd_cache_marks *marks, struct cnd_kept *ret_kept)
{
	struct cnd_cached *c = s->cached;
	struct cnc_saved saved;

	return cnd_cache_find(&c->cache, &c->key, &c->result, &saved) &&
	       cnc_saved_is_fresh(&saved, c->sent_us, c->ttl_ms) &&
	       cnd_kept_read(saved.body, saved.body_len, &s->request.arena, ret_kept) ==
		       CENOTE_OK &&
	       is_current(c, ret_kept, marks) && has_same_columns(c, q, ret_kept);
}

int
cnd_cached_ask(struct cnd_serving *s, const struct cnd_question *q)
{
	struct cnd_cached *c = s->cached;
	struct cnd_cache_marks marks;
	struct cnd_kept kept;
	bool may = may_ask(s, q);
	int r = may ? settle(s) : CENOTE_OK;

	if (r < 0)
		return r;
	if (!may || c->is_off || !has_same_settings(c) || !holds_nothing(s) ||
		put_key(s, q) < 0) {
		cnd_cached_enter(s, q->exec);
		return CENOTE_OK;
	}
	cnd_cache_mark(&c->cache, &c->touch, &marks);
	c->sent_us = cnd_cache_now_us();
	if (find(s, q, &marks, &kept)) {
		atomic_fetch_add_explicit(&c->counts->hits, 1, memory_order_relaxed);
		c->is_giving = true;
		r = give(s, &kept, q->exec->columns_known);
		c->is_giving = false;
		return r == CENOTE_OK ? CENOTE_DONE : r;
	}
	atomic_fetch_add_explicit(&c->counts->misses, 1, memory_order_relaxed);
	cnd_cached_enter(s, q->exec);
	begin_keeping(c, &marks);
	return CENOTE_OK;
}

/* ---- keeping ---- */

void
cnd_cached_drop(struct cnd_serving *s)
{
	s->cached->is_keeping = false;
	s->cached->is_complete = false;
}

/* Note which columns the client has. They are encoded into the copy, or at its place if there is none. */
static void
note_columns(struct cnd_cached *c, const struct cnp_column *columns, uint32_t n)
{
	struct cnc_buf *b = &c->result;
	size_t at;

	if (!c->is_keeping)
		cnc_buf_clear(b, CND_CACHED_KEPT);
	at = cnc_buf_len(b);
	c->has_begun = cnd_kept_put_columns(b, columns, n) == CENOTE_OK;
	if (c->has_begun)
		c->columns = cnc_saved_sum(
			cnc_buf_head(b) + at + 4, cnc_buf_len(b) - at - 5, 0);
	else
		c->is_keeping = false;
	if (c->plan == NULL)
		return;
	c->plan->has_columns = c->has_begun;
	c->plan->columns = c->columns;
}

void
cnd_cached_columns(struct cnd_serving *s, const struct cnp_column *columns, uint32_t n)
{
	struct cnd_cached *c = s->cached;

	if (c->is_giving)
		return;
	/* a second result */
	if (c->has_begun)
		cnd_cached_drop(s);
	if (c->is_keeping || c->ttl_ms > 0 || c->plan != NULL)
		note_columns(c, columns, n);
}

void
cnd_cached_rows(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;
	struct cnc_batch *batch = &s->result.batch;
	size_t len;

	if (!c->is_keeping || batch->n_rows == 0)
		return;
	len = cnc_batch_end(batch);
	if (cnc_buf_str(&c->result, cnc_buf_head(batch->out) + batch->start, len) < 0)
		c->is_keeping = false;
}

void
cnd_cached_done(struct cnd_serving *s, const struct cnp_done *done)
{
	struct cnd_cached *c = s->cached;

	/* the client is about to learn what one of several statements has changed */
	if (done->flags & CNP_DONE_MORE_RESULTS)
		cnd_cache_raise(&c->cache, &c->dirty);
	if (!c->is_keeping)
		return;
	c->is_keeping = false;
	c->is_complete = c->has_begun && done->flags == 0 && done->warnings == 0 &&
			 cnd_kept_put_end(&c->result, done) == CENOTE_OK;
}

void
cnd_cached_keep(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;

	cnc_saved_end(&c->result, c->sent_us, c->ttl_ms);
	cnd_cache_keep(&c->cache, &c->key, &c->result, c->counts);
}
