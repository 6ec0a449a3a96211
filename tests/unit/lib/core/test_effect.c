/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The effect of a statement (read, write, BEGIN, COMMIT …), by its first words. A
 * doubtful statement gets the stronger effect. It needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/effect.h"

static const struct {
	const char *sql;
	uint8_t effect;
} table[] = {
	{ "", CNC_EFFECT_NONE },
	{ " ; -- nothing", CNC_EFFECT_NONE },
	{ "select 1", CNC_EFFECT_NONE },
	{ "/* why */ SELECT a FROM t;", CNC_EFFECT_NONE },
	{ "-- why\nvalues 1", CNC_EFFECT_NONE },
	{ "table t", CNC_EFFECT_NONE },
	{ "SHOW TABLES", CNC_EFFECT_NONE },
	/* reads that may write */
	{ "select nextval('s')", CNC_EFFECT_WRITE },
	{ "select * into copy_of_t from t", CNC_EFFECT_WRITE },
	{ "select a from t /*!50000 into outfile 'x' */", CNC_EFFECT_WRITE },
	{ "select 1; select 2", CNC_EFFECT_WRITE },
	{ "select 1.5into outfile 'x'", CNC_EFFECT_WRITE },
	/* PostgreSQL ends the comment at the carriage return */
	{ "-- why\rdelete from t", CNC_EFFECT_COMMIT },
	{ "-- why\r\nselect 1", CNC_EFFECT_NONE },
	{ "selectx", CNC_EFFECT_COMMIT },
	{ "with w as (delete from t returning 1) select 1", CNC_EFFECT_WRITE },
	/* writes that end no transaction on any server */
	{ "insert into t values (1)", CNC_EFFECT_WRITE },
	{ "Update t set a = 1", CNC_EFFECT_WRITE },
	{ "copy t from stdin", CNC_EFFECT_WRITE },
	{ "replace into t values (1)", CNC_EFFECT_WRITE },
	{ "savepoint a", CNC_EFFECT_WRITE },
	{ "set local x = 1", CNC_EFFECT_WRITE },
	{ "explain delete from t", CNC_EFFECT_WRITE },
	/* statements that may end a transaction */
	{ "commit", CNC_EFFECT_COMMIT },
	{ "end", CNC_EFFECT_COMMIT },
	{ "release a", CNC_EFFECT_COMMIT },
	{ "prepare transaction 'x'", CNC_EFFECT_COMMIT },
	{ "begin", CNC_EFFECT_BEGIN },
	{ "BEGIN immediate;", CNC_EFFECT_BEGIN },
	{ "start transaction read only", CNC_EFFECT_BEGIN },
	{ "begin; commit", CNC_EFFECT_COMMIT },
	{ "begin not atomic commit; end", CNC_EFFECT_COMMIT },
	{ "begin drop_it() end", CNC_EFFECT_COMMIT },
	{ "create table t (a int)", CNC_EFFECT_COMMIT },
	{ "drop table t", CNC_EFFECT_COMMIT },
	{ "lock tables t write", CNC_EFFECT_COMMIT },
	{ "load data local infile 'x' into table t", CNC_EFFECT_COMMIT },
	{ "set autocommit = 1", CNC_EFFECT_COMMIT },
	{ "SET @@Autocommit=1", CNC_EFFECT_COMMIT },
	{ "set password = 'x'", CNC_EFFECT_COMMIT },
	{ "set statement max_statement_time=1 for drop table t", CNC_EFFECT_COMMIT },
	{ "call p()", CNC_EFFECT_COMMIT },
	{ "do $$ begin commit; end $$", CNC_EFFECT_COMMIT },
	{ "execute s", CNC_EFFECT_COMMIT },
	{ "explain analyze execute s", CNC_EFFECT_COMMIT },
	{ "pragma foreign_keys = on", CNC_EFFECT_COMMIT },
	{ "vacuum", CNC_EFFECT_COMMIT },
	{ "select 1; drop table t", CNC_EFFECT_COMMIT },
	{ "insert into t values (';'); commit", CNC_EFFECT_COMMIT },
	{ "select ';commit'", CNC_EFFECT_COMMIT },
	/* statements that are hidden in comments */
	{ "/*! drop table t */", CNC_EFFECT_COMMIT },
	{ "/*M!100000 drop table t */", CNC_EFFECT_COMMIT },
	{ "/* /* */ select 1 */ drop table t", CNC_EFFECT_COMMIT },
	{ "# select\ndrop table t", CNC_EFFECT_COMMIT },
	{ "/* open", CNC_EFFECT_COMMIT },
	{ "\xc2\xa0select 1", CNC_EFFECT_COMMIT },
	/* statements that undo a transaction, if they are alone in the text */
	{ "rollback", CNC_EFFECT_ROLLBACK },
	{ " Abort ; ", CNC_EFFECT_ROLLBACK },
	{ "rollback; insert into t values (1)", CNC_EFFECT_COMMIT },
	{ "insert into t values (1); rollback", CNC_EFFECT_COMMIT },
};

