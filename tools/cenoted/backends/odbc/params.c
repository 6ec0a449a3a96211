/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binds parameters by their own types. Dates and times go as text: ODBC's structures lack some years, and
 * fractions of a time. Drivers read text of that form.
 */
#include <math.h>
#include <string.h>

#include "core/decimal.h"

#include "odbc.h"

/* Values above this many units get a long type, unless is_var_only. */
#define VAR_MAX     4000u
#define PIECE_BYTES ((size_t)64 << 10)
/* Room for an output value of a type without a bound. */
#define OUTPUT_MAX  65536u

/* How one value goes to the driver. */
struct form {
	SQLSMALLINT c_type;
	SQLSMALLINT sql_type;
	SQLULEN size;
	SQLSMALLINT digits;
	void *p;
	SQLLEN room; /* the bytes at `p`, for an output parameter; else 0 */
};

struct binding {
	struct cnd_session *s;
	struct cnd_od_bound *b;
	const struct cnc_value *v;
	uint32_t i; /* parameter number, from 1 */
	struct form f;
};

typedef int bind_fn(struct binding *x);

static int
bind_null(struct binding *x)
{
	x->b->len = SQL_NULL_DATA;
	x->f = (struct form){ SQL_C_CHAR, SQL_VARCHAR, 1, 0, x->b->as.text, 0 };
	return CENOTE_OK;
}

static int
bind_bool(struct binding *x)
{
	x->b->as.bit = x->v->as.i64 != 0;
	x->b->len = sizeof(x->b->as.bit);
	x->f = (struct form){ SQL_C_BIT, SQL_BIT, 1, 0, &x->b->as.bit, 0 };
	return CENOTE_OK;
}

/* Use the smallest type that a literal of that number would have. */
static int
bind_integer(struct binding *x, int64_t v)
{
	int is_small = v >= INT32_MIN && v <= INT32_MAX;

	x->b->as.i64 = v;
	x->b->len = sizeof(x->b->as.i64);
	x->f = (struct form){ SQL_C_SBIGINT, is_small ? SQL_INTEGER : SQL_BIGINT,
		is_small ? 10 : 19, 0, &x->b->as.i64, 0 };
	return CENOTE_OK;
}

static int
bind_int64(struct binding *x)
{
	return bind_integer(x, x->v->as.i64);
}

/* Send the value as text, and name the type as which the driver shall read it. */
static int
bind_text_as(struct binding *x, SQLSMALLINT sql_type, SQLSMALLINT digits)
{
	size_t n = cnc_value_text(x->v, x->b->as.text);

	x->b->len = (SQLLEN)n;
	x->f = (struct form){ SQL_C_CHAR, sql_type, n, digits, x->b->as.text, 0 };
	return CENOTE_OK;
}

static int
bind_uint64(struct binding *x)
{
	return x->v->as.u64 <= INT64_MAX ? bind_integer(x, (int64_t)x->v->as.u64)
					 : bind_text_as(x, SQL_DECIMAL, 0);
}

static int
bind_double(struct binding *x)
{
	if (!isfinite(x->v->as.f64) && !x->s->quirks->has_infinity)
		return cnd_refuse(x->s->diag, CNC_SQLSTATE(OUT_OF_RANGE), NULL,
			"parameter %u: ODBC has neither infinities nor NaN",
			(unsigned)x->i);
	if (!isfinite(x->v->as.f64))
		return bind_text_as(x, SQL_DOUBLE, 0);
	x->b->as.f64 = x->v->as.f64;
	x->b->len = sizeof(x->b->as.f64);
	x->f = (struct form){ SQL_C_DOUBLE, SQL_DOUBLE, 15, 0, &x->b->as.f64, 0 };
	return CENOTE_OK;
}

static int
bind_decimal(struct binding *x)
{
	struct cnc_decimal d;
	SQLULEN whole;

	if (cnc_decimal_parse(x->v->bytes, x->v->len, &d) < 0)
		return cnd_refuse(x->s->diag, CNC_SQLSTATE(BAD_CAST), NULL,
			"parameter %u is no decimal number", (unsigned)x->i);
	whole = d.exponent > 0 ? (SQLULEN)d.exponent : 1;
	x->b->len = (SQLLEN)x->v->len;
	x->f = (struct form){ SQL_C_CHAR, SQL_DECIMAL, whole + d.scale,
		(SQLSMALLINT)d.scale, (void *)(uintptr_t)x->v->bytes, 0 };
	return CENOTE_OK;
}

