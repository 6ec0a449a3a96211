/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statement: PDO's functions for execution, rows and rowsets. PDO calls these functions. The
 * state is pdo_cenote_stmt.
 */
#include "php_pdo_cenote_int.h"

/* ----------------------------------------------------------------------- results ----- */

static cenote_result *
current(const pdo_cenote_stmt *S)
{
	return S->current < S->n_results ? S->results[S->current] : NULL;
}

/* Drop the rowsets. Read the rest of a streamed statement, so that the connection is free. */
static void
drop_results(pdo_cenote_stmt *S)
{
	cenote_result *rest;

	for (uint32_t i = 0; i < S->n_results; i++)
		cenote_result_destroy(S->results[i]);
	S->n_results = S->current = 0;
	S->row = -1;
	while (S->is_streamed && cenote_get_result(S->H->conn, &rest) == CENOTE_OK)
		cenote_result_destroy(rest);
	S->is_streamed = false;
}

static void
keep_result(pdo_cenote_stmt *S, cenote_result *res)
{
	S->results = safe_erealloc(
		S->results, (size_t)S->n_results + 1, sizeof(*S->results), 0);
	S->results[S->n_results++] = res;
}

static bool
check(pdo_stmt_t *stmt, int status)
{
	const pdo_cenote_stmt *S = stmt->driver_data;

	if (status >= 0)
		return true;
	pdo_cenote_error(stmt->dbh, stmt, cenote_conn_diag(S->H->conn));
	return false;
}

/* Write the output values of a call to the bound variables, in order. */
static void
give_output(pdo_stmt_t *stmt, const cenote_result *res)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	uint32_t col = 0;

	for (uint32_t i = 0; i < S->n_values; i++) {
		struct pdo_bound_param_data *bound;

		ZEND_HASH_FOREACH_PTR(stmt->bound_params, bound)
		{
			zval value;

			if (bound->paramno != (zend_long)i ||
				!(bound->param_type & PDO_PARAM_INPUT_OUTPUT) ||
				!Z_ISREF(bound->parameter) ||
				col >= cenote_result_n_columns(res))
				continue;
			pdo_cenote_get_value(res, 0, col,
				pdo_cenote_type(cenote_result_column(res, col)), &value);
			col++;
			ZEND_TRY_ASSIGN_REF_TMP(&bound->parameter, &value);
		}
		ZEND_HASH_FOREACH_END();
	}
}

static bool
wants_output(const pdo_stmt_t *stmt)
{
	const struct pdo_bound_param_data *bound;

	if (!stmt->bound_params)
		return false;
	ZEND_HASH_FOREACH_PTR(stmt->bound_params, bound)
	{
		if (bound->param_type & PDO_PARAM_INPUT_OUTPUT)
			return true;
	}
	ZEND_HASH_FOREACH_END();
	return false;
}

/* Does the result have output values? PostgreSQL answers a CALL with an ordinary row. */
static bool
is_output(const pdo_stmt_t *stmt, const cenote_result *res)
{
	return cenote_result_flags(res) & CENOTE_RESULT_FLAG_OUTPUT ||
	       (strcmp(cenote_result_tag(res), "CALL") == 0 && wants_output(stmt));
}

/* Take this result and all later results, so that the connection is free. */
static bool
take_results(pdo_stmt_t *stmt, cenote_result *res)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	bool is_refused = false;
	int status = CENOTE_OK;

	for (; status == CENOTE_OK; status = cenote_get_result(S->H->conn, &res)) {
		if (is_output(stmt, res)) {
			give_output(stmt, res);
			cenote_result_destroy(res);
		} else if (pdo_cenote_is_copy(res)) {
			cenote_result_destroy(res);
			is_refused = true;
		} else {
			keep_result(S, res);
		}
	}
	if (is_refused)
		pdo_cenote_error_text(stmt->dbh, stmt, "0A000", PDO_CENOTE_NO_COPY);
	return check(stmt, status) && !is_refused;
}

/* Get the next batch of a streamed rowset: CENOTE_ROW or CENOTE_DONE; negative: the error is stored. */
static int
next_batch(pdo_stmt_t *stmt)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	cenote_result *res = current(S);
	int status = cenote_result_next(res);

	if (status == CENOTE_ERR_SERVER)
		pdo_cenote_error(stmt->dbh, stmt, cenote_result_diag(res));
	else
		check(stmt, status);
	return status;
}

/* Find the types of the columns once for all rows. */
static void
find_types(pdo_cenote_stmt *S, const cenote_result *res)
{
	uint32_t n = cenote_result_n_columns(res);

	S->types = safe_erealloc(S->types, (size_t)n, sizeof(*S->types), 1);
	for (uint32_t i = 0; i < n; i++)
		S->types[i] = pdo_cenote_type(cenote_result_column(res, i));
}

