/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_GUEST_H
#define CNT_GUEST_H

#include "pair.h"
#include "rig.h"

/* A program's way to look at the shim on a real server: ours, the original, and a cenoted with the pool "main". */
struct cnt_guest {
	struct cnt_pq ours, theirs;
	struct cnt_rig rig;
	char conninfo[512];
};

/* Of a group of tests. */
int cnt_guest_setup(void **state);
int cnt_guest_teardown(void **state);
/* Of each: it begins with a cenoted that is there, and no way around it. */
int cnt_guest_begin(void **state);

/* By ours, and it works. */
PGconn *cnt_guest_connect(struct cnt_guest *f);
/* The first value, or what went wrong; good until the next call. */
const char *cnt_guest_ask(const struct cnt_pq *pq, PGconn *conn, const char *sql);

/* Poll by PQconnectPoll() or PQresetPoll() until it is over: how it ended. */
typedef PostgresPollingStatusType cnt_guest_poll_function(PGconn *conn);
PostgresPollingStatusType cnt_guest_poll(
	struct cnt_guest *f, PGconn *conn, cnt_guest_poll_function *poll_it);

/* A notice processor that counts those which say "hm"; its argument is the count. */
void cnt_guest_count_notice(void *arg, const char *message);
extern int cnt_guest_n_notices;

#endif
