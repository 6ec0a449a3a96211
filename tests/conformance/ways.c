/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways to run a case through libcenote: blocking, non-blocking, pipelined, in
 * pieces. Each must give the same results.
 */
#include "run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cnt_way cnt_ways[] = {
	{ "blocking", 0, 0, 0, 0, 0 },
	{ "nonblocking", 1, 0, 0, 0, 0 },
	{ "pipelined", 0, 1, 0, 0, 0 },
	{ "pipelined-nonblocking", 1, 1, 0, 0, 0 },
	{ "streamed", 0, 0, 0, 1, 0 },
	{ "streamed-1", 0, 0, 0, 1, 1 },
	{ "streamed-2", 0, 0, 0, 1, 2 },
	{ "streamed-nonblocking", 1, 0, 0, 1, 2 },
	{ "prepared", 0, 0, 1, 0, 0 },
	{ "prepared-streamed-2", 0, 0, 1, 1, 2 },
	{ "prepared-pipelined", 0, 1, 1, 0, 0 },
};
const size_t cnt_n_ways = sizeof(cnt_ways) / sizeof(cnt_ways[0]);

int
cnt_failed(struct run *run, const char *what, int status)
{
	snprintf(run->why, CNT_WHY_MAX, "%s: %s: %s %s", what, cenote_status_name(status),
		cenote_diag_sqlstate(cenote_conn_diag(run->conn)),
		cenote_diag_message(cenote_conn_diag(run->conn)));
	return -1;
}

int
cnt_wait_ready(cenote_conn *conn)
{
	int wants = cenote_wants(conn), ms = cenote_wait_ms(conn);
	struct pollfd p = { .fd = cenote_fd(conn) };
	int r;

	p.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			   (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	r = poll(&p, 1, ms < 0 || ms > 30000 ? 30000 : ms);
	return r > 0 || ms >= 0 ? 0 : -1;
}

void
cnt_make_options(
	const struct run *run, const struct cnt_step *step, cenote_exec_options *ret)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	options.format = step->format;
	options.max_rows = step->max_rows;
	options.stream = (uint32_t)run->way->is_streamed;
	options.batch_rows = run->way->batch_rows;
	options.formats = step->formats;
	options.n_formats = step->n_formats;
	*ret = options;
}

/* Send the step's data in pieces of any length, then end the copy or give it up. */
static int
copy_in(struct run *run, const struct cnt_step *step)
{
	const struct cnt_bytes *data = &step->copy_in;
	size_t done = 0, piece = 1;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && done < data->len) {
		size_t len = data->len - done < piece ? data->len - done : piece;

		RETRY(r, run->conn, cenote_copy_put(run->conn, data->bytes + done, len));
		done += len;
		piece = piece * 3 + 1;
	}
	if (r == CENOTE_OK || r == CENOTE_DONE)
		RETRY(r, run->conn, cenote_copy_end(run->conn, step->copy_fail));
	return r == CENOTE_OK ? 0 : cnt_failed(run, "copy in", r);
}

static int
copy_out(struct run *run, struct cnt_seen *seen)
{
	const char *data;
	size_t len;
	int r;

	cnt_seen_copied(seen, "", 0);
	do {
		RETRY(r, run->conn, cenote_copy_get(run->conn, &data, &len));
		if (r == CENOTE_OK)
			cnt_seen_copied(seen, data, len);
	} while (r == CENOTE_OK);
	return r == CENOTE_DONE ? 0 : cnt_failed(run, "copy out", r);
}

static int
see_rows(struct run *run, cenote_result *res, struct cnt_seen *seen)
{
	int r;

	cnt_seen_columns(seen, res);
	if (!run->is_streamed || seen->n_columns == 0) {
		cnt_seen_rows(seen, res);
		cnt_seen_totals(seen, res);
		return 0;
	}
	do {
		RETRY(r, run->conn, cenote_result_next(res));
		if (r == CENOTE_ROW)
			cnt_seen_rows(seen, res);
	} while (r == CENOTE_ROW);
	if (r == CENOTE_ERR_SERVER)
		cnt_seen_error(seen, r, cenote_result_diag(res));
	else if (r == CENOTE_DONE)
		cnt_seen_totals(seen, res);
	else
		return cnt_failed(run, "next batch", r);
	return 0;
}

