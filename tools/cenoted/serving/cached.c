/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a result is kept in the pool's cache and when it is used, for the requests of one client (cached.h). It owns s->cached,
 * and the plans of prepared statements.
 *
 * Writes. Before a statement that may write is sent, the counters of its tables are raised. They are raised again when its
 * transaction has ended, before the client gets the answer. A reader notes the counters before its statement is sent, and
 * keeps the result with them. So a result that was read before a commit is not used once the client of that commit has its
 * answer.
 *
 * Settings. The key has all that the client has set: its options, what it brought from its former session, and the statements
 * that set something, in order. Code that no text shows may set something, too. So after a statement that may have run such
 * code, the server is asked for the settings (settle) before the next use. Its answer replaces the list. If it cannot tell,
 * the cache is not used for this client until a reset.
 */
#include "cached_internal.h"

#include <string.h>
#include <strings.h>

#include "core/reach.h"

/* A client that has set more than this does not use the cache. */
#define SETTINGS_MAX 8192u

static const struct cnd_touch unknown = {
	.is_all = true, .is_write = true, .reach = CNC_REACH_PRIVATE
};

int
cnd_cached_create(struct cnd_serving *s, const struct cnd_cache *cache,
	struct cnd_cache_counts *counts, uint32_t slot)
{
	struct cnd_cached *c = cnc_calloc(s->host.mem, 1, sizeof(*c));

	if (c == NULL)
		return CENOTE_ERR_NOMEM;
	c->cache = *cache;
	c->counts = counts;
	c->slot = slot;
	c->is_off = true;
	cnc_buf_init(&c->options, s->host.mem, SETTINGS_MAX);
	cnc_buf_init(&c->brought, s->host.mem, SETTINGS_MAX);
	cnc_buf_init(&c->history, s->host.mem, SETTINGS_MAX);
	cnc_buf_init(&c->key, s->host.mem, CND_CACHED_KEY_MAX);
	cnc_buf_init(&c->result, s->host.mem, cnd_cache_longest(cache));
	/* the worker that had this slot may have died after a commit of which it did not learn */
	if (cnd_cache_is_writing(cache, slot))
		cnd_cache_raise(cache, &unknown);
	s->cached = c;
	return CENOTE_OK;
}

static void
forget_names(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;

	while (c->n_names > 0)
		cnc_free(s->host.mem, c->names[--c->n_names]);
}

void
cnd_cached_destroy(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;

	if (c == NULL)
		return;
	forget_names(s);
	cnc_buf_finish(&c->options);
	cnc_buf_finish(&c->brought);
	cnc_buf_finish(&c->history);
	cnc_buf_finish(&c->key);
	cnc_buf_finish(&c->result);
	cnc_free(s->host.mem, c);
	s->cached = NULL;
}

/* ---- writes ---- */

static void
raise_dirty(struct cnd_cached *c)
{
	if (c->dirty.is_write || c->dirty.is_all)
		cnd_cache_raise(&c->cache, &c->dirty);
}

static void
forget_dirty(struct cnd_cached *c)
{
	if (!c->dirty.is_write && !c->dirty.is_all)
		return;
	c->dirty = (struct cnd_touch){ .n_tables = 0 };
	cnd_cache_set_writing(&c->cache, c->slot, false);
}

static void
begin_write(struct cnd_cached *c, const struct cnd_touch *t)
{
	if (!t->is_write && !t->is_all)
		return;
	cnd_cache_set_writing(&c->cache, c->slot, true);
	cnd_touch_add(&c->dirty, t);
	cnd_cache_raise(&c->cache, t);
}

void
cnd_cached_enter(struct cnd_serving *s, const struct cnd_exec *exec)
{
	struct cnd_cached *c = s->cached;

	c->has_run = true;
	c->n_run++;
	begin_write(c, &c->touch);
	if (exec != NULL && exec->batch_rows > 0)
		cnd_touch_add(&c->portals, &c->touch);
}

/* ---- settings ---- */

static bool
mentions(const char *p, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++) {
		if (strncasecmp(p + i, word, len) == 0)
			return true;
	}
	return false;
}

/*
 * Whether the cache cannot be used with this setting. Who may read what may depend on the role. With the server's own tables in
 * the search path, a name without a schema may be one of them (query/touch.c).
 */
static bool
excludes(const char *p, size_t n)
{
	return mentions(p, n, "role") || mentions(p, n, "authorization") ||
	       mentions(p, n, "information_schema") ||
	       mentions(p, n, "performance_schema");
}

