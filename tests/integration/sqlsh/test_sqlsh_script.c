/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define TWO_POOLS                                                                        \
	CNT_DAEMON_CONFIG "[pool other]\nbackend = sqlite\n"                             \
			  "server = path=@DIR@/other.db\nsessions = 1..4\n"

#define MILLION                                                                          \
	"with recursive c(n) as (select 1 union all select n + 1 from c where n < "      \
	"1000000) "
#define FOR_EVER "with recursive c(n) as (select 1 union all select n + 1 from c) "

/* The memory that a million rows may cost. To keep all rows would take 30 MB or more. The address
 * sanitizer keeps freed memory. */
#if defined(__SANITIZE_ADDRESS__)
#define RSS_GROWTH_KB (512 * 1024)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RSS_GROWTH_KB (512 * 1024)
#endif
#endif
#ifndef RSS_GROWTH_KB
#define RSS_GROWTH_KB 4096
#endif

static struct cnt_daemon *
daemon_of(void **state)
{
	return *state;
}

static int
set_up(void **state)
{
	static struct cnt_daemon daemon;

	*state = &daemon;
	return cnt_daemon_start(&daemon, TWO_POOLS);
}

static int
tear_down(void **state)
{
	return cnt_daemon_stop(daemon_of(state));
}

static void
all_commands_have_one_session(void **state)
{
	assert_runs(daemon_of(state), 0, "1\n", "", "-q", "--format=csv", "--no-header",
		"-c", "create temp table x(a)", "-c", "insert into x values (1)", "-c",
		"select a from x");
	assert_runs(daemon_of(state), 1, "", "ERROR 42P01: no such table: x\n",
		"--format=csv", "-c", "select a from x");
}

static const struct {
	const char *format;
	const char *out;
} formats[] = {
	{ "--format=table", "  i |   d | t   | n    | e | b\n"
			    "----+-----+-----+------+---+--------\n"
			    " -7 | 1.5 | a,b | NULL |   | \\x00ff\n"
			    "(1 row)\n\n" },
	{ "--format=expanded",
		"-[ RECORD 1 ]\n"
		"i | -7\nd | 1.5\nt | a,b\nn | NULL\ne | \nb | \\x00ff\n\n" },
	{ "--format=csv", "i,d,t,n,e,b\n-7,1.5,\"a,b\",,\"\",\\x00ff\n" },
	{ "--format=tsv", "i\td\tt\tn\te\tb\n-7\t1.5\ta,b\t\\N\t\t\\\\x00ff\n" },
	{ "--format=json", "{\"i\":-7,\"d\":1.5,\"t\":\"a,b\",\"n\":null,\"e\":\"\","
			   "\"b\":\"\\\\x00ff\"}\n" },
	{ "--format=unaligned", "i|d|t|n|e|b\n-7|1.5|a,b|NULL||\\x00ff\n" },
};

static void
each_format_shows_null_apart_from_the_empty_text(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		assert_runs(daemon_of(state), 0, formats[i].out, "", formats[i].format,
			"-c",
			"select -7 as i, 1.5 as d, 'a,b' as t, null as n, '' as e, "
			"x'00ff' as b");
	assert_runs(daemon_of(state), 0, "-|\n", "", "--format=unaligned", "--null=-",
		"--no-header", "-c", "select null, ''");
}

static void
results_without_rows_have_a_header(void **state)
{
	assert_runs(daemon_of(state), 0, "a,b\n", "", "--format=csv", "-c",
		"select 1 as a, 2 as b where 0");
	assert_runs(daemon_of(state), 0, " a\n---\n(0 rows)\n\n", "", "-c",
		"select 1 as a where 0");
}

static void
the_first_error_ends_a_script_with_status_1(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;

	run_sqlsh(&r, d, "select 1;\n\nselect\n nope;\nselect 3;\n", "--format=csv",
		"--no-header", NULL);
	assert_string_equal(r.out, "1\n");
	assert_string_equal(r.err, "sqlsh: stdin:3: ERROR 42703: no such column: nope\n"
				   "LINE 2:  nope\n         ^\n");
	assert_int_equal(r.status, 1);
	run_finish(&r);
	run_sqlsh(&r, d, "select 1;\n\nselect\n nope;\nselect 3;\n", "--format=csv",
		"--no-header", "--on-error=continue", NULL);
	assert_string_equal(r.out, "1\n3\n");
	assert_int_equal(r.status, 1);
	run_finish(&r);
}

