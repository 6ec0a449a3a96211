/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

struct cnt_server pg_server;

static struct pg *
of_sink(struct cnd_sink *sink)
{
	return (struct pg *)(void *)((char *)sink - offsetof(struct pg, seen.sink));
}

static int
on_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	struct cnt_transcript *t = cnt_transcript_of(sink);

	cnt_say(t, "params");
	for (uint32_t i = 0; i < n; i++)
		cnt_say(t, " %s", cnt_type_name(params[i].type));
	cnt_say(t, "\n");
	return CENOTE_OK;
}

static int
on_notification(struct cnd_sink *sink, const struct cnp_notification *n)
{
	cnt_say(cnt_transcript_of(sink), "notification %s %s\n", n->channel.p,
		n->payload.p);
	return CENOTE_OK;
}

static int
on_parameter(struct cnd_sink *sink, const char *name, const char *value)
{
	cnt_say(cnt_transcript_of(sink), "parameter %s %s\n", name, value);
	return CENOTE_OK;
}

static int
on_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m)
{
	cnt_say(cnt_transcript_of(sink), "copy-out %s %zu\n",
		m->format ? "binary" : "text", m->formats.n);
	return CENOTE_OK;
}

static int
on_copy_data(struct cnd_sink *sink, const void *data, size_t len)
{
	struct pg *t = of_sink(sink);

	t->n_bytes += len;
	if (t->count_only)
		return CENOTE_OK;
	cnt_say(&t->seen, "data ");
	cnt_say_bytes(&t->seen, data, len);
	return CENOTE_OK;
}

static int
on_copy_done(struct cnd_sink *sink)
{
	cnt_say(cnt_transcript_of(sink), "copied\n");
	return CENOTE_OK;
}

static int
on_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	cnt_say(cnt_transcript_of(sink), "copy-in %s %zu\n",
		m->format ? "binary" : "text", m->formats.n);
	return CENOTE_OK;
}

static int
on_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	struct pg *t = of_sink(sink);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	*ret_data = CNP_STR_NONE;
	if (t->pieces != NULL && *t->pieces != NULL) {
		*ret_data = cnp_str(*t->pieces++);
		return CENOTE_OK;
	}
	if (t->waits_for_server) {
		t->waits_for_server--;
		assert_int_equal(poll(&poll_fd, 1, 5000), 1);
		return CENOTE_AGAIN;
	}
	if (!t->gives_up)
		return CENOTE_DONE;
	cnc_diag_set(sink->diag, "57014", "the client changed its mind");
	return CENOTE_ERR_SERVER;
}

static const struct cnd_sink_ops sink_ops = {
	.params = on_params,
	.columns = cnt_on_columns,
	.row_done = cnt_on_row_done,
	.done = cnt_on_done,
	.notice = cnt_on_notice,
	.notification = on_notification,
	.parameter = on_parameter,
	.copy_out = on_copy_out,
	.copy_data = on_copy_data,
	.copy_done = on_copy_done,
	.copy_in = on_copy_in,
	.copy_read = on_copy_read,
};

static int
say_stop(struct pg *t, struct cnc_diag *ret_diag)
{
	cnc_diag_set(ret_diag, "57014", "stopped by the test");
	t->stopped = t->interrupt_with;
	return t->stopped;
}

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct pg *t = host->user;

	if (t->stop_at_question > 0 && ++t->n_questions >= t->stop_at_question)
		return say_stop(t, ret_diag);
	return t->stopped != 0 ? say_stop(t, ret_diag) : CENOTE_OK;
}

static int
on_wait(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct pg *t = host->user;
	struct pollfd poll_fd = { .fd = fd, .events = events };
	int r;

	if (t->stopped != 0)
		return say_stop(t, ret_diag);
	r = poll(&poll_fd, 1,
		t->interrupt_at > 0 ? 20
		: timeout_ms < 0    ? 20000
				    : timeout_ms);
	assert_true(r >= 0 || errno == EINTR);
	if (r > 0)
		return poll_fd.revents;
	if (t->interrupt_at > 0 && ++t->n_waits >= t->interrupt_at)
		return say_stop(t, ret_diag);
	assert_true(t->interrupt_at > 0 || timeout_ms >= 0);
	return 0;
}

/* ---- life ---- */

int
pg_group_setup(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	return cnt_server_start(&pg_server, CNT_POSTGRESQL, 0);
}

int
pg_group_teardown(void **state)
{
	(void)state;
	cnt_server_stop(&pg_server);
	return 0;
}

void
pg_option(struct pg *t, const char *key, const char *value)
{
	assert_in_range(t->n_options, 0, sizeof(t->options) / sizeof(t->options[0]) - 1);
	t->options[t->n_options++] = (struct cnd_option){ key, value };
}

