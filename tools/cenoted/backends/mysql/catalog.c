/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalog queries are SELECTs on information_schema. A MySQL database is a catalog; there are no schemas. Values
 * from the client go into the SQL as hexadecimal digits. They need no quotes, and mean the same in every character
 * set and sql_mode of the session. For the same reason the server sends names as bytes: they are UTF-8 in
 * information_schema, and are not converted on the way.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../common/catalog.h"
#include "../common/text.h"
#include "my.h"

#define SQL_MAX ((size_t)4 << 20)

struct catalog_kind {
	const char *select; /* up to a WHERE with at least one condition */
	/* What the filters are compared with; NULL: there is no such filter. */
	const char *catalog;
	const char *object;
	const char *column;
	const char *types;
	const char *order;
};

static const char database_sql[] =
	"SELECT CAST(SCHEMA_NAME AS BINARY), NULL FROM information_schema.SCHEMATA "
	"WHERE 1 = 1";

static const char schema_sql[] = "SELECT NULL, NULL, NULL FROM DUAL WHERE 1 = 0";

/* Objects in the server's own databases are system objects. */
static const char table_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), "
	"CAST(kind AS BINARY), CAST(remarks AS BINARY) FROM (SELECT TABLE_SCHEMA, "
	"TABLE_NAME, CASE WHEN TABLE_SCHEMA IN ('information_schema', 'mysql', "
	"'performance_schema', 'sys') THEN 'SYSTEM TABLE' ELSE CASE TABLE_TYPE WHEN "
	"'BASE TABLE' THEN 'TABLE' WHEN 'SYSTEM VERSIONED' THEN 'TABLE' WHEN "
	"'TEMPORARY' THEN 'LOCAL TEMPORARY' ELSE TABLE_TYPE END END AS kind, "
	"IF(TABLE_TYPE = 'VIEW', NULL, NULLIF(TABLE_COMMENT, '')) AS remarks FROM "
	"information_schema.TABLES) AS t WHERE 1 = 1";

/*
 * ODBC's view of a type, for tables with the column names of information_schema.COLUMNS. TYPE_CODE is
 * ODBC's number of the type. The others depend on `code` and `is_unsigned`: the size in digits or
 * characters, the bytes, the digits after the point, the radix.
 */
#define TYPE_CODE                                                                        \
	"CASE DATA_TYPE WHEN 'tinyint' THEN -6 WHEN 'smallint' THEN 5 WHEN "             \
	"'year' THEN 5 WHEN 'mediumint' THEN 4 WHEN 'int' THEN 4 WHEN 'bigint' "         \
	"THEN -5 WHEN 'decimal' THEN 3 WHEN 'float' THEN 7 WHEN 'double' THEN "          \
	"8 WHEN 'bit' THEN IF(NUMERIC_PRECISION = 1, -7, -2) WHEN 'date' THEN "          \
	"91 WHEN 'time' THEN 92 WHEN 'datetime' THEN 93 WHEN 'timestamp' THEN "          \
	"93 WHEN 'char' THEN 1 WHEN 'enum' THEN 1 WHEN 'set' THEN 1 WHEN "               \
	"'binary' THEN -2 WHEN 'varbinary' THEN -3 WHEN 'tinytext' THEN -1 "             \
	"WHEN 'text' THEN -1 WHEN 'mediumtext' THEN -1 WHEN 'longtext' THEN -1 "         \
	"WHEN 'json' THEN -1 WHEN 'tinyblob' THEN -4 WHEN 'blob' THEN -4 WHEN "          \
	"'mediumblob' THEN -4 WHEN 'longblob' THEN -4 WHEN 'vector' THEN -4 "            \
	"WHEN 'geometry' THEN -4 WHEN 'point' THEN -4 WHEN 'linestring' THEN "           \
	"-4 WHEN 'polygon' THEN -4 WHEN 'multipoint' THEN -4 WHEN "                      \
	"'multilinestring' THEN -4 WHEN 'multipolygon' THEN -4 WHEN "                    \
	"'geometrycollection' THEN -4 WHEN 'geomcollection' THEN -4 WHEN "               \
	"'uuid' THEN -11 ELSE 12 END"
