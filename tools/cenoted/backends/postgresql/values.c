/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of PostgreSQL's types in canonical form, and parameters in the server's form. desc.c and exec.c call it.
 * It has no state.
 */
#include <stdio.h>

#include "core/dt.h"

#include "pg.h"
#include "types.h"
#include "wire.h"

/* ---- From the server: text ---- */

static char *
put_digits(char *out, int n, uint32_t v)
{
	int i;

	for (i = n - 1; i >= 0; i--) {
		out[i] = (char)('0' + v % 10);
		v /= 10;
	}
	return out + n;
}

static int
put_bool(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	if (len != 1 || (value[0] != 't' && value[0] != 'f'))
		return CENOTE_ERR_PROTOCOL;
	return cnc_batch_put(w, value[0] == 't' ? "1" : "0", 1);
}

/* The value of a hexadecimal digit; 0xff: not a digit. */
static uint8_t
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return (uint8_t)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint8_t)(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (uint8_t)(c - 'A' + 10);
	return 0xff;
}

static int
put_hex(struct cnc_batch *w, const uint8_t *hex, size_t len)
{
	char *out;
	size_t i;
	int r;

	if (len % 2)
		return CENOTE_ERR_PROTOCOL;
	r = cnc_batch_room(w, len / 2, &out);
	if (r < 0)
		return r;
	for (i = 0; i < len; i += 2) {
		uint8_t high = hex_value(hex[i]), low = hex_value(hex[i + 1]);

		if ((high | low) > 0xf)
			return CENOTE_ERR_PROTOCOL;
		out[i / 2] = (char)(high << 4 | low);
	}
	cnc_batch_room_done(w, len / 2);
	return CENOTE_OK;
}

static int
is_octal(uint8_t c, uint8_t max)
{
	return c >= '0' && c <= max;
}

/* With bytea_output = escape: a backslash is doubled, and an unprintable byte is \ooo. */
static int
put_escaped(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	size_t i = 0, n = 0;
	char *out;
	int r = cnc_batch_room(w, len, &out);

	if (r < 0)
		return r;
	while (i < len) {
		const uint8_t *p = value + i;

		if (*p != '\\') {
			out[n++] = (char)*p;
			i++;
		} else if (len - i >= 2 && p[1] == '\\') {
			out[n++] = '\\';
			i += 2;
		} else if (len - i >= 4 && is_octal(p[1], '3') && is_octal(p[2], '7') &&
			   is_octal(p[3], '7')) {
			out[n++] = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 |
					  (p[3] - '0'));
			i += 4;
		} else {
			return CENOTE_ERR_PROTOCOL;
		}
	}
	cnc_batch_room_done(w, n);
	return CENOTE_OK;
}

static int
put_bytea(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	if (len >= 2 && value[0] == '\\' && value[1] == 'x')
		return put_hex(w, value + 2, len - 2);
	return put_escaped(w, value, len);
}

/* Whether the text ends in " BC". *ret_len is the length without that ending. */
static int
is_bc(const uint8_t *value, size_t len, size_t *ret_len)
{
	if (len < 3 || memcmp(value + len - 3, " BC", 3) != 0)
		return 0;
	*ret_len = len - 3;
	return 1;
}

/* Write the canonical year of a BC date in ISO text: 1 BC is the year 0, 2 BC is -1. Returns the
 * length of the year; 0: the text does not begin with a year of four digits. */
static size_t
put_bc_year(char *out, const uint8_t *value, size_t len)
{
	uint32_t year = 0;
	size_t i, n = 0;

	if (len < 5 || value[4] != '-')
		return 0;
	for (i = 0; i < 4; i++) {
		if (value[i] < '0' || value[i] > '9')
			return 0;
		year = year * 10 + (uint32_t)(value[i] - '0');
	}
	if (year == 0)
		return 0;
	if (--year > 0)
		out[n++] = '-';
	(void)put_digits(out + n, 4, year);
	return n + 4;
}

/*
 * Text that is not in ISO form is copied: "infinity", and dates of a session that changed DateStyle
 * in the middle of a request. BC dates whose year has more than four digits are copied, too.
 */
