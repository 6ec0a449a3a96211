/* SPDX-License-Identifier: BSD-2-Clause */
/* What a worker does for its backend and its client. The backend (probe/probe.c) does what the
 * statements say, and the test plays the server. */
#include "with_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/batch.h"
#include "protocol/columns.h"

/* ---- waiting ---- */

static void
a_request_waits_for_the_server_but_not_for_ever(void **state)
{
	int64_t begun;

	probe_begin(POOL("query_timeout = 3s\n"));
	QUERY(1, SYNC, "ask a");
	probe_hear("a\n");
	probe_say("answer\n");
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
	m.as.cancel.session = probe_client.attached.session;
	m.as.cancel.key = probe_client.attached.key;
	m.as.cancel.request = request;
	cnc_buf_init(&b, &cnc_mem_default, 4096);
	assert_ok(cnp_opening_encode(&b, &o));
	assert_ok(cnp_frame_put(&b, 0, 0, &m));
	assert_int_equal(send(fd, cnc_buf_head(&b), cnc_buf_len(&b), 0), cnc_buf_len(&b));
	assert_true(probe_is_readable(fd, 20000));
	cnc_buf_finish(&b);
	close(fd);
}

static void
a_cancel_wakes_who_waits_for_the_server(void **state)
{
	int64_t begun;

	probe_begin(POOL(""));
	QUERY(1, SYNC, "ask a");
	probe_hear("a\n");
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
	probe_begin(POOL(""));
	QUERY(1, SYNC, "ask a");
	probe_hear("a\n");
	probe_leave();
	wp_await("main", "idle", 1);
	probe_attach();
	assert_string_equal(probe_ask(1, "seen"),
		"syncs=0 settles=0 resets=1 options=0 long=0 "
		"user=pool");
}

static void
a_silent_server_does_not_hang_a_login_or_a_reset(void **state)
{
	/* long enough for logins that succeed, even on a busy machine */
	probe_start(POOL("login_timeout = 3s\n"));
	probe_accept_login(1);
	wp_await_log("did not answer within login_timeout");
	/* the worker tries again; until the retry succeeds, the pool has no server */
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	probe_attach();
	cnt_raw_close(&probe_client);
	probe_hear("reset\n");
	probe_accept_login(0);
	wp_await("main", "idle", 1);
}

