/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "session.h"

static struct cnd_pg_stmt **
list_of(struct cnd_session *s, uint32_t number)
{
	return &s->stmts[number % CND_PG_STMT_LISTS];
}

struct cnd_pg_stmt *
cnd_pg_stmt_find(struct cnd_session *s, uint32_t number)
{
	struct cnd_pg_stmt *st = *list_of(s, number);

	while (st != NULL && st->number != number)
		st = st->next;
	return st;
}

static void
stmt_free(struct cnd_session *s, struct cnd_pg_stmt *st)
{
	cnd_pg_desc_finish(s, &st->desc);
	cnc_free(s->mem, st->types);
	cnc_free(s->mem, st);
}

static void
stmt_remove(struct cnd_session *s, struct cnd_pg_stmt *st)
{
	struct cnd_pg_stmt **at = list_of(s, st->number);

	while (*at != st)
		at = &(*at)->next;
	*at = st->next;
	s->n_stmts--;
	stmt_free(s, st);
}

void
cnd_pg_stmts_forget(struct cnd_session *s)
{
	for (size_t i = 0; i < CND_PG_STMT_LISTS && s->n_stmts > 0; i++) {
		while (s->stmts[i] != NULL)
			stmt_remove(s, s->stmts[i]);
	}
}

int
cnd_pg_give_params(struct cnd_session *s)
{
	struct cnp_param *params = cnc_calloc(s->mem, s->n_params + 1, sizeof(*params));
	int r;

	if (params == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < s->n_params; i++) {
		params[i].type = s->param_types[i] == 0 ? (uint8_t)CENOTE_TYPE_NULL
							: cnd_pg_type(s->param_types[i]);
		params[i].native_type = s->param_types[i];
		params[i].name = CNP_STR_NONE;
	}
	r = s->run.sink->ops->params(s->run.sink, params, s->n_params);
	cnc_free(s->mem, params);
	return r;
}

/* What libcenote numbers it prepares when it likes, and that is no part of what the client asks. Where a unit of
 * requests has begun its Sync comes by itself. */
static int
add_end(struct cnd_session *s, int is_sync)
{
	return cnd_pg_add_end(s, !s->is_unsynced && (is_sync || s->is_manual));
}

static int
add_parse(struct cnd_session *s, const struct cnd_prepare *p, const char *name,
	size_t name_len)
{
	struct cnc_buf *b = &s->out;
	size_t mark;
	int r = cnd_pg_msg_begin(b, 'P', &mark);

	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, name, name_len);
	if (r == CENOTE_OK)
		r = cnd_pg_add_text(b, p->sql.p, p->sql.n);
	if (r == CENOTE_OK)
		r = cnd_pg_add_u16(b, (uint16_t)p->n_types);
	for (uint32_t i = 0; i < p->n_types && r == CENOTE_OK; i++)
		r = cnd_pg_add_u32(b, p->types[i]);
	return r < 0 ? r : cnd_pg_msg_end(b, mark);
}

/* Statements whose columns depend on nothing but themselves: the server itself refuses to run them
 * when they would give others ("cached plan must not change result type"). */
static int
is_stable(const char *sql, size_t len)
{
	static const char *const words[] = { "select", "insert", "update", "delete",
		"values", "with", "table", "merge" };
	size_t i = 0;

	while (i < len && (sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t' ||
				  sql[i] == '\r' || sql[i] == '('))
		i++;
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		size_t n = strlen(words[w]);
		size_t k = 0;

		while (k < n && i + k < len && (sql[i + k] | 0x20) == words[w][k])
			k++;
		if (k == n)
			return 1;
	}
	return 0;
}

/* The statement is made before the server is asked, and forgotten if it says no. */
static struct cnd_pg_stmt *
stmt_make(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_pg_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (st == NULL)
		return NULL;
	st->number = p->statement;
	if (p->name.n > 0)
		memcpy(st->name, p->name.p, p->name.n);
	else
		snprintf(st->name, sizeof(st->name), "cenote_%u", (unsigned)p->statement);
	st->is_stable = (uint8_t)is_stable(p->sql.p, p->sql.n);
	cnd_pg_memo_scan(&s->memo, p->sql.p, p->sql.n, &s->facts, &st->scan);
	st->next = *list_of(s, p->statement);
	*list_of(s, p->statement) = st;
	s->n_stmts++;
	return st;
}

static int
keep_types(struct cnd_session *s, struct cnd_pg_stmt *st)
{
	st->types = cnc_calloc(s->mem, s->n_params + 1, sizeof(*st->types));
	if (st->types == NULL)
		return CENOTE_ERR_NOMEM;
	if (s->n_params > 0)
		memcpy(st->types, s->param_types, s->n_params * sizeof(*st->types));
	st->n_params = s->n_params;
	return CENOTE_OK;
}

