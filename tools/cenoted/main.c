/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program cenoted: read the command line and the configuration, then run one of its commands,
 * or become the master.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/explain.h"
#include "command/newuser.h"
#include "master/master.h"
#include "master/pool.h"
#include "shared/log.h"
#include "shared/place.h"

#define DEFAULT_FILE CND_CONFIG_DIR "/cenoted.conf"

struct arguments {
	const char *file;
	const char *user; /* --user; NULL: not given */
	/* the answer to a question, of --explain-auth or --explain-sql; NULL: none was asked */
	int (*answer)(const struct cnd_config *c, char *const *words, int n_words);
	char **words; /* the question */
	int n_words;
	int is_daemon;
	int is_check;
};

static const char usage[] =
	"usage: cenoted [-d] [-c FILE]\n"
	"       cenoted --check [-c FILE]\n"
	"       cenoted --explain-auth [-c FILE] pool=NAME [user=NAME] "
	"[from=ADDRESS|unix]\n"
	"                              [tls=yes|no] [cert=yes|no] [unix=NAME]\n"
	"       cenoted --explain-sql [-c FILE] pool=NAME [user=NAME] "
	"[from=ADDRESS|unix]\n"
	"                             [application=NAME] [in_tx=yes|no] [database=NAME] "
	"[time=TIME]\n"
	"                             STATEMENT\n"
	"       cenoted --user NAME\n"
	"  -c, --config FILE  configuration (default: " DEFAULT_FILE
	")\n  -d, --daemon       go to the background when clients can connect\n      "
	"--check        read the configuration, and print it and every error\n      "
	"--explain-auth show which rule of auth decides, and why others do not\n      "
	"--explain-sql  show what a statement does, and which rule decides\n      "
	"--user NAME    print a line for a users file; ask for the password, or\n        "
	"             read it from standard input\n      --help         print this "
	"help\n      --version      print the version\nSee cenoted(8), "
	"cenoted.conf(5).\n";

/* Returns -1 to go on, or the exit status. */
static int
read_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "daemon", no_argument, NULL, 'd' },
		{ "check", no_argument, NULL, 'k' },
		{ "explain-auth", no_argument, NULL, 'x' },
		{ "explain-sql", no_argument, NULL, 's' },
		{ "user", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:d", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			a->file = optarg;
			break;
		case 'd':
			a->is_daemon = 1;
			break;
		case 'k':
			a->is_check = 1;
			break;
		case 'x':
			a->answer = cnd_explain_auth;
			break;
		case 's':
			a->answer = cnd_explain_sql;
			break;
		case 'u':
			a->user = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'v':
			puts("cenoted " CND_VERSION);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	a->words = argv + optind;
	a->n_words = argc - optind;
	if (optind == argc || a->answer != NULL)
		return -1;
	fprintf(stderr, "cenoted: unexpected argument \"%s\"\n%s", argv[optind], usage);
	return 2;
}

static void
print_errors(const struct cnd_config *c)
{
	for (size_t i = 0; i < c->n_errors; i++)
		fprintf(stderr, "%s\n", c->errors[i]);
}

static void
print_warning(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static int
check(struct cnd_config *c)
{
	int status = c->n_errors > 0;

	/* a configuration with errors is never in force */
	if (c->n_errors == 0)
		cnd_config_print(c, stdout);
	print_errors(c);
	cnd_config_warn(c, print_warning);
	cnd_config_destroy(c);
	return status;
}

static int
explain(struct cnd_config *c, const struct arguments *a)
{
	int status;

	print_errors(c);
	status = c->n_errors > 0 ? 2 : a->answer(c, a->words, a->n_words);
	cnd_config_destroy(c);
	return status;
}

/* In the parent: wait until the child says that clients can come, and end. */
_Noreturn static void
wait_for_child(int fd)
{
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* the child has printed the reason */
	_exit(n == 1 ? 0 : 1);
}

/* Returns the descriptor to write "ready" to. */
static int
go_to_background(void)
{
	int fds[2];
	pid_t pid;
	int null;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		cnd_fatal("cannot go to the background: %s", strerror(errno));
	if (pid > 0) {
		close(fds[1]);
		wait_for_child(fds[0]);
	}
	close(fds[0]);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (setsid() < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
		dup2(null, STDOUT_FILENO) < 0)
		cnd_fatal("cannot go to the background: %s", strerror(errno));
	if (null > STDERR_FILENO)
		close(null);
	return fds[1];
}

static void
warn_of_settings(const struct cnd_config *c, int is_daemon)
{
	if (is_daemon && strcmp(c->log, "stderr") == 0)
		cnd_log(LOG_WARNING, "log = stderr has no use in the background; set it "
				     "to syslog or a file");
	if (geteuid() == 0 && c->uid == 0)
		cnd_log(LOG_WARNING, "the workers run as root; set user in [cenoted]");
	for (size_t i = 0; i < c->n_pools && c->uid != 0; i++) {
		if (cnd_pool_config_account(c, &c->pools[i]).uid == 0)
			cnd_log(LOG_WARNING, "pool %s: the workers run as root",
				c->pools[i].name);
	}
	cnd_config_warn(c, cnd_log_warning);
}

/* If standard error is closed, the log must not go into the file that gets its number. */
static void
open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int
main(int argc, char **argv)
{
	static const struct cnd_backend *backends[CND_CONFIG_POOLS + 1];
	struct arguments a = { .file = DEFAULT_FILE };
	struct cnd_config *c;
	int ready_fd = -1;
	int status;
	int r;

	open_standard_files();
	status = read_arguments(argc, argv, &a);

	if (status >= 0)
		return status;
	if (a.user != NULL)
		return cnd_newuser(a.user);
	c = cnd_config_load(a.file);
	if (c->n_pools <= CND_CONFIG_POOLS)
		cnd_pool_check_backends(c, backends);
	if (a.answer != NULL)
		return explain(c, &a);
	if (a.is_check)
		return check(c);
	if (c->n_errors > 0) {
		print_errors(c);
		fprintf(stderr, "cenoted: not started\n");
		cnd_config_destroy(c);
		return 1;
	}
	r = cnd_log_open(c->log);
	if (r < 0) {
		fprintf(stderr, "cenoted: log %s: %s\n", c->log, cnd_place_error(-r));
		cnd_config_destroy(c);
		return 1;
	}
	cnd_log_set_format((enum cnd_log_format)c->log_format);
	cnd_log_set_level(c->log_level);
	warn_of_settings(c, a.is_daemon);
	if (a.is_daemon)
		ready_fd = go_to_background();
	return cnd_master_run(c, backends, ready_fd);
}
