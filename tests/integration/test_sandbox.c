/* SPDX-License-Identifier: BSD-2-Clause */
/* What cenoted's processes may still do once they serve. */
#include "with_pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox.h"

#define KEPT_CAPS                                                                        \
	(1ull << 0 /* CHOWN */ | 1ull << 1 /* DAC_OVERRIDE */ | 1ull << 3 /* FOWNER */ | \
		1ull << 5 /* KILL */ | 1ull << 6 /* SETGID */ | 1ull << 7 /* SETUID */ | \
		1ull << 10 /* NET_BIND_SERVICE */)

/* As an administrator leaves it: the tests' own configuration is not. */
#define CONFIG(lines)                                                                    \
	"[cenoted]\nuser = @USER@\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n"      \
	"log = stderr\n" lines CNT_DAEMON_POOL "sessions = 1\n"

/* A line of /proc/PID/status; "" if it has none of that name. */
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

static pid_t
find_door(void)
{
	pid_t pids[8];
	size_t n = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));

	for (size_t i = 0; i < n; i++) {
		if (strcmp(status_of(pids[i], "Name"), "cenoted-door") == 0)
			return pids[i];
	}
	return -1;
}

/* A pool takes connections before the door has its name. */
static pid_t
door_pid(void)
{
	int64_t until = wp_now_ms() + 20000;
	pid_t pid;

	while ((pid = find_door()) < 0) {
		if (wp_now_ms() > until)
			fail_msg("there is no door");
		wp_pause_ms(5);
	}
	return pid;
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

	(void)state;
	skip_unless_filtered();
	wp_start(CONFIG(""));
	a = wp_attach(NULL);
	await_status(door_pid(), "Seccomp", "2");
	assert_string_equal(status_of(wp_worker_pid(a), "Seccomp"), "0");
	assert_string_equal(status_of(wp_worker_pid(a), "NoNewPrivs"), "1");
	cenote_conn_destroy(a);
	assert_int_equal(wp_teardown(state), 0);
	wp_start(CONFIG("seccomp = on\n"));
	a = wp_attach(NULL);
	assert_string_equal(status_of(wp_worker_pid(a), "Seccomp"), "2");
	/* it can do all that its clients want of it */
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

	(void)state;
	skip_unless_filtered();
	wp_start(CONFIG("seccomp = on\n"));
	door = door_pid();
	a = wp_attach(NULL);
	assert_int_equal(kill(wp_worker_pid(a), SIGKILL), 0);
	assert_int_equal(kill(door, SIGKILL), 0);
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

/* In this very process's child, as the door and a worker have it. */
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

	if (cnd_sandbox_enter(role, &c) < 0)
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
		int may; /* 1 read, 2 write in /tmp, 4 elsewhere */
	} cases[] = { { CND_SANDBOX_DOOR, 0 }, { CND_SANDBOX_WORKER, 3 },
		{ CND_SANDBOX_FILE_WORKER, 7 } };

	(void)state;
	if (cnd_sandbox_lacks_landlock() != NULL) {
		print_message("# %s\n", cnd_sandbox_lacks_landlock());
		skip();
	}
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		enum cnd_sandbox_role role = cases[i].role;

		assert_int_equal(wp_join(wp_fork(try_files, &role, -1)), cases[i].may);
	}
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
	(void)state;
	skip_unless_filtered();
	assert_int_equal(wp_join(wp_fork(try_kernel, NULL, -1)), 0);
}

static void
the_master_keeps_what_it_needs_of_root(void **state)
{
	unsigned long long caps;

	(void)state;
	wp_start(CONFIG(""));
	caps = strtoull(status_of(wp_daemon.pid, "CapEff"), NULL, 16);
	assert_int_equal(caps & ~KEPT_CAPS, 0);
	assert_string_equal(
		status_of(wp_daemon.pid, "NoNewPrivs"), geteuid() == 0 ? "1" : "0");
	/* and a reload has it still */
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

	(void)state;
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
		cmocka_unit_test(no_program_is_started_in_it),
		TEST(the_master_keeps_what_it_needs_of_root),
		TEST(core_dumps_are_off_unless_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
