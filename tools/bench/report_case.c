/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process of one case of the command report: it measures, and sends its figures through a socket.
 * report.c starts it. It owns no state.
 */
#include "report_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ------------------------------------------------- one case: the figures -- */

static void
copy_summary(
	const struct cnb_summary *s, double *ret_median, double *ret_p25, double *ret_p75)
{
	*ret_median = s->median;
	*ret_p25 = s->p25;
	*ret_p75 = s->p75;
}

static double
known(const struct cnb_bench *bench, enum cnb_part part, double v)
{
	size_t i;

	for (i = 0; i < bench->n_roots; i++) {
		if (bench->parts[i] == part)
			return v;
	}
	return NAN;
}

/* Compare with the last target, which has no pool. */
static void
set_ratios(const struct cnb_case *c, size_t at, struct cnb_figure *f)
{
	const struct cnb_series *s = &c->series[at];
	size_t last = c->n_series - 1;

	if (at == last)
		return;
	snprintf(f->base, sizeof(f->base), "%.15s", c->series[last].target->name);
	copy_summary(&s->ratio_wall[last], &f->wall_ratio, &f->wall_ratio_p25,
		&f->wall_ratio_p75);
	copy_summary(
		&s->ratio_cpu[last], &f->cpu_ratio, &f->cpu_ratio_p25, &f->cpu_ratio_p75);
}

static void
begin_figure(const struct cnb_set *set, enum cnb_kind kind,
	const struct cnb_options *options, const struct cnb_workload *workload,
	const struct cnb_target *target, struct cnb_figure *ret_figure)
{
	cnb_figure_init(ret_figure);
	snprintf(ret_figure->set, sizeof(ret_figure->set), "%s", set->name);
	snprintf(ret_figure->server, sizeof(ret_figure->server), "%s",
		cnb_kind_names[kind]);
	snprintf(ret_figure->target, sizeof(ret_figure->target), "%s", target->name);
	snprintf(
		ret_figure->workload, sizeof(ret_figure->workload), "%s", workload->name);
	ret_figure->clients = ret_figure->x = options->clients;
	if (target->place == CNB_PLACE_POOL || target->place == CNB_PLACE_PGBOUNCER ||
		target->place == CNB_PLACE_PGPOOL)
		ret_figure->sessions = options->sessions;
	ret_figure->rounds = options->rounds;
}

static void
make_figure(const struct cnb_set *set, enum cnb_kind kind, const struct cnb_bench *bench,
	const struct cnb_case *c, size_t at, struct cnb_figure *ret_figure)
{
	const struct cnb_series *s = &c->series[at];
	struct cnb_figure *f = ret_figure;

	begin_figure(set, kind, bench->options, c->workload, s->target, f);
	if (c->workload->has_points || c->workload->has_depths)
		f->x = c->queries;
	copy_summary(&s->wall, &f->wall_us, &f->wall_us_p25, &f->wall_us_p75);
	copy_summary(&s->cpu, &f->cpu_us, &f->cpu_us_p25, &f->cpu_us_p75);
	f->queries_per_s = 1e6 / s->wall.median;
	f->p50_us = s->p50.median;
	f->p90_us = s->p90.median;
	f->p99_us = s->p99.median;
	f->p999_us = s->p999.median;
	f->client_cpu_us = s->client.median;
	f->cenoted_cpu_us =
		known(bench, CNB_PART_CENOTED, s->parts[CNB_PART_CENOTED].median);
	f->pgbouncer_cpu_us =
		known(bench, CNB_PART_PGBOUNCER, s->parts[CNB_PART_PGBOUNCER].median);
	f->server_cpu_us =
		known(bench, CNB_PART_SERVER, s->parts[CNB_PART_SERVER].median);
	if (c->workload->is_idle)
		f->memory_kib = s->memory.median;
	set_ratios(c, at, f);
}

/* Measure all cases of the options, and send the figures. */
static int
measure_rounds(const struct cnb_set *set, enum cnb_kind kind,
	const struct cnb_bench *bench, int fd, struct cnb_error *ret_error)
{
	static struct cnb_case cases[CNB_MAX_CASES];
	size_t n = cnb_cases_make(bench->options, cases), i, k;
	struct cnb_case_message m = { .is_figure = 1 };

	for (i = 0; i < n; i++) {
		if (cnb_measure(bench, &cases[i], ret_error) < 0)
			return -1;
		for (k = 0; k < cases[i].n_series; k++) {
			make_figure(set, kind, bench, &cases[i], k, &m.figure);
			if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0)
				return -1;
		}
		cnb_case_finish(&cases[i]);
	}
	return 0;
}

/* ------------------------------------------------------- one case: retail -- */

