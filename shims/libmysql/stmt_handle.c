/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

/*
 * The data of a statement's handle: its error, its fields, its place in the connection's list
 * (MYSQL.stmts), and how the session's data is dropped when the session ends. It calls no function
 * that talks to the pool, so every other file may call it.
 */

/* ---- errors ---- */

void
cmy_stmt_error_text(
	MYSQL_STMT *stmt, unsigned code, const char *sqlstate, const char *text)
{
	stmt->last_errno = code;
	snprintf(stmt->sqlstate, sizeof(stmt->sqlstate), "%s", sqlstate);
	snprintf(stmt->last_error, sizeof(stmt->last_error), "%s", text);
}

void
cmy_stmt_error(MYSQL_STMT *stmt, unsigned code)
{
	cmy_stmt_error_text(stmt, code, "HY000", cmy_error_words(code));
}

void
cmy_stmt_error_with(MYSQL_STMT *stmt, unsigned code, ...)
{
	const char *words = cmy_error_words(code);
	char text[CMY_ERRMSG_SIZE];
	va_list args;

	va_start(args, code);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	cmy_stmt_error_text(stmt, code, "HY000", text);
}

void
cmy_stmt_error_both(MYSQL_STMT *stmt, unsigned code)
{
	cmy_error(stmt->mysql, code, NULL);
	cmy_stmt_error(stmt, code);
}

void
cmy_stmt_take_error(MYSQL_STMT *stmt)
{
	const NET *net;

	/* the statement got its error when the connection was lost */
	if (!stmt->mysql)
		return;
	net = &stmt->mysql->net;
	cmy_stmt_error_text(stmt, net->last_errno, net->sqlstate, net->last_error);
}

void
cmy_stmt_clear(MYSQL_STMT *stmt)
{
	/* sic: mysql_stmt_prepare() may have left an SQLSTATE, and this stays */
	if (CMY_ORACLE && stmt->last_errno == 0)
		return;
	stmt->last_errno = 0;
	stmt->last_error[0] = '\0';
	memcpy(stmt->sqlstate, "00000", sizeof(stmt->sqlstate));
}

void
cmy_stmt_clear_both(MYSQL_STMT *stmt)
{
	cmy_clear(stmt->mysql);
	cmy_stmt_clear(stmt);
}

MYSQL *
cmy_stmt_connection(MYSQL_STMT *stmt)
{
	if (!stmt->mysql)
		cmy_stmt_error(stmt, CR_SERVER_LOST);
	return stmt->mysql;
}

/* ---- fields and values ---- */

/* Free fields and bindings; all pointers may be NULL. */
void
cmy_stmt_free_fields(struct cmy_stmt *st)
{
	free(st->pub.fields);
	free(st->pub.bind);
	st->pub.fields = NULL;
	st->pub.bind = NULL;
	st->pub.field_count = 0;
}

int
cmy_stmt_set_fields(struct cmy_stmt *st, MYSQL_FIELD *fields, unsigned n)
{
	cmy_stmt_free_fields(st);
	st->pub.fields = fields;
	st->pub.bind = calloc((size_t)n + 1, sizeof(*st->pub.bind));
	st->pub.field_count = n;
	if (fields && st->pub.bind)
		return 0;
	cmy_stmt_free_fields(st);
	cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
	return -1;
}

void
cmy_stmt_warnings(struct cmy_stmt *st, MYSQL *my, unsigned n)
{
	my->warning_count = n;
#if !CMY_ORACLE
	st->pub.upsert_status.warning_count = n;
#else
	(void)st;
#endif
}

void
cmy_stmt_take_status(struct cmy_stmt *st)
{
	const MYSQL *my = st->pub.mysql;

	st->pub.CMY_STMT_AFFECTED = my->affected_rows;
	st->pub.CMY_STMT_INSERT_ID = my->insert_id;
	st->pub.CMY_STMT_STATUS = my->server_status;
#if !CMY_ORACLE
	st->pub.upsert_status.warning_count = my->warning_count;
#endif
}

void
cmy_long_unmark(struct cmy_stmt *st)
{
	for (unsigned i = 0; st->pub.params && i < st->pub.param_count; i++)
		st->pub.params[i].long_data_used = 0;
}

void
cmy_long_clear(struct cmy_stmt *st)
{
	unsigned i;

	cmy_long_unmark(st);
	for (i = 0; st->longs && i < st->pub.param_count; i++)
		free(st->longs[i].bytes);
	free(st->longs);
	st->longs = NULL;
}

/* ---- the connection's list ---- */

void
cmy_stmt_enlist(MYSQL *my, LIST *item)
{
	item->prev = NULL;
	item->next = my->stmts;
	if (my->stmts)
		my->stmts->prev = item;
	my->stmts = item;
}

void
cmy_stmt_delist(MYSQL *my, LIST *item)
{
	if (item->prev)
		item->prev->next = item->next;
	else
		my->stmts = item->next;
	if (item->next)
		item->next->prev = item->prev;
}

/* Drop the session's data in the statement, because the session ends. */
static void
leave_session(struct cmy_stmt *st)
{
	int is_stream = st->reading == CMY_READ_STREAM;
	int is_cursor = st->reading == CMY_READ_BATCHES;

	/* the program may ask again for columns of a cursor's last row, so keep a copy */
	if (is_cursor && st->at != CMY_NO_ROW && !st->kept &&
		cmy_kept_add(&st->kept, st->res, st->at) == 0)
		st->at = 0;
	if (is_stream || is_cursor) {
		cenote_result_destroy(st->res);
		st->res = NULL;
		st->reading = CMY_ORACLE && is_stream ? CMY_READ_LOST : CMY_READ_NO_MORE;
	}
	cmy_long_clear(st);
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
}

void
cmy_stmts_forget(struct cmy_session *s, unsigned code, const char *function)
{
	MYSQL *my = s->my;

	s->using = NULL;
	for (LIST *item = my->stmts; item; item = item->next) {
		struct cmy_stmt *st = item->data;

		leave_session(st);
		cmy_stmt_error_with(&st->pub, code, function);
		st->pub.mysql = NULL;
	}
	my->stmts = NULL;
}

void
cmy_stmts_lose(struct cmy_session *s)
{
	MYSQL *my = s->my;
	LIST *item, *next;

	s->using = NULL;
	for (item = my->stmts; item; item = next) {
		struct cmy_stmt *st = item->data;
		int is_new = st->pub.state == CMY_STMT_NEW;

		next = item->next;
		if (!CMY_ORACLE || !is_new)
			leave_session(st);
		if (is_new)
			continue;
		cmy_stmt_error(&st->pub, CR_SERVER_LOST);
		st->pub.state = CMY_ORACLE ? st->pub.state : CMY_STMT_NEW;
		if (CMY_ORACLE) {
			st->pub.mysql = NULL;
			cmy_stmt_delist(my, item);
		}
	}
}
