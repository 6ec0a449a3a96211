/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_INTERRUPT_H
#define SQLSH_INTERRUPT_H

/*
 * Ctrl-C. The signal's handler only sets a flag; who waits does so with interrupt_wait(), which
 * misses none that came before.
 */

void interrupt_init(void);
/* Whether one came since the last interrupt_clear(). */
int interrupt_is_pending(void);
void interrupt_clear(void);

/* poll() for one descriptor (none if fd < 0). 1 ready, 0 time is over, -1 interrupted. */
int interrupt_wait(int fd, short events, int timeout_ms);

/* The same for two; *ret_second: the other one is ready. 1 if any is. */
int interrupt_wait_both(int fd, int second, int *ret_second);

/* End as the signal would have ended us. */
_Noreturn void interrupt_die(int signo);

#endif
