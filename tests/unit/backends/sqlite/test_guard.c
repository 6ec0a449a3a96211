/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits and options of the SQLite backend: forbidden statements, busy files, memory
 * that runs out.
 */
#include "tests/support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "core/mem.h"
#include "tests/support/cnt_alloc.h"

#include "harness.h"

static int
check(struct sq *t, const char *key, const char *value)
{
	struct cnd_option options[] = { { "path", "/tmp/x.db" }, { key, value } };
	struct cnd_server_spec spec = { options, 2 };

	cnc_diag_clear(&t->base.diag);
	return t->base.b->check(&spec, &t->base.diag);
}

static void
a_server_line_is_checked_key_by_key(void **state)
{
	static const char *const good[][2] = { { "mode", "ro" }, { "mode", "rwc" },
		{ "busy_timeout", "0" }, { "busy_timeout", "500ms" },
		{ "busy_timeout", "2min" }, { "journal_mode", "WAL" },
		{ "synchronous", "normal" }, { "foreign_keys", "on" },
		{ "cache_size", "64MB" }, { "cache_size", "-2000" }, { "attach", "yes" },
		{ "statement_cache", "0" } };
	static const char *const bad[][2] = { { "mode", "wr" }, { "busy_timeout", "5" },
		{ "busy_timeout", "-1s" }, { "busy_timeout", "99999999999s" },
		{ "busy_timeout", "" }, { "journal_mode", "off" },
		{ "journal_mode", "memory" }, { "synchronous", "maybe" },
		{ "foreign_keys", "2" }, { "cache_size", "64XB" },
		{ "cache_size", "9999999GB" }, { "attach", "" },
		{ "statement_cache", "-1" }, { "statement_cache", "1000000" },
		{ "path", ":memory:" }, { "path", "" }, { "path", "file:x?mode=memory" },
		{ "Path", "x" }, { "passwd", "secret" } };
	struct sq *t = *state;
	struct cnd_server_spec empty = { NULL, 0 };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (check(t, good[i][0], good[i][1]) != CENOTE_OK)
			fail_msg("%s=%s: %s", good[i][0], good[i][1],
				t->base.diag.message);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (check(t, bad[i][0], bad[i][1]) != CENOTE_ERR_ARG)
			fail_msg("%s=%s was taken", bad[i][0], bad[i][1]);
		assert_non_null(strstr(t->base.diag.message, bad[i][0]));
	}
	assert_int_equal(t->base.b->check(&empty, &t->base.diag), CENOTE_ERR_ARG);
	assert_non_null(strstr(t->base.diag.message, "path"));
	assert_int_equal(check(t, "busy_timeout", "5"), CENOTE_ERR_ARG);
	assert_string_equal(t->base.diag.message,
		"busy_timeout=5 is not allowed: it is a "
		"time of at most 24 days, such as 500ms "
		"or 5s");
}

static void
options_are_in_force_after_login_and_after_a_reset(void **state)
{
	static const char ask[] = "select (select * from pragma_foreign_keys), (select * "
				  "from pragma_cache_size),"
				  " (select * from pragma_synchronous), (select * from "
				  "pragma_journal_mode)";
	static const char answer[] = "row 1|-4096|1|wal\ndone SELECT 1\n";
	struct sq *t = *state;

	sq_logout(t);
	sq_option(t, "foreign_keys", "on");
	sq_option(t, "cache_size", "4MB");
	sq_option(t, "synchronous", "normal");
	sq_option(t, "busy_timeout", "1234ms");
	assert_ok(sq_login(t));
	assert_non_null(strstr(sq_query(t, ask), answer));
	assert_answer(t, "pragma busy_timeout",
		"columns timeout:INT64\nrow 1234\ndone PRAGMA\n");
	(void)sq_query(t,
		"pragma foreign_keys=0; pragma cache_size=7; pragma synchronous=0;"
		" pragma busy_timeout=7");
	assert_null(strstr(sq_query(t, ask), answer));
	assert_non_null(strstr(sq_query(t, "pragma busy_timeout"), "row 7\n"));
	(void)sq_query(t, "pragma busy_timeout=8");
	assert_non_null(strstr(sq_query(t, "pragma busy_timeout"), "row 8\n"));
	assert_ok(sq_reset(t));
	assert_non_null(strstr(sq_query(t, ask), answer));
	assert_answer(t, "pragma busy_timeout",
		"columns timeout:INT64\nrow 1234\ndone PRAGMA\n");
}

