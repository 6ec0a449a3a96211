/* SPDX-License-Identifier: BSD-2-Clause */
#include "ways.h"

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

struct stmt {
	const char *sql;
	cenote_stmt *handle;
};

struct run {
	const struct cnt_way *way;
	cenote_conn *conn;
	struct stmt *stmts;
	size_t n_stmts;
	int is_streamed; /* this step: operations never are */
	char *why;
};

static int
failed(struct run *run, const char *what, int status)
{
	snprintf(run->why, CNT_WHY_MAX, "%s: %s: %s %s", what, cenote_status_name(status),
		cenote_diag_sqlstate(cenote_conn_diag(run->conn)),
		cenote_diag_message(cenote_conn_diag(run->conn)));
	return -1;
}

/* Wait as a program with an event loop does. 0, or -1 when nothing happens for 30 s. */
static int
wait_ready(cenote_conn *conn)
{
	int wants = cenote_wants(conn), ms = cenote_wait_ms(conn);
	struct pollfd p = { .fd = cenote_fd(conn) };
	int r;

	p.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			   (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	r = poll(&p, 1, ms < 0 || ms > 30000 ? 30000 : ms);
	return r > 0 || ms >= 0 ? 0 : -1;
}

/* Repeat `call` while it wants to wait. */
#define RETRY(r, conn, call)                                                             \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && wait_ready(conn) == 0)

typedef int (*add_bind)(cenote_params *params, const struct cnt_bytes *v);

static int
bind_null(cenote_params *params, const struct cnt_bytes *v)
{
	(void)v;
	return cenote_params_add_null(params);
}

static int
bind_bool(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_bool(params, v->bytes[0] == '1');
}

static int
bind_int64(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_int64(params, strtoll(v->bytes, NULL, 10));
}

static int
bind_uint64(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_uint64(params, strtoull(v->bytes, NULL, 10));
}

static int
bind_double(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_double(params, strtod(v->bytes, NULL));
}

static int
bind_decimal(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_decimal(params, v->bytes, v->len);
}

static int
bind_text(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_text(params, v->bytes, v->len);
}

static int
bind_bytes(cenote_params *params, const struct cnt_bytes *v)
{
	return cenote_params_add_bytes(params, v->bytes, v->len);
}

static int
scan_date(const char *text, cenote_date *ret_date)
{
	memset(ret_date, 0, sizeof(*ret_date));
	return sscanf(text, "%d-%hhu-%hhu", &ret_date->year, &ret_date->month,
		       &ret_date->day) == 3;
}

static int
scan_time(const char *text, cenote_time *ret_time)
{
	const char *fraction = strchr(text, '.');
	uint32_t unit = 100000000;

	memset(ret_time, 0, sizeof(*ret_time));
	ret_time->utc_offset_s = CENOTE_NO_OFFSET;
	for (; fraction && *++fraction; unit /= 10)
		ret_time->nanosecond += (uint32_t)(*fraction - '0') * unit;
	return sscanf(text, "%hhu:%hhu:%hhu", &ret_time->hour, &ret_time->minute,
		       &ret_time->second) == 3;
}

static int
bind_date(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_date date;

	return scan_date(v->bytes, &date) ? cenote_params_add_date(params, &date)
					  : CENOTE_ERR_ARG;
}

static int
bind_time(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_time t;

	return scan_time(v->bytes, &t) ? cenote_params_add_time(params, &t)
				       : CENOTE_ERR_ARG;
}

static int
bind_timestamp(cenote_params *params, const struct cnt_bytes *v)
{
	cenote_timestamp ts;
	const char *blank = strchr(v->bytes, ' ');

	if (!blank || !scan_date(v->bytes, &ts.date) || !scan_time(blank + 1, &ts.time))
		return CENOTE_ERR_ARG;
	return cenote_params_add_timestamp(params, &ts);
}

static int
add_param(cenote_params *params, const struct cnt_bind *bind)
{
	static const struct {
		const char *name;
		add_bind add;
	} table[] = {
		{ "null", bind_null },
		{ "bool", bind_bool },
		{ "int64", bind_int64 },
		{ "uint64", bind_uint64 },
		{ "double", bind_double },
		{ "decimal", bind_decimal },
		{ "text", bind_text },
		{ "bytes", bind_bytes },
		{ "date", bind_date },
		{ "time", bind_time },
		{ "timestamp", bind_timestamp },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, bind->type) == 0)
			return table[i].add(params, &bind->value);
	}
	return CENOTE_ERR_ARG;
}

static int
make_params(struct run *run, const struct cnt_step *step, cenote_params **ret_params)
{
	size_t i;
	int r;

	*ret_params = NULL;
	if (step->n_binds == 0)
		return 0;
	r = cenote_params_create(NULL, ret_params);
	for (i = 0; r == CENOTE_OK && i < step->n_binds; i++)
		r = add_param(*ret_params, &step->binds[i]);
	return r < 0 ? failed(run, "bind", r) : 0;
}

