/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLGetInfo(): a table of all answers, by dialect where they differ. info_call.c asks with the
 * facts of a connection. It has no state.
 */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef void get_value(SQLUSMALLINT id, const struct cod_info_facts *facts,
	struct cod_info_value *value);

struct row {
	SQLUSMALLINT id;
	enum cod_info_kind kind;
	SQLUINTEGER numbers[COD_N_DIALECTS];
	const char *texts[COD_N_DIALECTS];
	get_value *get; /* called if the value is not in the table */
};

/* ---- facts of the connection ---- */

static const char *
or_empty(const char *text)
{
	return text ? text : "";
}

static void
get_fact(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	const struct {
		SQLUSMALLINT id;
		const char *text;
	} texts[] = {
		{ SQL_DATA_SOURCE_NAME, facts->dsn },
		{ SQL_DATABASE_NAME, facts->database },
		{ SQL_SERVER_NAME, facts->server },
		{ SQL_USER_NAME, facts->user },
		{ SQL_DRIVER_NAME, facts->driver_name },
		{ SQL_DATA_SOURCE_READ_ONLY, facts->is_read_only ? "Y" : "N" },
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		if (texts[i].id == id)
			value->text = or_empty(texts[i].text);
	}
}

static int
is_mariadb(const struct cod_info_facts *facts)
{
	return facts->dialect == COD_DIALECT_MYSQL &&
	       strstr(or_empty(facts->server_version), "MariaDB") != NULL;
}

static void
get_dbms_name(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	static const char *const names[COD_N_DIALECTS] = {
		[COD_DIALECT_OTHER] = "Cenote",
		[COD_DIALECT_POSTGRESQL] = "PostgreSQL",
		[COD_DIALECT_MYSQL] = "MySQL",
		[COD_DIALECT_SQLITE] = "SQLite",
		[COD_DIALECT_TDS] = "Microsoft SQL Server",
	};

	(void)id;
	value->text = is_mariadb(facts) ? "MariaDB" : names[facts->dialect];
}

/* Write the version as the standard wants it: "15.00.0018" for "15.18 (Debian ...)", "10.11.0019" for
 * "10.11.19-MariaDB...". Cut to `size`. */
static void
format_version(const char *server_version, char *to, size_t size)
{
	unsigned long parts[3] = { 0, 0, 0 };
	const char *p = or_empty(server_version);

	for (size_t i = 0; i < 3 && *p >= '0' && *p <= '9'; i++) {
		char *end;

		parts[i] = strtoul(p, &end, 10) % 10000;
		p = *end == '.' ? end + 1 : "";
	}
	(void)snprintf(
		to, size, "%02lu.%02lu.%04lu", parts[0] % 100, parts[1] % 100, parts[2]);
}

/* Write the version in the standard's form, and then in the server's own. */
static void
get_dbms_version(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	char form[16];

	(void)id;
	format_version(facts->server_version, form, sizeof(form));
	(void)snprintf(value->buffer, sizeof(value->buffer), "%s %s", form,
		or_empty(facts->server_version));
	value->text = value->buffer;
}

static void
get_functions(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	value->number = cod_function_mask(facts->dialect, id);
}

static void
get_intervals(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	value->number = cod_interval_mask(facts->dialect, id);
}

static void
get_casts(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	(void)id;
	value->number = cod_cast_mask(facts->dialect);
}

static void
get_cast_functions(
	SQLUSMALLINT id, const struct cod_info_facts *facts, struct cod_info_value *value)
{
	(void)id;
	value->number = SQL_FN_CVT_CAST;
	if (cod_cast_mask(facts->dialect))
		value->number |= SQL_FN_CVT_CONVERT;
}

/* ---- answers that are known in advance ---- */

#define NO_TEXT                                                                          \
	{                                                                                \
		NULL                                                                     \
	}
#define EACH(v)                                                                          \
	{                                                                                \
		v, v, v, v, v                                                            \
	}
/* An answer that all servers share. */
#define U16(id, v)                                                                       \
	{                                                                                \
		id, COD_INFO_U16, EACH(v), NO_TEXT, NULL                                 \
	}
#define U32(id, v)                                                                       \
	{                                                                                \
		id, COD_INFO_U32, EACH(v), NO_TEXT, NULL                                 \
	}
#define TEXT(id, v)                                                                      \
	{                                                                                \
		id, COD_INFO_TEXT, EACH(0), EACH(v), NULL                                \
	}
/* An answer for each dialect, in the order of enum cod_dialect: other, PostgreSQL, MySQL, SQLite,
 * SQL Server. */
#define U16_BY(id, ...)                                                                  \
	{                                                                                \
		id, COD_INFO_U16, { __VA_ARGS__ }, NO_TEXT, NULL                         \
	}
#define U32_BY(id, ...)                                                                  \
	{                                                                                \
		id, COD_INFO_U32, { __VA_ARGS__ }, NO_TEXT, NULL                         \
	}
