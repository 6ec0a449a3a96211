/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mem.h"

#include "harness.h"

static void say(struct sq *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
say_bytes(struct sq *t, const char *p, size_t n)
{
	while (t->log_len + n + 1 > t->log_cap) {
		t->log_cap = t->log_cap ? 2 * t->log_cap : 4096;
		t->log = realloc(t->log, t->log_cap);
		assert_non_null(t->log);
	}
	memcpy(t->log + t->log_len, p, n);
	t->log_len += n;
	t->log[t->log_len] = 0;
}

static void
say(struct sq *t, const char *format, ...)
{
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(line) - 1);
	say_bytes(t, line, (size_t)n);
}

static struct sq *
of_sink(struct cnd_sink *sink)
{
	return (struct sq *)(void *)((char *)sink - offsetof(struct sq, sink));
}

static int
on_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	struct sq *t = of_sink(sink);
	uint32_t i;

	say(t, "params");
	for (i = 0; i < n; i++)
		say(t, " %s", params[i].name.n ? params[i].name.p : "?");
	say(t, "\n");
	return CENOTE_OK;
}

static const char *const type_names[] = { "NULL", "BOOL", "INT64", "UINT64", "DOUBLE",
	"DECIMAL", "TEXT", "BYTES", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "UUID",
	"JSON", "OTHER" };

static int
on_columns(struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct sq *t = of_sink(sink);
	uint32_t i;

	say(t, "columns%s", known ? " =" : "");
	for (i = 0; i < n; i++) {
		assert_int_equal(strlen(columns[i].name.p), columns[i].name.n);
		assert_int_equal(strlen(columns[i].type_name.p), columns[i].type_name.n);
		assert_int_equal(columns[i].format, t->format);
		say(t, " %s:%s", columns[i].name.p, type_names[columns[i].type]);
	}
	say(t, "\n");
	t->n_columns = n;
	cnc_buf_clear(&t->out, SIZE_MAX);
	assert_int_equal(cnc_batch_begin(&t->batch, &t->out, n), CENOTE_OK);
	return CENOTE_OK;
}

static int
write_row(void *user, const uint8_t *row)
{
	struct sq *t = user;
	const char *p;
	size_t len;
	uint32_t i;

	for (i = 0; i < t->n_columns; i++) {
		p = cnc_row_value(row, t->n_columns, i, &len);
		say(t, "%s", i == 0 ? "row " : "|");
		if (p)
			say_bytes(t, p, len);
		else
			say(t, "NULL");
	}
	say(t, "\n");
	return CENOTE_OK;
}

/* Read the batch as a client would, and begin the next. */
static void
take_batch(struct sq *t)
{
	uint32_t n;
	size_t len = cnc_batch_end(&t->batch);

	assert_int_equal(cnc_batch_check(cnc_buf_head(&t->out), len, t->n_columns,
				 t->count_only ? NULL : write_row, t, &n),
		CENOTE_OK);
	t->n_rows += n;
	cnc_buf_clear(&t->out, SIZE_MAX);
	assert_int_equal(cnc_batch_begin(&t->batch, &t->out, t->n_columns), CENOTE_OK);
}

static int
on_row_done(struct cnd_sink *sink)
{
	struct sq *t = of_sink(sink);

	if (cnc_batch_len(&t->batch) > 32768)
		take_batch(t);
	t->rows_in_request++;
	if (t->max_rows > 0 && t->rows_in_request >= t->max_rows)
		return CENOTE_DONE;
	if (t->batch_rows > 0 && t->rows_in_request % t->batch_rows == 0)
		return CENOTE_AGAIN;
	return CENOTE_OK;
}

static int
on_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	struct sq *t = of_sink(sink);

	if (t->n_columns > 0)
		take_batch(t);
	say(t, "done %.*s", (int)done->tag.n, done->tag.p);
	if (done->affected >= 0)
		say(t, " affected=%lld", (long long)done->affected);
	if (done->last_insert_id > 0)
		say(t, " id=%llu", (unsigned long long)done->last_insert_id);
	if (done->flags & CNP_DONE_MORE_ROWS)
		say(t, " more-rows");
	if (done->flags & CNP_DONE_MORE_RESULTS)
		say(t, " more-results");
	if (done->flags & CNP_DONE_LIMITED)
		say(t, " limited");
	say(t, "\n");
	t->n_columns = 0;
	return CENOTE_OK;
}

