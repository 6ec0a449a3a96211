/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "support/cnt_server.h"

#define CONFIG                                                                           \
	CNT_DAEMON_GLOBAL "users = @DIR@/users\nlisten = 127.0.0.1:%d\n" CNT_DAEMON_POOL \
			  "sessions = 1..4\nauth = scram-sha-256 tls=no\n"               \
			  "[pool open]\nbackend = sqlite\n"                              \
			  "server = path=@DIR@/open.db\n"                                \
			  "auth = peer, scram-sha-256\n"
/* The password is "pencil". */
#define USERS                                                                            \
	"known:SCRAM-SHA-256$4096:Eud57b8IlfdeEdU2MofEBA==$"                             \
	"9dW1jSxoilx4I3cPYwirgXEH7tm0KtTsnSMxlcFIfv0=:"                                  \
	"OCzKqPQGQtvtfalsHB2deVv5+NrjkA4ERG/+brYSgbM=\n"
#define WRONG "ERROR 28P01: pool main: there is no such user, or the password is wrong\n"

/* The pool's URI without a user, as cnt_daemon_start() made it. */
static char plain_uri[CNT_PATH_MAX + 64];
static int port;

static struct cnt_daemon *
daemon_of(void **state)
{
	return *state;
}

static int
set_up(void **state)
{
	static struct cnt_daemon daemon;
	char config[1024];

	*state = &daemon;
	port = cnt_server_free_port();
	(void)snprintf(config, sizeof(config), CONFIG, port);
	if (port < 0 || cnt_daemon_create(&daemon, config) < 0)
		return -1;
	run_write_file(run_path(&daemon, "users"), USERS);
	if (chmod(run_path(&daemon, "users"), 0600) < 0 || cnt_daemon_run(&daemon) < 0)
		return -1;
	(void)snprintf(plain_uri, sizeof(plain_uri), "%s", daemon.uri);
	(void)snprintf(daemon.uri, sizeof(daemon.uri), "%.120s&user=known", plain_uri);
	run_at_home(&daemon);
	(void)unsetenv("XDG_CONFIG_HOME"); /* so that it reads ~/.config */
	return 0;
}

static int
tear_down(void **state)
{
	return cnt_daemon_stop(daemon_of(state));
}

static int
forget_passwords(void **state)
{
	(void)unsetenv("CENOTE_PASSWORD");
	(void)unsetenv("CENOTE_PASSFILE");
	return 0;
}

static void
a_password_comes_from_the_environment(void **state)
{
	struct cnt_daemon *d = daemon_of(state);

	(void)setenv("CENOTE_PASSWORD", "pencil", 1);
	assert_runs(
		d, 0, "1\n", "", "-w", "--format=csv", "--no-header", "-c", "select 1");
	(void)setenv("CENOTE_PASSWORD", "eraser", 1);
	assert_runs(d, 2, "", WRONG, "-w", "-c", "select 1");
}

static void
a_password_of_the_uri_comes_first(void **state)
{
	struct cnt_daemon d = *daemon_of(state);

	(void)setenv("CENOTE_PASSWORD", "eraser", 1);
	(void)snprintf(
		d.uri, sizeof(d.uri), "%.120s&user=known&password=pencil", plain_uri);
	assert_runs(&d, 0, "1\n", "", "--format=csv", "--no-header", "-c", "select 1");
	(void)setenv("CENOTE_PASSWORD", "pencil", 1);
	(void)snprintf(
		d.uri, sizeof(d.uri), "%.120s&user=known&password=eraser", plain_uri);
	assert_runs(&d, 2, "", WRONG, "-c", "select 1");
	(void)snprintf(d.uri, sizeof(d.uri), "cenote://known:eraser@%.120s",
		plain_uri + strlen("cenote://"));
	assert_runs(&d, 2, "", WRONG, "-c", "select 1");
}

static void
a_pool_that_wants_none_gets_none(void **state)
{
	struct cnt_daemon d = *daemon_of(state);

	(void)setenv("CENOTE_PASSWORD", "eraser", 1);
	(void)snprintf(d.uri, sizeof(d.uri), "cenote:///open?run_dir=%.120s", d.run_dir);
	assert_runs(&d, 0, "1\n", "", "--format=csv", "--no-header", "-c", "select 1");
}

static void
a_password_comes_from_the_passfile(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	const char *path = run_path(d, "passfile");
	struct run r;

	(void)setenv("CENOTE_PASSFILE", path, 1);
	run_write_file(path, "# host:port:pool:user:password\n"
			     "localhost:9432:other:known:eraser\n"
			     "elsewhere:*:*:*:eraser\n"
			     "localhost:9432:main:known:pen\\cil\n"
			     "*:*:*:*:eraser\n");
	assert_int_equal(chmod(path, 0600), 0);
	assert_runs(
		d, 0, "1\n", "", "-w", "--format=csv", "--no-header", "-c", "select 1");
	/* sqlsh does not use a file that others can read. */
	assert_int_equal(chmod(run_path(d, "passfile"), 0640), 0);
	run_sqlsh(&r, d, NULL, "-w", "-c", "select 1", NULL);
	assert_non_null(strstr(r.err, "group or world access"));
	assert_non_null(strstr(r.err, "asks for a password, and there is none"));
	assert_int_equal(r.status, 2);
	run_finish(&r);
	assert_int_equal(unlink(run_path(d, "passfile")), 0);
}

