/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * Prepared statements. A statement belongs to the connection, not to a session: this file chooses
 * its number, and `epoch` is the session for which it was last prepared. On a later session
 * restore.c prepares it again before its next use, in the same write.
 *
 * Requests hold references. So a statement can be prepared again for them after the
 * program has destroyed its handle.
 */

static void
free_stmt(cenote_stmt *stmt)
{
	struct cenote_allocator mem = stmt->mem;

	cn_columns_unref(stmt->columns);
	cnc_arena_finish(&stmt->params_arena);
	cnc_free(&mem, stmt->sql);
	cnc_free(&mem, stmt->name);
	cnc_free(&mem, stmt->types);
	cnc_free(&mem, stmt);
}

int
cenote_stmt_create(cenote_conn *conn, const char *sql, size_t len, cenote_stmt **ret_stmt)
{
	cenote_stmt *s;

	if (!conn || !sql || !ret_stmt)
		return CENOTE_ERR_ARG;
	s = cnc_calloc(&conn->mem, 1, sizeof(*s));
	if (!s)
		return CENOTE_ERR_NOMEM;
	s->mem = conn->mem;
	cnc_arena_init(&s->params_arena, &s->mem);
	s->len = cn_text_len(sql, len);
	s->sql = cnc_strndup(&s->mem, sql, s->len);
	if (!s->sql) {
		free_stmt(s);
		return CENOTE_ERR_NOMEM;
	}
	s->refs = 1;
	s->effect = cnc_sql_effect(sql, s->len);
	s->conn = conn;
	s->id = conn->next_stmt++;
	s->next = conn->stmts;
	conn->stmts = s;
	*ret_stmt = s;
	return CENOTE_OK;
}

int
cenote_stmt_by_name(cenote_conn *conn, const char *name, cenote_stmt **ret_stmt)
{
	cenote_stmt *s;
	int r;

	if (!name || !ret_stmt)
		return CENOTE_ERR_ARG;
	r = cenote_stmt_create(conn, "", 0, &s);
	if (r < 0)
		return r;
	r = cenote_stmt_set_name(s, name);
	if (r < 0) {
		cenote_stmt_destroy(s);
		return r;
	}
	s->is_foreign = 1;
	s->is_prepared = 1;
	/* The statement's text is unknown: assume the worst. */
	s->effect = CNC_EFFECT_COMMIT;
	*ret_stmt = s;
	return CENOTE_OK;
}

static int
may_change(const cenote_stmt *stmt)
{
	if (!stmt)
		return CENOTE_ERR_ARG;
	return stmt->is_prepared || stmt->is_queued || !stmt->conn ? CENOTE_ERR_STATE
								   : CENOTE_OK;
}

int
cenote_stmt_set_name(cenote_stmt *stmt, const char *name)
{
	char *copy = NULL;
	int r = may_change(stmt);

	if (r < 0)
		return r;
	if (name) {
		copy = cnc_strndup(&stmt->mem, name, strlen(name));
		if (!copy)
			return CENOTE_ERR_NOMEM;
	}
	cnc_free(&stmt->mem, stmt->name);
	stmt->name = copy;
	return CENOTE_OK;
}

