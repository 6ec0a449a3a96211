/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- the module, and a session ---- */

void *
cnt_backend_symbol(const char *module, const char *name)
{
	void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fail_msg("%s", dlerror());
	return dlsym(handle, name);
}

const struct cnd_backend *
cnt_backend_load(const char *module)
{
	const struct cnd_backend *(*get)(uint32_t) = NULL;
	const struct cnd_backend *b;
	void *symbol = cnt_backend_symbol(module, "cnd_backend_get");

	assert_non_null(symbol);
	memcpy(&get, &symbol, sizeof(get));
	assert_null(get(CND_BACKEND_ABI + 1));
	b = get(CND_BACKEND_ABI);
	assert_non_null(b);
	return b;
}

int
cnt_backend_login(const struct cnd_backend *b, const struct cnd_host *host,
	const struct cnd_server_spec *spec, struct cnd_session **ret_session,
	struct cnc_diag *ret_diag)
{
	struct cnp_str none = CNP_STR_NONE;
	int r;

	cnc_diag_clear(ret_diag);
	r = b->login(host, spec, ret_session, ret_diag);
	return r == CENOTE_OK ? b->attach(*ret_session, &none, ret_diag) : r;
}

int
cnt_backend_reset(
	const struct cnd_backend *b, struct cnd_session *s, struct cnc_diag *ret_diag)
{
	struct cnp_str none = CNP_STR_NONE;
	int r;

	cnc_diag_clear(ret_diag);
	r = b->reset(s, ret_diag);
	return r == CENOTE_OK ? b->attach(s, &none, ret_diag) : r;
}

void
cnt_backend_log(const struct cnd_host *host, int level, const char *format, ...)
{
	(void)host;
	(void)level;
	(void)format;
}

/* ---- statements and portals ---- */

void
cnt_transcript_lend(
	struct cnt_transcript *t, const struct cnd_backend *b, struct cnd_host *host)
{
	cnd_statements_init(&t->statements, b, host->mem);
	host->statements = &t->statements;
	host->forget = cnd_statements_forget;
}

int
cnt_prepare(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_prepare *prepare)
{
	return number == 0 ? t->statements.ops->prepare(s, prepare, &t->sink)
			   : cnd_statement_prepare(
				     &t->statements, s, number, prepare, &t->sink);
}

static int
find_named(struct cnt_transcript *t, uint32_t number, struct cnd_named *which)
{
	return number == 0 ? CENOTE_OK
			   : cnd_statement_get(&t->statements, number, &which->statement,
				     t->sink.diag);
}

int
cnt_describe(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which)
{
	int r = find_named(t, number, which);

	return r < 0 ? r : t->statements.ops->describe(s, which, &t->sink);
}

int
cnt_execute(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which, const struct cnd_exec *exec)
{
	int r = find_named(t, number, which);

	return r < 0 ? r : t->statements.ops->execute(s, which, exec, &t->sink);
}

struct cnd_portal *
cnt_portal(struct cnt_transcript *t, uint32_t number, uint32_t batch_rows)
{
	return batch_rows > 0 ? cnd_portal_make(&t->statements, number) : NULL;
}

int
cnt_fetch(struct cnt_transcript *t, struct cnd_session *s, uint32_t portal,
	uint32_t batch_rows, int send_columns)
{
	struct cnd_portal *p;
	int r = cnd_portal_get(&t->statements, portal, &p, t->sink.diag);

	return r < 0 ? r
		     : t->statements.ops->fetch(s, p, batch_rows, send_columns, &t->sink);
}

/* ---- the transcript ---- */

void
cnt_transcript_init(struct cnt_transcript *t, const struct cnd_sink_ops *ops,
	struct cnc_diag *diag, size_t max)
{
	memset(t, 0, sizeof(*t));
	t->sink = (struct cnd_sink){ .ops = ops, .batch = &t->batch, .diag = diag };
	cnc_buf_init(&t->out, &cnc_mem_default, max);
}

void
cnt_transcript_finish(struct cnt_transcript *t)
{
	cnc_buf_finish(&t->out);
	free(t->log);
	t->log = NULL;
}

void
cnt_say_bytes(struct cnt_transcript *t, const char *p, size_t n)
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

void
cnt_say(struct cnt_transcript *t, const char *format, ...)
{
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(line) - 1);
	cnt_say_bytes(t, line, (size_t)n);
}

void
cnt_transcript_begin(struct cnt_transcript *t, const struct cnt_request *request)
{
	t->request = *request;
	t->log_len = 0;
	cnt_say_bytes(t, "", 0);
	t->n_rows = 0;
	t->in_result = 0;
	t->rows_in_result = 0;
}

static int
write_row(void *user, const uint8_t *row)
{
	struct cnt_transcript *t = user;
	const char *p;
	size_t len;
	uint32_t i;

	for (i = 0; i < t->n_columns; i++) {
		p = cnc_row_value(row, t->n_columns, i, &len);
		cnt_say(t, "%s", i == 0 ? "row " : "|");
		if (p)
			cnt_say_bytes(t, p, len);
		else
			cnt_say(t, "NULL");
	}
	cnt_say(t, "\n");
	return CENOTE_OK;
}

