/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_STARVE_H
#define CNT_STARVE_H

/*
 * No memory. malloc() and its relatives of a program that has starve.c come before the C library's for
 * everything in the process.
 */

/* From now on the nth call fails, or that and all behind it. */
void cnt_starve(long nth, int all);
/* There is memory again. Whether a call has failed. */
int cnt_starve_end(void);

#endif
