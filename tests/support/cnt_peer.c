/* SPDX-License-Identifier: BSD-2-Clause */
#include "cnt_peer_answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/sqlstate.h"
#include "core/value.h"

/* ----------------------------------------------------------------- attaching ----- */

static void
fill_facts(struct cnp_attached *m, const struct cnc_buf *pairs)
{
	m->pool = cnp_str("play");
	m->backend = cnp_str("played");
	m->server = cnp_str("here");
	m->server_version = cnp_str("1.2");
	m->database = cnp_str("db");
	m->user = cnp_str("me");
	m->parameters.p = (const char *)cnc_buf_head(pairs);
	m->parameters.n = cnc_buf_len(pairs);
}

static void
say_attached(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_msg m = cnt_peer_message(CNP_MSG_ATTACHED);
	struct cnc_buf pairs;

	cnc_buf_init(&pairs, &cnc_mem_default, 1024);
	(void)cnp_pairs_put(&pairs, "server_encoding", "UTF8");
	if (p->knobs.zone)
		(void)cnp_pairs_put(&pairs, "TimeZone", p->knobs.zone);
	m.as.attached.session = c->session;
	m.as.attached.key = CNT_PEER_KEY;
	m.as.attached.worker_pid = 4711;
	m.as.attached.features = CNP_FEATURE_TRANSACTIONS | CNP_FEATURE_CANCEL;
	if (!c->server.is_kept || p->knobs.says_all)
		fill_facts(&m.as.attached, &pairs);
	(void)cnp_server_attached(&c->server, &m.as.attached);
	cnc_buf_finish(&pairs);
	p->seen.n_attaches++;
	m = cnt_peer_message(CNP_MSG_PARAMETER);
	m.as.parameter.name = cnp_str("zone");
	m.as.parameter.value = cnp_str("UTC");
	(void)cnp_server_ready(&c->server, c->tx, c->pins, NULL);
	if (!c->server.is_kept)
		(void)cnp_server_reply(&c->server, &m, 1);
	if (p->knobs.n_yield_on_attach > 0) {
		p->knobs.n_yield_on_attach--;
		cnt_peer_yield(p, c, CNP_YIELD_DRAIN);
	}
}

static void
note_options(struct cnt_peer *p, struct cnp_str blob)
{
	struct cnp_str name, value;
	struct cnc_reader r;

	p->seen.options[0] = '\0';
	cnc_reader_init(&r, blob.p, blob.n);
	while (cnp_pairs_next(&r, &name, &value) > 0)
		cnt_peer_add_text(p->seen.options, sizeof(p->seen.options), "%s=%s;",
			name.p, value.p);
}

static void
do_attach(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_attach *m)
{
	p->seen.flags = m->flags;
	p->seen.generation = m->generation;
	(void)snprintf(p->seen.carry, sizeof(p->seen.carry), "%s", m->carry.p);
	(void)snprintf(p->seen.program, sizeof(p->seen.program), "%s", m->program.p);
	note_options(p, m->options);
	if (c->server.is_kept && p->knobs.keeps_waiting)
		return;
	if (c->server.is_kept && p->knobs.n_send_away > 0) {
		p->knobs.n_send_away--;
		(void)cnp_server_yield(&c->server, CNP_YIELD_RELOAD, NULL);
		c->has_end = 1;
		return;
	}
	if (p->knobs.n_refuse > 0) {
		p->knobs.n_refuse--;
		cnt_peer_error(c, p->knobs.refuse, "refused");
		c->has_end = 1;
		return;
	}
	if (p->knobs.auth == CNP_AUTH_NONE)
		say_attached(p, c);
}

static void
do_resume(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_resume *m)
{
	if (m->session != p->suspended_session || m->key != CNT_PEER_KEY) {
		cnt_peer_error(c, "28000", "no such suspended session");
		c->has_end = 1;
		return;
	}
	c->session = m->session;
	c->portal = p->suspended_portal;
	c->portal_at = p->suspended_at;
	c->portal_end = p->suspended_end;
	p->suspended_session = 0;
	say_attached(p, c);
}

