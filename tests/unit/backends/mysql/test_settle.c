/* SPDX-License-Identifier: BSD-2-Clause */
/* What pins a session, what settle() finds, and what moves with the client to its next session. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* The length of a carry without settings. */
#define MY_PLAIN_CARRY 9u
/* How many names of locks the backend remembers. */
#define MY_LOCKS       8u

/* Write a carry with one pair. Returns its length. */
static size_t
carry_of(char *out, const char *name, const char *value)
{
	struct cnc_buf b;
	size_t n;

	cnc_buf_init(&b, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&b, name, value));
	n = cnc_buf_len(&b);
	memset(out, 0, MY_PLAIN_CARRY);
	memcpy(out + MY_PLAIN_CARRY, cnc_buf_head(&b), n);
	cnc_buf_finish(&b);
	return MY_PLAIN_CARRY + n;
}

static void
changes_of_the_session_are_told(void **state)
{
	struct my *t = *state;

	assert_contains(my_query(t, "set names latin1"),
		"parameter character_set_client=latin1\n");
	assert_contains(t->base.seen.log, "parameter character_set_results=latin1\n");
	assert_true((my_pins(t) & CENOTE_PIN_SETTINGS) != 0);
	assert_contains(my_query(t, "use app2"), "parameter database=app2\n");
	assert_contains(
		my_query(t, "set time_zone = '+01:00'"), "parameter time_zone=+01:00\n");
}

/* Drivers send such statements when they connect. */
static void
settings_that_are_in_force_pin_nothing(void **state)
{
	/* the login's collation is not that of SET NAMES on MySQL */
	const char *const same[] = {
		cnt_server_is_mysql() ? "set names utf8mb4 collate utf8mb4_general_ci"
				      : "set names utf8mb4",
		"set autocommit = 1", "use app",
		"set sql_mode = @@global.sql_mode, time_zone = @@global.time_zone",
		"set session transaction isolation level repeatable read"
	};
	struct my *t = *state;

	for (size_t i = 0; i < CNT_COUNT(same); i++) {
		assert_contains(my_query(t, same[i]), "done");
		assert_int_equal(my_pins(t), CENOTE_PIN_SETTINGS);
		assert_ok(my_settle(t));
		if (my_pins(t) != 0 || my_carry(t).n != MY_PLAIN_CARRY)
			fail_msg("%s: pins %u, a carry of %zu", same[i],
				(unsigned)my_pins(t), my_carry(t).n);
	}
}

/* What moves, and a question whose answer shows it. */
static const struct {
	const char *sql;
	const char *ask;
	const char *wanted;
	enum cnt_server_kind only; /* 0: both servers */
} movable[] = {
	{ "set names latin1", "select @@character_set_client", "latin1" },
	{ "set names utf8mb4 collate utf8mb4_bin", "select @@collation_connection",
		"utf8mb4_bin" },
	{ "set character set latin1", "select @@character_set_results", "latin1" },
	{ "set character_set_results = null", "select @@character_set_results is null",
		"1" },
	{ "set autocommit = 0", "select @@autocommit", "0" },
	{ "set sql_mode = 'ansi_quotes,no_backslash_escapes'", "select length('\\\\')",
		"2" },
	{ "set sql_mode = ''", "select @@sql_mode", "" },
	{ "set @@session.sql_mode := concat(@@sql_mode, ',ansi')",
		"select @@sql_mode like '%,ANSI%'", "1" },
	{ "set sql_mode = 'oracle'", "select @@sql_mode like '%ORACLE%'", "1",
		CNT_MARIADB },
	{ "set time_zone = '+05:00', session lock_wait_timeout = (select 7)",
		"select concat(@@time_zone, @@lock_wait_timeout)", "+05:007" },
	{ "set session transaction isolation level read committed, read only",
		"select concat(@@tx_isolation, @@tx_read_only + 0)", "READ-COMMITTED1" },
	{ "set local tx_isolation = 'serializable'", "select @@tx_isolation",
		"SERIALIZABLE" },
	{ "set max_statement_time = 2.5", "select @@max_statement_time", "2.500000",
		CNT_MARIADB },
	{ "set max_execution_time = 2500", "select @@max_execution_time", "2500",
		CNT_MYSQL },
	{ "use app2", "select database()", "app2" },
	{ "use `a-\"b`", "select database()", "a-\"b" },
};

