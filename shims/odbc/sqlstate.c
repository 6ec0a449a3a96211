/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLSTATEs: their texts, and their equivalents in ODBC 2. diag.c and diag_get.c look them up. It has
 * no state.
 */
#include "diag.h"

#include <string.h>

/* The SQLSTATEs that the driver itself raises, their texts, and the SQLSTATEs that an application
 * of ODBC 2 gets instead (appendix A of the ODBC standard). NULL: the same. Sorted. */
static const struct state {
	char sqlstate[6];
	const char *odbc2;
	const char *text;
} states[] = {
	{ "01000", NULL, "general warning" },
	{ "01001", NULL, "cursor operation conflict" },
	{ "01004", NULL, "string data, right truncated" },
	{ "01006", NULL, "privilege not revoked" },
	{ "01S00", NULL, "invalid connection string attribute" },
	{ "01S01", NULL, "error in row" },
	{ "01S02", NULL, "option value changed" },
	{ "01S06", NULL,
		"attempt to fetch before the result set returned the first rowset" },
	{ "01S07", NULL, "fractional truncation" },
	{ "07002", "07001", "COUNT field incorrect" },
	{ "07005", "24000", "prepared statement not a cursor-specification" },
	{ "07006", NULL, "restricted data type attribute violation" },
	{ "07009", "S1002", "invalid descriptor index" },
	{ "07S01", NULL, "invalid use of default parameter" },
	{ "08001", NULL, "client unable to establish connection" },
	{ "08002", NULL, "connection name in use" },
	{ "08003", NULL, "connection not open" },
	{ "08007", NULL, "connection failure during transaction" },
	{ "08S01", NULL, "communication link failure" },
	{ "21S01", NULL, "insert value list does not match column list" },
	{ "21S02", NULL, "degree of derived table does not match column list" },
	{ "22001", NULL, "string data, right truncated" },
	{ "22002", NULL, "indicator variable required but not supplied" },
	{ "22003", NULL, "numeric value out of range" },
	{ "22007", "22008", "invalid datetime format" },
	{ "22008", NULL, "datetime field overflow" },
	{ "22012", NULL, "division by zero" },
	{ "22015", NULL, "interval field overflow" },
	{ "22018", "22005", "invalid character value for cast specification" },
	{ "22026", NULL, "string data, length mismatch" },
	{ "23000", NULL, "integrity constraint violation" },
	{ "24000", NULL, "invalid cursor state" },
	{ "25000", NULL, "invalid transaction state" },
	{ "25S01", "S1000", "transaction state unknown" },
	{ "28000", NULL, "invalid authorization specification" },
	{ "34000", NULL, "invalid cursor name" },
	{ "3C000", NULL, "duplicate cursor name" },
	{ "40001", NULL, "serialization failure" },
	{ "42000", "37000", "syntax error or access violation" },
	{ "42S01", "S0001", "base table or view already exists" },
	{ "42S02", "S0002", "base table or view not found" },
	{ "42S11", "S0011", "index already exists" },
	{ "42S12", "S0012", "index not found" },
	{ "42S21", "S0021", "column already exists" },
	{ "42S22", "S0022", "column not found" },
	{ "HY000", "S1000", "general error" },
	{ "HY001", "S1001", "memory allocation error" },
	{ "HY003", "S1003", "invalid application buffer type" },
	{ "HY004", "S1004", "invalid SQL data type" },
	{ "HY007", "S1010", "associated statement is not prepared" },
	{ "HY008", "S1008", "operation canceled" },
	{ "HY009", "S1009", "invalid use of null pointer" },
	{ "HY010", "S1010", "function sequence error" },
	{ "HY011", "S1011", "attribute cannot be set now" },
	{ "HY012", "S1012", "invalid transaction operation code" },
	{ "HY013", "S1000", "memory management error" },
	{ "HY015", "S1015", "no cursor name available" },
	{ "HY016", "S1000", "cannot modify an implementation row descriptor" },
	{ "HY017", "S1000",
		"invalid use of an automatically allocated descriptor handle" },
	{ "HY018", "S1000", "server declined cancel request" },
	{ "HY019", "S1000", "non-character and non-binary data sent in pieces" },
	{ "HY020", "S1000", "attempt to concatenate a null value" },
	{ "HY021", "S1000", "inconsistent descriptor information" },
	{ "HY024", "S1009", "invalid attribute value" },
	{ "HY090", "S1090", "invalid string or buffer length" },
	{ "HY091", "S1091", "invalid descriptor field identifier" },
	{ "HY092", "S1092", "invalid attribute/option identifier" },
	{ "HY095", "S1095", "function type out of range" },
	{ "HY096", "S1096", "invalid information type" },
	{ "HY097", "S1097", "column type out of range" },
	{ "HY098", "S1098", "scope type out of range" },
	{ "HY099", "S1099", "nullable type out of range" },
	{ "HY100", "S1100", "uniqueness option type out of range" },
	{ "HY101", "S1101", "accuracy option type out of range" },
	{ "HY103", "S1103", "invalid retrieval code" },
	{ "HY104", "S1104", "invalid precision or scale value" },
	{ "HY105", "S1105", "invalid parameter type" },
	{ "HY106", "S1106", "fetch type out of range" },
	{ "HY107", "S1107", "row value out of range" },
	{ "HY109", "S1109", "invalid cursor position" },
	{ "HY110", "S1110", "invalid driver completion" },
	{ "HY111", "S1111", "invalid bookmark value" },
	{ "HYC00", "S1C00", "optional feature not implemented" },
	{ "HYT00", "S1T00", "timeout expired" },
	{ "HYT01", "S1T00", "connection timeout expired" },
	{ "IM001", NULL, "driver does not support this function" },
	{ "IM002", NULL, "data source not found" },
	{ "IM008", NULL, "dialog failed" },
	{ "IM007", NULL, "no data source or driver specified; dialog prohibited" },
};

static const struct state *
find(const char *sqlstate)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(states[i].sqlstate, sqlstate) == 0)
			return &states[i];
	}
	return NULL;
}

const char *
cod_state_text(const char *sqlstate)
{
	const struct state *state = find(sqlstate);

	return state != NULL ? state->text : "general error";
}

const char *
cod_state_odbc2(const char *sqlstate)
{
	const struct state *state = find(sqlstate);

	return state != NULL && state->odbc2 != NULL ? state->odbc2 : sqlstate;
}

bool
cod_state_is_odbc_class(const char *sqlstate)
{
	return strncmp(sqlstate, "IM", 2) == 0;
}

/* ODBC defined the subclasses that begin with S, and those of HY that ISO 9075 does not have. The
 * standard lists them. */
bool
cod_state_is_odbc_subclass(const char *sqlstate)
{
	static const char *const hy[] = { "HY095", "HY097", "HY098", "HY099", "HY100",
		"HY101", "HY105", "HY107", "HY109", "HY110", "HY111", "HYT00", "HYT01" };

	if (cod_state_is_odbc_class(sqlstate) || sqlstate[2] == 'S')
		return true;
	for (size_t i = 0; i < sizeof(hy) / sizeof(hy[0]); i++) {
		if (strcmp(hy[i], sqlstate) == 0)
			return true;
	}
	return false;
}
