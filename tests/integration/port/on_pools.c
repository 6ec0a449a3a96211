/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a test program on pools of several servers.
 *
 *     on_pools PROGRAM ARGUMENT…
 *
 * The pools are pg (PostgreSQL), my (MariaDB), lite and lite2 (two files of SQLite). The program finds the run directory
 * in $CENOTE_SERVER (unix:DIR), a directory for its files in $CENOTE_TEST_DIR, and the conninfo of PostgreSQL in
 * $CENOTE_TEST_SERVER. on_pools exits with the status of the program.
 */
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int
run(const struct cnt_daemon *d, const struct cnt_server *postgresql, char **argv)
{
	char place[CNT_PATH_MAX + 8];
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 99;
	if (pid == 0) {
		snprintf(place, sizeof(place), "unix:%s", d->run_dir);
		setenv("CENOTE_SERVER", place, 1);
		setenv("CENOTE_TEST_DIR", d->dir, 1);
		setenv("CENOTE_TEST_SERVER", postgresql->server_line, 1);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(99);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int
main(int argc, char **argv)
{
	struct cnt_server postgresql, mariadb;
	struct cnt_daemon daemon;
	char config[4096];
	int status = 99;

	if (argc < 2)
		return 99;
	cnt_server_need(CNT_POSTGRESQL);
	cnt_server_need(CNT_MARIADB);
	if (cnt_server_start(&postgresql, CNT_POSTGRESQL, 0) < 0)
		return 99;
	if (cnt_server_start(&mariadb, CNT_MARIADB, 0) < 0) {
		cnt_server_stop(&postgresql);
		return 99;
	}
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool lite]\nbackend = sqlite\nserver = path=@DIR@/lite.db\nsessions "
		"= 0..4\n"
		"\n[pool lite2]\nbackend = sqlite\nserver = "
		"path=@DIR@/lite2.db\nsessions = 0..4\n"
		"\n[pool pg]\nbackend = postgresql\nserver = %s\nsessions = 1..4\n"
		"\n[pool my]\nbackend = mysql\nserver = %s local_infile=yes\nsessions = "
		"1..4\n",
		postgresql.server_line, mariadb.server_line);
	if (cnt_daemon_start(&daemon, config) == 0) {
		status = run(&daemon, &postgresql, argv + 1);
		if (cnt_daemon_stop(&daemon) < 0)
			status = 99;
	}
	cnt_server_stop(&mariadb);
	cnt_server_stop(&postgresql);
	return status;
}