static void
files_run_in_order_and_are_named_in_messages(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	char expected[512];
	struct run r;

	run_write_file(run_path(d, "a.sql"), "select 'a';\n\\i 'b file.sql'\nselect 'c'");
	run_write_file(run_path(d, "b file.sql"), "select 'b';\n\\nonsense\n");
	run_sqlsh(&r, d, "select 'in';", "--format=csv", "--no-header",
		"--on-error=continue", "-c", "\\cd", "-c", "select 0", "-f", "-", "-c",
		"select 2", NULL);
	assert_string_equal(r.out, "0\nin\n2\n");
	assert_int_equal(r.status, 0);
	run_finish(&r);
	assert_int_equal(chdir(d->dir), 0);
	run_sqlsh(&r, d, NULL, "--format=csv", "--no-header", "--on-error=continue", "-f",
		"a.sql", NULL);
	(void)snprintf(expected, sizeof(expected),
		"sqlsh: b file.sql:2: \\nonsense is no command (see \\?)\n");
	assert_string_equal(r.err, expected);
	assert_string_equal(r.out, "a\nb\nc\n");
	assert_int_equal(r.status, 1);
	run_finish(&r);
	assert_runs(d, 1, "", "sqlsh: none.sql: No such file or directory\n", "-f",
		"none.sql");
}

static void
values_are_bound_and_never_pasted(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	assert_runs(d, 0, "text,'; drop table x; --,integer,6,null,real,blob,\\x00ff\n",
		"", "--format=csv", "--no-header", "-v", "t='; drop table x; --", "-v",
		"n:int=5", "-v", "z", "-v", "d:double=1e3", "-v", "b:bytes=00ff", "-c",
		"select typeof(:t), :t, typeof(:n), :n + 1, typeof(:z), typeof(:d), "
		"typeof(:b), :b");
	assert_runs(d, 0, ":t\n", "", "--format=csv", "--no-header", "-v", "t=1", "-c",
		"select ':t' -- :t");
	assert_runs(d, 1, "",
		"sqlsh: ERROR 07002: :other has no value (give it one with -v or "
		"\\set)\n",
		"-v", "t=1", "-c", "select :other");
	assert_runs(d, 0, "9\n", "", "--format=csv", "--no-header", "-c", "\\set n:int 8",
		"-c", "select :n + 1");
}

static void
one_transaction_is_all_or_nothing(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	assert_runs(d, 0, "", "", "-q", "-c", "create table one(a integer primary key)");
	assert_runs(d, 1, "", "ERROR 23505: UNIQUE constraint failed: one.a\n", "-q",
		"-1", "-c", "insert into one values (1)", "-c",
		"insert into one values (1)");
	assert_runs(d, 0, "0\n", "", "--format=csv", "--no-header", "-c",
		"select count(*) from one");
	assert_runs(d, 0, "", "", "-q", "-1", "-c", "insert into one values (1)", "-c",
		"insert into one values (2)");
	assert_runs(d, 0, "2\n", "", "--format=csv", "--no-header", "-c",
		"select count(*) from one");
}

static void
what_is_not_committed_is_gone(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	assert_runs(d, 0, "", "", "-q", "-c",
		"create table gone(a); begin; insert into gone values (1)");
	assert_runs(d, 0, "0\n", "", "--format=csv", "--no-header", "-c",
		"select count(*) from gone");
}

static void
wrong_usage_and_no_connection_are_status_2(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct cnt_daemon other = *d;
	struct run r;

	run_sqlsh(&r, d, NULL, "--format=xml", NULL);
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err, "--format xml: table, expanded, csv, tsv, json or "
				      "unaligned expected"));
	run_finish(&r);
	run_sqlsh(&r, d, NULL, "second", NULL);
	assert_int_equal(r.status, 2);
	run_finish(&r);
	run_sqlsh(&r, d, NULL, "-v", "n:int=x", NULL);
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err, "not an integer"));
	run_finish(&r);
	run_sqlsh(&r, d, NULL, "-1", "--on-error=continue", NULL);
	assert_int_equal(r.status, 2);
	run_finish(&r);
	(void)snprintf(
		other.uri, sizeof(other.uri), "cenote:///nopool?run_dir=%s", d->run_dir);
	run_sqlsh(&r, &other, NULL, "-c", "select 1", NULL);
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err, "nopool"));
	assert_string_equal(r.out, "");
	run_finish(&r);
}

