/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_canary unix|tls|lent
 *
 * With "lent", a client keeps its session until it leaves, and cenoted lends it. Otherwise the sessions change between
 * transactions.
 *
 * Many clients take turns on few sessions of PostgreSQL. Each question and each row names its client
 * and a number, so an answer that belongs to another request shows. Meanwhile requests are
 * cancelled, clients are killed, the server ends sessions, and cenoted reads its configuration
 * again. No answer may be wrong, and the server must have exactly the rows that clients were told of.
 *
 * CHECK_CANARY_SECONDS  how long each test goes on (5)
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_random.h"
#include "support/cnt_server.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_CLIENTS  64
#define N_SESSIONS 8
/* Numbers of a client: more than one can use while the test runs. */
#define NUMBERS    100000
#define AHEAD      5
#define MORE_MS    60000
#define LOST_STATE "08007"

static struct cnt_server server;
static struct cnt_daemon daemon_;
static bool has_tls; /* the clients come by TCP and TLS */
static bool lends;
static char certs[64];
static char uri[256];

/* What a client knows about the row with a number. It outlives the client's process. */
enum row {
	ROW_NONE,
	ROW_FAILED,
	ROW_UNKNOWN,
	ROW_DONE
};

struct client {
	int number;
	int n; /* the last number that was used */
	unsigned lives; /* how often its process has begun */
	unsigned n_right, n_cancelled, n_lost, n_lent;
	unsigned char rows[NUMBERS];
};

/* Shared with the clients' processes. */
static struct {
	atomic_int is_over;
	uint64_t seed;
	struct client clients[N_CLIENTS];
} * shared;

/* ---- a client ---- */

struct life {
	struct client *client;
	cenote_conn *conn;
	cenote_stmt *stmt; /* NULL: not prepared on this connection */
	struct cnt_random random;
	bool may_be_cancelled; /* a cancel was sent for the request that is running */
	bool is_wrong; /* something happened that must not happen */
};

static void
complain(struct life *l, const char *what, const char *got)
{
	fprintf(stderr, "# client %d, number %d: %s: %s\n", l->client->number,
		l->client->n, what, got);
	l->is_wrong = true;
}

/* A request failed. Only a lost session and a cancel that was asked for are allowed. 57P01: the session was
 * lost before the request began. */
static void
judge_failure(struct life *l, const char *what, const cenote_diag *diag)
{
	const char *state = cenote_diag_sqlstate(diag);
	char text[512];

	if (strcmp(state, "57014") == 0 && l->may_be_cancelled) {
		l->client->n_cancelled++;
	} else if (strncmp(state, "08", 2) == 0 || strcmp(state, "57P01") == 0) {
		l->client->n_lost++;
	} else {
		snprintf(text, sizeof(text), "%s %s", state, cenote_diag_message(diag));
		complain(l, what, text);
	}
}

/* The answer must be one row with the client and the number. */
static void
judge_answer(struct life *l, cenote_result *res, int n)
{
	int64_t who = -1, what = -1;
	char text[64];

	if (cenote_result_int64(res, 0, 0, &who) == CENOTE_OK &&
		cenote_result_int64(res, 0, 1, &what) == CENOTE_OK &&
		who == l->client->number && what == n) {
		l->client->n_right++;
		return;
	}
	snprintf(text, sizeof(text), "%d of client %d instead of %d", (int)what, (int)who,
		n);
	complain(l, "wrong answer", text);
}

static void
judge_query(struct life *l, const char *what, int r, cenote_result *res)
{
	if (r != CENOTE_OK) {
		judge_failure(l, what, cenote_conn_diag(l->conn));
		return;
	}
	judge_answer(l, res, l->client->n);
	cenote_result_destroy(res);
}

static void
ask(struct life *l)
{
	cenote_result *res = NULL;
	char sql[96];
	int r;

	snprintf(sql, sizeof(sql), "select %d, %d", l->client->number, l->client->n);
	r = cenote_query(l->conn, sql, CENOTE_NTS, NULL, NULL, &res);
	judge_query(l, "question", r, res);
}

