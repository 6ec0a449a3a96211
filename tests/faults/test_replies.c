/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two hundred clients on four sessions: every reply belongs to its own request. Each value of a
 * reply is made from the numbers of the client and the request, so a reply that went astray
 * shows.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CLIENTS  200
#define N_ATTACHES 5
#define N_REQUESTS 20
#define DEPTH      4

#define ROWS_OF                                                                          \
	"with recursive n(i) as (values (1) union all select i + 1 from n where i < "    \
	"?3) "                                                                           \
	"select ?1 * 1000003 + ?2 * 1009 + i, ?1 || '/' || ?2 || '/' || i from n"

struct client {
	const char *uri;
	int64_t number;
	int stays; /* 1: one attach for all rounds; 0: attach again in each round */
};

static int
send_one(cenote_conn *conn, const struct client *c, int64_t request, int64_t n_rows)
{
	cenote_params *params;
	int r = cenote_params_create(NULL, &params);

	if (r < 0)
		return r;
	if (cenote_params_add_int64(params, c->number) < 0 ||
		cenote_params_add_int64(params, request) < 0 ||
		cenote_params_add_int64(params, n_rows) < 0)
		abort();
	r = cenote_send_query(conn, ROWS_OF, CENOTE_NTS, params, NULL);
	cenote_params_destroy(params);
	return r;
}

static int
is_answer(
	const cenote_result *res, const struct client *c, int64_t request, int64_t n_rows)
{
	int64_t i, value;
	char text[80];

	if (cenote_result_kind(res) != CENOTE_RESULT_ROWS ||
		cenote_result_n_rows(res) != (uint64_t)n_rows)
		return 0;
	for (i = 1; i <= n_rows; i++) {
		snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64 "/%" PRId64,
			c->number, request, i);
		if (cenote_result_int64(res, (uint64_t)(i - 1), 0, &value) != CENOTE_OK ||
			value != c->number * 1000003 + request * 1009 + i ||
			strcmp(cenote_result_text(res, (uint64_t)(i - 1), 1, NULL),
				text) != 0)
			return 0;
	}
	return 1;
}

/* Take the reply to one request. Returns 0 if the rows belong to that request. */
static int
take_one(cenote_conn *conn, const struct client *c, int64_t request, int64_t n_rows)
{
	cenote_result *res;
	int r = cenote_get_result(conn, &res);

	if (r == CENOTE_OK) {
		if (!is_answer(res, c, request, n_rows)) {
			fprintf(stderr,
				"# client %" PRId64 " request %" PRId64
				": not its reply (kind %d: %s)\n",
				c->number, request, cenote_result_kind(res),
				cenote_diag_message(cenote_result_diag(res)));
			r = -1;
		}
		cenote_result_destroy(res);
		if (r == CENOTE_OK)
			r = cenote_get_result(conn, &res);
		if (r == CENOTE_DONE)
			return 0;
	}
	cnt_client_complain(conn, "a request of a pipeline", r);
	return -1;
}

/* Send DEPTH requests, then take their replies. */
static int
run_pipeline(
	cenote_conn *conn, const struct client *c, int64_t first, struct cnt_random *rnd)
{
	int64_t n_rows[DEPTH];
	int i, r = cenote_pipeline_begin(conn);

	for (i = 0; r == CENOTE_OK && i < DEPTH; i++) {
		n_rows[i] = (int64_t)cnt_random_below(rnd, 40) + 1;
		r = send_one(conn, c, first + i, n_rows[i]);
	}
	if (r == CENOTE_OK)
		r = cenote_send_sync(conn);
	for (i = 0; r == CENOTE_OK && i < DEPTH; i++)
		r = take_one(conn, c, first + i, n_rows[i]);
	while (r == CENOTE_OK) {
		cenote_result *res;

		r = cenote_get_result(conn, &res);
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	}
	if (r == CENOTE_DONE)
		r = cenote_pipeline_end(conn);
	if (r != CENOTE_OK)
		cnt_client_complain(conn, "pipeline", r);
	return r;
}

static int
run_client(void *arg)
{
	const struct client *c = arg;
	const char *const options[] = { "connect_timeout", "100s", NULL };
	cenote_conn *conn = NULL;
	struct cnt_random rnd;
	int64_t request = 0;
	int i, r = 0;

	cnt_random_init(&rnd, (uint64_t)c->number);
	for (i = 0; r == 0 && i < N_ATTACHES; i++) {
		int64_t until = request + N_REQUESTS;

		if (!conn)
			conn = cnt_client_open(c->uri, options);
		if (!conn)
			return 1;
		for (; r == 0 && request < until; request += DEPTH)
			r = run_pipeline(conn, c, request, &rnd);
		if (!c->stays) {
			cenote_conn_destroy(conn);
			conn = NULL;
		}
		cnt_pause_us((long)cnt_random_below(&rnd, 2000));
	}
	cenote_conn_destroy(conn);
	return r == 0 ? 0 : 1;
}

static void
run_clients(const char *config, int stays)
{
	static struct client clients[N_CLIENTS];
	pid_t pids[N_CLIENTS];
	struct cnt_daemon d;
	int i, n_failed = 0;

	assert_int_equal(cnt_daemon_start(&d, config), 0);
	for (i = 0; i < N_CLIENTS; i++) {
		clients[i] = (struct client){ d.uri, i + 1, stays };
		pids[i] = cnt_fork(run_client, &clients[i]);
		assert_true(pids[i] > 0);
	}
	for (i = 0; i < N_CLIENTS; i++)
		n_failed += cnt_wait(pids[i]) != 0;
	if (n_failed > 0)
		cnt_daemon_show_log(&d);
	assert_int_equal(cnt_daemon_stop(&d), 0);
	assert_int_equal(n_failed, 0);
}

static void
replies_belong_to_their_requests_when_clients_come_and_go(void **state)
{
	run_clients(CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 4..4\n"
						      "queue_timeout = 100s\n",
		0);
}

static void
replies_belong_to_their_requests_when_sessions_are_yielded(void **state)
{
	run_clients(CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 4..4\n"
						      "queue_timeout = 100s\n"
						      "mode = transaction\n",
		1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			replies_belong_to_their_requests_when_clients_come_and_go),
		cmocka_unit_test(
			replies_belong_to_their_requests_when_sessions_are_yielded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
