/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that stay connected while they have no session (docs/protocol.md, "Staying"): what they have of
 * their own goes with them from session to session, and what happens to others does not concern them.
 * test_staying_crowd.c has more of them at once, and those that mean harm.
 */
#include "turns.h"
#include "with_tls.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cnt_client.h"

static int
group_setup(void **state)
{
	return wt_make_certs(state) < 0 ? -1 : turns_setup(state);
}

static int
group_teardown(void **state)
{
	(void)turns_teardown(state);
	return wt_remove_certs(state);
}

/* A new socket has a new number, even if its descriptor is the same. */
static ino_t
socket_of(const cenote_conn *conn)
{
	struct stat st;

	assert_int_equal(fstat(cenote_fd(conn), &st), 0);
	return st.st_ino;
}

static long
attaches_of(cenote_conn *conn)
{
	return strtol(cenote_info(conn, "attaches"), NULL, 10);
}

/* ---- taking turns ---- */

enum {
	N_TURNS = 20
};

/* More than a client may send before it has a session, and than one TLS record holds. */
static void
take_long_turns(cenote_conn **conns, size_t n)
{
	static char sql[300000];

	memset(sql, ' ', sizeof(sql) - 1);
	memcpy(sql, "select 9", 8);
	for (size_t i = 0; i < 2 * n; i++)
		assert_string_equal(wp_value(conns[i % n], sql), "9");
}

/* The clients share one session, so that each turn moves it. */
static void
expect_turns_on_one_connection(cenote_conn **conns, size_t n)
{
	ino_t sockets[4];
	int64_t yields;

	assert_true(n <= CNT_COUNT(sockets));
	for (size_t i = 0; i < n; i++)
		sockets[i] = socket_of(conns[i]);
	yields = wp_pool_number("main", "yields");
	turns_take(conns, n, N_TURNS);
	assert_true(wp_pool_number("main", "yields") - yields >= N_TURNS * (int)n - 1);
	for (size_t i = 0; i < n; i++) {
		assert_true(socket_of(conns[i]) == sockets[i]);
		assert_true(attaches_of(conns[i]) >= N_TURNS);
	}
	/* whose session is taken in the middle of one comes with a new connection */
	take_long_turns(conns, n);
}

static void
clients_take_turns_on_a_unix_socket(void **state)
{
	cenote_conn *conns[3];

	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 3);
	expect_turns_on_one_connection(conns, 3);
	turns_destroy(conns, 3);
}

/* A pool with a port of its own. Returns the port. */
static int
start_with_port(void)
{
	int port = cnt_server_free_port();
	char line[64];

	snprintf(line, sizeof(line), "listen = 127.0.0.1:%d\n", port);
	setenv("CNT_DAEMON_LINES", line, 1);
	wt_start(turns_config("sessions = 1\n" TURNS_POOL "auth_timeout = 60s\n"
			      "auth = trust door=tcp, trust\n"
			      "tls_cert = @DIR@/certs/pool.crt\n"
			      "tls_key = @DIR@/certs/server.key\n"),
		"server.crt");
	unsetenv("CNT_DAEMON_LINES");
	return port;
}

static void
connect_joe(int port, const char *tls, cenote_conn **ret_conn)
{
	int r;

	*ret_conn = wt_joe(port, NULL, tls);
	r = cenote_connect(*ret_conn);
	if (r != CENOTE_OK)
		fail_msg("%s: %s", cenote_status_name(r), wp_message(*ret_conn));
}

static void
clients_take_turns_over_tcp(void **state)
{
	cenote_conn *conns[3];
	int port = start_with_port();

	for (int i = 0; i < 3; i++)
		connect_joe(port, "disable", &conns[i]);
	expect_turns_on_one_connection(conns, 3);
	turns_destroy(conns, 3);
}

static void
clients_take_turns_through_tls(void **state)
{
	cenote_conn *conns[3];
	int port = start_with_port();

	connect_joe(port, "verify-full", &conns[0]);
	connect_joe(port, "verify-full", &conns[1]);
	conns[2] = wp_attach(NULL);
	expect_turns_on_one_connection(conns, 3);
	for (int i = 0; i < 2; i++)
		assert_string_equal(
			cenote_tls_info(conns[i], CENOTE_HOP_POOL, "version"), "TLSv1.3");
	turns_destroy(conns, 3);
}