static void
a_passfile_knows_hosts_and_ports(void **state)
{
	struct cnt_daemon d = *daemon_of(state);
	char lines[200], server[64];

	(void)setenv("CENOTE_PASSFILE", run_path(&d, "passfile"), 1);
	(void)snprintf(lines, sizeof(lines),
		"localhost:*:*:*:eraser\n127.0.0.1:1:*:*:eraser\n"
		"127.0.0.1:%d:main:known:pencil\n",
		port);
	run_write_file(run_path(&d, "passfile"), lines);
	assert_int_equal(chmod(run_path(&d, "passfile"), 0600), 0);
	(void)snprintf(d.uri, sizeof(d.uri), "cenote://known@127.0.0.1:%d/main", port);
	assert_runs(&d, 0, "1\n", "", "--format=csv", "--no-header", "-c", "select 1");
	(void)snprintf(server, sizeof(server), "tcp://127.0.0.1:%d", port);
	(void)setenv("CENOTE_SERVER", server, 1);
	(void)snprintf(d.uri, sizeof(d.uri), "cenote:///main?user=known");
	assert_runs(&d, 0, "1\n", "", "--format=csv", "--no-header", "-c", "select 1");
	(void)unsetenv("CENOTE_SERVER");
	assert_int_equal(unlink(run_path(&d, "passfile")), 0);
}

static void
the_users_own_passfile_is_found(void **state)
{
	struct cnt_daemon *d = daemon_of(state);
	const char *path;

	assert_int_equal(mkdir(run_path(d, ".config"), 0700), 0);
	assert_int_equal(mkdir(run_path(d, ".config/cenote"), 0700), 0);
	path = run_path(d, ".config/cenote/passfile");
	run_write_file(path, "*:*:*:known:pencil\n");
	assert_int_equal(chmod(path, 0600), 0);
	assert_runs(
		d, 0, "1\n", "", "-w", "--format=csv", "--no-header", "-c", "select 1");
	assert_int_equal(unlink(run_path(d, ".config/cenote/passfile")), 0);
}

static void
a_password_is_asked_for_when_the_login_wants_one(void **state)
{
	struct terminal t;

	terminal_start(&t, daemon_of(state)->uri);
	terminal_expect(&t, "Password for user known: ");
	terminal_send(&t, "pencil\n");
	terminal_expect_without(&t, "main=> ", "pencil");
	terminal_send(&t, "select 'got ' || 'in';\r");
	terminal_expect(&t, "got in");
	terminal_close(&t);
	/* A wrong password: sqlsh asks once, and not again. */
	terminal_start(&t, daemon_of(state)->uri);
	terminal_expect(&t, "Password for user known: ");
	terminal_send(&t, "eraser\n");
	terminal_expect(&t, "ERROR 28P01: ");
	assert_int_equal(terminal_end(&t), 2);
	/* Ctrl-C ends sqlsh. */
	terminal_start(&t, daemon_of(state)->uri);
	terminal_expect(&t, "Password for user known: ");
	terminal_send(&t, "\003");
	terminal_expect(&t, "no password was given");
	assert_int_equal(terminal_end(&t), 2);
}

static void
with_W_it_is_asked_for_at_once(void **state)
{
	struct terminal t;

	/* sqlsh does not use the wrong password of the environment. */
	(void)setenv("CENOTE_PASSWORD", "eraser", 1);
	terminal_start_with(&t, daemon_of(state)->uri, "-W");
	terminal_expect(&t, "Password for user known: ");
	terminal_send(&t, "pencil\n");
	terminal_expect_without(&t, "main=> ", "pencil");
	terminal_close(&t);
}

static void
with_w_it_is_never_asked_for(void **state)
{
	struct terminal t;

	terminal_start_with(&t, daemon_of(state)->uri, "-w");
	terminal_expect_without(&t, "asks for a password, and there is none", "for user");
	assert_int_equal(terminal_end(&t), 2);
}

/* By TCP, cenoted tells its status only after a login. */
static void
a_status_without_a_session_finds_its_password(void **state)
{
	struct cnt_daemon d = *daemon_of(state);
	struct run r;

	(void)snprintf(d.uri, sizeof(d.uri), "cenote://known@127.0.0.1:%d/main", port);
	(void)setenv("CENOTE_PASSWORD", "pencil", 1);
	run_sqlsh(&r, &d, NULL, "-w", "--format=csv", "-c", "\\pools", NULL);
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, "\nmain,sqlite,1,4,"));
	run_finish(&r);
	(void)setenv("CENOTE_PASSWORD", "eraser", 1);
	assert_runs(&d, 2, "", WRONG, "-w", "-c", "\\pools");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, forget_passwords)
	const struct CMUnitTest tests[] = {
		TEST(a_password_comes_from_the_environment),
		TEST(a_password_of_the_uri_comes_first),
		TEST(a_pool_that_wants_none_gets_none),
		TEST(a_password_comes_from_the_passfile),
		TEST(a_passfile_knows_hosts_and_ports),
		TEST(the_users_own_passfile_is_found),
		TEST(a_password_is_asked_for_when_the_login_wants_one),
		TEST(with_W_it_is_asked_for_at_once),
		TEST(with_w_it_is_never_asked_for),
		TEST(a_status_without_a_session_finds_its_password),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
