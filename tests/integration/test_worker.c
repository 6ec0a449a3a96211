/* SPDX-License-Identifier: BSD-2-Clause */
/* What a worker does for its backend and its client. The backend (probe/probe.c) does what the
 * statements say, and the test plays the server. */
#include "with_pool.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/batch.h"
#include "protocol/columns.h"
#include "support/cnt_raw.h"

#define SYNC        CNP_FRAME_SYNC
#define POOL(lines) POOL_AT("", lines)
#define POOL_AT(more, lines)                                                             \
	"[cenoted]\n"                                                                    \
	"user = @USER@\n"                                                                \
	"run_dir = @DIR@/run\n"                                                          \
	"backend_dir = @BACKENDS@:" CNT_PROBE_DIR "\n"                                   \
	"log = stderr\n"                                                                 \
	"\n[pool main]\n"                                                                \
	"backend = probe\n"                                                              \
	"server = path=@DIR@/server password=geheim" more "\nsessions = 1\n" lines

/* ---- the server ---- */

static int listener = -1;
static int server = -1; /* the session of the only worker */

static void
listen_as(const char *name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", wp_daemon.dir, name);
	unlink(sa.sun_path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(listener, 16), 0);
}

static int
is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static void
say(const char *text)
{
	assert_int_equal(send(server, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Accept a connection of the worker, in place of the one before. Answer its login with "ok", unless
 * `is_silent`. */
static void
accept_login(int is_silent)
{
	int before = server;

	assert_true(is_readable(listener, 20000));
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	if (before >= 0)
		close(before);
	if (!is_silent)
		say("ok\n");
}

/* Check that the worker sends this text, and nothing else. */
static void
hear(const char *text)
{
	char got[256] = "";
	size_t n = 0;

	while (n < strlen(text) && is_readable(server, 20000)) {
		ssize_t r = recv(server, got + n, sizeof(got) - 1 - n, 0);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	assert_string_equal(got, text);
}

static void
hang_up(void)
{
	close(server);
	server = -1;
}

/* Check that the worker ends the session without another word. */
static void
expect_logout(void)
{
	char byte;

	assert_true(is_readable(server, 20000));
	assert_int_equal(recv(server, &byte, 1, 0), 0);
	hang_up();
}

static void
start(const char *config)
{
	assert_int_equal(cnt_daemon_create(&wp_daemon, config), 0);
	listen_as("server");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
}

/* ---- the client ---- */

static struct cnt_raw client = { .fd = -1 };

static void
attach(void)
{
	assert_int_equal(cnt_raw_open(&client, wp_daemon.run_dir, "main", NULL), 0);
}

static void
begin(const char *config)
{
	start(config);
	accept_login(0);
	attach();
}

/* Let the client go. The worker then resets the session. */
static void
leave(void)
{
	cnt_raw_close(&client);
	hear("reset\n");
	say("done\n");
}

static int
teardown(void **state)
{
	cnt_raw_close(&client);
	/* so that a reset that waits for an answer ends */
	if (server >= 0)
		close(server);
	if (listener >= 0)
		close(listener);
	server = listener = -1;
	return wp_teardown(state);
}

static void
send_code(uint32_t request, uint8_t flags, uint8_t code)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof(m));
	m.code = code;
	cnt_raw_send(&client, request, flags, &m);
}

static void
send_copy(uint32_t request, const char *data)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };

	m.as.copy_data.data = cnp_str(data);
	cnt_raw_send(&client, request, 0, &m);
}

#define EXPECT(list)     assert_int_equal(cnt_raw_expect(&client, list), 0)
#define FIELD(letter)    cnt_raw_field(&client, letter)
#define QUERY(n, f, sql) cnt_raw_query(&client, n, f, sql)

/* The first value of a ROWS frame that was just taken. */
static const char *
row_text(void)
{
	size_t n;
	const char *text = cnc_row_value(client.payload + CNC_BATCH_HEADER, 1, 0, &n);

	assert_int_equal(client.msg.code, CNP_MSG_ROWS);
	return text;
}

/* Run a query of one row. Returns the row's first value. */
static const char *
ask(uint32_t request, const char *sql)
{
	static char text[256];
	char list[64];

	QUERY(request, SYNC, sql);
	snprintf(list, sizeof(list), "COLUMNS/%u ROWS/%u", (unsigned)request,
		(unsigned)request);
	EXPECT(list);
	snprintf(text, sizeof(text), "%s", row_text());
	snprintf(list, sizeof(list), "DONE/%u READY/%u", (unsigned)request,
		(unsigned)request);
	EXPECT(list);
	return text;
}

/* ---- waiting ---- */

