/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/support/cnt_random.h"

#include "harness.h"

/*
 * Promise 1: after a reset, a session looks like a new login. Random clients act; then the test
 * compares everything that can be seen with what a new login sees.
 */
#define SEQUENCES_DEFAULT 2000u
#define ACTIONS_MAX       12u

static const char schema[] =
	"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE, c INT CHECK (c < 1000));"
	"CREATE TABLE child (x INT REFERENCES t (a));"
	"CREATE TABLE log (n INT, m INT);"
	"CREATE TRIGGER tr AFTER DELETE ON t BEGIN INSERT INTO log VALUES (changes(), "
	"old.a); END;"
	"INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);"
	"CREATE TABLE p (a, b); CREATE INDEX pa ON p (a); CREATE INDEX pb ON p (b);"
	"INSERT INTO p VALUES (1, 1), (1, 2); ANALYZE;";

/* The statistics decide which of the two indexes this plan uses. */
static const char plan[] = "EXPLAIN QUERY PLAN SELECT * FROM p WHERE a = 1 AND b = 1";

static const char long_read[] =
	"WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000)"
	" SELECT count(*) FROM r";
static const char long_write[] =
	"INSERT INTO log WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r"
	" WHERE n < 3000) SELECT n, n FROM r LIMIT 2 OFFSET 2990";

/* SQL that a client may send; %d becomes a small number. */
static const char *const actions[] = {
	"PRAGMA analysis_limit=%d",
	"PRAGMA automatic_index=%d",
	"PRAGMA busy_timeout=%d",
	"PRAGMA busy_timeout",
	"PRAGMA cache_size=%d",
	"PRAGMA cache_spill=%d",
	"PRAGMA case_sensitive_like=%d",
	"PRAGMA cell_size_check=%d",
	"PRAGMA checkpoint_fullfsync=%d",
	"PRAGMA count_changes=%d",
	"PRAGMA defer_foreign_keys=%d",
	"PRAGMA empty_result_callbacks=%d",
	"PRAGMA foreign_keys=1",
	"PRAGMA foreign_keys=%d",
	"PRAGMA full_column_names=1",
	"PRAGMA fullfsync=%d",
	"PRAGMA ignore_check_constraints=1",
	"PRAGMA journal_mode=delete",
	"PRAGMA journal_size_limit=%d",
	"PRAGMA legacy_alter_table=%d",
	"PRAGMA locking_mode=exclusive",
	"PRAGMA locking_mode=normal",
	"PRAGMA max_page_count=%d0000",
	"PRAGMA mmap_size=%d000000",
	"PRAGMA page_size=8192",
	"PRAGMA query_only=1",
	"PRAGMA query_only(%d)",
	"PRAGMA read_uncommitted=1",
	"PRAGMA recursive_triggers=1",
	"PRAGMA reverse_unordered_selects=1",
	"PRAGMA secure_delete=%d",
	"PRAGMA short_column_names=0",
	"PRAGMA synchronous=%d",
	"PRAGMA main.synchronous=0",
	"PRAGMA temp_store=%d",
	"PRAGMA threads=%d",
	"PRAGMA trusted_schema=1",
	"PRAGMA user_version=%d",
	"PRAGMA application_id=%d",
	"PRAGMA wal_autocheckpoint=%d",
	"PRAGMA writable_schema=1",
	"PRAGMA soft_heap_limit=%d",
	"PRAGMA no_such_pragma=%d",
	"PRAGMA temp.cache_size=%d",
	"PRAGMA table_info(t)",
	"PRAGMA optimize",
	"PRAGMA optimize(-1)",
	"PRAGMA optimize(0x1000%d)",
	"EXPLAIN PRAGMA optimize",
	"SELECT * FROM pragma_optimize(-1)",
	"UPDATE sqlite_stat1 SET stat = '1000 ' || (1 + 99 * (idx = 'p' || "
	"substr('ab', %d, 1)))",
	"SELECT * FROM p WHERE a = %d AND b = 1",
	"EXPLAIN PRAGMA recursive_triggers=1",
	"SELECT * FROM pragma_table_list",
	"SELECT * FROM pragma_table_info('t')",
	"SELECT * FROM sqlite_temp_schema",
	"CREATE TEMP TABLE tt AS SELECT %d AS x",
	"CREATE TEMP TABLE t (a INTEGER PRIMARY KEY, b, c)",
	"CREATE TEMP VIEW tv AS SELECT * FROM main.t",
	"CREATE TEMP TRIGGER ttr AFTER INSERT ON main.t BEGIN DELETE FROM log; END",
	"CREATE INDEX temp.ti ON tt (x)",
	"CREATE VIRTUAL TABLE temp.fts USING fts5 (body)",
	"INSERT INTO tt VALUES (%d), (%d)",
	"DROP TABLE temp.t",
	"DROP TABLE tt",
	"INSERT INTO t (b, c) VALUES ('n' || random(), %d)",
	"INSERT INTO t (b) VALUES ('one')",
	"INSERT OR ROLLBACK INTO t (b) VALUES ('one')",
	"INSERT OR REPLACE INTO t VALUES (%d, 'r%d', 1)",
	"INSERT INTO child VALUES (%d00)",
	"INSERT INTO t (b, c) VALUES ('big', 5000)",
	"UPDATE t SET c = c + 1 WHERE a > %d",
	"UPDATE t SET c = 0 WHERE a = -1",
	"DELETE FROM t WHERE a > 5",
	"DELETE FROM t WHERE a = %d RETURNING a",
	"DELETE FROM log",
	"WITH w AS (SELECT %d AS n) INSERT INTO log SELECT n, n FROM w",
	"BEGIN",
	"BEGIN IMMEDIATE",
	"BEGIN EXCLUSIVE",
	"COMMIT",
	"END TRANSACTION",
	"ROLLBACK",
	"SAVEPOINT s%d",
	"RELEASE s%d",
	"ROLLBACK TO s%d",
	"BEGIN; INSERT INTO log VALUES (%d, 0)",
	"INSERT INTO log VALUES (1, 2); SELECT nonsense; DELETE FROM log",
	"SELECT * FROM t",
	"SELECT changes(), total_changes(), last_insert_rowid()",
	"SELECT nonsense",
	"selec",
	"ATTACH ':memory:' AS m%d",
	"ATTACH '' AS e",
	"CREATE TABLE m1.x (y)",
	"DETACH m%d",
	"CREATE TABLE IF NOT EXISTS extra (e)",
	"DROP TABLE IF EXISTS extra",
	"ALTER TABLE extra ADD COLUMN f%d",
	"CREATE TABLE \"temp\".q (z)",
	"ANALYZE",
	"REINDEX",
	"EXPLAIN SELECT * FROM t",
	long_read,
	long_write,
};