/* Make a rowset the current one for PDO. */
static bool
show_result(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	const cenote_result *res = current(S);
	int64_t affected;
	int kind;

	S->row = -1;
	if (!res) {
		php_pdo_stmt_set_column_count(stmt, 0);
		return true;
	}
	affected = cenote_result_affected_rows(res);
	kind = cenote_result_kind(res);
	pdo_cenote_note_result(S->H, res);
	if (kind == CENOTE_RESULT_ERROR) {
		pdo_cenote_error(stmt->dbh, stmt, cenote_result_diag(res));
		return false;
	}
	php_pdo_stmt_set_column_count(stmt, (int)cenote_result_n_columns(res));
	find_types(S, res);
	if (kind == CENOTE_RESULT_ROWS && (affected < 0 || stmt->column_count > 0))
		affected = (int64_t)cenote_result_n_rows(res);
	stmt->row_count = affected > 0 ? (zend_long)affected : 0;
	return true;
}

/* ----------------------------------------------------------------------- execute ----- */

static bool
fill_params(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	struct pdo_bound_param_data **values, *bound;
	uint32_t n_bound = 0;
	bool is_filled = true;

	values = ecalloc(S->n_values + 1, sizeof(struct pdo_bound_param_data *));
	if (stmt->bound_params) {
		ZEND_HASH_FOREACH_PTR(stmt->bound_params, bound)
		{
			if (bound->paramno >= 0 &&
				bound->paramno < (zend_long)S->n_values)
				values[bound->paramno] = bound;
			n_bound++;
		}
		ZEND_HASH_FOREACH_END();
	}
	for (uint32_t i = 0; i < S->n_values; i++)
		is_filled = is_filled && values[i];
	if (!is_filled || n_bound != S->n_values) {
		pdo_cenote_error_text(stmt->dbh, stmt, "HY093",
			"number of bound variables does not match number of tokens");
		is_filled = false;
	}

	if (is_filled && !S->params && cenote_params_create(NULL, &S->params) < 0) {
		pdo_cenote_error_text(stmt->dbh, stmt, "HY001", "out of memory");
		is_filled = false;
	}
	if (is_filled)
		cenote_params_clear(S->params);
	for (uint32_t i = 0; is_filled && i < S->n_params; i++)
		is_filled = pdo_cenote_add_value(stmt, values[S->values_of[i]]);
	efree(values);
	return is_filled;
}

/* Execute. The first execution sends the text, and the second one prepares the statement. */
static int
execute(pdo_stmt_t *stmt, cenote_exec_options *options, cenote_result **ret_res)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	const zend_string *sql = S->sql ? S->sql : stmt->active_query_string;
	int status;

	if (!S->sql || S->n_params == 0)
		return cenote_query(
			S->H->conn, ZSTR_VAL(sql), ZSTR_LEN(sql), NULL, options, ret_res);
	if (!S->was_executed)
		return cenote_query(S->H->conn, ZSTR_VAL(sql), ZSTR_LEN(sql), S->params,
			options, ret_res);
	if (!S->handle) {
		status = cenote_stmt_create(
			S->H->conn, ZSTR_VAL(sql), ZSTR_LEN(sql), &S->handle);
		if (status < 0)
			return status;
	}
	return cenote_stmt_execute(S->handle, S->params, options, ret_res);
}

/* Read the first batch at once: then other statements may run in between. */
static bool
begin_stream(pdo_stmt_t *stmt, cenote_result *res)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	bool has_rows = cenote_result_kind(res) == CENOTE_RESULT_ROWS;

	if (pdo_cenote_is_copy(res))
		return take_results(stmt, res);
	keep_result(S, res);
	return (!has_rows || next_batch(stmt) >= 0) && show_result(stmt);
}

static int
stmt_executer(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;

	pdo_cenote_error_clear(&S->error);
	drop_results(S);
	if (S->sql && !fill_params(stmt))
		return 0;
	options.format = CENOTE_FORMAT_CANONICAL;
	options.stream = S->prefetch > 0;
	options.batch_rows = (uint32_t)S->prefetch;
	if (!check(stmt, execute(stmt, &options, &res)))
		return 0;

	S->was_executed = true;
	S->is_streamed = options.stream;
	return S->is_streamed ? begin_stream(stmt, res)
			      : take_results(stmt, res) && show_result(stmt);
}

/* Skip the remaining rows: the next statements run only after that. */
static int
next_streamed_rowset(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	cenote_result *res;
	int status = current(S) ? CENOTE_ROW : CENOTE_DONE;

	while (status == CENOTE_ROW &&
		cenote_result_kind(current(S)) == CENOTE_RESULT_ROWS)
		status = next_batch(stmt);
	if (status < 0)
		return 0;
	cenote_result_destroy(current(S));
	S->n_results = 0;
	status = cenote_get_result(S->H->conn, &res);
	if (status == CENOTE_OK)
		return begin_stream(stmt, res);
	check(stmt, status);
	return 0;
}

