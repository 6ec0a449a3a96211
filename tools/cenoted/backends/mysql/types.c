/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of columns: derives the logical type, size and flags from what the library reports.
 * query.c and stmt.c call it. It has no state.
 */
#include <string.h>

#include "my.h"
#include "values.h"

/* The collation number of bytes that are not text. */
#define CHARSET_BINARY 63u

/* The decimals of a column without a fixed number of them: FLOAT and DOUBLE without (M,D). */
#define NOT_FIXED 31u

/* Indexed by enum_field_types. `other` and `other_type` are for columns of bytes and of unsigned
 * numbers; NULL: there is no difference. */
static const struct {
	const char *name;
	const char *other;
	uint8_t type;
	uint8_t other_type;
} kinds[256] = {
	[MYSQL_TYPE_DECIMAL] = { "decimal", "decimal unsigned", CENOTE_TYPE_DECIMAL,
		CENOTE_TYPE_DECIMAL },
	[MYSQL_TYPE_NEWDECIMAL] = { "decimal", "decimal unsigned", CENOTE_TYPE_DECIMAL,
		CENOTE_TYPE_DECIMAL },
	[MYSQL_TYPE_TINY] = { "tinyint", "tinyint unsigned", CENOTE_TYPE_INT64,
		CENOTE_TYPE_UINT64 },
	[MYSQL_TYPE_SHORT] = { "smallint", "smallint unsigned", CENOTE_TYPE_INT64,
		CENOTE_TYPE_UINT64 },
	[MYSQL_TYPE_INT24] = { "mediumint", "mediumint unsigned", CENOTE_TYPE_INT64,
		CENOTE_TYPE_UINT64 },
	[MYSQL_TYPE_LONG] = { "int", "int unsigned", CENOTE_TYPE_INT64,
		CENOTE_TYPE_UINT64 },
	[MYSQL_TYPE_LONGLONG] = { "bigint", "bigint unsigned", CENOTE_TYPE_INT64,
		CENOTE_TYPE_UINT64 },
	[MYSQL_TYPE_FLOAT] = { "float", "float unsigned", CENOTE_TYPE_DOUBLE,
		CENOTE_TYPE_DOUBLE },
	[MYSQL_TYPE_DOUBLE] = { "double", "double unsigned", CENOTE_TYPE_DOUBLE,
		CENOTE_TYPE_DOUBLE },
	[MYSQL_TYPE_NULL] = { "null", NULL, CENOTE_TYPE_TEXT, 0 },
	[MYSQL_TYPE_BIT] = { "bit", NULL, CENOTE_TYPE_BYTES, 0 },
	[MYSQL_TYPE_YEAR] = { "year", NULL, CENOTE_TYPE_INT64, 0 },
	[MYSQL_TYPE_DATE] = { "date", NULL, CENOTE_TYPE_DATE, 0 },
	[MYSQL_TYPE_NEWDATE] = { "date", NULL, CENOTE_TYPE_DATE, 0 },
	[MYSQL_TYPE_TIME] = { "time", NULL, CENOTE_TYPE_TIME, 0 },
	[MYSQL_TYPE_DATETIME] = { "datetime", NULL, CENOTE_TYPE_TIMESTAMP, 0 },
	[MYSQL_TYPE_TIMESTAMP] = { "timestamp", NULL, CENOTE_TYPE_TIMESTAMP, 0 },
	[MYSQL_TYPE_VARCHAR] = { "varchar", "varbinary", CENOTE_TYPE_TEXT,
		CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_VAR_STRING] = { "varchar", "varbinary", CENOTE_TYPE_TEXT,
		CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_STRING] = { "char", "binary", CENOTE_TYPE_TEXT, CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_ENUM] = { "enum", NULL, CENOTE_TYPE_TEXT, 0 },
	[MYSQL_TYPE_SET] = { "set", NULL, CENOTE_TYPE_TEXT, 0 },
	[MYSQL_TYPE_TINY_BLOB] = { "tinytext", "tinyblob", CENOTE_TYPE_TEXT,
		CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_BLOB] = { "text", "blob", CENOTE_TYPE_TEXT, CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_MEDIUM_BLOB] = { "mediumtext", "mediumblob", CENOTE_TYPE_TEXT,
		CENOTE_TYPE_BYTES },
	[MYSQL_TYPE_LONG_BLOB] = { "longtext", "longblob", CENOTE_TYPE_TEXT,
		CENOTE_TYPE_BYTES },
	[CND_MY_TYPE_JSON] = { "json", NULL, CENOTE_TYPE_JSON, 0 },
	[CND_MY_TYPE_VECTOR] = { "vector", NULL, CENOTE_TYPE_BYTES, 0 },
	[MYSQL_TYPE_GEOMETRY] = { "geometry", NULL, CENOTE_TYPE_BYTES, 0 },
};

static int
is_stringlike(uint32_t type)
{
	return type == MYSQL_TYPE_VARCHAR || type == MYSQL_TYPE_VAR_STRING ||
	       type == MYSQL_TYPE_STRING ||
	       (type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_BLOB);
}

/* Whether to use the second name and type of `kinds`. */
static int
is_other(const MYSQL_FIELD *f)
{
	uint32_t type = (uint32_t)f->type & 255u;

	if (!kinds[type].other)
		return 0;
	return is_stringlike(type) ? f->charsetnr == CHARSET_BINARY
				   : (f->flags & UNSIGNED_FLAG) != 0;
}

/*
 * Servers send every BLOB and TEXT as plain BLOB; only the length shows which one it is. For text, the length
 * allows as many bytes a character as the character set may need, at most four.
 */