static void
a_login_that_fails_says_why(void **state)
{
	struct sq *t = *state;
	FILE *f;

	sq_logout(t);
	t->base.options[0].value = "/nowhere/at/all.db";
	assert_int_equal(sq_login(t), CENOTE_ERR_CONN);
	assert_string_equal(t->base.diag.sqlstate, "08001");
	assert_string_equal(t->base.diag.message,
		"/nowhere/at/all.db: unable to open "
		"database file: No such file or directory");
	t->base.options[0].value = t->path;
	f = fopen(t->path, "w");
	assert_non_null(f);
	assert_true(fputs("this is not a database, but it is long enough to be read\n",
			    f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(sq_login(t), CENOTE_ERR_CONN);
	assert_string_equal(t->base.diag.sqlstate, "XX001");
	assert_int_equal(remove(t->path), 0);
	sq_option(t, "mode", "rw");
	assert_int_equal(sq_login(t), CENOTE_ERR_CONN);
	assert_non_null(strstr(t->base.diag.message, "mode=rwc would create it"));
}

/* Each login tries to make the file, and to switch it to WAL. */
static void
logins_at_the_same_time_all_succeed(void **state)
{
	struct sq *t = *state;
	pid_t pids[6];
	int status, round;
	size_t i;

	for (round = 0; round < 4; round++) {
		sq_logout(t);
		(void)remove(t->path);
		for (i = 0; i < 6; i++) {
			pids[i] = fork();
			assert_true(pids[i] >= 0);
			if (pids[i] == 0)
				_exit(sq_login(t) == CENOTE_OK &&
							sq_query(t, "create table if not "
								    "exists t (a);"
								    "insert into t "
								    "values (1)") &&
							t->base.last == CENOTE_OK
						? 0
						: 1);
		}
		for (i = 0; i < 6; i++) {
			assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
			assert_int_equal(status, 0);
		}
		assert_ok(sq_login(t));
		assert_non_null(strstr(sq_query(t, "select count(*) from t"), "row 6\n"));
	}
}

static void
a_read_only_session_cannot_write(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a); insert into t values (1)");
	sq_logout(t);
	sq_option(t, "mode", "ro");
	assert_ok(sq_login(t));
	assert_answer(t, "select * from t", "columns a:INT64\nrow 1\ndone SELECT 1\n");
	assert_answer(t, "insert into t values (2)",
		"error 25006 attempt to write a readonly database\n");
	assert_answer(
		t, "drop table t", "error 25006 attempt to write a readonly database\n");
}

static const char in_a_trigger[] = "create temp view v as select 1; create trigger "
				   "temp.tr instead of insert on v begin"
				   " select fts3_tokenizer('simple', "
				   "x'0000000000000000'); end; insert into v values (1)";

static void
what_would_reach_beyond_the_session_is_refused(void **state)
{
	static const char *const refused[] = {
		"attach '' as a",
		"attach '/tmp/x.db' as a",
		"attach 'x' || 'y' as a",
		"vacuum into '/tmp/cenote-never-made.db'",
		"pragma writable_schema=1",
		"pragma main.writable_schema=1",
		"PRAGMA Writable_Schema(on)",
		"pragma temp_store_directory='/tmp'",
		"pragma data_store_directory='/tmp'",
		"pragma locking_mode=exclusive",
		"pragma key='x'",
		"pragma rekey='x'",
		"pragma activate_extensions='x'",
		"pragma trusted_schema=on",
		"pragma hard_heap_limit=1000",
		"pragma soft_heap_limit=1000",
		"pragma schema_version=1",
		"pragma default_cache_size=1",
		"pragma lock_proxy_file='x'",
		"explain pragma writable_schema=1",
		"select load_extension('x')",
		"select fts3_tokenizer('simple')",
		in_a_trigger,
	};
	struct cnc_value blob = {
		.type = CENOTE_TYPE_BYTES, .bytes = "01234567", .len = 8
	};
	struct sq *t = *state;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (!strstr(sq_query(t, refused[i]), "error 42501 "))
			fail_msg("%s: %s", refused[i], t->base.seen.log);
	}
	assert_answer(t, "attach '' as a",
		"error 42501 ATTACH is not allowed in this pool hint=attach=yes on the "
		"pool's "
		"server line allows it.\n");
	assert_string_equal(
		sq_query_with(t, "select fts3_tokenizer('simple', ?)", &blob, 1),
		"error 42501 fts3_tokenizer() is not allowed in a pooled session "
		"position=8\n");
	/* The connection is in defensive mode, and has no table of prepared statements. */
	assert_non_null(strstr(sq_query(t, "delete from sqlite_schema"), "error "));
	assert_non_null(strstr(sq_query(t, "create virtual table f using fts5 (x);"
					   "delete from f_data"),
		"error 42809 table f_data may not be modified"));
	assert_answer(t, "select sql from sqlite_stmt",
		"error 42P01 no such table: sqlite_stmt\n");
	/* A client may read these settings. */
	assert_non_null(strstr(sq_query(t, "pragma trusted_schema"), "row 0\n"));
	assert_non_null(strstr(sq_query(t, "pragma locking_mode"), "row normal\n"));
}

