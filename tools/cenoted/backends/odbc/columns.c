/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of columns, and the memory to which short values are bound. It owns st->columns. exec.c and stmt.c
 * call it.
 */
#include <string.h>
#include <strings.h>

#include "odbc.h"

#define NAME_MAX_UNITS 1024

/* ---- logical types ---- */

/* Types of Microsoft's drivers and FreeTDS. */
#define TYPE_SS_VARIANT         (-150)
#define TYPE_SS_XML             (-152)
#define TYPE_SS_TIME2           (-154)
#define TYPE_SS_TIMESTAMPOFFSET (-155)

static const struct {
	SQLSMALLINT sql_type;
	uint8_t type;
} types[] = {
	{ SQL_CHAR, CENOTE_TYPE_TEXT },
	{ SQL_VARCHAR, CENOTE_TYPE_TEXT },
	{ SQL_LONGVARCHAR, CENOTE_TYPE_TEXT },
	{ SQL_WCHAR, CENOTE_TYPE_TEXT },
	{ SQL_WVARCHAR, CENOTE_TYPE_TEXT },
	{ SQL_WLONGVARCHAR, CENOTE_TYPE_TEXT },
	{ SQL_TINYINT, CENOTE_TYPE_INT64 },
	{ SQL_SMALLINT, CENOTE_TYPE_INT64 },
	{ SQL_INTEGER, CENOTE_TYPE_INT64 },
	{ SQL_BIGINT, CENOTE_TYPE_INT64 },
	{ SQL_DECIMAL, CENOTE_TYPE_DECIMAL },
	{ SQL_NUMERIC, CENOTE_TYPE_DECIMAL },
	{ SQL_REAL, CENOTE_TYPE_DOUBLE },
	{ SQL_FLOAT, CENOTE_TYPE_DOUBLE },
	{ SQL_DOUBLE, CENOTE_TYPE_DOUBLE },
	{ SQL_BIT, CENOTE_TYPE_BOOL },
	{ SQL_BINARY, CENOTE_TYPE_BYTES },
	{ SQL_VARBINARY, CENOTE_TYPE_BYTES },
	{ SQL_LONGVARBINARY, CENOTE_TYPE_BYTES },
	{ SQL_TYPE_DATE, CENOTE_TYPE_DATE },
	{ SQL_TYPE_TIME, CENOTE_TYPE_TIME },
	{ SQL_TYPE_TIMESTAMP, CENOTE_TYPE_TIMESTAMP },
	{ SQL_TIMESTAMP, CENOTE_TYPE_TIMESTAMP },
	{ TYPE_SS_TIME2, CENOTE_TYPE_TIME },
	{ TYPE_SS_TIMESTAMPOFFSET, CENOTE_TYPE_TIMESTAMP },
	{ SQL_GUID, CENOTE_TYPE_UUID },
	{ TYPE_SS_XML, CENOTE_TYPE_TEXT },
	{ TYPE_SS_VARIANT, CENOTE_TYPE_OTHER },
};

/* Types that drivers report as text or as a number. Only their name tells the logical type. */
static const struct {
	const char *name;
	uint8_t type;
} names[] = {
	{ "json", CENOTE_TYPE_JSON },
	{ "jsonb", CENOTE_TYPE_JSON },
	{ "uuid", CENOTE_TYPE_UUID },
	{ "uniqueidentifier", CENOTE_TYPE_UUID },
	{ "interval", CENOTE_TYPE_INTERVAL },
	{ "bool", CENOTE_TYPE_BOOL },
	{ "boolean", CENOTE_TYPE_BOOL },
};

static int
is_interval(SQLSMALLINT sql_type)
{
	return sql_type >= SQL_INTERVAL_YEAR && sql_type <= SQL_INTERVAL_MINUTE_TO_SECOND;
}

uint8_t
cnd_od_type(SQLSMALLINT sql_type, const char *type_name, int is_unsigned)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(names[i].name, type_name) == 0)
			return names[i].type;
	}
	if (is_interval(sql_type))
		return CENOTE_TYPE_INTERVAL;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].sql_type != sql_type)
			continue;
		return types[i].type == CENOTE_TYPE_INT64 && is_unsigned
			       ? CENOTE_TYPE_UINT64
			       : types[i].type;
	}
	return CENOTE_TYPE_OTHER;
}

/* Read text in the session's encoding, bytes as they are, and everything that has only ASCII as narrow
 * text. */
static SQLSMALLINT
c_type_of(const struct cnd_session *s, uint8_t type)
{
	switch (type) {
	case CENOTE_TYPE_BYTES:
		return SQL_C_BINARY;
	case CENOTE_TYPE_TEXT:
	case CENOTE_TYPE_JSON:
	case CENOTE_TYPE_OTHER:
		return s->is_wide ? SQL_C_WCHAR : SQL_C_CHAR;
	default:
		return SQL_C_CHAR;
	}
}

