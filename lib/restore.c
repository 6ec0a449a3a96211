/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <string.h>

/*
 * Prepare a new session for the requests that wait: send prepared statements, autocommit, and the
 * options of cenote_set_session_option(). attach.c calls this file when it opens a session, event.c
 * after a reset, and other files before a request whose statement was prepared only on an earlier
 * session.
 */

/* Prepare the statement on this session. There is no answer unless that fails. */
static int
prepare_again(cenote_stmt *stmt)
{
	struct cnp_msg m;
	int r;

	cn_stmt_fill_prepare(stmt, &m);
	r = cnp_client_request(&stmt->conn->session, &m, 0, 1, NULL);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(stmt->conn) : r;
	stmt->epoch = stmt->conn->reattach.epoch;
	cn_cache_prepared(stmt);
	return CENOTE_OK;
}

int
cn_is_restored(const cenote_conn *conn)
{
	int is_attaching =
		cn_state(conn) == CN_CONNECTING || cn_state(conn) == CN_ATTACHING;

	return cn_state(conn) == CN_READY || (is_attaching && conn->attach.is_restored);
}

int
cn_stmt_ensure(cenote_stmt *stmt)
{
	cenote_conn *conn = stmt->conn;

	/* cn_request() prepares the statements that have a name: cn_named_restore(). */
	if (stmt->name || stmt->epoch == conn->reattach.epoch || !cn_is_restored(conn))
		return CENOTE_OK;
	return prepare_again(stmt);
}

int
cn_stmts_restore(cenote_conn *conn)
{
	int r = CENOTE_OK;

	for (cenote_stmt *s = conn->stmts; s && r == CENOTE_OK; s = s->next) {
		if (s->is_prepared && !s->name && !s->is_foreign &&
			s->epoch != conn->reattach.epoch)
			r = prepare_again(s);
	}
	return r;
}

int
cn_changes_meaning(const cenote_conn *conn, const char *sql, size_t len)
{
	return cnc_sql_is_use(sql, len) ||
	       (conn->info.facts.features & CNP_FEATURE_SELECT_DATABASE &&
		       cnc_sql_is_set(sql, len));
}

int
cn_named_restore(cenote_conn *conn, uint8_t needed, const cenote_stmt *stmt)
{
	int is_all = (needed & CNC_NAMES_USED) != 0;
	cenote_stmt *s = NULL;
	int has_queued = 0;
	int r = CENOTE_OK;

	if (is_all)
		s = conn->named.first;
	else if (needed != 0)
		s = cn_named_find(conn, stmt->name);
	for (; s && r == CENOTE_OK; s = is_all ? s->next_named : NULL) {
		if (s->epoch == conn->reattach.epoch)
			continue;
		r = prepare_again(s);
		s->is_restored = 1;
		has_queued = 1;
	}
	return r < 0 || !has_queued ? r : CENOTE_DONE;
}

static int
restore_request(cenote_conn *conn, struct cn_request *req)
{
	int r = req->is_use ? cn_stmts_restore(conn) : CENOTE_OK;

	if (r == CENOTE_OK)
		r = cn_named_restore(conn, req->named, req->stmt);
	if (r < 0)
		return r;
	if (r == CENOTE_DONE)
		req->has_restored = 1;
	/* The new session may describe the result differently. */
	cn_columns_unref(req->columns);
	req->columns = NULL;
	if (!req->stmt || req->stmt->name || req->stmt->epoch == conn->reattach.epoch)
		return CENOTE_OK;
	/* The statement's own PREPARE is sent before the requests that use it. */
	if (req->code == CNP_MSG_PREPARE) {
		req->stmt->epoch = conn->reattach.epoch;
		return CENOTE_OK;
	}
	return prepare_again(req->stmt);
}

int
cn_session_restore(cenote_conn *conn)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTOCOMMIT };
	int r = CENOTE_OK;

	/* The program has switched autocommit off. If the new session did not know that, a write
	 * would commit at once. */
	if (conn->reattach.is_autocommit_off) {
		m.as.autocommit.on = 0;
		r = cnp_client_request(&conn->session, &m, 0, 1, NULL);
	}
	for (size_t i = conn->pipeline.n_finished; i < conn->pipeline.n && r == CENOTE_OK;
		i++)
		r = restore_request(conn, cn_request_at(&conn->pipeline, i));
	/* Pieces of long values wait for the request that uses them. */
	for (cenote_stmt *s = conn->stmts; s && r == CENOTE_OK; s = s->next) {
		if (s->has_long_data && s->epoch != conn->reattach.epoch)
			r = prepare_again(s);
	}
	return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
}

int
cn_session_options_restore(cenote_conn *conn)
{
	const struct cn_pairs *p = &conn->reattach.options;
	struct cnp_msg m = { .code = CNP_MSG_SET_OPTION };
	int r = CENOTE_OK;

	for (uint32_t i = 0; i < p->n && r == CENOTE_OK; i++) {
		/* the session's server has it, and a reset does not change that */
		if (strcmp(p->list[i].name, CNP_POSITION) == 0)
			continue;
		m.as.set_option.name = cnp_str(p->list[i].name);
		m.as.set_option.value = cnp_str(p->list[i].value);
		r = cn_setup(conn, &m);
	}
	return r;
}