/* A client that still waits for the cancelled request gets an error. */
static void
do_cancel(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_cancel *m)
{
	struct cnp_msg answer = cnt_peer_message(CNP_MSG_CANCELLED);

	p->seen.n_cancels++;
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *other = &p->conns[i];

		if (other->fd < 0 || !other->is_hanging || m->key != CNT_PEER_KEY ||
			other->session != m->session ||
			other->server.running != m->request)
			continue;
		other->is_hanging = 0;
		cnt_peer_error(other, "57014", "cancelled");
		cnt_peer_finish(p, other);
		answer.as.cancelled.delivered = 1;
	}
	(void)cnp_server_reply(&c->server, &answer, 0);
	(void)cnp_server_finish_request(&c->server, 0, 0, NULL);
	c->has_end = 1;
}

static void
do_status(struct cnt_peer_conn *c, const struct cnp_status *m)
{
	if (strcmp(m->what.p, "pools") != 0) {
		cnt_peer_error(c, "22023", "pools or workers");
	} else {
		cnt_peer_put_columns(c);
		cnt_peer_put_rows(c, 0, 2);
		cnt_peer_done(c, "STATUS", -1, 0);
		(void)cnp_server_finish_request(&c->server, 0, 0, NULL);
	}
	c->has_end = 1;
}

/* Send HELLO once. A client that wants TLS waits for HELLO before its first frame. */
static int
say_hello(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	if (c->server.said_hello)
		return CENOTE_OK;
	return cnp_server_hello(
		&c->server, 0, p->knobs.auth, p->knobs.auth ? "SCRAM-SHA-256" : NULL);
}

static void
do_first(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_request *req)
{
	if (p->knobs.n_die_on_attach > 0) {
		p->knobs.n_die_on_attach--;
		c->has_end = 1;
		return;
	}
	if (say_hello(p, c) < 0)
		return;
	switch (req->msg.code) {
	case CNP_MSG_ATTACH:
		do_attach(p, c, &req->msg.as.attach);
		break;
	case CNP_MSG_RESUME:
		do_resume(p, c, &req->msg.as.resume);
		break;
	case CNP_MSG_CANCEL:
		do_cancel(p, c, &req->msg.as.cancel);
		break;
	default:
		do_status(c, &req->msg.as.status);
		break;
	}
}

/* Answer the first message of a SCRAM login. No login gets further. */
static void
do_auth(struct cnt_peer *p, struct cnt_peer_conn *c, const struct cnp_auth *m)
{
	struct cnp_msg answer = cnt_peer_message(CNP_MSG_AUTH);
	const char *nonce = memmem(m->data.p, m->data.n, ",r=", 3);
	char text[256];

	if (p->seen.n_auths++ > 0 || !nonce) {
		c->has_end = 1;
		return;
	}
	(void)snprintf(text, sizeof(text), "%.64sx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=%u",
		nonce + 1, p->knobs.iterations);
	answer.as.auth.data = cnp_str(text);
	(void)cnp_frame_put(&c->server.out, 0, 0, &answer);
}

/* ------------------------------------------------------------------ stepping ----- */

/* Read the client's part of a copy. Returns 1 if the copy has ended, 0 if more must come. */
static int
step_copy(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_str data;
	int r;

	while ((r = cnp_server_next_copy(&c->server, &data)) == CENOTE_OK &&
		data.n < c->copy_left) {
		p->seen.n_copied += data.n;
		cnt_peer_add_text(p->seen.copied, sizeof(p->seen.copied), "%s", data.p);
		if (c->copy_left != SIZE_MAX)
			c->copy_left -= data.n;
	}
	if (r == CENOTE_AGAIN)
		return 0;
	c->is_copying = 0;
	if (r == CENOTE_OK)
		cnt_peer_error(c, "22P04", "that is enough");
	else if (r == CENOTE_DONE)
		cnt_peer_done(c, "COPY", (int64_t)p->seen.n_copied, 0);
	else if (r == CENOTE_ERR_SERVER)
		cnt_peer_error(c, "57014", c->server.diag.message);
	else
		c->has_end = 1;
	if (!c->has_end)
		cnt_peer_finish(p, c);
	return 1;
}

