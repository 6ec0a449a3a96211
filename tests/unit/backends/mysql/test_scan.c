/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a MySQL statement may leave in its session, found without running it. It needs no
 * server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/sql.h"
#include "tools/cenoted/backends/mysql/my.h"

#define SETTINGS  CENOTE_PIN_SETTINGS
#define FUNCTION  CENOTE_PIN_FUNCTION
#define OPAQUE    CND_MY_NOTE_OPAQUE
#define SEVERAL   CND_MY_NOTE_SEVERAL
#define CHARSET   CND_MY_NOTE_CHARSET
#define LOGIN     CND_MY_NOTE_LOGIN
#define SETS      CND_MY_NOTE_SETS
#define MEANING   (CND_MY_NOTE_SETS | CND_MY_NOTE_MEANING)
#define VARIABLES CND_MY_NOTE_VARIABLES
#define ASKS      CND_MY_NOTE_ASKS
#define RECALLS   CND_MY_NOTE_RECALLS
#define NUMBER    CND_MY_NOTE_RECALLS_NUMBER
#define ID        CND_MY_NOTE_ID
#define SILENT_ID CND_MY_NOTE_SILENT_ID
#define VERB      (CND_MY_NOTE_OPAQUE | CND_MY_NOTE_OPAQUE_VERB)
#define DARK      (CND_MY_NOTE_OPAQUE | CND_MY_NOTE_UNSURE)

struct scan_case {
	const char *sql;
	uint32_t pins;
	uint32_t notes;
};

