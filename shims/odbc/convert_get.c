/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions from fetched values to the application's buffers. Each class of C types has a
 * function that writes it. fetch.c, getdata.c and param.c call it. It has no state.
 */
#include "convert.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "classes.h"
#include "guid.h"
#include "interval.h"
#include "moment.h"
#include "number.h"
#include "types.h"
#include "unicode.h"

struct job {
	const struct cod_value *value;
	const struct cod_target *target;
	struct cod_piece *piece; /* the caller's, or a local one */
	enum cod_class from;
	SQLSMALLINT c_type; /* never SQL_C_DEFAULT */
	int is_bound; /* a bound column: write the whole value at once */
};

/* Report the value's length, and that it is not NULL. */
static void
tell_length(const struct job *j, size_t n)
{
	if (j->target->octets)
		*j->target->octets = (SQLLEN)n;
	if (j->target->indicator && j->target->indicator != j->target->octets)
		*j->target->indicator = 0;
}

static void
store(const struct job *j, const void *from, size_t n)
{
	if (j->target->to)
		memcpy(j->target->to, from, n);
	tell_length(j, n);
	j->piece->is_done = 1;
}

static int
is_text(const struct job *j)
{
	return j->from == COD_TEXT || j->from == COD_WIDE;
}

/* The SQLSTATE for a value that does not have its type's form, or for a text that does not have the
 * wanted one. */
static const char *
bad_form(const struct job *j)
{
	return is_text(j) ? "22018" : "22007";
}

/* ---- texts and bytes, in pieces ---- */

/* The least number of characters that the buffer must hold. A number may lose only digits after its
 * point, a date only the fraction of its seconds. */
static size_t
least_of(const struct job *j)
{
	size_t n = j->value->n;
	const char *p = j->value->bytes;
	const char *point = memchr(p, '.', n);

	if (is_text(j) || j->from == COD_BYTES)
		return 0;
	if (point && !memchr(p, 'e', n) && !memchr(p, 'E', n) && j->from != COD_GUID)
		return (size_t)(point - p);
	return n;
}

/* Whether the buffer cannot hold even the least. With a room of 0, an application only asks for the
 * length. */
static int
is_too_short(const struct job *j, size_t room, size_t length)
{
	return j->piece->offset == 0 && j->target->to && room > 0 && room <= length &&
	       room <= least_of(j);
}

static const char *
cut_or_done(const struct job *j, size_t given, int is_whole)
{
	j->piece->offset += given;
	j->piece->is_begun = 1;
	j->piece->is_done = is_whole;
	return is_whole ? NULL : "01004";
}

/* Whether not even one character fits, although there is room: SQLGetData() would never come to an
 * end. */
static int
is_stuck(const struct job *j, size_t room, size_t fits, size_t left)
{
	return !j->is_bound && room > 1 && fits == 0 && left > 0;
}

static const char *
get_text(const struct job *j)
{
	const char *p = j->value->bytes + j->piece->offset;
	size_t left = j->value->n - j->piece->offset, room = (size_t)j->target->room;
	char *to = j->target->to;
	size_t fits;

	if (is_too_short(j, room, left))
		return "22003";
	fits = room > 0 ? cod_fit(p, left, room - 1) : 0;
	if (to && is_stuck(j, room, fits, left))
		return "HY090";
	tell_length(j, left);
	if (!to)
		return cut_or_done(j, j->is_bound ? left : 0, j->is_bound);
	if (room == 0)
		return cut_or_done(j, 0, 0);
	memcpy(to, p, fits);
	to[fits] = 0;
	return cut_or_done(j, fits, fits == left);
}