/* A prepared statement comes along to each session that the client gets. */
static void
ask_prepared(struct life *l)
{
	cenote_result *res = NULL;
	cenote_params *params = NULL;
	int r = CENOTE_OK;

	if (l->stmt == NULL)
		r = cenote_stmt_create(
			l->conn, "select $1::int, $2::int", CENOTE_NTS, &l->stmt);
	if (r == CENOTE_OK)
		r = cenote_params_create(NULL, &params);
	if (r == CENOTE_OK)
		r = cenote_params_add_int64(params, l->client->number);
	if (r == CENOTE_OK)
		r = cenote_params_add_int64(params, l->client->n);
	if (r == CENOTE_OK)
		r = cenote_stmt_execute(l->stmt, params, NULL, &res);
	judge_query(l, "prepared statement", r, res);
	cenote_params_destroy(params);
}

/* A setting stays with its client, whichever session the client has. */
static void
ask_setting(struct life *l)
{
	cenote_result *res = NULL;
	char sql[96];
	int r;

	snprintf(sql, sizeof(sql), "set canary.who = %d", l->client->number);
	r = cnt_client_try(l->conn, sql);
	if (r != CENOTE_OK)
		judge_failure(l, "set", cenote_conn_diag(l->conn));
	for (int i = 0; i < 3 && r == CENOTE_OK && !l->is_wrong; i++) {
		snprintf(sql, sizeof(sql), "select current_setting('canary.who'), %d",
			l->client->n);
		r = cenote_query(l->conn, sql, CENOTE_NTS, NULL, NULL, &res);
		judge_query(l, "setting", r, res);
	}
	if (r == CENOTE_OK && cnt_client_try(l->conn, "discard all") != CENOTE_OK)
		judge_failure(l, "discard all", cenote_conn_diag(l->conn));
	cenote_stmt_destroy(l->stmt);
	l->stmt = NULL;
}

/* Get all results of a request, and judge each. */
static void
take_results(struct life *l, int n)
{
	cenote_result *res;
	int r;

	while ((r = cenote_get_result(l->conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ROWS)
			judge_answer(l, res, n);
		else if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
			judge_failure(l, "request", cenote_result_diag(res));
		cenote_result_destroy(res);
	}
	if (r < 0)
		judge_failure(l, "request", cenote_conn_diag(l->conn));
}

/* Several questions at once. */
static void
ask_ahead(struct life *l)
{
	int first = l->client->n, n_sent = 0;
	char sql[96];

	if (cenote_pipeline_begin(l->conn) != CENOTE_OK)
		return;
	while (n_sent < AHEAD) {
		cenote_params *none = NULL;
		int r = cenote_params_create(NULL, &none);

		snprintf(sql, sizeof(sql), "select %d, %d", l->client->number,
			first + n_sent);
		if (r == CENOTE_OK)
			r = cenote_send_query(l->conn, sql, CENOTE_NTS, none, NULL);
		cenote_params_destroy(none);
		if (r != CENOTE_OK || cenote_send_sync(l->conn) != CENOTE_OK)
			break;
		n_sent++;
	}
	l->client->n += n_sent;
	for (int i = 0; i < 2 * n_sent; i++)
		take_results(l, first + i / 2);
	if (cenote_pipeline_end(l->conn) != CENOTE_OK)
		judge_failure(l, "pipeline", cenote_conn_diag(l->conn));
}

/* The cancel may come before, in, or after the request. It must not stop another one. */
static void
ask_and_cancel(struct life *l)
{
	cenote_cancel *cancel = NULL;
	char sql[96];

	/* a cancel that comes by TCP waits for its turn like a new client */
	if (has_tls)
		return;
	snprintf(sql, sizeof(sql), "select %d, %d from pg_sleep(%s)", l->client->number,
		l->client->n, cnt_random_below(&l->random, 2) ? "0.02" : "0");
	if (cenote_send_query(l->conn, sql, CENOTE_NTS, NULL, NULL) != CENOTE_OK ||
		cenote_process(l->conn) < 0) {
		judge_failure(l, "send", cenote_conn_diag(l->conn));
		return;
	}
	cnt_pause_us((long)cnt_random_below(&l->random, 5000));
	l->may_be_cancelled = true;
	if (cenote_cancel_create(l->conn, &cancel) == CENOTE_OK &&
		cenote_cancel_send(cancel) < 0)
		fprintf(stderr, "# client %d: the cancel failed: %s\n", l->client->number,
			cenote_diag_message(cenote_cancel_diag(cancel)));
	take_results(l, l->client->n);
	cenote_cancel_destroy(cancel);
	l->may_be_cancelled = false;
}

static void
know(struct life *l, enum row row)
{
	l->client->rows[l->client->n] = (unsigned char)row;
}

/* Without a transaction, each statement commits. */
static void
insert(struct life *l)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "insert into work values (%d, %d)", l->client->number,
		l->client->n);
	know(l, ROW_UNKNOWN);
	if (cnt_client_try(l->conn, sql) == CENOTE_OK) {
		know(l, ROW_DONE);
		return;
	}
	if (strcmp(cnt_client_state(l->conn), LOST_STATE) != 0)
		know(l, ROW_FAILED);
	judge_failure(l, "insert", cenote_conn_diag(l->conn));
}

