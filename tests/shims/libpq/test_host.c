/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "shims/host.h"

/* The shim inside its host program, on a real server. The tests check what the shim must not
 * touch, what a forked child may do, and what the host reads in the shim's memory. */

/* ---- what belongs to the host ---- */

static void
busy_hour(struct cnt_guest *f)
{
	static const char *const values[] = { "7" };
	PGconn *conn = cnt_guest_connect(f);
	PGresult *res;

	assert_string_equal(cnt_guest_ask(&f->ours, conn, "select 6 * 7"), "42");
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
	struct cnt_guest *f = *state;
	char before[CNT_HOST_FDS], during[CNT_HOST_FDS], after[CNT_HOST_FDS];
	PGconn *conn;
	int n = 0;

	cnt_host_list_fds(before);
	conn = cnt_guest_connect(f);
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
	struct cnt_guest *f = *state;
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

/* Run busy_hour() and a connection that fails. Returns how many bytes went to standard output and
 * standard error. */
static long
written(struct cnt_guest *f, int with_notice)
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
	struct cnt_guest *f = *state;

	assert_int_equal(written(f, 0), 0);
	assert_int_equal(written(f, 1), strlen("NOTICE:  hm\n"));
}

/* ---- forked children ---- */

static int
use_parents(struct cnt_guest *f, PGconn *conn)
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
reset_parents(struct cnt_guest *f, PGconn *conn, int pid)
{
	int is_same;

	/* after the reset the child has a session of its own */
	f->ours.f.PQreset(conn);
	is_same = f->ours.f.PQbackendPID(conn) == pid ||
		  strcmp(cnt_guest_ask(&f->ours, conn, "select 42"), "42") != 0;
	f->ours.f.PQfinish(conn);
	return is_same;
}

static void
a_forked_child_is_refused_and_the_parent_goes_on(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *conn = cnt_guest_connect(f);
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
		/* the parent has the same session, still in its transaction */
		assert_string_equal(
			cnt_guest_ask(&f->ours, conn, "select pg_backend_pid()"), pid);
		assert_string_equal(
			cnt_guest_ask(&f->ours, conn, "select count(*) from mine"), "0");
		assert_int_equal(f->ours.f.PQtransactionStatus(conn), PQTRANS_INTRANS);
	}
	f->ours.f.PQfinish(conn);
}

static void
a_child_reads_no_rows_of_a_request_of_its_parent(void **state)
{
	struct cnt_guest *f = *state;
	PGconn *conn = cnt_guest_connect(f);
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
	struct cnt_guest *f = *state;
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
	/* the first fails while it runs, the second succeeds, the third fails while it is bound */
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
	pq->f.PQclear(
		pq->f.PQexec(conn, "select pg_terminate_backend(pg_backend_pid())"));
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
	struct cnt_guest *f = *state;

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
	struct cnt_guest *f = *state;
	off_t theirs = traced_when_sent(&f->theirs, f->conninfo);

	assert_true(theirs > 0);
	assert_int_equal(traced_when_sent(&f->ours, f->conninfo), theirs);
}

/* ---- memory that programs read ---- */

/* The head of libpq's struct pg_result, as programs declare it for themselves. */
struct head {
	int n_rows;
	int n_columns;
	PGresAttDesc *columns;
	struct {
		int len;
		char *value;
	} * *rows;
	int cap_rows;
	int n_params;
	Oid *params;
	ExecStatusType status;
	char command[64];
	int is_binary;
};

static void
look_at_values(const struct cnt_pq *pq, const PGresult *res)
{
	const struct head *head = (const void *)res;

	for (int row = 0; row < head->n_rows; row++) {
		for (int i = 0; i < head->n_columns; i++) {
			int is_null = pq->f.PQgetisnull(res, row, i);

			assert_int_equal(head->rows[row][i].len,
				is_null ? -1 : pq->f.PQgetlength(res, row, i));
			assert_ptr_equal(
				head->rows[row][i].value, pq->f.PQgetvalue(res, row, i));
		}
	}
}

