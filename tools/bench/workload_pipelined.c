/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

static int
can(const struct cnb_target *target)
{
	return target->pipeline != NULL;
}

static int
operation(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->pipeline(run->session, run->workload->sql, run->queries, &answer,
		    &run->error) < 0)
		return -1;
	return cnb_run_check(run, &answer, run->queries);
}

const struct cnb_workload cnb_workload_pipelined = {
	.name = "pipelined",
	.about = "select 1 a hundred times in a pipeline, on a session that is held",
	.sql = "select 1",
	.expected = { 1, 1 },
	.queries = 100,
	.can = can,
	.begin = cnb_run_open,
	.operation = operation,
};