#define TYPE_SIZE                                                                        \
	"CASE code WHEN -7 THEN 1 WHEN -6 THEN 3 WHEN 4 THEN IF(DATA_TYPE = "            \
	"'int', 10, IF(is_unsigned, 8, 7)) WHEN 5 THEN IF(DATA_TYPE = 'year', "          \
	"4, 5) WHEN 7 THEN 24 WHEN 8 THEN 53 WHEN -5 THEN IF(is_unsigned, 20, "          \
	"19) WHEN 3 THEN NUMERIC_PRECISION WHEN 91 THEN 10 WHEN 92 THEN 8 + "            \
	"IF(DATETIME_PRECISION > 0, DATETIME_PRECISION + 1, 0) WHEN 93 THEN 19 "         \
	"+ IF(DATETIME_PRECISION > 0, DATETIME_PRECISION + 1, 0) WHEN -11 THEN "         \
	"36 ELSE CASE DATA_TYPE WHEN 'bit' THEN (NUMERIC_PRECISION + 7) DIV 8 "          \
	"WHEN 'inet6' THEN 39 WHEN 'inet4' THEN 15 ELSE "                                \
	"CHARACTER_MAXIMUM_LENGTH END END"
#define TYPE_BYTES                                                                       \
	"CASE code WHEN -7 THEN 1 WHEN -6 THEN 1 WHEN 5 THEN 2 WHEN 4 THEN 4 "           \
	"WHEN -5 THEN 8 WHEN 7 THEN 4 WHEN 8 THEN 8 WHEN 3 THEN "                        \
	"NUMERIC_PRECISION + 2 WHEN 91 THEN 6 WHEN 92 THEN 6 WHEN 93 THEN 16 "           \
	"WHEN -11 THEN 16 ELSE CASE DATA_TYPE WHEN 'bit' THEN "                          \
	"(NUMERIC_PRECISION + 7) DIV 8 WHEN 'inet6' THEN 39 WHEN 'inet4' THEN "          \
	"15 ELSE CHARACTER_OCTET_LENGTH END END"
#define TYPE_DIGITS                                                                      \
	"CASE WHEN code = 3 THEN NUMERIC_SCALE WHEN code IN (-6, 5, 4, -5) "             \
	"THEN 0 WHEN code IN (92, 93) THEN DATETIME_PRECISION END"
#define TYPE_RADIX                                                                       \
	"CASE WHEN code IN (3, -6, 5, 4, -5) THEN 10 WHEN code IN (7, 8) THEN "          \
	"2 END"

static const char column_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), "
	"CAST(COLUMN_NAME AS BINARY), code, CAST(CONCAT(DATA_TYPE, IF(is_unsigned, "
	"' unsigned', '')) AS BINARY), " TYPE_SIZE ", " TYPE_BYTES ", " TYPE_DIGITS
	", " TYPE_RADIX
	", IF(IS_NULLABLE = 'YES', 1, 0), CAST(NULLIF(COLUMN_COMMENT, '') AS "
	"BINARY), CAST(COLUMN_DEFAULT AS BINARY), IF(code IN (91, 92, 93), 9, "
	"code), IF(code IN (91, 92, 93), code - 90, NULL), IF(code IN (1, 12, -1, "
	"-2, -3, -4), CHARACTER_OCTET_LENGTH, NULL), ORDINAL_POSITION, "
	"CAST(IS_NULLABLE AS BINARY) FROM (SELECT c.*, " TYPE_CODE
	" AS code, LOCATE(' unsigned', COLUMN_TYPE) > 0 AS is_unsigned FROM "
	"information_schema.COLUMNS AS c) AS c WHERE 1 = 1";

static const char primary_key_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), "
	"CAST(COLUMN_NAME AS BINARY), SEQ_IN_INDEX, CAST(INDEX_NAME AS BINARY) FROM "
	"information_schema.STATISTICS WHERE INDEX_NAME = 'PRIMARY'";

