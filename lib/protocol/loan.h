/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_LOAN_H
#define CNP_LOAN_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * The page of a loan. A worker can lend its client the server's socket itself, so that no process of the pool stands
 * between the client and the server (docs/lending.md). During the loan, the worker and the client share this page: a
 * sealed memfd, made anew for each loan. It comes with YIELD (CNP_YIELD_LEND), as the second descriptor; the first is the
 * server's socket.
 *
 * The client can write anything into the page, so the worker checks what it reads there, and never reads `facts` again.
 */
#define CNP_LOAN_VERSION 1u
/* The size of the memfd, in bytes. It is sealed, so no mapping of it can end early. */
#define CNP_LOAN_SIZE    65536u

/*
 * The borrower moves FREE, HELD and BUSY by compare-and-swap, before it sends a request and after the answer. The worker
 * moves FREE to ENDED by compare-and-swap: then no request of the borrower is under way, and none will be sent. At a
 * time limit it sets ENDED in any state, and shuts the socket down.
 */
enum cnp_loan_state {
	CNP_LOAN_FREE, /* no request runs, and the client holds nothing: the worker may take the session back */
	CNP_LOAN_HELD, /* no request runs, but a transaction or a pin holds the session */
	CNP_LOAN_BUSY, /* a request runs */
	CNP_LOAN_ENDED, /* the session is the worker's again */
	/* The worker cancels a request that was BUSY, or asks the server something while the state was HELD. The borrower waits
	 * with everything that comes next until the state is another one. So a cancel hits no other request. */
	CNP_LOAN_PAUSED
};

struct cnp_loan {
	uint32_t version;
	uint32_t facts_len; /* bytes in `facts` */
	_Atomic uint32_t state; /* enum cnp_loan_state */

	/* The worker writes these. */

	/* set before ENDED: enum cnp_yield_reason; 0: a time limit, with the error in `words` and `sqlstate` */
	_Atomic uint32_t reason;
	/* the last request that query_timeout has stopped; 0: none */
	_Atomic uint32_t timed_out;
	/* set before ENDED: the error for a client whose time limit has passed */
	char words[242];
	/* its SQLSTATE; "": 57P05 */
	char sqlstate[6];

	/* The borrower writes these. */

	/* the number of the running request, or of the last one */
	_Atomic uint32_t request;
	/* the server has all requests up to this one, and may be at any of them */
	_Atomic uint32_t last;
	_Atomic uint32_t tx; /* enum cenote_tx, after the last request */
	_Atomic uint32_t pins; /* bits of enum cenote_pin, after the last request */
	/* what the client may have left in the session: cnd_backend.left() */
	_Atomic uint32_t left;
	/* when `state` last changed (CLOCK_MONOTONIC, milliseconds) */
	_Atomic uint64_t changed_ms;
	_Atomic uint64_t requests; /* during this loan */
	_Atomic uint64_t errors;

	/*
	 * What the borrower must know, as the protocol encodes fields: STR payload of the ATTACHED message that it shall
	 * give to its client; U64 max_row, the longest row in bytes; STR facts of the backend: cnd_backend.lend().
	 */
	uint8_t facts[];
};

#endif
