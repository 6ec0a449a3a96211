/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions come, wait, are lent and go: the pool as its clients see it. */
#include "with_pool.h"

#include <dirent.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void
a_session_is_lent_and_given_back(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 40 + 2"), "42");
	assert_string_equal(cenote_info(a, "pool"), "main");
	wp_await("main", "in_use", 1);
	cenote_conn_destroy(a);
	wp_await("main", "idle", 1);
	assert_int_equal(wp_pool_number("main", "attaches"), 1);
	assert_int_equal(wp_pool_number("main", "requests"), 1);
}

static void
a_busy_pool_says_how_busy_it_is(void **state)
{
	cenote_conn *held[2];
	cenote_conn *late;
	int64_t begun;

	wp_start(WP_POOL("sessions = 2\nqueue_timeout = 300ms\n"));
	wp_await("main", "idle", 2);
	for (int i = 0; i < 2; i++)
		held[i] = wp_attach(NULL);
	begun = wp_now_ms();
	assert_int_equal(wp_try(NULL, &late), CENOTE_ERR_CONN);
	assert_in_range(wp_now_ms() - begun, 300 - WP_CLOCK_MS, 5000);
	assert_string_equal(wp_sqlstate(late), "57P03");
	assert_string_equal(wp_message(late),
		"pool main: no free session in 300ms (2 of 2 in use, 1 waiting)");
	assert_int_equal(wp_pool_number("main", "timeouts"), 1);
	cenote_conn_destroy(late);
	for (int i = 0; i < 2; i++)
		cenote_conn_destroy(held[i]);
}

static int
take_a_turn(void *arg)
{
	cenote_conn *conn;
	char digit = (char)('0' + *(const int *)arg);

	if (wp_try(NULL, &conn) != CENOTE_OK)
		return 1;
	if (write(WP_KEPT, &digit, 1) != 1)
		return 2;
	cenote_conn_destroy(conn);
	return 0;
}

static void
who_came_first_is_served_first(void **state)
{
	enum {
		N = 8
	};
	pid_t pids[N];
	cenote_conn *held;
	char order[N + 1] = "";
	int fds[2];

	wp_start(WP_POOL("sessions = 1\n"));
	assert_int_equal(pipe(fds), 0);
	held = wp_attach(NULL);
	wp_await("main", "waiting", 0);
	for (int i = 0; i < N; i++) {
		pids[i] = wp_fork(take_a_turn, &i, fds[1]);
		wp_await("main", "waiting", i + 1);
	}
	cenote_conn_destroy(held);
	for (int i = 0; i < N; i++)
		assert_int_equal(wp_join(pids[i]), 0);
	assert_int_equal(read(fds[0], order, N), N);
	assert_string_equal(order, "01234567");
	close(fds[0]);
	close(fds[1]);
}

static int
wait_in_vain(void *arg)
{
	cenote_conn *conn;

	(void)arg;
	return wp_try(NULL, &conn) == CENOTE_OK;
}

static void
who_gives_up_waiting_is_forgotten(void **state)
{
	cenote_conn *held;
	cenote_conn *next;
	pid_t pid;

	wp_start(WP_POOL("sessions = 1\n"));
	held = wp_attach(NULL);
	pid = wp_fork(wait_in_vain, NULL, -1);
	wp_await("main", "waiting", 1);
	kill(pid, SIGKILL);
	wp_join(pid);
	wp_await("main", "waiting", 0);
	cenote_conn_destroy(held);
	next = wp_attach(NULL);
	assert_string_equal(wp_value(next, "select 1"), "1");
	cenote_conn_destroy(next);
	assert_int_equal(wp_pool_number("main", "attaches"), 2);
}

static void
the_pool_grows_when_clients_wait_and_shrinks_when_they_are_gone(void **state)
{
	enum {
		N = 5
	};
	cenote_conn *conns[N];

	wp_start(WP_POOL("sessions = 1..5\nidle_ttl = 200ms\n"));
	wp_await("main", "live", 1);
	for (int i = 0; i < N; i++)
		conns[i] = wp_attach(NULL);
	assert_int_equal(wp_pool_number("main", "live"), N);
	for (int i = 0; i < N; i++)
		cenote_conn_destroy(conns[i]);
	wp_await("main", "live", 1);
	/* the pool stays at its least size */
	wp_pause_ms(500);
	assert_int_equal(wp_pool_number("main", "live"), 1);
}

