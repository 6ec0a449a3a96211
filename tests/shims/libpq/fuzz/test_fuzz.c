/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The same calls in random order, on the original libpq and on the shim, on the same server.
 *
 * CHECK_LIBPQ_SEQUENCES    number of sequences (500)
 * CHECK_LIBPQ_DIFFERENCES  number of differences to print before giving up (1)
 * CHECK_CROWD              if set, other clients connect and disconnect all the time, so that the pool (`mode = transaction`)
 *                          gives another session after each transaction
 * CHECK_RELOADS            if set, the pool's configuration changes all the time, so that it gives another session sometimes
 * CHECK_TLS                if set, the shim connects over TCP with TLS
 * CNT_SEED                 seed of the first sequence; each later sequence adds one
 */

#include "support/cnt_cmocka.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "fuzz.h"
#include "shims/fuzz/compare.h"
#include "shims/fuzz/pool.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

static struct cnt_server server;
static struct cnt_daemon daemon_;
static struct fz_others others;
static void renew(void);
static struct fz_contest contest = {
	.language = &fz_libpq,
	.name = "libpq:",
	.count = "CHECK_LIBPQ_SEQUENCES",
	.default_count = "500",
	.differences = "CHECK_LIBPQ_DIFFERENCES",
	.renew = renew,
};
/* An explicitly loaded libpq: a function found by name in this process may be the shim's. */
static struct cnt_pq pq;
static PGconn *admins[2]; /* connections to each database without a pool */
static char port[16], last_oid[16], shim_server[160];

static const char setup_sql[] =
	"create table items (id int4 primary key, name text,"
	" price numeric(10, 2) check (price >= 0), stamp date, raw bytea);"
	"create table children (item int4 references items on delete cascade);"
	"create function notices(n int4) returns int4 language plpgsql as $f$"
	" begin for i in 1..n loop raise notice 'notice %', i; end loop; return n; "
	"end$f$;"
	"create function fails(n int4) returns int4 language plpgsql as $f$"
	" begin if n = 1 then raise exception 'failed with %', n using errcode = '22012',"
	" detail = 'the detail', hint = 'the hint', column = 'c', constraint = 'k',"
	" datatype = 'd', table = 't', schema = 's';"
	" elsif n = 2 then execute 'select * from nowhere_at_all'; end if;"
	" if n = 3 then perform fails(1); end if; return n; end$f$;"
	"create procedure changes(n int4) language plpgsql as $f$"
	" begin update items set name = 'changed' where id = n; commit; end$f$;"
	"create function renew() returns void language sql as $f$"
	" delete from children; delete from items; insert into items values"
	" (1, 'one', 1.5, '2024-02-29', '\\x00ff'), (2, 'zwö', null, null, ''),"
	" (3, null, 3, '2000-01-01', '\\x61'), (4, E'a\\tb\\nc\\\\', 4, null, null),"
	" (5, '', 0, 'infinity', null); insert into children values (4);"
	" select lo_unlink(oid) from pg_largeobject_metadata $f$;";

/* ---- the two drivers ---- */

static void
admin_does(PGconn *admin, const char *sql, char *ret_value, size_t size)
{
	PGresult *res = pq.f.PQexec(admin, sql);

	if (pq.f.PQresultStatus(res) != PGRES_TUPLES_OK &&
		pq.f.PQresultStatus(res) != PGRES_COMMAND_OK)
		fail_msg("%s: %s", sql, pq.f.PQerrorMessage(admin));
	if (size > 0)
		snprintf(ret_value, size, "%s", pq.f.PQgetvalue(res, 0, 0));
	pq.f.PQclear(res);
}

static PGconn *
log_in(const char *dbname)
{
	char conninfo[256];
	PGconn *conn;

	snprintf(conninfo, sizeof(conninfo), "host=%s port=%d dbname=%s user=app",
		server.run_dir, server.port, dbname);
	conn = pq.f.PQconnectdb(conninfo);
	if (pq.f.PQstatus(conn) != CONNECTION_OK)
		fail_msg("%s", pq.f.PQerrorMessage(conn));
	return conn;
}

/*
 * Objects that a sequence creates have different ids on each side, and the drivers replace every such id
 * by a word. An id must therefore not look like an SQLSTATE or like a line number of the server's source.
 * So raise the ids above both.
 */
static void
number_objects_anew(void)
{
	static const char next[] =
		"select pg_nextoid('pg_class', 'oid', 'pg_class_oid_index')";
	char sql[256];

	snprintf(sql, sizeof(sql),
		"do $$begin while (%s)::int8 < 99999 loop end loop; end$$", next);
	assert_int_equal(cnt_server_sql(&server, sql), 0);
	assert_int_equal(cnt_server_ask(&server, next, last_oid, sizeof(last_oid)), 0);
	assert_true(strtoul(last_oid, NULL, 10) > 99999);
}

