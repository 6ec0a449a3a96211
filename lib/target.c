/* SPDX-License-Identifier: BSD-2-Clause */
#include "target.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#include "core/sqlstate.h"
#include "protocol/frame.h"

/*
 * Which addresses of cenoted to try: from the options, or from CENOTE_SERVER, or the usual run
 * directories. attach.c calls this file before each round of tries.
 */

#define DEFAULT_RUN_DIR "/run/cenote"

struct builder {
	struct cn_targets *targets;
	const struct cn_options *options;
	const struct cenote_allocator *mem;
	struct cnc_diag *diag;
};

/* Report BEFORE "what" AFTER. */
static int
bad_option(
	const struct builder *b, const char *before, const char *what, const char *after)
{
	cnc_diag_set(b->diag, CNC_SQLSTATE(BAD_PARAMETER), "%s\"%.100s\"%s", before, what,
		after);
	return CENOTE_ERR_ARG;
}

static int
add_target(const struct builder *b, const void *addr, socklen_t len, const char *host)
{
	struct cn_targets *t = b->targets;
	size_t host_len = strnlen(host, CN_HOST_MAX - 1);

	if (t->n == CN_TARGETS_MAX)
		return CENOTE_OK; /* no time limit would be long enough to reach the rest */
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 2;
		void *list = cnc_realloc(b->mem, t->list, cap * sizeof(*t->list));

		if (!list) {
			cnc_diag_set(b->diag, CNC_SQLSTATE(MEMORY), "out of memory");
			return CENOTE_ERR_NOMEM;
		}
		t->list = list;
		t->cap = cap;
	}
	memcpy(&t->list[t->n].addr, addr, len);
	t->list[t->n].len = len;
	memcpy(t->list[t->n].host, host, host_len);
	t->list[t->n].host[host_len] = '\0';
	t->n++;
	return CENOTE_OK;
}

/* Add the socket DIR/POOL.sock. */
static int
add_unix(const struct builder *b, const char *dir, const char *sub)
{
	const char *pool = cn_options_get(b->options, CN_OPTION_POOL);
	const char *const parts[] = { dir, sub, "/", pool, ".sock" };
	struct sockaddr_un addr;
	size_t len = 0;

	addr.sun_family = AF_UNIX;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t n = strlen(parts[i]);

		if (len + n < sizeof(addr.sun_path))
			memcpy(addr.sun_path + len, parts[i], n + 1);
		len += n;
	}
	if (len >= sizeof(addr.sun_path)) {
		cnc_diag_set(b->diag, CNC_SQLSTATE(BAD_PARAMETER),
			"the socket's path %.60s…/%.60s.sock is longer than %zu bytes",
			dir, pool, sizeof(addr.sun_path) - 1);
		return CENOTE_ERR_ARG;
	}
	return add_target(b, &addr,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1), "");
}

/* Split HOST, HOST:PORT, [IPV6] or [IPV6]:PORT into host and port. */
static int
split_host(const struct builder *b, const char *text, size_t len, char *host, char *port)
{
	const char *bracket = len > 0 && *text == '[' ? memchr(text, ']', len) : NULL;
	const char *rest = bracket ? bracket + 1 : text;
	const char *colon = memchr(rest, ':', len - (size_t)(rest - text));
	size_t host_len = colon ? (size_t)(colon - text) : len;
	size_t port_len = colon ? len - host_len - 1 : 0;

	if (bracket) {
		if ((size_t)(rest - text) != host_len)
			return bad_option(b, "host: ", text, ": only :PORT may follow ]");
		text++;
		host_len -= 2;
	}
	if (host_len == 0 || host_len >= CN_HOST_MAX || port_len >= 8)
		return bad_option(
			b, "host: ", text, " is not a list of HOST or HOST:PORT");
	memcpy(host, text, host_len);
	host[host_len] = '\0';
	if (port_len > 0)
		memcpy(port, colon + 1, port_len);
	port[port_len] = '\0';
	if (port_len == 0)
		(void)snprintf(port, 8, "%s", cn_options_get(b->options, CN_OPTION_PORT));
	return CENOTE_OK;
}

static int
add_host(const struct builder *b, const char *text, size_t len)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV };
	char host[CN_HOST_MAX], port[8];
	struct addrinfo *found;
	int r = split_host(b, text, len, host, port);

	if (r < 0)
		return r;
	r = getaddrinfo(host, port, &hints, &found);
	if (r != 0) {
		cnc_diag_set(b->diag, CNC_SQLSTATE(CANNOT_CONNECT),
			"host %.200s, port %s: %s", host, port, gai_strerror(r));
		return CENOTE_ERR_CONN;
	}
	r = CENOTE_OK;
	for (const struct addrinfo *a = found; a && r == CENOTE_OK; a = a->ai_next)
		r = add_target(b, a->ai_addr, a->ai_addrlen, host);
	freeaddrinfo(found);
	return r;
}

/* Change the order, so that not all clients begin with the same host. The random numbers are not
 * good enough for secrets. */