static void
a_pool_may_sleep_until_somebody_comes(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 0..2\nidle_ttl = 100ms\n"));
	assert_int_equal(wp_pool_number("main", "live"), 0);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	wp_await("main", "live", 0);
	a = wp_attach(NULL);
	cenote_conn_destroy(a);
}

static void
start_with(const char *preload, const char *pool)
{
	const char *had = getenv("ASAN_OPTIONS");
	char options[1024];

	snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", had ? had : "");
	setenv("LD_PRELOAD", preload, 1);
	setenv("ASAN_OPTIONS", options, 1);
	wp_start(pool);
	unsetenv("LD_PRELOAD");
}

static void
a_worker_is_known_before_its_master_goes_on(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res = NULL;
	cenote_conn *a;
	pid_t worker;

	start_with(CNT_SLOW_FORK, WP_POOL("sessions = 0..1\n"));
	a = wp_attach(NULL);
	worker = wp_worker_pid(a);
	assert_int_equal(kill(worker, 0), 0);
	/* the door knows the worker too */
	assert_ok(cenote_suspend(a, NULL, 0, token));
	cenote_conn_destroy(a);
	a = wp_handle(NULL);
	assert_ok(cenote_resume(a, token, &res));
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

static void
a_silent_client_keeps_nobody_waiting(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fds[5];
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\nqueue_timeout = 15s\nauth_timeout = 60s\n"));
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/main.sock", wp_daemon.run_dir);
	for (int i = 0; i < 5; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&sa, sizeof(sa)), 0);
	}
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
}

static void
a_killed_worker_is_replaced(void **state)
{
	cenote_conn *a;
	pid_t worker;
	char text[64];

	wp_start(WP_POOL("sessions = 1\n"));
	/* kill an idle worker */
	a = wp_attach(NULL);
	worker = wp_worker_pid(a);
	cenote_conn_destroy(a);
	wp_await("main", "idle", 1);
	kill(worker, SIGKILL);
	snprintf(text, sizeof(text), "%d was killed by signal 9", (int)worker);
	wp_await_log(text);
	a = wp_attach(NULL);
	assert_int_not_equal(wp_worker_pid(a), worker);
	/* kill the worker of an open transaction: its client gets an error that says so */
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	kill(wp_worker_pid(a), SIGKILL);
	assert_int_equal(wp_status_of(a, "insert into t values (2)"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "08006");
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select count(*) from t"), "0");
	cenote_conn_destroy(a);
	wp_await("main", "live", 1);
	wp_await("main", "idle", 1);
}

static void
a_killed_door_is_replaced(void **state)
{
	cenote_conn *held;
	cenote_conn *late;
	pid_t children[8];
	size_t n;

	wp_start(WP_POOL("sessions = 1\nqueue_timeout = 300ms\n"));
	wp_await("main", "idle", 1);
	held = wp_attach(NULL);
	n = cnt_daemon_children(&wp_daemon, children, 8);
	for (size_t i = 0; i < n; i++) {
		if (children[i] != wp_worker_pid(held))
			kill(children[i], SIGKILL);
	}
	wp_await_log("door");
	assert_int_equal(wp_try(NULL, &late), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(late), "57P03");
	cenote_conn_destroy(late);
	assert_string_equal(wp_value(held, "select 1"), "1");
	cenote_conn_destroy(held);
}

static int
is_door(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fgets(name, sizeof(name), f) == NULL)
		name[0] = '\0';
	(void)fclose(f);
	return strcmp(name, "cenoted-door\n") == 0;
}

static pid_t
door_pid(void)
{
	pid_t pids[64];

	/* the door gives itself its name after its start */
	for (int64_t end = wp_now_ms() + 20000; wp_now_ms() < end; wp_pause_ms(5)) {
		size_t n = cnt_daemon_children(&wp_daemon, pids, 64);

		for (size_t i = 0; i < n; i++) {
			if (is_door(pids[i]))
				return pids[i];
		}
	}
	fail_msg("there is no door");
	return -1;
}

/* Let the door stall when the next client comes, and return when it stalls. */
static void
stall_door(volatile int *stall)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	stall[0] = door_pid();
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/main.sock", wp_daemon.run_dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	for (int64_t end = wp_now_ms() + 20000; stall[1] == 0; wp_pause_ms(1))
		assert_true(wp_now_ms() < end);
	close(fd);
}

/* A new worker lends its session before the door has read about that worker. The door then gets the
 * client that resumes. */
