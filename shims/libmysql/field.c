/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include <stdlib.h>
#include <string.h>

#include "../common/route.h"

/*
 * Make MYSQL_FIELD from libcenote's columns. All fields of a result are one block of memory: the
 * array, MariaDB's attributes beyond the type, and the texts. exchange.c, result.c and the stmt
 * files call this file.
 */

/* MYSQL_FIELD.extension of MariaDB, by enum mariadb_field_attr_t. */
#define N_ATTRS (MARIADB_FIELD_ATTR_FORMAT_NAME + 1)

struct extension {
	MARIADB_CONST_STRING attrs[N_ATTRS];
};

struct block {
	MYSQL_FIELD *fields;
	struct extension *extensions;
	char *texts; /* where to write the next text */
};

typedef const cenote_column *column_fn(const void *from, uint32_t i);

static const cenote_column *
column_of_result(const void *from, uint32_t i)
{
	return cenote_result_column(from, i);
}

static const cenote_column *
column_of_stmt(const void *from, uint32_t i)
{
	return cenote_stmt_column(from, i);
}

/* ---- texts ---- */

static char nothing[] = "";
static char catalog[] = "def"; /* the only catalog name that MySQL has */

static char *
text(struct block *b, const cenote_column *c, uint32_t attr, unsigned *ret_length)
{
	const char *from = cenote_column_text(c, attr);
	size_t n = strlen(from);
	char *to = b->texts;

	*ret_length = (unsigned)n;
	if (n == 0)
		return nothing;
	memcpy(to, from, n + 1);
	b->texts += n + 1;
	return to;
}

static size_t
texts_size(const cenote_column *c)
{
	static const uint8_t attrs[] = { CENOTE_COLUMN_NAME, CENOTE_COLUMN_ORG_NAME,
		CENOTE_COLUMN_TABLE, CENOTE_COLUMN_ORG_TABLE, CENOTE_COLUMN_CATALOG,
		CENOTE_COLUMN_TYPE_NAME };
	size_t size = 0;

	for (size_t i = 0; i < sizeof(attrs); i++)
		size += strlen(cenote_column_text(c, attrs[i])) + 1;
	return size;
}

static void
set_names(struct block *b, const cenote_column *c, MYSQL_FIELD *f)
{
	f->name = text(b, c, CENOTE_COLUMN_NAME, &f->name_length);
	f->org_name = text(b, c, CENOTE_COLUMN_ORG_NAME, &f->org_name_length);
	f->table = text(b, c, CENOTE_COLUMN_TABLE, &f->table_length);
	f->org_table = text(b, c, CENOTE_COLUMN_ORG_TABLE, &f->org_table_length);
	f->db = text(b, c, CENOTE_COLUMN_CATALOG, &f->db_length);
	f->catalog = catalog;
	f->catalog_length = sizeof(catalog) - 1;
}

/* ---- types ---- */

#define CHARSET_BINARY 63u
#define NOT_FIXED      31u /* decimals of a type without a fixed number of them */
#define LONG_TEXT      4294967295u

/* The MySQL type for a column of another server, by its logical type. A length of 0 means the
 * column's own length. NOT_FIXED decimals mean the column's scale, if it has one. */
static const struct {
	enum enum_field_types type;
	uint32_t length;
	uint32_t flags;
	uint32_t decimals;
	int is_text;
} kinds[] = {
	[CENOTE_TYPE_NULL] = { MYSQL_TYPE_VAR_STRING, 0, 0, 0, 1 },
	[CENOTE_TYPE_BOOL] = { MYSQL_TYPE_TINY, 1, NUM_FLAG, 0, 0 },
	[CENOTE_TYPE_INT64] = { MYSQL_TYPE_LONGLONG, 20, NUM_FLAG, 0, 0 },
	[CENOTE_TYPE_UINT64] = { MYSQL_TYPE_LONGLONG, 20, NUM_FLAG | UNSIGNED_FLAG, 0,
		0 },
	[CENOTE_TYPE_DOUBLE] = { MYSQL_TYPE_DOUBLE, 22, NUM_FLAG, NOT_FIXED, 0 },
	[CENOTE_TYPE_DECIMAL] = { MYSQL_TYPE_NEWDECIMAL, 67, NUM_FLAG, NOT_FIXED, 0 },
	[CENOTE_TYPE_TEXT] = { MYSQL_TYPE_VAR_STRING, 0, 0, 0, 1 },
	[CENOTE_TYPE_BYTES] = { MYSQL_TYPE_BLOB, LONG_TEXT, BLOB_FLAG, 0, 0 },
	[CENOTE_TYPE_DATE] = { MYSQL_TYPE_DATE, 10, 0, 0, 0 },
	[CENOTE_TYPE_TIME] = { MYSQL_TYPE_TIME, 10, 0, NOT_FIXED, 0 },
	[CENOTE_TYPE_TIMESTAMP] = { MYSQL_TYPE_DATETIME, 19, 0, NOT_FIXED, 0 },
	[CENOTE_TYPE_INTERVAL] = { MYSQL_TYPE_VAR_STRING, 64, 0, 0, 1 },
	[CENOTE_TYPE_UUID] = { MYSQL_TYPE_STRING, 36, 0, 0, 1 },
	[CENOTE_TYPE_JSON] = { MYSQL_TYPE_BLOB, LONG_TEXT, BLOB_FLAG, 0, 1 },
	[CENOTE_TYPE_OTHER] = { MYSQL_TYPE_VAR_STRING, 0, 0, 0, 1 },
};

