/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: a table of options, and the help. main.c calls it. The result is struct
 * cnb_options.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

#include "bench.h"

#define DEFAULT_ROUNDS 20
#define DEFAULT_TIME_S 2.0

/* What a report can measure. report.c has the sets. */
#define SERVERS "sqlite,postgresql,mariadb"
#define SETS    "queries,work,pipeline,clients,think,idle,tls,retail"

static const uint32_t default_points[] = { 1, 2, 3, 5, 10, 20, 30 };
static const uint32_t default_depths[] = { 1, 10, 100 };

static int
wrong(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "cenote-bench: --%s=%s: %s\n", option, value, allowed);
	return -1;
}

/* Read a whole number from `min` to `max`. */
static int
parse_number(const char *text, unsigned long min, unsigned long max, unsigned long *ret)
{
	unsigned long n;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || n < min || n > max)
		return -1;
	*ret = n;
	return 0;
}

/* --------------------------------------------------------------- list options ----- */

int
cnb_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return 1;
	}
	return 0;
}

/* Call `add` for each word of a list with commas. */
static int
each_word(const char *list, struct cnb_options *o,
	int (*add)(struct cnb_options *o, const char *word))
{
	char word[64];

	for (;;) {
		size_t len = strcspn(list, ",");

		if (len == 0 || len >= sizeof(word))
			return -1;
		memcpy(word, list, len);
		word[len] = '\0';
		if (add(o, word) < 0)
			return -1;
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}

static int
add_target(struct cnb_options *o, const char *word)
{
	const struct cnb_target *t = cnb_target_find(word);

	if (t == NULL || o->n_targets == CNB_MAX_TARGETS)
		return -1;
	o->targets[o->n_targets++] = t;
	return 0;
}

static int
add_workload(struct cnb_options *o, const char *word)
{
	const struct cnb_workload *w = cnb_workload_find(word);

	if (w == NULL || o->n_workloads == CNB_MAX_WORKLOADS)
		return -1;
	o->workloads[o->n_workloads++] = w;
	return 0;
}

static int
add_number(uint32_t *numbers, size_t *n_numbers, const char *word)
{
	unsigned long n;

	if (*n_numbers == CNB_MAX_POINTS || parse_number(word, 1, 1000000, &n) < 0)
		return -1;
	numbers[(*n_numbers)++] = (uint32_t)n;
	return 0;
}

static int
add_point(struct cnb_options *o, const char *word)
{
	return add_number(o->points, &o->n_points, word);
}

static int
add_depth(struct cnb_options *o, const char *word)
{
	return add_number(o->depths, &o->n_depths, word);
}

/* --------------------------------------------------------------- the options ----- */

static int
set_targets(struct cnb_options *o, const char *value)
{
	o->n_targets = 0;
	if (each_word(value, o, add_target) < 0)
		return wrong("targets", value, "up to 12 names of --list, with commas");
	return 0;
}

static int
set_workloads(struct cnb_options *o, const char *value)
{
	o->n_workloads = 0;
	if (each_word(value, o, add_workload) < 0)
		return wrong("workloads", value, "up to 32 names of --list, with commas");
	return 0;
}

static int
set_queries(struct cnb_options *o, const char *value)
{
	o->n_points = 0;
	if (each_word(value, o, add_point) < 0)
		return wrong("queries", value, "up to 32 numbers from 1, with commas");
	return 0;
}

static int
set_depths(struct cnb_options *o, const char *value)
{
	o->n_depths = 0;
	if (each_word(value, o, add_depth) < 0)
		return wrong("depth", value, "up to 32 numbers from 1, with commas");
	return 0;
}

static int
set_rounds(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 1, CNB_MAX_ROUNDS, &n) < 0)
		return wrong("rounds", value, "a number from 1 to 10000");
	o->rounds = (uint32_t)n;
	return 0;
}

static int
set_time(struct cnb_options *o, const char *value)
{
	char *end;
	double s = strtod(value, &end);

	if (end == value || *end != '\0' || !isfinite(s) || s <= 0 || s > 86400)
		return wrong("time", value, "seconds, more than 0, at most 86400");
	o->time_s = s;
	return 0;
}

