/* SPDX-License-Identifier: BSD-2-Clause */
/* _cenote.Session: a libcenote connection and its calls. In an asynchronous session a call that
 * would wait returns AGAIN, and the package repeats it when the descriptor is ready. */
#include "session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

/* ---------------------------------------------------------------- beginning, end ----- */

static void
on_notice(const cenote_diag *notice, void *user)
{
	struct cpy_session *s = user;
	PyObject *warning = cpy_error(s->state, CENOTE_OK, notice);

	if (!warning || PyList_Append(s->notices, warning) < 0)
		PyErr_Clear();
	Py_XDECREF(warning);
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct cpy_session *s = user;
	PyObject *item = Py_BuildValue("Iss", pid, channel, payload);

	if (!item || PyList_Append(s->notifications, item) < 0)
		PyErr_Clear();
	Py_XDECREF(item);
}

/* Make the locks and libcenote's handles. */
static int
make_parts(struct cpy_session *s)
{
	s->lock = PyThread_allocate_lock();
	s->cancel_lock = PyThread_allocate_lock();
	s->garbage_lock = PyThread_allocate_lock();
	s->notices = PyList_New(0);
	s->notifications = PyList_New(0);
	if (!s->lock || !s->cancel_lock || !s->garbage_lock || !s->notices ||
		!s->notifications || cenote_params_create(NULL, &s->params) < 0 ||
		cenote_conn_create(NULL, &s->conn) < 0) {
		PyErr_NoMemory();
		return -1;
	}
	(void)cenote_set_nonblocking(s->conn, 1);
	return 0;
}

/* Set the option NAME, or "uri" for several options at once. */
static int
set_option(struct cpy_session *s, PyObject *option)
{
	const char *name, *value;
	int r;

	if (!PyArg_ParseTuple(option, "sz", &name, &value))
		return -1;
	r = strcmp(name, "uri") == 0 ? cenote_conn_set_uri(s->conn, value)
				     : cenote_conn_set(s->conn, name, value);
	if (r == CENOTE_OK)
		return 0;
	cpy_raise(s->state, r, cenote_conn_diag(s->conn));
	return -1;
}

static int
set_options(struct cpy_session *s, PyObject *options)
{
	Py_ssize_t n = PyList_Size(options), i;

	for (i = 0; i < n; i++) {
		if (set_option(s, PyList_GetItem(options, i)) < 0)
			return -1;
	}
	return n < 0 ? -1 : 0;
}

PyObject *
cpy_session_new(PyObject *module, PyObject *args)
{
	struct cpy_state *state = PyModule_GetState(module);
	PyObject *options, *json_loads;
	struct cpy_session *s;
	int is_async;

	if (!PyArg_ParseTuple(args, "OpO:Session", &options, &is_async, &json_loads))
		return NULL;
	s = PyObject_GC_New(struct cpy_session, state->session_type);
	if (!s)
		return NULL;
	/* Clear all members after the object's head. */
	memset((char *)s + offsetof(struct cpy_session, state), 0,
		sizeof(*s) - offsetof(struct cpy_session, state));
	s->state = state;
	s->module = module;
	s->json_loads = json_loads;
	s->is_async = is_async;
	Py_INCREF(module);
	Py_INCREF(json_loads);
	PyObject_GC_Track((PyObject *)s);
	if (make_parts(s) == 0 && set_options(s, options) == 0)
		return (PyObject *)s;
	Py_DECREF((PyObject *)s);
	return NULL;
}

static int
session_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct cpy_session *s = cpy_as_session(object);

	Py_VISIT(s->module);
	Py_VISIT(s->json_loads);
	Py_VISIT(s->notices);
	Py_VISIT(s->notifications);
	Py_VISIT(s->results);
	Py_VISIT(s->error);
	Py_VISIT((PyObject *)Py_TYPE(object));
	return 0;
}

static int
session_clear(PyObject *object)
{
	struct cpy_session *s = cpy_as_session(object);

	Py_CLEAR(s->json_loads);
	Py_CLEAR(s->notices);
	Py_CLEAR(s->notifications);
	Py_CLEAR(s->results);
	Py_CLEAR(s->error);
	return 0;
}

static void
free_lock(PyThread_type_lock lock)
{
	if (lock)
		PyThread_free_lock(lock);
}

