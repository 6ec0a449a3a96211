/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Functions that act on the session: user, database, reset, transactions, ping, and administrator's
 * commands. A MySQL server has statements for most of these commands. face.c and methods.c call
 * this file.
 */

/* ---- user and database ---- */

static int
keep_user(MYSQL *my, const char *user, const char *passwd, const char *db)
{
	if (cmy_keep_text(&my->user, user) == 0 &&
		cmy_keep_text(&my->passwd, passwd) == 0 &&
		cmy_keep_text(&my->db, db) == 0)
		return 0;
	cmy_error(my, CR_OUT_OF_MEMORY, NULL);
	return -1;
}

static my_bool
change_user(struct cmy_session *s, const char *user, const char *passwd, const char *db)
{
	MYSQL *my = s->my;
	const char *given = db;
	int r;

	user = user ? user : "";
	passwd = passwd ? passwd : "";
	db = db && *db != '\0' ? db : NULL;
	if (cmy_change_login(s, user, *passwd != '\0' ? passwd : NULL, db) < 0)
		return 1;
	cmy_track_forget(s);
	cmy_track_database(s, db);
	my->charset = cmy_charset_wanted(my);
	my->affected_rows = 0;
	my->warning_count = 0;
	my->insert_id = 0;
	my->server_status = cmy_first_status(s);
	s->is_untracked = 1;
	r = keep_user(my, user, passwd, given) < 0 || cmy_use_charset(s) < 0;
	s->is_untracked = 0;
	return cmy_bool(r);
}

my_bool
cmy_mysql_change_user(MYSQL *my, const char *user, const char *passwd, const char *db)
{
	struct cmy_session *s;
	my_bool r = 1;

	/* Oracle's library does not ask the server if the character set is unknown */
	if (CMY_ORACLE && !cmy_charset_wanted(my))
		return cmy_bool(cmy_find_charset(my) < 0);
	s = cmy_enter(my);
	if (s) {
		r = change_user(s, user, passwd, db);
		s->has_lost_settings = r != 0 && my->net.CMY_VIO;
	}
	/* also after a failure */
	if (my->extension)
		cmy_stmts_forget(
			my->extension, CR_STMT_CLOSED, CMY_NAMED("mysql_change_user"));
	return r;
}

int
cmy_mysql_select_db(MYSQL *my, const char *db)
{
	struct cmy_session *s;

	if (!db)
		return 1;
	s = cmy_enter(my);
	if (!s || (!cmy_is_pools_own(s, db) && cmy_select(s, db) < 0))
		return 1;
	cmy_tell_done(my);
	if (CMY_ORACLE)
		cmy_track_database(s, db);
	if (cmy_keep_text(&my->db, db) == 0)
		return 0;
	cmy_error(my, CR_OUT_OF_MEMORY, NULL);
	return 1;
}

static int
has_database(const MYSQL *my)
{
	return my->db && *my->db != '\0';
}

/* Set database and character set again: MySQL's reset keeps these, but the pool's does not. */
static int
restore(struct cmy_session *s)
{
	const char *own = cenote_info(s->conn, "database");
	MYSQL *my = s->my;
	unsigned warnings = my->warning_count;
	int r = 0;

	s->is_untracked = 1;
	if (s->backend == CMY_BACKEND_MYSQL && has_database(my) &&
		(!own || strcmp(own, my->db) != 0))
		r = cmy_select(s, my->db);
	if (r == 0)
		r = cmy_use_charset(s);
	s->is_untracked = 0;
	my->affected_rows = MYSQL_COUNT_ERROR;
	my->insert_id = 0;
	my->warning_count = warnings;
	return r;
}

/* A reset must leave the program in no database if mysql_change_user() had put it there. Only a new
 * login can leave a database. */
static int
reset(struct cmy_session *s)
{
	MYSQL *my = s->my;
	const char *own = cenote_info(s->conn, "database");
	const char *passwd = my->passwd && *my->passwd ? my->passwd : NULL;
	const char *none;
	int r;

	if (s->backend != CMY_BACKEND_MYSQL || has_database(my) || !own || *own == '\0')
		return cmy_finish(s, cenote_reset);
	none = my->db ? "" : NULL;
	r = cmy_change_login(s, my->user, passwd, NULL);
	if (cmy_keep_text(&my->db, none) == 0)
		return r;
	cmy_error(my, CR_OUT_OF_MEMORY, NULL);
	return -1;
}

int
cmy_mysql_reset_connection(MYSQL *my)
{
	struct cmy_session *s = cmy_enter_busy(my);
	const MARIADB_CHARSET_INFO *charset = my->charset;
	int r;

	if (!s)
		return 1;
	cmy_result_skip(s);
	cmy_rows_flush(s);
	cmy_drain(s);
	cmy_forget_query(my);
	cmy_clear(my);
	my->affected_rows = MYSQL_COUNT_ERROR;
	/* the answer to this command reports no session changes */
	s->is_untracked = 1;
	r = reset(s);
	s->is_untracked = 0;
	if (r < 0)
		return 1;
	my->charset = charset; /* a login reports the pool's character set */
	cmy_stmts_forget(s, CR_STMT_CLOSED, CMY_NAMED("mysql_reset_connection"));
	my->server_status = cmy_first_status(s);
	return restore(s) < 0;
}

