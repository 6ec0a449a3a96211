/* SPDX-License-Identifier: BSD-2-Clause */
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
	return (struct my *)(void *)((char *)sink - offsetof(struct my, seen.sink));
}

static int
on_columns(struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct my *t = of_sink(sink);
	uint32_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(columns[i].format, t->formats && i < strlen(t->formats)
							    ? t->formats[i] - '0'
							    : t->format);
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
	cnt_say(&t->seen, "file %s\n", m->name.p);
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
		cnc_diag_set(&t->diag, "57014", "the client does not send that");
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

void
my_init(struct my *t)
{
	memset(t, 0, sizeof(*t));
	t->b = cnt_backend_load(CNT_MYSQL_MODULE);
	t->host = (struct cnd_host){ .mem = &cnc_mem_default,
		.user = t,
		.interrupted = on_interrupted,
		.wait = on_wait,
		.log = cnt_backend_log };
	t->stop_status = CENOTE_ERR_SERVER;
	t->file_piece = 1000;
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnt_transcript_init(&t->seen, &sink_ops, &t->diag, 256u << 20);
	cnt_transcript_lend(&t->seen, t->b, &t->host);
}

void
my_finish(struct my *t)
{
	my_logout(t);
	cnc_diag_finish(&t->diag);
	cnt_transcript_finish(&t->seen);
}

void
my_option(struct my *t, const char *key, const char *value)
{
	assert_in_range(t->n_options, 0, sizeof(t->options) / sizeof(t->options[0]) - 1);
	t->options[t->n_options++] = (struct cnd_option){ key, value };
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
	struct cnd_server_spec spec = { t->options, t->n_options, t->settings };

	if (t->mem)
		t->host.mem = t->mem;
	t->began_ms = now_ms();
	t->stopped = 0;
	return cnt_backend_login(t->b, &t->host, &spec, &t->s, &t->diag);
}

void
my_logout(struct my *t)
{
	if (t->b)
		t->b->logout(t->s);
	t->s = NULL;
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
		fail_msg("cannot log in: %s", t->diag.message);
	*state = t;
	return 0;
}

int
my_teardown(void **state)
{
	my_finish(*state);
	free(*state);
	return 0;
}

static struct cnd_exec
begin_request(struct my *t, const struct cnc_value *params, uint32_t n)
{
	static char formats[64];
	size_t i;

	cnt_transcript_begin(&t->seen, &(struct cnt_request){ .batch_rows = t->batch_rows,
					       .max_rows = t->max_rows,
					       .count_only = t->count_only,
					       .fail_at = t->sink_fails_at,
					       .fail_with = CENOTE_ERR_LIMIT });
	t->stopped = 0;
	t->began_ms = now_ms();
	cnc_diag_clear(&t->diag);
	for (i = 0; t->formats && t->formats[i]; i++)
		formats[i] = (char)(t->formats[i] - '0');
	return (struct cnd_exec){ .portal = cnt_portal(
					  &t->seen, ++t->portal, t->batch_rows),
		.format = t->format,
		.formats = { formats, i },
		.max_rows = t->max_rows,
		.is_simple = !t->is_extended && !params,
		.batch_rows = t->batch_rows,
		.params = params,
		.n_params = n };
}

static const char *
end_request(struct my *t, int r)
{
	t->last = r;
	if (r == CENOTE_OK)
		return t->seen.log;
	cnt_transcript_break(&t->seen);
	cnt_say(&t->seen, "error %s %d %s\n",
		r == CENOTE_ERR_CONN ? "lost" : t->diag.sqlstate, (int)t->diag.native,
		r == CENOTE_ERR_UNSUPPORTED ? "unsupported"
		: r == CENOTE_ERR_NOMEM     ? "out of memory"
		: r == CENOTE_ERR_LIMIT     ? "limit"
					    : t->diag.message);
	return t->seen.log;
}

const char *
my_query_with(struct my *t, const char *sql, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);

	return end_request(t, t->b->query(t->s, sql, strlen(sql), &e, &t->seen.sink));
}

const char *
my_query(struct my *t, const char *sql)
{
	return my_query_with(t, sql, NULL, 0);
}

const char *
my_prepare(struct my *t, uint32_t statement, const char *sql)
{
	struct cnd_prepare p = { .sql = cnp_str(sql), .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnt_prepare(&t->seen, t->s, statement, &p));
}

