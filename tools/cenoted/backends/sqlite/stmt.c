/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compile statements, and describe those that a client prepares. This file owns struct cnd_sq_stmt,
 * which the cache, a client's statement number and a portal may share.
 */
#include <limits.h>
#include <string.h>

#include "sqlite.h"

void
cnd_sq_stmt_unref(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	if (!st || --st->refs > 0)
		return;
	(void)sqlite3_finalize(st->handle);
	cnc_free(s->mem, st->columns);
	cnc_free(s->mem, st->dynamic);
	cnc_free(s->mem, st->sql);
	cnc_free(s->mem, st);
}

/*
 * PRAGMA busy_timeout replaces our busy handler by SQLite's own, which cannot be cancelled. The
 * session has already taken over the value and put our handler back. All that is left is to answer
 * with the value.
 */
static int
replace_busy_timeout(struct cnd_session *s, sqlite3_stmt **handle)
{
	char sql[64];

	(void)sqlite3_finalize(*handle);
	*handle = NULL;
	sqlite3_snprintf((int)sizeof(sql), sql, "SELECT %lld AS timeout",
		(long long)s->busy_timeout_ms);
	return sqlite3_prepare_v3(s->db, sql, -1, 0, handle, NULL);
}

static int
compile_once(struct cnd_session *s, struct cnd_sq_stmt *st, const char **ret_tail)
{
	s->noted = 0;
	s->denied = NULL;
	s->busy_asked = -1;
	s->busy_read = 0;
	return sqlite3_prepare_v3(s->db, st->sql, (int)st->len + 1,
		SQLITE_PREPARE_PERSISTENT, &st->handle, ret_tail);
}

/* Returns SQLite's result code. */
static int
compile(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	const char *tail = st->sql;
	int rc = compile_once(s, st, &tail);

	/* If another session has changed the schema, SQLite reports that in place of a mistake in
	 * the text: the text names no table that would make it read the schema again. */
	if (rc == SQLITE_SCHEMA &&
		cnd_sq_internal(s, "SELECT 1 FROM main.sqlite_schema") == SQLITE_OK)
		rc = compile_once(s, st, &tail);
	st->notes = s->noted;
	cnd_sq_take_notes(s, s->noted);
	if (rc != SQLITE_OK)
		return rc;
	st->used = (size_t)(tail - st->sql);
	if (s->busy_read && !sqlite3_stmt_isexplain(st->handle))
		rc = replace_busy_timeout(s, &st->handle);
	return rc;
}

static void
look_at(struct cnd_sq_stmt *st)
{
	if (st->handle) {
		st->is_readonly = sqlite3_stmt_readonly(st->handle) != 0;
		st->n_params = (uint32_t)sqlite3_bind_parameter_count(st->handle);
		st->n_columns = (uint32_t)sqlite3_column_count(st->handle);
		/* An EXPLAIN points into the schema, but SQLite (seen in 3.40) does not check
		 * whether the schema has changed since. If it ran later, it would read freed
		 * memory. */
		st->is_explain = sqlite3_stmt_isexplain(st->handle) != 0;
		if (st->is_explain)
			st->notes |= CND_SQ_NOTE_ONCE;
	} else {
		st->is_readonly = 1;
		st->used = st->len;
	}
	st->verb = cnd_sq_verb(st->sql, st->used, st->tag);
	st->tag_len = strlen(st->tag);
}

int
cnd_sq_stmt_make(
	struct cnd_session *s, const char *sql, size_t len, struct cnd_sq_stmt **ret_stmt)
{
	struct cnd_sq_stmt *st;
	int r = CENOTE_ERR_NOMEM, rc;