static const char foreign_key_sql[] =
	"SELECT CAST(k.REFERENCED_TABLE_SCHEMA AS BINARY), NULL, "
	"CAST(k.REFERENCED_TABLE_NAME AS BINARY), CAST(k.REFERENCED_COLUMN_NAME AS "
	"BINARY), CAST(k.TABLE_SCHEMA AS BINARY), NULL, CAST(k.TABLE_NAME AS "
	"BINARY), CAST(k.COLUMN_NAME AS BINARY), k.ORDINAL_POSITION, CASE "
	"r.UPDATE_RULE WHEN 'CASCADE' THEN 0 WHEN 'RESTRICT' THEN 1 WHEN 'SET NULL' "
	"THEN 2 WHEN 'SET DEFAULT' THEN 4 ELSE 3 END, CASE r.DELETE_RULE WHEN "
	"'CASCADE' THEN 0 WHEN 'RESTRICT' THEN 1 WHEN 'SET NULL' THEN 2 WHEN 'SET "
	"DEFAULT' THEN 4 ELSE 3 END, CAST(k.CONSTRAINT_NAME AS BINARY), "
	"CAST(r.UNIQUE_CONSTRAINT_NAME AS BINARY), 7 FROM "
	"information_schema.KEY_COLUMN_USAGE AS k JOIN "
	"information_schema.REFERENTIAL_CONSTRAINTS AS r ON r.CONSTRAINT_SCHEMA = "
	"k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND "
	"r.TABLE_NAME = k.TABLE_NAME WHERE k.REFERENCED_TABLE_NAME IS NOT NULL";

static const char index_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), "
	"NON_UNIQUE, CAST(INDEX_SCHEMA AS BINARY), CAST(INDEX_NAME AS BINARY), "
	"IF(INDEX_TYPE = 'HASH', 2, 3), SEQ_IN_INDEX, CAST(COLUMN_NAME AS BINARY), "
	"CAST(COLLATION AS BINARY), CARDINALITY, NULL, NULL FROM "
	"information_schema.STATISTICS WHERE 1 = 1";

/* All parameters of a function are for input; its result has no mode. */
static const char procedure_sql[] =
	"SELECT CAST(r.ROUTINE_SCHEMA AS BINARY), NULL, CAST(r.ROUTINE_NAME AS "
	"BINARY), COALESCE(p.n_in, 0), COALESCE(p.n_out, 0), NULL, "
	"CAST(NULLIF(r.ROUTINE_COMMENT, '') AS BINARY), IF(r.ROUTINE_TYPE = "
	"'FUNCTION', 2, 1) FROM information_schema.ROUTINES AS r LEFT JOIN (SELECT "
	"SPECIFIC_SCHEMA, SPECIFIC_NAME, ROUTINE_TYPE, SUM(ORDINAL_POSITION > 0 AND "
	"COALESCE(PARAMETER_MODE, 'IN') <> 'OUT') AS n_in, SUM(ORDINAL_POSITION > 0 "
	"AND PARAMETER_MODE IN ('OUT', 'INOUT')) AS n_out FROM "
	"information_schema.PARAMETERS GROUP BY SPECIFIC_SCHEMA, SPECIFIC_NAME, "
	"ROUTINE_TYPE) AS p ON p.SPECIFIC_SCHEMA = r.ROUTINE_SCHEMA AND "
	"p.SPECIFIC_NAME = r.SPECIFIC_NAME AND p.ROUTINE_TYPE = r.ROUTINE_TYPE WHERE "
	"r.ROUTINE_TYPE IN ('PROCEDURE', 'FUNCTION')";

/* The value of a function has position 0, and no mode. */
static const char procedure_column_sql[] =
	"SELECT CAST(SPECIFIC_SCHEMA AS BINARY), NULL, CAST(SPECIFIC_NAME AS BINARY), "
	"CAST(name AS BINARY), CASE COALESCE(PARAMETER_MODE, 'RETURN') WHEN 'IN' THEN 1 "
	"WHEN 'INOUT' THEN 2 WHEN 'OUT' THEN 4 ELSE 5 END, code, "
	"CAST(CONCAT(DATA_TYPE, IF(is_unsigned, ' unsigned', '')) AS BINARY), " TYPE_SIZE
	", " TYPE_BYTES ", " TYPE_DIGITS ", " TYPE_RADIX
	", 1, NULL, NULL, IF(code IN (91, 92, 93), 9, code), IF(code IN (91, 92, 93), "
	"code - 90, NULL), IF(code IN (1, 12, -1, -2, -3, -4), CHARACTER_OCTET_LENGTH, "
	"NULL), ORDINAL_POSITION, CAST('YES' AS BINARY) FROM (SELECT p.*, "
	"COALESCE(PARAMETER_NAME, '') AS "
	"name, " TYPE_CODE " AS code, LOCATE(' unsigned', DTD_IDENTIFIER) > 0 AS "
	"is_unsigned FROM information_schema.PARAMETERS AS p) AS p WHERE 1 = 1";

