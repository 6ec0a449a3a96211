/* SPDX-License-Identifier: BSD-2-Clause */
/* Several sessions of a pool share a worker process. Clients and the list of processes show what the master does. */
#include "turns.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND                                                                           \
	"\n[pool second]\nbackend = sqlite\nserver = path=@DIR@/second.db\n"             \
	"sessions = 1\n"

static void
reload(const char *lines, const char *said)
{
	assert_int_equal(cnt_daemon_configure(&wp_daemon, turns_config(lines)), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log(said);
}

static int
is_worker(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(name, sizeof(name), f) == NULL)
		name[0] = '\0';
	fclose(f);
	return strcmp(name, "cenoted-worker\n") == 0;
}

/* The number of cenoted's processes that have sessions. */
static size_t
count_workers(void)
{
	pid_t pids[64];
	size_t n = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));
	size_t n_workers = 0;

	for (size_t i = 0; i < n; i++)
		n_workers += (size_t)is_worker(pids[i]);
	return n_workers;
}

/* Wait until count_workers() is `wanted`. */
static void
await_workers(size_t wanted)
{
	int64_t until = wp_now_ms() + 20000;

	while (count_workers() != wanted && wp_now_ms() < until)
		wp_pause_ms(10);
	assert_int_equal(count_workers(), wanted);
}

static void
await_death(pid_t pid)
{
	int64_t until = wp_now_ms() + 20000;

	while (is_worker(pid) && wp_now_ms() < until)
		wp_pause_ms(10);
	assert_false(is_worker(pid));
}

/* The number of different processes that have the sessions. */
static size_t
count_processes(cenote_conn **conns, size_t n)
{
	size_t n_different = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (wp_worker_pid(conns[j]) != wp_worker_pid(conns[i]))
			j++;
		n_different += j == i;
	}
	return n_different;
}

