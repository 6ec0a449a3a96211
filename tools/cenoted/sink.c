/* SPDX-License-Identifier: BSD-2-Clause */
#include "worker.h"

#include "core/sqlstate.h"

/* Rows are sent when so many bytes have come together. */
#define BATCH_BYTES 32768u

static struct cnd_worker *
of(struct cnd_sink *sink)
{
	return (struct cnd_worker *)(void *)((char *)sink -
					     offsetof(struct cnd_worker, sink));
}

static int
begin_rows(struct cnd_worker *w)
{
	int r;

	if (w->is_quiet)
		return CENOTE_OK;
	r = cnp_server_rows_begin(&w->server, &w->batch, w->n_columns);
	if (r == CENOTE_ERR_LIMIT) {
		/* a pipeline's replies have piled up */
		r = cnd_client_flush(w);
		if (r == CENOTE_OK)
			r = cnp_server_rows_begin(&w->server, &w->batch, w->n_columns);
	}
	w->is_in_rows = r == CENOTE_OK;
	return r;
}

static int
end_rows(struct cnd_worker *w)
{
	if (!w->is_in_rows)
		return CENOTE_OK;
	w->is_in_rows = 0;
	return cnp_server_rows_end(&w->server, &w->batch);
}

void
cnd_sink_abort(struct cnd_worker *w)
{
	if (!w->is_in_rows)
		return;
	/* nothing else may be queued in between, so this row is the last one */
	cnc_batch_row_undo(&w->batch);
	(void)end_rows(w);
}

static int
sink_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	return cnp_server_params(&of(sink)->server, params, n);
}

static int
sink_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct cnd_worker *w = of(sink);
	int r = known ? CENOTE_OK : cnp_server_columns(&w->server, columns, n);

	if (r < 0 || w->is_describing)
		return r;
	w->n_columns = n;
	return begin_rows(w);
}

static int
sink_row_done(struct cnd_sink *sink)
{
	struct cnd_worker *w = of(sink);
	int r;

	if (w->rows_left != UINT64_MAX && --w->rows_left == 0)
		return CENOTE_DONE;
	if (w->batch_left > 0 && --w->batch_left == 0)
		return CENOTE_AGAIN;
	if (!w->is_in_rows || cnc_batch_len(&w->batch) < BATCH_BYTES)
		return CENOTE_OK;
	r = end_rows(w);
	if (r == CENOTE_OK)
		r = cnd_client_flush(w);
	if (r == CENOTE_OK)
		r = begin_rows(w);
	return r;
}

static int
sink_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	struct cnd_worker *w = of(sink);
	struct cnp_msg m = { .code = CNP_MSG_DONE, .as.done = *done };
	int r = end_rows(w);

	if (r < 0)
		return r;
	w->is_done = !(done->flags & CNP_DONE_MORE_RESULTS);
	if (!w->is_done) {
		w->rows_left = w->max_rows;
		w->batch_left = w->batch_rows;
	}
	w->done_flags = done->flags;
	return cnp_server_reply(&w->server, &m, 0);
}

static int
sink_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	struct cnd_worker *w = of(sink);
	int was_in_rows = w->is_in_rows;
	int r = end_rows(w);

	if (r == CENOTE_OK)
		r = cnp_server_notice(&w->server, notice);
	if (r == CENOTE_OK && was_in_rows)
		r = begin_rows(w);
	return r;
}

const struct cnd_sink_ops cnd_sink_ops = {
	.params = sink_params,
	.columns = sink_columns,
	.row_done = sink_row_done,
	.done = sink_done,
	.notice = sink_notice,
};
