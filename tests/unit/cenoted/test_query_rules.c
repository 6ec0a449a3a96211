/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules see in a text of SQL (query/summary.c), and which rule matches (query/query_rules.c). The expected classes and
 * tables are those of the servers' documents. The whole regression suite of PostgreSQL is judged beside its own parser by
 * tests/suites/sql_summary.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/read_only.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* "read, write | orders app.lines | max": the classes, tables and functions. A table that is written has a ! behind it. */
static const char *
summary_text(const struct cnd_summary *s, char text[1024])
{
	char classes[CND_CLASSES_TEXT_MAX];
	const struct cnd_sql_names *lists[] = { &s->tables, &s->functions };
	size_t n = (size_t)snprintf(text, 1024, "%s",
		s->is_unsure ? "unsure" : cnd_classes_text(s->classes, classes));

	for (size_t i = 0; i < 2; i++) {
		n += (size_t)snprintf(text + n, 1024 - n, " |");
		for (uint32_t j = 0; j < lists[i]->n; j++) {
			const struct cnd_sql_name *name = &lists[i]->list[j];

			n += (size_t)snprintf(text + n, 1024 - n, " %.*s%s%.*s%s",
				(int)name->schema.n, name->schema.n ? name->schema.p : "",
				name->schema.n ? "." : "", (int)name->name.n,
				name->name.p, name->is_written ? "!" : "");
		}
	}
	return text;
}

struct expectation {
	const char *sql;
	const char *summary;
};

