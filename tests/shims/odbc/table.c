/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <stdio.h>

const char cnt_odbc_all[] = "select id, name from t order by id";

int
cnt_odbc_begin_rows(void **state)
{
	SQLHSTMT stmt;

	(void)cnt_odbc_connect(*state);
	stmt = cnt_odbc_new_stmt(*state);
	cnt_odbc_run(stmt, "drop table if exists t");
	cnt_odbc_run(
		stmt, "create table t (id int not null primary key, name varchar(30))");
	cnt_odbc_run(stmt,
		"insert into t values (1, 'one'), (2, 'two'), (3, null), (4, 'four'), "
		"(5, 'five')");
	cnt_odbc_free_stmt(stmt);
	return 0;
}

int
cnt_odbc_begin_bodies(void **state)
{
	char sql[128];

	(void)cnt_odbc_connect(*state);
	cnt_odbc_run(the.stmt, "drop table if exists t");
	(void)snprintf(sql, sizeof(sql),
		"create table t (id int not null primary key, name varchar(30), body %s)",
		the.kind->unlimited);
	cnt_odbc_run(the.stmt, sql);
	return 0;
}

void
cnt_odbc_set_attr(SQLINTEGER attr, SQLULEN value)
{
	ok(the.stmt, SQLSetStmtAttr(the.stmt, attr, NUMBER(value), 0));
}

void
cnt_odbc_run_all(void)
{
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(cnt_odbc_all), SQL_NTS));
}

void
cnt_odbc_bind_int(SQLHSTMT stmt, SQLUSMALLINT i, SQLINTEGER *value, SQLLEN *length)
{
	ok(stmt, SQLBindParameter(stmt, i, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0,
			 0, value, 0, length));
}

void
cnt_odbc_bind_text(
	SQLHSTMT stmt, SQLUSMALLINT i, char *value, SQLLEN room, SQLLEN *length)
{
	ok(stmt, SQLBindParameter(stmt, i, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 30,
			 0, value, room, length));
}