/* ---- what belongs to a client ---- */

/* The session of the moment. */
static long
backend_pid(cenote_conn *conn)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%s", wp_value(conn, "select pg_backend_pid()"));
	assert_string_equal(cenote_parameter(conn, "backend_pid"), pid);
	return strtol(pid, NULL, 10);
}

enum {
	N_OWNERS = 4
};

struct owner {
	cenote_conn *conn;
	cenote_stmt *stmt;
	char name[16];
};

static void
begin_owner(struct owner *o, int number)
{
	char sql[64];

	snprintf(o->name, sizeof(o->name), "client %d", number);
	o->conn = wp_handle(NULL);
	assert_ok(cenote_set_session_option(o->conn, "application_name", o->name));
	assert_ok(cenote_connect(o->conn));
	snprintf(sql, sizeof(sql), "select '%s has ' || $1::text", o->name);
	assert_ok(cenote_stmt_create(o->conn, sql, CENOTE_NTS, &o->stmt));
	assert_ok(cenote_stmt_prepare(o->stmt));
}

static void
expect_own(struct owner *o, const char *value)
{
	cenote_params *params = wp_params();
	cenote_result *res;
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%s has %s", o->name, value);
	assert_ok(cenote_params_add_text(params, value, CENOTE_NTS));
	assert_ok(cenote_stmt_execute(o->stmt, params, NULL, &res));
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), wanted);
	cenote_result_destroy(res);
	cenote_params_destroy(params);
	assert_string_equal(wp_value(o->conn, "show application_name"), o->name);
	assert_string_equal(cenote_parameter(o->conn, "application_name"), o->name);
}

static void
statements_and_options_are_the_clients_own(void **state)
{
	struct owner owners[N_OWNERS];
	long pids[2] = { 0, 0 };
	cenote_conn *holder;

	turns_start("sessions = 2\n" TURNS_POOL);
	holder = wp_attach(NULL);
	for (int i = 0; i < N_OWNERS; i++)
		begin_owner(&owners[i], i);
	for (int round = 0; round < 10; round++) {
		/* In every other round, the session that was used last has another client. */
		wp_exec(holder, round % 2 ? "begin" : "rollback");
		for (int i = 0; i < N_OWNERS; i++) {
			long pid;

			expect_own(&owners[i], round % 2 ? "odd" : "even");
			pid = backend_pid(owners[i].conn);
			if (pids[0] == 0 || pids[0] == pid)
				pids[0] = pid;
			else if (pids[1] == 0)
				pids[1] = pid;
			assert_true(pid == pids[0] || pid == pids[1]);
		}
	}
	assert_true(pids[1] != 0);
	cenote_conn_destroy(holder);
	for (int i = 0; i < N_OWNERS; i++) {
		assert_true(attaches_of(owners[i].conn) > 1);
		cenote_stmt_destroy(owners[i].stmt);
		cenote_conn_destroy(owners[i].conn);
	}
}

/* `holder` keeps its session, while the others share the other one. */
static void
expect_kept(cenote_conn *holder, cenote_conn **others, size_t n, const char *sql,
	const char *wanted)
{
	long pid = backend_pid(holder), attaches = attaches_of(holder);

	for (int round = 0; round < 5; round++) {
		turns_take(others, n, 1);
		for (size_t i = 0; i < n; i++)
			assert_true(backend_pid(others[i]) != pid);
		assert_string_equal(wp_value(holder, sql), wanted);
		assert_int_equal(backend_pid(holder), pid);
	}
	assert_int_equal(attaches_of(holder), attaches);
}

