/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements, their results, and copies. */
#include "cer.h"

/*
 * The number of values, and of their bytes, that one call makes into terms. That takes some
 * hundredths of a millisecond. With 4,096 values, each value would take three times as long,
 * because they outgrow the heap within one call.
 */
#define CELLS_AT_A_TIME 512
#define BYTES_AT_A_TIME (64 * 1024)
/* This many values take about one per cent of a time slice, of one millisecond. */
#define CELLS_A_PERCENT 200

ERL_NIF_TERM
cer_status(struct cer_conn *c, int status)
{
	switch (status) {
	case CENOTE_OK:
		return cer_atom.ok;
	case CENOTE_AGAIN:
		return cer_atom.again;
	case CENOTE_DONE:
		return cer_atom.done;
	default:
		return cer_error(c->env, status, cenote_conn_diag(c->conn));
	}
}

/* --------------------------------------------------------------------------- rows ----- */

void
cer_reading_end(struct cer_conn *c)
{
	if (c->reading.is_owned)
		cenote_result_destroy(c->reading.res);
	c->reading.res = NULL;
	c->reading.is_owned = 0;
}

static int
reserve_columns(struct cer_reading *r, uint32_t n)
{
	if (n <= r->cap_columns)
		return 0;
	enif_free(r->decode);
	enif_free(r->cells);
	r->cap_columns = 0;
	r->decode = enif_alloc(n * sizeof(*r->decode));
	r->cells = enif_alloc(n * sizeof(*r->cells));
	if (!r->decode || !r->cells)
		return -1;
	r->cap_columns = n;
	return 0;
}

