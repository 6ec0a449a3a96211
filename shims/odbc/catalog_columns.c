/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of each catalog function's result: tables of names and types, as the standard lists
 * them. catalog.c reads them. It has no state.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog_internal.h"
#include "types.h"

#define COUNT(a)            (sizeof(a) / sizeof((a)[0]))
#define NAME_MAX_CHARACTERS 128

struct spec {
	const char *name;
	SQLSMALLINT type;
	SQLSMALLINT nullable;
};

#define NAME(name)                                                                       \
	{                                                                                \
		name, SQL_VARCHAR, SQL_NULLABLE                                          \
	}
#define NAME_NOT(name)                                                                   \
	{                                                                                \
		name, SQL_VARCHAR, SQL_NO_NULLS                                          \
	}
#define SMALL(name)                                                                      \
	{                                                                                \
		name, SQL_SMALLINT, SQL_NULLABLE                                         \
	}
#define SMALL_NOT(name)                                                                  \
	{                                                                                \
		name, SQL_SMALLINT, SQL_NO_NULLS                                         \
	}
#define LONG(name)                                                                       \
	{                                                                                \
		name, SQL_INTEGER, SQL_NULLABLE                                          \
	}
#define LONG_NOT(name)                                                                   \
	{                                                                                \
		name, SQL_INTEGER, SQL_NO_NULLS                                          \
	}

static const struct spec tables[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME("TABLE_NAME"),
	NAME("TABLE_TYPE"),
	NAME("REMARKS"),
};

static const struct spec columns[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME_NOT("TABLE_NAME"),
	NAME_NOT("COLUMN_NAME"),
	SMALL_NOT("DATA_TYPE"),
	NAME_NOT("TYPE_NAME"),
	LONG("COLUMN_SIZE"),
	LONG("BUFFER_LENGTH"),
	SMALL("DECIMAL_DIGITS"),
	SMALL("NUM_PREC_RADIX"),
	SMALL_NOT("NULLABLE"),
	NAME("REMARKS"),
	NAME("COLUMN_DEF"),
	SMALL_NOT("SQL_DATA_TYPE"),
	SMALL("SQL_DATETIME_SUB"),
	LONG("CHAR_OCTET_LENGTH"),
	LONG_NOT("ORDINAL_POSITION"),
	NAME("IS_NULLABLE"),
};

static const struct spec primary_keys[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME_NOT("TABLE_NAME"),
	NAME_NOT("COLUMN_NAME"),
	SMALL_NOT("KEY_SEQ"),
	NAME("PK_NAME"),
};

static const struct spec foreign_keys[] = {
	NAME("PKTABLE_CAT"),
	NAME("PKTABLE_SCHEM"),
	NAME_NOT("PKTABLE_NAME"),
	NAME_NOT("PKCOLUMN_NAME"),
	NAME("FKTABLE_CAT"),
	NAME("FKTABLE_SCHEM"),
	NAME_NOT("FKTABLE_NAME"),
	NAME_NOT("FKCOLUMN_NAME"),
	SMALL_NOT("KEY_SEQ"),
	SMALL("UPDATE_RULE"),
	SMALL("DELETE_RULE"),
	NAME("FK_NAME"),
	NAME("PK_NAME"),
	SMALL("DEFERRABILITY"),
};

static const struct spec statistics[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME_NOT("TABLE_NAME"),
	SMALL("NON_UNIQUE"),
	NAME("INDEX_QUALIFIER"),
	NAME("INDEX_NAME"),
	SMALL_NOT("TYPE"),
	SMALL("ORDINAL_POSITION"),
	NAME("COLUMN_NAME"),
	NAME("ASC_OR_DESC"),
	LONG("CARDINALITY"),
	LONG("PAGES"),
	NAME("FILTER_CONDITION"),
};

static const struct spec special_columns[] = {
	SMALL("SCOPE"),
	NAME_NOT("COLUMN_NAME"),
	SMALL_NOT("DATA_TYPE"),
	NAME_NOT("TYPE_NAME"),
	LONG("COLUMN_SIZE"),
	LONG("BUFFER_LENGTH"),
	SMALL("DECIMAL_DIGITS"),
	SMALL("PSEUDO_COLUMN"),
};

static const struct spec procedures[] = {
	NAME("PROCEDURE_CAT"),
	NAME("PROCEDURE_SCHEM"),
	NAME_NOT("PROCEDURE_NAME"),
	LONG("NUM_INPUT_PARAMS"),
	LONG("NUM_OUTPUT_PARAMS"),
	LONG("NUM_RESULT_SETS"),
	NAME("REMARKS"),
	SMALL("PROCEDURE_TYPE"),
};

static const struct spec procedure_columns[] = {
	NAME("PROCEDURE_CAT"),
	NAME("PROCEDURE_SCHEM"),
	NAME_NOT("PROCEDURE_NAME"),
	NAME_NOT("COLUMN_NAME"),
	SMALL_NOT("COLUMN_TYPE"),
	SMALL_NOT("DATA_TYPE"),
	NAME_NOT("TYPE_NAME"),
	LONG("COLUMN_SIZE"),
	LONG("BUFFER_LENGTH"),
	SMALL("DECIMAL_DIGITS"),
	SMALL("NUM_PREC_RADIX"),
	SMALL_NOT("NULLABLE"),
	NAME("REMARKS"),
	NAME("COLUMN_DEF"),
	SMALL_NOT("SQL_DATA_TYPE"),
	SMALL("SQL_DATETIME_SUB"),
	LONG("CHAR_OCTET_LENGTH"),
	LONG_NOT("ORDINAL_POSITION"),
	NAME("IS_NULLABLE"),
};

