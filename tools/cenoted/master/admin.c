/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket run_dir/admin.sock, on which cenotectl gives its commands. A client sends one line and gets one answer. The
 * master never waits for such a client: there are few places, and each client has a limited time. This file owns the places. master.c
 * calls it.
 */
#include "admin.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/log.h"
#include "shared/priv.h"

/* How long a client may take to send its command, and to read the answer. */
#define CLIENT_MS 10000
/* How often to look whether the transactions have ended. */
#define LOOK_MS   50

static struct {
	struct cnd_pool socket; /* only its listening socket is in use */
	struct cnd_admin_client clients[CND_ADMIN_CLIENTS];
	uid_t starter; /* who started cenoted */
} admin;

/* ---- the socket ---- */

void
cnd_admin_open(void)
{
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++)
		admin.clients[i].fd = -1;
	admin.starter = getuid();
	/* cenoted serves without it, too */
	(void)cnd_pool_open_admin(&admin.socket, cnd_the_master.config);
}

void
cnd_admin_keep(void)
{
	if (admin.socket.listen_fd >= 0 && cnd_pool_has_socket(&admin.socket))
		return;
	cnd_pool_close(&admin.socket);
	(void)cnd_pool_open_admin(&admin.socket, cnd_the_master.config);
}

/* ---- clients ---- */

static void
leave(struct cnd_admin_client *c)
{
	close(c->fd);
	c->fd = -1;
	cnd_report_finish(&c->report);
}

/* Send what the socket takes now. */
static void
send_some(struct cnd_admin_client *c)
{
	struct cnc_buf *b = &c->report.bytes;
	ssize_t n = 1;

	while (n > 0 && cnc_buf_len(b) > 0) {
		n = send(c->fd, cnc_buf_head(b), cnc_buf_len(b),
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			cnc_buf_consume(b, (size_t)n);
	}
	if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
		(c->phase == CND_ADMIN_SENDING && cnc_buf_len(b) == 0))
		leave(c);
}

static void
begin_sending(struct cnd_admin_client *c)
{
	c->phase = CND_ADMIN_SENDING;
	c->until_ms = cnd_now_ms() + CLIENT_MS;
	send_some(c);
}

/* Whether it is a process of cenoted. An attacker may run it, so it may give no command. */
static bool
is_own_child(pid_t pid)
{
	for (uint32_t i = 0; i < cnd_the_master.child.board->n_slots; i++) {
		if (cnd_the_master.places[i].pid == pid ||
			cnd_the_master.groups[i].pid == pid)
			return true;
	}
	for (size_t i = 0; i < CND_HELPERS_MAX; i++) {
		if (cnd_the_master.helpers[i] == pid)
			return true;
	}
	return pid == cnd_the_master.door || pid == cnd_the_master.stats.pid ||
	       pid == cnd_the_master.alerts.pid;
}

static bool
may_command(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	/* SO_PEERCRED gives 0 for a process in another PID namespace */
	if (peer.pid != 0 && is_own_child(peer.pid)) {
		cnd_log(LOG_ERR, "process %d of cenoted wanted to give a command",
			(int)peer.pid);
		return false;
	}
	if (peer.uid == 0 || peer.uid == admin.starter ||
		peer.uid == cnd_the_master.config->uid)
		return true;
	cnd_log(LOG_WARNING, "pid %d, uid %d may not control cenoted", (int)peer.pid,
		(int)peer.uid);
	return false;
}

static struct cnd_admin_client *
free_place(void)
{
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		if (admin.clients[i].fd < 0)
			return &admin.clients[i];
	}
	return NULL;
}

