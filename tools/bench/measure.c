/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* A round in which a process of cenoted came or went is taken again, but not for ever. */
#define MAX_DISTURBED 20

/* Shorter than this, a round says more about the clock than about the target. */
#define MIN_CALIBRATION_NS 5000000

struct raw {
	int64_t wall_ns, client_ns, daemon_ns;
};

/* The daemon works on after the client has its answer (it makes the session fresh again), and
 * that belongs to the round: wait until it uses no more CPU. */
static void
settle(const struct cnb_procs *procs)
{
	int64_t before = 0, now = -1;
	int i;

	for (i = 0; i < 100 && now != before; i++) {
		before = now;
		usleep(500);
		if (cnb_procs_cpu(procs, &now) != 0)
			return;
	}
}

static int
find_daemon(const struct cnb_bench *bench, const struct cnb_target *target,
	struct cnb_procs *ret_procs, struct cnb_error *ret_error)
{
	*ret_procs = (struct cnb_procs){ NULL, 0 };
	if (!target->is_pooled || bench->daemon_pid == 0)
		return 0;
	if (cnb_procs_find(bench->daemon_pid, ret_procs) == 0)
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text), "cenoted, process %ld: %s",
		(long)bench->daemon_pid, errno == ESRCH ? "is gone" : strerror(errno));
	return -1;
}

/* 0; 1: disturbed; -1. */
static int
work_observed(const struct cnb_bench *bench, const struct cnb_target *target,
	struct cnb_crew *crew, struct raw *ret_raw, struct cnb_error *ret_error)
{
	struct cnb_procs before, after;
	int64_t daemon_start = 0, daemon_end = 0;
	int r;

	if (find_daemon(bench, target, &before, ret_error) < 0)
		return -1;
	settle(&before);
	r = cnb_procs_cpu(&before, &daemon_start);
	if (r == 0)
		r = cnb_crew_work(
			crew, &ret_raw->wall_ns, &ret_raw->client_ns, ret_error);
	if (r != 0)
		goto out;
	settle(&before);
	r = cnb_procs_cpu(&before, &daemon_end);
	if (r != 0)
		goto out;
	ret_raw->daemon_ns = daemon_end - daemon_start;
	r = find_daemon(bench, target, &after, ret_error);
	if (r == 0 && !cnb_procs_equal(&before, &after))
		r = 1;
	if (r >= 0)
		cnb_procs_finish(&after);
out:
	cnb_procs_finish(&before);
	return r;
}

static int
one_round(const struct cnb_bench *bench, const struct cnb_case *c,
	const struct cnb_series *series, struct raw *ret_raw, struct cnb_error *ret_error)
{
	struct cnb_run pattern = { .target = series->target,
		.workload = c->workload,
		.env = &bench->env,
		.queries = c->queries };
	struct cnb_crew *crew;
	int r;

	if (cnb_crew_begin(&pattern, bench->options->clients, series->operations, &crew,
		    ret_error) < 0)
		return -1;
	r = work_observed(bench, series->target, crew, ret_raw, ret_error);
	cnb_crew_end(crew);
	return r;
}

/* Take a round until none of cenoted's processes came or went meanwhile. */
static int
undisturbed_round(const struct cnb_bench *bench, const struct cnb_case *c,
	struct cnb_series *series, struct raw *ret_raw, struct cnb_error *ret_error)
{
	int i, r;

	for (i = 0; i < MAX_DISTURBED; i++) {
		if (*bench->interrupted) {
			snprintf(ret_error->text, sizeof(ret_error->text), "interrupted");
			return -1;
		}
		r = one_round(bench, c, series, ret_raw, ret_error);
		if (r <= 0)
			return r;
		series->n_disturbed++;
	}
	snprintf(ret_error->text, sizeof(ret_error->text),
		"cenoted's processes came and went in each of %d rounds; give the pool a "
		"fixed number of sessions",
		MAX_DISTURBED);
	return -1;
}

/* How many operations make a round of its share of the time. Warms everything up as well. */
static int
calibrate(const struct cnb_bench *bench, const struct cnb_case *c,
	struct cnb_series *series, struct cnb_error *ret_error)
{
	double round_ns = bench->options->time_s * 1e9 / bench->options->rounds;
	struct raw raw;

