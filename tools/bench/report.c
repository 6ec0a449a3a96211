/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command report: runs a table of sets of measurements on the servers that are there, and writes
 * a directory. main.c calls it. The state is struct cnb_runner.
 *
 * Each case is measured by a process of its own, which sends its figures through a socket. So a case
 * that fails, or a library that keeps settings of its process, does not affect the next one.
 */
#include "report_internal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cenote/cenote.h>

#include "programs.h"

/* A case may take three times as long as planned, and this much more. After that, it hangs. */
#define PATIENCE_NS 120000000000

const char *const cnb_kind_names[CNB_N_KINDS] = { "sqlite", "postgresql", "mariadb" };

static const enum cnb_service services[CNB_N_KINDS] = { 0, CNB_POSTGRESQL, CNB_MARIADB };

/* The target without a pool. */
static const char *const direct_targets[CNB_N_KINDS] = { "direct", "postgresql",
	"mariadb" };

const char *
cnb_report_pool(enum cnb_pool pool, enum cnb_kind kind)
{
	return kind == CNB_KIND_SQLITE ? "bench"
				       : cnb_server_pools[pool].names[services[kind]];
}

/* --sets names them. SQLite, PostgreSQL, MariaDB is the order of `kinds`. */
static const struct cnb_set sets[] = {
	{ .name = "queries",
		.workloads = "rows",
		.pool = CNB_POOL_HELD,
		.is_pinned = 1,
		.kinds = { 1, 1, 1 },
		.clients = { 1 },
		.quick_clients = { 1 } },
	{ .name = "work",
		.workloads = "connect,steady,prepared,medium,large,bulk",
		.pool = CNB_POOL_HELD,
		.is_pinned = 1,
		.kinds = { 1, 1, 1 },
		.clients = { 1 },
		.quick_clients = { 1 } },
	{ .name = "work",
		.workloads = "copy",
		.pool = CNB_POOL_HELD,
		.is_pinned = 1,
		.kinds = { 0, 1, 0 },
		.clients = { 1 },
		.quick_clients = { 1 } },
	{ .name = "pipeline",
		.workloads = "pipeline,steady",
		.pool = CNB_POOL_HELD,
		.is_pinned = 1,
		.kinds = { 0, 1, 0 },
		.clients = { 1 },
		.quick_clients = { 1 } },
	{ .name = "clients",
		.workloads = "transaction",
		.pool = CNB_POOL_TRANSACTION,
		.kinds = { 0, 1, 1 },
		.clients = { 1, 4, 16, 64, 256 },
		.quick_clients = { 1, 8, 64 } },
	{ .name = "think",
		.workloads = "think",
		.pool = CNB_POOL_TRANSACTION,
		.kinds = { 0, 1, 1 },
		.clients = { 200 },
		.quick_clients = { 200 } },
	{ .name = "idle",
		.workloads = "idle",
		.pool = CNB_POOL_TRANSACTION,
		.kinds = { 0, 1, 1 },
		.clients = { 100, 500, 2000 },
		.quick_clients = { 50, 200 } },
	{ .name = "tls",
		.workloads = "connect,steady,large",
		.pool = CNB_POOL_HELD,
		.is_pinned = 1,
		.kinds = { 1, 0, 0 },
		.targets = "TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,"
			   "TLS_CHACHA20_POLY1305_SHA256,"
			   "ECDHE-RSA-AES256-GCM-SHA384,ECDHE-RSA-AES256-SHA384,"
			   "ECDHE-RSA-CHACHA20-POLY1305,clear",
		.clients = { 1 },
		.quick_clients = { 1 } },
	{ .name = "retail",
		.workloads = "retail",
		.pool = CNB_POOL_RETAIL,
		.kinds = { 0, 1, 1 },
		.processes = 4,
		.crowd_s = 8,
		.quick_crowd_s = 2,
		.clients = { 250, 500, 1000, 2000, 3500, 5250 },
		.quick_clients = { 500, 5250 } },
};

#define N_SETS (sizeof(sets) / sizeof(sets[0]))

/* Queries per connection in a quick report. */
static const uint32_t quick_points[] = { 1, 3, 10, 30 };

/* -------------------------------------------------------------- progress -- */

#define BAR_WIDTH 30