static void
session_dealloc(PyObject *object)
{
	struct cpy_session *s = cpy_as_session(object);
	size_t i;

	PyObject_GC_UnTrack(object);
	for (i = 0; i < s->n_garbage; i++)
		s->garbage[i].destroy(s->garbage[i].what);
	free(s->garbage);
	cenote_conn_destroy(s->conn);
	cenote_cancel_destroy(s->cancel);
	cenote_params_destroy(s->params);
	session_clear(object);
	free_lock(s->lock);
	free_lock(s->cancel_lock);
	free_lock(s->garbage_lock);
	Py_XDECREF(s->module);
	cpy_free(object);
}

/* Connecting may look up a host name, which takes time even in asynchronous sessions. */
static int
connect_step(struct cpy_session *s)
{
	int r;

	Py_BEGIN_ALLOW_THREADS
	r = cenote_connect(s->conn);
	Py_END_ALLOW_THREADS
	return r;
}

static int
make_cancel(struct cpy_session *s)
{
	cenote_cancel *cancel, *old;
	int r = cenote_cancel_create(s->conn, &cancel);

	if (r < 0)
		return r;
	/* The thread that holds this lock may wait for the interpreter. */
	Py_BEGIN_ALLOW_THREADS
	PyThread_acquire_lock(s->cancel_lock, WAIT_LOCK);
	Py_END_ALLOW_THREADS
	old = s->cancel;
	s->cancel = cancel;
	PyThread_release_lock(s->cancel_lock);
	cenote_cancel_destroy(old);
	return CENOTE_OK;
}

static PyObject *
session_connect(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *backend;
	PyObject *answer;
	int r;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, connect_step(s));
	if (r == CENOTE_OK)
		r = make_cancel(s);
	if (r == CENOTE_OK) {
		backend = cenote_info(s->conn, "backend");
		s->is_postgresql = backend && strcmp(backend, "postgresql") == 0;
		cenote_set_notice_handler(s->conn, on_notice, s);
		cenote_set_notification_handler(s->conn, on_notification, s);
	}
	answer = cpy_none_or_failed(s, r);
	cpy_leave(s);
	return answer;
}

/* Give the session back. Closing it again is not an error. */
static PyObject *
session_close(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);

	(void)unused;
	if (cpy_enter_any(s) < 0)
		return NULL;
	cenote_conn_destroy(s->conn);
	s->conn = NULL;
	Py_CLEAR(s->results);
	Py_CLEAR(s->error);
	cpy_resume(s);
	cpy_leave(s);
	Py_RETURN_NONE;
}

/* ------------------------------------------------------------- unrequested messages ----- */

/* Return the list, and leave an empty one in its place. */
static PyObject *
take_list(PyObject **list)
{
	PyObject *full = *list, *empty = PyList_New(0);

	if (!empty)
		return NULL;
	*list = empty;
	return full;
}

/* Read the messages that have arrived, without waiting. Returns the notifications up to now. */
static PyObject *
session_notifications(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	PyObject *answer;
	int r;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	r = cenote_process(s->conn);
	answer = r < 0 ? cpy_failed(s, r) : take_list(&s->notifications);
	cpy_leave(s);
	return answer;
}

/* Wait until there is something to read: 0; or -1 and an exception. */
static int
wait_to_read(struct cpy_session *s, int timeout_ms)
{
	struct pollfd p = { .fd = cenote_wants(s->conn) ? cenote_fd(s->conn) : -1,
		.events = POLLIN };
	int r;

	Py_BEGIN_ALLOW_THREADS
	r = poll(&p, 1, timeout_ms);
	Py_END_ALLOW_THREADS
	return r < 0 ? PyErr_CheckSignals() : 0;
}

/* For a synchronous session: wait for the first notification, and return all that have come; -1 ms:
 * for ever. Any message from the server ends the wait. */
static PyObject *
session_wait_notifications(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	PyObject *answer = NULL;
	int timeout_ms, r;

	if (!PyArg_ParseTuple(args, "i:wait_notifications", &timeout_ms) ||
		cpy_enter(s) < 0)
		return NULL;
	r = cenote_process(s->conn);
	if (r >= 0 && PyList_Size(s->notifications) == 0 && timeout_ms != 0) {
		if (wait_to_read(s, timeout_ms) < 0) {
			cpy_leave(s);
			return NULL;
		}
		r = cenote_process(s->conn);
	}
	answer = r < 0 ? cpy_failed(s, r) : take_list(&s->notifications);
	cpy_leave(s);
	return answer;
}