/* Make two databases that are equal to the last object id. What one driver does is invisible to the other. */
static void
make_databases(void)
{
	char sql[320];
	PGconn *conn;

	assert_int_equal(cnt_server_sql(&server, "create database fuzz_a owner app"), 0);
	conn = log_in("fuzz_a");
	admin_does(conn, setup_sql, NULL, 0);
	pq.f.PQfinish(conn);
	assert_int_equal(cnt_server_sql(&server,
				 "create database fuzz_b template fuzz_a owner app"),
		0);
	/*
	 * Use one plan for each statement, however large the tables have become, and never compile a plan
	 * that looks expensive. A connection may wait for a lock that the other connection holds and does
	 * not release.
	 */
	for (char side = 'a'; side <= 'b'; side++) {
		snprintf(sql, sizeof(sql),
			"alter database fuzz_%c set enable_seqscan = off;"
			" alter database fuzz_%c set enable_bitmapscan = off;"
			" alter database fuzz_%c set jit = off;"
			" alter database fuzz_%c set lock_timeout = '1s'",
			side, side, side, side);
		assert_int_equal(cnt_server_sql(&server, sql), 0);
	}
	admins[0] = log_in("fuzz_a");
	admins[1] = log_in("fuzz_b");
	number_objects_anew();
}

static void
make_peer(struct fz_peer *peer, const char *libpq, const char *dbname)
{
	const char *argv[] = { CNT_DRIVER, libpq, server.run_dir, port, dbname, "app",
		last_oid, NULL };

	memcpy(peer->argv, argv, sizeof(argv));
}

static int
setup(void **state)
{
	const char *lines = fz_pool_lines("sessions = 2..4\n");
	char config[1024], pid[16];
	const char *original;

	if (!lines)
		return -1;
	cnt_clean_environment();
	original = cnt_pq_original();
	cnt_pq_load(&pq, original);
	signal(SIGPIPE, SIG_IGN);
	if (cnt_server_start(&server, CNT_POSTGRESQL, 0) < 0)
		return -1;
	snprintf(pid, sizeof(pid), "%ld", (long)server.pid);
	setenv("FZ_SERVER_PID", pid, 1);
	make_databases();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = postgresql\n"
				  "server = host=%s port=%d dbname=fuzz_b user=app\n%s",
		server.run_dir, server.port, lines);
	if (cnt_daemon_start(&daemon_, config) < 0) {
		cnt_server_stop(&server);
		return -1;
	}
	snprintf(port, sizeof(port), "%d", server.port);
	snprintf(shim_server, sizeof(shim_server), "unix:%s", daemon_.run_dir);
	setenv("CENOTE_SERVER", shim_server, 1);
	fz_pool_enter(&daemon_);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	/* the name with which the pool logged in */
	setenv("PGAPPNAME", "cenoted", 1);
	make_peer(&contest.original, original, "fuzz_a");
	make_peer(&contest.ours, CNT_OUR_LIBPQ, "fuzz_b");
	fz_others_start(&others, &daemon_);
	return 0;
}

static int
teardown(void **state)
{
	int r;

	fz_others_stop(&others);
	fz_pool_remove();
	pq.f.PQfinish(admins[0]);
	pq.f.PQfinish(admins[1]);
	r = cnt_daemon_stop(&daemon_);
	cnt_server_stop(&server);
	return r;
}

/* ---- between sequences ---- */

static int
n_logins(PGconn *admin)
{
	char n[16];

	admin_does(admin,
		"select count(*) from pg_stat_activity where datname = "
		"current_database() "
		"and backend_type = 'client backend'",
		n, sizeof(n));
	return (int)strtol(n, NULL, 10);
}

/* Whatever was running when a sequence ended must not affect the next one. */
static void
renew(void)
{
	static unsigned n_renewed;

	for (int i = 0; i < 20000 && n_logins(admins[0]) > 1; i++)
		usleep(500);
	for (int i = 0; i < 20000 && fz_pool_is_used(daemon_.run_dir); i++)
		usleep(500);
	for (int i = 0; i < 2; i++) {
		admin_does(admins[i], "select renew()", NULL, 0);
		/* deleted rows would slow down all later sequences */
		if (n_renewed % 100 == 0)
			admin_does(admins[i], "vacuum items", NULL, 0);
	}
	n_renewed++;
}

/* ---- the tests ---- */

static void
random_calls_give_what_libpq_gives(void **state)
{
	assert_int_equal(fz_contest_run(&contest), 0);
	fz_others_check(&others);
	/* with a sanitizer the drivers also report leaks */
	assert_int_equal(fz_peer_stop(&contest.original), 0);
	assert_int_equal(fz_peer_stop(&contest.ours), 0);
}

static void
what_was_mended_stays_mended(void **state)
{
	static struct fz_sequence seq = { .n = 1 };
	uint64_t n_differences = 0;

	for (uint32_t i = 0; i < FZ_N_SCENES; i++) {
		seq.steps[0] = (struct fz_step){ FZ_scene, { 0, i } };
		n_differences += fz_contest_ask(&contest, &seq) != 0;
	}
	assert_int_equal(n_differences, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_mended_stays_mended),
		cmocka_unit_test(random_calls_give_what_libpq_gives),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
