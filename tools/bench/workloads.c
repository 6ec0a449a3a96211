/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of workloads, the parts that they share, and the table that they read. clients.c runs
 * workloads. It has no state.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* ------------------------------------------------------------- operations ----- */

static int
open_session(struct cnb_run *run)
{
	return run->target->open(run->env, &run->session, &run->error);
}

void
cnb_run_close(struct cnb_run *run)
{
	run->target->close(run->session);
	run->session = NULL;
}

static int
check_answer(struct cnb_run *run, const struct cnb_answer *answer, uint32_t n)
{
	uint64_t rows = run->workload->expected.rows * n;
	uint64_t bytes = run->workload->expected.bytes * n;

	if (answer->rows == rows && answer->bytes == bytes)
		return 0;
	snprintf(run->error.text, sizeof(run->error.text),
		"wrong answer: %" PRIu64 " rows with %" PRIu64
		" bytes instead of %" PRIu64 " rows with %" PRIu64 " bytes",
		answer->rows, answer->bytes, rows, bytes);
	return -1;
}

int
cnb_run_check(struct cnb_run *run, const struct cnb_answer *answer)
{
	return check_answer(run, answer, 1);
}

static int
run_queries(struct cnb_run *run)
{
	struct cnb_answer answer;
	uint32_t i;

	for (i = 0; i < run->queries; i++) {
		if (run->target->query(
			    run->session, run->workload->sql, &answer, &run->error) < 0)
			return -1;
		if (check_answer(run, &answer, 1) < 0)
			return -1;
	}
	return 0;
}

static int
attach(struct cnb_run *run)
{
	if (open_session(run) < 0)
		return -1;
	cnb_run_close(run);
	return 0;
}

static int
connect_and_query(struct cnb_run *run)
{
	int r;

	if (open_session(run) < 0)
		return -1;
	r = run_queries(run);
	cnb_run_close(run);
	return r;
}

static int
can_stream(const struct cnb_target *target)
{
	return target->stream != NULL;
}

static int
stream(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->stream(run->session, run->workload->sql, &answer, &run->error) <
		0)
		return -1;
	return check_answer(run, &answer, 1);
}

static int
can_try(const struct cnb_target *target)
{
	return target->try_query != NULL;
}

static int
can_pipeline(const struct cnb_target *target)
{
	return target->pipeline != NULL;
}

static int
pipeline(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->pipeline(run->session, run->workload->sql, run->queries, &answer,
		    &run->error) < 0)
		return -1;
	return check_answer(run, &answer, run->queries);
}

/* A small generator of random numbers (xorshift64*). The seed of a client is its number, so each run of
 * the program asks for the same rows. */
uint32_t
cnb_random(struct cnb_script *script, uint32_t n)
{
	script->random ^= script->random >> 12;
	script->random ^= script->random << 25;
	script->random ^= script->random >> 27;
	return (uint32_t)((script->random * 2685821657736338717ULL) >> 33) % n + 1;
}

/* Write the next statement of a transaction that reads a row by its key and changes it. Returns 1, or 0
 * after the last statement. */
static int
transaction_statement(struct cnb_run *run)
{
	struct cnb_script *s = &run->script;

	s->is_query = s->step == 1;
	switch (s->step) {
	case 0:
		s->key = cnb_random(s, CNB_LARGE_ROWS);
		snprintf(s->sql, sizeof(s->sql), "begin");
		return 1;
	case 1:
		snprintf(s->sql, sizeof(s->sql),
			"select c1, c2 from cenote_bench where id = %u", s->key);
		return 1;
	case 2:
		snprintf(s->sql, sizeof(s->sql),
			"update cenote_bench set c16 = c1 where id = %u", s->key);
		return 1;
	case 3:
		snprintf(s->sql, sizeof(s->sql), "commit");
		return 1;
	default:
		return 0;
	}
}

/* Do an operation of several statements. */
static int
run_script(struct cnb_run *run)
{
	struct cnb_answer answer;

	run->script.step = 0;
	while (run->workload->statement(run)) {
		if (run->target->query(
			    run->session, run->script.sql, &answer, &run->error) < 0)
			return -1;
		run->script.step++;
	}
	return 0;
}

static int
open_and_prepare(struct cnb_run *run)
{
	if (open_session(run) < 0)
		return -1;
	return run->target->prepare(run->session, run->workload->sql, &run->error);
}

