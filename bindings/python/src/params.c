/* SPDX-License-Identifier: BSD-2-Clause */
/* Convert Python's values to parameters. */
#include "session.h"

#include <string.h>

/* PostgreSQL's OIDs of types that the server would not recognise in a text. */
#define OID_INTERVAL 1186u
#define OID_UUID     2950u

/* Add a value. Returns a status; or -1 with an exception, and the caller then ignores the status. */
typedef int add_value(struct cpy_session *s, PyObject *value);

static int
add_null(struct cpy_session *s, PyObject *value)
{
	(void)value;
	return cenote_params_add_null(s->params);
}

static int
add_bool(struct cpy_session *s, PyObject *value)
{
	return cenote_params_add_bool(s->params, value == Py_True);
}

static int
add_bytes(struct cpy_session *s, PyObject *value)
{
	char *bytes;
	Py_ssize_t len;

	if (PyBytes_AsStringAndSize(value, &bytes, &len) < 0)
		return -1;
	return cenote_params_add_bytes(s->params, bytes, (size_t)len);
}

static int
add_buffer(struct cpy_session *s, PyObject *value)
{
	PyObject *bytes = PyBytes_FromObject(value);
	int r = bytes ? add_bytes(s, bytes) : -1;

	Py_XDECREF(bytes);
	return r;
}

typedef int add_chars(cenote_params *params, const char *text, size_t len);

static int
add_encoded(struct cpy_session *s, PyObject *str, add_chars *add)
{
	PyObject *utf8 = PyUnicode_AsUTF8String(str);
	char *text;
	Py_ssize_t len;
	int r = -1;

	if (utf8 && PyBytes_AsStringAndSize(utf8, &text, &len) == 0)
		r = add(s->params, text, (size_t)len);
	Py_XDECREF(utf8);
	return r;
}

/* Add the text from str() for the value. */
static int
add_str_of(struct cpy_session *s, PyObject *value, add_chars *add)
{
	PyObject *str = PyObject_Str(value);
	int r = str ? add_encoded(s, str, add) : -1;

	Py_XDECREF(str);
	return r;
}

static int
add_text(struct cpy_session *s, PyObject *value)
{
	return add_encoded(s, value, cenote_params_add_text);
}

/* NaN and infinities are not decimals, but some servers accept them. */
static int
add_decimal(struct cpy_session *s, PyObject *value)
{
	int r = add_str_of(s, value, cenote_params_add_decimal);

	if (r == CENOTE_ERR_ARG && !PyErr_Occurred())
		r = add_str_of(s, value, cenote_params_add_text);
	return r;
}

static int
add_integer(struct cpy_session *s, PyObject *value)
{
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
	unsigned long long positive;

	if (overflow == 0)
		return number == -1 && PyErr_Occurred()
			       ? -1
			       : cenote_params_add_int64(s->params, number);
	if (overflow > 0) {
		positive = PyLong_AsUnsignedLongLong(value);
		if (!PyErr_Occurred())
			return cenote_params_add_uint64(s->params, positive);
		PyErr_Clear();
	}
	return add_str_of(s, value, cenote_params_add_decimal);
}

static int
add_double(struct cpy_session *s, PyObject *value)
{
	return cenote_params_add_double(s->params, PyFloat_AsDouble(value));
}

/* Get a number from an attribute of the value. -1 and an exception: there is no such attribute. */
static long
attribute(PyObject *value, const char *name)
{
	PyObject *number = PyObject_GetAttrString(value, name);
	long n = number ? PyLong_AsLong(number) : -1;

	Py_XDECREF(number);
	return n;
}

static int
get_date(PyObject *value, cenote_date *ret_date)
{
	memset(ret_date, 0, sizeof(*ret_date));
	ret_date->year = (int32_t)attribute(value, "year");
	ret_date->month = (uint8_t)attribute(value, "month");
	ret_date->day = (uint8_t)attribute(value, "day");
	return PyErr_Occurred() ? -1 : 0;
}

