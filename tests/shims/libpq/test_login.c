/* SPDX-License-Identifier: BSD-2-Clause */
/* libpq programs on pools that require TLS and passwords. */
#include "integration/with_tls.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pair.h"
#include "support/cnt_server.h"

#define JOE "host=db.example dbname=shop user=joe "

static struct cnt_pq pq;

static int
setup(void **state)
{
	cnt_ours_open(&pq);
	setenv("CENOTE_POOL", "main", 1);
	/* do not read the files of the user who runs the tests */
	setenv("HOME", "/nonexistent", 1);
	return wt_make_certs(state);
}

/* From now on, connect to cenoted at this TCP port. */
static void
use_port(int port)
{
	char text[64];

	snprintf(text, sizeof(text), "tcp://127.0.0.1:%d", port);
	setenv("CENOTE_SERVER", text, 1);
}

static void
use_socket(void)
{
	char text[160];

	snprintf(text, sizeof(text), "unix:%s", wp_daemon.run_dir);
	setenv("CENOTE_SERVER", text, 1);
}

/* Connect. The connection string ends with a file name. */
static PGconn *
tried(const char *given, const char *file)
{
	char conninfo[512];

	snprintf(conninfo, sizeof(conninfo), "%s%s", given, file);
	return pq.f.PQconnectdb(conninfo);
}

static void
assert_works(PGconn *conn)
{
	PGresult *res;

	if (pq.f.PQstatus(conn) != CONNECTION_OK)
		fail_msg("%s", pq.f.PQerrorMessage(conn));
	res = pq.f.PQexec(conn, "select 1");
	assert_string_equal(pq.f.PQgetvalue(res, 0, 0), "1");
	pq.f.PQclear(res);
}

static void
assert_refused(PGconn *conn, const char *why, int needs_password)
{
	assert_int_equal(pq.f.PQstatus(conn), CONNECTION_BAD);
	if (strstr(pq.f.PQerrorMessage(conn), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", pq.f.PQerrorMessage(conn), why);
	assert_int_equal(pq.f.PQconnectionNeedsPassword(conn), needs_password);
	pq.f.PQfinish(conn);
}

static void
a_password_logs_in_by_tcp_and_tls(void **state)
{
	PGconn *conn;

	(void)state;
	use_port(wt_start_with_users("auth = scram-sha-256\n"));
	conn = tried(JOE "password=secret sslmode=verify-full channel_binding=require "
			 "sslrootcert=",
		wt_file("ca.crt"));
	assert_works(conn);
	assert_int_equal(pq.f.PQsslInUse(conn), 1);
	assert_string_equal(pq.f.PQsslAttribute(conn, "protocol"), "TLSv1.3");
	assert_string_equal(
		pq.f.PQsslAttribute(conn, "cipher"), "TLS_AES_256_GCM_SHA384");
	assert_string_equal(pq.f.PQsslAttribute(conn, "key_bits"), "256");
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 1);
	assert_int_equal(pq.f.PQconnectionNeedsPassword(conn), 0);
	pq.f.PQfinish(conn);
	/* by default libpq uses TLS if the server offers it */
	conn = pq.f.PQconnectdb(JOE "password=secret");
	assert_works(conn);
	assert_int_equal(pq.f.PQsslInUse(conn), 1);
	pq.f.PQfinish(conn);
	assert_refused(pq.f.PQconnectdb(JOE "password=wrong"),
		"no such user, or the password is wrong", 0);
	assert_refused(pq.f.PQconnectdb(JOE), "asks for a password", 1);
	assert_refused(pq.f.PQconnectdb(JOE "password=secret sslmode=disable"),
		"the login was refused", 0);
	assert_refused(tried(JOE "password=secret sslmode=verify-ca sslrootcert=",
			       wt_file("other-ca.crt")),
		"TLS:", 0);
}

static void
a_required_binding_is_not_done_without(void **state)
{
	PGconn *conn;

	(void)state;
	use_port(wt_start_with_users("auth = scram-sha-256 tls=no\n"));
	conn = pq.f.PQconnectdb(JOE "password=secret sslmode=disable");
	assert_works(conn);
	assert_int_equal(pq.f.PQsslInUse(conn), 0);
	assert_null(pq.f.PQsslAttribute(conn, "protocol"));
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 1);
	pq.f.PQfinish(conn);
	assert_refused(pq.f.PQconnectdb(JOE "password=secret sslmode=disable "
					    "channel_binding=require"),
		"channel binding is required", 0);
}

