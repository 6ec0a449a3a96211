/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_CLIENT_H
#define CNT_CLIENT_H

#include <cenote/cenote.h>

#include <stdint.h>
#include <sys/types.h>

/* Shorthands over libcenote for tests with real sessions. Failures are printed on standard error. */

/* Attach. Returns NULL on failure. `options`: NULL, or a list of name, value, …, NULL. */
cenote_conn *cnt_client_open(const char *uri, const char *const *options);
/* Run a statement and drop its results. Returns the status and prints nothing: the caller judges. */
int cnt_client_try(cenote_conn *conn, const char *sql);
/* The same with n integers as parameters, at most two, but print failures. 0 or -1. */
int cnt_client_exec(cenote_conn *conn, const char *sql, int n, int64_t a, int64_t b);
/* The first value of the first row, as an integer; -1 if there is none. */
int64_t cnt_client_int(cenote_conn *conn, const char *sql, int n, int64_t a, int64_t b);
/* Print the error of the last call on the connection. */
void cnt_client_complain(const cenote_conn *conn, const char *what, int status);
/* SQLSTATE of the last failure. */
const char *cnt_client_state(const cenote_conn *conn);

/* Run f(arg) in a child, which exits with its result (0…255) and does not outlive its parent.
 * Returns its process id. */
pid_t cnt_fork(int (*f)(void *arg), void *arg);
/* Wait for a child. Returns its exit status, or 256 + the signal that ended it. */
int cnt_wait(pid_t pid);
void cnt_pause_us(long us);
int64_t cnt_now_us(void);

#endif
