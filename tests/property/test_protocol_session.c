/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rowset.h"
#include "protocol/session_client.h"
#include "protocol/session_server.h"
#include "support/cnt_alloc.h"
#include "support/cnt_random.h"

/*
 * A client and a server session joined in memory, over a wire that cuts anywhere, running random
 * pipelines with failures, skips, synchronisation points, set-up requests, portals and yields to a
 * second session, on another connection or on the same one. What each request gave, and what was carried out in which order, is compared with
 * a model that knows nothing of frames.
 */
#define N_OPS        40u
#define N_STATEMENTS 4u
#define N_ROUNDS     1500u
#define WIRE_MAX     (1u << 20)
#define COPY_FAILS   4u

enum op_kind {
	OP_QUERY, /* n rows */
	OP_MULTI, /* n results of one row each */
	OP_FAIL, /* an error, after n rows */
	OP_PING,
	OP_SYNC,
	OP_PREPARE,
	OP_EXECUTE, /* n rows of a prepared statement */
	OP_CLOSE, /* a set-up request */
	OP_PORTAL, /* n rows, then the portal stays open */
	OP_FETCH, /* n rows more, then the portal is exhausted */
	OP_COPY, /* n pieces from the client; COPY_FAILS: the pool fails it after the first one */
	N_OP_KINDS
};

struct op {
	enum op_kind kind;
	uint8_t flags;
	uint32_t n;
	uint32_t statement;
	uint32_t request; /* the client's number of the request */
	int expect_skipped, expect_error;
	uint32_t expect_rows;
	int got_skipped, got_error, got_done, is_finished;
	uint32_t got_rows;
};

struct wire {
	uint8_t bytes[WIRE_MAX];
	size_t head, tail;
};

struct world {
	struct cnt_random *rnd;
	struct cnp_client client;
	struct cnp_server server;
	struct cnc_rowset rowset;
	struct cnc_arena arena;
	struct wire up, down;
	struct op ops[N_OPS];
	size_t n_ops;
	/* the pool's side */
	uint8_t is_prepared[N_STATEMENTS];
	uint32_t portal; /* open portal, 0 none */
	uint32_t log[N_OPS];
	size_t n_log;
	uint32_t copy_op, copy_n, n_pieces; /* of the copy that runs */
	size_t n_yields, n_stays, n_refused_stays;
	/* the client's side */
	uint8_t was_prepared[N_STATEMENTS];
	uint8_t may_stay;
	uint32_t copy_at; /* pieces that were given to the copy that is open */
	const struct cenote_allocator *mem;
};

/* ------------------------------------------------------------------- model */

static void
make_ops(struct world *w)
{
	size_t i, last_portal = SIZE_MAX;

	w->n_ops = 1 + cnt_random_below(w->rnd, N_OPS - 1);
	for (i = 0; i < w->n_ops; i++) {
		struct op *op = &w->ops[i];

		memset(op, 0, sizeof *op);
		op->kind = (enum op_kind)cnt_random_below(w->rnd, N_OP_KINDS);
		op->n = (uint32_t)cnt_random_below(w->rnd, 5);
		op->statement = (uint32_t)cnt_random_below(w->rnd, N_STATEMENTS);
		if (op->kind == OP_FAIL && cnt_random_below(w->rnd, 2) == 0)
			op->kind = OP_QUERY;
		if (op->kind == OP_PORTAL)
			last_portal = i;
		if (op->kind == OP_FETCH) {
			if (last_portal == SIZE_MAX)
				op->kind = OP_PING;
			else
				op->statement = (uint32_t)last_portal;
			last_portal = SIZE_MAX;
		}
		if (op->kind == OP_MULTI)
			op->n++;
		if (op->kind != OP_CLOSE && cnt_random_below(w->rnd, 3) == 0)
			op->flags = CNP_FRAME_SYNC;
	}
	w->ops[w->n_ops - 1].kind = OP_SYNC;
}

