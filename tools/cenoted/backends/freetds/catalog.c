/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalog lists are SELECTs on the catalog views of the current database, which is all that a session sees
 * without naming another. Filters are quoted literals.
 */
#include <string.h>

#include "core/value.h"

#include "../common/catalog.h"
#include "../common/text.h"
#include "tds.h"

#define SQL_MAX ((size_t)4 << 20)

struct catalog_kind {
	const char *select; /* a SELECT up to a WHERE with at least one condition */
	/* The expressions that the filters are compared with; NULL: the list has no such filter. */
	const char *catalog;
	const char *schema;
	const char *object;
	const char *column;
	const char *types;
	const char *order;
};

static const char database_sql[] = "select name, null from sys.databases where 1 = 1";

static const char schema_sql[] = "select db_name(), name, null from sys.schemas where "
				 "1 = 1";

static const char table_sql[] =
	"select db_name(), t.sch, t.name, t.kind, null from (select "
	"schema_name(o.schema_id) as sch, o.name, case when o.is_ms_shipped = 1 or "
	"schema_name(o.schema_id) in ('sys', 'INFORMATION_SCHEMA') then 'SYSTEM "
	"TABLE' when o.type = 'V' then 'VIEW' else 'TABLE' end as kind from "
	"sys.all_objects o where o.type in ('U', 'V', 'S')) as t where 1 = 1";

/* A view of INFORMATION_SCHEMA as `c`, with the ODBC code of each type as `code`. */
#define WITH_CODE(table)                                                                 \
	"(select i.*, case i.data_type when 'bit' then -7 when 'tinyint' then -6 when "  \
	"'smallint' then 5 when 'int' then 4 when 'bigint' then -5 when 'numeric' then " \
	"2 when 'decimal' then 3 when 'money' then 3 when 'smallmoney' then 3 when "     \
	"'real' then 7 when 'float' then 8 when 'date' then 91 when 'time' then 92 "     \
	"when 'datetime' then 93 when 'smalldatetime' then 93 when 'datetime2' then 93 " \
	"when 'datetimeoffset' then 93 when 'char' then 1 when 'text' then -1 when "     \
	"'nchar' then -8 when 'nvarchar' then case when i.character_maximum_length = "   \
	"-1 then -10 else -9 end when 'ntext' then -10 when 'xml' then -10 when "        \
	"'binary' then -2 when 'timestamp' then -2 when 'rowversion' then -2 when "      \
	"'varbinary' then case when i.character_maximum_length = -1 then -4 else -3 "    \
	"end when 'image' then -4 when 'uniqueidentifier' then -11 else case when "      \
	"i.character_maximum_length = -1 then -1 else 12 end end as code "               \
	"from information_schema." table " i) as c"

/* The sizes are ODBC's: digits or characters, then bytes. NULL: there is no limit. */
#define SIZES                                                                            \
	"case when c.code in (-6, 5, 4, -5, 2, 3) then c.numeric_precision when c.code " \
	"= 7 then 24 when c.code = 8 then 53 when c.code = -7 then 1 when c.code = -11 " \
	"then 36 when c.code = 91 then 10 when c.code = 92 then 8 + case when "          \
	"c.datetime_precision > 0 then c.datetime_precision + 1 else 0 end when c.code " \
	"= 93 then 19 + case when c.datetime_precision > 0 then c.datetime_precision + " \
	"1 else 0 end when c.character_maximum_length > 0 then "                         \
	"c.character_maximum_length end, case c.code when -7 then 1 when -6 then 1 "     \
	"when 5 then 2 when 4 then 4 when -5 then 8 when 7 then 4 when 8 then 8 when "   \
	"-11 then 16 when 91 then 6 when 92 then 6 when 93 then 16 when 2 then "         \
	"c.numeric_precision + 2 when 3 then c.numeric_precision + 2 else case when "    \
	"c.character_octet_length > 0 then c.character_octet_length end end, case when " \
	"c.code in (2, 3) then c.numeric_scale when c.code in (-6, 5, 4, -5) then 0 "    \
	"when c.code in (92, 93) then c.datetime_precision end, case when c.code in "    \
	"(-6, 5, 4, -5, 2, 3) then 10 when c.code in (7, 8) then 2 end"