/* Fill in the field as the MySQL server described it. */
static void
set_native(MYSQL_FIELD *f, const cenote_column *c)
{
	f->type = (enum enum_field_types)cenote_column_int(c, CENOTE_COLUMN_NATIVE_TYPE);
	f->length = (unsigned long)cenote_column_int(c, CENOTE_COLUMN_LENGTH);
	f->decimals = (unsigned)cenote_column_int(c, CENOTE_COLUMN_MODIFIER);
	f->charsetnr = (unsigned)cenote_column_int(c, CENOTE_COLUMN_CHARSET);
	f->flags = (unsigned)cenote_column_int(c, CENOTE_COLUMN_NATIVE_FLAGS);
}

/* Set the type for a text of at most that many characters. Without a limit it is a LONGTEXT. */
static void
set_text_type(const struct cmy_session *s, MYSQL_FIELD *f, int64_t characters)
{
	const MARIADB_CHARSET_INFO *charset = s->my->charset;
	uint32_t widest = charset ? charset->char_maxlen : 4;

	f->charsetnr = charset ? charset->nr : 45;
	if (characters <= 0 || characters > 65535 || f->type == MYSQL_TYPE_BLOB) {
		f->type = MYSQL_TYPE_BLOB;
		f->length = LONG_TEXT;
		f->flags |= BLOB_FLAG;
		return;
	}
	f->length = (unsigned long)characters * widest;
}

/* The display width of numbers and times with decimals. */
static void
set_digits(MYSQL_FIELD *f, const cenote_column *c)
{
	int64_t scale = cenote_column_int(c, CENOTE_COLUMN_SCALE);
	int64_t precision = cenote_column_int(c, CENOTE_COLUMN_PRECISION);
	int is_time = f->type == MYSQL_TYPE_TIME || f->type == MYSQL_TYPE_DATETIME;

	if (f->type == MYSQL_TYPE_NEWDECIMAL && precision > 0)
		f->length = (unsigned long)precision + 2;
	if (f->type == MYSQL_TYPE_DOUBLE || f->decimals != NOT_FIXED)
		return;
	if (scale >= 0 && scale < NOT_FIXED)
		f->decimals = (unsigned)scale;
	else if (is_time)
		f->decimals = 6;
	if (is_time && f->decimals > 0)
		f->length += f->decimals + 1;
}

static void
set_mapped(const struct cmy_session *s, MYSQL_FIELD *f, const cenote_column *c)
{
	int64_t type = cenote_column_int(c, CENOTE_COLUMN_TYPE);
	int64_t length = cenote_column_int(c, CENOTE_COLUMN_LENGTH);

	if (type < 0 || type > CENOTE_TYPE_OTHER)
		type = CENOTE_TYPE_OTHER;
	f->type = kinds[type].type;
	f->length = kinds[type].length;
	f->flags = kinds[type].flags;
	f->decimals = kinds[type].decimals;
	f->charsetnr = CHARSET_BINARY;
	if (kinds[type].is_text)
		set_text_type(s, f, f->length > 0 ? (int64_t)f->length : length);
	else
		f->flags |= BINARY_FLAG;
	set_digits(f, c);
	if (cenote_column_int(c, CENOTE_COLUMN_NULLABLE) == 0)
		f->flags |= NOT_NULL_FLAG;
}