static void
expect_all(const struct expectation *list, size_t n, uint32_t dialect)
{
	struct cnd_summary s;
	char text[1024];
	int n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		cnd_summarize(list[i].sql, strlen(list[i].sql), dialect, &s);
		if (strcmp(summary_text(&s, text), list[i].summary) == 0)
			continue;
		fprintf(stderr, "# %s\n#   is     %s\n#   not    %s\n", list[i].sql, text,
			list[i].summary);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

static void
postgresql(void **state)
{
	static const struct expectation list[] = {
		{ "", " | |" },
		{ " ; ;", " | |" },
		{ "select 1", "read | |" },
		{ "(select 1) union (select a from t)", "read | t |" },
		{ "SELECT * FROM orders o, app.lines AS l WHERE o.id = l.id",
			"read | orders app.lines |" },
		{ "select * from (a join b on true) x, lateral f(x), c",
			"read | a b c | f" },
		{ "select * from only a, only b", "read | a b |" },
		{ "select * from a set, b values, c", "read | a b c |" },
		{ "select * from f() with ordinality as t(x, y), b", "read | b | f t" },
		{ "select 1 as from from t", "read | t |" },
		{ "select t.from, t.update from t", "read | t |" },
		{ "select extract(year from d), a is not distinct from b from t",
			"read | t | extract" },
		{ "select a from t where b in (select c from u where d = any (select e "
		  "from v))",
			"read | t u v |" },
		{ "select a into b from t", "read, write | b! t |" },
		{ "select * from t for no key update", "read, write | t |" },
		{ "select * from t for key share", "read, write | t |" },
		{ "select nextval('s')", "read, write | | nextval" },
		{ "table secret", "read | secret |" },
		{ "select 1 union table secret", "read | secret |" },
		{ "values (1), (2)", "read | |" },
		{ "show all", "read | |" },

		{ "with x as (select * from t) select * from x, y", "read | t y |" },
		{ "with x as (select 1) select 1; select * from x", "read | x |" },
		{ "with x as (select * from x) select 1", "read | x |" },
		{ "with recursive x(a) as (select 1 union select a + 1 from x) select * "
		  "from x",
			"read | | x" },
		{ "select * from (with x as (select 1) select * from x) y, x",
			"read | x |" },
		{ "with \"X\" as (select 1) select * from x", "read | x |" },
		{ "with x as materialized (select 1), y as not materialized (select 2) "
		  "select * from x, y, z",
			"read | z |" },
		{ "with x as (delete from t using u returning *) select * from x",
			"read, write | t! u |" },
		{ "with x as (select 1) insert into t select * from x",
			"read, write | t! |" },

		{ "insert into t (a, b) select a, max(b) from u group by a on conflict "
		  "(a) do update set b = 1 returning a, b",
			"read, write | t! u | max" },
		{ "update a set x = 1 from b where a.i = b.i", "write | a! b |" },
		{ "delete from a using b where a.i = b.i returning a, b",
			"write | a! b |" },
		{ "merge into t using (select * from u) s on true when matched then "
		  "delete",
			"read, write | t! u |" },
		{ "explain delete from t", "read | t! |" },
		{ "explain (analyze, buffers) delete from t", "read, write | t! |" },
		{ "explain (costs off, \"analyze\" on) delete from t",
			"read, write | t! |" },
		{ "merge into t using u on a = b when matched then update set a = 1 when "
		  "not matched then insert (a, b) values (c, d)",
			"write | t! u |" },
		{ "select * from a replace, b", "read, write | a b! |" },
		{ "update a set x = 1 from b set, c", "write | a! b c |" },
		{ "copy t (a, b) from stdin", "write, copy | t! |" },
		{ "copy t to stdout", "read, copy | t |" },
		{ "copy (update t set a = 1 returning a) to stdout",
			"write, copy | t! |" },
	};

	expect_all(list, N_ITEMS(list), CNC_SQL_POSTGRESQL);
}

static void
postgresql_ddl_and_the_rest(void **state)
{
	static const struct expectation list[] = {
		{ "create table if not exists t (id int references other (id), check "
		  "(f(id)))",
			"ddl | t! other! | f" },
		{ "create table a partition of b for values in (1)", "ddl | a! b! |" },
		{ "create table a (like b including all)", "ddl | a! b! |" },
		{ "create or replace view v as select 1 as \"into\" from t",
			"read, ddl | v! t |" },
		{ "create table a as select * from b", "read, ddl | a! b |" },
		{ "alter table only t add a int, add b int", "ddl | t! |" },
		{ "drop table if exists a, b cascade", "ddl | a! b! |" },
		{ "truncate a, only b", "write, ddl | a! b! |" },
		{ "create index concurrently on t using btree (lower(x))",
			"ddl | t! | btree lower" },
		{ "grant select on a, b to joe", "read, ddl | a! b! |" },

		{ "create trigger a before insert or update on t for each row execute "
		  "function f()",
			"write, ddl | t! | f" },
		{ "create rule a as on insert to t do instead nothing",
			"write, ddl | t! |" },
		{ "vacuum (verbose) t (a), u (b)", "ddl | t! u! | t u" },
		{ "create sequence if not exists s", "ddl | s! |" },
		{ "grant usage on sequence s, t to joe", "ddl | s! t! |" },
		{ "create trigger a before delete on sequence execute function f()",
			"write, ddl | sequence! | f" },
		{ "select nextval('s')", "read, write | | nextval" },
		{ "truncate local", "write, ddl | local! |" },
		{ "begin; insert into t values (1); commit",
			"write, transaction | t! |" },
		{ "lock table a, b in share mode", "write, transaction | a! b! |" },
		{ "set search_path = x", "session | |" },
		{ "prepare p as delete from t", "write, session | t! |" },
		{ "execute p", "call | |" },
		{ "do $$ begin delete from t; end $$", "call | |" },
		{ "call p(1)", "call | | p" },
		{ "frobnicate t", "other | |" },
	};

	expect_all(list, N_ITEMS(list), CNC_SQL_POSTGRESQL);
}

/* A constant and a comment are no statements, unless standard_conforming_strings is off. */
static void
postgresql_constants(void **state)
{
	static const struct expectation list[] = {
		{ "select '; drop table t'", "read | |" },
		{ "select $$; drop table t$$", "read | |" },
		{ "select '\\'; drop table t; --'", "read, ddl | t! |" },
		{ "select 1 -- ; drop table t", "read | |" },
		{ "select 1 /* /* */ ; drop table t */", "read | |" },
		{ "select 1; /* */ drop /* x */ table/**/t", "read, ddl | t! |" },
		{ "select 'open", "unsure | |" },
	};

	expect_all(list, N_ITEMS(list), CNC_SQL_POSTGRESQL);
}

static void
mysql(void **state)
{
	static const struct expectation list[] = {
		{ "select * from t use index for order by (i), secret",
			"read | t secret |" },
		{ "select * from t for system_time as of now(), secret",
			"read | t secret | now" },
		{ "select /*!50000 1 into outfile '/x' */ from t", "read, write | t |" },
		{ "/*!99999 '*/ drop table t -- ' */", "ddl, other | t! |" },
		{ "/*!1 a*/ /*!2 b*/ select 1", "unsure | |" },
		{ "replace into t values (1)", "write | t! |" },
		{ "select replace(a, b, c) from t", "read | t | replace" },
		{ "insert t values (1) on duplicate key update a = 1, b = 2",
			"write | t! |" },
		{ "delete a, b from a join b", "write | a! b! a! b! |" },
		{ "select * from .t, { oj a join b }, c", "read | t a b c |" },
		{ "set global a = 1", "ddl, session | |" },
		{ "set a = 1, @@persist.b = 2", "ddl, session | |" },
		{ "set @a = (select b from t)", "read, session | t |" },
		{ "begin not atomic execute immediate 'drop table t'; end",
			"ddl, transaction, call | t! |" },
		{ "set statement a = 1 for update t set b = 1", "write, session | t! |" },
		{ "show columns in t", "read | t |" },
		{ "update low_priority a join b on a.i = b.i set a.x = 1, b.y = 2",
			"write | a! b! |" },
		{ "select * from t lock in share mode", "read, write | t |" },
		{ "load data infile 'x' into table t", "write, copy | t! |" },
		{ "analyze delete from t", "write, ddl | t! |" },
		{ "analyze table a, b", "ddl | a! b! |" },
		{ "select convert(a using utf8) from t", "read | t | convert" },
		{ "select * from \"orders\"", "read | \"orders\" |" },
		{ "prepare s from 'drop table t'", "ddl, session, call | t! |" },
		{ "prepare s from 'drop table t\\''", "unsure | |" },
		{ "prepare s from @v", "unsure | |" },
		{ "execute immediate concat('x')", "unsure | | concat" },
		{ "set statement max_statement_time = 1 for drop table t",
			"ddl, session | t! |" },
		{ "begin not atomic drop table t; end", "ddl, transaction | t! |" },
		{ "if 1 then drop table t; end if", "ddl, transaction, other | t! |" },
		{ "select '\\'; drop table t; -- '", "read, ddl | t! |" },
		{ "select 1 # ; drop table t", "read | |" },
		{ "select 1 --; drop table t", "read, ddl | t! |" },
		{ "select get_lock('a', 1)", "read, write | | get_lock" },
		{ "cache index t index (a), u in hot", "other | t u | index" },
		{ "load index into cache t partition (p), u", "write, copy | t! u! |" },
		{ "insert into cache values (1)", "write | cache! |" },
		{ "select nextval(s), lastval(d.t), next value for u",
			"read, write | s! d.t! u! | nextval lastval" },
		{ "create table t (a int default nextval(s), sequence int)",
			"write, ddl | t! s! | nextval" },
		{ "drop sequence a, b", "ddl | a! b! |" },
		{ "select '\xbf\\' , '; drop table t -- '", "unsure | t! |" },
	};

	expect_all(list, N_ITEMS(list), CNC_SQL_MYSQL);
}

static void
other_servers(void **state)
{
	static const struct expectation tds[] = {
		{ "select 1 drop table x", "read, ddl | x! |" },
		{ "select * from [a].[b] cross apply c", "read | [a].[b] c |" },
		{ "update top (1) t set a = 1", "write, session | t! |" },
		{ "insert top (1) into t select a from u", "read, write | t! u |" },
		{ "select * from a limit, b", "read | a b |" },
		{ "fetch next from c select * from t", "read | t |" },
		{ "alter table a add x int drop table b, c", "ddl | a! b! c! |" },
		{ "exec p", "call | |" },
	};
	static const struct expectation sqlite[] = {
		{ "select * from a, [b c], `d`", "read | a [b c] `d` |" },
		{ "update or ignore t set a = 1", "write | t! |" },
		{ "pragma journal_mode = off", "session | |" },
		{ "attach 'x' as y", "session | |" },
		{ "select * from 'a', main.'b'", "read | 'a' main.'b' |" },
	};
	static const struct expectation unknown[] = {
		{ "select a from t where b = 'c'", "read | t |" },
		{ "select '\\'", "unsure | |" },
		{ "select a[1] from t", "unsure | |" },
		{ "select 1 -- x", "unsure | |" },
		{ "{call p(?)}", "call, other | | p" },
	};

	expect_all(tds, N_ITEMS(tds), CNC_SQL_TDS);
	expect_all(sqlite, N_ITEMS(sqlite), CNC_SQL_SQLITE);
	expect_all(unknown, N_ITEMS(unknown), CNC_SQL_UNKNOWN);
}

/* Every prefix of a text is read without a fault, and names stay inside the text. */
static void
cut_anywhere(void **state)
{
	static const char sql[] =
		"with recursive \"a b\"(x) as materialized (select extract(year from d) "
		"from s.t, lateral f(x) where y = 'it''s' and z = E'\\'') , b as (delete "
		"from u using v returning *) insert into w (a, b) select * from \"a b\" "
		"join b using (x) /* c */ for update; copy (table q) to stdout; prepare "
		"p "
		"from 'drop table t'";
	static const uint32_t dialects[] = { CNC_SQL_POSTGRESQL, CNC_SQL_MYSQL,
		CNC_SQL_SQLITE, CNC_SQL_TDS, CNC_SQL_UNKNOWN };
	struct cnd_summary s;

	for (size_t n = 0; n < sizeof(sql); n++) {
		char *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, sql, n);
		for (size_t i = 0; i < N_ITEMS(dialects); i++) {
			cnd_summarize(copy, n, dialects[i], &s);
			for (uint32_t j = 0; j < s.tables.n; j++) {
				const struct cnc_sql_token *t = &s.tables.list[j].name;

				assert_true(t->p >= copy && t->p + t->n <= copy + n);
			}
		}
		free(copy);
	}
}