/* A privilege granted on all databases, or on one database, applies to each of their tables. */
#define TABLE_PRIVILEGES                                                                 \
	"(SELECT TABLE_SCHEMA, TABLE_NAME, GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE "       \
	"FROM information_schema.TABLE_PRIVILEGES UNION SELECT t.TABLE_SCHEMA, "         \
	"t.TABLE_NAME, p.GRANTEE, p.PRIVILEGE_TYPE, p.IS_GRANTABLE FROM "                \
	"information_schema.SCHEMA_PRIVILEGES AS p JOIN information_schema.TABLES AS t " \
	"ON t.TABLE_SCHEMA LIKE p.TABLE_SCHEMA UNION SELECT t.TABLE_SCHEMA, "            \
	"t.TABLE_NAME, p.GRANTEE, p.PRIVILEGE_TYPE, p.IS_GRANTABLE FROM "                \
	"information_schema.USER_PRIVILEGES AS p JOIN information_schema.TABLES AS t)"

static const char table_privilege_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), NULL, "
	"CAST(GRANTEE AS BINARY), CAST(PRIVILEGE_TYPE AS BINARY), CAST(IS_GRANTABLE AS "
	"BINARY) FROM " TABLE_PRIVILEGES " AS g WHERE PRIVILEGE_TYPE IN ('SELECT', "
	"'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'REFERENCES', 'INDEX', 'ALTER', "
	"'CREATE VIEW', 'SHOW VIEW', 'TRIGGER', 'DELETE HISTORY')";

/* A privilege granted on a table applies to each of its columns. */
static const char column_privilege_sql[] =
	"SELECT CAST(TABLE_SCHEMA AS BINARY), NULL, CAST(TABLE_NAME AS BINARY), "
	"CAST(COLUMN_NAME AS BINARY), NULL, CAST(GRANTEE AS BINARY), CAST(PRIVILEGE_TYPE "
	"AS BINARY), CAST(IS_GRANTABLE AS BINARY) FROM (SELECT TABLE_SCHEMA, TABLE_NAME, "
	"COLUMN_NAME, GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE FROM "
	"information_schema.COLUMN_PRIVILEGES UNION SELECT c.TABLE_SCHEMA, c.TABLE_NAME, "
	"c.COLUMN_NAME, t.GRANTEE, t.PRIVILEGE_TYPE, t.IS_GRANTABLE FROM "
	"information_schema.COLUMNS AS c JOIN " TABLE_PRIVILEGES
	" AS t ON t.TABLE_SCHEMA "
	"= c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME) AS g WHERE PRIVILEGE_TYPE IN "
	"('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')";

/* The other properties of a type; NULL and -1 stand for NULL. Sorted by code, the best match for each code first. */
struct type {
	const char *name;
	int code;
	int64_t size;
	const char *quote; /* before a literal; a ' always follows the value */
	const char *params;
	int is_unsigned;
	int increments;
	int min_scale, max_scale;
	int radix;
	/* the first versions that have the type; 0: all have it */
	unsigned mariadb, mysql;
};

#define NEVER UINT_MAX

#define NUMBER(name, code, size, is_unsigned, radix)                                     \
	{                                                                                \
		name, code, size, NULL, NULL, is_unsigned, 1, 0, 0, radix, 0, 0          \
	}
#define QUOTED(name, code, size, quote, params)                                          \
	{                                                                                \
		name, code, size, quote, params, -1, -1, -1, -1, -1, 0, 0                \
	}