const char *
my_describe(struct my *t, uint32_t statement)
{
	struct cnd_named which = { .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnt_describe(&t->seen, t->s, statement, &which));
}

const char *
my_execute(struct my *t, uint32_t statement, int known, const struct cnc_value *params,
	uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);
	struct cnd_named which = { .name = CNP_STR_NONE };

	e.columns_known = (uint8_t)known;
	return end_request(t, cnt_execute(&t->seen, t->s, statement, &which, &e));
}

const char *
my_close(struct my *t, uint32_t statement)
{
	struct cnd_named which = { .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnd_statement_close(&t->seen.statements, t->s, statement,
				      &which, &t->seen.sink));
}

const char *
my_fetch(struct my *t, uint32_t portal, uint32_t batch_rows, int send_columns)
{
	uint32_t old = t->batch_rows;
	const char *text;

	t->batch_rows = batch_rows;
	(void)begin_request(t, NULL, 0);
	text = end_request(
		t, cnt_fetch(&t->seen, t->s, portal, batch_rows, send_columns));
	t->batch_rows = old;
	return text;
}

const char *
my_begin(struct my *t, uint8_t isolation, uint32_t flags)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->begin(t->s, isolation, flags, &t->seen.sink));
}

const char *
my_commit(struct my *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->commit(t->s, &t->seen.sink));
}

const char *
my_rollback(struct my *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->rollback(t->s, &t->seen.sink));
}

const char *
my_savepoint(struct my *t, uint8_t action, const char *name)
{
	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->savepoint(t->s, action, name, strlen(name), &t->seen.sink));
}

const char *
my_autocommit(struct my *t, int on)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->autocommit(t->s, on, &t->seen.sink));
}

const char *
my_select_database(struct my *t, const char *name)
{
	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->select_database(t->s, name, strlen(name), &t->seen.sink));
}

const char *
my_change_user(struct my *t, const char *user, const char *password, const char *database)
{
	struct cnp_change_user to = { .user = cnp_str(user),
		.password = cnp_str(password),
		.database = cnp_str(database) };

	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->change_user(t->s, &to, &t->seen.sink));
}

const char *
my_catalog(struct my *t, const struct cnp_catalog *filter)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->catalog(t->s, filter, &t->seen.sink));
}

const char *
my_long_data(
	struct my *t, uint32_t statement, uint16_t param, const void *data, size_t len)
{
	struct cnp_str piece = { data, len };
	struct cnd_statement *st;
	int r;

	(void)begin_request(t, NULL, 0);
	r = cnd_statement_get(&t->seen.statements, statement, &st, &t->diag);
	if (r == CENOTE_OK)
		r = t->b->statements->long_data(t->s, st, param, piece, &t->diag);
	return r == CENOTE_OK ? "ok\n" : end_request(t, r);
}

const char *
my_set_option(struct my *t, const char *name, const char *value)
{
	int r;

	(void)begin_request(t, NULL, 0);
	r = t->b->set_option(t->s, name, value, &t->diag);
	return r == CENOTE_OK ? "ok\n" : end_request(t, r);
}

const char *
my_tx(struct my *t)
{
	static const char *const tx[] = { "idle", "open", "failed", "unknown" };
	struct cnd_state state;

	t->b->state(t->s, &state);
	return tx[state.tx];
}

uint32_t
my_pins(struct my *t)
{
	struct cnd_state state;

	t->b->state(t->s, &state);
	return state.pins;
}

int
my_reset(struct my *t)
{
	(void)begin_request(t, NULL, 0);
	return cnt_backend_reset(t->b, t->s, &t->diag);
}

int
my_attach(struct my *t, const void *carry, size_t len)
{
	struct cnp_str text = { carry, len };

	return t->b->attach(t->s, &text, &t->diag);
}

struct cnp_str
my_carry(struct my *t)
{
	struct cnd_state state;

	t->b->state(t->s, &state);
	return state.carry;
}

int
my_settle(struct my *t)
{
	return t->b->settle(t->s, &t->diag);
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

struct cnc_value
my_int(int64_t v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_INT64, .as.i64 = v };
}

struct cnc_value
my_text(const char *text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text, .len = strlen(text)
	};
}