static int
fraction_digits(uint32_t nanosecond)
{
	int digits = 9;

	while (digits > 0 && nanosecond % 10 == 0) {
		nanosecond /= 10;
		digits--;
	}
	return digits;
}

static int
bind_date(struct binding *x)
{
	return bind_text_as(x, SQL_TYPE_DATE, 0);
}

/* ODBC's TIME and TIMESTAMP have no offset. If there is one, send plain text for the server to read. */
static int
bind_time_as(struct binding *x, const cenote_time *t, SQLSMALLINT sql_type)
{
	if (t->utc_offset_s != CENOTE_NO_OFFSET)
		return bind_text_as(x, SQL_VARCHAR, 0);
	return bind_text_as(x, sql_type, (SQLSMALLINT)fraction_digits(t->nanosecond));
}

static int
bind_time(struct binding *x)
{
	return bind_time_as(x, &x->v->as.time, SQL_TYPE_TIME);
}

static int
bind_timestamp(struct binding *x)
{
	return bind_time_as(x, &x->v->as.timestamp.time, SQL_TYPE_TIMESTAMP);
}

/* ---- text and bytes ---- */

static SQLSMALLINT
text_type(const struct cnd_session *s, size_t n, int is_long)
{
	int is_var = s->quirks->is_var_only || (n <= VAR_MAX && !is_long);

	if (s->is_wide)
		return is_var ? SQL_WVARCHAR : SQL_WLONGVARCHAR;
	return is_var ? SQL_VARCHAR : SQL_LONGVARCHAR;
}

static SQLSMALLINT
text_c_type(const struct cnd_session *s)
{
	if (s->is_wide)
		return SQL_C_WCHAR;
	return SQL_C_CHAR;
}

static SQLSMALLINT
bytes_type(const struct cnd_session *s, size_t n, int is_long)
{
	return s->quirks->is_var_only || (n <= VAR_MAX && !is_long) ? SQL_VARBINARY
								    : SQL_LONGVARBINARY;
}

/* Convert the text to the driver's encoding. x->b keeps it until the statement has run. */
static int
take_text(struct binding *x, const char *p, size_t n, size_t *ret_units)
{
	size_t unit = x->s->is_wide ? sizeof(SQLWCHAR) : 1;
	struct cnd_od_text text;
	int r;

	if (x->s->quirks->cuts_at_zero && memchr(p, 0, n))
		return cnd_refuse(x->s->diag, "22021", NULL,
			"parameter %u: for this driver, text ends at a zero byte",
			(unsigned)x->i);
	r = cnd_od_text_make(x->s, p, n, &text);
	if (r == CENOTE_ERR_CONVERT)
		return cnd_refuse(x->s->diag, CNC_SQLSTATE(BAD_CAST), NULL,
			"parameter %u is not UTF-8", (unsigned)x->i);
	if (r < 0)
		return r;
	x->b->bytes = text.p;
	x->b->is_owned = text.is_owned;
	x->b->n_bytes = text.n * unit;
	*ret_units = text.n;
	return CENOTE_OK;
}

static int
bind_text(struct binding *x)
{
	size_t n = 0;
	int r = take_text(x, x->v->bytes ? x->v->bytes : "", x->v->len, &n);

	if (r < 0)
		return r;
	x->b->len = (SQLLEN)x->b->n_bytes;
	x->f = (struct form){ text_c_type(x->s), text_type(x->s, n, 0), n > 0 ? n : 1, 0,
		x->b->bytes, 0 };
	return CENOTE_OK;
}

static int
bind_bytes(struct binding *x)
{
	x->b->bytes = (void *)(uintptr_t)(x->v->bytes ? x->v->bytes : "");
	x->b->n_bytes = x->v->len;
	x->b->len = (SQLLEN)x->v->len;
	x->f = (struct form){ SQL_C_BINARY, bytes_type(x->s, x->v->len, 0),
		x->v->len > 0 ? x->v->len : 1, 0, x->b->bytes, 0 };
	return CENOTE_OK;
}

