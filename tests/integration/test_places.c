/* SPDX-License-Identifier: BSD-2-Clause */
/* Links, owners and modes of the places where cenoted creates or changes something. */
#include "with_pool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A user other than root, who needs no name. */
#define STRANGER 4711u

#define SECRET "somebody else's"

/* The path of a file in the daemon's directory; valid for three more calls. */
static const char *
path_of(const char *name)
{
	static char paths[4][CNT_PATH_MAX + 64];
	static unsigned n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", wp_daemon.dir, name);
	return path;
}

static struct stat
stat_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(path_of(name), &st), 0);
	return st;
}

/* Make a file that only its owner may change. */
static void
make_victim(void)
{
	FILE *f = fopen(path_of("victim"), "we");

	assert_non_null(f);
	fputs(SECRET, f);
	assert_int_equal(fchmod(fileno(f), 0600), 0);
	assert_int_equal(fclose(f), 0);
}

static void
expect_victim_unchanged(void)
{
	char text[sizeof(SECRET) + 8] = "";
	struct stat st = stat_of("victim");
	FILE *f = fopen(path_of("victim"), "re");

	assert_non_null(f);
	assert_true(fgets(text, sizeof(text), f) == text);
	fclose(f);
	assert_string_equal(text, SECRET);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, geteuid());
}

static void
expect_refused(const char *why)
{
	/* on a busy machine, the sockets may take connections before the daemon ends */
	int r = cnt_daemon_run(&wp_daemon);

	wp_await_log(why);
	if (r == 0)
		assert_int_equal(cnt_daemon_end(&wp_daemon), -1);
}

static void
create(const char *lines)
{
	char config[1024];

	snprintf(config, sizeof(config), CNT_DAEMON_GLOBAL "%s" CNT_DAEMON_POOL, lines);
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
}

static void
skip_unless_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("# not root\n");
	skip();
}

static void
a_run_directory_that_others_may_change_is_refused(void **state)
{
	create("");
	assert_int_equal(chmod(path_of("run"), 0777), 0);
	expect_refused("/run can be written by everybody");
	assert_int_equal(chmod(path_of("run"), 01777), 0);
	expect_refused("/run can be written by everybody");
	assert_int_equal(rmdir(path_of("run")), 0);
	assert_int_equal(symlink("/tmp", path_of("run")), 0);
	expect_refused("it is not a directory, or it is a symbolic link");
	assert_int_equal(unlink(path_of("run")), 0);
	/* cenoted makes the directory */
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_int_equal(stat_of("run").st_mode & 022, 0);
}

