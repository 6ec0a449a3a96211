/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings and the statements prepared by SQL that move with a client (settings.c): what a session gives to its client,
 * and what the next session makes of what a client brings, which may be anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define CARRY_MAX 8192u

struct carry {
	char bytes[CARRY_MAX];
	size_t n;
};

static struct cnd_state
state_of(struct pg *t)
{
	struct cnd_state state;

	t->base.b->state(t->base.s, &state);
	return state;
}

/* Run a text, and take what the client gets. The client must hold nothing then. */
static void
take(struct pg *t, const char *sql, struct carry *ret_carry)
{
	struct cnd_state state;

	(void)pg_query(t, sql);
	assert_ok(t->base.last);
	assert_ok(pg_settle(t));
	state = state_of(t);
	assert_int_equal(state.pins, 0);
	assert_true(state.carry.n <= CARRY_MAX);
	ret_carry->n = state.carry.n;
	if (state.carry.n > 0)
		memcpy(ret_carry->bytes, state.carry.p, state.carry.n);
}

static int
bring(struct pg *t, const char *bytes, size_t n)
{
	const struct cnp_str carry = { bytes, n };
	int r = t->base.b->attach(t->base.s, &carry, &t->base.diag);

	if (r == CENOTE_OK)
		r = t->base.b->options_are_set(t->base.s, &t->base.diag);
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

static void
shows(struct pg *t, const char *sql, const char *value)
{
	char row[256];

	snprintf(row, sizeof(row), "row %s\n", value);
	if (strstr(pg_query(t, sql), row) == NULL)
		fail_msg("%s: not %s: %s", sql, value, t->base.seen.log);
}

static void
what_one_session_gives_another_takes(void **state)
{
	static const char hard[] = "it's a \\\\ \"b\"; -- \\n $$ x";
	struct pg *t = *state;
	struct carry carry;
	char sql[512];

	snprintf(sql, sizeof(sql),
		"set work_mem = '7MB'; set app.tenant = $q$%s$q$; set role app;"
		" set standard_conforming_strings = off; set app.empty = ''",
		hard);
	take(t, sql, &carry);
	assert_string_equal(pg_reset(t), "");
	shows(t, "show work_mem", "4MB");
	assert_ok(bring(t, carry.bytes, carry.n));
	shows(t, "show work_mem", "7MB");
	shows(t, "select current_setting('app.tenant')", hard);
	shows(t, "select 'x' || current_setting('app.empty')", "x");
	shows(t, "show role", "app");
	shows(t, "show standard_conforming_strings", "off");
	/* the client has it already, and goes on with it */
	assert_int_equal(state_of(t).carry.n, carry.n);
	assert_memory_equal(state_of(t).carry.p, carry.bytes, carry.n);
	assert_string_equal(pg_reset(t), "");
	shows(t, "show role", "none");
	shows(t, "select current_setting('app.tenant', true)", "");
}

static void
what_is_undone_is_not_given(void **state)
{
	static const char *const undone[] = { "set work_mem = '7MB'; reset work_mem",
		"begin; set work_mem = '7MB'; rollback", "set work_mem = '4MB'",
		"set local work_mem = '7MB'" };
	struct pg *t = *state;
	struct carry carry;

	for (size_t i = 0; i < sizeof(undone) / sizeof(undone[0]); i++) {
		take(t, undone[i], &carry);
		assert_true(carry.n <= 1);
		assert_string_equal(pg_reset(t), "");
	}
}

/* What is too long, and what has the marks of the carry in it, keeps its session. */
static void
what_cannot_move_stays(void **state)
{
	static const char *const staying[] = {
		"select set_config('app.long', repeat('x', 4100), false)",
		"select set_config('app.mark', 'a' || chr(1) || 'b', false)",
		"select set_config('app.mark', 'a' || chr(2) || 'b', false)",
	};
	struct pg *t = *state;

	for (size_t i = 0; i < sizeof(staying) / sizeof(staying[0]); i++) {
		(void)pg_query(t, staying[i]);
		assert_ok(t->base.last);
		assert_ok(pg_settle(t));
		assert_int_equal(state_of(t).pins, CENOTE_PIN_SETTINGS);
		(void)pg_query(t, "reset all");
		assert_ok(pg_settle(t));
		assert_int_equal(state_of(t).pins, 0);
		assert_string_equal(pg_reset(t), "");
	}
}

/* ---- statements prepared by SQL ---- */

static void
ask(struct pg *t, const char *sql)
{
	(void)pg_query(t, sql);
	assert_ok(t->base.last);
}

static void
statements_move(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "set standard_conforming_strings = off");
	ask(t, "prepare \"a b\" (text) as select $1 || '\\'' from /* q */ pg_class limit "
	       "1;");
	ask(t, "prepare transaction as select 7");
	take(t, "select 1", &carry);
	assert_string_equal(pg_reset(t), "");
	shows(t, "select count(*) from pg_prepared_statements", "0");
	assert_string_equal(pg_reset(t), "");
	assert_ok(bring(t, carry.bytes, carry.n));
	/* the server has confirmed them, and need not be asked */
	assert_int_equal(state_of(t).pins, 0);
	shows(t, "execute \"a b\" ('x')", "x'");
	shows(t, "execute transaction", "7");
	shows(t,
		"select string_agg(name, ',' order by name) from pg_prepared_statements"
		" where from_sql",
		"a b,transaction");
	/* it moves on, with one more */
	ask(t, "prepare c as select 8");
	take(t, "select 1", &carry);
	assert_string_equal(pg_reset(t), "");
	assert_ok(bring(t, carry.bytes, carry.n));
	shows(t, "execute transaction", "7");
	shows(t, "execute c", "8");
	assert_string_equal(pg_reset(t), "");
	shows(t, "select count(*) from pg_prepared_statements", "0");
}

