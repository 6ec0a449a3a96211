/* SPDX-License-Identifier: BSD-2-Clause */
/* cenotectl against a real cenoted with real clients. */
#include "turns.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY  65534
#define CLIENTS 8
/* More than cenoted has places for admin clients. */
#define HANGING 9

/* cenoted opens the admin socket after those of the pools. */
static void
start(const char *lines)
{
	turns_start(lines);
	wp_await_log("ready: ");
}

/* ---- running cenotectl ---- */

/* What it printed. */
static char said[65536];

/* Start cenotectl with these words. Its output comes on the stream. */
static FILE *
begin(const char *words)
{
	char line[512];
	FILE *f;

	snprintf(line, sizeof(line), "%s -r %s %s 2>&1", CNT_CENOTECTL_PATH,
		wp_daemon.run_dir, words);
	f = popen(line, "r");
	assert_non_null(f);
	return f;
}

/* Read its output. Returns the exit status. */
static int
end(FILE *f)
{
	size_t n = fread(said, 1, sizeof(said) - 1, f);
	int status = pclose(f);

	said[n] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
expect_said(const char *text)
{
	if (strstr(said, text) == NULL)
		fail_msg("\"%s\" is not in: %s", text, said);
}

/* cenotectl ends with this status and says this. */
static void
expect(int status, const char *words, const char *text)
{
	int r = end(begin(words));

	if (r != status)
		fail_msg("cenotectl %s: status %d: %s", words, r, said);
	expect_said(text);
}

/* Whether the program still runs. */
static int
goes_on(FILE *f)
{
	fd_set set;
	struct timeval pause = { 0, 300000 };

	FD_ZERO(&set);
	FD_SET(fileno(f), &set);
	return select(fileno(f) + 1, &set, NULL, NULL, &pause) == 0;
}

/* ---- what there is ---- */

static void
status_names_cenoted_and_its_pools(void **state)
{
	char pid[32];

	start("sessions = 3\n" TURNS_POOL);
	snprintf(pid, sizeof(pid), "pid %d, serving\n", (int)wp_daemon.pid);
	expect(0, "status", pid);
	expect_said(wp_daemon.conf);
	expect_said("pool main: postgresql, mode = transaction, 0 of 3 sessions in use, "
		    "0 waiting\n");
	expect(0, "pause main", "paused: main\n");
	expect(0, "status", "0 waiting, paused\n");
}

static void
status_says_that_a_server_is_down(void **state)
{
	wp_start(WP_POOL("sessions = 1\n[pool down]\nbackend = sqlite\n"
			 "server = path=@DIR@/later/x.db\nsessions = 1\n"));
	wp_await_log("ready: ");
	wp_await("down", "failing", 1);
	expect(0, "status",
		"pool down: sqlite, mode = session, 0 of 1 sessions in use, 0 waiting, "
		"1 cannot log in\n");
	expect_said("pool main: sqlite, mode = session, 0 of 1 sessions in use, "
		    "0 waiting\n");
}

static void
tables_are_those_of_the_scoreboard(void **state)
{
	cenote_conn *conn;
	char row[64];

	start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "create temp table mine (a int)");
	expect(0, "--format csv pools", "pool,backend,min,max,live,");
	expect_said("main,postgresql,1,1,1,");
	expect(0, "--format csv workers", "pool,pid,state,");
	snprintf(row, sizeof(row), "main,%d,attached,", (int)wp_worker_pid(conn));
	expect_said(row);
	snprintf(row, sizeof(row), "main,%d,", (int)getpid());
	expect(0, "--format csv clients", row);
	expect(0, "--format json pins", "\"pins\":\"temp\"");
	snprintf(row, sizeof(row), "\"client_pid\":%d", (int)getpid());
	expect_said(row);
	expect(0, "pools", " pool | backend ");
	expect(0, "--format csv servers",
		"pool,line,use,role,lag_ms,asked_ms,sessions\nmain,1,ok,\"\",-1,-1,1\n");
	cenote_conn_destroy(conn);
}

