/* SPDX-License-Identifier: BSD-2-Clause */
/* Convert values from their canonical form (docs/types.md), with a decoder for each type. */
#include "session.h"

#include <string.h>

/* If the call failed because of the value, clear the exception: the value stays text. */
static PyObject *
value_or_text(PyObject *value)
{
	if (!value && (PyErr_ExceptionMatches(PyExc_ValueError) ||
			      PyErr_ExceptionMatches(PyExc_ArithmeticError)))
		PyErr_Clear();
	return value;
}

/* If a text is not valid in the session's character set (SQLite, for example), return bytes. */
static PyObject *
bytes_for_text(const char *text, size_t len)
{
	if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
		return NULL;
	PyErr_Clear();
	return PyBytes_FromStringAndSize(text, (Py_ssize_t)len);
}

/* The interpreter (3.9 to 3.13) decodes a word at a time only from a word's boundary, where few
 * texts of a batch begin. Copying a short text to a boundary is cheaper. */
static PyObject *
make_text(const char *text, size_t len)
{
	size_t words[32];

	if (len < sizeof(words[0]) || len > sizeof(words))
		return PyUnicode_FromStringAndSize(text, (Py_ssize_t)len);
	memcpy(words, text, len);
	return PyUnicode_FromStringAndSize((const char *)words, (Py_ssize_t)len);
}

static PyObject *
decode_text(const struct cpy_session *s, const char *text, size_t len)
{
	PyObject *value = make_text(text, len);

	(void)s;
	return value ? value : bytes_for_text(text, len);
}

static PyObject *
decode_bytes(const struct cpy_session *s, const char *text, size_t len)
{
	(void)s;
	return PyBytes_FromStringAndSize(text, (Py_ssize_t)len);
}

static PyObject *
decode_bool(const struct cpy_session *s, const char *text, size_t len)
{
	(void)s;
	if (len != 1 || (*text != '0' && *text != '1'))
		return NULL;
	return PyBool_FromLong(*text == '1');
}

static PyObject *
decode_integer(const struct cpy_session *s, const char *text, size_t len)
{
	size_t sign = len > 0 && (text[0] == '-' || text[0] == '+');
	long long value = 0;
	size_t i;

	(void)s;
	for (i = sign; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
		if (i < 18)
			value = value * 10 + (text[i] - '0');
	}
	if (i != len || i == sign)
		return NULL;
	/* Newer interpreters read some thousands of digits at most. */
	if (len > 18)
		return value_or_text(PyLong_FromString(text, NULL, 10));
	return PyLong_FromLongLong(text[0] == '-' ? -value : value);
}

static PyObject *
decode_double(const struct cpy_session *s, const char *text, size_t len)
{
	char *end;
	double value = PyOS_string_to_double(text, &end, NULL);

	(void)s;
	if (PyErr_Occurred())
		return value_or_text(NULL);
	return end == text + len ? PyFloat_FromDouble(value) : NULL;
}

/* Call one of Python's own types with the text. */
static PyObject *
from_text(PyObject *type, const char *text, size_t len)
{
	PyObject *arg = PyUnicode_FromStringAndSize(text, (Py_ssize_t)len);
	PyObject *value;

	if (!arg)
		return value_or_text(NULL);
	value = PyObject_CallFunctionObjArgs(type, arg, NULL);
	Py_DECREF(arg);
	return value_or_text(value);
}

static PyObject *
decode_decimal(const struct cpy_session *s, const char *text, size_t len)
{
	return from_text(s->state->decimal, text, len);
}

static PyObject *
decode_uuid(const struct cpy_session *s, const char *text, size_t len)
{
	return from_text(s->state->uuid, text, len);
}

static PyObject *
decode_interval(const struct cpy_session *s, const char *text, size_t len)
{
	return from_text(s->state->parse_interval, text, len);
}

/* An exception of the program's own function goes to the program. */
static PyObject *
decode_json(const struct cpy_session *s, const char *text, size_t len)
{
	PyObject *arg = decode_text(s, text, len);
	PyObject *value;

	if (!arg || s->json_loads == Py_None)
		return arg;
	value = PyObject_CallFunctionObjArgs(s->json_loads, arg, NULL);
	Py_DECREF(arg);
	return value;
}

/* Read `n` digits at *p, and move *p after them; -1: they are missing. */
static int
digits(const char **p, const char *end, int n)
{
	int value = 0;

	if (end - *p < n)
		return -1;
	while (n-- > 0) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (*(*p)++ - '0');
	}
	return value;
}

/* The same, after a character that must be there. */
static int
digits_behind(const char **p, const char *end, char before, int n)
{
	if (*p >= end || **p != before)
		return -1;
	(*p)++;
	return digits(p, end, n);
}

struct date {
	int year, month, day;
};

struct clock {
	int hour, minute, second, microsecond;
	int has_offset, offset_s;
};

static int
parse_date(const char **p, const char *end, struct date *d)
{
	d->year = digits(p, end, 4);
	d->month = digits_behind(p, end, '-', 2);
	d->day = digits_behind(p, end, '-', 2);
	return d->year < 0 || d->month < 0 || d->day < 0 ? -1 : 0;
}

