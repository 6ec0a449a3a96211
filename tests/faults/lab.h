/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LAB_H
#define LAB_H

#include <stdatomic.h>
#include <stdbool.h>

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/*
 * A lab: a user on a PostgreSQL server, one cenoted with a pool in transaction mode, and clients that write to a ledger. It makes one
 * fault, ends it, and compares what the clients were told with what the server has. Each lab is a process of its own, so many run at
 * the same time. lab.c has the lab and its clients, lab_faults.c the faults; test_lab.c runs them.
 */

#define LAB_CLIENTS     6
#define LAB_TCP_CLIENTS 2 /* the first ones come by TCP */
#define LAB_SESSIONS    4
#define LAB_NUMBERS     20000 /* the most rows of a client */
#define LAB_STATES      16 /* the most SQLSTATEs that one client sees */
#define LAB_HOGS        64

/* The limits that clients set: for one connect, and for one call. */
#define LAB_LIMIT       "5s"
#define LAB_LIMIT_MS    5000
/* The longest time from the end of a fault until every client works and the server has the right sessions. */
#define LAB_RECOVERY_MS 20000
/* What a busy machine may add. */
#define LAB_SLACK_MS    4000

/* What a client was told about one of its rows. */
enum lab_row {
	LAB_ROW_NONE,
	LAB_ROW_LOST, /* it was surely not committed: the row must not be there */
	LAB_ROW_UNKNOWN, /* it may have been committed: the row may be there */
	LAB_ROW_DONE, /* the commit was acknowledged: the row must be there */
	LAB_ROWS
};

struct lab_state {
	char sqlstate[6];
	unsigned n;
};

/* Shared by a client and its lab. */
struct lab_client {
	int number;
	const char *uri;
	_Atomic int64_t committed_us; /* when its last commit was acknowledged */
	_Atomic int64_t longest_us; /* its longest call since the fault began */
	struct lab_state states[LAB_STATES]; /* of its failures; n == 0 ends the list */
	unsigned char rows[LAB_NUMBERS];
};

struct lab_ledger {
	atomic_int is_over;
	struct lab_client clients[LAB_CLIENTS];
};

/* What came out, for the table. The lab's process writes it, and the test reads it. */
struct lab_report {
	char skipped[128]; /* why the fault cannot be made here; "": it was made */
	char saw[160]; /* SQLSTATEs with their numbers */
	int64_t longest_ms; /* the longest time that a client waited for an answer or an error */
	int64_t recovery_ms; /* from the end of the fault until each client had committed again */
	int n_sessions; /* of the pool on the server, at the end */
	int n_rows[LAB_ROWS];
};

/* What a lab gets from its test. Labs that chose ports themselves at the same time could choose the same. */
struct lab_place {
	const struct cnt_server
		*server; /* it runs, for labs that have none of their own */
	int port; /* of cenoted, for TCP clients */
	int stats_port;
};

struct lab {
	const struct lab_fault *fault;
	const struct lab_place *place;
	struct lab_report *report;
	struct lab_ledger *ledger;
	struct cnt_server server;
	struct cnt_daemon daemon;
	char user[16]; /* of the pool, with a ledger in a schema of its own */
	char server_line[256];
	char tcp_uri[128];
	pid_t clients[LAB_CLIENTS];
	/* what a fault needs to end itself */
	pid_t victim;
	pid_t crowd[4];
	int hogs[LAB_HOGS];
	int n_hogs;
	int server_net; /* network namespace of the server */
	char log[128]; /* a log that cannot grow */
	long log_size;
	volatile int64_t *clock_s; /* how far the time of day is moved */
};

/* The functions return 0, or -1 after printing why. */
struct lab_fault {
	const char *test; /* the name of the test, a sentence */
	const char *what; /* for the table */
	const char *states; /* the SQLSTATEs that clients may see */
	int hold_ms; /* how long the fault lasts */
	const char *log; /* of cenoted; NULL: stderr */
	const char
		*mode; /* lines of the pool; NULL: transaction, with two shared workers */
	bool has_server; /* a server of its own; the other labs share one */
	/* before the lab's server runs; 1: the fault cannot be made here */
	int (*prepare)(struct lab *l);
	int (*before_daemon)(struct lab *l);
	int (*begin)(struct lab *l);
	int (*end)(struct lab *l); /* NULL: the fault ends by itself */
};

extern const struct lab_fault lab_faults[];
extern const size_t lab_n_faults;

/* Run the lab of a fault to its end. Returns 0, or 1 after printing what was wrong. */
int lab_run(const struct lab_fault *fault, const struct lab_place *place,
	struct lab_report *report);
/* Print what is wrong in this lab. Returns -1. */
int lab_complain(const struct lab *l, const char *what);
/* The same with errno. */
int lab_fail(const struct lab *l, const char *call);
/* A child of cenoted with this name. */
pid_t lab_child(const struct lab *l, const char *name);
/* The number of sessions that the pool has on the server; -1: the server does not say. */
int lab_sessions(const struct lab *l);

#endif
