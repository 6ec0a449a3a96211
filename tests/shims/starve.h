/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_STARVE_H
#define CNT_STARVE_H

/*
 * Make allocations fail. The malloc() of a program with starve.c, and its relatives,
 * replace the C library's for the whole process.
 */

/* From now on the nth call fails, or the nth and all later ones. */
void cnt_starve(long nth, int all);
/* End it. Returns whether a call has failed. */
int cnt_starve_end(void);

#endif