static void
who_holds_something_keeps_its_session(void **state)
{
	cenote_conn *conns[4];

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, 4);
	turns_take(conns, 4, 2);
	wp_exec(conns[0], "begin");
	wp_exec(conns[0], "create table held (a int)");
	expect_kept(conns[0], conns + 1, 3, "select count(*) from held", "0");
	wp_exec(conns[0], "rollback");
	turns_take(conns, 4, 5);
	wp_exec(conns[0], "create temp table own as select 5 as a");
	expect_kept(conns[0], conns + 1, 3, "select a from own", "5");
	assert_ok(cenote_reset(conns[0]));
	wp_exec(conns[1], "set work_mem = '3MB'");
	turns_take(conns + 2, 2, 5);
	assert_string_equal(wp_value(conns[1], "show work_mem"), "3MB");
	assert_string_not_equal(wp_value(conns[2], "show work_mem"), "3MB");
	assert_string_not_equal(wp_value(conns[3], "show work_mem"), "3MB");
	turns_destroy(conns, 4);
}

/* Longer than the pool takes note of it that a client had to wait. */
#define FORGET_MS 300

/* All turns but those of conns[holder], which holds one of the two sessions. */
static void
expect_turns_after_a_pause(cenote_conn **conns, size_t holder)
{
	char sql[64];

	turns_take(conns + 2, 2, 1);
	for (int i = 0; i < 3; i++) {
		wp_pause_ms(FORGET_MS);
		/* one of them is attached and idle, and must make room */
		snprintf(sql, sizeof(sql), "select %d", i);
		assert_string_equal(wp_value(conns[2 + i % 2], sql), sql + 7);
	}
	assert_string_equal(wp_value(conns[holder], "select 8"), "8");
}

static void
an_idle_client_makes_room_beside_one_that_holds_its_session(void **state)
{
	cenote_conn *conns[4];

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, 4);
	wp_exec(conns[0], "begin");
	wp_exec(conns[1], "begin");
	wp_exec(conns[0], "commit");
	expect_turns_after_a_pause(conns, 1);
	/* the same with the other session */
	wp_exec(conns[0], "begin");
	wp_exec(conns[1], "commit");
	expect_turns_after_a_pause(conns, 0);
	turns_destroy(conns, 4);
}

static void
autocommit_is_the_clients_own(void **state)
{
	cenote_conn *conns[3];

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, 3);
	wp_exec(conns[1], "drop table if exists deeds");
	wp_exec(conns[1], "create table deeds (who int)");
	assert_ok(cenote_set_autocommit(conns[0], 0));
	turns_take(conns + 1, 2, 3);
	for (int round = 0; round < 5; round++) {
		wp_exec(conns[0], "insert into deeds values (0)");
		assert_int_equal(cenote_tx_state(conns[0]), CENOTE_TX_OPEN);
		wp_exec(conns[1], "insert into deeds values (1)");
		turns_take(conns + 1, 2, 1);
		assert_string_equal(
			wp_value(conns[2], "select count(*) from deeds where who = 0"),
			"0");
		assert_ok(cenote_rollback(conns[0]));
		turns_take(conns + 1, 2, 3);
	}
	assert_string_equal(wp_value(conns[2], "select count(*) from deeds"), "5");
	wp_exec(conns[2], "drop table deeds");
	turns_destroy(conns, 3);
}

/* ---- clients that go ---- */

