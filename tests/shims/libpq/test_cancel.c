/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "rig.h"

/* Cancelling from several threads, and while cenoted is not reachable. test_no_memory.c checks
 * that a signal handler may cancel. */

#define N_THREADS 6
#define N_QUERIES 40

struct fixture {
	struct cnt_pq ours;
	struct cnt_rig rig;
	PGconn *conn;
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_ours_open(&f.ours);
	*state = &f;
	return cnt_rig_start(&f.rig);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	return cnt_rig_stop(&f->rig);
}

static int
connect_one(void **state)
{
	struct fixture *f = *state;

	f->conn = f->ours.f.PQconnectdb(f->rig.server.server_line);
	return f->ours.f.PQstatus(f->conn) == CONNECTION_OK ? 0 : -1;
}

static int
finish_one(void **state)
{
	struct fixture *f = *state;

	f->ours.f.PQfinish(f->conn);
	return 0;
}

/* Run a long query. Returns whether it was cancelled. */
static int
is_cancelled(const struct fixture *f)
{
	PGresult *res = f->ours.f.PQexec(f->conn, "select pg_sleep(60)");
	int is_so = strcmp(f->ours.f.PQresultErrorMessage(res),
			    "ERROR:  canceling statement due to user request\n") == 0;

	if (!is_so)
		print_message("# %s", f->ours.f.PQresultErrorMessage(res));
	f->ours.f.PQclear(res);
	return is_so;
}

/* A thread that cancels whatever runs, until is_over is set. */
struct one {
	const struct cpq_original *pq;
	PGcancel *own, *shared; /* shared: used by all threads */
	PGcancelConn *newer;
	int n_failed;
	pthread_t thread;
};

static atomic_int is_over;

static int
cancel_all_ways(const struct one *c)
{
	char why[128];

	c->pq->PQcancelReset(c->newer);
	return c->pq->PQcancel(c->shared, why, sizeof(why)) == 1 &&
	       c->pq->PQcancel(c->own, why, sizeof(why)) == 1 &&
	       c->pq->PQcancelBlocking(c->newer) == 1 &&
	       *c->pq->PQcancelErrorMessage(c->newer) == '\0';
}

static void *
cancel_much(void *arg)
{
	struct one *c = arg;

	while (!atomic_load(&is_over))
		c->n_failed += !cancel_all_ways(c);
	return NULL;
}

static void
threads_share_nothing_but_the_connection(void **state)
{
	struct fixture *f = *state;
	PGcancel *shared = f->ours.f.PQgetCancel(f->conn);
	struct one crowd[N_THREADS];
	int n_cancelled = 0;

	for (int i = 0; i < N_THREADS; i++) {
		crowd[i] = (struct one){ .pq = &f->ours.f,
			.shared = shared,
			.own = f->ours.f.PQgetCancel(f->conn),
			.newer = f->ours.f.PQcancelCreate(f->conn) };
		pthread_create(&crowd[i].thread, NULL, cancel_much, &crowd[i]);
	}
	for (int i = 0; i < N_QUERIES; i++)
		n_cancelled += is_cancelled(f);
	atomic_store(&is_over, 1);
	for (int i = 0; i < N_THREADS; i++) {
		assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
		f->ours.f.PQfreeCancel(crowd[i].own);
		f->ours.f.PQcancelFinish(crowd[i].newer);
		assert_int_equal(crowd[i].n_failed, 0);
	}
	f->ours.f.PQfreeCancel(shared);
	assert_int_equal(n_cancelled, N_QUERIES);
	assert_int_equal(f->ours.f.PQstatus(f->conn), CONNECTION_OK);
}

/* Check the next result, and the NULL after it. No NULL follows a synchronisation point. */
static void
assert_next(const struct fixture *f, ExecStatusType status, const char *sqlstate)
{
	PGresult *res = f->ours.f.PQgetResult(f->conn);
	const char *told = f->ours.f.PQresultErrorField(res, PG_DIAG_SQLSTATE);

	assert_int_equal(f->ours.f.PQresultStatus(res), status);
	assert_string_equal(told != NULL ? told : "", sqlstate);
	f->ours.f.PQclear(res);
	if (status != PGRES_PIPELINE_SYNC)
		assert_null(f->ours.f.PQgetResult(f->conn));
}

static void
send(const struct fixture *f, const char *query)
{
	assert_int_equal(
		f->ours.f.PQsendQueryParams(f->conn, query, 0, NULL, NULL, NULL, NULL, 0),
		1);
}

static void
of_a_pipeline_it_hits_what_runs(void **state)
{
	struct fixture *f = *state;
	PGcancel *cancel = f->ours.f.PQgetCancel(f->conn);
	char why[64];

	assert_int_equal(f->ours.f.PQenterPipelineMode(f->conn), 1);
	send(f, "select 1");
	assert_int_equal(f->ours.f.PQsendFlushRequest(f->conn), 1);
	send(f, "select pg_sleep(60)");
	send(f, "select 2");
	assert_int_equal(f->ours.f.PQpipelineSync(f->conn), 1);
	send(f, "select 3");
	assert_int_equal(f->ours.f.PQpipelineSync(f->conn), 1);
	assert_next(f, PGRES_TUPLES_OK, "");
	/* wait until the next statement runs */
	usleep(200000);
	assert_int_equal(f->ours.f.PQcancel(cancel, why, sizeof(why)), 1);
	assert_next(f, PGRES_FATAL_ERROR, "57014");
	assert_next(f, PGRES_PIPELINE_ABORTED, "");
	assert_next(f, PGRES_PIPELINE_SYNC, "");
	assert_next(f, PGRES_TUPLES_OK, "");
	assert_next(f, PGRES_PIPELINE_SYNC, "");
	assert_int_equal(f->ours.f.PQexitPipelineMode(f->conn), 1);
	f->ours.f.PQfreeCancel(cancel);
}

