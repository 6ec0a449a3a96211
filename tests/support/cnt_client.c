/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *
cnt_client_state(const cenote_conn *conn)
{
	return cenote_diag_sqlstate(cenote_conn_diag(conn));
}

void
cnt_client_complain(const cenote_conn *conn, const char *what, int status)
{
	fprintf(stderr, "# %d: %.80s: %s %s: %s\n", (int)getpid(), what,
		cenote_status_name(status), cnt_client_state(conn),
		cenote_diag_message(cenote_conn_diag(conn)));
}

cenote_conn *
cnt_client_open(const char *uri, const char *const *options)
{
	cenote_conn *conn;
	int r;

	if (cenote_conn_create(NULL, &conn) < 0)
		return NULL;
	r = cenote_conn_set_uri(conn, uri);
	for (; r == CENOTE_OK && options && options[0]; options += 2)
		r = cenote_conn_set(conn, options[0], options[1]);
	if (r == CENOTE_OK)
		r = cenote_connect(conn);
	if (r == CENOTE_OK)
		return conn;
	cnt_client_complain(conn, "connect", r);
	cenote_conn_destroy(conn);
	return NULL;
}

int
cnt_client_try(cenote_conn *conn, const char *sql)
{
	cenote_result *res = NULL;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

static int
query(cenote_conn *conn, const char *sql, int n, int64_t a, int64_t b,
	cenote_result **ret_res)
{
	cenote_params *params;
	int r = cenote_params_create(NULL, &params);

	if (r < 0)
		return r;
	if (n > 0)
		r = cenote_params_add_int64(params, a);
	if (r == CENOTE_OK && n > 1)
		r = cenote_params_add_int64(params, b);
	if (r == CENOTE_OK)
		r = cenote_query(conn, sql, CENOTE_NTS, params, NULL, ret_res);
	cenote_params_destroy(params);
	if (r != CENOTE_OK)
		cnt_client_complain(conn, sql, r);
	return r;
}

int
cnt_client_exec(cenote_conn *conn, const char *sql, int n, int64_t a, int64_t b)
{
	cenote_result *res = NULL;

	if (query(conn, sql, n, a, b, &res) != CENOTE_OK)
		return -1;
	cenote_result_destroy(res);
	return 0;
}

int64_t
cnt_client_int(cenote_conn *conn, const char *sql, int n, int64_t a, int64_t b)
{
	cenote_result *res = NULL;
	int64_t value = -1;

	if (query(conn, sql, n, a, b, &res) != CENOTE_OK)
		return -1;
	if (cenote_result_int64(res, 0, 0, &value) != CENOTE_OK)
		value = -1;
	cenote_result_destroy(res);
	return value;
}

pid_t
cnt_fork(int (*f)(void *arg), void *arg)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	_exit(f(arg) & 0xff);
}

int
cnt_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

void
cnt_pause_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

int64_t
cnt_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
