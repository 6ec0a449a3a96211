/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The harness of the MySQL backend's tests: one MariaDB server for each program, the
 * sink, and the host's answers.
 */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct cnt_server my_server;

static struct my *
of_sink(struct cnd_sink *sink)
{
	return (struct my *)(void *)((char *)sink - offsetof(struct my, base.seen.sink));
}

static int
on_columns(struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct my *t = of_sink(sink);
	uint32_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(columns[i].format, t->formats && i < strlen(t->formats)
							    ? t->formats[i] - '0'
							    : t->base.format);
	usleep(t->rest_ms * 1000);
	return cnt_on_columns(sink, columns, n, known);
}

static int
on_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	of_sink(sink)->status = done->server_status;
	return cnt_on_done(sink, done);
}

static int
on_parameter(struct cnd_sink *sink, const char *name, const char *value)
{
	cnt_say(cnt_transcript_of(sink), "parameter %s=%s\n", name, value);
	return CENOTE_OK;
}

static int
on_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m)
{
	struct my *t = of_sink(sink);

	assert_int_equal(strlen(m->name.p), m->name.n);
	cnt_say(&t->base.seen, "file %s\n", m->name.p);
	t->file_at = 0;
	return CENOTE_OK;
}

static int
on_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data)
{
	struct my *t = of_sink(sink);
	size_t n;

	(void)fd;
	if (!t->file) {
		cnc_diag_set(&t->base.diag, "57014", "the client does not send that");
		return CENOTE_ERR_SERVER;
	}
	if (t->file_at == t->file_len) {
		*ret_data = CNP_STR_NONE;
		return CENOTE_DONE;
	}
	n = t->file_len - t->file_at;
	if (n > t->file_piece)
		n = t->file_piece;
	*ret_data = (struct cnp_str){ t->file + t->file_at, n };
	t->file_at += n;
	return CENOTE_OK;
}

static const struct cnd_sink_ops sink_ops = {
	.params = cnt_on_params,
	.columns = on_columns,
	.row_done = cnt_on_row_done,
	.done = on_done,
	.notice = cnt_on_notice,
	.parameter = on_parameter,
	.copy_in = on_copy_in,
	.copy_read = on_copy_read,
};

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct my *t = host->user;

	if (t->stopped < 0)
		return t->stopped;
	if (t->stop_after_ms == 0 || now_ms() < t->began_ms + t->stop_after_ms)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	t->stopped = t->stop_status;
	return t->stopped;
}

static int
on_wait(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t until = timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;
	int r;

	do {
		r = poll(&p, 1, 5);
		if (r > 0)
			return p.revents;
		r = on_interrupted(host, ret_diag);
		if (r < 0)
			return r;
	} while (now_ms() < until);
	return 0;
}

int
my_main(const struct CMUnitTest *tests, size_t n, const char *name, unsigned flags)
{
	int r;

	cnt_server_need(CNT_MARIADB);
	if (cnt_server_create(&my_server, CNT_MARIADB, flags) < 0 ||
		cnt_server_configure(&my_server, "local_infile=1\n") < 0 ||
		cnt_server_run(&my_server) < 0)
		return 1;
	r = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
	cnt_server_stop(&my_server);
	return r;
}

static void
before_request(struct cnt_session *base)
{
	struct my *t = (struct my *)base;
	static char formats[64];
	size_t i;

	t->stopped = 0;
	t->began_ms = now_ms();
	for (i = 0; t->formats && t->formats[i]; i++)
		formats[i] = (char)(t->formats[i] - '0');
	base->formats = (struct cnp_str){ formats, i };
}

static void
say_error(struct cnt_session *t, int r)
{
	cnt_transcript_break(&t->seen);
	cnt_say(&t->seen, "error %s %d %s\n",
		r == CENOTE_ERR_CONN ? "lost" : t->diag.sqlstate, (int)t->diag.native,
		r == CENOTE_ERR_UNSUPPORTED ? "unsupported"
		: r == CENOTE_ERR_NOMEM     ? "out of memory"
		: r == CENOTE_ERR_LIMIT     ? "limit"
					    : t->diag.message);
}

