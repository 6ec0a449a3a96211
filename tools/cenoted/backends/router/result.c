/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pass the results of a target on to the client: columns, rows, ends, errors, and results that the client reads in batches.
 * libcenote streams them, so memory does not depend on their size. This file owns struct cnd_rt_portal.
 */
#include <string.h>

#include "backends/common/answer.h"
#include "router.h"

/* ---- columns and parameters ---- */

static void
set_column(struct cnp_column *c, const cenote_column *from)
{
	const struct {
		struct cnp_str *to;
		uint32_t attr;
	} texts[] = {
		{ &c->name, CENOTE_COLUMN_NAME },
		{ &c->org_name, CENOTE_COLUMN_ORG_NAME },
		{ &c->table, CENOTE_COLUMN_TABLE },
		{ &c->org_table, CENOTE_COLUMN_ORG_TABLE },
		{ &c->schema, CENOTE_COLUMN_SCHEMA },
		{ &c->catalog, CENOTE_COLUMN_CATALOG },
		{ &c->type_name, CENOTE_COLUMN_TYPE_NAME },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i].to = cnp_str(cenote_column_text(from, texts[i].attr));
	c->type = (uint8_t)cenote_column_int(from, CENOTE_COLUMN_TYPE);
	c->format = (uint8_t)cenote_column_int(from, CENOTE_COLUMN_FORMAT);
	c->nullable = (uint8_t)cenote_column_int(from, CENOTE_COLUMN_NULLABLE);
	c->native_type = (uint32_t)cenote_column_int(from, CENOTE_COLUMN_NATIVE_TYPE);
	c->modifier = (int32_t)cenote_column_int(from, CENOTE_COLUMN_MODIFIER);
	c->native_flags = (uint32_t)cenote_column_int(from, CENOTE_COLUMN_NATIVE_FLAGS);
	c->charset = (uint32_t)cenote_column_int(from, CENOTE_COLUMN_CHARSET);
	c->length = cenote_column_int(from, CENOTE_COLUMN_LENGTH);
	c->precision = (int32_t)cenote_column_int(from, CENOTE_COLUMN_PRECISION);
	c->scale = (int32_t)cenote_column_int(from, CENOTE_COLUMN_SCALE);
	c->table_id = (uint32_t)cenote_column_int(from, CENOTE_COLUMN_TABLE_ID);
	c->attnum = (uint32_t)cenote_column_int(from, CENOTE_COLUMN_ATTNUM);
}

/* A number for these columns, for cnd_statement.sent: a hash of their bytes on the wire. 0: there is no memory. */
static uint64_t
number_of(struct cnd_session *s, const struct cnp_column *columns, uint32_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	struct cnc_buf b;

	cnc_buf_init(&b, s->mem, SIZE_MAX / 2);
	if (cnp_columns_encode(&b, columns, n) < 0) {
		cnc_buf_finish(&b);
		return 0;
	}
	for (size_t i = 0; i < cnc_buf_len(&b); i++)
		hash = (hash ^ cnc_buf_head(&b)[i]) * UINT64_C(1099511628211);
	cnc_buf_finish(&b);
	return hash | 1;
}