/* What one request does by itself. Returns 1 if it fails. */
static int
model_op(struct op *op, uint8_t *prepared, uint32_t *portal, uint32_t self)
{
	op->expect_rows = 0;
	switch (op->kind) {
	case OP_QUERY:
	case OP_MULTI:
		op->expect_rows = op->n;
		return 0;
	case OP_FAIL:
		op->expect_rows = op->n;
		return 1;
	case OP_COPY:
		op->expect_rows = op->n == COPY_FAILS ? 0 : op->n;
		return op->n == COPY_FAILS;
	case OP_PREPARE:
		prepared[op->statement] = 1;
		return 0;
	case OP_EXECUTE:
		if (!prepared[op->statement])
			return 1;
		op->expect_rows = op->n;
		return 0;
	case OP_PORTAL:
		op->expect_rows = op->n;
		*portal = self + 1;
		return 0;
	case OP_FETCH:
		if (*portal != op->statement + 1)
			return 1;
		*portal = 0;
		op->expect_rows = op->n;
		return 0;
	default:
		return 0;
	}
}

/* Fill the expectations. Returns how many operations are carried out; `log` gets their indexes, in
 * order. */
static size_t
model(struct world *w, uint32_t *log)
{
	uint8_t prepared[N_STATEMENTS] = { 0 };
	uint32_t portal = 0;
	size_t i, n = 0;
	int is_skipping = 0;

	for (i = 0; i < w->n_ops; i++) {
		struct op *op = &w->ops[i];

		if (op->kind == OP_CLOSE) {
			prepared[op->statement] = 0;
			continue;
		}
		if (op->kind == OP_SYNC) {
			is_skipping = 0;
			continue;
		}
		op->expect_skipped = is_skipping;
		if (!is_skipping) {
			log[n++] = (uint32_t)i;
			op->expect_error = model_op(op, prepared, &portal, (uint32_t)i);
			is_skipping = op->expect_error;
		}
		if (op->flags & CNP_FRAME_SYNC)
			is_skipping = 0;
	}
	return n;
}

/* -------------------------------------------------------------------- pool */

static void
wire_put(struct wire *wire, const uint8_t *bytes, size_t n)
{
	if (wire->head > 0) {
		memmove(wire->bytes, wire->bytes + wire->head, wire->tail - wire->head);
		wire->tail -= wire->head;
		wire->head = 0;
	}
	assert_true(wire->tail + n <= WIRE_MAX);
	memcpy(wire->bytes + wire->tail, bytes, n);
	wire->tail += n;
}

static size_t
some(struct world *w, size_t n)
{
	return cnt_random_below(w->rnd, 4) == 0 ? n : 1 + cnt_random_below(w->rnd, n);
}

static void
server_flush(struct world *w)
{
	const uint8_t *p;
	size_t n = cnp_server_output(&w->server, &p);

	if (n > 0)
		wire_put(&w->down, p, n);
	cnp_server_sent(&w->server, n);
}

static void
put_rows(struct world *w, uint32_t tag, uint32_t n)
{
	struct cnc_batch batch;
	char text[32];
	uint32_t i;

	if (cnp_server_rows_begin(&w->server, &batch, 2) == CENOTE_ERR_LIMIT) {
		server_flush(w);
		assert_ok(cnp_server_rows_begin(&w->server, &batch, 2));
	}
	for (i = 0; i < n; i++) {
		int len = snprintf(text, sizeof text, "%u:%u", tag, i);

		assert_ok(cnc_batch_row(&batch));
		assert_ok(cnc_batch_put(&batch, text, (size_t)len));
		assert_ok(cnc_batch_null(&batch));
		cnc_batch_row_done(&batch);
		if (i + 1 < n && cnt_random_below(w->rnd, 3) == 0) {
			assert_ok(cnp_server_rows_end(&w->server, &batch));
			server_flush(w);
			assert_ok(cnp_server_rows_begin(&w->server, &batch, 2));
		}
	}
	assert_ok(cnp_server_rows_end(&w->server, &batch));
}

static void
put_columns(struct world *w)
{
	static const struct cnp_column columns[2] = { CNP_COLUMN_INIT, CNP_COLUMN_INIT };

	assert_ok(cnp_server_columns(&w->server, columns, 2));
}

static void
put_done(struct world *w, uint8_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_DONE };

	m.as.done.tag = cnp_str("OK");
	m.as.done.affected = -1;
	m.as.done.last_insert_id = 0;
	m.as.done.warnings = 0;
	m.as.done.flags = flags;
	assert_ok(cnp_server_reply(&w->server, &m, 0));
}

