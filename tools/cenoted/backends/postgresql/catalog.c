/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalog queries. Names are qualified, so that search_path cannot change their meaning. Filters are
 * parameters. No literal depends on standard_conforming_strings. A filter that is not given is NULL, and the
 * planner removes its condition. So a query with a given name uses the catalog's index.
 *
 * The parameters of all queries: $1 catalog, $2 schema, $3 object, $4 column or types.
 */
#include "pg.h"

/* Older servers do not have all columns that the queries use. */
#define VERSION_MIN 110000

#define GIVEN(parameter) parameter "::pg_catalog.text IS NULL OR "
#define IS_CATALOG       "(" GIVEN("$1") "$1 = pg_catalog.current_database()::pg_catalog.text)"
#define IS_LIKE(column, parameter)                                                       \
	"(" GIVEN(parameter) column " OPERATOR(pg_catalog.~~) " parameter ")"

#define IS_SCHEMA   IS_LIKE("n.nspname", "$2")
#define IS_OBJECT   IS_LIKE("c.relname", "$3")
#define IS_ROUTINE  IS_LIKE("p.proname", "$3")
#define IS_COLUMN   IS_LIKE("f.attname", "$4")
#define IS_DATABASE "(" GIVEN("$1") "d.datname::pg_catalog.text = $1)"
#define IS_TYPE     GIVEN("$4") "$4 = '%'"

#define TABLE_CAT "pg_catalog.current_database() AS table_cat"

/* Leave out the temporary schemas of other sessions. */
#define OWN_SCHEMA "NOT pg_catalog.pg_is_other_temp_schema(n.oid)"

/* The kinds of relations that count as tables. */
#define TABLE_KINDS "('r', 'p', 'v', 'm', 'f')"
#define FROM_TABLES                                                                      \
	" FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"                     \
	" ON n.oid = c.relnamespace"
#define IS_TABLE IS_CATALOG " AND " IS_SCHEMA " AND " IS_OBJECT " AND " OWN_SCHEMA

static const char database_sql[] =
	"SELECT d.datname AS table_cat,"
	" pg_catalog.shobj_description(d.oid, 'pg_database') AS remarks"
	" FROM pg_catalog.pg_database d"
	" WHERE d.datallowconn AND " IS_DATABASE " ORDER BY d.datname";

static const char schema_sql[] =
	"SELECT " TABLE_CAT ", n.nspname AS table_schem,"
	" pg_catalog.obj_description(n.oid, 'pg_namespace') AS remarks"
	" FROM pg_catalog.pg_namespace n"
	" WHERE " IS_CATALOG " AND " IS_SCHEMA " AND " OWN_SCHEMA
	" AND pg_catalog.left(n.nspname::pg_catalog.text, 8) <> 'pg_toast'"
	" ORDER BY n.nspname";

static const char table_sql[] =
	"SELECT * FROM (SELECT " TABLE_CAT ", n.nspname AS table_schem,"
	" c.relname AS table_name, CASE"
	" WHEN n.nspname IN ('pg_catalog', 'information_schema') THEN 'SYSTEM TABLE'"
	" WHEN c.relkind = 'v' THEN 'VIEW'"
	" WHEN c.relkind = 'm' THEN 'MATERIALIZED VIEW'"
	" WHEN c.relkind = 'f' THEN 'FOREIGN TABLE'"
	" WHEN c.relpersistence = 't' THEN 'LOCAL TEMPORARY'"
	" ELSE 'TABLE' END AS table_type,"
	" pg_catalog.obj_description(c.oid, 'pg_class') AS remarks" FROM_TABLES
	" WHERE c.relkind IN " TABLE_KINDS " AND " IS_TABLE ") t"
	" WHERE " IS_TYPE " OR t.table_type = ANY "
	"(pg_catalog.string_to_array(pg_catalog.replace("
	"pg_catalog.replace(pg_catalog.upper($4), '''', ''), ', ', "
	"','), ','))"
	" ORDER BY t.table_type COLLATE pg_catalog.\"C\", "
	"t.table_schem, t.table_name";

