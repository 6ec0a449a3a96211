/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_TABLE_H
#define CNT_ODBC_TABLE_H

#include "rig.h"

/*
 * The table t, for tests that read rows, change rows or send many. Each function creates t again and
 * connects.
 */

/* t (id, name) with five rows, of which the third has no name; and the query that reads them all. */
int cnt_odbc_begin_rows(void **state);
extern const char cnt_odbc_all[];
/* t (id, name, body), empty; body is text of any length. */
int cnt_odbc_begin_bodies(void **state);

/* For the statement of the current test. */
void cnt_odbc_set_attr(SQLINTEGER attr, SQLULEN value);
void cnt_odbc_run_all(void);

/* Bind an input parameter: an int, or a text of at most 30 characters. */
void cnt_odbc_bind_int(SQLHSTMT stmt, SQLUSMALLINT i, SQLINTEGER *value, SQLLEN *length);
void cnt_odbc_bind_text(
	SQLHSTMT stmt, SQLUSMALLINT i, char *value, SQLLEN room, SQLLEN *length);

#endif