/* ---- one column ---- */

static int
keep_text(struct cnd_session *s, struct cnd_od_stmt *st, const void *raw, size_t n_units,
	struct cnp_str *ret_text)
{
	char text[3 * NAME_MAX_UNITS + 1];
	char *copy;
	size_t n;

	cnd_od_text_take(s, raw, n_units, text, sizeof(text));
	n = strlen(text);
	copy = cnc_arena_strndup(&st->columns.text, text, n);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	*ret_text = (struct cnp_str){ copy, n };
	return CENOTE_OK;
}

static int
get_attribute(struct cnd_session *s, struct cnd_od_stmt *st, SQLUSMALLINT column,
	SQLUSMALLINT what, struct cnp_str *ret_text)
{
	SQLWCHAR raw[NAME_MAX_UNITS] = { 0 };
	SQLSMALLINT n = 0;
	SQLRETURN rc;

	rc = CND_OD_CALL(s, SQLColAttribute, st->handle, column, what, raw,
		(SQLSMALLINT)sizeof(raw), &n, NULL);
	if (!CND_OD_OK(rc) || n <= 0)
		return CENOTE_OK;
	if ((size_t)n >= sizeof(raw))
		n = (SQLSMALLINT)(sizeof(raw) - sizeof(raw[0]));
	return keep_text(s, st, raw, s->is_wide ? (size_t)n / sizeof(raw[0]) : (size_t)n,
		ret_text);
}

static int
is_unsigned(const struct cnd_od_stmt *st, SQLUSMALLINT column, SQLSMALLINT sql_type)
{
	SQLLEN v = SQL_FALSE;

	if (cnd_od_type(sql_type, "", 0) != CENOTE_TYPE_INT64)
		return 0;
	return CND_OD_OK(SQLColAttribute(
		       st->handle, column, SQL_DESC_UNSIGNED, NULL, 0, NULL, &v)) &&
	       v == SQL_TRUE;
}

static void
set_sizes(struct cnp_column *c, SQLULEN size, SQLSMALLINT digits)
{
	int is_known = size > 0 && size <= INT32_MAX;

	if (c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_BYTES) {
		c->length = is_known ? (int64_t)size : -1;
	} else if (c->type == CENOTE_TYPE_DECIMAL) {
		c->precision = is_known ? (int32_t)size : -1;
		c->scale = digits;
	} else if (c->type == CENOTE_TYPE_TIMESTAMP || c->type == CENOTE_TYPE_TIME) {
		c->scale = digits;
	}
}

static int
describe_column(struct cnd_session *s, struct cnd_od_stmt *st, uint32_t i)
{
	struct cnp_column *c = &st->columns.columns[i];
	struct cnd_od_column *plan = &st->columns.plan[i];
	SQLSMALLINT n = 0, digits = 0, nullable = SQL_NULLABLE_UNKNOWN;
	SQLUSMALLINT number = (SQLUSMALLINT)(i + 1);
	SQLWCHAR raw[NAME_MAX_UNITS] = { 0 };
	SQLULEN size = 0;
	SQLRETURN rc;
	int r;

	*c = (struct cnp_column)CNP_COLUMN_INIT;
	plan->at = NULL;
	rc = CND_OD_CALL(s, SQLDescribeCol, st->handle, number, (void *)raw,
		NAME_MAX_UNITS, &n, &plan->sql_type, &size, &digits, &nullable);
	if (!CND_OD_OK(rc))
		return cnd_od_fail(s, SQL_HANDLE_STMT, st->handle);
	if (n < 0 || n >= NAME_MAX_UNITS)
		n = NAME_MAX_UNITS - 1;
	r = keep_text(s, st, raw, (size_t)n, &c->name);
	if (r == CENOTE_OK)
		r = get_attribute(s, st, number, SQL_DESC_TYPE_NAME, &c->type_name);
	if (r < 0)
		return r;
	c->type = plan->type = cnd_od_type(
		plan->sql_type, c->type_name.p, is_unsigned(st, number, plan->sql_type));
	plan->c_type = c_type_of(s, plan->type);
	c->native_type = (uint32_t)(int32_t)plan->sql_type;
	c->nullable = nullable == SQL_NO_NULLS ? 0 : nullable == SQL_NULLABLE ? 1 : 2;
	set_sizes(c, size, digits);
	return CENOTE_OK;
}

/* ---- all of them ---- */