static size_t
count_descriptors(pid_t pid)
{
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* Wait until the process has no more than that. */
static void
await_descriptors(pid_t pid, size_t most)
{
	int64_t until = wp_now_ms() + 20000;

	while (count_descriptors(pid) > most && wp_now_ms() < until)
		wp_pause_ms(10);
	assert_true(count_descriptors(pid) <= most);
}

enum {
	N_GUESTS = 20
};

/* Clients stay until the process is killed. */
static int
stay_on(void *arg)
{
	cenote_conn *conns[N_GUESTS];

	(void)arg;
	for (int i = 0; i < N_GUESTS; i++) {
		if (wp_try(NULL, &conns[i]) != CENOTE_OK ||
			cnt_client_int(conns[i], "select 1", 0, 0, 0) != 1)
			return 1;
	}
	if (write(WP_KEPT, "", 1) != 1)
		return 1;
	for (;;)
		pause();
}

static void
kill_who_stays(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = wp_fork(stay_on, NULL, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(wp_join(pid), -1);
}

static void
who_goes_leaves_nothing(void **state)
{
	cenote_conn *conns[N_GUESTS], *conn;
	size_t n;
	pid_t pid;

	turns_start("sessions = 1\n" TURNS_POOL);
	pid = wp_worker_of(NULL);
	wp_await("main", "idle", 1);
	n = count_descriptors(pid);
	turns_attach(conns, N_GUESTS);
	turns_take(conns, N_GUESTS, 2);
	/* the status query may have had one of those before */
	assert_true(count_descriptors(pid) >= n + N_GUESTS - 1);
	turns_destroy(conns, N_GUESTS);
	await_descriptors(pid, n);
	kill_who_stays();
	await_descriptors(pid, n);
	wp_await("main", "idle", 1);
	conn = wp_attach(NULL);
	assert_int_equal(wp_worker_pid(conn), pid);
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
send_without_waiting(cenote_conn *conn, const char *sql)
{
	assert_ok(cenote_set_nonblocking(conn, 1));
	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_set_nonblocking(conn, 0));
}

static void
who_goes_while_it_waits_leaves_nothing(void **state)
{
	cenote_conn *conns[N_GUESTS], *holder;
	size_t n;
	pid_t pid;

	turns_start("sessions = 1\n" TURNS_POOL);
	holder = wp_attach(NULL);
	pid = wp_worker_pid(holder);
	n = count_descriptors(pid);
	turns_attach(conns, N_GUESTS);
	turns_take(conns, N_GUESTS, 1);
	wp_exec(holder, "begin");
	for (int i = 0; i < N_GUESTS; i++)
		send_without_waiting(conns[i], "select 1");
	turns_destroy(conns, N_GUESTS);
	assert_string_equal(wp_value(holder, "select 1"), "1");
	wp_exec(holder, "commit");
	await_descriptors(pid, n);
	assert_string_equal(wp_value(holder, "select 2"), "2");
	cenote_conn_destroy(holder);
}

/* The results of a query that was sent. */
static void
expect_answer(cenote_conn *conn, const char *wanted)
{
	cenote_result *res = wp_next_result(conn, CENOTE_RESULT_ROWS);

	assert_string_equal(cenote_result_text(res, 0, 0, NULL), wanted);
	cenote_result_destroy(res);
	(void)wp_next_result(conn, 0);
}

/* Their requests have arrived in a process that ends. */
static void
who_waits_over_tcp_goes_to_the_next_process(void **state)
{
	cenote_conn *conns[4];
	int port = start_with_port();

	conns[0] = wp_attach(NULL);
	for (int i = 1; i < 4; i++)
		connect_joe(port, i == 1 ? "verify-full" : "disable", &conns[i]);
	turns_take(conns, 4, 2);
	wp_exec(conns[0], "begin");
	for (int i = 1; i < 4; i++)
		send_without_waiting(conns[i], "select 5");
	assert_int_equal(kill(wp_worker_pid(conns[0]), SIGTERM), 0);
	wp_pause_ms(200);
	assert_string_equal(wp_value(conns[0], "select 6"), "6");
	wp_exec(conns[0], "commit");
	for (int i = 1; i < 4; i++)
		expect_answer(conns[i], "5");
	turns_take(conns, 4, 2);
	turns_destroy(conns, 4);
}

static void
a_crowd_that_asks_at_once_is_answered(void **state)
{
	enum {
		N = 500
	};
	static cenote_conn *conns[N];
	char text[64];

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, N);
	/* half of them know already that they have no session */
	for (int i = 0; i < N; i += 2)
		assert_int_not_equal(cenote_wait(conns[i], 0), CENOTE_ERR_CONN);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "select %d", i);
			assert_ok(cenote_send_query(
				conns[i], text, CENOTE_NTS, NULL, NULL));
		}
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "%d", i);
			expect_answer(conns[i], text);
		}
	}
	assert_int_equal(wp_pool_number("main", "timeouts"), 0);
	turns_destroy(conns, N);
}

/* ---- whose turn it is ---- */

#define TURN(who) "insert into turns (who) values ('" who "')"

/* Ask for a turn, and do not wait for a session. The client first reads that its session was taken back: otherwise it asks that
 * session, and learns later that it has to wait. */
