/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Values of parameters: convert PostgreSQL's text and binary forms, by the type that the program
 * declared, to values that every server takes. Without a declared type, a value in text form is a
 * text, and a value in binary form is bytes. send.c calls this file.
 */

struct bind {
	cenote_params *params;
	const char *bytes; /* a zero byte follows a text */
	size_t len;
};

static enum cpq_outcome
added(int r)
{
	if (r == CENOTE_OK)
		return CPQ_DONE;
	return r == CENOTE_ERR_NOMEM   ? CPQ_NO_MEMORY
	       : r == CENOTE_ERR_LIMIT ? CPQ_OUT_OF_RANGE
				       : CPQ_NOT_OF_TYPE;
}

static enum cpq_outcome
bind_text(const struct bind *b)
{
	return added(cenote_params_add_text(b->params, b->bytes, b->len));
}

static enum cpq_outcome
bind_bytes(const struct bind *b)
{
	return added(cenote_params_add_bytes(b->params, b->bytes, b->len));
}

#define BLANKS " \t\n\r\v\f"

static int
is_end(const char *p)
{
	return p[strspn(p, BLANKS)] == '\0';
}

static enum cpq_outcome
text_int(const struct bind *b, int64_t min, int64_t max)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(b->bytes, &end, 10);
	if (end == b->bytes || !is_end(end))
		return CPQ_NOT_OF_TYPE;
	if (errno == ERANGE || v < min || v > max)
		return CPQ_OUT_OF_RANGE;
	return added(cenote_params_add_int64(b->params, v));
}

static enum cpq_outcome
text_int2(const struct bind *b)
{
	return text_int(b, INT16_MIN, INT16_MAX);
}

static enum cpq_outcome
text_int4(const struct bind *b)
{
	return text_int(b, INT32_MIN, INT32_MAX);
}

static enum cpq_outcome
text_int8(const struct bind *b)
{
	return text_int(b, INT64_MIN, INT64_MAX);
}

static enum cpq_outcome
text_oid(const struct bind *b)
{
	return text_int(b, 0, UINT32_MAX);
}

/* Find the only word of a text, without the blanks around it. NULL: there are several words. */
static const char *
only_word(const char *p, size_t *ret_len)
{
	p += strspn(p, BLANKS);
	*ret_len = strcspn(p, BLANKS);
	return is_end(p + *ret_len) ? p : NULL;
}

static enum cpq_outcome
text_float(const struct bind *b)
{
	size_t n;
	const char *word = only_word(b->bytes, &n);
	enum cpq_outcome r;
	double v;

	r = word != NULL ? cpq_float_read(word, n, &v) : CPQ_NOT_OF_TYPE;
	return r == CPQ_DONE ? added(cenote_params_add_double(b->params, v)) : r;
}

static enum cpq_outcome
text_numeric(const struct bind *b)
{
	size_t n;
	const char *word = only_word(b->bytes, &n);

	if (word == NULL)
		return CPQ_NOT_OF_TYPE;
	return added(cenote_params_add_decimal(b->params, word, n));
}

/* Is the text a beginning of `word`, with at least `least` letters? PostgreSQL accepts each
 * beginning that only one of its words has. */
static int
is_short_for(const char *text, size_t n, const char *word, size_t least)
{
	return n >= least && n <= strlen(word) && strncasecmp(text, word, n) == 0;
}

static enum cpq_outcome
text_bool(const struct bind *b)
{
	static const struct {
		const char *word;
		size_t least;
		int value;
	} words[] = { { "true", 1, 1 }, { "yes", 1, 1 }, { "on", 2, 1 }, { "1", 1, 1 },
		{ "false", 1, 0 }, { "no", 1, 0 }, { "off", 2, 0 }, { "0", 1, 0 } };
	size_t n;
	const char *word = only_word(b->bytes, &n);

	for (size_t i = 0; word != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_short_for(word, n, words[i].word, words[i].least))
			return added(cenote_params_add_bool(b->params, words[i].value));
	}
	return CPQ_NOT_OF_TYPE;
}