static void
names_are_compared_without_case_and_in_doubt_equal(void **state)
{
	static const struct {
		const char *sql;
		const char *wanted;
		bool is;
	} list[] = {
		{ "table Orders", "orders", true },
		{ "table \"orders\"", "orders", true },
		{ "table orders2", "orders", false },
		{ "table app.orders", "orders", true },
		{ "table app.orders", "app.orders", true },
		{ "table pub.orders", "app.orders", false },
		{ "table orders", "app.orders", true },
		{ "table \"or\"\"ders\"", "anything", true },
		{ "table U&\"\\006frders\"", "orders", true },
	};
	struct cnd_summary s;

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		cnd_summarize(list[i].sql, strlen(list[i].sql), CNC_SQL_POSTGRESQL, &s);
		assert_int_equal(s.tables.n, 1);
		if (cnd_sql_name_is(&s.tables.list[0], list[i].wanted) != list[i].is)
			fail_msg("%s, %s", list[i].sql, list[i].wanted);
	}
}

/* ---- rules ---- */

/* Whether a rule decides about the statement. */
static bool
decides(const char *text, const char *sql)
{
	struct cnd_query_rules rules = { .n = 0 };
	char error[CND_QUERY_ERROR_MAX];
	const struct cnd_query_condition *condition;
	struct cnd_summary summary;
	struct cnd_query q = { .summary = &summary,
		.sql = sql,
		.sql_len = strlen(sql),
		.now = 1795942800, /* Sunday, 2026-11-29 09:00 UTC */
		.database = "app",
		.user = "joe",
		.application = "psql",
		.in_tx = true };
	bool applies;

	if (cnd_query_rules_parse(&rules, text, 1, error) < 0)
		fail_msg("%s: %s", text, error);
	cnd_summarize(sql, strlen(sql), CNC_SQL_POSTGRESQL, &summary);
	applies = cnd_query_rule_applies(
		&rules.list[0], cnd_query_rule_match(&rules.list[0], &q, &condition));
	cnd_query_rules_destroy(&rules);
	return applies;
}

