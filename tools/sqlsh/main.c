/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sqlsh: reads the options, and runs -c, -f and standard input. The state is the shell that main()
 * makes.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"
#include "pager.h"
#include "usage.h"

/* A -c or -f, in the order of the command line. */
struct job {
	int is_file;
	const char *text;
};

struct options {
	struct job *jobs;
	size_t n_jobs;
	const char *target;
	const char *output;
	int is_single_transaction;
	int has_no_rc;
	int on_error; /* -1: depends on the input */
};

enum {
	OPT_ON_ERROR = 256,
	OPT_FORMAT,
	OPT_NO_HEADER,
	OPT_NULL,
	OPT_TIMING,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "command", required_argument, NULL, 'c' },
	{ "file", required_argument, NULL, 'f' },
	{ "variable", required_argument, NULL, 'v' },
	{ "output", required_argument, NULL, 'o' },
	{ "single-transaction", no_argument, NULL, '1' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "password", no_argument, NULL, 'W' },
	{ "no-password", no_argument, NULL, 'w' },
	{ "no-rc", no_argument, NULL, 'n' },
	{ "echo", no_argument, NULL, 'E' },
	{ "on-error", required_argument, NULL, OPT_ON_ERROR },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "no-header", no_argument, NULL, OPT_NO_HEADER },
	{ "null", required_argument, NULL, OPT_NULL },
	{ "timing", no_argument, NULL, OPT_TIMING },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static const char usage_text[] =
	"usage: sqlsh [-1EnqWw] [-c SQL] [-f FILE] [-o FILE] [-v NAME[:TYPE]=VALUE]\n"
	"             [--format=table|expanded|csv|tsv|json|unaligned] [--no-header]\n"
	"             [--null=TEXT] [--on-error=stop|continue] [--timing] URI|POOL\n";

static const char help_text[] =
	"\n"
	"  -c, --command=SQL       run statements or a \\command; may be repeated\n"
	"  -f, --file=FILE         run a file (- is standard input); may be repeated\n"
	"  -v, --variable=NAME[:TYPE]=VALUE\n"
	"                          value of :NAME in statements; TYPE is text, int, "
	"double,\n"
	"                          decimal, bool, bytes or null\n"
	"  -1, --single-transaction\n"
	"                          one transaction, which the first error rolls back\n"
	"  -o, --output=FILE       write results to FILE\n"
	"  -q, --quiet             only results: no command tags\n"
	"  -E, --echo              write each statement to standard error before running "
	"it\n"
	"  -W, --password          ask for the password before the first login\n"
	"  -w, --no-password       never ask for a password\n"
	"  -n, --no-rc             do not read the start-up file\n"
	"      --format=FORMAT     table (default), expanded, csv, tsv, json, unaligned\n"
	"      --no-header         rows only\n"
	"      --null=TEXT         text for NULL (not in csv, tsv, json); default "
	"NULL\n"
	"      --on-error=stop|continue\n"
	"                          after an error; default: stop, and continue at a "
	"terminal\n"
	"      --timing            show on standard error how long each statement took\n"
	"\n" USAGE_POOL " Without -c and -f,\n"
	"sqlsh reads statements from standard input, with a prompt at a terminal.\n"
	"Exit status: 0 success, 1 a statement or command failed, 2 wrong usage, or no\n"
	"connection. See sqlsh(1).\n";

static void
add_job(struct options *o, int is_file, const char *text)
{
	o->jobs = mem_resize(o->jobs, o->n_jobs + 1, sizeof(o->jobs[0]));
	o->jobs[o->n_jobs++] = (struct job){ is_file, text };
}

static int
bad_option(const char *option, const char *value, const char *why)
{
	(void)fprintf(stderr, "sqlsh: %s %s: %s\n", option, value, why);
	return -1;
}

static int
take_on_error(struct options *o, const char *value)
{
	if (strcmp(value, "stop") != 0 && strcmp(value, "continue") != 0)
		return bad_option("--on-error", value, "stop or continue expected");
	o->on_error = *value == 's';
	return 0;
}

static int
take_format(struct shell *sh, const char *value)
{
	const struct output_ops *format = output_find(value);

	if (!format)
		return bad_option("--format", value,
			"table, expanded, csv, tsv, json or unaligned expected");
	sh->format = sh->format_before = format;
	return 0;
}

static int
take_bind(struct shell *sh, const char *value)
{
	const char *wrong = binds_set(&sh->binds, value);

	return wrong ? bad_option("-v", value, wrong) : 0;
}

static void
take_flag(struct options *o, struct shell *sh, int option)
{
	switch (option) {
	case '1':
		o->is_single_transaction = 1;
		break;
	case 'n':
		o->has_no_rc = 1;
		break;
	case 'q':
		sh->is_quiet = 1;
		break;
	case 'W':
		sh->asking = PASSWORD_ALWAYS;
		break;
	case 'w':
		sh->asking = PASSWORD_NEVER;
		break;
	case 'E':
		sh->is_echo = 1;
		break;
	case OPT_NO_HEADER:
		sh->settings.has_header = 0;
		break;
	default:
		sh->is_timing = 1;
	}
}

