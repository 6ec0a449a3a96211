/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The harness of the PostgreSQL backend's tests: one server for each program, the sink,
 * and the host's answers.
 */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cnt_server pg_server;

static struct pg *
of_sink(struct cnd_sink *sink)
{
	return (struct pg *)(void *)((char *)sink - offsetof(struct pg, base.seen.sink));
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
	if (t->base.count_only)
		return CENOTE_OK;
	cnt_say(&t->base.seen, "data ");
	cnt_say_bytes(&t->base.seen, data, len);
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
	(void)signal(SIGPIPE, SIG_IGN);
	return cnt_server_start(&pg_server, CNT_POSTGRESQL, 0);
}

int
pg_group_teardown(void **state)
{
	cnt_server_stop(&pg_server);
	return 0;
}

static void
before_request(struct cnt_session *base)
{
	struct pg *t = (struct pg *)base;

	t->n_waits = 0;
	t->stopped = 0;
}

static void
say_error(struct cnt_session *t, int r)
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

/* The transcript of a call that no synchronisation point follows. */
static const char *
outcome(struct pg *t, int r)
{
	t->base.last = r;
	if (r < 0)
		say_error(&t->base, r);
	return t->base.seen.log;
}

void
pg_setup(struct pg *t)
{
	memset(t, 0, sizeof(*t));
	cnt_session_init(&t->base, CNT_POSTGRESQL_MODULE, &sink_ops, 256u << 20,
		on_interrupted, on_wait);
	t->base.before = before_request;
	t->base.say_error = say_error;
	t->base.fail_rows_with = CENOTE_ERR_NOMEM;
	memcpy(t->run_dir, pg_server.run_dir, sizeof(t->run_dir));
	snprintf(t->port, sizeof(t->port), "%d", pg_server.port);
	pg_option(t, "host", t->run_dir);
	pg_option(t, "port", t->port);
	pg_option(t, "user", "app");
	pg_option(t, "dbname", "app");
}

int
pg_test_setup(void **state)
{
	struct pg *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	pg_setup(t);
	if (pg_login(t) < 0)
		fail_msg("%s", t->base.diag.message);
	*state = t;
	return 0;
}

int
pg_test_teardown(void **state)
{
	struct pg *t = *state;

	pg_teardown(t);
	free(t);
	return 0;
}

/* ---- requests ---- */

void
pg_close_portal(struct pg *t, uint32_t portal)
{
	cnd_portal_close(&t->base.seen.statements, t->base.s, portal);
	(void)t->base.b->sync(t->base.s, &t->base.seen.sink);
}

const char *
pg_function(struct pg *t, uint32_t function, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = cnt_session_start(&t->base, params, n);

	return cnt_session_end(&t->base,
		t->base.b->function(t->base.s, function, &e, &t->base.seen.sink));
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

	(void)cnt_session_start(&t->base, NULL, 0);
	return cnt_session_end(
		&t->base, t->base.b->catalog(t->base.s, &filter, &t->base.seen.sink));
}

const char *
pg_sync(struct pg *t)
{
	(void)cnt_session_start(&t->base, NULL, 0);
	return outcome(t, t->base.b->sync(t->base.s, &t->base.seen.sink));
}

const char *
pg_idle(struct pg *t)
{
	struct pollfd poll_fd = { .fd = t->base.b->fd(t->base.s), .events = POLLIN };
	(void)cnt_session_start(&t->base, NULL, 0);
	assert_int_equal(poll(&poll_fd, 1, 5000), 1);
	return outcome(t, t->base.b->idle(t->base.s, &t->base.seen.sink));
}

int
pg_settle(struct pg *t)
{
	(void)cnt_session_start(&t->base, NULL, 0);
	return t->base.b->settle(t->base.s, &t->base.seen.sink);
}

const char *
pg_reset(struct pg *t)
{
	int r;

	(void)cnt_session_start(&t->base, NULL, 0);
	r = t->base.b->reset(t->base.s, &t->base.diag);
	/* like a worker, log in again */
	t->has_relogged = r == CENOTE_ERR_UNSUPPORTED;
	if (t->has_relogged) {
		pg_logout(t);
		r = pg_login(t);
	}
	return outcome(t, r);
}

const char *
pg_state(struct pg *t)
{
	static const char *const names[] = { "idle", "open", "failed", "unknown" };
	static char text[64];
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	snprintf(text, sizeof(text), "%s pins=%u", names[state.tx],
		(unsigned)state.pins & ~(unsigned)CENOTE_PIN_FUNCTION);
	return text;
}
