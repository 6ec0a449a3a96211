/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_GUARD_H
#define CNT_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* Bytes just before an unmapped page: reading one byte too many ends the test, with or without
 * sanitizers. */
struct cnt_guard {
	uint8_t *pages;
	size_t size;
};

/* Room for copies of up to max bytes. Aborts when there is no memory. */
void cnt_guard_init(struct cnt_guard *g, size_t max);
void cnt_guard_finish(struct cnt_guard *g);
/* Copy so that the last byte is the last of its page; the next call replaces it. */
uint8_t *cnt_guard_put(struct cnt_guard *g, const void *bytes, size_t len);

#endif
