/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a statement: binds values, sends it and shows its results. input.c and the commands call it.
 * The state is in struct shell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interrupt.h"
#include "shell.h"

double
run_now_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
add_param(cenote_params *params, const struct bind *bind)
{
	switch (bind->type) {
	case CENOTE_TYPE_NULL:
		return cenote_params_add_null(params);
	case CENOTE_TYPE_INT64:
		return cenote_params_add_int64(params, bind->i);
	case CENOTE_TYPE_DOUBLE:
		return cenote_params_add_double(params, bind->d);
	case CENOTE_TYPE_BOOL:
		return cenote_params_add_bool(params, bind->i != 0);
	case CENOTE_TYPE_DECIMAL:
		return cenote_params_add_decimal(params, bind->value, bind->len);
	case CENOTE_TYPE_BYTES:
		return cenote_params_add_bytes(params, bind->value, bind->len);
	default:
		return cenote_params_add_text(params, bind->value, bind->len);
	}
}

/* Make the values of a statement's placeholders. NULL: it has none. */
static int
make_params(struct shell *sh, const struct bound *bound, cenote_params **ret_params)
{
	cenote_params *params = NULL;
	size_t i;
	int r;

	if (bound->n == 0) {
		*ret_params = NULL;
		return RUN_OK;
	}
	r = cenote_params_create(NULL, &params);
	for (i = 0; r >= 0 && i < bound->n; i++)
		r = add_param(params, bound->values[i]);
	if (r < 0) {
		cenote_params_destroy(params);
		shell_error(sh, "cannot bind the values: %s", cenote_status_name(r));
		return RUN_ERROR;
	}
	*ret_params = params;
	return RUN_OK;
}

static int
send_bound(struct shell *sh, const struct bound *bound, const cenote_params *params)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	int r;

	options.stream = 1;
	options.format = CENOTE_FORMAT_CANONICAL;
	session_begin_request(sh);
	while ((r = cenote_send_query(sh->conn, text_str(&bound->sql), bound->sql.len,
			params, &options)) == CENOTE_AGAIN) {
		if (session_wait(sh) != RUN_OK)
			return session_failed(sh, CENOTE_ERR_CONN, NULL, 0);
	}
	return r < 0 ? session_failed(sh, r, text_str(&bound->sql), bound->sql.len)
		     : RUN_OK;
}

/* Bind and send. On success the caller finishes `bound`. */
static int
bind_and_send(struct shell *sh, const char *sql, size_t len, struct bound *bound)
{
	cenote_params *params;
	const char *missing;
	size_t n;
	int r;

	r = session_ensure(sh);
	if (r != RUN_OK)
		return r;
	n = bound_init(bound, &sh->binds, sh->style, sh->lex_flags, sql, len, &missing);
	if (n > 0) {
		shell_error(sh,
			"ERROR 07002: %.*s has no value (give it one with -v or \\set)",
			(int)n, missing);
		return RUN_ERROR;
	}
	r = make_params(sh, bound, &params);
	if (r == RUN_OK) {
		r = send_bound(sh, bound, params);
		cenote_params_destroy(params);
	}
	if (r != RUN_OK)
		bound_finish(bound);
	return r;
}

int
run_send(struct shell *sh, const char *sql, size_t len)
{
	struct bound bound;
	int r = bind_and_send(sh, sql, len, &bound);

	if (r == RUN_OK)
		bound_finish(&bound);
	return r;
}

static struct output_column *
columns_of(const cenote_result *res)
{
	uint32_t n = cenote_result_n_columns(res), col;
	struct output_column *columns = mem_resize(NULL, n, sizeof(columns[0]));

	for (col = 0; col < n; col++) {
		const cenote_column *c = cenote_result_column(res, col);

		columns[col].name = cenote_column_text(c, CENOTE_COLUMN_NAME);
		columns[col].type = (uint32_t)cenote_column_int(c, CENOTE_COLUMN_TYPE);
	}
	return columns;
}

static void
put_rows(struct output *out, const cenote_result *res, struct cell *cells)
{
	uint64_t n_rows = cenote_result_n_rows(res), row;
	uint32_t n_columns = (uint32_t)out->n_columns, col;

	for (row = 0; row < n_rows && !out->has_failed; row++) {
		for (col = 0; col < n_columns; col++) {
			cells[col].len = 0;
			cells[col].text =
				cenote_result_text(res, row, col, &cells[col].len);
		}
		output_row(out, cells);
	}
}

/* Take rows until the last one, or until nobody reads them. Returns the status of the last step. */
static int
stream_rows(struct shell *sh, cenote_result *res, struct output *out)
{
	struct cell *cells = mem_resize(NULL, out->n_columns, sizeof(cells[0]));
	int r;

	while ((r = session_next(sh, res)) == CENOTE_ROW) {
		/* After Ctrl-C, do not show what still arrives. */
		if (sh->n_cancels == 0)
			put_rows(out, res, cells);
		if (sh->progress)
			progress_update(
				sh->progress, out->n_rows, out->n_bytes, run_now_ms());
		if (out->has_failed)
			break;
	}
	free(cells);
	return r;
}