static PGconn *
tried_with_certificate(const char *user)
{
	char conninfo[512];

	snprintf(conninfo, sizeof(conninfo),
		"host=db.example dbname=shop user=%s sslmode=require sslcert=%s "
		"sslkey=%s",
		user, wt_file("client.crt"), wt_file("client.key"));
	return pq.f.PQconnectdb(conninfo);
}

static void
a_certificate_logs_in(void **state)
{
	PGconn *conn;

	(void)state;
	use_port(wt_start_with_users("auth = cert\n" WT_CLIENTS));
	conn = tried_with_certificate("cert");
	assert_works(conn);
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 0);
	pq.f.PQfinish(conn);
	assert_refused(tried_with_certificate("joe"), "the login was refused", 0);
}

static void
put_passfile(const char *path, mode_t mode)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fchmod(fileno(f), mode), 0);
	fputs("# a comment\n"
	      "db.example:5432:shop:jane:other\n"
	      "db.example:5433:*:joe:wrong\n"
	      "db\\.example:*:shop:joe:sec\\ret\n"
	      "*:*:*:*:wrong\n",
		f);
	assert_int_equal(fclose(f), 0);
}

static void
the_passfile_is_asked(void **state)
{
	char path[160];
	PGconn *conn;

	(void)state;
	use_port(wt_start_with_users("auth = scram-sha-256\n"));
	snprintf(path, sizeof(path), "%s/pgpass", wp_daemon.dir);
	put_passfile(path, 0600);
	conn = tried(JOE "passfile=", path);
	assert_works(conn);
	assert_string_equal(pq.f.PQpass(conn), "secret");
	pq.f.PQfinish(conn);
	assert_refused(tried(JOE "port=5433 passfile=", path), "password is wrong", 0);
	/* a password in the connection string comes before the passfile */
	assert_refused(
		tried(JOE "password=wrong passfile=", path), "password is wrong", 0);
	put_passfile(path, 0644);
	assert_refused(tried(JOE "passfile=", path), "asks for a password", 1);
}

static PGconn *
polled(const char *conninfo)
{
	PGconn *conn = pq.f.PQconnectStart(conninfo);
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;

	/* check this first, as libpq's manual says: the attempt may have failed already */
	if (pq.f.PQstatus(conn) == CONNECTION_BAD)
		next = PGRES_POLLING_FAILED;
	while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
		struct pollfd fd = { .fd = pq.f.PQsocket(conn),
			.events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT };

		assert_true(poll(&fd, 1, 20000) > 0);
		next = pq.f.PQconnectPoll(conn);
	}
	return conn;
}

static void
on_a_local_socket_it_is_given_to_who_asks(void **state)
{
	PGconn *conn;

	(void)state;
	(void)wt_start_with_users("auth = scram-sha-256\n");
	use_socket();
	conn = polled(JOE "password=secret sslmode=require");
	assert_works(conn);
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 1);
	/* like libpq, the shim uses no TLS on a local socket */
	assert_int_equal(pq.f.PQsslInUse(conn), 0);
	pq.f.PQfinish(conn);
	conn = pq.f.PQconnectdb(JOE "password=secret");
	assert_works(conn);
	pq.f.PQreset(conn);
	assert_works(conn);
	pq.f.PQfinish(conn);
	assert_refused(pq.f.PQconnectdb(JOE), "asks for a password", 1);
	assert_refused(polled(JOE "password=wrong"), "password is wrong", 0);
}

static void
who_is_known_there_is_asked_for_nothing(void **state)
{
	PGconn *conn;

	(void)state;
	(void)wt_start_with_users("auth = peer\n");
	use_socket();
	conn = pq.f.PQconnectdb(JOE "password=secret");
	assert_works(conn);
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 0);
	pq.f.PQfinish(conn);
}

