/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

static const struct cnb_workload *const workloads[] = {
	&cnb_workload_connect,
	&cnb_workload_steady,
	&cnb_workload_rows,
	&cnb_workload_large,
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
cnb_run_queries(struct cnb_run *run)
{
	const struct cnb_answer *expected = &run->workload->expected;
	struct cnb_answer answer;
	uint32_t i;

	for (i = 0; i < run->queries; i++) {
		if (run->target->query(
			    run->session, run->workload->sql, &answer, &run->error) < 0)
			return -1;
		if (answer.rows == expected->rows && answer.bytes == expected->bytes)
			continue;
		snprintf(run->error.text, sizeof(run->error.text),
			"wrong answer: %" PRIu64 " rows with %" PRIu64
			" bytes instead of %" PRIu64 " rows with %" PRIu64 " bytes",
			answer.rows, answer.bytes, expected->rows, expected->bytes);
		return -1;
	}
	return 0;
}

/* ------------------------------------------------------------- the table ----- */

/* Appends what differs from column to column, with its number, between two constant texts. */
static void
per_column(char *text, size_t size, const char *before, const char *after)
{
	size_t used = strlen(text);
	int i;

	for (i = 1; i <= CNB_COLUMNS && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%d%s", before, i, after);
}

static void
append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

static void
create_sql(char *text, size_t size)
{
	snprintf(text, size, "create table cenote_bench (id integer primary key");
	per_column(text, size, ", c", " text not null");
	append(text, size, ")");
}

/* One statement that makes all rows, each value 32 characters and different. */
static void
insert_sql(char *text, size_t size)
{
	snprintf(text, size,
		"insert into cenote_bench with recursive n(i) as (select 1 union all"
		" select i + 1 from n where i < %d) select i",
		CNB_LARGE_ROWS);
	per_column(text, size, ", printf('%032d', i * 100 + ", ")");
	append(text, size, " from n");
}

int
cnb_setup(const struct cnb_target *target, const struct cnb_env *env,
	struct cnb_error *ret_error)
{
	char create[1024], insert[2048];
	const char *const statements[] = { "drop table if exists cenote_bench", create,
		insert };
	struct cnb_session *session;
	struct cnb_answer answer;
	int r = 0;
	size_t i;

	create_sql(create, sizeof(create));
	insert_sql(insert, sizeof(insert));
	if (target->open(env, &session, ret_error) < 0)
		return -1;
	for (i = 0; r == 0 && i < sizeof(statements) / sizeof(statements[0]); i++)
		r = target->query(session, statements[i], &answer, ret_error);
	target->close(session);
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
