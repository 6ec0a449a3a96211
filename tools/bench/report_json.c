/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report as JSON. main.c calls it. It has no state.
 */
#include <inttypes.h>
#include <stdio.h>

#include <cenote/cenote.h>

#include "figures.h"

/* The program sets no locale, so numbers have a point. */

static void
put_summary(const char *name, const struct cnb_summary *s)
{
	printf(", \"%s\": {\"median\": %.6g, \"p25\": %.6g, \"p75\": %.6g, \"min\": "
	       "%.6g}",
		name, s->median, s->p25, s->p75, s->min);
}

static void
put_series(const struct cnb_case *c, size_t at, const struct cnb_machine *machine)
{
	static const char *const parts[CNB_N_PARTS] = { "cenoted_cpu_us",
		"pgbouncer_cpu_us", "server_cpu_us" };
	const struct cnb_series *s = &c->series[at];
	size_t i;

	printf("        {\"target\": ");
	cnb_json_put_text(s->target->name, stdout);
	printf(", \"operations_per_round\": %" PRIu64 ", \"rounds_taken_again\": %u",
		s->operations, s->n_disturbed);
	put_summary("wall_us", &s->wall);
	put_summary("p50_us", &s->p50);
	put_summary("p90_us", &s->p90);
	put_summary("p99_us", &s->p99);
	put_summary("p999_us", &s->p999);
	if (c->workload->is_idle)
		put_summary("memory_kib", &s->memory);
	put_summary("cpu_us", &s->cpu);
	printf(", \"cpu_known\": %s",
		cnb_is_cpu_known(machine, s->target) ? "true" : "false");
	put_summary("client_cpu_us", &s->client);
	for (i = 0; i < CNB_N_PARTS; i++) {
		if (machine->is_known[i])
			put_summary(parts[i], &s->parts[i]);
	}
	printf(", \"queries_per_second\": %.6g, \"against\": [", 1e6 / s->wall.median);
	for (i = at + 1; i < c->n_series; i++) {
		printf("%s{\"target\": ", i > at + 1 ? ", " : "");
		cnb_json_put_text(c->series[i].target->name, stdout);
		put_summary("wall_ratio", &s->ratio_wall[i]);
		put_summary("p50_ratio", &s->ratio_p50[i]);
		put_summary("p99_ratio", &s->ratio_p99[i]);
		put_summary("cpu_ratio", &s->ratio_cpu[i]);
		putchar('}');
	}
	printf("]}");
}

static void
put_case(const struct cnb_case *c, const struct cnb_machine *machine)
{
	size_t i;

	printf("    {\"workload\": ");
	cnb_json_put_text(c->workload->name, stdout);
	printf(", \"queries_per_connection\": ");
	/* For held sessions the number has no meaning. */
	if (c->workload->begin == NULL)
		printf("%u", c->queries);
	else
		printf("null");
	printf(", \"pipeline_depth\": ");
	if (c->workload->has_depths)
		printf("%u", c->queries);
	else
		printf("null");
	printf(", \"targets\": [\n");
	for (i = 0; i < c->n_series; i++) {
		put_series(c, i, machine);
		puts(i + 1 < c->n_series ? "," : "");
	}
	printf("    ]}");
}

void
cnb_report_json(const struct cnb_machine *machine, const struct cnb_options *options,
	const struct cnb_case *cases, size_t n_cases)
{
	size_t i;

	printf("{\n  \"version\": \"%d.%d.%d\",\n", CENOTE_VERSION_MAJOR,
		CENOTE_VERSION_MINOR, CENOTE_VERSION_PATCH);
	printf("  \"machine\": {\"cpu\": ");
	cnb_json_put_text(machine->cpu_model, stdout);
	printf(", \"cpus\": %ld, \"kernel\": ", machine->n_cpus);
	cnb_json_put_text(machine->kernel, stdout);
	printf("},\n  \"pinned_cpu\": ");
	if (machine->pinned_cpu >= 0)
		printf("%d", machine->pinned_cpu);
	else
		printf("null");
	printf(",\n  \"clients\": %u,\n  \"rounds\": %u,\n  \"cases\": [\n",
		options->clients, options->rounds);
	for (i = 0; i < n_cases; i++) {
		put_case(&cases[i], machine);
		puts(i + 1 < n_cases ? "," : "");
	}
	puts("  ]\n}");
}
