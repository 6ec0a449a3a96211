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

/* Make room for copies of up to max bytes. Aborts without memory. */
void cnt_guard_init(struct cnt_guard *g, size_t max);
void cnt_guard_finish(struct cnt_guard *g);
/* Copy the bytes to the end of their page. The next call replaces them. */
uint8_t *cnt_guard_put(struct cnt_guard *g, const void *bytes, size_t len);

#endif