#define VERBOSE_TYPE                                                                     \
	"case when c.code in (91, 92, 93) then 9 else c.code end, case when c.code in "  \
	"(91, 92, 93) then c.code - 90 end, case when c.code in (1, 12, -1, -2, -3, "    \
	"-4, -8, -9, -10) and c.character_octet_length > 0 then "                        \
	"c.character_octet_length end"

static const char column_sql[] =
	"select c.table_catalog, c.table_schema, c.table_name, c.column_name, c.code, "
	"c.data_type, " SIZES ", case c.is_nullable when 'YES' then 1 else 0 end, null, "
	"c.column_default, " VERBOSE_TYPE ", c.ordinal_position, c.is_nullable "
	"from " WITH_CODE("columns") " where 1 = 1";

static const char primary_key_sql[] =
	"select k.table_catalog, k.table_schema, k.table_name, k.column_name, "
	"k.ordinal_position, k.constraint_name from "
	"information_schema.key_column_usage k join "
	"information_schema.table_constraints t on t.constraint_schema = "
	"k.constraint_schema and t.constraint_name = k.constraint_name and "
	"t.table_name = k.table_name where t.constraint_type = 'PRIMARY KEY'";

/* The server's numbers of rules: 0 no action, 1 cascade, 2 set null, 3 set default. */
static const char foreign_key_sql[] =
	"select db_name(), schema_name(p.schema_id), p.name, pc.name, db_name(), "
	"schema_name(f.schema_id), t.name, fc.name, k.constraint_column_id, case "
	"f.update_referential_action when 1 then 0 when 2 then 2 when 3 then 4 else 3 "
	"end, case f.delete_referential_action when 1 then 0 when 2 then 2 when 3 then "
	"4 else 3 end, f.name, u.name, 7 from sys.foreign_keys f join "
	"sys.foreign_key_columns k on k.constraint_object_id = f.object_id join "
	"sys.tables p on p.object_id = f.referenced_object_id join sys.tables t on "
	"t.object_id = f.parent_object_id join sys.columns pc on pc.object_id = "
	"k.referenced_object_id and pc.column_id = k.referenced_column_id join "
	"sys.columns fc on fc.object_id = k.parent_object_id and fc.column_id = "
	"k.parent_column_id left join sys.key_constraints u on u.parent_object_id = "
	"f.referenced_object_id and u.unique_index_id = f.key_index_id where 1 = 1";

/* Columns that are only included are not in the key. */
static const char index_sql[] =
	"select db_name(), schema_name(t.schema_id), t.name, case i.is_unique when 1 "
	"then 0 else 1 end, t.name, i.name, case i.type when 1 then 1 else 3 end, "
	"row_number() over (partition by k.object_id, k.index_id order by "
	"k.key_ordinal, k.index_column_id), c.name, case k.is_descending_key when 1 "
	"then 'D' else 'A' end, null, null, null from sys.indexes i join sys.tables t "
	"on t.object_id = i.object_id join sys.index_columns k on k.object_id = "
	"i.object_id and k.index_id = i.index_id join sys.columns c on c.object_id = "
	"k.object_id and c.column_id = k.column_id where i.type > 0 and k.key_ordinal "
	"> 0";

static const char procedure_sql[] =
	"select r.routine_catalog, r.routine_schema, r.routine_name, null, null, null, "
	"null, case r.routine_type when 'FUNCTION' then 2 else 1 end from "
	"information_schema.routines r where 1 = 1";