static int
show_rows(struct shell *sh, cenote_result *res, const struct bound *bound)
{
	struct output_column *columns = columns_of(res);
	struct output *out = output_begin(sh->format, &sh->settings, sh->out, columns,
		cenote_result_n_columns(res));
	int r, written;

	errno = 0;
	r = stream_rows(sh, res, out);
	sh->n_shown = out->n_rows;
	written = output_end(out, r == CENOTE_DONE);
	free(columns);
	if (written < 0)
		return shell_output_failed(sh);
	if (r == CENOTE_ERR_SERVER) {
		shell_diag(sh, cenote_result_diag(res), text_str(&bound->sql),
			bound->sql.len);
		return RUN_ERROR;
	}
	return r < 0 ? session_failed(sh, r, text_str(&bound->sql), bound->sql.len)
		     : RUN_OK;
}

static void
show_command(struct shell *sh, const cenote_result *res)
{
	static const char *const changing[] = { "CREATE", "DROP", "ALTER", "ATTACH",
		"DETACH" };
	const char *tag = cenote_result_tag(res);
	size_t i;

	for (i = 0; i < sizeof(changing) / sizeof(changing[0]); i++) {
		if (strncmp(tag, changing[i], strlen(changing[i])) == 0)
			catalog_forget(&sh->catalog);
	}
	/* A tag would be in the middle of the data. */
	if (sh->format->is_for_people && *tag && !sh->is_copied_out)
		shell_say(sh, "%s", tag);
	sh->is_copied_out = 0;
}

static int
show_result(struct shell *sh, cenote_result *res, const struct bound *bound)
{
	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ROWS:
		return show_rows(sh, res, bound);
	case CENOTE_RESULT_ERROR:
		shell_diag(sh, cenote_result_diag(res), text_str(&bound->sql),
			bound->sql.len);
		return RUN_ERROR;
	case CENOTE_RESULT_COMMAND:
		show_command(sh, res);
		return RUN_OK;
	case CENOTE_RESULT_COPY_IN:
		return data_in(sh, res);
	case CENOTE_RESULT_COPY_OUT:
		return data_out(sh);
	default:
		return RUN_OK;
	}
}

static int
show_results(struct shell *sh, const struct bound *bound)
{
	cenote_result *res;
	int status = RUN_OK, r;

	while ((r = session_get_result(sh, &res)) == CENOTE_OK) {
		int shown = show_result(sh, res, bound);

		cenote_result_destroy(res);
		if (shown != RUN_OK)
			status = shown;
		if (shown == RUN_LOST)
			return shown;
	}
	if (r < 0)
		return session_failed(sh, r, text_str(&bound->sql), bound->sql.len);
	return status;
}

int
run_sql(struct shell *sh, const char *sql, size_t len)
{
	double begin = run_now_ms();
	struct bound bound;
	int r;

	sh->is_copied_out = 0;
	if (sh->is_echo)
		(void)fprintf(stderr, "%.*s;\n", (int)len, sql);
	r = bind_and_send(sh, sql, len, &bound);
	if (r == RUN_OK) {
		r = show_results(sh, &bound);
		bound_finish(&bound);
	}
	(void)shell_show_notes(sh);
	if (sh->is_timing)
		(void)fprintf(stderr, "Time: %.3f ms\n", run_now_ms() - begin);
	if (r != RUN_LOST && sh->n_cancels > 0)
		return RUN_INTERRUPTED;
	return r;
}

static int
is_null_throughout(const cenote_result *res, uint32_t col)
{
	uint64_t n = cenote_result_n_rows(res), row = 0;

	while (row < n && cenote_result_is_null(res, row, col))
		row++;
	return n > 0 && row == n;
}

/* Find the indexes of the picked columns that the result has, and their titles. */
static size_t
find_picked(struct shell *sh, const cenote_result *res, const struct run_pick *picks,
	uint32_t *indexes, struct output_column *columns)
{
	size_t n = 0;

	for (; picks->column && n < RUN_PICKS_MAX; picks++) {
		int64_t found = cenote_result_find_column(res, picks->column);
		uint32_t col = (uint32_t)found;

		if (found < 0 ||
			(sh->format->is_for_people && is_null_throughout(res, col)))
			continue;
		indexes[n] = col;
		columns[n].name = picks->title;
		columns[n].type = (uint32_t)cenote_column_int(
			cenote_result_column(res, col), CENOTE_COLUMN_TYPE);
		n++;
	}
	return n;
}

int
run_show_picked(struct shell *sh, const cenote_result *res, const struct run_pick *picks)
{
	struct output_column columns[RUN_PICKS_MAX];
	uint32_t indexes[RUN_PICKS_MAX];
	struct cell cells[RUN_PICKS_MAX];
	size_t n = find_picked(sh, res, picks, indexes, columns), i;
	struct output *out = output_begin(sh->format, &sh->settings, sh->out, columns, n);
	uint64_t row;

	for (row = 0; row < cenote_result_n_rows(res); row++) {
		for (i = 0; i < n; i++) {
			cells[i].len = 0;
			cells[i].text =
				cenote_result_text(res, row, indexes[i], &cells[i].len);
		}
		output_row(out, cells);
	}
	return output_end(out, 1) < 0 ? shell_output_failed(sh) : RUN_OK;
}

int
run_show_whole(struct shell *sh, const cenote_result *res)
{
	struct run_pick picks[RUN_PICKS_MAX + 1] = { { 0 } };
	uint32_t n = cenote_result_n_columns(res), col;

	for (col = 0; col < n && col < RUN_PICKS_MAX; col++) {
		picks[col].column = cenote_column_text(
			cenote_result_column(res, col), CENOTE_COLUMN_NAME);
		picks[col].title = picks[col].column;
	}
	return run_show_picked(sh, res, picks);
}
