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
 * An ODBC program that uses a real pool through unixODBC's driver manager. The test's argument selects
 * SQLite, PostgreSQL or MariaDB. The driver manager's files are in the daemon's directory. They define a
 * driver "Cenote" and a data source "rig".
 */
struct cnt_odbc_kind {
	const char *name; /* the test's argument */
	const char *title; /* SQL_DBMS_NAME */
	int has_server;
	enum cnt_server_kind server;
	const char *sleep; /* a query that takes # seconds; cnt_odbc_sql() replaces # */
	const char *words; /* a query with one column and the rows 1 … # */
	const char *many; /* a slow query that counts to # and returns that number */
	SQLSMALLINT int_type; /* type of a column declared as int */
	const char *unlimited; /* the server's type for text of any length */
};

struct cnt_odbc {
	const struct cnt_odbc_kind *kind;
	int has_pooling; /* pooling in the driver manager; set it before the start */
	struct cnt_server server;
	struct cnt_daemon daemon;
	SQLHENV env;
	SQLHDBC dbc; /* for the current test */
	SQLHSTMT stmt; /* for the current test */
};

/* For main(): the kind that the test's only argument names. Skips the test if that server is not installed. */
const struct cnt_odbc_kind *cnt_odbc_kind(int argc, char **argv);

/* Start or stop everything. Return 0 or -1. */
int cnt_odbc_start(struct cnt_odbc *rig, const struct cnt_odbc_kind *kind);
int cnt_odbc_stop(struct cnt_odbc *rig);
/* Connect to the data source and allocate a statement, or free both. Returns 0. */
int cnt_odbc_connect(struct cnt_odbc *rig);
int cnt_odbc_disconnect(struct cnt_odbc *rig);

/*
 * The rig of a program that tests one kind. The program sets the kind. A group of tests starts and stops
 * the rig, and each test connects and disconnects.
 */
extern struct cnt_odbc the;
int cnt_odbc_setup(void **state);
int cnt_odbc_teardown(void **state);
int cnt_odbc_begin(void **state);
int cnt_odbc_end(void **state);

/* The connection string: "Driver=…;Pool=main;Server=unix:…;". */
const char *cnt_odbc_string(const struct cnt_odbc *rig);

SQLHDBC cnt_odbc_new_dbc(struct cnt_odbc *rig);
SQLHSTMT cnt_odbc_new_stmt(struct cnt_odbc *rig);
void cnt_odbc_free_stmt(SQLHSTMT stmt);

/* SQLSTATE of record `i`, from 1; "" if there is none. */
const char *cnt_odbc_state(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i);
/* Unless `ret` is `wanted`, fail the test and print the driver's message. */
void cnt_odbc_expect(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret, SQLRETURN wanted,
	const char *call, const char *file, int line);
void cnt_odbc_expect_state(SQLSMALLINT kind, SQLHANDLE handle, SQLRETURN ret,
	const char *sqlstate, const char *call, const char *file, int line);

#define CNT_EXPECT(kind, handle, wanted, call)                                           \
	cnt_odbc_expect(kind, handle, call, wanted, #call, __FILE__, __LINE__)
/* The call must return SQL_SUCCESS. */
#define ok(stmt, call)            CNT_EXPECT(SQL_HANDLE_STMT, stmt, SQL_SUCCESS, call)
#define ok_dbc(dbc, call)         CNT_EXPECT(SQL_HANDLE_DBC, dbc, SQL_SUCCESS, call)
#define ok_desc(dsc, call)        CNT_EXPECT(SQL_HANDLE_DESC, dsc, SQL_SUCCESS, call)
/* The call must return `wanted`. */
#define gives(stmt, wanted, call) CNT_EXPECT(SQL_HANDLE_STMT, stmt, wanted, call)
/* The call must report this SQLSTATE, as an error or a warning. */
#define says(stmt, sqlstate, call)                                                       \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_STMT, stmt, call, sqlstate, #call, __FILE__, __LINE__)
#define says_dbc(dbc, sqlstate, call)                                                    \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_DBC, dbc, call, sqlstate, #call, __FILE__, __LINE__)
#define says_desc(desc, sqlstate, call)                                                  \
	cnt_odbc_expect_state(                                                           \
		SQL_HANDLE_DESC, desc, call, sqlstate, #call, __FILE__, __LINE__)

/* ODBC declares text arguments without const. */
#define TEXT(text) ((SQLCHAR *)(uintptr_t)(text))
/* Numbers that ODBC passes as pointers. */
#define NUMBER(n)  ((SQLPOINTER)(uintptr_t)(n))

/* The query with "#" replaced by a number, in static memory. */
const char *cnt_odbc_sql(const char *query, int n);
/* Run SQL that returns no rows. */
void cnt_odbc_run(SQLHSTMT stmt, const char *sql);
/*
 * Run a query with one row of one value. Copy the value as text to `ret`, and return `ret`; "(null)" for
 * NULL.
 */
const char *cnt_odbc_ask(SQLHSTMT stmt, const char *sql, char *ret, size_t size);

#endif