	if (len >= INT_MAX)
		return cnd_sq_refuse(s, CNC_SQLSTATE(LIMIT), NULL,
			"a statement of %zu bytes is too long", len);
	st = cnc_calloc(s->mem, 1, sizeof(*st));
	if (!st)
		return CENOTE_ERR_NOMEM;
	st->refs = 1;
	st->len = len;
	st->sql = cnc_strndup(s->mem, sql, len);
	if (!st->sql)
		goto failed;
	s->compiling = st->sql;
	rc = len > 0 ? compile(s, st) : SQLITE_OK;
	if (rc != SQLITE_OK)
		r = cnd_sq_fail(s, rc, 1);
	s->compiling = NULL;
	if (rc != SQLITE_OK)
		goto failed;
	look_at(st);
	*ret_stmt = st;
	return CENOTE_OK;
failed:
	cnd_sq_stmt_unref(s, st);
	return r;
}

int
cnd_sq_stmt_get(
	struct cnd_session *s, const char *sql, size_t len, struct cnd_sq_stmt **ret_stmt)
{
	uint64_t hash = cnd_sq_hash(sql, len);
	struct cnd_sq_stmt *st = cnd_sq_cache_find(s, sql, len, hash);
	int r;

	if (st) {
		cnd_sq_take_notes(s, st->notes);
		*ret_stmt = st;
		return CENOTE_OK;
	}
	r = cnd_sq_stmt_make(s, sql, len, &st);
	if (!st)
		return r;
	st->hash = hash;
	if (!(st->notes & CND_SQ_NOTE_ONCE))
		cnd_sq_cache_add(s, st);
	*ret_stmt = st;
	return CENOTE_OK;
}

void
cnd_sq_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	cnd_sq_stmt_unref(s, statement->own);
	statement->own = NULL;
}

static int
send_params(struct cnd_session *s, const struct cnd_sq_stmt *st, struct cnd_sink *sink)
{
	struct cnp_param *params = cnd_params_make(s->mem, st->n_params);

	for (uint32_t i = 0; params != NULL && i < st->n_params; i++) {
		const char *name = sqlite3_bind_parameter_name(st->handle, (int)i + 1);

		if (name != NULL)
			params[i].name = cnp_str(name);
	}
	return cnd_params_send(sink, s->mem, params, st->n_params, CENOTE_OK);
}

static int
send_description(
	struct cnd_session *s, struct cnd_statement *statement, struct cnd_sink *sink)
{
	struct cnd_sq_stmt *st = statement->own;
	int r = send_params(s, st, sink);

	if (r == CENOTE_OK && st->n_columns > 0) {
		r = cnd_sq_columns(s, st, 0);
		if (r < 0)
			return r;
		cnd_sq_columns_format(st, CENOTE_FORMAT_TEXT);
		r = sink->ops->columns(sink, st->columns, st->n_columns, 0);
		statement->sent = cnd_sq_sent(st, CENOTE_FORMAT_TEXT);
	}
	return r < 0 ? r : cnd_done(sink, "", 0);
}

int
cnd_sq_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	const char *sql = prepare->sql.p;
	size_t len = prepare->sql.n;
	struct cnd_statement *statement = prepare->statement;
	struct cnd_sq_stmt *st = NULL;
	size_t skipped;
	int r;

	cnd_sq_enter(s, sink->diag);
	if (memchr(sql, 0, len))
		return cnd_sq_refuse(
			s, CNC_SQLSTATE(SYNTAX), NULL, "zero byte in the statement");
	skipped = cnd_sq_skip(sql, len);
	s->chars_before = cnd_sq_chars(sql, skipped);
	r = cnd_sq_stmt_get(s, sql + skipped, len - skipped, &st);
	if (!st)
		return r;
	if (cnd_sq_skip(st->sql + st->used, st->len - st->used) < st->len - st->used) {
		cnd_sq_stmt_unref(s, st);
		return cnd_sq_refuse(s, CNC_SQLSTATE(SYNTAX), NULL,
			"a prepared statement cannot hold several statements");
	}
	cnd_sq_forget(s, statement);
	statement->own = st;
	statement->sent = 0;
	r = send_description(s, statement, sink);
	if (r < 0)
		cnd_sq_forget(s, statement);
	return r;
}

int
cnd_sq_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	cnd_sq_enter(s, sink->diag);
	return send_description(s, which->statement, sink);
}
