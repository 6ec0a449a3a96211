/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a random sequence on a connection (fresh.h).
 */
#include "fresh.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What a client holds. */
struct client {
	const struct fr_backend *backend;
	cenote_conn *conn;
	cenote_result *open[FR_MAX_STEPS];
	size_t n_open;
	cenote_stmt *stmts[FR_MAX_STEPS];
	size_t n_stmts;
	cenote_params *none;
	int is_over; /* the connection's state allows no more steps */
};

static void
ignore(int status)
{
	(void)status;
}

/* Read the rest of a request's results. */
static void
drain(struct client *c)
{
	cenote_result *res;
	int r;

	while ((r = cenote_get_result(c->conn, &res)) == CENOTE_OK)
		cenote_result_destroy(res);
	if (r != CENOTE_DONE)
		c->is_over = 1;
}

static void
finish(struct client *c, int r, cenote_result *res)
{
	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	if (cenote_status_is_fatal(r))
		c->is_over = 1;
	else
		drain(c);
}

static void
do_query(struct client *c, const struct fr_step *step)
{
	cenote_result *res = NULL;
	int r = cenote_query(c->conn, step->sql, CENOTE_NTS,
		step->how == FR_BOUND ? c->none : NULL, NULL, &res);

	finish(c, r, res);
}

/* Begin a copy. Half of the copies are neither ended nor read to their end. */
static void
do_copy(struct client *c, const struct fr_step *step)
{
	static const char data[] = "secret\nmore";
	cenote_result *res = NULL;
	const char *piece;
	size_t len;
	int r = cenote_query(c->conn, step->sql, CENOTE_NTS, NULL, NULL, &res);
	int kind = r == CENOTE_OK ? cenote_result_kind(res) : CENOTE_RESULT_COMMAND;

	if (kind == CENOTE_RESULT_COPY_IN && (step->number & 1))
		ignore(cenote_copy_put(c->conn, data, sizeof(data) - 1));
	if (kind == CENOTE_RESULT_COPY_OUT && (step->number & 1))
		ignore(cenote_copy_get(c->conn, &piece, &len));
	if ((step->number & 2) &&
		(kind == CENOTE_RESULT_COPY_IN || kind == CENOTE_RESULT_COPY_OUT)) {
		c->open[c->n_open++] = res;
		c->is_over = 1;
		return;
	}
	if (kind == CENOTE_RESULT_COPY_IN)
		ignore(cenote_copy_end(c->conn, step->number & 4 ? "given up" : NULL));
	finish(c, r, res);
}

static void
do_prepared(struct client *c, const struct fr_step *step)
{
	cenote_result *res = NULL;
	cenote_stmt *stmt;
	int r;

	if (cenote_stmt_create(c->conn, step->sql, CENOTE_NTS, &stmt) != CENOTE_OK)
		return;
	c->stmts[c->n_stmts++] = stmt;
	r = cenote_stmt_prepare(stmt);
	if (r != CENOTE_OK) {
		finish(c, r, NULL);
		return;
	}
	r = cenote_stmt_execute(stmt, NULL, NULL, &res);
	finish(c, r, res);
}

/* Take one batch, and leave the rest open. */
static void
do_portal(struct client *c, const struct fr_step *step)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res = NULL;
	int r;

	options.stream = 1;
	options.batch_rows = 1 + step->number % 3;
	r = cenote_query(c->conn, step->sql, CENOTE_NTS, NULL, &options, &res);
	if (r != CENOTE_OK) {
		finish(c, r, NULL);
		return;
	}
	if (cenote_result_next(res) == CENOTE_ROW)
		c->open[c->n_open++] = res;
	else
		finish(c, CENOTE_OK, res);
}

/* Send all statements, and read only some of the answers. The pool has to clear up the rest. */
static void
do_pipeline(struct client *c, const struct fr_step *step)
{
	char sql[FR_SQL_SIZE], *p, *next;
	cenote_result *res;
	uint32_t n_reads = step->number % 12;
	int r = cenote_pipeline_begin(c->conn);

	memcpy(sql, step->sql, sizeof(sql));
	for (p = sql; r == CENOTE_OK && p != NULL; p = next) {
		next = strchr(p, FR_SEPARATOR);
		if (next != NULL)
			*next++ = '\0';
		r = cenote_send_query(c->conn, p, CENOTE_NTS,
			step->number & 0x100 ? c->none : NULL, NULL);
		if (r == CENOTE_OK && (step->number & 0x200))
			r = cenote_send_sync(c->conn);
	}
	while (r >= 0 && n_reads-- > 0) {
		r = cenote_get_result(c->conn, &res);
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	}
	if (r < 0 || cenote_pipeline_end(c->conn) != CENOTE_OK)
		c->is_over = 1;
}

static void
do_cancel(struct client *c, const struct fr_step *step)
{
	cenote_cancel *cancel;

	if (cenote_send_query(c->conn, step->sql, CENOTE_NTS, NULL, NULL) != CENOTE_OK ||
		cenote_cancel_create(c->conn, &cancel) != CENOTE_OK) {
		c->is_over = 1;
		return;
	}
	ignore(cenote_process(c->conn));
	ignore(cenote_cancel_send(cancel));
	cenote_cancel_destroy(cancel);
	/* Half of the clients do not wait for the outcome. */
	if (step->number & 1)
		drain(c);
	else
		c->is_over = 1;
}