#define N_ACTIONS (sizeof(actions) / sizeof(actions[0]))

static void
write_sql(struct cnt_random *rnd, const char *format, char *out, size_t size)
{
	size_t n = 0;

	for (; *format && n + 2 < size; format++) {
		if (format[0] == '%' && format[1] == 'd') {
			out[n++] = (char)('0' + cnt_random_below(rnd, 4));
			format++;
		} else {
			out[n++] = *format;
		}
	}
	out[n] = 0;
}

static void
act_by_call(struct sq *t, struct cnt_random *rnd, const char *sql)
{
	struct cnp_catalog tables = { .kind = (uint8_t)(1 + cnt_random_below(rnd, 9)) };

	switch (cnt_random_below(rnd, 10)) {
	case 0:
		(void)sq_begin(t, (uint8_t)cnt_random_below(rnd, 5),
			(uint32_t)cnt_random_below(rnd, 4));
		break;
	case 1:
		(void)sq_commit(t);
		break;
	case 2:
		(void)sq_rollback(t);
		break;
	case 3:
		(void)sq_savepoint(t, (uint8_t)cnt_random_below(rnd, 3), "s\"1");
		break;
	case 4:
		(void)sq_autocommit(t, (int)cnt_random_below(rnd, 2));
		break;
	case 5:
		(void)sq_catalog(t, &tables);
		break;
	case 6:
	case 7:
		(void)sq_prepare(t, 1 + (uint32_t)cnt_random_below(rnd, 5), sql);
		break;
	default:
		(void)sq_execute(t, 1 + (uint32_t)cnt_random_below(rnd, 5), 0, NULL, 0);
		break;
	}
}

