/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a program as a test, on a pool of its own.
 *
 *     on_pool BACKEND SESSIONS PROGRAM ARGUMENT…
 *
 * BACKEND is sqlite, postgresql, mysql, freetds, or the name of an ODBC driver. The program finds
 * in its environment
 *
 *     CENOTE_TEST_URI      the pool
 *     CENOTE_TEST_BACKEND  its backend
 *     CENOTE_TEST_SERVER   the pool's server line, if on_pool started the server
 *
 * CENOTE_TEST_SQLITE_KEYS in the environment of on_pool holds more keys for SQLite's server line,
 * such as "attach=yes".
 *
 * on_pool ends with the program's status. If CENOTE_TEST_PRELOAD names the address sanitizer's
 * library, the program and its children run with that library.
 */
#include "support/cnt_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Interpreters leave much memory for the kernel to free, and a collector that looks for objects on
 * the stack does not see the sanitizer's other stacks. Ruby gives its threads a signal stack, which
 * the sanitizer would take for its own. PHP needs one more library, before the sanitizer's. */
static void
preload(const char *library)
{
	const char *had = getenv("ASAN_OPTIONS");
	char options[1024];

	snprintf(options, sizeof options, "%s%s", had ? had : "",
		":detect_leaks=0:detect_stack_use_after_return=0"
		":use_sigaltstack=0:verify_asan_link_order=0");
	setenv("ASAN_OPTIONS", options, 1);
	setenv("LD_PRELOAD", library, 1);
}

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
		if (getenv("CENOTE_TEST_PRELOAD"))
			preload(getenv("CENOTE_TEST_PRELOAD"));
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
