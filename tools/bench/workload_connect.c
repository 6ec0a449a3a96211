/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

static int
operation(struct cnb_run *run)
{
	int r;

	if (cnb_run_open(run) < 0)
		return -1;
	r = cnb_run_queries(run);
	cnb_run_close(run);
	return r;
}

const struct cnb_workload cnb_workload_connect = {
	.name = "connect",
	.about = "connect, select 1, disconnect",
	.sql = "select 1",
	.expected = { 1, 1 },
	.operation = operation,
};
