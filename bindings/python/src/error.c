/* SPDX-License-Identifier: BSD-2-Clause */
/* Make exceptions of the package from diagnostics. */
#include "session.h"

#include <string.h>

/* All fields of the diagnostics, by their letters. */
static PyObject *
fields_of(const cenote_diag *diag)
{
	static const char letters[] = "SVCMDHPpqWstcdnFLRNBXA";
	PyObject *fields = PyDict_New();
	size_t i;

	for (i = 0; fields && i < sizeof(letters) - 1; i++) {
		const char name[2] = { letters[i], '\0' };
		const char *text = cenote_diag_field(diag, letters[i]);
		PyObject *value;

		if (!text)
			continue;
		value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
		if (!value || PyDict_SetItemString(fields, name, value) < 0)
			Py_CLEAR(fields);
		Py_XDECREF(value);
	}
	return fields;
}

PyObject *
cpy_error(const struct cpy_state *state, int status, const cenote_diag *diag)
{
	const char *message = cenote_diag_message(diag);
	PyObject *text, *fields = fields_of(diag), *error = NULL;

	text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
	if (fields && text)
		error = PyObject_CallFunction(state->make_error, "isiOO", status,
			cenote_diag_sqlstate(diag), (int)cenote_diag_native(diag), text,
			fields);
	Py_XDECREF(text);
	Py_XDECREF(fields);
	return error;
}

void
cpy_raise(const struct cpy_state *state, int status, const cenote_diag *diag)
{
	PyObject *error;

	if (status == CENOTE_ERR_NOMEM) {
		PyErr_NoMemory();
		return;
	}
	error = cpy_error(state, status, diag);
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
}
