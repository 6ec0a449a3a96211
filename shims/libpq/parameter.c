/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/fact.h"

#include <stdlib.h>
#include <string.h>

/*
 * The server's parameters (PQparameterStatus()). libcenote reports each change at once. As in
 * libpq, the program sees a change only after it has taken the results before it. This file owns
 * conn->settings.
 */

struct cpq_parameter {
	struct cpq_parameter *next;
	const char *name;
	const char *value;
	/* allocated alone; the parameters that the session began with are freed together */
	int is_own;
};

static char *
put_text(char *at, const char *text, const char **ret_copy)
{
	size_t size = strlen(text) + 1;

	memcpy(at, text, size);
	*ret_copy = at;
	return at + size;
}

static struct cpq_parameter *
parameter_new(const char *name, const char *value)
{
	struct cpq_parameter *p = malloc(sizeof(*p) + strlen(name) + strlen(value) + 2);
	char *at = (char *)(p + 1);

	if (p == NULL)
		return NULL;
	at = put_text(at, name, &p->name);
	(void)put_text(at, value, &p->value);
	p->is_own = 1;
	p->next = NULL;
	return p;
}

static void
list_free(struct cpq_parameter **list)
{
	struct cpq_parameter *next;

	for (; *list != NULL; *list = next) {
		next = (*list)->next;
		if ((*list)->is_own)
			free(*list);
	}
}

/* A pointer to the list's link to that parameter, or to the link at the list's end. */
static struct cpq_parameter **
find(struct cpq_parameter **list, const char *name)
{
	while (*list != NULL && strcmp((*list)->name, name) != 0)
		list = &(*list)->next;
	return list;
}

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

/* Compare two names. This is called for each parameter of each connection, so it must be fast. */
static int
is_called(const char *name, const char *other)
{
	return *name == *other && strcmp(name, other) == 0;
}

/* Update the settings that the shim itself gets from a parameter. */
static void
follow(PGconn *conn, const char *name, const char *value)
{
	int encoding;

	if (conn->inherited.dialect != NULL) {
		cpq_dialect_on_parameter(conn, name, value);
		return;
	}
	if (is_called(name, "client_encoding")) {
		encoding = pg_char_to_encoding(value);
		conn->inherited.encoding = encoding >= 0 ? encoding : 0;
	} else if (is_called(name, "standard_conforming_strings")) {
		conn->standard_strings = strcmp(value, "on") == 0;
	} else if (is_called(name, "server_version")) {
		conn->server_version = version_number(value);
	} else {
		return;
	}
	cpq_escape_remember(conn);
}

static void
put(PGconn *conn, struct cpq_parameter *p)
{
	struct cpq_parameter **at = find(&conn->settings.list, p->name);
	struct cpq_parameter *old = *at;

	p->next = old != NULL ? old->next : NULL;
	*at = p;
	if (old != NULL && old->is_own)
		free(old);
	follow(conn, p->name, p->value);
}

void
cpq_parameters_settle(PGconn *conn)
{
	struct cpq_parameter *p;

	while ((p = conn->settings.changes) != NULL) {
		conn->settings.changes = p->next;
		put(conn, p);
	}
}

static void
append(struct cpq_parameter **list, struct cpq_parameter *p)
{
	while (*list != NULL)
		list = &(*list)->next;
	*list = p;
}

/* A change that belongs to a later request waits until the program comes to that request. */
void
cpq_on_parameter(const char *name, const char *value, void *user)
{
	PGconn *conn = user;
	struct cpq_request *req = cpq_pipeline_current(conn);
	struct cpq_parameter *p = csh_is_fact(name) ? NULL : parameter_new(name, value);

	/* Without memory the program continues to see the old value. */
	if (p == NULL)
		return;
	if (req != NULL && req != conn->queue.first) {
		append(&req->changes, p);
		return;
	}
	cpq_trace_parameter(conn, name, value);
	append(&conn->settings.changes, p);
	if (conn->async == CPQ_IDLE)
		cpq_parameters_settle(conn);
}

void
cpq_parameters_catch_up(PGconn *conn, struct cpq_request *req)
{
	const struct cpq_parameter *p;

	for (p = req->changes; p != NULL; p = p->next)
		cpq_trace_parameter(conn, p->name, p->value);
	append(&conn->settings.changes, req->changes);
	req->changes = NULL;
}

void
cpq_parameters_drop(PGconn *conn)
{
	list_free(&conn->settings.list);
	list_free(&conn->settings.changes);
	free(conn->settings.first);
	free(conn->settings.first_texts);
	conn->settings.first = NULL;
	conn->settings.first_texts = NULL;
}

static uint32_t
count(const PGconn *conn)
{
	uint32_t n = 0;

	while (cenote_parameter_name(conn->session, n) != NULL)
		n++;
	return n;
}

/* Fill the list with libcenote's texts, without copying. Returns the size that copies of the texts
 * need. */
static size_t
borrow(const PGconn *conn, struct cpq_parameter *list, uint32_t n)
{
	size_t size = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = cenote_parameter_name(conn->session, i);
		const char *value = cenote_parameter(conn->session, name);

		list[i] = (struct cpq_parameter){ .name = name, .value = value };
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
		size += strlen(name) + strlen(value) + 2;
	}
	return size;
}

int
cpq_parameters_read(PGconn *conn)
{
	uint32_t n = count(conn);
	struct cpq_parameter *list = malloc(n * sizeof(*list) + 1);
	char *at;

	cpq_parameters_drop(conn);
	if (list == NULL)
		return -1;
	conn->settings.first = list;
	/* Copy all texts into one allocation, since every connection has them. */
	at = malloc(borrow(conn, list, n) + 1);
	if (at == NULL)
		return -1;
	conn->settings.first_texts = at;
	for (uint32_t i = 0; i < n; i++) {
		at = put_text(at, list[i].name, &list[i].name);
		at = put_text(at, list[i].value, &list[i].value);
	}
	conn->settings.list = n > 0 ? list : NULL;
	for (uint32_t i = 0; i < n; i++)
		follow(conn, list[i].name, list[i].value);
	return 0;
}

const char *
cpq_PQparameterStatus(const PGconn *conn, const char *paramName)
{
	struct cpq_parameter *list;

	if (conn == NULL || paramName == NULL || conn->session == NULL)
		return NULL;
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_parameter(conn, paramName);
	if (csh_is_fact(paramName))
		return NULL;
	list = *find((struct cpq_parameter **)(uintptr_t)&conn->settings.list, paramName);
	return list != NULL ? list->value : NULL;
}
