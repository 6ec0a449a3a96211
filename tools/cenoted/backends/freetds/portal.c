/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are fetched in batches. The connection holds one answer at a time. While nothing
 * else is asked, the rest of the answer waits there, and the server with it. As soon as another
 * request comes, the rest is read and stored as calls of a sink. A fetch repeats these calls.
 */
#include <string.h>

#include "core/batch.h"

#include "../common/spill.h"
#include "tds.h"

/* A stored call of the sink, followed by n bytes. */
struct event {
	enum {
		EVENT_ROW,
		EVENT_COLUMNS,
		EVENT_DONE
	} kind;
	uint32_t n;
};

struct columns_event {
	struct cnp_column *columns;
	uint32_t n;
	int known;
};

struct cnd_tds_portal {
	struct cnd_tds_run run;
	struct cnd_exec exec;
	/* The memory of `run`. It changes places with the session's arena while the run goes on. */
	struct cnc_arena arena;
	uint8_t only_reads;
	uint8_t is_stored;
	/* For storing the rest of the result. */
	struct cnd_sink storing;
	struct cnc_batch batch; /* one row */
	struct cnc_buf row;
	struct cnd_spill rest;
	struct cnc_diag diag; /* how the statement ended */
	int status;
	uint8_t is_limited; /* the client wants no more rows of this result */
};

static void
free_portal(struct cnd_session *s, struct cnd_tds_portal *p)
{
	cnc_arena_finish(&p->arena);
	cnc_buf_finish(&p->row);
	cnd_spill_finish(&p->rest);
	cnc_diag_finish(&p->diag);
	cnc_free(s->mem, p);
}

static void
drop_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_tds_portal *p = portal->own;

	portal->own = NULL;
	if (s->live == p)
		s->live = NULL;
	free_portal(s, p);
}

/* While a run goes on, its memory is the session's arena. */
static void
swap_arenas(struct cnd_session *s, struct cnd_tds_portal *p)
{
	struct cnc_arena arena = s->arena;

	s->arena = p->arena;
	p->arena = arena;
}

/* ---- pausing ---- */

static struct cnd_tds_portal *
make_portal(const struct cnd_tds_run *q)
{
	struct cnd_session *s = q->s;
	struct cnd_tds_portal *p = cnc_calloc(s->mem, 1, sizeof(*p));
	size_t n = q->exec->formats.n;

	if (!p)
		return NULL;
	p->run = *q;
	p->run.portal = p;
	p->run.exec = &p->exec;
	p->exec = *q->exec;
	p->exec.params = NULL;
	p->only_reads = s->tx == CENOTE_TX_IDLE && q->only_reads;
	cnc_arena_init(&p->arena, s->mem);
	cnc_buf_init(&p->row, s->mem, CND_TDS_SQL_MAX);
	cnd_spill_init(&p->rest, s->mem, CND_TDS_SQL_MAX);
	cnc_diag_init(&p->diag, s->mem);
	if (n > 0)
		p->exec.formats.p = cnc_arena_strndup(&s->arena, q->exec->formats.p, n);
	if (n == 0 || p->exec.formats.p)
		return p;
	free_portal(s, p);
	return NULL;
}

static int
say_more_rows(struct cnd_sink *sink)
{
	struct cnp_done done = {
		.tag = CNP_STR_NONE, .affected = -1, .flags = CNP_DONE_MORE_ROWS
	};
	int r = sink->ops->done(sink, &done);

	return r < 0 ? r : CENOTE_AGAIN;
}

int
cnd_tds_pause(struct cnd_tds_run *q)
{
	struct cnd_session *s = q->s;
	struct cnd_tds_portal *p;
	int r;

	if (q->portal)
		return say_more_rows(q->sink);
	p = make_portal(q);
	if (!p)
		return CENOTE_ERR_NOMEM;
	r = say_more_rows(q->sink);
	if (r < 0) {
		free_portal(s, p);
		return r;
	}
	swap_arenas(s, p);
	q->exec->portal->own = p;
	s->live = p;
	return CENOTE_AGAIN;
}

/* ---- storing ---- */

static struct cnd_tds_portal *
portal_of(struct cnd_sink *storing)
{
	return (struct cnd_tds_portal *)(void *)((char *)storing -
						 offsetof(
							 struct cnd_tds_portal, storing));
}

