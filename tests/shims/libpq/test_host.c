/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "rig.h"
#include "shims/host.h"

/*
 * The shim as a guest of its host, on a real server: what it leaves alone, what a forked child may
 * do, and where connections go that no pool serves.
 */

struct fixture {
	struct cnt_pq ours, theirs;
	struct cnt_rig rig;
	char conninfo[512];
};

static int
setup(void **state)
{
	static struct fixture f;

	cnt_pair_open(&f.ours, &f.theirs);
	if (cnt_rig_start(&f.rig) < 0)
		return -1;
	setenv("CENOTE_LIBPQ", CNT_ORIGINAL_LIBPQ, 1);
	snprintf(f.conninfo, sizeof(f.conninfo), "%s", f.rig.server.server_line);
	*state = &f;
	return 0;
}

/* Each test begins with a cenoted that is there, and no way around it. */
static int
begin(void **state)
{
	struct fixture *f = *state;
	char server[160];

	snprintf(server, sizeof(server), "unix:%s", f->rig.daemon.run_dir);
	if (setenv("CENOTE_SERVER", server, 1) < 0 ||
		setenv("CENOTE_POOL", "main", 1) < 0)
		return -1;
	return unsetenv("CENOTE_FALLBACK") < 0 ? -1 : unsetenv("CENOTE_CLIENT_CONF");
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	int r = cnt_rig_stop(&f->rig);

	cnt_pair_close(&f->ours, &f->theirs);
	return r;
}

static PGconn *
connected(struct fixture *f)
{
	PGconn *conn = f->ours.f.PQconnectdb(f->conninfo);

	assert_non_null(conn);
	assert_string_equal(f->ours.f.PQerrorMessage(conn), "");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	return conn;
}

/* The first value, or what went wrong; good until the next call. */
static const char *
asked(const struct cnt_pq *pq, PGconn *conn, const char *sql)
{
	static char text[256];
	PGresult *res = pq->f.PQexec(conn, sql);

	snprintf(text, sizeof(text), "%s",
		pq->f.PQresultStatus(res) == PGRES_TUPLES_OK
			? pq->f.PQgetvalue(res, 0, 0)
			: pq->f.PQerrorMessage(conn));
	pq->f.PQclear(res);
	return text;
}

/* A handle of ours begins with the address of this; it is not exported, and the same for all of them. */
static int
is_of(const void *handle, const void *known)
{
	return memcmp(handle, known, sizeof(void *)) == 0;
}

/* ---- what is the host's ---- */

static void
busy_hour(struct fixture *f)
{
	static const char *const values[] = { "7" };
	PGconn *conn = connected(f);
	PGresult *res;

	assert_string_equal(asked(&f->ours, conn, "select 6 * 7"), "42");
	res = f->ours.f.PQexecParams(
		conn, "select $1::int4", 1, NULL, values, NULL, NULL, 0);
	assert_string_equal(f->ours.f.PQgetvalue(res, 0, 0), "7");
	f->ours.f.PQclear(res);
	res = f->ours.f.PQexec(conn, "select 1/0");
	assert_string_equal(f->ours.f.PQresultErrorField(res, 'C'), "22012");
	f->ours.f.PQclear(res);
	f->ours.f.PQreset(conn);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	f->ours.f.PQfinish(conn);
}

static void
descriptors_come_and_go_with_the_connection(void **state)
{
	struct fixture *f = *state;
	char before[CNT_HOST_FDS], during[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;
	int n = 0;

	cnt_host_list_fds(before);
	conn = connected(f);
	cnt_host_list_fds(during);
	for (int fd = 0; fd < CNT_HOST_FDS; fd++) {
		if (!during[fd] || before[fd])
			continue;
		n++;
		assert_true(fd > 2);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	assert_int_equal(n, 1);
	f->ours.f.PQfinish(conn);
	busy_hour(f);
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));
}

