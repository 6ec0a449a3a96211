/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a text can change for the statements after it, which decides whether its result may be kept (core/reach.h). It needs
 * no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reach.h"

#define NONE    CNC_REACH_NONE
#define READ    CNC_REACH_READ
#define DATA    CNC_REACH_DATA
#define SETTING CNC_REACH_SETTING
#define SESSION CNC_REACH_SESSION
#define PRIVATE CNC_REACH_PRIVATE

static const struct {
	const char *sql;
	uint8_t reach;
} table[] = {
	{ "select 1", NONE },
	{ "SELECT a, b FROM t WHERE a = $1 ORDER BY b;", NONE },
	{ "select count(*), sum(a) from t group by (b) having max(c) > 3", NONE },
	{ "select * from t where a in (1, 2) and (b or (c))", NONE },
	{ "select * from (select a from t) as x join u using (a)", NONE },
	{ "with x as (select 1) select * from x", NONE },
	{ "select lower(a) || 'x' from t limit (2)", NONE },
	{ "values (1), (2)", NONE },
	{ "table t", NONE },
	{ "select 'o''clock', \"a b\" from t", NONE },
	/* a function that is not built in may change a setting; with a schema or quotes, it is not built in */
	{ "select app_tenant(5)", SESSION },
	{ "select set_config('app.tenant', '5', false)", SESSION },
	{ "select s.count(1)", SESSION },
	{ "select \"count\"(1)", SESSION },
	{ "select \"x count\"(1)", SESSION },
	{ "select `f`(1), [f](2)", SESSION },
	{ "select f\xc3\xa9(1), \xc3\xa9"
	  "count(1)",
		SESSION },
	{ "select x$count(1)", SESSION },
	{ "select f (1)", SESSION },
	{ "select f/**/(1)", SESSION },
	{ "select f#count\n(1)", SESSION },
	{ "select f --count\n(1)", SESSION },
	{ "select * from f(1)", SESSION },
	/* another answer each time, but no change */
	{ "select now()", READ },
	{ "select random(), version()", READ },
	{ "select current_timestamp", READ },
	{ "select a from t where d < CURRENT_DATE", READ },
	{ "select date('now')", READ },
	{ "select 'now'::timestamp", READ },
	{ "select a from t where d = 'today'", READ },
	/* locks, sequences, writes within a query */
	{ "select a from t for update", DATA },
	{ "select a from t lock in share mode", READ },
	{ "select a from t where a = 1for update", SESSION },
	{ "select s.nextval from dual", DATA },
	{ "select next value for s", DATA },
	{ "with x as (delete from t returning *) select * from x", DATA },
	{ "select a into u from t", SESSION },
	{ "select 1.5into outfile 'x'", SESSION },
	{ "select a into temp u from t", PRIVATE },
	{ "select sql_calc_found_rows a from t", READ },
	/* T-SQL needs no semicolon */
	{ "select 1 delete from t", DATA },
	{ "select 1 exec p", SESSION },
	{ "select 1 set language french", SESSION },
	{ "select 1; select 2", SESSION },
	{ ";select 1", SESSION },
	/* variables, escapes of ODBC, comments */
	{ "select @a", SESSION },
	{ "select @a := 1", SESSION },
	{ "select @@sql_mode", SESSION },
	{ "select {fn now()}", SESSION },
	{ "select /* why */ 1", SESSION },
	{ "select 1 -- why", SESSION },
	{ "select 1 - -1", NONE },
	{ "select 2 * 3 / 4", NONE },
	{ "/*!50000 set names latin1 */ select 1", SESSION },
	/* data and transactions */
	{ "insert into t values (1, 'a@b.example')", DATA },
	{ "insert into t (a, b) values (1, 2) on conflict (a) do update set b = 3",
		DATA },
	{ "insert into s.t (a) select b from u", DATA },
	{ "insert into \"t\" (a) values (1)", DATA },
	{ "insert into t values (f(1))", SESSION },
	{ "insert into t select f (1)", SESSION },
	{ "insert into t values (@a := 1)", SESSION },
	{ "insert into t values (1) set dateformat dmy", SESSION },
	{ "update t set a = 1 where b = (2)", DATA },
	{ "update t set a = 1 set language french", SESSION },
	{ "delete from t", DATA },
	{ "begin", READ },
	{ "commit", READ },
	{ "rollback to savepoint a", READ },
	/* sessions */
	{ "", SESSION },
	{ "set time zone 'Asia/Tokyo'", SETTING },
	{ "set search_path to a, b", SETTING },
	{ "set a = f(1)", SESSION },
	{ "set a = 1; set b = 2", SESSION },
	{ "set @a = 1", SESSION },
	{ "set role app", SETTING },
	{ "use other", SETTING },
	{ "reset all", SETTING },
	{ "do $$ begin perform f(); end $$", SESSION },
	{ "call p()", SESSION },
	{ "pragma foreign_keys = on", SESSION },
	{ "create table t (a int)", SESSION },
	{ "create temp table t (a int)", PRIVATE },
	{ "CREATE TEMPORARY TABLE t (a int)", PRIVATE },
	{ "create user u password 'x'", PRIVATE },
	{ "set password = 'x'", PRIVATE },
	{ "update u set password = 'x'", DATA },
	{ "drop table t", SESSION },
	{ "(select 1)", SESSION },
};

static void
a_text_has_the_reach_that_it_may_have(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(table); i++) {
		size_t n = strlen(table[i].sql);
		char *copy = malloc(n > 0 ? n : 1);
		uint8_t reach;

		assert_non_null(copy);
		memcpy(copy, table[i].sql, n);
		reach = cnc_sql_reach(copy, n);
		free(copy);
		if (reach != table[i].reach)
			print_error("%s: %u\n", table[i].sql, reach);
		assert_int_equal(reach, table[i].reach);
	}
}

/* A prefix may have any reach, but must not be read past its end. */
static void
a_text_may_be_cut_anywhere(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(table); i++) {
		for (size_t n = 0; n < strlen(table[i].sql); n++) {
			char *copy = malloc(n > 0 ? n : 1);

			assert_non_null(copy);
			memcpy(copy, table[i].sql, n);
			assert_true(cnc_sql_reach(copy, n) <= CNC_REACH_PRIVATE);
			free(copy);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_has_the_reach_that_it_may_have),
		cmocka_unit_test(a_text_may_be_cut_anywhere),
	};

	return cmocka_run_group_tests_name("core_reach", tests, NULL, NULL);
}