static void
a_request_waits_for_the_server_but_not_for_ever(void **state)
{
	int64_t begun;

	begin(POOL("query_timeout = 3s\n"));
	QUERY(1, SYNC, "ask a");
	hear("a\n");
	say("answer\n");
	EXPECT("COLUMNS/1 ROWS/1 DONE/1 READY/1");
	/* the time limit */
	begun = wp_now_ms();
	QUERY(2, SYNC, "ask b");
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), "57014");
	assert_non_null(strstr(FIELD('M'), "query_timeout"));
	assert_in_range(wp_now_ms() - begun, 3000 - WP_CLOCK_MS, 15000);
	EXPECT("READY/2");
}

static void
cancel(uint32_t request)
{
	struct cnp_opening o = { .version_min = 1,
		.version_max = 1,
		.kind = CNP_OPEN_CANCEL,
		.pool = "main" };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct cnp_msg m = { .code = CNP_MSG_CANCEL };
	struct cnc_buf b;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/main.sock", wp_daemon.run_dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	m.as.cancel.session = client.attached.session;
	m.as.cancel.key = client.attached.key;
	m.as.cancel.request = request;
	cnc_buf_init(&b, &cnc_mem_default, 4096);
	assert_ok(cnp_opening_encode(&b, &o));
	assert_ok(cnp_frame_put(&b, 0, 0, &m));
	assert_int_equal(send(fd, cnc_buf_head(&b), cnc_buf_len(&b), 0), cnc_buf_len(&b));
	assert_true(is_readable(fd, 20000));
	cnc_buf_finish(&b);
	close(fd);
}

static void
a_cancel_wakes_who_waits_for_the_server(void **state)
{
	int64_t begun;

	begin(POOL(""));
	QUERY(1, SYNC, "ask a");
	hear("a\n");
	begun = wp_now_ms();
	cancel(1);
	EXPECT("ERROR/1");
	assert_string_equal(FIELD('C'), "57014");
	assert_in_range(wp_now_ms() - begun, 0, 5000);
	EXPECT("READY/1");
}

static void
a_client_that_goes_wakes_who_waits_for_the_server(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "ask a");
	hear("a\n");
	leave();
	wp_await("main", "idle", 1);
	attach();
	assert_string_equal(ask(1, "seen"), "syncs=0 settles=0 resets=1 options=0 long=0 "
					    "user=pool");
}

static void
a_silent_server_does_not_hang_a_login_or_a_reset(void **state)
{
	/* long enough for logins that succeed, even on a busy machine */
	start(POOL("login_timeout = 3s\n"));
	accept_login(1);
	wp_await_log("did not answer within login_timeout");
	/* the worker tries again; until the retry succeeds, the pool has no server */
	accept_login(0);
	wp_await("main", "idle", 1);
	attach();
	cnt_raw_close(&client);
	hear("reset\n");
	accept_login(0);
	wp_await("main", "idle", 1);
}

static void
the_end_of_cenoted_does_not_wait_for_a_login(void **state)
{
	start(POOL("login_timeout = 0\n"));
	accept_login(1);
	/* this fails before drain_timeout */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

static void
the_end_of_cenoted_does_not_wait_for_a_reset(void **state)
{
	begin(POOL("login_timeout = 0\n"));
	cnt_raw_close(&client);
	hear("reset\n");
	/* this fails before drain_timeout */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

/* ---- what the server sends unasked ---- */

static void
what_the_server_says_comes_between_the_rows(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "noisy 2");
	EXPECT("COLUMNS/1 ROWS/1 NOTICE/1 NOTIFICATION/0 PARAMETER/0");
	EXPECT("ROWS/1 NOTICE/1 NOTIFICATION/0 PARAMETER/0 DONE/1 READY/1");
	/* more of them than a buffer holds */
	QUERY(2, SYNC, "noisy 20000");
	EXPECT("COLUMNS/2");
	for (int i = 0; i < 20000; i++)
		EXPECT("ROWS/2 NOTICE/2 NOTIFICATION/0 PARAMETER/0");
	EXPECT("DONE/2 READY/2");
}

static void
what_the_server_says_comes_to_an_idle_client(void **state)
{
	begin(POOL(""));
	say("notify one\n");
	EXPECT("NOTIFICATION/0");
	assert_string_equal(client.msg.as.notification.payload.p, "one");
	say("notice two\nparam three\n");
	EXPECT("NOTICE/0");
	assert_string_equal(FIELD('M'), "two");
	EXPECT("PARAMETER/0");
	assert_string_equal(client.msg.as.parameter.value.p, "three");
	assert_string_equal(ask(1, "exec"), "sync=1 max=0 params=0 formats=");
}

static void
attach_and_see_parameter(const char *value)
{
	cenote_conn *conn = wp_attach(NULL);

	assert_string_equal(cenote_info(conn, "probe"), value);
	cenote_conn_destroy(conn);
	hear("reset\n");
	say("done\n");
}

static void
a_reset_tells_what_it_changed(void **state)
{
	begin(POOL(""));
	say("param mine\n");
	EXPECT("PARAMETER/0");
	send_code(1, SYNC, CNP_MSG_RESET);
	hear("reset\n");
	say("done\n");
	EXPECT("PARAMETER/0");
	assert_string_equal(client.msg.as.parameter.value.p, "first");
	EXPECT("DONE/1 READY/1");
	send_code(2, SYNC, CNP_MSG_RESET);
	hear("reset\n");
	say("done\n");
	EXPECT("DONE/2 READY/2");
}

static void
nobody_gets_a_parameter_of_another_client(void **state)
{
	begin(POOL(""));
	say("param mine\n");
	EXPECT("PARAMETER/0");
	leave();
	wp_await("main", "idle", 1);
	attach_and_see_parameter("first");
	/* a change while no client has the session */
	wp_await("main", "idle", 1);
	say("param reloaded\n");
	wp_pause_ms(50);
	attach_and_see_parameter("reloaded");
}

/* ---- the server ends the session ---- */

static void
a_session_that_ends_unlent_is_replaced(void **state)
{
	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	hang_up();
	accept_login(0);
	attach();
	assert_string_equal(ask(1, "rows 1"), "0");
	assert_string_equal(ask(2, "seen"), "syncs=1 settles=0 resets=0 options=0 long=0 "
					    "user=pool");
}

/* Attach with an option, without waiting for the answer. */
static void
begin_with(const char *name, const char *value)
{
	struct cnc_buf options;

	cnc_buf_init(&options, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&options, name, value));
	assert_int_equal(cnt_raw_begin(&client, wp_daemon.run_dir, "main", &options), 0);
	cnc_buf_finish(&options);
}