/* Send the columns, unless *ret_sent says that the client has them; NULL: send them in any case. CENOTE_DONE: the client has them. */
static int
send_columns(struct cnd_session *s, const cenote_result *res, struct cnd_sink *sink,
	uint64_t *ret_sent)
{
	bool is_known;
	uint32_t n = cenote_result_n_columns(res);
	struct cnp_column *columns = cnc_calloc(s->mem, n + 1, sizeof(*columns));
	uint64_t number;
	int r;

	if (columns == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		set_column(&columns[i], cenote_result_column(res, i));
	number = ret_sent != NULL ? number_of(s, columns, n) : 0;
	is_known = number != 0 && number == *ret_sent;
	r = sink->ops->columns(sink, columns, n, is_known);
	if (r == CENOTE_OK && ret_sent != NULL)
		*ret_sent = number;
	cnc_free(s->mem, columns);
	return r == CENOTE_OK && is_known ? CENOTE_DONE : r;
}

static int
send_params(struct cnd_session *s, const cenote_result *res, struct cnd_sink *sink)
{
	uint32_t n = cenote_result_n_params(res);
	struct cnp_param *params = cnd_params_make(s->mem, n);

	for (uint32_t i = 0; params != NULL && i < n; i++) {
		params[i].type = (uint8_t)cenote_result_param_type(res, i);
		params[i].native_type = cenote_result_param_native_type(res, i);
		params[i].name = cnp_str(cenote_result_param_name(res, i));
	}
	return cnd_params_send(sink, s->mem, params, n, CENOTE_OK);
}

/* ---- rows ---- */

static int
send_row(const cenote_result *res, uint64_t row, struct cnd_sink *sink)
{
	const uint8_t *const *rows = cenote_result_rows(res);
	uint32_t n = cenote_result_n_columns(res);
	int r = cnc_batch_row(sink->batch);

	for (uint32_t i = 0; i < n && r == CENOTE_OK; i++) {
		size_t len = 0;
		const char *value = cenote_row_text(rows[row], n, i, &len);

		r = value != NULL ? cnc_batch_put(sink->batch, value, len)
				  : cnc_batch_null(sink->batch);
	}
	r = cnd_row_end(sink->batch, r);
	return r < 0 ? r : sink->ops->row_done(sink);
}

static int
send_end(struct cnd_session *s, const cenote_result *res, struct cnd_sink *sink)
{
	uint32_t flags = cenote_result_flags(res);
	const char *tag = cenote_result_tag(res);
	const struct cnp_done done = { .tag = cnp_str(tag),
		.affected = cenote_result_affected_rows(res),
		.last_insert_id = cenote_result_last_insert_id(res),
		.warnings = cenote_result_warnings(res),
		.server_status = cenote_result_server_status(res),
		.flags =
			(uint8_t)((flags & CENOTE_RESULT_FLAG_MORE ? CNP_DONE_MORE_RESULTS
								   : 0) |
				  (flags & CENOTE_RESULT_FLAG_LIMITED ? CNP_DONE_LIMITED
								      : 0) |
				  (flags & CENOTE_RESULT_FLAG_EMPTY ? CNP_DONE_EMPTY
								    : 0) |
				  (flags & CENOTE_RESULT_FLAG_OUTPUT ? CNP_DONE_OUTPUT
								     : 0)) };

	/* another session would not know the id, so the client keeps this one */
	if (done.last_insert_id != 0)
		s->sticky |= CENOTE_PIN_SETTINGS;
	if (strlen(tag) < sizeof(s->tag))
		memcpy(s->tag, tag, strlen(tag) + 1);
	return sink->ops->done(sink, &done);
}

static int
send_more_rows(const cenote_result *res, struct cnd_sink *sink)
{
	const struct cnp_done done = { .tag = cnp_str(""),
		.affected = -1,
		.warnings = cenote_result_warnings(res),
		.server_status = cenote_result_server_status(res),
		.flags = CNP_DONE_MORE_ROWS };

	return sink->ops->done(sink, &done);
}

/* Send the rows of this batch, from number *at on. Returns what row_done() returned last. */
static int
send_batch(struct cnd_session *s, const cenote_result *res, uint64_t *at,
	struct cnd_sink *sink)
{
	uint64_t n = cenote_result_n_rows(res);
	int r = CENOTE_OK;

	while (*at < n && r == CENOTE_OK)
		r = send_row(res, (*at)++, sink);
	s->has_rows = s->has_rows || *at > 0;
	return r;
}

/* Keep the rest of the result for the client's next fetch. */
static int
keep_rest(struct cnd_session *s, struct cnd_portal *portal, cenote_result *res)
{
	struct cnd_rt_portal *own = portal->own;

	if (own == NULL)
		own = portal->own = cnc_calloc(s->mem, 1, sizeof(*own));
	if (own == NULL)
		return CENOTE_ERR_NOMEM;
	*own = (struct cnd_rt_portal){ .at = s->at, .res = res };
	return CENOTE_OK;
}

/* Whether the target waits for a fetch after this batch. MySQL does not if a text has several statements: it sends all rows, and
 * the other results after them. */
static bool
has_stopped(const cenote_result *res, uint64_t row)
{
	return row == cenote_result_n_rows(res) &&
	       !(cenote_result_flags(res) & CENOTE_RESULT_FLAG_MORE);
}

/*
 * Send rows. CENOTE_OK: the result has ended. CENOTE_AGAIN: batch_rows is reached, and the portal has the result.
 * CENOTE_ERR_SERVER: the statement failed.
 */
static int
send_rows(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink,
	struct cnd_portal *portal)
{
	int r, q = CENOTE_OK;

	for (;;) {
		uint64_t row = 0;

		CND_RT_AWAIT(r, s, s->at, cenote_result_next(res));
		if (r == CENOTE_DONE)
			return send_end(s, res, sink);
		if (r == CENOTE_ERR_SERVER)
			cnd_rt_copy_diag(sink->diag, cenote_result_diag(res));
		if (r < 0)
			return r == CENOTE_ERR_SERVER
				       ? r
				       : cnd_rt_fail(s, s->at, r, sink->diag);
		if (q != CENOTE_DONE)
			q = send_batch(s, res, &row, sink);
		if (q == CENOTE_AGAIN && portal != NULL && has_stopped(res, row))
			break;
		if (q == CENOTE_AGAIN)
			q = send_batch(s, res, &row, sink);
		if (q < 0)
			return q;
	}
	r = keep_rest(s, portal, res);
	if (r == CENOTE_OK)
		r = send_more_rows(res, sink);
	return r < 0 ? r : CENOTE_AGAIN;
}

/* ---- results ---- */

static int
send_table(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink,
	struct cnd_portal *portal, uint64_t *ret_sent)
{
	int known = send_columns(s, res, sink, ret_sent);
	int r;

	s->has_rows = false;
	r = known < 0 ? known : send_rows(s, res, sink, portal);

	/* other backends send the columns before the error of a result without rows, even if the client knows them */
	if (r == CENOTE_ERR_SERVER && known == CENOTE_DONE && !s->has_rows)
		(void)send_columns(s, res, sink, NULL);
	return r;
}

/* Pass one result on. CENOTE_AGAIN: the portal has the rest of it. */
static int
send_result(struct cnd_session *s, cenote_result *res, struct cnd_sink *sink,
	struct cnd_portal *portal, uint64_t *ret_sent)
{
	int r;

	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ROWS:
		return send_table(s, res, sink, portal, ret_sent);
	case CENOTE_RESULT_DESCRIPTION:
		r = send_params(s, res, sink);
		if (r == CENOTE_OK && cenote_result_n_columns(res) > 0)
			r = send_columns(s, res, sink, ret_sent);
		return r < 0 ? r : send_end(s, res, sink);
	case CENOTE_RESULT_ERROR:
		cnd_rt_copy_diag(sink->diag, cenote_result_diag(res));
		return CENOTE_ERR_SERVER;
	case CENOTE_RESULT_COPY_IN:
		return cnd_rt_copy_in(s, res, sink);
	case CENOTE_RESULT_COPY_OUT:
		return cnd_rt_copy_out(s, res, sink);
	case CENOTE_RESULT_SYNC:
		return CENOTE_OK;
	default:
		return send_end(s, res, sink);
	}
}

