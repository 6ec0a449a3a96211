/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the backend writes its answers to (struct cnd_sink): rows, results, notices and parameters
 * become frames in the client's output. It owns s->result. Backends call it; copy.c has its
 * functions for copies.
 */
#include "cached.h"

#include <string.h>

#include "core/sqlstate.h"

/* Rows are sent once they have this many bytes. */
#define BATCH_BYTES  32768u
/* Other replies wait for the end of the request, up to this size. */
#define QUEUED_BYTES 65536u

struct cnd_serving *
cnd_sink_serving(struct cnd_sink *sink)
{
	return (struct cnd_serving *)(void *)((char *)sink -
					      offsetof(struct cnd_serving, sink));
}

/* The most bytes of a batch: a long row is the last of its batch, and the rows before it have less
 * than BATCH_BYTES. */
static size_t
longest_batch(const struct cnd_serving *s)
{
	return (size_t)s->max_row + BATCH_BYTES;
}

int
cnd_sink_bounds_rows(const struct cnd_serving *s)
{
	return s->result.is_in_rows && longest_batch(s) < s->server->peer_max_frame;
}

static int
begin_rows(struct cnd_serving *s)
{
	int r;

	if (s->result.is_quiet)
		return CENOTE_OK;
	r = cnp_server_rows_begin(s->server, &s->result.batch, s->result.n_columns);
	if (r == CENOTE_ERR_LIMIT) {
		/* the replies of a pipeline have piled up */
		r = s->ops->flush(s);
		if (r == CENOTE_OK)
			r = cnp_server_rows_begin(
				s->server, &s->result.batch, s->result.n_columns);
	}
	s->result.is_in_rows = r == CENOTE_OK;
	s->result.last_row = r == CENOTE_OK ? cnc_batch_len(&s->result.batch) : 0;
	if (cnd_sink_bounds_rows(s))
		s->result.batch.out->max =
			cnc_buf_len(s->result.batch.out) + longest_batch(s);
	return r;
}

int
cnd_sink_end_rows(struct cnd_serving *s)
{
	if (!s->result.is_in_rows)
		return CENOTE_OK;
	s->result.is_in_rows = false;
	s->result.n_rows += s->result.batch.n_rows;
	if (s->cached != NULL)
		cnd_cached_rows(s);
	return cnp_server_rows_end(s->server, &s->result.batch);
}

void
cnd_sink_abort(struct cnd_serving *s)
{
	if (!s->result.is_in_rows)
		return;
	/* nothing may be queued inside a ROWS frame, so end it with this row */
	cnc_batch_row_undo(&s->result.batch);
	(void)cnd_sink_end_rows(s);
}

int
cnd_sink_flush(struct cnd_serving *s)
{
	int was_in_rows = s->result.is_in_rows;
	int r;

	/* only send whole rows */
	if (was_in_rows && s->result.batch.row != cnc_buf_len(s->result.batch.out))
		return CENOTE_OK;
	r = cnd_sink_end_rows(s);
	if (r == CENOTE_OK)
		r = s->ops->flush(s);
	return r == CENOTE_OK && was_in_rows ? begin_rows(s) : r;
}

static int
sink_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	return cnp_server_params(cnd_sink_serving(sink)->server, params, n);
}

static int
sink_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	int r;

	/* the columns had been left out, and the result failed before its first row */
	if (!known)
		cnd_sink_abort(s);
	if (s->cached != NULL)
		cnd_cached_columns(s, columns, n);
	r = known ? CENOTE_OK : cnp_server_columns(s->server, columns, n);
	if (r < 0 || s->result.is_describing)
		return r;
	s->result.has_shown = true;
	s->result.n_columns = n;
	s->result.has_columns = true;
	return begin_rows(s);
}

/* A row was written. If it is one too many, take it back. */
static int
count_row(struct cnd_serving *s)
{
	struct cnc_batch *batch = &s->result.batch;
	size_t len = s->result.is_in_rows ? cnc_batch_len(batch) : 0;
	size_t row = s->result.is_in_rows ? len - s->result.last_row : 0;
	int r = cnd_limits_count(s, row);

	if (r == CENOTE_OK)
		s->result.last_row = len;
	if (r == CENOTE_OK || !s->result.is_in_rows)
		return r;
	batch->row -= row;
	batch->n_rows--;
	cnc_batch_row_undo(batch);
	return r;
}

static int
sink_row_done(struct cnd_sink *sink)
{
	struct cnd_serving *s = cnd_sink_serving(sink);

	if (s->result.is_limited && count_row(s) < 0)
		return CENOTE_ERR_SERVER;
	if (s->result.rows_left != UINT64_MAX && --s->result.rows_left == 0)
		return CENOTE_DONE;
	if (s->result.batch_left > 0 && --s->result.batch_left == 0)
		return CENOTE_AGAIN;
	/* rows without columns have no bytes, but the number of them in a batch is bounded */
	if (!s->result.is_in_rows ||
		(cnc_batch_len(&s->result.batch) < BATCH_BYTES &&
			s->result.batch.n_rows < CNC_BATCH_EMPTY_ROWS_MAX))
		return CENOTE_OK;
	return cnd_sink_flush(s);
}

/* Send the queued replies once they are many: a request may have any number of results and
 * notices. */
static int
flush_if_much(struct cnd_serving *s)
{
	const uint8_t *bytes;

	return cnp_server_output(s->server, &bytes) >= QUEUED_BYTES ? s->ops->flush(s)
								    : CENOTE_OK;
}