static void
commands_work_from_the_command_line(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;
	char *written;

	assert_runs(d, 0, "a b  c\n", "", "-c", "\\echo a 'b  c'");
	assert_runs(d, 0, "8\n8\n8\n", "", "--format=csv", "--no-header", "-c",
		"select 8", "-c", "\\watch 0.001 c=2");
	assert_runs(
		d, 0, "x | 1\n", "", "--no-header", "-c", "\\x", "-c", "select 1 as x");
	assert_runs(d, 0, "{\"x\":1}\n", "", "-c", "\\f json", "-c", "select 1 as x");
	assert_runs(d, 0, "n:int=5\nt:text=a b\n", "", "-c", "\\set n:int=5", "-c",
		"\\set t 'a b'", "-c", "\\set gone 1", "-c", "\\unset gone", "-c",
		"\\set");
	assert_runs(d, 1, "",
		"sqlsh: \\f: table, expanded, csv, tsv, json or unaligned "
		"expected (see \\?)\n",
		"-c", "\\f xml");
	assert_runs(d, 0, "1\n", "", "--format=csv", "--no-header", "-c", "select 1",
		"-c", "\\q", "-c", "select 2");
	assert_int_equal(chdir(d->dir), 0);
	assert_runs(d, 0, "", "", "--format=csv", "-o", "out.csv", "-c", "select 1 as x");
	written = run_read_file("out.csv");
	assert_string_equal(written, "x\n1\n");
	free(written);
	assert_runs(d, 0, "Y\n", "", "--format=csv", "--no-header", "-c",
		"\\o | tr a-z A-Z", "-c", "select 'y'", "-c", "\\o");
	run_sqlsh(&r, d, NULL, "-c", "\\conninfo", "-c", "\\?", "--timing", "-c",
		"select 1", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "Pool             main\n"));
	assert_non_null(strstr(r.out, "\nKept by          nothing\n"));
	assert_non_null(strstr(r.out, "\\copy "));
	assert_non_null(strstr(r.err, "Time: "));
	run_finish(&r);
	run_sqlsh(&r, d, NULL, "-c", "begin", "-c", "create temp table t(a)", "-c",
		"\\conninfo", NULL);
	assert_non_null(strstr(
		r.out, "\nKept by          an open transaction, temporary objects\n"));
	run_finish(&r);
}

static void
status_shows_the_pool_and_this_client(void **state)
{
	struct run r;

	run_sqlsh(&r, daemon_of(state), NULL, "--format=json", "-c", "\\pools", "-c",
		"\\workers", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "{\"pool\":\"main\",\"backend\":\"sqlite\""));
	assert_non_null(strstr(r.out, "\"program\":\"sqlsh\""));
	run_finish(&r);
}

static void
pins_shows_this_client_and_how_often_pins_began(void **state)
{
	struct run r;

	run_sqlsh(&r, daemon_of(state), NULL, "--format=json", "-c",
		"create temp table t(a)", "-c", "\\pins", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "\"program\":\"sqlsh\""));
	assert_non_null(strstr(r.out, "\"pins\":\"temp\",\"pinned_s\":"));
	assert_non_null(strstr(
		r.out, "{\"pool\":\"main\",\"pin\":\"temp\",\"pinned\":1,\"begun\":"));
	run_finish(&r);
}

static void
the_catalog_is_shown(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;

	assert_runs(d, 0, "", "", "-q", "-c",
		"create table shelf(id integer primary key, room text not null default "
		"'x');"
		"create table book(isbn text primary key, shelf integer references "
		"shelf(id));"
		"create index book_shelf on book(shelf);"
		"create view books as select isbn from book");
	run_sqlsh(&r, d, NULL, "--format=csv", "-c", "\\dt *k", "-c", "\\dv", "-c",
		"\\di book", NULL);
	assert_string_equal(r.err, "");
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, ",book,TABLE"));
	assert_null(strstr(r.out, ",shelf,TABLE"));
	assert_non_null(strstr(r.out, ",books,VIEW"));
	assert_non_null(strstr(r.out, "book,book_shelf,1,shelf,1"));
	run_finish(&r);
	run_sqlsh(&r, d, NULL, "--format=csv", "-c", "\\d book", "-c", "\\d shelf", NULL);
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, "isbn,TEXT,,\n"));
	assert_non_null(strstr(r.out, "room,TEXT,not null,'x'\n"));
	run_finish(&r);
	assert_runs(d, 1, "", "sqlsh: there is no table or view of that name\n", "-c",
		"\\d b_ok");
}