static void
a_part_is_enough_to_deny_and_not_to_allow(void **state)
{
	static const char both[] = "select * from a, b";

	assert_true(decides("tables=a -> deny", both));
	assert_false(decides("tables=a -> allow", both));
	assert_true(decides("tables=a,b -> allow", both));
	assert_true(decides("tables!=a -> deny", both));
	assert_false(decides("tables!=a -> allow", both));
	assert_false(decides("tables=c -> deny", both));
	assert_true(decides("class=ddl -> deny", "select 1; drop table x"));
	assert_false(decides("class=read -> allow", "select 1; drop table x"));
	assert_true(decides("class=read -> allow", "select 1; select 2"));
	assert_true(decides("class!=read -> deny", "select 1; drop table x"));
	/* a text goes to another target only if the conditions hold for all of it */
	assert_true(decides("class=read -> pool x", "select 1; select 2"));
	assert_false(decides("class=read -> pool x", "select 1; delete from t"));
	assert_false(decides("class=read -> pool x", "select 'open"));
	/* nobody can say what this does */
	assert_true(decides("class=ddl -> deny", "select 'open"));
	assert_true(decides("tables=a -> deny", "select 'open"));
	assert_true(decides("tables!=a -> deny", "select 'open"));
	assert_false(decides("tables!=a -> allow", "select 'open"));
	assert_true(decides("tables=a -> limit rows=1", "select 'open"));
	assert_true(decides("tables=a -> limit rows=1", both));
}

