/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of columns. The logical type comes from the declared type, or from the first row.
 * This file owns st->columns. stmt.c and exec.c call it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sqlite.h"

/* Bits of cnp_column.native_flags. */
#define FLAG_NOT_NULL      1u
#define FLAG_PRIMARY_KEY   2u
#define FLAG_AUTOINCREMENT 4u

struct type_name {
	const char *name;
	uint8_t type;
};

/* Type names that mean more than SQLite's affinities can say. */
static const struct type_name exact_names[] = {
	{ "BOOL", CENOTE_TYPE_BOOL },
	{ "BOOLEAN", CENOTE_TYPE_BOOL },
	{ "DATE", CENOTE_TYPE_DATE },
	{ "TIME", CENOTE_TYPE_TIME },
	{ "TIMETZ", CENOTE_TYPE_TIME },
	{ "DECIMAL", CENOTE_TYPE_DECIMAL },
	{ "DEC", CENOTE_TYPE_DECIMAL },
	{ "NUMERIC", CENOTE_TYPE_DECIMAL },
	{ "NUMBER", CENOTE_TYPE_DECIMAL },
	{ "MONEY", CENOTE_TYPE_DECIMAL },
	{ "JSON", CENOTE_TYPE_JSON },
	{ "JSONB", CENOTE_TYPE_JSON },
	{ "UUID", CENOTE_TYPE_UUID },
	{ "GUID", CENOTE_TYPE_UUID },
	{ "UNIQUEIDENTIFIER", CENOTE_TYPE_UUID },
	{ "INTERVAL", CENOTE_TYPE_INTERVAL },
	{ "BINARY", CENOTE_TYPE_BYTES },
	{ "VARBINARY", CENOTE_TYPE_BYTES },
	{ "BYTEA", CENOTE_TYPE_BYTES },
	{ "STRING", CENOTE_TYPE_TEXT },
};

/* Type names of other servers begin like this: DATETIME2, TIMESTAMPTZ, DATETIMEOFFSET. */
static const struct type_name beginnings[] = {
	{ "DATETIME", CENOTE_TYPE_TIMESTAMP },
	{ "TIMESTAMP", CENOTE_TYPE_TIMESTAMP },
	{ "SMALLDATETIME", CENOTE_TYPE_TIMESTAMP },
};

/* Then SQLite's own rules, in its order ("Determination Of Column Affinity"). */
static const struct type_name substrings[] = {
	{ "INT", CENOTE_TYPE_INT64 },
	{ "CHAR", CENOTE_TYPE_TEXT },
	{ "CLOB", CENOTE_TYPE_TEXT },
	{ "TEXT", CENOTE_TYPE_TEXT },
	{ "BLOB", CENOTE_TYPE_BYTES },
	{ "REAL", CENOTE_TYPE_DOUBLE },
	{ "FLOA", CENOTE_TYPE_DOUBLE },
	{ "DOUB", CENOTE_TYPE_DOUBLE },
};

uint8_t
cnd_sq_type(const char *declared)
{
	size_t i, n;

	if (!declared)
		return CENOTE_TYPE_NULL;
	n = strcspn(declared, " (");
	for (i = 0; i < sizeof(exact_names) / sizeof(exact_names[0]); i++) {
		if (strlen(exact_names[i].name) == n &&
			strncasecmp(declared, exact_names[i].name, n) == 0)
			return exact_names[i].type;
	}
	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (strncasecmp(declared, beginnings[i].name,
			    strlen(beginnings[i].name)) == 0)
			return beginnings[i].type;
	}
	for (i = 0; i < sizeof(substrings) / sizeof(substrings[0]); i++) {
		if (strcasestr(declared, substrings[i].name))
			return substrings[i].type;
	}
	return CENOTE_TYPE_NULL;
}

void
cnd_sq_type_size(const char *declared, int64_t *ret_first, int64_t *ret_second)
{
	const char *p = declared ? strchr(declared, '(') : NULL;
	char *end;
	long v;

	*ret_first = -1;
	*ret_second = -1;
	if (!p)
		return;
	v = strtol(p + 1, &end, 10);
	if (end == p + 1 || v < 0 || v > 1000000000)
		return;
	*ret_first = v;
	while (*end == ' ')
		end++;
	if (*end != ',')
		return;
	p = end;
	v = strtol(p + 1, &end, 10);
	if (end != p + 1 && v >= 0 && v <= 1000000000)
		*ret_second = v;
}

int64_t
cnd_sq_fraction(const char *declared)
{
	int64_t first, second;

	cnd_sq_type_size(declared, &first, &second);
	return first <= 9 ? first : -1;
}

/* The type of a column without a declared type, by the storage class of its value. */
static const struct {
	const char *name;
	size_t len;
	uint8_t type;
} storage[] = {
	[SQLITE_INTEGER] = { "INTEGER", 7, CENOTE_TYPE_INT64 },
	[SQLITE_FLOAT] = { "REAL", 4, CENOTE_TYPE_DOUBLE },
	[SQLITE_TEXT] = { "TEXT", 4, CENOTE_TYPE_TEXT },
	[SQLITE_BLOB] = { "BLOB", 4, CENOTE_TYPE_BYTES },
	[SQLITE_NULL] = { "", 0, CENOTE_TYPE_TEXT },
};