void
pg_setup(struct pg *t)
{
	memset(t, 0, sizeof(*t));
	t->b = cnt_backend_load(CNT_POSTGRESQL_MODULE);
	t->host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = t,
		.interrupted = on_interrupted,
		.wait = on_wait,
		.log = cnt_backend_log };
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnt_transcript_init(&t->seen, &sink_ops, &t->diag, 256u << 20);
	cnt_transcript_lend(&t->seen, t->b, &t->host);
	memcpy(t->run_dir, pg_server.run_dir, sizeof(t->run_dir));
	snprintf(t->port, sizeof(t->port), "%d", pg_server.port);
	pg_option(t, "host", t->run_dir);
	pg_option(t, "port", t->port);
	pg_option(t, "user", "app");
	pg_option(t, "dbname", "app");
}

void
pg_teardown(struct pg *t)
{
	pg_logout(t);
	cnc_diag_finish(&t->diag);
	cnt_transcript_finish(&t->seen);
}

int
pg_login(struct pg *t)
{
	struct cnd_server_spec spec = { t->options, t->n_options };

	if (t->mem != NULL)
		t->host.mem = t->mem;
	return cnt_backend_login(t->b, &t->host, &spec, &t->s, &t->diag);
}

void
pg_logout(struct pg *t)
{
	t->b->logout(t->s);
	t->s = NULL;
}

int
pg_test_setup(void **state)
{
	struct pg *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	pg_setup(t);
	if (pg_login(t) < 0)
		fail_msg("%s", t->diag.message);
	*state = t;
	return 0;
}

int
pg_test_teardown(void **state)
{
	pg_teardown(*state);
	free(*state);
	return 0;
}

/* ---- requests ---- */

static struct cnd_exec
begin_request(struct pg *t, const struct cnc_value *params, uint32_t n)
{
	cnt_transcript_begin(&t->seen, &(struct cnt_request){ .batch_rows = t->batch_rows,
					       .max_rows = t->max_rows,
					       .count_only = t->count_only,
					       .fail_at = t->fail_rows_at,
					       .fail_with = CENOTE_ERR_NOMEM });
	t->n_waits = 0;
	t->stopped = 0;
	cnc_diag_clear(&t->diag);
	return (struct cnd_exec){ .portal = cnt_portal(
					  &t->seen, ++t->portal, t->batch_rows),
		.format = t->format,
		.formats = t->formats,
		.is_simple = !t->is_extended && n == 0,
		.is_sync = !t->no_sync,
		.batch_rows = t->batch_rows,
		.max_rows = t->max_rows,
		.params = params,
		.n_params = n };
}

static void
say_error(struct pg *t, int r)
{
	const char *position = cnc_diag_field(&t->diag, 'P');

	cnt_transcript_break(&t->seen);
	cnt_say(&t->seen, "error %s %s",
		r == CENOTE_ERR_SERVER ? t->diag.sqlstate
		: r == CENOTE_ERR_CONN ? "CONN"
				       : "-",
		r == CENOTE_ERR_UNSUPPORTED ? "unsupported"
		: r == CENOTE_ERR_NOMEM     ? "out of memory"
					    : t->diag.message);
	if (position)
		cnt_say(&t->seen, " position=%s", position);
	cnt_say(&t->seen, "\n");
}

/* As the worker does: a synchronisation point follows a request that has one. */
static const char *
end_request(struct pg *t, int r)
{
	t->last = r;
	if (r < 0)
		say_error(t, r);
	if (!t->no_sync && r != CENOTE_ERR_CONN) {
		int q;

		cnc_diag_clear(&t->diag);
		q = t->b->sync(t->s, &t->seen.sink);
		if (q < 0 && r >= 0) {
			cnt_say(&t->seen, "sync ");
			say_error(t, q);
			t->last = q;
		}
	}
	return t->seen.log;
}

const char *
pg_query_with(struct pg *t, const char *sql, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);

	return end_request(t, t->b->query(t->s, sql, strlen(sql), &e, &t->seen.sink));
}

const char *
pg_query(struct pg *t, const char *sql)
{
	return pg_query_with(t, sql, NULL, 0);
}

const char *
pg_prepare(struct pg *t, uint32_t statement, const char *name, const char *sql)
{
	struct cnd_prepare p = {
		.is_sync = !t->no_sync, .sql = cnp_str(sql), .name = cnp_str(name)
	};

	(void)begin_request(t, NULL, 0);
	t->seen.request.is_describing = 1;
	return end_request(t, cnt_prepare(&t->seen, t->s, statement, &p));
}

