/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a statement that no client has sent, and drop its answer. Its state is the caller's struct cnd_quiet. A worker's hooks.c,
 * replay.c and named_texts.c call it.
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

int
cnd_quiet_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
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

	q->n_rows++;
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

int
cnd_quiet_refuse_copy(struct cnd_sink *sink)
{
	cnc_diag_set(sink->diag, CNC_SQLSTATE(UNSUPPORTED),
		"a statement that the pool itself runs cannot copy from or to a client");
	return CENOTE_ERR_SERVER;
}

int
cnd_quiet_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m)
{
	(void)m;
	return cnd_quiet_refuse_copy(sink);
}

int
cnd_quiet_copy_data(struct cnd_sink *sink, const void *data, size_t len)
{
	(void)data;
	(void)len;
	return cnd_quiet_refuse_copy(sink);
}

int
cnd_quiet_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	(void)m;
	return cnd_quiet_refuse_copy(sink);
}

int
cnd_quiet_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	(void)fd;
	(void)ret_data;
	return cnd_quiet_refuse_copy(sink);
}

static const struct cnd_sink_ops quiet_ops = {
	.params = cnd_quiet_params,
	.columns = drop_columns,
	.row_done = drop_row,
	.done = drop_done,
	.notice = drop_notice,
	.notification = drop_notification,
	.parameter = drop_parameter,
	.copy_out = cnd_quiet_copy_out,
	.copy_data = cnd_quiet_copy_data,
	.copy_done = cnd_quiet_refuse_copy,
	.copy_in = cnd_quiet_copy_in,
	.copy_read = cnd_quiet_copy_read,
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

int
cnd_quiet_synchronise(struct cnd_sink *sink, const struct cnd_backend *backend,
	struct cnd_session *session, int status)
{
	struct cnc_diag *reason = sink->diag, second;
	int r;

	if (backend->sync == NULL || status == CENOTE_ERR_CONN)
		return status;
	if (status >= 0)
		return backend->sync(session, sink);
	cnc_diag_init(&second, NULL);
	sink->diag = &second;
	r = backend->sync(session, sink);
	sink->diag = reason;
	if (r == CENOTE_ERR_CONN)
		cnc_diag_copy(reason, &second);
	cnc_diag_finish(&second);
	return r == CENOTE_ERR_CONN ? r : status;
}

int
cnd_quiet_run(struct cnd_quiet *q, const struct cnd_backend *backend,
	struct cnd_session *session, const char *sql)
{
	struct cnd_exec exec = { .is_simple = 1, .is_sync = 1 };

	return cnd_quiet_synchronise(&q->sink, backend, session,
		backend->query(session, sql, strlen(sql), &exec, &q->sink));
}
