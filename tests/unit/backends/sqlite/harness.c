/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The harness of the SQLite backend's tests: a database file in a folder of its own, the
 * sink, and the host's answers.
 */
#include "harness.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sq *
of_sink(struct cnd_sink *sink)
{
	return (struct sq *)(void *)((char *)sink - offsetof(struct sq, base.seen.sink));
}

static int
on_columns(struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	const struct sq *t = of_sink(sink);

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(columns[i].format, t->base.format);
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
before_request(struct cnt_session *base)
{
	((struct sq *)base)->n_questions = 0;
}

static void
say_error(struct cnt_session *t, int r)
{
	const char *position = cnc_diag_field(&t->diag, 'P');
	const char *hint = cnc_diag_field(&t->diag, 'H');

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
}

static void
init(struct sq *t)
{
	cnt_session_init(
		&t->base, CNT_SQLITE_MODULE, &sink_ops, 64u << 20, on_interrupted, NULL);
	t->base.before = before_request;
	t->base.say_error = say_error;
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
	cnt_session_finish(&t->base);
	if (t->dir[0])
		(void)nftw(t->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
sq_test_setup(void **state)
{
	struct sq *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	sq_setup(t);
	assert_ok(sq_login(t));
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
	memcpy(ret_other->base.options, t->base.options, sizeof(t->base.options));
	ret_other->base.n_options = t->base.n_options;
	init(ret_other);
	assert_ok(sq_login(ret_other));
}

const char *
sq_catalog(struct sq *t, const struct cnp_catalog *filter)
{
	uint8_t old = t->base.format;
	const char *text;

	(void)cnt_session_start(&t->base, NULL, 0);
	t->base.format = CENOTE_FORMAT_CANONICAL;
	text = cnt_session_end(
		&t->base, t->base.b->catalog(t->base.s, filter, &t->base.seen.sink));
	t->base.format = old;
	return text;
}

const char *
sq_state(struct sq *t)
{
	static const char *const tx[] = { "idle", "open", "failed" };
	static char text[64];
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	snprintf(text, sizeof(text), "%s pins=%u", tx[state.tx], (unsigned)state.pins);
	return text;
}
