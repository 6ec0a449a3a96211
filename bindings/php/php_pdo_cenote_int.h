/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PHP_PDO_CENOTE_INT_H
#define PHP_PDO_CENOTE_INT_H

#include "php_pdo_cenote.h"

#include <ext/pdo/php_pdo.h>
#include <ext/pdo/php_pdo_driver.h>

/*
 * The PDO driver. cenote_dsn.c reads the data source name, cenote_driver.c has connections,
 * cenote_statement.c has statements, cenote_value.c converts values, and cenote_dialect.c has the
 * differences between servers.
 *
 * The memory of a connection comes from malloc(), as PDO requires, since a persistent handle
 * outlives the request. The memory of a statement belongs to the request.
 */

/* The error for PDO::errorInfo(), besides the SQLSTATE. */
typedef struct {
	zend_long native; /* the server's own error number */
	char *message; /* from malloc(); NULL: there is none */
} pdo_cenote_error_info;

/* The differences between servers. */
typedef struct {
	const char *backend; /* the backend's name, as from cenote_info() */
	/* PDO rewrites the placeholders of a statement into these. */
	const char *placeholder;
	/* Each use of a placeholder is a separate parameter with the same value. */
	bool has_anonymous_placeholders;
	/* The server finds the type of a text that is sent without a type, as for a quoted literal. */
	bool finds_types;
	/* SQL for the id of the last inserted row; NULL: the last result has the id. */
	const char *last_id;
	/* The same for the sequence $1; NULL: the server has no sequences. */
	const char *last_id_of_sequence;
	zend_string *(*quote)(const cenote_conn *conn, uint32_t server_status,
		const zend_string *text, enum pdo_param_type type);
} pdo_cenote_dialect;

/* The dialect of the connection's pool. Never NULL. */
const pdo_cenote_dialect *pdo_cenote_dialect_of(const cenote_conn *conn);

/* MySQL's status bits about texts, until the first result has its own. */
uint32_t pdo_cenote_first_status(const cenote_conn *conn);

/* A connection: dbh->driver_data. */
typedef struct {
	cenote_conn *conn;
	const pdo_cenote_dialect *dialect;
	zend_ulong last_id; /* from the last result */
	uint32_t server_status; /* MySQL's status, from the last result */
	bool emulates; /* PDO::ATTR_EMULATE_PREPARES */
	zend_ulong prefetch; /* PDO::ATTR_PREFETCH: rows in a batch; 0: all at once */
	pdo_cenote_error_info error;
} pdo_cenote_db_handle;

/* A statement: stmt->driver_data. */
typedef struct {
	pdo_cenote_db_handle *H;
	/* SQL for the server; NULL: PDO puts the values into the text itself */
	zend_string *sql;
	cenote_stmt *handle; /* from the second execution on */
	cenote_params *params;
	uint32_t *values_of; /* for each parameter, the index of PDO's value */
	uint32_t n_params;
	uint32_t n_values; /* number of values that PDO must have */
	bool was_executed;
	zend_ulong prefetch;

	/* The rowsets. fetch() reads the one at `current`. */
	cenote_result **results;
	uint32_t n_results;
	uint32_t current;
	uint32_t *types; /* enum cenote_type of each column */
	bool is_streamed; /* the last rowset comes in batches, and more may follow it */
	zend_long row; /* PDO's row in the rowset or batch; -1: before the first */
	pdo_cenote_error_info error;
} pdo_cenote_stmt;

extern const pdo_driver_t pdo_cenote_driver;
extern const struct pdo_stmt_methods pdo_cenote_stmt_methods;

/*
 * Set the options of a data source name: "POOL", a URI, or "option=value;option=value".
 *
 * @return CENOTE_OK, or as cenote_conn_set()
 */
int pdo_cenote_set_dsn(cenote_conn *conn, const char *dsn);

/* Store the error in `diag` for the statement, or for the connection (`stmt` NULL). In a
 * constructor, throw it, because PDO cannot do that yet. */
void pdo_cenote_error(pdo_dbh_t *dbh, pdo_stmt_t *stmt, const cenote_diag *diag);
/* The same for an error of the driver. */
void pdo_cenote_error_text(
	pdo_dbh_t *dbh, pdo_stmt_t *stmt, const char *sqlstate, const char *message);
void pdo_cenote_error_clear(pdo_cenote_error_info *error);

/* Store the facts of a result that the connection reports later. An error has no such facts. */
void pdo_cenote_note_result(pdo_cenote_db_handle *H, const cenote_result *res);

/* Is the result a copy, for which PDO has no calls? */
bool pdo_cenote_is_copy(const cenote_result *res);
#define PDO_CENOTE_NO_COPY "PDO has no way to copy data to or from the program"

/* The value, from 0, for which a rewritten placeholder stands. */
uint32_t pdo_cenote_value_of(const zend_string *placeholder);

/* Append the value that PDO has bound to the parameters. false: an error was stored. */
bool pdo_cenote_add_value(pdo_stmt_t *stmt, struct pdo_bound_param_data *bound);

/** enum cenote_type of a column. */
uint32_t pdo_cenote_type(const cenote_column *column);

/* A value of a result as a PHP value; IS_NULL for NULL. `type` is the type of its column. */
void pdo_cenote_get_value(const cenote_result *res, uint64_t row, uint32_t col,
	uint32_t type, zval *ret_value);

/* The PDO::PARAM_... of a column's values. */
enum pdo_param_type pdo_cenote_column_type(const cenote_column *column);

#endif