static void
standard_descriptors_that_are_closed_are_not_taken(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		PGconn *conn;
		int is_well;

		close(0);
		close(1);
		close(2);
		conn = f->ours.f.PQconnectdb(f->conninfo);
		is_well = f->ours.f.PQstatus(conn) == CONNECTION_OK &&
			  f->ours.f.PQsocket(conn) > 2 && fcntl(0, F_GETFD) < 0 &&
			  fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0;
		f->ours.f.PQfinish(conn);
		_exit(is_well ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
signals_locale_and_environment_stay(void **state)
{
	struct cnt_host before;

	cnt_host_look(&before);
	busy_hour(*state);
	cnt_host_assert_same(&before);
}

/* Run busy_hour() and a connection that fails, with both outputs in a file: what was written there. */
static long
written(struct fixture *f, int with_notice)
{
	struct cnt_capture capture;
	PGconn *conn;

	cnt_capture_begin(&capture);
	busy_hour(f);
	conn = f->ours.f.PQconnectdb("nonsense");
	f->ours.f.PQfinish(conn);
	if (with_notice) {
		conn = f->ours.f.PQconnectdb(f->conninfo);
		f->ours.f.PQclear(
			f->ours.f.PQexec(conn, "do $$begin raise notice 'hm'; end$$"));
		f->ours.f.PQfinish(conn);
	}
	return cnt_capture_end(&capture);
}

static void
nothing_is_printed_but_notices(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(written(f, 0), 0);
	assert_int_equal(written(f, 1), strlen("NOTICE:  hm\n"));
}

/* ---- forked children ---- */

static int
use_parents(struct fixture *f, PGconn *conn)
{
	PGresult *res = f->ours.f.PQexec(conn, "select 'from the child'");
	int is_refused = f->ours.f.PQresultStatus(res) == PGRES_FATAL_ERROR &&
			 strstr(f->ours.f.PQerrorMessage(conn), "forked child") != NULL;

	f->ours.f.PQclear(res);
	is_refused &= f->ours.f.PQsendQuery(conn, "select 1") == 0;
	is_refused &= f->ours.f.PQconsumeInput(conn) == 0;
	is_refused &= f->ours.f.PQputCopyEnd(conn, NULL) == -1;
	f->ours.f.PQfinish(conn);
	return is_refused ? 0 : 1;
}

static int
reset_parents(struct fixture *f, PGconn *conn, int pid)
{
	int is_same;

	/* from here on it has one of its own */
	f->ours.f.PQreset(conn);
	is_same = f->ours.f.PQbackendPID(conn) == pid ||
		  strcmp(asked(&f->ours, conn, "select 42"), "42") != 0;
	f->ours.f.PQfinish(conn);
	return is_same;
}

static void
a_forked_child_is_refused_and_the_parent_goes_on(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = connected(f);
	char pid[32];
	int status;

	f->ours.f.PQclear(f->ours.f.PQexec(conn, "begin"));
	f->ours.f.PQclear(
		f->ours.f.PQexec(conn, "create temp table mine (x int) on commit drop"));
	snprintf(pid, sizeof(pid), "%d", f->ours.f.PQbackendPID(conn));
	for (int round = 0; round < 3; round++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0 && round == 1)
			_exit(reset_parents(f, conn, atoi(pid)));
		if (child == 0)
			_exit(use_parents(f, conn));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		/* the same session, in its transaction */
		assert_string_equal(
			asked(&f->ours, conn, "select pg_backend_pid()"), pid);
		assert_string_equal(
			asked(&f->ours, conn, "select count(*) from mine"), "0");
		assert_int_equal(f->ours.f.PQtransactionStatus(conn), PQTRANS_INTRANS);
	}
	f->ours.f.PQfinish(conn);
}

static void
a_child_reads_no_rows_of_a_request_of_its_parent(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = connected(f);
	PGresult *res;
	pid_t child;
	int status;

	assert_int_equal(
		f->ours.f.PQsendQuery(conn, "select generate_series(1, 10000)"), 1);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int n = 0;

		while (n < 100 && (res = f->ours.f.PQgetResult(conn)) != NULL) {
			n += f->ours.f.PQntuples(res) > 0 ? 1000 : 1;
			f->ours.f.PQclear(res);
		}
		f->ours.f.PQfinish(conn);
		_exit(n < 100 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	res = f->ours.f.PQgetResult(conn);
	assert_int_equal(f->ours.f.PQntuples(res), 10000);
	assert_string_equal(f->ours.f.PQgetvalue(res, 9999, 0), "10000");
	f->ours.f.PQclear(res);
	assert_null(f->ours.f.PQgetResult(conn));
	f->ours.f.PQfinish(conn);
}

/* ---- a session that ends ---- */

static void
a_reset_leaves_the_last_words_of_the_server_behind(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = connected(f);
	PGresult *res;

	assert_int_equal(f->ours.f.PQsendQuery(
				 conn, "select pg_terminate_backend(pg_backend_pid())"),
		1);
	res = f->ours.f.PQgetResult(conn);
	assert_int_equal(f->ours.f.PQresultStatus(res), PGRES_FATAL_ERROR);
	f->ours.f.PQclear(res);
	f->ours.f.PQreset(conn);
	assert_string_equal(asked(&f->ours, conn, "select 6 * 7"), "42");
	f->ours.f.PQfinish(conn);
}

/* ---- the original ---- */

static int n_notices;

static void
count_notice(void *arg, const char *message)
{
	n_notices += arg == &n_notices && strstr(message, "hm") != NULL;
}

/* What one connection begins with is given back to another, as Ruby's pg does. */
static void
notices_are_received_as_before(struct fixture *f, PGconn *one, PGconn *other)
{
	PQnoticeReceiver receiver = f->ours.f.PQsetNoticeReceiver(one, NULL, NULL);
	PQnoticeProcessor processor =
		f->ours.f.PQsetNoticeProcessor(other, count_notice, &n_notices);

	n_notices = 0;
	(void)f->ours.f.PQsetNoticeReceiver(other, receiver, NULL);
	f->ours.f.PQclear(f->ours.f.PQexec(other, "do $$begin raise notice 'hm'; end$$"));
	assert_int_equal(n_notices, 1);
	(void)f->ours.f.PQsetNoticeProcessor(other, processor, NULL);
}

static void
what_no_pool_covers_goes_to_the_original(void **state)
{
	struct fixture *f = *state;
	char path[160], app[256], copied[64];
	PGconn *pooled, *direct;
	PGresult *a, *b;
	FILE *file;

	snprintf(path, sizeof(path), "%s/client.conf", f->rig.daemon.dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("[libpq]\nmain = *:*/app/*\ndirect = *:*/app2/*\n", file);
	fclose(file);
	setenv("CENOTE_CLIENT_CONF", path, 1);
	unsetenv("CENOTE_POOL");
	pooled = connected(f);
	snprintf(app, sizeof(app), "host=%s port=%d user=app dbname=app2",
		f->rig.server.run_dir, f->rig.server.port);
	direct = f->ours.f.PQconnectdb(app);
	assert_string_equal(f->ours.f.PQerrorMessage(direct), "");
	assert_false(is_of(direct, pooled));
	/* side by side; each call finds its own */
	assert_string_equal(asked(&f->ours, pooled, "select current_database()"), "app");
	assert_string_equal(asked(&f->ours, direct, "select current_database()"), "app2");
	a = f->ours.f.PQexec(pooled, "select 'a'::text");
	b = f->ours.f.PQexec(direct, "select 'b'::text, 'c'");
	assert_true(is_of(a, pooled));
	assert_false(is_of(b, pooled));
	assert_int_equal(f->ours.f.PQnfields(a), 1);
	assert_int_equal(f->ours.f.PQnfields(b), 2);
	assert_string_equal(f->ours.f.PQgetvalue(a, 0, 0), "a");
	assert_string_equal(f->ours.f.PQgetvalue(b, 0, 1), "c");
	snprintf(copied, sizeof(copied), "%s", f->ours.f.PQcmdStatus(b));
	assert_string_equal(copied, f->ours.f.PQcmdStatus(a));
	notices_are_received_as_before(f, pooled, direct);
	notices_are_received_as_before(f, direct, pooled);
	f->ours.f.PQfinish(pooled);
	f->ours.f.PQfinish(direct);
	/* results outlive their connections */
	assert_string_equal(f->ours.f.PQgetvalue(a, 0, 0), "a");
	assert_string_equal(f->ours.f.PQgetvalue(b, 0, 0), "b");
	f->ours.f.PQclear(a);
	f->ours.f.PQclear(b);
}

static void
replication_is_refused_or_given_to_the_original(void **state)
{
	struct fixture *f = *state;
	char conninfo[600];
	PGconn *conn;

	snprintf(conninfo, sizeof(conninfo), "%s replication=database", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn),
		"replication connections are not pooled"));
	f->ours.f.PQfinish(conn);
	snprintf(conninfo, sizeof(conninfo), "%s replication=off", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	f->ours.f.PQfinish(conn);

	/* the server has its own opinion of the user, and says it */
	setenv("CENOTE_FALLBACK", "direct", 1);
	snprintf(conninfo, sizeof(conninfo), "%s replication=true", f->conninfo);
	conn = f->ours.f.PQconnectdb(conninfo);
	assert_null(strstr(f->ours.f.PQerrorMessage(conn), "pool"));
	f->ours.f.PQfinish(conn);
}

static void
a_stopped_cenoted_does_not_stop_who_may_go_directly(void **state)
{
	struct fixture *f = *state;
	PGconn *pooled = connected(f);
	PGconn *conn;

	setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "pool \"main\""));
	f->ours.f.PQfinish(conn);

	setenv("CENOTE_FALLBACK", "direct", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_false(is_of(conn, pooled));
	assert_string_equal(asked(&f->ours, conn, "select 1"), "1");
	f->ours.f.PQfinish(conn);
	assert_int_equal(f->ours.f.PQping(f->conninfo), PQPING_OK);

	/* over TCP the refusal comes later */
	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_false(is_of(conn, pooled));
	f->ours.f.PQfinish(conn);

	f->ours.f.PQfinish(pooled);
}

static void
assert_escaped(struct fixture *f, const char *expected)
{
	size_t n;
	unsigned char *text =
		f->ours.f.PQescapeBytea((const unsigned char *)"\xe4", 1, &n);

	assert_string_equal(text, expected);
	f->ours.f.PQfreemem(text);
}

/* Escaping without a connection goes by the last one, whoever made it. */
static void
a_direct_connection_is_what_is_escaped_for(void **state)
{
	struct fixture *f = *state;
	PGconn *pooled = connected(f);
	PGconn *conn;
	char here[160], text[8];

	assert_string_equal(
		asked(&f->ours, pooled,
			"select set_config('standard_conforming_strings', 'off', false)"),
		"off");
	assert_escaped(f, "\\\\344");

	snprintf(here, sizeof(here), "%s", getenv("CENOTE_SERVER"));
	setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
	setenv("CENOTE_FALLBACK", "direct", 1);
	conn = f->ours.f.PQconnectdb(f->conninfo);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_escaped(f, "\\344");
	assert_int_equal(f->ours.f.PQescapeString(text, "\\'", 2), 3);
	assert_string_equal(text, "\\''");
	f->ours.f.PQfinish(conn);
	unsetenv("CENOTE_FALLBACK");
	setenv("CENOTE_SERVER", here, 1);

	assert_string_equal(
		asked(&f->ours, pooled,
			"select set_config('client_encoding', 'LATIN1', false)"),
		"LATIN1");
	assert_escaped(f, "\\\\344");
	f->ours.f.PQfinish(pooled);
}

/* The same for who does not wait: the handle stays, and the original is behind it. */

typedef PostgresPollingStatusType poll_function(PGconn *conn);

static PostgresPollingStatusType
poll_to_its_end(struct fixture *f, PGconn *conn, poll_function *poll_it)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	while (status == PGRES_POLLING_WRITING || status == PGRES_POLLING_READING) {
		struct pollfd p = { .fd = f->ours.f.PQsocket(conn),
			.events = status == PGRES_POLLING_WRITING ? POLLOUT : POLLIN };

		assert_int_equal(poll(&p, 1, 10000), 1);
		status = poll_it(conn);
	}
	return status;
}