static void
a_session_that_is_lost_while_it_is_lent_is_replaced(void **state)
{
	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("ask", "x");
	hear("x\n");
	hang_up();
	accept_login(0);
	hear("x\n");
	say("y\n");
	assert_int_equal(cnt_raw_await(&client), 0);
	assert_string_equal(ask(1, "rows 1"), "0");
}

static void
a_client_may_go_while_a_session_is_made_for_it(void **state)
{
	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("ask", "x");
	hear("x\n");
	hang_up();
	accept_login(1);
	cnt_raw_close(&client);
	expect_logout();
	accept_login(0);
	wp_await("main", "idle", 1);
	attach();
	assert_string_equal(ask(1, "rows 1"), "0");
	assert_false(wp_log_has("signal"));
}

/* ---- settings of the login ---- */

static void
attach_with_settings(const char *settings, const char *heard)
{
	begin_with("settings", settings);
	if (heard != NULL) {
		accept_login(1);
		hear(heard);
		say("ok\n");
	}
	assert_int_equal(cnt_raw_await(&client), 0);
	assert_string_equal(ask(1, "rows 1"), "0");
}

static void
a_session_is_lent_to_who_wants_what_it_was_logged_in_with(void **state)
{
	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	leave();
	attach_with_settings("a=1", NULL);
	leave();
	attach_with_settings("b=2", "b=2\n");
	leave();
	attach_with_settings("", "");
}

/* The pool's first login took the only token, and this client needs a login of its own. */
static void
a_client_does_not_wait_for_ever_for_its_turn_to_log_in(void **state)
{
	start(POOL("login_rate = 1/min\nlogin_timeout = 10s\n"));
	accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("settings", "a=1");
	assert_int_equal(cnt_raw_await(&client), -1);
	assert_string_equal(FIELD('C'), "53300");
	assert_non_null(strstr(FIELD('M'), "login_rate allows 1/min logins"));
	assert_false(is_readable(listener, 0));
	cnt_raw_close(&client);
}

static void
settings_that_are_refused_are_nobody_elses(void **state)
{
	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("settings", "secret=1");
	accept_login(1);
	hear("secret=1\n");
	say("no secret=1 here\n");
	assert_int_equal(cnt_raw_await(&client), -1);
	assert_string_equal(FIELD('C'), "28000");
	assert_string_equal(FIELD('M'), "no secret=1 here");
	cnt_raw_close(&client);
	accept_login(0);
	attach();
	assert_string_equal(ask(1, "rows 1"), "0");
	leave();
	/* the server refuses settings that it has accepted before */
	attach_with_settings("a=1", "a=1\n");
	leave();
	wp_await("main", "idle", 1);
	hang_up();
	accept_login(1);
	hear("a=1\n");
	say("no more\n");
	accept_login(0);
	attach();
	assert_string_equal(ask(1, "rows 1"), "0");
	assert_false(wp_log_has("secret"));
}

static void
a_session_that_is_made_anew_for_each_client_keeps_its_settings(void **state)
{
	start(POOL("reset = reconnect\n"));
	accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	cnt_raw_close(&client);
	accept_login(1);
	hear("a=1\n");
	say("ok\n");
	attach_with_settings("a=1", NULL);
}

