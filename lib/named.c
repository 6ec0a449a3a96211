/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include "core/sql.h"

/*
 * conn->named: the statements that the program has prepared under a name. The server's answers decide what is in this
 * list: a PREPARE that succeeded puts a statement in, and CLOSE, DEALLOCATE, DISCARD ALL and a reset take it out.
 *
 * The pool gives a connection another session only if the connection holds nothing, and the other session has none of these
 * statements. So a request that mentions a name, or may see all of them, brings them back first (restore.c). After that,
 * the session knows which statements there are, as without a pool. pipeline.c calls this file before a request, event.c
 * after its answer.
 */

static int
has_name(const cenote_stmt *stmt, const char *name)
{
	return strcmp(stmt->name, name) == 0;
}

/* Programs use few names again and again: the last one is at the front. */
cenote_stmt *
cn_named_find(cenote_conn *conn, const char *name)
{
	for (cenote_stmt **at = &conn->named.first; *at; at = &(*at)->next_named) {
		cenote_stmt *found = *at;

		if (!has_name(found, name))
			continue;
		*at = found->next_named;
		found->next_named = conn->named.first;
		conn->named.first = found;
		return found;
	}
	return NULL;
}

static void
drop_first(cenote_conn *conn)
{
	cenote_stmt *stmt = conn->named.first;

	conn->named.first = stmt->next_named;
	stmt->next_named = NULL;
	stmt->is_named = 0;
	cn_stmt_unref(stmt);
}

static void
drop(cenote_conn *conn, const char *name)
{
	if (cn_named_find(conn, name))
		drop_first(conn);
}

void
cn_named_clear(cenote_conn *conn)
{
	while (conn->named.first)
		drop_first(conn);
}

static void
add(cenote_stmt *stmt)
{
	cenote_conn *conn = stmt->conn;

	stmt->epoch = conn->reattach.epoch;
	if (stmt->is_named)
		return;
	drop(conn, stmt->name);
	stmt->is_named = 1;
	stmt->next_named = conn->named.first;
	conn->named.first = cn_stmt_ref(stmt);
}

/* ---- before a request ---- */

/* The statement with no name ends with the next query, so it is not brought back. The pool keeps the session for it. */
static int
is_lasting(const cenote_stmt *stmt)
{
	return stmt && stmt->name && *stmt->name;
}

uint8_t
cn_named_needed(cenote_conn *conn, const struct cn_send *send)
{
	const struct cnp_msg *m = send->msg;
	const cenote_stmt *stmt = send->stmt;
	uint8_t needed = is_lasting(stmt) ? CN_NAMED_ONE : 0;

	if (needed != 0 && m->code == CNP_MSG_PREPARE)
		conn->named.is_used = 1;
	if (!conn->named.is_used)
		return 0;
	if (m->code == CNP_MSG_QUERY)
		return cnc_sql_names(m->as.query.sql.p, m->as.query.sql.n);
	/* another program gets the session, with all that it holds */
	if (m->code == CNP_MSG_SUSPEND)
		return CNC_NAMES_USED;
	if (m->code != CNP_MSG_EXECUTE)
		return needed;
	if (needed != 0)
		stmt = cn_named_find(conn, stmt->name);
	return stmt ? needed | cnc_sql_names(stmt->sql, stmt->len) : needed;
}

/* ---- after its answer ---- */

/* Read the name of a PREPARE or DEALLOCATE, of which the first word was read. Returns 0 if the name cannot be compared: then
 * the statement is prepared again on the next session, although it has ended. */
