/* SPDX-License-Identifier: BSD-2-Clause */
/* Start, reload, drain and end of the daemon, and its log. */
#include "with_pool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND                                                                           \
	"\n[pool second]\nbackend = sqlite\nserver = path=@DIR@/second.db\nsessions = "  \
	"1\n"

static void
reload(const char *config, const char *said)
{
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log(said);
}

/* Wait until the daemon ends by itself. Returns 0 if it ended with status 0. */
static int
await_end(void)
{
	int status = -1;

	if (waitpid(wp_daemon.pid, &status, 0) != wp_daemon.pid)
		return -1;
	wp_daemon.pid = 0;
	return status;
}

static int
is_there(const char *name)
{
	char path[CNT_PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", wp_daemon.dir, name);
	return access(path, F_OK) == 0;
}

static void
it_starts_and_ends_and_leaves_nothing_behind(void **state)
{
	assert_int_equal(cnt_daemon_create(&wp_daemon,
				 CNT_DAEMON_GLOBAL "pid_file = @DIR@/pid\n"
						   "" CNT_DAEMON_POOL "sessions = 2\n"),
		0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	wp_await("main", "idle", 2);
	assert_true(is_there("run/main.sock"));
	wp_await_file("pid");
	/* no session is lent, so there is nothing to wait for */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_false(is_there("run/main.sock"));
	assert_false(is_there("pid"));
}

/* Run a line of the shell with CENOTED, CONF and DIR set. Returns its status. */
static int
shell(const char *line)
{
	const char *program = getenv("CNT_CENOTED");

	assert_int_equal(
		setenv("CENOTED", program != NULL ? program : CNT_CENOTED_PATH, 1), 0);
	assert_int_equal(setenv("CONF", wp_daemon.conf, 1), 0);
	assert_int_equal(setenv("DIR", wp_daemon.dir, 1), 0);
	return system(line);
}

/* The second daemon says on standard error why it fails, although its log goes elsewhere. The first keeps its pid_file. */
static void
two_daemons_do_not_share_a_socket(void **state)
{
	wp_start("[cenoted]\nuser = @USER@\nrun_dir = @DIR@/run\nbackend_dir = "
		 "@BACKENDS@\nlog = @DIR@/own.log\npid_file = @DIR@/pid\n"
		 "drain_timeout = 100ms\n" CNT_DAEMON_SANDBOX CNT_DAEMON_POOL
		 "sessions = 1\n");
	wp_await_file("pid");
	assert_int_equal(shell("cp $DIR/pid $DIR/before"), 0);
	assert_int_not_equal(shell("$CENOTED -d -c $CONF 2>$DIR/second"), 0);
	assert_int_equal(
		shell("grep -q 'waiting up to drain_timeout (100ms)' $DIR/second && "
		      "grep -q 'another cenoted serves this pool' $DIR/second"),
		0);
	assert_int_equal(shell("cmp $DIR/pid $DIR/before"), 0);
	/* two daemons cannot have the same pid_file either */
	assert_int_not_equal(shell("sed 's,/run$,/other,' $CONF >$DIR/conf && "
				   "$CENOTED -d -c $DIR/conf 2>$DIR/second"),
		0);
	assert_int_equal(
		shell("grep -q 'pid_file.* another cenoted has it' $DIR/second"), 0);
	assert_int_equal(shell("cmp $DIR/pid $DIR/before"), 0);
	cenote_conn_destroy(wp_attach(NULL));
}

static int
run_second(void *arg)
{
	(void)arg;
	return shell("$CENOTED -d -c $CONF 2>$DIR/second") == 0 ? 0 : 1;
}

/* The old daemon was told to end, and still has its addresses. */
static void
a_new_one_waits_for_the_addresses_of_the_old(void **state)
{
	char config[512];
	pid_t second;
	int64_t until;

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "pid_file = @DIR@/pid\nlisten = 127.0.0.1:%d\n"
				  "drain_timeout = 20s\n" CNT_DAEMON_POOL
				  "sessions = 1\nauth = trust\n",
		cnt_server_free_port());
	wp_start(config);
	assert_int_equal(kill(wp_daemon.pid, SIGSTOP), 0);
	while (!cnt_is_stopped(wp_daemon.pid))
		wp_pause_ms(1);
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	second = wp_fork(run_second, NULL, -1);
	for (until = wp_now_ms() + 20000;
		shell("grep -q 'in use: waiting' $DIR/second") != 0 &&
		wp_now_ms() < until;)
		wp_pause_ms(5);
	assert_true(wp_now_ms() < until);
	assert_int_equal(kill(wp_daemon.pid, SIGCONT), 0);
	assert_int_equal(await_end(), 0);
	assert_int_equal(wp_join(second), 0);
	cenote_conn_destroy(wp_attach(NULL));
	wp_await_file("pid");
	assert_int_equal(shell("kill $(cat $DIR/pid)"), 0);
	/* the test must reap orphans */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void
it_goes_to_the_background_when_clients_can_come(void **state)
{
	char command[8 * CNT_PATH_MAX];
	const char *program = getenv("CNT_CENOTED");
	cenote_conn *a;
	FILE *f;
	char text[32] = "";
	pid_t pid;

	assert_int_equal(cnt_daemon_create(&wp_daemon,
				 "[cenoted]\nrun_dir = @DIR@/run\nbackend_dir = "
				 "@BACKENDS@\nlog = @DIR@/log\npid_file = @DIR@/pid\n"
				 "" CNT_DAEMON_POOL "sessions = 1\n"),
		0);
	snprintf(command, sizeof(command), "%s -d -c %s 2>/dev/null",
		program != NULL ? program : CNT_CENOTED_PATH, wp_daemon.conf);
	assert_int_equal(system(command), 0);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	snprintf(command, sizeof(command), "%s/pid", wp_daemon.dir);
	f = fopen(command, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	pid = (pid_t)strtol(text, NULL, 10);
	assert_true(pid > 1);
	assert_true(wp_log_has("ready: 1 pool"));
	assert_int_equal(kill(pid, SIGTERM), 0);
	wp_await_log("master: notice: ended");
	/* the test must reap orphans */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
pools_are_added_changed_and_removed(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	reload(WP_POOL("sessions = 1\n") SECOND, "pool second was added");
	wp_await_log("reloaded");
	/* clients that were attached notice nothing */
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "1");
	cenote_conn_destroy(wp_attach("second"));

	reload(WP_POOL("sessions = 2..3\n") SECOND, "pool main was changed");
	wp_await("main", "max", 3);
	wp_await("main", "live", 2);
	wp_await("main", "yields", 1);
	/* the client got a session of a new worker, and noticed nothing */
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "2");
	assert_false(wp_log_has("pool second was changed"));

	reload(WP_POOL("sessions = 2..3\n"), "pool second was removed");
	while (is_there("run/second.sock"))
		wp_pause_ms(5);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

static void
who_holds_something_keeps_its_session_through_a_reload(void **state)
{
	cenote_conn *a;
	char worker[32];

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	snprintf(worker, sizeof(worker), "%s", cenote_info(a, "worker_pid"));
	reload(WP_POOL("sessions = 1\nquery_timeout = 10s\n"), "pool main was changed");
	wp_pause_ms(50);
	assert_string_equal(wp_value(a, "select count(*) from t"), "1");
	assert_string_equal(cenote_info(a, "worker_pid"), worker);
	wp_exec(a, "commit");
	assert_string_equal(wp_value(a, "select count(*) from t"), "1");
	assert_string_not_equal(cenote_info(a, "worker_pid"), worker);
	cenote_conn_destroy(a);
}

static void
a_socket_that_was_removed_comes_back_with_a_reload(void **state)
{
	cenote_conn *a, *b;
	char path[CNT_PATH_MAX + 32];

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	snprintf(path, sizeof(path), "%s/main.sock", wp_daemon.run_dir);
	assert_int_equal(unlink(path), 0);
	reload(WP_POOL("sessions = 1\n"), "reloaded");
	b = wp_attach(NULL);
	assert_string_equal(wp_value(b, "select count(*) from t"), "0");
	/* a client with a session of the old socket keeps that session, and moves when it can */
	wp_exec(a, "commit");
	cenote_conn_destroy(b);
	assert_string_equal(wp_value(a, "select count(*) from t"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "2");
	cenote_conn_destroy(a);
}

static void
a_run_directory_that_was_removed_comes_back_with_a_reload(void **state)
{
	static const char config[] = CNT_DAEMON_GLOBAL
		"pid_file = @DIR@/run/pid\n" CNT_DAEMON_POOL "sessions = 1\n" SECOND;
	cenote_conn *a;

	wp_start(config);
	a = wp_attach(NULL);
	wp_exec(a, "begin");
	cnt_remove_tree(wp_daemon.run_dir);
	reload(config, "reloaded");
	assert_true(is_there("run/pid"));
	cenote_conn_destroy(wp_attach(NULL));
	cenote_conn_destroy(wp_attach("second"));
	wp_exec(a, "commit");
	cenote_conn_destroy(a);
}

/* A file has the name of the run directory. The client keeps its session until a reload can make a
 * new socket. */
static void
a_pool_is_kept_while_its_socket_cannot_be_made(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cnt_remove_tree(wp_daemon.run_dir);
	assert_int_equal(close(open(wp_daemon.run_dir, O_CREAT | O_WRONLY, 0600)), 0);
	reload(WP_POOL("sessions = 1\n"), "the configuration stays as it was");
	assert_true(wp_log_has("it is not a directory"));
	assert_false(wp_log_has("was removed"));
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "1");
	assert_int_equal(unlink(wp_daemon.run_dir), 0);
	reload(WP_POOL("sessions = 1\n"), "reloaded");
	cenote_conn_destroy(wp_attach(NULL));
	cenote_conn_destroy(a);
}

static void
a_bad_file_changes_nothing_and_says_why(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	reload(WP_POOL("sessions = 5\nsesions = 6\nmode = x\n") SECOND,
		"the configuration stays as it was");
	assert_true(wp_log_has("cenoted.conf:14: unknown key \"sesions\"; did you mean "
			       "\"sessions\"?"));
	assert_true(wp_log_has("cenoted.conf:15: \"x\" is not a mode"));
	assert_int_equal(wp_pool_number("main", "max"), 1);
	assert_false(is_there("run/second.sock"));
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "1");
	/* and a good configuration is accepted afterwards */
	reload(WP_POOL("sessions = 5\n"), "reloaded");
	wp_await("main", "max", 5);
	cenote_conn_destroy(a);
}

static void
a_drain_waits_for_a_transaction_to_end(void **state)
{
	cenote_conn *a;
	cenote_conn *idle;

	wp_start(WP_POOL("sessions = 2\n"));
	a = wp_attach(NULL);
	idle = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	wp_await_log("draining");
	wp_pause_ms(100);
	assert_true(cnt_daemon_is_alive(&wp_daemon));
	wp_exec(a, "insert into t values (2)");
	wp_exec(a, "commit");
	assert_int_equal(await_end(), 0);
	/* neither client has noticed anything once there is a daemon again */
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_string_equal(wp_value(a, "select count(*) from t"), "2");
	assert_string_equal(wp_value(idle, "select count(*) from t"), "2");
	cenote_conn_destroy(a);
	cenote_conn_destroy(idle);
}

static void
a_drain_has_an_end(void **state)
{
	cenote_conn *a;
	int64_t begun;

	wp_start(CNT_DAEMON_GLOBAL "drain_timeout = 300ms\n" CNT_DAEMON_POOL
				   "sessions = 1\n");
	a = wp_attach(NULL);
	wp_exec(a, "begin");
	wp_exec(a, "create table t(a)");
	begun = wp_now_ms();
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	assert_int_equal(await_end(), 0);
	assert_in_range(wp_now_ms() - begun, 300 - WP_CLOCK_MS, 5000);
	assert_int_equal(wp_status_of(a, "commit"), CENOTE_ERR_CONN);
	cenote_conn_destroy(a);
}

static void
a_second_sigterm_ends_it_now(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	wp_exec(a, "begin");
	wp_exec(a, "create table t(a)");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	wp_await_log("draining");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	assert_int_equal(await_end(), 0);
	assert_true(wp_log_has("ending now"));
	cenote_conn_destroy(a);
}

static void
no_child_outlives_the_master(void **state)
{
	pid_t children[8];
	size_t n;

	wp_start(WP_POOL("sessions = 2\n"));
	wp_await("main", "idle", 2);
	/* the door and two workers; a helper that has answered may still exist */
	n = cnt_daemon_children(&wp_daemon, children, 8);
	assert_in_range(n, 3, 8);
	assert_int_equal(kill(wp_daemon.pid, SIGKILL), 0);
	waitpid(wp_daemon.pid, NULL, 0);
	wp_daemon.pid = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t until = wp_now_ms() + 5000;

		/* the test must reap orphans */
		while (waitpid(children[i], NULL, WNOHANG) == 0 &&
			kill(children[i], 0) == 0)
			assert_true(wp_now_ms() < until);
	}
	/* what the dead daemon left does not keep the next one from starting */
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	cenote_conn_destroy(wp_attach(NULL));
}

static void
the_log_has_no_statement_no_value_and_no_secret(void **state)
{
	cenote_params *params;
	cenote_result *res;
	cenote_conn *a;

	wp_start(
		CNT_DAEMON_GLOBAL "log_level = debug\n" CNT_DAEMON_POOL "sessions = 1\n");
	a = wp_attach(NULL);
	wp_exec(a, "create table secret_table(secret_column unique)");
	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_params_add_text(params, "secret-bind", 11));
	for (int i = 0; i < 2; i++) {
		res = NULL;
		/* the second insert fails */
		if (cenote_query(a, "insert into secret_table values (?)", CENOTE_NTS,
			    params, NULL, &res) == CENOTE_OK)
			cenote_result_destroy(res);
	}
	cenote_params_destroy(params);
	assert_int_equal(
		wp_status_of(a, "select 'secret-literal' from"), CENOTE_ERR_SERVER);
	assert_int_equal(
		wp_status_of(a, "select secret_x from secret_table"), CENOTE_ERR_SERVER);
	wp_exec(a, "begin");
	kill(wp_worker_pid(a), SIGKILL);
	assert_int_equal(wp_status_of(a, "select 'secret-lost'"), CENOTE_ERR_CONN);
	cenote_conn_destroy(a);
	cenote_conn_destroy(wp_attach(NULL));
	assert_true(wp_log_has("debug"));
	assert_false(wp_log_has("secret"));
}

