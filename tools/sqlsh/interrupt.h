/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_INTERRUPT_H
#define SQLSH_INTERRUPT_H

/* Ctrl-C. The signal handler only sets a flag. interrupt_wait() also sees a Ctrl-C that came before
 * the call. */

void interrupt_init(void);
/* Whether Ctrl-C came since the last interrupt_clear(). */
int interrupt_is_pending(void);
void interrupt_clear(void);

/* poll() for one descriptor (none if fd < 0). 1: ready; 0: timeout; -1: interrupted. */
int interrupt_wait(int fd, short events, int timeout_ms);

/* The same for two descriptors. 1: one or both are ready; *ret_second: the second one is. */
int interrupt_wait_both(int fd, int second, int *ret_second);

/* End the process as the signal would. */
_Noreturn void interrupt_die(int signo);

#endif