static void
show(const struct cnb_runner *r, const char *what)
{
	double share = r->planned_s > 0 ? r->done_s / r->planned_s : 0;
	double spent_s = (double)(cnb_now_ns() - r->start_ns) / 1e9;
	char bar[BAR_WIDTH + 1], left[32] = "";
	int n;

	if (!isatty(STDERR_FILENO))
		return;
	share = share > 1 ? 1 : share;
	n = (int)(share * BAR_WIDTH);
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)n);
	bar[BAR_WIDTH] = '\0';
	if (share > 0.02) {
		long s = (long)(spent_s * (1 - share) / share);

		snprintf(left, sizeof(left), ", %ld:%02ld left", s / 60, s % 60);
	}
	fprintf(stderr, "\r[%s] %3.0f %%%s  %.40s\033[K", bar, share * 100, left, what);
}

static void
clear_line(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---------------------------------------------------------- the options -- */

static int
is_wanted(const char *list, const char *word)
{
	return list == NULL || cnb_list_has(list, word);
}

static int
has_server(const struct cnb_runner *r, enum cnb_kind kind)
{
	if (kind == CNB_KIND_SQLITE)
		return is_wanted(r->options->servers, "sqlite") &&
		       cnb_target_find("direct") != NULL;
	return r->servers.services[services[kind]].pid > 0;
}

/* The target for a pool that the command line names. */
static const char *const peer_targets[CNB_N_KINDS] = { NULL, "peer-postgresql",
	"peer-mariadb" };

static void
add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used > 0 ? "," : "", name);
}

static void
target_list(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	char *ret_list, size_t size)
{
	static const char *const shims[CNB_N_KINDS] = { NULL, "shim", "mysql-shim" };
	int is_postgresql = kind == CNB_KIND_POSTGRESQL;
	const struct {
		int is_wanted;
		const char *name;
	} targets[] = {
		{ 1, "pooled" },
		{ r->shim_dirs[kind][0] != '\0', shims[kind] },
		/* these two have a client for each session */
		{ set->pool == CNB_POOL_HELD && r->odbc_driver[0] != '\0', "odbc" },
		{ is_postgresql && r->servers.services[CNB_PGBOUNCER].pid > 0,
			"pgbouncer" },
		{ is_postgresql && set->pool == CNB_POOL_HELD &&
				r->servers.services[CNB_PGPOOL].pid > 0,
			"pgpool" },
		{ set->pool != CNB_POOL_RETAIL && r->has_peer[kind], peer_targets[kind] },
		{ 1, direct_targets[kind] },
	};
	size_t i;

	if (set->targets != NULL) {
		snprintf(ret_list, size, "%s", set->targets);
		return;
	}
	ret_list[0] = '\0';
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (targets[i].is_wanted)
			add_name(ret_list, size, targets[i].name);
	}
}

/* The options of one case: those of the command line, with the set's targets and clients. */
static int
case_options(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	uint32_t clients, struct cnb_options *ret_options)
{
	const struct cnb_options *given = r->options;
	char targets[512];

	target_list(r, set, kind, targets, sizeof(targets));
	*ret_options = *given;
	ret_options->n_targets = ret_options->n_workloads = 0;
	if (cnb_options_choose(ret_options, targets, set->workloads) < 0)
		return -1;
	if (given->is_quick) {
		ret_options->n_points = sizeof(quick_points) / sizeof(quick_points[0]);
		memcpy(ret_options->points, quick_points, sizeof(quick_points));
	}
	ret_options->clients = clients;
	ret_options->processes = set->processes > 0 ? set->processes : 1;
	ret_options->sessions = cnb_server_pools[set->pool].sessions;
	ret_options->crowd_s = given->is_quick ? set->quick_crowd_s : set->crowd_s;
	if (given->time_s == 0)
		ret_options->time_s = given->is_quick ? 0.25 : 4;
	if (given->rounds == 0)
		ret_options->rounds = given->is_quick ? 3 : 10;
	if (ret_options->crowd_s > 0)
		ret_options->rounds = 1;
	return 0;
}

static const uint32_t *
steps_of(const struct cnb_runner *r, const struct cnb_set *set)
{
	return r->options->is_quick ? set->quick_clients : set->clients;
}