/* Read the digits of a fraction. Digits after the sixth are cut off. */
static int
parse_fraction(const char **p, const char *end)
{
	int unit = 100000, value = 0;

	if (*p >= end || **p != '.')
		return 0;
	for ((*p)++; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		value += (**p - '0') * unit;
		unit /= 10;
	}
	return value;
}

/* Read (+|-)HH:MM[:SS], or nothing. */
static int
parse_offset(const char **p, const char *end, struct clock *t)
{
	int sign, hour, minute, second = 0;

	t->has_offset = *p < end;
	if (!t->has_offset)
		return 0;
	sign = **p == '-' ? -1 : 1;
	hour = digits_behind(p, end, sign < 0 ? '-' : '+', 2);
	minute = digits_behind(p, end, ':', 2);
	if (*p < end)
		second = digits_behind(p, end, ':', 2);
	t->offset_s = sign * (hour * 3600 + minute * 60 + second);
	return hour < 0 || minute < 0 || second < 0 ? -1 : 0;
}

static int
parse_clock(const char **p, const char *end, struct clock *t)
{
	t->hour = digits(p, end, 2);
	t->minute = digits_behind(p, end, ':', 2);
	t->second = digits_behind(p, end, ':', 2);
	t->microsecond = parse_fraction(p, end);
	if (t->hour < 0 || t->minute < 0 || t->second < 0)
		return -1;
	return parse_offset(p, end, t) == 0 && *p == end ? 0 : -1;
}

/* Returns None, or a timezone. */
static PyObject *
tzinfo_of(const struct cpy_state *state, const struct clock *t)
{
	PyObject *delta, *tz;

	if (!t->has_offset)
		Py_RETURN_NONE;
	if (t->offset_s == 0)
		return PyObject_GetAttrString(state->timezone, "utc");
	delta = PyObject_CallFunction(state->timedelta, "ii", 0, t->offset_s);
	if (!delta)
		return NULL;
	tz = PyObject_CallFunctionObjArgs(state->timezone, delta, NULL);
	Py_DECREF(delta);
	return tz;
}

static PyObject *
decode_date(const struct cpy_session *s, const char *text, size_t len)
{
	const char *end = text + len;
	struct date d;

	if (parse_date(&text, end, &d) < 0 || text != end)
		return NULL;
	return value_or_text(
		PyObject_CallFunction(s->state->date, "iii", d.year, d.month, d.day));
}

static PyObject *
decode_time(const struct cpy_session *s, const char *text, size_t len)
{
	struct clock t;
	PyObject *tz;

	if (parse_clock(&text, text + len, &t) < 0)
		return NULL;
	tz = tzinfo_of(s->state, &t);
	if (!tz)
		return value_or_text(NULL);
	return value_or_text(PyObject_CallFunction(
		s->state->time, "iiiiN", t.hour, t.minute, t.second, t.microsecond, tz));
}

static PyObject *
decode_timestamp(const struct cpy_session *s, const char *text, size_t len)
{
	const char *end = text + len;
	struct date d;
	struct clock t;
	PyObject *tz;

	if (parse_date(&text, end, &d) < 0 || text >= end || *text++ != ' ' ||
		parse_clock(&text, end, &t) < 0)
		return NULL;
	tz = tzinfo_of(s->state, &t);
	if (!tz)
		return value_or_text(NULL);
	return value_or_text(PyObject_CallFunction(s->state->datetime, "iiiiiiiN", d.year,
		d.month, d.day, t.hour, t.minute, t.second, t.microsecond, tz));
}

/* The decoders, by enum cenote_type. Values of newer types stay text. */
static cpy_decode *const decoders[] = {
	[CENOTE_TYPE_NULL] = decode_text,
	[CENOTE_TYPE_BOOL] = decode_bool,
	[CENOTE_TYPE_INT64] = decode_integer,
	[CENOTE_TYPE_UINT64] = decode_integer,
	[CENOTE_TYPE_DOUBLE] = decode_double,
	[CENOTE_TYPE_DECIMAL] = decode_decimal,
	[CENOTE_TYPE_TEXT] = decode_text,
	[CENOTE_TYPE_BYTES] = decode_bytes,
	[CENOTE_TYPE_DATE] = decode_date,
	[CENOTE_TYPE_TIME] = decode_time,
	[CENOTE_TYPE_TIMESTAMP] = decode_timestamp,
	[CENOTE_TYPE_INTERVAL] = decode_interval,
	[CENOTE_TYPE_UUID] = decode_uuid,
	[CENOTE_TYPE_JSON] = decode_json,
	[CENOTE_TYPE_OTHER] = decode_text,
};

cpy_decode *
cpy_decoder(uint32_t type)
{
	return type < sizeof(decoders) / sizeof(decoders[0]) ? decoders[type]
							     : decode_text;
}

PyObject *
cpy_undecoded(const struct cpy_session *s, const char *text, size_t len)
{
	return PyErr_Occurred() ? NULL : decode_text(s, text, len);
}
