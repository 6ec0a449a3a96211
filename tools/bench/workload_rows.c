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

/* What a web request does: connect, read a few pages of rows, disconnect. */
const struct cnb_workload cnb_workload_rows = {
	.name = "rows",
	.about = "connect, 256 rows of 16 columns of 32 bytes n times, disconnect",
	.sql = "select c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, "
	       "c16"
	       " from cenote_bench where id <= 256",
	.expected = { CNB_ROWS, (uint64_t)CNB_ROWS *CNB_COLUMNS *CNB_VALUE_BYTES },
	.needs_rows = 1,
	.has_points = 1,
	.operation = operation,
};
