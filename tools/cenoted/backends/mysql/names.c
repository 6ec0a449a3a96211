/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions and of variables.
 *
 * Functions: names that may stand before a parenthesis without leaving anything in the session. Any other name
 * may be a stored function's. If a name is missing here, that costs only time: a session that uses it
 * counts as holding something.
 *
 * If the parser does not know a built-in name, it calls a stored function of that name instead. So
 * the constructors of geometries (POINT, POLYGON …) and JSON_TABLE are not listed here. With a blank
 * before the parenthesis, this is true of some fifty built-in names, and they differ between
 * versions. So a blank may follow only words of SQL. tests/unit/backends/mysql/test_names.c asks the
 * installed server.
 */
#include <stdlib.h>
#include <string.h>

#include "core/sql.h"
#include "my.h"

/* Keywords of SQL, and names of its types. Sorted. */
static const char *const words[] = { "ALL", "AND", "ANY", "AS", "BETWEEN", "BINARY", "BY",
	"CASE", "CHAR", "CONVERT", "DATE", "DATETIME", "DECIMAL", "DEFAULT", "DISTINCT",
	"DIV", "DOUBLE", "ELSE", "EXISTS", "FLOAT", "FOR", "FROM", "HAVING", "IF",
	"IGNORE", "IN", "INDEX", "INSERT", "INT", "INTEGER", "INTERVAL", "INTO", "IS",
	"JOIN", "KEY", "LEFT", "LIKE", "MATCH", "NCHAR", "NOT", "ON", "OR", "PARTITION",
	"REGEXP", "REPEAT", "REPLACE", "RIGHT", "RLIKE", "ROW", "SELECT", "SET", "SOME",
	"THEN", "TIME", "TIMESTAMP", "UNION", "UPDATE", "USE", "USING", "VALUES",
	"VARBINARY", "VARCHAR", "WHEN", "WHERE", "XOR", "YEAR" };

/* Functions that the grammar of MySQL and MariaDB has, in all of their versions. Sorted. */
static const char *const calls[] = { "ADDDATE", "ASCII", "AVG", "BIT_AND", "BIT_OR",
	"BIT_XOR", "CAST", "CHARSET", "COUNT", "CURDATE", "CURRENT_DATE", "CURRENT_TIME",
	"CURRENT_TIMESTAMP", "CURRENT_USER", "CURTIME", "DATE_ADD", "DATE_SUB", "DAY",
	"EXTRACT", "GET_FORMAT", "GROUP_CONCAT", "HOUR", "LOCALTIME", "LOCALTIMESTAMP",
	"MAX", "MID", "MIN", "MINUTE", "MONTH", "NOW", "POSITION", "SECOND",
	"SESSION_USER", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUBDATE", "SUBSTR",
	"SUBSTRING", "SUM", "SYSDATE", "SYSTEM_USER", "TIMESTAMPADD", "TIMESTAMPDIFF",
	"TRIM", "TRUNCATE", "USER", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "VARIANCE",
	"VAR_POP", "VAR_SAMP" };