static int
set_operations(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 1, 1000000000, &n) < 0)
		return wrong("operations", value, "a number from 1 to 1000000000");
	o->operations = n;
	return 0;
}

static int
set_clients(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 1, CNB_MAX_CLIENTS, &n) < 0)
		return wrong("clients", value, "a number from 1 to 8192");
	o->clients = (uint32_t)n;
	return 0;
}

static int
set_think(struct cnb_options *o, const char *value)
{
	char *end;
	double ms = strtod(value, &end);

	if (end == value || *end != '\0' || !isfinite(ms) || ms < 0 || ms > 60000)
		return wrong("think", value, "milliseconds from 0 to 60000");
	o->think_ms = ms;
	return 0;
}

static int
set_processes(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 1, 64, &n) < 0)
		return wrong("processes", value, "a number from 1 to 64");
	o->processes = (uint32_t)n;
	return 0;
}

static int
set_rows(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 200, 100000000, &n) < 0)
		return wrong("rows", value, "a number from 200 to 100000000");
	o->retail_rows = (uint32_t)n;
	return 0;
}

static int
set_mode(struct cnb_options *o, const char *value)
{
	if (strcmp(value, "session") != 0 && strcmp(value, "transaction") != 0)
		return wrong("mode", value, "session or transaction");
	o->mode = value;
	return 0;
}

static int
set_sessions(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 1, CNB_MAX_SESSIONS, &n) < 0)
		return wrong("sessions", value, "a number from 1 to 1024");
	o->sessions = (uint32_t)n;
	return 0;
}

static int
set_uri(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_POOL] = value;
	return 0;
}

static int
set_file(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_FILE] = value;
	return 0;
}

static int
set_pgbouncer(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_PGBOUNCER] = value;
	return 0;
}

static int
set_pgpool(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_PGPOOL] = value;
	return 0;
}

static int
set_peer_postgresql(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_PEER_POSTGRESQL] = value;
	return 0;
}

static int
set_peer_mariadb(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_PEER_MARIADB] = value;
	return 0;
}

static int
set_postgresql(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_POSTGRESQL] = value;
	return 0;
}

static int
set_mariadb(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_MARIADB] = value;
	return 0;
}

static int
set_odbc(struct cnb_options *o, const char *value)
{
	o->env.places[CNB_PLACE_ODBC] = value;
	return 0;
}

static int
set_cenoted(struct cnb_options *o, const char *value)
{
	o->cenoted = value;
	return 0;
}

static int
add_root(struct cnb_options *o, const char *option, const char *value, enum cnb_part part)
{
	unsigned long n;

	/* One place is reserved for a cenoted that the program starts. */
	if (o->n_roots + 1 >= CNB_MAX_ROOTS || parse_number(value, 1, INT32_MAX, &n) < 0)
		return wrong(
			option, value, "the number of a process, of at most 7 of them");
	o->roots[o->n_roots] = (pid_t)n;
	o->parts[o->n_roots++] = part;
	return 0;
}

static int
set_daemon_pid(struct cnb_options *o, const char *value)
{
	return add_root(o, "daemon-pid", value, CNB_PART_CENOTED);
}

static int
set_pgbouncer_pid(struct cnb_options *o, const char *value)
{
	return add_root(o, "pgbouncer-pid", value, CNB_PART_PGBOUNCER);
}

static int
set_server_pid(struct cnb_options *o, const char *value)
{
	return add_root(o, "server-pid", value, CNB_PART_SERVER);
}

static int
set_cpu(struct cnb_options *o, const char *value)
{
	unsigned long n;

	if (parse_number(value, 0, 1023, &n) < 0)
		return wrong("cpu", value, "a CPU's number from 0");
	o->cpu = (int)n;
	return 0;
}

static int
set_no_pin(struct cnb_options *o, const char *value)
{
	(void)value;
	o->is_pinned = 0;
	return 0;
}

static int
set_json(struct cnb_options *o, const char *value)
{
	(void)value;
	o->is_json = 1;
	return 0;
}

