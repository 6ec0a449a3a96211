/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

const struct cnb_workload cnb_workload_steady = {
	.name = "steady",
	.about = "select 1 on a session that is held",
	.sql = "select 1",
	.expected = { 1, 1 },
	.begin = cnb_run_open,
	.operation = cnb_run_queries,
};
