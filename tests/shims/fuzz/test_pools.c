/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The same calls in random order, on a shim whose pools have a server that the shim was not made for. There is no original
 * to compare with, so the shim is compared with itself. Each sequence runs on a pool without other clients, and on a
 * pool of the same server that is set up as the environment says (shims/fuzz/pool.h).
 *
 *     test_SHIM_fuzz_pools SERVER
 *
 * SERVER is sqlite, mysql, postgresql, or an ODBC driver through which the pool reaches its server (support/cnt_odbc.h).
 *
 * CHECK_POOLS_SEQUENCES    number of sequences (150)
 * CHECK_POOLS_DIFFERENCES  number of differences to print before giving up (1)
 * CNT_SEED                 seed of the first sequence; each later sequence adds one
 */

#include "support/cnt_cmocka.h"

#include <cenote/cenote.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "shims/fuzz/compare.h"
#include "shims/fuzz/pool.h"
#include "support/cnt_daemon.h"
#include "support/cnt_odbc.h"
#include "support/cnt_server.h"

#define GIVEN_UP_MS 60000
#define MAX_SETUP   8

/* clang-format off */
#define ROWS                                                                                                       \
	"insert into items (id, name, price, stamp, raw) values (1, 'one', 1.5, '2024-02-29 01:02:03.456', '\1'),"     \
	" (2, 'zw\xc3\xb6', null, null, ''), (3, null, 3, '2000-01-01', 'a'), (4, 'a\tb\nc', 4, null, null),"           \
	" (5, '', 0, '1999-12-31 23:59:59', null)"

/* A kind of server, the SQL that runs once at the start, and the SQL that runs before each
 * sequence. */
static const struct kind {
	const char *name;
	int server; /* -1: no server is needed */
	const char *setup[MAX_SETUP];
	const char *renew[MAX_SETUP];
} kinds[] = {
	{ "sqlite", -1,
		{ "create table items (id integer primary key autoincrement, name varchar(40) default 'x' unique,"
		  " price decimal(10,2) check (price >= 0), stamp datetime, raw blob)",
		  "create table children (item int references items(id) on delete cascade)" },
		{ "delete from children", "delete from items", "delete from sqlite_sequence", ROWS } },
	{ "mysql", CNT_MARIADB,
		{ "create table items (id int not null auto_increment primary key, name varchar(40) default 'x' unique,"
		  " price decimal(10,2) unsigned, stamp datetime(3), raw blob) engine=innodb default charset=utf8mb4",
		  "create table children (item int references items(id) on delete cascade) engine=innodb",
		  "create procedure several(n varchar(40)) begin declare i int default 0; while i < n and i < 300 do"
		  " set i = i + 1; select i, repeat('s', i); end while; end",
		  "create procedure gives(in a varchar(40), out b int) begin set b = length(a); select a; end",
		  "create procedure fails(n varchar(40)) begin select n; signal sqlstate '45000' set message_text = 'failed'; end" },
		{ "delete from items", "alter table items auto_increment = 1", ROWS } },
	{ "postgresql", CNT_POSTGRESQL,
		{ "create table items (id serial primary key, name varchar(40) default 'x' unique,"
		  " price decimal(10,2) check (price >= 0), stamp timestamp(3), raw bytea)",
		  "create table children (item int references items(id) on delete cascade)",
		  "create function notices(n int) returns int language plpgsql as $f$"
		  " begin for i in 1..n loop raise notice 'notice %', i; end loop; return n; end$f$",
		  "create function fails() returns int language plpgsql as $f$"
		  " begin raise exception 'failed' using errcode = '22012', detail = 'the detail'; end$f$" },
		{ "delete from items", "alter sequence items_id_seq restart", ROWS } },
};
/* clang-format on */

static const struct kind *kind;
static const struct cnt_odbc *odbc; /* NULL: the pool uses the server's own backend */
static struct cnt_server server;
static struct cnt_daemon quiet, daemon_; /* each has a pool of the server */
static struct fz_others others;
static void renew(void);
static struct fz_contest contest = {
	.language = &FZ_LANGUAGE,
	.name = "quiet:",
	.count = "CHECK_POOLS_SEQUENCES",
	.default_count = "150",
	.differences = "CHECK_POOLS_DIFFERENCES",
	.renew = renew,
	.is_shared = 1,
};
/* Command line of a driver: the shim, and a server that the driver must not use. */
static const char *const driver[] = { FZ_DRIVER };

/* ---- the server ---- */

static void
do_all(const char *const sql[MAX_SETUP])
{
	cenote_conn *conn;
	cenote_result *res;

	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set(conn, "run_dir", quiet.run_dir));
	assert_ok(cenote_conn_set(conn, "pool", "main"));
	assert_ok(cenote_connect(conn));
	for (int i = 0; i < MAX_SETUP && sql[i]; i++) {
		if (cenote_query(conn, sql[i], CENOTE_NTS, NULL, NULL, &res) < 0)
			fail_msg("%s: %s", sql[i],
				cenote_diag_message(cenote_conn_diag(conn)));
		cenote_result_destroy(res);
	}
	cenote_conn_destroy(conn);
}