/* A procedure also returns a status. */
static const char procedure_column_sql[] =
	"select * from (select c.specific_catalog, c.specific_schema, c.specific_name, "
	"case c.is_result when 'YES' then '@RETURN_VALUE' else c.parameter_name end, "
	"case "
	"when c.is_result = 'YES' then 5 when c.parameter_mode = 'IN' then 1 else 2 end, "
	"c.code, c.data_type, " SIZES ", 1, null, null, " VERBOSE_TYPE
	", c.ordinal_position, 'YES' from " WITH_CODE(
		"parameters") " union all select "
			      "r.routine_catalog, r.routine_schema, r.routine_name, "
			      "'@RETURN_VALUE', 5, 4, "
			      "'int', 10, 4, 0, 10, 0, null, null, 4, null, null, 0, "
			      "'NO' from "
			      "information_schema.routines r where r.routine_type = "
			      "'PROCEDURE') as p (cat, "
			      "sch, name, col, direction, code, type_name, size, bytes, "
			      "digits, radix, "
			      "nullable, remarks, def, verbose, sub, octets, pos, "
			      "is_nullable) where 1 = 1";

/* An owner needs no grant. */
#define OWNED(privileges)                                                                \
	"select o.object_id as id, user_name(coalesce(o.principal_id, s.principal_id)) " \
	"as grantor, user_name(coalesce(o.principal_id, s.principal_id)) as grantee, "   \
	"v.privilege, 'YES' as grantable from sys.objects o join sys.schemas s on "      \
	"s.schema_id = o.schema_id cross join (values " privileges                       \
	") as v (privilege) where o.type in ('U', 'V')"
#define GRANTED(privileges)                                                              \
	"select object_id(quotename(t.table_schema) + '.' + quotename(t.table_name)), "  \
	"t.grantor, t.grantee, t.privilege_type, t.is_grantable from "                   \
	"information_schema.table_privileges t where t.privilege_type in " privileges

#define TABLE_RIGHTS                                                                     \
	OWNED("('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE'), ('REFERENCES')")          \
	" union " GRANTED("('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES')")
#define COLUMN_RIGHTS                                                                    \
	OWNED("('SELECT'), ('INSERT'), ('UPDATE'), ('REFERENCES')")                      \
	" union " GRANTED("('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')")

static const char table_privilege_sql[] =
	"select db_name(), object_schema_name(p.id), object_name(p.id), p.grantor, "
	"p.grantee, p.privilege, p.grantable from (" TABLE_RIGHTS ") as p where 1 = 1";

/* A grant on a table is a grant on each of its columns. */
static const char column_privilege_sql[] =
	"select db_name(), object_schema_name(p.id), object_name(p.id), p.col, "
	"p.grantor, p.grantee, p.privilege, p.grantable from (select t.id, c.name as "
	"col, t.grantor, t.grantee, t.privilege, t.grantable from (" COLUMN_RIGHTS
	") as t join sys.columns c on c.object_id = t.id union select "
	"object_id(quotename(g.table_schema) + '.' + quotename(g.table_name)), "
	"g.column_name, g.grantor, g.grantee, g.privilege_type, g.is_grantable from "
	"information_schema.column_privileges g) as p where 1 = 1";

/* Babelfish does not have these views, but it has those that its procedures read. */
static const char babelfish_procedure_column_sql[] =
	"select p.procedure_qualifier, p.procedure_owner, p.original_procedure_name, "
	"p.column_name, p.column_type, p.data_type, p.type_name, nullif(p.[precision], "
	"0), p.length, p.scale, p.radix, p.nullable, p.remarks, p.column_def, "
	"p.sql_data_type, p.sql_datetime_sub, p.char_octet_length, p.ordinal_position, "
	"p.is_nullable from sys.sp_sproc_columns_view p where 1 = 1";

static const char babelfish_table_privilege_sql[] =
	"select p.table_qualifier, p.table_owner, p.table_name, p.grantor, p.grantee, "
	"p.privilege, p.is_grantable from sys.sp_table_privileges_view p where 1 = 1";

static const char babelfish_column_privilege_sql[] =
	"select p.table_qualifier, p.table_owner, p.table_name, p.column_name, "
	"p.grantor, p.grantee, p.privilege, p.is_grantable from "
	"sys.sp_column_privileges_view p where 1 = 1";