static int
is_for_this_server(enum cnt_server_kind only)
{
	return only == 0 || only == (cnt_server_is_mysql() ? CNT_MYSQL : CNT_MARIADB);
}

/* What is made on one session is there on the next, and the first one is free of it. */
static void
settings_move_with_their_client(void **state)
{
	struct my *t = *state, other;
	char kept[1024];
	size_t n;

	assert_int_equal(cnt_server_sql(&my_server, "create database `a-\"b`; grant all "
						    "on `a-\"b`.* to app@localhost"),
		0);
	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	for (size_t i = 0; i < CNT_COUNT(movable); i++) {
		if (!is_for_this_server(movable[i].only))
			continue;
		assert_contains(my_query(t, movable[i].sql), "done");
		assert_ok(my_settle(t));
		if (my_pins(t) != 0)
			fail_msg("%s: pins %u", movable[i].sql, (unsigned)my_pins(t));
		n = my_carry(t).n;
		assert_true(n <= sizeof(kept));
		memcpy(kept, my_carry(t).p, n);
		assert_ok(my_reset(t));
		assert_ok(my_attach(&other, kept, n));
		if (strcmp(my_value(&other, movable[i].ask), movable[i].wanted) != 0)
			fail_msg("%s: %s", movable[i].sql, other.base.seen.log);
		/* it goes on to a third session as it is */
		assert_int_equal(my_carry(&other).n, n);
		assert_int_equal(my_pins(&other), 0);
		assert_memory_equal(my_carry(&other).p + 8, kept + 8, n - 8);
		assert_ok(my_reset(&other));
		if (strcmp(my_value(&other, movable[i].ask), movable[i].wanted) == 0)
			fail_msg("%s is left", movable[i].sql);
		assert_ok(my_reset(&other));
	}
	assert_int_equal(cnt_server_sql(&my_server, "drop database `a-\"b`"), 0);
	my_finish(&other);
}

/* The client's database is dropped while the client has no session. */
static void
settings_that_cannot_be_made_again_are_an_error(void **state)
{
	static const char *const bad[] = { "sql_mode", "x'; drop table t", "sql_mode",
		"a\\", "wait_timeout", "1+1", "global.wait_timeout", "9",
		"max_connections", "5", "database()", "a`b", "database()", "",
		"wait_timeout", "", "no_such_variable", "x" };
	struct my *t = *state;
	char kept[256];
	size_t n;

	assert_int_equal(
		cnt_server_sql(&my_server,
			"create database gone; grant all on gone.* to app@localhost"),
		0);
	(void)my_query(t, "use gone");
	assert_ok(my_settle(t));
	n = my_carry(t).n;
	memcpy(kept, my_carry(t).p, n);
	assert_int_equal(cnt_server_sql(&my_server, "drop database gone"), 0);
	assert_ok(my_reset(t));
	assert_int_equal(my_attach(t, kept, n), CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "08006");
	assert_contains(t->base.diag.message, "Unknown database 'gone'");
	/* the server takes another value than was carried */
	n = carry_of(kept, "lock_wait_timeout", "999999999999");
	assert_ok(my_reset(t));
	assert_int_equal(my_attach(t, kept, n), CENOTE_ERR_SERVER);
	assert_string_equal(t->base.diag.sqlstate, "08006");
	for (size_t i = 0; i < CNT_COUNT(bad); i += 2) {
		n = carry_of(kept, bad[i], bad[i + 1]);
		assert_ok(my_reset(t));
		if (my_attach(t, kept, n) != CENOTE_ERR_PROTOCOL)
			fail_msg("taken: %s = %s", bad[i], bad[i + 1]);
		assert_int_equal(my_attach(t, kept, n - 1), CENOTE_ERR_PROTOCOL);
	}
	assert_ok(my_reset(t));
}