static int
execute(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->execute(run->session, &answer, &run->error) < 0)
		return -1;
	return check_answer(run, &answer, 1);
}

/* ---------------------------------------------------------- writing rows ----- */

struct text {
	char *bytes;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void
append(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->used += (size_t)vsnprintf(t->bytes + t->used, t->size - t->used, format, args);
	va_end(args);
}

/* The statement is made once. Each operation writes the same rows and rolls back, so the table stays
 * empty. */
static const char *
bulk_insert(void)
{
	static char sql[CNB_BULK_ROWS * (CNB_BULK_COLUMNS * (CNB_VALUE_BYTES + 3) + 12)];
	struct text t = { .bytes = sql, .size = sizeof(sql) };
	int row, i;

	if (sql[0] != '\0')
		return sql;
	append(&t, "insert into cenote_bench_in values");
	for (row = 1; row <= CNB_BULK_ROWS; row++) {
		append(&t, "%s(%d", row > 1 ? "," : " ", row);
		for (i = 1; i <= CNB_BULK_COLUMNS; i++)
			append(&t, ",'%0*d'", CNB_VALUE_BYTES, row * 100 + i);
		append(&t, ")");
	}
	return sql;
}

static const char *
bulk_copy(size_t *ret_len)
{
	static char rows[CNB_BULK_ROWS * (CNB_BULK_COLUMNS * (CNB_VALUE_BYTES + 1) + 12)];
	static size_t len;
	struct text t = { .bytes = rows, .size = sizeof(rows) };
	int row, i;

	for (row = 1; len == 0 && row <= CNB_BULK_ROWS; row++) {
		append(&t, "%d", row);
		for (i = 1; i <= CNB_BULK_COLUMNS; i++)
			append(&t, "\t%0*d", CNB_VALUE_BYTES, row * 100 + i);
		append(&t, "\n");
	}
	if (len == 0)
		len = t.used;
	*ret_len = len;
	return rows;
}

static int
plain(struct cnb_run *run, const char *sql)
{
	struct cnb_answer answer;

	return run->target->query(run->session, sql, &answer, &run->error);
}

/* Check that all rows are there, and roll back. 0; -1 with the error set. */
static int
check_bulk(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->query(run->session, "select id from cenote_bench_in", &answer,
		    &run->error) < 0)
		return -1;
	if (answer.rows == CNB_BULK_ROWS)
		return plain(run, "rollback");
	snprintf(run->error.text, sizeof(run->error.text),
		"%" PRIu64 " rows were written instead of %d", answer.rows,
		CNB_BULK_ROWS);
	return -1;
}

static int
bulk(struct cnb_run *run)
{
	if (plain(run, "begin") < 0 || plain(run, bulk_insert()) < 0)
		return -1;
	return check_bulk(run);
}

static int
can_copy(const struct cnb_target *target)
{
	return target->copy_in != NULL;
}

static int
copy(struct cnb_run *run)
{
	const char *rows;
	size_t len;

	if (plain(run, "begin") < 0)
		return -1;
	rows = bulk_copy(&len);
	if (run->target->copy_in(run->session, "copy cenote_bench_in from stdin", rows,
		    len, &run->error) < 0)
		return -1;
	return check_bulk(run);
}

/* -------------------------------------------------------------- workloads ----- */

#define COLUMNS "c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16"
/* The expected answer for n rows of the table. */
#define ANSWER(n)                                                                        \
	{                                                                                \
		n, (uint64_t)(n)*CNB_COLUMNS *CNB_VALUE_BYTES                            \
	}
#define ONE                                                                              \
	{                                                                                \
		1, 1                                                                     \
	}
#define SQL_PAGE  "select " COLUMNS " from cenote_bench where id <= 256"
#define SQL_LARGE "select " COLUMNS " from cenote_bench"