static void
make_options(const struct run *run, const struct cnt_step *step, cenote_exec_options *ret)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	options.format = step->format;
	options.max_rows = step->max_rows;
	options.stream = (uint32_t)run->way->is_streamed;
	options.batch_rows = run->way->batch_rows;
	*ret = options;
}

/* Take all of one result. 0, or -1 for what is not an answer. */
static int
see_result(struct run *run, cenote_result *res, struct cnt_seen *seen)
{
	int r = CENOTE_DONE;

	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ERROR:
		cnt_seen_error(seen, CENOTE_ERR_SERVER, cenote_result_diag(res));
		return 0;
	case CENOTE_RESULT_ROWS:
	case CENOTE_RESULT_COMMAND:
		break;
	default:
		return failed(run, "unexpected kind of result", CENOTE_ERR_STATE);
	}
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
		return failed(run, "next batch", r);
	return 0;
}

/* All results of the oldest request. */
static int
see_results(struct run *run, struct cnt_seen_list *list)
{
	cenote_result *res;
	int r;

	for (;;) {
		RETRY(r, run->conn, cenote_get_result(run->conn, &res));
		if (r == CENOTE_DONE)
			return 0;
		if (r != CENOTE_OK)
			return failed(run, "get result", r);
		r = see_result(run, res, cnt_seen_add(list));
		cenote_result_destroy(res);
		if (r < 0)
			return r;
	}
}

/* The statement's handle; the same for the same text, so that its columns are known then. */
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

/* A statement through the calls that wait. */
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
		return failed(run, "query", r);
	r = see_result(run, res, cnt_seen_add(list));
	cenote_result_destroy(res);
	return r < 0 ? r : see_results(run, list);
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

/* The point behind a request of the pipeline. */
static int
see_sync(struct run *run)
{
	cenote_result *res;
	int r, kind;

	RETRY(r, run->conn, cenote_get_result(run->conn, &res));
	if (r != CENOTE_OK)
		return failed(run, "get the synchronisation point", r);
	kind = cenote_result_kind(res);
	cenote_result_destroy(res);
	if (kind != CENOTE_RESULT_SYNC)
		return failed(run, "not a synchronisation point", CENOTE_ERR_STATE);
	RETRY(r, run->conn, cenote_get_result(run->conn, &res));
	return r == CENOTE_DONE ? 0 : failed(run, "end of the synchronisation point", r);
}

/* Operations. Each is repeated while it wants to wait. */
struct op {
	const char *name;
	int (*run)(cenote_conn *conn, const char *args);
};

static int
op_begin(cenote_conn *conn, const char *args)
{
	uint32_t flags = 0, isolation = CENOTE_ISOLATION_DEFAULT;

	if (strstr(args, "immediate"))
		flags |= CENOTE_BEGIN_IMMEDIATE;
	if (strstr(args, "read_only"))
		flags |= CENOTE_BEGIN_READ_ONLY;
	if (strstr(args, "serializable"))
		isolation = CENOTE_ISOLATION_SERIALIZABLE;
	return cenote_begin(conn, isolation, flags);
}

static int
op_commit(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_commit(conn);
}

static int
op_rollback(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_rollback(conn);
}

static int
op_savepoint(cenote_conn *conn, const char *args)
{
	return cenote_savepoint(conn, args);
}

static int
op_release(cenote_conn *conn, const char *args)
{
	return cenote_release(conn, args);
}

static int
op_rollback_to(cenote_conn *conn, const char *args)
{
	return cenote_rollback_to(conn, args);
}

static int
op_autocommit(cenote_conn *conn, const char *args)
{
	return cenote_set_autocommit(conn, args[0] == '1');
}

static int
op_ping(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_ping(conn);
}

static int
op_reset(cenote_conn *conn, const char *args)
{
	(void)args;
	return cenote_reset(conn);
}

static const struct op ops[] = {
	{ "begin", op_begin },
	{ "commit", op_commit },
	{ "rollback", op_rollback },
	{ "savepoint", op_savepoint },
	{ "release", op_release },
	{ "rollback_to", op_rollback_to },
	{ "autocommit", op_autocommit },
	{ "ping", op_ping },
	{ "reset", op_reset },
};

static const struct op *
find_op(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, name) == 0)
			return &ops[i];
	}
	return NULL;
}