static const struct scan_case cases[] = {
	/* Statements that only read and write leave nothing. */
	{ "select 1", 0, 0 },
	{ "SELECT a, b FROM t WHERE c IN (1, 2) AND (d = 'x(' OR e)", 0, 0 },
	{ "(select 1) union (select 2)", 0, 0 },
	{ "select count(*), concat('a', upper(b)) from t group by (c)", 0, 0 },
	{ "select @@version, @@session.sql_mode", 0, 0 },
	{ "select cast(a as char (5)) from t where match (a) against ('x')", 0, 0 },
	{ "select sum(a) over (partition by (b)) from t", 0, 0 },
	{ "insert into t (a, b) values (1, now())", 0, ID },
	{ "insert into db.t(a) select max(b) from u", 0, ID },
	{ "insert `t`(a) values (1) on duplicate key update a = values(a)", 0, ID },
	{ "replace into t values (1)", 0, ID },
	{ "update t set a = (select 1) where b = 2", 0, 0 },
	{ "delete from t where a = 'it''s (' and b = \"x\\\"(\"", 0, 0 },
	{ "with x as (select 1) select * from x", 0, 0 },
	{ "create table t (a int, b varchar(10), key k (a), check (f(a)))", 0, 0 },
	{ "create table t (a int) partition by range (a) (partition p values less than "
	  "(1))",
		0, 0 },
	{ "alter table t add index i (a)", 0, 0 },
	{ "drop temporary table if exists t", 0,
		CND_MY_NOTE_DROPS | CND_MY_NOTE_IF_EXISTS },
	{ "drop temporary table t, u", 0, CND_MY_NOTE_DROPS },
	{ "set sql_notes = 0", 0, SETS | CND_MY_NOTE_QUIET },
	{ "drop temporary table t", 0, CND_MY_NOTE_DROPS },
	{ "drop temporary table t; drop table u", 0, SEVERAL },
	{ "drop table t", 0, 0 },
	{ "drop prepare p", 0, CND_MY_NOTE_DEALLOCATES },
	{ "deallocate prepare p", 0, CND_MY_NOTE_DEALLOCATES },
	{ "unlock tables", 0, CND_MY_NOTE_UNLOCKS_TABLES },
	{ "unlock instance", 0, 0 },
	{ "do release_all_locks()", 0, CND_MY_NOTE_RELEASES },
	{ "select release_all_locks() from t", 0, 0 },
	{ "select if(0, release_all_locks(), 1)", 0, 0 },
	{ "begin", 0, 0 },
	{ "begin work", 0, 0 },
	{ "start transaction read only", 0, 0 },
	{ "rollback to savepoint a", 0, 0 },
	{ "show tables like 'a(%'", 0, 0 },
	{ "explain select 1", 0, 0 },
	{ "select 1 -- f(\n + 2", 0, 0 },
	{ "select 1 # f(", 0, 0 },
	{ "select /* f(1) */ 1", 0, 0 },
	{ "select /*+ hint(1) */ 1", 0, 0 },
	{ "load data local infile 'x' into table t (a, b)", 0, SILENT_ID },
	{ "select last_insert_id()", 0, 0 },
	{ "select release_lock('a')", 0, CND_MY_NOTE_RELEASES_LOCK },
	{ "select 1;", 0, 0 },
	{ "values (1, 2)", 0, 0 },
	/* Statements that leave something. */
	{ "set a = 1", SETTINGS, 0 },
	{ "set names utf8mb4", 0, MEANING | CHARSET },
	{ "set character set latin1", 0, MEANING | CHARSET | CND_MY_NOTE_WIDE },
	{ "set session character_set_results = null", 0, MEANING },
	{ "set @@collation_connection = x", 0, MEANING | CND_MY_NOTE_WIDE },
	{ "set names utf8mb4, @@local.wait_timeout := (1, 2), @a = 5", 0,
		MEANING | CHARSET | VARIABLES },
	{ "set sql_mode = 'a,b', c = 1", SETTINGS, MEANING | CND_MY_NOTE_MODES },
	{ "set autocommit = 0", 0, SETS },
	{ "set session transaction isolation level serializable, read only", 0, SETS },
	{ "set transaction read only", SETTINGS, 0 },
	{ "set tx_isolation = 'serializable'", SETTINGS, 0 },
	{ "set @@session.tx_isolation = 'serializable'", 0, SETS },
	{ "set session wait_timeout = 1, tx_isolation = 'serializable'", SETTINGS, SETS },
	{ "set @@`sql_mode` = ''", SETTINGS, 0 },
	{ "set `sql_mode` = ''", SETTINGS, 0 },
	{ "set session wait_timeout = f(1)", FUNCTION, SETS | OPAQUE },
	{ "select 1; set wait_timeout = 1", FUNCTION, SETS | SEVERAL | OPAQUE },
	{ "select @a := 1", 0, VARIABLES },
	{ "select 1 into @a", 0, VARIABLES },
	{ "select 1 into @`a b`", 0, VARIABLES },
	/* a word may follow a fraction or exponent at once */
	{ "select 1.5into @a", 0, VARIABLES },
	{ "select .5into @a", 0, VARIABLES },
	{ "select 1e5into @a", 0, VARIABLES },
	/* after a point, the digits are part of a name */
	{ "select t.5abs(1)", FUNCTION, OPAQUE },
	{ "select t.1e5abs(1)", FUNCTION, OPAQUE },
	{ "load data infile 'x' into table t (a, @b)", 0, SILENT_ID | VARIABLES },
	{ "get diagnostics @a = number", 0, ASKS | VARIABLES },
	{ "select last_insert_id(5)", SETTINGS, 0 },
	{ "select sql_calc_found_rows * from t", SETTINGS, 0 },
	{ "select next value for s", SETTINGS, 0 },
	{ "use db", 0, MEANING | CND_MY_NOTE_DATABASE },
	{ "create temporary table t (a int)", 0, CND_MY_NOTE_CREATES },
	{ "create or replace temporary table t (a int)", 0, CND_MY_NOTE_CREATES },
	{ "/**/ create/**/temporary#\ntable t select 1", 0,
		SILENT_ID | CND_MY_NOTE_CREATES },
	{ "lock tables t read", 0, CND_MY_NOTE_LOCKS_TABLES },
	{ "lock instance for backup", CENOTE_PIN_LOCK, 0 },
	{ "flush tables with read lock", 0, CND_MY_NOTE_LOCKS_TABLES },
	{ "flush local status", SETTINGS, 0 },
	{ "backup stage start", CENOTE_PIN_LOCK, 0 },
	{ "select get_lock('a', 1)", 0, CND_MY_NOTE_TAKES_LOCK },
	{ "select GET_LOCK /* */ ('a', 1)", FUNCTION, OPAQUE },
	{ "do get_lock('a', 1)", 0, CND_MY_NOTE_TAKES_LOCK },
	{ "handler t open", CENOTE_PIN_CURSOR, 0 },
	{ "prepare s from 'select 1'", 0, CND_MY_NOTE_PREPARES },
	{ "select 1; prepare s from 'select 1'", CENOTE_PIN_PREPARED,
		SEVERAL | CND_MY_NOTE_PREPARES },
	/* Statements that change what later logins begin with. */
	{ "grant select (a) on t to u", 0, LOGIN },
	{ "revoke all on *.* from u", 0, LOGIN },
	{ "set global max_connections = 5", SETTINGS, LOGIN },
	{ "set a = 1, GLOBAL b = 2", SETTINGS, LOGIN },
	{ "set @@Global.b = 2", SETTINGS, LOGIN },
	{ "set persist a = 1", SETTINGS, LOGIN },
	{ "set @@persist.a = 1", SETTINGS, LOGIN },
	{ "set default role r", SETTINGS, LOGIN },
	{ "set role r", SETTINGS, 0 },
	{ "set a = default", SETTINGS, 0 },
	{ "set a = 'global'", SETTINGS, 0 },
	{ "select @@global.a", 0, 0 },
	{ "alter database d character set utf8mb4", 0, LOGIN },
	{ "alter user u account lock", 0, LOGIN },
	{ "drop role r", 0, LOGIN },
	{ "rename user a to b", 0, LOGIN },
	{ "alter table user add a int", 0, 0 },
	{ "drop database d", 0, LOGIN },
	{ "create database d", 0, 0 },
	{ "create or replace schema d", 0, LOGIN },
	{ "flush privileges", 0, LOGIN },
	{ "flush tables", 0, 0 },
	/* Calls of functions that may do anything. */
	{ "select f(1)", FUNCTION, OPAQUE },
	{ "select db.upper(1)", FUNCTION, OPAQUE },
	{ "select lower(1)", FUNCTION, OPAQUE },
	{ "select point(1, 2)", FUNCTION, OPAQUE },
	{ "select upper (1)", FUNCTION, OPAQUE },
	{ "select count /**/(1)", FUNCTION, OPAQUE },
	{ "select now\n()", FUNCTION, OPAQUE },
	{ "select against(1)", FUNCTION, OPAQUE },
	{ "select over (1)", FUNCTION, OPAQUE },
	{ "select `upper`(1)", FUNCTION, OPAQUE },
	{ "insert into t values (f(1))", FUNCTION, OPAQUE | ID },
	{ "insert into t (a) values (f (1))", FUNCTION, OPAQUE | ID },
	{ "insert into t select f(1)", FUNCTION, OPAQUE | ID },
	{ "insert into t set a = f(1)", FUNCTION, OPAQUE | ID },
	{ "load data infile 'x' into table t (a) set a = f(1)", FUNCTION,
		OPAQUE | SILENT_ID },
	{ "create table t select f(1)", FUNCTION, OPAQUE | SILENT_ID },
	{ "select nextval(s)", FUNCTION | SETTINGS, OPAQUE },
	{ "call p()", FUNCTION, VERB },
	{ "call p", FUNCTION, VERB },
	{ "execute s", FUNCTION, VERB },
	{ "execute immediate 'set @a = 1'", FUNCTION, VERB },
	{ "begin not atomic set @a = 1", FUNCTION | 0, VERB },
	{ "xa start 'x'", FUNCTION, VERB },
	{ "frobnicate", FUNCTION, VERB },
	{ "binlog 'x'", FUNCTION, VERB },
	{ "start slave", FUNCTION, VERB },
	{ "/*!50000 select 1 */", FUNCTION, DARK },
	{ "select 1 /*M!100000 , get_lock('a', 1) */", FUNCTION, DARK },
	{ "select 'open", FUNCTION, DARK },
	{ "select 1 /* open", FUNCTION, DARK },
	{ "select `open", FUNCTION, DARK },
	{ "insert into t values (1) returning a", 0, ID | SILENT_ID },
	{ "create table t as select a from u", 0, SILENT_ID },
	/* Code that runs later. */
	{ "create procedure p() begin set @a = 1; call q(); end", FUNCTION,
		SEVERAL | VERB | CND_MY_NOTE_UNSURE },
	{ "create or replace function f() returns int return 1", 0, CND_MY_NOTE_UNSURE },
	{ "create temporary table event (a int)", 0, CND_MY_NOTE_CREATES },
	/* Questions about the previous statement. */
	{ "select row_count()", 0, ASKS },
	{ "insert into t values (row_count ())", FUNCTION, OPAQUE | ASKS | ID },
	{ "select found_rows()", FUNCTION, OPAQUE | ASKS },
	{ "show warnings limit 1", 0, ASKS },
	{ "show count(*) errors", 0, ASKS },
	{ "select @@warning_count", 0, ASKS },
	{ "select 1 + @@Session.Error_Count", 0, ASKS },
	{ "select @@`last_gtid`", 0, ASKS },
	{ "show /*!50000 warnings */", FUNCTION, DARK | ASKS },
	/* Questions about any earlier statement. */
	{ "select @a, @@version", 0, RECALLS },
	{ "select previous value for s", 0, NUMBER },
	{ "select s.currval", 0, NUMBER },
	{ "select lastval(s)", 0, NUMBER },
	{ "call p(@a)", FUNCTION, VERB },
	{ "select @a := @a + 1", 0, VARIABLES },
	{ "select s.nextval", SETTINGS, 0 },
	{ "select s.nextval from dual", SETTINGS, 0 },
	/* Texts that ask nothing about the previous request; the last one does. */
	{ "select errors, warning_count from warnings where a = 'row_count()'", 0, 0 },
	{ "show columns from errors", 0, 0 },
	{ "select row_count from diagnostics", 0, 0 },
	{ "update t set a = 1; select row_count()", 0, SEVERAL },
	{ ";select row_count(); select 1", 0, SEVERAL | ASKS },
	/* Several statements in one text. */
	{ "select 1; select 2", 0, SEVERAL },
	{ "select 1;; set @a = 1;", 0, SEVERAL | VARIABLES },
	{ "set @a = 1; select 1", FUNCTION, SEVERAL | OPAQUE | VARIABLES },
	{ "select ';'; create temporary table t (a int)", CENOTE_PIN_TEMP,
		SEVERAL | CND_MY_NOTE_CREATES },
	{ "select 1 -- ;\n", 0, 0 },
	{ "", 0, CND_MY_NOTE_EMPTY },
	{ " ; -- x\n /* */;", 0, CND_MY_NOTE_EMPTY },
};

