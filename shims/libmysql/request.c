/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>

/*
 * Values that a program lets the library read before the execution (db_execute_generate_request() of MYSQL.methods).
 * Connector/Python keeps its values in the interpreter and gives up the interpreter's lock while it executes. Nobody may
 * read the bound values then.
 */

/* One part for the values of each execution. An array of parameters may need several executions. */
struct cmy_request {
	unsigned n, next;
	cenote_params **parts;
};

void
cmy_request_drop(struct cmy_stmt *st)
{
	struct cmy_request *request = st->request;

	for (unsigned i = 0; request && i < request->n; i++)
		cenote_params_destroy(request->parts[i]);
	if (request)
		free(request->parts);
	free(request);
	st->request = NULL;
}

int
cmy_request_add(struct cmy_stmt *st)
{
	struct cmy_request *request = st->request;
	cenote_params *empty = NULL, **bigger;

	bigger = realloc(request->parts, (request->n + 1) * sizeof(*request->parts));
	if (bigger)
		request->parts = bigger;
	if (!bigger || cenote_params_create(NULL, &empty) < 0) {
		cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
		return -1;
	}
	request->parts[request->n++] = st->params;
	st->params = empty;
	return 0;
}

int
cmy_request_next(struct cmy_stmt *st)
{
	struct cmy_request *request = st->request;
	cenote_params *before = st->params;

	if (request->next == request->n)
		return 0;
	st->params = request->parts[request->next];
	request->parts[request->next++] = before;
	return 1;
}

static int
take(struct cmy_stmt *st, struct cmy_session *s)
{
	st->request = calloc(1, sizeof(*st->request));
	if (!st->request) {
		cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
		return -1;
	}
	if (st->pub.array_size > 0)
		return cmy_bulk_take(st, s);
	if (cmy_params_fill(st, s) == 0)
		return cmy_request_add(st);
	cmy_stmt_take_error(&st->pub);
	return -1;
}

int
cmy_request_take(struct cmy_stmt *st)
{
	MYSQL_STMT *stmt = &st->pub;
	struct cmy_session *s = cmy_session(cmy_stmt_connection(stmt));

	if (!s)
		return -1;
	cmy_request_drop(st);
	if (stmt->param_count > 0 && !stmt->bind_param_done) {
		cmy_stmt_error_both(stmt, CR_PARAMS_NOT_BOUND);
		return -1;
	}
	if (take(st, s) < 0) {
		cmy_request_drop(st);
		return -1;
	}
	stmt->send_types_to_server = 0;
	for (unsigned i = 0; i < sizeof(st->request_head); i++)
		st->request_head[i] = (unsigned char)(stmt->stmt_id >> (8 * i));
	return 0;
}