/* `is_owned`: destroy the result after its last row. */
static int
reading_begin(struct cer_conn *c, cenote_result *res, int is_owned)
{
	struct cer_reading *r = &c->reading;
	uint32_t n = cenote_result_n_columns(res);

	cer_reading_end(c);
	if (reserve_columns(r, n) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		r->decode[i] = cer_decoder(
			c->is_text ? CENOTE_TYPE_TEXT
				   : (int)cenote_column_int(cenote_result_column(res, i),
					     CENOTE_COLUMN_TYPE));
	r->res = res;
	r->is_owned = is_owned;
	r->n_columns = n;
	return 0;
}

static ERL_NIF_TERM
row_term(struct cer_conn *c, const uint8_t *row, size_t *n_bytes)
{
	const struct cer_reading *r = &c->reading;

	for (uint32_t col = 0; col < r->n_columns; col++) {
		size_t len = 0;
		const char *text = cenote_row_text(row, r->n_columns, col, &len);

		*n_bytes += len;
		if (!text)
			r->cells[col] = cer_atom.null;
		else if (!r->decode[col](c->env, text, len, &r->cells[col]))
			r->cells[col] = cer_binary(c->env, text, len);
	}
	return enif_make_tuple_from_array(c->env, r->cells, r->n_columns);
}

/* Read the rows from the last to the first, so that the list need not be reversed. */
ERL_NIF_TERM
cer_rows(struct cer_conn *c, uint64_t left, ERL_NIF_TERM rows)
{
	const struct cer_reading *r = &c->reading;
	const uint8_t *const *all = r->res ? cenote_result_rows(r->res) : NULL;
	uint64_t n = r->res ? cenote_result_n_rows(r->res) : 0;
	size_t n_cells = 0, n_bytes = 0;

	left = left < n && all ? left : (all ? n : 0);
	while (left > 0 && n_cells < CELLS_AT_A_TIME && n_bytes < BYTES_AT_A_TIME) {
		left--;
		rows = enif_make_list_cell(
			c->env, row_term(c, all[left], &n_bytes), rows);
		n_cells += r->n_columns;
	}
	if (left == 0)
		cer_reading_end(c);
	(void)enif_consume_timeslice(c->env, 1 + (int)(n_cells / CELLS_A_PERCENT));
	return enif_make_tuple2(c->env, enif_make_uint64(c->env, left), rows);
}

/* ------------------------------------------------------------------------ results ----- */

/* {Tag, Affected, LastInsertId, Warnings, Flags} */
static ERL_NIF_TERM
info_term(ErlNifEnv *env, const cenote_result *res)
{
	return enif_make_tuple5(env, cer_binary_of(env, cenote_result_tag(res)),
		enif_make_int64(env, cenote_result_affected_rows(res)),
		enif_make_uint64(env, cenote_result_last_insert_id(res)),
		enif_make_uint(env, cenote_result_warnings(res)),
		enif_make_uint(env, cenote_result_flags(res)));
}

static const cenote_column *
result_column(const void *of, uint32_t col)
{
	return cenote_result_column(of, col);
}

static const cenote_column *
stmt_column(const void *of, uint32_t col)
{
	return cenote_stmt_column(of, col);
}

static ERL_NIF_TERM
columns_term(ErlNifEnv *env, const cenote_result *res)
{
	return cer_columns(env, cenote_result_n_columns(res), result_column, res);
}

static ERL_NIF_TERM
no_memory(ErlNifEnv *env)
{
	return cer_error_text(env, CENOTE_ERR_NOMEM, "HY001", "out of memory");
}

/* {rows, Columns, Info, {Left, Rows}}, or {cursor, Handle, Columns} */
static ERL_NIF_TERM
give_rows(struct cer_conn *c, cenote_result *res)
{
	ERL_NIF_TERM columns = columns_term(c->env, res), info;

	if (c->is_streamed)
		return enif_make_tuple3(c->env, enif_make_atom(c->env, "cursor"),
			cer_handle_new(c, NULL, res), columns);
	info = info_term(c->env, res);
	if (reading_begin(c, res, 1) < 0) {
		cenote_result_destroy(res);
		return no_memory(c->env);
	}
	return enif_make_tuple4(c->env, cer_atom.rows, columns, info,
		cer_rows(c, UINT64_MAX, enif_make_list(c->env, 0)));
}

static ERL_NIF_TERM
give_command(struct cer_conn *c, cenote_result *res)
{
	ERL_NIF_TERM info = info_term(c->env, res);

	cenote_result_destroy(res);
	return enif_make_tuple2(c->env, enif_make_atom(c->env, "command"), info);
}

static ERL_NIF_TERM
give_error(struct cer_conn *c, cenote_result *res)
{
	ERL_NIF_TERM error = cer_diag(c->env, CENOTE_ERR_SERVER, cenote_result_diag(res));

	cenote_result_destroy(res);
	return enif_make_tuple2(c->env, cer_atom.failed, error);
}

static ERL_NIF_TERM
give_copy(struct cer_conn *c, cenote_result *res)
{
	int is_in = cenote_result_kind(res) == CENOTE_RESULT_COPY_IN;

	c->copy = res;
	return enif_make_atom(c->env, is_in ? "copy_in" : "copy_out");
}

static ERL_NIF_TERM
give_skipped(struct cer_conn *c, cenote_result *res)
{
	cenote_result_destroy(res);
	return enif_make_atom(c->env, "skipped");
}

static ERL_NIF_TERM
give_nothing(struct cer_conn *c, cenote_result *res)
{
	cenote_result_destroy(res);
	return enif_make_atom(c->env, "sync");
}

/* No arguments. Returns one result of the oldest request. */
static ERL_NIF_TERM
op_result(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	static ERL_NIF_TERM (*const givers[])(
		struct cer_conn * c, cenote_result * res) = {
		[CENOTE_RESULT_ROWS] = give_rows,
		[CENOTE_RESULT_COMMAND] = give_command,
		[CENOTE_RESULT_ERROR] = give_error,
		[CENOTE_RESULT_SKIPPED] = give_skipped,
		[CENOTE_RESULT_SYNC] = give_nothing,
		[CENOTE_RESULT_DESCRIPTION] = give_nothing,
		[CENOTE_RESULT_COPY_IN] = give_copy,
		[CENOTE_RESULT_COPY_OUT] = give_copy,
	};
	cenote_result *res;
	int r, kind;

	(void)args;
	/* Asking for a result ends the copy. */
	cenote_result_destroy(c->copy);
	c->copy = NULL;
	r = cenote_get_result(c->conn, &res);
	if (r != CENOTE_OK)
		return cer_status(c, r);
	kind = cenote_result_kind(res);
	if (kind < 0 || (size_t)kind >= sizeof(givers) / sizeof(givers[0]) ||
		!givers[kind])
		return give_nothing(c, res);
	return givers[kind](c, res);
}

/* ----------------------------------------------------------------------- requests ----- */

/* Arguments: SQL or a statement; values or null; text or canonical; rows at a time, 0 for all;
 * limit. The request copies all values, even if it returns `again`: later calls write the rest. */
static ERL_NIF_TERM
op_send(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	const struct cer_part *part = cer_handle_part(c, args[0]);
	const cenote_stmt *stmt = part ? part->stmt : NULL;
	const cenote_params *params = args[1] == cer_atom.null ? NULL : c->params;
	ERL_NIF_TERM error;
	ErlNifUInt64 max_rows;
	ErlNifBinary sql;
	int r;

	if ((!stmt && !enif_inspect_iolist_as_binary(c->env, args[0], &sql)) ||
		!enif_get_uint(c->env, args[3], &options.batch_rows) ||
		!enif_get_uint64(c->env, args[4], &max_rows))
		return enif_make_badarg(c->env);
	if (params && cer_params_fill(c, args[1], stmt, &error) < 0)
		return error;
	c->is_text = args[2] == enif_make_atom(c->env, "text");
	c->is_streamed = options.batch_rows > 0;
	options.format = c->is_text ? CENOTE_FORMAT_TEXT : CENOTE_FORMAT_CANONICAL;
	options.stream = (uint32_t)c->is_streamed;
	options.max_rows = max_rows;
	if (stmt)
		r = cenote_send_execute(part->stmt, params, &options);
	else
		r = cenote_send_query(
			c->conn, (const char *)sql.data, sql.size, params, &options);
	return cer_status(c, r);
}

/* Arguments: SQL. */
static ERL_NIF_TERM
op_statement(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	ErlNifBinary text;
	cenote_stmt *stmt;
	int r;

	if (!enif_inspect_iolist_as_binary(c->env, args[0], &text))
		return enif_make_badarg(c->env);
	r = cenote_stmt_create(c->conn, (const char *)text.data, text.size, &stmt);
	if (r < 0)
		return cer_status(c, r);
	return enif_make_tuple2(c->env, cer_atom.ok, cer_handle_new(c, stmt, NULL));
}

/* Arguments: a statement. */
static ERL_NIF_TERM
op_prepare(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const struct cer_part *part = cer_handle_part(c, args[0]);

	if (!part || !part->stmt)
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_stmt_prepare(part->stmt));
}

