/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ODBC's types for the types of each server: rules by the server's type number and by libcenote's
 * type, and sizes derived from them. columns.c, describe.c and catalog.c call it. It has no state.
 */
#include "types.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The rule for a type of the server. */
struct rule {
	uint32_t native;
	SQLSMALLINT sql;
	/* the column size, if the SQL type has none or another one; else 0 */
	int16_t size;
	uint8_t is_unsigned;
	uint8_t has_offset; /* the text of a time ends with the offset of its zone */
};

/* By OID. */
static const struct rule postgresql_rules[] = {
	{ 16, SQL_BIT, 0, 0, 0 }, /* bool */
	{ 17, SQL_VARBINARY, 0, 0, 0 }, /* bytea */
	{ 18, SQL_CHAR, 1, 0, 0 }, /* "char" */
	{ 19, SQL_VARCHAR, 63, 0, 0 }, /* name */
	{ 20, SQL_BIGINT, 0, 0, 0 }, { 21, SQL_SMALLINT, 0, 0, 0 },
	{ 23, SQL_INTEGER, 0, 0, 0 }, { 26, SQL_BIGINT, 10, 1, 0 }, /* oid */
	{ 28, SQL_BIGINT, 10, 1, 0 }, /* xid */
	{ 29, SQL_BIGINT, 10, 1, 0 }, /* cid */
	{ 700, SQL_REAL, 0, 0, 0 }, { 701, SQL_DOUBLE, 0, 0, 0 },
	{ 1042, SQL_CHAR, 0, 0, 0 }, /* bpchar */
	{ 1083, SQL_TYPE_TIME, 0, 0, 0 },
	{ 1184, SQL_TYPE_TIMESTAMP, 0, 0, 1 }, /* timestamptz */
	{ 1266, SQL_VARCHAR, 24, 0, 0 }, /* timetz: SQL_TYPE_TIME cannot hold its zone */
	{ 1700, SQL_NUMERIC, 0, 0, 0 }, { 5069, SQL_BIGINT, 20, 1, 0 }, /* xid8 */
};

/* By enum enum_field_types. */
static const struct rule mysql_rules[] = {
	{ 1, SQL_TINYINT, 0, 0, 0 },
	{ 2, SQL_SMALLINT, 0, 0, 0 },
	{ 3, SQL_INTEGER, 0, 0, 0 },
	{ 4, SQL_REAL, 0, 0, 0 },
	{ 9, SQL_INTEGER, 8, 0, 0 }, /* mediumint */
	{ 13, SQL_SMALLINT, 4, 1, 0 }, /* year */
	{ 252, SQL_LONGVARCHAR, 0, 0, 0 }, /* text */
	{ 252, SQL_LONGVARBINARY, 0, 0, 0 }, /* blob */
	{ 254, SQL_CHAR, 0, 0, 0 }, /* also enum and set */
	{ 254, SQL_BINARY, 0, 0, 0 },
};

static const struct {
	const struct rule *rules;
	size_t n;
	int16_t decimal_size; /* column size of a number without a precision */
	/* digits of a time's fraction, if the server does not report them */
	int16_t fraction;
	int16_t bytes_per_character; /* to convert a column's length to characters */
	uint32_t unsigned_flag, auto_flag, binary_flag;
	/* texts are case-sensitive; 0: only those with binary_flag are */
	uint8_t is_case_sensitive;
	const char *bytes_prefix;
} servers[COD_N_DIALECTS] = {
	[COD_DIALECT_OTHER] = { NULL, 0, 38, 0, 1, 0, 0, 0, 1, "X'" },
	[COD_DIALECT_POSTGRESQL] = { postgresql_rules, COUNT(postgresql_rules), 1000, 6,
		1, 0, 0, 0, 1, "'\\x" },
	[COD_DIALECT_MYSQL] = { mysql_rules, COUNT(mysql_rules), 65, 0, 4, 32, 512, 128,
		0, "x'" },
	[COD_DIALECT_SQLITE] = { NULL, 0, 38, 9, 1, 0, 4, 0, 1, "x'" },
	[COD_DIALECT_TDS] = { NULL, 0, 38, 3, 1, 0, 0, 0, 0, "0x" },
};

