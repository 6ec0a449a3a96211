/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions from the application's buffers to parameters. "Takers" read a C type, "putters" write
 * an SQL type; a text stands between them. param.c and position.c call it. It has no state.
 */
#include "convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "guid.h"
#include "interval.h"
#include "moment.h"
#include "number.h"
#include "types.h"
#include "unicode.h"

/* A value between C type and SQL type: a text, and the structure that it came from. */
struct job {
	const struct cod_source *source;
	enum cod_dialect dialect;
	enum cod_class from;
	const char *text;
	size_t n;
	struct cod_moment moment;
	struct cod_interval interval;
	char *memory; /* holds the text; or NULL */
	char own[COD_NUMBER_TEXT_MAX]; /* holds the text otherwise */
};

static int
is_text(const struct job *j)
{
	return j->from == COD_TEXT || j->from == COD_WIDE;
}

/* ---- from the application ---- */

static const char *
take_text(struct job *j)
{
	const struct cod_source *s = j->source;

	if (!cod_is_length(s->n))
		return "HY090";
	j->text = s->from;
	j->n = s->n == SQL_NTS ? strlen(s->from) : (size_t)s->n;
	return NULL;
}

static const char *
take_wide(struct job *j)
{
	const struct cod_source *s = j->source;

	if (!cod_is_length(s->n))
		return "HY090";
	j->memory = cod_wide_dup(
		s->from, s->n == SQL_NTS ? SQL_NTS : s->n / (SQLLEN)sizeof(SQLWCHAR));
	if (!j->memory)
		return "HY001";
	j->text = j->memory;
	j->n = s->n == SQL_NTS
		       ? strlen(j->memory)
		       : cod_narrow_length(s->from, (size_t)s->n / sizeof(SQLWCHAR));
	return NULL;
}

static const char *
take_bytes(struct job *j)
{
	return j->source->n < 0 ? "HY090" : take_text(j);
}

static const char *
take_bit(struct job *j)
{
	uint8_t value;

	memcpy(&value, j->source->from, 1);
	if (value > 1)
		return "22003";
	j->n = cod_integer_text(value, 0, j->own);
	return NULL;
}

static const char *
take_integer(struct job *j)
{
	const struct cod_integer *type = cod_integer(j->source->c_type);
	union {
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		uint64_t u64;
	} v = { .u64 = 0 };
	unsigned spare = 64 - type->size * 8u;
	uint64_t value;

	memcpy(&v, j->source->from, type->size);
	value = type->size == 1   ? (uint64_t)v.i8
		: type->size == 2 ? (uint64_t)v.i16
		: type->size == 4 ? (uint64_t)v.i32
				  : v.u64;
	if (!type->is_signed)
		j->n = cod_integer_text(value << spare >> spare, 0, j->own);
	else if ((int64_t)value < 0)
		j->n = cod_integer_text(0 - value, 1, j->own);
	else
		j->n = cod_integer_text(value, 0, j->own);
	return NULL;
}

static const char *
take_numeric(struct job *j)
{
	SQL_NUMERIC_STRUCT value;

	memcpy(&value, j->source->from, sizeof(value));
	/* The standard takes the scale from the descriptor, but most programs set the one in the
	 * structure only. */
	if (j->source->scale)
		value.scale = (SQLSCHAR)j->source->scale;
	j->n = cod_struct_text(&value, j->own);
	return NULL;
}

static const char *
take_real(struct job *j)
{
	SQLDOUBLE value;
	SQLREAL narrow;

	if (j->source->c_type == SQL_C_FLOAT) {
		memcpy(&narrow, j->source->from, sizeof(narrow));
		j->n = cod_real_text((double)narrow, 1, j->own);
		return NULL;
	}
	memcpy(&value, j->source->from, sizeof(value));
	j->n = cod_real_text(value, 0, j->own);
	return NULL;
}

