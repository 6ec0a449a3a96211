/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements, by the client's number or by name. This file owns struct cnd_pg_stmt. run.c reads the
 * answers.
 */
#include <stdio.h>

#include "session.h"

void
cnd_pg_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	struct cnd_pg_stmt *st = statement->own;

	cnd_pg_desc_finish(s, &st->desc);
	cnc_free(s->mem, st->types);
	cnc_free(s->mem, st);
	statement->own = NULL;
}

/* Add the end of a request. libcenote prepares numbered statements at any time, so such a request gets its own Sync.
 * But within a unit of requests, the Sync of the unit follows. */
static int
add_end(struct cnd_session *s, int is_sync)
{
	return cnd_pg_add_end(s, !s->sync.is_missing && (is_sync || s->client.is_manual));
}

static int
add_parse(
	struct cnc_buf *b, const struct cnd_prepare *p, const char *name, size_t name_len)
{
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

/* Whether the columns of a prepared statement never change. The server refuses to run such a statement
 * if its columns would change ("cached plan must not change result type"). */
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

/* Make the statement before the server is asked. If the server refuses it, the caller forgets the statement. */
static struct cnd_pg_stmt *
stmt_make(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_pg_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (st == NULL)
		return NULL;
	if (p->name.n > 0)
		memcpy(st->name, p->name.p, p->name.n);
	else
		snprintf(st->name, sizeof(st->name), "cenote_%u",
			(unsigned)p->statement->number);
	st->is_stable = (uint8_t)is_stable(p->sql.p, p->sql.n);
	cnd_pg_memo_scan(&s->memo, p->sql.p, p->sql.n, &s->facts, &st->scan);
	p->statement->own = st;
	return st;
}

static int
keep_types(struct cnd_session *s, struct cnd_pg_stmt *st)
{
	st->types = cnc_calloc(s->mem, s->params.n + 1, sizeof(*st->types));
	if (st->types == NULL)
		return CENOTE_ERR_NOMEM;
	if (s->params.n > 0)
		memcpy(st->types, s->params.types, s->params.n * sizeof(*st->types));
	st->n_params = s->params.n;
	return CENOTE_OK;
}

int
cnd_pg_add_prepare(struct cnd_session *s, const struct cnd_prepare *p, const char *name,
	size_t name_len, const char *old)
{
	int r = CENOTE_OK;

	s->client.is_used = 1;
	if (old != NULL)
		r = cnd_pg_add_named(&s->out.buf, 'C', 'S', old, strlen(old));
	if (r == CENOTE_OK)
		r = add_parse(&s->out.buf, p, name, name_len);
	if (r == CENOTE_OK)
		r = cnd_pg_add_named(&s->out.buf, 'D', 'S', name, name_len);
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
	const struct cnd_pg_stmt *old = p->statement->own;
	char old_name[CND_PG_NAME_MAX];
	struct cnd_pg_stmt *st;
	int r;

	if (old != NULL) {
		memcpy(old_name, old->name, sizeof(old_name));
		cnd_pg_forget(s, p->statement);
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
		cnd_pg_forget(s, p->statement);
	return r;
}

/* ---- a statement that the next request uses ---- */

/* How much memory is kept for the next one. */
#define DUE_KEEP 4096u

void
cnd_pg_forget_due(struct cnd_session *s)
{
	cnc_buf_clear(&s->due.buf, DUE_KEEP);
}

static int
keep_due(struct cnd_session *s, const struct cnd_prepare *p,
	const struct cnd_pg_scan *scan, struct cnd_sink *sink)
{
	struct cnc_buf *b = &s->due.buf;
	int r;

	if (b->mem == NULL)
		cnc_buf_init(b, s->mem, CND_PG_MSG_MAX);
	cnd_pg_forget_due(s);
	r = cnd_pg_add_named(b, 'C', 'S', p->name.p, p->name.n);
	if (r == CENOTE_OK)
		r = add_parse(b, p, p->name.p, p->name.n);
	if (r < 0) {
		cnd_pg_forget_due(s);
		return r;
	}
	memcpy(s->due.name, p->name.p, p->name.n + 1);
	s->due.scan = *scan;
	s->client.is_used = 1;
	return cnd_done(sink, "PREPARE", 0);
}

int
cnd_pg_is_due(const struct cnd_session *s, struct cnp_str name)
{
	return cnc_buf_len(&s->due.buf) > 0 && strcmp(s->due.name, name.p) == 0;
}

int
cnd_pg_add_due(struct cnd_session *s, struct cnp_str name)
{
	const struct cnc_buf *due = &s->due.buf;
	uint8_t *room;
	int r;

	if (!cnd_pg_is_due(s, name))
		return CENOTE_OK;
	r = cnc_buf_reserve(&s->out.buf, cnc_buf_len(due), &room);
	if (r < 0)
		return r;
	memcpy(room, cnc_buf_head(due), cnc_buf_len(due));
	cnc_buf_commit(&s->out.buf, cnc_buf_len(due));
	s->due.is_parsing = 1;
	return CENOTE_OK;
}

/* Prepare a statement that only the server keeps. If it is prepared again, it may be there already: the client repeats
 * requests that were not carried out. */
static int
prepare_named(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	struct cnd_pg_run *run = cnd_pg_run_begin(s, sink);
	struct cnd_pg_scan scan;
	int r;

	run->is_describing = 1;
	run->own_tag = "PREPARE";
	cnd_pg_memo_scan(&s->memo, p->sql.p, p->sql.n, &s->facts, &scan);
	cnd_pg_note_prepared(s, &scan, p->name);
	if (scan.flags & CND_PG_SCAN_COPY)
		s->client.may_copy = 1;
	if (p->is_next && p->name.n < sizeof(s->due.name))
		return keep_due(s, p, &scan, sink);
	r = send_prepare(s, p, p->name.p, p->name.n, p->is_setup ? p->name.p : NULL,
		p->is_sync || p->is_setup);
	if (r == CENOTE_OK && run->status == CENOTE_OK)
		cnd_pg_known_add(s, p->name, &scan);
	return r;
}

int
cnd_pg_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = cnd_pg_check_strict(s, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, prepare->name.p, prepare->name.n);
	if (r == CENOTE_OK && prepare->name.n >= CND_PG_NAME_MAX &&
		prepare->statement != NULL)
		r = cnd_pg_refuse(s, "42622",
			"the name of a prepared statement has %u bytes at most",
			CND_PG_NAME_MAX - 1);
	/* the first failure is the one to report */
	if (r == CENOTE_OK && prepare->is_setup && s->sync.is_broken)
		return cnd_done(sink, "PREPARE", 0);
	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, sink);
	if (r < 0)
		return r;
	if (prepare->statement != NULL && prepare->name.n > 0)
		cnd_pg_known_forget(s);
	r = prepare->statement != NULL ? prepare_numbered(s, prepare, sink)
				       : prepare_named(s, prepare, sink);
	s->sync.is_broken = r < 0 && prepare->is_setup && s->sync.is_skipping;
	return r;
}