/* For types whose number the server does not give, or which have no rule. */
static const struct rule logical_rules[] = {
	{ CENOTE_TYPE_NULL, SQL_VARCHAR, 0, 0, 0 },
	{ CENOTE_TYPE_BOOL, SQL_BIT, 0, 0, 0 },
	{ CENOTE_TYPE_INT64, SQL_BIGINT, 0, 0, 0 },
	{ CENOTE_TYPE_UINT64, SQL_BIGINT, 20, 1, 0 },
	{ CENOTE_TYPE_DOUBLE, SQL_DOUBLE, 0, 0, 0 },
	{ CENOTE_TYPE_DECIMAL, SQL_DECIMAL, 0, 0, 0 },
	{ CENOTE_TYPE_TEXT, SQL_VARCHAR, 0, 0, 0 },
	{ CENOTE_TYPE_BYTES, SQL_VARBINARY, 0, 0, 0 },
	{ CENOTE_TYPE_DATE, SQL_TYPE_DATE, 0, 0, 0 },
	{ CENOTE_TYPE_TIME, SQL_TYPE_TIME, 0, 0, 0 },
	{ CENOTE_TYPE_TIMESTAMP, SQL_TYPE_TIMESTAMP, 0, 0, 0 },
	{ CENOTE_TYPE_INTERVAL, SQL_VARCHAR, 64, 0, 0 },
	{ CENOTE_TYPE_UUID, SQL_GUID, 0, 0, 0 },
	{ CENOTE_TYPE_JSON, SQL_VARCHAR, 0, 0, 0 },
	{ CENOTE_TYPE_OTHER, SQL_VARCHAR, 0, 0, 0 },
};

static const struct cod_string_form forms[] = {
	{ SQL_CHAR, SQL_WCHAR, SQL_LONGVARCHAR },
	{ SQL_VARCHAR, SQL_WVARCHAR, SQL_LONGVARCHAR },
	{ SQL_LONGVARCHAR, SQL_WLONGVARCHAR, SQL_LONGVARCHAR },
	{ SQL_BINARY, SQL_BINARY, SQL_LONGVARBINARY },
	{ SQL_VARBINARY, SQL_VARBINARY, SQL_LONGVARBINARY },
	{ SQL_LONGVARBINARY, SQL_LONGVARBINARY, SQL_LONGVARBINARY },
};

static void
read_native(const cenote_column *column, struct cod_native *ret_native)
{
	ret_native->type = (int)cenote_column_int(column, CENOTE_COLUMN_TYPE);
	ret_native->native_type =
		(uint32_t)cenote_column_int(column, CENOTE_COLUMN_NATIVE_TYPE);
	ret_native->modifier = cenote_column_int(column, CENOTE_COLUMN_MODIFIER);
	ret_native->flags =
		(uint32_t)cenote_column_int(column, CENOTE_COLUMN_NATIVE_FLAGS);
	ret_native->charset = cenote_column_int(column, CENOTE_COLUMN_CHARSET);
	ret_native->length = cenote_column_int(column, CENOTE_COLUMN_LENGTH);
	ret_native->precision = cenote_column_int(column, CENOTE_COLUMN_PRECISION);
	ret_native->scale = cenote_column_int(column, CENOTE_COLUMN_SCALE);
	ret_native->nullable = (int)cenote_column_int(column, CENOTE_COLUMN_NULLABLE);
	ret_native->type_name = cenote_column_text(column, CENOTE_COLUMN_TYPE_NAME);
}

void
cod_native_of_param(int type, uint32_t native_type, struct cod_native *ret_native)
{
	*ret_native = (struct cod_native)COD_NATIVE_INIT;
	ret_native->type = type;
	ret_native->native_type = native_type;
	ret_native->nullable = SQL_NULLABLE;
}

static int
is_bytes(SQLSMALLINT sql)
{
	return sql == SQL_BINARY || sql == SQL_VARBINARY || sql == SQL_LONGVARBINARY;
}

static const struct rule *
find_server_rule(enum cod_dialect dialect, const struct cod_native *native)
{
	static const struct rule unknown = { 0, SQL_VARCHAR, 0, 0, 0 };

	for (size_t i = 0; i < servers[dialect].n; i++) {
		const struct rule *rule = &servers[dialect].rules[i];

		/* MySQL uses the same numbers for text and for bytes. */
		if (rule->native == native->native_type &&
			is_bytes(rule->sql) == (native->type == CENOTE_TYPE_BYTES))
			return rule;
	}
	for (size_t i = 0; i < COUNT(logical_rules); i++) {
		if (logical_rules[i].native == (uint32_t)native->type)
			return &logical_rules[i];
	}
	return &unknown;
}

static const struct rule *
find_rule(enum cod_dialect dialect, const struct cod_native *native,
	const struct cod_type_options *options)
{
	static const struct rule int32s[] = { { 0, SQL_INTEGER, 0, 0, 0 },
		{ 0, SQL_INTEGER, 0, 1, 0 } };
	const struct rule *rule = find_server_rule(dialect, native);

	if (options->is_int32 && rule->sql == SQL_BIGINT)
		return &int32s[rule->is_unsigned];
	return rule;
}

/* ---- sizes ---- */

const struct cod_string_form *
cod_string_form(SQLSMALLINT sql)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		if (forms[i].sql == sql)
			return &forms[i];
	}
	return NULL;
}