/* Say what kept the users from more operations. */
static void
say_limit(const struct cnb_work *work, const struct cnb_target *target, double per_s,
	double think_s, uint32_t clients, long n_cpus, struct cnb_figure *f)
{
	double offered = clients / think_s;

	if (work->n_refused > 0)
		snprintf(f->note, sizeof(f->note),
			"connections: %u users were refused: %.100s", work->n_refused,
			work->refusal.text);
	else if (per_s > 0.85 * offered)
		snprintf(f->note, sizeof(f->note),
			"nothing: the users' pauses allow no more");
	else if (f->cpus_busy > 0.85 * (double)n_cpus)
		snprintf(f->note, sizeof(f->note), "CPU: %.1f of %ld are busy",
			f->cpus_busy, n_cpus);
	else if (target->place == CNB_PLACE_POOL || target->place == CNB_PLACE_PGBOUNCER)
		snprintf(f->note, sizeof(f->note),
			"sessions, or the server's locks: %.1f of %ld CPUs are busy",
			f->cpus_busy, n_cpus);
	else
		snprintf(f->note, sizeof(f->note),
			"the server's locks: %.1f of %ld CPUs are busy", f->cpus_busy,
			n_cpus);
}

static void
retail_figure(const struct cnb_bench *bench, const struct cnb_target *target,
	const struct cnb_work *work, const int64_t part_ns[CNB_N_PARTS],
	struct cnb_figure *f)
{
	double n = (double)work->n_operations, s = (double)work->measured_ns / 1e9;
	/* CPU time is known for the whole run, operations only for the measured part of it. */
	double share = (double)work->measured_ns / (double)work->wall_ns / n / 1e3;
	const enum cnb_part parts[] = { CNB_PART_CENOTED, CNB_PART_PGBOUNCER,
		CNB_PART_SERVER };
	double *const cpus[] = { &f->cenoted_cpu_us, &f->pgbouncer_cpu_us,
		&f->server_cpu_us };
	size_t i;

	f->queries_per_s = n / s;
	f->wall_us = 1e6 / f->queries_per_s;
	f->p50_us = cnb_latency_quantile(&work->latency, 0.5) / 1e3;
	f->p90_us = cnb_latency_quantile(&work->latency, 0.9) / 1e3;
	f->p99_us = cnb_latency_quantile(&work->latency, 0.99) / 1e3;
	f->p999_us = cnb_latency_quantile(&work->latency, 0.999) / 1e3;
	f->refused = work->n_refused;
	f->cpu_us = f->client_cpu_us = (double)work->cpu_ns * share;
	for (i = 0; i < 3; i++) {
		*cpus[i] = known(bench, parts[i], (double)part_ns[parts[i]] * share);
		f->cpu_us += isnan(*cpus[i]) ? 0 : *cpus[i];
	}
	f->cpus_busy = f->cpu_us * n * 1e3 / (double)work->measured_ns;
	say_limit(work, target, f->queries_per_s,
		cnb_workload_find("retail")->think_ms / 1e3, bench->options->clients,
		sysconf(_SC_NPROCESSORS_ONLN), f);
}

static int
measure_users(const struct cnb_bench *bench, const struct cnb_target *target,
	struct cnb_work *ret_work, int64_t ret_part_ns[CNB_N_PARTS],
	struct cnb_error *ret_error)
{
	struct cnb_run pattern = { .target = target,
		.workload = cnb_workload_find("retail"),
		.env = &bench->env,
		.queries = 1 };
	int64_t before[CNB_N_PARTS];
	struct cnb_crew *crew;
	int r, i;

	if (cnb_crew_begin(&pattern, bench->options, 1, &crew, ret_error) < 0)
		return -1;
	r = cnb_parts_cpu(bench, target, before, ret_error);
	if (r == 0)
		r = cnb_crew_work(crew, ret_work, ret_error);
	if (r == 0)
		r = cnb_parts_cpu(bench, target, ret_part_ns, ret_error);
	for (i = 0; r == 0 && i < CNB_N_PARTS; i++)
		ret_part_ns[i] -= before[i];
	cnb_crew_end(crew);
	if (r == 0 && ret_work->n_operations == 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"no user did an operation, and %u were refused: %.100s",
			ret_work->n_refused, ret_work->refusal.text);
		r = -1;
	}
	return r;
}

static int
measure_retail(const struct cnb_set *set, enum cnb_kind kind,
	const struct cnb_bench *bench, int fd, struct cnb_error *ret_error)
{
	const struct cnb_workload *workload = cnb_workload_find("retail");
	struct cnb_case_message m = { .is_figure = 1 };
	struct cnb_work work;
	int64_t part_ns[CNB_N_PARTS];
	size_t i;

	for (i = 0; i < bench->options->n_targets; i++) {
		const struct cnb_target *target = bench->options->targets[i];

		if (!workload->can(target))
			continue;
		begin_figure(set, kind, bench->options, workload, target, &m.figure);
		if (measure_users(bench, target, &work, part_ns, ret_error) == 0)
			retail_figure(bench, target, &work, part_ns, &m.figure);
		else
			snprintf(m.figure.note, sizeof(m.figure.note),
				"not measured: %.140s", ret_error->text);
		if (*bench->interrupted || send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0)
			return -1;
	}
	return 0;
}

