/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_WIRE_H
#define CPQ_DIALECT_WIRE_H

#include <cenote/cenote.h>

#include "../expbuffer.h"

/*
 * PostgreSQL's binary forms of values, which other servers do not have: big-endian numbers, days
 * and microseconds since 2000, and numeric as digits of base 10,000.
 */

/* PostgreSQL's numbers (OIDs) of the types that programs get. */
enum cpq_oid {
	CPQ_BOOL = 16,
	CPQ_BYTEA = 17,
	CPQ_CHAR = 18,
	CPQ_NAME = 19,
	CPQ_INT8 = 20,
	CPQ_INT2 = 21,
	CPQ_INT4 = 23,
	CPQ_TEXT = 25,
	CPQ_OID = 26,
	CPQ_JSON = 114,
	CPQ_XML = 142,
	CPQ_FLOAT4 = 700,
	CPQ_FLOAT8 = 701,
	CPQ_UNKNOWN = 705,
	CPQ_BPCHAR = 1042,
	CPQ_VARCHAR = 1043,
	CPQ_DATE = 1082,
	CPQ_TIME = 1083,
	CPQ_TIMESTAMP = 1114,
	CPQ_TIMESTAMPTZ = 1184,
	CPQ_INTERVAL = 1186,
	CPQ_TIMETZ = 1266,
	CPQ_NUMERIC = 1700,
	CPQ_UUID = 2950,
	CPQ_JSONB = 3802
};

/* How a conversion ended. */
enum cpq_outcome {
	CPQ_DONE,
	CPQ_NO_MEMORY,
	CPQ_NOT_OF_TYPE, /* the bytes are not a value of the type */
	CPQ_OUT_OF_RANGE, /* the other side cannot hold the value */
	CPQ_NO_FORM /* the shim has no such form of the type */
};

/* Append or read a number of n bytes, the highest byte first. */
void cpq_wire_put(PQExpBuffer out, uint64_t v, unsigned n);
uint64_t cpq_wire_get(const char *bytes, unsigned n);

/* Convert the text of a decimal number ("-1.50", "1e-7", "NaN") to a numeric, and back. */
enum cpq_outcome cpq_numeric_pack(PQExpBuffer out, const char *text, size_t len);
enum cpq_outcome cpq_numeric_unpack(PQExpBuffer out, const char *bytes, size_t len);

/* Read the text of a number, "NaN" or "Infinity", in any locale. */
enum cpq_outcome cpq_float_read(const char *text, size_t len, double *ret_value);

/* Convert the 36 characters of a UUID to 16 bytes, and back. */
enum cpq_outcome cpq_uuid_pack(PQExpBuffer out, const char *text, size_t len);
void cpq_uuid_unpack(PQExpBuffer out, const char bytes[16]);

/* Convert between dates and days since 2000-01-01. */
int64_t cpq_days_of(const cenote_date *date);
cenote_date cpq_date_of(int64_t days);
/* Convert between times and microseconds of a day; nanoseconds are cut off. */
int64_t cpq_usecs_of(const cenote_time *time);
cenote_time cpq_time_of(int64_t usecs);

#define CPQ_USECS_PER_DAY INT64_C(86400000000)

#endif