static void
send_turn(cenote_conn *conn, const char *sql)
{
	assert_ok(cenote_process(conn));
	assert_ok(cenote_set_nonblocking(conn, 1));
	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_set_nonblocking(conn, 0));
}

static void
end_turn(cenote_conn *conn)
{
	cenote_result_destroy(wp_next_result(conn, CENOTE_RESULT_COMMAND));
	(void)wp_next_result(conn, 0);
}

/* Check who wrote into the table, in this order. */
static void
expect_turns(const char *wanted)
{
	char got[256];

	assert_int_equal(cnt_server_ask(&turns_server,
				 "select string_agg(who, '' order by id) from turns", got,
				 sizeof(got)),
		0);
	assert_string_equal(got, wanted);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table turns"), 0);
}

static void
start_turns(const char *lines)
{
	assert_int_equal(
		cnt_server_sql(&turns_server, "create table turns (id serial, who text);"
					      "grant all on turns, turns_id_seq to app"),
		0);
	turns_start(lines);
}

/* The first client begins its next transaction right after the last one, while three others wait for the only session. */
static void
who_begins_again_waits_behind_all_others(void **state)
{
	cenote_conn *conns[4];

	start_turns("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 4);
	turns_take(conns, 4, 2);
	wp_exec(conns[0], "begin");
	for (int round = 0; round < 5; round++) {
		wp_exec(conns[0], TURN("a"));
		send_turn(conns[1], TURN("b"));
		send_turn(conns[2], TURN("c"));
		send_turn(conns[3], TURN("d"));
		wp_exec(conns[0], "commit");
		wp_exec(conns[0], "begin");
		for (int i = 1; i < 4; i++)
			end_turn(conns[i]);
	}
	wp_exec(conns[0], "commit");
	expect_turns("abcdabcdabcdabcdabcd");
	turns_destroy(conns, 4);
}

static int
has_answer(const cenote_conn *conn)
{
	struct pollfd p = { .fd = cenote_fd(conn), .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static cenote_conn *
attach_as(const char *user)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "user", user));
	assert_ok(cenote_connect(conn));
	return conn;
}

/* Two clients of ann wait for the only session, and after them one of bob. */
static void
let_ann_and_bob_wait(const char *lines, const char *wanted)
{
	static const char *const users[] = { "ann", "ann", "ann", "bob" };
	static const char *const sqls[] = { "", TURN("a"), TURN("A"), TURN("b") };
	char config[256];
	cenote_conn *conns[4];

	snprintf(config, sizeof(config), "sessions = 1\nauth = trust\n%s" TURNS_POOL,
		lines);
	start_turns(config);
	for (int i = 0; i < 4; i++)
		conns[i] = attach_as(users[i]);
	turns_take(conns, 4, 2);
	wp_exec(conns[0], "begin");
	for (int i = 1; i < 4; i++) {
		send_turn(conns[i], sqls[i]);
		/* so that they come in this order */
		wp_pause_ms(50);
	}
	wp_exec(conns[0], "commit");
	for (int i = 1; i < 4; i++)
		end_turn(conns[i]);
	expect_turns(wanted);
	turns_destroy(conns, 4);
}

static void
users_who_stay_take_turns(void **state)
{
	let_ann_and_bob_wait("", "abA");
}

static void
a_user_of_high_priority_goes_first(void **state)
{
	let_ann_and_bob_wait("user_limits = bob priority=high\n", "baA");
}

/* Ann may have one session. Her clients take turns on it, although the pool has two more. */
static void
a_user_who_stays_waits_for_its_own_session(void **state)
{
	cenote_conn *ann[2], *joe, *late;

	turns_start("sessions = 3..3\nauth = trust\nuser_limits = ann "
		    "sessions=1\n" TURNS_POOL);
	wp_await("main", "idle", 3);
	for (int i = 0; i < 2; i++) {
		ann[i] = attach_as("ann");
		turns_take(&ann[i], 1, 1);
	}
	joe = attach_as("joe");
	for (int i = 0; i < 3; i++) {
		turns_take(ann, 2, 1);
		turns_take(&joe, 1, 1);
		assert_true(wp_pool_number("main", "in_use") <= 2);
	}
	wp_exec(ann[0], "begin");
	send_turn(ann[1], "select 'turn'");
	late = wp_handle(NULL);
	assert_ok(cenote_conn_set(late, "user", "ann"));
	assert_int_equal(cenote_connect(late), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(late), "53300");
	turns_take(&joe, 1, 1);
	assert_int_equal(has_answer(ann[1]), 0);
	wp_exec(ann[0], "commit");
	cenote_result_destroy(wp_next_result(ann[1], CENOTE_RESULT_ROWS));
	cenote_conn_destroy(late);
	cenote_conn_destroy(joe);
	turns_destroy(ann, 2);
}

