/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	cenote_result *res;
	int is_done = 0;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	if (cenote_conn_set_uri(conn, argc > 1 ? argv[1] : "cenote:///demo") < 0 ||
		cenote_connect(conn) < 0 ||
		cenote_query(conn, "select 6 * 7", CENOTE_NTS, NULL, NULL, &res) < 0) {
		fprintf(stderr, "%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	} else {
		is_done = puts(cenote_result_text(res, 0, 0, NULL)) >= 0;
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
	return is_done ? 0 : 1;
}