static void
put_error(struct world *w)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, "42601", "it failed");
	assert_ok(cnp_server_error(&w->server, &d));
}

/* Run the pool's part of a copy. Returns 1 when the request is finished. */
static int
run_copy(struct world *w)
{
	struct cnp_msg m = { .code = CNP_MSG_DONE };
	struct cnp_str data;
	char text[32];
	int r;

	while ((r = cnp_server_next_copy(&w->server, &data)) == CENOTE_OK) {
		(void)snprintf(text, sizeof text, "%u:%u", w->copy_op, w->n_pieces++);
		assert_string_equal(data.p, text);
		if (w->copy_n == COPY_FAILS)
			break;
	}
	if (r == CENOTE_AGAIN)
		return 0;
	m.as.done.affected = w->n_pieces;
	if (r == CENOTE_OK) {
		put_error(w);
	} else {
		assert_int_equal(r, CENOTE_DONE);
		assert_ok(cnp_server_reply(&w->server, &m, 0));
	}
	assert_ok(cnp_server_finish_request(&w->server, 0, 0, NULL));
	return 1;
}

static void
begin_copy(struct world *w, uint32_t index, uint32_t n)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_IN };

	assert_ok(cnp_server_reply(&w->server, &m, 0));
	w->copy_op = index;
	w->copy_n = n;
	w->n_pieces = 0;
}

static void
run_query(struct world *w, const struct cnp_request *req)
{
	char *p;
	uint32_t kind = (uint32_t)strtoul(req->msg.as.query.sql.p, &p, 10);
	uint32_t index = (uint32_t)strtoul(p, &p, 10);
	uint32_t n = (uint32_t)strtoul(p, &p, 10);
	uint32_t i;

	assert_int_equal(*p, 0);
	w->log[w->n_log++] = index;
	if (kind == OP_COPY) {
		begin_copy(w, index, n);
		return;
	}
	if (kind == OP_MULTI) {
		for (i = 0; i < n; i++) {
			put_columns(w);
			put_rows(w, index, 1);
			put_done(w, i + 1 < n ? CNP_DONE_MORE_RESULTS : 0);
		}
		return;
	}
	put_columns(w);
	put_rows(w, index, n);
	if (kind == OP_FAIL) {
		put_error(w);
	} else if (kind == OP_PORTAL) {
		w->portal = index + 1;
		put_done(w, CNP_DONE_MORE_ROWS);
	} else {
		put_done(w, 0);
	}
}

static void
run_execute(struct world *w, const struct cnp_request *req)
{
	const struct cnp_execute *m = &req->msg.as.execute;

	w->log[w->n_log++] = (uint32_t)m->max_rows;
	if (!w->is_prepared[m->statement]) {
		put_error(w);
		return;
	}
	if (!m->known)
		put_columns(w);
	put_rows(w, (uint32_t)m->max_rows, m->batch_rows);
	put_done(w, 0);
}

static void
run_fetch(struct world *w, const struct cnp_request *req)
{
	const struct cnp_fetch *m = &req->msg.as.fetch;
	uint32_t index = m->batch_rows >> 8, n = m->batch_rows & 0xff;

	w->log[w->n_log++] = index;
	if (m->portal != w->portal) {
		put_error(w);
		return;
	}
	w->portal = 0;
	if (m->columns)
		put_columns(w);
	put_rows(w, index, n);
	put_done(w, 0);
}

static void
run_prepare(struct world *w, const struct cnp_request *req)
{
	const struct cnp_prepare *m = &req->msg.as.prepare;

	if (req->number != 0)
		w->log[w->n_log++] = (uint32_t)strtoul(m->sql.p, NULL, 10);
	w->is_prepared[m->statement] = 1;
	assert_ok(cnp_server_params(&w->server, NULL, 0));
	put_columns(w);
	put_done(w, 0);
}