/* -------------------------------------------------- one case: its process -- */

static const struct cnb_daemon *
daemon_of(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind)
{
	return set->pool == CNB_POOL_RETAIL ? &r->retail_daemons[kind] : &r->daemon;
}

void
cnb_report_env(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	struct cnb_report_places *ret_places, struct cnb_env *ret_env)
{
	const char *pool = cnb_report_pool(set->pool, kind);

	/* the command line has those of other pools */
	*ret_env = r->options->env;
	if (set->targets != NULL)
		snprintf(ret_places->pool, sizeof(ret_places->pool),
			"cenote://bench@127.0.0.1:%d/%s", r->daemon.port, pool);
	else
		snprintf(ret_places->pool, sizeof(ret_places->pool),
			"cenote:///%s?run_dir=%s", pool, daemon_of(r, set, kind)->dir);
	cnb_pgbouncer_place(&r->servers, set->pool, ret_places->pgbouncer,
		sizeof(ret_places->pgbouncer));
	ret_env->places[CNB_PLACE_POOL] = ret_places->pool;
	ret_env->places[CNB_PLACE_FILE] = r->daemon.file;
	ret_env->places[CNB_PLACE_PGBOUNCER] = ret_places->pgbouncer;
	ret_env->places[CNB_PLACE_PGPOOL] = r->servers.services[CNB_PGPOOL].place;
	ret_env->places[CNB_PLACE_POSTGRESQL] = r->servers.services[CNB_POSTGRESQL].place;
	ret_env->places[CNB_PLACE_MARIADB] = r->servers.services[CNB_MARIADB].place;
}

static void
add_root(struct cnb_bench *bench, pid_t pid, enum cnb_part part)
{
	if (pid <= 0)
		return;
	bench->roots[bench->n_roots] = pid;
	bench->parts[bench->n_roots++] = part;
}

static void
find_roots(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	struct cnb_bench *bench)
{
	bench->n_roots = 0;
	add_root(bench, daemon_of(r, set, kind)->pid, CNB_PART_CENOTED);
	if (kind == CNB_KIND_POSTGRESQL) {
		add_root(bench, r->servers.services[CNB_PGBOUNCER].pid,
			CNB_PART_PGBOUNCER);
		/* it serves no other sets, and would count as memory there */
		if (set->pool == CNB_POOL_HELD)
			add_root(bench, r->servers.services[CNB_PGPOOL].pid,
				CNB_PART_PGBOUNCER);
		add_root(bench, r->servers.services[CNB_POSTGRESQL].pid, CNB_PART_SERVER);
	} else if (kind == CNB_KIND_MARIADB) {
		add_root(bench, r->servers.services[CNB_MARIADB].pid, CNB_PART_SERVER);
	}
}

static void
bind_families(const struct cnb_runner *r, const struct cnb_bench *bench, int is_pinned)
{
	cpu_set_t cpus = r->cpus;
	size_t i;
	int cpu;

	if (is_pinned && !r->options->is_pinned)
		is_pinned = 0;
	/* The first CPU gets most interrupts, so take the last. */
	for (cpu = 0; is_pinned && cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &r->cpus)) {
			CPU_ZERO(&cpus);
			CPU_SET(cpu, &cpus);
		}
	}
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < bench->n_roots; i++)
		cnb_family_bind(bench->roots[i], &cpus);
}

void
cnb_report_case(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	const struct cnb_options *options, int fd)
{
	struct cnb_bench bench = { .options = options, .interrupted = r->interrupted };
	struct cnb_case_message m = { .is_figure = 0 };
	struct cnb_report_places places;
	int result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cnb_report_env(r, set, kind, &places, &bench.env);
	find_roots(r, set, kind, &bench);
	bind_families(r, &bench, set->is_pinned);
	if (r->odbc_driver[0] != '\0')
		setenv("CENOTE_ODBC_DRIVER", r->odbc_driver, 1);
	if (r->shim_dirs[kind][0] != '\0')
		setenv("CENOTE_SHIM_DIR", r->shim_dirs[kind], 1);
	if (options->crowd_s > 0)
		result = measure_retail(set, kind, &bench, fd, &m.error);
	else
		result = measure_rounds(set, kind, &bench, fd, &m.error);
	if (result == 0)
		m.error.text[0] = '\0';
	(void)send(fd, &m, sizeof(m), MSG_NOSIGNAL);
}