/* Record all of one result. Returns 0; 1 for a copy, whose outcome is in the next result; -1 if the
 * result does not answer a statement. */
static int
see_result(struct run *run, const struct cnt_step *step, cenote_result *res,
	struct cnt_seen *seen)
{
	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ERROR:
		cnt_seen_error(seen, CENOTE_ERR_SERVER, cenote_result_diag(res));
		return 0;
	case CENOTE_RESULT_ROWS:
	case CENOTE_RESULT_COMMAND:
		return see_rows(run, res, seen);
	case CENOTE_RESULT_DESCRIPTION:
		cnt_seen_columns(seen, res);
		cnt_seen_params(seen, res);
		return 0;
	case CENOTE_RESULT_COPY_IN:
		return copy_in(run, step) < 0 ? -1 : 1;
	case CENOTE_RESULT_COPY_OUT:
		return copy_out(run, seen) < 0 ? -1 : 1;
	default:
		return cnt_failed(run, "unexpected kind of result", CENOTE_ERR_STATE);
	}
}

static int
see_more(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list,
	int goes_on)
{
	cenote_result *res;
	int r;

	for (;;) {
		RETRY(r, run->conn, cenote_get_result(run->conn, &res));
		if (r == CENOTE_DONE && !goes_on)
			return 0;
		if (r != CENOTE_OK)
			return cnt_failed(run, "get result", r);
		goes_on = see_result(run, step, res,
			goes_on ? &list->items[list->n - 1] : cnt_seen_add(list));
		cenote_result_destroy(res);
		if (goes_on < 0)
			return -1;
	}
}

int
cnt_see_first(struct run *run, const struct cnt_step *step, cenote_result *res,
	struct cnt_seen_list *list)
{
	int r = see_result(run, step, res, cnt_seen_add(list));

	cenote_result_destroy(res);
	return r < 0 ? r : see_more(run, step, list, r);
}

int
cnt_see_results(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	return see_more(run, step, list, 0);
}

/* Steps with the same text share a handle, so that its columns are known the second time. */
static cenote_stmt *
stmt_of(struct run *run, const struct cnt_step *step)
{
	struct stmt *s;
	size_t i;

	for (i = 0; i < run->n_stmts; i++) {
		if (strcmp(run->stmts[i].sql, step->sql) == 0)
			return run->stmts[i].handle;
	}
	s = realloc(run->stmts, (run->n_stmts + 1) * sizeof(*s));
	if (!s)
		abort();
	run->stmts = s;
	s += run->n_stmts++;
	s->sql = step->sql;
	s->handle = NULL;
	if (cenote_stmt_create(run->conn, step->sql, step->sql_len, &s->handle) < 0)
		abort();
	return s->handle;
}

static int
query(struct run *run, const struct cnt_step *step, const cenote_params *params,
	const cenote_exec_options *options, cenote_result **ret_res)
{
	int r;

	if (run->way->is_prepared)
		RETRY(r, run->conn,
			cenote_stmt_execute(
				stmt_of(run, step), params, options, ret_res));
	else
		RETRY(r, run->conn,
			cenote_query(run->conn, step->sql, step->sql_len, params, options,
				ret_res));
	return r;
}

/* Run a statement with the calls that return its first result. */
static int
run_query(struct run *run, const struct cnt_step *step, const cenote_params *params,
	const cenote_exec_options *options, struct cnt_seen_list *list)
{
	cenote_result *res = NULL;
	int r = query(run, step, params, options, &res);

	if (r == CENOTE_ERR_SERVER || r == CENOTE_ERR_UNSUPPORTED ||
		r == CENOTE_ERR_LIMIT) {
		cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
		return 0;
	}
	if (r != CENOTE_OK)
		return cnt_failed(run, "query", r);
	return cnt_see_first(run, step, res, list);
}

