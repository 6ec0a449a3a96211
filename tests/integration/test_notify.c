/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The key `notify`: a command and a webhook get an event when a server is down, and when it is up again. The server is a file of
 * SQLite; it is down while the file is missing.
 */
#include "with_pool.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_MS 30000

/* A pool whose file is missing. */
#define POOL                                                                             \
	"\n[pool main]\nbackend = sqlite\nserver = path=@DIR@/main.db mode=rw\n"         \
	"sessions = 1\n"

static void
start(const char *notify)
{
	static char conf[2048];

	snprintf(conf, sizeof(conf), CNT_DAEMON_GLOBAL "notify = %s\n" POOL, notify);
	assert_int_equal(cnt_daemon_create(&wp_daemon, conf), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

static void
make_database(void)
{
	char line[256];

	snprintf(line, sizeof(line), "sqlite3 %s 'create table t (a)'", wp_daemon.db);
	assert_int_equal(system(line), 0);
}

/* Wait until the file that the command writes contains this. */
static void
await_told(const char *text)
{
	char path[128], told[4096];
	int64_t until = cnt_now_ms() + LIMIT_MS;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/told", wp_daemon.dir);
	do {
		cnt_pause_ms(50);
		f = fopen(path, "r");
		n = f != NULL ? fread(told, 1, sizeof(told) - 1, f) : 0;
		told[n] = '\0';
		if (f != NULL)
			fclose(f);
	} while (strstr(told, text) == NULL && cnt_now_ms() < until);
	if (strstr(told, text) == NULL)
		fail_msg("\"%s\" was not told: %s", text, told);
}

static void
a_command_is_told_down_and_up(void **state)
{
	start("/bin/echo \"$CENOTE_EVENT|$CENOTE_POOL|$CENOTE_TEXT|$CENOTE_JSON\" "
	      ">>@DIR@/told");
	await_told("server_down|main|pool main cannot log in to its server; the log has "
		   "the reason|{\"event\":\"server_down\",\"pool\":\"main\",");
	make_database();
	await_told("\nserver_up|main|pool main can log in to its server again|");
}

/* Neither a command that fails, nor the end of the process for notifications, disturbs clients. */
static void
a_command_that_fails_is_logged(void **state)
{
	pid_t pid;

	start("/bin/false");
	wp_await_log("notify: the command failed with status 1");
	pid = wp_await_child("cenoted-alerts");
	assert_int_equal(kill(pid, SIGKILL), 0);
	wp_await_log("was killed by signal 9");
	assert_int_not_equal(wp_await_child("cenoted-alerts"), 0);
	make_database();
	wp_await_log("logged in to");
	cenote_conn_destroy(wp_attach(NULL));
}

/* Whether cenoted has a process for notifications. */
static int
runs_alerts(void)
{
	char line[128];

	snprintf(line, sizeof(line), "pgrep -P %d cenoted-alerts >/dev/null",
		(int)wp_daemon.pid);
	return system(line) == 0;
}

/* Whether the process still runs. A process that has ended has no command line, also before its parent has waited for it. */
static int
runs(pid_t pid)
{
	char path[64];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	c = f != NULL ? fgetc(f) : EOF;
	if (f != NULL)
		fclose(f);
	return c != EOF;
}

static void
a_pool_serves_while_the_command_hangs(void **state)
{
	pid_t command = 0;
	int64_t until;

	start("/bin/sleep 25");
	wp_await_log("notify: pool main cannot log in");
	until = cnt_now_ms() + LIMIT_MS;
	while (cnt_children_of(wp_await_child("cenoted-alerts"), &command, 1) == 0 &&
		cnt_now_ms() < until)
		cnt_pause_ms(10);
	make_database();
	wp_await_log("logged in to");
	cenote_conn_destroy(wp_attach(NULL));
	assert_true(runs(command));
	/* the command ends with cenoted */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	until = cnt_now_ms() + LIMIT_MS;
	while (runs(command) && cnt_now_ms() < until)
		cnt_pause_ms(10);
	assert_false(runs(command));
}

static void
a_reload_begins_and_ends_notifications(void **state)
{
	int64_t until;

	assert_int_equal(cnt_daemon_create(&wp_daemon, CNT_DAEMON_GLOBAL POOL), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, CNT_DAEMON_GLOBAL
				 "notify = /bin/echo $CENOTE_EVENT >>@DIR@/told\n" POOL),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	await_told("server_down");
	assert_int_equal(cnt_daemon_configure(&wp_daemon, CNT_DAEMON_GLOBAL POOL), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	until = cnt_now_ms() + LIMIT_MS;
	while (runs_alerts() && cnt_now_ms() < until)
		cnt_pause_ms(10);
	assert_false(runs_alerts());
}

/* ---- a webhook ---- */

static int
listen_somewhere(int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* Accept a request, read until `end` is in it, and answer. */
static void
answer(int fd, const char *end, const char *status, char *ret_request, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	ssize_t r = 1;
	int client;

	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	client = accept(fd, NULL, NULL);
	assert_true(client >= 0);
	ret_request[0] = '\0';
	while (strstr(ret_request, end) == NULL && r > 0) {
		r = read(client, ret_request + n, size - 1 - n);
		n += r > 0 ? (size_t)r : 0;
		ret_request[n] = '\0';
	}
	(void)dprintf(client, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
	close(client);
}

static void
a_webhook_gets_json(void **state)
{
	char notify[64], request[4096];
	int port, fd;

	if (!CNT_HAS_WEBHOOK) {
		print_message("this build has no libcurl\n");
		skip();
	}
	fd = listen_somewhere(&port);
	snprintf(notify, sizeof(notify), "http://127.0.0.1:%d/hook?key=hidden", port);
	start(notify);
	answer(fd, "\"}", "500 No", request, sizeof(request));
	assert_memory_equal(request, "POST /hook?key=hidden HTTP/1.1\r\n", 32);
	assert_non_null(strstr(request, "Content-Type: application/json\r\n"));
	assert_non_null(
		strstr(request, "\r\n\r\n{\"event\":\"server_down\",\"pool\":\"main\","));
	wp_await_log("notify: the request failed: the answer is 500");
	make_database();
	answer(fd, "\"}", "200 OK", request, sizeof(request));
	assert_non_null(strstr(request, "{\"event\":\"server_up\",\"pool\":\"main\","));
	close(fd);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_command_is_told_down_and_up),
		TEST(a_command_that_fails_is_logged),
		TEST(a_pool_serves_while_the_command_hangs),
		TEST(a_reload_begins_and_ends_notifications),
		TEST(a_webhook_gets_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