static void
all_conditions_must_hold(void **state)
{
	assert_true(decides("-> deny", "select 1"));
	assert_true(decides(
		"user=ann,joe application=psql in_tx=yes from=unix -> deny", "select 1"));
	assert_false(decides("user=ann,joe application!=psql -> deny", "select 1"));
	assert_false(decides("in_tx=no -> deny", "select 1"));
	assert_false(decides("from=10.0.0.0/8 -> deny", "select 1"));
	assert_true(decides("functions=f -> deny", "select g(f(1))"));
	assert_false(decides("functions=f -> deny", "select f from t"));
	assert_true(decides("\"user=joe\" -> deny", "select 1"));
	assert_false(decides("digest=0123456789abcdef -> deny", "select 1"));
	assert_true(decides("database=app -> deny", "select 1"));
	assert_false(decides("database!=app -> deny", "select 1"));
}

static void
a_pattern_sees_the_text(void **state)
{
	/* this takes exponential time */
	static const char slow[] = "\"text~^(a+)+$\" -> %s";
	static const char as[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
	char rule[64];

	assert_true(decides("\"text~^select \\* from\" -> deny", "select * from t"));
	assert_true(decides("text~\"^select \\* from\" -> allow", "select * from t"));
	assert_false(decides("text~\"^select \\* from\" -> deny", "select  * from t"));
	assert_true(decides("text~(?i)from\\s+T -> deny", "select * from t"));
	assert_true(decides("text~a=1,b -> deny", "select a=1,b"));
	assert_true(decides("text!~^select -> deny", "delete from t"));
	assert_false(decides("text!~^select -> deny", "select 1"));
	/* the match ends at its limit without an answer; then a rule that denies applies */
	snprintf(rule, sizeof(rule), slow, "deny");
	assert_true(decides(rule, as));
	snprintf(rule, sizeof(rule), slow, "allow");
	assert_false(decides(rule, as));
	assert_false(decides(rule, "aaab"));
}

static void
a_time_is_by_day_and_clock(void **state)
{
	assert_true(decides("\"time=08:00-18:00 UTC\" -> deny", "select 1"));
	assert_false(decides("\"time!=08:00-18:00 UTC\" -> deny", "select 1"));
	assert_true(decides("\"time=sat-sun UTC\" -> deny", "select 1"));
	assert_false(decides("\"time=mon-fri 08:00-18:00 UTC\" -> deny", "select 1"));
	assert_true(decides("\"time=08:00-09:00,09:00-10:00 UTC\" -> deny", "select 1"));
	assert_true(decides("\"time=10:00-11:00 Europe/Berlin\" -> deny", "select 1"));
}

/* What a pool with read_only = yes refuses by the text. The server refuses more; tests/integration/test_read_only.c has that. */
static void
a_read_only_pool_refuses_what_the_server_would_allow(void **state)
{
	static const struct {
		const char *sql;
		uint32_t dialect;
		bool is_refused;
	} list[] = {
		{ "select f()", CNC_SQL_POSTGRESQL, false },
		{ "select 1; select 2", CNC_SQL_POSTGRESQL, false },
		{ "select 1; select 2", CNC_SQL_MYSQL, true },
		{ "begin", CNC_SQL_POSTGRESQL, false },
		{ "begin; select 1", CNC_SQL_POSTGRESQL, true },
		{ "begin isolation level serializable read only", CNC_SQL_POSTGRESQL,
			false },
		{ "begin read /* */ WRITE", CNC_SQL_POSTGRESQL, true },
		{ "commit prepared 'x'", CNC_SQL_POSTGRESQL, true },
		{ "set search_path = x", CNC_SQL_POSTGRESQL, false },
		{ "set transaction_read_only = off", CNC_SQL_POSTGRESQL, true },
		{ "set \"Transaction_Read_Only\" = off", CNC_SQL_POSTGRESQL, true },
		{ "set U&\"x\\005fy\" = off", CNC_SQL_POSTGRESQL, true },
		{ "copy t to stdout", CNC_SQL_POSTGRESQL, false },
		{ "copy t from stdin", CNC_SQL_POSTGRESQL, true },
		{ "do $$ $$", CNC_SQL_POSTGRESQL, true },
		{ "select 'open", CNC_SQL_POSTGRESQL, true },
		{ "set names utf8mb4", CNC_SQL_MYSQL, false },
		{ "set @@tx_read_only = 0", CNC_SQL_MYSQL, true },
		{ "/*! set tx_read_only = 0 */", CNC_SQL_MYSQL, true },
		{ "set @a = '\\' , tx_read_only = 0 , b = '", CNC_SQL_MYSQL, true },
		{ "pragma query_only = off", CNC_SQL_SQLITE, false },
		{ "vacuum into 'x'", CNC_SQL_SQLITE, true },
	};
	struct cnd_summary summary;

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		struct cnd_query q = { .summary = &summary,
			.sql = list[i].sql,
			.sql_len = strlen(list[i].sql) };

		cnd_summarize(q.sql, q.sql_len, list[i].dialect, &summary);
		if ((cnd_read_only_fault(&q, list[i].dialect) != NULL) !=
			list[i].is_refused)
			fail_msg("%s", list[i].sql);
	}
}

