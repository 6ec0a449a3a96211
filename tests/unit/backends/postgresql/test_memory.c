/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each allocation of a session fails once; the backend must report it and leak nothing.
 * It needs PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_alloc.h"

#include "harness.h"

#define DO(request)                                                                      \
	do {                                                                             \
		(void)(request);                                                         \
		if (t->base.last < 0)                                                    \
			return t->base.last;                                             \
	} while (0)

/* The client leaves with what can move, and comes again. */
static int
move(struct pg *t)
{
	const struct cnd_backend *b = t->base.b;
	struct cnp_str carry = { NULL, 0 };
	struct cnd_state state;
	char bytes[256];
	int r;

	DO(pg_query(t, "set app.tenant = '5'"));
	DO(pg_query(t, "prepare q as select 1"));
	r = pg_settle(t);
	if (r < 0)
		return r;
	b->state(t->base.s, &state);
	assert_int_equal(state.pins, 0);
	assert_true(state.carry.n > 1 && state.carry.n <= sizeof(bytes));
	memcpy(bytes, state.carry.p, state.carry.n);
	carry = (struct cnp_str){ bytes, state.carry.n };
	DO(pg_reset(t));
	r = b->attach(t->base.s, &carry, &t->base.diag);
	if (r == CENOTE_OK)
		r = b->options_are_set(t->base.s, &t->base.diag);
	if (r < 0)
		return r;
	DO(pg_query(t, "execute q"));
	DO(pg_reset(t));
	return CENOTE_OK;
}

/* The client goes on listening without a session. */
static int
listen_on(struct pg *t)
{
	const struct cnd_channels mark = {
		.add = { "marks", 6 }, .channel = "marks", .mark = "1"
	};
	struct cnc_buf names;
	int r;

	DO(pg_query(t, "listen news"));
	cnc_buf_init(&names, t->base.mem, 65536);
	(void)cnt_session_start(&t->base, NULL, 0);
	r = t->base.b->channels(t->base.s, &names, &t->base.seen.sink);
	if (r == CENOTE_OK)
		r = t->base.b->listen(t->base.s, &mark, &t->base.seen.sink);
	cnc_buf_finish(&names);
	if (r < 0)
		return r;
	DO(pg_reset(t));
	return r;
}

/* Run one request of each kind, up to the first that fails. */
static int
do_all(struct pg *t)
{
	static const char *const pieces[] = { "1\tone\n", NULL };
	struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .bytes = "value", .len = 5 };
	uint32_t portal;
	int r;

	DO(pg_query(t, "create temp table m (a int, b text); set datestyle = 'sql'"));
	DO(pg_query_with(t, "select $1::text as a, 1 as b", &v, 1));
	DO(pg_autocommit(t, 0));
	DO(pg_query_with(t, "select $1::text as a", &v, 1));
	DO(pg_rollback(t));
	DO(pg_autocommit(t, 1));
	t->base.format = CENOTE_FORMAT_CANONICAL;
	DO(pg_query(t, "select date '2024-02-29' as d, true as t"));
	t->base.format = CENOTE_FORMAT_TEXT;
	DO(pg_prepare(t, 1, "", "select $1::text as a"));
	DO(pg_execute(t, 1, "", 1, &v, 1));
	t->base.batch_rows = 1;
	DO(pg_query(t, "select i from generate_series(1, 3) i"));
	portal = t->base.portal;
	t->base.batch_rows = 0;
	DO(pg_query(t, "do $$ begin raise notice 'n'; end $$"));
	DO(pg_fetch(t, portal, 0));
	t->pieces = pieces;
	DO(pg_query(t, "copy m from stdin"));
	DO(pg_query(t, "copy m to stdout"));
	DO(pg_query(t, "set application_name = 'x'"));
	DO(pg_reset(t));
	r = move(t);
	return r < 0 ? r : listen_on(t);
}

static void
every_lack_of_memory_is_told_and_survived(void **state)
{
	struct cnt_alloc a;
	size_t n = 1;

	do {
		struct pg t;
		int r;

		pg_setup(&t);
		cnt_alloc_init(&a, n++);
		t.base.mem = &a.mem;
		r = pg_login(&t);
		if (r == CENOTE_OK)
			r = do_all(&t);
		assert_true(r == CENOTE_OK || cnt_alloc_has_failed(&a));
		assert_true(
			r == CENOTE_OK || r == CENOTE_ERR_NOMEM || r == CENOTE_ERR_CONN);
		if (r == CENOTE_ERR_NOMEM && t.base.s != NULL) {
			t.base.batch_rows = 0;
			t.base.format = CENOTE_FORMAT_TEXT;
			(void)pg_reset(&t);
			assert_true(t.base.last == CENOTE_OK ||
				    t.base.last == CENOTE_ERR_CONN);
			if (t.base.last == CENOTE_OK)
				assert_answer(&t, "select 1 as a",
					"columns a:INT64\nrow 1\ndone SELECT 1\n");
		}
		pg_teardown(&t);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
	} while (cnt_alloc_has_failed(&a));
	assert_in_range(n, 30, 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_lack_of_memory_is_told_and_survived),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