static int
on_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	say(of_sink(sink), "notice %s %s\n", notice->sqlstate, notice->message);
	return CENOTE_OK;
}

static const struct cnd_sink_ops sink_ops = {
	.params = on_params,
	.columns = on_columns,
	.row_done = on_row_done,
	.done = on_done,
	.notice = on_notice,
};

static int
on_interrupted(const struct cnd_host *host, struct cnc_diag *ret_diag)
{
	struct sq *t = host->user;

	t->n_questions++;
	if (t->interrupt_at == 0 || t->n_questions < t->interrupt_at)
		return CENOTE_OK;
	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	return CENOTE_ERR_SERVER;
}

static void
on_log(const struct cnd_host *host, int level, const char *format, ...)
{
	(void)host;
	(void)level;
	(void)format;
}

void *
sq_symbol(const char *name)
{
	static void *module;

	if (!module)
		module = dlopen(CNT_SQLITE_MODULE, RTLD_NOW | RTLD_LOCAL);
	if (!module)
		fail_msg("%s", dlerror());
	return dlsym(module, name);
}

static const struct cnd_backend *
load(void)
{
	const struct cnd_backend *(*get)(uint32_t) = NULL;
	void *symbol = sq_symbol("cnd_backend_get");

	assert_non_null(symbol);
	memcpy(&get, &symbol, sizeof(get));
	assert_null(get(CND_BACKEND_ABI + 1));
	return get(CND_BACKEND_ABI);
}

static void
init(struct sq *t)
{
	t->b = load();
	assert_non_null(t->b);
	t->host = (struct cnd_host){ .mem = t->mem ? t->mem : &cnc_mem_default,
		.user = t,
		.interrupted = on_interrupted,
		.log = on_log };
	t->sink = (struct cnd_sink){
		.ops = &sink_ops, .batch = &t->batch, .diag = &t->diag
	};
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnc_buf_init(&t->out, &cnc_mem_default, 64u << 20);
}

void
sq_setup(struct sq *t)
{
	memset(t, 0, sizeof(*t));
	strcpy(t->dir, "/tmp/cenote-sqlite-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->path, sizeof(t->path), "%s/test.db", t->dir);
	sq_option(t, "path", t->path);
	init(t);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void
sq_teardown(struct sq *t)
{
	sq_logout(t);
	if (t->dir[0])
		(void)nftw(t->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	cnc_diag_finish(&t->diag);
	cnc_buf_finish(&t->out);
	free(t->log);
	t->log = NULL;
}

void
sq_option(struct sq *t, const char *key, const char *value)
{
	assert_in_range(t->n_options, 0, sizeof(t->options) / sizeof(t->options[0]) - 1);
	t->options[t->n_options++] = (struct cnd_option){ key, value };
}

int
sq_login(struct sq *t)
{
	struct cnd_server_spec spec = { t->options, t->n_options };
	int r;

	cnc_diag_clear(&t->diag);
	r = t->b->login(&t->host, &spec, &t->s, &t->diag);
	if (r == CENOTE_OK) {
		struct cnp_str none = CNP_STR_NONE;

		r = t->b->attach(t->s, &none, &t->diag);
	}
	return r;
}

void
sq_logout(struct sq *t)
{
	if (t->b)
		t->b->logout(t->s);
	t->s = NULL;
}

int
sq_test_setup(void **state)
{
	struct sq *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	sq_setup(t);
	assert_int_equal(sq_login(t), CENOTE_OK);
	*state = t;
	return 0;
}

int
sq_test_teardown(void **state)
{
	sq_teardown(*state);
	free(*state);
	return 0;
}

void
sq_sibling(struct sq *t, struct sq *ret_other)
{
	memset(ret_other, 0, sizeof(*ret_other));
	memcpy(ret_other->options, t->options, sizeof(t->options));
	ret_other->n_options = t->n_options;
	init(ret_other);
	assert_int_equal(sq_login(ret_other), CENOTE_OK);
}

static struct cnd_exec
begin_request(struct sq *t, const struct cnc_value *params, uint32_t n)
{
	t->log_len = 0;
	say(t, "%s", "");
	t->n_columns = 0;
	t->rows_in_request = 0;
	t->n_questions = 0;
	cnc_diag_clear(&t->diag);
	return (struct cnd_exec){ .portal = ++t->portal,
		.format = t->format,
		.batch_rows = t->batch_rows,
		.params = params,
		.n_params = n };
}

static const char *
end_request(struct sq *t, int r)
{
	const char *position = cnc_diag_field(&t->diag, 'P');
	const char *hint = cnc_diag_field(&t->diag, 'H');

	t->last = r;
	if (r == CENOTE_OK)
		return t->log;
	if (t->n_columns > 0)
		take_batch(t);
	t->n_columns = 0;
	say(t, "error %s %s", r == CENOTE_ERR_SERVER ? t->diag.sqlstate : "-",
		r == CENOTE_ERR_UNSUPPORTED ? "unsupported"
		: r == CENOTE_ERR_NOMEM     ? "out of memory"
					    : t->diag.message);
	if (position)
		say(t, " position=%s", position);
	if (hint)
		say(t, " hint=%s", hint);
	say(t, "\n");
	return t->log;
}

const char *
sq_query_with(struct sq *t, const char *sql, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);

	return end_request(t, t->b->query(t->s, sql, strlen(sql), &e, &t->sink));
}

const char *
sq_query(struct sq *t, const char *sql)
{
	return sq_query_with(t, sql, NULL, 0);
}

const char *
sq_prepare(struct sq *t, uint32_t statement, const char *sql)
{
	struct cnd_prepare p = {
		.statement = statement, .sql = cnp_str(sql), .name = CNP_STR_NONE
	};

	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->prepare(t->s, &p, &t->sink));
}

const char *
sq_describe(struct sq *t, uint32_t statement)
{
	struct cnd_named which = { statement, CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->describe(t->s, &which, CNP_NAMED_STATEMENT, &t->sink));
}

const char *
sq_execute(struct sq *t, uint32_t statement, int known, const struct cnc_value *params,
	uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);
	struct cnd_named which = { statement, CNP_STR_NONE };

	e.columns_known = (uint8_t)known;
	return end_request(t, t->b->execute(t->s, &which, &e, &t->sink));
}