static const char *
get_wide(const struct job *j)
{
	const char *p = j->value->bytes + j->piece->offset;
	size_t n = j->value->n - j->piece->offset;
	size_t room = (size_t)j->target->room / sizeof(SQLWCHAR);
	size_t left = j->piece->offset > 0 ? j->piece->left : cod_wide_length(p, n);
	SQLWCHAR *to = j->target->to;
	size_t fits = 0, units = 0;

	if (is_too_short(j, room, left))
		return "22003";
	if (to && room > 0)
		fits = cod_wide_fit(p, n, room - 1, &units);
	if (to && is_stuck(j, room, fits, n))
		return "HY090";
	tell_length(j, left * sizeof(SQLWCHAR));
	if (!to)
		return cut_or_done(j, j->is_bound ? n : 0, j->is_bound);
	if (room == 0)
		return cut_or_done(j, 0, 0);
	(void)cod_wide(p, fits, to);
	to[units] = 0;
	j->piece->left = left - units;
	return cut_or_done(j, fits, fits == n);
}

/* Write two hexadecimal digits for each byte, as characters of `unit` bytes. */
static const char *
get_hex(const struct job *j, size_t unit)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *p = (const unsigned char *)j->value->bytes;
	size_t n = j->value->n - j->piece->offset;
	size_t room = (size_t)j->target->room / unit,
	       fits = room > 0 ? (room - 1) / 2 : 0;
	char *to = j->target->to;

	if (to && is_stuck(j, room, fits, n))
		return "HY090";
	tell_length(j, n * 2 * unit);
	if (!to)
		return cut_or_done(j, j->is_bound ? n : 0, j->is_bound);
	if (room == 0)
		return cut_or_done(j, 0, 0);
	if (fits > n)
		fits = n;
	p += j->piece->offset;
	for (size_t i = 0; i <= 2 * fits; i++) {
		SQLWCHAR c = 0;

		if (i < 2 * fits)
			c = (SQLWCHAR)digits[i % 2 ? p[i / 2] & 15 : p[i / 2] >> 4];
		if (unit == 1)
			to[i] = (char)c;
		else
			memcpy(to + i * unit, &c, unit);
	}
	return cut_or_done(j, fits, fits == n);
}

static const char *
get_narrow(const struct job *j)
{
	return j->from == COD_BYTES ? get_hex(j, 1) : get_text(j);
}

static const char *
get_wide_or_hex(const struct job *j)
{
	return j->from == COD_BYTES ? get_hex(j, sizeof(SQLWCHAR)) : get_wide(j);
}

/* Write the bytes of a value that is neither text nor bytes: those of its structure. */
static const char *
get_structure_bytes(const struct job *j)
{
	union {
		SQL_INTERVAL_STRUCT interval;
		SQL_TIMESTAMP_STRUCT timestamp;
		char bytes[64];
	} structure;
	const struct cod_value *v = j->value;
	SQLLEN n = 0;
	struct cod_target own = { .c_type =
					  cod_default_c_type(v->sql_type, v->is_unsigned),
		.to = &structure,
		.room = sizeof(structure),
		.octets = &n,
		.indicator = &n };
	const char *state;

	state = cod_get(v, &own, NULL);
	if (state && strncmp(state, "01", 2) != 0)
		return state;
	if (j->target->to && j->target->room < n)
		return "22003";
	store(j, &structure, (size_t)n);
	return state;
}

static const char *
get_bytes(const struct job *j)
{
	size_t left = j->value->n - j->piece->offset, fits = (size_t)j->target->room;

	if (!is_text(j) && j->from != COD_BYTES && j->from != COD_EXACT)
		return get_structure_bytes(j);
	tell_length(j, left);
	if (!j->target->to)
		return cut_or_done(j, j->is_bound ? left : 0, j->is_bound);
	if (fits > left)
		fits = left;
	memcpy(j->target->to, j->value->bytes + j->piece->offset, fits);
	return cut_or_done(j, fits, fits == left);
}

/* ---- numbers ---- */

static const char *
read_number(const struct job *j, struct cod_number *ret_number)
{
	const struct cod_value *v = j->value;

	if (cod_number_read(v->bytes, v->n, ret_number) < 0)
		return j->from == COD_INTERVAL || is_text(j) ? "22018" : "22003";
	return NULL;
}