static const struct catalog_kind kinds[] = {
	[CENOTE_CATALOG_DATABASES] = { database_sql, "name", NULL, NULL, NULL, NULL,
		"name" },
	[CENOTE_CATALOG_SCHEMAS] = { schema_sql, "db_name()", "name", NULL, NULL, NULL,
		"name" },
	[CENOTE_CATALOG_TABLES] = { table_sql, "db_name()", "t.sch", "t.name", NULL,
		"t.kind", "t.kind, t.sch, t.name" },
	[CENOTE_CATALOG_COLUMNS] = { column_sql, "c.table_catalog", "c.table_schema",
		"c.table_name", "c.column_name", NULL,
		"c.table_schema, c.table_name, c.ordinal_position" },
	[CENOTE_CATALOG_PRIMARY_KEYS] = { primary_key_sql, "k.table_catalog",
		"k.table_schema", "k.table_name", NULL, NULL,
		"k.table_schema, k.table_name, k.ordinal_position" },
	[CENOTE_CATALOG_FOREIGN_KEYS] = { foreign_key_sql, "db_name()",
		"schema_name(f.schema_id)", "t.name", NULL, NULL,
		"schema_name(p.schema_id), p.name, f.name, k.constraint_column_id" },
	[CENOTE_CATALOG_INDEXES] = { index_sql, "db_name()", "schema_name(t.schema_id)",
		"t.name", NULL, NULL, "4, 7, 6, 8" },
	[CENOTE_CATALOG_PROCEDURES] = { procedure_sql, "r.routine_catalog",
		"r.routine_schema", "r.routine_name", NULL, NULL,
		"r.routine_schema, r.routine_name" },
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { procedure_column_sql, "p.cat", "p.sch",
		"p.name", "p.col", NULL, "p.sch, p.name, p.pos" },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { table_privilege_sql, "db_name()",
		"object_schema_name(p.id)", "object_name(p.id)", NULL, NULL,
		"2, 3, p.privilege, p.grantee" },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { column_privilege_sql, "db_name()",
		"object_schema_name(p.id)", "object_name(p.id)", "p.col", NULL,
		"2, 3, p.col, p.privilege, p.grantee" },
};

static const struct catalog_kind babelfish_kinds[] = {
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { babelfish_procedure_column_sql,
		"p.procedure_qualifier", "p.procedure_owner", "p.original_procedure_name",
		"p.column_name", NULL, "2, 3, p.ordinal_position" },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { babelfish_table_privilege_sql,
		"p.table_qualifier", "p.table_owner", "p.table_name", NULL, NULL,
		"2, 3, p.privilege, p.grantee" },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { babelfish_column_privilege_sql,
		"p.table_qualifier", "p.table_owner", "p.table_name", "p.column_name",
		NULL, "2, 3, p.column_name, p.privilege, p.grantee" },
};

/* The facts about a type beside its name; NULL and -1 become NULL. Sorted by code, with the best
 * type of a code first. */
struct type {
	const char *name;
	int code;
	int64_t size;
	const char *prefix; /* of a literal; NULL: none */
	const char *suffix;
	const char *params;
	int is_unsigned;
	int is_money;
	int increments;
	int min_scale, max_scale;
	int radix;
};

#define NUMBER(name, code, size, is_unsigned, radix)                                     \
	{                                                                                \
		name, code, size, NULL, NULL, NULL, is_unsigned, 0, 1, 0, 0, radix       \
	}
#define QUOTED(name, code, size, prefix, params)                                         \
	{                                                                                \
		name, code, size, prefix, "'", params, -1, 0, -1, -1, -1, -1             \
	}
#define BINARY(name, code, size, params)                                                 \
	{                                                                                \
		name, code, size, "0x", NULL, params, -1, 0, -1, -1, -1, -1              \
	}