/* What is known about a server that has these native functions. */
static const struct cnd_my_reading *
reading(uint32_t lexis)
{
	static const char *const natives[] = { "CONCAT", "GET_LOCK", "LASTVAL",
		"LAST_INSERT_ID", "RELEASE_ALL_LOCKS", "RELEASE_LOCK", "ROW_COUNT",
		"UPPER" };
	static struct cnd_my_reading r;

	r = (struct cnd_my_reading){ .lexis = lexis };
	for (size_t i = 0; i < CNT_COUNT(natives); i++)
		cnd_my_confirm_native(&r, natives[i], strlen(natives[i]));
	return &r;
}

static void
what_a_statement_leaves_is_seen(void **state)
{
	struct cnd_my_scan scan;
	size_t i;

	for (i = 0; i < CNT_COUNT(cases); i++) {
		cnd_my_scan(cases[i].sql, strlen(cases[i].sql), reading(0), &scan);
		scan.notes &= ~(uint32_t)CND_MY_NOTE_HIDES;
		if (scan.pins != cases[i].pins || scan.notes != cases[i].notes)
			fail_msg("%s: pins %u, notes %u", cases[i].sql,
				(unsigned)scan.pins, (unsigned)scan.notes);
	}
}

/* The name of a lock is known if the text takes no other, and if the name has the same bytes in all character sets. */
static void
names_of_locks_are_read(void **state)
{
	static const struct {
		const char *sql;
		const char *lock;
	} named[] = {
		{ "select get_lock('a', 1)", "a" },
		{ "do get_lock(\"A b-1\",0)", "A b-1" },
		{ "select 1 from t where get_lock('a:/+=_.', 1) = 1", "a:/+=_." },
		{ "select get_lock('', 1)", "" },
		{ "select get_lock('it''s', 1)", "" },
		{ "select get_lock('a\\b', 1)", "" },
		{ "select get_lock('\xc3\xa4', 1)", "" },
		{ "select get_lock('[a]', 1)", "" },
		{ "select get_lock('a' 'b', 1)", "" },
		{ "select get_lock(_latin1'a', 1)", "" },
		{ "select get_lock(N'a', 1)", "" },
		{ "select get_lock(x'61', 1)", "" },
		{ "select get_lock(concat('a', 'b'), 1)", "" },
		{ "select get_lock('a' collate x, 1)", "" },
		{ "select get_lock(?, 1)", "" },
		{ "select get_lock('a', 1), get_lock('b', 1)", "" },
		{ "select get_lock(get_lock('a', 1), 1)", "" },
		{ "select get_lock('a', 1) /*! , 2 */", "" },
		{ "select 'a', 1", "" },
	};
	struct cnd_my_scan scan;
	char sql[128];

	for (size_t i = 0; i < CNT_COUNT(named); i++) {
		cnd_my_scan(named[i].sql, strlen(named[i].sql), reading(0), &scan);
		if (strcmp(scan.lock, named[i].lock) != 0)
			fail_msg("%s: \"%s\"", named[i].sql, scan.lock);
	}
	for (int n = 64; n <= 65; n++) {
		snprintf(sql, sizeof(sql), "select get_lock('%0*d', 1)", n, 7);
		cnd_my_scan(sql, strlen(sql), reading(0), &scan);
		assert_int_equal(strlen(scan.lock), n == 64 ? 64 : 0);
	}
}