static void
who_resumes_from_a_new_worker_is_not_refused_by_a_late_door(void **state)
{
	char path[] = "/tmp/cenote-stall-XXXXXX", token[CENOTE_TOKEN_SIZE];
	int fd = mkstemp(path);
	cenote_result *res = NULL;
	volatile int *stall;
	cenote_conn *a;
	pid_t worker;

	assert_int_equal(ftruncate(fd, 2 * sizeof(int)), 0);
	stall = mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(stall != MAP_FAILED);
	setenv("CNT_SLOW_DOOR", path, 1);
	start_with(CNT_SLOW_DOOR, WP_POOL("sessions = 1\n"));
	unsetenv("CNT_SLOW_DOOR");
	a = wp_attach(NULL);
	worker = wp_worker_pid(a);
	stall_door(stall);
	kill(worker, SIGKILL);
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_int_not_equal(wp_worker_pid(a), worker);
	assert_ok(cenote_suspend(a, NULL, 0, token));
	cenote_conn_destroy(a);
	a = wp_handle(NULL);
	if (cenote_resume(a, token, &res) != CENOTE_OK)
		fail_msg("%s", wp_message(a));
	cenote_conn_destroy(a);
	munmap((void *)(uintptr_t)stall, 2 * sizeof(int));
	close(fd);
	unlink(path);
}

/* Whether a process runs in valgrind, whose own descriptors are beyond any limit that is set from
 * outside. */
static int
is_in_valgrind(pid_t pid)
{
	char path[64], exe[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	assert_true(n > 0);
	exe[n] = '\0';
	return strstr(exe, "valgrind") != NULL;
}

#define CROWD 60

/* More clients wait than the door may have descriptors. Some are refused, and the door goes on. */
static void
a_crowd_at_the_door_is_refused_and_harms_nobody(void **state)
{
	struct rlimit few = { 40, 40 };
	cenote_conn *crowd[CROWD];
	cenote_conn *holder;
	pid_t door;
	int is_limited, n_refused = 0;

	wp_start(WP_POOL("sessions = 1..3\n"));
	door = door_pid();
	is_limited = !is_in_valgrind(door);
	if (is_limited)
		assert_int_equal(prlimit(door, RLIMIT_NOFILE, &few, NULL), 0);
	holder = wp_attach(NULL);
	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = wp_handle(NULL);
		assert_ok(cenote_set_nonblocking(crowd[i], 1));
		assert_true(cenote_connect(crowd[i]) <= CENOTE_AGAIN);
	}
	for (int64_t end = wp_now_ms() + 20000;
		is_limited && n_refused == 0 && wp_now_ms() < end;) {
		for (size_t i = 0; i < CROWD; i++)
			n_refused += cenote_connect(crowd[i]) == CENOTE_ERR_CONN &&
				     strcmp(wp_sqlstate(crowd[i]), "53300") == 0;
		wp_pause_ms(5);
	}
	assert_int_equal(n_refused > 0, is_limited);
	assert_int_equal(door_pid(), door);
	for (size_t i = 0; i < CROWD; i++)
		cenote_conn_destroy(crowd[i]);
	cenote_conn_destroy(holder);
	wp_await("main", "waiting", 0);
	holder = wp_attach(NULL);
	assert_string_equal(wp_value(holder, "select 1"), "1");
	assert_int_equal(door_pid(), door);
	cenote_conn_destroy(holder);
}

/* The highest number of a process's descriptors. */
static rlim_t
highest_fd(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	rlim_t highest = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		rlim_t fd = strtoul(entry->d_name, NULL, 10);

		highest = fd > highest ? fd : highest;
	}
	(void)closedir(dir);
	return highest;
}

