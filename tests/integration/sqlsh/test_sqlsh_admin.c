/* SPDX-License-Identifier: BSD-2-Clause */
/* \admin of sqlsh against a real cenoted: the commands of cenotectl, also without a session. */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define NOBODY 65534
#define TWO_POOLS                                                                        \
	CNT_DAEMON_CONFIG "[pool other]\nbackend = sqlite\n"                             \
			  "server = path=@DIR@/other.db\nsessions = 1..4\n"

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
	if (cnt_daemon_start(&daemon, TWO_POOLS) < 0)
		return -1;
	run_at_home(&daemon);
	return 0;
}

static int
tear_down(void **state)
{
	return cnt_daemon_stop(daemon_of(state));
}

/* Run one command. It must have this status, and this text in its output and its messages. */
static void
expect(struct cnt_daemon *d, int status, const char *command, const char *out,
	const char *err)
{
	struct run r;

	run_sqlsh(&r, d, NULL, "-c", command, NULL);
	if (r.status != status || strstr(r.out, out) == NULL ||
		strstr(r.err, err) == NULL)
		fail_msg("%s: %d: %s%s", command, r.status, r.out, r.err);
	run_finish(&r);
}

/* The daemon, with another URI. */
static struct cnt_daemon
daemon_at(void **state, const char *uri)
{
	struct cnt_daemon d = *daemon_of(state);

	(void)snprintf(d.uri, sizeof(d.uri), "%s", uri);
	return d;
}

static void
commands_are_those_of_cenotectl(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	struct run r;

	expect(d, 0, "\\admin status", "pool main: sqlite, mode = session,", "");
	expect(d, 0, "\\admin pools", " pool  | backend ", "");
	expect(d, 0, "\\admin pause other", "paused: other\n", "");
	expect(d, 0, "\\admin status", "0 waiting, paused\n", "");
	expect(d, 0, "\\admin resume other", "resumed: other\n", "");
	/* the session of this sqlsh */
	run_sqlsh(&r, d, NULL, "--format=json", "-c", "select 1 as x", "-c",
		"\\admin clients", "-c", "\\admin log-level info", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "{\"x\":1}\n{\"pool\":\"main\","));
	/* formats for programs have the data only */
	assert_null(strstr(r.out, "log level"));
	run_finish(&r);
	assert_runs(d, 0, "", "", "-o", run_path(d, "out"), "-c", "\\admin resume other");
	expect(d, 0, "\\i /dev/null", "", "");
}

static void
a_refusal_is_an_error(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	assert_runs(d, 1, "",
		"sqlsh: \\admin: there is no pool \"x\"; see cenotectl pools\n", "-c",
		"\\admin pause x", "-c", "\\admin pause main");
	expect(d, 1, "\\admin", "", "sqlsh: \\admin: a command expected (see \\?)\n");
	expect(d, 1, "\\admin 'a b'", "", "\"a b\" cannot be a word of a command\n");
	expect(d, 1, "\\admin convert x", "", "unknown command \"convert\"");
	expect(d, 1, "\\admin 'status", "", "a quote is not closed");
}

static void
no_session_is_needed(void **state)
{
	struct cnt_daemon *d = daemon_of(state), none;
	char uri[256];

	(void)snprintf(uri, sizeof(uri), "cenote:///nopool?run_dir=%s", d->run_dir);
	none = daemon_at(state, uri);
	expect(&none, 0, "\\admin pause main", "paused: main\n", "");
	/* to connect would take until the end of the pause */
	expect(d, 0, "\\pools", " main  | sqlite ", "");
	expect(d, 0, "\\servers", " pool  | line ", "");
	expect(d, 0, "\\admin resume main", "resumed: main\n", "");
	expect(&none, 2, "\\admin status\nselect 1", "", "nopool");
	assert_runs(d, 0, "resumed: other\n1\n", "", "--no-header", "--format=table",
		"-c", "\\admin resume other", "-c", "\\f unaligned", "-c", "select 1");
}

static void
cenoted_is_found_as_the_pool_is(void **state)
{
	struct cnt_daemon d = daemon_at(state, "main");
	char server[CNT_PATH_MAX + 16], link[CNT_PATH_MAX + 16];

	/* unless the machine has a cenoted of its own */
	if (access("/run/cenote", F_OK) < 0)
		expect(&d, 1, "\\admin status", "",
			"/run/cenote/admin.sock: No such file or directory: start "
			"cenoted, or "
			"connect to the one that runs (\\c)\n");
	(void)snprintf(server, sizeof(server), "unix:%s", d.run_dir);
	(void)setenv("CENOTE_SERVER", server, 1);
	expect(&d, 0, "\\admin status", d.conf, "");
	(void)setenv("CENOTE_SERVER", "tcp://127.0.0.1:9", 1);
	expect(&d, 1, "\\admin status", "", "the pool is reached by TCP");
	(void)unsetenv("CENOTE_SERVER");
	(void)snprintf(link, sizeof(link), "%s/cenote", d.dir);
	assert_int_equal(symlink(d.run_dir, link), 0);
	(void)setenv("XDG_RUNTIME_DIR", d.dir, 1);
	expect(&d, 0, "\\admin status", d.conf, "");
	(void)unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(unlink(link), 0);
	d = daemon_at(state, "cenote://a@127.0.0.1:9/main");
	expect(&d, 1, "\\admin drain", "",
		"\\admin: the pool is reached by TCP, and cenoted takes commands by a "
		"unix socket only: run cenotectl on its machine\n");
}