static void
vacuum_works_where_attach_does_not(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a); insert into t values (1)");
	assert_answer(t, "vacuum", "done VACUUM\n");
	assert_string_equal(sq_state(t), "idle pins=0");
	assert_answer(t, "attach '' as a",
		"error 42501 ATTACH is not allowed in this pool hint=attach=yes on the "
		"pool's "
		"server line allows it.\n");
	assert_answer(t, "begin; vacuum",
		"done BEGIN more-results\n"
		"error 25001 cannot VACUUM from within a transaction\n");
}

static void
attach_works_where_it_is_allowed(void **state)
{
	struct sq *t = *state;
	char sql[160];

	sq_logout(t);
	sq_option(t, "attach", "yes");
	assert_ok(sq_login(t));
	snprintf(sql, sizeof(sql), "attach '%s/other.db' as o; create table o.x (y)",
		t->dir);
	assert_answer(t, sql, "done ATTACH more-results\ndone CREATE TABLE\n");
	assert_string_equal(sq_state(t), "idle pins=32");
	snprintf(sql, sizeof(sql), "vacuum into '%s/copy.db'", t->dir);
	assert_answer(t, sql, "done VACUUM\n");
	assert_ok(sq_reset(t));
	assert_answer(t, "select * from o.x", "error 42P01 no such table: o.x\n");
}

static void
the_module_exports_one_symbol(void **state)
{
	assert_non_null(sq_symbol("cnd_backend_get"));
	assert_null(sq_symbol("cnd_sq_query"));
	assert_null(sq_symbol("cnc_batch_put"));
	assert_null(sq_symbol("cnc_diag_set"));
}

/* Views and triggers may call changes() and total_changes(), but no harmful functions. */
static void
counters_work_in_triggers_and_views(void **state)
{
	struct sq *t = *state;

	(void)sq_query(t, "create table t (a); create table log (n);"
			  "create view v as select changes() as c, total_changes() as tc;"
			  "create trigger tr after insert on t begin"
			  " update t set a = a; insert into log values (changes()); end");
	(void)sq_query(t, "insert into t values (1), (2)");
	assert_ok(sq_reset(t));
	assert_answer(t, "select * from v",
		"columns c:INT64 tc:INT64\nrow 0|0\ndone SELECT 1\n");
	(void)sq_query(t, "insert into t values (3)");
	assert_answer(t, "select n from log where rowid = 3",
		"columns n:INT64\nrow 3\ndone SELECT 1\n");
	assert_answer(t, "select * from v",
		"columns c:INT64 tc:INT64\nrow 1|5\ndone SELECT 1\n");
}

/* Whichever allocation fails, the backend reports an error, and nothing is lost or leaked. */
static void
lack_of_memory_is_an_error_each_time(void **state)
{
	struct cnc_value v = cnt_int(1);
	struct cnt_alloc a;
	struct sq t;
	size_t n;

	for (n = 1; n < 1000; n++) {
		cnt_alloc_init(&a, n);
		sq_setup(&t);
		t.base.host.mem = &a.mem;
		t.base.mem = &a.mem;
		if (sq_login(&t) == CENOTE_OK) {
			(void)sq_query(&t, "create table t (a integer); insert into t "
					   "values (1), (2)");
			(void)sq_prepare(&t, 1, "select a, :x from t");
			(void)sq_execute(&t, 1, 0, &v, 1);
			t.base.batch_rows = 1;
			(void)sq_query(&t, "select * from t; select 1");
			(void)sq_fetch(&t, t.base.portal, 1);
			(void)sq_query(&t, "select nothing");
			(void)sq_savepoint(&t, 0, "x");
			(void)sq_reset(&t);
		}
		sq_teardown(&t);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a))
			break;
	}
	assert_in_range(n, 10, 999);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sq_test_setup, sq_test_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_server_line_is_checked_key_by_key),
		TEST(options_are_in_force_after_login_and_after_a_reset),
		TEST(a_login_that_fails_says_why),
		TEST(logins_at_the_same_time_all_succeed),
		TEST(a_read_only_session_cannot_write),
		TEST(what_would_reach_beyond_the_session_is_refused),
		TEST(vacuum_works_where_attach_does_not),
		TEST(attach_works_where_it_is_allowed),
		cmocka_unit_test(the_module_exports_one_symbol),
		TEST(counters_work_in_triggers_and_views),
		cmocka_unit_test(lack_of_memory_is_an_error_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