static void
what_tables_may_hide_is_seen(void **state)
{
	static const char *const yes[] = { "select * from t", "insert into t values (1)",
		"update t set a = 1", "delete from t", "replace t values (1)",
		"load data infile 'x' into table t", "select 1; select 2 from t" };
	static const char *const no[] = { "select 1", "signal sqlstate '45000'", "begin",
		"select 'from t'", "show warnings" };
	struct cnd_my_scan scan;
	size_t i;

	for (i = 0; i < CNT_COUNT(yes); i++) {
		cnd_my_scan(yes[i], strlen(yes[i]), reading(0), &scan);
		assert_true(scan.notes & CND_MY_NOTE_HIDES);
	}
	for (i = 0; i < CNT_COUNT(no); i++) {
		cnd_my_scan(no[i], strlen(no[i]), reading(0), &scan);
		assert_false(scan.notes & CND_MY_NOTE_HIDES);
	}
}

static void
quotes_and_backslashes_are_the_servers(void **state)
{
	struct cnd_my_scan scan;

	/* After a backslash, the text continues beyond its second quote. */
	cnd_my_scan("select '\\', f(1), '", 19, reading(0), &scan);
	assert_int_equal(scan.pins, 0);
	cnd_my_scan(
		"select '\\', f(1), ''", 20, reading(CND_MY_LEXIS_NO_BACKSLASH), &scan);
	assert_int_equal(scan.pins, FUNCTION);
	cnd_my_scan("select \"upper\"(1)", 17, reading(0), &scan);
	assert_int_equal(scan.pins, 0);
	cnd_my_scan("select \"upper\"(1)", 17, reading(CND_MY_LEXIS_ANSI_QUOTES), &scan);
	assert_int_equal(scan.pins, FUNCTION);
	/* Two minus signs begin a comment only if a blank follows. */
	cnd_my_scan("select 1--f(2)", 14, reading(0), &scan);
	assert_int_equal(scan.pins, FUNCTION);
	cnd_my_scan("select 1\0, f(2)", 15, reading(0), &scan);
	assert_int_equal(scan.pins, FUNCTION);
}