/*
 * ODBC's view of a type: code, size in digits or characters, bytes of its C form, digits after
 * the point, radix. `per` says what the column's modifier holds (0: nothing; 1: precision and scale;
 * 2: a length in characters; 3: the digits of a fraction of a second; 4: a length in bits).
 */
#define ODBC_TYPES                                                                       \
	"odbc (type, code, size, bytes, digits, radix, per) AS (VALUES"                  \
	" (16, -7, 1, 1, NULL::pg_catalog.int4, NULL::pg_catalog.int4, 0),"              \
	" (17, -4, NULL, NULL, NULL, NULL, 0), (18, 1, 1, 1, NULL, NULL, 0),"            \
	" (19, 12, 63, 63, NULL, NULL, 0), (20, -5, 19, 8, 0, 10, 0),"                   \
	" (21, 5, 5, 2, 0, 10, 0), (23, 4, 10, 4, 0, 10, 0),"                            \
	" (25, -1, NULL, NULL, NULL, NULL, 0), (26, -5, 10, 8, 0, 10, 0),"               \
	" (28, -5, 10, 8, 0, 10, 0), (29, -5, 10, 8, 0, 10, 0),"                         \
	" (114, -1, NULL, NULL, NULL, NULL, 0), (142, -1, NULL, NULL, NULL, NULL, 0),"   \
	" (700, 7, 24, 4, NULL, 2, 0), (701, 8, 53, 8, NULL, 2, 0),"                     \
	" (1042, 1, NULL, NULL, NULL, NULL, 2), (1043, 12, NULL, NULL, NULL, NULL, 2),"  \
	" (1082, 91, 10, 6, NULL, NULL, 0), (1083, 92, 8, 6, NULL, NULL, 3),"            \
	" (1114, 93, 19, 16, NULL, NULL, 3), (1184, 93, 19, 16, NULL, NULL, 3),"         \
	" (1266, 12, 24, 24, NULL, NULL, 0), (1560, 12, NULL, NULL, NULL, NULL, 4),"     \
	" (1562, 12, NULL, NULL, NULL, NULL, 4), (1700, 2, NULL, NULL, NULL, 10, 1),"    \
	" (2950, -11, 36, 16, NULL, NULL, 0), (3802, -1, NULL, NULL, NULL, NULL, 0),"    \
	" (5069, -5, 20, 8, 0, 10, 0))"

/* Each domain with its base type, also if there are other domains between the two. */
#define DOMAINS                                                                          \
	"chain AS (SELECT oid AS domain, typbasetype AS type, typtypmod AS modifier,"    \
	" typnotnull AS is_required FROM pg_catalog.pg_type WHERE typtype = 'd'"         \
	" UNION ALL SELECT chain.domain, t.typbasetype, t.typtypmod,"                    \
	" chain.is_required OR t.typnotnull FROM chain JOIN pg_catalog.pg_type t"        \
	" ON t.oid = chain.type WHERE t.typtype = 'd'),"                                 \
	" domains AS (SELECT chain.* FROM chain JOIN pg_catalog.pg_type t"               \
	" ON t.oid = chain.type WHERE t.typtype <> 'd')"

