/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BORROW_RELAY_H
#define BORROW_RELAY_H

/* What the test tells the module in relay.c, and what it sees there. The test finds it with dlsym(). */
struct relay {
	int refuses; /* open() returns this, if it is not 0 */
	/* The module waits for each answer itself, so the socket does not become readable. */
	int reads_ahead;
	/* write() takes nothing while an answer is awaited */
	int chokes;
	unsigned n_opened, n_closed, n_writes;
	int fd; /* of the last loan */
};

#endif
