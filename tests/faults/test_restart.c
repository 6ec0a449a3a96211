/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's own processes end under load. Clients do not notice a restart. Only the client of a
 * lost worker notices the loss, and it learns the true outcome.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_random.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N_CLIENTS 12
/* All clients write to one database, and a busy machine may stand still for seconds. */
#define CONFIG                                                                           \
	CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = sqlite\n"                            \
			  "server = path=@DIR@/main.db busy_timeout=60s\n"               \
			  "sessions = 6..6\n"                                            \
			  "mode = transaction\n"                                         \
			  "queue_timeout = 60s\n"

/* Shared with the children. */
struct tally {
	volatile int stop;
	volatile int64_t n_selects[N_CLIENTS];
	volatile int64_t n_commits[N_CLIENTS]; /* commits reported as done */
	volatile int64_t n_unknown[N_CLIENTS]; /* commits reported as unknown (08007) */
	/* Losses reported with a known outcome (other 08…). */
	volatile int64_t n_lost[N_CLIENTS];
};

struct client {
	const char *uri;
	struct tally *tally;
	int number;
	int may_lose; /* the test expects lost sessions: count them and go on */
};

/* Connect. If a worker is killed meanwhile, try again a few times. */
static int
connect_again(cenote_conn *conn)
{
	int i, r = CENOTE_ERR_CONN;

	for (i = 0; i < 20 && r == CENOTE_ERR_CONN; i++) {
		if (i > 0)
			cnt_pause_us(20000);
		r = cenote_connect(conn);
	}
	if (r != CENOTE_OK)
		cnt_client_complain(conn, "connecting again", r);
	return r == CENOTE_OK ? 0 : -1;
}

/* Handle a failed call. Returns 0 if the loss was expected and the client has connected again. */
static int
after_failure(cenote_conn *conn, const struct client *c, int status, int is_write)
{
	const char *state = cnt_client_state(conn);

	if (!c->may_lose || status != CENOTE_ERR_CONN || strncmp(state, "08", 2) != 0) {
		cnt_client_complain(conn, "under load", status);
		return -1;
	}
	/* Only a write may have an unknown outcome. */
	if (strcmp(state, "08007") == 0) {
		if (!is_write) {
			cnt_client_complain(conn, "unknown outcome of a read", status);
			return -1;
		}
		c->tally->n_unknown[c->number]++;
	} else {
		c->tally->n_lost[c->number]++;
	}
	return connect_again(conn);
}

static int
select_one(cenote_conn *conn, const struct client *c, int64_t i)
{
	cenote_result *res = NULL;
	cenote_params *params;
	int64_t value = -1;
	int r = cenote_params_create(NULL, &params);

	if (r < 0 || cenote_params_add_int64(params, i) < 0)
		abort();
	r = cenote_query(conn, "select ? + 1", CENOTE_NTS, params, NULL, &res);
	cenote_params_destroy(params);
	if (r != CENOTE_OK)
		return after_failure(conn, c, r, 0);
	if (cenote_result_int64(res, 0, 0, &value) != CENOTE_OK || value != i + 1) {
		fprintf(stderr, "# a wrong answer: %lld\n", (long long)value);
		r = -1;
	}
	cenote_result_destroy(res);
	c->tally->n_selects[c->number]++;
	return r;
}

static int
insert_two(cenote_conn *conn)
{
	cenote_result *res = NULL;
	int i, r = cenote_begin(conn, 0, CENOTE_BEGIN_IMMEDIATE);

	for (i = 0; r == CENOTE_OK && i < 2; i++) {
		r = cenote_query(conn, "insert into work values (1)", CENOTE_NTS, NULL,
			NULL, &res);
		if (r == CENOTE_OK)
			cenote_result_destroy(res);
	}
	return r;
}

static int
write_two(cenote_conn *conn, const struct client *c)
{
	int r = insert_two(conn);

	if (r != CENOTE_OK) {
		int failed = after_failure(conn, c, r, 0);

		if (failed == 0 && cenote_rollback(conn) != CENOTE_OK)
			failed = -1;
		return failed;
	}
	r = cenote_commit(conn);
	if (r != CENOTE_OK)
		return after_failure(conn, c, r, 1);
	c->tally->n_commits[c->number]++;
	return 0;
}

static int
run_client(void *arg)
{
	const struct client *c = arg;
	cenote_conn *conn = cnt_client_open(c->uri, NULL);
	struct cnt_random rnd;
	int64_t i;
	int r = 0;

	if (!conn)
		return 1;
	cnt_random_init(&rnd, (uint64_t)c->number);
	for (i = 0; r == 0 && !c->tally->stop; i++) {
		if (cnt_random_below(&rnd, 10) == 0)
			r = write_two(conn, c);
		else
			r = select_one(conn, c, i);
		if (cnt_random_below(&rnd, 4) == 0)
			cnt_pause_us((long)cnt_random_below(&rnd, 3000));
	}
	cenote_conn_destroy(conn);
	return r == 0 ? 0 : 1;
}

