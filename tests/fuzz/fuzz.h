/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_FUZZ_H
#define CNT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What every target defines; a fuzzer calls it with one input after the other. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As assert(), but also where NDEBUG is set. */
#define FUZZ_CHECK(condition)                                                            \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);  \
			abort();                                                         \
		}                                                                        \
	} while (0)

#endif
