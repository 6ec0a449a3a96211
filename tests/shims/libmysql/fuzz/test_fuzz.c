/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The same calls in random order, on an original library and on the shim, on two equal servers.
 *
 *     test_mysql_fuzz                  libmariadb
 *     test_mysql_fuzz oracle LIBRARY   Oracle's flavour; LIBRARY is its original, which Debian 12 does not have
 *
 * CHECK_MYSQL_SEQUENCES    number of sequences (150)
 * CHECK_MYSQL_DIFFERENCES  number of differences to print before giving up (1)
 * CHECK_CROWD              if set, other clients connect and disconnect all the time, so that the pool (`mode = transaction`)
 *                          gives another session after each transaction
 * CHECK_RELOADS            if set, the pool's configuration changes all the time, so that it gives another session sometimes
 * CHECK_TLS                if set, the shim connects over TCP with TLS
 * CNT_SEED                 seed of the first sequence; each later sequence adds one
 */

#include "support/cnt_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "library.h"
#include "older.h"
#include "rig.h"
#include "shims/fuzz/compare.h"
#include "shims/fuzz/pool.h"

/* How long to wait for the sessions of an earlier sequence to end. After LEFT_MS end the
 * original's driver, after GIVEN_UP_MS fail. */
#define LEFT_MS     1000
#define GIVEN_UP_MS 60000

/* The two servers are separate, with the same users, databases and rows. */
static struct cnt_server server;
static struct cnt_rig rig;
static struct fz_others others;
static void renew(void);
static struct fz_contest contest = {
	.language = &fz_mysql,
	.count = "CHECK_MYSQL_SEQUENCES",
	.default_count = "150",
	.differences = "CHECK_MYSQL_DIFFERENCES",
	.renew = renew,
};
static struct cmy_original f;
static MYSQL *admins[2]; /* connections to each server, without a pool */
static const char *original;
static const char *driver = CNT_DRIVER_MARIADB, *shim = CNT_OUR_LIBMARIADB;

/* Settings for each login. The timeouts are short, because the two connections of a sequence may
 * wait for each other. The packet limit is low, because repeat() may get a date as its count,
 * 20,240,131. */
static const char global_sql[] =
	"set global innodb_lock_wait_timeout = 2, lock_wait_timeout = 2, "
	"max_allowed_packet = 4194304;"
	"grant process, connection admin on *.* to app@localhost";

/* clang-format off */
static const char *const setup_sql[] = {
	"create table items (id int not null auto_increment primary key, name varchar(40) default 'x' unique,"
	" price decimal(10,2) unsigned, stamp datetime(3), raw blob) engine=innodb default charset=utf8mb4",
	"create table children (item int references items(id)) engine=innodb",
	"create procedure several(n varchar(40)) begin declare i int default 0; while i < n and i < 300 do set i = i + 1;"
	" select i, repeat('s', i); end while; end",
	"create procedure gives(in a varchar(40), out b int) begin set b = length(a); select a; end",
	"create procedure fails(n varchar(40)) begin select n; signal sqlstate '45000' set message_text = 'failed'; end",
	"create procedure changes(n int) update items set name = 'changed' where id = n",
	"create procedure renew() begin delete from items;"
	" alter table items auto_increment = 1;"
	" insert into items values (1, 'one', 1.5, '2024-02-29 01:02:03.456', x'00ff'), (2, 'zwö', null, null, ''),"
	" (3, null, 3, '2000-01-01', 'a'), (4, 'a\\tb\\nc\\\\', 4, null, null), (5, '', 0, '1999-12-31 23:59:59', null); end",
};
/* clang-format on */

static void
admin_does(MYSQL *admin, const char *sql, char *ret_value, size_t size)
{
	MYSQL_RES *res;

	if (f.mysql_query(admin, sql) != 0)
		fail_msg("%s: %s", sql, f.mysql_error(admin));
	res = f.mysql_store_result(admin);
	if (size > 0)
		snprintf(ret_value, size, "%s", f.mysql_fetch_row(res)[1]);
	f.mysql_free_result(res);
}