/* ---- ping, options ---- */

/* For requests without SQL text, for which it does not matter how the new session reads
 * text. */
static struct cmy_session *
enter_without_text(MYSQL *my)
{
	struct cmy_session *s = cmy_enter(my);
	int is_new = !s && my->net.CMY_VIO && my->net.last_errno == CR_SERVER_GONE_ERROR;

	return is_new ? cmy_enter(my) : s;
}

int
cmy_mysql_ping(MYSQL *my)
{
	struct cmy_session *s = enter_without_text(my);

	if (!s)
		return 1;
	if (cmy_finish(s, cenote_ping) == 0) {
		cmy_tell_done(my);
		return 0;
	}
	/* as in the original, the first ping finds the loss, and a second one reconnects */
	if (my->net.CMY_VIO || !CMY_RECONNECT(my))
		return 1;
	s = enter_without_text(my);
	return !s || cmy_finish(s, cenote_ping) < 0;
}

int
cmy_mysql_set_server_option(MYSQL *my, enum enum_mysql_set_option option)
{
	struct cmy_session *s = cmy_enter(my);
	int on = option == MYSQL_OPTION_MULTI_STATEMENTS_ON;

	if (!s)
		return 1;
	if (!on && option != MYSQL_OPTION_MULTI_STATEMENTS_OFF) {
		cmy_error_text(my, 1047, "08S01", "Unknown command");
		return 1;
	}
	if (cmy_set_option(s, "multi_statements", on ? "on" : "off") < 0)
		return 1;
	if (CMY_ORACLE) {
		cmy_track_begin(s);
		cmy_take_known_status(s);
		my->warning_count = 0;
	}
	if (on)
		my->client_flag |= CLIENT_MULTI_STATEMENTS;
	else
		my->client_flag &= ~CLIENT_MULTI_STATEMENTS;
	return 0;
}

/* ---- transactions ---- */

static int
is_mysql(const MYSQL *my)
{
	const struct cmy_session *s = cmy_session(my);

	return !s || s->backend == CMY_BACKEND_MYSQL;
}

static my_bool
run(MYSQL *my, const char *sql)
{
	return cmy_bool(cmy_mysql_real_query(my, sql, strlen(sql)) != 0);
}

static my_bool
set_autocommit_elsewhere(MYSQL *my, int on)
{
	struct cmy_session *s = cmy_enter(my);

	return cmy_bool(!s || cmy_set_autocommit(s, on) < 0);
}

my_bool
cmy_mysql_autocommit(MYSQL *my, my_bool mode)
{
	if (is_mysql(my))
		return run(my, mode ? "SET autocommit=1" : "SET autocommit=0");
	return set_autocommit_elsewhere(my, mode != 0);
}

/* For MySQL, COMMIT and ROLLBACK outside a transaction are not errors. */
static my_bool
end_elsewhere(MYSQL *my, int (*call)(cenote_conn *conn))
{
	struct cmy_session *s = cmy_enter(my);

	if (!s)
		return 1;
	if (cenote_tx_state(s->conn) == CENOTE_TX_IDLE)
		return 0;
	return cmy_bool(cmy_end_transaction(s, call) < 0);
}

my_bool
cmy_mysql_commit(MYSQL *my)
{
	return cmy_bool(
		is_mysql(my) ? run(my, "COMMIT") : end_elsewhere(my, cenote_commit));
}

my_bool
cmy_mysql_rollback(MYSQL *my)
{
	return cmy_bool(
		is_mysql(my) ? run(my, "ROLLBACK") : end_elsewhere(my, cenote_rollback));
}

/* ---- administrator's commands ---- */

int
cmy_mysql_kill(MYSQL *my, unsigned long pid)
{
	char sql[32];

	if (pid > UINT32_MAX) {
		cmy_error(my, CMY_ORACLE ? CR_INVALID_CONN_HANDLE : CR_CONNECTION_ERROR,
			NULL);
		return 1;
	}
	snprintf(sql, sizeof(sql), "KILL %lu", pid);
	return cmy_mysql_real_query(my, sql, strlen(sql));
}

int
cmy_mysql_shutdown(MYSQL *my, enum mysql_enum_shutdown_level shutdown_level)
{
	(void)shutdown_level;
	return run(my, "SHUTDOWN");
}

/* The REFRESH_… bits, and the statements that do the same. */
static const struct {
	unsigned bit;
	const char *sql;
} refreshes[] = { { 1, "FLUSH LOCAL PRIVILEGES" }, { 2, "FLUSH LOCAL LOGS" },
	{ 4, "FLUSH LOCAL TABLES" }, { 8, "FLUSH LOCAL HOSTS" },
	{ 16, "FLUSH LOCAL STATUS" }, { 64, "RESET SLAVE" }, { 128, "RESET MASTER" } };