static void
insert_in_transaction(struct life *l)
{
	char sql[96];
	int r;

	snprintf(sql, sizeof(sql), "insert into work values (%d, %d)", l->client->number,
		l->client->n);
	know(l, ROW_FAILED);
	r = cenote_begin(l->conn, 0, 0);
	if (r == CENOTE_OK)
		r = cnt_client_try(l->conn, sql);
	if (r == CENOTE_OK)
		ask(l);
	if (r == CENOTE_OK && cenote_tx_state(l->conn) == CENOTE_TX_OPEN) {
		know(l, ROW_UNKNOWN);
		r = cenote_commit(l->conn);
		if (r == CENOTE_OK)
			know(l, ROW_DONE);
		else if (strcmp(cnt_client_state(l->conn), LOST_STATE) != 0)
			know(l, ROW_FAILED);
	}
	if (r != CENOTE_OK)
		judge_failure(l, "transaction", cenote_conn_diag(l->conn));
}

static void
step(struct life *l)
{
	static void (*const steps[])(struct life * l) = { ask, ask, ask, ask_prepared,
		ask_prepared, ask_ahead, ask_and_cancel, insert, insert_in_transaction };

	l->client->n++;
	if (cnt_random_below(&l->random, 50) == 0)
		ask_setting(l);
	else
		steps[cnt_random_below(&l->random, CNT_COUNT(steps))](l);
}

static void
leave(struct life *l)
{
	cenote_stmt_destroy(l->stmt);
	cenote_conn_destroy(l->conn);
	l->stmt = NULL;
	l->conn = NULL;
}

/* Use a new connection after a loss, and sometimes without one. */
static void
work(struct life *l)
{
	static const char *const options[] = { "connect_timeout", "60s", "query_timeout",
		"20s", NULL };
	unsigned n_lost = l->client->n_lost;

	l->conn = cnt_client_open(uri, options);
	if (l->conn == NULL)
		complain(l, "connect", "failed");
	while (!l->is_wrong && n_lost == l->client->n_lost && !shared->is_over &&
		l->client->n < NUMBERS - 2 * AHEAD && cnt_random_below(&l->random, 200))
		step(l);
	if (l->conn != NULL && strcmp(cenote_info(l->conn, "data_path"), "lent") == 0)
		l->client->n_lent++;
	leave(l);
}

static int
be_client(void *arg)
{
	struct life l = { .client = arg };

	cnt_random_init(&l.random,
		shared->seed + (uint64_t)l.client->number * 1000 + l.client->lives++);
	while (!l.is_wrong && !shared->is_over && l.client->n < NUMBERS - 2 * AHEAD)
		work(&l);
	if (l.is_wrong)
		shared->is_over = 1;
	return l.is_wrong;
}

/* ---- what disturbs them ---- */

