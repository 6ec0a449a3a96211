/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a client's statements and portals, by number. request.c and ahead.c find the entries
 * here, and the backend adds its own part to each. An entry without that part is free for reuse,
 * since a backend may close a portal by itself when a transaction ends.
 */
#include "statements.h"

#include <string.h>

#include "core/effect.h"
#include "core/mem.h"
#include "core/sqlstate.h"

void
cnd_statements_init(struct cnd_statements *t, const struct cnd_backend *backend,
	const struct cenote_allocator *mem)
{
	*t = (struct cnd_statements){ .mem = mem, .ops = backend->statements };
}

static void
free_statement(struct cnd_statements *t, struct cnd_statement *st)
{
	cnc_free(t->mem, st->plan);
	cnc_free(t->mem, st->sql);
	cnc_free(t->mem, st);
}

void
cnd_statements_forget(const struct cnd_host *host, struct cnd_session *s)
{
	struct cnd_statements *t = host->statements;

	for (size_t i = 0; i < t->n_portals; i++) {
		if (t->portals[i]->own != NULL)
			t->ops->forget_portal(s, t->portals[i]);
		cnc_free(t->mem, t->portals[i]);
	}
	for (size_t i = 0; i < t->n_statements; i++) {
		if (t->statements[i]->own != NULL)
			t->ops->forget(s, t->statements[i]);
		free_statement(t, t->statements[i]);
	}
	cnc_free(t->mem, t->portals);
	cnc_free(t->mem, t->statements);
	*t = (struct cnd_statements){ .mem = t->mem, .ops = t->ops };
}

/* Room for one more pointer in a list. NULL: no memory. */
static void *
grow(const struct cnd_statements *t, void *list, size_t n, size_t *cap)
{
	void *grown = list;

	if (n < *cap)
		return list;
	grown = cnc_realloc(t->mem, list, (2 * n + 8) * sizeof(void *));
	if (grown != NULL)
		*cap = 2 * n + 8;
	return grown;
}

/* ---- statements ---- */

/* The index at which a number is, or should be inserted. */
static size_t
find_place(const struct cnd_statements *t, uint32_t number)
{
	size_t low = 0, high = t->n_statements;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->statements[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct cnd_statement *
cnd_statement_find(const struct cnd_statements *t, uint32_t number)
{
	size_t i = find_place(t, number);

	return i < t->n_statements && t->statements[i]->number == number
		       ? t->statements[i]
		       : NULL;
}

int
cnd_statement_get(const struct cnd_statements *t, uint32_t number,
	struct cnd_statement **ret_statement, struct cnc_diag *ret_diag)
{
	*ret_statement = cnd_statement_find(t, number);
	if (*ret_statement != NULL)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, CNC_SQLSTATE(NO_STATEMENT),
		"there is no prepared statement %u", (unsigned)number);
	return CENOTE_ERR_SERVER;
}

static struct cnd_statement *
add_statement(struct cnd_statements *t, uint32_t number)
{
	size_t at = find_place(t, number), n = t->n_statements;
	struct cnd_statement *st = cnc_calloc(t->mem, 1, sizeof(*st));
	struct cnd_statement **list =
		grow(t, t->statements, t->n_statements, &t->cap_statements);

	if (list != NULL)
		t->statements = list;
	if (st == NULL || list == NULL) {
		cnc_free(t->mem, st);
		return NULL;
	}
	st->number = number;
	memmove(list + at + 1, list + at, (n - at) * sizeof(*list));
	list[at] = st;
	t->n_statements++;
	return st;
}

void
cnd_statement_add_piece(struct cnd_statements *t, struct cnd_statement *st)
{
	t->n_pieced += !st->has_pieces;
	st->has_pieces = true;
}

void
cnd_statement_end_pieces(struct cnd_statements *t, struct cnd_statement *st)
{
	if (st == NULL)
		return;
	t->n_pieced -= st->has_pieces;
	st->has_pieces = false;
}

bool
cnd_statements_have_pieces(const struct cnd_statements *t)
{
	return t->n_pieced > 0;
}

static void
remove_statement(struct cnd_statements *t, struct cnd_statement *st)
{
	size_t at = find_place(t, st->number);
	struct cnd_statement **place = t->statements + at;

	cnd_statement_end_pieces(t, st);
	t->n_statements--;
	memmove(place, place + 1, (t->n_statements - at) * sizeof(*place));
	free_statement(t, st);
}

int
cnd_statement_prepare(struct cnd_statements *t, struct cnd_session *s, uint32_t number,
	struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	struct cnd_statement *st = cnd_statement_find(t, number);
	char *sql = cnc_strndup(t->mem, prepare->sql.p, prepare->sql.n);
	int r = CENOTE_ERR_NOMEM;

	if (st == NULL && sql != NULL)
		st = add_statement(t, number);
	if (st != NULL && sql != NULL) {
		prepare->statement = st;
		r = t->ops->prepare(s, prepare, sink);
	}
	if (r >= 0) {
		cnc_free(t->mem, st->sql);
		st->sql = sql;
		st->len = prepare->sql.n;
		st->effect = cnc_sql_effect(sql, st->len);
		sql = NULL;
		cnd_statement_end_pieces(t, st);
	}
	cnc_free(t->mem, sql);
	if (st != NULL && st->own == NULL)
		remove_statement(t, st);
	return r;
}

int
cnd_statement_close(struct cnd_statements *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which, struct cnd_sink *sink)
{
	const struct cnp_done done = { .tag = cnp_str("CLOSE"), .affected = -1 };
	struct cnd_statement *st = cnd_statement_find(t, number);
	int r = CENOTE_OK;

	which->statement = st;
	if (t->ops->close != NULL && (st != NULL || number == 0))
		r = t->ops->close(s, which, sink);
	else
		r = sink->ops->done(sink, &done);
	if (st != NULL && st->own != NULL && r >= 0)
		t->ops->forget(s, st);
	if (st != NULL && st->own == NULL)
		remove_statement(t, st);
	return r;
}

/* ---- portals ---- */

struct cnd_portal *
cnd_portal_make(struct cnd_statements *t, uint32_t number)
{
	struct cnd_portal *p = NULL, **list;

	for (size_t i = 0; i < t->n_portals && p == NULL; i++) {
		if (t->portals[i]->own == NULL)
			p = t->portals[i];
	}
	if (p == NULL) {
		list = grow(t, t->portals, t->n_portals, &t->cap_portals);
		if (list == NULL)
			return NULL;
		t->portals = list;
		p = cnc_calloc(t->mem, 1, sizeof(*p));
		if (p == NULL)
			return NULL;
		list[t->n_portals++] = p;
	}
	*p = (struct cnd_portal){ .number = number };
	return p;
}

static struct cnd_portal *
find_portal(const struct cnd_statements *t, uint32_t number)
{
	for (size_t i = 0; i < t->n_portals; i++) {
		if (t->portals[i]->number == number && t->portals[i]->own != NULL)
			return t->portals[i];
	}
	return NULL;
}

int
cnd_portal_get(const struct cnd_statements *t, uint32_t number,
	struct cnd_portal **ret_portal, struct cnc_diag *ret_diag)
{
	*ret_portal = find_portal(t, number);
	if (*ret_portal != NULL)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, CNC_SQLSTATE(NO_CURSOR), "there is no open result %u",
		(unsigned)number);
	return CENOTE_ERR_SERVER;
}

void
cnd_portal_close(struct cnd_statements *t, struct cnd_session *s, uint32_t number)
{
	struct cnd_portal *p = find_portal(t, number);

	if (p != NULL)
		t->ops->close_portal(s, p);
}
