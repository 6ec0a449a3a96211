/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "core/batch.h"
#include "core/mem.h"
#include "serving/kept.h"

/* A result of the pool's cache: any bytes are read, or are refused. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnc_arena arena;
	struct cnd_kept k;
	const uint8_t *batch;
	size_t n;

	cnc_arena_init(&arena, &cnc_mem_default);
	if (cnd_kept_read(data, size, &arena, &k) == CENOTE_OK) {
		FUZZ_CHECK((size_t)8 * k.n_tables < size);
		FUZZ_CHECK(k.done.tag.n < size);
		while (cnd_kept_next_batch(&k, &batch, &n)) {
			FUZZ_CHECK(n >= CNC_BATCH_HEADER && n < size);
			FUZZ_CHECK(batch > data && batch + n < data + size);
		}
	}
	cnc_arena_finish(&arena);
	return 0;
}
