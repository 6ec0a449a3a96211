/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first bytes of a client name the pool and say what the client wants there. The door only peeks
 * at them (MSG_PEEK), so that the process that gets the socket finds them there. door.c and
 * door_workers.c call this file; it passes the client to waiting.c, asking.c or a worker.
 */
#include "door_internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "shared/answer.h"
#include "core/sqlstate.h"
#include "shared/log.h"
#include "proxy.h"

#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES     6

/* ---- serving the request ---- */

/* Send the guest to the worker in that slot. 0: the guest is gone; or -1. */
static int
forward(struct cnd_guest *g, uint32_t slot, struct cnd_ipc *m)
{
	m->n_fds = 1;
	m->fds[0] = g->fd;
	m->peer = g->peer;
	if (cnd_the_door.workers[slot].inbox < 0 ||
		cnd_ipc_send(cnd_the_door.workers[slot].inbox, m) < 0)
		return -1;
	cnd_guest_dismiss(g);
	return 0;
}

void
cnd_opening_forward_resume(struct cnd_guest *g, uint32_t slot, struct cnd_ipc *m)
{
	m->kind = CND_IPC_RESUME;
	if (forward(g, slot, m) < 0)
		cnd_guest_refuse(g, CNC_SQLSTATE(RESOURCES),
			"the session cannot be reached now; try again");
}

/* `resume` NULL: the key will come through TLS. */
static void
serve_resume(struct cnd_guest *g, const struct cnp_resume *resume)
{
	static struct cnd_ipc m;
	struct cnp_server *s = &cnd_the_door.server;
	struct cnd_scoreboard *b = cnd_the_door.board;
	uint32_t slot = resume != NULL ? cnd_answer_resume(s, b, g->pool, resume)
				       : cnd_answer_resume_named(s, b, g->pool);

	if (slot == CND_BOARD_NONE) {
		cnd_guest_answer(g);
		return;
	}
	/* the client's bytes are still in the socket, since the door only peeked at them */
	m.n_bytes = 0;
	cnd_opening_forward_resume(g, slot, &m);
}

static void
serve_cancel(struct cnd_guest *g, const struct cnp_cancel *cancel)
{
	cnd_answer_cancelled(&cnd_the_door.server, cnd_workers_cancel(g->pool, cancel));
	cnd_guest_answer(g);
}

/* Serve what the client wants. If TLS must come first, a helper does it: the door has no keys. */
static void
serve(struct cnd_guest *g, const struct cnp_request *req)
{
	const struct cnp_opening *o = &cnd_the_door.server.opening;
	int has_tls = o->tls != CNP_TLS_NONE;

	if (o->kind == CNP_OPEN_ATTACH)
		cnd_waiting_admit(g);
	else if (o->kind == CNP_OPEN_RESUME)
		serve_resume(g, has_tls ? NULL : &req->msg.as.resume);
	else if (o->kind == CNP_OPEN_CANCEL && !has_tls)
		serve_cancel(g, &req->msg.as.cancel);
	else
		cnd_asking_begin(g);
}

/* ---- the networks that may come, and the pool ---- */

/* 0: the client was refused and is gone. */
static int
is_welcome(struct cnd_guest *g, uint32_t pool)
{
	char text[CND_PEER_TEXT_MAX];

	if (cnd_networks_admit(&cnd_the_door.pools[pool].networks, &g->peer.addr))
		return 1;
	cnd_log(LOG_NOTICE,
		"pool %s: refused %s: allow and deny do not admit its network",
		cnd_pool_head(cnd_the_door.board, pool)->name,
		cnd_peer_text(&g->peer, text));
	cnd_guest_refuse(g, CNC_SQLSTATE(BAD_LOGIN),
		"pool %s does not accept clients from this address",
		cnd_the_door.server.opening.pool);
	return 0;
}

/* Find the pool that the opening names. 0: no pool accepts this client, and the client is gone. */
static int
find_pool(struct cnd_guest *g)
{
	const char *name = cnd_the_door.server.opening.pool;

	if (g->pool != CND_NO_POOL)
		return 1;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (!cnd_the_door.pools[i].is_here ||
			strcmp(cnd_pool_head(cnd_the_door.board, i)->name, name) != 0)
			continue;
		if (!is_welcome(g, i))
			return 0;
		g->pool = i;
		return 1;
	}
	cnd_guest_refuse(
		g, CNC_SQLSTATE(NO_CATALOG), "there is no pool \"%s\" here", name);
	return 0;
}

/* ---- looking ---- */

/* Take the proxy's header from the socket, since no other process expects it. 1: taken; 0: more
 * bytes are needed; -1: there is no header, and the client is gone. */
static int
take_proxy_header(struct cnd_guest *g, size_t n)
{
	char text[CND_PEER_TEXT_MAX];
	size_t len;
	int r = cnd_proxy_parse(cnd_the_door.scratch, n, &len, &g->peer);

	if (r > 0 && recv(g->fd, cnd_the_door.scratch, len, MSG_DONTWAIT) != (ssize_t)len)
		r = -1;
	if (r < 0) {
		cnd_log(LOG_WARNING, "%s: sent no header of the PROXY protocol",
			cnd_peer_text(&g->peer, text));
		cnd_guest_dismiss(g);
	}
	if (r > 0)
		g->awaits_proxy = 0;
	return r;
}

/* Peek at the guest's socket. Returns the number of bytes in `scratch` (0: none); -1: the guest is
 * gone. */
static ssize_t
peek(struct cnd_guest *g)
{
	ssize_t n = recv(
		g->fd, cnd_the_door.scratch, CNP_FRAME_MAX_AUTH, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n > 0)
		return n;
	cnd_guest_dismiss(g);
	return -1;
}