/* The next session gets the settings before the statement. */
static void
a_statement_means_what_it_meant(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "create schema one; create view one.v as select 'one'::text as a;"
	       " create view public.v as select 'public'::text as a;"
	       " grant usage on schema one to app; grant select on one.v to app");
	assert_string_equal(pg_reset(t), "");
	ask(t, "set search_path = one");
	ask(t, "set role app");
	ask(t, "prepare q as select a from v");
	take(t, "set work_mem = '7MB'", &carry);
	assert_string_equal(pg_reset(t), "");
	assert_ok(bring(t, carry.bytes, carry.n));
	shows(t, "execute q", "one");
	assert_string_equal(pg_reset(t), "");
	ask(t, "drop schema one cascade; drop view public.v");
	assert_string_equal(pg_reset(t), "");
}

static void
what_has_ended_does_not_move(void **state)
{
	static const char *const ends[] = { "deallocate a", "deallocate all",
		"discard all", "do $$ begin execute 'deallocate a'; end $$" };
	struct pg *t = *state;
	struct carry carry;

	for (size_t i = 0; i <= sizeof(ends) / sizeof(ends[0]); i++) {
		ask(t, "prepare a as select 1");
		take(t, "select 1", &carry);
		assert_string_equal(pg_reset(t), "");
		assert_ok(bring(t, carry.bytes, carry.n));
		if (i < 4)
			ask(t, ends[i]);
		else
			(void)pg_close(t, 0, "a", CNP_NAMED_STATEMENT);
		assert_int_not_equal(state_of(t).pins, 0);
		assert_ok(pg_settle(t));
		if (i != 3) {
			assert_int_equal(state_of(t).pins, 0);
			assert_int_equal(state_of(t).carry.n, 1);
		}
		assert_string_equal(pg_reset(t), "");
	}
}