static const char column_sql[] =
	"WITH RECURSIVE " DOMAINS ", " ODBC_TYPES ","
	" found AS (SELECT n.nspname, c.relname, a.attrelid, a.attnum, a.attname,"
	" t.typname, a.attnotnull OR coalesce(d.is_required, false) AS is_required,"
	" coalesce(d.type, t.oid) AS type,"
	" CASE WHEN d.type IS NULL THEN a.atttypmod ELSE d.modifier END AS modifier,"
	" pg_catalog.row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum)"
	" AS position" FROM_TABLES " JOIN pg_catalog.pg_attribute a"
	" ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
	" JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
	" LEFT JOIN domains d ON d.domain = t.oid"
	" WHERE c.relkind IN " TABLE_KINDS " AND " IS_TABLE "),"
	" sized AS (SELECT f.*, coalesce(o.code, 12) AS code, o.bytes, o.radix,"
	" coalesce(o.per, 0) AS per, CASE o.per"
	" WHEN 1 THEN CASE WHEN modifier >= 4 THEN (modifier - 4) >> 16 END"
	" WHEN 2 THEN CASE WHEN modifier >= 4 THEN modifier - 4 END"
	" WHEN 3 THEN o.size + CASE modifier WHEN 0 THEN 0 WHEN -1 THEN 7"
	" ELSE modifier + 1 END"
	" WHEN 4 THEN CASE WHEN modifier >= 0 THEN modifier END"
	" ELSE o.size END AS size, CASE o.per"
	/* A scale has 11 bits with a sign. */
	" WHEN 1 THEN CASE WHEN modifier >= 4 THEN"
	" (((modifier - 4) & 2047) # 1024) - 1024 END"
	" WHEN 3 THEN CASE WHEN modifier >= 0 THEN modifier ELSE 6 END"
	" ELSE o.digits END AS digits"
	" FROM found f LEFT JOIN odbc o ON o.type = f.type::pg_catalog.int8"
	" WHERE " IS_COLUMN ")"
	" SELECT " TABLE_CAT ", nspname AS table_schem, relname AS table_name,"
	" attname AS column_name, code AS data_type, typname AS type_name,"
	" size AS column_size, buffer AS buffer_length, digits AS decimal_digits,"
	" radix AS num_prec_radix, CASE WHEN is_required THEN 0 ELSE 1 END"
	" AS nullable, pg_catalog.col_description(attrelid, attnum) AS remarks,"
	" pg_catalog.pg_get_expr(e.adbin, e.adrelid) AS column_def,"
	" CASE WHEN code BETWEEN 91 AND 93 THEN 9 ELSE code END AS sql_data_type,"
	" CASE WHEN code BETWEEN 91 AND 93 THEN code - 90 END AS sql_datetime_sub,"
	" CASE WHEN code IN (1, 12) THEN buffer END AS char_octet_length,"
	" position AS ordinal_position,"
	" CASE WHEN is_required THEN 'NO' ELSE 'YES' END AS is_nullable"
	/* A character has up to four bytes. */
	" FROM (SELECT *, CASE per WHEN 1 THEN size + 2 WHEN 2 THEN size * 4"
	" WHEN 4 THEN size ELSE bytes END AS buffer FROM sized) s"
	" LEFT JOIN pg_catalog.pg_attrdef e"
	" ON e.adrelid = attrelid AND e.adnum = attnum"
	" ORDER BY nspname, relname, position";

static const char primary_key_sql[] =
	"SELECT " TABLE_CAT ", n.nspname AS table_schem, c.relname AS table_name,"
	" a.attname AS column_name, k.position AS key_seq, p.conname AS "
	"pk_name" FROM_TABLES
	" JOIN pg_catalog.pg_constraint p ON p.conrelid = c.oid AND p.contype = 'p'"
	" CROSS JOIN LATERAL pg_catalog.unnest(p.conkey) WITH ORDINALITY"
	" AS k (attnum, position)"
	" JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum"
	" WHERE " IS_TABLE " ORDER BY n.nspname, c.relname, k.position";

#define RULES(column)                                                                    \
	"CASE " column " WHEN 'c' THEN 0 WHEN 'r' THEN 1 WHEN 'n' THEN 2"                \
	" WHEN 'd' THEN 4 ELSE 3 END"
#define UPDATE_RULE RULES("f.confupdtype") " AS update_rule"
#define DELETE_RULE RULES("f.confdeltype") " AS delete_rule"

