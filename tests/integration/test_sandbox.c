/* SPDX-License-Identifier: BSD-2-Clause */
/* What cenoted's processes can still do while they serve. */
#include "with_pool.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/sandbox.h"

#define KEPT_CAPS                                                                        \
	(1ull << 0 /* CHOWN */ | 1ull << 1 /* DAC_OVERRIDE */ | 1ull << 3 /* FOWNER */ | \
		1ull << 5 /* KILL */ | 1ull << 6 /* SETGID */ | 1ull << 7 /* SETUID */ | \
		1ull << 10 /* NET_BIND_SERVICE */)

/* The configuration of an administrator: unlike the tests' own, it does not change the sandbox. */
#define CONFIG(lines)                                                                    \
	"[cenoted]\nuser = @USER@\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n"      \
	"log = stderr\n" lines CNT_DAEMON_POOL "sessions = 1\n"

/* A line of /proc/PID/status; "" if there is no line of that name. */
static const char *
status_of(pid_t pid, const char *name)
{
	static char line[256];
	char path[64];
	size_t n = strlen(name);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, name, n) != 0 || line[n] != ':')
			continue;
		fclose(f);
		line[strcspn(line, "\n")] = '\0';
		return line + n + 1 + strspn(line + n + 1, "\t ");
	}
	fclose(f);
	return "";
}

static void
await_status(pid_t pid, const char *name, const char *wanted)
{
	int64_t until = wp_now_ms() + 20000;

	while (strcmp(status_of(pid, name), wanted) != 0) {
		if (wp_now_ms() > until)
			fail_msg("%s stays %s", name, status_of(pid, name));
		wp_pause_ms(5);
	}
}

static void
skip_unless_filtered(void)
{
	const char *lack = cnd_sandbox_lacks_seccomp();

	if (lack == NULL)
		return;
	print_message("# %s\n", lack);
	skip();
}

static void
the_door_is_filtered_and_workers_where_strangers_come(void **state)
{
	cenote_conn *a;

	skip_unless_filtered();
	wp_start(CONFIG(""));
	a = wp_attach(NULL);
	await_status(wp_await_child("cenoted-door"), "Seccomp", "2");
	assert_string_equal(status_of(wp_worker_pid(a), "Seccomp"), "0");
	assert_string_equal(status_of(wp_worker_pid(a), "NoNewPrivs"), "1");
	cenote_conn_destroy(a);
	assert_int_equal(wp_teardown(state), 0);
	wp_start(CONFIG("seccomp = on\n"));
	a = wp_attach(NULL);
	assert_string_equal(status_of(wp_worker_pid(a), "Seccomp"), "2");
	/* the worker can do all that its clients want of it */
	wp_exec(a, "create table t(a)");
	wp_exec(a, "insert into t values (1)");
	assert_string_equal(wp_value(a, "select count(*) from t"), "1");
	cenote_conn_destroy(a);
}

static void
a_child_that_dies_in_its_sandbox_is_replaced(void **state)
{
	cenote_conn *a;
	pid_t door;

	skip_unless_filtered();
	wp_start(CONFIG("seccomp = on\n"));
	door = wp_await_child("cenoted-door");
	a = wp_attach(NULL);
	assert_int_equal(kill(wp_worker_pid(a), SIGKILL), 0);
	assert_int_equal(kill(door, SIGKILL), 0);
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

/* Enter the sandbox of a role in a child of this test. Returns what it may do with files. */
static int
try_files(void *arg)
{
	enum cnd_sandbox_role role = *(enum cnd_sandbox_role *)arg;
	const struct cnd_config c = {
		.core_dumps = 1, .seccomp = CND_SWITCH_OFF, .landlock = CND_SWITCH_ON
	};
	char name[CNT_PATH_MAX] = "/tmp/cenote-sandbox-XXXXXX";
	int reads, makes, opens_dev;
	FILE *f;
	int fd;

	/* without root, Landlock requires this first; every child of cenoted has it */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || cnd_sandbox_enter(role, &c) < 0)
		return 100;
	f = fopen("/etc/passwd", "re");
	reads = f != NULL;
	if (f != NULL)
		fclose(f);
	fd = mkstemp(name);
	makes = fd >= 0 && unlink(name) == 0;
	f = fopen("/dev/shm/cenote-sandbox", "we");
	opens_dev = f != NULL;
	if (f != NULL)
		fclose(f);
	(void)unlink("/dev/shm/cenote-sandbox");
	return reads | makes << 1 | opens_dev << 2;
}