int
cmy_maps_dates(void)
{
	const char *value = csh_variable("CENOTE_MYSQL_MAP_DATE_TO_DATETIME");

	return value && strcmp(value, "yes") == 0;
}

enum cmy_form
cmy_form(const struct cmy_session *s, const cenote_column *c)
{
	int64_t type = cenote_column_int(c, CENOTE_COLUMN_TYPE);

	if (type == CENOTE_TYPE_DATE && s->maps_dates)
		return CMY_FORM_DATETIME;
	if (s->backend != CMY_BACKEND_MYSQL &&
		(type == CENOTE_TYPE_TIMESTAMP || type == CENOTE_TYPE_TIME))
		return CMY_FORM_LOCAL;
	return CMY_FORM_AS_IS;
}

/* A DATE column whose values hold a time becomes a DATETIME. */
static void
set_datetime(MYSQL_FIELD *f)
{
	f->type = MYSQL_TYPE_DATETIME;
	f->length = 19;
	f->decimals = 0;
}

/* ---- MariaDB's attributes beyond the type ---- */

#if !CMY_ORACLE
/* The attribute that a type's name gives; -1: the name says no more than the type. */
static int
attr_of(const MYSQL_FIELD *f, const char *name)
{
	static const char *const beyond[] = { "uuid", "inet4", "inet6" };

	if (strcmp(name, "json") == 0)
		return f->type == MYSQL_TYPE_JSON ? -1 : MARIADB_FIELD_ATTR_FORMAT_NAME;
	if (f->type == MYSQL_TYPE_GEOMETRY)
		return strcmp(name, "geometry") != 0 ? MARIADB_FIELD_ATTR_DATA_TYPE_NAME
						     : -1;
	for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		if (strcmp(name, beyond[i]) == 0)
			return MARIADB_FIELD_ATTR_DATA_TYPE_NAME;
	}
	return -1;
}

static void
set_extension(struct block *b, const cenote_column *c, MYSQL_FIELD *f)
{
	int attr = attr_of(f, cenote_column_text(c, CENOTE_COLUMN_TYPE_NAME));
	struct extension *e = b->extensions;
	unsigned length;

	if (attr < 0)
		return;
	b->extensions++;
	e->attrs[attr].str = text(b, c, CENOTE_COLUMN_TYPE_NAME, &length);
	e->attrs[attr].length = length;
	f->extension = e;
}

int
cmy_mariadb_field_attr(MARIADB_CONST_STRING *attr, const MYSQL_FIELD *field,
	enum mariadb_field_attr_t type)
{
	const struct extension *e = field->extension;

	*attr = (MARIADB_CONST_STRING){ NULL, 0 };
	if (!e || (unsigned)type >= N_ATTRS)
		return 1;
	*attr = e->attrs[type];
	return 0;
}
#endif

/* ---- all fields of a result ---- */

static void
set_field(const struct cmy_session *s, struct block *b, const cenote_column *c,
	MYSQL_FIELD *f)
{
	set_names(b, c, f);
	if (s->backend == CMY_BACKEND_MYSQL)
		set_native(f, c);
	else
		set_mapped(s, f, c);
	if (cmy_form(s, c) == CMY_FORM_DATETIME)
		set_datetime(f);
#if !CMY_ORACLE
	if (s->backend == CMY_BACKEND_MYSQL)
		set_extension(b, c, f);
#endif
}

static MYSQL_FIELD *
make_fields(const struct cmy_session *s, const void *from, column_fn *column, uint32_t n)
{
	size_t size = (size_t)n * (sizeof(MYSQL_FIELD) + sizeof(struct extension)) + 1;
	struct block b;

	for (uint32_t i = 0; i < n; i++)
		size += texts_size(column(from, i));
	b.fields = calloc(1, size);
	if (!b.fields)
		return NULL;
	b.extensions = (struct extension *)(b.fields + n);
	b.texts = (char *)(b.extensions + n);
	for (uint32_t i = 0; i < n; i++)
		set_field(s, &b, column(from, i), &b.fields[i]);
	return b.fields;
}

MYSQL_FIELD *
cmy_fields_of_result(const struct cmy_session *s, const cenote_result *res)
{
	return make_fields(s, res, column_of_result, cenote_result_n_columns(res));
}

MYSQL_FIELD *
cmy_fields_of_stmt(const struct cmy_session *s, const cenote_stmt *stmt)
{
	return make_fields(s, stmt, column_of_stmt, cenote_stmt_n_columns(stmt));
}