/* While a text may be read in two ways, what it leaves is not known. */
static void
texts_are_read_as_the_client_set_it(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "create or replace function noted(a text) returns int begin "
			  "set @noted = 1; return 1; end");
	assert_ok(my_reset(t));
	(void)my_query(t, "set sql_mode = 'ansi_quotes'");
	assert_string_equal(my_value(t, "select \"noted\"(1)"), "1");
	assert_true(my_pins(t) & CENOTE_PIN_FUNCTION);
	assert_ok(my_reset(t));
	(void)my_query(t, "set sql_mode = 'no_backslash_escapes'");
	assert_contains(my_query(t, "select '\\', noted(1) -- '"), "row \\|1");
	assert_true(my_pins(t) & CENOTE_PIN_FUNCTION);
	assert_ok(my_reset(t));
	(void)my_query(t, "set sql_mode = 'ansi_quotes'");
	(void)my_query(t, "set sql_mode = ''");
	/* only MariaDB's answer tells how the server now reads texts */
	if (cnt_server_is_mysql())
		assert_ok(my_settle(t));
	assert_string_equal(my_value(t, "select 'a\\'(' \"b\""), "a'(b");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	assert_ok(my_reset(t));
	(void)my_query(t, "set names gbk");
	(void)my_query(t, "select '\xbf\\', get_lock('\\'x', 0) -- '");
	assert_true(my_pins(t) & CENOTE_PIN_FUNCTION);
	assert_ok(my_reset(t));
	(void)my_query(t, "drop function noted");
}

/* A statement keeps the meaning that it had when it was prepared. Prepared again after USE, it may have another. */
static void
a_statement_of_other_settings_pins_the_session(void **state)
{
	struct my *t = *state;

	(void)my_prepare(t, 1, "select \"a\"");
	(void)my_query(t, "set autocommit = 1");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	(void)my_query(t, "set sql_mode = 'ansi_quotes'");
	assert_true(my_pins(t) & CENOTE_PIN_PREPARED);
	(void)my_query(t, "set sql_mode = ''");
	assert_true(my_pins(t) & CENOTE_PIN_PREPARED);
	(void)my_close(t, 1);
	(void)my_prepare(t, 2, "select 'a'");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	(void)my_select_database(t, "app2");
	assert_true(my_pins(t) & CENOTE_PIN_PREPARED);
}

/* Libcenote switches autocommit off again by its own request, and not by what is carried. */
static void
autocommit_is_as_the_client_last_set_it(void **state)
{
	struct my *t = *state;

	(void)my_autocommit(t, 0);
	assert_int_equal(my_pins(t), 0);
	(void)my_query(t, "set autocommit = 1");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), CENOTE_PIN_SETTINGS);
	(void)my_query(t, "set autocommit = 0");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	/* the carry has the old value */
	(void)my_autocommit(t, 1);
	assert_int_equal(my_pins(t), CENOTE_PIN_SETTINGS);
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	assert_int_equal(my_carry(t).n, MY_PLAIN_CARRY);
}

/* What a statement began holds the session until another statement has ended it. */
static void
what_has_ended_pins_nothing(void **state)
{
	static const struct {
		const char *begin, *other, *end;
		uint32_t pin;
	} cases[] = {
		{ "prepare p from 'select 1'", "deallocate prepare q",
			"deallocate prepare p", CENOTE_PIN_PREPARED },
		{ "create temporary table tmp3 (a int)", "drop temporary table tmp4",
			"drop temporary table tmp3", CENOTE_PIN_TEMP },
		{ "create temporary table tmp5 (a int)",
			"drop temporary table if exists tmp6",
			"drop temporary table if exists tmp5", CENOTE_PIN_TEMP },
		{ "lock tables end1 read", "unlock tables end1", "unlock tables",
			CENOTE_PIN_LOCK },
		{ "select get_lock('e', 0)", "select release_lock('f')",
			"select release_lock('e')", CENOTE_PIN_LOCK },
		{ "select get_lock('e', 0)", "select get_lock('f', 0)",
			"select release_all_locks()", CENOTE_PIN_LOCK },
		{ "select get_lock(lower('E'), 0)", "select release_lock('e')",
			"select release_all_locks()", CENOTE_PIN_LOCK },
	};
	struct my *t = *state;

	(void)my_query(t, "create or replace table end1 (a int)");
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(my_reset(t));
		(void)my_query(t, cases[i].begin);
		(void)my_query(t, cases[i].other);
		assert_ok(my_settle(t));
		if ((my_pins(t) & ~CENOTE_PIN_FUNCTION) != cases[i].pin)
			fail_msg("%s: pins %u", cases[i].begin, (unsigned)my_pins(t));
		assert_contains(my_query(t, cases[i].end), "done");
		assert_ok(my_settle(t));
		if (my_pins(t) != 0)
			fail_msg("%s: pins %u", cases[i].end, (unsigned)my_pins(t));
	}
	assert_ok(my_reset(t));
	(void)my_query(t, "drop table end1");
}

