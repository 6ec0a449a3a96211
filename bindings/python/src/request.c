/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements and their results, and copies. */
#include "session.h"

/* The program's request, and how to run it. */
struct request {
	PyObject *what; /* bytes of SQL, or a Statement */
	PyObject *values; /* a sequence, or None */
	cenote_exec_options options;
};

static int
send_filled(struct cpy_session *s, const struct request *req)
{
	const cenote_params *params = req->values == Py_None ? NULL : s->params;
	cenote_stmt *stmt = cpy_statement_handle(s, req->what);
	char *sql;
	Py_ssize_t len;
	int r;

	if (stmt) {
		CPY_CALL(s, r, cenote_send_execute(stmt, params, &req->options));
		return r;
	}
	/* There is an exception, which cpy_failed() will find. */
	if (PyBytes_AsStringAndSize(req->what, &sql, &len) < 0)
		return CENOTE_AGAIN;
	CPY_CALL(s, r,
		cenote_send_query(s->conn, sql, (size_t)len, params, &req->options));
	return r;
}

static int
send_request(struct cpy_session *s, const struct request *req)
{
	int r;

	if (req->values != Py_None && cpy_params_fill(s, req->values) < 0)
		return CENOTE_AGAIN;
	r = send_filled(s, req);
	if (r == CENOTE_OK)
		cenote_cancel_follow(s->cancel, s->conn);
	return r;
}

/* Put the result into the list. For an error, also keep the exception. */
static int
keep_result(struct cpy_session *s, cenote_result *res)
{
	int kind = cenote_result_kind(res), r = -1;
	PyObject *object;

	if (kind != CENOTE_RESULT_ERROR) {
		object = cpy_result_new(s, res, 1);
		if (object)
			r = PyList_Append(s->results, object);
		Py_XDECREF(object);
		return r;
	}
	object = s->error;
	s->error = cpy_error(s->state, CENOTE_ERR_SERVER, cenote_result_diag(res));
	Py_XDECREF(object);
	cenote_result_destroy(res);
	return s->error ? 0 : -1;
}

static int
is_copy(int kind)
{
	return kind == CENOTE_RESULT_COPY_IN || kind == CENOTE_RESULT_COPY_OUT;
}

/* The request is complete: return the list, or raise its error. */
static PyObject *
finish_results(struct cpy_session *s)
{
	PyObject *results = s->results, *error = s->error;

	s->results = NULL;
	s->error = NULL;
	s->is_sent = 0;
	if (!error)
		return results;
	PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_DECREF(error);
	Py_XDECREF(results);
	return NULL;
}

/* Collect all results of the oldest request, or those up to a copy, which the program continues. */
static PyObject *
collect_results(struct cpy_session *s)
{
	cenote_result *res;
	int r, kind;

	if (!s->results && !(s->results = PyList_New(0)))
		return NULL;
	for (;;) {
		CPY_CALL(s, r, cenote_get_result(s->conn, &res));
		if (r == CENOTE_DONE)
			return finish_results(s);
		if (r != CENOTE_OK)
			return cpy_failed(s, r);
		kind = cenote_result_kind(res);
		if (keep_result(s, res) < 0) {
			(void)cpy_interrupt(s);
			return NULL;
		}
		if (is_copy(kind))
			return finish_results(s);
	}
}

PyObject *
cpy_session_query(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	struct request req = { .options = CENOTE_EXEC_OPTIONS_INIT };
	unsigned long long max_rows;
	PyObject *answer = NULL;
	int r = CENOTE_OK;

	if (!PyArg_ParseTuple(args, "OOK:query", &req.what, &req.values, &max_rows) ||
		cpy_enter(s) < 0)
		return NULL;
	req.options.format = CENOTE_FORMAT_CANONICAL;
	req.options.max_rows = max_rows;
	if (!s->is_sent)
		r = send_request(s, &req);
	if (r == CENOTE_OK) {
		s->is_sent = 1;
		answer = collect_results(s);
	} else {
		answer = cpy_failed(s, r);
	}
	cpy_leave(s);
	return answer;
}

