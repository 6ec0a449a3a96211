/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection: PDO's functions for a database handle. PDO calls these functions. The state is
 * pdo_cenote_db_handle.
 */
#include "php_pdo_cenote_int.h"

#include <zend_exceptions.h>

/* ------------------------------------------------------------------------ errors ----- */

void
pdo_cenote_error_clear(pdo_cenote_error_info *error)
{
	free(error->message);
	error->message = NULL;
	error->native = 0;
}

static void
set_error(pdo_dbh_t *dbh, pdo_stmt_t *stmt, const char *sqlstate, zend_long native,
	const char *message)
{
	pdo_cenote_db_handle *H = dbh->driver_data;
	pdo_cenote_stmt *S = stmt ? stmt->driver_data : NULL;
	pdo_cenote_error_info *error = S ? &S->error : &H->error;
	pdo_error_type *code = stmt ? &stmt->error_code : &dbh->error_code;

	pdo_cenote_error_clear(error);
	error->native = native;
	error->message = strdup(message);
	snprintf(*code, sizeof(*code), "%s", sqlstate);
	if (!dbh->methods)
		pdo_throw_exception((unsigned int)native, (char *)message, code);
}

void
pdo_cenote_error(pdo_dbh_t *dbh, pdo_stmt_t *stmt, const cenote_diag *diag)
{
	const char *detail = cenote_diag_field(diag, 'D'),
		   *hint = cenote_diag_field(diag, 'H');
	char *message;

	spprintf(&message, 0, "%s%s%s%s%s", cenote_diag_message(diag),
		detail ? "\nDETAIL:  " : "", detail ? detail : "",
		hint ? "\nHINT:  " : "", hint ? hint : "");
	set_error(
		dbh, stmt, cenote_diag_sqlstate(diag), cenote_diag_native(diag), message);
	efree(message);
}

void
pdo_cenote_error_text(
	pdo_dbh_t *dbh, pdo_stmt_t *stmt, const char *sqlstate, const char *message)
{
	set_error(dbh, stmt, sqlstate, 0, message);
}

static void
dbh_fetch_error(pdo_dbh_t *dbh, pdo_stmt_t *stmt, zval *info)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;
	const pdo_cenote_stmt *S = stmt ? stmt->driver_data : NULL;
	const pdo_cenote_error_info *error = S ? &S->error : &H->error;

	if (!error->message)
		return;
	add_next_index_long(info, error->native);
	add_next_index_string(info, error->message);
}

/* Did a call on the connection succeed? If not, store its error. */
static bool
check(pdo_dbh_t *dbh, int status)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	if (status >= 0)
		return true;
	pdo_cenote_error(dbh, NULL, cenote_conn_diag(H->conn));
	return false;
}

/* -------------------------------------------------------------------- connection ----- */

static void
dbh_closer(pdo_dbh_t *dbh)
{
	pdo_cenote_db_handle *H = dbh->driver_data;

	if (!H)
		return;
	cenote_conn_destroy(H->conn);
	pdo_cenote_error_clear(&H->error);
	pefree(H, dbh->is_persistent);
	dbh->driver_data = NULL;
}

void
pdo_cenote_note_result(pdo_cenote_db_handle *H, const cenote_result *res)
{
	uint32_t status = cenote_result_server_status(res);
	int kind = cenote_result_kind(res);

	if (kind == CENOTE_RESULT_ERROR)
		return;
	H->last_id = (zend_ulong)cenote_result_last_insert_id(res);
	/* A result with rows has no status until its end. */
	if (status != 0 || kind == CENOTE_RESULT_COMMAND)
		H->server_status = status;
}

bool
pdo_cenote_is_copy(const cenote_result *res)
{
	int kind = cenote_result_kind(res);

	return kind == CENOTE_RESULT_COPY_IN || kind == CENOTE_RESULT_COPY_OUT;
}

/* Is a result of exec() an error? If so, store the error. */
static bool
has_error(pdo_dbh_t *dbh, const cenote_result *res)
{
	if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
		pdo_cenote_error(dbh, NULL, cenote_result_diag(res));
	else if (pdo_cenote_is_copy(res))
		pdo_cenote_error_text(dbh, NULL, "0A000", PDO_CENOTE_NO_COPY);
	else
		return false;
	return true;
}

/* Take all results of a text with one or more statements. Returns the affected rows of the last
 * statement; or -1, and the error is stored. */
