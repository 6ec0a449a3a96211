/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_failover postgresql|mariadb
 *
 * A primary and its replica change their roles under the load of many clients. The pool has `target = primary`. The clients of
 * PostgreSQL use the libpq shim, and those of MariaDB use libcenote. Each client writes down the outcome of each of its
 * transactions. Afterwards the new primary must have each row whose commit was acknowledged exactly once. It must have no row
 * that was reported as lost before its commit. A client may lose a transaction that was open. It must get no other error:
 * above all, it must always be able to connect and to begin a transaction.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef CNT_OUR_LIBPQ
#include <libpq-fe.h>
#endif

#define N_CLIENTS  32
#define N_SESSIONS 8
/* The most rows of a client. No client writes so many while the test runs. */
#define NUMBERS    100000

static enum cnt_server_kind kind;
static struct cnt_server one, two;
static struct cnt_daemon daemon_;

/* What a client was told about one of its rows. */
enum row {
	ROW_NONE,
	ROW_LOST, /* the session was lost before the commit: the row must not be there */
	ROW_UNKNOWN, /* the session was lost in the commit: the row may be there */
	ROW_DONE /* the commit was acknowledged: the row must be there */
};

/* Shared with the clients' processes. */
static struct {
	atomic_int is_over;
	_Atomic int64_t committed_us; /* when the last commit was acknowledged */
	_Atomic int64_t gap_us; /* the longest time between two of them */
	unsigned char rows[N_CLIENTS][NUMBERS];
} * shared;

/* ---- how a client talks to the pool ---- */

/* One connection of a client. Its functions print nothing. */
struct link {
	void *conn;
	bool is_lost; /* libpq has no SQLSTATE for a connection that was closed */
	char state[6]; /* of the last failure */
	char message[256];
};

struct face {
	bool (*open)(struct link *l);
	bool (*run)(struct link *l, const char *sql);
	/* The session was lost: get another one. */
	bool (*again)(struct link *l);
	void (*close)(struct link *l);
};

static bool
note_failure(struct link *l, const char *state, const char *message)
{
	snprintf(l->state, sizeof(l->state), "%s", state != NULL ? state : "");
	snprintf(l->message, sizeof(l->message), "%s", message);
	return false;
}

static bool
cenote_face_run(struct link *l, const char *sql)
{
	if (cnt_client_try(l->conn, sql) == CENOTE_OK)
		return true;
	return note_failure(l, cnt_client_state(l->conn),
		cenote_diag_message(cenote_conn_diag(l->conn)));
}

static bool
cenote_face_open(struct link *l)
{
	l->conn = cnt_client_open(daemon_.uri, NULL);
	return l->conn != NULL || note_failure(l, "", "it could not connect");
}

static bool
cenote_face_again(struct link *l)
{
	cenote_close(l->conn);
	if (cenote_connect(l->conn) == CENOTE_OK)
		return true;
	return note_failure(l, cnt_client_state(l->conn),
		cenote_diag_message(cenote_conn_diag(l->conn)));
}

static void
cenote_face_close(struct link *l)
{
	cenote_conn_destroy(l->conn);
}

static const struct face cenote_face = { cenote_face_open, cenote_face_run,
	cenote_face_again, cenote_face_close };

#ifdef CNT_OUR_LIBPQ
static struct {
	PGconn *(*connectdb)(const char *conninfo);
	PGresult *(*exec)(PGconn *conn, const char *sql);
	ExecStatusType (*result_status)(const PGresult *res);
	char *(*field)(const PGresult *res, int code);
	void (*clear)(PGresult *res);
	ConnStatusType (*status)(const PGconn *conn);
	char *(*message)(const PGconn *conn);
	void (*reset)(PGconn *conn);
	void (*finish)(PGconn *conn);
} pq;

static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	assert_non_null(address);
	memcpy(slot, &address, sizeof(address));
}