/* The door has room for a few descriptors only, and the master sends it one for each worker. */
static void
a_door_out_of_descriptors_goes_on(void **state)
{
	struct rlimit before, few;
	cenote_conn *holder, *waits;
	pid_t door;
	int r;

	wp_start(WP_POOL("sessions = 1\n"));
	door = door_pid();
	if (is_in_valgrind(door))
		skip();
	holder = wp_attach(NULL);
	waits = wp_handle(NULL);
	assert_ok(cenote_set_nonblocking(waits, 1));
	assert_int_equal(cenote_connect(waits), CENOTE_AGAIN);
	wp_await("main", "waiting", 1);
	assert_int_equal(prlimit(door, RLIMIT_NOFILE, NULL, &before), 0);
	few = (struct rlimit){ highest_fd(door) + 1, before.rlim_max };
	assert_int_equal(prlimit(door, RLIMIT_NOFILE, &few, NULL), 0);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, WP_POOL("sessions = 30\n")), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("out of descriptors");
	assert_int_equal(prlimit(door, RLIMIT_NOFILE, &before, NULL), 0);
	/* a worker serves the client, or the client got an error */
	while ((r = cenote_connect(waits)) == CENOTE_AGAIN)
		wp_pause_ms(5);
	if (r != CENOTE_OK)
		assert_string_equal(wp_sqlstate(waits), "53300");
	cenote_conn_destroy(waits);
	cenote_conn_destroy(wp_attach(NULL));
	assert_int_equal(door_pid(), door);
	assert_false(wp_log_has("critical"));
	cenote_conn_destroy(holder);
}

/* Send what a client that prefers TLS may send before it gets an answer. Returns the code of the
 * first message, or -1. */
static int
first_answer(const char *path, uint8_t kind, uint8_t tls)
{
	uint8_t opening[20] = { 'C', 'N', 'T', 'E', 20, 0, 1, 1, kind, tls, 4, 0, 0, 0, 0,
		0, 'm', 'a', 'i', 'n' };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { 5, 0 };
	uint8_t answer[64];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t n;

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(send(fd, opening, sizeof(opening), 0), sizeof(opening));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	n = recv(fd, answer, sizeof(answer), 0);
	(void)close(fd);
	return n > 4 ? answer[4] : -1;
}

static void
who_wants_tls_is_answered_before_the_first_frame(void **state)
{
	enum {
		ATTACH = 1,
		CANCEL = 2,
		STATUS = 4,
		HELLO = 0x40,
		ERROR = 0x46
	};
	char path[CNT_PATH_MAX + 16];
	cenote_conn *holder;

	wp_start(WP_POOL("sessions = 1\n"));
	(void)snprintf(path, sizeof(path), "%s/main.sock", wp_daemon.run_dir);
	assert_int_equal(first_answer(path, ATTACH, 1), HELLO);
	assert_int_equal(first_answer(path, ATTACH, 2), ERROR);
	/* the door answers too */
	holder = wp_attach(NULL);
	assert_int_equal(first_answer(path, CANCEL, 1), HELLO);
	assert_int_equal(first_answer(path, STATUS, 1), HELLO);
	assert_int_equal(first_answer(path, STATUS, 2), ERROR);
	cenote_conn_destroy(holder);
}

static void
status_is_given_while_every_session_is_taken(void **state)
{
	cenote_conn *held;
	cenote_conn *asker;
	cenote_result *res;
	int64_t client_pid = 0;

	wp_start(WP_POOL("sessions = 1\n"));
	held = wp_attach(NULL);
	asker = wp_handle(NULL);
	assert_ok(cenote_status(asker, "workers", &res));
	assert_int_equal(cenote_result_n_rows(res), 1);
	assert_string_equal(
		cenote_result_text(
			res, 0, (uint32_t)cenote_result_find_column(res, "state"), NULL),
		"attached");
	assert_ok(cenote_result_int64(res, 0,
		(uint32_t)cenote_result_find_column(res, "client_pid"), &client_pid));
	assert_int_equal(client_pid, getpid());
	cenote_result_destroy(res);
	assert_true(cenote_status(asker, "weather", &res) < 0);
	assert_non_null(strstr(wp_message(asker), "\"pools\""));
	cenote_conn_destroy(asker);
	cenote_conn_destroy(held);
}