static void
a_wrong_rule_says_what_is_allowed(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} list[] = {
		{ "", "CONDITIONS -> ACTION" },
		{ "class=read", "CONDITIONS -> ACTION" },
		{ "class=read ->", "-> deny, -> allow, or -> pool NAME" },
		{ "class=read -> refuse", "there are allow, cache, deny" },
		{ "-> cache", "write -> cache ttl=TIME" },
		{ "-> cache 60s", "not ttl=TIME" },
		{ "-> cache ttl=0", "not ttl=TIME" },
		{ "-> cache ttl=soon", "not ttl=TIME" },
		{ "class=read -> pool", "write -> pool NAME" },
		{ "class=read -> pool a b", "pool has one name" },
		{ "clas=read -> deny", "did you mean \"class=\"" },
		{ "colour=red -> deny", "there are class, tables" },
		{ "class -> deny", "not a condition" },
		{ "class=reed -> deny", "read, write, ddl" },
		{ "class= -> deny", "read, write, ddl" },
		{ "tables=\"a b\\\"\" -> deny", "without quotes" },
		{ "tables=.a -> deny", "without quotes" },
		{ "digest=12 -> deny", "16 digits" },
		{ "from=10.0.0.1/8 -> deny", "a network" },
		{ "in_tx=maybe -> deny", "yes or no" },
		{ "text~( -> deny", "not a regular expression" },
		{ "text=a -> deny", "write text~, or text!~" },
		{ "user~a -> deny", "write user=, or user!=" },
		{ "time=noon -> deny", "time zone" },
		{ "time= -> deny", "days and times are missing" },
		{ "time=user=joe -> deny", "of its own" },
		{ "~a -> deny", "not a condition" },
		{ "-> deny \"a\" \"b\"", "one message" },
		{ "-> deny sqlstate=00000", "SQLSTATE of an error" },
		{ "-> deny sqlstate=4250", "SQLSTATE of an error" },
		{ "-> allow \"a\"", "cannot stand after allow" },
		{ "-> limit", "with a value above 0" },
		{ "-> limit rows=0", "with a value above 0" },
		{ "-> limit rows=many", "rows=NUMBER" },
		{ "-> limit rows", "rows=NUMBER" },
		{ "-> limit bytes=-1", "bytes=SIZE" },
		{ "-> limit time=soon", "time=2s" },
		{ "-> deny \"a", "quote does not end" },
		{ "class=\"read -> deny", "quote does not end" },
		{ "text~a(b -> deny", "at byte 4" },
		{ "-> rewrite", "the new text" },
		{ "-> rewrite \"\"", "the new text" },
		{ "-> rewrite a b", "one text" },
		{ "-> rewrite \\1", "is no group" },
		{ "text!~(a) -> rewrite \\1", "is no group" },
		{ "text~(a) -> rewrite \\2", "is no group" },
		{ "text~(a) -> rewrite \\{b}", "is no group" },
		{ "text~(?<b>a) -> rewrite \\{b", "is no group" },
		{ "text~a -> rewrite a\\", "is no group" },
	};
	char error[CND_QUERY_ERROR_MAX];

	for (size_t i = 0; i < N_ITEMS(list); i++) {
		struct cnd_query_rules rules = { .n = 0 };

		if (cnd_query_rules_parse(&rules, list[i].text, 7, error) == 0 ||
			strstr(error, list[i].error) == NULL)
			fail_msg("%s: %s", list[i].text, error);
		cnd_query_rules_destroy(&rules);
	}
}