/* The sizes of varchar (in utf8mb4) and varbinary are the largest for a column, since a row has 65,535 bytes. */
static const struct type types[] = {
	{ "uuid", -11, 36, "'", NULL, -1, -1, -1, -1, -1, 100700, NEVER },
	{ "bit", -7, 1, NULL, NULL, -1, -1, -1, -1, -1, 0, 0 },
	NUMBER("tinyint", -6, 3, 0, 10),
	NUMBER("tinyint unsigned", -6, 3, 1, 10),
	NUMBER("bigint", -5, 19, 0, 10),
	NUMBER("bigint unsigned", -5, 20, 1, 10),
	QUOTED("longblob", -4, 4294967295, "x'", NULL),
	QUOTED("blob", -4, 65535, "x'", NULL),
	QUOTED("mediumblob", -4, 16777215, "x'", NULL),
	QUOTED("tinyblob", -4, 255, "x'", NULL),
	{ "vector", -4, 65532, "x'", "length", -1, -1, -1, -1, -1, 110700, 90000 },
	QUOTED("varbinary", -3, 65532, "x'", "length"),
	QUOTED("binary", -2, 255, "x'", "length"),
	QUOTED("longtext", -1, 4294967295, "'", NULL),
	QUOTED("text", -1, 65535, "'", NULL),
	QUOTED("mediumtext", -1, 16777215, "'", NULL),
	QUOTED("tinytext", -1, 255, "'", NULL),
	QUOTED("json", -1, 4294967295, "'", NULL),
	QUOTED("char", 1, 255, "'", "length"),
	QUOTED("enum", 1, 65535, "'", "values"),
	QUOTED("set", 1, 64, "'", "values"),
	{ "decimal", 3, 65, NULL, "precision,scale", 0, 0, 0, 30, 10, 0, 0 },
	{ "decimal unsigned", 3, 65, NULL, "precision,scale", 1, 0, 0, 30, 10, 0, 0 },
	NUMBER("int", 4, 10, 0, 10),
	NUMBER("int unsigned", 4, 10, 1, 10),
	NUMBER("mediumint", 4, 7, 0, 10),
	NUMBER("mediumint unsigned", 4, 8, 1, 10),
	NUMBER("smallint", 5, 5, 0, 10),
	NUMBER("smallint unsigned", 5, 5, 1, 10),
	{ "year", 5, 4, NULL, NULL, 1, 0, 0, 0, 10, 0, 0 },
	{ "float", 7, 24, NULL, NULL, 0, 1, -1, -1, 2, 0, 0 },
	{ "double", 8, 53, NULL, NULL, 0, 1, -1, -1, 2, 0, 0 },
	QUOTED("varchar", 12, 16383, "'", "length"),
	{ "inet6", 12, 39, "'", NULL, -1, -1, -1, -1, -1, 100500, NEVER },
	{ "inet4", 12, 15, "'", NULL, -1, -1, -1, -1, -1, 101000, NEVER },
	QUOTED("date", 91, 10, "'", NULL),
	{ "time", 92, 15, "'", "fraction", -1, -1, 0, 6, -1, 0, 0 },
	{ "datetime", 93, 26, "'", "fraction", -1, -1, 0, 6, -1, 0, 0 },
	{ "timestamp", 93, 26, "'", "fraction", -1, -1, 0, 6, -1, 0, 0 },
};

