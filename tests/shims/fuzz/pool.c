/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"

#include <cenote/cenote.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cnt_cmocka.h"

/* How long one of the crowd holds a session. */
#define HELD_US 2000

static cenote_conn *
conn_to(const char *run_dir)
{
	cenote_conn *conn;

	assert_int_equal(cenote_conn_create(NULL, &conn), CENOTE_OK);
	assert_int_equal(cenote_conn_set(conn, "run_dir", run_dir), CENOTE_OK);
	assert_int_equal(cenote_conn_set(conn, "pool", "main"), CENOTE_OK);
	return conn;
}

int
fz_pool_is_used(const char *run_dir)
{
	cenote_conn *conn = conn_to(run_dir);
	cenote_result *res;
	int n_used = 0;

	if (cenote_status(conn, "workers", &res) == CENOTE_OK) {
		uint32_t state = (uint32_t)cenote_result_find_column(res, "state");
		uint32_t pid = (uint32_t)cenote_result_find_column(res, "client_pid");

		for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
			const char *client = cenote_result_text(res, i, pid, NULL);

			n_used += strcmp(cenote_result_text(res, i, state, NULL),
					  "idle") != 0 &&
				  (!client || strtol(client, NULL, 10) != getpid());
		}
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
	return n_used > 0;
}

int64_t
fz_pool_yields(const char *run_dir)
{
	cenote_conn *conn = conn_to(run_dir);
	cenote_result *res;
	int64_t n = -1;

	if (cenote_status(conn, "pools", &res) == CENOTE_OK) {
		uint32_t yields = (uint32_t)cenote_result_find_column(res, "yields");

		n = strtoll(cenote_result_text(res, 0, yields, NULL), NULL, 10);
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
	return n;
}

static void *
come_and_go(void *arg)
{
	struct fz_crowd *crowd = arg;

	while (!__atomic_load_n(&crowd->is_over, __ATOMIC_RELAXED)) {
		cenote_conn *conn = conn_to(crowd->run_dir);

		if (cenote_connect(conn) == CENOTE_OK)
			usleep(HELD_US);
		cenote_conn_destroy(conn);
	}
	return NULL;
}

void
fz_crowd_start(struct fz_crowd *crowd, const char *run_dir)
{
	crowd->run_dir = run_dir;
	crowd->is_over = 0;
	for (size_t i = 0; i < CNT_COUNT(crowd->members); i++)
		assert_int_equal(
			pthread_create(&crowd->members[i], NULL, come_and_go, crowd), 0);
}

void
fz_crowd_stop(struct fz_crowd *crowd)
{
	__atomic_store_n(&crowd->is_over, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < CNT_COUNT(crowd->members); i++)
		(void)pthread_join(crowd->members[i], NULL);
}