/* Arguments: a statement. Returns {ok, Types, Columns}. */
static ERL_NIF_TERM
op_describe(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const struct cer_part *part = cer_handle_part(c, args[0]);
	ERL_NIF_TERM types = enif_make_list(c->env, 0);

	if (!part || !part->stmt)
		return enif_make_badarg(c->env);
	for (uint32_t i = cenote_stmt_n_params(part->stmt); i > 0; i--)
		types = enif_make_list_cell(c->env,
			cer_type_atom(cenote_stmt_param_type(part->stmt, i - 1)), types);
	return enif_make_tuple3(c->env, cer_atom.ok, types,
		cer_columns(c->env, cenote_stmt_n_columns(part->stmt), stmt_column,
			part->stmt));
}

static ERL_NIF_TERM
cursor_done(struct cer_conn *c, struct cer_part *part)
{
	cer_part_destroy(c, part);
	part->is_done = 1;
	return cer_atom.done;
}

/* Arguments: a cursor. Gets a batch of rows. Returns ok, done or {failed, Error}. */
static ERL_NIF_TERM
op_advance(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	struct cer_part *part = cer_handle_part(c, args[0]);
	ERL_NIF_TERM error;
	int r;

	if (!part || (!part->res && !part->is_done))
		return enif_make_badarg(c->env);
	if (part->has_batch || part->is_done)
		return part->is_done ? cer_atom.done : cer_atom.ok;
	r = cenote_result_next(part->res);
	part->has_batch = r == CENOTE_ROW;
	switch (r) {
	case CENOTE_ROW:
		return cer_atom.ok;
	case CENOTE_DONE:
		return cursor_done(c, part);
	case CENOTE_ERR_SERVER:
		error = cer_diag(c->env, r, cenote_result_diag(part->res));
		(void)cursor_done(c, part);
		return enif_make_tuple2(c->env, cer_atom.failed, error);
	default:
		return cer_status(c, r);
	}
}