/* The name on the server. */
static struct cnp_str
name_of(const struct cnd_named *which)
{
	const struct cnd_pg_stmt *st;

	if (which->statement == NULL)
		return which->name;
	st = which->statement->own;
	return cnp_str(st->name);
}

static int
begin_named(struct cnd_session *s, struct cnp_str name, struct cnd_sink *sink)
{
	int r = cnd_pg_enter(s, sink->diag);

	if (r == CENOTE_OK)
		r = cnd_pg_check_text(s, name.p, name.n);
	return r < 0 ? r : cnd_pg_ready(s, sink);
}

static int
describe(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	const struct cnp_str name = name_of(which);
	const int is_portal = which->kind == CNP_NAMED_PORTAL;
	struct cnd_pg_run *run;
	int r = begin_named(s, name, sink);

	if (r < 0)
		return r;
	run = cnd_pg_run_begin(s, sink);
	run->is_describing = 1;
	run->own_tag = "DESCRIBE";
	s->params.n = 0;
	if (is_portal) {
		r = cnd_pg_give_params(s);
		if (r < 0)
			return r;
	}
	r = is_portal ? CENOTE_OK : cnd_pg_add_due(s, name);
	if (r == CENOTE_OK)
		r = cnd_pg_add_named(
			&s->out.buf, 'D', is_portal ? 'P' : 'S', name.p, name.n);
	if (r == CENOTE_OK)
		r = add_end(s, which->is_sync || which->statement != NULL);
	return r < 0 ? r : cnd_pg_send_run(s);
}

int
cnd_pg_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	int r = describe(s, which, sink);

	cnd_pg_forget_due(s);
	return r;
}

int
cnd_pg_close(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	const struct cnp_str name = name_of(which);
	const char kind = which->kind == CNP_NAMED_PORTAL ? 'P' : 'S';
	struct cnd_pg_run *run;
	int r = begin_named(s, name, sink);

	if (r < 0)
		return r;
	run = cnd_pg_run_begin(s, sink);
	run->is_closing = 1;
	run->own_tag = "CLOSE";
	cnd_pg_known_forget(s);
	cnd_pg_settings_doubt(s);
	r = cnd_pg_add_named(&s->out.buf, 'C', kind, name.p, name.n);
	if (which->statement != NULL)
		cnd_pg_forget(s, which->statement);
	if (r == CENOTE_OK)
		r = add_end(s, which->is_sync || which->statement != NULL);
	return r < 0 ? r : cnd_pg_send_run(s);
}

/* PREPARE in a function or a text makes a statement of the kind from_sql. */
#define NAMED_QUESTION                                                                   \
	"SELECT 1 FROM pg_catalog.pg_prepared_statements WHERE name"                     \
	" OPERATOR(pg_catalog.=) $1 AND statement OPERATOR(pg_catalog.=) $2"             \
	" AND NOT from_sql"

const struct cnd_statement_ops cnd_pg_statements = {
	.prepare = cnd_pg_prepare,
	.describe = cnd_pg_describe,
	.execute = cnd_pg_execute,
	.close = cnd_pg_close,
	.forget = cnd_pg_forget,
	.fetch = cnd_pg_fetch,
	.close_portal = cnd_pg_close_portal,
	.forget_portal = cnd_pg_forget_portal,
	.named_question = NAMED_QUESTION,
};
