/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries of the SQLite backend: results, tags, errors and their positions, prepared
 * statements.
 */
#include "support/cnt_cmocka.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "harness.h"

static void
a_query_gives_columns_rows_and_a_tag(void **state)
{
	struct sq *t = *state;

	assert_answer(t, "select 1 as a, 'x' as b, null as c",
		"columns a:INT64 b:TEXT c:TEXT\nrow 1|x|NULL\ndone SELECT 1\n");
	assert_answer(t, "create table t (a integer primary key, b text)",
		"done CREATE TABLE\n");
	assert_answer(t, "insert into t (b) values ('x'), ('y')",
		"done INSERT 0 2 affected=2 id=2\n");
	assert_answer(
		t, "update t set b = 'z' where a = 2", "done UPDATE 1 affected=1\n");
	assert_answer(t, "select * from t order by a",
		"columns a:INT64 b:TEXT\nrow 1|x\nrow 2|z\ndone SELECT 2\n");
	assert_answer(
		t, "select * from t where 0", "columns a:INT64 b:TEXT\ndone SELECT 0\n");
	assert_answer(t, "delete from t returning a",
		"columns a:INT64\nrow 1\nrow 2\ndone DELETE 2 affected=2\n");
}

static void
several_statements_give_a_result_each(void **state)
{
	struct sq *t = *state;

	assert_answer(t, "select 1; /* c */ create table t (a); ; select 2 ;-- x",
		"columns 1:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"done CREATE TABLE more-results\n"
		"columns 2:INT64\nrow 2\ndone SELECT 1\n");
	assert_answer(t, "select 1; select nope; select 2",
		"columns 1:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"error 42703 no such column: nope position=18\n");
	assert_answer(t, "", "done  empty\n");
	assert_answer(t, " ; -- nothing\n /* at all", "done  empty\n");
}

static void
errors_have_states_and_positions_in_characters(void **state)
{
	struct sq *t = *state;

	assert_answer(
		t, "selec 1", "error 42601 near \"selec\": syntax error position=1\n");
	assert_answer(t, "select 1;\n select '\xc3\xa4\xe2\x82\xac', nix",
		"columns 1:INT64\nrow 1\ndone SELECT 1 more-results\n"
		"error 42703 no such column: nix position=25\n");
	assert_answer(t, "select * from nix", "error 42P01 no such table: nix\n");
	assert_answer(
		t, "select nix()", "error 42883 no such function: nix position=8\n");
	(void)sq_query(t,
		"create table t (a integer primary key, b text not null unique, "
		"c int check (c > 0), d references t (a))");
	assert_answer(t, "create table t (a)",
		"error 42P07 table t already exists position=14\n");
	assert_answer(t, "insert into t (b) values (null)",
		"error 23502 NOT NULL constraint failed: t.b\n");
	assert_string_equal(cnc_diag_field(&t->base.diag, 't'), "t");
	assert_string_equal(cnc_diag_field(&t->base.diag, 'c'), "b");
	assert_int_equal(t->base.diag.native, 1299);
	(void)sq_query(t, "insert into t (b) values ('x')");
	assert_answer(t, "insert into t (b) values ('x')",
		"error 23505 UNIQUE constraint failed: t.b\n");
	assert_answer(t, "insert into t (b, c) values ('y', -1)",
		"error 23514 CHECK constraint failed: c > 0\n");
	assert_answer(
		t, "select abs(-9223372036854775808)", "error 22003 integer overflow\n");
	assert_answer(t, "insert into t (a, b) values ('x', 'z')",
		"error 22018 datatype mismatch\n");
}

/* The tag names the statement that ran, whatever comes before its first word. */
static void
tags_follow_the_statement(void **state)
{
	static const struct {
		const char *sql, *tag;
	} cases[] = {
		{ "/* c */ insert into t values (1)",
			"done INSERT 0 1 affected=1 id=1\n" },
		{ "replace into t values (2)", "done INSERT 0 1 affected=1 id=2\n" },
		{ "with w as (select 3) insert into t select * from w",
			"done INSERT 0 1 affected=1 id=3\n" },
		{ "with replace as (select 1), \"a)(\" (x) as materialized (select 2), "
		  "update_1 as "
		  "(select ')') select 1",
			"done SELECT 1\n" },
		{ "with recursive w (n) as (select 1) -- )\n delete from t where a in "
		  "(select n "
		  "from w)",
			"done DELETE 1 affected=1\n" },
		{ "values (1), (2)", "done SELECT 2\n" },
		{ "create unique index if not exists i on t (a)", "done CREATE INDEX\n" },
		{ "create temp view v as select 1", "done CREATE VIEW\n" },
		{ "create virtual table f using fts5 (x)", "done CREATE TABLE\n" },
		{ "create trigger tr after insert on t begin select 1; end",
			"done CREATE TRIGGER\n" },
		{ "alter table t add column b", "done ALTER TABLE\n" },
		{ "drop view v", "done DROP VIEW\n" },
		{ "begin immediate", "done BEGIN\n" },
		{ "savepoint s", "done SAVEPOINT\n" },
		{ "rollback transaction to savepoint s", "done ROLLBACK\n" },
		{ "release s", "done RELEASE\n" },
		{ "end transaction", "done COMMIT\n" },
		{ "analyze", "done ANALYZE\n" },
		{ "reindex t", "done REINDEX\n" },
		{ "explain select 1", "done EXPLAIN\n" },
		{ "pragma cache_size=100", "done PRAGMA\n" },
	};
	struct sq *t = *state;
	size_t i;

	(void)sq_query(t, "create table t (a)");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = sq_query(t, cases[i].sql),
			   *tag = strstr(text, "done ");

		if (!tag || strcmp(tag, cases[i].tag) != 0)
			fail_msg("%s: %s", cases[i].sql, text);
	}
}