static const struct catalog_kind kinds[] = {
	[CENOTE_CATALOG_DATABASES] = { database_sql, "SCHEMA_NAME", NULL, NULL, NULL,
		"SCHEMA_NAME" },
	[CENOTE_CATALOG_SCHEMAS] = { schema_sql, NULL, NULL, NULL, NULL, "1" },
	[CENOTE_CATALOG_TABLES] = { table_sql, "TABLE_SCHEMA", "TABLE_NAME", NULL, "kind",
		"kind, TABLE_SCHEMA, TABLE_NAME" },
	[CENOTE_CATALOG_COLUMNS] = { column_sql, "TABLE_SCHEMA", "TABLE_NAME",
		"COLUMN_NAME", NULL, "TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION" },
	[CENOTE_CATALOG_PRIMARY_KEYS] = { primary_key_sql, "TABLE_SCHEMA", "TABLE_NAME",
		NULL, NULL, "TABLE_SCHEMA, TABLE_NAME, SEQ_IN_INDEX" },
	[CENOTE_CATALOG_FOREIGN_KEYS] = { foreign_key_sql, "k.TABLE_SCHEMA",
		"k.TABLE_NAME", NULL, NULL,
		"k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.TABLE_SCHEMA,"
		" k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION" },
	[CENOTE_CATALOG_INDEXES] = { index_sql, "TABLE_SCHEMA", "TABLE_NAME", NULL, NULL,
		"NON_UNIQUE, INDEX_TYPE = 'HASH' DESC, TABLE_SCHEMA, TABLE_NAME,"
		" INDEX_NAME, SEQ_IN_INDEX" },
	[CENOTE_CATALOG_TYPES] = { NULL, NULL, NULL, NULL, NULL, NULL },
	[CENOTE_CATALOG_PROCEDURES] = { procedure_sql, "r.ROUTINE_SCHEMA",
		"r.ROUTINE_NAME", NULL, NULL,
		"r.ROUTINE_SCHEMA, r.ROUTINE_NAME, r.ROUTINE_TYPE" },
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { procedure_column_sql, "SPECIFIC_SCHEMA",
		"SPECIFIC_NAME", "name", NULL,
		"SPECIFIC_SCHEMA, SPECIFIC_NAME, ROUTINE_TYPE, ORDINAL_POSITION" },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { table_privilege_sql, "TABLE_SCHEMA",
		"TABLE_NAME", NULL, NULL,
		"TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, GRANTEE" },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { column_privilege_sql, "TABLE_SCHEMA",
		"TABLE_NAME", "COLUMN_NAME", NULL,
		"TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, PRIVILEGE_TYPE, GRANTEE" },
};

/* Hexadecimal digits mean the same in every sql_mode and character set. */
static int
quote(struct cnc_buf *b, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	int r = cnc_buf_append(b, "_utf8mb4 x'", 11);

	for (size_t i = 0; r == CENOTE_OK && i < n; i++) {
		const char pair[2] = { digits[(unsigned char)p[i] >> 4],
			digits[(unsigned char)p[i] & 15] };

		r = cnc_buf_append(b, pair, 2);
	}
	return r < 0 ? r : cnc_buf_append(b, "'", 1);
}

/* Names have no characters of four bytes, and servers refuse to compare names with a text that has some. */
static int
may_be_name(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if ((unsigned char)p[i] >= 0xf0)
			return 0;
	}
	return 1;
}

static void
add_condition(struct cnd_text *t, const char *expression, const char *comparison,
	struct cnp_str v)
{
	if (!may_be_name(v.p, v.n)) {
		cnd_text_add(t, " AND 1 = 0");
		return;
	}
	cnd_text_add(t, " AND ");
	cnd_text_add(t, expression);
	cnd_text_add(t, comparison);
	cnd_text_add_literal(t, v.p, v.n);
}

static void
add_pattern(struct cnd_text *t, const char *expression, struct cnp_str v)
{
	/* The pattern matches anything, so leave the condition out. */
	if (v.n == 1 && *v.p == '%')
		return;
	add_condition(t, expression, " LIKE ", v);
	if (may_be_name(v.p, v.n))
		cnd_text_add(t, " ESCAPE x'5c'");
}

static void
add_types(struct cnd_text *t, const char *expression, struct cnp_str v)
{
	const char *before = " IN (";
	struct cnp_str type;

	if (v.n == 0 || (v.n == 1 && *v.p == '%'))
		return;
	cnd_text_add(t, " AND ");
	cnd_text_add(t, expression);
	while (cnd_catalog_next_type(&v, &type)) {
		cnd_text_add(t, before);
		cnd_text_add_literal(t, type.p, may_be_name(type.p, type.n) ? type.n : 0);
		before = ", ";
	}
	cnd_text_add(t, ")");
}

