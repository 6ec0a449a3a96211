/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenote-bench: reads the options, finds or starts the pool, measures each case and prints the
 * report.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "figures.h"
#include "report.h"

static volatile sig_atomic_t interrupted;

static void
on_signal(int sig)
{
	interrupted = sig;
}

static void
catch_signals(void)
{
	struct sigaction sa;
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	/* A second signal ends the program at once. */
	sa.sa_flags = (int)SA_RESETHAND | SA_RESTART;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}

/* Replace the line of progress, on a terminal only. */
__attribute__((format(printf, 1, 2))) static void
show_progress(const char *format, ...)
{
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	fputc('\r', stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	/* Clear the rest of a longer line. */
	fputs("\033[K", stderr);
}

static void
show_step(const struct cnb_progress *progress, const struct cnb_case *c,
	const struct cnb_target *target, uint32_t round, uint32_t rounds)
{
	char what[40] = "warming up";

	if (round > 0)
		snprintf(what, sizeof(what), "round %u of %u", round, rounds);
	show_progress("[%u/%u] %s: %s, %s", progress->n_done + 1, progress->n_cases,
		c->workload->name, target->name, what);
}

static int
any_at(const struct cnb_options *options, enum cnb_place place)
{
	size_t i;

	for (i = 0; i < options->n_targets; i++) {
		if (options->targets[i]->place == place)
			return 1;
	}
	return 0;
}

static int
needs_rows(const struct cnb_workload *w)
{
	return w->needs_rows;
}

static int
needs_retail(const struct cnb_workload *w)
{
	return w->needs_retail;
}

static int
any_needs(const struct cnb_options *options, int (*needs)(const struct cnb_workload *w))
{
	size_t i;

	for (i = 0; i < options->n_workloads; i++) {
		if (needs(options->workloads[i]))
			return 1;
	}
	return 0;
}

/* Find all places: those that were given, or a new pool with its file. */
static int
find_env(const struct cnb_options *options, struct cnb_bench *bench,
	struct cnb_daemon *daemon, struct cnb_error *ret_error)
{
	bench->env = options->env;
	memcpy(bench->roots, options->roots, sizeof(bench->roots));
	memcpy(bench->parts, options->parts, sizeof(bench->parts));
	bench->n_roots = options->n_roots;
	if (options->env.places[CNB_PLACE_POOL] != NULL)
		return 0;
	if (any_at(options, CNB_PLACE_POOL)) {
		show_progress("starting cenoted");
		if (cnb_daemon_start(options, daemon, ret_error) < 0)
			return -1;
		bench->roots[bench->n_roots] = daemon->pid;
		bench->parts[bench->n_roots++] = CNB_PART_CENOTED;
	} else if (any_at(options, CNB_PLACE_FILE) &&
		   cnb_daemon_directory(daemon, ret_error) < 0) {
		return -1;
	}
	bench->env.places[CNB_PLACE_POOL] = daemon->uri;
	bench->env.places[CNB_PLACE_FILE] = daemon->file;
	return 0;
}

/* Report the TLS parameters of each target: the operating system's order of ciphers may decide what
 * is measured. */
static int
tell_tls(const struct cnb_bench *bench, struct cnb_error *ret_error)
{
	const struct cnb_options *options = bench->options;

	for (size_t i = 0; i < options->n_targets; i++) {
		const struct cnb_target *t = options->targets[i];
		struct cnb_session *session;
		char text[160];

		if (t->tell_tls == NULL)
			continue;
		if (t->open(&bench->env, &session, ret_error) < 0)
			return -1;
		t->tell_tls(session, text, sizeof(text));
		t->close(session);
		printf("%s: %s\n", t->name, *text != '\0' ? text : "no TLS");
	}
	return 0;
}

static int
measure_cases(const struct cnb_bench *bench, const struct cnb_machine *machine,
	struct cnb_case *cases, size_t n_cases, struct cnb_error *ret_error)
{
	size_t i;
	int r;

	for (i = 0; i < n_cases; i++) {
		bench->progress->n_done = (uint32_t)i;
		r = cnb_measure(bench, &cases[i], ret_error);
		show_progress("%s", "");
		if (r < 0)
			return r;
		if (!bench->options->is_json)
			cnb_report_text_case(&cases[i], machine);
	}
	if (bench->options->is_json)
		cnb_report_json(machine, bench->options, cases, n_cases);
	return 0;
}

static int
run_bench(
	struct cnb_bench *bench, struct cnb_machine *machine, struct cnb_error *ret_error)
{
	static struct cnb_case cases[CNB_MAX_CASES];
	const struct cnb_options *options = bench->options;
	struct cnb_progress progress = { show_step, 0, 0 };
	size_t n_cases, i;
	int r, has_rows = any_needs(options, needs_rows);
	int has_retail = any_needs(options, needs_retail);

	for (i = 0; has_rows && i < options->n_targets; i++) {
		show_progress("%s: making a table", options->targets[i]->name);
		if (cnb_setup(options->targets[i], &bench->env, ret_error) < 0)
			return -1;
	}
	for (i = 0; has_retail && i < options->n_targets; i++) {
		show_progress("%s: making retail's tables", options->targets[i]->name);
		if (cnb_retail_setup(options->targets[i], &bench->env,
			    options->retail_rows, ret_error) < 0)
			return -1;
	}
	show_progress("%s", "");
	for (i = 0; i < bench->n_roots; i++)
		machine->is_known[bench->parts[i]] = 1;
	if (!options->is_json) {
		cnb_report_text_begin(machine, options);
		if (tell_tls(bench, ret_error) < 0)
			return -1;
	}
	n_cases = cnb_cases_make(options, cases);
	progress.n_cases = (uint32_t)n_cases;
	bench->progress = &progress;
	r = measure_cases(bench, machine, cases, n_cases, ret_error);
	for (i = 0; i < n_cases; i++)
		cnb_case_finish(&cases[i]);
	bench->progress = NULL;
	for (i = 0; has_rows && i < options->n_targets; i++)
		cnb_cleanup(options->targets[i], &bench->env);
	for (i = 0; has_retail && i < options->n_targets; i++)
		cnb_retail_cleanup(options->targets[i], &bench->env);
	return r;
}

static int
run_here(const struct cnb_options *options, struct cnb_error *ret_error)
{
	struct cnb_bench bench = { .options = options, .interrupted = &interrupted };
	struct cnb_daemon daemon = { 0 };
	struct cnb_machine machine = { 0 };
	int r;

	cnb_machine_read(&machine);
	r = options->is_pinned ? cnb_pin(options->cpu, &machine.pinned_cpu, ret_error)
			       : 0;
	if (r == 0)
		r = find_env(options, &bench, &daemon, ret_error);
	if (r == 0)
		r = run_bench(&bench, &machine, ret_error);
	cnb_daemon_stop(&daemon);
	return r;
}

int
main(int argc, char **argv)
{
	struct cnb_options options;
	struct cnb_error error;
	int r;

	r = cnb_options_parse(argc, argv, &options);
	if (r != 0)
		return r < 0 ? 2 : 0;
	if (options.compare[0] != NULL)
		return cnb_compare_files(
			options.compare[0], options.compare[1], options.tolerance);
	catch_signals();
	r = options.report_dir != NULL ? cnb_report_run(&options, &interrupted, &error)
				       : run_here(&options, &error);
	if (r == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		snprintf(error.text, sizeof(error.text), "cannot write the report");
		r = -1;
	}
	if (r < 0) {
		show_progress("%s", "");
		fprintf(stderr, "cenote-bench: %s\n", error.text);
	}
	if (interrupted)
		raise(interrupted);
	return r < 0 ? 1 : 0;
}
