/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes of an environment. face.c and face_w.c call this file. The state is struct cod_env.
 */
#include "odbc.h"

static bool
is_version(SQLINTEGER version)
{
	return version == SQL_OV_ODBC2 || version == SQL_OV_ODBC3 ||
	       version == SQL_OV_ODBC3_80;
}

SQLRETURN
cod_set_env_attr(struct cod_env *env, SQLINTEGER attr, SQLPOINTER value)
{
	SQLINTEGER number = (SQLINTEGER)(intptr_t)value;

	switch (attr) {
	case SQL_ATTR_ODBC_VERSION:
		if (!is_version(number))
			return cod_fail(&env->head, "HY024");
		env->odbc_version = number;
		return SQL_SUCCESS;
	case SQL_ATTR_CONNECTION_POOLING:
		env->pooling = number;
		return SQL_SUCCESS;
	case SQL_ATTR_CP_MATCH:
		env->pool_match = number;
		return SQL_SUCCESS;
	case SQL_ATTR_OUTPUT_NTS:
		if (number == SQL_TRUE)
			return SQL_SUCCESS;
		return cod_fail(&env->head, "HYC00");
	default:
		return cod_fail(&env->head, "HY092");
	}
}

SQLRETURN
cod_get_env_attr(
	struct cod_env *env, SQLINTEGER attr, SQLPOINTER value, SQLINTEGER *length)
{
	SQLINTEGER number;

	switch (attr) {
	case SQL_ATTR_ODBC_VERSION:
		number = env->odbc_version;
		break;
	case SQL_ATTR_CONNECTION_POOLING:
		number = env->pooling;
		break;
	case SQL_ATTR_CP_MATCH:
		number = env->pool_match;
		break;
	case SQL_ATTR_OUTPUT_NTS:
		number = SQL_TRUE;
		break;
	default:
		return cod_fail(&env->head, "HY092");
	}
	if (value != NULL)
		*(SQLINTEGER *)value = number;
	if (length != NULL)
		*length = (SQLINTEGER)sizeof(number);
	return SQL_SUCCESS;
}
