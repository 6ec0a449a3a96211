/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "records.h"

/* Read a file of any format up to its end or its error. */
static void
read_all(const char *bytes, size_t n, const struct records_options *options)
{
	FILE *file = fmemopen((void *)(uintptr_t)bytes, n, "r");
	struct records r;
	uint64_t offset = 0, n_records = 0;
	int got;

	FUZZ_CHECK(file);
	records_init(&r, file, options);
	got = records_begin(&r);
	while (got >= 0 && (got = records_next(&r)) == 1) {
		FUZZ_CHECK(records_offset(&r) >= offset && records_offset(&r) <= n);
		FUZZ_CHECK(r.columns.n == 0 || r.n_cells == r.columns.n);
		FUZZ_CHECK(!records_is_complete(&r) ||
			   bytes[records_offset(&r) - 1] == '\n');
		for (size_t i = 0; i < r.n_cells; i++)
			FUZZ_CHECK(!r.cells[i].text ||
				   r.cells[i].text[r.cells[i].len] == '\0');
		offset = records_offset(&r);
		FUZZ_CHECK(r.n_records == ++n_records);
	}
	FUZZ_CHECK(got == 0 || r.error.len > 0);
	records_finish(&r);
	fclose(file);
}

/* cenote-import reads files from anywhere. The first byte chooses the format and the options. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct records_options options;

	if (size < 2 || size > 4096)
		return 0;
	options = (struct records_options){
		.format = (enum port_format)(data[0] & 3),
		.has_header = (data[0] & 4) != 0,
		.has_types = (data[0] & 8) != 0,
		.has_backslash = (data[0] & 16) != 0,
	};
	if (options.has_types)
		options.has_header = true;
	read_all((const char *)data + 1, size - 1, &options);
	return 0;
}