static const struct cnb_workload workloads[] = {
	{ .name = "attach", .about = "connect, disconnect", .operation = attach },
	{ .name = "connect",
		.about = "connect, select 1, disconnect",
		.sql = "select 1",
		.expected = ONE,
		.operation = connect_and_query },
	{ .name = "steady",
		.about = "select 1 on an open session",
		.sql = "select 1",
		.expected = ONE,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "crowd",
		.about = "the same, all clients in one process; see --think",
		.sql = "select 1",
		.expected = ONE,
		.is_crowd = 1,
		.can = can_try,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "crowd-row",
		.about = "as crowd, a row of a table by its key",
		.sql = "select c1 from cenote_bench where id = 17",
		.expected = { 1, CNB_VALUE_BYTES },
		.needs_rows = 1,
		.is_crowd = 1,
		.can = can_try,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "prepared",
		.about = "a prepared select 1 on an open session",
		.sql = "select 1",
		.expected = ONE,
		.begin = open_and_prepare,
		.operation = execute },
	{ .name = "pipelined",
		.about = "select 1 a hundred times in a pipeline, on an open session",
		.sql = "select 1",
		.expected = ONE,
		.queries = 100,
		.can = can_pipeline,
		.begin = open_session,
		.operation = pipeline },
	/* What a web request does: connect, read a few pages of rows, disconnect. */
	{ .name = "rows",
		.about =
			"connect, 256 rows of 16 columns of 32 bytes n times, disconnect",
		.sql = SQL_PAGE,
		.expected = ANSWER(CNB_ROWS),
		.needs_rows = 1,
		.has_points = 1,
		.operation = connect_and_query },
	{ .name = "medium",
		.about = "256 rows of 16 columns of 32 bytes on an open session",
		.sql = SQL_PAGE,
		.expected = ANSWER(CNB_ROWS),
		.needs_rows = 1,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "large",
		.about = "10,000 rows of 16 columns of 32 bytes on an open session",
		.sql = SQL_LARGE,
		.expected = ANSWER(CNB_LARGE_ROWS),
		.needs_rows = 1,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "medium-single",
		.about = "as medium, row by row",
		.sql = SQL_PAGE,
		.expected = ANSWER(CNB_ROWS),
		.needs_rows = 1,
		.can = can_stream,
		.begin = open_session,
		.operation = stream },
	{ .name = "large-single",
		.about = "as large, row by row",
		.sql = SQL_LARGE,
		.expected = ANSWER(CNB_LARGE_ROWS),
		.needs_rows = 1,
		.can = can_stream,
		.begin = open_session,
		.operation = stream },
	{ .name = "bound",
		.about = "a prepared select of 10,000 rows on an open session",
		.sql = SQL_LARGE,
		.expected = ANSWER(CNB_LARGE_ROWS),
		.needs_rows = 1,
		.begin = open_and_prepare,
		.operation = execute },
	{ .name = "pipeline",
		.about = "select 1 n times in a pipeline; see --depth",
		.sql = "select 1",
		.expected = ONE,
		.has_depths = 1,
		.only_by_name = 1,
		.can = can_pipeline,
		.begin = open_session,
		.operation = pipeline },
	{ .name = "transaction",
		.about = "as crowd: begin, a row by its key, an update of it, commit",
		.needs_rows = 1,
		.only_by_name = 1,
		.is_crowd = 1,
		.can = can_try,
		.statement = transaction_statement,
		.begin = open_session,
		.operation = run_script },
	{ .name = "think",
		.about = "as crowd-row, with a pause of 100 ms",
		.sql = "select c1 from cenote_bench where id = 17",
		.expected = { 1, CNB_VALUE_BYTES },
		.needs_rows = 1,
		.only_by_name = 1,
		.is_crowd = 1,
		.think_ms = 100,
		.can = can_try,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "idle",
		.about = "as crowd-row, all clients but one are idle; with their memory",
		.sql = "select c1 from cenote_bench where id = 17",
		.expected = { 1, CNB_VALUE_BYTES },
		.needs_rows = 1,
		.only_by_name = 1,
		.is_crowd = 1,
		.is_idle = 1,
		.can = can_try,
		.begin = open_session,
		.operation = run_queries },
	{ .name = "bulk",
		.about = "an insert of 1,000 rows of 4 columns, rolled back",
		.needs_rows = 1,
		.only_by_name = 1,
		.begin = open_session,
		.operation = bulk },
	{ .name = "copy",
		.about = "the same rows by COPY, rolled back",
		.needs_rows = 1,
		.only_by_name = 1,
		.can = can_copy,
		.begin = open_session,
		.operation = copy },
	{ .name = "retail",
		.about = "users of a chain of stores; a pause of 1 s, see --rows",
		.needs_retail = 1,
		.only_by_name = 1,
		.is_crowd = 1,
		.think_ms = 1000,
		.is_think_random = 1,
		.can = can_try,
		.statement = cnb_retail_statement,
		.begin = open_session,
		.operation = run_script },
};