static int
is_text(SQLSMALLINT sql)
{
	const struct cod_sql_type *type = cod_sql_type(sql);

	return type->c_type == SQL_C_WCHAR ||
	       (type->c_type == SQL_C_CHAR && type->radix == 0);
}

int
cod_is_limited(int64_t length)
{
	return length > 0 && length < 65536;
}

/* Set the sizes of a text in characters, or of bytes. */
static void
size_string(enum cod_dialect dialect, const struct cod_native *native,
	const struct cod_string_form *form, const struct cod_type_options *options,
	struct cod_type *t)
{
	const struct cod_string_form *unlimited = cod_string_form(form->unlimited);
	int64_t length = t->size > 0 ? (int64_t)t->size : native->length;
	int unit = 1;

	if (native->type != CENOTE_TYPE_BYTES && t->size == 0)
		length /= servers[dialect].bytes_per_character;
	t->size = cod_is_limited(length) ? (SQLULEN)length : options->long_size;
	if (!cod_is_limited(length) && unlimited != NULL)
		form = unlimited;
	t->sql = cod_sql_type(form->sql);
	if (options->is_wide)
		t->sql = cod_sql_type(form->wide);
	if (is_text(t->sql->concise))
		unit = options->is_wide ? (int)sizeof(SQLWCHAR) : 4;
	t->octets = (SQLLEN)t->size * unit;
	t->display = (SQLLEN)t->size;
	if (!is_text(t->sql->concise))
		t->display *= 2;
}

static void
size_decimal(
	enum cod_dialect dialect, const struct cod_native *native, struct cod_type *t)
{
	int is_known = native->precision > 0;

	t->size = is_known ? (SQLULEN)native->precision
			   : (SQLULEN)servers[dialect].decimal_size;
	/* A numeric without a scale takes any number. These digits are enough for most. */
	t->digits = (SQLSMALLINT)(native->scale >= 0 ? native->scale : is_known ? 0 : 6);
	t->precision = (SQLSMALLINT)t->size;
	t->octets = t->display = (SQLLEN)t->size + 2;
}

static void
size_datetime(enum cod_dialect dialect, const struct cod_native *native, int has_offset,
	struct cod_type *t)
{
	int64_t digits = native->scale >= 0 && native->scale <= 9
				 ? native->scale
				 : servers[dialect].fraction;

	if (t->sql->concise == SQL_TYPE_DATE)
		digits = 0;
	/* No server stores a time of day with more digits. */
	if (t->sql->concise == SQL_TYPE_TIME && native->scale < 0 && digits > 6)
		digits = 6;
	t->digits = t->precision = (SQLSMALLINT)digits;
	if (digits > 0)
		t->size += (SQLULEN)digits + 1;
	t->display = (SQLLEN)t->size + (has_offset ? 6 : 0);
}

static void
set_literal(enum cod_dialect dialect, struct cod_type *t)
{
	int is_bytes = t->sql->c_type == SQL_C_BINARY;
	int is_quoted = is_text(t->sql->concise) || t->sql->verbose == SQL_DATETIME ||
			t->sql->concise == SQL_GUID;

	t->prefix = is_bytes ? servers[dialect].bytes_prefix : is_quoted ? "'" : "";
	t->suffix = is_quoted || (is_bytes && dialect != COD_DIALECT_TDS) ? "'" : "";
}

static const char *
name_of(const struct cod_type *t)
{
	static const struct {
		SQLSMALLINT sql;
		const char *name;
	} names[] = {
		{ SQL_CHAR, "CHAR" },
		{ SQL_WCHAR, "CHAR" },
		{ SQL_LONGVARCHAR, "TEXT" },
		{ SQL_WLONGVARCHAR, "TEXT" },
		{ SQL_BINARY, "BINARY" },
		{ SQL_VARBINARY, "VARBINARY" },
		{ SQL_LONGVARBINARY, "BLOB" },
		{ SQL_BIT, "BOOLEAN" },
		{ SQL_TINYINT, "TINYINT" },
		{ SQL_SMALLINT, "SMALLINT" },
		{ SQL_INTEGER, "INTEGER" },
		{ SQL_BIGINT, "BIGINT" },
		{ SQL_REAL, "REAL" },
		{ SQL_DOUBLE, "DOUBLE PRECISION" },
		{ SQL_DECIMAL, "DECIMAL" },
		{ SQL_NUMERIC, "NUMERIC" },
		{ SQL_GUID, "UUID" },
		{ SQL_TYPE_DATE, "DATE" },
		{ SQL_TYPE_TIME, "TIME" },
		{ SQL_TYPE_TIMESTAMP, "TIMESTAMP" },
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i].sql == t->sql->concise)
			return names[i].name;
	}
	return "VARCHAR";
}

static SQLSMALLINT
truth(int condition)
{
	return condition ? SQL_TRUE : SQL_FALSE;
}

