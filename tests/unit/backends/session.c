/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of all backends do with a session: log in, run a request, write a transcript of
 * the results. The harness of each backend calls these functions; they have no state of their own.
 */
#include "session.h"

#include <poll.h>
#include <string.h>

#include "core/mem.h"

/* ---- life ---- */

static int
on_pause(const struct cnd_host *host, int fd, short events, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	(void)host;
	return poll(&poll_fd, 1, timeout_ms) > 0 ? poll_fd.revents : 0;
}

void
cnt_session_init(struct cnt_session *t, const char *module,
	const struct cnd_sink_ops *ops, size_t batch_max,
	int (*interrupted)(const struct cnd_host *, struct cnc_diag *),
	int (*wait)(const struct cnd_host *, int, short, int, struct cnc_diag *))
{
	t->b = cnt_backend_load(module);
	t->host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = t,
		.interrupted = interrupted,
		.wait = wait,
		.pause = on_pause,
		.log = cnt_backend_log };
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnt_transcript_init(&t->seen, ops, &t->diag, batch_max);
	cnt_transcript_lend(&t->seen, t->b, &t->host);
}

void
cnt_session_finish(struct cnt_session *t)
{
	cnt_session_logout(t);
	cnc_diag_finish(&t->diag);
	cnt_transcript_finish(&t->seen);
}

void
cnt_session_option(struct cnt_session *t, const char *key, const char *value)
{
	assert_in_range(t->n_options, 0, CNT_COUNT(t->options) - 1);
	t->options[t->n_options++] = (struct cnd_option){ key, value };
}

int
cnt_session_login(struct cnt_session *t)
{
	struct cnd_server_spec spec = { t->options, t->n_options, t->settings };

	if (t->mem != NULL)
		t->host.mem = t->mem;
	return cnt_backend_login(t->b, &t->host, &spec, &t->s, &t->diag);
}

void
cnt_session_logout(struct cnt_session *t)
{
	if (t->b != NULL)
		t->b->logout(t->s);
	t->s = NULL;
}

/* ---- requests ---- */

struct cnd_exec
cnt_session_start(struct cnt_session *t, const struct cnc_value *params, uint32_t n)
{
	cnt_transcript_begin(&t->seen, &(struct cnt_request){ .batch_rows = t->batch_rows,
					       .max_rows = t->max_rows,
					       .count_only = t->count_only,
					       .fail_at = t->fail_rows_at,
					       .fail_with = t->fail_rows_with });
	if (t->before != NULL)
		t->before(t);
	cnc_diag_clear(&t->diag);
	return (struct cnd_exec){ .portal = cnt_portal(
					  &t->seen, ++t->portal, t->batch_rows),
		.format = t->format,
		.formats = t->formats,
		.is_simple = !t->is_extended && params == NULL && n == 0,
		.is_sync = !t->no_sync,
		.batch_rows = t->batch_rows,
		.max_rows = t->max_rows,
		.params = params,
		.n_params = n };
}

/* Like a worker, send a synchronisation point after the request, unless the test holds it back. */
const char *
cnt_session_end(struct cnt_session *t, int r)
{
	t->last = r;
	if (r < 0)
		t->say_error(t, r);
	if (t->b->sync != NULL && !t->no_sync && r != CENOTE_ERR_CONN) {
		int q;

		cnc_diag_clear(&t->diag);
		q = t->b->sync(t->s, &t->seen.sink);
		if (q < 0 && r >= 0) {
			cnt_say(&t->seen, "sync ");
			t->say_error(t, q);
			t->last = q;
		}
	}
	return t->seen.log;
}

const char *
cnt_session_query(struct cnt_session *t, const char *sql, const struct cnc_value *params,
	uint32_t n)
{
	struct cnd_exec e = cnt_session_start(t, params, n);

	return cnt_session_end(t, t->b->query(t->s, sql, strlen(sql), &e, &t->seen.sink));
}

static struct cnd_named
named(struct cnt_session *t, const char *name, int kind)
{
	(void)cnt_session_start(t, NULL, 0);
	return (struct cnd_named){
		.name = cnp_str(name), .kind = (uint8_t)kind, .is_sync = !t->no_sync
	};
}

const char *
cnt_session_prepare(
	struct cnt_session *t, uint32_t statement, const char *name, const char *sql)
{
	struct cnd_prepare p = {
		.is_sync = !t->no_sync, .sql = cnp_str(sql), .name = cnp_str(name)
	};

	(void)cnt_session_start(t, NULL, 0);
	t->seen.request.is_describing = 1;
	return cnt_session_end(t, cnt_prepare(&t->seen, t->s, statement, &p));
}

const char *
cnt_session_describe(
	struct cnt_session *t, uint32_t statement, const char *name, int kind)
{
	struct cnd_named which = named(t, name, kind);

	t->seen.request.is_describing = 1;
	return cnt_session_end(t, cnt_describe(&t->seen, t->s, statement, &which));
}

const char *
cnt_session_execute(struct cnt_session *t, uint32_t statement, const char *name,
	int known, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = cnt_session_start(t, params, n);
	struct cnd_named which = { .name = cnp_str(name), .is_sync = !t->no_sync };

	e.columns_known = (uint8_t)known;
	return cnt_session_end(t, cnt_execute(&t->seen, t->s, statement, &which, &e));
}

const char *
cnt_session_close(struct cnt_session *t, uint32_t statement, const char *name, int kind)
{
	struct cnd_named which = named(t, name, kind);

	return cnt_session_end(t, cnd_statement_close(&t->seen.statements, t->s,
					  statement, &which, &t->seen.sink));
}

const char *
cnt_session_fetch(
	struct cnt_session *t, uint32_t portal, uint32_t batch_rows, int send_columns)
{
	uint32_t before = t->batch_rows;
	const char *text;

	t->batch_rows = batch_rows;
	(void)cnt_session_start(t, NULL, 0);
	text = cnt_session_end(
		t, cnt_fetch(&t->seen, t->s, portal, batch_rows, send_columns));
	t->batch_rows = before;
	return text;
}

const char *
cnt_session_begin(struct cnt_session *t, uint8_t isolation, uint32_t flags)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(t, t->b->begin(t->s, isolation, flags, &t->seen.sink));
}

const char *
cnt_session_commit(struct cnt_session *t)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(t, t->b->commit(t->s, &t->seen.sink));
}

const char *
cnt_session_rollback(struct cnt_session *t)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(t, t->b->rollback(t->s, &t->seen.sink));
}

const char *
cnt_session_savepoint(struct cnt_session *t, uint8_t action, const char *name)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(
		t, t->b->savepoint(t->s, action, name, strlen(name), &t->seen.sink));
}

const char *
cnt_session_autocommit(struct cnt_session *t, int on)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(t, t->b->autocommit(t->s, on, &t->seen.sink));
}

const char *
cnt_session_catalog(struct cnt_session *t, const struct cnp_catalog *filter)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_session_end(t, t->b->catalog(t->s, filter, &t->seen.sink));
}

int
cnt_session_reset(struct cnt_session *t)
{
	(void)cnt_session_start(t, NULL, 0);
	return cnt_backend_reset(t->b, t->s, &t->diag);
}

/* ---- values ---- */

struct cnc_value
cnt_int(int64_t v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_INT64, .as.i64 = v };
}

struct cnc_value
cnt_text(const char *text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text, .len = strlen(text)
	};
}