static int
put_str(struct cnc_buf *b, struct cnp_str text)
{
	return cnc_buf_str(b, text.p, text.n);
}

/* Append what the request has set: its code, and its values. */
static int
put_setting(const struct cnd_cached *c, struct cnc_buf *b, const struct cnp_msg *m)
{
	int r = cnc_buf_u8(b, m->code);

	switch (m->code) {
	case CNP_MSG_QUERY:
		r = r < 0 ? r : put_str(b, m->as.query.sql);
		return r < 0 ? r : put_str(b, m->as.query.params);
	case CNP_MSG_EXECUTE:
		r = r < 0 || c->plan == NULL ? CENOTE_ERR_STATE
					     : cnc_buf_str(b, c->plan->bytes,
						       c->plan->n_name + c->plan->n_sql +
							       c->plan->n_types);
		return r < 0 ? r : put_str(b, m->as.execute.params);
	case CNP_MSG_SELECT_DATABASE:
		return r < 0 ? r : put_str(b, m->as.select_database.database);
	case CNP_MSG_SET_OPTION:
		r = r < 0 ? r : put_str(b, m->as.set_option.name);
		return r < 0 ? r : put_str(b, m->as.set_option.value);
	default:
		return r;
	}
}

static struct cnp_str
text_of(const struct cnd_cached *c, const struct cnp_msg *m)
{
	if (m->code == CNP_MSG_QUERY)
		return m->as.query.sql;
	if (m->code == CNP_MSG_SELECT_DATABASE)
		return m->as.select_database.database;
	if (m->code == CNP_MSG_EXECUTE && c->plan != NULL)
		return (struct cnp_str){ c->plan->bytes + c->plan->n_name,
			c->plan->n_sql };
	return CNP_STR_NONE;
}

/* The request may have set something. is_sure: it surely has, and no later failure can undo that. */
static void
note_settings(struct cnd_serving *s, const struct cnp_msg *m, bool is_sure)
{
	struct cnd_cached *c = s->cached;
	struct cnp_str text = text_of(c, m);

	if (c->touch.reach < CNC_REACH_SETTING)
		return;
	c->n_settings++;
	if (!is_sure || c->touch.reach > CNC_REACH_SETTING || excludes(text.p, text.n) ||
		put_setting(c, &c->history, m) < 0)
		c->is_off = true;
	/* the text may have given a name to another statement */
	if (c->touch.reach > CNC_REACH_SETTING)
		forget_names(s);
}

/* Take what moves from session to session. */
static void
take_brought(struct cnd_serving *s, const struct cnp_str *carry)
{
	struct cnd_cached *c = s->cached;
	size_t skip = s->backend->carry_values;

	cnc_buf_clear(&c->brought, CND_CACHED_KEPT);
	cnc_buf_clear(&c->history, CND_CACHED_KEPT);
	c->n_settings++;
	if (carry->n > skip && (excludes(carry->p, carry->n) ||
				       cnc_buf_append(&c->brought, carry->p + skip,
					       carry->n - skip) < 0))
		c->is_off = true;
}

/* A position in the server's log is no setting. */
static int
take_options(struct cnd_cached *c, struct cnp_str options)
{
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r = CENOTE_OK;

	cnc_buf_clear(&c->options, CND_CACHED_KEPT);
	cnc_reader_init(&reader, options.p, options.n);
	while (r == CENOTE_OK && cnp_pairs_next(&reader, &name, &value) > 0) {
		if (strcmp(name.p, CNP_POSITION) != 0)
			r = cnp_pairs_put(&c->options, name.p, value.p);
	}
	return r;
}

void
cnd_cached_attach(struct cnd_serving *s, const struct cnp_attach *m)
{
	struct cnd_cached *c = s->cached;

	/* what the last client has written may have been committed after it had gone */
	raise_dirty(c);
	forget_dirty(c);
	c->is_another = c->is_reset = false;
	c->is_clean = true;
	c->is_off = take_options(c, m->options) < 0;
	take_brought(s, &m->carry);
}

void
cnd_cached_forget_client(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;

	raise_dirty(c);
	forget_names(s);
	c->portals = (struct cnd_touch){ .n_tables = 0 };
	c->is_off = true;
}