static void
who_waits_beyond_the_limit_is_refused(void **state)
{
	cenote_conn *conns[3];

	turns_start("sessions = 1\nmax_waiting = 1\n" TURNS_POOL);
	turns_attach(conns, 3);
	turns_take(conns, 3, 2);
	wp_exec(conns[0], "begin");
	send_turn(conns[1], "select 1");
	wp_pause_ms(100);
	assert_int_equal(wp_status_of(conns[2], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[2]), "53300");
	assert_non_null(strstr(wp_message(conns[2]), "max_waiting"));
	wp_exec(conns[0], "commit");
	cenote_result_destroy(wp_next_result(conns[1], CENOTE_RESULT_ROWS));
	turns_destroy(conns, 3);
}

/* End the transaction and begin the next one in the same write. */
static void
begin_again(cenote_conn *conn)
{
	static const char *const again[] = { "commit", "begin", TURN("a") };
	const cenote_exec_options options = { .size = sizeof(options), .sync = 1 };

	assert_ok(cenote_pipeline_begin(conn));
	for (size_t i = 0; i < CNT_COUNT(again); i++)
		assert_ok(cenote_send_query(conn, again[i], CENOTE_NTS, NULL, &options));
	for (size_t i = 0; i < CNT_COUNT(again); i++)
		end_turn(conn);
	assert_ok(cenote_pipeline_end(conn));
}