	series->operations = 1;
	for (;;) {
		if (undisturbed_round(bench, c, series, &raw, ret_error) < 0)
			return -1;
		if (raw.wall_ns >= MIN_CALIBRATION_NS || (double)raw.wall_ns >= round_ns)
			break;
		series->operations *= 2;
	}
	if (bench->options->operations > 0)
		series->operations = bench->options->operations;
	else
		series->operations = (uint64_t)((double)series->operations * round_ns /
						(double)raw.wall_ns) +
				     1;
	series->n_disturbed = 0;
	return 0;
}

static struct cnb_sample
to_sample(const struct cnb_bench *bench, const struct cnb_case *c,
	const struct cnb_series *series, const struct raw *raw)
{
	/* Clients work at the same time: wall per query is that of all of them together. */
	double n = (double)series->operations * c->queries * bench->options->clients;

	return (struct cnb_sample){ (double)raw->wall_ns / n / 1e3,
		(double)raw->client_ns / n / 1e3, (double)raw->daemon_ns / n / 1e3 };
}

static int
take_rounds(
	const struct cnb_bench *bench, struct cnb_case *c, struct cnb_error *ret_error)
{
	uint32_t round, rounds = bench->options->rounds;
	size_t i;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < c->n_series; i++) {
			/* Every other round backwards: nobody is always behind the same. */
			struct cnb_series *s =
				&c->series[round % 2 ? c->n_series - 1 - i : i];
			struct raw raw;

			if (undisturbed_round(bench, c, s, &raw, ret_error) < 0)
				return -1;
			s->samples[round] = to_sample(bench, c, s, &raw);
		}
		if (bench->progress != NULL)
			bench->progress->step(bench->progress, c, round + 1, rounds);
	}
	return 0;
}

/* ------------------------------------------------------------------ summaries ----- */

static double
wall_of(const struct cnb_sample *s)
{
	return s->wall_us;
}

static double
cpu_of(const struct cnb_sample *s)
{
	return s->client_us + s->daemon_us;
}

static double
client_of(const struct cnb_sample *s)
{
	return s->client_us;
}

static double
daemon_of(const struct cnb_sample *s)
{
	return s->daemon_us;
}

/* One figure of all rounds; with `base`, its ratio to the same round of another series. */
static struct cnb_summary
summarize(const struct cnb_sample *samples, const struct cnb_sample *base, uint32_t n,
	double (*figure)(const struct cnb_sample *), double *scratch)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		scratch[i] = figure(&samples[i]);
		if (base != NULL)
			scratch[i] /= figure(&base[i]);
	}
	return cnb_summarize(scratch, n);
}

static void
summarize_case(struct cnb_case *c, uint32_t n, double *scratch)
{
	const struct cnb_sample *base = c->series[c->n_series - 1].samples;
	size_t i;

	for (i = 0; i < c->n_series; i++) {
		struct cnb_series *s = &c->series[i];

		s->wall = summarize(s->samples, NULL, n, wall_of, scratch);
		s->cpu = summarize(s->samples, NULL, n, cpu_of, scratch);
		s->client = summarize(s->samples, NULL, n, client_of, scratch);
		s->daemon = summarize(s->samples, NULL, n, daemon_of, scratch);
		s->ratio_wall = summarize(s->samples, base, n, wall_of, scratch);
		s->ratio_cpu = summarize(s->samples, base, n, cpu_of, scratch);
	}
}

int
cnb_measure(
	const struct cnb_bench *bench, struct cnb_case *c, struct cnb_error *ret_error)
{
	const struct cnb_options *options = bench->options;
	double *scratch;
	int r = -1;
	size_t i;

	scratch = calloc(options->rounds, sizeof(*scratch));
	if (scratch == NULL)
		goto no_memory;
	c->n_series = options->n_targets;
	for (i = 0; i < c->n_series; i++) {
		c->series[i].target = options->targets[i];
		c->series[i].samples =
			calloc(options->rounds, sizeof(*c->series[i].samples));
		if (c->series[i].samples == NULL)
			goto no_memory;
	}
	for (i = 0; i < c->n_series; i++) {
		if (calibrate(bench, c, &c->series[i], ret_error) < 0)
			goto out;
	}
	r = take_rounds(bench, c, ret_error);
	if (r == 0)
		summarize_case(c, options->rounds, scratch);
	goto out;

no_memory:
	snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
out:
	free(scratch);
	return r;
}

void
cnb_case_finish(struct cnb_case *c)
{
	size_t i;

	for (i = 0; i < c->n_series; i++) {
		free(c->series[i].samples);
		c->series[i].samples = NULL;
	}
}