/* Whether the server has confirmed what is known already. An empty carry means that nothing has changed. */
static bool
has_brought(const struct cnd_serving *s, const struct cnp_str *carry)
{
	const struct cnc_buf *brought = &s->cached->brought;
	size_t skip = s->backend->carry_values, n = cnc_buf_len(brought);

	return cnc_buf_len(&s->cached->history) == 0 &&
	       (carry->n == 0 ||
		       (carry->n == skip + n &&
			       memcmp(carry->p + skip, cnc_buf_head(brought), n) == 0));
}

/* If the server has told all settings, they are those that would move to another session. */
void
cnd_cached_settled(struct cnd_serving *s, uint32_t pins, const struct cnd_state *state)
{
	const uint32_t unknown_settings = CENOTE_PIN_FUNCTION | CENOTE_PIN_SETTINGS;
	struct cnd_cached *c = s->cached;

	if (state->tx != CENOTE_TX_IDLE || c->is_another)
		return;
	if ((state->pins & unknown_settings) != 0) {
		c->is_off |= (pins & CENOTE_PIN_FUNCTION) != 0;
		return;
	}
	/* the session still has what the client brought, so the list of settings stays as well */
	if (state->carry.n == 0 && cnc_buf_len(&c->brought) > 0)
		return;
	c->is_off = false;
	if (!has_brought(s, &state->carry))
		take_brought(s, &state->carry);
}

static void
note_reset(struct cnd_serving *s)
{
	struct cnd_cached *c = s->cached;

	take_brought(s, &CNP_STR_NONE);
	c->is_reset = true;
	c->is_off = false;
	c->is_another = false;
	forget_names(s);
}

/* ---- prepared statements ---- */

static size_t
find_name(const struct cnd_cached *c, struct cnp_str name)
{
	size_t i = 0;

	while (i < c->n_names && (c->names[i]->n_name != name.n ||
					 memcmp(c->names[i]->bytes, name.p, name.n) != 0))
		i++;
	return i;
}

void
cnd_cached_closed(struct cnd_serving *s, struct cnp_str name)
{
	struct cnd_cached *c = s->cached;
	size_t i = find_name(c, name);

	if (i == c->n_names)
		return;
	cnc_free(s->host.mem, c->names[i]);
	c->names[i] = c->names[--c->n_names];
}

/* The texts are needed only if a rule keeps the result, or if the statement sets something. */
static struct cnd_plan *
make_plan(struct cnd_serving *s, const struct cnp_prepare *m,
	const struct cnd_prepare *prepare)
{
	const struct cnd_cached *c = s->cached;
	bool has_text = c->ttl_ms > 0 || c->touch.reach >= CNC_REACH_SETTING;
	size_t n_sql = has_text ? prepare->sql.n : 0, n_types = has_text ? m->types.n : 0;
	struct cnd_plan *p =
		cnc_alloc(s->host.mem, sizeof(*p) + m->name.n + n_sql + n_types + 1);
	char *to;

	if (p == NULL)
		return NULL;
	*p = (struct cnd_plan){ .touch = c->touch,
		.ttl_ms = c->ttl_ms,
		.n_settings = c->n_settings,
		.n_run = c->n_run,
		.is_sure = (s->held.pins & CENOTE_PIN_FUNCTION) == 0,
		.has_columns = c->has_begun,
		.columns = c->columns,
		.n_name = m->name.n,
		.n_sql = n_sql,
		.n_types = n_types };
	to = p->bytes;
	if (m->name.n > 0)
		memcpy(to, m->name.p, m->name.n);
	if (n_sql > 0)
		memcpy(to + m->name.n, prepare->sql.p, n_sql);
	if (n_types > 0)
		memcpy(to + m->name.n + n_sql, m->types.p, n_types);
	return p;
}

void
cnd_cached_prepared(struct cnd_serving *s, const struct cnp_prepare *m,
	const struct cnd_prepare *prepare)
{
	struct cnd_cached *c = s->cached;
	struct cnd_plan *plan = make_plan(s, m, prepare);
	struct cnd_statement *st = NULL;

	if (m->statement != 0)
		st = cnd_statement_find(&s->statements, m->statement);
	else
		cnd_cached_closed(s, m->name);
	if (st != NULL) {
		cnc_free(s->host.mem, st->plan);
		st->plan = plan;
	} else if (m->statement == 0 && plan != NULL && c->n_names < CND_CACHED_NAMES) {
		c->names[c->n_names++] = plan;
	} else {
		cnc_free(s->host.mem, plan);
	}
}

