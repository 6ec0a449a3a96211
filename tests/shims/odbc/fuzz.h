/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_FUZZ_H
#define CNT_ODBC_FUZZ_H

#include "rig.h"

#include <stdlib.h>

#include "support/cnt_random.h"

/*
 * Declarations that test_fuzz.c and fuzz_*.c share: the handles, the memory that the handles point to, and
 * random arguments.
 */
#define N_STMTS      3
#define N_DESCS      2 /* explicitly allocated descriptors */
#define N_COLUMNS    4 /* columns that are bound, for any result */
#define ROWS_MAX     4
#define ROOM_MAX     64
#define ELEMENT_MAX  256 /* bytes of a row in row-wise binding */
#define BUFFER_BYTES (ROWS_MAX * ELEMENT_MAX + ELEMENT_MAX)

struct world {
	struct cnt_random random;
	struct cnt_odbc rig;
	SQLHDBC dbc;
	SQLHSTMT stmts[N_STMTS];
	/* Memory to which statements keep pointers. */
	char *columns[N_STMTS][N_COLUMNS];
	char *params[N_STMTS][N_COLUMNS];
	SQLLEN column_lens[N_STMTS][N_COLUMNS][ELEMENT_MAX];
	SQLLEN param_lens[N_STMTS][N_COLUMNS][ELEMENT_MAX];
	SQLUSMALLINT row_status[N_STMTS][ELEMENT_MAX];
	SQLUSMALLINT param_status[N_STMTS][ELEMENT_MAX];
	SQLULEN fetched[N_STMTS], processed[N_STMTS];
	SQLLEN bind_offset;
	SQLHDESC descs[N_DESCS];
	int at; /* the statement of the current call */
	SQLHDESC desc; /* the descriptor of the current call */
};

static inline uint32_t
below(struct world *w, uint32_t n)
{
	return (uint32_t)cnt_random_below(&w->random, n);
}

static inline SQLHSTMT
stmt_of(struct world *w)
{
	return w->stmts[w->at];
}

static inline SQLSMALLINT
one_of(struct world *w, const SQLSMALLINT *list, size_t n)
{
	return list[below(w, (uint32_t)n)];
}

#define ONE_OF(w, list) one_of(w, list, CNT_COUNT(list))

/* Allocate exactly this size, so that a sanitizer reports an access beyond it. */
static inline void *
buffer(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	assert_non_null(p);
	return p;
}

static inline SQLSMALLINT
a_c_type(struct world *w)
{
	static const SQLSMALLINT c_types[] = { SQL_C_CHAR, SQL_C_WCHAR, SQL_C_BINARY,
		SQL_C_SLONG, SQL_C_ULONG, SQL_C_SSHORT, SQL_C_STINYINT, SQL_C_SBIGINT,
		SQL_C_UBIGINT, SQL_C_DOUBLE, SQL_C_FLOAT, SQL_C_BIT, SQL_C_NUMERIC,
		SQL_C_GUID, SQL_C_TYPE_DATE, SQL_C_TYPE_TIME, SQL_C_TYPE_TIMESTAMP,
		SQL_C_INTERVAL_DAY_TO_SECOND, SQL_C_INTERVAL_YEAR, SQL_C_DEFAULT, 4711,
		-28, 0 };

	return ONE_OF(w, c_types);
}

static inline SQLSMALLINT
a_sql_type(struct world *w)
{
	static const SQLSMALLINT sql_types[] = { SQL_CHAR, SQL_VARCHAR, SQL_WVARCHAR,
		SQL_LONGVARCHAR, SQL_INTEGER, SQL_BIGINT, SQL_SMALLINT, SQL_DECIMAL,
		SQL_DOUBLE, SQL_REAL, SQL_BIT, SQL_VARBINARY, SQL_LONGVARBINARY,
		SQL_TYPE_DATE, SQL_TYPE_TIME, SQL_TYPE_TIMESTAMP, SQL_GUID,
		SQL_INTERVAL_DAY, SQL_INTERVAL_YEAR_TO_MONTH, 4711, SQL_DATE, 0 };

	return ONE_OF(w, sql_types);
}

static inline SQLCHAR *
statement(struct world *w)
{
	static const char *const statements[] = {
		"select 1",
		"select 1, 'two', null, 4.5",
		"select ?",
		"select ?, ?",
		"select * from odbc_fuzz",
		"select a, b from odbc_fuzz where a > ?",
		"select {fn ucase(?)}, {d '2024-02-29'}",
		"insert into odbc_fuzz values (?, ?)",
		"insert into odbc_fuzz values (1, 'x')",
		"update odbc_fuzz set b = ? where a = ?",
		"delete from odbc_fuzz where a = 99",
		"select x from nowhere",
		"selec",
		"",
		"{call nothing(?)}",
		"{?=call abs(?)}",
		"{d '2024-99-99'}",
		"{",
		"select '\xff\xc3?'",
	};

	return TEXT(statements[below(w, CNT_COUNT(statements))]);
}

/* Names and patterns for catalog functions. */
static inline SQLCHAR *
name(struct world *w)
{
	static const char *const names[] = { NULL, "", "%", "odbc_fuzz", "odbc%", "a",
		"main", "public", "\"odbc_fuzz\"", "\\", "\xff" };

	return TEXT(names[below(w, CNT_COUNT(names))]);
}

static inline SQLSMALLINT
name_length(struct world *w)
{
	static const SQLSMALLINT list[] = { SQL_NTS, SQL_NTS, SQL_NTS, SQL_NTS, 0, -9 };

	return ONE_OF(w, list);
}

struct call {
	const char *name;
	SQLRETURN (*make)(struct world *w);
	SQLSMALLINT kind; /* kind of the handle that the function takes */
	unsigned weight;
};

/* Tables of calls. The last entry has no name. */
extern const struct call cnt_fuzz_desc_calls[], cnt_fuzz_wide_calls[];

#endif