int
cmy_mysql_refresh(MYSQL *my, unsigned int refresh_options)
{
	unsigned left = refresh_options & 0xff;

	for (size_t i = 0; i < sizeof(refreshes) / sizeof(refreshes[0]); i++) {
		if (!(left & refreshes[i].bit))
			continue;
		if (run(my, refreshes[i].sql))
			return 1;
		left &= ~refreshes[i].bit;
	}
	if (left == 0)
		return 0;
	cmy_error_text(my, CR_NOT_IMPLEMENTED, NULL,
		"%s; cenote: no statement empties the cache of threads",
		cmy_error_words(CR_NOT_IMPLEMENTED));
	return 1;
}

/* Call a command of the server that has no statement. */
static int
call_command(struct cmy_session *s, unsigned command)
{
	cenote_result *res = NULL;
	int r;

	while ((r = cenote_function(s->conn, command, NULL, CENOTE_FORMAT_TEXT, &res)) ==
		CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return -1;
	}
	cenote_result_destroy(res);
	return cmy_check(s, r);
}

int
cmy_mysql_dump_debug_info(MYSQL *my)
{
	struct cmy_session *s = cmy_enter(my);

	if (!s)
		return 1;
	if (s->backend == CMY_BACKEND_MYSQL)
		return call_command(s, COM_DEBUG) < 0;
	cmy_error_text(my, CR_NOT_IMPLEMENTED, NULL,
		"%s; cenote: mysql_dump_debug_info() is MySQL's and MariaDB's",
		cmy_error_words(CR_NOT_IMPLEMENTED));
	return 1;
}

/* ---- mysql_stat() ---- */

/* The counts, in the order of the server's text. */
enum count {
	UPTIME,
	THREADS,
	QUESTIONS,
	SLOW,
	OPENS,
	FLUSHES,
	OPEN,
	N_COUNTS
};

static const char *const count_names[N_COUNTS] = { "Uptime", "Threads_connected",
	"Questions", "Slow_queries", "Opened_tables", "Flush_commands", "Open_tables" };

static void
read_counts(const cenote_result *res, unsigned long *counts)
{
	for (uint64_t row = 0; row < cenote_result_n_rows(res); row++) {
		const char *name = cenote_result_text(res, row, 0, NULL);
		const char *value = cenote_result_text(res, row, 1, NULL);

		for (int i = 0; name && value && i < N_COUNTS; i++) {
			if (strcmp(name, count_names[i]) == 0)
				counts[i] = strtoul(value, NULL, 10);
		}
	}
}

static void
write_stat(struct cmy_session *s, const unsigned long *counts)
{
	unsigned long uptime = counts[UPTIME] ? counts[UPTIME] : 1;
	unsigned long per_1000s = counts[QUESTIONS] * 1000 / uptime;
	char flushes[40] = "";

	/* MariaDB's server no longer reports flushes */
	if (!strstr(s->my->server_version, "MariaDB"))
		snprintf(
			flushes, sizeof(flushes), "Flush tables: %lu  ", counts[FLUSHES]);
	snprintf(s->stat, sizeof(s->stat),
		"Uptime: %lu  Threads: %lu  Questions: %lu  Slow queries: %lu  Opens: "
		"%lu  "
		"%sOpen tables: %lu  Queries per second avg: %lu.%03lu",
		counts[UPTIME], counts[THREADS], counts[QUESTIONS], counts[SLOW],
		counts[OPENS], flushes, counts[OPEN], per_1000s / 1000, per_1000s % 1000);
}

char *
cmy_mysql_stat(MYSQL *my)
{
	unsigned long counts[N_COUNTS] = { 0 };
	struct cmy_session *s = cmy_enter(my);
	cenote_result *res = NULL;

	if (!s)
		return my->net.last_error;
	if (s->backend != CMY_BACKEND_MYSQL) {
		cmy_error(my, CR_NOT_IMPLEMENTED, NULL);
		return my->net.last_error;
	}
	if (cmy_run(s,
		    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', "
		    "'Threads_connected', 'Questions', 'Slow_queries', 'Opened_tables', "
		    "'Flush_commands', 'Open_tables')",
		    &res) < 0)
		return my->net.last_error;
	read_counts(res, counts);
	cenote_result_destroy(res);
	write_stat(s, counts);
	return s->stat;
}

#if !CMY_ORACLE

/* Any thread may call this. The thread that waits finds the connection lost, and the
 * pool stops the statement. */
int
cmy_mariadb_cancel(MYSQL *my)
{
	if (!my || my->net.fd < 0 || !my->net.pvio)
		return 1;
	return shutdown(my->net.fd, SHUT_RDWR);
}

my_bool
cmy_mariadb_reconnect(MYSQL *my)
{
	struct cmy_session *s = cmy_session(my);

	if (!s || !cmy_is_owner(s))
		return 1;
	return cmy_bool(cmy_reconnect(s) < 0);
}

#endif