static void
settings_go_with_a_session_to_another_server(void **state)
{
	start(POOL("server = path=@DIR@/other password=geheim\n"));
	accept_login(0);
	wp_await("main", "idle", 1);
	close(listener);
	listen_as("other");
	attach_with_settings("a=1", "a=1\n");
	leave();
	wp_await("main", "idle", 1);
	hang_up();
	accept_login(1);
	hear("a=1\n");
	say("ok\n");
	attach_with_settings("a=1", NULL);
}

static void
a_suspended_session_keeps_its_settings(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res = NULL;
	cenote_conn *conn;

	start(POOL(""));
	accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	leave();
	conn = wp_handle(NULL);
	assert_ok(cenote_set_session_option(conn, "settings", "a=1"));
	assert_ok(cenote_connect(conn));
	assert_ok(cenote_suspend(conn, NULL, 0, token));
	cenote_conn_destroy(conn);
	/* a client that resumes gets that session, whatever settings it asks for */
	conn = wp_handle(NULL);
	assert_ok(cenote_set_session_option(conn, "settings", "b=2"));
	assert_ok(cenote_resume(conn, token, &res));
	assert_string_equal(wp_value(conn, "rows 1"), "0");
	cenote_conn_destroy(conn);
	hear("reset\n");
	say("done\n");
	attach_with_settings("a=1", NULL);
}

/* ---- a session that is lost while it is lent ---- */

static void
who_holds_nothing_is_sent_to_another_session(void **state)
{
	begin(POOL(""));
	assert_string_equal(ask(1, "rows 1"), "0");
	hang_up();
	EXPECT("YIELD/0");
	assert_int_equal(client.msg.as.yield.last, 1);
	assert_int_equal(client.msg.as.yield.reason, CNP_YIELD_LOST);
	EXPECT("END");
	cnt_raw_close(&client);
	accept_login(0);
	attach();
	assert_string_equal(ask(1, "rows 1"), "0");
}

static void
who_holds_something_is_told_the_servers_words(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	hang_up();
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "57P01");
	assert_string_equal(FIELD('M'), "the server said goodbye");
	EXPECT("END");
	accept_login(0);
	wp_await("main", "idle", 1);
}

static void
lose_in(const char *first, const char *sql, const char *sqlstate)
{
	if (first != NULL) {
		QUERY(1, SYNC, first);
		EXPECT("DONE/1 READY/1");
	}
	QUERY(2, SYNC, sql);
	assert_true(is_readable(server, 20000));
	hang_up();
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), sqlstate);
	assert_non_null(strstr(FIELD('M'), "the server said goodbye"));
	EXPECT("READY/2");
	assert_int_equal(client.msg.as.ready.tx, CENOTE_TX_UNKNOWN);
	EXPECT("END");
	cnt_raw_close(&client);
	accept_login(0);
	attach();
}

static void
a_loss_is_told_for_what_it_may_have_done(void **state)
{
	struct cnp_msg m;

	begin(POOL(""));
	lose_in(NULL, "select ask x", "08006");
	lose_in(NULL, "insert x", "08007");
	lose_in("tx 1", "insert x", "08006");
	lose_in("tx 1", "commit", "08007");
	lose_in("tx 1", "rollback", "08006");
	/* the worker remembers that the prepared statement only reads */
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_PREPARE;
	m.as.prepare.statement = 5;
	m.as.prepare.sql = cnp_str("select 1");
	cnt_raw_send(&client, 1, SYNC, &m);
	EXPECT("PARAMS/1 DONE/1 READY/1");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_EXECUTE;
	m.as.execute.statement = 5;
	cnt_raw_send(&client, 2, SYNC, &m);
	assert_true(is_readable(server, 20000));
	hang_up();
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), "08006");
	EXPECT("READY/2 END");
	cnt_raw_close(&client);
	accept_login(0);
	attach();
	/* the loss also concerns a write in the same unit, which was not committed yet */
	QUERY(1, 0, "insert");
	hear("insert\n");
	say("x\n");
	EXPECT("COLUMNS/1 ROWS/1 DONE/1");
	lose_in(NULL, "select ask x", "08007");
}

/* ---- synchronisation points ---- */

static void
sync_is_called_at_every_point_and_only_there(void **state)
{
	begin(POOL(""));
	assert_non_null(strstr(ask(1, "seen"), "syncs=0 "));
	QUERY(2, 0, "seen");
	EXPECT("COLUMNS/2 ROWS/2");
	assert_non_null(strstr(row_text(), "syncs=1 "));
	EXPECT("DONE/2");
	/* after an error, and for a request that was skipped */
	send_code(3, 0, CNP_MSG_CATALOG);
	EXPECT("ERROR/3");
	assert_string_equal(FIELD('C'), "0A000");
	QUERY(4, SYNC, "seen");
	EXPECT("SKIPPED/4 READY/4");
	assert_non_null(strstr(ask(5, "seen"), "syncs=2 "));
	send_code(6, 0, CNP_MSG_SYNC);
	EXPECT("READY/6");
	assert_non_null(strstr(ask(7, "seen"), "syncs=4 "));
}

