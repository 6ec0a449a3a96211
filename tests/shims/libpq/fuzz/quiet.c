/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/cnt_process.h"

/*
 * Whether an answer may still come. On a busy machine a process that has work may wait long for a CPU, so no time
 * tells it. An answer that is under way is in the hands of a process that is not asleep: the server's, or a worker, and
 * those are children of who made the socket. While they are looked at one by one it may go from one that
 * was not looked at yet to one that was: so they are counted twice, and none may have run in between.
 */

struct count {
	int n_at_work;
	unsigned long long n_switches; /* of all of them */
};

/* The number behind a name at the beginning of a line. */
static unsigned long long
number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void
add(struct count *count, const char *text)
{
	const char *state = strstr(text, "\nState:\t");

	if (state != NULL)
		count->n_at_work += state[8] == 'R' || state[8] == 'D';
	count->n_switches += number_of(text, "\nvoluntary_ctxt_switches:\t") +
			     number_of(text, "\nnonvoluntary_ctxt_switches:\t");
}

static void
look_at(struct count *count, const char *pid, long parent, long alone)
{
	char path[64], text[4096];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	if ((long)number_of(text, "\nPPid:\t") == parent ||
		strtol(pid, NULL, 10) == alone)
		add(count, text);
}

static struct count
count_all(long parent, long alone)
{
	struct count count = { 0, 0 };
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strtol(entry->d_name, NULL, 10) > 0)
			look_at(&count, entry->d_name, parent, alone);
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* Who made the socket at the other end. */
static long
parent_of(int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
		return peer.pid;
	return strtol(cnt_env_or("FZ_POOL_PID", "-1"), NULL, 10);
}

int
fz_is_under_way(struct fz *z, const struct fz_conn *c)
{
	long parent = parent_of(z->pq.f.PQsocket(c->conn));
	struct count before = count_all(parent, z->pq.f.PQbackendPID(c->conn));
	struct count now = count_all(parent, z->pq.f.PQbackendPID(c->conn));

	return before.n_at_work > 0 || now.n_at_work > 0 ||
	       before.n_switches != now.n_switches;
}