static void
process(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_request req;

	while (!c->has_end && !c->is_hanging) {
		uint32_t state = cnp_server_state(&c->server);
		int r;

		if (c->is_copying) {
			if (!step_copy(p, c))
				return;
			continue;
		}
		r = cnp_server_next(&c->server, &req);

		if (r == CENOTE_ERR_PROTOCOL)
			c->has_end = 1;
		if (r != CENOTE_OK)
			return;
		if (state == CNP_SERVER_OPENING) {
			if (c->server.opening.tls != CNP_TLS_NONE)
				(void)say_hello(p, c);
			continue;
		}
		if (state == CNP_SERVER_FIRST || state == CNP_SERVER_STAYING) {
			do_first(p, c, &req);
			continue;
		}
		if (state == CNP_SERVER_AUTH) {
			do_auth(p, c, &req.msg.as.auth);
			continue;
		}
		/* Yield instead of carrying out this request. */
		if (req.msg.code == CNP_MSG_QUERY &&
			strcmp(req.msg.as.query.sql.p, "yield_now") == 0 &&
			!(p->seen.flags & CNP_ATTACH_AGAIN)) {
			struct cnp_msg m = cnt_peer_message(CNP_MSG_YIELD);

			m.as.yield.last = req.number - 1;
			m.as.yield.reason = CNP_YIELD_DRAIN;
			m.as.yield.carry = CNP_STR_NONE;
			(void)cnp_frame_put(&c->server.out, 0, 0, &m);
			c->has_end = 1;
			continue;
		}
		cnt_peer_do_request(p, c, &req);
	}
}

static void
end_conn(struct cnt_peer_conn *c)
{
	/* While the thread polls the socket, closing it would not end the poll. */
	(void)shutdown(c->fd, SHUT_RDWR);
	(void)close(c->fd);
	c->fd = -1;
	cnp_server_finish(&c->server);
}

/* The client of a loan sends nothing that counts. */
static int
step_lender(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	char drop[256];
	ssize_t got = recv(c->fd, drop, sizeof(drop), MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got > 0)
		return 1;
	p->seen.n_returned++;
	end_conn(c);
	return 1;
}

/* Send bytes. Pass the descriptors of a loan, if there are any, with the first of them. */
static ssize_t
send_bytes(const struct cnt_peer *p, struct cnt_peer_conn *c, const void *bytes, size_t n)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(c->lent))];
	} control = { 0 };
	struct iovec v = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	size_t len = (p->knobs.n_lent > 0 ? p->knobs.n_lent : 2) * sizeof(int);
	ssize_t put;

	if (c->lent[0] > 0) {
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(len);
		memcpy(CMSG_DATA(&control.h), c->lent, len);
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(len);
	}
	put = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put >= 0 && c->lent[0] > 0) {
		(void)close(c->lent[0]);
		(void)close(c->lent[1]);
		c->lent[0] = c->lent[1] = 0;
	}
	return put;
}

static int
step_read(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	uint8_t *room;
	size_t n;
	ssize_t got;

	if (c->is_lender)
		return step_lender(p, c);

	if (c->has_end || cnp_server_room(&c->server, &room, &n) < 0)
		return 0;
	got = recv(c->fd, room, n, MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		end_conn(c);
		return 1;
	}
	if (got < 0)
		return 0;
	cnp_server_received(&c->server, (size_t)got);
	process(p, c);
	return 1;
}

/* The client stays: forget its session. The next one has another number. */
static void
park(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	struct cnp_kept kept;

	cnp_server_keep(&c->server, &kept);
	cnp_server_restart_kept(&c->server, &kept);
	memset(c->stmts, 0, sizeof(c->stmts));
	memset(&c->named, 0, sizeof(c->named));
	c->tx = 0;
	c->pins = 0;
	c->portal = 0;
	c->is_parking = 0;
	c->session = ++p->seen.n_stays + 200u;
}

/* How much may go out now; 0 ends the connection. */
static size_t
write_limit(const struct cnt_peer *p, const struct cnt_peer_conn *c, size_t n)
{
	size_t left =
		p->knobs.cut_after < 0 || c != &p->conns[0] || p->seen.n_connects > 1
			? n
			: (size_t)p->knobs.cut_after - c->sent;

	n = left < n ? left : n;
	return p->knobs.write_max > 0 && p->knobs.write_max < n ? p->knobs.write_max : n;
}

