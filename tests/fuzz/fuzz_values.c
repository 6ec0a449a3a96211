/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/columns.h"

/* A blob of bound values that is accepted encodes to the very bytes that were read. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_str blob = { (const char *)data, size };
	struct cnc_value *values;
	struct cnc_arena arena;
	struct cnc_buf b;
	uint32_t i, n;

	cnc_arena_init(&arena, &cnc_mem_default);
	cnc_buf_init(&b, &cnc_mem_default, SIZE_MAX / 2);
	if (cnp_values_decode(blob, &arena, &values, &n) == CENOTE_OK && size > 0) {
		FUZZ_CHECK(cnc_buf_u16(&b, (uint16_t)n) == CENOTE_OK);
		for (i = 0; i < n; i++)
			FUZZ_CHECK(cnc_value_encode(&b, &values[i]) == CENOTE_OK);
		FUZZ_CHECK(cnc_buf_len(&b) == size);
		FUZZ_CHECK(memcmp(cnc_buf_head(&b), data, size) == 0);
	}
	cnc_buf_finish(&b);
	cnc_arena_finish(&arena);
	return 0;
}
