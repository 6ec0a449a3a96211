/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program cenotectl: sends one command to the admin socket of a running cenoted, and shows the answer. The master checks the
 * command; this program knows only how an answer is written (shared/report.h of cenoted). Only the command convert needs no
 * cenoted: convert.c carries it out.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "convert.h"
#include "output.h"

#define DEFAULT_RUN_DIR "/run/cenote"
#define COMMAND_MAX     256u
#define COLUMNS_MAX     32u

enum {
	STATUS_OK = 0,
	STATUS_REFUSED = 1, /* cenoted answered with an error */
	STATUS_FAILED = 2 /* bad arguments, or no answer */
};

struct arguments {
	const char *run_dir;
	const struct output_ops *format;
	char command[COMMAND_MAX];
};

static const char usage[] =
	"usage: cenotectl [-r DIR] [--format table|csv|json] COMMAND\n"
	"  -r, --run-dir DIR  run_dir of cenoted (default: $CENOTE_RUN_DIR, or "
	"" DEFAULT_RUN_DIR ")\n"
	"      --format NAME  how to show a table (default: table)\n"
	"      --help         print this help\n"
	"      --version      print the version\n"
	"Commands:\n"
	"  status                     cenoted and its pools\n"
	"  pools, servers, workers, clients, pins, times\n"
	"                             a table of them\n"
	"  digests [--reset]          statistics of statements, or begin them anew\n"
	"  reload                     read the configuration again\n"
	"  drain [--now]              end cenoted, and wait for that\n"
	"  upgrade                    replace the running cenoted by the installed one\n"
	"  log-level LEVEL            error, warning, notice, info or debug\n"
	"  pause [--wait] POOL|all    let no new transaction begin\n"
	"  resume POOL|all            let them begin again\n"
	"  kill PID                   end the session of a client, or of a worker's "
	"client\n"
	"  convert [--users NEW] FILE print a cenoted.conf made from a pgbouncer.ini or\n"
	"                             sqlrelay.conf; this needs no cenoted\n"
	"See cenotectl(1).\n";

/* ---- arguments ---- */

static int
fail_usage(void)
{
	fputs(usage, stderr);
	return STATUS_FAILED;
}

static int
set_format(struct arguments *a, const char *name)
{
	a->format = output_find(name);
	if (a->format != NULL)
		return -1;
	fprintf(stderr, "cenotectl: unknown format \"%s\"; there are", name);
	for (size_t i = 0; output_name(i) != NULL; i++)
		fprintf(stderr, " %s", output_name(i));
	fputs("\n", stderr);
	return STATUS_FAILED;
}

/* Join the words. -1 to go on, or the exit status. */
static int
set_command(struct arguments *a, char **words, int n)
{
	size_t len = 0;

	if (n == 0)
		return fail_usage();
	for (int i = 0; i < n; i++) {
		if (*words[i] == '\0' || strpbrk(words[i], " \n") != NULL) {
			fprintf(stderr,
				"cenotectl: \"%s\" cannot be a word of a command\n",
				words[i]);
			return STATUS_FAILED;
		}
		len += (size_t)snprintf(a->command + len, sizeof(a->command) - len,
			"%s%s", words[i], i + 1 < n ? " " : "\n");
		if (len >= sizeof(a->command)) {
			fprintf(stderr, "cenotectl: the command is too long\n");
			return STATUS_FAILED;
		}
	}
	return -1;
}

/* -1 to go on, or the exit status. */
static int
read_arguments(int argc, char **argv, struct arguments *a)
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
				return STATUS_FAILED;
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_OK;
		case 'v':
			puts("cenotectl " CTL_VERSION);
			return STATUS_OK;
		default:
			return fail_usage();
		}
	}
	argc -= optind;
	argv += optind;
	/* it needs no cenoted */
	if (argc > 0 && strcmp(argv[0], "convert") == 0)
		return convert_run(argc, argv);
	return set_command(a, argv, argc);
}

/* ---- the connection ---- */

static const char *
hint_for(int error)
{
	if (error == ENOENT || error == ECONNREFUSED)
		return ": start cenoted, or name its run_dir with --run-dir";
	return error == EACCES ? ": run cenotectl as root, or as the user of cenoted"
			       : "";
}

