/* SPDX-License-Identifier: BSD-2-Clause */
/* What a text means for the pool's cache (query/touch.c): which tables it reads or changes, and whether its result is kept. */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/reach.h"
#include "query/touch.h"

static struct cnd_touch
touch(const char *sql, uint32_t dialect)
{
	struct cnd_summary summary;
	struct cnd_touch t;

	cnd_summarize(sql, strlen(sql), dialect, &summary);
	cnd_touch_find(&summary, sql, strlen(sql), &t);
	return t;
}

static bool
has_table(const struct cnd_touch *t, const char *name)
{
	for (uint8_t i = 0; i < t->n_tables; i++) {
		if (t->tables[i] == cnd_cache_table(name, strlen(name)))
			return true;
	}
	return false;
}

/* The result may be kept, and depends on this table; NULL: on none. */
static void
expect_kept(const char *sql, const char *table)
{
	struct cnd_touch t = touch(sql, CNC_SQL_POSTGRESQL);

	if (!t.may_keep || t.is_all || t.is_write ||
		(table != NULL && !has_table(&t, table)))
		fail_msg("not kept: %s", sql);
}

static void
plain_queries_are_kept(void **state)
{
	expect_kept("select 1", NULL);
	expect_kept("select v from t where id = $1", "t");
	expect_kept("SELECT count(*), max(v) FROM s.T a JOIN \"U\" b USING (id)", "t");
	expect_kept("SELECT count(*), max(v) FROM s.T a JOIN \"U\" b USING (id)", "u");
	expect_kept("with x as (select * from t) select * from x", "t");
	expect_kept("table t;", "t");
	expect_kept("select * from system, mysql_app.u", "system");
}

static void
other_texts_are_not_kept(void **state)
{
	static const char *const texts[] = { "select now()", "select random() from t",
		"select f(v) from t", "select v from t for update", "select 1; select 2",
		"select v into x from t", "insert into t values (1)", "show work_mem",
		"select v from t /* a comment */", "select current_user", "begin",
		"select s.count(v) from t", "select v from \"t\xc3\xa4\"",
		"select v from U&\"t\"", "explain select v from t", "fetch c",
		"select nextval('s')", "copy t to stdout",
		"select count(*) from pg_cursors",
		"select * from t, Information_Schema.tables", "select * from sys.x",
		"select * from \"pg_locks\"", "" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		if (touch(texts[i], CNC_SQL_POSTGRESQL).may_keep)
			fail_msg("kept: %s", texts[i]);
	}
}

static void
writes_name_their_tables(void **state)
{
	static const char *const texts[] = { "insert into t values (1)",
		"update only s.T set v = 1", "delete from \"t\" using u",
		"merge into t using u on t.id = u.id when matched then delete",
		"with x as (delete from t returning *) select * from x",
		"copy t from stdin", "select v from t for update",
		"/* a comment */ insert into t values (1)" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		struct cnd_touch t = touch(texts[i], CNC_SQL_POSTGRESQL);

		if (!t.is_write || t.is_all || !has_table(&t, "T"))
			fail_msg("%s", texts[i]);
	}
}

static void
texts_whose_tables_are_not_known_change_all(void **state)
{
	static const char *const texts[] = { "select f()", "do $$ begin end $$",
		"call p()", "execute q", "truncate t", "drop table t", "nonsense t",
		"create table t (a int)", "insert into t values (f())",
		"commit prepared 'x'", "insert into \"t\xc3\xa4\" values (1)",
		"select 'a", "update t set v = v; call p()" };
	struct cnd_touch t;
	struct cnd_summary none = { .classes = CND_CLASS_CALL };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		if (!touch(texts[i], CNC_SQL_POSTGRESQL).is_all)
			fail_msg("%s", texts[i]);
	}
	assert_true(touch("xa commit 'x'", CNC_SQL_MYSQL).is_all);
	assert_true(touch("load data infile 'x' into table t", CNC_SQL_MYSQL).is_write);
	cnd_touch_find(&none, NULL, 0, &t);
	assert_true(t.is_all && t.reach == CNC_REACH_PRIVATE);
}

static void
texts_that_write_nothing_end_nothing(void **state)
{
	static const char *const texts[] = { "select v from t", "begin", "commit",
		"rollback", "savepoint s", "set work_mem = '1MB'", "show work_mem",
		"select now() from t /* a comment */", "explain select v from t",
		"set transaction isolation level serializable", "-- nothing", "" };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		struct cnd_touch t = touch(texts[i], CNC_SQL_POSTGRESQL);

		if (t.is_all || t.is_write)
			fail_msg("%s", texts[i]);
	}
}

static void
what_a_text_does_to_its_session_is_known(void **state)
{
	static const struct {
		const char *sql;
		uint8_t most;
	} texts[] = {
		{ "select v from t /* a comment */", CNC_REACH_DATA },
		{ "insert /* a comment */ into t values (1)", CNC_REACH_DATA },
		{ "", CNC_REACH_NONE },
		{ "set work_mem = 1000", CNC_REACH_SETTING },
	};

	for (size_t i = 0; i < CNT_COUNT(texts); i++)
		assert_true(
			touch(texts[i].sql, CNC_SQL_POSTGRESQL).reach <= texts[i].most);
	assert_true(touch("select @a := 1 /* a comment */", CNC_SQL_MYSQL).reach >=
		    CNC_REACH_SESSION);
	assert_true(
		touch("select v into temp x from t /* c */", CNC_SQL_POSTGRESQL).reach >=
		CNC_REACH_SESSION);
	assert_true(touch("select f() /* a comment */", CNC_SQL_POSTGRESQL).reach >=
		    CNC_REACH_SESSION);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_queries_are_kept),
		cmocka_unit_test(other_texts_are_not_kept),
		cmocka_unit_test(writes_name_their_tables),
		cmocka_unit_test(texts_whose_tables_are_not_known_change_all),
		cmocka_unit_test(texts_that_write_nothing_end_nothing),
		cmocka_unit_test(what_a_text_does_to_its_session_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