/* As in libpq, also when the answer is there before the program asks. */
static void
the_first_poll_has_no_connection_yet(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = f->ours.f.PQconnectStart(f->conninfo);
	struct pollfd p = { .fd = f->ours.f.PQsocket(conn), .events = POLLIN };
	PostgresPollingStatusType first;

	for (int again = 0; again < 2; again++) {
		/* nothing comes if the answer has been read already: that is tried, too */
		(void)poll(&p, 1, 500);
		first = again ? f->ours.f.PQresetPoll(conn)
			      : f->ours.f.PQconnectPoll(conn);
		assert_true(
			first == PGRES_POLLING_READING || first == PGRES_POLLING_WRITING);
		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_STARTED);
		assert_int_equal(
			poll_to_its_end(f, conn,
				again ? f->ours.f.PQresetPoll : f->ours.f.PQconnectPoll),
			PGRES_POLLING_OK);
		assert_int_equal(f->ours.f.PQresetStart(conn), 1);
		p.fd = f->ours.f.PQsocket(conn);
	}
	f->ours.f.PQfinish(conn);
}

static void
a_late_refusal_is_fallen_back_from_too(void **state)
{
	const char *const keywords[] = { "dbname", "application_name", NULL };
	struct fixture *f = *state;
	const char *const values[] = { f->conninfo, "late", NULL };
	char before[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;
	PGcancel *cancel;

	/* over TCP it is not known at once */
	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	setenv("CENOTE_FALLBACK", "direct", 1);
	cnt_host_list_fds(before);
	n_notices = 0;
	for (int with_params = 0; with_params < 2; with_params++) {
		conn = with_params ? f->ours.f.PQconnectStartParams(keywords, values, 1)
				   : f->ours.f.PQconnectStart(f->conninfo);
		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_STARTED);
		(void)f->ours.f.PQsetNoticeProcessor(conn, count_notice, &n_notices);
		assert_int_equal(poll_to_its_end(f, conn, f->ours.f.PQconnectPoll),
			PGRES_POLLING_OK);
		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
		assert_string_equal(asked(&f->ours, conn, "show application_name"),
			with_params ? "late" : "");
		f->ours.f.PQclear(
			f->ours.f.PQexec(conn, "do $$begin raise notice 'hm'; end$$"));
		assert_int_equal(n_notices, with_params + 1);
		cancel = f->ours.f.PQgetCancel(conn);
		assert_non_null(cancel);
		f->ours.f.PQfreeCancel(cancel);
		f->ours.f.PQreset(conn);
		assert_string_equal(asked(&f->ours, conn, "select 42"), "42");
		f->ours.f.PQfinish(conn);
	}
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));
}

