/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_DIALECT_H
#define COD_DIALECT_H

/*
 * Which kind of server a pool is of, as far as its SQL, its types and its catalog differ. All that
 * depends on it is in tables that this is the index of.
 */
enum cod_dialect {
	COD_DIALECT_OTHER = 0, /* plain ISO SQL */
	COD_DIALECT_POSTGRESQL = 1,
	COD_DIALECT_MYSQL = 2, /* and MariaDB */
	COD_DIALECT_SQLITE = 3,
	COD_DIALECT_TDS = 4 /* SQL Server, Sybase */
};
#define COD_N_DIALECTS 5

/* Of what cenote_info(conn, "backend") says; NULL is COD_DIALECT_OTHER. */
enum cod_dialect cod_dialect_of(const char *backend);

#endif
