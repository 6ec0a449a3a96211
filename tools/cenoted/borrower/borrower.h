/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_BORROWER_H
#define CND_BORROWER_H

#include "core/fibre.h"
#include "core/mem.h"
#include "loan.h"
#include "protocol/loan.h"
#include "serving/serving.h"

/*
 * The module cenote-loan.so: it serves the requests of a client in the client's own process, on a server's socket that a
 * worker has lent (docs/lending.md). The serving code runs on a fibre. Where it would wait, it leaves the fibre, and a
 * function of cn_loan_ops enters it again. Nothing here has state outside a loan.
 */

/* ---- ledger.c ---- */

/*
 * An allocator that knows what it has given out. A loan may end while its fibre is in the middle of a request, and then
 * nobody else knows that memory.
 */
struct cnd_ledger {
	struct cenote_allocator mem; /* the allocator of the loan's memory */
	const struct cenote_allocator *source; /* where the memory comes from */
	struct cnd_ledger_entry *first;
};

void cnd_ledger_init(struct cnd_ledger *l, const struct cenote_allocator *source);
/* Free all that was given out. */
void cnd_ledger_finish(struct cnd_ledger *l);

/* ---- page.c ---- */

/* What the page says about the session. */
struct cnd_page_facts {
	struct cnp_attached attached;
	uint64_t max_row;
	struct cnp_str backend; /* for cnd_backend.borrow() */
};

/* Check the page and map it. CENOTE_OK, CENOTE_ERR_UNSUPPORTED, CENOTE_ERR_PROTOCOL, CENOTE_ERR_NOMEM. */
int cnd_page_map(int fd, struct cnp_loan **ret_page);
void cnd_page_unmap(struct cnp_loan *page);
/* The texts point into memory of `mem`, not into the page. Returns the same. */
int cnd_page_facts(const struct cnp_loan *page, const struct cenote_allocator *mem,
	struct cnd_page_facts *ret_facts);

/* Call before anything is sent to the server: changes FREE or HELD to BUSY. False if the worker has ended the loan. */
bool cnd_page_claim(struct cnp_loan *page);
/* If the worker is about to cancel the running request, or uses the socket itself, wait until it has done so. */
void cnd_page_await_worker(const struct cnp_loan *page);
/* Call when the server has answered everything: changes BUSY to FREE or HELD. False if the worker has ended the loan. */
bool cnd_page_release(struct cnp_loan *page, bool is_held);
bool cnd_page_is_ended(const struct cnp_loan *page);
/* The `state` or the running request has changed. */
void cnd_page_stamp(struct cnp_loan *page);

/* ---- loan.c ---- */

/* What the fibre waits for. */
enum cnd_loan_wait {
	CND_LOAN_FOR_SERVER, /* `events` of the server's socket */
	CND_LOAN_FOR_CLIENT, /* the next frame, or a piece of a copy; or something from the server */
	CND_LOAN_FOR_ROOM /* the client must take the output first */
};

struct cn_loan {
	struct cnd_ledger ledger;
	struct cnc_fibre fibre;
	enum cnd_loan_wait wait;
	short events; /* for CND_LOAN_FOR_SERVER */
	bool is_over; /* the fibre has ended */
	/* The client does not get the output yet: it must go on to enter the fibre. */
	bool is_withheld;
	bool has_refused; /* the last write() took nothing */
	int status; /* what borrow() returned */

	int server_fd; /* for the client to wait on */
	/* The same socket with a number of its own: the client may give server_fd another number at any time. */
	int own_fd;
	struct cnp_loan *page;
	struct cnd_page_facts facts;

	struct cnp_server server; /* our end of the protocol */
	struct cnd_serving serving;
	struct cnd_info info; /* what the backend last said */
	bool restores; /* the client prepares its statements with a name again on another session */
	bool is_claimed; /* the page's state is BUSY */
	bool is_asked; /* the fibre was entered because the server may have sent something */
};

/* Called on the fibre: leave it until there may be news. */
void cnd_loan_await(struct cn_loan *l, enum cnd_loan_wait wait, short events);

/* ---- owner.c ---- */

/* Make l->serving for this backend. */
void cnd_loan_own(struct cn_loan *l, const struct cnd_backend *backend);
/* Encode the parameters of the session again. */
int cnd_loan_take_info(struct cn_loan *l);

/* ---- serve.c ---- */

/* Say in the diagnostics why the worker has ended the loan. */
void cnd_loan_explain_end(const struct cn_loan *l, struct cnc_diag *diag);
/* What runs on the fibre: borrow the session, then serve the client until one of the two ends. */
void cnd_loan_serve(void *loan);

#endif