static const char *
take_date(struct job *j)
{
	SQL_DATE_STRUCT date;

	memcpy(&date, j->source->from, sizeof(date));
	j->moment.has_date = 1;
	j->moment.at.date = (cenote_date){
		.year = date.year, .month = (uint8_t)date.month, .day = (uint8_t)date.day
	};
	if (date.month > 12 || date.day > 31 || !cod_is_date(&j->moment.at.date))
		return "22007";
	j->n = cod_date_text(&j->moment.at.date, j->own);
	return NULL;
}

/* Convert a part of a time. A number that does not fit into a byte cannot be valid; 255 fails every
 * later check. */
static uint8_t
part(SQLUSMALLINT value)
{
	return value > 255 ? 255 : (uint8_t)value;
}

static const char *
take_time(struct job *j)
{
	SQL_TIME_STRUCT time;

	memcpy(&time, j->source->from, sizeof(time));
	j->moment.has_time = 1;
	j->moment.at.time = (cenote_time){ .hour = part(time.hour),
		.minute = part(time.minute),
		.second = part(time.second),
		.utc_offset_s = CENOTE_NO_OFFSET };
	if (!cod_is_time(&j->moment.at.time))
		return "22007";
	j->n = cod_time_text(&j->moment.at.time, j->own);
	return NULL;
}

static const char *
take_timestamp(struct job *j)
{
	cenote_timestamp *at = &j->moment.at;
	SQL_TIMESTAMP_STRUCT from;

	memcpy(&from, j->source->from, sizeof(from));
	j->moment.has_date = j->moment.has_time = 1;
	at->date = (cenote_date){
		.year = from.year, .month = part(from.month), .day = part(from.day)
	};
	at->time = (cenote_time){ .hour = part(from.hour),
		.minute = part(from.minute),
		.second = part(from.second),
		.nanosecond = from.fraction,
		.utc_offset_s = CENOTE_NO_OFFSET };
	if (!cod_is_date(&at->date) || !cod_is_time(&at->time))
		return "22007";
	j->n = cod_timestamp_text(at, j->own);
	return NULL;
}

static const char *
take_guid(struct job *j)
{
	SQLGUID guid;

	memcpy(&guid, j->source->from, sizeof(guid));
	cod_guid_text(&guid, j->own);
	j->n = COD_GUID_TEXT;
	return NULL;
}

static const char *
take_interval(struct job *j)
{
	SQL_INTERVAL_STRUCT from;

	memcpy(&from, j->source->from, sizeof(from));
	/* The bound type counts, not the one in the structure. */
	from.interval_type = (SQLINTERVAL)(j->source->c_type - 100);
	if (cod_interval_of_struct(&from, &j->interval) < 0)
		return "22007";
	j->n = cod_interval_text(&j->interval, j->source->c_type, j->own);
	return NULL;
}

static const char *(*const takers[COD_N_CLASSES])(struct job *) = {
	[COD_TEXT] = take_text,
	[COD_WIDE] = take_wide,
	[COD_BYTES] = take_bytes,
	[COD_BIT] = take_bit,
	[COD_INTEGER] = take_integer,
	[COD_EXACT] = take_numeric,
	[COD_REAL] = take_real,
	[COD_DATE] = take_date,
	[COD_TIME] = take_time,
	[COD_TIMESTAMP] = take_timestamp,
	[COD_GUID] = take_guid,
	[COD_INTERVAL] = take_interval,
};

/* ---- to the server ---- */

/* Give the text to the parameter, which keeps it in the source's memory or in its own. */
static const char *
keep(struct job *j, int type, struct cod_param *param)
{
	if (j->text == j->own) {
		j->memory = malloc(j->n + 1);
		if (!j->memory)
			return "HY001";
		memcpy(j->memory, j->own, j->n);
		j->text = j->memory;
	}
	param->type = type;
	param->text = j->text;
	param->n = j->n;
	param->memory = j->memory;
	j->memory = NULL;
	return NULL;
}

static const char *
put_text(struct job *j, struct cod_param *param)
{
	return keep(j, CENOTE_TYPE_TEXT, param);
}