/* How long the measurements of a case take. */
static double
planned_of(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind)
{
	static struct cnb_case cases[CNB_MAX_CASES];
	struct cnb_options o;

	if (case_options(r, set, kind, 1, &o) < 0)
		return 0;
	if (o.crowd_s > 0)
		return (o.crowd_s + 1) * (double)o.n_targets;
	return (o.time_s + 0.2) * (double)cnb_cases_make(&o, cases) * (double)o.n_targets;
}

/* ----------------------------------------------------- running the cases -- */

static void
print_line(const struct cnb_figure *f)
{
	if (isnan(f->queries_per_s)) {
		printf("%-10s %-11s %-13.13s %6.0f  %.50s\n", f->server, f->workload,
			f->target, f->x, f->note);
		return;
	}
	printf("%-10s %-11s %-13.13s %6.0f %8.0f/s  p50 %8.0f  p99 %8.0f  CPU %7.1f\n",
		f->server, f->workload, f->target, f->x, f->queries_per_s, f->p50_us,
		f->p99_us, f->cpu_us);
}

static void
print_figure(const struct cnb_figure *f)
{
	clear_line();
	print_line(f);
	fflush(stdout);
}

/* Receive the figures of a case until its process ends. 0; -1 with the reason: it failed. */
static int
take_figures(
	struct cnb_runner *r, int fd, pid_t pid, double limit_s, struct cnb_error *why)
{
	int64_t end_ns = cnb_now_ns() + (int64_t)(limit_s * 3e9) + PATIENCE_NS;
	struct pollfd wait = { fd, POLLIN, 0 };
	struct cnb_case_message m;

	snprintf(why->text, sizeof(why->text), "its process ended early");
	while (!*r->interrupted) {
		if (cnb_now_ns() > end_ns) {
			snprintf(why->text, sizeof(why->text), "it took too long");
			break;
		}
		if (poll(&wait, 1, 500) <= 0)
			continue;
		if (recv(fd, &m, sizeof(m), 0) != (ssize_t)sizeof(m))
			return -1;
		if (!m.is_figure) {
			*why = m.error;
			return m.error.text[0] == '\0' ? 0 : -1;
		}
		if (cnb_figures_add(&r->report.figures, &m.figure) < 0) {
			snprintf(why->text, sizeof(why->text), "out of memory");
			break;
		}
		/* Only a target that failed has a figure without this number. */
		r->n_failed += isnan(m.figure.queries_per_s);
		print_figure(&m.figure);
	}
	kill(pid, SIGKILL);
	return -1;
}