static void
accept_one(void)
{
	static const char full[] = "error\tcenoted has no place for another admin "
				   "client: try again in 10 s\n";
	int fd =
		accept4(admin.socket.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct cnd_admin_client *c = free_place();

	if (fd < 0)
		return;
	if (c == NULL) {
		(void)send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	*c = (struct cnd_admin_client){ .fd = fd, .until_ms = cnd_now_ms() + CLIENT_MS };
	cnd_report_init(&c->report);
	if (may_command(fd))
		return;
	cnd_report_line(&c->report, "error",
		"you may not control this cenoted: run cenotectl as root, or as the user "
		"of cenoted");
	begin_sending(c);
}

static void
receive(struct cnd_admin_client *c)
{
	ssize_t n = recv(c->fd, c->line + c->len, sizeof(c->line) - c->len, 0);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		leave(c);
		return;
	}
	/* only the command is of interest; what follows it is dropped */
	if (c->phase != CND_ADMIN_READING)
		return;
	c->len += (size_t)n;
	end = memchr(c->line, '\n', c->len);
	if (end == NULL && c->len < sizeof(c->line))
		return;
	if (end != NULL) {
		*end = '\0';
		c->phase = CND_ADMIN_SENDING;
		cnd_admin_carry_out(c);
	} else {
		cnd_report_line(&c->report, "error",
			"the command is longer than %u bytes", CND_ADMIN_LINE_MAX);
	}
	c->len = 0;
	if (end == NULL || c->phase == CND_ADMIN_SENDING)
		begin_sending(c);
}

/* ---- for master.c ---- */

nfds_t
cnd_admin_gather(struct pollfd *fds)
{
	fds[0] = (struct pollfd){ .fd = admin.socket.listen_fd, .events = POLLIN };
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		const struct cnd_admin_client *c = &admin.clients[i];

		fds[1 + i] = (struct pollfd){ .fd = c->fd,
			.events = c->phase == CND_ADMIN_SENDING ? POLLOUT : POLLIN };
	}
	return 1 + CND_ADMIN_CLIENTS;
}

void
cnd_admin_hear(const struct pollfd *fds)
{
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		struct cnd_admin_client *c = &admin.clients[i];

		if (fds[1 + i].revents == 0 || fds[1 + i].fd != c->fd)
			continue;
		if (c->phase == CND_ADMIN_SENDING)
			send_some(c);
		else
			receive(c);
	}
	if (fds[0].revents != 0)
		accept_one();
}

static int64_t
tend_client(struct cnd_admin_client *c, int64_t now)
{
	if (c->phase == CND_ADMIN_PAUSING && now >= c->until_ms) {
		c->until_ms = now + LOOK_MS;
		if (!cnd_admin_is_quiet(c->pool))
			return c->until_ms;
		cnd_report_line(&c->report, "ok", "no transaction is open");
		begin_sending(c);
	}
	if (c->phase == CND_ADMIN_DRAINING || c->phase == CND_ADMIN_UPGRADING)
		return CND_NEVER;
	if (c->fd >= 0 && c->phase != CND_ADMIN_PAUSING && now >= c->until_ms)
		leave(c);
	return c->fd >= 0 ? c->until_ms : CND_NEVER;
}

int64_t
cnd_admin_tend(int64_t now)
{
	int64_t until = CND_NEVER;

	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		int64_t due = admin.clients[i].fd >= 0
				      ? tend_client(&admin.clients[i], now)
				      : CND_NEVER;

		if (due < until)
			until = due;
	}
	return until;
}

void
cnd_admin_end_upgrade(const char *why, pid_t successor)
{
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		struct cnd_admin_client *c = &admin.clients[i];

		if (c->fd < 0 || c->phase != CND_ADMIN_UPGRADING)
			continue;
		if (why != NULL)
			cnd_report_line(&c->report, "error",
				"the new cenoted %s; this one goes on", why);
		else
			cnd_report_line(&c->report, "ok",
				"process %d serves now; process %d ends when its clients "
				"hold nothing",
				(int)successor, (int)getpid());
		begin_sending(c);
	}
}

void
cnd_admin_end(void)
{
	for (size_t i = 0; i < CND_ADMIN_CLIENTS; i++) {
		struct cnd_admin_client *c = &admin.clients[i];

		if (c->fd < 0)
			continue;
		if (c->phase == CND_ADMIN_DRAINING)
			cnd_report_line(&c->report, "ok", "cenoted has ended");
		/* the kernel closes the connections when cenoted ends */
		c->phase = CND_ADMIN_DRAINING;
		send_some(c);
	}
	cnd_pool_unlink(&admin.socket);
}