static void
server_run(struct world *w, const struct cnp_request *req)
{
	switch (req->msg.code) {
	case CNP_MSG_QUERY:
		run_query(w, req);
		break;
	case CNP_MSG_EXECUTE:
		run_execute(w, req);
		break;
	case CNP_MSG_FETCH:
		run_fetch(w, req);
		break;
	case CNP_MSG_PREPARE:
		run_prepare(w, req);
		break;
	case CNP_MSG_CLOSE:
		w->is_prepared[req->msg.as.close.statement] = 0;
		put_done(w, 0);
		break;
	case CNP_MSG_SAVEPOINT: /* sent for OP_PING, with the operation's index as the name */
		w->log[w->n_log++] =
			(uint32_t)strtoul(req->msg.as.savepoint.name.p, NULL, 10);
		put_done(w, 0);
		break;
	default:
		assert_int_equal(req->msg.code, CNP_MSG_SYNC);
	}
	if (w->server.is_copying)
		return;
	assert_ok(cnp_server_finish_request(&w->server, 0, 0, NULL));
}

/* The session is gone, and so is what it knew. */
static void
forget_session(struct world *w)
{
	memset(w->is_prepared, 0, sizeof w->is_prepared);
	w->portal = 0;
}

/* Take the session back. The client may stay, if it has said so and nothing of it is on its way. */
/* The handle serves others meanwhile. */
static void
put_aside(struct world *w)
{
	struct cnp_kept kept;

	cnp_server_keep(&w->server, &kept);
	cnp_server_restart_kept(&w->server, &kept);
}

static void
server_yield(struct world *w)
{
	w->n_yields++;
	if (!cnp_server_can_stay(&w->server) || cnt_random_below(w->rnd, 8) == 0) {
		assert_ok(cnp_server_yield(&w->server, CNP_YIELD_CONTENDED, NULL));
		return;
	}
	assert_ok(cnp_server_yield(&w->server, CNP_YIELD_STAY, NULL));
	server_flush(w);
	put_aside(w);
	forget_session(w);
	w->n_stays++;
}

/* A client that stays must go, now or when it asks for a session. */
static int
server_refuses(struct world *w, unsigned one_in)
{
	if (!w->server.is_kept || cnt_random_below(w->rnd, one_in) > 0)
		return 0;
	assert_ok(cnp_server_yield(&w->server, CNP_YIELD_DRAIN, NULL));
	w->n_refused_stays++;
	return 1;
}

static void
server_attach(struct world *w)
{
	struct cnp_attached m = { .session = 1, .key = 2, .worker_pid = 3 };

	if (server_refuses(w, 8))
		return;
	assert_ok(cnp_server_attached(&w->server, &m));
	assert_ok(cnp_server_ready(&w->server, 0, 0, NULL));
}

/* Serve the requests that have arrived. Now and then yield, when that is allowed. */
static void
server_work(struct world *w)
{
	struct cnp_request req;
	int r;

	if (w->server.is_copying && !run_copy(w))
		return;
	if (cnp_server_state(&w->server) == CNP_SERVER_STAYING && server_refuses(w, 100))
		return;
	while ((r = cnp_server_next(&w->server, &req)) == CENOTE_OK) {
		if (cnp_server_state(&w->server) == CNP_SERVER_FIRST &&
			w->server.first == 0) {
			assert_ok(cnp_server_hello(&w->server, 0, 0, NULL));
			continue;
		}
		if (cnp_server_state(&w->server) == CNP_SERVER_FIRST) {
			server_attach(w);
			continue;
		}
		server_run(w, &req);
		if (w->server.is_copying && !run_copy(w))
			return;
		if (w->portal == 0 && cnp_server_can_yield(&w->server) &&
			cnt_random_below(w->rnd, 6) == 0)
			server_yield(w);
	}
	if (r != CENOTE_AGAIN)
		print_error("server: %s\n", w->server.diag.message);
	assert_int_equal(r, CENOTE_AGAIN);
	if (cnp_server_still_stays(&w->server))
		put_aside(w);
	/* Others begin to wait while the client is silent. */
	if (w->portal == 0 && cnp_server_can_stay(&w->server) &&
		cnt_random_below(w->rnd, 20) == 0)
		server_yield(w);
}