/* The same for a connection that had a session: the program's handle and what it has set stay. */

static int n_told[PGEVT_RESULTDESTROY + 1];

static int
count_event(PGEventId id, void *info, void *arg)
{
	(void)info;
	assert_ptr_equal(arg, n_told);
	n_told[id]++;
	return 1;
}

static void
reset_directly(struct fixture *f, const char *where, int is_polled)
{
	static const char tells[] = "do $$begin raise notice 'hm'; end$$";
	PGconn *conn = connected(f);
	int data;

	memset(n_told, 0, sizeof(n_told));
	n_notices = 0;
	(void)f->ours.f.PQsetNoticeProcessor(conn, count_notice, &n_notices);
	assert_int_equal(
		f->ours.f.PQregisterEventProc(conn, count_event, "count", n_told), 1);
	assert_int_equal(f->ours.f.PQsetInstanceData(conn, count_event, &data), 1);
	setenv("CENOTE_SERVER", where, 1);
	if (is_polled) {
		assert_int_equal(f->ours.f.PQresetStart(conn), 1);
		assert_int_equal(poll_to_its_end(f, conn, f->ours.f.PQresetPoll),
			PGRES_POLLING_OK);
	} else {
		f->ours.f.PQreset(conn);
	}
	assert_string_equal(f->ours.f.PQerrorMessage(conn), "");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	assert_int_equal(n_told[PGEVT_CONNRESET], 1);
	assert_ptr_equal(f->ours.f.PQinstanceData(conn, count_event), &data);
	f->ours.f.PQclear(f->ours.f.PQexec(conn, tells));
	assert_int_equal(n_notices, 1);
	assert_string_equal(asked(&f->ours, conn, "select current_database()"), "app");
	f->ours.f.PQfinish(conn);
	assert_int_equal(n_told[PGEVT_CONNDESTROY], 1);
}

static void
a_reset_goes_directly_when_cenoted_is_gone(void **state)
{
	static const char *const nowhere[] = { "unix:/nonexistent", "tcp://127.0.0.1:1" };
	struct fixture *f = *state;
	char here[160], before[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;

	snprintf(here, sizeof(here), "%s", getenv("CENOTE_SERVER"));
	setenv("CENOTE_FALLBACK", "direct", 1);
	cnt_host_list_fds(before);
	for (int i = 0; i < 4; i++) {
		reset_directly(f, nowhere[i / 2], i % 2);
		setenv("CENOTE_SERVER", here, 1);
	}
	cnt_host_list_fds(after);
	assert_memory_equal(before, after, sizeof(before));

	/* neither is there: both say so, and a later one finds the pool again */
	conn = f->ours.f.PQconnectdb("host=/nonexistent dbname=nowhere");
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
	setenv("CENOTE_SERVER", nowhere[0], 1);
	f->ours.f.PQreset(conn);
	assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_BAD);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "cenoted is not reach"));
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "/nonexistent/.s.PGSQL"));
	setenv("CENOTE_SERVER", here, 1);
	f->ours.f.PQreset(conn);
	assert_string_equal(asked(&f->ours, conn, "select 42"), "42");
	f->ours.f.PQfinish(conn);

	/* who may not */
	unsetenv("CENOTE_FALLBACK");
	conn = connected(f);
	setenv("CENOTE_SERVER", nowhere[0], 1);
	assert_int_equal(f->ours.f.PQresetStart(conn), 0);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn), "cenoted is not reach"));
	setenv("CENOTE_SERVER", here, 1);
	f->ours.f.PQfinish(conn);
}