static int
take_option(struct options *o, struct shell *sh, int option, const char *value)
{
	switch (option) {
	case 'c':
	case 'f':
		add_job(o, option == 'f', value);
		return 0;
	case 'v':
		return take_bind(sh, value);
	case 'o':
		o->output = value;
		return 0;
	case OPT_ON_ERROR:
		return take_on_error(o, value);
	case OPT_FORMAT:
		return take_format(sh, value);
	case OPT_NULL:
		shell_set_null(sh, value);
		return 0;
	case OPT_HELP:
		usage_show_help(usage_text, help_text);
	case OPT_VERSION:
		usage_show_version(cenote_version());
	case '?':
		return -1;
	default:
		take_flag(o, sh, option);
		return 0;
	}
}

static int
parse_options(struct options *o, struct shell *sh, int argc, char **argv)
{
	int option, r = 0;

	while (r == 0 && (option = getopt_long(argc, argv, "1EnqWwc:f:o:v:", long_options,
				  NULL)) != -1)
		r = take_option(o, sh, option, optarg);
	if (r == 0 && optind != argc - 1) {
		(void)fprintf(stderr, "sqlsh: %s\n",
			optind < argc ? "more than one URI or pool was named"
				      : "no URI or pool was named");
		r = -1;
	}
	if (r == 0 && o->is_single_transaction && o->on_error == 0) {
		(void)fputs("sqlsh: -1 stops at the first error: it does not go with "
			    "--on-error=continue\n",
			stderr);
		r = -1;
	}
	if (r == 0)
		o->target = argv[optind];
	else
		(void)fputs(usage_text, stderr);
	return r;
}

/* If a standard descriptor is closed, the next file would get its number, and our output. Open it
 * in the wrong direction instead, so that using it fails. */
static int
init_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -1;
	}
	return 0;
}

static void
init_shell(struct shell *sh, const struct options *o)
{
	const char *term = getenv("TERM"), *pager = getenv("PAGER");
	int is_terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;

	sh->is_interactive =
		o->n_jobs == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	sh->stops_on_error = o->on_error >= 0 ? o->on_error : !sh->is_interactive;
	sh->is_dimming = is_terminal && !getenv("NO_COLOR");
	if (!pager)
		pager = PAGER_DEFAULT;
	sh->pager = is_terminal && isatty(STDIN_FILENO) && *pager ? pager : NULL;
	shell_adapt_output(sh);
}

static int
run_jobs(struct shell *sh, const struct options *o)
{
	size_t i;
	int r = RUN_OK;

	if (o->n_jobs == 0)
		return input_run_stream(sh, stdin, "stdin");
	for (i = 0; i < o->n_jobs; i++) {
		const struct job *job = &o->jobs[i];

		r = job->is_file ? input_run_file(sh, job->text)
				 : input_run_text(sh, job->text);
		if (input_stops(sh, r))
			break;
	}
	return r;
}

static int
run_script(struct shell *sh, const struct options *o)
{
	int r;

	if (o->is_single_transaction && session_do(sh, SESSION_BEGIN) != RUN_OK)
		return EXIT_SQL_ERROR;
	r = run_jobs(sh, o);
	if (r == RUN_INTERRUPTED)
		interrupt_die(SIGINT);
	/* After an error, the end of the session rolls back. */
	if (o->is_single_transaction && sh->status == 0 &&
		session_do(sh, SESSION_COMMIT) != RUN_OK)
		sh->status = cenote_is_connected(sh->conn) ? EXIT_SQL_ERROR : EXIT_USAGE;
	return sh->status;
}

/* Whether there is nothing to do but to ask or to control cenoted. That also works while no session can be had. */
static int
needs_no_session(const struct shell *sh, const struct options *o)
{
	size_t i;

	for (i = 0; i < o->n_jobs; i++) {
		if (o->jobs[i].is_file || !cmd_needs_no_session(o->jobs[i].text))
			return 0;
	}
	return o->n_jobs > 0 && !o->is_single_transaction &&
	       sh->asking != PASSWORD_ALWAYS;
}

static int
run(struct shell *sh, const struct options *o)
{
	int r;

	init_shell(sh, o);
	r = needs_no_session(sh, o) ? session_name(sh, o->target)
				    : session_open(sh, o->target);
	if (r != RUN_OK)
		return EXIT_USAGE;
	if (o->output && shell_redirect(sh, o->output) != RUN_OK)
		return EXIT_USAGE;
	if (sh->is_interactive)
		return interactive_run(sh, !o->has_no_rc);
	return run_script(sh, o);
}

int
main(int argc, char **argv)
{
	struct options o = { .on_error = -1 };
	struct shell sh;
	int status;

	if (init_standard_files() < 0)
		return EXIT_USAGE;
	display_init();
	interrupt_init();
	shell_init(&sh);
	if (parse_options(&o, &sh, argc, argv) < 0)
		status = EXIT_USAGE;
	else
		status = run(&sh, &o);
	shell_finish(&sh);
	free(o.jobs);
	return status;
}
