/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bind the values of a request to a prepared statement. stmt.c calls it. The memory is in the arena of the
 * request.
 */
#include <math.h>
#include <string.h>

#include "core/dt.h"
#include "core/value.h"

#include "my.h"
#include "values.h"

/* The memory of one parameter. The library borrows it until the statement was executed. */
struct slot {
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		float f32;
		uint8_t bytes[8];
		MYSQL_TIME time;
	} as;
	unsigned long length;
	cnd_my_bool is_null;
	char indicator; /* enum cnd_my_indicator */
};

struct binding {
	struct cnd_session *s;
	const struct cnc_value *v;
	struct slot *slot;
	MYSQL_BIND *b;
	unsigned number; /* counted from 1, for messages */
};

static int
bind_buffer(struct binding *d, enum enum_field_types type, const void *p, size_t n)
{
	d->b->buffer_type = type;
	/* The library does not change what it sends, and does not take a null pointer as NULL. */
	d->b->buffer = n > 0 ? (void *)(uintptr_t)p : (void *)"";
	d->b->buffer_length = n;
	d->slot->length = n;
	d->b->length = &d->slot->length;
	return CENOTE_OK;
}

static int
bind_slot(struct binding *d, enum enum_field_types type, size_t size)
{
	return bind_buffer(d, type, &d->slot->as, size);
}

static int
bind_null(struct binding *d)
{
	d->slot->is_null = 1;
	d->slot->indicator = CND_MY_IS_NULL;
	d->b->is_null = &d->slot->is_null;
	return bind_buffer(d, MYSQL_TYPE_NULL, NULL, 0);
}

static int
bind_bool(struct binding *d)
{
	d->slot->as.bytes[0] = d->v->as.i64 != 0;
	return bind_slot(d, MYSQL_TYPE_TINY, 1);
}

static int
bind_int64(struct binding *d)
{
	d->slot->as.i64 = d->v->as.i64;
	return bind_slot(d, MYSQL_TYPE_LONGLONG, 8);
}

static int
bind_uint64(struct binding *d)
{
	d->slot->as.u64 = d->v->as.u64;
	d->b->is_unsigned = 1;
	return bind_slot(d, MYSQL_TYPE_LONGLONG, 8);
}

static int
bind_number(struct binding *d, double v)
{
	/* The server would silently take infinity and NaN for 0 or NULL. */
	if (isnan(v) || isinf(v))
		return cnd_refuse(d->s->diag, CNC_SQLSTATE(OUT_OF_RANGE), NULL,
			"parameter %u: MySQL has no %s", d->number,
			isnan(v) ? "NaN" : "infinity");
	d->slot->as.f64 = v;
	return bind_slot(d, MYSQL_TYPE_DOUBLE, 8);
}

static int
bind_double(struct binding *d)
{
	return bind_number(d, d->v->as.f64);
}

static int
bind_decimal(struct binding *d)
{
	return bind_buffer(d, MYSQL_TYPE_NEWDECIMAL, d->v->bytes, d->v->len);
}

static int
bind_text(struct binding *d)
{
	return bind_buffer(d, MYSQL_TYPE_STRING, d->v->bytes, d->v->len);
}

static int
bind_bytes(struct binding *d)
{
	return bind_buffer(d, MYSQL_TYPE_BLOB, d->v->bytes, d->v->len);
}

static int
refuse_time(struct binding *d, const char *why)
{
	return cnd_refuse(d->s->diag, CNC_SQLSTATE(BAD_DATETIME), NULL,
		"parameter %u: %s", d->number, why);
}

static int
set_date(struct binding *d, const cenote_date *date)
{
	if (date->year < 0)
		return refuse_time(d, "MySQL has no years before 0");
	d->slot->as.time.year = (unsigned)date->year;
	d->slot->as.time.month = date->month;
	d->slot->as.time.day = date->day;
	return CENOTE_OK;
}

static int
set_clock(struct binding *d, const cenote_time *t)
{
	MYSQL_TIME *to = &d->slot->as.time;

	if (t->utc_offset_s != CENOTE_NO_OFFSET)
		return refuse_time(d, "MySQL's times have no offset from UTC: convert it "
				      "to the session's time zone");
	if (t->second > 59)
		return refuse_time(d, "MySQL has no leap seconds");
	to->hour = t->hour;
	to->minute = t->minute;
	to->second = t->second;
	to->second_part = t->nanosecond / 1000;
	return CENOTE_OK;
}

static int
bind_date(struct binding *d)
{
	int r = set_date(d, &d->v->as.date);

	d->slot->as.time.time_type = MYSQL_TIMESTAMP_DATE;
	return r < 0 ? r : bind_slot(d, MYSQL_TYPE_DATE, sizeof(MYSQL_TIME));
}

