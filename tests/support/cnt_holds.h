/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_HOLDS_H
#define CNT_HOLDS_H

#include <stddef.h>

/*
 * docs/transaction-mode.md says what a session can hold, and what happens to it. These functions try each row of its table of a
 * server, with two clients and one session: the owner makes something, the other client uses the session in between if it
 * can, the owner still sees what it made, and the other client does not.
 */

#define CNT_HOLDS_VALUE_MAX 256u

/* How a client talks to the pool. The functions may be called in different threads for different connections. */
struct cnt_holds_face {
	void *(*connect)(void);
	void (*disconnect)(void *conn);
	/* Run a text that may have several statements. Returns 0, or -1 after one has failed. */
	int (*run)(void *conn, const char *sql);
	/* The only value of a statement; "error" if it fails. */
	void (*look)(void *conn, const char *sql, char value[CNT_HOLDS_VALUE_MAX]);
	const char *(*message)(void *conn);
};

/* The pool must have one session, mode = transaction, and a long queue_timeout. `heading` is above the table. Fails the
 * test at the first row that is not true. */
void cnt_holds_try(const struct cnt_holds_face *face, const char *heading);

#endif
