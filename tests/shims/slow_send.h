/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SLOW_SEND_H
#define CNT_SLOW_SEND_H

/*
 * Make send() slow in the whole process, including its libraries. When send() returns, the
 * complete answer has already arrived.
 */

/* Delay the first send() by first_ms, and each later one by then_ms, until cnt_send_as_ever(). */
void cnt_send_slowly(unsigned first_ms, unsigned then_ms);
/* End the delays. Returns how often send() was called during them. */
unsigned cnt_send_as_ever(void);

#endif