/* A table that was not there gives a warning, unless the client has switched that off. */
static void
only_tables_that_were_there_count_as_dropped(void **state)
{
	static const struct {
		const char *drop;
		uint32_t pins;
	} cases[] = {
		{ "drop temporary table d1, d2", 0 },
		{ "drop temporary table if exists d1, d2", 0 },
		{ "drop temporary table if exists d1, d3", CENOTE_PIN_TEMP },
		{ "drop temporary table d1, d3", CENOTE_PIN_TEMP },
		{ "drop table if exists d1, d2", CENOTE_PIN_TEMP },
	};
	struct my *t = *state;

	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		(void)my_query(t, "create temporary table d1 (a int)");
		(void)my_query(t, "create temporary table d2 (a int)");
		(void)my_query(t, cases[i].drop);
		assert_ok(my_settle(t));
		if ((my_pins(t) & CENOTE_PIN_TEMP) != cases[i].pins)
			fail_msg("%s: pins %u", cases[i].drop, (unsigned)my_pins(t));
		assert_ok(my_reset(t));
	}
	(void)my_query(t, "set sql_notes = 0");
	(void)my_query(t, "create temporary table d1 (a int)");
	(void)my_query(t, "drop temporary table if exists d3");
	assert_true((my_pins(t) & CENOTE_PIN_TEMP) != 0);
	assert_ok(my_reset(t));
	(void)my_query(t, "set sql_notes = 0");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	(void)my_query(t, "create temporary table d1 (a int)");
	(void)my_query(t, "drop temporary table if exists d3");
	assert_true((my_pins(t) & CENOTE_PIN_TEMP) != 0);
	assert_ok(my_reset(t));
}

/* Count the pins of a session that has asked the server. */
static uint32_t
pins_after(struct my *t, const char *sql)
{
	assert_contains(my_query(t, sql), "done");
	assert_ok(my_settle(t));
	return my_pins(t) & ~(uint32_t)CENOTE_PIN_FUNCTION;
}

/* The server tells of each lock whose name a text has. */
static void
a_lock_pins_as_long_as_it_is_held(void **state)
{
	struct my *t = *state;
	char sql[64];

	assert_int_equal(pins_after(t, "select get_lock('l-1', 0)"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "select get_lock('l-1', 0)"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "do get_lock(\"l-2\", 0)"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "select release_lock('l-2')"), CENOTE_PIN_LOCK);
	/* it was taken twice */
	assert_int_equal(pins_after(t, "select release_lock('l-1')"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "do release_lock('l-1')"), 0);
	assert_int_equal(my_pins(t), 0);
	for (unsigned i = 0; i <= MY_LOCKS; i++) {
		snprintf(sql, sizeof(sql), "select get_lock('many%u', 0)", i);
		assert_int_equal(pins_after(t, sql), CENOTE_PIN_LOCK);
	}
	for (unsigned i = 0; i <= MY_LOCKS; i++) {
		snprintf(sql, sizeof(sql), "select release_lock('many%u')", i);
		assert_int_equal(pins_after(t, sql), CENOTE_PIN_LOCK);
	}
	assert_int_equal(pins_after(t, "select release_all_locks()"), 0);
}

/* With other bytes for the name, the server would not find the lock. */
static void
a_lock_in_a_wide_character_set_is_not_lost(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "set character_set_connection = utf16");
	(void)pins_after(t, "select get_lock('wide', 0)");
	assert_true((pins_after(t, "set names utf8mb4") & CENOTE_PIN_LOCK) != 0);
	assert_ok(my_reset(t));
	(void)my_query(t, "set collation_connection = 'utf16_bin'");
	assert_ok(my_settle(t));
	assert_int_equal(my_pins(t), 0);
	assert_int_equal(pins_after(t, "select get_lock('wide', 0)"), CENOTE_PIN_LOCK);
	assert_true((pins_after(t, "set names utf8mb4") & CENOTE_PIN_LOCK) != 0);
	assert_ok(my_reset(t));
	/* the reset ends that */
	assert_int_equal(pins_after(t, "select get_lock('wide', 0)"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "select release_lock('wide')"), 0);
}

