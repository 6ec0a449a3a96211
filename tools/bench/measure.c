/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures a case: calibrates, runs rounds, reads CPU times and summarizes. main.c calls it. The
 * results are in struct cnb_series.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* If a process of cenoted started or ended in a round, repeat the round, but at most this often. */
#define MAX_DISTURBED 20

/* A shorter round measures the clock rather than the target. */
#define MIN_CALIBRATION_NS 5000000

struct raw {
	struct cnb_work work;
	int64_t part_ns[CNB_N_PARTS];
	int64_t memory_kib; /* of pool and server, while all clients are attached; idle only */
};

static int
sees_root(const struct cnb_bench *bench, size_t i, const struct cnb_target *target)
{
	return bench->parts[i] != CNB_PART_CENOTED || target->place == CNB_PLACE_POOL;
}

static int
is_gone(const struct cnb_bench *bench, size_t i, struct cnb_error *ret_error)
{
	static const char *const names[CNB_N_PARTS] = { "cenoted", "the other pool",
		"the server" };

	snprintf(ret_error->text, sizeof(ret_error->text), "%s, process %ld: %s",
		names[bench->parts[i]], (long)bench->roots[i],
		errno == ESRCH ? "is gone" : strerror(errno));
	return -1;
}

int
cnb_parts_cpu(const struct cnb_bench *bench, const struct cnb_target *target,
	int64_t *ret_ns, struct cnb_error *ret_error)
{
	int64_t ns;
	size_t i;

	memset(ret_ns, 0, CNB_N_PARTS * sizeof(*ret_ns));
	for (i = 0; i < bench->n_roots; i++) {
		if (!sees_root(bench, i, target))
			continue;
		if (cnb_family_cpu(bench->roots[i], &ns) < 0)
			return is_gone(bench, i, ret_error);
		ret_ns[bench->parts[i]] += ns;
	}
	return 0;
}

/* Daemons continue after the client has its answer: cenoted resets the session, a server's process
 * ends. That belongs to the round, so wait until they use no more CPU. */
static int
settle(const struct cnb_bench *bench, const struct cnb_target *target, int64_t *ret_ns,
	struct cnb_error *ret_error)
{
	int64_t before[CNB_N_PARTS];
	int i;

	if (cnb_parts_cpu(bench, target, ret_ns, ret_error) < 0)
		return -1;
	for (i = 0; i < 100; i++) {
		memcpy(before, ret_ns, sizeof(before));
		usleep(500);
		if (cnb_parts_cpu(bench, target, ret_ns, ret_error) < 0)
			return -1;
		if (memcmp(before, ret_ns, sizeof(before)) == 0)
			break;
	}
	return 0;
}

/* Find the processes of cenoted. They should not change, since the CPU time of ended ones is less
 * exact. */
static int
find_cenoted(const struct cnb_bench *bench, const struct cnb_target *target,
	struct cnb_procs *ret_procs, struct cnb_error *ret_error)
{
	size_t i;

	*ret_procs = (struct cnb_procs){ NULL, 0 };
	for (i = 0; i < bench->n_roots; i++) {
		if (bench->parts[i] != CNB_PART_CENOTED || !sees_root(bench, i, target))
			continue;
		if (cnb_procs_find(bench->roots[i], ret_procs) < 0)
			return is_gone(bench, i, ret_error);
		break;
	}
	return 0;
}

/* Let the clients work, and measure them. 0; 1: a process started or ended; -1: an error. */
static int
work_observed(const struct cnb_bench *bench, const struct cnb_target *target,
	struct cnb_crew *crew, struct raw *ret_raw, struct cnb_error *ret_error)
{
	int64_t start[CNB_N_PARTS], end[CNB_N_PARTS];
	struct cnb_procs before, after = { NULL, 0 };
	int r, i;

	if (find_cenoted(bench, target, &before, ret_error) < 0)
		return -1;
	r = settle(bench, target, start, ret_error);
	if (r == 0)
		r = cnb_crew_work(crew, &ret_raw->work, ret_error);
	if (r == 0)
		r = settle(bench, target, end, ret_error);
	if (r == 0)
		r = find_cenoted(bench, target, &after, ret_error);
	for (i = 0; r == 0 && i < CNB_N_PARTS; i++)
		ret_raw->part_ns[i] = end[i] - start[i];
	if (r == 0 && !cnb_procs_equal(&before, &after))
		r = 1;
	cnb_procs_finish(&before);
	cnb_procs_finish(&after);
	return r;
}

