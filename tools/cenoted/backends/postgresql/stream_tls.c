/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from and to the server through TLS, over the connection that libpq has made. stream.c calls this file.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include "session.h"

static ptrdiff_t
tls_result(struct cnd_session *s, int r, short *ret_events)
{
	char text[128] = "";
	unsigned long code;

	switch (SSL_get_error(s->stream.ssl, r)) {
	case SSL_ERROR_WANT_READ:
		*ret_events = POLLIN;
		return 0;
	case SSL_ERROR_WANT_WRITE:
		*ret_events = POLLOUT;
		return 0;
	case SSL_ERROR_ZERO_RETURN:
	case SSL_ERROR_SYSCALL:
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the server %s closed the connection unexpectedly", s->server);
	default:
		code = ERR_get_error();
		if (code != 0)
			ERR_error_string_n(code, text, sizeof(text));
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the TLS connection to %s failed: %s", s->server, text);
	}
}

static int
at_most_int(size_t n)
{
	return n > 1u << 30 ? 1 << 30 : (int)n;
}

static ptrdiff_t
tls_receive(struct cnd_session *s, uint8_t *room, size_t n, short *ret_events)
{
	int r;

	ERR_clear_error();
	r = SSL_read(s->stream.ssl, room, at_most_int(n));
	return r > 0 ? r : tls_result(s, r, ret_events);
}

static ptrdiff_t
tls_send(struct cnd_session *s, const uint8_t *bytes, size_t n, short *ret_events)
{
	int r;

	ERR_clear_error();
	r = SSL_write(s->stream.ssl, bytes, at_most_int(n));
	return r > 0 ? r : tls_result(s, r, ret_events);
}

const struct cnd_pg_transport cnd_pg_tls = { tls_receive, tls_send };
