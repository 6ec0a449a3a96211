/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <string.h>

/*
 * Calls that both drivers leave out: those that are known to differ (docs/mysql-shim.md
 * says so), and those that crash the original. Both drivers find the same reason.
 */

struct known {
	int first, last; /* first and last of a range of enum fz_call */
	int (*applies)(struct fz *z);
	const char *why;
};

static int
has_none(struct fz *z)
{
	return z->at->my == NULL;
}

static int
is_not_connected(struct fz *z)
{
	return z->at->my == NULL || z->at->my->net.FZ_VIO == NULL;
}

static int
is_new(struct fz *z)
{
	return !z->at->was_connected;
}

static int
has_no_database(struct fz *z)
{
	return z->at->my != NULL && (z->at->my->db == NULL || *z->at->my->db == '\0');
}

static int
is_connected(struct fz *z)
{
	return z->at->my != NULL && z->at->my->net.FZ_VIO != NULL;
}

/* The connection is non-blocking and was connected before, and this call blocks. */
static int
is_unwaited(struct fz *z)
{
	return z->at->was_connected && z->at->is_async && !z->is_async;
}

static int
has_no_result(struct fz *z)
{
	return z->result->res == NULL;
}

static int
has_no_stmt(struct fz *z)
{
	return z->stmt->stmt == NULL;
}

static int
is_not_sent(struct fz *z)
{
	return !z->at->is_sent;
}

static int
is_sent(struct fz *z)
{
	return z->at->is_sent;
}

/* Rows of a query are unread. */
static int
has_rows(struct fz *z)
{
	const MYSQL *my = z->at->my;

	return my != NULL && (my->status == MYSQL_STATUS_GET_RESULT ||
				     my->status == MYSQL_STATUS_USE_RESULT);
}

static int
is_detached(struct fz *z)
{
	return z->stmt->stmt != NULL && z->stmt->stmt->mysql == NULL;
}

static int
is_reading(const struct fz *z, const struct fz_stmt *s)
{
#if CMY_ORACLE
	return s->stmt != NULL && z->at->reader == s;
#else
	(void)z;
	return s->stmt != NULL && s->stmt->state > FZ_EXECUTED &&
	       s->stmt->state < MYSQL_STMT_FETCH_DONE;
#endif
}

/* A row was fetched and not stored, and the connection that held it in memory is gone. */
static int
is_row_gone(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return is_detached(z) &&
	       (s->has_old_rows || s->is_past_rows || !fz_has_stored(s));
}

/* The connection is gone, and rows were unread. */
static int
is_cut_off(struct fz *z)
{
	return is_detached(z) && is_reading(z, z->stmt);
}

/* The statement's buffers were bound for an earlier text. */
static int
has_old_columns(struct fz *z)
{
	return z->stmt->has_old_columns && is_reading(z, z->stmt);
}

static int
has_new_columns(struct fz *z)
{
	return z->stmt->has_new_columns;
}

static int
is_unprepared(struct fz *z)
{
	return z->stmt->stmt != NULL && z->stmt->stmt->state < FZ_PREPARED;
}

static int
is_gone(struct fz *z)
{
	return is_detached(z) || is_unprepared(z);
}

/* A parameter's value was sent ahead, and the library has forgotten that. */
static int
is_given_twice(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	if (s->stmt == NULL || s->stmt->mysql == NULL)
		return 0;
	for (unsigned i = 0; i < s->stmt->param_count; i++) {
		if (s->is_ahead[i] && !s->stmt->params[i].long_data_used)
			return 1;
	}
	return 0;
}

/* Sending a parameter's value ahead failed, but the library counts it as sent. */
static int
is_given_never(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	if (s->stmt == NULL || s->stmt->mysql == NULL)
		return 0;
	for (unsigned i = 0; i < s->stmt->param_count; i++) {
		if (i < FZ_PARAMS && s->is_lost[i])
			return 1;
	}
	return 0;
}

static int
is_direct(struct fz *z)
{
	return z->stmt->is_direct;
}