static void
shuffle(struct cn_targets *t)
{
	struct timespec now;
	uint64_t x;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	x = (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)(uintptr_t)t + 1;
	for (size_t i = t->n; i > 1; i--) {
		struct cn_target swap = t->list[i - 1];
		size_t j;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		j = (size_t)(x % i);
		t->list[i - 1] = t->list[j];
		t->list[j] = swap;
	}
}

/* If a host has no address, the other hosts are still tried. */
static int
add_hosts(const struct builder *b, const char *hosts)
{
	int failed = CENOTE_OK;

	while (*hosts) {
		size_t len = strcspn(hosts, ",");
		int r = add_host(b, hosts, len);

		if (r < 0 && r != CENOTE_ERR_CONN)
			return r;
		failed = r < 0 ? r : failed;
		hosts += len + (hosts[len] == ',');
	}
	if (b->targets->n == 0)
		return failed < 0 ? failed
				  : bad_option(b, "host: ", "", " names no host");
	if (b->options->number[CN_OPTION_HOSTS] == CN_HOSTS_RANDOM)
		shuffle(b->targets);
	return CENOTE_OK;
}

/* CENOTE_SERVER, then the run directories. A program with more rights than its user must not let
 * the user choose its database, so use secure_getenv(). */
static int
add_from_environment(const struct builder *b)
{
	const char *server = secure_getenv("CENOTE_SERVER");
	const char *xdg = secure_getenv("XDG_RUNTIME_DIR");
	int r = CENOTE_OK;

	if (server && *server) {
		if (strncmp(server, "unix:", 5) == 0)
			return add_unix(b, server + 5, "");
		if (strncmp(server, "tcp://", 6) == 0)
			return add_hosts(b, server + 6);
		return bad_option(b, "CENOTE_SERVER: ", server,
			" is not unix:DIR or tcp://HOST:PORT");
	}
	if (xdg && *xdg == '/')
		r = add_unix(b, xdg, "/cenote");
	return r < 0 ? r : add_unix(b, DEFAULT_RUN_DIR, "");
}

int
cn_targets_build(struct cn_targets *t, const struct cn_options *o,
	const struct cenote_allocator *mem, struct cnc_diag *diag)
{
	const struct builder b = { t, o, mem, diag };
	const char *pool = cn_options_get(o, CN_OPTION_POOL);
	const char *host = cn_options_get(o, CN_OPTION_HOST);
	const char *run_dir = cn_options_get(o, CN_OPTION_RUN_DIR);

	t->n = 0;
	if (*pool == '\0')
		return bad_option(&b,
			"no pool is named: set the option pool, or a URI such as ",
			"cenote:///POOL", "");
	if (strchr(pool, '/') || strlen(pool) > CNP_POOL_MAX)
		return bad_option(&b, "", pool, " cannot be the name of a pool");
	if (*host && *run_dir)
		return bad_option(&b,
			"host and run_dir exclude each other: is it TCP to ", host,
			" or a unix socket?");
	if (*host)
		return add_hosts(&b, host);
	if (*run_dir)
		return add_unix(&b, run_dir, "");
	return add_from_environment(&b);
}

void
cn_targets_finish(struct cn_targets *t, const struct cenote_allocator *mem)
{
	cnc_free(mem, t->list);
	t->list = NULL;
	t->n = 0;
	t->cap = 0;
}

void
cn_target_text(const struct cn_target *t, char out[CN_TARGET_TEXT_MAX])
{
	const struct sockaddr_un *un = (const void *)&t->addr;
	char host[80], port[8];

	if (t->addr.ss_family == AF_UNIX) {
		memcpy(out, un->sun_path, strlen(un->sun_path) + 1);
		return;
	}
	if (getnameinfo((const struct sockaddr *)(const void *)&t->addr, t->len, host,
		    sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		(void)snprintf(out, CN_TARGET_TEXT_MAX, "unknown address");
		return;
	}
	(void)snprintf(out, CN_TARGET_TEXT_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s",
		host, port);
}

const char *
cn_errno_text(int error)
{
	static const struct {
		int error;
		const char *text;
	} table[] = {
		{ 0, "closed by the other end" },
		{ ENOENT, "No such file or directory" },
		{ ECONNREFUSED, "Connection refused" },
		{ EACCES, "Permission denied" },
		{ EPERM, "Operation not permitted" },
		{ ENOTDIR, "Not a directory" },
		{ ENOTSOCK, "Not a socket" },
		{ EPROTOTYPE, "Not a stream socket" },
		{ EAGAIN, "its queue of connections is full" },
		{ ECONNRESET, "Connection reset by peer" },
		{ EPIPE, "Broken pipe" },
		{ ETIMEDOUT, "Connection timed out" },
		{ EHOSTUNREACH, "No route to host" },
		{ ENETUNREACH, "Network is unreachable" },
		{ EMFILE, "Too many open files" },
		{ ENFILE, "Too many open files in system" },
		{ ENOMEM, "Cannot allocate memory" },
		{ EPROTO, "TLS: what came is not as it was sent" },
		{ ENOBUFS, "No buffer space available" },
		{ EAFNOSUPPORT, "Address family not supported" },
		{ EADDRNOTAVAIL, "Cannot assign requested address" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].error == error)
			return table[i].text;
	}
	return "the operating system refused it";
}
