/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

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

void
cnb_report_text_begin(
	const struct cnb_machine *machine, const struct cnb_options *options)
{
	printf("%s, %ld CPUs, %s; ", machine->cpu_model, machine->n_cpus,
		machine->kernel);
	if (machine->pinned_cpu >= 0)
		printf("%s on CPU %d", options->uri != NULL ? "clients" : "all processes",
			machine->pinned_cpu);
	else
		printf("processes not bound to a CPU");
	printf("; %u client%s\n", options->clients, options->clients == 1 ? "" : "s");
	printf("Microseconds per query, median of %u rounds [middle half of them]; CPU "
	       "is "
	       "that of%s\n",
		options->rounds,
		machine->is_daemon_known
			? " the clients and of all processes of cenoted together"
			: " the clients only, since --daemon-pid was not given");
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

void
cnb_report_text_case(const struct cnb_case *c, int is_daemon_known)
{
	const struct cnb_series *base = &c->series[c->n_series - 1];
	size_t i;

	printf("\n%s", c->workload->name);
	if (c->workload->has_points)
		printf(", %u quer%s per connection", c->queries,
			c->queries == 1 ? "y" : "ies");
	printf(": %s\n", c->workload->about);
	printf("  %-8s %8s %-17s %8s %-17s %9s %9s %11s\n", "target", "wall", "", "CPU",
		"", "client", "cenoted", "queries/s");
	for (i = 0; i < c->n_series; i++) {
		const struct cnb_series *s = &c->series[i];

		printf("  %-8s", s->target->name);
		print_summary(&s->wall);
		print_summary(&s->cpu);
		printf(" %9.2f", s->client.median);
		if (s->target->is_pooled && is_daemon_known)
			printf(" %9.2f", s->daemon.median);
		else
			printf(" %9s", s->target->is_pooled ? "?" : "-");
		printf(" %11.0f", 1e6 / s->wall.median);
		if (s->n_disturbed > 0)
			printf("  (rounds taken again: %u)", s->n_disturbed);
		putchar('\n');
	}
	for (i = 0; i + 1 < c->n_series; i++) {
		printf("  %s / %s: wall", c->series[i].target->name, base->target->name);
		print_ratio(&c->series[i].ratio_wall);
		printf(", CPU");
		print_ratio(&c->series[i].ratio_cpu);
		putchar('\n');
	}
	fflush(stdout);
}
