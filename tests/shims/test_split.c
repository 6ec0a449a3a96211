/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_split postgresql|mariadb SHIM PROGRAM
 *
 * A load on the read/write split of examples/split.conf, on a primary and its replica, by a program with the shim in the place of its
 * library: pgbench on PostgreSQL, sysbench on MariaDB. Afterwards the sums must agree: no statement was lost, and none ran twice.
 * CHECK_SPLIT_TRANSACTIONS in the environment is how many transactions each of the 8 clients runs.
 */
#include "integration/with_replica.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_CLIENTS      8
#define N_CLIENTS_TEXT "8"

static char *const *arguments;
static char output[65536];

static int
n_transactions(void)
{
	return atoi(cnt_env_or("CHECK_SPLIT_TRANSACTIONS", "15"));
}

/* Run the program with the shim, on the pool "shop". Its output is in `output` then. The arguments end with NULL. */
static void
run(const char *first, ...)
{
	char preload[1024], address[256];
	const char *argv[32] = { "env", preload, address, "CENOTE_POOL=shop",
		"CENOTE_FALLBACK=", arguments[3], first };
	const struct cnt_command command = {
		.argv = argv, .output = output, .size = sizeof(output)
	};
	size_t n = 7;
	va_list more;

	va_start(more, first);
	while (n < 31 && (argv[n] = va_arg(more, const char *)) != NULL)
		n++;
	va_end(more);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", arguments[2]);
	snprintf(address, sizeof(address), "CENOTE_SERVER=unix:%s", wp_daemon.run_dir);
	assert_int_equal(cnt_run(&command), 0);
}

static void
expect_output(const char *text)
{
	if (strstr(output, text) == NULL)
		fail_msg("the program does not print \"%s\": %s", text, output);
}

/* What the primary says. */
static const char *
asked(const char *sql)
{
	static char text[256];

	assert_int_equal(cnt_server_ask(&wr_primary, sql, text, sizeof(text)), 0);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Both targets must have had a part of the load. */
static void
expect_both_used(void)
{
	assert_true(wp_pool_number("shop-primary", "requests") > 100);
	assert_true(wp_pool_number("shop-replicas", "requests") > 100);
	assert_true(wr_sessions_on(&wr_replica) > 0);
}

/* ---- pgbench ---- */

/* A client writes its own row and reads it again. If the replica shows an older row, the script fails. */
static const char own_sql[] =
	"\\set id :client_id + 1\n"
	"update own set n = n + 1 where id = :id returning n as wrote \\gset\n"
	"select n as seen from own where id = :id \\gset\n"
	"\\if :seen <> :wrote\n"
	"select 1 / 0;\n"
	"\\endif\n";

static void
write_script(char *path, size_t size)
{
	FILE *f;

	snprintf(path, size, "%.80s/own.sql", wp_daemon.dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(own_sql, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
make_own(void)
{
	cenote_conn *conn = wp_attach("shop");

	wp_exec(conn, "create table own as select id, 0 as n from "
		      "generate_series(1, " N_CLIENTS_TEXT ") id");
	cenote_conn_destroy(conn);
}

static void
pgbench_on_a_split_keeps_its_sums(void **state)
{
	static const char *const modes[] = { "simple", "extended", "prepared" };
	char script[128], number[16], done[64];

	(void)state;
	wr_kind = CNT_POSTGRESQL;
	wr_start_split(CNT_EXAMPLE);
	run("--initialize", "--quiet", "app", NULL);
	make_own();
	/* pgbench looks at its tables before it begins, and its connection has written nothing */
	wr_await_same("select count(*) from pgbench_accounts, own where id = 1");
	write_script(script, sizeof(script));
	snprintf(number, sizeof(number), "%d", n_transactions());
	snprintf(done, sizeof(done), "processed: %d/%d\n", N_CLIENTS * n_transactions(),
		N_CLIENTS * n_transactions());
	for (size_t i = 0; i < 3; i++) {
		run("--no-vacuum", "--protocol", modes[i], "--client", N_CLIENTS_TEXT,
			"--transactions", number, "--builtin", "tpcb-like", "--builtin",
			"select-only", "--file", script, "app", NULL);
		expect_output(done);
		expect_output("number of failed transactions: 0 ");
		assert_string_equal(
			asked("select (select sum(abalance) from pgbench_accounts) = all "
			      "(array[(select sum(tbalance) from pgbench_tellers), "
			      "(select sum(bbalance) from pgbench_branches), (select "
			      "sum(delta) from pgbench_history)])"),
			"t");
	}
	assert_true(atoi(asked("select count(*) from pgbench_history")) > 0);
	assert_true(atoi(asked("select sum(n) from own")) > 0);
	wr_await_same("select sum(abalance), (select sum(n) from own) from "
		      "pgbench_accounts");
	expect_both_used();
}

/* ---- sysbench ---- */

/* Run a step of the workload oltp_read_write. `way`: an option. */
static void
sysbench(const char *way, const char *step)
{
	char events[32];

	snprintf(events, sizeof(events), "--events=%d", N_CLIENTS * n_transactions());
	run("oltp_read_write", "--db-driver=mysql", "--mysql-socket=/nonexistent/socket",
		"--mysql-user=app", "--mysql-db=app", "--tables=2", "--table-size=300",
		"--threads=" N_CLIENTS_TEXT, "--time=0", events, way,
		"--delete_inserts=0", step, NULL);
}

/* Each event adds 1 to the column k of a row, and draws no other k. So the sums say how many events were carried out. */
static void
sysbench_on_a_split_keeps_its_sums(void **state)
{
	static const char sum[] =
		"select (select sum(k) from sbtest1) + (select sum(k) from sbtest2)";
	static const char *const ways[] = { "--skip_trx=off", "--skip_trx=on",
		"--db-ps-mode=disable" };
	long before;

	(void)state;
	wr_kind = CNT_MARIADB;
	wr_start_split(CNT_EXAMPLE);
	sysbench(ways[0], "prepare");
	wr_await_same("checksum table sbtest1, sbtest2");
	before = atol(asked(sum));
	for (size_t i = 0; i < 3; i++) {
		sysbench(ways[i], "run");
		before += (long)N_CLIENTS * n_transactions();
		assert_int_equal(atol(asked(sum)), before);
	}
	wr_await_same("checksum table sbtest1, sbtest2");
	expect_both_used();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest on_postgresql[] = {
		cmocka_unit_test_teardown(pgbench_on_a_split_keeps_its_sums, wr_teardown),
	};
	const struct CMUnitTest on_mariadb[] = {
		cmocka_unit_test_teardown(
			sysbench_on_a_split_keeps_its_sums, wr_teardown),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: %s postgresql|mariadb SHIM PROGRAM\n", argv[0]);
		return 2;
	}
	arguments = argv;
	/* cenoted's backends must not load the build's own libraries of this name */
	cnt_clean_environment();
	if (strcmp(argv[1], "mariadb") == 0) {
		cnt_server_need(CNT_MARIADB);
		return cmocka_run_group_tests_name("split", on_mariadb, NULL, NULL);
	}
	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests_name("split", on_postgresql, NULL, NULL);
}