static const struct type types[] = {
	QUOTED("uniqueidentifier", -11, 36, "'", NULL),
	QUOTED("ntext", -10, 1073741823, "N'", NULL),
	QUOTED("xml", -10, 1073741823, "N'", NULL),
	QUOTED("nvarchar", -9, 4000, "N'", "max length"),
	QUOTED("nchar", -8, 4000, "N'", "length"),
	{ "bit", -7, 1, NULL, NULL, NULL, -1, 0, -1, -1, -1, -1 },
	NUMBER("tinyint", -6, 3, 1, 10),
	NUMBER("bigint", -5, 19, 0, 10),
	BINARY("image", -4, 2147483647, NULL),
	BINARY("varbinary", -3, 8000, "max length"),
	BINARY("binary", -2, 8000, "length"),
	BINARY("timestamp", -2, 8, NULL),
	QUOTED("text", -1, 2147483647, "'", NULL),
	QUOTED("char", 1, 8000, "'", "length"),
	{ "numeric", 2, 38, NULL, NULL, "precision,scale", 0, 0, 1, 0, 38, 10 },
	{ "decimal", 3, 38, NULL, NULL, "precision,scale", 0, 0, 1, 0, 38, 10 },
	{ "money", 3, 19, "$", NULL, NULL, 0, 1, 0, 4, 4, 10 },
	{ "smallmoney", 3, 10, "$", NULL, NULL, 0, 1, 0, 4, 4, 10 },
	NUMBER("int", 4, 10, 0, 10),
	NUMBER("smallint", 5, 5, 0, 10),
	{ "real", 7, 24, NULL, NULL, NULL, 0, 0, 0, -1, -1, 2 },
	{ "float", 8, 53, NULL, NULL, NULL, 0, 0, 0, -1, -1, 2 },
	QUOTED("varchar", 12, 8000, "'", "max length"),
	{ "sql_variant", 12, 8000, NULL, NULL, NULL, -1, 0, -1, -1, -1, -1 },
	QUOTED("date", 91, 10, "'", NULL),
	{ "time", 92, 16, "'", "'", "scale", -1, 0, -1, 0, 7, -1 },
	{ "datetime2", 93, 27, "'", "'", "scale", -1, 0, -1, 0, 7, -1 },
	{ "datetime", 93, 23, "'", "'", NULL, -1, 0, -1, 3, 3, -1 },
	{ "smalldatetime", 93, 16, "'", "'", NULL, -1, 0, -1, 0, 0, -1 },
	{ "datetimeoffset", 93, 34, "'", "'", "scale", -1, 0, -1, 0, 7, -1 },
};

/* ---- putting it together ---- */

static void
add_pattern(struct cnd_text *t, const char *expression, struct cnp_str v)
{
	struct cnc_buf pattern;

	/* This pattern matches everything: the server need not look. */
	if (v.n == 1 && *v.p == '%')
		return;
	cnd_text_add(t, " and ");
	cnd_text_add(t, expression);
	cnd_text_add(t, " like ");
	/* '[' begins a set of characters for this server, but is a plain character in a pattern of
	 * ODBC */
	cnc_buf_init(&pattern, t->b.mem, SQL_MAX);
	for (size_t i = 0; t->r == CENOTE_OK && i < v.n; i++)
		t->r = v.p[i] == '[' ? cnc_buf_append(&pattern, "\\[", 2)
				     : cnc_buf_append(&pattern, &v.p[i], 1);
	cnd_text_add_literal(
		t, (const char *)cnc_buf_head(&pattern), cnc_buf_len(&pattern));
	cnc_buf_finish(&pattern);
	cnd_text_add(t, " escape '\\'");
}

static void
add_types(struct cnd_text *t, const char *expression, struct cnp_str v)
{
	const char *before = " in (";
	struct cnp_str type;

	if (v.n == 0 || (v.n == 1 && *v.p == '%'))
		return;
	cnd_text_add(t, " and ");
	cnd_text_add(t, expression);
	while (cnd_catalog_next_type(&v, &type)) {
		cnd_text_add(t, before);
		cnd_text_add_literal(t, type.p, type.n);
		before = ", ";
	}
	cnd_text_add(t, ")");
}

