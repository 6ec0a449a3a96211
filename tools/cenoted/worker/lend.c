/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lend the server's socket to a client on this machine, watch the loan, and take the session back (docs/lending.md). It
 * owns w->loan. The client can write anything into the page of the loan, so what is read there only decides what
 * happens to that client's own session. client.c calls this file.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/sqlstate.h"
#include "protocol/loan.h"
#include "shared/answer.h"
#include "shared/log.h"

/* A client that has made so many requests gets the session lent. A loan costs about as much as a few requests. */
#define TRY_AT     10u
/* If the client held something, lending is tried again after so many times more requests. */
#define TRY_FACTOR 8u
/* How often the worker reads the page. */
#define LOOK_MS    1000
#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FACTS_SIZE (CNP_LOAN_SIZE - offsetof(struct cnp_loan, facts))

void
cnd_lend_begin(struct cnd_worker *w)
{
	w->loan.try_at = TRY_AT;
	atomic_store_explicit(&w->slot->is_lent, 0, memory_order_relaxed);
}

bool
cnd_lend_has_stranger(const struct cnd_worker *w)
{
	return w->loan.has_borrower && (w->client.peer.door != CND_DOOR_UNIX ||
					       w->client.uid != w->loan.borrower);
}

/* ---- the page ---- */

static struct cnp_loan *
make_page(int *ret_fd)
{
	int fd = memfd_create("cenote-loan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, CNP_LOAN_SIZE) == 0 &&
		fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		page = mmap(
			NULL, CNP_LOAN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*ret_fd = fd;
	return page != MAP_FAILED ? page : NULL;
}

static int
put_attached(const struct cnd_worker *w, struct cnc_buf *facts)
{
	struct cnp_msg m = { .code = CNP_MSG_ATTACHED, .as.attached = cnd_slot_facts(w) };
	struct cnc_buf payload;
	int r;

	cnc_buf_init(&payload, &cnc_mem_default, FACTS_SIZE);
	r = cnp_msg_encode(&payload, &m);
	if (r == CENOTE_OK)
		r = cnc_buf_str(facts, cnc_buf_head(&payload), cnc_buf_len(&payload));
	cnc_buf_finish(&payload);
	return r;
}

static int
put_u64(struct cnc_buf *b, uint64_t v)
{
	uint8_t bytes[8];

	cnc_put_u64(bytes, v);
	return cnc_buf_append(b, bytes, sizeof(bytes));
}

/* What the backend's borrow() must know. *ret_fd: the server's socket. */
static int
put_backend_facts(struct cnd_worker *w, struct cnc_buf *facts, int *ret_fd)
{
	struct cnc_buf own;
	int r;

	cnc_buf_init(&own, &cnc_mem_default, FACTS_SIZE);
	r = w->serving.backend->lend(w->serving.session, &own, ret_fd, &w->serving.diag);
	if (r == CENOTE_OK)
		r = cnc_buf_str(facts, cnc_buf_head(&own), cnc_buf_len(&own));
	cnc_buf_finish(&own);
	return r;
}

/* Fill the page. The backend's part comes last: after it, the client cannot go on without the loan. */
static int
fill_page(struct cnd_worker *w, struct cnp_loan *page, int *ret_fd)
{
	struct cnc_buf facts;
	int r;

	cnc_buf_init(&facts, &cnc_mem_default, FACTS_SIZE);
	r = put_attached(w, &facts);
	if (r == CENOTE_OK)
		r = put_u64(&facts, w->serving.max_row);
	if (r == CENOTE_OK)
		r = put_backend_facts(w, &facts, ret_fd);
	if (r == CENOTE_OK) {
		page->version = CNP_LOAN_VERSION;
		page->facts_len = (uint32_t)cnc_buf_len(&facts);
		memcpy(page->facts, cnc_buf_head(&facts), cnc_buf_len(&facts));
		atomic_store(&page->state, CNP_LOAN_FREE);
		atomic_store(&page->request, atomic_load(&w->slot->request));
		atomic_store(&page->changed_ms, (uint64_t)cnd_now_ms());
	}
	cnc_buf_finish(&facts);
	return r;
}

/* ---- lending ---- */

static bool
may_lend(const struct cnd_worker *w)
{
	return w->config->lend == CND_LEND_AUTO && w->config->no_lend == NULL &&
	       w->client.peer.door == CND_DOOR_UNIX && w->client.channel.tls == NULL &&
	       !w->client.is_resumed && cnd_worker_order(w) == CND_ORDER_NONE;
}

/* Send the queued YIELD. The descriptors go with its first byte. */
static int
send_descriptors(struct cnd_worker *w, const int fds[2])
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { .room = { 0 } };
	const uint8_t *bytes;
	size_t n = cnp_server_output(&w->client.server, &bytes);
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	struct msghdr m = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	ssize_t sent;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), fds, 2 * sizeof(int));
	sent = sendmsg(w->client.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent <= 0)
		return CENOTE_ERR_CONN;
	cnp_server_sent(&w->client.server, (size_t)sent);
	return cnd_client_flush(w);
}

