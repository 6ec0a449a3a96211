/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools whose workers have a unix user of their own. Only root can start such workers. */
#include "with_pool.h"

#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CENOTES "nobody"
#define POOLS   "daemon"
#define OTHERS  "games"

/* The pool main, with more lines for "%s" such as a user, and a pool without a user. */
#define CONFIG                                                                           \
	"[cenoted]\nuser = " CENOTES "\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n" \
	"log = stderr\n" CNT_DAEMON_SANDBOX "\n[pool main]\nbackend = sqlite\n"          \
	"server = path=@DIR@/main/db\nsessions = 1\n%s"                                  \
	"\n[pool plain]\nbackend = sqlite\nserver = path=@DIR@/plain/db\nsessions = 1\n"

#define ENDLESS                                                                          \
	"with recursive c(x) as (select 1 union all select x + 1 from c) "               \
	"select count(*) from c"

static const char *
config(const char *lines)
{
	static char text[2048];

	snprintf(text, sizeof(text), CONFIG, lines);
	return text;
}

static uid_t
uid_of(const char *user)
{
	const struct passwd *pw = getpwnam(user);

	assert_non_null(pw);
	return pw->pw_uid;
}

/* Make a directory for the database of a pool, owned by this user. */
static void
give_dir(const char *name, const char *user)
{
	char path[CNT_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", wp_daemon.dir, name);
	cnt_remove_tree(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, uid_of(user), (gid_t)-1), 0);
}

static void
start(const char *lines)
{
	if (geteuid() != 0 || getpwnam(CENOTES) == NULL || getpwnam(POOLS) == NULL ||
		getpwnam(OTHERS) == NULL) {
		print_message("# not root, or without the users " CENOTES ", " POOLS
			      " and " OTHERS "\n");
		skip();
	}
	assert_int_equal(cnt_daemon_create(&wp_daemon, config(lines)), 0);
	assert_int_equal(chmod(wp_daemon.dir, 0711), 0);
	give_dir("main", POOLS);
	give_dir("plain", CENOTES);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

/* Check that all user ids of a process are this user's, that no group is root's, and that the
 * process has no capabilities. */
static void
expect_user(pid_t pid, const char *user)
{
	char path[64], line[256], uids[128];
	unsigned uid = (unsigned)uid_of(user);
	int has_uids = 0;
	FILE *f;

	snprintf(uids, sizeof(uids), "Uid:\t%u\t%u\t%u\t%u\n", uid, uid, uid, uid);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		has_uids |= strcmp(line, uids) == 0;
		if (strncmp(line, "Gid:", 4) == 0)
			assert_null(strstr(line, "\t0"));
		if (strncmp(line, "CapEff:", 7) == 0)
			assert_int_equal(strtoull(line + 7, NULL, 16), 0);
	}
	fclose(f);
	if (!has_uids)
		fail_msg("process %d is not %s's", (int)pid, user);
}