static const char *
put_bytes(struct job *j, struct cod_param *param)
{
	char *bytes;

	if (j->from == COD_BYTES)
		return keep(j, CENOTE_TYPE_BYTES, param);
	if (j->n % 2)
		return "22018";
	bytes = malloc(j->n / 2 + 1);
	if (!bytes)
		return "HY001";
	for (size_t i = 0; i < j->n; i += 2) {
		int high = cod_hex_digit(j->text[i]), low = cod_hex_digit(j->text[i + 1]);

		if (high < 0 || low < 0) {
			free(bytes);
			return "22018";
		}
		bytes[i / 2] = (char)(high << 4 | low);
	}
	*param = (struct cod_param){
		.type = CENOTE_TYPE_BYTES, .text = bytes, .n = j->n / 2, .memory = bytes
	};
	return NULL;
}

/* Read a number. An interval counts in units of its single field. */
static const char *
read_number(struct job *j, struct cod_number *ret_number)
{
	if (j->from == COD_INTERVAL) {
		int is_cut;
		uint64_t value =
			cod_interval_number(&j->interval, j->source->c_type, &is_cut);

		j->n = cod_integer_text(value, j->interval.is_negative, j->own);
	}
	return cod_number_read(j->text, j->n, ret_number) < 0 ? "22018" : NULL;
}

/* The SQLSTATE for digits that the SQL type has no room for. */
static const char *
lost_digits(const struct job *j)
{
	return is_text(j) ? "22001" : "22003";
}

/* Whether the number fits into the type, signed or unsigned: only the server knows which the column
 * is. */
static int
fits(SQLSMALLINT sql_type, uint64_t magnitude, int is_negative)
{
	const struct cod_sql_type *type = cod_sql_type(sql_type);
	uint64_t most = UINT64_MAX >> (64 - 8 * type->octets);

	return magnitude <= (is_negative ? most / 2 + 1 : most);
}

static const char *
put_integer(struct job *j, struct cod_param *param)
{
	struct cod_number number;
	const char *state = read_number(j, &number);
	uint64_t magnitude;
	int has_fraction;

	if (state)
		return state;
	if (number.kind != COD_NUMBER_FINITE)
		return "22003";
	if (cod_number_magnitude(&number, &magnitude, &has_fraction) < 0 ||
		!fits(j->source->sql_type, magnitude, number.is_negative))
		return lost_digits(j);
	if (has_fraction && is_text(j))
		return "22001";
	if (magnitude > INT64_MAX && !number.is_negative) {
		param->type = CENOTE_TYPE_UINT64;
		param->as.u = magnitude;
		return NULL;
	}
	param->type = CENOTE_TYPE_INT64;
	param->as.i = (int64_t)(number.is_negative ? 0 - magnitude : magnitude);
	return NULL;
}

static const char *
put_bit(struct job *j, struct cod_param *param)
{
	struct cod_number number;
	const char *state = read_number(j, &number);
	uint64_t magnitude;
	int has_fraction;

	if (state)
		return state;
	if (number.kind != COD_NUMBER_FINITE ||
		cod_number_magnitude(&number, &magnitude, &has_fraction) < 0 ||
		magnitude > 1 || (magnitude == 1 && number.is_negative))
		return "22003";
	if (has_fraction)
		return lost_digits(j);
	param->type = CENOTE_TYPE_BOOL;
	param->as.i = (int64_t)magnitude;
	return NULL;
}

static const char *
put_real(struct job *j, struct cod_param *param)
{
	struct cod_number number;
	const char *state = read_number(j, &number);

	if (state)
		return state;
	param->as.d = cod_number_real(&number);
	if (number.kind == COD_NUMBER_FINITE && isinf(param->as.d))
		return "22003";
	param->type = CENOTE_TYPE_DOUBLE;
	return NULL;
}

/* Send a decimal. ODBC does not require a digit on both sides of the point, but libcenote does. */
static const char *
keep_decimal(struct job *j, struct cod_param *param)
{
	char *out = malloc(j->n + 3);
	size_t n = 0;

	if (!out)
		return "HY001";
	for (size_t i = 0; i < j->n; i++) {
		int is_point = j->text[i] == '.';

		if (j->text[i] == ' ' || (j->text[i] >= '\t' && j->text[i] <= '\r'))
			continue;
		if (is_point && (n == 0 || out[n - 1] < '0'))
			out[n++] = '0';
		out[n++] = j->text[i];
		if (is_point &&
			(i + 1 == j->n || j->text[i + 1] < '0' || j->text[i + 1] > '9'))
			out[n++] = '0';
	}
	*param = (struct cod_param){
		.type = CENOTE_TYPE_DECIMAL, .text = out, .n = n, .memory = out
	};
	return NULL;
}