static void
who_may_not_fall_back_is_told(void **state)
{
	struct fixture *f = *state;
	PGconn *conn;

	setenv("CENOTE_SERVER", "tcp://127.0.0.1:1", 1);
	conn = f->ours.f.PQconnectStart(f->conninfo);
	assert_int_equal(
		poll_to_its_end(f, conn, f->ours.f.PQconnectPoll), PGRES_POLLING_FAILED);
	assert_non_null(strstr(f->ours.f.PQerrorMessage(conn),
		"cenoted is not reachable at 127.0.0.1:1"));
	f->ours.f.PQfinish(conn);
}

/* ---- the kind of session ---- */

static ConnStatusType
status_with(const struct cnt_pq *pq, const char *conninfo, const char *wanted,
	const char *options, char *text, size_t size)
{
	char all[2048];
	PGconn *conn;
	ConnStatusType status;

	snprintf(all, sizeof(all), "%s target_session_attrs=%s options='%s'", conninfo,
		wanted, options);
	conn = pq->f.PQconnectdb(all);
	status = pq->f.PQstatus(conn);
	snprintf(text, size, "%s", pq->f.PQerrorMessage(conn));
	pq->f.PQfinish(conn);
	return status;
}

static void
a_session_of_another_kind_than_wanted_is_refused(void **state)
{
	static const char *const wanted[] = { "any", "read-write", "read-only", "primary",
		"standby", "prefer-standby" };
	static const char *const options[] = { "",
		"-c default_transaction_read_only=on" };
	struct fixture *f = *state;
	char ours[1024], theirs[1024];

	for (size_t i = 0; i < 12; i++) {
		const char *why;

		assert_int_equal(status_with(&f->ours, f->conninfo, wanted[i % 6],
					 options[i / 6], ours, sizeof(ours)),
			status_with(&f->theirs, f->conninfo, wanted[i % 6],
				options[i / 6], theirs, sizeof(theirs)));
		why = strstr(theirs, "failed: ");
		assert_true(why == NULL ? *ours == '\0' : strstr(ours, why) != NULL);
	}
}

/* ---- event loops ---- */

/* What has come stays in the socket until it is asked for by name: whoever polls it next hears of it. */
static void
look_without_reading(const struct cnt_pq *pq, PGconn *conn)
{
	struct pollfd p = { .fd = pq->f.PQsocket(conn), .events = POLLIN };
	PGresult *res;

	assert_int_equal(pq->f.PQsetnonblocking(conn, 1), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pq->f.PQsendQuery(conn, "select 1"), 1);
		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_int_equal(pq->f.PQflush(conn), 0);
		assert_int_equal(pq->f.PQisBusy(conn), 1);
		assert_null(pq->f.PQnotifies(conn));
		assert_int_equal(pq->f.PQsetSingleRowMode(conn), 1);
		assert_int_equal(poll(&p, 1, 0), 1);
		do
			assert_int_equal(pq->f.PQconsumeInput(conn), 1);
		while (pq->f.PQisBusy(conn));
		while ((res = pq->f.PQgetResult(conn)) != NULL)
			pq->f.PQclear(res);
		assert_int_equal(poll(&p, 1, 0), 0);
	}
	pq->f.PQfinish(conn);
}

static void
nothing_is_read_unasked(void **state)
{
	struct fixture *f = *state;

	look_without_reading(&f->theirs, f->theirs.f.PQconnectdb(f->conninfo));
	look_without_reading(&f->ours, connected(f));
}

/* A program whose event loop is told of the descriptor behind each sending, and not again. */
static void
ask_by_epoll(struct fixture *f, PGconn *conn)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(EPOLL_CLOEXEC);
	PGresult *res;

	assert_int_equal(f->ours.f.PQsendQuery(conn, "select 1"), 1);
	assert_int_equal(f->ours.f.PQflush(conn), 0);
	assert_int_equal(
		epoll_ctl(set, EPOLL_CTL_ADD, f->ours.f.PQsocket(conn), &event), 0);
	while (f->ours.f.PQisBusy(conn)) {
		assert_int_equal(epoll_wait(set, &event, 1, 5000), 1);
		assert_int_equal(f->ours.f.PQconsumeInput(conn), 1);
	}
	res = f->ours.f.PQgetResult(conn);
	assert_int_equal(f->ours.f.PQresultStatus(res), PGRES_TUPLES_OK);
	f->ours.f.PQclear(res);
	assert_null(f->ours.f.PQgetResult(conn));
	(void)close(set);
}

static void
a_session_that_was_taken_back_is_left_before_sending(void **state)
{
	struct fixture *f = *state;
	struct pollfd p = { .events = POLLRDHUP };
	struct cnt_daemon hasty;
	char text[1024];
	PGconn *conn;

	assert_int_equal(cnt_daemon_start(&hasty,
				 cnt_server_config(&f->rig.server,
					 "sessions = 1..2\nidle_client_timeout = 200ms\n",
					 text, sizeof(text))),
		0);
	snprintf(text, sizeof(text), "unix:%s", hasty.run_dir);
	setenv("CENOTE_SERVER", text, 1);
	conn = connected(f);
	assert_int_equal(f->ours.f.PQsetnonblocking(conn, 1), 0);
	ask_by_epoll(f, conn);
	p.fd = f->ours.f.PQsocket(conn);
	/* also by who reads it while nothing is asked */
	for (int is_read = 0; is_read < 2; is_read++) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		if (is_read)
			assert_int_equal(f->ours.f.PQconsumeInput(conn), 1);
		assert_int_equal(f->ours.f.PQsocket(conn), p.fd);
		ask_by_epoll(f, conn);
		assert_int_equal(f->ours.f.PQsocket(conn), p.fd);
	}
	f->ours.f.PQfinish(conn);
	assert_int_equal(cnt_daemon_stop(&hasty), 0);
}

/* ---- the end of a session ---- */

