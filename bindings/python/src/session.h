/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPY_SESSION_H
#define CPY_SESSION_H

#include "module.h"

#include <pythread.h>
#include <stdatomic.h>

/* An object of a session that will be destroyed when no thread is in a call. */
struct cpy_garbage {
	void (*destroy)(void *);
	void *what;
};

struct cpy_session {
	PyObject_HEAD struct cpy_state *state;
	PyObject *module;
	cenote_conn *conn; /* NULL once closed */
	cenote_params *params; /* parameters of the request that is being sent */
	PyObject *json_loads; /* None: JSON is text */
	PyObject *notices; /* a list; the next two members are also lists */
	PyObject *notifications;
	/* results of the request whose answers are arriving; NULL between requests */
	PyObject *results;
	PyObject *error; /* the first error, or NULL */
	int is_async;
	int timeout_ms; /* for each call that waits; 0: for ever */
	int64_t deadline; /* when this call gives up; 0: it has not waited yet */
	int is_sent; /* query() has sent its request */
	int is_postgresql;

	/* Held during each call into libcenote. A thread also holds it between calls that must not
	 * mix with those of other threads. */
	PyThread_type_lock lock;
	atomic_ulong owner; /* the thread that has the lock; 0: none */
	/* For the owner only. */
	int is_in_call;
	unsigned n_turns; /* cpy_session_begin_turn() */
	/* a wait ended early: the thread keeps one more turn until drain() */
	int is_interrupted;

	/* For other threads that cancel a request. */
	PyThread_type_lock cancel_lock;
	cenote_cancel *cancel;

	PyThread_type_lock garbage_lock; /* held briefly */
	struct cpy_garbage *garbage;
	atomic_size_t n_garbage;
};

static inline struct cpy_session *
cpy_as_session(PyObject *object)
{
	return (struct cpy_session *)object;
}

/* Become the only thread in a call. It waits for others without the interpreter's lock. 0; or -1
 * and an exception: the session is closed, or this thread is in a call already. */
int cpy_enter(struct cpy_session *s);
void cpy_leave(struct cpy_session *s);
/* The same, but also for a closed session. */
int cpy_enter_any(struct cpy_session *s);
/* Call this when the program gets an exception before all answers have come. This thread keeps the
 * session until the answers are drained, so that no other request takes them. Returns 1. */
int cpy_interrupt(struct cpy_session *s);
/* All answers of an interrupted call have been drained. */
void cpy_resume(struct cpy_session *s);

/* Methods: until the end of the turn, only this thread can make calls. */
PyObject *cpy_session_begin_turn(PyObject *self, PyObject *unused);
PyObject *cpy_session_end_turn(PyObject *self, PyObject *args);
/* Was a call of this thread interrupted, so that the thread must call drain()? */
PyObject *cpy_session_is_interrupted(PyObject *self, PyObject *unused);

/* Destroy an object now, or at the end of the running call. This never waits and never fails. */
void cpy_discard(struct cpy_session *s, void (*destroy)(void *), void *what);

/* Wait, unless the session is asynchronous. 0: repeat the call; 1: an exception is set, or the
 * session is asynchronous. */
int cpy_wait(struct cpy_session *s);

/* Repeat a call of libcenote until it need not wait. */
#define CPY_CALL(s, r, call)                                                             \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && cpy_wait(s) == 0)

/* The return value for a call that did not succeed: the object AGAIN, or NULL and an exception. */
PyObject *cpy_failed(struct cpy_session *s, int status);
/* Make an exception from diagnostics, without raising it. */
PyObject *cpy_error(const struct cpy_state *state, int status, const cenote_diag *diag);
void cpy_raise(const struct cpy_state *state, int status, const cenote_diag *diag);

/* None for CENOTE_OK, else the return value of cpy_failed(). */
PyObject *cpy_none_or_failed(struct cpy_session *s, int status);

/* request.c: methods of the session, by their names. */
PyObject *cpy_session_catalog(PyObject *self, PyObject *args);
PyObject *cpy_session_copy_end(PyObject *self, PyObject *args);
PyObject *cpy_session_copy_get(PyObject *self, PyObject *args);
PyObject *cpy_session_copy_put(PyObject *self, PyObject *args);
PyObject *cpy_session_drain(PyObject *self, PyObject *args);
PyObject *cpy_session_query(PyObject *self, PyObject *args);
PyObject *cpy_session_result(PyObject *self, PyObject *args);
PyObject *cpy_session_results(PyObject *self, PyObject *args);
PyObject *cpy_session_send(PyObject *self, PyObject *args);
PyObject *cpy_session_statement(PyObject *self, PyObject *args);

/* simple.c: methods of the session, by their names. */
PyObject *cpy_session_fact(PyObject *self, PyObject *args);
PyObject *cpy_session_number(PyObject *self, PyObject *args);
PyObject *cpy_session_run(PyObject *self, PyObject *args);

/* result.c: make an object that owns `res`. On failure `res` is destroyed. The rows of a streamed
 * result change. */
PyObject *cpy_result_new(struct cpy_session *s, cenote_result *res, int is_whole);

/* statement.c */
PyObject *cpy_statement_new(struct cpy_session *s, cenote_stmt *stmt);
/* The handle; NULL: the object does not belong to this session. */
cenote_stmt *cpy_statement_handle(const struct cpy_session *s, PyObject *object);

#endif
