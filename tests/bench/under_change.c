/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What clients notice while cenoted changes: an upgrade in place, a reload that replaces the pool's
 * workers, or a pause. Clients of a pool of PostgreSQL commit transactions by unix socket and by TCP;
 * some of them connect for each one. Before, during and after the changes it measures how long a
 * transaction takes.
 *
 *     under_change upgrade|reload|pause [-c CLIENTS] [-t SECONDS] [-r SECONDS] [-p MS]
 *
 * It fails if a client gets an error, or if a committed row is missing. bench/README.md has figures.
 */
#include "load.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a pause of the pool lasts. */
#define PAUSE_MS 100
/* How long the pool is left alone after a change. */
#define REST_MS  1000

struct change {
	const char *name;
	const char *about;
	/* 0, or -1 after a message. */
	int (*make)(unsigned number);
};

static struct options {
	size_t change; /* its index */
	unsigned n_clients;
	double during_s; /* how long changes are made */
	double rest_s; /* before and after them */
	double pause_ms; /* of a client, between two transactions */
} options = { .n_clients = 64, .during_s = 60, .rest_s = 20, .pause_ms = 20 };

static struct load_stage stage;
static int port;
static struct load_figures figures[LOAD_PHASES];
static uint64_t n_committed;
static unsigned n_changes;
static bool is_failed;

/* ---- the changes ---- */

/* Run cenotectl; `ret_said` gets its output. 0 or -1. */
static int
control(const char *words, char *ret_said, size_t size)
{
	char line[512];
	size_t n;
	FILE *f;

	snprintf(line, sizeof(line), "%s -r %s %s 2>&1", CNT_CENOTECTL_PATH,
		stage.pool.run_dir, words);
	f = popen(line, "r");
	if (f == NULL)
		return -1;
	n = fread(ret_said, 1, size - 1, f);
	ret_said[n] = '\0';
	if (pclose(f) == 0)
		return 0;
	fprintf(stderr, "cenotectl %s: %s", words, ret_said);
	return -1;
}

/* The next upgrade needs the end of the old process. */
static int
upgrade(unsigned n)
{
	char said[1024];
	const char *number = said + strlen("process ");
	int status = 0;
	long pid;

	(void)n;
	if (control("upgrade", said, sizeof(said)) < 0)
		return -1;
	pid = strncmp(said, "process ", strlen("process ")) == 0
		      ? strtol(number, NULL, 10)
		      : 0;
	if (pid <= 0) {
		fprintf(stderr, "cenotectl upgrade: %s", said);
		return -1;
	}
	if (waitpid(stage.pool.pid, &status, 0) != stage.pool.pid || status != 0) {
		fprintf(stderr, "the old cenoted ended with status %d\n", status);
		return -1;
	}
	stage.pool.pid = (pid_t)pid;
	return 0;
}

/* `max_row` differs each time, so the pool is changed, and its workers are replaced. */
static char *
configure(unsigned number, char *ret, size_t size)
{
	char lines[512];

	snprintf(lines, sizeof(lines),
		"sessions = 8\nmode = transaction\nqueue_timeout = 60s\n"
		"auth = trust door=tcp, trust\nmax_row = %uMB\n",
		10 + number % 2);
	return cnt_server_config(&stage.server, lines, ret, size);
}

static int
reload(unsigned number)
{
	char config[4096], said[1024];

	if (cnt_daemon_configure(
		    &stage.pool, configure(number + 1, config, sizeof(config))) < 0)
		return -1;
	return control("reload", said, sizeof(said));
}

static int
pause_and_resume(unsigned number)
{
	char said[1024];

	(void)number;
	if (control("pause --wait main", said, sizeof(said)) < 0)
		return -1;
	cnt_pause_ms(PAUSE_MS);
	return control("resume main", said, sizeof(said));
}

static const struct change changes[] = {
	{ "upgrade", "cenoted is upgraded in place", upgrade },
	{ "reload", "the pool's workers are replaced by a reload", reload },
	{ "pause", "the pool is paused, and resumed 0.1 s later", pause_and_resume },
};

#define N_CHANGES (sizeof(changes) / sizeof(changes[0]))

/* Runs beside the clients' loop. */
static void *
make_changes(void *arg)
{
	int64_t until_ms;

	(void)arg;
	cnt_pause_ms((long)(options.rest_s * 1000));
	stage.load.phase = LOAD_DURING;
	until_ms = cnt_now_ms() + (int64_t)(options.during_s * 1000);
	while (!is_failed && cnt_now_ms() < until_ms) {
		is_failed = changes[options.change].make(n_changes++) < 0;
		cnt_pause_ms(REST_MS);
	}
	stage.load.phase = LOAD_AFTER;
	cnt_pause_ms((long)(options.rest_s * 1000));
	stage.load.is_over = true;
	return NULL;
}

/* ---- the clients ---- */