static const char *
put_exact(struct job *j, struct cod_param *param)
{
	struct cod_number number;
	const char *state = read_number(j, &number);

	if (state)
		return state;
	if (number.kind == COD_NUMBER_FINITE)
		return keep_decimal(j, param);
	/* A numeric of PostgreSQL may be NaN or Infinity, but a decimal of libcenote may not, so send
	 * text. */
	if (j->dialect == COD_DIALECT_POSTGRESQL)
		return keep(j, CENOTE_TYPE_TEXT, param);
	return is_text(j) ? "22018" : "22003";
}

static const char *
read_moment(struct job *j)
{
	if (is_text(j) && cod_moment_read_literal(j->text, j->n, &j->moment) < 0)
		return "22018";
	return NULL;
}

static const char *
put_date(struct job *j, struct cod_param *param)
{
	const char *state = read_moment(j);
	const cenote_time *t = &j->moment.at.time;

	if (state)
		return state;
	if (!j->moment.has_date)
		return "22018";
	if (t->hour || t->minute || t->second || t->nanosecond)
		return "22008";
	param->type = CENOTE_TYPE_DATE;
	param->as.date = j->moment.at.date;
	return NULL;
}

static const char *
put_time(struct job *j, struct cod_param *param)
{
	const char *state = read_moment(j);

	if (state)
		return state;
	if (!j->moment.has_time)
		return "22018";
	param->type = CENOTE_TYPE_TIME;
	param->as.time = j->moment.at.time;
	return NULL;
}

static const char *
put_timestamp(struct job *j, struct cod_param *param)
{
	const char *state = read_moment(j);

	if (state)
		return state;
	if (!j->moment.has_date)
		cod_today(&j->moment.at.date);
	if (!j->moment.has_time)
		j->moment.at.time.utc_offset_s = CENOTE_NO_OFFSET;
	param->type = CENOTE_TYPE_TIMESTAMP;
	param->as.timestamp = j->moment.at;
	return NULL;
}

static const char *
put_guid(struct job *j, struct cod_param *param)
{
	SQLGUID guid;

	if (cod_guid_read(j->text, j->n, &guid) < 0)
		return "22018";
	cod_guid_text(&guid, j->own);
	j->text = j->own;
	j->n = COD_GUID_TEXT;
	free(j->memory);
	j->memory = NULL;
	return keep(j, CENOTE_TYPE_TEXT, param);
}

static const char *
read_interval(struct job *j)
{
	SQLSMALLINT type = j->source->sql_type;
	struct cod_number number;
	uint64_t magnitude;
	int has_fraction;

	if (j->from == COD_INTERVAL)
		return NULL;
	if (is_text(j))
		return cod_interval_read(j->text, j->n, type, &j->interval) < 0 ? "22018"
										: NULL;
	if (cod_number_read(j->text, j->n, &number) < 0 ||
		cod_number_magnitude(&number, &magnitude, &has_fraction) < 0 ||
		cod_interval_of_number(
			magnitude, number.is_negative, type, &j->interval) < 0)
		return "22015";
	return NULL;
}

/* Send an interval. PostgreSQL gets it with units, since it reads 30:45 as hours and minutes,
 * whatever the application meant. */
static const char *
put_interval(struct job *j, struct cod_param *param)
{
	const char *state = read_interval(j);

	if (state)
		return state;
	if (j->dialect == COD_DIALECT_POSTGRESQL)
		j->n = cod_interval_units(&j->interval, j->own);
	else
		j->n = cod_interval_text(&j->interval, j->source->sql_type, j->own);
	j->text = j->own;
	free(j->memory);
	j->memory = NULL;
	return keep(j, CENOTE_TYPE_TEXT, param);
}

