/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

const struct cnb_workload cnb_workload_medium = {
	.name = "medium",
	.about = "256 rows of 16 columns of 32 bytes on a session that is held",
	.sql = "select c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, "
	       "c16"
	       " from cenote_bench where id <= 256",
	.expected = { CNB_ROWS, (uint64_t)CNB_ROWS *CNB_COLUMNS *CNB_VALUE_BYTES },
	.needs_rows = 1,
	.begin = cnb_run_open,
	.operation = cnb_run_queries,
};