static enum cpq_outcome
text_bytea(const struct bind *b)
{
	enum cpq_outcome r;
	size_t n;
	unsigned char *bytes = cpq_PQunescapeBytea((const unsigned char *)b->bytes, &n);

	if (bytes == NULL)
		return CPQ_NO_MEMORY;
	r = added(cenote_params_add_bytes(b->params, bytes, n));
	free(bytes);
	return r;
}

static enum cpq_outcome
wire_int(const struct bind *b, unsigned size)
{
	unsigned unused = 64 - 8 * size;
	uint64_t v;

	if (b->len != size)
		return CPQ_NOT_OF_TYPE;
	v = cpq_wire_get(b->bytes, size) << unused;
	return added(cenote_params_add_int64(b->params, (int64_t)v >> unused));
}

static enum cpq_outcome
wire_int2(const struct bind *b)
{
	return wire_int(b, 2);
}

static enum cpq_outcome
wire_int4(const struct bind *b)
{
	return wire_int(b, 4);
}

static enum cpq_outcome
wire_int8(const struct bind *b)
{
	return wire_int(b, 8);
}

static enum cpq_outcome
wire_oid(const struct bind *b)
{
	if (b->len != 4)
		return CPQ_NOT_OF_TYPE;
	return added(
		cenote_params_add_int64(b->params, (int64_t)cpq_wire_get(b->bytes, 4)));
}

static enum cpq_outcome
wire_float4(const struct bind *b)
{
	uint32_t bits;
	float f;

	if (b->len != sizeof(f))
		return CPQ_NOT_OF_TYPE;
	bits = (uint32_t)cpq_wire_get(b->bytes, sizeof(f));
	memcpy(&f, &bits, sizeof(f));
	return added(cenote_params_add_double(b->params, (double)f));
}

static enum cpq_outcome
wire_float8(const struct bind *b)
{
	uint64_t bits;
	double d;

	if (b->len != sizeof(d))
		return CPQ_NOT_OF_TYPE;
	bits = cpq_wire_get(b->bytes, sizeof(d));
	memcpy(&d, &bits, sizeof(d));
	return added(cenote_params_add_double(b->params, d));
}

static enum cpq_outcome
wire_bool(const struct bind *b)
{
	if (b->len != 1)
		return CPQ_NOT_OF_TYPE;
	return added(cenote_params_add_bool(b->params, *b->bytes != 0));
}

static enum cpq_outcome
wire_numeric(const struct bind *b)
{
	PQExpBufferData text;
	enum cpq_outcome r;

	initPQExpBuffer(&text);
	r = cpq_numeric_unpack(&text, b->bytes, b->len);
	if (r == CPQ_DONE)
		r = added(cenote_params_add_decimal(b->params, text.data, text.len));
	termPQExpBuffer(&text);
	return r;
}

static enum cpq_outcome
wire_uuid(const struct bind *b)
{
	PQExpBufferData text;
	enum cpq_outcome r = CPQ_NO_MEMORY;

	if (b->len != 16)
		return CPQ_NOT_OF_TYPE;
	initPQExpBuffer(&text);
	cpq_uuid_unpack(&text, b->bytes);
	if (text.maxlen > 0)
		r = added(cenote_params_add_text(b->params, text.data, text.len));
	termPQExpBuffer(&text);
	return r;
}

/* jsonb in binary form: a version byte, and then the text. */
static enum cpq_outcome
wire_jsonb(const struct bind *b)
{
	if (b->len < 1 || *b->bytes != 1)
		return CPQ_NOT_OF_TYPE;
	return added(cenote_params_add_text(b->params, b->bytes + 1, b->len - 1));
}

/* Is the year from 1 to 9999? Other servers write years with four digits. */
static int
is_common_year(int64_t days)
{
	static const cenote_date first = { .year = 1, .month = 1, .day = 1 };
	static const cenote_date last = { .year = 9999, .month = 12, .day = 31 };

	return days >= cpq_days_of(&first) && days <= cpq_days_of(&last);
}

static enum cpq_outcome
wire_date(const struct bind *b)
{
	cenote_date date;
	int32_t days;

	if (b->len != 4)
		return CPQ_NOT_OF_TYPE;
	days = (int32_t)cpq_wire_get(b->bytes, 4);
	if (!is_common_year(days))
		return CPQ_OUT_OF_RANGE;
	date = cpq_date_of(days);
	return added(cenote_params_add_date(b->params, &date));
}

