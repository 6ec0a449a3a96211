/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipelining to the server. Without this file each request of a client's pipeline costs a switch
 * to the server and back. If the backend can take several requests at once, it gets all that have
 * arrived, up to the next synchronisation point. The answers are then taken one by one and in
 * order.
 *
 * Nobody may notice the difference. So there is no pipelining with a query_timeout, which would
 * then count for all requests together. Rules judge each statement in its turn. So in a pool with
 * rules, only statements for which the turn makes no difference are pipelined. A set-up request ends
 * the series: a client sends one when it wants the earlier answers first. request.c calls this file.
 */
#include "serving.h"

/* Decode the values for a statement. CENOTE_AGAIN: they need the ordinary way. */
static int
take_exec(struct cnd_serving *s, struct cnd_exec *exec, struct cnp_str params)
{
	struct cnc_value *values = NULL;

	if (exec->format > CENOTE_FORMAT_BINARY)
		return CENOTE_AGAIN;
	if (params.n > 0 && cnp_values_decode(params, &s->request.arena, &values,
				    &exec->n_params) < 0)
		return CENOTE_AGAIN;
	for (uint32_t i = 0; i < exec->n_params; i++) {
		if (values[i].is_long)
			return CENOTE_AGAIN;
	}
	exec->params = values;
	return CENOTE_OK;
}

/* Offer a request to the backend. `sql`: its text for the rules. */
static int
offer(struct cnd_serving *s, const struct cnd_ahead *what, struct cnp_str sql)
{
	int r;

	if (s->has_rules && !s->ops->passes(s, sql))
		return CENOTE_AGAIN;
	r = s->backend->ahead(s->session, what);
	if (s->has_rules && r == CENOTE_OK)
		s->ops->passed(s);
	return r;
}

static int
give_query(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_query *q = &req->msg.as.query;
	struct cnd_exec exec = { .format = q->format,
		.is_simple = q->params.n == 0,
		.is_sync = req->flags & CNP_FRAME_SYNC };
	const struct cnd_ahead what = { .code = CNP_MSG_QUERY,
		.is_sync = exec.is_sync,
		.sql = q->sql,
		.exec = &exec };

	if (q->batch_rows > 0 || q->max_rows > 0 || q->formats.n > 0 ||
		take_exec(s, &exec, q->params) < 0)
		return CENOTE_AGAIN;
	return offer(s, &what, q->sql);
}

static int
give_execute(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_execute *e = &req->msg.as.execute;
	const struct cnd_named which = { .statement = cnd_statement_find(
						 &s->statements, e->statement),
		.name = e->name };
	struct cnd_exec exec = { .format = e->format,
		.columns_known = e->known,
		.is_sync = req->flags & CNP_FRAME_SYNC };
	const struct cnd_ahead what = { .code = CNP_MSG_EXECUTE,
		.is_sync = exec.is_sync,
		.which = &which,
		.exec = &exec };

	if (e->batch_rows > 0 || e->max_rows > 0 || e->formats.n > 0 ||
		(e->statement != 0 && which.statement == NULL) ||
		take_exec(s, &exec, e->params) < 0)
		return CENOTE_AGAIN;
	return offer(s, &what, cnd_request_text(s, &which));
}

static int
give_prepare(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_prepare *p = &req->msg.as.prepare;
	struct cnd_prepare prepare = {
		.is_sync = req->flags & CNP_FRAME_SYNC, .sql = p->sql, .name = p->name
	};
	const struct cnd_ahead what = {
		.code = CNP_MSG_PREPARE, .is_sync = prepare.is_sync, .prepare = &prepare
	};

	if (p->statement != 0 || p->types.n % 4 != 0 ||
		p->types.n / 4 > CNC_BATCH_COLS_MAX ||
		cnd_request_set_types(s, &prepare, p->types) < 0)
		return CENOTE_AGAIN;
	return offer(s, &what, p->sql);
}

static int
give_named(struct cnd_serving *s, const struct cnp_request *req, uint32_t number,
	struct cnp_str name, uint8_t kind)
{
	const struct cnd_named which = {
		.name = name, .kind = kind, .is_sync = req->flags & CNP_FRAME_SYNC
	};
	const struct cnd_ahead what = {
		.code = req->msg.code, .is_sync = which.is_sync, .which = &which
	};

	return number != 0 || kind > CNP_NAMED_PORTAL ? CENOTE_AGAIN
						      : offer(s, &what, CNP_STR_NONE);
}

static int
give(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_describe *d = &req->msg.as.describe;
	const struct cnp_close *c = &req->msg.as.close;
	const struct cnd_ahead sync = { .code = CNP_MSG_SYNC, .is_sync = true };

	switch (req->msg.code) {
	case CNP_MSG_QUERY:
		return give_query(s, req);
	case CNP_MSG_EXECUTE:
		return give_execute(s, req);
	case CNP_MSG_PREPARE:
		return give_prepare(s, req);
	case CNP_MSG_DESCRIBE:
		return give_named(s, req, d->statement, d->name, d->kind);
	case CNP_MSG_CLOSE:
		return give_named(s, req, c->statement, c->name, c->kind);
	case CNP_MSG_SYNC:
		return offer(s, &sync, CNP_STR_NONE);
	default:
		return CENOTE_AGAIN;
	}
}

void
cnd_ahead_give(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_request *next = req;
	struct cnp_request behind;
	uint32_t number = req->number;
	size_t at = 0;

	if (s->backend->ahead == NULL || number == 0 || (req->flags & CNP_FRAME_SYNC) ||
		req->msg.code == CNP_MSG_SYNC || s->has_query_timeout)
		return;
	/* most requests have none after them */
	while (cnp_server_peek(s->server, &at, &number, &behind) == CENOTE_OK) {
		if (next == req && give(s, req) != CENOTE_OK)
			return;
		if (next == req) {
			s->ahead.n = 1;
			cnd_loss_expect_ahead(s, &req->msg);
		}
		next = &behind;
		if (give(s, &behind) != CENOTE_OK)
			return;
		if (behind.msg.code == CNP_MSG_SYNC)
			return;
		s->ahead.n++;
		s->ahead.last = behind.number;
		cnd_loss_expect_ahead(s, &behind.msg);
		if (behind.flags & CNP_FRAME_SYNC)
			return;
	}
}

int
cnd_ahead_answer(struct cnd_serving *s, const struct cnp_request *req)
{
	int r;

	s->result.is_describing =
		req->msg.code == CNP_MSG_PREPARE || req->msg.code == CNP_MSG_DESCRIBE;
	s->ahead.n--;
	r = s->backend->answer(s->session, &s->sink);
	if (r < 0)
		s->ahead.n = 0;
	else if (req->msg.code == CNP_MSG_PREPARE)
		cnd_named_text_keep(s, req->msg.as.prepare.name, req->msg.as.prepare.sql);
	else if (req->msg.code == CNP_MSG_CLOSE &&
		 req->msg.as.close.kind == CNP_NAMED_STATEMENT)
		cnd_named_text_drop(s, req->msg.as.close.name);
	return r;
}
