/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "csv.h"

/* Read the text and write it again to `out`. Returns the reader's last status. */
static int
copy(const char *bytes, size_t n, enum csv_kind kind, struct text *out)
{
	struct csv_reader r;
	FILE *f = fmemopen((void *)(uintptr_t)bytes, n, "r");
	unsigned long line = 0;
	int got;

	FUZZ_CHECK(f);
	csv_reader_init(&r, f, kind);
	while ((got = csv_read(&r)) == 1) {
		FUZZ_CHECK(r.line > line && r.fields.n >= 1);
		line = r.line;
		for (size_t i = 0; i < r.fields.n; i++) {
			if (i > 0)
				text_add_char(out, csv_separator(kind));
			csv_add_field(out, kind, &r.fields.list[i]);
		}
		text_add_char(out, '\n');
	}
	FUZZ_CHECK(got == 0 || (r.error && *r.error));
	csv_reader_finish(&r);
	fclose(f);
	return got;
}

/* A text that was read and written once stays the same when it is read and written again. The first
 * byte chooses the kind. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum csv_kind kind = size > 0 && (data[0] & 1) ? CSV_TAB : CSV_COMMA;
	struct text once = { 0 }, twice = { 0 };

	if (size < 2 || size > 4096)
		return 0;
	if (copy((const char *)data + 1, size - 1, kind, &once) == 0 && once.len > 0) {
		FUZZ_CHECK(copy(text_str(&once), once.len, kind, &twice) == 0);
		FUZZ_CHECK(once.len == twice.len &&
			   memcmp(text_str(&once), text_str(&twice), once.len) == 0);
	}
	text_finish(&once);
	text_finish(&twice);
	return 0;
}
