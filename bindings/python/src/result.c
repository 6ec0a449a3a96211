/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * _cenote.Result: rows as tuples. Each fetch continues where the last one ended.
 *
 * A buffered result never changes. Reading it needs no lock, even while another thread waits for
 * the next result. The batch of a streamed result changes, so reading it needs the lock.
 */
#include "session.h"

#include <stdatomic.h>

struct result {
	PyObject_HEAD struct cpy_session *session;
	cenote_result *res;
	cpy_decode **decoders; /* one for each column */
	uint8_t *is_array; /* for each column; NULL: no column is an array */
	uint32_t n_columns;
	int is_whole; /* all rows are in memory */
	/* number of the next row; threads that share a cursor get each row once */
	_Atomic uint64_t next;
};

static void
destroy(void *res)
{
	cenote_result_destroy(res);
}

static uint32_t
type_of(const struct result *self, uint32_t col)
{
	return (uint32_t)cenote_column_int(
		cenote_result_column(self->res, col), CENOTE_COLUMN_TYPE);
}

static int
find_decoders(struct result *self)
{
	uint32_t i;

	self->n_columns = cenote_result_n_columns(self->res);
	self->decoders = PyMem_Calloc(self->n_columns + 1, sizeof(cpy_decode *));
	if (!self->decoders) {
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < self->n_columns; i++)
		self->decoders[i] = cpy_decoder(type_of(self, i));
	return 0;
}

/* Arrays of PostgreSQL have no logical type. The names of their types begin with '_'. */
static int
find_arrays(struct result *self)
{
	uint32_t i;

	for (i = 0; self->session->is_postgresql && i < self->n_columns; i++) {
		if (type_of(self, i) != CENOTE_TYPE_OTHER ||
			*cenote_column_text(cenote_result_column(self->res, i),
				CENOTE_COLUMN_TYPE_NAME) != '_')
			continue;
		if (!self->is_array)
			self->is_array = PyMem_Calloc(self->n_columns, 1);
		if (!self->is_array) {
			PyErr_NoMemory();
			return -1;
		}
		self->is_array[i] = 1;
	}
	return 0;
}

PyObject *
cpy_result_new(struct cpy_session *s, cenote_result *res, int is_whole)
{
	struct result *self = PyObject_New(struct result, s->state->result_type);

	if (!self) {
		cenote_result_destroy(res);
		return NULL;
	}
	Py_INCREF((PyObject *)s);
	self->session = s;
	self->res = res;
	self->decoders = NULL;
	self->is_array = NULL;
	self->is_whole = is_whole;
	atomic_init(&self->next, 0);
	if (find_decoders(self) == 0 && find_arrays(self) == 0)
		return (PyObject *)self;
	Py_DECREF((PyObject *)self);
	return NULL;
}

static void
result_dealloc(PyObject *object)
{
	struct result *self = (struct result *)object;

	cpy_discard(self->session, destroy, self->res);
	PyMem_Free(self->decoders);
	PyMem_Free(self->is_array);
	Py_DECREF((PyObject *)self->session);
	cpy_free(object);
}

static PyObject *
array_value(const struct result *self, uint32_t col, const char *text, size_t len)
{
	const char *name = cenote_column_text(
		cenote_result_column(self->res, col), CENOTE_COLUMN_TYPE_NAME);

	return PyObject_CallFunction(
		self->session->state->read_array, "ss#", name, text, (Py_ssize_t)len);
}

static PyObject *
none(void)
{
	Py_RETURN_NONE;
}

static PyObject *
make_value(const struct result *self, uint32_t col, const char *text, size_t len)
{
	PyObject *value;

	if (self->is_array && self->is_array[col])
		return array_value(self, col, text, len);
	value = self->decoders[col](self->session, text, len);
	return value ? value : cpy_undecoded(self->session, text, len);
}

static PyObject *
make_row(const struct result *self, const uint8_t *row)
{
	uint32_t n = self->n_columns, i;
	PyObject *tuple = PyTuple_New((Py_ssize_t)n);

	for (i = 0; tuple && i < n; i++) {
		size_t len;
		const char *text = cenote_row_text(row, n, i, &len);
		PyObject *value = text ? make_value(self, i, text, len) : none();

		if (value)
			PyTuple_SetItem(tuple, (Py_ssize_t)i, value);
		else
			Py_CLEAR(tuple);
	}
	return tuple;
}

