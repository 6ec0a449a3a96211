/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A value of the wire that is accepted encodes to the very bytes that were read.
 */
#include "fuzz.h"

#include <string.h>

#include "core/value.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnc_reader r;
	struct cnc_buf out;

	cnc_reader_init(&r, data, size);
	cnc_buf_init(&out, &cnc_mem_default, SIZE_MAX);
	while (r.p < r.end) {
		const uint8_t *start = r.p;
		char text[CNC_VALUE_TEXT_MAX];
		struct cnc_value v;
		size_t n;

		cnc_value_decode(&r, &v);
		if (r.bad) {
			FUZZ_CHECK(v.is_null && !v.bytes);
			break;
		}
		n = (size_t)(r.p - start);
		FUZZ_CHECK(cnc_value_text(&v, text) == strlen(text));
		FUZZ_CHECK(cnc_value_encode(&out, &v) == CENOTE_OK);
		FUZZ_CHECK(cnc_buf_len(&out) == n);
		FUZZ_CHECK(memcmp(cnc_buf_head(&out), start, n) == 0);
		cnc_buf_clear(&out, 64);
	}
	cnc_buf_finish(&out);
	return 0;
}