static void
the_run_dir_may_come_from_the_environment(void **state)
{
	char line[512];
	FILE *f;

	start("sessions = 1\n");
	snprintf(line, sizeof(line), "CENOTE_RUN_DIR=%s %s status 2>&1",
		wp_daemon.run_dir, CNT_CENOTECTL_PATH);
	f = popen(line, "r");
	assert_non_null(f);
	assert_int_equal(end(f), 0);
	expect_said(wp_daemon.conf);
	/* the option counts more */
	setenv("CENOTE_RUN_DIR", "/nowhere", 1);
	expect(0, "status", wp_daemon.conf);
	unsetenv("CENOTE_RUN_DIR");
}

static void
wrong_words_are_refused(void **state)
{
	static const struct {
		int status;
		const char *words, *said;
	} cases[] = {
		{ 2, "", "usage: cenotectl" },
		{ 2, "--format xml pools", "unknown format \"xml\"" },
		{ 2, "pause 'a b'", "\"a b\" cannot be a word of a command" },
		{ 2, "--what", "usage: cenotectl" },
		{ 1, "begin", "unknown command \"begin\"; see cenotectl --help" },
		{ 1, "status now", "status: too many words; see cenotectl --help" },
		{ 1, "pause", "pause: too few words; see cenotectl --help" },
		{ 1, "pause --wait", "usage: pause [--wait] POOL, or all" },
		{ 1, "pause main other", "usage: pause [--wait] POOL, or all" },
		{ 1, "pause other", "there is no pool \"other\"; see cenotectl pools" },
		{ 1, "resume other", "there is no pool \"other\"; see cenotectl pools" },
		{ 1, "drain soon", "drain: unknown word \"soon\"; there is --now" },
		{ 1, "log-level loud", "unknown level \"loud\"; there are error," },
		{ 1, "kill one", "\"one\" is not a process id; see cenotectl clients" },
		{ 1, "kill 1", "no client has a session with process id 1; see" },
	};

	start("sessions = 1\n");
	for (size_t i = 0; i < CNT_COUNT(cases); i++)
		expect(cases[i].status, cases[i].words, cases[i].said);
	expect(0, "--help", "usage: cenotectl");
	expect(0, "--version", "cenotectl ");
	snprintf(wp_daemon.run_dir, sizeof(wp_daemon.run_dir), "/nowhere");
	expect(2, "status",
		"/nowhere/admin.sock: No such file or directory: start cenoted, or name "
		"its run_dir with --run-dir");
}

/* ---- who may ---- */

static int
connect_raw(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/admin.sock",
		wp_daemon.run_dir);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* In a child. 0: nobody got exactly this answer. */
static int
ask_as_nobody(void *answer)
{
	char got[256] = "";
	int fd;

	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		return 2;
	fd = connect_raw();
	if (fd < 0)
		return strcmp(answer, "") != 0;
	(void)send(fd, "status\n", 7, MSG_NOSIGNAL);
	if (recv(fd, got, sizeof(got) - 1, MSG_WAITALL) <= 0)
		return 3;
	return strcmp(got, answer) != 0;
}

