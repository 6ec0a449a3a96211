/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLGetInfo() of a connection: collect its facts, call info.c and write the answer. face.c and
 * face_w.c call this file. It has no state.
 */
#include "odbc.h"

#include "info.h"

static void
give_length(const struct cod_sink *sink, size_t n)
{
	if (sink->length16 != NULL)
		*sink->length16 = (SQLSMALLINT)n;
}

static SQLRETURN
give(struct cod_dbc *dbc, const struct cod_info_value *info, SQLPOINTER value,
	const struct cod_sink *sink)
{
	switch (info->kind) {
	case COD_INFO_TEXT:
		return cod_give(&dbc->head, sink, info->text);
	case COD_INFO_U16:
		if (value != NULL)
			*(SQLUSMALLINT *)value = (SQLUSMALLINT)info->number;
		give_length(sink, sizeof(SQLUSMALLINT));
		return SQL_SUCCESS;
	case COD_INFO_U32:
		if (value != NULL)
			*(SQLUINTEGER *)value = info->number;
		give_length(sink, sizeof(SQLUINTEGER));
		return SQL_SUCCESS;
	default:
		if (value != NULL)
			*(SQLULEN *)value = info->number;
		give_length(sink, sizeof(SQLULEN));
		return SQL_SUCCESS;
	}
}

static const char *
fact(const struct cod_dbc *dbc, const char *name)
{
	return dbc->conn != NULL ? cenote_info(dbc->conn, name) : NULL;
}

SQLRETURN
cod_get_info(struct cod_dbc *dbc, SQLUSMALLINT id, SQLPOINTER value,
	const struct cod_sink *sink)
{
	const struct cod_info_facts facts = {
		.dialect = dbc->dialect,
		.dsn = cod_setting(&dbc->settings, COD_KEY_DSN),
		.server_version = fact(dbc, "server_version"),
		.database = dbc->catalog != NULL ? dbc->catalog : fact(dbc, "database"),
		.server = fact(dbc, "pool"),
		.user = dbc->conn != NULL ? cenote_conn_get(dbc->conn, "user") : NULL,
		.driver_name = "libcenoteodbc.so",
		.is_read_only = dbc->access_mode == SQL_MODE_READ_ONLY,
		.odbc_version = (SQLUINTEGER)dbc->env->odbc_version,
	};
	struct cod_info_value info;

	if (dbc->conn == NULL && id != SQL_ODBC_VER && id != SQL_DRIVER_ODBC_VER)
		return cod_fail(&dbc->head, "08003");
	if (cod_info(id, &facts, &info) < 0)
		return cod_fail(&dbc->head, "HY096");
	return give(dbc, &info, value, sink);
}