static enum cpq_outcome
wire_time(const struct bind *b)
{
	cenote_time time;
	int64_t usecs;

	if (b->len != 8)
		return CPQ_NOT_OF_TYPE;
	usecs = (int64_t)cpq_wire_get(b->bytes, 8);
	if (usecs < 0 || usecs > CPQ_USECS_PER_DAY)
		return CPQ_OUT_OF_RANGE;
	time = cpq_time_of(usecs);
	return added(cenote_params_add_time(b->params, &time));
}

/* Add a timestamp from microseconds since 2000. With a time zone they are in UTC. */
static enum cpq_outcome
add_timestamp(const struct bind *b, int32_t offset)
{
	cenote_timestamp ts;
	int64_t usecs, days;

	if (b->len != 8)
		return CPQ_NOT_OF_TYPE;
	usecs = (int64_t)cpq_wire_get(b->bytes, 8);
	days = usecs / CPQ_USECS_PER_DAY - (usecs % CPQ_USECS_PER_DAY < 0);
	if (!is_common_year(days))
		return CPQ_OUT_OF_RANGE;
	ts.date = cpq_date_of(days);
	ts.time = cpq_time_of(usecs - days * CPQ_USECS_PER_DAY);
	ts.time.utc_offset_s = offset;
	return added(cenote_params_add_timestamp(b->params, &ts));
}

static enum cpq_outcome
wire_timestamp(const struct bind *b)
{
	return add_timestamp(b, CENOTE_NO_OFFSET);
}

static enum cpq_outcome
wire_timestamptz(const struct bind *b)
{
	return add_timestamp(b, 0);
}

typedef enum cpq_outcome binder(const struct bind *b);

static const struct {
	Oid oid;
	binder *text;
	binder *wire; /* NULL: the shim has no binary form of the type */
} forms[] = {
	{ 0, bind_text, bind_bytes },
	{ CPQ_BOOL, text_bool, wire_bool },
	{ CPQ_BYTEA, text_bytea, bind_bytes },
	{ CPQ_CHAR, bind_text, bind_text },
	{ CPQ_NAME, bind_text, bind_text },
	{ CPQ_INT8, text_int8, wire_int8 },
	{ CPQ_INT2, text_int2, wire_int2 },
	{ CPQ_INT4, text_int4, wire_int4 },
	{ CPQ_TEXT, bind_text, bind_text },
	{ CPQ_OID, text_oid, wire_oid },
	{ CPQ_JSON, bind_text, bind_text },
	{ CPQ_XML, bind_text, bind_text },
	{ CPQ_FLOAT4, text_float, wire_float4 },
	{ CPQ_FLOAT8, text_float, wire_float8 },
	{ CPQ_UNKNOWN, bind_text, bind_text },
	{ CPQ_BPCHAR, bind_text, bind_text },
	{ CPQ_VARCHAR, bind_text, bind_text },
	{ CPQ_DATE, bind_text, wire_date },
	{ CPQ_TIME, bind_text, wire_time },
	{ CPQ_TIMESTAMP, bind_text, wire_timestamp },
	{ CPQ_TIMESTAMPTZ, bind_text, wire_timestamptz },
	{ CPQ_NUMERIC, text_numeric, wire_numeric },
	{ CPQ_UUID, bind_text, wire_uuid },
	{ CPQ_JSONB, bind_text, wire_jsonb },
};

static binder *
find(Oid type, int is_binary)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].oid == type)
			return is_binary ? forms[i].wire : forms[i].text;
	}
	/* Other servers take the text of any type. */
	return is_binary ? NULL : bind_text;
}

enum cpq_outcome
cpq_bind(cenote_params *params, Oid type, const char *bytes, size_t len, int is_binary)
{
	const struct bind b = { params, bytes, len };
	binder *bind = find(type, is_binary);

	if (bytes == NULL)
		return added(cenote_params_add_null(params));
	return bind != NULL ? bind(&b) : CPQ_NO_FORM;
}