static struct cnp_str
blob_name(const MYSQL_FIELD *f)
{
	int is_bytes = f->charsetnr == CHARSET_BINARY;

	if (f->length <= 255ul * 4)
		return cnp_str(is_bytes ? "tinyblob" : "tinytext");
	if (f->length <= 65535ul * 4)
		return cnp_str(is_bytes ? "blob" : "text");
	if (f->length <= 16777215ul * 4)
		return cnp_str(is_bytes ? "mediumblob" : "mediumtext");
	return cnp_str(is_bytes ? "longblob" : "longtext");
}

/* The name that MariaDB sends in addition to the type: "uuid", "inet6", "point"; or "json" as a format. */
static struct cnp_str
extended_name(const MYSQL_FIELD *f)
{
	struct cnp_str name = CNP_STR_NONE;

#if CND_MY_IS_MARIADB
	MARIADB_CONST_STRING attr;

	if (mariadb_field_attr(&attr, f, MARIADB_FIELD_ATTR_DATA_TYPE_NAME) != 0 ||
		attr.length == 0)
		if (mariadb_field_attr(&attr, f, MARIADB_FIELD_ATTR_FORMAT_NAME) != 0)
			return name;
	if (attr.length > 0)
		name = (struct cnp_str){ attr.str, attr.length };
#else
	(void)f;
#endif
	return name;
}

static int
name_is(struct cnp_str name, const char *text)
{
	return strlen(text) == name.n && memcmp(name.p, text, name.n) == 0;
}

static struct cnp_str
type_name(const MYSQL_FIELD *f)
{
	struct cnp_str name = extended_name(f);
	uint32_t type = (uint32_t)f->type & 255u;

	if (name.n > 0)
		return name;
	if (f->flags & ENUM_FLAG)
		return cnp_str("enum");
	if (f->flags & SET_FLAG)
		return cnp_str("set");
	if (type == MYSQL_TYPE_BLOB)
		return blob_name(f);
	if (!kinds[type].name)
		return name;
	return cnp_str(is_other(f) ? kinds[type].other : kinds[type].name);
}

/* The logical type for the name that MariaDB sends; CENOTE_TYPE_NULL: it sends none. */
static uint8_t
extended_type(struct cnp_str name)
{
	if (name.n == 0)
		return CENOTE_TYPE_NULL;
	if (name_is(name, "json"))
		return CENOTE_TYPE_JSON;
	if (name_is(name, "uuid"))
		return CENOTE_TYPE_UUID;
	return CENOTE_TYPE_OTHER;
}

/* Logical type: enum cenote_type. */
static uint8_t
choose_type(const MYSQL_FIELD *field)
{
	uint32_t type = (uint32_t)field->type & 255u;
	uint8_t extended = extended_type(extended_name(field));

	if (extended != CENOTE_TYPE_NULL && type != MYSQL_TYPE_GEOMETRY)
		return extended;
	if (field->flags & (ENUM_FLAG | SET_FLAG))
		return CENOTE_TYPE_TEXT;
	if (type == MYSQL_TYPE_BIT && field->length == 1)
		return CENOTE_TYPE_BOOL;
	if (!kinds[type].name)
		return CENOTE_TYPE_OTHER;
	return is_other(field) ? kinds[type].other_type : kinds[type].type;
}

/* Set precision and scale. The digits of a DECIMAL are its width without sign and point. */
static void
set_size(const MYSQL_FIELD *f, struct cnp_column *c)
{
	int64_t digits = (int64_t)f->length;

	switch (c->type) {
	case CENOTE_TYPE_DECIMAL:
		digits -= (f->decimals > 0) + !(f->flags & UNSIGNED_FLAG);
		c->precision = (int32_t)(digits > 0 && digits <= 255 ? digits : -1);
		c->scale = (int32_t)(f->decimals < NOT_FIXED ? f->decimals : 0);
		break;
	case CENOTE_TYPE_DOUBLE:
		if (f->decimals < NOT_FIXED) {
			c->precision = (int32_t)(digits <= 255 ? digits : -1);
			c->scale = (int32_t)f->decimals;
		}
		break;
	case CENOTE_TYPE_TIME:
	case CENOTE_TYPE_TIMESTAMP:
		c->scale = (int32_t)(f->decimals <= 6 ? f->decimals : 6);
		break;
	default:
		break;
	}
}

static struct cnp_str
text(const char *p, unsigned n)
{
	return p ? (struct cnp_str){ p, n } : CNP_STR_NONE;
}

void
cnd_my_column(const MYSQL_FIELD *field, uint8_t format, struct cnp_column *ret_column)
{
	struct cnp_column c = CNP_COLUMN_INIT;

	c.name = text(field->name, field->name_length);
	c.org_name = text(field->org_name, field->org_name_length);
	c.table = text(field->table, field->table_length);
	c.org_table = text(field->org_table, field->org_table_length);
	/* A MySQL database is a catalog to the catalog requests; MySQL's own catalog is always "def". */
	c.catalog = text(field->db, field->db_length);
	c.type_name = type_name(field);
	c.type = choose_type(field);
	c.format = format;
	c.nullable = !(field->flags & NOT_NULL_FLAG);
	c.native_type = (uint32_t)field->type & 255u;
	c.modifier = (int32_t)(field->decimals & 255u);
	c.native_flags = field->flags;
	c.charset = field->charsetnr;
	c.length = (int64_t)field->length;
	set_size(field, &c);
	*ret_column = c;
}
