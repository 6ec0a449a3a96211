/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

static struct sq *
of_sink(struct cnd_sink *sink)
{
	return (struct sq *)(void *)((char *)sink - offsetof(struct sq, seen.sink));
}

static int
on_columns(struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	const struct sq *t = of_sink(sink);

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(columns[i].format, t->format);
	return cnt_on_columns(sink, columns, n, known);
}

static const struct cnd_sink_ops sink_ops = {
	.params = cnt_on_params,
	.columns = on_columns,
	.row_done = cnt_on_row_done,
	.done = cnt_on_done,
	.notice = cnt_on_notice,
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

void *
sq_symbol(const char *name)
{
	return cnt_backend_symbol(CNT_SQLITE_MODULE, name);
}

static void
init(struct sq *t)
{
	t->b = cnt_backend_load(CNT_SQLITE_MODULE);
	t->host = (struct cnd_host){ .mem = t->mem ? t->mem : &cnc_mem_default,
		.user = t,
		.interrupted = on_interrupted,
		.log = cnt_backend_log };
	cnc_diag_init(&t->diag, &cnc_mem_default);
	cnt_transcript_init(&t->seen, &sink_ops, &t->diag, 64u << 20);
	cnt_transcript_lend(&t->seen, t->b, &t->host);
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
	cnt_transcript_finish(&t->seen);
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

	return cnt_backend_login(t->b, &t->host, &spec, &t->s, &t->diag);
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
	cnt_transcript_begin(&t->seen, &(struct cnt_request){ .batch_rows = t->batch_rows,
					       .max_rows = t->max_rows,
					       .count_only = t->count_only });
	t->n_questions = 0;
	cnc_diag_clear(&t->diag);
	return (struct cnd_exec){ .portal = cnt_portal(
					  &t->seen, ++t->portal, t->batch_rows),
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
		return t->seen.log;
	cnt_transcript_break(&t->seen);
	cnt_say(&t->seen, "error %s %s", r == CENOTE_ERR_SERVER ? t->diag.sqlstate : "-",
		r == CENOTE_ERR_UNSUPPORTED ? "unsupported"
		: r == CENOTE_ERR_NOMEM     ? "out of memory"
					    : t->diag.message);
	if (position)
		cnt_say(&t->seen, " position=%s", position);
	if (hint)
		cnt_say(&t->seen, " hint=%s", hint);
	cnt_say(&t->seen, "\n");
	return t->seen.log;
}

const char *
sq_query_with(struct sq *t, const char *sql, const struct cnc_value *params, uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);

	return end_request(t, t->b->query(t->s, sql, strlen(sql), &e, &t->seen.sink));
}

const char *
sq_query(struct sq *t, const char *sql)
{
	return sq_query_with(t, sql, NULL, 0);
}

const char *
sq_prepare(struct sq *t, uint32_t statement, const char *sql)
{
	struct cnd_prepare p = { .sql = cnp_str(sql), .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnt_prepare(&t->seen, t->s, statement, &p));
}

const char *
sq_describe(struct sq *t, uint32_t statement)
{
	struct cnd_named which = { .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnt_describe(&t->seen, t->s, statement, &which));
}

const char *
sq_execute(struct sq *t, uint32_t statement, int known, const struct cnc_value *params,
	uint32_t n)
{
	struct cnd_exec e = begin_request(t, params, n);
	struct cnd_named which = { .name = CNP_STR_NONE };

	e.columns_known = (uint8_t)known;
	return end_request(t, cnt_execute(&t->seen, t->s, statement, &which, &e));
}

const char *
sq_close(struct sq *t, uint32_t statement)
{
	struct cnd_named which = { .name = CNP_STR_NONE };

	(void)begin_request(t, NULL, 0);
	return end_request(t, cnd_statement_close(&t->seen.statements, t->s, statement,
				      &which, &t->seen.sink));
}

const char *
sq_fetch(struct sq *t, uint32_t portal, uint32_t batch_rows)
{
	uint32_t old = t->batch_rows;
	const char *text;

	t->batch_rows = batch_rows;
	(void)begin_request(t, NULL, 0);
	text = end_request(t, cnt_fetch(&t->seen, t->s, portal, batch_rows, 0));
	t->batch_rows = old;
	return text;
}

const char *
sq_begin(struct sq *t, uint8_t isolation, uint32_t flags)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->begin(t->s, isolation, flags, &t->seen.sink));
}

const char *
sq_commit(struct sq *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->commit(t->s, &t->seen.sink));
}

const char *
sq_rollback(struct sq *t)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->rollback(t->s, &t->seen.sink));
}

const char *
sq_savepoint(struct sq *t, uint8_t action, const char *name)
{
	(void)begin_request(t, NULL, 0);
	return end_request(
		t, t->b->savepoint(t->s, action, name, strlen(name), &t->seen.sink));
}

const char *
sq_autocommit(struct sq *t, int on)
{
	(void)begin_request(t, NULL, 0);
	return end_request(t, t->b->autocommit(t->s, on, &t->seen.sink));
}

const char *
sq_catalog(struct sq *t, const struct cnp_catalog *filter)
{
	uint8_t old = t->format;
	const char *text;

	(void)begin_request(t, NULL, 0);
	t->format = CENOTE_FORMAT_CANONICAL;
	text = end_request(t, t->b->catalog(t->s, filter, &t->seen.sink));
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
	return cnt_backend_reset(t->b, t->s, &t->diag);
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