/* For the sake of a view, the backend would release all locks to learn whether there were some. */
static void
a_lock_is_kept_when_a_view_was_used(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "create or replace table locked (a int)");
	(void)my_query(t, "create or replace view locked_v as select a from locked");
	assert_ok(my_reset(t));
	assert_contains(my_query(t, "select get_lock('v', 0)"), "done");
	assert_int_equal(pins_after(t, "select * from locked_v"), CENOTE_PIN_LOCK);
	assert_string_equal(
		my_value(t, "select is_used_lock('v') = connection_id()"), "1");
	assert_int_equal(pins_after(t, "select release_lock('v')"), 0);
	(void)my_query(t, "drop view locked_v");
	(void)my_query(t, "drop table locked");
}

/* A lock that another session has was not taken. */
static void
a_lock_that_was_refused_pins_nothing(void **state)
{
	struct my *t = *state, other;

	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	assert_int_equal(
		pins_after(&other, "select get_lock('mine', 0)"), CENOTE_PIN_LOCK);
	assert_int_equal(pins_after(t, "select get_lock('mine', 0)"), 0);
	assert_int_equal(my_pins(t), 0);
	my_logout(&other);
}

/* A large value, or one that would need quotes, stays. The end of a setting ends its pin. */
static void
settings_that_do_not_move_pin_until_they_end(void **state)
{
	static const char *const pairs[] = { "set sql_select_limit = 0", NULL,
		"set @a = 'x'", "set @a = null", "select @a := 1", "set @a = null",
		"select 1 into @a", "set @a := null", "set last_insert_id = 5", NULL,
		"set timestamp = 5", NULL, "set role none", NULL,
		"set transaction read only", NULL, "set @@tx_read_only = 1", NULL,
		"set session profiling = 0", NULL,
		"set statement max_statement_time = 1 for set names latin1", NULL,
		"set names utf8mb4, session timestamp = default", NULL };
	struct my *t = *state;

	for (size_t i = 0; i < CNT_COUNT(pairs); i += 2) {
		/* MySQL does not tell which user variables are NULL */
		bool ends = pairs[i + 1] && !cnt_server_is_mysql();

		(void)my_query(t, pairs[i]);
		assert_ok(my_settle(t));
		if (my_pins(t) == 0)
			fail_msg("%s pins nothing", pairs[i]);
		if (pairs[i + 1]) {
			(void)my_query(t, pairs[i + 1]);
			assert_ok(my_settle(t));
			assert_int_equal(my_pins(t) == 0, ends);
		}
		assert_ok(my_reset(t));
	}
}

static void
what_a_text_leaves_pins_the_session(void **state)
{
	static const struct {
		const char *sql;
		uint32_t pins;
	} cases[] = {
		{ "select 1", 0 },
		{ "insert into pin1 values (1)", 0 },
		{ "create temporary table tmp2 (a int)", CENOTE_PIN_TEMP },
		{ "set @a = 1", CENOTE_PIN_SETTINGS },
		{ "set sql_mode = 'ANSI'", 0 },
		{ "use app2", 0 },
		{ "select get_lock('x', 0)", CENOTE_PIN_LOCK },
		{ "lock tables pin1 read", CENOTE_PIN_LOCK },
		{ "prepare p from 'select 1'", CENOTE_PIN_PREPARED },
		{ "call pinp()", CENOTE_PIN_FUNCTION },
	};
	struct my *t = *state;
	size_t i;

	(void)my_query(t, "create or replace table pin1 (a int)");
	(void)my_query(t, "create or replace procedure pinp() set @x = 1");
	for (i = 0; i < CNT_COUNT(cases); i++) {
		assert_ok(my_reset(t));
		assert_int_equal(my_pins(t), 0);
		(void)my_query(t, cases[i].sql);
		assert_ok(my_settle(t));
		if ((my_pins(t) & cases[i].pins) != cases[i].pins ||
			(cases[i].pins == 0 && my_pins(t) != 0))
			fail_msg("%s: pins %u", cases[i].sql, (unsigned)my_pins(t));
	}
	assert_ok(my_reset(t));
	(void)my_query(t, "drop procedure pinp");
	(void)my_query(t, "drop table pin1");
}

