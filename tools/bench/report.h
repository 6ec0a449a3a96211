/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_REPORT_H
#define CNB_REPORT_H

#include "bench.h"

/* Measure all that is there and write the directory `options->report_dir`. After an interruption, it
 * writes what was measured until then. 0; -1 with the error set. */
int cnb_report_run(const struct cnb_options *options,
	const volatile sig_atomic_t *interrupted, struct cnb_error *ret_error);

#endif
