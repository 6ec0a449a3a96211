/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cenote/types.h>

/*
 * A lent session (docs/lending.md): first a unix socket on which descriptors may come, then a transport through the
 * module, which talks to the server itself. borrow.c calls this file.
 *
 * During a loan `fd` is the server's socket, which the module owns, and `lender` is the connection to the worker. Its end
 * gives the session back. So a child process only closes its copies, and shuts nothing down.
 */

void
cn_loan_drop(struct cn_transport *t)
{
	cn_close_any(t->lent[0]);
	cn_close_any(t->lent[1]);
	t->lent[0] = t->lent[1] = -1;
}

/* ---- descriptors that come with bytes ---- */

/* The kernel closes those for which there was no room. */
static void
take_descriptors(struct cn_transport *t, struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	cn_loan_drop(t);
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(t->lent, CMSG_DATA(c), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		t->lent[i] = cn_socket_raise(t->lent[i]);
}

ssize_t
cn_loan_receive(struct cn_transport *t, void *room, size_t n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(t->lent))];
	} control;
	struct iovec v = { room, n };
	struct msghdr m = {
		.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(t->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got >= 0)
		take_descriptors(t, &m);
	return got;
}

void
cn_loan_expect(struct cn_transport *t)
{
	t->takes_descriptors = t->ops == &cn_socket_ops;
}

/* ---- the loan ---- */

void
cn_loan_forget(struct cn_transport *t)
{
	t->loan = NULL;
	t->lender = -1;
	t->is_lent_anew = 0;
	t->is_choked = 0;
}

static int
loan_failed(struct cn_transport *t)
{
	t->error = ECONNRESET;
	return CENOTE_ERR_CONN;
}

static int
loan_read(struct cn_transport *t, void *room, size_t n, size_t *ret_n)
{
	int r = t->loan_ops->read(t->loan, room, n, ret_n);

	return r < 0 && r != CENOTE_AGAIN ? loan_failed(t) : r;
}

static int
loan_write(struct cn_transport *t, const void *bytes, size_t n, size_t *ret_n)
{
	int r = t->loan_ops->write(t->loan, bytes, n, ret_n);

	t->is_choked = r == CENOTE_AGAIN && !t->loan_ops->unsent(t->loan);
	return r < 0 && r != CENOTE_AGAIN ? loan_failed(t) : r;
}

/* The descriptor may have got another number since. */
static void
loan_close(struct cn_transport *t)
{
	t->loan_ops->set_fd(t->loan, t->fd);
	t->loan_ops->close(t->loan);
	cn_close_any(t->lender);
	cn_loan_forget(t);
}

/* The module sends the rest in its next read() or write(). */
static int
loan_flush(struct cn_transport *t)
{
	return t->loan_ops->unsent(t->loan) ? CENOTE_AGAIN : CENOTE_OK;
}

static int
loan_unsent(const struct cn_transport *t)
{
	return t->loan_ops->unsent(t->loan);
}

static int
loan_pending(const struct cn_transport *t)
{
	return t->loan_ops->pending(t->loan);
}

static const struct cn_transport_ops loan_ops = {
	.read = loan_read,
	.write = loan_write,
	.close = loan_close,
	.flush = loan_flush,
	.unsent = loan_unsent,
	.pending = loan_pending,
};

/* Give `fd` the number of the transport's descriptor, which moves elsewhere. Returns its new number; -1: nothing
 * changed. */
static int
take_over_number(struct cn_transport *t, int fd)
{
	int moved = fcntl(t->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (moved >= 0 && dup3(fd, t->fd, O_CLOEXEC) < 0) {
		(void)close(moved);
		moved = -1;
	}
	return moved;
}

static int
place(struct cn_transport *t, const struct cn_loan_ops *ops, struct cn_loan *loan,
	int server)
{
	t->lender = t->keeps_number ? take_over_number(t, server) : t->fd;
	if (t->lender < 0)
		return CENOTE_ERR_NOMEM;
	if (t->keeps_number) {
		ops->set_fd(loan, t->fd);
		(void)close(server);
	} else {
		t->fd = server;
	}
	return CENOTE_OK;
}

int
cn_loan_begin(struct cn_transport *t, const struct cn_loan_ops *ops,
	const struct cenote_allocator *mem)
{
	int server = t->lent[0];
	struct cn_loan *loan;
	int r = ops->open(mem, server, t->lent[1], &loan);

	if (r < 0) {
		cn_loan_drop(t);
		return r;
	}
	t->lent[0] = t->lent[1] = -1;
	r = place(t, ops, loan, server);
	if (r < 0) {
		ops->close(loan);
		return r;
	}
	t->loan = loan;
	t->loan_ops = ops;
	t->ops = &loan_ops;
	t->is_lent_anew = 1;
	t->is_choked = 0;
	return CENOTE_OK;
}

void
cn_loan_forfeit(struct cn_transport *t)
{
	int lender = t->lender, server;

	if (!t->loan)
		return;
	server = take_over_number(t, lender);
	if (server < 0) {
		cn_transport_close(t);
		return;
	}
	(void)shutdown(lender, SHUT_RDWR);
	t->loan_ops->set_fd(t->loan, server);
	t->loan_ops->close(t->loan);
	(void)close(lender);
	cn_loan_forget(t);
	t->ops = &cn_socket_ops;
}
