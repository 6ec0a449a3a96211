/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <string.h>

/*
 * The SQLSTATEs that programs of PostgreSQL look for. MySQL and MariaDB send general states (23000,
 * 42000), but their error numbers are as specific as PostgreSQL's states. The table is sorted by
 * number.
 */
static const struct {
	int32_t native;
	char state[6];
} mysql_states[] = {
	{ 1022, "23505" }, /* ER_DUP_KEY */
	{ 1044, "42501" }, /* ER_DBACCESS_DENIED_ERROR */
	{ 1048, "23502" }, /* ER_BAD_NULL_ERROR */
	{ 1049, "3D000" }, /* ER_BAD_DB_ERROR */
	{ 1050, "42P07" }, /* ER_TABLE_EXISTS_ERROR */
	{ 1051, "42P01" }, /* ER_BAD_TABLE_ERROR */
	{ 1052, "42702" }, /* ER_NON_UNIQ_ERROR */
	{ 1054, "42703" }, /* ER_BAD_FIELD_ERROR */
	{ 1055, "42803" }, /* ER_WRONG_FIELD_WITH_GROUP */
	{ 1060, "42701" }, /* ER_DUP_FIELDNAME */
	{ 1061, "42P07" }, /* ER_DUP_KEYNAME */
	{ 1062, "23505" }, /* ER_DUP_ENTRY */
	{ 1064, "42601" }, /* ER_PARSE_ERROR */
	{ 1066, "42712" }, /* ER_NONUNIQ_TABLE */
	{ 1091, "42704" }, /* ER_CANT_DROP_FIELD_OR_KEY */
	{ 1109, "42P01" }, /* ER_UNKNOWN_TABLE */
	{ 1111, "42803" }, /* ER_INVALID_GROUP_FUNC_USE */
	{ 1136, "42601" }, /* ER_WRONG_VALUE_COUNT_ON_ROW */
	{ 1140, "42803" }, /* ER_MIX_OF_GROUP_FUNC_AND_FIELDS */
	{ 1142, "42501" }, /* ER_TABLEACCESS_DENIED_ERROR */
	{ 1143, "42501" }, /* ER_COLUMNACCESS_DENIED_ERROR */
	{ 1146, "42P01" }, /* ER_NO_SUCH_TABLE */
	{ 1169, "23505" }, /* ER_DUP_UNIQUE */
	{ 1213, "40P01" }, /* ER_LOCK_DEADLOCK */
	{ 1216, "23503" }, /* ER_NO_REFERENCED_ROW */
	{ 1217, "23503" }, /* ER_ROW_IS_REFERENCED */
	{ 1227, "42501" }, /* ER_SPECIFIC_ACCESS_DENIED_ERROR */
	{ 1304, "42723" }, /* ER_SP_ALREADY_EXISTS */
	{ 1305, "42883" }, /* ER_SP_DOES_NOT_EXIST */
	{ 1317, "57014" }, /* ER_QUERY_INTERRUPTED */
	{ 1364, "23502" }, /* ER_NO_DEFAULT_FOR_FIELD */
	{ 1451, "23503" }, /* ER_ROW_IS_REFERENCED_2 */
	{ 1452, "23503" }, /* ER_NO_REFERENCED_ROW_2 */
	{ 1557, "23505" }, /* ER_FOREIGN_DUPLICATE_KEY */
	{ 1586, "23505" }, /* ER_DUP_ENTRY_WITH_KEY_NAME */
	{ 3819, "23514" }, /* ER_CHECK_CONSTRAINT_VIOLATED, of MySQL */
	{ 4025, "23514" }, /* ER_CONSTRAINT_FAILED, of MariaDB */
};

const char *
cpq_dialect_state(const struct cpq_dialect *dialect, int32_t native, const char *state)
{
	size_t low = 0, high = sizeof(mysql_states) / sizeof(mysql_states[0]);

	if (!dialect->is_mysql)
		return state;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (mysql_states[mid].native == native)
			return mysql_states[mid].state;
		if (mysql_states[mid].native < native)
			low = mid + 1;
		else
			high = mid;
	}
	return state;
}
