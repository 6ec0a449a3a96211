/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "rig.h"
#include "shims/starve.h"

/* Make each allocation fail in turn. The connection must work afterwards, or report that it is
 * lost. */

struct fixture {
	struct cnt_pq ours;
	struct cnt_rig rig;
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

static void
ignore(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

/* Take results until there are no more, or until a COPY has begun. PQexec() ends an open COPY. */
static void
take_all(struct fixture *f, PGconn *conn)
{
	PGresult *res;
	int is_copy = 0;

	while (!is_copy && (res = f->ours.f.PQgetResult(conn)) != NULL) {
		is_copy = f->ours.f.PQresultStatus(res) == PGRES_COPY_IN ||
			  f->ours.f.PQresultStatus(res) == PGRES_COPY_OUT;
		f->ours.f.PQclear(res);
	}
}

/* Each use_… function checks what it gets, as a careful program does. */

static void
use_queries(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "7", "text" };
	PGresult *res = f->ours.f.PQexec(
		conn, "select g, repeat('x', 300) from generate_series(1, 40) g");

	(void)f->ours.f.PQgetvalue(res, 0, 1);
	f->ours.f.PQclear(res);
	res = f->ours.f.PQexecParams(
		conn, "select $1::int4, $2::text", 2, NULL, values, NULL, NULL, 0);
	f->ours.f.PQclear(res);
	res = f->ours.f.PQexec(conn, "select 1/0");
	(void)f->ours.f.PQresultErrorMessage(res);
	f->ours.f.PQclear(res);
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "do $$begin raise notice 'hm'; end$$"));
}

static void
use_prepared(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "7" };

	f->ours.f.PQclear(f->ours.f.PQprepare(conn, "p", "select $1::int4", 1, NULL));
	f->ours.f.PQclear(f->ours.f.PQdescribePrepared(conn, "p"));
	f->ours.f.PQclear(f->ours.f.PQexecPrepared(conn, "p", 1, values, NULL, NULL, 1));
}

static void
use_copy(struct fixture *f, PGconn *conn)
{
	PGresult *res;
	char *line;

	f->ours.f.PQclear(f->ours.f.PQexec(conn, "create temp table t (a text)"));
	res = f->ours.f.PQexec(conn, "copy t from stdin");
	if (f->ours.f.PQresultStatus(res) == PGRES_COPY_IN) {
		(void)f->ours.f.PQputCopyData(conn, "one\ntwo\n", 8);
		(void)f->ours.f.PQputCopyEnd(conn, NULL);
	}
	f->ours.f.PQclear(res);
	take_all(f, conn);
	res = f->ours.f.PQexec(conn, "copy t to stdout");
	while (f->ours.f.PQresultStatus(res) == PGRES_COPY_OUT &&
		f->ours.f.PQgetCopyData(conn, &line, 0) > 0)
		f->ours.f.PQfreemem(line);
	f->ours.f.PQclear(res);
	take_all(f, conn);
}

static void
use_large_objects(struct fixture *f, PGconn *conn)
{
	char piece[16];
	Oid id;
	int fd;

	f->ours.f.PQclear(f->ours.f.PQexec(conn, "begin"));
	id = f->ours.f.lo_creat(conn, 0x60000);
	fd = f->ours.f.lo_open(conn, id, 0x60000);
	(void)f->ours.f.lo_write(conn, fd, "hello", 5);
	(void)f->ours.f.lo_lseek(conn, fd, 0, SEEK_SET);
	(void)f->ours.f.lo_read(conn, fd, piece, sizeof(piece));
	(void)f->ours.f.lo_close(conn, fd);
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "rollback"));
}

static void
use_escapes(struct fixture *f, PGconn *conn)
{
	size_t n;
	char *text = f->ours.f.PQescapeLiteral(conn, "it's", 4);

	f->ours.f.PQfreemem(text);
	text = f->ours.f.PQescapeIdentifier(conn, "a\"b", 3);
	f->ours.f.PQfreemem(text);
	f->ours.f.PQfreemem(
		f->ours.f.PQescapeByteaConn(conn, (const unsigned char *)"\1\2", 2, &n));
	f->ours.f.PQfreemem(
		f->ours.f.PQunescapeBytea((const unsigned char *)"\\x0102", &n));
	f->ours.f.PQconninfoFree(f->ours.f.PQconninfo(conn));
	f->ours.f.PQfreeCancel(f->ours.f.PQgetCancel(conn));
	f->ours.f.PQfreemem(f->ours.f.PQencryptPasswordConn(conn, "secret", "me", "md5"));
}