static void
collect_last_words(
	const struct cnt_pq *pq, PGconn *conn, const char *sql, char *text, size_t size)
{
	size_t len = 0;
	PGresult *res;

	assert_int_equal(pq->f.PQsendQuery(conn, sql), 1);
	while ((res = pq->f.PQgetResult(conn)) != NULL && len < size) {
		const char *state = pq->f.PQresultErrorField(res, PG_DIAG_SQLSTATE);
		const char *routine =
			pq->f.PQresultErrorField(res, PG_DIAG_SOURCE_FUNCTION);

		len += (size_t)snprintf(text + len, size - len, "%s %s %s",
			state != NULL ? state : "-", routine != NULL ? routine : "-",
			pq->f.PQresultErrorMessage(res));
		pq->f.PQclear(res);
	}
	assert_true(len < size);
	(void)snprintf(text + len, size - len, "%s", pq->f.PQerrorMessage(conn));
	pq->f.PQfinish(conn);
}

static void
the_last_words_of_a_session_are_its_servers(void **state)
{
	struct fixture *f = *state;
	static const char sql[] = "select pg_terminate_backend(pg_backend_pid())";
	char ours[4096], theirs[4096];

	collect_last_words(&f->theirs, f->theirs.f.PQconnectdb(f->conninfo), sql, theirs,
		sizeof(theirs));
	collect_last_words(&f->ours, connected(f), sql, ours, sizeof(ours));
	assert_non_null(strstr(theirs, "57P01 ProcessInterrupts FATAL:  terminating"));
	assert_string_equal(ours, theirs);
}

/* As a program with an event loop sees them: a result that is there, and then a connection that is closed, of
 * which its reading tells. */
static void
watch_last_words(
	const struct cnt_pq *pq, PGconn *conn, const char *sql, char *text, size_t size)
{
	int fd = pq->f.PQsocket(conn), n_results = 0, r = 1;

	assert_int_equal(pq->f.PQsetnonblocking(conn, 1), 0);
	assert_int_equal(pq->f.PQsendQuery(conn, sql), 1);
	while (r == 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		assert_int_equal(pq->f.PQsocket(conn), fd);
		assert_int_equal(poll(&p, 1, 10000), 1);
		r = pq->f.PQconsumeInput(conn);
		while (r == 1 && !pq->f.PQisBusy(conn)) {
			PGresult *res = pq->f.PQgetResult(conn);

			assert_non_null(res);
			assert_non_null(pq->f.PQresultErrorField(res, PG_DIAG_SQLSTATE));
			pq->f.PQclear(res);
			n_results++;
		}
	}
	snprintf(text, size, "%d results, %d %s", n_results, pq->f.PQstatus(conn),
		pq->f.PQerrorMessage(conn));
	pq->f.PQfinish(conn);
}

static void
the_end_of_a_session_is_read_behind_its_last_words(void **state)
{
	struct fixture *f = *state;
	static const char sql[] = "select pg_terminate_backend(pg_backend_pid())";
	char ours[4096], theirs[4096];

	watch_last_words(&f->theirs, f->theirs.f.PQconnectdb(f->conninfo), sql, theirs,
		sizeof(theirs));
	watch_last_words(&f->ours, connected(f), sql, ours, sizeof(ours));
	assert_memory_equal(theirs, "1 results, 1 ", 13);
	assert_string_equal(ours, theirs);
}

/* A connection whose session the server ends while it idles: one that holds something, and one that holds
 * nothing. */
static PGconn *
ended_meanwhile(struct fixture *f, const struct cnt_pq *pq, int holds_something)
{
	PGconn *conn = pq->f.PQconnectdb(f->conninfo);
	struct pollfd p = { .fd = pq->f.PQsocket(conn), .events = POLLIN };
	char sql[80];

	assert_int_equal(pq->f.PQstatus(conn), CONNECTION_OK);
	if (holds_something) {
		pq->f.PQclear(pq->f.PQexec(
			conn, "begin; set idle_in_transaction_session_timeout = 100"));
	} else {
		snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d)",
			pq->f.PQbackendPID(conn));
		assert_int_equal(cnt_server_sql(&f->rig.server, sql), 0);
	}
	assert_int_equal(poll(&p, 1, 10000), 1);
	return conn;
}

static void
so_are_those_of_an_idle_session(void **state)
{
	static const char *const said[] = { "57P01 ProcessInterrupts FATAL:  terminating",
		"25P03 ProcessInterrupts FATAL:  terminating" };
	struct fixture *f = *state;
	char ours[4096], theirs[4096];

	for (int i = 0; i < 2; i++) {
		collect_last_words(&f->theirs, ended_meanwhile(f, &f->theirs, i),
			"select 1", theirs, sizeof(theirs));
		collect_last_words(&f->ours, ended_meanwhile(f, &f->ours, i), "select 1",
			ours, sizeof(ours));
		assert_non_null(strstr(theirs, said[i]));
		assert_string_equal(ours, theirs);
	}
}

static void
keep_notice(void *arg, const char *message)
{
	snprintf(arg, 256, "%s", message);
}

/* What is read of them while nothing was asked is a notice; then the connection is found closed. */
static void
see_the_end(const struct cnt_pq *pq, PGconn *conn, char *text, size_t size)
{
	char notice[256] = "";

	(void)pq->f.PQsetNoticeProcessor(conn, keep_notice, notice);
	while (pq->f.PQconsumeInput(conn)) {
		struct pollfd p = { .fd = pq->f.PQsocket(conn), .events = POLLIN };

		assert_int_equal(poll(&p, 1, 10000), 1);
	}
	assert_null(pq->f.PQnotifies(conn));
	snprintf(text, size, "%d %s %s", pq->f.PQstatus(conn), notice,
		pq->f.PQerrorMessage(conn));
	pq->f.PQfinish(conn);
}