static int
bind_time(struct binding *d)
{
	int r = set_clock(d, &d->v->as.time);

	d->slot->as.time.time_type = MYSQL_TIMESTAMP_TIME;
	return r < 0 ? r : bind_slot(d, MYSQL_TYPE_TIME, sizeof(MYSQL_TIME));
}

static int
bind_timestamp(struct binding *d)
{
	int r = set_date(d, &d->v->as.timestamp.date);

	if (r == CENOTE_OK)
		r = set_clock(d, &d->v->as.timestamp.time);
	if (r == CENOTE_OK && d->slot->as.time.hour > 23)
		r = refuse_time(d, "MySQL has no hour 24: it is 00:00 of the next day");
	d->slot->as.time.time_type = MYSQL_TIMESTAMP_DATETIME;
	return r < 0 ? r : bind_slot(d, MYSQL_TYPE_DATETIME, sizeof(MYSQL_TIME));
}

static int (*const binders[])(struct binding *d) = {
	[CENOTE_TYPE_NULL] = bind_null,
	[CENOTE_TYPE_BOOL] = bind_bool,
	[CENOTE_TYPE_INT64] = bind_int64,
	[CENOTE_TYPE_UINT64] = bind_uint64,
	[CENOTE_TYPE_DOUBLE] = bind_double,
	[CENOTE_TYPE_DECIMAL] = bind_decimal,
	[CENOTE_TYPE_TEXT] = bind_text,
	[CENOTE_TYPE_BYTES] = bind_bytes,
	[CENOTE_TYPE_DATE] = bind_date,
	[CENOTE_TYPE_TIME] = bind_time,
	[CENOTE_TYPE_TIMESTAMP] = bind_timestamp,
	[CENOTE_TYPE_INTERVAL] = bind_text,
	[CENOTE_TYPE_UUID] = bind_text,
	[CENOTE_TYPE_JSON] = bind_text,
	[CENOTE_TYPE_OTHER] = bind_text,
};

/* ---- values in the server's own types ---- */

static int
refuse_native(struct binding *d, uint32_t type)
{
	return cnd_refuse(d->s->diag, CNC_SQLSTATE(BAD_CAST), NULL,
		"parameter %u: %u bytes are no value of type %u in %s form", d->number,
		(unsigned)d->v->len, (unsigned)type,
		d->v->format == CENOTE_FORMAT_BINARY ? "binary" : "text");
}

static int
is_time(uint32_t type)
{
	return type == MYSQL_TYPE_DATE || type == MYSQL_TYPE_TIME ||
	       type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

/* Types that a parameter cannot have, and the types of the same size that are sent instead. */
static enum enum_field_types
sendable(uint32_t type)
{
	switch (type) {
	case MYSQL_TYPE_INT24:
		return MYSQL_TYPE_LONG;
	case MYSQL_TYPE_YEAR:
		return MYSQL_TYPE_SHORT;
	case MYSQL_TYPE_VARCHAR:
	case MYSQL_TYPE_ENUM:
	case MYSQL_TYPE_SET:
	case MYSQL_TYPE_NEWDATE:
	case CND_MY_TYPE_JSON:
		return MYSQL_TYPE_STRING;
	case MYSQL_TYPE_BIT:
	case CND_MY_TYPE_VECTOR:
	case MYSQL_TYPE_GEOMETRY:
		return MYSQL_TYPE_BLOB;
	default:
		return (enum enum_field_types)type;
	}
}

static int
is_bytes(enum enum_field_types type)
{
	return type == MYSQL_TYPE_DECIMAL || type == MYSQL_TYPE_NEWDECIMAL ||
	       type == MYSQL_TYPE_STRING || type == MYSQL_TYPE_VAR_STRING ||
	       (type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_BLOB);
}

static int
bind_native_time(struct binding *d, uint32_t type)
{
	const uint8_t *p = (const uint8_t *)d->v->bytes;

	/* The server reads the text of dates and times by itself. */
	if (d->v->format == CENOTE_FORMAT_TEXT)
		return bind_text(d);
	/* the server decides whether the numbers are a date */
	if (cnd_my_time_load(type, p, d->v->len, &d->slot->as.time) < 0)
		return refuse_native(d, type);
	if (type == MYSQL_TYPE_DATE)
		d->slot->as.time.time_type = MYSQL_TIMESTAMP_DATE;
	return bind_slot(d, (enum enum_field_types)type, sizeof(MYSQL_TIME));
}

/* Numbers are little-endian on the wire, and the machine's own in the library's buffers. */
static void
load_number(struct slot *slot, const uint8_t *p, size_t n)
{
	uint16_t v16;
	uint32_t v32;

	if (n == 1) {
		slot->as.bytes[0] = p[0];
	} else if (n == 2) {
		v16 = cnc_get_u16(p);
		memcpy(&slot->as, &v16, sizeof(v16));
	} else if (n == 4) {
		v32 = cnc_get_u32(p);
		memcpy(&slot->as, &v32, sizeof(v32));
	} else {
		slot->as.u64 = cnc_get_u64(p);
	}
}

static int
bind_number_text(struct binding *d, uint32_t type)
{
	const struct cnc_value *v = d->v;
	double f64;

	if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE) {
		if (cnc_text_double(v->bytes, v->len, &f64) < 0)
			return refuse_native(d, type);
		return bind_number(d, f64);
	}
	if (cnc_text_int64(v->bytes, v->len, &d->slot->as.i64) == CENOTE_OK)
		return bind_slot(d, MYSQL_TYPE_LONGLONG, 8);
	if (cnc_text_uint64(v->bytes, v->len, &d->slot->as.u64) < 0)
		return refuse_native(d, type);
	d->b->is_unsigned = 1;
	return bind_slot(d, MYSQL_TYPE_LONGLONG, 8);
}