void
cnd_sink_take_answer(struct cnd_serving *s, const struct cnp_done *done)
{
	struct cnd_serving_answer *a = &s->result.answer;
	size_t n = done->tag.n < sizeof(a->tag) ? done->tag.n : sizeof(a->tag) - 1;

	a->affected = done->affected;
	a->last_insert_id = done->last_insert_id;
	a->n++;
	memset(a->tag, 0, sizeof(a->tag));
	if (n > 0)
		memcpy(a->tag, done->tag.p, n);
}

static int
sink_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	struct cnd_serving *s = cnd_sink_serving(sink);
	struct cnp_msg m = { .code = CNP_MSG_DONE, .as.done = *done };
	int r = cnd_sink_end_rows(s);

	if (r < 0)
		return r;
	if (!s->result.has_columns && done->affected > 0)
		s->result.n_rows += (uint64_t)done->affected;
	s->result.has_columns = false;
	s->result.is_done = !(done->flags & CNP_DONE_MORE_RESULTS);
	if (!s->result.is_done) {
		s->result.rows_left = s->result.max_rows;
		s->result.batch_left = s->result.batch_rows;
	}
	s->result.done_flags = done->flags;
	if (s->replay.max > 0)
		cnd_sink_take_answer(s, done);
	if (s->cached != NULL)
		cnd_cached_done(s, done);
	r = cnp_server_reply(s->server, &m, 0);
	return r == CENOTE_OK && !s->result.is_done ? flush_if_much(s) : r;
}

/* Send something that is not part of the result: between two ROWS frames, if one is open. */
static int
put_between(struct cnd_serving *s, const struct cnc_diag *notice, const struct cnp_msg *m)
{
	int was_in_rows = s->result.is_in_rows;
	int r = cnd_sink_end_rows(s);

	if (r < 0)
		return r;
	r = notice != NULL ? cnp_server_notice(s->server, notice)
			   : cnp_server_reply(s->server, m, 1);
	/* the message is too long for the client and cannot be shortened; the request goes on without
	 * it */
	if (r == CENOTE_ERR_LIMIT)
		r = CENOTE_OK;
	/* servers send a notice at once, since the statement may run for long after it */
	if (r == CENOTE_OK)
		r = notice != NULL ? s->ops->flush(s) : flush_if_much(s);
	return r == CENOTE_OK && was_in_rows ? begin_rows(s) : r;
}

static int
sink_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	struct cnd_serving *s = cnd_sink_serving(sink);

	s->result.has_shown = true;
	if (s->cached != NULL)
		cnd_cached_drop(s);
	return put_between(s, notice, NULL);
}

static int
sink_notification(struct cnd_sink *sink, const struct cnp_notification *n)
{
	struct cnp_msg m = { .code = CNP_MSG_NOTIFICATION, .as.notification = *n };
	struct cnd_serving *s = cnd_sink_serving(sink);

	if (s->own_pid != 0 && n->pid != s->own_pid)
		m.as.notification.pid = 0;
	return put_between(s, NULL, &m);
}

static int
is_same(struct cnp_str a, struct cnp_str b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

int
cnd_sink_knows_parameter(
	const struct cnd_serving *s, struct cnp_str name, struct cnp_str value)
{
	struct cnc_reader r;
	struct cnp_str n, v;

	cnc_reader_init(&r, cnc_buf_head(&s->parameters), cnc_buf_len(&s->parameters));
	while (cnp_pairs_next(&r, &n, &v) > 0) {
		if (is_same(n, name))
			return is_same(v, value);
	}
	return 0;
}

/* Keep a changed parameter, which ATTACHED must report to a client that resumes. */
static int
keep_parameter(struct cnd_serving *s, const char *name, const char *value)
{
	struct cnc_buf changed;
	struct cnc_reader r;
	struct cnp_str n, v;
	int q = CENOTE_OK;

	cnc_buf_init(&changed, s->host.mem, CND_PARAMETERS_MAX);
	cnc_reader_init(&r, cnc_buf_head(&s->parameters), cnc_buf_len(&s->parameters));
	while (q == CENOTE_OK && cnp_pairs_next(&r, &n, &v) > 0) {
		if (strcmp(n.p, name) != 0)
			q = cnp_pairs_put(&changed, n.p, v.p);
	}
	if (q == CENOTE_OK)
		q = cnp_pairs_put(&changed, name, value);
	/* leave out a parameter that does not fit, as the login does */
	if (q != CENOTE_OK) {
		cnc_buf_finish(&changed);
		return q == CENOTE_ERR_LIMIT ? CENOTE_OK : q;
	}
	cnc_buf_finish(&s->parameters);
	s->parameters = changed;
	return CENOTE_OK;
}

static int
sink_parameter(struct cnd_sink *sink, const char *name, const char *value)
{
	struct cnp_msg m = { .code = CNP_MSG_PARAMETER,
		.as.parameter = { .name = cnp_str(name), .value = cnp_str(value) } };
	struct cnd_serving *s = cnd_sink_serving(sink);
	int r = keep_parameter(s, name, value);

	/* MySQL reports this at each BEGIN. If the transaction runs again, it is the same again. */
	if (strcmp(name, "transaction_state") != 0)
		s->result.has_shown = true;
	if (s->cached != NULL)
		cnd_cached_drop(s);
	s->ops->parameter_changed(s);
	return r < 0 ? r : put_between(s, NULL, &m);
}

const struct cnd_sink_ops cnd_sink_ops = {
	.params = sink_params,
	.columns = sink_columns,
	.row_done = sink_row_done,
	.done = sink_done,
	.notice = sink_notice,
	.notification = sink_notification,
	.parameter = sink_parameter,
	.copy_out = cnd_copy_out,
	.copy_data = cnd_copy_data,
	.copy_done = cnd_copy_done,
	.copy_in = cnd_copy_in,
	.copy_read = cnd_copy_read,
};