static int
stmt_next_rowset(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;

	if (S->is_streamed)
		return next_streamed_rowset(stmt);
	if (S->current + 1 >= S->n_results)
		return 0;
	S->current++;
	return show_result(stmt);
}

/* ------------------------------------------------------------------------- fetch ----- */

/* The row that a fetch asks for. -1 is before the first row, n_rows after the last. */
static zend_long
wanted_row(const pdo_cenote_stmt *S, enum pdo_fetch_orientation ori, zend_long offset,
	zend_long n_rows)
{
	switch (ori) {
	case PDO_FETCH_ORI_PRIOR:
		return S->row - 1;
	case PDO_FETCH_ORI_FIRST:
		return 0;
	case PDO_FETCH_ORI_LAST:
		return n_rows - 1;
	case PDO_FETCH_ORI_ABS:
		return offset < 0 ? n_rows + offset : offset - 1;
	case PDO_FETCH_ORI_REL:
		return S->row + offset;
	default:
		return S->row + 1;
	}
}

/* Make fetchAll() report an error: it checks for an error only at its first row. Without this, a
 * later error would look like the end. */
static void
tell_fetch_all(pdo_stmt_t *stmt)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	const zend_execute_data *call = EG(current_execute_data);

	if (!call || !call->func->common.function_name ||
		!zend_string_equals_literal_ci(
			call->func->common.function_name, "fetchAll"))
		return;
	if (stmt->dbh->error_mode == PDO_ERRMODE_EXCEPTION)
		pdo_throw_exception((unsigned int)S->error.native, S->error.message,
			&stmt->error_code);
	else if (stmt->dbh->error_mode == PDO_ERRMODE_WARNING)
		php_error_docref(NULL, E_WARNING, "SQLSTATE[%s]: %s", stmt->error_code,
			S->error.message);
}

static bool
fetch_next_batch(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	bool is_first = S->row < 0;
	int status = next_batch(stmt);

	S->row = 0;
	if (status < 0 && !is_first)
		tell_fetch_all(stmt);
	return status == CENOTE_ROW;
}

static int
stmt_fetcher(pdo_stmt_t *stmt, enum pdo_fetch_orientation ori, zend_long offset)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	const cenote_result *res = current(S);
	zend_long n_rows, row;

	if (!res || stmt->column_count == 0)
		return 0;
	n_rows = (zend_long)cenote_result_n_rows(res);
	row = wanted_row(S, ori, offset, n_rows);
	if (S->is_streamed && row >= n_rows)
		return fetch_next_batch(stmt);
	S->row = row < 0 ? -1 : MIN(row, n_rows);
	return row >= 0 && row < n_rows;
}

static int
stmt_describer(pdo_stmt_t *stmt, int colno)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	const cenote_column *column = cenote_result_column(current(S), (uint32_t)colno);
	struct pdo_column_data *data = &stmt->columns[colno];
	const char *name = cenote_column_text(column, CENOTE_COLUMN_NAME);
	int64_t len = cenote_column_int(column, CENOTE_COLUMN_LENGTH);
	int64_t precision = cenote_column_int(column, CENOTE_COLUMN_PRECISION);

	data->name = zend_string_init(name, strlen(name), 0);
	data->maxlen = len < 0 ? SIZE_MAX : (size_t)len;
	data->precision = precision < 0 ? 0 : (zend_ulong)precision;
	return 1;
}

static int
stmt_get_col(pdo_stmt_t *stmt, int colno, zval *result, enum pdo_param_type *type)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	const cenote_result *res = current(S);

	(void)type;
	if (!res || S->row < 0)
		return 0;
	pdo_cenote_get_value(
		res, (uint64_t)S->row, (uint32_t)colno, S->types[colno], result);
	return 1;
}

static int
stmt_get_column_meta(pdo_stmt_t *stmt, zend_long colno, zval *return_value)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	const cenote_result *res = current(S);
	const cenote_column *column =
		res ? cenote_result_column(res, (uint32_t)colno) : NULL;
	zval flags;

	if (!column)
		return FAILURE;
	array_init(return_value);
	array_init(&flags);
	if (cenote_column_int(column, CENOTE_COLUMN_NULLABLE) == 0)
		add_next_index_string(&flags, "not_null");
	if (cenote_column_int(column, CENOTE_COLUMN_TYPE) == CENOTE_TYPE_BYTES)
		add_next_index_string(&flags, "blob");
	add_assoc_string(return_value, "native_type",
		cenote_column_text(column, CENOTE_COLUMN_TYPE_NAME));
	add_assoc_long(return_value, "cenote:native_type_id",
		(zend_long)cenote_column_int(column, CENOTE_COLUMN_NATIVE_TYPE));
	add_assoc_zval(return_value, "flags", &flags);
	add_assoc_string(
		return_value, "table", cenote_column_text(column, CENOTE_COLUMN_TABLE));
	add_assoc_long(return_value, "pdo_type", pdo_cenote_column_type(column));
	return SUCCESS;
}