/* Check that each connection has a session of its own on the server. */
static void
expect_different_sessions(cenote_conn **conns, size_t n)
{
	char seen[16][32];

	assert_true(n <= CNT_COUNT(seen));
	for (size_t i = 0; i < n; i++) {
		snprintf(seen[i], sizeof(seen[i]), "%s",
			wp_value(conns[i], "select pg_backend_pid()"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
	}
}

static void
one_process_has_all_sessions(void **state)
{
	cenote_conn *conns[4];

	turns_start("sessions = 4\nworkers = 1\n");
	wp_await("main", "idle", 4);
	assert_int_equal(count_workers(), 1);
	turns_attach(conns, 4);
	assert_int_equal(count_processes(conns, 4), 1);
	expect_different_sessions(conns, 4);
	turns_destroy(conns, 4);
	wp_await("main", "idle", 4);
}

static void
each_process_has_its_share(void **state)
{
	cenote_conn *conns[5];

	turns_start("sessions = 5\nworkers = 2\n");
	wp_await("main", "idle", 5);
	assert_int_equal(count_workers(), 2);
	turns_attach(conns, 5);
	assert_int_equal(count_processes(conns, 5), 2);
	expect_different_sessions(conns, 5);
	turns_destroy(conns, 5);
}

static void
in_mode_transaction_sessions_share_without_being_told(void **state)
{
	turns_start("sessions = 17\nmode = transaction\n");
	wp_await("main", "idle", 17);
	assert_int_equal(count_workers(), 2);
}

static void
in_mode_session_each_session_has_its_process(void **state)
{
	turns_start("sessions = 3\n");
	wp_await("main", "idle", 3);
	assert_int_equal(count_workers(), 3);
}

static void
the_pool_grows_and_shrinks_within_its_processes(void **state)
{
	cenote_conn *conns[5];

	turns_start("sessions = 1..5\nworkers = 1\nidle_ttl = 200ms\n");
	wp_await("main", "live", 1);
	turns_attach(conns, 5);
	assert_int_equal(wp_pool_number("main", "live"), 5);
	assert_int_equal(count_workers(), 1);
	turns_destroy(conns, 5);
	wp_await("main", "live", 1);
	/* slots that were given back can be used again */
	turns_attach(conns, 5);
	expect_different_sessions(conns, 5);
	turns_destroy(conns, 5);
	wp_await("main", "live", 1);
	wp_pause_ms(500);
	assert_int_equal(wp_pool_number("main", "live"), 1);
}

static int
sleep_in_the_server(void *arg)
{
	cenote_conn *conn = wp_attach(NULL);

	(void)arg;
	wp_exec(conn, "select pg_sleep(2)");
	cenote_conn_destroy(conn);
	return 0;
}

static void
sessions_of_a_process_run_at_once(void **state)
{
	enum {
		N = 4
	};
	pid_t pids[N];
	int64_t begun;

	turns_start("sessions = 4\nworkers = 1\n");
	wp_await("main", "idle", N);
	begun = wp_now_ms();
	for (int i = 0; i < N; i++)
		pids[i] = wp_fork(sleep_in_the_server, NULL, -1);
	for (int i = 0; i < N; i++)
		assert_int_equal(wp_join(pids[i]), 0);
	/* one after the other, the statements would take 8 s */
	assert_true(wp_now_ms() - begun < 6000);
}

static void
a_killed_process_is_replaced_and_others_go_on(void **state)
{
	char config[8192];
	cenote_conn *lost, *other;
	pid_t pid, second;

	snprintf(config, sizeof(config), "%s%s",
		turns_config("sessions = 3\nworkers = 1\n"), SECOND);
	wp_start(config);
	wp_await("main", "idle", 3);
	lost = wp_attach(NULL);
	other = wp_attach("second");
	pid = wp_worker_pid(lost);
	second = wp_worker_pid(other);
	assert_int_equal(kill(pid, SIGKILL), 0);
	await_death(pid);
	wp_await("main", "idle", 3);
	assert_int_equal(wp_pool_number("main", "live"), 3);
	cenote_conn_destroy(lost);
	lost = wp_attach(NULL);
	assert_true(wp_worker_pid(lost) != pid);
	assert_string_equal(wp_value(lost, "select 1"), "1");
	assert_string_equal(wp_value(other, "select 1"), "1");
	assert_true(wp_worker_pid(other) == second);
	cenote_conn_destroy(lost);
	cenote_conn_destroy(other);
	assert_true(wp_log_has("was killed by signal 9"));
}

/* After a reload, a client that holds something keeps its session. Other clients get sessions of the new process. */
static void
a_reload_moves_to_a_new_process(void **state)
{
	cenote_conn *held, *next;
	pid_t old;

	turns_start("sessions = 2\nworkers = 1\n");
	wp_await("main", "idle", 2);
	held = wp_attach(NULL);
	wp_exec(held, "begin");
	old = wp_worker_pid(held);
	reload("sessions = 4\nworkers = 1\n", "pool main was changed");
	wp_await("main", "idle", 3);
	assert_int_equal(count_workers(), 2);
	next = wp_attach(NULL);
	assert_true(wp_worker_pid(next) != old);
	assert_string_equal(wp_value(held, "select 'still here'"), "still here");
	wp_exec(held, "commit");
	await_death(old);
	assert_string_equal(wp_value(held, "select 1"), "1");
	cenote_conn_destroy(held);
	cenote_conn_destroy(next);
	wp_await("main", "idle", 4);
	assert_int_equal(count_workers(), 1);
}

/* max_sessions leaves the new process fewer slots than its share until the old one has ended. */
static void
a_reload_with_few_slots_still_reaches_the_maximum(void **state)
{
	cenote_conn *held;
	char config[8192];
	const char *lines = "sessions = 3\nworkers = 1\nidle_ttl = 50s\n";

	snprintf(config, sizeof(config), "%s",
		turns_config("sessions = 3\nworkers = 1\n"));
	setenv("CNT_DAEMON_LINES", "max_sessions = 4\n", 1);
	wp_start(config);
	wp_await("main", "idle", 3);
	held = wp_attach(NULL);
	wp_exec(held, "begin");
	reload(lines, "pool main was changed");
	unsetenv("CNT_DAEMON_LINES");
	wp_await("main", "idle", 1);
	wp_exec(held, "commit");
	cenote_conn_destroy(held);
	wp_await("main", "idle", 3);
}

static void
the_number_of_processes_can_change(void **state)
{
	turns_start("sessions = 4\nworkers = 1\n");
	wp_await("main", "idle", 4);
	reload("sessions = 4\nworkers = 2\n", "pool main was changed");
	await_workers(2);
	wp_await("main", "idle", 4);
	reload("sessions = 4\n", "reloaded");
	await_workers(4);
	wp_await("main", "idle", 4);
}

static void
a_removed_pool_takes_its_processes_along(void **state)
{
	pid_t pid;

	turns_start("sessions = 2\nworkers = 1\n");
	wp_await("main", "idle", 2);
	pid = wp_worker_of(NULL);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, CNT_DAEMON_GLOBAL SECOND), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was removed");
	await_death(pid);
	await_workers(1);
}

static void
an_end_waits_for_who_holds_something(void **state)
{
	cenote_conn *held;

	turns_start("sessions = 2\nworkers = 1\n");
	held = wp_attach(NULL);
	wp_exec(held, "begin");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	wp_await_log("draining");
	wp_pause_ms(300);
	assert_true(cnt_daemon_is_alive(&wp_daemon));
	assert_string_equal(wp_value(held, "select 1"), "1");
	wp_exec(held, "commit");
	wp_await_log("ended");
	cenote_conn_destroy(held);
	/* cenoted has ended by itself, with status 0, and left no process behind */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

/* Check that cenoted refuses the configuration with a message that contains `fault`. */
static void
expect_fault(const char *config, const char *fault)
{
	static char output[8192];
	const char *program = getenv("CNT_CENOTED");
	const char *const argv[] = { "sh", "-c", "! \"$0\" --check -c \"$1\" 2>&1",
		program != NULL ? program : CNT_CENOTED_PATH, wp_daemon.conf, NULL };
	const struct cnt_command check = {
		.argv = argv, .output = output, .size = sizeof(output)
	};

	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	assert_int_equal(cnt_run(&check), 0);
	if (strstr(output, fault) == NULL)
		fail_msg("\"%s\" is not in: %s", fault, output);
	assert_int_equal(wp_teardown(NULL), 0);
}

static void
check_refuses_what_cannot_be_shared(void **state)
{
	expect_fault(WP_POOL("workers = 1\n"),
		"pool main: workers: backend sqlite needs a process for each session");
	expect_fault(turns_config("sessions = 4\nworkers = 5\n"),
		"pool main: workers is 5, but the pool has at most 4 sessions");
	expect_fault(CNT_DAEMON_GLOBAL "[pool main]\nbackend = postgresql\n"
				       "server = host=localhost\nworkers = 1\n"
				       "auth = pass-through\n",
		"pool main: workers: clients log in to the server as themselves");
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_process_has_all_sessions),
		TEST(each_process_has_its_share),
		TEST(in_mode_transaction_sessions_share_without_being_told),
		TEST(in_mode_session_each_session_has_its_process),
		TEST(the_pool_grows_and_shrinks_within_its_processes),
		TEST(sessions_of_a_process_run_at_once),
		TEST(a_killed_process_is_replaced_and_others_go_on),
		TEST(a_reload_moves_to_a_new_process),
		TEST(a_reload_with_few_slots_still_reaches_the_maximum),
		TEST(the_number_of_processes_can_change),
		TEST(a_removed_pool_takes_its_processes_along),
		TEST(an_end_waits_for_who_holds_something),
		TEST(check_refuses_what_cannot_be_shared),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