PyObject *
cpy_session_send(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	struct request req = { .options = CENOTE_EXEC_OPTIONS_INIT };
	unsigned long long max_rows;
	unsigned int batch_rows;
	int stream;
	PyObject *answer;

	if (!PyArg_ParseTuple(args, "OOpIK:send", &req.what, &req.values, &stream,
		    &batch_rows, &max_rows) ||
		cpy_enter(s) < 0)
		return NULL;
	req.options.format = CENOTE_FORMAT_CANONICAL;
	req.options.stream = (uint32_t)stream;
	req.options.batch_rows = batch_rows;
	req.options.max_rows = max_rows;
	answer = cpy_none_or_failed(s, send_request(s, &req));
	cpy_leave(s);
	return answer;
}

PyObject *
cpy_session_results(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	PyObject *answer;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	answer = collect_results(s);
	cpy_leave(s);
	return answer;
}

static PyObject *
one_result(struct cpy_session *s)
{
	cenote_result *res;
	int r;

	CPY_CALL(s, r, cenote_get_result(s->conn, &res));
	if (r == CENOTE_DONE)
		Py_RETURN_NONE;
	if (r != CENOTE_OK)
		return cpy_failed(s, r);
	if (cenote_result_kind(res) != CENOTE_RESULT_ERROR)
		return cpy_result_new(s, res, 0);
	cpy_raise(s->state, CENOTE_ERR_SERVER, cenote_result_diag(res));
	cenote_result_destroy(res);
	return NULL;
}

/* Return the next result; None at the end of its request. */
PyObject *
cpy_session_result(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	PyObject *answer;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	answer = one_result(s);
	cpy_leave(s);
	return answer;
}

/* Drop the remaining answers, after an exception that did not come from the server. */
PyObject *
cpy_session_drain(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	cenote_result *res = NULL;
	PyObject *answer;
	int r;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	do {
		CPY_CALL(s, r, cenote_get_result(s->conn, &res));
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	} while (r == CENOTE_OK);
	if (r == CENOTE_DONE)
		cpy_resume(s);
	s->is_sent = 0;
	Py_CLEAR(s->results);
	Py_CLEAR(s->error);
	answer = cpy_none_or_failed(s, r == CENOTE_DONE ? CENOTE_OK : r);
	cpy_leave(s);
	return answer;
}

PyObject *
cpy_session_catalog(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	unsigned int kind;
	PyObject *answer;
	int r;

	if (!PyArg_ParseTuple(args, "Izzzzz:catalog", &kind, &filter.catalog,
		    &filter.schema, &filter.object, &filter.column, &filter.types) ||
		cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, cenote_send_catalog(s->conn, kind, &filter));
	answer = cpy_none_or_failed(s, r);
	cpy_leave(s);
	return answer;
}

PyObject *
cpy_session_statement(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *sql;
	Py_ssize_t len;
	cenote_stmt *stmt;
	PyObject *answer;
	int r;

	if (!PyArg_ParseTuple(args, "y#:statement", &sql, &len) || cpy_enter(s) < 0)
		return NULL;
	r = cenote_stmt_create(s->conn, sql, (size_t)len, &stmt);
	answer = r == CENOTE_OK ? cpy_statement_new(s, stmt) : cpy_failed(s, r);
	cpy_leave(s);
	return answer;
}

/* ------------------------------------------------------------------------ copies ----- */

/* Send a piece. True: the server took it. False: the server has ended the copy, and the results say
 * why. */
PyObject *
cpy_session_copy_put(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *data;
	Py_ssize_t len;
	PyObject *answer;
	int r;

	if (!PyArg_ParseTuple(args, "y#:copy_put", &data, &len) || cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, cenote_copy_put(s->conn, data, (size_t)len));
	if (r == CENOTE_OK || r == CENOTE_DONE)
		answer = PyBool_FromLong(r == CENOTE_OK);
	else
		answer = cpy_failed(s, r);
	cpy_leave(s);
	return answer;
}

PyObject *
cpy_session_copy_end(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *error;
	PyObject *answer;
	int r;

	if (!PyArg_ParseTuple(args, "z:copy_end", &error) || cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, cenote_copy_end(s->conn, error));
	answer = cpy_none_or_failed(s, r);
	cpy_leave(s);
	return answer;
}

/* Return a piece; None at the end. */
PyObject *
cpy_session_copy_get(PyObject *self, PyObject *unused)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *data;
	size_t len;
	PyObject *answer;
	int r;

	(void)unused;
	if (cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, cenote_copy_get(s->conn, &data, &len));
	if (r == CENOTE_OK)
		answer = PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
	else
		answer = cpy_none_or_failed(s, r == CENOTE_DONE ? CENOTE_OK : r);
	cpy_leave(s);
	return answer;
}
