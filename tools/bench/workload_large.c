/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

const struct cnb_workload cnb_workload_large = {
	.name = "large",
	.about = "10,000 rows of 16 columns of 32 bytes on a session that is held",
	.sql = CNB_LARGE_SQL,
	.expected = CNB_LARGE_ANSWER,
	.needs_rows = 1,
	.begin = cnb_run_open,
	.operation = cnb_run_queries,
};
