/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_TABLE_H
#define CNT_ODBC_TABLE_H

#include "rig.h"

/*
 * The table t, for tests that read rows, change rows or send many rows. Each cnt_odbc_begin_…
 * function connects and creates t again.
 */

/* Create t (id, name) with five rows; the third has no name. cnt_odbc_all reads all rows. */
int cnt_odbc_begin_rows(void **state);
extern const char cnt_odbc_all[];
/* Create t (id, name, body) without rows; body is text of any length. */
int cnt_odbc_begin_bodies(void **state);

/* Set an attribute of the current test's statement, or run cnt_odbc_all with it. */
void cnt_odbc_set_attr(SQLINTEGER attr, SQLULEN value);
void cnt_odbc_run_all(void);

/* Bind an input parameter: an int, or a text of at most 30 characters. */
void cnt_odbc_bind_int(SQLHSTMT stmt, SQLUSMALLINT i, SQLINTEGER *value, SQLLEN *length);
void cnt_odbc_bind_text(
	SQLHSTMT stmt, SQLUSMALLINT i, char *value, SQLLEN room, SQLLEN *length);

#endif