static int
store(struct cnd_tds_portal *p, const struct event *e, const void *bytes)
{
	int r = cnd_spill_put(&p->rest, e, sizeof(*e), &p->diag);

	return r == CENOTE_OK ? cnd_spill_put(&p->rest, bytes, e->n, &p->diag) : r;
}

static int
begin_row(struct cnd_tds_portal *p)
{
	cnc_buf_clear(&p->row, SIZE_MAX);
	return cnc_batch_begin(&p->batch, &p->row, p->run.rows.n);
}

static int
store_columns(
	struct cnd_sink *storing, const struct cnp_column *columns, uint32_t n, int known)
{
	struct cnd_tds_portal *p = portal_of(storing);
	struct columns_event c = { p->run.rows.columns, n, known };
	const struct event e = { EVENT_COLUMNS, sizeof(c) };
	int r = store(p, &e, &c);

	(void)columns;
	return r == CENOTE_OK ? begin_row(p) : r;
}

static int
store_row(struct cnd_sink *storing)
{
	struct cnd_tds_portal *p = portal_of(storing);
	const struct event e = { EVENT_ROW,
		(uint32_t)(cnc_buf_len(&p->row) - CNC_BATCH_HEADER) };
	int r = store(p, &e, cnc_buf_head(&p->row) + CNC_BATCH_HEADER);

	return r == CENOTE_OK ? begin_row(p) : r;
}

static int
store_done(struct cnd_sink *storing, const struct cnp_done *done)
{
	const struct event e = { EVENT_DONE, sizeof(*done) };

	return store(portal_of(storing), &e, done);
}

static int
store_rest(struct cnd_session *s, struct cnd_tds_portal *p)
{
	static const struct cnd_sink_ops ops = {
		.columns = store_columns, .row_done = store_row, .done = store_done
	};
	int r = begin_row(p);

	p->storing = (struct cnd_sink){ &ops, &p->batch, &p->diag };
	p->run.sink = &p->storing;
	p->run.may_pause = 0;
	swap_arenas(s, p);
	if (r == CENOTE_OK)
		r = cnd_tds_go_on(&p->run);
	swap_arenas(s, p);
	if (r == CENOTE_OK)
		r = cnd_spill_rewind(&p->rest, &p->diag);
	return r;
}

/* Take the open result off the connection, so that other SQL can run. */
static int
park_live(struct cnd_session *s)
{
	struct cnd_tds_portal *p = s->live;
	struct cnc_diag *diag = s->diag;
	int r;

	s->diag = &p->diag;
	p->status = store_rest(s, p);
	p->is_stored = 1;
	s->live = NULL;
	s->diag = diag;
	s->has_error = 0;
	/* the fetch of this result reports how its statement ended; a stop is reported to the
	 * request that was stopped */
	r = s->is_lost ? CENOTE_ERR_CONN : s->stop;
	if (r < 0)
		cnc_diag_copy(diag, &p->diag);
	return r;
}

/* ---- the beginning of a request ---- */

int
cnd_tds_enter_beside(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink,
	const struct cnd_tds_portal *portal)
{
	cnc_arena_clear(&s->arena);
	s->diag = diag;
	s->sink = sink;
	s->stop = 0;
	s->said = 0;
	s->has_error = 0;
	s->is_stopping = 0;
	s->is_silent = 0;
	if (s->is_lost)
		return cnd_tds_failed(s);
	return s->live && s->live != portal ? park_live(s) : CENOTE_OK;
}

int
cnd_tds_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink)
{
	return cnd_tds_enter_beside(s, diag, sink, NULL);
}

/* ---- fetching ---- */