/* In GBK, \xbf\\ is one character; in Latin-1, \xa0 is a blank. */
static void
bytes_above_ascii_are_dark_unless_they_are_utf8(void **state)
{
	static const char gbk[] = "select '\xbf\\', get_lock('\\'x', 0) -- '";
	static const char blank[] = "select 1\xa0into\xa0@a";
	struct cnd_my_scan scan;

	cnd_my_scan(gbk, sizeof(gbk) - 1, reading(CND_MY_LEXIS_NOT_UTF8), &scan);
	assert_true(scan.pins & FUNCTION);
	cnd_my_scan(blank, sizeof(blank) - 1, reading(CND_MY_LEXIS_NOT_UTF8), &scan);
	assert_true(scan.pins & FUNCTION);
	cnd_my_scan("select 'a'", 10, reading(CND_MY_LEXIS_NOT_UTF8), &scan);
	assert_int_equal(scan.pins, 0);
	cnd_my_scan("select '\xc3\xa4'", 11, reading(0), &scan);
	assert_int_equal(scan.pins, 0);
}

/* A text that is cut anywhere keeps the pins of what comes before the cut. */
static void
cut_texts_are_not_misread(void **state)
{
	static const char text[] =
		"create temporary table t (a int); select 'x', f(1) /* "
		"c */; set @a = 1";
	struct cnd_my_scan scan;
	size_t n;

	for (n = 16; n < sizeof(text); n++) {
		cnd_my_scan(text, n, reading(0), &scan);
		assert_true(
			scan.pins & CENOTE_PIN_TEMP || scan.notes & CND_MY_NOTE_CREATES);
		if (n > 50)
			assert_true(scan.pins & FUNCTION);
	}
}