/* Arguments: a cursor that has a batch. Returns {Left, Rows}. */
static ERL_NIF_TERM
op_batch(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	struct cer_part *part = cer_handle_part(c, args[0]);

	if (!part || !part->has_batch)
		return enif_make_badarg(c->env);
	part->has_batch = 0;
	c->is_text = 0;
	if (reading_begin(c, part->res, 0) < 0)
		return no_memory(c->env);
	return cer_rows(c, UINT64_MAX, enif_make_list(c->env, 0));
}

/* Arguments: a statement or cursor. */
static ERL_NIF_TERM
op_drop(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	struct cer_part *part = cer_handle_part(c, args[0]);

	if (!part)
		return enif_make_badarg(c->env);
	cer_part_destroy(c, part);
	return cer_atom.ok;
}

/* ------------------------------------------------------------------------- copies ----- */

/* Arguments: a piece. Returns done if the server has ended the copy. */
static ERL_NIF_TERM
op_copy_put(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	ErlNifBinary data;

	if (!enif_inspect_iolist_as_binary(c->env, args[0], &data))
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_copy_put(c->conn, data.data, data.size));
}

/* Arguments: the reason for giving up, or null. */
static ERL_NIF_TERM
op_copy_end(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *why = NULL;

	if (args[0] != cer_atom.null && !(why = cer_text(c->env, args[0])))
		return enif_make_badarg(c->env);
	return cer_status(c, cenote_copy_end(c->conn, why));
}

/* No arguments. Returns {ok, Piece} or done. */
static ERL_NIF_TERM
op_copy_get(struct cer_conn *c, const ERL_NIF_TERM *args)
{
	const char *data;
	size_t len;
	int r = cenote_copy_get(c->conn, &data, &len);

	(void)args;
	if (r != CENOTE_OK)
		return cer_status(c, r);
	return enif_make_tuple2(c->env, cer_atom.ok, cer_binary(c->env, data, len));
}

struct cer_op cer_request_ops[] = {
	{ .name = "result", .arity = 0, .run = op_result },
	{ .name = "send", .arity = 5, .run = op_send },
	{ .name = "advance", .arity = 1, .run = op_advance },
	{ .name = "batch", .arity = 1, .run = op_batch },
	{ .name = "statement", .arity = 1, .run = op_statement },
	{ .name = "prepare", .arity = 1, .run = op_prepare },
	{ .name = "describe", .arity = 1, .run = op_describe },
	{ .name = "drop", .arity = 1, .run = op_drop },
	{ .name = "copy_put", .arity = 1, .run = op_copy_put },
	{ .name = "copy_end", .arity = 1, .run = op_copy_end },
	{ .name = "copy_get", .arity = 0, .run = op_copy_get },
	{ 0 },
};