static void
the_end_of_cenoted_does_not_wait_for_a_login(void **state)
{
	probe_start(POOL("login_timeout = 0\n"));
	probe_accept_login(1);
	/* this fails before drain_timeout */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

static void
the_end_of_cenoted_does_not_wait_for_a_reset(void **state)
{
	probe_begin(POOL("login_timeout = 0\n"));
	cnt_raw_close(&probe_client);
	probe_hear("reset\n");
	/* this fails before drain_timeout */
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

/* ---- what the server sends unasked ---- */

static void
what_the_server_says_comes_between_the_rows(void **state)
{
	probe_begin(POOL(""));
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
	probe_begin(POOL(""));
	probe_say("notify one\n");
	EXPECT("NOTIFICATION/0");
	assert_string_equal(probe_client.msg.as.notification.payload.p, "one");
	probe_say("notice two\nparam three\n");
	EXPECT("NOTICE/0");
	assert_string_equal(FIELD('M'), "two");
	EXPECT("PARAMETER/0");
	assert_string_equal(probe_client.msg.as.parameter.value.p, "three");
	assert_string_equal(probe_ask(1, "exec"), "sync=1 max=0 params=0 formats=");
}

static void
attach_and_see_parameter(const char *value)
{
	cenote_conn *conn = wp_attach(NULL);

	assert_string_equal(cenote_info(conn, "probe"), value);
	cenote_conn_destroy(conn);
	probe_hear("reset\n");
	probe_say("done\n");
}

static void
a_reset_tells_what_it_changed(void **state)
{
	probe_begin(POOL(""));
	probe_say("param mine\n");
	EXPECT("PARAMETER/0");
	probe_send_code(1, SYNC, CNP_MSG_RESET);
	probe_hear("reset\n");
	probe_say("done\n");
	EXPECT("PARAMETER/0");
	assert_string_equal(probe_client.msg.as.parameter.value.p, "first");
	EXPECT("DONE/1 READY/1");
	probe_send_code(2, SYNC, CNP_MSG_RESET);
	probe_hear("reset\n");
	probe_say("done\n");
	EXPECT("DONE/2 READY/2");
}

static void
nobody_gets_a_parameter_of_another_client(void **state)
{
	probe_begin(POOL(""));
	probe_say("param mine\n");
	EXPECT("PARAMETER/0");
	probe_leave();
	wp_await("main", "idle", 1);
	attach_and_see_parameter("first");
	/* a change while no client has the session */
	wp_await("main", "idle", 1);
	probe_say("param reloaded\n");
	wp_pause_ms(50);
	attach_and_see_parameter("reloaded");
}

/* ---- the server ends the session ---- */

static void
a_session_that_ends_unlent_is_replaced(void **state)
{
	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	probe_hang_up();
	probe_accept_login(0);
	probe_attach();
	assert_string_equal(probe_ask(1, "rows 1"), "0");
	assert_string_equal(probe_ask(2, "seen"),
		"syncs=1 settles=0 resets=0 options=0 long=0 "
		"user=pool");
}

/* Attach with an option, without waiting for the answer. */
static void
begin_with(const char *name, const char *value)
{
	struct cnc_buf options;

	cnc_buf_init(&options, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&options, name, value));
	assert_int_equal(
		cnt_raw_begin(&probe_client, wp_daemon.run_dir, "main", &options), 0);
	cnc_buf_finish(&options);
}

static void
a_session_that_is_lost_while_it_is_lent_is_replaced(void **state)
{
	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("ask", "x");
	probe_hear("x\n");
	probe_hang_up();
	probe_accept_login(0);
	probe_hear("x\n");
	probe_say("y\n");
	assert_int_equal(cnt_raw_await(&probe_client), 0);
	assert_string_equal(probe_ask(1, "rows 1"), "0");
}

static void
a_client_may_go_while_a_session_is_made_for_it(void **state)
{
	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("ask", "x");
	probe_hear("x\n");
	probe_hang_up();
	probe_accept_login(1);
	cnt_raw_close(&probe_client);
	probe_expect_logout();
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	probe_attach();
	assert_string_equal(probe_ask(1, "rows 1"), "0");
	assert_false(wp_log_has("signal"));
}

/* ---- settings of the login ---- */

static void
attach_with_settings(const char *settings, const char *heard)
{
	begin_with("settings", settings);
	if (heard != NULL) {
		probe_accept_login(1);
		probe_hear(heard);
		probe_say("ok\n");
	}
	assert_int_equal(cnt_raw_await(&probe_client), 0);
	assert_string_equal(probe_ask(1, "rows 1"), "0");
}

static void
a_session_is_lent_to_who_wants_what_it_was_logged_in_with(void **state)
{
	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	probe_leave();
	attach_with_settings("a=1", NULL);
	probe_leave();
	attach_with_settings("b=2", "b=2\n");
	probe_leave();
	attach_with_settings("", "");
}

/* The pool's first login took the only token, and this client needs a login of its own. */
static void
a_client_does_not_wait_for_ever_for_its_turn_to_log_in(void **state)
{
	probe_start(POOL("login_rate = 1/min\nlogin_timeout = 10s\n"));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("settings", "a=1");
	assert_int_equal(cnt_raw_await(&probe_client), -1);
	assert_string_equal(FIELD('C'), "53300");
	assert_non_null(strstr(FIELD('M'), "login_rate allows 1/min logins"));
	assert_false(probe_is_readable(probe_listener, 0));
	cnt_raw_close(&probe_client);
}

static void
settings_that_are_refused_are_nobody_elses(void **state)
{
	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	begin_with("settings", "secret=1");
	probe_accept_login(1);
	probe_hear("secret=1\n");
	probe_say("no secret=1 here\n");
	assert_int_equal(cnt_raw_await(&probe_client), -1);
	assert_string_equal(FIELD('C'), "28000");
	assert_string_equal(FIELD('M'), "no secret=1 here");
	cnt_raw_close(&probe_client);
	probe_accept_login(0);
	probe_attach();
	assert_string_equal(probe_ask(1, "rows 1"), "0");
	probe_leave();
	/* the server refuses settings that it has accepted before */
	attach_with_settings("a=1", "a=1\n");
	probe_leave();
	wp_await("main", "idle", 1);
	probe_hang_up();
	probe_accept_login(1);
	probe_hear("a=1\n");
	probe_say("no more\n");
	probe_accept_login(0);
	probe_attach();
	assert_string_equal(probe_ask(1, "rows 1"), "0");
	assert_false(wp_log_has("secret"));
}

static void
a_session_that_is_made_anew_for_each_client_keeps_its_settings(void **state)
{
	probe_start(POOL("reset = reconnect\n"));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	cnt_raw_close(&probe_client);
	probe_accept_login(1);
	probe_hear("a=1\n");
	probe_say("ok\n");
	attach_with_settings("a=1", NULL);
}

static void
settings_go_with_a_session_to_another_server(void **state)
{
	probe_start(POOL("server = path=@DIR@/other password=geheim\n"));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	close(probe_listener);
	probe_listen_as("other");
	attach_with_settings("a=1", "a=1\n");
	probe_leave();
	wp_await("main", "idle", 1);
	probe_hang_up();
	probe_accept_login(1);
	probe_hear("a=1\n");
	probe_say("ok\n");
	attach_with_settings("a=1", NULL);
}

static void
a_suspended_session_keeps_its_settings(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_result *res = NULL;
	cenote_conn *conn;

	probe_start(POOL(""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	attach_with_settings("a=1", "a=1\n");
	probe_leave();
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
	probe_hear("reset\n");
	probe_say("done\n");
	attach_with_settings("a=1", NULL);
}

/* ---- a session that is lost while it is lent ---- */

static void
who_holds_nothing_is_sent_to_another_session(void **state)
{
	probe_begin(POOL(""));
	assert_string_equal(probe_ask(1, "rows 1"), "0");
	probe_hang_up();
	EXPECT("YIELD/0");
	assert_int_equal(probe_client.msg.as.yield.last, 1);
	assert_int_equal(probe_client.msg.as.yield.reason, CNP_YIELD_LOST);
	EXPECT("END");
	cnt_raw_close(&probe_client);
	probe_accept_login(0);
	probe_attach();
	assert_string_equal(probe_ask(1, "rows 1"), "0");
}

static void
who_holds_something_is_told_the_servers_words(void **state)
{
	probe_begin(POOL(""));
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	probe_hang_up();
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "57P01");
	assert_string_equal(FIELD('M'), "the server said goodbye");
	EXPECT("END");
	probe_accept_login(0);
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
	assert_true(probe_is_readable(probe_server, 20000));
	probe_hang_up();
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), sqlstate);
	assert_non_null(strstr(FIELD('M'), "the server said goodbye"));
	EXPECT("READY/2");
	assert_int_equal(probe_client.msg.as.ready.tx, CENOTE_TX_UNKNOWN);
	EXPECT("END");
	cnt_raw_close(&probe_client);
	probe_accept_login(0);
	probe_attach();
}