static char *
config_of(const char *lines)
{
	static char config[4096];
	char pool[256];

	snprintf(pool, sizeof(pool), "sessions = %d\n%s%s%s", N_SESSIONS,
		lends ? "lend = auto\nqueue_timeout = 60s\n" : "mode = transaction\n",
		has_tls ? "auth = trust, trust door=tcp\n" : "", lines);
	return cnt_server_config(&server, pool, config, sizeof(config));
}

static void
kill_client(pid_t *pids, struct cnt_random *rnd)
{
	size_t i = cnt_random_below(rnd, N_CLIENTS);

	if (!cnt_is_running(pids[i]))
		return;
	kill(pids[i], SIGKILL);
	assert_int_equal(cnt_wait(pids[i]), 256 + SIGKILL);
	pids[i] = cnt_fork(be_client, &shared->clients[i]);
	assert_true(pids[i] > 0);
}

static void
end_session(void)
{
	assert_int_equal(cnt_server_sql(&server,
				 "select pg_terminate_backend(pid) from pg_stat_activity "
				 "where usename = 'app' order by random() limit 1"),
		0);
}

/* The pool gets other workers. */
static void
reload(unsigned turn)
{
	assert_int_equal(cnt_daemon_configure(
				 &daemon_, config_of(turn % 2 ? "idle_ttl = 50s\n" : "")),
		0);
	assert_int_equal(kill(daemon_.pid, SIGHUP), 0);
}

/* Whether everything has happened that the run is to show. */
static bool
has_seen_all(bool ends_sessions)
{
	unsigned n_lost = 0, n_cancelled = 0, n_lent = 0;

	for (int i = 0; i < N_CLIENTS; i++) {
		n_lost += shared->clients[i].n_lost;
		n_cancelled += shared->clients[i].n_cancelled;
		n_lent += shared->clients[i].n_lent;
	}
	return (!ends_sessions || n_lost > 0) && (has_tls || n_cancelled > 0) &&
	       (!lends || n_lent > 0);
}

/* Kill clients and change the pool, and let the server end sessions if `ends_sessions`. On a busy machine it takes
 * longer until everything has happened. */
static void
disturb(pid_t *pids, bool ends_sessions)
{
	int64_t seconds = strtoll(cnt_env_or("CHECK_CANARY_SECONDS", "5"), NULL, 10);
	int64_t until = cnt_now_ms() + seconds * 1000;
	struct cnt_random rnd;

	cnt_random_init(&rnd, shared->seed);
	for (unsigned turn = 0; !shared->is_over; turn++) {
		int64_t now = cnt_now_ms();

		if (now > until && (has_seen_all(ends_sessions) || now > until + MORE_MS))
			break;
		cnt_pause_ms((long)cnt_random_below(&rnd, 60));
		kill_client(pids, &rnd);
		if (ends_sessions && turn % 8 == 7)
			end_session();
		if (turn % 12 == 11)
			reload(turn / 12);
	}
	shared->is_over = 1;
}

/* ---- what came out ---- */

/* The server's rows must be those that the client knows of, each once. Returns how many there are. */
static int
check_rows(const struct client *c, cenote_conn *conn)
{
	static unsigned char seen[NUMBERS];
	cenote_result *res = NULL;
	char sql[96];
	int64_t n;
	int n_rows;

	memset(seen, 0, sizeof(seen));
	snprintf(sql, sizeof(sql), "select n from work where who = %d", c->number);
	assert_ok(cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res));
	for (n_rows = 0; cenote_result_int64(res, (uint64_t)n_rows, 0, &n) == CENOTE_OK;
		n_rows++)
		seen[n]++;
	cenote_result_destroy(res);
	for (int i = 0; i <= c->n; i++) {
		bool may_be = c->rows[i] >= ROW_UNKNOWN;

		if (seen[i] > may_be || seen[i] < (c->rows[i] == ROW_DONE))
			fail_msg("client %d: row %d is there %u times, state %u",
				c->number, i, seen[i], c->rows[i]);
	}
	return n_rows;
}

/* What the clients of one test saw. */
struct seen {
	unsigned n_right, n_cancelled, n_lost, n_lent, n_lives, n_rows;
};

