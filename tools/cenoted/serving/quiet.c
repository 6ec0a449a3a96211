/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a statement of the pool's own, whose answer nobody reads. It owns no state but the caller's struct cnd_quiet. A worker's
 * hooks.c calls it.
 */
#include "quiet.h"

#include <string.h>

#include "core/sqlstate.h"

/* Longest row of an answer that is dropped. */
#define ROW_MAX ((size_t)1 << 20)

static struct cnd_quiet *
quiet_of(struct cnd_sink *sink)
{
	return (struct cnd_quiet *)(void *)((char *)sink -
					    offsetof(struct cnd_quiet, sink));
}

static int
drop_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	(void)sink;
	(void)params;
	(void)n;
	return CENOTE_OK;
}

static int
begin_rows(struct cnd_quiet *q, uint32_t n_columns)
{
	cnc_buf_truncate(&q->rows, 0);
	return cnc_batch_begin(&q->batch, &q->rows, n_columns);
}

static int
drop_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	(void)columns;
	(void)known;
	return begin_rows(quiet_of(sink), n);
}

static int
drop_row(struct cnd_sink *sink)
{
	struct cnd_quiet *q = quiet_of(sink);

	return begin_rows(q, q->batch.n_columns);
}

static int
drop_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	(void)sink;
	(void)done;
	return CENOTE_OK;
}

static int
drop_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	(void)sink;
	(void)notice;
	return CENOTE_OK;
}

static int
drop_notification(struct cnd_sink *sink, const struct cnp_notification *n)
{
	(void)sink;
	(void)n;
	return CENOTE_OK;
}

static int
drop_parameter(struct cnd_sink *sink, const char *name, const char *value)
{
	(void)sink;
	(void)name;
	(void)value;
	return CENOTE_OK;
}

/* ---- copies ---- */

static int
refuse_copy(struct cnd_sink *sink)
{
	cnc_diag_set(sink->diag, CNC_SQLSTATE(UNSUPPORTED),
		"a statement of the pool's own cannot copy from or to a client");
	return CENOTE_ERR_SERVER;
}

static int
refuse_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m)
{
	(void)m;
	return refuse_copy(sink);
}

static int
refuse_copy_data(struct cnd_sink *sink, const void *data, size_t len)
{
	(void)data;
	(void)len;
	return refuse_copy(sink);
}

static int
refuse_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	(void)m;
	return refuse_copy(sink);
}

static int
refuse_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	(void)fd;
	(void)ret_data;
	return refuse_copy(sink);
}

static const struct cnd_sink_ops quiet_ops = {
	.params = drop_params,
	.columns = drop_columns,
	.row_done = drop_row,
	.done = drop_done,
	.notice = drop_notice,
	.notification = drop_notification,
	.parameter = drop_parameter,
	.copy_out = refuse_copy_out,
	.copy_data = refuse_copy_data,
	.copy_done = refuse_copy,
	.copy_in = refuse_copy_in,
	.copy_read = refuse_copy_read,
};

/* ---- running ---- */

void
cnd_quiet_init(
	struct cnd_quiet *q, const struct cenote_allocator *mem, struct cnc_diag *diag)
{
	*q = (struct cnd_quiet){
		.sink = { .ops = &quiet_ops, .batch = &q->batch, .diag = diag }
	};
	cnc_buf_init(&q->rows, mem, ROW_MAX);
}

void
cnd_quiet_finish(struct cnd_quiet *q)
{
	cnc_buf_finish(&q->rows);
}

/* The statement has failed: the synchronisation point must not replace the reason. */
static int
synchronise_failed(struct cnd_quiet *q, const struct cnd_backend *backend,
	struct cnd_session *session)
{
	struct cnc_diag *reason = q->sink.diag, second;
	int r;

	cnc_diag_init(&second, NULL);
	q->sink.diag = &second;
	r = backend->sync(session, &q->sink);
	q->sink.diag = reason;
	cnc_diag_finish(&second);
	return r;
}

int
cnd_quiet_run(struct cnd_quiet *q, const struct cnd_backend *backend,
	struct cnd_session *session, const char *sql)
{
	struct cnd_exec exec = { .is_simple = 1, .is_sync = 1 };
	int r = backend->query(session, sql, strlen(sql), &exec, &q->sink);

	if (backend->sync == NULL || r == CENOTE_ERR_CONN)
		return r;
	if (r >= 0)
		return backend->sync(session, &q->sink);
	return synchronise_failed(q, backend, session) == CENOTE_ERR_CONN
		       ? CENOTE_ERR_CONN
		       : r;
}