static void
take_sign(struct binding *d)
{
	d->b->is_unsigned = (cnd_my_bool)((d->v->native_type & CND_MY_UNSIGNED) != 0);
}

static int
bind_native_number(struct binding *d, uint32_t type, size_t size)
{
	if (d->v->format == CENOTE_FORMAT_TEXT)
		return bind_number_text(d, type);
	if (d->v->len != size)
		return refuse_native(d, type);
	load_number(d->slot, (const uint8_t *)d->v->bytes, size);
	take_sign(d);
	return bind_slot(d, sendable(type), size);
}

/* Bind a NULL with a type, which decides the type of the server's result. */
static int
bind_typed_null(struct binding *d, enum enum_field_types sent)
{
	int r = bind_null(d);

	d->b->buffer_type = sent;
	take_sign(d);
	return r;
}

/* Not a value: the word DEFAULT, or a request to leave the column unchanged. */
static int
bind_indicator(struct binding *d, char indicator)
{
	int r = bind_null(d);

	d->slot->indicator = indicator;
	return r;
}

static int
refuse_type(struct binding *d, uint32_t type)
{
	return cnd_refuse(d->s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
		"parameter %u: MySQL has no type %u", d->number, (unsigned)type);
}

static int
bind_native(struct binding *d)
{
	uint32_t type = d->v->native_type & ~CND_MY_UNSIGNED;
	enum enum_field_types sent = sendable(type);
	int size = cnd_my_binary_size(type);

	if (d->v->native_type == CND_MY_NATIVE_DEFAULT)
		return bind_indicator(d, CND_MY_IS_DEFAULT);
	if (d->v->native_type == CND_MY_NATIVE_IGNORE)
		return bind_indicator(d, CND_MY_IS_IGNORED);
	if (type == MYSQL_TYPE_NULL)
		take_sign(d); /* the sign shows in the result's columns, as below */
	if (type == MYSQL_TYPE_NULL || (d->v->native_type == 0 && d->v->is_null))
		return bind_null(d);
	if (d->v->native_type == 0)
		return d->v->format == CENOTE_FORMAT_BINARY ? bind_bytes(d)
							    : bind_text(d);
	if (type > 255 || (size <= 0 && !is_time(type) && !is_bytes(sent)))
		return refuse_type(d, type);
	/* if the type is sent as another type, the NULL has no type */
	if (d->v->is_null)
		return sent == type ? bind_typed_null(d, sent) : bind_null(d);
	if (size > 0)
		return bind_native_number(d, type, (size_t)size);
	/* the sign shows in the columns that such a value makes */
	take_sign(d);
	if (is_time(type))
		return bind_native_time(d, type);
	return bind_buffer(d, sent, d->v->bytes, d->v->len);
}

/* Bind a value whose content is sent separately. Servers accept that only for text and bytes. */
static int
bind_long(struct binding *d)
{
	uint32_t type = d->v->native_type & ~CND_MY_UNSIGNED;
	int is_binary = d->v->type == CENOTE_TYPE_BYTES;

	if (d->v->is_native && type == 0)
		is_binary = d->v->format == CENOTE_FORMAT_BINARY;
	else if (d->v->is_native)
		is_binary = sendable(type) >= MYSQL_TYPE_TINY_BLOB &&
			    sendable(type) <= MYSQL_TYPE_BLOB;
	return is_binary ? bind_bytes(d) : bind_text(d);
}