/* Fill the page and queue YIELD. CENOTE_ERR_UNSUPPORTED: nothing has changed. */
static int
prepare(struct cnd_worker *w, struct cnp_loan *page, const struct cnd_state *state,
	int *ret_server)
{
	int r = cnd_client_flush(w);

	if (r == CENOTE_OK)
		r = fill_page(w, page, ret_server);
	return r < 0 ? r
		     : cnp_server_yield(&w->client.server, CNP_YIELD_LEND, &state->carry);
}

static void
begin(struct cnd_worker *w, struct cnp_loan *page, const int fds[2])
{
	w->loan = (struct cnd_worker_loan){
		.page = page, .has_borrower = true, .borrower = w->client.uid
	};
	/* The client has gone, or does not read. The loan then ends at once. */
	if (send_descriptors(w, fds) < 0)
		w->serving.is_gone = true;
	atomic_store_explicit(&w->slot->is_lent, 1, memory_order_relaxed);
}

int
cnd_lend_now(struct cnd_worker *w, const struct cnd_state *state)
{
	int fds[2] = { -1, -1 };
	struct cnp_loan *page = make_page(&fds[1]);
	int r = page != NULL ? prepare(w, page, state, &fds[0]) : CENOTE_ERR_UNSUPPORTED;

	if (r == CENOTE_OK) {
		begin(w, page, fds);
	} else if (r != CENOTE_ERR_UNSUPPORTED) {
		cnd_answer_refuse(&w->client.server, CNC_SQLSTATE(CONNECTION_LOST),
			"the session was lost when it was to be lent");
		w->serving.is_lost = true;
	}
	cnc_diag_clear(&w->serving.diag);
	if (r != CENOTE_OK && page != NULL)
		munmap(page, CNP_LOAN_SIZE);
	if (fds[1] >= 0)
		close(fds[1]);
	return r != CENOTE_ERR_UNSUPPORTED;
}

bool
cnd_lend_is_due(struct cnd_worker *w)
{
	if (w->serving.n_served < w->loan.try_at || !may_lend(w) ||
		!cnp_server_can_lend(&w->client.server))
		return false;
	w->loan.try_at = w->loan.try_at > UINT32_MAX / TRY_FACTOR
				 ? UINT32_MAX
				 : w->loan.try_at * TRY_FACTOR;
	return true;
}

/* ---- while it is lent ---- */

static uint32_t
state_of(const struct cnd_worker *w)
{
	return atomic_load(&w->loan.page->state);
}

/* How much a counter of the page has grown. A client that lies there falsifies the statistics of its pool, and nothing
 * else. */
static uint64_t
growth(uint64_t now, uint64_t *before)
{
	uint64_t n = now - *before;

	*before = now;
	return n < UINT32_MAX ? n : 0;
}

/* Publish what the page says. */
static void
publish(struct cnd_worker *w)
{
	struct cnp_loan *p = w->loan.page;
	struct cnd_slot *s = w->slot;
	uint32_t state = state_of(w), request = atomic_load(&p->request);
	uint64_t requests = growth(atomic_load(&p->requests), &w->loan.requests);
	uint64_t errors = growth(atomic_load(&p->errors), &w->loan.errors);
	bool is_busy = state == CNP_LOAN_BUSY || state == CNP_LOAN_PAUSED;

	atomic_store_explicit(&s->request, request, memory_order_relaxed);
	atomic_store_explicit(
		&s->finished, is_busy ? request - 1 : request, memory_order_relaxed);
	cnd_pins_note(w, atomic_load(&p->tx) & 3u, atomic_load(&p->pins));
	atomic_store_explicit(&s->is_held, state == CNP_LOAN_HELD, memory_order_relaxed);
	atomic_store_explicit(&s->requests, s->requests + requests, memory_order_relaxed);
	atomic_store_explicit(&s->errors, s->errors + errors, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->requests, requests, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->errors, errors, memory_order_relaxed);
}