static int
read_name(struct cnc_sql *x, const char *verb, char *to, size_t room)
{
	struct cnc_sql_token t = cnc_sql_next(x);
	const char *p;
	size_t n, len = 0;

	/* DEALLOCATE PREPARE name */
	if (*verb == 'd' && cnc_sql_is(&t, "prepare")) {
		struct cnc_sql ahead = *x;
		struct cnc_sql_token name = cnc_sql_next(&ahead);

		if (name.kind == CNC_SQL_WORD || name.kind == CNC_SQL_NAME)
			t = name;
	}
	if (t.kind != CNC_SQL_WORD && (t.kind != CNC_SQL_NAME || *t.p != '"'))
		return 0;
	p = cnc_sql_inside(&t, &n);
	for (size_t i = 0; i < n && len + 1 < room; i++) {
		int is_upper = p[i] >= 'A' && p[i] <= 'Z' && t.kind == CNC_SQL_WORD;

		to[len++] = (char)(is_upper ? p[i] + ('a' - 'A') : p[i]);
		i += t.kind == CNC_SQL_NAME && p[i] == '"';
	}
	to[len] = '\0';
	return 1;
}

/* PostgreSQL cuts longer names in SQL. */
#define NAME_MAX_SQL 64u

/* Take out the statement that the n-th PREPARE or DEALLOCATE of the text, counted from 0, names. */
static void
drop_nth(cenote_conn *conn, const char *verb, const char *sql, size_t len, uint32_t n)
{
	const char *standard =
		cn_pairs_find(&conn->info.parameters, "standard_conforming_strings");
	struct cnc_sql x = cnc_sql_begin(sql, len,
		standard && strcmp(standard, "off") == 0 ? CNC_SQL_POSTGRESQL_BACKSLASH
							 : CNC_SQL_POSTGRESQL);
	char name[NAME_MAX_SQL];
	int is_first = 1;
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (is_first && cnc_sql_is(&t, verb) && n-- == 0) {
			if (read_name(&x, verb, name, sizeof(name)))
				drop(conn, name);
			return;
		}
		is_first = cnc_sql_is_char(&t, ';');
	}
}

static int
is_tag(const struct cnp_str *tag, const char *text)
{
	return tag->n == strlen(text) && memcmp(tag->p, text, tag->n) == 0;
}

/* Learn from the tag of a command that the server has carried out. If a PREPARE succeeds, its name was free. So a statement of that
 * name in the list had ended in a function, which libcenote does not see. The first PREPARE of a text is enough: after
 * several in one text, the client keeps its session. */
static void
note_command(cenote_conn *conn, struct cn_request *req, const struct cnp_str *tag)
{
	const cenote_stmt *stmt = req->stmt;
	int is_one = is_tag(tag, "DEALLOCATE");
	int is_all = is_tag(tag, "DEALLOCATE ALL");
	const char *verb = is_one ? "deallocate" : "prepare";
	uint32_t n = req->n_ended;

	if (is_all || is_tag(tag, "DISCARD ALL"))
		cn_named_clear(conn);
	req->n_ended += is_one || is_all;
	if (!is_one && !is_tag(tag, "PREPARE"))
		return;
	if (stmt && stmt->is_foreign)
		stmt = cn_named_find(conn, stmt->name);
	if (req->text)
		drop_nth(conn, verb, req->text, strlen(req->text), is_one ? n : 0);
	else if (stmt)
		drop_nth(conn, verb, stmt->sql, stmt->len, 0);
}

void
cn_named_done(cenote_conn *conn, struct cn_request *req, const struct cnp_str *tag)
{
	switch (req->code) {
	case CNP_MSG_PREPARE:
		if (is_lasting(req->stmt))
			add(req->stmt);
		break;
	case CNP_MSG_CLOSE:
		if (req->stmt)
			drop(conn, req->stmt->name);
		break;
	case CNP_MSG_QUERY:
	case CNP_MSG_EXECUTE:
		note_command(conn, req, tag);
		break;
	default:
		break;
	}
}

void
cn_named_failed(cenote_conn *conn, const struct cn_request *req)
{
	cenote_stmt *stmt = conn->named.first;

	if (req && !req->has_restored)
		return;
	for (; stmt; stmt = stmt->next_named) {
		if (!stmt->is_restored || (req && !(req->named & CNC_NAMES_USED) &&
						  !has_name(stmt, req->stmt->name)))
			continue;
		stmt->epoch = 0;
		stmt->is_restored = 0;
	}
}
