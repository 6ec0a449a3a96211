/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Median and quartiles. measure.c calls it. It has no state.
 */
#include <stdlib.h>

#include "bench.h"

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Interpolate linearly between two values, as most tools do. */
static double
quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct cnb_summary
cnb_summarize(double *values, size_t n)
{
	struct cnb_summary s = { 0, 0, 0, 0 };

	if (n == 0)
		return s;
	qsort(values, n, sizeof(*values), compare);
	s.min = values[0];
	s.p25 = quantile(values, n, 0.25);
	s.median = quantile(values, n, 0.5);
	s.p75 = quantile(values, n, 0.75);
	return s;
}
