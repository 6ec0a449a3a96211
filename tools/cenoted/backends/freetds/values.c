/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One value of each type that ct-library has, as text in canonical form. rows.c calls it. It has no state.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/batch.h"
#include "core/dt.h"

#include "tds.h"

/* The values of ct-library become text: this server has no text form of its own. */

#define TICKS_A_SECOND 10000000u /* of 100 ns */
#define SECONDS_A_DAY  86400
/* Days from 0000-03-01 to 1900-01-01, where this server's days begin. */
#define DAYS_TO_1900   693901

static int
put_bytes(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	(void)c;
	return cnc_batch_put(w, value, n);
}

static int
put_integer(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	char text[CNC_VALUE_TEXT_MAX];
	uint8_t u8;
	int16_t i16;
	int32_t i32;
	int64_t i64 = 0;

	(void)c;
	if (n == sizeof(u8)) { /* tinyint is the only type without a sign */
		memcpy(&u8, value, n);
		i64 = u8;
	} else if (n == sizeof(i16)) {
		memcpy(&i16, value, n);
		i64 = i16;
	} else if (n == sizeof(i32)) {
		memcpy(&i32, value, n);
		i64 = i32;
	} else {
		memcpy(&i64, value, sizeof(i64));
	}
	return cnc_batch_put(w, text, cnc_int64_text(i64, text));
}

/* The unsigned integers of Sybase. */
static int
put_unsigned(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	char text[CNC_VALUE_TEXT_MAX];
	uint64_t u64 = 0;

	(void)c;
	/* little-endian machines copy the bytes as they are; on others the bytes are put in place */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	memcpy((char *)&u64 + sizeof(u64) - n, value, n);
#else
	memcpy(&u64, value, n);
#endif
	return cnc_batch_put(w, text, cnc_uint64_text(u64, text));
}

static int
put_double(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	char text[CNC_VALUE_TEXT_MAX];
	double v;

	(void)c;
	(void)n;
	memcpy(&v, value, sizeof(v));
	return cnc_batch_put(w, text, cnc_double_text(v, text));
}

/* The shortest text that reads back as the same float. */
static int
put_float(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	char text[CNC_VALUE_TEXT_MAX];
	int digits;
	double v;
	float f;

	(void)c;
	(void)n;
	memcpy(&f, value, sizeof(f));
	v = (double)f;
	for (digits = FLT_DIG; isfinite(f) && digits <= FLT_DECIMAL_DIG; digits++) {
		(void)snprintf(text, sizeof(text), "%.*e", digits - 1, (double)f);
		v = strtod(text, NULL);
		if ((float)v == f)
			break;
	}
	return cnc_batch_put(w, text, cnc_double_text(v, text));
}

/* Always four digits after the point. */
static int
put_ten_thousandths(struct cnc_batch *w, int64_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char text[CNC_VALUE_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "%s%llu.%04u", v < 0 ? "-" : "",
		(unsigned long long)(u / 10000), (unsigned)(u % 10000));

	return cnc_batch_put(w, text, (size_t)n);
}

static int
put_money(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	CS_MONEY money;

	(void)c;
	(void)n;
	memcpy(&money, value, sizeof(money));
	return put_ten_thousandths(
		w, (int64_t)((uint64_t)(uint32_t)money.mnyhigh << 32 | money.mnylow));
}

static int
put_money4(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	CS_MONEY4 money;

	(void)c;
	(void)n;
	memcpy(&money, value, sizeof(money));
	return put_ten_thousandths(w, money.mny4);
}

