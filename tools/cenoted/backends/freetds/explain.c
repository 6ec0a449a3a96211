/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a login failed before the server could say so. FreeTDS tells only that it failed ("Unexpected
 * EOF", "Adaptive Server connection failed"). So this file repeats the first steps of a login: the
 * connection, the message by which both ends agree on TLS, and the handshake. It sends no
 * secret.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto/crypto.h"

#include "tds.h"

#define HEADER       8u
#define PRELOGIN     0x12u
#define TABULAR      0x04u
#define LAST         0x01u
#define PACKET_MAX   16384u
#define ENCRYPT_ON   1u
#define ENCRYPT_NONE 2u /* "not supported" */

struct probe {
	struct cnd_session *s;
	int fd;
	int64_t until_ms;
	uint8_t packet[PACKET_MAX];
	size_t len; /* bytes received after the header */
	size_t at; /* bytes of `packet` that TLS has read */
};

static void __attribute__((format(printf, 2, 3)))
say(struct cnd_session *s, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cnc_diag_set(s->diag, CNC_SQLSTATE(CANNOT_CONNECT), "%s: %s", s->server, text);
}

/* ---- bytes ---- */

/* Returns 1, or 0 if the time is up or the host says stop. */
static int
wait_for(struct probe *p, short events)
{
	int64_t left = p->until_ms - cnd_clock_ms();
	struct cnc_diag none;
	int r;

	if (left <= 0)
		return 0;
	cnc_diag_init(&none, NULL);
	r = p->s->host->wait(p->s->host, p->fd, events, (int)left, &none);
	cnc_diag_finish(&none);
	return r > 0;
}

/* Returns 0, or -1 with errno. */
static int
send_all(struct probe *p, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t put = send(p->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (put < 0 && !wait_for(p, POLLOUT)) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static int
receive_all(struct probe *p, uint8_t *room, size_t n)
{
	while (n > 0) {
		ssize_t got = recv(p->fd, room, n, MSG_DONTWAIT);

		if (got == 0) {
			errno = ECONNRESET;
			return -1;
		}
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (got < 0 && !wait_for(p, POLLIN)) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (got > 0) {
			room += got;
			n -= (size_t)got;
		}
	}
	return 0;
}

static int
send_packet(struct probe *p, const uint8_t *bytes, size_t n)
{
	size_t all = n + HEADER;
	uint8_t header[HEADER] = { PRELOGIN, LAST, (uint8_t)(all >> 8), (uint8_t)all };

	return send_all(p, header, HEADER) < 0 ? -1 : send_all(p, bytes, n);
}

static int
receive_packet(struct probe *p)
{
	uint8_t header[HEADER];
	size_t all;

	p->at = 0;
	p->len = 0;
	if (receive_all(p, header, HEADER) < 0)
		return -1;
	all = (size_t)header[2] << 8 | header[3];
	if ((header[0] != TABULAR && header[0] != PRELOGIN) || all < HEADER ||
		all - HEADER > sizeof(p->packet)) {
		errno = EPROTO;
		return -1;
	}
	if (receive_all(p, p->packet, all - HEADER) < 0)
		return -1;
	p->len = all - HEADER;
	return 0;
}

/* ---- the connection ---- */

static int
try_address(struct probe *p, const struct addrinfo *a)
{
	int error = 0;
	socklen_t len = sizeof(error);

	p->fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
		a->ai_protocol);
	if (p->fd < 0)
		return -1;
	if (connect(p->fd, a->ai_addr, a->ai_addrlen) == 0)
		return 0;
	error = errno;
	if (error == EINPROGRESS && !wait_for(p, POLLOUT))
		error = ETIMEDOUT;
	else if (error == EINPROGRESS &&
		 getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error == 0)
		return 0;
	close(p->fd);
	p->fd = -1;
	errno = error;
	return -1;
}

/* Connect. Returns 0, or -1 after saying why. */
static int
reach(struct probe *p)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL, *a;
	const char *host = cnd_tds_host(&p->s->opt);
	char port[16];
	int r, error = ECONNREFUSED;

	(void)snprintf(port, sizeof(port), "%u", cnd_tds_port(&p->s->opt));
	r = getaddrinfo(host, port, &hints, &all);
	if (r != 0) {
		say(p->s, "no address is known for %s: %s", host, gai_strerror(r));
		return -1;
	}
	for (a = all; a && p->fd < 0; a = a->ai_next) {
		if (try_address(p, a) < 0)
			error = errno;
	}
	freeaddrinfo(all);
	if (p->fd >= 0)
		return 0;
	say(p->s, "the server cannot be reached: %s", strerror(error));
	return -1;
}

/* ---- the agreement on TLS ---- */

/* Ask the server about TLS. Returns its answer, or -1 after saying what is wrong. */
static int
ask_encryption(struct probe *p)
{
	static const uint8_t question[] = { 0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 9, 0, 0,
		0, 0, 0, ENCRYPT_ON };

	if (send_packet(p, question, sizeof(question)) < 0 || receive_packet(p) < 0) {
		say(p->s,
			errno == EPROTO ? "what listens there does not speak TDS"
			: errno == ETIMEDOUT
				? "the server did not answer within %u s"
				: "the server closed the connection at the first "
				  "message: it does not speak TDS 7.1 or newer, or "
				  "refuses this client",
			p->s->opt.connect_timeout);
		return -1;
	}
	for (size_t i = 0; i + 5 <= p->len && p->packet[i] != 0xff; i += 5) {
		size_t at = (size_t)p->packet[i + 1] << 8 | p->packet[i + 2];

		if (p->packet[i] == 1 && at < p->len) {
			p->at = p->len;
			return p->packet[at];
		}
	}
	say(p->s, "what listens there does not speak TDS");
	return -1;
}

/* ---- the handshake: its records travel in packets of TDS ---- */

static int
tls_read(void *user, void *room, size_t n, size_t *ret_n)
{
	struct probe *p = user;

	if (p->at == p->len && receive_packet(p) < 0)
		return CENOTE_ERR_CONN;
	if (n > p->len - p->at)
		n = p->len - p->at;
	memcpy(room, p->packet + p->at, n);
	p->at += n;
	*ret_n = n;
	return CENOTE_OK;
}

static int
tls_write(void *user, const void *bytes, size_t n, size_t *ret_n)
{
	if (n > 4096 - HEADER)
		n = 4096 - HEADER;
	*ret_n = n;
	return send_packet(user, bytes, n) < 0 ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* Whether the certificate is the reason. If so, this says why. */
static int
check_certificate(struct probe *p)
{
	const struct cnd_tds_options *o = &p->s->opt;
	const struct cn_tls_client_options options = {
		.verify = !o->ca_file              ? CN_TLS_VERIFY_NONE
			  : cnd_tds_checks_name(o) ? CN_TLS_VERIFY_NAME
						   : CN_TLS_VERIFY_CHAIN,
		.host = cnd_tds_host(o),
		.ca = o->ca_file && strcasecmp(o->ca_file, "system") != 0 ? o->ca_file
									  : NULL,
		.crl = o->crl_file,
	};
	const struct cn_tls_io io = { tls_read, tls_write, p };
	struct cn_tls_error error = { "" };
	struct cn_tls *tls = NULL;
	int r = cn_tls_ops.connect(&options, &io, &tls, &error);

	if (r < 0) {
		say(p->s, "%s", error.text);
		return 1;
	}
	while ((r = cn_tls_ops.handshake(tls)) == CENOTE_AGAIN)
		;
	/* the server is no pool of ours, so an error of ALPN is expected; ALPN is looked at last */
	if (r < 0 && !strstr(cn_tls_ops.error(tls), "(ALPN)"))
		say(p->s, "%s", cn_tls_ops.error(tls));
	else
		r = CENOTE_OK;
	cn_tls_ops.destroy(tls);
	return r < 0;
}

/* ---- all of it ---- */

static int
is_old(const struct cnd_tds_options *o)
{
	return o->tds_version && (*o->tds_version == '4' || *o->tds_version == '5' ||
					 strcmp(o->tds_version, "7.0") == 0);
}

static void
say_refused(struct cnd_session *s)
{
	if (s->opt.tds_version && strcasecmp(s->opt.tds_version, "auto") != 0)
		say(s,
			"the server closed the connection at the login: it does not take "
			"TDS %s (tds_version), or not from this client",
			s->opt.tds_version);
	else
		say(s, "the server closed the connection at the login, and did not say "
		       "why: it takes no TDS version of FreeTDS, or not from this "
		       "client");
}

static void
explain(struct probe *p)
{
	const struct cnd_tds_options *o = &p->s->opt;
	int encryption;

	if (reach(p) < 0)
		return;
	if (is_old(o)) {
		say_refused(p->s);
		return;
	}
	encryption = ask_encryption(p);
	if (encryption < 0)
		return;
	if (encryption == ENCRYPT_NONE && cnd_tds_requires_tls(o))
		say(p->s, "the server has no TLS, and the server line asks for it "
			  "(encryption=request would do without)");
	/* encryption=off only means: no TLS, unless the server demands it */
	else if (encryption == ENCRYPT_NONE || !o->ca_file || !check_certificate(p))
		say_refused(p->s);
}

void
cnd_tds_explain(struct cnd_session *s)
{
	struct probe *p;

	/* only the library knows the address of a section or an instance */
	if (s->opt.section || s->opt.instance)
		return;
	p = cnc_calloc(s->mem, 1, sizeof(*p));
	if (!p)
		return;
	p->s = s;
	p->fd = -1;
	p->until_ms =
		cnd_clock_ms() +
		(int64_t)(s->opt.connect_timeout ? s->opt.connect_timeout : 10) * 1000;
	explain(p);
	if (p->fd >= 0)
		close(p->fd);
	cnc_free(s->mem, p);
}
