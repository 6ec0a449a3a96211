/* SPDX-License-Identifier: BSD-2-Clause */
/* test_holds postgresql|mariadb: docs/transaction-mode.md through the C API (support/cnt_holds.h). */
#include "with_server.h"

#include <stdio.h>

#include "support/cnt_holds.h"

static void *
connect_to_pool(void)
{
	return wp_attach(NULL);
}

static void
disconnect(void *conn)
{
	cenote_conn_destroy(conn);
}

static int
run(void *conn, const char *sql)
{
	cenote_result *res;
	int n_failed = 0;
	int r = cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL);

	while (r == CENOTE_OK && (r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		n_failed += cenote_result_kind(res) == CENOTE_RESULT_ERROR;
		cenote_result_destroy(res);
	}
	return r == CENOTE_DONE && n_failed == 0 ? 0 : -1;
}

static void
look(void *conn, const char *sql, char value[CNT_HOLDS_VALUE_MAX])
{
	cenote_result *res;
	const char *text;

	snprintf(value, CNT_HOLDS_VALUE_MAX, "error");
	if (cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res) != CENOTE_OK)
		return;
	text = cenote_result_text(res, 0, 0, NULL);
	snprintf(value, CNT_HOLDS_VALUE_MAX, "%s", text != NULL ? text : "");
	cenote_result_destroy(res);
}

static const char *
message(void *conn)
{
	return wp_message(conn);
}

static void
the_page_is_true(void **state)
{
	static const struct cnt_holds_face face = { connect_to_pool, disconnect, run,
		look, message };

	ws_start("sessions = 1\nmode = transaction\nqueue_timeout = 60s\n");
	cnt_holds_try(&face,
		ws_kind == WS_POSTGRESQL ? "## PostgreSQL" : "## MySQL and MariaDB");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_page_is_true, wp_teardown),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb"))
		return 2;
	return cmocka_run_group_tests(tests, ws_setup, ws_teardown);
}
