/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that return no rows, and facts about the session. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* The arguments as text; NULL: the program gave none. */
typedef int simple(cenote_conn *conn, const char *const *args);

static int
run_begin(cenote_conn *conn, const char *const *args)
{
	return cenote_begin(conn, (uint32_t)strtoul(args[0], NULL, 10),
		(uint32_t)strtoul(args[1], NULL, 10));
}

static int
run_commit(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_commit(conn);
}

static int
run_rollback(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_rollback(conn);
}

static int
run_savepoint(cenote_conn *conn, const char *const *args)
{
	return cenote_savepoint(conn, args[0]);
}

static int
run_release(cenote_conn *conn, const char *const *args)
{
	return cenote_release(conn, args[0]);
}

static int
run_rollback_to(cenote_conn *conn, const char *const *args)
{
	return cenote_rollback_to(conn, args[0]);
}

static int
run_autocommit(cenote_conn *conn, const char *const *args)
{
	return cenote_set_autocommit(conn, *args[0] == '1');
}

static int
run_ping(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_ping(conn);
}

static int
run_reset(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_reset(conn);
}

static int
run_change_user(cenote_conn *conn, const char *const *args)
{
	return cenote_change_user(conn, args[0], args[1], args[2]);
}

static int
run_select_database(cenote_conn *conn, const char *const *args)
{
	return cenote_select_database(conn, args[0]);
}

static int
run_session_option(cenote_conn *conn, const char *const *args)
{
	return cenote_set_session_option(conn, args[0], args[1]);
}

static int
run_set(cenote_conn *conn, const char *const *args)
{
	return cenote_conn_set(conn, args[0], args[1]);
}

static int
run_pipeline_begin(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_pipeline_begin(conn);
}

static int
run_pipeline_end(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_pipeline_end(conn);
}

static int
run_sync(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_send_sync(conn);
}

static int
run_flush(cenote_conn *conn, const char *const *args)
{
	(void)args;
	return cenote_flush(conn);
}

static const struct {
	const char *name;
	Py_ssize_t n_args;
	simple *run;
} requests[] = {
	{ "autocommit", 1, run_autocommit },
	{ "begin", 2, run_begin },
	{ "change_user", 3, run_change_user },
	{ "commit", 0, run_commit },
	{ "flush", 0, run_flush },
	{ "ping", 0, run_ping },
	{ "pipeline_begin", 0, run_pipeline_begin },
	{ "pipeline_end", 0, run_pipeline_end },
	{ "release", 1, run_release },
	{ "reset", 0, run_reset },
	{ "rollback", 0, run_rollback },
	{ "rollback_to", 1, run_rollback_to },
	{ "savepoint", 1, run_savepoint },
	{ "select_database", 1, run_select_database },
	{ "session_option", 2, run_session_option },
	{ "set", 2, run_set },
	{ "sync", 0, run_sync },
};

static PyObject *
run_simple(struct cpy_session *s, simple *run, const char *const *args)
{
	PyObject *answer;
	int r;

	if (cpy_enter(s) < 0)
		return NULL;
	CPY_CALL(s, r, run(s->conn, args));
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
			return run_simple(cpy_as_session(self), requests[i].run, values);
	}
	PyErr_Format(PyExc_TypeError, "no request %s() with so many arguments", name);
	return NULL;
}

/* ------------------------------------------------------------------------- facts ----- */

static const char *
fact_info(const cenote_conn *conn, const char *name)
{
	return cenote_info(conn, name);
}

static const char *
fact_option(const cenote_conn *conn, const char *name)
{
	return cenote_conn_get(conn, name);
}

static const char *
fact_parameter(const cenote_conn *conn, const char *name)
{
	return cenote_parameter(conn, name);
}

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
	{ "info", fact_info },
	{ "option", fact_option },
	{ "parameter", fact_parameter },
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
