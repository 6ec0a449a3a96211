/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings that move with a client (settings.c): what a session gives to its client, and what the next session makes of
 * what a client brings, which may be anything.
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

	take(t, "set work_mem = '7MB'; set app.tenant = 'it''s'; set role app", &carry);
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
		TEST(a_carry_can_be_cut_at_every_byte),
		TEST(a_carry_is_no_sql),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