static void
load_shim(void)
{
	void *library = dlopen(CNT_OUR_LIBPQ, RTLD_NOW | RTLD_LOCAL);
	char server[160];

	if (library == NULL)
		fail_msg("%s", dlerror());
	find(library, "PQconnectdb", &pq.connectdb);
	find(library, "PQexec", &pq.exec);
	find(library, "PQresultStatus", &pq.result_status);
	find(library, "PQresultErrorField", &pq.field);
	find(library, "PQclear", &pq.clear);
	find(library, "PQstatus", &pq.status);
	find(library, "PQerrorMessage", &pq.message);
	find(library, "PQreset", &pq.reset);
	find(library, "PQfinish", &pq.finish);
	snprintf(server, sizeof(server), "unix:%s", daemon_.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
}

static bool
pq_face_run(struct link *l, const char *sql)
{
	PGresult *res = pq.exec(l->conn, sql);
	ExecStatusType status = pq.result_status(res);
	bool is_good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;

	if (!is_good)
		note_failure(l, pq.field(res, PG_DIAG_SQLSTATE), pq.message(l->conn));
	l->is_lost = pq.status(l->conn) == CONNECTION_BAD;
	pq.clear(res);
	return is_good;
}

static bool
pq_face_open(struct link *l)
{
	l->conn = pq.connectdb("dbname=app user=app");
	return pq.status(l->conn) == CONNECTION_OK ||
	       note_failure(l, "", pq.message(l->conn));
}

static bool
pq_face_again(struct link *l)
{
	pq.reset(l->conn);
	return pq.status(l->conn) == CONNECTION_OK ||
	       note_failure(l, "", pq.message(l->conn));
}

static void
pq_face_close(struct link *l)
{
	pq.finish(l->conn);
}

static const struct face pq_face = { pq_face_open, pq_face_run, pq_face_again,
	pq_face_close };
#endif

static const struct face *face = &cenote_face;

/* ---- a client ---- */

static bool
complain(const struct link *l, const char *what)
{
	fprintf(stderr, "# %s: [%s] %s\n", what, l->state, l->message);
	return false;
}

static void
note_commit(void)
{
	int64_t now = cnt_now_us();
	int64_t gap = now - atomic_exchange(&shared->committed_us, now);
	int64_t longest = shared->gap_us;

	while (gap > longest &&
		!atomic_compare_exchange_weak(&shared->gap_us, &longest, gap))
		;
}

/* Whether the error says that the session is lost. The shim reports it as libpq does, with the server's own words. */
static bool
is_loss(const struct link *l)
{
	return l->is_lost || strncmp(l->state, "08", 2) == 0;
}

/* A statement has failed. Connect again and return `row`. Negative: the session was not lost, or the client cannot connect. */
static int
lose(struct link *l, enum row row, const char *in)
{
	if (!is_loss(l)) {
		complain(l, in);
		return -1;
	}
	if (!face->again(l)) {
		complain(l, "connecting again");
		return -1;
	}
	return row;
}

/* A transaction with one row. Returns enum row. */
static int
write_in_transaction(struct link *l, const char *insert)
{
	if (!face->run(l, "begin")) {
		complain(l, "begin");
		return -1;
	}
	if (!face->run(l, insert))
		return lose(l, ROW_LOST, "an insert in a transaction");
	if (face->run(l, "commit"))
		return ROW_DONE;
	/* 08006 says that the transaction was surely not committed */
	return lose(l, strcmp(l->state, "08006") == 0 ? ROW_LOST : ROW_UNKNOWN, "commit");
}

static int
write_alone(struct link *l, const char *insert)
{
	if (face->run(l, insert))
		return ROW_DONE;
	return lose(l, strcmp(l->state, "08006") == 0 ? ROW_LOST : ROW_UNKNOWN,
		"an insert alone");
}

static int
be_client(void *arg)
{
	int number = *(int *)arg, row = ROW_NONE;
	struct link l = { .conn = NULL };
	char insert[96];

	if (!face->open(&l))
		return complain(&l, "connecting");
	for (int n = 0; !shared->is_over && n < NUMBERS; n++) {
		snprintf(insert, sizeof(insert), "insert into ledger values (%d, %d)",
			number, n);
		row = n % 4 == 3 ? write_alone(&l, insert)
				 : write_in_transaction(&l, insert);
		if (row < 0)
			break;
		shared->rows[number][n] = (unsigned char)row;
		if (row == ROW_DONE)
			note_commit();
		if (n % 3 == 0)
			cnt_pause_us(1000L * (number % 7));
	}
	face->close(&l);
	return row < 0;
}

/* ---- the servers ---- */

static void
sql(const struct cnt_server *s, const char *text)
{
	assert_int_equal(cnt_server_sql(s, text), 0);
}

static int
number_of(const struct cnt_server *s, const char *question)
{
	char text[64];

	assert_int_equal(cnt_server_ask(s, question, text, sizeof(text)), 0);
	return atoi(text);
}

static void
await_number(const struct cnt_server *s, const char *question, int wanted)
{
	int64_t until = cnt_now_us() + 30000000;

	while (number_of(s, question) != wanted) {
		if (cnt_now_us() > until)
			fail_msg("%s is not %d", question, wanted);
		cnt_pause_us(20000);
	}
}

#define TABLES                                                                           \
	"select count(*) from information_schema.tables where table_name = 'ledger'"

static void
start_servers(void)
{
	bool is_pg = kind == CNT_POSTGRESQL;

	assert_int_equal(cnt_server_create(&one, kind, is_pg ? 0 : CNT_SERVER_TCP), 0);
	assert_int_equal(cnt_server_replicates(&one, 0), 0);
	assert_int_equal(cnt_server_run(&one), 0);
	if (!is_pg)
		sql(&one, "grant replication slave on *.* to locked@'%'");
	assert_int_equal(cnt_server_create_replica(&two, &one), 0);
	assert_int_equal(cnt_server_run(&two), 0);
	if (!is_pg)
		assert_int_equal(cnt_server_follow(&two, &one), 0);
	/* without a unique index, so that a row can be there twice and the test sees it */
	sql(&one, is_pg ? "create table ledger (client int, n int); grant all on ledger "
			  "to app"
			: "create table ledger (client int, n int) engine = innodb");
	await_number(&two, TABLES, 1);
}

/* PostgreSQL: commits wait until the other server has them. */
static void
make_synchronous(const struct cnt_server *s)
{
	sql(s, "alter system set synchronous_commit = on");
	sql(s, "alter system set synchronous_standby_names = '*'");
	sql(s, "select pg_reload_conf()");
	await_number(s,
		"select count(*) from pg_stat_replication where sync_state = 'sync'", 1);
}

static void
stop_waiting(const struct cnt_server *s)
{
	sql(s, "alter system set synchronous_standby_names = ''");
	sql(s, "select pg_reload_conf()");
}

/* The old primary, which has everything, becomes the replica of the new one. */
static void
switch_over_mariadb(const struct cnt_server *from, const struct cnt_server *to)
{
	char position[128], wait[256];

	sql(from, "set global read_only = 1");
	assert_int_equal(cnt_server_ask(from, "select @@global.gtid_binlog_pos", position,
				 sizeof(position)),
		0);
	position[strcspn(position, "\n")] = '\0';
	snprintf(wait, sizeof(wait), "select master_gtid_wait('%s', 20)", position);
	assert_int_equal(number_of(to, wait), 0);
	sql(to, "stop slave; reset slave all; set global read_only = 0");
	snprintf(wait, sizeof(wait), "set global gtid_slave_pos = '%s'", position);
	sql(from, wait);
	assert_int_equal(cnt_server_follow(from, to), 0);
}

/* The primary ends, and its replica is promoted once it has everything. */
static void
switch_over(struct cnt_server *from, struct cnt_server *to)
{
	if (kind == CNT_MARIADB) {
		switch_over_mariadb(from, to);
		return;
	}
	make_synchronous(from);
	cnt_pause_us(500000);
	assert_int_equal(cnt_server_shutdown(from), 0);
	stop_waiting(to);
	sql(to, "select pg_promote()");
}

/* ---- the load ---- */

static pid_t pids[N_CLIENTS];
static int numbers[N_CLIENTS];

static void
start(void)
{
	char config[4096];

	/* cenoted must not find the shim in place of libpq */
	cnt_clean_environment();
	start_servers();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool main]\nbackend = %s\nserver = %s\nserver = %s\n"
		"sessions = %d..%d\nmode = transaction\ntarget = primary\n"
		"failover_hold = 20s\nqueue_timeout = 60s\ncheck_interval = 1s\n",
		one.backend, one.server_line, two.server_line, N_SESSIONS, N_SESSIONS);
	assert_int_equal(cnt_daemon_start(&daemon_, config), 0);
