/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LOAD_H
#define LOAD_H

#include <cenote/cenote.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../../tools/bench/bench.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/*
 * Many clients of a pool, all in one thread with one loop, so that they leave the CPUs to the pool.
 * under_change.c and at_once.c use it.
 *
 * A client does turns: it connects if it is not connected, runs some statements one after the other,
 * and pauses. Any error ends it, and is counted.
 */

/* A figure belongs to the time before, during or after what the program does to the pool. */
enum load_phase {
	LOAD_BEFORE,
	LOAD_DURING,
	LOAD_AFTER,
	LOAD_PHASES
};

#define LOAD_STATEMENTS 3

struct load_client {
	cenote_conn *conn; /* NULL: the client has ended */
	unsigned user; /* for the program */
	/* Who connects. The kernel reports this to cenoted. */
	uid_t uid; /* on a unix socket; 0: the user of the program */
	char address[16]; /* by TCP; "": any */
	bool comes_and_goes; /* connects for each turn */
	int n_turns; /* that are left; -1: without end */
	int64_t pause_ns; /* between two turns */
	/* When its next turn begins; while it waits: when to go on although nothing has arrived, INT64_MAX: never. */
	int64_t look_ns;
	char sql[LOAD_STATEMENTS][96]; /* "": no more */
	uint64_t n_done; /* turns that it has done */
	/* The loop's own. */
	int at; /* the statement that runs; -1: it connects */
	int64_t begun_ns; /* its turn; 0: it pauses */
	enum load_phase phase; /* in which its turn began */
	bool has_asked; /* its first opening has been sent */
};

struct load_figures {
	uint64_t n_turns;
	int64_t longest_ns;
	struct cnb_latency latency;
};

struct load {
	struct load_client *clients;
	size_t n_clients;
	/* Another thread, or `done`, may change these two. */
	_Atomic int phase;
	atomic_bool is_over;
	/* Called when a client has got its first session; before each turn; after each turn; and after a client has ended, also by an error.
	 * `done` is needed; the others may be NULL. */
	void (*attached)(struct load *l, struct load_client *c);
	void (*prepare)(struct load *l, struct load_client *c);
	void (*done)(struct load *l, struct load_client *c, int64_t ns);
	void (*ended)(struct load *l, struct load_client *c);
	uint64_t n_errors;
	_Atomic size_t n_asked; /* clients that have asked for their first session */
	/* The loop's own. */
	int epoll_fd;
	size_t n_running;
	size_t swept; /* the client that the sweep has come to */
	int64_t next_sweep_ns;
};

int64_t load_now_ns(void);
/* A handle with this URI, without blocking. NULL: reported on standard error. */
cenote_conn *load_handle(const char *uri);
/* Let the clients work until `is_over`, or until they have done their turns, and destroy their
 * handles. 0 or -1. */
int load_run(struct load *l);

void load_add(struct load_figures *f, int64_t ns);
/* Add a turn to the figures of its phase. A turn that was under way during `LOAD_DURING` belongs there. */
void load_count(struct load_figures *figures, const struct load *l,
	const struct load_client *c, int64_t ns);
/* A table with a row for each phase, in milliseconds. */
void load_print_head(FILE *out);
void load_print(FILE *out, const char *what, const struct load_figures *figures);

/* ---- the program ---- */

/* An option with a letter and a value. One of the pointers is set: it gets a whole number from 1, or a time from 0. */
struct load_option {
	char letter; /* 0 ends the list */
	unsigned *number;
	double *time;
	const char **word;
};

/* Read the options that follow argv[1]. 0; -1: they are wrong, and `usage` was printed. */
int load_parse(
	int argc, char **argv, const struct load_option *options, const char *usage);
/* Print `usage` on standard error. Returns -1. */
int load_usage(const char *usage);

/* What a program runs. */
struct load_stage {
	struct cnt_server server; /* PostgreSQL */
	struct cnt_daemon pool;
	struct load load;
};

/* Start server and pool, measure, and stop them. Returns the exit status; 77 without PostgreSQL: Meson skips the test. */
int load_main(struct load_stage *stage, int (*start)(void), int (*measure)(void));

#endif
