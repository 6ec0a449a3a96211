/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPY_MODULE_H
#define CPY_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cenote/cenote.h>

/*
 * What one interpreter's copy of the module needs; there is nothing global. Objects keep the
 * module, and with it this.
 */
struct cpy_state {
	PyTypeObject *session_type;
	PyTypeObject *result_type;
	PyTypeObject *statement_type;
	PyObject *again; /* a call that would wait; only in asynchronous sessions */
	/* From the package. */
	PyObject *make_error; /* (status, sqlstate, native, message, fields) */
	PyObject *adapt;
	PyObject *parse_interval;
	PyObject *read_array; /* (type's name, text) */
	PyObject *write_array;
	/* From the standard library: all of these stay to the end of the list. */
	PyObject *date;
	PyObject *datetime;
	PyObject *decimal;
	PyObject *time;
	PyObject *timedelta;
	PyObject *timezone;
	PyObject *uuid;
};

struct cpy_session;

/* The types, made for one interpreter. NULL and an exception on failure. */
PyTypeObject *cpy_session_type(void);
PyTypeObject *cpy_result_type(void);
PyTypeObject *cpy_statement_type(void);

/* Types are made by the module's own functions only. */
PyObject *cpy_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* Free an object of one of our types, when what it held is gone. */
void cpy_free(PyObject *self);

/* A session for _cenote.Session(): options are a sequence of (name, value). */
PyObject *cpy_session_new(PyObject *module, PyObject *args);

/* params.c: fill the session's list with a sequence's values. 0, or -1 and an exception. */
int cpy_params_fill(struct cpy_session *s, PyObject *values);

/* values.c: values that came in canonical form. One that is none of its column's type, or that Python's type
 * cannot hold (an infinite date), is handed out as the text that it is: its decoder says so by returning
 * NULL without an exception, and cpy_undecoded() then gives the text. */
typedef PyObject *cpy_decode(const struct cpy_session *s, const char *text, size_t len);
/* Of a logical type. */
cpy_decode *cpy_decoder(uint32_t type);
PyObject *cpy_undecoded(const struct cpy_session *s, const char *text, size_t len);

#endif
