/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ALLOC_H
#define CNT_ALLOC_H

#include <cenote/types.h>

/*
 * An allocator that counts, fails when told to, and knows what was not freed. It aborts, with
 * a message, when it is given a pointer that it did not give out, or one whose surroundings
 * were written to. A reallocation always moves, so that a stale pointer shows.
 *
 *     struct cnt_alloc a;
 *
 *     for (size_t n = 1;; n++) {
 *             cnt_alloc_init(&a, n);
 *             ... work with &a.mem; every failure must be CENOTE_ERR_NOMEM ...
 *             assert_int_equal(cnt_alloc_leaks(&a), 0);
 *             if (!cnt_alloc_has_failed(&a))
 *                     break;
 *     }
 */
struct cnt_alloc {
	struct cenote_allocator mem;
	size_t n_calls; /* calls of alloc and realloc */
	size_t fail_at; /* the number of the call that fails, from 1; 0: none */
	int fail_on; /* 1: all later calls fail as well */
	size_t n_failed;
	size_t n_live; /* pieces that are not freed yet */
	size_t live_bytes;
	size_t peak_bytes;
};

void cnt_alloc_init(struct cnt_alloc *a, size_t fail_at);
/* The number of pieces that were not freed. Prints their total size, if there are any. */
size_t cnt_alloc_leaks(const struct cnt_alloc *a);
int cnt_alloc_has_failed(const struct cnt_alloc *a);

#endif