/* Read the memory of the pool and the server that work for the target. */
static int
read_memory(const struct cnb_bench *bench, const struct cnb_target *target,
	int64_t *ret_kib, struct cnb_error *ret_error)
{
	int64_t kib;
	size_t i;

	*ret_kib = 0;
	for (i = 0; i < bench->n_roots; i++) {
		if (!sees_root(bench, i, target) ||
			(bench->parts[i] == CNB_PART_PGBOUNCER &&
				target->place != CNB_PLACE_PGBOUNCER))
			continue;
		if (cnb_family_memory(bench->roots[i], &kib) < 0)
			return is_gone(bench, i, ret_error);
		*ret_kib += kib;
	}
	return 0;
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

	if (cnb_crew_begin(
		    &pattern, bench->options, series->operations, &crew, ret_error) < 0)
		return -1;
	r = work_observed(bench, series->target, crew, ret_raw, ret_error);
	if (r == 0 && c->workload->is_idle)
		r = read_memory(bench, series->target, &ret_raw->memory_kib, ret_error);
	cnb_crew_end(crew);
	return r;
}

/* Repeat a round until no process of cenoted started or ended in it. */
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

/* How many operations fit into a round's part of the time. The first round only warms everything
 * up: a pool may log in to its server then. */
static int
calibrate(const struct cnb_bench *bench, const struct cnb_case *c,
	struct cnb_series *series, struct cnb_error *ret_error)
{
	double round_ns = bench->options->time_s * 1e9 / bench->options->rounds;
	struct raw raw;

	series->operations = 1;
	if (undisturbed_round(bench, c, series, &raw, ret_error) < 0)
		return -1;
	for (;;) {
		if (undisturbed_round(bench, c, series, &raw, ret_error) < 0)
			return -1;
		if (raw.work.wall_ns >= MIN_CALIBRATION_NS ||
			(double)raw.work.wall_ns >= round_ns)
			break;
		series->operations *= 2;
	}
	if (bench->options->operations > 0)
		series->operations = bench->options->operations;
	else
		series->operations = (uint64_t)((double)series->operations * round_ns /
						(double)raw.work.wall_ns) +
				     1;
	series->n_disturbed = 0;
	return 0;
}

static struct cnb_sample
to_sample(const struct cnb_bench *bench, const struct cnb_case *c,
	const struct cnb_series *series, const struct raw *raw)
{
	/* Clients work at the same time, so the wall time per query counts the queries of all
	 * clients. */
	double n = (double)series->operations * c->queries * bench->options->clients;

	struct cnb_sample sample = {
		.wall_us = (double)raw->work.wall_ns / n / 1e3,
		.p50_us = cnb_latency_quantile(&raw->work.latency, 0.5) / 1e3,
		.p90_us = cnb_latency_quantile(&raw->work.latency, 0.9) / 1e3,
		.p99_us = cnb_latency_quantile(&raw->work.latency, 0.99) / 1e3,
		.p999_us = cnb_latency_quantile(&raw->work.latency, 0.999) / 1e3,
		.memory_kib = (double)raw->memory_kib,
		.client_us = (double)raw->work.cpu_ns / n / 1e3,
	};
	int i;

	for (i = 0; i < CNB_N_PARTS; i++)
		sample.part_us[i] = (double)raw->part_ns[i] / n / 1e3;
	return sample;
}

static void
show_step(const struct cnb_bench *bench, const struct cnb_case *c,
	const struct cnb_series *series, uint32_t round)
{
	if (bench->progress != NULL)
		bench->progress->step(bench->progress, c, series->target, round,
			bench->options->rounds);
}

