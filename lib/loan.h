/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_LOAN_H
#define CN_LOAN_H

#include <stddef.h>
#include <stdint.h>

#include <cenote/types.h>

#include "core/diag.h"

/*
 * The interface between libcenote and its module cenote-loan.so, which serves a session whose server socket was lent to
 * this process (docs/lending.md). The module is the request code of a worker. It reads and writes frames of the pool's
 * protocol, as a worker does at the other end of a connection: an opening, ATTACH, requests; HELLO, ATTACHED, READY,
 * replies, YIELD. So for the rest of libcenote it is a transport.
 *
 * Nothing here waits. Call the functions of one loan in one thread at a time.
 */
#define CN_LOAN_ABI 1u

struct cn_loan;

struct cn_loan_ops {
	/*
	 * Begin a loan. On success it owns both descriptors: the server's socket and the page (protocol/loan.h). CENOTE_OK;
	 * CENOTE_ERR_NOMEM; CENOTE_ERR_UNSUPPORTED: another version, or a backend that this module does not have;
	 * CENOTE_ERR_PROTOCOL: the page makes no sense. `mem` must outlive the loan.
	 */
	int (*open)(const struct cenote_allocator *mem, int server_fd, int page_fd,
		struct cn_loan **ret_loan);
	/* Closes both descriptors. NULL is allowed. */
	void (*close)(struct cn_loan *loan);
	/* The server's socket has a new number, and the old one is closed or will be. */
	void (*set_fd)(struct cn_loan *loan, int fd);
	/* Take frames from the client, and do what they ask for. CENOTE_OK and at least 1 byte taken; CENOTE_AGAIN: read()
	 * first, or wait for the server; CENOTE_ERR_CONN: the loan is over. */
	int (*write)(struct cn_loan *loan, const void *bytes, size_t n, size_t *ret_n);
	/* Give frames for the client, and read from the server as far as that needs it. CENOTE_OK and at least 1 byte, or 0:
	 * the loan is over; CENOTE_AGAIN: wait for the server. */
	int (*read)(struct cn_loan *loan, void *room, size_t n, size_t *ret_n);
	/* Whether read() would give bytes although the socket is not readable. */
	int (*pending)(const struct cn_loan *loan);
	/* Whether bytes wait until the server's socket is writable. Then call read() or write() again. */
	int (*unsent)(const struct cn_loan *loan);
};

/* The only exported symbol of the module. NULL: the module does not support this ABI. */
const struct cn_loan_ops *cn_loan_get(uint32_t abi);

#endif