static void
a_loss_is_told_for_what_it_may_have_done(void **state)
{
	struct cnp_msg m;

	probe_begin(POOL(""));
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
	cnt_raw_send(&probe_client, 1, SYNC, &m);
	EXPECT("PARAMS/1 DONE/1 READY/1");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_EXECUTE;
	m.as.execute.statement = 5;
	cnt_raw_send(&probe_client, 2, SYNC, &m);
	assert_true(probe_is_readable(probe_server, 20000));
	probe_hang_up();
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), "08006");
	EXPECT("READY/2 END");
	cnt_raw_close(&probe_client);
	probe_accept_login(0);
	probe_attach();
	/* the loss also concerns a write in the same unit, which was not committed yet */
	QUERY(1, 0, "insert");
	probe_hear("insert\n");
	probe_say("x\n");
	EXPECT("COLUMNS/1 ROWS/1 DONE/1");
	lose_in(NULL, "select ask x", "08007");
}

/* ---- synchronisation points ---- */

static void
sync_is_called_at_every_point_and_only_there(void **state)
{
	probe_begin(POOL(""));
	assert_non_null(strstr(probe_ask(1, "seen"), "syncs=0 "));
	QUERY(2, 0, "seen");
	EXPECT("COLUMNS/2 ROWS/2");
	assert_non_null(strstr(probe_row_text(), "syncs=1 "));
	EXPECT("DONE/2");
	/* after an error, and for a request that was skipped */
	probe_send_code(3, 0, CNP_MSG_CATALOG);
	EXPECT("ERROR/3");
	assert_string_equal(FIELD('C'), "0A000");
	QUERY(4, SYNC, "seen");
	EXPECT("SKIPPED/4 READY/4");
	assert_non_null(strstr(probe_ask(5, "seen"), "syncs=2 "));
	probe_send_code(6, 0, CNP_MSG_SYNC);
	EXPECT("READY/6");
	assert_non_null(strstr(probe_ask(7, "seen"), "syncs=4 "));
}

