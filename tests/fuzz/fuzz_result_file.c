/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/batch.h"
#include "core/reach.h"
#include "result_file.h"

static void
read_values(const cenote_result *res)
{
	size_t sum = 0;

	for (uint64_t row = 0; row < cenote_result_n_rows(res); row++) {
		for (uint32_t col = 0; col < cenote_result_n_columns(res); col++) {
			size_t len = 0;
			const char *text = cenote_result_text(res, row, col, &len);

			if (text)
				sum += strlen(text) <= len;
		}
	}
	FUZZ_CHECK(sum <= cenote_result_n_rows(res) * CNC_BATCH_COLS_MAX);
}

/* Write the right length and checksum. Without these, the reader would refuse almost every input at once. */
static void
set_sum(uint8_t *file, size_t size)
{
	if (size < CNC_SAVED_HEAD)
		return;
	cnc_put_u64(file + 32, size);
	cnc_put_u64(file + 40, cnc_saved_sum(file + CNC_SAVED_HEAD, size - CNC_SAVED_HEAD,
				       cnc_saved_sum(file, 40, 0)));
}

/* Any bytes are read as a result, or are refused. The same bytes are also a text of SQL for cnc_sql_reach(). */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cnc_block *block = cnc_block_create(&cnc_mem_default, size + 1);
	struct cnc_saved saved;
	cenote_result *res;

	FUZZ_CHECK(block);
	FUZZ_CHECK(cnc_sql_reach((const char *)data, size) <= CNC_REACH_PRIVATE);
	if (size > 0)
		memcpy(block->data, data, size);
	block->len = size;
	set_sum(block->data, size);
	if (cnc_saved_read(block->data, size, &saved) == CENOTE_OK) {
		FUZZ_CHECK(strlen(saved.key) <= saved.key_len);
		if (cn_result_decode(&cnc_mem_default, block, &saved, &res) ==
			CENOTE_OK) {
			read_values(res);
			cenote_result_destroy(res);
		}
	}
	cnc_block_unref(block);
	return 0;
}