/* A request that was running when a sequence ended must not disturb the next one. */
static void
renew(void)
{
	int64_t start_ms = cnt_now_ms();

	while (fz_pool_is_used(quiet.run_dir) || fz_pool_is_used(daemon_.run_dir)) {
		if (cnt_now_ms() - start_ms > GIVEN_UP_MS)
			fail_msg("a session of the pool is still held");
		usleep(500);
	}
	do_all(kind->renew);
}

/* ---- the tests ---- */

static void
make_peers(void)
{
	static char to_quiet[160];

	snprintf(to_quiet, sizeof(to_quiet), "CENOTE_SERVER=unix:%s", quiet.run_dir);
	contest.original.argv[0] = "/usr/bin/env";
	contest.original.argv[1] = to_quiet;
	for (size_t i = 0; i < CNT_COUNT(driver); i++)
		contest.original.argv[i + 2] = contest.ours.argv[i] = driver[i];
}

static int
start_daemon(struct cnt_daemon *d, const char *lines)
{
	const char *file = d == &quiet ? "@DIR@/main.db" : quiet.db;
	char config[2048], connect[512];

	if (odbc)
		snprintf(config, sizeof(config),
			CNT_DAEMON_GLOBAL
			"\n[pool main]\nbackend = odbc\nserver = connect='%s'\n%s",
			cnt_odbc_connect(odbc, &server, odbc->has_server ? "app" : file,
				connect, sizeof(connect)),
			lines);
	else if (kind->server >= 0)
		cnt_server_config(&server, lines, config, sizeof(config));
	else
		snprintf(config, sizeof(config),
			CNT_DAEMON_GLOBAL
			"\n[pool main]\nbackend = sqlite\nserver = path=%s\n%s",
			file, lines);
	return cnt_daemon_start(d, config);
}

static int
start_daemons(void)
{
	static const char usual[] = "sessions = 1..6\n";
	const char *lines;

	/* before fz_pool_lines(), which sets up TLS for the other daemon only */
	if (start_daemon(&quiet, usual) < 0)
		return -1;
	lines = fz_pool_lines(usual);
	if (!lines || start_daemon(&daemon_, lines) < 0) {
		(void)cnt_daemon_stop(&quiet);
		return -1;
	}
	return 0;
}

static int
setup(void **state)
{
	char shim_server[160];

	cnt_clean_environment();
	signal(SIGPIPE, SIG_IGN);
	if (kind->server >= 0 &&
		cnt_server_start(&server, (enum cnt_server_kind)kind->server, 0) < 0)
		return -1;
	if (start_daemons() < 0) {
		if (kind->server >= 0)
			cnt_server_stop(&server);
		return -1;
	}
	snprintf(shim_server, sizeof(shim_server), "unix:%s", daemon_.run_dir);
	setenv("CENOTE_SERVER", shim_server, 1);
	fz_pool_enter(&daemon_);
	setenv("CENOTE_POOL", "main", 1);
	setenv("FZ_ELSEWHERE", "1", 1);
	unsetenv("CENOTE_FALLBACK");
	unsetenv("CENOTE_CLIENT_CONF");
	do_all(kind->setup);
	make_peers();
	fz_others_start(&others, &daemon_);
	return 0;
}

static int
teardown(void **state)
{
	int r;

	fz_others_stop(&others);
	fz_pool_remove();
	r = cnt_daemon_stop(&daemon_) | cnt_daemon_stop(&quiet);
	if (kind->server >= 0)
		cnt_server_stop(&server);
	return r;
}

static void
random_calls_give_the_same_on_each_pool(void **state)
{
	assert_int_equal(fz_contest_run(&contest), 0);
	fz_others_check(&others);
	/* with a sanitizer the drivers also report leaks */
	assert_int_equal(fz_peer_stop(&contest.original), 0);
	assert_int_equal(fz_peer_stop(&contest.ours), 0);
}

static void
find_kind(const char *name)
{
	odbc = cnt_odbc_find(name);
	for (size_t i = 0; i < CNT_COUNT(kinds); i++) {
		if (strcmp(odbc ? odbc->backend : name, kinds[i].name) == 0)
			kind = &kinds[i];
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_calls_give_the_same_on_each_pool),
	};

	if (argc == 2)
		find_kind(argv[1]);
	if (!kind) {
		fprintf(stderr, "usage: %s SERVER\n", argv[0]);
		return 2;
	}
	if (odbc)
		cnt_odbc_need(odbc);
	else if (kind->server >= 0)
		cnt_server_need((enum cnt_server_kind)kind->server);
	return cmocka_run_group_tests(tests, setup, teardown);
}
