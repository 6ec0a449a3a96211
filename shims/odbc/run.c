/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends a statement's request and waits for its results, with the query timeout and SQLCancel().
 * execute.c, array.c and cursor.c call it. The state is cod_dbc.owner and cod_dbc.running, and the
 * deadlines in struct cod_stmt.
 */
#include "odbc.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

/* How long the server may take to stop a request after its deadline. */
#define STOP_MS  10000u
/* While many sets of parameters are under way: how often to look for a cancel (LOOK_MS), and after a
 * cancel, how often to stop the next set (AGAIN_MS). */
#define LOOK_MS  100u
#define AGAIN_MS 10u

/* ---------------------------------------------------------------------- waiting ----- */

struct step {
	struct cod_stmt *stmt;
	cenote_result *result;
	cenote_result **ret_result;
};

static int
step_result(const struct step *step)
{
	return cenote_get_result(step->stmt->dbc->conn, step->ret_result);
}

static int
step_batch(const struct step *step)
{
	return cenote_result_next(step->result);
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
stop(struct cod_stmt *stmt)
{
	struct cod_dbc *dbc = stmt->dbc;

	stmt->is_timed_out = true;
	stmt->deadline_ms = now_ms() + STOP_MS;
	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	if (cenote_cancel_send(dbc->cancel) < 0)
		/* the cancel did not arrive: wait no longer */
		stmt->deadline_ms = now_ms();
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
}

bool
cod_is_stopped(const struct cod_stmt *stmt)
{
	return stmt->is_timed_out || atomic_load(&stmt->is_cancelled);
}

void
cod_stop_next(struct cod_stmt *stmt)
{
	struct cod_dbc *dbc = stmt->dbc;

	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	/* If the cancel does not arrive, the request runs to its end and reports its result. */
	if (cenote_cancel_send(dbc->cancel) < 0)
		dbc->running = NULL;
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
}

static int
earlier(int limit_ms, uint64_t other_ms)
{
	return limit_ms < 0 || (uint64_t)limit_ms > other_ms ? (int)other_ms : limit_ms;
}

/* Wait until the connection can go on or the deadline has passed. */
static int
wait_for_socket(struct cod_stmt *stmt)
{
	cenote_conn *conn = stmt->dbc->conn;
	int wants = cenote_wants(conn), limit = cenote_wait_ms(conn);
	uint64_t now = now_ms();
	struct pollfd fd = {
		.fd = cenote_fd(conn),
		.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
				  (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0)),
	};

	if (stmt->deadline_ms > 0 && now >= stmt->deadline_ms) {
		if (stmt->is_timed_out)
			return CENOTE_ERR_TIMEOUT;
		stop(stmt);
		return CENOTE_OK;
	}
	if (stmt->deadline_ms > 0)
		limit = earlier(limit, stmt->deadline_ms - now);
	if (stmt->exec.is_array)
		limit = earlier(limit, cod_is_stopped(stmt) ? AGAIN_MS : LOOK_MS);
	/* A cancel stops only one of several requests, so stop the next one too. */
	if (poll(&fd, 1, limit) == 0 && stmt->exec.is_array && cod_is_stopped(stmt))
		cod_stop_next(stmt);
	return CENOTE_OK;
}

static int
wait_until(int (*go)(const struct step *step), const struct step *step, bool is_async)
{
	struct cod_stmt *stmt = step->stmt;
	cenote_conn *conn = stmt->dbc->conn;
	int r;

	if (stmt->deadline_ms == 0 && !is_async && !stmt->exec.is_array)
		return go(step);
	(void)cenote_set_nonblocking(conn, 1);
	do {
		r = go(step);
		if (r != CENOTE_AGAIN)
			break;
		if (is_async && (stmt->deadline_ms == 0 || now_ms() < stmt->deadline_ms))
			break;
		r = wait_for_socket(stmt);
	} while (r == CENOTE_OK);
	(void)cenote_set_nonblocking(conn, 0);
	return r;
}