#define TEXT_BY(id, ...)                                                                 \
	{                                                                                \
		id, COD_INFO_TEXT, EACH(0), { __VA_ARGS__ }, NULL                        \
	}
/* An answer that a function computes. */
#define U32_OF(id, get)                                                                  \
	{                                                                                \
		id, COD_INFO_U32, EACH(0), NO_TEXT, get                                  \
	}
#define TEXT_OF(id, get)                                                                 \
	{                                                                                \
		id, COD_INFO_TEXT, EACH(0), EACH(""), get                                \
	}

#define OUTER_JOINS                                                                      \
	(SQL_OJ_LEFT | SQL_OJ_NESTED | SQL_OJ_NOT_ORDERED | SQL_OJ_INNER |               \
		SQL_OJ_ALL_COMPARISON_OPS)
#define ALL_USAGE                                                                        \
	(SQL_CU_DML_STATEMENTS | SQL_CU_PROCEDURE_INVOCATION | SQL_CU_TABLE_DEFINITION | \
		SQL_CU_INDEX_DEFINITION | SQL_CU_PRIVILEGE_DEFINITION)
#define SQLITE_USAGE                                                                     \
	(SQL_SU_DML_STATEMENTS | SQL_SU_TABLE_DEFINITION | SQL_SU_INDEX_DEFINITION)
#define ISOLATIONS                                                                       \
	(SQL_TXN_READ_UNCOMMITTED | SQL_TXN_READ_COMMITTED | SQL_TXN_REPEATABLE_READ |   \
		SQL_TXN_SERIALIZABLE)
#define STATIC_CURSOR                                                                    \
	(SQL_CA1_NEXT | SQL_CA1_ABSOLUTE | SQL_CA1_RELATIVE | SQL_CA1_BOOKMARK |         \
		SQL_CA1_LOCK_NO_CHANGE | SQL_CA1_POS_POSITION | SQL_CA1_POS_UPDATE |     \
		SQL_CA1_POS_DELETE | SQL_CA1_POS_REFRESH | SQL_CA1_BULK_ADD |            \
		SQL_CA1_BULK_UPDATE_BY_BOOKMARK | SQL_CA1_BULK_DELETE_BY_BOOKMARK |      \
		SQL_CA1_BULK_FETCH_BY_BOOKMARK)
#define ALTER_PG                                                                         \
	(SQL_AT_ADD_COLUMN_SINGLE | SQL_AT_ADD_COLUMN_DEFAULT |                          \
		SQL_AT_DROP_COLUMN_CASCADE | SQL_AT_DROP_COLUMN_RESTRICT |               \
		SQL_AT_SET_COLUMN_DEFAULT | SQL_AT_DROP_COLUMN_DEFAULT |                 \
		SQL_AT_ADD_TABLE_CONSTRAINT | SQL_AT_DROP_TABLE_CONSTRAINT_CASCADE |     \
		SQL_AT_DROP_TABLE_CONSTRAINT_RESTRICT |                                  \
		SQL_AT_CONSTRAINT_NAME_DEFINITION)
#define ALTER_MY                                                                         \
	(SQL_AT_ADD_COLUMN_SINGLE | SQL_AT_ADD_COLUMN_DEFAULT |                          \
		SQL_AT_SET_COLUMN_DEFAULT | SQL_AT_DROP_COLUMN_DEFAULT |                 \
		SQL_AT_ADD_TABLE_CONSTRAINT | SQL_AT_CONSTRAINT_NAME_DEFINITION)
#define ALTER_LITE (SQL_AT_ADD_COLUMN_SINGLE | SQL_AT_ADD_COLUMN_DEFAULT)
#define CREATE_TABLE                                                                     \
	(SQL_CT_CREATE_TABLE | SQL_CT_TABLE_CONSTRAINT |                                 \
		SQL_CT_CONSTRAINT_NAME_DEFINITION | SQL_CT_COLUMN_CONSTRAINT |           \
		SQL_CT_COLUMN_DEFAULT)
#define CREATE_TABLE_PG                                                                  \
	(CREATE_TABLE | SQL_CT_LOCAL_TEMPORARY | SQL_CT_COMMIT_PRESERVE |                \
		SQL_CT_COMMIT_DELETE | SQL_CT_COLUMN_COLLATION |                         \
		SQL_CT_CONSTRAINT_INITIALLY_DEFERRED |                                   \
		SQL_CT_CONSTRAINT_INITIALLY_IMMEDIATE | SQL_CT_CONSTRAINT_DEFERRABLE |   \
		SQL_CT_CONSTRAINT_NON_DEFERRABLE)
