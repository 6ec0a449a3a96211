/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport.h"

#include <errno.h>
#include <unistd.h>

#include <cenote/types.h>

/* TLS over a socket that is connected already. attach_tls.c begins it; the module of
 * lib/crypto does the work. */

static int
read_socket(void *user, void *room, size_t n, size_t *ret_n)
{
	return cn_socket_ops.read(user, room, n, ret_n);
}

static int
write_socket(void *user, const void *bytes, size_t n, size_t *ret_n)
{
	return cn_socket_ops.write(user, bytes, n, ret_n);
}

static int
secure_read(struct cn_transport *t, void *room, size_t n, size_t *ret_n)
{
	int r = t->tls_ops->read(t->tls, room, n, ret_n);

	if (r < 0 && r != CENOTE_ERR_CONN)
		t->error = EPROTO;
	return r;
}

static int
secure_write(struct cn_transport *t, const void *bytes, size_t n, size_t *ret_n)
{
	int r = t->tls_ops->write(t->tls, bytes, n, ret_n);

	if (r < 0 && r != CENOTE_ERR_CONN)
		t->error = EPROTO;
	return r;
}

static void
secure_close(struct cn_transport *t)
{
	t->tls_ops->destroy(t->tls);
	t->tls = NULL;
	t->is_shaking = 0;
	(void)close(t->fd);
}

static int
secure_flush(struct cn_transport *t)
{
	return t->tls_ops->flush(t->tls);
}

static int
secure_unsent(const struct cn_transport *t)
{
	return t->tls_ops->unsent(t->tls);
}

static int
secure_pending(const struct cn_transport *t)
{
	return t->tls_ops->pending(t->tls);
}

static const struct cn_transport_ops secure_ops = {
	.read = secure_read,
	.write = secure_write,
	.close = secure_close,
	.flush = secure_flush,
	.unsent = secure_unsent,
	.pending = secure_pending,
};

int
cn_secure_begin(struct cn_transport *t, const struct cn_tls_ops *ops,
	const struct cn_tls_client_options *o, struct cn_tls_error *ret_error)
{
	const struct cn_tls_io io = { read_socket, write_socket, t };
	int r = ops->connect(o, &io, &t->tls, ret_error);

	if (r < 0)
		return r;
	t->tls_ops = ops;
	t->ops = &secure_ops;
	t->is_shaking = 1;
	return CENOTE_OK;
}

int
cn_secure_handshake(struct cn_transport *t)
{
	int r = t->tls_ops->handshake(t->tls);

	if (r == CENOTE_OK)
		t->is_shaking = 0;
	return r;
}
