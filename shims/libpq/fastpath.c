/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <string.h>

/* A function called by its id, which large objects are built on. */

static int
args_fill(cenote_params *params, const PQArgBlock *args, int n)
{
	int r = CENOTE_OK;

	for (int i = 0; i < n && r == CENOTE_OK; i++) {
		const PQArgBlock *a = &args[i];
		unsigned char number[4];
		const void *bytes = a->u.ptr;

		if (a->len >= 0 && a->isint) {
			unsigned v = (unsigned)a->u.integer;

			number[0] = (unsigned char)(v >> 24);
			number[1] = (unsigned char)(v >> 16);
			number[2] = (unsigned char)(v >> 8);
			number[3] = (unsigned char)v;
			/* two bytes are the lower ones */
			bytes = a->len == 2 ? number + 2 : number;
		}
		r = cenote_params_add_native(params, 0, CENOTE_FORMAT_BINARY,
			a->len >= 0 ? bytes : NULL, a->len >= 0 ? (size_t)a->len : 0);
	}
	return r;
}

static void
take_function_value(const PGresult *res, int *result_buf, int *result_len, int is_int)
{
	const unsigned char *bytes = (const unsigned char *)PQgetvalue(res, 0, 0);
	int len = PQgetlength(res, 0, 0);
	uint32_t v = 0;

	*result_len = PQgetisnull(res, 0, 0) ? -1 : len;
	if (*result_len < 0)
		return;
	if (!is_int) {
		memcpy(result_buf, bytes, (size_t)len);
		return;
	}
	for (int i = 0; i < len && i < 4; i++)
		v = v << 8 | bytes[i];
	*result_buf = (int)v;
}

static PGresult *
last_result(PGconn *conn)
{
	PGresult *last = NULL;
	PGresult *res;

	while ((res = cpq_take_result(conn)) != NULL) {
		PQclear(last);
		last = res;
	}
	return last;
}

PGresult *
cpq_PQfn(PGconn *conn, int fnid, int *result_buf, int *result_len, int result_is_int,
	const PQArgBlock *args, int nargs)
{
	struct cpq_request *req;
	PGresult *res, *answer;
	const struct cpq_values none = { 0, NULL, NULL, NULL, NULL };

	*result_len = 0;
	if (conn == NULL)
		return NULL;
	if (conn->first == NULL)
		resetPQExpBuffer(&conn->error);
	if (conn->pipeline != PQ_PIPELINE_OFF) {
		cpq_say(conn, "%s not allowed in pipeline mode", "PQfn");
		return NULL;
	}
	if (conn->status != CONNECTION_OK || conn->async != CPQ_IDLE) {
		cpq_say(conn, "connection in wrong state");
		return NULL;
	}
	if (cpq_params_of(conn, &none) == NULL ||
		args_fill(conn->params, args, nargs) != CENOTE_OK)
		return cpq_no_memory(conn);
	/* how the rows of the query before were wanted is nothing to it */
	conn->chunk = 0;
	req = cpq_request_new(conn, CPQ_FUNCTION, NULL);
	if (req != NULL)
		req->is_stream = 0;
	cpq_trace_function(conn, fnid, args, nargs);
	if (req == NULL || !cpq_request_sent(conn, req,
				   cenote_send_function(conn->session, (uint32_t)fnid,
					   conn->params, CENOTE_FORMAT_BINARY)))
		return NULL;
	answer = last_result(conn);
	if (PQresultStatus(answer) != PGRES_TUPLES_OK)
		return answer;
	take_function_value(answer, result_buf, result_len, result_is_int);
	PQclear(answer);
	res = cpq_PQmakeEmptyPGresult(conn, PGRES_COMMAND_OK);
	return res != NULL ? res : cpq_no_memory(conn);
}