static int
put_iso(struct cnc_batch *w, const uint8_t *value, size_t len, int has_zone)
{
	size_t n = 0, bc_len;
	char *out;
	int r = cnc_batch_room(w, len + 4, &out);

	if (r < 0)
		return r;
	if (is_bc(value, len, &bc_len))
		n = put_bc_year(out, value, bc_len);
	if (n > 0) {
		value += 4;
		len = bc_len - 4;
	}
	if (len > 0)
		memcpy(out + n, value, len);
	n += len;
	/* The server omits the minutes of an offset if they are 0. */
	if (has_zone && len > 3 && (value[len - 3] == '+' || value[len - 3] == '-')) {
		out[n++] = ':';
		out[n++] = '0';
		out[n++] = '0';
	}
	cnc_batch_room_done(w, n);
	return CENOTE_OK;
}

static int
put_date(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	return put_iso(w, value, len, 0);
}

static int
put_zoned(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	return put_iso(w, value, len, 1);
}

/* ---- From the server: binary ---- */

#define DAYS_TO_2000 730425 /* from 0000-03-01 */
#define DAYS_OF_ERA  146097 /* 400 years */
#define USECS_OF_DAY INT64_C(86400000000)

/* Room for the longest: a year of seven digits with a sign, microseconds and an offset. */
#define STAMP_MAX 48u

/* Write the calendar day of a number of days since 2000-01-01. The years of the computation begin on 1 March, so
 * that the leap day is their last day. */
static char *
put_day(char *out, int64_t days)
{
	int64_t since = days + DAYS_TO_2000;
	int64_t era = (since >= 0 ? since : since - (DAYS_OF_ERA - 1)) / DAYS_OF_ERA;
	int64_t day = since - era * DAYS_OF_ERA;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
	int64_t march_month = (5 * day_of_year + 2) / 153;
	int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
	uint32_t size;

	year += era * 400 + (month <= 2);
	if (year < 0)
		*out++ = '-';
	size = (uint32_t)(year < 0 ? -year : year);
	out = put_digits(out,
		size > 999999  ? 7
		: size > 99999 ? 6
		: size > 9999  ? 5
			       : 4,
		size);
	*out++ = '-';
	out = put_digits(out, 2, (uint32_t)month);
	*out++ = '-';
	return put_digits(
		out, 2, (uint32_t)(day_of_year - (153 * march_month + 2) / 5 + 1));
}

static char *
put_time_of_day(char *out, int64_t usecs)
{
	uint32_t seconds = (uint32_t)(usecs / 1000000);
	uint32_t fraction = (uint32_t)(usecs % 1000000);

	out = put_digits(out, 2, seconds / 3600);
	*out++ = ':';
	out = put_digits(out, 2, seconds / 60 % 60);
	*out++ = ':';
	out = put_digits(out, 2, seconds % 60);
	if (fraction > 0) {
		*out++ = '.';
		out = put_digits(out, 6, fraction);
		while (out[-1] == '0')
			out--;
	}
	return out;
}

static int
put_infinity(struct cnc_batch *w, int is_negative)
{
	return is_negative ? cnc_batch_put(w, "-infinity", 9)
			   : cnc_batch_put(w, "infinity", 8);
}

static int
put_binary_date(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	char out[STAMP_MAX];
	int32_t days;

	if (len != 4)
		return CENOTE_ERR_PROTOCOL;
	days = (int32_t)cnd_pg_get_u32(value);
	if (days == INT32_MAX || days == INT32_MIN)
		return put_infinity(w, days == INT32_MIN);
	return cnc_batch_put(w, out, (size_t)(put_day(out, days) - out));
}

static int
put_stamp(struct cnc_batch *w, const uint8_t *value, size_t len, int has_zone)
{
	char out[STAMP_MAX], *end;
	int64_t usecs, days, of_day;

	if (len != 8)
		return CENOTE_ERR_PROTOCOL;
	usecs = (int64_t)((uint64_t)cnd_pg_get_u32(value) << 32 |
			  cnd_pg_get_u32(value + 4));
	if (usecs == INT64_MAX || usecs == INT64_MIN)
		return put_infinity(w, usecs == INT64_MIN);
	days = usecs / USECS_OF_DAY;
	of_day = usecs % USECS_OF_DAY;
	if (of_day < 0) {
		days--;
		of_day += USECS_OF_DAY;
	}
	end = put_day(out, days);
	*end++ = ' ';
	end = put_time_of_day(end, of_day);
	if (has_zone) {
		memcpy(end, "+00:00", 6);
		end += 6;
	}
	return cnc_batch_put(w, out, (size_t)(end - out));
}

