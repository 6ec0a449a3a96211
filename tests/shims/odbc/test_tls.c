/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integration/with_tls.h"

/* Connecting by TCP with TLS: the keys TLS, CA, Cert, Key, UID and PWD of connection strings. */

static SQLHENV env;

static int
setup(void **state)
{
	if (wt_make_certs(state) < 0 ||
		!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env)))
		return -1;
	return SQL_SUCCEEDED(SQLSetEnvAttr(
		       env, SQL_ATTR_ODBC_VERSION, NUMBER(SQL_OV_ODBC3_80), 0))
		       ? 0
		       : -1;
}

static int
teardown(void **state)
{
	(void)SQLFreeHandle(SQL_HANDLE_ENV, env);
	return wt_remove_certs(state);
}

static SQLHDBC
new_dbc(void)
{
	SQLHDBC dbc;

	CNT_EXPECT(SQL_HANDLE_ENV, env, SQL_SUCCESS,
		SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc));
	return dbc;
}

/* Connect to the pool at this port, with these attributes. */
static SQLRETURN
connect_with(SQLHDBC dbc, int port, const char *attributes)
{
	char string[1024];

	(void)snprintf(string, sizeof(string),
		"Driver={%s};Pool=main;Server=tcp://localhost:%d;%s", CNT_ODBC_DRIVER,
		port, attributes);
	return SQLDriverConnect(
		dbc, NULL, TEXT(string), SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
}

static void
assert_connects(int port, const char *attributes)
{
	SQLHDBC dbc = new_dbc();
	SQLHSTMT stmt;
	char text[16];

	ok_dbc(dbc, connect_with(dbc, port, attributes));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	assert_string_equal(cnt_odbc_ask(stmt, "select 1", text, sizeof(text)), "1");
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
assert_refused(int port, const char *attributes, const char *sqlstate)
{
	SQLHDBC dbc = new_dbc();

	print_message("# %s\n", attributes);
	says_dbc(dbc, sqlstate, connect_with(dbc, port, attributes));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

/* The attributes plus the path of a CA file, in static memory. */
static const char *
with_ca(const char *attributes, const char *name)
{
	static char text[640];

	(void)snprintf(text, sizeof(text), "%s;CA=%s", attributes, wt_file(name));
	return text;
}

static void
a_user_logs_in_through_tls(void **state)
{
	int port = wt_start_with_users("auth = scram-sha-256\n");

	assert_connects(port, with_ca("UID=joe;PWD=secret;TLS=verify-full", "ca.crt"));
	assert_connects(port, "UID=joe;PWD=secret;TLS=require");
	assert_refused(
		port, with_ca("UID=joe;PWD=wrong;TLS=verify-full", "ca.crt"), "28000");
	assert_refused(port, with_ca("UID=joe;TLS=verify-full", "ca.crt"), "28000");
}

static void
a_server_that_is_not_trusted_is_refused(void **state)
{
	int port = wt_start_with_users("auth = scram-sha-256\n");

	assert_refused(port,
		with_ca("UID=joe;PWD=secret;TLS=verify-full", "other-ca.crt"), "28000");
	assert_refused(port, "UID=joe;PWD=secret;TLS=maybe", "08001");
	wt_use_certificate("wrong-name.crt");
	(void)cnt_daemon_end(&wp_daemon);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_refused(
		port, with_ca("UID=joe;PWD=secret;TLS=verify-full", "ca.crt"), "28000");
	/* verify-ca does not check the host name */
	assert_connects(port, with_ca("UID=joe;PWD=secret;TLS=verify-ca", "ca.crt"));
}

static void
a_client_shows_its_certificate(void **state)
{
	int port = wt_start_with_users("auth = cert\n" WT_CLIENTS);
	char attributes[1024];

	(void)snprintf(attributes, sizeof(attributes),
		"UID=cert;TLS=verify-full;CA=%s;Cert=%s;Key=%s", wt_file("ca.crt"),
		wt_file("client.crt"), wt_file("client.key"));
	assert_connects(port, attributes);
	assert_refused(port, with_ca("UID=cert;TLS=verify-full", "ca.crt"), "28000");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_user_logs_in_through_tls),
		TEST(a_server_that_is_not_trusted_is_refused),
		TEST(a_client_shows_its_certificate),
	};

	return cmocka_run_group_tests_name("tls", tests, setup, teardown);
}