static void
server_receive(struct world *w)
{
	size_t n, left = w->up.tail - w->up.head;
	uint8_t *room;
	int r;

	if (left == 0 || cnp_server_state(&w->server) >= CNP_SERVER_CLOSING)
		return;
	r = cnp_server_room(&w->server, &room, &n);
	assert_ok(r);
	n = some(w, n < left ? n : left);
	memcpy(room, w->up.bytes + w->up.head, n);
	w->up.head += n;
	cnp_server_received(&w->server, n);
}

/* ------------------------------------------------------------------ client */

static struct op *
op_of(struct world *w, uint32_t request)
{
	size_t i;

	for (i = 0; i + 1 < w->n_ops && w->ops[i].request != request; i++)
		;
	assert_int_equal(w->ops[i].request, request);
	return &w->ops[i];
}

static void
check_rows(struct world *w, struct op *op, const struct cnp_event *ev)
{
	char text[32];
	size_t i, len, before = w->rowset.n_rows;

	assert_ok(cnc_rowset_add(&w->rowset, ev->payload, ev->payload_len, ev->block));
	for (i = before; i < w->rowset.n_rows; i++) {
		const char *value = cnc_rowset_value(&w->rowset, i, 0, &len);
		uint32_t row = op->kind == OP_MULTI ? 0 : op->got_rows;

		(void)snprintf(text, sizeof text, "%u:%u", (unsigned)(op - w->ops), row);
		assert_string_equal(value, text);
		op->got_rows++;
	}
}

static void
on_reply(struct world *w, const struct cnp_event *ev)
{
	struct op *op = op_of(w, ev->request);

	assert_false(op->is_finished);
	op->is_finished = ev->is_last;
	switch (ev->msg.code) {
	case CNP_MSG_ROWS:
		check_rows(w, op, ev);
		break;
	case CNP_MSG_ERROR:
		op->got_error = 1;
		break;
	case CNP_MSG_SKIPPED:
		op->got_skipped = 1;
		break;
	case CNP_MSG_COPY_IN:
		w->copy_at = 0;
		break;
	case CNP_MSG_DONE:
		if (ev->msg.as.done.flags & CNP_DONE_MORE_RESULTS)
			break;
		op->got_done = 1;
		if (op->kind == OP_COPY)
			op->got_rows = (uint32_t)ev->msg.as.done.affected;
		if (op->kind == OP_PREPARE)
			w->was_prepared[op->statement] = 1;
		break;
	default:
		break;
	}
}

static void
prepare_again(struct world *w)
{
	struct cnp_msg m = { .code = CNP_MSG_PREPARE };
	uint32_t i;

	m.as.prepare.sql = cnp_str("again");
	for (i = 0; i < N_STATEMENTS; i++) {
		m.as.prepare.statement = i;
		if (w->was_prepared[i])
			assert_ok(cnp_client_request(&w->client, &m, 0, 1, NULL));
	}
}

static void
client_open(struct world *w, int resend)
{
	struct cnp_opening o = { .version_min = 1, .version_max = 1 };
	struct cnp_msg m = { .code = CNP_MSG_ATTACH };

	m.as.attach.flags = w->may_stay ? CNP_ATTACH_STAYS : 0;
	o.kind = CNP_OPEN_ATTACH;
	memcpy(o.pool, "main", 5);
	assert_ok(cnp_client_open(&w->client, &o, &m, resend));
	prepare_again(w);
}

/* The session was yielded, and the client stays: sometimes it asks for another one, sometimes it goes. */
static int
attach_kept(struct world *w)
{
	struct cnp_msg m = { .code = CNP_MSG_ATTACH };

	if (cnt_random_below(w->rnd, 30) == 0)
		return 0;
	if (cnt_random_below(w->rnd, 4) > 0)
		return 1;
	m.as.attach.flags = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS;
	assert_ok(cnp_client_open_kept(&w->client, &m));
	prepare_again(w);
	return 1;
}

/* The session was yielded: another one, on another worker. */
static void
reattach(struct world *w)
{
	if (cnp_client_is_staying(&w->client) && attach_kept(w))
		return;
	cnp_server_restart(&w->server);
	forget_session(w);
	w->up.head = w->up.tail = 0;
	w->down.head = w->down.tail = 0;
	cnp_client_restart(&w->client);
	client_open(w, 1);
}

