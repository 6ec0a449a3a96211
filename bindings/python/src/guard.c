/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call at a time for each session, and waiting.
 *
 * The handle is always non-blocking, so libcenote never waits, except for a host name. This file
 * waits instead, without the interpreter's lock. During that time the session's own lock keeps
 * other threads out. In interpreters without a lock, the session's lock always does so.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

static void
empty_garbage(struct cpy_session *s)
{
	struct cpy_garbage *garbage;
	size_t n, i;

	if (s->n_garbage == 0)
		return;
	(void)PyThread_acquire_lock(s->garbage_lock, WAIT_LOCK);
	garbage = s->garbage;
	n = s->n_garbage;
	s->garbage = NULL;
	s->n_garbage = 0;
	PyThread_release_lock(s->garbage_lock);
	for (i = 0; garbage && i < n; i++)
		garbage[i].destroy(garbage[i].what);
	free(garbage);
}

static int
fail(struct cpy_session *s, int status, const char *sqlstate, const char *message)
{
	PyObject *error = PyObject_CallFunction(
		s->state->make_error, "isisO", status, sqlstate, 0, message, Py_None);

	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
	return -1;
}

/* Does this thread have the lock? Only this thread can have written its own number there. */
static int
is_mine(const struct cpy_session *s)
{
	return s->owner == PyThread_get_thread_ident();
}

int
cpy_enter_any(struct cpy_session *s)
{
	if (!PyThread_acquire_lock(s->lock, NOWAIT_LOCK)) {
		if (is_mine(s) && s->is_in_call)
			return fail(s, CENOTE_ERR_STATE, "55000",
				"the connection is used by what one of its calls called");
		if (!is_mine(s)) {
			Py_BEGIN_ALLOW_THREADS
			PyThread_acquire_lock(s->lock, WAIT_LOCK);
			Py_END_ALLOW_THREADS
		}
	}
	s->owner = PyThread_get_thread_ident();
	s->is_in_call = 1;
	s->deadline = 0;
	empty_garbage(s);
	return 0;
}

int
cpy_enter(struct cpy_session *s)
{
	if (cpy_enter_any(s) < 0)
		return -1;
	if (s->conn)
		return 0;
	cpy_leave(s);
	return fail(s, CENOTE_ERR_STATE, "08003", "the connection is closed");
}

void
cpy_leave(struct cpy_session *s)
{
	empty_garbage(s);
	s->is_in_call = 0;
	if (s->n_turns > 0)
		return;
	s->owner = 0;
	PyThread_release_lock(s->lock);
}

PyObject *
cpy_session_begin_turn(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);

	(void)unused;
	if (cpy_enter_any(s) < 0)
		return NULL;
	s->n_turns++;
	cpy_leave(s);
	Py_RETURN_NONE;
}

PyObject *
cpy_session_end_turn(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);

	(void)args;
	if (cpy_enter_any(s) < 0)
		return NULL;
	if (s->n_turns > 0)
		s->n_turns--;
	cpy_leave(s);
	Py_RETURN_NONE;
}

PyObject *
cpy_session_is_interrupted(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);

	(void)unused;
	return PyBool_FromLong(is_mine(s) && s->is_interrupted);
}

int
cpy_interrupt(struct cpy_session *s)
{
	if (!s->is_interrupted)
		s->n_turns++;
	s->is_interrupted = 1;
	return 1;
}

void
cpy_resume(struct cpy_session *s)
{
	if (s->is_interrupted)
		s->n_turns--;
	s->is_interrupted = 0;
}

/* Keep an object to destroy it later. Without memory for the list the object is never freed: a
 * leak, but nothing worse. */
static void
keep_garbage(struct cpy_session *s, void (*destroy)(void *), void *what)
{
	struct cpy_garbage *garbage;

	(void)PyThread_acquire_lock(s->garbage_lock, WAIT_LOCK);
	garbage = realloc(s->garbage, (s->n_garbage + 1) * sizeof(*garbage));
	if (garbage) {
		s->garbage = garbage;
		garbage[s->n_garbage].destroy = destroy;
		garbage[s->n_garbage++].what = what;
	}
	PyThread_release_lock(s->garbage_lock);
}

void
cpy_discard(struct cpy_session *s, void (*destroy)(void *), void *what)
{
	if (!PyThread_acquire_lock(s->lock, NOWAIT_LOCK)) {
		keep_garbage(s, destroy, what);
		return;
	}
	destroy(what);
	PyThread_release_lock(s->lock);
}

static int64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The time to wait: as libcenote says, but not beyond the session's limit. -1: for ever; -2 and an
 * exception: the time is up. */
static int
wait_ms(struct cpy_session *s)
{
	int ms = cenote_wait_ms(s->conn);
	int64_t left;

	if (s->timeout_ms <= 0)
		return ms;
	if (s->deadline == 0)
		s->deadline = now_ms() + s->timeout_ms;
	left = s->deadline - now_ms();
	if (left <= 0) {
		(void)fail(
			s, CENOTE_ERR_TIMEOUT, "HYT00", "no answer within query_timeout");
		return -2;
	}
	return ms < 0 || left < ms ? (int)left : ms;
}

int
cpy_wait(struct cpy_session *s)
{
	int wants = cenote_wants(s->conn), ms, r;
	struct pollfd p = { .fd = wants ? cenote_fd(s->conn) : -1 };

	if (s->is_async)
		return 1;
	ms = wait_ms(s);
	if (ms < -1)
		return cpy_interrupt(s);
	p.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			   (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	Py_BEGIN_ALLOW_THREADS
	r = poll(&p, 1, ms);
	Py_END_ALLOW_THREADS
	if (r < 0 && errno != EINTR) {
		PyErr_SetFromErrno(PyExc_OSError);
		return cpy_interrupt(s);
	}
	return r < 0 && PyErr_CheckSignals() < 0 ? cpy_interrupt(s) : 0;
}

PyObject *
cpy_failed(struct cpy_session *s, int status)
{
	if (status == CENOTE_AGAIN) {
		if (PyErr_Occurred())
			return NULL;
		Py_INCREF(s->state->again);
		return s->state->again;
	}
	s->is_sent = 0;
	Py_CLEAR(s->results);
	Py_CLEAR(s->error);
	cpy_raise(s->state, status, cenote_conn_diag(s->conn));
	return NULL;
}

PyObject *
cpy_none_or_failed(struct cpy_session *s, int r)
{
	if (r != CENOTE_OK)
		return cpy_failed(s, r);
	Py_RETURN_NONE;
}