static void
files_are_as_each_role_needs_them(void **state)
{
	static const struct {
		enum cnd_sandbox_role role;
		int may; /* 1: read; 2: write in /tmp; 4: write elsewhere */
	} cases[] = { { CND_SANDBOX_DOOR, 0 }, { CND_SANDBOX_WORKER, 3 },
		{ CND_SANDBOX_FILE_WORKER, 7 } };

	if (cnd_sandbox_lacks_landlock() != NULL) {
		print_message("# %s\n", cnd_sandbox_lacks_landlock());
		skip();
	}
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		enum cnd_sandbox_role role = cases[i].role;

		assert_int_equal(wp_join(wp_fork(try_files, &role, -1)), cases[i].may);
	}
}

/* ---- what later versions of Landlock forbid, and the filter as well ---- */

#define LANDLOCK_TRUNCATES 3
#define LANDLOCK_TCP       4
#define LANDLOCK_SCOPES    6

static void
skip_unless_landlock(long wanted)
{
	/* landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) */
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u);

	if (version >= wanted && cnd_sandbox_lacks_landlock() == NULL)
		return;
	print_message("# this kernel's Landlock is of version %ld\n", version);
	skip();
}

struct attempt {
	enum cnd_sandbox_role role;
	int seccomp; /* enum cnd_switch, like `landlock` */
	int landlock;
	int (*f)(const struct attempt *a);
	const char *path; /* path of a file that root made */
	int port; /* TCP port on which a server listens */
	int free_port;
	/* Abstract socket on which a server listens. */
	const struct sockaddr_un *abstract;
};

static int
try_in_sandbox(void *arg)
{
	const struct attempt *a = arg;
	const struct cnd_config c = {
		.core_dumps = 1, .seccomp = a->seccomp, .landlock = a->landlock
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		cnd_sandbox_enter(a->role, &c) < 0)
		return 100;
	return a->f(a);
}

/* Try something where Landlock alone forbids it. */
static int
attempt(struct attempt a, enum cnd_sandbox_role role, int (*f)(const struct attempt *a))
{
	a.role = role;
	a.f = f;
	a.seccomp = CND_SWITCH_OFF;
	a.landlock = CND_SWITCH_ON;
	return wp_join(wp_fork(try_in_sandbox, &a, -1));
}

static int
try_truncate(const struct attempt *a)
{
	return truncate(a->path, 0) == 0;
}

static void
a_file_that_cannot_be_written_cannot_be_cut_either(void **state)
{
	char path[] = "/dev/shm/cenote-sandbox-XXXXXX";
	const struct attempt a = { .path = path };
	int fd = mkstemp(path);

	skip_unless_landlock(LANDLOCK_TRUNCATES);
	assert_true(fd >= 0);
	assert_int_equal(attempt(a, CND_SANDBOX_DOOR, try_truncate), 0);
	assert_int_equal(attempt(a, CND_SANDBOX_WORKER, try_truncate), 0);
	assert_int_equal(attempt(a, CND_SANDBOX_FILE_WORKER, try_truncate), 1);
	close(fd);
	unlink(path);
}

static int
tcp_socket(int port, struct sockaddr_in *ret_at)
{
	*ret_at = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port) };
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Returns 1 if it connects, plus 2 if it takes a port of its choice, plus 4 if it takes any free
 * port. */
static int
try_tcp(const struct attempt *a)
{
	struct sockaddr_in at;
	int does = 0;

	if (connect(tcp_socket(a->port, &at), (struct sockaddr *)&at, sizeof(at)) == 0)
		does |= 1;
	if (bind(tcp_socket(a->free_port, &at), (struct sockaddr *)&at, sizeof(at)) == 0)
		does |= 2;
	if (bind(tcp_socket(0, &at), (struct sockaddr *)&at, sizeof(at)) == 0)
		does |= 4;
	return does;
}

static void
workers_connect_by_tcp_and_take_no_port(void **state)
{
	struct attempt a = { .free_port = cnt_server_free_port() };
	struct sockaddr_in at;
	socklen_t len = sizeof(at);
	int fd = tcp_socket(0, &at);

	skip_unless_landlock(LANDLOCK_TCP);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	a.port = ntohs(at.sin_port);
	assert_int_equal(attempt(a, CND_SANDBOX_DOOR, try_tcp), 0);
	assert_int_equal(attempt(a, CND_SANDBOX_WORKER, try_tcp), 5);
	assert_int_equal(attempt(a, CND_SANDBOX_FILE_WORKER, try_tcp), 5);
	close(fd);
}

static int
try_abstract(const struct attempt *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)a->abstract, sizeof(*a->abstract)) ==
	       0;
}

static void
the_door_reaches_no_abstract_socket(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const struct attempt a = { .abstract = &sa };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	skip_unless_landlock(LANDLOCK_SCOPES);
	snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, "cenote-test-%d",
		(int)getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(attempt(a, CND_SANDBOX_DOOR, try_abstract), 0);
	/* PostgreSQL may listen on an abstract socket */
	assert_int_equal(attempt(a, CND_SANDBOX_WORKER, try_abstract), 1);
	close(fd);
}

static void *
run_nothing(void *arg)
{
	return arg;
}