/* -------------------------------------------------------------------- parameters ----- */

/* The number, from 0, of the value for a name. */
static int
find_value(pdo_stmt_t *stmt, struct pdo_bound_param_data *param)
{
	const zend_string *placeholder =
		stmt->bound_param_map
			? zend_hash_find_ptr(stmt->bound_param_map, param->name)
			: NULL;

	if (!placeholder) {
		pdo_cenote_error_text(
			stmt->dbh, stmt, "HY093", "parameter was not defined");
		return 0;
	}
	param->paramno = pdo_cenote_value_of(placeholder);
	return 1;
}

/* Write a boolean. PDO itself writes 1 and 0, which strict servers do not accept as booleans. */
static void
write_truth(struct pdo_bound_param_data *param)
{
	const char *text;

	if (PDO_PARAM_TYPE(param->param_type) != PDO_PARAM_BOOL ||
		param->param_type & PDO_PARAM_INPUT_OUTPUT ||
		Z_TYPE(param->parameter) == IS_NULL)
		return;
	text = zend_is_true(&param->parameter) ? "t" : "f";
	param->param_type = PDO_PARAM_STR;
	zval_ptr_dtor(&param->parameter);
	ZVAL_STRING(&param->parameter, text);
}

static int
stmt_param_hook(pdo_stmt_t *stmt, struct pdo_bound_param_data *param,
	enum pdo_param_event event_type)
{
	const pdo_cenote_stmt *S = stmt->driver_data;

	if (!param->is_param)
		return 1;
	if (!S->sql) {
		if (event_type == PDO_PARAM_EVT_NORMALIZE && S->H->dialect->finds_types)
			write_truth(param);
		return 1;
	}
	if (event_type == PDO_PARAM_EVT_NORMALIZE && param->name)
		return find_value(stmt, param);
	if (event_type == PDO_PARAM_EVT_ALLOC && stmt->bound_param_map &&
		param->paramno >= (zend_long)S->n_values) {
		pdo_cenote_error_text(
			stmt->dbh, stmt, "HY093", "parameter was not defined");
		return 0;
	}
	return 1;
}

/* ----------------------------------------------------------------- attributes, end ----- */

static int
stmt_get_attribute(pdo_stmt_t *stmt, zend_long attr, zval *ret_value)
{
	const pdo_cenote_stmt *S = stmt->driver_data;

	if (attr == PDO_ATTR_PREFETCH)
		ZVAL_LONG(ret_value, (zend_long)S->prefetch);
	else if (attr == PDO_ATTR_EMULATE_PREPARES)
		ZVAL_BOOL(ret_value, !S->sql);
	else
		return 0;
	return 1;
}

static int
stmt_cursor_closer(pdo_stmt_t *stmt)
{
	drop_results(stmt->driver_data);
	return 1;
}

/* Does the connection still exist? At the end of a request, PHP destroys objects in any order. */
static bool
has_connection(const pdo_stmt_t *stmt)
{
	return !Z_ISUNDEF(stmt->database_object_handle) &&
	       IS_OBJ_VALID(EG(objects_store)
				    .object_buckets[Z_OBJ_HANDLE(
					    stmt->database_object_handle)]) &&
	       !(OBJ_FLAGS(Z_OBJ(stmt->database_object_handle)) & IS_OBJ_FREE_CALLED);
}

static int
stmt_dtor(pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;

	S->is_streamed = S->is_streamed && has_connection(stmt);
	drop_results(S);
	cenote_stmt_destroy(S->handle);
	cenote_params_destroy(S->params);
	pdo_cenote_error_clear(&S->error);
	if (S->sql)
		zend_string_release(S->sql);
	if (S->values_of)
		efree(S->values_of);
	if (S->results)
		efree(S->results);
	if (S->types)
		efree(S->types);
	efree(S);
	stmt->driver_data = NULL;
	return 1;
}

const struct pdo_stmt_methods pdo_cenote_stmt_methods = {
	.dtor = stmt_dtor,
	.executer = stmt_executer,
	.fetcher = stmt_fetcher,
	.describer = stmt_describer,
	.get_col = stmt_get_col,
	.param_hook = stmt_param_hook,
	.get_attribute = stmt_get_attribute,
	.get_column_meta = stmt_get_column_meta,
	.next_rowset = stmt_next_rowset,
	.cursor_closer = stmt_cursor_closer,
};
