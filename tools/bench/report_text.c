/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report as text for people. main.c calls it. It has no state.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

/* Lines have at most 100 columns: the longest name of a cipher suite, and figures of up to five
 * characters. */
#define LINE_WIDTH 100
#define NAME_WIDTH 28

static void
read_cpu_model(char *ret_model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *value;

	snprintf(ret_model, size, "unknown CPU");
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "model name", 10) != 0)
			continue;
		value = strchr(line, ':');
		if (value == NULL)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(ret_model, size, "%s", value);
		break;
	}
	fclose(f);
}

void
cnb_machine_read(struct cnb_machine *ret_machine)
{
	struct utsname u;

	read_cpu_model(ret_machine->cpu_model, sizeof(ret_machine->cpu_model));
	if (uname(&u) == 0)
		snprintf(ret_machine->kernel, sizeof(ret_machine->kernel), "%s %.60s",
			u.sysname, u.release);
	ret_machine->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ret_machine->pinned_cpu = -1;
}

/* The option for the processes whose CPU time is missing; NULL: nothing is missing. */
static const char *
missing_option(const struct cnb_machine *machine, const struct cnb_target *target)
{
	if (target->place == CNB_PLACE_POOL && !machine->is_known[CNB_PART_CENOTED])
		return "daemon-pid";
	if (target->place == CNB_PLACE_PGBOUNCER &&
		!machine->is_known[CNB_PART_PGBOUNCER])
		return "pgbouncer-pid";
	/* Whether a pool uses a file or a server is unknown here. */
	if (target->place != CNB_PLACE_POOL && target->place != CNB_PLACE_FILE &&
		!machine->is_known[CNB_PART_SERVER])
		return "server-pid";
	return NULL;
}

int
cnb_is_cpu_known(const struct cnb_machine *machine, const struct cnb_target *target)
{
	return missing_option(machine, target) == NULL;
}

void
cnb_report_text_begin(
	const struct cnb_machine *machine, const struct cnb_options *options)
{
	size_t i;

	printf("%s, %ld CPUs\n%s; ", machine->cpu_model, machine->n_cpus,
		machine->kernel);
	if (machine->pinned_cpu >= 0)
		printf("%s on CPU %d",
			options->env.places[CNB_PLACE_POOL] != NULL ? "clients"
								    : "all processes",
			machine->pinned_cpu);
	else
		printf("processes not bound to a CPU");
	printf("; %u client%s\n", options->clients, options->clients == 1 ? "" : "s");
	printf("Microseconds per query, median of %u rounds [middle half of them]; "
	       "CPU is that of the\n"
	       "clients and of all processes of daemons and servers together\n",
		options->rounds);
	for (i = 0; i < options->n_targets; i++) {
		if (!cnb_is_cpu_known(machine, options->targets[i]))
			printf("CPU of %s: without that of processes that --%s would "
			       "name\n",
				options->targets[i]->name,
				missing_option(machine, options->targets[i]));
	}
}

/* Write a number with three digits; rounds differ by more than that. */
static const char *
number(double v, char *ret_text, size_t size)
{
	if (v < 100)
		snprintf(ret_text, size, "%.*f", v < 10 ? 2 : 1, v);
	else if (v < 10000)
		snprintf(ret_text, size, "%.0f", v);
	else if (v < 10e6)
		snprintf(ret_text, size, "%.*fk", v < 100e3 ? 1 : 0, v / 1e3);
	else
		snprintf(ret_text, size, "%.*fM", v < 100e6 ? 1 : 0, v / 1e6);
	return ret_text;
}

static void
print_summary(const struct cnb_summary *s)
{
	char median[16], p25[16], p75[16], range[48];

	snprintf(range, sizeof(range), "[%s..%s]", number(s->p25, p25, sizeof(p25)),
		number(s->p75, p75, sizeof(p75)));
	printf(" %5s %-14s", number(s->median, median, sizeof(median)), range);
}

/* Print the ratios on one line, or on two if both names are long. */
static void
print_ratios(const struct cnb_series *s, const struct cnb_series *base, size_t k)
{
	const struct cnb_summary *wall = &s->ratio_wall[k], *cpu = &s->ratio_cpu[k];
	char text[160];
	int n = snprintf(text, sizeof(text),
		"wall %6.3f [%.3f..%.3f], CPU %6.3f [%.3f..%.3f]", wall->median,
		wall->p25, wall->p75, cpu->median, cpu->p25, cpu->p75);

	n += printf("  %s / %s:", s->target->name, base->target->name);
	printf("%s %s\n", n < LINE_WIDTH ? "" : "\n   ", text);
}

static void
print_part(double us, int works, int is_known)
{
	char text[16];

	if (works && is_known)
		printf(" %6s", number(us, text, sizeof(text)));
	else
		printf(" %6s", works ? "?" : "-");
}

static void
print_latency(const struct cnb_series *s)
{
	char p90[16], p999[16];

	printf("    p50");
	print_summary(&s->p50);
	printf(", p90 %s, p99", number(s->p90.median, p90, sizeof(p90)));
	print_summary(&s->p99);
	printf(", p99.9 %s\n", number(s->p999.median, p999, sizeof(p999)));
}

static void
print_series(const struct cnb_series *s, const struct cnb_machine *machine)
{
	enum cnb_place place = s->target->place;
	enum cnb_part pool =
		place == CNB_PLACE_PGBOUNCER ? CNB_PART_PGBOUNCER : CNB_PART_CENOTED;
	char rate[16];

	printf("  %-*s", NAME_WIDTH, s->target->name);
	print_summary(&s->wall);
	print_summary(&s->cpu);
	print_part(s->client.median, 1, 1);
	print_part(s->parts[pool].median,
		place == CNB_PLACE_POOL || place == CNB_PLACE_PGBOUNCER,
		machine->is_known[pool]);
	print_part(s->parts[CNB_PART_SERVER].median,
		place != CNB_PLACE_FILE &&
			(place != CNB_PLACE_POOL || machine->is_known[CNB_PART_SERVER]),
		machine->is_known[CNB_PART_SERVER]);
	printf(" %6s\n", number(1e6 / s->wall.median, rate, sizeof(rate)));
	if (s->n_disturbed > 0)
		printf("    (rounds taken again: %u)\n", s->n_disturbed);
}

void
cnb_report_text_case(const struct cnb_case *c, const struct cnb_machine *machine)
{
	size_t i, k;

	printf("\n%s", c->workload->name);
	if (c->workload->has_points)
		printf(", %u quer%s per connection", c->queries,
			c->queries == 1 ? "y" : "ies");
	if (c->workload->has_depths)
		printf(", depth %u", c->queries);
	printf(": %s\n", c->workload->about);
	printf("  %-*s %5s %-14s %5s %-14s %6s %6s %6s %6s\n", NAME_WIDTH, "target",
		"wall", "", "CPU", "", "client", "pool", "server", "per s");
	for (i = 0; i < c->n_series; i++) {
		print_series(&c->series[i], machine);
		if (c->workload->is_crowd)
			print_latency(&c->series[i]);
		if (c->workload->is_idle)
			printf("    memory of pool and server: %.1f MiB\n",
				c->series[i].memory.median / 1024);
	}
	for (i = 0; i < c->n_series; i++) {
		k = c->series[i].target->is_variant ? c->n_series - 1 : i + 1;
		for (; k < c->n_series; k++) {
			print_ratios(&c->series[i], &c->series[k], k);
		}
	}
	fflush(stdout);
}