/* A pipeline with results that wait until the program asks for them, and with results that the
 * shim makes without the server. */
static void
use_pipeline(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "7" };

	if (!f->ours.f.PQenterPipelineMode(conn))
		return;
	(void)f->ours.f.PQsendQueryParams(
		conn, "select $1::int4", 1, NULL, values, NULL, NULL, 0);
	(void)f->ours.f.PQisBusy(conn);
	/* the notice of this statement has to wait for its turn */
	(void)f->ours.f.PQsendQueryParams(conn, "rollback", 0, NULL, NULL, NULL, NULL, 0);
	(void)f->ours.f.PQsendQueryParams(
		conn, "select 1/0", 0, NULL, NULL, NULL, NULL, 0);
	(void)f->ours.f.PQsendPrepare(conn, "pp", "select 2", 0, NULL);
	(void)f->ours.f.PQpipelineSync(conn);
	for (int i = 0; i < 10; i++)
		f->ours.f.PQclear(f->ours.f.PQgetResult(conn));
}

static int
on_event(PGEventId id, void *info, void *arg)
{
	(void)id;
	(void)info;
	(void)arg;
	return 1;
}

/* Results that the program makes and changes, with event procedures. */
static void
use_results(struct fixture *f, PGconn *conn)
{
	PGresAttDesc column = { .name = (char *)"a", .typid = 25 };
	PGresult *res, *copy;

	(void)f->ours.f.PQregisterEventProc(conn, on_event, "events", NULL);
	res = f->ours.f.PQmakeEmptyPGresult(conn, PGRES_TUPLES_OK);
	(void)f->ours.f.PQsetResultAttrs(res, 1, &column);
	for (int i = 0; i < 200 && res != NULL; i++)
		(void)f->ours.f.PQsetvalue(res, i, 0, (char *)"value", 5);
	copy = f->ours.f.PQcopyResult(
		res, PG_COPYRES_ATTRS | PG_COPYRES_TUPLES | PG_COPYRES_EVENTS);
	(void)f->ours.f.PQresultAlloc(copy, 5000);
	(void)f->ours.f.PQfnumber(copy, "A");
	f->ours.f.PQclear(copy);
	f->ours.f.PQclear(res);
	res = f->ours.f.PQexec(conn, "select * from nowhere");
	f->ours.f.PQfreemem(f->ours.f.PQresultVerboseErrorMessage(
		res, PQERRORS_VERBOSE, PQSHOW_CONTEXT_ALWAYS));
	f->ours.f.PQclear(res);
}

static void
use_printing(struct fixture *f, PGconn *conn)
{
	PQprintOpt options = { .header = 1, .align = 1, .fieldSep = (char *)"|" };
	PGresult *res = f->ours.f.PQexec(conn, "select 1 as a, 'two' as b");
	FILE *to = fopen("/dev/null", "we");

	if (to != NULL && f->ours.f.PQresultStatus(res) == PGRES_TUPLES_OK) {
		f->ours.f.PQprint(to, res, &options);
		f->ours.f.PQdisplayTuples(res, to, 1, "|", 1, 0);
		f->ours.f.PQprintTuples(res, to, 1, 0, 8);
	}
	if (to != NULL)
		fclose(to);
	f->ours.f.PQclear(res);
}