static void
an_idle_program_is_noticed_of_them(void **state)
{
	struct fixture *f = *state;
	char ours[1024], theirs[1024];

	for (int i = 0; i < 2; i++) {
		see_the_end(&f->theirs, ended_meanwhile(f, &f->theirs, i), theirs,
			sizeof(theirs));
		see_the_end(
			&f->ours, ended_meanwhile(f, &f->ours, i), ours, sizeof(ours));
		assert_non_null(strstr(theirs, "FATAL:  terminating connection due to"));
		assert_string_equal(ours, theirs);
	}
}

/* ---- what the server says while it is slow ---- */

/* Take what comes, until there is a notice more than before or a result is ready. */
static void
wait_for_word(struct fixture *f, PGconn *conn)
{
	int before = n_notices;

	while (f->ours.f.PQisBusy(conn) && n_notices == before) {
		struct pollfd p = { .fd = f->ours.f.PQsocket(conn), .events = POLLIN };

		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_int_equal(f->ours.f.PQconsumeInput(conn), 1);
		/* a program may rely on that: here it is not ready to be told */
		assert_int_equal(n_notices, before);
	}
}

static void
a_notice_does_not_wait_for_its_statement(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = connected(f);

	(void)f->ours.f.PQsetNoticeProcessor(conn, count_notice, &n_notices);
	n_notices = 0;
	assert_int_equal(f->ours.f.PQsendQuery(conn,
				 "do $$begin raise notice 'hm'; perform pg_sleep(3); "
				 "end$$"),
		1);
	wait_for_word(f, conn);
	assert_int_equal(n_notices, 1);
	assert_int_equal(f->ours.f.PQisBusy(conn), 1);
	f->ours.f.PQfinish(conn);
}

static void
a_result_does_not_wait_for_the_next_of_its_pipeline(void **state)
{
	struct fixture *f = *state;
	PGconn *conn = connected(f);
	PGresult *res;

	assert_int_equal(f->ours.f.PQenterPipelineMode(conn), 1);
	assert_int_equal(f->ours.f.PQsendQueryParams(
				 conn, "select 42", 0, NULL, NULL, NULL, NULL, 0),
		1);
	assert_int_equal(f->ours.f.PQpipelineSync(conn), 1);
	assert_int_equal(f->ours.f.PQsendQueryParams(conn, "select pg_sleep(3)", 0, NULL,
				 NULL, NULL, NULL, 0),
		1);
	assert_int_equal(f->ours.f.PQpipelineSync(conn), 1);
	wait_for_word(f, conn);
	res = f->ours.f.PQgetResult(conn);
	assert_string_equal(f->ours.f.PQgetvalue(res, 0, 0), "42");
	f->ours.f.PQclear(res);
	assert_null(f->ours.f.PQgetResult(conn));
	res = f->ours.f.PQgetResult(conn);
	assert_int_equal(f->ours.f.PQresultStatus(res), PGRES_PIPELINE_SYNC);
	f->ours.f.PQclear(res);
	/* the second still sleeps */
	assert_int_equal(f->ours.f.PQisBusy(conn), 1);
	f->ours.f.PQfinish(conn);
}