static void
a_sync_that_fails_is_told_before_ready(void **state)
{
	probe_begin(POOL(""));
	QUERY(1, 0, "sync fail");
	EXPECT("DONE/1");
	probe_send_code(2, 0, CNP_MSG_SYNC);
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('C'), "40001");
	EXPECT("READY/2");
	assert_string_equal(probe_ask(3, "rows 1"), "0");
	/* the answer was sent, and cannot be taken back */
	QUERY(4, SYNC, "sync lose");
	EXPECT("DONE/4 READY/4 ERROR/0");
	assert_string_equal(FIELD('C'), "08007");
	EXPECT("END");
}

/* ---- copies ---- */

static void
send_copy(uint32_t request, const char *data)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };

	m.as.copy_data.data = cnp_str(data);
	cnt_raw_send(&probe_client, request, 0, &m);
}

static void
a_copy_goes_in_and_out(void **state)
{
	probe_begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	send_copy(1, "678");
	probe_send_code(1, 0, CNP_MSG_COPY_DONE);
	EXPECT("DONE/1");
	assert_string_equal(probe_client.msg.as.done.tag.p, "COPY 8");
	EXPECT("READY/1");
	QUERY(2, SYNC, "copyout 3 10");
	EXPECT("COPY_OUT/2 COPY_DATA/2 COPY_DATA/2 COPY_DATA/2 COPY_DONE/2 DONE/2 "
	       "READY/2");
	QUERY(3, SYNC, "copyout 2000 60000");
	EXPECT("COPY_OUT/3");
	for (int i = 0; i < 2000; i++)
		EXPECT("COPY_DATA/3");
	assert_int_equal(probe_client.msg.as.copy_data.data.n, 60000);
	EXPECT("COPY_DONE/3 DONE/3 READY/3");
}

