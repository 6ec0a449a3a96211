/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests with a connection of their own beside a session: cancel, resume and status, by TCP and
 * through TLS. */
#include "with_tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/frame.h"

#define ENDLESS                                                                          \
	"with recursive c(x) as (select 1 union all select x + 1 from c) select "        \
	"count(*) from c"
#define USERS_POOL "auth = scram-sha-256\n"

static cenote_conn *
attached(int port)
{
	cenote_conn *conn = wt_joe(port, "secret", "verify-full");

	if (cenote_connect(conn) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	return conn;
}

/* ---- cancel ---- */

/* Check that a cancel ends the endless statement. */
static void
assert_cancels(cenote_conn *conn)
{
	cenote_cancel *cancel;
	cenote_result *res;
	int r;

	assert_ok(cenote_send_query(conn, ENDLESS, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_flush(conn));
	assert_ok(cenote_cancel_create(conn, &cancel));
	r = cenote_cancel_send(cancel);
	if (r != CENOTE_OK)
		fail_msg("%s: %s", cenote_status_name(r),
			cenote_diag_message(cenote_cancel_diag(cancel)));
	cenote_cancel_destroy(cancel);
	assert_ok(cenote_get_result(conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	cenote_result_destroy(res);
	assert_int_equal(cenote_get_result(conn, &res), CENOTE_DONE);
	assert_string_equal(wp_value(conn, "select 1"), "1");
}

static void
a_cancel_goes_through_tls_while_all_are_busy(void **state)
{
	int port = wt_start_with_users(USERS_POOL);
	cenote_conn *a = attached(port), *b = attached(port);

	assert_cancels(a);
	assert_cancels(b);
	/* a helper logged this, so the key of the session was not sent in the clear */
	wp_await_log("helper main: debug: client at 127.0.0.1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_cancel_shows_the_clients_certificate(void **state)
{
	int port = wt_start_with_users("auth = cert\n" WT_CLIENTS);
	cenote_conn *conn = wt_joe(port, NULL, "verify-full");

	wt_set(conn, "cert", wt_file("client.crt"));
	wt_set(conn, "key", wt_file("client.key"));
	wt_set(conn, "user", "cert");
	assert_ok(cenote_connect(conn));
	assert_cancels(conn);
	cenote_conn_destroy(conn);
}

/* Connect from 127.0.0.HOST, send an opening that wants TLS, and then nothing. Returns the
 * socket. */
static int
keep_silent(unsigned host, int port, uint8_t kind)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host) };
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct cnp_opening o = { .version_min = 1,
		.version_max = 1,
		.kind = kind,
		.tls = CNP_TLS_REQUIRE,
		.pool = "main" };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct cnc_buf b;

	cnc_buf_init(&b, &cnc_mem_default, 512);
	assert_ok(cnp_opening_encode(&b, &o));
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, cnc_buf_head(&b), cnc_buf_len(&b), MSG_NOSIGNAL),
		(ssize_t)cnc_buf_len(&b));
	cnc_buf_finish(&b);
	return fd;
}

static void
who_says_nothing_keeps_nobody_from_cancelling(void **state)
{
	int port = wt_start_with_users(USERS_POOL "auth_timeout = 10s\n");
	cenote_conn *conn = attached(port);
	size_t n_before, n_after = 0;
	int silent[40];
	pid_t pids[64];
	int64_t begun;

	n_before = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));
	for (size_t i = 0; i < CNT_COUNT(silent); i++)
		silent[i] =
			keep_silent(2, port, i % 2 ? CNP_OPEN_CANCEL : CNP_OPEN_STATUS);
	for (int i = 0; i < 500 && n_after <= n_before; i++) {
		wp_pause_ms(10);
		n_after = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));
	}
	/* the number of helpers is bounded, and half of them is left to others */
	assert_true(n_after > n_before && n_after <= n_before + 8);
	begun = wp_now_ms();
	assert_cancels(conn);
	assert_true(wp_now_ms() - begun < 9000);
	for (size_t i = 0; i < CNT_COUNT(silent); i++)
		close(silent[i]);
	for (int i = 0; i < 2000 && n_after > n_before; i++) {
		wp_pause_ms(10);
		n_after = cnt_daemon_children(&wp_daemon, pids, CNT_COUNT(pids));
	}
	assert_true(n_after <= n_before);
	cenote_conn_destroy(conn);
}

/* The code of the first frame that comes. */
static int
first_answer(int fd)
{
	uint8_t header[CNP_FRAME_HEADER];

	assert_int_equal(
		recv(fd, header, sizeof(header), MSG_WAITALL), (ssize_t)sizeof(header));
	return header[4];
}