static void
a_server_that_is_down_is_reported_and_found_again(void **state)
{
	char dir[CNT_PATH_MAX + 8];
	cenote_conn *a;
	int r;

	wp_start(CNT_DAEMON_GLOBAL
		"[pool main]\nbackend = sqlite\nserver = path=@DIR@/later/x.db\n"
		"sessions = 2\n");
	wp_await("main", "failing", 2);
	r = wp_try(NULL, &a);
	assert_int_equal(r, CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "08001");
	assert_non_null(
		strstr(wp_message(a), "pool main: its server cannot be reached: "));
	cenote_conn_destroy(a);
	snprintf(dir, sizeof(dir), "%s/later", wp_daemon.dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	wp_await("main", "idle", 2);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	assert_true(wp_log_has("cannot log in: "));
	assert_true(wp_log_has("logged in to "));
}

/* The door leaves refused clients in the queue, which has no room after some hundred. */
static void
a_server_that_is_down_is_reported_to_any_number_of_clients(void **state)
{
	wp_start(WP_POOL("sessions = 1\n"
			 "[pool down]\nbackend = sqlite\nserver = path=@DIR@/none/a.db\n"
			 "sessions = 2\nqueue_timeout = 10s\n"));
	wp_await("down", "failing", 2);
	for (int i = 0; i < 1000; i++) {
		cenote_conn *a;

		assert_int_equal(wp_try("down", &a), CENOTE_ERR_CONN);
		if (strcmp(wp_sqlstate(a), "08001") != 0)
			fail_msg("client %d: %s", i, wp_message(a));
		cenote_conn_destroy(a);
	}
}

static void
an_idle_holder_yields_to_those_who_wait(void **state)
{
	cenote_conn *a;
	cenote_conn *b;

	wp_start(WP_POOL("sessions = 1\nmode = transaction\nqueue_timeout = 10s\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	b = wp_attach(NULL);
	for (int i = 0; i < 20; i++) {
		wp_exec(a, "insert into t values (1)");
		wp_exec(b, "insert into t values (2)");
	}
	assert_string_equal(wp_value(a, "select count(*) from t"), "40");
	assert_true(wp_pool_number("main", "yields") >= 20);
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static int
insert_one(void *arg)
{
	cenote_conn *conn;

	(void)arg;
	if (wp_try(NULL, &conn) != CENOTE_OK)
		return 1;
	if (wp_status_of(conn, "insert into t values (2)") != CENOTE_OK)
		return 2;
	cenote_conn_destroy(conn);
	return 0;
}

/* Programs that connect and ask nothing yet do not delay others. The shortest of many waits counts, since the machine may be
 * busy. */
static void
who_has_asked_nothing_yields_at_once(void **state)
{
	cenote_conn *conns[30];
	int64_t shortest = 20000;
	const size_t n = sizeof(conns) / sizeof(conns[0]);

	wp_start(WP_POOL("sessions = 1\nmode = transaction\nqueue_timeout = 10s\n"));
	for (size_t i = 0; i < n; i++) {
		int64_t begun = wp_now_ms();

		conns[i] = wp_attach(NULL);
		if (i > 0 && wp_now_ms() - begun < shortest)
			shortest = wp_now_ms() - begun;
	}
	/* it was 20 ms before this rule */
	assert_in_range(shortest, 0, 10);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(wp_value(conns[i], "select 1"), "1");
		cenote_conn_destroy(conns[i]);
	}
}

static void
who_holds_a_transaction_does_not_yield(void **state)
{
	cenote_conn *a;
	pid_t pid;

	wp_start(WP_POOL("sessions = 1\nmode = transaction\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	pid = wp_fork(insert_one, NULL, -1);
	wp_await("main", "waiting", 1);
	wp_pause_ms(50);
	assert_int_equal(wp_pool_number("main", "waiting"), 1);
	wp_exec(a, "commit");
	assert_int_equal(wp_join(pid), 0);
	assert_string_equal(wp_value(a, "select count(*) from t"), "2");
	cenote_conn_destroy(a);
}

static int
come_as_nobody(void *arg)
{
	cenote_result *res;
	cenote_conn *conn;
	int r;

	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 9;
	r = wp_try(NULL, &conn);
	if (r != CENOTE_ERR_AUTH || strcmp(wp_sqlstate(conn), "28000") != 0)
		return 1;
	r = cenote_status(conn, "pools", &res);
	if (r != CENOTE_ERR_AUTH || strcmp(wp_sqlstate(conn), "28000") != 0)
		return 2;
	cenote_conn_destroy(conn);
	return 0;
}

/* Run cenoted --explain-auth, which must print this text. Returns the exit status. */
static int
explain(const char *words, const char *said)
{
	char command[6 * CNT_PATH_MAX];
	const char *program = getenv("CNT_CENOTED");
	int status;

	snprintf(command, sizeof(command),
		"%s --explain-auth -c %s pool=main %s >%s/said",
		program != NULL ? program : CNT_CENOTED_PATH, wp_daemon.conf, words,
		wp_daemon.dir);
	status = system(command);
	snprintf(command, sizeof(command), "grep -q '%s' %s/said", said, wp_daemon.dir);
	assert_int_equal(system(command), 0);
	return WEXITSTATUS(status);
}

static void
who_is_not_allowed_is_refused_without_a_reason(void **state)
{
	cenote_conn *a;

	wp_start("[cenoted]\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n"
		 "socket_mode = 0777\n" CNT_DAEMON_POOL "sessions = 1\n");
	a = wp_handle(NULL);
	assert_ok(cenote_conn_set(a, "user", "somebody-else"));
	assert_int_equal(cenote_connect(a), CENOTE_ERR_AUTH);
	assert_string_equal(wp_message(a),
		"pool main: the login was refused; cenoted's log has the reason, and "
		"cenoted --explain-auth shows which rule decides");
	cenote_conn_destroy(a);
	assert_true(wp_log_has("asked for another user"));
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	assert_int_equal(wp_join(wp_fork(come_as_nobody, NULL, -1)), 0);
	assert_true(wp_log_has("allow_users does not name this unix user"));
	/* --explain-auth says the same */
	assert_int_equal(
		explain("user=nobody",
			"refused: pool main: allow_users does not name this unix user"),
		1);
	assert_int_equal(explain("user=root unix=nobody",
				 "allow_users does not name this unix user"),
		1);
	assert_int_equal(explain("user=root", "decides"), 0);
	assert_int_equal(explain("", "decides"), 0);
	assert_int_equal(explain("user=nobody unix=root",
				 "refused: pool main: it asks for another user"),
		1);
	assert_int_equal(
		explain("user=root from=192.0.2.1", "no rule of auth matches"), 1);
}

/* Ask for the status as nobody. Returns 0 if it is told, 1 if it is refused. */
static int
ask_as_nobody(void *arg)
{
	cenote_conn *conn;
	cenote_result *res;
	int r;

	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 9;
	conn = wp_handle(NULL);
	r = cenote_status(conn, "pools", &res);
	if (r < 0)
		return strcmp(wp_sqlstate(conn), "28000") == 0 ? 1 : 2;
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return 0;
}

static void
the_status_is_told_to_whom_a_rule_lets_try(void **state)
{
	static const struct {
		const char *auth;
		int is_refused;
	} cases[] = { { "peer", 0 }, { "reject user=nobody, peer", 1 },
		{ "peer user=root", 1 } };
	cenote_conn *a;
	char config[512];

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		snprintf(config, sizeof(config),
			"[cenoted]\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n"
			"socket_mode = 0777\n" CNT_DAEMON_POOL
			"sessions = 1\nallow_users = *\nauth = %s\n",
			cases[i].auth);
		wp_start(config);
		assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
		/* first an idle worker answers, then a helper */
		assert_int_equal(
			wp_join(wp_fork(ask_as_nobody, NULL, -1)), cases[i].is_refused);
		a = wp_attach(NULL);
		assert_int_equal(
			wp_join(wp_fork(ask_as_nobody, NULL, -1)), cases[i].is_refused);
		cenote_conn_destroy(a);
		assert_int_equal(cnt_daemon_stop(&wp_daemon), 0);
	}
}

/* Whether the status tells this user of the only worker's client. */
static int
is_told_user(const char *wanted)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res = NULL;
	int is_it = 0;

	if (cenote_status(conn, "workers", &res) == CENOTE_OK &&
		cenote_result_n_rows(res) == 1) {
		int64_t user = cenote_result_find_column(res, "user");
		int64_t pid = cenote_result_find_column(res, "client_pid");
		int64_t n = -1;

		is_it = cenote_result_int64(res, 0, (uint32_t)pid, &n) == CENOTE_OK &&
			(n > 0) == (*wanted != '\0') &&
			strcmp(cenote_result_text(res, 0, (uint32_t)user, NULL),
				wanted) == 0;
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return is_it;
}

static int
ask_as(void *arg)
{
	const uid_t *uid = arg;

	if (setgid(*uid) < 0 || setuid(*uid) < 0)
		return 9;
	return is_told_user("");
}

static int
attach_and_ask_as(void *arg)
{
	const uid_t *uid = arg;
	const struct passwd *pw = getpwuid(*uid);
	cenote_conn *conn;
	int is_told;

	if (setgid(*uid) < 0 || setuid(*uid) < 0 || wp_try(NULL, &conn) != CENOTE_OK)
		return 9;
	is_told = is_told_user(pw != NULL ? pw->pw_name : "1");
	cenote_conn_destroy(conn);
	return is_told;
}

static void
who_the_clients_are_is_not_told_to_everybody(void **state)
{
	uid_t nobody = 65534;
	uid_t other = 1;
	cenote_conn *a;

	if (geteuid() != 0)
		return;
	wp_start(
		"[cenoted]\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n"
		"socket_mode = 0777\n" CNT_DAEMON_POOL "sessions = 1\nallow_users = *\n");
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	a = wp_attach(NULL);
	assert_true(is_told_user("root"));
	assert_int_equal(wp_join(wp_fork(ask_as, &nobody, -1)), 1);
	cenote_conn_destroy(a);
	wp_await("main", "idle", 1);
	/* each user sees their own client */
	assert_int_equal(wp_join(wp_fork(attach_and_ask_as, &other, -1)), 1);
}

/* ---- errors of clients that do not get in ---- */

/* Returns 0 if the error's message has the text. */
static int
message_has(const char *pool, const char *text)
{
	cenote_conn *conn;
	int r = wp_try(pool, &conn);
	int is_said = r == CENOTE_ERR_CONN && strstr(wp_message(conn), text) != NULL;

	if (!is_said)
		fprintf(stderr, "%d: %s\n", r, wp_message(conn));
	cenote_conn_destroy(conn);
	return !is_said;
}

static int
knock_as_nobody(void *arg)
{
	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 9;
	return message_has("main",
		"main.sock: Permission denied; unix user 65534 may not "
		"open the socket of user 0, group 0, mode 0700: "
		"socket_mode and socket_group in cenoted.conf say who "
		"may, and the pool's allow_users");
}

static void
an_unknown_pool_a_stopped_daemon_and_a_shut_socket_are_told_apart(void **state)
{
	char text[512];

	wp_start(WP_POOL("sessions = 1\n[pool asleep]\nbackend = sqlite\n"
			 "server = path=@DIR@/asleep.db\nsessions = 0..1\n"));
	snprintf(text, sizeof(text),
		"there is no pool \"nothing\": cenoted runs in %s, and has asleep, main "
		"(tried %s/nothing.sock: No such file or directory)",
		wp_daemon.run_dir, wp_daemon.run_dir);
	assert_int_equal(message_has("nothing", text), 0);
	if (geteuid() == 0) {
		assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
		assert_int_equal(wp_join(wp_fork(knock_as_nobody, NULL, -1)), 0);
	}
	/* a daemon that was killed leaves its sockets behind */
	assert_int_equal(kill(wp_daemon.pid, SIGKILL), 0);
	assert_int_equal(cnt_daemon_end(&wp_daemon), -1);
	snprintf(text, sizeof(text), "nobody listens in %s: cenoted is not running",
		wp_daemon.run_dir);
	assert_int_equal(message_has("main", text), 0);
	assert_int_equal(message_has("nothing", text), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_is_lent_and_given_back),
		TEST(a_busy_pool_says_how_busy_it_is),
		TEST(who_came_first_is_served_first),
		TEST(who_gives_up_waiting_is_forgotten),
		TEST(the_pool_grows_when_clients_wait_and_shrinks_when_they_are_gone),
		TEST(a_pool_may_sleep_until_somebody_comes),
		TEST(a_worker_is_known_before_its_master_goes_on),
		TEST(a_silent_client_keeps_nobody_waiting),
		TEST(a_killed_worker_is_replaced),
		TEST(a_killed_door_is_replaced),
		TEST(who_resumes_from_a_new_worker_is_not_refused_by_a_late_door),
		TEST(a_crowd_at_the_door_is_refused_and_harms_nobody),
		TEST(a_door_out_of_descriptors_goes_on),
		TEST(who_wants_tls_is_answered_before_the_first_frame),
		TEST(status_is_given_while_every_session_is_taken),
		TEST(a_server_that_is_down_is_reported_and_found_again),
		TEST(a_server_that_is_down_is_reported_to_any_number_of_clients),
		TEST(an_idle_holder_yields_to_those_who_wait),
		TEST(who_has_asked_nothing_yields_at_once),
		TEST(who_holds_a_transaction_does_not_yield),
		TEST(who_is_not_allowed_is_refused_without_a_reason),
		TEST(the_status_is_told_to_whom_a_rule_lets_try),
		TEST(who_the_clients_are_is_not_told_to_everybody),
		TEST(an_unknown_pool_a_stopped_daemon_and_a_shut_socket_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