const struct cnb_workload *
cnb_workload(size_t i)
{
	return i < sizeof(workloads) / sizeof(workloads[0]) ? &workloads[i] : NULL;
}

const struct cnb_workload *
cnb_workload_find(const char *name)
{
	const struct cnb_workload *w;
	size_t i;

	for (i = 0; (w = cnb_workload(i)) != NULL; i++) {
		if (strcmp(w->name, name) == 0)
			return w;
	}
	return NULL;
}

/* ------------------------------------------------------------- the table ----- */

/* This SQL works on all servers. */
#define ROWS_PER_INSERT 250
#define SQL_BULK_TABLE                                                                   \
	"create table cenote_bench_in (id integer, c1 varchar(32), c2 varchar(32), "     \
	"c3 varchar(32))"

static void
create_sql(struct text *t)
{
	int i;

	t->used = 0;
	append(t, "create table cenote_bench (id integer primary key");
	for (i = 1; i <= CNB_COLUMNS; i++)
		append(t, ", c%d varchar(%d) not null", i, CNB_VALUE_BYTES);
	append(t, ")");
}

/* Make the INSERT of rows from number `first` on. Each value has 32 different characters. */
static void
insert_sql(struct text *t, int first)
{
	int row, i;

	t->used = 0;
	append(t, "insert into cenote_bench values");
	for (row = first; row < first + ROWS_PER_INSERT; row++) {
		append(t, "%s(%d", row > first ? "," : " ", row);
		for (i = 1; i <= CNB_COLUMNS; i++)
			append(t, ",'%0*d'", CNB_VALUE_BYTES, row * 100 + i);
		append(t, ")");
	}
}

static int
drop_tables(const struct cnb_target *target, struct cnb_session *session,
	struct cnb_error *ret_error)
{
	struct cnb_answer answer;

	if (target->query(
		    session, "drop table if exists cenote_bench", &answer, ret_error) < 0)
		return -1;
	return target->query(
		session, "drop table if exists cenote_bench_in", &answer, ret_error);
}

static int
fill(const struct cnb_target *target, struct cnb_session *session, struct text *t,
	struct cnb_error *ret_error)
{
	struct cnb_error ignored;
	struct cnb_answer answer;
	int first;

	create_sql(t);
	if (drop_tables(target, session, ret_error) < 0 ||
		target->query(session, t->bytes, &answer, ret_error) < 0 ||
		target->query(session, SQL_BULK_TABLE, &answer, ret_error) < 0 ||
		target->query(session, "begin", &answer, ret_error) < 0)
		return -1;
	for (first = 1; first <= CNB_LARGE_ROWS; first += ROWS_PER_INSERT) {
		insert_sql(t, first);
		if (target->query(session, t->bytes, &answer, ret_error) < 0)
			return -1;
	}
	if (target->query(session, "commit", &answer, ret_error) < 0)
		return -1;
	/* Without ANALYZE, PostgreSQL would not use the key. MariaDB has another statement and does
	 * not need it. */
	(void)target->query(session, "analyze cenote_bench", &answer, &ignored);
	return 0;
}

int
cnb_setup(const struct cnb_target *target, const struct cnb_env *env,
	struct cnb_error *ret_error)
{
	/* Room for each value with its quotes and comma, and each row with its number and
	 * parentheses. */
	struct text t = { .size = 256 +
				  (size_t)ROWS_PER_INSERT *
					  (CNB_COLUMNS * (CNB_VALUE_BYTES + 4) + 32) };
	struct cnb_session *session;
	int r;

	t.bytes = malloc(t.size);
	if (t.bytes == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -1;
	}
	r = target->open(env, &session, ret_error);
	if (r == 0) {
		r = fill(target, session, &t, ret_error);
		target->close(session);
	}
	free(t.bytes);
	return r;
}

void
cnb_cleanup(const struct cnb_target *target, const struct cnb_env *env)
{
	struct cnb_session *session;
	struct cnb_error error;

	if (target->open(env, &session, &error) < 0)
		return;
	(void)drop_tables(target, session, &error);
	target->close(session);
}