/* Whether the opening is enough, without the first frame. A client that wants TLS waits for HELLO
 * first. A local client gets a place by its opening alone. */
static int
is_enough(const struct cnd_guest *g, const struct cnp_opening *o)
{
	return o->tls != CNP_TLS_NONE ||
	       (o->kind == CNP_OPEN_ATTACH && g->peer.door == CND_DOOR_UNIX);
}

/* Read the opening, and the first frame if it is needed. CENOTE_AGAIN: not all of it has arrived. */
static int
read_first(const struct cnd_guest *g, size_t n, struct cnp_request *ret_request)
{
	struct cnp_server *s = &cnd_the_door.server;
	uint8_t *room;
	size_t size;
	int r;

	cnp_server_restart(s);
	if (cnp_server_room(s, &room, &size) < 0 || size < n)
		return CENOTE_ERR_NOMEM;
	memcpy(room, cnd_the_door.scratch, n);
	cnp_server_received(s, n);
	r = cnp_server_next(s, ret_request);
	if (r != CENOTE_OK || is_enough(g, &s->opening))
		return r;
	return cnp_server_next(s, ret_request);
}

void
cnd_opening_look(struct cnd_guest *g)
{
	struct cnp_request req;
	ssize_t n = peek(g);
	int r;

	if (n > 0 && g->awaits_proxy) {
		r = take_proxy_header(g, (size_t)n);
		n = r > 0 ? peek(g) : r;
	}
	if (n <= 0)
		return;
	if (g->kept != NULL) {
		cnd_waiting_admit(g);
		return;
	}
	r = read_first(g, (size_t)n, &req);
	if (r == CENOTE_ERR_NOMEM)
		cnd_guest_dismiss(g);
	else if (r < 0)
		cnd_guest_answer(g);
	else if (r == CENOTE_OK && find_pool(g))
		serve(g, &req);
}

/* ---- arrival ---- */

/* Silent clients must not keep others out: dismiss the oldest one. */
static void
make_room(struct cnd_guests *silent)
{
	if (silent->n > CND_DOOR_STRANGERS)
		cnd_guest_dismiss(silent->first);
}

/* Look at a new client at once: its bytes may have arrived. */
static void
begin(struct cnd_guest *g)
{
	make_room(&cnd_the_door.talking);
	make_room(&cnd_the_door.strangers);
	if (cnd_guest_is_too_many(g))
		cnd_guest_refuse_full(g);
	else if (cnd_guest_watch(g, EPOLL_CTL_ADD, EPOLLIN | EPOLLRDHUP | EPOLLET) < 0)
		cnd_guest_dismiss(g);
	else
		cnd_opening_look(g);
}

void
cnd_opening_receive(int fd, uint32_t pool)
{
	const struct cnd_peer peer = { .door = CND_DOOR_UNIX };
	struct cnd_guest *g = cnd_guest_add(fd, pool, &peer);

	if (g != NULL)
		begin(g);
}

static void
set_socket_options(int fd)
{
	int64_t idle_ms = cnd_the_door.child->config->tcp_keepalive_ms;
	int idle_s = (int)(idle_ms / 1000);
	const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, idle_ms > 0 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, idle_s > 0 ? idle_s : 1 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		(void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value));
}

static void
accept_one(const struct cnd_door_listener *l, int fd, const struct sockaddr *addr)
{
	struct cnd_peer peer = { .door = CND_DOOR_TCP };
	struct cnd_guest *g;

	(void)cnd_peer_set(&peer, addr);
	set_socket_options(fd);
	g = cnd_guest_add(fd, CND_NO_POOL, &peer);
	if (g == NULL)
		return;
	g->awaits_proxy = l->has_proxy;
	begin(g);
}

void
cnd_opening_accept(const struct cnd_door_listener *l)
{
	struct sockaddr_storage addr;

	for (int i = 0; i < CND_DOOR_ACCEPTS; i++) {
		socklen_t len = sizeof(addr);
		int fd = cnd_door_accept(l->fd, (struct sockaddr *)&addr, &len);

		if (fd < 0)
			return;
		accept_one(l, fd, (const struct sockaddr *)&addr);
	}
}

/* Keep the bytes that a worker has read from the client. 0, or -1: there is no memory, and the client
 * is gone. */
static int
keep_bytes(struct cnd_guest *g, const struct cnd_ipc *m)
{
	if (m->n_bytes == 0)
		return 0;
	g->kept = malloc(m->n_bytes);
	if (g->kept == NULL) {
		cnd_guest_dismiss(g);
		return -1;
	}
	memcpy(g->kept, m->bytes, m->n_bytes);
	g->kept_len = m->n_bytes;
	return 0;
}

void
cnd_opening_return(const struct cnd_ipc *m)
{
	struct cnd_guest *g = cnd_guest_add(m->fds[0], m->index, &m->peer);

	if (g != NULL && keep_bytes(g, m) == 0)
		begin(g);
}

void
cnd_opening_route(struct cnd_ipc *m, uint32_t pool)
{
	struct cnd_guest *g = cnd_guest_add(m->fds[0], pool, &m->peer);
	int is_watched = g != NULL && cnd_guest_watch(g, EPOLL_CTL_ADD, 0) == 0;

	if (is_watched && cnd_guest_is_too_many(g)) {
		cnd_guest_refuse_full(g);
		return;
	}
	if (g == NULL ||
		(is_watched && (forward(g, m->index, m) == 0 || keep_bytes(g, m) < 0)))
		return;
	/* that worker has gone, so let any free worker take the client */
	if (is_watched && cnd_the_door.pools[pool].is_here)
		cnd_waiting_admit(g);
	else
		cnd_guest_dismiss(g);
}