/* Replaces libsqlite3's sqlite3_prepare_v3(), to count the module's calls. */
static unsigned n_compiled;

int
sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned flags,
	sqlite3_stmt **ret_stmt, const char **ret_tail)
{
	static int (*real)(
		sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
	void *library, *symbol;

	if (!real) {
		/* The module loaded the library for itself alone. */
		library = dlopen("libsqlite3.so.0", RTLD_NOW);
		assert_non_null(library);
		symbol = dlsym(library, "sqlite3_prepare_v3");
		memcpy(&real, &symbol, sizeof(real));
	}
	n_compiled++;
	return real(db, sql, n, flags, ret_stmt, ret_tail);
}

static void
a_repeated_statement_is_not_parsed_again(void **state)
{
	struct sq *t = *state;
	struct cnc_value v;
	int i;

	(void)sq_query(t, "create table t (a)");
	n_compiled = 0;
	for (i = 0; i < 20; i++) {
		v = cnt_int(i);
		(void)sq_query_with(t, "insert into t values (?)", &v, 1);
	}
	assert_int_equal(n_compiled, 1);
	/* The kept statement also serves a client that prepares it, and the next client. */
	(void)sq_prepare(t, 7, "insert into t values (?)");
	(void)sq_execute(t, 7, 0, &v, 1);
	assert_ok(sq_reset(t));
	(void)sq_query_with(t, "insert into t values (?)", &v, 1);
	assert_int_equal(n_compiled, 1);
	(void)sq_query(t, "select 1; select 2");
	(void)sq_query(t, "select 1; select 2");
	assert_int_equal(n_compiled, 3);
	assert_answer(t, "select count(*) from t",
		"columns count(*):INT64\nrow 22\ndone SELECT 1\n");
}

/* SQLite 3.40 reads freed memory when an EXPLAIN statement outlives a change of the schema. */
static void
an_explanation_is_never_kept(void **state)
{
	struct sq *t = *state;
	int i;

	(void)sq_query(t, "create table t (a); create table u (b);"
			  "create trigger tr after delete on t begin delete from u; end");
	(void)sq_prepare(t, 1, "explain delete from t");
	t->base.batch_rows = 1;
	for (i = 0; i < 20; i++) {
		(void)sq_query(t, "explain delete from t");
		assert_string_equal(sq_state(t), "idle pins=0");
		(void)sq_execute(t, 1, 0, NULL, 0);
		assert_ok(t->base.last);
		assert_null(strstr(t->base.seen.log, "more-rows"));
		(void)sq_query(t, i % 2 ? "drop table x" : "create table x (y)");
		(void)sq_query(t, "vacuum");
		assert_ok(t->base.last);
	}
}

static void
the_cache_holds_as_many_statements_as_it_was_told(void **state)
{
	struct sq *t = *state;
	char sql[64];
	int i, round;

	sq_logout(t);
	sq_option(t, "statement_cache", "10");
	assert_ok(sq_login(t));
	n_compiled = 0;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 10; i++) {
			snprintf(sql, sizeof(sql), "select %d", i);
			(void)sq_query(t, sql);
		}
	}
	assert_int_equal(n_compiled, 10);
	(void)sq_query(t, "select 10"); /* drops "select 0", the oldest */
	(void)sq_query(t, "select 9");
	(void)sq_query(t, "select 1");
	assert_int_equal(n_compiled, 11);
	(void)sq_query(t, "select 0");
	assert_int_equal(n_compiled, 12);
	sq_logout(t);
	sq_option(t, "statement_cache", "0");
	assert_ok(sq_login(t));
	n_compiled = 0;
	(void)sq_query(t, "select 1");
	(void)sq_query(t, "select 1");
	assert_int_equal(n_compiled, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sq_test_setup, sq_test_teardown)

static void
a_mistake_is_told_as_one_behind_a_change_of_the_schema(void **state)
{
	struct sq *t = *state, other;

	sq_sibling(t, &other);
	(void)sq_query(t, "select * from sqlite_schema");
	(void)sq_query(&other, "create table changed (a)");
	assert_answer(t, "select nowhere from (select 1 as a)",
		"error 42703 no such column: nowhere position=8\n");
	sq_teardown(&other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_query_gives_columns_rows_and_a_tag),
		TEST(several_statements_give_a_result_each),
		TEST(errors_have_states_and_positions_in_characters),
		TEST(tags_follow_the_statement),
		TEST(a_repeated_statement_is_not_parsed_again),
		TEST(an_explanation_is_never_kept),
		TEST(the_cache_holds_as_many_statements_as_it_was_told),
		TEST(a_mistake_is_told_as_one_behind_a_change_of_the_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