static struct cnp_str
text(const char *p)
{
	return p ? (struct cnp_str){ p, strlen(p) } : CNP_STR_NONE;
}

static void
set_size(struct cnp_column *c, const char *declared)
{
	int64_t first, second;

	cnd_sq_type_size(declared, &first, &second);
	if (c->type == CENOTE_TYPE_DECIMAL) {
		c->precision = (int32_t)first;
		c->scale = (int32_t)(first >= 0 && second < 0 ? 0 : second);
	} else if (c->type == CENOTE_TYPE_TIME || c->type == CENOTE_TYPE_TIMESTAMP) {
		c->scale = (int32_t)cnd_sq_fraction(declared);
	} else if (c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_BYTES) {
		c->length = first;
	} else if (c->type == CENOTE_TYPE_INT64 || c->type == CENOTE_TYPE_DOUBLE) {
		c->length = 8;
	}
}

/*
 * An INTEGER PRIMARY KEY alone is the rowid and never NULL, but as a part of a longer key it can be
 * NULL. The two look the same from here. So the answer is "unknown", unless the column has
 * AUTOINCREMENT.
 */
static void
set_nullable(struct cnd_session *s, struct cnp_column *c)
{
	int not_null = 0, key = 0, increments = 0, rc;
	const char *declared = NULL;

	if (c->org_name.n == 0)
		return;
	rc = sqlite3_table_column_metadata(s->db, c->schema.p, c->org_table.p,
		c->org_name.p, &declared, NULL, &not_null, &key, &increments);
	if (rc != SQLITE_OK)
		return;
	c->native_flags = (not_null ? FLAG_NOT_NULL : 0) | (key ? FLAG_PRIMARY_KEY : 0) |
			  (increments ? FLAG_AUTOINCREMENT : 0);
	if (not_null || increments)
		c->nullable = 0;
	else if (key && declared && strcasecmp(declared, "INTEGER") == 0)
		c->nullable = 2;
	else
		c->nullable = 1;
}

static void
describe_column(struct cnd_session *s, struct cnd_sq_stmt *st, int i)
{
	struct cnp_column *c = &st->columns[i];
	const char *declared = sqlite3_column_decltype(st->handle, i);

	*c = (struct cnp_column)CNP_COLUMN_INIT;
	c->name = text(sqlite3_column_name(st->handle, i));
#ifdef CND_SQ_COLUMN_METADATA
	c->org_name = text(sqlite3_column_origin_name(st->handle, i));
	c->org_table = text(sqlite3_column_table_name(st->handle, i));
	c->table = c->org_table;
	c->schema = text(sqlite3_column_database_name(st->handle, i));
#endif
	c->type = cnd_sq_type(declared);
	c->type_name = text(declared);
	st->dynamic[i] = c->type == CENOTE_TYPE_NULL;
	if (st->dynamic[i]) {
		c->type = CENOTE_TYPE_TEXT;
		st->has_dynamic = 1;
	}
	set_size(c, declared);
	set_nullable(s, c);
}

static int
describe_all(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	struct cnp_column *columns;
	uint8_t *dynamic;
	uint32_t n = (uint32_t)sqlite3_column_count(st->handle), i;

	if (!st->columns || n != st->n_columns) {
		columns = cnc_calloc(s->mem, n, sizeof(*columns));
		dynamic = cnc_calloc(s->mem, n, 1);
		if (!columns || !dynamic) {
			cnc_free(s->mem, columns);
			cnc_free(s->mem, dynamic);
			return CENOTE_ERR_NOMEM;
		}
		cnc_free(s->mem, st->columns);
		cnc_free(s->mem, st->dynamic);
		st->columns = columns;
		st->dynamic = dynamic;
		st->n_columns = n;
	}
	st->has_dynamic = 0;
	for (i = 0; i < n; i++)
		describe_column(s, st, (int)i);
	st->columns_version++;
	return CENOTE_OK;
}

/* Take the types of columns without a declared type from the first row. */
static void
follow_row(struct cnd_sq_stmt *st, int has_row)
{
	int changed = 0, class;
	uint32_t i;

	for (i = 0; i < st->n_columns; i++) {
		struct cnp_column *c = &st->columns[i];

		if (!st->dynamic[i])
			continue;
		class = has_row ? sqlite3_column_type(st->handle, (int)i) : SQLITE_NULL;
		if (c->native_type == (uint32_t) class)
			continue;
		c->native_type = (uint32_t) class;
		c->type = storage[class].type;
		c->type_name =
			(struct cnp_str){ storage[class].name, storage[class].len };
		changed = 1;
	}
	st->columns_version += (uint32_t)changed;
}

int
cnd_sq_columns(struct cnd_session *s, struct cnd_sq_stmt *st, int has_row)
{
	int reprepared, r;

	reprepared = sqlite3_stmt_status(st->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
	if (!st->columns || reprepared != st->reprepared) {
		r = describe_all(s, st);
		if (r < 0)
			return r;
		st->reprepared = reprepared;
	}
	if (st->has_dynamic)
		follow_row(st, has_row);
	return CENOTE_OK;
}

void
cnd_sq_columns_format(struct cnd_sq_stmt *st, uint8_t format)
{
	uint32_t i;

	if (st->n_columns == 0 || st->columns[0].format == format)
		return;
	for (i = 0; i < st->n_columns; i++)
		st->columns[i].format = format;
}