static int
run_case(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	const struct cnb_options *options, double planned_s, struct cnb_error *why)
{
	int fds[2], result;
	pid_t pid;

	snprintf(why->text, sizeof(why->text), "its process could not be started");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		cnb_report_case(r, set, kind, options, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	result = pid > 0 ? take_figures(r, fds[0], pid, planned_s, why) : -1;
	close(fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}

/* Note that a case was not measured. */
static void
add_failure(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	uint32_t clients, const struct cnb_target *target, const char *why)
{
	struct cnb_figure f;

	cnb_figure_init(&f);
	snprintf(f.set, sizeof(f.set), "%s", set->name);
	snprintf(f.server, sizeof(f.server), "%s", cnb_kind_names[kind]);
	snprintf(f.target, sizeof(f.target), "%s", target != NULL ? target->name : "all");
	snprintf(f.workload, sizeof(f.workload), "%.*s",
		(int)strcspn(set->workloads, ","), set->workloads);
	snprintf(f.note, sizeof(f.note), "not measured: %.140s", why);
	f.x = f.clients = clients;
	(void)cnb_figures_add(&r->report.figures, &f);
	print_figure(&f);
}

/* Measure a failed case of many clients again, without its last target: the server itself may refuse so
 * many connections. */
static int
run_without_last(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	struct cnb_options *options, double planned_s, struct cnb_error *why)
{
	if (set->clients[1] == 0 || options->n_targets < 2)
		return -1;
	options->n_targets--;
	add_failure(r, set, kind, options->clients, options->targets[options->n_targets],
		why->text);
	return run_case(r, set, kind, options, planned_s, why);
}

static void
run_step(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	uint32_t clients)
{
	double planned_s = planned_of(r, set, kind);
	size_t n_before = r->report.figures.n;
	struct cnb_error why = { "this program lacks one of the targets" };
	struct cnb_options options;
	char what[64];
	int result;

	snprintf(what, sizeof(what), "%s: %s, %u client%s", cnb_kind_names[kind],
		set->name, clients, clients == 1 ? "" : "s");
	show(r, what);
	result = case_options(r, set, kind, clients, &options);
	if (result == 0) {
		result = run_case(r, set, kind, &options, planned_s, &why);
		if (result < 0 && !*r->interrupted && r->report.figures.n == n_before)
			result =
				run_without_last(r, set, kind, &options, planned_s, &why);
	}
	if (result < 0 && !*r->interrupted) {
		r->n_failed++;
		add_failure(r, set, kind, clients, NULL, why.text);
	}
	r->done_s += planned_s;
	/* So the figures remain if this program is killed. The last save reports an error. */
	(void)cnb_report_save(&r->report, r->options->report_dir, &why);
}

static int
is_set_wanted(const struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind)
{
	if (!set->kinds[kind] || !has_server(r, kind) ||
		!is_wanted(r->options->sets, set->name))
		return 0;
	return set->targets == NULL || r->daemon.port > 0;
}

static void
each_step(struct cnb_runner *r,
	void (*step)(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
		uint32_t clients))
{
	size_t s, k, i;

	for (s = 0; s < N_SETS; s++) {
		for (k = 0; k < CNB_N_KINDS; k++) {
			const uint32_t *clients = steps_of(r, &sets[s]);

			if (!is_set_wanted(r, &sets[s], k))
				continue;
			for (i = 0;
				i < CNB_MAX_STEPS && clients[i] > 0 && !*r->interrupted;
				i++)
				step(r, &sets[s], k, clients[i]);
		}
	}
}

static void
plan_step(struct cnb_runner *r, const struct cnb_set *set, enum cnb_kind kind,
	uint32_t clients)
{
	(void)clients;
	r->planned_s += planned_of(r, set, kind);
}

/* -------------------------------------------------------- begin and end -- */

static void
find_shim(const char *beside, const char *file, char *ret_dir, size_t size)
{
	const char *given = getenv("CENOTE_SHIM_DIR");
	const char *const dirs[] = { given, beside, CNB_SHIM_DIR };
	char self[200], dir[512], path[600];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	ret_dir[0] = '\0';
	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/') != NULL)
		*strrchr(self, '/') = '\0';
	for (i = 0; i < 3; i++) {
		if (dirs[i] == NULL || dirs[i][0] == '\0')
			continue;
		if (dirs[i][0] == '/')
			snprintf(dir, sizeof(dir), "%.250s", dirs[i]);
		else
			snprintf(dir, sizeof(dir), "%s/%.250s", self, dirs[i]);
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		if (access(path, R_OK) == 0 && strlen(dir) < size) {
			snprintf(ret_dir, size, "%.255s", dir);
			return;
		}
	}
}

/* Find the ODBC driver: in the environment, beside this program, or where it is installed. */
static void
find_odbc(struct cnb_runner *r)
{
	const char *given = getenv("CENOTE_ODBC_DRIVER");
	char *path = r->odbc_driver;
	size_t size = sizeof(r->odbc_driver);
	char dir[256];

	if (cnb_target_find("odbc") == NULL)
		return;
	find_shim("../../shims/odbc", "libcenoteodbc.so", dir, sizeof(dir));
	if (given != NULL && *given != '\0')
		snprintf(path, size, "%s", given);
	else if (dir[0] != '\0')
		snprintf(path, size, "%s/libcenoteodbc.so", dir);
	else if (access(CNB_ODBC_DRIVER, R_OK) == 0)
		snprintf(path, size, "%s", CNB_ODBC_DRIVER);
}

static void
describe_machine(struct cnb_runner *r)
{
	struct cnb_report *report = &r->report;
	struct cnb_machine machine = { 0 };
	time_t now = time(NULL);
	struct tm tm;
	size_t used = 0, i;

	cnb_machine_read(&machine);
	snprintf(report->version, sizeof(report->version), "%d.%d.%d",
		CENOTE_VERSION_MAJOR, CENOTE_VERSION_MINOR, CENOTE_VERSION_PATCH);
	snprintf(report->cpu, sizeof(report->cpu), "%s", machine.cpu_model);
	snprintf(report->kernel, sizeof(report->kernel), "%s", machine.kernel);
	report->n_cpus = (double)machine.n_cpus;
	report->is_quick = r->options->is_quick;
	if (getloadavg(&report->load, 1) != 1)
		report->load = NAN;
	gmtime_r(&now, &tm);
	strftime(report->started, sizeof(report->started), "%Y-%m-%d %H:%M:%S", &tm);
	for (i = 0; i < CNB_N_SERVICES; i++) {
		if (r->servers.services[i].pid > 0 && used < sizeof(report->servers))
			used += (size_t)snprintf(report->servers + used,
				sizeof(report->servers) - used, "%s%s",
				used > 0 ? "; " : "", r->servers.services[i].version);
	}
}

/* Say which servers are missing, and why. */
static void
tell_missing(const struct cnb_runner *r)
{
	static const char *const names[CNB_N_SERVICES] = { "PostgreSQL", "PgBouncer",
		"MariaDB", "pgpool" };
	size_t i;

	for (i = 0; i < CNB_N_SERVICES; i++) {
		if (r->servers.services[i].why[0] != '\0')
			fprintf(stderr, "cenote-bench: without %s: %s\n", names[i],
				r->servers.services[i].why);
	}
}

/* Make the tables behind a pool that the command line names. If that fails, the report does without this pool. */
static void
prepare_peer(struct cnb_runner *r, enum cnb_kind kind)
{
	const struct cnb_env *env = &r->options->env;
	const struct cnb_target *target;
	struct cnb_error why;

	if (kind == CNB_KIND_SQLITE)
		return;
	target = cnb_target_find(peer_targets[kind]);
	if (target == NULL || env->places[target->place] == NULL)
		return;
	r->has_peer[kind] = cnb_setup(target, env, &why) == 0;
	if (!r->has_peer[kind])
		fprintf(stderr, "cenote-bench: without %s: %s\n", target->name, why.text);
}

static void
clean_up_peer(struct cnb_runner *r, enum cnb_kind kind)
{
	if (r->has_peer[kind])
		cnb_cleanup(cnb_target_find(peer_targets[kind]), &r->options->env);
}

/* Wait until a pool serves, and make the tables in its database. */
static int
prepare_kind(struct cnb_runner *r, enum cnb_kind kind, struct cnb_error *ret_error)
{
	const struct cnb_target *target = cnb_target_find(direct_targets[kind]);
	struct cnb_report_places places;
	struct cnb_env env;
	int has_retail = kind != CNB_KIND_SQLITE && is_wanted(r->options->sets, "retail");

	cnb_report_env(r, &sets[0], kind, &places, &env);
	if (cnb_pool_wait(places.pool, ret_error) < 0 ||
		cnb_setup(target, &env, ret_error) < 0)
		return -1;
	return has_retail ? cnb_retail_setup(
				    target, &env, r->options->retail_rows, ret_error)
			  : 0;
}

/* Start another cenoted, which has only the pool for retail. */
static int
start_retail(struct cnb_runner *r, enum cnb_kind kind, struct cnb_error *ret_error)
{
	struct cnb_options options = *r->options;
	char text[1024];

	if (kind == CNB_KIND_SQLITE || !has_server(r, kind) ||
		!is_wanted(options.sets, "retail"))
		return 0;
	cnb_servers_pools(&r->servers, services[kind], 1, text, sizeof(text));
	options.more_pools = text;
	options.only_pool = cnb_report_pool(CNB_POOL_RETAIL, kind);
	return cnb_daemon_start(&options, &r->retail_daemons[kind], ret_error);
}

static int
start_cenoted(struct cnb_runner *r, struct cnb_error *ret_error)
{
	struct cnb_options options = *r->options;
	char text[2048];
	size_t used;

	cnb_servers_pools(&r->servers, CNB_POSTGRESQL, 0, text, sizeof(text));
	used = strlen(text);
	cnb_servers_pools(&r->servers, CNB_MARIADB, 0, text + used, sizeof(text) - used);
	options.more_pools = text;
	options.sessions = cnb_server_pools[CNB_POOL_HELD].sessions;
	options.has_tls = is_wanted(options.servers, "sqlite") &&
			  is_wanted(options.sets, "tls") && cnb_has_tls();
	return cnb_daemon_start(&options, &r->daemon, ret_error);
}

static int
start_all(struct cnb_runner *r, struct cnb_error *ret_error)
{
	const char *list = r->options->servers;
	const int wanted[CNB_N_SERVICES] = { is_wanted(list, "postgresql"),
		is_wanted(list, "postgresql"), is_wanted(list, "mariadb"),
		is_wanted(list, "postgresql") };
	size_t k;

	show(r, "starting servers");
	if (cnb_servers_start(&r->servers, wanted, ret_error) < 0)
		return -1;
	tell_missing(r);
	show(r, "starting cenoted");
	if (start_cenoted(r, ret_error) < 0)
		return -1;
	for (k = 0; k < CNB_N_KINDS && !*r->interrupted; k++) {
		show(r, "making tables");
		if (!has_server(r, k))
			continue;
		if (prepare_kind(r, k, ret_error) < 0 ||
			start_retail(r, k, ret_error) < 0)
			return -1;
		prepare_peer(r, k);
	}
	return 0;
}

static void
raise_limit_of_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int
make_output(const struct cnb_options *options, struct cnb_error *ret_error)
{
	if (mkdir(options->report_dir, 0777) == 0 || errno == EEXIST) {
		if (access(options->report_dir, W_OK | X_OK) == 0)
			return 0;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "%.400s: %s",
		options->report_dir, strerror(errno));
	return -1;
}

static int
check_gnuplot(const struct cnb_options *options, struct cnb_error *ret_error)
{
	char path[256];

	if (!options->has_plots)
		return 0;
	cnb_program_find("gnuplot", path, sizeof(path));
	if (path[0] != '\0')
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text),
		"gnuplot is not installed, which draws the pictures: install the package "
		"gnuplot-nox, or give --no-plots");
	return -1;
}