/* Functions that only some servers have. They count if this server reports that it has them. Sorted. */
static const char *const natives[] = { "ABS", "ACOS", "ADDTIME", "AES_DECRYPT",
	"AES_ENCRYPT", "ANY_VALUE", "ASIN", "ATAN", "ATAN2", "BENCHMARK", "BIN",
	"BIN_TO_UUID", "BIT_COUNT", "BIT_LENGTH", "CEIL", "CEILING", "CHARACTER_LENGTH",
	"CHAR_LENGTH", "CHR", "COALESCE", "COERCIBILITY", "COLLATION", "COMPRESS",
	"CONCAT", "CONCAT_WS", "CONNECTION_ID", "CONV", "CONVERT_TZ", "COS", "COT",
	"CRC32", "CUME_DIST", "DATABASE", "DATEDIFF", "DATE_FORMAT", "DAYNAME",
	"DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "DEGREES", "DENSE_RANK", "ELT", "EXP",
	"EXPORT_SET", "EXTRACTVALUE", "FIELD", "FIND_IN_SET", "FIRST_VALUE", "FLOOR",
	"FORMAT", "FORMAT_BYTES", "FORMAT_PICO_TIME", "FROM_BASE64", "FROM_DAYS",
	"FROM_UNIXTIME", "GET_LOCK", "GREATEST", "HEX", "IFNULL", "INET6_ATON",
	"INET6_NTOA", "INET_ATON", "INET_NTOA", "INSTR", "ISNULL", "IS_FREE_LOCK",
	"IS_IPV4", "IS_IPV4_COMPAT", "IS_IPV4_MAPPED", "IS_IPV6", "IS_USED_LOCK",
	"IS_UUID", "JSON_ARRAY", "JSON_ARRAYAGG", "JSON_ARRAY_APPEND",
	"JSON_ARRAY_INSERT", "JSON_COMPACT", "JSON_CONTAINS", "JSON_CONTAINS_PATH",
	"JSON_DEPTH", "JSON_DETAILED", "JSON_EXISTS", "JSON_EXTRACT", "JSON_INSERT",
	"JSON_KEYS", "JSON_LENGTH", "JSON_LOOSE", "JSON_MERGE", "JSON_MERGE_PATCH",
	"JSON_MERGE_PRESERVE", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_OVERLAPS",
	"JSON_PRETTY", "JSON_QUERY", "JSON_QUOTE", "JSON_REMOVE", "JSON_REPLACE",
	"JSON_SEARCH", "JSON_SET", "JSON_STORAGE_SIZE", "JSON_TYPE", "JSON_UNQUOTE",
	"JSON_VALID", "JSON_VALUE", "LAG", "LASTVAL", "LAST_DAY", "LAST_INSERT_ID",
	"LAST_VALUE", "LCASE", "LEAD", "LEAST", "LENGTH", "LN", "LOAD_FILE", "LOCATE",
	"LOG", "LOG10", "LOG2", "LOWER", "LPAD", "LTRIM", "MAKEDATE", "MAKETIME",
	"MAKE_SET", "MD5", "MICROSECOND", "MOD", "MONTHNAME", "NAME_CONST",
	"NATURAL_SORT_KEY", "NTH_VALUE", "NTILE", "NULLIF", "NVL", "NVL2", "OCT",
	"OCTET_LENGTH", "ORD", "PERCENT_RANK", "PERIOD_ADD", "PERIOD_DIFF", "PI", "POW",
	"POWER", "QUARTER", "QUOTE", "RADIANS", "RAND", "RANDOM_BYTES", "RANK",
	"REGEXP_INSTR", "REGEXP_LIKE", "REGEXP_REPLACE", "REGEXP_SUBSTR",
	"RELEASE_ALL_LOCKS", "RELEASE_LOCK", "REVERSE", "ROUND", "ROW_COUNT",
	"ROW_NUMBER", "RPAD", "RTRIM", "SCHEMA", "SEC_TO_TIME", "SHA", "SHA1", "SHA2",
	"SIGN", "SIN", "SLEEP", "SOUNDEX", "SPACE", "SQRT", "STRCMP", "STR_TO_DATE",
	"SUBSTRING_INDEX", "SUBTIME", "TAN", "TIMEDIFF", "TIME_FORMAT", "TIME_TO_SEC",
	"TO_BASE64", "TO_CHAR", "TO_DAYS", "TO_SECONDS", "UCASE", "UNCOMPRESS",
	"UNCOMPRESSED_LENGTH", "UNHEX", "UNIX_TIMESTAMP", "UPDATEXML", "UPPER", "UUID",
	"UUID_SHORT", "UUID_TO_BIN", "VERSION", "WEEK", "WEEKDAY", "WEEKOFYEAR",
	"YEARWEEK" };

#define N_NATIVES (sizeof(natives) / sizeof(natives[0]))

_Static_assert(N_NATIVES <= CND_MY_NATIVES_MAX, "a bit for each");

static int
compare(const void *key, const void *entry)
{
	const struct cnp_str *name = key;

	return cnc_sql_compare(name->p, name->n, *(const char *const *)entry);
}

#define FIND(table, name)                                                                \
	bsearch(name, table, sizeof(table) / sizeof((table)[0]), sizeof((table)[0]),     \
		compare)

void
cnd_my_confirm_native(struct cnd_my_reading *reading, const char *name, size_t n)
{
	struct cnp_str key = { name, n };
	const char *const *found = FIND(natives, &key);

	if (found)
		reading->natives[(found - natives) / 8] |=
			(uint8_t)(1u << ((found - natives) % 8));
}