static void
each_statement_has_the_effect_that_it_may_have(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		/* no zero byte follows: the scan must not read beyond the end */
		size_t n = strlen(table[i].sql);
		char *copy = malloc(n > 0 ? n : 1);
		uint8_t effect;

		memcpy(copy, table[i].sql, n);
		effect = cnc_sql_effect(copy, n);
		if (effect != table[i].effect)
			print_error("%s: %u, not %u\n", table[i].sql, effect,
				table[i].effect);
		assert_int_equal(effect, table[i].effect);
		free(copy);
	}
}

static void
use_is_known(void **state)
{
	static const char *const yes[] = { "use a", " USE `a`", "/* x */ -- y\n use a;" };
	static const char *const no[] = { "", "user", "us", "select 1 use index", "/*",
		"u" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(cnc_sql_is_use(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(cnc_sql_is_use(no[i], strlen(no[i])));
	assert_true(cnc_sql_is_set("/* x */ SET a = 1", 17));
	assert_false(cnc_sql_is_set("settle", 6));
}

static void
what_concerns_prepared_statements_is_known(void **state)
{
	static const struct {
		const char *sql;
		uint8_t names;
	} cases[] = {
		{ "execute a(1)", CNC_NAMES_USED },
		{ "explain EXECUTE a", CNC_NAMES_USED },
		{ "select 'deallocate a'", CNC_NAMES_USED | CNC_NAMES_ENDED },
		{ "prepare a as select 1; deallocate a",
			CNC_NAMES_USED | CNC_NAMES_ENDED },
		{ "prepare a as select 1", CNC_NAMES_USED | CNC_NAMES_ENDED },
		{ "discard all", CNC_NAMES_USED },
		{ "select * from PG_prepared_statements", CNC_NAMES_USED },
		{ "select 1; /* x */ set local timezone = 'UTC'", CNC_NAMES_USED },
		{ "select pg_catalog.set_config('a', 'b', true)", CNC_NAMES_USED },
		{ "do $$ begin end $$", CNC_NAMES_USED },
		{ " -- x\n call p()", CNC_NAMES_USED },
		{ "update t set executed = 1", 0 },
		{ "insert into t values (1) on conflict do nothing", 0 },
		{ "begin", 0 },
		{ "select prepared", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(cnc_sql_names(cases[i].sql, strlen(cases[i].sql)),
			cases[i].names);
}

/* A harmless first statement does not weaken the effect of the second one. */
static void
more_text_makes_it_no_better(void **state)
{
	char text[256];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].effect != CNC_EFFECT_COMMIT)
			continue;
		(void)snprintf(text, sizeof(text), "select 1; %s", table[i].sql);
		assert_int_equal(cnc_sql_effect(text, strlen(text)), CNC_EFFECT_COMMIT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_statement_has_the_effect_that_it_may_have),
		cmocka_unit_test(more_text_makes_it_no_better),
		cmocka_unit_test(use_is_known),
		cmocka_unit_test(what_concerns_prepared_statements_is_known),
	};

	return cmocka_run_group_tests_name("effect", tests, NULL, NULL);
}
