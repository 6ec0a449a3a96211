/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_BENCH_H
#define CNB_BENCH_H

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * cenote-bench does the same work through the pool and against the server itself, in rounds that take
 * turns. So other load on the machine affects all of them alike.
 *
 * A target is a way to reach a database. A workload is the work that is done there. A case is a
 * workload with its number of queries per connection. All figures are per query.
 */

#define CNB_MAX_TARGETS   12
#define CNB_MAX_WORKLOADS 32
#define CNB_MAX_POINTS    32
#define CNB_MAX_CASES     (CNB_MAX_WORKLOADS + CNB_MAX_POINTS * CNB_MAX_WORKLOADS)
#define CNB_MAX_CLIENTS   8192
#define CNB_MAX_SESSIONS  1024
#define CNB_MAX_ROUNDS    10000
#define CNB_MAX_ROOTS     8

/* The shape of the rows workloads. */
#define CNB_COLUMNS      16
#define CNB_VALUE_BYTES  32
#define CNB_ROWS         256
#define CNB_LARGE_ROWS   10000
/* The shape of the rows that the workloads bulk and copy write. */
#define CNB_BULK_ROWS    1000
#define CNB_BULK_COLUMNS 3

/* Why something failed, for the user. */
struct cnb_error {
	char text[512];
};

/* ------------------------------------------------------------------ targets ----- */

/* Where a target can be. Each place is an option of the command line. */
enum cnb_place {
	CNB_PLACE_POOL, /* libcenote's URI */
	CNB_PLACE_FILE, /* the SQLite file of the pool */
	CNB_PLACE_PGBOUNCER, /* libpq's connection string */
	CNB_PLACE_PGPOOL, /* the same */
	CNB_PLACE_PEER_POSTGRESQL, /* the same, of any other pool or proxy */
	CNB_PLACE_PEER_MARIADB, /* words name=value, the same */
	CNB_PLACE_POSTGRESQL, /* libpq's connection string */
	CNB_PLACE_MARIADB, /* words name=value */
	CNB_PLACE_ODBC, /* a connection string */
	CNB_N_PLACES
};

/* Where the targets are; NULL: not given. */
struct cnb_env {
	const char *places[CNB_N_PLACES];
};

/* The answer to a query. Each target looks at every value, so that no target is cheaper by skipping
 * some. */
struct cnb_answer {
	uint64_t rows;
	uint64_t bytes;
};

struct cnb_session; /* each target has its own */
struct pollfd;

struct cnb_target {
	const char *name;
	const char *about;
	enum cnb_place place;
	int only_by_name; /* not among the default targets */
	/* a variant of the last target, and compared only with that one */
	int is_variant;
	/* Do everything that a program does to connect, including making the handle. */
	int (*open)(const struct cnb_env *env, struct cnb_session **ret_session,
		struct cnb_error *ret_error);
	int (*query)(struct cnb_session *s, const char *sql,
		struct cnb_answer *ret_answer, struct cnb_error *ret_error);
	/* Prepare the session's statement and execute it. */
	int (*prepare)(
		struct cnb_session *s, const char *sql, struct cnb_error *ret_error);
	int (*execute)(struct cnb_session *s, struct cnb_answer *ret_answer,
		struct cnb_error *ret_error);
	/* Send n queries and then read the answers. NULL: not possible. */
	int (*pipeline)(struct cnb_session *s, const char *sql, uint32_t n,
		struct cnb_answer *ret_answer, struct cnb_error *ret_error);
	/* As query, but the rows come one by one, or in batches as they arrive. NULL: not
	 * possible. */
	int (*stream)(struct cnb_session *s, const char *sql,
		struct cnb_answer *ret_answer, struct cnb_error *ret_error);
	/* As query, but return 1 where it would wait, for `ret_wait`. Then call it again, and no
	 * other function, until it returns another value. NULL: not possible. */
	int (*try_query)(struct cnb_session *s, const char *sql, struct pollfd *ret_wait,
		struct cnb_answer *ret_answer, struct cnb_error *ret_error);
	/* Load the bytes with a COPY ... FROM STDIN. NULL: not possible. */
	int (*copy_in)(struct cnb_session *s, const char *sql, const char *bytes,
		size_t len, struct cnb_error *ret_error);
	void (*close)(struct cnb_session *s); /* NULL is allowed */
	/* The TLS parameters; "": no TLS. NULL: unknown. */
	void (*tell_tls)(struct cnb_session *s, char *ret_text, size_t size);
};

