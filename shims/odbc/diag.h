/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_DIAG_H
#define COD_DIAG_H

/* The diagnostics of a handle: the records of the last function that was called on it, in the
 * standard's order. Adding a record cannot fail: without memory, the last record reports that. */

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

struct cod_diag_record {
	char sqlstate[6];
	bool is_of_server; /* from the data source, not from the driver */
	SQLINTEGER native;
	SQLLEN row; /* SQL_NO_ROW_NUMBER, SQL_ROW_NUMBER_UNKNOWN, or the row from 1 */
	/* SQL_NO_COLUMN_NUMBER, SQL_COLUMN_NUMBER_UNKNOWN, or the column */
	SQLINTEGER column;
	char *message; /* "[Cenote][...] ..."; freed unless it is static */
};

struct cod_diag {
	SQLRETURN ret;
	SQLLEN cursor_rows, row_count;
	SQLINTEGER function_code;
	const char *function; /* static */
	struct cod_diag_record *records;
	size_t n, room;
	bool is_cut; /* there was no memory for all records */
};

void cod_diag_clear(struct cod_diag *diag);
void cod_diag_finish(struct cod_diag *diag);

/* The position to which a record belongs. */
struct cod_diag_where {
	SQLLEN row;
	SQLINTEGER column;
};
#define COD_NOWHERE ((struct cod_diag_where){ SQL_NO_ROW_NUMBER, SQL_NO_COLUMN_NUMBER })

/*
 * Add a record after those of its rank.
 *
 * @param component  the reporter: "ODBC", or the server's name
 *
 * @param message    NULL: the standard's text for the SQLSTATE
 */
void cod_diag_add(struct cod_diag *diag, const struct cod_diag_where *where,
	const char *sqlstate, SQLINTEGER native, const char *component,
	const char *message);

/* The i-th record, from 1; NULL after the last one. */
const struct cod_diag_record *cod_diag_record(const struct cod_diag *diag, SQLSMALLINT i);

/* The standard's text for an SQLSTATE; the SQLSTATE that ODBC 2 has for it; whether ODBC, not ISO
 * 9075, defined its class and its subclass. */
const char *cod_state_text(const char *sqlstate);
const char *cod_state_odbc2(const char *sqlstate);
bool cod_state_is_odbc_class(const char *sqlstate);
bool cod_state_is_odbc_subclass(const char *sqlstate);

/* Set SQL_DIAG_DYNAMIC_FUNCTION and its code from the first words of a statement. */
void cod_diag_set_function(struct cod_diag *diag, const char *sql);

#endif
