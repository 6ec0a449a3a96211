/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * URIs, environment variables and setters of a connection, and the errors of each call
 * that gets a bad handle. It needs no server.
 */
#include "fixture.h"

static int
setup(void **state)
{
	cenote_conn *conn;

	if (cenote_conn_create(NULL, &conn) < 0)
		return -1;
	*state = conn;
	return 0;
}

static int
destroy(void **state)
{
	cenote_conn_destroy(*state);
	return 0;
}

static const char *
message(const cenote_conn *conn)
{
	return cenote_diag_message(cenote_conn_diag(conn));
}

static void
every_option_has_its_default(void **state)
{
	static const char *const defaults[][2] = {
		{ "pool", "" },
		{ "host", "" },
		{ "port", "9432" },
		{ "hosts", "ordered" },
		{ "run_dir", "" },
		{ "user", "" },
		{ "database", "" },
		{ "program", "" },
		{ "application_name", "" },
		{ "traceparent", "" },
		{ "connect_timeout", "60s" },
		{ "query_timeout", "0" },
		{ "reattach_timeout", "30s" },
		{ "reattach", "yes" },
		{ "max_frame", "1073741823" },
		{ "borrow", "auto" },
		{ "tls", "auto" },
		{ "ca_path", "" },
		{ "cert", "" },
		{ "key", "" },
		{ "crl", "" },
		{ "tls_min", "1.2" },
		{ "ciphers", "" },
		{ "groups", "" },
		{ "sni", "" },
		{ "ca", "" },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		assert_string_equal(
			cenote_conn_get(*state, defaults[i][0]), defaults[i][1]);
	}
	assert_null(cenote_conn_get(*state, "password"));
	assert_null(cenote_conn_get(*state, "nothing"));
}

static void
an_option_is_set_and_reset(void **state)
{
	assert_ok(cenote_conn_set(*state, "application_name", "shop"));
	assert_string_equal(cenote_conn_get(*state, "application_name"), "shop");
	assert_ok(cenote_conn_set(*state, "application_name", NULL));
	assert_string_equal(cenote_conn_get(*state, "application_name"), "");
	assert_ok(cenote_conn_set(*state, "password", "secret"));
	assert_null(cenote_conn_get(*state, "password"));
}