/* The i-th target of this build; NULL after the last. */
const struct cnb_target *cnb_target(size_t i);
/* Find a target by name; NULL: this build does not have it. */
const struct cnb_target *cnb_target_find(const char *name);

const struct cnb_target *cnb_target_pooled(void);
/* The pool by TCP with the i-th cipher suite; after the last one, without TLS; then NULL. */
const struct cnb_target *cnb_target_tls(size_t i);
/* Open a session of the pool with more options in the URI. Like cnb_target.open. */
int cnb_pooled_open(const struct cnb_env *env, const char *options,
	struct cnb_session **ret_session, struct cnb_error *ret_error);
void cnb_pooled_tell_tls(struct cnb_session *s, char *ret_text, size_t size);
/* Each of these is NULL in a build without its library. */
const struct cnb_target *cnb_target_direct(void);
const struct cnb_target *cnb_target_shim(void);
const struct cnb_target *cnb_target_mysql_shim(void);
const struct cnb_target *cnb_target_pgbouncer(void);
const struct cnb_target *cnb_target_pgpool(void);
const struct cnb_target *cnb_target_peer_postgresql(void);
const struct cnb_target *cnb_target_peer_mariadb(void);
const struct cnb_target *cnb_target_postgresql(void);
const struct cnb_target *cnb_target_mariadb(void);
const struct cnb_target *cnb_target_odbc(void);
const struct cnb_target *cnb_target_odbc_native(void);

/* ---------------------------------------------------------------- workloads ----- */

/* Where a client is in an operation that has several statements. */
struct cnb_script {
	uint64_t random; /* the state of its random numbers */
	uint32_t step; /* the number of its statement */
	uint32_t key; /* the row that the operation is about */
	int is_query; /* the statement must return a row */
	char sql[224];
};

/* A working client. */
struct cnb_run {
	const struct cnb_target *target;
	const struct cnb_workload *workload;
	const struct cnb_env *env;
	uint32_t queries; /* per operation */
	uint32_t number; /* of the client in its crowd */
	struct cnb_session *session; /* some workloads hold it from begin to end */
	struct cnb_script script;
	struct cnb_error error;
};

struct cnb_workload {
	const char *name;
	const char *about;
	const char *sql;
	struct cnb_answer expected; /* a wrong answer ends the benchmark */
	int needs_rows; /* reads the table of cnb_setup() */
	int has_points; /* --queries applies */
	int has_depths; /* --depth applies */
	int needs_retail; /* reads and writes the tables of cnb_retail_setup() */
	int only_by_name; /* not among the default workloads */
	int is_crowd; /* all clients are in one process, and --think applies */
	int is_idle; /* of the crowd, only one client works */
	double think_ms; /* of a crowd, if --think is not given */
	int is_think_random; /* a pause takes between 0.5 and 1.5 times as long */
	uint32_t queries; /* per operation, without points and depths; 0: one */
	/* Write the SQL of the statement number `script.step` to `script.sql`. Returns 1, or 0
	 * if the operation has no more statements. NULL: each operation is one query of `sql`.
	 * Only crowds use it. */
	int (*statement)(struct cnb_run *run);
	int (*can)(const struct cnb_target *target); /* NULL: every target can do it */
	/* Called once before the operations; not measured. NULL: there is nothing to do. */
	int (*begin)(struct cnb_run *run);
	int (*operation)(struct cnb_run *run);
};

const struct cnb_workload *cnb_workload(size_t i);
const struct cnb_workload *cnb_workload_find(const char *name);

/* Close the session of a run, if it has one. */
void cnb_run_close(struct cnb_run *run);
/* Whether it is the answer to one query of the workload. 0; -1 with the run's error set. */
int cnb_run_check(struct cnb_run *run, const struct cnb_answer *answer);

/* The next random number of a client, from 1 to n. */
uint32_t cnb_random(struct cnb_script *script, uint32_t n);