static void
client_work(struct world *w)
{
	struct cnp_event ev;
	int r;

	while ((r = cnp_client_next(&w->client, &ev)) == CENOTE_OK) {
		if (ev.request != 0)
			on_reply(w, &ev);
		else
			assert_int_not_equal(ev.msg.code, CNP_MSG_ERROR);
	}
	if (r != CENOTE_AGAIN)
		print_error("client: %s\n", w->client.diag.message);
	assert_int_equal(r, CENOTE_AGAIN);
}

static void
client_receive(struct world *w)
{
	size_t n, left = w->down.tail - w->down.head;
	uint8_t *room;

	if (left == 0)
		return;
	assert_ok(cnp_client_room(&w->client, &room, &n));
	assert_true(n > 0);
	n = some(w, n < left ? n : left);
	memcpy(room, w->down.bytes + w->down.head, n);
	w->down.head += n;
	cnp_client_received(&w->client, n);
}

/* Send a piece of the open copy, or its end. */
static void
client_copy(struct world *w)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };
	struct op *op;
	char text[32];

	if (w->client.copying == 0)
		return;
	op = op_of(w, w->client.copying);
	if (w->copy_at == op->n) {
		m.code = CNP_MSG_COPY_DONE;
	} else {
		(void)snprintf(text, sizeof text, "%u:%u", (unsigned)(op - w->ops),
			w->copy_at++);
		m.as.copy_data.data = cnp_str(text);
	}
	assert_ok(cnp_client_copy(&w->client, &m));
}

static void
client_send(struct world *w)
{
	const uint8_t *p;
	size_t n = cnp_client_output(&w->client, &p);

	if (n == 0)
		return;
	n = some(w, n);
	wire_put(&w->up, p, n);
	cnp_client_sent(&w->client, n);
}

static void
fill_msg(struct world *w, const struct op *op, struct cnp_msg *m, char *text, size_t size)
{
	uint32_t index = (uint32_t)(op - w->ops);

	memset(m, 0, sizeof *m);
	(void)snprintf(text, size, "%u %u %u", (unsigned)op->kind, index, op->n);
	m->code = CNP_MSG_QUERY;
	switch (op->kind) {
	case OP_PING:
		m->code = CNP_MSG_SAVEPOINT;
		(void)snprintf(text, size, "%u", index);
		m->as.savepoint.name = cnp_str(text);
		break;
	case OP_SYNC:
		m->code = CNP_MSG_SYNC;
		break;
	case OP_PREPARE:
		m->code = CNP_MSG_PREPARE;
		(void)snprintf(text, size, "%u", index);
		m->as.prepare.statement = op->statement;
		m->as.prepare.sql = cnp_str(text);
		break;
	case OP_EXECUTE:
		m->code = CNP_MSG_EXECUTE;
		m->as.execute.statement = op->statement;
		m->as.execute.known = cnt_random_below(w->rnd, 2) == 0;
		m->as.execute.batch_rows = op->n;
		m->as.execute.max_rows = index;
		break;
	case OP_CLOSE:
		m->code = CNP_MSG_CLOSE;
		m->as.close.statement = op->statement;
		break;
	case OP_FETCH:
		m->code = CNP_MSG_FETCH;
		m->as.fetch.portal = op->statement + 1;
		m->as.fetch.batch_rows = index << 8 | op->n;
		m->as.fetch.columns = cnt_random_below(w->rnd, 2) == 0;
		break;
	default:
		m->as.query.sql = cnp_str(text);
	}
}

static void
client_request(struct world *w, struct op *op)
{
	struct cnp_msg m;
	char text[48];

	/* A closed statement must not be prepared again behind the program's back. So the client
	 * closes only when no request is outstanding, as libcenote does. */
	fill_msg(w, op, &m, text, sizeof text);
	assert_ok(cnp_client_request(
		&w->client, &m, op->flags, op->kind == OP_CLOSE, &op->request));
	if (op->kind == OP_CLOSE) {
		w->was_prepared[op->statement] = 0;
		op->is_finished = 1;
	}
}

/* A statement may be closed only when no request is outstanding that could be sent again. */
static int
may_queue(const struct world *w, const struct op *op)
{
	return op->kind != OP_CLOSE || !cnp_client_oldest(&w->client);
}