static void
a_statement_may_end_with_a_command(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	assert_runs(d, 0, "-[ RECORD 1 ]\na | 1\n\n a\n---\n 1\n(1 row)\n\n", "", "-c",
		"select 1 as a \\gx", "-c", "select 1 as a\\g");
	assert_runs(d, 0, "-[ RECORD 1 ]\na | 2\n\n", "", "-c", "select 2\nas a\\G\n");
	assert_runs(d, 0, "0\n1\n", "", "--format=csv", "--no-header", "-c",
		"select 0; select 1 \\g");
	/* In quotes and comments, \g is not a command. */
	assert_runs(d, 0, "a \\g\n,b\n", "", "--format=unaligned", "--no-header", "-c",
		"select 'a \\g\n,b'");
	assert_runs(d, 0, "1\n", "", "--format=csv", "--no-header", "-c",
		"select 1 -- \\gx\n;");
}

static void
a_script_goes_to_another_pool_or_ends(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;

	assert_runs(d, 0, "", "", "-q", "-c", "create table only_here(a)");
	run_sqlsh(&r, d, NULL, "-q", "--format=csv", "--no-header", "-c",
		"select count(*) from only_here", "-c", "\\c other", "-c",
		"select a from only_here", NULL);
	assert_string_equal(r.out, "0\n");
	assert_string_equal(r.err, "ERROR 42P01: no such table: only_here\n");
	run_finish(&r);
	/* The rest of the script must not run on the first pool. */
	run_sqlsh(&r, d, NULL, "-q", "--on-error=continue", "-c", "\\c nowhere", "-c",
		"drop table only_here", NULL);
	assert_int_equal(r.status, 2);
	run_finish(&r);
	assert_runs(d, 0, "0\n", "", "--format=csv", "--no-header", "-c",
		"select count(*) from only_here");
}

static void
help_may_be_searched_for_a_word(void **state)
{
	struct run r;

	run_sqlsh(&r, daemon_of(state), NULL, "-c", "\\h WATCH", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "\\watch [SECONDS]"));
	assert_non_null(strstr(r.out, "\nStatements\n"));
	assert_null(strstr(r.out, "\\copy"));
	assert_null(strstr(r.out, "\nOutput\n"));
	run_finish(&r);
}

static void
copying_out_and_in_gives_the_same(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	static const char *const kinds[] = { "csv", "tsv header" };
	size_t i;

	assert_int_equal(chdir(d->dir), 0);
	assert_runs(d, 0, "", "", "-q", "-c",
		"create table src(id integer primary key, t text, n);"
		"create table dst(id integer primary key, t text, n);" MILLION
		"insert into src select n, case n % 7 when 0 then null when 1 then '' "
		"when 2 "
		"then 'a,\"b\"' when 3 then char(9, 10, 13, 92) || 'N' else 'caf\xc3\xa9 "
		"' || n "
		"end, null from c limit 5000");
	for (i = 0; i < 2; i++) {
		char out[64], in[64];

		(void)snprintf(out, sizeof(out), "\\copy src to 'x.txt' %s", kinds[i]);
		(void)snprintf(in, sizeof(in), "\\copy dst from 'x.txt' %s", kinds[i]);
		assert_runs(d, 0, "DELETE 0\nCOPY 5000\nCOPY 5000\n", "", "-c",
			"delete from dst where 0", "-c", out, "-c", in);
		assert_runs(d, 0, "5000,0,1428\n", "", "--format=csv", "--no-header",
			"-c",
			"select count(*), (select count(*) from (select * from src "
			"except "
			"select * from dst)), sum(t is null and n is null) * 2 from dst");
		assert_runs(d, 0, "", "", "-q", "-c", "delete from dst");
	}
}