static zend_long
run(pdo_dbh_t *dbh, const zend_string *sql)
{
	pdo_cenote_db_handle *H = dbh->driver_data;
	cenote_result *res;
	zend_long n_rows = 0;
	bool has_failed = false;
	int status =
		cenote_query(H->conn, ZSTR_VAL(sql), ZSTR_LEN(sql), NULL, NULL, &res);

	while (status == CENOTE_OK) {
		int64_t affected = cenote_result_affected_rows(res);

		has_failed = has_failed || has_error(dbh, res);
		pdo_cenote_note_result(H, res);
		n_rows = affected > 0 ? (zend_long)affected : 0;
		cenote_result_destroy(res);
		status = cenote_get_result(H->conn, &res);
	}
	/* Report the first error. */
	return has_failed || !check(dbh, status) ? -1 : n_rows;
}

static zend_long
dbh_doer(pdo_dbh_t *dbh, const zend_string *sql)
{
	return run(dbh, sql);
}

static zend_string *
dbh_quoter(pdo_dbh_t *dbh, const zend_string *unquoted, enum pdo_param_type type)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	return H->dialect->quote(H->conn, H->server_status, unquoted, type);
}

static bool
dbh_begin(pdo_dbh_t *dbh)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	return check(dbh, cenote_begin(H->conn, CENOTE_ISOLATION_DEFAULT, 0));
}

static bool
dbh_commit(pdo_dbh_t *dbh)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	return check(dbh, cenote_commit(H->conn));
}

static bool
dbh_rollback(pdo_dbh_t *dbh)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	return check(dbh, cenote_rollback(H->conn));
}

static bool
dbh_in_transaction(pdo_dbh_t *dbh)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;
	int state = cenote_tx_state(H->conn);

	return state == CENOTE_TX_OPEN || state == CENOTE_TX_FAILED;
}

/* Get the single value of a query; or NULL, and the error is stored. */
static zend_string *
one_value(pdo_dbh_t *dbh, const char *sql, const zend_string *param)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;
	cenote_params *params = NULL;
	cenote_result *res = NULL;
	zend_string *value = NULL;
	const char *text;
	size_t len;
	int status = CENOTE_OK;

	if (param) {
		status = cenote_params_create(NULL, &params);
		if (status == CENOTE_OK)
			status = cenote_params_add_text(
				params, ZSTR_VAL(param), ZSTR_LEN(param));
	}
	if (status == CENOTE_OK)
		status = cenote_query(H->conn, sql, CENOTE_NTS, params, NULL, &res);
	cenote_params_destroy(params);
	if (!check(dbh, status))
		return NULL;
	text = cenote_result_text(res, 0, 0, &len);
	value = text ? zend_string_init(text, len, 0) : ZSTR_CHAR('0');
	cenote_result_destroy(res);
	return check(dbh, cenote_get_result(H->conn, &res)) ? value : NULL;
}

static zend_string *
dbh_last_id(pdo_dbh_t *dbh, const zend_string *name)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;

	if (name && H->dialect->last_id_of_sequence)
		return one_value(dbh, H->dialect->last_id_of_sequence, name);
	if (H->dialect->last_id)
		return one_value(dbh, H->dialect->last_id, NULL);
	return zend_ulong_to_str(H->last_id);
}

/* -------------------------------------------------------------------- statements ----- */

uint32_t
pdo_cenote_value_of(const zend_string *placeholder)
{
	/* The placeholder contains only one number: that of the value, from 1. */
	const char *digits =
		ZSTR_VAL(placeholder) + strcspn(ZSTR_VAL(placeholder), "0123456789");

	return (uint32_t)ZEND_ATOL(digits) - 1;
}

/* Count the parameters of the rewritten text, and find the value for each of them. */
static void
count_parameters(const pdo_stmt_t *stmt)
{
	pdo_cenote_stmt *S = stmt->driver_data;
	const HashTable *map = stmt->bound_param_map;
	zend_string *placeholder;
	uint32_t n = 0;

	if (!map)
		return;
	S->values_of =
		safe_emalloc(zend_hash_num_elements(map), sizeof(*S->values_of), 0);
	while ((placeholder = zend_hash_index_find_ptr(map, n))) {
		uint32_t value = pdo_cenote_value_of(placeholder);

		S->values_of[n++] = value;
		S->n_values = MAX(S->n_values, value + 1);
	}
	S->n_params = n;
	if (!S->H->dialect->has_anonymous_placeholders) {
		for (uint32_t i = 0; i < S->n_values; i++)
			S->values_of[i] = i;
		S->n_params = S->n_values;
	}
}

