/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_pool.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cnt_server.h"

/* How a `server` line can log in to a PostgreSQL server, and the errors when it cannot. */

static struct cnt_server server;

static int
group_setup(void **state)
{
	return cnt_server_start(&server, CNT_POSTGRESQL, CNT_SERVER_TCP);
}

static int
group_teardown(void **state)
{
	cnt_server_stop(&server);
	return 0;
}

/* Start a pool on this server line. */
static void
start(const char *line, int sessions)
{
	char config[4096];

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "[pool main]\nbackend = postgresql\nserver = %s\n"
				  "sessions = %d\n",
		line, sessions);
	wp_start(config);
}

static cenote_conn *
attach_by(const char *line)
{
	start(line, 1);
	return wp_attach(NULL);
}

static const char whoami[] =
	"select session_user || ' ' || coalesce(ssl::text, '') || ' ' ||"
	" (inet_client_addr() is not null)::text from pg_stat_ssl where pid = "
	"pg_backend_pid()";

static void
a_password_is_given_by_scram(void **state)
{
	char line[1024];
	cenote_conn *conn;

	snprintf(line, sizeof(line), "host=%s port=%d dbname=app user=locked passfile=%s",
		server.run_dir, server.port, server.passfile);
	conn = attach_by(line);
	assert_string_equal(wp_value(conn, whoami), "locked false false");
	assert_string_equal(cenote_info(conn, "database"), "app");
	cenote_conn_destroy(conn);
}

static void
tls_is_used_where_the_line_says_so(void **state)
{
	cenote_conn *conn = attach_by(server.tls_line);

	assert_string_equal(wp_value(conn, whoami), "app true true");
	cenote_conn_destroy(conn);
}

static void
a_server_that_wants_tls_gets_it(void **state)
{
	char line[1024];
	cenote_conn *conn;

	snprintf(line, sizeof(line),
		"host=127.0.0.1 port=%d dbname=app user=tls passfile=%s "
		"sslmode=verify-ca "
		"sslrootcert=%s channel_binding=require",
		server.port, server.passfile, server.ca);
	conn = attach_by(line);
	assert_string_equal(wp_value(conn, whoami), "tls true true");
	cenote_conn_destroy(conn);
}

static void
a_client_certificate_is_shown(void **state)
{
	char line[1024];
	cenote_conn *conn;

	snprintf(line, sizeof(line),
		"host=127.0.0.1 port=%d dbname=app user=cert sslmode=verify-ca "
		"sslrootcert=%s sslcert=%s/client.crt sslkey=%s/client.key",
		server.port, server.ca, server.certs, server.certs);
	conn = attach_by(line);
	assert_string_equal(wp_value(conn, whoami), "cert true true");
	cenote_conn_destroy(conn);
}

static void
on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	(void)pid;
	(void)payload;
	assert_string_equal(channel, "water");
	++*(int *)user;
}

static void
wait_readable(cenote_conn *conn)
{
	while (cenote_is_busy(conn)) {
		struct pollfd fd = { .fd = cenote_fd(conn), .events = POLLIN };

		assert_true(poll(&fd, 1, 20000) > 0);
		assert_true(cenote_process(conn) >= 0);
	}
}

