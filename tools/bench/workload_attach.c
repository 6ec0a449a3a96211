/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

static int
operation(struct cnb_run *run)
{
	if (cnb_run_open(run) < 0)
		return -1;
	cnb_run_close(run);
	return 0;
}

const struct cnb_workload cnb_workload_attach = {
	.name = "attach",
	.about = "connect, disconnect",
	.operation = operation,
};
