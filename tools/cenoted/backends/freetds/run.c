/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a batch of SQL and hand its results to the sink, one after the other. stmt.c, portal.c, catalog.c and tx.c
 * call it. It owns s->cmd while a batch runs.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "core/batch.h"

#include "tds.h"

/* Rows between two questions to the host whether to stop. */
#define ASK_ROWS 64u

/* ---- a batch on its way ---- */

/* The offset of the first bytes that are not UTF-8, or `len`. */
static size_t
find_no_utf8(const char *text, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i = 0, n, k;

	while (i < len) {
		uint32_t c = (uint8_t)text[i];

		n = c < 0x80   ? 1
		    : c < 0xc2 ? 0
		    : c < 0xe0 ? 2
		    : c < 0xf0 ? 3
		    : c < 0xf5 ? 4
			       : 0;
		if (n == 0 || n > len - i)
			return i;
		c &= n == 1 ? 0x7fu : 0x7fu >> n;
		for (k = 1; k < n && ((uint8_t)text[i + k] & 0xc0) == 0x80; k++)
			c = c << 6 | ((uint8_t)text[i + k] & 0x3fu);
		if (k < n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return i;
		i += n;
	}
	return len;
}

/* The library sends the text before a character that it cannot convert, and the server would run
 * that part. */
static int
check_text(struct cnd_session *s, const char *sql, size_t len)
{
	if (len > INT_MAX || memchr(sql, 0, len))
		return cnd_refuse(s->diag, "22021", NULL,
			"a statement cannot hold a zero byte, nor be longer than 2 GB");
	if (strcasecmp(s->opt.client_charset, "UTF-8") == 0 &&
		find_no_utf8(sql, len) < len)
		return cnd_refuse(s->diag, "22021", NULL,
			"a statement or a value of it is not UTF-8");
	return CENOTE_OK;
}

static int
send_command(struct cnd_session *s)
{
	CS_RETCODE r;

	s->is_sending = 1;
	r = ct_send(s->cmd);
	s->is_sending = 0;
	return r == CS_SUCCEED && !s->is_lost ? CENOTE_OK : cnd_tds_failed(s);
}

/* Send SQL. Each batch has a command structure of its own, since a cancelled one refuses the next
 * batch. */
static int
send(struct cnd_session *s, const char *sql, size_t len)
{
	int r = check_text(s, sql, len);

	if (r < 0)
		return r;
	s->has_run = 1;
	s->has_error = 0;
	s->said = 0;
	if (ct_cmd_alloc(s->con, &s->cmd) != CS_SUCCEED)
		return CENOTE_ERR_NOMEM;
	if (ct_command(s->cmd, CS_LANG_CMD, sql, (CS_INT)len, CS_UNUSED) != CS_SUCCEED)
		return CENOTE_ERR_NOMEM;
	r = send_command(s);
	return r < 0 ? r : cnd_tds_await(s);
}

/* Read and forget what is left of the command. */
static void
drop_command(struct cnd_session *s)
{
	CS_INT type;

	if (!s->cmd)
		return;
	/* Read to the end: the server continues a batch after an error. */
	while (!s->is_lost && !s->is_stopping &&
		ct_results(s->cmd, &type) == CS_SUCCEED) {
		(void)ct_cancel(NULL, s->cmd, CS_CANCEL_CURRENT);
		/* the client's SQL may loop without end */
		(void)cnd_tds_interrupted(s);
	}
	(void)ct_cmd_drop(s->cmd);
	s->cmd = NULL;
}

/* CENOTE_OK: there is a result of this type. CENOTE_DONE: there are no more. */
static int
next_result(struct cnd_session *s, CS_INT *ret_type)
{
	CS_RETCODE r = ct_results(s->cmd, ret_type);

	if (r == CS_SUCCEED && cnd_tds_interrupted(s) < 0)
		return s->is_lost ? CENOTE_ERR_CONN : s->stop;
	if (r == CS_SUCCEED && s->said == 0)
		return CENOTE_OK;
	if (r == CS_END_RESULTS && s->said == 0 && s->stop == 0)
		return CENOTE_DONE;
	return cnd_tds_failed(s);
}

/* CENOTE_ROW; CENOTE_OK at the end of the rows; or a failure. */
static int
next_row(struct cnd_session *s)
{
	CS_INT n = 0;
	CS_RETCODE r = ct_fetch(s->cmd, CS_UNUSED, CS_UNUSED, CS_UNUSED, &n);

	/* CS_ROW_FAIL: a value was longer than the cell that it is bound to, which is intended */
	if (r == CS_SUCCEED || r == CS_ROW_FAIL)
		return CENOTE_ROW;
	return r == CS_END_DATA && s->stop == 0 ? CENOTE_OK : cnd_tds_failed(s);
}

/* ---- answering a client ---- */

static int
send_done(struct cnd_tds_run *q, int more)
{
	int is_nothing = !q->is_rows && q->done.affected < 0;

	if (!q->has_done)
		return CENOTE_OK;
	q->has_done = 0;
	/* SET, DECLARE and the like count nothing, and are not results beside others */
	if (is_nothing && (more || q->has_sent))
		return CENOTE_OK;
	q->has_sent = 1;
	if (more)
		q->done.flags |= CNP_DONE_MORE_RESULTS;
	else if (q->has_output && q->is_rows)
		q->done.flags |= CNP_DONE_OUTPUT;
	return q->sink->ops->done(q->sink, &q->done);
}

static int
send_rows(struct cnd_tds_run *q)
{
	struct cnd_session *s = q->s;
	struct cnd_sink *sink = q->sink;
	uint32_t count = 0;
	int r;

	while ((r = next_row(s)) == CENOTE_ROW) {
		r = cnd_tds_put_row(s, &q->rows, sink->batch);
		if (r == CENOTE_OK)
			r = sink->ops->row_done(sink);
		/* a result that cannot stay open comes as one batch */
		if (r == CENOTE_AGAIN && !q->may_pause)
			r = CENOTE_OK;
		if (r == CENOTE_OK && ++count % ASK_ROWS == 0)
			r = cnd_tds_interrupted(s);
		if (r != CENOTE_OK)
			return r;
	}
	return r;
}

/* Send the rows of the result, or the rest of them. CENOTE_AGAIN: the result stays open. */
static int
answer_rest(struct cnd_tds_run *q)
{
	int r = q->is_describing ? CENOTE_OK : send_rows(q);

	if (r == CENOTE_AGAIN)
		return cnd_tds_pause(q);
	if (r < 0)
		return r;
	if (r == CENOTE_DONE || q->is_describing)
		(void)ct_cancel(NULL, q->s->cmd, CS_CANCEL_CURRENT);
	q->is_rows = 1;
	q->has_done = 1;
	q->done = (struct cnp_done){ .tag = CNP_STR_NONE,
		.affected = -1,
		.flags = r == CENOTE_DONE ? CNP_DONE_LIMITED : 0 };
	return CENOTE_OK;
}

static int
answer_rows(struct cnd_tds_run *q)
{
	int is_known = q->columns_known && !q->has_sent;
	int r = send_done(q, 1);

	if (r < 0)
		return r;
	r = q->columns ? cnd_tds_rows_bind_as(q->s, q->columns, q->n_columns, &q->rows)
		       : cnd_tds_rows_bind(q->s, q->exec, &q->rows);
	if (r == CENOTE_OK)
		r = q->sink->ops->columns(q->sink, q->rows.columns, q->rows.n, is_known);
	q->has_sent = 1;
	return r == CENOTE_OK ? answer_rest(q) : r;
}

/* Answer a statement without rows. */
static int
answer_count(struct cnd_tds_run *q)
{
	CS_INT n = CS_NO_COUNT;
	int is_summary = q->is_behind_call && (q->has_done || q->has_sent);
	int r;

	q->is_behind_call = 0;
	if (is_summary)
		return CENOTE_OK;
	r = send_done(q, 1);
	if (r < 0)
		return r;
	if (ct_res_info(q->s->cmd, CS_ROW_COUNT, &n, CS_UNUSED, NULL) != CS_SUCCEED)
		n = CS_NO_COUNT;
	q->is_rows = 0;
	q->has_done = 1;
	q->done = (struct cnp_done){ .tag = q->tag ? cnp_str(q->tag) : CNP_STR_NONE,
		.affected = n };
	return CENOTE_OK;
}

/* A description needs only the first columns. A call that gives something back needs no counts:
 * those of its DECLARE would be among them. */
static int
is_wanted(const struct cnd_tds_run *q, CS_INT type)
{
	if (q->is_describing)
		return !q->has_sent && type == CS_ROW_RESULT;
	return !q->has_output || type != CS_CMD_SUCCEED;
}

static int
answer_one(struct cnd_tds_run *q, CS_INT type)
{
	struct cnd_session *s = q->s;

	if (s->has_error || !is_wanted(q, type)) {
		(void)ct_cancel(NULL, s->cmd, CS_CANCEL_CURRENT);
		return CENOTE_OK;
	}
	switch (type) {
	case CS_ROW_RESULT:
	case CS_COMPUTE_RESULT:
	case CS_CURSOR_RESULT:
	case CS_PARAM_RESULT:
		return answer_rows(q);
	case CS_CMD_SUCCEED:
		return answer_count(q);
	default:
		/* the status of a procedure; and CS_CMD_DONE and CS_CMD_FAIL, which have nothing to read */
		q->is_behind_call |= type == CS_STATUS_RESULT;
		(void)ct_cancel(NULL, s->cmd, CS_CANCEL_CURRENT);
		return CENOTE_OK;
	}
}

static int
answer_all(struct cnd_tds_run *q)
{
	struct cnd_session *s = q->s;
	CS_INT type;
	int r;

	while ((r = next_result(s, &type)) == CENOTE_OK) {
		r = answer_one(q, type);
		if (r != CENOTE_OK)
			return r;
	}
	if (r < 0)
		return r;
	/* The server may have run the statements after the failed one. The client does not get their results. */
	if (s->has_error) {
		r = send_done(q, 1);
		return r < 0 ? r : CENOTE_ERR_SERVER;
	}
	if (!q->has_done && !q->has_sent) {
		q->has_done = 1;
		q->done =
			(struct cnp_done){ .tag = q->tag ? cnp_str(q->tag) : CNP_STR_NONE,
				.affected = -1 };
	}
	return send_done(q, 0);
}

static int
finish(struct cnd_tds_run *q, int r)
{
	if (r != CENOTE_AGAIN)
		drop_command(q->s);
	return r;
}

int
cnd_tds_run(struct cnd_tds_run *q, const char *sql, size_t len)
{
	int r = send(q->s, sql, len);

	return finish(q, r == CENOTE_OK ? answer_all(q) : r);
}

int
cnd_tds_go_on(struct cnd_tds_run *q)
{
	int r = answer_rest(q);

	return finish(q, r == CENOTE_OK ? answer_all(q) : r);
}

void
cnd_tds_abandon(struct cnd_session *s, int stop)
{
	if (stop)
		(void)ct_cancel(NULL, s->cmd, CS_CANCEL_ALL);
	drop_command(s);
}

/* ---- SQL of our own ---- */

/* Take the first row of the result, as texts. */
static int
take_row(struct cnd_session *s, char **values, uint32_t n)
{
	CS_SMALLINT nulls[16] = { 0 };
	CS_DATAFMT to;
	int r;

	memset(&to, 0, sizeof(to));
	to.datatype = CS_CHAR_TYPE;
	to.format = CS_FMT_NULLTERM;
	to.maxlength = CND_TDS_ASK_MAX;
	for (uint32_t i = 0; i < n && i < 16; i++) {
		values[i] = cnc_arena_alloc(&s->arena, CND_TDS_ASK_MAX);
		if (!values[i])
			return CENOTE_ERR_NOMEM;
		if (ct_bind(s->cmd, (CS_INT)i + 1, &to, values[i], NULL, &nulls[i]) !=
			CS_SUCCEED)
			return cnd_tds_failed(s);
	}
	r = next_row(s);
	for (uint32_t i = 0; i < n && i < 16; i++) {
		if (r != CENOTE_ROW || nulls[i] == CS_NULLDATA)
			values[i] = NULL;
	}
	return r < 0 ? r : CENOTE_OK;
}

static int
take_all(struct cnd_session *s, char **values, uint32_t n)
{
	CS_INT type;
	int r;

	while ((r = next_result(s, &type)) == CENOTE_OK) {
		if (type == CS_ROW_RESULT && n > 0 && !s->has_error)
			r = take_row(s, values, n);
		if (r < 0)
			return r;
		(void)ct_cancel(NULL, s->cmd, CS_CANCEL_CURRENT);
	}
	return r < 0 ? r : s->has_error ? CENOTE_ERR_SERVER : CENOTE_OK;
}

int
cnd_tds_ask(struct cnd_session *s, const char *sql, char **ret_values, uint32_t n)
{
	int r;

	for (uint32_t i = 0; i < n; i++)
		ret_values[i] = NULL;
	r = send(s, sql, strlen(sql));
	if (r == CENOTE_OK)
		r = take_all(s, ret_values, n);
	drop_command(s);
	return r;
}

int
cnd_tds_do(struct cnd_session *s, const char *sql)
{
	return cnd_tds_ask(s, sql, NULL, 0);
}