int
cnd_my_is_harmless(
	const struct cnd_my_reading *reading, const char *name, size_t n, int has_space)
{
	struct cnp_str key = { name, n };
	const char *const *found;

	if (FIND(words, &key))
		return 1;
	if (has_space)
		return 0;
	if (FIND(calls, &key))
		return 1;
	found = FIND(natives, &key);
	return found &&
	       reading->natives[(found - natives) / 8] >> ((found - natives) % 8) & 1;
}

/* ---- variables ---- */

#define SETS       CND_MY_NOTE_SETS
#define UNDERSTOOD (CND_MY_NOTE_SETS | CND_MY_NOTE_MEANING)
#define CHARSET    (UNDERSTOOD | CND_MY_NOTE_CHARSET)

/* In the order in which they are set: character_set_connection also sets collation_connection. */
const struct cnd_my_variable cnd_my_variables[] = {
	{ CND_MY_DATABASE, UNDERSTOOD, CND_MY_VARIABLE_TEXT },
	{ "autocommit", SETS, 0 },
	{ "auto_increment_increment", SETS, 0 },
	{ "auto_increment_offset", SETS, 0 },
	{ "character_set_client", CHARSET, CND_MY_VARIABLE_TEXT },
	{ "character_set_connection", UNDERSTOOD | CND_MY_NOTE_WIDE,
		CND_MY_VARIABLE_TEXT },
	{ "character_set_results", UNDERSTOOD, CND_MY_VARIABLE_TEXT },
	{ "collation_connection", UNDERSTOOD | CND_MY_NOTE_WIDE, CND_MY_VARIABLE_TEXT },
	{ "default_storage_engine", UNDERSTOOD, CND_MY_VARIABLE_TEXT },
	{ "default_week_format", UNDERSTOOD, 0 },
	{ "div_precision_increment", UNDERSTOOD, 0 },
	{ "foreign_key_checks", SETS, 0 },
	{ "group_concat_max_len", UNDERSTOOD, 0 },
	{ "innodb_lock_wait_timeout", SETS, 0 },
	{ "interactive_timeout", SETS, 0 },
	{ "lc_time_names", UNDERSTOOD, CND_MY_VARIABLE_TEXT },
	{ "lock_wait_timeout", SETS, 0 },
	{ "max_execution_time", SETS, CND_MY_VARIABLE_MYSQL },
	{ "max_statement_time", SETS, CND_MY_VARIABLE_MARIADB | CND_MY_VARIABLE_LIMIT },
	{ "sql_auto_is_null", UNDERSTOOD, 0 },
	{ "sql_big_selects", SETS, 0 },
	{ "sql_mode", UNDERSTOOD | CND_MY_NOTE_MODES, CND_MY_VARIABLE_TEXT },
	{ "sql_notes", SETS | CND_MY_NOTE_QUIET, 0 },
	{ "sql_quote_show_create", SETS, 0 },
	{ "sql_safe_updates", UNDERSTOOD, 0 },
	{ "sql_select_limit", UNDERSTOOD, 0 },
	{ "time_zone", UNDERSTOOD, CND_MY_VARIABLE_TEXT },
	{ "transaction_isolation", SETS,
		CND_MY_VARIABLE_TEXT | CND_MY_VARIABLE_MYSQL | CND_MY_VARIABLE_NEXT },
	{ "transaction_read_only", SETS, CND_MY_VARIABLE_MYSQL | CND_MY_VARIABLE_NEXT },
	{ "tx_isolation", SETS,
		CND_MY_VARIABLE_TEXT | CND_MY_VARIABLE_MARIADB | CND_MY_VARIABLE_NEXT },
	{ "tx_read_only", SETS, CND_MY_VARIABLE_MARIADB | CND_MY_VARIABLE_NEXT },
	{ "unique_checks", SETS, 0 },
	{ "wait_timeout", SETS, 0 },
	{ NULL, 0, 0 },
};

const struct cnd_my_variable *
cnd_my_variable(const char *name, size_t n)
{
	const struct cnd_my_variable *v = cnd_my_variables;

	while (v->name && cnc_sql_compare(name, n, v->name) != 0)
		v++;
	return v->name ? v : NULL;
}
