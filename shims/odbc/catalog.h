/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_CATALOG_H
#define COD_CATALOG_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

#include <cenote/cenote.h>

#include "dialect.h"
#include "rows.h"
#include "types.h"

/* The catalog functions. Each sends one or two requests to the pool, filters and sorts the rows as
 * the standard wants, and gives a table in memory. */

enum cod_catalog_kind {
	COD_CATALOG_TABLES,
	COD_CATALOG_COLUMNS,
	COD_CATALOG_PRIMARY_KEYS,
	COD_CATALOG_FOREIGN_KEYS,
	COD_CATALOG_STATISTICS,
	COD_CATALOG_SPECIAL_COLUMNS,
	COD_CATALOG_PROCEDURES,
	COD_CATALOG_PROCEDURE_COLUMNS,
	COD_CATALOG_TABLE_PRIVILEGES,
	COD_CATALOG_COLUMN_PRIVILEGES,
	COD_CATALOG_TYPE_INFO
};
#define COD_N_CATALOG_KINDS 11

/* Arguments in UTF-8 with a zero byte. NULL is a null pointer of the application. */
struct cod_catalog_args {
	enum cod_catalog_kind kind;
	enum cod_dialect dialect;
	int is_identifier; /* SQL_ATTR_METADATA_ID: arguments are names, not patterns */
	int folds_capitals; /* look for a name in capitals also in small letters */
	struct cod_type_options options;
	SQLINTEGER odbc_version; /* ODBC 2 has other column names and date codes */
	const char *catalog, *schema;
	/* table or procedure; for foreign keys, the referenced table */
	const char *object;
	const char *column; /* also the column of a procedure */
	const char *types; /* the argument TableType of SQLTables() */
	const char *fk_catalog, *fk_schema, *fk_object; /* SQLForeignKeys */
	SQLUSMALLINT is_unique; /* SQLStatistics: SQL_INDEX_UNIQUE, SQL_INDEX_ALL */
	SQLUSMALLINT accuracy; /* SQLStatistics: SQL_QUICK, SQL_ENSURE */
	SQLUSMALLINT special; /* SQLSpecialColumns: SQL_BEST_ROWID, SQL_ROWVER */
	SQLUSMALLINT scope, nullable; /* SQLSpecialColumns */
	SQLSMALLINT sql_type; /* SQLGetTypeInfo: SQL_ALL_TYPES, or one type */
};

/* A table of the catalog. */
struct cod_catalog {
	struct cod_rows rows; /* values in canonical text */
	struct cod_column *columns; /* rows.n_columns; their texts are static */
};

void cod_catalog_finish(struct cod_catalog *catalog);

/*
 * Carry out a catalog function.
 *
 * @param ret_state  set with COD_CATALOG_BAD
 *
 * @return CENOTE_OK and *ret_catalog, for cod_catalog_finish(); COD_CATALOG_BAD: an argument is
 *         wrong, *ret_state is HY009 (a null pointer that is not allowed), HY090, HY097, HY098,
 *         HY099, HY100, HY101 (an option) or HY004 (an unknown type); CENOTE_ERR_NOMEM; else as
 *         cenote_query(), with the connection's diagnostics.
 */
#define COD_CATALOG_BAD 1
int cod_catalog_ask(cenote_conn *conn, const struct cod_catalog_args *args,
	struct cod_catalog *ret_catalog, const char **ret_state);

#endif
