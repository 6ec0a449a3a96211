/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

/* The longest name of a suite of ciphers fits. */
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

/* The option that would name the processes whose CPU is missing; NULL: none. */
static const char *
missing_option(const struct cnb_machine *machine, const struct cnb_target *target)
{
	if (target->place == CNB_PLACE_POOL && !machine->is_known[CNB_PART_CENOTED])
		return "daemon-pid";
	if (target->place == CNB_PLACE_PGBOUNCER &&
		!machine->is_known[CNB_PART_PGBOUNCER])
		return "pgbouncer-pid";
	/* What is behind a pool is not known here: a file, or a server. */
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

	printf("%s, %ld CPUs, %s; ", machine->cpu_model, machine->n_cpus,
		machine->kernel);
	if (machine->pinned_cpu >= 0)
		printf("%s on CPU %d",
			options->env.places[CNB_PLACE_POOL] != NULL ? "clients"
								    : "all processes",
			machine->pinned_cpu);
	else
		printf("processes not bound to a CPU");
	printf("; %u client%s\n", options->clients, options->clients == 1 ? "" : "s");
	printf("Microseconds per query, median of %u rounds [middle half of them]; CPU "
	       "is "
	       "that of the clients and of all processes of daemons and servers "
	       "together\n",
		options->rounds);
	for (i = 0; i < options->n_targets; i++) {
		if (!cnb_is_cpu_known(machine, options->targets[i]))
			printf("The CPU of %s lacks that of processes that were not "
			       "named "
			       "with --%s\n",
				options->targets[i]->name,
				missing_option(machine, options->targets[i]));
	}
}

static void
print_summary(const struct cnb_summary *s)
{
	char range[48];
	int decimals = s->median < 1000 ? 2 : 0;

	snprintf(
		range, sizeof(range), "[%.*f..%.*f]", decimals, s->p25, decimals, s->p75);
	printf(" %8.*f %-17s", decimals, s->median, range);
}

static void
print_ratio(const struct cnb_summary *s)
{
	printf(" %6.3f [%.3f..%.3f]", s->median, s->p25, s->p75);
}

static void
print_part(double us, int works, int is_known)
{
	if (works && is_known)
		printf(" %9.2f", us);
	else
		printf(" %9s", works ? "?" : "-");
}

static void
print_series(const struct cnb_series *s, const struct cnb_machine *machine)
{
	enum cnb_place place = s->target->place;
	enum cnb_part pool =
		place == CNB_PLACE_PGBOUNCER ? CNB_PART_PGBOUNCER : CNB_PART_CENOTED;

	printf("  %-*s", NAME_WIDTH, s->target->name);
	print_summary(&s->wall);
	print_summary(&s->cpu);
	printf(" %9.2f", s->client.median);
	print_part(s->parts[pool].median,
		place == CNB_PLACE_POOL || place == CNB_PLACE_PGBOUNCER,
		machine->is_known[pool]);
	print_part(s->parts[CNB_PART_SERVER].median,
		place != CNB_PLACE_FILE &&
			(place != CNB_PLACE_POOL || machine->is_known[CNB_PART_SERVER]),
		machine->is_known[CNB_PART_SERVER]);
	printf(" %11.0f", 1e6 / s->wall.median);
	if (s->n_disturbed > 0)
		printf("  (rounds taken again: %u)", s->n_disturbed);
	putchar('\n');
}

void
cnb_report_text_case(const struct cnb_case *c, const struct cnb_machine *machine)
{
	size_t i, k;

	printf("\n%s", c->workload->name);
	if (c->workload->has_points)
		printf(", %u quer%s per connection", c->queries,
			c->queries == 1 ? "y" : "ies");
	printf(": %s\n", c->workload->about);
	printf("  %-*s %8s %-17s %8s %-17s %9s %9s %9s %11s\n", NAME_WIDTH, "target",
		"wall", "", "CPU", "", "client", "pool", "server", "queries/s");
	for (i = 0; i < c->n_series; i++)
		print_series(&c->series[i], machine);
	for (i = 0; i < c->n_series; i++) {
		k = c->series[i].target->is_variant ? c->n_series - 1 : i + 1;
		for (; k < c->n_series; k++) {
			printf("  %s / %s: wall", c->series[i].target->name,
				c->series[k].target->name);
			print_ratio(&c->series[i].ratio_wall[k]);
			printf(", CPU");
			print_ratio(&c->series[i].ratio_cpu[k]);
			putchar('\n');
		}
	}
	fflush(stdout);
}