static void
run_sets(struct cnb_runner *r)
{
	r->start_ns = cnb_now_ns();
	each_step(r, plan_step);
	puts("server     work        target             x   queries/s  "
	     "p50, p99 and CPU in microseconds");
	each_step(r, run_step);
	clear_line();
	r->report.is_complete = !*r->interrupted && r->n_failed == 0;
}

static int
redraw(const struct cnb_options *options, struct cnb_error *ret_error)
{
	struct cnb_report report;
	char path[4096];
	int result;

	snprintf(path, sizeof(path), "%s/report.json", options->report_dir);
	if (cnb_report_read(path, &report, ret_error) < 0)
		return -1;
	result = cnb_report_write(
		&report, options->report_dir, options->has_plots, ret_error);
	cnb_figures_finish(&report.figures);
	return result;
}

int
cnb_report_run(const struct cnb_options *options,
	const volatile sig_atomic_t *interrupted, struct cnb_error *ret_error)
{
	static struct cnb_runner r;
	int result;
	size_t k;

	r = (struct cnb_runner){ .options = options, .interrupted = interrupted };
	r.start_ns = cnb_now_ns();
	if (make_output(options, ret_error) < 0 || check_gnuplot(options, ret_error) < 0)
		return -1;
	if (options->is_redraw)
		return redraw(options, ret_error);
	raise_limit_of_files();
	(void)sched_getaffinity(0, sizeof(r.cpus), &r.cpus);
	find_shim("../../shims/libpq", "libpq.so.5", r.shim_dirs[CNB_KIND_POSTGRESQL],
		sizeof(r.shim_dirs[0]));
	find_shim("../../shims/libmysql", "libmariadb.so.3",
		r.shim_dirs[CNB_KIND_MARIADB], sizeof(r.shim_dirs[0]));
	find_odbc(&r);
	result = start_all(&r, ret_error);
	describe_machine(&r);
	if (result == 0)
		run_sets(&r);
	cnb_daemon_stop(&r.daemon);
	for (k = 0; k < CNB_N_KINDS; k++) {
		cnb_daemon_stop(&r.retail_daemons[k]);
		clean_up_peer(&r, k);
	}
	cnb_servers_stop(&r.servers);
	if (result == 0)
		result = cnb_report_write(
			&r.report, options->report_dir, options->has_plots, ret_error);
	if (result == 0)
		printf("%s/report.html\n", options->report_dir);
	if (result == 0 && r.n_failed > 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"%zu of the cases could not be measured; the report says why",
			r.n_failed);
		result = -1;
	}
	cnb_figures_finish(&r.report.figures);
	return result;
}