static void
a_copy_is_given_up_by_either_side(void **state)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_FAIL };

	probe_begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	m.as.copy_fail.message = cnp_str("no more");
	cnt_raw_send(&probe_client, 1, 0, &m);
	probe_hear("aborted\n");
	EXPECT("ERROR/1");
	assert_string_equal(FIELD('C'), "57014");
	assert_non_null(strstr(FIELD('M'), "no more"));
	EXPECT("READY/1");
	/* the server has stopped reading: what the client still sends is dropped */
	QUERY(2, SYNC, "copyin");
	EXPECT("COPY_IN/2");
	send_copy(2, "12345");
	probe_say("that is wrong\n");
	EXPECT("ERROR/2");
	assert_string_equal(FIELD('M'), "that is wrong");
	EXPECT("READY/2");
	send_copy(2, "12345");
	probe_send_code(2, 0, CNP_MSG_COPY_DONE);
	assert_string_equal(probe_ask(3, "rows 1"), "0");
	/* a copy that is cancelled */
	QUERY(4, SYNC, "copyin");
	EXPECT("COPY_IN/4");
	cancel(4);
	probe_hear("aborted\n");
	EXPECT("ERROR/4");
	assert_string_equal(FIELD('C'), "57014");
	EXPECT("READY/4");
	probe_send_code(4, 0, CNP_MSG_COPY_DONE);
	assert_string_equal(probe_ask(5, "rows 1"), "0");
}

static void
a_client_that_goes_or_lies_in_a_copy_ends_it(void **state)
{
	probe_begin(POOL(""));
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	send_copy(1, "12345");
	cnt_raw_close(&probe_client);
	probe_hear("aborted\nreset\n");
	probe_say("done\n");
	probe_attach();
	QUERY(1, SYNC, "copyin");
	EXPECT("COPY_IN/1");
	assert_int_equal(send(probe_client.fd, "garbage, and much of it", 23, 0), 23);
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "08P01");
	EXPECT("END");
	probe_hear("aborted\nreset\n");
	probe_say("done\n");
	cnt_raw_close(&probe_client);
	probe_attach();
	assert_non_null(strstr(probe_ask(1, "seen"), "resets=2 "));
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

	probe_begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_QUERY;
	m.as.query.sql = cnp_str("exec");
	m.as.query.max_rows = 9;
	m.as.query.formats = (struct cnp_str){ formats, 3 };
	cnt_raw_send(&probe_client, 1, 0, &m);
	EXPECT("COLUMNS/1 ROWS/1");
	assert_string_equal(probe_row_text(), "sync=0 max=9 params=0 formats=021");
	EXPECT("DONE/1");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_PREPARE;
	m.as.prepare.statement = 1;
	m.as.prepare.sql = cnp_str("x");
	m.as.prepare.name = cnp_str("its name");
	m.as.prepare.types = (struct cnp_str){ (const char *)types, 8 };
	cnt_raw_send(&probe_client, 2, SYNC, &m);
	EXPECT("PARAMS/2");
	cnc_arena_init(&arena, &cnc_mem_default);
	assert_ok(cnp_params_decode(
		probe_client.payload, probe_client.frame.len, &arena, &params, &n));
	assert_int_equal(n, 2);
	assert_int_equal(params[0].native_type, 1);
	assert_int_equal(params[1].native_type, 0x4342);
	cnc_arena_finish(&arena);
	EXPECT("DONE/2");
	assert_string_equal(probe_client.msg.as.done.tag.p, "its name");
	EXPECT("READY/2");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_FUNCTION;
	m.as.function.function = 77;
	cnt_raw_send(&probe_client, 3, SYNC, &m);
	EXPECT("COLUMNS/3 ROWS/3");
	assert_string_equal(probe_row_text(), "function 77 of 0");
	EXPECT("DONE/3 READY/3");
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_LONG_DATA;
	m.as.long_data.statement = 1;
	m.as.long_data.data = cnp_str("12345");
	cnt_raw_send(&probe_client, 4, SYNC, &m);
	EXPECT("DONE/4 READY/4");
	cnt_raw_send(&probe_client, 0, 0, &m);
	m.as.long_data.param = 9;
	cnt_raw_send(&probe_client, 0, 0, &m);
	EXPECT("ERROR/0");
	assert_string_equal(FIELD('C'), "07009");
	assert_non_null(strstr(probe_ask(5, "seen"), "long=10 "));
}

