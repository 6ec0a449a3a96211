/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/columns.h"

/* A list of columns that is accepted encodes to the very bytes that were read. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_column *columns;
	struct cnc_arena arena;
	struct cnc_buf b;
	uint32_t n;

	cnc_arena_init(&arena, &cnc_mem_default);
	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX / 2);
	if (cnp_columns_decode(data, size, &arena, &columns, &n) == CENOTE_OK) {
		FUZZ_CHECK(cnp_columns_encode(&b, columns, n) == CENOTE_OK);
		FUZZ_CHECK(cnc_buf_len(&b) == size);
		FUZZ_CHECK(memcmp(cnc_buf_head(&b), data, size) == 0);
	}
	cnc_buf_finish(&b);
	cnc_arena_finish(&arena);
	return 0;
}