/* Compare what is in memory with what the functions return. Frees the result. */
static void
look_at_head(const struct cnt_pq *pq, PGresult *res, int n_rows, int n_columns)
{
	const struct head *head = (const void *)res;

	assert_int_equal(head->n_rows, n_rows);
	assert_int_equal(head->n_columns, n_columns);
	assert_int_equal(pq->f.PQntuples(res), n_rows);
	assert_int_equal(pq->f.PQnfields(res), n_columns);
	assert_int_equal(head->status, pq->f.PQresultStatus(res));
	assert_string_equal(head->command, pq->f.PQcmdStatus(res));
	assert_int_equal(head->is_binary, pq->f.PQbinaryTuples(res));
	assert_int_equal(head->n_params, pq->f.PQnparams(res));
	for (int i = 0; i < head->n_params; i++)
		assert_int_equal(head->params[i], pq->f.PQparamtype(res, i));
	for (int i = 0; i < n_columns; i++)
		assert_ptr_equal(head->columns[i].name, pq->f.PQfname(res, i));
	look_at_values(pq, res);
	pq->f.PQclear(res);
}

static void
look_at_heads(const struct cnt_pq *pq, PGconn *conn)
{
	PGresult *res;

	look_at_head(pq,
		pq->f.PQexec(conn,
			"select n, nullif(n, 2), '' as nothing, repeat('x', n) "
			"from generate_series(1, 300) n"),
		300, 4);
	look_at_head(pq,
		pq->f.PQexecParams(conn, "select 7, null", 0, NULL, NULL, NULL, NULL, 1),
		1, 2);
	look_at_head(pq, pq->f.PQexec(conn, "select from generate_series(1, 3)"), 3, 0);
	look_at_head(pq, pq->f.PQexec(conn, "select 1 where false"), 0, 1);
	look_at_head(pq, pq->f.PQexec(conn, "set work_mem to default"), 0, 0);
	look_at_head(pq, pq->f.PQexec(conn, "select 1/0"), 0, 0);
	pq->f.PQclear(pq->f.PQprepare(conn, "s", "select $1::text, $2::int4", 0, NULL));
	look_at_head(pq, pq->f.PQdescribePrepared(conn, "s"), 0, 2);
	assert_int_equal(pq->f.PQsendQuery(conn, "values (1, null), (2, 'two')"), 1);
	assert_int_equal(pq->f.PQsetSingleRowMode(conn), 1);
	for (int row = 0; row < 2; row++)
		look_at_head(pq, pq->f.PQgetResult(conn), 1, 2);
	look_at_head(pq, pq->f.PQgetResult(conn), 0, 2);
	assert_null(pq->f.PQgetResult(conn));

	res = pq->f.PQexec(conn, "values (1, null), (2, 'two')");
	for (int row = 0; row < 3; row++)
		assert_int_equal(pq->f.PQsetvalue(res, row, 0, (char *)"mine", 4), 1);
	assert_string_equal(pq->f.PQgetvalue(res, 1, 1), "two");
	look_at_head(pq, pq->f.PQcopyResult(res, PG_COPYRES_TUPLES), 3, 2);
	look_at_head(pq, res, 3, 2);
	pq->f.PQfinish(conn);
}

/* psycopg 3's compiled code reads the values from memory. */
static void
a_result_has_libpqs_head(void **state)
{
	struct cnt_guest *f = *state;

	look_at_heads(&f->theirs, f->theirs.f.PQconnectdb(f->conninfo));
	look_at_heads(&f->ours, cnt_guest_connect(f));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			descriptors_come_and_go_with_the_connection, cnt_guest_begin),
		cmocka_unit_test_setup(standard_descriptors_that_are_closed_are_not_taken,
			cnt_guest_begin),
		cmocka_unit_test_setup(
			signals_locale_and_environment_stay, cnt_guest_begin),
		cmocka_unit_test_setup(nothing_is_printed_but_notices, cnt_guest_begin),
		cmocka_unit_test_setup(a_forked_child_is_refused_and_the_parent_goes_on,
			cnt_guest_begin),
		cmocka_unit_test_setup(a_child_reads_no_rows_of_a_request_of_its_parent,
			cnt_guest_begin),
		cmocka_unit_test_setup(a_result_has_libpqs_head, cnt_guest_begin),
		cmocka_unit_test_setup(the_trace_is_that_of_libpq, cnt_guest_begin),
		cmocka_unit_test_setup(the_trace_can_be_read_meanwhile, cnt_guest_begin),
		cmocka_unit_test_setup(a_session_of_another_kind_than_wanted_is_refused,
			cnt_guest_begin),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, cnt_guest_setup, cnt_guest_teardown);
}