/* The primary key shows a transaction that was carried out twice. */
static void
prepare(struct load *l, struct load_client *c)
{
	(void)l;
	snprintf(c->sql[1], sizeof(c->sql[1]), "insert into ledger values (%u, %llu)",
		c->user, (unsigned long long)c->n_done);
}

static void
done(struct load *l, struct load_client *c, int64_t ns)
{
	n_committed++;
	load_count(figures, l, c, ns);
}

static int
make_clients(void)
{
	char remote[128];

	snprintf(remote, sizeof(remote), "cenote://app@127.0.0.1:%d/main", port);
	stage.load.clients = calloc(options.n_clients, sizeof(*stage.load.clients));
	stage.load.n_clients = options.n_clients;
	if (stage.load.clients == NULL)
		return -1;
	/* Half of them come by TCP. Of each kind, every fourth connects for each transaction. */
	for (unsigned i = 0; i < options.n_clients; i++) {
		struct load_client *c = &stage.load.clients[i];

		c->conn = load_handle(i % 2 == 0 ? stage.pool.uri : remote);
		if (c->conn == NULL)
			return -1;
		c->user = i;
		c->comes_and_goes = i / 2 % 4 == 3;
		c->n_turns = -1;
		c->pause_ns = (int64_t)(options.pause_ms * 1e6);
		snprintf(c->sql[0], sizeof(c->sql[0]), "begin");
		snprintf(c->sql[2], sizeof(c->sql[2]), "commit");
	}
	stage.load.prepare = prepare;
	stage.load.done = done;
	return 0;
}

/* ---- the pool ---- */

static int
start(void)
{
	char config[4096], line[128];

	/* the new cenoted is a child of the old one, which ends */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
		cnt_server_start(&stage.server, CNT_POSTGRESQL, 0) < 0)
		return -1;
	port = cnt_server_free_port();
	snprintf(line, sizeof(line), "listen = 127.0.0.1:%d\ndrain_timeout = 10min\n",
		port);
	setenv("CNT_DAEMON_LINES", line, 1);
	if (cnt_server_sql(&stage.server,
		    "create table ledger (who int, n int8, primary key (who, n)); "
		    "grant all on ledger to app") < 0)
		return -1;
	return cnt_daemon_start(&stage.pool, configure(0, config, sizeof(config)));
}

/* Whether the table has all rows that were committed. A client may have been stopped in a commit. */
static bool
has_all_rows(void)
{
	char text[64];
	uint64_t n;

	if (cnt_server_ask(
		    &stage.server, "select count(*) from ledger", text, sizeof(text)) < 0)
		return false;
	n = strtoull(text, NULL, 10);
	if (n >= n_committed && n <= n_committed + stage.load.n_clients)
		return true;
	fprintf(stderr, "%llu transactions were committed, and the table has %llu rows\n",
		(unsigned long long)n_committed, (unsigned long long)n);
	return false;
}

static void
print_figures(void)
{
	static const char *const names[] = { "before", "during", "after" };

	printf("%u clients while %s, %u times in %.0f s; %llu errors\n\n",
		options.n_clients, changes[options.change].about, n_changes,
		options.during_s, (unsigned long long)stage.load.n_errors);
	load_print_head(stdout);
	for (int i = 0; i < LOAD_PHASES; i++)
		load_print(stdout, names[i], &figures[i]);
	fputs("\n", stdout);
}

/* 0: nobody noticed anything but time. */
static int
measure(void)
{
	pthread_t thread;

	if (make_clients() < 0 || pthread_create(&thread, NULL, make_changes, NULL) != 0)
		return -1;
	is_failed |= load_run(&stage.load) < 0;
	pthread_join(thread, NULL);
	print_figures();
	return !is_failed && stage.load.n_errors == 0 && has_all_rows() ? 0 : -1;
}

/* ---- options ---- */

static const char usage[] =
	"usage: under_change upgrade|reload|pause [-c CLIENTS] [-t SECONDS] "
	"[-r SECONDS] [-p MS]\n"
	"  -c  clients (64)\n"
	"  -t  how long changes are made (60 s)\n"
	"  -r  how long to measure before and after them (20 s)\n"
	"  -p  how long a client pauses between two transactions (20 ms)\n";

static int
parse(int argc, char **argv)
{
	static const struct load_option list[] = {
		{ .letter = 'c', .number = &options.n_clients },
		{ .letter = 't', .time = &options.during_s },
		{ .letter = 'r', .time = &options.rest_s },
		{ .letter = 'p', .time = &options.pause_ms },
		{ 0 },
	};

	while (argc > 1 && options.change < N_CHANGES &&
		strcmp(argv[1], changes[options.change].name) != 0)
		options.change++;
	if (argc < 2 || options.change == N_CHANGES)
		return load_usage(usage);
	return load_parse(argc, argv, list, usage);
}

int
main(int argc, char **argv)
{
	return parse(argc, argv) < 0 ? 2 : load_main(&stage, start, measure);
}
