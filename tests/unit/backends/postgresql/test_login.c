/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a server line, and logins that succeed or fail over TCP. It needs
 * PostgreSQL.
 */
#include "support/cnt_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int
start(void **state)
{
	(void)signal(SIGPIPE, SIG_IGN);
	return cnt_server_start(&pg_server, CNT_POSTGRESQL, CNT_SERVER_TCP);
}

/* Set the options of a login over TCP as `user`; the test may add others. */
static void
over_tcp(struct pg *t, const char *user, const char *sslmode)
{
	pg_setup(t);
	pg_option(t, "host", "localhost");
	pg_option(t, "user", user);
	pg_option(t, "password", CNT_SERVER_PASSWORD);
	pg_option(t, "sslmode", sslmode);
	pg_option(t, "sslrootcert", pg_server.ca);
}

static void
a_server_line_is_checked(void **state)
{
	static const struct {
		const char *key, *value;
		/* part of the error message; NULL: the option is valid */
		const char *message;
	} cases[] = {
		{ "host", "x", NULL },
		{ "target_session_attrs", "read-write", NULL },
		{ "hots", "x", "did you mean host?" },
		{ "databse", "x", "unknown key \"databse\"" },
		{ "passwd", "x", "did you mean password?" },
		{ "max_client_conn", "x",
			"unknown key \"max_client_conn\" for PostgreSQL; libpq's" },
		{ "replication", "database", "cannot be pooled" },
		{ "gssencmode", "disable", NULL },
		{ "gssencmode", "prefer", "use gssencmode=disable" },
		{ "", "x", "unknown key" },
	};
	struct pg t;

	pg_setup(&t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cnd_option o = { cases[i].key, cases[i].value };
		const struct cnd_server_spec spec = { &o, 1 };
		int r = t.base.b->check(&spec, &t.base.diag);

		assert_int_equal(
			r, cases[i].message == NULL ? CENOTE_OK : CENOTE_ERR_ARG);
		if (cases[i].message != NULL &&
			strstr(t.base.diag.message, cases[i].message) == NULL)
			fail_msg("%s: %s", cases[i].key, t.base.diag.message);
	}
	pg_teardown(&t);
}

static void
the_servers_own_words_say_why_a_login_failed(void **state)
{
	struct pg t;

	pg_setup(&t);
	pg_option(&t, "user", "nobody_of_that_name");
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	assert_non_null(strstr(t.base.diag.message, "nobody_of_that_name"));
	assert_non_null(strstr(t.base.diag.message, pg_server.run_dir));
	assert_string_equal(t.base.diag.sqlstate, "28000");
	pg_teardown(&t);
	pg_setup(&t);
	pg_option(&t, "user", "locked");
	pg_option(&t, "password", "wrong");
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	assert_non_null(strstr(
		t.base.diag.message, "FATAL:  password authentication failed for user"));
	assert_null(strstr(t.base.diag.message, "LOCATION"));
	assert_null(strstr(t.base.diag.message, "wrong"));
	assert_string_equal(t.base.diag.sqlstate, "28P01");
	pg_teardown(&t);
	pg_setup(&t);
	pg_option(&t, "port", "1");
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	assert_string_equal(t.base.diag.sqlstate, "08001");
	pg_teardown(&t);
}

static void
a_login_is_told_about(void **state)
{
	struct cnd_info info;
	size_t found = 0;
	struct pg t;

	pg_setup(&t);
	assert_ok(pg_login(&t));
	t.base.b->info(t.base.s, &info);
	assert_string_equal(info.database, "app");
	assert_non_null(strstr(info.server, pg_server.run_dir));
	for (size_t i = 0; i < info.n_parameters; i++) {
		found += strcmp(info.parameters[i].key, "backend_pid") == 0;
		found += strcmp(info.parameters[i].key, "client_encoding") == 0 &&
			 strcmp(info.parameters[i].value, "UTF8") == 0;
		found += strcmp(info.parameters[i].key, "server_version") == 0 &&
			 strcmp(info.parameters[i].value, info.server_version) == 0;
	}
	assert_int_equal(found, 3);
	pg_teardown(&t);
}

static void
tls_carries_what_a_plain_socket_does(void **state)
{
	static const char *const pieces[] = { "1\n", "2\n", NULL };
	size_t n = 3u << 20;
	struct cnc_value v = { .type = CENOTE_TYPE_TEXT, .len = n };
	char *text = malloc(n + 1);
	struct pg t;

	assert_non_null(text);
	memset(text, 't', n);
	text[n] = 0;
	v.bytes = text;
	over_tcp(&t, "tls", "verify-full");
	if (pg_login(&t) < 0)
		fail_msg("%s", t.base.diag.message);
	assert_answer(&t, "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
		"columns ssl:BOOL\nrow t\ndone SELECT 1\n");
	t.base.count_only = 1;
	assert_string_equal(pg_query_with(&t, "select $1::text as v", &v, 1),
		"columns v:TEXT\ndone SELECT 1\n");
	(void)pg_query(&t, "select i, repeat('x', 100) from generate_series(1, 50000) i");
	assert_int_equal(t.base.seen.n_rows, 50000);
	t.base.count_only = 0;
	(void)pg_query(&t, "create temp table c (a int)");
	t.pieces = pieces;
	assert_answer(
		&t, "copy c from stdin", "copy-in text 1\ndone COPY 2 affected=2\n");
	t.interrupt_at = 2;
	t.interrupt_with = CENOTE_ERR_SERVER;
	assert_non_null(strstr(pg_query(&t, "select pg_sleep(60)"), "error 57014"));
	t.interrupt_at = 0;
	(void)pg_query(&t, "listen ch");
	assert_int_equal(cnt_server_sql(&pg_server, "notify ch, 'tls'"), 0);
	assert_string_equal(pg_idle(&t), "notification ch tls\n");
	assert_string_equal(pg_reset(&t), "");
	pg_teardown(&t);
	free(text);
}

