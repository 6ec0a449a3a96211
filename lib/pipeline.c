/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <string.h>

/*
 * conn->pipeline: the ring of requests whose results were not all taken. The requests at the front that
 * have their last reply are the first n_finished; the next one is being answered. event.c builds results
 * from the replies; they wait in their request until request.c gives them to the program.
 *
 * A request's number is its name everywhere: the protocol's queue, each reply, and each result carry it.
 */

#define RING_MIN 8u

static int
ring_grow(cenote_conn *conn)
{
	size_t cap = conn->pipeline.cap ? conn->pipeline.cap * 2 : RING_MIN;
	struct cn_request *ring;

	if (conn->pipeline.n < conn->pipeline.cap)
		return CENOTE_OK;
	ring = cnc_calloc(&conn->mem, cap, sizeof(*ring));
	if (!ring)
		return CENOTE_ERR_NOMEM;
	for (size_t i = 0; i < conn->pipeline.n; i++)
		ring[i] = *cn_request_at(&conn->pipeline, i);
	cnc_free(&conn->mem, conn->pipeline.ring);
	conn->pipeline.ring = ring;
	conn->pipeline.first = 0;
	conn->pipeline.cap = cap;
	return CENOTE_OK;
}

static void
request_finish(const struct cenote_allocator *mem, struct cn_request *req)
{
	while (req->first) {
		cenote_result *res = req->first;

		req->first = res->next;
		/* A stream that the program does not have yet is only in this list. */
		if (req->building == res)
			req->building = NULL;
		cn_result_free(res);
	}
	req->last = NULL;
	/* A stream that the program has belongs to the program. */
	if (req->building && req->building->stream == CN_STREAM_NO)
		cn_result_free(req->building);
	req->building = NULL;
	cn_stmt_unref(req->stmt);
	req->stmt = NULL;
	cn_columns_unref(req->columns);
	req->columns = NULL;
	if (req->text)
		cnc_free(mem, req->text);
	req->text = NULL;
	cn_keep_drop(req);
}

void
cn_request_pop(cenote_conn *conn)
{
	request_finish(&conn->mem, cn_request_at(&conn->pipeline, 0));
	conn->pipeline.first = (conn->pipeline.first + 1) & (conn->pipeline.cap - 1);
	conn->pipeline.n--;
	conn->pipeline.n_finished--;
}

void
cn_requests_trim(cenote_conn *conn)
{
	while (conn->pipeline.n_finished > 0 &&
		cn_request_at(&conn->pipeline, 0)->is_hidden)
		cn_request_pop(conn);
}

void
cn_request_superseded(cenote_conn *conn, uint32_t portal)
{
	for (size_t i = 0; i < conn->pipeline.n_finished; i++) {
		struct cn_request *req = cn_request_at(&conn->pipeline, i);

		if (req->portal == portal && !req->first)
			req->is_hidden = 1;
	}
	cn_requests_trim(conn);
}

void
cn_request_finished(cenote_conn *conn, struct cn_request *req)
{
	req->is_finished = 1;
	conn->reattach.has_served = 1;
	conn->pipeline.n_finished++;
	cn_cache_finished(conn, req);
	cn_requests_trim(conn);
}

void
cn_requests_drop_unfinished(cenote_conn *conn)
{
	while (conn->pipeline.n > conn->pipeline.n_finished) {
		struct cn_request *req =
			cn_request_at(&conn->pipeline, conn->pipeline.n - 1);

		if (req->code == CNP_MSG_PREPARE && req->stmt)
			req->stmt->is_queued = 0;
		conn->pipeline.n--;
		cn_cache_failed(conn, req);
		request_finish(&conn->mem, req);
	}
	conn->pipeline.needs_sync = 0;
	conn->pipeline.unsynced = CNC_EFFECT_NONE;
	conn->pipeline.is_syncing = 0;
}

void
cn_requests_clear(cenote_conn *conn)
{
	cn_requests_drop_unfinished(conn);
	while (conn->pipeline.n > 0)
		cn_request_pop(conn);
	conn->pipeline.is_begun = 0;
	conn->pipeline.call = 0;
}

/*
 * A server that commits at the synchronisation point may commit there everything since the previous
 * point. If the answer is lost, it is unknown whether that was committed. So a request with a
 * synchronisation point counts as a write.
 */
static void
note_effect(cenote_conn *conn, struct cn_request *req, const struct cn_send *send)
{
	req->effect = send->effect;
	if (!send->sync && req->code != CNP_MSG_SYNC) {
		if (req->effect == CNC_EFFECT_WRITE || req->effect == CNC_EFFECT_COMMIT)
			conn->pipeline.unsynced = CNC_EFFECT_WRITE;
		return;
	}
	if (conn->pipeline.unsynced != CNC_EFFECT_NONE &&
		req->effect != CNC_EFFECT_COMMIT)
		req->effect = CNC_EFFECT_WRITE;
	conn->pipeline.unsynced = CNC_EFFECT_NONE;
}