static PyObject *
session_notices(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	PyObject *answer;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	answer = take_list(&s->notices);
	cpy_leave(s);
	return answer;
}

/* -------------------------------------------------------------------------- cancel ----- */

/* This can be called from any thread, even while another one waits in a call. True: the cancel
 * arrived. */
static PyObject *
session_cancel(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	int r = CENOTE_DONE;

	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	PyThread_acquire_lock(s->cancel_lock, WAIT_LOCK);
	if (s->cancel)
		r = cenote_cancel_send(s->cancel);
	Py_END_ALLOW_THREADS
	if (r < 0)
		cpy_raise(s->state, r, cenote_cancel_diag(s->cancel));
	PyThread_release_lock(s->cancel_lock);
	return r < 0 ? NULL : PyBool_FromLong(r == CENOTE_OK);
}

static PyMethodDef methods[] = {
	{ "__enter__", cpy_session_begin_turn, METH_NOARGS,
		"Keep other threads waiting, also between calls." },
	{ "__exit__", cpy_session_end_turn, METH_VARARGS, "Let them go on." },
	{ "cancel", session_cancel, METH_NOARGS, "Cancel the request that runs." },
	{ "catalog", cpy_session_catalog, METH_VARARGS, "Send a catalog request." },
	{ "close", session_close, METH_NOARGS, "Give the session back." },
	{ "connect", session_connect, METH_NOARGS, "Attach to a session of the pool." },
	{ "copy_end", cpy_session_copy_end, METH_VARARGS, "End a copy in, or give up." },
	{ "copy_get", cpy_session_copy_get, METH_NOARGS,
		"The next piece, None at the end." },
	{ "copy_put", cpy_session_copy_put, METH_VARARGS, "Send a piece of a copy in." },
	{ "drain", cpy_session_drain, METH_NOARGS, "Throw away what is still to come." },
	{ "fact", cpy_session_fact, METH_VARARGS, "fact(kind, name): text, or None." },
	{ "is_interrupted", cpy_session_is_interrupted, METH_NOARGS,
		"Whether drain() is to be called." },
	{ "notices", session_notices, METH_NOARGS, "Take the notices so far." },
	{ "notifications", session_notifications, METH_NOARGS, "Read, and take them." },
	{ "number", cpy_session_number, METH_VARARGS,
		"number(name): a state of the session." },
	{ "query", cpy_session_query, METH_VARARGS, "Send, and take every result." },
	{ "result", cpy_session_result, METH_NOARGS,
		"The next result, None at the end." },
	{ "results", cpy_session_results, METH_NOARGS,
		"The results of the oldest request." },
	{ "run", cpy_session_run, METH_VARARGS, "run(name, ...): a simple request." },
	{ "send", cpy_session_send, METH_VARARGS, "Send a statement." },
	{ "statement", cpy_session_statement, METH_VARARGS,
		"A statement, not prepared yet." },
	{ "wait_notifications", session_wait_notifications, METH_VARARGS,
		"The same, waiting for the first for so many ms." },
	{ NULL, NULL, 0, NULL },
};

static PyMemberDef members[] = {
	{ "timeout_ms", T_INT, offsetof(struct cpy_session, timeout_ms), 0,
		"for each call that waits; 0 for ever" },
	{ NULL, 0, 0, 0, NULL },
};

PyTypeObject *
cpy_session_type(void)
{
	PyType_Slot slots[] = {
		{ Py_tp_clear, session_clear },
		{ Py_tp_dealloc, session_dealloc },
		{ Py_tp_members, members },
		{ Py_tp_methods, methods },
		{ Py_tp_new, cpy_no_new },
		{ Py_tp_traverse, session_traverse },
		{ 0, NULL },
	};
	PyType_Spec spec = {
		.name = "cenote._cenote.Session",
		.basicsize = sizeof(struct cpy_session),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
		.slots = slots,
	};

	return (PyTypeObject *)PyType_FromSpec(&spec);
}
