/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_TABLE_H
#define CNT_ODBC_TABLE_H

#include "rig.h"

/* The table t of the tests that read and change rows, or send many; each makes it anew and is connected then. */

/* t (id, name) of five rows, the third without a name; and the query of all of them. */
int cnt_odbc_begin_rows(void **state);
extern const char cnt_odbc_all[];
/* t (id, name, body), empty; the body is a text of any length. */
int cnt_odbc_begin_bodies(void **state);

/* On the test's own statement. */
void cnt_odbc_set_attr(SQLINTEGER attr, SQLULEN value);
void cnt_odbc_run_all(void);

/* Parameters that go in: an int, and a text of at most 30 characters. */
void cnt_odbc_bind_int(SQLHSTMT stmt, SQLUSMALLINT i, SQLINTEGER *value, SQLLEN *length);
void cnt_odbc_bind_text(
	SQLHSTMT stmt, SQLUSMALLINT i, char *value, SQLLEN room, SQLLEN *length);

#endif
