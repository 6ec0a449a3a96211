/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that return no rows, and facts about the session. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* A request. `args` are texts; NULL: the program gave no such argument. */
typedef int simple(cenote_conn *conn, const char *const *args);

static int
run_begin(cenote_conn *conn, const char *const *args)
{
	return cenote_begin(conn, (uint32_t)strtoul(args[0], NULL, 10),
		(uint32_t)strtoul(args[1], NULL, 10));
}

static int
run_autocommit(cenote_conn *conn, const char *const *args)
{
	return cenote_set_autocommit(conn, *args[0] == '1');
}

static int
run_change_user(cenote_conn *conn, const char *const *args)
{
	return cenote_change_user(conn, args[0], args[1], args[2]);
}

/* Exactly one of the functions is not NULL. */
static const struct request {
	const char *name;
	Py_ssize_t n_args;
	simple *run;
	int (*plain)(cenote_conn *conn);
	int (*named)(cenote_conn *conn, const char *name);
	int (*paired)(cenote_conn *conn, const char *name, const char *value);
} requests[] = {
	{ "autocommit", 1, .run = run_autocommit },
	{ "begin", 2, .run = run_begin },
	{ "change_user", 3, .run = run_change_user },
	{ "commit", 0, .plain = cenote_commit },
	{ "flush", 0, .plain = cenote_flush },
	{ "ping", 0, .plain = cenote_ping },
	{ "pipeline_begin", 0, .plain = cenote_pipeline_begin },
	{ "pipeline_end", 0, .plain = cenote_pipeline_end },
	{ "release", 1, .named = cenote_release },
	{ "reset", 0, .plain = cenote_reset },
	{ "rollback", 0, .plain = cenote_rollback },
	{ "rollback_to", 1, .named = cenote_rollback_to },
	{ "savepoint", 1, .named = cenote_savepoint },
	{ "select_database", 1, .named = cenote_select_database },
	{ "session_option", 2, .paired = cenote_set_session_option },
	{ "set", 2, .paired = cenote_conn_set },
	{ "sync", 0, .plain = cenote_send_sync },
};

static int
call_request(cenote_conn *conn, const struct request *request, const char *const *args)
{
	if (request->plain)
		return request->plain(conn);
	if (request->named)
		return request->named(conn, args[0]);
	if (request->paired)
		return request->paired(conn, args[0], args[1]);
	return request->run(conn, args);
}

static PyObject *
run_simple(struct cpy_session *s, const struct request *request, const char *const *args)
{
	PyObject *answer;
	int r;

	if (cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, call_request(s->conn, request, args));
	answer = cpy_none_or_failed(s, r);
	cpy_leave(s);
	return answer;
}

/* run(NAME, ARGUMENT...) */
PyObject *
cpy_session_run(PyObject *self, PyObject *args)
{
	const char *name, *values[3] = { NULL, NULL, NULL };
	size_t i;

	if (!PyArg_ParseTuple(
		    args, "s|zzz:run", &name, &values[0], &values[1], &values[2]))
		return NULL;
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(requests[i].name, name) == 0 &&
			PyTuple_Size(args) == requests[i].n_args + 1)
			return run_simple(cpy_as_session(self), &requests[i], values);
	}
	PyErr_Format(PyExc_TypeError, "no request %s() with so many arguments", name);
	return NULL;
}

/* ------------------------------------------------------------------------- facts ----- */

static const char *
fact_tls(const cenote_conn *conn, const char *name)
{
	return cenote_tls_info(conn, CENOTE_HOP_POOL, name);
}

static const char *
fact_server_tls(const cenote_conn *conn, const char *name)
{
	return cenote_tls_info(conn, CENOTE_HOP_SERVER, name);
}

static const struct {
	const char *kind;
	const char *(*get)(const cenote_conn *conn, const char *name);
} facts[] = {
	{ "info", cenote_info },
	{ "option", cenote_conn_get },
	{ "parameter", cenote_parameter },
	{ "server_tls", fact_server_tls },
	{ "tls", fact_tls },
};

static PyObject *
find_fact(const struct cpy_session *s, const char *kind, const char *name)
{
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strcmp(facts[i].kind, kind) != 0)
			continue;
		text = facts[i].get(s->conn, name);
		return Py_BuildValue("z", text);
	}
	return PyErr_Format(PyExc_ValueError, "no kind of fact is called %s", kind);
}

/* fact(KIND, NAME): text, or None if it is unknown. */
PyObject *
cpy_session_fact(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *kind, *name;
	PyObject *answer;

	if (!PyArg_ParseTuple(args, "ss:fact", &kind, &name) || cpy_enter(s) < 0)
		return NULL;
	answer = find_fact(s, kind, name);
	cpy_leave(s);
	return answer;
}

static int
number_fd(const cenote_conn *conn)
{
	return cenote_wants(conn) ? cenote_fd(conn) : -1;
}

static int
number_pins(const cenote_conn *conn)
{
	return (int)cenote_pins(conn);
}

static const struct {
	const char *name;
	int (*get)(const cenote_conn *conn);
} numbers[] = {
	{ "fd", number_fd },
	{ "is_connected", cenote_is_connected },
	{ "pins", number_pins },
	{ "tx", cenote_tx_state },
	{ "wait_ms", cenote_wait_ms },
	{ "wants", cenote_wants },
};

static PyObject *
find_number(const struct cpy_session *s, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return PyLong_FromLong(numbers[i].get(s->conn));
	}
	return PyErr_Format(PyExc_ValueError, "no number is called %s", name);
}

PyObject *
cpy_session_number(PyObject *self, PyObject *args)
{
	struct cpy_session *s = cpy_as_session(self);
	const char *name;
	PyObject *answer;

	if (!PyArg_ParseTuple(args, "s:number", &name) || cpy_enter(s) < 0)
		return NULL;
	answer = find_number(s, name);
	cpy_leave(s);
	return answer;
}
