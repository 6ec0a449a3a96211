/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program cenotectl: reads the options, and gives one command to a running cenoted (admin.c of sqlsh). Only the command convert
 * needs no cenoted: convert.c carries it out.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin.h"
#include "convert.h"

#define DEFAULT_RUN_DIR "/run/cenote"

static const char usage[] =
	"usage: cenotectl [-r DIR] [--format NAME] COMMAND\n"
	"  -r, --run-dir DIR  run_dir of cenoted (default: $CENOTE_RUN_DIR, or "
	"" DEFAULT_RUN_DIR ")\n"
	"      --format NAME  how to show a table: table, expanded, csv, tsv, json or "
	"unaligned\n"
	"      --help         print this help\n"
	"      --version      print the version\n"
	"Commands:\n";

static const char usage_end[] =
	"  convert [--users NEW] FILE print a cenoted.conf made from a pgbouncer.ini or\n"
	"                             sqlrelay.conf; this needs no cenoted\n"
	"See cenotectl(1).\n";

/* ---- arguments ---- */

static void
print_usage(FILE *to)
{
	static const char *const commands[][2] = {
#define COMMAND(name, args, help) { name args, help },
		ADMIN_COMMANDS(COMMAND)
#undef COMMAND
	};

	fputs(usage, to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		(void)fprintf(to, "  %-26s %s\n", commands[i][0], commands[i][1]);
	fputs(usage_end, to);
}

static int
fail_usage(void)
{
	print_usage(stderr);
	return ADMIN_FAILED;
}

static int
set_format(struct admin *a, const char *name)
{
	a->format = output_find(name);
	if (a->format != NULL)
		return -1;
	fprintf(stderr, "cenotectl: unknown format \"%s\"; there are", name);
	for (size_t i = 0; output_name(i) != NULL; i++)
		fprintf(stderr, " %s", output_name(i));
	fputs("\n", stderr);
	return ADMIN_FAILED;
}

/* Read the options, and collect the words of the command. -1 to go on, or the exit status. */
static int
read_arguments(int argc, char **argv, struct admin *a, struct text *command)
{
	static const struct option options[] = {
		{ "run-dir", required_argument, NULL, 'r' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	/* "+": the options behind the command are its own */
	while ((c = getopt_long(argc, argv, "+r:", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			a->run_dir = optarg;
			break;
		case 'f':
			if (set_format(a, optarg) >= 0)
				return ADMIN_FAILED;
			break;
		case 'h':
			print_usage(stdout);
			return ADMIN_OK;
		case 'v':
			puts("cenotectl " CTL_VERSION);
			return ADMIN_OK;
		default:
			return fail_usage();
		}
	}
	argc -= optind;
	argv += optind;
	/* it needs no cenoted */
	if (argc > 0 && strcmp(argv[0], "convert") == 0)
		return convert_run(argc, argv);
	if (argc == 0)
		return fail_usage();
	for (int i = 0; i < argc; i++) {
		if (admin_add_word(a, command, argv[i]) < 0)
			return ADMIN_FAILED;
	}
	return -1;
}

static void
complain(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "cenotectl: %s\n", text);
}

int
main(int argc, char **argv)
{
	static const struct output_settings settings = {
		.null_text = "", .separator = "|", .has_header = 1
	};
	struct admin a = { .run_dir = getenv("CENOTE_RUN_DIR"),
		.program = "cenotectl",
		.absent = "start cenoted, or name its run_dir with --run-dir",
		.format = output_find("table"),
		.settings = &settings,
		.out = stdout,
		.complain = complain };
	struct text command = { 0 };
	int status;

	display_init();
	if (a.run_dir == NULL || *a.run_dir == '\0')
		a.run_dir = DEFAULT_RUN_DIR;
	status = read_arguments(argc, argv, &a, &command);
	if (status < 0)
		status = admin_run(&a, &command);
	text_finish(&command);
	return status;
}