/* With pass-through, the server checks the program's password, as it does without a pool. */
static void
a_pool_may_log_in_with_the_programs_own_password(void **state)
{
	static char config[1024];
	struct cnt_server server;
	PGresult *res;
	PGconn *conn;

	(void)state;
	if (!cnt_server_is_installed(CNT_POSTGRESQL))
		skip();
	assert_int_equal(cnt_server_start(&server, CNT_POSTGRESQL, CNT_SERVER_TCP), 0);
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"[pool main]\nbackend = postgresql\nsessions = 1\nauth = pass-through\n"
		"server = host=127.0.0.1 port=%d dbname=app\n",
		server.port);
	/* cenoted's backend must not load the build's own libpq.so.5, which is the shim */
	cnt_clean_environment();
	wp_start(config);
	use_socket();
	conn = pq.f.PQconnectdb("dbname=app user=locked password=" CNT_SERVER_PASSWORD);
	assert_works(conn);
	res = pq.f.PQexec(conn, "select session_user");
	assert_string_equal(pq.f.PQgetvalue(res, 0, 0), "locked");
	pq.f.PQclear(res);
	assert_int_equal(pq.f.PQconnectionUsedPassword(conn), 1);
	pq.f.PQfinish(conn);
	assert_refused(pq.f.PQconnectdb("dbname=app user=locked password=wrong"),
		"password is wrong", 0);
	assert_refused(
		pq.f.PQconnectdb("dbname=app user=locked"), "asks for a password", 1);
	cnt_server_stop(&server);
}

static void
run(PGconn *conn, const char *sql)
{
	PGresult *res = pq.f.PQexec(conn, sql);

	if (pq.f.PQresultStatus(res) != PGRES_COMMAND_OK)
		fail_msg("%s: %s", sql, pq.f.PQerrorMessage(conn));
	pq.f.PQclear(res);
}

/* Two connections take turns on one session. One of them escapes a text. Then the other changes a
 * setting on which escaping depends. The shim must refuse the text after that change. */
static void
what_was_escaped_for_one_login_reaches_no_other(void **state)
{
	static const char text[] = "\\'; create table injected () -- ";
	char config[1024], sql[200] = "select '", found[16];
	struct cnt_server server;
	PGconn *conn, *other;
	PGresult *res;

	(void)state;
	if (!cnt_server_is_installed(CNT_POSTGRESQL))
		skip();
	assert_int_equal(cnt_server_start(&server, CNT_POSTGRESQL, 0), 0);
	cnt_clean_environment();
	wp_start(cnt_server_config(
		&server, "sessions = 1\nmode = transaction\n", config, sizeof(config)));
	use_socket();
	conn = pq.f.PQconnectdb("dbname=app");
	assert_works(conn);
	pq.f.PQescapeStringConn(conn, sql + strlen(sql), text, sizeof(text) - 1, NULL);
	strcat(sql, "'");
	other = pq.f.PQconnectdb("dbname=app");
	run(other, "alter role app set standard_conforming_strings = off");
	res = pq.f.PQexec(conn, sql);
	assert_int_equal(pq.f.PQresultStatus(res), PGRES_FATAL_ERROR);
	pq.f.PQclear(res);
	assert_int_equal(pq.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(pq.f.PQerrorMessage(conn), "standard_conforming_strings"));
	assert_int_equal(cnt_server_ask(&server, "select to_regclass('injected') is null",
				 found, sizeof(found)),
		0);
	assert_string_equal(found, "t");
	pq.f.PQreset(conn);
	assert_string_equal(
		pq.f.PQparameterStatus(conn, "standard_conforming_strings"), "off");
	assert_works(conn);
	pq.f.PQfinish(conn);
	pq.f.PQfinish(other);
	cnt_server_stop(&server);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_is_known_there_is_asked_for_nothing),
		TEST(a_password_logs_in_by_tcp_and_tls),
		TEST(a_required_binding_is_not_done_without),
		TEST(a_certificate_logs_in),
		TEST(the_passfile_is_asked),
		TEST(on_a_local_socket_it_is_given_to_who_asks),
		TEST(a_pool_may_log_in_with_the_programs_own_password),
		TEST(what_was_escaped_for_one_login_reaches_no_other),
	};

	return cmocka_run_group_tests_name("login", tests, setup, wt_remove_certs);
}