/* First, in a process that has not opened the original yet. */
static void
an_original_that_is_not_there_is_named(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		const char *why;
		PGconn *conn;
		int is_named;

		setenv("CENOTE_LIBPQ", "/nonexistent/libpq.so.5", 1);
		setenv("CENOTE_SERVER", "unix:/nonexistent", 1);
		setenv("CENOTE_FALLBACK", "direct", 1);
		conn = f->ours.f.PQconnectdb(f->conninfo);
		why = f->ours.f.PQerrorMessage(conn);
		is_named = strstr(why, "cenoted is not reachable") != NULL &&
			   strstr(why, "CENOTE_LIBPQ") != NULL &&
			   strstr(why, "/nonexistent/libpq.so.5") != NULL;
		f->ours.f.PQfinish(conn);
		_exit(is_named ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* ---- the trace ---- */

static void
ask_much(const struct cnt_pq *pq, PGconn *conn)
{
	static const char *const asked_of[] = { "select 1 as a, null, 'x'::varchar(5)",
		"", "select 1; select 2", "set timezone = 'Europe/Paris'", "bad",
		"do $$ begin raise notice 'n'; end $$", "begin", "select 1/0",
		"rollback" };
	static const char *const numbers[] = { "0", "1", "x" };

	for (size_t i = 0; i < sizeof(asked_of) / sizeof(asked_of[0]); i++)
		pq->f.PQclear(pq->f.PQexec(conn, asked_of[i]));
	/* fails while it runs, not at all, and while it is bound */
	for (size_t i = 0; i < 3; i++)
		pq->f.PQclear(pq->f.PQexecParams(conn, "select 10 / $1::int", 1, NULL,
			&numbers[i], NULL, NULL, 0));
	pq->f.PQclear(pq->f.PQprepare(conn, "p", "select $1::int", 0, NULL));
	pq->f.PQclear(pq->f.PQdescribePrepared(conn, "p"));
	pq->f.PQclear(pq->f.PQdescribePrepared(conn, "missing"));
	assert_int_equal(pq->f.PQenterPipelineMode(conn), 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pq->f.PQsendQueryPrepared(
					 conn, "p", 1, &numbers[i], NULL, NULL, 0),
			1);
	assert_int_equal(pq->f.PQpipelineSync(conn), 1);
	for (int i = 0; i < 7; i++)
		pq->f.PQclear(pq->f.PQgetResult(conn));
	assert_int_equal(pq->f.PQexitPipelineMode(conn), 1);
}

static size_t
trace_of(const struct cnt_pq *pq, const char *conninfo, char *text, size_t size)
{
	PGconn *conn = pq->f.PQconnectdb(conninfo);
	FILE *file = tmpfile();
	size_t n;

	assert_non_null(file);
	assert_int_equal(pq->f.PQstatus(conn), CONNECTION_OK);
	pq->f.PQtrace(conn, file);
	pq->f.PQsetTraceFlags(conn, PQTRACE_SUPPRESS_TIMESTAMPS | PQTRACE_REGRESS_MODE);
	ask_much(pq, conn);
	pq->f.PQfinish(conn);
	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n;
}

static void
the_trace_is_that_of_libpq(void **state)
{
	static char ours[16384], theirs[16384];
	struct fixture *f = *state;

	assert_true(trace_of(&f->theirs, f->conninfo, theirs, sizeof(theirs)) > 1000);
	(void)trace_of(&f->ours, f->conninfo, ours, sizeof(ours));
	assert_string_equal(ours, theirs);
}

static off_t
traced_when_sent(const struct cnt_pq *pq, const char *conninfo)
{
	PGconn *conn = pq->f.PQconnectdb(conninfo);
	FILE *file = tmpfile();
	struct stat written;

	assert_non_null(file);
	pq->f.PQtrace(conn, file);
	pq->f.PQsetTraceFlags(conn, PQTRACE_SUPPRESS_TIMESTAMPS);
	assert_int_equal(pq->f.PQsendQuery(conn, "select 1"), 1);
	assert_int_equal(fstat(fileno(file), &written), 0);
	pq->f.PQfinish(conn);
	fclose(file);
	return written.st_size;
}

static void
the_trace_can_be_read_meanwhile(void **state)
{
	struct fixture *f = *state;
	off_t theirs = traced_when_sent(&f->theirs, f->conninfo);

	assert_true(theirs > 0);
	assert_int_equal(traced_when_sent(&f->ours, f->conninfo), theirs);
}

/* It ended while nothing was asked, which the program has not read when it asks again. */
static void
a_session_found_lost_by_sending_has_a_descriptor(void **state)
{
	struct fixture *f = *state;
	const struct cnt_pq *pq = &f->ours;
	PGconn *conn = ended_meanwhile(f, pq, 0);
	struct pollfd p = { .fd = pq->f.PQsocket(conn), .events = POLLIN };

	assert_int_equal(pq->f.PQsendQuery(conn, "select 1"), 1);
	assert_int_equal(pq->f.PQsocket(conn), p.fd);
	assert_int_equal(poll(&p, 1, 0), 1);
	while (pq->f.PQconsumeInput(conn) == 1 && pq->f.PQstatus(conn) == CONNECTION_OK)
		pq->f.PQclear(pq->f.PQgetResult(conn));
	assert_int_equal(pq->f.PQstatus(conn), CONNECTION_BAD);
	pq->f.PQfinish(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_original_that_is_not_there_is_named, begin),
		cmocka_unit_test_setup(
			descriptors_come_and_go_with_the_connection, begin),
		cmocka_unit_test_setup(the_first_poll_has_no_connection_yet, begin),
		cmocka_unit_test_setup(
			standard_descriptors_that_are_closed_are_not_taken, begin),
		cmocka_unit_test_setup(signals_locale_and_environment_stay, begin),
		cmocka_unit_test_setup(nothing_is_printed_but_notices, begin),
		cmocka_unit_test_setup(
			a_forked_child_is_refused_and_the_parent_goes_on, begin),
		cmocka_unit_test_setup(
			a_child_reads_no_rows_of_a_request_of_its_parent, begin),
		cmocka_unit_test_setup(
			a_reset_leaves_the_last_words_of_the_server_behind, begin),
		cmocka_unit_test_setup(so_are_those_of_an_idle_session, begin),
		cmocka_unit_test_setup(an_idle_program_is_noticed_of_them, begin),
		cmocka_unit_test_setup(what_no_pool_covers_goes_to_the_original, begin),
		cmocka_unit_test_setup(
			replication_is_refused_or_given_to_the_original, begin),
		cmocka_unit_test_setup(a_notice_does_not_wait_for_its_statement, begin),
		cmocka_unit_test_setup(
			a_result_does_not_wait_for_the_next_of_its_pipeline, begin),
		cmocka_unit_test_setup(a_reset_goes_directly_when_cenoted_is_gone, begin),
		cmocka_unit_test_setup(a_direct_connection_is_what_is_escaped_for, begin),
		cmocka_unit_test_setup(
			a_stopped_cenoted_does_not_stop_who_may_go_directly, begin),
		cmocka_unit_test_setup(a_late_refusal_is_fallen_back_from_too, begin),
		cmocka_unit_test_setup(who_may_not_fall_back_is_told, begin),
		cmocka_unit_test_setup(the_trace_is_that_of_libpq, begin),
		cmocka_unit_test_setup(the_trace_can_be_read_meanwhile, begin),
		cmocka_unit_test_setup(
			a_session_of_another_kind_than_wanted_is_refused, begin),
		cmocka_unit_test_setup(nothing_is_read_unasked, begin),
		cmocka_unit_test_setup(
			a_session_that_was_taken_back_is_left_before_sending, begin),
		cmocka_unit_test_setup(
			the_last_words_of_a_session_are_its_servers, begin),
		cmocka_unit_test_setup(
			the_end_of_a_session_is_read_behind_its_last_words, begin),
		cmocka_unit_test_setup(
			a_session_found_lost_by_sending_has_a_descriptor, begin),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
