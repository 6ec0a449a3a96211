/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include <sqlite3.h>

#include "bench.h"

static sqlite3 *
db_of(struct cnb_session *s)
{
	return (sqlite3 *)s;
}

static int
failed(sqlite3 *db, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "SQLite: %s",
		db != NULL ? sqlite3_errmsg(db) : "out of memory");
	return -1;
}

static int
sqlite_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	sqlite3 *db = NULL;
	int r;

	r = sqlite3_open_v2(
		env->file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (r != SQLITE_OK) {
		failed(db, ret_error);
		sqlite3_close(db);
		return -1;
	}
	sqlite3_busy_timeout(db, 10000);
	*ret_session = (struct cnb_session *)db;
	return 0;
}

static void
read_values(sqlite3_stmt *stmt, struct cnb_answer *answer)
{
	int n_columns = sqlite3_column_count(stmt), col;

	for (col = 0; col < n_columns; col++) {
		if (sqlite3_column_text(stmt, col) != NULL)
			answer->bytes += (uint64_t)sqlite3_column_bytes(stmt, col);
	}
	answer->rows++;
}

static int
sqlite_query(struct cnb_session *s, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	struct cnb_answer answer = { 0, 0 };
	sqlite3_stmt *stmt;
	int r;

	if (sqlite3_prepare_v2(db_of(s), sql, -1, &stmt, NULL) != SQLITE_OK)
		return failed(db_of(s), ret_error);
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
		read_values(stmt, &answer);
	sqlite3_finalize(stmt);
	if (r != SQLITE_DONE)
		return failed(db_of(s), ret_error);
	*ret_answer = answer;
	return 0;
}

static void
sqlite_close(struct cnb_session *s)
{
	sqlite3_close(db_of(s));
}

const struct cnb_target *
cnb_target_direct(void)
{
	static const struct cnb_target target = {
		.name = "direct",
		.about = "the SQLite file itself, opened with sqlite3_open_v2()",
		.needs_file = 1,
		.open = sqlite_open,
		.query = sqlite_query,
		.close = sqlite_close,
	};

	return &target;
}
