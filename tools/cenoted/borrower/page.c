/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the page that the worker and this process share (protocol/loan.h), reads its facts once, and changes its
 * state. A page that could shrink would kill the process, so the seals are checked first.
 */
#include "borrower.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "../backends/common/clock.h"

#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* A worker that does not finish within this time has died. */
#define WORKER_MS  6000
#define FACTS_SIZE (CNP_LOAN_SIZE - offsetof(struct cnp_loan, facts))

int
cnd_page_map(int fd, struct cnp_loan **ret_page)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *map;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0 ||
		st.st_size != CNP_LOAN_SIZE)
		return CENOTE_ERR_PROTOCOL;
	map = mmap(NULL, CNP_LOAN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno == ENOMEM ? CENOTE_ERR_NOMEM : CENOTE_ERR_PROTOCOL;
	*ret_page = map;
	return CENOTE_OK;
}

void
cnd_page_unmap(struct cnp_loan *page)
{
	if (page != NULL)
		(void)munmap(page, CNP_LOAN_SIZE);
}

static struct cnp_str
read_text(struct cnc_reader *r)
{
	struct cnp_str s;

	s.p = cnc_read_str(r, &s.n);
	return s;
}

int
cnd_page_facts(const struct cnp_loan *page, const struct cenote_allocator *mem,
	struct cnd_page_facts *ret_facts)
{
	struct cnd_page_facts facts;
	struct cnp_msg attached;
	struct cnc_reader r;
	struct cnp_str payload;
	uint32_t n = page->facts_len;
	uint8_t *copy;

	if (page->version != CNP_LOAN_VERSION)
		return CENOTE_ERR_UNSUPPORTED;
	if (n > FACTS_SIZE)
		return CENOTE_ERR_PROTOCOL;
	/* the texts live as long as the loan, and the worker could change the page */
	copy = cnc_alloc(mem, n);
	if (copy == NULL)
		return CENOTE_ERR_NOMEM;
	memcpy(copy, page->facts, n);
	cnc_reader_init(&r, copy, n);
	payload = read_text(&r);
	facts.max_row = cnc_read_u64(&r);
	facts.backend = read_text(&r);
	if (cnc_reader_end(&r) < 0 ||
		cnp_msg_decode(CNP_MSG_ATTACHED, (const uint8_t *)payload.p, payload.n,
			&attached) < 0) {
		cnc_free(mem, copy);
		return CENOTE_ERR_PROTOCOL;
	}
	facts.attached = attached.as.attached;
	*ret_facts = facts;
	return CENOTE_OK;
}

void
cnd_page_stamp(struct cnp_loan *page)
{
	atomic_store_explicit(
		&page->changed_ms, (uint64_t)cnd_clock_ms(), memory_order_relaxed);
}

bool
cnd_page_is_ended(const struct cnp_loan *page)
{
	return atomic_load(&page->state) == CNP_LOAN_ENDED;
}

/* While the worker cancels a request or asks the server something, nothing may be sent. */
void
cnd_page_await_worker(const struct cnp_loan *page)
{
	const struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < WORKER_MS && atomic_load(&page->state) == CNP_LOAN_PAUSED;
		i++)
		(void)nanosleep(&pause, NULL);
}

/* A loan begins with whatever state the worker has set. */
bool
cnd_page_claim(struct cnp_loan *page)
{
	uint32_t state;

	cnd_page_await_worker(page);
	state = atomic_load(&page->state);
	while (state == CNP_LOAN_FREE || state == CNP_LOAN_HELD) {
		if (!atomic_compare_exchange_weak(&page->state, &state, CNP_LOAN_BUSY))
			continue;
		cnd_page_stamp(page);
		return true;
	}
	return state == CNP_LOAN_BUSY;
}

bool
cnd_page_release(struct cnp_loan *page, bool is_held)
{
	uint32_t state = CNP_LOAN_BUSY;

	cnd_page_await_worker(page);
	cnd_page_stamp(page);
	return atomic_compare_exchange_strong(
		&page->state, &state, is_held ? CNP_LOAN_HELD : CNP_LOAN_FREE);
}
