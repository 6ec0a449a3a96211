/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * test_odbc_transaction DRIVER
 *
 * mode = transaction with an ODBC driver, on a real server. There is one session, and a second
 * client waits for it. A client that comes back finds what any statement of its texts has set.
 */
#include "with_pool.h"

#include <stdio.h>
#include <string.h>

#include "support/cnt_odbc.h"
#include "support/cnt_server.h"

static const struct cnt_odbc *driver;
static struct cnt_server server;

/* `queries` is a key of the server line. */
static void
start(const char *queries)
{
	char connect[512], config[4096];

	cnt_odbc_connect(driver, &server, "app", connect, sizeof(connect));
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = odbc\n"
				  "server = connect='%s%s' queries=%s\n"
				  "sessions = 1\nmode = transaction\n",
		connect, driver->kind == CNT_MARIADB ? ";OPTION=67108864" : "", queries);
	wp_start(config);
}

/* How each server makes and reads a setting of the session. */
static const char *
setting(int is_read)
{
	if (driver->kind == CNT_MARIADB)
		return is_read ? "select @a" : "set @a = 'mine'";
	return is_read ? "show application_name" : "set application_name = 'mine'";
}

/* Another client gets the only session, or does not. */
static void
expect_free(int is_free)
{
	if (is_free)
		cenote_conn_destroy(wp_attach(NULL));
	else
		wp_expect_none_free(NULL);
}

static void
what_stands_behind_the_first_verb_is_not_lost(void **state)
{
	static const char *const before[] = { "select 1; ", "begin; commit; " };
	cenote_conn *conn;
	cenote_result *res;
	char sql[256];

	start("pure");
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		conn = wp_attach(NULL);
		snprintf(sql, sizeof(sql), "%s%s", before[i], setting(0));
		assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
		while (cenote_get_result(conn, &res) == CENOTE_OK)
			cenote_result_destroy(res);
		expect_free(0);
		assert_string_equal(wp_value(conn, setting(1)), "mine");
		cenote_conn_destroy(conn);
		expect_free(1);
	}
}

static void
a_query_holds_its_session_unless_all_are_pure(void **state)
{
	static const char *const queries[] = { "any", "pure" };

	for (size_t i = 0; i < 2; i++) {
		cenote_conn *conn;

		start(queries[i]);
		conn = wp_attach(NULL);
		wp_exec(conn, "select 1");
		expect_free(1);
		wp_exec(conn, "select count(*) from (select 1 as a) x");
		expect_free(i == 1);
		cenote_conn_destroy(conn);
		if (i == 0)
			assert_int_equal(wp_teardown(state), 0);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			what_stands_behind_the_first_verb_is_not_lost, wp_teardown),
		cmocka_unit_test_teardown(
			a_query_holds_its_session_unless_all_are_pure, wp_teardown),
	};
	int r;

	driver = argc > 1 ? cnt_odbc_find(argv[1]) : NULL;
	if (!driver) {
		fprintf(stderr, "usage: test_odbc_transaction DRIVER\n");
		return 2;
	}
	cnt_odbc_need(driver);
	if (cnt_server_start(&server, driver->kind, 0) < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	cnt_server_stop(&server);
	return r;
}