static void
check_prints_what_is_in_force(void **state)
{
	char command[8 * CNT_PATH_MAX];
	const char *program = getenv("CNT_CENOTED");

	if (program == NULL)
		program = CNT_CENOTED_PATH;
	assert_int_equal(cnt_daemon_create(&wp_daemon, NULL), 0);
	snprintf(command, sizeof(command), "%s --check -c %s >%s/out 2>&1", program,
		wp_daemon.conf, wp_daemon.dir);
	assert_int_equal(system(command), 0);
	/* the output is a configuration, and its own check prints the same */
	snprintf(command, sizeof(command),
		"%s --check -c %s/out >%s/again && cmp %s/out %s/again", program,
		wp_daemon.dir, wp_daemon.dir, wp_daemon.dir, wp_daemon.dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(cnt_daemon_configure(
				 &wp_daemon, WP_POOL("sessions = x\nserver = pth=/x\n")),
		0);
	snprintf(command, sizeof(command),
		"%s --check -c %s 2>%s/err; test $? = 1 && grep -q "
		"'cenoted.conf:13: .x. is not' %s/err && "
		"grep -q 'cenoted.conf:14: server: .*pth' %s/err",
		program, wp_daemon.conf, wp_daemon.dir, wp_daemon.dir, wp_daemon.dir);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s -c %s 2>>%s/err; test $? = 1", program,
		wp_daemon.conf, wp_daemon.dir);
	assert_int_equal(system(command), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_starts_and_ends_and_leaves_nothing_behind),
		TEST(two_daemons_do_not_share_a_socket),
		TEST(a_new_one_waits_for_the_addresses_of_the_old),
		TEST(it_goes_to_the_background_when_clients_can_come),
		TEST(pools_are_added_changed_and_removed),
		TEST(who_holds_something_keeps_its_session_through_a_reload),
		TEST(a_socket_that_was_removed_comes_back_with_a_reload),
		TEST(a_run_directory_that_was_removed_comes_back_with_a_reload),
		TEST(a_pool_is_kept_while_its_socket_cannot_be_made),
		TEST(a_bad_file_changes_nothing_and_says_why),
		TEST(a_drain_waits_for_a_transaction_to_end),
		TEST(a_drain_has_an_end),
		TEST(a_second_sigterm_ends_it_now),
		TEST(no_child_outlives_the_master),
		TEST(the_log_has_no_statement_no_value_and_no_secret),
		TEST(check_prints_what_is_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