static bool
dbh_preparer(pdo_dbh_t *dbh, zend_string *sql, pdo_stmt_t *stmt, zval *driver_options)
{
	pdo_cenote_db_handle *H = dbh->driver_data;
	pdo_cenote_stmt *S = ecalloc(1, sizeof(*S));
	zend_string *rewritten = NULL;
	int parsed;

	S->H = H;
	S->row = -1;
	S->prefetch = (zend_ulong)pdo_attr_lval(
		driver_options, PDO_ATTR_PREFETCH, (zend_long)H->prefetch);
	stmt->driver_data = S;
	stmt->methods = &pdo_cenote_stmt_methods;
	if (pdo_attr_lval(driver_options, PDO_ATTR_EMULATE_PREPARES, H->emulates)) {
		stmt->supports_placeholders = PDO_PLACEHOLDER_NONE;
		return true;
	}

	stmt->supports_placeholders = PDO_PLACEHOLDER_NAMED;
	stmt->named_rewrite_template = H->dialect->placeholder;
	parsed = pdo_parse_params(stmt, sql, &rewritten);
	if (parsed < 0) {
		memcpy(dbh->error_code, stmt->error_code, sizeof(dbh->error_code));
		return false;
	}
	S->sql = parsed ? rewritten : zend_string_copy(sql);
	count_parameters(stmt);
	return true;
}

/* -------------------------------------------------------------------- attributes ----- */

static bool
set_autocommit(pdo_dbh_t *dbh, zval *value)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;
	bool on;

	if (!pdo_get_bool_param(&on, value))
		return false;
	if (on == dbh->auto_commit)
		return true;
	if (!check(dbh, cenote_set_autocommit(H->conn, on)))
		return false;
	dbh->auto_commit = on;
	return true;
}

static bool
dbh_set_attribute(pdo_dbh_t *dbh, zend_long attr, zval *value)
{
	pdo_cenote_db_handle *H = dbh->driver_data;
	zend_long number;

	switch (attr) {
	case PDO_ATTR_AUTOCOMMIT:
		return set_autocommit(dbh, value);
	case PDO_ATTR_EMULATE_PREPARES:
		return pdo_get_bool_param(&H->emulates, value);
	case PDO_ATTR_PREFETCH:
		if (!pdo_get_long_param(&number, value) || number < 0 ||
			(zend_ulong)number > UINT32_MAX)
			return false;
		H->prefetch = (zend_ulong)number;
		return true;
	default:
		return false;
	}
}

static void
get_fact(const cenote_conn *conn, const char *name, zval *ret_value)
{
	const char *fact = cenote_info(conn, name);

	ZVAL_STRING(ret_value, fact ? fact : "");
}

static void
get_server_info(const cenote_conn *conn, zval *ret_value)
{
	static const char *const facts[] = { "pool", "backend", "server", "database" };
	char *text;
	const char *fact[4];

	for (size_t i = 0; i < 4; i++) {
		fact[i] = cenote_info(conn, facts[i]);
		fact[i] = fact[i] ? fact[i] : "";
	}
	spprintf(&text, 0, "Pool: %s; Backend: %s; Server: %s; Database: %s", fact[0],
		fact[1], fact[2], fact[3]);
	ZVAL_STRING(ret_value, text);
	efree(text);
}