static struct seen
check_all(void)
{
	struct seen seen = { 0 };
	cenote_conn *conn = cnt_client_open(daemon_.uri, NULL);

	assert_non_null(conn);
	for (int i = 0; i < N_CLIENTS; i++) {
		const struct client *c = &shared->clients[i];

		seen.n_right += c->n_right;
		seen.n_cancelled += c->n_cancelled;
		seen.n_lost += c->n_lost;
		seen.n_lent += c->n_lent;
		seen.n_lives += c->lives;
		seen.n_rows += (unsigned)check_rows(c, conn);
	}
	cenote_conn_destroy(conn);
	print_message(
		"# %u right answers, %u rows, %u cancelled, %u lost, %u lent, %u lives\n",
		seen.n_right, seen.n_rows, seen.n_cancelled, seen.n_lost, seen.n_lent,
		seen.n_lives);
	assert_true(seen.n_rows > 0 && (has_tls || seen.n_cancelled > 0));
	assert_true(!lends || seen.n_lent > 0);
	return seen;
}

static struct seen
run(bool ends_sessions)
{
	pid_t pids[N_CLIENTS];
	int n_wrong = 0;

	assert_int_equal(cnt_server_sql(&server, "truncate work"), 0);
	memset(shared->clients, 0, sizeof(shared->clients));
	shared->is_over = 0;
	for (int i = 0; i < N_CLIENTS; i++) {
		shared->clients[i].number = i + 1;
		pids[i] = cnt_fork(be_client, &shared->clients[i]);
		assert_true(pids[i] > 0);
	}
	disturb(pids, ends_sessions);
	for (int i = 0; i < N_CLIENTS; i++)
		n_wrong += cnt_wait(pids[i]) != 0;
	if (n_wrong > 0)
		cnt_daemon_show_log(&daemon_);
	assert_int_equal(n_wrong, 0);
	assert_true(cnt_daemon_is_alive(&daemon_));
	return check_all();
}

static void
nobody_notices_that_the_pool_changes(void **state)
{
	assert_int_equal(run(false).n_lost, 0);
}

static void
each_client_gets_its_own_answers(void **state)
{
	assert_true(run(true).n_lost > 0);
}

/* Make certificates, and let the daemon listen. */
static int
prepare_tls(void)
{
	int port = cnt_server_free_port();
	char lines[256];

	snprintf(certs, sizeof(certs), "/tmp/cenote-canary-XXXXXX");
	if (mkdtemp(certs) == NULL || rmdir(certs) < 0 || cnt_server_certs(certs) < 0)
		return -1;
	snprintf(lines, sizeof(lines),
		"listen = 127.0.0.1:%d\ntls_cert = %s/server.crt\ntls_key = "
		"%s/server.key\n",
		port, certs, certs);
	snprintf(uri, sizeof(uri), "cenote://app@127.0.0.1:%d/main?tls=require", port);
	return setenv("CNT_DAEMON_LINES", lines, 1);
}

static int
setup(void **state)
{
	struct cnt_random rnd;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -1;
	cnt_random_init_printed(&rnd);
	shared->seed = rnd.seed;
	if (cnt_server_start(&server, CNT_POSTGRESQL, 0) < 0 ||
		cnt_server_sql(&server, "create table work (who int, n int);"
					"grant all on work to public") < 0)
		return -1;
	if (has_tls && prepare_tls() < 0)
		return -1;
	if (cnt_daemon_start(&daemon_, config_of("")) < 0)
		return -1;
	if (!has_tls)
		snprintf(uri, sizeof(uri), "%s", daemon_.uri);
	return 0;
}

static int
teardown(void **state)
{
	int r = cnt_daemon_stop(&daemon_);

	cnt_server_stop(&server);
	if (certs[0] != '\0')
		cnt_remove_tree(certs);
	return r;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_notices_that_the_pool_changes),
		cmocka_unit_test(each_client_gets_its_own_answers),
	};

	has_tls = argc > 1 && strcmp(argv[1], "tls") == 0;
	lends = argc > 1 && strcmp(argv[1], "lent") == 0;
	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