/* Play a client: run some of the actions in any order, and leave or cancel some results. */
static void
live(struct sq *t, struct cnt_random *rnd, char *story, size_t size)
{
	uint64_t n = 1 + cnt_random_below(rnd, ACTIONS_MAX);
	size_t used = 0;
	char sql[512];

	story[0] = 0;
	for (; n > 0; n--) {
		write_sql(
			rnd, actions[cnt_random_below(rnd, N_ACTIONS)], sql, sizeof(sql));
		t->base.batch_rows = cnt_random_below(rnd, 4) == 0;
		t->base.max_rows = cnt_random_below(rnd, 8) == 0;
		t->interrupt_at = cnt_random_below(rnd, 8) == 0;
		if (cnt_random_below(rnd, 4) == 0)
			act_by_call(t, rnd, sql);
		else
			(void)sq_query(t, sql);
		if (used < size)
			used += (size_t)snprintf(story + used, size - used,
				"    %s -> %s", sql, t->base.seen.log);
	}
	t->base.batch_rows = 0;
	t->base.max_rows = 0;
	t->interrupt_at = 0;
}

/* PRAGMAs that act or do not describe the session: data_version only means something to a
 * session that has read it before. */
static const char *const not_probed[] = { "data_version", "incremental_vacuum",
	"optimize", "wal_checkpoint", "integrity_check", "quick_check",
	"foreign_key_check", "shrink_memory" };

static const char delete_and_tell[] =
	"BEGIN; DELETE FROM t WHERE a = 2; SELECT changes(), total_changes();"
	" SELECT n FROM log ORDER BY rowid DESC LIMIT 1; ROLLBACK";
static const char insert_and_tell[] =
	"BEGIN; INSERT INTO t (a, b, c) VALUES (77777, 'probe', 2); SELECT changes(),"
	" total_changes(), last_insert_rowid(); INSERT INTO child VALUES (99999); "
	"ROLLBACK";

static const char *const probes[] = {
	"PRAGMA database_list",
	"SELECT changes(), total_changes(), last_insert_rowid()",
	"SELECT 'a' LIKE 'A'",
	"SELECT * FROM sqlite_temp_schema",
	"SELECT * FROM pragma_function_list WHERE builtin = 0",
	"SELECT * FROM pragma_collation_list",
	"SELECT name FROM pragma_module_list ORDER BY name",
	"SELECT t.a, * FROM t",
	plan,
	"PRAGMA optimize(-1)",
	"EXPLAIN PRAGMA optimize",
	"PRAGMA stats",
	"SELECT count(*), sum(n), sum(m) FROM log",
	"SELECT * FROM sqlite_schema",
	"SELECT x FROM tt",
	"SELECT name FROM sqlite_stmt",
	"COMMIT",
	"RELEASE s1",
	"DETACH m1",
	/* From here on, the probes change data. They run in one session after the other. */
	delete_and_tell,
	insert_and_tell,
	"BEGIN; UPDATE t SET c = 0 WHERE 0; SELECT changes(); ROLLBACK",
};

static char *pragma_names[128];
static size_t n_pragma_names;

static int
is_probed(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(not_probed) / sizeof(not_probed[0]); i++) {
		if (strcmp(not_probed[i], name) == 0)
			return 0;
	}
	return 1;
}

/* Collect all PRAGMAs of this SQLite. */
static void
find_pragmas(struct sq *t)
{
	char *list = strdup(sq_query(
		t, "SELECT 'PRAGMA ' || name FROM pragma_pragma_list ORDER BY 1"));
	char *line, *rest = NULL;

	assert_non_null(list);
	n_pragma_names = 0;
	for (line = strtok_r(list, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "row PRAGMA ", 11) != 0 || !is_probed(line + 11))
			continue;
		assert_in_range(n_pragma_names, 0, 127);
		pragma_names[n_pragma_names++] = strdup(line + 4);
	}
	free(list);
	assert_in_range(n_pragma_names, 40, 127);
}

static void
add(char **text, size_t *len, const char *what, const char *answer)
{
	size_t n = strlen(what) + strlen(answer) + 2;

	*text = realloc(*text, *len + n + 1);
	assert_non_null(*text);
	*len += (size_t)snprintf(*text + *len, n + 1, "%s\n%s", what, answer);
}

static char *
probe(struct sq *t)
{
	char *text = NULL;
	size_t len = 0, i;

	add(&text, &len, "state", sq_state(t));
	for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		add(&text, &len, probes[i], sq_query(t, probes[i]));
	for (i = 0; i < n_pragma_names; i++)
		add(&text, &len, pragma_names[i], sq_query(t, pragma_names[i]));
	for (i = 1; i <= 5; i++)
		add(&text, &len, "execute", sq_execute(t, (uint32_t)i, 0, NULL, 0));
	add(&text, &len, "state", sq_state(t));
	return text;
}