static void
a_sync_that_fails_is_told_before_ready(void **state)
{
	begin(POOL(""));
	QUERY(1, 0, "sync fail");
	EXPECT("DONE/1");
	send_code(2, 0, CNP_MSG_SYNC);
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), "40001");
	EXPECT("READY/2");
	assert_string_equal(ask(3, "rows 1"), "0");
	/* the answer was sent, and cannot be taken back */
	QUERY(4, SYNC, "sync lose");
	EXPECT("DONE/4 READY/4 ERROR/0");
	assert_string_equal(FIELD('C'), "08007");
	EXPECT("END");
}

/* ---- copies ---- */

static void
a_copy_goes_in_and_out(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	send_copy(1, "678");
	send_code(1, 0, CNP_MSG_COPY_DONE);
	EXPECT("DONE/1");
	assert_string_equal(client.msg.as.done.tag.p, "COPY 8");
	EXPECT("READY/1");
	QUERY(2, SYNC, "copyout 3 10");
	EXPECT("COPY_OUT/2 COPY_DATA/2 COPY_DATA/2 COPY_DATA/2 COPY_DONE/2 DONE/2 "
	       "READY/2");
	QUERY(3, SYNC, "copyout 2000 60000");
	EXPECT("COPY_OUT/3");
	for (int i = 0; i < 2000; i++)
		EXPECT("COPY_DATA/3");
	assert_int_equal(client.msg.as.copy_data.data.n, 60000);
	EXPECT("COPY_DONE/3 DONE/3 READY/3");
}

static void
a_copy_is_given_up_by_either_side(void **state)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_FAIL };

	begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	m.as.copy_fail.message = cnp_str("no more");
	cnt_raw_send(&client, 1, 0, &m);
	hear("aborted\n");
	EXPECT("ERROR/1");
	assert_string_equal(FIELD('C'), "57014");
	assert_non_null(strstr(FIELD('M'), "no more"));
	EXPECT("READY/1");
	/* the server has stopped reading: what the client still sends is dropped */
	QUERY(2, SYNC, "copyin");
	EXPECT("COPY_IN/2");
	send_copy(2, "12345");
	say("that is wrong\n");
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('M'), "that is wrong");
	EXPECT("READY/2");
	send_copy(2, "12345");
	send_code(2, 0, CNP_MSG_COPY_DONE);
	assert_string_equal(ask(3, "rows 1"), "0");
	/* a copy that is cancelled */
	QUERY(4, SYNC, "copyin");
	EXPECT("COPY_IN/4");
	cancel(4);
	hear("aborted\n");
	EXPECT("ERROR/4");
	assert_string_equal(FIELD('C'), "57014");
	EXPECT("READY/4");
	send_code(4, 0, CNP_MSG_COPY_DONE);
	assert_string_equal(ask(5, "rows 1"), "0");
}

static void
a_client_that_goes_or_lies_in_a_copy_ends_it(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	cnt_raw_close(&client);
	hear("aborted\nreset\n");
	say("done\n");
	attach();
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	assert_int_equal(send(client.fd, "garbage, and much of it", 23, 0), 23);
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "08P01");
	EXPECT("END");
	hear("aborted\nreset\n");
	say("done\n");
	cnt_raw_close(&client);
	attach();
	assert_non_null(strstr(ask(1, "seen"), "resets=2 "));
}

/* ---- giving a session up ---- */

static int
attach_in_child(void *arg)
{
	cenote_conn *conn;
	int r;

	(void)arg;
	r = wp_try(NULL, &conn);
	cenote_conn_destroy(conn);
	return r == CENOTE_OK ? 0 : 1;
}

static void
what_functions_left_is_asked_for_before_a_session_is_kept(void **state)
{
	pid_t pid;

	start(POOL("mode = transaction\n"));
	accept_login(0);
	/* otherwise another client would have waited a moment ago, and this client would have to
	 * yield soon */
	wp_await("main", "idle", 1);
	wp_pause_ms(200);
	attach();
	/* settle() will find that pin 64 stays */
	QUERY(1, SYNC, "settle 64");
	EXPECT("DONE/1 READY/1");
	QUERY(2, SYNC, "pin 64");
	EXPECT("DONE/2 READY/2");
	pid = wp_fork(attach_in_child, NULL, -1);
	wp_await("main", "waiting", 1);
	wp_pause_ms(200);
	assert_non_null(strstr(ask(3, "seen"), "settles=1 "));
	/* after the next request, the worker may ask again; then settle() finds nothing */
	QUERY(4, SYNC, "settle 0");
	EXPECT("DONE/4 READY/4 YIELD/0 END");
	hear("reset\n");
	say("done\n");
	hear("reset\n");
	say("done\n");
	assert_int_equal(wp_join(pid), 0);
}

