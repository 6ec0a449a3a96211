/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A primary and its replica, and a pool with a server line for each of them. It owns the two servers.
 */
#include "with_replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cnt_server_kind wr_kind;
struct cnt_server wr_primary, wr_replica;

const struct wr_dialect wr_dialects[] = {
	[CNT_POSTGRESQL] = { "select pg_is_in_recovery()::int",
		"select count(*) from pg_stat_activity where usename = 'app'",
		"select pg_backend_pid()", "select pg_promote()",
		"select pg_wal_replay_pause()", "select pg_wal_replay_resume()" },
	[CNT_MARIADB] = { "select @@global.read_only",
		"select count(*) from information_schema.processlist where user = 'app'",
		"select connection_id()", "stop slave; set global read_only = 0",
		"stop slave", "start slave" },
};

static unsigned
flags(void)
{
	return wr_kind == CNT_MARIADB ? CNT_SERVER_TCP : 0;
}

static void
await_table(void)
{
	int64_t until = wp_now_ms() + 20000;
	char text[64] = "";

	while (strncmp(text, "1", 1) != 0) {
		if (wp_now_ms() > until)
			fail_msg("the table does not reach the replica: %s", text);
		wp_pause_ms(50);
		assert_int_equal(
			cnt_server_ask(&wr_replica,
				"select count(*) from information_schema.tables where "
				"table_name = 'work'",
				text, sizeof(text)),
			0);
	}
}

void
wr_start_servers(void)
{
	assert_int_equal(cnt_server_create(&wr_primary, wr_kind, flags()), 0);
	assert_int_equal(cnt_server_replicates(&wr_primary, 0), 0);
	assert_int_equal(cnt_server_run(&wr_primary), 0);
	if (wr_kind == CNT_MARIADB)
		assert_int_equal(cnt_server_sql(&wr_primary,
					 "grant replication slave on *.* to locked@'%'; "
					 "grant slave monitor on *.* to app@localhost"),
			0);
	assert_int_equal(cnt_server_create_replica(&wr_replica, &wr_primary), 0);
	assert_int_equal(cnt_server_run(&wr_replica), 0);
	if (wr_kind == CNT_MARIADB)
		assert_int_equal(cnt_server_follow(&wr_replica, &wr_primary), 0);
	assert_int_equal(cnt_server_sql(&wr_primary,
				 wr_kind == CNT_POSTGRESQL
					 ? "create table work (n int); grant all on work "
					   "to app"
					 : "create table work (n int)"),
		0);
	await_table();
}

void
wr_start_pool(const char *lines)
{
	char config[4096];

	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool main]\nbackend = %s\nserver = %s\nserver = %s\n%s",
		wr_primary.backend, wr_replica.server_line, wr_primary.server_line,
		lines);
	wp_start(config);
}

int
wr_teardown(void **state)
{
	int r = wp_teardown(state);

	if (wr_replica.dir[0] != '\0')
		cnt_server_stop(&wr_replica);
	if (wr_primary.dir[0] != '\0')
		cnt_server_stop(&wr_primary);
	memset(&wr_primary, 0, sizeof(wr_primary));
	memset(&wr_replica, 0, sizeof(wr_replica));
	return r;
}

int
wr_sessions_on(const struct cnt_server *s)
{
	char text[64];

	assert_int_equal(cnt_server_ask(s, WR_SQL->n_sessions, text, sizeof(text)), 0);
	return atoi(text);
}

void
wr_await_sessions(const struct cnt_server *s, int wanted)
{
	int64_t until = wp_now_ms() + 20000;
	int n;

	while ((n = wr_sessions_on(s)) != wanted) {
		if (wp_now_ms() > until)
			fail_msg("%d sessions are there, and not %d", n, wanted);
		wp_pause_ms(50);
	}
}

void
wr_switch_over(void)
{
	if (wr_kind == CNT_MARIADB)
		assert_int_equal(
			cnt_server_sql(&wr_primary, "set global read_only = 1"), 0);
	else
		assert_int_equal(cnt_server_shutdown(&wr_primary), 0);
	wp_pause_ms(300);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->promote), 0);
}

int
wr_resume_soon(void *arg)
{
	(void)arg;
	wp_pause_ms(500);
	return cnt_server_sql(&wr_replica, WR_SQL->resume_replay);
}