static int
put_binary_timestamp(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	return put_stamp(w, value, len, 0);
}

static int
put_binary_timestamptz(struct cnc_batch *w, const uint8_t *value, size_t len)
{
	return put_stamp(w, value, len, 1);
}

static const struct {
	uint32_t oid;
	uint16_t format;
	cnd_pg_put *put;
} puts_of[] = {
	{ CND_PG_OID_BOOL, CND_PG_TEXT, put_bool },
	{ CND_PG_OID_BYTEA, CND_PG_TEXT, put_bytea },
	{ CND_PG_OID_DATE, CND_PG_TEXT, put_date },
	{ CND_PG_OID_TIMETZ, CND_PG_TEXT, put_zoned },
	{ CND_PG_OID_TIMESTAMP, CND_PG_TEXT, put_date },
	{ CND_PG_OID_TIMESTAMPTZ, CND_PG_TEXT, put_zoned },
	{ CND_PG_OID_DATE, CND_PG_BINARY, put_binary_date },
	{ CND_PG_OID_TIMESTAMP, CND_PG_BINARY, put_binary_timestamp },
	{ CND_PG_OID_TIMESTAMPTZ, CND_PG_BINARY, put_binary_timestamptz },
};

cnd_pg_put *
cnd_pg_put_of(uint32_t oid, uint16_t wire_format)
{
	size_t i;

	for (i = 0; i < sizeof(puts_of) / sizeof(puts_of[0]); i++) {
		if (puts_of[i].oid == oid && puts_of[i].format == wire_format)
			return puts_of[i].put;
	}
	return NULL;
}

int
cnd_pg_is_text_enough(const struct cnd_pg_facts *facts)
{
	return facts->is_date_iso;
}

uint16_t
cnd_pg_canonical_format(uint32_t oid, const struct cnd_pg_facts *facts)
{
	switch (oid) {
	case CND_PG_OID_BYTEA:
		return CND_PG_BINARY;
	case CND_PG_OID_DATE:
	case CND_PG_OID_TIMESTAMP:
	case CND_PG_OID_TIMESTAMPTZ:
		return facts->is_date_iso ? CND_PG_TEXT : CND_PG_BINARY;
	default:
		return CND_PG_TEXT;
	}
}

/* ---- To the server ---- */

/*
 * Numbers, booleans and times get the type that a literal of the same value has in SQL. So
 * `$1 + $2`, `int_column > $1` with 2.5, and function calls work as with literals.
 * For text, and for other values that SQL writes in quotes, the server chooses the type, as for a quoted literal.
 * An index on a column of another integer type can still be used.
 */

