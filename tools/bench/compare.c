/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two reports: it lists the figures that changed by more than noise. main.c calls it for the
 * command compare. It owns no state.
 *
 * If a figure has a ratio to another target of the same round, the ratios are compared: other load on
 * the machine affects both targets alike. Each median has a range to both sides: 2.4 times the
 * interquartile range, divided by the square root of the number of rounds. Two ranges that overlap may
 * be noise. The notch of a box plot uses 1.57 instead of 2.4. Among hundreds of figures, this would
 * report some changes that are only noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define NOTCH 2.4

struct measure {
	double median, p25, p75;
};

/* The numbers of a figure that are compared. For each of them, more is worse. */
static const struct {
	const char *name; /* the ratio, and its quartiles with _p25 and _p75 */
	const char *alone; /* compared where there is no ratio */
} compared[] = {
	{ "wall_ratio", "wall_us" },
	{ "cpu_ratio", "cpu_us" },
};

static struct measure
measure_of(const struct cnb_figure *figure, const char *name)
{
	char p25[32], p75[32];

	snprintf(p25, sizeof(p25), "%s_p25", name);
	snprintf(p75, sizeof(p75), "%s_p75", name);
	return (struct measure){ cnb_figure_value(figure, name),
		cnb_figure_value(figure, p25), cnb_figure_value(figure, p75) };
}

/* How far from its median the range of a figure goes, to each side. */
static double
half_range(const struct measure *m, double rounds)
{
	return NOTCH * (m->p75 - m->p25) / sqrt(rounds);
}

static int
is_known(const struct measure *m, double rounds)
{
	/* The quartiles of one or two rounds say nothing about the noise. */
	return isfinite(m->median) && m->median > 0 && isfinite(m->p25) &&
	       isfinite(m->p75) && rounds >= 3;
}

static int
has_changed(const struct measure *a, double a_rounds, const struct measure *b,
	double b_rounds, double share)
{
	double change = fabs(b->median - a->median);

	return change > share * a->median &&
	       change > half_range(a, a_rounds) + half_range(b, b_rounds);
}

static int
is_same_point(const struct cnb_figure *a, const struct cnb_figure *b)
{
	return strcmp(a->set, b->set) == 0 && strcmp(a->server, b->server) == 0 &&
	       strcmp(a->target, b->target) == 0 &&
	       strcmp(a->workload, b->workload) == 0 &&
	       (a->x == b->x || (isnan(a->x) && isnan(b->x))) && a->clients == b->clients;
}

static const struct cnb_figure *
find(const struct cnb_figures *figures, const struct cnb_figure *wanted)
{
	size_t i;

	for (i = 0; i < figures->n; i++) {
		if (is_same_point(&figures->list[i], wanted))
			return &figures->list[i];
	}
	return NULL;
}

static void
compare_figures(const struct cnb_figure *a, const struct cnb_figure *b, double share,
	struct cnb_changes *changes)
{
	size_t i;

	for (i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
		const char *name = compared[i].name;
		struct measure before = measure_of(a, name), after = measure_of(b, name);

		if (!is_known(&before, a->rounds) || !is_known(&after, b->rounds) ||
			strcmp(a->base, b->base) != 0) {
			name = compared[i].alone;
			before = measure_of(a, name);
			after = measure_of(b, name);
		}
		if (!is_known(&before, a->rounds) || !is_known(&after, b->rounds))
			continue;
		changes->n_compared++;
		if (!has_changed(&before, a->rounds, &after, b->rounds, share))
			continue;
		changes->list[changes->n++] =
			(struct cnb_change){ a, b, name, after.median / before.median };
		changes->n_slower += after.median > before.median;
	}
}

static int
worse_first(const void *a, const void *b)
{
	double x = ((const struct cnb_change *)a)->ratio;
	double y = ((const struct cnb_change *)b)->ratio;

	return (x < y) - (x > y);
}

int
cnb_compare(const struct cnb_report *before, const struct cnb_report *after, double share,
	struct cnb_changes *ret_changes)
{
	struct cnb_changes changes = { 0 };
	size_t i, n = sizeof(compared) / sizeof(compared[0]);

	changes.list = calloc(before->figures.n * n + 1, sizeof(*changes.list));
	if (changes.list == NULL)
		return -1;
	for (i = 0; i < before->figures.n; i++) {
		const struct cnb_figure *a = &before->figures.list[i];
		const struct cnb_figure *b = find(&after->figures, a);

		if (b == NULL)
			changes.n_missing++;
		else
			compare_figures(a, b, share, &changes);
	}
	qsort(changes.list, changes.n, sizeof(*changes.list), worse_first);
	*ret_changes = changes;
	return 0;
}

/* --------------------------------------------------------------- the command ----- */

static void
print_change(const struct cnb_change *change)
{
	const struct cnb_figure *f = change->before;
	char point[32] = "";
	int is_ratio = strstr(change->what, "ratio") != NULL;
	struct measure a = measure_of(change->before, change->what);
	struct measure b = measure_of(change->after, change->what);

	if (isfinite(f->x))
		snprintf(point, sizeof(point), " %.0f", f->x);
	printf("%-6s %+5.0f %%  %s, %s%s: %s, %s\n",
		change->ratio > 1 ? "WORSE" : "better", (change->ratio - 1) * 100,
		f->server, f->workload, point, f->target,
		change->what[0] == 'w' ? "time" : "CPU");
	printf("                %.4g [%.4g..%.4g] to %.4g [%.4g..%.4g] %s%s\n", a.median,
		a.p25, a.p75, b.median, b.p25, b.p75,
		is_ratio ? "times " : "µs per query", is_ratio ? f->base : "");
}

static void
print_result(const struct cnb_report *before, const struct cnb_report *after,
	const struct cnb_changes *changes, double share)
{
	size_t i;

	if (strcmp(before->cpu, after->cpu) != 0)
		printf("The machines differ: %s; %s. Trust the ratios only.\n",
			before->cpu, after->cpu);
	for (i = 0; i < changes->n; i++)
		print_change(&changes->list[i]);
	printf("%zu figures compared: %zu worse, %zu better, the others within noise or "
	       "%.0f %%\n",
		changes->n_compared, changes->n_slower, changes->n - changes->n_slower,
		share * 100);
	if (changes->n_compared == 0)
		puts("Figures of fewer than three rounds cannot be compared.");
	if (changes->n_missing > 0)
		printf("%zu figures are in the first report only\n", changes->n_missing);
}

static int
read_both(const char *paths[2], struct cnb_report reports[2])
{
	struct cnb_error error;
	int i;

	for (i = 0; i < 2; i++) {
		if (cnb_report_read(paths[i], &reports[i], &error) == 0)
			continue;
		fprintf(stderr, "cenote-bench: %s\n", error.text);
		return -1;
	}
	return 0;
}

int
cnb_compare_files(const char *before, const char *after, double share)
{
	const char *paths[2] = { before, after };
	struct cnb_report reports[2] = { 0 };
	struct cnb_changes changes = { 0 };
	int status = 1;

	if (read_both(paths, reports) == 0 &&
		cnb_compare(&reports[0], &reports[1], share, &changes) == 0) {
		print_result(&reports[0], &reports[1], &changes, share);
		status = changes.n_slower > 0 ? 3 : changes.n_compared == 0 ? 1 : 0;
	}
	free(changes.list);
	cnb_figures_finish(&reports[0].figures);
	cnb_figures_finish(&reports[1].figures);
	return status;
}