static int
set_quick(struct cnb_options *o, const char *value)
{
	(void)value;
	o->is_quick = 1;
	return 0;
}

static int
set_redraw(struct cnb_options *o, const char *value)
{
	(void)value;
	o->is_redraw = 1;
	return 0;
}

static int
set_no_plots(struct cnb_options *o, const char *value)
{
	(void)value;
	o->has_plots = 0;
	return 0;
}

static int
set_tolerance(struct cnb_options *o, const char *value)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end != '\0' || !isfinite(percent) || percent < 0 ||
		percent > 1000)
		return wrong("tolerance", value, "percent from 0 to 1000");
	o->tolerance = percent / 100;
	return 0;
}

static int
check_server(struct cnb_options *o, const char *word)
{
	(void)o;
	return cnb_list_has(SERVERS, word) ? 0 : -1;
}

static int
set_servers(struct cnb_options *o, const char *value)
{
	if (each_word(value, o, check_server) < 0)
		return wrong("servers", value, SERVERS);
	o->servers = value;
	return 0;
}

static int
check_set(struct cnb_options *o, const char *word)
{
	(void)o;
	return cnb_list_has(SETS, word) ? 0 : -1;
}

static int
set_sets(struct cnb_options *o, const char *value)
{
	if (each_word(value, o, check_set) < 0)
		return wrong("sets", value, SETS);
	o->sets = value;
	return 0;
}

static int
print_list(struct cnb_options *o, const char *value)
{
	const struct cnb_workload *w;
	const struct cnb_target *t;
	size_t i;

	(void)o;
	(void)value;
	/* The columns are as wide as the longest name of a cipher suite. */
	puts("Workloads:");
	for (i = 0; (w = cnb_workload(i)) != NULL; i++)
		printf("  %-28s %s%s\n", w->name, w->about, w->only_by_name ? " *" : "");
	puts("Targets:");
	for (i = 0; (t = cnb_target(i)) != NULL; i++)
		printf("  %-28s %s%s\n", t->name, t->about, t->only_by_name ? " *" : "");
	return 1;
}

static int
print_version(struct cnb_options *o, const char *value)
{
	uint32_t v = cenote_version();

	(void)o;
	(void)value;
	printf("cenote-bench %d.%d.%d (libcenote %u.%u.%u)\n", CENOTE_VERSION_MAJOR,
		CENOTE_VERSION_MINOR, CENOTE_VERSION_PATCH, v / 10000, v / 100 % 100,
		v % 100);
	return 1;
}

static int print_help(struct cnb_options *o, const char *value);