/* Report the first line that differs. */
static void
fail_at_difference(const struct cnt_random *rnd, unsigned i, const char *story,
	const char *a, const char *b)
{
	size_t n = 0, line = 0;

	while (a[n] && a[n] == b[n]) {
		n++;
		if (a[n - 1] == '\n')
			line = n;
	}
	line = line > 150 ? line - 150 : 0;
	fail_msg(
		"seed %llu, sequence %u: after\n%sthe session differs from a new login:\n"
		"--- reset\n%.400s\n--- new\n%.400s\n",
		(unsigned long long)rnd->seed, i, story, a + line, b + line);
}

static void
a_reset_session_cannot_be_told_from_a_new_login(void **state)
{
	const char *more = getenv("CNT_SEQUENCES");
	unsigned n = more ? (unsigned)strtoul(more, NULL, 10) : SEQUENCES_DEFAULT, i;
	struct cnt_random rnd;
	struct sq t, fresh;
	char story[4096], *old, *new;

	cnt_random_init_printed(&rnd);
	sq_setup(&t);
	sq_option(&t, "attach", "yes");
	sq_option(&t, "synchronous", "off");
	sq_option(&t, "busy_timeout", "0");
	assert_ok(sq_login(&t));
	(void)sq_query(&t, schema);
	find_pragmas(&t);
	assert_ok(sq_reset(&t));
	for (i = 0; i < n; i++) {
		live(&t, &rnd, story, sizeof(story));
		if (sq_reset(&t) != CENOTE_OK)
			fail_msg("seed %llu, sequence %u: after\n%sthe reset failed: %s",
				(unsigned long long)rnd.seed, i, story,
				t.base.diag.message);
		old = probe(&t);
		assert_ok(sq_reset(&t));
		sq_sibling(&t, &fresh);
		new = probe(&fresh);
		sq_teardown(&fresh);
		if (strcmp(old, new) != 0)
			fail_at_difference(&rnd, i, story, old, new);
		free(old);
		free(new);
	}
	sq_teardown(&t);
	while (n_pragma_names > 0)
		free(pragma_names[--n_pragma_names]);
}

static int
setup(void **state)
{
	struct sq *t;

	(void)sq_test_setup(state);
	t = *state;
	(void)sq_query(t, schema);
	assert_ok(sq_reset(t));
	return 0;
}

static void
what_a_session_holds_pins_it(void **state)
{
	static const struct {
		const char *sql;
		const char *state;
	} cases[] = {
		{ "SELECT 1", "idle pins=0" },
		{ "INSERT INTO log VALUES (1, 1)", "idle pins=0" },
		{ "PRAGMA table_info(t)", "idle pins=0" },
		{ "PRAGMA user_version=3", "idle pins=0" },
		{ "PRAGMA cache_size=10", "idle pins=2" },
		{ "PRAGMA data_version", "idle pins=2" },
		{ "CREATE TEMP TABLE x (y)", "idle pins=1" },
		{ "CREATE TEMP VIEW v AS SELECT 1", "idle pins=1" },
		{ "ATTACH '' AS a", "idle pins=0" }, /* refused */
		{ "BEGIN", "open pins=0" },
	};
	struct sq *t = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)sq_query(t, cases[i].sql);
		if (strcmp(sq_state(t), cases[i].state) != 0)
			fail_msg("%s: %s", cases[i].sql, sq_state(t));
		assert_ok(sq_reset(t));
		assert_string_equal(sq_state(t), "idle pins=0");
	}
	/* The next client's first statement does not run in the last client's transaction. */
	(void)sq_begin(t, 0, CENOTE_BEGIN_READ_ONLY);
	assert_ok(sq_reset(t));
	assert_answer(t, "DELETE FROM log", "done DELETE 1 affected=1\n");
	t->base.batch_rows = 1;
	(void)sq_query(t, "SELECT * FROM t");
	assert_string_equal(sq_state(t), "idle pins=16");
	sq_logout(t);
	sq_option(t, "attach", "yes");
	assert_ok(sq_login(t));
	(void)sq_query(t, "ATTACH '' AS a");
	assert_string_equal(sq_state(t), "idle pins=32");
}