/* Send the command. The stream for the answer; NULL: it failed, and the reason was printed. */
static FILE *
ask(const struct arguments *a)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int n = snprintf(
		address.sun_path, sizeof(address.sun_path), "%s/admin.sock", a->run_dir);
	size_t len = strlen(a->command);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *answer;

	if (fd < 0 || n >= (int)sizeof(address.sun_path) ||
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (n >= (int)sizeof(address.sun_path))
			errno = ENAMETOOLONG;
		fprintf(stderr, "cenotectl: %s/admin.sock: %s%s\n", a->run_dir,
			strerror(errno), hint_for(errno));
		return NULL;
	}
	/* if cenoted refuses, its answer has the reason */
	(void)send(fd, a->command, len, MSG_NOSIGNAL);
	answer = fdopen(fd, "r");
	if (answer == NULL)
		fprintf(stderr, "cenotectl: %s\n", strerror(errno));
	return answer;
}

/* ---- the answer ---- */

struct table {
	struct output *out; /* NULL: no columns yet */
	struct output_column columns[COLUMNS_MAX];
	size_t n;
};

static void
begin_table(struct table *t, const struct arguments *a, const struct csv_reader *r)
{
	static const struct output_settings settings = {
		.null_text = "", .separator = "|", .has_header = 1
	};

	for (t->n = 0; t->n + 1 < r->n_fields && t->n < COLUMNS_MAX; t->n++) {
		const char *name = r->fields[t->n + 1].text;
		int is_number = *name == '#';

		t->columns[t->n].name =
			mem_dup(name + is_number, strlen(name + is_number));
		t->columns[t->n].type = is_number ? CENOTE_TYPE_INT64 : CENOTE_TYPE_TEXT;
	}
	t->out = output_begin(a->format, &settings, stdout, t->columns, t->n);
}

/* -1: the answer goes on; otherwise the exit status. */
static int
show_line(struct table *t, const struct arguments *a, const struct csv_reader *r)
{
	const char *kind = r->fields[0].text;
	const char *text = r->n_fields > 1 ? r->fields[1].text : "";

	if (strcmp(kind, "columns") == 0) {
		begin_table(t, a, r);
	} else if (strcmp(kind, "row") == 0 && t->out != NULL &&
		   r->n_fields == t->n + 1) {
		output_row(t->out, r->fields + 1);
	} else if (strcmp(kind, "say") == 0) {
		puts(text);
	} else if (strcmp(kind, "warning") == 0) {
		fprintf(stderr, "cenotectl: %s\n", text);
	} else if (strcmp(kind, "ok") == 0) {
		if (*text != '\0')
			puts(text);
		return STATUS_OK;
	} else if (strcmp(kind, "error") == 0) {
		fprintf(stderr, "cenotectl: %s\n", text);
		return STATUS_REFUSED;
	}
	return -1;
}

static int
show(FILE *answer, const struct arguments *a)
{
	struct table t = { .out = NULL };
	struct csv_reader r;
	int status = -1;

	csv_reader_init(&r, answer, CSV_TAB);
	while (status < 0 && csv_read(&r) > 0)
		status = show_line(&t, a, &r);
	if (status == STATUS_OK && csv_read(&r) > 0)
		status = STATUS_FAILED;
	csv_reader_finish(&r);
	if (t.out != NULL && output_end(t.out, status == STATUS_OK) < 0)
		status = STATUS_FAILED;
	for (size_t i = 0; i < t.n; i++)
		free((char *)t.columns[i].name);
	if (status >= 0)
		return fflush(stdout) == 0 ? status : STATUS_FAILED;
	fprintf(stderr, "cenotectl: cenoted closed the connection before its answer was "
			"complete; see its log\n");
	return STATUS_FAILED;
}

int
main(int argc, char **argv)
{
	struct arguments a = { .run_dir = getenv("CENOTE_RUN_DIR"),
		.format = output_find("table") };
	int status;
	FILE *answer;

	if (a.run_dir == NULL || *a.run_dir == '\0')
		a.run_dir = DEFAULT_RUN_DIR;
	status = read_arguments(argc, argv, &a);
	if (status >= 0)
		return status;
	answer = ask(&a);
	if (answer == NULL)
		return STATUS_FAILED;
	status = show(answer, &a);
	(void)fclose(answer);
	return status;
}
