/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PHP_PDO_CENOTE_INT_H
#define PHP_PDO_CENOTE_INT_H

#include "php_pdo_cenote.h"

#include <ext/pdo/php_pdo.h>
#include <ext/pdo/php_pdo_driver.h>

/*
 * PDO's driver of Cenote. cenote_dsn.c reads the data source name, cenote_driver.c is the
 * connection, cenote_statement.c the statement, cenote_value.c turns PHP's values into the
 * session's and back, cenote_dialect.c has what differs between the servers behind a pool.
 *
 * What belongs to a connection is malloc()ed as PDO asks for it (a persistent handle outlives the
 * request); what belongs to a statement is the request's.
 */

/* What PDO::errorInfo() tells besides the SQLSTATE. */
typedef struct {
	zend_long native; /* the server's own error number */
	char *message; /* malloc()ed; NULL: there is none */
} pdo_cenote_error_info;

/* How the server behind a pool is spoken to. */
typedef struct {
	const char *backend; /* as cenote_info() names it */
	/* PDO rewrites the placeholders of a statement into these. */
	const char *placeholder;
	/* Every occurrence of a placeholder is a parameter of its own, of the same value. */
	bool has_anonymous_placeholders;
	/* Text is sent without a type, as a quoted literal is. */
	bool finds_types;
	/* The id of the last row that was inserted: SQL, or what the last result said (NULL). */
	const char *last_id;
	/* The same of the sequence $1, NULL: there are none. */
	const char *last_id_of_sequence;
	zend_string *(*quote)(const cenote_conn *conn, uint32_t server_status,
		const zend_string *text, enum pdo_param_type type);
} pdo_cenote_dialect;

/** The dialect of the pool that the connection has a session of. Never NULL.  */
const pdo_cenote_dialect *pdo_cenote_dialect_of(const cenote_conn *conn);

/** What MySQL's status tells of texts, until the first result does. */
uint32_t pdo_cenote_first_status(const cenote_conn *conn);

/* A connection: dbh->driver_data. */
typedef struct {
	cenote_conn *conn;
	const pdo_cenote_dialect *dialect;
	zend_ulong last_id; /* that the last result told */
	uint32_t server_status; /* MySQL's, of the last result */
	bool emulates; /* PDO::ATTR_EMULATE_PREPARES */
	zend_ulong prefetch; /* PDO::ATTR_PREFETCH: rows in a batch; 0: all at once */
	pdo_cenote_error_info error;
} pdo_cenote_db_handle;

/* A statement: stmt->driver_data. */
typedef struct {
	pdo_cenote_db_handle *H;
	zend_string
		*sql; /* in the server's terms; NULL: PDO fills in the values itself */
	cenote_stmt *handle; /* from the second execution on */
	cenote_params *params;
	uint32_t *values_of; /* of each parameter: which of PDO's values it is, from 0 */
	uint32_t n_params;
	uint32_t n_values; /* that PDO has to be given */
	bool was_executed;
	zend_ulong prefetch;

	/* The rowsets; `current` is the one that is fetched from. */
	cenote_result **results;
	uint32_t n_results;
	uint32_t current;
	uint32_t *types; /* enum cenote_type of its columns */
	bool is_streamed; /* the last one comes in batches, and perhaps more behind it */
	zend_long row; /* that PDO is at, in the rowset or batch; -1: before the first */
	pdo_cenote_error_info error;
} pdo_cenote_stmt;

extern const pdo_driver_t pdo_cenote_driver;
extern const struct pdo_stmt_methods pdo_cenote_stmt_methods;

/**
 * Set the options that a data source name has: "POOL", a URI, or "option=value;option=value".
 * @return CENOTE_OK, or as cenote_conn_set()
 */
int pdo_cenote_set_dsn(cenote_conn *conn, const char *dsn);

/** Note what `diag` says as the error of the handle, or of its statement (NULL: of the handle), and
 *  throw it where PDO cannot do so yet, in a constructor. */
void pdo_cenote_error(pdo_dbh_t *dbh, pdo_stmt_t *stmt, const cenote_diag *diag);
/** The same of an error of our own. */
void pdo_cenote_error_text(
	pdo_dbh_t *dbh, pdo_stmt_t *stmt, const char *sqlstate, const char *message);
void pdo_cenote_error_clear(pdo_cenote_error_info *error);

/** Note of a result what the connection tells later; an error tells nothing. */
void pdo_cenote_note_result(pdo_cenote_db_handle *H, const cenote_result *res);

/** Whether a result is a copy, which PDO has no calls for. */
bool pdo_cenote_is_copy(const cenote_result *res);
#define PDO_CENOTE_NO_COPY "PDO has no way to copy data to or from the program"

/** Which value, from 0, a rewritten placeholder stands for. */
uint32_t pdo_cenote_value_of(const zend_string *placeholder);

/** Append what PDO has bound to the parameters. false: an error was noted. */
bool pdo_cenote_add_value(pdo_stmt_t *stmt, struct pdo_bound_param_data *bound);

/** enum cenote_type of a column. */
uint32_t pdo_cenote_type(const cenote_column *column);

/** A value of a result, in a column of that type, as PHP's; IS_NULL for NULL. */
void pdo_cenote_get_value(const cenote_result *res, uint64_t row, uint32_t col,
	uint32_t type, zval *ret_value);

/** The PDO::PARAM_… that a column's values are. */
enum pdo_param_type pdo_cenote_column_type(const cenote_column *column);

#endif