static void
use_parameters(struct fixture *f, PGconn *conn)
{
	char *why = NULL;

	f->ours.f.PQconninfoFree(f->ours.f.PQconninfoParse("host=a 'b", &why));
	f->ours.f.PQfreemem(why);
	f->ours.f.PQconninfoFree(f->ours.f.PQconninfoParse(
		"postgresql://u:p@h:1/d?sslmode=require", NULL));
	f->ours.f.PQconninfoFree(f->ours.f.PQconndefaults());
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "set application_name to 'starved'"));
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "listen n; notify n, 'it'"));
	f->ours.f.PQfreemem(f->ours.f.PQnotifies(conn));
	(void)f->ours.f.PQsetClientEncoding(conn, "latin1");
	(void)f->ours.f.PQsetClientEncoding(conn, "utf8");
}

static void
use_reset(struct fixture *f, PGconn *conn)
{
	f->ours.f.PQreset(conn);
}

/* It is unknown which requests were sent. Take all results, then leave the pipeline. If that
 * fails, reset the connection. */
static void
leave_pipeline(struct fixture *f, PGconn *conn)
{
	for (int i = 0; i < 20; i++)
		f->ours.f.PQclear(f->ours.f.PQgetResult(conn));
	if (!f->ours.f.PQexitPipelineMode(conn))
		f->ours.f.PQreset(conn);
}

/* Check that the connection works. If it is lost, it must say so, and work after a reset. */
static void
look(struct fixture *f, PGconn *conn)
{
	PGresult *res;

	if (f->ours.f.PQpipelineStatus(conn) != PQ_PIPELINE_OFF)
		leave_pipeline(f, conn);
	take_all(f, conn);
	if (f->ours.f.PQstatus(conn) == CONNECTION_OK)
		f->ours.f.PQclear(f->ours.f.PQexec(conn, "rollback"));
	if (f->ours.f.PQstatus(conn) != CONNECTION_OK) {
		assert_true(*f->ours.f.PQerrorMessage(conn) != '\0');
		f->ours.f.PQreset(conn);
	}
	res = f->ours.f.PQexec(conn, "select 42");
	assert_string_equal(f->ours.f.PQerrorMessage(conn), "");
	assert_string_equal(f->ours.f.PQgetvalue(res, 0, 0), "42");
	f->ours.f.PQclear(res);
}

static void
starve(struct fixture *f, void (*use)(struct fixture *f, PGconn *conn), int all)
{
	int has_failed;

	for (long n = 1;; n++) {
		PGconn *conn = f->ours.f.PQconnectdb(f->rig.server.server_line);

		assert_int_equal(f->ours.f.PQstatus(conn), CONNECTION_OK);
		(void)f->ours.f.PQsetNoticeProcessor(conn, ignore, NULL);
		alarm(20);
		cnt_starve(n, all);
		use(f, conn);
		has_failed = cnt_starve_end();
		look(f, conn);
		f->ours.f.PQfinish(conn);
		if (!has_failed)
			break;
		assert_true(n < 5000);
	}
	alarm(0);
}

#define STARVED(name)                                                                    \
	static void name##_without_memory(void **state)                                  \
	{                                                                                \
		starve(*state, use_##name, 0);                                           \
		starve(*state, use_##name, 1);                                           \
	}
STARVED(queries)
STARVED(prepared)
STARVED(copy)
STARVED(large_objects)
STARVED(escapes)
STARVED(pipeline)
STARVED(results)
STARVED(printing)
STARVED(parameters)
STARVED(reset)

/* Use a pool of a server other than PostgreSQL. */
static void
use_dialect(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "\\x00ff", "text" };
	static const Oid types[] = { 17, 25 };
	PGresult *res = f->ours.f.PQexec(conn, "create temp table b (b blob, t text)");

	f->ours.f.PQclear(res);
	res = f->ours.f.PQexecParams(
		conn, "insert into b values ($1, $2)", 2, types, values, NULL, NULL, 0);
	f->ours.f.PQclear(res);
	res = f->ours.f.PQexec(conn, "select b, t from b");
	(void)f->ours.f.PQgetvalue(res, 0, 0);
	f->ours.f.PQclear(res);
	res = f->ours.f.PQprepare(conn, "p", "select $2, $1 from b", 2, types);
	f->ours.f.PQclear(res);
	f->ours.f.PQclear(f->ours.f.PQdescribePrepared(conn, "p"));
	f->ours.f.PQclear(f->ours.f.PQexecPrepared(conn, "p", 2, values, NULL, NULL, 1));
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "deallocate p"));
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "set datestyle to iso"));
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "listen x"));
	f->ours.f.PQclear(f->ours.f.PQexec(conn, "begin read only"));
	if (f->ours.f.PQsendQuery(conn, "select 1 union all select 2"))
		(void)f->ours.f.PQsetSingleRowMode(conn);
}

