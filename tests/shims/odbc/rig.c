/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cnt_odbc_kind kinds[] = {
	{ "sqlite", "SQLite", 0, CNT_POSTGRESQL,
		"with recursive n(i) as (select 1 union all select i + 1 from n "
		"where i < # * 100000000) select count(*) from n",
		"with recursive n(i) as (select 1 union all select i + 1 from n where i "
		"< "
		"#) select i from n",
		"with recursive n(i) as (select 1 union all select i + 1 from n where i "
		"< "
		"#) select count(*) from n",
		SQL_BIGINT, "text" },
	{ "postgresql", "PostgreSQL", 1, CNT_POSTGRESQL, "select pg_sleep(#)",
		"select i from generate_series(1, #) as g(i)",
		"select count(*) from generate_series(1, #) as g(i)", SQL_INTEGER,
		"text" },
	{ "mariadb", "MariaDB", 1, CNT_MARIADB, "select sleep(#)",
		"select seq from seq_1_to_#", "select count(*) from seq_1_to_#",
		SQL_INTEGER, "longtext" },
};

const struct cnt_odbc_kind *
cnt_odbc_kind(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < CNT_COUNT(kinds); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		if (kinds[i].has_server)
			cnt_server_need(kinds[i].server);
		return &kinds[i];
	}
	(void)fprintf(stderr, "usage: %s sqlite | postgresql | mariadb\n", argv[0]);
	exit(99);
}

/* ------------------------------------------------------------------------- the rig ----- */

static int
write_file(const struct cnt_odbc *rig, const char *name, const char *text)
{
	char path[CNT_PATH_MAX + 32];
	FILE *f;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", rig->daemon.dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		return -1;
	r = fputs(text, f) < 0;
	return fclose(f) != 0 || r ? -1 : 0;
}

static int
write_ini(const struct cnt_odbc *rig)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		"[ODBC]\nPooling = %s\n[Cenote]\nDriver = %s\nSetup = %s\nCPTimeout = "
		"%d\n",
		rig->has_pooling ? "Yes" : "No", CNT_ODBC_DRIVER, CNT_ODBC_SETUP,
		rig->has_pooling ? 60 : 0);
	if (write_file(rig, "odbcinst.ini", text) < 0)
		return -1;
	(void)snprintf(text, sizeof(text),
		"[rig]\nDriver = Cenote\nPool = main\nServer = unix:%s\n",
		rig->daemon.run_dir);
	if (write_file(rig, "odbc.ini", text) < 0)
		return -1;
	setenv("ODBCSYSINI", rig->daemon.dir, 1);
	setenv("ODBCINI", "/nonexistent/odbc.ini", 1);
	return 0;
}

static int
start_pool(struct cnt_odbc *rig)
{
	char config[1024];

	if (!rig->kind->has_server)
		return cnt_daemon_start(&rig->daemon, NULL);
	if (cnt_server_start(&rig->server, rig->kind->server, 0) < 0)
		return -1;
	return cnt_daemon_start(
		&rig->daemon, cnt_server_config(&rig->server, "sessions = 1..6\n", config,
				      sizeof(config)));
}

int
cnt_odbc_start(struct cnt_odbc *rig, const struct cnt_odbc_kind *kind)
{
	*rig = (struct cnt_odbc){ .kind = kind, .has_pooling = rig->has_pooling };
	cnt_clean_environment();
	if (start_pool(rig) < 0 || write_ini(rig) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &rig->env)))
		return -1;
	return SQL_SUCCEEDED(SQLSetEnvAttr(
		       rig->env, SQL_ATTR_ODBC_VERSION, NUMBER(SQL_OV_ODBC3_80), 0))
		       ? 0
		       : -1;
}

int
cnt_odbc_stop(struct cnt_odbc *rig)
{
	int r;

	(void)SQLFreeHandle(SQL_HANDLE_ENV, rig->env);
	r = cnt_daemon_stop(&rig->daemon);
	if (rig->kind->has_server)
		cnt_server_stop(&rig->server);
	return r;
}

SQLHDBC
cnt_odbc_new_dbc(struct cnt_odbc *rig)
{
	SQLHDBC dbc;

	CNT_EXPECT(SQL_HANDLE_ENV, rig->env, SQL_SUCCESS,
		SQLAllocHandle(SQL_HANDLE_DBC, rig->env, &dbc));
	return dbc;
}

SQLHSTMT
cnt_odbc_new_stmt(struct cnt_odbc *rig)
{
	SQLHSTMT stmt;

	ok_dbc(rig->dbc, SQLAllocHandle(SQL_HANDLE_STMT, rig->dbc, &stmt));
	return stmt;
}