static int
describe_columns(struct cnd_session *s, struct cnd_od_stmt *st, uint32_t n)
{
	struct cnd_od_columns *c = &st->columns;
	int r = CENOTE_OK;

	cnc_arena_clear(&c->text);
	c->n = 0;
	c->columns = cnc_arena_alloc(&c->text, n * sizeof(*c->columns));
	c->plan = cnc_arena_alloc(&c->text, n * sizeof(*c->plan));
	if (!c->columns || !c->plan)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; r == CENOTE_OK && i < n; i++)
		r = describe_column(s, st, i);
	c->n = r == CENOTE_OK ? n : 0;
	return r;
}

int
cnd_od_columns(struct cnd_session *s, struct cnd_od_stmt *st)
{
	SQLSMALLINT n = 0;
	SQLRETURN rc;
	int r = CENOTE_OK;

	st->columns.n = 0;
	if (st->scan.is_empty)
		return CENOTE_OK;
	cnd_od_call_begin(s, st->handle);
	rc = SQLNumResultCols(st->handle, &n);
	cnd_od_call_end(s);
	if (!CND_OD_OK(rc))
		return cnd_od_fail(s, SQL_HANDLE_STMT, st->handle);
	if (n > 0)
		r = describe_columns(s, st, (uint32_t)n);
	return r;
}

/* The bytes for a bound value. Most values of these types are shorter; SQLGetData() reads a longer one
 * again. */
#define BOUND_BYTES  64u
/* Longest text columns that are bound, in characters. */
#define BOUND_LENGTH 64

static size_t
bound_room(const struct cnd_od_column *plan, const struct cnp_column *c)
{
	size_t length =
		c->length > 0 && c->length <= BOUND_LENGTH ? (size_t)c->length : 0;

	switch (plan->type) {
	case CENOTE_TYPE_BOOL:
	case CENOTE_TYPE_INT64:
	case CENOTE_TYPE_UINT64:
	case CENOTE_TYPE_DECIMAL:
	case CENOTE_TYPE_DATE:
	case CENOTE_TYPE_TIME:
	case CENOTE_TYPE_TIMESTAMP:
	case CENOTE_TYPE_UUID:
		return BOUND_BYTES;
	case CENOTE_TYPE_TEXT:
		/* a character takes up to two UTF-16 units, or four bytes */
		return length ? 4 * length + sizeof(SQLWCHAR) : 0;
	default:
		return 0;
	}
}

void
cnd_od_columns_bind(struct cnd_session *s, struct cnd_od_stmt *st)
{
	struct cnd_od_columns *c = &st->columns;

	if (!s->can_bind)
		return;
	(void)SQLFreeStmt(st->handle, SQL_UNBIND);
	for (uint32_t i = 0; i < c->n; i++) {
		struct cnd_od_column *plan = &c->plan[i];
		void *at;

		plan->room = bound_room(plan, &c->columns[i]);
		at = plan->room ? cnc_arena_alloc(&c->text, plan->room) : NULL;
		if (at && CND_OD_OK(SQLBindCol(st->handle, (SQLUSMALLINT)(i + 1),
				  plan->c_type, at, (SQLLEN)plan->room, &plan->left)))
			plan->at = at;
	}
}

int
cnd_od_columns_format(struct cnd_session *s, struct cnd_od_stmt *st, uint8_t format,
	struct cnp_str formats)
{
	uint8_t one = format;

	if (formats.n > 0 && formats.n != st->columns.n)
		return cnd_refuse(s->diag, CNC_SQLSTATE(PROTOCOL), NULL,
			"the result has %u columns, but %zu formats were given",
			(unsigned)st->columns.n, formats.n);
	for (uint32_t i = 0; i < st->columns.n; i++) {
		if (formats.n > 0)
			one = (uint8_t)formats.p[i];
		if (one == CENOTE_FORMAT_BINARY)
			return CENOTE_ERR_UNSUPPORTED;
		st->columns.columns[i].format = one;
	}
	return CENOTE_OK;
}

#define FNV_PRIME 1099511628211u

static uint64_t
hash_bytes(uint64_t h, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

uint64_t
cnd_od_columns_hash(const struct cnd_od_stmt *st)
{
	uint64_t h = 14695981039346656037u;

	for (uint32_t i = 0; i < st->columns.n; i++) {
		const struct cnp_column *c = &st->columns.columns[i];
		const int64_t numbers[] = { c->type, c->format, c->nullable,
			c->native_type, c->length, c->precision, c->scale,
			(int64_t)c->name.n, (int64_t)c->type_name.n };

		h = hash_bytes(h, c->name.p, c->name.n);
		h = hash_bytes(h, c->type_name.p, c->type_name.n);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			h = (h ^ (uint64_t)numbers[k]) * FNV_PRIME;
	}
	return h ? h : 1;
}