/* A foreign key to a partitioned table has a copy for each partition. The query leaves these copies out. */
static const char foreign_key_sql[] =
	"SELECT pg_catalog.current_database() AS pktable_cat,"
	" pn.nspname AS pktable_schem, pc.relname AS pktable_name,"
	" pa.attname AS pkcolumn_name,"
	" pg_catalog.current_database() AS fktable_cat, n.nspname AS fktable_schem,"
	" c.relname AS fktable_name, fa.attname AS fkcolumn_name,"
	" k.position AS key_seq, " UPDATE_RULE ", " DELETE_RULE ", f.conname AS fk_name,"
	" coalesce((SELECT p.conname FROM pg_catalog.pg_constraint p"
	" WHERE p.conindid = f.conindid AND p.conrelid = f.confrelid"
	" AND p.contype IN ('p', 'u')), i.relname) AS pk_name,"
	" CASE WHEN f.condeferred THEN 5 WHEN f.condeferrable THEN 6 ELSE 7 END"
	" AS deferrability" FROM_TABLES
	" JOIN pg_catalog.pg_constraint f ON f.conrelid = c.oid AND f.contype = 'f'"
	" JOIN pg_catalog.pg_class pc ON pc.oid = f.confrelid"
	" JOIN pg_catalog.pg_namespace pn ON pn.oid = pc.relnamespace"
	" LEFT JOIN pg_catalog.pg_class i ON i.oid = f.conindid"
	" CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(f.conkey),"
	" pg_catalog.unnest(f.confkey)) WITH ORDINALITY"
	" AS k (foreign_attnum, primary_attnum, position)"
	" JOIN pg_catalog.pg_attribute fa"
	" ON fa.attrelid = c.oid AND fa.attnum = k.foreign_attnum"
	" JOIN pg_catalog.pg_attribute pa"
	" ON pa.attrelid = pc.oid AND pa.attnum = k.primary_attnum"
	" WHERE " IS_TABLE " AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint o"
	" WHERE o.oid = f.conparentid AND o.conrelid = f.conrelid)"
	" ORDER BY pn.nspname, pc.relname, n.nspname, c.relname, f.conname, k.position";

/* Columns that are only included in an index are not part of its key. */
static const char index_sql[] =
	"SELECT " TABLE_CAT ", n.nspname AS table_schem, c.relname AS table_name,"
	" CASE WHEN i.indisunique THEN 0 ELSE 1 END AS non_unique,"
	" xn.nspname AS index_qualifier, x.relname AS index_name,"
	" CASE WHEN i.indisclustered THEN 1 WHEN am.amname = 'hash' THEN 2 ELSE 3 END"
	" AS type, k.position AS ordinal_position,"
	" coalesce(a.attname::pg_catalog.text, pg_catalog.pg_get_indexdef("
	"i.indexrelid, k.position::pg_catalog.int4, true)) AS column_name,"
	" CASE WHEN pg_catalog.pg_index_column_has_property("
	"x.oid, k.position::pg_catalog.int4, 'asc') THEN 'A'"
	" WHEN pg_catalog.pg_index_column_has_property("
	"x.oid, k.position::pg_catalog.int4, 'desc') THEN 'D' END AS asc_or_desc,"
	" CASE WHEN x.reltuples >= 0 THEN x.reltuples::pg_catalog.int8 END"
	" AS cardinality, x.relpages AS pages,"
	" pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS filter_condition" FROM_TABLES
	" JOIN pg_catalog.pg_index i ON i.indrelid = c.oid"
	" JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
	" JOIN pg_catalog.pg_namespace xn ON xn.oid = x.relnamespace"
	" JOIN pg_catalog.pg_am am ON am.oid = x.relam"
	" CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[])"
	" WITH ORDINALITY AS k (attnum, position)"
	" LEFT JOIN pg_catalog.pg_attribute a"
	" ON a.attrelid = c.oid AND a.attnum = k.attnum AND k.attnum <> 0"
	" WHERE c.relkind IN " TABLE_KINDS
	" AND k.position <= i.indnkeyatts AND " IS_TABLE
	" ORDER BY n.nspname, c.relname, 4, 7, xn.nspname, x.relname, k.position";