static int
send_step(struct run *run, const struct cnt_step *step, const cenote_params *params,
	const cenote_exec_options *options)
{
	cenote_stmt *stmt;

	if (!run->way->is_prepared)
		return cenote_send_query(
			run->conn, step->sql, step->sql_len, params, options);
	stmt = stmt_of(run, step);
	return cenote_send_execute(stmt, params, options);
}

/* Take the synchronisation point after a request of the pipeline. */
static int
see_sync(struct run *run)
{
	cenote_result *res;
	int r, kind;

	RETRY(r, run->conn, cenote_get_result(run->conn, &res));
	if (r != CENOTE_OK)
		return cnt_failed(run, "get the synchronisation point", r);
	kind = cenote_result_kind(res);
	cenote_result_destroy(res);
	if (kind != CENOTE_RESULT_SYNC)
		return cnt_failed(run, "not a synchronisation point", CENOTE_ERR_STATE);
	RETRY(r, run->conn, cenote_get_result(run->conn, &res));
	return r == CENOTE_DONE ? 0
				: cnt_failed(run, "end of the synchronisation point", r);
}

static int
compare(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	char why[CNT_WHY_MAX];
	int r = cnt_seen_compare(list, step, run->is_streamed, why);

	cnt_seen_finish(list);
	if (r < 0)
		snprintf(run->why, CNT_WHY_MAX, "line %d: %.350s", step->line, why);
	return r;
}

/* Compare "NAME VALUE" lines with the session's current values. */
static int
compare_parameters(struct run *run, const struct cnt_step *step)
{
	const char *line = step->expects[step->n_expects - 1].parameters;
	char name[64], value[128];
	const char *seen;

	while (line && *line) {
		if (sscanf(line, "%63s %127[^\n]", name, value) != 2)
			return cnt_failed(
				run, "a parameter is NAME VALUE", CENOTE_ERR_ARG);
		seen = cenote_parameter(run->conn, name);
		if (!seen || strcmp(seen, value) != 0) {
			snprintf(run->why, CNT_WHY_MAX, "line %d: %s is %s", step->line,
				name, seen ? seen : "not told");
			return -1;
		}
		line = strchr(line, '\n') + 1;
	}
	return 0;
}

static int
run_step(struct run *run, const struct cnt_step *step)
{
	struct cnt_seen_list list = { 0 };
	cenote_exec_options options;
	cenote_params *params = NULL;
	int r;

	run->is_streamed = run->way->is_streamed && step->sql;
	*run->notices = '\0';
	cnt_make_options(run, step, &options);
	r = cnt_make_params(run, step, &params);
	if (r == 0 && step->op)
		r = cnt_run_op(run, step, &list);
	else if (r == 0)
		r = run_query(run, step, params, &options, &list);
	cenote_params_destroy(params);
	if (r < 0) {
		cnt_seen_finish(&list);
		return r;
	}
	list.tx = cenote_tx_state(run->conn);
	list.pins = cenote_pins(run->conn);
	memcpy(list.notices, run->notices, sizeof(list.notices));
	return compare(run, step, &list) < 0 ? -1 : compare_parameters(run, step);
}

/* Queue steps first … first + n - 1, each followed by a synchronisation point. */
static int
send_steps(struct run *run, const struct cnt_step *first, size_t n)
{
	size_t i;
	int r = cenote_pipeline_begin(run->conn);

	for (i = 0; r == CENOTE_OK && i < n; i++) {
		cenote_exec_options options;
		cenote_params *params = NULL;

		cnt_make_options(run, &first[i], &options);
		if (cnt_make_params(run, &first[i], &params) < 0)
			return -1;
		RETRY(r, run->conn, send_step(run, &first[i], params, &options));
		cenote_params_destroy(params);
		if (r == CENOTE_OK)
			RETRY(r, run->conn, cenote_send_sync(run->conn));
	}
	return r == CENOTE_OK ? 0 : cnt_failed(run, "send", r);
}

