/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_STARVE_H
#define CNT_STARVE_H

/*
 * Make allocations fail. The malloc(), calloc() and realloc() of starve.c replace those of the C
 * library in the whole process.
 */

/* From now on the nth allocation fails; with `all`, each later one fails, too. */
void cnt_starve(long nth, int all);
/* Let allocations succeed again. Returns whether one has failed since cnt_starve(). */
int cnt_starve_end(void);

#endif