static int
keep_row(void *user, int n, char **values, char **names)
{
	int i;

	(void)names;
	for (i = 0; i < n; i++)
		snprintf((char *)user + 24 * i, 24, "%s", values[i]);
	return 0;
}

/* The backend has its own changes() and total_changes(). They must return the same as SQLite's. */
static void
counters_are_those_of_sqlite_itself(void **state)
{
	static const char *const statements[] = {
		"INSERT INTO t (b, c) VALUES (NULL, %d)",
		"INSERT INTO t (b) VALUES ('one')",
		"INSERT OR IGNORE INTO t (b) VALUES ('one')",
		"INSERT OR REPLACE INTO t VALUES (%d, 'r%d', 1)",
		"INSERT INTO t (b, c) VALUES ('big', 5000)",
		"UPDATE t SET c = %d WHERE a > %d",
		"UPDATE t SET c = 0 WHERE a = -1",
		"DELETE FROM t WHERE a = %d",
		"DELETE FROM t WHERE a > 5",
		"DELETE FROM log",
		"INSERT INTO log SELECT a, changes() FROM t WHERE a > %d",
		"WITH w AS (SELECT changes() AS n) INSERT INTO log SELECT n, n FROM w",
		"DELETE FROM t WHERE a = %d RETURNING a",
		"BEGIN",
		"COMMIT",
		"ROLLBACK",
		"SAVEPOINT s",
		"ROLLBACK TO s",
		"RELEASE s",
		"CREATE TABLE IF NOT EXISTS x AS SELECT 1 AS y",
		"DROP TABLE IF EXISTS x",
		"EXPLAIN DELETE FROM t",
		"SELECT nonsense",
		"VACUUM",
	};
	struct sq *t = *state;
	struct cnt_random rnd;
	char path[128], sql[256], own[3][24], line[128];
	sqlite3 *db = NULL;
	unsigned i;

	cnt_random_init_printed(&rnd);
	snprintf(path, sizeof(path), "%s/model.db", t->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), SQLITE_OK);
	for (i = 0; i < 1000; i++) {
		if (i % 20 == 0) {
			(void)sqlite3_close(db);
			assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
			(void)sqlite3_exec(db, "PRAGMA synchronous=0", NULL, NULL, NULL);
			assert_ok(sq_reset(t));
		}
		write_sql(&rnd,
			statements[cnt_random_below(
				&rnd, sizeof(statements) / sizeof(statements[0]))],
			sql, sizeof(sql));
		(void)sqlite3_exec(db, sql, NULL, NULL, NULL);
		(void)sq_query(t, sql);
		assert_int_equal(
			sqlite3_exec(db,
				"SELECT changes(), total_changes(), last_insert_rowid()",
				keep_row, own, NULL),
			SQLITE_OK);
		snprintf(line, sizeof(line), "row %s|%s|%s\n", own[0], own[1], own[2]);
		if (!strstr(sq_query(t, "SELECT changes(), total_changes(), "
					"last_insert_rowid()"),
			    line))
			fail_msg("seed %llu, statement %u: %s: SQLite has %s the session "
				 "has %s",
				(unsigned long long)rnd.seed, i, sql, line,
				t->base.seen.log);
	}
	(void)sqlite3_close(db);
}

