/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/cnt_process.h"

/*
 * Whether an answer may still come. A time limit cannot tell, because a process on a busy machine may wait
 * long for a CPU. While an answer is on its way, a server process or a worker that handles it is not
 * asleep. These processes are children of the process that made the socket, and of the server: a pool may
 * log in for the answer. They are examined one by one, and the answer may move to a process that was
 * examined already. So examine all of them twice, and check that none has run in between.
 */

#define CHILDREN_MAX 256

struct count {
	int n_at_work;
	unsigned long long n_switches; /* sum over all processes */
};

/* The number after a name at the beginning of a line. */
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
look_at(struct count *count, pid_t pid)
{
	char path[64], text[4096];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	add(count, text);
}

static void
look_at_children(struct count *count, pid_t parent)
{
	pid_t children[CHILDREN_MAX];
	size_t n = cnt_children_of(parent, children, CHILDREN_MAX);

	for (size_t i = 0; i < n; i++)
		look_at(count, children[i]);
}

static pid_t
pid_from_env(const char *name)
{
	return (pid_t)strtol(cnt_env_or(name, "-1"), NULL, 10);
}

static struct count
count_all(pid_t parent)
{
	pid_t server = pid_from_env("FZ_SERVER_PID");
	struct count count = { 0, 0 };

	look_at_children(&count, parent);
	if (server > 0 && server != parent)
		look_at_children(&count, server);
	return count;
}

/* The process that created the socket at the other end. */
static pid_t
parent_of(int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
		return peer.pid;
	return pid_from_env("FZ_POOL_PID");
}

int
fz_is_under_way(struct fz *z, const struct fz_conn *c)
{
	pid_t parent = parent_of(z->pq.f.PQsocket(c->conn));
	struct count before = count_all(parent);
	struct count now = count_all(parent);

	return before.n_at_work > 0 || now.n_at_work > 0 ||
	       before.n_switches != now.n_switches;
}