/* A new option needs only a row here. */
static const struct entry {
	/* --help prints it before this option. NULL: the option belongs to the heading above. */
	const char *heading;
	const char *name;
	const char *argument; /* NULL: none */
	char letter; /* 0: none */
	int (*set)(struct cnb_options *o, const char *value);
	const char *help;
} entries[] = {
	{ "What to do", "workloads", "LIST", 'w', set_workloads,
		"the work (default: those of --list without *)" },
	{ NULL, "targets", "LIST", 't', set_targets,
		"where; each is compared with those after it (default: all known)" },
	{ NULL, "queries", "LIST", 'q', set_queries,
		"queries per connection in workload rows (default: 1,2,3,5,10,20,30)" },
	{ NULL, "depth", "LIST", 0, set_depths,
		"requests in workload pipeline (default: 1,10,100)" },
	{ NULL, "rows", "N", 0, set_rows, "sales in workload retail (default: 100000)" },
	{ NULL, "clients", "N", 'c', set_clients, "at the same time (default: 1)" },
	{ NULL, "processes", "N", 0, set_processes,
		"that share the clients of a crowd (default: 1)" },
	{ NULL, "think", "MS", 0, set_think,
		"pause of a crowd's client after an operation (default: mostly 0)" },
	{ "How long", "rounds", "N", 'r', set_rounds,
		"rounds that take turns (default: 20)" },
	{ NULL, "time", "SECONDS", 's', set_time,
		"for each target of each case, all rounds together (default: 2)" },
	{ NULL, "operations", "N", 'n', set_operations, "per round, instead of --time" },
	{ "Its own pool, and the CPU", "cenoted", "PATH", 0, set_cenoted,
		"the program to start (default: next to this one, or in PATH)" },
	{ NULL, "sessions", "N", 0, set_sessions, "of its pool (default: clients + 3)" },
	{ NULL, "mode", "MODE", 0, set_mode,
		"of its pool: session (the default) or transaction" },
	{ NULL, "no-pin", NULL, 0, set_no_pin, "do not bind everything to one CPU" },
	{ NULL, "cpu", "N", 0, set_cpu, "bind to this CPU (default: the last)" },
	{ "Pools and servers that run", "uri", "URI", 'u', set_uri,
		"a pool; makes a table cenote_bench there (default: its own)" },
	{ NULL, "file", "PATH", 'f', set_file,
		"the SQLite file of that pool, for direct" },
	{ NULL, "daemon-pid", "PID", 'p', set_daemon_pid,
		"the master of that pool's cenoted, for its CPU time" },
	{ NULL, "pgbouncer", "CONNINFO", 0, set_pgbouncer,
		"PgBouncer: a connection string of libpq" },
	{ NULL, "pgbouncer-pid", "PID", 0, set_pgbouncer_pid,
		"PgBouncer, for its CPU time" },
	{ NULL, "pgpool", "CONNINFO", 0, set_pgpool, "pgpool: the same" },
	{ NULL, "peer-postgresql", "CONNINFO", 0, set_peer_postgresql,
		"another pool or proxy of PostgreSQL: the same" },
	{ NULL, "postgresql", "CONNINFO", 0, set_postgresql, "PostgreSQL: the same" },
	{ NULL, "mariadb", "WORDS", 0, set_mariadb,
		"host=, port=, socket=, user=, password=, database= of a MariaDB" },
	{ NULL, "peer-mariadb", "WORDS", 0, set_peer_mariadb,
		"a pool or proxy of MariaDB, such as ProxySQL: the same" },
	{ NULL, "odbc", "STRING", 0, set_odbc,
		"a server with its own driver: an ODBC connection string" },
	{ NULL, "server-pid", "PID", 0, set_server_pid,
		"a server, for its CPU time; may be repeated" },
	{ "Reports", "quick", NULL, 0, set_quick, "take three minutes, not an hour" },
	{ NULL, "servers", "LIST", 0, set_servers,
		"of " SERVERS " (default: all that are installed)" },
	{ NULL, "sets", "LIST", 0, set_sets, "of " SETS " (default: all)" },
	{ NULL, "redraw", NULL, 0, set_redraw,
		"measure nothing: make page and pictures from DIR/report.json" },
	{ NULL, "no-plots", NULL, 0, set_no_plots, "draw no pictures; needs no gnuplot" },
	{ NULL, "tolerance", "PERCENT", 0, set_tolerance,
		"compare: ignore changes up to this (default: 5)" },
	{ "Output", "json", NULL, 'j', set_json, "write JSON" },
	{ NULL, "list", NULL, 'l', print_list,
		"list workloads and targets, and end; *: runs only if named" },
	{ NULL, "help", NULL, 'h', print_help, "print this, and end" },
	{ NULL, "version", NULL, 'V', print_version, "print the version, and end" },
};

