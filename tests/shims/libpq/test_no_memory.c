/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/*
 * No memory, at each allocation in turn. malloc() and its relatives of this
 * program come before the C library's for everything in the process; between
 * on() and off() the Nth call fails, or that and all behind it.
 */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static long countdown; /* 0: nothing fails */
static int fails_on; /* those behind the first as well */
static int has_failed;

static int
fails(void)
{
	if (countdown == 0 || (countdown > 1 && --countdown > 0))
		return 0;
	if (!fails_on)
		countdown = 0;
	has_failed = 1;
	return 1;
}

void *
malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

struct fixture {
	struct cpq_original pq;
	struct cnt_server server;
	struct cnt_daemon daemon;
};

static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	memcpy(slot, &address, sizeof(address));
}

/* Not out of the way of this program, as the pair is: its malloc() is to be
 * ours. */
static void
load(struct cpq_original *pq)
{
	void *library = dlopen(CNT_OUR_LIBPQ, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		fail_msg("%s", dlerror());
#define FIND(handle, ret, name, params, args) find(library, #name, &pq->name);
#define FIND_V(handle, name, params, args)    find(library, #name, &pq->name);
	CPQ_FACE_15(FIND, FIND_V)
	CPQ_FACE_17(FIND, FIND_V)
	CPQ_FACE_18(FIND, FIND_V)
}

static int
setup(void **state)
{
	static struct fixture f;
	char config[1024], server[160];

	/* cenoted's own libpq is the system's */
	unsetenv("LD_LIBRARY_PATH");
	if (cnt_server_start(&f.server, CNT_POSTGRESQL, 0) < 0 ||
		cnt_daemon_start(
			&f.daemon, cnt_server_config(&f.server, "sessions = 1..6\n",
					   config, sizeof(config))) < 0)
		return -1;
	load(&f.pq);
	snprintf(server, sizeof(server), "unix:%s", f.daemon.run_dir);
	setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	int r = cnt_daemon_stop(&f->daemon);

	cnt_server_stop(&f->server);
	return r;
}

static void
ignore(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

/* To the end, or to a copy that is open still: PQexec() ends that. */
static void
take_all(struct fixture *f, PGconn *conn)
{
	PGresult *res;
	int is_copy = 0;

	while (!is_copy && (res = f->pq.PQgetResult(conn)) != NULL) {
		is_copy = f->pq.PQresultStatus(res) == PGRES_COPY_IN ||
			  f->pq.PQresultStatus(res) == PGRES_COPY_OUT;
		f->pq.PQclear(res);
	}
}

/* Each does its work as a program does that looks at what it is given. */

static void
use_queries(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "7", "text" };
	PGresult *res = f->pq.PQexec(
		conn, "select g, repeat('x', 300) from generate_series(1, 40) g");

	(void)f->pq.PQgetvalue(res, 0, 1);
	f->pq.PQclear(res);
	res = f->pq.PQexecParams(
		conn, "select $1::int4, $2::text", 2, NULL, values, NULL, NULL, 0);
	f->pq.PQclear(res);
	res = f->pq.PQexec(conn, "select 1/0");
	(void)f->pq.PQresultErrorMessage(res);
	f->pq.PQclear(res);
	f->pq.PQclear(f->pq.PQexec(conn, "do $$begin raise notice 'hm'; end$$"));
}

static void
use_prepared(struct fixture *f, PGconn *conn)
{
	static const char *const values[] = { "7" };

	f->pq.PQclear(f->pq.PQprepare(conn, "p", "select $1::int4", 1, NULL));
	f->pq.PQclear(f->pq.PQdescribePrepared(conn, "p"));
	f->pq.PQclear(f->pq.PQexecPrepared(conn, "p", 1, values, NULL, NULL, 1));
}

static void
use_copy(struct fixture *f, PGconn *conn)
{
	PGresult *res;
	char *line;

	f->pq.PQclear(f->pq.PQexec(conn, "create temp table t (a text)"));
	res = f->pq.PQexec(conn, "copy t from stdin");
	if (f->pq.PQresultStatus(res) == PGRES_COPY_IN) {
		(void)f->pq.PQputCopyData(conn, "one\ntwo\n", 8);
		(void)f->pq.PQputCopyEnd(conn, NULL);
	}
	f->pq.PQclear(res);
	take_all(f, conn);
	res = f->pq.PQexec(conn, "copy t to stdout");
	while (f->pq.PQresultStatus(res) == PGRES_COPY_OUT &&
		f->pq.PQgetCopyData(conn, &line, 0) > 0)
		f->pq.PQfreemem(line);
	f->pq.PQclear(res);
	take_all(f, conn);
}

static void
use_large_objects(struct fixture *f, PGconn *conn)
{
	char piece[16];
	Oid id;
	int fd;

	f->pq.PQclear(f->pq.PQexec(conn, "begin"));
	id = f->pq.lo_creat(conn, 0x60000);
	fd = f->pq.lo_open(conn, id, 0x60000);
	(void)f->pq.lo_write(conn, fd, "hello", 5);
	(void)f->pq.lo_lseek(conn, fd, 0, SEEK_SET);
	(void)f->pq.lo_read(conn, fd, piece, sizeof(piece));
	(void)f->pq.lo_close(conn, fd);
	f->pq.PQclear(f->pq.PQexec(conn, "rollback"));
}

static void
use_escapes(struct fixture *f, PGconn *conn)
{
	size_t n;
	char *text = f->pq.PQescapeLiteral(conn, "it's", 4);

	f->pq.PQfreemem(text);
	text = f->pq.PQescapeIdentifier(conn, "a\"b", 3);
	f->pq.PQfreemem(text);
	f->pq.PQfreemem(
		f->pq.PQescapeByteaConn(conn, (const unsigned char *)"\1\2", 2, &n));
	f->pq.PQfreemem(f->pq.PQunescapeBytea((const unsigned char *)"\\x0102", &n));
	f->pq.PQconninfoFree(f->pq.PQconninfo(conn));
	f->pq.PQfreeCancel(f->pq.PQgetCancel(conn));
	f->pq.PQfreemem(f->pq.PQencryptPasswordConn(conn, "secret", "me", "md5"));
}

static void
use_reset(struct fixture *f, PGconn *conn)
{
	f->pq.PQreset(conn);
}

/* Whole again, or plainly lost, and told so; then the program resets it, and it
 * is whole. */
static void
look(struct fixture *f, PGconn *conn)
{
	PGresult *res;

	take_all(f, conn);
	if (f->pq.PQstatus(conn) == CONNECTION_OK)
		f->pq.PQclear(f->pq.PQexec(conn, "rollback"));
	if (f->pq.PQstatus(conn) != CONNECTION_OK) {
		assert_true(*f->pq.PQerrorMessage(conn) != '\0');
		f->pq.PQreset(conn);
	}
	res = f->pq.PQexec(conn, "select 42");
	assert_string_equal(f->pq.PQerrorMessage(conn), "");
	assert_string_equal(f->pq.PQgetvalue(res, 0, 0), "42");
	f->pq.PQclear(res);
}

static void
starve(struct fixture *f, void (*use)(struct fixture *f, PGconn *conn), int all)
{
	for (long n = 1;; n++) {
		PGconn *conn = f->pq.PQconnectdb(f->server.server_line);

		assert_int_equal(f->pq.PQstatus(conn), CONNECTION_OK);
		(void)f->pq.PQsetNoticeProcessor(conn, ignore, NULL);
		alarm(20);
		has_failed = 0;
		fails_on = all;
		countdown = n;
		use(f, conn);
		countdown = 0;
		look(f, conn);
		f->pq.PQfinish(conn);
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
STARVED(reset)

static void
connecting_without_memory(void **state)
{
	struct fixture *f = *state;

	for (int all = 0; all < 2; all++) {
		has_failed = 1;
		for (long n = 1; has_failed; n++) {
			PGconn *conn;

			has_failed = 0;
			fails_on = all;
			countdown = n;
			alarm(20);
			conn = f->pq.PQconnectdb(f->server.server_line);
			countdown = 0;
			if (conn != NULL && f->pq.PQstatus(conn) != CONNECTION_OK)
				assert_true(*f->pq.PQerrorMessage(conn) != '\0');
			else if (conn != NULL)
				look(f, conn);
			f->pq.PQfinish(conn);
		}
	}
	alarm(0);
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
		cmocka_unit_test(reset_without_memory),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
