/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Whether an answer may still come. On a busy machine a process that has work may wait long for a CPU, so no time
 * tells it. An answer that is under way is in the hands of a process that is not asleep: the server's, or a worker, and
 * those are children of who made the socket.
 */

/* The state of a process: 'R', 'S', 'D' …; 0: there is none. */
static char
read_stat(const char *pid, long *ret_parent)
{
	char path[64], text[256] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	fclose(file);
	/* PID (NAME) STATE PARENT … */
	end = strrchr(text, ')');
	if (end == NULL || strlen(end) < 5)
		return 0;
	*ret_parent = strtol(end + 4, NULL, 10);
	return end[2];
}

static int
is_at_work(const char *pid, long parent, long alone)
{
	long its_parent = 0;
	char state = read_stat(pid, &its_parent);

	return (state == 'R' || state == 'D') &&
	       (its_parent == parent || strtol(pid, NULL, 10) == alone);
}

int
fz_is_under_way(struct fz *z, const struct fz_conn *c)
{
	struct ucred peer = { .pid = -1 };
	socklen_t size = sizeof(peer);
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int is_so = 0;

	(void)getsockopt(
		z->pq.f.PQsocket(c->conn), SOL_SOCKET, SO_PEERCRED, &peer, &size);
	while (dir != NULL && !is_so && (entry = readdir(dir)) != NULL)
		is_so = strtol(entry->d_name, NULL, 10) > 0 &&
			is_at_work(
				entry->d_name, peer.pid, z->pq.f.PQbackendPID(c->conn));
	if (dir != NULL)
		closedir(dir);
	return is_so;
}