/* Make and remove the tables for the rows workloads. */
int cnb_setup(const struct cnb_target *target, const struct cnb_env *env,
	struct cnb_error *ret_error);
void cnb_cleanup(const struct cnb_target *target, const struct cnb_env *env);

/* The tables of the workload retail: countries, stores, products, their stock in each store, and
 * `n_rows` purchases. */
int cnb_retail_setup(const struct cnb_target *target, const struct cnb_env *env,
	uint32_t n_rows, struct cnb_error *ret_error);
void cnb_retail_cleanup(const struct cnb_target *target, const struct cnb_env *env);
int cnb_retail_statement(struct cnb_run *run);

/* ------------------------------------------------------------------ options ----- */

/* The processes that use CPU time, besides the clients. */
enum cnb_part {
	CNB_PART_CENOTED,
	CNB_PART_PGBOUNCER, /* or pgpool */
	CNB_PART_SERVER,
	CNB_N_PARTS
};

struct cnb_options {
	const struct cnb_target *targets[CNB_MAX_TARGETS];
	size_t n_targets;
	const struct cnb_workload *workloads[CNB_MAX_WORKLOADS];
	size_t n_workloads;
	uint32_t points[CNB_MAX_POINTS]; /* queries per connection */
	size_t n_points;
	uint32_t depths[CNB_MAX_POINTS]; /* requests in a pipeline */
	size_t n_depths;
	uint32_t rounds;
	double time_s; /* for each target and case */
	uint64_t operations; /* for each round; 0: as many as fit into time_s */
	uint32_t clients;
	uint32_t processes; /* of a crowd */
	double think_ms; /* of a crowd's clients, after an operation; < 0: the workload's */
	/* How long a crowd works. 0: until it has done its number of operations. */
	double crowd_s;
	uint32_t retail_rows;
	const char *mode; /* of the pool that it starts */
	uint32_t sessions; /* of the pool that it starts; 0: clients + 3 */
	struct cnb_env env; /* places from the command line */
	const char *cenoted;
	pid_t roots[CNB_MAX_ROOTS]; /* processes whose CPU time counts */
	enum cnb_part parts[CNB_MAX_ROOTS];
	size_t n_roots;
	int has_tls; /* measure TLS, by TCP */
	int is_pinned;
	int cpu; /* -1: the last CPU that is allowed */
	int is_json;
	/* The arguments of the commands report and compare; NULL: it is another command. */
	const char *report_dir;
	const char *compare[2];
	int is_quick;
	int is_redraw; /* measure nothing, and draw the pictures of a report again */
	int has_plots;
	const char *servers,
		*sets; /* what a report measures: lists with commas; NULL: all */
	double tolerance; /* of compare: 0.05 is 5 % */
	/* Pools for the configuration of the cenoted that it starts, besides the one on SQLite;
	 * or NULL. */
	const char *more_pools;
	/* The name of the only pool, which is in `more_pools`. NULL: there is one on SQLite. */
	const char *only_pool;
};

/* 0: continue. 1: done (it printed help, version or list). -1: wrong, and reported. */
int cnb_options_parse(int argc, char **argv, struct cnb_options *ret_options);
/* Whether a word is in a list with commas. */
int cnb_list_has(const char *list, const char *word);
/* Add targets and workloads, which are lists of names with commas. 0; -1: this build lacks one. */
int cnb_options_choose(
	struct cnb_options *options, const char *targets, const char *workloads);

/* ------------------------------------------------------- processes and CPU ----- */

/* The processes of a daemon. */
struct cnb_procs {
	pid_t *pids; /* ascending */
	size_t n;
};

/* `root` and all its descendants. 0, or -1 with errno (ESRCH: there is no such process). */
int cnb_procs_find(pid_t root, struct cnb_procs *ret_procs);
void cnb_procs_finish(struct cnb_procs *procs);
int cnb_procs_equal(const struct cnb_procs *a, const struct cnb_procs *b);
/* CPU time of `root` and its descendants, also of those that have ended. For the ended ones the
 * kernel counts in ticks (10 ms). 0, or -1 with errno. */
