/* SPDX-License-Identifier: BSD-2-Clause */
/* LISTEN for clients that have no session: what the backend says of channels, and how it changes them. It needs PostgreSQL. */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "harness.h"

static struct cnp_str
names(const char *list)
{
	size_t n = 0;

	/* the list ends with an empty name */
	while (list[n] != '\0')
		n += strlen(list + n) + 1;
	return (struct cnp_str){ list, n };
}

/* "a,b" in any order of the server; the status if it is negative. */
static int
channels(struct pg *t, char *ret_text, size_t size)
{
	struct cnc_buf b;
	const char *p;
	size_t used = 0;
	int r;

	cnc_buf_init(&b, &cnc_mem_default, 65536);
	(void)cnt_session_start(&t->base, NULL, 0);
	r = t->base.b->channels(t->base.s, &b, &t->base.seen.sink);
	p = (const char *)cnc_buf_head(&b);
	ret_text[0] = '\0';
	for (size_t at = 0; r == CENOTE_OK && at < cnc_buf_len(&b);
		at += strlen(p + at) + 1)
		used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
			used > 0 ? "," : "", p + at);
	cnc_buf_finish(&b);
	return r;
}

static void
expect_channels(struct pg *t, const char *wanted)
{
	char text[256];

	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_OK);
	assert_string_equal(text, wanted);
}

static int
listen(struct pg *t, const char *drop, const char *add, const char *mark)
{
	const struct cnd_channels what = { .drop = names(drop),
		.add = names(add),
		.channel = mark != NULL ? "marks" : NULL,
		.mark = mark };

	(void)cnt_session_start(&t->base, NULL, 0);
	return t->base.b->listen(t->base.s, &what, &t->base.seen.sink);
}

static void
channels_are_those_of_the_server(void **state)
{
	struct pg *t = *state;

	expect_channels(t, "");
	(void)pg_query(t, "listen news");
	expect_channels(t, "news");
	(void)pg_query(t, "do $$ begin execute 'listen \"It''s, \"\"b\"\"\"'; end $$");
	(void)pg_query(t, "unlisten news");
	expect_channels(t, "It's, \"b\"");
	(void)pg_query(t, "unlisten *");
	expect_channels(t, "");
}

static void
what_another_session_might_hear_differently_is_refused(void **state)
{
	struct pg *t = *state;
	char text[256];

	(void)pg_query(t, "listen \"n\xc3\xa4ws\"");
	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_ERR_UNSUPPORTED);
	(void)pg_query(t, "unlisten *");
	(void)pg_query(t, "listen \"a\x01z\"");
	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_ERR_UNSUPPORTED);
	(void)pg_query(t, "unlisten *");
	(void)pg_query(t,
		"do $$ begin for i in 1..100 loop execute 'listen ' || repeat('x', "
		"50) || i; end loop; end $$");
	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_ERR_UNSUPPORTED);
	(void)pg_query(t, "unlisten *");
	(void)pg_query(t, "set client_encoding = 'LATIN1'");
	(void)pg_query(t, "listen news");
	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_ERR_UNSUPPORTED);
	(void)pg_query(t, "reset client_encoding");
	expect_channels(t, "news");
	/* not in the middle of a transaction */
	(void)pg_query(t, "begin");
	assert_int_equal(channels(t, text, sizeof(text)), CENOTE_ERR_UNSUPPORTED);
	assert_int_equal(listen(t, "", "a\0", NULL), CENOTE_ERR_UNSUPPORTED);
	(void)pg_query(t, "rollback");
}

static void
a_change_is_whole_and_its_mark_comes_with_it(void **state)
{
	struct pg *t = *state;
	char name[80];

	assert_int_equal(listen(t, "", "marks\0It's, \"b\"\0", "7"), CENOTE_OK);
	assert_string_equal(t->base.seen.log, "notification marks 7\n");
	expect_channels(t, "marks,It's, \"b\"");
	assert_string_equal(pg_state(t), "idle pins=8");
	assert_int_equal(listen(t, "marks\0", "c\0", NULL), CENOTE_OK);
	assert_string_equal(t->base.seen.log, "");
	expect_channels(t, "It's, \"b\",c");
	/* nothing to do needs no server */
	assert_int_equal(listen(t, "", "", NULL), CENOTE_OK);
	/* the server would cut such a name, and listen on another channel */
	memset(name, 'x', sizeof(name));
	name[70] = name[71] = '\0';
	assert_int_equal(listen(t, "c\0", name, NULL), CENOTE_ERR_UNSUPPORTED);
	expect_channels(t, "It's, \"b\",c");
	(void)pg_reset(t);
	expect_channels(t, "");
	assert_string_equal(pg_state(t), "idle pins=0");
}

static void
the_first_change_undoes_what_a_client_has_set(void **state)
{
	const struct cnd_channels what = { .is_first = true, .add = { "d", 2 } };
	struct pg *t = *state;

	(void)pg_query(t, "listen kept");
	(void)pg_query(t, "set statement_timeout = '1min'");
	(void)pg_query(t, "prepare q as select 1");
	(void)cnt_session_start(&t->base, NULL, 0);
	assert_int_equal(
		t->base.b->listen(t->base.s, &what, &t->base.seen.sink), CENOTE_OK);
	assert_non_null(strstr(pg_query(t, "show statement_timeout"), "row 0\n"));
	assert_non_null(strstr(pg_query(t, "execute q"), "error 26000"));
	expect_channels(t, "kept,d");
	(void)pg_reset(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pg_test_setup, pg_test_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(channels_are_those_of_the_server),
		TEST(what_another_session_might_hear_differently_is_refused),
		TEST(a_change_is_whole_and_its_mark_comes_with_it),
		TEST(the_first_change_undoes_what_a_client_has_set),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