/* If a limit stopped the request, put the limit's message in the place of the server's. After a cancel by the client, the server's
 * message stays. */
static int
explain_stop(struct cnd_session *s, int r, struct cnd_sink *sink)
{
	bool is_cancelled =
		s->host->is_cancelled != NULL && s->host->is_cancelled(s->host);

	if (s->stopped == CENOTE_ERR_SERVER && r == CENOTE_ERR_SERVER && !is_cancelled)
		cnc_diag_copy(sink->diag, &s->why);
	return r;
}

int
cnd_rt_deliver(struct cnd_session *s, struct cnd_sink *sink, struct cnd_portal *portal,
	uint64_t *ret_sent)
{
	cenote_result *res;
	int r, q;

	for (;;) {
		CND_RT_AWAIT(r, s, s->at, cenote_get_result(s->at->conn, &res));
		if (r == CENOTE_DONE)
			return CENOTE_OK;
		if (r < 0)
			return cnd_rt_fail(s, s->at, r, sink->diag);
		q = send_result(s, res, sink, portal, ret_sent);
		/* the client may know the columns of the first result only */
		ret_sent = NULL;
		if (q != CENOTE_AGAIN)
			cenote_result_destroy(res);
		if (q == CENOTE_ERR_CONN || s->stopped == CENOTE_ERR_CONN)
			return CENOTE_ERR_CONN;
		if (q < 0) {
			r = cnd_rt_drop(s, s->at, NULL);
			return r == CENOTE_ERR_CONN ? r : explain_stop(s, q, sink);
		}
	}
}

void
cnd_rt_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_rt_portal *own = portal->own;

	if (own != NULL)
		cenote_result_destroy(own->res);
	cnc_free(s->mem, own);
	portal->own = NULL;
}

int
cnd_rt_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int with_columns, struct cnd_sink *sink)
{
	struct cnd_rt_portal own = *(struct cnd_rt_portal *)portal->own;
	int r = cnd_rt_enter(s, own.at, sink, true);

	(void)batch_rows;
	if (r < 0)
		return r;
	/* columns() also begins the rows, so it is called even if the client has the columns */
	r = with_columns
		    ? send_columns(s, own.res, sink, NULL)
		    : sink->ops->columns(sink, NULL, cenote_result_n_columns(own.res), 1);
	if (r == CENOTE_OK)
		r = send_rows(s, own.res, sink, portal);
	if (r != CENOTE_AGAIN) {
		cnd_rt_close_portal(s, portal);
		if (r == CENOTE_OK || r == CENOTE_ERR_SERVER) {
			int q = cnd_rt_deliver(s, sink, portal, NULL);

			r = r < 0 ? explain_stop(s, r, sink) : q;
		}
	}
	return cnd_rt_leave(s, r == CENOTE_AGAIN ? CENOTE_OK : r, NULL, 0);
}