/* Read a whole number and its sign. "01S07": digits after the point were cut. */
static const char *
read_whole(const struct job *j, uint64_t *ret_magnitude, int *ret_is_negative)
{
	struct cod_number number;
	struct cod_interval interval;
	int is_cut;
	const char *state;

	if (j->from == COD_INTERVAL) {
		if (cod_interval_read(j->value->bytes, j->value->n, j->value->sql_type,
			    &interval) < 0)
			return "22018";
		*ret_is_negative = interval.is_negative;
		*ret_magnitude =
			cod_interval_number(&interval, j->value->sql_type, &is_cut);
		return is_cut ? "01S07" : NULL;
	}
	state = read_number(j, &number);
	if (state)
		return state;
	if (number.kind != COD_NUMBER_FINITE ||
		cod_number_magnitude(&number, ret_magnitude, &is_cut) < 0)
		return "22003";
	*ret_is_negative = number.is_negative;
	return is_cut ? "01S07" : NULL;
}

static int
is_error(const char *state)
{
	return state && state[1] != '1';
}

static const char *
get_integer(const struct job *j)
{
	const struct cod_integer *type = cod_integer(j->c_type);
	unsigned bits = type->size * 8u;
	uint64_t most = UINT64_MAX >> (64 - bits), value = 0;
	int is_negative = 0;
	const char *state = read_whole(j, &value, &is_negative);

	if (is_error(state))
		return state;
	if (type->is_signed)
		most = (most >> 1) + (uint64_t)is_negative;
	if (value > most || (!type->is_signed && is_negative && value > 0))
		return "22003";
	if (is_negative)
		value = 0 - value;
	switch (type->size) {
	case 1:
		store(j, &(uint8_t){ (uint8_t)value }, 1);
		break;
	case 2:
		store(j, &(uint16_t){ (uint16_t)value }, 2);
		break;
	case 4:
		store(j, &(uint32_t){ (uint32_t)value }, 4);
		break;
	default:
		store(j, &value, 8);
		break;
	}
	return state;
}

static const char *
get_bit(const struct job *j)
{
	uint64_t value = 0;
	int is_negative = 0;
	const char *state = read_whole(j, &value, &is_negative);

	if (is_error(state))
		return state;
	if (value > 1 || (is_negative && (value > 0 || state)))
		return "22003";
	store(j, &(uint8_t){ (uint8_t)value }, 1);
	return state;
}

static const char *
get_real(const struct job *j)
{
	struct cod_number number;
	const char *state = read_number(j, &number);
	double value;

	if (state)
		return state;
	value = cod_number_real(&number);
	if (number.kind == COD_NUMBER_FINITE && isinf(value))
		return "22003";
	if (j->c_type == SQL_C_DOUBLE) {
		store(j, &(SQLDOUBLE){ value }, sizeof(SQLDOUBLE));
		return NULL;
	}
	if (number.kind == COD_NUMBER_FINITE && fabs(value) > (double)FLT_MAX)
		return "22003";
	store(j, &(SQLREAL){ (SQLREAL)value }, sizeof(SQLREAL));
	return NULL;
}

/* Read an exact number. An interval becomes a text first, which the number points into. */
static const char *
read_exact(const struct job *j, char *text, struct cod_number *ret_number)
{
	uint64_t magnitude = 0;
	int is_negative = 0;
	const char *state;

	if (j->from != COD_INTERVAL)
		return read_number(j, ret_number);
	state = read_whole(j, &magnitude, &is_negative);
	if (!is_error(state))
		(void)cod_number_read(
			text, cod_integer_text(magnitude, is_negative, text), ret_number);
	return state;
}