static int
step_write(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	const uint8_t *bytes;
	size_t n = cnp_server_output(&c->server, &bytes);
	ssize_t put;

	if (n == 0 && c->is_parking) {
		park(p, c);
		return 1;
	}
	if (n == 0) {
		if (!c->has_end)
			return 0;
		end_conn(c);
		return 1;
	}
	n = write_limit(p, c, n);
	if (n == 0) {
		end_conn(c);
		return 1;
	}
	put = send_bytes(p, c, bytes, n);
	if (put < 0 && errno == EAGAIN)
		return 0;
	if (put < 0) {
		end_conn(c);
		return 1;
	}
	cnp_server_sent(&c->server, (size_t)put);
	c->sent += (size_t)put;
	if (c == &p->conns[0] && p->seen.n_connects == 1)
		p->seen.sent = c->sent;
	return 1;
}

static struct cnt_peer_conn *
begin_conn(struct cnt_peer *p, int fd)
{
	struct cnt_peer_conn *c = p->conns;

	while (c < p->conns + CNT_PEER_CONNS && c->fd >= 0)
		c++;
	if (c == p->conns + CNT_PEER_CONNS)
		abort();
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->n_columns = p->knobs.n_columns > 0 ? p->knobs.n_columns : 3;
	cnp_server_init(&c->server, &cnc_mem_default, CNP_FRAME_MAX, CNP_FRAME_MAX);
	return c;
}

static int
step_accept(struct cnt_peer *p)
{
	int fd;

	if (p->listen_fd < 0)
		return 0;
	fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return 0;
	begin_conn(p, fd)->session = ++p->seen.n_connects + 100u;
	return 1;
}

/* The played server speaks the pool's protocol, so the client's module only has to pass bytes on. */
void
cnt_peer_lend(struct cnt_peer *p, struct cnt_peer_conn *c)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		abort();
	begin_conn(p, ends[0])->session = ++p->seen.n_loans + 300u;
	c->lent[0] = ends[1];
	c->lent[1] = memfd_create("page", MFD_CLOEXEC);
	c->is_lender = 1;
}

static int
step(struct cnt_peer *p)
{
	int has_moved = step_accept(p);

	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];
		const uint8_t *bytes;

		if (c->fd < 0)
			continue;
		if (p->knobs.read_max != 1 || cnp_server_output(&c->server, &bytes) == 0)
			has_moved |= step_read(p, c);
		if (c->fd >= 0)
			has_moved |= step_write(p, c);
	}
	return has_moved;
}

int
cnt_peer_step(struct cnt_peer *p)
{
	int r;

	(void)pthread_mutex_lock(&p->lock);
	r = step(p);
	(void)pthread_mutex_unlock(&p->lock);
	return r;
}

/* ---------------------------------------------------------------- the thread ----- */

static void
wait_for_work(struct cnt_peer *p)
{
	struct pollfd fds[CNT_PEER_CONNS + 2];
	const uint8_t *bytes;
	nfds_t n = 0;
	char drop[16];

	fds[n++] = (struct pollfd){ .fd = p->wake[0], .events = POLLIN };
	(void)pthread_mutex_lock(&p->lock);
	fds[n++] = (struct pollfd){ .fd = p->listen_fd, .events = POLLIN };
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];
		int has_output = c->fd >= 0 && cnp_server_output(&c->server, &bytes) > 0;

		if (c->fd < 0)
			continue;
		fds[n++] = (struct pollfd){ .fd = c->fd,
			.events = (short)((has_output ? POLLOUT : 0) |
					  (has_output && p->knobs.read_max == 1
							  ? 0
							  : POLLIN)) };
	}
	(void)pthread_mutex_unlock(&p->lock);
	(void)poll(fds, n, -1);
	if (fds[0].revents)
		(void)!read(p->wake[0], drop, sizeof(drop));
}