static int
bind_one(struct binding *d)
{
	const struct cnc_value *v = d->v;

	if (v->is_native && !v->is_long)
		return bind_native(d);
	if (v->is_null)
		return bind_null(d);
	if (v->is_long)
		return bind_long(d);
	if (v->type >= sizeof(binders) / sizeof(binders[0]))
		return cnd_refuse(d->s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"parameter %u: unknown type %u", d->number, (unsigned)v->type);
	return binders[v->type](d);
}

/* ---- rows of values ---- */

/* An indicator tells the server which entries are not values. */
static int
needs_indicators(const struct slot *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (slots[i].indicator == CND_MY_IS_DEFAULT ||
			slots[i].indicator == CND_MY_IS_IGNORED)
			return 1;
	}
	return 0;
}

/* A column of parameters has one type: the type of its first value. */
static int
unify_column(struct cnd_session *s, MYSQL_BIND *binds, const struct slot *slots,
	uint32_t n_params, uint32_t n_rows)
{
	uint32_t first = 0, row;

	while (first < n_rows && slots[(size_t)first * n_params].indicator)
		first++;
	for (row = 0; first < n_rows && row < n_rows; row++) {
		MYSQL_BIND *b = &binds[(size_t)row * n_params];
		const MYSQL_BIND *as = &binds[(size_t)first * n_params];

		if (slots[(size_t)row * n_params].indicator) {
			b->buffer_type = as->buffer_type;
			b->is_unsigned = as->is_unsigned;
		} else if (b->buffer_type != as->buffer_type ||
			   b->is_unsigned != as->is_unsigned) {
			return cnd_refuse(s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
				"row %u has a parameter of another type than row %u",
				(unsigned)row + 1, (unsigned)first + 1);
		}
	}
	return CENOTE_OK;
}

static int
bind_rows(struct cnd_session *s, MYSQL_STMT *stmt, MYSQL_BIND *binds, struct slot *slots,
	uint32_t n_params, uint32_t n_rows)
{
	struct cnd_my_param_rows *rows = cnc_arena_alloc(&s->arena, sizeof(*rows));
	uint32_t i;
	int r = CENOTE_OK;

	if (!rows)
		return CENOTE_ERR_NOMEM;
	*rows = (struct cnd_my_param_rows){ binds, n_params, n_rows };
	for (i = 0; r == CENOTE_OK && i < n_params; i++)
		r = unify_column(s, binds + i, slots + i, n_params, n_rows);
	for (i = 0; i < n_params * n_rows; i++)
		cnd_my_set_indicator(&binds[i], &slots[i].indicator);
	if (r == CENOTE_OK && cnd_my_set_rows(stmt, rows) < 0)
		r = cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"rows of parameters, and DEFAULT as one, need MariaDB's client "
			"library");
	return r;
}

static int
bind_values(struct cnd_session *s, const struct cnc_value *params, MYSQL_BIND *binds,
	struct slot *slots, uint32_t n)
{
	uint32_t i;
	int r = CENOTE_OK;

	for (i = 0; r == CENOTE_OK && i < n; i++) {
		struct binding d = { .s = s,
			.v = &params[i],
			.slot = &slots[i],
			.b = &binds[i],
			.number = i + 1 };

		r = bind_one(&d);
	}
	return r;
}

int
cnd_my_bind(struct cnd_session *s, MYSQL_STMT *stmt, const struct cnc_value *params,
	uint32_t n_params, uint32_t n_rows)
{
	uint32_t n = n_params * n_rows;
	MYSQL_BIND *binds;
	struct slot *slots;
	int r;

	if (n == 0)
		return CENOTE_OK;
	binds = cnc_arena_alloc(&s->arena, n * sizeof(*binds));
	slots = cnc_arena_alloc(&s->arena, n * sizeof(*slots));
	if (!binds || !slots)
		return CENOTE_ERR_NOMEM;
	memset(binds, 0, n * sizeof(*binds));
	memset(slots, 0, n * sizeof(*slots));
	r = bind_values(s, params, binds, slots, n);
	if (r == CENOTE_OK && (n_rows > 1 || needs_indicators(slots, n)))
		r = bind_rows(s, stmt, binds, slots, n_params, n_rows);
	if (r == CENOTE_OK && mysql_stmt_bind_param(stmt, binds) != 0)
		r = cnd_my_diag(s->diag, mysql_stmt_errno(stmt),
			mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt), s->server);
	return r;
}