int cnb_family_cpu(pid_t root, int64_t *ret_ns);
/* Memory of `root` and its descendants in KiB. A page that several processes share counts once: each has
 * its part of it. 0, or -1 with errno. */
int cnb_family_memory(pid_t root, int64_t *ret_kib);

/* Bind `root` and its descendants to these CPUs, except those that end meanwhile. */
void cnb_family_bind(pid_t root, const cpu_set_t *cpus);

/* Bind this process and those that it starts to one CPU (-1: the last allowed one). */
int cnb_pin(int cpu, int *ret_cpu, struct cnb_error *ret_error);

int64_t cnb_now_ns(void);
int64_t cnb_own_cpu_ns(void);

/* ------------------------------------------------------------------- daemon ----- */

/* A cenoted that cenote-bench starts, on an SQLite file in a temporary directory. */
struct cnb_daemon {
	pid_t pid;
	char dir[64];
	char file[96];
	char uri[192];
	int port; /* for TCP with TLS; 0: only the Unix socket */
};

/* Start it and wait until it serves. After -1, nothing remains. */
int cnb_daemon_start(const struct cnb_options *options, struct cnb_daemon *ret_daemon,
	struct cnb_error *ret_error);
/* Stop it and remove the directory. A second call does nothing. */
void cnb_daemon_stop(struct cnb_daemon *daemon);
/* Wait until the pool of that URI serves. 0; -1 with the error set. */
int cnb_pool_wait(const char *uri, struct cnb_error *ret_error);
/* Whether this machine can make a certificate for TLS. */
int cnb_has_tls(void);
/* Make only the directory and the file, for targets without cenoted. */
int cnb_daemon_directory(struct cnb_daemon *daemon, struct cnb_error *ret_error);
/* Remove a directory with everything in it, and empty its name. An empty name does nothing. */
void cnb_directory_remove(char *dir);

/* ------------------------------------------------------------------ measure ----- */

/* How long operations took, as numbers of operations in ranges of time, each at most 1/32 wide. */
#define CNB_N_LATENCIES 1184
struct cnb_latency {
	uint32_t counts[CNB_N_LATENCIES];
};

void cnb_latency_add(struct cnb_latency *latency, int64_t ns);
void cnb_latency_merge(struct cnb_latency *latency, const struct cnb_latency *more);
/* The time within which the share `q` (0 to 1) of the operations was done; 0: there are none. */
double cnb_latency_quantile(const struct cnb_latency *latency, double q);

/* What clients did in a round. */
struct cnb_work {
	int64_t wall_ns, cpu_ns;
	/* With `crowd_s`: the operations that ended in the measured part of the time, and how long
	 * this part is. */
	uint64_t n_operations;
	int64_t measured_ns;
	uint32_t n_refused; /* with `crowd_s`: clients that could not connect */
	struct cnb_latency latency;
	struct cnb_error refusal; /* why one of them could not */
};

/* The cost of one round of a target, per query. */
struct cnb_sample {
	double wall_us;
	double p50_us, p90_us, p99_us, p999_us; /* of an operation */
	double memory_kib; /* of pool and server together; idle only */
	double client_us; /* CPU time of the clients */
	double part_us[CNB_N_PARTS]; /* CPU time of the other parts */
};

struct cnb_summary {
	double median, p25, p75, min;
};

/* A target's part of a case. */
struct cnb_series {
	const struct cnb_target *target;
	uint64_t operations; /* for each round and client */
	/* rounds that were repeated because a process started or ended */
	uint32_t n_disturbed;
	struct cnb_sample *samples; /* one per round */
	struct cnb_summary wall, p50, p90, p99, p999, memory, cpu, client;
	struct cnb_summary parts[CNB_N_PARTS];
	/* Compared with the targets after it in the list, round by round. */
	struct cnb_summary ratio_wall[CNB_MAX_TARGETS], ratio_cpu[CNB_MAX_TARGETS];
	struct cnb_summary ratio_p50[CNB_MAX_TARGETS], ratio_p99[CNB_MAX_TARGETS];
};

struct cnb_case {
	const struct cnb_workload *workload;
	uint32_t queries;
	size_t n_series;
	struct cnb_series series[CNB_MAX_TARGETS];
};

