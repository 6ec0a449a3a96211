/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT_MS 600000

static void
become_driver(const struct fz_peer *peer, int in, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	execv(peer->argv[0], (char **)(uintptr_t)peer->argv);
	_exit(127);
}

static void
start(struct fz_peer *peer)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		abort();
	peer->pid = fork();
	if (peer->pid < 0)
		abort();
	if (peer->pid == 0)
		become_driver(peer, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	peer->to = in[1];
	peer->from = out[0];
}

void
fz_peer_ask(struct fz_peer *peer, const struct fz_sequence *seq)
{
	const char *p = (const char *)seq;
	size_t left = sizeof(*seq);

	if (peer->pid == 0)
		start(peer);
	while (left > 0) {
		ssize_t n = write(peer->to, p, left);

		/* a crash is noticed when the answer is read */
		if (n <= 0)
			return;
		p += n;
		left -= (size_t)n;
	}
}

/* Read exactly `len` bytes. Returns 1, or 0 on a timeout or at the end. */
static int
read_bytes(struct fz_peer *peer, void *to, size_t len)
{
	struct pollfd p = { .fd = peer->from, .events = POLLIN };
	char *at = to;

	while (len > 0) {
		ssize_t n = poll(&p, 1, SILENT_MS) > 0 ? read(peer->from, at, len) : -1;

		if (n <= 0)
			return 0;
		at += n;
		len -= (size_t)n;
	}
	return 1;
}

/* Clean up a driver that crashed or hangs. */
static void
end(struct fz_peer *peer)
{
	int status = 0;
	int is_silent = waitpid(peer->pid, &status, WNOHANG) == 0;

	if (is_silent) {
		usleep(200000);
		is_silent = waitpid(peer->pid, &status, WNOHANG) == 0;
	}
	if (is_silent) {
		kill(peer->pid, SIGKILL);
		waitpid(peer->pid, NULL, 0);
	}
	close(peer->to);
	close(peer->from);
	peer->pid = 0;
	peer->has_crashed = !is_silent;
	snprintf(peer->text, peer->size + 1, is_silent ? "silent" : "ended: status %x",
		(unsigned)status);
}

void
fz_peer_answer(struct fz_peer *peer)
{
	uint32_t len = 0;
	int is_well = read_bytes(peer, &len, sizeof(len));

	free(peer->text);
	peer->has_crashed = 0;
	peer->size = len > 64 ? len : 64;
	peer->text = calloc(1, peer->size + 1);
	if (peer->text == NULL)
		abort();
	if (!is_well || !read_bytes(peer, peer->text, len))
		end(peer);
}

int
fz_peer_stop(struct fz_peer *peer)
{
	int status = 0;

	free(peer->text);
	peer->text = NULL;
	if (peer->pid == 0)
		return 0;
	close(peer->to);
	close(peer->from);
	waitpid(peer->pid, &status, 0);
	peer->pid = 0;
	return status == 0 ? 0 : -1;
}