/* The session is held for a statement, until it has ended. */
static void
is_held(struct pg *t, const char *sql)
{
	assert_ok(pg_settle(t));
	if ((state_of(t).pins & CENOTE_PIN_PREPARED) == 0)
		fail_msg("%s: moves", sql);
	ask(t, "deallocate all; drop table if exists pg_temp.mine; reset all");
	assert_ok(pg_settle(t));
	if (state_of(t).pins != 0)
		fail_msg("%s: held after its end", sql);
	assert_string_equal(pg_reset(t), "");
}

static void
what_may_mean_something_else_holds(void **state)
{
#define TEXTS_MAX 4
	static const char *const texts[][TEXTS_MAX] = {
		{ "begin", "set local search_path = public", "prepare a as select 1",
			"commit" },
		{ "begin", "prepare a as select 1", "set search_path = public",
			"rollback" },
		{ "set search_path = public", "prepare a as select 1", "reset all" },
		{ "create temp table mine (a int)", "prepare a as select * from mine" },
		{ "prepare a as select 1; select 2" },
		{ "prepare a as select set_config('app.x', '1', false)" },
		{ "prepare a as select set_config('timezone', 'UTC', true)" },
		{ "prepare a as select 1", "select set_path()" },
		{ "select prepares()" },
		{ "prepare b as select 1", "select prepares()" },
		{ "prepare a as select '\1'" },
		{ "prepare a as select '\2'" },
	};
	struct pg *t = *state;
	char text[5000];

	ask(t, "create function prepares() returns void language plpgsql as $$ begin"
	       " execute 'prepare a as select 1'; end $$;"
	       " create function set_path() returns text language sql as"
	       " $$ select set_config('search_path', 'public', false) $$");
	assert_string_equal(pg_reset(t), "");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t j = 0; j < TEXTS_MAX && texts[i][j] != NULL; j++)
			ask(t, texts[i][j]);
		is_held(t, texts[i][0]);
	}
	snprintf(text, sizeof(text), "prepare a as select '%04090d'", 0);
	ask(t, text);
	is_held(t, "a long text");
	/* two that are too long together */
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "prepare a%d as select '%02000d'", i, 0);
		ask(t, text);
	}
	is_held(t, "two long texts");
	ask(t, "drop function prepares(); drop function set_path()");
	assert_string_equal(pg_reset(t), "");
}

/* None of these texts changes what the statement means. */
static void
what_means_the_same_moves(void **state)
{
	static const char *const texts[] = { "reset work_mem", "set work_mem = '7MB'",
		"begin; set local work_mem = '7MB'; commit",
		"set application_name = 'mine'" };
	struct pg *t = *state;
	struct carry carry;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ask(t, "prepare a as select 7");
		take(t, "select 1", &carry);
		take(t, texts[i], &carry);
		assert_string_equal(pg_reset(t), "");
		assert_ok(bring(t, carry.bytes, carry.n));
		shows(t, "execute a", "7");
		assert_string_equal(pg_reset(t), "");
	}
}

/* The bound counts the bytes that the client gets. In the server's encoding, these would be too many. */
static void
the_text_is_in_the_encoding_of_the_client(void **state)
{
	struct pg *t = *state;
	const struct cnd_backend *b = t->base.b;
	struct cnp_str bytes;
	struct carry carry;
	char text[3000] = "prepare a as select '";
	size_t n = strlen(text);

	memset(text + n, 0xe9, 2500);
	memcpy(text + n + 2500, "'", 2);
	assert_ok(b->set_option(t->base.s, "client_encoding", "LATIN1", &t->base.diag));
	ask(t, text);
	take(t, "select 1", &carry);
	assert_string_equal(pg_reset(t), "");
	bytes = (struct cnp_str){ carry.bytes, carry.n };
	assert_ok(b->attach(t->base.s, &bytes, &t->base.diag));
	(void)b->set_option(t->base.s, "client_encoding", "LATIN1", &t->base.diag);
	assert_ok(b->options_are_set(t->base.s, &t->base.diag));
	memcpy(text, "execute a", 10);
	if (strstr(pg_query(t, text), "\xe9\xe9") == NULL)
		fail_msg("%s", t->base.seen.log);
	assert_string_equal(pg_reset(t), "");
	assert_ok(b->attach(t->base.s, &CNP_STR_NONE, &t->base.diag));
	assert_ok(b->options_are_set(t->base.s, &t->base.diag));
}