/* Called before each round of a target, to show progress. Round 0 is the warm-up. */
struct cnb_progress {
	void (*step)(const struct cnb_progress *progress, const struct cnb_case *c,
		const struct cnb_target *target, uint32_t round, uint32_t rounds);
	uint32_t n_done; /* cases */
	uint32_t n_cases;
};

/* What measuring needs besides the case. */
struct cnb_bench {
	const struct cnb_options *options;
	struct cnb_env env;
	/* The roots of the working processes. For a part without a root, the CPU time is
	 * unknown. */
	pid_t roots[CNB_MAX_ROOTS];
	enum cnb_part parts[CNB_MAX_ROOTS];
	size_t n_roots;
	struct cnb_progress *progress; /* or NULL */
	const volatile sig_atomic_t *interrupted; /* not 0: stop */
};

/* The cases of the options, at most CNB_MAX_CASES: for each workload one, or one for each of its points
 * or depths. Returns their number. */
size_t cnb_cases_make(const struct cnb_options *options, struct cnb_case *ret_cases);
/* Read the CPU time so far of everything except the clients. 0; -1 with the error set. */
int cnb_parts_cpu(const struct cnb_bench *bench, const struct cnb_target *target,
	int64_t *ret_ns, struct cnb_error *ret_error);
/* Measure the case. 0; -1 with the error set. The series are valid until they are freed. */
int cnb_measure(
	const struct cnb_bench *bench, struct cnb_case *c, struct cnb_error *ret_error);
void cnb_case_finish(struct cnb_case *c);

struct cnb_summary cnb_summarize(double *values, size_t n); /* sorts them */

/* ------------------------------------------------------------------ clients ----- */

/* One client, or many that do the same. Many clients are processes of their own, except in a
 * crowd. */
struct cnb_crew;

int cnb_crew_begin(const struct cnb_run *pattern, const struct cnb_options *options,
	uint64_t operations, struct cnb_crew **ret_crew, struct cnb_error *ret_error);
/* All do their operations. Wall time is from the first start to the last end, CPU time is
 * the sum. */
int cnb_crew_work(
	struct cnb_crew *crew, struct cnb_work *ret_work, struct cnb_error *ret_error);
void cnb_crew_end(struct cnb_crew *crew); /* NULL is allowed */

/* Clients in this process that work at the same time. clients.c uses it for a workload with
 * is_crowd. */
struct cnb_crowd;

/* Connect the clients. The first one gets the pattern's number. With `may_refuse`, clients that cannot
 * connect are counted and left out. 0; -1 with the error set. */
int cnb_crowd_begin(const struct cnb_run *pattern, uint32_t n_clients, int64_t think_ns,
	int may_refuse, struct cnb_crowd **ret_crowd, struct cnb_error *ret_error);
/* If `time_ns` is 0, do `operations` for each client; a fast client may do more than a slow one.
 * Otherwise work for that time, and count the operations that end after its first fifth. 0; -1 with
 * the error set. */
int cnb_crowd_work(struct cnb_crowd *crowd, uint64_t operations, int64_t time_ns,
	struct cnb_work *ret_work, struct cnb_error *ret_error);
void cnb_crowd_end(struct cnb_crowd *crowd); /* NULL is allowed */

/* ------------------------------------------------------------------- report ----- */

/* The machine of the figures. */
struct cnb_machine {
	char cpu_model[128];
	char kernel[128];
	long n_cpus;
	int pinned_cpu; /* -1: not bound to a CPU */
	int is_known[CNB_N_PARTS]; /* the figures include its CPU time */
};

/* Whether the figures include all processes that work for this target. */
int cnb_is_cpu_known(const struct cnb_machine *machine, const struct cnb_target *target);

void cnb_report_text_begin(
	const struct cnb_machine *machine, const struct cnb_options *options);
void cnb_report_text_case(const struct cnb_case *c, const struct cnb_machine *machine);
void cnb_report_json(const struct cnb_machine *machine, const struct cnb_options *options,
	const struct cnb_case *cases, size_t n_cases);
void cnb_machine_read(struct cnb_machine *ret_machine);

#endif
