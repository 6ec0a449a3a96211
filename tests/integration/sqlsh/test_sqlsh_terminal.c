/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

#define TWO_POOLS                                                                        \
	CNT_DAEMON_CONFIG "[pool other]\nbackend = sqlite\n"                             \
			  "server = path=@DIR@/other.db\nsessions = 1..4\n"

#define FOR_EVER                                                                         \
	"with recursive c(n) as (select 1 union all select n + 1 from c) "               \
	"select count(*) from c;\r"

static struct cnt_daemon *
daemon_of(void **state)
{
	return *state;
}

static int
set_up(void **state)
{
	static struct cnt_daemon daemon;
	struct run r;

	*state = &daemon;
	if (cnt_daemon_start(&daemon, TWO_POOLS) < 0)
		return -1;
	run_at_home(&daemon);
	run_sqlsh(&r, &daemon, NULL, "-c", "create table inventory_item(item_name text)",
		NULL);
	run_finish(&r);
	return 0;
}

static int
tear_down(void **state)
{
	return cnt_daemon_stop(daemon_of(state));
}

static void
the_prompt_shows_pool_statement_and_transaction(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "select 40 + 2\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "as answer;\r");
	terminal_expect(&t, "42");
	terminal_expect(&t, "(1 row)");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select 'a\r");
	terminal_expect(&t, "main'> ");
	terminal_send(&t, "b' as x, (\r");
	terminal_expect(&t, "main(> ");
	terminal_send(&t, "1);\r");
	terminal_expect(&t, "a\\nb");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "begin;\r");
	terminal_expect(&t, "main=*> ");
	terminal_send(&t, "rollback;\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select nope;\r");
	terminal_expect(&t, "ERROR 42703: no such column: nope");
	terminal_expect(&t, "^");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\q\r");
	assert_int_equal(terminal_end(&t), 0);
}

static void
null_is_dimmed(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "select null, 'NULL';\r");
	terminal_expect(&t, "\033[2mNULL\033[0m | NULL");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

#define FORTY                                                                            \
	"with recursive c(n) as (select 1 union all select n + 1 from c where n < 40) "  \
	"select n, null from c;\r"

static void
a_pager_shows_results_larger_than_the_screen(void **state)
{
	struct terminal t;

	(void)setenv("PAGER", "sed 's/^/paged:/'", 1);
	terminal_open(&t, daemon_of(state)->uri);
	/* This result is too long for the screen. The pager gets no escapes for NULL. */
	terminal_send(&t, FORTY);
	terminal_expect(&t, "paged:  1 | NULL\r\n");
	terminal_expect(&t, "paged: 40 | NULL\r\n");
	terminal_expect(&t, "paged:(40 rows)");
	terminal_expect(&t, "main=> ");
	/* This result is too wide. */
	terminal_send(&t, "select printf('%.*c', 101, 'x');\r");
	terminal_expect(&t, "paged: xxx");
	terminal_expect(&t, "main=> ");
	/* This result fits. */
	terminal_send(&t, "select 'f' || 'its';\r");
	terminal_expect_without(&t, "main=> ", "paged:");
	terminal_send(&t, "\\?\r");
	terminal_expect(&t, "paged:General");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\pset pager off\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, FORTY);
	terminal_expect_without(&t, "(40 rows)", "paged:");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	(void)setenv("PAGER", "", 1);
}

static void
the_pager_may_be_left_early(void **state)
{
	struct terminal t;

	(void)setenv("PAGER", "sed 3q", 1);
	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t,
		"with recursive c(n) as (select 1 union all select n + 1 from c "
		"where n < 200000) select n from c;\r");
	terminal_expect(&t, " 1\r\n");
	terminal_expect_without(&t, "main=> ", "sqlsh: ");
	terminal_send(&t, "select 'it goes' || ' on';\r");
	terminal_expect(&t, "it goes on");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	(void)setenv("PAGER", "", 1);
}

static void
no_escape_reaches_a_file_or_a_program(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct terminal t;
	char *shown;

	terminal_open(&t, d->uri);
	terminal_send(&t, "\\cd '");
	terminal_send(&t, d->dir);
	terminal_send(&t, "'\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\o |cat >piped\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select null as piped;\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\o written\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select null as written;\r");
	terminal_expect(&t, "main=> ");
	/* On the terminal, NULL is dimmed again. */
	terminal_send(&t, "\\o\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select null;\r");
	terminal_expect(&t, "\033[2mNULL\033[0m");
	terminal_close(&t);
	shown = run_read_file(run_path(d, "piped"));
	assert_string_equal(shown, " piped\n-------\n NULL\n(1 row)\n\n");
	free(shown);
	shown = run_read_file(run_path(d, "written"));
	assert_string_equal(shown, " written\n---------\n NULL\n(1 row)\n\n");
	free(shown);
}