static const char type_sql[] =
	"SELECT t.name AS type_name, t.code AS data_type, t.size AS column_size,"
	" t.prefix AS literal_prefix,"
	" CASE WHEN t.prefix IS NOT NULL THEN '''' END AS literal_suffix,"
	" t.params AS create_params, 1 AS nullable, t.cased AS case_sensitive,"
	/* 3: SQL_SEARCHABLE; 2: searchable, but not with LIKE. */
	" CASE WHEN t.cased = 1 THEN 3 ELSE 2 END AS searchable,"
	" t.is_unsigned AS unsigned_attribute, 0 AS fixed_prec_scale,"
	" t.is_auto AS auto_unique_value, t.name AS local_type_name,"
	" t.scale_min AS minimum_scale, t.scale_max AS maximum_scale,"
	" CASE WHEN t.code BETWEEN 91 AND 93 THEN 9 ELSE t.code END AS sql_data_type,"
	" CASE WHEN t.code BETWEEN 91 AND 93 THEN t.code - 90 END AS sql_datetime_sub,"
	" t.radix AS num_prec_radix, NULL::pg_catalog.int4 AS interval_precision"
	" FROM (VALUES (1, 'uuid', -11, 36, '''', NULL::pg_catalog.text, 0,"
	" NULL::pg_catalog.int4, NULL::pg_catalog.int4, NULL::pg_catalog.int4,"
	" NULL::pg_catalog.int4, NULL::pg_catalog.int4),"
	" (2, 'bool', -7, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL),"
	" (3, 'int8', -5, 19, NULL, NULL, 0, 0, 0, 0, 0, 10),"
	" (4, 'bigserial', -5, 19, NULL, NULL, 0, 0, 1, 0, 0, 10),"
	" (5, 'oid', -5, 10, NULL, NULL, 0, 1, 0, 0, 0, 10),"
	" (6, 'bytea', -4, 1073741823, E'''\\\\x', NULL, 0, NULL, NULL, NULL, NULL,"
	" NULL),"
	" (7, 'text', -1, 1073741823, '''', NULL, 1, NULL, NULL, NULL, NULL, NULL),"
	" (8, 'json', -1, 1073741823, '''', NULL, 1, NULL, NULL, NULL, NULL, NULL),"
	" (9, 'jsonb', -1, 1073741823, '''', NULL, 1, NULL, NULL, NULL, NULL, NULL),"
	" (10, 'xml', -1, 1073741823, '''', NULL, 1, NULL, NULL, NULL, NULL, NULL),"
	" (11, 'bpchar', 1, 10485760, '''', 'length', 1, NULL, NULL, NULL, NULL, NULL),"
	" (12, 'numeric', 2, 1000, NULL, 'precision,scale', 0, 0, 0, 0, 1000, 10),"
	" (13, 'int4', 4, 10, NULL, NULL, 0, 0, 0, 0, 0, 10),"
	" (14, 'serial', 4, 10, NULL, NULL, 0, 0, 1, 0, 0, 10),"
	" (15, 'int2', 5, 5, NULL, NULL, 0, 0, 0, 0, 0, 10),"
	" (16, 'float4', 7, 24, NULL, NULL, 0, 0, 0, NULL, NULL, 2),"
	" (17, 'float8', 8, 53, NULL, NULL, 0, 0, 0, NULL, NULL, 2),"
	" (18, 'varchar', 12, 10485760, '''', 'length', 1, NULL, NULL, NULL, NULL, NULL),"
	" (19, 'name', 12, 63, '''', NULL, 1, NULL, NULL, NULL, NULL, NULL),"
	" (20, 'interval', 12, 49, '''', 'precision', 0, NULL, NULL, NULL, NULL, NULL),"
	" (21, 'inet', 12, 43, '''', NULL, 0, NULL, NULL, NULL, NULL, NULL),"
	" (22, 'timetz', 12, 24, '''', 'precision', 0, NULL, NULL, 0, 6, NULL),"
	" (23, 'date', 91, 10, '''', NULL, 0, NULL, NULL, NULL, NULL, NULL),"
	" (24, 'time', 92, 15, '''', 'precision', 0, NULL, NULL, 0, 6, NULL),"
	" (25, 'timestamp', 93, 26, '''', 'precision', 0, NULL, NULL, 0, 6, NULL),"
	" (26, 'timestamptz', 93, 26, '''', 'precision', 0, NULL, NULL, 0, 6, NULL))"
	" AS t (position, name, code, size, prefix, params, cased, is_unsigned, is_auto,"
	" scale_min, scale_max, radix) ORDER BY t.position";

/* Output parameters have the mode o or b. The columns of a returned table are not parameters. */
static const char procedure_sql[] =
	"SELECT pg_catalog.current_database() AS procedure_cat,"
	" n.nspname AS procedure_schem, p.proname AS procedure_name,"
	" p.pronargs AS num_input_params, (SELECT pg_catalog.count(*)"
	" FROM pg_catalog.unnest(p.proargmodes) AS m (mode) WHERE m.mode IN ('o', 'b'))"
	" AS num_output_params, CASE WHEN p.proretset THEN 1 ELSE 0 END"
	" AS num_result_sets, pg_catalog.obj_description(p.oid, 'pg_proc') AS remarks,"
	" CASE p.prokind WHEN 'p' THEN 1 ELSE 2 END AS procedure_type"
	" FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n"
	" ON n.oid = p.pronamespace"
	" WHERE p.prokind IN ('f', 'p') AND " IS_CATALOG " AND " IS_SCHEMA
	" AND " IS_ROUTINE " AND " OWN_SCHEMA " ORDER BY n.nspname, p.proname, p.oid";

