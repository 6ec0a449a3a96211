/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target direct: SQLite without a pool. targets.c lists it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "bench.h"

struct session {
	sqlite3 *db;
	sqlite3_stmt *stmt;
};

static struct session *
session_of(struct cnb_session *s)
{
	return (struct session *)s;
}

static sqlite3 *
db_of(struct cnb_session *s)
{
	return session_of(s)->db;
}

static int
failed(sqlite3 *db, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "SQLite: %s",
		db != NULL ? sqlite3_errmsg(db) : "out of memory");
	return -1;
}

static void
sqlite_close(struct cnb_session *cs)
{
	struct session *s = session_of(cs);

	if (s == NULL)
		return;
	sqlite3_finalize(s->stmt);
	sqlite3_close(s->db);
	free(s);
}

static int
sqlite_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (s == NULL)
		return failed(NULL, ret_error);
	r = sqlite3_open_v2(env->places[CNB_PLACE_FILE], &s->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (r != SQLITE_OK) {
		failed(s->db, ret_error);
		sqlite_close((struct cnb_session *)s);
		return -1;
	}
	sqlite3_busy_timeout(s->db, 10000);
	*ret_session = (struct cnb_session *)s;
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

static int
sqlite_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);

	if (sqlite3_prepare_v2(s->db, sql, -1, &s->stmt, NULL) != SQLITE_OK)
		return failed(s->db, ret_error);
	return 0;
}

static int
sqlite_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);

	*ret_answer = (struct cnb_answer){ 0, 0 };
	while (sqlite3_step(s->stmt) == SQLITE_ROW)
		read_values(s->stmt, ret_answer);
	if (sqlite3_reset(s->stmt) != SQLITE_OK)
		return failed(s->db, ret_error);
	return 0;
}

const struct cnb_target *
cnb_target_direct(void)
{
	static const struct cnb_target target = {
		.name = "direct",
		.about = "the SQLite file itself, opened with sqlite3_open_v2()",
		.place = CNB_PLACE_FILE,
		.open = sqlite_open,
		.query = sqlite_query,
		.prepare = sqlite_prepare,
		.execute = sqlite_execute,
		.close = sqlite_close,
	};

	return &target;
}