/* Ask for a helper, and go when the helper has sent HELLO. */
static void
ask_in_vain(unsigned host, int port)
{
	int fd = keep_silent(host, port, CNP_OPEN_CANCEL);

	assert_int_equal(first_answer(fd), CNP_MSG_HELLO);
	close(fd);
}

static void
who_asks_in_vain_waits_longer_each_time(void **state)
{
	static const char *const delays[] = { "250ms", "500ms", "1s", "2s" };
	int port = wt_start_with_users(USERS_POOL);
	cenote_conn *conn = attached(port);
	char text[64];
	int64_t begun;

	for (size_t i = 0; i < CNT_COUNT(delays); i++) {
		begun = wp_now_ms();
		ask_in_vain(2, port);
		snprintf(text, sizeof(text), "status query failed; the next one waits %s",
			delays[i]);
		wp_await_log(text);
	}
	ask_in_vain(2, port);
	assert_true(wp_now_ms() - begun >= 2000 - WP_CLOCK_MS);
	/* a client that cancels its own request does not wait longer, and neither does a client
	 * that fails for the first time */
	for (int i = 0; i < 4; i++)
		assert_cancels(conn);
	ask_in_vain(3, port);
	for (int i = 0; i < 2000 && !wp_log_has_line("127.0.0.3:", "in vain"); i++)
		wp_pause_ms(10);
	assert_false(wp_log_has_line("127.0.0.1:", "in vain"));
	assert_true(wp_log_has_line("127.0.0.3:", "the next one waits 250ms"));
	cenote_conn_destroy(conn);
}

/* 1,024 clients may wait for a helper, and half of them may come from one address. */
static void
who_asks_for_many_at_once_is_refused(void **state)
{
	static const char text[] = "512 clients from 127.0.0.2/32 wait for an answer";
	static int fds[530];
	int port = wt_start_with_users(USERS_POOL);
	cenote_conn *conn = attached(port);
	char answer[512] = "";

	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		fds[i] = keep_silent(2, port, CNP_OPEN_CANCEL);
	assert_int_equal(first_answer(fds[CNT_COUNT(fds) - 1]), CNP_MSG_ERROR);
	assert_true(recv(fds[CNT_COUNT(fds) - 1], answer, sizeof(answer), 0) > 0);
	assert_non_null(memmem(answer, sizeof(answer), text, strlen(text)));
	assert_cancels(conn);
	for (size_t i = 0; i < CNT_COUNT(fds); i++)
		close(fds[i]);
	cenote_conn_destroy(conn);
}

/* ---- resume ---- */

static int
resume(int port, const char *token, cenote_conn **ret_conn)
{
	cenote_result *res;

	*ret_conn = wt_joe(port, "secret", "verify-full");
	return cenote_resume(*ret_conn, token, &res);
}

static void
assert_not_resumed(int port, const char *token)
{
	cenote_conn *conn;

	assert_int_equal(resume(port, token, &conn), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(conn), "28000");
	cenote_conn_destroy(conn);
}