/* Other users may be unable to reach the build directory. */
static void
copy_program(const struct cnt_daemon *d)
{
	const char *program = run_program();
	char library[CNT_PATH_MAX];
	const char *const argv[] = { "cp", program, library, d->dir, NULL };

	(void)snprintf(library, sizeof(library), "%.*s/../../lib/libcenote.so.0",
		(int)(strrchr(program, '/') - program), program);
	assert_int_equal(cnt_run(&(struct cnt_command){ .argv = argv }), 0);
}

/* In a child. Its messages go to the file. */
static _Noreturn void
exec_as_nobody(const struct cnt_daemon *d, const char *messages)
{
	if (freopen(messages, "w", stderr) == NULL || setgid(NOBODY) < 0 ||
		setuid(NOBODY) < 0 || setenv("LD_LIBRARY_PATH", d->dir, 1) < 0)
		_exit(98);
	(void)execl(run_path(d, "sqlsh"), "sqlsh", d->uri, "-c", "\\admin status",
		(char *)NULL);
	_exit(99);
}

static void
other_users_are_told_who_may(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	char *said;
	pid_t pid;
	int status;

	if (getuid() != 0)
		skip();
	assert_int_equal(chmod(d->dir, 0755), 0);
	copy_program(d);
	pid = fork();
	if (pid == 0)
		exec_as_nobody(d, run_path(d, "messages"));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	said = run_read_file(run_path(d, "messages"));
	if (strstr(said, "admin.sock: Permission denied: run sqlsh as root, or as the "
			 "user of cenoted\n") == NULL)
		fail_msg("%s", said);
	free(said);
}

static void
nobody_waits_for_its_own_transaction(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	static const char message[] =
		"sqlsh: \\admin: this would wait for the transaction of this session: "
		"end the transaction first\n";

	assert_runs(d, 1, "", message, "-q", "-c", "begin", "-c", "\\admin drain");
	assert_runs(d, 1, "", message, "-q", "-c", "begin", "-c",
		"\\admin pause --wait main");
	assert_runs(d, 0, "", "", "-q", "-c", "begin", "-c", "\\admin resume main");
}

static void
a_lost_session_does_not_matter(void **state)
{
	struct terminal t;
	char line[64];

	terminal_open(&t, daemon_of(state)->uri);
	/* a client that holds nothing would get another session without a word */
	terminal_send(&t, "create temp table t(a);\r");
	terminal_expect(&t, "CREATE TABLE\r\n");
	(void)snprintf(line, sizeof(line), "\\admin kill %d\r", (int)t.pid);
	terminal_send(&t, line);
	terminal_expect(&t, "ended 1 session\r\n");
	terminal_expect(&t, "an administrator ended the session");
	terminal_send(&t, "\\admin status\r");
	terminal_expect(&t, "pool main: sqlite, mode = session, 0 of 4");
	terminal_close(&t);
}

static void
ctrl_c_ends_the_waiting(void **state)
{
	struct terminal t, holder;

	terminal_start(&holder, daemon_of(state)->uri);
	terminal_expect(&holder, "main=> ");
	terminal_send(&holder, "begin;\r");
	terminal_expect(&holder, "main=*> ");
	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "\\admin pause --wait main\r");
	usleep(300000);
	terminal_send(&t, "\003");
	terminal_expect_without(&t, "interrupted; cenoted goes on with the command\r\n",
		"no transaction is open");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\admin resume main\r");
	terminal_expect(&t, "resumed: main\r\n");
	terminal_expect(&t, "main=> ");
	terminal_close(&t);
	terminal_send(&holder, "rollback;\r\004");
	assert_int_equal(terminal_end(&holder), 0);
}

static void
tab_completes_the_commands(void **state)
{
	struct terminal t;

	terminal_open(&t, daemon_of(state)->uri);
	terminal_send(&t, "\\ad\tsta\t\r");
	terminal_expect(&t, "pool main: sqlite");
	terminal_expect(&t, "main=> ");
	/* a word with a hyphen is one word */
	terminal_send(&t, "\\admin log-\tinfo\r");
	terminal_expect(&t, "log level info until the next reload");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\admin p\t");
	terminal_expect(&t, "pools ");
	terminal_expect(&t, "pins ");
	terminal_expect(&t, "pause ");
	/* no word of SQL is an argument */
	terminal_send(&t, "\003");
	terminal_expect(&t, "main=> ");
	terminal_send(&t, "\\admin resume oth\t\r");
	terminal_expect(&t, "there is no pool \"oth\"");
	terminal_close(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_those_of_cenotectl),
		cmocka_unit_test(a_refusal_is_an_error),
		cmocka_unit_test(no_session_is_needed),
		cmocka_unit_test(cenoted_is_found_as_the_pool_is),
		cmocka_unit_test(other_users_are_told_who_may),
		cmocka_unit_test(nobody_waits_for_its_own_transaction),
		cmocka_unit_test(a_lost_session_does_not_matter),
		cmocka_unit_test(ctrl_c_ends_the_waiting),
		cmocka_unit_test(tab_completes_the_commands),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