struct load {
	struct cnt_daemon daemon;
	struct tally *tally;
	struct client clients[N_CLIENTS];
	pid_t pids[N_CLIENTS];
};

static void
load_begin(struct load *load, int may_lose)
{
	cenote_conn *conn;
	int i;

	memset(load, 0, sizeof(*load));
	assert_int_equal(cnt_daemon_start(&load->daemon, CONFIG), 0);
	conn = cnt_client_open(load->daemon.uri, NULL);
	assert_non_null(conn);
	assert_int_equal(cnt_client_exec(conn, "create table work (a)", 0, 0, 0), 0);
	cenote_conn_destroy(conn);
	load->tally = mmap(NULL, sizeof(*load->tally), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(load->tally != MAP_FAILED);
	for (i = 0; i < N_CLIENTS; i++) {
		load->clients[i] =
			(struct client){ load->daemon.uri, load->tally, i, may_lose };
		load->pids[i] = cnt_fork(run_client, &load->clients[i]);
	}
}

static int64_t
sum(const volatile int64_t *values)
{
	int64_t total = 0;
	int i;

	for (i = 0; i < N_CLIENTS; i++)
		total += values[i];
	return total;
}

/* End the clients. Then check that the table holds what their results said. */
static void
load_end(struct load *load)
{
	struct tally *t = load->tally;
	int64_t n_rows, n_commits, n_unknown;
	cenote_conn *conn;
	int i, n_failed = 0;

	t->stop = 1;
	for (i = 0; i < N_CLIENTS; i++)
		n_failed += cnt_wait(load->pids[i]) != 0;
	if (n_failed > 0)
		cnt_daemon_show_log(&load->daemon);
	conn = cnt_client_open(load->daemon.uri, NULL);
	assert_non_null(conn);
	n_rows = cnt_client_int(conn, "select count(*) from work", 0, 0, 0);
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_stop(&load->daemon), 0);
	assert_int_equal(n_failed, 0);

	n_commits = sum(t->n_commits);
	n_unknown = sum(t->n_unknown);
	printf("# %lld selects, %lld commits, %lld unknown, %lld lost, %lld rows\n",
		(long long)sum(t->n_selects), (long long)n_commits, (long long)n_unknown,
		(long long)sum(t->n_lost), (long long)n_rows);
	assert_true(n_commits > 0);
	assert_int_equal(n_rows % 2, 0);
	assert_in_range(n_rows, 2 * n_commits, 2 * (n_commits + n_unknown));
	munmap(t, sizeof(*t));
}

static void
a_restart_under_load_is_not_seen(void **state)
{
	struct load load;
	int64_t before;
	int i;

	load_begin(&load, 0);
	cnt_pause_us(500000);
	for (i = 0; i < 3; i++) {
		assert_int_equal(cnt_daemon_end(&load.daemon), 0);
		cnt_pause_us(200000);
		assert_int_equal(cnt_daemon_run(&load.daemon), 0);
		before = sum(load.tally->n_selects);
		cnt_pause_us(500000);
		/* The clients went on. */
		assert_true(sum(load.tally->n_selects) > before);
	}
	load_end(&load);
}

/* Wait until the daemon has n children: workers and the door. */
static size_t
await_children(const struct cnt_daemon *d, size_t n)
{
	pid_t pids[64];
	size_t n_now = 0;
	int i;

	for (i = 0; i < 400; i++) {
		n_now = cnt_daemon_children(d, pids, 64);
		if (n_now >= n)
			break;
		cnt_pause_us(50000);
	}
	return n_now;
}

static void
workers_killed_under_load_lose_nothing_but_what_they_held(void **state)
{
	struct load load;
	struct cnt_random rnd;
	pid_t pids[64];
	int64_t before;
	size_t n, n_all;
	int i;

	cnt_random_init_printed(&rnd);
	load_begin(&load, 1);
	n_all = await_children(&load.daemon, 7);
	for (i = 0; i < 12; i++) {
		cnt_pause_us(250000);
		n = cnt_daemon_children(&load.daemon, pids, 64);
		if (n > 0)
			kill(pids[cnt_random_below(&rnd, n)], SIGKILL);
	}
	/* The pool has its former size, and serves clients. */
	before = sum(load.tally->n_selects);
	/* The daemon pauses before it replaces a process that died soon after its start. */
	assert_int_equal(await_children(&load.daemon, n_all), n_all);
	cnt_pause_us(300000);
	assert_true(sum(load.tally->n_selects) > before);
	load_end(&load);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_under_load_is_not_seen),
		cmocka_unit_test(
			workers_killed_under_load_lose_nothing_but_what_they_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