/* The first three parts are numbers in the byte order of the machine. */
static int
put_uuid(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	const uint8_t *b = value;
	char text[CNC_VALUE_TEXT_MAX];
	uint32_t first;
	uint16_t second, third;

	(void)c;
	(void)n;
	memcpy(&first, b, 4);
	memcpy(&second, b + 4, 2);
	memcpy(&third, b + 6, 2);
	(void)snprintf(text, sizeof(text),
		"%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", (unsigned)first,
		second, third, b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	return cnc_batch_put(w, text, 36);
}

/* ---- dates and times ---- */

/* Years here begin on 1 March, so that the leap day is the last one. */
static cenote_date
date_of(int32_t since_1900)
{
	int64_t days = (int64_t)since_1900 + DAYS_TO_1900;
	int64_t era = days / 146097, of_era = days % 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;
	cenote_date d = { .day = (uint8_t)(of_year - (153 * month + 2) / 5 + 1),
		.month = (uint8_t)(month < 10 ? month + 3 : month - 9),
		.year = (int32_t)(year + era * 400 + (month >= 10)) };

	return d;
}

static cenote_time
time_of(uint64_t ticks)
{
	uint64_t seconds = ticks / TICKS_A_SECOND;
	cenote_time t = { .hour = (uint8_t)(seconds / 3600),
		.minute = (uint8_t)(seconds / 60 % 60),
		.second = (uint8_t)(seconds % 60),
		.nanosecond = (uint32_t)(ticks % TICKS_A_SECOND) * 100,
		.utc_offset_s = CENOTE_NO_OFFSET };

	return t;
}

/* Nobody has checked what the server sent, so it may not be a valid date. */
static int
put_time_of(struct cnc_batch *w, const cenote_time *t)
{
	char text[CNC_DT_TEXT_MAX];

	if (!cnc_time_is_valid(t))
		return CENOTE_ERR_PROTOCOL;
	return cnc_batch_put(w, text, cnc_time_text(t, text));
}

static int
put_timestamp_of(struct cnc_batch *w, const cenote_timestamp *ts)
{
	char text[CNC_DT_TEXT_MAX];

	if (!cnc_date_is_valid(&ts->date) || !cnc_time_is_valid(&ts->time))
		return CENOTE_ERR_PROTOCOL;
	return cnc_batch_put(w, text, cnc_timestamp_text(ts, text));
}

static int
put_date_of(struct cnc_batch *w, int32_t days)
{
	cenote_date d = date_of(days);
	char text[CNC_DT_TEXT_MAX];

	if (!cnc_date_is_valid(&d))
		return CENOTE_ERR_PROTOCOL;
	return cnc_batch_put(w, text, cnc_date_text(&d, text));
}

/* The server counts in 300ths of a second. */
static int
put_datetime(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	CS_DATETIME v;
	cenote_timestamp ts;
	uint64_t ms;

	(void)c;
	(void)n;
	memcpy(&v, value, sizeof(v));
	ms = ((uint64_t)(uint32_t)v.dttime * 1000 + 150) / 300;
	ts = (cenote_timestamp){ date_of(v.dtdays), time_of(ms * 10000) };
	return put_timestamp_of(w, &ts);
}

static int
put_datetime4(
	struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	CS_DATETIME4 v;
	cenote_timestamp ts;

	(void)c;
	(void)n;
	memcpy(&v, value, sizeof(v));
	ts = (cenote_timestamp){ date_of(v.days),
		time_of((uint64_t)v.minutes * 60 * TICKS_A_SECOND) };
	return put_timestamp_of(w, &ts);
}

/*
 * How FreeTDS keeps a date, time, datetime2 or datetimeoffset, and gives it to dblib's programs
 * (DBDATETIMEALL of sybdb.h, which cannot be included beside ctpublic.h). A bound variable gets
 * only microseconds, and no offset.
 */
struct datetime_all {
	uint64_t time; /* in 100 ns */
	int32_t date; /* days since 1900 */
	int16_t offset; /* minutes; with an offset, `time` and `date` are UTC */
	uint16_t flags;
};

_Static_assert(sizeof(struct datetime_all) == 16, "as DBDATETIMEALL");

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HAS_OFFSET 0x0001u
#else
#define HAS_OFFSET 0x8000u
#endif

static void
to_local(struct datetime_all *v)
{
	int64_t seconds = (int64_t)(v->time / TICKS_A_SECOND) + (int64_t)v->offset * 60;

	if (seconds < 0) {
		seconds += SECONDS_A_DAY;
		v->date--;
	} else if (seconds >= SECONDS_A_DAY) {
		seconds -= SECONDS_A_DAY;
		v->date++;
	}
	v->time = (uint64_t)seconds * TICKS_A_SECOND + v->time % TICKS_A_SECOND;
}

/* A time of Sybase: microseconds since the year 0. */
static int
put_microseconds(struct cnc_batch *w, const struct cnp_column *c, const void *value)
{
	const uint64_t of_day = (uint64_t)SECONDS_A_DAY * 1000000;
	cenote_timestamp ts;
	uint64_t us;

	memcpy(&us, value, sizeof(us));
	/* day 0 of Sybase is 0000-01-01, 60 days before our own day 0 */
	ts.date = date_of((int32_t)((int64_t)(us / of_day) - 60 - DAYS_TO_1900));
	ts.time = time_of(us % of_day * 10);
	return c->type == CENOTE_TYPE_TIME ? put_time_of(w, &ts.time)
					   : put_timestamp_of(w, &ts);
}

static int
put_all(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	struct datetime_all v;
	cenote_timestamp ts;

	if (n == sizeof(uint64_t))
		return put_microseconds(w, c, value);
	if (n != sizeof(v))
		return CENOTE_ERR_PROTOCOL;
	memcpy(&v, value, sizeof(v));
	if (v.date == INT32_MIN || v.date == INT32_MAX)
		return CENOTE_ERR_PROTOCOL;
	if (v.flags & HAS_OFFSET)
		to_local(&v);
	ts = (cenote_timestamp){ date_of(v.date), time_of(v.time) };
	if (v.flags & HAS_OFFSET)
		ts.time.utc_offset_s = v.offset * 60;
	return c->type == CENOTE_TYPE_TIME ? put_time_of(w, &ts.time)
					   : put_timestamp_of(w, &ts);
}

static int
put_date(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	struct datetime_all v;
	int32_t days;

	(void)c;
	if (n == sizeof(v)) {
		memcpy(&v, value, sizeof(v));
		return put_date_of(w, v.date);
	}
	if (n != sizeof(days))
		return CENOTE_ERR_PROTOCOL;
	memcpy(&days, value, sizeof(days));
	return put_date_of(w, days);
}

static int
put_time(struct cnc_batch *w, const struct cnp_column *c, const void *value, size_t n)
{
	CS_INT v;
	cenote_time t;

	(void)c;
	(void)n;
	memcpy(&v, value, sizeof(v));
	t = time_of(((uint64_t)(uint32_t)v * 1000 + 150) / 300 * 10000);
	return put_time_of(w, &t);
}

/* ---- the types ---- */

#define DECIMAL_TEXT 128

/* By CS_..._TYPE. `size` 0: as long as the column; -1: taken as the library keeps it (rows.c). */
static const struct cnd_tds_kind kinds[] = {
	{ CS_CHAR_TYPE, CENOTE_TYPE_TEXT, "varchar", CS_CHAR_TYPE, 0, put_bytes },
	{ CS_BINARY_TYPE, CENOTE_TYPE_BYTES, "varbinary", CS_BINARY_TYPE, 0, put_bytes },
	{ CS_LONGCHAR_TYPE, CENOTE_TYPE_TEXT, "varchar", CS_CHAR_TYPE, 0, put_bytes },
	{ CS_LONGBINARY_TYPE, CENOTE_TYPE_BYTES, "varbinary", CS_LONGBINARY_TYPE, 0,
		put_bytes },
	{ CS_TEXT_TYPE, CENOTE_TYPE_TEXT, "text", CS_TEXT_TYPE, 0, put_bytes },
	{ CS_IMAGE_TYPE, CENOTE_TYPE_BYTES, "image", CS_IMAGE_TYPE, 0, put_bytes },
	{ CS_TINYINT_TYPE, CENOTE_TYPE_INT64, "tinyint", CS_TINYINT_TYPE, 1,
		put_integer },
	{ CS_SMALLINT_TYPE, CENOTE_TYPE_INT64, "smallint", CS_SMALLINT_TYPE, 2,
		put_integer },
	{ CS_INT_TYPE, CENOTE_TYPE_INT64, "int", CS_INT_TYPE, 4, put_integer },
	{ CS_REAL_TYPE, CENOTE_TYPE_DOUBLE, "real", CS_REAL_TYPE, 4, put_float },
	{ CS_FLOAT_TYPE, CENOTE_TYPE_DOUBLE, "float", CS_FLOAT_TYPE, 8, put_double },
	{ CS_BIT_TYPE, CENOTE_TYPE_BOOL, "bit", CS_BIT_TYPE, 1, put_integer },
	{ CS_DATETIME_TYPE, CENOTE_TYPE_TIMESTAMP, "datetime", CS_DATETIME_TYPE, 8,
		put_datetime },
	{ CS_DATETIME4_TYPE, CENOTE_TYPE_TIMESTAMP, "smalldatetime", CS_DATETIME4_TYPE, 4,
		put_datetime4 },
	{ CS_MONEY_TYPE, CENOTE_TYPE_DECIMAL, "money", CS_MONEY_TYPE, 8, put_money },
	{ CS_MONEY4_TYPE, CENOTE_TYPE_DECIMAL, "smallmoney", CS_MONEY4_TYPE, 4,
		put_money4 },
	{ CS_NUMERIC_TYPE, CENOTE_TYPE_DECIMAL, "numeric", CS_CHAR_TYPE, DECIMAL_TEXT,
		put_bytes },
	{ CS_DECIMAL_TYPE, CENOTE_TYPE_DECIMAL, "decimal", CS_CHAR_TYPE, DECIMAL_TEXT,
		put_bytes },
	{ CS_VARCHAR_TYPE, CENOTE_TYPE_TEXT, "varchar", CS_CHAR_TYPE, 0, put_bytes },
	{ CS_VARBINARY_TYPE, CENOTE_TYPE_BYTES, "varbinary", CS_BINARY_TYPE, 0,
		put_bytes },
	{ CS_UNICHAR_TYPE, CENOTE_TYPE_TEXT, "univarchar", CS_CHAR_TYPE, 0, put_bytes },
	{ CS_DATE_TYPE, CENOTE_TYPE_DATE, "date", CS_DATE_TYPE, -1, put_date },
	{ CS_TIME_TYPE, CENOTE_TYPE_TIME, "time", CS_TIME_TYPE, 4, put_time },
	{ CS_BIGINT_TYPE, CENOTE_TYPE_INT64, "bigint", CS_BIGINT_TYPE, 8, put_integer },
	{ CS_USMALLINT_TYPE, CENOTE_TYPE_UINT64, "unsigned smallint", CS_USMALLINT_TYPE,
		2, put_unsigned },
	{ CS_UINT_TYPE, CENOTE_TYPE_UINT64, "unsigned int", CS_UINT_TYPE, 4,
		put_unsigned },
	{ CS_UBIGINT_TYPE, CENOTE_TYPE_UINT64, "unsigned bigint", CS_UBIGINT_TYPE, 8,
		put_unsigned },
	{ CS_XML_TYPE, CENOTE_TYPE_TEXT, "xml", CS_TEXT_TYPE, 0, put_bytes },
	{ CS_BIGDATETIME_TYPE, CENOTE_TYPE_TIMESTAMP, "datetime2", CS_BIGDATETIME_TYPE,
		-1, put_all },
	{ CS_BIGTIME_TYPE, CENOTE_TYPE_TIME, "time", CS_BIGTIME_TYPE, -1, put_all },
	{ CS_UNIQUE_TYPE, CENOTE_TYPE_UUID, "uniqueidentifier", CS_UNIQUE_TYPE, 16,
		put_uuid },
};

const struct cnd_tds_kind *
cnd_tds_kind(CS_INT datatype)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].datatype == datatype)
			return &kinds[i];
	}
	return NULL;
}