static void
values_are_checked(void **state)
{
	static const struct {
		const char *name;
		const char *value;
		int is_good;
	} cases[] = {
		{ "traceparent",
			"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 1 },
		{ "traceparent", "", 1 },
		{ "traceparent", "00-a-b-01", 0 },
		{ "traceparent",
			"00-00000000000000000000000000000000-00f067aa0ba902b7-01", 0 },
		{ "connect_timeout", "10s", 1 },
		{ "connect_timeout", "500ms", 1 },
		{ "connect_timeout", "2min", 1 },
		{ "connect_timeout", "0", 1 },
		{ "connect_timeout", "10", 0 },
		{ "connect_timeout", "ten", 0 },
		{ "connect_timeout", "", 0 },
		{ "connect_timeout", "-1s", 0 },
		{ "connect_timeout", "99999999999999999999s", 0 },
		{ "connect_timeout", "600000h", 0 },
		{ "port", "1", 1 },
		{ "port", "65535", 1 },
		{ "port", "0", 0 },
		{ "port", "65536", 0 },
		{ "port", "12x", 0 },
		{ "max_frame", "64MB", 1 },
		{ "max_frame", "1073741823", 1 },
		{ "max_frame", "64kB", 1 },
		{ "max_frame", "1GB", 0 },
		{ "max_frame", "1kB", 0 },
		{ "max_frame", "17179869184GB", 0 },
		{ "hosts", "random", 1 },
		{ "hosts", "Random", 0 },
		{ "reattach", "no", 1 },
		{ "reattach", "perhaps", 0 },
		{ "borrow", "no", 1 },
		{ "borrow", "yes", 0 },
		{ "tls", "verify-full", 1 },
		{ "tls", "on", 0 },
		{ "tls_min", "1.3", 1 },
		{ "tls_min", "1.1", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = cenote_conn_set(*state, cases[i].name, cases[i].value);

		if (r != (cases[i].is_good ? CENOTE_OK : CENOTE_ERR_ARG))
			fail_msg("%s=%s: %s", cases[i].name, cases[i].value,
				cenote_status_name(r));
		if (r < 0)
			assert_non_null(strstr(message(*state), cases[i].name));
	}
}

static void
an_unknown_option_names_the_nearest(void **state)
{
	assert_int_equal(cenote_conn_set(*state, "rundir", "/x"), CENOTE_ERR_ARG);
	assert_string_equal(
		message(*state), "there is no option \"rundir\"; is run_dir meant?");
	assert_int_equal(cenote_conn_set(*state, "conect_timeout", "1s"), CENOTE_ERR_ARG);
	assert_non_null(strstr(message(*state), "is connect_timeout meant?"));
	assert_int_equal(cenote_conn_set(*state, "qqqqqqqqqqqq", "1"), CENOTE_ERR_ARG);
	assert_string_equal(message(*state), "there is no option \"qqqqqqqqqqqq\"");
	assert_int_equal(cenote_conn_set(*state,
				 "a_name_that_is_far_longer_than_any_that_there_is", "1"),
		CENOTE_ERR_ARG);
	assert_int_equal(cenote_conn_set(*state, "", "1"), CENOTE_ERR_ARG);
}

struct uri_case {
	const char *uri;
	const char *name;
	const char *value; /* NULL: the URI is refused */
};

static const struct uri_case uri_cases[] = {
	{ "inventory", "pool", "inventory" },
	{ "cenote:///inventory", "pool", "inventory" },
	{ "cenote:///inventory", "host", "" },
	{ "cenote:///a%20b%2fc", "pool", "a b/c" },
	{ "cenote:///p?run_dir=/tmp/x", "run_dir", "/tmp/x" },
	{ "cenote:///p?run_dir=/tmp/x&application_name=a%26b", "application_name",
		"a&b" },
	{ "cenote:///p?application_name=a+b=c", "application_name", "a+b=c" },
	{ "cenote:///p?", "pool", "p" },
	{ "cenote:///p?&program=x&", "program", "x" },
	{ "cenote://db1/p", "host", "db1" },
	{ "cenote://db1:99/p", "host", "db1:99" },
	{ "cenote://[::1]:99,db2/p", "host", "[::1]:99,db2" },
	{ "cenote://me@db1/p", "user", "me" },
	{ "cenote://me:a%40b:c@db1/p", "user", "me" },
	{ "cenote://me:x@y@db1/p", "host", "db1" },
	{ "cenote://?pool=q", "pool", "q" },
	{ "cenote://db1", "host", "db1" },
	{ "postgres:///p", "pool", NULL },
	{ "cenote:///a/b", "pool", NULL },
	{ "cenote:///p#x", "pool", NULL },
	{ "cenote:///p?program=%0", "pool", NULL },
	{ "cenote:///p?program=%", "pool", NULL },
	{ "cenote:///p?program=%zz", "pool", NULL },
	{ "cenote:///p?program=%00", "pool", NULL },
	{ "cenote:///p?program", "pool", NULL },
	{ "cenote:///p?nothing=1", "pool", NULL },
	{ "cenote:///p?connect_timeout=soon", "pool", NULL },
};

static void
a_uri_sets_what_it_says(void **state)
{
	for (size_t i = 0; i < sizeof(uri_cases) / sizeof(uri_cases[0]); i++) {
		const struct uri_case *c = &uri_cases[i];
		cenote_conn *conn;
		int r;

		assert_ok(cenote_conn_create(NULL, &conn));
		r = cenote_conn_set_uri(conn, c->uri);
		if (r != (c->value ? CENOTE_OK : CENOTE_ERR_ARG))
			fail_msg("%s: %s (%s)", c->uri, cenote_status_name(r),
				message(conn));
		if (c->value && strcmp(cenote_conn_get(conn, c->name), c->value) != 0)
			fail_msg("%s: %s is \"%s\"", c->uri, c->name,
				cenote_conn_get(conn, c->name));
		cenote_conn_destroy(conn);
	}
}

static void
a_refused_uri_changes_nothing(void **state)
{
	assert_ok(cenote_conn_set(*state, "pool", "before"));
	assert_int_equal(cenote_conn_set_uri(*state, "cenote://h/after?program=t&bad=1"),
		CENOTE_ERR_ARG);
	assert_string_equal(cenote_conn_get(*state, "pool"), "before");
	assert_string_equal(cenote_conn_get(*state, "host"), "");
	assert_string_equal(cenote_conn_get(*state, "program"), "");
}

static void
a_value_is_at_most_4096_bytes(void **state)
{
	char *text = calloc(1, 5000);

	memset(text, 'x', 4096);
	assert_ok(cenote_conn_set(*state, "program", text));
	memset(text, 'x', 4097);
	assert_int_equal(cenote_conn_set(*state, "program", text), CENOTE_ERR_ARG);
	free(text);
}

static int
connect_status(cenote_conn *conn, const char *uri)
{
	cenote_close(conn);
	assert_ok(cenote_conn_set_uri(conn, uri));
	return cenote_connect(conn);
}

static void
where_cenoted_is_must_make_sense(void **state)
{
	cenote_conn *conn = *state;

	assert_int_equal(cenote_connect(conn), CENOTE_ERR_ARG);
	assert_non_null(strstr(message(conn), "no pool is named"));
	assert_int_equal(connect_status(conn, "cenote:///a%2fb"), CENOTE_ERR_ARG);
	assert_int_equal(connect_status(conn, "cenote://h/p?run_dir=/x"), CENOTE_ERR_ARG);
	assert_non_null(strstr(message(conn), "exclude each other"));
	assert_ok(cenote_conn_set(conn, "host", NULL));
	assert_int_equal(connect_status(conn,
				 "cenote:///p?run_dir=/tmp/a/directory/whose/name/is/so/"
				 "long/that/it/does/not/fit/into/the/address/of/a/unix/"
				 "socket/at/all/however/it/is/cut"),
		CENOTE_ERR_ARG);
	assert_non_null(strstr(message(conn), "longer than 107 bytes"));
	assert_ok(cenote_conn_set(conn, "run_dir", NULL));
	(void)setenv("CENOTE_SERVER", "udp://x", 1);
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_ARG);
	assert_non_null(strstr(message(conn), "CENOTE_SERVER"));
	(void)unsetenv("CENOTE_SERVER");
}

static void
nobody_there_says_what_was_tried_and_what_to_do(void **state)
{
	cenote_conn *conn = *state;

	assert_int_equal(connect_status(conn, "cenote:///p?run_dir=/nonexistent"),
		CENOTE_ERR_CONN);
	assert_string_equal(message(conn),
		"cenoted is not reachable at /nonexistent/p.sock: No such file or "
		"directory; there is no directory /nonexistent: cenoted is not running, "
		"or has another run_dir");
	assert_string_equal(cenote_diag_sqlstate(cenote_conn_diag(conn)), "08001");
	assert_int_equal(cenote_is_connected(conn), 0);
	assert_int_equal(cenote_fd(conn), -1);
	assert_ok(cenote_conn_set(conn, "run_dir", NULL));
	(void)setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_CONN);
	assert_non_null(strstr(message(conn), "/nonexistent/cenote/p.sock"));
	assert_non_null(strstr(message(conn), "/run/cenote/p.sock"));
	(void)unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(connect_status(conn, "cenote://127.0.0.1:1/p"), CENOTE_ERR_CONN);
	assert_non_null(strstr(message(conn), "127.0.0.1:1: Connection refused"));
}