static int
run_pipeline(struct run *run, const struct cnt_step *first, size_t n)
{
	size_t i;
	int r = send_steps(run, first, n);

	for (i = 0; r == 0 && i < n; i++) {
		struct cnt_seen_list list = { 0 };

		r = cnt_see_results(run, &first[i], &list);
		if (r == 0)
			r = see_sync(run);
		if (r < 0) {
			cnt_seen_finish(&list);
			return r;
		}
		list.tx = CNT_TX_UNSEEN;
		r = compare(run, &first[i], &list);
	}
	if (r == 0 && cenote_pipeline_end(run->conn) != CENOTE_OK)
		return cnt_failed(run, "end of the pipeline", CENOTE_ERR_STATE);
	return r;
}

/* Prepare the statement and wait, since a pipeline only executes prepared statements. If that
 * fails, the statement runs outside the pipeline. */
static int
can_pipeline(struct run *run, const struct cnt_step *step)
{
	int r;

	if (!step->sql)
		return 0;
	if (!run->way->is_prepared)
		return 1;
	RETRY(r, run->conn, cenote_stmt_prepare(stmt_of(run, step)));
	return r == CENOTE_OK;
}

static int
run_steps(struct run *run, const struct cnt_case *test)
{
	size_t i = 0, n;
	int r = 0;

	while (r == 0 && i < test->n_steps) {
		n = 0;
		while (run->way->is_pipelined && i + n < test->n_steps &&
			!(run->way->is_prepared && n > 0) &&
			can_pipeline(run, &test->steps[i + n]))
			n++;
		if (n > 0)
			r = run_pipeline(run, &test->steps[i], n);
		else
			r = run_step(run, &test->steps[i]);
		i += n > 0 ? n : 1;
	}
	return r;
}

static int
run_setup(struct run *run, const struct cnt_case *test)
{
	size_t i;

	for (i = 0; i < test->n_setup; i++) {
		cenote_result *res = NULL;
		int r = cenote_query(
			run->conn, test->setup[i], CENOTE_NTS, NULL, NULL, &res);

		if (r != CENOTE_OK)
			return cnt_failed(run, test->setup[i], r);
		cenote_result_destroy(res);
	}
	return 0;
}

static void
on_notice(const cenote_diag *notice, void *user)
{
	struct run *run = user;
	size_t used = strlen(run->notices);

	snprintf(run->notices + used, sizeof(run->notices) - used, "%s\n",
		cenote_diag_message(notice));
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct run *run = user;
	size_t used = strlen(run->notifications);

	snprintf(run->notifications + used, sizeof(run->notifications) - used,
		"%s %s%s\n", channel, payload, pid == 0 ? " from nobody" : "");
}

int
cnt_way_run(const struct cnt_way *way, const struct cnt_case *test, const char *uri,
	char ret_why[CNT_WHY_MAX])
{
	struct run run = { .way = way, .why = ret_why };
	size_t i;
	int r;

	r = cenote_conn_create(NULL, &run.conn);
	if (r < 0)
		abort();
	cenote_set_notice_handler(run.conn, on_notice, &run);
	cenote_set_notification_handler(run.conn, on_notification, &run);
	r = cenote_conn_set_uri(run.conn, uri);
	if (r == CENOTE_OK)
		r = cenote_connect(run.conn);
	if (r != CENOTE_OK)
		r = cnt_failed(&run, "connect", r);
	else
		r = run_setup(&run, test);
	if (r == 0 && cenote_set_nonblocking(run.conn, way->is_nonblocking) < 0)
		r = cnt_failed(&run, "set non-blocking", CENOTE_ERR_STATE);
	if (r == 0)
		r = run_steps(&run, test);
	for (i = 0; i < run.n_stmts; i++)
		cenote_stmt_destroy(run.stmts[i].handle);
	free(run.stmts);
	cenote_conn_destroy(run.conn);
	return r;
}
