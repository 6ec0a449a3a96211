/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "core/rowset.h"

/* Write the rows of a checked set again; the output must equal the input. */
static void
check_round_trip(const struct cnc_rowset *rs, const uint8_t *batch, size_t len)
{
	struct cnc_buf out;
	struct cnc_batch w;

	cnc_buf_init(&out, &cnc_mem_default, SIZE_MAX);
	FUZZ_CHECK(cnc_batch_begin(&w, &out, rs->n_columns) == CENOTE_OK);
	for (size_t row = 0; row < rs->n_rows; row++) {
		FUZZ_CHECK(cnc_batch_row(&w) == CENOTE_OK);
		for (uint32_t col = 0; col < rs->n_columns; col++) {
			size_t n = 0;
			const char *v = cnc_rowset_value(rs, row, col, &n);

			FUZZ_CHECK(!v || v[n] == '\0');
			FUZZ_CHECK(
				(v ? cnc_batch_put(&w, v, n) : cnc_batch_null(&w)) == 0);
		}
		cnc_batch_row_done(&w);
	}
	FUZZ_CHECK(cnc_batch_end(&w) == len);
	FUZZ_CHECK(memcmp(cnc_buf_head(&out), batch, len) == 0);
	cnc_buf_finish(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t n_columns = size >= CNC_BATCH_HEADER ? cnc_get_u32(data + 4) : 1;
	uint32_t n_rows = 0;
	struct cnc_rowset rs;
	int checked, added;

	if (n_columns > CNC_BATCH_COLS_MAX)
		n_columns = 1;
	checked = cnc_batch_check(data, size, n_columns, NULL, NULL, &n_rows);
	cnc_rowset_init(&rs, &cnc_mem_default, n_columns);
	added = cnc_rowset_add(&rs, data, size, NULL);
	FUZZ_CHECK(checked == added);
	FUZZ_CHECK(rs.n_rows == n_rows);
	if (added == CENOTE_OK)
		check_round_trip(&rs, data, size);
	cnc_rowset_finish(&rs);
	return 0;
}