static void
names_are_told(void **state)
{
	assert_int_equal(cenote_version(), 100);
	assert_string_equal(cenote_status_name(CENOTE_ERR_CONN), "CENOTE_ERR_CONN");
	assert_string_equal(cenote_status_name(4711), "unknown status");
	assert_int_equal(cenote_status_is_fatal(CENOTE_ERR_CONN), 1);
	assert_int_equal(cenote_status_is_fatal(CENOTE_ERR_AUTH), 1);
	assert_int_equal(cenote_status_is_fatal(CENOTE_ERR_TIMEOUT), 0);
	assert_int_equal(cenote_status_is_fatal(CENOTE_DONE), 0);
	assert_string_equal(cenote_pin_name(CENOTE_PIN_TEMP), "temporary objects");
	assert_non_null(cenote_pin_name(CENOTE_PIN_PREPARED));
	assert_null(cenote_pin_name(3));
	assert_null(cenote_pin_name(256));
	assert_string_equal(cenote_diag_sqlstate(NULL), "00000");
	assert_string_equal(cenote_diag_message(NULL), "");
	assert_null(cenote_diag_field(NULL, 'C'));
	assert_int_equal(cenote_diag_native(NULL), 0);
}

/* Every call without a handle, and every call that needs a session without a session. */
static void
calls_without_a_session_say_so(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res;
	cenote_cancel *cancel;
	cenote_stmt *stmt;
	char token[CENOTE_TOKEN_SIZE];

	assert_int_equal(
		cenote_query(conn, "x", CENOTE_NTS, NULL, NULL, &res), CENOTE_ERR_STATE);
	assert_string_equal(cenote_diag_sqlstate(cenote_conn_diag(conn)), "08003");
	assert_int_equal(cenote_send_query(conn, "x", 1, NULL, NULL), CENOTE_ERR_STATE);
	assert_int_equal(cenote_pipeline_begin(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_pipeline_end(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_send_sync(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_ping(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_reset(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_begin(conn, 0, 0), CENOTE_ERR_STATE);
	assert_int_equal(cenote_commit(conn), CENOTE_ERR_STATE);
	assert_int_equal(cenote_catalog(conn, 3, NULL, &res), CENOTE_ERR_STATE);
	assert_int_equal(cenote_cancel_create(conn, &cancel), CENOTE_ERR_STATE);
	assert_int_equal(cenote_suspend(conn, NULL, 0, token), CENOTE_ERR_STATE);
	assert_int_equal(cenote_resume(conn, "rubbish", &res), CENOTE_ERR_ARG);
	assert_int_equal(cenote_get_result(conn, &res), CENOTE_DONE);
	assert_ok(cenote_stmt_create(conn, "x", 1, &stmt));
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_STATE);
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_STATE);
	cenote_stmt_destroy(stmt);
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_UNKNOWN);
	assert_int_equal(cenote_wants(conn), 0);
	assert_int_equal(cenote_wait_ms(conn), -1);
	assert_int_equal(cenote_is_busy(conn), 0);
	assert_null(cenote_info(conn, "backend"));
	cenote_close(conn);
}

static void
calls_without_a_handle_are_refused(void **state)
{
	cenote_result *res;
	cenote_conn *conn;

	assert_int_equal(cenote_conn_create(NULL, NULL), CENOTE_ERR_ARG);
	assert_int_equal(
		cenote_conn_create(&(cenote_allocator){ 0 }, &conn), CENOTE_ERR_ARG);
	assert_int_equal(cenote_conn_set(NULL, "pool", "x"), CENOTE_ERR_ARG);
	assert_int_equal(cenote_conn_set_uri(NULL, "x"), CENOTE_ERR_ARG);
	assert_null(cenote_conn_get(NULL, "pool"));
	assert_int_equal(cenote_connect(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_set_nonblocking(NULL, 1), CENOTE_ERR_ARG);
	assert_int_equal(cenote_fd(NULL), -1);
	assert_int_equal(cenote_wants(NULL), 0);
	assert_int_equal(cenote_wait_ms(NULL), -1);
	assert_int_equal(cenote_process(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_is_busy(NULL), 0);
	assert_int_equal(cenote_n_answered(NULL), 0);
	assert_int_equal(cenote_is_connected(NULL), 0);
	assert_null(cenote_info(NULL, "x"));
	assert_int_equal(cenote_tx_state(NULL), CENOTE_TX_UNKNOWN);
	assert_int_equal(cenote_pins(NULL), 0);
	assert_string_equal(cenote_diag_message(cenote_conn_diag(NULL)), "");
	assert_int_equal(cenote_query(NULL, "x", 1, NULL, NULL, &res), CENOTE_ERR_ARG);
	assert_int_equal(cenote_get_result(NULL, &res), CENOTE_ERR_ARG);
	assert_int_equal(cenote_commit(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_savepoint(NULL, "x"), CENOTE_ERR_ARG);
	assert_int_equal(cenote_status(NULL, "pools", &res), CENOTE_ERR_ARG);
	assert_int_equal(cenote_cancel_send(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_cancel_send_safe(NULL, NULL, 0), CENOTE_ERR_ARG);
	assert_int_equal(cenote_stmt_prepare(NULL), CENOTE_ERR_ARG);
	assert_int_equal(cenote_result_next(NULL), CENOTE_ERR_ARG);
	cenote_conn_destroy(NULL);
	cenote_close(NULL);
	cenote_result_destroy(NULL);
	cenote_stmt_destroy(NULL);
	cenote_params_destroy(NULL);
	cenote_cancel_destroy(NULL);
	cenote_set_notice_handler(NULL, NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_option_has_its_default, setup, destroy),
		cmocka_unit_test_setup_teardown(
			an_option_is_set_and_reset, setup, destroy),
		cmocka_unit_test_setup_teardown(values_are_checked, setup, destroy),
		cmocka_unit_test_setup_teardown(
			an_unknown_option_names_the_nearest, setup, destroy),
		cmocka_unit_test(a_uri_sets_what_it_says),
		cmocka_unit_test_setup_teardown(
			a_refused_uri_changes_nothing, setup, destroy),
		cmocka_unit_test_setup_teardown(
			a_value_is_at_most_4096_bytes, setup, destroy),
		cmocka_unit_test_setup_teardown(
			where_cenoted_is_must_make_sense, setup, destroy),
		cmocka_unit_test_setup_teardown(
			nobody_there_says_what_was_tried_and_what_to_do, setup, destroy),
		cmocka_unit_test(names_are_told),
		cmocka_unit_test_setup_teardown(
			calls_without_a_session_say_so, setup, destroy),
		cmocka_unit_test(calls_without_a_handle_are_refused),
	};

	(void)unsetenv("CENOTE_SERVER");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
