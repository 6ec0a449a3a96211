/* SPDX-License-Identifier: BSD-2-Clause */
/* test_holds postgresql|mysql: docs/transaction-mode.md through the C API (support/cnt_holds.h). */
#include "with_pool.h"

#include <stdio.h>
#include <string.h>

#include "support/cnt_holds.h"

static enum cnt_server_kind kind;
static struct cnt_server server;

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
	char config[4096];

	wp_start(cnt_server_config(&server,
		"sessions = 1\nmode = transaction\nqueue_timeout = 60s\n", config,
		sizeof(config)));
	cnt_holds_try(
		&face, kind == CNT_POSTGRESQL ? "## PostgreSQL" : "## MySQL and MariaDB");
}

static int
setup(void **state)
{
	return cnt_server_start(&server, kind, 0);
}

static int
teardown(void **state)
{
	cnt_server_stop(&server);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_page_is_true, wp_teardown),
	};

	kind = argc > 1 && strcmp(argv[1], "mysql") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	return cmocka_run_group_tests(tests, setup, teardown);
}