#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static int
print_help(struct cnb_options *o, const char *value)
{
	size_t i;

	(void)o;
	(void)value;
	puts("Usage: cenote-bench [tls | odbc] [OPTION...]\n"
	     "       cenote-bench report DIR [OPTION...]\n"
	     "       cenote-bench compare OLD.json NEW.json [--tolerance=PERCENT]\n"
	     "Compare the cost of using a database through a pool with that of opening "
	     "it.\n"
	     "  tls      the cost of each TLS cipher suite, compared with clear text, by "
	     "TCP\n"
	     "  odbc     the pool's ODBC driver, compared with the server's own\n"
	     "  report   start the servers that are installed, measure everything, and "
	     "write a\n"
	     "           page with pictures, JSON and CSV to a directory\n"
	     "  compare  list what changed between two reports by more than noise");
	for (i = 0; i < N_ENTRIES; i++) {
		const struct entry *e = &entries[i];
		char text[40];

		if (e->heading != NULL)
			printf("\n%s:\n", e->heading);
		snprintf(text, sizeof(text), "%s%s%s", e->name, e->argument ? "=" : "",
			e->argument ? e->argument : "");
		if (e->letter != 0)
			printf("  -%c, --%-20s %s\n", e->letter, text, e->help);
		else
			printf("      --%-20s %s\n", text, e->help);
	}
	puts("\nFigures are microseconds per query. Exit status: 0 measured, 1 failed, 2 "
	     "usage, 3 worse\n(compare).");
	return 1;
}

/* ---------------------------------------------------------------------- getopt ----- */

/* Long options have numbers after the letters. */
#define FIRST_LONG 256

static void
make_getopt_tables(struct option *ret_long, char *ret_short)
{
	size_t i;

	for (i = 0; i < N_ENTRIES; i++) {
		ret_long[i] = (struct option){ entries[i].name,
			entries[i].argument ? required_argument : no_argument, NULL,
			FIRST_LONG + (int)i };
		if (entries[i].letter == 0)
			continue;
		*ret_short++ = entries[i].letter;
		if (entries[i].argument != NULL)
			*ret_short++ = ':';
	}
	ret_long[N_ENTRIES] = (struct option){ NULL, 0, NULL, 0 };
	*ret_short = '\0';
}

static const struct entry *
entry_of(int c)
{
	size_t i;

	if (c >= FIRST_LONG)
		return &entries[c - FIRST_LONG];
	for (i = 0; i < N_ENTRIES; i++) {
		if (entries[i].letter == c)
			return &entries[i];
	}
	return NULL;
}

static void
set_defaults(struct cnb_options *o)
{
	*o = (struct cnb_options){ .clients = 1,
		.has_plots = 1,
		.tolerance = 0.05,
		.processes = 1,
		.think_ms = -1,
		.retail_rows = 100000,
		.is_pinned = 1,
		.cpu = -1 };
	o->n_points = sizeof(default_points) / sizeof(default_points[0]);
	memcpy(o->points, default_points, sizeof(default_points));
	o->n_depths = sizeof(default_depths) / sizeof(default_depths[0]);
	memcpy(o->depths, default_depths, sizeof(default_depths));
}

/* The option that names each place. */
static const char *const place_options[CNB_N_PLACES] = { "uri", "file", "pgbouncer",
	"pgpool", "peer-postgresql", "peer-mariadb", "postgresql", "mariadb", "odbc" };

/* Whether a place is known. Without a pool on the command line, the program starts one with its
 * file. */
static int
is_place_known(const struct cnb_options *o, enum cnb_place place)
{
	if (place == CNB_PLACE_POOL ||
		(place == CNB_PLACE_FILE && o->env.places[CNB_PLACE_POOL] == NULL))
		return 1;
	return o->env.places[place] != NULL;
}

static void
choose_known(struct cnb_options *o)
{
	const struct cnb_target *t;

	for (size_t i = 0; (t = cnb_target(i)) != NULL; i++) {
		if (!t->only_by_name && is_place_known(o, t->place))
			o->targets[o->n_targets++] = t;
	}
}

static void
choose_tls(struct cnb_options *o)
{
	const struct cnb_target *t;

	for (size_t i = 0; (t = cnb_target_tls(i)) != NULL; i++)
		o->targets[o->n_targets++] = t;
}

static void
choose_odbc(struct cnb_options *o)
{
	(void)add_target(o, "odbc");
	if (is_place_known(o, CNB_PLACE_ODBC))
		(void)add_target(o, "odbc-native");
}

/* The values of the first argument, and the targets and workloads that they choose. */
static const struct cnb_mode {
	const char *name;
	void (*choose_targets)(struct cnb_options *o);
	const char *workloads;
	int has_tls;
} modes[] = {
	{ "tls", choose_tls, "connect,steady,large", 1 },
	{ "odbc", choose_odbc, "attach,large,bound", 0 },
};

