/* SPDX-License-Identifier: BSD-2-Clause */
#include <cenote/cenote.h>
#include <stdio.h>

/* Send several requests at once: one round trip instead of one for each. */

static const char *const statements[] = {
	"select 'first'",
	"select 'second'",
	"select nothing from nowhere",
	"select 'never run'",
};
#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static int
send_all(cenote_conn *conn)
{
	int r = cenote_pipeline_begin(conn);

	for (size_t i = 0; i < N_STATEMENTS && r == CENOTE_OK; i++)
		r = cenote_send_query(conn, statements[i], CENOTE_NTS, NULL, NULL);
	return r == CENOTE_OK ? cenote_send_sync(conn) : r;
}

static void
print(const cenote_result *res)
{
	switch (cenote_result_kind(res)) {
	case CENOTE_RESULT_ROWS:
		printf("%s\n", cenote_result_text(res, 0, 0, NULL));
		break;
	case CENOTE_RESULT_ERROR:
		printf("error: %s\n", cenote_diag_message(cenote_result_diag(res)));
		break;
	case CENOTE_RESULT_SKIPPED:
		puts("skipped");
		break;
	default:
		break;
	}
}

/* Each request gives its results and then CENOTE_DONE; so does the synchronisation point. */
static int
take_all(cenote_conn *conn)
{
	cenote_result *res;
	int r = CENOTE_OK;

	for (size_t done = 0; done <= N_STATEMENTS; done += r == CENOTE_DONE) {
		r = cenote_get_result(conn, &res);
		if (r < 0)
			return r;
		if (r == CENOTE_OK) {
			print(res);
			cenote_result_destroy(res);
		}
	}
	return cenote_pipeline_end(conn);
}

int
main(int argc, char **argv)
{
	cenote_conn *conn;
	int r;

	if (cenote_conn_create(NULL, &conn) < 0)
		return 1;
	r = cenote_conn_set_uri(conn, argc > 1 ? argv[1] : "cenote:///demo");
	if (r == CENOTE_OK)
		r = cenote_connect(conn);
	if (r == CENOTE_OK)
		r = send_all(conn);
	if (r == CENOTE_OK)
		r = take_all(conn);
	if (r < 0)
		fprintf(stderr, "%s\n", cenote_diag_message(cenote_conn_diag(conn)));
	cenote_conn_destroy(conn);
	return r < 0;
}