/* HELP: the server sends the columns while it reads its own tables, with autocommit. */
static int
is_help(struct fz *z)
{
	return z->stmt->sql != NULL && strncmp(z->stmt->sql, "help", 4) == 0;
}

#if CMY_ORACLE
static int
is_help_by_cursor(struct fz *z)
{
	return is_help(z) && z->stmt->stmt != NULL && z->stmt->stmt->flags != 0;
}
#else
static int
has_no_cursor(struct fz *z)
{
	return z->stmt->sql != NULL && fz_lacks_cursor(z->stmt, z->stmt->sql);
}
#endif

static int
is_interrupted(struct fz *z)
{
	return z->stmt->sql != NULL && strncmp(z->stmt->sql, "set statement", 13) == 0;
}

/* mysql_stmt_bind_param() failed half way. */
static int
is_half_bound(struct fz *z)
{
	return z->stmt->is_half_bound;
}

/* The values were bound to another text's parameters. */
static int
is_unbound(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->stmt != NULL && s->stmt->param_count > 0 && s->stmt->bind_param_done &&
	       !s->is_bound;
}

static int
has_more(struct fz *z)
{
	return z->at->my != NULL && z->f.mysql_more_results(z->at->my);
}

static int
is_busy(struct fz *z)
{
	return z->at->my != NULL && z->at->my->status != MYSQL_STATUS_READY;
}

/* Results of a statement's procedure are unread. */
static int
has_calls_results(struct fz *z)
{
	return z->at->is_calls && (is_busy(z) || has_more(z));
}

/* Further results of a query are unread. */
static int
has_more_texts(struct fz *z)
{
	return has_more(z) && !has_calls_results(z);
}

/* Another statement's rows are unread. */
static int
has_others_rows(struct fz *z)
{
	for (unsigned i = 0; i < FZ_STMTS; i++) {
		const struct fz_stmt *s = &z->at->stmts[i];

		if (s != z->stmt && is_reading(z, s))
			return 1;
	}
	return is_busy(z) && !is_reading(z, z->stmt);
}

/* The library would reconnect, because unread results forbid a command. */
static int
connects_again(struct fz *z)
{
	return (is_busy(z) || has_more(z)) && FZ_RECONNECT(z->at->my);
}

/* Some rows of a cursor's portion were not fetched, and more portions may follow. */
static int
is_in_portion(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;
	int is_in = s->stmt != NULL && s->stmt->flags != 0 &&
		    s->stmt->prefetch_rows > 0 &&
		    s->n_fetched % s->stmt->prefetch_rows != 0;

	/* in that case Oracle's library asks for no more rows */
	if (CMY_ORACLE && is_in && s->stmt->result.rows < s->stmt->prefetch_rows)
		return 0;
	return is_in;
}

#if CMY_ORACLE
/* Results of a procedure, or its failure, may be unread. */
static int
is_called(struct fz *z)
{
	return z->stmt->sql != NULL && strncmp(z->stmt->sql, "call", 4) == 0 &&
	       z->stmt->was_run;
}

static int
is_failing(struct fz *z)
{
	return is_called(z) && strncmp(z->stmt->sql, "call fails", 10) == 0;
}

static int
has_old_charset(struct fz *z)
{
	return z->stmt->has_old_charset;
}

static int
is_robbed(struct fz *z)
{
	return z->stmt->is_robbed && has_others_rows(z);
}

/* Without bound columns the library has not noted where the row's values are. */
static int
has_no_columns(struct fz *z)
{
	return !z->stmt->has_columns;
}

static int
has_no_portion(struct fz *z)
{
	const MYSQL_STMT *stmt = z->stmt->stmt;

	return stmt != NULL && stmt->flags != 0 && stmt->prefetch_rows == 0;
}

/* The pool does not report whether columns came before the failure. */
static int
has_failed_cursor(struct fz *z)
{
	return z->stmt->has_failed_cursor;
}