/* The return value of a function comes first, unless the function returns output parameters or a table. The columns
 * of a returned table come after the parameters. Parameters have no modifiers. */
static const char procedure_column_sql[] =
	"WITH RECURSIVE " DOMAINS ", " ODBC_TYPES ","
	" found AS (SELECT n.nspname, p.proname, p.oid, f.position, f.attname, f.mode,"
	" t.typname, coalesce(d.type, t.oid) AS type"
	" FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n"
	" ON n.oid = p.pronamespace CROSS JOIN LATERAL ("
	"SELECT 0 AS position, ''::pg_catalog.text AS attname, 'r' AS mode,"
	" p.prorettype AS type WHERE p.prokind = 'f'"
	" AND p.prorettype <> 'pg_catalog.void'::pg_catalog.regtype AND NOT EXISTS"
	" (SELECT 1 FROM pg_catalog.unnest(p.proargmodes) AS m (mode)"
	" WHERE m.mode IN ('o', 'b', 't'))"
	" UNION ALL SELECT k.position, coalesce(p.proargnames[k.position], ''),"
	" coalesce(p.proargmodes[k.position]::pg_catalog.text, 'i'), k.type"
	" FROM pg_catalog.unnest(coalesce(p.proallargtypes,"
	" p.proargtypes::pg_catalog.oid[])) WITH ORDINALITY AS k (type, position)) f"
	" JOIN pg_catalog.pg_type t ON t.oid = f.type"
	" LEFT JOIN domains d ON d.domain = t.oid"
	" WHERE p.prokind IN ('f', 'p') AND " IS_CATALOG " AND " IS_SCHEMA
	" AND " IS_ROUTINE " AND " OWN_SCHEMA " AND " IS_COLUMN "),"
	" sized AS (SELECT f.*, coalesce(o.code, 12) AS code, o.bytes, o.radix,"
	" CASE WHEN o.per = 3 THEN o.size + 7 ELSE o.size END AS size,"
	" CASE WHEN o.per = 3 THEN 6 ELSE o.digits END AS digits"
	" FROM found f LEFT JOIN odbc o ON o.type = f.type::pg_catalog.int8)"
	" SELECT pg_catalog.current_database() AS procedure_cat,"
	" nspname AS procedure_schem, proname AS procedure_name,"
	" attname AS column_name, CASE mode WHEN 'r' THEN 5 WHEN 'b' THEN 2"
	" WHEN 'o' THEN 4 WHEN 't' THEN 3 ELSE 1 END AS column_type,"
	" code AS data_type, typname AS type_name, size AS column_size,"
	" bytes AS buffer_length, digits AS decimal_digits, radix AS num_prec_radix,"
	" 1 AS nullable, NULL::pg_catalog.text AS remarks,"
	" NULL::pg_catalog.text AS column_def,"
	" CASE WHEN code BETWEEN 91 AND 93 THEN 9 ELSE code END AS sql_data_type,"
	" CASE WHEN code BETWEEN 91 AND 93 THEN code - 90 END AS sql_datetime_sub,"
	" NULL::pg_catalog.int4 AS char_octet_length, position AS ordinal_position,"
	" 'YES' AS is_nullable FROM sized ORDER BY nspname, proname, oid, position";

#define GRANTED                                                                          \
	"pg_catalog.pg_get_userbyid(x.grantor) AS grantor, CASE x.grantee WHEN 0"        \
	" THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(x.grantee)::pg_catalog.text"     \
	" END AS grantee, x.privilege_type AS privilege,"                                \
	" CASE WHEN x.is_grantable THEN 'YES' ELSE 'NO' END AS is_grantable"