#ifdef CNT_OUR_LIBPQ
	if (kind == CNT_POSTGRESQL) {
		load_shim();
		face = &pq_face;
	}
#endif
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	shared->committed_us = cnt_now_us();
	for (int i = 0; i < N_CLIENTS; i++) {
		numbers[i] = i;
		pids[i] = cnt_fork(be_client, &numbers[i]);
	}
	cnt_pause_us(1000000);
	shared->gap_us = 0;
}

/* The new primary has been promoted. Wait until clients commit there, and let them go on for a while. */
static void
say_gap(const char *what)
{
	int64_t promoted = cnt_now_us();

	while (shared->committed_us < promoted) {
		if (cnt_now_us() - promoted > 30000000)
			fail_msg("%s: no client commits any more", what);
		cnt_pause_us(20000);
	}
	cnt_pause_us(2000000);
	printf("# %s: no commit for %" PRId64 " ms\n", what, shared->gap_us / 1000);
	assert_in_range(shared->gap_us, 1, 15000000);
	shared->gap_us = 0;
}

static int
count_told(enum row row)
{
	int n = 0;

	for (int i = 0; i < N_CLIENTS; i++) {
		for (int j = 0; j < NUMBERS; j++)
			n += shared->rows[i][j] == row;
	}
	return n;
}

