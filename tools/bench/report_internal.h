/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_REPORT_INTERNAL_H
#define CNB_REPORT_INTERNAL_H

#include <sched.h>

#include "figures.h"
#include "report.h"
#include "servers.h"

/* What the files of the command report share: report.c plans and runs the cases, report_case.c measures one. */

#define MAX_CLIENT_STEPS 8

enum kind {
	KIND_SQLITE,
	KIND_POSTGRESQL,
	KIND_MARIADB,
	N_KINDS
};

extern const char *const cnb_kind_names[N_KINDS];

/* Which pool a set uses: in the mode session, in the mode transaction, or that of retail. */
enum pool {
	POOL_HELD,
	POOL_TRANSACTION,
	POOL_RETAIL,
	N_POOLS
};

struct cnb_report_pool {
	const char *names[N_KINDS];
	uint32_t sessions;
};

extern const struct cnb_report_pool cnb_report_pools[N_POOLS];

/* A set: what is measured, where, and for how many clients. */
struct set {
	const char *name;
	const char *workloads;
	enum pool pool;
	int is_pinned; /* everything on one CPU */
	int kinds[N_KINDS];
	const char *targets; /* NULL: those of the kind of server */
	uint32_t processes;
	double crowd_s, quick_crowd_s; /* not 0: retail's way to measure */
	uint32_t clients[MAX_CLIENT_STEPS], quick_clients[MAX_CLIENT_STEPS];
};

/* The state of the command. */
struct runner {
	const struct cnb_options *options;
	const volatile sig_atomic_t *interrupted;
	struct cnb_servers servers;
	struct cnb_daemon daemon;
	/* A cenoted lets a user have half of what a pool may have, and a pool more if it is the
	 * only one. 5,250 users need that. */
	struct cnb_daemon retail_daemons[N_KINDS];
	struct cnb_report report;
	char shim_dirs[N_KINDS][256]; /* where the shim of that kind is; "": nowhere */
	cpu_set_t cpus; /* that this process may use */
	int64_t start_ns;
	double planned_s, done_s; /* time of measurements */
	size_t n_failed;
};

/* What a case's process sends: a figure each, and at its end why it failed. */
struct message {
	int is_figure;
	struct cnb_figure figure;
	struct cnb_error error;
};

/* Be the process of one case: measure it, and send a message for each figure through `fd`, and one at the end. */
void cnb_report_case(const struct runner *r, const struct set *set, enum kind kind,
	const struct cnb_options *options, int fd);
/* Set where the targets of a set are: bench->env, whose texts are in `places`. */
void cnb_report_places(const struct runner *r, const struct set *set, enum kind kind,
	struct cnb_bench *bench, char places[3][256]);

#endif
