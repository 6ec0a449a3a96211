/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>

/*
 * Values that a program lets the library read before the execution (db_execute_generate_request()
 * of MYSQL.methods). Connector/Python keeps its values in the interpreter, and releases the
 * interpreter's lock during the execution. During that time nobody may read the bound values.
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

int
cmy_request_begin(struct cmy_stmt *st)
{
	st->request = calloc(1, sizeof(*st->request));
	if (st->request)
		return 0;
	cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
	return -1;
}
