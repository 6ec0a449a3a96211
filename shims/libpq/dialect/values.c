/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <string.h>

/*
 * Values of results: convert libcenote's canonical form to PostgreSQL's. On some servers each value
 * has its own type, so a column may hold values of several types. A value that does not fit the
 * column's type is copied unchanged in text form; in binary form it is an error. answer.c calls
 * this file.
 */

/* A value that is being converted. */
struct value {
	const cenote_result *from;
	uint64_t row;
	uint32_t column;
	const char *text;
	size_t len;
	PQExpBuffer out;
};

static void
put_as_it_is(const struct value *v)
{
	appendBinaryPQExpBuffer(v->out, v->text, v->len);
}

static void
text_bool(const struct value *v)
{
	if (v->len == 1 && (*v->text == '0' || *v->text == '1'))
		appendPQExpBufferChar(v->out, (char)(*v->text == '1' ? 't' : 'f'));
	else
		put_as_it_is(v);
}

static void
text_bytea(const struct value *v)
{
	static const char digits[] = "0123456789abcdef";

	appendPQExpBufferStr(v->out, "\\x");
	if (!enlargePQExpBuffer(v->out, 2 * v->len))
		return;
	for (size_t i = 0; i < v->len; i++) {
		unsigned char c = (unsigned char)v->text[i];

		appendPQExpBufferChar(v->out, digits[c >> 4]);
		appendPQExpBufferChar(v->out, digits[c & 15]);
	}
}

/* Append a date. Year 0 is 1 BC. */
static void
put_date(PQExpBuffer out, const cenote_date *d)
{
	int year = d->year > 0 ? d->year : 1 - d->year;

	appendPQExpBuffer(out, "%04d-%02u-%02u", year, d->month, d->day);
}

static void
put_era(PQExpBuffer out, const cenote_date *d)
{
	if (d->year <= 0)
		appendPQExpBufferStr(out, " BC");
}

static void
put_fraction(PQExpBuffer out, uint32_t usecs)
{
	char text[8];
	int n = snprintf(text, sizeof(text), ".%06u", usecs % 1000000);

	while (n > 1 && text[n - 1] == '0')
		n--;
	if (n > 1)
		appendBinaryPQExpBuffer(out, text, (size_t)n);
}

/* Append an offset as "+02" or "-03:30". */
static void
put_offset(PQExpBuffer out, int32_t seconds)
{
	int32_t size;

	if (seconds == CENOTE_NO_OFFSET)
		return;
	size = seconds < 0 ? -seconds : seconds;
	appendPQExpBuffer(out, "%c%02d", seconds < 0 ? '-' : '+', size / 3600);
	if (size % 3600 != 0)
		appendPQExpBuffer(out, ":%02d", size / 60 % 60);
	if (size % 60 != 0)
		appendPQExpBuffer(out, ":%02d", size % 60);
}

static void
put_time(PQExpBuffer out, const cenote_time *t)
{
	appendPQExpBuffer(out, "%02u:%02u:%02u", t->hour, t->minute, t->second);
	put_fraction(out, t->nanosecond / 1000);
	put_offset(out, t->utc_offset_s);
}

static void
text_date(const struct value *v)
{
	cenote_date d;

	if (cenote_result_date(v->from, v->row, v->column, &d) != CENOTE_OK) {
		put_as_it_is(v);
		return;
	}
	put_date(v->out, &d);
	put_era(v->out, &d);
}

static void
text_time(const struct value *v)
{
	cenote_time t;

	if (cenote_result_time(v->from, v->row, v->column, &t) != CENOTE_OK)
		put_as_it_is(v);
	else
		put_time(v->out, &t);
}

static void
text_timestamp(const struct value *v)
{
	cenote_timestamp ts;

	if (cenote_result_timestamp(v->from, v->row, v->column, &ts) != CENOTE_OK) {
		put_as_it_is(v);
		return;
	}
	put_date(v->out, &ts.date);
	appendPQExpBufferChar(v->out, ' ');
	put_time(v->out, &ts.time);
	put_era(v->out, &ts.date);
}