int
cenote_stmt_set_param_types(cenote_stmt *stmt, const uint32_t *types, uint32_t n)
{
	char *blob = NULL;
	int r = n > UINT16_MAX || (n > 0 && !types) ? CENOTE_ERR_ARG : may_change(stmt);

	if (r < 0)
		return r;
	if (n > 0) {
		blob = cnc_calloc(&stmt->mem, n, 4);
		if (!blob)
			return CENOTE_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		cnc_put_u32((uint8_t *)blob + (size_t)i * 4, types[i]);
	cnc_free(&stmt->mem, stmt->types);
	stmt->types = blob;
	stmt->types_len = (size_t)n * 4;
	return CENOTE_OK;
}

cenote_stmt *
cn_stmt_ref(cenote_stmt *stmt)
{
	if (stmt)
		stmt->refs++;
	return stmt;
}

static void
leave_conn(cenote_stmt *stmt)
{
	struct cnp_msg m = { .code = CNP_MSG_CLOSE };
	cenote_conn *conn = stmt->conn;
	cenote_stmt **at = &conn->stmts;

	while (*at != stmt)
		at = &(*at)->next;
	*at = stmt->next;
	m.as.close.statement = stmt->id;
	/* Without memory the statement stays prepared until the session is given back. */
	if (!stmt->name && stmt->epoch == conn->reattach.epoch &&
		conn->pid == cn_pid(conn))
		(void)cn_setup(conn, &m);
}

void
cn_stmt_unref(cenote_stmt *stmt)
{
	if (!stmt || --stmt->refs > 0)
		return;
	if (stmt->conn)
		leave_conn(stmt);
	free_stmt(stmt);
}

void
cenote_stmt_destroy(cenote_stmt *stmt)
{
	cn_stmt_unref(stmt);
}

void
cn_stmt_fill_prepare(const cenote_stmt *stmt, struct cnp_msg *m)
{
	*m = (struct cnp_msg){ .code = CNP_MSG_PREPARE };
	m->as.prepare.statement = stmt->name ? 0 : stmt->id;
	m->as.prepare.name = cnp_str(stmt->name);
	m->as.prepare.types.p = stmt->types;
	m->as.prepare.types.n = stmt->types_len;
	m->as.prepare.sql.p = stmt->sql;
	m->as.prepare.sql.n = stmt->len;
}

/* The pieces that another session could get are kept until the request after them is answered. */
int
cn_stmts_need_session(const cenote_conn *conn)
{
	for (const cenote_stmt *s = conn->stmts; s; s = s->next) {
		if (s->has_long_data && !cnp_client_keeps(&conn->session, s->long_before))
			return 1;
	}
	return 0;
}

void
cn_stmts_forget_pieces(cenote_conn *conn)
{
	for (cenote_stmt *s = conn->stmts; s; s = s->next)
		s->has_long_data = 0;
}

void
cn_stmt_described(cenote_stmt *stmt, struct cn_columns *columns, uint8_t format)
{
	struct cn_columns *old = stmt->columns;

	stmt->columns = cn_columns_ref(columns);
	stmt->columns_epoch = stmt->conn ? stmt->conn->reattach.epoch : 0;
	stmt->format = format;
	cn_columns_unref(old);
}

int
cn_params_decode(const struct cenote_allocator *mem, const uint8_t *payload, size_t len,
	struct cnc_arena *arena, struct cnp_param **params, uint32_t *n)
{
	struct cnc_arena fresh;
	int r;

	/* Use a new arena, so that without memory the old description stays. */
	cnc_arena_init(&fresh, mem);
	r = cnp_params_decode(payload, len, &fresh, params, n);
	if (r < 0) {
		cnc_arena_finish(&fresh);
		return r;
	}
	cnc_arena_finish(arena);
	*arena = fresh;
	return CENOTE_OK;
}

int
cn_stmt_params(cenote_stmt *stmt, const uint8_t *payload, size_t len)
{
	int r = cn_params_decode(&stmt->mem, payload, len, &stmt->params_arena,
		&stmt->params, &stmt->n_params);

	if (r < 0)
		return r;
	/* If the statement gives rows, COLUMNS follows. */
	cn_columns_unref(stmt->columns);
	stmt->columns = NULL;
	return CENOTE_OK;
}

uint32_t
cenote_stmt_n_params(const cenote_stmt *stmt)
{
	return stmt ? stmt->n_params : 0;
}

int
cenote_stmt_param_type(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].type : CENOTE_TYPE_NULL;
}

uint32_t
cenote_stmt_param_native_type(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].native_type : 0;
}

const char *
cenote_stmt_param_name(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].name.p : "";
}

uint32_t
cenote_stmt_n_columns(const cenote_stmt *stmt)
{
	return stmt && stmt->columns ? stmt->columns->n : 0;
}

const cenote_column *
cenote_stmt_column(const cenote_stmt *stmt, uint32_t col)
{
	if (col >= cenote_stmt_n_columns(stmt))
		return NULL;
	return (const cenote_column *)&stmt->columns->list[col];
}