/* If nobody granted anything, the owner has the default privileges. */
#define TABLE_ACL                                                                        \
	"pg_catalog.aclexplode(coalesce(c.relacl,"                                       \
	" pg_catalog.acldefault('r', c.relowner)))"

static const char table_privilege_sql[] =
	"SELECT " TABLE_CAT ", n.nspname AS table_schem, c.relname AS table_name,"
	" " GRANTED FROM_TABLES " CROSS JOIN LATERAL " TABLE_ACL " x"
	" WHERE c.relkind IN " TABLE_KINDS " AND " IS_TABLE
	" ORDER BY n.nspname, c.relname, x.privilege_type, grantee, grantor";

/* A privilege on a table counts for each of its columns. */
static const char column_privilege_sql[] =
	"SELECT " TABLE_CAT ", n.nspname AS table_schem, c.relname AS table_name,"
	" f.attname AS column_name, " GRANTED FROM_TABLES
	" JOIN pg_catalog.pg_attribute f"
	" ON f.attrelid = c.oid AND f.attnum > 0 AND NOT f.attisdropped"
	" CROSS JOIN LATERAL (SELECT * FROM " TABLE_ACL " UNION"
	" SELECT * FROM pg_catalog.aclexplode(f.attacl)) x"
	" WHERE c.relkind IN " TABLE_KINDS
	" AND x.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')"
	" AND " IS_TABLE " AND " IS_COLUMN
	" ORDER BY n.nspname, c.relname, f.attname, x.privilege_type, grantee, grantor";

/* Bits of cnp_catalog.given. */
enum {
	HAS_CATALOG = 1,
	HAS_SCHEMA = 2,
	HAS_OBJECT = 4,
	HAS_COLUMN = 8,
	HAS_TYPES = 16
};

static const struct kind {
	const char *sql;
	uint8_t filters; /* the filters that are parameters of `sql` */
} kinds[] = {
	[CENOTE_CATALOG_DATABASES] = { database_sql, HAS_CATALOG },
	[CENOTE_CATALOG_SCHEMAS] = { schema_sql, HAS_CATALOG | HAS_SCHEMA },
	[CENOTE_CATALOG_TABLES] = { table_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT | HAS_TYPES },
	[CENOTE_CATALOG_COLUMNS] = { column_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT | HAS_COLUMN },
	[CENOTE_CATALOG_PRIMARY_KEYS] = { primary_key_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT },
	[CENOTE_CATALOG_FOREIGN_KEYS] = { foreign_key_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT },
	[CENOTE_CATALOG_INDEXES] = { index_sql, HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT },
	[CENOTE_CATALOG_TYPES] = { type_sql, 0 },
	[CENOTE_CATALOG_PROCEDURES] = { procedure_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT },
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { procedure_column_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT | HAS_COLUMN },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { table_privilege_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { column_privilege_sql,
		HAS_CATALOG | HAS_SCHEMA | HAS_OBJECT | HAS_COLUMN },
};

int
cnd_pg_catalog_query(const struct cnp_catalog *filter, int version,
	struct cnd_pg_catalog *ret_query, struct cnc_diag *ret_diag)
{
	const struct cnp_str texts[] = { filter->catalog, filter->schema, filter->object,
		filter->column, filter->types };
	struct cnd_pg_catalog query = { 0 };
	const struct kind *kind;
	size_t i;

	if (filter->kind >= sizeof(kinds) / sizeof(kinds[0]) ||
		!kinds[filter->kind].sql) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"there is no catalog list %u", (unsigned)filter->kind);
		return CENOTE_ERR_SERVER;
	}
	if (version < VERSION_MIN) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(UNSUPPORTED),
			"catalog lists need PostgreSQL 11 or newer; the server is %d",
			version / 10000);
		return CENOTE_ERR_SERVER;
	}
	kind = &kinds[filter->kind];
	query.sql = kind->sql;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cnc_value *v = &query.params[query.n_params];

		if (!(kind->filters & 1u << i))
			continue;
		query.n_params++;
		v->type = CENOTE_TYPE_TEXT;
		v->is_null = !(filter->given & 1u << i);
		v->bytes = texts[i].p;
		v->len = texts[i].n;
	}
	*ret_query = query;
	return CENOTE_OK;
}