static void
the_certificate_is_checked(void **state)
{
	char other[CNT_SERVER_PATH_MAX + 16];
	struct pg t;

	snprintf(other, sizeof(other), "%s/other-ca.crt", pg_server.certs);
	over_tcp(&t, "tls", "verify-full");
	pg_option(&t, "sslrootcert", other);
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	assert_non_null(strstr(t.base.diag.message, "certificate verify failed"));
	pg_teardown(&t);
	over_tcp(&t, "tls", "disable");
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	pg_teardown(&t);
}

static void
scram_lets_in(void **state)
{
	struct pg t;

	over_tcp(&t, "locked", "prefer");
	if (pg_login(&t) < 0)
		fail_msg("%s", t.base.diag.message);
	assert_answer(&t, "select current_user as u",
		"columns u:TEXT\nrow locked\ndone SELECT 1\n");
	pg_teardown(&t);
}

static void
several_hosts_are_tried(void **state)
{
	char hosts[2 * CNT_SERVER_PATH_MAX];
	char ports[32];
	struct pg t;

	pg_setup(&t);
	snprintf(hosts, sizeof(hosts), "/nowhere/at/all,%s", pg_server.run_dir);
	snprintf(ports, sizeof(ports), "1,%d", pg_server.port);
	pg_option(&t, "host", hosts);
	pg_option(&t, "port", ports);
	pg_option(&t, "target_session_attrs", "read-write");
	assert_ok(pg_login(&t));
	assert_answer(&t, "select 1 as a", "columns a:INT64\nrow 1\ndone SELECT 1\n");
	pg_teardown(&t);
}

static void
a_session_that_is_ended_says_why(void **state)
{
	struct pg t;

	/* the session ends while it is idle */
	pg_setup(&t);
	assert_ok(pg_login(&t));
	assert_int_equal(cnt_server_sql(&pg_server,
				 "select pg_terminate_backend(pid) from pg_stat_activity"
				 " where usename = 'app'"),
		0);
	assert_string_equal(pg_idle(&t), "error CONN terminating connection due to "
					 "administrator command\n");
	assert_string_equal(t.base.diag.sqlstate, "57P01");
	assert_non_null(strstr(pg_query(&t, "select 1"), "error CONN terminating"));
	pg_teardown(&t);
	/* a statement ends its own session */
	pg_setup(&t);
	assert_ok(pg_login(&t));
	assert_non_null(
		strstr(pg_query(&t, "select pg_terminate_backend(pg_backend_pid())"),
			"error CONN terminating connection"));
	pg_teardown(&t);
	/* the backend notices the end at the next statement */
	pg_setup(&t);
	assert_ok(pg_login(&t));
	assert_int_equal(cnt_server_sql(&pg_server,
				 "select pg_terminate_backend(pid) from pg_stat_activity"
				 " where usename = 'app'"),
		0);
	(void)pg_query(&t, "select 1");
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	assert_string_equal(pg_state(&t), "unknown pins=0");
	assert_int_equal(t.base.b->reset(t.base.s, &t.base.diag), CENOTE_ERR_CONN);
	assert_int_equal(t.base.b->ping(t.base.s, &t.base.diag), CENOTE_ERR_CONN);
	pg_teardown(&t);
}

static void
a_server_that_dies_or_hangs(void **state)
{
	struct pg t;

	pg_setup(&t);
	assert_ok(pg_login(&t));
	cnt_server_kill(&pg_server);
	(void)pg_query(&t, "select 1");
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	pg_teardown(&t);
	pg_setup(&t);
	assert_int_equal(pg_login(&t), CENOTE_ERR_CONN);
	pg_teardown(&t);
	assert_int_equal(cnt_server_run(&pg_server), 0);
	pg_setup(&t);
	assert_ok(pg_login(&t));
	cnt_server_signal(&pg_server, SIGSTOP);
	t.interrupt_at = 2;
	t.interrupt_with = CENOTE_ERR_CONN;
	(void)pg_query(&t, "select 1");
	assert_int_equal(t.base.last, CENOTE_ERR_CONN);
	cnt_server_signal(&pg_server, SIGCONT);
	pg_teardown(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_line_is_checked),
		cmocka_unit_test(the_servers_own_words_say_why_a_login_failed),
		cmocka_unit_test(a_login_is_told_about),
		cmocka_unit_test(tls_carries_what_a_plain_socket_does),
		cmocka_unit_test(the_certificate_is_checked),
		cmocka_unit_test(scram_lets_in),
		cmocka_unit_test(several_hosts_are_tried),
		cmocka_unit_test(a_session_that_is_ended_says_why),
		cmocka_unit_test(a_server_that_dies_or_hangs),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, start, pg_group_teardown);
}