const char *
pg_describe(struct pg *t, uint32_t statement, const char *name, int kind)
{
	struct cnd_named which = {
		.name = cnp_str(name), .kind = (uint8_t)kind, .is_sync = !t->no_sync
	};

	(void)begin_request(t, NULL, 0);
	t->seen.request.is_describing = 1;
	return end_request(t, cnt_describe(&t->seen, t->s, statement, &which));
}

const char *
pg_execute(struct pg *t, uint32_t statement, const char *name, int known,
	const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);
	struct cnd_named which = { .name = cnp_str(name), .is_sync = !t->no_sync };

	e.columns_known = (uint8_t)known;
	return end_request(t, cnt_execute(&t->seen, t->s, statement, &which, &e));
}

const char *
pg_close(struct pg *t, uint32_t statement, const char *name, int kind)
{
	struct cnd_named which = {
		.name = cnp_str(name), .kind = (uint8_t)kind, .is_sync = !t->no_sync
	};

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnd_statement_close(&t->seen.statements, t->s, statement,
				      &which, &t->seen.sink));
}

const char *
pg_fetch(struct pg *t, uint32_t portal, uint32_t batch_rows)
{
	uint32_t before = t->batch_rows;
	const char *text;

	t->batch_rows = batch_rows;
	(void)begin_request(t, NULL, 0);
	text = end_request(t, cnt_fetch(&t->seen, t->s, portal, batch_rows, 0));
	t->batch_rows = before;
	return text;
}

void
pg_close_portal(struct pg *t, uint32_t portal)
{
	cnd_portal_close(&t->seen.statements, t->s, portal);
	(void)t->b->sync(t->s, &t->seen.sink);
}

const char *
pg_begin(struct pg *t, uint8_t isolation, uint32_t flags)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->begin(t->s, isolation, flags, &t->seen.sink));
}

const char *
pg_commit(struct pg *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->commit(t->s, &t->seen.sink));
}

const char *
pg_rollback(struct pg *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->rollback(t->s, &t->seen.sink));
}

const char *
pg_savepoint(struct pg *t, uint8_t action, const char *name)
{
	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->savepoint(t->s, action, name, strlen(name), &t->seen.sink));
}

const char *
pg_autocommit(struct pg *t, int on)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->autocommit(t->s, on, &t->seen.sink));
}

const char *
pg_function(struct pg *t, uint32_t function, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);

	return end_request(t, t->b->function(t->s, function, &e, &t->seen.sink));
}

const char *
pg_catalog(struct pg *t, uint8_t kind, const char *schema, const char *object,
	const char *column, const char *types)
{
	struct cnp_catalog filter = { .kind = kind,
		.given = (uint8_t)((schema ? 2 : 0) | (object ? 4 : 0) |
				   (column ? 8 : 0) | (types ? 16 : 0)),
		.schema = cnp_str(schema ? schema : ""),
		.object = cnp_str(object ? object : ""),
		.column = cnp_str(column ? column : ""),
		.types = cnp_str(types ? types : "") };

	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->catalog(t->s, &filter, &t->seen.sink));
}

const char *
pg_sync(struct pg *t)
{
	int r;

	(void)begin_request(t, NULL, 0);
	r = t->b->sync(t->s, &t->seen.sink);
	t->last = r;
	if (r < 0)
		say_error(t, r);
	return t->seen.log;
}

const char *
pg_idle(struct pg *t)
{
	struct pollfd poll_fd = { .fd = t->b->fd(t->s), .events = POLLIN };
	int r;

	(void)begin_request(t, NULL, 0);
	assert_int_equal(poll(&poll_fd, 1, 5000), 1);
	r = t->b->idle(t->s, &t->seen.sink);
	t->last = r;
	if (r < 0)
		say_error(t, r);
	return t->seen.log;
}

const char *
pg_reset(struct pg *t)
{
	int r;

	(void)begin_request(t, NULL, 0);
	r = t->b->reset(t->s, &t->diag);
	/* as the worker does */
	t->has_relogged = r == CENOTE_ERR_UNSUPPORTED;
	if (t->has_relogged) {
		pg_logout(t);
		r = pg_login(t);
	}
	t->last = r;
	if (r < 0)
		say_error(t, r);
	return t->seen.log;
}

const char *
pg_state(struct pg *t)
{
	static const char *const names[] = { "idle", "open", "failed", "unknown" };
	static char text[64];
	struct cnd_state state;

	t->b->state(t->s, &state);
	snprintf(text, sizeof(text), "%s pins=%u", names[state.tx],
		(unsigned)state.pins & ~(unsigned)CENOTE_PIN_FUNCTION);
	return text;
}