static void *
run_thread(void *arg)
{
	struct cnt_peer *p = arg;
	int is_stopping = 0;

	while (!is_stopping) {
		while (cnt_peer_step(p))
			continue;
		wait_for_work(p);
		(void)pthread_mutex_lock(&p->lock);
		is_stopping = p->is_stopping;
		(void)pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static void
wake(struct cnt_peer *p)
{
	if (p->has_thread)
		(void)!write(p->wake[1], "x", 1);
}

int
cnt_peer_start(struct cnt_peer *p)
{
	if (pthread_create(&p->thread, NULL, run_thread, p) != 0)
		return -1;
	p->has_thread = 1;
	return 0;
}

void
cnt_peer_stop(struct cnt_peer *p)
{
	if (!p->has_thread)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->is_stopping = 1;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	(void)pthread_join(p->thread, NULL);
	p->has_thread = 0;
	p->is_stopping = 0;
}

/* ---------------------------------------------------------------------- life ----- */

int
cnt_peer_listen(struct cnt_peer *p)
{
	struct sockaddr_un addr;
	int fd;

	memset(&addr, 0, sizeof(addr));
	addr.sun_family = AF_UNIX;
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", p->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
		bind(fd, (const struct sockaddr *)(const void *)&addr, sizeof(addr)) <
			0 ||
		listen(fd, 16) < 0) {
		perror("cnt_peer_listen");
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	(void)pthread_mutex_lock(&p->lock);
	p->listen_fd = fd;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	return 0;
}

int
cnt_peer_listen_tcp(struct cnt_peer *p)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int fd;

	cnt_peer_unlisten(p);
	memset(&addr, 0, sizeof(addr));
	addr.sin_family = AF_INET;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&addr, len) < 0 ||
		listen(fd, 16) < 0 ||
		getsockname(fd, (struct sockaddr *)(void *)&addr, &len) < 0) {
		perror("cnt_peer_listen_tcp");
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	(void)snprintf(p->uri, sizeof(p->uri), "cenote://127.0.0.1:%u/play",
		ntohs(addr.sin_port));
	(void)pthread_mutex_lock(&p->lock);
	p->listen_fd = fd;
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
	return 0;
}

void
cnt_peer_unlisten(struct cnt_peer *p)
{
	(void)pthread_mutex_lock(&p->lock);
	if (p->listen_fd >= 0) {
		(void)close(p->listen_fd);
		p->listen_fd = -1;
		(void)unlink(p->path);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

void
cnt_peer_notify(struct cnt_peer *p, const char *channel)
{
	(void)pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		if (p->conns[i].fd >= 0)
			cnt_peer_say(&p->conns[i], channel);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

void
cnt_peer_drop(struct cnt_peer *p, int with_yield)
{
	(void)pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		struct cnt_peer_conn *c = &p->conns[i];

		if (c->fd < 0)
			continue;
		if (with_yield)
			cnt_peer_yield(p, c, CNP_YIELD_CONTENDED);
		c->is_parking = 0;
		c->has_end = 1;
		while (with_yield && c->fd >= 0)
			(void)step_write(p, c);
		if (c->fd >= 0)
			end_conn(c);
	}
	(void)pthread_mutex_unlock(&p->lock);
	wake(p);
}

int
cnt_peer_create(struct cnt_peer *p)
{
	memset(p, 0, sizeof(*p));
	p->listen_fd = -1;
	p->knobs.cut_after = -1;
	for (size_t i = 0; i < CNT_PEER_CONNS; i++)
		p->conns[i].fd = -1;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/cnt_peer.XXXXXX");
	if (!mkdtemp(p->dir) || pipe(p->wake) < 0) {
		perror("cnt_peer_create");
		return -1;
	}
	(void)snprintf(p->path, sizeof(p->path), "%s/play.sock", p->dir);
	(void)snprintf(p->uri, sizeof(p->uri), "cenote:///play?run_dir=%s", p->dir);
	return cnt_peer_listen(p);
}

void
cnt_peer_destroy(struct cnt_peer *p)
{
	cnt_peer_stop(p);
	cnt_peer_unlisten(p);
	for (size_t i = 0; i < CNT_PEER_CONNS; i++) {
		if (p->conns[i].fd >= 0)
			end_conn(&p->conns[i]);
	}
	(void)close(p->wake[0]);
	(void)close(p->wake[1]);
	(void)rmdir(p->dir);
	(void)pthread_mutex_destroy(&p->lock);
}
