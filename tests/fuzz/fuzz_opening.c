/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/frame.h"

/* A good opening stays the same when it is encoded and decoded again; a prefix is never refused. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnp_opening o, again;
	struct cnc_buf b;
	size_t n;

	if (size == 0 || cnp_opening_decode(data, size, &o) != CENOTE_OK)
		return 0;
	FUZZ_CHECK(o.len <= size && o.len <= CNP_OPENING_MAX);
	FUZZ_CHECK(strlen(o.pool) <= CNP_POOL_MAX);
	for (n = 0; n < o.len; n++)
		FUZZ_CHECK(cnp_opening_decode(data, n, &again) == CENOTE_AGAIN);
	cnc_buf_init(&b, &cnc_mem_default, CNP_OPENING_MAX);
	FUZZ_CHECK(cnp_opening_encode(&b, &o) == CENOTE_OK);
	FUZZ_CHECK(cnp_opening_decode(cnc_buf_head(&b), cnc_buf_len(&b), &again) ==
		   CENOTE_OK);
	FUZZ_CHECK(again.kind == o.kind && again.tls == o.tls &&
		   again.version_min == o.version_min &&
		   again.version_max == o.version_max && strcmp(again.pool, o.pool) == 0);
	cnc_buf_finish(&b);
	return 0;
}