#define DROP_BOTH      (SQL_DT_DROP_TABLE | SQL_DT_CASCADE | SQL_DT_RESTRICT)
#define DROP_VIEW_BOTH (SQL_DV_DROP_VIEW | SQL_DV_CASCADE | SQL_DV_RESTRICT)
#define SUBQUERIES                                                                       \
	(SQL_SQ_COMPARISON | SQL_SQ_EXISTS | SQL_SQ_IN | SQL_SQ_CORRELATED_SUBQUERIES)
#define PREDICATES                                                                       \
	(SQL_SP_EXISTS | SQL_SP_ISNOTNULL | SQL_SP_ISNULL | SQL_SP_LIKE | SQL_SP_IN |    \
		SQL_SP_BETWEEN | SQL_SP_COMPARISON)
#define JOINS                                                                            \
	(SQL_SRJO_CROSS_JOIN | SQL_SRJO_INNER_JOIN | SQL_SRJO_LEFT_OUTER_JOIN |          \
		SQL_SRJO_NATURAL_JOIN)
#define JOINS_MY   (JOINS | SQL_SRJO_RIGHT_OUTER_JOIN)
#define JOINS_PG   (JOINS_MY | SQL_SRJO_FULL_OUTER_JOIN)
#define VALUE_FUNS (SQL_SVE_CASE | SQL_SVE_CAST | SQL_SVE_COALESCE | SQL_SVE_NULLIF)
#define CONSTRUCTORS                                                                     \
	(SQL_SRVC_VALUE_EXPRESSION | SQL_SRVC_NULL | SQL_SRVC_DEFAULT |                  \
		SQL_SRVC_ROW_SUBQUERY)
#define GRANTS                                                                           \
	(SQL_SG_DELETE_TABLE | SQL_SG_INSERT_TABLE | SQL_SG_REFERENCES_TABLE |           \
		SQL_SG_SELECT_TABLE | SQL_SG_UPDATE_TABLE | SQL_SG_WITH_GRANT_OPTION)
#define REVOKES                                                                          \
	(SQL_SR_DELETE_TABLE | SQL_SR_INSERT_TABLE | SQL_SR_REFERENCES_TABLE |           \
		SQL_SR_SELECT_TABLE | SQL_SR_UPDATE_TABLE)
#define FOREIGN_DELETES (SQL_SFKD_CASCADE | SQL_SFKD_NO_ACTION | SQL_SFKD_SET_NULL)
#define FOREIGN_UPDATES (SQL_SFKU_CASCADE | SQL_SFKU_NO_ACTION | SQL_SFKU_SET_NULL)
#define DATETIMES                                                                        \
	(SQL_SDF_CURRENT_DATE | SQL_SDF_CURRENT_TIME | SQL_SDF_CURRENT_TIMESTAMP)
#define STRINGS                                                                          \
	(SQL_SSF_LOWER | SQL_SSF_UPPER | SQL_SSF_SUBSTRING | SQL_SSF_TRIM_BOTH |         \
		SQL_SSF_TRIM_LEADING | SQL_SSF_TRIM_TRAILING)
#define NUMERICS                                                                         \
	(SQL_SNVF_BIT_LENGTH | SQL_SNVF_CHAR_LENGTH | SQL_SNVF_CHARACTER_LENGTH |        \
		SQL_SNVF_EXTRACT | SQL_SNVF_OCTET_LENGTH | SQL_SNVF_POSITION)
#define DATETIME_LITERALS (SQL_DL_SQL92_DATE | SQL_DL_SQL92_TIME | SQL_DL_SQL92_TIMESTAMP)
#define INTERVAL_LITERALS                                                                \
	(SQL_DL_SQL92_INTERVAL_YEAR | SQL_DL_SQL92_INTERVAL_MONTH |                      \
		SQL_DL_SQL92_INTERVAL_DAY | SQL_DL_SQL92_INTERVAL_HOUR |                 \
		SQL_DL_SQL92_INTERVAL_MINUTE | SQL_DL_SQL92_INTERVAL_SECOND |            \
		SQL_DL_SQL92_INTERVAL_YEAR_TO_MONTH |                                    \
		SQL_DL_SQL92_INTERVAL_DAY_TO_HOUR |                                      \
		SQL_DL_SQL92_INTERVAL_DAY_TO_MINUTE |                                    \
		SQL_DL_SQL92_INTERVAL_DAY_TO_SECOND |                                    \
		SQL_DL_SQL92_INTERVAL_HOUR_TO_MINUTE |                                   \
		SQL_DL_SQL92_INTERVAL_HOUR_TO_SECOND |                                   \
		SQL_DL_SQL92_INTERVAL_MINUTE_TO_SECOND)
#define AGGREGATES                                                                       \
	(SQL_AF_AVG | SQL_AF_COUNT | SQL_AF_MAX | SQL_AF_MIN | SQL_AF_SUM |              \
		SQL_AF_DISTINCT | SQL_AF_ALL)

