/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <inttypes.h>
#include <stdio.h>

/* Add up a result of any size in bounded memory. */

static const char numbers[] = "with recursive n(i) as (select 1 union all select i + 1 "
			      "from n where i < 300000) select i from n";

static int
add_up(cenote_conn *conn, int64_t *ret_sum)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	int64_t value, sum = 0;
	int r;

	options.stream = 1;
	r = cenote_query(conn, numbers, CENOTE_NTS, NULL, &options, &res);
	if (r < 0)
		return r;
	while ((r = cenote_result_next(res)) == CENOTE_ROW) {
		for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
			if (cenote_result_int64(res, i, 0, &value) == CENOTE_OK)
				sum += value;
		}
	}
	cenote_result_destroy(res);
	if (r == CENOTE_DONE)
		*ret_sum = sum;
	return r;
}

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	int64_t sum = 0;
	int r;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	r = cenote_conn_set_uri(conn, argc > 1 ? argv[1] : "cenote:///demo");
	if (r == CENOTE_OK)
		r = cenote_connect(conn);
	if (r == CENOTE_OK)
		r = add_up(conn, &sum);
	if (r < 0)
		fprintf(stderr, "%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	else
		printf("%" PRId64 "\n", sum);
	cenote_conn_destroy(conn);
	return r < 0;
}
