/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/*
 * Reading ahead in a pipeline. PostgreSQL keeps its answers until the client
 * synchronises, or asks for them, or until it has an error or a notice to send, or waits
 * for a copy. The pool answers at once. So this file keeps the answers (req->held) until
 * the program could have them from PostgreSQL.
 *
 * A notice or a parameter does not say to which request it belongs. cpq_pipeline_current() finds
 * the request whose answer libcenote is receiving.
 */

void
cpq_pipeline_ask(PGconn *conn)
{
	for (struct cpq_request *req = conn->queue.first; req != NULL; req = req->next)
		req->is_asked_for = 1;
}

static void
ask_up_to(PGconn *conn, const struct cpq_request *last)
{
	struct cpq_request *req = conn->queue.first;

	for (; req != last; req = req->next)
		req->is_asked_for = 1;
	req->is_asked_for = 1;
}

void
cpq_pipeline_ask_before(PGconn *conn, const struct cpq_request *req)
{
	struct cpq_request *before = conn->queue.first;

	for (; before != req; before = before->next)
		before->is_asked_for = 1;
}

struct cpq_request *
cpq_pipeline_current(const PGconn *conn)
{
	struct cpq_request *req =
		conn->pipeline != PQ_PIPELINE_OFF ? conn->queue.first : NULL;
	/* Libcenote has the whole answer of each request before this one. */
	uint64_t number = conn->queue.n_done + cenote_n_answered(conn->session) + 1;

	while (req != NULL && req->number < number)
		req = req->next;
	return req;
}

int
cpq_get_result(PGconn *conn, cenote_result **ret_res)
{
	int r = cenote_get_result(conn->session, ret_res);

	/* Without a request libcenote returns CENOTE_DONE each time. */
	if (r == CENOTE_DONE && conn->queue.n_done < conn->queue.n_sent)
		conn->queue.n_done++;
	return r;
}

/* A kept answer must not block the next one. */
static int
read_to_end(struct cpq_request *req)
{
	int r = CENOTE_OK;

	if (req->is_stream && cenote_result_kind(req->held) == CENOTE_RESULT_ROWS)
		r = cenote_result_buffer(req->held);
	if (r == CENOTE_OK)
		req->is_stream = 0;
	return r;
}

/* In a pipeline a request has one result: the first, unless an error follows it. */
static void
take_more(struct cpq_request *req, cenote_result *more)
{
	cenote_result *less = more;

	if (cenote_result_kind(more) == CENOTE_RESULT_ERROR) {
		less = req->held;
		req->held = more;
	}
	cenote_result_destroy(less);
}

/* Take the results after the first one of a request in a pipeline. */
static int
take_end(PGconn *conn, struct cpq_request *req)
{
	cenote_result *more;
	int r;

	while ((r = cpq_get_result(conn, &more)) == CENOTE_OK && req->is_many)
		take_more(req, more);
	if (r == CENOTE_DONE) {
		req->is_ended = 1;
		return CENOTE_OK;
	}
	if (r == CENOTE_OK) {
		cenote_result_destroy(more);
		r = CENOTE_ERR_PROTOCOL;
	}
	return r;
}

/* Take what has come for one request. CENOTE_OK: its answer is complete, and kept; CENOTE_AGAIN:
 * more is to come; any other status: the program must see the answer now. */
static int
look_ahead(PGconn *conn, struct cpq_request *req)
{
	int kind;
	int r = CENOTE_OK;

	if (req->held == NULL)
		r = cpq_get_result(conn, &req->held);
	if (r == CENOTE_OK)
		r = read_to_end(req);
	if (r != CENOTE_OK)
		return r;
	kind = cenote_result_kind(req->held);
	if (kind == CENOTE_RESULT_ERROR || kind == CENOTE_RESULT_COPY_IN)
		return CENOTE_ERR_SERVER;
	r = take_end(conn, req);
	if (r == CENOTE_OK && cenote_result_kind(req->held) == CENOTE_RESULT_ERROR)
		r = CENOTE_ERR_SERVER;
	return r;
}

static void
look_ahead_of_all(PGconn *conn)
{
	struct cpq_request *req = conn->queue.first;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && req != NULL) {
		if (!req->is_ended)
			r = look_ahead(conn, req);
		if (r < 0)
			ask_up_to(conn, req);
		req = req->next;
	}
}

int
cpq_pipeline_get(PGconn *conn, cenote_result **ret_res)
{
	struct cpq_request *req = conn->queue.first;
	int r;

	if (req == NULL)
		return cpq_get_result(conn, ret_res);
	if (!req->is_asked_for)
		look_ahead_of_all(conn);
	if (!req->is_asked_for)
		return CENOTE_AGAIN;
	if (req->is_many && !req->is_ended && conn->pipeline != PQ_PIPELINE_OFF) {
		r = look_ahead(conn, req);
		if (r == CENOTE_AGAIN || req->held == NULL)
			return r;
	}
	if (req->held == NULL && req->is_ended)
		return CENOTE_DONE;
	if (req->held == NULL)
		return cpq_get_result(conn, ret_res);
	*ret_res = req->held;
	req->held = NULL;
	return CENOTE_OK;
}
