/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <string.h>
#include <strings.h>

/* Choose the PostgreSQL type that the program gets for a column of another server. */

static const Oid by_logical_type[] = {
	[CENOTE_TYPE_NULL] = CPQ_TEXT,
	[CENOTE_TYPE_BOOL] = CPQ_BOOL,
	[CENOTE_TYPE_INT64] = CPQ_INT8,
	[CENOTE_TYPE_UINT64] = CPQ_NUMERIC,
	[CENOTE_TYPE_DOUBLE] = CPQ_FLOAT8,
	[CENOTE_TYPE_DECIMAL] = CPQ_NUMERIC,
	[CENOTE_TYPE_TEXT] = CPQ_TEXT,
	[CENOTE_TYPE_BYTES] = CPQ_BYTEA,
	[CENOTE_TYPE_DATE] = CPQ_DATE,
	[CENOTE_TYPE_TIME] = CPQ_TIME,
	[CENOTE_TYPE_TIMESTAMP] = CPQ_TIMESTAMP,
	[CENOTE_TYPE_INTERVAL] = CPQ_INTERVAL,
	[CENOTE_TYPE_UUID] = CPQ_UUID,
	[CENOTE_TYPE_JSON] = CPQ_JSON,
	[CENOTE_TYPE_OTHER] = CPQ_TEXT,
};

static const struct {
	Oid oid;
	int size; /* -1: it varies */
	const char *name;
} types[] = {
	{ CPQ_BOOL, 1, "boolean" },
	{ CPQ_BYTEA, -1, "bytea" },
	{ CPQ_INT8, 8, "bigint" },
	{ CPQ_INT2, 2, "smallint" },
	{ CPQ_INT4, 4, "integer" },
	{ CPQ_TEXT, -1, "text" },
	{ CPQ_OID, 4, "oid" },
	{ CPQ_JSON, -1, "json" },
	{ CPQ_FLOAT4, 4, "real" },
	{ CPQ_FLOAT8, 8, "double precision" },
	{ CPQ_VARCHAR, -1, "character varying" },
	{ CPQ_DATE, 4, "date" },
	{ CPQ_TIME, 8, "time" },
	{ CPQ_TIMESTAMP, 8, "timestamp" },
	{ CPQ_TIMESTAMPTZ, 8, "timestamp with time zone" },
	{ CPQ_INTERVAL, 16, "interval" },
	{ CPQ_TIMETZ, 12, "time with time zone" },
	{ CPQ_NUMERIC, -1, "numeric" },
	{ CPQ_UUID, 16, "uuid" },
	{ CPQ_JSONB, -1, "jsonb" },
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static size_t
find_type(Oid oid)
{
	size_t i = 0;

	while (i < N_OF(types) && types[i].oid != oid)
		i++;
	return i;
}

const char *
cpq_type_name(Oid oid)
{
	size_t i = find_type(oid);

	return i < N_OF(types) ? types[i].name : "this type";
}

static int
size_of(Oid oid)
{
	size_t i = find_type(oid);

	return i < N_OF(types) ? types[i].size : -1;
}

/* The type with a time zone, if the column was declared so. Only the name of the declared type
 * shows that. */
static Oid
with_zone(Oid oid, const char *declared)
{
	if (oid == CPQ_TIMESTAMP && strcasecmp(declared, "timestamptz") == 0)
		return CPQ_TIMESTAMPTZ;
	if (oid == CPQ_TIME && strcasecmp(declared, "timetz") == 0)
		return CPQ_TIMETZ;
	return oid;
}

static int
is_varchar(const char *declared)
{
	return strcasestr(declared, "char") != NULL;
}

Oid
cpq_dialect_type(const struct cpq_dialect *dialect, const cenote_column *column)
{
	uint32_t logical = (uint32_t)cenote_column_int(column, CENOTE_COLUMN_TYPE);
	uint32_t native = (uint32_t)cenote_column_int(column, CENOTE_COLUMN_NATIVE_TYPE);
	const char *declared = cenote_column_text(column, CENOTE_COLUMN_TYPE_NAME);
	Oid oid = logical < N_OF(by_logical_type) ? by_logical_type[logical] : CPQ_TEXT;

	for (const struct cpq_native_type *t = dialect->types; t->oid != 0; t++) {
		if (t->native == native && t->logical == logical)
			return t->oid;
	}
	if (oid == CPQ_TEXT && is_varchar(declared))
		return CPQ_VARCHAR;
	return with_zone(oid, declared);
}

/* PostgreSQL's length of a varchar includes this header. */
#define HEADER_SIZE 4

/* The bytes that the server counts per character, by the column's collation. */
static int64_t
bytes_of_char(const struct cpq_dialect *dialect, int64_t collation)
{
	enum {
		LATIN1 = 8,
		LATIN1_BIN = 47,
		ASCII = 11
	};

	if (!dialect->is_mysql)
		return 1;
	return collation == LATIN1 || collation == LATIN1_BIN || collation == ASCII ? 1
										    : 4;
}

static int
varchar_modifier(const struct cpq_dialect *dialect, const cenote_column *c)
{
	int64_t chars =
		cenote_column_int(c, CENOTE_COLUMN_LENGTH) /
		bytes_of_char(dialect, cenote_column_int(c, CENOTE_COLUMN_CHARSET));

	/* PostgreSQL's varchar has at most this many characters. */
	return chars > 0 && chars <= 10485760 ? (int)chars + HEADER_SIZE : -1;
}

static int
numeric_modifier(const cenote_column *c)
{
	int64_t precision = cenote_column_int(c, CENOTE_COLUMN_PRECISION);
	int64_t scale = cenote_column_int(c, CENOTE_COLUMN_SCALE);

	if (precision < 1 || precision > 1000 || scale < 0 || scale > 1000)
		return -1;
	return (int)(precision << 16 | scale) + HEADER_SIZE;
}

static int
time_modifier(const cenote_column *c)
{
	int64_t digits = cenote_column_int(c, CENOTE_COLUMN_SCALE);

	return digits >= 0 && digits <= 6 ? (int)digits : -1;
}

static int
modifier_of(const struct cpq_dialect *dialect, const cenote_column *c, Oid oid)
{
	switch (oid) {
	case CPQ_VARCHAR:
		return varchar_modifier(dialect, c);
	case CPQ_NUMERIC:
		return numeric_modifier(c);
	case CPQ_TIME:
	case CPQ_TIMETZ:
	case CPQ_TIMESTAMP:
	case CPQ_TIMESTAMPTZ:
		return time_modifier(c);
	default:
		return -1;
	}
}

void
cpq_dialect_column(const PGresult *res, const cenote_column *from, PGresAttDesc *to)
{
	const struct cpq_dialect *dialect = res->inherited.dialect;

	to->tableid = InvalidOid;
	to->columnid = 0;
	to->format = res->wants_binary;
	to->typid = cpq_dialect_type(dialect, from);
	to->typlen = size_of(to->typid);
	to->atttypmod = modifier_of(dialect, from, to->typid);
}