/* A client whose turn ends: the backend may begin the reset with its last request. */
static void
a_turn_ends_if_others_wait(void **state)
{
	pid_t pid;

	start(POOL("mode = transaction\n"));
	accept_login(0);
	wp_await("main", "idle", 1);
	wp_pause_ms(200);
	attach();
	QUERY(1, SYNC, "over 0");
	EXPECT("DONE/1 READY/1");
	/* a pin keeps the session, so that the next client waits for it */
	QUERY(2, SYNC, "pin 1");
	EXPECT("DONE/2 READY/2");
	pid = wp_fork(attach_in_child, NULL, -1);
	wp_await("main", "waiting", 1);
	/* the next request is there, or the unit has no end yet */
	client.collects = 1;
	QUERY(3, SYNC, "over 1");
	client.collects = 0;
	QUERY(4, SYNC, "seen");
	EXPECT("DONE/3");
	assert_string_equal(client.msg.as.done.tag.p, "GO ON");
	EXPECT("READY/3 COLUMNS/4 ROWS/4 DONE/4 READY/4");
	QUERY(5, 0, "over 1");
	EXPECT("DONE/5");
	assert_string_equal(client.msg.as.done.tag.p, "GO ON");
	QUERY(6, SYNC, "over 0");
	EXPECT("DONE/6");
	assert_string_equal(client.msg.as.done.tag.p, "OVER");
	EXPECT("READY/6 YIELD/0 END");
	hear("reset\n");
	say("done\n");
	hear("reset\n");
	say("done\n");
	assert_int_equal(wp_join(pid), 0);
}

/* It must not happen, but a session that is being reset is not for its client any more. */
static void
who_holds_something_when_the_turn_has_ended_is_turned_out(void **state)
{
	pid_t pid;

	start(POOL("mode = transaction\n"));
	accept_login(0);
	attach();
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	pid = wp_fork(attach_in_child, NULL, -1);
	wp_await("main", "waiting", 1);
	QUERY(2, SYNC, "over 1");
	EXPECT("DONE/2 READY/2 ERROR/0");
	assert_string_equal(FIELD('C'), "08006");
	EXPECT("END");
	hear("reset\n");
	say("done\n");
	hear("reset\n");
	say("done\n");
	assert_int_equal(wp_join(pid), 0);
}

/* Then the pool works on the session before the reset. */
static void
a_turn_does_not_end_with_work_to_do(void **state)
{
	start(POOL("mode = transaction\nsession_end = rows 1\n"));
	accept_login(0);
	attach();
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	(void)wp_fork(attach_in_child, NULL, -1);
	wp_await("main", "waiting", 1);
	QUERY(2, SYNC, "over 1");
	EXPECT("DONE/2");
	assert_string_equal(client.msg.as.done.tag.p, "GO ON");
	EXPECT("READY/2");
}

static void
an_idle_client_has_what_functions_left_asked_for(void **state)
{
	begin(POOL(""));
	QUERY(1, SYNC, "pin 64");
	EXPECT("DONE/1 READY/1");
	assert_int_equal(client.msg.as.ready.pins, 64);
	assert_non_null(strstr(ask(2, "seen"), "settles=0 "));
	wp_pause_ms(1500);
	assert_non_null(strstr(ask(3, "seen"), "settles=1 "));
	hang_up();
	EXPECT("YIELD/0 END");
	accept_login(0);
}

/* ---- what only some backends have ---- */

static void
what_a_backend_has_is_passed_on(void **state)
{
	static const char formats[] = { 0, 2, 1 };
	static const uint8_t types[] = { 1, 0, 0, 0, 0x42, 0x43, 0, 0 };
	struct cnc_arena arena;
	struct cnp_param *params;
	struct cnp_msg m;
	uint32_t n;

	begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_QUERY;
	m.as.query.sql = cnp_str("exec");
	m.as.query.max_rows = 9;
	m.as.query.formats = (struct cnp_str){ formats, 3 };
	cnt_raw_send(&client, 1, 0, &m);
	EXPECT("COLUMNS/1 ROWS/1");
	assert_string_equal(row_text(), "sync=0 max=9 params=0 formats=021");
	EXPECT("DONE/1");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_PREPARE;
	m.as.prepare.statement = 1;
	m.as.prepare.sql = cnp_str("x");
	m.as.prepare.name = cnp_str("its name");
	m.as.prepare.types = (struct cnp_str){ (const char *)types, 8 };
	cnt_raw_send(&client, 2, SYNC, &m);
	EXPECT("PARAMS/2");
	cnc_arena_init(&arena, &cnc_mem_default);
	assert_ok(
		cnp_params_decode(client.payload, client.frame.len, &arena, &params, &n));
	assert_int_equal(n, 2);
	assert_int_equal(params[0].native_type, 1);
	assert_int_equal(params[1].native_type, 0x4342);
	cnc_arena_finish(&arena);
	EXPECT("DONE/2");
	assert_string_equal(client.msg.as.done.tag.p, "its name");
	EXPECT("READY/2");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_FUNCTION;
	m.as.function.function = 77;
	cnt_raw_send(&client, 3, SYNC, &m);
	EXPECT("COLUMNS/3 ROWS/3");
	assert_string_equal(row_text(), "function 77 of 0");
	EXPECT("DONE/3 READY/3");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_LONG_DATA;
	m.as.long_data.statement = 1;
	m.as.long_data.data = cnp_str("12345");
	cnt_raw_send(&client, 4, SYNC, &m);
	EXPECT("DONE/4 READY/4");
	cnt_raw_send(&client, 0, 0, &m);
	m.as.long_data.param = 9;
	cnt_raw_send(&client, 0, 0, &m);
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "07009");
	assert_non_null(strstr(ask(5, "seen"), "long=10 "));
}