/* A client takes its counters and its autocommit to another session. */
static void
a_client_that_was_moved_sees_its_own_counters(void **state)
{
	static const char ask[] =
		"SELECT changes(), total_changes(), last_insert_rowid()";
	struct sq *t = *state, other;
	struct cnd_state first, second;
	struct cnp_str carry;
	char copy[64];

	t->base.b->state(t->base.s, &first);
	assert_int_equal(first.carry.n, 0);
	(void)sq_query(t, "INSERT INTO t (a) VALUES (41), (42)");
	(void)sq_query(t, "UPDATE t SET c = 9 WHERE a = 41");
	(void)sq_autocommit(t, 0);
	t->base.b->state(t->base.s, &first);
	assert_in_range(first.carry.n, 24, sizeof(copy));
	memcpy(copy, first.carry.p, first.carry.n);
	carry = (struct cnp_str){ copy, first.carry.n };
	sq_sibling(t, &other);
	/* Another client used that session before. */
	(void)sq_query(
		&other, "DELETE FROM log; INSERT INTO log VALUES (1, 1), (2, 2), (3, 3)");
	assert_ok(sq_reset(&other));
	assert_ok(other.base.b->attach(other.base.s, &carry, &other.base.diag));
	other.base.b->state(other.base.s, &second);
	assert_int_equal(second.carry.n, 0); /* unchanged */
	assert_answer(&other, ask,
		"columns changes():INT64 total_changes():INT64 "
		"last_insert_rowid():INT64\n"
		"row 1|3|42\ndone SELECT 1\n");
	assert_string_equal(
		sq_state(&other), "open pins=0"); /* autocommit is off here too */
	(void)sq_query(&other, "INSERT INTO log VALUES (7, 7), (8, 8)");
	assert_answer(&other, "SELECT changes(), total_changes()",
		"columns changes():INT64 total_changes():INT64\nrow 2|5\ndone SELECT "
		"1\n");
	(void)sq_commit(&other);
	/* Once sent, the carry is sent each time: an empty one would mean "unchanged". */
	(void)sq_autocommit(&other, 1);
	other.base.b->state(other.base.s, &second);
	assert_int_equal(second.carry.n, first.carry.n);
	/* A statement that changes no rows sets changes() to 0, even if SQLite's own count was 0
	 * before. */
	sq_teardown(&other);
	sq_sibling(t, &other);
	carry = (struct cnp_str){ copy, first.carry.n };
	assert_ok(other.base.b->attach(other.base.s, &carry, &other.base.diag));
	assert_non_null(strstr(sq_query(&other, ask), "row 1|3|42\n"));
	(void)sq_query(&other, "UPDATE log SET n = 0 WHERE 0");
	assert_non_null(strstr(sq_query(&other, ask), "row 0|3|42\n"));
	carry = (struct cnp_str){ "x", 1 };
	assert_int_equal(other.base.b->attach(other.base.s, &carry, &other.base.diag),
		CENOTE_ERR_SERVER);
	sq_teardown(&other);
}

/* The carry comes back from the client, so the backend must not trust it. */
static void
a_forged_state_harms_nobody(void **state)
{
	struct sq *t = *state;
	uint8_t forged[25];
	struct cnp_str carry = { (const char *)forged, sizeof(forged) };

	(void)sq_query(t, "create table forged (a)");
	assert_ok(sq_reset(t));
	cnc_put_u64(forged, (uint64_t)INT64_MAX);
	cnc_put_u64(forged + 8, (uint64_t)INT64_MAX);
	cnc_put_u64(forged + 16, (uint64_t)INT64_MAX);
	forged[24] = 0;
	assert_ok(t->base.b->attach(t->base.s, &carry, &t->base.diag));
	(void)sq_query(t, "insert into forged values (1)");
	assert_ok(t->base.last);
	assert_answer(t, "select total_changes() as n",
		"columns n:INT64\nrow -9223372036854775808\ndone SELECT 1\n");
	assert_ok(sq_reset(t));
	assert_answer(t, "select total_changes() as n",
		"columns n:INT64\nrow 0\ndone SELECT 1\n");
}

/* After a RESET, the same client goes on and must not keep its old carry. */
static void
a_reset_is_told_to_a_client_that_stays(void **state)
{
	struct sq *t = *state;
	struct cnd_state now;
	struct cnp_str carry;
	char copy[64];

	(void)sq_query(t, "INSERT INTO t (a) VALUES (41)");
	t->base.b->state(t->base.s, &now);
	assert_in_range(now.carry.n, 24, sizeof(copy));
	memcpy(copy, now.carry.p, now.carry.n);
	carry = (struct cnp_str){ copy, now.carry.n };
	assert_ok(t->base.b->reset(t->base.s, &t->base.diag));
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.carry.n, carry.n);
	assert_int_equal(cnc_get_u64((const uint8_t *)now.carry.p), 0);
	/* The same for a client that brought a carry from another session. */
	assert_ok(t->base.b->attach(t->base.s, &carry, &t->base.diag));
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.carry.n, 0);
	assert_ok(t->base.b->reset(t->base.s, &t->base.diag));
	t->base.b->state(t->base.s, &now);
	assert_int_equal(now.carry.n, carry.n);
}

static void
a_file_that_was_replaced_is_opened_anew(void **state)
{
	struct sq *t = *state;
	struct cnp_str none = CNP_STR_NONE;

	assert_ok(t->base.b->ping(t->base.s, &t->base.diag));
	assert_int_equal(unlink(t->path), 0);
	assert_int_equal(t->base.b->ping(t->base.s, &t->base.diag), CENOTE_ERR_CONN);
	assert_ok(t->base.b->attach(t->base.s, &none, &t->base.diag));
	assert_answer(t, "SELECT * FROM t", "error 42P01 no such table: t\n");
	assert_ok(t->base.b->ping(t->base.s, &t->base.diag));
}