static const char *
get_numeric(const struct job *j)
{
	const struct cod_target *t = j->target;
	SQL_NUMERIC_STRUCT value;
	struct cod_number number;
	char text[COD_NUMBER_TEXT_MAX];
	const char *state = read_exact(j, text, &number);
	int is_cut;

	if (is_error(state))
		return state;
	if (cod_number_struct(&number, (SQLCHAR)t->precision, (SQLSCHAR)t->scale, &value,
		    &is_cut) < 0)
		return "22003";
	store(j, &value, sizeof(value));
	return is_cut ? "01S07" : state;
}

/* ---- dates, times, intervals, GUIDs ---- */

static const char *
read_moment(const struct job *j, struct cod_moment *ret_moment)
{
	const struct cod_value *v = j->value;

	if (cod_moment_read(v->bytes, v->n, ret_moment) < 0)
		return bad_form(j);
	return NULL;
}

static const char *
get_date(const struct job *j)
{
	struct cod_moment m;
	const char *state = read_moment(j, &m);
	const cenote_time *t = &m.at.time;
	SQL_DATE_STRUCT date;

	if (state)
		return state;
	if (!m.has_date)
		return bad_form(j);
	if (m.at.date.year < SHRT_MIN || m.at.date.year > SHRT_MAX)
		return "22003";
	date.year = (SQLSMALLINT)m.at.date.year;
	date.month = m.at.date.month;
	date.day = m.at.date.day;
	store(j, &date, sizeof(date));
	return t->hour || t->minute || t->second || t->nanosecond ? "01S07" : NULL;
}

static const char *
get_time(const struct job *j)
{
	struct cod_moment m;
	const char *state = read_moment(j, &m);
	SQL_TIME_STRUCT time;

	if (state)
		return state;
	if (!m.has_time)
		return bad_form(j);
	time.hour = m.at.time.hour;
	time.minute = m.at.time.minute;
	time.second = m.at.time.second;
	store(j, &time, sizeof(time));
	return m.at.time.nanosecond ? "01S07" : NULL;
}

static const char *
get_timestamp(const struct job *j)
{
	struct cod_moment m;
	const char *state = read_moment(j, &m);
	SQL_TIMESTAMP_STRUCT at;

	if (state)
		return state;
	if (!m.has_date)
		cod_today(&m.at.date);
	if (m.at.date.year < SHRT_MIN || m.at.date.year > SHRT_MAX)
		return "22003";
	at.year = (SQLSMALLINT)m.at.date.year;
	at.month = m.at.date.month;
	at.day = m.at.date.day;
	at.hour = m.at.time.hour;
	at.minute = m.at.time.minute;
	at.second = m.at.time.second;
	at.fraction = m.at.time.nanosecond;
	store(j, &at, sizeof(at));
	return NULL;
}

static const char *
get_guid(const struct job *j)
{
	SQLGUID guid;

	if (cod_guid_read(j->value->bytes, j->value->n, &guid) < 0)
		return "22018";
	store(j, &guid, sizeof(guid));
	return NULL;
}

static const char *
read_interval(const struct job *j, struct cod_interval *ret_interval)
{
	const struct cod_value *v = j->value;
	SQLSMALLINT type = j->c_type;
	uint64_t magnitude = 0;
	int is_negative = 0;
	const char *state;

	if (j->from == COD_INTERVAL)
		type = v->sql_type;
	if (is_text(j) || j->from == COD_INTERVAL)
		return cod_interval_read(v->bytes, v->n, type, ret_interval) < 0 ? "22018"
										 : NULL;
	state = read_whole(j, &magnitude, &is_negative);
	if (is_error(state))
		return state;
	if (cod_interval_of_number(magnitude, is_negative, type, ret_interval) < 0)
		return "22015";
	return state;
}

static const char *
get_interval(const struct job *j)
{
	const struct cod_target *t = j->target;
	struct cod_interval interval;
	SQL_INTERVAL_STRUCT value;
	SQLSMALLINT precision = t->precision;
	const char *state = read_interval(j, &interval), *cut;

	if (is_error(state))
		return state;
	if (precision <= 0)
		precision = 6;
	cut = cod_interval_struct(&interval, j->c_type, t->leading, precision, &value);
	if (is_error(cut))
		return cut;
	store(j, &value, sizeof(value));
	return cut ? cut : state;
}