static enum cpq_outcome
wire_bytes(const struct value *v)
{
	put_as_it_is(v);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_bool(const struct value *v)
{
	if (v->len != 1 || (*v->text != '0' && *v->text != '1'))
		return CPQ_NOT_OF_TYPE;
	cpq_wire_put(v->out, *v->text == '1', 1);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_int(const struct value *v, unsigned size)
{
	int64_t max = INT64_MAX >> (64 - 8 * size);
	int64_t n;

	if (cenote_result_int64(v->from, v->row, v->column, &n) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	if (n > max || n < -max - 1)
		return CPQ_OUT_OF_RANGE;
	cpq_wire_put(v->out, (uint64_t)n, size);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_int2(const struct value *v)
{
	return wire_int(v, 2);
}

static enum cpq_outcome
wire_int4(const struct value *v)
{
	return wire_int(v, 4);
}

static enum cpq_outcome
wire_int8(const struct value *v)
{
	return wire_int(v, 8);
}

static enum cpq_outcome
wire_float8(const struct value *v)
{
	uint64_t bits;
	double d;

	if (cenote_result_double(v->from, v->row, v->column, &d) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	memcpy(&bits, &d, sizeof(bits));
	cpq_wire_put(v->out, bits, 8);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_float4(const struct value *v)
{
	uint32_t bits;
	double d;
	float f;

	if (cenote_result_double(v->from, v->row, v->column, &d) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	f = (float)d;
	memcpy(&bits, &f, sizeof(bits));
	cpq_wire_put(v->out, bits, 4);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_numeric(const struct value *v)
{
	return cpq_numeric_pack(v->out, v->text, v->len);
}

static enum cpq_outcome
wire_uuid(const struct value *v)
{
	return cpq_uuid_pack(v->out, v->text, v->len);
}

static enum cpq_outcome
wire_date(const struct value *v)
{
	cenote_date d;

	if (cenote_result_date(v->from, v->row, v->column, &d) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	cpq_wire_put(v->out, (uint64_t)cpq_days_of(&d), 4);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_time(const struct value *v)
{
	cenote_time t;

	if (cenote_result_time(v->from, v->row, v->column, &t) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	cpq_wire_put(v->out, (uint64_t)cpq_usecs_of(&t), 8);
	return CPQ_DONE;
}

/* The offset in seconds. A time without an offset counts as UTC. */
static int64_t
offset_of(const cenote_time *t)
{
	return t->utc_offset_s == CENOTE_NO_OFFSET ? 0 : t->utc_offset_s;
}

static enum cpq_outcome
wire_timetz(const struct value *v)
{
	cenote_time t;

	if (cenote_result_time(v->from, v->row, v->column, &t) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	cpq_wire_put(v->out, (uint64_t)cpq_usecs_of(&t), 8);
	/* the field counts seconds west of UTC */
	cpq_wire_put(v->out, (uint64_t)-offset_of(&t), 4);
	return CPQ_DONE;
}

static enum cpq_outcome
wire_timestamp(const struct value *v)
{
	cenote_timestamp ts;
	int64_t usecs;

	if (cenote_result_timestamp(v->from, v->row, v->column, &ts) != CENOTE_OK)
		return CPQ_NOT_OF_TYPE;
	usecs = cpq_days_of(&ts.date) * CPQ_USECS_PER_DAY + cpq_usecs_of(&ts.time);
	cpq_wire_put(v->out, (uint64_t)(usecs - offset_of(&ts.time) * 1000000), 8);
	return CPQ_DONE;
}

static const struct form {
	Oid oid;
	/* NULL: the server's text is right as it is */
	void (*text)(const struct value *v);
	enum cpq_outcome (*wire)(
		const struct value *v); /* NULL: there is no binary form */
	int has_zero; /* the value 0000-00-00 becomes NULL */
} forms[] = {
	{ CPQ_BOOL, text_bool, wire_bool, 0 },
	{ CPQ_BYTEA, text_bytea, wire_bytes, 0 },
	{ CPQ_INT8, NULL, wire_int8, 0 },
	{ CPQ_INT2, NULL, wire_int2, 0 },
	{ CPQ_INT4, NULL, wire_int4, 0 },
	{ CPQ_TEXT, NULL, wire_bytes, 0 },
	{ CPQ_JSON, NULL, wire_bytes, 0 },
	{ CPQ_FLOAT4, NULL, wire_float4, 0 },
	{ CPQ_FLOAT8, NULL, wire_float8, 0 },
	{ CPQ_VARCHAR, NULL, wire_bytes, 0 },
	{ CPQ_DATE, text_date, wire_date, 1 },
	{ CPQ_TIME, text_time, wire_time, 0 },
	{ CPQ_TIMESTAMP, text_timestamp, wire_timestamp, 1 },
	{ CPQ_TIMESTAMPTZ, text_timestamp, wire_timestamp, 1 },
	{ CPQ_INTERVAL, NULL, NULL, 0 },
	{ CPQ_TIMETZ, text_time, wire_timetz, 0 },
	{ CPQ_NUMERIC, NULL, wire_numeric, 0 },
	{ CPQ_UUID, NULL, wire_uuid, 0 },
};

/* The form of a type. The last entry also ends the search: types.c returns no type that is not in
 * the table. */
static const struct form *
form_of(Oid oid)
{
	const struct form *f = forms;

	while (f < forms + sizeof(forms) / sizeof(forms[0]) - 1 && f->oid != oid)
		f++;
	return f;
}

int
cpq_values_differ(const PGresult *res)
{
	for (int i = 0; i < res->n_columns; i++) {
		if (res->wants_binary || form_of(res->columns[i].typid)->text != NULL)
			return 1;
	}
	return 0;
}

/* MariaDB's zero date becomes NULL: on the server itself, IS NULL finds it. */
static int
is_zero_date(const char *text, size_t len)
{
	static const char zero[] = "0000-00-00";

	return len >= sizeof(zero) - 1 && memcmp(text, zero, sizeof(zero) - 1) == 0;
}

static enum cpq_outcome
put_value(const PGresult *res, const struct value *v)
{
	const struct form *f = form_of(res->columns[v->column].typid);

	if (res->wants_binary)
		return f->wire != NULL ? f->wire(v) : CPQ_NO_FORM;
	if (f->text != NULL)
		f->text(v);
	else
		put_as_it_is(v);
	return CPQ_DONE;
}

/* Write into the buffer why the value cannot be given. */
static enum cpq_outcome
refuse(const PGresult *res, const struct value *v, enum cpq_outcome why)
{
	const PGresAttDesc *c = &res->columns[v->column];
	const char *type = cpq_type_name(c->typid);

	resetPQExpBuffer(v->out);
	if (why == CPQ_NO_FORM)
		appendPQExpBuffer(v->out,
			"column \"%s\": type %s has no binary form on this pool", c->name,
			type);
	else
		appendPQExpBuffer(v->out,
			"column \"%s\", row %d: the value is no %s, which its binary "
			"form "
			"would need",
			c->name, res->n_rows, type);
	return why;
}

/* Set one value of the row that cpq_result_row_begin() began. */
static enum cpq_outcome
add_value(PGresult *res, const struct value *v)
{
	enum cpq_outcome r;

	resetPQExpBuffer(v->out);
	r = put_value(res, v);
	if (r != CPQ_DONE)
		return r == CPQ_NO_MEMORY ? r : refuse(res, v, r);
	if (v->out->maxlen == 0 ||
		cpq_result_row_set(res, (int)v->column, v->out->data, v->out->len) < 0)
		return CPQ_NO_MEMORY;
	return CPQ_DONE;
}

int
cpq_dialect_add_row(
	PGresult *res, const cenote_result *from, uint64_t at, PQExpBuffer room)
{
	enum cpq_outcome r = cpq_result_row_begin(res) < 0 ? CPQ_NO_MEMORY : CPQ_DONE;

	for (int i = 0; i < res->n_columns && r == CPQ_DONE; i++) {
		struct value v = { from, at, (uint32_t)i, NULL, 0, room };

		v.text = cenote_result_text(from, at, v.column, &v.len);
		if (v.text == NULL || (form_of(res->columns[i].typid)->has_zero &&
					      is_zero_date(v.text, v.len)))
			continue;
		r = add_value(res, &v);
	}
	return r == CPQ_DONE ? 0 : r == CPQ_NO_MEMORY ? -1 : 1;
}