int
cnd_pg_add_prepare(struct cnd_session *s, const struct cnd_prepare *p, const char *name,
	size_t name_len, const char *old)
{
	int r = CENOTE_OK;

	s->is_used = 1;
	if (old != NULL)
		r = cnd_pg_add_named(&s->out, 'C', 'S', old, strlen(old));
	if (r == CENOTE_OK)
		r = add_parse(s, p, name, name_len);
	if (r == CENOTE_OK)
		r = cnd_pg_add_named(&s->out, 'D', 'S', name, name_len);
	return r;
}

static int
send_prepare(struct cnd_session *s, const struct cnd_prepare *p, const char *name,
	size_t name_len, const char *old, int is_sync)
{
	int r = cnd_pg_add_prepare(s, p, name, name_len, old);

	if (r == CENOTE_OK)
		r = add_end(s, is_sync);
	return r < 0 ? r : cnd_pg_send_run(s);
}

static int
prepare_numbered(
	struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	struct cnd_pg_run *run = cnd_pg_run_begin(s, sink);
	struct cnd_pg_stmt *old = cnd_pg_stmt_find(s, p->statement);
	char old_name[CND_PG_NAME_MAX];
	struct cnd_pg_stmt *st;
	int r;

	if (old != NULL) {
		memcpy(old_name, old->name, sizeof(old_name));
		stmt_remove(s, old);
	}
	st = stmt_make(s, p);
	if (st == NULL)
		return CENOTE_ERR_NOMEM;
	run->is_describing = 1;
	run->own_tag = "PREPARE";
	run->target = &st->desc;
	r = send_prepare(s, p, st->name, strlen(st->name), old ? old_name : NULL, 1);
	st->has_rows = run->has_columns;
	if (r == CENOTE_OK)
		r = keep_types(s, st);
	if (r < 0)
		stmt_remove(s, st);
	return r;
}

/* Only the server keeps it. */
static int
prepare_named(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	struct cnd_pg_run *run = cnd_pg_run_begin(s, sink);
	struct cnd_pg_scan scan;

	run->is_describing = 1;
	run->own_tag = "PREPARE";
	cnd_pg_memo_scan(&s->memo, p->sql.p, p->sql.n, &s->facts, &scan);
	cnd_pg_note_prepared(s, &scan);
	if (scan.flags & CND_PG_SCAN_COPY)
		s->may_copy = 1;
	return send_prepare(s, p, p->name.p, p->name.n, NULL, p->is_sync);
}

int
cnd_pg_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, prepare->name.p, prepare->name.n);
	if (r == CENOTE_OK && prepare->name.n >= CND_PG_NAME_MAX &&
		prepare->statement != 0)
		r = cnd_pg_refuse(s, "42622",
			"the name of a prepared statement has %u bytes at most",
			CND_PG_NAME_MAX - 1);
	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	return prepare->statement != 0 ? prepare_numbered(s, prepare, sink)
				       : prepare_named(s, prepare, sink);
}

int
cnd_pg_describe(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnp_str name = which->name;
	struct cnd_pg_run *run;
	struct cnd_pg_stmt *st;
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, name.p, name.n);
	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	if (which->number != 0) {
		st = cnd_pg_stmt_find(s, which->number);
		if (st == NULL)
			return cnd_pg_refuse(s, CNC_SQLSTATE(NO_STATEMENT),
				"there is no prepared statement %u",
				(unsigned)which->number);
		name = cnp_str(st->name);
		kind = CNP_NAMED_STATEMENT;
	}
	run = cnd_pg_run_begin(s, sink);
	run->is_describing = 1;
	run->own_tag = "DESCRIBE";
	s->n_params = 0;
	if (kind == CNP_NAMED_PORTAL) {
		r = cnd_pg_give_params(s);
		if (r < 0)
			return r;
	}
	r = cnd_pg_add_named(
		&s->out, 'D', kind == CNP_NAMED_PORTAL ? 'P' : 'S', name.p, name.n);
	if (r == CENOTE_OK)
		r = add_end(s, which->is_sync || which->number != 0);
	return r < 0 ? r : cnd_pg_send_run(s);
}

int
cnd_pg_close(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnp_str name = which->name;
	char kept[CND_PG_NAME_MAX];
	struct cnd_pg_run *run;
	struct cnd_pg_stmt *st;
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, name.p, name.n);
	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	if (which->number != 0) {
		struct cnp_done done = { .tag = cnp_str("CLOSE"), .affected = -1 };

		st = cnd_pg_stmt_find(s, which->number);
		if (st == NULL)
			return sink->ops->done(sink, &done);
		memcpy(kept, st->name, sizeof(kept));
		name = cnp_str(kept);
		kind = CNP_NAMED_STATEMENT;
		stmt_remove(s, st);
	}
	run = cnd_pg_run_begin(s, sink);
	run->is_closing = 1;
	run->own_tag = "CLOSE";
	r = cnd_pg_add_named(
		&s->out, 'C', kind == CNP_NAMED_PORTAL ? 'P' : 'S', name.p, name.n);
	if (r == CENOTE_OK)
		r = add_end(s, which->is_sync || which->number != 0);
	return r < 0 ? r : cnd_pg_send_run(s);
}
