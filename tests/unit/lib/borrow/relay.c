/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cenote/types.h>

#include "loan.h"

/* A module for tests: a loan whose server speaks the pool's protocol itself. */

__attribute__((visibility("default"))) struct relay relay;

struct cn_loan {
	struct cenote_allocator mem;
	int fd, page;
	char ahead[65536];
	size_t n;
	int is_waiting; /* something was written, and nothing came since */
};

static int
relay_open(const struct cenote_allocator *mem, int server_fd, int page_fd,
	struct cn_loan **ret_loan)
{
	struct cn_loan *l;

	if (relay.refuses)
		return relay.refuses;
	l = mem->alloc(sizeof(*l), mem->user);
	if (l == NULL)
		return CENOTE_ERR_NOMEM;
	memset(l, 0, sizeof(*l));
	l->mem = *mem;
	l->fd = relay.fd = server_fd;
	l->page = page_fd;
	relay.n_opened++;
	*ret_loan = l;
	return CENOTE_OK;
}

static void
relay_close(struct cn_loan *l)
{
	(void)close(l->fd);
	(void)close(l->page);
	l->mem.free(l, l->mem.user);
	relay.n_closed++;
}

static void
relay_set_fd(struct cn_loan *l, int fd)
{
	l->fd = relay.fd = fd;
}

static int
read_ahead(struct cn_loan *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	ssize_t got;

	/* Not every frame has an answer. */
	(void)poll(&p, 1, 20);
	got = recv(l->fd, l->ahead + l->n, sizeof(l->ahead) - l->n, MSG_DONTWAIT);
	if (got > 0)
		l->n += (size_t)got;
	return CENOTE_OK;
}

static int
relay_write(struct cn_loan *l, const void *bytes, size_t n, size_t *ret_n)
{
	ssize_t put;

	relay.n_writes++;
	if (relay.chokes && l->is_waiting)
		return CENOTE_AGAIN;
	put = send(l->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0)
		return errno == EAGAIN ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	l->is_waiting = 1;
	*ret_n = (size_t)put;
	return relay.reads_ahead ? read_ahead(l) : CENOTE_OK;
}

static int
relay_read(struct cn_loan *l, void *room, size_t n, size_t *ret_n)
{
	ssize_t got;

	if (l->n > 0) {
		n = n < l->n ? n : l->n;
		memcpy(room, l->ahead, n);
		l->n -= n;
		memmove(l->ahead, l->ahead + n, l->n);
		l->is_waiting = 0;
		*ret_n = n;
		return CENOTE_OK;
	}
	got = recv(l->fd, room, n, MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	l->is_waiting = 0;
	*ret_n = (size_t)got;
	return CENOTE_OK;
}

static int
relay_pending(const struct cn_loan *l)
{
	return l->n > 0;
}

static int
relay_unsent(const struct cn_loan *l)
{
	(void)l;
	return 0;
}

__attribute__((visibility("default"))) const struct cn_loan_ops *
cn_loan_get(uint32_t abi)
{
	static const struct cn_loan_ops ops = {
		.open = relay_open,
		.close = relay_close,
		.set_fd = relay_set_fd,
		.write = relay_write,
		.read = relay_read,
		.pending = relay_pending,
		.unsent = relay_unsent,
	};

	return abi == CN_LOAN_ABI ? &ops : NULL;
}