/* ---- all of them ---- */

static const char *(*const getters[COD_N_CLASSES])(const struct job *) = {
	[COD_TEXT] = get_narrow,
	[COD_WIDE] = get_wide_or_hex,
	[COD_BYTES] = get_bytes,
	[COD_BIT] = get_bit,
	[COD_INTEGER] = get_integer,
	[COD_EXACT] = get_numeric,
	[COD_REAL] = get_real,
	[COD_DATE] = get_date,
	[COD_TIME] = get_time,
	[COD_TIMESTAMP] = get_timestamp,
	[COD_GUID] = get_guid,
	[COD_INTERVAL] = get_interval,
};

static const char *
get_null(const struct cod_target *target, struct cod_piece *piece)
{
	if (!target->indicator)
		return "22002";
	*target->indicator = SQL_NULL_DATA;
	piece->is_done = 1;
	return NULL;
}

/* Make the text of a GUID upper case, as ODBC programs expect. */
static void
raise_guid(const struct cod_value *value, char *text, struct cod_value *ret_value)
{
	SQLGUID guid;

	*ret_value = *value;
	if (value->n != COD_GUID_TEXT || cod_guid_read(value->bytes, value->n, &guid) < 0)
		return;
	for (size_t i = 0; i < COD_GUID_TEXT; i++) {
		char c = value->bytes[i];

		text[i] = (char)(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
	}
	ret_value->bytes = text;
}

const char *
cod_get(const struct cod_value *value, const struct cod_target *target,
	struct cod_piece *piece)
{
	char guid[COD_GUID_TEXT];
	struct cod_value raised;
	struct cod_piece own = { 0 };
	struct job j = { .value = value,
		.target = target,
		.piece = piece ? piece : &own,
		.from = cod_sql_class(value->sql_type),
		.c_type = target->c_type,
		.is_bound = !piece };
	enum cod_class to;

	if (j.c_type == SQL_C_DEFAULT)
		j.c_type = cod_default_c_type(value->sql_type, value->is_unsigned);
	to = cod_c_class(j.c_type);
	if (to == COD_NO_CLASS)
		return "HY003";
	if (!cod_can_get(value->sql_type, j.c_type))
		return "07006";
	if (!value->bytes)
		return get_null(target, j.piece);
	if (to <= COD_BYTES && target->room < 0)
		return "HY090";
	if (j.from == COD_GUID && to <= COD_WIDE) {
		raise_guid(value, guid, &raised);
		j.value = &raised;
	}
	return getters[to](&j);
}

const char *
cod_get_bookmark(uint64_t number, const struct cod_target *target)
{
	const struct cod_value bytes = { (const char *)&number, COD_BOOKMARK_SIZE,
		CENOTE_TYPE_BYTES, SQL_VARBINARY, 0 };
	struct cod_target t = *target;

	t.c_type = SQL_C_BINARY;
	if (target->c_type != SQL_C_BOOKMARK)
		return cod_get(&bytes, &t, NULL);
	if (t.to)
		memcpy(t.to, &(SQLULEN){ (SQLULEN)number }, sizeof(SQLULEN));
	if (t.octets)
		*t.octets = sizeof(SQLULEN);
	return NULL;
}

int
cod_read_bookmark(const void *from, SQLLEN n, SQLSMALLINT c_type, uint64_t *ret_number)
{
	SQLULEN number;

	if (c_type == SQL_C_BOOKMARK) {
		memcpy(&number, from, sizeof(number));
		*ret_number = number;
		return 0;
	}
	if (n != COD_BOOKMARK_SIZE)
		return -1;
	memcpy(ret_number, from, COD_BOOKMARK_SIZE);
	return 0;
}