/* Cancel this request, and no other: the borrower does not go on meanwhile. */
static void
cancel(struct cnd_worker *w, uint32_t request)
{
	struct cnp_loan *p = w->loan.page;
	uint32_t state = CNP_LOAN_BUSY;

	if (!atomic_compare_exchange_strong(&p->state, &state, CNP_LOAN_PAUSED))
		return;
	if (atomic_load(&p->request) == request)
		w->serving.backend->cancel(w->serving.session);
	state = CNP_LOAN_PAUSED;
	(void)atomic_compare_exchange_strong(&p->state, &state, CNP_LOAN_BUSY);
}

/* A client asks for a cancel. */
static void
look_for_cancel(struct cnd_worker *w)
{
	uint32_t request;

	if (atomic_load_explicit(&w->slot->cancel, memory_order_relaxed) == 0)
		return;
	publish(w);
	request = atomic_load(&w->slot->request);
	if (cnd_slot_take_cancel(w->slot, atomic_load(&w->loan.page->last)))
		cancel(w, request);
}

/* When the state of the page last changed. `otherwise`: the result if the page gives a time in the future. */
static int64_t
changed_ms(const struct cnd_worker *w, int64_t now, int64_t otherwise)
{
	uint64_t changed = atomic_load(&w->loan.page->changed_ms);

	return changed <= (uint64_t)now ? (int64_t)changed : otherwise;
}

/* When the running request has run for too long; CND_NEVER: no request runs, or nothing limits it. */
static int64_t
query_limit(const struct cnd_worker *w)
{
	const struct cnp_loan *p = w->loan.page;
	int64_t now = cnd_now_ms();

	return w->client.query_timeout_ms > 0 && state_of(w) == CNP_LOAN_BUSY &&
			       atomic_load(&p->timed_out) != atomic_load(&p->request)
		       ? changed_ms(w, now, now) + w->client.query_timeout_ms
		       : CND_NEVER;
}

static void
look_at_query(struct cnd_worker *w)
{
	struct cnp_loan *p = w->loan.page;
	uint32_t request = atomic_load(&p->request);

	if (cnd_now_ms() < query_limit(w))
		return;
	atomic_store(&p->timed_out, request);
	cancel(w, request);
}

/*
 * Only what a function may have left keeps the session, and the borrower would ask the server about that before its next
 * request at the earliest. So ask now, while the borrower must not go on. True: the session is ours again.
 */
static bool
take_if_settled(struct cnd_worker *w)
{
	struct cnp_loan *p = w->loan.page;
	struct cnd_serving *s = &w->serving;
	uint32_t held = CNP_LOAN_HELD;
	struct cnd_state state;
	int r;

	if (s->backend->settle == NULL || atomic_load(&p->tx) != CENOTE_TX_IDLE ||
		atomic_load(&p->pins) != CENOTE_PIN_FUNCTION ||
		!atomic_compare_exchange_strong(&p->state, &held, CNP_LOAN_PAUSED))
		return false;
	cnd_host_begin_service(w);
	r = s->backend->settle(s->session, NULL);
	cnc_diag_clear(&s->diag);
	s->is_lost = r == CENOTE_ERR_CONN;
	s->backend->state(s->session, &state);
	if (s->is_lost || (r == CENOTE_OK && state.pins == 0)) {
		atomic_store(&p->state, CNP_LOAN_ENDED);
		return true;
	}
	atomic_store(&p->state, CNP_LOAN_HELD);
	return false;
}

/* Take the session back if the borrower holds nothing. */
static bool
take_if_free(struct cnd_worker *w, uint8_t reason)
{
	uint32_t state = CNP_LOAN_FREE;

	atomic_store(&w->loan.page->reason, reason);
	return atomic_compare_exchange_strong(
		       &w->loan.page->state, &state, CNP_LOAN_ENDED) ||
	       take_if_settled(w);
}

