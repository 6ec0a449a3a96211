/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of catalog lists, which are the same from every server, and the reading of a filter for table types.
 * The catalog.c of each backend calls it. It has no state.
 */
#include <string.h>

#include "catalog.h"

struct column {
	const char *name;
	uint8_t type;
};

#define TEXT(name)                                                                       \
	{                                                                                \
		name, CENOTE_TYPE_TEXT                                                   \
	}
#define INT(name)                                                                        \
	{                                                                                \
		name, CENOTE_TYPE_INT64                                                  \
	}

static const struct column database_columns[] = {
	TEXT("table_cat"),
	TEXT("remarks"),
};

static const struct column schema_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("remarks"),
};

static const struct column table_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	TEXT("table_type"),
	TEXT("remarks"),
};

static const struct column column_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	TEXT("column_name"),
	INT("data_type"),
	TEXT("type_name"),
	INT("column_size"),
	INT("buffer_length"),
	INT("decimal_digits"),
	INT("num_prec_radix"),
	INT("nullable"),
	TEXT("remarks"),
	TEXT("column_def"),
	INT("sql_data_type"),
	INT("sql_datetime_sub"),
	INT("char_octet_length"),
	INT("ordinal_position"),
	TEXT("is_nullable"),
};

static const struct column primary_key_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	TEXT("column_name"),
	INT("key_seq"),
	TEXT("pk_name"),
};

static const struct column foreign_key_columns[] = {
	TEXT("pktable_cat"),
	TEXT("pktable_schem"),
	TEXT("pktable_name"),
	TEXT("pkcolumn_name"),
	TEXT("fktable_cat"),
	TEXT("fktable_schem"),
	TEXT("fktable_name"),
	TEXT("fkcolumn_name"),
	INT("key_seq"),
	INT("update_rule"),
	INT("delete_rule"),
	TEXT("fk_name"),
	TEXT("pk_name"),
	INT("deferrability"),
};

static const struct column index_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	INT("non_unique"),
	TEXT("index_qualifier"),
	TEXT("index_name"),
	INT("type"),
	INT("ordinal_position"),
	TEXT("column_name"),
	TEXT("asc_or_desc"),
	INT("cardinality"),
	INT("pages"),
	TEXT("filter_condition"),
};

static const struct column type_columns[] = {
	TEXT("type_name"),
	INT("data_type"),
	INT("column_size"),
	TEXT("literal_prefix"),
	TEXT("literal_suffix"),
	TEXT("create_params"),
	INT("nullable"),
	INT("case_sensitive"),
	INT("searchable"),
	INT("unsigned_attribute"),
	INT("fixed_prec_scale"),
	INT("auto_unique_value"),
	TEXT("local_type_name"),
	INT("minimum_scale"),
	INT("maximum_scale"),
	INT("sql_data_type"),
	INT("sql_datetime_sub"),
	INT("num_prec_radix"),
	INT("interval_precision"),
};

static const struct column procedure_columns[] = {
	TEXT("procedure_cat"),
	TEXT("procedure_schem"),
	TEXT("procedure_name"),
	INT("num_input_params"),
	INT("num_output_params"),
	INT("num_result_sets"),
	TEXT("remarks"),
	INT("procedure_type"),
};

static const struct column procedure_column_columns[] = {
	TEXT("procedure_cat"),
	TEXT("procedure_schem"),
	TEXT("procedure_name"),
	TEXT("column_name"),
	INT("column_type"),
	INT("data_type"),
	TEXT("type_name"),
	INT("column_size"),
	INT("buffer_length"),
	INT("decimal_digits"),
	INT("num_prec_radix"),
	INT("nullable"),
	TEXT("remarks"),
	TEXT("column_def"),
	INT("sql_data_type"),
	INT("sql_datetime_sub"),
	INT("char_octet_length"),
	INT("ordinal_position"),
	TEXT("is_nullable"),
};

static const struct column table_privilege_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	TEXT("grantor"),
	TEXT("grantee"),
	TEXT("privilege"),
	TEXT("is_grantable"),
};

static const struct column column_privilege_columns[] = {
	TEXT("table_cat"),
	TEXT("table_schem"),
	TEXT("table_name"),
	TEXT("column_name"),
	TEXT("grantor"),
	TEXT("grantee"),
	TEXT("privilege"),
	TEXT("is_grantable"),
};

#define LIST(columns)                                                                    \
	{                                                                                \
		columns, sizeof(columns) / sizeof((columns)[0])                          \
	}

static const struct list {
	const struct column *columns;
	uint32_t n;
} lists[] = {
	[CENOTE_CATALOG_DATABASES] = LIST(database_columns),
	[CENOTE_CATALOG_SCHEMAS] = LIST(schema_columns),
	[CENOTE_CATALOG_TABLES] = LIST(table_columns),
	[CENOTE_CATALOG_COLUMNS] = LIST(column_columns),
	[CENOTE_CATALOG_PRIMARY_KEYS] = LIST(primary_key_columns),
	[CENOTE_CATALOG_FOREIGN_KEYS] = LIST(foreign_key_columns),
	[CENOTE_CATALOG_INDEXES] = LIST(index_columns),
	[CENOTE_CATALOG_TYPES] = LIST(type_columns),
	[CENOTE_CATALOG_PROCEDURES] = LIST(procedure_columns),
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = LIST(procedure_column_columns),
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = LIST(table_privilege_columns),
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = LIST(column_privilege_columns),
};

uint32_t
cnd_catalog_columns(uint8_t kind, struct cnp_column ret_columns[CND_CATALOG_COLUMNS_MAX])
{
	const struct list *list;

	if (kind >= sizeof(lists) / sizeof(lists[0]))
		return 0;
	list = &lists[kind];
	for (uint32_t i = 0; i < list->n; i++) {
		ret_columns[i] = (struct cnp_column)CNP_COLUMN_INIT;
		ret_columns[i].name = cnp_str(list->columns[i].name);
		ret_columns[i].type = list->columns[i].type;
		ret_columns[i].format = CENOTE_FORMAT_CANONICAL;
	}
	return list->n;
}

int
cnd_catalog_next_type(struct cnp_str *types, struct cnp_str *ret_type)
{
	const char *p = types->p, *comma;
	size_t n = types->n;

	if (!p)
		return 0;
	comma = memchr(p, ',', n);
	if (comma) {
		n = (size_t)(comma - p);
		types->p = comma + 1;
		types->n -= n + 1;
	} else {
		*types = (struct cnp_str){ NULL, 0 };
	}
	while (n > 0 && (*p == ' ' || *p == '\'')) {
		p++;
		n--;
	}
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\''))
		n--;
	*ret_type = (struct cnp_str){ p, n };
	return 1;
}