static void
a_copy_that_fails_names_the_line_and_leaves_nothing(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;
	FILE *file;
	int i;

	assert_int_equal(chdir(d->dir), 0);
	assert_runs(
		d, 0, "", "", "-q", "-c", "create table uniq(id integer primary key, t)");
	file = fopen("bad.csv", "we");
	(void)fprintf(file, "t,id\n");
	for (i = 1; i <= 3000; i++)
		(void)fprintf(file, "\"two\nlines\",%d\n", i == 2000 ? 1 : i);
	(void)fclose(file);
	assert_runs(d, 1, "",
		"sqlsh: bad.csv:4000: ERROR 23505: UNIQUE constraint failed: uniq.id\n",
		"-c", "\\copy uniq from bad.csv header");
	run_write_file("short.csv", "1,a\n2\n");
	assert_runs(d, 1, "", "sqlsh: short.csv:2: 1 field, where 2 are expected\n", "-c",
		"\\copy uniq from short.csv");
	run_write_file("quote.csv", "1,a\n2,\"b\n");
	assert_runs(d, 1, "", "sqlsh: quote.csv:2: a quote is not closed\n", "-c",
		"\\copy uniq from quote.csv");
	assert_runs(d, 1, "", "sqlsh: none.csv: No such file or directory\n", "-c",
		"\\copy uniq from none.csv");
	/* In the user's own transaction, earlier changes stay. */
	run_sqlsh(&r, d, NULL, "--format=csv", "--no-header", "--on-error=continue", "-c",
		"begin; insert into uniq values (7, 'mine')", "-c",
		"\\copy uniq from short.csv", "-c", "commit", "-c", "select * from uniq",
		NULL);
	assert_string_equal(r.out, "7,mine\n");
	assert_int_equal(r.status, 1);
	run_finish(&r);
	run_sqlsh(&r, d, "\\copy uniq from stdin\n8,x\n9,y\n", "-q", NULL);
	assert_string_equal(r.err, "");
	assert_int_equal(r.status, 0);
	run_finish(&r);
	assert_runs(d, 0, "id\n7\n8\n9\n", "", "-c",
		"\\copy (select id from uniq order by id) to stdout csv header");
}

/* Tools that use more memory themselves set CNT_RSS_GROWTH_KB. */
static long
rss_growth_kb(void)
{
	const char *kb = getenv("CNT_RSS_GROWTH_KB");

	return kb ? strtol(kb, NULL, 10) : RSS_GROWTH_KB;
}

static void
a_million_rows_need_no_memory(void **state)
{
	static const char *const streaming[] = { "--format=csv", "--format=tsv",
		"--format=json", "--format=unaligned", "--format=table",
		"--format=expanded" };
	size_t i;

	for (i = 0; i < sizeof(streaming) / sizeof(streaming[0]); i++) {
		struct run few, many;
		const char *p;
		size_t n_lines = 0;

		run_sqlsh(&few, daemon_of(state), NULL, streaming[i], "-o", "/dev/null",
			"-c", "select 1", NULL);
		run_sqlsh(&many, daemon_of(state), NULL, streaming[i], "-o", "/dev/null",
			"-c", MILLION "select n, 'some text', null from c", NULL);
		assert_int_equal(many.status, 0);
		if (many.max_rss_kb > few.max_rss_kb + rss_growth_kb())
			fail_msg("%s: %ld kB, and for one row %ld kB", streaming[i],
				many.max_rss_kb, few.max_rss_kb);
		run_finish(&few);
		run_finish(&many);
		if (i > 0)
			continue;
		run_sqlsh(&many, daemon_of(state), NULL, streaming[i], "-c",
			MILLION "select n from c", NULL);
		for (p = many.out; *p; p++)
			n_lines += *p == '\n';
		assert_int_equal(n_lines, 1000001);
		run_finish(&many);
	}
}

static void
output_that_nobody_reads_ends_it_quietly(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	char command[512];
	struct run r;
	char *written;
	int status;

	(void)snprintf(command, sizeof(command),
		"{ %s '%s' --format=csv -c '%s select n from c'; echo $? >%s; } 2>%s | "
		"head -n 1 "
		">%s",
		run_program(), d->uri, FOR_EVER, run_path(d, "status"),
		run_path(d, "errors"), run_path(d, "head"));
	status = system(command); /* NOLINT(cert-env33-c) */
	assert_int_equal(status, 0);
	written = run_read_file(run_path(d, "status"));
	assert_string_equal(written, "141\n");
	free(written);
	written = run_read_file(run_path(d, "errors"));
	assert_string_equal(written, "");
	free(written);
	assert_runs(d, 1, "", "sqlsh: /dev/full: No space left on device\n", "-o",
		"/dev/full", "-c", "select 1");
	/* A closed standard output is an error too, and the session does not get its descriptor. */
	(void)snprintf(command, sizeof(command), "%s '%s' -c 'select 1' >&- 2>%s",
		run_program(), d->uri, run_path(d, "errors"));
	status = system(command); /* NOLINT(cert-env33-c) */
	assert_int_equal(WEXITSTATUS(status), 1);
	written = run_read_file(run_path(d, "errors"));
	assert_string_equal(written, "sqlsh: standard output: Bad file descriptor\n");
	free(written);
	/* The session is free again. */
	run_sqlsh(&r, d, NULL, "-c", "select 1", NULL);
	assert_int_equal(r.status, 0);
	run_finish(&r);
}