static void
expect_socket_of(const char *pool, const char *user)
{
	char path[CNT_PATH_MAX + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s.sock", wp_daemon.run_dir, pool);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, uid_of(user));
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void
workers_and_socket_are_of_their_pools_user(void **state)
{
	cenote_conn *a, *b;

	start("user = " POOLS "\n");
	a = wp_attach("main");
	b = wp_attach("plain");
	expect_user(wp_worker_pid(a), POOLS);
	expect_user(wp_worker_pid(b), CENOTES);
	expect_socket_of("main", POOLS);
	expect_socket_of("plain", CENOTES);
	/* each worker may change its own files */
	wp_exec(a, "create table t(x)");
	wp_exec(b, "create table t(x)");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
an_idle_client_yields_to_who_waits(void **state)
{
	cenote_conn *a, *b;

	start("user = " POOLS "\nmode = transaction\nqueue_timeout = 15s\n");
	a = wp_attach("main");
	assert_string_equal(wp_value(a, "select 1"), "1");
	/* the door, a process of another user, makes the worker yield */
	b = wp_attach("main");
	assert_string_equal(wp_value(b, "select 2"), "2");
	cenote_conn_destroy(b);
	assert_string_equal(wp_value(a, "select 3"), "3");
	cenote_conn_destroy(a);
}

static void *
cancel_soon(void *arg)
{
	static int r;

	wp_pause_ms(100);
	r = cenote_cancel_send(arg);
	return &r;
}

static void
a_cancel_reaches_the_worker(void **state)
{
	cenote_cancel *cancel;
	cenote_result *res;
	pthread_t thread;
	cenote_conn *a;
	void *status;

	start("user = " POOLS "\n");
	a = wp_attach("main");
	assert_ok(cenote_send_query(a, ENDLESS, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_cancel_create(a, &cancel));
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
	assert_ok(cenote_get_result(a, &res));
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	cenote_result_destroy(res);
	assert_int_equal(pthread_join(thread, &status), 0);
	assert_ok(*(int *)status);
	cenote_cancel_destroy(cancel);
	cenote_conn_destroy(a);
}

static void
a_reload_gives_a_pool_another_user(void **state)
{
	cenote_conn *a;

	start("user = " POOLS "\n");
	a = wp_attach("main");
	expect_user(wp_worker_pid(a), POOLS);
	give_dir("main", OTHERS);
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, config("user = " OTHERS "\n# ")), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	expect_socket_of("main", OTHERS);
	/* the worker is replaced once it is free, and this client does not notice */
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	wp_await("main", "live", 1);
	a = wp_attach("main");
	expect_user(wp_worker_pid(a), OTHERS);
	cenote_conn_destroy(a);
}

/* Whether the status shows who the client of this pool is. */
static int
tells_of_client(const cenote_result *res, const char *pool)
{
	uint32_t name = (uint32_t)cenote_result_find_column(res, "pool");
	uint32_t user = (uint32_t)cenote_result_find_column(res, "user");
	int n = 0;

	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strcmp(cenote_result_text(res, i, name, NULL), pool) != 0)
			continue;
		n++;
		if (*cenote_result_text(res, i, user, NULL) != '\0')
			return 1;
	}
	/* a status without that pool would prove nothing */
	return n == 0;
}

/* In a child: become this user, and try to attach, or ask for the status. */
struct guest {
	const char *user;
	const char *pool;
	int asks;
};

static int
visit(void *arg)
{
	const struct guest *g = arg;
	const struct passwd *pw = getpwnam(g->user);
	cenote_result *res = NULL;
	cenote_conn *conn;
	int r;

	if (pw == NULL || setgroups(0, NULL) < 0 ||
		setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
		setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		return 100;
	conn = wp_handle(g->pool);
	r = g->asks ? cenote_status(conn, "workers", &res) : cenote_connect(conn);
	if (r == CENOTE_OK && g->asks && tells_of_client(res, "plain"))
		r = 2;
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return r == CENOTE_OK ? 0 : 1;
}

static int
visits(const char *user, const char *pool, int asks)
{
	struct guest g = { user, pool, asks };

	return wp_join(wp_fork(visit, &g, -1)) == 0;
}

static void
one_pools_user_is_nobody_in_another(void **state)
{
	cenote_conn *a;

	start("user = " POOLS "\n");
	assert_true(visits(POOLS, "main", 0));
	assert_false(visits(POOLS, "plain", 0));
	assert_false(visits(CENOTES, "main", 0));
	assert_true(visits(CENOTES, "plain", 0));
	a = wp_attach("plain");
	assert_true(visits(POOLS, "main", 1));
	cenote_conn_destroy(a);
}

/* ---- users who share a pool ---- */

/* One session for all unix users, and "%s" for more lines. */
#define OPEN                                                                             \
	"[cenoted]\nuser = " CENOTES "\nrun_dir = @DIR@/run\nbackend_dir = @BACKENDS@\n" \
	"log = stderr\nsocket_mode = 0666\n" CNT_DAEMON_SANDBOX                          \
	"\n[pool main]\nbackend = sqlite\nserver = path=@DIR@/main/db\nsessions = 1\n"   \
	"user = " POOLS "\nallow_users = *\nqueue_timeout = 60s\n%s"

static void
start_open(const char *lines)
{
	char text[2048];

	if (geteuid() != 0 || getpwnam(CENOTES) == NULL || getpwnam(POOLS) == NULL ||
		getpwnam(OTHERS) == NULL) {
		print_message("# not root, or without the users\n");
		skip();
	}
	snprintf(text, sizeof(text), OPEN, lines);
	assert_int_equal(cnt_daemon_create(&wp_daemon, text), 0);
	assert_int_equal(chmod(wp_daemon.dir, 0711), 0);
	give_dir("main", POOLS);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

static void
become(const char *user)
{
	assert_int_equal(setgroups(0, NULL), 0);
	assert_int_equal(setuid(uid_of(user)), 0);
}

/* For three seconds, take the session again and again, and say so in the database. */
static int
come_again(void *user)
{
	int64_t until = wp_now_ms() + 3000;
	char sql[64];

	become(user);
	snprintf(sql, sizeof(sql), "insert into turns values ('%s')", (char *)user);
	while (wp_now_ms() < until) {
		cenote_conn *conn = wp_attach("main");

		wp_exec(conn, sql);
		wp_pause_ms(5);
		cenote_conn_destroy(conn);
	}
	return 0;
}

#define N_BUSY 12
#define N_CALM 6

/* How many of 100 turns the user with more clients gets. */
static int
share_of_the_busy(const char *lines)
{
	static char busy[] = OTHERS, calm[] = POOLS;
	pid_t pids[N_BUSY + N_CALM];
	cenote_conn *conn;
	int share;

	start_open(lines);
	conn = wp_attach("main");
	wp_exec(conn, "create table turns(who)");
	for (int i = 0; i < N_BUSY + N_CALM; i++)
		pids[i] = wp_fork(come_again, i < N_BUSY ? busy : calm, -1);
	wp_await("main", "waiting", N_BUSY + N_CALM);
	cenote_conn_destroy(conn);
	for (int i = 0; i < N_BUSY + N_CALM; i++)
		assert_int_equal(wp_join(pids[i]), 0);
	conn = wp_attach("main");
	share = (int)strtol(wp_value(conn, "select 100 * sum(who = '" OTHERS
					   "') / count(*) from turns"),
		NULL, 10);
	print_message("# %s turns, %d %% of them the busy user's\n",
		wp_value(conn, "select count(*) from turns"), share);
	cenote_conn_destroy(conn);
	return share;
}

static void
the_busiest_user_gets_no_more_than_its_share(void **state)
{
	assert_in_range(share_of_the_busy(""), 40, 60);
}

static void
a_unix_user_of_high_priority_goes_first(void **state)
{
	assert_in_range(
		share_of_the_busy("user_limits = " POOLS " priority=high\n"), 5, 30);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(workers_and_socket_are_of_their_pools_user),
		TEST(an_idle_client_yields_to_who_waits),
		TEST(a_cancel_reaches_the_worker),
		TEST(a_reload_gives_a_pool_another_user),
		TEST(one_pools_user_is_nobody_in_another),
		TEST(the_busiest_user_gets_no_more_than_its_share),
		TEST(a_unix_user_of_high_priority_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
