/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPY_SESSION_H
#define CPY_SESSION_H

#include "module.h"

#include <pythread.h>
#include <stdatomic.h>

/* What was made from a session and is to be destroyed when nobody is in a call. */
struct cpy_garbage {
	void (*destroy)(void *);
	void *what;
};

struct cpy_session {
	PyObject_HEAD struct cpy_state *state;
	PyObject *module;
	cenote_conn *conn; /* NULL once closed */
	cenote_params *params; /* of the request that is being sent */
	PyObject *json_loads; /* None: JSON is text */
	PyObject *notices; /* a list, and so are these two */
	PyObject *notifications;
	PyObject *
		results; /* of the request that is being answered; NULL between requests */
	PyObject *error; /* its first one, or NULL */
	int is_async;
	int timeout_ms; /* for each call that waits; 0 for ever */
	int64_t deadline; /* of this call; 0 if it has not waited yet */
	int is_sent; /* query() has sent its request */
	int is_postgresql;

	/* Held during every call into libcenote; and between calls, by who wants several of them
	 * without another thread's among them. */
	PyThread_type_lock lock;
	atomic_ulong owner; /* the thread that has it, 0 if none */
	/* For who has it. */
	int is_in_call;
	unsigned n_turns; /* cpy_session_begin_turn() */
	int is_interrupted; /* a wait ended early: one more turn, until what runs is drained */

	/* Cancelling is for other threads. */
	PyThread_type_lock cancel_lock;
	cenote_cancel *cancel;

	PyThread_type_lock garbage_lock; /* held for a moment only */
	struct cpy_garbage *garbage;
	atomic_size_t n_garbage;
};

static inline struct cpy_session *
cpy_as_session(PyObject *object)
{
	return (struct cpy_session *)object;
}

/* Be the only one in a call: waits for others, with the interpreter's lock released. 0; or -1 and an
 * exception when the session is closed, or this thread is in a call already. */
int cpy_enter(struct cpy_session *s);
void cpy_leave(struct cpy_session *s);
/* The same for a session that may be closed. */
int cpy_enter_any(struct cpy_session *s);
/* Call this when an exception goes to the program while answers are still to come. This thread keeps the session until
 * they are drained, so no other request takes them for its own. Returns 1. */
int cpy_interrupt(struct cpy_session *s);
/* Nothing is left of what an interrupted call began. */
void cpy_resume(struct cpy_session *s);

/* Methods: the calls up to the end of a turn are this thread's. */
PyObject *cpy_session_begin_turn(PyObject *self, PyObject *unused);
PyObject *cpy_session_end_turn(PyObject *self, PyObject *args);
/* Whether a call of this thread's was interrupted, so that drain() is to be called. */
PyObject *cpy_session_is_interrupted(PyObject *self, PyObject *unused);

/* Destroy now, or when the call ends that goes on. Never waits and never fails. */
void cpy_discard(struct cpy_session *s, void (*destroy)(void *), void *what);

/* Wait as the session does: 0 the call is to be made again, else 1: an exception is set, or the
 * session is asynchronous. */
int cpy_wait(struct cpy_session *s);

/* Make a call of libcenote until it need not wait. */
#define CPY_CALL(s, r, call)                                                             \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && cpy_wait(s) == 0)

/* The end of a call that did not succeed: the state's `again`, or NULL and an exception. */
PyObject *cpy_failed(struct cpy_session *s, int status);
/* An exception for these diagnostics, not raised. */
PyObject *cpy_error(const struct cpy_state *state, int status, const cenote_diag *diag);
void cpy_raise(const struct cpy_state *state, int status, const cenote_diag *diag);

/* None for CENOTE_OK, else what cpy_failed() says. */
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

/* result.c: takes `res` over, also when it fails. Of one that is not whole the rows are replaced. */
PyObject *cpy_result_new(struct cpy_session *s, cenote_result *res, int is_whole);

/* statement.c */
PyObject *cpy_statement_new(struct cpy_session *s, cenote_stmt *stmt);
/* NULL if the object is none of this session. */
cenote_stmt *cpy_statement_handle(const struct cpy_session *s, PyObject *object);

#endif