static void
a_run_directory_belongs_to_root_or_cenoteds_user(void **state)
{
	skip_unless_root();
	create("");
	assert_int_equal(chown(path_of("run"), STRANGER, 0), 0);
	expect_refused("/run belongs to unix user 4711");
	assert_int_equal(chown(path_of("run"), 0, STRANGER), 0);
	assert_int_equal(chmod(path_of("run"), 0775), 0);
	expect_refused("/run can be written by unix group 4711");
	assert_int_equal(chown(path_of("run"), 0, 0), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

static void
a_socket_has_its_mode(void **state)
{
	static const char *const modes[] = { "", "socket_mode = 0666\n",
		"socket_mode = 0600\n" };
	static const unsigned wanted[] = { 0700, 0666, 0600 };

	for (size_t i = 0; i < CNT_COUNT(modes); i++) {
		create(modes[i]);
		assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
		assert_int_equal(stat_of("run/main.sock").st_mode & 07777, wanted[i]);
		assert_int_equal(wp_teardown(state), 0);
	}
}

/* Reload with another mode, when the socket's name now belongs to something else. */
static void
reload_with_mode(const char *line)
{
	char config[1024];

	snprintf(config, sizeof(config), CNT_DAEMON_GLOBAL "%s" CNT_DAEMON_POOL, line);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
}

static void
a_reload_changes_its_socket_and_nothing_that_took_its_name(void **state)
{
	create("");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	make_victim();
	assert_int_equal(unlink(path_of("run/main.sock")), 0);
	assert_int_equal(symlink("../victim", path_of("run/main.sock")), 0);
	reload_with_mode("socket_mode = 0666\n");
	wp_await_log("reloaded");
	expect_victim_unchanged();
	/* the link belonged to nobody, so the socket has replaced it */
	assert_true(S_ISSOCK(stat_of("run/main.sock").st_mode));
	cenote_conn_destroy(wp_attach(NULL));
	/* a file might be somebody's, so it stays */
	assert_int_equal(unlink(path_of("run/main.sock")), 0);
	assert_int_equal(link(path_of("victim"), path_of("run/main.sock")), 0);
	reload_with_mode("socket_mode = 0660\n");
	wp_await_log("and is not a socket");
	expect_victim_unchanged();
	assert_int_equal(stat_of("victim").st_nlink, 2);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(stat_of("victim").st_nlink, 2);
}

static void
the_end_removes_no_socket_but_its_own(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	create("");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_int_equal(unlink(path_of("run/main.sock")), 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/main.sock", wp_daemon.run_dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_true(S_ISSOCK(stat_of("run/main.sock").st_mode));
	close(fd);
}

static void
logs_and_pid_files_are_no_links(void **state)
{
	/* the other tests log to standard error; this one needs a file */
	static const char log[] = "[cenoted]\nuser = @USER@\nrun_dir = "
				  "@DIR@/run\nbackend_dir = @BACKENDS@\n"
				  "log = @DIR@/own.log\n" CNT_DAEMON_POOL;

	create("pid_file = @DIR@/pid\n");
	make_victim();
	assert_int_equal(symlink("victim", path_of("pid")), 0);
	expect_refused("/pid: it is a symbolic link");
	assert_int_equal(unlink(path_of("pid")), 0);
	assert_int_equal(link(path_of("victim"), path_of("pid")), 0);
	expect_refused("/pid: the file also has another name");
	assert_int_equal(cnt_daemon_configure(&wp_daemon, log), 0);
	assert_int_equal(symlink("victim", path_of("own.log")), 0);
	expect_refused("/own.log: it is a symbolic link");
	assert_int_equal(unlink(path_of("own.log")), 0);
	assert_int_equal(link(path_of("victim"), path_of("own.log")), 0);
	expect_refused("/own.log: the file also has another name");
	expect_victim_unchanged();
	assert_int_equal(unlink(path_of("own.log")), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_int_equal(stat_of("own.log").st_mode & 07777, 0640);
}

static void
a_pid_file_is_removed_if_it_is_still_its_own(void **state)
{
	create("pid_file = @DIR@/pid\n");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	/* workers start after the file was written */
	cenote_conn_destroy(wp_attach(NULL));
	assert_true(S_ISREG(stat_of("pid").st_mode));
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(access(path_of("pid"), F_OK), -1);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	cenote_conn_destroy(wp_attach(NULL));
	make_victim();
	assert_int_equal(rename(path_of("victim"), path_of("pid")), 0);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(access(path_of("pid"), F_OK), 0);
}

static void
root_loads_no_module_that_others_may_change(void **state)
{
	char module[CNT_PATH_MAX + 64];
	const char *const argv[] = { "sh", "-c",
		"cp \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"", module, NULL };
	const struct cnt_command copy = { .argv = argv };

	skip_unless_root();
	create("");
	snprintf(module, sizeof(module), "%s/cenoted-sqlite.so", wp_daemon.backends);
	/* put a copy in place of the link into the build */
	assert_int_equal(cnt_run(&copy), 0);
	assert_int_equal(chmod(module, 0757), 0);
	expect_refused("can be written by everybody");
	assert_int_equal(chmod(module, 0755), 0);
	assert_int_equal(chown(module, STRANGER, 0), 0);
	expect_refused("belongs to unix user 4711");
	assert_int_equal(chown(module, 0, 0), 0);
	assert_int_equal(chmod(wp_daemon.backends, 0777), 0);
	expect_refused("can be written by everybody");
	assert_int_equal(chmod(wp_daemon.backends, 0755), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_directory_that_others_may_change_is_refused),
		TEST(a_run_directory_belongs_to_root_or_cenoteds_user),
		TEST(a_socket_has_its_mode),
		TEST(a_reload_changes_its_socket_and_nothing_that_took_its_name),
		TEST(the_end_removes_no_socket_but_its_own),
		TEST(logs_and_pid_files_are_no_links),
		TEST(a_pid_file_is_removed_if_it_is_still_its_own),
		TEST(root_loads_no_module_that_others_may_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