static void
other_users_are_refused(void **state)
{
	static char no_answer[] = "";
	static char refusal[] =
		"error\tyou may not control this cenoted: run cenotectl as "
		"root, or as the user of cenoted\n";
	char path[CNT_PATH_MAX + 16];
	struct stat st;

	if (getuid() != 0)
		skip();
	start("sessions = 1\n");
	snprintf(path, sizeof(path), "%s/admin.sock", wp_daemon.run_dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	assert_int_equal(wp_join(wp_fork(ask_as_nobody, no_answer, -1)), 0);
	/* cenoted does not trust the mode alone */
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(wp_join(wp_fork(ask_as_nobody, refusal, -1)), 0);
	wp_await_log("uid 65534 may not control cenoted");
}

static void
clients_that_hang_hold_nothing_up(void **state)
{
	int fds[HANGING];
	cenote_conn *conn;

	start("sessions = 1\n");
	for (size_t i = 0; i < HANGING; i++) {
		fds[i] = connect_raw();
		assert_true(fds[i] >= 0);
	}
	/* half a command */
	assert_int_equal(send(fds[0], "sta", 3, MSG_NOSIGNAL), 3);
	expect(1, "status", "no place for another admin client: try again in 10 s");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	close(fds[1]);
	wp_pause_ms(100);
	expect(0, "status", "serving");
	for (size_t i = 0; i < HANGING; i++) {
		if (i != 1)
			close(fds[i]);
	}
}

/* A command without end, and one that nobody waits for. */
static void
long_commands_are_refused(void **state)
{
	char line[300], got[128] = "";
	int fd;

	start("sessions = 1\n");
	memset(line, 'x', sizeof(line));
	fd = connect_raw();
	assert_int_equal(send(fd, line, 256, MSG_NOSIGNAL), 256);
	assert_true(recv(fd, got, sizeof(got) - 1, 0) > 0);
	assert_string_equal(got, "error\tthe command is longer than 256 bytes\n");
	close(fd);
	fd = connect_raw();
	assert_int_equal(send(fd, "workers\n", 8, MSG_NOSIGNAL), 8);
	close(fd);
	expect(0, "status", "serving");
}

/* ---- reload, drain, log-level ---- */

static void
reload_answers_when_the_configuration_is_in_force(void **state)
{
	char ok[CNT_PATH_MAX + 32];

	start("sessions = 1\n");
	snprintf(ok, sizeof(ok), "%s is in force\n", wp_daemon.conf);
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, turns_config("sessions = 2\n")), 0);
	expect(0, "reload", ok);
	expect(0, "status", "0 of 2 sessions in use");
}

static void
reload_shows_the_error(void **state)
{
	start("sessions = 1\n");
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, turns_config("sesions = 2\n")), 0);
	expect(1, "reload", "unknown key \"sesions\"; did you mean \"sessions\"?");
	expect_said("cenotectl: the configuration stays as it was\n");
	expect(0, "status", "0 of 1 sessions in use");
}

static void
drain_waits_for_transactions(void **state)
{
	cenote_conn *conn;
	FILE *drain;

	start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	drain = begin("drain");
	assert_true(goes_on(drain));
	expect(0, "status", "draining\n");
	wp_exec(conn, "commit");
	assert_int_equal(end(drain), 0);
	assert_string_equal(said, "cenoted has ended\n");
	cenote_conn_destroy(conn);
	assert_int_equal(access(wp_daemon.run_dir, F_OK), 0);
	expect(2, "status", "No such file or directory: start cenoted");
}