static int
tell_row(struct cnd_tds_portal *p, const uint8_t *row, struct cnd_sink *sink)
{
	uint32_t n = p->run.rows.n;
	int r;

	if (p->is_limited)
		return CENOTE_OK;
	r = cnc_batch_row(sink->batch);
	for (uint32_t i = 0; r == CENOTE_OK && i < n; i++) {
		size_t len = 0;
		const char *value = cnc_row_value(row, n, i, &len);

		r = value ? cnc_batch_put(sink->batch, value, len)
			  : cnc_batch_null(sink->batch);
	}
	if (r < 0) {
		cnc_batch_row_undo(sink->batch);
		return r;
	}
	cnc_batch_row_done(sink->batch);
	r = sink->ops->row_done(sink);
	p->is_limited = r == CENOTE_DONE;
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

static int
tell_columns(struct cnd_tds_portal *p, const uint8_t *bytes, struct cnd_sink *sink)
{
	struct columns_event c;

	memcpy(&c, bytes, sizeof(c));
	p->run.rows.columns = c.columns;
	p->run.rows.n = c.n;
	return sink->ops->columns(sink, c.columns, c.n, c.known);
}

static int
tell_done(struct cnd_tds_portal *p, const uint8_t *bytes, struct cnd_sink *sink)
{
	struct cnp_done done;

	memcpy(&done, bytes, sizeof(done));
	if (p->is_limited)
		done.flags |= CNP_DONE_LIMITED;
	p->is_limited = 0;
	return sink->ops->done(sink, &done);
}

/* CENOTE_OK; CENOTE_DONE: there is nothing more; CENOTE_AGAIN: a batch is full. */
static int
tell_next(struct cnd_tds_portal *p, struct cnd_sink *sink)
{
	static int (*const tell[])(
		struct cnd_tds_portal *, const uint8_t *, struct cnd_sink *) = {
		[EVENT_ROW] = tell_row,
		[EVENT_COLUMNS] = tell_columns,
		[EVENT_DONE] = tell_done,
	};
	struct cnc_buf *b = &p->rest.buf;
	const uint8_t *head;
	struct event e;
	int r = cnd_spill_refill(&p->rest, sizeof(e), sink->diag);

	head = cnc_buf_head(b);
	if (r < 0 || !head || cnc_buf_len(b) < sizeof(e))
		return r < 0 ? r : CENOTE_DONE;
	memcpy(&e, head, sizeof(e));
	r = cnd_spill_refill(&p->rest, sizeof(e) + e.n, sink->diag);
	if (r == CENOTE_OK)
		r = tell[e.kind](p, cnc_buf_head(b) + sizeof(e), sink);
	if (r >= 0)
		cnc_buf_consume(b, sizeof(e) + e.n);
	return r;
}

static int
tell_rest(struct cnd_tds_portal *p, uint32_t batch_rows, struct cnd_sink *sink)
{
	int r;

	do {
		r = tell_next(p, sink);
		if (r == CENOTE_AGAIN)
			r = batch_rows > 0 ? say_more_rows(sink) : CENOTE_OK;
	} while (r == CENOTE_OK);
	if (r != CENOTE_DONE)
		return r;
	if (p->status < 0)
		cnc_diag_copy(sink->diag, &p->diag);
	return p->status;
}

static int
go_on(struct cnd_tds_portal *p, uint32_t batch_rows, struct cnd_sink *sink)
{
	struct cnd_session *s = p->run.s;
	int r;

	p->run.sink = sink;
	p->run.may_pause = batch_rows > 0;
	swap_arenas(s, p);
	r = cnd_tds_go_on(&p->run);
	swap_arenas(s, p);
	return r;
}

int
cnd_tds_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int send_columns, struct cnd_sink *sink)
{
	struct cnd_tds_portal *p = portal->own;
	int r = cnd_tds_enter_beside(s, sink->diag, sink, p);

	if (r < 0)
		return r;
	r = sink->ops->columns(sink, p->run.rows.columns, p->run.rows.n, !send_columns);
	if (r == CENOTE_OK)
		r = p->is_stored ? tell_rest(p, batch_rows, sink)
				 : go_on(p, batch_rows, sink);
	if (r == CENOTE_AGAIN)
		return CENOTE_OK;
	drop_portal(s, portal);
	return r == CENOTE_ERR_SERVER && s->tx != CENOTE_TX_IDLE
		       ? cnd_tds_look_at_tx(s, r)
		       : r;
}

/* ---- closing ---- */

/* A statement that only reads is stopped; any other is carried out to its end. */
void
cnd_tds_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	const struct cnd_tds_portal *p = portal->own;
	struct cnc_diag none;

	cnc_diag_init(&none, NULL);
	if (cnd_tds_enter_beside(s, &none, NULL, s->live) == CENOTE_OK && p != NULL &&
		p == s->live)
		cnd_tds_abandon(s, p->only_reads);
	drop_portal(s, portal);
	s->diag = NULL;
	cnc_diag_finish(&none);
}
