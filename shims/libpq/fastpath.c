/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <string.h>

/* PQfn(): call a function of the server by its id. large.c uses it. */

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
			/* a value of two bytes is the lower half */
			bytes = a->len == 2 ? number + 2 : number;
		}
		r = cenote_params_add_native(params, 0, CENOTE_FORMAT_BINARY,
			a->len >= 0 ? bytes : NULL, a->len >= 0 ? (size_t)a->len : 0);
	}
	return r;
}

/* Why a value of `len` bytes cannot be stored; NULL: it can. */
static const char *
why_not(const struct cpq_function_value *value, int len)
{
	if (value->is_int && len != 2 && len != 4)
		return "server returned an integer of unexpected size";
	return (size_t)len > value->room ? "server returned too much data" : NULL;
}

/* Copy the value into the caller's memory. NULL, or the reason why that is not possible. */
static const char *
take_function_value(const PGresult *res, const struct cpq_function_value *ret_value)
{
	const unsigned char *bytes;
	const char *why;
	uint32_t v = 0;
	int len;

	if (cpq_PQntuples(res) != 1 || cpq_PQnfields(res) != 1)
		return "server returned no value";
	if (cpq_PQgetisnull(res, 0, 0)) {
		*ret_value->len = -1;
		return NULL;
	}
	bytes = (const unsigned char *)cpq_PQgetvalue(res, 0, 0);
	len = cpq_PQgetlength(res, 0, 0);
	why = why_not(ret_value, len);
	if (why != NULL)
		return why;
	*ret_value->len = len;
	if (ret_value->is_int) {
		for (int i = 0; i < len; i++)
			v = v << 8 | bytes[i];
		memcpy(ret_value->to, &v, sizeof(v));
	} else {
		memcpy(ret_value->to, bytes, (size_t)len);
	}
	return NULL;
}

static PGresult *
last_result(PGconn *conn)
{
	PGresult *last = NULL;
	PGresult *res;

	while ((res = cpq_take_result(conn)) != NULL) {
		cpq_PQclear(last);
		last = res;
	}
	return last;
}

PGresult *
cpq_function(PGconn *conn, int fnid, const struct cpq_function_value *ret_value,
	const PQArgBlock *args, int nargs)
{
	struct cpq_request *req;
	PGresult *res, *answer;
	const struct cpq_values none = { 0, NULL, NULL, NULL, NULL };
	const char *why;

	*ret_value->len = 0;
	if (conn == NULL)
		return NULL;
	if (conn->queue.first == NULL)
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
	/* PQsetSingleRowMode() for the last query does not apply here. */
	conn->stream.chunk = 0;
	req = cpq_request_new(conn, CPQ_FUNCTION, NULL);
	if (req != NULL)
		req->is_stream = 0;
	cpq_trace_function(conn, fnid, args, nargs);
	if (req == NULL || !cpq_request_sent(conn, req,
				   cenote_send_function(conn->session, (uint32_t)fnid,
					   conn->params, CENOTE_FORMAT_BINARY)))
		return NULL;
	answer = last_result(conn);
	if (cpq_PQresultStatus(answer) != PGRES_TUPLES_OK)
		return answer;
	why = take_function_value(answer, ret_value);
	cpq_PQclear(answer);
	if (why != NULL) {
		cpq_say(conn, "%s", why);
		return NULL;
	}
	res = cpq_PQmakeEmptyPGresult(conn, PGRES_COMMAND_OK);
	return res != NULL ? res : cpq_no_memory(conn);
}

/*
 * The program does not say how much room it has at result_buf. libpq writes a value of any length,
 * although its own lo_read() and similar functions have a limit. This function does the same, since
 * a limit would break programs that expect longer values. Only an integer has a known size. A
 * program that calls PQfn() trusts the server.
 */
PGresult *
cpq_PQfn(PGconn *conn, int fnid, int *result_buf, int *result_len, int result_is_int,
	const PQArgBlock *args, int nargs)
{
	const struct cpq_function_value value = { .to = result_buf,
		.room = SIZE_MAX,
		.len = result_len,
		.is_int = result_is_int };

	return cpq_function(conn, fnid, &value, args, nargs);
}