static void
ctrl_c_cancels_the_query_and_the_session_goes_on(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "create temp table kept as select 'still here' as x;\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, FOR_EVER);
	terminal_expect(&t, "from c;");
	/* The statement runs: nothing comes. */
	(void)usleep(300000);
	terminal_send(&t, "\003");
	terminal_expect(&t, "ERROR 57014: ");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select x from kept;\r");
	terminal_expect(&t, "still here\r\n");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
ctrl_c_forgets_what_is_typed(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "select (\r");
	terminal_expect(&t, "main(> ");
	terminal_send(&t, "half a line\003");
	terminal_expect(&t, "^C");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select 'after' || 'wards';\r");
	terminal_expect(&t, "afterwards");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
tab_completes_keywords_names_and_commands(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	/* How the editor redraws the line does not matter. The statement that runs afterwards does. */
	terminal_send(&t, "sel\t'com' || 'pleted';\r");
	terminal_expect(&t, "completed");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "SELECT item_\tfrom inventory_\t;\r");
	terminal_expect(&t, "-----------\r\n(0 rows)");
	terminal_expect(&t, "main=> ");
	/* Completion knows objects that were made meanwhile. */
	terminal_send(&t, "create table freshly_made(a);\r");
	terminal_expect(&t, "CREATE TABLE\r\n");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select count(*) + 41 as n from freshly_\t;\r");
	terminal_expect(&t, " 41\r\n");
	terminal_expect(&t, "main=> ");
	/* After "from", only a table can come, not PARTITION. */
	terminal_send(&t, "create table parts(a);\r");
	terminal_expect(&t, "CREATE TABLE\r\n");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select count(*) + 51 as n from par\t;\r");
	terminal_expect(&t, " 51\r\n");
	terminal_expect(&t, "main=> ");
	/* Several candidates are listed. */
	terminal_send(&t, "\\d\t");
	terminal_expect(&t, "\\dt ");
	terminal_expect(&t, "\\dv ");
	terminal_send(&t, "\003");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\conni\t\r");
	terminal_expect(&t, "Backend          sqlite");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
history_is_kept_for_the_user_alone(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	const char *path = run_path(d, "state/cenote/sqlsh_history");
	struct terminal t;
	struct stat st;
	char *history;

	terminal_open(&t, d->uri);
	terminal_send(&t, "select 'to be kept';\r");
	terminal_expect(&t, "(1 row)");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, " select 'not to be';\r");
	terminal_expect(&t, "(1 row)");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	history = run_read_file(path);
	assert_non_null(strstr(history, "kept"));
	assert_null(strstr(history, "'not"));
	free(history);
	/* The next sqlsh has the history too. */
	terminal_open(&t, d->uri);
	terminal_send(&t, "\020\r");
	terminal_expect(&t, "select 'to be kept';");
	terminal_expect(&t, "(1 row)");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
a_statement_of_many_lines_is_one_entry_of_the_history(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct terminal t;
	int i;

	terminal_open(&t, d->uri);
	terminal_send(&t, "select 'three'\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "|| ' lines'\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "|| ' long';\r");
	terminal_expect(&t, "three lines long\r\n");
	terminal_expect(&t, "main=> ");
	/* This sqlsh has the entry, and so does the next one. */
	for (i = 0; i < 2; i++) {
		terminal_send(&t, "\020\r");
		terminal_expect(&t, "three lines long\r\n");
		terminal_expect(&t, "main=> ");
		terminal_send(&t, "\004");
		assert_int_equal(terminal_end(&t), 0);
		terminal_start(&t, d->uri);
		terminal_expect(&t, "main=> ");
	}
	/* Ctrl-C also drops the typed lines from the history. */
	terminal_send(&t, "select 'gone',\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "\003");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select 'st' || 'ays';\r");
	terminal_expect(&t, "stays\r\n");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\020\r");
	terminal_expect(&t, "stays\r\n");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
words_for_leaving_and_help_need_no_backslash(void **state)
{
	static const char *const words[] = { "quit\r", "exit;\r", " EXIT ; \r" };
	struct terminal t;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		terminal_start(&t, daemon_of(state)->uri);
		terminal_expect(&t, "main=> ");
		terminal_send(&t, words[i]);
		assert_int_equal(terminal_end(&t), 0);
	}
	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "help\r");
	terminal_expect(&t, "SQL statements end with a semicolon");
	terminal_expect(&t, "main=> ");
	/* Within a statement, these words are SQL. */
	terminal_send(&t, "select 'in it' as\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "quit\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, ";\r");
	terminal_expect(&t, " quit\r\n");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

static void
the_history_is_shown_and_written(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct terminal t;
	char *written;

	terminal_open(&t, d->uri);
	terminal_send(&t, "select 'to be',\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "'found';\r");
	terminal_expect(&t, "(1 row)");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\s\r");
	terminal_expect(&t, "select 'to be',\r\n'found';\r\n");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\cd '");
	terminal_send(&t, d->dir);
	terminal_send(&t, "'\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\s written\r");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	written = run_read_file(run_path(d, "written"));
	assert_non_null(strstr(written, "select 'to be',\n'found';\n\\s\n\\cd "));
	free(written);
}

static void
another_pool_takes_the_place_of_this_one(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "create temp table mine as select 'still ' || 'here' as x;\r");
	terminal_expect(&t, "main=> ");
	/* The pool does not exist: the session stays. */
	terminal_send(&t, "\\c nowhere\r");
	terminal_expect(&t, "ERROR ");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "select x from mine;\r");
	terminal_expect(&t, "still here");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\c other\r");
	terminal_expect(&t, "Connected to pool other.");
	terminal_expect(&t, "other=> ");
	terminal_send(&t, "select x from mine;\r");
	terminal_expect(&t, "no such table: mine");
	terminal_expect(&t, "other=> ");
	terminal_send(&t, "\\c ");
	terminal_send(&t, daemon_of(state)->uri);
	terminal_send(&t, "\r");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\q\r");
	assert_int_equal(terminal_end(&t), 0);
}

