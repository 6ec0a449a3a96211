/* SPDX-License-Identifier: BSD-2-Clause */
/* _cenote.Statement: a prepared statement for Session.query() and Session.send(). */
#include "session.h"

struct statement {
	PyObject_HEAD struct cpy_session *session;
	cenote_stmt *stmt;
};

static void
destroy(void *stmt)
{
	cenote_stmt_destroy(stmt);
}

PyObject *
cpy_statement_new(struct cpy_session *s, cenote_stmt *stmt)
{
	struct statement *self = PyObject_New(struct statement, s->state->statement_type);

	if (!self) {
		cenote_stmt_destroy(stmt);
		return NULL;
	}
	Py_INCREF((PyObject *)s);
	self->session = s;
	self->stmt = stmt;
	return (PyObject *)self;
}

cenote_stmt *
cpy_statement_handle(const struct cpy_session *s, PyObject *object)
{
	struct statement *self = (struct statement *)object;

	if (Py_TYPE(object) == s->state->statement_type && self->session == s)
		return self->stmt;
	return NULL;
}

static void
statement_dealloc(PyObject *object)
{
	struct statement *self = (struct statement *)object;

	cpy_discard(self->session, destroy, self->stmt);
	Py_DECREF((PyObject *)self->session);
	cpy_free(object);
}

static PyObject *
statement_prepare(PyObject *object, PyObject *unused)
{
	struct statement *self = (struct statement *)object;
	PyObject *answer = Py_None;
	int r;

	(void)unused;
	if (cpy_enter(self->session) < 0)
		return NULL;
	CPY_CALL(self->session, r, cenote_stmt_prepare(self->stmt));
	if (r == CENOTE_OK)
		Py_INCREF(answer);
	else
		answer = cpy_failed(self->session, r);
	cpy_leave(self->session);
	return answer;
}

static PyMethodDef methods[] = {
	{ "prepare", statement_prepare, METH_NOARGS, "Prepare it, so that it is known." },
	{ NULL, NULL, 0, NULL },
};

PyTypeObject *
cpy_statement_type(void)
{
	PyType_Slot slots[] = {
		{ Py_tp_dealloc, statement_dealloc },
		{ Py_tp_new, cpy_no_new },
		{ Py_tp_methods, methods },
		{ 0, NULL },
	};
	PyType_Spec spec = {
		.name = "cenote._cenote.Statement",
		.basicsize = sizeof(struct statement),
		.flags = Py_TPFLAGS_DEFAULT,
		.slots = slots,
	};

	return (PyTypeObject *)PyType_FromSpec(&spec);
}