static void
an_action_has_a_message_and_an_sqlstate(void **state)
{
	struct cnd_query_rules rules = { .n = 0 };
	char error[CND_QUERY_ERROR_MAX];

	assert_int_equal(cnd_query_rules_parse(&rules,
				 "class=ddl -> deny \"ask \\\"Ann\\\" first\" "
				 "sqlstate=0A000 dry-run",
				 7, error),
		0);
	assert_int_equal(cnd_query_rules_parse(&rules, "-> deny", 8, error), 0);
	assert_string_equal(rules.list[0].message, "ask \"Ann\" first");
	assert_string_equal(rules.list[0].sqlstate, "0A000");
	assert_true(rules.list[0].is_dry_run);
	assert_int_equal(cnd_query_rules_parse(&rules,
				 "-> limit rows=1000 bytes=2MB time=2s", 9, error),
		0);
	assert_int_equal(rules.list[2].max_rows, 1000);
	assert_int_equal(rules.list[2].max_bytes, 2 << 20);
	assert_int_equal(rules.list[2].max_ms, 2000);
	assert_false(cnd_query_rule_decides(&rules.list[2]));
	assert_true(cnd_query_rule_decides(&rules.list[1]));
	assert_null(rules.list[1].message);
	assert_string_equal(rules.list[1].sqlstate, "42501");
	cnd_query_rules_destroy(&rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(postgresql),
		cmocka_unit_test(postgresql_ddl_and_the_rest),
		cmocka_unit_test(postgresql_constants),
		cmocka_unit_test(mysql),
		cmocka_unit_test(other_servers),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(names_are_compared_without_case_and_in_doubt_equal),
		cmocka_unit_test(a_part_is_enough_to_deny_and_not_to_allow),
		cmocka_unit_test(all_conditions_must_hold),
		cmocka_unit_test(a_pattern_sees_the_text),
		cmocka_unit_test(a_time_is_by_day_and_clock),
		cmocka_unit_test(a_read_only_pool_refuses_what_the_server_would_allow),
		cmocka_unit_test(a_wrong_rule_says_what_is_allowed),
		cmocka_unit_test(an_action_has_a_message_and_an_sqlstate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
