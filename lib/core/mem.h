/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_MEM_H
#define CNC_MEM_H

#include <cenote/types.h>

/* The default allocator, which uses malloc(). It is used if the caller passes NULL. */
extern const struct cenote_allocator cnc_mem_default;

/* The first argument is the allocator, never NULL. A size of 0 gives a pointer that may be freed. */
void *cnc_alloc(const struct cenote_allocator *mem, size_t size);
/* Array of n * size bytes, zeroed; NULL also when the product overflows. */
void *cnc_calloc(const struct cenote_allocator *mem, size_t n, size_t size);
void *cnc_realloc(const struct cenote_allocator *mem, void *ptr, size_t size);
/* Free memory; `ptr` may be NULL. */
void cnc_free(const struct cenote_allocator *mem, void *ptr);
/* Copy of len bytes with a zero byte after them; NULL when out of memory. */
char *cnc_strndup(const struct cenote_allocator *mem, const char *text, size_t len);

/* Overwrite secrets in a way the compiler does not remove. */
void cnc_wipe(void *ptr, size_t len);

#endif