/* The row's values were in memory that the connection has reused since. */
static int
is_row_over(struct fz *z)
{
	return z->stmt->is_row_over && z->stmt->stmt->state == MYSQL_STMT_FETCH_DONE;
}

/* Connecting failed, so there is no character set. */
static int
has_no_charset(struct fz *z)
{
	return z->at->was_connected && is_not_connected(z);
}
#endif

#if !CMY_ORACLE
/* Rows of HELP are unread. */
static int
is_unread_help(struct fz *z)
{
	const struct fz_conn *c = z->at;

	return c->sql != NULL && strncmp(c->sql, "help", 4) == 0 && c->my != NULL &&
	       c->my->status == MYSQL_STATUS_USE_RESULT;
}

/* The procedure returns values, for which the server has changed the parameters' types. The
 * library does not send the types again. */
static int
has_old_types(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->was_run && s->stmt != NULL && !s->stmt->send_types_to_server &&
	       strncmp(s->sql, "call gives", 10) == 0;
}

/* The original counts the types as sent, although the execution was refused. */
static int
has_unsent_types(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->is_refused && s->stmt != NULL && !s->stmt->send_types_to_server;
}

/* The statement had a cursor once, and will be executed without one. */
static int
has_no_more_cursor(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->had_cursor && s->stmt != NULL && s->sql != NULL &&
	       (s->stmt->flags == 0 || strncmp(s->sql, "call", 4) == 0);
}

/* Closing is refused, because results of a CALL wait that this statement does not read. */
static int
is_not_closed(struct fz *z)
{
	const MYSQL_STMT *stmt = z->stmt->stmt;

	return has_more(z) && stmt != NULL && stmt->state >= MYSQL_STMT_PREPARED &&
	       (stmt->state == MYSQL_STMT_PREPARED || stmt->field_count == 0);
}

/* mariadb_stmt_execute_direct() failed, so the statement's id, -1, means the statement that was
 * prepared last. */
static int
closes_another(struct fz *z)
{
	int has_other = 0;

	for (unsigned i = 0; i < FZ_STMTS; i++) {
		const MYSQL_STMT *other = z->at->stmts[i].stmt;

		has_other |= other != NULL && other != z->stmt->stmt &&
			     other->state >= MYSQL_STMT_PREPARED;
	}
	return has_other && z->stmt->stmt != NULL &&
	       z->stmt->stmt->stmt_id == (unsigned long)-1;
}

static int
is_prebound(struct fz *z)
{
	return z->stmt->stmt != NULL && z->stmt->stmt->prebind_params > 0;
}

static int
was_prepared(struct fz *z)
{
	return z->stmt->stmt != NULL && z->stmt->stmt->state != MYSQL_STMT_INITTED;
}
#endif

#if !CMY_ORACLE
/* Storing the rows failed. */
static int
has_lost_rows(struct fz *z)
{
	const MYSQL_STMT *stmt = z->stmt->stmt;

	return stmt != NULL && stmt->mysql != NULL && !stmt->cursor_exists &&
	       stmt->state == MYSQL_STMT_WAITING_USE_OR_STORE &&
	       stmt->mysql->status == MYSQL_STATUS_READY;
}

/* All rows were fetched before the rest was stored, but the library counts them as unread. */
static int
has_stored_none(struct fz *z)
{
	const MYSQL_STMT *stmt = z->stmt->stmt;

	return stmt != NULL && stmt->mysql != NULL && !z->stmt->has_cursor &&
	       stmt->state > MYSQL_STMT_WAITING_USE_OR_STORE &&
	       stmt->state < MYSQL_STMT_FETCH_DONE && stmt->result.data == NULL &&
	       stmt->mysql->status == MYSQL_STATUS_READY;
}
#endif

/* Nothing is stored, or the CALL is at its end and has no columns. */
static int
has_nothing_stored(struct fz *z)
{
	const struct fz_stmt *s = z->stmt;

	return s->stmt == NULL || s->stmt->result.data == NULL ||
	       s->stmt->field_count == 0 || s->has_cursor;
}

