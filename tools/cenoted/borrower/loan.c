/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the module (struct cn_loan_ops): they move frames between the client and the fibre, and enter the
 * fibre when there may be something new for it. Nothing waits here, and the output is bounded: the fibre does not go on
 * until the client has read it. libcenote calls this file.
 */
#include "borrower.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "backends/postgresql/borrowed.h"

#if defined(__SANITIZE_ADDRESS__)
#define STACK_SIZE ((size_t)512 * 1024)
#else
#define STACK_SIZE ((size_t)128 * 1024)
#endif
#define OUTPUT_MAX (256u * 1024u)
/* How much is taken from the client before the fibre looks at it. */
#define INPUT_MAX  ((size_t)64 * 1024)

static const struct cnd_backend *
find_backend(struct cnp_str name)
{
	const struct cnd_backend *b = cnd_pg_borrowed();

	return strcmp(name.p, b->name) == 0 ? b : NULL;
}

/* ---- the fibre ---- */

void
cnd_loan_await(struct cn_loan *l, enum cnd_loan_wait wait, short events)
{
	l->wait = wait;
	l->events = events;
	cnc_fibre_leave(&l->fibre);
}

/* The fibre is inside a ROWS frame while it waits for the server. What is complete has been sent before. */
static size_t
output(const struct cn_loan *l, const uint8_t **ret_bytes)
{
	return l->serving.result.is_in_rows || l->is_withheld
		       ? 0
		       : cnp_server_output(&l->server, ret_bytes);
}

/* The client has taken the output for which the fibre waits. */
static bool
has_room(const struct cn_loan *l)
{
	const uint8_t *bytes;

	return !l->is_over && l->wait == CND_LOAN_FOR_ROOM && output(l, &bytes) == 0;
}

static bool
is_unsent(const struct cn_loan *l)
{
	return !l->is_over && l->wait == CND_LOAN_FOR_SERVER &&
	       (l->events & POLLOUT) != 0;
}

/* ---- frames ---- */

/* Take bytes from the client. CENOTE_OK: at least 1; else as cnp_server_room(). */
static int
take(struct cn_loan *l, const uint8_t *bytes, size_t n, size_t *ret_n)
{
	size_t taken = 0, size;
	uint8_t *room;
	int r = CENOTE_OK;

	if (n > INPUT_MAX)
		n = INPUT_MAX;
	while (taken < n) {
		r = cnp_server_room(&l->server, &room, &size);
		if (r < 0)
			break;
		if (size > n - taken)
			size = n - taken;
		memcpy(room, bytes + taken, size);
		cnp_server_received(&l->server, size);
		taken += size;
	}
	if (taken == 0)
		return r;
	*ret_n = taken;
	return CENOTE_OK;
}

static int
loan_write(struct cn_loan *l, const void *bytes, size_t n, size_t *ret_n)
{
	const uint8_t *rest;
	int r;

	if (is_unsent(l) || has_room(l))
		cnc_fibre_enter(&l->fibre);
	if (l->is_over)
		return output(l, &rest) > 0 ? CENOTE_AGAIN : CENOTE_ERR_CONN;
	/* a running request still needs its text, which new bytes would move */
	l->has_refused = l->wait != CND_LOAN_FOR_CLIENT;
	if (l->has_refused)
		return CENOTE_AGAIN;
	r = take(l, bytes, n, ret_n);
	if (r < 0)
		return r == CENOTE_ERR_LIMIT ? CENOTE_AGAIN : r;
	cnc_fibre_enter(&l->fibre);
	return CENOTE_OK;
}

static int
loan_read(struct cn_loan *l, void *room, size_t n, size_t *ret_n)
{
	const uint8_t *bytes;
	size_t len = output(l, &bytes);

	/* The client could have written since, and has nothing to write any more. */
	if (l->wait == CND_LOAN_FOR_CLIENT)
		l->has_refused = false;
	if (len == 0 && !l->is_over) {
		l->is_asked = l->wait == CND_LOAN_FOR_CLIENT;
		cnc_fibre_enter(&l->fibre);
		len = output(l, &bytes);
	}
	if (len == 0 && !l->is_over)
		return CENOTE_AGAIN;
	if (len > n)
		len = n;
	if (len > 0) {
		memcpy(room, bytes, len);
		cnp_server_sent(&l->server, len);
	}
	*ret_n = len;
	return CENOTE_OK;
}