static void
a_user_is_changed_and_changed_back(void **state)
{
	struct cnp_msg m;

	begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_CHANGE_USER;
	m.as.change_user.user = cnp_str("other");
	m.as.change_user.password = cnp_str("wrong");
	cnt_raw_send(&client, 1, SYNC, &m);
	EXPECT("ERROR/1");
	assert_string_equal(FIELD('C'), "28P01");
	EXPECT("READY/1");
	m.as.change_user.password = cnp_str("right");
	cnt_raw_send(&client, 2, SYNC, &m);
	EXPECT("DONE/2 READY/2");
	assert_non_null(strstr(ask(3, "seen"), "user=other"));
	leave();
	wp_await("main", "idle", 1);
	attach();
	assert_non_null(strstr(ask(1, "seen"), "user=pool"));
	leave();
	wp_await("main", "idle", 1);
	attach_and_see_parameter("first");
}

static void
options_are_set_with_attach_and_later(void **state)
{
	struct cnc_buf options;
	struct cnp_msg m;

	start(POOL(""));
	accept_login(0);
	cnc_buf_init(&options, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&options, "unknown", "1"));
	assert_ok(cnp_pairs_put(&options, "known", "1"));
	assert_int_equal(cnt_raw_open(&client, wp_daemon.run_dir, "main", &options), 0);
	assert_non_null(strstr(ask(1, "seen"), "options=1 "));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_SET_OPTION;
	m.as.set_option.name = cnp_str("known");
	cnt_raw_send(&client, 2, SYNC, &m);
	EXPECT("DONE/2 READY/2");
	m.as.set_option.name = cnp_str("unknown");
	cnt_raw_send(&client, 3, SYNC, &m);
	EXPECT("ERROR/3");
	assert_string_equal(FIELD('C'), "22023");
	assert_non_null(strstr(FIELD('M'), "\"unknown\""));
	EXPECT("READY/3");
	assert_non_null(strstr(ask(4, "seen"), "options=2 "));
	leave();
	assert_ok(cnp_pairs_put(&options, "known", "refused"));
	assert_int_equal(cnt_raw_open(&client, wp_daemon.run_dir, "main", &options), -1);
	assert_string_equal(FIELD('C'), "42501");
	cnc_buf_finish(&options);
}

static void
refuse(uint32_t request, const struct cnp_msg *m, const char *sqlstate, const char *what)
{
	char list[64];

	cnt_raw_send(&client, request, SYNC, m);
	snprintf(list, sizeof(list), "ERROR/%u", (unsigned)request);
	EXPECT(list);
	assert_string_equal(FIELD('C'), sqlstate);
	if (strstr(FIELD('M'), what) == NULL)
		fail_msg("\"%s\" does not say %s", FIELD('M'), what);
	if (strcmp(sqlstate, "08P01") == 0)
		return;
	snprintf(list, sizeof(list), "READY/%u", (unsigned)request);
	EXPECT(list);
}

static void
what_a_backend_lacks_is_named(void **state)
{
	struct cnp_msg m;

	begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_SELECT_DATABASE;
	m.as.select_database.database = cnp_str("other");
	refuse(1, &m, "0A000", "change of database");
	cnt_raw_close(&client);
}