/* NULL: nothing is known of the statement. */
static struct cnd_plan *
find_plan(const struct cnd_serving *s, uint32_t number, struct cnp_str name)
{
	const struct cnd_cached *c = s->cached;
	const struct cnd_statement *st;
	size_t i;

	if (number != 0) {
		st = cnd_statement_find(&s->statements, number);
		return st != NULL ? st->plan : NULL;
	}
	i = find_name(c, name);
	return i < c->n_names ? c->names[i] : NULL;
}

void
cnd_cached_recall(struct cnd_serving *s, struct cnd_question *q)
{
	struct cnd_cached *c = s->cached;
	const struct cnd_plan *plan = c->plan;

	c->touch = plan != NULL ? plan->touch : unknown;
	c->ttl_ms = plan != NULL ? plan->ttl_ms : 0;
	if (plan == NULL)
		return;
	q->sql = (struct cnp_str){ plan->bytes + plan->n_name, plan->n_sql };
	q->types = (struct cnp_str){ q->sql.p + plan->n_sql, plan->n_types };
}

/* ---- requests ---- */

/* Whether the request runs no statement before cnd_cached_enter(). */
static bool
is_statement(const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_QUERY:
	case CNP_MSG_EXECUTE:
	case CNP_MSG_FUNCTION:
	case CNP_MSG_PREPARE:
	case CNP_MSG_DESCRIBE:
	case CNP_MSG_CLOSE:
	case CNP_MSG_SYNC:
		return true;
	default:
		return false;
	}
}

/* What a request does that is no statement. */
static void
judge_message(struct cnd_cached *c, const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_CHANGE_USER:
		c->is_another = true;
		c->touch.reach = CNC_REACH_PRIVATE;
		break;
	case CNP_MSG_SET_OPTION:
		if (strcmp(m->as.set_option.name.p, CNP_POSITION) != 0)
			c->touch.reach = CNC_REACH_SETTING;
		break;
	case CNP_MSG_SELECT_DATABASE:
		c->touch.reach = CNC_REACH_SETTING;
		break;
	case CNP_MSG_FETCH:
	case CNP_MSG_CLOSE_PORTAL:
		begin_write(c, &c->portals);
		break;
	default:
		break;
	}
}

void
cnd_cached_begin(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_cached *c = s->cached;
	const struct cnp_msg *m = &req->msg;

	c->touch = (struct cnd_touch){ .n_tables = 0 };
	c->ttl_ms = 0;
	c->plan = NULL;
	c->was_clean = c->is_clean && s->held.tx == CENOTE_TX_IDLE;
	c->has_run = !is_statement(m);
	c->has_failed = false;
	c->is_keeping = c->has_begun = c->is_complete = false;
	if (m->code == CNP_MSG_EXECUTE)
		c->plan = find_plan(s, m->as.execute.statement, m->as.execute.name);
	else if (m->code == CNP_MSG_DESCRIBE && m->as.describe.statement != 0)
		c->plan = find_plan(s, m->as.describe.statement, CNP_STR_NONE);
	judge_message(c, m);
}

void
cnd_cached_judged(struct cnd_serving *s, const struct cnd_touch *touch, uint64_t ttl_ms)
{
	s->cached->touch = *touch;
	s->cached->ttl_ms = ttl_ms;
}

void
cnd_cached_failed(struct cnd_serving *s)
{
	s->cached->has_failed = true;
}

void
cnd_cached_end(struct cnd_serving *s, const struct cnp_request *req, int status)
{
	struct cnd_cached *c = s->cached;
	bool is_gone = status < 0 || s->is_lost;
	bool is_idle = !is_gone && s->held.tx == CENOTE_TX_IDLE;
	bool is_synced = s->backend->sync == NULL || s->held.is_ready;

	if (req->msg.code == CNP_MSG_RESET && !c->has_failed)
		note_reset(s);
	else if (c->has_run)
		note_settings(s, &req->msg,
			is_idle && is_synced && c->was_clean && !c->has_failed);
	if (is_idle || is_gone)
		raise_dirty(c);
	if (is_idle && is_synced)
		forget_dirty(c);
	if (c->is_complete && is_idle && !c->has_failed)
		cnd_cached_keep(s);
	c->is_keeping = false;
	c->plan = NULL;
	c->is_clean = is_synced || (c->is_clean && !c->has_run);
}