/* Compare the server's table with what the clients were told. */
static void
compare(const struct cnt_server *s)
{
	static char text[16 * 1024 * 1024];
	static unsigned char is_there[N_CLIENTS][NUMBERS];
	int n_wrong = 0;

	assert_int_equal(
		cnt_server_ask(s, "select client, n from ledger", text, sizeof(text)), 0);
	memset(is_there, 0, sizeof(is_there));
	for (char *line = text, *end; *line != '\0'; line = end) {
		long client = strtol(line, &end, 10);
		long n = strtol(end + 1, &end, 10);

		assert_in_range(client, 0, N_CLIENTS - 1);
		assert_in_range(n, 0, NUMBERS - 1);
		is_there[client][n]++;
		end += strspn(end, "\r\n");
	}
	for (int i = 0; i < N_CLIENTS; i++) {
		for (int j = 0; j < NUMBERS; j++) {
			int told = shared->rows[i][j], there = is_there[i][j];

			if (there <= 1 && (told != ROW_DONE || there == 1) &&
				(told != ROW_LOST || there == 0))
				continue;
			if (n_wrong++ < 20)
				fprintf(stderr, "# row %d/%d: told %d, there %d\n", i, j,
					told, there);
		}
	}
	printf("# %d acknowledged, %d lost before their commit, %d unknown\n",
		count_told(ROW_DONE), count_told(ROW_LOST), count_told(ROW_UNKNOWN));
	assert_int_equal(n_wrong, 0);
	assert_true(count_told(ROW_DONE) > 0);
}

static void
finish(const struct cnt_server *last)
{
	int n_failed = 0;

	shared->is_over = 1;
	for (int i = 0; i < N_CLIENTS; i++)
		n_failed += cnt_wait(pids[i]) != 0;
	if (n_failed > 0)
		cnt_daemon_show_log(&daemon_);
	assert_int_equal(n_failed, 0);
	compare(last);
}

static int
teardown(void **state)
{
	(void)state;
	if (shared != NULL)
		munmap(shared, sizeof(*shared));
	shared = NULL;
	if (daemon_.dir[0] != '\0')
		cnt_daemon_stop(&daemon_);
	if (two.dir[0] != '\0')
		cnt_server_stop(&two);
	if (one.dir[0] != '\0')
		cnt_server_stop(&one);
	memset(&daemon_, 0, sizeof(daemon_));
	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
	return 0;
}

static void
a_switch_over_and_back_loses_no_commit(void **state)
{
	start();
	switch_over(&one, &two);
	say_gap("switch-over");
	if (kind == CNT_POSTGRESQL) {
		assert_int_equal(cnt_server_follow(&one, &two), 0);
		assert_int_equal(cnt_server_run(&one), 0);
	}
	switch_over(&two, &one);
	say_gap("and back");
	finish(&one);
}

/* Only PostgreSQL's replica has every acknowledged commit when its primary dies. */
static void
a_primary_that_dies_loses_no_commit(void **state)
{
	start();
	make_synchronous(&one);
	cnt_pause_us(500000);
	cnt_server_kill(&one);
	sql(&two, "select pg_promote()");
	say_gap("after the primary's death");
	finish(&two);
}

int
main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest of_both[] = { T(a_switch_over_and_back_loses_no_commit) };
	const struct CMUnitTest of_postgresql[] = {
		T(a_switch_over_and_back_loses_no_commit),
		T(a_primary_that_dies_loses_no_commit),
	};

	kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	return kind == CNT_POSTGRESQL ? cmocka_run_group_tests(of_postgresql, NULL, NULL)
				      : cmocka_run_group_tests(of_both, NULL, NULL);
}