/* Take the session back whatever the borrower does. */
static bool
take_by_force(struct cnd_worker *w, const char *sqlstate, const char *words)
{
	struct cnp_loan *p = w->loan.page;
	uint32_t state;

	atomic_store(&p->reason, 0);
	memset(p->words, 0, sizeof(p->words));
	memcpy(p->words, words, strnlen(words, sizeof(p->words) - 1));
	memset(p->sqlstate, 0, sizeof(p->sqlstate));
	memcpy(p->sqlstate, sqlstate, strnlen(sqlstate, sizeof(p->sqlstate) - 1));
	cnd_client_log_parting(w, sqlstate, words);
	state = atomic_exchange(&p->state, CNP_LOAN_ENDED);
	w->serving.is_lost = state != CNP_LOAN_FREE;
	/* a server does not notice the end of its socket while it works */
	if (state == CNP_LOAN_BUSY)
		w->serving.backend->cancel(w->serving.session);
	return true;
}

static bool
take_at_limit(struct cnd_worker *w, int64_t now)
{
	char words[CND_LIMIT_TEXT_MAX];
	const char *sqlstate;

	if (now < cnd_client_limit(w))
		return false;
	if (take_if_free(w, CNP_YIELD_IDLE))
		return true;
	sqlstate = cnd_client_limit_text(w, now, words);
	return take_by_force(w, sqlstate, words);
}

/* Returns true once the worker has the session back. */
static bool
look(struct cnd_worker *w)
{
	uint32_t order = cnd_worker_order(w);
	int64_t now = cnd_now_ms();
	/* a running request is no idle time */
	int64_t active = state_of(w) == CNP_LOAN_BUSY ? now : changed_ms(w, now, 0);

	publish(w);
	if (active > w->client.active_ms)
		w->client.active_ms = active;
	look_for_cancel(w);
	look_at_query(w);
	if (order == CND_ORDER_NOW)
		return (!cnd_worker_is_killed(w) && take_if_free(w, CNP_YIELD_DRAIN)) ||
		       take_by_force(w, CNC_SQLSTATE(SHUTDOWN), cnd_worker_why_now(w));
	if (order != CND_ORDER_NONE)
		return take_if_free(w, order == CND_ORDER_RELOAD ? CNP_YIELD_RELOAD
								 : CNP_YIELD_DRAIN) ||
		       take_at_limit(w, now);
	return take_at_limit(w, now);
}

static int64_t
next_look(const struct cnd_worker *w)
{
	int64_t until = cnd_now_ms() + LOOK_MS;
	int64_t query = query_limit(w);

	if (cnd_client_limit(w) < until)
		until = cnd_client_limit(w);
	return query < until ? query : until;
}

/* The end of the client's connection is the end of the loan. Requests that it sent before it got YIELD are dropped: it sends
 * them again to the borrowed session. */
static bool
has_ended(struct cnd_worker *w, int events)
{
	char room[4096];
	ssize_t n;

	if (w->serving.is_gone)
		return true;
	if (events == 0)
		return false;
	n = recv(w->client.fd, room, sizeof(room), MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* ---- the end of the loan ---- */

/* A session that was taken by force is not used again. */
static void
take_back(struct cnd_worker *w)
{
	struct cnd_serving *s = &w->serving;
	uint32_t left = atomic_load(&w->loan.page->left);
	uint32_t state = atomic_exchange(&w->loan.page->state, CNP_LOAN_ENDED);
	bool is_busy = state == CNP_LOAN_BUSY || state == CNP_LOAN_PAUSED;

	if (s->is_lost)
		return;
	cnd_host_begin_service(w);
	cnc_diag_clear(&s->diag);
	if (s->backend->take_back(s->session, left, is_busy, &s->diag) >= 0)
		return;
	cnd_log(LOG_NOTICE, "a lent session cannot be used again: %s", s->diag.message);
	s->is_lost = true;
}

void
cnd_lend_end(struct cnd_worker *w)
{
	int events = 0;

	while (!has_ended(w, events) && !look(w))
		events = cnd_worker_wait(
			w, w->client.fd, POLLIN | POLLRDHUP, next_look(w));
	publish(w);
	/* Its next connection may be here before the session is. */
	cnd_client_close(w);
	atomic_store_explicit(&w->slot->is_lent, 0, memory_order_relaxed);
	take_back(w);
	munmap(w->loan.page, CNP_LOAN_SIZE);
	w->loan.page = NULL;
}
