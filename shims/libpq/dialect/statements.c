/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect.h"

#include <stdlib.h>
#include <string.h>

/*
 * Prepared statements on servers that have no names for them: conn->statements keeps the names. A
 * statement lives until its name is gone and no request uses it. The pool prepares it again on
 * another session. send.c and answers.c call this file.
 */

struct cpq_statement *
cpq_statement_find(const PGconn *conn, const char *name)
{
	struct cpq_statement *s = conn->statements;

	while (s != NULL && strcmp(s->name, name) != 0)
		s = s->next;
	return s;
}

static void
free_if_unused(struct cpq_statement *s)
{
	if (s->is_known || s->n_requests > 0)
		return;
	cenote_stmt_destroy(s->stmt);
	cpq_places_finish(&s->places);
	free(s->types);
	free(s->name);
	free(s);
}

static int
copy_types(struct cpq_statement *s, const Oid *types, int n)
{
	if (types == NULL || n == 0)
		return 0;
	s->types = malloc((size_t)n * sizeof(*types));
	if (s->types == NULL)
		return -1;
	memcpy(s->types, types, (size_t)n * sizeof(*types));
	s->n_types = n;
	return 0;
}

struct cpq_statement *
cpq_statement_new(PGconn *conn, const char *name, const char *sql,
	struct cpq_places *places, const Oid *types, int n_types)
{
	struct cpq_statement *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->name = strdup(name);
	if (s->name == NULL || copy_types(s, types, n_types) < 0 ||
		cenote_stmt_create(conn->session, sql, CENOTE_NTS, &s->stmt) < 0) {
		free_if_unused(s);
		return NULL;
	}
	s->places = *places;
	*places = (struct cpq_places){ NULL, 0, 0 };
	s->is_known = 1;
	s->next = conn->statements;
	conn->statements = s;
	return s;
}

static void
take_from_list(PGconn *conn, struct cpq_statement *s)
{
	struct cpq_statement **at = &conn->statements;

	while (*at != NULL && *at != s)
		at = &(*at)->next;
	if (*at != NULL)
		*at = s->next;
	s->is_known = 0;
}

void
cpq_statement_forget(PGconn *conn, struct cpq_statement *s)
{
	take_from_list(conn, s);
	free_if_unused(s);
}

void
cpq_statements_drop(PGconn *conn)
{
	struct cpq_statement *s;

	while ((s = conn->statements) != NULL) {
		conn->statements = s->next;
		s->is_known = 0;
		free_if_unused(s);
	}
}

void
cpq_statement_over(PGconn *conn, struct cpq_request *req)
{
	struct cpq_statement *s = req->statement;

	req->statement = NULL;
	s->n_requests--;
	/* PREPARE failed or was skipped, so forget the name. */
	if (req->kind == CPQ_PREPARE && !s->is_prepared)
		take_from_list(conn, s);
	free_if_unused(s);
}

void
cpq_statement_prepared(struct cpq_statement *s)
{
	s->is_prepared = 1;
}

Oid
cpq_statement_type(const struct cpq_statement *s, int i)
{
	return i < s->n_types ? s->types[i] : 0;
}

int
cpq_statement_describe(const struct cpq_statement *s, PGresult *res)
{
	int n = (int)s->places.highest;

	/* The text uses the server's own placeholders, so take the server's number of parameters. */
	if (n == 0)
		n = res->n_params;
	res->n_params = n;
	res->params =
		n > 0 ? cpq_result_alloc(res, (size_t)n * sizeof(*res->params)) : NULL;
	if (n > 0 && res->params == NULL)
		return -1;
	for (int i = 0; i < n; i++) {
		Oid type = cpq_statement_type(s, i);

		res->params[i] = type != 0 ? type : CPQ_TEXT;
	}
	return 0;
}
