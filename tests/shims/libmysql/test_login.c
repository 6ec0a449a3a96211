/* SPDX-License-Identifier: BSD-2-Clause */
/* MySQL and MariaDB programs on pools that require TLS and passwords. Built for each flavour. */
#include "integration/with_tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "support/cnt_server.h"

#define ACCESS_DENIED 1045u
/* CR_CONN_HOST_ERROR, CR_CONNECTION_ERROR */
#define NOT_CONNECTED (CMY_ORACLE ? 2003u : 2002u)

static struct cmy_original f;

static int
setup(void **state)
{
	/* cenoted's backend must not find the shim by Meson's LD_LIBRARY_PATH */
	cnt_clean_environment();
	setenv("CENOTE_POOL", "main", 1);
	/* do not read the option files of the user who runs the tests */
	setenv("HOME", "/nonexistent", 1);
	cnt_library_open(&f, CNT_OURS);
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

/* ---- TLS, as each flavour asks for it ---- */

#if CMY_ORACLE

static void
ask_for_tls(MYSQL *my, int is_verified)
{
	unsigned mode = is_verified ? 5 : 3;

	assert_int_equal(f.mysql_options(my, MYSQL_OPT_SSL_MODE, &mode), 0);
}

static void
refuse_tls(MYSQL *my)
{
	unsigned mode = 1;

	assert_int_equal(f.mysql_options(my, MYSQL_OPT_SSL_MODE, &mode), 0);
}

#else

static void
ask_for_tls(MYSQL *my, int is_verified)
{
	my_bool on = 1;

	assert_int_equal(f.mysql_options(my,
				 is_verified ? MYSQL_OPT_SSL_VERIFY_SERVER_CERT
					     : MYSQL_OPT_SSL_ENFORCE,
				 &on),
		0);
}

#endif

/* ---- connecting ---- */

static int
connect_as(MYSQL *my, const char *user, const char *password)
{
	return f.mysql_real_connect(my, "db.example", user, password, NULL, 0, NULL, 0) !=
	       NULL;
}

static MYSQL *
made(void)
{
	MYSQL *my = f.mysql_init(NULL);

	assert_non_null(my);
	return my;
}

static void
assert_works(MYSQL *my, const char *user, const char *password)
{
	MYSQL_RES *res;

	if (!connect_as(my, user, password))
		fail_msg("%s", f.mysql_error(my));
	assert_int_equal(f.mysql_query(my, "select 1"), 0);
	res = f.mysql_store_result(my);
	assert_string_equal(f.mysql_fetch_row(res)[0], "1");
	f.mysql_free_result(res);
}

static void
assert_refused(MYSQL *my, const char *user, const char *password, unsigned error,
	const char *why)
{
	assert_int_equal(connect_as(my, user, password), 0);
	if (strstr(f.mysql_error(my), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", f.mysql_error(my), why);
	if (error != 0)
		assert_int_equal(f.mysql_errno(my), error);
	f.mysql_close(my);
}

static void
a_password_logs_in_by_tcp_and_tls(void **state)
{
	MYSQL *my;

	use_port(wt_start_with_users("auth = scram-sha-256\n"));
	/* by default TLS is used if the server offers it */
	my = made();
	assert_works(my, "joe", "secret");
	assert_string_equal(f.mysql_get_ssl_cipher(my), "TLS_AES_256_GCM_SHA384");
	assert_true(my->server_capabilities & CLIENT_SSL);
	f.mysql_close(my);
	my = made();
	ask_for_tls(my, 1);
	assert_int_equal(f.mysql_options(my, MYSQL_OPT_SSL_CA, wt_file("ca.crt")), 0);
	assert_works(my, "joe", "secret");
	assert_non_null(f.mysql_get_ssl_cipher(my));
	f.mysql_close(my);
	my = made();
	ask_for_tls(my, 1);
	assert_int_equal(
		f.mysql_options(my, MYSQL_OPT_SSL_CA, wt_file("other-ca.crt")), 0);
	assert_refused(my, "joe", "secret", 0, "TLS:");
	assert_refused(made(), "joe", "wrong", ACCESS_DENIED, "password is wrong");
	assert_refused(made(), "joe", NULL, ACCESS_DENIED, "asks for a password");
}

static void
what_was_asked_of_tls_is_kept_to(void **state)
{
	MYSQL *my;

	use_port(wt_start_with_users("auth = scram-sha-256 tls=no\n"));
#if CMY_ORACLE
	my = made();
	refuse_tls(my);
	assert_works(my, "joe", "secret");
	assert_null(f.mysql_get_ssl_cipher(my));
	assert_false(my->server_capabilities & CLIENT_SSL);
	f.mysql_close(my);
#endif
	my = made();
	ask_for_tls(my, 0);
	/* without TLS another rule of the pool would apply, so the library must not try that */
	assert_refused(my, "joe", "secret", ACCESS_DENIED, "refused");
}

static void
on_a_local_socket_it_is_given_to_who_asks(void **state)
{
	MYSQL *my;

	(void)wt_start_with_users("auth = scram-sha-256\n");
	use_socket();
	for (int i = 0; i < 2; i++) {
		my = made();
		ask_for_tls(my, 0);
		assert_works(my, "joe", "secret");
		assert_null(f.mysql_get_ssl_cipher(my));
		f.mysql_close(my);
	}
	assert_refused(made(), "joe", "wrong", ACCESS_DENIED, "password is wrong");
	assert_refused(made(), "joe", "", ACCESS_DENIED, "asks for a password");
}

static void
who_is_known_there_is_asked_for_nothing(void **state)
{
	MYSQL *my;

	(void)wt_start_with_users("auth = peer\n");
	use_socket();
	my = made();
	assert_works(my, "joe", "secret");
	f.mysql_close(my);
}

/* ---- pools that log in to their server as the program's user ---- */

static struct cnt_server server;

static void
start_server(void)
{
	assert_int_equal(cnt_server_start(&server, CNT_MARIADB, CNT_SERVER_TCP), 0);
}

static int
stop_server(void **state)
{
	cnt_server_stop(&server);
	return wp_teardown(state);
}

/* `keys` go to the server line. */
static void
start_pass_through(const char *keys)
{
	char config[1024];

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"[pool main]\nbackend = mysql\nauth = pass-through\nserver = "
		"host=127.0.0.1 port=%d dbname=app %s\n",
		server.port, keys);
	wp_start(config);
	use_socket();
}

static void
the_server_checks_the_password(void **state)
{
	char tls[256];
	MYSQL *my;

	start_server();
	snprintf(tls, sizeof(tls), "ssl_verify_server_cert=yes ssl_ca=%s", server.ca);
	start_pass_through(tls);
	my = made();
	assert_works(my, "locked", CNT_SERVER_PASSWORD);
	f.mysql_close(my);
	assert_refused(made(), "locked", "wrong", ACCESS_DENIED, "password");
	assert_refused(made(), "nobody", CNT_SERVER_PASSWORD, ACCESS_DENIED, "password");
}

static void
assert_blames_pool(const char *why)
{
	assert_refused(made(), "locked", CNT_SERVER_PASSWORD, NOT_CONNECTED, why);
}

/* If the pool cannot log in, the password is not to blame. */
static void
a_login_that_the_pool_cannot_do_is_told(void **state)
{
	start_server();
	start_pass_through("ssl_verify_server_cert=yes ssl_ca=/dev/null");
	assert_blames_pool("cenote: TLS/SSL error");
	if (!cnt_server_is_mysql())
		return;
	wp_teardown(state);
	start_pass_through("");
	assert_blames_pool("server_public_key");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_is_known_there_is_asked_for_nothing),
		TEST(a_password_logs_in_by_tcp_and_tls),
		TEST(what_was_asked_of_tls_is_kept_to),
		TEST(on_a_local_socket_it_is_given_to_who_asks),
		/* these need a server */
		cmocka_unit_test_teardown(the_server_checks_the_password, stop_server),
		cmocka_unit_test_teardown(
			a_login_that_the_pool_cannot_do_is_told, stop_server),
	};
	size_t n = CNT_COUNT(tests);

	if (!cnt_server_is_installed(CNT_MARIADB))
		n -= 2;
	return _cmocka_run_group_tests("login", tests, n, setup, wt_remove_certs);
}