int
cod_wait_result(struct cod_stmt *stmt, bool may_poll, cenote_result **ret_result)
{
	const struct step step = { stmt, NULL, ret_result };
	bool is_async = stmt->attrs[COD_ASYNC_ENABLE] == SQL_ASYNC_ENABLE_ON;

	return wait_until(step_result, &step, is_async && may_poll);
}

int
cod_wait_batch(struct cod_stmt *stmt, cenote_result *result)
{
	const struct step step = { stmt, result, NULL };

	return wait_until(step_batch, &step, false);
}

/* --------------------------------------------------------------------- requests ----- */

static void
set_running(struct cod_dbc *dbc, struct cod_stmt *stmt)
{
	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	dbc->running = stmt;
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
}

void
cod_request_begin(struct cod_stmt *stmt)
{
	SQLULEN timeout_s = stmt->attrs[COD_QUERY_TIMEOUT];

	atomic_store(&stmt->is_cancelled, false);
	stmt->is_timed_out = false;
	if (timeout_s > 0 && stmt->exec.deadline_ms == 0)
		stmt->exec.deadline_ms = now_ms() + timeout_s * 1000;
	stmt->deadline_ms = stmt->exec.deadline_ms;
}

bool
cod_is_streamed(const struct cod_stmt *stmt)
{
	return stmt->desc[COD_APD]->array_size == 1;
}

/* How many rows the server sends before the driver asks for more. 0: all, as fast as the driver
 * reads them. */
static uint32_t
fetch_size(const struct cod_dbc *dbc)
{
	unsigned long n =
		strtoul(cod_setting(&dbc->settings, COD_KEY_FETCH_SIZE), NULL, 10);

	return (uint32_t)(n > UINT32_MAX ? UINT32_MAX : n);
}

int
cod_send_request(struct cod_stmt *stmt)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	options.format = CENOTE_FORMAT_CANONICAL;
	options.stream = cod_is_streamed(stmt);
	if (options.stream && stmt->attrs[COD_CURSOR_TYPE] == SQL_CURSOR_FORWARD_ONLY)
		options.batch_rows = fetch_size(stmt->dbc);
	options.max_rows = stmt->attrs[COD_MAX_ROWS];
	/* An error of one set must not reach the next. */
	options.sync = 1;
	if (stmt->handle != NULL)
		return cenote_send_execute(stmt->handle, stmt->exec.params, &options);
	return cenote_send_query(
		stmt->dbc->conn, stmt->sql.text, stmt->sql.n, NULL, &options);
}

void
cod_request_sent(struct cod_stmt *stmt)
{
	stmt->dbc->owner = stmt;
	cenote_cancel_follow(stmt->dbc->cancel, stmt->dbc->conn);
	set_running(stmt->dbc, stmt);
}

void
cod_request_end(struct cod_stmt *stmt)
{
	if (stmt->dbc->running == stmt)
		set_running(stmt->dbc, NULL);
	stmt->deadline_ms = 0;
}

void
cod_result_over(struct cod_stmt *stmt, uint32_t flags)
{
	struct cod_dbc *dbc = stmt->dbc;
	cenote_result *result = NULL;
	int r;

	if (dbc->owner != stmt || (flags & CENOTE_RESULT_FLAG_MORE) != 0)
		return;
	r = cenote_get_result(dbc->conn, &result);
	if (r == CENOTE_OK)
		(void)cod_later_add(stmt, result);
	else
		dbc->owner = NULL;
}

SQLRETURN
cod_request_failed(struct cod_stmt *stmt, const struct cod_diag_where *where,
	const cenote_diag *diag, int status)
{
	if (stmt->is_timed_out)
		cod_diag_add(&stmt->head.diag, where, "HYT00", cenote_diag_native(diag),
			"ODBC", "the query timeout expired");
	else if (atomic_load(&stmt->is_cancelled))
		cod_diag_add(&stmt->head.diag, where, "HY008", cenote_diag_native(diag),
			stmt->head.component, cenote_diag_message(diag));
	else
		return cod_fail_cenote(&stmt->head, where, diag, status);
	return SQL_ERROR;
}