static const struct row rows[] = {
	/* driver and data source */
	U16(SQL_ACTIVE_ENVIRONMENTS, 0),
	U32(SQL_ASYNC_MODE, SQL_AM_STATEMENT),
	U32(SQL_ASYNC_DBC_FUNCTIONS, SQL_ASYNC_DBC_NOT_CAPABLE),
	U32(SQL_ASYNC_NOTIFICATION, SQL_ASYNC_NOTIFICATION_NOT_CAPABLE),
	U32(SQL_MAX_ASYNC_CONCURRENT_STATEMENTS, 0),
	U32_BY(SQL_BATCH_SUPPORT, 0, SQL_BS_SELECT_EXPLICIT | SQL_BS_ROW_COUNT_EXPLICIT,
		0, 0, 0),
	U32_BY(SQL_BATCH_ROW_COUNT, 0, SQL_BRC_EXPLICIT, 0, 0, 0),
	TEXT_OF(SQL_DATA_SOURCE_NAME, get_fact),
	TEXT_OF(SQL_DRIVER_NAME, get_fact),
	TEXT(SQL_DRIVER_ODBC_VER, "03.80"),
	TEXT(SQL_DRIVER_VER, "00.01.0000"),
	U32(SQL_DRIVER_AWARE_POOLING_SUPPORTED, SQL_DRIVER_AWARE_POOLING_NOT_CAPABLE),
	U32(SQL_DTC_TRANSITION_COST, 0),
	U32(SQL_FETCH_DIRECTION, SQL_FD_FETCH_NEXT | SQL_FD_FETCH_FIRST |
					 SQL_FD_FETCH_LAST | SQL_FD_FETCH_PRIOR |
					 SQL_FD_FETCH_ABSOLUTE | SQL_FD_FETCH_RELATIVE |
					 SQL_FD_FETCH_BOOKMARK),
	U16(SQL_FILE_USAGE, SQL_FILE_NOT_SUPPORTED),
	U32(SQL_GETDATA_EXTENSIONS,
		SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER | SQL_GD_BLOCK | SQL_GD_BOUND),
	U16(SQL_MAX_DRIVER_CONNECTIONS, 0),
	U16(SQL_MAX_CONCURRENT_ACTIVITIES, 0),
	U16(SQL_ODBC_API_CONFORMANCE, SQL_OAC_LEVEL1),
	U32(SQL_ODBC_INTERFACE_CONFORMANCE, SQL_OIC_CORE),
	U16(SQL_ODBC_SAG_CLI_CONFORMANCE, SQL_OSCC_COMPLIANT),
	U32(SQL_STANDARD_CLI_CONFORMANCE, SQL_SCC_XOPEN_CLI_VERSION1 | SQL_SCC_ISO92_CLI),
	U32(SQL_PARAM_ARRAY_ROW_COUNTS, SQL_PARC_NO_BATCH),
	U32(SQL_PARAM_ARRAY_SELECTS, SQL_PAS_NO_SELECT),
	TEXT(SQL_ROW_UPDATES, "N"),
	TEXT(SQL_SEARCH_PATTERN_ESCAPE, "\\"),
	TEXT_OF(SQL_SERVER_NAME, get_fact),
	TEXT_OF(SQL_DATABASE_NAME, get_fact),
	TEXT_OF(SQL_DBMS_NAME, get_dbms_name),
	TEXT_OF(SQL_DBMS_VER, get_dbms_version),
	TEXT_OF(SQL_USER_NAME, get_fact),
	TEXT_OF(SQL_DATA_SOURCE_READ_ONLY, get_fact),
	TEXT(SQL_ACCESSIBLE_PROCEDURES, "N"),
	TEXT(SQL_ACCESSIBLE_TABLES, "N"),
	TEXT(SQL_XOPEN_CLI_YEAR, "1995"),
	/* cursors */
	U32(SQL_BOOKMARK_PERSISTENCE, SQL_BP_SCROLL | SQL_BP_UPDATE),
	U16(SQL_CURSOR_COMMIT_BEHAVIOR, SQL_CB_PRESERVE),
	U16(SQL_CURSOR_ROLLBACK_BEHAVIOR, SQL_CB_PRESERVE),
	U32(SQL_CURSOR_SENSITIVITY, SQL_INSENSITIVE),
	U32(SQL_DYNAMIC_CURSOR_ATTRIBUTES1, 0),
	U32(SQL_DYNAMIC_CURSOR_ATTRIBUTES2, 0),
	U32(SQL_FORWARD_ONLY_CURSOR_ATTRIBUTES1,
		SQL_CA1_NEXT | SQL_CA1_LOCK_NO_CHANGE | SQL_CA1_POS_POSITION),
	U32(SQL_FORWARD_ONLY_CURSOR_ATTRIBUTES2,
		SQL_CA2_READ_ONLY_CONCURRENCY | SQL_CA2_MAX_ROWS_SELECT),
	U32(SQL_KEYSET_CURSOR_ATTRIBUTES1, 0),
	U32(SQL_KEYSET_CURSOR_ATTRIBUTES2, 0),
	U32(SQL_STATIC_CURSOR_ATTRIBUTES1, STATIC_CURSOR),
	U32(SQL_STATIC_CURSOR_ATTRIBUTES2,
		SQL_CA2_READ_ONLY_CONCURRENCY | SQL_CA2_OPT_VALUES_CONCURRENCY |
			SQL_CA2_MAX_ROWS_SELECT | SQL_CA2_CRC_EXACT),
	U32(SQL_LOCK_TYPES, SQL_LCK_NO_CHANGE),
	U32(SQL_POS_OPERATIONS, SQL_POS_POSITION | SQL_POS_REFRESH | SQL_POS_UPDATE |
					SQL_POS_DELETE | SQL_POS_ADD),
	U32(SQL_POSITIONED_STATEMENTS, 0),
	U32(SQL_SCROLL_CONCURRENCY, SQL_SCCO_READ_ONLY | SQL_SCCO_OPT_VALUES),
	U32(SQL_SCROLL_OPTIONS, SQL_SO_FORWARD_ONLY | SQL_SO_STATIC),
	U32(SQL_STATIC_SENSITIVITY, 0),
	/* about the server */
	TEXT_BY(SQL_CATALOG_NAME, "N", "Y", "Y", "N", "Y"),
	TEXT_BY(SQL_CATALOG_TERM, "", "database", "database", "", "database"),
	TEXT_BY(SQL_CATALOG_NAME_SEPARATOR, "", ".", ".", "", "."),
	U16_BY(SQL_CATALOG_LOCATION, 0, SQL_CL_START, SQL_CL_START, 0, SQL_CL_START),
	U32_BY(SQL_CATALOG_USAGE, 0, ALL_USAGE, ALL_USAGE, 0, ALL_USAGE),
	TEXT_BY(SQL_SCHEMA_TERM, "schema", "schema", "", "schema", "schema"),
	U32_BY(SQL_SCHEMA_USAGE, 0, ALL_USAGE, 0, SQLITE_USAGE, ALL_USAGE),
	TEXT(SQL_TABLE_TERM, "table"),
	TEXT_BY(SQL_PROCEDURE_TERM, "", "procedure", "procedure", "", "procedure"),
	TEXT_BY(SQL_PROCEDURES, "N", "Y", "Y", "N", "Y"),
	TEXT(SQL_COLLATION_SEQ, ""),
	TEXT(SQL_COLUMN_ALIAS, "Y"),
	U16(SQL_CONCAT_NULL_BEHAVIOR, SQL_CB_NULL),
	U16(SQL_CORRELATION_NAME, SQL_CN_ANY),
	/* PostgreSQL describes the type of a parameter but not the scale of a numeric. A program
	 * that relied on it would round. */
	TEXT(SQL_DESCRIBE_PARAMETER, "N"),
	TEXT(SQL_EXPRESSIONS_IN_ORDERBY, "Y"),
	U16_BY(SQL_GROUP_BY, SQL_GB_GROUP_BY_EQUALS_SELECT,
		SQL_GB_GROUP_BY_CONTAINS_SELECT, SQL_GB_NO_RELATION, SQL_GB_NO_RELATION,
		SQL_GB_GROUP_BY_CONTAINS_SELECT),
	U16_BY(SQL_IDENTIFIER_CASE, SQL_IC_MIXED, SQL_IC_LOWER, SQL_IC_MIXED,
		SQL_IC_MIXED, SQL_IC_MIXED),
	U16_BY(SQL_QUOTED_IDENTIFIER_CASE, SQL_IC_SENSITIVE, SQL_IC_SENSITIVE,
		SQL_IC_MIXED, SQL_IC_MIXED, SQL_IC_MIXED),
	TEXT_BY(SQL_IDENTIFIER_QUOTE_CHAR, "\"", "\"", "`", "\"", "\""),
	TEXT_BY(SQL_INTEGRITY, "N", "Y", "N", "N", "N"),
	TEXT(SQL_KEYWORDS, ""),
	TEXT(SQL_LIKE_ESCAPE_CLAUSE, "Y"),
	TEXT_BY(SQL_MULT_RESULT_SETS, "N", "Y", "Y", "N", "Y"),
	TEXT(SQL_MULTIPLE_ACTIVE_TXN, "Y"),
	TEXT(SQL_NEED_LONG_DATA_LEN, "N"),
	U16(SQL_NON_NULLABLE_COLUMNS, SQL_NNC_NON_NULL),
	U16_BY(SQL_NULL_COLLATION, SQL_NC_HIGH, SQL_NC_HIGH, SQL_NC_LOW, SQL_NC_LOW,
		SQL_NC_LOW),
	TEXT(SQL_ORDER_BY_COLUMNS_IN_SELECT, "N"),
	TEXT(SQL_OUTER_JOINS, "Y"),
	U32_BY(SQL_OJ_CAPABILITIES, SQL_OJ_LEFT, OUTER_JOINS | SQL_OJ_RIGHT | SQL_OJ_FULL,
		OUTER_JOINS | SQL_OJ_RIGHT, OUTER_JOINS,
		OUTER_JOINS | SQL_OJ_RIGHT | SQL_OJ_FULL),
	U16(SQL_ODBC_SQL_CONFORMANCE, SQL_OSC_CORE),
	TEXT_BY(SQL_SPECIAL_CHARACTERS, "", "_$", "_$", "_$", "_$#@"),
	/* transactions */
	U16_BY(SQL_TXN_CAPABLE, SQL_TC_ALL, SQL_TC_ALL, SQL_TC_DDL_COMMIT, SQL_TC_ALL,
		SQL_TC_ALL),
	U32_BY(SQL_DEFAULT_TXN_ISOLATION, SQL_TXN_READ_COMMITTED, SQL_TXN_READ_COMMITTED,
		SQL_TXN_REPEATABLE_READ, SQL_TXN_SERIALIZABLE, SQL_TXN_READ_COMMITTED),
	U32_BY(SQL_TXN_ISOLATION_OPTION, 0, ISOLATIONS, ISOLATIONS, SQL_TXN_SERIALIZABLE,
		ISOLATIONS),
	/* limits; 0: there is none, or it is unknown */
	U32(SQL_MAX_BINARY_LITERAL_LEN, 0),
	U32(SQL_MAX_CHAR_LITERAL_LEN, 0),
	U16_BY(SQL_MAX_CATALOG_NAME_LEN, 0, 63, 64, 0, 128),
	U16_BY(SQL_MAX_SCHEMA_NAME_LEN, 0, 63, 0, 0, 128),
	U16_BY(SQL_MAX_TABLE_NAME_LEN, 0, 63, 64, 0, 128),
	U16_BY(SQL_MAX_COLUMN_NAME_LEN, 0, 63, 64, 0, 128),
	U16_BY(SQL_MAX_PROCEDURE_NAME_LEN, 0, 63, 64, 0, 128),
	U16_BY(SQL_MAX_IDENTIFIER_LEN, 0, 63, 64, 0, 128),
	U16_BY(SQL_MAX_USER_NAME_LEN, 0, 63, 80, 0, 128),
	U16(SQL_MAX_CURSOR_NAME_LEN, 63),
	U16(SQL_MAX_COLUMNS_IN_GROUP_BY, 0),
	U16_BY(SQL_MAX_COLUMNS_IN_INDEX, 0, 32, 16, 0, 16),
	U16(SQL_MAX_COLUMNS_IN_ORDER_BY, 0),
	U16_BY(SQL_MAX_COLUMNS_IN_SELECT, 0, 1664, 4096, 2000, 4096),
	U16_BY(SQL_MAX_COLUMNS_IN_TABLE, 0, 1600, 4096, 2000, 1024),
	U32(SQL_MAX_INDEX_SIZE, 0),
	U32(SQL_MAX_ROW_SIZE, 0),
	TEXT(SQL_MAX_ROW_SIZE_INCLUDES_LONG, "Y"),
	U32(SQL_MAX_STATEMENT_LEN, 0),
	U16_BY(SQL_MAX_TABLES_IN_SELECT, 0, 0, 61, 64, 256),
	/* SQL */
	U32(SQL_AGGREGATE_FUNCTIONS, AGGREGATES),
	U32_BY(SQL_ALTER_DOMAIN, 0,
		SQL_AD_ADD_DOMAIN_CONSTRAINT | SQL_AD_ADD_DOMAIN_DEFAULT |
			SQL_AD_DROP_DOMAIN_CONSTRAINT | SQL_AD_DROP_DOMAIN_DEFAULT |
			SQL_AD_CONSTRAINT_NAME_DEFINITION,
		0, 0, 0),
	U32_BY(SQL_ALTER_TABLE, 0, ALTER_PG, ALTER_MY, ALTER_LITE, 0),
	U32(SQL_CREATE_ASSERTION, 0),
	U32(SQL_CREATE_CHARACTER_SET, 0),
	U32_BY(SQL_CREATE_COLLATION, 0, SQL_CCOL_CREATE_COLLATION, 0, 0, 0),
	U32_BY(SQL_CREATE_DOMAIN, 0,
		SQL_CDO_CREATE_DOMAIN | SQL_CDO_DEFAULT | SQL_CDO_CONSTRAINT |
			SQL_CDO_COLLATION | SQL_CDO_CONSTRAINT_NAME_DEFINITION,
		0, 0, 0),
	U32_BY(SQL_CREATE_SCHEMA, 0, SQL_CS_CREATE_SCHEMA | SQL_CS_AUTHORIZATION, 0, 0,
		0),
	U32_BY(SQL_CREATE_TABLE, SQL_CT_CREATE_TABLE, CREATE_TABLE_PG, CREATE_TABLE,
		CREATE_TABLE, SQL_CT_CREATE_TABLE),
	U32(SQL_CREATE_TRANSLATION, 0),
	U32_BY(SQL_CREATE_VIEW, 0,
		SQL_CV_CREATE_VIEW | SQL_CV_CHECK_OPTION | SQL_CV_CASCADED | SQL_CV_LOCAL,
		SQL_CV_CREATE_VIEW | SQL_CV_CHECK_OPTION | SQL_CV_CASCADED | SQL_CV_LOCAL,
		SQL_CV_CREATE_VIEW, 0),
	U32_BY(SQL_DATETIME_LITERALS, 0, DATETIME_LITERALS | INTERVAL_LITERALS,
		DATETIME_LITERALS, 0, 0),
	U32(SQL_DDL_INDEX, SQL_DI_CREATE_INDEX | SQL_DI_DROP_INDEX),
	U32(SQL_DROP_ASSERTION, 0),
	U32(SQL_DROP_CHARACTER_SET, 0),
	U32_BY(SQL_DROP_COLLATION, 0, SQL_DC_DROP_COLLATION, 0, 0, 0),
	U32_BY(SQL_DROP_DOMAIN, 0, SQL_DD_DROP_DOMAIN | SQL_DD_CASCADE | SQL_DD_RESTRICT,
		0, 0, 0),
	U32_BY(SQL_DROP_SCHEMA, 0, SQL_DS_DROP_SCHEMA | SQL_DS_CASCADE | SQL_DS_RESTRICT,
		0, 0, 0),
	U32_BY(SQL_DROP_TABLE, SQL_DT_DROP_TABLE, DROP_BOTH, DROP_BOTH, SQL_DT_DROP_TABLE,
		SQL_DT_DROP_TABLE),
	U32(SQL_DROP_TRANSLATION, 0),
	U32_BY(SQL_DROP_VIEW, 0, DROP_VIEW_BOTH, DROP_VIEW_BOTH, SQL_DV_DROP_VIEW, 0),
	U32_BY(SQL_INDEX_KEYWORDS, SQL_IK_NONE, SQL_IK_ASC | SQL_IK_DESC,
		SQL_IK_ASC | SQL_IK_DESC, SQL_IK_ASC | SQL_IK_DESC, SQL_IK_NONE),
	U32_BY(SQL_INFO_SCHEMA_VIEWS, 0,
		SQL_ISV_TABLES | SQL_ISV_COLUMNS | SQL_ISV_VIEWS | SQL_ISV_SCHEMATA |
			SQL_ISV_TABLE_PRIVILEGES | SQL_ISV_COLUMN_PRIVILEGES |
			SQL_ISV_KEY_COLUMN_USAGE | SQL_ISV_TABLE_CONSTRAINTS |
			SQL_ISV_REFERENTIAL_CONSTRAINTS,
		SQL_ISV_TABLES | SQL_ISV_COLUMNS | SQL_ISV_VIEWS | SQL_ISV_SCHEMATA |
			SQL_ISV_TABLE_PRIVILEGES | SQL_ISV_COLUMN_PRIVILEGES |
			SQL_ISV_KEY_COLUMN_USAGE | SQL_ISV_TABLE_CONSTRAINTS |
			SQL_ISV_REFERENTIAL_CONSTRAINTS,
		0, 0),
	U32(SQL_INSERT_STATEMENT, SQL_IS_INSERT_LITERALS | SQL_IS_INSERT_SEARCHED),
	U32(SQL_SQL_CONFORMANCE, SQL_SC_SQL92_ENTRY),
	U32_BY(SQL_SQL92_DATETIME_FUNCTIONS, 0, DATETIMES, DATETIMES, DATETIMES, 0),
	U32_BY(SQL_SQL92_FOREIGN_KEY_DELETE_RULE, 0,
		FOREIGN_DELETES | SQL_SFKD_SET_DEFAULT, FOREIGN_DELETES,
		FOREIGN_DELETES | SQL_SFKD_SET_DEFAULT, 0),
	U32_BY(SQL_SQL92_FOREIGN_KEY_UPDATE_RULE, 0,
		FOREIGN_UPDATES | SQL_SFKU_SET_DEFAULT, FOREIGN_UPDATES,
		FOREIGN_UPDATES | SQL_SFKU_SET_DEFAULT, 0),
	U32_BY(SQL_SQL92_GRANT, 0,
		GRANTS | SQL_SG_INSERT_COLUMN | SQL_SG_REFERENCES_COLUMN |
			SQL_SG_UPDATE_COLUMN,
		GRANTS | SQL_SG_INSERT_COLUMN | SQL_SG_UPDATE_COLUMN, 0, 0),
	U32_BY(SQL_SQL92_NUMERIC_VALUE_FUNCTIONS, 0, NUMERICS, NUMERICS, 0, 0),
	U32_BY(SQL_SQL92_PREDICATES, SQL_SP_COMPARISON,
		PREDICATES | SQL_SP_QUANTIFIED_COMPARISON | SQL_SP_OVERLAPS,
		PREDICATES | SQL_SP_QUANTIFIED_COMPARISON, PREDICATES, PREDICATES),
	U32_BY(SQL_SQL92_RELATIONAL_JOIN_OPERATORS, 0, JOINS_PG, JOINS_MY, JOINS, 0),
	U32_BY(SQL_SQL92_REVOKE, 0,
		REVOKES | SQL_SR_CASCADE | SQL_SR_RESTRICT | SQL_SR_GRANT_OPTION_FOR,
		REVOKES, 0, 0),
	U32_BY(SQL_SQL92_ROW_VALUE_CONSTRUCTOR, 0, CONSTRUCTORS, CONSTRUCTORS,
		SQL_SRVC_VALUE_EXPRESSION | SQL_SRVC_NULL | SQL_SRVC_ROW_SUBQUERY, 0),
	U32_BY(SQL_SQL92_STRING_FUNCTIONS, 0, STRINGS, STRINGS,
		SQL_SSF_LOWER | SQL_SSF_UPPER, 0),
	U32_BY(SQL_SQL92_VALUE_EXPRESSIONS, 0, VALUE_FUNS, VALUE_FUNS, VALUE_FUNS, 0),
	U32_BY(SQL_SUBQUERIES, 0, SUBQUERIES | SQL_SQ_QUANTIFIED,
		SUBQUERIES | SQL_SQ_QUANTIFIED, SUBQUERIES, 0),
	U32(SQL_UNION, SQL_U_UNION | SQL_U_UNION_ALL),
	/* escapes */
	U32_OF(SQL_NUMERIC_FUNCTIONS, get_functions),
	U32_OF(SQL_STRING_FUNCTIONS, get_functions),
	U32_OF(SQL_SYSTEM_FUNCTIONS, get_functions),
	U32_OF(SQL_TIMEDATE_FUNCTIONS, get_functions),
	U32_OF(SQL_TIMEDATE_ADD_INTERVALS, get_intervals),
	U32_OF(SQL_TIMEDATE_DIFF_INTERVALS, get_intervals),
	U32_OF(SQL_CONVERT_FUNCTIONS, get_cast_functions),
	U32_OF(SQL_CONVERT_BIGINT, get_casts),
	U32_OF(SQL_CONVERT_BINARY, get_casts),
	U32_OF(SQL_CONVERT_BIT, get_casts),
	U32_OF(SQL_CONVERT_CHAR, get_casts),
	U32_OF(SQL_CONVERT_DATE, get_casts),
	U32_OF(SQL_CONVERT_DECIMAL, get_casts),
	U32_OF(SQL_CONVERT_DOUBLE, get_casts),
	U32_OF(SQL_CONVERT_FLOAT, get_casts),
	U32_OF(SQL_CONVERT_GUID, get_casts),
	U32_OF(SQL_CONVERT_INTEGER, get_casts),
	U32(SQL_CONVERT_INTERVAL_DAY_TIME, 0),
	U32(SQL_CONVERT_INTERVAL_YEAR_MONTH, 0),
	U32_OF(SQL_CONVERT_LONGVARBINARY, get_casts),
	U32_OF(SQL_CONVERT_LONGVARCHAR, get_casts),
	U32_OF(SQL_CONVERT_NUMERIC, get_casts),
	U32_OF(SQL_CONVERT_REAL, get_casts),
	U32_OF(SQL_CONVERT_SMALLINT, get_casts),
	U32_OF(SQL_CONVERT_TIME, get_casts),
	U32_OF(SQL_CONVERT_TIMESTAMP, get_casts),
	U32_OF(SQL_CONVERT_TINYINT, get_casts),
	U32_OF(SQL_CONVERT_VARBINARY, get_casts),
	U32_OF(SQL_CONVERT_VARCHAR, get_casts),
	U32_OF(SQL_CONVERT_WCHAR, get_casts),
	U32_OF(SQL_CONVERT_WLONGVARCHAR, get_casts),
	U32_OF(SQL_CONVERT_WVARCHAR, get_casts),
};

int
cod_info(SQLUSMALLINT id, const struct cod_info_facts *facts,
	struct cod_info_value *ret_value)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];

		if (row->id != id)
			continue;
		ret_value->kind = row->kind;
		ret_value->number = row->numbers[facts->dialect];
		ret_value->text = row->texts[facts->dialect];
		if (row->get)
			row->get(id, facts, ret_value);
		return 0;
	}
	return -1;
}

int
cod_info_id(size_t i)
{
	return i < COUNT(rows) ? rows[i].id : -1;
}