/* Get the offset in seconds east of UTC, or CENOTE_NO_OFFSET. */
static int
get_offset(PyObject *value, int32_t *ret_offset)
{
	PyObject *delta = PyObject_CallMethod(value, "utcoffset", NULL);

	*ret_offset = CENOTE_NO_OFFSET;
	if (!delta)
		return -1;
	if (delta != Py_None)
		*ret_offset = (int32_t)(attribute(delta, "days") * 86400 +
					attribute(delta, "seconds"));
	Py_DECREF(delta);
	return PyErr_Occurred() ? -1 : 0;
}

static int
get_time(PyObject *value, cenote_time *ret_time)
{
	memset(ret_time, 0, sizeof(*ret_time));
	ret_time->hour = (uint8_t)attribute(value, "hour");
	ret_time->minute = (uint8_t)attribute(value, "minute");
	ret_time->second = (uint8_t)attribute(value, "second");
	ret_time->nanosecond = (uint32_t)attribute(value, "microsecond") * 1000;
	return PyErr_Occurred() ? -1 : get_offset(value, &ret_time->utc_offset_s);
}

static int
add_date(struct cpy_session *s, PyObject *value)
{
	cenote_date date;

	return get_date(value, &date) < 0 ? -1 : cenote_params_add_date(s->params, &date);
}

static int
add_time(struct cpy_session *s, PyObject *value)
{
	cenote_time t;

	return get_time(value, &t) < 0 ? -1 : cenote_params_add_time(s->params, &t);
}

static int
add_datetime(struct cpy_session *s, PyObject *value)
{
	cenote_timestamp ts;

	if (get_date(value, &ts.date) < 0 || get_time(value, &ts.time) < 0)
		return -1;
	return cenote_params_add_timestamp(s->params, &ts);
}

/* Add a text whose type PostgreSQL must know. */
static int
add_typed(struct cpy_session *s, const char *text, uint32_t oid)
{
	size_t len = strlen(text);

	if (!s->is_postgresql)
		return cenote_params_add_text(s->params, text, len);
	return cenote_params_add_native(s->params, oid, CENOTE_FORMAT_TEXT, text, len);
}

/* Add [-]HH:MM:SS.ffffff, which is a time in MySQL and an interval in PostgreSQL. */
static int
add_timedelta(struct cpy_session *s, PyObject *value)
{
	long long us =
		(attribute(value, "days") * 86400LL + attribute(value, "seconds")) *
			1000000 +
		attribute(value, "microseconds");
	long long abs = us < 0 ? -us : us;
	char text[40];

	if (PyErr_Occurred())
		return -1;
	PyOS_snprintf(text, sizeof(text), "%s%02lld:%02d:%02d.%06d", us < 0 ? "-" : "",
		abs / 3600000000LL, (int)(abs / 60000000 % 60), (int)(abs / 1000000 % 60),
		(int)(abs % 1000000));
	return add_typed(s, text, OID_INTERVAL);
}

static int
add_uuid(struct cpy_session *s, PyObject *value)
{
	PyObject *str = PyObject_Str(value);
	PyObject *ascii = str ? PyUnicode_AsASCIIString(str) : NULL;
	const char *text = ascii ? PyBytes_AsString(ascii) : NULL;
	int r = text ? add_typed(s, text, OID_UUID) : -1;

	Py_XDECREF(ascii);
	Py_XDECREF(str);
	return r;
}

/* Add a PostgreSQL array. The server finds out its type. */
static int
add_array(struct cpy_session *s, PyObject *value)
{
	PyObject *str = PyObject_CallFunctionObjArgs(s->state->write_array, value, NULL);
	int r = str ? add_text(s, str) : -1;

	Py_XDECREF(str);
	return r;
}