/* A statement that cannot move does not keep the others once it has ended. */
static void
each_statement_holds_for_itself(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "prepare before as select 1");
	ask(t, "set search_path = public");
	ask(t, "prepare behind as select 2");
	assert_ok(pg_settle(t));
	assert_int_equal(state_of(t).pins, CENOTE_PIN_PREPARED);
	take(t, "deallocate before", &carry);
	assert_string_equal(pg_reset(t), "");
	assert_ok(bring(t, carry.bytes, carry.n));
	shows(t, "execute behind", "2");
	shows(t, "select count(*) from pg_prepared_statements", "1");
	assert_string_equal(pg_reset(t), "");
}

/* The server cannot give the statement's text in this encoding. */
static void
a_text_that_the_encoding_lacks_holds(void **state)
{
	struct pg *t = *state;

	ask(t, "prepare a as select '\xe2\x82\xac'");
	ask(t, "set client_encoding = latin1");
	assert_ok(pg_settle(t));
	assert_int_equal(state_of(t).pins, CENOTE_PIN_SETTINGS | CENOTE_PIN_PREPARED);
	ask(t, "reset client_encoding");
	assert_ok(pg_settle(t));
	assert_int_equal(state_of(t).pins, 0);
	assert_string_equal(pg_reset(t), "");
}

/* Prepare and end n other statements: the same one again and again, or another one each time. */
static void
use_others(struct pg *t, int n, int is_same, int settles)
{
	char sql[64];

	for (int i = 0; i < n; i++) {
		snprintf(sql, sizeof(sql), "prepare other as select %d", is_same ? 0 : i);
		ask(t, sql);
		ask(t, "deallocate other");
		if (settles)
			assert_ok(pg_settle(t));
	}
}

/* The pool remembers some of the client's texts. */
static void
what_has_ended_is_forgotten(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "prepare a as select 7");
	use_others(t, 100, 1, 0);
	use_others(t, 100, 0, 1);
	take(t, "select 1", &carry);
	assert_string_equal(pg_reset(t), "");
	assert_ok(bring(t, carry.bytes, carry.n));
	shows(t, "execute a", "7");
	/* too many at once */
	use_others(t, 100, 0, 0);
	assert_ok(pg_settle(t));
	assert_int_equal(state_of(t).pins, CENOTE_PIN_PREPARED);
	assert_string_equal(pg_reset(t), "");
}

static void
what_cannot_be_prepared_again_is_a_lost_connection(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "create table gone (a int)");
	ask(t, "prepare a as select * from gone");
	take(t, "select 1", &carry);
	assert_string_equal(pg_reset(t), "");
	ask(t, "drop table gone");
	assert_string_equal(pg_reset(t), "");
	assert_int_equal(bring(t, carry.bytes, carry.n), CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "08006");
	if (strstr(t->base.diag.message, "cannot be prepared again") == NULL)
		fail_msg("%s", t->base.diag.message);
	assert_string_equal(pg_reset(t), "");
	shows(t, "select count(*) from pg_prepared_statements", "0");
}

/* ---- what a client may bring ---- */

/* Each may be refused or taken. The session goes on, and nothing of it is left for the next client. */
static void
try_to_bring(struct pg *t, const char *bytes, size_t n)
{
	int r = bring(t, bytes, n);

	if (r != CENOTE_OK && r != CENOTE_ERR_SERVER)
		fail_msg("%zu bytes: %d", n, r);
	if (r != CENOTE_OK)
		assert_string_not_equal(t->base.diag.message, "");
	assert_string_equal(pg_reset(t), "");
	assert_false(t->has_relogged);
	shows(t, "select current_setting('work_mem') || current_setting('role')",
		"4MBnone");
	assert_string_equal(pg_reset(t), "");
}

