/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_REPORT_INTERNAL_H
#define CNB_REPORT_INTERNAL_H

#include <sched.h>

#include "figures.h"
#include "report.h"
#include "servers.h"

/*
 * What the files of the command report share: report.c plans the cases and starts a process for each,
 * and report_case.c is that process.
 */

#define CNB_MAX_STEPS 8

/* The kinds of database that a report measures. */
enum cnb_kind {
	CNB_KIND_SQLITE,
	CNB_KIND_POSTGRESQL,
	CNB_KIND_MARIADB,
	CNB_N_KINDS
};

extern const char *const cnb_kind_names[CNB_N_KINDS];

/* The name of a pool of cenoted. SQLite has only one. */
const char *cnb_report_pool(enum cnb_pool pool, enum cnb_kind kind);

/* A set of measurements: what is measured, where, and for how many clients. */
struct cnb_set {
	const char *name;
	const char *workloads;
	enum cnb_pool pool;
	int is_pinned; /* everything on one CPU */
	int kinds[CNB_N_KINDS];
	const char *targets; /* NULL: those of the kind of database */
	uint32_t processes; /* 0: one */
	double crowd_s, quick_crowd_s; /* retail: how long to measure; 0: in rounds */
	uint32_t clients[CNB_MAX_STEPS], quick_clients[CNB_MAX_STEPS]; /* 0 ends them */
};

/* The state of the command. */
struct cnb_runner {
	const struct cnb_options *options;
	const volatile sig_atomic_t *interrupted;
	struct cnb_servers servers;
	struct cnb_daemon daemon;
	/* The pools for retail. Each has a cenoted of its own: where there are several pools, cenoted
	 * lets a pool and its users have fewer clients than 5,250. */
	struct cnb_daemon retail_daemons[CNB_N_KINDS];
	struct cnb_report report;
	char shim_dirs[CNB_N_KINDS]
		      [256]; /* where the shim of that kind is; "": nowhere */
	char odbc_driver[512]; /* the path of the ODBC driver; "": there is none */
	int has_peer[CNB_N_KINDS]; /* a pool of somebody else can be measured */
	cpu_set_t cpus; /* that this process may use */
	int64_t start_ns;
	double planned_s, done_s; /* time of measurements */
	size_t n_failed;
};

/* A message from the process of a case: a figure; or, as the last one, why the case failed. */
struct cnb_case_message {
	int is_figure;
	struct cnb_figure figure;
	struct cnb_error error; /* empty: it did not fail */
};

/* Be the process of one case: measure it, and send a message for each figure through `fd`, and one at the
 * end. */
void cnb_report_case(const struct cnb_runner *r, const struct cnb_set *set,
	enum cnb_kind kind, const struct cnb_options *options, int fd);

/* Where the pools of a set are. */
struct cnb_report_places {
	char pool[256];
	char pgbouncer[256];
};

/* Set `ret_env` to where the targets of a set are. It borrows `ret_places` and the runner. */
void cnb_report_env(const struct cnb_runner *r, const struct cnb_set *set,
	enum cnb_kind kind, struct cnb_report_places *ret_places,
	struct cnb_env *ret_env);

#endif