static const char *(*const putters[COD_N_CLASSES])(struct job *, struct cod_param *) = {
	[COD_TEXT] = put_text,
	[COD_WIDE] = put_text,
	[COD_BYTES] = put_bytes,
	[COD_BIT] = put_bit,
	[COD_INTEGER] = put_integer,
	[COD_EXACT] = put_exact,
	[COD_REAL] = put_real,
	[COD_DATE] = put_date,
	[COD_TIME] = put_time,
	[COD_TIMESTAMP] = put_timestamp,
	[COD_GUID] = put_guid,
	[COD_INTERVAL] = put_interval,
};

/* Read bytes for a number or a date: they are the structure of its default C type. */
static const char *
read_structure(enum cod_dialect dialect, const struct cod_source *source,
	struct cod_param *ret_param)
{
	struct cod_source s = *source;
	const struct cod_c_type *type;

	s.c_type = cod_default_c_type(source->sql_type, 0);
	type = cod_c_type(s.c_type);
	if (source->n < 0)
		return "HY090";
	if (type->octets && type->octets != source->n)
		return "22003";
	return cod_param_read(dialect, &s, ret_param);
}

const char *
cod_param_read(enum cod_dialect dialect, const struct cod_source *source,
	struct cod_param *ret_param)
{
	struct cod_source s = *source;
	struct job j = { .source = &s, .dialect = dialect };
	enum cod_class to = cod_sql_class(source->sql_type);
	const char *state;

	*ret_param = (struct cod_param){ .type = CENOTE_TYPE_NULL };
	if (to == COD_NO_CLASS)
		return "HY004";
	if (s.c_type == SQL_C_DEFAULT)
		s.c_type = cod_default_c_type(source->sql_type, 0);
	j.from = cod_c_class(s.c_type);
	if (j.from == COD_NO_CLASS)
		return "HY003";
	if (!cod_can_put(s.c_type, source->sql_type))
		return "07006";
	if (j.from == COD_BYTES && to > COD_BYTES)
		return read_structure(dialect, &s, ret_param);
	j.text = j.own;
	state = takers[j.from](&j);
	if (!state)
		state = putters[to](&j, ret_param);
	free(j.memory);
	return state;
}

void
cod_param_finish(struct cod_param *param)
{
	free(param->memory);
	param->memory = NULL;
}

static int
add_param(const struct cod_param *param, cenote_params *params)
{
	switch (param->type) {
	case CENOTE_TYPE_NULL:
		return cenote_params_add_null(params);
	case CENOTE_TYPE_BOOL:
		return cenote_params_add_bool(params, (int)param->as.i);
	case CENOTE_TYPE_INT64:
		return cenote_params_add_int64(params, param->as.i);
	case CENOTE_TYPE_UINT64:
		return cenote_params_add_uint64(params, param->as.u);
	case CENOTE_TYPE_DOUBLE:
		return cenote_params_add_double(params, param->as.d);
	case CENOTE_TYPE_DECIMAL:
		return cenote_params_add_decimal(params, param->text, param->n);
	case CENOTE_TYPE_BYTES:
		return cenote_params_add_bytes(params, param->text, param->n);
	case CENOTE_TYPE_DATE:
		return cenote_params_add_date(params, &param->as.date);
	case CENOTE_TYPE_TIME:
		return cenote_params_add_time(params, &param->as.time);
	case CENOTE_TYPE_TIMESTAMP:
		return cenote_params_add_timestamp(params, &param->as.timestamp);
	default:
		return cenote_params_add_text(params, param->text, param->n);
	}
}

const char *
cod_put(enum cod_dialect dialect, const struct cod_source *source, cenote_params *params)
{
	struct cod_param param;
	const char *state = cod_param_read(dialect, source, &param);
	int r;

	if (state)
		return state;
	r = add_param(&param, params);
	cod_param_finish(&param);
	/* libcenote refuses a number or a date that is out of its range. */
	if (r == CENOTE_ERR_ARG)
		return "22003";
	return r < 0 ? "HY001" : NULL;
}