static void
check_op(const struct world *w, const struct op *op)
{
	size_t i = (size_t)(op - w->ops);

	if (op->kind == OP_CLOSE)
		return;
	if (op->got_skipped != op->expect_skipped || op->got_error != op->expect_error ||
		op->got_rows != op->expect_rows || !op->is_finished)
		print_error("op %zu kind %d: skipped %d/%d error %d/%d rows %u/%u\n", i,
			(int)op->kind, op->got_skipped, op->expect_skipped, op->got_error,
			op->expect_error, op->got_rows, op->expect_rows);
	assert_int_equal(op->got_skipped, op->expect_skipped);
	assert_int_equal(op->got_error, op->expect_error);
	assert_int_equal(op->got_rows, op->expect_rows);
	assert_true(op->is_finished);
	if (op->kind != OP_SYNC)
		assert_int_equal(op->got_done, !op->got_skipped && !op->got_error);
}

static void
check_world(struct world *w)
{
	uint32_t log[N_OPS];
	size_t i, n = model(w, log);

	for (i = 0; i < w->n_ops; i++)
		check_op(w, &w->ops[i]);
	assert_int_equal(w->n_log, n);
	for (i = 0; i < n; i++)
		assert_int_equal(w->log[i], log[i]);
}

static void
run_world(struct world *w)
{
	size_t at = 0, steps;

	for (steps = 0; steps < 1000000; steps++) {
		switch (cnt_random_below(w->rnd, 6)) {
		case 0:
			if (at < w->n_ops && may_queue(w, &w->ops[at]))
				client_request(w, &w->ops[at++]);
			break;
		case 1:
			client_copy(w);
			client_send(w);
			break;
		case 2:
			server_receive(w);
			server_work(w);
			break;
		case 3:
			server_flush(w);
			break;
		default:
			client_receive(w);
			client_work(w);
		}
		if (cnp_client_state(&w->client) == CNP_CLIENT_YIELDED)
			reattach(w);
		if (at == w->n_ops && !cnp_client_oldest(&w->client))
			return;
	}
	fail_msg("the pipeline hangs");
}

static void
random_pipelines_do_what_the_model_says(void **state)
{
	struct cnt_random rnd;
	struct cnt_alloc alloc;
	struct world *w = malloc(sizeof *w);
	size_t i, n_yields = 0, n_stays = 0, n_refused_stays = 0;

	assert_non_null(w);
	cnt_random_init_printed(&rnd);
	for (i = 0; i < N_ROUNDS; i++) {
		memset(w, 0, offsetof(struct world, up));
		memset(w->is_prepared, 0,
			sizeof *w - offsetof(struct world, is_prepared));
		w->up.head = w->up.tail = w->down.head = w->down.tail = 0;
		w->rnd = &rnd;
		cnt_alloc_init(&alloc, 0);
		cnp_client_init(&w->client, &alloc.mem, CNP_FRAME_MAX);
		/* request numbers wrap around in some of the rounds */
		if (i % 4 == 0)
			w->client.next_request = UINT32_MAX - 5;
		cnp_server_init(&w->server, &alloc.mem, 1 << 20, 100);
		cnc_rowset_init(&w->rowset, &alloc.mem, 2);
		make_ops(w);
		w->may_stay = i % 3 > 0;
		client_open(w, 0);
		run_world(w);
		check_world(w);
		n_yields += w->n_yields;
		n_stays += w->n_stays;
		n_refused_stays += w->n_refused_stays;
		cnc_rowset_finish(&w->rowset);
		cnp_client_finish(&w->client);
		cnp_server_finish(&w->server);
		assert_int_equal(cnt_alloc_leaks(&alloc), 0);
	}
	/* the rounds are not worth much if nothing ever moved to another session */
	assert_true(n_yields > N_ROUNDS / 2);
	assert_true(n_stays > N_ROUNDS / 4);
	assert_true(n_refused_stays > N_ROUNDS / 50);
	free(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pipelines_do_what_the_model_says),
	};

	return cmocka_run_group_tests_name("protocol_session", tests, NULL, NULL);
}