static int
call_transaction(struct client *c, uint32_t number)
{
	uint32_t more = number >> 8;

	switch (number % 7) {
	case 0:
		return cenote_begin(
			c->conn, more % 5, more & 16 ? CENOTE_BEGIN_READ_ONLY : 0);
	case 1:
		return cenote_commit(c->conn);
	case 2:
		return cenote_rollback(c->conn);
	case 3:
		return cenote_savepoint(c->conn, more & 1 ? "s1" : "s\"2`");
	case 4:
		return cenote_release(c->conn, "s1");
	case 5:
		return cenote_rollback_to(c->conn, "s1");
	default:
		return cenote_set_autocommit(c->conn, (int)(more & 1));
	}
}

static void
do_call(struct client *c, const struct fr_step *step)
{
	cenote_result *res = NULL;
	int r;

	switch (step->number % 12) {
	case 0:
		r = cenote_catalog(c->conn, CENOTE_CATALOG_TABLES, NULL, &res);
		finish(c, r, res);
		return;
	case 1:
		r = cenote_reset(c->conn);
		break;
	case 2:
		r = cenote_ping(c->conn);
		break;
	case 3:
		r = cenote_select_database(c->conn, "app2");
		break;
	case 4:
		/* change to the user of one of the pools */
		r = cenote_change_user(c->conn,
			c->backend->pools[step->number / 12 % c->backend->n_pools].user,
			NULL, "app2");
		break;
	case 5:
		r = cenote_close_named(c->conn, CENOTE_NAMED_STATEMENT, "fr_p1");
		break;
	case 6:
		r = cenote_set_session_option(c->conn, "multi_statements", "off");
		break;
	default:
		r = call_transaction(c, step->number >> 4);
	}
	finish(c, r, NULL);
}

static void
do_step(struct client *c, const struct fr_step *step)
{
	switch (step->how) {
	case FR_QUERY:
	case FR_BOUND:
		do_query(c, step);
		break;
	case FR_COPY:
		do_copy(c, step);
		break;
	case FR_PREPARED:
		do_prepared(c, step);
		break;
	case FR_PORTAL:
		do_portal(c, step);
		break;
	case FR_PIPELINE:
		do_pipeline(c, step);
		break;
	case FR_CANCEL:
		do_cancel(c, step);
		break;
	case FR_CALL:
		do_call(c, step);
		break;
	}
}

static int
connect_client(struct client *c, const char *run_dir, const char *pool, bool wants_loan)
{
	if (cenote_conn_create(NULL, &c->conn) != CENOTE_OK)
		return -1;
	/* Another session would hide what happened to this one. But a loan begins with a yield. */
	if (cenote_conn_set(c->conn, "run_dir", run_dir) != CENOTE_OK ||
		cenote_conn_set(c->conn, "pool", pool) != CENOTE_OK ||
		cenote_conn_set(c->conn, "reattach", wants_loan ? "planned" : "no") !=
			CENOTE_OK)
		return -1;
	return cenote_connect(c->conn) == CENOTE_OK ? 0 : -1;
}

/* Send a request, and shut the socket down without waiting. */
static void
fall_silent(struct client *c, const struct fr_sequence *seq)
{
	const char *sql = seq->number & 1 ? c->backend->slow : seq->steps[0].sql;

	if (!c->is_over && seq->steps[0].how < FR_PIPELINE) {
		ignore(cenote_send_query(c->conn, sql, CENOTE_NTS, NULL, NULL));
		ignore(cenote_process(c->conn));
	}
	if (cenote_fd(c->conn) >= 0)
		(void)shutdown(cenote_fd(c->conn), SHUT_RDWR);
}

static bool
is_lent(const struct client *c)
{
	return !c->is_over && strcmp(cenote_info(c->conn, "data_path"), "lent") == 0;
}

/* A worker lends after ten requests. */
static bool
await_loan(struct client *c)
{
	static const struct fr_step plain = { .how = FR_QUERY, .sql = "select 1" };

	for (int i = 0; i < 20 && !c->is_over && !is_lent(c); i++)
		do_query(c, &plain);
	return is_lent(c);
}

bool
fr_run(const struct fr_sequence *seq, const struct fr_backend *backend,
	const char *run_dir, const char *pool, bool wants_loan)
{
	struct client c = { .backend = backend };
	bool was_lent;
	size_t i;

	if (cenote_params_create(NULL, &c.none) != CENOTE_OK ||
		connect_client(&c, run_dir, pool, wants_loan) < 0)
		c.is_over = 1;
	was_lent = wants_loan && await_loan(&c);
	for (i = 0; i < seq->n && !c.is_over; i++)
		do_step(&c, &seq->steps[i]);
	if (seq->ending == FR_SILENT && c.conn != NULL)
		fall_silent(&c, seq);
	if (c.conn != NULL)
		cenote_close(c.conn);
	for (i = 0; i < c.n_open; i++)
		cenote_result_destroy(c.open[i]);
	for (i = 0; i < c.n_stmts; i++)
		cenote_stmt_destroy(c.stmts[i]);
	cenote_conn_destroy(c.conn);
	cenote_params_destroy(c.none);
	return was_lent;
}