static void
a_user_is_changed_and_changed_back(void **state)
{
	struct cnp_msg m;

	probe_begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_CHANGE_USER;
	m.as.change_user.user = cnp_str("other");
	m.as.change_user.password = cnp_str("wrong");
	cnt_raw_send(&probe_client, 1, SYNC, &m);
	EXPECT("ERROR/1");
	assert_string_equal(FIELD('C'), "28P01");
	EXPECT("READY/1");
	m.as.change_user.password = cnp_str("right");
	cnt_raw_send(&probe_client, 2, SYNC, &m);
	EXPECT("DONE/2 READY/2");
	assert_non_null(strstr(probe_ask(3, "seen"), "user=other"));
	probe_leave();
	wp_await("main", "idle", 1);
	probe_attach();
	assert_non_null(strstr(probe_ask(1, "seen"), "user=pool"));
	probe_leave();
	wp_await("main", "idle", 1);
	attach_and_see_parameter("first");
}

static void
options_are_set_with_attach_and_later(void **state)
{
	struct cnc_buf options;
	struct cnp_msg m;

	probe_start(POOL(""));
	probe_accept_login(0);
	cnc_buf_init(&options, &cnc_mem_default, 4096);
	assert_ok(cnp_pairs_put(&options, "unknown", "1"));
	assert_ok(cnp_pairs_put(&options, "known", "1"));
	assert_int_equal(
		cnt_raw_open(&probe_client, wp_daemon.run_dir, "main", &options), 0);
	assert_non_null(strstr(probe_ask(1, "seen"), "options=1 "));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_SET_OPTION;
	m.as.set_option.name = cnp_str("known");
	cnt_raw_send(&probe_client, 2, SYNC, &m);
	EXPECT("DONE/2 READY/2");
	m.as.set_option.name = cnp_str("unknown");
	cnt_raw_send(&probe_client, 3, SYNC, &m);
	EXPECT("ERROR/3");
	assert_string_equal(FIELD('C'), "22023");
	assert_non_null(strstr(FIELD('M'), "\"unknown\""));
	EXPECT("READY/3");
	assert_non_null(strstr(probe_ask(4, "seen"), "options=2 "));
	probe_leave();
	assert_ok(cnp_pairs_put(&options, "known", "refused"));
	assert_int_equal(
		cnt_raw_open(&probe_client, wp_daemon.run_dir, "main", &options), -1);
	assert_string_equal(FIELD('C'), "42501");
	cnc_buf_finish(&options);
}

static void
refuse(uint32_t request, const struct cnp_msg *m, const char *sqlstate, const char *what)
{
	char list[64];

	cnt_raw_send(&probe_client, request, SYNC, m);
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

	probe_begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_SELECT_DATABASE;
	m.as.select_database.database = cnp_str("other");
	refuse(1, &m, "0A000", "change of database");
	cnt_raw_close(&probe_client);
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
	probe_attach();
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

	probe_begin(POOL(""));
	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_QUERY;
	m.as.query.sql = cnp_str("exec");
	m.as.query.formats = (struct cnp_str){ formats, 2 };
	refuse(1, &m, "08P01", "unknown format");
	cnt_raw_close(&probe_client);
	probe_hear("reset\n");
	probe_say("done\n");
	probe_attach();
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
	probe_start(POOL_AT(" version=12.1", ""));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	wp_await_log("probe: " UNTESTED "12.1 of the server");
	probe_hang_up();
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	probe_attach();
	assert_string_equal(probe_ask(1, "seen"),
		"syncs=0 settles=0 resets=0 options=0 long=0 "
		"user=pool");
	assert_int_equal(count_in_log(UNTESTED), 1);
}

static void
a_version_that_is_tested_is_not_told(void **state)
{
	probe_start(POOL_AT(" version=3.4.11-extra", ""));
	probe_accept_login(0);
	probe_attach();
	assert_string_equal(probe_ask(1, "seen"),
		"syncs=0 settles=0 resets=0 options=0 long=0 "
		"user=pool");
	assert_int_equal(count_in_log(UNTESTED), 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_teardown(f, probe_teardown)
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
