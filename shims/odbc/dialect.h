/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_DIALECT_H
#define COD_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of server of a pool, as far as SQL, types and catalog differ. Tables with this index
 * hold the differences. */
enum cod_dialect {
	COD_DIALECT_OTHER = 0, /* plain ISO SQL */
	COD_DIALECT_POSTGRESQL = 1,
	COD_DIALECT_MYSQL = 2, /* also MariaDB */
	COD_DIALECT_SQLITE = 3,
	COD_DIALECT_TDS = 4 /* SQL Server, Sybase */
};
#define COD_N_DIALECTS 5

/* The dialect for a backend's name, as cenote_info(conn, "backend") returns it. NULL is
 * COD_DIALECT_OTHER. */
enum cod_dialect cod_dialect_of(const char *backend);

/*
 * How the dialect reads SQL: rules for core/sql.h, with ? as a marker. `is_odd`: the session reads
 * a backslash in the way that is unusual for its server (MySQL: NO_BACKSLASH_ESCAPES; PostgreSQL:
 * standard_conforming_strings off).
 */
uint32_t cod_sql_rules(enum cod_dialect dialect, bool is_odd);

#endif
