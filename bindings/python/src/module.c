/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenote._cenote: libcenote for the Python package. All waiting is here; the package adds PEP 249.
 *
 * The module uses the stable ABI of Python 3.9, so that one build serves every later version. Slots
 * that older versions do not know tell newer versions what the module supports.
 */
#include "session.h"

#include <stdlib.h>

/* Values from newer Python headers, which the headers of 3.9 do not have. */
#define SLOT_MULTIPLE_INTERPRETERS 3
#define PER_INTERPRETER_GIL        ((void *)2)
#define SLOT_GIL                   4
#define GIL_NOT_USED               ((void *)1)

PyObject *
cpy_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	(void)type;
	(void)args;
	(void)kwargs;
	PyErr_SetString(PyExc_TypeError, "use cenote.connect()");
	return NULL;
}

void
cpy_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	release(self);
	Py_DECREF(type);
}

/* Import an object of a module into `to`. */
static int
import_into(PyObject **to, const char *module, const char *name)
{
	PyObject *m = PyImport_ImportModule(module);

	if (!m)
		return -1;
	*to = PyObject_GetAttrString(m, name);
	Py_DECREF(m);
	return *to ? 0 : -1;
}

static int
import_all(struct cpy_state *state)
{
	const struct {
		PyObject **to;
		const char *module;
		const char *name;
	} imports[] = {
		{ &state->make_error, "cenote._errors", "make_error" },
		{ &state->adapt, "cenote._types", "adapt" },
		{ &state->parse_interval, "cenote._types", "parse_interval" },
		{ &state->read_array, "cenote._types", "read_array" },
		{ &state->write_array, "cenote._types", "write_array" },
		{ &state->date, "datetime", "date" },
		{ &state->datetime, "datetime", "datetime" },
		{ &state->decimal, "decimal", "Decimal" },
		{ &state->time, "datetime", "time" },
		{ &state->timedelta, "datetime", "timedelta" },
		{ &state->timezone, "datetime", "timezone" },
		{ &state->uuid, "uuid", "UUID" },
	};
	size_t i;

	for (i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
		if (import_into(imports[i].to, imports[i].module, imports[i].name) < 0)
			return -1;
	}
	return 0;
}

static int
add_object(PyObject *module, const char *name, PyObject *object)
{
	if (!object)
		return -1;
	Py_INCREF(object);
	if (PyModule_AddObject(module, name, object) == 0)
		return 0;
	Py_DECREF(object);
	return -1;
}

static int
module_exec(PyObject *module)
{
	struct cpy_state *state = PyModule_GetState(module);

	if (import_all(state) < 0)
		return -1;
	state->session_type = cpy_session_type();
	state->result_type = cpy_result_type();
	state->statement_type = cpy_statement_type();
	state->again = PyUnicode_FromString("AGAIN");
	if (add_object(module, "AGAIN", state->again) < 0 ||
		add_object(module, "SessionType", (PyObject *)state->session_type) < 0 ||
		add_object(module, "Result", (PyObject *)state->result_type) < 0 ||
		add_object(module, "Statement", (PyObject *)state->statement_type) < 0)
		return -1;
	return PyModule_AddIntConstant(module, "VERSION", (long)cenote_version());
}

/* The state consists only of references. */
static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
	PyObject **refs = PyModule_GetState(module);
	size_t i;

	for (i = 0; refs && i < sizeof(struct cpy_state) / sizeof(*refs); i++)
		Py_VISIT(refs[i]);
	return 0;
}

static int
module_clear(PyObject *module)
{
	PyObject **refs = PyModule_GetState(module);
	size_t i;

	for (i = 0; refs && i < sizeof(struct cpy_state) / sizeof(*refs); i++)
		Py_CLEAR(refs[i]);
	return 0;
}

static void
module_free(void *module)
{
	module_clear(module);
}

static PyMethodDef functions[] = {
	{ "Session", cpy_session_new, METH_VARARGS,
		"Session(options, is_async, json_loads): a session that is not connected "
		"yet." },
	{ NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots_3_9[] = {
	{ Py_mod_exec, module_exec },
	{ 0, NULL },
};

static PyModuleDef_Slot slots_3_12[] = {
	{ Py_mod_exec, module_exec },
	{ SLOT_MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL },
	{ 0, NULL },
};

static PyModuleDef_Slot slots_3_13[] = {
	{ Py_mod_exec, module_exec },
	{ SLOT_MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL },
	{ SLOT_GIL, GIL_NOT_USED },
	{ 0, NULL },
};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "cenote._cenote",
	.m_doc = "libcenote, for the package cenote.",
	.m_size = sizeof(struct cpy_state),
	.m_methods = functions,
	.m_traverse = module_traverse,
	.m_clear = module_clear,
	.m_free = module_free,
};

/* The version of the interpreter that loads the module: "3.MINOR...". */
static long
minor_version(void)
{
	return strtol(Py_GetVersion() + 2, NULL, 10);
}

PyMODINIT_FUNC PyInit__cenote(void);

PyMODINIT_FUNC
PyInit__cenote(void)
{
	long minor = minor_version();

	definition.m_slots = minor >= 13   ? slots_3_13
			     : minor == 12 ? slots_3_12
					   : slots_3_9;
	return PyModuleDef_Init(&definition);
}