static void
selects_are_known(void **state)
{
	static const char *const yes[] = { "select 1", "/* c */ ((SELECT 1))",
		"values (1)", "-- c\nwith a as (select 1) select * from a" };
	static const char *const no[] = { "", "explain select 1", "selected",
		"insert into t values (1) returning a", "show tables", "call p()", "(",
		"/*", "/*! select */ 1" };
	size_t i;

	for (i = 0; i < CNT_COUNT(yes); i++)
		assert_true(cnd_my_is_select(yes[i], strlen(yes[i]), 0));
	for (i = 0; i < CNT_COUNT(no); i++) {
		if (cnd_my_is_select(no[i], strlen(no[i]), 0))
			fail_msg("taken for a SELECT: %s", no[i]);
	}
}

/* Statistics of statements ask by which rules a text is read. */
static void
rules_are_those_of_the_session(void **state)
{
	static const char plain[] = "select 'a'", quoted[] = "select \"a\"",
			  wide[] = "select '\xe4'";

	assert_int_equal(cnd_my_rules(plain, sizeof(plain) - 1, 0),
		(CNC_SQL_MYSQL & ~CNC_SQL_EXECUTED) | CNC_DIGEST_UNSURE_REST);
	assert_false(cnd_my_rules(quoted, sizeof(quoted) - 1, CND_MY_LEXIS_ANSI_QUOTES) &
		     CNC_SQL_DOUBLE_QUOTED_TEXT);
	assert_false(cnd_my_rules(plain, sizeof(plain) - 1, CND_MY_LEXIS_NO_BACKSLASH) &
		     CNC_SQL_BACKSLASH);
	/* what cannot be read with certainty has no rules */
	assert_int_equal(
		cnd_my_rules(quoted, sizeof(quoted) - 1, CND_MY_LEXIS_UNSURE), 0);
	assert_int_not_equal(
		cnd_my_rules(plain, sizeof(plain) - 1, CND_MY_LEXIS_UNSURE), 0);
	assert_int_equal(cnd_my_rules(wide, sizeof(wide) - 1, CND_MY_LEXIS_NOT_UTF8), 0);
	assert_int_not_equal(
		cnd_my_rules(plain, sizeof(plain) - 1, CND_MY_LEXIS_NOT_UTF8), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_statement_leaves_is_seen),
		cmocka_unit_test(names_of_locks_are_read),
		cmocka_unit_test(what_tables_may_hide_is_seen),
		cmocka_unit_test(quotes_and_backslashes_are_the_servers),
		cmocka_unit_test(bytes_above_ascii_are_dark_unless_they_are_utf8),
		cmocka_unit_test(cut_texts_are_not_misread),
		cmocka_unit_test(selects_are_known),
		cmocka_unit_test(rules_are_those_of_the_session),
	};

	return cmocka_run_group_tests_name("mysql_scan", tests, NULL, NULL);
}