static void
a_session_is_resumed_through_tls(void **state)
{
	int port = wt_start_with_users(USERS_POOL "suspend_timeout = 60s\n");
	cenote_conn *conn = attached(port);
	char token[CENOTE_TOKEN_SIZE], wrong[CENOTE_TOKEN_SIZE];

	wp_exec(conn, "create temp table kept as select 4711 as n");
	assert_ok(cenote_suspend(conn, NULL, 0, token));
	cenote_conn_destroy(conn);
	/* another key or number does not work, and the session stays for the client that has them */
	memcpy(wrong, token, sizeof(wrong));
	wrong[25] = wrong[25] == '0' ? '1' : '0';
	assert_not_resumed(port, wrong);
	memcpy(wrong, token, sizeof(wrong));
	wrong[5] = wrong[5] == '0' ? '1' : '0';
	assert_not_resumed(port, wrong);
	if (resume(port, token, &conn) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	assert_string_equal(wp_value(conn, "select n from kept"), "4711");
	assert_non_null(cenote_tls_info(conn, CENOTE_HOP_POOL, "version"));
	assert_cancels(conn);
	assert_not_resumed(port, token);
	cenote_conn_destroy(conn);
}

static void
a_session_is_resumed_through_tls_on_a_unix_socket(void **state)
{
	cenote_conn *conn, *other;
	cenote_result *res;
	char token[CENOTE_TOKEN_SIZE];

	wt_start(WP_POOL(WT_POOL("suspend_timeout = 60s\n")), "server.crt");
	for (int busy = 0; busy < 2; busy++) {
		conn = wp_attach(NULL);
		wp_exec(conn, "create temp table kept as select 4711 as n");
		assert_ok(cenote_suspend(conn, NULL, 0, token));
		/* an idle worker passes the client on, or the door does */
		other = busy ? wp_attach(NULL) : NULL;
		wt_set(conn, "tls", "require");
		if (cenote_resume(conn, token, &res) != CENOTE_OK)
			fail_msg("%s", wp_message(conn));
		assert_string_equal(wp_value(conn, "select n from kept"), "4711");
		assert_non_null(cenote_tls_info(conn, CENOTE_HOP_POOL, "version"));
		assert_cancels(conn);
		cenote_conn_destroy(other);
		cenote_conn_destroy(conn);
	}
}

/* ---- status ---- */

static const char *
value_of(const cenote_result *res, uint64_t row, const char *column)
{
	for (uint32_t i = 0; i < cenote_result_n_columns(res); i++) {
		if (strcmp(cenote_column_text(
				   cenote_result_column(res, i), CENOTE_COLUMN_NAME),
			    column) == 0)
			return cenote_result_text(res, row, i, NULL);
	}
	fail_msg("there is no column %s", column);
	return NULL;
}

static void
the_status_is_told_by_tcp_to_who_logs_in(void **state)
{
	int port = wt_start_with_users(USERS_POOL
		"\n[pool other]\nbackend = sqlite\nserver = path=@DIR@/main.db\n");
	cenote_conn *busy[2] = { attached(port), attached(port) };
	cenote_conn *conn = wt_joe(port, "secret", "verify-full");
	cenote_result *res;
	int64_t begun;

	if (cenote_status(conn, "pools", &res) != CENOTE_OK)
		fail_msg("%s", wp_message(conn));
	assert_int_equal(cenote_result_n_rows(res), 1);
	assert_string_equal(value_of(res, 0, "pool"), "main");
	assert_string_equal(value_of(res, 0, "in_use"), "2");
	cenote_result_destroy(res);
	/* a user who may log in cannot always see who the clients are */
	assert_ok(cenote_status(conn, "workers", &res));
	assert_int_equal(cenote_result_n_rows(res), 2);
	assert_string_equal(value_of(res, 0, "user"), "");
	assert_string_equal(value_of(res, 0, "tls"), "");
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	/* nobody can try passwords faster with the status: a refusal takes as long as for an attach */
	conn = wt_joe(port, "wrong", "verify-full");
	begun = wp_now_ms();
	assert_int_equal(cenote_status(conn, "pools", &res), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(conn), "28P01");
	assert_true(wp_now_ms() - begun >= 250 - WP_CLOCK_MS);
	cenote_conn_destroy(conn);
	/* the status needs TLS if an attach needs it */
	conn = wt_joe(port, "secret", "disable");
	if (cenote_status(conn, "pools", &res) != CENOTE_ERR_AUTH)
		fail_msg("%s", wp_message(conn));
	assert_string_equal(wp_sqlstate(conn), "28000");
	cenote_conn_destroy(conn);
	for (size_t i = 0; i < CNT_COUNT(busy); i++)
		cenote_conn_destroy(busy[i]);
}

static void
the_status_comes_through_tls_on_a_unix_socket(void **state)
{
	cenote_conn *busy[2];
	cenote_result *res;
	cenote_conn *conn;

	wt_start(WP_POOL(WT_POOL("")), "server.crt");
	for (size_t i = 0; i < CNT_COUNT(busy); i++) {
		/* an idle worker answers first, then a helper */
		busy[i] = wp_attach(NULL);
		conn = wp_handle(NULL);
		wt_set(conn, "tls", "require");
		assert_ok(cenote_status(conn, "workers", &res));
		assert_int_equal(cenote_result_n_rows(res), 2);
		cenote_result_destroy(res);
		cenote_conn_destroy(conn);
	}
	for (size_t i = 0; i < CNT_COUNT(busy); i++)
		cenote_conn_destroy(busy[i]);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_cancel_goes_through_tls_while_all_are_busy),
		TEST(a_cancel_shows_the_clients_certificate),
		TEST(who_says_nothing_keeps_nobody_from_cancelling),
		TEST(who_asks_in_vain_waits_longer_each_time),
		TEST(who_asks_for_many_at_once_is_refused),
		TEST(a_session_is_resumed_through_tls),
		TEST(a_session_is_resumed_through_tls_on_a_unix_socket),
		TEST(the_status_is_told_by_tcp_to_who_logs_in),
		TEST(the_status_comes_through_tls_on_a_unix_socket),
	};

	return cmocka_run_group_tests_name(
		"tls_calls", tests, wt_make_certs, wt_remove_certs);
}