static void
a_carry_can_be_cut_at_every_byte(void **state)
{
	struct pg *t = *state;
	struct carry carry;

	ask(t, "set work_mem = '7MB'; set app.tenant = 'it''s'; set role app");
	ask(t, "prepare a as select 1");
	take(t, "prepare b as select 'two'", &carry);
	assert_string_equal(pg_reset(t), "");
	for (size_t n = 0; n < carry.n; n++)
		try_to_bring(t, carry.bytes, n);
	for (size_t i = 0; i < carry.n; i++) {
		char byte = carry.bytes[i];

		carry.bytes[i] = (char)(byte ^ 0x20);
		try_to_bring(t, carry.bytes, carry.n);
		carry.bytes[i] = byte;
	}
}

static void
a_carry_is_no_sql(void **state)
{
#define CARRY(text)                                                                      \
	{                                                                                \
		"\0" text, sizeof("\0" text) - 1                                         \
	}
	static const struct cnp_str hostile[] = {
		CARRY("work_mem\1' , false); create table hostile (a int); --"),
		CARRY("work_mem\1\\', false); create table hostile (a int); --"),
		CARRY("x'); create table hostile (a int); --\1a"),
		CARRY("app.x\1a\2"),
		CARRY("\1\1\1"),
		CARRY("\2\2\2"),
		CARRY("app.x\1\\x00\\"),
		CARRY("app.x\1\xff\xfe"),
		CARRY("role\1postgres"),
		CARRY("session_authorization\1postgres"),
		CARRY("nonsense\1a"),
		CARRY("app.x\1a\0b"),
		CARRY("\1create table hostile (a int)"),
		CARRY("\1prepare a as select 1; create table hostile (a int)"),
		CARRY("\1prepare a as select 1\2\1create table hostile (a int)"),
		CARRY("\1prepare transaction 'x'"),
		CARRY("\1prepare a as select pg_advisory_lock(42)"),
		CARRY("\1prepare a as select 1\2\1prepare a as select 2"),
		CARRY("\1prepare a as nonsense\2work_mem\1"
		      "7MB"),
		CARRY("\1"),
		/* the server would read the text by other rules than the pool does */
		CARRY("standard_conforming_strings\1no\2\1prepare a as select '\\'', "
		      "pg_replication_origin_session_setup(''x'') --'"),
		{ "\2work_mem\1"
		  "7MB",
			13 },
		{ "\x80", 1 },
	};
	struct pg *t = *state;
	char *large = malloc(CARRY_MAX);

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		try_to_bring(t, hostile[i].p, hostile[i].n);
	assert_non_null(large);
	memset(large, 'x', CARRY_MAX);
	large[0] = '\0';
	large[9] = '\1';
	try_to_bring(t, large, CARRY_MAX);
	free(large);
	shows(t, "select count(*) from pg_class where relname = 'hostile'", "0");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, pg_test_setup, pg_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_one_session_gives_another_takes),
		TEST(what_is_undone_is_not_given),
		TEST(what_cannot_move_stays),
		TEST(statements_move),
		TEST(a_statement_means_what_it_meant),
		TEST(what_has_ended_does_not_move),
		TEST(what_may_mean_something_else_holds),
		TEST(each_statement_holds_for_itself),
		TEST(what_means_the_same_moves),
		TEST(the_text_is_in_the_encoding_of_the_client),
		TEST(a_text_that_the_encoding_lacks_holds),
		TEST(what_has_ended_is_forgotten),
		TEST(what_cannot_be_prepared_again_is_a_lost_connection),
		TEST(a_carry_can_be_cut_at_every_byte),
		TEST(a_carry_is_no_sql),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
