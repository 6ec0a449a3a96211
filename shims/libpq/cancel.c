/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* libpq 17's CONNECTION_ALLOCATED. */
#define CPQ_CONNECTION_ALLOCATED ((ConnStatusType)14)

/*
 * Cancelling. A program takes a PGcancel once and may use it during any later request, from another
 * thread or from a signal handler. So the PGcancel shares a box with its connection. The connection
 * writes the running request into the box; all others only read it.
 */
struct cpq_cancel_box {
	atomic_int n_owners;
	cenote_cancel *cancel;
};

struct pg_cancel {
	const char *tag; /* &cpq_tag; must be first */
	struct cpq_cancel_box *box;
};

static void
box_leave(struct cpq_cancel_box *box)
{
	if (atomic_fetch_sub(&box->n_owners, 1) > 1)
		return;
	cenote_cancel_destroy(box->cancel);
	free(box);
}

static struct cpq_cancel_box *
box_of(PGconn *conn)
{
	struct cpq_cancel_box *box = conn->cancel;

	if (box != NULL)
		return box;
	box = calloc(1, sizeof(*box));
	if (box == NULL)
		return NULL;
	if (cenote_cancel_create(conn->session, &box->cancel) < 0) {
		free(box);
		return NULL;
	}
	atomic_store(&box->n_owners, 1);
	conn->cancel = box;
	return box;
}

void
cpq_cancel_follow(PGconn *conn)
{
	if (conn->cancel != NULL)
		cenote_cancel_follow(conn->cancel->cancel, conn->session);
}

void
cpq_cancel_leave(PGconn *conn)
{
	if (conn->cancel == NULL)
		return;
	/* The program may free the PGcancel in another thread. */
	cenote_cancel_follow(conn->cancel->cancel, NULL);
	box_leave(conn->cancel);
	conn->cancel = NULL;
}

PGcancel *
cpq_PQgetCancel(PGconn *conn)
{
	PGcancel *cancel;

	if (conn == NULL || conn->session == NULL || conn->status == CONNECTION_BAD)
		return NULL;
	cancel = malloc(sizeof(*cancel));
	if (cancel == NULL)
		return NULL;
	cancel->tag = &cpq_tag;
	cancel->box = box_of(conn);
	if (cancel->box == NULL) {
		free(cancel);
		return NULL;
	}
	cpq_cancel_follow(conn);
	atomic_fetch_add(&cancel->box->n_owners, 1);
	return cancel;
}

void
cpq_PQfreeCancel(PGcancel *cancel)
{
	if (cancel == NULL)
		return;
	box_leave(cancel->box);
	free(cancel);
}

static void
put_text(char *to, int size, const char *text)
{
	if (to == NULL || size <= 0)
		return;
	strncpy(to, text, (size_t)size - 1);
	to[size - 1] = '\0';
}

/* "PQcancel() -- WHY\n"; the line end stays when the text is cut. */
static void
put_reason(char *to, int size, const char *why)
{
	size_t len;

	put_text(to, size - 1, "PQcancel() -- ");
	if (to == NULL || size <= 1)
		return;
	len = strlen(to);
	put_text(to + len, size - 1 - (int)len, why);
	memcpy(to + strlen(to), "\n", 2);
}

/* Send the cancel. It succeeds also if nothing is running any more. */
static int
box_send(const struct cpq_cancel_box *box, char *ret_why, size_t size)
{
	return cenote_cancel_send_safe(box->cancel, ret_why, size) >= 0;
}

/* As in libpq, a signal handler may call this function, so it uses only the stack. */
int
cpq_PQcancel(PGcancel *cancel, char *errbuf, int errbufsize)
{
	char why[256];

	if (cancel == NULL) {
		put_text(errbuf, errbufsize, "PQcancel() -- no cancel object supplied");
		return 0;
	}
	if (box_send(cancel->box, why, sizeof(why)))
		return 1;
	put_reason(errbuf, errbufsize, why);
	return 0;
}

int
cpq_PQrequestCancel(PGconn *conn)
{
	PGcancel *cancel;
	char why[256];
	int r;

	if (conn == NULL)
		return 0;
	if (conn->session == NULL) {
		resetPQExpBuffer(&conn->error);
		cpq_say(conn, "PQrequestCancel() -- connection is not open");
		return 0;
	}
	cancel = cpq_PQgetCancel(conn);
	r = cancel != NULL ? cpq_PQcancel(cancel, why, sizeof(why)) : 0;
	if (!r) {
		resetPQExpBuffer(&conn->error);
		appendPQExpBufferStr(
			&conn->error, cancel != NULL ? why : "out of memory");
	}
	cpq_PQfreeCancel(cancel);
	return r;
}

