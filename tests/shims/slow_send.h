/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SLOW_SEND_H
#define CNT_SLOW_SEND_H

/*
 * Make send() slow, for the program and all its libraries: a reader after it then finds
 * the complete answer.
 */

/* Until cnt_send_as_ever(): delays of the first send(), and of the following ones. */
void cnt_send_slowly(unsigned first_ms, unsigned then_ms);
/* Returns the number of calls. */
unsigned cnt_send_as_ever(void);

#endif
