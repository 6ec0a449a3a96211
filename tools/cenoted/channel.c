/* SPDX-License-Identifier: BSD-2-Clause */
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
socket_write(void *user, const void *bytes, size_t n, size_t *ret_n)
{
	const struct cnd_channel *c = user;
	ssize_t put;

	do
		put = send(c->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0)
		return errno == EAGAIN ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	*ret_n = (size_t)put;
	return CENOTE_OK;
}

/* As a system call says it. */
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

int
cnd_channel_secure(struct cnd_channel *c, int fd, struct cn_tls_server *server)
{
	const struct cn_tls_io io = { socket_read, socket_write, c };

	c->ops = cn_crypto_get(CN_CRYPTO_ABI)->tls;
	c->fd = fd;
	return c->ops->accept(server, &io, &c->tls);
}

void
cnd_channel_finish(struct cnd_channel *c)
{
	if (c->tls == NULL)
		return;
	c->ops->destroy(c->tls);
	c->tls = NULL;
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