/* Prepare again what the request `next` needs on this session. */
static int
restore_for(cenote_conn *conn, const struct cn_send *send, struct cn_request *next)
{
	int r = next->is_use ? cn_stmts_restore(conn) : CENOTE_OK;

	if (r == CENOTE_OK)
		r = cn_named_restore(conn, next->named, send->stmt);
	next->has_restored = r == CENOTE_DONE;
	return r < 0 ? r : CENOTE_OK;
}

/* Keep the text whose answer will say that it ended statements, because only the text says which. */
static int
keep_text(cenote_conn *conn, const struct cn_send *send, struct cn_request *next)
{
	const struct cnp_str *sql = &send->msg->as.query.sql;

	if (send->msg->code != CNP_MSG_QUERY || !(next->named & CNC_NAMES_ENDED))
		return CENOTE_OK;
	next->text = cnc_strndup(&conn->mem, sql->p, sql->n);
	return next->text ? CENOTE_OK : cn_nomem(conn);
}

static int
queue_request(cenote_conn *conn, const struct cn_send *send, struct cn_request *next)
{
	int r = cn_is_restored(conn) ? restore_for(conn, send, next) : CENOTE_OK;

	if (r < 0)
		return r;
	r = cnp_client_request(&conn->session, send->msg, send->sync, 0, &next->number);
	if (r == CENOTE_ERR_LIMIT)
		return cn_fail(conn, r, CNC_SQLSTATE(LIMIT),
			"the request is longer than the pool takes (its max_frame)");
	return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
}

int
cn_request(cenote_conn *conn, const struct cn_send *send)
{
	struct cn_request next = {
		.is_use = send->is_use || send->msg->code == CNP_MSG_SELECT_DATABASE,
		.named = cn_named_needed(conn, send),
	};
	struct cn_request *req;
	int r;

	r = ring_grow(conn);
	if (r < 0)
		return cn_nomem(conn);
	r = keep_text(conn, send, &next);
	if (r == CENOTE_OK)
		r = queue_request(conn, send, &next);
	if (r < 0) {
		cnc_free(&conn->mem, next.text);
		return r;
	}
	req = cn_request_at(&conn->pipeline, conn->pipeline.n);
	*req = next;
	/* A portal has the number of the request that opened it. */
	req->portal = send->target ? send->target->portal : req->number;
	req->code = send->msg->code;
	note_effect(conn, req, send);
	req->is_hidden = send->is_hidden;
	req->stmt = cn_stmt_ref(send->stmt);
	req->columns = cn_columns_ref(send->columns);
	req->target = send->target;
	if (send->options) {
		req->is_stream = send->options->stream != 0;
		req->format = (uint8_t)send->options->format;
		req->batch_rows = send->options->batch_rows;
	}
	if (req->code == CNP_MSG_RESET || req->code == CNP_MSG_CHANGE_USER)
		cn_stmts_forget_pieces(conn);
	if (send->msg->code == CNP_MSG_AUTOCOMMIT)
		req->wants_autocommit = send->msg->as.autocommit.on;
	req->keep = send->keep;
	conn->pipeline.n++;
	cn_cache_note(conn, send);
	conn->pipeline.needs_sync = !send->sync && send->msg->code != CNP_MSG_SYNC;
	conn->pipeline.is_collecting =
		conn->pipeline.is_begun && send->msg->code != CNP_MSG_SYNC;
	return CENOTE_OK;
}

int
cn_request_answered(cenote_conn *conn, uint8_t code, cenote_result *res)
{
	if (ring_grow(conn) < 0) {
		cn_result_free(res);
		return cn_nomem(conn);
	}
	*cn_request_at(&conn->pipeline, conn->pipeline.n) = (struct cn_request){
		.code = code,
		.is_answered = 1,
		.is_finished = 1,
		.first = res,
		.last = res,
	};
	conn->pipeline.n++;
	conn->pipeline.n_finished++;
	return CENOTE_OK;
}

int
cn_request_one_shot(cenote_conn *conn, uint8_t code)
{
	int r = ring_grow(conn);

	if (r < 0)
		return cn_nomem(conn);
	memset(cn_request_at(&conn->pipeline, 0), 0, sizeof(struct cn_request));
	cn_request_at(&conn->pipeline, 0)->code = code;
	conn->pipeline.n = 1;
	return CENOTE_OK;
}

int
cn_setup(cenote_conn *conn, const struct cnp_msg *msg)
{
	if (cn_state(conn) != CN_READY)
		return CENOTE_OK;
	return cnp_client_request(&conn->session, msg, 0, 1, NULL);
}

int
cn_has_answer(const cenote_conn *conn)
{
	const struct cn_request *req;

	if (conn->pipeline.n == 0 || cn_state(conn) == CN_LOST ||
		cn_state(conn) == CN_CLOSED)
		return 1;
	req = cn_request_at(&conn->pipeline, 0);
	if (req->is_hidden)
		return 0;
	/* Wait for the end of the request, so that the transaction state is known. But
	 * if more results wait for the program to read on, give the first one now. */
	return req->is_finished ||
	       (req->first &&
		       (req->first->has_more || req->first->stream != CN_STREAM_NO));
}
