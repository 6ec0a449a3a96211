/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of a column by their number, as SQLColAttribute() and an implementation row descriptor
 * (IRD) give them. A table says where in struct cod_column each is. describe.c and desc_field.c
 * call it. It has no state.
 */
#include "odbc.h"

#include <stddef.h>

static const struct {
	SQLSMALLINT id;
	size_t at; /* in struct cod_column */
} texts[] = {
	{ SQL_DESC_BASE_COLUMN_NAME, offsetof(struct cod_column, base_name) },
	{ SQL_DESC_BASE_TABLE_NAME, offsetof(struct cod_column, base_table) },
	{ SQL_DESC_CATALOG_NAME, offsetof(struct cod_column, catalog) },
	{ SQL_DESC_LABEL, offsetof(struct cod_column, name) },
	{ SQL_DESC_LITERAL_PREFIX, offsetof(struct cod_column, type.prefix) },
	{ SQL_DESC_LITERAL_SUFFIX, offsetof(struct cod_column, type.suffix) },
	{ SQL_DESC_LOCAL_TYPE_NAME, offsetof(struct cod_column, type.name) },
	{ SQL_DESC_NAME, offsetof(struct cod_column, name) },
	{ SQL_COLUMN_NAME, offsetof(struct cod_column, name) },
	{ SQL_DESC_SCHEMA_NAME, offsetof(struct cod_column, schema) },
	{ SQL_DESC_TABLE_NAME, offsetof(struct cod_column, table) },
	{ SQL_DESC_TYPE_NAME, offsetof(struct cod_column, type.name) },
};

static SQLLEN
auto_unique(const struct cod_column *column)
{
	return column->type.is_auto;
}

static SQLLEN
case_sensitive(const struct cod_column *column)
{
	return column->type.is_case_sensitive;
}

static SQLLEN
sub(const struct cod_column *column)
{
	return column->type.sql->sub;
}

static SQLLEN
leading(const struct cod_column *column)
{
	return column->type.sql->verbose == SQL_INTERVAL ? 2 : 0;
}

static SQLLEN
display_size(const struct cod_column *column)
{
	return column->type.display;
}

static SQLLEN
fixed_scale(const struct cod_column *column)
{
	return column->type.is_fixed_scale;
}

static SQLLEN
length(const struct cod_column *column)
{
	return (SQLLEN)column->type.size;
}

static SQLLEN
nullable(const struct cod_column *column)
{
	return column->type.nullable;
}

static SQLLEN
radix(const struct cod_column *column)
{
	return column->type.sql->radix;
}

static SQLLEN
octets(const struct cod_column *column)
{
	return column->type.octets;
}

static SQLLEN
precision(const struct cod_column *column)
{
	return column->type.precision;
}

static SQLLEN
scale(const struct cod_column *column)
{
	return column->type.digits;
}

static SQLLEN
searchable(const struct cod_column *column)
{
	return column->type.searchable;
}

static SQLLEN
verbose(const struct cod_column *column)
{
	return column->type.sql->verbose;
}

static SQLLEN
unnamed(const struct cod_column *column)
{
	return *column->name == '\0' ? SQL_UNNAMED : SQL_NAMED;
}

static SQLLEN
is_unsigned(const struct cod_column *column)
{
	return column->type.is_unsigned;
}

static SQLLEN
updatable(const struct cod_column *column)
{
	return column->table_id > 0 || *column->base_table != '\0'
		       ? SQL_ATTR_WRITE
		       : SQL_ATTR_READWRITE_UNKNOWN;
}

static SQLLEN
no(const struct cod_column *column)
{
	(void)column;
	return SQL_FALSE;
}

static const struct {
	SQLSMALLINT id;
	SQLLEN (*get)(const struct cod_column *column);
} numbers[] = {
	{ SQL_DESC_AUTO_UNIQUE_VALUE, auto_unique },
	{ SQL_DESC_CASE_SENSITIVE, case_sensitive },
	{ SQL_DESC_DATETIME_INTERVAL_CODE, sub },
	{ SQL_DESC_DATETIME_INTERVAL_PRECISION, leading },
	{ SQL_DESC_DISPLAY_SIZE, display_size },
	{ SQL_DESC_FIXED_PREC_SCALE, fixed_scale },
	{ SQL_DESC_LENGTH, length },
	{ SQL_COLUMN_LENGTH, octets },
	{ SQL_DESC_NULLABLE, nullable },
	{ SQL_COLUMN_NULLABLE, nullable },
	{ SQL_DESC_NUM_PREC_RADIX, radix },
	{ SQL_DESC_OCTET_LENGTH, octets },
	{ SQL_DESC_PRECISION, precision },
	{ SQL_COLUMN_PRECISION, length },
	{ SQL_DESC_ROWVER, no },
	{ SQL_DESC_SCALE, scale },
	{ SQL_COLUMN_SCALE, scale },
	{ SQL_DESC_SEARCHABLE, searchable },
	{ SQL_DESC_TYPE, verbose },
	{ SQL_DESC_UNNAMED, unnamed },
	{ SQL_DESC_UNSIGNED, is_unsigned },
	{ SQL_DESC_UPDATABLE, updatable },
};

bool
cod_column_field(const struct cod_stmt *stmt, const struct cod_column *column,
	SQLSMALLINT id, const char **ret_text, SQLLEN *ret_number)
{
	*ret_text = NULL;
	*ret_number = 0;
	/* this is the only number that depends on the application's ODBC version */
	if (id == SQL_DESC_CONCISE_TYPE) {
		*ret_number = cod_sql_type_for(
			column->type.sql->concise, stmt->dbc->env->odbc_version);
		return true;
	}
	for (size_t i = 0; i < COD_COUNT(texts); i++) {
		if (texts[i].id == id) {
			*ret_text = *(
				const char *const *)((const char *)column + texts[i].at);
			return true;
		}
	}
	for (size_t i = 0; i < COD_COUNT(numbers); i++) {
		if (numbers[i].id == id) {
			*ret_number = numbers[i].get(column);
			return true;
		}
	}
	return false;
}