static int
is_int32(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

static uint32_t
type_of_unsigned(uint64_t v)
{
	if (v <= INT32_MAX)
		return CND_PG_OID_INT4;
	return v <= INT64_MAX ? CND_PG_OID_INT8 : CND_PG_OID_NUMERIC;
}

uint32_t
cnd_pg_param_type(const struct cnc_value *v)
{
	if (v->is_native)
		return v->native_type;
	if (v->is_null)
		return 0;
	switch (v->type) {
	case CENOTE_TYPE_BOOL:
		return CND_PG_OID_BOOL;
	case CENOTE_TYPE_INT64:
		return is_int32(v->as.i64) ? CND_PG_OID_INT4 : CND_PG_OID_INT8;
	case CENOTE_TYPE_UINT64:
		return type_of_unsigned(v->as.u64);
	case CENOTE_TYPE_DOUBLE:
		return CND_PG_OID_FLOAT8;
	case CENOTE_TYPE_DECIMAL:
		return CND_PG_OID_NUMERIC;
	case CENOTE_TYPE_BYTES:
		return CND_PG_OID_BYTEA;
	case CENOTE_TYPE_DATE:
		return CND_PG_OID_DATE;
	case CENOTE_TYPE_TIME:
		return v->as.time.utc_offset_s == CENOTE_NO_OFFSET ? CND_PG_OID_TIME
								   : CND_PG_OID_TIMETZ;
	case CENOTE_TYPE_TIMESTAMP:
		return v->as.timestamp.time.utc_offset_s == CENOTE_NO_OFFSET
			       ? CND_PG_OID_TIMESTAMP
			       : CND_PG_OID_TIMESTAMPTZ;
	default:
		return 0;
	}
}

uint16_t
cnd_pg_param_format(const struct cnc_value *v, uint32_t oid)
{
	if (v->is_native)
		return v->format == CENOTE_FORMAT_BINARY ? CND_PG_BINARY : CND_PG_TEXT;
	/* For a placeholder of another type, the bytes are the text of its value. */
	if (v->type == CENOTE_TYPE_BYTES && (oid == 0 || oid == CND_PG_OID_BYTEA))
		return CND_PG_BINARY;
	return CND_PG_TEXT;
}

/* The server's text has no year 0: a year before 1 is counted from 1 BC. */
static size_t
bc_text(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	struct cnc_value ad = *v;
	cenote_date *d =
		v->type == CENOTE_TYPE_DATE ? &ad.as.date : &ad.as.timestamp.date;
	int year = 1 - d->year;
	char text[CNC_VALUE_TEXT_MAX];

	/* Write all but the year with the help of a leap year, which has every day. */
	d->year = 4;
	(void)cnc_value_text(&ad, text);
	return (size_t)snprintf(out, CNC_VALUE_TEXT_MAX, "%04d%.48s BC", year, text + 4);
}

static int
is_integer(uint32_t oid)
{
	return oid == CND_PG_OID_INT4 || oid == CND_PG_OID_INT8 ||
	       oid == CND_PG_OID_INT2 || oid == CND_PG_OID_OID;
}

static int
is_before_year_1(const struct cnc_value *v)
{
	return (v->type == CENOTE_TYPE_DATE && v->as.date.year < 1) ||
	       (v->type == CENOTE_TYPE_TIMESTAMP && v->as.timestamp.date.year < 1);
}

/* The bytes of a value that is not NULL; `text` is room for them. */
static struct cnp_str
content_of(const struct cnc_value *v, uint32_t oid, char text[CNC_VALUE_TEXT_MAX])
{
	struct cnp_str content = { v->bytes, v->len };
	int64_t whole;

	if (v->is_native)
		return content;
	if (is_before_year_1(v))
		return (struct cnp_str){ text, bc_text(v, text) };
	/* The other types have their text in `bytes`. */
	if (v->type < CENOTE_TYPE_DECIMAL ||
		(v->type >= CENOTE_TYPE_DATE && v->type <= CENOTE_TYPE_TIMESTAMP))
		content = (struct cnp_str){ text, cnc_value_text(v, text) };
	/* The input function of an integer type accepts "5", but not "5.00". */
	if ((v->type == CENOTE_TYPE_DECIMAL || v->type == CENOTE_TYPE_DOUBLE) &&
		is_integer(oid) &&
		cnc_text_int64(content.p, content.n, &whole) == CENOTE_OK)
		content = (struct cnp_str){ text, cnc_int64_text(whole, text) };
	return content;
}

int
cnd_pg_param_put(struct cnc_buf *b, const struct cnc_value *v, uint32_t oid,
	struct cnc_diag *ret_diag)
{
	char text[CNC_VALUE_TEXT_MAX];
	struct cnp_str content = CNP_STR_NONE;
	int is_null = v->is_null || (v->type == CENOTE_TYPE_NULL && !v->is_native);
	uint8_t *room;
	int r;

	if (!is_null)
		content = content_of(v, oid, text);
	if (content.n > CND_PG_MSG_MAX) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(LIMIT),
			"a value of %zu bytes is longer than PostgreSQL takes (1 GB)",
			content.n);
		return CENOTE_ERR_ARG;
	}
	r = cnc_buf_reserve(b, 4 + content.n, &room);
	if (r < 0)
		return r;
	cnd_pg_put_u32(room, is_null ? UINT32_MAX : (uint32_t)content.n);
	if (content.n > 0)
		memcpy(room + 4, content.p, content.n);
	cnc_buf_commit(b, 4 + content.n);
	return CENOTE_OK;
}