static void
dialect_without_memory(void **state)
{
	struct fixture *f = *state;
	struct cnt_daemon daemon;
	char here[160], there[160];

	assert_int_equal(cnt_daemon_start(&daemon, NULL), 0);
	snprintf(here, sizeof(here), "%s", getenv("CENOTE_SERVER"));
	snprintf(there, sizeof(there), "unix:%s", daemon.run_dir);
	setenv("CENOTE_SERVER", there, 1);
	starve(f, use_dialect, 0);
	starve(f, use_dialect, 1);
	setenv("CENOTE_SERVER", here, 1);
	assert_int_equal(cnt_daemon_stop(&daemon), 0);
}

static void
connecting_without_memory(void **state)
{
	struct fixture *f = *state;

	for (int all = 0; all < 2; all++) {
		int has_failed = 1;

		for (long n = 1; has_failed; n++) {
			PGconn *conn;

			alarm(20);
			cnt_starve(n, all);
			conn = f->ours.f.PQconnectdb(f->rig.server.server_line);
			has_failed = cnt_starve_end();
			if (conn != NULL && f->ours.f.PQstatus(conn) != CONNECTION_OK)
				assert_true(*f->ours.f.PQerrorMessage(conn) != '\0');
			else if (conn != NULL)
				look(f, conn);
			f->ours.f.PQfinish(conn);
		}
	}
	alarm(0);
}

/* ---- cancelling: libpq allows it in a signal handler ---- */

static const struct cpq_original *cancelling;
static PGcancel *volatile to_cancel;
static volatile sig_atomic_t cancel_result, cancel_wanted_memory, cancel_errno;

static void
cancel_in_handler(int sig)
{
	char why[128];

	(void)sig;
	errno = ENOTTY;
	cnt_starve(1, 1);
	cancel_result = cancelling->PQcancel(to_cancel, why, sizeof(why));
	cancel_wanted_memory = cnt_starve_end();
	cancel_errno = errno;
}

static void
cancelling_needs_no_memory(void **state)
{
	struct fixture *f = *state;
	struct sigaction ours = { .sa_handler = cancel_in_handler }, old;
	PGconn *conn = f->ours.f.PQconnectdb(f->rig.server.server_line);
	PGresult *res;

	cancelling = &f->ours.f;
	to_cancel = f->ours.f.PQgetCancel(conn);
	assert_non_null(to_cancel);
	assert_int_equal(sigaction(SIGALRM, &ours, &old), 0);
	for (int i = 0; i < 3; i++) {
		cancel_result = -1;
		alarm(1);
		res = f->ours.f.PQexec(conn, "select pg_sleep(60)");
		assert_int_equal(cancel_result, 1);
		assert_false(cancel_wanted_memory);
		assert_int_equal(cancel_errno, ENOTTY);
		assert_string_equal(f->ours.f.PQresultErrorField(res, 'C'), "57014");
		f->ours.f.PQclear(res);
	}
	assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
	f->ours.f.PQfreeCancel(to_cancel);
	look(f, conn);
	f->ours.f.PQfinish(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connecting_without_memory),
		cmocka_unit_test(queries_without_memory),
		cmocka_unit_test(prepared_without_memory),
		cmocka_unit_test(copy_without_memory),
		cmocka_unit_test(large_objects_without_memory),
		cmocka_unit_test(escapes_without_memory),
		cmocka_unit_test(pipeline_without_memory),
		cmocka_unit_test(results_without_memory),
		cmocka_unit_test(printing_without_memory),
		cmocka_unit_test(parameters_without_memory),
		cmocka_unit_test(reset_without_memory),
		cmocka_unit_test(dialect_without_memory),
		cmocka_unit_test(cancelling_needs_no_memory),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