static int
loan_pending(const struct cn_loan *l)
{
	const uint8_t *bytes;

	return l->is_over || l->wait == CND_LOAN_FOR_ROOM || output(l, &bytes) > 0;
}

/* After a write() in vain, the request may have ended without a reply. Nothing else would tell the client to write again,
 * and the socket is writable then. */
static int
loan_unsent(const struct cn_loan *l)
{
	return is_unsent(l) ||
	       (!l->is_over && l->has_refused && l->wait == CND_LOAN_FOR_CLIENT);
}

/* ---- the life of a loan ---- */

static void
loan_set_fd(struct cn_loan *l, int fd)
{
	l->server_fd = fd;
}

/* The fibre may be in the middle of a request. The ledger frees what only the fibre knows. */
static void
loan_close(struct cn_loan *l)
{
	const struct cenote_allocator *mem;

	if (l == NULL)
		return;
	mem = l->ledger.source;
	if (l->serving.session != NULL)
		l->serving.backend->logout(l->serving.session);
	if (l->fibre.stack != NULL)
		cnc_fibre_finish(&l->fibre);
	cnd_page_unmap(l->page);
	cnd_ledger_finish(&l->ledger);
	if (l->own_fd >= 0)
		(void)close(l->own_fd);
	if (l->server_fd >= 0)
		(void)close(l->server_fd);
	cnc_free(mem, l);
}

/* Fill the loan. On failure, loan_close() frees what there is. */
static int
begin(struct cn_loan *l, int server_fd, int page_fd)
{
	const struct cnd_backend *backend;
	int r = cnd_page_map(page_fd, &l->page);

	if (r == CENOTE_OK)
		r = cnd_page_facts(l->page, &l->ledger.mem, &l->facts);
	if (r < 0)
		return r;
	backend = find_backend(l->facts.attached.backend);
	if (backend == NULL)
		return CENOTE_ERR_UNSUPPORTED;
	l->own_fd = fcntl(server_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (l->own_fd < 0)
		return CENOTE_ERR_NOMEM;
	cnp_server_init(&l->server, &l->ledger.mem, CNP_FRAME_MAX, OUTPUT_MAX);
	cnd_loan_own(l, backend);
	r = cnc_buf_append(&l->serving.parameters, l->facts.attached.parameters.p,
		l->facts.attached.parameters.n);
	if (r < 0)
		return r;
	if (cnc_fibre_init(&l->fibre, STACK_SIZE, cnd_loan_serve, l) < 0)
		return CENOTE_ERR_NOMEM;
	/* The first entry restores the signal mask of this moment, so it must not come later. */
	cnc_fibre_enter(&l->fibre);
	return l->status;
}

static int
loan_open(const struct cenote_allocator *mem, int server_fd, int page_fd,
	struct cn_loan **ret_loan)
{
	struct cn_loan *l = cnc_calloc(mem, 1, sizeof(*l));
	int r;

	if (l == NULL)
		return CENOTE_ERR_NOMEM;
	l->server_fd = -1;
	l->own_fd = -1;
	cnd_ledger_init(&l->ledger, mem);
	r = begin(l, server_fd, page_fd);
	if (r < 0) {
		loan_close(l);
		return r;
	}
	l->server_fd = server_fd;
	(void)close(page_fd);
	*ret_loan = l;
	return CENOTE_OK;
}

static const struct cn_loan_ops ops = {
	.open = loan_open,
	.close = loan_close,
	.set_fd = loan_set_fd,
	.write = loan_write,
	.read = loan_read,
	.pending = loan_pending,
	.unsent = loan_unsent,
};

__attribute__((visibility("default"))) const struct cn_loan_ops *
cn_loan_get(uint32_t abi)
{
	return abi == CN_LOAN_ABI ? &ops : NULL;
}
