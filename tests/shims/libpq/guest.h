/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_GUEST_H
#define CNT_GUEST_H

#include "pair.h"
#include "rig.h"

/*
 * A test program that uses the shim on a real server. It has our library, the original, and a cenoted with
 * the pool "main".
 */
struct cnt_guest {
	struct cnt_pq ours, theirs;
	struct cnt_rig rig;
	char conninfo[512];
};

/* Setup and teardown of a group of tests. */
int cnt_guest_setup(void **state);
int cnt_guest_teardown(void **state);
/* Setup of each test: it starts with a running cenoted, and connections cannot fall back to the original. */
int cnt_guest_begin(void **state);

/* Connect through our library, and check that this worked. */
PGconn *cnt_guest_connect(struct cnt_guest *f);
/* Run a query. Returns its first value, or the error message; valid until the next call. */
const char *cnt_guest_ask(const struct cnt_pq *pq, PGconn *conn, const char *sql);

/* Call PQconnectPoll() or PQresetPoll() until it succeeds or fails, and return the last status. */
typedef PostgresPollingStatusType cnt_guest_poll_function(PGconn *conn);
PostgresPollingStatusType cnt_guest_poll(
	struct cnt_guest *f, PGconn *conn, cnt_guest_poll_function *poll_it);

/* A notice processor that counts the notices containing "hm". */
void cnt_guest_count_notice(void *arg, const char *message);
extern int cnt_guest_n_notices;

#endif