/* Set the facts that do not depend on a size. */
static void
set_facts(enum cod_dialect dialect, const struct cod_native *native,
	const struct rule *rule, struct cod_type *t)
{
	int is_string = is_text(t->sql->concise);
	int is_number = t->sql->radix != 0;

	t->nullable = (SQLSMALLINT)native->nullable;
	t->searchable = is_string ? SQL_PRED_SEARCHABLE : SQL_PRED_BASIC;
	t->is_unsigned = truth(!is_number || rule->is_unsigned ||
			       native->type == CENOTE_TYPE_UINT64 ||
			       (native->flags & servers[dialect].unsigned_flag) != 0);
	t->is_case_sensitive =
		truth(is_string &&
			(servers[dialect].is_case_sensitive ||
				(native->flags & servers[dialect].binary_flag) != 0));
	t->is_fixed_scale = SQL_FALSE;
	t->is_auto = truth((native->flags & servers[dialect].auto_flag) != 0);
	t->name = *native->type_name ? native->type_name : name_of(t);
	set_literal(dialect, t);
}

/* The precision counts bits if the radix is 2, although the size counts digits. */
static SQLSMALLINT
precision_of(const struct cod_sql_type *sql, SQLULEN size)
{
	if (sql->radix == 2)
		return sql->octets == sizeof(SQLREAL) ? 24 : 53;
	if (sql->radix == 0)
		return 0;
	return (SQLSMALLINT)size;
}

void
cod_type_of(enum cod_dialect dialect, const struct cod_native *native,
	const struct cod_type_options *options, struct cod_type *ret_type)
{
	const struct rule *rule = find_rule(dialect, native, options);
	const struct cod_sql_type *sql = cod_sql_type(rule->sql);
	struct cod_type t = { .sql = sql,
		.size = (SQLULEN)(rule->size ? rule->size : sql->size),
		.octets = sql->octets,
		.display = sql->display };
	const struct cod_string_form *form = cod_string_form(rule->sql);

	t.precision = precision_of(sql, t.size);
	if (form != NULL)
		size_string(dialect, native, form, options, &t);
	else if (sql->c_type == SQL_C_CHAR)
		size_decimal(dialect, native, &t);
	else if (sql->verbose == SQL_DATETIME)
		size_datetime(dialect, native, rule->has_offset, &t);
	else if (rule->size && rule->size + 1 > t.display)
		t.display = rule->size + 1;
	set_facts(dialect, native, rule, &t);
	*ret_type = t;
}

void
cod_column_of(const cenote_column *column, enum cod_dialect dialect,
	const struct cod_type_options *options, struct cod_column *ret_column)
{
	struct cod_native native;

	read_native(column, &native);
	*ret_column = (struct cod_column){
		.name = cenote_column_text(column, CENOTE_COLUMN_NAME),
		.base_name = cenote_column_text(column, CENOTE_COLUMN_ORG_NAME),
		.table = cenote_column_text(column, CENOTE_COLUMN_TABLE),
		.base_table = cenote_column_text(column, CENOTE_COLUMN_ORG_TABLE),
		.schema = cenote_column_text(column, CENOTE_COLUMN_SCHEMA),
		.catalog = cenote_column_text(column, CENOTE_COLUMN_CATALOG),
		.value_type = native.type,
		.table_id = cenote_column_int(column, CENOTE_COLUMN_TABLE_ID),
		.attnum = cenote_column_int(column, CENOTE_COLUMN_ATTNUM),
	};
	cod_type_of(dialect, &native, options, &ret_column->type);
}

void
cod_column_own(const char *name, SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT nullable,
	struct cod_column *ret_column)
{
	const struct cod_sql_type *sql = cod_sql_type(sql_type);
	int is_string = is_text(sql_type);
	struct cod_type t = { .sql = sql,
		.size = sql->size ? (SQLULEN)sql->size : size,
		.octets = sql->octets,
		.display = sql->display,
		.nullable = nullable,
		.searchable = SQL_PRED_NONE,
		.is_unsigned = truth(sql->radix == 0),
		.is_case_sensitive = truth(is_string),
		.prefix = is_string ? "'" : "",
		.suffix = is_string ? "'" : "" };

	if (is_string) {
		t.octets = (SQLLEN)(size *
				    (sql->c_type == SQL_C_WCHAR ? sizeof(SQLWCHAR) : 4));
		t.display = (SQLLEN)size;
	}
	t.precision = precision_of(sql, t.size);
	t.name = name_of(&t);
	*ret_column = (struct cod_column){ .name = name,
		.base_name = name,
		.table = "",
		.base_table = "",
		.schema = "",
		.catalog = "",
		.value_type = is_string ? CENOTE_TYPE_TEXT : CENOTE_TYPE_INT64,
		.type = t };
}