static int
has_old_rows(struct fz *z)
{
	return z->stmt->has_old_rows || (!CMY_ORACLE && z->stmt->is_past_rows);
}

#define FROM(first, last, applies, why) { FZ_##first, FZ_##last, applies, why },
#define AT(call, applies, why)          FROM(call, call, applies, why)

/* clang-format off */
static const struct known calls[] = {
	AT(connect, is_connected, "it is connected")
	AT(connect, is_unwaited, "the original does not wait then")
	FROM(ping, list_fields, has_none, "there is no connection")
	FROM(ping, set_server_option, is_new, "the original ends")
	FROM(autocommit, rollback, is_new, "the original ends")
	FROM(query, list_fields, is_new, "the original ends")
	FROM(stmt_init, stmt_direct, is_new, "the original ends")
	AT(stmt_init, has_none, "there is no connection")
	AT(stmt_array, has_none, "there is no connection")
	AT(read_query_result, is_not_sent, "it would wait for ever")
	FROM(ping, rollback, is_sent, "it would take the answer")
	FROM(query, send_query, is_sent, "it would take the answer")
	FROM(list_dbs, list_fields, is_sent, "it would take the answer")
	FROM(stmt_init, stmt_direct, is_sent, "it would take the answer")
	FROM(fetch_row, free_result, has_no_result, "there is no result")
	FROM(stmt_prepare, stmt_next_result, has_no_stmt, "there is no statement")
	AT(stmt_direct, has_no_stmt, "there is no statement")
	AT(stmt_free_result, has_old_rows, "the original has places of rows that are gone")
	/* both entries have the same reason, because the drivers may differ in which of them
	 * applies */
	FROM(stmt_seek, stmt_row_seek, has_old_rows, "nothing is stored any more")
	FROM(stmt_seek, stmt_row_seek, has_nothing_stored, "nothing is stored any more")
	FROM(stmt_init, stmt_direct, has_rows, "the original loses its place")
	FROM(stmt_init, stmt_direct, has_more_texts, "the original loses its place")
	AT(stmt_direct, has_others_rows, "the original loses its place")
	AT(stmt_array, is_busy, "the original loses its place")
	FROM(ping, set_server_option, has_calls_results, "rows of a statement are no texts")
	FROM(autocommit, rollback, has_calls_results, "rows of a statement are no texts")
	FROM(query, list_fields, has_calls_results, "rows of a statement are no texts")
	AT(reset_connection, has_more, "it waits for ever")
	AT(reset_connection, is_busy, "it waits for ever")
	FROM(ping, set_server_option, connects_again, "the original connects again")
	FROM(autocommit, rollback, connects_again, "the original connects again")
	FROM(query, send_query, connects_again, "the original connects again")
	FROM(list_dbs, list_fields, connects_again, "the original connects again")
	FROM(stmt_init, stmt_direct, connects_again, "the original connects again")
	FROM(stmt_free_result, stmt_reset, is_detached, "the original ends")
	AT(stmt_bind_result, is_detached, "the original ends")
	AT(stmt_store_result, has_others_rows, "the original stores another's rows")
	AT(stmt_store_result, is_in_portion, "the original loses rows")
	AT(stmt_fetch, is_cut_off, "the original ends")
	AT(stmt_fetch, has_old_columns, "the original ends")
	AT(stmt_fetch_column, is_row_gone, "the original has the places of a row that is gone")
	AT(stmt_fetch_column, has_new_columns, "the original has the row's places with the buffers of before")
#if !CMY_ORACLE
	FROM(stmt_init, stmt_prepare, has_others_rows, "the original loses its place")
	FROM(stmt_free_result, stmt_close, has_others_rows, "the original loses its place")
	AT(stmt_prepare, is_prebound, "the original ends")
	AT(stmt_execute, has_stored_none, "it waits for ever")
	AT(stmt_fetch, has_lost_rows, "it waits for ever")
	AT(stmt_fetch, is_help, "the original does not look at the status behind the rows")
	AT(stmt_execute, has_no_cursor, "the original is out of sync with itself")
#endif
	AT(select_db, has_more, "the original loses its place")
	AT(select_db, is_busy, "the original loses its place")
	AT(stmt_execute, is_half_bound, "the values are anything")
	AT(stmt_execute, is_unbound, "the values are of the type of that number, or of none")
	AT(stmt_execute, is_given_twice, "the server takes the second value for something else")
	AT(stmt_execute, is_given_never, "the server gets too few values")
	AT(stmt_execute, is_interrupted, "it is told now, or with the rows")
	AT(stmt_direct, is_not_connected, "the original does not connect behind that")
	AT(stmt_long_data, is_gone, "the original ends")
	AT(stmt_long_data, is_direct, "the server describes a value in pieces as the one before it")
	AT(stmt_next_result, is_detached, "the original ends")
	AT(stmt_reset, is_unprepared, "the original asks for one that is gone")
#if !CMY_ORACLE
	AT(free_result, is_unread_help, "the original does not look at the status behind the rows")
	AT(stmt_execute, has_old_types, "the server takes the values for others")
	AT(stmt_execute, has_unsent_types, "the server does not know what the values are")
	AT(stmt_execute, has_no_more_cursor, "the original takes the rows for a cursor's")
	AT(stmt_prepare, is_not_closed, "it waits for ever then")
	AT(stmt_direct, has_more, "it waits for ever then")
	AT(stmt_init, closes_another, "the original closes another")
	AT(stmt_close, closes_another, "the original closes another")
	AT(stmt_direct, was_prepared, "the original has fields then whose memory is gone")
#endif
#if CMY_ORACLE
	AT(stmt_prepare, is_failing, "the original tells of results that nobody asked for")
	AT(stmt_execute, is_help_by_cursor, "the server tells of a cursor that is over")
	AT(stmt_execute, has_no_portion, "the original asks for no rows of the cursor")
	AT(stmt_execute, is_called, "the original tells of results that nobody asked for")
	AT(stmt_init, is_called, "the original tells of results that nobody asked for")
	FROM(stmt_free_result, stmt_close, is_called, "the original tells of results that nobody asked for")
	FROM(escape, charset_info, has_no_charset, "the original ends")
	AT(stmt_metadata, is_detached, "the original ends")
	AT(stmt_fetch_column, has_no_columns, "the original has what lay in that memory before")
	AT(stmt_fetch_column, is_row_over, "the original has the places of a row that is gone")
	AT(stmt_execute, has_old_charset, "the server tells columns again that it would not tell a pool")
	AT(stmt_fetch, is_robbed, "the original reads another's rows")
	AT(stmt_fetch, has_failed_cursor, "the original has all rows then, which are none, or no result")
	AT(stmt_long_data, is_half_bound, "the original has the parameters in memory that it has freed")
	AT(stmt_fetch, is_unprepared, "the original takes the statement for prepared")
	AT(change_user, has_more, "the original loses its place")
	AT(change_user, is_busy, "the original loses its place")
	AT(list_fields, is_busy, "the original forgets what is still to be read")
#endif
	AT(list_fields, has_no_database, "what is wrong first is told, there or in the name")
	AT(infos, is_not_connected, "nothing is known of the server")
};
/* clang-format on */

int
fz_lacks_cursor(const struct fz_stmt *s, const char *sql)
{
	static const char *const begins[] = { "analyze", "checksum", "explain", "help",
		"show create" };
	int is_such = strstr(sql, " returning ") != NULL;

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		is_such |= strncmp(sql, begins[i], strlen(begins[i])) == 0;
	return is_such && s->stmt != NULL && s->stmt->flags != 0;
}

const char *
fz_is_known(struct fz *z, const struct fz_step *step)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct known *k = &calls[i];

		if ((int)step->call >= k->first && (int)step->call <= k->last &&
			k->applies(z))
			return k->why;
	}
	return NULL;
}
