/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <stdio.h>

/*
 * A page that asks the server at most once a minute, whatever the number of processes that show it. The option `cache`
 * keeps the result in a file. The result's flag tells whether a file has answered.
 *
 *     cached_page URI DIRECTORY
 *
 * The directory must exist and belong to the user, and nobody else may write to it.
 */

static const char best[] = "select name, price from item where price < 50 order by name";

static void
show(const cenote_result *res)
{
	printf("%s\n", cenote_result_flags(res) & CENOTE_RESULT_FLAG_SAVED
			       ? "from a file:"
			       : "from the server:");
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++)
		printf("%s %s\n", cenote_result_text(res, i, 0, NULL),
			cenote_result_text(res, i, 1, NULL));
}

static int
show_page(cenote_conn *conn)
{
	cenote_result *res;
	int r = cenote_query(conn, best, CENOTE_NTS, NULL, NULL, &res);

	if (r < 0)
		return r;
	show(res);
	cenote_result_destroy(res);
	return CENOTE_OK;
}

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	int r;

	if (argc != 3 || cenote_conn_create(NULL, &conn) < 0)
		return 2;
	r = cenote_conn_set_uri(conn, argv[1]);
	if (r == CENOTE_OK)
		r = cenote_conn_set(conn, "cache", argv[2]);
	if (r == CENOTE_OK)
		r = cenote_conn_set(conn, "cache_ttl", "1min");
	if (r == CENOTE_OK)
		r = cenote_connect(conn);
	if (r == CENOTE_OK)
		r = show_page(conn);
	if (r < 0)
		fprintf(stderr, "%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	return r < 0;
}