static int
dbh_get_attribute(pdo_dbh_t *dbh, zend_long attr, zval *ret_value)
{
	const pdo_cenote_db_handle *H = dbh->driver_data;
	uint32_t version = cenote_version();

	switch (attr) {
	case PDO_ATTR_AUTOCOMMIT:
		ZVAL_BOOL(ret_value, dbh->auto_commit);
		return 1;
	case PDO_ATTR_EMULATE_PREPARES:
		ZVAL_BOOL(ret_value, H->emulates);
		return 1;
	case PDO_ATTR_PREFETCH:
		ZVAL_LONG(ret_value, (zend_long)H->prefetch);
		return 1;
	case PDO_ATTR_CLIENT_VERSION:
		ZVAL_STR(ret_value, strpprintf(0, "%u.%u.%u", version / 10000,
					    version / 100 % 100, version % 100));
		return 1;
	case PDO_ATTR_SERVER_VERSION:
		get_fact(H->conn, "server_version", ret_value);
		return 1;
	case PDO_ATTR_SERVER_INFO:
		get_server_info(H->conn, ret_value);
		return 1;
	case PDO_ATTR_CONNECTION_STATUS:
		ZVAL_STRING(ret_value,
			cenote_is_connected(H->conn) ? "Attached." : "Not attached.");
		return 1;
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------- persistence ----- */

/* A persistent handle keeps no session between requests, since attaching costs very little. The
 * next request must not get options or results of this one. */
static void
dbh_request_shutdown(pdo_dbh_t *dbh)
{
	pdo_cenote_db_handle *H = dbh->driver_data;

	if (!H)
		return;
	cenote_close(H->conn);
	pdo_cenote_error_clear(&H->error);
	dbh->auto_commit = 1;
	H->last_id = 0;
	H->emulates = false;
	H->prefetch = 0;
}

static zend_result
dbh_check_liveness(pdo_dbh_t *dbh)
{
	pdo_cenote_db_handle *H = dbh->driver_data;

	/* Another object of this request has the same handle. */
	if (cenote_is_connected(H->conn))
		return SUCCESS;
	if (cenote_connect(H->conn) < 0)
		return FAILURE;
	H->server_status = pdo_cenote_first_status(H->conn);
	dbh->auto_commit = 1;
	return SUCCESS;
}

static const struct pdo_dbh_methods cenote_methods = {
	.closer = dbh_closer,
	.preparer = dbh_preparer,
	.doer = dbh_doer,
	.quoter = dbh_quoter,
	.begin = dbh_begin,
	.commit = dbh_commit,
	.rollback = dbh_rollback,
	.set_attribute = dbh_set_attribute,
	.last_id = dbh_last_id,
	.fetch_err = dbh_fetch_error,
	.get_attribute = dbh_get_attribute,
	.check_liveness = dbh_check_liveness,
	.persistent_shutdown = dbh_request_shutdown,
	.in_transaction = dbh_in_transaction,
};

/* ----------------------------------------------------------------------- opening ----- */

static int
set_credentials(const pdo_dbh_t *dbh, cenote_conn *conn)
{
	int status = CENOTE_OK;

	if (dbh->username && *dbh->username)
		status = cenote_conn_set(conn, "user", dbh->username);
	if (status == CENOTE_OK && dbh->password && *dbh->password)
		status = cenote_conn_set(conn, "password", dbh->password);
	return status;
}

static int
set_timeout(cenote_conn *conn, zval *options)
{
	zend_long seconds = pdo_attr_lval(options, PDO_ATTR_TIMEOUT, 0);
	char text[32];

	if (seconds <= 0)
		return CENOTE_OK;
	snprintf(text, sizeof(text), ZEND_LONG_FMT "s", seconds);
	return cenote_conn_set(conn, "connect_timeout", text);
}

static int
open_conn(const pdo_dbh_t *dbh, cenote_conn *conn, zval *options)
{
	int status = pdo_cenote_set_dsn(conn, dbh->data_source);

	if (status == CENOTE_OK)
		status = set_credentials(dbh, conn);
	if (status == CENOTE_OK)
		status = set_timeout(conn, options);
	return status == CENOTE_OK ? cenote_connect(conn) : status;
}

/* Get a session with these options for the handle. */
static bool
begin_use(pdo_dbh_t *dbh, zval *options)
{
	pdo_cenote_db_handle *H = dbh->driver_data;

	H->dialect = pdo_cenote_dialect_of(H->conn);
	H->server_status = pdo_cenote_first_status(H->conn);
	H->emulates = pdo_attr_lval(options, PDO_ATTR_EMULATE_PREPARES, 0) != 0;
	H->prefetch = (zend_ulong)pdo_attr_lval(options, PDO_ATTR_PREFETCH, 0);
	dbh->alloc_own_columns = 1;
	dbh->max_escaped_char_length = 2;
	dbh->native_case = PDO_CASE_NATURAL;
	dbh->auto_commit = pdo_attr_lval(options, PDO_ATTR_AUTOCOMMIT, 1) != 0;
	return dbh->auto_commit || check(dbh, cenote_set_autocommit(H->conn, 0));
}

static int
dbh_factory(pdo_dbh_t *dbh, zval *driver_options)
{
	pdo_cenote_db_handle *H = pecalloc(1, sizeof(*H), dbh->is_persistent);
	bool is_open = false;

	dbh->driver_data = H;
	if (cenote_conn_create(NULL, &H->conn) < 0)
		pdo_cenote_error_text(dbh, NULL, "HY001", "out of memory");
	else
		is_open = check(dbh, open_conn(dbh, H->conn, driver_options)) &&
			  begin_use(dbh, driver_options);
	if (!is_open) {
		dbh_closer(dbh);
		return 0;
	}
	dbh->methods = &cenote_methods;
	return 1;
}

const pdo_driver_t pdo_cenote_driver = { PDO_DRIVER_HEADER(cenote), dbh_factory };