static const struct cnb_mode *
find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	}
	return NULL;
}

static int
check_places(const struct cnb_options *o)
{
	size_t i;

	for (i = 0; i < o->n_targets; i++) {
		const struct cnb_target *t = o->targets[i];

		if (is_place_known(o, t->place))
			continue;
		fprintf(stderr, "cenote-bench: target %s needs --%s\n", t->name,
			place_options[t->place]);
		return -1;
	}
	if (o->env.places[CNB_PLACE_POOL] != NULL)
		return 0;
	for (i = 0; i < o->n_roots && o->parts[i] != CNB_PART_CENOTED; i++)
		;
	if (i == o->n_roots && o->env.places[CNB_PLACE_FILE] == NULL)
		return 0;
	fprintf(stderr,
		"cenote-bench: --file and --daemon-pid belong to a pool named with "
		"--uri\n");
	return -1;
}

/* Set what the command line left open. */
static int
complete(struct cnb_options *o, const struct cnb_mode *mode)
{
	size_t i;

	if (o->n_workloads == 0 && mode != NULL) {
		(void)each_word(mode->workloads, o, add_workload);
	} else if (o->n_workloads == 0) {
		for (i = 0; cnb_workload(i) != NULL; i++) {
			if (!cnb_workload(i)->only_by_name)
				o->workloads[o->n_workloads++] = cnb_workload(i);
		}
	}
	if (o->n_targets == 0 && mode != NULL)
		mode->choose_targets(o);
	else if (o->n_targets == 0)
		choose_known(o);
	if (o->sessions == 0)
		o->sessions = o->clients + 3;
	if (o->rounds == 0)
		o->rounds = DEFAULT_ROUNDS;
	if (o->time_s == 0)
		o->time_s = DEFAULT_TIME_S;
	if (o->n_targets > 0)
		return check_places(o);
	fprintf(stderr, "cenote-bench: this build has none of these targets\n");
	return -1;
}

int
cnb_options_choose(
	struct cnb_options *options, const char *targets, const char *workloads)
{
	if (each_word(targets, options, add_target) < 0)
		return -1;
	return each_word(workloads, options, add_workload);
}

/* Take the arguments that are not options: a command and its own arguments. 0; -1: reported. */
static int
take_command(int n, char **args, struct cnb_options *o, const struct cnb_mode **ret_mode)
{
	if (n == 0)
		return 0;
	*ret_mode = find_mode(args[0]);
	if (*ret_mode != NULL && n == 1)
		return 0;
	if (strcmp(args[0], "report") == 0 && n == 2) {
		o->report_dir = args[1];
	} else if (strcmp(args[0], "compare") == 0 && n == 3) {
		o->compare[0] = args[1];
		o->compare[1] = args[2];
	} else {
		fprintf(stderr,
			"cenote-bench: %s: the commands are tls, odbc, report DIR, and "
			"compare OLD.json NEW.json\n",
			args[0]);
		return -1;
	}
	return 0;
}

int
cnb_options_parse(int argc, char **argv, struct cnb_options *ret_options)
{
	struct option long_options[N_ENTRIES + 1];
	char short_options[2 * N_ENTRIES + 1];
	const struct cnb_mode *mode = NULL;
	struct cnb_options o;
	int c, r;

	make_getopt_tables(long_options, short_options);
	set_defaults(&o);
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		const struct entry *e = entry_of(c);

		if (e == NULL)
			goto usage;
		r = e->set(&o, optarg);
		if (r > 0)
			return r;
		if (r < 0)
			goto usage;
	}
	if (take_command(argc - optind, argv + optind, &o, &mode) < 0)
		goto usage;
	if (o.report_dir != NULL || o.compare[0] != NULL) {
		*ret_options = o;
		return 0;
	}
	o.has_tls = mode != NULL && mode->has_tls;
	if (complete(&o, mode) < 0)
		goto usage;
	*ret_options = o;
	return 0;

usage:
	fprintf(stderr, "Try: cenote-bench --help\n");
	return -1;
}