/* "KIND [schema=…] [object=…] [column=…] [types=…]": the words are cut out of `text`. */
static uint32_t
parse_catalog(char *text, cenote_catalog_filter *filter)
{
	static const char *const kinds[] = { "", "databases", "schemas", "tables",
		"columns", "primary_keys", "foreign_keys", "indexes", "types",
		"procedures" };
	char *save = NULL, *word = strtok_r(text, " ", &save);
	uint32_t kind = 0, i;

	for (i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (word && strcmp(word, kinds[i]) == 0)
			kind = i;
	}
	while ((word = strtok_r(NULL, " ", &save)) != NULL) {
		const char **to = strncmp(word, "schema=", 7) == 0   ? &filter->schema
				  : strncmp(word, "object=", 7) == 0 ? &filter->object
				  : strncmp(word, "column=", 7) == 0 ? &filter->column
								     : &filter->types;

		*to = strchr(word, '=') ? strchr(word, '=') + 1 : word;
	}
	return kind;
}

static int
run_catalog(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	char text[256];
	uint32_t kind;
	int r;

	snprintf(text, sizeof(text), "%s", step->args);
	kind = parse_catalog(text, &filter);
	RETRY(r, run->conn, cenote_send_catalog(run->conn, kind, &filter));
	if (r == CENOTE_ERR_UNSUPPORTED || r == CENOTE_ERR_SERVER) {
		cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
		return 0;
	}
	return r == CENOTE_OK ? see_results(run, list) : failed(run, "catalog", r);
}

static int
run_op(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list)
{
	const struct op *op = find_op(step->op);
	int r;

	if (strcmp(step->op, "catalog") == 0)
		return run_catalog(run, step, list);
	if (!op)
		return failed(run, step->op, CENOTE_ERR_ARG);
	RETRY(r, run->conn, op->run(run->conn, step->args));
	if (r < 0 && !cenote_status_is_fatal(r))
		cnt_seen_error(cnt_seen_add(list), r, cenote_conn_diag(run->conn));
	else if (r == CENOTE_OK)
		cnt_seen_add(list);
	else
		return failed(run, step->op, r);
	return 0;
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

static int
run_step(struct run *run, const struct cnt_step *step)
{
	struct cnt_seen_list list = { 0 };
	cenote_exec_options options;
	cenote_params *params = NULL;
	int r;

	run->is_streamed = run->way->is_streamed && step->sql;
	make_options(run, step, &options);
	r = make_params(run, step, &params);
	if (r == 0 && step->op)
		r = run_op(run, step, &list);
	else if (r == 0)
		r = run_query(run, step, params, &options, &list);
	cenote_params_destroy(params);
	if (r < 0) {
		cnt_seen_finish(&list);
		return r;
	}
	list.tx = cenote_tx_state(run->conn);
	list.pins = cenote_pins(run->conn);
	return compare(run, step, &list);
}

/* Queue steps first … first + n - 1, each with a synchronisation point behind it. */
static int
send_steps(struct run *run, const struct cnt_step *first, size_t n)
{
	size_t i;
	int r = cenote_pipeline_begin(run->conn);

	for (i = 0; r == CENOTE_OK && i < n; i++) {
		cenote_exec_options options;
		cenote_params *params = NULL;

		make_options(run, &first[i], &options);
		if (make_params(run, &first[i], &params) < 0)
			return -1;
		RETRY(r, run->conn, send_step(run, &first[i], params, &options));
		cenote_params_destroy(params);
		if (r == CENOTE_OK)
			RETRY(r, run->conn, cenote_send_sync(run->conn));
	}
	return r == CENOTE_OK ? 0 : failed(run, "send", r);
}

static int
run_pipeline(struct run *run, const struct cnt_step *first, size_t n)
{
	size_t i;
	int r = send_steps(run, first, n);

	for (i = 0; r == 0 && i < n; i++) {
		struct cnt_seen_list list = { 0 };

		r = see_results(run, &list);
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
		return failed(run, "end of the pipeline", CENOTE_ERR_STATE);
	return r;
}

/* A statement must be prepared (here: waited for) before it is executed in a pipeline; one that
 * cannot be is run by itself. */
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
			return failed(run, test->setup[i], r);
		cenote_result_destroy(res);
	}
	return 0;
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
	r = cenote_conn_set_uri(run.conn, uri);
	if (r == CENOTE_OK)
		r = cenote_connect(run.conn);
	if (r != CENOTE_OK)
		r = failed(&run, "connect", r);
	else
		r = run_setup(&run, test);
	if (r == 0 && cenote_set_nonblocking(run.conn, way->is_nonblocking) < 0)
		r = failed(&run, "set non-blocking", CENOTE_ERR_STATE);
	if (r == 0)
		r = run_steps(&run, test);
	for (i = 0; i < run.n_stmts; i++)
		cenote_stmt_destroy(run.stmts[i].handle);
	free(run.stmts);
	cenote_conn_destroy(run.conn);
	return r;
}