static void
a_cancel_outlives_its_connection(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = f->ours.f.PQconnectdb(f->rig.server.server_line);
	PGcancel *cancel = f->ours.f.PQgetCancel(conn);
	char why[64] = "untouched";

	f->ours.f.PQfinish(conn);
	assert_int_equal(f->ours.f.PQcancel(cancel, why, sizeof(why)), 1);
	assert_string_equal(why, "untouched");
	f->ours.f.PQfreeCancel(cancel);
}

/* Runs last: after this test cenoted is not reachable. */
static void
nobody_to_hear_it_is_told(void **state)
{
	struct fixture *f = *state;
	PGcancel *cancel = f->ours.f.PQgetCancel(f->conn);
	PGcancelConn *newer = f->ours.f.PQcancelCreate(f->conn);
	char why[256], cut[24], path[200];

	assert_int_equal(f->ours.f.PQsendQuery(f->conn, "select pg_sleep(60)"), 1);
	snprintf(path, sizeof(path), "%s/main.sock", f->rig.daemon.run_dir);
	assert_int_equal(unlink(path), 0);
	errno = ENOTTY;
	assert_int_equal(f->ours.f.PQcancel(cancel, why, sizeof(why)), 0);
	assert_int_equal(errno, ENOTTY);
	assert_ptr_equal(strstr(why, "PQcancel() -- cenoted is not reachable at "), why);
	assert_non_null(strstr(why, "/main.sock: No such file or directory\n"));
	assert_int_equal(f->ours.f.PQcancel(cancel, cut, sizeof(cut)), 0);
	assert_string_equal(cut, "PQcancel() -- cenoted \n");
	assert_int_equal(f->ours.f.PQcancel(cancel, NULL, 0), 0);
	assert_int_equal(f->ours.f.PQcancelBlocking(newer), 0);
	assert_int_equal(f->ours.f.PQcancelStatus(newer), CONNECTION_BAD);
	assert_non_null(
		strstr(f->ours.f.PQcancelErrorMessage(newer), "is not reachable"));
	assert_int_equal(f->ours.f.PQrequestCancel(f->conn), 0);
	assert_ptr_equal(f->ours.f.PQerrorMessage(f->conn),
		strstr(f->ours.f.PQerrorMessage(f->conn), "PQcancel() -- cenoted"));
	f->ours.f.PQcancelFinish(newer);
	f->ours.f.PQfreeCancel(cancel);
}

/* Use the descriptor and poll after each step, as libpq's manual describes. */
static void
cancel_step_by_step(struct fixture *f, PGcancelConn *newer)
{
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;

	f->ours.f.PQcancelReset(newer);
	assert_int_equal(f->ours.f.PQcancelStart(newer), 1);
	while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
		struct pollfd p = { .fd = f->ours.f.PQcancelSocket(newer),
			.events = next == PGRES_POLLING_WRITING ? POLLOUT : POLLIN };

		assert_true(p.fd > 2);
		assert_int_equal(poll(&p, 1, 5000), 1);
		next = f->ours.f.PQcancelPoll(newer);
	}
	assert_int_equal(next, PGRES_POLLING_OK);
	assert_int_equal(f->ours.f.PQcancelStatus(newer), CONNECTION_OK);
}

static void
an_event_loop_cancels_step_by_step(void **state)
{
	struct fixture *f = *state;
	PGcancelConn *newer = f->ours.f.PQcancelCreate(f->conn);
	PGresult *res;

	assert_int_equal(f->ours.f.PQcancelSocket(newer), -1);
	assert_int_equal(f->ours.f.PQsendQuery(f->conn, "select pg_sleep(60)"), 1);
	/* repeat it: a cancel that arrives before the statement has no effect */
	while (f->ours.f.PQisBusy(f->conn)) {
		struct pollfd p = { .fd = f->ours.f.PQsocket(f->conn), .events = POLLIN };

		cancel_step_by_step(f, newer);
		(void)poll(&p, 1, 100);
		assert_int_equal(f->ours.f.PQconsumeInput(f->conn), 1);
	}
	res = f->ours.f.PQgetResult(f->conn);
	assert_string_equal(f->ours.f.PQresultErrorField(res, 'C'), "57014");
	f->ours.f.PQclear(res);
	assert_null(f->ours.f.PQgetResult(f->conn));
	f->ours.f.PQcancelFinish(newer);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_one, finish_one)
	const struct CMUnitTest tests[] = {
		TEST(threads_share_nothing_but_the_connection),
		TEST(of_a_pipeline_it_hits_what_runs),
		TEST(a_cancel_outlives_its_connection),
		TEST(an_event_loop_cancels_step_by_step),
		TEST(nobody_to_hear_it_is_told),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
