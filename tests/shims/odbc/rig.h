/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_RIG_H
#define CNT_ODBC_RIG_H

#include "support/cnt_cmocka.h"

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/*
 * A program of ODBC, through unixODBC's driver manager, on a real pool: of SQLite, PostgreSQL or
 * MariaDB, by the test's argument. The files of the driver manager are in the daemon's directory: a
 * driver "Cenote", and a data source "rig".
 */
struct cnt_odbc_kind {
	const char *name; /* the test's argument */
	const char *title; /* SQL_DBMS_NAME */
	int has_server;
	enum cnt_server_kind server;
	const char *sleep; /* a query that takes # seconds: for cnt_odbc_sql() */
	const char *words; /* a query whose rows are one column of 1 … # */
	const char
		*many; /* one that counts to # and gives that, so that it takes a while */
	SQLSMALLINT int_type; /* what a column declared as int is */
	const char *unlimited; /* type of a text of any length */
};

struct cnt_odbc {
	const struct cnt_odbc_kind *kind;
	int has_pooling; /* in the driver manager; to be set before the start */
	struct cnt_server server;
	struct cnt_daemon daemon;
	SQLHENV env;
	SQLHDBC dbc; /* of the present test */
	SQLHSTMT stmt; /* likewise */
};

/* Of main(): the kind, as the test's only argument names it; skips the test where its server is not installed. */
const struct cnt_odbc_kind *cnt_odbc_kind(int argc, char **argv);

/* Start and stop everything: 0 or -1. */
int cnt_odbc_start(struct cnt_odbc *rig, const struct cnt_odbc_kind *kind);
int cnt_odbc_stop(struct cnt_odbc *rig);
/* A connection by the data source, and a statement; and their end. 0. */
int cnt_odbc_connect(struct cnt_odbc *rig);
int cnt_odbc_disconnect(struct cnt_odbc *rig);

/* The rig of a program that tests one kind, which it sets: a group of tests starts and stops it, each test connects
 * and disconnects. */
extern struct cnt_odbc the;
int cnt_odbc_setup(void **state);
int cnt_odbc_teardown(void **state);
int cnt_odbc_begin(void **state);
int cnt_odbc_end(void **state);

/* "Driver=…;Pool=main;Server=unix:…;" */
const char *cnt_odbc_string(const struct cnt_odbc *rig);

SQLHDBC cnt_odbc_new_dbc(struct cnt_odbc *rig);
SQLHSTMT cnt_odbc_new_stmt(struct cnt_odbc *rig);
void cnt_odbc_free_stmt(SQLHSTMT stmt);

/* SQLSTATE of record `i`, from 1; "" if there is none. */
const char *cnt_odbc_state(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i);
/* Fail the test, and say why the driver did, unless `ret` is what was wanted. */
void cnt_odbc_expect(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret, SQLRETURN wanted,
	const char *call, const char *file, int line);
void cnt_odbc_expect_state(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret,
	const char *sqlstate, const char *call, const char *file, int line);

#define CNT_EXPECT(kind, handle, wanted, call)                                           \
	cnt_odbc_expect(kind, handle, call, wanted, #call, __FILE__, __LINE__)
/* Calls with a statement or a connection that succeed without more to say. */
#define ok(stmt, call)            CNT_EXPECT(SQL_HANDLE_STMT, stmt, SQL_SUCCESS, call)
#define ok_dbc(dbc, call)         CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_SUCCESS, call)
#define ok_desc(dsc, call)        CNT_EXPECT(SQL_HANDLE_DESC, dsc, SQL_SUCCESS, call)
/* Calls that give something else. */
#define gives(stmt, wanted, call) CNT_EXPECT(SQL_HANDLE_STMT, stmt, wanted, call)
/* Errors and warnings, by their state. */
#define says(stmt, sqlstate, call)                                                       \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_STMT, stmt, call, sqlstate, #call, __FILE__, __LINE__)
#define says_dbc(dbc, sqlstate, call)                                                    \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_DBC, dbc, call, sqlstate, #call, __FILE__, __LINE__)
#define says_desc(desc, sqlstate, call)                                                  \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_DESC, desc, call, sqlstate, #call, __FILE__, __LINE__)

/* Text arguments are not const in ODBC. */
#define TEXT(text) ((SQLCHAR *)(uintptr_t)(text))
/* Numbers that travel as pointers. */
#define NUMBER(n)  ((SQLPOINTER)(uintptr_t)(n))

/* A query with a number in the place of "#", in static memory. */
const char *cnt_odbc_sql(const char *query, int n);
/* Run SQL that gives no rows. */
void cnt_odbc_run(SQLHSTMT stmt, const char *sql);
/* The only value of a query's only row, as text, in `ret`, which is returned; "(null)" for NULL. */
const char *cnt_odbc_ask(SQLHSTMT stmt, const char *sql, char *ret, size_t size);

#endif
