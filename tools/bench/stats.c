/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Median and quartiles of rounds, and the distribution of latencies. measure.c and the clients call
 * it. It has no state.
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

/* ------------------------------------------------------------------ latencies ----- */

/* Each power of two has 32 ranges; below 64 ns each nanosecond has its own. */
#define RANGE_BITS 5
#define N_RANGES   (1 << RANGE_BITS)

void
cnb_latency_add(struct cnb_latency *latency, int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns : 0;
	int shift = 0;
	size_t at;

	while (v >> shift >= 2 * N_RANGES)
		shift++;
	at = (size_t)shift * N_RANGES + (size_t)(v >> shift);
	latency->counts[at < CNB_N_LATENCIES ? at : CNB_N_LATENCIES - 1]++;
}

void
cnb_latency_merge(struct cnb_latency *latency, const struct cnb_latency *more)
{
	size_t i;

	for (i = 0; i < CNB_N_LATENCIES; i++)
		latency->counts[i] += more->counts[i];
}

/* The middle of a range. */
static double
middle(size_t at)
{
	size_t shift = at < 2 * N_RANGES ? 0 : at / N_RANGES - 1;

	return ((double)(at - shift * N_RANGES) + (shift > 0 ? 0.5 : 0)) *
	       (double)(1ULL << shift);
}

double
cnb_latency_quantile(const struct cnb_latency *latency, double q)
{
	uint64_t n = 0, sum = 0, rank;
	size_t i;

	for (i = 0; i < CNB_N_LATENCIES; i++)
		n += latency->counts[i];
	if (n == 0)
		return 0;
	rank = (uint64_t)(q * (double)n);
	if ((double)rank < q * (double)n)
		rank++;
	for (i = 0; i < CNB_N_LATENCIES; i++) {
		sum += latency->counts[i];
		if (sum >= rank && sum > 0)
			break;
	}
	return middle(i);
}
