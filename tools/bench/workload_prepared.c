/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

static int
begin(struct cnb_run *run)
{
	if (cnb_run_open(run) < 0)
		return -1;
	return run->target->prepare(run->session, run->workload->sql, &run->error);
}

static int
operation(struct cnb_run *run)
{
	struct cnb_answer answer;

	if (run->target->execute(run->session, &answer, &run->error) < 0)
		return -1;
	return cnb_run_check(run, &answer, 1);
}

const struct cnb_workload cnb_workload_prepared = {
	.name = "prepared",
	.about = "a prepared select 1 on a session that is held",
	.sql = "select 1",
	.expected = { 1, 1 },
	.begin = begin,
	.operation = operation,
};

const struct cnb_workload cnb_workload_bound = {
	.name = "bound",
	.about = "a prepared select of 10,000 rows on a session that is held",
	.sql = CNB_LARGE_SQL,
	.expected = CNB_LARGE_ANSWER,
	.needs_rows = 1,
	.begin = begin,
	.operation = operation,
};