static unsigned n_login_changes;

static void
on_login_changed(const struct cnd_host *host)
{
	(void)host;
	n_login_changes++;
}

/* After any client has changed the statistics, a reset session makes the same plans as a new
 * one. */
static void
plans_are_those_of_a_new_login(void **state)
{
	static const char change[] =
		"UPDATE sqlite_stat1 SET stat = '1000 ' || (1 + 99 * (idx = '%s'))";
	struct sq *t = *state, other;
	char first[512], sql[256];

	n_login_changes = 0;
	t->base.host.login_changed = on_login_changed;
	for (int i = 0; i < 4; i++) {
		sq_sibling(t, &other);
		snprintf(first, sizeof(first), "%s", sq_query(t, plan));
		snprintf(sql, sizeof(sql), change, strstr(first, "pa (") ? "pa" : "pb");
		/* this session's client changes them, or another session's client */
		(void)sq_query(i % 2 ? t : &other, sql);
		assert_ok(i % 2 ? t->base.last : other.base.last);
		(void)sq_query(t, "SELECT count(*) FROM p");
		sq_teardown(&other);
		assert_ok(sq_reset(t));
		sq_sibling(t, &other);
		assert_string_not_equal(sq_query(&other, plan), first);
		assert_answer(t, plan, other.base.seen.log);
		sq_teardown(&other);
	}
	/* the worker hears that logins have changed */
	assert_int_equal(n_login_changes, 4);
	(void)sq_query(t, "ANALYZE");
	assert_ok(sq_reset(t));
	assert_int_equal(n_login_changes, 5);
	(void)sq_query(t, "BEGIN; DELETE FROM p; ANALYZE; ROLLBACK");
	assert_ok(sq_reset(t));
	assert_int_equal(n_login_changes, 5);
	sq_sibling(t, &other);
	assert_answer(t, plan, sq_query(&other, plan));
	sq_teardown(&other);
}

/* PRAGMA optimize names the tables whose statistics were used since the file was opened. */
static void
no_table_of_a_former_client_is_named(void **state)
{
	static const char *const tries[] = { "PRAGMA optimize(-1)", "PRAGMA optimize=0x1",
		"PRAGMA main.optimize(3)", "EXPLAIN PRAGMA optimize",
		" explain query plan PRAGMA optimize",
		"SELECT * FROM pragma_optimize(-1)" };
	struct sq *t = *state;

	(void)sq_query(t, "CREATE TABLE of_former (a); CREATE INDEX fa ON of_former (a);"
			  "INSERT INTO of_former VALUES (1), (2)");
	assert_ok(sq_reset(t));
	(void)sq_query(t, "SELECT * FROM of_former WHERE a = 1");
	assert_ok(sq_reset(t));
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		if (strstr(sq_query(t, tries[i]), "of_former") ||
			t->base.last != CENOTE_ERR_SERVER)
			fail_msg("%s: %s", tries[i], t->base.seen.log);
	}
	(void)sq_query(t, "PRAGMA optimize");
	assert_ok(t->base.last);
}

static void
the_values_of_a_client_do_not_stay_in_a_kept_statement(void **state)
{
	struct sq *t = *state;
	struct cnc_value v = cnt_text("secret");

	(void)sq_query_with(t, "SELECT ?1", &v, 1);
	assert_ok(sq_reset(t));
	/* SQLite itself would use the old value of a parameter that is not bound. */
	assert_answer(t, "SELECT ?1",
		"error 07001 the statement has 1 parameters, but 0 values were given\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, sq_test_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_session_holds_pins_it),
		TEST(counters_are_those_of_sqlite_itself),
		TEST(a_client_that_was_moved_sees_its_own_counters),
		TEST(a_forged_state_harms_nobody),
		TEST(a_reset_is_told_to_a_client_that_stays),
		TEST(a_file_that_was_replaced_is_opened_anew),
		TEST(plans_are_those_of_a_new_login),
		TEST(no_table_of_a_former_client_is_named),
		TEST(the_values_of_a_client_do_not_stay_in_a_kept_statement),
		cmocka_unit_test(a_reset_session_cannot_be_told_from_a_new_login),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