static const struct spec table_privileges[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME_NOT("TABLE_NAME"),
	NAME("GRANTOR"),
	NAME_NOT("GRANTEE"),
	NAME_NOT("PRIVILEGE"),
	NAME("IS_GRANTABLE"),
};

static const struct spec column_privileges[] = {
	NAME("TABLE_CAT"),
	NAME("TABLE_SCHEM"),
	NAME_NOT("TABLE_NAME"),
	NAME_NOT("COLUMN_NAME"),
	NAME("GRANTOR"),
	NAME_NOT("GRANTEE"),
	NAME_NOT("PRIVILEGE"),
	NAME("IS_GRANTABLE"),
};

static const struct spec type_info[] = {
	NAME_NOT("TYPE_NAME"),
	SMALL_NOT("DATA_TYPE"),
	LONG("COLUMN_SIZE"),
	NAME("LITERAL_PREFIX"),
	NAME("LITERAL_SUFFIX"),
	NAME("CREATE_PARAMS"),
	SMALL_NOT("NULLABLE"),
	SMALL_NOT("CASE_SENSITIVE"),
	SMALL_NOT("SEARCHABLE"),
	SMALL("UNSIGNED_ATTRIBUTE"),
	SMALL_NOT("FIXED_PREC_SCALE"),
	SMALL("AUTO_UNIQUE_VALUE"),
	NAME("LOCAL_TYPE_NAME"),
	SMALL("MINIMUM_SCALE"),
	SMALL("MAXIMUM_SCALE"),
	SMALL_NOT("SQL_DATA_TYPE"),
	SMALL("SQL_DATETIME_SUB"),
	LONG("NUM_PREC_RADIX"),
	SMALL("INTERVAL_PRECISION"),
};

#define LIST(specs)                                                                      \
	{                                                                                \
		specs, COUNT(specs)                                                      \
	}

static const struct {
	const struct spec *specs;
	uint32_t n;
} lists[COD_N_CATALOG_KINDS] = {
	[COD_CATALOG_TABLES] = LIST(tables),
	[COD_CATALOG_COLUMNS] = LIST(columns),
	[COD_CATALOG_PRIMARY_KEYS] = LIST(primary_keys),
	[COD_CATALOG_FOREIGN_KEYS] = LIST(foreign_keys),
	[COD_CATALOG_STATISTICS] = LIST(statistics),
	[COD_CATALOG_SPECIAL_COLUMNS] = LIST(special_columns),
	[COD_CATALOG_PROCEDURES] = LIST(procedures),
	[COD_CATALOG_PROCEDURE_COLUMNS] = LIST(procedure_columns),
	[COD_CATALOG_TABLE_PRIVILEGES] = LIST(table_privileges),
	[COD_CATALOG_COLUMN_PRIVILEGES] = LIST(column_privileges),
	[COD_CATALOG_TYPE_INFO] = LIST(type_info),
};

/* The names that these columns had in ODBC 2. */
static const struct {
	const char *name, *old;
} old_names[] = {
	{ "TABLE_CAT", "TABLE_QUALIFIER" },
	{ "TABLE_SCHEM", "TABLE_OWNER" },
	{ "PKTABLE_CAT", "PKTABLE_QUALIFIER" },
	{ "PKTABLE_SCHEM", "PKTABLE_OWNER" },
	{ "FKTABLE_CAT", "FKTABLE_QUALIFIER" },
	{ "FKTABLE_SCHEM", "FKTABLE_OWNER" },
	{ "PROCEDURE_CAT", "PROCEDURE_QUALIFIER" },
	{ "PROCEDURE_SCHEM", "PROCEDURE_OWNER" },
	{ "COLUMN_SIZE", "PRECISION" },
	{ "BUFFER_LENGTH", "LENGTH" },
	{ "DECIMAL_DIGITS", "SCALE" },
	{ "NUM_PREC_RADIX", "RADIX" },
	{ "ASC_OR_DESC", "COLLATION" },
	{ "FIXED_PREC_SCALE", "MONEY" },
	{ "AUTO_UNIQUE_VALUE", "AUTO_INCREMENT" },
};

static const char *
name_of(const char *name, SQLINTEGER odbc_version)
{
	for (size_t i = 0; odbc_version == SQL_OV_ODBC2 && i < COUNT(old_names); i++) {
		if (strcmp(name, old_names[i].name) == 0)
			return old_names[i].old;
	}
	return name;
}

int
cod_catalog_columns(const struct cod_catalog_args *args, struct cod_column **ret_columns,
	uint32_t *ret_n)
{
	const struct spec *specs = lists[args->kind].specs;
	uint32_t n = lists[args->kind].n;
	struct cod_column *list = calloc(n, sizeof(*list));

	if (!list)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		SQLSMALLINT type = specs[i].type;

		if (type == SQL_VARCHAR && args->options.is_wide)
			type = SQL_WVARCHAR;
		cod_column_own(name_of(specs[i].name, args->odbc_version), type,
			NAME_MAX_CHARACTERS, specs[i].nullable, &list[i]);
	}
	*ret_columns = list;
	*ret_n = n;
	return 0;
}