static MYSQL *
log_in(const struct cnt_server *s)
{
	MYSQL *my = f.mysql_init(NULL);

	f.mysql_options(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (!f.mysql_real_connect(my, NULL, "root", NULL, "app", 0, s->socket, 0))
		fail_msg("%s", f.mysql_error(my));
	for (size_t i = 0; i < CNT_COUNT(setup_sql); i++)
		admin_does(my, setup_sql[i], NULL, 0);
	return my;
}

static void
make_peer(struct fz_peer *peer, const char *library, const char *socket)
{
	peer->argv[0] = driver;
	peer->argv[1] = library;
	peer->argv[2] = socket;
}

static int
setup(void **state)
{
	const char *lines = fz_pool_lines("sessions = 1..6\n");

	if (!lines)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	cnt_library_open(&f, cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	if (cnt_server_start(&server, CNT_MARIADB, 0) < 0)
		return -1;
	if (cnt_rig_start_with(&rig, global_sql, lines) < 0 ||
		cnt_server_sql(&server, global_sql) < 0) {
		cnt_server_stop(&server);
		return -1;
	}
	fz_pool_enter(&rig.daemon);
	admins[0] = log_in(&server);
	admins[1] = log_in(&rig.server);
	make_peer(&contest.original, original, server.socket);
	make_peer(&contest.ours, shim, rig.server.socket);
	fz_others_start(&others, &rig.daemon);
	return 0;
}

static int
teardown(void **state)
{
	fz_others_stop(&others);
	fz_pool_remove();
	f.mysql_close(admins[0]);
	f.mysql_close(admins[1]);
	cnt_server_stop(&server);
	return cnt_rig_stop(&rig);
}

static int
n_logins(MYSQL *admin)
{
	char n[16] = "";

	admin_does(admin,
		"select 0, count(*) from information_schema.processlist where user not "
		"in "
		"('root', 'event_scheduler')",
		n, sizeof(n));
	return (int)strtol(n, NULL, 10);
}

/* Run renew() on both servers. */
static void
renew_tables(void)
{
	static const char sql[] = "call renew()";

	for (int i = 0; i < 2; i++)
		(void)f.mysql_send_query(admins[i], sql, sizeof(sql) - 1);
	for (int i = 0; i < 2; i++) {
		if (f.mysql_read_query_result(admins[i]) != 0)
			fail_msg("%s: %s", sql, f.mysql_error(admins[i]));
	}
}

/* Oracle's library does not close every connection in mysql_close(); the end of its
 * process does. */
static void
await_originals_end(void)
{
	int64_t start_ms = cnt_now_ms();

	while (n_logins(admins[0]) > 0) {
		int64_t waited_ms = cnt_now_ms() - start_ms;

		if (waited_ms > GIVEN_UP_MS)
			fail_msg("a session is still open");
		if (waited_ms > LEFT_MS && contest.original.pid != 0) {
			printf("# %s left a connection open\n", contest.name);
			(void)fz_peer_stop(&contest.original);
		}
		usleep(500);
	}
}

/* A request that was running when a sequence ended must not disturb the next one. */
static void
renew(void)
{
	int64_t start_ms;

	await_originals_end();
	start_ms = cnt_now_ms();
	while (fz_pool_is_used(rig.daemon.run_dir)) {
		if (cnt_now_ms() - start_ms > GIVEN_UP_MS)
			fail_msg("a session of the pool is still held");
		usleep(500);
	}
	renew_tables();
}

static void
random_calls_give_what_the_original_gives(void **state)
{
	assert_int_equal(fz_contest_run(&contest), 0);
	fz_others_check(&others);
	/* with a sanitizer the drivers also report leaks */
	assert_int_equal(fz_peer_stop(&contest.original), 0);
	assert_int_equal(fz_peer_stop(&contest.ours), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_calls_give_what_the_original_gives),
	};

	contest.name = "libmariadb:";
	original = cnt_library_original(CNT_ORIGINAL_LIBMARIADB);
	cnt_older_note(original);
	if (argc == 3 && strcmp(argv[1], "oracle") == 0) {
		contest.name = "libmysqlclient:";
		original = argv[2];
		driver = CNT_DRIVER_ORACLE;
		shim = CNT_OUR_LIBMYSQLCLIENT;
	} else if (argc != 1) {
		fprintf(stderr, "usage: %s [oracle LIBRARY]\n", argv[0]);
		return 2;
	}
	cnt_server_need(CNT_MARIADB);
	return cmocka_run_group_tests(tests, setup, teardown);
}
