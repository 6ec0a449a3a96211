/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_FUZZ_H
#define CNT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Every target defines this; the fuzzer calls it with one input at a time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
fuzz_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

/* Like assert(), but also with NDEBUG. */
#define FUZZ_CHECK(condition)                                                            \
	((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

#endif