/* PQcancelPoll() has nothing to do step by step: a cancel is one small write on a local socket. But
 * a program waits for a descriptor before it polls, so it gets one that is always writable. */
struct pg_cancel_conn {
	const char *tag; /* &cpq_tag; must be first */
	struct cpq_cancel_box *box;
	ConnStatusType status;
	int fd; /* always writable; -1: nothing was started */
	char error[512];
};

PGcancelConn *
cpq_PQcancelCreate(PGconn *conn)
{
	PGcancelConn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->tag = &cpq_tag;
	c->status = CPQ_CONNECTION_ALLOCATED;
	c->fd = -1;
	if (conn == NULL || conn->session == NULL || conn->status == CONNECTION_BAD) {
		put_text(c->error, sizeof(c->error),
			conn == NULL ? "connection pointer is NULL\n"
				     : "connection not open\n");
		c->status = CONNECTION_BAD;
		return c;
	}
	c->box = box_of(conn);
	if (c->box == NULL) {
		put_text(c->error, sizeof(c->error), "out of memory\n");
		c->status = CONNECTION_BAD;
		return c;
	}
	cpq_cancel_follow(conn);
	atomic_fetch_add(&c->box->n_owners, 1);
	return c;
}

static int
cancel_now(PGcancelConn *c)
{
	char why[sizeof(c->error) - 1];

	c->error[0] = '\0';
	c->status = CONNECTION_OK;
	if (box_send(c->box, why, sizeof(why)))
		return 1;
	snprintf(c->error, sizeof(c->error), "%s\n", why);
	c->status = CONNECTION_BAD;
	return 0;
}

static int
may_start(PGcancelConn *cancel_conn)
{
	if (cancel_conn == NULL || cancel_conn->status == CONNECTION_BAD)
		return 0;
	if (cancel_conn->status != CPQ_CONNECTION_ALLOCATED) {
		put_text(cancel_conn->error, sizeof(cancel_conn->error),
			"cancel request is already being sent on this connection\n");
		cancel_conn->status = CONNECTION_BAD;
		return 0;
	}
	/* after PQcancelReset() of one that has nothing to cancel */
	if (cancel_conn->box == NULL)
		cancel_conn->status = CONNECTION_BAD;
	return cancel_conn->box != NULL;
}

/* Do not return one of the standard descriptors: the program may have closed them, and still print
 * to them. */
static int
ready_socket(void)
{
	int low = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int fd;

	if (low < 0)
		return -1;
	fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	(void)close(low);
	return fd;
}

static void
close_socket(PGcancelConn *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

int
cpq_PQcancelStart(PGcancelConn *cancel_conn)
{
	if (!may_start(cancel_conn))
		return 0;
	cancel_conn->fd = ready_socket();
	if (cancel_conn->fd < 0) {
		put_text(cancel_conn->error, sizeof(cancel_conn->error),
			"could not create socket\n");
		cancel_conn->status = CONNECTION_BAD;
		return 0;
	}
	return cancel_now(cancel_conn);
}

int
cpq_PQcancelBlocking(PGcancelConn *cancel_conn)
{
	return may_start(cancel_conn) && cancel_now(cancel_conn);
}

PostgresPollingStatusType
cpq_PQcancelPoll(PGcancelConn *cancel_conn)
{
	return cancel_conn != NULL && cancel_conn->status == CONNECTION_OK
		       ? PGRES_POLLING_OK
		       : PGRES_POLLING_FAILED;
}

ConnStatusType
cpq_PQcancelStatus(const PGcancelConn *cancel_conn)
{
	return cancel_conn != NULL ? cancel_conn->status : CONNECTION_BAD;
}

int
cpq_PQcancelSocket(const PGcancelConn *cancel_conn)
{
	return cancel_conn != NULL ? cancel_conn->fd : -1;
}

char *
cpq_PQcancelErrorMessage(const PGcancelConn *cancel_conn)
{
	if (cancel_conn == NULL)
		return (char *)(uintptr_t) "connection pointer is NULL\n";
	return (char *)(uintptr_t)cancel_conn->error;
}

void
cpq_PQcancelReset(PGcancelConn *cancel_conn)
{
	if (cancel_conn == NULL)
		return;
	close_socket(cancel_conn);
	cancel_conn->error[0] = '\0';
	cancel_conn->status = CPQ_CONNECTION_ALLOCATED;
}

void
cpq_PQcancelFinish(PGcancelConn *cancel_conn)
{
	if (cancel_conn == NULL)
		return;
	close_socket(cancel_conn);
	if (cancel_conn->box != NULL)
		box_leave(cancel_conn->box);
	free(cancel_conn);
}