/* Reserve up to `max` rows for this thread. Returns the first one, and their number. */
static uint64_t
claim(struct result *self, uint64_t max, uint64_t *ret_first)
{
	uint64_t n_rows =
		cenote_result_rows(self->res) ? cenote_result_n_rows(self->res) : 0;
	uint64_t first = self->next, n;

	do {
		n = first < n_rows ? n_rows - first : 0;
		n = n < max ? n : max;
	} while (!atomic_compare_exchange_weak(&self->next, &first, first + n));
	*ret_first = first;
	return n;
}

static PyObject *
take_rows(struct result *self, Py_ssize_t max)
{
	const uint8_t *const *rows = cenote_result_rows(self->res);
	uint64_t first;
	Py_ssize_t n =
		(Py_ssize_t)claim(self, max < 0 ? UINT64_MAX : (uint64_t)max, &first);
	PyObject *list = PyList_New(n);
	Py_ssize_t i;

	for (i = 0; list && i < n; i++) {
		PyObject *row = make_row(self, rows[first + (uint64_t)i]);

		if (row)
			PyList_SetItem(list, i, row);
		else
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *
take_one(struct result *self)
{
	uint64_t row;

	if (claim(self, 1, &row) == 0)
		Py_RETURN_NONE;
	return make_row(self, cenote_result_rows(self->res)[row]);
}

static int
enter(struct result *self)
{
	return self->is_whole ? 0 : cpy_enter(self->session);
}

static void
leave(struct result *self)
{
	if (!self->is_whole)
		cpy_leave(self->session);
}

static PyObject *
result_fetch(PyObject *object, PyObject *args)
{
	struct result *self = (struct result *)object;
	PyObject *rows;
	Py_ssize_t max;

	if (!PyArg_ParseTuple(args, "n:fetch", &max) || enter(self) < 0)
		return NULL;
	rows = take_rows(self, max);
	leave(self);
	return rows;
}

static PyObject *
result_one(PyObject *object, PyObject *unused)
{
	struct result *self = (struct result *)object;
	PyObject *row;

	(void)unused;
	if (enter(self) < 0)
		return NULL;
	row = take_one(self);
	leave(self);
	return row;
}

/* Get the next batch. True: there is a batch. False: the rows have ended, and the totals are known. */
static PyObject *
result_next(PyObject *object, PyObject *unused)
{
	struct result *self = (struct result *)object;
	struct cpy_session *s = self->session;
	PyObject *answer;
	int r;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, cenote_result_next(self->res));
	if (r == CENOTE_ROW || r == CENOTE_DONE) {
		self->next = 0;
		answer = PyBool_FromLong(r == CENOTE_ROW);
	} else if (r == CENOTE_ERR_SERVER) {
		cpy_raise(s->state, r, cenote_result_diag(self->res));
		answer = NULL;
	} else {
		answer = cpy_failed(s, r);
	}
	cpy_leave(s);
	return answer;
}

/* Return a number; None if it is unknown. */
static PyObject *
number_or_none(const cenote_column *column, uint32_t attr)
{
	int64_t n = cenote_column_int(column, attr);

	if (n < 0)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(n);
}

static PyObject *
column_text(const cenote_column *column, uint32_t attr)
{
	const char *text = cenote_column_text(column, attr);
	size_t len = 0;

	while (text[len])
		len++;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
}

/* (name, type, length, precision, scale, nullable, native type, its name, table, modifier) */
static PyObject *
describe(const cenote_column *column)
{
	return Py_BuildValue("NNNNNNNNNN", column_text(column, CENOTE_COLUMN_NAME),
		number_or_none(column, CENOTE_COLUMN_TYPE),
		number_or_none(column, CENOTE_COLUMN_LENGTH),
		number_or_none(column, CENOTE_COLUMN_PRECISION),
		number_or_none(column, CENOTE_COLUMN_SCALE),
		number_or_none(column, CENOTE_COLUMN_NULLABLE),
		number_or_none(column, CENOTE_COLUMN_NATIVE_TYPE),
		column_text(column, CENOTE_COLUMN_TYPE_NAME),
		column_text(column, CENOTE_COLUMN_TABLE),
		number_or_none(column, CENOTE_COLUMN_MODIFIER));
}

static PyObject *
result_columns(PyObject *object, PyObject *unused)
{
	struct result *self = (struct result *)object;
	PyObject *list = PyList_New((Py_ssize_t)self->n_columns);
	uint32_t i;

	(void)unused;
	for (i = 0; list && i < self->n_columns; i++) {
		PyObject *column = describe(cenote_result_column(self->res, i));

		if (column)
			PyList_SetItem(list, (Py_ssize_t)i, column);
		else
			Py_CLEAR(list);
	}
	return list;
}

typedef PyObject *property(const struct result *self);

static PyObject *
get_affected_rows(const struct result *self)
{
	return PyLong_FromLongLong(cenote_result_affected_rows(self->res));
}

static PyObject *
get_flags(const struct result *self)
{
	return PyLong_FromUnsignedLong(cenote_result_flags(self->res));
}

static PyObject *
get_kind(const struct result *self)
{
	return PyLong_FromLong(cenote_result_kind(self->res));
}

static PyObject *
get_last_insert_id(const struct result *self)
{
	return PyLong_FromUnsignedLongLong(cenote_result_last_insert_id(self->res));
}

static PyObject *
get_n_columns(const struct result *self)
{
	return PyLong_FromUnsignedLong(self->n_columns);
}

static PyObject *
get_n_rows(const struct result *self)
{
	return PyLong_FromUnsignedLongLong(cenote_result_n_rows(self->res));
}

static PyObject *
get_tag(const struct result *self)
{
	return PyUnicode_FromString(cenote_result_tag(self->res));
}

static const struct named_property {
	property *get;
} properties[] = {
	{ get_affected_rows },
	{ get_flags },
	{ get_kind },
	{ get_last_insert_id },
	{ get_n_columns },
	{ get_n_rows },
	{ get_tag },
};

static PyObject *
result_get(PyObject *object, void *which)
{
	struct result *self = (struct result *)object;
	PyObject *value;

	if (enter(self) < 0)
		return NULL;
	value = ((const struct named_property *)which)->get(self);
	leave(self);
	return value;
}

static PyObject *
get_position(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(((struct result *)object)->next);
}

static int
set_position(PyObject *object, PyObject *value, void *unused)
{
	struct result *self = (struct result *)object;
	unsigned long long row = value ? PyLong_AsUnsignedLongLong(value) : 0;
	int is_there;

	(void)unused;
	if (PyErr_Occurred() || enter(self) < 0)
		return -1;
	is_there = row <= cenote_result_n_rows(self->res);
	if (is_there)
		self->next = row;
	else
		PyErr_SetString(PyExc_IndexError, "no such row");
	leave(self);
	return is_there ? 0 : -1;
}

static PyMethodDef methods[] = {
	{ "columns", result_columns, METH_NOARGS, "What is known of each column." },
	{ "fetch", result_fetch, METH_VARARGS, "At most so many rows; all if negative." },
	{ "next", result_next, METH_NOARGS, "Take the next batch of a streamed result." },
	{ "one", result_one, METH_NOARGS, "The next row, or None." },
	{ NULL, NULL, 0, NULL },
};

#define PROPERTY(i, name, doc)                                                           \
	{                                                                                \
		name, result_get, NULL, doc, (void *)&properties[i]                      \
	}

static PyGetSetDef getset[] = {
	PROPERTY(0, "affected_rows", "-1 if not known"),
	PROPERTY(1, "flags", "bits of enum cenote_result_flag"),
	PROPERTY(2, "kind", "enum cenote_result_kind"),
	PROPERTY(3, "last_insert_id", "0 if none"),
	PROPERTY(4, "n_columns", "number of columns"),
	PROPERTY(5, "n_rows", "rows in hand"),
	PROPERTY(6, "tag", "the server's word of what was done"),
	{ "position", get_position, set_position, "the row that comes next", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

PyTypeObject *
cpy_result_type(void)
{
	PyType_Slot slots[] = {
		{ Py_tp_dealloc, result_dealloc },
		{ Py_tp_new, cpy_no_new },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	PyType_Spec spec = {
		.name = "cenote._cenote.Result",
		.basicsize = sizeof(struct result),
		.flags = Py_TPFLAGS_DEFAULT,
		.slots = slots,
	};

	return (PyTypeObject *)PyType_FromSpec(&spec);
}