static void
drain_now_ends_what_is_open(void **state)
{
	cenote_conn *conn;
	FILE *drain;

	start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	drain = begin("drain");
	assert_true(goes_on(drain));
	expect(0, "drain --now", "cenoted has ended\n");
	assert_int_equal(end(drain), 0);
	assert_int_equal(wp_status_of(conn, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "57P01");
	cenote_conn_destroy(conn);
}

static void
the_log_level_changes_in_processes_that_run(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\n");
	conn = wp_attach(NULL);
	cenote_conn_destroy(conn);
	wp_await("main", "idle", 1);
	assert_false(wp_log_has("lent to user"));
	expect(0, "log-level debug", "log level debug until the next reload\n");
	conn = wp_attach(NULL);
	cenote_conn_destroy(conn);
	wp_await_log("lent to user");
	expect(0, "log-level error", "log level error");
	expect(0, "pause main", "paused: main");
	expect(0, "reload", "in force");
	expect(0, "resume main", "resumed: main");
	wp_await_log("pool main was resumed");
	assert_false(wp_log_has("pool main was paused"));
}

/* ---- pause and resume ---- */

struct load {
	pthread_t thread;
	const char *write;
	atomic_uint *n; /* transactions of all clients */
	atomic_bool *is_over;
	char error[256];
};

static void *
make_load(void *arg)
{
	struct load *load = arg;
	const char *const sql[] = { "begin", load->write, "commit",
		"select count(*) from t" };
	cenote_conn *conn = wp_handle(NULL);
	int r = cenote_connect(conn);

	while (r == CENOTE_OK && !atomic_load(load->is_over)) {
		for (size_t i = 0; i < CNT_COUNT(sql) && r == CENOTE_OK; i++)
			r = wp_status_of(conn, sql[i]);
		atomic_fetch_add(load->n, 1);
	}
	if (r != CENOTE_OK)
		snprintf(load->error, sizeof(load->error), "%s: %s",
			cenote_status_name(r), wp_message(conn));
	cenote_conn_destroy(conn);
	return NULL;
}

static void
expect_no_error(const char *write)
{
	struct load loads[CLIENTS] = { 0 };
	atomic_bool is_over = false;
	atomic_uint n = 0;
	cenote_conn *conn;

	conn = wp_attach(NULL);
	wp_exec(conn, "drop table if exists t");
	wp_exec(conn, "create table t (a int)");
	cenote_conn_destroy(conn);
	for (size_t i = 0; i < CLIENTS; i++) {
		loads[i].write = write;
		loads[i].n = &n;
		loads[i].is_over = &is_over;
		assert_int_equal(
			pthread_create(&loads[i].thread, NULL, make_load, &loads[i]), 0);
	}
	for (int round = 0; round < 5; round++) {
		unsigned before;

		wp_pause_ms(200);
		expect(0, "pause --wait main", "no transaction is open\n");
		before = atomic_load(&n);
		wp_pause_ms(300);
		/* a client may count what ended before the pause */
		assert_in_range(atomic_load(&n), before, before + CLIENTS);
		before = atomic_load(&n);
		wp_pause_ms(200);
		assert_int_equal(atomic_load(&n), before);
		expect(0, "resume main", "resumed: main\n");
		for (int i = 0; i < 2000 && atomic_load(&n) < before + 2 * CLIENTS; i++)
			wp_pause_ms(10);
		assert_true(atomic_load(&n) >= before + 2 * CLIENTS);
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < CLIENTS; i++) {
		pthread_join(loads[i].thread, NULL);
		assert_string_equal(loads[i].error, "");
	}
}

static void
a_pause_of_shared_workers_under_load_is_no_error(void **state)
{
	start("sessions = 3\nworkers = 2\n" TURNS_POOL);
	expect_no_error("insert into t values (1)");
}

/* SQLite has a process for each session. Its clients only read, since writers would wait for each other. */
static void
a_pause_of_workers_under_load_is_no_error(void **state)
{
	wp_start(WP_POOL("sessions = 3\n" TURNS_POOL));
	wp_await_log("ready: ");
	expect_no_error("select 1");
}

static void
pause_waits_for_open_transactions(void **state)
{
	cenote_conn *conn;
	FILE *pause;

	start("sessions = 2\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	pause = begin("pause --wait all");
	assert_true(goes_on(pause));
	wp_exec(conn, "select 1");
	assert_true(goes_on(pause));
	wp_exec(conn, "commit");
	assert_int_equal(end(pause), 0);
	assert_string_equal(said, "no transaction is open\n");
	expect(0, "resume all", "resumed: all\n");
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
}

/* A client by TCP, not connected. */
static cenote_conn *
tcp_handle(int port)
{
	cenote_conn *conn;
	char uri[64];

	snprintf(uri, sizeof(uri), "cenote://ann@127.0.0.1:%d/main", port);
	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set_uri(conn, uri));
	return conn;
}

static void
clients_by_tcp_are_listed_paused_and_killed(void **state)
{
	cenote_conn *conn, *late;
	char words[64];
	int port = cnt_server_free_port();

	snprintf(words, sizeof(words), "listen = 127.0.0.1:%d\n", port);
	setenv("CNT_DAEMON_LINES", words, 1);
	start("sessions = 2\nauth = trust door=tcp, trust\nqueue_timeout = 3s\n");
	unsetenv("CNT_DAEMON_LINES");
	conn = tcp_handle(port);
	assert_ok(cenote_connect(conn));
	wp_exec(conn, "begin");
	expect(0, "--format csv clients", ",ann,");
	expect(0, "pause main", "paused: main");
	late = tcp_handle(port);
	assert_int_equal(cenote_connect(late), CENOTE_ERR_CONN);
	assert_string_equal(
		wp_message(late), "pool main is paused, and was not resumed in 3s");
	expect(0, "resume main", "resumed: main");
	assert_ok(cenote_connect(late));
	snprintf(words, sizeof(words), "kill %d", (int)wp_worker_pid(conn));
	expect(0, words, "ended 1 session\n");
	wp_pause_ms(100);
	assert_int_equal(wp_status_of(conn, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "57P01");
	wp_exec(late, "select 1");
	cenote_conn_destroy(conn);
	cenote_conn_destroy(late);
}

/* Runs a statement on a connection of its own, or on one that is there. */
struct call {
	pthread_t thread;
	cenote_conn *conn;
	int status;
	atomic_bool is_done;
};

static void *
run_call(void *arg)
{
	struct call *call = arg;

	call->status = CENOTE_OK;
	if (call->conn == NULL)
		call->status = wp_try(NULL, &call->conn);
	if (call->status == CENOTE_OK)
		call->status = wp_status_of(call->conn, "select 1");
	atomic_store(&call->is_done, true);
	return NULL;
}

static void
begin_call(struct call *call, cenote_conn *conn)
{
	call->conn = conn;
	atomic_store(&call->is_done, false);
	assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
}

static void
end_call(struct call *call, int status)
{
	pthread_join(call->thread, NULL);
	assert_int_equal(call->status, status);
}

static void
a_pinned_client_waits_with_its_session(void **state)
{
	struct call call;
	cenote_conn *conn;

	start("sessions = 2\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "create temp table mine (a int)");
	expect(0, "pause --wait main", "no transaction is open");
	begin_call(&call, conn);
	wp_pause_ms(300);
	assert_false(atomic_load(&call.is_done));
	expect(0, "resume main", "resumed");
	end_call(&call, CENOTE_OK);
	wp_exec(conn, "select * from mine");
	cenote_conn_destroy(conn);
}

static void
in_mode_session_only_new_clients_wait(void **state)
{
	struct call call;
	cenote_conn *conn;

	start("sessions = 2\nqueue_timeout = 60s\n");
	conn = wp_attach(NULL);
	expect(0, "pause main", "paused: main");
	wp_exec(conn, "begin");
	wp_exec(conn, "commit");
	begin_call(&call, NULL);
	wp_pause_ms(300);
	assert_false(atomic_load(&call.is_done));
	/* a reload does not end the pause */
	assert_int_equal(cnt_daemon_configure(&wp_daemon,
				 turns_config("sessions = 3\nqueue_timeout = 60s\n")),
		0);
	expect(0, "reload", "in force");
	expect(0, "status", "paused\n");
	assert_false(atomic_load(&call.is_done));
	expect(0, "resume main", "resumed: main");
	end_call(&call, CENOTE_OK);
	cenote_conn_destroy(call.conn);
	cenote_conn_destroy(conn);
}

static void
the_queue_timeout_goes_on_in_a_pause(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\nqueue_timeout = 500ms\n");
	expect(0, "pause main", "paused: main");
	assert_int_equal(wp_try(NULL, &conn), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "57P03");
	assert_string_equal(
		wp_message(conn), "pool main is paused, and was not resumed in 500ms");
	cenote_conn_destroy(conn);
}

static void
an_end_of_cenoted_ends_the_pause(void **state)
{
	struct call call;
	cenote_conn *conn;

	start("sessions = 1\n" TURNS_POOL);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	expect(0, "pause main", "paused: main");
	begin_call(&call, NULL);
	wp_pause_ms(100);
	wp_exec(conn, "commit");
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	/* whoever has not been served yet attaches to the next cenoted, which is not paused */
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	end_call(&call, CENOTE_OK);
	cenote_conn_destroy(call.conn);
	cenote_conn_destroy(conn);
}

/* ---- kill ---- */

static void
expect_killed(const char *lines)
{
	cenote_conn *conns[2];
	char words[32];

	start(lines);
	turns_attach(conns, 2);
	wp_exec(conns[0], "begin");
	wp_exec(conns[1], "begin");
	snprintf(words, sizeof(words), "kill %d", (int)wp_worker_pid(conns[0]));
	expect(0, words, "ended 1 session\n");
	wp_pause_ms(100);
	assert_int_equal(wp_status_of(conns[0], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[0]), "57P01");
	assert_string_equal(wp_message(conns[0]), "an administrator ended the session");
	assert_true(
		wp_log_has_line("client pid ", ": an administrator ended the session"));
	wp_exec(conns[1], "commit");
	turns_destroy(conns, 2);
	wp_await("main", "idle", 2);
}

static void
kill_ends_the_session_of_a_worker(void **state)
{
	expect_killed("sessions = 2\n");
	assert_int_equal(wp_teardown(NULL), 0);
	expect_killed("sessions = 2\nworkers = 2\n" TURNS_POOL);
}

static void *
sleep_long(void *arg)
{
	struct call *call = arg;

	call->status = wp_status_of(call->conn, "select pg_sleep(60)");
	return NULL;
}

static void
kill_ends_all_sessions_of_a_client_even_at_work(void **state)
{
	cenote_conn *conns[2];
	struct call call;
	char words[32];

	start("sessions = 2\nworkers = 1\n" TURNS_POOL);
	turns_attach(conns, 2);
	wp_exec(conns[1], "begin");
	call.conn = conns[0];
	assert_int_equal(pthread_create(&call.thread, NULL, sleep_long, &call), 0);
	turns_await_server("select count(*) from pg_stat_activity where state = 'active' "
			   "and query = 'select pg_sleep(60)'",
		"1");
	snprintf(words, sizeof(words), "kill %d", (int)getpid());
	expect(0, words, "ended 2 sessions\n");
	pthread_join(call.thread, NULL);
	assert_true(call.status < 0);
	assert_string_equal(wp_sqlstate(conns[0]), "57P01");
	assert_int_equal(wp_status_of(conns[1], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[1]), "57P01");
	turns_destroy(conns, 2);
	wp_await("main", "idle", 2);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(status_names_cenoted_and_its_pools),
		TEST(status_says_that_a_server_is_down),
		TEST(tables_are_those_of_the_scoreboard),
		TEST(the_run_dir_may_come_from_the_environment),
		TEST(wrong_words_are_refused),
		TEST(other_users_are_refused),
		TEST(clients_that_hang_hold_nothing_up),
		TEST(long_commands_are_refused),
		TEST(reload_answers_when_the_configuration_is_in_force),
		TEST(reload_shows_the_error),
		TEST(drain_waits_for_transactions),
		TEST(drain_now_ends_what_is_open),
		TEST(the_log_level_changes_in_processes_that_run),
		TEST(a_pause_of_shared_workers_under_load_is_no_error),
		TEST(a_pause_of_workers_under_load_is_no_error),
		TEST(pause_waits_for_open_transactions),
		TEST(clients_by_tcp_are_listed_paused_and_killed),
		TEST(a_pinned_client_waits_with_its_session),
		TEST(in_mode_session_only_new_clients_wait),
		TEST(the_queue_timeout_goes_on_in_a_pause),
		TEST(an_end_of_cenoted_ends_the_pause),
		TEST(kill_ends_the_session_of_a_worker),
		TEST(kill_ends_all_sessions_of_a_client_even_at_work),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