static void
the_start_up_file_is_read(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct terminal t;

	(void)mkdir(run_path(d, "config"), 0700);
	(void)mkdir(run_path(d, "config/cenote"), 0700);
	run_write_file(run_path(d, "config/cenote/sqlshrc"), "\\pset null '(none)'\n");
	terminal_open(&t, d->uri);
	terminal_send(&t, "select null;\r");
	terminal_expect(&t, "(none)");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	assert_int_equal(unlink(run_path(d, "config/cenote/sqlshrc")), 0);
}

static void
edited_statements_run(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct terminal t;

	run_write_file(run_path(d, "editor"),
		"#!/bin/sh\nsed -i 's/one/two/; $s/$/;/' \"$1\"\n");
	assert_int_equal(chmod(run_path(d, "editor"), 0700), 0);
	(void)setenv("SQLSH_EDITOR", run_path(d, "editor"), 1);
	terminal_open(&t, d->uri);
	terminal_send(&t, "select 'one' || 'x'\r");
	terminal_expect(&t, "main-> ");
	terminal_send(&t, "\\e\r");
	terminal_expect(&t, "twox");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\watch 0.1\r");
	terminal_expect(&t, "(every 0.1s)");
	terminal_expect(&t, "twox");
	terminal_expect(&t, "(every 0.1s)");
	terminal_send(&t, "\003");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_prompt_shows_pool_statement_and_transaction),
		cmocka_unit_test(null_is_dimmed),
		cmocka_unit_test(a_pager_shows_results_larger_than_the_screen),
		cmocka_unit_test(the_pager_may_be_left_early),
		cmocka_unit_test(no_escape_reaches_a_file_or_a_program),
		cmocka_unit_test(ctrl_c_cancels_the_query_and_the_session_goes_on),
		cmocka_unit_test(ctrl_c_forgets_what_is_typed),
		cmocka_unit_test(tab_completes_keywords_names_and_commands),
		cmocka_unit_test(history_is_kept_for_the_user_alone),
		cmocka_unit_test(a_statement_of_many_lines_is_one_entry_of_the_history),
		cmocka_unit_test(words_for_leaving_and_help_need_no_backslash),
		cmocka_unit_test(the_history_is_shown_and_written),
		cmocka_unit_test(another_pool_takes_the_place_of_this_one),
		cmocka_unit_test(the_start_up_file_is_read),
		cmocka_unit_test(edited_statements_run),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
