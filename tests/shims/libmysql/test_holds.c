/* SPDX-License-Identifier: BSD-2-Clause */
/* docs/transaction-mode.md through MySQL's API (support/cnt_holds.h). Built for each flavour. */
#include "support/cnt_cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "rig.h"
#include "support/cnt_holds.h"

static struct cmy_original f;
static struct cnt_rig rig;

static void *
connect_to_pool(void)
{
	MYSQL *my = f.mysql_init(NULL);

	assert_non_null(my);
	if (f.mysql_real_connect(my, NULL, "app", NULL, "app", 0, NULL,
		    CLIENT_MULTI_STATEMENTS) == NULL)
		fail_msg("%s", f.mysql_error(my));
	return my;
}

static void
disconnect(void *conn)
{
	f.mysql_close(conn);
}

static int
run(void *conn, const char *sql)
{
	int r = f.mysql_query(conn, sql);

	while (r == 0) {
		f.mysql_free_result(f.mysql_store_result(conn));
		r = f.mysql_next_result(conn);
	}
	return r < 0 ? 0 : -1;
}

static void
look(void *conn, const char *sql, char value[CNT_HOLDS_VALUE_MAX])
{
	MYSQL_RES *res = NULL;
	MYSQL_ROW row;

	snprintf(value, CNT_HOLDS_VALUE_MAX, "error");
	if (f.mysql_query(conn, sql) == 0)
		res = f.mysql_store_result(conn);
	if (res == NULL)
		return;
	row = f.mysql_fetch_row(res);
	if (row != NULL)
		snprintf(value, CNT_HOLDS_VALUE_MAX, "%s", row[0] != NULL ? row[0] : "");
	f.mysql_free_result(res);
}

static const char *
message(void *conn)
{
	return f.mysql_error(conn);
}

static void
the_page_is_true(void **state)
{
	static const struct cnt_holds_face face = { connect_to_pool, disconnect, run,
		look, message };

	cnt_holds_try(&face, "## MySQL and MariaDB");
}

static int
setup(void **state)
{
	cnt_library_open(&f, CNT_OURS);
	return cnt_rig_start_with(
		&rig, "do 0", "sessions = 1\nmode = transaction\nqueue_timeout = 60s\n");
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_is_true) };

	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
