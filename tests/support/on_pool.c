/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a test that is a program of its own on a pool of its own.
 *
 *     on_pool BACKEND SESSIONS PROGRAM ARGUMENT…
 *
 * BACKEND is sqlite, postgresql, mysql or freetds. The program finds in its environment
 *
 *     CENOTE_TEST_URI      the pool
 *     CENOTE_TEST_BACKEND  its backend
 *     CENOTE_TEST_SERVER   cenoted's server line for the server behind it, if it was started here
 *
 * Its status is ours.
 */
#include "support/cnt_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int
run(const struct cnt_pool *pool, char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 99;
	if (pid == 0) {
		setenv("CENOTE_TEST_URI", pool->daemon.uri, 1);
		setenv("CENOTE_TEST_BACKEND", pool->backend, 1);
		setenv("CENOTE_TEST_SERVER", pool->server.server_line, 1);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(99);
	}
	if (waitpid(pid, &status, 0) < 0)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	struct cnt_pool pool;
	int status;

	if (argc < 4) {
		fprintf(stderr, "usage: on_pool BACKEND SESSIONS PROGRAM ARGUMENT...\n");
		return 2;
	}
	if (cnt_pool_start(&pool, argv[1], (unsigned)strtoul(argv[2], NULL, 10)) < 0)
		return 99;
	status = run(&pool, argv + 3);
	if (cnt_pool_stop(&pool) < 0 && status == 0)
		status = 99;
	return status;
}
