/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the list of cases from the options. main.c and the command report call it. It owns no state.
 */
#include "bench.h"

static int
any_can(const struct cnb_options *options, const struct cnb_workload *w)
{
	size_t i;

	for (i = 0; i < options->n_targets; i++) {
		if (w->can == NULL || w->can(options->targets[i]))
			return 1;
	}
	return 0;
}

size_t
cnb_cases_make(const struct cnb_options *options, struct cnb_case *ret_cases)
{
	size_t n = 0, i, k;

	for (i = 0; i < options->n_workloads; i++) {
		const struct cnb_workload *w = options->workloads[i];
		uint32_t once = w->queries > 0 ? w->queries : 1;
		const uint32_t *numbers = &once;
		size_t n_numbers = 1;

		if (!any_can(options, w))
			continue;
		if (w->has_points) {
			numbers = options->points;
			n_numbers = options->n_points;
		} else if (w->has_depths) {
			numbers = options->depths;
			n_numbers = options->n_depths;
		}
		for (k = 0; k < n_numbers; k++) {
			ret_cases[n].workload = w;
			ret_cases[n++].queries = numbers[k];
		}
	}
	return n;
}