void
cnt_odbc_free_stmt(SQLHSTMT stmt)
{
	ok(stmt, SQLFreeHandle(SQL_HANDLE_STMT, stmt));
}

int
cnt_odbc_connect(struct cnt_odbc *rig)
{
	rig->dbc = cnt_odbc_new_dbc(rig);
	ok_dbc(rig->dbc, SQLConnect(rig->dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
	rig->stmt = cnt_odbc_new_stmt(rig);
	return 0;
}

int
cnt_odbc_disconnect(struct cnt_odbc *rig)
{
	(void)SQLEndTran(SQL_HANDLE_DBC, rig->dbc, SQL_ROLLBACK);
	(void)SQLDisconnect(rig->dbc);
	return SQL_SUCCEEDED(SQLFreeHandle(SQL_HANDLE_DBC, rig->dbc)) ? 0 : -1;
}

struct cnt_odbc the;

int
cnt_odbc_setup(void **state)
{
	*state = &the;
	return cnt_odbc_start(&the, the.kind);
}

int
cnt_odbc_teardown(void **state)
{
	return cnt_odbc_stop(*state);
}

int
cnt_odbc_begin(void **state)
{
	return cnt_odbc_connect(*state);
}

int
cnt_odbc_end(void **state)
{
	return cnt_odbc_disconnect(*state);
}

const char *
cnt_odbc_string(const struct cnt_odbc *rig)
{
	static char text[512];

	(void)snprintf(text, sizeof(text), "Driver={%s};Pool=main;Server=unix:%s;",
		CNT_ODBC_DRIVER, rig->daemon.run_dir);
	return text;
}

/* ---------------------------------------------------------------------- expectations ----- */

const char *
cnt_odbc_state(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i)
{
	static char state[6];

	state[0] = '\0';
	(void)SQLGetDiagRec(kind, handle, i, (SQLCHAR *)state, NULL, NULL, 0, NULL);
	return state;
}

static void
tell(SQLSMALLINT kind, SQLHANDLE handle)
{
	SQLCHAR state[6], message[512];

	for (SQLSMALLINT i = 1; SQL_SUCCEEDED(SQLGetDiagRec(
		     kind, handle, i, state, NULL, message, sizeof(message), NULL));
		i++)
		print_error("  %s %s\n", state, message);
}

void
cnt_odbc_expect(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret, SQLRETURN wanted,
	const char *call, const char *file, int line)
{
	if (ret == wanted)
		return;
	print_error("%s gave %d, not %d\n", call, ret, wanted);
	tell(kind, handle);
	_fail(file, line);
}

void
cnt_odbc_expect_state(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret,
	const char *sqlstate, const char *call, const char *file, int line)
{
	SQLRETURN wanted =
		strncmp(sqlstate, "01", 2) == 0 ? SQL_SUCCESS_WITH_INFO : SQL_ERROR;

	if (ret == wanted && strcmp(cnt_odbc_state(kind, handle, 1), sqlstate) == 0)
		return;
	print_error("%s gave %d %s, not %d %s\n", call, ret,
		cnt_odbc_state(kind, handle, 1), wanted, sqlstate);
	tell(kind, handle);
	_fail(file, line);
}

const char *
cnt_odbc_sql(const char *query, int n)
{
	static char sql[512];
	const char *at = strchr(query, '#');

	assert_non_null(at);
	(void)snprintf(sql, sizeof(sql), "%.*s%d%s", (int)(at - query), query, n, at + 1);
	return sql;
}

void
cnt_odbc_run(SQLHSTMT stmt, const char *sql)
{
	SQLRETURN ret = SQLExecDirect(stmt, TEXT(sql), SQL_NTS);

	/* a notice is not a failure */
	if (ret != SQL_SUCCESS_WITH_INFO)
		cnt_odbc_expect(
			SQL_HANDLE_STMT, stmt, ret, SQL_SUCCESS, sql, __FILE__, __LINE__);
}

const char *
cnt_odbc_ask(SQLHSTMT stmt, const char *sql, char *ret, size_t size)
{
	SQLLEN n;

	ok(stmt, SQLExecDirect(stmt, TEXT(sql), SQL_NTS));
	ok(stmt, SQLFetch(stmt));
	ok(stmt, SQLGetData(stmt, 1, SQL_C_CHAR, ret, (SQLLEN)size, &n));
	if (n == SQL_NULL_DATA)
		(void)snprintf(ret, size, "(null)");
	gives(stmt, SQL_NO_DATA, SQLFetch(stmt));
	ok(stmt, SQLFreeStmt(stmt, SQL_CLOSE));
	return ret;
}
