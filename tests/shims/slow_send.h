/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SLOW_SEND_H
#define CNT_SLOW_SEND_H

/*
 * A process whose send()s last, of its own and of every library in it: who reads behind one finds all that the other end has to
 * say to it.
 */

/* Until cnt_send_as_ever(): the first, and those behind it. */
void cnt_send_slowly(unsigned first_ms, unsigned then_ms);
/* How many there were. */
unsigned cnt_send_as_ever(void);

#endif