static void
a_client_that_is_moved_takes_its_insert_id_along(void **state)
{
	struct my *t = *state, other;
	struct cnp_str carry;
	char kept[64];

	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	(void)my_query(
		t, "create or replace table m1 (a int auto_increment primary key)");
	assert_ok(my_reset(t));
	assert_int_equal(my_carry(t).n, 0);
	assert_contains(my_query(t, "insert into m1 values (), ()"), "id=1");
	/* the backend must ask the server for the id before the pool can take the session back */
	assert_int_equal(my_pins(t), CENOTE_PIN_FUNCTION);
	assert_ok(my_settle(t));
	carry = my_carry(t);
	assert_int_equal(my_pins(t), 0);
	assert_true(carry.n > 0 && carry.n < sizeof(kept));
	memcpy(kept, carry.p, carry.n);
	assert_ok(my_attach(&other, kept, carry.n));
	assert_prefix(my_query(&other, "select row_count()"), "error 0A000 ");
	assert_prefix(my_query(&other, "show warnings"), "error 0A000 ");
	assert_prefix(my_query(&other, "select @@last_gtid"), "error 0A000 ");
	assert_string_equal(my_value(&other, "select last_insert_id()"), "1");
	assert_string_equal(my_value(&other, "select row_count()"), "-1");
	/* `errors` and `warnings` as names in the client's own text are no question */
	assert_ok(my_reset(&other));
	assert_ok(my_attach(&other, kept, carry.n));
	assert_string_equal(
		my_value(&other, "select errors from (select 1 as errors) as warnings"),
		"1");
	/* the id in DONE is not last_insert_id() */
	assert_contains(my_query(t, "insert into m1 values (50)"), "id=50");
	assert_ok(my_settle(t));
	assert_string_equal(my_value(t, "select last_insert_id()"), "1");
	assert_ok(my_reset(t));
	assert_string_equal(my_value(t, "select last_insert_id()"), "0");
	assert_int_equal(my_attach(t, "x", 1), CENOTE_ERR_PROTOCOL);
	(void)my_query(t, "drop table m1");
	my_finish(&other);
}

/* Move a client that ran `sql` from session `from` to session `to`. What `asks` asks for stays
 * behind on `from`, so `to` must refuse it and not make up an answer. */
static void
assert_stays_behind(struct my *from, struct my *to, const char *sql, const char *asks)
{
	struct cnp_str carry;
	char kept[64];

	assert_ok(my_reset(from));
	assert_ok(my_attach(from, "", 0));
	(void)my_query(from, sql);
	if (my_pins(from) == CENOTE_PIN_FUNCTION)
		assert_ok(my_settle(from));
	/* a client with pins would not be moved */
	assert_int_equal(my_pins(from), 0);
	carry = my_carry(from);
	assert_true(carry.n > 0 && carry.n < sizeof(kept));
	memcpy(kept, carry.p, carry.n);
	assert_ok(my_reset(to));
	assert_ok(my_attach(to, kept, carry.n));
	assert_prefix(my_query(to, asks), "error 0A000 ");
	assert_prefix(my_query(to, "select 1"), "columns");
}

/* The worker may ask for the role of the server while a client has the session. */
static void
the_question_for_the_role_replaces_the_last_statement(void **state)
{
	struct my *t = *state;
	struct cnd_server_role role;

	assert_ok(my_attach(t, "", 0));
	(void)my_query(t, "select cast('x' as signed)");
	assert_ok(t->base.b->role(t->base.s, &t->base.seen.sink, &role, &t->base.diag));
	assert_int_equal(role.role, CND_ROLE_PRIMARY);
	assert_prefix(my_query(t, "show warnings"), "error 0A000 ");
	(void)my_query(t, "select cast('x' as signed)");
	assert_contains(my_query(t, "show warnings"), "row ");
}