/* Through TLS, bytes arrive in other portions, and some wait where poll(2) does not see them. */
static void
everything_works_through_tls(void **state)
{
	cenote_conn *conn = attach_by(server.tls_line);
	cenote_result *res;
	cenote_cancel *cancel;
	char *bytes = calloc(1, 3000001);
	int n_heard = 0;
	const char *data;
	size_t len, total = 0;

	assert_non_null(bytes);
	/* large results, and many small ones */
	assert_ok(cenote_query(conn,
		"select repeat('x', 20000000), i from generate_series(1, 3) i",
		CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_n_rows(res), 3);
	assert_non_null(cenote_result_text(res, 2, 0, &len));
	assert_int_equal(len, 20000000);
	cenote_result_destroy(res);
	for (int i = 0; i < 500; i++)
		assert_string_equal(wp_value(conn, "select 'small'"), "small");
	/* large parameters, while rows come back */
	memset(bytes, 'y', 3000000);
	for (int i = 0; i < 4; i++) {
		cenote_params *params;

		assert_ok(cenote_params_create(NULL, &params));
		assert_ok(cenote_params_add_text(params, bytes, 3000000));
		assert_ok(cenote_query(conn, "select $1::text from generate_series(1, 3)",
			CENOTE_NTS, params, NULL, &res));
		assert_string_equal(cenote_result_text(res, 2, 0, NULL), bytes);
		cenote_result_destroy(res);
		cenote_params_destroy(params);
	}
	free(bytes);
	/* copies */
	assert_ok(cenote_query(conn,
		"copy (select repeat('z', 999) from "
		"generate_series(1, 10000)) to stdout",
		CENOTE_NTS, NULL, NULL, &res));
	while (cenote_copy_get(conn, &data, &len) == CENOTE_OK)
		total += len;
	assert_int_equal(total, 10000000);
	cenote_result_destroy(res);
	while (cenote_get_result(conn, &res) == CENOTE_OK)
		cenote_result_destroy(res);
	/* messages that arrive while the session is idle */
	cenote_set_notification_handler(conn, on_notification, &n_heard);
	wp_exec(conn, "listen water");
	assert_int_equal(cnt_server_sql(&server, "notify water"), 0);
	while (n_heard == 0)
		assert_ok(cenote_wait(conn, 10000));
	/* a cancel, for which the worker makes a connection of its own */
	assert_ok(cenote_set_nonblocking(conn, 1));
	assert_ok(cenote_send_query(conn, "select pg_sleep(60)", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_process(conn));
	assert_ok(cenote_cancel_create(conn, &cancel));
	wp_pause_ms(100);
	assert_ok(cenote_cancel_send(cancel));
	wait_readable(conn);
	assert_ok(cenote_get_result(conn, &res));
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	cenote_result_destroy(res);
	cenote_cancel_destroy(cancel);
	cenote_conn_destroy(conn);
}

/* ---- What is refused ---- */

/* Check that both the client and the log get the reason. */
static void
expect_refusal(const char *line, const char *what, const char *reason)
{
	char start_of[64];
	cenote_conn *conn;

	start(line, 1);
	wp_await("main", "failing", 1);
	assert_int_equal(wp_try(NULL, &conn), CENOTE_ERR_CONN);
	snprintf(start_of, sizeof(start_of), "pool main: %s: ", what);
	assert_ptr_equal(strstr(wp_message(conn), start_of), wp_message(conn));
	if (!wp_log_has(reason))
		cnt_daemon_show_log(&wp_daemon);
	assert_true(wp_log_has(reason));
	assert_false(wp_log_has(CNT_SERVER_PASSWORD));
	cenote_conn_destroy(conn);
}

static void
a_wrong_password_is_refused(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"host=%s port=%d dbname=app user=locked password=wrong-one",
		server.run_dir, server.port);
	expect_refusal(line, "its server refused the login",
		"password authentication failed for user \"locked\"");
	assert_false(wp_log_has("wrong-one"));
}

static void
a_certificate_of_somebody_else_is_refused(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"host=localhost hostaddr=127.0.0.1 port=%d dbname=app user=app "
		"passfile=%s "
		"sslmode=verify-full sslrootcert=%s/other-ca.crt",
		server.port, server.passfile, server.certs);
	expect_refusal(line, "its server cannot be reached", "certificate verify failed");
}

static void
a_certificate_with_another_name_is_refused(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"host=elsewhere.example hostaddr=127.0.0.1 port=%d dbname=app user=app "
		"passfile=%s sslmode=verify-full sslrootcert=%s",
		server.port, server.passfile, server.ca);
	expect_refusal(line, "its server cannot be reached",
		"does not match host name \"elsewhere.example\"");
}

static void
tls_that_the_server_does_not_want_to_do_without_is_refused(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"host=127.0.0.1 port=%d dbname=app user=tls passfile=%s sslmode=disable",
		server.port, server.passfile);
	expect_refusal(line, "its server refused the login", "no encryption");
}

static void
a_database_that_does_not_exist_is_refused(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line), "host=%s port=%d dbname=nope user=app",
		server.run_dir, server.port);
	expect_refusal(line, "the login to its server failed",
		"database \"nope\" does not exist");
}

static void
a_server_that_is_not_there_is_named(void **state)
{
	char line[1024];

	snprintf(line, sizeof(line), "host=%s/none port=%d dbname=app user=app",
		server.run_dir, server.port);
	expect_refusal(line, "its server cannot be reached",
		"Is the server running locally and accepting connections");
}

/* A new login has the settings of its role. So has a session that waits, from the commit on. */
static void
what_a_role_begins_with_is_every_next_clients(void **state)
{
	cenote_conn *conn, *other;

	start(server.server_line, 2);
	conn = wp_attach(NULL);
	other = wp_attach(NULL);
	assert_string_equal(wp_value(other, "show work_mem"), "4MB");
	cenote_conn_destroy(other);
	wp_exec(conn, "begin");
	wp_exec(conn, "alter role app set work_mem = '5MB'");
	other = wp_attach(NULL);
	assert_string_equal(wp_value(other, "show work_mem"), "4MB");
	cenote_conn_destroy(other);
	wp_exec(conn, "commit");
	other = wp_attach(NULL);
	assert_string_equal(wp_value(other, "show work_mem"), "5MB");
	cenote_conn_destroy(other);
	wp_exec(conn, "alter role app reset all");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "show work_mem"), "4MB");
	cenote_conn_destroy(conn);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_password_is_given_by_scram),
		TEST(tls_is_used_where_the_line_says_so),
		TEST(a_server_that_wants_tls_gets_it),
		TEST(a_client_certificate_is_shown),
		TEST(everything_works_through_tls),
		TEST(a_wrong_password_is_refused),
		TEST(a_certificate_of_somebody_else_is_refused),
		TEST(a_certificate_with_another_name_is_refused),
		TEST(tls_that_the_server_does_not_want_to_do_without_is_refused),
		TEST(a_database_that_does_not_exist_is_refused),
		TEST(a_server_that_is_not_there_is_named),
		TEST(what_a_role_begins_with_is_every_next_clients),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