static int
take_rounds(
	const struct cnb_bench *bench, struct cnb_case *c, struct cnb_error *ret_error)
{
	uint32_t round, rounds = bench->options->rounds;
	size_t i;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < c->n_series; i++) {
			/* Every second round goes backwards, so that no target always follows the
			 * same one. */
			struct cnb_series *s =
				&c->series[round % 2 ? c->n_series - 1 - i : i];
			struct raw raw;

			show_step(bench, c, s, round + 1);
			if (undisturbed_round(bench, c, s, &raw, ret_error) < 0)
				return -1;
			s->samples[round] = to_sample(bench, c, s, &raw);
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ summaries ----- */

static double
cpu_of(const struct cnb_sample *s)
{
	double sum = s->client_us;
	int i;

	for (i = 0; i < CNB_N_PARTS; i++)
		sum += s->part_us[i];
	return sum;
}

enum figure {
	FIGURE_WALL,
	FIGURE_P50,
	FIGURE_P90,
	FIGURE_P99,
	FIGURE_P999,
	FIGURE_MEMORY,
	FIGURE_CPU,
	FIGURE_CLIENT,
	FIGURE_PART /* add the part's number */
};

static double
figure_of(const struct cnb_sample *s, int figure)
{
	switch (figure) {
	case FIGURE_WALL:
		return s->wall_us;
	case FIGURE_P50:
		return s->p50_us;
	case FIGURE_P90:
		return s->p90_us;
	case FIGURE_P99:
		return s->p99_us;
	case FIGURE_P999:
		return s->p999_us;
	case FIGURE_MEMORY:
		return s->memory_kib;
	case FIGURE_CPU:
		return cpu_of(s);
	case FIGURE_CLIENT:
		return s->client_us;
	default:
		return s->part_us[figure - FIGURE_PART];
	}
}

/* Summarize one figure over all rounds; with `base`, its ratio to the same round of another
 * series. */
static struct cnb_summary
summarize(const struct cnb_sample *samples, const struct cnb_sample *base, uint32_t n,
	int figure, double *scratch)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		scratch[i] = figure_of(&samples[i], figure);
		if (base != NULL)
			scratch[i] /= figure_of(&base[i], figure);
	}
	return cnb_summarize(scratch, n);
}

static void
summarize_case(struct cnb_case *c, uint32_t n, double *scratch)
{
	size_t i, k;

	for (i = 0; i < c->n_series; i++) {
		struct cnb_series *s = &c->series[i];

		s->wall = summarize(s->samples, NULL, n, FIGURE_WALL, scratch);
		s->p50 = summarize(s->samples, NULL, n, FIGURE_P50, scratch);
		s->p90 = summarize(s->samples, NULL, n, FIGURE_P90, scratch);
		s->p99 = summarize(s->samples, NULL, n, FIGURE_P99, scratch);
		s->p999 = summarize(s->samples, NULL, n, FIGURE_P999, scratch);
		s->memory = summarize(s->samples, NULL, n, FIGURE_MEMORY, scratch);
		s->cpu = summarize(s->samples, NULL, n, FIGURE_CPU, scratch);
		s->client = summarize(s->samples, NULL, n, FIGURE_CLIENT, scratch);
		for (k = 0; k < CNB_N_PARTS; k++)
			s->parts[k] = summarize(
				s->samples, NULL, n, FIGURE_PART + (int)k, scratch);
		for (k = i + 1; k < c->n_series; k++) {
			const struct cnb_sample *base = c->series[k].samples;

			s->ratio_wall[k] =
				summarize(s->samples, base, n, FIGURE_WALL, scratch);
			s->ratio_p50[k] =
				summarize(s->samples, base, n, FIGURE_P50, scratch);
			s->ratio_p99[k] =
				summarize(s->samples, base, n, FIGURE_P99, scratch);
			s->ratio_cpu[k] =
				summarize(s->samples, base, n, FIGURE_CPU, scratch);
		}
	}
}

/* Make a series for each target that can do the workload. */
static int
make_series(const struct cnb_options *options, struct cnb_case *c)
{
	size_t i;

	for (i = 0; i < options->n_targets; i++) {
		const struct cnb_target *t = options->targets[i];
		struct cnb_series *s = &c->series[c->n_series];

		if (c->workload->can != NULL && !c->workload->can(t))
			continue;
		s->target = t;
		s->samples = calloc(options->rounds, sizeof(*s->samples));
		if (s->samples == NULL)
			return -1;
		c->n_series++;
	}
	return 0;
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
	if (make_series(options, c) < 0)
		goto no_memory;
	for (i = 0; i < c->n_series; i++) {
		show_step(bench, c, &c->series[i], 0);
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