static void
add_filters(
	struct cnd_text *t, const struct catalog_kind *kind, const struct cnp_catalog *f)
{
	if (f->given & 1 && kind->catalog) {
		cnd_text_add(t, " and ");
		cnd_text_add(t, kind->catalog);
		cnd_text_add(t, " = ");
		cnd_text_add_literal(t, f->catalog.p, f->catalog.n);
	}
	if (f->given & 2 && kind->schema)
		add_pattern(t, kind->schema, f->schema);
	if (f->given & 4 && kind->object)
		add_pattern(t, kind->object, f->object);
	if (f->given & 8 && kind->column)
		add_pattern(t, kind->column, f->column);
	if (f->given & 16 && kind->types)
		add_types(t, kind->types, f->types);
}

/* ---- the list of types ---- */

static void
add_type(struct cnd_text *t, const struct type *type)
{
	int is_time = type->code >= 91;
	int is_text = type->suffix && !is_time && type->code != -11;

	cnd_text_add(t, "select ");
	cnd_text_add_value(t, type->name);
	cnd_text_add_number(t, type->code);
	cnd_text_add_number(t, type->size);
	cnd_text_add_value(t, type->prefix);
	cnd_text_add_value(t, type->suffix);
	cnd_text_add_value(t, type->params);
	cnd_text_add_number(t, 1);
	cnd_text_add_number(t, 0);
	/* texts can be searched by LIKE, all other types by comparison */
	cnd_text_add_number(t, is_text ? 3 : 2);
	cnd_text_add_known(t, type->is_unsigned);
	cnd_text_add_number(t, type->is_money);
	cnd_text_add_known(t, type->increments);
	cnd_text_add_value(t, type->name);
	cnd_text_add_known(t, type->min_scale);
	cnd_text_add_known(t, type->max_scale);
	cnd_text_add_number(t, is_time ? 9 : type->code);
	cnd_text_add_known(t, is_time ? type->code - 90 : -1);
	cnd_text_add_known(t, type->radix);
	cnd_text_add(t, "null");
}

static void
add_type_list(struct cnd_text *t)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (i > 0)
			cnd_text_add(t, " union all ");
		add_type(t, &types[i]);
	}
}

/* ---- one request ---- */

/* NULL: the list of types, which needs no view. */
static const struct catalog_kind *
find_kind(const struct cnd_session *s, uint8_t kind)
{
	if (kind == CENOTE_CATALOG_TYPES)
		return NULL;
	if (s->is_babelfish && kind >= CENOTE_CATALOG_PROCEDURE_COLUMNS)
		return &babelfish_kinds[kind];
	return &kinds[kind];
}

static void
add_list(
	struct cnd_text *t, const struct cnd_session *s, const struct cnp_catalog *filter)
{
	const struct catalog_kind *kind = find_kind(s, filter->kind);

	if (!kind) {
		add_type_list(t);
		return;
	}
	cnd_text_add(t, kind->select);
	add_filters(t, kind, filter);
	cnd_text_add(t, " order by ");
	cnd_text_add(t, kind->order);
}

int
cnd_tds_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	static const struct cnd_exec plain = { .format = CENOTE_FORMAT_CANONICAL };
	struct cnp_column columns[CND_CATALOG_COLUMNS_MAX];
	struct cnd_tds_run q = {
		.s = s, .exec = &plain, .sink = sink, .columns = columns
	};
	struct cnd_text t = { .r = CENOTE_OK, .quote = cnd_tds_quote };
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	q.n_columns = cnd_catalog_columns(filter->kind, columns);
	if (q.n_columns == 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"there is no catalog list %u", (unsigned)filter->kind);
	if (s->is_sybase)
		return CENOTE_ERR_UNSUPPORTED;
	cnc_buf_init(&t.b, s->mem, SQL_MAX);
	add_list(&t, s, filter);
	r = t.r == CENOTE_ERR_LIMIT ? cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
					      "the filters are too long")
				    : t.r;
	if (r == CENOTE_OK)
		r = cnd_tds_run(&q, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b));
	cnc_buf_finish(&t.b);
	return r;
}
