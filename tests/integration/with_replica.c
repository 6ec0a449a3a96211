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

void
wr_await_same(const char *sql)
{
	int64_t until = wp_now_ms() + 20000;
	char wanted[256], text[256] = "";

	assert_int_equal(cnt_server_ask(&wr_primary, sql, wanted, sizeof(wanted)), 0);
	while (cnt_server_ask(&wr_replica, sql, text, sizeof(text)) < 0 ||
		strcmp(text, wanted) != 0) {
		if (wp_now_ms() > until)
			fail_msg("%s: the replica has %s, and the primary %s", sql, text,
				wanted);
		wp_pause_ms(50);
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
	wr_await_same("select count(*) from information_schema.tables where table_name = "
		      "'work'");
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

/* Write a line of the example, with the servers and the backend of this test in place of its own. Returns the next line. */
static const char *
put_line(const char *line, FILE *f)
{
	const struct {
		const char *text;
		const char *with;
	} table[] = {
		{ "host=db1 dbname=shop user=shop", wr_primary.server_line },
		{ "host=db2 dbname=shop user=shop", wr_replica.server_line },
		{ "postgresql", wr_primary.backend },
	};
	size_t n = strcspn(line, "\n");

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *at = strstr(line, table[i].text);

		if (at == NULL || at >= line + n)
			continue;
		fprintf(f, "%.*s%s\n", (int)(at - line), line, table[i].with);
		return line + n + 1;
	}
	fprintf(f, "%.*s\n", (int)n, line);
	return line + n + 1;
}

/* Wait until reads go to the replica: one that has just begun counts as one that lags. */
static void
await_reads_at_replica(void)
{
	int64_t until = wp_now_ms() + 20000;
	cenote_conn *conn = wp_attach("shop");

	while (strcmp(wp_value(conn, WR_SQL->is_replica), "1") != 0) {
		if (wp_now_ms() > until)
			fail_msg("reads do not go to the replica");
		cenote_conn_destroy(conn);
		wp_pause_ms(200);
		conn = wp_attach("shop");
	}
	cenote_conn_destroy(conn);
}

void
wr_start_split(const char *path)
{
	char example[4096], config[8192];
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(example, 1, sizeof(example) - 1, f);
	example[n] = '\0';
	fclose(f);
	wr_start_servers();
	f = fmemopen(config, sizeof(config), "w");
	assert_non_null(f);
	fputs(CNT_DAEMON_GLOBAL, f);
	for (const char *line = example; *line != '\0';)
		line = put_line(line, f);
	fclose(f);
	wp_start(config);
	await_reads_at_replica();
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
