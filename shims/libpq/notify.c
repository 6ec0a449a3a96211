/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/* What the server says of its own accord: notifications, notices, parameters. */

void
cpq_on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	PGconn *conn = user;
	size_t name = strlen(channel) + 1;
	size_t extra = strlen(payload) + 1;
	/* one piece of memory, so that PQfreemem() frees all of it */
	PGnotify *n = malloc(sizeof(*n) + name + extra);

	cpq_trace_notification(conn, pid, channel, payload);
	if (n == NULL)
		return;
	n->relname = (char *)(n + 1);
	n->extra = n->relname + name;
	memcpy(n->relname, channel, name);
	memcpy(n->extra, payload, extra);
	n->be_pid = (int)pid;
	n->next = NULL;
	if (conn->notifies_last != NULL)
		conn->notifies_last->next = n;
	else
		conn->notifies = n;
	conn->notifies_last = n;
}

PGnotify *
cpq_PQnotifies(PGconn *conn)
{
	PGnotify *n;

	if (conn == NULL)
		return NULL;
	n = conn->notifies;
	if (n == NULL)
		return NULL;
	conn->notifies = n->next;
	if (conn->notifies == NULL)
		conn->notifies_last = NULL;
	n->next = NULL;
	return n;
}

void
cpq_notifies_drop(PGconn *conn)
{
	PGnotify *n;

	while ((n = cpq_PQnotifies(conn)) != NULL)
		free(n);
}

/* ---- notices ---- */

void
cpq_on_notice(const cenote_diag *diag, void *user)
{
	PGconn *conn = user;
	PGresult *res;

	cpq_trace_notice(conn, diag);
	if (conn->habits.receiver == NULL)
		return;
	res = cpq_result_new(conn, PGRES_NONFATAL_ERROR);
	if (res == NULL)
		return;
	if (cpq_result_set_diag(
		    res, diag, conn->first != NULL ? conn->first->query : NULL) == 0)
		conn->habits.receiver(conn->habits.receiver_arg, res);
	PQclear(res);
}

/* A wrong use that libpq tells in this way: "NOTICE" without fields. */
void
cpq_notice_own(const struct cpq_habits *habits, const char *format, ...)
{
	PQExpBufferData text;
	PGresult *res;
	va_list args;

	if (habits->receiver == NULL)
		return;
	res = cpq_result_new(NULL, PGRES_NONFATAL_ERROR);
	if (res == NULL)
		return;
	res->habits = *habits;
	initPQExpBuffer(&text);
	va_start(args, format);
	(void)appendPQExpBufferVA(&text, format, args);
	va_end(args);
	(void)cpq_result_set_field(res, PG_DIAG_MESSAGE_PRIMARY, text.data);
	if (text.len == 0 || text.data[text.len - 1] != '\n')
		appendPQExpBufferChar(&text, '\n');
	res->message = cpq_result_text(res, text.data);
	termPQExpBuffer(&text);
	if (res->message != NULL)
		habits->receiver(habits->receiver_arg, res);
	PQclear(res);
}

PQnoticeReceiver
cpq_PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver proc, void *arg)
{
	PQnoticeReceiver old;

	if (conn == NULL)
		return NULL;
	old = conn->habits.receiver;
	if (proc != NULL) {
		conn->habits.receiver = proc;
		conn->habits.receiver_arg = arg;
	}
	return old;
}

PQnoticeProcessor
cpq_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor proc, void *arg)
{
	PQnoticeProcessor old;

	if (conn == NULL)
		return NULL;
	old = conn->habits.processor;
	if (proc != NULL) {
		conn->habits.processor = proc;
		conn->habits.processor_arg = arg;
	}
	return old;
}

/* ---- parameters ---- */

/* "15.4 (Debian 15.4-1)" is 150004, "9.6.1" is 90601, "17beta1" is 170000. */
static int
version_number(const char *text)
{
	int parts[3] = { 0, 0, 0 };
	char *end;

	for (int i = 0; i < 3; i++) {
		parts[i] = (int)strtol(text, &end, 10);
		if (end == text || *end != '.')
			break;
		text = end + 1;
	}
	if (parts[0] >= 10)
		return 10000 * parts[0] + parts[1];
	return 10000 * parts[0] + 100 * parts[1] + parts[2];
}

void
cpq_on_parameter(const char *name, const char *value, void *user)
{
	PGconn *conn = user;
	int encoding;

	cpq_trace_parameter(conn, name, value);
	if (conn->habits.dialect != NULL) {
		cpq_dialect_on_parameter(conn, name, value);
		return;
	}
	if (strcmp(name, "client_encoding") == 0) {
		encoding = pg_char_to_encoding(value);
		conn->habits.encoding = encoding >= 0 ? encoding : 0;
	} else if (strcmp(name, "standard_conforming_strings") == 0) {
		conn->standard_strings = strcmp(value, "on") == 0;
	} else if (strcmp(name, "server_version") == 0) {
		conn->server_version = version_number(value);
	} else {
		return;
	}
	cpq_escape_remember(conn->habits.encoding, conn->standard_strings);
}

static void
read_parameter(PGconn *conn, const char *name)
{
	const char *value = cenote_parameter(conn->session, name);

	if (value != NULL)
		cpq_on_parameter(name, value, conn);
}

void
cpq_parameters_read(PGconn *conn)
{
	/* cpq_on_parameter() passes over the others */
	static const char *const noted[] = { "client_encoding",
		"standard_conforming_strings", "server_version" };
	const char *name;

	if (conn->trace == NULL && conn->habits.dialect == NULL) {
		for (size_t i = 0; i < sizeof(noted) / sizeof(noted[0]); i++)
			read_parameter(conn, noted[i]);
		return;
	}
	for (uint32_t i = 0; (name = cenote_parameter_name(conn->session, i)) != NULL;
		i++)
		read_parameter(conn, name);
}

const char *
cpq_PQparameterStatus(const PGconn *conn, const char *paramName)
{
	if (conn == NULL || paramName == NULL || conn->session == NULL)
		return NULL;
	if (conn->habits.dialect != NULL)
		return cpq_dialect_parameter(conn, paramName);
	/* facts of ours are not the server's */
	if (strcmp(paramName, "backend_pid") == 0)
		return NULL;
	return cenote_parameter(conn->session, paramName);
}