/* Wait until the daemon says that this process has a session. */
static void
wait_until_attached(struct cnt_daemon *d, pid_t pid)
{
	time_t limit = time(NULL) + 10;
	char wanted[64];
	int is_there = 0;

	(void)snprintf(wanted, sizeof(wanted), "\"client_pid\":%d,", (int)pid);
	while (!is_there && time(NULL) < limit) {
		struct run r;

		run_sqlsh(&r, d, NULL, "--format=json", "-c", "\\workers", NULL);
		is_there = strstr(r.out, wanted) != NULL;
		run_finish(&r);
	}
	assert_true(is_there);
}

static void
ctrl_c_cancels_the_statement_and_ends_the_script(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	char *errors;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (!freopen(run_path(d, "errors"), "w", stderr))
			_exit(99);
		(void)alarm(60);
		(void)execl(run_program(), "sqlsh", d->uri, "-c",
			FOR_EVER "select count(*) from c", "-c", "select 'never'",
			(char *)NULL);
		_exit(99);
	}
	wait_until_attached(d, pid);
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	errors = run_read_file(run_path(d, "errors"));
	if (!strstr(errors, "ERROR 57014: "))
		fail_msg("it wrote %s", errors);
	free(errors);
}

static void
a_session_lost_in_a_transaction_ends_a_script_with_status_2(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	char kill_children[256];
	struct run r;

	/* Wait until the killed processes are gone, so that nothing can be sent to them any more. */
	(void)snprintf(kill_children, sizeof(kill_children),
		"\\! all=$(cat /proc/%d/task/%d/children); kill -9 $all; for p in $all; "
		"do "
		"while kill -0 $p 2>/dev/null; do :; done; done",
		(int)d->pid, (int)d->pid);
	run_sqlsh(&r, d, NULL, "--format=csv", "--on-error=continue", "-c",
		"create table lost(a); begin; insert into lost values (1)", "-c",
		kill_children, "-c", "select a from lost", "-c", "select 'never'", NULL);
	assert_string_equal(r.out, "");
	if (!strstr(r.err, "ERROR 08"))
		fail_msg("it wrote %s", r.err);
	assert_int_equal(r.status, 2);
	run_finish(&r);
	/* A client that holds nothing does not notice the loss. */
	run_sqlsh(&r, d, NULL, "--format=csv", "--no-header", "-c",
		"select count(*) from lost", "-c", kill_children, "-c",
		"select count(*) from lost", NULL);
	assert_string_equal(r.err, "");
	assert_string_equal(r.out, "0\n0\n");
	assert_int_equal(r.status, 0);
	run_finish(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_commands_have_one_session),
		cmocka_unit_test(each_format_shows_null_apart_from_the_empty_text),
		cmocka_unit_test(results_without_rows_have_a_header),
		cmocka_unit_test(the_first_error_ends_a_script_with_status_1),
		cmocka_unit_test(files_run_in_order_and_are_named_in_messages),
		cmocka_unit_test(values_are_bound_and_never_pasted),
		cmocka_unit_test(one_transaction_is_all_or_nothing),
		cmocka_unit_test(what_is_not_committed_is_gone),
		cmocka_unit_test(wrong_usage_and_no_connection_are_status_2),
		cmocka_unit_test(commands_work_from_the_command_line),
		cmocka_unit_test(status_shows_the_pool_and_this_client),
		cmocka_unit_test(pins_shows_this_client_and_how_often_pins_began),
		cmocka_unit_test(the_catalog_is_shown),
		cmocka_unit_test(a_statement_may_end_with_a_command),
		cmocka_unit_test(a_script_goes_to_another_pool_or_ends),
		cmocka_unit_test(help_may_be_searched_for_a_word),
		cmocka_unit_test(copying_out_and_in_gives_the_same),
		cmocka_unit_test(a_copy_that_fails_names_the_line_and_leaves_nothing),
		cmocka_unit_test(a_million_rows_need_no_memory),
		cmocka_unit_test(output_that_nobody_reads_ends_it_quietly),
		cmocka_unit_test(ctrl_c_cancels_the_statement_and_ends_the_script),
		cmocka_unit_test(
			a_session_lost_in_a_transaction_ends_a_script_with_status_2),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