/* What SQLite cannot do. */
static void
what_sqlite_lacks_is_named(void **state)
{
	static const struct {
		uint8_t code;
		const char *what;
	} table[] = {
		{ CNP_MSG_FUNCTION, "calls of functions" },
		{ CNP_MSG_LONG_DATA, "values in pieces" },
		{ CNP_MSG_CHANGE_USER, "change of user" },
		{ CNP_MSG_SELECT_DATABASE, "change of database" },
		{ CNP_MSG_SET_OPTION, "options of a session" },
		{ CNP_MSG_DESCRIBE, "named statements" },
		{ CNP_MSG_EXECUTE, "named statements" },
		{ CNP_MSG_CLOSE, "named statements" },
		{ CNP_MSG_PREPARE, "named statements" },
	};
	struct cnp_msg m;

	wp_start(CNT_DAEMON_CONFIG);
	attach();
	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memset(&m, 0, sizeof(m));
		m.code = table[i].code;
		refuse(i + 1, &m, "0A000", table[i].what);
	}
}

static void
lists_that_are_malformed_are_refused(void **state)
{
	static const char formats[] = { 0, 3 };
	struct cnp_msg m;

	begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_QUERY;
	m.as.query.sql = cnp_str("exec");
	m.as.query.formats = (struct cnp_str){ formats, 2 };
	refuse(1, &m, "08P01", "unknown format");
	cnt_raw_close(&client);
	hear("reset\n");
	say("done\n");
	attach();
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_PREPARE;
	m.as.prepare.statement = 1;
	m.as.prepare.types = (struct cnp_str){ "12345", 5 };
	refuse(1, &m, "08P01", "types");
}

/* ---- the server's version ---- */

static int
count_in_log(const char *text)
{
	char line[2048];
	FILE *f = fopen(wp_daemon.log, "re");
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, text) != NULL;
	fclose(f);
	return n;
}

#define UNTESTED "Cenote is not tested with version "

/* The probe is tested with 1 and 3.4. */
static void
a_version_that_is_not_tested_is_told_once(void **state)
{
	start(POOL_AT(" version=12.1", ""));
	accept_login(0);
	wp_await("main", "idle", 1);
	wp_await_log("probe: " UNTESTED "12.1 of the server");
	hang_up();
	accept_login(0);
	wp_await("main", "idle", 1);
	attach();
	assert_string_equal(ask(1, "seen"), "syncs=0 settles=0 resets=0 options=0 long=0 "
					    "user=pool");
	assert_int_equal(count_in_log(UNTESTED), 1);
}

static void
a_version_that_is_tested_is_not_told(void **state)
{
	start(POOL_AT(" version=3.4.11-extra", ""));
	accept_login(0);
	attach();
	assert_string_equal(ask(1, "seen"), "syncs=0 settles=0 resets=0 options=0 long=0 "
					    "user=pool");
	assert_int_equal(count_in_log(UNTESTED), 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		T(a_request_waits_for_the_server_but_not_for_ever),
		T(a_cancel_wakes_who_waits_for_the_server),
		T(a_client_that_goes_wakes_who_waits_for_the_server),
		T(a_silent_server_does_not_hang_a_login_or_a_reset),
		T(the_end_of_cenoted_does_not_wait_for_a_login),
		T(the_end_of_cenoted_does_not_wait_for_a_reset),
		T(what_the_server_says_comes_between_the_rows),
		T(what_the_server_says_comes_to_an_idle_client),
		T(a_reset_tells_what_it_changed),
		T(nobody_gets_a_parameter_of_another_client),
		T(a_session_that_is_lost_while_it_is_lent_is_replaced),
		T(a_session_that_ends_unlent_is_replaced),
		T(a_client_may_go_while_a_session_is_made_for_it),
		T(a_session_is_lent_to_who_wants_what_it_was_logged_in_with),
		T(a_client_does_not_wait_for_ever_for_its_turn_to_log_in),
		T(settings_that_are_refused_are_nobody_elses),
		T(a_session_that_is_made_anew_for_each_client_keeps_its_settings),
		T(settings_go_with_a_session_to_another_server),
		T(a_suspended_session_keeps_its_settings),
		T(who_holds_nothing_is_sent_to_another_session),
		T(who_holds_something_is_told_the_servers_words),
		T(a_loss_is_told_for_what_it_may_have_done),
		T(sync_is_called_at_every_point_and_only_there),
		T(a_sync_that_fails_is_told_before_ready),
		T(a_copy_goes_in_and_out),
		T(a_copy_is_given_up_by_either_side),
		T(a_client_that_goes_or_lies_in_a_copy_ends_it),
		T(what_functions_left_is_asked_for_before_a_session_is_kept),
		T(a_turn_ends_if_others_wait),
		T(who_holds_something_when_the_turn_has_ended_is_turned_out),
		T(a_turn_does_not_end_with_work_to_do),
		T(an_idle_client_has_what_functions_left_asked_for),
		T(what_a_backend_has_is_passed_on),
		T(a_user_is_changed_and_changed_back),
		T(options_are_set_with_attach_and_later),
		T(what_a_backend_lacks_is_named),
		T(what_sqlite_lacks_is_named),
		T(lists_that_are_malformed_are_refused),
		T(a_version_that_is_not_tested_is_told_once),
		T(a_version_that_is_tested_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