/* Returns 1 if it can signal another process or change its limits, plus 2 if it cannot signal
 * itself or start a thread. */
static int
try_signals(const struct attempt *a)
{
	pid_t other = getppid();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct f_owner_ex owner = { F_OWNER_PID, other };
	struct rlimit limit;
	pthread_t thread;
	int can = 0;

	signal(SIGUSR1, SIG_IGN);
	can |= kill(other, 0) == 0;
	can |= syscall(SYS_tgkill, other, other, 0) == 0;
	can |= syscall(SYS_tkill, other, 0) == 0;
	can |= sigqueue(other, 0, (union sigval){ 0 }) == 0;
	can |= syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, other, 0), 0, NULL,
		       0) == 0;
	/* Landlock allows these calls, but then makes them useless */
	if (a->seccomp == CND_SWITCH_ON) {
		can |= fcntl(fd, F_SETOWN, other) == 0;
		can |= fcntl(fd, F_SETOWN_EX, &owner) == 0;
		can |= ioctl(fd, FIOSETOWN, &other) == 0;
		can |= prlimit(other, RLIMIT_CPU, NULL, &limit) == 0;
	}
	if (kill(getpid(), SIGUSR1) < 0 || raise(SIGUSR1) != 0 ||
		getrlimit(RLIMIT_CPU, &limit) < 0 ||
		pthread_create(&thread, NULL, run_nothing, NULL) != 0 ||
		pthread_join(thread, NULL) != 0)
		can |= 2;
	return can;
}

static void
nobody_signals_another_process(void **state)
{
	for (int role = CND_SANDBOX_DOOR; role <= CND_SANDBOX_FILE_WORKER; role++) {
		struct attempt a = { .role = (enum cnd_sandbox_role)role,
			.f = try_signals,
			.seccomp = CND_SWITCH_ON,
			.landlock = CND_SWITCH_OFF };

		if (cnd_sandbox_lacks_seccomp() == NULL)
			assert_int_equal(wp_join(wp_fork(try_in_sandbox, &a, -1)), 0);
	}
	skip_unless_landlock(LANDLOCK_SCOPES);
	for (int role = CND_SANDBOX_DOOR; role <= CND_SANDBOX_FILE_WORKER; role++)
		assert_int_equal(attempt((struct attempt){ 0 },
					 (enum cnd_sandbox_role)role, try_signals),
			0);
}

static int
try_kernel(void *arg)
{
	const struct cnd_config c = {
		.core_dumps = 0, .seccomp = CND_SWITCH_ON, .landlock = CND_SWITCH_OFF
	};
	pid_t pid;

	(void)arg;
	if (cnd_sandbox_enter(CND_SANDBOX_WORKER, &c) < 0)
		return 100;
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		return 1;
	execl("/bin/true", "true", (char *)NULL);
	return setuid(getuid()) == 0 ? 2 : 0;
}

static void
no_program_is_started_in_it(void **state)
{
	skip_unless_filtered();
	assert_int_equal(wp_join(wp_fork(try_kernel, NULL, -1)), 0);
}

static void
the_master_keeps_what_it_needs_of_root(void **state)
{
	unsigned long long caps;

	wp_start(CONFIG(""));
	/* the master's sockets take connections a moment before it gives up privileges */
	wp_await_log("ready: ");
	caps = strtoull(status_of(wp_daemon.pid, "CapEff"), NULL, 16);
	assert_int_equal(caps & ~KEPT_CAPS, 0);
	assert_string_equal(
		status_of(wp_daemon.pid, "NoNewPrivs"), geteuid() == 0 ? "1" : "0");
	/* the master still has what a reload needs */
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, CONFIG("socket_mode = 0660\n")), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
}

static void
core_dumps_are_off_unless_wanted(void **state)
{
	char path[64];
	char line[256];
	cenote_conn *a;
	FILE *f;

	skip_unless_filtered();
	wp_start(CONFIG(""));
	a = wp_attach(NULL);
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)wp_worker_pid(a));
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL &&
		strncmp(line, "Max core file size", 18) != 0)
		;
	fclose(f);
	assert_non_null(strstr(line, " 0                    0 "));
	cenote_conn_destroy(a);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_door_is_filtered_and_workers_where_strangers_come),
		TEST(a_child_that_dies_in_its_sandbox_is_replaced),
		cmocka_unit_test(files_are_as_each_role_needs_them),
		cmocka_unit_test(a_file_that_cannot_be_written_cannot_be_cut_either),
		cmocka_unit_test(workers_connect_by_tcp_and_take_no_port),
		cmocka_unit_test(the_door_reaches_no_abstract_socket),
		cmocka_unit_test(nobody_signals_another_process),
		cmocka_unit_test(no_program_is_started_in_it),
		TEST(the_master_keeps_what_it_needs_of_root),
		TEST(core_dumps_are_off_unless_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