static void
what_no_text_shows_is_not_silently_lost(void **state)
{
	struct my *t = *state, other;
	char kept[64];

	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	(void)my_query(t, "create sequence sq1");
	(void)my_query(t, "create table hid (a int default nextval(sq1), b int)");
	assert_stays_behind(t, &other, "insert into hid (b) values (1)",
		"select previous value for sq1");
	assert_stays_behind(
		t, &other, "insert into hid (b) values (1)", "select lastval(sq1)");
	assert_stays_behind(t, &other, "select nosuch", "show warnings");
	assert_stays_behind(
		t, &other, "select * from nosuch", "get diagnostics @n = number");
	/* a client that used no table leaves nothing behind */
	assert_ok(my_reset(t));
	assert_ok(my_attach(t, "", 0));
	assert_string_equal(my_value(t, "select 1"), "1");
	memcpy(kept, my_carry(t).p, my_carry(t).n);
	assert_ok(my_reset(&other));
	assert_ok(my_attach(&other, kept, my_carry(t).n));
	assert_string_equal(my_value(&other, "select lastval(sq1)"), "NULL");
	/* a client that uses the sequence on its new session may read lastval() there */
	(void)my_query(&other, "insert into hid (b) values (1)");
	assert_string_equal(my_value(&other, "select lastval(sq1) > 0"), "1");
	assert_ok(my_reset(&other));
	assert_string_equal(my_value(&other, "select lastval(sq1)"), "NULL");
	assert_ok(my_reset(t));
	(void)my_query(t, "drop table hid; drop sequence sq1");
	my_finish(&other);
}

/* The pins after settle() of a session whose client has run only `sql`. */
static uint32_t
pins_behind(struct my *t, const char *sql)
{
	assert_ok(my_reset(t));
	/* the client comes from another session, so the backend itself runs a SET */
	assert_ok(my_attach(t, "\0\0\0\0\0\0\0\5\1", 9));
	assert_prefix(
		my_query(t, sql), strncmp(sql, "select", 6) == 0 ? "columns" : "done");
	assert_int_equal(my_pins(t), CENOTE_PIN_FUNCTION);
	assert_ok(my_settle(t));
	return my_pins(t);
}

/* MySQL counts SET statements, but no temporary tables. Column defaults cannot set variables there. */
static bool
is_seen(const char *sql)
{
	return !cnt_server_is_mysql() ||
	       (!strstr(sql, "hid_temp") && !strstr(sql, "hid_default"));
}

static void
hidden_code_holds_the_session_if_it_left_something(void **state)
{
	static const char *const leaves[] = { "insert into hid_variable values (1)",
		"insert into hid_default (a) values (1)", "select * from hid_temp",
		"select * from hid_set", "update hid_variable set a = 2" };
	static const char *const clean[] = { "select * from hid_base",
		"insert into hid_base values (1)", "delete from hid_base",
		"select * from hid_view", "insert into hid_trigger values (1)",
		"select count(*) from information_schema.views" };
	static const char hid_default[] =
		"create or replace table hid_default (a int, b int default (@b := 5))";
	struct my *t = *state;

	(void)my_query(t, "create table hid_base (a int); "
			  "create table hid_variable (a int); "
			  "create table hid_trigger (a int)");
	(void)my_query(t, hid_default);
	(void)my_query(t,
		"create trigger hid1 before insert on hid_variable for each row "
		"set @hidden = 'yes'");
	(void)my_query(t,
		"create trigger hid2 before update on hid_variable for each row "
		"set @hidden = 'yes'");
	(void)my_query(t, "create trigger hid3 before insert on hid_trigger for each row "
			  "set new.a = new.a + 1");
	(void)my_query(t, "create function hid_temps() returns int begin "
			  "create or replace temporary table hid_tmp (a int); return 1; "
			  "end");
	(void)my_query(t, "create function hid_sets() returns int begin "
			  "set role none; return 1; end");
	(void)my_query(t, "create view hid_temp as select hid_temps() as a; "
			  "create view hid_set as select hid_sets() as a; "
			  "create view hid_view as select upper(a) as a from hid_base");
	for (size_t i = 0; i < CNT_COUNT(clean); i++) {
		if (pins_behind(t, clean[i]) != 0)
			fail_msg("%s holds the session", clean[i]);
	}
	assert_int_equal(pins_behind(t, "insert into hid_variable values (0)"),
		CENOTE_PIN_FUNCTION);
	assert_string_equal(my_value(t, "select @hidden"), "yes");
	for (size_t i = 0; i < CNT_COUNT(leaves); i++) {
		if (is_seen(leaves[i]))
			assert_int_equal(pins_behind(t, leaves[i]), CENOTE_PIN_FUNCTION);
	}
	/* MariaDB 10.11.18 crashes when a second session uses such a default. */
	(void)my_query(t, hid_default);
	/* with queries=pure the administrator says that hidden code leaves nothing */
	my_option(t, "queries", "pure");
	my_logout(t);
	assert_ok(my_login(t));
	for (size_t i = 0; i < CNT_COUNT(leaves); i++) {
		if (!is_seen(leaves[i]))
			continue;
		(void)my_query(t, leaves[i]);
		assert_int_equal(my_pins(t), 0);
	}
	(void)my_query(t, "drop view hid_temp, hid_set, hid_view; "
			  "drop function hid_temps; drop function hid_sets; "
			  "drop table hid_base, hid_variable, hid_trigger, hid_default");
}