static void
begin_batch(struct cnt_transcript *t)
{
	cnc_buf_clear(&t->out, SIZE_MAX);
	assert_ok(cnc_batch_begin(&t->batch, &t->out, t->n_columns));
}

/* Read the batch as a client does, and begin the next one. */
static void
take_batch(struct cnt_transcript *t)
{
	uint32_t n;
	size_t len = cnc_batch_end(&t->batch);

	assert_ok(cnc_batch_check(cnc_buf_head(&t->out), len, t->n_columns,
		t->request.count_only ? NULL : write_row, t, &n));
	t->n_rows += n;
	if (len > t->longest)
		t->longest = len;
	begin_batch(t);
}

void
cnt_transcript_break(struct cnt_transcript *t)
{
	if (t->in_result)
		take_batch(t);
	t->in_result = 0;
}

/* ---- the sink ---- */

struct cnt_transcript *
cnt_transcript_of(struct cnd_sink *sink)
{
	return (struct cnt_transcript *)(void *)((char *)sink -
						 offsetof(struct cnt_transcript, sink));
}

const char *
cnt_type_name(uint32_t type)
{
	static const char *const names[] = { "NULL", "BOOL", "INT64", "UINT64", "DOUBLE",
		"DECIMAL", "TEXT", "BYTES", "DATE", "TIME", "TIMESTAMP", "INTERVAL",
		"UUID", "JSON", "OTHER" };

	assert_in_range(type, 0, CNT_COUNT(names) - 1);
	return names[type];
}

int
cnt_on_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n)
{
	struct cnt_transcript *t = cnt_transcript_of(sink);
	uint32_t i;

	cnt_say(t, "params");
	for (i = 0; i < n; i++)
		cnt_say(t, " %s", params[i].name.n ? params[i].name.p : "?");
	cnt_say(t, "\n");
	return CENOTE_OK;
}

int
cnt_on_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	struct cnt_transcript *t = cnt_transcript_of(sink);
	uint32_t i;

	cnt_say(t, "columns%s", known ? " =" : "");
	for (i = 0; i < n; i++) {
		assert_int_equal(strlen(columns[i].name.p), columns[i].name.n);
		assert_int_equal(strlen(columns[i].type_name.p), columns[i].type_name.n);
		cnt_say(t, " %s:%s", columns[i].name.p, cnt_type_name(columns[i].type));
	}
	cnt_say(t, "\n");
	if (t->request.is_describing)
		return CENOTE_OK;
	assert_false(t->in_result);
	t->in_result = 1;
	t->n_columns = n;
	begin_batch(t);
	return CENOTE_OK;
}

int
cnt_on_row_done(struct cnd_sink *sink)
{
	struct cnt_transcript *t = cnt_transcript_of(sink);
	const struct cnt_request *q = &t->request;

	assert_true(t->in_result);
	if (cnc_batch_len(&t->batch) > 32768)
		take_batch(t);
	t->rows_in_result++;
	if (q->fail_at > 0 && t->rows_in_result == q->fail_at)
		return q->fail_with;
	if (q->max_rows > 0 && t->rows_in_result >= q->max_rows)
		return CENOTE_DONE;
	if (q->batch_rows > 0 && t->rows_in_result % q->batch_rows == 0)
		return CENOTE_AGAIN;
	return CENOTE_OK;
}

static void
say_flags(struct cnt_transcript *t, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{ CNP_DONE_MORE_ROWS, "more-rows" },
		{ CNP_DONE_MORE_RESULTS, "more-results" },
		{ CNP_DONE_LIMITED, "limited" },
		{ CNP_DONE_EMPTY, "empty" },
		{ CNP_DONE_OUTPUT, "output" },
	};
	size_t i;

	for (i = 0; i < CNT_COUNT(names); i++) {
		if (flags & names[i].flag)
			cnt_say(t, " %s", names[i].name);
	}
}

int
cnt_on_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	struct cnt_transcript *t = cnt_transcript_of(sink);

	if (t->in_result)
		take_batch(t);
	t->in_result = 0;
	t->rows_in_result = 0;
	cnt_say(t, "done %.*s", (int)done->tag.n, done->tag.p);
	if (done->affected >= 0)
		cnt_say(t, " affected=%lld", (long long)done->affected);
	if (done->last_insert_id > 0)
		cnt_say(t, " id=%llu", (unsigned long long)done->last_insert_id);
	if (done->warnings > 0)
		cnt_say(t, " warnings=%u", (unsigned)done->warnings);
	say_flags(t, done->flags);
	cnt_say(t, "\n");
	return CENOTE_OK;
}

int
cnt_on_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	cnt_say(cnt_transcript_of(sink), "notice %s %s\n", notice->sqlstate,
		notice->message);
	return CENOTE_OK;
}