/* The function for Python's built-in types, without any lookup. */
static add_value *
builtin_adder(PyObject *value)
{
	if (value == Py_None)
		return add_null;
	if (PyUnicode_Check(value))
		return add_text;
	if (PyBool_Check(value))
		return add_bool;
	if (PyLong_Check(value))
		return add_integer;
	if (PyFloat_Check(value))
		return add_double;
	if (PyBytes_Check(value))
		return add_bytes;
	return NULL;
}

/* The function for types of the standard library. NULL: there is none, or an exception. */
static add_value *
library_adder(const struct cpy_state *state, PyObject *value)
{
	const struct {
		PyObject *type;
		add_value *add;
	} table[] = {
		/* before date, since a datetime is a date, too */
		{ state->datetime, add_datetime },
		{ state->date, add_date },
		{ state->decimal, add_decimal },
		{ state->time, add_time },
		{ state->timedelta, add_timedelta },
		{ state->uuid, add_uuid },
		{ (PyObject *)&PyByteArray_Type, add_buffer },
		{ (PyObject *)&PyMemoryView_Type, add_buffer },
	};
	size_t i;
	int is;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		is = PyObject_IsInstance(value, table[i].type);
		if (is != 0)
			return is > 0 ? table[i].add : NULL;
	}
	return NULL;
}

/* The function for a value; NULL: no server knows the type, or there is an exception. */
static add_value *
find_adder(const struct cpy_session *s, PyObject *value)
{
	add_value *add = builtin_adder(value);

	if (!add && s->is_postgresql && PyList_Check(value))
		add = add_array;
	return add ? add : library_adder(s->state, value);
}

/* Raise "parameter 1 is of <class 'object'>: WHY". Programs count parameters from 1. */
static int
refuse(const struct cpy_state *state, int status, const char *sqlstate, const char *why,
	PyObject *value, Py_ssize_t i)
{
	PyObject *error =
		PyObject_CallFunction(state->make_error, "isiNO", status, sqlstate, 0,
			PyUnicode_FromFormat(
				"parameter %zd is of %R: %s", i + 1, Py_TYPE(value), why),
			Py_None);

	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
	return -1;
}

static int
refuse_type(const struct cpy_state *state, PyObject *value, Py_ssize_t i)
{
	return refuse(
		state, CENOTE_ERR_ARG, "07006", "no server knows that type", value, i);
}

static int
add_with(struct cpy_session *s, add_value *add, PyObject *value, Py_ssize_t i)
{
	int r = add(s, value);

	if (r == CENOTE_OK)
		return 0;
	if (PyErr_Occurred())
		return -1;
	if (r == CENOTE_ERR_NOMEM) {
		PyErr_NoMemory();
		return -1;
	}
	return refuse(s->state, r, r == CENOTE_ERR_LIMIT ? "54000" : "22018",
		cenote_status_name(r), value, i);
}

/* Add a value of a type that only cenote.adapt() knows, or that nobody knows. */
static int
add_adapted(struct cpy_session *s, PyObject *value, Py_ssize_t i)
{
	PyObject *plain = PyObject_CallFunctionObjArgs(s->state->adapt, value, NULL);
	add_value *add = plain ? find_adder(s, plain) : NULL;
	int r = -1;

	if (add)
		r = add_with(s, add, plain, i);
	else if (!PyErr_Occurred())
		r = refuse_type(s->state, value, i);
	Py_XDECREF(plain);
	return r;
}

static int
add_one(struct cpy_session *s, PyObject *value, Py_ssize_t i)
{
	add_value *add = find_adder(s, value);

	if (add)
		return add_with(s, add, value, i);
	return PyErr_Occurred() ? -1 : add_adapted(s, value, i);
}

int
cpy_params_fill(struct cpy_session *s, PyObject *values)
{
	Py_ssize_t n = PySequence_Size(values), i;
	int r = 0;

	if (n < 0)
		return -1;
	cenote_params_clear(s->params);
	for (i = 0; r == 0 && i < n; i++) {
		PyObject *value = PySequence_GetItem(values, i);

		r = value ? add_one(s, value, i) : -1;
		Py_XDECREF(value);
	}
	return r;
}
