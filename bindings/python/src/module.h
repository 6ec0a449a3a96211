/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPY_MODULE_H
#define CPY_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cenote/cenote.h>

/* The state of one interpreter's copy of the module. Nothing is global. Objects keep the module
 * alive, and with it this state. */
struct cpy_state {
	PyTypeObject *session_type;
	PyTypeObject *result_type;
	PyTypeObject *statement_type;
	/* the object that asynchronous sessions return for a call that would wait */
	PyObject *again;
	/* from the package: */
	PyObject *make_error; /* (status, sqlstate, native, message, fields) */
	PyObject *adapt;
	PyObject *parse_interval;
	PyObject *read_array; /* (type's name, text) */
	PyObject *write_array;
	/* from the standard library, up to the end of the struct: */
	PyObject *date;
	PyObject *datetime;
	PyObject *decimal;
	PyObject *time;
	PyObject *timedelta;
	PyObject *timezone;
	PyObject *uuid;
};

struct cpy_session;

/* Make a type for one interpreter. NULL and an exception on failure. */
PyTypeObject *cpy_session_type(void);
PyTypeObject *cpy_result_type(void);
PyTypeObject *cpy_statement_type(void);

/* Only functions of the module make objects of these types. */
PyObject *cpy_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* Free an object of one of the module's types. Its members must be freed before. */
void cpy_free(PyObject *self);

/* Make a session for _cenote.Session(). The options are a sequence of (name, value). */
PyObject *cpy_session_new(PyObject *module, PyObject *args);

/* params.c: fill the session's list from a sequence. 0, or -1 and an exception. */
int cpy_params_fill(struct cpy_session *s, PyObject *values);

/*
 * values.c: convert values from canonical form. A value that does not have the form of its type, or
 * that Python's type cannot hold (an infinite date), stays a text. Its decoder then returns NULL
 * without an exception, and cpy_undecoded() returns the text.
 */
typedef PyObject *cpy_decode(const struct cpy_session *s, const char *text, size_t len);
/* The decoder for a logical type. */
cpy_decode *cpy_decoder(uint32_t type);
PyObject *cpy_undecoded(const struct cpy_session *s, const char *text, size_t len);

#endif
