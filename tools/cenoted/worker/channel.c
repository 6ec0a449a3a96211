/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's bytes over its socket, in the clear or through TLS. It owns the TLS state of one
 * connection and calls lib/crypto for it. client_io.c, attach_tls.c and auth.c call it.
 */
#include "channel.h"

#include <stdio.h>
#include <string.h>

static int
socket_read(void *user, void *room, size_t n, size_t *ret_n)
{
	const struct cnd_channel *c = user;
	ssize_t got;

	do
		got = recv(c->fd, room, n, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	*ret_n = (size_t)got;
	return CENOTE_OK;
}

static int
keep(struct cnd_channel *c, const void *bytes, size_t n, size_t *ret_n)
{
	if (n > c->sealed_size - c->n_sealed)
		return CENOTE_ERR_CONN;
	memcpy(c->sealed + c->n_sealed, bytes, n);
	c->n_sealed += n;
	*ret_n = n;
	return CENOTE_OK;
}

static int
socket_write(void *user, const void *bytes, size_t n, size_t *ret_n)
{
	struct cnd_channel *c = user;
	ssize_t put;

	if (c->sealed != NULL)
		return keep(c, bytes, n, ret_n);
	do
		put = send(c->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0)
		return errno == EAGAIN ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	*ret_n = (size_t)put;
	return CENOTE_OK;
}

/* Translate the result into that of a system call. */
static ssize_t
as_call(int r, size_t n)
{
	if (r == CENOTE_OK)
		return (ssize_t)n;
	errno = r == CENOTE_AGAIN ? EAGAIN : r == CENOTE_ERR_CONN ? ECONNRESET : EPROTO;
	return -1;
}

ssize_t
cnd_channel_secure_read(struct cnd_channel *c, void *room, size_t n)
{
	size_t got = 0;
	int r = c->ops->read(c->tls, room, n, &got);

	return as_call(r, got);
}

ssize_t
cnd_channel_secure_write(struct cnd_channel *c, const void *bytes, size_t n)
{
	size_t put = 0;
	int r = c->ops->write(c->tls, bytes, n, &put);

	return as_call(r, put);
}

int
cnd_channel_flush(struct cnd_channel *c)
{
	return c->tls == NULL ? 0 : (int)as_call(c->ops->flush(c->tls), 0);
}

ssize_t
cnd_channel_seal(
	struct cnd_channel *c, const void *bytes, size_t n, uint8_t *room, size_t size)
{
	ssize_t put;

	if (c->tls == NULL) {
		if (n > size)
			return -1;
		memcpy(room, bytes, n);
		return (ssize_t)n;
	}
	c->sealed = room;
	c->sealed_size = size;
	c->n_sealed = 0;
	put = cnd_channel_secure_write(c, bytes, n);
	return put == (ssize_t)n && cnd_channel_flush(c) == 0 ? (ssize_t)c->n_sealed : -1;
}

int
cnd_channel_secure(struct cnd_channel *c, int fd, struct cn_tls_server *server)
{
	const struct cn_tls_io io = { socket_read, socket_write, c };

	c->ops = cn_crypto_get(CN_CRYPTO_ABI)->tls;
	c->fd = fd;
	return c->ops->accept(server, &io, &c->tls);
}

void
cnd_channel_move(struct cnd_channel *to, struct cnd_channel *from)
{
	*to = *from;
	from->tls = NULL;
	if (to->tls != NULL)
		to->ops->rebind(to->tls, to);
}

void
cnd_channel_finish(struct cnd_channel *c)
{
	if (c->tls == NULL)
		return;
	c->ops->destroy(c->tls);
	c->tls = NULL;
	c->sealed = NULL;
}

int
cnd_channel_binding(
	const struct cnd_channel *c, uint8_t ret_binding[CNP_SCRAM_BINDING_LEN])
{
	return c->tls != NULL && c->ops->binding(c->tls, ret_binding) == CENOTE_OK;
}

int
cnd_channel_certificate(const struct cnd_channel *c, struct cn_tls_facts *ret_facts)
{
	if (c->tls == NULL)
		return 0;
	c->ops->facts(c->tls, ret_facts);
	return ret_facts->is_verified && ret_facts->peer[0] != '\0';
}

void
cnd_channel_text(const struct cnd_channel *c, char *out, size_t size)
{
	struct cn_tls_facts f;

	out[0] = '\0';
	if (c->tls == NULL)
		return;
	c->ops->facts(c->tls, &f);
	(void)snprintf(out, size, "%s %s%s%s%s", f.version, f.cipher,
		f.group[0] != '\0' ? " " : "", f.group, f.is_resumed ? " resumed" : "");
}
