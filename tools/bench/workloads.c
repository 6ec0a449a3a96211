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

static const struct cnb_workload *const workloads[] = {
	&cnb_workload_attach,
	&cnb_workload_connect,
	&cnb_workload_steady,
	&cnb_workload_prepared,
	&cnb_workload_pipelined,
	&cnb_workload_rows,
	&cnb_workload_medium,
	&cnb_workload_large,
	&cnb_workload_bound,
};

const struct cnb_workload *
cnb_workload(size_t i)
{
	return i < sizeof(workloads) / sizeof(workloads[0]) ? workloads[i] : NULL;
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

int
cnb_run_open(struct cnb_run *run)
{
	return run->target->open(run->env, &run->session, &run->error);
}

void
cnb_run_close(struct cnb_run *run)
{
	run->target->close(run->session);
	run->session = NULL;
}

int
cnb_run_check(struct cnb_run *run, const struct cnb_answer *answer, uint32_t n)
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
cnb_run_queries(struct cnb_run *run)
{
	struct cnb_answer answer;
	uint32_t i;

	for (i = 0; i < run->queries; i++) {
		if (run->target->query(
			    run->session, run->workload->sql, &answer, &run->error) < 0)
			return -1;
		if (cnb_run_check(run, &answer, 1) < 0)
			return -1;
	}
	return 0;
}

/* ------------------------------------------------------------- the table ----- */

/* SQL for all servers. */
#define ROWS_PER_INSERT 250

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

/* Rows from number `first` on. Each value has 32 different characters. */
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
fill(const struct cnb_target *target, struct cnb_session *session, struct text *t,
	struct cnb_error *ret_error)
{
	struct cnb_error ignored;
	struct cnb_answer answer;
	int first;

	create_sql(t);
	if (target->query(session, "drop table if exists cenote_bench", &answer,
		    ret_error) < 0 ||
		target->query(session, t->bytes, &answer, ret_error) < 0 ||
		target->query(session, "begin", &answer, ret_error) < 0)
		return -1;
	for (first = 1; first <= CNB_LARGE_ROWS; first += ROWS_PER_INSERT) {
		insert_sql(t, first);
		if (target->query(session, t->bytes, &answer, ret_error) < 0)
			return -1;
	}
	if (target->query(session, "commit", &answer, ret_error) < 0)
		return -1;
	/* Without it PostgreSQL would not use the key. MariaDB has another statement and does not
	 * need it. */
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
	struct cnb_answer answer;
	struct cnb_error error;

	if (target->open(env, &session, &error) < 0)
		return;
	(void)target->query(
		session, "drop table if exists cenote_bench", &answer, &error);
	target->close(session);
}