void
my_init(struct my *t)
{
	memset(t, 0, sizeof(*t));
	cnt_session_init(&t->base, CNT_MYSQL_MODULE, &sink_ops, 256u << 20,
		on_interrupted, on_wait);
	t->base.before = before_request;
	t->base.say_error = say_error;
	t->base.fail_rows_with = CENOTE_ERR_LIMIT;
	t->stop_status = CENOTE_ERR_SERVER;
	t->file_piece = 1000;
}

void
my_app(struct my *t)
{
	my_option(t, "socket", my_server.socket);
	my_option(t, "user", "app");
	my_option(t, "dbname", "app");
}

int
my_login(struct my *t)
{
	t->began_ms = now_ms();
	t->stopped = 0;
	return cnt_session_login(&t->base);
}

int
my_setup(void **state)
{
	struct my *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	my_init(t);
	my_app(t);
	my_option(t, "local_infile", "yes");
	if (my_login(t) != CENOTE_OK)
		fail_msg("cannot log in: %s", t->base.diag.message);
	*state = t;
	return 0;
}

int
my_teardown(void **state)
{
	struct my *t = *state;

	my_finish(t);
	free(t);
	return 0;
}

const char *
my_query(struct my *t, const char *sql)
{
	return my_query_with(t, sql, NULL, 0);
}

const char *
my_query_with(struct my *t, const char *sql, const struct cnc_value *params, uint32_t n)
{
	const char *first, *text = cnt_server_statement(sql, &first);

	if (first)
		(void)cnt_session_query(&t->base, first, NULL, 0);
	return cnt_session_query(&t->base, text, params, n);
}

const char *
my_select_database(struct my *t, const char *name)
{
	(void)cnt_session_start(&t->base, NULL, 0);
	return cnt_session_end(&t->base, t->base.b->select_database(t->base.s, name,
						 strlen(name), &t->base.seen.sink));
}

const char *
my_change_user(struct my *t, const char *user, const char *password, const char *database)
{
	struct cnp_change_user to = { .user = cnp_str(user),
		.password = cnp_str(password),
		.database = cnp_str(database) };

	(void)cnt_session_start(&t->base, NULL, 0);
	return cnt_session_end(
		&t->base, t->base.b->change_user(t->base.s, &to, &t->base.seen.sink));
}

const char *
my_long_data(
	struct my *t, uint32_t statement, uint16_t param, const void *data, size_t len)
{
	struct cnp_str piece = { data, len };
	struct cnd_statement *st;
	int r;

	(void)cnt_session_start(&t->base, NULL, 0);
	r = cnd_statement_get(&t->base.seen.statements, statement, &st, &t->base.diag);
	if (r == CENOTE_OK)
		r = t->base.b->statements->long_data(
			t->base.s, st, param, piece, &t->base.diag);
	return r == CENOTE_OK ? "ok\n" : cnt_session_end(&t->base, r);
}

const char *
my_set_option(struct my *t, const char *name, const char *value)
{
	int r;

	(void)cnt_session_start(&t->base, NULL, 0);
	r = t->base.b->set_option(t->base.s, name, value, &t->base.diag);
	return r == CENOTE_OK ? "ok\n" : cnt_session_end(&t->base, r);
}

const char *
my_tx(struct my *t)
{
	static const char *const tx[] = { "idle", "open", "failed", "unknown" };
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return tx[state.tx];
}

uint32_t
my_pins(struct my *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return state.pins;
}

int
my_attach(struct my *t, const void *carry, size_t len)
{
	struct cnp_str text = { carry, len };

	return t->base.b->attach(t->base.s, &text, &t->base.diag);
}

struct cnp_str
my_carry(struct my *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return state.carry;
}

int
my_settle(struct my *t)
{
	return t->base.b->settle(t->base.s, &t->base.seen.sink);
}

const char *
my_value(struct my *t, const char *sql)
{
	static char value[4096];
	const char *text = my_query(t, sql), *row = strstr(text, "\nrow ");
	const char *end = row ? strchr(row + 1, '\n') : NULL;

	if (!row || !end || (size_t)(end - row) > sizeof(value))
		fail_msg("%s gives %s", sql, text);
	if (!row || !end)
		return "";
	row += strlen("\nrow ");
	memcpy(value, row, (size_t)(end - row));
	value[end - row] = 0;
	return value;
}