/* The backend finds code that takes a lock by its text. If the user may not see the text, the
 * client learns that the lock is lost. */
static void
a_lock_that_no_text_shows_is_not_silently_lost(void **state)
{
	struct my *t = *state, other;

	assert_int_equal(
		cnt_server_sql(&my_server,
			"create database locks; "
			"create view locks.hid as select get_lock('hid', 0) as a; "
			"create view locks.outer_hid as select a from locks.hid; "
			"create sql security definer view app.hid_outer as "
			"select a from locks.hid; "
			"create table app.hid_locks (a int); "
			"create trigger app.hid4 before insert on app.hid_locks "
			"for each row set new.a = get_lock('hid', 0)"),
		0);
	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	(void)t;
	assert_int_equal(pins_behind(&other, "insert into hid_locks values (1)"),
		CENOTE_PIN_FUNCTION);
	assert_string_equal(
		my_value(&other, "select is_used_lock('hid') = connection_id()"), "1");
	my_finish(&other);
	assert_int_equal(cnt_server_sql(&my_server, "drop table app.hid_locks"), 0);
	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	assert_prefix(my_query(&other, "select * from hid_outer"), "columns");
	assert_int_equal(my_settle(&other), CENOTE_ERR_CONN);
	assert_string_equal(other.base.diag.sqlstate, "08006");
	my_finish(&other);
	assert_int_equal(cnt_server_sql(&my_server,
				 "drop view app.hid_outer; drop database locks"),
		0);
}

/* With sql_mode=ORACLE, `name.nextval` uses a sequence. In other modes it is a column. */
static void
a_sequence_of_oracles_kind_pins_the_session(void **state)
{
	struct my *t = *state, other;

	(void)my_query(t, "create sequence sq2");
	assert_int_equal(cnt_server_sql(&my_server, "set global sql_mode = 'oracle'"), 0);
	my_init(&other);
	my_app(&other);
	assert_ok(my_login(&other));
	assert_string_equal(my_value(&other, "select sq2.nextval"), "1");
	assert_int_equal(my_pins(&other), CENOTE_PIN_SETTINGS);
	assert_string_equal(my_value(&other, "select sq2.currval"), "1");
	my_finish(&other);
	assert_int_equal(cnt_server_sql(&my_server, "set global sql_mode = default"), 0);
	(void)my_query(t, "drop sequence sq2");
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_client_that_is_moved_takes_its_insert_id_along),
		T(the_question_for_the_role_replaces_the_last_statement),
		T(what_no_text_shows_is_not_silently_lost),
		T(hidden_code_holds_the_session_if_it_left_something),
		T(a_lock_that_no_text_shows_is_not_silently_lost),
		T(a_sequence_of_oracles_kind_pins_the_session),
		T(changes_of_the_session_are_told),
		T(settings_that_are_in_force_pin_nothing),
		T(settings_move_with_their_client),
		T(settings_that_cannot_be_made_again_are_an_error),
		T(texts_are_read_as_the_client_set_it),
		T(a_statement_of_other_settings_pins_the_session),
		T(autocommit_is_as_the_client_last_set_it),
		T(settings_that_do_not_move_pin_until_they_end),
		T(what_a_text_leaves_pins_the_session),
		T(what_has_ended_pins_nothing),
		T(only_tables_that_were_there_count_as_dropped),
		T(a_lock_pins_as_long_as_it_is_held),
		T(a_lock_in_a_wide_character_set_is_not_lost),
		T(a_lock_is_kept_when_a_view_was_used),
		T(a_lock_that_was_refused_pins_nothing),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_settle", 0);
}