static void
who_begins_again_in_a_pipeline_lets_others_in(void **state)
{
	cenote_conn *conns[3];
	int64_t until = wp_now_ms() + 20000;

	start_turns("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 3);
	turns_take(conns, 3, 2);
	wp_exec(conns[0], "begin");
	for (int round = 0; round < 3; round++) {
		send_turn(conns[1], TURN("b"));
		send_turn(conns[2], TURN("c"));
		do
			begin_again(conns[0]);
		while (!has_answer(conns[2]) && wp_now_ms() < until);
		assert_true(wp_now_ms() < until);
		end_turn(conns[1]);
		end_turn(conns[2]);
	}
	wp_exec(conns[0], "commit");
	assert_int_equal(
		cnt_server_sql(&turns_server, "delete from turns where who = 'a'"), 0);
	expect_turns("bcbcbc");
	turns_destroy(conns, 3);
}

/* Attach, write, and go, again and again, until the table has gone. */
static int
come_again(void *arg)
{
	int r;

	(void)arg;
	do {
		cenote_conn *conn = wp_attach(NULL);

		r = wp_status_of(conn, TURN("n"));
		cenote_conn_destroy(conn);
	} while (r == CENOTE_OK);
	return r != CENOTE_ERR_SERVER;
}

static void
who_comes_again_does_not_overtake_all_who_stay(void **state)
{
	static const char slow[] =
		"insert into turns (who) select 'b' from pg_sleep(0.05)";
	cenote_conn *conns[9];
	char got[16];
	pid_t pid;

	start_turns("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 9);
	turns_take(conns, 9, 2);
	wp_exec(conns[0], "begin");
	for (int i = 1; i < 9; i++)
		send_turn(conns[i], slow);
	pid = wp_fork(come_again, NULL, -1);
	wp_await("main", "waiting", 1);
	wp_exec(conns[0], "commit");
	for (int i = 1; i < 9; i++)
		end_turn(conns[i]);
	assert_int_equal(
		cnt_server_ask(&turns_server,
			"select count(*) > 5 from turns where who = 'n' and id < "
			"(select max(id) from turns where who = 'b')",
			got, sizeof(got)),
		0);
	assert_string_equal(got, "f");
	assert_int_equal(cnt_server_sql(&turns_server, "drop table turns"), 0);
	assert_int_equal(wp_join(pid), 0);
	turns_destroy(conns, 9);
}

/* ---- waiting ---- */

static void
who_waits_too_long_is_told_and_can_go_on(void **state)
{
	cenote_conn *conns[2];
	int64_t begun;

	turns_start("sessions = 1\nmode = transaction\nqueue_timeout = 1s\n");
	turns_attach(conns, 2);
	turns_take(conns, 2, 2);
	wp_exec(conns[0], "begin");
	begun = wp_now_ms();
	assert_int_equal(wp_status_of(conns[1], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[1]), "57P03");
	assert_true(strstr(wp_message(conns[1]), "no free session in 1s") != NULL);
	assert_true(wp_now_ms() - begun >= 1000 - WP_CLOCK_MS);
	assert_int_equal(wp_pool_number("main", "timeouts"), 1);
	wp_exec(conns[0], "commit");
	assert_ok(cenote_connect(conns[1]));
	turns_take(conns, 2, 2);
	turns_destroy(conns, 2);
}

/* Each client holds a session in the end, and they began with one. */
static void
the_pool_grows_for_who_stays(void **state)
{
	cenote_conn *conns[4];

	turns_start("sessions = 1..4\nidle_ttl = 100s\n" TURNS_POOL);
	turns_attach(conns, 4);
	turns_take(conns, 4, 2);
	for (int i = 0; i < 4; i++)
		wp_exec(conns[i], "begin");
	assert_int_equal(wp_pool_number("main", "live"), 4);
	turns_take(conns, 4, 2);
	turns_destroy(conns, 4);
}

/* Who waits in one process, while another process has a free session, gets that one. */
static void
a_free_session_of_another_process_is_found(void **state)
{
	cenote_conn *conns[8];

	turns_start("sessions = 2\nworkers = 2\n" TURNS_POOL);
	wp_await("main", "idle", 2);
	turns_attach(conns, 8);
	for (int i = 0; i < 8; i++) {
		wp_exec(conns[i], "begin");
		turns_take(conns, 8, 1);
		wp_exec(conns[i], "commit");
	}
	assert_int_equal(wp_pool_number("main", "timeouts"), 0);
	turns_destroy(conns, 8);
}

/* ---- a process that is killed ---- */

static void
kill_worker(cenote_conn *conn)
{
	pid_t pid = wp_worker_pid(conn);
	int64_t until = wp_now_ms() + 20000;

	assert_int_equal(kill(pid, SIGKILL), 0);
	while (kill(pid, 0) == 0 && wp_now_ms() < until)
		wp_pause_ms(5);
	assert_int_not_equal(kill(pid, 0), 0);
}

static void
who_stays_in_a_killed_process_goes_to_the_next(void **state)
{
	cenote_conn *conns[6];
	pid_t pid;

	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(conns, 6);
	turns_take(conns, 6, 2);
	for (int i = 0; i < 3; i++) {
		pid = wp_worker_pid(conns[5]);
		kill_worker(conns[5]);
		turns_take(conns, 6, 2);
		assert_int_not_equal(wp_worker_pid(conns[5]), pid);
	}
	turns_destroy(conns, 6);
}

static void
expect_unknown(cenote_conn *conn)
{
	cenote_result *res;
	int r = cenote_get_result(conn, &res);

	if (r == CENOTE_OK)
		fail_msg("a result of kind %d: %s", cenote_result_kind(res),
			cenote_diag_message(cenote_result_diag(res)));
	assert_int_equal(r, CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "08007");
}

#define RUNNING                                                                          \
	" from pg_stat_activity where query like 'insert%pg_sleep%' and state = "        \
	"'active'"

/* One request is running, and one waits for the session, when the process is killed. */
static void
a_request_is_not_sent_again_after_a_kill(void **state)
{
	cenote_conn *conns[3];

	assert_int_equal(cnt_server_sql(&turns_server, "create table acts (a text);"
						       "grant all on acts to app"),
		0);
	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 3);
	turns_take(conns, 3, 2);
	assert_ok(cenote_send_query(conns[0],
		"insert into acts select 'ran' from pg_sleep(600)", CENOTE_NTS, NULL,
		NULL));
	turns_await_server("select count(*)" RUNNING, "1");
	assert_int_equal(cenote_wait(conns[1], 0), CENOTE_DONE);
	assert_ok(cenote_set_nonblocking(conns[1], 1));
	assert_ok(cenote_send_query(
		conns[1], "insert into acts values ('waited')", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_set_nonblocking(conns[1], 0));
	kill_worker(conns[0]);
	expect_unknown(conns[0]);
	expect_unknown(conns[1]);
	/* the third has asked for nothing, and notices nothing */
	turns_take(conns + 2, 1, 5);
	assert_int_equal(
		cnt_server_sql(&turns_server, "select pg_terminate_backend(pid)" RUNNING),
		0);
	turns_await_server("select count(*)" RUNNING, "0");
	assert_string_equal(wp_value(conns[2], "select count(*) from acts"), "0");
	for (int i = 0; i < 2; i++)
		assert_ok(cenote_connect(conns[i]));
	turns_take(conns, 3, 2);
	turns_destroy(conns, 3);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table acts"), 0);
}

/* ---- a session that reads texts otherwise ---- */

static void
who_escaped_for_another_session_gets_an_error(void **state)
{
	cenote_conn *conns[3];
	char sql[96];

	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(conns, 3);
	turns_take(conns, 3, 2);
	snprintf(sql, sizeof(sql),
		"select count(*) from pg_stat_activity where pid = %ld",
		backend_pid(conns[2]));
	assert_int_equal(cnt_server_sql(&turns_server,
				 "alter role app set standard_conforming_strings = off"),
		0);
	assert_int_equal(cnt_server_sql(&turns_server,
				 "select pg_terminate_backend(pid) from pg_stat_activity "
				 "where usename = 'app'"),
		0);
	turns_await_server(sql, "0");
	/* the third had that session, and is told how it ended */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			wp_status_of(conns[i], "select 'a\\b'"), CENOTE_ERR_CONN);
		assert_string_equal(wp_sqlstate(conns[i]), "08006");
		if (strstr(wp_message(conns[i]), "reads texts otherwise") == NULL)
			fail_msg("client %d: %s", i, wp_message(conns[i]));
		assert_ok(cenote_connect(conns[i]));
		assert_string_equal(
			wp_value(conns[i], "show standard_conforming_strings"), "off");
	}
	turns_take(conns, 2, 2);
	turns_destroy(conns, 3);
	assert_int_equal(cnt_server_sql(&turns_server,
				 "alter role app reset standard_conforming_strings"),
		0);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clients_take_turns_on_a_unix_socket),
		TEST(clients_take_turns_over_tcp),
		TEST(clients_take_turns_through_tls),
		TEST(statements_and_options_are_the_clients_own),
		TEST(who_holds_something_keeps_its_session),
		TEST(an_idle_client_makes_room_beside_one_that_holds_its_session),
		TEST(autocommit_is_the_clients_own),
		TEST(who_goes_leaves_nothing),
		TEST(who_goes_while_it_waits_leaves_nothing),
		TEST(who_waits_over_tcp_goes_to_the_next_process),
		TEST(a_crowd_that_asks_at_once_is_answered),
		TEST(who_begins_again_waits_behind_all_others),
		TEST(users_who_stay_take_turns),
		TEST(a_user_of_high_priority_goes_first),
		TEST(a_user_who_stays_waits_for_its_own_session),
		TEST(who_waits_beyond_the_limit_is_refused),
		TEST(who_begins_again_in_a_pipeline_lets_others_in),
		TEST(who_comes_again_does_not_overtake_all_who_stay),
		TEST(who_waits_too_long_is_told_and_can_go_on),
		TEST(the_pool_grows_for_who_stays),
		TEST(a_free_session_of_another_process_is_found),
		TEST(who_stays_in_a_killed_process_goes_to_the_next),
		TEST(a_request_is_not_sent_again_after_a_kill),
		TEST(who_escaped_for_another_session_gets_an_error),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
