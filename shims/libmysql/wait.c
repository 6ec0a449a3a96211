/* SPDX-License-Identifier: BSD-2-Clause */
#include "fibre.h"

#include <errno.h>
#include <poll.h>

/*
 * All waiting for the pool. Usually libcenote itself blocks. If the program has time limits, a
 * fibre, or a function that waits, libcenote never blocks: it says what it waits for. Then this
 * file waits, or the program that resumes the fibre waits. A time limit applies to one wait, as the
 * original's applies to one read or write. It has the options' value at the time of connecting. All
 * files that call libcenote call this file.
 */

/* Has the program set a function that waits (MariaDB's flavour)? */
static int
has_io_wait(const struct cmy_session *s)
{
#if CMY_ORACLE
	(void)s;
	return 0;
#else
	return s->io_wait != NULL;
#endif
}

void
cmy_choose_wait(struct cmy_session *s)
{
	const NET *net = &s->my->net;

	(void)cenote_set_nonblocking(s->conn, s->fibre || has_io_wait(s) ||
						      net->read_timeout > 0 ||
						      net->write_timeout > 0);
}

static int
limit_ms(const MYSQL *my, int wants)
{
	unsigned seconds =
		wants & CENOTE_WANTS_READ ? my->net.read_timeout : my->net.write_timeout;

	if (seconds == 0)
		return -1;
	return seconds > INT32_MAX / 1000 ? INT32_MAX : (int)seconds * 1000;
}

/*
 * Can the program wait? Between two attempts to attach there is only a time to wait, and no
 * descriptor. A program of MariaDB's flavour gets that time if it has a descriptor to poll;
 * otherwise wait here.
 */
static int
may_program_wait(const struct pollfd *p)
{
	return p->events != 0 || (!CMY_ORACLE && p->fd >= 0);
}

/* Wait for events. As poll(): 0: the time is up; -1: failure. */
static int
wait_for(struct cmy_session *s, short events, int timeout_ms)
{
	struct pollfd p = { .fd = cenote_fd(s->conn), .events = events };

	s->my->net.fd = p.fd; /* the program polls this descriptor */
	if (cmy_is_in_fibre(s) && may_program_wait(&p))
		return cmy_fibre_yield(s->fibre, events, timeout_ms);
#if !CMY_ORACLE
	if (s->io_wait && p.events != 0)
		return s->io_wait(p.fd, cmy_bool(events & POLLIN), timeout_ms);
#endif
	for (;;) {
		int r = poll(&p, p.fd >= 0, timeout_ms);

		if (r >= 0)
			return r;
		if (errno != EINTR)
			return -1;
	}
}

int
cmy_wait(struct cmy_session *s)
{
	int wants = cenote_wants(s->conn);
	int limit = limit_ms(s->my, wants);
	int again = cenote_wait_ms(s->conn);
	short events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			       (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	int is_ours = again < 0 || (limit >= 0 && limit < again);
	int r = wait_for(s, events, is_ours ? limit : again);

	s->my->net.fd = cenote_fd(s->conn);
	if (r > 0 || (r == 0 && !is_ours))
		return 0;
	cmy_error(s->my, CR_SERVER_LOST, NULL);
	cmy_lose(s);
	return -1;
}

int
cmy_check(struct cmy_session *s, int status)
{
	/* libcenote may have attached to another session */
	s->my->net.fd = cenote_fd(s->conn);
	if (status >= 0)
		return 0;
	cmy_error_status(s->my, status);
	/* without memory a request may be half sent, and cannot be undone */
	if (cenote_status_is_fatal(status) || status == CENOTE_ERR_NOMEM)
		cmy_lose(s);
	return -1;
}

int
cmy_get_result(struct cmy_session *s, cenote_result **ret_res)
{
	int r;

	while ((r = cenote_get_result(s->conn, ret_res)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return CENOTE_ERR_CONN;
	}
	(void)cmy_check(s, r);
	return r;
}

/* ---- the session's fibre ---- */

int
cmy_fibre_want(struct cmy_session *s, size_t stack_size)
{
	struct cmy_fibre *f;

	if (s->fibre && s->fibre->is_suspended)
		return -1;
	f = cmy_fibre_new(stack_size);
	if (!f) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	cmy_fibre_free(s->fibre);
	s->fibre = f;
	cmy_choose_wait(s);
	return 0;
}

struct cmy_fibre *
cmy_fibre_idle(struct cmy_session *s)
{
	if (!s->fibre && cmy_fibre_want(s, 0) < 0)
		return NULL;
	if (!s->fibre->is_suspended)
		return s->fibre;
	cmy_error(s->my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	return NULL;
}