static void
add_filters(
	struct cnd_text *t, const struct catalog_kind *kind, const struct cnp_catalog *f)
{
	if (f->given & 1 && kind->catalog)
		add_condition(t, kind->catalog, " = ", f->catalog);
	/* A client that treats databases as schemas filters by schema. In ODBC, "" asks for objects
	 * without a schema. */
	if (f->given & 2 && kind->catalog && f->schema.n > 0)
		add_pattern(t, kind->catalog, f->schema);
	if (f->given & 4 && kind->object)
		add_pattern(t, kind->object, f->object);
	if (f->given & 8 && kind->column)
		add_pattern(t, kind->column, f->column);
	if (f->given & 16 && kind->types)
		add_types(t, kind->types, f->types);
}

/* ---- types ---- */

static void
add_type(struct cnd_text *t, const struct type *type)
{
	int is_time = type->code >= 91;
	int is_text = type->code == 1 || type->code == 12 || type->code == -1;

	cnd_text_add(t, "SELECT ");
	cnd_text_add_value(t, type->name);
	cnd_text_add_number(t, type->code);
	cnd_text_add_number(t, type->size);
	cnd_text_add_value(t, type->quote);
	cnd_text_add_value(t, type->quote ? "'" : NULL);
	cnd_text_add_value(t, type->params);
	cnd_text_add_number(t, 1); /* can be NULL */
	/* Bytes are case-sensitive; text depends on its collation, and the default collation is not
	 * case-sensitive. */
	cnd_text_add_number(t, type->quote && !is_time && !is_text);
	cnd_text_add_number(t, 3); /* usable in all comparisons, including LIKE */
	cnd_text_add_known(t, type->is_unsigned);
	cnd_text_add_number(t, 0);
	cnd_text_add_known(t, type->increments);
	cnd_text_add_value(t, type->name);
	cnd_text_add_known(t, type->min_scale);
	cnd_text_add_known(t, type->max_scale);
	cnd_text_add_number(t, is_time ? 9 : type->code);
	cnd_text_add_known(t, is_time ? type->code - 90 : -1);
	cnd_text_add_known(t, type->radix);
	cnd_text_add(t, "NULL");
}

/* The names of the columns. In sql_mode=oracle, MariaDB before 10.11.19 refuses a UNION of columns without names of their own if
 * two of them are written alike (error 1060). */
static const char type_names[] =
	"SELECT NULL AS a, NULL AS b, NULL AS c, NULL AS d, NULL AS e, NULL AS f, NULL "
	"AS "
	"g, NULL AS h, NULL AS i, NULL AS j, NULL AS k, NULL AS l, NULL AS m, NULL AS n, "
	"NULL AS o, NULL AS p, NULL AS q, NULL AS r, NULL AS s FROM DUAL WHERE 1 = 0 "
	"UNION ALL ";

static void
add_type_list(struct cnd_text *t, MYSQL *my)
{
	int is_mariadb = cnd_my_is_mariadb(my);
	unsigned long number = cnd_my_server_number(my);
	const char *before = type_names;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (number < (is_mariadb ? types[i].mariadb : types[i].mysql))
			continue;
		cnd_text_add(t, before);
		add_type(t, &types[i]);
		before = " UNION ALL ";
	}
}

/* ---- one request ---- */

int
cnd_my_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	struct cnp_column columns[CND_CATALOG_COLUMNS_MAX];
	uint32_t n_columns = cnd_catalog_columns(filter->kind, columns);
	const struct catalog_kind *kind;
	struct cnd_text t = { .r = CENOTE_OK, .quote = quote };
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (n_columns == 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"there is no catalog list %u", (unsigned)filter->kind);
	kind = &kinds[filter->kind];
	cnc_buf_init(&t.b, s->mem, SQL_MAX);
	if (kind->select) {
		cnd_text_add(&t, kind->select);
		add_filters(&t, kind, filter);
		cnd_text_add(&t, " ORDER BY ");
		cnd_text_add(&t, kind->order);
	} else {
		add_type_list(&t, s->my);
	}
	r = t.r == CENOTE_ERR_LIMIT ? cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
					      "the filters are too long")
				    : t.r;
	if (r == CENOTE_OK)
		r = cnd_my_answer(s, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b),
			columns, n_columns, sink);
	cnc_buf_finish(&t.b);
	return r;
}