const char *
sq_close(struct sq *t, uint32_t statement)
{
	struct cnd_named which = { statement, CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->close(t->s, &which, CNP_NAMED_STATEMENT, &t->sink));
}

const char *
sq_fetch(struct sq *t, uint32_t portal, uint32_t batch_rows)
{
	uint32_t old = t->batch_rows;
	const char *text;

	(void)begin_request(t, NULL, 0);
	t->batch_rows = batch_rows;
	text = end_request(t, t->b->fetch(t->s, portal, batch_rows, 0, &t->sink));
	t->batch_rows = old;
	return text;
}

const char *
sq_begin(struct sq *t, uint8_t isolation, uint32_t flags)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->begin(t->s, isolation, flags, &t->sink));
}

const char *
sq_commit(struct sq *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->commit(t->s, &t->sink));
}

const char *
sq_rollback(struct sq *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->rollback(t->s, &t->sink));
}

const char *
sq_savepoint(struct sq *t, uint8_t action, const char *name)
{
	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->savepoint(t->s, action, name, strlen(name), &t->sink));
}

const char *
sq_autocommit(struct sq *t, int on)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->autocommit(t->s, on, &t->sink));
}

const char *
sq_catalog(struct sq *t, const struct cnp_catalog *filter)
{
	uint8_t old = t->format;
	const char *text;

	(void)begin_request(t, NULL, 0);
	t->format = CENOTE_FORMAT_CANONICAL;
	text = end_request(t, t->b->catalog(t->s, filter, &t->sink));
	t->format = old;
	return text;
}

const char *
sq_state(struct sq *t)
{
	static const char *const tx[] = { "idle", "open", "failed" };
	static char text[64];
	struct cnd_state state;

	t->b->state(t->s, &state);
	snprintf(text, sizeof(text), "%s pins=%u", tx[state.tx], (unsigned)state.pins);
	return text;
}

int
sq_reset(struct sq *t)
{
	int r;

	cnc_diag_clear(&t->diag);
	r = t->b->reset(t->s, &t->diag);
	if (r == CENOTE_OK) {
		struct cnp_str none = CNP_STR_NONE;

		r = t->b->attach(t->s, &none, &t->diag);
	}
	return r;
}

struct cnc_value
sq_int(int64_t v)
{
	return (struct cnc_value){ .type = CENOTE_TYPE_INT64, .as.i64 = v };
}

struct cnc_value
sq_text(const char *text)
{
	return (struct cnc_value){
		.type = CENOTE_TYPE_TEXT, .bytes = text, .len = strlen(text)
	};
}