static bind_fn *const binders[] = {
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

/* Fill x->b and x->f from the value. */
static int
take_value(struct binding *x)
{
	if (x->v->is_null)
		return bind_null(x);
	if (x->v->is_native)
		return x->v->format == CENOTE_FORMAT_BINARY ? bind_bytes(x)
							    : bind_text(x);
	if (x->v->type >= sizeof(binders) / sizeof(binders[0]))
		return cnd_refuse(x->s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"parameter %u: unknown type %u", (unsigned)x->i,
			(unsigned)x->v->type);
	return binders[x->v->type](x);
}

/* ---- long values ---- */

/* A value that the client sent in pieces also goes to the driver in pieces. The driver asks for it during
 * execution. */
static int
take_long(struct binding *x, const struct cnd_od_long *l)
{
	int is_bytes = x->v->type == CENOTE_TYPE_BYTES ||
		       (x->v->is_native && x->v->format == CENOTE_FORMAT_BINARY);
	const char *p = l ? (const char *)cnc_buf_head(&l->bytes) : "";
	size_t n = l ? cnc_buf_len(&l->bytes) : 0;
	int r;

	if (is_bytes) {
		x->b->bytes = (void *)(uintptr_t)p;
		x->b->n_bytes = n;
		x->f.sql_type = bytes_type(x->s, n, 1);
	} else {
		r = take_text(x, p, n, &n);
		if (r < 0)
			return r;
		x->f.sql_type = text_type(x->s, n, 1);
	}
	x->f.c_type = text_c_type(x->s);
	if (is_bytes)
		x->f.c_type = SQL_C_BINARY;
	x->f.size = n > 0 ? n : 1;
	x->f.p = (void *)(uintptr_t)x->i;
	x->b->len = SQL_LEN_DATA_AT_EXEC((SQLLEN)x->b->n_bytes);
	return CENOTE_OK;
}

static SQLRETURN
put_pieces(SQLHSTMT handle, const struct cnd_od_bound *b)
{
	SQLRETURN rc = SQL_SUCCESS;
	size_t at = 0, n;

	do {
		n = b->n_bytes - at < PIECE_BYTES ? b->n_bytes - at : PIECE_BYTES;
		rc = SQLPutData(handle, (char *)b->bytes + at, (SQLLEN)n);
		at += n;
	} while (CND_OD_OK(rc) && at < b->n_bytes);
	return rc;
}

SQLRETURN
cnd_od_send_data(struct cnd_od_stmt *st)
{
	SQLPOINTER token = NULL;
	SQLRETURN rc;
	uintptr_t i;

	while ((rc = SQLParamData(st->handle, &token)) == SQL_NEED_DATA) {
		i = (uintptr_t)token;
		if (i == 0 || i > st->n_bound)
			return SQL_ERROR;
		rc = put_pieces(st->handle, &st->bound[i - 1]);
		if (!CND_OD_OK(rc))
			return rc;
	}
	return rc;
}

/* ---- output parameters ---- */

static SQLSMALLINT
output_type(const struct cnd_session *s, uint8_t type)
{
	int is_text = type == CENOTE_TYPE_TEXT || type == CENOTE_TYPE_OTHER;

	if (type == CENOTE_TYPE_BYTES)
		return SQL_C_BINARY;
	return is_text && s->is_wide && !s->quirks->has_narrow_output ? SQL_C_WCHAR
								      : SQL_C_CHAR;
}

static size_t
output_room(const struct cnd_od_direction *d, SQLSMALLINT c_type)
{
	size_t n = d->size > 0 && d->size < OUTPUT_MAX / 4 ? d->size + 1 : OUTPUT_MAX / 4;

	if (c_type == SQL_C_BINARY)
		return n;
	/* a number or time as text also has signs, points and blanks */
	return 4 * n + CNC_VALUE_TEXT_MAX;
}

/* Copy the input value to `room`, in the form of the output value or as text. */
static int
copy_input(struct binding *x, char *room, size_t size)
{
	const void *p = x->b->bytes;
	size_t n = x->b->n_bytes;
	char text[CNC_VALUE_TEXT_MAX];
	SQLWCHAR wide[CNC_VALUE_TEXT_MAX];

	if (p && x->b->c_type == SQL_C_CHAR) {
		/* narrow output: copy the client's text, not its wide copy */
		p = x->v->bytes ? x->v->bytes : "";
		n = x->v->len;
	} else if (!p) {
		n = x->v->type == CENOTE_TYPE_DECIMAL ? x->v->len
						      : cnc_value_text(x->v, text);
		p = x->v->type == CENOTE_TYPE_DECIMAL ? x->v->bytes : text;
		if (x->b->c_type == SQL_C_WCHAR && n < CNC_VALUE_TEXT_MAX) {
			n = cnd_od_utf16(p, n, wide) * sizeof(SQLWCHAR);
			p = wide;
		}
	}
	if (n > size)
		return cnd_refuse(x->s->diag, CNC_SQLSTATE(LIMIT), NULL,
			"parameter %u: a value that comes back is at most %zu bytes here",
			(unsigned)x->i, size);
	memcpy(room, p, n);
	x->b->len = (SQLLEN)n;
	return CENOTE_OK;
}

/* Give an output parameter a buffer of its own. */
static int
take_output(struct binding *x, const struct cnd_od_direction *d)
{
	uint8_t type = cnd_od_type(d->sql_type, "", 0);
	int is_input = d->io == SQL_PARAM_INPUT_OUTPUT && x->b->len != SQL_NULL_DATA;
	size_t size;
	char *room;
	int r = CENOTE_OK;

	x->b->c_type = output_type(x->s, type);
	size = output_room(d, x->b->c_type);
	room = cnc_calloc(x->s->mem, 1, size);
	if (!room)
		return CENOTE_ERR_NOMEM;
	if (is_input)
		r = copy_input(x, room, size);
	if (x->b->is_owned)
		cnc_free(x->s->mem, x->b->bytes);
	x->b->bytes = room;
	x->b->n_bytes = size;
	x->b->is_owned = x->b->is_output = 1;
	x->f = (struct form){ x->b->c_type, d->sql_type, d->size, d->digits, room,
		(SQLLEN)size };
	return r;
}

/* ---- all of them ---- */

static int
bind_one(struct binding *x, struct cnd_od_stmt *st, const struct cnd_od_long *longs)
{
	const struct cnd_od_direction *d =
		st->directions ? &st->directions[x->i - 1] : NULL;
	SQLSMALLINT io = SQL_PARAM_INPUT;
	SQLRETURN rc;
	int r;

	if (d)
		io = d->io;
	while (longs && longs->param != x->i - 1)
		longs = longs->next;
	r = x->v->is_long ? take_long(x, longs) : take_value(x);
	if (r == CENOTE_OK && io != SQL_PARAM_INPUT)
		r = take_output(x, d);
	if (r < 0)
		return r;
	rc = SQLBindParameter(st->handle, (SQLUSMALLINT)x->i, io, x->f.c_type,
		x->f.sql_type, x->f.size, x->f.digits, x->f.p, x->f.room, &x->b->len);
	return CND_OD_OK(rc) ? CENOTE_OK : cnd_od_fail(x->s, SQL_HANDLE_STMT, st->handle);
}

int
cnd_od_bind(struct cnd_session *s, struct cnd_od_stmt *st, const struct cnd_exec *exec,
	const struct cnd_od_long *longs)
{
	struct binding x = { .s = s };
	int r = CENOTE_OK;

	if (exec->n_params != st->n_params)
		return cnd_refuse(s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"the statement has %u parameters, but %u values were given",
			(unsigned)st->n_params, (unsigned)exec->n_params);
	if (exec->n_params == 0)
		return CENOTE_OK;
	st->bound = cnc_calloc(s->mem, exec->n_params, sizeof(*st->bound));
	if (!st->bound)
		return CENOTE_ERR_NOMEM;
	st->n_bound = exec->n_params;
	for (uint32_t i = 0; r == CENOTE_OK && i < exec->n_params; i++) {
		x.b = &st->bound[i];
		x.v = &exec->params[i];
		x.i = i + 1;
		x.f = (struct form){ 0 };
		r = bind_one(&x, st, longs);
	}
	return r;
}

void
cnd_od_unbind(struct cnd_session *s, struct cnd_od_stmt *st)
{
	if (!st->bound)
		return;
	(void)SQLFreeStmt(st->handle, SQL_RESET_PARAMS);
	for (uint32_t i = 0; i < st->n_bound; i++) {
		if (st->bound[i].is_owned)
			cnc_free(s->mem, st->bound[i].bytes);
	}
	cnc_free(s->mem, st->bound);
	st->bound = NULL;
	st->n_bound = 0;
}
