/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that serves statistics: its rights, and HTTP by libmicrohttpd. pages.c writes the
 * answers. The master forks it (master_children.c). It has one thread, and no state but its
 * connections.
 */
#include "stats_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/log.h"
#include "shared/priv.h"
#include "shared/sandbox.h"

/* A reader that hangs keeps a connection only this long. One address gets only a part of all
 * connections. */
#define IDLE_S          5u
#define CONNECTIONS     32u
#define CONNECTIONS_ONE 8u
/* for the request's line and headers */
#define REQUEST_MAX     (16u * 1024u)
/* The pause when there are no descriptors for new connections. */
#define AGAIN_MS        100

/* ---- the library ---- */

/* It is opened only where statistics are wanted, since it brings GnuTLS into each process. */
#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(F)                                                                     \
	F(MHD_start_daemon)                                                              \
	F(MHD_get_daemon_info)                                                           \
	F(MHD_add_connection)                                                            \
	F(MHD_get_timeout)                                                               \
	F(MHD_run)                                                                       \
	F(MHD_create_response_from_buffer)                                               \
	F(MHD_add_response_header)                                                       \
	F(MHD_queue_response)                                                            \
	F(MHD_destroy_response)

#define MEMBER(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} http;

const char *
cnd_stats_lacks(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int is_whole = library != NULL;

#define FIND(name)                                                                       \
	*(void **)&http.name = dlsym(library, #name), is_whole &= http.name != NULL;
	if (is_whole) {
		FUNCTIONS(FIND)
	}
	return is_whole ? NULL : "the library " LIBRARY " is not installed";
}

/* ---- answers ---- */

static enum MHD_Result
send_text(struct MHD_Connection *to, unsigned status, const char *type, char *text,
	size_t len)
{
	static const char *const headers[][2] = { { "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; "
			"script-src 'unsafe-inline'; connect-src 'self'" } };
	struct MHD_Response *response =
		http.MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result r = MHD_YES;

	if (response == NULL) {
		free(text);
		return MHD_NO;
	}
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		r = http.MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (r == MHD_YES)
		r = http.MHD_add_response_header(response, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]) && r == MHD_YES; i++)
		r = http.MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (r == MHD_YES)
		r = http.MHD_queue_response(to, status, response);
	http.MHD_destroy_response(response);
	return r;
}

static unsigned
write_refusal(const struct cnd_page *page, FILE *out)
{
	if (page == NULL) {
		fputs("There is no such page.\n", out);
		return MHD_HTTP_NOT_FOUND;
	}
	fputs("Only GET and HEAD are allowed.\n", out);
	return MHD_HTTP_METHOD_NOT_ALLOWED;
}

/* NOLINTBEGIN(readability-function-size): libmicrohttpd has so many parameters */
/* It calls this when a request's headers have come, and again for its body, which is not
 * read. MHD_NO closes the connection. */
static enum MHD_Result
on_request(void *child, struct MHD_Connection *from, const char *url, const char *method,
	const char *version, const char *body, size_t *body_len, void **request)
{
	const struct cnd_page *page = cnd_page_find(url);
	int is_read = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		      strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	const char *type = page != NULL && is_read ? page->type : "text/plain";
	char *text = NULL;
	size_t len = 0;
	unsigned status;
	FILE *out;

	(void)version;
	(void)body;
	(void)body_len;
	(void)request;
	out = open_memstream(&text, &len);
	if (out == NULL)
		return MHD_NO;
	status = page != NULL && is_read ? page->write(child, out)
					 : write_refusal(page, out);
	if (fclose(out) == 0)
		return send_text(from, status, type, text, len);
	free(text);
	return MHD_NO;
}
/* NOLINTEND(readability-function-size) */

/* ---- life ---- */

/* This process keeps two rights: to read the scoreboard, and to accept on its sockets. */
static void
give_up_rights(const struct cnd_child *child)
{
	const struct cnd_config *c = child->config;

	cnd_priv_give_up(c->uid, c->gid, c->user, child->master, "cenoted-stats");
	cnd_pool_configs_forget(c, NULL);
	if (cnd_sandbox_enter(CND_SANDBOX_DOOR, c) < 0)
		exit(1);
}

/* 0: there are no descriptors now. */
static int
accept_all(struct MHD_Daemon *daemon, int listen_fd, const struct cnd_networks *allowed)
{
	struct sockaddr_storage from;
	struct cnd_peer peer;
	int fd;

	for (;;) {
		socklen_t len = sizeof(from);

		fd = accept4(listen_fd, (struct sockaddr *)&from, &len,
			SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return errno != EMFILE && errno != ENFILE;
		/* it closes the connection if that is one too many */
		if (cnd_peer_set(&peer, (struct sockaddr *)&from) == 0 &&
			cnd_networks_admit(allowed, &peer.addr))
			(void)http.MHD_add_connection(
				daemon, fd, (struct sockaddr *)&from, len);
		else
			close(fd);
	}
}

static int
time_left(struct MHD_Daemon *daemon)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (http.MHD_get_timeout(daemon, &ms) != MHD_YES)
		return -1;
	return ms < IDLE_S * 1000 ? (int)ms : (int)IDLE_S * 1000;
}

/* Returns the number of sockets; the library's descriptor comes after them. */
static nfds_t
gather(struct MHD_Daemon *daemon, const struct cnd_listeners *l, struct pollfd *fds)
{
	nfds_t n = 0;

	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (l->list[i].fd >= 0)
			fds[n++] =
				(struct pollfd){ .fd = l->list[i].fd, .events = POLLIN };
	}
	fds[n] = (struct pollfd){
		.events = POLLIN,
		.fd = http.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd
	};
	return n;
}

void
cnd_stats_run(const struct cnd_child *child, const struct cnd_listeners *listeners)
{
	const struct cnd_networks *allowed = &child->config->stats_networks;
	struct pollfd fds[CND_LISTENERS_MAX + 1];
	struct MHD_Daemon *daemon;
	nfds_t n;

	cnd_log_set_role("stats", NULL);
	cnd_child_set_signals();
	give_up_rights(child);
	daemon = http.MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL,
		NULL, on_request, (void *)child, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_ONE,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_MAX, MHD_OPTION_END);
	if (daemon == NULL)
		cnd_fatal("libmicrohttpd does not start");
	n = gather(daemon, listeners, fds);
	for (;;) {
		if (poll(fds, n + 1, time_left(daemon)) < 0 && errno != EINTR)
			cnd_fatal("poll: %s", strerror(errno));
		for (nfds_t i = 0; i < n; i++) {
			if (fds[i].revents != 0 &&
				!accept_all(daemon, fds[i].fd, allowed))
				poll(NULL, 0, AGAIN_MS);
		}
		(void)http.MHD_run(daemon);
	}
}
